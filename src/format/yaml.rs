//! `yaml`: YAML 1.2 block style, as `serde_norway` writes it.

use super::out::Pieces;
use super::round_trip::{DecodeError, Decoded};
use super::value::{decoded, to_value};
use super::{Format, NotApplicable, Sink, Subject, WriteError, payload_of};
use crate::cancel::Cancel;

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
    fn write(&self, subject: &Subject, sink: &mut dyn Sink) -> Result<(), WriteError> {
        let Some(payload) = &subject.payload else { return Ok(()) };
        let value = to_value(payload.root(), self.title())?;
        let mut out = Pieces::new(sink);
        if let Err(error) = serde_norway::to_writer(&mut out, &value) {
            return Err(out.explain(error));
        }
        Ok(out.finish()?)
    }
    fn decode(&self, text: &str, _: &Cancel) -> Option<Result<Decoded, DecodeError>> {
        Some(decode(text))
    }
}

/// Reads as YAML 1.2 does, to which U+2028 and U+2029 are characters like others. The crate reads, and folds what it
/// writes, as YAML 1.1 does, to which they are line ends: unless told, it would not notice that a 1.2 reader is given
/// more spaces than there were.
fn decode(text: &str) -> Result<Decoded, DecodeError> {
    let read = |text: &str| decoded(serde_norway::from_str::<serde_json::Value>(text).map_err(|error| error.to_string()));
    const LINE_ENDS: [char; 2] = ['\u{2028}', '\u{2029}'];
    if !text.contains(LINE_ENDS) {
        return read(text);
    }
    // Two characters that are not in the text stand in for them.
    let mut unused = ('\u{e000}'..='\u{f8ff}').filter(|char| !text.contains(*char));
    let (Some(first), Some(second)) = (unused.next(), unused.next()) else {
        return Err(DecodeError::Unreadable("U+2028 or U+2029 among all characters for private use".into()));
    };
    let back = read(&text.replace(LINE_ENDS[0], &first.to_string()).replace(LINE_ENDS[1], &second.to_string()))?;
    let json = String::from_utf8_lossy(back.doc.bytes()).replace(first, "\u{2028}").replace(second, "\u{2029}");
    Decoded::json(&json)
}
