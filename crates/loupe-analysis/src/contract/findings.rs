//! Findings as others read them: members of the JSON documents.

use serde::Serialize;

use super::tokens::TokensJson;
use crate::finding::{Finding, Location, Profile, Severity};
use loupe_core::token::Tokenizer;

#[derive(Serialize)]
pub(super) struct FindingJson<'a> {
    rule: &'static str,
    severity: &'static str,
    profiles: Vec<ProfileJson>,
    message: &'a str,
    /// The tool, resource or prompt.
    subject: Option<&'a str>,
    path: &'a str,
    places: Vec<PlaceJson<'a>>,
    source: &'static str,
    confidence: &'static str,
    count: u64,
    saves: Option<SavesJson>,
    fix: &'static str,
}

#[derive(Serialize)]
struct ProfileJson {
    name: &'static str,
    severity: &'static str,
}

#[derive(Serialize)]
struct PlaceJson<'a> {
    part: String,
    path: &'a str,
    range: Option<[usize; 2]>,
}

#[derive(Serialize)]
struct SavesJson {
    tokens: TokensJson,
}

impl<'a> FindingJson<'a> {
    pub(super) fn new(finding: &'a Finding, tokenizer: &Tokenizer) -> Self {
        let profile = |(profile, severity): &(Profile, Severity)| ProfileJson {
            name: profile.name(),
            severity: severity.name(),
        };
        let place = |place: &'a Location| PlaceJson {
            part: place.part.name(),
            path: &place.path,
            range: place.range.as_ref().map(|range| [range.start, range.end]),
        };
        Self {
            rule: finding.rule.id,
            severity: finding.severity.name(),
            profiles: finding.profiles.iter().map(profile).collect(),
            message: &finding.message,
            subject: super::non_empty(&finding.subject),
            path: finding.path(),
            places: finding.places.iter().map(place).collect(),
            source: finding.rule.source,
            confidence: finding.rule.confidence(),
            count: finding.count,
            saves: finding.saves.map(|tokens| SavesJson {
                tokens: TokensJson::counted(tokens, tokenizer, tokenizer.from_tokens(tokens)),
            }),
            fix: finding.rule.fix,
        }
    }
}
