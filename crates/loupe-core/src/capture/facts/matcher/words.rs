//! Values in other words: dates, money, booleans under their labels, telephone numbers.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use foldhash::HashMap;

use super::super::canon::needle;
use super::super::forms;
use super::super::labels::spoken;
use super::super::{times, units};
use super::scope::{Answers, Scope, SearchScope, bare, line_before};
use super::{Found, Matcher};
use crate::json::{Kind, Node};

/// The longest word of a list of choices that is looked for in another spelling, in bytes.
const LONGEST_NAME: usize = 60;

impl Matcher<'_> {
    /// The leaf said in other words.
    pub(super) fn in_other_words(
        &mut self,
        leaf: Node<'_>,
        field: u32,
        scope: &mut Scope,
        place: SearchScope,
    ) -> Option<Found> {
        if leaf.kind() == Kind::Bool {
            let says = usize::from(leaf.as_bool() == Some(true));
            return self.answers(field, scope)[says].pop_front().map(reworded);
        }
        if leaf.kind() == Kind::Number {
            let forms = forms::number_reworded(leaf.as_number().unwrap_or_default());
            let hit = forms
                .into_iter()
                .find_map(|form| self.take(form, leaf, field, scope, place));
            let hit = hit.or_else(|| {
                (place == SearchScope::Own)
                    .then(|| self.in_another_unit(leaf, field, scope))
                    .flatten()
            });
            return hit.map(reworded);
        }
        let value = leaf.as_str().unwrap_or_default();
        if let Some(hit) =
            forms::date_reworded(&value).find_map(|form| self.take(form, leaf, field, scope, place))
        {
            // The time of day after it was compared, and is part of it.
            let time = if value.len() > 10 {
                times::length(&self.page.text()[hit.end..])
            } else {
                0
            };
            return Some(reworded(hit.start..hit.end + time));
        }
        if place == SearchScope::Own
            && let Some(hit) = self.same_words(&value, field, scope)
        {
            return Some(reworded(hit));
        }
        if forms::iso_date(&value).is_some() {
            return (place == SearchScope::Own)
                .then(|| self.relative(field, scope))
                .flatten()
                .map(reworded);
        }
        let digits = forms::phone_digits(&value, &self.fields.key(field))?;
        self.phone(&digits, leaf, field, scope, place).map(reworded)
    }

    /// A word in another spelling under the field's label: `In progress` for `in_progress`, `ACTIVE` for `active`.
    fn same_words(&mut self, value: &str, field: u32, scope: &Scope) -> Option<Range<usize>> {
        let is_name = |char: char| char.is_alphabetic() || matches!(char, '_' | '-' | ' ');
        if value.len() > LONGEST_NAME || !value.chars().all(is_name) {
            return None;
        }
        let words = spoken(value);
        if words.is_empty() {
            return None;
        }
        let text = self.page.text();
        for slot in scope.own.of(field) {
            let place = bare(text, self.page.slots[slot].value());
            if place.len() <= LONGEST_NAME
                && self.served[slot].is_none()
                && spoken(&text[place.clone()]) == words
            {
                self.served[slot] = Some(field);
                return Some(place);
            }
        }
        None
    }

    /// A number in another unit under the field's label: `1.5 s` for `tookMs`, `2025-01-01` for seconds since 1970.
    fn in_another_unit(
        &mut self,
        leaf: Node<'_>,
        field: u32,
        scope: &Scope,
    ) -> Option<Range<usize>> {
        let (text, key, number) = (
            self.page.text(),
            spoken(&self.fields.key(field)),
            leaf.as_f64()?,
        );
        for slot in scope.own.of(field) {
            let place = bare(text, self.page.slots[slot].value());
            let length = units::says(
                number,
                key.rsplit(' ').next().unwrap_or_default(),
                &text[place.clone()],
            );
            let length = length.or_else(|| forms::says_epoch(number, &text[place.clone()]));
            if let Some(length) = length.filter(|_| self.served[slot].is_none()) {
                self.served[slot] = Some(field);
                return Some(place.start..place.start + length);
            }
        }
        None
    }

    /// A time relative to now, under the field's label.
    fn relative(&mut self, field: u32, scope: &Scope) -> Option<Range<usize>> {
        let text = self.page.text();
        for slot in scope.own.of(field) {
            let place = bare(text, self.page.slots[slot].value());
            if self.served[slot].is_none() && forms::is_relative_time(&text[place.clone()]) {
                self.served[slot] = Some(field);
                return Some(place);
            }
        }
        None
    }

    /// What the text says to a yes-or-no field, and where: under its labels, under that of its state, in prose.
    pub(super) fn answers<'s>(&mut self, field: u32, scope: &'s mut Scope) -> &'s mut Answers {
        let Scope {
            regions,
            own,
            answers,
            ..
        } = scope;
        answers.entry(field).or_insert_with(|| {
            let key = &self.fields.key(field);
            let text = self.page.text();
            let mut all = Answers::default();
            let mut add = |slot: usize, is_own: bool| {
                let place = bare(text, self.page.slots[slot].value());
                if let Some(says) = forms::says(&text[place.clone()], key, is_own) {
                    all[usize::from(says)].push_back(place);
                }
            };
            own.of(field).for_each(|slot| add(slot, true));
            let asked = forms::state_of(key);
            if asked.is_some() && own.of(field).next().is_none() {
                let is_status = |slot: &usize| {
                    *self.page.names[self.page.slots[*slot].name as usize] == *"status"
                };
                regions
                    .iter()
                    .flat_map(|region| self.page.slots_in(region))
                    .filter(is_status)
                    .for_each(|slot| add(slot, false));
            }
            // Under a label of its own that says something else, the state is not told.
            if let Some(asked) = asked
                .filter(|_| all.iter().all(VecDeque::is_empty) && own.of(field).next().is_none())
                && let Some((says, place)) = self.in_prose(regions, asked)
            {
                all[usize::from(says)].push_back(place);
            }
            all
        })
    }

    /// The first word of a state in prose.
    fn in_prose(&self, regions: &[Range<usize>], asked: bool) -> Option<(bool, Range<usize>)> {
        let words = [
            "Active", "active", "Enabled", "enabled", "Inactive", "inactive", "Disabled",
            "disabled",
        ];
        let first = |(position, word): (usize, &str)| {
            let needle = self.page.index.needle(word.to_owned())?;
            let hit = regions
                .iter()
                .find_map(|region| self.page.hits(&needle, region.clone()).next())?;
            Some((hit, position < 4))
        };
        let (hit, says) = words
            .into_iter()
            .enumerate()
            .filter_map(first)
            .min_by_key(|(hit, _)| hit.start)?;
        // A label, whose value says something else: `active (yes/no): no`.
        let rest = self.page.text()[hit.end..].trim_start_matches([' ', '*', '_', '`']);
        if rest.starts_with([':', '=', '(', '?']) {
            return None;
        }
        let is_denied = forms::is_denied(line_before(self.page.text(), hit.start));
        Some(((says != is_denied) == asked, hit))
    }

    fn phone(
        &mut self,
        digits: &str,
        leaf: Node<'_>,
        field: u32,
        scope: &mut Scope,
        place: SearchScope,
    ) -> Option<Range<usize>> {
        let text = self.page.text();
        let regions = &scope.regions;
        let phones = scope.phones.get_or_insert_with(|| {
            let mut phones: HashMap<String, BTreeSet<String>> = HashMap::default();
            for run in regions
                .iter()
                .flat_map(|region| digit_runs(text, region.clone()))
            {
                let digits = text[run.clone()]
                    .chars()
                    .filter(char::is_ascii_digit)
                    .collect();
                phones.entry(digits).or_default().insert(needle(&text[run]));
            }
            phones
        });
        let forms = phones.get(digits)?.clone();
        forms
            .into_iter()
            .find_map(|form| self.take(form, leaf, field, scope, place))
    }
}

fn reworded(place: Range<usize>) -> Found {
    Found::reworded(&place)
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
        let has_sign =
            opens == Some(&b'+') || (opens == Some(&b'(') && bytes[start..end].contains(&b')'));
        runs.push(region.start + start - usize::from(has_sign)..region.start + end);
    }
    runs
}
