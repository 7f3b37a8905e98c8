//! The cache of results, by what they are about and query.

use std::collections::HashMap;
use std::time::Duration;

use bytes::Bytes;

use super::State;
use loupe_analysis::queries::{Query, QueryKey, QueryResult};
use loupe_core::capture::CaptureId;
use loupe_core::problem::Problem;

/// What is known of a query's result.
#[derive(Debug)]
pub enum QueryState<'a, T> {
    Ready(&'a T),
    /// Being worked on since this time, or about to be.
    Working {
        since: Duration,
    },
    Failed(&'a Problem),
    /// Not worked on before the user says so: it takes long for so many bytes of responses.
    NeedsConfirmation {
        bytes: usize,
    },
}

// Derived, they would ask as much of `T`.
impl<T> Clone for QueryState<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for QueryState<'_, T> {}

impl<'a, T> QueryState<'a, T> {
    /// The result, if it is there.
    pub fn ready(self) -> Option<&'a T> {
        if let Self::Ready(out) = self {
            Some(out)
        } else {
            None
        }
    }
}

#[derive(Clone, Debug)]
enum Entry {
    Working {
        since: Duration,
    },
    Done {
        answer: Result<QueryResult, Problem>,
        number: u64,
    },
}

/// So many results that belong to a width, a search or a selection are kept.
const PASSING: usize = 64;

/// Answers that were given, and questions that are out.
#[derive(Clone, Debug)]
pub struct QueryResults {
    entries: HashMap<QueryKey, Entry>,
    /// Counts the results, so that the oldest is known.
    given: u64,
    /// Answers about captures that are not shown are let go above this many bytes, the oldest first. The captures that
    /// answers were made from, parsed, count once each.
    budget: usize,
    /// Queries that are held about large answers wait for the user's word above this many bytes of responses.
    pub(super) held_above: usize,
}

impl Default for QueryResults {
    fn default() -> Self {
        Self {
            entries: HashMap::new(),
            given: 0,
            budget: 256 << 20,
            held_above: 8 << 20,
        }
    }
}

