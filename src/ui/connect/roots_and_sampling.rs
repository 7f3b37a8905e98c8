//! What a server may ask of us, said before it is reached: folders, and a result to requests for completions.

use egui::Ui;

use super::{label, pair};
use crate::state::SettingsAction;
use crate::ui::theme;
use crate::ui::widgets::{self, Button};
use crate::ui::{Cx, icons, server_requests};

pub(super) fn answers_ui(ui: &mut Ui, cx: &Cx<'_>) {
    ui.label(widgets::styled(
        "Server requests",
        theme::semibold(13.0),
        theme::of(ui).strong,
    ));
    pair(
        ui,
        0.4,
        |ui, _| {
            label(ui, "Roots");
            let words = match cx.state.roots.as_deref() {
                None => "Not declared".to_owned(),
                Some(folders) => widgets::number_text(folders.len() as u64, "folders"),
            };
            let name = format!("Roots: {words}");
            let tip = "The folders that servers are told about; some then allow nothing else";
            if Button::new(&words)
                .icon(icons::OPEN_FILE)
                .height(theme::INPUT)
                .name(&name)
                .tip(tip)
                .clicked(ui)
            {
                cx.send(server_requests::roots_dialog(cx));
            }
        },
        |ui, width| {
            label(ui, "Answer to requests for a completion (sampling)");
            let mut text = cx.state.sampling_reply.clone().unwrap_or_default();
            let line = widgets::LineEdit {
                name: "Sampling reply",
                hint: "you are asked each time",
                width,
                is_secret: false,
            };
            if line.show(ui, "connect", &mut text) {
                cx.send(SettingsAction::SetSamplingReply(
                    (!text.is_empty()).then_some(text),
                ));
            }
        },
    );
    if cx.state.sampling_reply.is_some() {
        let words = "Every request of a server for a completion gets this answer at once, until the field is empty.";
        ui.label(widgets::styled(words, theme::small(), theme::of(ui).warn));
    }
}
