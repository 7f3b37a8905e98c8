//! What the text says that the data does not hold, as a list.

use std::ops::Range;
use std::sync::Arc;

use crate::analysis::query::{Ctx, Query, Stop, Weigh};
use crate::capture::StatementKind;
use crate::token::{self, Tokens};

/// More are not listed one by one.
const LISTED: usize = 1_000;

/// One thing that the text alone says.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementRow {
    pub kind: StatementKind,
    /// Bytes of the text content.
    pub range: Range<usize>,
    pub text: Box<str>,
    /// From 1.
    pub line: u32,
    /// By themselves.
    pub tokens: Tokens,
}

/// What the text alone says, in its order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statements {
    pub rows: Vec<StatementRow>,
    /// How many there are beyond `rows`.
    pub more: usize,
    /// Of the pieces of the text that they stand in.
    pub tokens: Tokens,
}

/// The statements of the text that the data lacks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StatementsQuery;

impl Query for StatementsQuery {
    type Out = Arc<Statements>;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        let subject = cx.subject()?;
        let text = subject.reading.content_text().unwrap_or_default();
        let only = subject.text_only();
        let (mut line, mut at) = (1, 0);
        let row = |statement: &crate::capture::Statement| {
            let range = statement.range.clone();
            if let Some(between) = text.get(at..range.start) {
                line += between.matches('\n').count() as u32;
                at = range.start;
            }
            let text = &text[range.clone()];
            StatementRow { kind: statement.kind, range, text: text.into(), line, tokens: token::count(text) }
        };
        let rows: Vec<_> = only.statements.iter().take(LISTED).map(row).collect();
        Ok(Arc::new(Statements { more: only.statements.len() - rows.len(), rows, tokens: only.tokens }))
    }
}

impl Weigh for Statements {
    fn weight(&self) -> usize {
        self.rows.iter().map(|row| row.text.len() + size_of::<StatementRow>()).sum()
    }
}
