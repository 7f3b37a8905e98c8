//! What is known of the texts of one result, by their digests, and of the formats it is measured in: several formats, hosts and deliveries write the same text,
//! and it is counted and searched once.

use std::borrow::Cow;
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use sha2::{Digest, Sha256};

use super::ledger::Row;
use crate::capture::{FactCount, FactMatches, ResultData, count_facts};
use crate::parallel::{LONG_BYTES, parallel_map};
use crate::token::{self, Counts, Tokens};

type Key = [u8; 32];

/// Up to here texts that are counted together are not remembered one by one.
const SHORT_BYTES: usize = 256;

/// Counts of the texts that were met; of nobody's interest but those who ask for them again.
#[derive(Debug, Default)]
pub struct TextCache {
    /// Of short texts, and of the parts of long ones; empty while somebody counts.
    counts: Mutex<HashMap<Key, Arc<OnceLock<Counts>>>>,
    /// Of several texts together.
    sums: Mutex<HashMap<Key, Tokens>>,
    facts: Mutex<HashMap<Key, FactCount>>,
    /// Of each format; empty while somebody measures.
    rows: Mutex<HashMap<&'static str, Arc<OnceLock<Row>>>>,
    /// Held while facts are located in a long text: two at a time would take twice the memory.
    locating: Mutex<()>,
    /// Of the data in the text content.
    pub(super) in_text: OnceLock<Arc<FactMatches>>,
    pub(super) extra: OnceLock<super::ExtraText>,
    pub(super) renders: OnceLock<bool>,
}

