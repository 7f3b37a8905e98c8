//! The settings: what holds for every server, where it is kept, and what is remembered of the server of now.

use egui::{DragValue, Label, Popup, Ui, UiBuilder};

use super::theme;
use super::widgets::{self, Button, LineEdit};
use super::{Cx, history, icons, tokenizer, watch};
use crate::state::{Action, Dialog, HistoryAction, HostsAction, SettingsAction};
use loupe_core::format::{self, FORMATS};
use loupe_core::settings::{Settings, Theme, TimeLimits};

/// As the palette and the menu name it.
pub const NAME: &str = "Settings";

/// Width of the names at the left, and of the whole.
const NAMES: f32 = 180.0;
const WIDTH: f32 = 760.0;
/// The name of each limit and what it is of, by word.
const LIMITS: &[(&str, &str, &str)] = &[
    ("message", "Message", "one message of a server"),
    ("pages", "Pages", "pages of a list"),
    (
        "beside",
        "Other messages",
        "messages that come during a call",
    ),
    ("log", "Session log", "messages kept of a session"),
    ("stderr", "Stderr", "stderr kept of a session"),
];

pub fn settings_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let rest = widgets::mode_head(ui, cx, NAME, |_| {});
    ui.scope_builder(UiBuilder::new().max_rect(rest), |ui| {
        widgets::scroll("settings").show(ui, |ui| {
            widgets::mode_body(ui, |ui| {
                ui.set_max_width(WIDTH);
                look_ui(ui, cx);
                counting_ui(ui, cx);
                waits_ui(ui, cx);
                limits_ui(ui, cx);
                history_ui(ui, cx);
                hosts_ui(ui, cx);
                server_ui(ui, cx);
                file_ui(ui, cx);
            });
        });
    });
}

fn heading(ui: &mut Ui, words: &str) {
    ui.add_space(8.0);
    ui.label(widgets::styled(
        words,
        theme::semibold(15.0),
        theme::of(ui).strong,
    ));
}

fn weak(ui: &mut Ui, words: &str) {
    let color = theme::of(ui).weak;
    widgets::wrapped(ui, words, theme::small(), color);
}

/// One setting: its name, and the controls.
fn row(ui: &mut Ui, name: &str, controls: impl FnOnce(&mut Ui)) {
    let color = theme::of(ui).text;
    ui.horizontal(|ui| {
        ui.allocate_ui(egui::vec2(NAMES, theme::INPUT), |ui| {
            ui.set_min_width(NAMES);
            widgets::truncated(ui, name, theme::base(), color);
        });
        controls(ui);
    });
}

fn look_ui(ui: &mut Ui, cx: &Cx<'_>) {
    heading(ui, "Look");
    let settings = &cx.state.settings;
    row(ui, "Theme", |ui| {
        let selected = Theme::ALL
            .iter()
            .position(|theme| *theme == settings.theme)
            .unwrap_or_default();
        if let Some(clicked) =
            widgets::segmented(ui, "Theme", &["System", "Dark", "Light"], selected)
        {
            cx.send(SettingsAction::SetTheme(Theme::ALL[clicked]));
        }
    });
    row(ui, "Text size", |ui| {
        let mut zoom = settings.zoom;
        let drag = DragValue::new(&mut zoom)
            .range(Settings::ZOOM)
            .suffix("%")
            .update_while_editing(false);
        // While it is dragged everything would move under the pointer.
        let response = ui.add(drag).accessible_name("Text size in percent");
        for (glyph, name, step) in [
            (icons::REMOVE, "Smaller", -10_i16),
            (icons::ADD, "Larger", 10),
        ] {
            if widgets::icon_button(ui, glyph, name).clicked() {
                zoom = settings.zoom.saturating_add_signed(step);
            }
        }
        if zoom != settings.zoom && !response.dragged() {
            cx.send(SettingsAction::SetZoom(zoom));
        }
        weak(ui, "Ctrl +, Ctrl − and Ctrl 0 work everywhere");
    });
    row(ui, "Long lines", |ui| {
        let mut wrap = settings.wrap;
        if ui.checkbox(&mut wrap, "Wrap them").changed() {
            cx.send(SettingsAction::SetWrap(wrap));
        }
    });
    row(ui, "Contrast", |ui| {
        let mut has_more = settings.more_contrast;
        if ui.checkbox(&mut has_more, "High contrast").changed() {
            cx.send(SettingsAction::MoreContrast(has_more));
        }
        weak(
            ui,
            "Text at least 7:1 against its ground, borders of controls 3:1",
        );
    });
    row(ui, "Motion", |ui| {
        let mut reduces = settings.reduce_motion;
        if ui.checkbox(&mut reduces, "Reduce motion").changed() {
            cx.send(SettingsAction::ReduceMotion(reduces));
        }
        weak(
            ui,
            "Nothing turns or slides while you wait; the seconds still count",
        );
    });
}

fn counting_ui(ui: &mut Ui, cx: &Cx<'_>) {
    heading(ui, "Counting");
    row(ui, "Tokenizer", |ui| tokenizer::chooser_ui(ui, cx));
    row(ui, "Baseline", |ui| {
        let chosen = cx.state.settings.baseline;
        let name = chosen
            .and_then(format::by_id)
            .map_or("as sent", |format| format.title());
        let button = Button::new(name)
            .menu()
            .name("Baseline of every answer")
            .show(ui);
        Popup::menu(&button).width(240.0).show(|ui| {
            if widgets::choose_row(ui, "as sent", None, chosen.is_none()) {
                cx.send(SettingsAction::ForgetBaseline);
            }
            for format in FORMATS {
                if widgets::choose_row(ui, format.title(), None, chosen == Some(format.id())) {
                    cx.send(SettingsAction::SetBaseline(format.id()));
                }
            }
        });
    });
}

