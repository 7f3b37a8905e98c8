//! The captures of this run, below the tools: a row each, to open, to compare, to call up what earlier runs kept.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use bytes::Bytes;
use egui::{Id, Rect, Response, Ui, pos2, vec2};

use super::{duration, heading};
use crate::state::diff::DiffAction;
use crate::state::{FixtureAction, QueryState, ViewAction};
use crate::ui::outcome::outcome_look;
use crate::ui::theme;
use crate::ui::{Cx, fixture, icons, matching, once, shortcuts, widgets};
use loupe_analysis::queries::{CountQuery, RowQuery};
use loupe_core::capture::{Capture, Outcome};
use loupe_core::json::Doc;
use loupe_core::token::format_count;

/// More captures can be filtered.
const MANY: usize = 8;
/// The room of the filter field.
const FILTER: f32 = theme::INPUT + 6.0;
/// Below this width there is no room for the words of two buttons next to the heading.
const TIGHT: f32 = 280.0;

pub(super) fn captures_ui(ui: &mut Ui, cx: &Cx<'_>, is_overlay: bool) {
    ui.spacing_mut().item_spacing.y = 0.0;
    let top = ui.cursor();
    heading(ui, "Captures", cx.state.captures.len());
    if cx.state.capture().is_some() || cx.state.history.folder.is_some() {
        let button = Rect::from_min_size(top.min, vec2(ui.available_width() - 8.0, theme::HEADER));
        ui.scope_builder(
            egui::UiBuilder::new().max_rect(button).layout(egui::Layout::right_to_left(egui::Align::Center)),
            |ui| {
                let keys = shortcuts::text(&shortcuts::COMPARE_BEFORE);
                let tip = format!("Compares the answer shown with the one before it, or two of its formats · {keys}");
                // In a narrow sidebar the two buttons would be on the heading.
                let is_tight = cx.state.history.folder.is_some() && button.width() < TIGHT;
                let diff = widgets::Button::new(if is_tight { "" } else { "Diff…" })
                    .name("Diff…")
                    .icon(icons::DIFF)
                    .tip(&tip)
                    .height(22.0);
                if cx.state.history.folder.is_some() {
                    crate::ui::history::button_ui(ui, cx);
                }
                if cx.state.capture().is_some() && diff.clicked(ui) {
                    cx.send(DiffAction::OpenLast);
                }
            },
        );
    }
    if cx.state.captures.is_empty() {
        widgets::padded(ui, egui::Margin::symmetric(14, 2), |ui| {
            widgets::note_wrapped(ui, "Each call of this run appears here");
        });
        ui.allocate_space(ui.available_size());
        return;
    }
    if has_filter(cx) {
        filter_ui(ui, cx);
    }
    let shown = list_captures(cx);
    if shown.is_empty() {
        widgets::padded(ui, egui::Margin::symmetric(14, 2), |ui| {
            let words = format!("No call matches “{}”", cx.state.view.captures_filter.trim());
            widgets::note_wrapped(ui, words);
        });
    }
    let height = widgets::whole_rows(ui.available_height(), theme::CAPTURE_ROW);
    widgets::scroll("captures")
        .max_height(height)
        .min_scrolled_height(height)
        .show_rows(ui, theme::CAPTURE_ROW, shown.len(), |ui, range| {
            for &(place, capture) in &shown[range] {
                if capture_ui(ui, cx, capture, place + 1) && is_overlay {
                    ui.close();
                }
            }
        });
    // What is left below the last whole row is the panel's as well: its height is the user's.
    ui.allocate_space(ui.available_size());
}

/// The height of what is above the rows, and of the rows.
pub(super) fn heights(cx: &Cx<'_>) -> (f32, f32) {
    let filter = if has_filter(cx) { FILTER } else { 0.0 };
    let rows = cx.state.captures.len().max(1) as f32;
    (theme::HEADER + filter, rows * theme::CAPTURE_ROW)
}

fn has_filter(cx: &Cx<'_>) -> bool {
    cx.state.captures.len() > MANY
}

fn filter_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let mut text = cx.state.view.captures_filter.clone();
    let margin = egui::Margin {
        bottom: 6,
        ..egui::Margin::symmetric(8, 0)
    };
    widgets::padded(ui, margin, |ui| {
        let field = widgets::LineEdit {
            name: "Filter captures",
            hint: "Filter by tool or arguments",
            width: ui.available_width(),
            is_secret: false,
        };
        if field.show(ui, "captures", &mut text) {
            cx.send(ViewAction::FilterCaptures(text));
        }
    });
}

/// The captures that the filter leaves, the newest first, each with its place.
fn list_captures<'a>(cx: &Cx<'a>) -> Vec<(usize, &'a Capture)> {
    let typed = match has_filter(cx) {
        true => cx.state.view.captures_filter.trim().to_lowercase(),
        false => String::new(),
    };
    let is_shown = |capture: &Capture| {
        let arguments = || String::from_utf8_lossy(&capture.arguments);
        typed.is_empty()
            || matching::holds(&capture.tool.name, &typed)
            || matching::holds(&arguments(), &typed)
    };
    let captures = cx.state.captures.iter().enumerate().rev();
    captures
        .map(|(place, capture)| (place, &**capture))
        .filter(|(_, capture)| is_shown(capture))
        .collect()
}

