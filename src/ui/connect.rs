//! The connect screen: your own server at the left, the built-in sample at the right.
//!
//! What connecting will run or reach stands there in full before the button that does it; values of variables and
//! headers are never shown.

use egui::{Frame, Id, Label, Margin, Popup, RichText, Role, ScrollArea, Sense, Stroke, TextEdit, Ui, WidgetInfo, pos2, vec2};

use super::panes::menu_row;
use super::theme::{self, Tokens};
use super::widgets::{self, Tone};
use super::{Cx, commands, icons, top_bar};
use crate::source::{SAMPLE_SETS, SampleKey, SampleSet, SampleSpec, Source, Takes};
use crate::state::{Action, ConnectForm, ConnectMode, Connection, Dialog};

const WIDTH: f32 = 1200.0;
const SAMPLE: f32 = 416.0;

pub fn connect_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = Tokens::of(ui);
    ScrollArea::vertical().id_salt("connect").auto_shrink(false).show(ui, |ui| {
        let room = ui.available_width();
        let width = (room - 48.0).clamp(280.0, WIDTH);
        // The sidebar may stand beside it.
        let is_wide = room >= 960.0;
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = 0.0;
            ui.add_space(((room - width) / 2.0).max(0.0));
            ui.vertical(|ui| {
                ui.set_width(width);
                ui.spacing_mut().item_spacing = vec2(8.0, 6.0);
                ui.add_space(20.0);
                head_ui(ui, cx);
                ui.add_space(16.0);
                if is_wide {
                    ui.horizontal_top(|ui| {
                        ui.spacing_mut().item_spacing.x = 24.0;
                        ui.vertical(|ui| {
                            ui.spacing_mut().item_spacing.x = 8.0;
                            ui.set_width(width - SAMPLE - 24.0);
                            progress_ui(ui, cx);
                            left_ui(ui, cx);
                        });
                        ui.vertical(|ui| {
                            ui.spacing_mut().item_spacing.x = 8.0;
                            ui.set_width(SAMPLE);
                            sample_ui(ui, cx);
                        });
                    });
                } else {
                    progress_ui(ui, cx);
                    sample_ui(ui, cx);
                    ui.add_space(24.0);
                    left_ui(ui, cx);
                }
                ui.add_space(24.0);
                ui.label(
                    RichText::new("Nothing is started and nothing is reached before you click")
                        .font(theme::small())
                        .color(t.weak),
                );
                ui.add_space(24.0);
            });
        });
    });
}

fn head_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = Tokens::of(ui);
    let back = if cx.state.view.capture.is_some() { "Answer" } else { "Back" };
    if widgets::Button::new(back).icon(icons::ARROW_LEFT).small().frameless().tip("Esc").show(ui).clicked() {
        cx.send(commands::back(cx));
    }
    ui.label(RichText::new("Connect to an MCP server").font(theme::page_title()).color(t.strong));
    let words = "See what one tool response looks like, and costs, in every format a model might read.";
    ui.add(Label::new(RichText::new(words).font(theme::regular(14.0)).color(t.weak)).wrap());
}

fn card<R>(ui: &mut Ui, accent: bool, content: impl FnOnce(&mut Ui) -> R) -> R {
    let t = Tokens::of(ui);
    let line = if accent { t.accent_line } else { t.line };
    Frame::new()
        .fill(t.panel)
        .stroke(Stroke::new(1.0, line))
        .corner_radius(theme::RADIUS_CARD)
        .inner_margin(Margin::same(16))
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            content(ui)
        })
        .inner
}

