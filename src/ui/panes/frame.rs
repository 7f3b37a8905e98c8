//! The frame around each pane, and how panes share the room: three beside each other, two, or one, with tabs for the rest.

use egui::{
    Align, Color32, CursorIcon, Id, Layout, Popup, Rect, Response, RichText, Role, Sense, Stroke, Ui, UiBuilder, WidgetInfo,
    pos2, vec2,
};

use super::{PANES, PaneCx, format_title};
use crate::capture::{Origin, Outcome};
use crate::format::{FORMATS, Subject};
use crate::host::HostId;
use crate::problem::{Kind, Problem};
use crate::report::{Answer, Question, counted};
use crate::state::{Action, PaneView};
use crate::token::Count;
use crate::ui::commands::{self, Region};
use crate::ui::theme::{self, Hue, Tokens};
use crate::ui::widgets::{self, Button};
use crate::ui::{Cx, compare, diff, icons};

const MIN_PANE: f32 = 300.0;
const SHARES: [f32; 3] = [0.31, 0.36, 0.33];
const STRIP: f32 = 36.0;

/// All panes, in the room that is left.
pub fn panes_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = Tokens::of(ui);
    let mut rect = ui.available_rect_before_wrap();
    ui.allocate_rect(rect, Sense::hover());
    ui.painter().rect_filled(rect, 0.0, t.panel);
    let subject = match cx.ready(Question::Subject) {
        Some(Answer::Subject(subject)) => Some(&**subject),
        _ => None,
    };
    if let Some(running) = cx.state.running.as_ref() {
        progress_bar(ui, rect, cx.state.now.saturating_sub(running.since).as_secs_f32());
    }
    let Some(capture) = cx.state.capture() else {
        ui.scope_builder(UiBuilder::new().max_rect(rect), |ui| match &cx.state.running {
            Some(running) => {
                ui.add_space(24.0);
                ui.horizontal(|ui| {
                    ui.add_space(16.0);
                    widgets::waiting(ui, &format!("Calling {}", running.tool), running.since, cx);
                });
            }
            None => {
                widgets::empty_ui(ui, "No answer yet. Choose a tool and call it.", None);
            }
        });
        return;
    };
    if let Some(height) = diff::again_strip(ui, cx, rect) {
        rect.min.y += height;
    }
    if let Some(height) = outcome_strip(ui, cx, rect, capture.outcome, subject) {
        rect.min.y += height;
    }
    if capture.response.is_none() {
        let fallback = Problem::new(Kind::Disconnected, "no answer came");
        ui.scope_builder(UiBuilder::new().max_rect(rect.shrink(16.0)), |ui| {
            widgets::problem_ui(ui, capture.problem.as_ref().unwrap_or(&fallback))
        });
        return;
    }

    rect = super::host::view_as_strip(ui, cx, rect);
    let is_open = |pane: &usize| cx.state.view.open[*pane];
    let focus = cx.state.view.focus.min(2);
    let open: Vec<usize> = (0..3).filter(is_open).collect();
    if open.is_empty() {
        let rect = strip_ui(ui, cx, rect, &[], subject);
        ui.scope_builder(UiBuilder::new().max_rect(rect), |ui| {
            widgets::empty_ui(ui, "All panes are closed. A tab above brings one back.", None)
        });
        return;
    }
    let room = rect.width();
    let window = ui.content_rect().width();
    let most = if window >= theme::WIDE { (room / MIN_PANE) as usize } else { ((room / MIN_PANE) as usize).min(2) };
    let shown: Vec<usize> = match cx.state.view.maximised {
        Some(pane) => vec![pane.min(2)],
        None if open.len() <= most.max(1) => open.clone(),
        None if most >= 2 => pair(&open, focus),
        None => vec![if open.contains(&focus) { focus } else { open[0] }],
    };
    // Where every open pane has room, one that is closed leaves a chip in the last header instead of a row of tabs.
    let has_room = cx.state.view.maximised.is_some() || open.len() == shown.len() && shown.len() <= most && most > 1;
    let needs_strip = shown.len() < 3 && !has_room;
    let closed: Vec<usize> = (0..3).filter(|pane| !is_open(pane)).collect();
    if needs_strip {
        rect = strip_ui(ui, cx, rect, &shown, subject);
    }
    let shares_id = Id::unique("pane shares");
    let mut shares: [f32; 3] = ui.data_mut(|data| data.get_persisted(shares_id)).unwrap_or(SHARES);
    let sum: f32 = shown.iter().map(|&pane| shares[pane]).sum();
    let mut x = rect.left();
    for (position, &pane) in shown.iter().enumerate() {
        let is_last = position + 1 == shown.len();
        let width = if is_last {
            rect.right() - x
        } else {
            (rect.width() * shares[pane] / sum).max(MIN_PANE.min(rect.width() / shown.len() as f32)).round()
        };
        let pane_rect = Rect::from_min_max(pos2(x, rect.top()), pos2((x + width).min(rect.right()), rect.bottom()));
        ui.scope_builder(UiBuilder::new().max_rect(pane_rect).id_salt(("pane", pane)), |ui| {
            ui.set_clip_rect(pane_rect.intersect(ui.clip_rect()));
            let closed = if is_last && !needs_strip && cx.state.view.maximised.is_none() { closed.as_slice() } else { &[] };
            pane_ui(ui, cx, pane, pane_rect, subject, (!needs_strip || shown.len() > 1).then_some(closed));
        });
        x += width;
        if let Some(&next) = shown.get(position + 1) {
            separator(ui, rect, x, &mut shares, (pane, next), sum);
        }
    }
    ui.data_mut(|data| data.insert_persisted(shares_id, shares));
}