fn capture_ui(ui: &mut Ui, cx: &Cx<'_>, capture: &Capture, number: usize) -> bool {
    let t = theme::of(ui);
    let selected = cx.state.view.capture.as_ref() == Some(&capture.id);
    let apart = apart(ui, cx, capture);
    // By the capture, since each new one moves the others: their menus stay with them.
    let row = widgets::ListRow::keyed(ui, theme::CAPTURE_ROW, &capture.id.0);
    let (glyph, color, words) = outcome_look(capture.outcome, t);
    let when = if capture.request.is_empty() {
        vec!["opened from a file".to_owned()]
    } else {
        let time = cx.state.local_time.clock(capture.started_at);
        vec![time, duration(capture.timings.total())]
    };
    let tokens = as_sent_tokens(cx, capture);
    let chosen = if selected { ", selected" } else { "" };
    let tool = &capture.tool.name;
    let told = if apart.is_empty() {
        String::new()
    } else {
        format!("{apart} · ")
    };
    let spoken = format!(
        "Capture {number}: {tool}, {told}{} · {words}, {tokens} tokens{chosen}",
        when.join(" · ")
    );
    row.say_entry(selected, spoken);
    row.ground_edged(selected);
    match compared_as(cx, capture) {
        Some(letter) => widgets::letter_at(row.ui, pos2(row.inset_left(21.0), row.y), letter),
        None => row.icon_fill(row.inset_left(21.0), glyph, 14.0, color),
    }
    let (left, mut right) = (row.inset_left(36.0), row.inset_right(14.0));
    let (first, second) = (row.line(13.0), row.line(theme::CAPTURE_ROW - 12.0));
    // In a narrow sidebar the name has the whole line.
    let is_narrow = row.rect.width() < theme::SIDEBAR - 8.0;
    let beside = if is_narrow { second } else { *row };
    let end = beside.number(right, tokens, theme::mono(12.0), t.text) - 8.0;
    if !is_narrow {
        right = end;
    }
    let name = if tool.is_empty() { "(answer)" } else { tool };
    first.text(left, right, name, theme::mono(12.0), t.strong);
    let outcome = Some(words).filter(|_| capture.outcome != Outcome::Result);
    let weak = outcome.map(str::to_owned).into_iter().chain(when);
    let mut parts: Vec<_> = Some(apart).into_iter().chain(weak).collect();
    parts.retain(|part| !part.is_empty());
    // What matters least is last, and goes as a whole where there is no room for it.
    let font = theme::regular(12.0);
    let wide = |parts: &[String]| widgets::text_width(row.ui, parts.join(" · "), font.clone());
    while parts.len() > 1 && wide(&parts) > end - left {
        parts.pop();
    }
    second.text(left, end, parts.join(" · "), font.clone(), t.weak);
    chosen_ui(cx, capture, &row.response)
}

/// What a click on a capture does, a key, and its menu; whether it was clicked.
fn chosen_ui(cx: &Cx<'_>, capture: &Capture, response: &Response) -> bool {
    let shown = cx.state.view.capture.as_ref();
    let is_other = shown.is_some_and(|shown| *shown != capture.id);
    widgets::context_menu(response, Some(response), |ui| {
        menu_ui(ui, cx, capture, is_other);
    });
    let pressed =
        |input: &mut egui::InputState| input.consume_key(egui::Modifiers::NONE, egui::Key::Delete);
    if response.has_focus() && response.ctx.input_mut(pressed) {
        cx.send(ViewAction::RemoveCaptures(vec![capture.id.clone()]));
    }
    if response.clicked() {
        // Ctrl click takes a second one next to the one shown.
        if is_other && response.ctx.input(|input| input.modifiers.command) {
            compare_with_shown(cx, capture);
        } else {
            cx.send(ViewAction::SelectCapture(capture.id.clone()));
        }
    }
    response.clicked()
}

fn menu_ui(ui: &mut Ui, cx: &Cx<'_>, capture: &Capture, is_other: bool) {
    let item = |ui: &mut Ui, icon: &str, name: &str, keys: &str, enabled: bool| {
        let is_clicked = widgets::menu_item(ui, icon, name, keys, enabled).clicked();
        if is_clicked {
            ui.close();
        }
        is_clicked
    };
    let id = || capture.id.clone();
    let with_shown = "Compare with the answer shown";
    if item(ui, icons::DIFF, with_shown, "Ctrl click", is_other) {
        compare_with_shown(cx, capture);
    }
    if item(ui, icons::COMPARE, "Compare two formats of it", "", true) {
        cx.send(DiffAction::Open(id(), id()));
    }
    let is_call = cx.state.is_call_of_run(capture);
    if item(ui, icons::EXPORT, fixture::SAVE_RUN, "", is_call) {
        cx.send(FixtureAction::ShowRun);
    }
    ui.separator();
    let can_go = !cx.state.is_compared(&capture.id);
    if item(ui, icons::TRASH, "Remove from the list", "Del", can_go) {
        cx.send(ViewAction::RemoveCaptures(vec![id()]));
    }
    let ids = cx.state.captures.iter().map(|other| other.id.clone());
    let others: Vec<_> = ids.filter(|other| *other != capture.id).collect();
    let has_others = !others.is_empty();
    if item(ui, icons::TRASH, "Remove all others", "", has_others) {
        cx.send(ViewAction::RemoveCaptures(others));
    }
}

