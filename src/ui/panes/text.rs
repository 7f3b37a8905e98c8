//! The text pane: the exact text of a format, as virtual rows.
//!
//! Only visible rows are laid out. Selection, links and what was found are byte ranges of the text, painted per row, so
//! that they survive scrolling and copying always gives the original bytes, whatever the screen shows for them.

use std::ops::Range;
use std::sync::Arc;

use egui::mutex::Mutex;
use egui::{
    Id, Pos2, Rect, Role, ScrollArea, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2,
};

use super::colour;
use super::header::Chooser;
use super::select::{DrawnText, Selection, between, intersect};
use super::title::Title;
use super::{CopyAction, Pane, PaneCx, find, glyph, host, reader_menu};
use crate::state::{Action, PaneContent, PaneView, QueryState, SettingsAction, ViewAction};
use crate::ui::Cx;
use crate::ui::coverage;
use crate::ui::marks;
use crate::ui::theme::{self, TEXT_ROW, ThemeTokens};
use crate::ui::widgets::{self, Button};
use loupe_analysis::finding::MarkedText;
use loupe_analysis::queries::invisible_chars::Shown;
use loupe_analysis::queries::{
    OtherCharsQuery, ParsedCaptureQuery, PartQuery, TextQuery, TextRow, TextRowsQuery, TextView,
    TokenStartsQuery,
};
use loupe_core::format::format_title;
use loupe_core::format::{self, FORMATS, ParsedCapture, Syntax};
use loupe_core::json::Node;

/// What a pane keeps between frames.
struct Prepared {
    view: Arc<TextView>,
    /// Those of another width stay until the new ones are there.
    rows: Arc<[TextRow]>,
    shown_record: Option<usize>,
    shown_leaf: Option<Range<usize>>,
    widest: f32,
}

fn prepared_id(pane: &PaneCx) -> Id {
    Id::unique(("text rows", pane.index))
}

fn prepared_text(ui: &Ui, pane: &PaneCx) -> Option<Arc<Mutex<Prepared>>> {
    widgets::recall(ui, prepared_id(pane))
}

pub static PANE: Pane = Pane {
    title,
    choices,
    options: None,
    copy,
    body: text_ui,
    footer: footer_ui,
};

fn title(cx: &Cx<'_>, view: PaneView, _: Option<&ParsedCapture>, t: &ThemeTokens) -> Title {
    match view.content() {
        PaneContent::Format("content-pretty") => Title::new("Text", "JSON, laid out", "content", t),
        PaneContent::Format(format) if format != "content" => {
            let subtitle = if cx.state.view.peek == Some(format) {
                "peek · Enter keeps"
            } else {
                "exact bytes"
            };
            let short = format::by_id(format)
                .map_or(format, |format| format.short_title())
                .to_owned();
            Title {
                short,
                ..Title::new(format_title(format), subtitle, format, t)
            }
        }
        _ => Title::new("Text", "exact bytes", "content", t),
    }
}

fn choices(ui: &mut Ui, _: &Cx<'_>, chooser: &Chooser<'_>) {
    for (heading, is_as_sent) in [
        ("Exact text", true),
        (
            "Written by Loupe from the data, not sent by the server",
            false,
        ),
    ] {
        chooser.heading(ui, heading);
        for format in FORMATS
            .iter()
            .filter(|format| format.is_as_sent() == is_as_sent)
        {
            chooser.offer(ui, PaneView::Text(format.id()), format.title());
        }
    }
}

/// The exact text of the format, rendered or not.
pub fn copy<'a>(cx: &Cx<'a>, view: PaneView) -> Option<CopyAction<'a>> {
    let PaneContent::Format(format) = view.content() else {
        return None;
    };
    let text = cx.ready(TextQuery(format))?;
    Some(Box::new(|| Action::Copy(text.text.to_string())))
}

