//! `toon`: Token-Oriented Object Notation with commas and two spaces, as `toon-format` writes it by default.

use super::out::Pieces;
use super::round_trip::{DecodeError, Decoded};
use super::value::{decoded, to_value};
use super::{Format, NotApplicable, Sink, Subject, WriteError, payload_of};
use crate::cancel::Cancel;

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
    fn write(&self, subject: &Subject, sink: &mut dyn Sink) -> Result<(), WriteError> {
        let Some(payload) = &subject.payload else { return Ok(()) };
        let value = to_value(payload.root(), self.title())?;
        let text = toon_format::encode_default(&value).map_err(|error| WriteError::Refused(error.to_string()))?;
        let mut out = Pieces::new(sink);
        out.push(&text)?;
        Ok(out.finish()?)
    }
    fn decode(&self, text: &str, _: &Cancel) -> Option<Result<Decoded, DecodeError>> {
        Some(decoded(toon_format::decode_default::<serde_json::Value>(text).map_err(|error| error.to_string())))
    }
}
