//! What is said to the user of a probe: the rule the host follows, how sure that is, where it cuts, the entry to keep.

use std::sync::Arc;

use bytes::Bytes;

use super::entry::{copy, write};
use super::{Guess, ProbeAnswer, ProbeCut, cut, deduce, explain};
use crate::capture::{Capture, CaptureId, Outcome, Server, Tool};
use crate::format::ParsedCapture;
use crate::host::limit::grouped;
use crate::host::rules::{Applies, KeepRule, LimitRule, LimitUnit};
use crate::host::{Host, Hosts, Template};
use crate::source::{PROBE_TOOLS, ProbeKind, ProbeTool};

/// The name under which the documented steps put the probe into a host's configuration.
const SERVER: &str = "loupe-probe";

/// How far the rules found can be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// They explain less than three of four texts.
    Low,
    /// They leave something open, or few tools were tried.
    Medium,
    /// They explain every text, of at least ten tools.
    High,
}

impl Confidence {
    /// The word for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// So many tools at least tell one rule from the others.
const ENOUGH: usize = 10;

/// What the pasted texts say of a host.
#[derive(Clone, Debug)]
pub struct ProbeFinding {
    pub guess: Guess,
    /// The entry with the limit that was measured; `None` where no rule could be built.
    entry: Option<Host>,
    /// How many tools were tried.
    pub tried: usize,
    /// Those that were not.
    pub untried: Vec<&'static str>,
    /// Names of hosts that fit, in the order of [`Guess::fits`].
    pub names: Vec<String>,
    /// The known host nearest, with how many texts it gives.
    pub nearest: Option<(String, usize)>,
    /// Where the long text was cut; `None` where it was not tried or is whole.
    pub cut: Option<ProbeCut>,
    /// The Unicode scalar values of the long text.
    pub long: usize,
}

/// The response messages of the probe, by tool, in one session.
pub type Answers = Vec<(&'static str, Bytes)>;

/// Judges the texts that a host gave its model, by the session that explains most of them; where several do, by the first.
pub fn find(
    sessions: &[Answers],
    pasted: &[(&'static str, String)],
    hosts: &Hosts,
) -> ProbeFinding {
    let mut best: Option<ProbeFinding> = None;
    for answers in sessions {
        let found = find_in(answers, pasted, hosts);
        let is_better = best
            .as_ref()
            .is_none_or(|best| found.explained() > best.explained());
        if is_better {
            best = Some(found);
        }
    }
    match best {
        Some(found) => found,
        None => find_in(&Answers::new(), pasted, hosts),
    }
}

fn find_in(answers: &Answers, pasted: &[(&'static str, String)], hosts: &Hosts) -> ProbeFinding {
    let probe = |name: &str| PROBE_TOOLS.iter().find(|tool| tool.name == name);
    let mut probes = Vec::new();
    for (name, shown) in pasted {
        if let (Some((_, response)), Some(tool)) =
            (answers.iter().find(|(known, _)| known == name), probe(name))
        {
            probes.push(ProbeAnswer {
                tool: (*name).to_owned(),
                sent: sent(tool, response),
                shown: shown.clone(),
            });
        }
    }
    let is_long = |probe: &ProbeAnswer| {
        PROBE_TOOLS.iter().any(|tool| {
            tool.name == probe.tool
                && tool
                    .parts
                    .iter()
                    .any(|part| part.kind == ProbeKind::LongText)
        })
    };
    let mut guess = deduce(&probes, SERVER, hosts);
    let long = probes.iter().find(|probe| is_long(probe));
    let text = long.and_then(|probe| probe.sent.response.blocks.first()?.text.clone());
    // A text that arrives as JSON has its line ends escaped.
    let escaped = text.as_deref().map(crate::json::write::string);
    let escaped = escaped.as_deref().map(|text| text.trim_matches('"'));
    let measured = long
        .zip(text.as_deref())
        .zip(escaped)
        .and_then(|((probe, plain), escaped)| {
            let (plain, escaped) = (cut(plain, &probe.shown)?, cut(escaped, &probe.shown)?);
            Some(if escaped.head > plain.head {
                escaped
            } else {
                plain
            })
        });
    let mut entry = guess.entry.clone();
    if let Some(host) = &mut entry {
        host.limit = match (&measured, long) {
            (Some(cut), _) => vec![limit(cut)],
            (None, Some(_)) => Vec::new(),
            (None, None) => vec![unknown("the long text was not tried".into())],
        };
        guess.explained = explain(host, &probes, SERVER);
        if let (Some(cut), Some(long)) = (&measured, long)
            && !guess.explained.contains(&long.tool)
        {
            host.limit = vec![unknown(cut_words(
                cut,
                text.as_deref().map_or(0, |text| text.chars().count()),
            ))];
        }
        guess.open = probes
            .iter()
            .map(|probe| probe.tool.clone())
            .filter(|tool| !guess.explained.contains(tool))
            .collect();
    }
    let name = |id: &crate::host::HostId| {
        hosts
            .get(id.as_str())
            .map_or_else(|| id.to_string(), |host| host.name.clone())
    };
    ProbeFinding {
        names: guess.fits.iter().map(name).collect(),
        nearest: guess.nearest.as_ref().map(|(id, given)| (name(id), *given)),
        tried: probes.len(),
        untried: PROBE_TOOLS
            .iter()
            .map(|tool| tool.name)
            .filter(|name| probes.iter().all(|probe| probe.tool != *name))
            .collect(),
        cut: measured,
        long: text.as_deref().map_or(0, |text| text.chars().count()),
        entry,
        guess,
    }
}

/// A result of the probe as a subject.
fn sent(tool: &ProbeTool, response: &Bytes) -> Arc<ParsedCapture> {
    Arc::new(ParsedCapture::new(Arc::new(Capture {
        tool: Tool::unlisted(tool.name),
        arguments: Bytes::from_static(b"{}"),
        outcome: if tool.is_error {
            Outcome::ToolError
        } else {
            Outcome::Result
        },
        response: Some(response.clone()),
        ..Capture::empty(CaptureId(tool.name.into()), Server::default())
    })))
}

fn rule(max: u64, keep: KeepRule, notice: &str, certainty: &str) -> LimitRule {
    LimitRule {
        unit: LimitUnit::Chars,
        max,
        max_note: None,
        keep,
        head: None,
        tail: None,
        head_share: None,
        applies: Applies::Total,
        setting: None,
        notice: Template::from(notice.to_owned()),
        tail_notice: None,
        notice_within: false,
        as_blocks: false,
        passes: Default::default(),
        certainty: certainty.to_owned(),
    }
}

/// The limit that a cut shows. The long text is ASCII, so its characters are its UTF-16 units and its bytes.
fn limit(cut: &ProbeCut) -> LimitRule {
    let (head, tail) = (cut.head as u64, cut.tail as u64);
    let certainty = "measured by the probe; whether it counts characters, bytes or tokens cannot be seen in ASCII";
    match cut.keep {
        KeepRule::HeadTail => LimitRule {
            head: Some(head),
            tail: Some(tail),
            ..rule(head + tail, cut.keep, &cut.notice, certainty)
        },
        _ => rule(head, cut.keep, &cut.notice, certainty),
    }
}

/// A limit that is there, or may be, and whose height is not known.
fn unknown(note: String) -> LimitRule {
    LimitRule {
        max_note: Some(note),
        ..rule(0, KeepRule::Head, "", "not known")
    }
}

fn cut_words(cut: &ProbeCut, long: usize) -> String {
    let grouped = |number: usize| grouped(number as u64);
    let sent = grouped(long);
    match cut.keep {
        KeepRule::None => format!("nothing of a text of {sent} characters was left"),
        KeepRule::HeadTail => {
            format!(
                "of {sent} characters the first {} and the last {} were left",
                grouped(cut.head),
                grouped(cut.tail)
            )
        }
        _ => format!(
            "of {sent} characters the first {} were left",
            grouped(cut.head)
        ),
    }
}

impl ProbeFinding {
    /// Whether a known host gives every text, how many the nearest gives, and how many the rules that were found give.
    fn explained(&self) -> (bool, usize, usize) {
        (
            !self.names.is_empty(),
            self.nearest.as_ref().map_or(0, |(_, given)| *given),
            self.guess.explained.len(),
        )
    }

    /// How far the rules can be relied on: those of the known host that fits, else those found.
    pub fn confidence(&self) -> Confidence {
        let given = if self.names.is_empty() {
            self.guess.explained.len()
        } else {
            self.tried
        };
        // What cannot be computed says nothing.
        let judged = self.tried
            - if self.names.is_empty() {
                0
            } else {
                self.guess.unjudged
            };
        if given * 4 < self.tried * 3 || self.tried == 0 {
            Confidence::Low
        } else if given == self.tried && judged >= ENOUGH {
            Confidence::High
        } else {
            Confidence::Medium
        }
    }

    /// Which rule the host follows, in words.
    pub fn verdict(&self) -> String {
        let (all, others_left) = match (self.tried, self.guess.unjudged) {
            (1, _) => ("The text of the 1 tool tried is".to_owned(), ""),
            (tried, 0) => (format!("All {tried} texts pasted are"), ""),
            (tried, unknown) => (
                format!("{} of {tried} texts pasted are", tried - unknown),
                " Its rules cannot compute what it gives for the others.",
            ),
        };
        match self.names.as_slice() {
            [] => self.own_words(),
            [one] => format!(
                "{all} exactly what the rules of {one} give, and of no other known host.{others_left}"
            ),
            [first, others @ ..] => {
                let others = others.join(", ");
                format!(
                    "{all} exactly what the rules of {first} give. These texts cannot tell it apart from {others}.{others_left}"
                )
            }
        }
    }

    fn own_words(&self) -> String {
        let nearest = match &self.nearest {
            Some((name, given)) => format!(
                "No known host gives every text; nearest is {name}, {given} of {}.",
                self.tried
            ),
            None => "No known host gives any of these texts.".to_owned(),
        };
        let shows = self
            .entry
            .as_ref()
            .map(|host| host.shows())
            .unwrap_or_default();
        let given = self.guess.explained.len();
        if given == 0 {
            return format!(
                "{nearest} No rule was found: check that the texts are what the model was given, whole and unchanged."
            );
        }
        format!(
            "{nearest} The rules found give {given} of {}; the model is shown: {shows}.",
            self.tried
        )
    }

    /// What the long text says of a limit; `None` where it was not tried.
    pub fn limit(&self) -> Option<String> {
        if self.long == 0 {
            return None;
        }
        Some(match &self.cut {
            None => format!(
                "No cut: the whole long text of {} characters arrived.",
                grouped(self.long as u64)
            ),
            Some(cut) => {
                let words = cut_words(cut, self.long);
                let notice: String = cut.notice.split_whitespace().collect::<Vec<_>>().join(" ");
                let notice = if notice.chars().count() > 160 {
                    notice.chars().take(159).chain(['…']).collect()
                } else {
                    notice
                };
                let notice = if notice.is_empty() {
                    String::new()
                } else {
                    format!(", and this stands for the rest: {notice}")
                };
                format!("Cut: {words}{notice}")
            }
        })
    }

    /// The rules as a whole hosts file that can be read back: those of the built-in host that fits, with its limits, else
    /// those found; `None` where there are none. `today` is the day of the probe, `YYYY-MM-DD`.
    pub fn toml(&self, today: &str) -> Option<String> {
        if let Some(copy) = self.guess.fits.first().and_then(|id| copy(*id, today)) {
            return Some(copy);
        }
        let entry = self
            .entry
            .as_ref()
            .filter(|_| !self.guess.explained.is_empty())?;
        let mut notes = vec![format!(
            "It gives {} of the {} texts tried. What is passed on beside a text, such as an image, a text cannot show.",
            self.guess.explained.len(),
            self.tried
        )];
        if !self.guess.open.is_empty() {
            notes.push(format!("Not explained: {}.", self.guess.open.join(", ")));
        }
        if !self.untried.is_empty() {
            notes.push(format!("Not tried: {}.", self.untried.join(", ")));
        }
        Some(write(entry, today, &notes))
    }
}