fn text_ui(ui: &mut Ui, cx: &Cx<'_>, pane: &PaneCx) {
    let asked = cx.ask(TextQuery(pane.format));
    let view = match asked {
        QueryState::Ready(view) => view,
        QueryState::Failed(problem) if pane.format == "content" => {
            // An error or a torn answer has no text, but it has bytes.
            if widgets::empty_ui(
                ui,
                &super::sentence(&problem.what),
                Some("Show the raw message"),
            ) {
                cx.send(ViewAction::SetPane {
                    pane: pane.index,
                    shows: PaneView::Text("wire"),
                });
            }
            return;
        }
        // The pane was turned to it for another result.
        QueryState::Failed(problem) if matches!(pane.format, "both" | "structured") => {
            if widgets::empty_ui(ui, &super::sentence(&problem.what), Some("Show the text")) {
                cx.send(ViewAction::SetPane {
                    pane: pane.index,
                    shows: PaneView::Text("content"),
                });
            }
            return;
        }
        _ => {
            super::ready(ui, cx, asked);
            return;
        }
    };
    let digits = view.line_count.max(10).ilog10() as f32 + 1.0;
    let gutter = (digits * 7.0 + 26.0).round();
    let char_width = widgets::text_width(ui, "0".repeat(64), theme::code()) / 64.0;
    let fitting =
        ((ui.available_width() - gutter - 16.0) / char_width).clamp(16.0, f32::from(u16::MAX));
    let columns = if cx.state.settings.wrap {
        fitting as u16
    } else {
        0
    };
    let known = prepared_text(ui, pane).filter(|known| Arc::ptr_eq(&known.lock().view, view));
    let prepared = match (
        cx.ask(TextRowsQuery {
            format: pane.format,
            columns,
        }),
        known,
    ) {
        (QueryState::Ready(rows), Some(known)) => {
            known.lock().rows = Arc::clone(rows);
            known
        }
        (QueryState::Ready(rows), None) => {
            let new = Prepared {
                view: Arc::clone(view),
                rows: Arc::clone(rows),
                shown_record: None,
                shown_leaf: None,
                widest: 0.0,
            };
            let new = Arc::new(Mutex::new(new));
            widgets::remember(ui, prepared_id(pane), Arc::clone(&new));
            new
        }
        (QueryState::Working { .. }, Some(known)) => known,
        (asked, _) => {
            super::ready(ui, cx, asked);
            return;
        }
    };
    prepared.lock().show(ui, cx, pane, gutter);
}

/// Where the text blocks begin in their joined text, one LF between two, and their places in `content`; none where
/// there is one block, which begins where the text does.
fn block_starts(cx: &Cx<'_>) -> Vec<(usize, usize)> {
    let Some(subject) = cx.ready(ParsedCaptureQuery) else {
        return Vec::new();
    };
    if subject.response.blocks.len() < 2 {
        return Vec::new();
    }
    let mut start = 0;
    let mut starts = Vec::new();
    for block in subject.response.text_blocks() {
        starts.push((start, block.index));
        start += block.text.as_ref().map_or(0, |text| text.len()) + 1;
    }
    starts
}

/// A thin line with the block's name at its end, unless the row's text, which ends at `end`, is there: painted, and no part
/// of the text.
fn block_mark(ui: &Ui, place: &Place, block: usize, end: f32) {
    let t = theme::of(ui);
    let name = format!("content[{block}]");
    let right = place.top.x + place.width - 8.0;
    let galley = ui
        .painter()
        .layout_no_wrap(name.clone(), theme::mono(11.5), t.weak);
    let row = Rect::from_min_size(place.top, vec2(place.width, TEXT_ROW));
    let label = Rect::from_min_max(
        pos2(right - galley.size().x - 8.0, row.top()),
        pos2(right, row.bottom()),
    );
    ui.painter().hline(
        row.left()..=row.right(),
        row.top() + 0.5,
        Stroke::new(1.0, t.line2),
    );
    if end < label.left() {
        ui.painter()
            .rect_filled(label.shrink2(vec2(0.0, 1.0)), theme::RADIUS_BAR, t.card);
        widgets::galley_at(
            ui,
            pos2(label.left() + 4.0, label.center().y),
            galley,
            t.weak,
        );
    }
    let words = format!("{name} begins here");
    let line = Rect::from_min_size(row.min, vec2(row.width(), 3.0)).union(label);
    let response = widgets::sense(ui, line, ("block", block), Sense::hover());
    widgets::say(&response, Role::Label, &words);
    response.on_hover_text(words);
}

impl Prepared {
    fn row_at(&self, offset: usize) -> usize {
        self.rows
            .partition_point(|row| row.range.start <= offset)
            .saturating_sub(1)
    }

