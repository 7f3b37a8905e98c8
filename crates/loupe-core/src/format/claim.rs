//! What may be claimed of a text against the data. Every surface asks [`Claim::of`], and says its words.

use crate::capture::FactCount;
use crate::number::{grouped, number_of};
use crate::token::{Tokenizer, Tokens, format_count};

/// What a row that holds the data alone drops of what is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OmittedText {
    /// Of the extra text.
    pub bytes: u64,
    pub tokens: Tokens,
    /// Blocks that are not text.
    pub blocks: u64,
}

/// What is known of a text against the data, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Claim {
    /// Every fact is proved, and nothing that is sent is dropped.
    Proved,
    /// Every fact is proved; extra text or other blocks are dropped.
    ProvedWithExtra,
    /// Every fact is proved or found.
    Found,
    /// Facts are missing.
    Missing,
    /// There are no facts to compare by.
    None,
}

impl Claim {
    /// Decides the claim from the facts of a text and from what it drops of what is sent.
    pub fn of(facts: Option<FactCount>, omitted: Option<OmittedText>) -> Self {
        match facts.filter(|facts| facts.total > 0) {
            None => Self::None,
            Some(facts) if facts.missing > 0 => Self::Missing,
            Some(facts) if !facts.is_proved() => Self::Found,
            Some(_) if omitted.is_some() => Self::ProvedWithExtra,
            Some(_) => Self::Proved,
        }
    }

    /// The claim of a text that says more than the data by itself.
    pub fn with_extra(self, has_extra: bool) -> Self {
        if has_extra && self == Self::Proved {
            Self::ProvedWithExtra
        } else {
            self
        }
    }

    /// The word in the JSON contract.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether every fact is proved.
    pub fn is_same_data(self) -> bool {
        matches!(self, Self::Proved | Self::ProvedWithExtra)
    }
}

/// The sentence for a claim: "same data, proved", "same data · drops 29 tok of extra text", "5 of 53 facts missing".
pub fn claim_words(
    facts: Option<FactCount>,
    omitted: Option<OmittedText>,
    tokenizer: &Tokenizer,
) -> String {
    let count = facts.unwrap_or_default();
    let dropped = omitted.map_or_else(String::new, |omitted| {
        format!(" · {}", omitted.words(tokenizer))
    });
    match Claim::of(facts, omitted) {
        Claim::Proved => "same data, proved".to_owned(),
        Claim::ProvedWithExtra => format!("same data{dropped}"),
        Claim::Found if count.total == 1 => format!("the fact was found{dropped}"),
        Claim::Found => format!("all {} facts found{dropped}", grouped(count.total)),
        Claim::Missing => format!("{}{dropped}", missing_words(count)),
        Claim::None => "cannot be compared".to_owned(),
    }
}

/// How many facts are proved, found and missing, for a cell: "53 proved", "50 proved, 3 found", "48 of 53".
pub fn facts_cell(facts: FactCount) -> String {
    match facts {
        FactCount { total: 0, .. } => "none".to_owned(),
        FactCount { missing: 1.., .. } => {
            format!("{} of {}", grouped(facts.told()), grouped(facts.total))
        }
        FactCount { found: 0, .. } => format!("{} proved", grouped(facts.proved)),
        FactCount { proved: 0, .. } => format!("{} found", grouped(facts.found)),
        _ => format!(
            "{} proved, {} found",
            grouped(facts.proved),
            grouped(facts.found)
        ),
    }
}

/// "5 of 53 facts missing".
pub fn missing_words(facts: FactCount) -> String {
    format!(
        "{} of {} missing",
        grouped(facts.missing),
        number_of(facts.total, "facts")
    )
}

impl OmittedText {
    /// "drops 29 tok of extra text", "drops 1 non-text block".
    pub fn words(&self, tokenizer: &Tokenizer) -> String {
        let text = (self.tokens != Tokens::default() || self.bytes > 0).then(|| {
            let tokens = tokenizer
                .from_tokens(self.tokens)
                .map(|count| format!("{} tok", format_count(count)));
            format!(
                "{} of extra text",
                tokens.unwrap_or_else(|| number_of(self.bytes, "bytes"))
            )
        });
        let blocks = (self.blocks > 0).then(|| number_of(self.blocks, "non-text blocks"));
        format!(
            "drops {}",
            text.into_iter()
                .chain(blocks)
                .collect::<Vec<_>>()
                .join(" and ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn green_is_said_of_a_proof_alone() {
        let facts = |proved, found, missing| {
            Some(FactCount {
                total: proved + found + missing,
                proved,
                found,
                missing,
                differs: 0,
            })
        };
        let tokens = Tokens {
            o200k_base: 29,
            cl100k_base: 30,
        };
        let text = OmittedText {
            bytes: 90,
            tokens,
            blocks: 0,
        };
        let (extra, both) = (Some(text), Some(OmittedText { blocks: 2, ..text }));
        for (facts, omitted, name, words) in [
            (facts(53, 0, 0), None, "proved", "same data, proved"),
            (
                facts(53, 0, 0),
                extra,
                "proved-with-extra",
                "same data · drops 29 tok of extra text",
            ),
            (
                facts(53, 0, 0),
                both,
                "proved-with-extra",
                "same data · drops 29 tok of extra text and 2 non-text blocks",
            ),
            (facts(50, 3, 0), None, "found", "all 53 facts found"),
            (facts(48, 0, 5), None, "missing", "5 of 53 facts missing"),
            (facts(0, 0, 0), None, "none", "cannot be compared"),
            (None, extra, "none", "cannot be compared"),
        ] {
            assert_eq!(Claim::of(facts, omitted).name(), name);
            assert_eq!(claim_words(facts, omitted, &Tokenizer::default()), words);
        }
    }
}
