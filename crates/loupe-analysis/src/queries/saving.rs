//! Where the saving comes from: the difference between two formats of one result, in steps that add up to it.
//!
//! Each step is measured: the text is counted, one thing is taken away, and it is counted again. What no step explains
//! is the form itself (how often a key is said, brackets, table lines).

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;

use crate::queries::columns::compact_without;
use crate::queries::query::{Ctx, Query, Stop, Weigh};
use loupe_core::capture::locate_facts;
use loupe_core::format::format_bytes;
use loupe_core::format::{self, ParsedCapture};
use loupe_core::json::Doc;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::token::{self, Encoding};

/// What makes one text cheaper than another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Fences, and the message around the result.
    Wrapping,
    /// The text next to `structuredContent`, where both are sent.
    OtherPart,
    /// Indentation, blank lines, and space between tokens.
    WhiteSpace,
    /// Quotes and backslashes that only protect other characters.
    Escaping,
    /// Facts of the data that one of the texts does not say.
    LeftOutFacts,
    /// Keys said once or in every record, brackets, table lines, and words of the server's own.
    Form,
}

impl Reason {
    pub const ALL: &'static [Reason] = &[
        Reason::Wrapping,
        Reason::OtherPart,
        Reason::WhiteSpace,
        Reason::Escaping,
        Reason::LeftOutFacts,
        Reason::Form,
    ];

    /// What people see.
    pub fn title(self) -> &'static str {
        match self {
            Reason::Wrapping => "wrapping",
            Reason::OtherPart => "text beside the data",
            Reason::WhiteSpace => "white space",
            Reason::Escaping => "escaping",
            Reason::LeftOutFacts => "facts left out",
            Reason::Form => "keys, brackets, lines",
        }
    }
}

/// One step from a format to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SavingStep {
    pub reason: Reason,
    /// Tokens it adds; negative where it saves.
    pub tokens: i64,
}

impl SavingStep {
    /// What people see.
    pub fn title(self) -> &'static str {
        match self.reason {
            Reason::LeftOutFacts if self.tokens > 0 => "facts added",
            reason => reason.title(),
        }
    }

    /// Whether it saves by leaving something out.
    pub fn is_loss(self) -> bool {
        self.reason == Reason::LeftOutFacts && self.tokens < 0
    }
}

/// The way from one format to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saving {
    pub encoding: Encoding,
    /// Tokens of the two texts, as in the ledger.
    pub from: u64,
    pub to: u64,
    /// Those that change anything; their sum is `to` minus `from`.
    pub steps: Vec<SavingStep>,
}

impl Saving {
    /// Measures the way between two formats, by id. `None` where the result has no data to compare by.
    ///
    /// # Errors
    /// [`Stop`] when cancelled, or where one of the formats does not apply.
    pub fn new(
        subject: &ParsedCapture,
        from: &str,
        to: &str,
        encoding: Encoding,
    ) -> Result<Option<Self>, Stop> {
        let (Some(from), Some(to)) = (
            Parts::of(subject, from, encoding)?,
            Parts::of(subject, to, encoding)?,
        ) else {
            return Ok(None);
        };
        let steps = Reason::ALL.iter().map(|&reason| SavingStep {
            reason,
            tokens: to.of_reason(reason) - from.of_reason(reason),
        });
        Ok(Some(Self {
            encoding,
            from: from.tokens,
            to: to.tokens,
            steps: steps.filter(|step| step.tokens != 0).collect(),
        }))
    }
}

/// What a text's tokens are spent on, next to those that its data needs in any form.
struct Parts {
    tokens: u64,
    by_reason: [i64; 6],
}

