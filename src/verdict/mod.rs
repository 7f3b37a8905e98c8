//! Sentences over what the queries found: what the answer costs as sent, and what it would cost in another format.

mod breakage;
mod deliveries;
mod hosts;
mod sweep;

pub use breakage::breakage;
pub use sweep::{needed_verdict, sweep_verdict};

use crate::analysis::{counted, ratio_of};
use crate::format::ledger::{LeftOut, Row};
use crate::format::{self, FORMATS, Format, round_trip};
use crate::number::{grouped, number_of};
use crate::token::{Count, Encoding, Tokenizer, Tokens};

/// A piece of the verdict, so that the window can colour what the words say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VerdictPart {
    Plain(String),
    Number(String),
    /// A saving that loses no fact.
    Good(String),
    /// A loss, or a higher cost.
    Bad(String),
}

/// The computed sentence above the ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    pub parts: Vec<VerdictPart>,
}

impl Verdict {
    /// The sentence as plain text.
    pub fn text(&self) -> String {
        self.parts
            .iter()
            .map(|part| match part {
                VerdictPart::Plain(text) | VerdictPart::Number(text) | VerdictPart::Good(text) | VerdictPart::Bad(text) => {
                    text.as_str()
                }
            })
            .collect()
    }

    fn plain(&mut self, text: impl Into<String>) {
        self.parts.push(VerdictPart::Plain(text.into()));
    }

    fn count(&mut self, count: Option<Count>) {
        self.parts.push(VerdictPart::Number(count.map_or_else(|| "–".to_owned(), counted)));
    }

    fn number(&mut self, number: u64) {
        self.parts.push(VerdictPart::Number(grouped(number)));
    }
}

/// A row with its count by the tokenizer that was chosen; no count where the format does not apply.
#[derive(Clone, Copy, Debug)]
pub struct CountedRow<'a> {
    pub row: &'a Row,
    pub count: Option<Count>,
    /// Why a tokenizer's file does not take the text.
    pub why: Option<&'a str>,
}

impl<'a> CountedRow<'a> {
    /// With the text beside the data, and what that costs; `None` where there is none, or it is not counted.
    fn with_prose(self, tokenizer: &Tokenizer) -> Option<(CountedRow<'a>, Count)> {
        let prose = tokenizer.from_tokens(self.row.prose).filter(|_| self.row.prose != Tokens::default())?;
        Some((Self { count: Some(self.count?.plus(prose)), ..self }, prose))
    }

    /// The end that the count was made from: two estimates compare by it.
    fn tokens(&self) -> u64 {
        self.count.map_or(0, Count::high)
    }
}

/// Computes the sentence from the rows that are there; `None` until those it needs are.
pub fn verdict(rows: &[&Row], encoding: Encoding) -> Option<Verdict> {
    let tokenizer = Tokenizer::Encoding(encoding);
    let rows: Vec<_> = rows.iter().map(|&row| CountedRow { row, count: tokenizer.from_tokens(row.tokens), why: None }).collect();
    verdict_counted(&rows, &tokenizer)
}

