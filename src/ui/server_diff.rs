//! The tools of two servers, of two versions of one, or of a server and a file: which came, went and changed, what each
//! costs, and the definition of the one looked at, change by change.

use std::sync::Arc;

use egui::{Align, Frame, Id, Label, Layout, Margin, Rect, Role, Sense, Stroke, Ui, UiBuilder};
use egui::{pos2, vec2};

use super::diff::{inside, note_ui};
use super::theme;
use super::widgets::{self, Button, Tone};
use super::{Cx, code, icons, once};
use crate::state::server_diff::{ServerDiffAction, ToolListing};
use crate::state::{Action, QueryState};
use loupe_analysis::queries::difference::{ChangedTool, ToolsDifference, ToolsQuery};
use loupe_analysis::queries::invisible_chars::Shown;
use loupe_core::capture::Tool;
use loupe_core::diff::tree::Op;
use loupe_core::json::Node;
use loupe_core::number::{percent_change, signed_from};
use loupe_core::token::{Encoding, Tokens as Counted};

const SIDES: f32 = 56.0;
const ROW: f32 = 30.0;
const NOTE: f32 = 26.0;
/// Below this width the definition is under the list.
const BESIDE: f32 = 860.0;
/// Changes of one definition that are shown, and characters of each value.
const MOST: usize = 400;
const LONGEST: usize = 4_000;

fn act(cx: &Cx<'_>, action: ServerDiffAction) {
    cx.send(Action::ServerDiff(action));
}

pub fn versus_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let versus = &cx.state.server_diff;
    let mut rest = widgets::mode_head(ui, cx, "Compare tool definitions", |ui| {
        let can_copy = cx.state.tools_difference(cx.state.versus_tools()).is_some();
        let copy = Button::new("Copy as JSON")
            .icon(icons::COPY)
            .enabled(can_copy)
            .tip("As `mcp-loupe diff --json` prints it");
        if copy.clicked(ui) {
            act(cx, ServerDiffAction::Copy);
        }
        let is_connected = cx.state.session().connection.is_connected();
        let tip = if is_connected {
            "Another server, version or sample, a file or a folder"
        } else {
            "Connect to a server first"
        };
        if Button::new("Compare with…")
            .icon(icons::DIFF)
            .enabled(is_connected)
            .tip(tip)
            .clicked(ui)
        {
            act(cx, ServerDiffAction::Choose);
        }
    });
    let Some(other) = &versus.other else {
        ui.scope_builder(UiBuilder::new().max_rect(rest), |ui| {
            let words = "Nothing to compare yet: choose another server, another version, or a saved list of tools.";
            if widgets::empty_ui(ui, words, Some("Choose…")) {
                act(cx, ServerDiffAction::Choose);
            }
        });
        return;
    };
    let own = cx.state.own_list();
    let (a, b) = if versus.is_turned {
        (&own, other)
    } else {
        (other, &own)
    };
    sides_ui(ui, cx, strip(&mut rest, SIDES), a, b);
    for note in [a, b].into_iter().filter_map(|list| {
        list.note
            .as_ref()
            .map(|note| format!("{}: {note}", list.name))
    }) {
        note_ui(ui, strip(&mut rest, NOTE), Tone::Warn, &note);
    }
    let asked = cx
        .state
        .versus_tools()
        .map(|query_key| cx.inquire::<ToolsQuery>(query_key));
    let Some(QueryState::Ready(found)) = asked else {
        ui.scope_builder(
            UiBuilder::new().max_rect(rest.shrink(16.0)),
            |ui| match asked {
                Some(QueryState::Failed(problem)) => {
                    widgets::empty_ui(ui, &problem.message(), None);
                }
                Some(QueryState::Working { since }) => {
                    widgets::waiting(ui, "Comparing the definitions", since, cx);
                }
                _ => {
                    widgets::empty_ui(
                        ui,
                        "The server in use is not connected: there are no tools to compare.",
                        None,
                    );
                }
            },
        );
        return;
    };
    sentence_ui(ui, cx, strip(&mut rest, 40.0), found);
    if found.is_equal() {
        let words = "Every definition is the same: name, description, schemas and annotations. The order of keys was ignored.";
        ui.scope_builder(UiBuilder::new().max_rect(rest), |ui| {
            widgets::empty_ui(ui, words, None)
        });
        return;
    }
    let is_wide = rest.width() >= BESIDE;
    let (list, definition) = if is_wide {
        let middle = (rest.left() + rest.width() * 0.4).round();
        (rest.with_max_x(middle), rest.with_min_x(middle))
    } else {
        let middle = (rest.top() + rest.height() * 0.45).round();
        (rest.with_max_y(middle), rest.with_min_y(middle))
    };
    let rows = rows(found);
    let chosen = versus
        .chosen
        .as_ref()
        .and_then(|name| rows.iter().position(|row| row.name() == name));
    widgets::part(ui, "tools", list, |ui| list_ui(ui, cx, &rows, chosen));
    let line = Stroke::new(1.0, theme::of(ui).line);
    if is_wide {
        ui.painter()
            .vline(definition.left() - 0.5, definition.y_range(), line);
    } else {
        ui.painter()
            .hline(definition.x_range(), definition.top() - 0.5, line);
    }
    widgets::part(ui, "definition", definition, |ui| {
        match chosen.and_then(|at| rows.get(at)) {
            Some(row) => definition_ui(ui, cx, row, (a, b)),
            None => {
                widgets::empty_ui(ui, "Choose a tool to see how its definition changed.", None);
            }
        }
    });
}

