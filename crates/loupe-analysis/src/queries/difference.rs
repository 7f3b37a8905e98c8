//! What differs between two results, two formats, or a result and a file; and between the tools of two servers.
//!
//! A result is compared in parts: the outcome, the data by path, the text by line, the rest of the result, the
//! tool's definition. A part that one side cannot have (a data file has no text) is left out, and named.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use crate::queries::columns::compact_without;
use crate::queries::query::format_of;
use crate::queries::query::{Ctx, Definitions, Query, Stop, Weigh};
use loupe_core::capture::{Annotations, BlockKind, Outcome, Tool};
use loupe_core::diff::lines::{LineOptions, TextDiff, lines};
use loupe_core::diff::tree::{TreeDiff, TreeOptions, tree};
use loupe_core::format::format_bytes;
use loupe_core::format::ledger::Row;
use loupe_core::format::{self, ParsedCapture};
use loupe_core::host::ResultPart;
use loupe_core::json::{Doc, Node};
use loupe_core::problem::Problem;
use loupe_core::token::{self, Tokens};

/// Two JSON values and their differences.
#[derive(Clone, Debug)]
pub struct ValueDifference {
    pub a: Arc<Doc>,
    pub b: Arc<Doc>,
    /// Tape indices of the two values.
    pub roots: (usize, usize),
    pub found: TreeDiff,
}

/// One difference: what was done, and the two values.
#[derive(Clone, Copy, Debug)]
pub struct NodeChange<'a> {
    pub op: loupe_core::diff::tree::Op,
    pub a: Option<Node<'a>>,
    pub b: Option<Node<'a>>,
}

impl ValueDifference {
    fn new(a: (Arc<Doc>, usize), b: (Arc<Doc>, usize)) -> Option<Self> {
        let (Some(old), Some(new)) = (a.0.node(a.1), b.0.node(b.1)) else {
            return None;
        };
        let found = tree(old, new, &TreeOptions::default());
        Some(Self {
            roots: (a.1, b.1),
            found,
            a: a.0,
            b: b.0,
        })
    }

    /// The differences, in order.
    pub fn changes(&self) -> impl Iterator<Item = NodeChange<'_>> {
        self.found.changes.iter().map(|change| NodeChange {
            op: change.op,
            a: change.a.and_then(|node| self.a.node(node)),
            b: change.b.and_then(|node| self.b.node(node)),
        })
    }

    /// JSON Pointers in A and in B.
    pub fn paths(&self, change: &NodeChange<'_>) -> (Option<String>, Option<String>) {
        (
            change.a.map(|node| node.pointer_from(self.roots.0)),
            change.b.map(|node| node.pointer_from(self.roots.1)),
        )
    }
}

/// Two texts and their differences.
#[derive(Clone, Debug)]
pub struct TextDifference {
    pub a: Arc<str>,
    pub b: Arc<str>,
    pub found: TextDiff,
}

/// The differences of two results.
#[derive(Clone, Debug)]
pub struct Difference {
    pub outcomes: (Outcome, Outcome),
    /// `None` where it was not compared; `left_out` says why.
    pub data: Option<ValueDifference>,
    pub text: Option<TextDifference>,
    /// What each side costs as it was sent; `None` where it was not.
    pub tokens: (Option<Tokens>, Option<Tokens>),
    pub definition: Option<ValueDifference>,
    /// Blocks other than text that are not the same on both sides.
    pub other_blocks: usize,
    /// What is in the results next to data and texts, as `rest_of_result` has it; `None` where a side has no result.
    pub rest: Option<ValueDifference>,
    /// What was not compared, and why, for people.
    pub left_out: Vec<String>,
    /// Whether one side has data, text or `structuredContent` where the other, which could, has none.
    pub(crate) is_one_sided: bool,
    /// Whether a part was not compared that only one side can have, or that cannot be read.
    pub is_partial: bool,
}

