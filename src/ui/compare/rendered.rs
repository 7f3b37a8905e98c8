//! The texts as Markdown is read, beside each other section by section: a record begins at one height in every column,
//! whether a column is rendered or exact.
//!
//! A virtual list: heights are estimated off the frame and measured once a piece was painted; only pieces in sight are
//! read and laid out.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use egui::mutex::Mutex;
use egui::{Id, Pos2, Rect, ScrollArea, Sense, Ui, pos2, vec2};
use egui_commonmark::CommonMarkCache;

use super::body::{self, Head, ROW};
use super::{Judged, place};
use crate::analysis::sweep::{Piece, SweepPage, SweepRendered, SweepRenderedQuery, ThisPage};
use crate::state::Compare;
use crate::ui::Cx;
use crate::ui::panes::item::{ItemPlace, SIDE, item_ui};
use crate::ui::panes::markdown::{self, Inline, Item};
use crate::ui::panes::table;
use crate::ui::theme::ThemeTokens;

/// Pieces that are kept read; more than are ever in sight.
const READ: usize = 4_096;
/// Height of a table's rows and of its header before they were painted.
const TABLE_ROW: f32 = 31.0;
/// Thickness of the bar that moves a wide table.
const BAR: f32 = 6.0;
/// Space above and below the pieces of a cell.
const PAD: f32 = 6.0;

/// What is kept between frames.
struct Kept {
    laid: Arc<SweepRendered>,
    width: f32,
    /// By piece: estimated until it was painted.
    heights: Vec<f32>,
    /// By section, its head left out.
    bodies: Vec<f32>,
    /// Where each section begins, and after them the whole height.
    tops: Vec<f64>,
    folded: Option<Arc<BTreeSet<String>>>,
    items: HashMap<usize, Arc<Vec<Item>>>,
    cells: HashMap<usize, Arc<Vec<Inline>>>,
    /// By column, by table: the widths of its columns.
    widths: Vec<Vec<Vec<f32>>>,
    /// By column: how far its tables are moved to the left.
    shifts: Vec<f32>,
    cache: CommonMarkCache,
}

/// Where the pieces of a cell are painted.
struct Cell {
    section: usize,
    column: usize,
    rect: Rect,
}

pub fn rendered_ui(ui: &mut Ui, cx: &Cx<'_>, compare: &Compare, judged: &Judged, rect: Rect, width: f32) {
    let page = &judged.page;
    let exact = Arc::clone(&compare.exact);
    let question = SweepRenderedQuery { page: ThisPage(Arc::clone(page)), columns: body::fitting(ui, width), exact };
    let Some(laid) = body::laid_out(ui, cx, compare, question) else { return };
    let id = Id::unique("compare rendered");
    let known: Option<Arc<Mutex<Kept>>> = ui.data(|data| data.get_temp(id));
    let is_it = |kept: &Arc<Mutex<Kept>>| {
        let kept = kept.lock();
        Arc::ptr_eq(&kept.laid, laid) && (kept.width - width).abs() < 0.5
    };
    let kept = known.filter(is_it).unwrap_or_else(|| {
        let kept = Arc::new(Mutex::new(Kept::new(page, laid, width)));
        ui.data_mut(|data| data.insert_temp(id, Arc::clone(&kept)));
        kept
    });
    kept.lock().show(ui, cx, compare, judged, rect);
}

impl Kept {
    fn new(page: &SweepPage, laid: &Arc<SweepRendered>, width: f32) -> Self {
        let estimate = |piece: &Piece| match piece {
            Piece::Rows(rows) => rows.len() as f32 * ROW,
            Piece::Block(_, lines) => *lines as f32 * ROW + 8.0,
            Piece::Head(_) | Piece::Row(..) => TABLE_ROW,
        };
        let widths = |tables: &Vec<_>| -> Vec<Vec<f32>> {
            let fitted = |found| table::fit(&table::natural(found), &table::least(found), width - 2.0 * SIDE);
            tables.iter().map(fitted).collect()
        };
        let mut kept = Self {
            heights: laid.pieces.iter().map(estimate).collect(),
            bodies: Vec::new(),
            tops: Vec::new(),
            folded: None,
            items: HashMap::new(),
            cells: HashMap::new(),
            widths: laid.tables.iter().map(widths).collect(),
            shifts: vec![0.0; laid.tables.len()],
            cache: CommonMarkCache::default(),
            laid: Arc::clone(laid),
            width,
        };
        kept.bodies = (0..page.sections.len()).map(|section| kept.body(page, section)).collect();
        kept
    }