impl QueryResults {
    /// What is known about one capture; `None` where nobody has asked yet.
    pub fn get<Q: Query>(&self, capture: &CaptureId, query: Q) -> Option<QueryState<'_, Q::Out>> {
        self.query_state::<Q>(&QueryKey::new(std::slice::from_ref(capture), query))
    }

    /// What is known of a query key whose query is a `Q`; `None` where nobody has asked yet.
    pub fn query_state<Q: Query>(&self, query_key: &QueryKey) -> Option<QueryState<'_, Q::Out>> {
        Some(match self.entries.get(query_key)? {
            Entry::Working { since } => QueryState::Working { since: *since },
            Entry::Done {
                answer: Ok(answer), ..
            } => QueryState::Ready(answer.of::<Q>()?),
            Entry::Done {
                answer: Err(problem),
                ..
            } => QueryState::Failed(problem),
        })
    }

    /// Since when the oldest question that is out is worked on.
    pub fn since(&self) -> Option<Duration> {
        let since = |entry: &Entry| {
            if let Entry::Working { since } = entry {
                Some(*since)
            } else {
                None
            }
        };
        self.entries.values().filter_map(since).min()
    }

    /// Notes that a question is out; false where it already was, or is answered.
    pub(super) fn ask(&mut self, query_key: &QueryKey, now: Duration) -> bool {
        if self.entries.contains_key(query_key) {
            return false;
        }
        self.entries
            .insert(query_key.clone(), Entry::Working { since: now });
        true
    }

    /// Takes in a result, and lets go of old ones where there is no room for all.
    pub(super) fn put(
        &mut self,
        query_key: QueryKey,
        answer: Result<QueryResult, Problem>,
        shown: &[CaptureId],
    ) {
        self.given += 1;
        self.entries.insert(
            query_key,
            Entry::Done {
                answer,
                number: self.given,
            },
        );
        self.let_go(shown);
    }

    fn let_go(&mut self, shown: &[CaptureId]) {
        let number = |entry: &Entry| {
            if let Entry::Done { number, .. } = entry {
                Some(*number)
            } else {
                None
            }
        };
        let mut passing: Vec<u64> = self
            .entries
            .iter()
            .filter(|(key, _)| key.query.is_passing)
            .filter_map(|(_, entry)| number(entry))
            .collect();
        if passing.len() > PASSING {
            passing.sort_unstable();
            let oldest = passing[passing.len() - PASSING];
            self.entries.retain(|key, entry| {
                !key.query.is_passing || number(entry).is_none_or(|number| number >= oldest)
            });
        }
        let mut weight = 0;
        // By address: what each weighs, and how many results hold it.
        let mut pins: HashMap<usize, (usize, usize)> = HashMap::new();
        let mut others = Vec::new();
        for (key, entry) in &self.entries {
            let Entry::Done {
                answer: Ok(result),
                number,
            } = entry
            else {
                continue;
            };
            weight += result.weight();
            for pin in result.pins() {
                pins.entry(pin.address())
                    .or_insert_with(|| (pin.weight(), 0))
                    .1 += 1;
            }
            // Those about definitions weigh little, and are asked for in every frame.
            let is_of_captures = !key.captures().is_empty();
            if is_of_captures && !key.captures().iter().any(|id| shown.contains(id)) {
                others.push((*number, key, result));
            }
        }
        weight += pins.values().map(|(bytes, _)| bytes).sum::<usize>();
        others.sort_by_key(|(number, ..)| *number);
        let mut gone = Vec::new();
        for (_, key, result) in others {
            if weight <= self.budget {
                break;
            }
            weight -= result.weight();
            for pin in result.pins() {
                let Some((bytes, holders)) = pins.get_mut(&pin.address()) else {
                    continue;
                };
                *holders -= 1;
                weight -= if *holders == 0 { *bytes } else { 0 };
            }
            gone.push(key.clone());
        }
        gone.iter().for_each(|key| drop(self.entries.remove(key)));
    }

    /// Drops the questions that are out and not among these, and returns them.
    pub(super) fn forget_others(&mut self, wanted: &[QueryKey]) -> Vec<QueryKey> {
        let is_gone = |(key, entry): &(&QueryKey, &Entry)| {
            matches!(entry, Entry::Working { .. }) && !wanted.contains(key)
        };
        let gone: Vec<_> = self
            .entries
            .iter()
            .filter(is_gone)
            .map(|(key, _)| key.clone())
            .collect();
        for key in &gone {
            self.entries.remove(key);
        }
        gone
    }

    /// Lets go of every result about captures that changed, and returns what is still worked on.
    pub(super) fn forget_captures(
        &mut self,
        is_changed: impl Fn(&CaptureId) -> bool,
    ) -> Vec<QueryKey> {
        let about = |key: &QueryKey| key.captures().iter().any(&is_changed);
        let is_out = |(key, entry): &(&QueryKey, &Entry)| {
            about(key) && matches!(entry, Entry::Working { .. })
        };
        let out = self
            .entries
            .iter()
            .filter(is_out)
            .map(|(key, _)| key.clone())
            .collect();
        self.entries.retain(|key, _| !about(key));
        out
    }

    /// Number of questions that are out.
    pub fn working(&self) -> usize {
        self.entries
            .values()
            .filter(|entry| matches!(entry, Entry::Working { .. }))
            .count()
    }
}