impl Difference {
    /// Compares two results: their payloads, their texts (`content`), their tools' definitions. After the deadline no
    /// shorter way is looked for between the texts.
    pub fn new(a: &ParsedCapture, b: &ParsedCapture, deadline: Option<Instant>) -> Self {
        let mut difference = Self {
            outcomes: (a.capture.outcome, b.capture.outcome),
            data: None,
            text: None,
            tokens: (as_sent(a), as_sent(b)),
            definition: None,
            other_blocks: 0,
            rest: None,
            left_out: Vec::new(),
            is_one_sided: false,
            is_partial: false,
        };
        for (name, side) in [("A", a), ("B", b)] {
            if side.capture.outcome == Outcome::Malformed {
                let fault = side
                    .response
                    .faults
                    .first()
                    .map_or("nothing came", String::as_str);
                difference
                    .left_out
                    .push(format!("{name} cannot be read as an answer: {fault}"));
                difference.is_partial |= a.capture.response != b.capture.response;
            }
        }
        difference.compare_data(a, b);
        difference.compare_texts(a, b, deadline);
        let (old, new) = (&a.capture.tool, &b.capture.tool);
        if old.name != new.name && !old.name.is_empty() && !new.name.is_empty() {
            difference.left_out.push(format!(
                "these are answers of different tools: {} and {}",
                old.name, new.name
            ));
        }
        if old.raw.is_empty() != new.raw.is_empty() {
            let side = if old.raw.is_empty() { "A" } else { "B" };
            difference
                .left_out
                .push(format!("definition: {side} does not have one"));
            difference.is_partial = true;
        } else if !old.raw.is_empty() {
            difference.definition = definitions(old, new);
        }
        difference.other_blocks = other_blocks(a, b);
        difference.compare_rest(a, b);
        difference
    }

    /// Whether everything was compared, and nothing differs.
    pub fn is_equal(&self) -> bool {
        !self.is_partial && !self.is_different()
    }

    /// Whether something that was compared differs.
    pub fn is_different(&self) -> bool {
        self.has_other_differences()
            || self
                .text
                .as_ref()
                .is_some_and(|text| !text.found.is_empty())
    }

    /// Whether something differs besides the texts.
    pub(super) fn has_other_differences(&self) -> bool {
        let differs = |value: &Option<ValueDifference>| {
            value.as_ref().is_some_and(|value| !value.found.is_empty())
        };
        self.outcomes.0 != self.outcomes.1
            || self.is_one_sided
            || self.other_blocks > 0
            || differs(&self.data)
            || differs(&self.rest)
            || differs(&self.definition)
    }

    fn compare_rest(&mut self, a: &ParsedCapture, b: &ParsedCapture) {
        match (a.capture.has_result(), b.capture.has_result()) {
            (true, true) => {}
            (false, false) => return,
            // Data or a text against a result: nothing is next to it that could be compared.
            _ => {
                self.is_partial = true;
                return;
            }
        }
        match (
            a.response.structured().is_some(),
            b.response.structured().is_some(),
        ) {
            (true, false) => self
                .left_out
                .push("data: structuredContent only in A".to_owned()),
            (false, true) => self
                .left_out
                .push("data: structuredContent only in B".to_owned()),
            _ => {}
        }
        let with_structured = !is_structured_compared(a, b);
        let side = |subject: &ParsedCapture| (rest_of_result(subject, with_structured), 0);
        self.rest = ValueDifference::new(side(a), side(b));
    }

    fn compare_data(&mut self, a: &ParsedCapture, b: &ParsedCapture) {
        match (&a.data, &b.data) {
            (Some(old), Some(new)) => {
                let side =
                    |data: &loupe_core::capture::ResultData| (Arc::clone(&data.doc), data.root);
                self.data = ValueDifference::new(side(old), side(new));
                for (name, data) in [("A", old), ("B", new)] {
                    if let Some(fault) =
                        data.doc.faults().iter().find(|fault| fault.kind.is_fatal())
                    {
                        self.left_out.push(format!(
                            "data: {name} {} at byte {}; what stands before it was compared",
                            fault.kind.message(),
                            fault.at
                        ));
                        self.is_partial = true;
                    }
                }
            }
            (None, None) => self.left_out.push("data: neither side has one".to_owned()),
            (old, _) => {
                let (name, subject) = if old.is_none() { ("A", a) } else { ("B", b) };
                self.left_out.push(format!("data: {name} has none"));
                self.note_missing(subject);
            }
        }
    }

    /// Notes that a side lacks a part: a difference where it could have it, else a part that was not compared.
    fn note_missing(&mut self, subject: &ParsedCapture) {
        if subject.capture.has_result() {
            self.is_one_sided = true;
        } else {
            self.is_partial = true;
        }
    }