fn left_ui(ui: &mut Ui, cx: &Cx<'_>) {
    card(ui, false, |ui| form_ui(ui, cx));
    ui.add_space(24.0);
    card(ui, false, |ui| {
        let t = Tokens::of(ui);
        ui.horizontal(|ui| {
            ui.add(Label::new(icons::icon(icons::IMPORT, 16.0, t.weak)));
            ui.label(RichText::new("Drop a capture folder or a file with an answer here").font(theme::base()).color(t.weak));
            top_bar::at_right(ui, theme::BUTTON, |ui| {
                if widgets::button(ui, "Open file…").clicked() {
                    cx.send(Action::OpenPath(None));
                }
            });
        });
        ui.label(RichText::new("It opens without a server").font(theme::small()).color(t.weak));
    });
}

/// Where a connection stands: on its way, failed, or gone.
fn progress_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = Tokens::of(ui);
    match &cx.state.connection {
        Connection::Connecting { source, phase, since, limit, stderr } => {
            card(ui, true, |ui| {
                ui.horizontal(|ui| {
                    widgets::waiting(ui, &format!("Connecting: {phase}"), *since, cx);
                    ui.label(RichText::new(format!("of {}", widgets::seconds(*limit))).font(theme::code()).color(t.weak));
                    top_bar::at_right(ui, theme::BUTTON, |ui| {
                        if widgets::Button::new("Cancel").shortcut("Esc").name("Cancel connecting").show(ui).clicked() {
                            cx.send(Action::CancelConnect);
                        }
                    });
                });
                ui.add(Label::new(RichText::new(source.to_string()).font(theme::code()).color(t.weak)).wrap());
                stderr_tail(ui, cx, stderr, "The server has written nothing to stderr yet");
            });
            ui.add_space(16.0);
        }
        Connection::Failed { problem, stderr, .. } | Connection::Gone { problem, stderr, .. } => {
            widgets::problem_ui(ui, problem);
            if !stderr.is_empty() {
                card(ui, false, |ui| stderr_tail(ui, cx, stderr, ""));
            }
            ui.horizontal(|ui| {
                if widgets::Button::new("Retry").icon(icons::REFRESH).show(ui).clicked() {
                    cx.send(Action::Reconnect);
                }
                if let Some(source) = cx.state.connection.source() {
                    ui.add(Label::new(RichText::new(source.to_string()).font(theme::code()).color(t.weak)).truncate());
                }
            });
            ui.add_space(16.0);
        }
        Connection::None | Connection::Connected { .. } => {}
    }
}

fn stderr_tail(ui: &mut Ui, cx: &Cx<'_>, lines: &[String], nothing: &str) {
    let t = Tokens::of(ui);
    if lines.is_empty() {
        ui.label(RichText::new(nothing).font(theme::small()).color(t.weak));
        return;
    }
    ui.horizontal(|ui| {
        ui.label(RichText::new("stderr").font(theme::mono(12.0)).color(t.weak));
        if lines.len() > 6 && widgets::Button::new("Show all").small().frameless().show(ui).clicked() {
            cx.send(Action::ShowDialog(Dialog::Stderr));
        }
    });
    for line in &lines[lines.len().saturating_sub(6)..] {
        ui.add(Label::new(RichText::new(line).font(theme::code()).color(t.text)).truncate());
    }
}

// The form

fn form_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let mut form = cx.state.connect_form.clone();
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 20.0;
        for (mode, icon, name) in
            [(ConnectMode::Command, icons::STDIO, "Command (stdio)"), (ConnectMode::Url, icons::HTTP, "HTTP URL")]
        {
            if widgets::tab(ui, Some(icon), name, None, form.mode == mode, 32.0).clicked() {
                form.mode = mode;
            }
        }
    });
    widgets::separator(ui);
    ui.add_space(6.0);
    match form.mode {
        ConnectMode::Command => command_ui(ui, &mut form),
        ConnectMode::Url => url_ui(ui, &mut form),
    }
    ui.add_space(8.0);
    let source = form.source();
    consent_ui(ui, &form, &source);
    ui.add_space(6.0);
    let is_connecting = matches!(cx.state.connection, Connection::Connecting { .. });
    top_bar::at_right(ui, theme::BUTTON, |ui| {
        let keys = format!("{} ↵", if cfg!(target_os = "macos") { "Cmd" } else { "Ctrl" });
        let why = match &source {
            Err(problem) => problem.what.clone(),
            Ok(_) if is_connecting => "Connecting already".into(),
            Ok(_) => String::new(),
        };
        let mut button = widgets::Button::new("Connect").icon_fill(icons::PLUG).shortcut(&keys).primary().enabled(why.is_empty());
        if !why.is_empty() {
            button = button.tip(&why);
        }
        if button.show(ui).clicked() {
            cx.send(Action::ConnectForm);
        }
    });
    if form != cx.state.connect_form {
        cx.send(Action::EditConnect(form));
    }
}

