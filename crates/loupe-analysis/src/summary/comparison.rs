//! What a comparison says: in a strip the baseline, the cheapest of the results and what there could be in its place, and
//! the same as a sentence; of equal calls which answers differ, and how tokens and time are spread.

use std::collections::BTreeSet;

use crate::queries::comparison::{Column, ColumnOrigin, Comparison, Field, FieldCell};
use crate::summary::strip::{Candidate, badge, cheapest, is_tied};
use crate::summary::{
    ClaimTone, CountedRow, Loss, Strip, StripCell, Summary, SummaryPart, change, unit,
};
use loupe_core::capture::FactCount;
use loupe_core::diff::pattern::name;
use loupe_core::format;
use loupe_core::format::claim::{Claim, missing_words};
use loupe_core::number::{grouped, milliseconds};
use loupe_core::token::{Count, Tokenizer};

/// Names in a list before the rest is counted.
const MAX_NAMES: usize = 6;
/// What else the tool may return is not known.
const CHEAPEST: &str = "cheapest of these answers";
const ALL_FACTS: &str = "cheapest with all facts";
const NOTHING_NEEDED: &str = "every needed fact found";

/// The strip: the baseline, the cheapest of the results, and the cheapest format to change to. Where only some
/// fields are needed, they are given as patterns. A winner is named among answers with the same records alone, and never
/// one that leaves something out; where there can be none, a note says why.
pub fn comparison_strip(comparison: &Comparison, needed: Option<&BTreeSet<String>>) -> Strip {
    let answers: Vec<usize> = (0..comparison.columns.len())
        .filter(|at| is_answer(&comparison.columns[*at]))
        .collect();
    let position = |call| {
        comparison
            .columns
            .iter()
            .position(|column| column.origin == ColumnOrigin::Call(call))
    };
    let Some(base) = comparison.baseline.and_then(position) else {
        return Strip::note("None of the calls gave an answer to compare.".to_owned());
    };
    if comparison.vary.is_none() {
        return Strip::note(equal(comparison, &answers, base));
    }
    if comparison.reference.is_none()
        || (answers.len() > 1 && !(comparison.is_about_form && comparison.has_same_records()))
    {
        return Strip::note(span(comparison, &answers));
    }
    let offered = Offered {
        comparison,
        needed,
        base,
    };
    let mut cells = vec![offered.cell(base, "baseline")];
    let least = answers
        .iter()
        .map(|at| offered.tokens(*at))
        .min()
        .unwrap_or(0);
    let pick = offered.pick(&answers);
    match pick {
        Some(at) if offered.tokens(at) == least => cells.push(offered.cell(at, CHEAPEST)),
        Some(at) => cells.push(offered.cell(at, ALL_FACTS)),
        None if answers.len() > 1 => cells[0].role = format!("baseline, {CHEAPEST}"),
        None => "the only answer".clone_into(&mut cells[0].role),
    }
    let whole = [Some(base), pick]
        .into_iter()
        .flatten()
        .filter(|at| offered.is_whole(*at));
    let least = whole
        .map(|at| offered.tokens(at))
        .min()
        .unwrap_or_else(|| offered.tokens(base));
    cells.extend(offered.change_cell(least));
    // Of equal ones the earlier.
    let is_whole = |cell: &&mut StripCell| {
        if needed.is_some() {
            cell.claim <= Claim::Found
        } else {
            cell.claim.is_same_data()
        }
    };
    if let Some(winner) = cells
        .iter_mut()
        .filter(is_whole)
        .min_by_key(|cell| cell.count.high())
    {
        let count = winner.count.high();
        let ties = |at: &&usize| {
            Some(**at) != winner.column
                && offered.is_whole(**at)
                && is_tied(offered.tokens(**at), count)
        };
        let is_tie = answers.iter().any(|at| ties(&at));
        winner.badge = Some(if is_tie {
            "tied".to_owned()
        } else {
            badge(winner.claim).to_owned()
        });
    }
    Strip {
        cells,
        sent_by: None,
        note: None,
    }
}

