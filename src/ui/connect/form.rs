//! The form of one's own server: a command or an address, and in full what connecting will do.

use egui::{Id, Label, Ui};

use super::{compare_tools, login, protocol, roots_and_sampling};
use crate::state::{ConnectAction, ConnectForm, ConnectMode, Connection};
use crate::ui::theme;
use crate::ui::widgets;
use crate::ui::{Cx, call_bar, icons};
use loupe_core::problem::Problem;
use loupe_core::source::Source;

/// Room of *Edit* and *Connect*.
const BUTTONS: f32 = 240.0;

/// What connecting does, with *Edit* and *Connect*; the fields behind *Edit*.
pub(super) fn form_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let mut form = cx.state.connect_form.clone();
    let mut is_edited = widgets::recall(ui, fields_id()).unwrap_or(false);
    let source = form.source();
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 8.0;
        let room = (ui.available_width() - BUTTONS).max(160.0);
        ui.vertical(|ui| {
            ui.set_width(room);
            consent_ui(ui, &form, &source);
        });
        widgets::at_right(ui, theme::BUTTON, |ui| {
            connect_ui(ui, cx, &source);
            let tip = "The command, its variables, the protocol, and what the server may ask";
            if widgets::Button::new("Edit")
                .name(if is_edited {
                    "Close the fields"
                } else {
                    "Edit"
                })
                .tip(tip)
                .clicked(ui)
            {
                is_edited = !is_edited;
                widgets::remember(ui, fields_id(), is_edited);
            }
        });
    });
    if is_edited {
        ui.add_space(6.0);
        widgets::separator(ui);
        ui.add_space(6.0);
        fields_ui(ui, cx, &mut form);
    }
    if form != cx.state.connect_form {
        cx.send(ConnectAction::Edit(Box::new(form)));
    }
}

fn fields_id() -> Id {
    Id::unique("fields of the connection")
}

/// Opens the fields, as *Edit* does.
pub(super) fn open_fields(ui: &Ui) {
    widgets::remember(ui, fields_id(), true);
}

fn fields_ui(ui: &mut Ui, cx: &Cx<'_>, form: &mut ConnectForm) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 20.0;
        for (mode, icon, name) in [
            (ConnectMode::Command, icons::STDIO, "Command (stdio)"),
            (ConnectMode::Url, icons::HTTP, "HTTP URL"),
        ] {
            if widgets::tab(ui, Some(icon), name, None, form.mode == mode, 32.0).clicked() {
                form.mode = mode;
            }
        }
    });
    match form.mode {
        ConnectMode::Command => command_ui(ui, form),
        ConnectMode::Url => url_ui(ui, cx, form),
    }
    protocol::protocol_ui(ui, form);
    ui.add_space(8.0);
    roots_and_sampling::answers_ui(ui, cx);
}

fn connect_ui(ui: &mut Ui, cx: &Cx<'_>, source: &Result<Source, Problem>) {
    let is_choosing = cx.state.server_diff.is_choosing;
    let busy = if is_choosing {
        &cx.state.server_diff.connection
    } else {
        &cx.state.session().connection
    };
    let why = match source {
        Err(problem) => problem.what.clone(),
        Ok(_) if matches!(busy, Connection::Connecting { .. }) => "Already connecting".into(),
        Ok(_) => String::new(),
    };
    let name = if is_choosing {
        compare_tools::LIST
    } else {
        "Connect"
    };
    let keys = call_bar::call_keys();
    let mut button = widgets::Button::new(name)
        .icon_fill(icons::PLUG)
        .shortcut(&keys)
        .primary()
        .enabled(why.is_empty());
    if !why.is_empty() {
        button = button.tip(&why);
    }
    if button.clicked(ui) {
        cx.send(ConnectAction::UseForm);
    }
}

pub(super) fn label(ui: &mut Ui, words: &str) {
    widgets::note(ui, words);
}

pub(super) fn field(ui: &mut Ui, name: &str, hint: &str, width: f32, text: &mut String) {
    widgets::LineEdit {
        name,
        hint,
        width,
        is_secret: false,
    }
    .show(ui, "connect", text);
}

pub(super) fn pair<R>(
    ui: &mut Ui,
    first: f32,
    left: impl FnOnce(&mut Ui, f32),
    right: impl FnOnce(&mut Ui, f32) -> R,
) {
    let width = ui.available_width();
    if width < 420.0 {
        left(ui, width);
        right(ui, width);
        return;
    }
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 12.0;
        ui.vertical(|ui| {
            ui.set_width(width * first);
            left(ui, width * first);
        });
        ui.vertical(|ui| {
            let rest = width * (1.0 - first) - 12.0;
            ui.set_width(rest);
            right(ui, rest);
        });
    });
}

