//! What a rule is, and what it notes.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use regex::{Captures, Match, Regex};
use serde::Deserialize;

use super::tool::ToolChange;
use super::{
    CheckedResult, CheckedServer, CheckedTool, Location, LocationPart, Profile, RuleSettings, rule,
};
use crate::queries::{FixedResult, Parts};
use loupe_core::host::{HostId, Hosts};
use loupe_core::token::Tokens;

/// How grave a finding is, the most severe first.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Deserialize,
    strum::IntoStaticStr,
    strum::EnumString,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "kebab-case")]
pub enum Severity {
    /// Breaks a MUST or loses data.
    Error,
    Warning,
    Info,
    /// Costs tokens that nobody needs.
    Cost,
}

impl Severity {
    pub const ALL: [Severity; 4] = [
        Severity::Error,
        Severity::Warning,
        Severity::Info,
        Severity::Cost,
    ];

    pub fn name(self) -> &'static str {
        self.into()
    }

    pub fn parse(name: &str) -> Option<Self> {
        name.parse().ok()
    }
}

/// What a rule looks at.
pub(crate) enum RuleCheck {
    Answer(fn(&CheckedResult<'_>, &mut Hits<'_>)),
    Tool(fn(&CheckedTool<'_>, &mut Hits<'_>)),
    Server(fn(&CheckedServer<'_>, &Hosts, &mut Hits<'_>)),
    Drift(fn(&[ToolChange], &mut Hits<'_>)),
    /// Several results of one tool.
    Answers(fn(&[CheckedResult<'_>], &mut Hits<'_>)),
    /// The answers to a call and to the same call once more.
    Repeat(fn(&CheckedResult<'_>, &CheckedResult<'_>, &mut Hits<'_>)),
    /// The answer to a call with an argument that the tool does not have.
    Odd(fn(&CheckedResult<'_>, &mut Hits<'_>)),
}

/// One thing to look for.
pub struct Rule {
    /// `area/name`.
    pub id: &'static str,
    /// What it notices and why that matters.
    pub explanation: &'static str,
    pub fix: &'static str,
    /// Who says so, or who trips over it and where that was reported.
    pub source: &'static str,
    /// Of the profiles that always count those it belongs to, with its severity in each.
    pub(super) levels: &'static [(Profile, Severity)],
    /// Whether it may be wrong.
    pub is_heuristic: bool,
    /// A number above which it speaks up, and its unit.
    pub limit: Option<(u64, &'static str)>,
    pub(super) check: RuleCheck,
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.id)
    }
}

impl Rule {
    pub(super) const fn new(
        id: &'static str,
        levels: &'static [(Profile, Severity)],
        check: RuleCheck,
    ) -> Self {
        Self {
            id,
            explanation: "",
            fix: "",
            source: "",
            levels,
            is_heuristic: false,
            limit: None,
            check,
        }
    }

    pub(super) const fn explanation(self, means: &'static str) -> Self {
        Self {
            explanation: means,
            ..self
        }
    }

    pub(super) const fn fix(self, fix: &'static str) -> Self {
        Self { fix, ..self }
    }

    pub(super) const fn source(self, source: &'static str) -> Self {
        Self { source, ..self }
    }

    pub(super) const fn heuristic(self) -> Self {
        Self {
            is_heuristic: true,
            ..self
        }
    }

    pub(super) const fn limit(self, limit: u64, unit: &'static str) -> Self {
        Self {
            limit: Some((limit, unit)),
            ..self
        }
    }

    /// `certain` or `heuristic`.
    pub fn confidence(&self) -> &'static str {
        if self.is_heuristic {
            "heuristic"
        } else {
            "certain"
        }
    }
}

/// Something a rule noticed, before profiles weigh it.
#[derive(Clone, Debug)]
pub(crate) struct Hit {
    pub message: String,
    pub places: Vec<Location>,
    pub count: u64,
    /// The keys that are meant of the records of the list at its first place.
    pub keys: Vec<String>,
    pub saves: Option<Tokens>,
    pub mended: Option<Arc<FixedResult>>,
    /// In place of what the profiles say.
    pub severity: Option<Severity>,
    /// In place of the tool at hand.
    pub subject: Option<String>,
}

/// More places of one finding are counted alone.
pub(super) const PLACES: usize = 20;
/// More findings of one rule are counted together.
const DIFFERENT: usize = 500;

/// What a rule noticed so far: equal messages are one.
pub struct Hits<'a> {
    /// The rule's limit, or 0.
    pub limit: u64,
    settings: &'a RuleSettings,
    pub(super) found: Vec<Hit>,
    /// By subject and message.
    known: HashMap<(String, String), usize>,
}

impl<'a> Hits<'a> {
    pub(super) fn new(rule: &Rule, settings: &'a RuleSettings) -> Self {
        Self {
            limit: settings.limit(rule),
            settings,
            found: Vec::new(),
            known: HashMap::new(),
        }
    }

    /// The limit of another rule, to which this one leaves what is beyond it.
    pub(crate) fn limit_of(&self, id: &str) -> u64 {
        rule(id).map_or(0, |rule| self.settings.limit(rule))
    }

    /// The hosts whose losses are errors; none where those of all hosts are told.
    pub(super) fn named_hosts(&self) -> &'a [HostId] {
        &self.settings.hosts
    }

    /// Notes a message about what is at hand, at no place yet.
    pub fn report(&mut self, message: impl Into<String>) -> &mut Hit {
        self.report_for("", message)
    }

    /// The same about something by its name.
    pub(crate) fn report_for(&mut self, subject: &str, message: impl Into<String>) -> &mut Hit {
        let mut key = (subject.to_owned(), message.into());
        if self.found.len() >= DIFFERENT && !self.known.contains_key(&key) {
            key.1 = "and more of the same kind".to_owned();
        }
        let at = match self.known.get(&key) {
            Some(&at) => {
                self.found[at].count += 1;
                at
            }
            None => {
                let subject = Some(key.0.clone()).filter(|subject| !subject.is_empty());
                let message = key.1.clone();
                self.known.insert(key, self.found.len());
                self.found.push(Hit {
                    message,
                    subject,
                    places: Vec::new(),
                    count: 1,
                    keys: Vec::new(),
                    saves: None,
                    mended: None,
                    severity: None,
                });
                self.found.len() - 1
            }
        };
        &mut self.found[at]
    }
}

impl Hit {
    /// Adds a place.
    pub fn at(&mut self, place: Location) -> &mut Self {
        if self.places.len() < PLACES {
            self.places.push(place);
        }
        self
    }