fn label(ui: &mut Ui, words: &str) {
    let t = Tokens::of(ui);
    ui.label(RichText::new(words).font(theme::small()).color(t.weak));
}

fn field(ui: &mut Ui, name: &str, hint: &str, width: f32, text: &mut String) {
    let t = Tokens::of(ui);
    let edit = TextEdit::singleline(text)
        .id(Id::unique(("connect", name)))
        .font(theme::mono(12.5))
        .hint_text(RichText::new(hint).color(t.weak))
        .desired_width(width - 18.0)
        .margin(Margin::symmetric(8, 5))
        .align(egui::Align2::LEFT_CENTER)
        .min_size(vec2(width, theme::INPUT));
    ui.add(edit).accessible_name(name);
}

fn pair<R>(ui: &mut Ui, first: f32, left: impl FnOnce(&mut Ui, f32), right: impl FnOnce(&mut Ui, f32) -> R) {
    let width = ui.available_width();
    if width < 480.0 {
        left(ui, width);
        right(ui, width);
        return;
    }
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 12.0;
        ui.vertical(|ui| {
            ui.set_width(width * first);
            left(ui, width * first);
        });
        ui.vertical(|ui| {
            let rest = width * (1.0 - first) - 12.0;
            ui.set_width(rest);
            right(ui, rest);
        });
    });
}

fn command_ui(ui: &mut Ui, form: &mut ConnectForm) {
    let ConnectForm { command, arguments, folder, environment, .. } = form;
    pair(
        ui,
        0.4,
        |ui, width| {
            label(ui, "Command");
            field(ui, "Command", "npx -y my-server", width, command);
        },
        |ui, width| {
            label(ui, "Arguments");
            field(ui, "Arguments", "none", width, arguments);
        },
    );
    ui.add_space(4.0);
    pair(
        ui,
        0.4,
        |ui, width| {
            label(ui, "Working folder");
            field(ui, "Working folder", "where Loupe was started", width, folder);
        },
        |ui, width| {
            label(ui, "Environment");
            rows_ui(ui, "variable", "NAME", environment, width);
        },
    );
}

fn url_ui(ui: &mut Ui, form: &mut ConnectForm) {
    let width = ui.available_width();
    label(ui, "URL");
    field(ui, "URL", "http://127.0.0.1:3001/mcp", width, &mut form.url);
    ui.add_space(4.0);
    label(ui, "Headers");
    rows_ui(ui, "header", "Name", &mut form.headers, width);
}

