//! *Export ▾ → Fixture…*: where it goes, what of it is hidden and made the same, and exactly what would be written.

use egui::{CollapsingHeader, Label, Margin, RichText, ScrollArea, TextEdit, Ui};

use super::theme::{self, ThemeTokens};
use super::{Cx, code, icons, widgets};
use crate::fixture::expect;
use crate::fixture::redact::{Found, OFFERED};
use crate::state::fixture::{ExistingFile, FixtureForm, FixtureSaving, FixtureWritten, Preview};
use crate::state::{Action, FixtureAction};

/// The dialog, below its title.
pub(super) fn dialog_ui(ui: &mut Ui, cx: &Cx<'_>, height: f32) {
    let Some(saving) = &cx.state.fixtures.saving else { return };
    let t = ThemeTokens::of(ui);
    let mut form = saving.form.clone();
    if let Some(kind) = saving.then {
        let words =
            format!("{} reads the answer from a fixture. Save that first; then choose where the test goes.", kind.title());
        widgets::paragraph(ui, &words);
    }
    place_ui(ui, &mut form);
    let preview = match &saving.preview {
        Some(Ok(preview)) => Some(&**preview),
        _ => None,
    };
    let there = preview.map_or(ExistingFile::Nothing, |preview| preview.there);
    there_ui(ui, preview);
    // As high before it is known what would be written as after, so that the buttons stay where they are.
    let list = (height - 90.0).min(560.0);
    let scroll = ScrollArea::vertical().id_salt("fixture").max_height(list).min_scrolled_height(list).auto_shrink(false);
    scroll.show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 6.0;
        if let Some(problem) = &saving.refused {
            widgets::problem_ui(ui, problem);
        }
        choices_ui(ui, saving, &mut form);
        match &saving.preview {
            Some(Ok(preview)) => preview_ui(ui, preview, &mut form),
            Some(Err(problem)) => drop(widgets::problem_ui(ui, problem)),
            None => drop(ui.label(RichText::new("Looking for secrets…").font(theme::small()).color(t.weak))),
        }
    });
    widgets::at_right(ui, theme::BUTTON, |ui| {
        let is_free = there == ExistingFile::Nothing || (there == ExistingFile::Fixture && form.replaces);
        let can_save = preview.is_some() && is_free && form.path().is_some() && !saving.is_saving;
        let verb = if there == ExistingFile::Fixture { "Replace the fixture" } else { "Save the fixture" };
        if widgets::Button::new(verb).primary().enabled(can_save).show(ui).clicked() {
            cx.send(Action::Fixture(FixtureAction::Save));
        }
        if widgets::button(ui, "Cancel").clicked() {
            cx.send(Action::CloseDialog);
        }
        if there == ExistingFile::Fixture {
            let choices = ["Keep it", "Replace it"];
            if let Some(chosen) = widgets::segmented(ui, "Existing folder", &choices, usize::from(form.replaces)) {
                form.replaces = chosen == 1;
            }
        }
    });
    if form != saving.form {
        cx.send(Action::Fixture(FixtureAction::Edit(form)));
    }
}

/// What stands where the fixture would go: one line, whatever it says.
fn there_ui(ui: &mut Ui, preview: Option<&Preview>) {
    let t = ThemeTokens::of(ui);
    let (words, color) = match preview.map(|preview| (preview.there, preview.path.display())) {
        None => (String::new(), t.weak),
        Some((ExistingFile::Nothing, path)) => (format!("Creates {path}"), t.weak),
        Some((ExistingFile::Fixture, path)) => (format!("{path} already exists"), t.warn),
        Some((ExistingFile::Other, path)) => (format!("{path} already exists and is not a fixture: choose another name"), t.bad),
    };
    ui.add(Label::new(RichText::new(words).font(theme::small()).color(color)).truncate());
}

fn place_ui(ui: &mut Ui, form: &mut FixtureForm) {
    let t = ThemeTokens::of(ui);
    ui.horizontal(|ui| {
        let width = ui.available_width();
        let field = |ui: &mut Ui, text: &mut String, name: &str, width: f32| {
            ui.vertical(|ui| {
                ui.spacing_mut().item_spacing.y = 2.0;
                ui.label(RichText::new(name).font(theme::small()).color(t.weak));
                let edit =
                    TextEdit::singleline(text).font(theme::mono(13.0)).desired_width(width).margin(Margin::symmetric(8, 6));
                ui.add(edit).accessible_name(name.to_owned());
            });
        };
        field(ui, &mut form.folder, "Folder", width * 0.6 - 4.0);
        field(ui, &mut form.name, "Name", width * 0.4 - 4.0);
    });
}