/// Which two panes stand beside each other: the focused one and its neighbour.
fn pair(open: &[usize], focus: usize) -> Vec<usize> {
    let at = open.iter().position(|&pane| pane == focus).unwrap_or(0);
    let first = at.min(open.len().saturating_sub(2));
    open[first..(first + 2).min(open.len())].to_vec()
}

/// A separator that can be dragged; a double click evens the panes.
fn separator(ui: &Ui, rect: Rect, x: f32, shares: &mut [f32; 3], panes: (usize, usize), sum: f32) {
    let t = Tokens::of(ui);
    let area = Rect::from_x_y_ranges(x - 3.0..=x + 3.0, rect.y_range());
    let response = ui
        .interact(area, ui.scope_id().with(("separator", panes)), Sense::click_and_drag())
        .on_hover_cursor(CursorIcon::ResizeColumn);
    response.widget_info(|| WidgetInfo::labeled(Role::Splitter, true, "Resize panes"));
    let is_active = response.hovered() || response.dragged();
    ui.painter().vline(x - 0.5, rect.y_range(), Stroke::new(1.0, if is_active { t.accent } else { t.line }));
    if response.double_clicked() {
        *shares = [1.0 / 3.0; 3];
    } else if response.dragged() {
        let least = MIN_PANE / rect.width() * sum;
        let moved = response.drag_delta().x / rect.width() * sum;
        let moved = moved.clamp((least - shares[panes.0]).min(0.0), (shares[panes.1] - least).max(0.0));
        shares[panes.0] += moved;
        shares[panes.1] -= moved;
    }
}

/// A thin bar that moves while a call runs; the old answer stays in sight under it.
fn progress_bar(ui: &Ui, rect: Rect, elapsed: f32) {
    let t = Tokens::of(ui);
    let width = rect.width() * 0.2;
    let left = rect.left() + (rect.width() + width) * (elapsed * 0.5).fract() - width;
    let bar = Rect::from_min_size(pos2(left, rect.top()), vec2(width, 2.0)).intersect(rect);
    ui.painter().rect_filled(bar, 0.0, t.accent);
    ui.request_repaint_after(std::time::Duration::from_millis(33));
}

