//! What a sweep says in a sentence: the cheapest that the tool offers and what it leaves out, and what else there could
//! be; of equal calls which answers differ, and how tokens and time are spread.

use crate::analysis::sweep::{Column, ColumnOrigin, Sweep};
use crate::diff::pattern::name;
use crate::format::ledger::{Row, ratio};
use crate::number::{grouped, milliseconds};
use crate::token::{Encoding, Tokens};
use crate::verdict::{Verdict, VerdictPart};

/// Names in a list before the rest is counted.
const MAX_NAMES: usize = 6;
/// How much cheaper another format has to be before it is named in place of `json`.
const WORTH_NAMING: f64 = 0.95;

/// The verdict: "Of what this tool offers: …" and "If you changed it: …". A winner is named among answers with the same
/// records alone, and never one that leaves something out.
pub fn sweep_verdict(sweep: &Sweep, encoding: Encoding) -> Verdict {
    let mut verdict = Verdict::default();
    let offered: Vec<&Column> = sweep.columns.iter().filter(|column| matches!(column.origin, ColumnOrigin::Call(_))).collect();
    let failed: Vec<&Column> = offered.iter().copied().filter(|column| !column.is_answer()).collect();
    let answers: Vec<&Column> = offered.iter().copied().filter(|column| column.is_answer()).collect();
    let Some(baseline) = sweep.baseline.and_then(|at| sweep.column_of(at)) else {
        verdict.plain("None of the calls gave an answer to compare.");
        return verdict;
    };
    let is_comparable = sweep.is_about_form && sweep.reference.is_some() && sweep.has_same_records();
    if sweep.vary.is_none() {
        equal(&mut verdict, sweep, &answers, baseline, encoding);
    } else if answers.len() > 1 && !is_comparable {
        span(&mut verdict, sweep, &answers, encoding);
    } else {
        offer(&mut verdict, sweep, &answers, baseline, encoding);
        change(&mut verdict, sweep, baseline, encoding);
    }
    not_compared(&mut verdict, &failed);
    if sweep.reference.is_none() && sweep.vary.is_some() {
        verdict.plain(" No answer has data in it, so what one leaves out cannot be told.");
    }
    verdict
}

fn not_compared(verdict: &mut Verdict, failed: &[&Column]) {
    if failed.is_empty() {
        return;
    }
    verdict.plain(" Not compared: ");
    let said = failed.iter().map(|column| format!("{} ({})", bare(column), column.why.as_deref().unwrap_or_default()));
    verdict.parts.push(VerdictPart::Bad(said.collect::<Vec<_>>().join(", ")));
    verdict.plain(".");
}

/// Of equal calls: which answers are not the first, and how their cost is spread.
fn equal(verdict: &mut Verdict, sweep: &Sweep, answers: &[&Column], baseline: &Column, encoding: Encoding) {
    if answers.len() < 2 {
        verdict.plain("At least two answers are needed to tell what changes from call to call.");
        return;
    }
    if sweep.different.is_empty() {
        let all = match answers.len() {
            2 => "Both answers".to_owned(),
            count => format!("All {} answers", grouped(count as u64)),
        };
        verdict.parts.push(VerdictPart::Good(format!("{all} are the same")));
        verdict.plain(", byte for byte.");
    } else {
        let names = sweep.different.iter().filter_map(|at| sweep.column_of(*at)).map(|column| bare(column).to_owned());
        let names: Vec<String> = names.collect();
        let differ = if names.len() == 1 { "differs" } else { "differ" };
        verdict.parts.push(VerdictPart::Bad("Not all answers are the same".to_owned()));
        verdict.plain(format!(": {} {differ} from {}.", listed(&names), bare(baseline)));
    }
    // Counts are far below 2^53.
    let tokens = range_text(answers.iter().map(|column| column.row.tokens.get(encoding) as f64), |tokens| grouped(tokens as u64));
    let time = range_text(answers.iter().filter_map(|column| column.latency).map(milliseconds), |time| format!("{time:.1}"));
    verdict.plain(format!(" Tokens ({}): {tokens}. Milliseconds: {time}.", encoding.name()));
}