/// What is made the same, and what is needed.
fn choices_ui(ui: &mut Ui, saving: &FixtureSaving, form: &mut FixtureForm) {
    heading(ui, "Ignore what changes between calls");
    ui.horizontal_wrapped(|ui| {
        let normalise = &mut form.wanted.normalise;
        ui.checkbox(&mut normalise.dates, "Dates").on_hover_text("Each becomes 2000-01-01 in its own form, and is not compared");
        ui.checkbox(&mut normalise.ids, "Random ids")
            .on_hover_text("UUIDs, ULIDs and long hexadecimal numbers are numbered, and not compared");
        ui.checkbox(&mut normalise.order, "Order of lists")
            .on_hover_text("Lists whose records have a key are compared in any order");
    });
    if !saving.needed.is_empty() {
        let mut is_needed = !form.wanted.needed.is_empty();
        let fields: Vec<&str> = saving.needed.iter().map(String::as_str).collect();
        let words = format!("Expect the needed fields: {}", fields.join(", "));
        if ui.checkbox(&mut is_needed, words).on_hover_text("They must be in the data and in the text").changed() {
            form.wanted.needed = if is_needed { saving.needed.clone() } else { Default::default() };
        }
    }
}

fn heading(ui: &mut Ui, words: &str) {
    let t = ThemeTokens::of(ui);
    ui.add_space(4.0);
    ui.label(RichText::new(words).font(theme::semibold(13.0)).color(t.strong));
}

fn preview_ui(ui: &mut Ui, preview: &Preview, form: &mut FixtureForm) {
    let t = ThemeTokens::of(ui);
    heading(ui, "Possible secrets");
    if preview.found.is_empty() {
        ui.label(
            RichText::new("None found. This is not a guarantee: read it before you share it.").font(theme::small()).color(t.weak),
        );
    }
    let mut kinds: Vec<&str> = Vec::new();
    for found in &preview.found {
        if !kinds.contains(&found.redaction.kind.as_str()) {
            kinds.push(&found.redaction.kind);
        }
    }
    for kind in kinds {
        kind_ui(ui, kind, preview.found.iter().filter(|found| found.redaction.kind == kind), form);
    }
    heading(ui, "Files to write");
    for file in &preview.files {
        file_ui(ui, file, file.name == expect::FILE);
    }
    ui.horizontal(|ui| {
        let is_exact = preview.exactness.starts_with("byte for byte");
        let (glyph, color) = if is_exact { (icons::CHECK_CIRCLE, t.weak) } else { (icons::SECRET, t.warn) };
        ui.add(Label::new(icons::icon_fill(glyph, 14.0, color)));
        ui.add(Label::new(RichText::new(&preview.exactness).font(theme::base()).color(t.text)).wrap());
    });
}

/// A file that would be written; it unfolds to exactly its text.
fn file_ui(ui: &mut Ui, file: &FixtureWritten, is_open: bool) {
    let t = ThemeTokens::of(ui);
    let title = format!("{} · {}", file.name, widgets::number_text(file.bytes, "bytes"));
    CollapsingHeader::new(RichText::new(title).font(theme::mono(12.0)).color(t.strong))
        .id_salt(("written", &file.name))
        .default_open(is_open)
        .show_unindented(ui, |ui| {
            if (file.begins.len() as u64) < file.bytes {
                ui.label(RichText::new("How it begins: the first 1 MiB").font(theme::small()).color(t.warn));
            }
            let lines = code::exact_lines(ui, &file.name, &file.begins);
            if lines.is_empty() {
                ui.label(RichText::new("An empty file").font(theme::small()).color(t.weak));
            } else {
                code::code_ui(ui, &file.name, &lines, 220.0);
            }
        });
}

/// Places of one kind that are listed.
const PLACES: usize = 12;

fn kind_ui<'a>(ui: &mut Ui, kind: &str, found: impl Iterator<Item = &'a Found>, form: &mut FixtureForm) {
    let t = ThemeTokens::of(ui);
    let found: Vec<&Found> = found.collect();
    let count: u64 = found.iter().map(|found| found.redaction.count).sum();
    let is_offered = OFFERED.contains(&kind);
    let mut is_hidden = if is_offered { form.wanted.also.contains(kind) } else { !form.wanted.keep.contains(kind) };
    let words = format!("Hide {kind}: {}", if count == 1 { "1 time".to_owned() } else { widgets::number_text(count, "times") });
    if ui.checkbox(&mut is_hidden, words).changed() {
        form.wanted.hide(kind, is_hidden);
    }
    for one in found.iter().take(PLACES) {
        let state = if one.is_hidden { "hidden" } else { "left as it is" };
        let line = format!("{state} · {} {} · {}", one.redaction.part, one.redaction.path, one.sample);
        ui.horizontal(|ui| {
            ui.add_space(24.0);
            ui.add(Label::new(RichText::new(line).font(theme::mono(12.0)).color(t.weak)).truncate());
        });
    }
    if let Some(more) = found.len().checked_sub(PLACES).filter(|more| *more > 0) {
        let words = format!("and {} more places", widgets::grouped(more as u64));
        ui.label(RichText::new(words).font(theme::small()).color(t.weak));
    }
}
