//! The rest of *Export ▾*: everything a capture can be copied or saved as, from the one list of exports.

use egui::containers::menu::SubMenuButton;
use egui::{Event, ScrollArea, Ui};

use super::Cx;
use crate::fixture::export::{EXPORTS, Export, ExportChoice, ExportForm};
use crate::format::FORMATS;
use crate::state::{Action, ExportAction, ImportAction, Screen};

/// The submenus. What does not apply to the answer says so when it is chosen.
pub fn menu_ui(ui: &mut Ui, cx: &Cx<'_>) {
    // The capture folder has an entry of its own.
    let all = || EXPORTS.iter().filter(|export| !matches!(export.form, ExportForm::Folder));
    let entry = |export: &'static Export| (export.title.to_owned(), export.about.to_owned(), ExportChoice::Export(export));
    let save = ExportAction::save;
    list(ui, "Copy as", all().filter(|export| export.is_copied).map(entry), ExportAction::Copy, cx);
    let is_picture =
        |export: &&Export| matches!(export.form, ExportForm::Picture(_) | ExportForm::Pane) || export.kind.ends_with("-svg");
    let is_file = |export: &&Export| !export.needs_fixture() && !export.is_of_samples() && !is_picture(export);
    list(ui, "Save as", all().filter(is_file).map(entry), save, cx);
    list(ui, "Save types", all().filter(|export| export.is_of_samples()).map(entry), save, cx);
    list(ui, "Save a picture", all().filter(is_picture).map(entry), save, cx);
    list(ui, "Save a test", all().filter(|export| export.needs_fixture()).map(entry), save, cx);
    let formats = FORMATS
        .iter()
        .map(|format| (format.title().to_owned(), format!("exactly the text of {}", format.id()), ExportChoice::Format(*format)));
    list(ui, "Save as a format", formats, save, cx);
    let hosts = cx.state.hosts.iter().map(|host| {
        let whose = if host.is_own { "a host of your own: exactly" } else { "exactly" };
        (host.name.clone(), format!("{whose} what its model is shown"), ExportChoice::Host(host.id))
    });
    list(ui, "Save what a host shows", hosts, save, cx);
}

/// A text that is pasted where nothing is typed is opened as a file with it would be; on the connect screen it names a
/// server.
pub fn paste(ui: &Ui, cx: &Cx<'_>) {
    if ui.text_edit_focused() || cx.state.dialog.is_some() || !cx.state.server_requests.open.is_empty() {
        return;
    }
    let pasted = ui.input(|input| {
        input.events.iter().find_map(|event| if let Event::Paste(text) = event { Some(text.clone()) } else { None })
    });
    if let Some(text) = pasted.filter(|text| !text.trim().is_empty()) {
        cx.send(match cx.state.view.screen {
            Screen::Connect => Action::Import(ImportAction::SetText(text)),
            _ => Action::OpenText(text),
        });
    }
}

fn list(
    ui: &mut Ui,
    name: &str,
    entries: impl Iterator<Item = (String, String, ExportChoice)>,
    action: impl Fn(ExportChoice) -> ExportAction,
    cx: &Cx<'_>,
) {
    SubMenuButton::new(name).ui(ui, |ui| {
        ui.set_width(260.0);
        ScrollArea::vertical().max_height(420.0).show(ui, |ui| {
            for (title, about, kind) in entries {
                if ui.button(title).on_hover_text(about).clicked() {
                    cx.send(Action::ExportAs(action(kind)));
                    ui.close();
                }
            }
        });
    });
}