/// The strip as a sentence, and which calls gave nothing to compare.
pub fn comparison_summary(comparison: &Comparison, needed: Option<&BTreeSet<String>>) -> Summary {
    let strip = comparison_strip(comparison, needed);
    let mut summary = Summary::default();
    match (strip.note, strip.cells.split_first()) {
        (Some(note), _) => summary.plain(note),
        (None, Some((base, others))) => {
            summary.plain(format!(
                "{}: ",
                base.column
                    .map_or(&base.name, |at| &comparison.columns[at].title)
            ));
            summary.count(Some(base.count));
            summary.plain(format!(
                " {} ({})",
                unit(base.count),
                comparison.encoding.name()
            ));
            summary.loss(base);
            for cell in others {
                summary.cell(cell, &format!("{}, {}", cell.name, cell.role));
            }
        }
        (None, None) => {}
    }
    let failed: Vec<&Column> = comparison
        .columns
        .iter()
        .filter(|column| column.is_offered() && !column.is_answer())
        .collect();
    if !failed.is_empty() {
        summary.plain(" Not compared: ");
        let message = failed.iter().map(|column| {
            format!(
                "{} ({})",
                bare(column),
                column.why.as_deref().unwrap_or_default()
            )
        });
        summary
            .parts
            .push(SummaryPart::Bad(message.collect::<Vec<_>>().join(", ")));
        summary.plain(".");
    }
    summary
}

/// What may be claimed of a column, as far as fields are needed; all are, where none are given.
pub(crate) fn column_claim(
    comparison: &Comparison,
    at: usize,
    needed: Option<&BTreeSet<String>>,
) -> Claim {
    let column = &comparison.columns[at];
    match needed {
        None if column.absent > 0 => Claim::Missing,
        None => Claim::of(column.facts, column.omitted),
        Some(needed) => {
            let mut wanted = comparison
                .fields
                .iter()
                .zip(&column.cells)
                .filter(|(field, _)| needed.contains(&field.pattern));
            if wanted.any(|(_, cell)| cell.lost > 0) {
                Claim::Missing
            } else {
                Claim::Found
            }
        }
    }
}

/// What a column loses of the fields that are needed; all are, where none are given.
pub fn column_loss(comparison: &Comparison, at: usize, needed: Option<&BTreeSet<String>>) -> Loss {
    let column = &comparison.columns[at];
    let tokenizer = Tokenizer::Encoding(comparison.encoding);
    let claim = column_claim(comparison, at, needed);
    if claim != Claim::Missing {
        return match needed {
            Some(_) => Loss::new(ClaimTone::Note, NOTHING_NEEDED).with_short("all needed"),
            None => Loss::of_claim(column.facts, column.omitted, &tokenizer),
        };
    }
    let is_needed = |field: &Field| needed.is_none_or(|needed| needed.contains(&field.pattern));
    let wanted: Vec<(&Field, &FieldCell)> = comparison
        .fields
        .iter()
        .zip(&column.cells)
        .filter(|(field, _)| is_needed(field))
        .collect();
    let lost: Vec<_> = wanted.iter().filter(|(_, cell)| cell.lost > 0).collect();
    let differing: u64 = lost.iter().map(|(_, cell)| cell.differing).sum();
    let facts: u64 = lost.iter().map(|(_, cell)| cell.lost).sum();
    let total: u64 = wanted.iter().map(|(field, _)| field.total).sum();
    let mut loss = if facts > 0 && differing == facts {
        let words = if differing == 1 {
            "1 value differs".to_owned()
        } else {
            format!("{} values differ", grouped(differing))
        };
        Loss::new(ClaimTone::Warn, words)
    } else if facts == 0 {
        Loss::new(ClaimTone::Warn, describe_held(comparison, column))
    } else {
        let of = FactCount {
            total,
            missing: facts,
            ..FactCount::default()
        };
        Loss::new(ClaimTone::Warn, missing_words(of))
            .with_short(format!("−{} facts", grouped(facts)))
    };
    loss.detail = list_names(
        &lost
            .iter()
            .map(|(field, _)| name(&field.pattern))
            .collect::<Vec<_>>(),
    );
    loss
}

