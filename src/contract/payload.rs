//! Where the data of an answer was found, and what the text says beside it.

use serde::Serialize;

use super::TokensJson;
use crate::format::ParsedCapture;

/// How many statements are listed.
const FIRST: usize = 100;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PayloadJson {
    from: &'static str,
    reader: Option<&'static str>,
    /// Whether `structuredContent` is the text once more.
    wrapped: bool,
    /// The share of the texts that was read; `null` unless the data is from the text.
    read: Option<f64>,
    records: Option<usize>,
    prose: Option<ProseJson>,
    text_only: TextOnlyJson,
}

#[derive(Serialize)]
struct ProseJson {
    bytes: u64,
    tokens: TokensJson,
}

#[derive(Serialize)]
struct TextOnlyJson {
    count: usize,
    tokens: TokensJson,
    first: Vec<StatementJson>,
}

#[derive(Serialize)]
struct StatementJson {
    range: [usize; 2],
    text: String,
}

impl PayloadJson {
    pub(super) fn of(subject: &ParsedCapture) -> Self {
        let source = subject.payload.as_ref().and_then(|payload| payload.text_source());
        let beside = subject.text_only();
        let text = subject.reading.content_text().unwrap_or_default();
        let statement = |range: &std::ops::Range<usize>| StatementJson {
            range: [range.start, range.end],
            text: text[range.clone()].to_owned(),
        };
        Self {
            from: match (&subject.payload, source) {
                (None, _) => "none",
                (Some(_), None) => "structuredContent",
                (Some(_), Some(_)) => "text",
            },
            reader: source.map(|source| source.reader.id),
            wrapped: crate::capture::is_wrapped(&subject.reading),
            read: source.map(|source| (source.share * 1e4).floor() / 1e4),
            records: source.map(|source| source.data.records),
            prose: source.map(|_| ProseJson { bytes: beside.prose.0, tokens: beside.prose.1.into() }),
            text_only: TextOnlyJson {
                count: beside.statements.len(),
                tokens: beside.tokens.into(),
                first: beside.statements.iter().take(FIRST).map(|found| statement(&found.range)).collect(),
            },
        }
    }
}
