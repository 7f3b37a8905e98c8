//! `loupe.transcript/1`: a session against the transcript of its host.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::contract::hosts::ConfirmedJson;
use crate::contract::{VERSION, print};
use crate::queries::{Confirmed, TranscriptCall, TranscriptOutcome, TranscriptReport};

/// What was compared, and what is kept of it.
pub struct TranscriptRead<'a> {
    pub report: &'a TranscriptReport,
    /// The folder or file that was read.
    pub path: &'a str,
    /// How many transcripts had calls in the session's time.
    pub files: usize,
    pub versions: &'a BTreeSet<String>,
    /// Whether transcripts of these versions were read and compared with what the model got before.
    pub is_version_known: bool,
    pub confirmed: Option<&'a Confirmed>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TranscriptDocument<'a> {
    loupe: &'static str,
    schema: &'static str,
    host: Option<&'a str>,
    path: &'a str,
    files: usize,
    versions: &'a BTreeSet<String>,
    version_known: bool,
    same: usize,
    differs: usize,
    not_in_transcript: usize,
    rule_unknown: usize,
    calls: Vec<CallJson<'a>>,
    confirmed: Option<ConfirmedJson<'a>>,
    change: Option<ChangeJson<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallJson<'a> {
    number: usize,
    tool: &'a str,
    given_name: Option<&'a str>,
    outcome: &'static str,
    why: Option<&'a str>,
    rule: Option<&'a str>,
    given: Option<&'a str>,
    /// Where the first difference is, in bytes of `rule` and `given`.
    at: Option<[usize; 2]>,
}

#[derive(Serialize)]
struct ChangeJson<'a> {
    keys: &'a [String],
    toml: &'a str,
}

impl<'a> CallJson<'a> {
    fn new(call: &'a TranscriptCall) -> Self {
        let (mut why, mut pair) = (None, None);
        match &call.outcome {
            TranscriptOutcome::Differs(differs) => pair = Some(differs),
            TranscriptOutcome::RuleUnknown(reason) => why = Some(reason.as_str()),
            TranscriptOutcome::Same | TranscriptOutcome::NotInTranscript => {}
        }
        Self {
            number: call.number,
            tool: &call.tool,
            given_name: call.given_name.as_deref(),
            outcome: call.outcome.name(),
            why,
            rule: pair.map(|pair| pair.rule.as_str()),
            given: pair.map(|pair| pair.given.as_str()),
            at: pair.map(|pair| pair.at),
        }
    }
}

/// The document of a comparison.
pub fn transcript(read: &TranscriptRead<'_>) -> String {
    let report = read.report;
    print(&TranscriptDocument {
        loupe: VERSION,
        schema: "loupe.transcript/1",
        host: report.host.as_ref().map(|host| host.id.as_str()),
        path: read.path,
        files: read.files,
        versions: read.versions,
        version_known: read.is_version_known,
        same: report.same(),
        differs: report.differing(),
        not_in_transcript: report.missing(),
        rule_unknown: report.unknown(),
        calls: report.calls.iter().map(CallJson::new).collect(),
        confirmed: read.confirmed.map(ConfirmedJson::new),
        change: report.change.as_ref().map(|change| ChangeJson {
            keys: &change.keys,
            toml: &change.toml,
        }),
    })
}
