//! The hosts of a result: the headline over all of them, and their lanes.

use egui::{Rect, Sense, Ui, UiBuilder};

use super::SIDE;
use crate::state::{HostsAction, PaneView, QueryState};
use crate::ui::hosts::{self, UNASKED};
use crate::ui::theme;
use crate::ui::widgets::{self, Button};
use crate::ui::{Cx, host_row, icons};
use loupe_analysis::queries::{HostOutcome, HostsQuery, HostsReport};

/// `28 · 17 show nothing`. Where the tab is not looked at, it waits until the panes have their answers.
pub fn count(cx: &Cx<'_>) -> Option<String> {
    let capture = cx.state.capture()?;
    let is_small = capture
        .response
        .as_ref()
        .is_some_and(|response| response.len() <= UNASKED);
    match cx.state.query_results.get(&capture.id, HostsQuery) {
        Some(QueryState::Ready(report)) => return Some(summary(report)),
        None if cx.state.query_results.working() > 0 || !is_small => {}
        None | Some(QueryState::Working { .. }) => {
            cx.ready(HostsQuery);
        }
        _ => {}
    }
    None
}

fn summary(report: &HostsReport) -> String {
    let worst = HostOutcome::ALL
        .into_iter()
        .zip(report.outcomes())
        .find(|(_, count)| *count > 0);
    match worst {
        Some((outcome, count)) if outcome != HostOutcome::All => {
            format!("{} · {}", report.rows.len(), outcome.count_hosts(count))
        }
        _ => report.rows.len().to_string(),
    }
}

pub fn tools_ui(ui: &mut Ui, cx: &Cx<'_>) {
    if Button::new("All hosts")
        .icon(icons::MAXIMISE)
        .name("Open the full view of hosts")
        .height(theme::ICON_BUTTON)
        .clicked(ui)
    {
        cx.send(HostsAction::Show(None));
    }
}

pub fn summary_ui(ui: &mut Ui, cx: &Cx<'_>, rect: Rect) {
    let asked = cx.ask(HostsQuery);
    if matches!(asked, QueryState::Failed(_)) {
        return;
    }
    widgets::part(ui, "hosts summary", rect, |ui| {
        let Some(report) = widgets::ready(ui, cx, host_row::READING, asked) else {
            return;
        };
        ui.spacing_mut().item_spacing.y = 0.0;
        ui.add_space(3.0);
        hosts::headline_ui(ui, cx, report, 14.0);
    });
}

pub fn hosts_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let outer = ui.available_rect_before_wrap();
    // The drawer keeps its height while there is nothing in it yet.
    ui.allocate_rect(outer, Sense::hover());
    match cx.ask(HostsQuery) {
        QueryState::Ready(report) => {
            let selected = match cx.state.view.shows(1) {
                PaneView::Host(host) => Some(host),
                _ => None,
            };
            hosts::lanes_ui(ui, cx, outer, report, selected, false);
        }
        QueryState::Failed(problem) => {
            ui.scope_builder(UiBuilder::new().max_rect(outer.shrink(SIDE)), |ui| {
                widgets::problem_ui(ui, problem)
            });
        }
        QueryState::Working { .. } | QueryState::NeedsConfirmation { .. } => {}
    }
}
