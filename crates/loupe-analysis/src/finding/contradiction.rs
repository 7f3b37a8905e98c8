//! Where the advice of the profiles that count contradicts: who advises what, and what each costs on this very answer.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::Profile;
use super::profile::Profile::{Cost, Spec};
use super::result::tokens;
use super::shape::{changed, is_emoji};
use super::tool::FORMAT_NAMES;
use super::{CheckedResult, RuleSettings};
use crate::queries::{FixedResult, Parts};
use loupe_core::json::{Doc, Node};
use loupe_core::token::Tokens;

/// One of several pieces of advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileChoice {
    pub says: &'static str,
    /// Those that count and advise it.
    pub profiles: Vec<Profile>,
    /// What the result costs so (of the argument for the format: the definition).
    pub tokens: Tokens,
}

/// A question that active profiles answer differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    pub question: &'static str,
    pub choices: Vec<ProfileChoice>,
}

/// One answer to a question.
struct Choice {
    /// As styles name it in `profiles.toml`.
    id: &'static str,
    says: &'static str,
    /// Of the profiles that always count, the one that advises it.
    always: Option<Profile>,
    /// The text that is counted for it; `None` where the choice does not arise.
    write: fn(&CheckedResult<'_>) -> Option<String>,
}

const fn choice(
    id: &'static str,
    says: &'static str,
    write: fn(&CheckedResult<'_>) -> Option<String>,
) -> Choice {
    Choice {
        id,
        says,
        always: None,
        write,
    }
}

impl Choice {
    const fn advised_by(self, profile: Profile) -> Self {
        Self {
            always: Some(profile),
            ..self
        }
    }

    fn is_advised_by(&self, profile: Profile) -> bool {
        self.always == Some(profile) || profile.advises(self.id)
    }
}

static QUESTIONS: &[(&str, &[Choice])] = &[
    (
        "What does the text hold?",
        &[
            choice("json-text", "JSON", |answer| answer.format_text("json")),
            choice("markdown-text", "Markdown", markdown),
            choice(
                "code-block-text",
                "a code block for each record",
                |answer| answer.format_text("code-block"),
            ),
        ],
    ),
    (
        "Is there structuredContent?",
        &[
            choice("data-always", "always, beside the text", |answer| {
                Some(with_data(answer, markdown(answer)?)?.sent().into_owned())
            }),
            choice("data-never", "never, the text alone", markdown),
        ],
    ),
    (
        "Which text stands beside structuredContent?",
        &[
            choice("json-beside-data", "its JSON once more", |answer| {
                let data = answer
                    .structured_data()
                    .and_then(|_| answer.format_text("structured"))?;
                Some(
                    Parts {
                        text: Some(data.clone()),
                        structured: Some(data),
                    }
                    .sent()
                    .into_owned(),
                )
            })
            .advised_by(Spec),
            choice("words-beside-data", "the same in words", |answer| {
                let data = answer
                    .structured_data()
                    .and_then(|_| answer.format_text("structured"))?;
                Some(
                    Parts {
                        text: Some(markdown(answer)?),
                        structured: Some(data),
                    }
                    .sent()
                    .into_owned(),
                )
            }),
            choice("data-alone", "none, or a sentence", |answer| {
                answer
                    .structured_data()
                    .and_then(|_| answer.format_text("structured"))
            })
            .advised_by(Cost),
        ],
    ),
    (
        "Is JSON laid out for people?",
        &[
            choice("indented", "yes, indented", |answer| {
                answer.format_text("json-pretty")
            }),
            choice("one-line", "no, compact", |answer| {
                answer.format_text("json")
            })
            .advised_by(Cost),
        ],
    ),
    (
        "Is what is empty shown?",
        &[
            choice("empty-shown", "yes, as empty or N/A", |answer| {
                answer.format_text("json")
            }),
            choice("empty-left-out", "no, it is left out", without_empty),
        ],
    ),
    (
        "How are times written?",
        &[
            choice("dates", "as dates", |answer| answer.format_text("json")),
            choice("relative-times", "as “2h ago”", relative_times),
        ],
    ),
    (
        "Are there emoji in headings and beside a status?",
        &[
            choice("emoji", "yes", |answer| answer.format_text("content")),
            choice("no-emoji", "no", |answer| {
                Some(
                    answer
                        .text
                        .chars()
                        .filter(|char| !is_emoji(*char) && *char != '\u{fe0f}')
                        .collect(),
                )
            }),
        ],
    ),
    (
        "Does an argument choose the format? (tokens of the definition)",
        &[
            choice("format-argument", "yes", |answer| definition(answer, true)),
            choice("no-format-argument", "no", |answer| {
                definition(answer, false)
            }),
        ],
    ),
];

/// IDs of all choices.
#[cfg(test)]
pub(super) fn choice_ids() -> impl Iterator<Item = &'static str> {
    QUESTIONS
        .iter()
        .flat_map(|(_, choices)| choices.iter().map(|choice| choice.id))
}

/// The questions that the active profiles answer differently, and on which this result makes a difference. None of an
/// answer that is too large to be written anew.
pub fn contradictions(answer: &CheckedResult<'_>, settings: &RuleSettings) -> Vec<Contradiction> {
    if !answer.is_success() || answer.subject.capture.wire_len() > FixedResult::MOST_BYTES {
        return Vec::new();
    }
    let asked = |(question, choices): &(&'static str, &'static [Choice])| {
        let active = |choice: &Choice| {
            settings
                .profiles
                .iter()
                .copied()
                .filter(|profile| choice.is_advised_by(*profile))
                .collect::<Vec<_>>()
        };
        let held: Vec<_> = choices
            .iter()
            .map(|choice| (choice, active(choice)))
            .filter(|(_, profiles)| !profiles.is_empty())
            .collect();
        // What the default profiles say of each other is said by their rules.
        if held.len() < 2
            || !held
                .iter()
                .flat_map(|(_, profiles)| profiles)
                .any(|profile| profile.is_style())
        {
            return None;
        }
        let choices = held.into_iter().filter_map(|(choice, profiles)| {
            Some(ProfileChoice {
                says: choice.says,
                profiles,
                tokens: tokens(&(choice.write)(answer)?),
            })
        });
        let choices: Vec<_> = choices.collect();
        let differ = choices
            .windows(2)
            .any(|pair| pair[0].tokens != pair[1].tokens);
        differ.then_some(Contradiction { question, choices })
    };
    QUESTIONS.iter().filter_map(asked).collect()
}

/// The text as it is sent, where it is no JSON; else the data as a Markdown list.
fn markdown(answer: &CheckedResult<'_>) -> Option<String> {
    let is_told = !answer.text.trim().is_empty() && answer.json_text().is_none();
    if is_told {
        Some(answer.text.to_string())
    } else {
        answer.format_text("markdown-list")
    }
}

fn with_data(answer: &CheckedResult<'_>, text: String) -> Option<Parts> {
    let data = answer
        .format_text("structured")
        .or_else(|| answer.format_text("json"))?;
    Some(Parts {
        text: Some(text),
        structured: Some(data),
    })
}

fn data(parts: Parts, answer: &CheckedResult<'_>) -> Option<String> {
    if answer.structured_data().is_some() {
        parts.structured
    } else {
        parts.text
    }
}

fn without_empty(answer: &CheckedResult<'_>) -> Option<String> {
    let parts = changed(answer, |key, value| {
        let is_empty = value.is_null()
            || value.as_str().is_some_and(str::is_empty)
            || value.as_array().is_some_and(Vec::is_empty)
            || value.as_object().is_some_and(serde_json::Map::is_empty);
        key.is_none() || !is_empty
    })?;
    data(parts, answer)
}

fn relative_times(answer: &CheckedResult<'_>) -> Option<String> {
    let now = answer.subject.capture.started_at;
    let mut is_any = false;
    let parts = changed(answer, |_, value| {
        if let Some(ago) = value.as_str().and_then(|text| ago(text, now)) {
            *value = ago.into();
            is_any = true;
        }
        true
    })?;
    data(parts, answer).filter(|_| is_any)
}

/// `3h ago`; `None` where the text is no time before this one.
fn ago(text: &str, now: OffsetDateTime) -> Option<String> {
    let since = now - OffsetDateTime::parse(text, &Rfc3339).ok()?;
    let (minutes, hours, days) = (
        since.whole_minutes(),
        since.whole_hours(),
        since.whole_days(),
    );
    match (days, hours, minutes) {
        (1.., ..) => Some(format!("{days}d ago")),
        (0, 1.., _) => Some(format!("{hours}h ago")),
        (0, 0, 0..) => Some(format!("{minutes}m ago")),
        _ => None,
    }
}

/// The tool's definition with the argument that chooses the format, or without it; `None` where it has none.
fn definition(answer: &CheckedResult<'_>, is_with: bool) -> Option<String> {
    let doc = Doc::parse(answer.subject.capture.tool.raw.clone());
    let properties = doc.at("/inputSchema/properties")?;
    let argument = properties
        .children()
        .find(|child| child.key().is_some_and(|key| FORMAT_NAMES.contains(&&*key)))?;
    let whole = doc.root()?.raw_text();
    if is_with {
        return Some(whole.into_owned());
    }
    let kept = properties
        .children()
        .filter(|child| child.index() != argument.index());
    let member = |child: Node<'_>| {
        format!(
            "{}:{}",
            String::from_utf8_lossy(child.raw_key().unwrap_or_default()),
            child.raw_text()
        )
    };
    let rest = format!("{{{}}}", kept.map(member).collect::<Vec<_>>().join(","));
    let range = properties.range();
    let part =
        |range: std::ops::Range<usize>| String::from_utf8_lossy(&doc.bytes()[range]).into_owned();
    Some(part(0..range.start) + &rest + &part(range.end..doc.bytes().len()))
}
