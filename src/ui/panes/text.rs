//! The text pane: the exact text of a format, as virtual rows.
//!
//! Only visible rows are laid out. Selection, links and what was found are byte ranges of the text, painted per row, so
//! that they survive scrolling and copying always gives the original bytes, whatever the screen shows for them.

use std::ops::Range;
use std::sync::Arc;

use egui::mutex::Mutex;
use egui::text::CCursor;
use egui::{
    Align, Color32, Galley, Id, Key, Layout, Pos2, Rect, RichText, Role, ScrollArea, Sense, Stroke, StrokeKind, Ui, WidgetInfo,
    pos2, vec2,
};

use super::colour::job;
use super::{PaneCx, find, glyph};
use crate::report::special::Shown;
use crate::report::{Answer, Question, TextRow, TextView};
use crate::state::{Action, Asked, PaneView};
use crate::ui::Cx;
use crate::ui::theme::{self, TEXT_ROW, Tokens};
use crate::ui::widgets::{self, Button};

/// What a pane keeps between frames.
struct Prepared {
    view: Arc<TextView>,
    /// Those of another width stay until the new ones are there.
    rows: Arc<[TextRow]>,
    shown_record: Option<usize>,
    widest: f32,
}

/// The selected bytes of a pane, and where the pointer went last.
#[derive(Clone, Debug, Default, PartialEq)]
struct Selection {
    format: &'static str,
    anchor: usize,
    head: usize,
}

impl Selection {
    fn range(&self) -> Range<usize> {
        self.anchor.min(self.head)..self.anchor.max(self.head)
    }
}

fn selection_id(pane: &PaneCx) -> Id {
    Id::unique(("text selection", pane.index))
}

/// Where to find an offset that is to be scrolled to.
pub fn goto_id(pane: &PaneCx) -> Id {
    Id::unique(("text goto", pane.index))
}

fn prepared_id(pane: &PaneCx) -> Id {
    Id::unique(("text rows", pane.index))
}

fn prepared(ui: &Ui, pane: &PaneCx) -> Option<Arc<Mutex<Prepared>>> {
    ui.data(|data| data.get_temp(prepared_id(pane)))
}

fn selection(ui: &Ui, pane: &PaneCx) -> Selection {
    let selection: Selection = ui.data(|data| data.get_temp(selection_id(pane))).unwrap_or_default();
    if selection.format == pane.format { selection } else { Selection { format: pane.format, ..Selection::default() } }
}

pub fn text_ui(ui: &mut Ui, cx: &Cx<'_>, pane: &PaneCx) {
    let view = match cx.ask(Question::Text(pane.format)) {
        Asked::Ready(Answer::Text(view)) => view,
        Asked::Failed(problem) if pane.format == "content" => {
            // An error or a torn answer has no text, but it has bytes.
            if widgets::empty_ui(ui, &super::sentence(&problem.what), Some("Show what came on the wire")) {
                cx.send(Action::SetPane { pane: pane.index, shows: PaneView::Text("wire") });
            }
            return;
        }
        Asked::Failed(problem) => return super::failed_ui(ui, problem),
        Asked::Working { since } => return super::working_ui(ui, since, cx),
        Asked::Ready(_) => return,
    };
    let digits = view.line_count.max(10).ilog10() as f32 + 1.0;
    let gutter = (digits * 7.0 + 26.0).round();
    let char_width = ui.painter().layout_no_wrap("0".repeat(64), theme::code(), Color32::PLACEHOLDER).size().x / 64.0;
    let fitting = ((ui.available_width() - gutter - 16.0) / char_width).clamp(16.0, f32::from(u16::MAX));
    let columns = if cx.state.settings.wrap { fitting as u16 } else { 0 };
    let known = prepared(ui, pane).filter(|known| Arc::ptr_eq(&known.lock().view, view));
    let prepared = match (cx.ask(Question::Rows { format: pane.format, columns }), known) {
        (Asked::Ready(Answer::Rows(rows)), Some(known)) => {
            known.lock().rows = Arc::clone(rows);
            known
        }
        (Asked::Ready(Answer::Rows(rows)), None) => {
            let new = Prepared { view: Arc::clone(view), rows: Arc::clone(rows), shown_record: None, widest: 0.0 };
            let new = Arc::new(Mutex::new(new));
            ui.data_mut(|data| data.insert_temp(prepared_id(pane), Arc::clone(&new)));
            new
        }
        (Asked::Failed(problem), _) => return super::failed_ui(ui, problem),
        (_, Some(known)) => known,
        (Asked::Working { since }, None) => return super::working_ui(ui, since, cx),
        (Asked::Ready(_), None) => return,
    };
    prepared.lock().show(ui, cx, pane, gutter);
}

