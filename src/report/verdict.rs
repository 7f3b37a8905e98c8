//! The verdict line: what the answer costs as sent, and what it would cost in another format.

use crate::format::ledger::Row;
use crate::token::Encoding;

/// A piece of the verdict, so that the window can colour what the words say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VerdictPart {
    Plain(String),
    Number(String),
    /// A saving that loses no fact.
    Good(String),
    /// A loss, or a higher cost.
    Bad(String),
}

/// The computed sentence above the ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    pub parts: Vec<VerdictPart>,
}

impl Verdict {
    /// The sentence as plain text.
    pub fn text(&self) -> String {
        self.parts
            .iter()
            .map(|part| match part {
                VerdictPart::Plain(text) | VerdictPart::Number(text) | VerdictPart::Good(text) | VerdictPart::Bad(text) => text.as_str(),
            })
            .collect()
    }
}

/// Computes the sentence from the rows that are there; `None` until those it needs are.
pub fn verdict(_rows: &[&Row], _encoding: Encoding) -> Option<Verdict> {
    None
}
