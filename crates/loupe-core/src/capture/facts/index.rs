//! Finds values in a canonical text: every word's places are known, so nothing is searched twice.

use std::ops::Range;

use foldhash::{HashMap, HashMapExt};

use super::canon::is_space;

/// Places of a word in a row where the rest of a value does not stand around it, until the value is given up: only a
/// text of few words, told over and over, has more.
const MAX_MISSES: usize = 10_000;

/// A value to look for.
#[derive(Clone, Debug)]
pub(super) struct Needle {
    pub(super) text: String,
    /// Its rarest word, as a range of `text`; `None` where it has neither letter nor digit.
    word: Option<Range<usize>>,
    /// The places of that word.
    places: usize,
    pub(super) is_number: bool,
}

impl Needle {
    /// Whether looking for it is cheap, however often it is done.
    pub(super) fn is_rare(&self) -> bool {
        self.word.is_some() && self.places <= 8
    }
}

/// The words of a text (runs of letters and digits) and where they stand.
pub(super) struct Index<'t> {
    text: &'t str,
    ids: HashMap<&'t str, u32>,
    /// Places of word `id` are `places[firsts[id]..firsts[id + 1]]`.
    firsts: Vec<u32>,
    places: Vec<u32>,
}

/// Cuts a text into its words.
pub(super) fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find(char::is_alphanumeric)?;
        let end = text[start..]
            .find(|char: char| !char.is_alphanumeric())
            .map_or(text.len(), |len| start + len);
        at = end;
        Some(start..end)
    })
}

impl<'t> Index<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let mut ids: HashMap<&str, u32> = HashMap::new();
        let mut counts: Vec<u32> = Vec::new();
        let mut sequence: Vec<(u32, u32)> = Vec::new();
        for range in words(text) {
            let next = u32::try_from(counts.len()).unwrap_or(u32::MAX);
            let id = *ids.entry(&text[range.clone()]).or_insert(next);
            if id == next {
                counts.push(0);
            }
            counts[id as usize] += 1;
            // Texts end long before 4 GiB: no message is larger.
            sequence.push((id, u32::try_from(range.start).unwrap_or(u32::MAX)));
        }
        let mut firsts = Vec::with_capacity(counts.len() + 1);
        let mut sum = 0;
        for count in &counts {
            firsts.push(sum);
            sum += count;
        }
        firsts.push(sum);
        let mut places = vec![0; sum as usize];
        let mut free = firsts.clone();
        for (id, at) in sequence {
            places[free[id as usize] as usize] = at;
            free[id as usize] += 1;
        }
        Self {
            text,
            ids,
            firsts,
            places,
        }
    }

    fn places(&self, word: &str) -> &[u32] {
        let range =
            |&id: &u32| self.firsts[id as usize] as usize..self.firsts[id as usize + 1] as usize;
        self.ids.get(word).map_or(&[], |id| &self.places[range(id)])
    }

    /// Prepares a value, already in canonical form. `None` for the empty one, and for one with a word that the text lacks.
    pub(super) fn needle(&self, text: String) -> Option<Needle> {
        if text.is_empty() {
            return None;
        }
        let counted = words(&text)
            .take(16)
            .map(|range| (self.places(&text[range.clone()]).len(), range));
        let (places, word) = counted.min_by_key(|(places, _)| *places).unzip();
        if places == Some(0) {
            return None;
        }
        let is_number = is_number(&text);
        Some(Needle {
            text,
            word,
            places: places.unwrap_or_default(),
            is_number,
        })
    }

    /// Where the value is in `within`, in order.
    pub(super) fn hits<'s>(
        &'s self,
        needle: &'s Needle,
        within: Range<usize>,
    ) -> impl Iterator<Item = Range<usize>> + 's {
        let by_word = needle.word.clone().map(|word| {
            let places = self.places(&needle.text[word.clone()]);
            let first = places.partition_point(|&at| (at as usize) < within.start);
            let end = within.end;
            places[first..]
                .iter()
                .map(|&at| at as usize)
                .take_while(move |&at| at < end)
                .map(move |at| self.around(needle, &word, at))
                .scan(0, |misses, hit| {
                    *misses = if hit.is_some() { 0 } else { *misses + 1 };
                    (*misses <= MAX_MISSES).then_some(hit)
                })
                .flatten()
        });
        let by_text = needle.word.is_none().then(|| {
            // Without a word there is nothing in the index: signs are searched for, but not through megabytes.
            let end = self
                .text
                .floor_char_boundary(within.end.min(within.start + (1 << 20)));
            let sign = needle.text.split(' ').next().unwrap_or_default();
            self.text[within.start..end]
                .match_indices(sign)
                .filter_map({
                    let start = within.start;
                    move |(at, _)| self.around(needle, &(0..0), start + at)
                })
        });
        let range = within;
        by_word
            .into_iter()
            .flatten()
            .chain(by_text.into_iter().flatten())
            .filter(move |hit| range.start <= hit.start && hit.end <= range.end)
    }

    /// The value, in canonical form and not empty, if it begins there.
    pub(super) fn hit_at(&self, at: usize, value: &str) -> Option<Range<usize>> {
        let hit = at..forward(self.text, at, value)?;
        self.stands_alone(&hit).then_some(hit)
    }

    /// The hit whose `word` is at `at`, if the rest of the value stands around it.
    fn around(&self, needle: &Needle, word: &Range<usize>, at: usize) -> Option<Range<usize>> {
        let end = forward(self.text, at, &needle.text[word.start..])?;
        let start = backward(self.text, at, &needle.text[..word.start])?;
        let hit = start..end;
        self.stands_alone(&hit).then_some(hit)
    }

    /// No letter or digit directly before or after.
    fn stands_alone(&self, hit: &Range<usize>) -> bool {
        let before = self.text[..hit.start].chars().next_back();
        let after = self.text[hit.end..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    }
}

