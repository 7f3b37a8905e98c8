//! The built-in sample on the connect screen: its sets, their switches, and the button that starts it.

use egui::{
    Align, Id, Label, Margin, Popup, RichText, Role, Sense, Stroke, TextEdit, Ui, pos2, vec2,
};

use super::super::theme;
use super::super::widgets;
use super::super::{Cx, icons, shortcuts};
use super::compare_tools;
use crate::state::server_diff::ServerDiffAction;
use crate::state::{Action, ConnectAction, ConnectForm};
use loupe_core::source::{SAMPLE_SETS, SampleKey, SampleSet, SampleSpec, Source, Takes};

/// One row: what it is, its options, and the button that starts it.
pub(super) fn sample_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    let mut spec = cx.state.connect_form.sample.clone();
    let problem = spec.check().err();
    let id = Id::unique("options of the sample");
    let mut is_open = widgets::recall(ui, id).unwrap_or(false);
    let mut is_opened = false;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 10.0;
        ui.set_min_height(theme::BUTTON);
        ui.add(Label::new(icons::icon(icons::SPARKLE, 18.0, t.accent)));
        widgets::words(ui, "Sample server", theme::semibold(13.0), t.strong);
        let room = ui.available_width();
        widgets::at_right(ui, theme::BUTTON, |ui| {
            start_ui(ui, cx, &spec, problem.is_none());
            let label = if spec == SampleSpec::default() {
                "Options"
            } else {
                spec.set.as_str()
            };
            if widgets::Button::new(label)
                .menu()
                .name("Options of the sample")
                .clicked(ui)
            {
                is_open = !is_open;
                is_opened = is_open;
                widgets::remember(ui, id, is_open);
            }
            if room > 520.0 {
                let words = "Formats of real systems · offline, built in";
                ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                    widgets::truncated(ui, words, theme::small(), t.weak);
                });
            }
        });
    });
    if let Some(problem) = &problem {
        let hint = problem
            .hint
            .as_deref()
            .map_or_else(String::new, |hint| format!(": {hint}"));
        let words = widgets::styled(format!("{}{hint}", problem.what), theme::small(), t.bad);
        ui.add(Label::new(words).wrap());
    }
    if is_open {
        ui.add_space(6.0);
        options_ui(ui, cx, &mut spec);
        if is_opened {
            ui.scroll_to_cursor_animation(Some(Align::Max), egui::style::ScrollAnimation::none());
        }
    }
    if spec != cx.state.connect_form.sample {
        let form = ConnectForm {
            sample: spec,
            ..cx.state.connect_form.clone()
        };
        cx.send(ConnectAction::Edit(Box::new(form)));
    }
}

fn start_ui(ui: &mut Ui, cx: &Cx<'_>, spec: &SampleSpec, is_valid: bool) {
    let is_choosing = cx.state.server_diff.is_choosing;
    let (label, name) = match is_choosing {
        true => (compare_tools::LIST_SAMPLE, compare_tools::LIST_SAMPLE),
        false => ("Start", "Start sample server"),
    };
    let keys = shortcuts::text(&shortcuts::START_SAMPLE);
    let mut button = widgets::Button::new(label)
        .icon_fill(icons::CALL)
        .name(name)
        .enabled(is_valid);
    if *spec == SampleSpec::default() {
        button = button.shortcut(&keys);
    }
    if !is_valid {
        button = button.tip("A switch has no such value");
    }
    if button.clicked(ui) {
        let source = Box::new(Source::Sample(spec.clone()));
        cx.send(if is_choosing {
            Action::ServerDiff(ServerDiffAction::List(source))
        } else {
            ConnectAction::Connect(source).into()
        });
    }
}

/// The sets, the switches of the chosen one, and the command line that starts the same.
fn options_ui(ui: &mut Ui, cx: &Cx<'_>, spec: &mut SampleSpec) {
    let t = theme::of(ui);
    for set in SAMPLE_SETS {
        if set_row(ui, set, spec.set == set.id) && spec.set != set.id {
            // Switches that the set knows too stay as they are.
            let new = SampleSpec {
                set: set.id.to_owned(),
                ..SampleSpec::default()
            };
            for (key, value) in std::mem::replace(spec, new).keys {
                let mut with = spec.clone();
                with.keys.insert(key, value);
                if with.check().is_ok() {
                    *spec = with;
                }
            }
        }
    }
    widgets::separator(ui);
    ui.add_space(4.0);
    if let Some(set) = SAMPLE_SETS.iter().find(|set| set.id == spec.set) {
        for key in set.keys {
            key_row(ui, key, spec);
        }
    }
    ui.add_space(6.0);
    let line = format!("mcp-loupe {}", Source::Sample(spec.clone()));
    ui.horizontal(|ui| {
        if widgets::icon_button(ui, icons::COPY, "Copy the command line").clicked() {
            cx.send(Action::Copy(line.clone()));
        }
        ui.add(
            Label::new(widgets::styled(&line, theme::code(), t.weak))
                .wrap()
                .selectable(true),
        );
    });
    if *spec != SampleSpec::default()
        && widgets::Button::new("Defaults")
            .icon(icons::UNDO)
            .frameless()
            .name("Sample defaults")
            .clicked(ui)
    {
        *spec = SampleSpec::default();
    }
}

