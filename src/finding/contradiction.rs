//! Where the advice of the profiles that count contradicts: who advises what, and what each costs on this very answer.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::answer::tokens;
use super::rule::Profile::{self, AutoreplyCompact, AutotaskDual, AutotaskStrict, Cost, DelegatorJsonFirst, DialCodeblock, Spec};
use super::schema::FORMAT_NAMES;
use super::shape::{changed, is_emoji};
use super::{CheckedAnswer, RuleSettings};
use crate::analysis::{Mended, Parts};
use crate::json::{Doc, Node};
use crate::token::Tokens;

/// One of several pieces of advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileChoice {
    pub says: &'static str,
    /// Those that count and advise it.
    pub profiles: Vec<Profile>,
    /// What the answer costs so (of the argument for the format: the definition).
    pub tokens: Tokens,
}

/// A question that active profiles answer differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    pub question: &'static str,
    pub choices: Vec<ProfileChoice>,
}

/// What is said, by whom, and the text that is counted for it; `None` where the choice does not arise.
type Advice = (&'static str, &'static [Profile], fn(&CheckedAnswer<'_>) -> Option<String>);

static QUESTIONS: &[(&str, &[Advice])] = &[
    (
        "What does the text hold?",
        &[
            ("JSON", &[AutotaskStrict, DelegatorJsonFirst], |answer| answer.written("json")),
            ("Markdown", &[AutotaskDual, AutoreplyCompact], markdown),
            ("a code block for each record", &[DialCodeblock], |answer| answer.written("code-block")),
        ],
    ),
    (
        "Is there structuredContent?",
        &[
            ("always, beside the text", &[AutotaskDual], |answer| {
                Some(with_data(answer, markdown(answer)?)?.sent().into_owned())
            }),
            ("never, the text alone", &[DialCodeblock, AutoreplyCompact], markdown),
        ],
    ),
    (
        "Which text stands beside structuredContent?",
        &[
            ("its JSON once more", &[Spec], |answer| {
                let data = answer.structured_payload().and_then(|_| answer.written("structured"))?;
                Some(Parts { text: Some(data.clone()), structured: Some(data) }.sent().into_owned())
            }),
            ("the same in words", &[AutotaskDual], |answer| {
                let data = answer.structured_payload().and_then(|_| answer.written("structured"))?;
                Some(Parts { text: Some(markdown(answer)?), structured: Some(data) }.sent().into_owned())
            }),
            ("none, or a sentence", &[Cost], |answer| answer.structured_payload().and_then(|_| answer.written("structured"))),
        ],
    ),
    (
        "Is JSON laid out for people?",
        &[
            ("yes, indented", &[AutotaskStrict], |answer| answer.written("json-pretty")),
            ("no, compact", &[Cost], |answer| answer.written("json")),
        ],
    ),
    (
        "Is what is empty shown?",
        &[
            ("yes, as empty or N/A", &[AutotaskDual, DialCodeblock], |answer| answer.written("json")),
            ("no, it is left out", &[DelegatorJsonFirst, AutoreplyCompact], without_empty),
        ],
    ),
    (
        "How are times written?",
        &[
            ("as dates", &[AutotaskStrict, DelegatorJsonFirst], |answer| answer.written("json")),
            ("as “2h ago”", &[AutotaskDual, AutoreplyCompact], relative_times),
        ],
    ),
    (
        "Are there emoji in headings and beside a status?",
        &[
            ("yes", &[AutotaskDual, AutoreplyCompact], |answer| answer.written("content")),
            ("no", &[AutotaskStrict, DelegatorJsonFirst], |answer| {
                Some(answer.text.chars().filter(|char| !is_emoji(*char) && *char != '\u{fe0f}').collect())
            }),
        ],
    ),
    (
        "Does an argument choose the format? (tokens of the definition)",
        &[
            ("yes", &[AutotaskStrict, DelegatorJsonFirst], |answer| definition(answer, true)),
            ("no", &[AutotaskDual, DialCodeblock, AutoreplyCompact], |answer| definition(answer, false)),
        ],
    ),
];

/// The questions that the active profiles answer differently, and on which this answer makes a difference. None of an
/// answer that is too large to be written anew.
pub fn contradictions(answer: &CheckedAnswer<'_>, settings: &RuleSettings) -> Vec<Contradiction> {
    if !answer.is_success() || answer.subject.capture.wire_len() > Mended::MOST_BYTES {
        return Vec::new();
    }
    let asked = |(question, advice): &(&'static str, &[Advice])| {
        let active = |profiles: &[Profile]| {
            profiles.iter().copied().filter(|profile| settings.profiles.contains(profile)).collect::<Vec<_>>()
        };
        let held: Vec<_> =
            advice.iter().map(|advice| (advice, active(advice.1))).filter(|(_, profiles)| !profiles.is_empty()).collect();
        // What the default profiles say of each other is said by their rules.
        let is_chosen = |profiles: &Vec<Profile>| profiles.iter().any(|profile| !Profile::DEFAULT.contains(profile));
        if held.len() < 2 || !held.iter().any(|(_, profiles)| is_chosen(profiles)) {
            return None;
        }
        let choices = held
            .into_iter()
            .filter_map(|((says, _, text), profiles)| Some(ProfileChoice { says, profiles, tokens: tokens(&text(answer)?) }));
        let choices: Vec<_> = choices.collect();
        let differ = choices.windows(2).any(|pair| pair[0].tokens != pair[1].tokens);
        differ.then_some(Contradiction { question, choices })
    };
    QUESTIONS.iter().filter_map(asked).collect()
}

/// The text as it is sent, where it is no JSON; else the data as a Markdown list.
fn markdown(answer: &CheckedAnswer<'_>) -> Option<String> {
    let is_told = !answer.text.trim().is_empty() && answer.json_text().is_none();
    if is_told { Some(answer.text.to_string()) } else { answer.written("markdown-list") }
}

fn with_data(answer: &CheckedAnswer<'_>, text: String) -> Option<Parts> {
    let data = answer.written("structured").or_else(|| answer.written("json"))?;
    Some(Parts { text: Some(text), structured: Some(data) })
}

fn data(parts: Parts, answer: &CheckedAnswer<'_>) -> Option<String> {
    if answer.structured_payload().is_some() { parts.structured } else { parts.text }
}

fn without_empty(answer: &CheckedAnswer<'_>) -> Option<String> {
    let parts = changed(answer, |key, value| {
        let is_empty = value.is_null()
            || value.as_str().is_some_and(str::is_empty)
            || value.as_array().is_some_and(Vec::is_empty)
            || value.as_object().is_some_and(serde_json::Map::is_empty);
        key.is_none() || !is_empty
    })?;
    data(parts, answer)
}

fn relative_times(answer: &CheckedAnswer<'_>) -> Option<String> {
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
    let (minutes, hours, days) = (since.whole_minutes(), since.whole_hours(), since.whole_days());
    match (days, hours, minutes) {
        (1.., ..) => Some(format!("{days}d ago")),
        (0, 1.., _) => Some(format!("{hours}h ago")),
        (0, 0, 0..) => Some(format!("{minutes}m ago")),
        _ => None,
    }
}

/// The tool's definition with the argument that chooses the format, or without it; `None` where it has none.
fn definition(answer: &CheckedAnswer<'_>, is_with: bool) -> Option<String> {
    let doc = Doc::parse(answer.subject.capture.tool.raw.clone());
    let properties = doc.at("/inputSchema/properties")?;
    let argument = properties.children().find(|child| child.key().is_some_and(|key| FORMAT_NAMES.contains(&&*key)))?;
    let whole = doc.root()?.raw_text();
    if is_with {
        return Some(whole.into_owned());
    }
    let kept = properties.children().filter(|child| child.index() != argument.index());
    let member =
        |child: Node<'_>| format!("{}:{}", String::from_utf8_lossy(child.raw_key().unwrap_or_default()), child.raw_text());
    let rest = format!("{{{}}}", kept.map(member).collect::<Vec<_>>().join(","));
    let range = properties.range();
    let part = |range: std::ops::Range<usize>| String::from_utf8_lossy(&doc.bytes()[range]).into_owned();
    Some(part(0..range.start) + &rest + &part(range.end..doc.bytes().len()))
}
