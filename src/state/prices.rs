//! The price table: that of Loupe, what the person's file adds, and what they changed in the window, which is kept with
//! the settings and can be taken back figure by figure.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::{Dialog, State};
use crate::problem::Problem;
use crate::report::{Model, Prices};

/// The largest price that is taken for one, in US dollars per million tokens.
const MOST_DOLLARS: f64 = 1e6;
/// The largest context that is taken for one, in tokens.
const MOST_TOKENS: u64 = 1_000_000_000_000;
/// Where figures that were changed in the window stand.
const HERE: &str = "changed in Loupe's window";

/// What can be changed of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PriceField {
    Input,
    Context,
}

/// What a person does about prices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PricesAction {
    /// Show the table to be changed.
    Show,
    /// What stands in a field of a model; it counts as soon as it is a figure.
    Type { model: String, field: PriceField, text: String },
    /// Takes back what was changed of a model.
    Reset(String),
}

/// Figures of the person's own for a model of the table.
#[derive(Clone, Debug, PartialEq)]
struct Own {
    /// US dollars per million input tokens.
    input: f64,
    /// Tokens.
    context: u64,
    /// The day of the change, `YYYY-MM-DD`.
    changed: String,
}

/// The price table.
#[derive(Clone, Debug)]
pub struct PriceTable {
    /// What costs are computed from.
    pub prices: Prices,
    /// The same without what was changed in the window.
    shipped: Prices,
    own: BTreeMap<String, Own>,
    /// What stands in fields that were typed into, as typed.
    typed: BTreeMap<(String, PriceField), String>,
    /// Why the person's file is not used.
    pub problem: Option<Problem>,
}

impl Default for PriceTable {
    fn default() -> Self {
        let (shipped, problem) = match Prices::built_in() {
            Ok(prices) => (prices, None),
            Err(problem) => (Prices::default(), Some(problem)),
        };
        Self { prices: shipped.clone(), shipped, own: BTreeMap::new(), typed: BTreeMap::new(), problem }
    }
}

impl PriceTable {
    /// What stands in a field.
    pub fn text(&self, model: &Model, field: PriceField) -> String {
        let figure = || match field {
            PriceField::Input => dollars(model.input),
            PriceField::Context => model.context.to_string(),
        };
        self.typed.get(&(model.name.clone(), field)).cloned().unwrap_or_else(figure)
    }

