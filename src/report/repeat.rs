//! The same call several times: how its cost is spread, and which places of the data change from call to call.

use super::query::{Ctx, Query, Stop, Weigh};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::sweep::Call;
use crate::cancel::{Cancel, Cancelled};
use crate::capture::Outcome;
use crate::diff::pattern::pattern;
use crate::diff::tree::{TreeOptions, tree};
use crate::report::json::milliseconds;
use crate::token::Encoding;

/// Least, middle and greatest of a row of numbers. The middle of an even row is the mean of its two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub min: f64,
    pub median: f64,
    pub max: f64,
}

impl Spread {
    /// `None` of no numbers.
    pub fn of(mut numbers: Vec<f64>) -> Option<Self> {
        numbers.sort_by(f64::total_cmp);
        let (min, max) = (*numbers.first()?, *numbers.last()?);
        let half = numbers.len() / 2;
        let median =
            if numbers.len().is_multiple_of(2) { f64::midpoint(numbers[half - 1], numbers[half]) } else { numbers[half] };
        Some(Self { min, median, max })
    }
}

/// A place of the data that is not the same in every answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changing {
    /// Such as `/items/*/at`.
    pub pattern: String,
    /// Answers in which it differs from the first.
    pub calls: usize,
    /// Values that differ, in all those answers together.
    pub values: u64,
}

/// What a call repeated told.
#[derive(Clone, Debug, PartialEq)]
pub struct Repeat {
    pub calls: usize,
    /// Calls that gave an answer, and by outcome those that did not.
    pub answers: usize,
    pub failed: Vec<(Outcome, usize)>,
    /// Milliseconds of the calls that were answered; bytes and tokens of what was sent.
    pub latency_ms: Option<Spread>,
    pub bytes: Option<Spread>,
    pub tokens: Option<Spread>,
    /// Most values first.
    pub changing: Vec<Changing>,
    /// Answers whose text or data is not, byte for byte, that of the first.
    pub different: usize,
    /// Whether the data could be compared; otherwise only the bytes were.
    pub has_data: bool,
}

/// Compares repeated calls with the first that gave an answer.
///
/// # Errors
/// [`Cancelled`] when the asker looked away.
pub fn repeat(calls: &[Call], encoding: Encoding, cancel: &Cancel) -> Result<Repeat, Cancelled> {
    let answers: Vec<&Call> = calls.iter().filter(|call| call.subject.capture.outcome == Outcome::Result).collect();
    let mut failed: Vec<(Outcome, usize)> = Vec::new();
    for outcome in calls.iter().map(|call| call.subject.capture.outcome).filter(|outcome| *outcome != Outcome::Result) {
        match failed.iter_mut().find(|(known, _)| *known == outcome) {
            Some((_, count)) => *count += 1,
            None => failed.push((outcome, 1)),
        }
    }
    // Counts are far below 2^53.
    let sent = |number: fn(&crate::format::ledger::Row, Encoding) -> u64| {
        let rows = answers.iter().filter_map(|call| call.as_sent());
        Spread::of(rows.map(|row| number(row, encoding) as f64).collect())
    };
    let mut places: BTreeMap<String, (HashSet<usize>, u64)> = BTreeMap::new();
    let mut different = 0;
    let first = answers.first();
    for (at, call) in answers.iter().enumerate().skip(1) {
        let Some(first) = first else { break };
        let result = |call: &Call| call.subject.reading.result().map(|node| node.raw_bytes());
        different += usize::from(result(call) != result(first));
        let (Some(old), Some(new)) = (&first.subject.payload, &call.subject.payload) else { continue };
        let found = tree(old.root(), new.root(), &TreeOptions::default(), cancel)?;
        for change in &found.changes {
            let place = match (change.a, change.b) {
                (_, Some(b)) => new.doc.node(b).map(|node| pattern(node, new.root)),
                (Some(a), None) => old.doc.node(a).map(|node| pattern(node, old.root)),
                (None, None) => None,
            };
            let (calls, values) = places.entry(place.unwrap_or_default()).or_default();
            calls.insert(at);
            *values += 1;
        }
    }
    let mut changing: Vec<Changing> =
        places.into_iter().map(|(pattern, (calls, values))| Changing { pattern, calls: calls.len(), values }).collect();
    changing.sort_by_key(|place| std::cmp::Reverse(place.values));
    Ok(Repeat {
        calls: calls.len(),
        answers: answers.len(),
        failed,
        latency_ms: Spread::of(answers.iter().map(|call| milliseconds(call.subject.capture.timings.total())).collect()),
        bytes: sent(|row, _| row.bytes),
        tokens: sent(|row, encoding| row.tokens.get(encoding)),
        changing,
        different,
        has_data: !answers.is_empty() && answers.iter().all(|call| call.subject.payload.is_some()),
    })
}

/// One call, several times: how its cost is spread, and what changes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RepeatQuery(pub Encoding);

impl Query for RepeatQuery {
    type Out = Arc<Repeat>;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        let calls = cx.subjects.iter().map(|subject| Call::measure(String::new(), Arc::clone(subject), cx.cancel));
        let calls = calls.collect::<Result<Vec<_>, _>>()?;
        Ok(Arc::new(repeat(&calls, self.0, cx.cancel)?))
    }
}

impl Weigh for Repeat {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sweep::tests::{call, text_result};

    #[test]
    fn spreads_have_a_middle() {
        let of = |numbers: &[f64]| Spread::of(numbers.to_vec()).map(|spread| (spread.min, spread.median, spread.max));
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[3.0]), Some((3.0, 3.0, 3.0)));
        assert_eq!(of(&[3.0, 1.0]), Some((1.0, 2.0, 3.0)));
        assert_eq!(of(&[9.0, 1.0, 2.0]), Some((1.0, 2.0, 9.0)));
    }

    #[test]
    fn what_changes_is_named_once_for_all_records() {
        let answer =
            |at: u32| text_result(&format!(r#"{{"items":[{{"id":1,"at":{at}}},{{"id":2,"at":{at}}}],"took":{}}}"#, at / 2));
        let mut calls: Vec<_> = [4, 5, 6].iter().map(|at| call("1", &answer(*at), Outcome::Result)).collect();
        calls.push(call("1", "{}", Outcome::Timeout));
        let found = repeat(&calls, Encoding::O200kBase, &Cancel::new()).unwrap();
        assert_eq!((found.calls, found.answers, found.different, found.has_data), (4, 3, 2, true));
        assert_eq!(found.failed, [(Outcome::Timeout, 1)]);
        let changing: Vec<_> = found.changing.iter().map(|place| (place.pattern.as_str(), place.calls, place.values)).collect();
        assert_eq!(changing, [("/items/*/at", 2, 4), ("/took", 1, 1)]);
        assert!(found.tokens.is_some_and(|tokens| tokens.min > 0.0));
    }

    #[test]
    fn answers_without_data_are_compared_by_their_bytes() {
        let calls = ["a", "a", "b"].map(|text| call("1", &text_result(text), Outcome::Result));
        let found = repeat(&calls, Encoding::O200kBase, &Cancel::new()).unwrap();
        assert_eq!((found.different, found.has_data, found.changing.len()), (1, false, 0));
        let none = repeat(&[], Encoding::O200kBase, &Cancel::new()).unwrap();
        assert_eq!((none.latency_ms, none.has_data), (None, false));
    }
}
