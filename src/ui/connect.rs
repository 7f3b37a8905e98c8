//! The connect screen: your own server at the left, the built-in sample at the right.
//!
//! What connecting will run or reach stands there in full before the button that does it; values of variables and
//! headers are never shown.

use egui::{Frame, Id, Label, Margin, RichText, ScrollArea, Stroke, TextEdit, Ui, vec2};

use super::theme::{self, Tokens};
use super::widgets::{self, Tone};
use super::{Cx, commands, icons, top_bar};
use crate::source::{SampleSpec, Source};
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

/// The sets of the sample, as people know them.
const SETS: &[(&str, &str, &str)] = &[
    ("all", "Everything", "The tools of all sets, with names of their own"),
    ("autotask-dual", "Autotask, dual", "Markdown text beside structuredContent; the two drift apart"),
    ("autotask-strict", "Autotask, strict", "JSON or Markdown by an argument, and no structuredContent"),
    ("dial", "DIAL users", "A code block of key: value, few hints"),
    ("delegator", "Delegator", "A status tool: emoji Markdown against JSON with a summary first"),
    ("autoreply", "Autoreply", "A social network as compact Markdown, other people's text quoted"),
];

fn sample_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = Tokens::of(ui);
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
        for (set, title, words) in SETS.iter().filter(|(set, ..)| SampleSpec::SETS.contains(set) && *set != "all") {
            widgets::separator(ui);
            ui.add_space(4.0);
            ui.horizontal_top(|ui| {
                ui.vertical(|ui| {
                    ui.set_width(ui.available_width() - 72.0);
                    ui.spacing_mut().item_spacing.y = 2.0;
                    ui.label(RichText::new(*title).font(theme::semibold(13.0)).color(t.strong));
                    ui.add(Label::new(RichText::new(*words).font(theme::small()).color(t.weak)).wrap());
                });
                let name = format!("Start the sample set {title}");
                top_bar::at_right(ui, theme::BUTTON, |ui| {
                    if widgets::Button::new("Start")
                        .small()
                        .name(&name)
                        .tip("Starts the sample with this set alone")
                        .show(ui)
                        .clicked()
                    {
                        cx.send(Action::Connect(Source::Sample(SampleSpec { set: (*set).to_owned(), ..SampleSpec::default() })));
                    }
                });
            });
            ui.add_space(4.0);
        }
        ui.add_space(6.0);
        let keys = commands::keys_of("Start the sample server");
        if widgets::primary_button(ui, "Start sample server", Some(icons::CALL), Some(&keys)).clicked() {
            cx.send(Action::Connect(Source::sample()));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_set_of_the_sample_is_offered() {
        let titled: Vec<_> = SETS.iter().map(|(set, ..)| *set).collect();
        assert_eq!(titled, SampleSpec::SETS);
    }
}
