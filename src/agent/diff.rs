//! `diff`: what differs between two results, or between two lists of tools.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::check::tools_of;
use super::schema::{page, result};
use super::tool_call::{AgentCall, PageJson, to_json};
use super::{AgentOptions, AgentTool, Reach, schema};
use loupe_analysis::queries::difference::{
    Difference, TextDifference, ToolsDifference, ValueDifference,
};
use loupe_core::capture::Tool;
use loupe_core::diff::lines::Side;
use loupe_core::diff::tree::Op;
use loupe_core::format;
use loupe_core::json::walk::{WalkEvent, walk};
use loupe_core::json::{Kind, Node};
use loupe_core::number::{grouped, number_of};
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::token::Tokens;

pub(super) const TOOL: AgentTool = AgentTool {
    name: "diff",
    title: "What differs between two results",
    about: "Compares two saved results: the data by path, the text by line, everything else of the results, and the tools' \
            definitions. Or two lists of tools, as `mcp-loupe tools --json` writes them.",
    reach: Reach::Files,
    input,
    output: schema::output::<DiffJson>,
    run,
};

/// A longer value is told by what it is, a longer line is cut.
const VALUE_BYTES: usize = 300;
/// A number of no more characters is the same everywhere.
const DIGITS: usize = 15;
/// Lines of a text that are told at once.
const LINES: usize = 6;
/// After it no shorter way is looked for between two long texts.
const SEARCH: Duration = Duration::from_secs(5);

fn input(_: &AgentOptions) -> Value {
    let own = [("a", result()), ("b", result())];
    schema::object(own.into_iter().chain(page("differences")), &["a", "b"])
}

#[derive(JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
struct DiffJson {
    summary: String,
    /// Everything was compared, and nothing differs.
    equal: bool,
    /// What was sent of a, of o200k_base; of lists, all definitions.
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens_a: Option<u64>,
    /// The same of b.
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens_b: Option<u64>,
    /// What was not compared, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_compared: Vec<String>,
    /// Data first, then text, the rest of the result, the definition.
    #[schemars(with = "Vec<ChangeJson>")]
    changes: Vec<Box<RawValue>>,
    #[serde(flatten)]
    page: PageJson,
}

