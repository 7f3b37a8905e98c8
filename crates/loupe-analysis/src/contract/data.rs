//! Where the data of a result was found, and the extra text besides it.

use serde::Serialize;

use super::TokensJson;
use loupe_core::format::ledger::Row;
use loupe_core::format::{ExtraPiece, ParsedCapture};
use loupe_core::token::Tokens;

/// How many stretches of extra text are listed, and with each row.
const FIRST: usize = 100;
const FIRST_OF_ROW: usize = 3;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DataJson {
    from: &'static str,
    reader: Option<&'static str>,
    /// Whether `structuredContent` only repeats the text.
    wrapped: bool,
    /// The share of the texts that was read; `null` unless the data is from the text.
    read: Option<f64>,
    records: Option<usize>,
    extra_text: ExtraTextJson,
}

/// Text without counterpart in the data.
#[derive(Serialize)]
pub(super) struct ExtraTextJson {
    bytes: u64,
    tokens: TokensJson,
    first: Vec<PieceJson>,
}

impl ExtraTextJson {
    fn new(subject: &ParsedCapture, most: usize) -> Self {
        let extra = subject.extra();
        let text = subject.response.content_text().unwrap_or_default();
        let piece = |piece: &ExtraPiece| PieceJson {
            range: [piece.range.start, piece.range.end],
            text: text[piece.range.clone()].to_owned(),
        };
        Self {
            bytes: extra.bytes,
            tokens: extra.tokens.into(),
            first: extra.pieces.iter().take(most).map(piece).collect(),
        }
    }

    /// What a row drops of it: all or nothing.
    pub(super) fn of_row(row: &Row, subject: &ParsedCapture) -> Self {
        match row.omitted.filter(|omitted| omitted.bytes > 0) {
            Some(_) => Self::new(subject, FIRST_OF_ROW),
            None => Self {
                bytes: 0,
                tokens: Tokens::default().into(),
                first: Vec::new(),
            },
        }
    }
}

#[derive(Serialize)]
struct PieceJson {
    range: [usize; 2],
    text: String,
}

impl DataJson {
    pub(super) fn new(subject: &ParsedCapture) -> Self {
        let source = subject.data.as_ref().and_then(|data| data.text_source());
        Self {
            from: match (&subject.data, source) {
                (None, _) => "none",
                (Some(_), None) => "structuredContent",
                (Some(_), Some(_)) => "text",
            },
            reader: source.map(|source| source.reader.id),
            wrapped: loupe_core::capture::is_wrapped(&subject.response),
            read: source.map(|source| (source.share * 1e4).floor() / 1e4),
            records: source.map(|source| source.data.records),
            extra_text: ExtraTextJson::new(subject, FIRST),
        }
    }
}
