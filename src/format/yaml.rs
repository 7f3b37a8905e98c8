//! `yaml`: YAML 1.2 block style, as `serde_norway` writes it.
//!
//! It is read back by another crate, whose parser gives event after event and takes the text character by character: it
//! is a second opinion, it reads as YAML 1.2 does and not as 1.1, and it can be left anywhere. Plain scalars are resolved
//! here, by the core schema (YAML 1.2.2, section 10.3.2).

use std::borrow::Cow;

use saphyr_parser::{Event, Parser, ScalarStyle};

use super::out::Pieces;
use super::round_trip::{Builder, DecodeError, Decoded};
use super::value::to_value;
use super::{Format, NotApplicable, Sink, Subject, WriteError, payload_of};
use crate::cancel::Cancel;
use crate::json::Kind;
use crate::json::decimal::is_number;

#[derive(Debug)]
pub struct Yaml;

impl Format for Yaml {
    fn id(&self) -> &'static str {
        "yaml"
    }
    fn title(&self) -> &'static str {
        "YAML"
    }
    fn applies(&self, subject: &Subject) -> Result<(), NotApplicable> {
        payload_of(subject).map(|_| ())
    }
    fn write(&self, subject: &Subject, sink: &mut dyn Sink, cancel: &Cancel) -> Result<(), WriteError> {
        let Some(payload) = &subject.payload else { return Ok(()) };
        let value = to_value(payload.root(), self.title(), &mut cancel.steps())?;
        let mut out = Pieces::new(sink);
        if let Err(error) = serde_norway::to_writer(&mut out, &value) {
            return Err(out.explain(error));
        }
        Ok(out.finish()?)
    }
    fn decode(&self, text: &str, cancel: &Cancel) -> Option<Result<Decoded, DecodeError>> {
        Some(decode(text, cancel))
    }
}

/// A container that is open; of a mapping the key whose value comes next.
enum Open {
    Sequence,
    Mapping(Option<String>),
}

fn decode(text: &str, cancel: &Cancel) -> Result<Decoded, DecodeError> {
    let mut steps = cancel.steps();
    // For one who looks away the text ends here, and what the parser makes of that is not looked at.
    let watched = text.chars().map_while(|char| steps.step().ok().map(|()| char));
    let mut builder = Builder::new(cancel);
    let mut open: Vec<Open> = Vec::new();
    let mut documents = 0;
    for event in Parser::new_from_iter(watched) {
        cancel.check()?;
        let (event, _) = event.map_err(|error| DecodeError::Unreadable(error.to_string()))?;
        let container = match event {
            Event::Scalar(text, style, _, tag) => {
                if tag.is_some() {
                    return Err(unlike("a tag"));
                }
                let value = if style == ScalarStyle::Plain { resolve(&text)? } else { Scalar::Text };
                match open.last_mut() {
                    Some(Open::Mapping(key @ None)) => {
                        *key = Some(match value {
                            Scalar::Text => text.into_owned(),
                            Scalar::Json(json) => name_of(&json),
                        });
                    }
                    _ => {
                        let key = take_key(&mut open);
                        match value {
                            Scalar::Text => builder.string(&key, &text)?,
                            Scalar::Json(json) => builder.json(&key, &json)?,
                        }
                    }
                }
                continue;
            }
            Event::SequenceStart(_, tag) | Event::MappingStart(_, tag) if tag.is_some() => return Err(unlike("a tag")),
            Event::SequenceStart(..) => Open::Sequence,
            Event::MappingStart(..) => Open::Mapping(None),
            Event::SequenceEnd | Event::MappingEnd => {
                open.pop();
                builder.close();
                continue;
            }
            Event::Alias(_) => return Err(unlike("an alias")),
            Event::DocumentStart(_) if documents > 0 => return Err(unlike("a second document")),
            Event::DocumentStart(_) => {
                documents += 1;
                continue;
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => continue,
        };
        if matches!(open.last(), Some(Open::Mapping(None))) {
            return Err(unlike("a key that is no text"));
        }
        let kind = if matches!(container, Open::Sequence) { Kind::Array } else { Kind::Object };
        builder.open(&take_key(&mut open), kind)?;
        open.push(container);
    }
    cancel.check()?;
    builder.finish()
}

/// What JSON has no place for.
fn unlike(what: &str) -> DecodeError {
    DecodeError::Unreadable(format!("{what} is nothing that JSON can hold"))
}

/// The key that a value stands under; empty in a sequence, and of the outermost.
fn take_key(open: &mut [Open]) -> String {
    match open.last_mut() {
        Some(Open::Mapping(key)) => key.take().unwrap_or_default(),
        _ => String::new(),
    }
}

/// What a key that is no text is called once it is a member's name: a number by its value.
fn name_of(json: &str) -> String {
    match json.parse::<f64>() {
        Ok(number) if number.is_infinite() => if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned(),
        Ok(number) => number.to_string(),
        Err(_) => json.to_owned(),
    }
}

/// What a scalar is.
#[derive(Debug, PartialEq, Eq)]
enum Scalar<'t> {
    Text,
    /// JSON's spelling of the value.
    Json(Cow<'t, str>),
}

/// What a plain scalar is by the core schema.
fn resolve(text: &str) -> Result<Scalar<'_>, DecodeError> {
    let json = match text {
        "" | "~" | "null" | "Null" | "NULL" => "null",
        "true" | "True" | "TRUE" => "true",
        "false" | "False" | "FALSE" => "false",
        ".nan" | ".NaN" | ".NAN" => return Err(unlike(text)),
        _ if is_number(text) => text,
        _ => return respell(text),
    };
    Ok(Scalar::Json(json.into()))
}

