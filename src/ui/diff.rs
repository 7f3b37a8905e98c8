//! The diff screen: the data's differences as a tree, the text's by line.

mod reconnect;
mod text;
mod texts;
mod tree;

use egui::{Align, Layout, Rect, Role, Sense, Stroke, Ui, UiBuilder, pos2, vec2};

pub use reconnect::{again_strip, pane_chip, tools_changed_ui};

use super::theme;
use super::widgets::{self, Button};
use super::{Cx, icons};
use crate::state::diff::DiffAction;
use crate::state::{Action, QueryState, Screen};
use loupe_analysis::queries::invisible_chars::Shown;
use loupe_analysis::queries::{DiffView, TextOf};
use loupe_core::capture::CaptureId;

/// Below this width the data and the text take turns.
const BOTH: f32 = 720.0;
/// Height of the line about what neither the data nor the texts show.
const BESIDE: f32 = 26.0;

pub(super) fn act(cx: &Cx<'_>, action: DiffAction) {
    cx.send(Action::Diff(action));
}

/// A note above what it is about, on one line.
pub(super) fn note_ui(ui: &Ui, rect: Rect, tone: widgets::Tone, words: &str) {
    let t = theme::of(ui);
    let mid = widgets::RowLine::new(ui, rect);
    let (color, fill, line) = tone.colors(t);
    ui.painter().rect_filled(rect, 0.0, fill);
    ui.painter()
        .hline(rect.x_range(), rect.bottom() - 0.5, Stroke::new(1.0, line));
    let icon = if tone == widgets::Tone::Accent {
        icons::INFO
    } else {
        icons::WARNING
    };
    mid.icon(rect.left() + 22.0, icon, 14.0, color);
    let shown = Shown::of(words).text;
    mid.text(
        rect.left() + 38.0,
        rect.right() - 12.0,
        shown,
        theme::small(),
        t.text,
    );
    let response = widgets::sense(ui, rect, ("note", words), Sense::hover());
    widgets::say(&response, Role::Label, words);
    response.on_hover_text(words);
}

/// The places F8 goes through: the data's, then the text's.
#[derive(Clone, Copy)]
pub(super) struct Stops {
    data: usize,
    text: usize,
}

impl Stops {
    fn new(view: &DiffView) -> Self {
        Self {
            data: view.rows.iter().filter(|row| row.op.is_some()).count(),
            text: text::blocks(view),
        }
    }

    fn count(self) -> usize {
        self.data + self.text
    }
}

