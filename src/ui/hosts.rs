//! The screen of hosts: what becomes of the result in all of them, the hosts as lanes by outcome with one of them in detail;
//! which way of delivering the data loses least for which of them; and what they do not get of the whole server.

mod detail;
mod lanes;
mod placements;
mod server;

use egui::{Rect, Role, Sense, Ui, pos2, vec2};

pub use lanes::{lanes_ui, next_cut, tone};
pub use server::next_host;

use super::theme;
use super::widgets::Button;
use super::{Cx, host_row, icons, strip, widgets};
use crate::state::{Action, HostsAction, HostsTab, QueryState, ViewAction};
use loupe_analysis::contract::losses_markdown;
use loupe_analysis::queries::{
    HostOutcome, HostsQuery, HostsReport, PlacementKind, PlacementsQuery,
};

const SIDE: f32 = 16.0;
/// The width of a host in detail, next to the lanes.
const DETAIL: f32 = 432.0;
/// Below this height of the screen the lanes have the room of the bar.
const LOW: f32 = 480.0;
/// Answers up to this size are looked at in ways that nobody asked for.
pub const UNASKED: usize = 1 << 20;

/// Whether there is room for a host next to the lanes.
fn is_wide(ui: &Ui) -> bool {
    ui.content_rect().width() >= theme::WIDE
}

/// Whether a host replaces the lanes: one goes back to them first.
pub fn is_over(ui: &Ui, cx: &Cx<'_>) -> bool {
    let view = &cx.state.view.hosts;
    view.is_open && view.tab != HostsTab::Placements && !is_wide(ui)
}

/// The tab that is shown: without a result, what there is of the server.
pub fn tab(cx: &Cx<'_>) -> HostsTab {
    match cx.state.capture() {
        Some(_) => cx.state.view.hosts.tab,
        None => HostsTab::Server,
    }
}

pub fn hosts_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let rect = head_ui(ui, cx, cx.state.hosts.len());
    widgets::part(ui, "hosts", rect, |ui| match tab(cx) {
        HostsTab::Result => {
            let asked = cx.ask(HostsQuery);
            if let Some(report) = ready(ui, cx, host_row::READING, asked) {
                body_ui(ui, cx, rect, report);
            }
        }
        HostsTab::Placements => placements::deliveries_ui(ui, cx),
        HostsTab::Server => server::server_ui(ui, cx, rect),
    });
}

/// What the screen shows, if it is there; else why it is not.
fn ready<'a, T>(ui: &mut Ui, cx: &Cx<'_>, what: &str, asked: QueryState<'a, T>) -> Option<&'a T> {
    if let QueryState::Ready(out) = asked {
        return Some(out);
    }
    ui.add_space(24.0);
    ui.horizontal(|ui| {
        ui.add_space(SIDE);
        widgets::ready(ui, cx, what, asked)
    })
    .inner
}

/// The way back, the tabs and what can be copied; what is left.
fn head_ui(ui: &mut Ui, cx: &Cx<'_>, hosts: usize) -> Rect {
    let t = theme::of(ui);
    let rect = ui.available_rect_before_wrap();
    let head = Rect::from_min_size(rect.min, vec2(rect.width(), theme::HEADER));
    ui.painter().rect_filled(head, 0.0, t.panel);
    widgets::line_below(ui, head);
    let inner = head.shrink2(vec2(6.0, 0.0));
    widgets::line_part(ui, "hosts head", inner, |ui| {
        ui.spacing_mut().item_spacing.x = if head.width() < theme::NARROW {
            12.0
        } else {
            20.0
        };
        let back = Button::new("Answer")
            .icon(icons::ARROW_LEFT)
            .shortcut("Esc")
            .frameless()
            .height(theme::ICON_BUTTON);
        if back.tip("Back to the panes").clicked(ui) {
            cx.send(ViewAction::ShowAnswer);
        }
        let hosts = hosts.to_string();
        let ways = PlacementKind::ALL.len().to_string();
        let shown = tab(cx);
        for (tab, title, count) in [
            (HostsTab::Result, "This result", &hosts),
            (HostsTab::Placements, "Placements", &ways),
            (HostsTab::Server, "Whole server", &hosts),
        ] {
            if tab != HostsTab::Server && cx.state.capture().is_none() {
                continue;
            }
            let response = widgets::tab(ui, None, title, Some(count), tab == shown, theme::HEADER);
            if response.clicked() {
                cx.send(HostsAction::Tab(tab));
            }
        }
        widgets::from_right(ui, |ui| {
            let is_copied = if head.width() < theme::NARROW {
                widgets::icon_button(ui, icons::COPY, "Copy summary").clicked()
            } else {
                Button::new("Copy summary")
                    .icon(icons::COPY)
                    .frameless()
                    .height(theme::ICON_BUTTON)
                    .clicked(ui)
            };
            if is_copied {
                cx.send(match (shown, server::report(ui, cx)) {
                    (HostsTab::Server, Some(report)) => {
                        Action::Copy(losses_markdown(&report, cx.state.settings.encoding()))
                    }
                    _ => Action::CopySummary,
                });
            }
            let picture = Button::new(if head.width() < theme::MEDIUM {
                ""
            } else {
                strip::PICTURE
            })
            .name(strip::PICTURE);
            if picture
                .icon(icons::IMAGE)
                .frameless()
                .height(theme::ICON_BUTTON)
                .clicked(ui)
            {
                cx.send(strip::copy_below(ui, head));
            }
        });
    });
    rect.with_min_y(head.bottom())
}

