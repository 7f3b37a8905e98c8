//! `yaml`: YAML 1.2 block style, as `serde_norway` writes it.
//!
//! It is read back by another crate: a second opinion, which reads as YAML 1.2 does and not as 1.1. Only what plain scalars are
//! is told here, by the core schema (YAML 1.2.2, section 10.3.2): the crate's own rules round what is no `i64`, take an `0x…`
//! that is longer for text, and `+-1` for a number.

use std::borrow::Cow;

use saphyr_parser::{Event, Parser, ScalarStyle};

use super::decode::{Builder, DecodeError, Decoded};
use super::out::Pieces;
use super::value::Exact;
use super::{Format, FormatName, ParsedCapture, Sink, WriteError};
use crate::json::Kind;
use crate::json::decimal::is_number;

#[derive(Debug)]
pub(crate) struct Yaml;

impl Format for Yaml {
    fn name(&self) -> FormatName {
        FormatName {
            id: "yaml",
            title: "YAML",
            short_title: "YAML",
        }
    }
    fn extension(&self, _: &ParsedCapture) -> &'static str {
        "yaml"
    }
    fn write(&self, subject: &ParsedCapture, sink: &mut dyn Sink) -> Result<(), WriteError> {
        let Some(data) = &subject.data else {
            return Ok(());
        };
        let value = Exact::of(data.root(), self.title())?;
        let mut out = Pieces::new(sink);
        serde_norway::to_writer(&mut out, &value).map_err(|error| WriteError(error.to_string()))?;
        out.finish();
        Ok(())
    }
    fn decode(&self, text: &str) -> Option<Result<Decoded, DecodeError>> {
        Some(decode(text))
    }
}

/// A container that is open; of a mapping the key whose value comes next.
enum Open {
    Sequence,
    Mapping(Option<String>),
}

/// Event by event: a tree of the crate's own would take fifty times the text's bytes.
fn decode(text: &str) -> Result<Decoded, DecodeError> {
    let mut builder = Builder::default();
    let mut open: Vec<Open> = Vec::new();
    let mut documents = 0;
    for event in Parser::new_from_str(text) {
        let (event, _) = event.map_err(|error| DecodeError(error.to_string()))?;
        let container = match event {
            Event::Scalar(text, style, _, None) => {
                let json = resolve(&text, style)?;
                if let Some(Open::Mapping(key @ None)) = open.last_mut() {
                    *key = Some(json.map_or_else(|| text.to_string(), |json| name_of(&json)));
                    continue;
                }
                let key = take_key(&mut open);
                match json {
                    Some(json) => builder.json(&key, &json),
                    None => builder.string(&key, &text),
                }
                continue;
            }
            Event::SequenceStart(_, None) => Open::Sequence,
            Event::MappingStart(_, None) => Open::Mapping(None),
            Event::Scalar(..) | Event::SequenceStart(..) | Event::MappingStart(..) => {
                return Err(unlike("a tag"));
            }
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
            return Err(unlike("a key that is not text"));
        }
        let kind = if matches!(container, Open::Sequence) {
            Kind::Array
        } else {
            Kind::Object
        };
        builder.open(&take_key(&mut open), kind);
        open.push(container);
    }
    Ok(builder.finish())
}

/// The key that a value is under; empty in a sequence, and of the outermost.
fn take_key(open: &mut [Open]) -> String {
    match open.last_mut() {
        Some(Open::Mapping(key)) => key.take().unwrap_or_default(),
        _ => String::new(),
    }
}

/// What JSON has no place for.
fn unlike(what: &str) -> DecodeError {
    DecodeError(format!("{what} is nothing that JSON can hold"))
}

/// What a key that is not text is called once it is a member's name: a number by its value.
fn name_of(json: &str) -> String {
    match json.parse::<f64>() {
        Ok(number) if number.is_infinite() => if number > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        }
        .to_owned(),
        Ok(number) => number.to_string(),
        Err(_) => json.to_owned(),
    }
}

/// JSON's spelling of a scalar; `None` where it is a text.
fn resolve(text: &str, style: ScalarStyle) -> Result<Option<Cow<'_, str>>, DecodeError> {
    if style != ScalarStyle::Plain {
        return Ok(None);
    }
    let json = match text {
        "" | "~" | "null" | "Null" | "NULL" => "null",
        "true" | "True" | "TRUE" => "true",
        "false" | "False" | "FALSE" => "false",
        _ if is_number(text) => text,
        // What JSON spells otherwise: `+1`, `007`, `.5`, `1.`, `0x1f`.
        _ => match radix(text, "0x", 16)
            .or_else(|| radix(text, "0o", 8))
            .or_else(|| float(text))
        {
            Some(number) if number.is_finite() => return Ok(Some(format!("{number:?}").into())),
            Some(_) if !text.contains(|char: char| char.is_ascii_digit()) => {
                return Err(unlike(text));
            }
            // Beyond a double.
            Some(_) if text.starts_with('-') => "-1e309",
            Some(_) => "1e309",
            None => return Ok(None),
        },
    };
    Ok(Some(json.into()))
}

/// As the core schema writes a double.
fn float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    match unsigned {
        ".inf" | ".Inf" | ".INF" => Some(f64::INFINITY),
        ".nan" | ".NaN" | ".NAN" if unsigned == text => Some(f64::NAN),
        // Rust's own takes `inf` and `nan` besides.
        _ if unsigned.starts_with(|char: char| char.is_ascii_digit() || char == '.') => {
            text.parse().ok()
        }
        _ => None,
    }
}

