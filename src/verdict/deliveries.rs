//! Which way of splitting an answer loses least.

use crate::analysis::{Deliveries, DeliveryRow};
use crate::number::{grouped, number_of};
use crate::token::Encoding;
use crate::verdict::{Verdict, VerdictPart};

impl Deliveries {
    /// The deliveries that can be made, best first: by the hosts that show all facts, then by facts lost and tokens.
    pub fn ranked(&self, encoding: Encoding) -> Vec<&DeliveryRow> {
        let mut made: Vec<&DeliveryRow> = self.rows.iter().filter(|row| row.result.is_some()).collect();
        made.sort_by_key(|row| (std::cmp::Reverse(row.whole().0), row.missing(), row.median(encoding)));
        // Of those that as many hosts show whole, the cheapest.
        let most = made.first().map_or(0, |row| row.whole().0);
        let ties = made.iter().take_while(|row| row.whole().0 == most).count();
        made[..ties].sort_by_key(|row| row.median(encoding));
        made
    }

    /// Which delivery most hosts show whole, which others do as well, and what it saves against them.
    pub fn verdict(&self, encoding: Encoding) -> Verdict {
        let mut verdict = Verdict::default();
        let ranked = self.ranked(encoding);
        let Some((best, others)) = ranked.split_first() else {
            verdict.plain("No delivery can be made of this answer");
            return verdict;
        };
        let (whole, known) = best.whole();
        verdict.plain(format!("{}: ", best.kind.title()));
        let share = format!("every fact in {whole} of {known} hosts");
        verdict.parts.push(if best.says_all() { VerdictPart::Good(share) } else { VerdictPart::Plain(share) });
        let ties: Vec<&&DeliveryRow> = others.iter().take_while(|row| row.whole().0 == whole).collect();
        match (ties.split_first(), best.median(encoding)) {
            (None, Some(median)) => verdict.plain(format!(", {} tokens in the median host", grouped(median))),
            (Some((next, more)), Some(median)) => {
                let titles = match more.len() as u64 {
                    0 => next.kind.title().to_owned(),
                    more => format!("{} and {}", next.kind.title(), number_of(more, "others")),
                };
                let saved = next.median(encoding).unwrap_or(median).saturating_sub(median);
                let price = match saved {
                    0 => "for the same tokens in the median host".to_owned(),
                    saved => format!("for {} tokens less in the median host", grouped(saved)),
                };
                verdict.plain(format!(", as many as {titles}, {price}"));
            }
            _ => {}
        }
        verdict
    }
}
