//! The verdict line: what the answer costs as sent, and what it would cost in another format.

use crate::format::ledger::{Row, ratio};
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

    pub(super) fn plain(&mut self, text: impl Into<String>) {
        self.parts.push(VerdictPart::Plain(text.into()));
    }

    fn number(&mut self, number: u64) {
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
    if json.is_available() {
        alternative(&mut verdict, sent, json, encoding);
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

/// `json` beside what was sent. While no other format's round trip is proved, it alone can be named.
fn alternative(verdict: &mut Verdict, sent: &Row, json: &Row, encoding: Encoding) {
    let Some(ratio) = ratio(json, sent, encoding) else { return };
    let missing = json.facts.map_or(0, |facts| facts.missing);
    verdict.plain(" JSON, compact, same data: ");
    verdict.number(json.tokens.get(encoding));
    verdict.plain(", ");
    let percent = ((ratio - 1.0) * 100.0).round();
    let loses = if missing > 0 {
        format!("loses {} {}", grouped(missing), if missing == 1 { "fact" } else { "facts" })
    } else if sent.is_payload_alone {
        "loses nothing".to_owned()
    } else {
        // The text may say more than the payload holds.
        "loses no fact of the data".to_owned()
    };
    // Compared as counts: a percentage of 0 may still be dearer by a token.
    let change =
        if percent == 0.0 { "0%".to_owned() } else { format!("{}{}%", if percent < 0.0 { "−" } else { "+" }, percent.abs()) };
    verdict.parts.push(match (json.tokens.get(encoding).cmp(&sent.tokens.get(encoding)), missing) {
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
