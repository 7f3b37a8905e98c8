//! The verdict line: what the answer costs as sent, and what it would cost in another format.

use crate::format::ledger::{Row, ratio};
use crate::format::{self, FORMATS, Format, round_trip};
use crate::token::Encoding;

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

    pub(in crate::report) fn plain(&mut self, text: impl Into<String>) {
        self.parts.push(VerdictPart::Plain(text.into()));
    }

    pub(in crate::report) fn number(&mut self, number: u64) {
        self.parts.push(VerdictPart::Number(grouped(number)));
    }
}

/// Computes the sentence from the rows that are there; `None` until those it needs are.
pub fn verdict(rows: &[&Row], encoding: Encoding) -> Option<Verdict> {
    let row = |id: &str| rows.iter().copied().find(|row| row.format == id);
    // All four must have come, since each decides what is said.
    let (both, content, structured, json) = (row("both")?, row("content")?, row("structured")?, row("json")?);
    let mut verdict = Verdict::default();
    let Some(sent) = [both, content, structured].into_iter().find(|row| row.is_available()) else {
        verdict.plain("No text and no structuredContent: nothing to count.");
        return Some(verdict);
    };
    let tokens = sent.tokens.get(encoding);
    verdict.number(tokens);
    verdict.plain(format!(" {} as sent ({}, exact).", if tokens == 1 { "token" } else { "tokens" }, encoding.name()));
    if let Some(uncounted) = &sent.uncounted {
        verdict.parts.push(VerdictPart::Bad(format!(" Not counted: {uncounted}.")));
    }
    if json.is_available() {
        alternative(&mut verdict, sent, json, encoding);
        if let Some(cheapest) = cheapest(rows, json, encoding) {
            alternative(&mut verdict, sent, cheapest, encoding);
        }
    } else {
        verdict.plain(" No payload in it: no other format to compare with.");
    }
    if both.is_available()
        && let Some(facts) = content.facts.filter(|facts| facts.total > 0)
    {
        let said = facts.kept + facts.reworded;
        verdict.plain(" The text alone says ");
        let share = format!("{} of {} facts", grouped(said), grouped(facts.total));
        verdict.parts.push(if facts.missing > 0 { VerdictPart::Bad(share) } else { VerdictPart::Good(share) });
        verdict.plain(".");
    }
    Some(verdict)
}

/// The cheapest format that is proved to lose nothing, if it costs at least 5% less than `json`. None until every row
/// has come: a cheaper one may follow.
fn cheapest<'a>(rows: &[&'a Row], json: &Row, encoding: Encoding) -> Option<&'a Row> {
    if !FORMATS.iter().all(|format| rows.iter().any(|row| row.format == format.id())) {
        return None;
    }
    let is_derived = |row: &&Row| FORMATS.iter().any(|format| format.id() == row.format && !format.is_as_sent());
    let loses_nothing = |row: &&Row| {
        row.is_available()
            && row.facts.is_none_or(|facts| facts.missing == 0)
            && row.round_trip.as_ref().is_some_and(|trip| trip.verdict.is_lossless())
    };
    let cheapest = rows.iter().copied().filter(is_derived).filter(loses_nothing).min_by_key(|row| row.tokens.get(encoding))?;
    // At most 95% of it, in whole numbers.
    let is_worth_it = cheapest.tokens.get(encoding).saturating_mul(100) <= json.tokens.get(encoding).saturating_mul(95);
    (is_worth_it && cheapest.format != json.format).then_some(cheapest)
}