/// Rows of a name and a secret value.
fn rows_ui(ui: &mut Ui, noun: &str, hint: &str, rows: &mut Vec<(String, String)>, width: f32) {
    let t = Tokens::of(ui);
    let mut removed = None;
    for (index, (name, value)) in rows.iter_mut().enumerate() {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 6.0;
            let each = ((width - 24.0 - 2.0 * 6.0) / 2.0).max(80.0);
            field(ui, &format!("Name of {noun} {}", index + 1), hint, each, name);
            let edit = TextEdit::singleline(value)
                .id(Id::unique(("connect value", noun, index)))
                .password(true)
                .font(theme::mono(12.5))
                .hint_text(RichText::new("value, kept secret").color(t.weak))
                .desired_width(each - 18.0)
                .margin(Margin::symmetric(8, 5))
                .min_size(vec2(each, theme::INPUT));
            ui.add(edit).accessible_name(format!("Value of {noun} {}", index + 1));
            if widgets::icon_button(ui, icons::REMOVE, &format!("Remove {noun} {}", index + 1)).clicked() {
                removed = Some(index);
            }
        });
    }
    if let Some(index) = removed {
        rows.remove(index);
    }
    if widgets::Button::new(&format!("Add {noun}")).icon(icons::ADD).small().frameless().show(ui).clicked() {
        rows.push(Default::default());
    }
}

/// What connecting does, in full, before it is done.
fn consent_ui(ui: &mut Ui, form: &ConnectForm, source: &Result<Source, crate::problem::Problem>) {
    let t = Tokens::of(ui);
    let is_blank = form.command.trim().is_empty() && form.mode == ConnectMode::Command
        || form.url.trim().is_empty() && form.mode == ConnectMode::Url;
    let title = match form.mode {
        ConnectMode::Command => "Connecting runs this command on your computer, as you",
        ConnectMode::Url => "Connecting sends requests to this address",
    };
    Frame::new()
        .fill(t.warn_bg)
        .stroke(Stroke::new(1.0, t.warn_line))
        .corner_radius(theme::RADIUS_CONTROL)
        .inner_margin(Margin::same(12))
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.horizontal_top(|ui| {
                ui.add(Label::new(icons::icon_fill(icons::CONSENT, 16.0, t.warn)));
                ui.vertical(|ui| {
                    ui.spacing_mut().item_spacing.y = 4.0;
                    ui.label(RichText::new(title).font(theme::semibold(13.0)).color(t.strong));
                    match source {
                        Ok(source) => source_ui(ui, source),
                        Err(_) if is_blank => {
                            let words = match form.mode {
                                ConnectMode::Command => "Type the command that starts your server; it is shown here in full",
                                ConnectMode::Url => "Type your server's address; it is shown here in full",
                            };
                            ui.add(Label::new(RichText::new(words).font(theme::small()).color(t.text)).wrap());
                        }
                        Err(problem) => {
                            ui.label(RichText::new(problem.message()).font(theme::small()).color(t.bad));
                            if let Some(hint) = &problem.hint {
                                ui.add(Label::new(RichText::new(hint).font(theme::small()).color(t.text)).wrap());
                            }
                        }
                    }
                });
            });
        });
}

fn source_ui(ui: &mut Ui, source: &Source) {
    let t = Tokens::of(ui);
    let exact = |ui: &mut Ui, text: String| {
        ui.add(Label::new(RichText::new(text).font(theme::mono(12.5)).color(t.strong)).wrap().selectable(true))
    };
    let names = |pairs: &[(String, String)]| pairs.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
    let mut notes = Vec::new();
    match source {
        Source::Command(command) => {
            exact(ui, format!("$ {}", command.line()));
            notes.push(
                command
                    .cwd
                    .as_ref()
                    .map_or_else(|| "In the folder Loupe was started in".to_owned(), |cwd| format!("In {}", cwd.display())),
            );
            if command.env.is_empty() {
                notes.push("no extra variables".into());
            } else {
                notes.push(format!("with {}", names(&command.env)));
            }
        }
        Source::Http(http) => {
            exact(ui, http.url.clone());
            if http.headers.is_empty() {
                notes.push("No extra headers".into());
            } else {
                notes.push(format!("With the headers {}", names(&http.headers)));
            }
        }
        Source::Sample(_) => {}
    }
    let has_secrets = !matches!(source, Source::Command(command) if command.env.is_empty())
        && !matches!(source, Source::Http(http) if http.headers.is_empty());
    let secrets = if has_secrets { ". Their values stay out of captures" } else { "" };
    ui.add(Label::new(RichText::new(format!("{}{secrets}.", notes.join(", "))).font(theme::small()).color(t.text)).wrap());
}