/// A number that JSON spells otherwise: `+1`, `007`, `.5`, `1.`, `0x1f`.
fn respell(text: &str) -> Result<Scalar<'_>, DecodeError> {
    let (sign, digits) = match text.split_at_checked(1) {
        Some(("-", rest)) => ("-", rest),
        Some(("+", rest)) => ("", rest),
        _ => ("", text),
    };
    if matches!(digits, ".inf" | ".Inf" | ".INF") {
        return Err(unlike(text));
    }
    for (prefix, radix) in [("0o", 8), ("0x", 16)] {
        if let Some(rest) = text.strip_prefix(prefix)
            && !rest.is_empty()
            && rest.chars().all(|char| char.is_digit(radix))
        {
            let number = u128::from_str_radix(rest, radix).map_or_else(|_| rounded(rest, radix), |number| number.to_string());
            return Ok(Scalar::Json(number.into()));
        }
    }
    let (mantissa, exponent) = match digits.find(['e', 'E']) {
        Some(at) => digits.split_at(at),
        None => (digits, ""),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let whole = match whole.trim_start_matches('0') {
        "" if whole.is_empty() && fraction.is_empty() => return Ok(Scalar::Text),
        "" => "0",
        rest => rest,
    };
    let fraction = if fraction.is_empty() { String::new() } else { format!(".{fraction}") };
    let json = format!("{sign}{whole}{fraction}{exponent}");
    Ok(if !whole.starts_with('-') && is_number(&json) { Scalar::Json(json.into()) } else { Scalar::Text })
}

