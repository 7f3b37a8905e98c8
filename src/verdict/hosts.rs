//! What is said of all hosts at once.

use std::cmp::Reverse;

use crate::analysis::{HostRow, HostsReport};
use crate::host::LimitState;
use crate::number::{grouped, number_of};
use crate::token::Encoding;
use crate::verdict::{Verdict, VerdictPart};

/// Hosts whose limit a verdict tells in full, those that lose most; of the others it has the names.
const LIMITS_TOLD: usize = 2;

impl HostsReport {
    /// Who sees what, who cuts, and who pays least without losing anything.
    pub fn verdict(&self, encoding: Encoding) -> Verdict {
        let mut verdict = Verdict::default();
        let shown: Vec<&HostRow> = self.sorted().filter(|row| row.tokens.is_some()).collect();
        let unknown = self.rows.len() - shown.len();
        verdict.plain(format!(
            "{}, {}.",
            number_of(self.rows.len() as u64, "hosts"),
            number_of(self.views() as u64, "different views")
        ));
        if unknown > 0 {
            verdict.plain(format!(" {unknown} cannot be computed."));
        }
        verdict.plain(sees(&shown));
        let mut reached: Vec<&HostRow> = [LimitState::Error, LimitState::Replaced, LimitState::Cut]
            .into_iter()
            .flat_map(|state| shown.iter().copied().filter(move |row| row.limit().state == state))
            .collect();
        reached.sort_by_key(|row| Reverse(row.missing()));
        let (told, named) = reached.split_at(reached.len().min(LIMITS_TOLD));
        for row in told {
            verdict.plain(format!(" {}: ", row.host.name));
            let kept = row.facts.map_or_else(String::new, |facts| {
                format!(", {} of {} facts left", grouped(facts.total - facts.missing), grouped(facts.total))
            });
            verdict.parts.push(VerdictPart::Bad(format!("{}{kept}", row.limit_text())));
            verdict.plain(".");
        }
        if !named.is_empty() {
            let names: Vec<&str> = named.iter().map(|row| row.host.name.as_str()).collect();
            verdict.plain(" ");
            verdict.parts.push(VerdictPart::Bad(format!("Their limit is reached too: {}", names.join(", "))));
            verdict.plain(".");
        }
        for (keeps_nothing, what) in [(false, "May be cut"), (true, "An error or a notice may stand in its place")] {
            let is_it =
                |row: &&&HostRow| row.limit().state == LimitState::MayCut && row.limit().tokens_keep_nothing == keeps_nothing;
            let may: Vec<&str> = shown.iter().filter(is_it).map(|row| row.host.name.as_str()).collect();
            if !may.is_empty() {
                verdict.plain(format!(" {what}: {}.", may.join(", ")));
            }
        }
        self.cheapest(&mut verdict, &shown, encoding);
        verdict
    }

    /// The host that pays least of those that lose nothing. One that cuts, or may, is never named for it.
    fn cheapest(&self, verdict: &mut Verdict, shown: &[&HostRow], encoding: Encoding) {
        let tokens = |row: &HostRow| row.tokens.map_or(u64::MAX, |tokens| tokens.get(encoding));
        if shown.iter().all(|row| row.facts.is_none()) {
            return;
        }
        let whole =
            shown.iter().filter(|row| row.loses_nothing() && matches!(row.limit().state, LimitState::None | LimitState::Fits));
        match whole.min_by_key(|row| tokens(row)) {
            Some(row) => {
                let as_few =
                    shown.iter().filter(|other| other.loses_nothing() && tokens(other) == tokens(row)).count() as u64 - 1;
                let others = if as_few > 0 { format!(" and {}", number_of(as_few, "others")) } else { String::new() };
                verdict.plain(format!(" Fewest tokens with nothing lost: {}{others}, ", row.host.name));
                verdict.parts.push(VerdictPart::Good(format!("{} ({})", grouped(tokens(row)), encoding.name())));
                verdict.plain(".");
            }
            None => match shown.iter().filter(|row| row.facts.is_some()).min_by_key(|row| row.missing()) {
                Some(row) if row.missing() > 0 => {
                    verdict.plain(" ");
                    verdict.parts.push(VerdictPart::Bad(format!(
                        "Every host loses facts, {} the fewest: {}",
                        row.host.name,
                        grouped(row.missing())
                    )));
                    verdict.plain(".");
                }
                _ => {}
            },
        }
    }
}

/// How many show what, where the answer has both parts.
fn sees(shown: &[&HostRow]) -> String {
    let mut counts = [0_usize; 4];
    for row in shown {
        let place = match (row.shares.has_content, row.shares.has_structured) {
            (true, false) => 0,
            (false, true) => 1,
            (true, true) => 2,
            (false, false) => 3,
        };
        counts[place] += 1;
    }
    let words = ["the content blocks alone", "structuredContent alone", "both", "neither"];
    let named: Vec<String> = counts
        .iter()
        .zip(words)
        .filter(|(count, _)| **count > 0)
        .map(|(count, what)| format!("{count} {} {what}", if *count == 1 { "sees" } else { "see" }))
        .collect();
    if named.is_empty() { String::new() } else { format!(" {}.", named.join(", ")) }
}
