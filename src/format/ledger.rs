//! One row of the ledger: what a format costs and what it keeps.

use super::{Format, Sink, Subject, WriteError};
use crate::cancel::{Cancel, Cancelled};
use crate::capture::{FactCount, Origin, match_facts};
use crate::token::{Counter, Encoding, Tokens};

/// The numbers of one format; each is that of the exact bytes `--view FORMAT` prints.
#[derive(Clone, Debug, Default, PartialEq)]
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
    /// Whether the text says nothing beside the payload, so that a derived format in its place loses nothing.
    pub is_payload_alone: bool,
}

/// Counts what passes, and keeps it where facts are to be matched.
struct Measure<'a> {
    counter: Counter,
    kept: Option<Vec<u8>>,
    cancel: &'a Cancel,
}

impl Sink for Measure<'_> {
    fn push(&mut self, bytes: &[u8]) -> Result<(), Cancelled> {
        self.cancel.check()?;
        self.counter.push(bytes);
        if let Some(kept) = &mut self.kept {
            kept.extend_from_slice(bytes);
        }
        Ok(())
    }
}

impl Row {
    pub fn is_available(&self) -> bool {
        self.why.is_none()
    }

    /// Measures one format.
    ///
    /// # Errors
    /// [`Cancelled`] when the asker looked away.
    pub fn measure(format: &dyn Format, subject: &Subject, cancel: &Cancel) -> Result<Self, Cancelled> {
        let mut row = Self { format: format.id(), ..Self::default() };
        if let Err(reason) = format.applies(subject) {
            row.why = Some(reason.0);
            return Ok(row);
        }
        let mut measure = Measure { counter: Counter::new(), kept: subject.payload.as_ref().map(|_| Vec::new()), cancel };
        match format.write(subject, &mut measure) {
            Ok(()) => {}
            Err(WriteError::Cancelled(cancelled)) => return Err(cancelled),
            Err(WriteError::Refused(why)) => {
                row.why = Some(why);
                return Ok(row);
            }
        }
        let counts = measure.counter.finish();
        (row.bytes, row.chars, row.utf16, row.tokens) = (counts.bytes, counts.chars, counts.utf16, counts.tokens);
        if let (Some(payload), Some(bytes)) = (&subject.payload, measure.kept) {
            let text = String::from_utf8_lossy(&bytes);
            row.facts = Some(match_facts(payload, &text, cancel)?.count);
        }
        row.is_payload_alone = is_payload_alone(format, subject);
        Ok(row)
    }
}

fn is_payload_alone(format: &dyn Format, subject: &Subject) -> bool {
    let Some(payload) = &subject.payload else { return false };
    let is_alone_in_text = payload.origin == Origin::Text { block: 0 } && subject.reading.blocks.len() == 1;
    match format.id() {
        "content" => is_alone_in_text,
        "both" | "wire" => false,
        _ => true,
    }
}

/// Tokens of a row over those of the baseline; `None` where either is missing or the baseline is empty.
pub fn ratio(row: &Row, baseline: &Row, encoding: Encoding) -> Option<f64> {
    let under = baseline.tokens.get(encoding);
    // Token counts are far below 2^53.
    (row.is_available() && baseline.is_available() && under > 0).then(|| row.tokens.get(encoding) as f64 / under as f64)
}

/// `json`, or `content` where there is no payload.
pub fn default_baseline(rows: &[&Row]) -> &'static str {
    let has_json = rows.iter().any(|row| row.format == "json" && row.is_available());
    if has_json { "json" } else { "content" }
}