// The sample

/// The names of the sets, as people know them.
fn set_title(id: &'static str) -> &'static str {
    match id {
        "all" => "Everything",
        "autotask-dual" => "Autotask, dual",
        "autotask-strict" => "Autotask, strict",
        "dial" => "DIAL users",
        "delegator" => "Delegator",
        "autoreply" => "Autoreply",
        other => other,
    }
}

fn sample_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = Tokens::of(ui);
    let mut spec = cx.state.connect_form.sample.clone();
    card(ui, true, |ui| {
        ui.horizontal(|ui| {
            ui.add(Label::new(icons::icon(icons::SPARKLE, 18.0, t.accent)));
            ui.label(RichText::new("Sample server").font(theme::semibold(15.0)).color(t.strong));
            top_bar::at_right(ui, theme::BUTTON, |ui| {
                widgets::badge(ui, Some(icons::CHECK_CIRCLE), "Offline, built in", Tone::Ok, false);
            });
        });
        let words =
            "Tools that reproduce the response formats of real systems, inside this program. Nothing leaves this computer.";
        ui.add(Label::new(RichText::new(words).font(theme::base()).color(t.weak)).wrap());
        ui.add_space(6.0);
        for set in SAMPLE_SETS {
            if set_row(ui, set, spec.set == set.id) && spec.set != set.id {
                // Switches that the set knows too stay as they are.
                let old = std::mem::replace(&mut spec, SampleSpec { set: set.id.to_owned(), ..SampleSpec::default() });
                for (key, value) in old.keys {
                    let mut with = spec.clone();
                    with.keys.insert(key, value);
                    if with.check().is_ok() {
                        spec = with;
                    }
                }
            }
        }
        widgets::separator(ui);
        ui.add_space(4.0);
        if let Some(set) = SAMPLE_SETS.iter().find(|set| set.id == spec.set) {
            for key in set.keys {
                key_row(ui, key, &mut spec);
            }
        }
        ui.add_space(6.0);
        let source = Source::Sample(spec.clone());
        let line = format!("mcp-loupe {source}");
        ui.horizontal(|ui| {
            if widgets::icon_button(ui, icons::COPY, "Copy the command line").clicked() {
                cx.send(Action::Copy(line.clone()));
            }
            ui.add(Label::new(RichText::new(&line).font(theme::code()).color(t.weak)).wrap().selectable(true));
        });
        ui.add_space(4.0);
        let problem = spec.check().err();
        if let Some(problem) = &problem {
            let hint = problem.hint.as_deref().map_or_else(String::new, |hint| format!(": {hint}"));
            let words = RichText::new(format!("{}{hint}", problem.what)).font(theme::small()).color(t.bad);
            ui.add(Label::new(words).wrap());
        }
        let is_default = spec == SampleSpec::default();
        let keys = if is_default { commands::keys_of("Start the sample server") } else { String::new() };
        ui.horizontal(|ui| {
            let name = "Start sample server";
            let is_clicked = if problem.is_some() {
                widgets::Button::new(name)
                    .icon_fill(icons::CALL)
                    .primary()
                    .enabled(false)
                    .tip("A switch has no such value")
                    .show(ui)
                    .clicked()
            } else {
                widgets::primary_button(ui, name, Some(icons::CALL), Some(&*keys).filter(|keys| !keys.is_empty())).clicked()
            };
            if is_clicked {
                cx.send(Action::Connect(source));
            }
            if !is_default
                && widgets::Button::new("Defaults").icon(icons::UNDO).frameless().name("Sample defaults").show(ui).clicked()
            {
                spec = SampleSpec::default();
            }
        });
    });
    if spec != cx.state.connect_form.sample {
        let form = ConnectForm { sample: spec, ..cx.state.connect_form.clone() };
        cx.send(Action::EditConnect(form));
    }
}