/// The columns of a comparison next to its baseline.
struct Offered<'a> {
    comparison: &'a Comparison,
    needed: Option<&'a BTreeSet<String>>,
    base: usize,
}

impl Offered<'_> {
    fn tokens(&self, at: usize) -> u64 {
        self.comparison.columns[at]
            .row
            .tokens
            .get(self.comparison.encoding)
    }

    fn is_whole(&self, at: usize) -> bool {
        let claim = column_claim(self.comparison, at, self.needed);
        if self.needed.is_some() {
            claim <= Claim::Found
        } else {
            claim.is_same_data()
        }
    }

    /// The other answer to name: one that loses nothing where it is cheaper or the baseline loses something, else the
    /// cheapest.
    fn pick(&self, answers: &[usize]) -> Option<usize> {
        let cheapest = |answers: &mut dyn Iterator<Item = usize>| {
            answers.min_by_key(|at| (self.tokens(*at), *at != self.base))
        };
        let is_less = |at: &usize| self.tokens(*at) < self.tokens(self.base);
        let whole = cheapest(&mut answers.iter().copied().filter(|at| self.is_whole(*at)));
        let pick = whole.filter(|at| is_less(at) || !self.is_whole(self.base));
        pick.or_else(|| cheapest(&mut answers.iter().copied()).filter(is_less))
            .filter(|at| *at != self.base)
    }

    fn cell(&self, at: usize, role: &str) -> StripCell {
        let column = &self.comparison.columns[at];
        StripCell {
            format: column.format,
            column: Some(at),
            name: bare(column).to_owned(),
            role: role.to_owned(),
            count: Count::Exact(self.tokens(at)),
            change: (at != self.base).then(|| self.change(self.tokens(at))),
            claim: column_claim(self.comparison, at, self.needed),
            loss: Some(column_loss(self.comparison, at, self.needed)),
            omitted: 0,
            note: None,
            badge: None,
            is_repair: false,
        }
    }

    /// Against the baseline.
    fn change(&self, tokens: u64) -> String {
        change(self.tokens(self.base), tokens)
    }

    /// The format to change to: the cheapest whose facts are all proved, where it has fewer tokens than `most`.
    fn change_cell(&self, most: u64) -> Option<StripCell> {
        let tokenizer = Tokenizer::Encoding(self.comparison.encoding);
        let counted = |row| CountedRow {
            row,
            count: tokenizer.from_tokens(row.tokens),
            why: None,
        };
        let is_derived = |id: &str| format::by_id(id).is_some_and(|format| !format.is_as_sent());
        let rows = self
            .comparison
            .rows
            .iter()
            .filter(|row| row.is_available() && is_derived(row.format));
        let chosen = cheapest(rows.filter_map(|row| Candidate::new(counted(row), true, None)))?;
        let base = &self.comparison.columns[self.base];
        let mut cell = chosen.cell(
            &tokenizer,
            tokenizer.from_tokens(base.row.tokens),
            "if you changed it",
        );
        let is_it = |column: &Column| !column.is_offered() && column.format == cell.format;
        cell.column = self.comparison.columns.iter().position(is_it);
        // A column of its own says the same.
        if let Some(at) = cell.column {
            cell.claim = column_claim(self.comparison, at, self.needed);
            cell.loss = Some(column_loss(self.comparison, at, self.needed));
        }
        (chosen.tokens() < most).then_some(cell)
    }
}

fn is_answer(column: &Column) -> bool {
    column.is_offered() && column.is_answer()
}

