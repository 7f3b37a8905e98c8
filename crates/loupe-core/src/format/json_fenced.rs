//! `json-fenced`: a heading, then the pretty JSON in a fence, as servers like to send it.

use super::decode::{DecodeError, Decoded};
use super::out::Pieces;
use super::{Format, FormatName, ParsedCapture, Sink, Syntax, WriteError, growth, json};

#[derive(Debug)]
pub(crate) struct JsonFenced;

impl Format for JsonFenced {
    fn name(&self) -> FormatName {
        FormatName {
            id: "json-fenced",
            title: "JSON in a fence",
            short_title: "Fenced",
        }
    }
    fn syntax(&self, _subject: &ParsedCapture) -> Syntax {
        Syntax::Markdown
    }
    fn write(&self, subject: &ParsedCapture, sink: &mut dyn Sink) -> Result<(), WriteError> {
        let Some(data) = &subject.data else {
            return Ok(());
        };
        let mut out = Pieces::new(sink);
        let fence = growth::fence(data.root());
        out.push(&format!("# Result\n\n{fence}json\n"));
        json::push_pretty(data.root(), self.title(), &mut out)?;
        out.push(&format!("\n{fence}\n"));
        out.finish();
        Ok(())
    }
    fn decode(&self, text: &str) -> Option<Result<Decoded, DecodeError>> {
        Some(decode(text))
    }
}

/// What is in the fence, which ends with the line that is the same run of backticks.
fn decode(text: &str) -> Result<Decoded, DecodeError> {
    let no_fence = || DecodeError("no fence around JSON".into());
    let rest = text.strip_prefix("# Result\n\n").ok_or_else(no_fence)?;
    let (opening, rest) = rest.split_once('\n').ok_or_else(no_fence)?;
    let fence = opening
        .strip_suffix("json")
        .filter(|fence| fence.len() >= 3)
        .ok_or_else(no_fence)?;
    let inside = rest
        .strip_suffix('\n')
        .and_then(|rest| rest.strip_suffix(fence))
        .ok_or_else(no_fence)?;
    Ok(Decoded::json(inside))
}
