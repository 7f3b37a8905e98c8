//! Hides what is secret in a capture before it is written, and says what and where.
//!
//! Secret is: what a session knows to be ([`SecretList`]: what was given, what a login brought, what the user answered); what
//! is under a name such as `password`; what has the shape of a known key. Two passes: the first collects
//! the values, the second hides each of them wherever it stands, so that a
//! password that is under its name in the data is hidden in the rendered text too. What is not secret keeps its
//! bytes. Nothing here is certain; the preview lists what was found, and the user looks.

mod align;
mod fill;
mod find;
mod mask;
mod secret_list;
mod secrets;
mod shapes;
mod view;
mod walk;

#[cfg(test)]
mod leak_tests;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;

pub use align::align;
pub use secret_list::SecretList;
pub use secrets::Secrets;

use crate::cancel::{Cancel, Cancelled};
use crate::capture::{Capture, CaptureId, Message, Redaction, Server};
use crate::number::number_of;
use mask::Masker;

/// What is hidden.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RedactOptions {
    /// What was given to the server.
    pub secrets: Secrets,
    /// Kinds to hide that are only offered otherwise: `email`, `home-path`.
    pub also: BTreeSet<String>,
    /// Kinds to keep on purpose.
    pub keep: BTreeSet<String>,
}

/// The kinds that are offered, and hidden only where it is asked for.
pub const OFFERED: &[&str] = &["email", "home-path"];

/// Something that looks secret, at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundSecret {
    pub redaction: Redaction,
    /// Whether it was hidden; otherwise it is only offered, or kept on purpose.
    pub is_hidden: bool,
    /// How it begins, and its length, for the user who looks: never the whole.
    pub sample: String,
}

/// A capture as it is to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct RedactedCapture {
    /// Without what was hidden, which [`crate::capture::ExtraFiles::redactions`] lists.
    pub capture: Capture,
    /// Everything found, hidden or not, in order of the parts.
    pub found: Vec<FoundSecret>,
}

impl RedactedCapture {
    /// Whether every byte is as it was sent or came.
    pub fn is_exact(&self) -> bool {
        self.capture.carried.redactions.is_empty()
    }

    /// What was hidden, in a sentence: `3 values hidden: 2 member, 1 github-token`; `None` where nothing was.
    pub fn sentence(&self) -> Option<String> {
        let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
        for found in self.found.iter().filter(|found| found.is_hidden) {
            *kinds.entry(&found.redaction.kind).or_default() += found.redaction.count;
        }
        let all: u64 = kinds.values().sum();
        let parts: Vec<String> = kinds
            .iter()
            .map(|(kind, count)| format!("{count} {kind}"))
            .collect();
        (all > 0).then(|| {
            format!(
                "{} hidden ({}); not byte for byte as received",
                number_of(all, "values"),
                parts.join(", ")
            )
        })
    }

    /// Whether what is written is what came, in a sentence.
    pub fn exactness(&self) -> String {
        match (self.sentence(), self.is_exact()) {
            (Some(sentence), _) => sentence,
            (None, true) => "byte for byte as sent and received".to_owned(),
            (None, false) => {
                "not byte for byte as received: see `redactions` in capture.json".to_owned()
            }
        }
    }
}

/// Hides what is secret in a capture.
///
/// # Errors
/// [`Cancelled`] if the caller cancelled.
pub fn redact(
    capture: &Capture,
    options: &RedactOptions,
    cancel: &Cancel,
) -> Result<RedactedCapture, Cancelled> {
    let mut masker = Masker::new(options, cancel);
    masker.collect(capture)?;
    masker.prepare()?;
    let mut written = masker.mask(capture)?;
    let found = masker.into_found();
    let hidden = found
        .iter()
        .filter(|found| found.is_hidden)
        .map(|found| found.redaction.clone());
    written.carried.redactions.extend(hidden);
    Ok(RedactedCapture {
        capture: written,
        found,
    })
}

/// The same for a JSON document that is no capture: a definition, a saved state.
///
/// # Errors
/// [`Cancelled`] where there is more than can be searched for.
pub fn redact_document(bytes: &Bytes, options: &RedactOptions) -> Result<Bytes, Cancelled> {
    Masker::new(options, &Cancel::new()).document(bytes)
}

/// The same for messages that belong to no single call: a protocol log. They are in `capture.messages`.
///
/// # Errors
/// [`Cancelled`] if the caller cancelled.
pub fn redact_messages(
    messages: Vec<Message>,
    options: &RedactOptions,
    cancel: &Cancel,
) -> Result<RedactedCapture, Cancelled> {
    let log = Capture {
        messages,
        ..Capture::empty(CaptureId("log".into()), Server::default())
    };
    redact(&log, options, cancel)
}
