//! Resources, templates and prompts: the lists of the sidebar, and the screen of one, to be filled in and read.

use egui::{Label, Margin, TextEdit, Ui, vec2};

use super::theme;
use super::widgets::{self, Button};
use super::{Cx, code, icons};
use crate::state::library::{LibraryAction, LibraryEntry};
use crate::state::{Action, Screen, SidebarTab};

const ROW: f32 = 44.0;
const SIDE: f32 = 12.0;
/// From this width on the entry stands next to its form.
const WIDE: f32 = 760.0;

fn act(cx: &Cx<'_>, action: LibraryAction) {
    cx.send(Action::Library(action));
}

/// The screen of one entry.
pub fn library_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let title = match cx.state.session().library.entry() {
        Some(LibraryEntry::Prompt(_)) => "Prompt",
        Some(LibraryEntry::Template(_)) => "Resource template",
        _ => "Resource",
    };
    let rest = widgets::mode_head(ui, cx, title, |_| {});
    widgets::part(ui, "library", rest, |ui| {
        let Some(entry) = cx.state.session().library.entry() else {
            widgets::empty_ui(ui, "The server no longer lists this.", None);
            return;
        };
        let room = ui.available_rect_before_wrap().shrink(16.0);
        if room.width() < WIDE {
            widgets::part(ui, "entry", room, |ui| {
                widgets::scroll("library entry").show(ui, |ui| {
                    ui.set_max_width(ui.available_width() - 14.0);
                    ui.spacing_mut().item_spacing.y = 8.0;
                    entry_ui(ui, cx, entry);
                    listed_ui(ui, entry, 220.0);
                });
            });
            return;
        }
        // What is filled in, and next to it the entry as it is.
        let (form, listed) = room.split_left_right_at_fraction(0.5);
        widgets::part(ui, "entry", form.with_max_x(form.right() - 12.0), |ui| {
            widgets::scroll("library entry").show(ui, |ui| {
                ui.set_max_width(ui.available_width() - 14.0);
                ui.spacing_mut().item_spacing.y = 8.0;
                entry_ui(ui, cx, entry);
            });
        });
        widgets::vline(ui, form.right(), rest.y_range());
        widgets::part(
            ui,
            "listed",
            listed.with_min_x(listed.left() + 16.0),
            |ui| {
                ui.spacing_mut().item_spacing.y = 8.0;
                listed_ui(ui, entry, ui.available_height() - 40.0);
            },
        );
    });
}

/// The entries of a tab of the sidebar that match its filter.
pub fn list_ui(ui: &mut Ui, cx: &Cx<'_>, tab: SidebarTab) {
    let t = theme::of(ui);
    let library = &cx.state.session().library;
    let note = |ui: &mut Ui, text: &str, color| {
        widgets::padded(ui, Margin::symmetric(14, 4), |ui| {
            widgets::wrapped(ui, text, theme::small(), color);
        });
    };
    let Some(entries) = &library.entries else {
        match library.listing {
            Some(since) => drop(widgets::waiting(ui, "Listing", since, cx)),
            None => note(ui, "Not connected", t.weak),
        }
        return;
    };
    library.notes.iter().for_each(|text| note(ui, text, t.warn));
    let filter = cx.state.session().filter.trim().to_lowercase();
    let matching = |entry: &LibraryEntry| entry.tab() == tab && is_match(entry, &filter);
    let shown: Vec<_> = entries
        .iter()
        .enumerate()
        .filter(|(_, entry)| matching(entry))
        .collect();
    if shown.is_empty() {
        let what = if tab == SidebarTab::Prompts {
            "prompt"
        } else {
            "resource"
        };
        let words = match filter.is_empty() {
            true => format!("The server lists no {what}s"),
            false => format!("No {what} matches “{}”", cx.state.session().filter.trim()),
        };
        return note(ui, &words, t.weak);
    }
    ui.spacing_mut().item_spacing.y = 0.0;
    widgets::scroll("library rows").show_rows(ui, ROW, shown.len(), |ui, range| {
        for &(at, entry) in &shown[range] {
            row_ui(ui, cx, at, entry);
        }
    });
}

fn is_match(entry: &LibraryEntry, filter: &str) -> bool {
    let texts = [
        entry.name(),
        entry.title(),
        entry.description().unwrap_or_default(),
    ];
    filter.is_empty()
        || texts
            .iter()
            .any(|text| text.to_lowercase().contains(filter))
}

/// The place of the only entry that the filter leaves.
pub fn only_match(cx: &Cx<'_>, tab: SidebarTab) -> Option<usize> {
    let filter = cx.state.session().filter.trim().to_lowercase();
    let entries = cx
        .state
        .session()
        .library
        .entries
        .iter()
        .flatten()
        .enumerate();
    let mut matching = entries.filter(|(_, entry)| entry.tab() == tab && is_match(entry, &filter));
    let (at, _) = matching.next()?;
    matching.next().is_none().then_some(at)
}

/// Its icon, and what it is.
pub(super) fn kind(entry: &LibraryEntry) -> (&'static str, &'static str) {
    match entry {
        LibraryEntry::Resource(_) => (icons::RESOURCE, "resource"),
        LibraryEntry::Template(_) => (icons::CODE, "template"),
        LibraryEntry::Prompt(_) => (icons::PROMPTS, "prompt"),
    }
}