/// As [`verdict`], by any tokenizer; an estimate is said as one.
pub fn verdict_counted(rows: &[CountedRow<'_>], tokenizer: &Tokenizer) -> Option<Verdict> {
    // A row that applies and is not counted yet has not come.
    let rows: Vec<_> = rows.iter().copied().filter(|row| row.count.is_some() || !row.row.is_available()).collect();
    let row = |id: &str| rows.iter().copied().find(|row| row.row.format == id);
    // All four must have come, since each decides what is said.
    let (both, content, structured, json) = (row("both")?, row("content")?, row("structured")?, row("json")?);
    let mut verdict = Verdict::default();
    let Some(sent) = [both, content, structured].into_iter().find(|row| row.row.is_available()) else {
        verdict.plain("No text and no structuredContent: nothing to count.");
        return Some(verdict);
    };
    let how = if tokenizer.is_exact() { "exact" } else { "an estimate" };
    verdict.count(sent.count);
    verdict.plain(format!(" {} as sent ({}, {how}).", if sent.tokens() == 1 { "token" } else { "tokens" }, tokenizer.name()));
    if let Some(uncounted) = &sent.row.uncounted {
        verdict.parts.push(VerdictPart::Bad(format!(" Not counted: {uncounted}.")));
    }
    if json.row.is_available() {
        let data = if json.row.left_out.is_some() { "the data alone" } else { "same data" };
        alternative(&mut verdict, tokenizer, sent, json, &format!("JSON, compact, {data}"));
        let cheapest = cheapest(&rows, json);
        if let Some(first) = cheapest.first() {
            alternative(&mut verdict, tokenizer, sent, *first, &titles(&cheapest));
        }
        if let Some(left_out) = json.row.left_out {
            verdict.parts.push(VerdictPart::Bad(format!(" {}", left_out_text(left_out, tokenizer))));
        }
    } else {
        verdict.plain(" No data in it: no other format to compare with.");
    }
    if both.row.is_available()
        && let Some(facts) = content.row.facts.filter(|facts| facts.total > 0)
    {
        let said = facts.kept + facts.reworded;
        verdict.plain(" The text alone says ");
        let share = format!("{} of {} facts", grouped(said), grouped(facts.total));
        verdict.parts.push(if facts.missing > 0 { VerdictPart::Bad(share) } else { VerdictPart::Good(share) });
        verdict.plain(".");
    }
    Some(verdict)
}

/// As [`verdict_counted`] where there is room for one line: the saving with its percentage and its loss come first, what
/// was sent after them.
pub fn verdict_short(rows: &[CountedRow<'_>], tokenizer: &Tokenizer) -> Option<Verdict> {
    let whole = verdict_counted(rows, tokenizer)?;
    let rows: Vec<_> = rows.iter().copied().filter(|row| row.count.is_some() || !row.row.is_available()).collect();
    let row = |id: &str| rows.iter().copied().find(|row| row.row.format == id);
    let Some(sent) = ["both", "content", "structured"].into_iter().filter_map(row).find(|row| row.row.is_available()) else {
        return Some(whole);
    };
    let Some(json) = row("json").filter(|json| json.row.is_available()) else { return Some(whole) };
    let mut verdict = Verdict::default();
    let cheapest = cheapest(&rows, json);
    for (titles, other) in [(titles(&[json]), Some(&json)), (titles(&cheapest), cheapest.first())] {
        let Some((other, ratio)) = other.and_then(|other| Some((*other, ratio_of(other.count, sent.count)?))) else { continue };
        let space = if verdict.parts.is_empty() { "" } else { " " };
        verdict.plain(format!("{space}{titles}: "));
        match other.row.left_out {
            Some(_) => {
                verdict.count(other.count);
                verdict.plain(" for the data alone.");
            }
            None => {
                let whole = other.with_prose(tokenizer).map_or(other, |(whole, _)| whole);
                stands(&mut verdict, sent, whole, ratio_of(whole.count, sent.count).unwrap_or(ratio));
            }
        }
    }
    if let Some(left_out) = json.row.left_out {
        verdict.parts.push(VerdictPart::Bad(format!(" {}", left_out_text(left_out, tokenizer))));
    }
    verdict.plain(" ");
    verdict.count(sent.count);
    let how = if tokenizer.is_exact() { "exact" } else { "an estimate" };
    verdict.plain(format!(" {} as sent ({}, {how}).", if sent.tokens() == 1 { "token" } else { "tokens" }, tokenizer.name()));
    if let Some(uncounted) = &sent.row.uncounted {
        verdict.parts.push(VerdictPart::Bad(format!(" Not counted: {uncounted}.")));
    }
    Some(verdict)
}

/// "But the text says 12 things that the data does not hold (52 tokens)."
fn left_out_text(left_out: LeftOut, tokenizer: &Tokenizer) -> String {
    let mut parts = Vec::new();
    if left_out.statements > 0 {
        let things = number_of(left_out.statements, "things");
        let tokens =
            tokenizer.from_tokens(left_out.tokens).map_or_else(String::new, |count| format!(" ({})", tokens_text(count)));
        parts.push(format!("the text says {things} that the data does not hold{tokens}"));
    }
    if left_out.others > 0 {
        parts.push(format!(
            "{} beside the data {} no text",
            number_of(left_out.others, "blocks"),
            if left_out.others == 1 { "is" } else { "are" }
        ));
    }
    format!("But {}.", parts.join(", and "))
}

fn tokens_text(count: Count) -> String {
    format!("{} {}", counted(count), if count == Count::Exact(1) { "token" } else { "tokens" })
}

fn title(row: &Row) -> &'static str {
    format::by_id(row.format).map_or(row.format, Format::title)
}

/// "TOON", or "TOON and YAML" where they cost the same.
fn titles(rows: &[CountedRow<'_>]) -> String {
    rows.iter().map(|row| title(row.row)).collect::<Vec<_>>().join(" and ")
}

/// The cheapest format that gives the data back, if it costs at least 5% less than `json`, with all that cost as little.
/// None until every row has come: a cheaper one may follow.
fn cheapest<'a>(rows: &[CountedRow<'a>], json: CountedRow<'_>) -> Vec<CountedRow<'a>> {
    if !FORMATS.iter().all(|format| rows.iter().any(|row| row.row.format == format.id())) {
        return Vec::new();
    }
    let is_derived = |row: &CountedRow<'_>| FORMATS.iter().any(|format| format.id() == row.row.format && !format.is_as_sent());
    let comes_back = |row: &CountedRow<'_>| {
        row.row.is_available()
            && row.row.facts.is_none_or(|facts| facts.missing == 0)
            && row.row.round_trip.as_ref().is_some_and(|trip| trip.verdict.is_lossless())
    };
    let whole = || rows.iter().copied().filter(is_derived).filter(comes_back);
    let least = whole().map(|row| row.tokens()).min().unwrap_or(0);
    // At most 95% of it, in whole numbers.
    let is_worth_it = least.saturating_mul(100) <= json.tokens().saturating_mul(95);
    whole().filter(|row| is_worth_it && row.tokens() == least && row.row.format != json.row.format).collect()
}

