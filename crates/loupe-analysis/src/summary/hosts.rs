//! What is said of the hosts of a result: the headline over all of them, and what happens in each. The window, the command
//! line and what is copied say it in the same words.

use crate::queries::{HostLane, HostOutcome, HostRow, HostsReport, MediaOutcome, OtherLosses};
use crate::summary::{Summary, SummaryPart};
use loupe_core::capture::FactCount;
use loupe_core::host::rules::{KeepRule, LimitRule};
use loupe_core::host::{LimitState, OmittedPart};
use loupe_core::number::{grouped, number_of};
use loupe_core::token::{Encoding, Tokens};

/// The hosts of a result in one sentence, and why that is so in another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostsHeadline {
    /// The worst there is.
    pub outcome: HostOutcome,
    /// Without a full stop.
    pub text: String,
    pub why: String,
}

/// "They read" where all do as this one does, else how many of them, or which one.
fn who(count: usize, alike: usize, name: &str) -> String {
    match alike {
        1 => format!("{name} reads"),
        _ if alike == count => "They read".to_owned(),
        _ => format!("{} of them, such as {name}, read", grouped(alike as u64)),
    }
}

fn of_facts(row: &HostRow) -> String {
    let (shown, total) = row.shown();
    let unit = if row.has_facts() {
        "facts"
    } else {
        "bytes of the text"
    };
    format!("{} of {} {unit}", grouped(shown), grouped(total))
}

impl OtherLosses {
    /// "1 thing the text says", "2 blocks".
    pub fn text(self) -> String {
        let statements = (self.extra != Tokens::default())
            .then(|| format!("{} tok of extra text", grouped(self.extra.o200k_base)));
        let blocks = (self.blocks > 0).then(|| number_of(self.blocks, "blocks"));
        statements
            .into_iter()
            .chain(blocks)
            .collect::<Vec<_>>()
            .join(" and ")
    }
}

impl HostOutcome {
    /// "17 show nothing", "1 cuts it".
    pub fn count_hosts(self, hosts: usize) -> String {
        let (one, many) = match self {
            Self::Nothing => ("shows nothing", "show nothing"),
            Self::Cut => ("cuts it", "cut it"),
            Self::Facts => ("loses facts", "lose facts"),
            Self::Part => ("drops a part", "drop a part"),
            Self::All => ("shows all", "show all"),
            Self::Unknown => ("not known", "not known"),
        };
        format!(
            "{} {}",
            grouped(hosts as u64),
            if hosts == 1 { one } else { many }
        )
    }
}

impl HostRow {
    pub fn has_facts(&self) -> bool {
        self.facts.is_some_and(|facts| facts.total > 0)
    }

    /// "88 of 2,440", of facts or of bytes; "not known" where no text can be computed.
    pub fn shown_text(&self) -> String {
        let (shown, total) = self.shown();
        match (self.outcome, self.has_facts()) {
            (HostOutcome::Unknown, _) => "not known".to_owned(),
            (_, true) => format!("{} of {}", grouped(shown), grouped(total)),
            (_, false) => format!("{} of {} B", grouped(shown), grouped(total)),
        }
    }

    /// How much of a result its model is shown, in a few words: "all facts", "88 of 2,440 facts", "reads the text alone".
    pub fn sees(&self) -> String {
        match (self.outcome, self.has_facts()) {
            (HostOutcome::Unknown, _) => "not known".to_owned(),
            (HostOutcome::All, true) => "all facts".to_owned(),
            (HostOutcome::All, false) => "all of it".to_owned(),
            (HostOutcome::Part, _) => self.other_losses().unwrap_or_else(|| self.happens()),
            (HostOutcome::Nothing | HostOutcome::Cut | HostOutcome::Facts, _) => of_facts(self),
        }
    }

    /// Images and audio in words: "1 image shown, 1 image as base64 text"; `None` where the result has none, or what becomes
    /// of them is not known.
    pub fn media_text(&self) -> Option<String> {
        self.media_in_words(|_| true)
    }

