//! Findings: what a host, a model or the specification stumbles over in a result or a definition, and what fixes it.
//!
//! One file per area, one list ([`AREAS`]). A rule is a plain function next to its meaning, severities, source and fix; its
//! examples are in `AREA.toml`, and one test holds every rule to them. No rule changes what was received.

mod annotations;
mod areas;
pub mod baseline;
pub mod code_fix;
mod contradiction;
mod definition;
mod drift;
mod fences;
mod host;
mod markdown;
mod marks;
mod parity;
mod profile;
mod prompt;
mod protocol;
mod query;
mod resource;
mod result;
mod rounding;
mod rule;
mod schema;
mod settings;
mod shape;
mod size;
#[cfg(test)]
mod tests;
mod tool;

use std::borrow::Cow;
use std::convert::Infallible;
use std::ops::Range;
use std::sync::Arc;

use crate::queries::{FixedResult, Parts};
use loupe_core::cancel::{Cancel, Cancelled};
use loupe_core::capture::{Prompt, Resource, Server, ServerLists, Tool};
use loupe_core::digest::sha256;
use loupe_core::host::Hosts;
use loupe_core::parallel::parallel_map;
use loupe_core::token::Tokens;

pub use areas::{AREAS, Area, Example, examples, rule, rules};
pub use contradiction::{Contradiction, ProfileChoice};
pub use marks::{MarkedPlaces, MarkedText, TextMarks, TextMarksQuery};
pub use profile::Profile;
pub use query::{AnswerFindings, FindingMarks, FindingPlace, FindingsQuery};
pub use result::CheckedResult;
pub use rule::{Rule, Severity};
pub use settings::{RuleChange, RuleSettings, ToolSilence, profile, severity};
pub(crate) use tool::CheckedTool;

use rule::{Hits, RuleCheck};

/// Answers below this size are not worth further threads.
const SMALL_BYTES: usize = 64 << 10;

/// Which rules a large answer is given to first, so that no core waits: while one locates the facts another counts, and then
/// takes what asks for no facts.
fn turn(rule: &Rule) -> u8 {
    match rule.id {
        "parity/value-missing-in-text" => 0,
        "shape/repeated-keys" => 1,
        "size/host-limit" => 2,
        "parity/value-missing-in-structured" => 4,
        // It waits for the one before.
        "parity/structured-shadows-text" => 6,
        id if id == "shape/time-no-zone"
            || id.starts_with("parity/")
            || id.starts_with("markdown/") =>
        {
            5
        }
        _ => 3,
    }
}

/// The part of a result or of a definition that a place is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LocationPart {
    /// The text of the block at this position of `content`.
    Text(usize),
    Structured,
    /// Anything else of the `result`.
    Result,
    /// A tool's definition, or another entry of a list.
    Definition,
}

impl LocationPart {
    /// The name in reports.
    pub fn name(self) -> String {
        match self {
            LocationPart::Text(block) => format!("content/{block}/text"),
            LocationPart::Structured => "structuredContent".to_owned(),
            LocationPart::Result => "result".to_owned(),
            LocationPart::Definition => "definition".to_owned(),
        }
    }
}

/// Where something was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    pub part: LocationPart,
    /// JSON Pointer within the part; empty for the whole, and in texts.
    pub path: String,
    /// Bytes of the decoded text; `None` outside of texts.
    pub range: Option<Range<usize>>,
}

/// What one rule noticed. What it says of several places alike is one finding with a count.
#[derive(Clone, Debug)]
pub struct Finding {
    pub rule: &'static Rule,
    /// The most severe that an active profile gives it.
    pub severity: Severity,
    pub profiles: Vec<(Profile, Severity)>,
    /// One sentence without its full stop.
    pub message: String,
    /// The tool, resource or prompt it is about; empty where it is the server.
    pub subject: String,
    /// The first of them; `count` has all.
    pub places: Vec<Location>,
    pub count: u64,
    /// The keys that it is about, of the records of the list at its first place; empty where it is about values.
    pub keys: Vec<String>,
    /// Tokens that the fix saves here, by counting the fixed text.
    pub saves: Option<Tokens>,
    /// The result as the fix makes it, where that is known.
    pub mended: Option<Arc<FixedResult>>,
}