/// Says how the call ended, where it did not end well; the height it took.
fn outcome_strip(ui: &mut Ui, cx: &Cx<'_>, rect: Rect, outcome: Outcome, subject: Option<&Subject>) -> Option<f32> {
    let capture = cx.state.capture()?;
    let rpc = subject.and_then(|subject| subject.reading.rpc_error.as_ref());
    let t = Tokens::of(ui);
    let (icon, color, fill, line, text) = match outcome {
        Outcome::Result => return None,
        Outcome::ToolError => {
            (icons::ERROR, t.bad, t.bad_bg, t.bad_line, "isError: true · the tool reports a failure".to_owned())
        }
        Outcome::ProtocolError => {
            let text = rpc
                .map_or_else(|| "JSON-RPC error".to_owned(), |error| format!("JSON-RPC error {}: {}", error.code, error.message));
            (icons::ERROR, t.bad, t.bad_bg, t.bad_line, text)
        }
        Outcome::Malformed => (
            icons::ERROR,
            t.bad,
            t.bad_bg,
            t.bad_line,
            "The answer is not a JSON-RPC result; shown as far as it can be read".to_owned(),
        ),
        Outcome::Timeout => (
            icons::TIMEOUT,
            t.warn,
            t.warn_bg,
            t.warn_line,
            format!("Timed out after {}", widgets::seconds(capture.timings.total())),
        ),
        Outcome::Cancelled => (icons::CANCELLED, t.warn, t.warn_bg, t.warn_line, "Cancelled".to_owned()),
        Outcome::Disconnected => {
            (icons::DISCONNECT, t.bad, t.bad_bg, t.bad_line, "The server went away before it answered".to_owned())
        }
    };
    let strip = Rect::from_min_size(rect.min, vec2(rect.width(), 30.0));
    ui.painter().rect_filled(strip, 0.0, fill);
    ui.painter().hline(strip.x_range(), strip.bottom() - 0.5, Stroke::new(1.0, line));
    widgets::glyph_at(ui, pos2(strip.left() + 22.0, strip.center().y), icon, theme::icon_fill_font(16.0), color);
    let shown = crate::report::special::Shown::of(&text).text;
    widgets::text_at(ui, pos2(strip.left() + 38.0, strip.center().y), shown, theme::label(), t.strong, strip.width() - 50.0);
    let response = ui.interact(strip, ui.scope_id().with("outcome"), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Alert, true, &text));
    Some(30.0)
}

/// What a pane is called, the second word, and its hue.
struct Title {
    name: String,
    subtitle: String,
    hue: Hue,
    format: &'static str,
}

fn title(cx: &Cx<'_>, view: PaneView, subject: Option<&Subject>, t: &Tokens) -> Title {
    let of =
        |name: &str, subtitle: &str, format| Title { name: name.into(), subtitle: subtitle.into(), hue: t.hue(format), format };
    match view {
        PaneView::Rendered("content") => of("Rendered", "Markdown", "content"),
        PaneView::Rendered(format) => of("Rendered", format_title(format), format),
        PaneView::Text("content") => of("Text", "exact bytes", "content"),
        PaneView::Text(format) => of(
            format_title(format),
            if cx.state.view.peek == Some(format) { "peek · Enter keeps" } else { "exact bytes" },
            format,
        ),
        PaneView::Host(host) => {
            Title { name: host_name(cx, host), subtitle: "as its model sees it".into(), hue: t.hue_both, format: "host" }
        }
        PaneView::Tree => match subject.and_then(|subject| subject.payload.as_ref()) {
            Some(payload) if payload.origin != Origin::Structured => {
                of("Payload", &format!("{} (no structuredContent sent)", payload.origin_text()), "structured")
            }
            _ => of("structuredContent", "", "structured"),
        },
    }
}

/// The name of a host, where the report is there; its id until then.
fn host_name(cx: &Cx<'_>, host: HostId) -> String {
    match cx.ready(Question::Hosts) {
        Some(Answer::Hosts(report)) => report.row(host).map_or_else(|| host.to_string(), |row| row.host.name.clone()),
        _ => host.to_string(),
    }
}

/// Tokens and bytes of what a pane shows, where they are known.
fn cost(cx: &Cx<'_>, view: PaneView, title: &Title) -> Option<(Count, u64)> {
    if let PaneView::Host(host) = view {
        let Some(Answer::Hosts(report)) = cx.ready(Question::Hosts) else { return None };
        let row = report.row(host)?;
        return Some((Count::Exact(row.tokens?.get(cx.state.settings.encoding())), row.bytes));
    }
    // A payload read from the text has no format of its own but its compact JSON.
    let format = if view == PaneView::Tree && title.name == "Payload" { "json" } else { title.format };
    if !FORMATS.iter().any(|known| known.id() == format) {
        return None;
    }
    match cx.ready(Question::Row(format)) {
        Some(Answer::Row(row)) if row.is_available() => Some((cx.count(row)?.ok()?, row.bytes)),
        _ => None,
    }
}

