//! `loupe.diff/1`: what differs between two results, or between the tools of two servers, as `diff --json` prints it.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::contract::{TokensJson, VERSION, print, raw};
use crate::queries::difference::{Difference, TextDifference, ToolsDifference, ValueDifference};
use loupe_core::diff::lines::Side;
use loupe_core::diff::tree::Op;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DiffDocument<'a> {
    loupe: &'static str,
    schema: &'static str,
    /// `None` where nothing that was compared differs, and not everything was compared.
    equal: Option<bool>,
    outcome: Option<PairJson<&'static str>>,
    data: Option<Vec<ChangeJson>>,
    /// Of the data, those that are not listed included.
    counts: Option<CountsJson>,
    text: Option<Vec<HunkJson<'a>>>,
    text_counts: Option<TextCountsJson>,
    other_blocks: Option<usize>,
    /// The results next to data and texts.
    rest: Option<Vec<ChangeJson>>,
    /// As sent; `None` on a side that was not.
    tokens: Option<PairJson<Option<TokensJson>>>,
    definition: Option<Vec<ChangeJson>>,
    tools: Option<ToolsJson<'a>>,
    /// What was not compared, and why.
    left_out: &'a [String],
}

#[derive(Serialize)]
struct PairJson<T> {
    a: T,
    b: T,
}

#[derive(Serialize)]
struct ChangeJson {
    op: &'static str,
    path: String,
    from: Option<String>,
    before: Option<Box<RawValue>>,
    after: Option<Box<RawValue>>,
}

#[derive(Serialize)]
struct CountsJson {
    added: u64,
    removed: u64,
    changed: u64,
    moved: u64,
    /// How many of them are not listed.
    more: u64,
}

#[derive(Serialize)]
struct TextCountsJson {
    added: u64,
    removed: u64,
    more: u64,
}

#[derive(Serialize)]
struct HunkJson<'a> {
    a: SpanJson,
    b: SpanJson,
    lines: Vec<LineJson<'a>>,
}

#[derive(Serialize)]
struct SpanJson {
    line: usize,
    lines: usize,
}

#[derive(Serialize)]
struct LineJson<'a> {
    op: &'static str,
    text: &'a str,
    words: Vec<[usize; 2]>,
}

#[derive(Serialize)]
struct ToolsJson<'a> {
    added: Vec<ToolJson<'a>>,
    removed: Vec<ToolJson<'a>>,
    changed: Vec<ChangedToolJson<'a>>,
    unchanged: usize,
    total: PairJson<TokensJson>,
}

#[derive(Serialize)]
struct ToolJson<'a> {
    name: &'a str,
    tokens: TokensJson,
}

#[derive(Serialize)]
struct ChangedToolJson<'a> {
    name: &'a str,
    tokens: PairJson<TokensJson>,
    /// Names of the hints that changed.
    hints: &'a [&'static str],
    /// Whether a schema changed.
    schema: bool,
    definition: Vec<ChangeJson>,
}

/// The document of two results.
pub fn diff(found: &Difference) -> String {
    let changed = found.data.as_ref().map(|data| CountsJson {
        added: data.found.counts.added,
        removed: data.found.counts.removed,
        changed: data.found.counts.changed,
        moved: data.found.counts.moved,
        more: data.found.more(),
    });
    let text = found.text.as_ref();
    print(&DiffDocument {
        loupe: VERSION,
        schema: "loupe.diff/1",
        equal: if found.is_different() {
            Some(false)
        } else {
            (!found.is_partial).then_some(true)
        },
        outcome: Some(PairJson {
            a: found.outcomes.0.name(),
            b: found.outcomes.1.name(),
        }),
        data: found.data.as_ref().map(changes),
        counts: changed,
        text: text.map(hunks),
        text_counts: text.map(|text| TextCountsJson {
            added: text.found.added,
            removed: text.found.removed,
            more: text.found.more,
        }),
        other_blocks: Some(found.other_blocks),
        rest: found.rest.as_ref().map(changes),
        tokens: Some(PairJson {
            a: found.tokens.0.map(TokensJson::from),
            b: found.tokens.1.map(TokensJson::from),
        }),
        definition: found.definition.as_ref().map(changes),
        tools: None,
        left_out: &found.left_out,
    })
}

/// The document of two lists of tools.
pub fn diff_tools(found: &ToolsDifference) -> String {
    let tools = ToolsJson {
        added: found
            .added
            .iter()
            .map(|(name, tokens)| ToolJson {
                name,
                tokens: (*tokens).into(),
            })
            .collect(),
        removed: found
            .removed
            .iter()
            .map(|(name, tokens)| ToolJson {
                name,
                tokens: (*tokens).into(),
            })
            .collect(),
        changed: found
            .changed
            .iter()
            .map(|tool| ChangedToolJson {
                name: &tool.name,
                tokens: PairJson {
                    a: tool.tokens.0.into(),
                    b: tool.tokens.1.into(),
                },
                hints: &tool.hints,
                schema: tool.is_schema_changed,
                definition: changes(&tool.definition),
            })
            .collect(),
        unchanged: found.unchanged,
        total: PairJson {
            a: found.total.0.into(),
            b: found.total.1.into(),
        },
    };
    print(&DiffDocument {
        loupe: VERSION,
        schema: "loupe.diff/1",
        equal: Some(found.is_equal()),
        outcome: None,
        data: None,
        counts: None,
        text: None,
        text_counts: None,
        other_blocks: None,
        rest: None,
        tokens: None,
        definition: None,
        tools: Some(tools),
        left_out: &[],
    })
}

/// `path` is the place in B, of what was removed that in A; `from` that in A, where it is another one.
fn changes(value: &ValueDifference) -> Vec<ChangeJson> {
    let changes = value.changes().map(|change| {
        let (from, to) = value.paths(&change);
        // What changed in a record that moved is told on its own.
        let is_moved = change.op == Op::Move;
        let bytes = |node: Option<loupe_core::json::Node<'_>>| {
            node.filter(|_| !is_moved)
                .and_then(|node| raw(node.raw()).map(ToOwned::to_owned))
        };
        ChangeJson {
            op: change.op.name(),
            from: from
                .clone()
                .filter(|from| to.as_ref().is_some_and(|to| to != from)),
            path: to.or(from).unwrap_or_default(),
            before: bytes(change.a),
            after: bytes(change.b),
        }
    });
    changes.collect()
}

fn hunks(text: &TextDifference) -> Vec<HunkJson<'_>> {
    let span = |lines: &std::ops::Range<usize>| SpanJson {
        line: lines.start,
        lines: lines.len(),
    };
    let hunks = text.found.hunks.iter().map(|hunk| HunkJson {
        a: span(&hunk.a),
        b: span(&hunk.b),
        lines: hunk
            .lines
            .iter()
            .map(|line| LineJson {
                op: line.side.name(),
                text: &(if line.side == Side::B {
                    &text.b
                } else {
                    &text.a
                })[line.range.clone()],
                words: line
                    .words
                    .iter()
                    .map(|word| [word.start, word.end])
                    .collect(),
            })
            .collect(),
    });
    hunks.collect()
}
