//! What changed between two lists of tools, by whom it concerns.

use std::sync::Arc;

use super::CheckedTool;
use super::profile::Profile::{Cost, HostCompat, Spec};
use super::rule::Severity::{Error, Info, Warning};
use super::rule::{Hits, Rule, RuleCheck};
use super::tool::{ChangeKind, ToolChange, text, types};
use loupe_core::capture::{Hint, Tool};
use loupe_core::json::{Kind, Node};
use loupe_core::number::grouped;
use loupe_core::token;

const SAVED: &str = "callers of the saved list of tools";

pub(crate) static RULES: &[Rule] = &[
    Rule::new("drift/breaking", &[(Spec, Error)], RuleCheck::Drift(breaking))
        .explanation("Calls or answers that worked before do not any more: a tool or a field is gone, an argument became required, a type changed, values are fewer.")
        .fix("Keep the old form beside the new one, or give the tool a new name.")
        .source(SAVED),
    Rule::new("drift/compatible", &[(Spec, Info)], RuleCheck::Drift(compatible))
        .explanation("Something was added; what worked before still does.")
        .fix("None needed.")
        .source(SAVED),
    Rule::new("drift/wording", &[(Spec, Info)], RuleCheck::Drift(wording))
        .explanation("Titles or descriptions of arguments have other words.")
        .fix("None needed; models may choose otherwise.")
        .source(SAVED),
    Rule::new("drift/description-changed", &[(HostCompat, Warning)], RuleCheck::Drift(description))
        .explanation("The description of a tool has other words. Whoever approved it approved the old ones.")
        .fix("Read what changed.")
        .source("“rug pull” of MCP tools, Invariant Labs 2025-04"),
    Rule::new("drift/annotations-changed", &[(HostCompat, Warning)], RuleCheck::Drift(annotations))
        .explanation("What the tool declares of its effects is not what it was: hosts now ask before a call where they did not, or no longer ask.")
        .fix("Read what changed, and whether the tool changed with it.")
        .source("“rug pull” of MCP tools, Invariant Labs 2025-04; hosts that call read-only tools without a question (hosts)"),
    Rule::new("drift/cost", &[(Cost, Warning)], RuleCheck::Drift(cost))
        .explanation("All definitions together cost more than before.")
        .fix("Shorten the definitions that grew.")
        .source(SAVED)
        .limit(10, "percent more tokens"),
];

/// Everything that changed.
pub(super) fn changes(before: &[Tool], now: &[Arc<Tool>]) -> Vec<ToolChange> {
    let mut found = Vec::new();
    let mut say = |kind, tool: &str, message: String, path: String| {
        found.push(ToolChange {
            kind,
            tool: tool.to_owned(),
            message,
            path,
        })
    };
    for old in before {
        match now.iter().find(|tool| tool.name == old.name) {
            None => say(
                ChangeKind::Breaking,
                &old.name,
                "is gone".to_owned(),
                String::new(),
            ),
            Some(new) => compare_tools(
                &CheckedTool::new(old),
                &CheckedTool::new(new),
                &mut |kind, message, path| {
                    say(kind, &old.name, message, path);
                },
            ),
        }
    }
    for new in now
        .iter()
        .filter(|new| before.iter().all(|old| old.name != new.name))
    {
        say(
            ChangeKind::Compatible,
            &new.name,
            "is new".to_owned(),
            String::new(),
        );
    }
    let count = |raw: &[u8]| token::count(&String::from_utf8_lossy(raw)).o200k_base;
    let (old, new) = (
        before.iter().map(|tool| count(&tool.raw)).sum(),
        now.iter().map(|tool| count(&tool.raw)).sum(),
    );
    say(
        ChangeKind::Cost(old, new),
        "",
        format!(
            "{} tokens of definitions became {}",
            grouped(old),
            grouped(new)
        ),
        String::new(),
    );
    found
}

type Say<'s> = dyn FnMut(ChangeKind, String, String) + 's;