/// One set; true when it was clicked.
fn set_row(ui: &mut Ui, set: &'static SampleSet, is_chosen: bool) -> bool {
    let t = Tokens::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 40.0), Sense::click());
    let title = set_title(set.id);
    response
        .widget_info(|| WidgetInfo::selected(Role::RadioButton, true, is_chosen, format!("Sample set {title}: {}", set.about)));
    if is_chosen || response.hovered() {
        let fill = if is_chosen { t.accent_bg } else { t.hover };
        ui.painter().rect_filled(rect, theme::RADIUS_CONTROL, fill);
    }
    widgets::focus_ring_inside(ui, &response);
    let center = pos2(rect.left() + 14.0, rect.center().y);
    ui.painter().circle_stroke(center, 6.0, Stroke::new(1.5, if is_chosen { t.accent } else { t.weak }));
    if is_chosen {
        ui.painter().circle_filled(center, 3.0, t.accent);
    }
    let (left, width) = (rect.left() + 30.0, rect.width() - 38.0);
    let end = widgets::text_at(ui, pos2(left, rect.top() + 12.0), title, theme::semibold(13.0), t.strong, width);
    widgets::text_at(ui, pos2(end + 8.0, rect.top() + 12.0), set.id, theme::code(), t.weak, (rect.right() - end - 12.0).max(0.0));
    widgets::text_at(ui, pos2(left, rect.top() + 29.0), set.about, theme::small(), t.weak, width);
    response.on_hover_text(set.about).clicked()
}

/// One switch: a chooser of its words, or a number.
fn key_row(ui: &mut Ui, key: &'static SampleKey, spec: &mut SampleSpec) {
    let t = Tokens::of(ui);
    ui.horizontal(|ui| {
        ui.set_height(theme::INPUT);
        let (rect, label) = ui.allocate_exact_size(vec2(124.0, theme::INPUT), Sense::hover());
        widgets::text_at(ui, rect.left_center(), key.name, theme::mono(12.5), t.text, rect.width());
        label.on_hover_text(key.about);
        let given = spec.keys.get(key.name).cloned();
        // Where each set of `all` has its own, the default is no value.
        let default = key.default.unwrap_or("each set’s own");
        match key.takes {
            Takes::Word(words) => {
                let shown = given.as_deref().unwrap_or(default);
                let is_default = given.is_none() || given.as_deref() == key.default;
                let label = if is_default { format!("{shown} (default)") } else { shown.to_owned() };
                let spoken = format!("{}: {label}", key.name);
                let button =
                    widgets::Button::new(&label).menu().height(theme::SMALL_BUTTON).name(&spoken).tip(key.about).show(ui);
                Popup::menu(&button).width(220.0).show(|ui| {
                    ui.spacing_mut().item_spacing.y = 0.0;
                    if key.default.is_none() && menu_row(ui, &format!("{default} (default)"), None, given.is_none()).clicked() {
                        spec.keys.remove(key.name);
                        ui.close();
                    }
                    for word in words {
                        let is_default = Some(*word) == key.default;
                        let label = if is_default { format!("{word} (default)") } else { (*word).to_owned() };
                        let is_chosen = given.as_deref().or(key.default) == Some(*word);
                        if menu_row(ui, &label, None, is_chosen).clicked() {
                            if is_default {
                                spec.keys.remove(key.name);
                            } else {
                                spec.keys.insert(key.name.to_owned(), (*word).to_owned());
                            }
                            ui.close();
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
                        spec.keys.insert(key.name.to_owned(), text.trim().to_owned());
                    }
                }
                response.on_hover_text(format!("{}: 0 to {}", key.about, widgets::grouped(most.into())));
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
        assert!(SAMPLE_SETS.iter().all(|set| set_title(set.id) != set.id));
    }
}
