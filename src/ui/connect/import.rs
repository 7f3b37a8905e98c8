//! Import: the clients' configurations on this computer, and what was understood of one, before anything starts.

use egui::{Label, Ui};

use super::super::theme;
use super::super::widgets::{self, Tone};
use super::super::{Cx, icons};
use super::{form, wrap};
use crate::state::{Action, ConnectAction, ImportAction, ImportGuess};
use loupe_core::source::Source;
use loupe_core::source::import::Placeholder;

/// Width from which on heading and buttons are in one row.
const ONE_ROW: f32 = 560.0;

fn send(cx: &Cx<'_>, action: ImportAction) {
    cx.send(Action::Import(action));
}

pub(super) fn import_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    let is_narrow = ui.available_width() < ONE_ROW;
    ui.horizontal(|ui| {
        ui.add(Label::new(icons::icon(icons::IMPORT, 16.0, t.weak)));
        widgets::words(
            ui,
            "Found on this computer",
            theme::semibold(13.0),
            t.strong,
        );
        if !is_narrow {
            widgets::at_right(ui, theme::BUTTON, |ui| ways_ui(ui, cx));
        }
    });
    if is_narrow {
        ui.horizontal(|ui| ways_ui(ui, cx));
    }
    match &cx.state.importing.found {
        None => {
            let words = "Looks for the configurations of Claude, VS Code, Cursor, Codex, Gemini and others. Files are only read, and nothing is started.";
            widgets::note_wrapped(ui, words);
        }
        Some(found) if found.is_empty() => {
            let words = "No client configuration found. Choose the file, or paste its text above.";
            widgets::wrapped(ui, words, theme::small(), t.text);
        }
        Some(found) => {
            for config in found {
                let path = config.path.display().to_string();
                ui.horizontal(|ui| {
                    if widgets::Button::new(&config.client)
                        .small()
                        .name(&format!("Import from {}", config.client))
                        .clicked(ui)
                    {
                        send(cx, ImportAction::Read(config.path.clone()));
                    }
                    widgets::truncated(ui, path, theme::code(), t.weak);
                });
            }
        }
    }
}

/// Where the configurations come from.
fn ways_ui(ui: &mut Ui, cx: &Cx<'_>) {
    if widgets::Button::new("Choose a file…")
        .name("Import a configuration file")
        .clicked(ui)
    {
        send(cx, ImportAction::Browse);
    }
    let looked = cx.state.importing.found.is_some();
    let name = if looked {
        "Look again"
    } else {
        "Search this computer"
    };
    if widgets::Button::new(name).icon(icons::SEARCH).clicked(ui) {
        send(cx, ImportAction::Look);
    }
}

/// What was understood, with what is still missing; false where there is nothing.
pub(super) fn understood_ui(ui: &mut Ui, cx: &Cx<'_>) -> bool {
    let Some(understood) = &cx.state.importing.understood else {
        return false;
    };
    let t = theme::of(ui);
    ui.horizontal(|ui| {
        ui.add(Label::new(icons::icon(icons::CHECK_CIRCLE, 16.0, t.weak)));
        widgets::truncated(
            ui,
            format!("Understood: {}", understood.what),
            theme::semibold(13.0),
            t.strong,
        );
        widgets::at_right(ui, theme::ICON_BUTTON, |ui| {
            if widgets::icon_button(ui, icons::CLOSE, "Close the import").clicked() {
                send(cx, ImportAction::Close);
            }
        });
    });
    for note in &understood.import.notes {
        widgets::note_wrapped(ui, note);
    }
    if understood.import.servers.len() != 1 {
        for (at, entry) in understood.import.servers.iter().enumerate() {
            let label = if entry.disabled {
                format!("{} (off)", entry.name)
            } else {
                entry.name.clone()
            };
            ui.horizontal(|ui| {
                let is_chosen = understood.chosen == Some(at);
                let name = format!("Show the server {label}");
                let button = widgets::Button::new(&label).small().name(&name);
                let button = if is_chosen {
                    button.icon(icons::CHECK)
                } else {
                    button
                };
                if button.clicked(ui) {
                    send(cx, ImportAction::Choose(at));
                }
                widgets::truncated(ui, entry.to_string(), theme::code(), t.weak);
            });
        }
    }
    chosen_ui(ui, cx, understood);
    true
}