fn compare_tools(old: &CheckedTool<'_>, new: &CheckedTool<'_>, say: &mut Say<'_>) {
    if old.tool.description != new.tool.description {
        say(
            ChangeKind::Description,
            "the description changed".to_owned(),
            "/description".to_owned(),
        );
    }
    if old.tool.title != new.tool.title {
        say(
            ChangeKind::Wording,
            "the title changed".to_owned(),
            "/title".to_owned(),
        );
    }
    let hints = |tool: &Tool| {
        let hints = tool.annotations;
        [
            ("readOnlyHint", hints.read_only),
            ("destructiveHint", hints.destructive),
            ("idempotentHint", hints.idempotent),
            ("openWorldHint", hints.open_world),
        ]
    };
    for ((name, was), (_, is)) in hints(old.tool).into_iter().zip(hints(new.tool)) {
        let stated = |hint: Hint| match hint.declared {
            true => hint.value.to_string(),
            false => format!("unset ({})", hint.value),
        };
        if was != is {
            let message = format!("`{name}` was {}, and is {}", stated(was), stated(is));
            say(
                ChangeKind::Annotations,
                message,
                format!("/annotations/{name}"),
            );
        }
    }
    if let (Some(old), Some(new)) = (old.input(), new.input()) {
        fields(old, new, true, 0, say);
    }
    match (old.output(), new.output()) {
        (Some(old), Some(new)) => fields(old, new, false, 0, say),
        (Some(_), None) => say(
            ChangeKind::Breaking,
            "the output schema is gone".to_owned(),
            "/outputSchema".to_owned(),
        ),
        (None, Some(_)) => say(
            ChangeKind::Compatible,
            "has an output schema now".to_owned(),
            "/outputSchema".to_owned(),
        ),
        (None, None) => {}
    }
}

/// A schema that is deeper changed where nobody looks.
const MAX_DEPTH: usize = 32;

fn members(schema: Node<'_>) -> Vec<Node<'_>> {
    schema
        .get("properties")
        .filter(|node| node.kind() == Kind::Object)
        .map(|node| node.children().collect())
        .unwrap_or_default()
}

fn required(schema: Node<'_>) -> Vec<String> {
    let list = schema.get("required").into_iter().flat_map(Node::children);
    list.filter_map(|name| Some(name.as_str()?.into_owned()))
        .collect()
}

/// The fields of two objects: what is given to a tool, or what it gives.
fn fields(old: Node<'_>, new: Node<'_>, is_input: bool, depth: usize, say: &mut Say<'_>) {
    let (before, now) = (members(old), members(new));
    let (was_required, is_required) = (required(old), required(new));
    let closed = |schema: Node<'_>| {
        schema.get("additionalProperties").and_then(Node::as_bool) == Some(false)
    };
    let is_closed = closed(new);
    if is_input && is_closed != closed(old) {
        let (kind, what) = if is_closed {
            (
                ChangeKind::Breaking,
                "arguments that it does not name are refused now",
            )
        } else {
            (
                ChangeKind::Compatible,
                "arguments that it does not name are let through now",
            )
        };
        say(kind, what.to_owned(), new.pointer());
    }
    for field in &before {
        let name = field.key().unwrap_or_default();
        let Some(same) = now.iter().find(|other| other.key() == field.key()) else {
            // An argument that an open object does not name is let through.
            let kind = if is_input && !is_closed {
                ChangeKind::Compatible
            } else {
                ChangeKind::Breaking
            };
            say(kind, format!("`{name}` is gone"), field.pointer());
            continue;
        };
        field_changed(*field, *same, is_input, depth, say);
    }
    for field in &now {
        let name = field.key().unwrap_or_default().into_owned();
        let is_new = before.iter().all(|other| other.key() != field.key());
        if is_input && is_required.contains(&name) && !was_required.contains(&name) {
            say(
                ChangeKind::Breaking,
                format!("`{name}` is required now"),
                field.pointer(),
            );
        } else if is_new {
            say(
                ChangeKind::Compatible,
                format!("`{name}` is new"),
                field.pointer(),
            );
        } else if is_input && !is_required.contains(&name) && was_required.contains(&name) {
            say(
                ChangeKind::Compatible,
                format!("`{name}` is not required any more"),
                field.pointer(),
            );
        }
        if !is_input && !is_new && was_required.contains(&name) && !is_required.contains(&name) {
            say(
                ChangeKind::Breaking,
                format!("`{name}` may be missing now"),
                field.pointer(),
            );
        }
    }
}

