//! Which two texts a diff compares: formats of the results, or what hosts' models are shown of them.

use egui::{Popup, Ui};

use super::act;
use crate::state::QueryState;
use crate::state::diff::DiffAction;
use crate::ui::Cx;
use crate::ui::theme;
use crate::ui::widgets::{self, Button};
use loupe_analysis::queries::{HostsQuery, HostsReport, TextOf};
use loupe_core::format::FORMATS;
use loupe_core::format::format_title;

/// The name of a text for people.
fn text_title(cx: &Cx<'_>, of: TextOf) -> String {
    match of {
        TextOf::Format(id) => format_title(id).to_owned(),
        TextOf::Host(id) => hosts_of(cx)
            .and_then(|report| report.row(id))
            .map_or_else(|| id.to_string(), |row| row.host.name.clone()),
    }
}

/// The format whose colour a text has.
pub fn hue_of(of: TextOf) -> &'static str {
    match of {
        TextOf::Format(id) => id,
        TextOf::Host(_) => "wire",
    }
}

/// The hosts of side A, for their names.
fn hosts_of<'a>(cx: &Cx<'a>) -> Option<&'a HostsReport> {
    let (a, _) = cx.state.diff.sides.as_ref()?;
    match cx.ask_of(std::slice::from_ref(a), HostsQuery) {
        QueryState::Ready(report) => Some(report),
        _ => None,
    }
}

/// The two texts that are compared, each with a menu of formats and hosts.
pub fn formats_ui(ui: &mut Ui, cx: &Cx<'_>, room: f32) {
    let (a, b) = cx.state.diff.ask.texts;
    let t = theme::of(ui);
    let menu = |ui: &mut Ui, name: &str, chosen: TextOf, choose: &dyn Fn(TextOf) -> DiffAction| {
        let label = format!("{name} {}", text_title(cx, chosen));
        let shown = if room > 260.0 { label.as_str() } else { name };
        let spoken = format!("Text of {label}");
        let tip = "Which format of the answer, or which host's view of it, is compared";
        let response = Button::new(shown)
            .name(&spoken)
            .tip(tip)
            .menu()
            .frameless()
            .small()
            .show(ui);
        Popup::menu(&response).width(260.0).show(|ui| {
            egui::ScrollArea::vertical()
                .max_height(420.0)
                .show(ui, |ui| {
                    ui.spacing_mut().item_spacing.y = 0.0;
                    for format in FORMATS {
                        let of = TextOf::Format(format.id());
                        if widgets::choose_row(
                            ui,
                            format.title(),
                            Some(t.hue(format.id()).color),
                            of == chosen,
                        ) {
                            act(cx, choose(of));
                        }
                    }
                    let Some(report) = hosts_of(cx) else { return };
                    ui.add_space(4.0);
                    widgets::note(ui, "What a host's model is shown");
                    for row in &report.rows {
                        let of = TextOf::Host(row.host.id);
                        if widgets::choose_row(ui, &row.host.name, None, of == chosen) {
                            act(cx, choose(of));
                        }
                    }
                });
        });
    };
    menu(ui, "A", a, &|a| DiffAction::SetTexts(a, b));
    menu(ui, "B", b, &|b| DiffAction::SetTexts(a, b));
}
