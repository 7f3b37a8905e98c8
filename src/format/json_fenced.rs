//! `json-fenced`: a heading, then the pretty JSON in a fence, as servers like to send it.

use super::out::Pieces;
use super::{Format, NotApplicable, Sink, Subject, WriteError, growth, json, payload_of};

#[derive(Debug)]
pub struct JsonFenced;

impl Format for JsonFenced {
    fn id(&self) -> &'static str {
        "json-fenced"
    }
    fn title(&self) -> &'static str {
        "JSON in a fence"
    }
    fn applies(&self, subject: &Subject) -> Result<(), NotApplicable> {
        payload_of(subject).map(|_| ())
    }
    fn write(&self, subject: &Subject, sink: &mut dyn Sink) -> Result<(), WriteError> {
        let Some(payload) = &subject.payload else { return Ok(()) };
        let mut out = Pieces::new(sink);
        let fence = growth::fence(payload.root());
        out.push(&format!("# Result\n\n{fence}json\n"))?;
        json::push_pretty(payload.root(), self.title(), &mut out)?;
        out.push(&format!("\n{fence}\n"))?;
        Ok(out.finish()?)
    }
}