/// Another format of the same data beside what was sent.
fn alternative(verdict: &mut Verdict, sent: &Row, other: &Row, encoding: Encoding) {
    let Some(ratio) = ratio(other, sent, encoding) else { return };
    let missing = other.facts.map_or(0, |facts| facts.missing);
    let is_json = other.format == "json";
    let title = format::by_id(other.format).map_or(other.format, Format::title);
    verdict.plain(format!(" {title}{}: ", if is_json { ", same data" } else { "" }));
    verdict.number(other.tokens.get(encoding));
    verdict.plain(", ");
    let percent = ((ratio - 1.0) * 100.0).round();
    let loses = if missing > 0 {
        format!("loses {} {}", grouped(missing), if missing == 1 { "fact" } else { "facts" })
    } else if other.round_trip.as_ref().is_some_and(|trip| trip.verdict == round_trip::Verdict::Equal) {
        "loses no value, but order or the spelling of numbers".to_owned()
    } else if sent.is_payload_alone {
        "loses nothing".to_owned()
    } else {
        // The text may say more than the payload holds.
        "loses no fact of the data".to_owned()
    };
    // Compared as counts: a percentage of 0 may still be dearer by a token.
    let change =
        if percent == 0.0 { "0%".to_owned() } else { format!("{}{}%", if percent < 0.0 { "−" } else { "+" }, percent.abs()) };
    verdict.parts.push(match (other.tokens.get(encoding).cmp(&sent.tokens.get(encoding)), missing) {
        (std::cmp::Ordering::Less, 0) => VerdictPart::Good(change),
        (std::cmp::Ordering::Greater, _) => VerdictPart::Bad(change),
        _ => VerdictPart::Plain(change),
    });
    verdict.plain(" against as sent, ");
    verdict.parts.push(if missing == 0 { VerdictPart::Good(loses) } else { VerdictPart::Bad(loses) });
    verdict.plain(".");
}

/// A count as people read it, everywhere: digits in groups of three, `12,345`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::FactCount;
    use crate::token::Tokens;

    fn row(format: &'static str, tokens: u64, missing: u64) -> Row {
        Row {
            format,
            tokens: Tokens { o200k_base: tokens, cl100k_base: tokens },
            facts: Some(FactCount { total: 451, kept: 451 - missing, reworded: 0, missing }),
            is_payload_alone: matches!(format, "structured" | "json"),
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
        let content = Row { is_payload_alone: true, ..row("content", 5_240, 0) };
        let rows = [content, none("structured"), none("both"), row("json", 3_591, 0)];
        assert_eq!(
            say(&rows).unwrap(),
            "5,240 tokens as sent (o200k_base, exact). JSON, compact, same data: 3,591, −31% against as sent, loses nothing."
        );
    }

    #[test]
    fn two_parts_say_what_the_text_lacks() {
        let rows = [row("content", 3_822, 39), row("structured", 3_591, 0), row("both", 7_413, 0), row("json", 3_591, 0)];
        assert_eq!(
            say(&rows).unwrap(),
            "7,413 tokens as sent (o200k_base, exact). JSON, compact, same data: 3,591, −52% against as sent, loses no fact of the data. The text alone says 412 of 451 facts."
        );
    }

    #[test]
    fn a_dearer_alternative_is_no_gain() {
        let rows = [none("content"), row("structured", 100, 0), none("both"), row("json", 112, 0)];
        let found = verdict(&rows.iter().collect::<Vec<_>>(), Encoding::Cl100kBase).unwrap();
        assert!(found.parts.contains(&VerdictPart::Bad("+12%".into())), "{}", found.text());
    }

    /// Every row, the derived ones with these tokens and verdicts where given.
    fn all(given: &[(&'static str, u64, round_trip::Verdict, u64)]) -> Vec<Row> {
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
        use round_trip::Verdict::{Equal, Exact, Lossy};
        let mut rows = all(&[
            ("structured", 1_000, Exact, 0),
            ("json", 1_000, Exact, 0),
            ("csv", 500, Lossy, 0),
            ("markdown-table", 600, Exact, 2),
            ("json-table", 650, Exact, 0),
            ("toon", 640, Equal, 0),
        ]);
        let base =
            "1,000 tokens as sent (o200k_base, exact). JSON, compact, same data: 1,000, 0% against as sent, loses nothing.";
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
    }

    #[test]
    fn what_is_not_counted_is_said() {
        let content = Row { uncounted: Some("1 image".into()), ..row("content", 14, 0) };
        let said = say(&[content, none("structured"), none("both"), none("json")]).unwrap();
        assert!(said.starts_with("14 tokens as sent (o200k_base, exact). Not counted: 1 image. No payload"), "{said}");
    }

    #[test]
    fn answers_without_data_or_text() {
        let no_payload = [row("content", 1_000, 0), none("structured"), none("both"), none("json")];
        assert_eq!(
            say(&no_payload).unwrap(),
            "1,000 tokens as sent (o200k_base, exact). No payload in it: no other format to compare with."
        );
        let nothing = [none("content"), none("structured"), none("both"), none("json")];
        assert!(say(&nothing).unwrap().starts_with("No text"));
        assert_eq!(say(&no_payload[..2]), None);
    }
}
