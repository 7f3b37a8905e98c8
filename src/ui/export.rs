//! The rest of *Export ▾*: everything a capture can be copied or saved as, from the one list of exports.

use egui::containers::menu::SubMenuButton;
use egui::{Event, ScrollArea, Ui};

use super::Cx;
use crate::state::{Action, ExportAction, ImportAction, Screen};
use loupe_analysis::fixture::export::{EXPORTS, Export, ExportChoice, ExportForm};
use loupe_core::format::FORMATS;

/// One thing that a result can be copied or saved as.
pub struct ExportEntry {
    /// The submenu that it is in; begins the sentence that its title ends.
    pub list: &'static str,
    pub title: String,
    pub about: String,
    pub action: ExportAction,
}

/// The submenus. What does not apply to the result says so when it is chosen.
pub fn menu_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let entries = entries(cx);
    for list in entries.chunk_by(|one, next| one.list == next.list) {
        SubMenuButton::new(list[0].list).ui(ui, |ui| {
            ui.set_width(260.0);
            ScrollArea::vertical().max_height(420.0).show(ui, |ui| {
                for entry in list {
                    if ui
                        .button(&entry.title)
                        .on_hover_text(&entry.about)
                        .clicked()
                    {
                        cx.send(Action::ExportAs(entry.action.clone()));
                        ui.close();
                    }
                }
            });
        });
    }
}

/// Everything that a result can be copied or saved as, list by list.
pub fn entries(cx: &Cx<'_>) -> Vec<ExportEntry> {
    // The capture folder has an entry of its own.
    let all = || {
        EXPORTS
            .iter()
            .filter(|export| !matches!(export.form, ExportForm::Folder))
    };
    let entry = |export: &'static Export| {
        (
            export.title.to_owned(),
            export.about.to_owned(),
            ExportChoice::Export(export),
        )
    };
    let mut entries = Vec::new();
    let mut list = |list,
                    found: &mut dyn Iterator<Item = (String, String, ExportChoice)>,
                    does: fn(ExportChoice) -> ExportAction| {
        entries.extend(found.map(|(title, about, choice)| ExportEntry {
            list,
            title,
            about,
            action: does(choice),
        }));
    };
    let save = ExportAction::save;
    list(
        "Copy as",
        &mut all().filter(|export| export.is_copied).map(entry),
        ExportAction::Copy,
    );
    let is_picture = |export: &&Export| {
        matches!(export.form, ExportForm::Picture(_) | ExportForm::Pane)
            || export.kind.ends_with("-svg")
    };
    let is_file = |export: &&Export| !export.needs_fixture() && !is_picture(export);
    list("Save as", &mut all().filter(is_file).map(entry), save);
    list(
        "Save a picture",
        &mut all().filter(is_picture).map(entry),
        save,
    );
    list(
        "Save a test",
        &mut all().filter(|export| export.needs_fixture()).map(entry),
        save,
    );
    let mut formats = FORMATS.iter().map(|format| {
        (
            format.title().to_owned(),
            format!("exactly the text of {}", format.id()),
            ExportChoice::Format(*format),
        )
    });
    list("Save as a format", &mut formats, save);
    let mut hosts = cx.state.hosts.iter().map(|host| {
        let whose = if host.is_own {
            "a host of your own: exactly"
        } else {
            "exactly"
        };
        (
            host.name.clone(),
            format!("{whose} what its model is shown"),
            ExportChoice::Host(host.id),
        )
    });
    list("Save what a host shows", &mut hosts, save);
    entries
}

/// A text that is pasted where nothing is typed is opened as a file with it would be; on the connect screen it names a
/// server.
pub fn paste(ui: &Ui, cx: &Cx<'_>) {
    if ui.text_edit_focused()
        || cx.state.dialog.is_some()
        || !cx.state.session().server_requests.open.is_empty()
    {
        return;
    }
    let pasted = ui.input(|input| {
        input.events.iter().find_map(|event| {
            if let Event::Paste(text) = event {
                Some(text.clone())
            } else {
                None
            }
        })
    });
    if let Some(text) = pasted.filter(|text| !text.trim().is_empty()) {
        cx.send(match cx.state.view.screen {
            Screen::Connect => Action::Import(ImportAction::SetText(text)),
            _ => Action::OpenText(text),
        });
    }
}
