//! The frame around each pane, and how panes share the room: three next to each other, two, or one, with tabs for the rest.

use egui::{CursorIcon, Popup, Rect, Role, Sense, Stroke, Ui, UiBuilder, pos2, vec2};

use super::header::header_ui;
use super::strip::strip_ui;
use super::title::pane_title;
use super::{PaneCx, kind};
use crate::state::{PaneView, ViewAction};
use crate::ui::theme;
use crate::ui::widgets;
use crate::ui::{Cx, diff, error_card, sizes};
use loupe_analysis::queries::{ParsedCaptureQuery, TreeQuery};
use loupe_core::format::ParsedCapture;

const MIN_PANE: f32 = 300.0;
const SHARES: [f32; 3] = [0.31, 0.36, 0.33];

/// All panes, in the room that is left.
pub fn panes_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    let mut rect = ui.available_rect_before_wrap();
    ui.allocate_rect(rect, Sense::hover());
    ui.painter().rect_filled(rect, 0.0, t.panel);
    let subject = cx.ready(ParsedCaptureQuery).map(|subject| &**subject);
    if let Some(running) = cx.state.running.as_ref() {
        let elapsed = cx.state.now.saturating_sub(running.since).as_secs_f32();
        progress_bar(
            ui,
            rect,
            (!cx.state.settings.reduce_motion).then_some(elapsed),
        );
    }
    let Some(capture) = cx.state.capture() else {
        ui.scope_builder(UiBuilder::new().max_rect(rect), |ui| {
            match &cx.state.running {
                Some(running) => {
                    ui.add_space(24.0);
                    ui.horizontal(|ui| {
                        ui.add_space(16.0);
                        widgets::waiting(
                            ui,
                            &format!("Calling {}", running.tool),
                            running.since,
                            cx,
                        );
                    });
                }
                None => {
                    widgets::empty_ui(ui, "No answer yet. Choose a tool and call it.", None);
                }
            }
        });
        return;
    };
    if let Some(height) = diff::again_strip(ui, cx, rect) {
        rect.min.y += height;
    }
    // Where nothing came, the card above says all of it.
    if capture.response.is_none() {
        return;
    }

    rect = super::host::view_as_strip(ui, cx, rect);
    rect = super::format_problems::breaks_strip(ui, cx, rect);
    let is_open = |pane: &usize| cx.state.view.open[*pane];
    let focus = cx.state.view.focus.min(2);
    let mut open: Vec<usize> = (0..3).filter(is_open).collect();
    // The data of an error is compared with nothing: its pane opens when it is asked for.
    let is_data = |pane: &usize| cx.state.view.shows(*pane) == PaneView::Tree && *pane != focus;
    if error_card::is_error(cx) && open.iter().any(|pane| !is_data(pane)) {
        open.retain(|pane| !is_data(pane));
    }
    if open.is_empty() {
        let rect = strip_ui(ui, cx, rect, &[], subject);
        ui.scope_builder(UiBuilder::new().max_rect(rect), |ui| {
            widgets::empty_ui(ui, "No open panes. Reopen one from a tab", None)
        });
        return;
    }
    let room = rect.width();
    let window = ui.content_rect().width();
    let most = if window > theme::WIDE {
        (room / MIN_PANE) as usize
    } else {
        ((room / MIN_PANE) as usize).min(2)
    };
    let shown: Vec<usize> = match cx.state.view.maximised {
        Some(pane) => vec![pane.min(2)],
        None if open.len() <= most.max(1) => open.clone(),
        None if most >= 2 => pair(&open, focus),
        None => vec![if open.contains(&focus) {
            focus
        } else {
            open[0]
        }],
    };
    // Data that was read from the text is there as soon as the result is parsed, whatever stands before it.
    if shown
        .iter()
        .any(|pane| cx.state.view.shows(*pane) == PaneView::Tree)
    {
        cx.ask(TreeQuery);
    }
    // Where two have room, the others leave chips in the last header instead of a row of tabs.
    let needs_strip = cx.state.view.maximised.is_none() && most < 2;
    let others: Vec<usize> = (0..3).filter(|pane| !shown.contains(pane)).collect();
    if needs_strip {
        rect = strip_ui(ui, cx, rect, &shown, subject);
    }
    rect = super::find::search_ui(ui, cx, rect, &open, subject);
    let shares_id = sizes::shares_id();
    let kept = cx
        .state
        .settings
        .panels
        .panes
        .map(|shares| shares.map(f32::from));
    let mut shares: [f32; 3] = widgets::recall(ui, shares_id).or(kept).unwrap_or(SHARES);
    let before = shares;
    let sum: f32 = shown.iter().map(|&pane| shares[pane]).sum();
    let mut x = rect.left();
    let mut separators = Vec::with_capacity(2);
    for (position, &pane) in shown.iter().enumerate() {
        let is_last = position + 1 == shown.len();
        let width = if is_last {
            rect.right() - x
        } else {
            (rect.width() * shares[pane] / sum)
                .max(MIN_PANE.min(rect.width() / shown.len() as f32))
                .round()
        };
        let pane_rect = Rect::from_min_max(
            pos2(x, rect.top()),
            pos2((x + width).min(rect.right()), rect.bottom()),
        );
        widgets::part(ui, ("pane", pane), pane_rect, |ui| {
            ui.set_clip_rect(pane_rect.intersect(ui.clip_rect()));
            let others = if cx.state.view.maximised.is_none() {
                others.as_slice()
            } else {
                &[]
            };
            pane_ui(
                ui,
                cx,
                pane,
                pane_rect,
                subject,
                (!needs_strip).then_some(is_last.then_some(others)),
            );
        });
        x += width;
        if let Some(&next) = shown.get(position + 1) {
            separators.push((x, (pane, next)));
        }
    }
    // Above the panes, which would take the half of it that is theirs.
    for (x, panes) in separators {
        separator(ui, rect, x, &mut shares, panes, sum);
    }
    sizes::keep_shares(ui, cx, shares_id, before, shares);
}