impl Prepared {
    fn row_at(&self, offset: usize) -> usize {
        self.rows.partition_point(|row| row.range.start <= offset).saturating_sub(1)
    }

    /// The offset to scroll to, where something that is not in sight was asked for.
    fn target(&mut self, ui: &Ui, cx: &Cx<'_>, pane: &PaneCx) -> Option<f32> {
        let goto: Option<usize> = ui.data_mut(|data| data.remove_temp(goto_id(pane)));
        let record = cx.state.view.record;
        let mut place = goto;
        // The first frame does not know its height yet.
        if self.shown_record != record && pane.visible(ui).1 > 0.0 {
            self.shown_record = record;
            place = place.or_else(|| self.view.links.first(record?));
        }
        let row = self.row_at(place?) as f32 * TEXT_ROW;
        let (top, height) = pane.visible(ui);
        (row < top || row + TEXT_ROW * 2.0 > top + height).then(|| (row - height * 0.3).max(0.0))
    }

    fn show(&mut self, ui: &mut Ui, cx: &Cx<'_>, pane: &PaneCx, gutter: f32) {
        let found = find::places(cx, pane);
        let mut area = ScrollArea::both().id_salt(("text", pane.index, pane.format)).auto_shrink(false);
        if let Some(offset) = self.target(ui, cx, pane) {
            area = area.vertical_scroll_offset(offset);
        }
        let mut selected = selection(ui, pane);
        let outer = ui.available_rect_before_wrap();
        let output = area.show_viewport(ui, |ui, viewport| {
            let origin = ui.min_rect().min;
            let total = vec2(self.widest.max(viewport.width()), self.rows.len() as f32 * TEXT_ROW + 16.0);
            let response = ui.interact(outer, ui.scope_id().with("text"), Sense::click_and_drag());
            ui.allocate_rect(Rect::from_min_size(origin, total), Sense::hover());
            let first = ((viewport.min.y - 8.0) / TEXT_ROW).max(0.0) as usize;
            // From the first visible row on, so that positions are exact in very long texts as well.
            let top = (origin.y + viewport.min.y).round()
                + (f64::from(8.0_f32) + first as f64 * f64::from(TEXT_ROW) - f64::from(viewport.min.y)) as f32;
            let count = (viewport.height() / TEXT_ROW) as usize + 3;
            let mut drawn = Vec::with_capacity(count);
            for at in first..(first + count).min(self.rows.len()) {
                let y = top + (at - first) as f32 * TEXT_ROW;
                let place = Place { top: pos2(origin.x, y.round()), width: viewport.width(), gutter };
                drawn.push(self.row_ui(ui, cx, at, &place, &selected, found));
            }
            response.widget_info(|| {
                WidgetInfo::labeled(
                    Role::Document,
                    true,
                    format!(
                        "{}, exact text, {}",
                        super::format_title(pane.format),
                        widgets::number_text(self.view.lines.len() as u64, "lines")
                    ),
                )
            });
            let response = response.on_hover_cursor(egui::CursorIcon::Text);
            if let Some((pos, row)) =
                response.hover_pos().and_then(|pos| Some((pos, drawn.iter().find(|row| row.rect.contains(pos))?)))
                && let Some(char) = row.char_at(pos)
            {
                glyph::tip(cx, &response, &self.view.text[row.start..row.start + row.len], char);
            }
            let at =
                |pos: Pos2| drawn.iter().min_by(|a, b| a.distance(pos).total_cmp(&b.distance(pos))).map(|row| row.offset_at(pos));
            if let Some(offset) = response.interact_pointer_pos().and_then(at) {
                // A drag is only told from a click when the pointer has moved: the selection begins where it was pressed.
                if response.is_pointer_button_down_on() && ui.input(|input| input.pointer.any_pressed()) {
                    let extends = ui.input(|input| input.modifiers.shift);
                    selected =
                        Selection { format: pane.format, anchor: if extends { selected.anchor } else { offset }, head: offset };
                } else if response.dragged() {
                    selected.head = offset;
                }
                if response.clicked()
                    && let Some(record) = self.view.links.at(&(offset..offset + 1))
                {
                    cx.send(Action::SelectRecord(Some(record)));
                }
                if response.triple_clicked() {
                    let row = &self.view.lines[self.view.line_at(offset)].range;
                    (selected.anchor, selected.head) = (row.start, row.end);
                } else if response.double_clicked() {
                    let word = word_at(&self.view.text, offset);
                    (selected.anchor, selected.head) = (word.start, word.end);
                }
            }
            response.clicked() || response.dragged()
        });
        let range = selected.range();
        let is_ours = pane.is_focused && !ui.text_edit_focused();
        if is_ours && ui.input_mut(|input| input.consume_key(egui::Modifiers::COMMAND, Key::A)) {
            selected = Selection { format: pane.format, anchor: 0, head: self.view.text.len() };
        }
        if is_ours && !range.is_empty() && ui.input(|input| input.events.iter().any(|event| matches!(event, egui::Event::Copy))) {
            cx.send(Action::Copy(self.view.text.get(range).unwrap_or_default().to_owned()));
        }
        ui.data_mut(|data| data.insert_temp(selection_id(pane), selected));
        pane.remember(ui, output.state.clamped_offset().y, output.inner_rect.height());
    }

