//! One row of the ledger: what a format costs and what it keeps.

use super::{Format, Subject};
use crate::cancel::{Cancel, Cancelled};
use crate::capture::FactCount;
use crate::token::Tokens;

/// The numbers of one format; each is that of the exact bytes `--view FORMAT` prints.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub format: &'static str,
    /// Why there are no numbers; `None` where the format applies.
    pub why: Option<String>,
    pub bytes: u64,
    /// Unicode scalar values.
    pub chars: u64,
    pub utf16: u64,
    pub tokens: Tokens,
    /// Facts of the payload found in this format's text; `None` where there is no payload.
    pub facts: Option<FactCount>,
}

impl Row {
    pub fn is_available(&self) -> bool {
        self.why.is_none()
    }

    /// Measures one format.
    ///
    /// # Errors
    /// [`Cancelled`] when the asker looked away.
    pub fn measure(_format: &dyn Format, _subject: &Subject, cancel: &Cancel) -> Result<Self, Cancelled> {
        cancel.check()?;
        Err(Cancelled)
    }
}
