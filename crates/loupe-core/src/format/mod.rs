//! Every way of writing a result: one file per format, one list.
//!
//! A format writes into a [`Sink`], so that counting, showing and saving share one pass and nothing is built whole.
//! The definitions are those of `docs/formats.md`.

mod as_sent;
pub mod claim;
mod code_block;
mod csv;
pub mod decode;
mod growth;
mod json;
mod json_fenced;
mod json_table;
pub mod ledger;
mod markdown;
mod markdown_list;
mod markdown_table;
mod out;
pub mod round_trip;
mod rows;
mod table;
mod text_cache;
mod toon;
mod value;
mod xml;
mod yaml;

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use decode::{DecodeError, Decoded};
pub use json::{PrettyContent, compact, pretty};
pub use rows::{MAX_CELLS, cell_text};
pub use table::TableForm;
pub use text_cache::TextCache;

use crate::capture::{
    Block, BlockKind, Capture, CaptureId, FactCount, FactMatches, ParsedResponse, ResultData,
    Server, Tool, extra_text, locate_facts,
};
use crate::json::Doc;
use crate::problem::{Problem, ProblemKind};
use crate::token::{self, Tokens};

/// What a format is written from.
#[derive(Clone, Debug)]
pub struct ParsedCapture {
    pub capture: Arc<Capture>,
    pub response: ParsedResponse,
    pub data: Option<ResultData>,
    /// What was found out about texts of this result; changes no result, only how soon it comes.
    pub cache: Arc<TextCache>,
}

impl ParsedCapture {
    /// Parses the `result` of one `tools/call`, without its JSON-RPC envelope: `{"content": […]}`.
    pub fn from_result(result: &str) -> Self {
        let response = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
        let id = CaptureId("result".into());
        Self::new(Arc::new(Capture {
            tool: Tool::unlisted("tool"),
            arguments: Bytes::from_static(b"{}"),
            response: Some(Bytes::from(response)),
            ..Capture::empty(id, Server::default())
        }))
    }

    pub fn new(capture: Arc<Capture>) -> Self {
        let reading = ParsedResponse::new(&capture);
        let data = ResultData::read_as(&reading, &capture.read_text);
        Self {
            capture,
            response: reading,
            data,
            cache: Arc::default(),
        }
    }

    /// The data that formats are compared by. `None` of an error: each host's exact text is all that matters of it.
    pub fn compared_data(&self) -> Option<&ResultData> {
        self.data
            .as_ref()
            .filter(|_| self.response.is_error != Some(true))
    }

    /// About how many bytes it holds: the response, once more for the texts in it, the indices over it and over its data,
    /// and what is known of it.
    pub fn footprint(&self) -> usize {
        let reading = &self.response.doc;
        let data = self
            .data
            .as_ref()
            .filter(|data| !Arc::ptr_eq(&data.doc, reading));
        reading.weight() + reading.bytes().len() + data.map_or(0, |data| data.doc.weight())
    }

    /// The facts of the data in the text content, located once; none where one of them is not there.
    pub fn facts_in_text(&self) -> Arc<FactMatches> {
        let locate = || {
            let (Some(data), Some(text)) = (&self.data, self.response.content_text()) else {
                return Arc::default();
            };
            let matched = locate_facts(data, &text);
            self.cache.know(&text, matched.count);
            Arc::new(matched)
        };
        Arc::clone(self.cache.in_text.get_or_init(locate))
    }

    /// How many facts of the data a text tells.
    pub fn count_facts(&self, data: &ResultData, text: &str) -> FactCount {
        match self.is_own_text(data, text) {
            true => self.facts_in_text().count,
            false => self.cache.facts(data, text),
        }
    }

    /// The same with the facts themselves; those of a text that proves them all may be left out.
    pub fn match_facts(&self, data: &ResultData, text: &str) -> Arc<FactMatches> {
        match self.is_own_text(data, text) {
            true => self.facts_in_text(),
            false => Arc::new(self.cache.matches(data, text)),
        }
    }

