//! Sentences over what the queries found: what the result costs as sent, and what it would cost in another format.

mod breakage;
mod comparison;
mod hosts;
mod losses;
mod placements;
mod strip;

pub use breakage::breakage;
pub use comparison::{column_loss, comparison_strip, comparison_summary, describe_held};
pub use hosts::HostsHeadline;
pub use losses::{LossColumn, LossLine, costs_text, evidence_of, loss_sentence};
pub use strip::{ClaimTone, HostCost, Loss, ModelReads, Strip, StripCell, part_format, strip};

use crate::queries::Repair;
use loupe_core::format::ledger::Row;
use loupe_core::format::{self, Format};
use loupe_core::number::relative_change;
use loupe_core::token::{Count, Encoding, Tokenizer, format_count};

/// A piece of the summary, so that the window can colour what the words say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SummaryPart {
    Plain(String),
    Number(String),
    /// What is proved.
    Good(String),
    /// A loss, or a higher cost.
    Bad(String),
}

/// The computed sentence above the ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub parts: Vec<SummaryPart>,
}

impl Summary {
    /// The sentence as plain text.
    pub fn text(&self) -> String {
        self.parts
            .iter()
            .map(|part| match part {
                SummaryPart::Plain(text)
                | SummaryPart::Number(text)
                | SummaryPart::Good(text)
                | SummaryPart::Bad(text) => text.as_str(),
            })
            .collect()
    }

    fn plain(&mut self, text: impl Into<String>) {
        self.parts.push(SummaryPart::Plain(text.into()));
    }

    fn count(&mut self, count: Option<Count>) {
        self.parts.push(SummaryPart::Number(
            count.map_or_else(|| "–".to_owned(), format_count),
        ));
    }

    /// What a cell loses and whether it is the cheapest, to the end of the sentence.
    fn loss(&mut self, cell: &StripCell) {
        if let Some(loss) = &cell.loss {
            self.plain(", ");
            let detail = if loss.detail.is_empty() {
                String::new()
            } else {
                format!(" ({})", loss.detail)
            };
            let words = format!("{}{detail}", loss.text);
            self.parts.push(match loss.tone {
                ClaimTone::Good => SummaryPart::Good(words),
                ClaimTone::Neutral | ClaimTone::Note => SummaryPart::Plain(words),
                ClaimTone::Warn => SummaryPart::Bad(words),
            });
        }
        if let Some(badge) = &cell.badge {
            self.plain(format!(", {badge}"));
        }
        self.plain(".");
    }

