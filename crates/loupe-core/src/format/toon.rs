//! `toon`: Token-Oriented Object Notation with commas and two spaces, as `toon-format` writes and reads it by default.

use toon_format::EncodeOptions;

use super::decode::{DecodeError, Decoded};
use super::out::Pieces;
use super::value::{DecodedText, Exact};
use super::{Format, FormatName, ParsedCapture, Sink, WriteError};
use crate::json::Kind;
use crate::number::grouped;

/// Above so many values it is not written: the crate takes some 200 bytes for each, far more than the result has.
const MAX_VALUES: usize = 250_000;

#[derive(Debug)]
pub(crate) struct Toon;

impl Format for Toon {
    fn name(&self) -> FormatName {
        FormatName {
            id: "toon",
            title: "TOON",
            short_title: "TOON",
        }
    }
    fn extension(&self, _: &ParsedCapture) -> &'static str {
        "toon"
    }
    fn write(&self, subject: &ParsedCapture, sink: &mut dyn Sink) -> Result<(), WriteError> {
        let Some(data) = &subject.data else {
            return Ok(());
        };
        let value = Exact::of(data.root(), self.title())?;
        if data.root().subtree_end() - data.root().index() > MAX_VALUES {
            let most = grouped(MAX_VALUES as u64);
            return Err(WriteError(format!(
                "more than {most} values: the library that writes TOON would take too much memory"
            )));
        }
        let written = match data.root().kind() {
            Kind::Object => toon_format::encode_object(value.tree(), &EncodeOptions::default()),
            Kind::Array => toon_format::encode_array(value.tree(), &EncodeOptions::default()),
            _ => toon_format::encode_default(&value),
        };
        let text = written.map_err(|error| WriteError(error.to_string()))?;
        let mut out = Pieces::new(sink);
        out.push(&text);
        out.finish();
        Ok(())
    }
    fn decode(&self, text: &str) -> Option<Result<Decoded, DecodeError>> {
        let read = toon_format::decode_default::<DecodedText>(text)
            .map_err(|error| DecodeError(error.to_string()));
        Some(read.map(|read| read.decoded()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::tests::{of_data, write};

    #[test]
    fn nested_records_are_a_table() {
        let data = r#"{"orders":[{"id":1,"by":{"name":"Ada"}},{"id":2,"by":{"name":"Bob"}}]}"#;
        let text = write("toon", &of_data(data)).unwrap();
        assert_eq!(text, "orders[2]{id,by{name}}:\n  1,Ada\n  2,Bob");
    }

    #[test]
    fn more_values_than_its_library_has_memory_for_are_refused() {
        let list = |values: usize| of_data(&format!("[1{}]", ",1".repeat(values - 2)));
        assert!(write("toon", &list(MAX_VALUES)).is_ok());
        let Err(why) = write("toon", &list(MAX_VALUES + 1)) else {
            panic!("it was written")
        };
        assert!(why.starts_with("more than 250,000 values"), "{why}");
    }

    #[test]
    fn a_list_that_is_not_as_long_as_it_says_is_told() {
        for text in [
            "[3]{a}:\n  1\n  2",
            "x[1]:\n  - 1\n  - 2",
            "[2]: 1,2,3",
            "[2:]{a}:\n  x: 1\n  y: 2\n  z: 3",
            "a\nb: 1",
            "a:\n b: 1",
            "a[x]:\n  - 1",
            "[1]:\n  a: 1",
            "a: 1\n[1]: 2",
        ] {
            assert!(Toon.decode(text).unwrap().is_err(), "{text}");
        }
    }
}
