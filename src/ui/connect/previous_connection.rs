//! What became of the connection that was open before: said plainly where connecting elsewhere came to nothing.

use egui::{Label, RichText, Ui};

use super::super::theme::{self, ThemeTokens};
use super::super::widgets::Button;
use super::super::{Cx, icons};
use crate::state::{ConnectAction, Connection};

pub(super) fn closed_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let (Some(closed), Connection::None | Connection::Failed { .. }) =
        (&cx.state.previous_source, &cx.state.session().connection)
    else {
        return;
    };
    let t = ThemeTokens::of(ui);
    let label = closed.label();
    super::card(ui, false, |ui| {
        ui.horizontal(|ui| {
            ui.add(Label::new(icons::icon(icons::DISCONNECT, 16.0, t.warn)));
            let words = format!(
                "Not connected. The connection to {label} was closed when you connected elsewhere."
            );
            ui.add(Label::new(RichText::new(words).font(theme::base()).color(t.text)).wrap());
        });
        let name = format!("Connect to {label} again");
        if Button::new(&name).icon(icons::REFRESH).show(ui).clicked() {
            cx.send(ConnectAction::Connect(Box::new(closed.clone())));
        }
        ui.add(
            Label::new(
                RichText::new(closed.to_string())
                    .font(theme::code())
                    .color(t.weak),
            )
            .truncate(),
        );
    });
    ui.add_space(16.0);
}