/// One pane; `header` holds the closed panes to offer there, and is `None` where tabs stand in its place.
fn pane_ui(ui: &mut Ui, cx: &Cx<'_>, pane: usize, rect: Rect, subject: Option<&Subject>, header: Option<&[usize]>) {
    let t = Tokens::of(ui);
    let view = cx.state.view.shows(pane);
    let is_focused = cx.state.view.focus == pane;
    let title = title(cx, view, subject, t);
    let mut top = rect.top();
    if let Some(closed) = header {
        let header = Rect::from_min_size(rect.min, vec2(rect.width(), theme::HEADER));
        header_ui(
            ui,
            cx,
            pane,
            header,
            &title,
            view,
            closed.iter().map(|&pane| (pane, self::title(cx, cx.state.view.shows(pane), subject, t).name)).collect(),
        );
        ui.painter().hline(rect.x_range(), header.bottom() - 0.5, Stroke::new(1.0, t.line));
        top = header.bottom();
    }
    let footer = Rect::from_min_max(pos2(rect.left(), rect.bottom() - theme::FOOTER), rect.max);
    ui.painter().hline(rect.x_range(), footer.top() - 0.5, Stroke::new(1.0, t.line));
    let mut body = Rect::from_min_max(pos2(rect.left(), top), pos2(rect.right(), footer.top() - 1.0));
    let Some(kind) = PANES.iter().find(|kind| (kind.of)(view).is_some()) else { return };
    let pane_cx = PaneCx { index: pane, format: title.format, is_focused };
    if is_focused && cx.state.view.search.is_some() {
        body = super::find::search_ui(ui, cx, body, view, &pane_cx);
    }
    ui.scope_builder(UiBuilder::new().max_rect(body).id_salt("body"), |ui| {
        ui.set_clip_rect(body.intersect(ui.clip_rect()));
        if cx.state.running.is_some() {
            ui.set_opacity(0.6);
        }
        if super::host::is_dropped(cx, view) {
            ui.painter().rect_filled(body, 0.0, t.warn_bg);
            ui.set_opacity(0.6);
        }
        (kind.body)(ui, cx, &pane_cx);
    });
    ui.scope_builder(
        UiBuilder::new().max_rect(footer.shrink2(vec2(12.0, 0.0))).layout(Layout::left_to_right(Align::Center)).id_salt("footer"),
        |ui| {
            ui.spacing_mut().item_spacing.x = 12.0;
            (kind.footer)(ui, cx, &pane_cx);
        },
    );
    // A press anywhere in a pane gives it the keys.
    if !is_focused
        && ui.input(|input| input.pointer.any_pressed() && input.pointer.interact_pos().is_some_and(|at| rect.contains(at)))
        && !Popup::is_any_open(ui)
    {
        cx.send(Action::FocusPane(pane));
    }
}