fn key(text: &[u8]) -> Key {
    Sha256::digest(text).into()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl TextCache {
    /// What a text measures. Bytes that are not UTF-8 count as U+FFFD.
    pub fn counts(&self, text: &[u8]) -> Counts {
        Counts {
            bytes: text.len() as u64,
            ..self.counts_of(&[&String::from_utf8_lossy(text)])
        }
    }

    /// What several texts take together, each counted by itself.
    pub fn tokens_of<'t>(&self, mut texts: impl Iterator<Item = &'t str> + Clone) -> Tokens {
        let all = texts.clone();
        match (texts.next(), texts.next()) {
            (None, _) => return Tokens::default(),
            (Some(only), None) => return self.counts(only.as_bytes()).tokens,
            _ => {}
        }
        let mut digest = Sha256::new();
        for text in all.clone() {
            digest.update(text.len().to_le_bytes());
            digest.update(text);
        }
        let key = digest.finalize().into();
        if let Some(known) = lock(&self.sums).get(&key) {
            return *known;
        }
        // What is remembered of a short text takes as long as to count it.
        let count = |text: &str| match text.len() < SHORT_BYTES {
            true => token::count(text),
            false => self.counts(text.as_bytes()).tokens,
        };
        let sum = all.fold(Tokens::default(), |sum, text| sum.plus(count(text)));
        lock(&self.sums).insert(key, sum);
        sum
    }

    /// What a text measures that comes in pieces. Long texts are counted part by part, on all cores, and a part that is in
    /// another text too is counted once.
    pub fn counts_of(&self, pieces: &[&str]) -> Counts {
        self.counts_of_parts(&parts(pieces))
    }

    /// The tokens that a text has more than another, both in pieces. Where they begin or end alike is not counted.
    pub fn saved(&self, before: &[&str], after: &[&str]) -> Tokens {
        let (before, after) = (parts(before), parts(after));
        let (mut before, mut after) = (&before[..], &after[..]);
        while let ([first, rest @ ..], [other, others @ ..]) = (before, after)
            && first == other
        {
            (before, after) = (rest, others);
        }
        while let ([rest @ .., last], [others @ .., other]) = (before, after)
            && last == other
        {
            (before, after) = (rest, others);
        }
        self.counts_of_parts(before)
            .tokens
            .less(self.counts_of_parts(after).tokens)
    }

    fn counts_of_parts(&self, parts: &[Cow<'_, str>]) -> Counts {
        let is_short = parts.iter().map(|part| part.len()).sum::<usize>() < LONG_BYTES;
        let Ok(begun) = parallel_map(parts, is_short, |part| {
            Ok::<_, Infallible>(self.begin(part))
        });
        let counts = begun
            .into_iter()
            .zip(parts)
            .map(|(counts, part)| *counts.get_or_init(|| Counts::of_text(part)));
        counts.fold(Counts::default(), Counts::plus)
    }

    /// Counts a part, unless it is being counted: who else counts the same text takes the parts after it.
    fn begin(&self, part: &str) -> Arc<OnceLock<Counts>> {
        let key = key(part.as_bytes());
        let counts = {
            let mut known = lock(&self.counts);
            if let Some(begun) = known.get(&key) {
                return Arc::clone(begun);
            }
            Arc::clone(known.entry(key).or_default())
        };
        counts.get_or_init(|| Counts::of_text(part));
        counts
    }

    /// The row of a format, measured once.
    pub(super) fn row(&self, format: &'static str, measure: impl FnOnce() -> Row) -> Row {
        let row = Arc::clone(lock(&self.rows).entry(format).or_default());
        row.get_or_init(measure).clone()
    }

    fn locate(&self, data: &ResultData, text: &str) -> FactMatches {
        let _alone = (text.len() > LONG_BYTES).then(|| lock(&self.locating));
        count_facts(data, text)
    }

    /// How many facts of the data a text tells; always asked about the same data.
    pub fn facts(&self, data: &ResultData, text: &str) -> FactCount {
        let key = key(text.as_bytes());
        if let Some(known) = lock(&self.facts).get(&key) {
            return *known;
        }
        let count = self.locate(data, text).count;
        lock(&self.facts).insert(key, count);
        count
    }

    /// Takes what was found of a text, for who counts its facts later.
    pub(super) fn know(&self, text: &str, count: FactCount) {
        lock(&self.facts).insert(key(text.as_bytes()), count);
    }

    /// The same with the facts themselves; those of a text that proves them all are left out.
    pub fn matches(&self, data: &ResultData, text: &str) -> FactMatches {
        let key = key(text.as_bytes());
        if let Some(known) = lock(&self.facts)
            .get(&key)
            .filter(|known| known.is_proved())
        {
            return FactMatches {
                count: *known,
                ..FactMatches::default()
            };
        }
        let matches = self.locate(data, text);
        lock(&self.facts).insert(key, matches.count);
        matches
    }
}

/// A text that comes in pieces, cut into parts that are counted apart.
fn parts<'t>(pieces: &[&'t str]) -> Vec<Cow<'t, str>> {
    let (mut parts, mut between) = (Vec::new(), String::new());
    for piece in pieces {
        let mut from = 0;
        for cut in token::cuts(piece) {
            let part = &piece[std::mem::replace(&mut from, cut)..cut];
            if between.is_empty() {
                parts.push(Cow::Borrowed(part));
            } else {
                between.push_str(part);
                parts.push(Cow::Owned(std::mem::take(&mut between)));
            }
        }
        between.push_str(&piece[from..]);
    }
    parts.push(Cow::Owned(between));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::tests::subject;
    use crate::token;

    #[test]
    fn what_is_known_is_what_is_counted() {
        let known = TextCache::default();
        let text = "one, two – three 😀 ".repeat(9_000);
        let counts = known.counts(text.as_bytes());
        assert_eq!(counts.tokens, token::count(&text));
        assert_eq!(counts.chars, text.chars().count() as u64);
        assert_eq!(known.counts(text.as_bytes()), counts);
        // Bytes that are no text are counted as they are shown.
        assert_eq!(known.counts(b"a\xffb").chars, 3);
    }

    #[test]
    fn texts_together_take_what_each_takes() {
        let known = TextCache::default();
        let long = "one, two – three ".repeat(100);
        for texts in [
            vec![],
            vec!["one"],
            vec!["o", "ne"],
            vec!["on", "e"],
            vec![&*long, "one", &*long],
        ] {
            let sum = texts
                .iter()
                .fold(Tokens::default(), |sum, text| sum.plus(token::count(text)));
            for _ in 0..2 {
                assert_eq!(known.tokens_of(texts.iter().copied()), sum, "{texts:?}");
            }
        }
    }

    #[test]
    fn pieces_count_as_the_text_that_they_are() {
        let known = TextCache::default();
        let (text, data) = (
            "It's 1,234 — 5 日本、語".repeat(9_000),
            r#"{"a":"it's","b":[1.5,"日本"]}"#.repeat(9_000),
        );
        for pieces in [
            vec![&*text, "\n", &*data],
            vec![&*data],
            vec![&*text, &*text],
            vec!["x", &*data, "'s"],
            vec!["a", "b"],
            vec![],
        ] {
            let whole = pieces.concat();
            assert_eq!(
                known.counts_of(&pieces),
                Counts::new(whole.as_bytes()),
                "{} bytes",
                whole.len()
            );
        }
    }

    #[test]
    fn what_is_saved_is_what_more_is_counted() {
        let (text, data) = (
            "It's 1,234 — 5 日本、語".repeat(9_000),
            r#"{"a":"it's","b":[1.5,"日本"]}"#.repeat(9_000),
        );
        let longer = format!("{data} and {data}");
        for (before, after) in [
            (vec![&*text, "\n", &*data], vec![&*text, "\n", "[1]"]),
            (vec![&*text, "\n", &*longer], vec![&*text, "\n", &*data]),
            (vec![&*longer, "\n", &*text], vec![&*data, "\n", &*text]),
            (vec![&*text, "\n", &*data], vec![&*data]),
            (vec![&*data], vec![&*longer]),
            (vec![&*text], vec![&*text]),
            (vec!["a b"], vec!["a"]),
            (vec!["a"], vec![]),
        ] {
            let known = TextCache::default();
            let saved = known.saved(&before, &after);
            assert_eq!(
                saved,
                token::count(&before.concat()).less(token::count(&after.concat())),
                "{saved:?}"
            );
        }
        // Nor is a part that both have.
        let known = TextCache::default();
        known.saved(&[&text, "\n", &data], &[&text, "\n", "[1]"]);
        let counted = lock(&known.counts).len();
        assert!(counted < parts(&[&data]).len() + 3, "{counted} parts");
    }

    #[test]
    fn a_text_within_another_is_counted_once() {
        let known = TextCache::default();
        let text: String = (0..200_000_u64)
            .map(|at| format!("record {at}: {}\n", at * at % 997))
            .collect();
        let alone = known.counts(text.as_bytes());
        let parts = lock(&known.counts).len();
        assert!(parts > 40, "{parts} parts");
        let around = format!("```text\n{text}\n```");
        assert_eq!(
            known.counts(around.as_bytes()),
            Counts::new(around.as_bytes())
        );
        assert!(lock(&known.counts).len() <= parts + 3, "those at its ends");
        assert_eq!(alone, Counts::new(text.as_bytes()));
    }

    #[test]
    fn facts_are_told_with_and_without_a_match() {
        let subject = subject(r#"{"content":[],"structuredContent":{"name":"Ada","age":36}}"#);
        let data = subject.data.as_ref().unwrap();
        let known = TextCache::default();
        let whole = r#"See {"name": "Ada", "age": 36}"#;
        assert_eq!(
            known.facts(data, whole),
            FactCount {
                total: 2,
                proved: 2,
                ..FactCount::default()
            }
        );
        assert_eq!(known.matches(data, whole).facts, []);
        let part = known.matches(data, "Ada");
        assert_eq!((part.count.missing, part.facts.len()), (1, 2));
        assert_eq!(known.facts(data, "Ada"), part.count);
    }
}
