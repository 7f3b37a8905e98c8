//! The connect screen: one field for whatever names a server, what was found and used at the right.
//!
//! What connecting will run or reach is there in full next to the button that does it; values of variables and headers
//! are never shown.

mod compare_tools;
pub mod doctor;
mod form;
mod import;
pub(super) mod login;
mod paste;
mod previous_connection;
mod protocol;
mod recent;
mod roots_and_sampling;
mod sample;
pub(super) mod wrap;

use egui::{Frame, Label, Margin, Stroke, Ui, vec2};

use super::theme;
use super::{Cx, icons, widgets};
use crate::state::server_diff::ServerDiffAction;
use crate::state::{Action, Connection, Dialog};
use form::{field, form_ui, label, pair};

const WIDTH: f32 = 1200.0;
const SIDE: f32 = 416.0;

pub fn connect_ui(ui: &mut Ui, cx: &Cx<'_>) {
    if is_examined(cx) {
        return doctor::page_ui(ui, cx);
    }
    widgets::scroll("connect").show(ui, |ui| {
        let room = ui.available_width();
        let width = (room - 48.0).clamp(280.0, WIDTH);
        // The sidebar may be next to it.
        let is_wide = room >= 960.0;
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = 0.0;
            ui.add_space(((room - width) / 2.0).max(0.0));
            ui.vertical(|ui| {
                ui.set_width(width);
                ui.spacing_mut().item_spacing = vec2(8.0, 6.0);
                ui.add_space(20.0);
                head_ui(ui, cx);
                ui.add_space(16.0);
                if is_wide {
                    ui.horizontal_top(|ui| {
                        ui.spacing_mut().item_spacing.x = 24.0;
                        ui.vertical(|ui| {
                            ui.spacing_mut().item_spacing.x = 8.0;
                            ui.set_width(width - SIDE - 24.0);
                            progress_ui(ui, cx);
                            left_ui(ui, cx);
                        });
                        ui.vertical(|ui| {
                            ui.spacing_mut().item_spacing.x = 8.0;
                            ui.set_width(SIDE);
                            side_ui(ui, cx);
                        });
                    });
                } else {
                    progress_ui(ui, cx);
                    left_ui(ui, cx);
                    ui.add_space(24.0);
                    side_ui(ui, cx);
                }
                ui.add_space(24.0);
                widgets::note(ui, "Nothing is started or contacted until you click");
                ui.add_space(24.0);
            });
        });
    });
}

fn head_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    let is_choosing = cx.state.server_diff.is_choosing;
    let back = if cx.state.view.capture.is_some() && !is_choosing {
        "Answer"
    } else {
        "Back"
    };
    if widgets::Button::new(back)
        .icon(icons::ARROW_LEFT)
        .small()
        .frameless()
        .tip("Esc")
        .clicked(ui)
    {
        cx.send(if is_choosing {
            Action::ServerDiff(ServerDiffAction::Leave)
        } else {
            cx.state.back()
        });
    }
    if is_choosing {
        compare_tools::head_ui(ui, cx);
        return;
    }
    let open = cx
        .state
        .session()
        .connection
        .source()
        .filter(|_| cx.state.is_adding_server && cx.state.session().connection.is_connected());
    let heading = if open.is_some() {
        "Open another MCP server"
    } else {
        "Connect to an MCP server"
    };
    widgets::words(ui, heading, theme::page_title(), t.strong);
    if let Some(open) = open {
        let words = format!(
            "{} stays open, with its tools and arguments as they are. The menu at the top switches between them.",
            open.label()
        );
        widgets::wrapped(ui, words, theme::regular(14.0), t.weak);
        return;
    }
    if ui.content_rect().height() < theme::SHORT {
        return;
    }
    let words =
        "See what one tool response looks like, and costs, in every format a model might read.";
    widgets::wrapped(ui, words, theme::regular(14.0), t.weak);
}

fn card<R>(ui: &mut Ui, accent: bool, content: impl FnOnce(&mut Ui) -> R) -> R {
    let t = theme::of(ui);
    let line = if accent { t.accent_line } else { t.line };
    Frame::new()
        .fill(t.panel)
        .stroke(Stroke::new(1.0, line))
        .corner_radius(theme::RADIUS_CARD)
        .inner_margin(Margin::same(16))
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            content(ui)
        })
        .inner
}