    /// Whether a text is the text content, next to data that is not read from it.
    fn is_own_text(&self, data: &ResultData, text: &str) -> bool {
        data.is_structured() && self.response.content_text().is_some_and(|own| own == text)
    }

    /// What the result says besides its data. Computed once.
    pub fn extra(&self) -> &ExtraText {
        self.cache.extra.get_or_init(|| ExtraText::of(self))
    }

    /// Whether rendering shows something else than the texts do: they have marks of Markdown, or a block is no text. A
    /// listing, a log or JSON may hold such marks and is none.
    pub fn renders(&self) -> bool {
        *self.cache.renders.get_or_init(|| {
            let is_other = self
                .data
                .as_ref()
                .and_then(ResultData::reader)
                .is_some_and(|reader| !reader.is_markdown());
            if is_other
                && self
                    .response
                    .blocks
                    .iter()
                    .all(|block| block.kind == BlockKind::Text)
            {
                return false;
            }
            let is_json = |text: &str| {
                text.trim_start().starts_with(['{', '['])
                    && Doc::parse(text.to_owned().into()).is_json()
            };
            let has_marks = |block: &Block| {
                block
                    .text
                    .as_deref()
                    .is_none_or(|text| !is_json(text) && has_markdown(text))
            };
            self.response
                .blocks
                .iter()
                .any(|block| block.kind != BlockKind::Text || has_marks(block))
        })
    }

    /// Whether the result is its data and nothing else: no other block and no extra text.
    pub fn is_data_alone(&self) -> bool {
        self.data.is_some() && self.extra().is_empty()
    }
}

/// How far a text is looked at for marks of Markdown.
const MARKED_WITHIN: usize = 256 << 10;

/// Whether a text has marks that Markdown shows as something else: headings, emphasis, code, links, lists, tables.
fn has_markdown(text: &str) -> bool {
    use pulldown_cmark::{CodeBlockKind, Event, Tag};
    let end = text.floor_char_boundary(MARKED_WITHIN);
    pulldown_cmark::Parser::new_ext(&text[..end], MARKDOWN).any(|event| match event {
        Event::Start(tag) => !matches!(
            tag,
            Tag::Paragraph
                | Tag::CodeBlock(CodeBlockKind::Indented)
                | Tag::HtmlBlock
                | Tag::Item
                | Tag::Link {
                    link_type: pulldown_cmark::LinkType::Autolink,
                    ..
                }
        ),
        Event::Code(_) | Event::Rule | Event::TaskListMarker(_) => true,
        _ => false,
    })
}

/// What a result says besides its data: a format that is written from the data drops it.
#[derive(Clone, Debug, Default)]
pub struct ExtraText {
    /// Of the text content, in order.
    pub pieces: Vec<ExtraPiece>,
    pub bytes: u64,
    /// The sum over the pieces, each counted by itself.
    pub tokens: Tokens,
    /// Blocks that are not text.
    pub blocks: usize,
}

/// One stretch of extra text.
#[derive(Clone, Debug, PartialEq)]
pub struct ExtraPiece {
    /// Bytes of the text content: the texts with one LF between two.
    pub range: Range<usize>,
    pub tokens: Tokens,
}