    /// The height of a section below its head.
    fn body(&self, page: &SweepPage, section: usize) -> f32 {
        let height = |(column, cell): (usize, &crate::analysis::sweep::SectionCell)| {
            let pieces = self.laid.cell(section, column);
            let pad = if pieces.is_empty() { 0.0 } else { 2.0 * PAD };
            let missing = if cell.missing.is_empty() { 0.0 } else { ROW };
            self.heights[pieces].iter().sum::<f32>() + pad + missing
        };
        page.sections[section].cells.iter().enumerate().map(height).fold(0.0, f32::max)
    }

    fn sum_up(&mut self, page: &SweepPage, compare: &Compare) {
        self.tops.clear();
        let mut top = 0.0_f64;
        for (section, body) in page.sections.iter().zip(&self.bodies) {
            self.tops.push(top);
            top += f64::from(ROW) + if compare.folded.contains(&section.name) { 0.0 } else { f64::from(*body) };
        }
        self.tops.push(top);
        self.folded = Some(Arc::clone(&compare.folded));
    }

    fn show(&mut self, ui: &mut Ui, cx: &Cx<'_>, compare: &Compare, judged: &Judged, rect: Rect) {
        let page = &judged.page;
        if self.folded.as_ref().is_none_or(|folded| !Arc::ptr_eq(folded, &compare.folded)) {
            self.sum_up(page, compare);
        }
        self.shift_by_hand(ui, rect);
        let mut area = ScrollArea::vertical().id_salt("compare rendered down").auto_shrink(false);
        if let Some(section) = place::wanted(ui, cx, compare, page) {
            area = area.vertical_scroll_offset(self.tops.get(section).copied().unwrap_or(0.0) as f32);
        }
        let chosen = compare.at.and_then(|(at, _)| page.losses.get(at)).map(|loss| loss.section);
        let is_changed = area.show_viewport(ui, |ui, viewport| {
            ui.spacing_mut().item_spacing = vec2(0.0, 0.0);
            let origin = ui.min_rect().min;
            let total = self.tops.last().copied().unwrap_or(0.0) as f32 + 16.0;
            ui.allocate_rect(Rect::from_min_size(origin, vec2(rect.width(), total)), Sense::hover());
            let count = page.sections.len();
            let top = f64::from(viewport.min.y);
            let mut section = self.tops.partition_point(|at| *at <= top).saturating_sub(1).min(count);
            place::remember(ui, compare, section);
            // From the window's own corner on, so that large offsets lose nothing.
            let window = origin.y + viewport.min.y;
            let mut y = self.tops.get(section).map_or(0.0, |at| (at - top) as f32);
            let mut is_changed = false;
            while section < count && y <= viewport.height() {
                let line = Rect::from_min_size(pos2(rect.left(), (window + y).round()), vec2(rect.width(), ROW));
                let is_folded = compare.folded.contains(&page.sections[section].name);
                let head = Head { rect: line, width: self.width, is_chosen: chosen == Some(section), is_folded };
                body::head_ui(ui, cx, page, section, &head);
                y += ROW;
                if !is_folded {
                    self.section_ui(ui, cx, judged, section, pos2(rect.left(), line.bottom()));
                    let body = self.body(page, section);
                    if (body - self.bodies[section]).abs() > 0.5 {
                        self.bodies[section] = body;
                        is_changed = true;
                    }
                    y += body;
                }
                section += 1;
            }
            is_changed
        });
        if is_changed.inner {
            self.sum_up(page, compare);
            ui.request_repaint();
        }
        self.bars_ui(ui, rect);
    }