fn field_changed(old: Node<'_>, new: Node<'_>, is_input: bool, depth: usize, say: &mut Say<'_>) {
    let name = new.key().unwrap_or_else(|| "the items".into());
    let (was, is) = (types(old), types(new));
    if was != is {
        let is_wider = !is.is_empty()
            && was.iter().all(|kind| {
                is.contains(kind) || kind == "integer" && is.contains(&"number".to_owned())
            });
        let kind = if is_wider && is_input && !was.is_empty() || is.is_empty() && is_input {
            ChangeKind::Compatible
        } else {
            ChangeKind::Breaking
        };
        say(
            kind,
            format!(
                "the type of `{name}` changed from {} to {}",
                stated(&was),
                stated(&is)
            ),
            new.pointer(),
        );
    }
    let values = |schema: Node<'_>| {
        schema.get("enum").map(|list| {
            list.children()
                .map(|value| value.raw_text().into_owned())
                .collect::<Vec<_>>()
        })
    };
    match (values(old), values(new)) {
        (Some(was), Some(is)) => {
            let lost: Vec<_> = was
                .iter()
                .filter(|value| !is.contains(value))
                .cloned()
                .collect();
            let gained: Vec<_> = is
                .iter()
                .filter(|value| !was.contains(value))
                .cloned()
                .collect();
            let (narrower, wider) = if is_input {
                (ChangeKind::Breaking, ChangeKind::Compatible)
            } else {
                (ChangeKind::Compatible, ChangeKind::Breaking)
            };
            if !lost.is_empty() {
                say(
                    narrower,
                    format!("`{name}` does not have {} any more", lost.join(", ")),
                    new.pointer(),
                );
            }
            if !gained.is_empty() {
                say(
                    wider,
                    format!("`{name}` has {} too", gained.join(", ")),
                    new.pointer(),
                );
            }
        }
        (None, Some(_)) if is_input => say(
            ChangeKind::Breaking,
            format!("`{name}` takes listed values alone now"),
            new.pointer(),
        ),
        _ => {}
    }
    for key in ["pattern", "format", "const", "multipleOf", "uniqueItems"]
        .into_iter()
        .filter(|_| is_input)
    {
        let written = |schema: Node<'_>| schema.get(key).map(|node| node.raw_text().into_owned());
        match (written(old), written(new)) {
            (was, Some(is)) if was.as_ref() != Some(&is) => {
                say(
                    ChangeKind::Breaking,
                    format!("`{key}` of `{name}` is {is} now"),
                    new.pointer(),
                );
            }
            (Some(_), None) => say(
                ChangeKind::Compatible,
                format!("`{key}` of `{name}` is gone"),
                new.pointer(),
            ),
            _ => {}
        }
    }
    let limits = [
        ("minimum", true),
        ("maximum", false),
        ("exclusiveMinimum", true),
        ("exclusiveMaximum", false),
        ("minLength", true),
        ("maxLength", false),
        ("minItems", true),
        ("maxItems", false),
        ("minProperties", true),
        ("maxProperties", false),
    ];
    for (key, is_low) in limits {
        let number = |schema: Node<'_>| schema.get(key).and_then(Node::as_f64);
        let is_narrower = match (number(old), number(new)) {
            (Some(was), Some(is)) => {
                if is_low {
                    is > was
                } else {
                    is < was
                }
            }
            (None, Some(_)) => true,
            _ => false,
        };
        if is_narrower && is_input {
            say(
                ChangeKind::Breaking,
                format!("`{key}` of `{name}` is narrower"),
                new.pointer(),
            );
        }
    }
    if text(old, "description") != text(new, "description")
        || text(old, "title") != text(new, "title")
    {
        say(
            ChangeKind::Wording,
            format!("the description of `{name}` changed"),
            new.pointer(),
        );
    }
    if depth < MAX_DEPTH {
        fields(old, new, is_input, depth + 1, say);
        if let (Some(old), Some(new)) = (old.get("items"), new.get("items")) {
            field_changed(old, new, is_input, depth + 1, say);
        }
    }
}

fn stated(types: &[String]) -> String {
    if types.is_empty() {
        "any".to_owned()
    } else {
        types.join(" or ")
    }
}

fn push_changes(changes: &[ToolChange], kind: ChangeKind, hits: &mut Hits<'_>) {
    for change in changes.iter().filter(|change| change.kind == kind) {
        hits.report_for(&change.tool, change.message.clone())
            .in_definition(change.path.clone());
    }
}

fn breaking(changes: &[ToolChange], hits: &mut Hits<'_>) {
    push_changes(changes, ChangeKind::Breaking, hits);
}

fn compatible(changes: &[ToolChange], hits: &mut Hits<'_>) {
    push_changes(changes, ChangeKind::Compatible, hits);
}

fn wording(changes: &[ToolChange], hits: &mut Hits<'_>) {
    push_changes(changes, ChangeKind::Wording, hits);
}

fn description(changes: &[ToolChange], hits: &mut Hits<'_>) {
    push_changes(changes, ChangeKind::Description, hits);
}

fn annotations(changes: &[ToolChange], hits: &mut Hits<'_>) {
    push_changes(changes, ChangeKind::Annotations, hits);
}

fn cost(changes: &[ToolChange], hits: &mut Hits<'_>) {
    for change in changes {
        if let ChangeKind::Cost(before, now) = change.kind
            && now * 100 > before * (100 + hits.limit)
        {
            hits.report(change.message.clone());
        }
    }
}
