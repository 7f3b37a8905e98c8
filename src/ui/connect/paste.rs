//! The field to paste into: whatever people have at hand to reach a server goes here, and its parts become chips. Enter
//! uses what was understood, Shift Enter makes a line.

use egui::{Id, Key, KeyboardShortcut, Margin, Modifiers, RichText, TextEdit, Ui, vec2};

use super::super::theme;
use super::super::widgets::{self, Tone};
use super::super::{Cx, icons};
use crate::state::{ConnectForm, ConnectMode, ImportAction};
use loupe_core::source::Source;

pub(super) fn paste_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    let importing = &cx.state.importing;
    let mut text = importing.text.clone();
    let width = ui.available_width();
    let rows = text.lines().count().clamp(1, 6);
    let edit = TextEdit::multiline(&mut text)
        .id(Id::unique("connect paste"))
        .font(theme::mono(12.5))
        .hint_text(
            RichText::new("Paste a command, a URL, an mcpServers snippet, an “mcp add” line, curl, or an answer").color(t.weak),
        )
        .desired_width(width - 18.0)
        .desired_rows(rows)
        .return_key(KeyboardShortcut::new(Modifiers::SHIFT, Key::Enter))
        .margin(Margin::symmetric(8, 5))
        .min_size(vec2(width, theme::INPUT));
    let response = ui
        .add(edit)
        .accessible_name("Paste anything that names a server");
    if response.changed() {
        cx.send(ImportAction::SetText(text));
    }
    if response.has_focus()
        && ui.input(|input| input.modifiers.is_none() && input.key_pressed(Key::Enter))
    {
        if importing.is_answer {
            cx.send(ImportAction::OpenAnswer);
        } else if importing.understood.is_some() {
            cx.send(ImportAction::Use);
        }
    }
    if let Some(problem) = &importing.problem {
        widgets::words(ui, problem.message(), theme::small(), t.bad);
        if let Some(hint) = &problem.hint {
            widgets::note_wrapped(ui, hint);
        }
    }
    if importing.is_answer {
        ui.horizontal(|ui| {
            widgets::badge(
                ui,
                Some(icons::JSON),
                "An answer, not a server",
                Tone::Accent,
                false,
            );
            if widgets::button(ui, "Open it").clicked() {
                cx.send(ImportAction::OpenAnswer);
            }
        });
    }
    ui.add_space(8.0);
}

/// The parts of the form as chips; a click on one takes it out. Values of variables and headers do not show.
pub(super) fn chips_ui(ui: &mut Ui, form: &mut ConnectForm) {
    let Ok(source) = form.source() else { return };
    let mut removed = None;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(6.0, 6.0);
        match &source {
            Source::Command(command) => {
                widgets::badge(
                    ui,
                    Some(icons::STDIO),
                    &command.program,
                    Tone::Accent,
                    false,
                );
                for (at, arg) in command.args.iter().enumerate() {
                    if chip(ui, arg, &format!("Remove the argument {arg}")) {
                        removed = Some((0, at));
                    }
                }
            }
            Source::Http(http) => {
                widgets::badge(ui, Some(icons::HTTP), &http.url, Tone::Accent, false);
            }
            Source::Sample(_) | Source::Fixture(_) => {}
        }
        let pairs = if form.mode == ConnectMode::Command {
            &form.environment
        } else {
            &form.headers
        };
        for (at, (name, _)) in pairs
            .iter()
            .enumerate()
            .filter(|(_, (name, _))| !name.trim().is_empty())
        {
            if chip(ui, &format!("{name}=…"), &format!("Remove {name}")) {
                removed = Some((1, at));
            }
        }
        if !form.folder.trim().is_empty()
            && form.mode == ConnectMode::Command
            && chip(ui, &format!("in {}", form.folder), "Remove the folder")
        {
            removed = Some((2, 0));
        }
        if form.login.is_some()
            && form.mode == ConnectMode::Url
            && chip(ui, "log in", "Do not log in")
        {
            removed = Some((3, 0));
        }
    });
    match (removed, source) {
        (Some((0, at)), Source::Command(mut command)) => {
            command.args.remove(at);
            form.command = shell_words::quote(&command.program).into_owned();
            form.arguments = shell_words::join(&command.args);
        }
        (Some((1, at)), _) if form.mode == ConnectMode::Command => {
            drop(form.environment.remove(at))
        }
        (Some((1, at)), _) => drop(form.headers.remove(at)),
        (Some((2, _)), _) => form.folder.clear(),
        (Some((3, _)), _) => form.login = None,
        _ => {}
    }
}

fn chip(ui: &mut Ui, text: &str, name: &str) -> bool {
    let shown = if text.chars().count() > 48 {
        format!("{}…", text.chars().take(47).collect::<String>())
    } else {
        text.to_owned()
    };
    widgets::Button::new(&shown)
        .icon(icons::CLOSE)
        .small()
        .name(name)
        .tip(name)
        .clicked(ui)
}