    /// " TOON: 640 tokens, −36%, same data, proved, cheapest, proved."
    fn cell(&mut self, cell: &StripCell, name: &str) {
        self.plain(format!(" {name}: "));
        self.count(Some(cell.count));
        self.plain(format!(" {}", unit(cell.count)));
        if let Some(change) = &cell.change {
            self.plain(", ");
            let is_good = cell.is_proved() && change.starts_with('−');
            self.parts.push(if is_good {
                SummaryPart::Good(change.clone())
            } else {
                SummaryPart::Plain(change.clone())
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
    /// The end that the count was made from: two estimates compare by it.
    fn tokens(&self) -> u64 {
        self.count.map_or(0, Count::high)
    }
}

/// Computes the sentence from the rows that are there, against what one model reads, and what the repair would cost; `None`
/// until the rows it needs are there.
pub fn summarise(
    rows: &[&Row],
    reads: ModelReads<'_>,
    encoding: Encoding,
    repair: Option<&Repair>,
) -> Option<Summary> {
    let tokenizer = Tokenizer::Encoding(encoding);
    let rows: Vec<_> = rows
        .iter()
        .map(|&row| CountedRow {
            row,
            count: tokenizer.from_tokens(row.tokens),
            why: None,
        })
        .collect();
    let strip = strip(&rows, reads, &tokenizer)?.with_repair(repair, reads, &tokenizer);
    Some(summary_of(&strip, &tokenizer))
}

/// As [`summarise`], by any tokenizer; an estimate is said as one.
pub fn summary_counted(
    rows: &[CountedRow<'_>],
    reads: ModelReads<'_>,
    tokenizer: &Tokenizer,
) -> Option<Summary> {
    Some(summary_of(&strip(rows, reads, tokenizer)?, tokenizer))
}

/// The strip as one sentence for each cell.
pub fn summary_of(strip: &Strip, tokenizer: &Tokenizer) -> Summary {
    let mut summary = Summary::default();
    let note = strip.note.as_deref().unwrap_or_default();
    let Some((sent, others)) = strip.cells.split_first() else {
        summary.plain(format!("{note}."));
        return summary;
    };
    let how = if tokenizer.is_exact() {
        "exact"
    } else {
        "an estimate"
    };
    summary.count(Some(sent.count));
    let read = match &strip.sent_by {
        Some(host) => format!("as {host} sends it"),
        None => format!("of {}, {}", read_name(sent.format), sent.role),
    };
    summary.plain(format!(
        " {} {read} ({}, {how})",
        unit(sent.count),
        tokenizer.name()
    ));
    summary.loss(sent);
    if let Some(both) = &sent.note {
        summary.plain(format!(" {}{}.", both[..1].to_uppercase(), &both[1..]));
    }
    for cell in others {
        let name = match cell.is_repair {
            true => format!("{} {}", cell.name, cell.role),
            false => cell.name.clone(),
        };
        summary.cell(cell, &name);
    }
    if strip.note.is_some() {
        summary.plain(format!(" {note}."));
    }
    summary
}

/// What a part that was sent is called in a sentence.
fn read_name(format: &str) -> &'static str {
    match format {
        "content" => "text",
        "both" => "text and structuredContent",
        _ => "structuredContent",
    }
}

fn unit(count: Count) -> &'static str {
    if count == Count::Exact(1) {
        "token"
    } else {
        "tokens"
    }
}

fn title(row: &Row) -> &'static str {
    format::by_id(row.format).map_or(row.format, Format::title)
}

/// What a count became, `±0` included.
pub(super) fn change(before: u64, tokens: u64) -> String {
    relative_change(before, tokens, "tokens").unwrap_or_else(|| "±0".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use loupe_core::format::ParsedCapture;

    use crate::queries::HostsReport;
    use loupe_core::cancel::Cancel;
    use loupe_core::capture::FactCount;
    use loupe_core::format::FORMATS;
    use loupe_core::format::claim::{Claim, OmittedText};
    use loupe_core::host::{Hosts, ReadChoice, ResultPart};
    use loupe_core::token::Tokens;

    /// A row whose facts are all proved but for those that are missing.
    fn row(format: &'static str, tokens: u64, missing: u64) -> Row {
        Row {
            format,
            tokens: Tokens {
                o200k_base: tokens,
                cl100k_base: tokens,
            },
            bytes: tokens * 3,
            facts: Some(FactCount {
                total: 451,
                proved: 451 - missing,
                missing,
                ..FactCount::default()
            }),
            ..Row::default()
        }
    }

    fn none(format: &'static str) -> Row {
        Row {
            format,
            why: Some("not in this result".into()),
            ..Row::default()
        }
    }

    fn found(row: Row) -> Row {
        Row {
            facts: Some(FactCount {
                total: 451,
                found: 451,
                ..FactCount::default()
            }),
            ..row
        }
    }

    fn with_extra(row: Row) -> Row {
        let tokens = Tokens {
            o200k_base: 72,
            cl100k_base: 72,
        };
        Row {
            omitted: Some(OmittedText {
                bytes: 200,
                tokens,
                blocks: 0,
            }),
            ..row
        }
    }

    fn counted_of(rows: &[Row]) -> Vec<CountedRow<'_>> {
        let count = |row: &Row| {
            Tokenizer::default()
                .from_tokens(row.tokens)
                .filter(|_| row.is_available())
        };
        rows.iter()
            .map(|row| CountedRow {
                row,
                count: count(row),
                why: None,
            })
            .collect()
    }

    fn say(rows: &[Row]) -> Option<String> {
        let hosts = Hosts::built_in();
        summary_counted(
            &counted_of(rows),
            ModelReads::Most(&hosts),
            &Tokenizer::default(),
        )
        .map(|summary| summary.text())
    }

    fn strip_of(rows: &[Row]) -> Strip {
        strip(
            &counted_of(rows),
            ModelReads::Most(&Hosts::built_in()),
            &Tokenizer::default(),
        )
        .unwrap()
    }

    /// These rows, and every other format as one that does not apply.
    fn whole(rows: &[Row]) -> Vec<Row> {
        let row = |id| {
            rows.iter()
                .find(|row| row.format == id)
                .cloned()
                .unwrap_or_else(|| none(id))
        };
        FORMATS.iter().map(|format| row(format.id())).collect()
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(
            [0, 999, 1_000, 1_234_567].map(loupe_core::number::grouped),
            ["0", "999", "1,000", "1,234,567"]
        );
    }

    #[test]
    fn the_cheapest_whose_facts_are_proved_wins() {
        let rows = [
            row("content", 5_240, 0),
            none("structured"),
            none("both"),
            row("json", 3_591, 0),
            found(row("csv", 900, 0)),
        ];
        assert!(
            strip_of(&rows).winner().is_none(),
            "a cheaper one may still come"
        );
        let rows = whole(&rows);
        let strip = strip_of(&rows);
        assert_eq!(
            strip.headline().unwrap(),
            "JSON, compact: 3,591 tokens, 31% less than the text, same data, proved."
        );
        assert!(strip.winner().unwrap().is_proved());
        let said = say(&rows).unwrap();
        assert!(said.starts_with("5,240 tokens of text, what "), "{said}");
        assert!(
            said.ends_with(
                "JSON, compact: 3,591 tokens, −31%, same data, proved, cheapest, proved."
            ),
            "{said}"
        );
        // What loses facts, and what is only found, wins nothing.
        let none_proved = [
            row("content", 1_000, 0),
            found(row("json", 800, 0)),
            row("csv", 500, 2),
        ];
        assert!(strip_of(&whole(&none_proved)).winner().is_none());
    }

    #[test]
    fn what_drops_extra_text_is_not_green() {
        let json = with_extra(row("json", 800, 0));
        let strip = strip_of(&whole(&[row("content", 1_000, 39), json.clone()]));
        let winner = strip.winner().unwrap();
        assert_eq!(
            (winner.badge.as_deref(), winner.claim, winner.is_proved()),
            (Some("cheapest"), Claim::ProvedWithExtra, false)
        );
        assert_eq!(
            winner.loss.as_ref().unwrap().text,
            "same data · drops 72 tok of extra text"
        );
        assert_eq!(
            strip.cells[0].loss.as_ref().unwrap().text,
            "39 of 451 facts missing"
        );
        // The data alone is all that is read: nothing is dropped of it.
        let rows = whole(&[
            row("content", 1_000, 39),
            row("structured", 900, 0),
            row("both", 1_900, 0),
            json,
        ]);
        let hosts = Hosts::built_in();
        let data = super::strip(
            &counted_of(&rows),
            ModelReads::Part(ResultPart::Data, &hosts),
            &Tokenizer::default(),
        )
        .unwrap();
        assert_eq!(
            (data.cells[0].format, data.winner().unwrap().claim),
            ("structured", Claim::Proved)
        );
        let summary = summary_counted(
            &counted_of(&whole(&[
                row("content", 1_000, 0),
                with_extra(row("json", 800, 0)),
            ])),
            ModelReads::Most(&hosts),
            &Tokenizer::default(),
        )
        .unwrap();
        assert!(
            !summary
                .parts
                .iter()
                .any(|part| matches!(part, SummaryPart::Good(_))),
            "{summary:?}"
        );
    }

    #[test]
    fn one_model_is_not_charged_for_both_parts() {
        let twin = |row| Row {
            is_twin: true,
            ..row
        };
        let rows = [
            row("content", 187, 0),
            twin(row("structured", 190, 0)),
            row("both", 377, 0),
            row("json", 433, 0),
        ];
        let strip = strip_of(&whole(&rows));
        assert_eq!(
            (strip.cells[0].format, strip.cells[0].count),
            ("content", Count::Exact(187))
        );
        assert_eq!(strip.cells[1].change.as_deref(), Some("+132%"));
        assert!(strip.winner().is_none());
        assert_eq!(
            strip.cells[0].loss.as_ref().unwrap().text,
            "nothing is cheaper with all 451 facts"
        );
        let both = strip.cells[0].note.clone().unwrap();
        assert!(
            both.starts_with("sent twice: +190 tok in the ") && both.ends_with(" that show both"),
            "{both}"
        );
    }

    #[test]
    fn near_ones_are_tied() {
        let of = |json: u64, toon: u64| {
            strip_of(&whole(&[
                row("content", 1_000, 0),
                row("json", json, 0),
                row("toon", toon, 0),
            ]))
        };
        let tied = of(800, 790);
        assert_eq!(
            tied.winner()
                .map(|cell| (cell.format, cell.badge.as_deref())),
            Some(("json", Some("tied")))
        );
        assert_eq!(of(800, 700).winner().map(|cell| cell.format), Some("toon"));
        assert_eq!(
            of(1_200, 990)
                .winner()
                .map(|cell| (cell.format, cell.badge.as_deref())),
            Some(("toon", Some("tied")))
        );
        let dearer = of(1_200, 1_000);
        assert!(dearer.winner().is_none());
        assert_eq!(
            dearer.cells[0].loss.as_ref().unwrap().text,
            "nothing is cheaper with all 451 facts"
        );
    }

    #[test]
    fn an_estimate_never_looks_exact() {
        let rows = whole(&[row("structured", 1_000, 0), row("json", 800, 0)]);
        let count = |row: &Row| {
            row.is_available()
                .then(|| Count::claude(row.tokens.o200k_base))
        };
        let mut rows: Vec<_> = rows
            .iter()
            .map(|row| CountedRow {
                row,
                count: count(row),
                why: None,
            })
            .collect();
        let hosts = Hosts::built_in();
        let said = summary_counted(&rows, ModelReads::Most(&hosts), &Tokenizer::Claude)
            .unwrap()
            .text();
        assert!(
            said.starts_with("≈1,100–1,950 tokens of structuredContent, ")
                && said.contains("(claude, an estimate)"),
            "{said}"
        );
        assert!(
            said.ends_with("JSON, compact: ≈880–1,560 tokens, −20%, same data, proved."),
            "the ranges overlap: {said}"
        );
        rows.iter_mut().for_each(|row| row.count = None);
        assert!(
            summary_counted(&rows, ModelReads::Most(&hosts), &Tokenizer::Claude).is_none(),
            "not counted yet"
        );
    }

    #[test]
    fn what_is_not_counted_is_said() {
        let content = Row {
            uncounted: Some("1 image".into()),
            facts: None,
            ..row("content", 14, 0)
        };
        let message = say(&[content, none("structured"), none("both"), none("json")]).unwrap();
        assert!(message.starts_with("14 tokens of text, what "), "{message}");
        assert!(
            message.ends_with(", + 1 image. No data to compare: send fields in structuredContent."),
            "{message}"
        );
    }

    #[test]
    fn all_is_against_what_the_chosen_host_sends() {
        let subject = ParsedCapture::from_result(
            r#"{"content":[{"type":"text","text":"ten towns: 77"}],"structuredContent":{"towns":[{"id":1,"name":"Oslo"},{"id":2,"name":"Bergen"}]}}"#,
        );
        let rows: Vec<Row> = FORMATS
            .iter()
            .map(|format| Row::measure(*format, &subject))
            .collect();
        let counted = counted_of(&rows);
        let hosts = Hosts::built_in();
        let report = HostsReport::new(&subject, &hosts, &Cancel::new()).unwrap();
        let tokenizer = Tokenizer::default();
        let of = |id: &str| {
            let choice = ReadChoice::parse(id, &hosts).unwrap();
            strip(
                &counted,
                ModelReads::new(choice, &hosts, Some(&report), &tokenizer),
                &tokenizer,
            )
            .unwrap()
        };
        // Zed reads the text alone, which holds no fact.
        let zed = of("zed");
        assert_eq!(
            (zed.cells[0].name.as_str(), zed.cells[0].role.as_str()),
            ("As Zed sends it", "reads the text alone")
        );
        assert_eq!(
            zed.cells[0].loss.as_ref().map(|loss| loss.text.as_str()),
            Some("4 of 4 facts missing · nothing is cheaper with all 4 facts")
        );
        // Claude Code sends `structuredContent` as compact JSON: the plain choice already, and no text that could be dropped.
        let claude = of("claude-code");
        assert!(
            claude.cells[0].role.ends_with(", already compact JSON"),
            "{claude:?}"
        );
        assert!(
            claude
                .cells
                .iter()
                .skip(1)
                .all(|cell| cell.claim == Claim::Proved),
            "{claude:?}"
        );
        assert_eq!(of("data").cells[0].count, claude.cells[0].count);
        assert_ne!(of("text").cells[0].count, of("both").cells[0].count);
    }

    #[test]
    fn answers_without_data_or_text() {
        let no_data = [
            row("content", 1_000, 0),
            none("structured"),
            none("both"),
            none("json"),
        ];
        let said = say(&no_data).unwrap();
        assert!(
            said.ends_with(" No data to compare: send fields in structuredContent."),
            "{said}"
        );
        let nothing = [
            none("content"),
            none("structured"),
            none("both"),
            none("json"),
        ];
        assert!(say(&nothing).unwrap().starts_with("No text"));
        assert_eq!(say(&no_data[..2]), None);
    }
}