fn header_ui(ui: &mut Ui, cx: &Cx<'_>, pane: usize, rect: Rect, title: &Title, view: PaneView, closed: Vec<(usize, String)>) {
    let t = Tokens::of(ui);
    ui.scope_builder(
        UiBuilder::new().max_rect(rect.shrink2(vec2(6.0, 0.0))).layout(Layout::right_to_left(Align::Center)).id_salt("header"),
        |ui| {
            ui.spacing_mut().item_spacing.x = 2.0;
            if widgets::icon_button(ui, icons::CLOSE, &format!("Close {}", title.name)).clicked() {
                cx.send(Action::TogglePane(pane));
            }
            let is_maximised = cx.state.view.maximised == Some(pane);
            let (icon, name) = if is_maximised { (icons::RESTORE, "Restore") } else { (icons::MAXIMISE, "Maximise") };
            if widgets::icon_button(ui, icon, &format!("{name} {}", title.name)).clicked() {
                cx.send(Action::ToggleMaximised(pane));
            }
            copy_button(ui, cx, view, title);
            ui.add_space(8.0);
            if let Some((tokens, bytes)) = cost(cx, view, title) {
                let bytes = widgets::bytes(bytes);
                let tokens = widgets::count_text(tokens, "tok");
                let name = ui.painter().layout_no_wrap(title.name.clone(), theme::title(), t.strong).size().x;
                // Swatch, caret, three buttons and the tokens come first; names are not elided to show a size.
                let spare = rect.width() - name - 230.0;
                // Where there is no room for both, what changed takes the place of what it is now.
                let is_tight = spare < 90.0;
                let has_chip = diff::pane_chip(ui, cx, view, if is_tight { spare + 75.0 } else { spare });
                if has_chip {
                    ui.add_space(8.0);
                }
                if !has_chip && rect.width() - name > 300.0 {
                    ui.label(RichText::new(bytes).font(theme::code()).color(t.weak));
                    ui.add_space(8.0);
                }
                if !(has_chip && is_tight) {
                    number_label(ui, &tokens);
                }
            }
            if pane == last_open(cx) {
                ui.add_space(8.0);
                crate::ui::hosts::view_as_ui(ui, cx, rect.width() < 560.0);
            }
            if !closed.is_empty() {
                ui.add_space(8.0);
                compare::variant_ui(ui, cx);
            }
            for (pane, name) in closed {
                ui.add_space(8.0);
                let spoken = format!("Show {name}");
                if Button::new(&name).icon(icons::ADD).name(&spoken).tip(&spoken).height(22.0).show(ui).clicked() {
                    cx.send(Action::TogglePane(pane));
                }
            }
            let left = Rect::from_min_max(rect.min + vec2(16.0, 0.0), pos2(ui.cursor().right() - 8.0, rect.bottom()));
            ui.scope_builder(
                UiBuilder::new().max_rect(left).layout(Layout::left_to_right(Align::Center)).id_salt("title"),
                |ui| {
                    ui.spacing_mut().item_spacing.x = 8.0;
                    widgets::swatch(ui, title.hue.color);
                    let response = title_button(ui, title, left.right());
                    if cx.state.view.focus == pane {
                        commands::region(ui, Region::Panes, rect, &response);
                    }
                    chooser(&response, cx, pane, view);
                },
            );
        },
    );
}

/// The pane at the right end of the row.
fn last_open(cx: &Cx<'_>) -> usize {
    cx.state.view.maximised.unwrap_or_else(|| (0..3).rev().find(|&pane| cx.state.view.open[pane]).unwrap_or(2))
}

/// Number strong, unit weak.
fn number_label(ui: &mut Ui, text: &str) {
    let t = Tokens::of(ui);
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    let mut job = egui::text::LayoutJob::default();
    job.append(number, 0.0, egui::TextFormat::simple(theme::mono_semibold(12.0), t.strong));
    job.append(&format!(" {unit}"), 0.0, egui::TextFormat::simple(theme::code(), t.weak));
    ui.label(job);
}

fn title_button(ui: &mut Ui, title: &Title, right: f32) -> Response {
    let t = Tokens::of(ui);
    let room = (right - ui.cursor().left()).max(40.0);
    let name = ui.painter().layout_no_wrap(title.name.clone(), theme::title(), t.strong);
    let width = (name.size().x + 20.0).min(room);
    let (rect, response) = ui.allocate_exact_size(vec2(width, 26.0), Sense::click());
    let label = if title.subtitle.is_empty() { title.name.clone() } else { format!("{} · {}", title.name, title.subtitle) };
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &label));
    if response.hovered() {
        ui.painter().rect_filled(rect.expand2(vec2(4.0, 0.0)), theme::RADIUS_CONTROL, t.hover);
    }
    let end = widgets::text_at(ui, rect.left_center(), &title.name, theme::title(), t.strong, (width - 18.0).max(20.0));
    widgets::glyph_at(
        ui,
        pos2(end + 11.0, rect.center().y),
        icons::DOWN,
        theme::icon_font(11.0),
        if response.hovered() { t.text } else { t.weak },
    );
    widgets::focus_ring(ui, &response, theme::RADIUS_CONTROL);
    let rest = right - rect.right() - 8.0;
    let needed = ui.painter().layout_no_wrap(title.subtitle.clone(), theme::small(), t.weak).size().x;
    // A short word is shown whole or not at all; a sentence may be elided.
    if !title.subtitle.is_empty() && rest > needed.min(140.0) {
        widgets::text_at(ui, pos2(rect.right() + 6.0, rect.center().y), &title.subtitle, theme::small(), t.weak, rest);
    }
    response.on_hover_text(label)
}