/// Where F8 leads from here.
pub(super) fn step(cx: &Cx<'_>, is_forward: bool) -> Option<Action> {
    if cx.state.view.screen != Screen::Diff {
        return None;
    }
    let count = Stops::new(cx.state.diff_view()?).count();
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
    let diff = &cx.state.diff;
    let Some((a, b)) = diff
        .sides
        .as_ref()
        .and_then(|(a, b)| Some((cx.state.capture_of(a)?, cx.state.capture_of(b)?)))
    else {
        widgets::mode_head(ui, cx, "Diff", |_| {});
        widgets::empty_ui(
            ui,
            "Choose two answers to compare: the menu of a capture has “Compare with the answer shown”.",
            None,
        );
        return;
    };
    let view = match cx.ask_of(&[a.id.clone(), b.id.clone()], diff.ask.clone()) {
        QueryState::Ready(view) => Ok(view),
        QueryState::Failed(problem) => Err(Some(problem)),
        _ => Err(None),
    };
    let number = |id: &CaptureId| {
        cx.state
            .captures
            .iter()
            .position(|capture| capture.id == *id)
            .map_or(0, |at| at + 1)
    };
    let title = match (a.id == b.id, diff.ask.texts) {
        (_, (TextOf::Host(_), TextOf::Host(_))) => "Diff of two host views".to_owned(),
        (true, _) => "Diff of two formats".to_owned(),
        (false, _) => format!(
            "Diff of captures {} (A) and {} (B)",
            number(&a.id),
            number(&b.id)
        ),
    };
    let mut rest = widgets::mode_head(ui, cx, &title, |ui| {
        let copy = Button::new("Copy diff")
            .icon(icons::COPY)
            .enabled(view.is_ok());
        if copy.tip("Copies the differences as text").clicked(ui) {
            act(cx, DiffAction::Copy);
        }
        if let Ok(view) = view {
            stepper_ui(ui, cx, view);
            tokens_ui(ui, cx, view);
        }
    });
    let view = match view {
        Ok(view) => view,
        Err(problem) => {
            ui.scope_builder(
                UiBuilder::new().max_rect(rest.shrink(16.0)),
                |ui| match problem {
                    Some(problem) => {
                        widgets::problem_ui(ui, problem);
                    }
                    None => {
                        widgets::waiting(
                            ui,
                            "Comparing",
                            cx.state.query_results.since().unwrap_or(cx.state.now),
                            cx,
                        );
                    }
                },
            );
            return;
        }
    };
    let beside = beside(view);
    if !beside.is_empty() {
        note_ui(ui, strip(&mut rest, BESIDE), widgets::Tone::Warn, &beside);
    }
    if view.is_equal() {
        let words = match view.is_laid_out {
            _ if view.found.is_partial => "No difference in what was compared.",
            true => {
                "No difference: data, text, outcome and definition are the same. The order of keys does not count."
            }
            false => "No difference: data, text, outcome and definition are the same.",
        };
        ui.scope_builder(UiBuilder::new().max_rect(rest), |ui| {
            widgets::empty_ui(ui, words, None)
        });
        return;
    }
    let has_tree = !view.rows.is_empty();
    if has_tree && rest.width() >= BOTH {
        let middle = (rest.left() + rest.width() * 0.44).round();
        tree::tree_ui(
            ui,
            cx,
            Rect::from_min_max(rest.min, pos2(middle, rest.bottom())),
            view,
        );
        widgets::vline(ui, middle - 0.5, rest.y_range());
        text::text_ui(
            ui,
            cx,
            Rect::from_min_max(pos2(middle, rest.top()), rest.max),
            view,
        );
        return;
    }
    if !has_tree {
        text::text_ui(ui, cx, rest, view);
        return;
    }
    // One at a time; F8 turns to the one it leads to.
    let id = egui::Id::unique("diff turn");
    let mut turn: (usize, Option<usize>) = widgets::recall(ui, id).unwrap_or((0, None));
    if diff.current != turn.1 {
        let data = Stops::new(view).data;
        turn = (
            usize::from(diff.current.is_some_and(|at| at >= data)),
            diff.current,
        );
    }
    let tabs = strip(&mut rest, 40.0);
    inside(
        ui,
        tabs.shrink2(vec2(12.0, 0.0)),
        "turn",
        Layout::left_to_right(Align::Center),
        |ui| {
            if let Some(chosen) = widgets::segmented(ui, "Show", &["Data", "Text"], turn.0) {
                turn.0 = chosen;
            }
        },
    );
    widgets::remember(ui, id, turn);
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

pub(super) fn inside(
    ui: &mut Ui,
    rect: Rect,
    salt: &str,
    layout: Layout,
    paint: impl FnOnce(&mut Ui),
) {
    ui.scope_builder(
        widgets::region(ui, salt).max_rect(rect).layout(layout),
        |ui| {
            ui.set_clip_rect(rect.expand(2.0).intersect(ui.clip_rect()));
            paint(ui);
        },
    );
}

/// What differs in neither the data nor the texts, was not compared, or is not shown.
fn beside(view: &DiffView) -> String {
    let found = &view.found;
    let mut parts = found.left_out.clone();
    if found.outcomes.0 != found.outcomes.1 {
        parts.insert(
            0,
            format!(
                "outcome: A {}, B {}",
                found.outcomes.0.name(),
                found.outcomes.1.name()
            ),
        );
    }
    for (title, value) in [
        ("rest of the result", &found.rest),
        ("definition", &found.definition),
    ] {
        let count = value.as_ref().map_or(0, |value| value.found.counts.total());
        if count > 0 {
            parts.push(format!(
                "{title}: {}",
                widgets::number_text(count, "differences")
            ));
        }
    }
    let more = found.data.as_ref().map_or(0, |data| data.found.more());
    if more > 0 {
        parts.push(format!(
            "data: {} are not shown",
            widgets::number_text(more, "more differences")
        ));
    } else if view.is_cut {
        parts.push("data: too many values, the tree ends early".to_owned());
    }
    if let Some(text) = view.text.as_ref().ok().filter(|text| text.found.more > 0) {
        parts.push(format!(
            "text: {} are not shown",
            widgets::number_text(text.found.more, "more changed lines")
        ));
    }
    let words = parts.join(" · ");
    let mut chars = words.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}

/// What both results cost as they were sent, where that is not the same.
fn tokens_ui(ui: &mut Ui, cx: &Cx<'_>, view: &DiffView) {
    let encoding = cx.state.settings.encoding();
    let (Some(a), Some(b)) = view.found.tokens else {
        return;
    };
    let (a, b) = (a.get(encoding), b.get(encoding));
    if a != b {
        let words = format!("{} → {} tok", widgets::grouped(a), widgets::grouped(b));
        ui.label(widgets::styled(words, theme::code(), theme::of(ui).weak));
    }
}

fn stepper_ui(ui: &mut Ui, cx: &Cx<'_>, view: &DiffView) {
    let t = theme::of(ui);
    let count = Stops::new(view).count();
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
        Some(at) => format!(
            "{} of {}",
            widgets::grouped(at as u64 + 1),
            widgets::grouped(count as u64)
        ),
        None => widgets::number_text(count as u64, "places"),
    };
    widgets::words(ui, words, theme::code(), t.weak);
}
