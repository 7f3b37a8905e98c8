//! The server asks: a form, an address, a completion. Whole, with the server's name on it; nothing leaves by itself.

use std::collections::BTreeSet;
use std::path::PathBuf;

use egui::{Checkbox, ComboBox, Id, Key, Label, Margin, ScrollArea, TextEdit, Ui};

use super::theme;
use super::widgets::{self, Button};
use super::{Cx, code, icons};
use crate::state::server_requests::{FieldInput, OpenRequest, ServerRequestAction};
use crate::state::{Action, Dialog, SettingsAction};
use loupe_core::server_request::form::{Choice, ElicitationField, ElicitationKind};
use loupe_core::server_request::{RequestKind, Sampling};

const WIDTH: f32 = 600.0;

pub fn ask_ui(ui: &Ui, cx: &Cx<'_>, open: &OpenRequest) {
    let room = widgets::modal_room(ui);
    let modal = Id::unique(("ask", cx.state.session().id, open.ask.key));
    widgets::modal(ui, modal, WIDTH, |ui| {
        head_ui(ui, cx, open);
        let height = (room.y - 200.0).max(120.0);
        match &open.ask.wants {
            RequestKind::Form { fields, .. } => form_ui(ui, cx, open, fields, height),
            RequestKind::Url { url, host, .. } => url_ui(ui, url, host.as_deref()),
            RequestKind::Sampling(sampling) => sampling_ui(ui, cx, open, sampling, height),
            RequestKind::Roots => {}
        }
        buttons_ui(ui, cx, open);
    });
    // A click next to it would lose what was typed; Esc is the safe answer.
    if widgets::pressed(ui, Key::Escape) {
        cx.send(ServerRequestAction::Cancel);
    }
}

fn head_ui(ui: &mut Ui, cx: &Cx<'_>, open: &OpenRequest) {
    let t = theme::of(ui);
    let connection = &cx.state.session().connection;
    let server = connection
        .server()
        .map(|server| server.label().to_owned())
        .filter(|name| !name.is_empty());
    let server = server
        .or_else(|| connection.source().map(|source| source.label()))
        .unwrap_or_else(|| "The server".into());
    widgets::wrapped(
        ui,
        format!("{server} {}", open.ask.title()),
        theme::semibold(16.0),
        t.strong,
    );
    let mut small = vec!["Nothing is sent until you agree.".to_owned()];
    let others = cx.state.session().server_requests.open.len() - 1;
    if others > 0 {
        small.push(format!(
            "{} more {} after this one.",
            others,
            if others == 1 {
                "question waits"
            } else {
                "questions wait"
            }
        ));
    }
    widgets::note(ui, small.join(" "));
    if !matches!(open.ask.wants, RequestKind::Sampling(_)) && !open.ask.message().is_empty() {
        widgets::paragraph(ui, open.ask.message());
    }
    let secrets = open.ask.secrets();
    if !secrets.is_empty() {
        ui.horizontal_top(|ui| {
            ui.add(Label::new(icons::icon_fill(icons::CONSENT, 16.0, t.warn)));
            let words = format!(
                "It asks for what looks like a secret: {}. Give it only to a server you trust. It is sent as typed, and Loupe does not keep it.",
                secrets.join(", ")
            );
            widgets::wrapped(ui, words, theme::base(), t.text);
        });
    }
}