    /// What is wrong with what stands in a field: the figure before it counts on.
    pub fn wrong(&self, model: &Model, field: PriceField) -> Option<&'static str> {
        let typed = self.typed.get(&(model.name.clone(), field))?;
        match field {
            PriceField::Input => read_dollars(typed).err(),
            PriceField::Context => read_tokens(typed).err(),
        }
    }

    /// The figures that a model has without what was changed in the window; `None` where nothing was.
    pub fn shipped(&self, name: &str) -> Option<&Model> {
        self.own.get(name).and_then(|_| self.shipped.get(name))
    }

    /// Adds the models of the person's file.
    pub(super) fn add(&mut self, file: Prices) {
        self.shipped = std::mem::take(&mut self.shipped).with(file);
        self.put_together();
    }

    fn put_together(&mut self) {
        self.prices = self.shipped.clone();
        for model in &mut self.prices.models {
            if let Some(own) = self.own.get(&model.name) {
                (model.input, model.context) = (own.input, own.context);
                (model.read, model.source) = (own.changed.clone(), HERE.to_owned());
            }
        }
    }

    fn change(&mut self, name: &str, field: PriceField, text: String, today: String) {
        let Some(now) = self.prices.get(name) else { return };
        let mut own = Own { input: now.input, context: now.context, changed: today };
        let read = match field {
            PriceField::Input => read_dollars(&text).map(|input| own.input = input),
            PriceField::Context => read_tokens(&text).map(|context| own.context = context),
        };
        self.typed.insert((name.to_owned(), field), text);
        if read.is_ok() && (own.input, own.context) != (now.input, now.context) {
            self.own.insert(name.to_owned(), own);
            // What is as it was is not the person's own.
            let is_shipped =
                |own: &Own| self.shipped.get(name).is_some_and(|model| (model.input, model.context) == (own.input, own.context));
            if self.own.get(name).is_some_and(is_shipped) {
                self.own.remove(name);
            }
            self.put_together();
        }
    }

    /// What was kept of figures changed before.
    pub(super) fn use_kept(&mut self, table: &Table) {
        for (name, figures) in table.get("prices").and_then(Value::as_table).into_iter().flatten() {
            let input = figures.get("input").and_then(|input| input.as_float().or_else(|| input.as_integer().map(|n| n as f64)));
            let context = figures.get("context").and_then(Value::as_integer).and_then(|tokens| u64::try_from(tokens).ok());
            let changed = figures.get("changed").and_then(Value::as_str).unwrap_or_default().to_owned();
            if let (Some(input), Some(context)) = (input, context)
                && (0.0..=MOST_DOLLARS).contains(&input)
                && (1..=MOST_TOKENS).contains(&context)
            {
                self.own.insert(name.clone(), Own { input, context, changed });
            }
        }
        self.put_together();
    }

    /// What is to be kept: the figures by the model's name.
    pub(super) fn kept(&self) -> impl Iterator<Item = (&str, Value)> {
        self.own.iter().map(|(name, own)| {
            let mut figures = Table::new();
            figures.insert("input".to_owned(), own.input.into());
            figures.insert("context".to_owned(), i64::try_from(own.context).unwrap_or(i64::MAX).into());
            figures.insert("changed".to_owned(), own.changed.clone().into());
            (name.as_str(), Value::Table(figures))
        })
    }
}

/// An amount as it is typed: at least cents.
fn dollars(amount: f64) -> String {
    let text = amount.to_string();
    let digits = text.split_once('.').map_or(0, |(_, digits)| digits.len());
    if digits < 2 { format!("{amount:.2}") } else { text }
}

fn read_dollars(text: &str) -> Result<f64, &'static str> {
    let amount: f64 = text.trim().trim_start_matches('$').trim().parse().map_err(|_| "no amount: US dollars, such as 2.50")?;
    if (0.0..=MOST_DOLLARS).contains(&amount) { Ok(amount) } else { Err("from 0 to 1,000,000 US dollars") }
}

fn read_tokens(text: &str) -> Result<u64, &'static str> {
    let digits: String = text.chars().filter(|char| !matches!(char, ',' | '_' | ' ' | '\u{202f}' | '\u{2009}')).collect();
    let tokens: u64 = digits.parse().map_err(|_| "no number of tokens, such as 128000")?;
    if (1..=MOST_TOKENS).contains(&tokens) { Ok(tokens) } else { Err("at least 1 token") }
}

impl State {
    pub(super) fn change_prices(&mut self, action: PricesAction) {
        let today = self.today.map(|date| date.to_string()).unwrap_or_default();
        match action {
            PricesAction::Show => {
                // What was no figure when the table was closed is not shown again.
                self.prices.typed.clear();
                self.dialog = Some(Dialog::Prices);
            }
            PricesAction::Type { model, field, text } => self.prices.change(&model, field, text, today),
            PricesAction::Reset(model) => {
                self.prices.typed.retain(|(name, _), _| *name != model);
                self.prices.own.remove(&model);
                self.prices.put_together();
            }
        }
    }