/// "12 to 30, median 14", or the one number that all are. The median of an even row is the mean of its two.
fn range_text(numbers: impl Iterator<Item = f64>, written: impl Fn(f64) -> String) -> String {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    match numbers[..] {
        [] => "none".to_owned(),
        [least, .., most] if least < most => {
            let median = f64::midpoint(numbers[(numbers.len() - 1) / 2], numbers[numbers.len() / 2]);
            format!("{} to {}, median {}", written(least), written(most), written(median))
        }
        [same, ..] => format!("{} each", written(same)),
    }
}

/// Where the answers are not about the same, the cheapest is no better one: from what to what they go.
fn span(verdict: &mut Verdict, sweep: &Sweep, answers: &[&Column], encoding: Encoding) {
    let tokens = |column: &&&Column| column.row.tokens.get(encoding);
    let (Some(least), Some(most)) = (answers.iter().min_by_key(tokens), answers.iter().max_by_key(tokens)) else { return };
    if let (false, Some(vary)) = (sweep.is_about_form, &sweep.vary) {
        verdict.plain(format!("{vary} chooses what is answered, not its form. "));
    } else if sweep.reference.is_some() {
        verdict.plain("The answers hold different records, so none of them is the cheaper one. ");
    }
    verdict.plain(format!("Tokens ({}) go from ", encoding.name()));
    verdict.number(tokens(&least));
    verdict.plain(format!(" with {} to ", bare(least)));
    verdict.number(tokens(&most));
    verdict.plain(format!(" with {}.", bare(most)));
    if let Some(reference) = sweep.reference.and_then(|at| sweep.column_of(at)) {
        verdict.plain(format!(" Missing facts are counted against the data of {}, which has most.", bare(reference)));
    }
    let all = sweep.records.iter().filter(|record| record.is_of_reference).count() as u64;
    for column in answers.iter().filter(|column| column.absent > 0) {
        verdict.plain(format!(
            " {} holds {} of {} records.",
            bare(column),
            grouped(all.saturating_sub(column.absent)),
            grouped(all)
        ));
    }
}

/// The verdict where only some fields are needed, as patterns: columns that lose a fact of one are out of the race.
pub fn needed_verdict(sweep: &Sweep, needed: &[String], encoding: Encoding) -> Verdict {
    let mut verdict = Verdict::default();
    let mut columns: Vec<&Column> = sweep.columns.iter().filter(|column| column.is_answer()).collect();
    columns.sort_by_key(|column| column.row.tokens.get(encoding));
    let loses = |column: &Column| -> Vec<String> {
        let lost = sweep.missing(column).filter(|(field, _)| needed.contains(&field.pattern));
        lost.map(|(field, _)| name(&field.pattern)).collect()
    };
    let is_offered = |column: &&&Column| matches!(column.origin, ColumnOrigin::Call(_));
    let Some(cheapest) = columns.iter().find(is_offered) else {
        verdict.plain("None of the calls gave an answer to compare.");
        return verdict;
    };
    if !sweep.has_same_records() {
        verdict.plain("The answers hold different records, so none of them is the cheaper one.");
        return verdict;
    }
    let lost = loses(cheapest);
    if lost.is_empty() {
        verdict.parts.push(VerdictPart::Good(format!("{} wins", bare(cheapest))));
        verdict.plain(": ");
        verdict.number(cheapest.row.tokens.get(encoding));
        verdict.plain(" tokens, with every field that you need.");
        let cheaper = columns.iter().take_while(|column| column.row.tokens.get(encoding) < cheapest.row.tokens.get(encoding));
        if let Some(other) = cheaper.filter(|column| loses(column).is_empty()).find(|column| !is_offered(column)) {
            verdict.plain(format!(" If you changed it: {}, ", other.title));
            verdict.number(other.row.tokens.get(encoding));
            verdict.plain(".");
        }
        return verdict;
    }
    verdict.parts.push(VerdictPart::Bad(format!("{} loses {}", bare(cheapest), listed(&lost))));
    let keeping: Vec<&&Column> = columns.iter().filter(|column| loses(column).is_empty()).take(3).collect();
    if keeping.is_empty() {
        verdict.plain(if lost.len() == 1 { ". No column keeps it." } else { ". No column keeps them all." });
        return verdict;
    }
    verdict.plain(if lost.len() == 1 { ". Cheapest that keep it: " } else { ". Cheapest that keep them: " });
    for (at, column) in keeping.iter().enumerate() {
        verdict.plain(format!("{}{} ", if at > 0 { ", " } else { "" }, column.title));
        verdict.number(column.row.tokens.get(encoding));
        if !is_offered(column) {
            verdict.plain(" (if you changed it)");
        }
    }
    verdict.plain(".");
    verdict
}