#[derive(Default, JsonSchema, Serialize)]
struct ChangeJson {
    /// data, text, result (blocks, annotations, _meta, structuredContent of one side alone), definition, or the name of a tool.
    part: String,
    /// add, remove, change or move.
    op: &'static str,
    /// Where it is in b, of what was removed in a.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// Where it is in a, if that is another place.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    /// The value in a.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    before: Option<Box<RawValue>>,
    /// The value in b.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    after: Option<Box<RawValue>>,
    /// Of a text: lines behind their sign, − of a and + of b, and their number.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lines: Vec<String>,
    /// A value that is too long, or that readers of JSON change.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

fn run(ask: &AgentCall<'_>) -> Result<String, Problem> {
    let side = |name: &str| tools_of(ask, &ask.text(name).unwrap_or_default());
    match (side("a")?, side("b")?) {
        (Some(a), Some(b)) => of_tools(ask, &a, &b),
        (None, None) => of_answers(ask),
        _ => Err(Problem::new(
            ProblemKind::Usage,
            "one of `a` and `b` is a list of tools, the other is not",
        )
        .hint("give two results, or what `mcp-loupe tools --json` wrote of two servers")),
    }
}

fn of_answers(ask: &AgentCall<'_>) -> Result<String, Problem> {
    let (a, b) = (ask.subject("a")?, ask.subject("b")?);
    let found = Difference::new(&a, &b, Some(ask.until.min(Instant::now() + SEARCH)));
    let mut changes = Vec::new();
    found
        .data
        .iter()
        .for_each(|value| push_changes(&mut changes, "data", value));
    found.text.iter().for_each(|text| lines(&mut changes, text));
    found
        .rest
        .iter()
        .for_each(|value| push_changes(&mut changes, "result", value));
    found
        .definition
        .iter()
        .for_each(|value| push_changes(&mut changes, "definition", value));
    finish(
        ask,
        &changes,
        summary(&found),
        found.is_equal(),
        found.tokens,
        found.left_out.clone(),
    )
}

fn summary(found: &Difference) -> String {
    if !found.is_different() {
        return "Nothing that was compared differs.".to_owned();
    }
    let mut parts = Vec::new();
    if found.outcomes.0 != found.outcomes.1 {
        parts.push(format!(
            "outcome {} in a, {} in b",
            found.outcomes.0.name(),
            found.outcomes.1.name()
        ));
    }
    let values = [
        ("data", &found.data),
        ("rest of the result", &found.rest),
        ("definition", &found.definition),
    ];
    for (part, value) in values {
        let count = value.as_ref().map_or(0, |value| value.found.counts.total());
        if count > 0 {
            parts.push(format!("{part}: {}", number_of(count, "differences")));
        }
    }
    if let Some(text) = found.text.as_ref().filter(|text| !text.found.is_empty()) {
        parts.push(format!(
            "text: {} added, {} removed",
            number_of(text.found.added, "lines"),
            grouped(text.found.removed)
        ));
    }
    if found.other_blocks > 0 {
        parts.push(format!(
            "different blocks other than text: {}",
            grouped(found.other_blocks as u64)
        ));
    }
    if parts.is_empty() {
        "One side has data or text that the other lacks.".to_owned()
    } else {
        format!("They differ. {}.", parts.join("; "))
    }
}

fn of_tools(ask: &AgentCall<'_>, a: &[Tool], b: &[Tool]) -> Result<String, Problem> {
    let found = ToolsDifference::new(a, b);
    let mut changes = Vec::new();
    for (op, list) in [(Op::Add, &found.added), (Op::Remove, &found.removed)] {
        let change = |(name, tokens): &(String, Tokens)| ChangeJson {
            part: name.clone(),
            op: op.name(),
            note: Some(format!(
                "a definition of {}",
                number_of(tokens.o200k_base, "tokens")
            )),
            ..ChangeJson::default()
        };
        changes.extend(list.iter().map(change));
    }
    found
        .changed
        .iter()
        .for_each(|tool| push_changes(&mut changes, &tool.name, &tool.definition));
    let tokens = (Some(found.total.0), Some(found.total.1));
    let summary = format!(
        "{} added, {} removed, {} changed, {} unchanged.",
        number_of(found.added.len() as u64, "tools"),
        found.removed.len(),
        found.changed.len(),
        found.unchanged
    );
    finish(ask, &changes, summary, found.is_equal(), tokens, Vec::new())
}

fn finish(
    ask: &AgentCall<'_>,
    changes: &[ChangeJson],
    summary: String,
    equal: bool,
    tokens: (Option<Tokens>, Option<Tokens>),
    not_compared: Vec<String>,
) -> Result<String, Problem> {
    let page = ask.page(changes.len(), |at| &changes[at])?;
    let count = |tokens: Option<Tokens>| tokens.map(|tokens| tokens.o200k_base);
    let (tokens_a, tokens_b) = (count(tokens.0), count(tokens.1));
    to_json(&DiffJson {
        summary,
        equal,
        tokens_a,
        tokens_b,
        not_compared,
        changes: page.entries,
        page: page.info,
    })
}

/// The differences of a value, each with what there was and what there is.
fn push_changes(changes: &mut Vec<ChangeJson>, part: &str, value: &ValueDifference) {
    for change in value.changes() {
        let (from, to) = value.paths(&change);
        // What changed in a record that moved is told by itself.
        let shown = |node: Option<Node<'_>>| node.filter(|_| change.op != Op::Move).map(short);
        let (before, after) = (shown(change.a), shown(change.b));
        let mut notes = Vec::new();
        for (name, side) in [("before", &before), ("after", &after)] {
            if let Some(Err(what)) = side {
                notes.push(format!("{name}: {what}"));
            }
        }
        changes.push(ChangeJson {
            part: part.to_owned(),
            op: change.op.name(),
            from: from
                .clone()
                .filter(|from| to.as_ref().is_some_and(|to| to != from)),
            path: to.or(from),
            before: before.and_then(Result::ok),
            after: after.and_then(Result::ok),
            lines: Vec::new(),
            note: (!notes.is_empty()).then(|| notes.join("; ")),
        });
    }
}

/// A value without white space. One that is too long is told by what it is, and one that readers of JSON change stands as a
/// text: digits that JavaScript rounds, keys that stand twice.
fn short(node: Node<'_>) -> Result<Box<RawValue>, String> {
    let json = format::compact(node);
    if json.len() > VALUE_BYTES {
        return Err(format!(
            "{} of {}",
            node.kind().name(),
            number_of(json.len() as u64, "bytes")
        ));
    }
    let mut has_long_number = false;
    walk(node, |event| {
        if let WalkEvent::Scalar(scalar) = event {
            has_long_number |= scalar.kind() == Kind::Number && scalar.raw().len() > DIGITS;
        }
    });
    let again =
        serde_json::from_str::<Value>(&json).and_then(|value| serde_json::to_string(&value));
    let is_kept = !has_long_number && again.is_ok_and(|again| again == json);
    RawValue::from_string(json.clone())
        .ok()
        .filter(|_| is_kept)
        .ok_or(json)
}

/// The lines of a text that one side alone has, a few of those that follow each other at once.
fn lines(changes: &mut Vec<ChangeJson>, text: &TextDifference) {
    for hunk in &text.found.hunks {
        for run in hunk
            .lines
            .split(|line| line.side == Side::Both)
            .flat_map(|run| run.chunks(LINES))
        {
            let lines = run.iter().map(|line| {
                let (sign, source, number) = if line.side == Side::A {
                    ('−', &text.a, line.a)
                } else {
                    ('+', &text.b, line.b)
                };
                let whole = &source[line.range.clone()];
                let cut = whole.floor_char_boundary(VALUE_BYTES);
                let more = if cut < whole.len() { "…" } else { "" };
                format!(
                    "{sign} {} {}{more}",
                    number.unwrap_or_default(),
                    &whole[..cut]
                )
            });
            changes.push(ChangeJson {
                part: "text".to_owned(),
                op: "change",
                lines: lines.collect(),
                ..ChangeJson::default()
            });
        }
    }
}
