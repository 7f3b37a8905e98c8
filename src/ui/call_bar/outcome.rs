//! How the call goes, and how the last one went: spinner and time, progress, each way of ending, where the time went.

use std::time::Duration;

use egui::{Rect, Sense, Ui, pos2, vec2};

use crate::state::{CallAction, CallInFlight, ConnectAction, Connection};
use crate::ui::outcome::outcome_look;
use crate::ui::sidebar;
use crate::ui::theme;
use crate::ui::widgets;
use crate::ui::{Cx, icons};
use loupe_core::capture::{Capture, Outcome, Timings, Tool};

pub(super) fn has_outcome(cx: &Cx<'_>, tool: &Tool) -> bool {
    cx.state.running.is_some() || shown_capture(cx, tool).is_some()
}

fn shown_capture<'a>(cx: &Cx<'a>, tool: &Tool) -> Option<&'a Capture> {
    cx.state
        .capture()
        .filter(|capture| capture.tool.name == tool.name && !capture.request.is_empty())
        .map(|capture| &**capture)
}

/// How the call goes or went, on one line.
pub(super) fn outcome_ui(ui: &mut Ui, cx: &Cx<'_>, tool: &Tool) {
    if let Some(running) = &cx.state.running {
        widgets::waiting(
            ui,
            &format!("of {}", widgets::seconds(running.limit)),
            running.since,
            cx,
        );
    } else if let Some(capture) = shown_capture(cx, tool) {
        done_words(ui, capture);
    }
}

/// How the call goes or went, as a block of its own.
pub(super) fn timing_ui(ui: &mut Ui, cx: &Cx<'_>, tool: &Tool) {
    if let Some(running) = &cx.state.running {
        running_ui(ui, cx, running);
    } else if let Some(capture) = shown_capture(cx, tool) {
        done_ui(ui, cx, capture);
    }
}

fn running_ui(ui: &mut Ui, cx: &Cx<'_>, running: &CallInFlight) {
    let t = theme::of(ui);
    let elapsed = cx.state.now.saturating_sub(running.since);
    ui.horizontal(|ui| {
        widgets::waiting(ui, "Running", running.since, cx);
        widgets::words(
            ui,
            format!("of {}", widgets::seconds(running.limit)),
            theme::mono(12.0),
            t.weak,
        );
    });
    let (rect, _) = widgets::full_width(ui, 4.0, Sense::hover());
    match &running.progress {
        Some((value, Some(total), _)) if *total > 0.0 => {
            widgets::bar(ui, rect, (value / total) as f32, t.accent)
        }
        _ => {
            // The total is unknown: a piece moves through the track once in two seconds.
            ui.painter().rect_filled(rect, theme::RADIUS_BAR, t.hover);
            let moves = !cx.state.settings.reduce_motion;
            let at = if moves {
                (elapsed.as_secs_f32() / 2.0).fract()
            } else {
                0.5
            };
            let piece = Rect::from_min_size(
                pos2(rect.left() + at * rect.width() * 0.75, rect.top()),
                vec2(rect.width() * 0.25, 4.0),
            );
            ui.painter().rect_filled(piece, theme::RADIUS_BAR, t.accent);
        }
    }
    let words = running_words(cx, running);
    widgets::truncated(ui, &words, theme::small(), t.weak);
}

/// How far the call is: the task, the progress and its message, what came that nobody could read.
pub fn running_words(cx: &Cx<'_>, running: &CallInFlight) -> String {
    let mut words: Vec<String> = cx
        .state
        .running
        .iter()
        .filter_map(|running| running.task.clone())
        .collect();
    if let Some((value, total, message)) = &running.progress {
        words.push(total.map_or_else(
            || format!("progress {value}"),
            |total| format!("progress {value} of {total}"),
        ));
        words.extend(message.clone());
    }
    if running.unreadable > 0 {
        let lines = if running.unreadable == 1 {
            "line"
        } else {
            "lines"
        };
        words.push(format!(
            "{} unreadable {lines} came",
            widgets::grouped(running.unreadable)
        ));
    }
    if words.is_empty() {
        words.push("waiting for the answer".into());
    }
    words.join(" · ")
}