/// Another format of the same data beside what was sent.
fn alternative(
    verdict: &mut Verdict,
    tokenizer: &Tokenizer,
    counted_sent: CountedRow<'_>,
    counted_other: CountedRow<'_>,
    titles: &str,
) {
    let Some(ratio) = ratio_of(counted_other.count, counted_sent.count) else { return };
    verdict.plain(format!(" {titles}: "));
    verdict.count(counted_other.count);
    if counted_other.row.left_out.is_some() {
        // No saving is computed over what is left out.
        verdict.plain(if counted_other.tokens() == 1 { " token." } else { " tokens." });
        return;
    }
    // The text beside the data is said in any format, so it counts with it.
    let (counted_other, ratio) = match counted_other.with_prose(tokenizer) {
        Some((with_prose, prose)) => {
            verdict.plain(format!(" and {} beside the data", counted(prose)));
            (with_prose, ratio_of(with_prose.count, counted_sent.count).unwrap_or(ratio))
        }
        None => (counted_other, ratio),
    };
    verdict.plain(", ");
    stands(verdict, counted_sent, counted_other, ratio);
}

/// "−31% against as sent, loses nothing."
fn stands(verdict: &mut Verdict, counted_sent: CountedRow<'_>, counted_other: CountedRow<'_>, ratio: f64) {
    let loses = loses(counted_other.row);
    let (tokens, before) = (counted_other.tokens(), counted_sent.tokens());
    let change = change(tokens, before, ratio);
    let against = if change.is_some() { "against as sent" } else { "as sent" };
    let change = change.unwrap_or_else(|| AS_MANY.to_owned());
    verdict.parts.push(match (tokens.cmp(&before), &loses) {
        (std::cmp::Ordering::Less, Some(VerdictPart::Good(_))) => VerdictPart::Good(change),
        (std::cmp::Ordering::Greater, _) => VerdictPart::Bad(change),
        _ => VerdictPart::Plain(change),
    });
    verdict.plain(format!(" {against}"));
    if let Some(loses) = loses {
        verdict.plain(", ");
        verdict.parts.push(loses);
    }
    verdict.plain(".");
}