/// The cheapest answer that leaves nothing out, and what a cheaper one does leave out.
fn offer(verdict: &mut Verdict, sweep: &Sweep, answers: &[&Column], baseline: &Column, encoding: Encoding) {
    let tokens = |column: &&&Column| column.row.tokens.get(encoding);
    let Some(cheapest) = answers.iter().min_by_key(tokens).copied() else { return };
    let Some(winner) = answers.iter().filter(|column| loss(sweep, column).is_none()).min_by_key(tokens).copied() else {
        verdict.plain(format!("Every answer of this tool leaves something out. {}: ", bare(cheapest)));
        verdict.number(cheapest.row.tokens.get(encoding));
        verdict.plain(" tokens, but it ");
        verdict.parts.extend(loss(sweep, cheapest).map(VerdictPart::Bad));
        verdict.plain(".");
        return;
    };
    let is_as_cheap =
        |column: &&&Column| loss(sweep, column).is_none() && column.row.tokens.get(encoding) == winner.row.tokens.get(encoding);
    let winners: Vec<&str> = answers.iter().filter(is_as_cheap).map(|column| bare(column)).collect();
    verdict.plain(format!("Of what this tool offers: {}, ", winners.join(" and ")));
    verdict.number(winner.row.tokens.get(encoding));
    verdict.plain(format!(" tokens ({})", encoding.name()));
    // What it is compared with: the baseline, or, if it is that itself, the next cheapest.
    let others = answers.iter().filter(|column| column.origin != winner.origin);
    let other = if winner.origin == baseline.origin { others.clone().min_by_key(tokens).copied() } else { Some(baseline) };
    match other.filter(|_| cheapest.origin == winner.origin) {
        Some(other) => {
            verdict.plain(", ");
            percent(verdict, &winner.row, other, sweep.is_data_alone, encoding);
        }
        None if answers.len() == 1 => verdict.plain(", the only answer"),
        None => {}
    }
    if sweep.is_data_alone && winner.facts.is_some() {
        verdict.plain(", ");
        verdict.parts.push(VerdictPart::Good("no fact lost".to_owned()));
    }
    if cheapest.origin != winner.origin {
        verdict.plain(format!(". {} is ", bare(cheapest)));
        percent(verdict, &cheapest.row, winner, false, encoding);
        verdict.plain(", but it ");
        verdict.parts.extend(loss(sweep, cheapest).map(VerdictPart::Bad));
    }
    verdict.plain(".");
}

/// Whether reading a derived format back gave the value it was written from.
fn is_proved(row: &Row) -> bool {
    row.round_trip.as_ref().is_some_and(|trip| trip.verdict.is_lossless())
}

fn change(verdict: &mut Verdict, sweep: &Sweep, baseline: &Column, encoding: Encoding) {
    let tokens = |column: &&Column| column.row.tokens.get(encoding);
    let whole = |column: &&Column| column.is_answer() && loss(sweep, column).is_none();
    let derived = || sweep.columns.iter().filter(|column| matches!(column.origin, ColumnOrigin::Derived(_))).filter(whole);
    let Some(json) = derived().find(|column| column.format == "json") else { return };
    let cheapest = derived().filter(|column| is_proved(&column.row)).min_by_key(tokens).unwrap_or(json);
    // Token counts are far below 2^53.
    let is_worth_it = (tokens(&cheapest) as f64) < WORTH_NAMING * tokens(&json) as f64;
    for (at, column) in [Some(json), Some(cheapest).filter(|_| is_worth_it)].into_iter().flatten().enumerate() {
        verdict.plain(format!("{}{}, same data: ", if at == 0 { " If you changed it: " } else { "; " }, column.title));
        verdict.number(column.row.tokens.get(encoding));
        // No saving is computed over what the text says beside the data.
        if column.row.left_out.is_none() && column.row.prose == Tokens::default() {
            verdict.plain(", ");
            percent(verdict, &column.row, baseline, sweep.is_data_alone, encoding);
        }
        verdict.plain(", ");
        verdict.parts.push(super::loses(&column.row));
    }
    verdict.plain(".");
}