fn waits_ui(ui: &mut Ui, cx: &Cx<'_>) {
    heading(ui, "Time limits");
    let mut waits = cx.state.settings.waits;
    for (name, seconds) in [
        ("Connecting", &mut waits.connect),
        ("A call", &mut waits.call),
    ] {
        row(ui, name, |ui| {
            let drag = DragValue::new(seconds)
                .range(TimeLimits::RANGE)
                .suffix(" s");
            ui.add(drag)
                .accessible_name(format!("{name}, seconds at most"));
        });
    }
    if waits != cx.state.settings.waits {
        cx.send(SettingsAction::SetWaits(waits));
    }
}

fn limits_ui(ui: &mut Ui, cx: &Cx<'_>) {
    heading(ui, "How much is kept of what a server sends");
    for (word, value) in cx.state.limits.entries() {
        let known = LIMITS.iter().find(|(known, ..)| *known == word);
        let (title, about) = known.map_or((word, word), |(_, title, about)| (*title, *about));
        row(ui, title, |ui| {
            let id = egui::Id::unique(("limit", word));
            let shown = spaced(&value);
            let mut typed: String = widgets::recall(ui, id).unwrap_or_else(|| shown.clone());
            let name = format!("Limit {word}: {about}");
            LineEdit {
                name: &name,
                hint: "",
                width: 120.0,
                is_secret: false,
            }
            .show(ui, "settings", &mut typed);
            let is_new = typed.trim() != shown;
            if is_new
                && Button::new("Apply")
                    .small()
                    .name(&format!("Apply the limit {word}"))
                    .clicked(ui)
            {
                cx.send(SettingsAction::SetLimit {
                    word,
                    value: typed.trim().replace(',', ""),
                });
                ui.data_mut(|data| data.remove::<String>(id));
            } else if is_new {
                widgets::remember(ui, id, typed);
            } else {
                ui.data_mut(|data| data.remove::<String>(id));
            }
            weak(ui, about);
        });
    }
    weak(
        ui,
        "From the next connection on; sizes are bytes, or numbers with KiB, MiB or GiB",
    );
}

/// `256MiB` as `256 MiB`, `10000` as `10,000`.
fn spaced(limit: &str) -> String {
    let end = limit.find(|c: char| !c.is_ascii_digit());
    let (number, unit) = limit.split_at(end.unwrap_or(limit.len()));
    match number.parse() {
        Ok(number) => format!("{} {unit}", widgets::grouped(number))
            .trim_end()
            .to_owned(),
        Err(_) => limit.to_owned(),
    }
}

fn history_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let Some(folder) = &cx.state.history.folder else {
        return;
    };
    heading(ui, "History");
    row(ui, "Calls", |ui| {
        let mut is_on = cx.state.history.is_on;
        if ui
            .checkbox(&mut is_on, "Save history, secrets hidden")
            .on_hover_text(format!(
                "In {}; values of variables and headers, passwords and keys are hidden",
                folder.display()
            ))
            .changed()
        {
            cx.send(HistoryAction::SetOn(is_on));
        }
    });
    history::limits_ui(ui, cx);
}

fn hosts_ui(ui: &mut Ui, cx: &Cx<'_>) {
    heading(ui, "Pinned hosts");
    let pinned = &cx.state.view.hosts.pinned;
    if pinned.is_empty() {
        weak(ui, "No host is pinned: those that lose most come first");
    }
    ui.horizontal_wrapped(|ui| {
        for host in pinned {
            let name = format!("Unpin {host}");
            if Button::new(host.as_str())
                .icon(icons::CLOSE)
                .small()
                .name(&name)
                .tip(&name)
                .clicked(ui)
            {
                cx.send(HostsAction::Pin(*host));
            }
        }
    });
}

fn server_ui(ui: &mut Ui, cx: &Cx<'_>) {
    if !cx.state.can_remember() {
        return;
    }
    heading(ui, "This server");
    row(ui, "Without a question", |ui| {
        let count = cx.state.allowed_tools().len() as u64;
        let words = if count == 1 {
            "1 tool…".to_owned()
        } else {
            format!("{}…", widgets::number_text(count, "tools"))
        };
        if Button::new(&words).name("Always-allowed tools").clicked(ui) {
            cx.send(Action::ShowDialog(Dialog::AllowedTools));
        }
    });
    if let Some(open) = watch::open(cx) {
        row(ui, "Files", |ui| {
            let words = if cx.state.watching.files.is_some() {
                "Watched…"
            } else {
                "Not watched…"
            };
            if Button::new(words)
                .name("Files that are watched")
                .clicked(ui)
            {
                cx.send(open);
            }
        });
    }
}

fn file_ui(ui: &mut Ui, cx: &Cx<'_>) {
    heading(ui, "Settings file");
    match cx.state.saved_settings.file() {
        Some(file) => {
            let text = widgets::styled(
                file.display().to_string(),
                theme::code(),
                theme::of(ui).text,
            );
            ui.add(Label::new(text).wrap().selectable(true));
            weak(
                ui,
                "Changes made here are written there at once; keys that Loupe does not know stay as they are. Edits to the file take effect at the next start.",
            );
        }
        None => weak(ui, "Settings are not saved in this run"),
    }
}

#[cfg(test)]
mod tests {
    use super::spaced;

    #[test]
    fn limits_are_shown_in_groups_and_with_their_unit_apart() {
        let shown = ["256MiB", "1000", "1GiB", "2048KiB"].map(spaced);
        assert_eq!(shown, ["256 MiB", "1,000", "1 GiB", "2,048 KiB"]);
    }
}
