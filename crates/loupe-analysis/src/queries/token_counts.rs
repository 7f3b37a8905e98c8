//! A format's tokens by the tokenizer the user names. What is always counted is in the row; for another
//! tokenizer the text is written once more.

use std::sync::Arc;

use crate::queries::HostTextQuery;
use crate::queries::query::{Ctx, Query, Stop, Weigh, format_of};
use loupe_core::cancel::Cancel;
use loupe_core::format::format_bytes;
use loupe_core::format::ledger::{INTERRUPTED, Row};
use loupe_core::format::{self, ParsedCapture};
use loupe_core::host::HostId;
use loupe_core::token::{self, Count, Tokenizer, Tokens};

/// What a row has by a tokenizer: a count, or why there is none. One text that a file does not take spoils no other row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowCount {
    /// `None` where the format does not apply, or the tokenizer's file does not take its text.
    pub count: Option<Count>,
    /// Why the file does not take it, in a sentence fragment.
    pub why: Option<String>,
}

impl RowCount {
    /// Of a row that was not reached: the caller cancelled.
    fn interrupted() -> Self {
        Self {
            count: None,
            why: Some(INTERRUPTED.to_owned()),
        }
    }
}

/// The counts of rows by a tokenizer; where the caller has cancelled meanwhile, those that were not reached say so.
pub fn count_rows(
    subject: &ParsedCapture,
    rows: &[Row],
    tokenizer: &Tokenizer,
    cancel: &Cancel,
) -> Vec<RowCount> {
    let count = |row| match cancel.is_cancelled() {
        true => RowCount::interrupted(),
        false => count_row(subject, row, tokenizer),
    };
    rows.iter().map(count).collect()
}

/// The count of a row by a tokenizer.
pub fn count_row(subject: &ParsedCapture, row: &Row, tokenizer: &Tokenizer) -> RowCount {
    let known = |count| RowCount { count, why: None };
    if !row.is_available() {
        return known(None);
    }
    if let Some(count) = tokenizer.from_tokens(row.tokens) {
        return known(Some(count));
    }
    let Some(format) = format::by_id(row.format) else {
        return known(None);
    };
    let counted = format_bytes(format, subject)
        .and_then(|bytes| tokenizer.count(&String::from_utf8_lossy(&bytes)));
    match counted {
        Ok(count) => known(Some(count)),
        Err(problem) => RowCount {
            count: None,
            why: Some(problem.what),
        },
    }
}

/// A count over the baseline's. Of two estimates the ratio is that of the counts they were made from, so that what is
/// unsure falls out of it.
pub fn ratio_of(count: Option<Count>, baseline: Option<Count>) -> Option<f64> {
    let (count, baseline) = (count?, baseline?);
    // The higher end is closer to the count it was made from; for an exact one both ends are the same.
    (baseline.high() > 0).then(|| count.high() as f64 / baseline.high() as f64)
}

/// One ledger row, by the id of its format.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RowQuery(pub &'static str);

impl Query for RowQuery {
    type Out = Arc<Row>;
    const IS_COUNT: bool = true;

    /// What the server sends, and the plain choice next to it, are counted always.
    fn is_held(&self) -> bool {
        self.0 != "json" && format::by_id(self.0).is_some_and(|format| !format.is_as_sent())
    }

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        Ok(Arc::new(Row::measure(format_of(self.0)?, cx.subject()?)))
    }
}

/// A format's tokens by a tokenizer that is not always counted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CountQuery {
    pub format: &'static str,
    pub tokenizer: Tokenizer,
}

impl Query for CountQuery {
    type Out = Count;
    const IS_COUNT: bool = true;

    /// Its row was waited for.
    fn is_held(&self) -> bool {
        false
    }

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        Ok(self.tokenizer.count(&cx.text(self.format)?)?)
    }
}

/// The tokens of what a host's model is shown, by a tokenizer that is not always counted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostCountQuery {
    pub host: HostId,
    pub tokenizer: Tokenizer,
}

impl Query for HostCountQuery {
    type Out = Count;
    const IS_COUNT: bool = true;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        let text = cx.get(&HostTextQuery(self.host))??;
        let mut sum = Count::Exact(0);
        for part in text.view.texts() {
            sum = sum.plus(self.tokenizer.count(part)?);
        }
        Ok(sum)
    }
}

/// What a part (from, to) of the text of a format costs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PartQuery {
    pub format: &'static str,
    pub from: usize,
    pub to: usize,
}

impl Query for PartQuery {
    type Out = Tokens;
    const IS_PASSING: bool = true;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        Ok(token::count(
            cx.text(self.format)?
                .get(self.from..self.to)
                .unwrap_or_default(),
        ))
    }
}

/// What a few characters cost by themselves.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CharactersQuery(pub Arc<str>);

impl Query for CharactersQuery {
    type Out = Tokens;
    const IS_PASSING: bool = true;

    fn run(&self, _cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        Ok(token::count(&self.0))
    }
}

impl Weigh for Row {}
impl Weigh for Count {}
impl Weigh for Tokens {}