/// What tells it from the other captures of its tool: the arguments that differ; empty where none do.
fn apart(ui: &Ui, cx: &Cx<'_>, capture: &Capture) -> String {
    let mut key = DefaultHasher::new();
    (&capture.id, cx.state.captures.len()).hash(&mut key);
    once::per_key(ui, Id::unique(("apart", &capture.id)), key.finish(), || {
        let others = cx
            .state
            .captures
            .iter()
            .filter(|other| other.tool.name == capture.tool.name && other.id != capture.id);
        differing(&capture.arguments, others.map(|other| &other.arguments))
    })
}

fn members(arguments: &Bytes) -> Vec<(String, String)> {
    let doc = Doc::parse(arguments.clone());
    let pairs = doc.root().into_iter().flat_map(|root| root.children());
    pairs
        .filter_map(|node| {
            Some((
                node.key()?.into_owned(),
                node.raw_text().trim_matches('"').to_owned(),
            ))
        })
        .collect()
}

/// `pageSize=5`: the members that not all of the others have with the same value; a member that only others have is
/// `name unset`.
fn differing<'a>(arguments: &Bytes, others: impl Iterator<Item = &'a Bytes>) -> String {
    let own = members(arguments);
    let others: Vec<_> = others.map(members).collect();
    let mut words = Vec::new();
    for (name, value) in &own {
        if others.iter().any(|other| {
            !other
                .iter()
                .any(|(known, other)| known == name && other == value)
        }) {
            let short: String = value.chars().take(24).collect();
            words.push(format!(
                "{name}={short}{}",
                if short.len() < value.len() { "…" } else { "" }
            ));
        }
    }
    let mut unset: Vec<&String> = others
        .iter()
        .flatten()
        .map(|(name, _)| name)
        .filter(|name| !own.iter().any(|(known, _)| known == *name))
        .collect();
    unset.sort();
    unset.dedup();
    words.extend(unset.into_iter().map(|name| format!("{name} unset")));
    words.join(" ")
}

/// The side that a result is on, while the diff screen is open.
fn compared_as(cx: &Cx<'_>, capture: &Capture) -> Option<&'static str> {
    let (a, b) = cx
        .state
        .diff
        .sides
        .as_ref()
        .filter(|_| cx.state.view.screen == crate::state::Screen::Diff)?;
    match (*a == capture.id, *b == capture.id) {
        (_, true) => Some("B"),
        (true, _) => Some("A"),
        _ => None,
    }
}

/// The older of the two is A.
fn compare_with_shown(cx: &Cx<'_>, capture: &Capture) {
    let Some(shown) = cx.state.view.capture.clone() else {
        return;
    };
    let place = |id: &loupe_core::capture::CaptureId| {
        cx.state
            .captures
            .iter()
            .position(|capture| capture.id == *id)
    };
    let (a, b) = if place(&shown) < place(&capture.id) {
        (shown, capture.id.clone())
    } else {
        (capture.id.clone(), shown)
    };
    cx.send(DiffAction::Open(a, b));
}

/// What the result costs as it was sent: `…` while it is counted, `–` where it is not.
fn as_sent_tokens(cx: &Cx<'_>, capture: &Capture) -> String {
    let (counting, none) = ("…".to_owned(), "–".to_owned());
    if capture.response.is_none() {
        return none;
    }
    let id = std::slice::from_ref(&capture.id);
    for format in ["both", "content", "structured"] {
        let row = match cx.ask_of(id, RowQuery(format)) {
            QueryState::Ready(row) if row.is_available() => row,
            QueryState::Ready(_) => continue,
            QueryState::Working { .. } => return counting,
            _ => return none,
        };
        let tokenizer = cx.state.settings.tokenizer.clone();
        if let Some(count) = tokenizer.from_tokens(row.tokens) {
            return format_count(count);
        }
        return match cx.ask_of(id, CountQuery { format, tokenizer }) {
            QueryState::Ready(count) => format_count(*count),
            QueryState::Working { .. } => counting,
            _ => none,
        };
    }
    none
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captures_of_one_tool_are_told_apart_by_what_differs() {
        let call = |text: &'static str| Bytes::from_static(text.as_bytes());
        let (json, markdown) = (
            call(r#"{"q":"north","response_format":"json"}"#),
            call(r#"{"q":"north","response_format":"markdown"}"#),
        );
        assert_eq!(
            differing(&json, [&markdown].into_iter()),
            "response_format=json"
        );
        assert_eq!(
            differing(&call(r#"{"q":"north"}"#), [&json].into_iter()),
            "response_format unset"
        );
        assert_eq!(differing(&json, [&json].into_iter()), "");
        assert_eq!(differing(&json, std::iter::empty()), "");
    }
}