fn buttons_ui(ui: &mut Ui, cx: &Cx<'_>, open: &OpenRequest) {
    ui.add_space(4.0);
    let send = |action| cx.send(Action::Answer(action));
    widgets::at_right(ui, theme::BUTTON, |ui| match &open.ask.wants {
        RequestKind::Form { .. } | RequestKind::Roots => {
            if Button::new("Send").primary().clicked(ui) {
                send(ServerRequestAction::Accept);
            }
            if Button::new("Decline")
                .tip("Tells the server no")
                .clicked(ui)
            {
                send(ServerRequestAction::Decline);
            }
            if Button::new("Cancel")
                .tip("Closes it without an answer")
                .clicked(ui)
            {
                send(ServerRequestAction::Cancel);
            }
        }
        RequestKind::Url { url, host, .. } => {
            if let Some(host) = host
                && Button::new(&format!("Open {host}"))
                    .icon(icons::OPEN_LINK)
                    .primary()
                    .clicked(ui)
            {
                send(ServerRequestAction::Accept);
            }
            if Button::new("Decline")
                .tip("Tells the server no")
                .clicked(ui)
            {
                send(ServerRequestAction::Decline);
            }
            if Button::new("Cancel")
                .tip("Closes it without an answer")
                .clicked(ui)
            {
                send(ServerRequestAction::Cancel);
            }
            if Button::new("Copy address").icon(icons::COPY).clicked(ui) {
                cx.send(Action::Copy(url.clone()));
            }
        }
        RequestKind::Sampling(_) => {
            if Button::new("Answer")
                .primary()
                .enabled(!open.text.is_empty())
                .clicked(ui)
            {
                send(ServerRequestAction::Accept);
            }
            if Button::new("Refuse")
                .tip("The server gets an error")
                .clicked(ui)
            {
                send(ServerRequestAction::Decline);
            }
            if Button::new("Copy request").icon(icons::COPY).clicked(ui) {
                cx.send(Action::Copy(
                    String::from_utf8_lossy(&open.ask.params).into_owned(),
                ));
            }
        }
    });
}

fn url_ui(ui: &mut Ui, url: &str, host: Option<&str>) {
    let t = theme::of(ui);
    match host {
        Some(host) => {
            widgets::note(ui, "The address leads to");
            widgets::wrapped(ui, host, theme::mono_semibold(15.0), t.strong);
        }
        None => {
            widgets::wrapped(
                ui,
                "Not an http or https address, so it is not opened.",
                theme::base(),
                t.bad,
            );
        }
    }
    ui.add(
        Label::new(widgets::styled(url, theme::code(), t.text))
            .wrap()
            .selectable(true),
    );
}

fn sampling_ui(ui: &mut Ui, cx: &Cx<'_>, open: &OpenRequest, sampling: &Sampling, height: f32) {
    let t = theme::of(ui);
    let weak = |text: String| widgets::styled(text, theme::small(), t.weak);
    ScrollArea::vertical()
        .id_salt("sampling")
        .max_height(height * 0.6)
        .auto_shrink([false, true])
        .show(ui, |ui| {
            let system = sampling.system.iter().map(|text| ("system", text.as_str()));
            for (role, text) in system.chain(
                sampling
                    .messages
                    .iter()
                    .map(|(role, text)| (role.as_str(), text.as_str())),
            ) {
                ui.label(weak(role.to_owned()));
                ui.add(
                    Label::new(widgets::styled(text, theme::base(), t.text))
                        .wrap()
                        .selectable(true),
                );
            }
            if !sampling.tools.is_empty() {
                ui.label(weak(format!(
                    "tools it may use: {}",
                    sampling.tools.join(", ")
                )));
            }
            ui.label(weak("the request as it came".into()));
            let lines = code::lines_of(ui, "sampling request", &open.ask.params);
            code::code_ui(ui, "sampling request", &lines, 140.0);
        });
    let most = sampling
        .max_tokens
        .as_ref()
        .map(|most| format!(", at most {most} tokens"))
        .unwrap_or_default();
    ui.label(weak(format!("Your answer, in place of a model’s{most}")));
    let mut text = open.text.clone();
    let field = TextEdit::multiline(&mut text)
        .font(theme::base())
        .desired_rows(4)
        .desired_width(f32::INFINITY);
    if ui
        .add(field)
        .accessible_name("Answer in place of a model")
        .changed()
    {
        cx.send(ServerRequestAction::SetText(text));
    }
}

fn form_ui(ui: &mut Ui, cx: &Cx<'_>, open: &OpenRequest, fields: &[ElicitationField], height: f32) {
    let t = theme::of(ui);
    if fields.is_empty() {
        widgets::note(ui, "The form has no fields. Sending it means yes.");
    }
    ScrollArea::vertical()
        .id_salt("ask form")
        .max_height(height)
        .auto_shrink([false, true])
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 4.0;
            // The scroll bar has its own place.
            ui.set_max_width(ui.available_width() - 14.0);
            for (at, (field, given)) in fields.iter().zip(&open.given).enumerate() {
                field_ui(ui, cx, open, at, field, given);
                ui.add_space(6.0);
            }
            let known = |pointer: &str| {
                fields.iter().any(|field| {
                    pointer.trim_start_matches('/').split('/').next() == Some(&field.name)
                })
            };
            for (at, message) in open
                .problems
                .iter()
                .filter(|(at, _)| open.is_tried && !known(at))
            {
                widgets::words(ui, format!("{message} {at}"), theme::small(), t.bad);
            }
        });
}