    /// The offset to scroll to, where something that is not in sight was asked for.
    fn target(
        &mut self,
        ui: &Ui,
        cx: &Cx<'_>,
        pane: &PaneCx,
        leaf: Option<&Range<usize>>,
    ) -> Option<f32> {
        let goto: Option<usize> = ui.data_mut(|data| data.remove_temp(pane.goto_id()));
        let record = cx.state.view.record;
        let mut place = None;
        // The first frame does not know its height yet.
        if self.shown_record != record && pane.visible(ui).1 > 0.0 {
            self.shown_record = record;
            place = record.and_then(|record| self.view.links.first(record));
        }
        if self.shown_leaf.as_ref() != leaf && pane.visible(ui).1 > 0.0 {
            self.shown_leaf = leaf.cloned();
            place = leaf.map(|leaf| leaf.start).or(place);
        }
        let row = self.row_at(goto.or(place)?) as f32 * TEXT_ROW;
        let (top, height) = pane.visible(ui);
        (row < top || row + TEXT_ROW * 2.0 > top + height).then(|| (row - height * 0.3).max(0.0))
    }

    fn show(&mut self, ui: &mut Ui, cx: &Cx<'_>, pane: &PaneCx, gutter: f32) {
        let of_findings = marks::marked_texts(cx, MarkedText::Format(pane.format));
        let tried = reader_menu::matches(cx, pane.format);
        let found = tried.as_deref().unwrap_or_else(|| find::places(cx, pane));
        let current = find::current(ui, cx, pane).filter(|_| tried.is_none());
        let leaf = selected_leaf(cx, &self.view);
        let tokens = token_starts(cx, pane);
        let cuts = host::cuts_of(cx, pane.format);
        let blocks = if pane.format == "content" {
            block_starts(cx)
        } else {
            Vec::new()
        };
        let mut area = ScrollArea::both()
            .id_salt(("text", pane.index, pane.format))
            .auto_shrink(false);
        if let Some(offset) = self.target(ui, cx, pane, leaf.as_ref()) {
            area = area.vertical_scroll_offset(offset);
        }
        let mut selected = Selection::new(ui, cx, pane.index, pane.format);
        let outer = ui.available_rect_before_wrap();
        let output = area.show_viewport(ui, |ui, viewport| {
            let origin = ui.min_rect().min;
            let total = vec2(
                self.widest.max(viewport.width()),
                self.rows.len() as f32 * TEXT_ROW + 16.0,
            );
            let response = widgets::sense(ui, outer, "text", Sense::click_and_drag());
            ui.allocate_rect(Rect::from_min_size(origin, total), Sense::hover());
            let mut drawn = Vec::new();
            let in_sight = widgets::rows_in_sight(origin, viewport, 8.0, TEXT_ROW, self.rows.len());
            for (nth, (at, y)) in in_sight.enumerate() {
                let right = origin.x + viewport.max.x - 14.0;
                let place = Place {
                    top: pos2(origin.x, y),
                    width: viewport.width(),
                    gutter,
                    right,
                    is_first: nth == 0,
                };
                let marks = Marks {
                    found,
                    current,
                    cuts,
                    leaf: leaf.as_ref(),
                    findings: &of_findings,
                    tokens,
                };
                let row = self.row_ui(ui, cx, at, &place, &selected, &marks);
                if let Some((_, block)) = blocks
                    .iter()
                    .find(|(start, _)| *start == self.rows[at].range.start)
                {
                    block_mark(ui, &place, *block, row.left + row.galley.size().x);
                }
                drawn.push(row);
            }
            widgets::say(
                &response,
                Role::Document,
                format!(
                    "{}, exact text, {}",
                    format_title(pane.format),
                    widgets::number_text(self.view.lines.len() as u64, "lines")
                ),
            );
            let response = response.on_hover_cursor(egui::CursorIcon::Text);
            ui.data_mut(|data| data.remove::<usize>(pointed_id(pane)));
            if let Some((pos, row)) = response
                .hover_pos()
                .and_then(|pos| Some((pos, drawn.iter().find(|row| row.rect.contains(pos))?)))
                && let Some(char) = row.char_at(pos)
            {
                widgets::remember(ui, pointed_id(pane), row.start + char);
                glyph::tip(
                    cx,
                    &response,
                    &self.view.text[row.start..row.start + row.len],
                    char,
                );
            }
            if let Some(offset) =
                selected.follow(ui, &response, &drawn, &self.view.text, &self.view.lines)
                && response.clicked()
            {
                if let Some(record) = self.view.links.at(&(offset..offset + 1)) {
                    cx.send(ViewAction::SelectRecord(Some(record)));
                }
                if let Some(leaf) = leaf_at(cx, &self.view, offset) {
                    cx.send(ViewAction::SetTreeCursor(leaf));
                }
            }
            response.clicked() || response.dragged()
        });
        selected.keys(ui, cx, pane.is_focused, &self.view.text);
        selected.keep(ui, pane.index);
        pane.remember(
            ui,
            output.state.clamped_offset().y,
            output.inner_rect.height(),
        );
    }