fn body_ui(ui: &mut Ui, cx: &Cx<'_>, rect: Rect, report: &HostsReport) {
    let chosen = cx.state.view.hosts.selected.and_then(|id| report.row(id));
    let selected = chosen.or_else(|| {
        lanes::visible_lanes(ui, cx, report)
            .first()?
            .first()
            .copied()
    });
    let detail_in = |ui: &mut Ui, place: Rect| {
        if let Some(row) = selected {
            widgets::part(ui, "detail", place, |ui| {
                ui.set_clip_rect(place.intersect(ui.clip_rect()));
                detail::detail_ui(ui, cx, place, report, row);
            });
        }
    };
    let Some(left) = beside_ui(ui, cx, rect, detail_in) else {
        return;
    };
    let selected = selected
        .filter(|_| is_wide(ui) || chosen.is_some())
        .map(|row| row.host.id);
    widgets::part(ui, "all hosts", left, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        let inner = left.shrink2(vec2(SIDE, 0.0));
        let used = widgets::part(ui, "headline", inner, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            ui.set_width(inner.width());
            let is_low = rect.height() < LOW;
            ui.add_space(if is_low { 6.0 } else { 14.0 });
            headline_ui(ui, cx, report, if is_low { 15.0 } else { 22.0 });
            ui.add_space(if is_low { 4.0 } else { 12.0 });
            if !is_low {
                bar_ui(ui, cx, report);
                ui.add_space(8.0);
            }
            legend_ui(ui, cx, report);
            ui.add_space(if is_low { 4.0 } else { 10.0 });
            for problem in &report.problems {
                widgets::problem_ui(ui, problem);
                ui.add_space(8.0);
            }
        });
        let list = left.with_min_y(used.response.rect.bottom().ceil());
        widgets::hline(ui, list.x_range(), list.top() + 0.5);
        lanes_ui(
            ui,
            cx,
            list.with_min_y(list.top() + 1.0),
            report,
            selected,
            true,
        );
    });
}

/// Paints one host next to the list of all, or in its place where there is no room for both; the room of the list, if any.
fn beside_ui(
    ui: &mut Ui,
    cx: &Cx<'_>,
    rect: Rect,
    detail_ui: impl FnOnce(&mut Ui, Rect),
) -> Option<Rect> {
    if is_over(ui, cx) {
        let back = Rect::from_min_size(rect.min, vec2(rect.width(), theme::HEADER));
        widgets::line_part(ui, "to all hosts", back.shrink2(vec2(6.0, 0.0)), |ui| {
            let button = Button::new("All hosts")
                .icon(icons::ARROW_LEFT)
                .frameless()
                .height(theme::ICON_BUTTON);
            if button.clicked(ui) {
                cx.send(HostsAction::ShowLanes);
            }
        });
        widgets::hline(ui, rect.x_range(), back.bottom() - 0.5);
        detail_ui(ui, rect.with_min_y(back.bottom()));
        return None;
    }
    let mut left = rect;
    if is_wide(ui) {
        let x = rect.right() - DETAIL.min((rect.width() * 0.4).round());
        widgets::vline(ui, x - 0.5, rect.y_range());
        detail_ui(ui, rect.with_min_x(x));
        left.max.x = x - 1.0;
    }
    Some(left)
}

/// The worst that happens, in how many hosts, and why.
pub fn headline_ui(ui: &mut Ui, cx: &Cx<'_>, report: &HostsReport, size: f32) {
    let t = theme::of(ui);
    let headline = report.headline(cx.state.settings.encoding());
    for (text, font, color) in [
        (&headline.text, theme::semibold(size), t.strong),
        (&headline.why, theme::base(), t.text),
    ] {
        let galley = ui
            .painter()
            .layout(text.clone(), font, color, ui.available_width());
        let (place, response) =
            ui.allocate_exact_size(galley.size() + vec2(0.0, 2.0), Sense::hover());
        ui.painter().galley(place.min, galley, color);
        widgets::say(&response, Role::Heading, text);
    }
}

