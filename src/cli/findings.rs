//! Findings on the terminal, and what the command line says about rules: profiles, severities, `loupe.toml`.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;

use super::output::one_line;
use crate::store;
use loupe_analysis::contract::finding_sentence;
use loupe_analysis::finding::{Finding, Location, RuleSettings, Severity, profile, severity};
use loupe_core::problem::Problem;

/// Which rules count, and from when on they say no.
#[derive(Args, Clone, Debug, Default)]
pub struct RuleArgs {
    /// Add the rules of a style: dual-content, strict, code-block, json-first or compact; repeatable
    #[arg(long, value_name = "NAME")]
    pub profile: Vec<String>,
    /// Exit 1 on findings at or above this severity: error, warning, info or cost
    #[arg(long, value_name = "SEVERITY")]
    pub fail_on: Option<String>,
}

impl RuleArgs {
    /// The settings of the nearest `loupe.toml`, with what the command line adds; and where that file stands.
    pub fn settings(&self) -> Result<(RuleSettings, Option<PathBuf>), Problem> {
        let here = std::env::current_dir().ok();
        let nearest = here
            .map(|here| store::nearest_file(&here, RuleSettings::FILE))
            .transpose()?
            .flatten();
        let (mut settings, file) = match nearest {
            Some((path, text)) => (
                RuleSettings::parse(&text, &path.display().to_string())?,
                Some(path),
            ),
            None => (RuleSettings::default(), None),
        };
        for name in &self.profile {
            settings
                .profiles
                .insert(profile(name).map_err(|problem| problem.at("--profile"))?);
        }
        if let Some(severity) = self.fail_on()? {
            settings.fail_on = severity;
        }
        Ok((settings, file))
    }

    /// What `--fail-on` says.
    pub fn fail_on(&self) -> Result<Option<Severity>, Problem> {
        self.fail_on
            .as_deref()
            .map(|name| severity(name).map_err(|problem| problem.at("--fail-on")))
            .transpose()
    }
}

/// Findings of one rule and severity, each with its file.
type Group<'a> = (
    (Severity, &'static str),
    Vec<(&'a Finding, Option<&'a str>)>,
);

/// Findings for people, the most severe first: each rule with its fix, then what it found where.
pub fn page<'a>(findings: impl Iterator<Item = (&'a Finding, Option<&'a str>)>) -> String {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for (finding, file) in findings {
        let key = (finding.severity, finding.rule.id);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.push((finding, file)),
            None => groups.push((key, vec![(finding, file)])),
        }
    }
    let mut page = String::new();
    for ((severity, rule), group) in groups {
        writeln!(page, "{} {rule}", severity.name()).ok();
        for (finding, file) in &group {
            let mut places: Vec<_> = file.map(str::to_owned).into_iter().collect();
            places.extend(finding.places.iter().take(2).filter_map(place));
            let more = if finding.places.len() > 2 {
                ", …"
            } else {
                ""
            };
            let at = if places.is_empty() {
                String::new()
            } else {
                format!(" · {}{more}", places.join(", "))
            };
            writeln!(
                page,
                "  {}{}",
                one_line(&finding_sentence(finding)),
                format!(" {}", one_line(&at)).trim_end()
            )
            .ok();
        }
        if let Some((finding, _)) = group.first() {
            writeln!(page, "  → {}\n", finding.rule.fix).ok();
        }
    }
    page
}

/// Where it is; `None` of a whole part, which says nothing.
fn place(place: &Location) -> Option<String> {
    match &place.range {
        Some(range) if !range.is_empty() => Some(format!(
            "{} {}–{}",
            place.part.name(),
            range.start,
            range.end
        )),
        _ => (!place.path.is_empty()).then(|| format!("{}{}", place.part.name(), place.path)),
    }
}