    fn row_ui(
        &mut self,
        ui: &Ui,
        cx: &Cx<'_>,
        at: usize,
        place: &Place,
        selected: &Selection,
        &Marks {
            found,
            current,
            cuts,
            leaf,
            findings,
            tokens,
        }: &Marks<'_>,
    ) -> DrawnText {
        let t = theme::of(ui);
        let view = Arc::clone(&self.view);
        let row = self.rows[at].clone();
        let shown = Shown::of(&view.text[row.range.clone()]);
        let rect = Rect::from_min_size(place.top, vec2(place.width, TEXT_ROW));
        let left = place.top.x + place.gutter;
        let galley = colour::layout(ui, &shown, &view, &row);
        let drawn = DrawnText {
            rect,
            left,
            start: row.range.start,
            len: row.range.len(),
            shown,
            galley,
        };
        self.widest = self.widest.max(place.gutter + drawn.galley.size().x + 16.0);
        if let Some(starts) = tokens {
            paint_tokens(ui, &drawn, &view.text, starts);
        }
        let mut is_weak = false;
        for cut in between(cuts, &row.range) {
            is_weak = cut.start <= row.range.start && cut.end >= row.range.end;
            for span in if is_weak {
                vec![rect]
            } else {
                drawn.spans(cut)
            } {
                ui.painter().rect_filled(span, 0.0, t.warn_bg);
            }
            ui.painter().rect_filled(
                Rect::from_min_size(rect.min, vec2(2.0, TEXT_ROW)),
                0.0,
                t.warn,
            );
        }
        if let Some(record) = cx.state.view.record {
            let mut is_linked = false;
            for place in view.links.of_record(record, &row.range) {
                is_linked = true;
                let is_whole = place.start <= row.range.start && place.end >= row.range.end;
                for span in if is_whole {
                    vec![rect]
                } else {
                    drawn.spans(place)
                } {
                    ui.painter().rect_filled(span, 0.0, t.accent_bg);
                }
            }
            if is_linked {
                ui.painter().rect_filled(
                    Rect::from_min_size(rect.min, vec2(2.0, TEXT_ROW)),
                    0.0,
                    t.accent,
                );
            }
        }
        if let Some(leaf) =
            leaf.filter(|leaf| leaf.start < row.range.end && leaf.end > row.range.start)
        {
            for span in drawn.spans(leaf) {
                ui.painter().rect_filled(span, theme::RADIUS_BAR, t.sel);
            }
        }
        drawn.mark_findings(ui, findings);
        for only in between(&view.only_here, &row.range) {
            for span in drawn.spans(only) {
                ui.painter().rect_filled(span, 0.0, t.warn_bg);
                ui.painter().hline(
                    span.x_range(),
                    span.bottom() - 1.0,
                    Stroke::new(1.0, t.warn),
                );
            }
        }
        let is_current =
            selected.range().is_empty() && selected.head > 0 && row.range.contains(&selected.head);
        let chosen = intersect(&selected.range(), &row.range);
        if let Some(chosen) = chosen {
            let mut spans = drawn.spans(&chosen);
            // The line feed is part of it: a little more than the text.
            if selected.range().end > row.range.end
                && let Some(last) = spans.last_mut()
            {
                last.max.x += 6.0;
            }
            for span in spans {
                ui.painter().rect_filled(span, 0.0, t.sel);
            }
        }
        for found in between(found, &row.range) {
            let (fill, stroke) = find::colors(t, current == Some(found));
            for span in drawn.spans(found) {
                ui.painter()
                    .rect(span, theme::RADIUS_BAR, fill, stroke, StrokeKind::Inside);
            }
        }
        if let Some(number) = row.number {
            let color = if is_current { t.strong } else { t.weak };
            widgets::text_right(
                ui,
                pos2(left - 14.0, rect.center().y),
                number.to_string(),
                theme::mono(11.0),
                color,
            );
        }
        for (name, _) in &drawn.shown.names {
            for span in drawn.shown_spans(name) {
                let span = span.shrink2(vec2(0.0, 2.0));
                widgets::boxed(ui, span, theme::RADIUS_BAR, t.warn_bg, t.warn_line);
            }
        }
        let at_y = (rect.center().y - drawn.galley.size().y / 2.0).round();
        if is_weak {
            ui.painter().galley_with_override_text_color(
                pos2(left, at_y),
                Arc::clone(&drawn.galley),
                t.weak,
            );
        } else {
            ui.painter()
                .galley(pos2(left, at_y), Arc::clone(&drawn.galley), t.text);
        }
        for differs in between(&view.differs, &row.range) {
            for span in drawn.spans(differs) {
                ui.painter()
                    .hline(span.x_range(), span.bottom() - 1.0, Stroke::new(2.0, t.bad));
            }
        }
        // Said once for each part: where it begins, and where it goes on from above.
        let begins = |cut: &Range<usize>| place.is_first || row.range.contains(&cut.start);
        if between(cuts, &row.range).next().is_some_and(begins) {
            host::not_shown_at(ui, pos2(place.right, rect.center().y));
        }
        widgets::sense(ui, rect, ("row", at), Sense::empty()).widget_info(|| {
            let message = if is_weak { "not shown: " } else { "" };
            WidgetInfo::labeled(
                Role::Label,
                true,
                format!("{message}{}", &view.text[row.range.clone()]),
            )
        });
        drawn
    }
}