    fn row_ui(&mut self, ui: &Ui, cx: &Cx<'_>, at: usize, place: &Place, selected: &Selection, found: &[Range<usize>]) -> Drawn {
        let t = Tokens::of(ui);
        let view = Arc::clone(&self.view);
        let row = self.rows[at].clone();
        let shown = Shown::of(&view.text[row.range.clone()]);
        let rect = Rect::from_min_size(place.top, vec2(place.width, TEXT_ROW));
        let left = place.top.x + place.gutter;
        let galley = ui.painter().layout_job(job(t, &shown, &view, &row));
        let drawn = Drawn { rect, left, start: row.range.start, len: row.range.len(), shown, galley };
        self.widest = self.widest.max(place.gutter + drawn.galley.size().x + 16.0);
        if let Some(record) = cx.state.view.record {
            let mut is_linked = false;
            for place in view.links.of_record(record, &row.range) {
                is_linked = true;
                let is_whole = place.start <= row.range.start && place.end >= row.range.end;
                ui.painter().rect_filled(if is_whole { rect } else { drawn.span(place) }, 0.0, t.accent_bg);
            }
            if is_linked {
                ui.painter().rect_filled(Rect::from_min_size(rect.min, vec2(2.0, TEXT_ROW)), 0.0, t.accent);
            }
        }
        let is_current = selected.range().is_empty() && selected.head > 0 && row.range.contains(&selected.head);
        let chosen = intersect(&selected.range(), &row.range);
        if let Some(chosen) = chosen {
            let mut span = drawn.span(&chosen);
            // The line feed is part of it: a little more than the text.
            if selected.range().end > row.range.end {
                span.max.x += 6.0;
            }
            ui.painter().rect_filled(span, 0.0, t.sel);
        }
        for found in between(found, &row.range) {
            ui.painter().rect(drawn.span(found), theme::RADIUS_BAR, t.warn_bg, Stroke::new(1.0, t.warn_line), StrokeKind::Inside);
        }
        if let Some(number) = row.number {
            let color = if is_current { t.strong } else { t.weak };
            widgets::text_right(ui, pos2(left - 14.0, rect.center().y), number.to_string(), theme::mono(11.0), color);
        }
        for (name, _) in &drawn.shown.names {
            let span = drawn.shown_span(name).shrink2(vec2(0.0, 2.0));
            ui.painter().rect(span, theme::RADIUS_BAR, t.warn_bg, Stroke::new(1.0, t.warn_line), StrokeKind::Inside);
        }
        let at_y = (rect.center().y - drawn.galley.size().y / 2.0).round();
        ui.painter().galley(pos2(left, at_y), Arc::clone(&drawn.galley), t.text);
        for differs in between(&view.differs, &row.range) {
            let span = drawn.span(differs);
            ui.painter().hline(span.x_range(), span.bottom() - 1.0, Stroke::new(2.0, t.bad));
        }
        ui.interact(rect, ui.scope_id().with(("row", at)), Sense::empty())
            .widget_info(|| WidgetInfo::labeled(Role::Label, true, &view.text[row.range.clone()]));
        drawn
    }
}