    /// Images and audio that are not shown as such.
    fn lost_media(&self) -> Option<String> {
        self.media_in_words(|outcome| outcome != MediaOutcome::Shown)
    }

    fn media_in_words(&self, is_wanted: fn(MediaOutcome) -> bool) -> Option<String> {
        let mut parts = Vec::new();
        for (outcome, words) in MediaOutcome::ALL
            .into_iter()
            .filter(|outcome| is_wanted(*outcome))
            .map(|outcome| {
                let words = match outcome {
                    MediaOutcome::Shown => "shown",
                    MediaOutcome::Base64Text => "as base64 text",
                    MediaOutcome::Placeholder => "replaced by a placeholder",
                    MediaOutcome::Error => "replaced by an error",
                    MediaOutcome::Nothing => "not shown",
                };
                (outcome, words)
            })
        {
            let counts = &self.media_counts;
            for (count, kind) in [
                (counts.images[outcome as usize], "images"),
                (counts.audio[outcome as usize], "audio clips"),
            ] {
                if count > 0 {
                    parts.push(format!("{} {words}", number_of(count, kind)));
                }
            }
        }
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// What is not shown besides facts: "drops 1 block", "1 image not shown".
    fn other_losses(&self) -> Option<String> {
        let mut out = self.dropped;
        // Images and audio are told by what becomes of them.
        out.blocks = out.blocks.saturating_sub(self.media_counts.dropped_blocks);
        let left_out = (!out.is_none()).then(|| format!("drops {}", out.text()));
        let parts: Vec<String> = left_out.into_iter().chain(self.lost_media()).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// Which parts of the result its model is shown.
    fn reads(&self) -> &'static str {
        let is_dropped = |what: fn(OmittedPart) -> bool| {
            self.view.dropped.iter().any(|dropped| what(dropped.what))
        };
        match (self.shares.has_content, self.shares.has_structured) {
            (true, true) => "both parts",
            (true, false) if is_dropped(|what| what == OmittedPart::Structured) => "the text alone",
            (true, false) => "the text",
            (false, true) if is_dropped(|what| matches!(what, OmittedPart::Block(_))) => {
                "structuredContent alone"
            }
            (false, true) => "structuredContent",
            (false, false) => "neither part",
        }
    }

    /// The limit that is reached: its rule, and its number with the unit.
    fn reached(&self) -> Option<(&LimitRule, String)> {
        let bite = self.limit().bites.first()?;
        let (max, unit) = bite.unit.in_words(bite.max);
        // The rules of a host tell which characters are counted.
        let unit = unit.title().trim_end_matches(" (UTF-16)");
        Some((
            self.host.limit.get(bite.rule)?,
            format!("{} {unit}", grouped(max)),
        ))
    }

    /// What happens to the result in this host, in a few words: "reads the text alone", "cut at 20,480 bytes".
    pub fn happens(&self) -> String {
        let limit = self.reached().map(|(rule, max)| match self.limit().state {
            LimitState::Error => format!("replaced by an error above {max}"),
            LimitState::Replaced => format!("replaced by a notice above {max}"),
            // What is left is less than the limit.
            _ if rule.head.is_some() => format!("cut over {max}"),
            _ => format!("cut at {max}"),
        });
        match (self.outcome, limit) {
            (HostOutcome::Unknown, _) => self.view.not_computable.clone().unwrap_or_default(),
            (HostOutcome::Nothing | HostOutcome::Cut, Some(limit)) => limit,
            (HostOutcome::Nothing | HostOutcome::Part, _)
                if self.media_counts.has_loss() && !self.has_facts() =>
            {
                self.other_losses().unwrap_or_default()
            }
            (HostOutcome::Part, _) => self.other_losses().unwrap_or_default(),
            (HostOutcome::All, _) if self.hides_error() => {
                format!("whole, {}, isError not passed on", self.limit_known())
            }
            (HostOutcome::All, _) => format!("whole, {}", self.limit_known()),
            _ => format!("reads {}", self.reads()),
        }
    }

    /// The limit that is reached, else which parts it reads: "cut at 20,480 bytes", "reads the text alone".
    pub(super) fn does(&self) -> String {
        match self.outcome {
            HostOutcome::Part | HostOutcome::All => format!("reads {}", self.reads()),
            _ => self.happens(),
        }
    }

    fn limit_known(&self) -> String {
        match (self.limit().state, self.limit().tokens_max) {
            (LimitState::None, _) => "no limit".to_owned(),
            (LimitState::MayCut, Some(max)) => format!("may be cut at {} tokens", grouped(max)),
            (LimitState::Unknown | LimitState::MayCut, _) => "limit unknown".to_owned(),
            _ => "below its limit".to_owned(),
        }
    }

    /// The same as a sentence, with what its model sees.
    pub fn sentence(&self) -> String {
        let sees = match (self.outcome, self.has_facts()) {
            (HostOutcome::Unknown, _) => "What the model sees is not known".to_owned(),
            (HostOutcome::Nothing, true) => {
                format!("Model sees 0 of {} facts", grouped(self.shown().1))
            }
            (HostOutcome::Nothing, false) => "Model sees nothing of this result".to_owned(),
            (HostOutcome::Cut | HostOutcome::Facts, _)
                if self.missing() > 0 || !self.has_facts() =>
            {
                format!("Model sees {}", of_facts(self))
            }
            (_, true) => format!("Model sees all {} facts", grouped(self.shown().1)),
            (_, false) => "Model sees the whole text".to_owned(),
        };
        let name = &self.host.name;
        let why = match (self.outcome, self.reached()) {
            (HostOutcome::Nothing | HostOutcome::Cut, Some((rule, max))) => {
                let does = match rule.keep {
                    KeepRule::None if self.limit().state == LimitState::Error => {
                        "an error takes its place"
                    }
                    KeepRule::None => "a notice takes its place",
                    KeepRule::Head => "only the beginning is shown",
                    KeepRule::HeadLines => "only the first lines are shown",
                    KeepRule::HeadTail => "only the beginning and the end are shown",
                };
                format!(": over {max} {does}")
            }
            (HostOutcome::Nothing, _) if self.media_counts.has_loss() && !self.has_facts() => {
                format!(": {}", self.happens())
            }
            (HostOutcome::Facts | HostOutcome::Nothing, _) => {
                format!(": {name} reads {}", self.reads())
            }
            (HostOutcome::Part, _) if self.media_counts.has_loss() => {
                format!(", {}", self.happens())
            }
            (HostOutcome::Part, _) => format!(
                ", but not {}: {name} reads {}",
                self.dropped.text(),
                self.reads()
            ),
            (HostOutcome::All | HostOutcome::Cut, _) if self.hides_error() => {
                format!(": {}, isError not passed on", self.limit_known())
            }
            (HostOutcome::All | HostOutcome::Cut, _) => format!(": {}", self.limit_known()),
            _ => format!(": {}", self.happens()),
        };
        format!("{sees}{why}.")
    }
}

impl HostsReport {
    /// What happens in the hosts of a lane.
    pub fn happens(&self, lane: &HostLane) -> String {
        let mut hosts = self.hosts_of(lane);
        let first = hosts.next().map(HostRow::happens).unwrap_or_default();
        if hosts.all(|row| row.happens() == first) {
            return first;
        }
        if lane.outcome != HostOutcome::All {
            return format!("{first}; others differ");
        }
        let with = |state| {
            self.hosts_of(lane)
                .filter(move |row| row.limit().state == state)
                .count()
        };
        let unknown = (with(LimitState::Unknown) > 0)
            .then(|| format!("limit unknown for {}", with(LimitState::Unknown)));
        let may_cut = (with(LimitState::MayCut) > 0)
            .then(|| format!("{} may cut it", with(LimitState::MayCut)));
        let hides = self.hosts_of(lane).filter(|row| row.hides_error()).count();
        let hides = (hides > 0).then(|| format!("isError not passed on by {hides}"));
        std::iter::once("whole".to_owned())
            .chain(unknown)
            .chain(may_cut)
            .chain(hides)
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// The worst that happens, in how many hosts, and why.
    pub fn headline(&self, encoding: Encoding) -> HostsHeadline {
        let counts = self.outcomes();
        let known = HostOutcome::ALL
            .into_iter()
            .zip(counts)
            .find(|(_, count)| *count > 0);
        let (outcome, count) = known.unwrap_or((HostOutcome::Unknown, 0));
        let has_facts = self.rows.iter().any(HostRow::has_facts);
        let share = format!(
            "{} of {}",
            grouped(count as u64),
            number_of(self.rows.len() as u64, "hosts")
        );
        let verb = |one: &str, many: &str| {
            if count == 1 {
                one.to_owned()
            } else {
                many.to_owned()
            }
        };
        let text = match outcome {
            HostOutcome::Nothing => {
                let what = if has_facts {
                    "this data"
                } else {
                    "this answer"
                };
                format!(
                    "{share} {} none of {what}",
                    verb("shows its model", "show their model")
                )
            }
            HostOutcome::Cut => format!("{share} {} this answer", verb("cuts", "cut")),
            HostOutcome::Facts => format!("{share} {} facts of it", verb("loses", "lose")),
            HostOutcome::Part => {
                format!("{share} {} a part of it", verb("drops", "drop"))
            }
            HostOutcome::All => "All known hosts show everything".to_owned(),
            HostOutcome::Unknown => "What hosts show of it is not known".to_owned(),
        };
        HostsHeadline {
            outcome,
            text,
            why: self.why(outcome, count, has_facts, encoding),
        }
    }

    fn why(
        &self,
        outcome: HostOutcome,
        count: usize,
        has_facts: bool,
        encoding: Encoding,
    ) -> String {
        let mut lanes = self.lanes.iter().filter(|lane| lane.outcome == outcome);
        let Some(most) = lanes.clone().max_by_key(|lane| lane.rows.len()) else {
            return String::new();
        };
        let rows = || lanes.clone().flat_map(|lane| self.hosts_of(lane));
        let Some(first) = self.hosts_of(most).next() else {
            return String::new();
        };
        let they = who(count, count, &first.host.name);
        match outcome {
            HostOutcome::Nothing => {
                let replaced = rows().filter(|row| row.reached().is_some()).count();
                let total = grouped(first.shown().1);
                let tokens = first.tokens.map_or(0, |tokens| tokens.get(encoding));
                match replaced {
                    0 if !has_facts && first.lost_media().is_some() => {
                        format!("{}.", first.other_losses().unwrap_or_default())
                    }
                    0 if has_facts && rows().all(|row| row.reads() == "the text alone") => format!(
                        "{they} the text alone, and its {} hold none of the {total} facts in structuredContent.",
                        number_of(tokens, "tokens")
                    ),
                    _ if replaced == count => {
                        "Over their limit, a notice or an error takes its place.".to_owned()
                    }
                    _ => {
                        let reading = || rows().filter(|row| row.reached().is_none());
                        let alike = |row: &HostRow| {
                            reading()
                                .filter(|other| other.reads() == row.reads())
                                .count()
                        };
                        let Some(most) = reading().max_by_key(|row| alike(row)) else {
                            return String::new();
                        };
                        let others = number_of(replaced as u64, "others");
                        let replaced = match replaced {
                            0 => String::new(),
                            _ => format!("; in {others} a notice or an error takes its place"),
                        };
                        format!(
                            "{} {}{replaced}.",
                            who(count, alike(most), &most.host.name),
                            most.reads()
                        )
                    }
                }
            }
            // The lanes are sorted by what is left.
            HostOutcome::Cut => match lanes.next().and_then(|lane| self.hosts_of(lane).next()) {
                Some(row) if has_facts && row.missing() == 0 => {
                    format!(
                        "No fact is missing: what is left of the text says all {}.",
                        grouped(row.shown().1)
                    )
                }
                Some(row) => format!(
                    "The least is left in {}, {}: {}.",
                    row.host.name,
                    row.happens(),
                    of_facts(row)
                ),
                None => String::new(),
            },
            HostOutcome::Facts => {
                let missing = format!(
                    "misses {} of {} facts",
                    grouped(first.missing()),
                    grouped(first.shown().1)
                );
                let is_alike = |row: &&HostRow| {
                    row.reads() == first.reads() && row.missing() == first.missing()
                };
                format!(
                    "{} {}, which {missing}.",
                    who(count, rows().filter(is_alike).count(), &first.host.name),
                    first.reads()
                )
            }
            HostOutcome::Part => {
                let Some(row) = rows().next() else {
                    return String::new();
                };
                let lost = |row: &HostRow| row.other_losses().unwrap_or_default();
                let others = if rows().all(|other| lost(other) == lost(row)) {
                    String::new()
                } else {
                    format!(" (in {}; others differ)", row.host.name)
                };
                if row.media_counts.has_loss() {
                    return format!("{}{others}.", lost(row));
                }
                let all = if has_facts {
                    "Every fact is shown, but not "
                } else {
                    "Not shown: "
                };
                format!("{all}{}{others}.", row.dropped.text())
            }
            HostOutcome::All => {
                let lost = if has_facts {
                    "No fact is missing"
                } else {
                    "No part is left out"
                };
                let hides = self.rows.iter().filter(|row| row.hides_error()).count();
                let hides = if hides > 0 {
                    format!(" isError not passed on by {hides}.")
                } else {
                    String::new()
                };
                format!("{lost}, within every known limit.{hides}")
            }
            HostOutcome::Unknown => String::new(),
        }
    }

    /// The headline, how many hosts have each outcome, and which of those that show all pay least.
    pub fn summary(&self, encoding: Encoding) -> Summary {
        let mut summary = Summary::default();
        let HostsHeadline { outcome, text, why } = self.headline(encoding);
        summary.parts.push(match outcome {
            HostOutcome::All
                if self
                    .rows
                    .iter()
                    .all(|row| row.facts.is_none_or(FactCount::is_whole)) =>
            {
                SummaryPart::Good(text)
            }
            HostOutcome::All => SummaryPart::Plain(text),
            _ => SummaryPart::Bad(text),
        });
        let counts = HostOutcome::ALL
            .into_iter()
            .zip(self.outcomes())
            .filter(|(_, count)| *count > 0);
        let counts: Vec<String> = counts
            .map(|(outcome, count)| outcome.count_hosts(count))
            .collect();
        summary.plain(format!(
            ". {why} Of {}: {}.",
            number_of(self.rows.len() as u64, "hosts"),
            counts.join(", ")
        ));
        // A host that cuts, or may, is never named for what it saves.
        let is_safe =
            |row: &&HostRow| matches!(row.limit().state, LimitState::None | LimitState::Fits);
        let tokens = |row: &HostRow| row.tokens.map_or(u64::MAX, |tokens| tokens.get(encoding));
        let all = || self.sorted().filter(|row| row.outcome == HostOutcome::All);
        if let Some(row) = all().filter(is_safe).min_by_key(|row| tokens(row)) {
            let as_few = all()
                .filter(is_safe)
                .filter(|other| tokens(other) == tokens(row))
                .count() as u64
                - 1;
            let others = if as_few > 0 {
                format!(" and {}", number_of(as_few, "others"))
            } else {
                String::new()
            };
            summary.plain(format!(
                " Fewest tokens of these: {}{others}, ",
                row.host.name
            ));
            summary.parts.push(SummaryPart::Good(format!(
                "{} ({})",
                grouped(tokens(row)),
                encoding.name()
            )));
            summary.plain(".");
        }
        summary
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_those_that_differ_only_those_that_are_alike_are_counted() {
        assert_eq!(
            [who(17, 17, "Zed"), who(1, 1, "Zed")],
            ["They read", "Zed reads"]
        );
        assert_eq!(
            [who(17, 6, "Zed"), who(17, 1, "Zed")],
            ["6 of them, such as Zed, read", "Zed reads"]
        );
    }
}
