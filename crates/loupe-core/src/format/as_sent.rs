//! The four formats that the server itself wrote: never re-serialised.

use super::out::Pieces;
use super::{Format, FormatName, NotApplicable, ParsedCapture, Sink, Syntax, WriteError};
use crate::capture::ResultData;

const NO_TEXT: &str = "no text block in this answer";
const NO_STRUCTURED: &str = "no structuredContent in this answer";

fn need(has: bool, why: &str) -> Result<(), NotApplicable> {
    if has {
        Ok(())
    } else {
        Err(NotApplicable(why.to_owned()))
    }
}

fn has_text(subject: &ParsedCapture) -> bool {
    subject.response.text_blocks().next().is_some()
}

fn push_texts(subject: &ParsedCapture, out: &mut Pieces<'_>) {
    for (position, block) in subject.response.text_blocks().enumerate() {
        if position > 0 {
            out.push("\n");
        }
        out.push(block.text.as_deref().unwrap_or_default());
    }
}

fn push_structured(subject: &ParsedCapture, out: &mut Pieces<'_>) {
    if let Some(node) = subject.response.structured() {
        out.push_bytes(node.raw());
    }
}

/// The texts of all text blocks in order, one LF between two.
#[derive(Debug)]
pub struct Content;

impl Format for Content {
    fn name(&self) -> FormatName {
        FormatName {
            id: "content",
            title: "Text",
            short_title: "Text",
        }
    }
    fn is_as_sent(&self) -> bool {
        true
    }
    fn syntax(&self, subject: &ParsedCapture) -> Syntax {
        // JSON that was cut short is still read as JSON by people.
        let is_json = subject
            .data
            .as_ref()
            .and_then(ResultData::reader)
            .is_some_and(|reader| reader.id == "json");
        let first = subject
            .response
            .text_blocks()
            .next()
            .and_then(|block| block.text.as_deref())
            .unwrap_or_default();
        let is_alone = subject.response.text_blocks().nth(1).is_none();
        if is_alone && (is_json || first.trim_start().starts_with('{')) {
            Syntax::Json
        } else {
            Syntax::Markdown
        }
    }
    fn applies(&self, subject: &ParsedCapture) -> Result<(), NotApplicable> {
        need(has_text(subject), NO_TEXT)
    }
    fn write(&self, subject: &ParsedCapture, sink: &mut dyn Sink) -> Result<(), WriteError> {
        let mut out = Pieces::new(sink);
        push_texts(subject, &mut out);
        out.finish();
        Ok(())
    }
}

/// The `structuredContent` value exactly as it arrived.
#[derive(Debug)]
pub struct Structured;

impl Format for Structured {
    fn name(&self) -> FormatName {
        FormatName {
            id: "structured",
            title: "structuredContent",
            short_title: "structured",
        }
    }
    fn is_as_sent(&self) -> bool {
        true
    }
    fn syntax(&self, _subject: &ParsedCapture) -> Syntax {
        Syntax::Json
    }
    fn applies(&self, subject: &ParsedCapture) -> Result<(), NotApplicable> {
        need(subject.response.structured().is_some(), NO_STRUCTURED)
    }
    fn write(&self, subject: &ParsedCapture, sink: &mut dyn Sink) -> Result<(), WriteError> {
        let mut out = Pieces::new(sink);
        push_structured(subject, &mut out);
        out.finish();
        Ok(())
    }
}

/// `content`, LF, `structured`.
#[derive(Debug)]
pub struct Both;

impl Format for Both {
    fn name(&self) -> FormatName {
        FormatName {
            id: "both",
            title: "Both",
            short_title: "Both",
        }
    }
    fn is_as_sent(&self) -> bool {
        true
    }
    fn applies(&self, subject: &ParsedCapture) -> Result<(), NotApplicable> {
        need(has_text(subject), NO_TEXT)?;
        need(subject.response.structured().is_some(), NO_STRUCTURED)
    }
    fn write(&self, subject: &ParsedCapture, sink: &mut dyn Sink) -> Result<(), WriteError> {
        let mut out = Pieces::new(sink);
        push_texts(subject, &mut out);
        out.push("\n");
        push_structured(subject, &mut out);
        out.finish();
        Ok(())
    }
}

/// The whole response message exactly as it arrived.
#[derive(Debug)]
pub struct Wire;

impl Format for Wire {
    fn name(&self) -> FormatName {
        FormatName {
            id: "wire",
            title: "On the wire",
            short_title: "Wire",
        }
    }
    fn is_as_sent(&self) -> bool {
        true
    }
    fn syntax(&self, _subject: &ParsedCapture) -> Syntax {
        Syntax::Json
    }
    fn applies(&self, subject: &ParsedCapture) -> Result<(), NotApplicable> {
        need(subject.capture.response.is_some(), "no response came")?;
        need(subject.capture.has_wire(), crate::capture::Capture::NO_WIRE)
    }
    fn write(&self, subject: &ParsedCapture, sink: &mut dyn Sink) -> Result<(), WriteError> {
        let mut out = Pieces::new(sink);
        if let Some(response) = &subject.capture.response {
            out.push_bytes(response);
        }
        out.finish();
        Ok(())
    }
}