/// How the tokens of a row stand to those of a column, and the name of that.
fn percent(verdict: &mut Verdict, row: &Row, other: &Column, is_whole: bool, encoding: Encoding) {
    let (tokens, before) = (row.tokens.get(encoding), other.row.tokens.get(encoding));
    let found = super::change(tokens, before, ratio(row, &other.row, encoding).unwrap_or(1.0));
    let joint = if found.is_some() { "against" } else { "as" };
    let text = found.unwrap_or_else(|| super::AS_MANY.to_owned());
    verdict.parts.push(match (tokens.cmp(&before), is_whole) {
        (std::cmp::Ordering::Less, true) => VerdictPart::Good(text),
        (std::cmp::Ordering::Greater, _) => VerdictPart::Bad(text),
        _ => VerdictPart::Plain(text),
    });
    verdict.plain(format!(" {joint} {}", other.title));
}

/// What a column loses, such as "leaves out 6 of 10 fields: city, …"; `None` where it loses no fact.
fn loss(sweep: &Sweep, column: &Column) -> Option<String> {
    let names = |wanted: fn(&crate::analysis::sweep::Field, u64) -> bool| -> Vec<String> {
        sweep.missing(column).filter(|(field, lost)| wanted(field, *lost)).map(|(field, _)| name(&field.pattern)).collect()
    };
    let out = names(|field, lost| lost == field.total && field.is_of_record);
    let around = names(|field, lost| lost == field.total && !field.is_of_record);
    let partly: u64 = sweep.missing(column).filter(|(field, lost)| *lost < field.total).map(|(_, lost)| lost).sum();
    let has_records = sweep.fields.iter().any(|field| field.is_of_record);
    let fields = sweep.fields.iter().filter(|field| field.is_of_record == has_records).count();
    let (main, beside) = if has_records { (out, around) } else { (around, out) };
    // Verb and object; a verb that holds for the next one too is not repeated.
    let mut said: Vec<(&str, String)> = Vec::new();
    if column.absent > 0 {
        let all = sweep.records.iter().filter(|record| record.is_of_reference).count() as u64;
        said.push(("holds", format!("{} of {} records", grouped(all.saturating_sub(column.absent)), grouped(all))));
    }
    if !main.is_empty() {
        said.push(("leaves out", format!("{} of {fields} fields: {}", main.len(), listed(&main))));
    }
    if !beside.is_empty() {
        said.push(("leaves out", format!("{}, beside the records", listed(&beside))));
    }
    if partly > 0 {
        let of = names(|field, lost| lost < field.total);
        let values = if partly == 1 { "value" } else { "values" };
        said.push(("loses", format!("{} {values} of {}", grouped(partly), listed(&of))));
    }
    let told = said.iter().enumerate().map(|(at, (verb, what))| match at.checked_sub(1).map(|before| said[before].0) {
        None => format!("{verb} {what}"),
        Some(before) if before == *verb => format!("also {what}"),
        Some(_) => format!("it {verb} {what}"),
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| told.join("; "))
}

fn listed(names: &[String]) -> String {
    let shown = names.iter().take(MAX_NAMES).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > MAX_NAMES { format!("{shown} and {} more", names.len() - MAX_NAMES) } else { shown }
}

/// The value alone: what the tool offers is always as sent.
fn bare(column: &Column) -> &str {
    column.value_title()
}

#[cfg(test)]
mod tests;
