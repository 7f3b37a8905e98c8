//! Asks why a rule is to say nothing of a tool any more, and shows the file that will say so.

use egui::{Key, Ui};

use crate::state::{Action, Dialog, FindingsAction};
use crate::ui::Cx;
use crate::ui::theme;
use crate::ui::widgets::{self, Button, LineEdit};
use loupe_analysis::finding::ToolSilence;

pub fn silence_ui(ui: &mut Ui, cx: &Cx<'_>, silence: &ToolSilence) {
    let t = theme::of(ui);
    let Some(file) = cx.state.rules_file() else {
        return;
    };
    widgets::title(ui, cx, "Silence for this tool");
    let ToolSilence { rule, tool, reason } = silence;
    widgets::wrapped(ui, format!("{rule} · {tool}"), theme::mono(12.5), t.text);
    let mut typed = reason.clone();
    let field = LineEdit {
        name: "Reason",
        hint: "why it is not a fault here",
        width: ui.available_width(),
        is_secret: false,
    };
    widgets::focus_first(ui, field.id("reason"));
    if field.show(ui, "reason", &mut typed) {
        cx.send(Action::ShowDialog(Dialog::Silence(ToolSilence {
            reason: typed.clone(),
            ..silence.clone()
        })));
    }
    let is_known = cx.state.view.findings.file.is_some();
    let verb = if is_known {
        "Added at the end of"
    } else {
        "Written to a new file,"
    };
    let words = format!(
        "{verb} {}. The command line and CI follow it as well.",
        file.display()
    );
    widgets::note_wrapped(ui, words);
    let is_given = !typed.trim().is_empty();
    let is_entered = ui.input(|input| input.key_pressed(Key::Enter));
    widgets::at_right(ui, theme::BUTTON, |ui| {
        let confirm = Button::new("Silence").primary().enabled(is_given).show(ui);
        let cancel = widgets::button(ui, "Cancel");
        if cancel.clicked() {
            cx.send(Action::CloseDialog);
        } else if confirm.clicked() || (is_entered && is_given && !cancel.has_focus()) {
            cx.send(FindingsAction::Silence(ToolSilence {
                reason: typed.trim().to_owned(),
                ..silence.clone()
            }));
        }
    });
}
