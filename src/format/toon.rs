//! `toon`: Token-Oriented Object Notation with commas and two spaces, as `toon-format` writes it by default.

use super::out::Pieces;
use super::value::to_value;
use super::{Format, NotApplicable, Sink, Subject, WriteError, payload_of};

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
}
