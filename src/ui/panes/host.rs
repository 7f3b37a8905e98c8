//! A host's text as virtual rows: what the host added and what its limit took out are marked. Panes and the full view
//! of hosts paint it alike.

use std::ops::Range;
use std::sync::Arc;

use egui::{Align, Id, Layout, Pos2, Rect, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use super::header::Chooser;
use super::select::{DrawnText, Selection, between, intersect};
use super::title::Title;
use super::{CopyAction, Pane, PaneCx, colour, find};
use crate::state::{Action, HostsAction, PaneContent, PaneView, QueryState};
use crate::ui::marks;
use crate::ui::rtl::{self, Order};
use crate::ui::theme::{self, TEXT_ROW, ThemeTokens};
use crate::ui::widgets::{self, Button, Tone};
use crate::ui::{Cx, host_row, icons};
use loupe_analysis::finding::MarkedText;
use loupe_analysis::queries::invisible_chars::Shown;
use loupe_analysis::queries::{
    HostCutsQuery, HostLine, HostMark, HostRemovedQuery, HostRows, HostRowsQuery, HostsQuery,
    TextRow, evidence_text,
};
use loupe_core::format::ParsedCapture;
use loupe_core::host::HostId;

pub static PANE: Pane = Pane {
    title,
    choices,
    options: None,
    copy,
    body: pane_ui,
    footer: footer_ui,
};

fn title(cx: &Cx<'_>, view: PaneView, _: Option<&ParsedCapture>, t: &ThemeTokens) -> Title {
    let host = match view.content() {
        PaneContent::Host(host) => Some(host),
        _ => None,
    };
    let row = host.and_then(|host| cx.ready(HostsQuery)?.row(host));
    // Its id until the report is there.
    let name = row
        .map(|row| row.host.name.clone())
        .or_else(|| Some(host?.to_string()))
        .unwrap_or_default();
    Title {
        hue: t.hue_both,
        ..Title::new(&name, "as its model sees it", "host", t)
    }
}

fn choices(ui: &mut Ui, cx: &Cx<'_>, chooser: &Chooser<'_>) {
    chooser.heading(ui, "What a host's model sees");
    let Some(report) = widgets::ready(ui, cx, host_row::READING, cx.ask(HostsQuery)) else {
        return;
    };
    for row in &report.rows {
        chooser.offer(ui, PaneView::Host(row.host.id), &row.host.name);
    }
}

fn copy<'a>(cx: &Cx<'a>, view: PaneView) -> Option<CopyAction<'a>> {
    let PaneContent::Host(host) = view.content() else {
        return None;
    };
    let row = cx.ready(HostsQuery)?.row(host)?;
    Some(Box::new(|| Action::Copy(row.view.text.to_string())))
}

/// The host that a pane shows.
pub fn of_pane(cx: &Cx<'_>, pane: &PaneCx) -> Option<HostId> {
    match cx.state.view.shows(pane.index) {
        PaneView::Host(host) => Some(host),
        _ => None,
    }
}

fn pane_ui(ui: &mut Ui, cx: &Cx<'_>, pane: &PaneCx) {
    if let Some(host) = of_pane(cx, pane) {
        host_text_ui(ui, cx, host, pane);
    }
}

fn footer_ui(ui: &mut Ui, cx: &Cx<'_>, pane: &PaneCx) {
    let t = theme::of(ui);
    let Some(host) = of_pane(cx, pane) else {
        return;
    };
    let Some(report) = cx.ready(HostsQuery) else {
        return;
    };
    let Some(row) = report.row(host) else { return };
    widgets::from_right(ui, |ui| {
        if Button::new("Full view")
            .frameless()
            .height(22.0)
            .tip("Open this host in the view of all hosts")
            .clicked(ui)
        {
            cx.send(HostsAction::Show(Some(host)));
        }
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            let is_cut = row.limit().state.is_truncated() == Some(true);
            let words = format!("{} · {}", row.limit_text(), evidence_text(&row.host));
            let color = if is_cut { t.warn } else { t.weak };
            widgets::truncated(ui, &words, theme::regular(11.5), color);
        });
    });
}

/// Texts outside of the three panes have one selection among them.
const ALONE_PANE: PaneCx = PaneCx {
    index: 9,
    format: "host",
    is_focused: true,
};

