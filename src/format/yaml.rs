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
        Some(decoded(serde_norway::from_str::<serde_json::Value>(text).map_err(|error| error.to_string())))
    }
}