/// What is marked in the rows.
struct Marks<'a> {
    found: &'a [Range<usize>],
    /// The one of them that was stepped to.
    current: Option<&'a Range<usize>>,
    /// What a host cuts.
    cuts: &'a [Range<usize>],
    /// Where the value stands that is selected in the tree.
    leaf: Option<&'a Range<usize>>,
    findings: &'a [marks::MarkedPlacesOf<'a>],
    /// Where tokens begin, where that is shown.
    tokens: Option<&'a [usize]>,
}

/// Where each token of a pane's text begins, where that is asked for.
fn token_starts<'a>(cx: &Cx<'a>, pane: &PaneCx) -> Option<&'a [usize]> {
    let query = TokenStartsQuery {
        format: pane.format,
        encoding: cx.state.settings.encoding(),
    };
    cx.state
        .view
        .token_bounds
        .then(|| cx.ready(query))?
        .map(|starts| &**starts)
}

/// Every other token has a ground, and each a line where it begins.
fn paint_tokens(ui: &Ui, drawn: &DrawnText, text: &str, starts: &[usize]) {
    let t = theme::of(ui);
    let end = drawn.start + drawn.len;
    let mut at = starts
        .partition_point(|start| *start <= drawn.start)
        .saturating_sub(1);
    while let Some(&start) = starts.get(at).filter(|start| **start < end) {
        // A token may begin within a character: it is shown with the whole of it.
        let from = text.floor_char_boundary(start).max(drawn.start);
        let to = text
            .floor_char_boundary(starts.get(at + 1).copied().unwrap_or(text.len()))
            .min(end);
        for span in drawn.spans(&(from..to)) {
            let span = span.shrink2(vec2(0.0, 1.0));
            if at % 2 == 0 {
                ui.painter()
                    .rect_filled(span, theme::RADIUS_BAR, t.accent_bg);
            }
            ui.painter().vline(
                span.left() + 0.5,
                span.y_range(),
                Stroke::new(1.0, t.accent_line),
            );
        }
        at += 1;
    }
}

