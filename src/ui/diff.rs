//! The diff screen: what the two sides are and cost, the payload's differences as a tree, the text's by line.

mod reconnect;
mod costs;
mod ignore;
mod notes;
mod sides;
mod text;
mod texts;
mod tree;

use egui::{Align, Layout, Rect, RichText, Stroke, Ui, UiBuilder, pos2, vec2};

pub use notes::note_ui;
pub use reconnect::{again_strip, pane_chip, tools_changed_ui};
pub use sides::letter;

use super::theme::{self, ThemeTokens};
use super::widgets::{self, Button};
use super::{Cx, icons};
use crate::analysis::{DiffView, TextOf};
use crate::state::diff::DiffAction;
use crate::state::{Action, QueryState, Screen};

const SIDES: f32 = 56.0;
const COSTS: f32 = 76.0;
/// Below this width the payload and the text take turns.
const BOTH: f32 = 720.0;
const NOTE: f32 = 26.0;

pub(super) fn act(cx: &Cx<'_>, action: DiffAction) {
    cx.send(Action::Diff(action));
}

/// `−26.4%`; nothing against nothing.
pub(super) fn percent(from: u64, to: u64) -> Option<String> {
    if from == 0 || from == to {
        return None;
    }
    let share = (to as f64 - from as f64) / from as f64 * 100.0;
    Some(format!("{}{:.1}%", if share < 0.0 { "−" } else { "+" }, share.abs()))
}

/// The places F8 goes through: the payload's, then the text's.
#[derive(Clone, Copy)]
pub(super) struct Stops {
    payload: usize,
    text: usize,
}

impl Stops {
    fn of(view: &DiffView) -> Self {
        Self { payload: view.rows.iter().filter(|row| row.op.is_some()).count(), text: text::blocks(view) }
    }

    fn count(self) -> usize {
        self.payload + self.text
    }
}

/// Where F8 leads from here.
pub(super) fn step(cx: &Cx<'_>, is_forward: bool) -> Option<Action> {
    if cx.state.view.screen != Screen::Diff {
        return None;
    }
    let count = Stops::of(cx.state.diff_view()?).count();
    if count == 0 {
        return None;
    }
    let at = match cx.state.diff.current {
        None => {
            if is_forward {
                0
            } else {
                count - 1
            }
        }
        Some(at) if is_forward => (at + 1) % count,
        Some(at) => (at + count - 1) % count,
    };
    Some(Action::Diff(DiffAction::GoTo(at)))
}