/// What a row loses of the answer; `None` where that is not known, since a text may say more than the data.
pub(super) fn loses(row: &Row) -> Option<VerdictPart> {
    let missing = row.facts.map_or(0, |facts| facts.missing);
    if missing > 0 {
        return Some(VerdictPart::Bad(format!("loses {} {}", grouped(missing), if missing == 1 { "fact" } else { "facts" })));
    }
    let is_equal = row.round_trip.as_ref().is_some_and(|trip| trip.verdict == round_trip::RoundTripVerdict::Equal);
    let words = if is_equal { "loses no value, but order or the spelling of numbers" } else { "loses nothing" };
    row.left_out.is_none().then(|| VerdictPart::Good(words.to_owned()))
}

/// How a count stands to another: in percent where that says something, else in tokens; `None` where they are equal.
pub(super) fn change(tokens: u64, before: u64, ratio: f64) -> Option<String> {
    let percent = ((ratio - 1.0) * 100.0).round();
    let difference = tokens.abs_diff(before);
    let sign = if tokens < before { "−" } else { "+" };
    match (difference, percent == 0.0) {
        (0, _) => None,
        (1, true) => Some(format!("{sign}1 token")),
        (_, true) => Some(format!("{sign}{} tokens", grouped(difference))),
        (_, false) => Some(format!("{sign}{}%", percent.abs())),
    }
}

/// What is said of two equal counts.
pub(super) const AS_MANY: &str = "as many tokens";

#[cfg(test)]
mod tests {
    use super::*;

    use crate::capture::FactCount;

    fn row(format: &'static str, tokens: u64, missing: u64) -> Row {
        Row {
            format,
            tokens: Tokens { o200k_base: tokens, cl100k_base: tokens },
            facts: Some(FactCount { total: 451, kept: 451 - missing, reworded: 0, missing }),
            ..Row::default()
        }
    }

    fn none(format: &'static str) -> Row {
        Row { format, why: Some("not in this answer".into()), ..Row::default() }
    }

