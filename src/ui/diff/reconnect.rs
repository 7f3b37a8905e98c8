//! What reconnecting changed: chips in the headers of the panes, a line about the tools, and the list behind it.

use std::sync::Arc;

use egui::{Rect, ScrollArea, Ui, pos2, vec2};

use super::{act, inside, note_ui};
use crate::state::diff::DiffAction;
use crate::state::{Action, Dialog, PaneContent, PaneView};
use crate::ui::theme;
use crate::ui::widgets::{self, Button, Tone};
use crate::ui::{Cx, icons};
use loupe_analysis::queries::difference::{ToolsDifference, ToolsQuery};
use loupe_analysis::queries::{DiffQuery, DiffView, RowQuery};
use loupe_core::capture::CaptureId;
use loupe_core::number::{percent_change, signed_from};

const STRIP: f32 = 30.0;

/// The difference of the result shown to the one before the server was connected again.
fn since<'a>(cx: &Cx<'a>) -> Option<&'a Arc<DiffView>> {
    let (now, before) = cx.state.session().reconnect.pair.as_ref()?;
    if cx.state.view.capture.as_ref() != Some(now) {
        return None;
    }
    cx.ask_of(&[before.clone(), now.clone()], DiffQuery::default())
        .ready()
}

/// What became of a pane's content: `−119 tok · 2 facts lost · 4 lines changed`. True where there was room for it.
pub fn pane_chip(ui: &mut Ui, cx: &Cx<'_>, shows: PaneView, room: f32) -> bool {
    let Some(view) = since(cx) else { return false };
    let encoding = cx.state.settings.encoding();
    let format = match shows.content() {
        PaneContent::Format(format) => format,
        PaneContent::Data => "json",
        PaneContent::Host(_) => return false,
    };
    let Some((now, before)) = &cx.state.session().reconnect.pair else {
        return false;
    };
    let tokens = |capture: &CaptureId| {
        let row = cx
            .ask_of(std::slice::from_ref(capture), RowQuery(format))
            .ready()?;
        row.is_available().then(|| row.tokens.get(encoding))
    };
    let (Some(a), Some(b)) = (tokens(before), tokens(now)) else {
        return false;
    };
    let mut parts = Vec::new();
    if a != b {
        parts.push(format!("{} tok", signed_from(a, b)));
    }
    let changes = changes(view, format);
    parts.extend(changes.clone());
    if parts.is_empty() {
        parts.push("same as before".to_owned());
    }
    let share = percent_change(a, b).map_or_else(String::new, |share| {
        format!(" ({share} of the tokens before)")
    });
    let spoken = format!(
        "Since the call before: {}{share}. Show the difference",
        parts.join(", ")
    );
    if room < 90.0 {
        return false;
    }
    // As much as there is room for, the cost first; the icon says too that a count is of changes.
    let width = |text: &str| widgets::text_width(ui, text, theme::medium(12.0)) + 44.0;
    let ways = (1..=parts.len())
        .rev()
        .map(|count| parts[..count].join(" · "));
    let mut ways = ways.flat_map(|way| [way.replace(" changed", ""), way].into_iter().rev());
    let shown = ways
        .find(|way| width(way) <= room)
        .unwrap_or_else(|| parts[0].clone());
    if Button::new(&shown)
        .icon(icons::DIFF)
        .name(&spoken)
        .tip(&spoken)
        .height(22.0)
        .clicked(ui)
    {
        act(cx, DiffAction::Open(before.clone(), now.clone()));
    }
    true
}

/// What changed of a format, most weighty first, each counted; nothing where nothing did.
fn changes(view: &DiffView, format: &str) -> Vec<String> {
    let lines = view
        .text
        .as_ref()
        .map_or(0, |text| text.found.added.max(text.found.removed));
    // Lines are those of the text as it was sent; what is written from the data, or is JSON on one line, differs where the
    // data does.
    let has_lines = format == "content" && !(view.is_laid_out && view.values_changed() > 0);
    let (text_lines, values) = if has_lines {
        (lines, 0)
    } else {
        (0, view.values_changed())
    };
    let counted = [
        (
            if format == "content" {
                view.facts_lost()
            } else {
                0
            },
            "fact",
            "lost",
        ),
        (text_lines, "line", "changed"),
        (values, "value", "changed"),
    ];
    let message = |(count, one, what): (u64, &str, &str)| {
        let unit = if count == 1 {
            one.to_owned()
        } else {
            format!("{one}s")
        };
        (count > 0).then(|| format!("{} {what}", widgets::number_text(count, &unit)))
    };
    counted.into_iter().filter_map(message).collect()
}