pub fn diff_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = ThemeTokens::of(ui);
    let diff = &cx.state.diff;
    let Some((a, b)) = diff.sides.as_ref().and_then(|(a, b)| Some((cx.state.capture_of(a)?, cx.state.capture_of(b)?))) else {
        widgets::mode_head(ui, cx, "Diff", |_| {});
        widgets::empty_ui(ui, "Choose two answers to compare: the menu of a capture has “Compare with the answer shown”.", None);
        return;
    };
    let view = match cx.ask_of(&[a.id.clone(), b.id.clone()], diff.ask.clone()) {
        QueryState::Ready(view) => Ok(view),
        QueryState::Failed(problem) => Err(Some(problem)),
        _ => Err(None),
    };
    let is_wide = ui.available_width() > 900.0;
    let title = match (a.id == b.id, diff.ask.texts) {
        (_, (TextOf::Host(_), TextOf::Host(_))) => "Diff of two host views",
        (true, _) => "Diff of two formats",
        (false, _) => "Diff of two answers",
    };
    let mut rest = widgets::mode_head(ui, cx, title, |ui| {
        let copy = Button::new("Copy diff").icon(icons::COPY).enabled(view.is_ok());
        if copy.tip("Copies the differences as text").show(ui).clicked() {
            act(cx, DiffAction::Copy);
        }
        if let Ok(view) = view {
            stepper_ui(ui, cx, view);
        }
        if is_wide {
            ignore::ignore_ui(ui, cx);
        }
    });
    if !is_wide {
        let strip = strip(&mut rest, 34.0);
        inside(ui, strip.shrink2(vec2(12.0, 0.0)), "ignore", Layout::left_to_right(Align::Center), |ui| {
            ignore::ignore_ui(ui, cx)
        });
    }
    sides::sides_ui(ui, cx, strip(&mut rest, SIDES), a, b);
    let view = match view {
        Ok(view) => view,
        Err(problem) => {
            ui.scope_builder(UiBuilder::new().max_rect(rest.shrink(16.0)), |ui| match problem {
                Some(problem) => {
                    widgets::problem_ui(ui, problem);
                }
                None => {
                    widgets::waiting(ui, "Comparing", cx.state.answers.since().unwrap_or(cx.state.now), cx);
                }
            });
            return;
        }
    };
    costs::costs_ui(ui, cx, strip(&mut rest, COSTS), view);
    for (tone, note) in notes::notes(view) {
        note_ui(ui, strip(&mut rest, NOTE), tone, &note);
    }
    if view.is_equal() {
        let text = view.text.as_ref().is_ok_and(|text| text.a != text.b);
        let words = match (text, view.is_laid_out) {
            _ if view.found.is_partial => "No difference in what was compared.",
            (true, _) => "No difference except white space: data, outcome and definition are the same.",
            (false, true) => "No difference: data, text, outcome and definition are the same. The order of keys was ignored.",
            (false, false) => "No difference: data, text, outcome and definition are the same.",
        };
        ui.scope_builder(UiBuilder::new().max_rect(rest), |ui| widgets::empty_ui(ui, words, None));
        return;
    }
    let has_tree = !view.rows.is_empty();
    if has_tree && rest.width() >= BOTH {
        let middle = (rest.left() + rest.width() * 0.44).round();
        tree::tree_ui(ui, cx, Rect::from_min_max(rest.min, pos2(middle, rest.bottom())), view);
        ui.painter().vline(middle - 0.5, rest.y_range(), Stroke::new(1.0, t.line));
        text::text_ui(ui, cx, Rect::from_min_max(pos2(middle, rest.top()), rest.max), view);
        return;
    }
    if !has_tree {
        text::text_ui(ui, cx, rest, view);
        return;
    }
    // One at a time; F8 turns to the one it leads to.
    let id = egui::Id::unique("diff turn");
    let mut turn: (usize, Option<usize>) = ui.data(|data| data.get_temp(id)).unwrap_or((0, None));
    if diff.current != turn.1 {
        let payload = Stops::of(view).payload;
        turn = (usize::from(diff.current.is_some_and(|at| at >= payload)), diff.current);
    }
    let tabs = strip(&mut rest, 40.0);
    inside(ui, tabs.shrink2(vec2(12.0, 0.0)), "turn", Layout::left_to_right(Align::Center), |ui| {
        if let Some(chosen) = widgets::segmented(ui, "Show", &["Data", "Text"], turn.0) {
            turn.0 = chosen;
        }
    });
    ui.data_mut(|data| data.insert_temp(id, turn));
    if turn.0 == 0 {
        tree::tree_ui(ui, cx, rest, view);
    } else {
        text::text_ui(ui, cx, rest, view);
    }
}

/// Cuts a strip from the top of what is left.
fn strip(rest: &mut Rect, height: f32) -> Rect {
    let strip = Rect::from_min_size(rest.min, vec2(rest.width(), height));
    rest.min.y += height;
    strip
}

pub(super) fn inside(ui: &mut Ui, rect: Rect, salt: &str, layout: Layout, paint: impl FnOnce(&mut Ui)) {
    ui.scope_builder(widgets::region(ui, salt).max_rect(rect).layout(layout), |ui| {
        ui.set_clip_rect(rect.expand(2.0).intersect(ui.clip_rect()));
        paint(ui);
    });
}

fn stepper_ui(ui: &mut Ui, cx: &Cx<'_>, view: &DiffView) {
    let t = ThemeTokens::of(ui);
    let count = Stops::of(view).count();
    if count == 0 {
        return;
    }
    if widgets::icon_button(ui, icons::DOWN, "Next difference, F8").clicked()
        && let Some(action) = step(cx, true)
    {
        cx.send(action);
    }
    if widgets::icon_button(ui, icons::UP, "Previous difference, Shift F8").clicked()
        && let Some(action) = step(cx, false)
    {
        cx.send(action);
    }
    let words = match cx.state.diff.current {
        Some(at) => format!("{} of {}", widgets::grouped(at as u64 + 1), widgets::grouped(count as u64)),
        None => widgets::number_text(count as u64, "places"),
    };
    ui.label(RichText::new(words).font(theme::code()).color(t.weak));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_their_sign() {
        assert_eq!(percent(450, 331).as_deref(), Some("−26.4%"));
        assert_eq!((percent(0, 4), percent(4, 4)), (None, None));
    }
}