/// A whole number after its prefix.
fn radix(text: &str, prefix: &str, radix: u32) -> Option<f64> {
    let digits = text
        .strip_prefix(prefix)
        .filter(|digits| !digits.is_empty())?;
    digits.chars().try_fold(0.0, |number, digit| {
        Some(number * f64::from(radix) + f64::from(digit.to_digit(radix)?))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;
    use crate::format::tests::{of_data, table, value, write};

    fn read(text: &str) -> Result<String, DecodeError> {
        decode(text).map(|decoded| String::from_utf8_lossy(&decoded.json).into_owned())
    }

    #[test]
    fn what_is_written_is_read() {
        for data in [
            r#"[1,"- a","x\ny",[2,[3]],{"a":[{}],"b":null},[]]"#,
            r#"{"n":null,"items":[{"a":1,"b":[1,2]},{"a":"- x"}],"e":[],"more":{"x":[1,[2]]},"last":["y","z"]}"#,
            r#"{"-":"-","- a":[1],"?":"? b","a: b":{"c":"d\n- e\n\nf"},"1":"1","null":"~","":""}"#,
            r#"{"zip":"007","hex":"0x1f","plus":"+1","dot":".5","one":"1.","inf":".inf","e":"1e3","yes":"yes","true":"true"}"#,
            "\"\u{2028} a \u{2029}\"",
            "\"text\"",
            "1.5",
        ] {
            let text = write("yaml", &of_data(data)).unwrap();
            assert_eq!(read(&text).as_deref(), Ok(data), "{text}");
        }
        // A key so long that it has a line of its own.
        let long = format!(r#"{{"{}":[1,2],"b":3}}"#, "k".repeat(200));
        assert_eq!(read(&write("yaml", &of_data(&long)).unwrap()), Ok(long));
    }

    #[test]
    fn plain_scalars_are_what_the_core_schema_says() {
        let json = |text: &str| {
            resolve(text, ScalarStyle::Plain)
                .unwrap()
                .map(Cow::into_owned)
        };
        for (text, is) in [
            ("~", "null"),
            ("TRUE", "true"),
            ("-12", "-12"),
            ("+1", "1.0"),
            ("007", "7.0"),
            ("000", "0.0"),
            ("-.5", "-0.5"),
            ("1.", "1.0"),
            ("+1.50e+3", "1500.0"),
            ("0x1f", "31.0"),
            ("0o17", "15.0"),
            ("12345678901234567890123", "12345678901234567890123"),
        ] {
            assert_eq!(json(text).as_deref(), Some(is), "{text}");
        }
        for text in [
            "yes",
            "12:30",
            "2025-01-15",
            ".",
            "+",
            "-",
            "e3",
            ".e3",
            "1e",
            "0x",
            "0o8",
            "1_000",
            "nul",
            "- 1",
            "+-1",
            "0x-1",
            "1 ",
        ] {
            assert_eq!(json(text), None, "{text}");
        }
        for text in ["-.inf", ".nan"] {
            assert!(resolve(text, ScalarStyle::Plain).is_err());
        }
    }

    #[test]
    fn what_json_cannot_hold_is_told() {
        for (text, what) in [
            ("a: !!str 1\n", "a tag"),
            ("a: !b {}\n", "a tag"),
            ("a\n---\nb\n", "a second document"),
            ("a: &x 1\nb: *x\n", "an alias"),
            ("[a]: b\n", "a key that is not text"),
            ("a: .inf\n", ".inf"),
            ("a: [1\n", "line"),
        ] {
            let Err(DecodeError(why)) = read(text) else {
                panic!("{text} was read")
            };
            assert!(why.contains(what), "{text}: {why}");
        }
    }

    /// The crate that writes leaves quotes away where a number does not fit it; a reader sees one all the same.
    #[test]
    fn what_is_written_bare_and_read_as_a_number_is_lost_and_nothing_else() {
        let hash = format!("0x{}", "9f".repeat(3_000));
        for (data, back) in [
            (
                r#"{"address":"0x52908400098527886E0F7030069857D2E4169EE7","n":1}"#.to_owned(),
                r#"{"address":4.713600493505407e47,"n":1}"#.to_owned(),
            ),
            (
                r#"{"7e1234567":"git","n":1}"#.to_owned(),
                r#"{"Infinity":"git","n":1}"#.to_owned(),
            ),
            (
                format!(r#"{{"hash":"{hash}","n":1}}"#),
                r#"{"hash":1e309,"n":1}"#.to_owned(),
            ),
        ] {
            let text = write("yaml", &of_data(&data)).unwrap();
            assert_eq!(read(&text), Ok(back), "{data}");
        }
        assert_eq!(
            read("1: a\n~: b\n0x1f: c\n").as_deref(),
            Ok(r#"{"1":"a","null":"b","31":"c"}"#)
        );
    }

    proptest! {
        /// The crate that wrote a text and the one that reads it agree; where one of them folds at U+2028 it is not asked.
        #[test]
        fn two_readers_agree(data in prop_oneof![value(), table()]) {
            let Ok(text) = write("yaml", &of_data(&data)) else { return Ok(()) };
            prop_assume!(!text.contains(['\u{2028}', '\u{2029}']));
            let other: Value = serde_norway::from_str(&text).unwrap();
            let ours: Value = serde_json::from_str(&read(&text).unwrap()).unwrap();
            prop_assert_eq!(ours, other, "{}", text);
        }
    }
}