impl State {
    /// What is known of a query key whose query is a `Q`; where nobody has asked yet, whether it is about to be worked on.
    pub fn query_state<Q: Query>(&self, query_key: &QueryKey) -> QueryState<'_, Q::Out> {
        if let Some(known) = self.query_results.query_state::<Q>(query_key) {
            return known;
        }
        let response = |id| self.capture_of(id)?.response.as_ref();
        let bytes = query_key
            .captures()
            .iter()
            .filter_map(response)
            .map(Bytes::len)
            .sum();
        match query_key.query.is_held && bytes > self.query_results.held_above {
            true => QueryState::NeedsConfirmation { bytes },
            false => QueryState::Working { since: self.now },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use loupe_analysis::queries::{
        CharactersQuery, Memo, ParsedCaptureQuery, PartQuery, QueryInput, TextQuery,
        ToolTokensQuery, TreeQuery,
    };
    use loupe_core::cancel::Cancel;
    use loupe_core::capture::{Capture, Server};
    use loupe_core::host::Hosts;
    use loupe_core::token::Tokens;

    fn id(name: &str) -> CaptureId {
        CaptureId(Arc::from(name))
    }

    fn of<Q: Query>(name: &str, query: Q) -> QueryKey {
        QueryKey::new(&[id(name)], query)
    }

    #[test]
    fn only_the_last_passing_answers_are_kept() {
        let mut answers = QueryResults::default();
        let part = |to| PartQuery {
            format: "content",
            from: 0,
            to,
        };
        for to in 0..100 {
            let query_key = of("a", part(to));
            assert!(answers.ask(&query_key, Duration::ZERO));
            answers.put(
                query_key,
                Ok(QueryResult::new(Tokens::default())),
                &[id("a")],
            );
        }
        assert!(answers.get(&id("a"), part(0)).is_none());
        assert!(matches!(
            answers.get(&id("a"), part(99)),
            Some(QueryState::Ready(_))
        ));
        assert_eq!(answers.entries.len(), PASSING);
    }

    #[test]
    fn what_nobody_asks_any_more_is_forgotten() {
        let mut answers = QueryResults::default();
        answers.ask(&of("a", TreeQuery), Duration::ZERO);
        answers.ask(&of("a", ParsedCaptureQuery), Duration::ZERO);
        let gone = answers.forget_others(&[of("a", ParsedCaptureQuery)]);
        assert_eq!(gone, [of("a", TreeQuery)]);
        assert!(answers.get(&id("a"), TreeQuery).is_none());
        assert_eq!(answers.working(), 1);
    }

    #[test]
    fn answers_of_other_captures_make_room() {
        let mut answers = QueryResults {
            budget: 3000,
            ..QueryResults::default()
        };
        let rows = |capture: &str, answers: &mut QueryResults| {
            for format in ["json", "yaml"] {
                let query_key = of(capture, TextQuery(format));
                answers.ask(&query_key, Duration::ZERO);
                let view = loupe_analysis::queries::TextView::plain(format, &"x".repeat(1000));
                answers.put(
                    query_key,
                    Ok(QueryResult::new(Arc::new(view))),
                    &[id("shown")],
                );
            }
        };
        rows("old", &mut answers);
        rows("shown", &mut answers);
        let is_known =
            |capture: &str, format| answers.get(&id(capture), TextQuery(format)).is_some();
        assert_eq!(
            [is_known("old", "json"), is_known("old", "yaml")],
            [false, false]
        );
        assert_eq!(
            [is_known("shown", "json"), is_known("shown", "yaml")],
            [true, true]
        );
    }

    #[test]
    fn what_answers_were_made_from_counts_once_and_goes_with_the_last() {
        let memo = Memo::default();
        let put = |answers: &mut QueryResults,
                   capture: &Arc<Capture>,
                   query: QueryKey,
                   shown: &[CaptureId]| {
            let about = QueryInput::Captures(vec![Arc::clone(capture)]);
            answers.ask(&query, Duration::ZERO);
            let answer = query
                .query
                .run(&about, &Hosts::built_in(), &memo, &Cancel::new())
                .unwrap();
            answers.put(query, answer, shown);
        };
        let capture = |name: &str| {
            let response = format!(
                r#"{{"result":{{"content":[{{"type":"text","text":"{}"}}]}}}}"#,
                "x".repeat(10_000)
            );
            Arc::new(Capture {
                response: Some(response.into()),
                ..Capture::empty(id(name), Server::default())
            })
        };
        let (old, new) = (capture("old"), capture("new"));
        let mut answers = QueryResults {
            budget: 50_000,
            ..QueryResults::default()
        };
        put(
            &mut answers,
            &old,
            of("old", CharactersQuery("content".into())),
            &[id("old")],
        );
        put(
            &mut answers,
            &old,
            of("old", ParsedCaptureQuery),
            &[id("old")],
        );
        put(
            &mut answers,
            &new,
            of("new", ParsedCaptureQuery),
            &[id("new")],
        );
        // Two of some 20,000 bytes: there is room for both.
        assert!(answers.get(&id("old"), ParsedCaptureQuery).is_some());
        let other = capture("other");
        put(
            &mut answers,
            &other,
            of("other", ParsedCaptureQuery),
            &[id("other")],
        );
        assert_eq!(
            answers
                .entries
                .keys()
                .filter(|key| key.captures() == [id("old")])
                .count(),
            0,
            "both, since one alone frees nothing"
        );
        assert!(answers.get(&id("new"), ParsedCaptureQuery).is_some());
        put(
            &mut answers,
            &old,
            of("old", ParsedCaptureQuery),
            &[id("old"), id("new"), id("other")],
        );
        assert_eq!(answers.entries.len(), 3, "what is shown stays");
    }

    #[test]
    fn what_is_asked_of_definitions_stays_whatever_an_answer_weighs() {
        let mut answers = QueryResults {
            budget: 10,
            ..QueryResults::default()
        };
        let shown = id("shown");
        let view = loupe_analysis::queries::TextView::plain("json", &"x".repeat(1000));
        answers.put(
            of("shown", TextQuery("json")),
            Ok(QueryResult::new(Arc::new(view))),
            std::slice::from_ref(&shown),
        );
        // Asked for in every frame: if it went, it would be worked on for ever.
        let tokens = QueryKey::of_definitions(&[1], ToolTokensQuery);
        let counted: Arc<[Tokens]> = [Tokens::default()].into();
        answers.put(tokens.clone(), Ok(QueryResult::new(counted)), &[shown]);
        assert!(matches!(
            answers.query_state::<ToolTokensQuery>(&tokens),
            Some(QueryState::Ready(_))
        ));
    }
}
