//! What stands where there is nothing to show: waiting, a problem, nothing.

use std::f32::consts::TAU;
use std::time::Duration;

use egui::{Align, Frame, Layout, Margin, Response, Role, Sense, Stroke, Ui, vec2};

use super::{Button, seconds};
use crate::state::{QueryState, ViewAction};
use crate::ui::theme;
use crate::ui::{Cx, icons};
use loupe_core::problem::Problem;

/// How long until what moves while something is waited for is painted again. Without a graphics card, painting takes the
/// processors that this needs.
pub const MOVES_AFTER: Duration = Duration::from_millis(100);

/// Who waits longer than this is not told more by a ring that turns smoothly.
const LONG: Duration = Duration::from_secs(1);

/// A turning ring (unless motion is reduced), the thing waited for, and for how long. The angle comes from the state's clock, so that pictures are
/// the same every time; asks for the next frame.
pub fn waiting(ui: &mut Ui, what: &str, since: Duration, cx: &Cx<'_>) -> Response {
    let t = theme::of(ui);
    let elapsed = cx.state.now.saturating_sub(since);
    let moves = !cx.state.settings.reduce_motion;
    let next = if !moves {
        Duration::from_secs(1)
    } else if elapsed < LONG {
        MOVES_AFTER
    } else {
        3 * MOVES_AFTER
    };
    ui.request_repaint_after(next);
    let text = format!("{what} · {}", seconds(elapsed));
    let inner = ui.horizontal(|ui| {
        let (rect, _) = ui.allocate_exact_size(vec2(16.0, 16.0), Sense::hover());
        let start = elapsed.as_secs_f32().fract() * TAU;
        let points = (0..=24)
            .map(|step| {
                rect.center() + 6.0 * egui::Vec2::angled(start + step as f32 / 24.0 * TAU * 0.75)
            })
            .collect();
        if moves {
            ui.painter()
                .add(egui::Shape::line(points, Stroke::new(1.6, t.accent)));
        } else {
            super::glyph_at(
                ui,
                rect.center(),
                icons::TIMEOUT,
                theme::icon_font(14.0),
                t.accent,
            );
        }
        super::words(ui, what, theme::small(), t.text);
        super::words(ui, seconds(elapsed), theme::code(), t.weak);
    });
    let response = inner.response;
    super::say(&response, Role::ProgressIndicator, &text);
    response
}

/// What was asked for, if it is there; else why it is not, and what can be done about it.
pub fn ready<'a, T>(
    ui: &mut Ui,
    cx: &Cx<'_>,
    what: &str,
    asked: QueryState<'a, T>,
) -> Option<&'a T> {
    match asked {
        QueryState::Ready(out) => return Some(out),
        QueryState::Working { since } => drop(waiting(ui, what, since, cx)),
        QueryState::Failed(problem) => drop(problem_ui(ui, problem)),
        QueryState::NeedsConfirmation { bytes } => held_ui(ui, cx, bytes),
    }
    None
}

/// What a result takes to be counted whole, and the word that is waited for.
pub fn held_ui(ui: &mut Ui, cx: &Cx<'_>, bytes: usize) {
    let t = theme::of(ui);
    let size = super::bytes(bytes as u64);
    // See `benches/RESULTS.md`.
    let takes = format!(
        "about {} s",
        super::grouped((bytes as f64 / 1e6 * SECONDS_PER_MB).ceil() as u64)
    );
    let whole = format!("{size} · counting all of it takes {takes}");
    ui.horizontal(|ui| {
        if Button::new("Count").small().name("Count all of it").clicked(ui) {
            cx.send(ViewAction::CountUpTo(bytes));
        }
        let words = if ui.available_width() < 320.0 { &format!("{size} · {takes}") } else { &whole };
        let tip = format!(
            "{whole}: {SECONDS_PER_MB} s a megabyte, as measured on two cores. Larger answers ask again."
        );
        super::truncated_with(ui, words, theme::small(), t.weak, tip);
    });
}

/// How long counting all that is counted of a result takes on two cores.
const SECONDS_PER_MB: f64 = 0.5;

/// A problem: what, where and what to do, never re-worded.
pub fn problem_ui(ui: &mut Ui, problem: &Problem) -> Response {
    let t = theme::of(ui);
    let response = Frame::new()
        .fill(t.bad_bg)
        .stroke(Stroke::new(1.0, t.bad_line))
        .corner_radius(theme::RADIUS_CONTROL)
        .inner_margin(Margin::symmetric(12, 8))
        .show(ui, |ui| {
            ui.horizontal_top(|ui| {
                ui.label(icons::icon_fill(icons::ERROR, 16.0, t.bad));
                ui.vertical(|ui| {
                    ui.spacing_mut().item_spacing.y = 3.0;
                    super::wrapped(ui, &problem.what, theme::label(), t.strong);
                    if !problem.place.is_empty() {
                        super::wrapped(ui, &problem.place, theme::code(), t.text);
                    }
                    if let Some(hint) = &problem.hint {
                        super::wrapped(ui, hint, theme::small(), t.text);
                    }
                });
            });
        })
        .response;
    super::say(&response, Role::Alert, problem.message());
    super::announce(ui, response.id);
    response
}

/// Nothing to show: one sentence and, where there is something to do about it, one button. True when it was clicked.
pub fn empty_ui(ui: &mut Ui, sentence: &str, action: Option<&str>) -> bool {
    let t = theme::of(ui);
    let mut is_clicked = false;
    let space = (ui.available_height() * 0.3).clamp(8.0, 160.0);
    ui.with_layout(Layout::top_down(Align::Center), |ui| {
        ui.add_space(space);
        super::wrapped(ui, sentence, theme::base(), t.weak);
        if let Some(action) = action {
            ui.add_space(theme::GAP);
            is_clicked = Button::new(action).clicked(ui);
        }
    });
    is_clicked
}