impl Finding {
    /// The pointer of the first place.
    pub fn path(&self) -> &str {
        self.places.first().map_or("", |place| &place.path)
    }

    /// The area of its rule, by id.
    pub fn area(&self) -> &'static str {
        self.rule.id.split('/').next().unwrap_or_default()
    }

    /// What stays the same of it from run to run: rule, subject and place, without positions in lists.
    pub(crate) fn fingerprint(&self) -> String {
        let part = self
            .places
            .first()
            .map(|place| place.part.name())
            .unwrap_or_default();
        sha256(
            format!(
                "{}\n{}\n{part}\n{}",
                self.rule.id,
                self.subject,
                result::wild(self.path())
            )
            .as_bytes(),
        )
    }
}

/// What a server lists, for rules about definitions and for those about answers that look at the other tools.
#[derive(Clone, Copy, Debug, Default)]
pub struct CheckedServer<'a> {
    pub server: Option<&'a Server>,
    pub tools: &'a [Arc<Tool>],
    /// The tools once more, as a second request had them.
    pub again: &'a [Arc<Tool>],
    pub resources: &'a [Resource],
    pub prompts: &'a [Prompt],
}

impl<'a> CheckedServer<'a> {
    pub fn new(lists: &'a ServerLists) -> Self {
        Self {
            server: lists.server.as_ref(),
            tools: &lists.tools,
            again: &lists.again,
            resources: &lists.resources,
            prompts: &lists.prompts,
        }
    }
}

/// Everything that a check looks for: the settings, and the hosts that are known.
#[derive(Clone, Copy, Debug)]
pub struct Checker<'a> {
    pub settings: &'a RuleSettings,
    pub hosts: &'a Hosts,
}

