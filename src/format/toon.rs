//! `toon`: Token-Oriented Object Notation with commas and two spaces, as `toon-format` writes it by default.
//!
//! The crate writes and reads a value as a whole and cannot be left meanwhile. So the lines are made here, byte for byte as
//! the crate makes them, and a long text is read in pieces. Its spelling of texts, keys and numbers, and its reading of a
//! piece, are the crate's.

mod read;
mod write;

use super::out::Pieces;
use super::round_trip::{DecodeError, Decoded};
use super::value::check_all;
use super::{Format, NotApplicable, Sink, Subject, WriteError, payload_of};
use crate::cancel::Cancel;

/// A text is read in pieces of about this size; between two of them the asker may look away.
const PIECE_BYTES: usize = 64 << 10;

#[derive(Debug)]
pub struct Toon;

impl Format for Toon {
    fn id(&self) -> &'static str {
        "toon"
    }
    fn title(&self) -> &'static str {
        "TOON"
    }
    fn applies(&self, subject: &Subject) -> Result<(), NotApplicable> {
        payload_of(subject).map(|_| ())
    }
    fn write(&self, subject: &Subject, sink: &mut dyn Sink, cancel: &Cancel) -> Result<(), WriteError> {
        let Some(payload) = &subject.payload else { return Ok(()) };
        check_all(payload.root(), self.title(), cancel)?;
        let mut out = Pieces::new(sink);
        write::write(payload.root(), &mut out, cancel)?;
        Ok(out.finish()?)
    }
    fn decode(&self, text: &str, cancel: &Cancel) -> Option<Result<Decoded, DecodeError>> {
        Some(read::read(text, PIECE_BYTES, cancel))
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use proptest::prelude::*;

    use super::*;
    use crate::format::tests::{of_payload, table, value, write};
    use crate::format::value::{decoded, to_value};
    use crate::json::Doc;

    /// What is written is what the crate makes of the whole; read in pieces of any size it is what the crate reads.
    #[track_caller]
    fn is_as_the_crate_has_it(payload: &str) -> String {
        let cancel = Cancel::new();
        let doc = Doc::parse(Bytes::copy_from_slice(payload.as_bytes()));
        let Ok(whole) = to_value(doc.root().unwrap(), "TOON", &mut cancel.steps()) else {
            assert!(write("toon", &of_payload(payload)).is_err(), "{payload}");
            return String::new();
        };
        let text = write("toon", &of_payload(payload)).unwrap();
        assert_eq!(text, toon_format::encode_default(&whole).unwrap(), "{payload}");
        let back = decoded(&read::parse(&text).unwrap(), &cancel).unwrap();
        for piece in [0, 1, 5, 20, 90] {
            let pieces = read::read(&text, piece, &cancel).unwrap_or_else(|error| panic!("in {piece}: {error}\n{text}"));
            assert_eq!(pieces.doc.bytes(), back.doc.bytes(), "in {piece}\n{text}");
        }
        text
    }

    #[test]
    fn every_shape_is_written_and_read() {
        for payload in [
            r#"[{"a":1,"b":"x"},{"a":2,"b":"- y"},{"b":"[1]: z","a":3}]"#,
            r#"{"total":3,"the \"items\" [1]:":[{"a":1,"l":[1,2]},{"a":2,"l":[]},{"b":{"c":[{"d":1},{"d":2}]}}],"o":{"p":{"q":1}}}"#,
            r#"{"items":[{"id":1,"n":{"x":1}},{"id":2,"n":{"x":2}}],"tags":["a","b"],"e":[],"o":{}}"#,
            r#"{"a":{"x":1,"y":"two, three"},"b":{"y":"[","x":2}}"#,
            r#"{"by id":{"a":{"x":1},"b:c":{"x":2}},"one":{"a":{"x":1}},"none":{"a":{},"b":{}}}"#,
            r#"[[],[1,2],[[3],{"a":[]}],{},{"k":{"a":{"x":1},"b":{"x":2}},"l":1},{"t":[{"a":1},{"a":2}],"u":{"v":[]}},"- -",null]"#,
            r#"{"a":[{"b":{"c":{"d":[{"e":[[{"f":"g"}],"h"]}]}}},{}],"i":[[1],["a,b","c\nd"]]}"#,
            r#"[{"a":{"b":{"c":1}}},{"a":{"b":{"c":"x"}}}]"#,
            r#"[{"a":{"b":1}},{"a":{"c":1}}]"#,
            r#"[{"a":1},{"a":2},{"b":1}]"#,
            r#"[1,"2",true,null,1.50,-0,1e3,1E-7,123456789012345678,"","a,b"]"#,
            r#"{"a":-0.0,"b":1.0,"c":1e21,"d":12345678901234567890,"e":"x: y","f":"true","g":" pad "}"#,
            "{}",
            "[]",
            "[{}]",
            "\"a text\"",
            "\"\u{feff}text\"",
            "[\"\u{feff}text\"]",
            "[\"\u{feff}text\",{},\"x\"]",
            r#"[{"a":1,"b c":{"d":"x,y","e":{"f":null}},"g":true},{"g":"","b c":{"d":2,"e":{"f":3}},"a":"z"}]"#,
            "1.5e3",
            "null",
        ] {
            is_as_the_crate_has_it(payload);
        }
        let nested = is_as_the_crate_has_it(r#"{"orders":[{"id":1,"by":{"name":"Ada"}},{"id":2,"by":{"name":"Bob"}}]}"#);
        assert_eq!(nested, "orders[2]{id,by{name}}:\n  1,Ada\n  2,Bob");
    }

    #[test]
    fn a_list_that_is_not_as_long_as_it_says_is_told() {
        for text in ["[3]{a}:\n  1\n  2", "x[1]:\n  - 1\n  - 2", "[2]: 1,2,3", "[2:]{a}:\n  x: 1\n  y: 2\n  z: 3"] {
            let why = read::read(text, 1, &Cancel::new()).unwrap_err().to_string();
            assert!(why.starts_with("a list of "), "{text}: {why}");
        }
        for text in ["a\nb: 1", "a:\n b: 1", "a[x]:\n  - 1", "[1]:\n  a: 1", "a: 1\n[1]: 2"] {
            assert!(read::read(text, 1, &Cancel::new()).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_and_read_is_as_the_crate_has_it(
            payload in prop_oneof![
                value(),
                table(),
                table().prop_map(|rows| format!(r#"{{"n":[1],"items":{rows},"o":{{"a":{{"b":{rows}}}}}}}"#)),
                // Rows of one shape, which make a table, in a list and by key.
                (prop::collection::vec((any::<u8>(), any::<bool>()), 2..6), any::<bool>()).prop_map(|(rows, is_keyed)| {
                    let rows: Vec<_> = rows
                        .iter()
                        .enumerate()
                        .map(|(at, (id, on))| {
                            let key = if is_keyed { format!(r#""k {at}":"#) } else { String::new() };
                            format!(r#"{key}{{"id":{id},"on":{on},"n":{{"x":{id}}}}}"#)
                        })
                        .collect();
                    let rows = rows.join(",");
                    if is_keyed { format!(r#"{{"all":{{{rows}}},"in":[{{"all":{{{rows}}},"b":1}}]}}"#) } else { format!("[{rows}]") }
                }),
            ],
        ) {
            is_as_the_crate_has_it(&payload);
        }
    }
}