    fn compare_texts(&mut self, a: &ParsedCapture, b: &ParsedCapture, deadline: Option<Instant>) {
        match (text("content", a), text("content", b)) {
            (Ok(old), Ok(new)) => {
                self.text = Some(compare_texts(
                    old,
                    new,
                    &LineOptions {
                        deadline,
                        ..LineOptions::default()
                    },
                ));
            }
            (Err(_), Err(_)) => self.left_out.push("text: neither side has one".to_owned()),
            (old, _) => {
                let (name, subject) = if old.is_err() { ("A", a) } else { ("B", b) };
                self.left_out.push(format!("text: {name} has none"));
                self.note_missing(subject);
            }
        }
        // A text file against a result whose only part is data, or the like: nothing in common is no equality.
        self.is_one_sided |=
            self.data.is_none() && self.text.is_none() && (a.data.is_some() || b.data.is_some());
    }
}

/// Compares two texts by line.
pub(super) fn compare_texts(a: Arc<str>, b: Arc<str>, options: &LineOptions) -> TextDifference {
    let found = lines(&a, &b, options);
    TextDifference { a, b, found }
}

/// What a result costs as it was sent.
fn as_sent(subject: &ParsedCapture) -> Option<Tokens> {
    ResultPart::Both
        .formats()
        .iter()
        .find_map(|id| Row::tokens_of(format::by_id(id)?, subject))
}

fn text(id: &'static str, subject: &ParsedCapture) -> Result<Arc<str>, Problem> {
    let bytes = format_bytes(format_of(id)?, subject)?;
    Ok(Arc::from(String::from_utf8_lossy(&bytes).as_ref()))
}

/// Whether the comparison of the data is that of `structuredContent`, so that nothing of it is left to compare.
pub(crate) fn is_structured_compared(a: &ParsedCapture, b: &ParsedCapture) -> bool {
    let is_structured = |subject: &ParsedCapture| {
        subject
            .data
            .as_ref()
            .is_some_and(|data| data.is_structured())
    };
    is_structured(a) && is_structured(b)
}