    fn section_ui(&mut self, ui: &mut Ui, cx: &Cx<'_>, judged: &Judged, section: usize, top: Pos2) {
        let page = &judged.page;
        for column in 0..page.texts.len() {
            let left = top.x + column as f32 * self.width;
            let body = vec2(self.width, self.bodies[section]);
            let cell = Cell { section, column, rect: Rect::from_min_size(pos2(left, top.y), body) };
            if !ui.is_rect_visible(cell.rect) {
                continue;
            }
            // A cell that was measured higher than it was thought to be is not cut short.
            let clip = cell.rect.with_max_y(f32::INFINITY).intersect(ui.clip_rect()).shrink2(vec2(1.0, 0.0));
            ui.push_id((section, column), |ui| {
                ui.set_clip_rect(clip);
                self.cell_ui(ui, cx, judged, &cell);
            });
        }
    }

    fn cell_ui(&mut self, ui: &mut Ui, cx: &Cx<'_>, judged: &Judged, cell: &Cell) {
        let page = &judged.page;
        let missing = body::missing(judged, cell.section, cell.column);
        if !missing.is_empty() {
            ui.painter().rect_filled(cell.rect, 0.0, ThemeTokens::of(ui).warn_bg);
        }
        let laid = Arc::clone(&self.laid);
        let pieces = laid.cell(cell.section, cell.column);
        let clip = ui.clip_rect();
        let mut y = cell.rect.top() + if pieces.is_empty() { 0.0 } else { PAD };
        for at in pieces.clone() {
            let height = self.heights[at];
            if y + height >= clip.top() && y <= clip.bottom() {
                let painted = ui.push_id(at, |ui| self.piece_ui(ui, cx, page, cell, at, y)).inner;
                self.heights[at] = painted;
                y += painted;
            } else {
                y += height;
            }
        }
        if !missing.is_empty() {
            let y = y + if pieces.is_empty() { 0.0 } else { PAD };
            let rect = Rect::from_min_size(pos2(cell.rect.left(), y), vec2(self.width, ROW));
            body::missing_ui(ui, &missing, cell.section, &body::Place { rect, column: cell.column });
        }
    }

    /// Paints a piece and returns its height.
    fn piece_ui(&mut self, ui: &mut Ui, cx: &Cx<'_>, page: &SweepPage, cell: &Cell, at: usize, y: f32) -> f32 {
        let laid = Arc::clone(&self.laid);
        let (column, left) = (cell.column, cell.rect.left());
        match &laid.pieces[at] {
            Piece::Rows(rows) => {
                let clip = ui.clip_rect();
                let first = ((clip.top() - y) / ROW).max(0.0) as usize;
                let count = (clip.height() / ROW) as usize + 2;
                for (at, row) in laid.rows[column][rows.clone()].iter().enumerate().skip(first).take(count) {
                    let rect = Rect::from_min_size(pos2(left, y + at as f32 * ROW), vec2(self.width, ROW));
                    body::row_ui(ui, page, row, &body::Place { rect, column });
                }
                rows.len() as f32 * ROW
            }
            Piece::Block(range, _) => {
                if self.items.len() > READ {
                    self.items.clear();
                }
                let read = || Arc::new(read(&page.texts[column].text[range.clone()], &laid.definitions[column]));
                let items = Arc::clone(self.items.entry(at).or_insert_with(read));
                let mut height = 0.0;
                for (position, item) in items.iter().enumerate() {
                    let place = ItemPlace {
                        top: pos2(left, y + height),
                        width: self.width,
                        record: None,
                        is_linked: false,
                        is_first: position == 0,
                        salt: position,
                    };
                    height += ui.push_id(position, |ui| item_ui(ui, cx, item, &place, &mut self.cache)).inner;
                }
                height
            }
            Piece::Head(table) => self.row_ui(ui, cx, cell, at, (*table, None), y),
            Piece::Row(table, row) => self.row_ui(ui, cx, cell, at, (*table, Some(*row)), y),
        }
    }