    /// Adds a place by its pointer.
    pub(crate) fn at_path(&mut self, part: LocationPart, path: impl Into<String>) -> &mut Self {
        self.at(Location {
            part,
            path: path.into(),
            range: None,
        })
    }

    /// A place in a tool's definition.
    pub(crate) fn in_definition(&mut self, path: impl Into<String>) -> &mut Self {
        self.at_path(LocationPart::Definition, path)
    }

    /// These keys of the records of the list at its place are meant.
    pub fn of_keys(&mut self, keys: Vec<String>) -> &mut Self {
        self.keys = keys;
        self
    }

    pub fn saves(&mut self, tokens: Tokens) -> &mut Self {
        self.saves = Some(tokens);
        self
    }

    /// The result as the fix makes it, and the tokens that one model reads less of it.
    pub(crate) fn set_fix(&mut self, answer: &CheckedResult<'_>, parts: Parts) -> &mut Self {
        self.saves = Some(answer.saved(answer.parts(), &parts));
        let is_small = parts
            .pieces()
            .iter()
            .map(|piece| piece.len())
            .sum::<usize>()
            <= FixedResult::MOST_BYTES;
        self.mended = is_small.then(|| Arc::new(FixedResult::new(answer.subject, parts)));
        self
    }

    pub(crate) fn as_severity(&mut self, severity: Severity) -> &mut Self {
        self.severity = Some(severity);
        self
    }
}

/// A pattern, compiled when it is first needed. The ends of words in those that are looked for in whole answers are of
/// ASCII, `(?-u:\b)`: those of Unicode take many times as long in a text that has other letters.
pub(crate) struct RulePattern {
    text: &'static str,
    regex: OnceLock<Option<Regex>>,
}

impl RulePattern {
    pub const fn new(text: &'static str) -> Self {
        Self {
            text,
            regex: OnceLock::new(),
        }
    }

    fn regex(&self) -> Option<&Regex> {
        let compiled = self.regex.get_or_init(|| Regex::new(self.text).ok());
        compiled.as_ref()
    }

    pub fn is_match(&self, text: &str) -> bool {
        self.find(text).is_some()
    }

    pub fn find<'t>(&self, text: &'t str) -> Option<Match<'t>> {
        self.regex()?.find(text)
    }

    pub fn find_iter<'t>(&self, text: &'t str) -> impl Iterator<Item = Match<'t>> {
        self.regex()
            .into_iter()
            .flat_map(|regex| regex.find_iter(text))
    }

    pub fn captures<'t>(&self, text: &'t str) -> Option<Captures<'t>> {
        self.regex()?.captures(text)
    }

    pub fn captures_iter<'t>(&self, text: &'t str) -> impl Iterator<Item = Captures<'t>> {
        self.regex()
            .into_iter()
            .flat_map(|regex| regex.captures_iter(text))
    }
}