/// A number of so many digits that it is only told roughly, as a power of ten.
fn rounded(digits: &str, radix: u32) -> String {
    let digits = digits.trim_start_matches('0');
    let first = digits.get(..12).unwrap_or(digits);
    let rest = digits.len() - first.len();
    let leading =
        first.chars().filter_map(|digit| digit.to_digit(radix)).fold(0.0, |sum, digit| sum * f64::from(radix) + f64::from(digit));
    let power = f64::log10(leading) + rest as f64 * f64::from(radix).log10();
    format!("{:.6}e{}", 10_f64.powf(power.fract()), power.trunc())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;
    use crate::format::tests::{of_payload, table, value, write};

    fn read(text: &str) -> Result<String, DecodeError> {
        decode(text, &Cancel::new()).map(|decoded| String::from_utf8_lossy(decoded.doc.bytes()).into_owned())
    }

    #[test]
    fn what_is_written_is_read() {
        for payload in [
            r#"[1,"- a","x\ny",[2,[3]],{"a":[{}],"b":null},[]]"#,
            r#"{"n":null,"items":[{"a":1,"b":[1,2]},{"a":"- x"}],"e":[],"more":{"x":[1,[2]]},"last":["y","z"]}"#,
            r#"{"-":"-","- a":[1],"?":"? b","a: b":{"c":"d\n- e\n\nf"},"1":"1","null":"~","":""}"#,
            r#"{"zip":"007","hex":"0x1f","plus":"+1","dot":".5","one":"1.","inf":".inf","e":"1e3","yes":"yes","true":"true"}"#,
            "\"\u{2028} a \u{2029}\"",
            "\"text\"",
            "1.5",
        ] {
            let text = write("yaml", &of_payload(payload)).unwrap();
            assert_eq!(read(&text).as_deref(), Ok(payload), "{text}");
        }
        // A key so long that it has a line of its own.
        let long = format!(r#"{{"{}":[1,2],"b":3}}"#, "k".repeat(200));
        assert_eq!(read(&write("yaml", &of_payload(&long)).unwrap()), Ok(long));
    }

    #[test]
    fn plain_scalars_are_what_the_core_schema_says() {
        let json = |text: &str| match resolve(text) {
            Ok(Scalar::Json(json)) => Some(json.into_owned()),
            Ok(Scalar::Text) => None,
            Err(error) => panic!("{text}: {error}"),
        };
        for (text, is) in [
            ("~", "null"),
            ("TRUE", "true"),
            ("-12", "-12"),
            ("+1", "1"),
            ("007", "7"),
            ("000", "0"),
            ("-.5", "-0.5"),
            ("1.", "1"),
            ("+1.50e+3", "1.50e+3"),
            ("0x1f", "31"),
            ("0o17", "15"),
            ("12345678901234567890123", "12345678901234567890123"),
        ] {
            assert_eq!(json(text).as_deref(), Some(is), "{text}");
        }
        for text in
            ["yes", "12:30", "2025-01-15", ".", "+", "-", "e3", ".e3", "1e", "0x", "0o8", "1_000", "nul", "- 1", "+-1", "1 "]
        {
            assert_eq!(json(text), None, "{text}");
        }
        assert!(resolve("-.inf").is_err() && resolve(".nan").is_err());
    }

    #[test]
    fn what_json_cannot_hold_is_told() {
        for (text, what) in [
            ("a: &x 1\nb: *x\n", "an alias"),
            ("a: !!str 1\n", "a tag"),
            ("!!map {}\n", "a tag"),
            ("a\n---\nb\n", "a second document"),
            ("[a]: b\n", "a key that is no text"),
            ("a: .inf\n", ".inf"),
            ("a: [1\n", "line"),
        ] {
            let Err(DecodeError::Unreadable(why)) = read(text) else { panic!("{text} was read") };
            assert!(why.contains(what), "{text}: {why}");
        }
    }

    /// The crate that writes leaves quotes away where a number does not fit it; a reader sees one all the same.
    #[test]
    fn what_is_written_bare_and_read_as_a_number_is_lost_and_nothing_else() {
        let hash = format!("0x{}", "9f".repeat(3_000));
        for (payload, back) in [
            (
                r#"{"address":"0x52908400098527886E0F7030069857D2E4169EE7","n":1}"#.to_owned(),
                r#"{"address":4.713600e47,"n":1}"#.to_owned(),
            ),
            (r#"{"7e1234567":"git","n":1}"#.to_owned(), r#"{"Infinity":"git","n":1}"#.to_owned()),
            (format!(r#"{{"hash":"{hash}","n":1}}"#), r#"{"hash":3.271545e7224,"n":1}"#.to_owned()),
        ] {
            let text = write("yaml", &of_payload(&payload)).unwrap();
            assert_eq!(read(&text), Ok(back), "{payload}");
        }
        assert_eq!(read("1: a\n~: b\n0x1f: c\n").as_deref(), Ok(r#"{"1":"a","null":"b","31":"c"}"#));
    }

    proptest! {
        /// The crate that wrote a text and the one that reads it agree; where one of them folds at U+2028 it is not asked.
        #[test]
        fn two_readers_agree(payload in prop_oneof![value(), table()]) {
            let Ok(text) = write("yaml", &of_payload(&payload)) else { return Ok(()) };
            prop_assume!(!text.contains(['\u{2028}', '\u{2029}']));
            let other: Value = serde_norway::from_str(&text).unwrap();
            let ours: Value = serde_json::from_str(&read(&text).unwrap()).unwrap();
            prop_assert_eq!(ours, other, "{}", text);
        }
    }
}
