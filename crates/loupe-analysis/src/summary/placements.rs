//! Which way of splitting a result loses least.

use crate::queries::{PlacementRow, Placements};
use crate::summary::{Summary, SummaryPart};
use loupe_core::number::number_of;
use loupe_core::token::Encoding;

impl Placements {
    /// The deliveries that can be made, best first: by the hosts that show all facts, then by facts lost and tokens.
    pub fn ranked(&self, encoding: Encoding) -> Vec<&PlacementRow> {
        let mut made: Vec<&PlacementRow> = self
            .rows
            .iter()
            .filter(|row| row.result.is_some())
            .collect();
        made.sort_by_key(|row| {
            (
                std::cmp::Reverse(row.whole().0),
                row.missing(),
                row.median(encoding),
            )
        });
        // Of those that as many hosts show whole, the cheapest.
        let most = made.first().map_or(0, |row| row.whole().0);
        let ties = made.iter().take_while(|row| row.whole().0 == most).count();
        made[..ties].sort_by_key(|row| row.median(encoding));
        made
    }

    /// Which delivery most hosts show whole, which others do as well, and what it saves against them.
    pub fn summary(&self, encoding: Encoding) -> Summary {
        let mut summary = Summary::default();
        let ranked = self.ranked(encoding);
        let Some((best, others)) = ranked.split_first() else {
            summary.plain("No delivery can be made of this answer");
            return summary;
        };
        let (whole, known) = best.whole();
        let show = if whole == 1 { "shows" } else { "show" };
        let share = format!(
            "{whole} of {} {show} every fact",
            number_of(known as u64, "hosts")
        );
        summary.parts.push(if best.says_all() {
            SummaryPart::Good(share)
        } else {
            SummaryPart::Plain(share)
        });
        let Some(median) = best.median(encoding) else {
            return summary;
        };
        summary.plain(format!(
            " of “{}”, with a median of {}",
            best.kind.title(),
            number_of(median, "tokens")
        ));
        let mut ties = others.iter().take_while(|row| row.whole().0 == whole);
        if let Some((next, cost)) = ties
            .next()
            .and_then(|row| Some((row, row.median(encoding)?)))
        {
            let price = match cost.saturating_sub(median) {
                0 => "the same number of tokens".to_owned(),
                more => format!("{} more", number_of(more, "tokens")),
            };
            summary.plain(match ties.count() as u64 {
                0 => format!("; “{}” reaches as many for {price}", next.kind.title()),
                more => format!(
                    "; {} reach as many, the cheapest for {price}",
                    number_of(more + 1, "other ways")
                ),
            });
        }
        summary
    }
}