impl Checker<'_> {
    /// The findings about a result, the most severe first.
    ///
    /// # Errors
    /// [`Cancelled`] if the caller cancelled; looked at before each rule.
    pub fn answer(
        &self,
        answer: &CheckedResult<'_>,
        cancel: &Cancel,
    ) -> Result<Vec<Finding>, Cancelled> {
        let response = answer.subject.capture.response.as_ref();
        let is_small = response.is_none_or(|response| response.len() < SMALL_BYTES);
        let mut found = self.run_over(
            &answer.subject.capture.tool.name,
            is_small,
            |check, hits| {
                if let (RuleCheck::Answer(check), false) = (check, cancel.is_cancelled()) {
                    check(answer, hits);
                }
            },
        );
        chain_savings(answer, &mut found, cancel)?;
        Ok(found)
    }

    /// What the profiles that count advise against each other, with what each costs on this result.
    pub fn contradictions(&self, answer: &CheckedResult<'_>) -> Vec<Contradiction> {
        contradiction::contradictions(answer, self.settings)
    }

    /// The findings about what a server lists, the most severe first. A server may list very much.
    ///
    /// # Errors
    /// [`Cancelled`] if the caller cancelled; looked at before each rule.
    pub fn server(
        &self,
        server: &CheckedServer<'_>,
        cancel: &Cancel,
    ) -> Result<Vec<Finding>, Cancelled> {
        let mut found = self.run("", |check, hits| {
            if let (RuleCheck::Server(check), false) = (check, cancel.is_cancelled()) {
                check(server, self.hosts, hits);
            }
        });
        for tool in server.tools {
            cancel.check()?;
            let checked = CheckedTool::new(tool);
            found.extend(self.run(&tool.name, |check, hits| {
                if let (RuleCheck::Tool(check), false) = (check, cancel.is_cancelled()) {
                    check(&checked, hits);
                }
            }));
        }
        cancel.check()?;
        Ok(sort_findings(found))
    }

    /// What changed between two lists of tools, the most severe first.
    pub fn drift(&self, before: &[Tool], now: &[Arc<Tool>]) -> Vec<Finding> {
        let changes = drift::changes(before, now);
        self.run("", |check, hits| {
            if let RuleCheck::Drift(check) = check {
                check(&changes, hits);
            }
        })
    }

    /// The findings about several results of one tool.
    pub fn answers(&self, answers: &[CheckedResult<'_>]) -> Vec<Finding> {
        let Some(first) = answers.first() else {
            return Vec::new();
        };
        self.run(&first.subject.capture.tool.name, |check, hits| {
            if let RuleCheck::Answers(check) = check {
                check(answers, hits);
            }
        })
    }

    /// What a call that was made twice tells of the tool.
    pub fn repeat(&self, first: &CheckedResult<'_>, again: &CheckedResult<'_>) -> Vec<Finding> {
        self.run(&first.subject.capture.tool.name, |check, hits| {
            if let RuleCheck::Repeat(check) = check {
                check(first, again, hits);
            }
        })
    }

    /// What a call with an argument that the tool does not have tells of it.
    pub fn odd(&self, answer: &CheckedResult<'_>) -> Vec<Finding> {
        self.run(&answer.subject.capture.tool.name, |check, hits| {
            if let RuleCheck::Odd(check) = check {
                check(answer, hits);
            }
        })
    }

    fn run(&self, subject: &str, check: impl Fn(&RuleCheck, &mut Hits<'_>) + Sync) -> Vec<Finding> {
        self.run_over(subject, true, check)
    }

    /// Rules are independent of each other, and over large answers worth further threads.
    fn run_over(
        &self,
        subject: &str,
        is_small: bool,
        check: impl Fn(&RuleCheck, &mut Hits<'_>) + Sync,
    ) -> Vec<Finding> {
        let mut on: Vec<_> = rules()
            .filter(|rule| !self.settings.is_off(rule))
            .enumerate()
            .collect();
        on.sort_by_key(|(_, rule)| turn(rule));
        let Ok(mut found) = parallel_map(&on, is_small, |(at, rule)| {
            let mut hits = Hits::new(rule, self.settings);
            check(&rule.check, &mut hits);
            let found = hits
                .found
                .into_iter()
                .filter_map(|hit| self.settings.finding(rule, hit, subject));
            Ok::<_, Infallible>((*at, found.collect::<Vec<_>>()))
        });
        found.sort_by_key(|(at, _)| *at);
        sort_findings(found.into_iter().flat_map(|(_, found)| found).collect())
    }
}

/// Makes each saving what its fix saves after the fixes above it: together they save no more than one model reads. Of two
/// fixes of one part the shorter text counts, since what both would save at once was not counted.
fn chain_savings(
    answer: &CheckedResult<'_>,
    found: &mut [Finding],
    cancel: &Cancel,
) -> Result<(), Cancelled> {
    let shorter = |now: &Option<String>, fixed: &Option<String>| match (now, fixed) {
        (Some(now), Some(fixed))
            if answer.count(fixed).o200k_base >= answer.count(now).o200k_base =>
        {
            Some(now.clone())
        }
        (Some(_), Some(fixed)) => Some(fixed.clone()),
        _ => None,
    };
    let mut now = Cow::Borrowed(answer.parts());
    for finding in found {
        cancel.check()?;
        let Some(fixed) = &finding.mended else {
            continue;
        };
        let (text, structured) = (
            shorter(&now.text, &fixed.parts.text),
            shorter(&now.structured, &fixed.parts.structured),
        );
        let after = Parts { text, structured };
        // A fix that drops the one part that the fixes above it leave is none.
        if after.text.is_none() && after.structured.is_none() {
            finding.saves = None;
            continue;
        }
        finding.saves = Some(answer.saved(&now, &after)).filter(|saved| saved.o200k_base > 0);
        now = Cow::Owned(after);
    }
    cancel.check()
}

fn sort_findings(mut found: Vec<Finding>) -> Vec<Finding> {
    found.sort_by_key(|finding| finding.severity);
    found
}