fn sentence(found: &ToolsDifference, encoding: loupe_core::token::Encoding) -> String {
    let mut parts = Vec::new();
    for (count, word) in [
        (found.added.len(), "added"),
        (found.removed.len(), "removed"),
        (found.changed.len(), "changed"),
    ] {
        if count > 0 {
            parts.push(widgets::number_text(count as u64, word));
        }
    }
    let (a, b) = (found.total.0.get(encoding), found.total.1.get(encoding));
    let share =
        percent_change(a, b).map_or_else(String::new, |share| format!(", {share} against before"));
    format!(
        "The server's tools changed: {} · {} tok of definitions{share}",
        parts.join(", "),
        signed_from(a, b)
    )
}

/// The line about the tools above the panes; the height it took.
pub fn again_strip(ui: &mut Ui, cx: &Cx<'_>, rect: Rect) -> Option<f32> {
    let found = cx
        .inquire::<ToolsQuery>(cx.state.again_tools()?)
        .ready()
        .filter(|found| !found.is_equal())?;
    let strip = Rect::from_min_size(rect.min, vec2(rect.width(), STRIP));
    note_ui(
        ui,
        strip,
        Tone::Accent,
        &sentence(found, cx.state.settings.encoding()),
    );
    let button = Rect::from_min_max(pos2(strip.right() - 140.0, strip.top()), strip.max);
    inside(
        ui,
        button.shrink2(vec2(8.0, 0.0)),
        "tools changed",
        egui::Layout::right_to_left(egui::Align::Center),
        |ui| {
            if Button::new("Show changes").height(22.0).clicked(ui) {
                cx.send(Action::ShowDialog(Dialog::ToolsChanged));
            }
        },
    );
    Some(STRIP)
}

/// The list of tools that are not what they were.
pub fn tools_changed_ui(ui: &mut Ui, cx: &Cx<'_>, height: f32) {
    let t = theme::of(ui);
    let encoding = cx.state.settings.encoding();
    let Some(found) = cx
        .state
        .again_tools()
        .and_then(|query_key| cx.inquire::<ToolsQuery>(query_key).ready())
    else {
        widgets::words(
            ui,
            "The tools are the same as before.",
            theme::base(),
            t.text,
        );
        return;
    };
    widgets::wrapped(ui, sentence(found, encoding), theme::base(), t.text);
    let unchanged = widgets::number_text(found.unchanged as u64, "unchanged tools");
    widgets::note(ui, unchanged);
    let row = |ui: &mut Ui, glyph: &str, color, name: &str, cost: String| {
        ui.horizontal(|ui| {
            ui.label(icons::icon(glyph, 14.0, color));
            widgets::words(ui, name, theme::code(), t.strong);
            widgets::words(ui, cost, theme::code(), t.weak);
        });
    };
    ScrollArea::vertical().max_height(height).show(ui, |ui| {
        for (name, tokens) in &found.added {
            row(
                ui,
                icons::ADD,
                t.ok,
                name,
                format!("+{}", widgets::number_text(tokens.get(encoding), "tok")),
            );
        }
        for (name, tokens) in &found.removed {
            row(
                ui,
                icons::REMOVE,
                t.bad,
                name,
                format!("−{}", widgets::number_text(tokens.get(encoding), "tok")),
            );
        }
        for tool in &found.changed {
            let (a, b) = (tool.tokens.0.get(encoding), tool.tokens.1.get(encoding));
            let schema = if tool.is_schema_changed {
                " · schema changed"
            } else {
                ""
            };
            let hints = if tool.hints.is_empty() {
                String::new()
            } else {
                format!(" · {} changed", tool.hints.join(", "))
            };
            row(
                ui,
                icons::WRITES,
                t.warn,
                &tool.name,
                format!("{} tok{schema}{hints}", signed_from(a, b)),
            );
            for change in tool.definition.changes().take(20) {
                let (from, to) = tool.definition.paths(&change);
                let path = to.or(from).unwrap_or_default();
                let value = |node: Option<loupe_core::json::Node<'_>>| {
                    let text = node
                        .map(|node| node.raw_text().into_owned())
                        .unwrap_or_default();
                    text.chars().take(80).collect::<String>()
                };
                let words = format!(
                    "{} {path} {} → {}",
                    change.op.name(),
                    value(change.a),
                    value(change.b)
                );
                let words = loupe_analysis::queries::invisible_chars::Shown::of(&words).text;
                widgets::wrapped(ui, format!("    {words}"), theme::code(), t.text);
            }
        }
    });
}