impl ExtraText {
    fn of(subject: &ParsedCapture) -> Self {
        let reading = &subject.response;
        let blocks = reading
            .blocks
            .iter()
            .filter(|block| block.kind != BlockKind::Text || block.text.is_none())
            .count();
        let (Some(data), Some(text)) = (&subject.data, reading.content_text()) else {
            return Self {
                blocks,
                ..Self::default()
            };
        };
        // Text that is the data is not matched against itself.
        let facts = || subject.facts_in_text();
        let piece = |range: Range<usize>| ExtraPiece {
            tokens: token::count(&text[range.clone()]),
            range,
        };
        let pieces: Vec<ExtraPiece> = extra_text(data, reading, &text, facts)
            .into_iter()
            .map(piece)
            .collect();
        Self {
            bytes: pieces.iter().map(|piece| piece.range.len() as u64).sum(),
            tokens: pieces
                .iter()
                .fold(Tokens::default(), |sum, piece| sum.plus(piece.tokens)),
            pieces,
            blocks,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.blocks == 0
    }
}

/// Takes the bytes of a format, in pieces.
pub trait Sink {
    fn push(&mut self, bytes: &[u8]);
}

impl Sink for Vec<u8> {
    fn push(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// The exact bytes of a result in a format.
///
/// # Errors
/// Why there are none: the format does not apply to this result.
pub fn format_bytes(format: &dyn Format, subject: &ParsedCapture) -> Result<Vec<u8>, Problem> {
    let refuse = |why: String| Problem::new(ProblemKind::Usage, why).at(format.title());
    format.applies(subject).map_err(|why| refuse(why.0))?;
    let mut bytes = Vec::new();
    format
        .write(subject, &mut bytes)
        .map_err(|why| refuse(why.0))?;
    Ok(bytes)
}

/// Why a format has no text for this result.
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

/// How a format is named; see [`Format::id`] and the two next to it.
#[derive(Clone, Copy, Debug)]
pub struct FormatName {
    pub id: &'static str,
    pub title: &'static str,
    pub short_title: &'static str,
}

/// One way of writing a result.
pub trait Format: Sync {
    fn name(&self) -> FormatName;
    /// The id in the command line, JSON and files.
    fn id(&self) -> &'static str {
        self.name().id
    }
    /// The name people see, everywhere.
    fn title(&self) -> &'static str {
        self.name().title
    }
    /// The title where there is less room.
    fn short_title(&self) -> &'static str {
        self.name().short_title
    }
    /// Whether the server sent it, rather than Loupe having written it from the data.
    fn is_as_sent(&self) -> bool {
        false
    }
    /// What the text of this result is written in.
    fn syntax(&self, _subject: &ParsedCapture) -> Syntax {
        Syntax::Plain
    }
    /// The ending of a file that holds this format: `md`, `json`, `txt`.
    fn extension(&self, subject: &ParsedCapture) -> &'static str {
        match self.syntax(subject) {
            Syntax::Markdown => "md",
            Syntax::Json => "json",
            Syntax::Plain => "txt",
        }
    }
    /// Whether the format exists for this result, by default for every one with data; the reason is a sentence
    /// fragment.
    ///
    /// # Errors
    /// [`NotApplicable`] with the reason.
    fn applies(&self, subject: &ParsedCapture) -> Result<(), NotApplicable> {
        data_of(subject).map(|_| ())
    }
    /// Writes the text. Only called where [`Format::applies`] said yes.
    ///
    /// # Errors
    /// [`WriteError`] when refused.
    fn write(&self, subject: &ParsedCapture, sink: &mut dyn Sink) -> Result<(), WriteError>;
    /// Reads a text of this format back, from the text alone; `None` where the format is no way of writing data.
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

/// Why a format that is written from the data does not apply.
pub const NO_DATA: &str = "no data in this answer";

/// Why no format is compared with an error result.
pub const ERROR_RESULT: &str = "the result is an error";

/// The data that a derived format is written from.
fn data_of(subject: &ParsedCapture) -> Result<&ResultData, NotApplicable> {
    let why = if subject.data.is_some() {
        ERROR_RESULT
    } else {
        NO_DATA
    };
    subject
        .compared_data()
        .ok_or_else(|| NotApplicable(why.into()))
}

/// The format with this id.
pub fn by_id(id: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.id() == id)
}

/// The name of a format, everywhere; its id where it is none.
pub fn format_title(id: &'static str) -> &'static str {
    by_id(id).map_or(id, Format::title)
}

#[cfg(test)]
pub(crate) mod tests;