/// Where a row is painted.
struct Place {
    top: Pos2,
    width: f32,
    gutter: f32,
}

/// A row on the screen, for turning places into offsets and back.
struct Drawn {
    rect: Rect,
    left: f32,
    start: usize,
    len: usize,
    shown: Shown,
    galley: Arc<Galley>,
}

impl Drawn {
    fn distance(&self, pos: Pos2) -> f32 {
        if self.rect.y_range().contains(pos.y) { 0.0 } else { (self.rect.center().y - pos.y).abs() }
    }

    /// The byte of the row's own text under the pointer, where there is any.
    fn char_at(&self, pos: Pos2) -> Option<usize> {
        let inside = pos.x - self.left;
        if !(0.0..self.galley.size().x).contains(&inside) {
            return None;
        }
        let mut cursor = self.galley.cursor_from_pos(vec2(inside, self.galley.size().y / 2.0));
        // The cursor goes to the nearer side of a character; the character meant is the one before it then.
        if self.galley.pos_from_cursor(cursor).left() > inside {
            cursor.index.0 = cursor.index.0.saturating_sub(1);
        }
        let shown = self.shown.text.char_indices().nth(cursor.index.0).map(|(at, _)| at)?;
        Some(self.shown.to_source(shown).min(self.len))
    }

    fn offset_at(&self, pos: Pos2) -> usize {
        let cursor = self.galley.cursor_from_pos(vec2(pos.x - self.left, self.galley.size().y / 2.0));
        let shown = self.shown.text.char_indices().nth(cursor.index.0).map_or(self.shown.text.len(), |(at, _)| at);
        self.start + self.shown.to_source(shown).min(self.len)
    }

    fn x(&self, shown: usize) -> f32 {
        let chars = self.shown.text.get(..shown).unwrap_or(&self.shown.text).chars().count();
        self.left + self.galley.pos_from_cursor(CCursor::new(chars)).left()
    }

    fn shown_span(&self, shown: &Range<usize>) -> Rect {
        Rect::from_x_y_ranges(self.x(shown.start)..=self.x(shown.end), self.rect.y_range())
    }

    /// Where a range of the text is in this row.
    fn span(&self, range: &Range<usize>) -> Rect {
        let local = |offset: usize| self.shown.to_shown(offset.clamp(self.start, self.start + self.len) - self.start);
        self.shown_span(&(local(range.start)..local(range.end)))
    }
}

fn intersect(a: &Range<usize>, row: &Range<usize>) -> Option<Range<usize>> {
    let range = a.start.max(row.start)..a.end.min(row.end);
    (!a.is_empty() && a.start <= row.end && a.end > row.start && range.start <= range.end).then_some(range)
}