impl Parts {
    fn of(subject: &ParsedCapture, id: &str, encoding: Encoding) -> Result<Option<Self>, Stop> {
        let Some(data) = &subject.data else {
            return Ok(None);
        };
        let format = format::by_id(id).ok_or_else(|| {
            Problem::new(ProblemKind::Internal, format!("there is no format `{id}`"))
        })?;
        let bytes = format_bytes(format, subject)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let count =
            |text: &str| i64::try_from(token::count(text).get(encoding)).unwrap_or(i64::MAX);
        let root = data.root();
        let matched = locate_facts(data, &text);
        let missing: HashSet<usize> = matched
            .facts
            .iter()
            .filter(|fact| fact.state().is_missing())
            .map(|fact| fact.node())
            .collect();
        let json = compact_without(root, |_| false);
        let carried = compact_without(root, |node| missing.contains(&node.index()));
        let left_out = count(&carried) - count(&json);
        let unwrapped = unwrap(subject, id, &text);
        let dense = without_space(&unwrapped);
        let plain = without_escapes(id, &dense);
        // Of a message with both parts, what is around them is one thing, and the text next to the data another.
        let has_both = id == "wire" && subject.response.structured().is_some();
        let both = format::by_id("both").filter(|both| has_both && both.applies(subject).is_ok());
        let sent = both.map(|both| format_bytes(both, subject)).transpose()?;
        let sent = sent.as_deref().map(String::from_utf8_lossy);
        let (whole, inner, packed, bare) = (
            count(&text),
            count(&unwrapped),
            count(&dense),
            count(&plain),
        );
        let parts = match (id, &sent) {
            ("both", _) => whole,
            (_, Some(sent)) => count(sent),
            _ => inner,
        };
        // What the data needs, said as plainly as JSON can: the same for every format, so it falls out of a difference.
        let needs = count(&without_escapes("json", &json));
        Ok(Some(Self {
            tokens: u64::try_from(whole).unwrap_or(0),
            by_reason: [
                whole - parts,
                parts - inner,
                inner - packed,
                packed - bare,
                left_out,
                bare - needs - left_out,
            ],
        }))
    }

    fn of_reason(&self, reason: Reason) -> i64 {
        self.by_reason[reason as usize]
    }
}

/// The text without what stands around the data: of two copies the structured one.
fn unwrap(subject: &ParsedCapture, id: &str, text: &str) -> String {
    match id {
        "both" | "wire" => match (
            subject.response.structured(),
            subject.response.content_text(),
        ) {
            (Some(node), _) => node.raw_text().into_owned(),
            (None, Some(content)) => content.to_string(),
            (None, None) => text.to_owned(),
        },
        _ => {
            let lines: Vec<&str> = text.lines().collect();
            match lines.as_slice() {
                [first, inner @ .., last]
                    if first.starts_with("```") && last.starts_with("```") =>
                {
                    inner.join("\n")
                }
                _ => text.to_owned(),
            }
        }
    }
}

/// JSON compact; any other text with single spaces, no indentation and no blank lines.
fn without_space(text: &str) -> String {
    let doc = Doc::parse(Bytes::copy_from_slice(text.as_bytes()));
    if doc.is_json() {
        return json_without_space(text);
    }
    let mut dense = String::with_capacity(text.len());
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if !dense.is_empty() {
            dense.push('\n');
        }
        for (position, word) in line.split_whitespace().enumerate() {
            if position > 0 {
                dense.push(' ');
            }
            dense.push_str(word);
        }
    }
    dense
}

/// JSON as it is spelled, without the white space between its tokens.
fn json_without_space(text: &str) -> String {
    let (mut is_string, mut is_escaped) = (false, false);
    let mut keep = |char: char| {
        let is_kept = is_string || !char.is_ascii_whitespace();
        if !is_escaped && char == '"' {
            is_string = !is_string;
        }
        is_escaped = is_string && !is_escaped && char == '\\';
        is_kept
    };
    text.chars().filter(|char| keep(*char)).collect()
}

/// The text without the characters that only protect others.
fn without_escapes(id: &str, text: &str) -> String {
    if Doc::parse(Bytes::copy_from_slice(text.as_bytes())).is_json() {
        return json_unescaped(text);
    }
    match id {
        "csv" => text.replace("\"\"", "\""),
        "xml" => text
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"")
            .replace("&apos;", "'")
            .replace("&amp;", "&"),
        _ => {
            let mut plain = String::with_capacity(text.len());
            let mut chars = text.chars();
            while let Some(char) = chars.next() {
                match (char, chars.clone().next()) {
                    ('\\', Some('n')) if id != "content" => {
                        plain.push('\n');
                        chars.next();
                    }
                    ('\\', Some(next)) if next.is_ascii_punctuation() => {
                        plain.push(next);
                        chars.next();
                    }
                    _ => plain.push(char),
                }
            }
            plain
        }
    }
}

