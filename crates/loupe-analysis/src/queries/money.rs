//! What a result costs with a model: money per call and per 1,000 calls, and its share of the context. Shown only
//! where the user wants it. The table is `prices.toml`, which a file of theirs can add to.

use serde::Deserialize;

use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::token::{Count, Tokenizer};

const BUILT_IN: &str = include_str!("prices.toml");

/// A model's price and size, as somebody stated them on a day.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    pub name: String,
    /// A name that [`Tokenizer::named`] knows, or that of a tokenizer file.
    pub tokenizer: String,
    /// US dollars per million input tokens.
    pub input: f64,
    /// The most tokens it takes.
    pub context: u64,
    /// Where the figures stand.
    pub source: String,
    /// The day they were read, `YYYY-MM-DD`.
    pub read: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    model: Vec<Model>,
}

/// The models that can be chosen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prices {
    pub models: Vec<Model>,
}

impl Prices {
    /// The table that comes with Loupe.
    ///
    /// # Errors
    /// Never, as a test holds; a problem rather than a panic all the same.
    pub fn built_in() -> Result<Self, Problem> {
        Self::read(BUILT_IN)
    }

    /// A table in the form of `prices.toml`.
    ///
    /// # Errors
    /// A problem that says which line or model is wrong.
    pub fn read(text: &str) -> Result<Self, Problem> {
        let bad = |why: String| {
            Problem::new(
                ProblemKind::Io,
                format!("the price table cannot be read: {why}"),
            )
            .hint("the form is that of `crates/loupe-analysis/src/queries/prices.toml` in Loupe's sources")
        };
        let file: File = toml::from_str(text)
            .map_err(|error| bad(error.to_string().trim().replace('\n', " ")))?;
        for model in &file.model {
            if !(model.input.is_finite() && model.input >= 0.0) {
                return Err(bad(format!(
                    "the price of `{}` is not an amount",
                    model.name
                )));
            }
            if model.context == 0 {
                return Err(bad(format!("the context of `{}` is 0 tokens", model.name)));
            }
        }
        Ok(Self { models: file.model })
    }

    /// This table with the models of another: new ones added, those of one name replaced.
    #[must_use]
    pub fn with(mut self, other: Prices) -> Self {
        for model in other.models {
            match self
                .models
                .iter_mut()
                .find(|known| known.name == model.name)
            {
                Some(known) => *known = model,
                None => self.models.push(model),
            }
        }
        self
    }

    pub fn get(&self, name: &str) -> Option<&Model> {
        self.models.iter().find(|model| model.name == name)
    }
}

/// What a number of tokens costs with a model; both ends are the same where the count is exact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// US dollars per call, from and to.
    pub(crate) per_call: (f64, f64),
    /// Share of the context, 0.01 for one per cent; above 1 it does not fit.
    pub context: (f64, f64),
    pub is_exact: bool,
}

impl Cost {
    /// The cost of a count with a model. The count must be one by the model's own tokenizer.
    pub fn new(count: Count, model: &Model) -> Self {
        // Token counts are far below 2^53.
        let both = |of: fn(f64, &Model) -> f64| {
            (
                of(count.low() as f64, model),
                of(count.high() as f64, model),
            )
        };
        Self {
            per_call: both(|tokens, model| tokens * model.input / 1e6),
            context: both(|tokens, model| tokens / model.context as f64),
            is_exact: count.is_exact(),
        }
    }

    /// US dollars per 1,000 calls, from and to.
    pub(crate) fn per_thousand(self) -> (f64, f64) {
        (self.per_call.0 * 1e3, self.per_call.1 * 1e3)
    }

    /// For people: `$0.0089 a call · $8.91 per 1,000 calls · 2.8% of the context`.
    pub fn text(self) -> String {
        let range = |(low, high): (f64, f64), show: fn(f64) -> String| {
            if self.is_exact {
                show(low)
            } else {
                format!("≈{}–{}", show(low), show(high))
            }
        };
        let percent = |share: f64| format!("{:.1}%", share * 100.0);
        format!(
            "{} a call · {} per 1,000 calls · {} of the context",
            range(self.per_call, dollars),
            range(self.per_thousand(), dollars),
            range(self.context, percent)
        )
    }
}

/// Cents from a dollar on; below it two digits that say something, at most a millionth.
fn dollars(amount: f64) -> String {
    let digits = if amount >= 1.0 || amount <= 0.0 {
        2
    } else {
        (1.0 - amount.log10().floor()).clamp(2.0, 6.0) as usize
    };
    format!("${amount:.digits$}")
}

impl Model {
    /// What counts for this model; `None` where a tokenizer file is needed.
    pub fn tokenizer(&self) -> Option<Tokenizer> {
        Tokenizer::named(&self.tokenizer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_dated_and_sourced() {
        let prices = Prices::built_in().unwrap();
        assert!(!prices.models.is_empty());
        for model in &prices.models {
            assert!(model.tokenizer().is_some(), "{}", model.name);
            assert!(
                model.source.starts_with("https://") && model.read.len() == 10,
                "{}",
                model.name
            );
            assert_eq!(
                prices
                    .models
                    .iter()
                    .filter(|other| other.name == model.name)
                    .count(),
                1
            );
        }
    }

    #[test]
    fn costs_are_computed_and_say_when_they_are_estimates() {
        let model = Model {
            name: "m".into(),
            tokenizer: "o200k_base".into(),
            input: 2.5,
            context: 128_000,
            source: String::new(),
            read: String::new(),
        };
        let exact = Cost::new(Count::Exact(3_563), &model);
        assert_eq!(
            exact.text(),
            "$0.0089 a call · $8.91 per 1,000 calls · 2.8% of the context"
        );
        let estimate = Cost::new(Count::claude(3_563), &model);
        assert_eq!(
            estimate.text(),
            "≈$0.0098–$0.017 a call · ≈$9.80–$17.37 per 1,000 calls · ≈3.1%–5.4% of the context"
        );
        assert_eq!(
            Cost::new(Count::Exact(0), &model).text(),
            "$0.00 a call · $0.00 per 1,000 calls · 0.0% of the context"
        );
    }

    #[test]
    fn a_persons_table_adds_and_replaces() {
        let own = "[[model]]\nname='GPT-4o'\ntokenizer='o200k_base'\ninput=1\ncontext=9\nsource='me'\nread='2026-01-01'\n";
        let prices = Prices::built_in().unwrap();
        let models = prices.models.len();
        let both = prices.with(Prices::read(own).unwrap());
        assert_eq!(
            (
                both.models.len(),
                both.get("GPT-4o").map(|model| model.context)
            ),
            (models, Some(9))
        );
        let what = |text: &str| Prices::read(text).unwrap_err().what;
        assert!(what("[[model]]\nname=1").contains("cannot be read"));
        assert!(what(&own.replace("input=1", "input=-1.0")).contains("not an amount"));
        assert!(what(&own.replace("context=9", "context=0")).contains("0 tokens"));
    }
}