/// Which two panes are next to each other: the focused one and its neighbour.
fn pair(open: &[usize], focus: usize) -> Vec<usize> {
    let at = open.iter().position(|&pane| pane == focus).unwrap_or(0);
    let first = at.min(open.len().saturating_sub(2));
    open[first..(first + 2).min(open.len())].to_vec()
}

/// A separator that can be dragged; a double click evens the panes.
fn separator(ui: &Ui, rect: Rect, x: f32, shares: &mut [f32; 3], panes: (usize, usize), sum: f32) {
    let t = theme::of(ui);
    let area = Rect::from_x_y_ranges(x - 3.0..=x + 3.0, rect.y_range());
    let response = widgets::sense(ui, area, ("separator", panes), Sense::click_and_drag())
        .on_hover_cursor(CursorIcon::ResizeColumn);
    widgets::say(&response, Role::Splitter, "Resize panes");
    let is_active = response.hovered() || response.dragged();
    widgets::focus_ring_inside(ui, &response);
    ui.painter().vline(
        x - 0.5,
        rect.y_range(),
        Stroke::new(1.0, if is_active { t.accent } else { t.line }),
    );
    if response.double_clicked() {
        *shares = [1.0 / 3.0; 3];
    } else if response.dragged() {
        let least = MIN_PANE / rect.width() * sum;
        let moved = response.drag_delta().x / rect.width() * sum;
        let moved = moved.clamp(
            (least - shares[panes.0]).min(0.0),
            (shares[panes.1] - least).max(0.0),
        );
        shares[panes.0] += moved;
        shares[panes.1] -= moved;
    }
}

/// A thin bar that moves while a call runs, unless motion is reduced; the old result stays in sight under it.
fn progress_bar(ui: &Ui, rect: Rect, elapsed: Option<f32>) {
    let t = theme::of(ui);
    let width = rect.width() * 0.2;
    let left =
        rect.left() + (rect.width() + width) * (elapsed.unwrap_or(1.0) * 0.5).fract() - width;
    let bar = Rect::from_min_size(pos2(left, rect.top()), vec2(width, 2.0)).intersect(rect);
    ui.painter().rect_filled(bar, 0.0, t.accent);
    if elapsed.is_some() {
        ui.request_repaint_after(widgets::MOVES_AFTER);
    }
}

/// One pane; `header` is `None` where tabs are in its place, and in the last pane holds those that are not shown.
fn pane_ui(
    ui: &mut Ui,
    cx: &Cx<'_>,
    pane: usize,
    rect: Rect,
    subject: Option<&ParsedCapture>,
    header: Option<Option<&[usize]>>,
) {
    let t = theme::of(ui);
    let view = cx.state.view.shows(pane);
    let is_focused = cx.state.view.focus == pane;
    let title = pane_title(cx, view, subject, t);
    let mut top = rect.top();
    if let Some(others) = header {
        let header = Rect::from_min_size(rect.min, vec2(rect.width(), theme::HEADER));
        let name_of = |pane| {
            (
                pane,
                pane_title(cx, cx.state.view.shows(pane), subject, t).name,
            )
        };
        header_ui(
            ui,
            cx,
            pane,
            header,
            &title,
            view,
            others.map(|others| others.iter().map(|&pane| name_of(pane)).collect()),
        );
        widgets::hline(ui, rect.x_range(), header.bottom() - 0.5);
        top = header.bottom();
    }
    let footer = Rect::from_min_max(pos2(rect.left(), rect.bottom() - theme::FOOTER), rect.max);
    widgets::hline(ui, rect.x_range(), footer.top() - 0.5);
    let mut body = Rect::from_min_max(
        pos2(rect.left(), top),
        pos2(rect.right(), footer.top() - 1.0),
    );
    if view == PaneView::Tree {
        body = super::reader_menu::reading_ui(ui, cx, body, subject);
    }
    let (kind, pane_cx) = (kind(view), PaneCx::new(cx, pane));
    widgets::part(ui, "body", body, |ui| {
        ui.set_clip_rect(body.intersect(ui.clip_rect()));
        let is_dropped = super::host::is_dropped(cx, view);
        if is_dropped {
            ui.painter().rect_filled(body, 0.0, t.warn_bg);
        }
        (kind.body)(ui, cx, &pane_cx);
        if is_dropped {
            super::host::not_shown_at(ui, body.right_top() + vec2(-14.0, 16.0));
        }
    });
    widgets::line_part(ui, "footer", footer.shrink2(vec2(12.0, 0.0)), |ui| {
        ui.spacing_mut().item_spacing.x = 12.0;
        (kind.footer)(ui, cx, &pane_cx);
    });
    // A press anywhere in a pane gives it the keys.
    if !is_focused
        && ui.input(|input| {
            input.pointer.any_pressed()
                && input
                    .pointer
                    .interact_pos()
                    .is_some_and(|at| rect.contains(at))
        })
        && !Popup::is_any_open(ui)
    {
        cx.send(ViewAction::FocusPane(pane));
    }
}