/// JSON with each of its escapes as what that stands for.
fn json_unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        // A character beyond U+FFFF is two escapes.
        let lengths = [12, 6, 2]
            .into_iter()
            .filter_map(|length| rest.get(at..at + length));
        let mut read = lengths.filter_map(|escape| {
            Some((
                escape.len(),
                serde_json::from_str::<String>(&format!("\"{escape}\"")).ok()?,
            ))
        });
        let (length, char) = read
            .find(|(_, text)| text.chars().count() == 1)
            .unwrap_or((1, "\\".to_owned()));
        plain.push_str(&char);
        rest = &rest[at + length..];
    }
    plain + rest
}

/// Where the difference between two formats, by their ids, comes from; `None` where the result has no data.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SavingQuery {
    pub from: &'static str,
    pub to: &'static str,
    pub encoding: Encoding,
}

impl Query for SavingQuery {
    type Out = Option<Arc<Saving>>;
    const IS_COUNT: bool = true;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        Ok(Saving::new(cx.subject()?, self.from, self.to, self.encoding)?.map(Arc::new))
    }
}

impl Weigh for Saving {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use loupe_core::format::FORMATS;
    use loupe_core::json::write::string;
    use serde_json::Value;

    fn object(member: impl Strategy<Value = Value> + 'static) -> impl Strategy<Value = Value> {
        prop::collection::hash_map(".{0,8}", member, 0..5)
            .prop_map(|members| Value::Object(members.into_iter().collect()))
    }