fn strip(rest: &mut Rect, height: f32) -> Rect {
    let strip = Rect::from_min_size(rest.min, vec2(rest.width(), height));
    rest.min.y += height;
    strip
}

fn sides_ui(ui: &mut Ui, cx: &Cx<'_>, rect: Rect, a: &ToolListing, b: &ToolListing) {
    let t = theme::of(ui);
    ui.painter().rect_filled(rect, 0.0, t.panel);
    widgets::line_below(ui, rect);
    let swap = Rect::from_center_size(rect.center(), vec2(theme::ICON_BUTTON, theme::ICON_BUTTON));
    let half = |left: f32, right: f32| {
        Rect::from_min_max(
            pos2(left, rect.top() + 4.0),
            pos2(right, rect.bottom() - 4.0),
        )
    };
    side_ui(ui, half(rect.left() + 4.0, swap.left() - 6.0), "A", a);
    inside(
        ui,
        swap,
        "swap",
        Layout::left_to_right(Align::Center),
        |ui| {
            if widgets::icon_button(ui, icons::SWAP, "Swap A and B").clicked() {
                act(cx, ServerDiffAction::Turn);
            }
        },
    );
    side_ui(ui, half(swap.right() + 6.0, rect.right() - 4.0), "B", b);
}

fn side_ui(ui: &Ui, rect: Rect, name: &str, list: &ToolListing) {
    let t = theme::of(ui);
    let count = list.tools.len() as u64;
    let tools = widgets::number_text(count, "tools");
    let words = format!("{name}: {}, {tools}, {}", list.name, list.place);
    let response = widgets::sense(ui, rect, ("side", name), Sense::hover());
    widgets::say(&response, Role::Label, &words);
    widgets::letter_at(ui, pos2(rect.left() + 20.0, rect.center().y), name);
    let right = widgets::text_right(
        ui,
        pos2(rect.right() - 10.0, rect.center().y),
        tools,
        theme::mono_semibold(12.0),
        t.strong,
    );
    let left = rect.left() + 40.0;
    let room = right - 10.0 - left;
    widgets::text_at(
        ui,
        pos2(left, rect.top() + 15.0),
        Shown::of(&list.name).text,
        theme::semibold(13.0),
        t.strong,
        room,
    );
    let place = Shown::of(&list.place).text;
    widgets::text_at(
        ui,
        pos2(left, rect.bottom() - 14.0),
        place,
        theme::mono(12.0),
        t.weak,
        room,
    );
    response.on_hover_text(words);
}

