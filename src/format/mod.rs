//! Every way of writing an answer: one file per format, one list.
//!
//! A format writes into a [`Sink`], so that counting, showing and saving share one pass and nothing is built whole.
//! The definitions are those of `docs/formats.md`.

mod as_sent;
mod code_block;
mod csv;
mod growth;
mod json;
mod json_fenced;
mod json_table;
mod known;
pub mod ledger;
mod markdown;
mod markdown_list;
mod markdown_table;
mod out;
pub mod round_trip;
mod rows;
mod toon;
mod value;
mod xml;
mod yaml;

pub use known::TextMemo;
use round_trip::{DecodeError, Decoded};

use crate::capture::{Block, BlockKind, Capture, Origin, Payload, Reading};

/// What a format is written from.
#[derive(Clone, Debug)]
pub struct Subject {
    pub capture: std::sync::Arc<Capture>,
    pub reading: Reading,
    pub payload: Option<Payload>,
    /// What was found out about texts of this answer; changes no answer, only how soon it comes.
    pub known: std::sync::Arc<TextMemo>,
}

impl Subject {
    pub fn of(capture: std::sync::Arc<Capture>) -> Self {
        let reading = Reading::of(&capture);
        let payload = Payload::of(&reading);
        Self { capture, reading, payload, known: std::sync::Arc::default() }
    }

    /// Whether the answer is its data and nothing else: no other block, and no text that is not the data as JSON. Where it
    /// is false, what is written from the data may leave out what a text says.
    pub fn is_data_alone(&self) -> bool {
        let Some(payload) = &self.payload else { return false };
        *self.known.is_data_alone.get_or_init(|| {
            self.reading.blocks.iter().all(|block| block.kind == BlockKind::Text && block.text.is_some())
                && is_all_said(payload, &self.reading)
        })
    }
}

/// Whether the texts say nothing but this data.
fn is_all_said(payload: &Payload, reading: &Reading) -> bool {
    let is_blank = |block: &&Block| block.text.as_deref().is_none_or(|text| text.trim().is_empty());
    let texts = reading.text_blocks().filter(|block| !is_blank(block)).count();
    match &payload.origin {
        Origin::Text { .. } => texts == 1,
        Origin::Texts { blocks } => texts == blocks.len(),
        Origin::Fence { .. } | Origin::Fences { .. } => false,
        Origin::Structured => {
            let same = |text: Payload| is_all_said(&text, reading) && json::compact(text.root()) == json::compact(payload.root());
            texts == 0 || Payload::in_texts(reading).is_some_and(same)
        }
    }
}

/// Takes the bytes of a format, in pieces.
pub trait Sink {
    fn push(&mut self, bytes: &[u8]);
}

/// Why a format has no text for this answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotApplicable(pub String);

/// Why a text was refused while it was written: by us, or by the crate that writes this format; for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WriteError(pub String);

/// The Markdown that people see rendered: CommonMark with the tables, task lists and struck text of GFM.
pub const MARKDOWN: pulldown_cmark::Options = pulldown_cmark::Options::ENABLE_TABLES
    .union(pulldown_cmark::Options::ENABLE_TASKLISTS)
    .union(pulldown_cmark::Options::ENABLE_STRIKETHROUGH);

/// What a text is written in, for colouring it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Syntax {
    #[default]
    Plain,
    Markdown,
    Json,
}

/// One way of writing an answer.
pub trait Format: Sync {
    /// The id in the command line, JSON and files.
    fn id(&self) -> &'static str;
    /// The name people see, everywhere.
    fn title(&self) -> &'static str;
    /// Whether the server sent it, rather than Loupe having written it from the payload.
    fn is_as_sent(&self) -> bool {
        false
    }
    /// What the text of this answer is written in.
    fn syntax(&self, _subject: &Subject) -> Syntax {
        Syntax::Plain
    }
    /// Whether the format exists for this answer; the reason is a sentence fragment.
    ///
    /// # Errors
    /// [`NotApplicable`] with the reason.
    fn applies(&self, subject: &Subject) -> Result<(), NotApplicable>;
    /// Writes the text. Only called where [`Format::applies`] said yes.
    ///
    /// # Errors
    /// [`WriteError`] when refused.
    fn write(&self, subject: &Subject, sink: &mut dyn Sink) -> Result<(), WriteError>;
    /// Reads a text of this format back, from the text alone; `None` where the format is no way of writing a payload.
    fn decode(&self, _text: &str) -> Option<Result<Decoded, DecodeError>> {
        None
    }
}

/// Every format, in display order.
pub static FORMATS: &[&dyn Format] = &[
    &as_sent::Content,
    &as_sent::Structured,
    &as_sent::Both,
    &as_sent::Wire,
    &json::Compact,
    &json::Pretty,
    &json_fenced::JsonFenced,
    &json_table::JsonTable,
    &yaml::Yaml,
    &toon::Toon,
    &csv::Csv,
    &markdown_table::MarkdownTable,
    &markdown_list::MarkdownList,
    &code_block::CodeBlock,
    &xml::Xml,
];

/// The payload that a derived format is written from.
fn payload_of(subject: &Subject) -> Result<&Payload, NotApplicable> {
    subject.payload.as_ref().ok_or_else(|| NotApplicable("no payload in this answer".into()))
}

/// The format with this id.
pub fn by_id(id: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.id() == id)
}

#[cfg(test)]
pub(crate) mod tests;