/// One set; true when it was clicked.
fn set_row(ui: &mut Ui, set: &'static SampleSet, is_chosen: bool) -> bool {
    let t = theme::of(ui);
    let row = widgets::ListRow::new(ui, 40.0);
    let title = set.title;
    let spoken = format!("Sample set {title}: {}", set.about);
    widgets::say_selected(&row.response, Role::RadioButton, is_chosen, spoken);
    row.ground_round(is_chosen, theme::RADIUS_CONTROL);
    let (center, painter) = (pos2(row.inset_left(14.0), row.y), row.ui.painter());
    let ring = Stroke::new(1.5, if is_chosen { t.accent } else { t.weak });
    painter.circle_stroke(center, 6.0, ring);
    if is_chosen {
        painter.circle_filled(center, 3.0, t.accent);
    }
    let (left, right, first) = (row.inset_left(30.0), row.inset_right(8.0), row.line(12.0));
    let end = first.text(left, right, title, theme::semibold(13.0), t.strong) + 8.0;
    first.text(end, right + 4.0, set.id, theme::code(), t.weak);
    row.line(29.0)
        .text(left, right, set.about, theme::small(), t.weak);
    row.response.on_hover_text(set.about).clicked()
}

/// One switch: a chooser of its words, or a number.
fn key_row(ui: &mut Ui, key: &'static SampleKey, spec: &mut SampleSpec) {
    let t = theme::of(ui);
    ui.horizontal(|ui| {
        ui.set_height(theme::INPUT);
        let (rect, label) = ui.allocate_exact_size(vec2(124.0, theme::INPUT), Sense::hover());
        widgets::text_at(
            ui,
            rect.left_center(),
            key.name,
            theme::mono(12.5),
            t.text,
            rect.width(),
        );
        label.on_hover_text(key.about);
        let given = spec.keys.get(key.name).cloned();
        // Where each set of `all` has its own, the default is no value.
        let default = key.default.unwrap_or("each set’s own");
        match key.takes {
            Takes::Word(words) => {
                let shown = given.as_deref().unwrap_or(default);
                let is_default = given.is_none() || given.as_deref() == key.default;
                let label = if is_default {
                    format!("{shown} (default)")
                } else {
                    shown.to_owned()
                };
                let spoken = format!("{}: {label}", key.name);
                let button = widgets::Button::new(&label)
                    .menu()
                    .height(theme::SMALL_BUTTON)
                    .name(&spoken)
                    .tip(key.about)
                    .show(ui);
                Popup::menu(&button).width(220.0).show(|ui| {
                    ui.spacing_mut().item_spacing.y = 0.0;
                    if key.default.is_none()
                        && widgets::menu_row(
                            ui,
                            &format!("{default} (default)"),
                            None,
                            given.is_none(),
                        )
                        .clicked()
                    {
                        spec.keys.remove(key.name);
                        ui.close();
                    }
                    for word in words {
                        let is_default = Some(*word) == key.default;
                        let label = if is_default {
                            format!("{word} (default)")
                        } else {
                            (*word).to_owned()
                        };
                        let is_chosen = given.as_deref().or(key.default) == Some(*word);
                        if widgets::choose_row(ui, &label, None, is_chosen) {
                            if is_default {
                                spec.keys.remove(key.name);
                            } else {
                                spec.keys.insert(key.name.to_owned(), (*word).to_owned());
                            }
                        }
                    }
                });
            }
            Takes::UpTo(most) => {
                let mut text = given.unwrap_or_default();
                let edit = TextEdit::singleline(&mut text)
                    .id(Id::unique(("sample key", key.name)))
                    .font(theme::mono(12.5))
                    .hint_text(RichText::new(format!("{default} (default)")).color(t.weak))
                    .desired_width(120.0)
                    .margin(Margin::symmetric(8, 4));
                let response = ui.add(edit).accessible_name(key.name);
                if response.changed() {
                    if text.trim().is_empty() || Some(text.trim()) == key.default {
                        spec.keys.remove(key.name);
                    } else {
                        spec.keys
                            .insert(key.name.to_owned(), text.trim().to_owned());
                    }
                }
                response.on_hover_text(format!(
                    "{}: 0 to {}",
                    key.about,
                    widgets::grouped(most.into())
                ));
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_set_of_the_sample_is_offered() {
        // A set without a title of its own would show its id.
        assert!(SAMPLE_SETS.iter().all(|set| set.title != set.id));
    }
}