/// "2 added, 1 removed, 3 changed, 12 unchanged · definitions 3,260 → 2,948 tok, −9.6% against A".
fn sentence(found: &ToolsDifference, encoding: Encoding) -> String {
    let mut parts = Vec::new();
    let counts = [
        (found.added.len(), "added"),
        (found.removed.len(), "removed"),
        (found.changed.len(), "changed"),
        (found.unchanged, "unchanged"),
    ];
    for (count, word) in counts {
        if count > 0 {
            parts.push(widgets::number_text(count as u64, word));
        }
    }
    let (a, b) = (found.total.0.get(encoding), found.total.1.get(encoding));
    let share =
        percent_change(a, b).map_or_else(String::new, |share| format!(", {share} against A"));
    let tokens = widgets::number_text(b, "tok");
    format!(
        "From A to B: {} · all definitions {} → {tokens} ({}{share}; {})",
        parts.join(", "),
        widgets::grouped(a),
        signed_from(a, b),
        encoding.name()
    )
}

fn sentence_ui(ui: &Ui, cx: &Cx<'_>, rect: Rect, found: &ToolsDifference) {
    let t = theme::of(ui);
    let words = sentence(found, cx.state.settings.encoding());
    widgets::line_below(ui, rect);
    widgets::text_at(
        ui,
        pos2(rect.left() + 16.0, rect.center().y),
        &words,
        theme::base(),
        t.strong,
        rect.width() - 32.0,
    );
    let response = widgets::sense(ui, rect, "sentence", Sense::hover());
    widgets::say(&response, Role::Label, &words);
    response.on_hover_text(words);
}

/// A tool that is not in both lists as it is.
enum Row<'a> {
    Added(&'a str, Counted),
    Removed(&'a str, Counted),
    Changed(&'a ChangedTool),
}

impl Row<'_> {
    fn name(&self) -> &str {
        match self {
            Self::Added(name, _) | Self::Removed(name, _) => name,
            Self::Changed(tool) => &tool.name,
        }
    }

    fn tokens(&self, encoding: Encoding) -> (u64, u64) {
        match self {
            Self::Added(_, tokens) => (0, tokens.get(encoding)),
            Self::Removed(_, tokens) => (tokens.get(encoding), 0),
            Self::Changed(tool) => (tool.tokens.0.get(encoding), tool.tokens.1.get(encoding)),
        }
    }

    fn word(&self) -> &'static str {
        match self {
            Self::Added(..) => "only in B",
            Self::Removed(..) => "only in A",
            Self::Changed(_) => "changed",
        }
    }

    /// What of a definition changed next to its words.
    fn what(&self) -> Vec<&'static str> {
        let Self::Changed(tool) = self else {
            return Vec::new();
        };
        tool.is_schema_changed
            .then_some("schema")
            .into_iter()
            .chain(tool.hints.iter().copied())
            .collect()
    }
}

fn rows(found: &ToolsDifference) -> Vec<Row<'_>> {
    let changed = found.changed.iter().map(Row::Changed);
    let added = found
        .added
        .iter()
        .map(|(name, tokens)| Row::Added(name, *tokens));
    let removed = found
        .removed
        .iter()
        .map(|(name, tokens)| Row::Removed(name, *tokens));
    changed.chain(added).chain(removed).collect()
}

fn list_ui(ui: &mut Ui, cx: &Cx<'_>, rows: &[Row<'_>], chosen: Option<usize>) {
    ui.spacing_mut().item_spacing.y = 0.0;
    widgets::scroll("changed tools").show_rows(ui, ROW, rows.len(), |ui, range| {
        for at in range {
            row_ui(ui, cx, &rows[at], chosen == Some(at));
        }
    });
}