    fn row_ui(&mut self, ui: &mut Ui, cx: &Cx<'_>, cell: &Cell, at: usize, place: (usize, Option<usize>), y: f32) -> f32 {
        let laid = Arc::clone(&self.laid);
        let (number, row) = place;
        let found = &laid.tables[cell.column][number];
        let widths = &self.widths[cell.column][number];
        if self.cells.len() > READ {
            self.cells.clear();
        }
        let read = || Arc::new(table::cells(found, row, widths.len()));
        let cells = Arc::clone(self.cells.entry(at).or_insert_with(read));
        let row = table::TableRow { table: found, widths, cells: &cells, row, record: None, is_linked: false };
        let top = pos2(cell.rect.left() - self.shifts[cell.column], y);
        table::row_ui(ui, cx, &row, top)
    }

    /// How far the tables of a column reach beyond it.
    fn beyond(&self, column: usize) -> f32 {
        let widest = self.widths[column].iter().map(|widths| widths.iter().sum::<f32>()).fold(0.0, f32::max);
        (widest + 2.0 * SIDE - self.width).max(0.0)
    }

    /// Moves the tables of the column under the pointer.
    fn shift_by_hand(&mut self, ui: &Ui, rect: Rect) {
        let Some(pointer) = ui.input(|input| input.pointer.hover_pos()).filter(|at| rect.contains(*at)) else { return };
        let column = ((pointer.x - rect.left()) / self.width) as usize;
        if column >= self.shifts.len() {
            return;
        }
        let beyond = self.beyond(column);
        if beyond > 0.0 {
            let delta = ui.input_mut(|input| std::mem::take(&mut input.smooth_scroll_delta.x));
            self.shifts[column] = (self.shifts[column] - delta).clamp(0.0, beyond);
        }
    }

    /// A bar below every column whose tables are wider than it.
    fn bars_ui(&mut self, ui: &Ui, rect: Rect) {
        let t = ThemeTokens::of(ui);
        for column in 0..self.shifts.len() {
            let beyond = self.beyond(column);
            if beyond <= 0.0 {
                continue;
            }
            let left = rect.left() + column as f32 * self.width + 4.0;
            let room = self.width - 8.0;
            let track = Rect::from_min_size(pos2(left, rect.bottom() - BAR - 2.0), vec2(room, BAR));
            let length = (room * room / (room + beyond)).max(24.0);
            let response = ui.interact(track.expand2(vec2(0.0, 2.0)), ui.scope_id().with(("shift", column)), Sense::DRAG);
            if response.dragged() {
                let share = response.drag_delta().x / (room - length).max(1.0);
                self.shifts[column] = (self.shifts[column] + share * beyond).clamp(0.0, beyond);
            }
            let at = left + (room - length) * self.shifts[column] / beyond;
            let color = if response.hovered() || response.dragged() { t.weak } else { t.line2 };
            ui.painter().rect_filled(Rect::from_min_size(pos2(at, track.top()), vec2(length, BAR)), BAR / 2.0, color);
        }
    }
}

/// A part of a block may begin indented: it is read as if it began at the left.
fn read(part: &str, definitions: &str) -> Vec<Item> {
    let indent = part.len() - part.trim_start_matches(' ').len();
    if indent == 0 {
        return markdown::items(part, definitions);
    }
    let left = |line: &str| {
        let own = line.len() - line.trim_start_matches(' ').len();
        line[own.min(indent)..].to_owned()
    };
    markdown::items(&part.split('\n').map(left).collect::<Vec<_>>().join("\n"), definitions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_indented_part_is_read_as_if_it_stood_at_the_left() {
        let texts = |part: &str| read(part, "").iter().map(|item| item.indent).collect::<Vec<_>>();
        assert_eq!(texts("    - a\n      - b\n    - c"), [1, 2, 1]);
        assert_eq!(texts("- a"), [1]);
    }
}
