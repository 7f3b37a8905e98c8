//! Recording a client's server: the change of its configuration, shown before it is written.

use egui::Ui;

use super::super::{Cx, code, icons, theme, widgets};
use crate::state::{ImportAction, PreparedWrap};
use loupe_core::source::import::ImportedServer;
use loupe_core::source::import::wrap::{WrapKind, is_wrapped};

/// The button that shows the change.
pub(super) fn button_ui(ui: &mut Ui, cx: &Cx<'_>, entry: &ImportedServer) {
    let (label, tip) = if is_wrapped(entry) {
        (
            "Stop recording…",
            "Makes the client start the server itself again",
        )
    } else {
        (
            "Record…",
            "Makes the client start the server through Loupe, which records what they say",
        )
    };
    if widgets::Button::new(label).tip(tip).clicked(ui) {
        cx.send(ImportAction::PrepareWrap);
    }
}

pub(in crate::ui) fn dialog_ui(ui: &mut Ui, cx: &Cx<'_>, prepared: &PreparedWrap, height: f32) {
    let (title, what) = match prepared.kind {
        WrapKind::Wrap => (
            "Record",
            "The client starts the server through Loupe, which records what they say.",
        ),
        WrapKind::Unwrap => (
            "Stop recording",
            "The client starts the server itself again.",
        ),
    };
    widgets::title(ui, cx, &format!("{title} {}", prepared.server));
    widgets::paragraph(ui, &format!("{what} This changes its configuration:"));
    code::code_ui(
        ui,
        "wrap",
        &prepared.difference,
        (height - 120.0).clamp(60.0, 320.0),
    );
    let backup = prepared.backup.display();
    widgets::note_wrapped(
        ui,
        format!("The file as it is now is kept as {backup}. Restart the client afterwards."),
    );
    for note in &prepared.notes {
        widgets::note_wrapped(ui, note);
    }
    widgets::at_right(ui, theme::BUTTON, |ui| {
        if widgets::Button::new("Write")
            .icon(icons::CHECK)
            .name("Write the configuration")
            .primary()
            .clicked(ui)
        {
            cx.send(ImportAction::Wrap);
        }
        widgets::cancel(ui, cx);
    });
}
