//! `yaml`: YAML 1.2 block style, as `serde_norway` writes it.
//!
//! The crate reads a text as a whole before it gives anything back, and cannot be left meanwhile. So a long text is read
//! in pieces, cut where a member or element of the outermost value begins.

use serde_json::Value;

use super::out::Pieces;
use super::round_trip::{Builder, DecodeError, Decoded};
use super::value::{check, in_pieces_or_whole, spelled, to_value};
use super::{Format, NotApplicable, Sink, Subject, WriteError, payload_of};
use crate::cancel::Cancel;
use crate::json::Kind;

/// A text is read in pieces of about this size; between two of them the asker may look away.
const PIECE_BYTES: usize = 64 << 10;

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
        check(payload.root(), self.title())?;
        let value = to_value(payload.root(), 0, self.title(), &mut cancel.steps())?;
        let mut out = Pieces::new(sink);
        if let Err(error) = serde_norway::to_writer(&mut out, &value) {
            return Err(out.explain(error));
        }
        Ok(out.finish()?)
    }
    fn decode(&self, text: &str, cancel: &Cancel) -> Option<Result<Decoded, DecodeError>> {
        Some(decode(text, PIECE_BYTES, cancel))
    }
}

/// Reads as YAML 1.2 does, to which U+2028 and U+2029 are characters like others. The crate reads, and folds what it
/// writes, as YAML 1.1 does, to which they are line ends: unless told, it would not notice that a 1.2 reader is given
/// more spaces than there were.
fn decode(text: &str, piece: usize, cancel: &Cancel) -> Result<Decoded, DecodeError> {
    const LINE_ENDS: [char; 2] = ['\u{2028}', '\u{2029}'];
    if !text.contains(LINE_ENDS) {
        return read(text, piece, cancel);
    }
    // Two characters that are not in the text stand in for them.
    let mut unused = ('\u{e000}'..='\u{f8ff}').filter(|char| !text.contains(*char));
    let (Some(first), Some(second)) = (unused.next(), unused.next()) else {
        return Err(DecodeError::Unreadable("U+2028 or U+2029 among all characters for private use".into()));
    };
    let back = read(&text.replace(LINE_ENDS[0], &first.to_string()).replace(LINE_ENDS[1], &second.to_string()), piece, cancel)?;
    let json = String::from_utf8_lossy(back.doc.bytes()).replace(first, "\u{2028}").replace(second, "\u{2029}");
    Decoded::json(&json, cancel)
}

fn read(text: &str, piece: usize, cancel: &Cancel) -> Result<Decoded, DecodeError> {
    in_pieces_or_whole(text, piece, cancel, in_pieces, parse)
}

fn parse(text: &str) -> Result<Value, DecodeError> {
    serde_norway::from_str(text).map_err(|error| DecodeError::Unreadable(error.to_string()))
}

/// Whether a line of the outermost level begins an element of a list: of the outermost value, or of its last member.
fn is_element(text: &str) -> bool {
    text.starts_with("- ") || text.starts_with("-\n")
}

/// Reads a block mapping or sequence piece by piece. Refused where a piece is not what it has to be: then the text is read
/// as a whole.
fn in_pieces(text: &str, piece: usize, cancel: &Cancel) -> Result<Decoded, DecodeError> {
    let unlike = || DecodeError::Unreadable("not of one kind".into());
    let is_list = is_element(text);
    let mut builder = Builder::new(cancel);
    builder.open("", if is_list { Kind::Array } else { Kind::Object })?;
    let mut rest = text;
    while !rest.is_empty() {
        cancel.check()?;
        let (now, later) = rest.split_at(cut(rest, piece));
        rest = later;
        match parse(now)? {
            // Elements of the list that is open: the outermost, or that of the member before.
            Value::Array(elements) if is_element(now) && (is_list || builder.depth() == 2) => {
                for element in &elements {
                    builder.json("", &spelled(element)?)?;
                }
            }
            Value::Object(members) if !is_list && !is_element(now) => {
                builder.close_to(1);
                let last = members.len().saturating_sub(1);
                for (position, (key, value)) in members.iter().enumerate() {
                    match value {
                        Value::Array(elements) if position == last && is_element(rest) => {
                            builder.open(key, Kind::Array)?;
                            for element in elements {
                                builder.json("", &spelled(element)?)?;
                            }
                        }
                        Value::Null if position == last && is_element(rest) => builder.open(key, Kind::Array)?,
                        _ => builder.json(key, &spelled(value)?)?,
                    }
                }
            }
            _ => return Err(unlike()),
        }
    }
    builder.finish()
}

/// Where the first piece of at least that size ends: before a line that begins a member or element of the outermost value,
/// else at the end. A line that begins with a colon belongs to a key that stands before it.
fn cut(text: &str, piece: usize) -> usize {
    let mut from = piece.min(text.len());
    while let Some(end) = memchr::memchr(b'\n', &text.as_bytes()[from..]) {
        from += end + 1;
        if text.as_bytes().get(from).is_some_and(|first| !matches!(first, b' ' | b'\n' | b':')) {
            return from;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::format::tests::{of_payload, table, value, write};
    use crate::format::value::decoded;

    fn pieces_are_the_whole(payload: &str) {
        let Ok(text) = write("yaml", &of_payload(payload)) else { return };
        let cancel = Cancel::new();
        let whole = decoded(&parse(&text).unwrap(), &cancel).unwrap();
        for piece in [1, 9, 40] {
            let Ok(pieces) = in_pieces(&text, piece, &cancel) else { continue };
            assert_eq!(pieces.doc.bytes(), whole.doc.bytes(), "{text}");
        }
    }

    #[test]
    fn lists_and_members_are_read_in_pieces() {
        let cancel = Cancel::new();
        for payload in [
            r#"[1,"- a","x\ny",[2,[3]],{"a":[{}],"b":null},[]]"#,
            r#"{"n":null,"items":[{"a":1,"b":[1,2]},{"a":"- x"}],"e":[],"more":{"x":[1,[2]]},"last":["y","z"]}"#,
            r#"{"-":"-","- a":[1],"?":"? b","a: b":{"c":"d\n- e\n\nf"}}"#,
        ] {
            let text = write("yaml", &of_payload(payload)).unwrap();
            let pieces = in_pieces(&text, 1, &cancel).unwrap();
            assert_eq!(pieces.doc.bytes(), payload.as_bytes(), "{text}");
        }
        // A key so long that it has a line of its own.
        let long = format!(r#"{{"{}":[1,2],"b":3}}"#, "k".repeat(200));
        let text = write("yaml", &of_payload(&long)).unwrap();
        assert_eq!(in_pieces(&text, 1, &cancel).unwrap().doc.bytes(), long.as_bytes());
    }

    #[test]
    fn no_piece_is_much_longer_than_it_may_be() {
        let payload = format!("[{}]", vec![r#"{"name":"a","tags":["b","c"],"text":"x\ny"}"#; 9_000].join(","));
        let text = write("yaml", &of_payload(&payload)).unwrap();
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let end = cut(rest, PIECE_BYTES);
            assert!(end < PIECE_BYTES + 200, "{end}");
            rest = &rest[end..];
        }
    }

    proptest! {
        #[test]
        fn what_is_read_in_pieces_is_the_whole(payload in prop_oneof![value(), table()]) {
            pieces_are_the_whole(&payload);
        }
    }
}