pub(super) fn done_words(ui: &mut Ui, capture: &Capture) {
    let t = theme::of(ui);
    let (glyph, color, _) = outcome_look(capture.outcome, t);
    // The card says how it failed.
    if capture.outcome != Outcome::Result {
        return;
    }
    let time = sidebar::duration(capture.timings.total());
    let words = format!("Done in {time}");
    let mark = icons::icon_fill(glyph, 14.0, color);
    let color = if capture.outcome == Outcome::Result {
        t.text
    } else {
        color
    };
    let words = widgets::styled(words, theme::medium(12.5), color);
    let is_from_right = ui.layout().prefer_right_to_left();
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        let label = if is_from_right {
            let label = ui.label(words);
            ui.add(egui::Label::new(mark));
            label
        } else {
            ui.add(egui::Label::new(mark));
            ui.label(words)
        };
        // The end of a call is said aloud.
        widgets::announce(ui, label.id);
    });
}

fn done_ui(ui: &mut Ui, cx: &Cx<'_>, capture: &Capture) {
    let t = theme::of(ui);
    ui.add_space(2.0);
    ui.horizontal(|ui| {
        done_words(ui, capture);
        // Where the server is gone still, the strip below the bar has the button.
        let is_gone = matches!(
            cx.state.session().connection,
            Connection::Disconnected { .. }
        );
        if matches!(capture.outcome, Outcome::Timeout | Outcome::Disconnected) && !is_gone {
            widgets::from_right(ui, |ui| match &cx.state.session().connection {
                Connection::None | Connection::Failed { .. } => {
                    if widgets::Button::new("Reconnect").small().clicked(ui) {
                        cx.send(ConnectAction::Reconnect);
                    }
                }
                _ => {
                    if widgets::Button::new("Retry")
                        .small()
                        .enabled(cx.state.can_call())
                        .clicked(ui)
                    {
                        cx.send(CallAction::Call { send_anyway: false });
                    }
                }
            });
        }
    });
    match (&capture.problem, capture.outcome) {
        (
            Some(problem),
            Outcome::ProtocolError | Outcome::Malformed | Outcome::Disconnected | Outcome::Timeout,
        ) => {
            let text = problem.hint.as_ref().map_or_else(
                || problem.message(),
                |hint| format!("{}\n{hint}", problem.message()),
            );
            widgets::truncated_with(ui, problem.message(), theme::small(), t.weak, text);
        }
        (_, Outcome::Result | Outcome::ToolError) => parts_ui(ui, capture.timings),
        _ => {}
    }
    if !capture.notes.is_empty() {
        let notes = capture.notes.join(" · ");
        let tip = capture.notes.join("\n");
        widgets::truncated_with(ui, &notes, theme::small(), t.warn, tip);
    }
}

/// Send, server and receive as one bar, with the times under it.
fn parts_ui(ui: &mut Ui, timings: Timings) {
    let t = theme::of(ui);
    let (rect, _) = widgets::full_width(ui, 4.0, Sense::hover());
    let total = timings.total().as_secs_f32();
    let parts = [
        ("send", timings.send, t.hue_text.color),
        ("server", timings.server, t.accent),
        ("receive", timings.receive, t.weak),
    ];
    if total > 0.0 {
        let mut x = rect.left();
        for (_, time, color) in parts {
            let width = (time.as_secs_f32() / total * rect.width()).max(1.0);
            let piece = Rect::from_min_max(
                pos2(x, rect.top()),
                pos2((x + width).min(rect.right()), rect.bottom()),
            );
            ui.painter().rect_filled(piece, theme::RADIUS_BAR, color);
            x += width;
        }
    }
    let short = |time: Duration| sidebar::duration(time);
    let words: Vec<_> = parts
        .iter()
        .map(|(name, time, _)| format!("{name} {}", short(*time)))
        .collect();
    widgets::truncated(ui, words.join("  "), theme::small(), t.weak);
}
