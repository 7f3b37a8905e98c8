//! What became of the connection that was open before: said plainly where connecting elsewhere came to nothing.

use egui::{Label, Ui};

use super::super::theme;
use super::super::widgets::{self, Button};
use super::super::{Cx, icons};
use crate::state::{ConnectAction, Connection};

pub fn closed_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let (Some(closed), Connection::None | Connection::Failed { .. }) =
        (&cx.state.previous_source, &cx.state.session().connection)
    else {
        return;
    };
    let t = theme::of(ui);
    let label = closed.label();
    super::card(ui, false, |ui| {
        ui.horizontal(|ui| {
            ui.add(Label::new(icons::icon(icons::DISCONNECT, 16.0, t.warn)));
            let words = format!(
                "Not connected. The connection to {label} was closed when you connected elsewhere."
            );
            widgets::wrapped(ui, words, theme::base(), t.text);
        });
        let name = format!("Connect to {label} again");
        if Button::new(&name).icon(icons::REFRESH).clicked(ui) {
            cx.send(ConnectAction::Connect(Box::new(closed.clone())));
        }
        widgets::truncated(ui, closed.to_string(), theme::code(), t.weak);
    });
    ui.add_space(16.0);
}
