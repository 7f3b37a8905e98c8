//! Sentences over what the queries found: what the answer costs as sent, and what it would cost in another format.

mod breakage;
mod deliveries;
mod hosts;
mod strip;
mod sweep;

pub use breakage::breakage;
pub use hosts::HostsHeadline;
pub use strip::{Loss, SentAs, Strip, StripCell, left_out, strip};
pub use sweep::{column_loss, held, sweep_strip, sweep_verdict};

use crate::analysis::{HostRow, counted};
use crate::format::ledger::Row;
use crate::format::{self, Format};
use crate::number::grouped;
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

    /// What a cell loses and whether it is the cheapest, to the end of the sentence.
    fn loss(&mut self, cell: &StripCell) {
        if let Some(loss) = &cell.loss {
            self.plain(", ");
            let detail = if loss.detail.is_empty() { String::new() } else { format!(" ({})", loss.detail) };
            let words = format!("{}{detail}", loss.text);
            self.parts.push(if loss.is_kept { VerdictPart::Good(words) } else { VerdictPart::Bad(words) });
        }
        if let Some(badge) = &cell.badge {
            self.plain(format!(", {badge}"));
        }
        self.plain(".");
    }

    /// " TOON: 640 tokens, −36%, no fact lost, cheapest."
    fn cell(&mut self, cell: &StripCell, name: &str) {
        self.plain(format!(" {name}: "));
        self.count(Some(cell.count));
        self.plain(format!(" {}", unit(cell.count)));
        if let Some(prose) = cell.prose {
            self.plain(format!(" plus {} of text beside the data", counted(prose)));
        }
        if let Some(change) = &cell.change {
            self.plain(", ");
            self.parts.push(match (change.starts_with('−'), cell.loss.as_ref().is_some_and(|loss| loss.is_kept)) {
                (true, true) => VerdictPart::Good(change.clone()),
                (false, _) if change.starts_with('+') => VerdictPart::Bad(change.clone()),
                _ => VerdictPart::Plain(change.clone()),
            });
        }
        self.loss(cell);
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

/// Computes the sentence from the rows that are there, against what is sent, or what this host sends of it; `None` until
/// those it needs are there.
pub fn verdict(rows: &[&Row], host: Option<&HostRow>, encoding: Encoding) -> Option<Verdict> {
    let tokenizer = Tokenizer::Encoding(encoding);
    let sent_as = host.map(|row| SentAs::of(row, &tokenizer));
    let rows: Vec<_> = rows.iter().map(|&row| CountedRow { row, count: tokenizer.from_tokens(row.tokens), why: None }).collect();
    verdict_counted(&rows, sent_as, &tokenizer)
}

/// As [`verdict`], by any tokenizer, and against what a host sends; an estimate is said as one.
pub fn verdict_counted(rows: &[CountedRow<'_>], sent_as: Option<SentAs<'_>>, tokenizer: &Tokenizer) -> Option<Verdict> {
    let strip = strip(rows, sent_as, tokenizer)?;
    let mut verdict = Verdict::default();
    let note = strip.note.as_deref().unwrap_or_default();
    let Some((sent, others)) = strip.cells.split_first() else {
        verdict.plain(format!("{note}."));
        return Some(verdict);
    };
    let how = if tokenizer.is_exact() { "exact" } else { "an estimate" };
    verdict.count(Some(sent.count));
    let sent_as = strip.sent_by.as_ref().map_or_else(|| "as sent".to_owned(), |host| format!("as {host} sends it"));
    verdict.plain(format!(" {} {sent_as} ({}, {how})", unit(sent.count), tokenizer.name()));
    verdict.loss(sent);
    for cell in others {
        verdict.cell(cell, &cell.name);
    }
    if strip.note.is_some() {
        verdict.plain(format!(" {note}: no other format to compare with."));
    }
    Some(verdict)
}

fn unit(count: Count) -> &'static str {
    if count == Count::Exact(1) { "token" } else { "tokens" }
}

fn title(row: &Row) -> &'static str {
    format::by_id(row.format).map_or(row.format, Format::title)
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

#[cfg(test)]
mod tests {
    use super::*;

    use crate::analysis::HostsReport;
    use crate::analysis::tests::subject_of;
    use crate::cancel::Cancel;
    use crate::capture::FactCount;
    use crate::format::FORMATS;
    use crate::format::ledger::LeftOut;
    use crate::format::round_trip;
    use crate::host::Hosts;
    use round_trip::RoundTripVerdict::{self, Equal, Exact, Lossy};

    fn trip(verdict: RoundTripVerdict) -> Option<round_trip::RoundTrip> {
        Some(round_trip::RoundTrip {
            verdict,
            differences: round_trip::Differences::default(),
            changes: round_trip::Differences::default(),
            elsewhere: round_trip::Differences::default(),
            note: None,
        })
    }

    fn row(format: &'static str, tokens: u64, missing: u64) -> Row {
        Row {
            format,
            tokens: Tokens { o200k_base: tokens, cl100k_base: tokens },
            facts: Some(FactCount { total: 451, kept: 451 - missing, reworded: 0, missing }),
            round_trip: if format == "json" { trip(Exact) } else { None },
            ..Row::default()
        }
    }

    fn none(format: &'static str) -> Row {
        Row { format, why: Some("not in this answer".into()), ..Row::default() }
    }

    fn say(rows: &[Row]) -> Option<String> {
        verdict(&rows.iter().collect::<Vec<_>>(), None, Encoding::O200kBase).map(|verdict| verdict.text())
    }

    fn strip_of(rows: &[Row]) -> Strip {
        let count = |row: &Row| Tokenizer::default().from_tokens(row.tokens).filter(|_| row.is_available());
        let counted: Vec<_> = rows.iter().map(|row| CountedRow { row, count: count(row), why: None }).collect();
        strip(&counted, None, &Tokenizer::default()).unwrap()
    }

    /// These rows, and every other format as one that does not apply.
    fn whole(rows: &[Row]) -> Vec<Row> {
        let row = |id| rows.iter().find(|row| row.format == id).cloned().unwrap_or_else(|| none(id));
        FORMATS.iter().map(|format| row(format.id())).collect()
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn compact_json_of_a_text_of_json_wins() {
        let content = row("content", 5_240, 0);
        let rows = [content, none("structured"), none("both"), row("json", 3_591, 0)];
        assert!(strip_of(&rows).winner().is_none(), "a cheaper one may still come");
        let rows = whole(&rows);
        assert_eq!(
            say(&rows).unwrap(),
            "5,240 tokens as sent (o200k_base, exact). JSON, compact: 3,591 tokens, −31%, no fact lost, cheapest."
        );
        assert_eq!(
            strip_of(&rows).headline().unwrap(),
            "Same data as JSON, compact: 3,591 tokens, 31% less than sent, no fact lost."
        );
    }

    #[test]
    fn what_leaves_something_out_saves_nothing() {
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
            "7,413 tokens as sent (o200k_base, exact), the text misses 39 of 451 facts. JSON, compact: 3,591 tokens, leaves out 12 things the text says (72 tokens)."
        );
        let strip = strip_of(&rows);
        assert!(strip.winner().is_none() && strip.headline().is_none());
        assert_eq!((strip.cells[1].change.as_deref(), strip.cells[1].role.as_str()), (None, "the data alone"));
    }

    #[test]
    fn a_text_that_is_sent_twice_is_sent_once() {
        let rows = [
            row("content", 119, 0),
            Row { is_twin: true, ..row("structured", 127, 0) },
            row("both", 247, 0),
            row("json", 161, 0),
        ];
        let strip = strip_of(&whole(&rows));
        assert_eq!(strip.headline().unwrap(), "Same data as the text alone: 119 tokens, 52% less than sent, no fact lost.");
        assert_eq!((strip.cells[0].role.as_str(), strip.cells[1].format), ("text, sent twice", "content"));
    }

    #[test]
    fn prose_that_is_sent_twice_is_sent_once_too() {
        let rows = [
            Row { facts: None, ..row("content", 8, 0) },
            Row { is_twin: true, facts: None, ..row("structured", 13, 0) },
            Row { facts: None, ..row("both", 22, 0) },
            none("json"),
        ];
        assert_eq!(
            say(&rows).unwrap(),
            "22 tokens as sent (o200k_base, exact), the same text twice. Without the copy: 8 tokens, −64%, the same text. No data in this text: no other format to compare with."
        );
        assert!(strip_of(&rows).winner().is_none(), "there is nothing else to compare with");
    }

    #[test]
    fn a_dearer_alternative_is_no_gain() {
        let rows = [none("content"), row("structured", 100, 0), none("both"), row("json", 112, 0)];
        let found = verdict(&rows.iter().collect::<Vec<_>>(), None, Encoding::Cl100kBase).unwrap();
        assert!(found.parts.contains(&VerdictPart::Bad("+12%".into())), "{}", found.text());
    }

    /// Every row, the derived ones with these tokens and verdicts where given.
    fn all(given: &[(&'static str, u64, RoundTripVerdict, u64)]) -> Vec<Row> {
        let row_of = |id: &'static str| {
            let Some(&(_, tokens, verdict, missing)) = given.iter().find(|given| given.0 == id) else { return none(id) };
            Row { round_trip: trip(verdict), ..row(id, tokens, missing) }
        };
        FORMATS.iter().map(|format| row_of(format.id())).collect()
    }

    #[test]
    fn the_cheapest_that_is_proved_is_named() {
        let mut rows = all(&[
            ("structured", 1_000, Exact, 0),
            ("json", 1_000, Exact, 0),
            ("csv", 500, Lossy, 0),
            ("markdown-table", 600, Exact, 2),
            ("json-table", 650, Exact, 0),
            ("toon", 640, Equal, 0),
        ]);
        let base = "1,000 tokens as sent (o200k_base, exact). JSON, compact: 1,000 tokens, ±0, no fact lost.";
        assert_eq!(
            say(&rows).unwrap(),
            format!("{base} TOON: 640 tokens, −36%, no fact lost, cheapest without loss."),
            "CSV has every fact and does not read back"
        );
        rows.retain(|row| row.format != "toon");
        assert_eq!(say(&rows).unwrap(), base, "a cheaper one may still come");
        let dear = all(&[("structured", 1_000, Exact, 0), ("json", 1_000, Exact, 0), ("json-table", 951, Exact, 0)]);
        assert_eq!(
            say(&dear).unwrap(),
            "1,000 tokens as sent (o200k_base, exact), nothing saves 5% without loss. JSON, compact: 1,000 tokens, ±0, no fact lost."
        );
        let table = all(&[("structured", 1_000, Exact, 0), ("json", 1_000, Exact, 0), ("json-table", 950, Exact, 0)]);
        assert!(say(&table).unwrap().ends_with("JSON, columns and rows: 950 tokens, −5%, no fact lost, cheapest."));
        let tie = all(&[
            ("structured", 1_000, Exact, 0),
            ("json", 1_000, Exact, 0),
            ("json-table", 900, Exact, 0),
            ("yaml", 900, Exact, 0),
        ]);
        let message = say(&tie).unwrap();
        assert!(message.ends_with("JSON, columns and rows: 900 tokens, −10%, no fact lost, cheapest, with YAML."), "{message}");
        let mut plain = all(&[("content", 1_000, Exact, 0), ("json", 800, Exact, 0), ("json-table", 800, Exact, 0)]);
        let message = say(&plain).unwrap();
        assert!(message.ends_with("JSON, compact: 800 tokens, −20%, no fact lost, cheapest."), "the same text: {message}");
        plain.iter_mut().filter(|row| row.format == "json-table").for_each(|row| row.bytes += 1);
        let message = say(&plain).unwrap();
        assert!(
            message.ends_with("JSON, compact: 800 tokens, −20%, no fact lost, cheapest, with JSON, columns and rows."),
            "{message}"
        );
        let near = all(&[("content", 1_000, Exact, 0), ("json", 800, Exact, 0), ("toon", 780, Exact, 0)]);
        let message = say(&near).unwrap();
        assert!(message.ends_with("JSON, compact: 800 tokens, −20%, no fact lost, within 5% of the cheapest."), "{message}");
        let dearer = all(&[("structured", 900, Exact, 0), ("json", 1_000, Exact, 0), ("toon", 920, Exact, 0)]);
        let strip = strip_of(&dearer);
        assert_eq!(strip.winner().map(|cell| cell.name.as_str()), Some("Sent now"));
        assert_eq!(strip.cells[0].loss.as_ref().unwrap().text, "nothing is cheaper without loss");
    }

    #[test]
    fn an_estimate_never_looks_exact() {
        let rows = [none("content"), row("structured", 1_000, 0), none("both"), row("json", 800, 0)];
        let count = |row| Some(Count::claude(if row == "json" { 800 } else { 1_000 }));
        let mut rows: Vec<_> = rows.iter().map(|row| CountedRow { row, count: count(row.format), why: None }).collect();
        assert_eq!(
            verdict_counted(&rows, None, &Tokenizer::Claude).unwrap().text(),
            "≈1,100–1,950 tokens as sent (claude, an estimate). JSON, compact: ≈880–1,560 tokens, −20%, no fact lost.",
            "the ranges overlap, so none is the cheapest"
        );
        rows[3].count = None;
        assert!(verdict_counted(&rows, None, &Tokenizer::Claude).is_none(), "not counted yet");
    }

    #[test]
    fn what_is_not_counted_is_said() {
        let content = Row { uncounted: Some("1 image".into()), ..row("content", 14, 0) };
        let message = say(&[content, none("structured"), none("both"), none("json")]).unwrap();
        assert!(message.starts_with("14 tokens as sent (o200k_base, exact), not counted: 1 image. No data"), "{message}");
    }

    #[test]
    fn all_is_against_what_the_chosen_host_sends() {
        let subject = subject_of(
            r#"{"content":[{"type":"text","text":"ten towns: 77"}],"structuredContent":{"towns":[{"id":1,"name":"Oslo"},{"id":2,"name":"Bergen"}]}}"#,
        );
        let rows: Vec<Row> = FORMATS.iter().map(|format| Row::measure(*format, &subject)).collect();
        let count = |row: &Row| Tokenizer::default().from_tokens(row.tokens).filter(|_| row.is_available());
        let counted: Vec<_> = rows.iter().map(|row| CountedRow { row, count: count(row), why: None }).collect();
        let hosts = Hosts::built_in();
        let report = HostsReport::of(&subject, &hosts, &Cancel::new()).unwrap();
        let of = |id: &str| SentAs::of(report.row(hosts.get(id).unwrap().id).unwrap(), &Tokenizer::default());
        // Zed reads the text alone, which holds no fact: nothing that says more is cheaper.
        let zed = strip(&counted, Some(of("zed")), &Tokenizer::default()).unwrap();
        assert_eq!((zed.cells[0].name.as_str(), zed.cells[0].role.as_str()), ("As Zed sends it", "reads the text alone"));
        assert_eq!(zed.cells[0].loss.as_ref().map(|loss| loss.text.as_str()), Some("misses 4 of 4 facts"));
        assert!(zed.winner().is_none() && zed.headline().is_none(), "{zed:?}");
        // Claude Code sends `structuredContent` as compact JSON: the plain choice already.
        let claude = strip(&counted, Some(of("claude-code")), &Tokenizer::default()).unwrap();
        assert!(claude.cells[0].role.ends_with(", already compact JSON"), "{claude:?}");
        assert!(claude.cells.iter().all(|cell| cell.format != "json"), "{claude:?}");
        // What the host drops anyway is no loss of another format.
        let text = |host| strip(&counted, host, &Tokenizer::default()).unwrap().cells.pop().unwrap();
        assert!(!text(None).loss.unwrap().is_kept && text(Some(of("claude-code"))).loss.unwrap().is_kept);
        let message = verdict_counted(&counted, Some(of("claude-code")), &Tokenizer::default()).unwrap().text();
        assert!(message.contains(" tokens as Claude Code sends it (o200k_base, exact)"), "{message}");
        let sent = strip(&counted, None, &Tokenizer::default()).unwrap();
        assert_ne!(sent.cells[0].count, claude.cells[0].count, "the server sends both parts");
    }

    #[test]
    fn answers_without_data_or_text() {
        let no_payload = [row("content", 1_000, 0), none("structured"), none("both"), none("json")];
        assert_eq!(
            say(&no_payload).unwrap(),
            "1,000 tokens as sent (o200k_base, exact). No data in this text: no other format to compare with."
        );
        let nothing = [none("content"), none("structured"), none("both"), none("json")];
        assert!(say(&nothing).unwrap().starts_with("No text"));
        assert_eq!(say(&no_payload[..2]), None);
    }
}