/// Which token holds a byte, of how many, and how long it is.
fn token_text(starts: &[usize], len: usize, offset: usize) -> String {
    let at = starts
        .partition_point(|start| *start <= offset)
        .saturating_sub(1);
    let from = starts.get(at).copied().unwrap_or(0);
    let bytes = starts.get(at + 1).copied().unwrap_or(len) - from;
    let (number, all) = (
        widgets::grouped(at as u64 + 1),
        widgets::grouped(starts.len() as u64),
    );
    format!(
        "token {number} of {all} · {}",
        widgets::number_text(bytes as u64, "B")
    )
}

fn pointed_id(pane: &PaneCx) -> Id {
    Id::unique(("text under the pointer", pane.index))
}

/// Where the value that is selected in the tree is in a text: where it was read from, else where it was found.
fn selected_leaf(cx: &Cx<'_>, view: &TextView) -> Option<Range<usize>> {
    let cursor = cx.state.view.tree_cursor?;
    let subject = cx.ready(ParsedCaptureQuery)?;
    let data = subject.data.as_ref()?;
    let node = data.doc.node(cursor).filter(|node| !node.is_container())?;
    let read = if view.format == "content" {
        data.place_in_text(node, &subject.response)
    } else {
        None
    };
    read.or_else(|| view.matched.place_of(cursor))
}

/// The value that was read from this place of a text, or was found there.
fn leaf_at(cx: &Cx<'_>, view: &TextView, offset: usize) -> Option<usize> {
    let subject = cx.ready(ParsedCaptureQuery)?;
    let data = subject.data.as_ref()?;
    let read = if view.format == "content" {
        data.leaf_at(offset, &subject.response)
    } else {
        None
    };
    read.map(Node::index)
        .or_else(|| view.matched.node_at(offset))
}

/// Where a row is painted.
struct Place {
    top: Pos2,
    width: f32,
    gutter: f32,
    /// The end of what is in sight, for what is at the right.
    right: f32,
    /// Whether it is the first row in sight.
    is_first: bool,
}

/// What wrapping, tokens and bytes need next to what is at the left.
const ROOM_FOR_VIEWS: f32 = 230.0;
/// Width of a footer from which on all it says has room.
const ROOM_FOR_ALL: f32 = 480.0;

/// How many characters no font has, in the words there is room for: buttons keep their places.
fn missing_ui(ui: &mut Ui, missing: u64) {
    let font = theme::regular(11.5);
    let names = ["characters without a font", "without a font", "boxes"];
    let words = names.map(|name| widgets::number_text(missing, name));
    let room = ui.available_width();
    let fits = |words: &&String| widgets::text_width(ui, *words, font.clone()) <= room;
    if let Some(shown) = words.iter().find(fits) {
        let said = widgets::words(ui, shown, font, theme::of(ui).warn);
        widgets::say(&said, Role::Label, &words[0]);
        said.on_hover_text(format!(
            "{}: no font of this computer has them, and each is a box with its code point. What is copied is the character.",
            words[0]
        ));
    }
}