fn left_ui(ui: &mut Ui, cx: &Cx<'_>) {
    card(ui, false, |ui| {
        paste::paste_ui(ui, cx);
        if import::understood_ui(ui, cx) {
            return;
        }
        form_ui(ui, cx);
    });
    ui.add_space(24.0);
    card(ui, false, |ui| {
        let t = theme::of(ui);
        ui.horizontal(|ui| {
            ui.set_min_height(theme::BUTTON);
            ui.add(Label::new(icons::icon(icons::IMPORT, 16.0, t.weak)));
            widgets::words(ui, compare_tools::file_words(cx), theme::base(), t.weak);
            widgets::at_right(ui, theme::BUTTON, |ui| {
                if widgets::button(ui, "Open file…").clicked() {
                    let tools = Action::ServerDiff(ServerDiffAction::Open(None));
                    cx.send(if cx.state.server_diff.is_choosing {
                        tools
                    } else {
                        Action::OpenPath(None)
                    });
                }
            });
        });
        widgets::note(ui, "It opens without a server");
    });
    ui.add_space(24.0);
    card(ui, false, |ui| sample::sample_ui(ui, cx));
}

/// What is there already: the servers in the configurations of other clients, and those used before.
fn side_ui(ui: &mut Ui, cx: &Cx<'_>) {
    card(ui, false, |ui| import::import_ui(ui, cx));
    ui.add_space(24.0);
    recent::recent_ui(ui, cx);
}

/// Whether a connection is on its way, failed or was lost, so that the doctor has the screen.
fn is_examined(cx: &Cx<'_>) -> bool {
    let is_choosing = cx.state.server_diff.is_choosing;
    !is_choosing
        && match cx.state.session().connection {
            Connection::Connecting { .. }
            | Connection::Failed { .. }
            | Connection::Disconnected { .. } => !cx.state.is_new_source,
            Connection::None | Connection::Connected { .. } => false,
        }
}

/// Where the connection to a server to compare with stands.
fn progress_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    if cx.state.server_diff.is_choosing {
        match &cx.state.server_diff.connection {
            Connection::Connecting {
                source,
                phase,
                since,
                limit,
                stderr,
            } => {
                card(ui, true, |ui| {
                    ui.horizontal(|ui| {
                        widgets::waiting(ui, &format!("Connecting: {phase}"), *since, cx);
                        let limit = format!("of {}", widgets::seconds(*limit));
                        widgets::words(ui, limit, theme::code(), t.weak);
                        widgets::at_right(ui, theme::BUTTON, |ui| {
                            if widgets::Button::new("Cancel")
                                .shortcut("Esc")
                                .name("Cancel connecting")
                                .clicked(ui)
                            {
                                cx.send(Action::ServerDiff(ServerDiffAction::Cancel));
                            }
                        });
                    });
                    widgets::wrapped(ui, source.to_string(), theme::code(), t.weak);
                    stderr_tail(
                        ui,
                        cx,
                        stderr,
                        "The server has written nothing to stderr yet",
                    );
                });
                ui.add_space(16.0);
            }
            Connection::Failed {
                source,
                problem,
                stderr,
            } => {
                widgets::problem_ui(ui, problem);
                if !stderr.is_empty() {
                    card(ui, false, |ui| stderr_tail(ui, cx, stderr, ""));
                }
                compare_tools::retry_ui(ui, cx, source);
                ui.add_space(16.0);
            }
            _ => {}
        }
    }
    previous_connection::closed_ui(ui, cx);
}

fn stderr_tail(ui: &mut Ui, cx: &Cx<'_>, lines: &[String], nothing: &str) {
    let t = theme::of(ui);
    if lines.is_empty() {
        widgets::note(ui, nothing);
        return;
    }
    ui.horizontal(|ui| {
        widgets::words(ui, "stderr", theme::mono(12.0), t.weak);
        if lines.len() > 6
            && widgets::Button::new("Show all")
                .small()
                .frameless()
                .clicked(ui)
        {
            cx.send(Action::ShowDialog(Dialog::Stderr));
        }
    });
    for line in &lines[lines.len().saturating_sub(6)..] {
        widgets::truncated(ui, line, theme::code(), t.text);
    }
}
