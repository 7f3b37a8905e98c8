//! *Export ▾ → Fixture…* and *Save the calls of this run…*: where they go, what of them is hidden and made the same, and
//! exactly what would be written.

use std::collections::BTreeSet;

use egui::{CollapsingHeader, Label, Margin, TextEdit, Ui};

use super::theme;
use super::{Cx, code, icons, widgets};
use crate::state::FixtureAction;
use crate::state::fixture::{ExistingFile, FixtureForm, FixtureSaving, FixtureWritten, Preview};
use loupe_analysis::fixture::draft::DraftOptions;
use loupe_analysis::fixture::expect;
use loupe_core::redact::{FoundSecret, OFFERED};

/// As the palette and menus name it.
pub(super) const SAVE_RUN: &str = "Save the calls of this run…";

/// The title of the dialog.
pub(super) fn title(cx: &Cx<'_>) -> String {
    match cx
        .state
        .fixtures
        .saving
        .as_ref()
        .map_or(1, |saving| saving.calls.len())
    {
        1 => "Save as a fixture".to_owned(),
        several => format!("Save {several} calls as fixtures"),
    }
}

/// The dialog, below its title.
pub(super) fn dialog_ui(ui: &mut Ui, cx: &Cx<'_>, height: f32) {
    let Some(saving) = &cx.state.fixtures.saving else {
        return;
    };
    let mut form = saving.form.clone();
    if let Some(kind) = saving.then {
        let words = format!(
            "{} reads the answer from a fixture. Save that first; then choose where the test goes.",
            kind.title()
        );
        widgets::paragraph(ui, &words);
    }
    place_ui(ui, &mut form);
    let previews = match &saving.preview {
        Some(Ok(previews)) => Some(&previews[..]),
        _ => None,
    };
    let there = previews
        .and_then(|previews| previews.iter().map(|preview| preview.there).max())
        .unwrap_or(ExistingFile::Nothing);
    there_ui(ui, &form, previews, there);
    // As high before it is known what would be written as after, so that the buttons stay where they are.
    let list = (height - 90.0).min(560.0);
    let scroll = widgets::scroll("fixture")
        .max_height(list)
        .min_scrolled_height(list);
    scroll.show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 6.0;
        if let Some(problem) = &saving.refused {
            widgets::problem_ui(ui, problem);
        }
        choices_ui(ui, saving, &mut form);
        match &saving.preview {
            Some(Ok(previews)) => previews_ui(ui, previews, &mut form),
            Some(Err(problem)) => drop(widgets::problem_ui(ui, problem)),
            None => drop(widgets::note(ui, "Looking for secrets…")),
        }
    });
    widgets::at_right(ui, theme::BUTTON, |ui| {
        let is_free =
            there == ExistingFile::Nothing || (there == ExistingFile::Fixture && form.replaces);
        let can_save = previews.is_some() && is_free && form.paths().is_some() && !saving.is_saving;
        let verb = match (saving.calls.len(), there) {
            (1, ExistingFile::Fixture) => "Replace the fixture".to_owned(),
            (1, _) => "Save the fixture".to_owned(),
            (several, _) => format!("Save {several} fixtures"),
        };
        if widgets::Button::new(&verb)
            .primary()
            .enabled(can_save)
            .clicked(ui)
        {
            cx.send(FixtureAction::Save);
        }
        widgets::cancel(ui, cx);
        if there == ExistingFile::Fixture {
            let (name, choices) = match saving.calls.len() {
                1 => ("Existing folder", ["Keep it", "Replace it"]),
                _ => ("Existing folders", ["Keep them", "Replace them"]),
            };
            if let Some(chosen) = widgets::segmented(ui, name, &choices, usize::from(form.replaces))
            {
                form.replaces = chosen == 1;
            }
        }
    });
    if form != saving.form {
        cx.send(FixtureAction::Edit(form));
    }
}

