//! The text pane: the exact text of a format, as virtual rows.
//!
//! Only visible rows are laid out. Selection, links and what was found are byte ranges of the text, painted per row, so
//! that they survive scrolling and copying always gives the original bytes, whatever the screen shows for them.

use std::ops::Range;
use std::sync::Arc;

use egui::mutex::Mutex;
use egui::text::{CCursor, LayoutJob, TextFormat};
use egui::{
    Align, Color32, Galley, Id, Key, Layout, Pos2, Rect, RichText, Role, ScrollArea, Sense, Stroke, StrokeKind, Ui, UiBuilder,
    WidgetInfo, pos2, vec2,
};

use super::special::{Shown, append};
use super::{Linked, PaneCx};
use crate::capture::FactState;
use crate::report::{Answer, Question, TextView};
use crate::state::{Action, Asked, PaneView};
use crate::ui::theme::{self, TEXT_ROW, Tokens};
use crate::ui::widgets::{self, Button};
use crate::ui::{Cx, icons};

/// No more places than this are found; nobody steps through more.
const FIND_LIMIT: usize = 10_000;

/// What a pane keeps between frames.
struct Prepared {
    view: Arc<TextView>,
    /// Characters that fit; 0 without wrapping.
    columns: usize,
    rows: Vec<Row>,
    links: Linked,
    /// Where the text says something else than the payload, in order.
    differs: Vec<Range<usize>>,
    line_ends: &'static str,
    found: (String, Vec<Range<usize>>),
    shown_record: Option<usize>,
    widest: f32,
}

struct Row {
    number: Option<u32>,
    range: Range<usize>,
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

fn goto_id(pane: &PaneCx) -> Id {
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
    let sample = ui.painter().layout_no_wrap("0".repeat(64), theme::code(), Color32::PLACEHOLDER);
    let char_width = sample.size().x / 64.0;
    let digits = view.lines.iter().rev().find_map(|line| line.number).unwrap_or(1).to_string().len().max(2);
    let gutter = (digits as f32 * 7.0 + 26.0).round();
    let room = ui.available_width() - gutter - 16.0;
    let columns = if cx.state.settings.wrap { ((room / char_width) as usize).max(16) } else { 0 };
    let known = prepared(ui, pane).filter(|known| {
        let known = known.lock();
        Arc::ptr_eq(&known.view, view) && known.columns == columns
    });
    let shared = known.unwrap_or_else(|| {
        let shared = Arc::new(Mutex::new(Prepared::new(view, columns)));
        ui.data_mut(|data| data.insert_temp(prepared_id(pane), Arc::clone(&shared)));
        shared
    });
    shared.lock().show(ui, cx, pane, gutter);
}

impl Prepared {
    fn new(view: &Arc<TextView>, columns: usize) -> Self {
        let mut differs: Vec<_> = view
            .matched
            .facts
            .iter()
            .filter_map(|fact| if let FactState::Differs(range) = &fact.state { Some(range.clone()) } else { None })
            .collect();
        differs.sort_by_key(|range| range.start);
        let line_ends = match (view.text.contains('\n'), view.text.contains("\r\n")) {
            (_, true) => "CRLF",
            (true, false) => "LF",
            (false, false) => "one line",
        };
        Self {
            view: Arc::clone(view),
            columns,
            rows: rows(view, columns),
            links: Linked::new(&view.matched),
            differs,
            line_ends,
            found: Default::default(),
            shown_record: None,
            widest: 0.0,
        }
    }

    fn row_at(&self, offset: usize) -> usize {
        self.rows.partition_point(|row| row.range.start <= offset).saturating_sub(1)
    }

    fn find(&mut self, needle: &str) {
        if self.found.0 != needle {
            self.found = (needle.to_owned(), find(&self.view.text, needle));
        }
    }

    /// The offset to scroll to, where something that is not in sight was asked for.
    fn target(&mut self, ui: &Ui, cx: &Cx<'_>, pane: &PaneCx) -> Option<f32> {
        let goto: Option<usize> = ui.data_mut(|data| data.remove_temp(goto_id(pane)));
        let record = cx.state.view.record;
        let mut place = goto;
        // The first frame does not know its height yet.
        if self.shown_record != record && pane.visible(ui).1 > 0.0 {
            self.shown_record = record;
            place = place.or_else(|| self.links.first(record?));
        }
        let row = self.row_at(place?) as f32 * TEXT_ROW;
        let (top, height) = pane.visible(ui);
        (row < top || row + TEXT_ROW * 2.0 > top + height).then(|| (row - height * 0.3).max(0.0))
    }

