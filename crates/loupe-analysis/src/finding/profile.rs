//! Profiles: those that always count, and the styles of `profiles.toml` that an author may choose.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::rule::{Rule, Severity};
use super::{CheckedResult, CheckedTool};

/// A named set of rules with their severities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Profile {
    Spec,
    HostCompat,
    Cost,
    MarkdownSafety,
    /// What some authors prefer; counts where it is chosen.
    Style(Style),
}

/// Position of a style in `profiles.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Style(usize);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    profile: Vec<StyleData>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StyleData {
    name: String,
    about: String,
    applies: Applies,
    /// IDs of the choices of `contradiction` that it makes.
    advice: Vec<String>,
    /// Severity by rule ID.
    rules: HashMap<String, Severity>,
}

/// The results that a style is meant for.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Applies {
    TextAndData,
    FormatArgument,
    RecordsInText,
    JsonText,
    MarkdownAlone,
}

static STYLES: LazyLock<Vec<StyleData>> = LazyLock::new(|| {
    // The file is part of the program; a test reads it.
    toml::from_str::<File>(include_str!("profiles.toml"))
        .map(|file| file.profile)
        .unwrap_or_default()
});

impl Profile {
    /// Those that always count.
    pub const DEFAULT: [Profile; 4] = [
        Profile::Spec,
        Profile::HostCompat,
        Profile::Cost,
        Profile::MarkdownSafety,
    ];

    /// Those that always count, then the styles.
    pub fn all() -> impl Iterator<Item = Profile> {
        Self::DEFAULT.into_iter().chain(Self::styles())
    }

    /// Those that count where they are chosen.
    pub fn styles() -> impl Iterator<Item = Profile> {
        (0..STYLES.len()).map(|at| Profile::Style(Style(at)))
    }

    pub fn is_style(self) -> bool {
        matches!(self, Profile::Style(_))
    }

    pub fn name(self) -> &'static str {
        match self {
            Profile::Spec => "spec",
            Profile::HostCompat => "host-compat",
            Profile::Cost => "cost",
            Profile::MarkdownSafety => "markdown-safety",
            Profile::Style(Style(at)) => &STYLES[at].name,
        }
    }

    /// What it stands for, for people.
    pub fn about(self) -> &'static str {
        match self {
            Profile::Spec => "the MCP specification",
            Profile::HostCompat => "what known hosts make of it",
            Profile::Cost => "tokens that nobody needs",
            Profile::MarkdownSafety => "texts that break or hide things when rendered",
            Profile::Style(Style(at)) => &STYLES[at].about,
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::all().find(|profile| profile.name() == name)
    }

    /// Whether the user who looks at this result may want it.
    pub(crate) fn applies_to(self, answer: &CheckedResult<'_>) -> bool {
        let Profile::Style(Style(at)) = self else {
            return true;
        };
        let has_text = !answer.text.trim().is_empty();
        match STYLES[at].applies {
            Applies::TextAndData => has_text && answer.structured_data().is_some(),
            Applies::FormatArgument => CheckedTool::new(&answer.subject.capture.tool)
                .format_argument()
                .is_some(),
            Applies::RecordsInText => {
                let data = answer.subject.data.as_ref();
                data.and_then(|data| data.reader())
                    .is_some_and(|reader| reader.id == "key-value")
            }
            Applies::JsonText => answer.json_text().is_some(),
            Applies::MarkdownAlone => {
                has_text && answer.structured().is_none() && answer.json_text().is_none()
            }
        }
    }

    /// Whether it makes this choice of `contradiction`.
    pub(super) fn advises(self, choice: &str) -> bool {
        matches!(self, Profile::Style(Style(at)) if STYLES[at].advice.iter().any(|own| own == choice))
    }

    #[cfg(test)]
    pub(super) fn advice(self) -> &'static [String] {
        let Profile::Style(Style(at)) = self else {
            return &[];
        };
        &STYLES[at].advice
    }

    /// IDs of the rules that a style adds.
    #[cfg(test)]
    pub(super) fn rule_ids(self) -> impl Iterator<Item = &'static str> {
        let style = if let Profile::Style(Style(at)) = self {
            STYLES.get(at)
        } else {
            None
        };
        style
            .into_iter()
            .flat_map(|style| style.rules.keys().map(String::as_str))
    }
}

impl Rule {
    /// The profiles it belongs to, with its severity in each.
    pub fn levels(&self) -> impl Iterator<Item = (Profile, Severity)> {
        let of_style = |(at, style): (usize, &StyleData)| {
            style
                .rules
                .get(self.id)
                .map(|severity| (Profile::Style(Style(at)), *severity))
        };
        self.levels
            .iter()
            .copied()
            .chain(STYLES.iter().enumerate().filter_map(of_style))
    }
}