fn row_ui(ui: &mut Ui, cx: &Cx<'_>, at: usize, entry: &LibraryEntry) {
    let t = theme::of(ui);
    let row = widgets::ListRow::new(ui, ROW);
    let is_selected =
        cx.state.session().library.selected == Some(at) && cx.state.view.screen == Screen::Library;
    row.ground(is_selected);
    let (icon, word) = kind(entry);
    let color = match entry.faults().is_empty() {
        true => t.accent,
        false => t.warn,
    };
    row.icon(row.inset_left(SIDE + 8.0), icon, 16.0, color);
    let title = match entry.title() {
        "" => "without a name",
        title => title,
    };
    let (left, right) = (row.inset_left(SIDE + 26.0), row.inset_right(SIDE));
    row.line(14.0)
        .text(left, right, title, theme::semibold(13.0), t.text);
    row.line(31.0)
        .text(left, right, entry.name(), theme::mono(12.0), t.weak);
    let changed = if cx.state.session().library.updated.contains(entry.name()) {
        ", changed"
    } else {
        ""
    };
    let odd = if entry.faults().is_empty() {
        ""
    } else {
        ", odd"
    };
    let name = format!("{word} {title}, {}{changed}{odd}", entry.name());
    row.say_entry(is_selected, &name);
    if row.response.clicked() {
        act(cx, LibraryAction::Select(at));
    }
}

fn entry_ui(ui: &mut Ui, cx: &Cx<'_>, entry: &LibraryEntry) {
    let t = theme::of(ui);
    let library = &cx.state.session().library;
    let small =
        |text: String, color| Label::new(widgets::styled(text, theme::small(), color)).wrap();
    widgets::wrapped(ui, entry.title(), theme::semibold(16.0), t.strong);
    ui.add(
        Label::new(widgets::styled(entry.name(), theme::code(), t.text))
            .wrap()
            .selectable(true),
    );
    if let LibraryEntry::Resource(resource) | LibraryEntry::Template(resource) = entry {
        let size = resource
            .size
            .map(|size| widgets::number_text(size, "bytes"));
        let facts: Vec<_> = resource.mime_type.clone().into_iter().chain(size).collect();
        if !facts.is_empty() {
            ui.add(small(facts.join(" · "), t.weak));
        }
        if resource
            .mime_type
            .as_deref()
            .is_some_and(|mime| mime.contains("mcp-app"))
        {
            ui.add(small(
                "The page of an MCP App: its source is shown, and never run.".into(),
                t.weak,
            ));
        }
    }
    if let Some(description) = entry.description() {
        widgets::paragraph(ui, description);
    }
    for fault in entry.faults() {
        ui.add(small(fault.clone(), t.warn));
    }
    let places = entry.places();
    for (name, description, required) in &places {
        let mark = if *required { " · required" } else { "" };
        widgets::words(ui, format!("{name}{mark}"), theme::mono(12.0), t.weak);
        if let Some(description) = description {
            ui.add(small(description.clone(), t.weak));
        }
        let mut value = library.values.get(name).cloned().unwrap_or_default();
        let field = TextEdit::singleline(&mut value)
            .desired_width(f32::INFINITY)
            .margin(Margin::symmetric(8, 5));
        let response = ui.add(field).accessible_name(name);
        if response.changed() || response.gained_focus() {
            act(
                cx,
                LibraryAction::Set {
                    name: name.clone(),
                    value,
                },
            );
        }
        if let Some((_, values)) = library
            .suggestions
            .as_ref()
            .filter(|(of, values)| of == name && !values.is_empty())
        {
            ui.horizontal_wrapped(|ui| {
                ui.spacing_mut().item_spacing = vec2(6.0, 4.0);
                for suggestion in values.iter().take(20) {
                    if Button::new(suggestion).small().clicked(ui) {
                        act(
                            cx,
                            LibraryAction::Set {
                                name: name.clone(),
                                value: suggestion.clone(),
                            },
                        );
                    }
                }
            });
        }
    }
    let is_missing = places.iter().any(|(name, _, required)| {
        *required && library.values.get(name).is_none_or(String::is_empty)
    });
    let can_read =
        cx.state.running.is_none() && cx.state.session().connection.is_connected() && !is_missing;
    ui.horizontal(|ui| {
        let words = if matches!(entry, LibraryEntry::Prompt(_)) {
            "Fill in"
        } else {
            "Read"
        };
        if Button::new(words)
            .icon_fill(icons::CALL)
            .primary()
            .enabled(can_read)
            .clicked(ui)
        {
            act(cx, LibraryAction::Read);
        }
        let can_watch = cx
            .state
            .session()
            .connection
            .server()
            .is_some_and(|server| server.declares("/resources/subscribe"));
        if let Some(uri) = library.uri().filter(|_| can_watch && !is_missing) {
            let is_watched = library.watched.contains(&uri);
            let words = if is_watched { "Stop watching" } else { "Watch" };
            if Button::new(words)
                .tip("Ask the server to report changes")
                .clicked(ui)
            {
                act(cx, LibraryAction::Watch(!is_watched));
            }
            if library.updated.contains(&uri) {
                widgets::words(ui, "changed since it was read", theme::small(), t.warn);
            }
        }
    });
    if cx.state.running.is_some() {
        widgets::waiting(
            ui,
            "Reading",
            cx.state
                .running
                .as_ref()
                .map_or(cx.state.now, |running| running.since),
            cx,
        );
    }
}

/// The entry as the server lists it.
fn listed_ui(ui: &mut Ui, entry: &LibraryEntry, height: f32) {
    widgets::note_wrapped(
        ui,
        "The entry as listed, icons and _meta included; icons are not fetched",
    );
    let lines = code::lines_of(ui, "library entry", entry.raw());
    code::code_ui(ui, "library entry", &lines, height);
}