fn field_ui(
    ui: &mut Ui,
    cx: &Cx<'_>,
    open: &OpenRequest,
    at: usize,
    field: &ElicitationField,
    given: &FieldInput,
) {
    let t = theme::of(ui);
    let name = field.title.as_deref().unwrap_or(&field.name);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        widgets::words(ui, name, theme::semibold(13.0), t.strong);
        if name != field.name {
            widgets::words(ui, &field.name, theme::mono(12.0), t.weak);
        }
        if field.required {
            widgets::note(ui, "required");
        }
        if field.is_secret {
            ui.add(Label::new(icons::icon(icons::SECRET, 14.0, t.warn)));
        }
        if let ElicitationKind::Text {
            format: Some(format),
            ..
        } = &field.kind
        {
            widgets::note(ui, format);
        }
    });
    if let Some(description) = &field.description {
        widgets::note_wrapped(ui, description);
    }
    let give = |given| cx.send(ServerRequestAction::Give { field: at, given });
    match &field.kind {
        ElicitationKind::Boolean => {
            let chosen = match given {
                FieldInput::Json(text) if text == "true" => 0,
                FieldInput::Json(text) if text == "false" => 1,
                _ => 2,
            };
            if let Some(clicked) = widgets::segmented(ui, name, &["true", "false", "unset"], chosen)
            {
                give(match clicked {
                    0 => FieldInput::Json("true".into()),
                    1 => FieldInput::Json("false".into()),
                    _ => FieldInput::Unset,
                });
            }
        }
        ElicitationKind::One(choices) => one_ui(ui, name, at, choices, given, give),
        ElicitationKind::Many { choices, min, max } => {
            many_ui(ui, choices, *min, *max, given, give)
        }
        ElicitationKind::Text { multiline, .. } => {
            let mut text = match given {
                FieldInput::Text(text) | FieldInput::Json(text) => text.clone(),
                _ => String::new(),
            };
            let field_edit = if *multiline && !field.is_secret {
                TextEdit::multiline(&mut text).desired_rows(3)
            } else {
                TextEdit::singleline(&mut text)
            };
            let edit = field_edit
                .password(field.is_secret)
                .desired_width(f32::INFINITY)
                .margin(Margin::symmetric(8, 5));
            if ui.add(edit).accessible_name(name).changed() {
                give(if text.is_empty() && !field.required {
                    FieldInput::Unset
                } else {
                    FieldInput::Text(text)
                });
            }
        }
        ElicitationKind::Number {
            minimum, maximum, ..
        } => {
            let hint = match (minimum, maximum) {
                (Some(low), Some(high)) => format!("{low} to {high}"),
                (Some(low), None) => format!("at least {low}"),
                (None, Some(high)) => format!("at most {high}"),
                (None, None) => "a number".into(),
            };
            json_ui(ui, name, &hint, field.is_secret, given, give);
        }
        ElicitationKind::Json => json_ui(ui, name, "JSON", field.is_secret, given, give),
    }
    if let Some(problem) = open.problem_of(field) {
        widgets::wrapped(ui, problem, theme::small(), t.bad);
    }
}

fn json_ui(
    ui: &mut Ui,
    name: &str,
    hint: &str,
    is_secret: bool,
    given: &FieldInput,
    give: impl FnOnce(FieldInput),
) {
    let mut text = if let FieldInput::Json(text) = given {
        text.clone()
    } else {
        String::new()
    };
    let edit = TextEdit::singleline(&mut text)
        .font(theme::code())
        .hint_text(hint)
        .password(is_secret)
        .desired_width(f32::INFINITY)
        .margin(Margin::symmetric(8, 5));
    if ui.add(edit).accessible_name(name).changed() {
        give(if text.trim().is_empty() {
            FieldInput::Unset
        } else {
            FieldInput::Json(text)
        });
    }
}