/// The menu under a pane's title: everything a pane can show.
fn chooser(response: &Response, cx: &Cx<'_>, pane: usize, view: PaneView) {
    Popup::menu(response).width(260.0).show(|ui| {
        let choose = |ui: &mut Ui, shows: PaneView, label: &str, hue: Hue| {
            if menu_row(ui, label, Some(hue.color), shows == view).clicked() {
                cx.send(Action::SetPane { pane, shows });
                ui.close();
            }
        };
        let t = Tokens::of(ui);
        egui::ScrollArea::vertical().max_height(520.0).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            choose(ui, PaneView::Tree, "Payload as a tree", t.hue_structured);
            choose(ui, PaneView::Rendered("content"), "Rendered: text content", t.hue_text);
            choose(ui, PaneView::Rendered("markdown-table"), "Rendered: Markdown table", t.hue_derived);
            menu_heading(ui, "Exact text");
            for format in FORMATS.iter().filter(|format| format.is_as_sent()) {
                choose(ui, PaneView::Text(format.id()), format.title(), t.hue(format.id()));
            }
            menu_heading(ui, "Derived from the payload, not sent by the server");
            for format in FORMATS.iter().filter(|format| !format.is_as_sent()) {
                choose(ui, PaneView::Text(format.id()), format.title(), t.hue(format.id()));
            }
            menu_heading(ui, "What a host's model sees");
            match cx.ready(Question::Hosts) {
                Some(Answer::Hosts(report)) => {
                    for row in &report.rows {
                        choose(ui, PaneView::Host(row.host.id), &row.host.name, t.hue_both);
                    }
                }
                _ => {
                    ui.label(RichText::new("Reading the answer as each host does…").font(theme::small()).color(t.weak));
                }
            }
        });
    });
}

fn menu_heading(ui: &mut Ui, text: &str) {
    let t = Tokens::of(ui);
    ui.add_space(6.0);
    ui.label(RichText::new(text).font(theme::regular(11.5)).color(t.weak));
    ui.add_space(2.0);
}

/// A row of a menu, 28 px, with a swatch.
pub fn menu_row(ui: &mut Ui, label: &str, swatch: Option<Color32>, is_selected: bool) -> Response {
    let t = Tokens::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 28.0), Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::MenuItem, true, is_selected, label));
    if response.hovered() || response.has_focus() {
        ui.painter().rect_filled(rect, theme::RADIUS_BADGE, t.hover);
    }
    let mut x = rect.left() + 8.0;
    if let Some(color) = swatch {
        ui.painter().rect_filled(
            Rect::from_center_size(pos2(x + 4.0, rect.center().y), vec2(8.0, 8.0)),
            theme::RADIUS_BAR,
            color,
        );
        x += 16.0;
    }
    widgets::text_at(
        ui,
        pos2(x, rect.center().y),
        label,
        theme::base(),
        if is_selected { t.strong } else { t.text },
        rect.right() - x - 24.0,
    );
    if is_selected {
        widgets::glyph_at(ui, pos2(rect.right() - 14.0, rect.center().y), icons::CHECK, theme::icon_font(14.0), t.accent);
    }
    response
}

fn copy_button(ui: &mut Ui, cx: &Cx<'_>, view: PaneView, title: &Title) {
    let name = format!("Copy {}", title.name);
    if let PaneView::Host(host) = view {
        if widgets::icon_button(ui, icons::COPY, &name).clicked()
            && let Some(Answer::Hosts(report)) = cx.ready(Question::Hosts)
            && let Some(row) = report.row(host)
        {
            cx.send(Action::Copy(row.view.text.to_string()));
        }
        return;
    }
    // What is copied is always the exact text of the format, rendered or not.
    let format = if view == PaneView::Tree && title.name == "Payload" { "json" } else { title.format };
    let text = if FORMATS.iter().any(|known| known.id() == format) { cx.ready(Question::Text(format)) } else { None };
    let button = Button::new("").icon(icons::COPY).name(&name).tip(&name).frameless().height(theme::ICON_BUTTON);
    match text {
        Some(Answer::Text(text)) => {
            if button.show(ui).clicked() {
                cx.send(Action::Copy(text.text.to_string()));
            }
        }
        _ => {
            button.enabled(false).show(ui);
        }
    }
}

