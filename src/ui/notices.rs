//! Strips above the middle: a build that runs or failed, what came on stdout that is no message, what the server wrote to
//! stderr in the call that broke.

use egui::{Color32, Frame, Label, Margin, Panel, ScrollArea, Ui};

use super::theme;
use super::widgets::{self, Button};
use super::{Cx, icons};
use crate::state::wire::WireAction;
use crate::state::{Action, Dialog, Screen, WatchAction};

/// Lines of a text in sight before it scrolls.
const LINES: usize = 6;

/// One strip: its ground and icon, what it says, and the lines under it.
#[derive(Clone, Copy)]
struct Strip<'a> {
    ground: Color32,
    icon: &'a str,
    color: Color32,
    words: &'a str,
    lines: &'a [&'a str],
}

pub fn notices_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    let state = cx.state;
    if let Some(since) = state.watching.building {
        panel(ui, "building", t.panel, |ui| {
            let command = state.watch().map_or("", |watch| watch.build.as_str());
            widgets::waiting(ui, &format!("Building: {command}"), since, cx);
        });
    }
    if let Some(problem) = &state.watching.problem {
        let words = problem.message();
        let lines: Vec<&str> = state.watching.output.iter().map(String::as_str).collect();
        let strip = Strip {
            ground: t.bad_bg,
            icon: icons::ERROR,
            color: t.bad,
            words: &words,
            lines: &lines,
        };
        strip_ui(ui, "watch problem", strip, |ui| {
            if widgets::icon_button(ui, icons::CLOSE, "Close the message").clicked() {
                cx.send(WatchAction::CloseProblem);
            }
        });
    }
    // The log itself says it in its place.
    let noise = state
        .session()
        .wire
        .noise
        .as_ref()
        .filter(|_| state.view.screen.has_call_bar() || state.view.screen == Screen::Connect);
    if let Some(noise) = noise {
        let words = match noise.count {
            1 => "The server wrote a line to stdout that is not a message: hosts may drop it or end the connection. Logs belong on stderr."
                .to_owned(),
            count => format!(
                "The server wrote {} to stdout that are not messages: hosts may drop them or end the connection. Logs belong on stderr.",
                widgets::number_text(count, "lines")
            ),
        };
        let strip = Strip {
            ground: t.warn_bg,
            icon: icons::WARNING,
            color: t.warn,
            words: &words,
            lines: &[&noise.line],
        };
        strip_ui(ui, "noise", strip, |ui| {
            if widgets::icon_button(ui, icons::CLOSE, "Close the message about stdout").clicked() {
                cx.send(WireAction::CloseNoise);
            }
            if Button::new("Show in the log").small().clicked(ui) {
                cx.send(WireAction::Show);
                cx.send(WireAction::Select(Some(noise.number)));
            }
        });
    }
}

/// What the server wrote to stderr in the call whose answer is shown, under what is said of it.
pub fn stderr_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    if let Some(stderr) = cx.state.stderr_of_call() {
        let lines: Vec<&str> = stderr.iter().map(String::as_str).collect();
        let words = "stderr of this call";
        let strip = Strip {
            ground: t.panel,
            icon: icons::STDIO,
            color: t.bad,
            words,
            lines: &lines,
        };
        strip_ui(ui, "stderr of the call", strip, |ui| {
            if Button::new("All of stderr").small().clicked(ui) {
                cx.send(Action::ShowDialog(Dialog::Stderr));
            }
        });
    }
}

fn panel(ui: &mut Ui, id: &'static str, ground: Color32, content: impl FnOnce(&mut Ui)) {
    let frame = Frame::new()
        .fill(ground)
        .inner_margin(Margin::symmetric(16, 4));
    Panel::top(id).resizable(false).frame(frame).show(ui, |ui| {
        widgets::announce(ui, ui.unique_id());
        ui.set_min_width(ui.available_width());
        content(ui);
    });
}

fn strip_ui(ui: &mut Ui, id: &'static str, strip: Strip<'_>, controls: impl FnOnce(&mut Ui)) {
    let t = theme::of(ui);
    panel(ui, id, strip.ground, |ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        super::widgets::at_right(ui, theme::ICON_BUTTON, |ui| {
            controls(ui);
            ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                ui.add(Label::new(icons::icon_fill(strip.icon, 14.0, strip.color)));
                widgets::truncated(ui, strip.words, theme::small(), t.text);
            });
        });
        if strip.lines.is_empty() {
            return;
        }
        let height = theme::TEXT_ROW * strip.lines.len().min(LINES) as f32;
        ScrollArea::both()
            .id_salt(id)
            .max_height(height)
            .min_scrolled_height(height)
            .stick_to_bottom(true)
            .auto_shrink([false, true])
            .show(ui, |ui| {
                ui.spacing_mut().item_spacing.y = 0.0;
                for line in strip.lines {
                    let line = if line.is_empty() { " " } else { line };
                    ui.add(
                        Label::new(widgets::styled(line, theme::code(), t.text))
                            .extend()
                            .selectable(true),
                    );
                }
            });
    });
}
