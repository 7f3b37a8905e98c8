//! The bar at the bottom: the connection, the capture shown, the wire, the way to the shortcuts.

use egui::{Align, Align2, Layout, Response, RichText, Role, Sense, Ui, pos2, vec2};

use super::region::{Region, region};
use super::theme::{self, ThemeTokens};
use super::{Cx, icons, top_bar, widgets};
use crate::state::wire::WireAction;
use crate::state::{Action, Connection, Dialog};

pub fn status_bar_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    let bar = ui.max_rect();
    let is_narrow = bar.width() < theme::MEDIUM;
    let connection = &cx.state.session().connection;
    ui.horizontal_centered(|ui| {
        ui.spacing_mut().item_spacing.x = 12.0;
        ui.add_space(12.0);
        let look = top_bar::connection_look(connection, t);
        let (dot, _) = ui.allocate_exact_size(vec2(8.0, 8.0), Sense::hover());
        top_bar::paint_dot(ui, dot.center(), &look);
        let most = (bar.width() * 0.4).max(120.0);
        ui.scope(|ui| {
            ui.set_max_width(most);
            let label = ui.add(egui::Label::new(weak(&look.words, t)).truncate());
            widgets::announce(ui, label.id);
        });
        if let Some(server) = connection.server() {
            ui.label(weak(&server.heading(), t));
        }
        let message = cx
            .state
            .toasts
            .iter()
            .rev()
            .find(|toast| toast.problem.is_none());
        widgets::from_right(ui, |ui| {
            ui.spacing_mut().item_spacing.x = 12.0;
            ui.add_space(8.0);
            let shortcuts = item(
                ui,
                icons::SHORTCUTS,
                if is_narrow { "" } else { "Shortcuts" },
                "Shortcuts, F1",
                Some("F1"),
            );
            if shortcuts.clicked() {
                cx.send(Action::ShowDialog(Dialog::Shortcuts));
            }
            region(ui, Region::StatusBar, bar, &shortcuts);
            if connection.source().is_some() {
                let lines = connection.stderr().len() as u64 + cx.state.session().stderr_dropped;
                let text = widgets::number_text(lines, "stderr lines");
                if item(ui, icons::STDIO, &text, &text, None)
                    .on_hover_text("What the server wrote to its standard error")
                    .clicked()
                {
                    cx.send(Action::ShowDialog(Dialog::Stderr));
                }
            }
            if let (Connection::Connected { messages, .. }, false) = (connection, is_narrow) {
                let text = widgets::number_text(*messages, "messages");
                if item(ui, icons::MESSAGES, &text, &text, None)
                    .on_hover_text("Messages in both directions. Opens the protocol log.")
                    .clicked()
                {
                    cx.send(WireAction::Show);
                }
            }
            if let Some(capture) = cx.state.capture() {
                let number = cx
                    .state
                    .captures
                    .iter()
                    .position(|other| other.id == capture.id)
                    .map(|at| format!("Capture {}", at + 1));
                let live = cx.state.live.session.as_ref();
                let call = || Some(format!("Call {}", live?.selected? + 1));
                let name = number.or_else(call).unwrap_or_default();
                let time = cx.state.local_time.clock(capture.started_at);
                let time = if is_narrow {
                    String::new()
                } else {
                    format!(" · {time}")
                };
                ui.label(weak(&format!("{name}{time}"), t));
            }
            if let Some((task, _)) = cx.state.background() {
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    widgets::waiting(ui, task.what, task.since, cx);
                    if item(ui, icons::CLOSE, "Cancel", "Cancel", None).clicked() {
                        cx.send(Action::CancelBackground(task.number));
                    }
                });
            // It goes by itself, and covers nothing.
            } else if let Some(message) = message {
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    let text = widgets::styled(&message.text, theme::medium(12.0), t.text);
                    let label = ui.add(egui::Label::new(text).truncate());
                    widgets::announce(ui, label.id);
                });
            }
        });
    });
}

fn weak(text: &str, t: &ThemeTokens) -> RichText {
    widgets::styled(text, theme::regular(12.0), t.weak)
}

fn item(ui: &mut Ui, glyph: &str, text: &str, name: &str, keys: Option<&str>) -> Response {
    let t = theme::of(ui);
    let galley = ui
        .painter()
        .layout_no_wrap(text.to_owned(), theme::regular(12.0), t.weak);
    let cap = keys.map_or(0.0, |keys| {
        widgets::key_cap_width(ui, keys) + if text.is_empty() { 0.0 } else { 6.0 }
    });
    let (rect, response) = ui.allocate_exact_size(
        vec2(galley.size().x + cap + 30.0, theme::STATUS_BAR),
        Sense::click(),
    );
    widgets::say(&response, Role::Button, name);
    if response.hovered() || response.has_focus() {
        ui.painter()
            .rect_filled(rect.shrink2(vec2(0.0, 2.0)), theme::RADIUS_BADGE, t.hover);
    }
    if response.has_focus() {
        let ring = egui::Stroke::new(1.5, t.accent);
        ui.painter().rect_stroke(
            rect.shrink2(vec2(0.0, 2.0)),
            theme::RADIUS_BADGE,
            ring,
            egui::StrokeKind::Inside,
        );
    }
    let y = rect.center().y;
    ui.painter().text(
        pos2(rect.left() + 5.0, y),
        Align2::LEFT_CENTER,
        glyph,
        theme::icon_font(14.0),
        t.weak,
    );
    ui.painter().galley(
        pos2(rect.left() + 25.0, y - galley.size().y / 2.0),
        galley,
        t.weak,
    );
    if let Some(keys) = keys {
        widgets::key_cap_at(ui, pos2(rect.right() - 5.0, y), keys, t.weak, t.line2);
    }
    response
}