fn row_ui(ui: &mut Ui, cx: &Cx<'_>, tool: &Row<'_>, is_chosen: bool) {
    let t = theme::of(ui);
    let row = widgets::ListRow::new(ui, ROW);
    row.ground_edged(is_chosen);
    let (glyph, color) = match tool {
        Row::Added(..) => (icons::ADD, t.ok),
        Row::Removed(..) => (icons::REMOVE, t.bad),
        Row::Changed(_) => (icons::WRITES, t.warn),
    };
    row.icon(row.inset_left(20.0), glyph, 14.0, color);
    let (a, b) = tool.tokens(cx.state.settings.encoding());
    let tokens = format!("{} tok", signed_from(a, b));
    let right = row.number(row.inset_right(14.0), &tokens, theme::code(), t.weak);
    let what = std::iter::once(tool.word())
        .chain(tool.what())
        .collect::<Vec<_>>()
        .join(" · ");
    let left = row.inset_left(36.0);
    let name = Shown::of(tool.name()).text;
    let most = left + (right - left) * 0.62;
    let end = row.text(left, most, &name, theme::mono(12.5), t.strong);
    row.text(end + 10.0, right - 10.0, &what, theme::small(), color);
    row.say_entry(is_chosen, format!("{name}, {what}, {tokens}"));
    if row.response.clicked() {
        act(cx, ServerDiffAction::Look(tool.name().to_owned()));
    }
}

/// One change of a definition, in words.
struct Change {
    op: Op,
    path: String,
    before: Option<String>,
    after: Option<String>,
}

fn changes(tool: &ChangedTool) -> Vec<Change> {
    let value = |node: Option<Node<'_>>| {
        let text = node.map(|node| {
            node.as_str()
                .unwrap_or_else(|| node.raw_text())
                .into_owned()
        })?;
        let mut shown: String = Shown::of(&text).text.chars().take(LONGEST).collect();
        if shown.len() < text.len() && text.chars().count() > LONGEST {
            shown.push('…');
        }
        Some(shown)
    };
    let change = |node: loupe_analysis::queries::difference::NodeChange<'_>| {
        let (from, to) = tool.definition.paths(&node);
        let path = match (node.op, from, to) {
            (Op::Move, Some(from), Some(to)) => format!("{from} → {to}"),
            (_, from, to) => to.or(from).unwrap_or_default(),
        };
        Change {
            op: node.op,
            path: Shown::of(&path).text,
            before: value(node.a),
            after: value(node.b),
        }
    };
    tool.definition.changes().take(MOST).map(change).collect()
}

fn definition_ui(ui: &mut Ui, cx: &Cx<'_>, row: &Row<'_>, (a, b): (&ToolListing, &ToolListing)) {
    let t = theme::of(ui);
    let encoding = cx.state.settings.encoding();
    let (before, now) = row.tokens(encoding);
    widgets::padded(ui, Margin::symmetric(16, 12), |ui| {
        ui.set_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = 6.0;
        widgets::words(ui, Shown::of(row.name()).text, theme::tool_name(), t.strong);
        match row {
            Row::Changed(tool) => {
                let share = percent_change(before, now)
                    .map_or_else(String::new, |share| format!(", {share} against A"));
                let words = format!(
                    "{} → {} ({}{share})",
                    widgets::grouped(before),
                    widgets::number_text(now, "tok"),
                    signed_from(before, now)
                );
                widgets::words(ui, words, theme::code(), t.weak);
                changes_ui(ui, tool);
            }
            Row::Added(name, _) => whole_ui(ui, b, name, &widgets::number_text(now, "tok")),
            Row::Removed(name, _) => whole_ui(ui, a, name, &widgets::number_text(before, "tok")),
        }
    });
}

/// A definition that is in one list alone.
fn whole_ui(ui: &mut Ui, list: &ToolListing, name: &str, tokens: &str) {
    let t = theme::of(ui);
    let words = format!("Only {} has it: {tokens}", list.name);
    widgets::wrapped(ui, words, theme::base(), t.text);
    let found: Option<&Arc<Tool>> = list.tools.iter().find(|tool| tool.name == name);
    if let Some(tool) = found {
        let lines = code::lines_of(ui, "versus", &tool.raw);
        let height = ui.available_height() - 24.0;
        code::code_ui(ui, "versus definition", &lines, height.max(80.0));
    }
}

