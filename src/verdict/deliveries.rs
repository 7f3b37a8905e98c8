//! Which way of splitting an answer loses least.

use crate::analysis::{Deliveries, DeliveryRow};
use crate::number::grouped;
use crate::token::Encoding;
use crate::verdict::{Verdict, VerdictPart};

impl Deliveries {
    /// Which delivery loses least, and in which hosts it still does.
    pub fn verdict(&self, encoding: Encoding) -> Verdict {
        let mut verdict = Verdict::default();
        let made = self.rows.iter().filter(|row| row.result.is_some());
        let key = |row: &&DeliveryRow| (std::cmp::Reverse(row.whole().0), row.missing(), row.median(encoding));
        let Some(best) = made.clone().min_by_key(key) else {
            verdict.plain("No delivery can be made of this answer.");
            return verdict;
        };
        let (whole, known) = best.whole();
        let titles: Vec<&str> = made.filter(|row| key(row) == key(&best)).map(|row| row.kind.title()).collect();
        let lose = if titles.len() == 1 { "loses" } else { "lose" };
        verdict.plain(format!("{} {lose} least: ", titles.join(" and ")));
        let share = format!("whole in {whole} of {known} hosts");
        verdict.parts.push(if whole == known { VerdictPart::Good(share) } else { VerdictPart::Plain(share) });
        if let Some(median) = best.median(encoding) {
            verdict.plain(format!(", {} tokens in the median host ({})", grouped(median), encoding.name()));
        }
        let losers: Vec<&str> = self
            .hosts
            .iter()
            .zip(&best.cells)
            .filter(|(_, cell)| cell.tokens.is_some() && !cell.loses_nothing())
            .map(|(host, _)| host.name.as_str())
            .collect();
        if losers.is_empty() {
            verdict.plain(".");
        } else {
            verdict.plain("; ");
            verdict.parts.push(VerdictPart::Bad(format!("not whole in {}", losers.join(", "))));
            verdict.plain(".");
        }
        verdict
    }
}