/// What stands where the fixtures would go: one line, whatever it says.
fn there_ui(ui: &mut Ui, form: &FixtureForm, previews: Option<&[Preview]>, there: ExistingFile) {
    let t = theme::of(ui);
    let color = match there {
        ExistingFile::Nothing => t.weak,
        ExistingFile::Fixture => t.warn,
        ExistingFile::Other => t.bad,
    };
    let words = match (previews, there) {
        (None, _) => String::new(),
        (Some([one]), ExistingFile::Nothing) => format!("Creates {}", one.path.display()),
        (Some([one]), ExistingFile::Fixture) => format!("{} already exists", one.path.display()),
        (Some([one]), ExistingFile::Other) => {
            format!(
                "{} already exists and is not a fixture: choose another name",
                one.path.display()
            )
        }
        (Some(several), ExistingFile::Nothing) => format!(
            "Creates {} folders in {}",
            several.len(),
            form.folder.trim()
        ),
        (Some(several), there) => {
            let count = several
                .iter()
                .filter(|preview| preview.there == there)
                .count();
            let what = match there {
                ExistingFile::Other => ", and not as fixtures: choose another folder",
                _ => "",
            };
            format!("{count} of {} already exist{what}", several.len())
        }
    };
    widgets::truncated(ui, words, theme::small(), color);
}

fn place_ui(ui: &mut Ui, form: &mut FixtureForm) {
    ui.horizontal(|ui| {
        let width = ui.available_width();
        let field = |ui: &mut Ui, text: &mut String, name: &str, width: f32| {
            ui.vertical(|ui| {
                ui.spacing_mut().item_spacing.y = 2.0;
                widgets::note(ui, name);
                let edit = TextEdit::singleline(text)
                    .font(theme::mono(13.0))
                    .desired_width(width)
                    .margin(Margin::symmetric(8, 6));
                ui.add(edit).accessible_name(name.to_owned()).id
            })
            .inner
        };
        let first = match &mut form.names[..] {
            [name] => {
                field(ui, &mut form.folder, "Folder", width * 0.6 - 4.0);
                field(ui, name, "Name", width * 0.4 - 4.0)
            }
            _ => field(ui, &mut form.folder, "Folder", width),
        };
        widgets::focus_first(ui, first);
    });
}

/// What is made the same, and what is needed.
fn choices_ui(ui: &mut Ui, saving: &FixtureSaving, form: &mut FixtureForm) {
    heading(ui, "Ignore what changes between calls");
    ui.horizontal_wrapped(|ui| {
        let normalise = &mut form.wanted.normalise;
        ui.checkbox(&mut normalise.dates, "Dates")
            .on_hover_text("Each becomes 2000-01-01 in its own form, and is not compared");
        ui.checkbox(&mut normalise.ids, "Random ids").on_hover_text(
            "UUIDs, ULIDs and long hexadecimal numbers are numbered, and not compared",
        );
        ui.checkbox(&mut normalise.order, "Order of lists")
            .on_hover_text("Lists whose records have a key are compared in any order");
    });
    let fields: BTreeSet<&str> = saving
        .calls
        .iter()
        .flat_map(|(_, needed)| needed)
        .map(String::as_str)
        .collect();
    if !fields.is_empty() {
        let words = format!(
            "Expect the needed fields: {}",
            Vec::from_iter(fields).join(", ")
        );
        ui.checkbox(&mut form.expects_needed, words)
            .on_hover_text("They must be in the data and in the text");
    }
}

fn heading(ui: &mut Ui, words: &str) {
    let t = theme::of(ui);
    ui.add_space(4.0);
    widgets::words(ui, words, theme::semibold(13.0), t.strong);
}