/// The exact text in the room that is left, where it is in none of the panes.
pub fn host_alone_ui(ui: &mut Ui, cx: &Cx<'_>, host: HostId) {
    host_text_ui(ui, cx, host, &ALONE_PANE);
}

/// The exact text in the room that is left.
fn host_text_ui(ui: &mut Ui, cx: &Cx<'_>, host: HostId, pane: &PaneCx) {
    let with_cuts = cx.state.view.hosts.shows_removed;
    let char_width = widgets::text_width(ui, "0".repeat(64), theme::code()) / 64.0;
    let columns =
        ((ui.available_width() - 32.0) / char_width).clamp(16.0, f32::from(u16::MAX)) as u16;
    let folds_kept =
        pane.index == ALONE_PANE.index && !with_cuts && !cx.state.view.hosts.shows_kept;
    let Some(rows) = super::ready(
        ui,
        cx,
        cx.ask(HostRowsQuery {
            host,
            columns,
            with_cuts,
            folds_kept,
        }),
    ) else {
        return;
    };
    if let Some(report) = cx.ready(HostsQuery)
        && let Some(why) = report
            .row(host)
            .and_then(|row| row.view.not_computable.as_deref())
    {
        widgets::empty_ui(ui, &format!("This text cannot be computed: {why}."), None);
        return;
    }
    if rows.text.is_empty() && rows.cuts().next().is_none() {
        widgets::empty_ui(ui, "The model is shown an empty text.", None);
        return;
    }
    let outer = ui.available_rect_before_wrap();
    let scroll_id = ui.scope_id().with(("host text offset", host));
    let mut area = widgets::scroll(("host text", host));
    if ui
        .data_mut(|data| data.remove_temp::<bool>(next_cut_id(host)))
        .is_some()
    {
        let at: f32 = widgets::recall(ui, scroll_id).unwrap_or(0.0);
        let tops: Vec<f32> = rows.cuts().map(|row| row as f32 * TEXT_ROW).collect();
        // After the last one comes the first.
        if let Some(top) = tops
            .iter()
            .find(|top| (**top - 3.0 * TEXT_ROW).max(0.0) > at + 1.0)
            .or(tops.first())
        {
            area = area.vertical_scroll_offset((top - 3.0 * TEXT_ROW).max(0.0));
        }
    }
    let goto: Option<usize> = ui.data_mut(|data| data.remove_temp(pane.goto_id()));
    if let Some(offset) = goto {
        area =
            area.vertical_scroll_offset(((rows.row_at(offset) as f32 - 4.0) * TEXT_ROW).max(0.0));
    }
    let (found, current) = (find::places(cx, pane), find::current(ui, cx, pane));
    let marked = marks::marked_texts(cx, MarkedText::Host { host, with_cuts });
    let mut selected = Selection::new(ui, cx, pane.index, host.as_str());
    let before = selected.range();
    let marks = Marks {
        selected: &before,
        found,
        current,
        findings: &marked,
    };
    let output = area.show_viewport(ui, |ui, viewport| {
        let response = widgets::sense(ui, outer, "host text", Sense::click_and_drag());
        widgets::say(
            &response,
            Role::Document,
            format!("Exact text that {host} shows its model"),
        );
        let origin = ui.min_rect().min;
        ui.allocate_rect(
            Rect::from_min_size(
                origin,
                vec2(viewport.width(), rows.rows.len() as f32 * TEXT_ROW + 16.0),
            ),
            Sense::hover(),
        );
        let mut drawn = Vec::new();
        let count = rows.rows.len();
        for (at, y) in widgets::rows_in_sight(origin, viewport, 8.0, TEXT_ROW, count) {
            let rect = Rect::from_min_size(pos2(origin.x, y), vec2(viewport.width(), TEXT_ROW));
            match &rows.rows[at] {
                HostLine::Text(row) => drawn.push(row_ui(ui, rows, row, rect, &marks)),
                HostLine::Removed { cut, .. } => removed_ui(ui, cx, host, *cut, rect),
                HostLine::Kept { what, .. } => kept_ui(ui, cx, what, rect),
            }
        }
        let response = response.on_hover_cursor(egui::CursorIcon::Text);
        selected.follow(ui, &response, &drawn, &rows.text, &rows.lines);
    });
    selected.keys(ui, cx, pane.is_focused, &rows.text);
    selected.keep(ui, pane.index);
    widgets::remember(ui, scroll_id, output.state.clamped_offset().y);
}