    pub(super) fn prices_read(&mut self, read: Result<Prices, Problem>) {
        match read {
            Ok(prices) => self.prices.add(prices),
            Err(problem) => self.prices.problem = Some(problem),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Action;

    fn state() -> State {
        State { today: Some(time::macros::date!(2026 - 11 - 30)), ..State::default() }
    }

    fn typed(state: &mut State, field: PriceField, text: &str) {
        let action = PricesAction::Type { model: "GPT-4o".into(), field, text: text.into() };
        state.perform(Action::Prices(action), &mut Vec::new());
    }

    #[test]
    fn figures_are_changed_dated_and_taken_back() {
        let mut state = state();
        let shipped = state.prices.prices.get("GPT-4o").unwrap().clone();
        typed(&mut state, PriceField::Input, "$3.5");
        typed(&mut state, PriceField::Context, "200,000");
        let model = state.prices.prices.get("GPT-4o").unwrap().clone();
        assert_eq!((model.input, model.context, model.read.as_str()), (3.5, 200_000, "2026-11-30"));
        assert_eq!(state.prices.shipped("GPT-4o"), Some(&shipped));
        // As typed while it is typed.
        assert_eq!(state.prices.text(&model, PriceField::Input), "$3.5");
        // The person's own file comes later and does not undo it.
        state.prices_read(Prices::read(
            "[[model]]\nname='GPT-4o'\ntokenizer='o200k_base'\ninput=1\ncontext=9\nsource='me'\nread='2026-01-01'\n",
        ));
        assert_eq!(state.prices.prices.get("GPT-4o").unwrap().input, 3.5);
        state.perform(Action::Prices(PricesAction::Reset("GPT-4o".into())), &mut Vec::new());
        assert_eq!(state.prices.prices.get("GPT-4o").unwrap().context, 9);
        assert_eq!(state.prices.shipped("GPT-4o"), None);
    }

    #[test]
    fn what_is_no_figure_is_said_at_its_field_and_changes_nothing() {
        let mut state = state();
        let model = state.prices.prices.get("GPT-4o").unwrap().clone();
        for (field, text) in [
            (PriceField::Input, "cheap"),
            (PriceField::Input, "-1"),
            (PriceField::Input, "inf"),
            (PriceField::Input, "NaN"),
            (PriceField::Input, ""),
            (PriceField::Context, "0"),
            (PriceField::Context, "1.5"),
            (PriceField::Context, "128k"),
            (PriceField::Context, "99999999999999999999"),
        ] {
            typed(&mut state, field, text);
            assert!(state.prices.wrong(&model, field).is_some(), "{text}");
            assert_eq!(state.prices.prices.get("GPT-4o"), Some(&model), "{text}");
            assert_eq!(state.prices.text(&model, field), text);
        }
        // Typed back by hand, it is the shipped figure and none of the person's own.
        typed(&mut state, PriceField::Input, "9");
        typed(&mut state, PriceField::Input, "2.50");
        assert_eq!((state.prices.wrong(&model, PriceField::Input), state.prices.shipped("GPT-4o")), (None, None));
        state.perform(Action::Prices(PricesAction::Show), &mut Vec::new());
        assert_eq!(state.prices.text(&model, PriceField::Context), "128000");
        assert_eq!(state.dialog, Some(Dialog::Prices));
    }

    #[test]
    fn figures_are_kept_and_come_back() {
        let mut state = state();
        typed(&mut state, PriceField::Input, "0.075");
        let kept: Vec<_> = state.prices.kept().map(|(name, figures)| (name.to_owned(), figures.to_string())).collect();
        assert_eq!(kept, [("GPT-4o".to_owned(), "{ changed = \"2026-11-30\", context = 128000, input = 0.075 }".to_owned())]);
        let file = "[prices.GPT-4o]\ninput = 0.075\ncontext = 128000\nchanged = \"2026-11-30\"\n\
                    [prices.Gone]\ninput = 1\ncontext = 1\n[prices.\"GPT-4o mini\"]\ninput = -1.0\ncontext = 5\n";
        let mut again = PriceTable::default();
        again.use_kept(&file.parse().unwrap());
        assert_eq!(again.prices, state.prices.prices);
        // A model that is gone from the table keeps its figures, for when it comes back.
        assert_eq!(again.kept().count(), 2);
    }
}
