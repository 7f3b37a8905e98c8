//! Watching a server's files: the switch, and what is asked before it begins.

use egui::{Margin, TextEdit, Ui};

use super::theme;
use super::widgets::title;
use super::widgets::{self, Button, LineEdit};
use super::{Cx, icons};
use crate::state::{Action, Dialog, WatchAction};
use loupe_core::source::Watch;

/// As the palette, the menu and the button name it.
pub const NAME: &str = "Watch the server’s files…";

/// Opens the dialog, filled with what is remembered or offered.
pub fn open(cx: &Cx<'_>) -> Option<Action> {
    let offer = || cx.state.watch_offer().unwrap_or_default();
    cx.state.can_watch().then(|| {
        Action::ShowDialog(Dialog::Watch(
            cx.state.watch().cloned().unwrap_or_else(offer),
        ))
    })
}

/// Before *Compare*, where the server is a program of this computer: turned off at once, turned on by the dialog.
pub fn switch_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let Some(open) = open(cx) else { return };
    let files = &cx.state.watching.files;
    if files.is_none() && cx.state.watch_offer().is_none() {
        return;
    }
    let (name, tip) = match files {
        Some(files) => {
            let files = widgets::number_text(*files as u64, "files");
            let changed = cx.state.watching.changed.as_ref().map(|(path, others)| {
                let others = match others {
                    0 => String::new(),
                    _ => format!(" and {others} more"),
                };
                format!("\nLast change: {}{others}", path.display())
            });
            let name = format!("Watching {files}");
            let tip = format!("{name}{}", changed.unwrap_or_default());
            (name, tip)
        }
        None => {
            let tip = format!("{NAME}\nStarts it again when they change, and calls again");
            (NAME.to_owned(), tip)
        }
    };
    if !widgets::switch(ui, files.is_some(), "Watch", &name, &tip) {
        return;
    }
    match cx.state.watch().filter(|watch| watch.is_on) {
        Some(watch) => cx.send(WatchAction::Set(Watch {
            is_on: false,
            ..watch.clone()
        })),
        None => cx.send(open),
    }
}

pub fn dialog_ui(ui: &mut Ui, cx: &Cx<'_>, watch: &Watch) {
    let t = theme::of(ui);
    title(ui, cx, "Watch the server’s files");
    let words = "When a file changes, Loupe restarts the server and repeats the last call. It asks first unless the tool is read-only or always allowed. The panes show what changed.";
    widgets::note_wrapped(ui, words);
    let mut edited = watch.clone();
    let weak = |text: &str| widgets::styled(text, theme::mono(12.0), t.weak);
    ui.label(weak("Folders, files or globs, one a line"));
    let places = TextEdit::multiline(&mut edited.places)
        .font(theme::mono(12.5))
        .desired_rows(3)
        .desired_width(f32::INFINITY)
        .hint_text("src/**/*.py")
        .margin(Margin::symmetric(8, 5));
    let places = ui.add(places).accessible_name("What is watched");
    widgets::focus_first(ui, places.id);
    ui.label(weak("Command that builds it first (may be empty)"));
    LineEdit {
        name: "Build command",
        hint: "npm run build",
        width: ui.available_width(),
        is_secret: false,
    }
    .show(ui, "watch", &mut edited.build);
    if edited != *watch {
        cx.send(Action::ShowDialog(Dialog::Watch(edited.clone())));
    }
    let is_on = cx.state.watch().is_some_and(|watch| watch.is_on);
    widgets::at_right(ui, theme::BUTTON, |ui| {
        let is_named = !edited.places.trim().is_empty();
        if Button::new("Watch")
            .icon(icons::READ_ONLY)
            .primary()
            .enabled(is_named)
            .clicked(ui)
        {
            cx.send(WatchAction::Set(Watch {
                is_on: true,
                ..edited.clone()
            }));
        }
        if is_on && widgets::button(ui, "Stop watching").clicked() {
            cx.send(WatchAction::Set(Watch {
                is_on: false,
                ..edited.clone()
            }));
        }
        widgets::cancel(ui, cx);
    });
}
