//! The menu of hosts to view the result as.

use egui::{Response, ScrollArea, Ui};

use super::{Cx, host_row, icons, theme, widgets};
use crate::state::HostsAction;
use loupe_analysis::queries::HostsQuery;
use loupe_core::host::ResultPart;

/// The choice of what the largest number of hosts show.
pub const MOST_HOSTS: &str = "What most hosts show";

/// The menu of hosts to view the result as, at the end of the row of panes.
pub fn view_as_ui(ui: &mut Ui, cx: &Cx<'_>, is_narrow: bool) {
    let chosen = cx.state.view.hosts.view_as;
    let known = chosen.and_then(|id| match cx.ready(HostsQuery) {
        Some(report) => report.row(id).map(|row| row.host.name.clone()),
        _ => None,
    });
    let label =
        known.unwrap_or_else(|| chosen.map_or_else(|| "As sent".to_owned(), |id| id.to_string()));
    let tip = format!(
        "View as: {label}. What the host drops turns weak on amber, and what it sends counts as sent."
    );
    // In a narrow pane the name would push out the pane's own.
    let shown = match (chosen, is_narrow) {
        (_, true) if ui.max_rect().width() < 360.0 => String::new(),
        (None, true) => "As sent".to_owned(),
        (None, false) => "View as: sent".to_owned(),
        (Some(_), true) => "As a host".to_owned(),
        (Some(_), false) => format!("View as: {label}"),
    };
    let button = widgets::Button::new(&shown);
    let button = if shown.is_empty() {
        button.icon(icons::HOSTS)
    } else {
        button
    };
    let button = button
        .menu()
        .height(theme::ICON_BUTTON)
        .name("View as")
        .key("view as")
        .tip(&tip)
        .show(ui);
    view_as_menu(&button, cx);
}

/// The hosts that one can view the result as, below this button.
pub fn view_as_menu(button: &Response, cx: &Cx<'_>) {
    let chosen = cx.state.view.hosts.view_as;
    egui::Popup::menu(button).width(280.0).show(|ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        let part = cx.state.view.hosts.reads;
        let parts = ResultPart::ALL
            .into_iter()
            .map(|part| (Some(part), part.title()));
        for (own, name) in std::iter::once((None, MOST_HOSTS)).chain(parts) {
            if widgets::choose_row(ui, name, None, chosen.is_none() && own == part) {
                cx.send(HostsAction::Read(own));
            }
        }
        let Some(report) = widgets::ready(ui, cx, host_row::READING, cx.ask(HostsQuery)) else {
            return;
        };
        ScrollArea::vertical().max_height(420.0).show(ui, |ui| {
            for row in host_row::first(report.by_name(), |row| {
                host_row::is_first(row, &cx.state.view.hosts)
            }) {
                if widgets::choose_row(ui, &row.host.name, None, chosen == Some(row.host.id)) {
                    cx.send(HostsAction::ViewAs(Some(row.host.id)));
                }
            }
        });
    });
}