    fn say(rows: &[Row]) -> Option<String> {
        verdict(&rows.iter().collect::<Vec<_>>(), Encoding::O200kBase).map(|verdict| verdict.text())
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn a_text_of_json_loses_nothing() {
        let content = row("content", 5_240, 0);
        let rows = [content, none("structured"), none("both"), row("json", 3_591, 0)];
        assert_eq!(
            say(&rows).unwrap(),
            "5,240 tokens as sent (o200k_base, exact). JSON, compact, same data: 3,591, −31% against as sent, loses nothing."
        );
    }

    #[test]
    fn the_short_sentence_begins_with_the_saving() {
        let content = row("content", 5_240, 0);
        let rows = [content, none("structured"), none("both"), row("json", 3_591, 0)];
        let counted: Vec<_> = rows
            .iter()
            .map(|row| CountedRow {
                row,
                count: Tokenizer::default().from_tokens(row.tokens).filter(|_| row.is_available()),
                why: None,
            })
            .collect();
        assert_eq!(
            verdict_short(&counted, &Tokenizer::default()).unwrap().text(),
            "JSON, compact: −31% against as sent, loses nothing. 5,240 tokens as sent (o200k_base, exact)."
        );
        assert!(verdict_short(&counted[..2], &Tokenizer::default()).is_none(), "not all has come");
    }

    #[test]
    fn two_parts_say_what_the_text_lacks() {
        let beside = |row| Row {
            left_out: Some(LeftOut { statements: 12, tokens: Tokens { o200k_base: 72, cl100k_base: 72 }, ..LeftOut::default() }),
            ..row
        };
        let rows = [
            row("content", 3_822, 39),
            beside(row("structured", 3_591, 0)),
            row("both", 7_413, 0),
            beside(row("json", 3_591, 0)),
        ];
        assert_eq!(
            say(&rows).unwrap(),
            "7,413 tokens as sent (o200k_base, exact). JSON, compact, the data alone: 3,591 tokens. But the text says 12 things that the data does not hold (72 tokens). The text alone says 412 of 451 facts."
        );
    }

    #[test]
    fn a_dearer_alternative_is_no_gain() {
        let rows = [none("content"), row("structured", 100, 0), none("both"), row("json", 112, 0)];
        let found = verdict(&rows.iter().collect::<Vec<_>>(), Encoding::Cl100kBase).unwrap();
        assert!(found.parts.contains(&VerdictPart::Bad("+12%".into())), "{}", found.text());
    }

    /// Every row, the derived ones with these tokens and verdicts where given.
    fn all(given: &[(&'static str, u64, round_trip::RoundTripVerdict, u64)]) -> Vec<Row> {
        let row_of = |id: &'static str| {
            let Some(&(_, tokens, verdict, missing)) = given.iter().find(|given| given.0 == id) else { return none(id) };
            let trip = round_trip::RoundTrip {
                verdict,
                differences: round_trip::Differences::default(),
                changes: round_trip::Differences::default(),
                elsewhere: round_trip::Differences::default(),
                note: None,
            };
            Row { round_trip: Some(trip), ..row(id, tokens, missing) }
        };
        FORMATS.iter().map(|format| row_of(format.id())).collect()
    }

    #[test]
    fn the_cheapest_that_is_proved_is_named() {
        use round_trip::RoundTripVerdict::{Equal, Exact, Lossy};
        let mut rows = all(&[
            ("structured", 1_000, Exact, 0),
            ("json", 1_000, Exact, 0),
            ("csv", 500, Lossy, 0),
            ("markdown-table", 600, Exact, 2),
            ("json-table", 650, Exact, 0),
            ("toon", 640, Equal, 0),
        ]);
        let base =
            "1,000 tokens as sent (o200k_base, exact). JSON, compact, same data: 1,000, as many tokens as sent, loses nothing.";
        assert_eq!(
            say(&rows).unwrap(),
            format!("{base} TOON: 640, −36% against as sent, loses no value, but order or the spelling of numbers.")
        );
        rows.retain(|row| row.format != "toon");
        assert_eq!(say(&rows).unwrap(), base, "a cheaper one may still come");
        let dear = all(&[("structured", 1_000, Exact, 0), ("json", 1_000, Exact, 0), ("json-table", 951, Exact, 0)]);
        assert_eq!(say(&dear).unwrap(), base, "5% are asked for");
        let table = all(&[("structured", 1_000, Exact, 0), ("json", 1_000, Exact, 0), ("json-table", 950, Exact, 0)]);
        assert!(say(&table).unwrap().ends_with("JSON, columns and rows: 950, −5% against as sent, loses nothing."));
        let tie = all(&[
            ("structured", 1_000, Exact, 0),
            ("json", 1_000, Exact, 0),
            ("json-table", 900, Exact, 0),
            ("yaml", 900, Exact, 0),
        ]);
        assert!(say(&tie).unwrap().contains(" JSON, columns and rows and YAML: 900, −10%"), "{}", say(&tie).unwrap());
    }

    #[test]
    fn an_estimate_never_looks_exact() {
        let rows = [none("content"), row("structured", 1_000, 0), none("both"), row("json", 800, 0)];
        let count = |row| Some(Count::claude(if row == "json" { 800 } else { 1_000 }));
        let mut rows: Vec<_> = rows.iter().map(|row| CountedRow { row, count: count(row.format), why: None }).collect();
        assert_eq!(
            verdict_counted(&rows, &Tokenizer::Claude).unwrap().text(),
            "≈1,100–1,950 tokens as sent (claude, an estimate). JSON, compact, same data: ≈880–1,560, −20% against as sent, loses nothing."
        );
        rows[3].count = None;
        assert!(verdict_counted(&rows, &Tokenizer::Claude).is_none(), "not counted yet");
    }

    #[test]
    fn what_is_not_counted_is_said() {
        let content = Row { uncounted: Some("1 image".into()), ..row("content", 14, 0) };
        let said = say(&[content, none("structured"), none("both"), none("json")]).unwrap();
        assert!(said.starts_with("14 tokens as sent (o200k_base, exact). Not counted: 1 image. No data"), "{said}");
    }

    #[test]
    fn answers_without_data_or_text() {
        let no_payload = [row("content", 1_000, 0), none("structured"), none("both"), none("json")];
        assert_eq!(
            say(&no_payload).unwrap(),
            "1,000 tokens as sent (o200k_base, exact). No data in it: no other format to compare with."
        );
        let nothing = [none("content"), none("structured"), none("both"), none("json")];
        assert!(say(&nothing).unwrap().starts_with("No text"));
        assert_eq!(say(&no_payload[..2]), None);
    }
}
