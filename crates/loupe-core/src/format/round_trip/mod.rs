//! Whether a format gives the data back: its text is read again and compared with the data, value by value.
//!
//! Each format reads its own texts ([`Format::decode`]), from the text alone.

mod compare;
mod rendered;
mod yaml11;

use bytes::Bytes;

pub(super) use compare::key_form;
pub use compare::{DifferenceKind, Differences, SHOWN, ValueChange};

use super::decode::{DecodeError, Decoded};
use super::{Format, ParsedCapture};
use crate::capture::ResultData;

/// What decoding a format gives back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Fidelity {
    /// The same value, order and spelling of numbers.
    Exact,
    /// The same value; order or the spelling of numbers changed.
    Equal,
    /// Some values differ.
    Lossy,
    /// The text cannot be read back.
    Undecodable,
}

impl Fidelity {
    /// The word people and the JSON contract use.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether no value is lost.
    pub fn is_lossless(self) -> bool {
        matches!(self, Self::Exact | Self::Equal)
    }
}

/// The proof for one text of one format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundTrip {
    pub fidelity: Fidelity,
    /// Whether every fact of the data comes back, whatever else differs: the name of the list that all are in, or a null.
    pub keeps_facts: bool,
    /// Values that differ.
    pub differences: Differences,
    /// Changes that lose nothing: order, and the spelling of numbers.
    pub changes: Differences,
    /// What another reader of the same text takes differently: YAML 1.1, or whoever sees the Markdown rendered.
    pub elsewhere: Differences,
    /// A sentence about `elsewhere`, or why the text cannot be read.
    pub note: Option<String>,
}

impl RoundTrip {
    /// In a few words: "exact", "equal", "4 values differ", "cannot be read back".
    pub fn words(&self) -> String {
        match (self.fidelity.is_lossless(), self.differences.count) {
            (true, _) => self.fidelity.name().to_owned(),
            (false, 0) => "cannot be read back".to_owned(),
            (false, 1) => "1 value differs".to_owned(),
            (false, count) => format!("{} values differ", crate::number::grouped(count)),
        }
    }

    /// In words: how many differences of which kind, and the note; `None` where there is nothing to say.
    pub fn summary(&self) -> Option<String> {
        let example = |found: &Differences| {
            let and = if found.count > 1 { "first " } else { "" };
            found
                .first
                .first()
                .map_or_else(String::new, |first| format!(" ({and}{})", first.describe()))
        };
        let counted = |found: &Differences, one: &str, more: &str| {
            let word = if found.count == 1 { one } else { more };
            (found.count > 0).then(|| format!("{} {word}{}", found.count, example(found)))
        };
        let mut parts = Vec::new();
        parts.extend(counted(&self.differences, "value differs", "values differ"));
        parts.extend(counted(
            &self.changes,
            "change of order or spelling",
            "changes of order or spelling",
        ));
        parts.extend(
            self.note
                .as_ref()
                .map(|note| format!("{note}{}", example(&self.elsewhere))),
        );
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

impl ValueChange {
    /// In words: where, what, before and after.
    pub fn describe(&self) -> String {
        let path = if self.path.is_empty() {
            "the whole"
        } else {
            &self.path
        };
        let side = |side: &Option<String>| side.clone().unwrap_or_else(|| "nothing".to_owned());
        format!(
            "{path}: {}, {} → {}",
            self.kind.name(),
            side(&self.before),
            side(&self.after)
        )
    }
}

/// Reads `bytes`, the text of `format` for this result, and compares it with the data. `None` where the question
/// does not arise: no data, or it does not be in this format.
pub fn prove(format: &dyn Format, subject: &ParsedCapture, bytes: &Bytes) -> Option<RoundTrip> {
    let Some(data) = &subject.data else {
        return None;
    };
    let text = String::from_utf8_lossy(bytes);
    let decoded = match format.id() {
        "structured" if data.is_structured() => Ok(Decoded {
            json: bytes.clone(),
            is_nameless: false,
        }),
        "content" => match in_texts(subject, data) {
            Some(decoded) => Ok(decoded),
            None => return None,
        },
        _ => format.decode(&text)?,
    };
    let found = match decoded.and_then(|decoded| compare::compare(data.root(), &decoded)) {
        Ok(found) => found,
        Err(DecodeError(why)) => {
            return Some(RoundTrip {
                fidelity: Fidelity::Undecodable,
                keeps_facts: false,
                differences: Differences::default(),
                changes: Differences::default(),
                elsewhere: Differences::default(),
                note: Some(why),
            });
        }
    };
    let verdict = match (found.values.count, found.changes.count) {
        (0, 0) => Fidelity::Exact,
        (0, _) => Fidelity::Equal,
        _ => Fidelity::Lossy,
    };
    let (elsewhere, note) = match format.id() {
        "yaml" => yaml11::retyped(data.root(), verdict),
        "markdown-table" | "markdown-list" => {
            rendered::differences(data.root(), &text, format.id())
        }
        _ => (Differences::default(), None),
    };
    Some(RoundTrip {
        fidelity: verdict,
        keeps_facts: !found.is_fact_lost,
        differences: found.values,
        changes: found.changes,
        elsewhere,
        note,
    })
}

/// The JSON that is in the text blocks, where it is what the data is, or could be: data of the same kind.
fn in_texts(subject: &ParsedCapture, data: &ResultData) -> Option<Decoded> {
    if !data.is_structured() {
        // Of data that was read from the text, the text is the source.
        return Some(Decoded {
            json: data.root().raw_bytes(),
            is_nameless: false,
        });
    }
    let found = ResultData::in_texts(&subject.response)?;
    (found.root().kind() == data.root().kind()).then(|| Decoded {
        json: found.root().raw_bytes(),
        is_nameless: false,
    })
}

#[cfg(test)]
mod tests;
