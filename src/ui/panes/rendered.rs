//! The rendered pane: Markdown as people see it, one card per block of `content`.
//!
//! A virtual list: blocks are read when they come into view, drawn by our own painter (tables with linked rows, links
//! shown before they open) and measured; code blocks are the library's. Raw HTML is text, images are their address.

use std::ops::Range;
use std::sync::Arc;

use egui::mutex::Mutex;
use egui::text::{LayoutJob, TextFormat, TextWrapping};
use egui::{Color32, Id, Pos2, Rect, Role, ScrollArea, Sense, Stroke, StrokeKind, Ui, UiBuilder, WidgetInfo, pos2, vec2};
use egui_commonmark::{CommonMarkCache, CommonMarkViewer};
use pulldown_cmark::Alignment;

use super::inline::{Font, byte_at, layout, links_ui};
use super::markdown::{self, Inline, ItemKind};
use super::{PaneCx, glyph, rtl};
use crate::capture::{Block, BlockKind};
use crate::format::Subject;
use crate::report::special::Shown;
use crate::report::{Answer, MdKind, Question, RenderedView, Table};
use crate::state::{Action, Asked};
use crate::ui::theme::{self, Tokens};
use crate::ui::widgets::{self, Tone};
use crate::ui::{Cx, icons};

/// Space to the left and right of the text.
const SIDE: f32 = 16.0;
/// Padding inside a table's cell.
const CELL: f32 = 12.0;
/// No column of a table gets narrower than this by wrapping.
const MIN_COLUMN: f32 = 64.0;
/// Raw JSON of an unknown block is shown up to here; the wire has it all.
const RAW_LIMIT: usize = 4_096;

#[derive(Clone)]
enum Kind {
    /// A block of Markdown that nobody has looked at yet.
    Unread {
        card: usize,
        block: usize,
    },
    Item {
        item: markdown::Item,
        offset: usize,
    },
    /// A row of a table, or its header.
    Row {
        table: Arc<Columns>,
        row: Option<usize>,
    },
    CardHeader(Header),
    Raw(String),
    Notice(String),
    Gap(f32),
}

#[derive(Clone)]
struct Header {
    title: String,
    details: String,
    audience: String,
    priority: String,
    icon: &'static str,
}

/// A table: which block it is, and how wide its columns would like to be.
struct Columns {
    card: usize,
    block: usize,
    natural: Vec<f32>,
}

#[derive(Clone)]
struct Entry {
    kind: Kind,
    /// Range in the format's whole text.
    range: Range<usize>,
    /// Estimated until it was drawn once.
    height: f32,
}

/// What a pane keeps between frames.
struct Flow {
    view: Arc<RenderedView>,
    entries: Vec<Entry>,
    width: f32,
    /// Width of the widest table at this width of the pane, or that width.
    content: f32,
    /// Where the entries begin, as far as that is known for sure: from a changed height on it is not.
    tops: Vec<f32>,
    /// Height of all entries.
    total: f32,
    cache: CommonMarkCache,
    shown_record: Option<usize>,
}

pub fn rendered_ui(ui: &mut Ui, cx: &Cx<'_>, pane: &PaneCx) {
    let view = match cx.ask(Question::Rendered(pane.format)) {
        Asked::Ready(Answer::Rendered(view)) => view,
        Asked::Failed(problem) => return super::failed_ui(ui, problem),
        Asked::Working { since } => return super::working_ui(ui, since, cx),
        Asked::Ready(_) => return,
    };
    let subject = match cx.ready(Question::Subject) {
        Some(Answer::Subject(subject)) => Some(subject),
        _ => None,
    };
    if pane.format == "content" && subject.is_none() {
        return super::working_ui(ui, cx.state.now, cx);
    }
    let id = Id::unique(("rendered flow", pane.index));
    let known: Option<Arc<Mutex<Flow>>> = ui.data(|data| data.get_temp(id));
    let flow = known.filter(|flow| Arc::ptr_eq(&flow.lock().view, view)).unwrap_or_else(|| {
        let flow = Arc::new(Mutex::new(Flow::new(view, subject, pane.format)));
        ui.data_mut(|data| data.insert_temp(id, Arc::clone(&flow)));
        flow
    });
    flow.lock().show(ui, cx, pane);
}