/// Tabs of all panes, for those that have no room or are closed; the rest of the room.
fn strip_ui(ui: &mut Ui, cx: &Cx<'_>, rect: Rect, shown: &[usize], subject: Option<&Subject>) -> Rect {
    let t = Tokens::of(ui);
    let strip = Rect::from_min_size(rect.min, vec2(rect.width(), STRIP));
    ui.painter().hline(strip.x_range(), strip.bottom() - 0.5, Stroke::new(1.0, t.line));
    ui.scope_builder(
        UiBuilder::new().max_rect(strip.shrink2(vec2(12.0, 0.0))).layout(Layout::left_to_right(Align::Center)).id_salt("strip"),
        |ui| {
            ui.spacing_mut().item_spacing.x = 18.0;
            for pane in 0..3 {
                let view = cx.state.view.shows(pane);
                let title = title(cx, view, subject, t);
                let is_open = cx.state.view.open[pane];
                let name = match view {
                    PaneView::Rendered(format) if format != "content" => format!("Rendered {}", format_title(format)),
                    _ => title.name.clone(),
                };
                let response = strip_tab(
                    ui,
                    &name,
                    title.hue,
                    cost(cx, view, &title).map(|(tokens, _)| tokens),
                    shown.contains(&pane),
                    is_open,
                );
                let response = if is_open { response } else { response.on_hover_text("Closed. A click brings it back.") };
                if response.clicked() {
                    if !is_open {
                        cx.send(Action::TogglePane(pane));
                    }
                    cx.send(Action::FocusPane(pane));
                }
            }
            compare::variant_ui(ui, cx);
            if let [pane] = shown
                && cx.state.view.maximised.is_none()
            {
                let view = cx.state.view.shows(*pane);
                let title = title(cx, view, subject, t);
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    ui.spacing_mut().item_spacing.x = 4.0;
                    if widgets::icon_button(ui, icons::MAXIMISE, &format!("Maximise {}", title.name)).clicked() {
                        cx.send(Action::ToggleMaximised(*pane));
                    }
                    copy_button(ui, cx, view, &title);
                    let response = widgets::icon_button(ui, icons::DOWN, "Choose what this pane shows");
                    chooser(&response, cx, *pane, view);
                    if let Some((_, bytes)) = cost(cx, view, &title) {
                        ui.label(RichText::new(widgets::bytes(bytes)).font(theme::code()).color(t.weak));
                    }
                });
            }
        },
    );
    rect.with_min_y(strip.bottom())
}

fn strip_tab(ui: &mut Ui, name: &str, hue: Hue, tokens: Option<Count>, is_shown: bool, is_open: bool) -> Response {
    let t = Tokens::of(ui);
    let font = if is_shown { theme::semibold(13.0) } else { theme::label() };
    let label = ui.painter().layout_no_wrap(name.to_owned(), font.clone(), t.text);
    let count = tokens.map(counted).unwrap_or_default();
    let count_width =
        if count.is_empty() { 0.0 } else { ui.painter().layout_no_wrap(count.clone(), theme::code(), t.weak).size().x + 6.0 };
    let (rect, response) = ui.allocate_exact_size(vec2(16.0 + label.size().x + count_width, STRIP), Sense::click());
    let spoken = tokens.map_or_else(|| name.to_owned(), |tokens| format!("{name}, {}", widgets::count_text(tokens, "tokens")));
    let spoken = if is_open { spoken } else { format!("{spoken}, closed") };
    response.widget_info(|| WidgetInfo::selected(Role::Tab, true, is_shown, &spoken));
    let square = Rect::from_center_size(pos2(rect.left() + 4.0, rect.center().y), vec2(8.0, 8.0));
    if is_open {
        ui.painter().rect_filled(square, theme::RADIUS_BAR, hue.color);
    } else {
        ui.painter().rect_stroke(square, theme::RADIUS_BAR, Stroke::new(1.0, hue.color), egui::StrokeKind::Inside);
    }
    let color = if is_shown || response.hovered() { t.strong } else { t.weak };
    let end = widgets::text_at(ui, pos2(rect.left() + 16.0, rect.center().y), name, font, color, f32::INFINITY);
    if !count.is_empty() {
        widgets::text_at(ui, pos2(end + 6.0, rect.center().y), count, theme::code(), t.weak, f32::INFINITY);
    }
    if is_shown {
        ui.painter().rect_filled(Rect::from_min_max(pos2(rect.left(), rect.bottom() - 2.0), rect.max), 1.0, t.accent);
    }
    widgets::focus_ring(ui, &response, theme::RADIUS_BADGE);
    response
}
