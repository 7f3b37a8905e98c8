//! The data as the crates that write YAML and TOON take it, and what the crate that reads TOON gives back. What YAML and
//! TOON could not hold exactly is refused here, with the reason, rather than changed.

use std::io;

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::Number;
use serde_json::ser::Formatter;

use toon_format::types::JsonValue;

use super::WriteError;
use super::decode::Decoded;
use crate::json::decimal;
use crate::json::{FaultKind, Kind, Node};

/// Deeper values are refused: the crates recurse.
const MAX_DEPTH: usize = 128;

/// Data that such a crate can hold, written value by value: a tree of their own would take thirty times its bytes.
pub(super) struct Exact<'a>(Node<'a>);

impl<'a> Exact<'a> {
    /// Refuses what these crates would change without a word; `format` is the name in the reasons.
    pub(super) fn of(root: Node<'a>, format: &str) -> Result<Self, WriteError> {
        // What ends too early has its fault just past its end.
        let range = root.range().start..=root.range().end;
        if let Some(fault) = root
            .doc()
            .faults()
            .iter()
            .find(|fault| range.contains(&fault.at))
        {
            let what = match fault.kind {
                FaultKind::LoneSurrogate
                | FaultKind::InvalidUtf8
                | FaultKind::DuplicateKey
                | FaultKind::TooMany => fault.kind.message(),
                _ => "the data is cut short",
            };
            return Err(refuse(format, what, root, fault.at));
        }
        check(root, 0, format)?;
        Ok(Self(root))
    }
}

/// Recursion is bounded by [`MAX_DEPTH`].
fn check(node: Node<'_>, depth: usize, format: &str) -> Result<(), WriteError> {
    if depth > MAX_DEPTH {
        return Err(WriteError(format!(
            "more than {MAX_DEPTH} levels deep: {format} is not written"
        )));
    }
    if node.kind() == Kind::Number && number(node).is_none() {
        let shown: String = node
            .as_number()
            .unwrap_or_default()
            .chars()
            .take(40)
            .collect();
        return Err(WriteError(format!(
            "the number {shown} does not fit: {format} would change it"
        )));
    }
    node.children()
        .try_for_each(|child| check(child, depth + 1, format))
}

impl Exact<'_> {
    /// As TOON's crate holds it.
    pub(super) fn tree(&self) -> JsonValue {
        let node = self.0;
        match node.kind() {
            Kind::Null => JsonValue::Null,
            Kind::Bool => JsonValue::Bool(node.as_bool().unwrap_or_default()),
            Kind::Number => number(node).map_or(JsonValue::Null, |number| {
                JsonValue::from(serde_json::Value::Number(number))
            }),
            Kind::String => JsonValue::String(node.as_str().unwrap_or_default().into_owned()),
            Kind::Array => {
                JsonValue::Array(node.children().map(|child| Self(child).tree()).collect())
            }
            Kind::Object => {
                // From a list, so that the map has as much room as it needs and no more.
                let members: Vec<_> = node
                    .children()
                    .map(|child| {
                        (
                            child.key().unwrap_or_default().into_owned(),
                            Self(child).tree(),
                        )
                    })
                    .collect();
                JsonValue::Object(members.into_iter().collect())
            }
        }
    }
}

impl Serialize for Exact<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let node = self.0;
        match node.kind() {
            Kind::Null => serializer.serialize_unit(),
            Kind::Bool => serializer.serialize_bool(node.as_bool().unwrap_or_default()),
            Kind::Number => number(node).serialize(serializer),
            Kind::String => serializer.serialize_str(&node.as_str().unwrap_or_default()),
            Kind::Array => {
                let mut items = serializer.serialize_seq(Some(node.len()))?;
                node.children()
                    .try_for_each(|child| items.serialize_element(&Self(child)))?;
                items.end()
            }
            Kind::Object => {
                let mut members = serializer.serialize_map(Some(node.len()))?;
                for child in node.children() {
                    members.serialize_entry(&child.key().unwrap_or_default(), &Self(child))?;
                }
                members.end()
            }
        }
    }
}

/// What such a crate reads back, as JSON text again and never as a tree of ours.
pub(super) struct DecodedText(Vec<u8>);

impl DecodedText {
    /// Reads the text.
    pub(super) fn decoded(&self) -> Decoded {
        Decoded::json(&String::from_utf8_lossy(&self.0))
    }
}

impl<'de> Deserialize<'de> for DecodedText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut text = Vec::new();
        let mut serializer = serde_json::Serializer::with_formatter(&mut text, Spelling);
        serde_transcode::transcode(deserializer, &mut serializer).map_err(D::Error::custom)?;
        Ok(Self(text))
    }
}

/// Spells floats as these crates do, `1e21` and not `1e+21`, since that is what was in the text.
struct Spelling;

impl Formatter for Spelling {
    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        let text =
            Number::from_f64(value).map_or_else(|| "null".to_owned(), |number| number.to_string());
        writer.write_all(text.replace("e+", "e").as_bytes())
    }
}

fn refuse(format: &str, what: &str, root: Node<'_>, at: usize) -> WriteError {
    WriteError(format!(
        "{format} cannot hold it: {what} at byte {} of the data",
        at - root.range().start
    ))
}

/// A number as these crates hold it, where that is exact.
fn number(node: Node<'_>) -> Option<Number> {
    let literal = node.as_number().unwrap_or_default();
    let is_integer = !literal.contains(['.', 'e', 'E']);
    if is_integer && literal != "-0" {
        if let Ok(number) = literal.parse::<i64>() {
            return Some(number.into());
        }
        if let Ok(number) = literal.parse::<u64>() {
            return Some(number.into());
        }
    }
    let float = literal
        .parse::<f64>()
        .ok()
        .filter(|float| !is_integer || *float == 0.0)?;
    Number::from_f64(float).filter(|_| decimal::is_same(literal, &format!("{float:e}")))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::json::Doc;

    fn convert_text(text: &str) -> Result<serde_json::Value, WriteError> {
        let doc = Doc::parse(Bytes::copy_from_slice(text.as_bytes()));
        Ok(serde_json::to_value(Exact::of(doc.root().unwrap(), "YAML")?).unwrap())
    }

    #[test]
    fn exact_numbers_pass_and_others_are_refused() {
        for text in [
            "1.0",
            "0.1",
            "1e3",
            "-0",
            "-0.0",
            "18446744073709551615",
            "-9223372036854775808",
            "5e-324",
            "1.50",
            "0e5",
            "123.4560",
        ] {
            assert!(convert_text(text).is_ok(), "{text}");
        }
        for text in [
            "1e400",
            "18446744073709551616",
            "0.1000000000000000055511151231257827",
            "9007199254740993.5",
            "1e-400",
        ] {
            let Err(WriteError(why)) = convert_text(text) else {
                panic!("{text} was taken")
            };
            assert!(why.contains("does not fit"), "{why}");
        }
    }

    #[test]
    fn what_a_map_cannot_hold_is_refused() {
        for text in [r#"{"a":1,"a":2}"#, r#"["\ud800"]"#, r#"[1,"#] {
            assert!(matches!(convert_text(text), Err(WriteError(_))), "{text}");
        }
        let deep = "[".repeat(10_000) + &"]".repeat(10_000);
        assert!(matches!(convert_text(&deep), Err(WriteError(why)) if why.contains("128 levels")));
        assert_eq!(
            convert_text(r#"{"b":1,"a":[null,true]}"#)
                .unwrap()
                .to_string(),
            r#"{"b":1,"a":[null,true]}"#
        );
    }
}