/// What the footer says: what the text is made of.
pub fn summary(view: &RenderedView) -> String {
    let mut tables = 0;
    let mut blocks = 0;
    for block in view.cards.iter().flat_map(|card| &card.blocks) {
        match block.kind {
            MdKind::Table(_) => tables += 1,
            MdKind::Html | MdKind::Markdown => blocks += 1,
        }
    }
    match tables {
        0 => widgets::number_text(blocks, if blocks == 1 { "block" } else { "blocks" }),
        _ => format!(
            "{}, {}",
            widgets::number_text(tables, if tables == 1 { "table" } else { "tables" }),
            widgets::number_text(blocks, if blocks == 1 { "other block" } else { "other blocks" })
        ),
    }
}

impl Flow {
    fn new(view: &Arc<RenderedView>, subject: Option<&Arc<Subject>>, format: &str) -> Self {
        let mut flow = Self {
            view: Arc::clone(view),
            entries: vec![],
            width: 0.0,
            content: 0.0,
            tops: vec![],
            total: 0.0,
            cache: CommonMarkCache::default(),
            shown_record: None,
        };
        flow.push(Kind::Gap(12.0), 0..0, 12.0);
        match subject.filter(|_| format == "content") {
            Some(subject) => {
                let blocks = &subject.reading.blocks;
                let is_plain = blocks.len() == 1
                    && blocks[0].audience.is_empty()
                    && blocks[0].priority.is_none()
                    && blocks[0].kind == BlockKind::Text;
                for block in blocks {
                    if !is_plain {
                        flow.push(Kind::CardHeader(header(block)), 0..0, 36.0);
                    }
                    for fault in &block.faults {
                        flow.push(Kind::Notice(fault.clone()), 0..0, 24.0);
                    }
                    match view.cards.iter().position(|card| card.block == Some(block.index)) {
                        Some(card) => flow.push_card(card),
                        None => flow.push_other(block, subject),
                    }
                }
            }
            None => (0..view.cards.len()).for_each(|card| flow.push_card(card)),
        }
        flow.push(Kind::Gap(16.0), 0..0, 16.0);
        flow.total = flow.entries.iter().map(|entry| entry.height).sum();
        flow
    }

    fn push(&mut self, kind: Kind, range: Range<usize>, height: f32) {
        self.entries.push(Entry { kind, range, height });
    }

    fn push_card(&mut self, index: usize) {
        let view = Arc::clone(&self.view);
        let card = &view.cards[index];
        for (block, md) in card.blocks.iter().enumerate() {
            let range = md.range.start + card.offset..md.range.end + card.offset;
            match &md.kind {
                MdKind::Table(table) => self.push_table(index, block, table, range),
                MdKind::Html | MdKind::Markdown => {
                    let lines = md.range.len() / 60 + 1;
                    self.push(Kind::Unread { card: index, block }, range, lines as f32 * 20.0 + 8.0);
                }
            }
        }
        if card.is_cut {
            self.push(Kind::Notice("Only the first 2 MB are rendered; the Text pane shows everything".into()), 0..0, 24.0);
        }
    }

    fn push_table(&mut self, card: usize, block: usize, table: &Table, range: Range<usize>) {
        let offset = self.view.cards[card].offset;
        let natural = table.longest.iter().map(|&chars| chars as f32 * 7.0 + 2.0 * CELL).collect();
        let shared = Arc::new(Columns { card, block, natural });
        self.push(Kind::Gap(4.0), range.start..range.start, 4.0);
        self.push(Kind::Row { table: Arc::clone(&shared), row: None }, range.start..range.start + 1, 32.0);
        self.entries.extend(table.rows.iter().enumerate().map(|(row, (place, _))| Entry {
            kind: Kind::Row { table: Arc::clone(&shared), row: Some(row) },
            range: place.start + offset..place.end + offset,
            height: 31.0,
        }));
        self.push(Kind::Gap(12.0), range.end..range.end, 12.0);
    }

