//! What the user wants to hear of: profiles, per rule a severity, a limit or nothing, and rules that are silent for one
//! tool, each with its reason (`loupe.toml`).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use super::rule::Hit;
use super::{Finding, Profile, Rule, Severity, rule};
use loupe_core::host::HostId;
use loupe_core::problem::{Problem, ProblemKind, plain_toml};

/// What is different for one rule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RuleChange {
    pub is_off: bool,
    pub severity: Option<Severity>,
    pub limit: Option<u64>,
    /// Why; needed where something is switched off or made milder.
    pub reason: String,
}

/// Which profiles count, and what is different for single rules.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RuleSettings {
    pub profiles: BTreeSet<Profile>,
    /// By rule.
    pub changes: BTreeMap<&'static str, RuleChange>,
    /// Rules that say nothing of a tool, resource or prompt, by its name, each with the reason.
    pub silenced: BTreeMap<(&'static str, String), String>,
    /// From which severity on a check says no.
    pub fail_on: Severity,
    /// The hosts whose losses are errors, those of others being of no account; where none is named, losses of all hosts are
    /// told.
    pub hosts: Vec<HostId>,
}

impl Default for RuleSettings {
    fn default() -> Self {
        Self {
            profiles: BTreeSet::from(Profile::DEFAULT),
            changes: BTreeMap::new(),
            silenced: BTreeMap::new(),
            fail_on: Severity::Error,
            hosts: Vec::new(),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    profiles: Vec<Spanned<String>>,
    fail_on: Option<Spanned<String>>,
    #[serde(default)]
    rules: BTreeMap<Spanned<String>, Change>,
    #[serde(default)]
    silence: Vec<Silence>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Silence {
    rule: Spanned<String>,
    tool: String,
    reason: Spanned<String>,
}

/// That a rule says nothing of a tool, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolSilence {
    /// The id of the rule.
    pub rule: &'static str,
    pub tool: String,
    pub reason: String,
}

impl ToolSilence {
    /// The text of a `loupe.toml` with this at its end; what is there stays as it is. `place` names it in errors.
    ///
    /// # Errors
    /// The file could not be read before, or could not be with it: it has an inline `silence = […]`.
    pub fn added_to(&self, text: &str, place: &str) -> Result<String, Problem> {
        RuleSettings::parse(text, place)?;
        let gap = match text {
            "" => "",
            _ if text.ends_with('\n') => "\n",
            _ => "\n\n",
        };
        let [rule, tool, reason] =
            [self.rule, &self.tool, &self.reason].map(|text| toml::Value::from(text).to_string());
        let longer =
            format!("{text}{gap}[[silence]]\nrule = {rule}\ntool = {tool}\nreason = {reason}\n");
        RuleSettings::parse(&longer, place).map(|_| longer)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    #[serde(default)]
    off: bool,
    severity: Option<Spanned<String>>,
    limit: Option<u64>,
    #[serde(default)]
    reason: String,
}

impl RuleSettings {
    /// The name of the file that is looked for from the working folder upwards.
    pub const FILE: &str = "loupe.toml";

    /// Reads the file; `place` names it in errors.
    ///
    /// # Errors
    /// What is wrong, with the line.
    pub fn parse(text: &str, place: &str) -> Result<Self, Problem> {
        let wrong = |what: String, span: Option<Range<usize>>| {
            let line =
                span.map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            Problem::new(ProblemKind::Usage, what)
                .at(line.map_or_else(|| place.to_owned(), |line| format!("{place}, line {line}")))
        };
        let file: File = toml::from_str(text).map_err(|error| {
            wrong(
                format!(
                    "not valid settings of rules: {}",
                    plain_toml(error.message())
                ),
                error.span(),
            )
        })?;
        let mut settings = Self::default();
        for name in file.profiles {
            let profile = profile(name.get_ref()).map_err(|problem| problem.at(place))?;
            settings.profiles.insert(profile);
        }
        if let Some(name) = file.fail_on {
            settings.fail_on = severity(name.get_ref()).map_err(|problem| problem.at(place))?;
        }
        let known = |id: &Spanned<String>| {
            let what = || format!("there is no rule `{}`", id.get_ref());
            rule(id.get_ref())
                .ok_or_else(|| wrong(what(), Some(id.span())).hint("`mcp-loupe rules` lists them"))
        };
        for Silence { rule, tool, reason } in file.silence {
            let rule = known(&rule)?;
            if reason.get_ref().trim().is_empty() {
                let what = format!("`{}` is silent for `{tool}` without a reason", rule.id);
                return Err(wrong(what, Some(reason.span())).hint("say why: reason = \"…\""));
            }
            settings
                .silenced
                .insert((rule.id, tool), reason.into_inner());
        }
        for (id, change) in file.rules {
            let (rule, span) = (known(&id)?, Some(id.span()));
            let severity = change
                .severity
                .map(|name| severity(name.get_ref()).map_err(|problem| problem.at(place)));
            let severity = severity.transpose()?;
            if (change.off || severity.is_some()) && change.reason.trim().is_empty() {
                let what = format!("`{}` is changed without a reason", rule.id);
                return Err(wrong(what, span).hint("say why: reason = \"…\""));
            }
            if change.limit.is_some() && rule.limit.is_none() {
                return Err(wrong(format!("`{}` has no limit", rule.id), span));
            }
            let change = RuleChange {
                is_off: change.off,
                severity,
                limit: change.limit,
                reason: change.reason,
            };
            settings.changes.insert(rule.id, change);
        }
        Ok(settings)
    }

    pub(super) fn is_off(&self, rule: &Rule) -> bool {
        self.changes
            .get(rule.id)
            .is_some_and(|change| change.is_off)
            || !rule
                .levels()
                .any(|(profile, _)| self.profiles.contains(&profile))
    }

    /// The rules that say nothing of a tool, resource or prompt, each with the reason.
    pub fn silenced_for(&self, name: &str) -> impl Iterator<Item = (&'static str, &str)> {
        self.silenced
            .iter()
            .filter(move |((_, tool), _)| tool == name)
            .map(|((rule, _), reason)| (*rule, reason.as_str()))
    }

    /// The number above which a rule speaks up; 0 where it has none.
    pub fn limit(&self, rule: &Rule) -> u64 {
        let own = self.changes.get(rule.id).and_then(|change| change.limit);
        own.or(rule.limit.map(|(limit, _)| limit)).unwrap_or(0)
    }

    /// A hit weighed by the profiles that count; `None` where none of them has it.
    pub(super) fn finding(&self, rule: &'static Rule, hit: Hit, subject: &str) -> Option<Finding> {
        let change = self.changes.get(rule.id).and_then(|change| change.severity);
        let levels = rule
            .levels()
            .filter(|(profile, _)| self.profiles.contains(profile));
        let profiles: Vec<_> = levels
            .map(|(profile, severity)| (profile, change.or(hit.severity).unwrap_or(severity)))
            .collect();
        let severity = profiles.iter().map(|(_, severity)| *severity).min()?;
        let subject = hit.subject.unwrap_or_else(|| subject.to_owned());
        if !self.silenced.is_empty() && self.silenced.contains_key(&(rule.id, subject.clone())) {
            return None;
        }
        Some(Finding {
            rule,
            severity,
            profiles,
            message: hit.message,
            subject,
            places: hit.places,
            count: hit.count,
            keys: hit.keys,
            saves: hit.saves.filter(|saved| saved.o200k_base > 0),
            mended: hit.mended,
        })
    }
}

/// The profile with this name.
///
/// # Errors
/// There is none.
pub fn profile(name: &str) -> Result<Profile, Problem> {
    Profile::parse(name).ok_or_else(|| {
        let names: Vec<_> = Profile::all().map(Profile::name).collect();
        Problem::new(ProblemKind::Usage, format!("unknown profile `{name}`"))
            .hint(format!("one of {}", names.join(", ")))
    })
}

/// The severity with this name.
///
/// # Errors
/// There is none.
pub fn severity(name: &str) -> Result<Severity, Problem> {
    Severity::parse(name).ok_or_else(|| {
        Problem::new(ProblemKind::Usage, format!("unknown severity `{name}`"))
            .hint("one of error, warning, info, cost")
    })
}