/// What is marked in the rows.
struct Marks<'a> {
    selected: &'a Range<usize>,
    found: &'a [Range<usize>],
    /// The one of them that was stepped to.
    current: Option<&'a Range<usize>>,
    findings: &'a [marks::MarkedPlacesOf<'a>],
}

fn row_ui(
    ui: &mut Ui,
    rows: &HostRows,
    row: &TextRow,
    rect: Rect,
    &Marks {
        selected,
        found,
        current,
        findings,
    }: &Marks<'_>,
) -> DrawnText {
    let t = theme::of(ui);
    let left = rect.left() + 16.0;
    let mut job = egui::text::LayoutJob {
        break_on_newline: false,
        ..Default::default()
    };
    // Where something else stands than what was sent, and whether the row is that as a whole.
    let mut grounds = Vec::new();
    let mut chars = 0;
    for (range, mark) in rows.marks_in(&row.range) {
        let place = range.start.max(row.range.start)..range.end.min(row.range.end);
        let shown = Shown::of(&rows.text[place.clone()]).text;
        let from = chars;
        chars += shown.chars().count();
        if *mark != HostMark::Sent {
            grounds.push((from, chars, *mark, range));
        }
        // What has another name on the screen than in the text has no colours.
        if *mark == HostMark::Sent
            && shown == rows.text[place.clone()]
            && is_within(&rows.json, &place)
        {
            let is_in_string = row.is_in_string && place.start == row.range.start;
            colour::json_row(&mut job, t, &rows.text, &place, is_in_string);
        } else {
            let color = if *mark == HostMark::Removed {
                t.weak
            } else {
                t.text
            };
            job.append(&shown, 0.0, egui::TextFormat::simple(theme::code(), color));
        }
    }
    // An empty line is of what stands around it.
    if row.range.is_empty()
        && let Some((range, mark)) = rows
            .marks_in(&(row.range.start..row.range.start + 1))
            .next()
        && *mark != HostMark::Sent
    {
        grounds.push((0, 0, *mark, range));
    }
    let galley = rtl::layout(ui, job, Order::Line);
    for (from, to, mark, range) in &grounds {
        let is_whole = *from == 0 && *to == chars;
        let spans = if is_whole {
            vec![rect]
        } else {
            rtl::places(&galley, &(*from..*to))
                .into_iter()
                .map(|place| place.translate(vec2(left, 0.0)))
                .collect()
        };
        let fill = if *mark == HostMark::Added {
            t.hover
        } else {
            t.warn_bg
        };
        for span in spans {
            let span = Rect::from_x_y_ranges(span.x_range(), rect.y_range());
            ui.painter().rect_filled(span, 0.0, fill);
        }
        let end = left + galley.size().x;
        if *mark == HostMark::Added
            && is_whole
            && range.start >= row.range.start
            && end + 130.0 < rect.right()
        {
            let at = pos2(rect.right() - 14.0, rect.center().y);
            widgets::text_right(ui, at, "added by the host", theme::regular(11.5), t.weak);
        }
    }
    let shown = Shown::of(&rows.text[row.range.clone()]);
    let drawn = DrawnText {
        rect,
        left,
        start: row.range.start,
        len: row.range.len(),
        shown,
        galley,
    };
    drawn.mark_findings(ui, findings);
    if let Some(chosen) = intersect(selected, &row.range) {
        for span in drawn.spans(&chosen) {
            ui.painter().rect_filled(span, 0.0, t.sel);
        }
    }
    for found in between(found, &row.range) {
        let (fill, stroke) = find::colors(t, current == Some(found));
        for span in drawn.spans(found) {
            let kind = egui::StrokeKind::Inside;
            ui.painter()
                .rect(span, theme::RADIUS_BAR, fill, stroke, kind);
        }
    }
    let y = (rect.center().y - drawn.galley.size().y / 2.0).round();
    ui.painter()
        .galley(pos2(left, y), Arc::clone(&drawn.galley), t.text);
    let has = |wanted: HostMark| grounds.iter().any(|(_, _, mark, _)| *mark == wanted);
    let message = match (has(HostMark::Removed), has(HostMark::Added)) {
        (true, _) => "removed: ",
        (false, true) => "added by the host: ",
        (false, false) => "",
    };
    let text = format!("{message}{}", &rows.text[row.range.clone()]);
    widgets::sense(ui, rect, ("host row", row.range.start), Sense::empty())
        .widget_info(|| WidgetInfo::labeled(Role::Label, true, &text));
    drawn
}