fn command_ui(ui: &mut Ui, form: &mut ConnectForm) {
    let ConnectForm {
        command,
        arguments,
        folder,
        environment,
        ..
    } = form;
    pair(
        ui,
        0.4,
        |ui, width| {
            label(ui, "Command");
            field(ui, "Command", "npx -y my-server", width, command);
        },
        |ui, width| {
            label(ui, "Arguments");
            field(ui, "Arguments", "none", width, arguments);
        },
    );
    ui.add_space(4.0);
    pair(
        ui,
        0.4,
        |ui, width| {
            label(ui, "Working folder");
            field(
                ui,
                "Working folder",
                "where Loupe was started",
                width,
                folder,
            );
        },
        |ui, width| {
            label(ui, "Environment");
            rows_ui(ui, "variable", "NAME", environment, width);
        },
    );
}

fn url_ui(ui: &mut Ui, cx: &Cx<'_>, form: &mut ConnectForm) {
    let width = ui.available_width();
    label(ui, "URL");
    field(ui, "URL", "http://127.0.0.1:3001/mcp", width, &mut form.url);
    ui.add_space(4.0);
    label(ui, "Headers");
    rows_ui(ui, "header", "Name", &mut form.headers, width);
    ui.add_space(4.0);
    login::wish_ui(ui, cx, form);
}

/// Rows of a name and a secret value.
fn rows_ui(ui: &mut Ui, noun: &str, hint: &str, rows: &mut Vec<(String, String)>, width: f32) {
    let mut removed = None;
    for (index, (name, value)) in rows.iter_mut().enumerate() {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 6.0;
            let each = ((width - 24.0 - 2.0 * 6.0) / 2.0).max(80.0);
            field(
                ui,
                &format!("Name of {noun} {}", index + 1),
                hint,
                each,
                name,
            );
            let named = format!("Value of {noun} {}", index + 1);
            let line = widgets::LineEdit {
                name: &named,
                hint: "value, kept secret",
                width: each,
                is_secret: true,
            };
            line.show(ui, "connect value", value);
            if widgets::icon_button(ui, icons::REMOVE, &format!("Remove {noun} {}", index + 1))
                .clicked()
            {
                removed = Some(index);
            }
        });
    }
    if let Some(index) = removed {
        rows.remove(index);
    }
    if widgets::Button::new(&format!("Add {noun}"))
        .icon(icons::ADD)
        .small()
        .frameless()
        .clicked(ui)
    {
        rows.push(Default::default());
    }
}

/// What connecting does, in full, before it is done.
fn consent_ui(ui: &mut Ui, form: &ConnectForm, source: &Result<Source, Problem>) {
    let t = theme::of(ui);
    ui.spacing_mut().item_spacing.y = 4.0;
    let is_blank = match form.mode {
        ConnectMode::Command => form.command.trim().is_empty(),
        ConnectMode::Url => form.url.trim().is_empty(),
    };
    match source {
        Ok(source) => {
            source_ui(ui, source);
            let words = match form.mode {
                ConnectMode::Command => "Runs on your computer, as you",
                ConnectMode::Url => "Sends requests to this address",
            };
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = 6.0;
                ui.add(Label::new(icons::icon_fill(icons::CONSENT, 14.0, t.warn)));
                widgets::words(ui, words, theme::small(), t.text);
            });
        }
        Err(_) if is_blank => {
            let words = "What connecting would do is shown here first";
            widgets::note_wrapped(ui, words);
        }
        Err(problem) => {
            widgets::words(ui, problem.message(), theme::small(), t.bad);
            if let Some(hint) = &problem.hint {
                widgets::wrapped(ui, hint, theme::small(), t.text);
            }
        }
    }
}

pub(super) fn source_ui(ui: &mut Ui, source: &Source) {
    let t = theme::of(ui);
    let exact = |ui: &mut Ui, text: String| {
        ui.add(
            Label::new(widgets::styled(text, theme::mono(12.5), t.strong))
                .wrap()
                .selectable(true),
        )
    };
    let names = |pairs: &[(String, String)]| {
        pairs
            .iter()
            .map(|(name, _)| name.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let mut notes = Vec::new();
    match source {
        Source::Command(command) => {
            exact(ui, format!("$ {}", command.line()));
            notes.push(command.cwd.as_ref().map_or_else(
                || "In the folder Loupe was started in".to_owned(),
                |cwd| format!("In {}", cwd.display()),
            ));
            if command.env.is_empty() {
                notes.push("no extra variables".into());
            } else {
                notes.push(format!("with {}", names(&command.env)));
            }
        }
        Source::Http(http) => {
            exact(ui, http.url.clone());
            if http.headers.is_empty() {
                notes.push("No extra headers".into());
            } else {
                notes.push(format!("With the headers {}", names(&http.headers)));
            }
        }
        Source::Fixture(folder) => {
            exact(ui, folder.display().to_string());
            notes.push("Answered by captures; no server is started".into());
        }
        Source::Sample(_) => {}
    }
    let has_secrets = !matches!(source, Source::Command(command) if command.env.is_empty())
        && !matches!(source, Source::Http(http) if http.headers.is_empty());
    let secrets = if has_secrets {
        ". Their values stay out of captures"
    } else {
        ""
    };
    widgets::wrapped(
        ui,
        format!("{}{secrets}.", notes.join(", ")),
        theme::small(),
        t.text,
    );
}