fn footer_ui(ui: &mut Ui, cx: &Cx<'_>, pane: &PaneCx) {
    let Some(view) = cx.ready(TextQuery(pane.format)) else {
        return;
    };
    let t = theme::of(ui);
    let selected = Selection::new(ui, cx, pane.index, pane.format);
    let range = selected.range();
    let small = |text: String| widgets::styled(text, theme::regular(11.5), t.weak);
    let tokens = token_starts(cx, pane);
    let room = ui.available_width();
    if !range.is_empty() && room <= ROOM_FOR_ALL {
        // What is selected comes first.
    } else if let Some(starts) = tokens {
        let pointed: Option<usize> = widgets::recall(ui, pointed_id(pane));
        let words = token_text(starts, view.text.len(), pointed.unwrap_or(selected.head));
        let tip = format!(
            "Under the pointer, else at the caret, by {}",
            cx.state.settings.encoding().name()
        );
        widgets::words(ui, words, theme::mono(11.5), t.accent).on_hover_text(tip);
    } else if selected.head == 0 && range.is_empty() {
        ui.label(small(widgets::number_text(view.line_count.into(), "lines")));
    } else {
        let at = view.line_at(selected.head.min(view.text.len()));
        let line = view.lines[..=at]
            .iter()
            .rev()
            .find(|line| line.number.is_some());
        let start = line.map_or(0, |line| line.range.start);
        let column = view
            .text
            .get(start..selected.head)
            .map_or(0, |text| text.chars().count())
            + 1;
        let number = line.and_then(|line| line.number).unwrap_or(0);
        widgets::words(
            ui,
            format!(
                "Ln {}, Col {}",
                widgets::grouped(number.into()),
                widgets::grouped(column as u64)
            ),
            theme::mono(11.5),
            t.weak,
        );
    }
    if !range.is_empty() {
        // Counting characters of a selection of megabytes takes longer than a frame.
        let text = match range.len() {
            0..1_000_000 => widgets::number_text(
                view.text
                    .get(range.clone())
                    .map_or(0, |text| text.chars().count() as u64),
                "chars selected",
            ),
            long => format!("{} selected", widgets::bytes(long as u64)),
        };
        // Counted when it stands still: every step of a drag would be a question of its own.
        let part = PartQuery {
            format: pane.format,
            from: range.start,
            to: range.end,
        };
        let tokens = match (ui.input(|input| input.pointer.any_down()), part) {
            (false, part) => cx.ready(part),
            (true, _) => None,
        };
        let tokens = match tokens {
            Some(tokens) => {
                format!(
                    " · {}",
                    widgets::number_text(
                        tokens.get(cx.state.settings.encoding()),
                        "tokens by themselves"
                    )
                )
            }
            _ => String::new(),
        };
        widgets::words(ui, text + &tokens, theme::regular(11.5), t.accent);
    }
    if tokens.is_none() || room > ROOM_FOR_ALL {
        reader_menu::only_here_ui(ui, cx, pane, view.only_here.len());
    }
    let missing = cx
        .ready(OtherCharsQuery(pane.format))
        .map_or(0, |characters| {
            coverage::count_missing(ui, pane.index, characters)
        });
    widgets::from_right(ui, |ui| {
        let rest = ui.available_width();
        ui.spacing_mut().item_spacing.x = 10.0;
        let is_wrapped = cx.state.settings.wrap;
        let name = if is_wrapped { "Wrap on" } else { "Wrap off" };
        if Button::new(name)
            .frameless()
            .tip("Break long lines at the edge of the pane")
            .height(22.0)
            .clicked(ui)
        {
            cx.send(SettingsAction::SetWrap(!is_wrapped));
        }
        let shows = cx.state.view.token_bounds;
        let name = if shows { "Tokens on" } else { "Tokens off" };
        let button = |name, tip| Button::new(name).frameless().tip(tip).height(22.0);
        // The palette and the menu of the pane have them too.
        let has_other = pane.format == "content-pretty"
            || (pane.format == "content" && view.syntax == Syntax::Json);
        let has_room = rest > ROOM_FOR_VIEWS + if has_other { 70.0 } else { 0.0 };
        if (has_room || shows) && button(name, "Show where each token begins").clicked(ui) {
            cx.send(ViewAction::ToggleTokenBounds);
        }
        let has_bytes = pane.format != "content-pretty";
        if has_room && has_bytes && button("Hex", "Show the bytes in hexadecimal").clicked(ui) {
            cx.send(ViewAction::SetPane {
                pane: pane.index,
                shows: PaneView::Hex(pane.format),
            });
        }
        let other = match (pane.format, view.syntax) {
            ("content", Syntax::Json) => {
                Some(("Pretty", "content-pretty", "Lay the JSON out, for reading"))
            }
            ("content-pretty", _) => Some(("Exact", "content", "Show the text as it was sent")),
            _ => None,
        };
        if let Some((name, format, tip)) = other
            && Button::new(name)
                .frameless()
                .tip(tip)
                .height(22.0)
                .clicked(ui)
        {
            cx.send(ViewAction::SetPane {
                pane: pane.index,
                shows: PaneView::Text(format),
            });
        }
        if missing > 0 {
            missing_ui(ui, missing);
        }
        if view.is_exact && room > ROOM_FOR_ALL && ui.available_width() > 70.0 {
            ui.label(small(view.line_ends.to_owned()));
            ui.label(small("UTF-8".into()));
        } else if !view.is_exact {
            widgets::words(
                ui,
                "not valid UTF-8: bytes that are not are shown as U+FFFD",
                theme::regular(11.5),
                t.warn,
            );
        }
    });
}