/// Whether a range is in one of these, which are in order.
fn is_within(ranges: &[Range<usize>], range: &Range<usize>) -> bool {
    let at = ranges.partition_point(|other| other.end < range.end);
    ranges
        .get(at)
        .is_some_and(|other| other.start <= range.start)
}

/// What a limit took out here, folded in its place; a click unfolds it.
fn removed_ui(ui: &mut Ui, cx: &Cx<'_>, host: HostId, cut: usize, rect: Rect) {
    let t = theme::of(ui);
    let shows = cx.state.view.hosts.shows_removed;
    let what = cx
        .ready(HostRemovedQuery(host))
        .and_then(|removed| removed.what.get(cut));
    let size = cx
        .ready(HostsQuery)
        .and_then(|report| Some(report.row(host)?.view.removed.get(cut)?.len() as u64));
    let words = what.map_or_else(|| "Removed".to_owned(), |what| format!("Removed: {what}"));
    let size = size.map_or_else(String::new, |size| widgets::number_text(size, "B"));
    let response = widgets::sense(ui, rect, ("removed", cut), Sense::click());
    let spoken = format!("{words}, {size}");
    widgets::say_selected(&response, Role::Button, shows, &spoken);
    ui.painter().rect_filled(rect, 0.0, t.warn_bg);
    for y in [rect.top() + 0.5, rect.bottom() - 0.5] {
        ui.painter()
            .hline(rect.x_range(), y, Stroke::new(1.0, t.warn_line));
    }
    let line = widgets::RowLine::new(ui, rect);
    let caret = if shows { icons::DOWN } else { icons::RIGHT };
    line.icon(rect.left() + 20.0, caret, 11.0, t.warn);
    line.icon(rect.left() + 36.0, icons::CUT, 13.0, t.warn);
    let end = line.number(rect.right() - 14.0, size, theme::mono(11.5), t.warn);
    line.text(
        rect.left() + 48.0,
        end - 12.0,
        words,
        theme::small(),
        t.warn,
    );
    widgets::focus_ring_inside(ui, &response);
    if response.clicked() {
        cx.send(HostsAction::ShowRemoved(!shows));
    }
    let tip = if shows {
        "Fold the removed part"
    } else {
        "Show the removed part"
    };
    response
        .on_hover_text(format!("{spoken}\n{tip}"))
        .on_hover_cursor(egui::CursorIcon::PointingHand);
}

/// What the model sees here, folded; a click unfolds it.
fn kept_ui(ui: &mut Ui, cx: &Cx<'_>, what: &str, rect: Rect) {
    let t = theme::of(ui);
    let words = format!("Kept: {what}");
    let response = widgets::sense(ui, rect, ("kept", what), Sense::click());
    widgets::say(&response, Role::Button, &words);
    ui.painter()
        .rect_filled(rect, 0.0, if response.hovered() { t.hover } else { t.card });
    let line = widgets::RowLine::new(ui, rect);
    line.icon(rect.left() + 20.0, icons::RIGHT, 11.0, t.weak);
    let end = line.number(
        rect.right() - 14.0,
        "folded here only",
        theme::regular(11.5),
        t.weak,
    );
    line.text(
        rect.left() + 32.0,
        end - 12.0,
        &words,
        theme::small(),
        t.text,
    );
    widgets::focus_ring_inside(ui, &response);
    if response.clicked() {
        cx.send(HostsAction::ShowKept);
    }
    response
        .on_hover_text(format!(
            "{words}\nThe model sees all of it. A click shows it."
        ))
        .on_hover_cursor(egui::CursorIcon::PointingHand);
}

fn next_cut_id(host: HostId) -> Id {
    Id::unique(("next cut", host))
}

/// Scrolls the text that is in none of the panes to a place in it.
pub fn show_in_host(ui: &Ui, offset: usize) {
    widgets::remember(ui, ALONE_PANE.goto_id(), offset);
}