fn chosen_ui(ui: &mut Ui, cx: &Cx<'_>, understood: &ImportGuess) {
    let t = theme::of(ui);
    let Some(entry) = understood.entry() else {
        widgets::note(ui, "Choose a server");
        return;
    };
    ui.add_space(6.0);
    ui.add(
        Label::new(widgets::styled(
            entry.to_string(),
            theme::mono(12.5),
            t.strong,
        ))
        .wrap()
        .selectable(true),
    );
    if entry.disabled {
        widgets::badge(
            ui,
            Some(icons::WARNING),
            "Disabled in the file",
            Tone::Warn,
            false,
        );
    }
    for note in &entry.notes {
        widgets::note_wrapped(ui, note);
    }
    let secrets = entry.secrets();
    if !secrets.is_empty() {
        let from = if understood.path.is_some() {
            "; they stay in the file, and are read from it again next time"
        } else {
            ""
        };
        let words = format!(
            "Secret: {}. Values do not show and are not kept{from}.",
            secrets.join(", ")
        );
        widgets::wrapped(ui, words, theme::small(), t.text);
    }
    for placeholder in entry.placeholders() {
        placeholder_ui(ui, cx, understood, &placeholder);
    }
    ui.add_space(6.0);
    let source = understood.source();
    if let Ok(source) = &source {
        let words = match source {
            Source::Command(_) => "Connecting runs this command on your computer, as you.",
            _ => "Connecting sends requests to this address.",
        };
        widgets::wrapped(ui, words, theme::small(), t.text);
    }
    ui.add_space(4.0);
    widgets::at_right(ui, theme::BUTTON, |ui| {
        let why = source.as_ref().err().map(|problem| problem.what.clone());
        let connect = widgets::Button::new("Connect")
            .icon_fill(icons::PLUG)
            .shortcut("↵")
            .primary()
            .enabled(why.is_none());
        let edit = widgets::Button::new("Edit").enabled(why.is_none());
        let tip = why.as_deref();
        if connect
            .tip(tip.unwrap_or("Connects to exactly what is shown above"))
            .clicked(ui)
        {
            cx.send(ConnectAction::UseForm);
        }
        if edit
            .tip(tip.unwrap_or("Puts it into the fields, to edit before connecting"))
            .clicked(ui)
        {
            form::open_fields(ui);
            send(cx, ImportAction::Use);
        }
        if understood.path.is_some() {
            wrap::button_ui(ui, cx, entry);
        }
    });
    if let Err(problem) = &source {
        widgets::wrapped(ui, &problem.what, theme::small(), t.bad);
    }
}

/// The field of one placeholder; of a secret what is typed does not show.
fn placeholder_ui(ui: &mut Ui, cx: &Cx<'_>, understood: &ImportGuess, placeholder: &Placeholder) {
    let name = placeholder.to_string();
    let input = understood.entry().and_then(|entry| {
        entry
            .inputs
            .iter()
            .find(|input| Some(input.id.as_str()) == placeholder.name())
    });
    let about = input
        .map(|input| input.about.as_str())
        .filter(|about| !about.is_empty());
    widgets::note(
        ui,
        about.map_or_else(|| name.clone(), |about| format!("{name}: {about}")),
    );
    let mut value = understood.values.get(&name).cloned().unwrap_or_default();
    let default = input
        .and_then(|input| input.default.clone())
        .or_else(|| match placeholder {
            Placeholder::Variable { default, .. } => default.clone(),
            _ => None,
        });
    let is_secret = understood.is_secret(placeholder);
    let hint = match default.filter(|_| !is_secret) {
        Some(default) => format!("{default} (default)"),
        None if is_secret => "kept secret".to_owned(),
        None => String::new(),
    };
    let width = ui.available_width();
    let named = format!("Value of {name}");
    let line = widgets::LineEdit {
        name: &named,
        hint: &hint,
        width,
        is_secret,
    };
    if line.show(ui, "import value", &mut value) {
        send(
            cx,
            ImportAction::SetValue {
                placeholder: name.clone(),
                value,
            },
        );
    }
    if let Some(options) = input
        .map(|input| &input.options)
        .filter(|options| !options.is_empty())
    {
        ui.horizontal_wrapped(|ui| {
            for option in options {
                if widgets::Button::new(option)
                    .small()
                    .name(&format!("{name}: {option}"))
                    .clicked(ui)
                {
                    send(
                        cx,
                        ImportAction::SetValue {
                            placeholder: name.clone(),
                            value: option.clone(),
                        },
                    );
                }
            }
        });
    }
}
