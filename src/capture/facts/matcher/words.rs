//! Values said in other words: dates, money, enum codes, booleans under their labels, telephone numbers; and other values
//! under the same label.

use std::collections::HashMap;
use std::ops::Range;

use super::super::canon::is_space;
use super::super::forms;
use super::{Found, MAX_PLACES, Matcher, Scope, key_of, overlaps};
use crate::json::{Kind, Node};

impl Matcher<'_> {
    /// The leaf said in other words, under its label.
    pub(super) fn in_other_words(&mut self, leaf: Node<'_>, scope: &mut Scope) -> Option<Found> {
        let key = key_of(leaf);
        match leaf.kind() {
            Kind::Bool => self
                .answer(leaf, &key, scope)
                .and_then(|(says, place)| (Some(says) == leaf.as_bool()).then(|| Found::reworded(place))),
            Kind::Number => {
                let forms = forms::number_reworded(leaf.as_number().unwrap_or_default());
                forms.into_iter().find_map(|form| self.choose(form, &key, false, scope)).map(Found::reworded)
            }
            _ => {
                let value = leaf.as_str().unwrap_or_default();
                for form in forms::date_reworded(&value) {
                    if let Some(hit) = self.choose(form, &key, false, scope) {
                        return Some(Found::reworded(hit));
                    }
                }
                if forms::iso_date(&value).is_some() {
                    let canon = self.canon;
                    let place = self.labelled(&key, scope).find(|place| forms::is_relative_time(&canon.text[place.clone()]));
                    return place.map(Found::reworded);
                }
                let digits = forms::phone_digits(&value)?;
                self.phone(&digits, scope).map(Found::reworded)
            }
        }
    }

    /// The values under labels that fit the key, ornaments cut away, those that serve another leaf left out.
    fn labelled<'s>(&'s mut self, key: &'s str, scope: &'s Scope) -> impl Iterator<Item = Range<usize>> + 's {
        let canon = self.canon;
        let labels = &mut self.labels;
        let groups = scope.by_label.iter().filter(move |group| {
            let first = group.first().and_then(|&at| scope.slots.get(at));
            first.is_some_and(|slot| labels.fit(key, &canon.text[slot.label.clone()]))
        });
        groups.flat_map(|group| group.iter().take(MAX_PLACES)).filter_map(move |&at| {
            let place = bare(&canon.text, scope.slots.get(at)?.value.clone());
            (!place.is_empty() && !overlaps(&scope.used, &place)).then_some(place)
        })
    }

    /// What the record's text says to a yes-or-no leaf, and where.
    fn answer(&mut self, leaf: Node<'_>, key: &str, scope: &Scope) -> Option<(bool, Range<usize>)> {
        let canon = self.canon;
        let text = &canon.text;
        let is_state = forms::is_state(key);
        for group in &scope.by_label {
            let slots = || group.iter().take(MAX_PLACES).filter_map(|&at| scope.slots.get(at));
            let label = slots().next().map_or("", |slot| &text[slot.label.clone()]);
            if !(self.labels.fit(key, label) || (is_state && self.labels.fit("status", label))) {
                continue;
            }
            for slot in slots() {
                let place = bare(text, slot.value.clone());
                if let Some(says) = forms::says(&text[place.clone()], key) {
                    return Some((says, place));
                }
            }
        }
        if !is_state || leaf.parent().is_none() {
            return None;
        }
        for (word, says) in [("Active", true), ("Inactive", false), ("active", true), ("inactive", false)] {
            let needle = self.index.needle(word.to_owned())?;
            let hit = scope.regions.iter().find_map(|region| self.index.hits(&needle, region.clone()).next());
            if let Some(hit) = hit {
                return Some((says, hit));
            }
        }
        None
    }

    fn phone(&self, digits: &str, scope: &mut Scope) -> Option<Range<usize>> {
        let text = &self.canon.text;
        let regions = &scope.regions;
        let phones = scope.phones.get_or_insert_with(|| {
            let mut phones: HashMap<String, Vec<Range<usize>>> = HashMap::new();
            for region in regions {
                for place in digit_runs(text, region.clone()) {
                    let digits: String = text[place.clone()].chars().filter(char::is_ascii_digit).collect();
                    phones.entry(digits).or_default().push(place);
                }
            }
            phones
        });
        let place = phones.get(digits)?.iter().find(|place| !overlaps(&scope.used, place))?.clone();
        scope.used.insert(place.start, place.end);
        Some(place)
    }

    /// What the leaf's label carries in place of its value, in source offsets.
    pub(super) fn contradiction(&mut self, leaf: Node<'_>, scope: &Scope) -> Option<Range<usize>> {
        let key = key_of(leaf);
        if key.is_empty() {
            return None;
        }
        let place = if leaf.kind() == Kind::Bool {
            let (says, place) = self.answer(leaf, &key, scope)?;
            (Some(says) != leaf.as_bool()).then_some(place)?
        } else {
            let canon = self.canon;
            let is_number = leaf.kind() == Kind::Number;
            let is_comparable = |place: &Range<usize>| {
                let text = &canon.text[place.clone()];
                // A word under a number's label is most likely the name of its code; a container is no value.
                let begins = text.trim_start_matches(['$', '€', '£', '-', '+', '~']);
                if is_number { begins.starts_with(|char: char| char.is_ascii_digit()) } else { !text.starts_with(['{', '[']) }
            };
            self.labelled(&key, scope).find(is_comparable)?
        };
        Some(self.canon.source(place))
    }
}

/// A value without the ornaments around it.
fn bare(text: &str, range: Range<usize>) -> Range<usize> {
    let is_edge = |char: char| is_space(char) || matches!(char, '*' | '_' | '"' | '`' | '\'' | ',');
    let inner = &text[range.clone()];
    let start = range.start + inner.len() - inner.trim_start_matches(is_edge).len();
    let mut end = start + text[start..range.end].trim_end_matches(is_edge).len();
    // `(ID: 12)` and `{"id":12}` close around the value, not with it.
    while let Some(open) = text[start..end]
        .chars()
        .next_back()
        .and_then(|last| [(')', '('), ('}', '{'), (']', '[')].iter().find(|(close, _)| *close == last))
        && !text[start..end].contains(open.1)
    {
        end = start + text[start..end - 1].trim_end_matches(is_edge).len();
    }
    start..end
}

/// Runs of digits with the punctuation of telephone numbers inside.
fn digit_runs(text: &str, region: Range<usize>) -> Vec<Range<usize>> {
    let bytes = &text.as_bytes()[region.clone()];
    let mut runs = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let start = at;
        let mut end = at;
        while at < bytes.len() && (bytes[at].is_ascii_digit() || b"-() ./".contains(&bytes[at])) {
            at += 1;
            if bytes[at - 1].is_ascii_digit() {
                end = at;
            }
        }
        // `(555) 1` and `+1 555` begin before their first digit.
        let opens = start.checked_sub(1).and_then(|before| bytes.get(before));
        let has_sign = opens == Some(&b'+') || (opens == Some(&b'(') && bytes[start..end].contains(&b')'));
        runs.push(region.start + start - usize::from(has_sign)..region.start + end);
    }
    runs
}