/// Scrolls a host's text to the next part that was taken out of it.
pub fn next_cut(ui: &Ui, host: HostId) {
    widgets::remember(ui, next_cut_id(host), true);
}

/// The legend of the marks, on one line.
pub fn legend_ui(ui: &mut Ui) {
    let t = theme::of(ui);
    for (color, text) in [(t.line2, "added by the host"), (t.warn, "removed")] {
        widgets::swatch(ui, color);
        widgets::words(ui, text, theme::regular(11.5), t.weak);
    }
}

/// A strip above the panes: what the host that is viewed as drops of this result, in one sentence; the room left.
pub fn view_as_strip(ui: &mut Ui, cx: &Cx<'_>, rect: Rect) -> Rect {
    let Some(host) = cx.state.view.hosts.view_as else {
        return rect;
    };
    let t = theme::of(ui);
    let strip = Rect::from_min_size(rect.min, vec2(rect.width(), 30.0));
    ui.painter().rect_filled(strip, 0.0, t.warn_bg);
    ui.painter().hline(
        strip.x_range(),
        strip.bottom() - 0.5,
        Stroke::new(1.0, t.warn_line),
    );
    ui.scope_builder(
        widgets::region(ui, "view as")
            .max_rect(strip.shrink2(vec2(16.0, 0.0)))
            .layout(Layout::right_to_left(Align::Center)),
        |ui| {
            if Button::new("As sent")
                .small()
                .height(22.0)
                .name("View the answer as sent")
                .clicked(ui)
            {
                cx.send(HostsAction::ViewAs(None));
            }
            if Button::new("Open its text")
                .small()
                .height(22.0)
                .clicked(ui)
            {
                cx.send(HostsAction::Open(host));
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let words = match cx.ask(HostsQuery) {
                    QueryState::Ready(report) => report.row(host).map(|row| row.dropped_text()),
                    QueryState::Working { .. } => {
                        Some("Reading the answer as this host does…".to_owned())
                    }
                    QueryState::NeedsConfirmation { .. } => {
                        Some("What this host drops is not counted yet.".to_owned())
                    }
                    _ => None,
                };
                let words = words.unwrap_or_else(|| "This host is not known any more.".to_owned());
                widgets::truncated(ui, &words, theme::small(), t.strong);
            });
        },
    );
    rect.with_min_y(strip.bottom())
}

/// What the host that is viewed as leaves out, where it drops a part.
fn cuts<'a>(cx: &Cx<'a>) -> Option<&'a loupe_analysis::queries::HostCuts> {
    let host = cx.state.view.hosts.view_as?;
    match cx.ready(HostCutsQuery(host)) {
        Some(cuts) => Some(cuts),
        _ => None,
    }
}

/// The ranges of a format's text that the host viewed as leaves out.
pub fn cuts_of<'a>(cx: &Cx<'a>, format: &str) -> &'a [Range<usize>] {
    if format == "content" {
        cuts(cx).map_or(&[], |cuts| &cuts.content)
    } else {
        &[]
    }
}

/// Whether the text of the host viewed as does not tell this value of the data.
pub fn is_missing(cx: &Cx<'_>, node: usize) -> bool {
    cuts(cx).is_some_and(|cuts| cuts.missing.contains(&node))
}

/// Says in the place itself that the host viewed as does not show it; where it ends at the left is returned.
pub fn not_shown_at(ui: &Ui, right: Pos2) -> f32 {
    widgets::chip(ui, right, egui::Align::Max, "not shown", Tone::Warn, 11.5).left()
}

/// Whether the host that is viewed as drops everything that a pane shows.
pub fn is_dropped(cx: &Cx<'_>, view: PaneView) -> bool {
    let Some(host) = cx.state.view.hosts.view_as else {
        return false;
    };
    let Some(report) = cx.ready(HostsQuery) else {
        return false;
    };
    let Some(row) = report.row(host).filter(|row| row.tokens.is_some()) else {
        return false;
    };
    match view.content() {
        PaneContent::Format("content") => !row.shares.has_content,
        PaneContent::Data | PaneContent::Format("structured") => {
            !row.shares.has_structured && report.rows.iter().any(|row| row.shares.has_structured)
        }
        _ => false,
    }
}