    fn show(&mut self, ui: &mut Ui, cx: &Cx<'_>, pane: &PaneCx, gutter: f32) {
        let needle = cx.state.view.search.as_deref().filter(|_| pane.is_focused).unwrap_or("");
        self.find(needle);
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
                drawn.push(self.row_ui(ui, cx, pane, at, pos2(origin.x, y.round()), viewport.width(), gutter, &selected));
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
            let at =
                |pos: Pos2| drawn.iter().min_by(|a, b| a.distance(pos).total_cmp(&b.distance(pos))).map(|row| row.offset_at(pos));
            if let Some(offset) = response.interact_pointer_pos().and_then(at) {
                if response.drag_started()
                    || response.is_pointer_button_down_on()
                        && !response.dragged()
                        && ui.input(|input| input.pointer.any_pressed())
                {
                    let extends = ui.input(|input| input.modifiers.shift);
                    selected =
                        Selection { format: pane.format, anchor: if extends { selected.anchor } else { offset }, head: offset };
                } else if response.dragged() {
                    selected.head = offset;
                }
                if response.clicked()
                    && let Some(record) = self.links.at(&(offset..offset + 1))
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
        let is_ours = pane.is_focused && !ui.egui_wants_keyboard_input();
        if is_ours && ui.input_mut(|input| input.consume_key(egui::Modifiers::COMMAND, Key::A)) {
            selected = Selection { format: pane.format, anchor: 0, head: self.view.text.len() };
        }
        if is_ours && !range.is_empty() && ui.input(|input| input.events.iter().any(|event| matches!(event, egui::Event::Copy))) {
            cx.send(Action::Copy(self.view.text.get(range).unwrap_or_default().to_owned()));
        }
        ui.data_mut(|data| data.insert_temp(selection_id(pane), selected));
        pane.remember(ui, output.state.clamped_offset().y, output.inner_rect.height());
    }

    #[expect(clippy::too_many_arguments, reason = "one call, and the parts have nothing in common")]
    fn row_ui(
        &mut self,
        ui: &Ui,
        cx: &Cx<'_>,
        pane: &PaneCx,
        at: usize,
        top: Pos2,
        width: f32,
        gutter: f32,
        selected: &Selection,
    ) -> Drawn {
        let t = Tokens::of(ui);
        let row = &self.rows[at];
        let source = &self.view.text[row.range.clone()];
        let shown = Shown::of(source);
        let rect = Rect::from_min_size(top, vec2(width, TEXT_ROW));
        let left = top.x + gutter;
        let galley = ui.painter().layout_job(job(t, &shown, pane.format, row.number.is_some()));
        let drawn = Drawn { rect, left, start: row.range.start, len: row.range.len(), shown, galley };
        if drawn.left + drawn.galley.size().x - top.x + 16.0 > self.widest {
            self.widest = drawn.left + drawn.galley.size().x - top.x + 16.0;
        }
        let row = &self.rows[at];
        if let Some(record) = cx.state.view.record {
            let mut is_linked = false;
            for (place, node) in &self.links.places {
                if *node != record || place.start >= row.range.end.max(row.range.start + 1) || place.end <= row.range.start {
                    continue;
                }
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
        for found in between(&self.found.1, &row.range) {
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
        for differs in between(&self.differs, &row.range) {
            let span = drawn.span(differs);
            ui.painter().hline(span.x_range(), span.bottom() - 1.0, Stroke::new(2.0, t.bad));
        }
        ui.interact(rect, ui.scope_id().with(("row", at)), Sense::empty())
            .widget_info(|| WidgetInfo::labeled(Role::Label, true, &self.view.text[row.range.clone()]));
        drawn
    }
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

/// How wide a character is drawn, in columns.
fn columns_of(char: char) -> usize {
    match u32::from(char) {
        0x20..0x7f => 1,
        0x09 => 4,
        0xfe0e | 0xfe0f => 0,
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe4f
        | 0xff00..=0xff60
        | 0x1f000..=0x1faff => 2,
        _ => super::special::name(char).map_or(1, |name| name.len()),
    }
}

/// Cuts display lines into rows of at most `columns`, at a space where one is near.
fn rows(view: &TextView, columns: usize) -> Vec<Row> {
    let mut rows = Vec::with_capacity(view.lines.len());
    for line in &view.lines {
        let text = &view.text[line.range.clone()];
        if columns == 0 || (text.len() <= columns && text.bytes().all(|byte| (0x20..0x7f).contains(&byte))) {
            rows.push(Row { number: line.number, range: line.range.clone() });
            continue;
        }
        let mut number = line.number;
        let mut start = 0;
        let mut width = 0;
        let mut space = None;
        for (at, char) in text.char_indices() {
            let needs = columns_of(char);
            if width + needs > columns && at > start {
                let cut = space.filter(|&cut| cut > start && at - cut < columns / 3).unwrap_or(at);
                rows.push(Row { number: number.take(), range: line.range.start + start..line.range.start + cut });
                width = text[cut..at].chars().map(columns_of).sum();
                start = cut;
                space = None;
            }
            width += needs;
            if matches!(char, ' ' | ',') {
                space = Some(at + 1);
            }
        }
        rows.push(Row { number: number.take(), range: line.range.start + start..line.range.end });
    }
    rows
}

/// Every place of `needle`, without regard to the case of ASCII letters.
fn find(text: &str, needle: &str) -> Vec<Range<usize>> {
    if needle.is_empty() {
        return Vec::new();
    }
    let (text, needle) = (text.to_ascii_lowercase(), needle.to_ascii_lowercase());
    text.match_indices(&needle).take(FIND_LIMIT).map(|(at, found)| at..at + found.len()).collect()
}

fn word_at(text: &str, offset: usize) -> Range<usize> {
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    let start = text[..offset].char_indices().rev().take_while(|&(_, char)| is_word(char)).last().map_or(offset, |(at, _)| at);
    let end = text[offset..].char_indices().find(|&(_, char)| !is_word(char)).map_or(text.len(), |(at, _)| offset + at);
    start..end
}

/// The colours of a row: Markdown's own marks are weak, what they mark is strong; all characters stay.
fn job(t: &Tokens, shown: &Shown, format: &str, is_line_start: bool) -> LayoutJob {
    let plain = TextFormat::simple(theme::code(), t.text);
    let mut job = LayoutJob { break_on_newline: false, ..LayoutJob::default() };
    job.wrap.max_width = f32::INFINITY;
    let weak = |color: Color32| TextFormat::simple(theme::code(), color);
    let bold = TextFormat::simple(theme::mono_semibold(12.0), t.strong);
    let text = &shown.text;
    if !shown.names.is_empty() {
        let mut end = 0;
        for (name, _) in &shown.names {
            append(&mut job, &text[end..name.start], &plain);
            job.append(&text[name.clone()], 0.0, TextFormat::simple(theme::mono(10.0), t.warn));
            end = name.end;
        }
        append(&mut job, &text[end..], &plain);
    } else if !matches!(format, "content" | "markdown-table") {
        append(&mut job, text, &plain);
    } else if is_line_start && text.starts_with('#') {
        let hashes = text.len() - text.trim_start_matches('#').len();
        job.append(&text[..hashes], 0.0, weak(t.weak));
        append(&mut job, &text[hashes..], &bold);
    } else if is_line_start && text.starts_with('|') {
        for part in text.split_inclusive('|') {
            let cell = part.strip_suffix('|').unwrap_or(part);
            append(&mut job, cell, &plain);
            job.append(&part[cell.len()..], 0.0, weak(t.faint));
        }
    } else {
        for (position, part) in text.split("**").enumerate() {
            if position > 0 {
                job.append("**", 0.0, weak(t.weak));
            }
            // An odd part stands between two pairs; a pair that is never closed marks nothing.
            let is_closed = position % 2 == 1 && position < text.matches("**").count();
            append(&mut job, part, if is_closed { &bold } else { &plain });
        }
    }
    job
}

/// The bar to find in a pane; the room that is left.
pub fn search_ui(ui: &mut Ui, cx: &Cx<'_>, body: Rect, view: PaneView, pane: &PaneCx) -> Rect {
    let t = Tokens::of(ui);
    let bar = Rect::from_min_size(body.min, vec2(body.width(), 38.0));
    ui.painter().rect_filled(bar, 0.0, t.card);
    ui.painter().hline(bar.x_range(), bar.bottom() - 0.5, Stroke::new(1.0, t.line));
    let index_id = Id::unique(("find index", pane.index));
    ui.scope_builder(
        UiBuilder::new().max_rect(bar.shrink2(vec2(12.0, 0.0))).layout(Layout::left_to_right(Align::Center)).id_salt("find"),
        |ui| {
            let mut text = cx.state.view.search.clone().unwrap_or_default();
            let edit = ui.add(
                egui::TextEdit::singleline(&mut text).id_salt("find field").hint_text("Find in this pane").desired_width(200.0),
            );
            let was_open: Option<bool> = ui.data(|data| data.get_temp(index_id.with("open")));
            if was_open.is_none() {
                edit.request_focus();
            }
            ui.data_mut(|data| data.insert_temp(index_id.with("open"), true));
            if edit.changed() {
                cx.send(Action::SetSearch(Some(text)));
            }
            let found = prepared(ui, pane).filter(|_| matches!(view, PaneView::Text(_)));
            let Some(found) = found else {
                ui.label(RichText::new("Finding works in text panes").font(theme::small()).color(t.weak));
                return;
            };
            let places = found.lock().found.1.clone();
            let mut index: usize = ui.data(|data| data.get_temp(index_id)).unwrap_or(0).min(places.len().saturating_sub(1));
            let label = match places.len() {
                0 => "no place".to_owned(),
                FIND_LIMIT => {
                    format!("{} of more than {}", widgets::grouped(index as u64 + 1), widgets::grouped(FIND_LIMIT as u64))
                }
                count => format!("{} of {}", widgets::grouped(index as u64 + 1), widgets::grouped(count as u64)),
            };
            ui.label(RichText::new(label).font(theme::code()).color(t.weak));
            let is_enter = edit.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
            let is_back = ui.input(|input| input.modifiers.shift);
            let next = widgets::icon_button(ui, icons::DOWN, "Next place").clicked() || (is_enter && !is_back);
            let previous = widgets::icon_button(ui, icons::UP, "Previous place").clicked() || (is_enter && is_back);
            if is_enter {
                edit.request_focus();
            }
            if !places.is_empty() && (next || previous || edit.changed()) {
                index = match (next, previous) {
                    (true, _) => (index + 1) % places.len(),
                    (_, true) => (index + places.len() - 1) % places.len(),
                    _ => 0,
                };
                ui.data_mut(|data| {
                    data.insert_temp(index_id, index);
                    data.insert_temp(goto_id(pane), places[index].start);
                });
            }
            if widgets::icon_button(ui, icons::CLOSE, "Close find").clicked() {
                ui.data_mut(|data| data.remove_temp::<bool>(index_id.with("open")));
                cx.send(Action::SetSearch(None));
            }
        },
    );
    body.with_min_y(bar.bottom())
}

pub fn footer_ui(ui: &mut Ui, cx: &Cx<'_>, pane: &PaneCx) {
    let Some(Answer::Text(view)) = cx.ready(Question::Text(pane.format)) else { return };
    let t = Tokens::of(ui);
    let selected = selection(ui, pane);
    let range = selected.range();
    let small = |text: String| RichText::new(text).font(theme::regular(11.5)).color(t.weak);
    if selected.head == 0 && range.is_empty() {
        let lines = view.lines.iter().rev().find_map(|line| line.number).unwrap_or(0);
        ui.label(small(widgets::number_text(lines.into(), if lines == 1 { "line" } else { "lines" })));
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
                widgets::number_text(view.text.get(range).map_or(0, |text| text.chars().count() as u64), "chars selected")
            }
            long => format!("{} selected", widgets::bytes(long as u64)),
        };
        ui.label(RichText::new(text).font(theme::regular(11.5)).color(t.accent));
    }
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        ui.spacing_mut().item_spacing.x = 10.0;
        let is_wrapped = cx.state.settings.wrap;
        let name = if is_wrapped { "Wrap on" } else { "Wrap off" };
        if Button::new(name).frameless().tip("Break long lines at the edge of the pane").height(22.0).show(ui).clicked() {
            cx.send(Action::SetWrap(!is_wrapped));
        }
        if let Some(prepared) = prepared(ui, pane) {
            ui.label(small(prepared.lock().line_ends.to_owned()));
        }
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
    use crate::report::display_lines;

    fn view(text: &str) -> TextView {
        TextView {
            format: "content",
            text: text.into(),
            is_exact: true,
            bytes: text.len() as u64,
            lines: display_lines(text),
            matched: Default::default(),
        }
    }

    #[test]
    fn rows_hold_every_byte_and_break_at_spaces() {
        let view = view("aaaa bbbb cccc dddd\n\nüüüüüüüüüüüüüüüüüüüüüüü");
        let found = rows(&view, 12);
        let texts: Vec<_> = found.iter().map(|row| &view.text[row.range.clone()]).collect();
        assert_eq!(texts[..3], ["aaaa bbbb ", "cccc dddd", ""]);
        assert_eq!(texts.concat(), view.text.replace('\n', ""));
        assert_eq!(found.iter().map(|row| row.number).collect::<Vec<_>>(), [Some(1), None, Some(2), Some(3), None]);
        assert_eq!(rows(&view, 0).len(), 3);
    }

    #[test]
    fn finding_ignores_ascii_case() {
        assert_eq!(find("North, NORTH", "north"), [0..5, 7..12]);
        assert!(find("x", "").is_empty());
        assert_eq!(word_at("ab cd_e f", 4), 3..7);
        assert_eq!(between(&[0..5, 7..12], &(4..8)).count(), 2);
    }
}