/// The result without what is compared by itself: the texts of text blocks, a boolean `isError`, and `structuredContent`
/// unless it is asked for. What is left is which blocks there are, in which order, their annotations, `_meta`, and whatever
/// else a server puts there. Of a JSON-RPC error, `{"error": …}`.
pub(crate) fn rest_of_result(subject: &ParsedCapture, with_structured: bool) -> Arc<Doc> {
    let reading = &subject.response;
    let flag = reading
        .result()
        .and_then(|result| result.get("isError"))
        .filter(|flag| flag.as_bool().is_some());
    let compared: HashSet<usize> = reading
        .text_blocks()
        .filter_map(|block| Some(reading.doc.node(block.node)?.get("text")?.index()))
        .chain(
            reading
                .structured()
                .filter(|_| !with_structured)
                .map(|node| node.index()),
        )
        .chain(flag.map(|node| node.index()))
        .collect();
    let is_compared = |node: Node<'_>| compared.contains(&node.index());
    let error = reading
        .doc
        .root()
        .and_then(|root| root.get("error"))
        .filter(|error| !error.is_null());
    let text = match (reading.result().filter(|result| !result.is_null()), error) {
        (Some(result), _) => compact_without(result, is_compared),
        (None, Some(error)) => format!(r#"{{"error":{}}}"#, compact_without(error, is_compared)),
        (None, None) => "{}".to_owned(),
    };
    Arc::new(Doc::parse(text.into()))
}

/// Blocks other than text, by their exact bytes in order.
fn other_blocks(a: &ParsedCapture, b: &ParsedCapture) -> usize {
    let blocks = |subject: &ParsedCapture| -> Vec<Vec<u8>> {
        let others = subject
            .response
            .blocks
            .iter()
            .filter(|block| block.kind != BlockKind::Text);
        others
            .filter_map(|block| subject.response.doc.node(block.node))
            .map(|node| node.raw().to_vec())
            .collect()
    };
    let (old, new) = (blocks(a), blocks(b));
    let changed = old.iter().zip(&new).filter(|(old, new)| old != new).count();
    changed + old.len().abs_diff(new.len())
}

fn definitions(a: &Tool, b: &Tool) -> Option<ValueDifference> {
    let doc = |tool: &Tool| (Arc::new(Doc::parse(tool.raw.clone())), 0);
    ValueDifference::new(doc(a), doc(b))
}

/// One tool that both servers list, with another definition.
#[derive(Clone, Debug)]
pub struct ChangedTool {
    pub name: String,
    /// Of the definition as sent.
    pub tokens: (Tokens, Tokens),
    pub definition: ValueDifference,
    /// Names of the hints whose value, or whose being declared, changed: `readOnlyHint` and so on.
    pub hints: Vec<&'static str>,
    /// Whether anything in `inputSchema` or `outputSchema` changed.
    pub is_schema_changed: bool,
}

/// The differences of the tools of two servers, or of two versions of one.
#[derive(Clone, Debug, Default)]
pub struct ToolsDifference {
    /// Names and tokens.
    pub added: Vec<(String, Tokens)>,
    pub removed: Vec<(String, Tokens)>,
    pub changed: Vec<ChangedTool>,
    pub unchanged: usize,
    /// Of all definitions.
    pub total: (Tokens, Tokens),
}

impl ToolsDifference {
    /// Compares by name; of two tools of one name the first with the first.
    pub fn new(a: &[Tool], b: &[Tool]) -> Self {
        let mut difference = Self::default();
        let mut is_taken = vec![false; b.len()];
        for old in a {
            let tokens = count(old);
            add(&mut difference.total.0, tokens);
            let Some(at) = (0..b.len()).find(|at| !is_taken[*at] && b[*at].name == old.name) else {
                difference.removed.push((old.name.clone(), tokens));
                continue;
            };
            is_taken[at] = true;
            let new = &b[at];
            match definitions(old, new) {
                Some(definition) if !definition.found.is_empty() => {
                    let is_schema_changed = definition.changes().any(|change| {
                        let (from, to) = definition.paths(&change);
                        [from, to].into_iter().flatten().any(|path| {
                            path.starts_with("/inputSchema") || path.starts_with("/outputSchema")
                        })
                    });
                    difference.changed.push(ChangedTool {
                        name: old.name.clone(),
                        tokens: (tokens, count(new)),
                        hints: hints(&old.annotations, &new.annotations),
                        is_schema_changed,
                        definition,
                    });
                }
                _ => difference.unchanged += 1,
            }
        }
        for (at, new) in b.iter().enumerate() {
            let tokens = count(new);
            add(&mut difference.total.1, tokens);
            if !is_taken[at] {
                difference.added.push((new.name.clone(), tokens));
            }
        }
        difference
    }

    pub fn is_equal(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

fn count(tool: &Tool) -> Tokens {
    token::count(&String::from_utf8_lossy(&tool.raw))
}

fn add(sum: &mut Tokens, tokens: Tokens) {
    sum.o200k_base += tokens.o200k_base;
    sum.cl100k_base += tokens.cl100k_base;
}

fn hints(a: &Annotations, b: &Annotations) -> Vec<&'static str> {
    let pairs = [
        ("readOnlyHint", a.read_only, b.read_only),
        ("destructiveHint", a.destructive, b.destructive),
        ("idempotentHint", a.idempotent, b.idempotent),
        ("openWorldHint", a.open_world, b.open_world),
    ];
    pairs
        .into_iter()
        .filter(|(_, old, new)| old != new)
        .map(|(name, ..)| name)
        .collect()
}

/// What differs between two listings of definitions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ToolsQuery;

impl Query for ToolsQuery {
    type Out = Arc<ToolsDifference>;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        let before = cx.listing()?;
        let now = cx.definitions.get(1).unwrap_or(before);
        let tools = |listing: &Definitions| {
            listing
                .tools
                .iter()
                .map(|tool| Tool::clone(tool))
                .collect::<Vec<_>>()
        };
        Ok(Arc::new(ToolsDifference::new(&tools(before), &tools(now))))
    }
}

impl Weigh for ToolsDifference {}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::queries::comparison::tests::{call, text_result};

    fn compare(a: &str, b: &str) -> Difference {
        let outcome = |result: &str| {
            if result.contains(r#""isError":true"#) {
                Outcome::ToolError
            } else {
                Outcome::Result
            }
        };
        let subject = |result: &str| call("1", result, outcome(result)).subject;
        Difference::new(&subject(a), &subject(b), None)
    }

    #[test]
    fn an_answer_equals_itself() {
        let answer = r#"{"content":[{"type":"text","text":"a"},{"type":"image","data":"QQ==","mimeType":"image/png"}],"structuredContent":{"a":[1]}}"#;
        let found = compare(answer, answer);
        assert!(
            found.is_equal() && found.left_out.is_empty(),
            "{:?}",
            found.left_out
        );
    }

    #[test]
    fn every_part_counts() {
        let answer = |text: &str, data: &str, image: &str| {
            format!(
                r#"{{"content":[{{"type":"text","text":"{text}"}},{{"type":"image","data":"{image}","mimeType":"image/png"}}],"structuredContent":{data}}}"#
            )
        };
        let a = answer("x", r#"{"n":1,"s":"long words in here"}"#, "QQ==");
        assert!(
            compare(
                &a,
                &answer("x", r#"{ "s":"long words in here","n":1.0 }"#, "QQ==")
            )
            .is_equal()
        );
        assert!(
            !compare(
                &a,
                &answer("y", r#"{"n":1,"s":"long words in here"}"#, "QQ==")
            )
            .is_equal()
        );
        assert!(
            !compare(
                &a,
                &answer("x", r#"{"n":1,"s":"long words in here"}"#, "Qg==")
            )
            .is_equal()
        );
        let found = compare(&a, &answer("x", r#"{"n":2}"#, "QQ=="));
        let payload = found.data.as_ref().unwrap();
        let change: Vec<_> = payload
            .changes()
            .map(|change| (change.op.name(), payload.paths(&change)))
            .collect();
        assert_eq!(
            (change[0].0, change[0].1.1.as_deref()),
            ("change", Some("/n"))
        );
        assert_eq!(
            (change[1].0, change[1].1.0.as_deref()),
            ("remove", Some("/s"))
        );
        assert!(found.tokens.0.unwrap().o200k_base > found.tokens.1.unwrap().o200k_base);
    }

    #[test]
    fn what_one_side_lacks_is_said() {
        let found = compare(
            &text_result("plain words"),
            r#"{"content":[],"structuredContent":{"a":1}}"#,
        );
        assert!(!found.is_equal());
        assert_eq!(
            found.left_out,
            [
                "data: A has none",
                "text: B has none",
                "data: structuredContent only in B"
            ]
        );
    }

    /// Every part of a result counts, whichever side has it.
    #[test]
    fn a_result_that_lost_a_part_differs() {
        let with = |more: &str| format!(r#"{{"content":[{{"type":"text","text":"Acme"}}]{more}}}"#);
        let json = |more: &str| {
            format!(r#"{{"content":[{{"type":"text","text":"{{\"id\":1}}"}}]{more}}}"#)
        };
        let pairs = [
            (
                with(r#","structuredContent":{"id":1,"phone":"555"}"#),
                with(""),
            ),
            (with(r#","structuredContent":{}"#), with("")),
            (with(r#","structuredContent":null"#), with("")),
            (
                with(r#","structuredContent":{}"#),
                with(r#","structuredContent":null"#),
            ),
            (with(r#","structuredContent":{"result":"Acme"}"#), with("")),
            (
                with(r#","structuredContent":{"result":"Acme"}"#),
                with(r#","structuredContent":{"answer":"Acme"}"#),
            ),
            (json(r#","structuredContent":{"id":1}"#), json("")),
            (with(r#","isError":true"#), with("")),
            (with(r#","isError":"yes""#), with("")),
            (with(r#","_meta":{"a":1}"#), with("")),
        ];
        for (a, b) in pairs {
            for (a, b) in [(&a, &b), (&b, &a)] {
                let found = compare(a, b);
                assert!(found.is_different() && !found.is_equal(), "{a} {b}");
                let lost = (
                    a.contains("structuredContent"),
                    b.contains("structuredContent"),
                );
                let said = found
                    .left_out
                    .iter()
                    .any(|note| note.starts_with("data: structuredContent only in "));
                assert_eq!(said, lost.0 != lost.1, "{a} {b}");
            }
        }
        assert!(
            compare(&with(r#","isError":false"#), &with("")).is_equal(),
            "absent means false"
        );
    }

    #[test]
    fn json_rpc_errors_are_compared() {
        let error = |error: &str| {
            let capture = call("1", "{}", Outcome::ProtocolError)
                .subject
                .capture
                .as_ref()
                .clone();
            let response = Some(Bytes::from(format!(
                r#"{{"jsonrpc":"2.0","id":1,"error":{error}}}"#
            )));
            ParsedCapture::new(Arc::new(loupe_core::capture::Capture {
                response,
                ..capture
            }))
        };
        let compare = |a: &str, b: &str| Difference::new(&error(a), &error(b), None).is_equal();
        let old = r#"{"code":-32602,"message":"no such tool"}"#;
        assert!(compare(old, old));
        assert!(!compare(old, r#"{"code":-32603,"message":"no such tool"}"#));
        assert!(!compare(
            old,
            r#"{"code":-32602,"message":"no such tool","data":{"name":"a"}}"#
        ));
        assert!(!compare(old, "\"no such tool\""));
    }

    #[test]
    fn answers_of_different_tools_are_said_to_be() {
        let subject = |definition: &'static str| {
            let capture = call("1", &text_result("a"), Outcome::Result)
                .subject
                .capture
                .as_ref()
                .clone();
            ParsedCapture::new(Arc::new(loupe_core::capture::Capture {
                tool: Tool::read(Bytes::from_static(definition.as_bytes())),
                ..capture
            }))
        };
        let (a, b) = (
            subject(r#"{"name":"a","inputSchema":{}}"#),
            subject(r#"{"name":"b","inputSchema":{}}"#),
        );
        let found = Difference::new(&a, &b, None);
        assert_eq!(
            found.left_out,
            [
                "data: neither side has one",
                "these are answers of different tools: a and b"
            ]
        );
        assert_eq!(
            (
                found.is_equal(),
                found.definition.unwrap().found.counts.changed
            ),
            (false, 1)
        );
    }

    #[test]
    fn blocks_annotations_and_meta_are_part_of_an_answer() {
        let block = |text: &str, more: &str| format!(r#"{{"type":"text","text":"{text}"{more}}}"#);
        let answer = |blocks: &[String]| {
            call(
                "1",
                &format!(r#"{{"content":[{}]}}"#, blocks.join(",")),
                Outcome::Result,
            )
            .subject
        };
        let paths = |a: &[String], b: &[String]| -> Vec<String> {
            let found = Difference::new(&answer(a), &answer(b), None);
            let rest = found.rest.as_ref().unwrap();
            let paths: Vec<_> = rest
                .changes()
                .map(|change| rest.paths(&change).1.unwrap_or_default())
                .collect();
            assert_eq!(found.is_equal(), paths.is_empty());
            paths
        };
        let one = [block(r"a\nb", "")];
        assert_eq!(paths(&one, &one), [""; 0]);
        assert_eq!(
            paths(&one, &[block("a", ""), block("b", "")]),
            ["/content/1"],
            "one block is not two"
        );
        assert_eq!(
            paths(
                &one,
                &[block(r"a\nb", r#","annotations":{"audience":["user"]}"#)]
            ),
            ["/content/0/annotations"]
        );
        assert_eq!(
            paths(&one, &[block(r"a\nb", r#","_meta":{"x":1}"#)]),
            ["/content/0/_meta"]
        );
        let image = r#"{"type":"image","data":"aGk=","mimeType":"image/png"}"#.to_owned();
        assert!(
            !paths(&[block("a", ""), image.clone()], &[image, block("a", "")]).is_empty(),
            "another order"
        );
    }

    #[test]
    fn tools_are_compared_by_name() {
        let tool = |text: &str| Tool::read(Bytes::copy_from_slice(text.as_bytes()));
        let a = [
            tool(r#"{"name":"same","inputSchema":{}}"#),
            tool(r#"{"name":"gone","inputSchema":{}}"#),
            tool(r#"{"name":"t","description":"short","inputSchema":{"required":["a"]}}"#),
        ];
        let b = [
            tool(r#"{"inputSchema":{},"name":"same"}"#),
            tool(
                r#"{"name":"t","description":"short","inputSchema":{"required":["a","b"]},"annotations":{"readOnlyHint":true}}"#,
            ),
            tool(r#"{"name":"new","inputSchema":{}}"#),
        ];
        let found = ToolsDifference::new(&a, &b);
        let names = |list: &[(String, Tokens)]| {
            list.iter()
                .map(|(name, _)| name.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            (names(&found.added), names(&found.removed), found.unchanged),
            (vec!["new".to_owned()], vec!["gone".to_owned()], 1)
        );
        let changed = &found.changed[0];
        assert_eq!(
            (
                changed.name.as_str(),
                changed.hints.as_slice(),
                changed.is_schema_changed
            ),
            ("t", &["readOnlyHint"][..], true)
        );
        assert!(changed.tokens.1.o200k_base > changed.tokens.0.o200k_base);
        assert!(ToolsDifference::new(&a, &a).is_equal());
    }
}