/// The ranges (in order, not overlapping) that reach into a row.
fn between<'a>(ranges: &'a [Range<usize>], row: &Range<usize>) -> impl Iterator<Item = &'a Range<usize>> {
    let first = ranges.partition_point(|range| range.end <= row.start);
    let end = row.end;
    ranges[first..].iter().take_while(move |range| range.start < end)
}

fn word_at(text: &str, offset: usize) -> Range<usize> {
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    let start = text[..offset].char_indices().rev().take_while(|&(_, char)| is_word(char)).last().map_or(offset, |(at, _)| at);
    let end = text[offset..].char_indices().find(|&(_, char)| !is_word(char)).map_or(text.len(), |(at, _)| offset + at);
    start..end
}

pub fn footer_ui(ui: &mut Ui, cx: &Cx<'_>, pane: &PaneCx) {
    let Some(Answer::Text(view)) = cx.ready(Question::Text(pane.format)) else { return };
    let t = Tokens::of(ui);
    let selected = selection(ui, pane);
    let range = selected.range();
    let small = |text: String| RichText::new(text).font(theme::regular(11.5)).color(t.weak);
    if selected.head == 0 && range.is_empty() {
        ui.label(small(widgets::number_text(view.line_count.into(), if view.line_count == 1 { "line" } else { "lines" })));
    } else {
        let at = view.line_at(selected.head.min(view.text.len()));
        let line = view.lines[..=at].iter().rev().find(|line| line.number.is_some());
        let start = line.map_or(0, |line| line.range.start);
        let column = view.text.get(start..selected.head).map_or(0, |text| text.chars().count()) + 1;
        let number = line.and_then(|line| line.number).unwrap_or(0);
        ui.label(
            RichText::new(format!("Ln {}, Col {}", widgets::grouped(number.into()), widgets::grouped(column as u64)))
                .font(theme::mono(11.5))
                .color(t.weak),
        );
    }
    if !range.is_empty() {
        // Counting characters of a selection of megabytes takes longer than a frame.
        let text = match range.len() {
            0..1_000_000 => {
                widgets::number_text(view.text.get(range.clone()).map_or(0, |text| text.chars().count() as u64), "chars selected")
            }
            long => format!("{} selected", widgets::bytes(long as u64)),
        };
        // Counted when it stands still: every step of a drag would be a question of its own.
        let part = Question::Part { format: pane.format, from: range.start, to: range.end };
        let tokens = match (ui.input(|input| input.pointer.any_down()), part) {
            (false, part) => cx.ready(part),
            (true, _) => None,
        };
        let tokens = match tokens {
            Some(Answer::Part(tokens)) => {
                format!(" · {}", widgets::number_text(tokens.get(cx.state.settings.encoding()), "tokens by themselves"))
            }
            _ => String::new(),
        };
        ui.label(RichText::new(text + &tokens).font(theme::regular(11.5)).color(t.accent));
    }
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        ui.spacing_mut().item_spacing.x = 10.0;
        let is_wrapped = cx.state.settings.wrap;
        let name = if is_wrapped { "Wrap on" } else { "Wrap off" };
        if Button::new(name).frameless().tip("Break long lines at the edge of the pane").height(22.0).show(ui).clicked() {
            cx.send(Action::SetWrap(!is_wrapped));
        }
        ui.label(small(view.line_ends.to_owned()));
        if view.is_exact {
            ui.label(small("UTF-8".into()));
        } else {
            ui.label(
                RichText::new("not valid UTF-8: bytes that are not are shown as U+FFFD").font(theme::regular(11.5)).color(t.warn),
            );
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_ranges_in_a_row() {
        assert_eq!(word_at("ab cd_e f", 4), 3..7);
        assert_eq!(between(&[0..5, 7..12], &(4..8)).count(), 2);
    }
}