/// A cell for each host, worst first.
fn bar_ui(ui: &mut Ui, cx: &Cx<'_>, report: &HostsReport) {
    const GAP: f32 = 3.0;
    const BETWEEN: f32 = 8.0;
    let t = theme::of(ui);
    let hosts: Vec<_> = report
        .lanes
        .iter()
        .flat_map(|lane| report.hosts_of(lane))
        .collect();
    let groups = report
        .outcomes()
        .iter()
        .filter(|count| **count > 0)
        .count()
        .max(1) as f32;
    let (rect, response) = widgets::full_width(ui, 12.0, Sense::click());
    let room = rect.width()
        - GAP * hosts.len().saturating_sub(1) as f32
        - (BETWEEN - GAP) * (groups - 1.0);
    let width = (room / hosts.len().max(1) as f32).clamp(2.0, 29.0);
    let mut x = rect.left();
    let mut pointed = None;
    for (at, row) in hosts.iter().enumerate() {
        if at > 0 {
            x += if hosts[at - 1].outcome == row.outcome {
                GAP
            } else {
                BETWEEN
            };
        }
        let cell = Rect::from_min_max(
            pos2(x.round(), rect.top()),
            pos2((x + width).round(), rect.bottom()),
        );
        x += width;
        if row.outcome == HostOutcome::Unknown {
            widgets::outline(ui, cell, theme::RADIUS_BAR, t.weak);
        } else {
            ui.painter()
                .rect_filled(cell, theme::RADIUS_BAR, lanes::tone(t, row.outcome).0);
        }
        if response
            .hover_pos()
            .is_some_and(|pos| cell.x_range().contains(pos.x))
        {
            pointed = Some(*row);
        }
    }
    let counts = HostOutcome::ALL
        .into_iter()
        .zip(report.outcomes())
        .filter(|(_, count)| *count > 0);
    let spoken: Vec<String> = counts
        .map(|(outcome, count)| outcome.count_hosts(count))
        .collect();
    widgets::say(&response, Role::Image, spoken.join(", "));
    widgets::focus_ring(ui, &response, theme::RADIUS_BAR);
    // By the keyboard, the first: it is among the worst.
    if let Some(row) = pointed
        .or(hosts.first().copied())
        .filter(|_| response.clicked())
    {
        cx.send(HostsAction::Show(Some(row.host.id)));
    }
    if let Some(row) = pointed {
        response.on_hover_text(format!("{}: {}", row.host.name, row.happens()));
    }
}

/// How many hosts have each outcome; and a delivery that more of them show whole, where there is one.
fn legend_ui(ui: &mut Ui, cx: &Cx<'_>, report: &HostsReport) {
    let t = theme::of(ui);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 5.0;
        let counts = HostOutcome::ALL
            .into_iter()
            .zip(report.outcomes())
            .filter(|(_, count)| *count > 0);
        for (outcome, count) in counts {
            let (color, icon) = lanes::tone(t, outcome);
            ui.label(icons::icon(icon, 14.0, color));
            widgets::words(ui, outcome.count_hosts(count), theme::small(), color);
            ui.add_space(8.0);
        }
        widgets::from_right(ui, |ui| better_ui(ui, cx, report));
    });
}

fn better_ui(ui: &mut Ui, cx: &Cx<'_>, report: &HostsReport) {
    let is_small = cx
        .state
        .capture()
        .and_then(|capture| capture.response.as_ref())
        .is_some_and(|bytes| bytes.len() <= UNASKED);
    let Some(Some(deliveries)) = is_small.then(|| cx.ready(PlacementsQuery)).flatten() else {
        return;
    };
    let whole = report
        .rows
        .iter()
        .filter(|row| matches!(row.outcome, HostOutcome::All | HostOutcome::Part))
        .count();
    let ranked = deliveries.ranked(cx.state.settings.encoding());
    let Some(best) = ranked.first().filter(|best| best.whole().0 > whole) else {
        return;
    };
    let (best_whole, known) = best.whole();
    let words = format!("Sent another way, {best_whole} of {known} show every fact");
    let width = widgets::text_width(ui, words.clone(), theme::small());
    if width + 60.0 > ui.available_width() {
        return;
    }
    if Button::new("How")
        .name("Compare deliveries")
        .frameless()
        .height(22.0)
        .clicked(ui)
    {
        cx.send(HostsAction::Tab(HostsTab::Placements));
    }
    widgets::note(ui, words);
}