fn previews_ui(ui: &mut Ui, previews: &[Preview], form: &mut FixtureForm) {
    let t = theme::of(ui);
    heading(ui, "Possible secrets");
    let found = || {
        previews
            .iter()
            .zip(&form.names)
            .flat_map(|(preview, name)| preview.found.iter().map(move |found| (found, name)))
    };
    if found().next().is_none() {
        widgets::note(
            ui,
            "None found. This is not a guarantee: read it before you share it.",
        );
    }
    let mut kinds: Vec<(&str, Vec<(&FoundSecret, &str)>)> = Vec::new();
    for (found, name) in found() {
        let kind = found.redaction.kind.as_str();
        let place = if previews.len() == 1 { "" } else { name };
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, places)) => places.push((found, place)),
            None => kinds.push((kind, vec![(found, place)])),
        }
    }
    for (kind, found) in kinds {
        kind_ui(ui, kind, &found, &mut form.wanted);
    }
    heading(ui, "Files to write");
    match previews {
        [one] => files_ui(ui, one, ""),
        several => {
            for (preview, name) in several.iter().zip(&form.names) {
                let bytes: u64 = preview.files.iter().map(|file| file.bytes).sum();
                let title = format!("{name} · {}", widgets::number_text(bytes, "bytes"));
                CollapsingHeader::new(widgets::styled(title, theme::mono(12.0), t.strong))
                    .id_salt(("fixture", &preview.path))
                    .show(ui, |ui| files_ui(ui, preview, name));
            }
        }
    }
}

/// The files of a fixture, which has a name where it is one of several, and whether they are what came.
fn files_ui(ui: &mut Ui, preview: &Preview, fixture: &str) {
    let t = theme::of(ui);
    for file in &preview.files {
        file_ui(ui, file, fixture);
    }
    ui.horizontal(|ui| {
        let is_exact = preview.exactness.starts_with("byte for byte");
        let (glyph, color) = if is_exact {
            (icons::CHECK_CIRCLE, t.weak)
        } else {
            (icons::SECRET, t.warn)
        };
        ui.add(Label::new(icons::icon_fill(glyph, 14.0, color)));
        widgets::wrapped(ui, &preview.exactness, theme::base(), t.text);
    });
}

/// A file that would be written; it unfolds to exactly its text.
fn file_ui(ui: &mut Ui, file: &FixtureWritten, fixture: &str) {
    let t = theme::of(ui);
    let key = format!("{fixture}/{}", file.name);
    let title = format!(
        "{} · {}",
        file.name,
        widgets::number_text(file.bytes, "bytes")
    );
    CollapsingHeader::new(widgets::styled(title, theme::mono(12.0), t.strong))
        .id_salt(("written", &key))
        .default_open(file.name == expect::FILE)
        .show_unindented(ui, |ui| {
            if (file.begins.len() as u64) < file.bytes {
                let words = format!(
                    "How it begins: the first {}",
                    widgets::number_text(file.begins.len() as u64, "bytes")
                );
                widgets::words(ui, words, theme::small(), t.warn);
            }
            let lines = code::exact_lines(ui, &key, &file.begins);
            if lines.is_empty() {
                widgets::note(ui, "An empty file");
            } else {
                code::code_ui(ui, &key, &lines, 220.0);
            }
        });
}

/// Places of one kind that are listed.
const PLACES: usize = 12;

/// A kind of secret: what was found of it, each with the fixture that it is in, and whether it is hidden.
fn kind_ui(ui: &mut Ui, kind: &str, found: &[(&FoundSecret, &str)], wanted: &mut DraftOptions) {
    let t = theme::of(ui);
    let count: u64 = found.iter().map(|(found, _)| found.redaction.count).sum();
    let is_offered = OFFERED.contains(&kind);
    let mut is_hidden = if is_offered {
        wanted.also.contains(kind)
    } else {
        !wanted.keep.contains(kind)
    };
    let words = format!(
        "Hide {kind}: {}",
        if count == 1 {
            "1 time".to_owned()
        } else {
            widgets::number_text(count, "times")
        }
    );
    if ui.checkbox(&mut is_hidden, words).changed() {
        wanted.hide(kind, is_hidden);
    }
    for (one, fixture) in found.iter().take(PLACES) {
        let state = if one.is_hidden {
            "hidden"
        } else {
            "left as it is"
        };
        let place = format!("{fixture} {} {}", one.redaction.part, one.redaction.path);
        let line = format!("{state} · {} · {}", place.trim_start(), one.sample);
        ui.horizontal(|ui| {
            ui.add_space(24.0);
            widgets::truncated(ui, line, theme::mono(12.0), t.weak);
        });
    }
    if let Some(more) = found.len().checked_sub(PLACES).filter(|more| *more > 0) {
        let words = format!("and {} more places", widgets::grouped(more as u64));
        widgets::note(ui, words);
    }
}
