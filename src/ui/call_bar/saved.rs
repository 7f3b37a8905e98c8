//! Arguments that were given a name, and variables: in the menu next to *Call*, and their dialogs.

use egui::{Key, Ui, vec2};

use crate::state::{Action, Dialog, ServersAction};
use crate::ui::theme;
use crate::ui::widgets::title;
use crate::ui::widgets::{self, Button, LineEdit};
use crate::ui::{Cx, icons};

/// Width of a variable's name and value.
const NAME: f32 = 150.0;

pub(super) fn menu_ui(ui: &mut Ui, cx: &Cx<'_>) {
    if !cx.state.can_remember() {
        return;
    }
    ui.separator();
    ui.label(widgets::styled(
        "Arguments",
        theme::regular(11.5),
        theme::of(ui).weak,
    ));
    let item = |ui: &mut Ui, glyph: &str, words: &str, action: Action| {
        if widgets::choose_item(ui, glyph, words, "", true) {
            cx.send(action);
        }
    };
    if let Some(known) = cx.state.tool_arguments() {
        if known.last.as_deref() != cx.state.form().map(|form| &*form.text) && known.last.is_some()
        {
            item(
                ui,
                icons::UNDO,
                "Arguments of the last call",
                ServersAction::UseArguments(None).into(),
            );
        }
        for name in known.named.keys() {
            item(
                ui,
                icons::ARGUMENTS,
                name,
                ServersAction::UseArguments(Some(name.clone())).into(),
            );
        }
    }
    for (glyph, words, action) in [
        (icons::ADD, "Save these arguments…", keep(cx)),
        (icons::CODE, "Variables…", variables(cx)),
    ] {
        action
            .into_iter()
            .for_each(|action| item(ui, glyph, words, action));
    }
}

/// Asks for a name to keep the arguments under.
pub fn keep(cx: &Cx<'_>) -> Option<Action> {
    let can_keep = cx.state.can_remember() && cx.state.form().is_some();
    can_keep.then(|| {
        Action::ShowDialog(Dialog::KeepArguments {
            name: String::new(),
        })
    })
}

/// Opens the variables of the server.
pub fn variables(cx: &Cx<'_>) -> Option<Action> {
    let new = Dialog::Variables {
        name: String::new(),
        value: String::new(),
    };
    cx.state.can_remember().then_some(Action::ShowDialog(new))
}

pub fn keep_ui(ui: &mut Ui, cx: &Cx<'_>, name: &str) {
    let t = theme::of(ui);
    title(ui, cx, "Save these arguments");
    let mut typed = name.to_owned();
    let field = LineEdit {
        name: "Name of the arguments",
        hint: "a name",
        width: ui.available_width(),
        is_secret: false,
    };
    widgets::focus_first(ui, field.id("arguments"));
    if field.show(ui, "arguments", &mut typed) {
        cx.send(Action::ShowDialog(Dialog::KeepArguments {
            name: typed.clone(),
        }));
    }
    widgets::note(
        ui,
        "For this tool of this server. What looks like a secret is not saved.",
    );
    let known = cx
        .state
        .tool_arguments()
        .map(|known| known.named.keys())
        .into_iter()
        .flatten();
    for kept in known {
        ui.horizontal(|ui| {
            widgets::words(ui, kept, theme::mono(12.5), t.text);
            if widgets::icon_button(ui, icons::TRASH, &format!("Forget {kept}")).clicked() {
                cx.send(ServersAction::ForgetArguments(kept.clone()));
            }
        });
    }
    let is_named = !typed.trim().is_empty();
    let is_entered = ui.input(|input| input.key_pressed(Key::Enter));
    widgets::at_right(ui, theme::BUTTON, |ui| {
        let keep = Button::new("Save").primary().enabled(is_named).show(ui);
        let cancel = widgets::button(ui, "Cancel");
        if cancel.clicked() {
            cx.send(Action::CloseDialog);
        } else if keep.clicked() || (is_entered && is_named && !cancel.has_focus()) {
            cx.send(ServersAction::KeepArguments(typed.trim().to_owned()));
            cx.send(Action::CloseDialog);
        }
    });
}

pub fn variables_ui(ui: &mut Ui, cx: &Cx<'_>, name: &str, value: &str, height: f32) {
    let t = theme::of(ui);
    title(ui, cx, "Variables of this server");
    let words = "{{name}} in an argument stands for the value. What looks like a secret is not kept from run to run.";
    widgets::note_wrapped(ui, words);
    let set = |name: &str, value: Option<String>| {
        cx.send(ServersAction::SetVariable {
            name: name.to_owned(),
            value,
        })
    };
    let known = cx
        .state
        .memory()
        .map(|memory| &memory.variables)
        .into_iter()
        .flatten();
    widgets::scroll_within("variables", height).show(ui, |ui| {
        for (known, value) in known {
            ui.horizontal(|ui| {
                ui.allocate_ui(vec2(NAME, theme::INPUT), |ui| {
                    ui.set_min_width(NAME);
                    widgets::truncated(ui, known, theme::mono(12.5), t.strong);
                });
                let mut edited = value.clone();
                let label = format!("Value of {known}");
                let width = ui.available_width() - theme::ICON_BUTTON - 24.0;
                if (LineEdit {
                    name: &label,
                    hint: "",
                    width,
                    is_secret: false,
                })
                .show(ui, "variable", &mut edited)
                {
                    set(known, Some(edited));
                }
                if widgets::icon_button(ui, icons::TRASH, &format!("Remove {known}")).clicked() {
                    set(known, None);
                }
            });
        }
        ui.horizontal(|ui| {
            let (mut new, mut of) = (name.to_owned(), value.to_owned());
            let name_field = LineEdit {
                name: "Name of a new variable",
                hint: "name",
                width: NAME,
                is_secret: false,
            };
            widgets::focus_first(ui, name_field.id("variable"));
            let is_name = name_field.show(ui, "variable", &mut new);
            let width = ui.available_width() - theme::ICON_BUTTON - 24.0;
            let value_field = LineEdit {
                name: "Value of the new variable",
                hint: "value",
                width,
                is_secret: false,
            };
            if value_field.show(ui, "variable", &mut of) || is_name {
                cx.send(Action::ShowDialog(Dialog::Variables {
                    name: new.clone(),
                    value: of.clone(),
                }));
            }
            let is_named = !new.trim().is_empty() && !new.contains(['{', '}']);
            if Button::new("")
                .icon(icons::ADD)
                .name("Add the variable")
                .enabled(is_named)
                .clicked(ui)
            {
                set(new.trim(), Some(of));
                cx.send(Action::ShowDialog(Dialog::Variables {
                    name: String::new(),
                    value: String::new(),
                }));
            }
        });
    });
}