    fn value() -> impl Strategy<Value = Value> {
        let scalar = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".{0,24}".prop_map(Value::from),
            "[a-z ]{1,40}".prop_map(Value::from),
        ];
        scalar.prop_recursive(3, 24, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                object(inner),
            ]
        })
    }

    fn table() -> impl Strategy<Value = Value> {
        prop::collection::vec(object(value()), 1..5).prop_map(Value::from)
    }

    /// Answers whose text is the data, holds it in a fence or says something else; with the data next to it or without.
    fn answer() -> impl Strategy<Value = String> {
        let data = || prop_oneof![value(), table()].prop_map(|data| data.to_string());
        (data(), data(), 0..4_u8, any::<bool>()).prop_map(|(data, other, text, is_structured)| {
            let text = match text {
                0 => data.clone(),
                1 => format!("## Found\n\n```json\n{data}\n```\n"),
                _ => other,
            };
            let structured = if is_structured {
                format!(r#","structuredContent":{data}"#)
            } else {
                String::new()
            };
            format!(
                r#"{{"content":[{{"type":"text","text":{}}}]{structured}}}"#,
                string(&text)
            )
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn steps_add_up_in_any_answer(result in answer()) {
            let subject = ParsedCapture::from_result(&result);
            let encoding = Encoding::O200kBase;
            let way = |from: &str, to: &str| Saving::new(&subject, from, to, encoding).unwrap();
            for format in FORMATS {
                let (id, Ok(bytes)) = (format.id(), format_bytes(*format, &subject)) else { continue };
                let (Some(there), Some(back)) = (way(id, "json"), way("json", id)) else { continue };
                let sum: i64 = there.steps.iter().map(|step| step.tokens).sum();
                prop_assert_eq!(sum, there.to as i64 - there.from as i64, "{} {:?}", id, there);
                let tokens = token::count(&String::from_utf8_lossy(&bytes)).get(encoding);
                prop_assert_eq!((there.from, back.to), (tokens, tokens), "the tokens of {}", id);
                let turned: Vec<_> = back.steps.iter().map(|step| SavingStep { tokens: -step.tokens, ..*step }).collect();
                prop_assert_eq!(there.steps, turned, "{} and back", id);
            }
            if subject.data.is_some() {
                let pretty = way("json-pretty", "json").unwrap();
                prop_assert!(pretty.steps.iter().all(|step| step.reason == Reason::WhiteSpace), "{:?}", pretty);
            }
        }
    }

    const RESULT: &str = r###"{"content":[{"type":"text","text":"## Acme\n\n- **City**: Ulm\n\n## Beta\n"}],"structuredContent":{ "items": [{"name":"Acme","city":"Ulm","note":"say \"hi\"\nand \\ go"},{"name":"Beta","city":"Bonn","note":"x"}]}}"###;

    #[test]
    fn steps_add_up_between_any_two_formats() {
        let subject = ParsedCapture::from_result(RESULT);
        let mut seen = Vec::new();
        for from in FORMATS {
            for to in FORMATS {
                let found = Saving::new(&subject, from.id(), to.id(), Encoding::O200kBase);
                let (true, true) = (from.applies(&subject).is_ok(), to.applies(&subject).is_ok())
                else {
                    continue;
                };
                let saving = found.unwrap().unwrap();
                let sum: i64 = saving.steps.iter().map(|step| step.tokens).sum();
                assert_eq!(
                    sum,
                    saving.to as i64 - saving.from as i64,
                    "{} to {}",
                    from.id(),
                    to.id()
                );
                seen.extend(saving.steps.iter().map(|step| step.reason));
            }
        }
        for reason in Reason::ALL {
            assert!(seen.contains(reason), "{reason:?} never applied");
        }
    }

    #[test]
    fn each_part_is_named_for_what_it_is() {
        let steps = |subject: &ParsedCapture, from: &str, to: &str| {
            let steps = Saving::new(subject, from, to, Encoding::O200kBase)
                .unwrap()
                .unwrap()
                .steps;
            steps
                .iter()
                .map(|step| (step.title(), step.tokens.signum()))
                .collect::<Vec<_>>()
        };
        // JSON that escapes what it need not, without white space.
        let text = r#"{\"name\":\"Z\\u00fcrich \\ud83d\\ude00\",\"path\":\"a\\/b\"}"#;
        let escaped = ParsedCapture::from_result(&format!(
            r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#
        ));
        assert_eq!(steps(&escaped, "content", "json"), [("escaping", -1)]);
        // The text next to the data is no wrapping, and what a text leaves out comes back.
        let both = ParsedCapture::from_result(RESULT);
        assert!(steps(&both, "both", "structured").contains(&("text beside the data", -1)));
        assert!(
            !steps(&both, "both", "structured")
                .iter()
                .any(|(title, _)| *title == "wrapping")
        );
        assert!(steps(&both, "wire", "structured").contains(&("wrapping", -1)));
        assert!(steps(&both, "content", "json").contains(&("facts added", 1)));
        assert!(steps(&both, "json", "content").contains(&("facts left out", -1)));
    }

    #[test]
    fn pretty_json_is_all_white_space_and_a_text_leaves_facts_out() {
        let subject = ParsedCapture::from_result(RESULT);
        let steps = |from: &str, to: &str| {
            Saving::new(&subject, from, to, Encoding::O200kBase)
                .unwrap()
                .unwrap()
                .steps
        };
        let pretty = steps("json-pretty", "json");
        assert_eq!(pretty.len(), 1);
        assert_eq!(pretty[0].reason, Reason::WhiteSpace);
        assert!(pretty[0].tokens < 0);
        let text = steps("json", "content");
        assert!(
            text.iter()
                .any(|step| step.reason == Reason::LeftOutFacts && step.tokens < 0),
            "{text:?}"
        );
        let wire = steps("wire", "json");
        assert!(
            wire.iter()
                .any(|step| step.reason == Reason::Wrapping && step.tokens < 0),
            "{wire:?}"
        );
        assert!(steps("json", "json").is_empty());
        let bare = ParsedCapture::from_result(r#"{"content":[{"type":"text","text":"no data"}]}"#);
        assert_eq!(
            Saving::new(&bare, "content", "wire", Encoding::O200kBase),
            Ok(None)
        );
    }
}