    /// A block that is not text: what it is, and where it points.
    fn push_other(&mut self, block: &Block, subject: &Subject) {
        let mut lines = Vec::new();
        let mut line = |name: &str, value: Option<String>| lines.extend(value.map(|value| format!("{name}: {value}")));
        line("name", block.name.clone());
        line("uri", block.uri.clone());
        line("mimeType", block.mime_type.clone());
        line("data", block.data_bytes.map(|bytes| format!("{}, not shown", widgets::bytes(bytes as u64))));
        line("text", block.text.as_deref().map(|text| text.chars().take(RAW_LIMIT).collect()));
        if block.kind == BlockKind::Unknown
            && let Some(node) = subject.reading.doc.node(block.node)
        {
            let raw = node.raw_text();
            let mut text: String = raw.chars().take(RAW_LIMIT).collect();
            if text.len() < raw.len() {
                text.push_str(&format!("\n… {} more, see On the wire", widgets::bytes((raw.len() - text.len()) as u64)));
            }
            lines.push(text);
        }
        self.push(Kind::Raw(Shown::of(&lines.join("\n")).text), 0..0, lines.len() as f32 * 18.0 + 24.0);
    }

    /// Reads a block that came into view.
    fn read(&mut self, at: usize) {
        let Kind::Unread { card, block } = self.entries[at].kind else { return };
        let view = Arc::clone(&self.view);
        let card_text = &view.cards[card];
        let md = &card_text.blocks[block];
        let source = &card_text.text[md.range.clone()];
        let offset = card_text.offset + md.range.start;
        let end = self.entries[at].range.end;
        let read: Vec<Entry> = markdown::items(source, &card_text.definitions)
            .into_iter()
            .map(|item| {
                let range = item.range.start + offset..(item.range.end + offset).min(end).max(item.range.start + offset);
                Entry { height: (item.range.len() / 60 + 1) as f32 * 20.0 + 6.0, range, kind: Kind::Item { item, offset } }
            })
            .collect();
        self.total += read.iter().map(|entry| entry.height).sum::<f32>() - self.entries[at].height;
        self.entries.splice(at..=at, read);
        self.tops.truncate(at + 1);
    }

    /// The entry at a height, or the last one.
    fn at_height(&mut self, height: f32) -> usize {
        while self.tops.last().is_none_or(|&top| top < height) && self.tops.len() < self.entries.len() {
            let before = self.tops.len().checked_sub(1).map_or(0.0, |last| self.tops[last] + self.entries[last].height);
            self.tops.push(before);
        }
        self.tops.partition_point(|&top| top <= height).saturating_sub(1)
    }

    fn show(&mut self, ui: &mut Ui, cx: &Cx<'_>, pane: &PaneCx) {
        let width = ui.available_width();
        if (self.width - width).abs() > 0.5 {
            self.width = width;
            self.content = self.content_width(width);
        }
        let mut area = ScrollArea::both().id_salt(("rendered", pane.index)).auto_shrink(false);
        let record = cx.state.view.record;
        // The first frame does not know its height yet.
        if self.shown_record != record && pane.visible(ui).1 > 0.0 {
            self.shown_record = record;
            if let Some(place) = record.and_then(|record| self.view.links.first(record)) {
                self.at_height(f32::INFINITY);
                let entry = self.entries.iter().position(|entry| entry.range.end > place);
                let offset = entry.and_then(|entry| self.tops.get(entry)).copied().unwrap_or_default();
                let (top, height) = pane.visible(ui);
                if offset < top || offset + 40.0 > top + height {
                    area = area.vertical_scroll_offset((offset - height * 0.3).max(0.0));
                }
            }
        }
        let output = area.show_viewport(ui, |ui, viewport| {
            ui.spacing_mut().item_spacing = vec2(0.0, 0.0);
            let origin = ui.min_rect().min;
            let mut at = self.at_height(viewport.min.y);
            let mut y = self.tops.get(at).copied().unwrap_or_default();
            let mut has_changed = false;
            while at < self.entries.len() && y <= viewport.max.y {
                let height = self.entries[at].height;
                if matches!(self.entries[at].kind, Kind::Unread { .. }) {
                    self.read(at);
                    continue;
                }
                let entry = self.entries[at].clone();
                let top = pos2(origin.x, (origin.y + y).round());
                let painted = ui.push_id(at, |ui| self.entry_ui(ui, cx, &entry, top, width)).inner;
                if (painted - height).abs() > 0.5 {
                    self.entries[at].height = painted;
                    self.total += painted - height;
                    self.tops.truncate(at + 1);
                    has_changed = true;
                }
                y += painted;
                at += 1;
            }
            ui.allocate_rect(Rect::from_min_size(origin, vec2(self.content, self.total)), Sense::hover());
            if has_changed {
                ui.request_repaint();
            }
        });
        pane.remember(ui, output.state.clamped_offset().y, output.inner_rect.height());
    }