fn changes_ui(ui: &mut Ui, tool: &ChangedTool) {
    let t = theme::of(ui);
    // Told once for each comparison and tool, not in every frame.
    let key = std::ptr::from_ref(tool) as u64;
    let changes = once::per_key(ui, Id::unique("versus changes"), key, || {
        Arc::new(changes(tool))
    });
    widgets::scroll("changes").show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 4.0;
        for change in changes.iter() {
            let (glyph, color) = match change.op {
                Op::Add => (icons::ADD, t.ok),
                Op::Remove => (icons::REMOVE, t.bad),
                Op::Change => (icons::WRITES, t.warn),
                Op::Move => (icons::SWAP, t.accent),
            };
            ui.add_space(4.0);
            ui.horizontal(|ui| {
                ui.add(Label::new(icons::icon(glyph, 14.0, color)));
                let path = if change.path.is_empty() {
                    "the whole definition"
                } else {
                    &change.path
                };
                widgets::wrapped(ui, path, theme::mono_semibold(12.0), t.strong);
            });
            let sides = [
                (&change.before, "−", t.bad_bg, "Before"),
                (&change.after, "+", t.ok_bg, "Now"),
            ];
            for (value, sign, fill, word) in sides {
                // What only moved has the same value on both sides.
                let Some(value) = value.as_ref().filter(|_| change.op != Op::Move) else {
                    continue;
                };
                Frame::new()
                    .fill(fill)
                    .corner_radius(theme::RADIUS_BADGE)
                    .inner_margin(Margin::symmetric(8, 4))
                    .show(ui, |ui| {
                        ui.set_width(ui.available_width());
                        let text =
                            widgets::styled(format!("{sign} {value}"), theme::code(), t.text);
                        let response = ui.add(Label::new(text).wrap().selectable(true));
                        widgets::say(&response, Role::Label, format!("{word}: {value}"));
                    });
            }
        }
        let more = tool
            .definition
            .found
            .counts
            .total()
            .saturating_sub(changes.len() as u64);
        if more > 0 {
            let words = format!(
                "and {}: Copy as JSON has them",
                widgets::number_text(more, "more changes")
            );
            widgets::note(ui, words);
        }
        ui.add_space(12.0);
    });
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[test]
    fn every_change_is_told_with_both_values() {
        let tool = |text: &'static str| Tool::read(Bytes::from_static(text.as_bytes()));
        let a = [tool(
            r#"{"name":"t","description":"old words","inputSchema":{"required":["a"]}}"#,
        )];
        let b = [tool(
            r#"{"name":"t","description":"new words","inputSchema":{},"annotations":{"readOnlyHint":true}}"#,
        )];
        let found = ToolsDifference::new(&a, &b);
        let rows = rows(&found);
        assert_eq!(
            (rows.len(), rows[0].what()),
            (1, vec!["schema", "readOnlyHint"])
        );
        let Row::Changed(changed) = &rows[0] else {
            panic!("not changed")
        };
        let listed: Vec<_> = changes(changed)
            .into_iter()
            .map(|change| (change.op.name(), change.path, change.before, change.after))
            .collect();
        assert!(
            listed.contains(&(
                "change",
                "/description".to_owned(),
                Some("old words".to_owned()),
                Some("new words".to_owned())
            )),
            "{listed:?}"
        );
        assert!(
            listed.iter().any(|(op, path, before, _)| *op == "remove"
                && path.contains("required")
                && before.is_some()),
            "{listed:?}"
        );
    }

    #[test]
    fn the_sentence_names_what_a_percentage_is_against() {
        let total = (
            Counted {
                o200k_base: 200,
                cl100k_base: 1,
            },
            Counted {
                o200k_base: 150,
                cl100k_base: 1,
            },
        );
        let found = ToolsDifference {
            removed: vec![("x".into(), total.0)],
            unchanged: 3,
            total,
            ..ToolsDifference::default()
        };
        let words = sentence(&found, Encoding::O200kBase);
        assert_eq!(
            words,
            "From A to B: 1 removed, 3 unchanged · all definitions 200 → 150 tok (−50, −25% against A; o200k_base)"
        );
    }
}
