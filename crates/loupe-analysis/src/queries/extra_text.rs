//! The extra text of a result, as a list.

use std::ops::Range;
use std::sync::Arc;

use crate::queries::query::{Ctx, Query, Stop, Weigh};
use loupe_core::format::ExtraPiece;
use loupe_core::token::Tokens;

/// More are not listed one by one.
const LISTED: usize = 1_000;

/// One stretch of extra text.
#[derive(Clone, Debug, PartialEq)]
pub struct ExtraTextRow {
    /// Bytes of the text content.
    pub range: Range<usize>,
    pub text: Box<str>,
    /// From 1.
    pub line: u32,
    pub tokens: Tokens,
}

/// The extra text, in its order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExtraTextList {
    pub rows: Vec<ExtraTextRow>,
    /// How many there are beyond `rows`.
    pub more: usize,
    pub tokens: Tokens,
}

/// The extra text of a result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ExtraTextQuery;

impl Query for ExtraTextQuery {
    type Out = Arc<ExtraTextList>;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        let subject = cx.subject()?;
        let text = subject.response.content_text().unwrap_or_default();
        let extra = subject.extra();
        let (mut line, mut at) = (1, 0);
        let row = |piece: &ExtraPiece| {
            let range = piece.range.clone();
            if let Some(between) = text.get(at..range.start) {
                line += between.matches('\n').count() as u32;
                at = range.start;
            }
            ExtraTextRow {
                text: text[range.clone()].into(),
                range,
                line,
                tokens: piece.tokens,
            }
        };
        let rows: Vec<_> = extra.pieces.iter().take(LISTED).map(row).collect();
        Ok(Arc::new(ExtraTextList {
            more: extra.pieces.len() - rows.len(),
            rows,
            tokens: extra.tokens,
        }))
    }
}

impl Weigh for ExtraTextList {
    fn weight(&self) -> usize {
        self.rows
            .iter()
            .map(|row| row.text.len() + size_of::<ExtraTextRow>())
            .sum()
    }
}