/// Whether a value is a number as texts spell it.
pub(super) fn is_number(value: &str) -> bool {
    let digits = value.strip_prefix('-').unwrap_or(value);
    digits.starts_with(|char: char| char.is_ascii_digit())
        && digits
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b".,eE+-".contains(&byte))
}

/// Where `part` ends when it begins at `at`; its spaces stand for any run of white space.
fn forward(text: &str, mut at: usize, part: &str) -> Option<usize> {
    for (position, word) in part.split(' ').enumerate() {
        if position > 0 {
            let rest = text[at..].trim_start_matches(is_space);
            let skipped = text.len() - at - rest.len();
            if skipped == 0 {
                return None;
            }
            at += skipped;
        }
        at += text[at..].starts_with(word).then_some(word.len())?;
    }
    Some(at)
}

/// Where `part` begins when it ends at `at`.
fn backward(text: &str, mut at: usize, part: &str) -> Option<usize> {
    for (position, word) in part.rsplit(' ').enumerate() {
        if position > 0 {
            let rest = text[..at].trim_end_matches(is_space);
            if rest.len() == at {
                return None;
            }
            at = rest.len();
        }
        at -= text[..at].ends_with(word).then_some(word.len())?;
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, value: &str) -> Vec<String> {
        let index = Index::of(text);
        let needle = index.needle(value.to_owned()).unwrap();
        index
            .hits(&needle, 0..text.len())
            .map(|hit| text[hit].to_owned())
            .collect()
    }

    #[test]
    fn values_stand_alone() {
        assert_eq!(found("12 123 (12) 12. a12", "12"), ["12", "12", "12"]);
        assert_eq!(
            found("New  York, New\nYork New Yorker", "New York"),
            ["New  York", "New\nYork"]
        );
        assert_eq!(found("a 🎉 b🎉", "🎉"), ["🎉"]);
        assert_eq!(found("(555) 1 x(555) 1", "(555) 1"), ["(555) 1"]);
        assert_eq!(found("$1,234.50", "1,234.50"), ["1,234.50"]);
    }
}