fn one_ui(
    ui: &mut Ui,
    name: &str,
    at: usize,
    choices: &[Choice],
    given: &FieldInput,
    give: impl FnOnce(FieldInput),
) {
    let chosen = choices
        .iter()
        .find(|choice| matches!(given, FieldInput::Json(text) if *text == choice.value));
    let mut picked = None;
    let label = chosen.map_or("unset", |choice| choice.title.as_str());
    let response = ComboBox::from_id_salt(("ask choice", at))
        .selected_text(label)
        .width(280.0)
        .show_ui(ui, |ui| {
            if ui.selectable_label(chosen.is_none(), "unset").clicked() {
                picked = Some(FieldInput::Unset);
            }
            for choice in choices {
                if ui
                    .selectable_label(chosen == Some(choice), &choice.title)
                    .on_hover_text(&choice.value)
                    .clicked()
                {
                    picked = Some(FieldInput::Json(choice.value.clone()));
                }
            }
        });
    response.response.accessible_name(name);
    if let Some(picked) = picked {
        give(picked);
    }
}

fn many_ui(
    ui: &mut Ui,
    choices: &[Choice],
    min: Option<u64>,
    max: Option<u64>,
    given: &FieldInput,
    give: impl FnOnce(FieldInput),
) {
    let before = if let FieldInput::Many(places) = given {
        places.clone()
    } else {
        BTreeSet::new()
    };
    let mut places = before.clone();
    ui.horizontal_wrapped(|ui| {
        for (at, choice) in choices.iter().enumerate() {
            let mut is_chosen = before.contains(&at);
            if ui
                .add(Checkbox::new(&mut is_chosen, &choice.title))
                .on_hover_text(&choice.value)
                .changed()
            {
                if is_chosen {
                    places.insert(at);
                } else {
                    places.remove(&at);
                }
            }
        }
    });
    let limits = match (min, max) {
        (Some(low), Some(high)) => format!("{low} to {high} of them"),
        (Some(low), None) => format!("at least {low} of them"),
        (None, Some(high)) => format!("at most {high} of them"),
        (None, None) => String::new(),
    };
    if !limits.is_empty() {
        widgets::note(ui, limits);
    }
    if places != before {
        give(if places.is_empty() {
            FieldInput::Unset
        } else {
            FieldInput::Many(places)
        });
    }
}

/// The folders that servers are told of.
pub fn roots_ui(ui: &mut Ui, cx: &Cx<'_>, text: &str, is_declared: bool) {
    widgets::title(ui, cx, "Roots");
    widgets::paragraph(
        ui,
        "Servers that ask for roots get these folders, and some then allow nothing else. An empty list is not the same as none declared: it says that no folder may be used.",
    );
    let show = |text: String, is_declared| {
        cx.send(Action::ShowDialog(Dialog::Roots { text, is_declared }))
    };
    let mut declared = is_declared;
    let tell = ui.add(Checkbox::new(&mut declared, "Tell servers about folders"));
    widgets::focus_first(ui, tell.id);
    if tell.changed() {
        show(text.to_owned(), declared);
    }
    let mut edited = text.to_owned();
    widgets::note(ui, "One folder a line");
    let field = TextEdit::multiline(&mut edited)
        .font(theme::code())
        .desired_rows(4)
        .desired_width(f32::INFINITY);
    if ui
        .add_enabled(declared, field)
        .accessible_name("Folders")
        .changed()
    {
        show(edited.clone(), declared);
    }
    widgets::at_right(ui, theme::BUTTON, |ui| {
        if Button::new("Use").primary().clicked(ui) {
            let folders = edited
                .lines()
                .map(str::trim)
                .filter(|line| !line.is_empty())
                .map(PathBuf::from)
                .collect();
            cx.send(SettingsAction::SetRoots(declared.then_some(folders)));
        }
        widgets::cancel(ui, cx);
    });
}

/// Opens the dialog for the folders as they are.
pub fn roots_dialog(cx: &Cx<'_>) -> Action {
    let roots = cx.state.roots.as_deref();
    let text = roots
        .unwrap_or_default()
        .iter()
        .map(|root| root.display().to_string())
        .collect::<Vec<_>>()
        .join("\n");
    Action::ShowDialog(Dialog::Roots {
        text,
        is_declared: roots.is_some(),
    })
}