/// Of equal calls: which answers are not the first, and how their cost is spread.
fn equal(comparison: &Comparison, answers: &[usize], base: usize) -> String {
    if answers.len() < 2 {
        return "At least two answers are needed to tell what changes from call to call."
            .to_owned();
    }
    let same = if comparison.different.is_empty() {
        let all = match answers.len() {
            2 => "Both answers".to_owned(),
            count => format!("All {} answers", grouped(count as u64)),
        };
        format!("{all} are the same, byte for byte.")
    } else {
        let names = comparison
            .different
            .iter()
            .filter_map(|at| comparison.column_of(*at))
            .map(|column| bare(column).to_owned());
        let names: Vec<String> = names.collect();
        let differ = if names.len() == 1 {
            "differs"
        } else {
            "differ"
        };
        format!(
            "Not all answers are the same: {} {differ} from {}.",
            list_names(&names),
            bare(&comparison.columns[base])
        )
    };
    let columns = || answers.iter().map(|at| &comparison.columns[*at]);
    // Counts are far below 2^53.
    let tokens = range_text(
        columns().map(|column| column.row.tokens.get(comparison.encoding) as f64),
        |tokens| grouped(tokens as u64),
    );
    let time = range_text(
        columns()
            .filter_map(|column| column.latency)
            .map(milliseconds),
        |time| format!("{time:.1}"),
    );
    format!(
        "{same} Tokens ({}): {tokens}. Milliseconds: {time}.",
        comparison.encoding.name()
    )
}

/// Where the results are not about the same, the cheapest is no better one: from what to what they go.
fn span(comparison: &Comparison, answers: &[usize]) -> String {
    let columns = || answers.iter().map(|at| &comparison.columns[*at]);
    let tokens = |column: &&Column| column.row.tokens.get(comparison.encoding);
    let (Some(least), Some(most)) = (columns().min_by_key(tokens), columns().max_by_key(tokens))
    else {
        return String::new();
    };
    let mut message = match (comparison.is_about_form, &comparison.vary) {
        (false, Some(vary)) => format!("{vary} changes what an answer contains, not its format. "),
        _ if comparison.reference.is_some() => "Different records: no winner. ".to_owned(),
        _ => String::new(),
    };
    let (from, to) = (grouped(tokens(&least)), grouped(tokens(&most)));
    let encoding = comparison.encoding.name();
    message += &match answers.len() {
        1 => format!(
            "{}: {from} tokens ({encoding}), the only answer.",
            bare(least)
        ),
        _ => format!(
            "Tokens ({encoding}) go from {from} with {} to {to} with {}.",
            bare(least),
            bare(most)
        ),
    };
    let Some(reference) = comparison.reference.and_then(|at| comparison.column_of(at)) else {
        return message + " No answer has data in it, so what one leaves out cannot be told.";
    };
    message += &format!(
        " Missing facts are counted against the data of {}, which has the most.",
        bare(reference)
    );
    for column in columns().filter(|column| column.absent > 0) {
        message += &format!(" {} {}.", bare(column), describe_held(comparison, column));
    }
    message
}

/// "holds 5 of 50 records".
pub fn describe_held(comparison: &Comparison, column: &Column) -> String {
    let all = comparison
        .records
        .iter()
        .filter(|record| record.is_of_reference)
        .count() as u64;
    format!(
        "holds {} of {} records",
        grouped(all.saturating_sub(column.absent)),
        grouped(all)
    )
}

/// "12 to 30, median 14", or the one number that all are. The median of an even row is the mean of its two.
fn range_text(numbers: impl Iterator<Item = f64>, written: impl Fn(f64) -> String) -> String {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    match numbers[..] {
        [] => "none".to_owned(),
        [least, .., most] if least < most => {
            let median =
                f64::midpoint(numbers[(numbers.len() - 1) / 2], numbers[numbers.len() / 2]);
            format!(
                "{} to {}, median {}",
                written(least),
                written(most),
                written(median)
            )
        }
        [same, ..] => format!("{} each", written(same)),
    }
}

fn list_names(names: &[String]) -> String {
    let shown = names
        .iter()
        .take(MAX_NAMES)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > MAX_NAMES {
        format!("{shown} and {} more", names.len() - MAX_NAMES)
    } else {
        shown
    }
}

/// The value alone: a result is always as sent.
fn bare(column: &Column) -> &str {
    column.value_title()
}

#[cfg(test)]
mod tests;
