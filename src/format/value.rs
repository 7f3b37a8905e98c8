//! The payload as a value for the crates that write YAML and TOON, and what the crate that reads TOON gives back. What YAML and
//! TOON could not hold exactly is refused here, with the reason, rather than changed.

use std::io;

use serde::Serialize;
use serde_json::ser::Formatter;
use serde_json::{Map, Number, Value};

use super::WriteError;
use super::round_trip::{DecodeError, Decoded};
use crate::json::decimal;
use crate::json::{FaultKind, Kind, Node};

/// Deeper values are refused: the crates recurse.
const MAX_DEPTH: usize = 128;

/// Converts a payload; `format` is the name in the reasons for a refusal.
pub(super) fn to_value(root: Node<'_>, format: &str) -> Result<Value, WriteError> {
    check(root, format)?;
    convert(root, 0, format)
}

/// Refuses what these crates would change without a word; numbers and depth are looked at on the way.
fn check(root: Node<'_>, format: &str) -> Result<(), WriteError> {
    // What ends too early has its fault just past its end.
    let range = root.range().start..=root.range().end;
    if let Some(fault) = root.doc().faults().iter().find(|fault| range.contains(&fault.at)) {
        let what = match fault.kind {
            FaultKind::LoneSurrogate | FaultKind::InvalidUtf8 | FaultKind::DuplicateKey | FaultKind::TooMany => {
                fault.kind.message()
            }
            _ => "the payload is cut short",
        };
        return Err(refuse(format, what, root, fault.at));
    }
    Ok(())
}

/// What such a crate read back, as JSON text again.
pub(super) fn decoded(value: &Value) -> Result<Decoded, DecodeError> {
    let mut text = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut text, Spelling);
    value.serialize(&mut serializer).map_err(|error| DecodeError(error.to_string()))?;
    Decoded::json(&String::from_utf8_lossy(&text))
}

/// Spells floats as these crates do, `1e21` and not `1e+21`, since that is what stood in the text.
struct Spelling;

impl Formatter for Spelling {
    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        let text = Number::from_f64(value).map_or_else(|| "null".to_owned(), |number| number.to_string());
        writer.write_all(text.replace("e+", "e").as_bytes())
    }
}

fn refuse(format: &str, what: &str, root: Node<'_>, at: usize) -> WriteError {
    WriteError(format!("{format} cannot hold it: {what} at byte {} of the payload", at - root.range().start))
}

/// Recursion is bounded by [`MAX_DEPTH`].
fn convert(node: Node<'_>, depth: usize, format: &str) -> Result<Value, WriteError> {
    if depth > MAX_DEPTH {
        return Err(WriteError(format!("more than {MAX_DEPTH} levels deep: {format} is not written")));
    }
    Ok(match node.kind() {
        Kind::Null => Value::Null,
        Kind::Bool => Value::Bool(node.as_bool().unwrap_or_default()),
        Kind::Number => Value::Number(number(node, format)?),
        Kind::String => Value::String(node.as_str().unwrap_or_default().into_owned()),
        Kind::Array => {
            let items: Result<Vec<_>, _> = node.children().map(|child| convert(child, depth + 1, format)).collect();
            Value::Array(items?)
        }
        Kind::Object => {
            let mut members = Map::with_capacity(node.len());
            for child in node.children() {
                members.insert(child.key().unwrap_or_default().into_owned(), convert(child, depth + 1, format)?);
            }
            Value::Object(members)
        }
    })
}

/// A number as these crates hold it, where that is exact.
fn number(node: Node<'_>, format: &str) -> Result<Number, WriteError> {
    let literal = node.as_number().unwrap_or_default();
    let is_integer = !literal.contains(['.', 'e', 'E']);
    if is_integer && literal != "-0" {
        if let Ok(number) = literal.parse::<i64>() {
            return Ok(number.into());
        }
        if let Ok(number) = literal.parse::<u64>() {
            return Ok(number.into());
        }
    }
    let exact = literal.parse::<f64>().ok().filter(|float| !is_integer || *float == 0.0).and_then(|float| {
        let same = decimal::is_same(literal, &format!("{float:e}"));
        Number::from_f64(float).filter(|_| same)
    });
    exact.ok_or_else(|| {
        let shown: String = literal.chars().take(40).collect();
        WriteError(format!("the number {shown} does not fit: {format} would change it"))
    })
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::json::Doc;

    fn convert_text(text: &str) -> Result<Value, WriteError> {
        let doc = Doc::parse(Bytes::copy_from_slice(text.as_bytes()));
        to_value(doc.root().unwrap(), "YAML")
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
        for text in ["1e400", "18446744073709551616", "0.1000000000000000055511151231257827", "9007199254740993.5", "1e-400"] {
            let Err(WriteError(why)) = convert_text(text) else { panic!("{text} was taken") };
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
        assert_eq!(convert_text(r#"{"b":1,"a":[null,true]}"#).unwrap().to_string(), r#"{"b":1,"a":[null,true]}"#);
    }
}