    fn content_width(&self, width: f32) -> f32 {
        let widest = |entry: &Entry| match &entry.kind {
            Kind::Row { table, row: None } => table.fit(width - 2.0 * SIDE).iter().sum::<f32>() + 2.0 * SIDE,
            _ => width,
        };
        self.entries.iter().map(widest).fold(width, f32::max)
    }

    /// Paints one entry and returns its height.
    fn entry_ui(&mut self, ui: &mut Ui, cx: &Cx<'_>, entry: &Entry, top: Pos2, width: f32) -> f32 {
        let record = self.view.links.at(&entry.range);
        let is_linked = record.is_some() && record == cx.state.view.record;
        match &entry.kind {
            Kind::Gap(height) => *height,
            Kind::Unread { .. } => entry.height,
            Kind::Notice(text) => notice(ui, text, top, width),
            Kind::Raw(text) => raw(ui, text, top.x + SIDE, top.y, width - 2.0 * SIDE),
            Kind::CardHeader(header) => header_ui(ui, header, top, width),
            Kind::Row { table: columns, row } => match &self.view.cards[columns.card].blocks[columns.block].kind {
                MdKind::Table(table) => row_ui(ui, cx, &Row { table, columns, row: *row, record, is_linked }, top, width),
                MdKind::Html | MdKind::Markdown => 0.0,
            },
            Kind::Item { item, offset } => self.item_ui(ui, cx, item, *offset, record, is_linked, top, width),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one call, and the parts have nothing in common")]
    fn item_ui(
        &mut self,
        ui: &mut Ui,
        cx: &Cx<'_>,
        item: &markdown::Item,
        offset: usize,
        record: Option<usize>,
        is_linked: bool,
        top: Pos2,
        width: f32,
    ) -> f32 {
        let t = Tokens::of(ui);
        let left = top.x + SIDE + item.indent.saturating_sub(1) as f32 * 20.0 + item.quote as f32 * 14.0;
        let left = if item.indent > 0 { left + 18.0 } else { left };
        let room = (top.x + width - SIDE - left).max(80.0);
        let (inline, font, above, below) = match &item.kind {
            ItemKind::Heading(level, inline) => {
                let size = match level {
                    1 => 20.0,
                    2 => 17.0,
                    3 => 14.0,
                    _ => 13.0,
                };
                (
                    inline,
                    Font { size, is_heading: true, ..Font::default() },
                    if offset + item.range.start == 0 { 0.0 } else { 10.0 },
                    8.0,
                )
            }
            ItemKind::Paragraph(inline) => (inline, Font::default(), 2.0, if item.indent > 0 { 2.0 } else { 8.0 }),
            ItemKind::Point(_, inline) => (inline, Font::default(), 1.0, 2.0),
            ItemKind::Rule => {
                ui.painter().hline(left..=top.x + width - SIDE, top.y + 10.0, Stroke::new(1.0, t.line2));
                return 20.0;
            }
            ItemKind::Source(text) => return raw(ui, text, left, top.y, room),
            // The library shapes a line as one run: a right-to-left name would turn the rest of its line around.
            ItemKind::Code(fenced) if rtl::has_rtl(fenced) => {
                let code = fenced.split_once('\n').and_then(|(_, rest)| rest.rsplit_once('\n')).map_or("", |(code, _)| code);
                return raw(ui, code, left, top.y, room);
            }
            ItemKind::Code(fenced) => {
                let rect = Rect::from_min_size(pos2(left, top.y + 2.0), vec2(room, f32::INFINITY));
                let mut child = ui.new_child(UiBuilder::new().max_rect(rect).id_salt(("code", offset, item.range.start)));
                child.style_mut().interaction.selectable_labels = true;
                // Its copy button must fit into a block of one line.
                child.spacing_mut().button_padding = vec2(8.0, 4.0);
                child.spacing_mut().interact_size.y = 16.0;
                CommonMarkViewer::new().show(&mut child, &mut self.cache, fenced);
                return child.min_rect().height() + 12.0;
            }
        };
        let galley = layout(ui, inline, &font, room, egui::Align::LEFT);
        let height = (galley.size().y + above + below).ceil();
        let rect = Rect::from_min_size(top, vec2(width, height));
        let response =
            ui.interact(rect, ui.scope_id().with("item"), if record.is_some() { Sense::click() } else { Sense::hover() });
        ground(ui, rect, is_linked, record.is_some() && response.hovered());
        for depth in 0..item.quote {
            let x = top.x + SIDE + depth as f32 * 14.0 + item.indent as f32 * 18.0;
            ui.painter().rect_filled(Rect::from_min_size(pos2(x, top.y), vec2(3.0, height)), theme::RADIUS_BAR, t.line2);
        }
        if let ItemKind::Point(marker, _) = &item.kind {
            let at = pos2(left - 8.0, top.y + above + 10.0);
            widgets::text_right(ui, at, marker.clone(), theme::base(), t.weak);
        }
        let at = pos2(left, top.y + above);
        ui.painter().galley(at, Arc::clone(&galley), t.text);
        let role = if matches!(item.kind, ItemKind::Heading(..)) { Role::Heading } else { Role::Label };
        response.widget_info(|| WidgetInfo::labeled(role, true, &inline.text));
        if let Some(byte) = response.hover_pos().and_then(|pointer| byte_at(&inline.text, &galley, pointer - at)) {
            glyph::tip(cx, &response, &inline.text, byte);
        }
        if response.clicked() {
            select(cx, record);
        }
        links_ui(ui, cx, inline, &galley, at);
        height
    }
}

/// A click on a record selects it in all panes; on the selected one, lets it go.
fn select(cx: &Cx<'_>, record: Option<usize>) {
    if let Some(record) = record {
        cx.send(Action::SelectRecord((cx.state.view.record != Some(record)).then_some(record)));
    }
}

/// The light ground and left bar of a linked place.
fn ground(ui: &Ui, rect: Rect, is_linked: bool, is_hovered: bool) {
    let t = Tokens::of(ui);
    if is_linked {
        ui.painter().rect_filled(rect, 0.0, t.accent_bg);
        ui.painter().rect_filled(Rect::from_min_size(rect.min, vec2(2.0, rect.height())), 0.0, t.accent);
    } else if is_hovered {
        ui.painter().rect_filled(rect, 0.0, t.hover.gamma_multiply(0.6));
    }
}

impl Columns {
    /// Widths that fill `room`; columns too wide share what is left, and below the minimum the table scrolls.
    fn fit(&self, room: f32) -> Vec<f32> {
        let sum: f32 = self.natural.iter().sum();
        if sum <= room {
            return self.natural.iter().map(|width| width * room / sum.max(1.0)).collect();
        }
        let mut widths: Vec<f32> = self.natural.iter().map(|width| width.min(MIN_COLUMN)).collect();
        let mut left = room - widths.iter().sum::<f32>();
        // What a column lacks is given out a share at a time, so that narrow columns are satisfied first.
        for _ in 0..8 {
            let lacking = widths.iter().zip(&self.natural).filter(|(width, natural)| **natural - **width > 0.5).count();
            if lacking == 0 || left < 1.0 {
                break;
            }
            let share = left / lacking as f32;
            for (width, natural) in widths.iter_mut().zip(&self.natural) {
                let more = share.min(natural - *width).max(0.0);
                *width += more;
                left -= more;
            }
        }
        widths
    }
}

struct Row<'a> {
    table: &'a Table,
    columns: &'a Columns,
    /// `None` for the header.
    row: Option<usize>,
    record: Option<usize>,
    is_linked: bool,
}

fn row_ui(ui: &mut Ui, cx: &Cx<'_>, row: &Row<'_>, top: Pos2, width: f32) -> f32 {
    let t = Tokens::of(ui);
    let widths = row.columns.fit(width - 2.0 * SIDE);
    let is_header = row.row.is_none();
    let is_last = row.row.map_or(row.table.rows.is_empty(), |at| at + 1 == row.table.rows.len());
    let source = row.row.and_then(|at| row.table.rows.get(at)).map_or(&row.table.header, |(_, cells)| cells);
    let cells: Vec<Inline> = (0..widths.len())
        .map(|at| source.get(at).map_or_else(Inline::default, |cell| markdown::inline(&cell.source.replace("\\|", "|"))))
        .collect();
    let font = Font { size: 12.5, is_heading: is_header, ..Font::default() };
    let galleys: Vec<_> = cells
        .iter()
        .zip(&widths)
        .map(|(cell, &width)| layout(ui, cell, &font, (width - 2.0 * CELL).max(16.0), egui::Align::LEFT))
        .collect();
    let height = (galleys.iter().map(|galley| galley.size().y).fold(18.0, f32::max) + 12.0).ceil();
    let rect = Rect::from_min_size(pos2(top.x + SIDE, top.y), vec2(widths.iter().sum::<f32>().round(), height));
    let response =
        ui.interact(rect, ui.scope_id().with("row"), if row.record.is_some() { Sense::click() } else { Sense::hover() });
    let fill = if row.is_linked {
        t.accent_bg
    } else if is_header || (row.record.is_some() && response.hovered()) {
        t.hover
    } else {
        Color32::TRANSPARENT
    };
    let radius = egui::CornerRadius {
        nw: if is_header { 6 } else { 0 },
        ne: if is_header { 6 } else { 0 },
        sw: if is_last { 6 } else { 0 },
        se: if is_last { 6 } else { 0 },
    };
    // One pixel is shared with the row above, so that borders do not double.
    let framed = if is_header { rect } else { rect.with_min_y(rect.top() - 1.0) };
    ui.painter().rect(framed, radius, fill, Stroke::new(1.0, t.line2), StrokeKind::Inside);
    if row.is_linked {
        ui.painter().rect_filled(Rect::from_min_size(rect.min, vec2(2.0, height)), 0.0, t.accent);
    }
    let mut x = rect.left();
    let pointer = response.hover_pos();
    for (position, (galley, cell_width)) in galleys.into_iter().zip(&widths).enumerate() {
        let spare = (cell_width - 2.0 * CELL - galley.size().x).max(0.0);
        let shift = match row.table.alignments.get(position) {
            Some(Alignment::Right) => spare,
            Some(Alignment::Center) => spare / 2.0,
            _ => 0.0,
        };
        let at = pos2((x + CELL + shift).round(), (rect.center().y - galley.size().y / 2.0).round());
        ui.painter().galley(at, Arc::clone(&galley), t.text);
        if let Some(byte) = pointer.and_then(|pointer| byte_at(&cells[position].text, &galley, pointer - at)) {
            glyph::tip(cx, &response, &cells[position].text, byte);
        }
        ui.push_id(position, |ui| links_ui(ui, cx, &cells[position], &galley, at));
        x += cell_width;
    }
    let name = cells.iter().map(|cell| cell.text.as_str()).collect::<Vec<_>>().join(", ");
    response.widget_info(|| WidgetInfo::selected(Role::Row, true, row.is_linked, &name));
    if response.clicked() {
        select(cx, row.record);
    }
    height
}

fn header(block: &Block) -> Header {
    let icon = match block.kind {
        BlockKind::Text => icons::ARTICLE,
        BlockKind::Image => icons::IMAGE,
        BlockKind::Audio => icons::AUDIO,
        BlockKind::Resource => icons::RESOURCE,
        BlockKind::ResourceLink => icons::LINKED,
        BlockKind::Unknown => icons::UNKNOWN,
    };
    let size = block.text.as_ref().map(|text| text.len()).or(block.data_bytes);
    Header {
        title: format!("content[{}]", block.index),
        details: if block.type_name.is_empty() { "no type".into() } else { block.type_name.clone() }
            + &size.map_or_else(String::new, |size| format!(" · {}", widgets::bytes(size as u64))),
        audience: if block.audience.is_empty() { String::new() } else { format!("for {}", block.audience.join(", ")) },
        priority: block.priority.map_or_else(String::new, |priority| format!("priority {priority}")),
        icon,
    }
}

fn header_ui(ui: &mut Ui, header: &Header, top: Pos2, width: f32) -> f32 {
    let t = Tokens::of(ui);
    let rect = Rect::from_min_size(pos2(top.x + SIDE, top.y + 4.0), vec2(width - 2.0 * SIDE, 26.0));
    ui.painter().rect(rect, theme::RADIUS_CONTROL, t.card, Stroke::new(1.0, t.line), StrokeKind::Inside);
    let mut child = ui.new_child(
        UiBuilder::new().max_rect(rect.shrink2(vec2(10.0, 0.0))).layout(egui::Layout::left_to_right(egui::Align::Center)),
    );
    child.spacing_mut().item_spacing.x = 8.0;
    child.label(icons::icon(header.icon, 14.0, t.weak));
    child.label(egui::RichText::new(&header.title).font(theme::mono_semibold(12.0)).color(t.strong));
    child.label(egui::RichText::new(&header.details).font(theme::mono(12.0)).color(t.weak));
    for text in [&header.audience, &header.priority] {
        if !text.is_empty() {
            widgets::badge(&mut child, None, text, Tone::Plain, true);
        }
    }
    38.0
}

fn notice(ui: &mut Ui, text: &str, top: Pos2, width: f32) -> f32 {
    let t = Tokens::of(ui);
    let rect = Rect::from_min_size(pos2(top.x + SIDE, top.y), vec2(width - 2.0 * SIDE, 22.0));
    widgets::glyph_at(ui, pos2(rect.left() + 8.0, rect.center().y), icons::WARNING, theme::icon_fill_font(14.0), t.warn);
    widgets::text_at(ui, pos2(rect.left() + 22.0, rect.center().y), text, theme::small(), t.text, rect.width() - 22.0);
    ui.interact(rect, ui.scope_id().with("notice"), Sense::hover())
        .on_hover_text(text)
        .widget_info(|| WidgetInfo::labeled(Role::Label, true, text));
    24.0
}

/// Text that has no form: raw HTML, JSON, the members of a block.
fn raw(ui: &mut Ui, text: &str, left: f32, top: f32, width: f32) -> f32 {
    let t = Tokens::of(ui);
    let text = Shown::of(text).text;
    let mut job = LayoutJob { wrap: TextWrapping::wrap_at_width((width - 24.0).max(80.0)), ..LayoutJob::default() };
    rtl::append(&mut job, &text, &TextFormat::simple(theme::code(), t.text));
    let galley = ui.painter().layout_job(job);
    let rect = Rect::from_min_size(pos2(left, top + 2.0), vec2(width, galley.size().y + 16.0));
    ui.painter().rect(rect, theme::RADIUS_CONTROL, t.card, Stroke::new(1.0, t.line), StrokeKind::Inside);
    ui.painter().galley(rect.min + vec2(12.0, 8.0), galley, t.text);
    ui.interact(rect, ui.scope_id().with("raw"), Sense::hover()).widget_info(|| WidgetInfo::labeled(Role::Label, true, &text));
    rect.height() + 12.0
}
