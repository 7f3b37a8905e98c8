//! The part of a text that one record's leaves are looked for in, and what is known of it once it was asked.

use std::cmp::Reverse;
use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;
use std::rc::Rc;

use foldhash::{HashMap, HashMapExt};

use super::super::canon::{is_space, needle};
use super::super::forms;
use super::super::index::Needle;
use super::super::span::is_ornament;
use super::super::whole::is_continued;
use super::{Found, Leaf, Matcher, Places, name_sibling};
use crate::json::{Kind, Node};
use crate::layout::range_at;

/// Where the leaves of one record (or of what stands around records) are looked for.
pub(super) struct Scope {
    pub(super) regions: Places,
    set: usize,
    /// Whether a part begins inside a slot, so that what is there may belong to a label before it.
    begins_inside: bool,
    pub(super) own: OwnSlots,
    /// By value, and whether it is a yes or no: its hits that are not given out yet.
    values: HashMap<(String, bool), Hits>,
    /// By field: what its labels say to a yes-or-no question.
    pub(super) answers: HashMap<u32, Answers>,
    /// By field: what its labels carry instead of its values.
    others: HashMap<(u32, Kind), Other>,
    /// By digits: telephone numbers as they are written.
    pub(super) phones: Option<HashMap<String, BTreeSet<String>>>,
}

/// The slots under the labels of fields, in order of the fields and then of the text: a page has as many scopes as records.
pub(super) struct OwnSlots(Vec<(u32, usize)>);

impl OwnSlots {
    /// Those of one field.
    pub(super) fn of(&self, field: u32) -> impl Iterator<Item = usize> + '_ {
        let first = self.0.partition_point(|(own, _)| *own < field);
        self.0[first..]
            .iter()
            .take_while(move |(own, _)| *own == field)
            .map(|(_, slot)| *slot)
    }
}

/// Hits of one value: under the labels of fields, where nobody's label stands, and under other labels.
#[derive(Default)]
struct Hits {
    own: HashMap<u32, VecDeque<(usize, Range<usize>)>>,
    free: VecDeque<Range<usize>>,
    foreign: VecDeque<(usize, Range<usize>)>,
}

/// The places that say no and those that say yes.
pub(super) type Answers = [VecDeque<Range<usize>>; 2];

/// What a field's labels carry that is not its value.
#[derive(Clone, Debug)]
enum Other {
    /// Nothing, or the values of other fields.
    Nothing,
    /// Other values of the same field, or words that do not compare.
    Same,
    Value(Range<usize>),
}

/// Where a value may be looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SearchScope {
    /// Under the field's own labels.
    Own,
    /// Where no label stands, or one that is no field's; and inside the value of a field that is found there:
    /// an address has a city.
    Free,
}

impl Scope {
    /// Whether something may be under the labels of a field: one is here, or stands before a part that begins in its value.
    fn may_own(&self, field: u32) -> bool {
        self.begins_inside || self.own.of(field).next().is_some()
    }
}

impl<'t> Matcher<'t> {
    fn scope(&mut self, leaves: &[Leaf], regions: &[Range<usize>]) -> Scope {
        let mut fields: Vec<u32> = leaves.iter().map(|leaf| leaf.field).collect();
        fields.sort_unstable();
        fields.dedup();
        let set = match self.set_of.get(&fields) {
            Some(set) => *set,
            None => {
                self.sets.push(super::FieldSet::of(fields.clone(), |field| {
                    self.fields.named(field)
                }));
                self.set_of.insert(fields, self.sets.len() - 1);
                self.sets.len() - 1
            }
        };
        let mut own = Vec::new();
        for region in regions {
            for slot in self.page.slots_in(region) {
                own.extend(self.owners(set, slot).iter().map(|field| (*field, slot)));
            }
        }
        own.sort_by_key(|(field, _)| *field);
        let is_inside = |at: usize| {
            self.page
                .slot_at(at)
                .is_some_and(|slot| self.page.slots[slot].value().start < at)
        };
        Scope {
            begins_inside: regions.iter().any(|region| is_inside(region.start)),
            regions: regions.to_vec(),
            set,
            own: OwnSlots(own),
            values: HashMap::new(),
            answers: HashMap::new(),
            others: HashMap::new(),
            phones: None,
        }
    }

    fn owners(&mut self, set: usize, slot: usize) -> Rc<[u32]> {
        let name = self.page.slots[slot].name;
        self.sets[set].owners(name, &self.page.names[name as usize], |field| {
            self.fields.named(field)
        })
    }

    /// Looks for leaves in parts of the text. Where these are not `theirs` but belong to records as well, only labels
    /// tell that a value that is not text is meant.
    pub(super) fn look(&mut self, leaves: &mut [Leaf], regions: &[Range<usize>], are_theirs: bool) {
        if leaves.is_empty() {
            return;
        }
        let mut scope = self.scope(leaves, regions);
        // Long values first, so that a short one does not take a place inside them; else in document order.
        leaves.sort_by_cached_key(|leaf| {
            let node = self.node(*leaf);
            let length = u32::try_from(node.range().len()).unwrap_or(u32::MAX);
            let (rank, length) = match node.kind() {
                Kind::String => (0_u8, length),
                Kind::Number => (1, length),
                _ => (2, 0),
            };
            (rank, Reverse(length), leaf.offset)
        });
        for place in [SearchScope::Own, SearchScope::Free] {
            for is_reworded in [false, true] {
                for &Leaf { offset, field } in leaves.iter() {
                    let leaf = self.node(Leaf { offset, field });
                    let is_asked = is_reworded && leaf.kind() == Kind::Bool;
                    if place == SearchScope::Own && !is_asked && !scope.may_own(field) {
                        self.found[offset as usize].get_or_insert(Found::MISSING);
                        continue;
                    }
                    if !self.is_missing(offset)
                        || (place == SearchScope::Free
                            && !self.may_stand_elsewhere(leaf, field, &mut scope, are_theirs))
                    {
                        continue;
                    }
                    let found = if is_reworded {
                        self.in_other_words(leaf, field, &mut scope, place)
                    } else {
                        self.as_it_is(leaf, field, &mut scope, place)
                    };
                    self.found[offset as usize] = Some(found.unwrap_or(Found::MISSING));
                }
            }
        }
        for &Leaf { offset, field } in leaves.iter().filter(|_| are_theirs) {
            if !self.is_missing(offset) {
                continue;
            }
            let leaf = self.node(Leaf { offset, field });
            let sibling = name_sibling(leaf).and_then(|sibling| {
                *self
                    .found
                    .get(sibling.index().checked_sub(self.root.index())?)?
            });
            let sibling = sibling.filter(|found| !found.state.is_missing());
            let found = match (
                sibling.and_then(|found| found.span),
                self.other(leaf, field, &mut scope),
            ) {
                (Some(span), _) => Found::reworded(&span.range()),
                (None, Other::Value(range)) => Found::differs(&range),
                (None, _) => Found::MISSING,
            };
            self.found[offset as usize] = Some(found);
        }
    }

    fn node(&self, leaf: Leaf) -> Node<'t> {
        self.root
            .doc()
            .node(self.root.index() + leaf.offset as usize)
            .unwrap_or(self.root)
    }

    fn is_missing(&self, offset: u32) -> bool {
        self.found[offset as usize].is_none_or(|found| found.state.is_missing())
    }

    /// Whether a leaf that is not under its own label may stand anywhere else: where that label carries another value,
    /// it does not.
    fn may_stand_elsewhere(
        &mut self,
        leaf: Node<'_>,
        field: u32,
        scope: &mut Scope,
        are_theirs: bool,
    ) -> bool {
        (are_theirs || leaf.kind() == Kind::String)
            && matches!(self.other(leaf, field, scope), Other::Nothing)
    }

    fn other(&mut self, leaf: Node<'_>, field: u32, scope: &mut Scope) -> Other {
        let kind = leaf.kind();
        if kind == Kind::Bool {
            let opposite = usize::from(leaf.as_bool() == Some(false));
            return self.answers(field, scope)[opposite]
                .front()
                .map_or(Other::Nothing, |place| Other::Value(place.clone()));
        }
        if let Some(known) = scope.others.get(&(field, kind)) {
            return known.clone();
        }
        let mut other = Other::Nothing;
        for slot in scope.own.of(field) {
            let place = bare(self.page.text(), self.page.slots[slot].value());
            let text = &self.page.text()[place.clone()];
            // A container, or nothing, is no value; what is in it may follow.
            if text.is_empty() || text.starts_with(['{', '[', '|', '>']) {
                continue;
            }
            if leaf
                .as_str()
                .is_some_and(|value| forms::is_cut_of(&value, text))
            {
                continue;
            }
            // A word under a number's label is most likely the name of its code.
            let begins =
                text.trim_start_matches(['$', '€', '£', '-', '+', '~', '≥', '≤', '≈', ' ']);
            let is_comparable =
                kind != Kind::Number || begins.starts_with(|char: char| char.is_ascii_digit());
            match self.served[slot] {
                Some(by) if by != field => {}
                None if is_comparable => {
                    other = Other::Value(place);
                    break;
                }
                _ => other = Other::Same,
            }
        }
        scope.others.insert((field, kind), other.clone());
        other
    }

    fn as_it_is(
        &mut self,
        leaf: Node<'_>,
        field: u32,
        scope: &mut Scope,
        place: SearchScope,
    ) -> Option<Found> {
        let text = match leaf.kind() {
            Kind::Number | Kind::Bool => leaf.raw_text().into_owned(),
            _ => needle(&leaf.as_str().unwrap_or_default()),
        };
        if text.is_empty() {
            return (place == SearchScope::Free)
                .then(|| self.verbatim(leaf, scope))
                .flatten();
        }
        let hit = self.take(text, leaf, field, scope, place).or_else(|| {
            let forms = forms::number_kept(leaf.as_number()?);
            forms
                .into_iter()
                .find_map(|form| self.take(form, leaf, field, scope, place))
        });
        hit.map(|place| Found::at(&place))
    }

    /// A value of nothing but what escaping is made of: looked for as it is.
    fn verbatim(&self, leaf: Node<'_>, scope: &Scope) -> Option<Found> {
        let value = leaf.as_str().unwrap_or_default();
        let place = scope.regions.iter().find(|region| {
            let source = self.page.canon.source((*region).clone());
            self.source
                .get(source)
                .is_some_and(|text| text.contains(value.trim()))
        })?;
        Some(Found::at(&(place.start..place.start)))
    }

    /// Takes the first place of a text that nothing else has.
    pub(super) fn take(
        &mut self,
        text: String,
        leaf: Node<'_>,
        field: u32,
        scope: &mut Scope,
        place: SearchScope,
    ) -> Option<Range<usize>> {
        if place == SearchScope::Own
            && let Some(first) = scope.own.of(field).next()
            && let Some(hit) = self
                .at_beginning(first, &text, leaf, scope)
                .filter(|hit| self.fills(first, hit, leaf))
            && self.claim(&hit)
        {
            self.served[first].get_or_insert(field);
            return Some(hit);
        }
        let is_bool = leaf.kind() == Kind::Bool;
        let needle = self.page.index.needle(text)?;
        if needle.is_rare() {
            // Few values are many leaves', and what is found again costs less than what is remembered of all.
            let found = self.find(&needle, leaf, scope);
            let mut hits = self.sort(found, scope.set, is_bool);
            return self.take_first(&mut hits, leaf, field, place);
        }
        let key = (needle.text.clone(), is_bool);
        let mut hits = match scope.values.remove(&key) {
            Some(hits) => hits,
            None => {
                let found = self.find(&needle, leaf, scope);
                self.sort(found, scope.set, is_bool)
            }
        };
        let taken = self.take_first(&mut hits, leaf, field, place);
        scope.values.insert(key, hits);
        taken
    }

    /// A text at the beginning of a slot's value, if it is there as [`Self::find`] would find it: most values of most
    /// answers do, and need no search.
    fn at_beginning(
        &self,
        slot: usize,
        text: &str,
        leaf: Node<'_>,
        scope: &Scope,
    ) -> Option<Range<usize>> {
        let value = self.page.slots[slot].value();
        // Few ornaments begin a value, and each leaf looks at them again.
        let ornaments = self.page.text()[value.clone()]
            .chars()
            .take(16)
            .take_while(|char| is_ornament(*char));
        let hit = self.page.hit_at(
            value.start + ornaments.map(char::len_utf8).sum::<usize>(),
            text,
            slot,
        )?;
        let region = range_at(&scope.regions, hit.start)?;
        let is_meant = hit.end <= region.end && self.is_meant(&hit, leaf, slashes(leaf));
        is_meant.then_some(hit)
    }

    /// Takes the first hit that nothing else has; those before it are of no more use to anyone.
    fn take_first(
        &mut self,
        hits: &mut Hits,
        leaf: Node<'_>,
        field: u32,
        place: SearchScope,
    ) -> Option<Range<usize>> {
        if place == SearchScope::Own {
            let own = hits.own.get_mut(&field)?;
            while let Some((slot, hit)) = own.pop_front() {
                if self.fills(slot, &hit, leaf) && self.claim(&hit) {
                    self.served[slot].get_or_insert(field);
                    return Some(hit);
                }
            }
            return None;
        }
        while let Some(hit) = hits.free.pop_front() {
            if self.claim(&hit) {
                return Some(hit);
            }
        }
        while let Some((slot, hit)) = hits.foreign.pop_front() {
            if self.served[slot].is_some() && self.claim(&hit) {
                return Some(hit);
            }
        }
        None
    }

    fn claim(&mut self, hit: &Range<usize>) -> bool {
        let is_free = hit
            .clone()
            .all(|at| self.used[at / 64] >> (at % 64) & 1 == 0);
        if is_free {
            hit.clone()
                .for_each(|at| self.used[at / 64] |= 1 << (at % 64));
        }
        is_free
    }

    /// Every place in the scope where a value stands as a whole and is not denied.
    fn find(&self, needle: &Needle, leaf: Node<'_>, scope: &Scope) -> Places {
        let regions = &scope.regions;
        let slashes = slashes(leaf);
        let is_meant = |hit: &Range<usize>| self.is_meant(hit, leaf, slashes);
        // Few parts are searched one by one; many by looking up to which of them a hit belongs.
        if regions.len() <= 8 {
            let hits = regions
                .iter()
                .flat_map(|region| self.page.hits(needle, region.clone()));
            return hits.filter(is_meant).collect();
        }
        let (Some(first), Some(last)) = (regions.first(), regions.last()) else {
            return Vec::new();
        };
        let is_inside = |hit: &Range<usize>| {
            range_at(regions, hit.start).is_some_and(|region| hit.end <= region.end)
        };
        self.page
            .hits(needle, first.start..last.end)
            .filter(|hit| is_inside(hit) && is_meant(hit))
            .collect()
    }

    /// Whether what is there is not denied, does not go on, and has as many backslashes as the value.
    fn is_meant(&self, hit: &Range<usize>, leaf: Node<'_>, slashes: usize) -> bool {
        let text = self.page.text();
        let (before, after) = (line_before(text, hit.start), &text[hit.end..]);
        let is_alone = match leaf.kind() {
            Kind::Number => !forms::is_denied_number(before) && !forms::is_other_unit(leaf, after),
            _ => {
                let is_version = text[hit.clone()].contains(|char: char| char.is_ascii_digit())
                    && before.ends_with(['^', '~', '<', '>']);
                // `Status (open/closed): open` lists choices.
                let is_choice =
                    before.contains('(') && !before.contains(')') && is_choice_end(after);
                !forms::is_denied(before)
                    && !is_continued(&text[hit.clone()], after)
                    && !is_version
                    && !is_choice
            }
        };
        is_alone
            && forms::agrees_in_time(leaf, &text[hit.clone()], after)
            && (slashes == 0
                || slashes_at(self.source, &self.page.canon.source(hit.clone())) >= slashes)
    }

    /// Tells hits by the labels they are under. A yes or no means nothing under a label that is no field's.
    fn sort(&mut self, found: Places, set: usize, is_bool: bool) -> Hits {
        let mut hits = Hits::default();
        for hit in found {
            let Some(slot) = self.page.slot_at(hit.start) else {
                hits.free.push_back(hit);
                continue;
            };
            let owners = self.owners(set, slot);
            for &field in owners.iter() {
                hits.own
                    .entry(field)
                    .or_default()
                    .push_back((slot, hit.clone()));
            }
            match owners.is_empty() {
                true if !is_bool => hits.free.push_back(hit),
                true => {}
                false => hits.foreign.push_back((slot, hit)),
            }
        }
        hits
    }

    /// Whether a text fills its label's value where that has ends of its own: a cell or an element, a string of JSON.
    fn fills(&self, slot: usize, hit: &Range<usize>, leaf: Node<'_>) -> bool {
        let slot = &self.page.slots[slot];
        let text = self.page.text();
        // The first number under a label is what it carries: `Used: 3 (max 10)`.
        if leaf.kind() == Kind::Number && hit.start > slot.value().start {
            let before = &text[slot.value().start..hit.start];
            return !before.bytes().any(|byte| byte.is_ascii_digit())
                || slot.is_cell && before.contains(['{', '[']);
        }
        let inner = &text[slot.value().start..slot.value().end.max(hit.end)];
        let start = slot.value().start + inner.len() - inner.trim_start().len();
        if leaf.kind() != Kind::String
            || leaf.key().is_none()
            || !text[start..].starts_with('"')
            || hit.start <= start
        {
            return true;
        }
        let is_edge = |char: char| char == '"' || char.is_whitespace();
        text[start..hit.start].chars().all(is_edge)
            && (text[..hit.end].ends_with('"') || text[hit.end..].trim_start().starts_with('"'))
    }
}

/// Whether a list of choices in brackets ends there, before the colon of a label.
fn is_choice_end(after: &str) -> bool {
    after.find(')').is_some_and(|at| {
        at <= 60 && !after[..at].contains('\n') && after[at + 1..].trim_start().starts_with(':')
    })
}

/// The beginning of a place's line, or the end of it where it is long.
pub(super) fn line_before(text: &str, at: usize) -> &str {
    let from = text.floor_char_boundary(at.saturating_sub(40));
    text[from..at].rsplit('\n').next().unwrap_or_default()
}

/// How many backslashes a text has.
fn slashes(leaf: Node<'_>) -> usize {
    match leaf.kind() {
        Kind::String => leaf.as_str().unwrap_or_default().matches('\\').count(),
        _ => 0,
    }
}

/// The backslashes inside and around a place.
fn slashes_at(source: &str, place: &Range<usize>) -> usize {
    let around = source[..place.start]
        .bytes()
        .rev()
        .take_while(|byte| *byte == b'\\')
        .count()
        + source[place.end..]
            .bytes()
            .take_while(|byte| *byte == b'\\')
            .count();
    source[place.clone()]
        .bytes()
        .filter(|byte| *byte == b'\\')
        .count()
        + around
}

/// A value without the ornaments around it.
pub(super) fn bare(text: &str, range: Range<usize>) -> Range<usize> {
    let is_edge =
        |char: char| is_space(char) || matches!(char, '*' | '_' | '"' | '`' | '\'' | ',' | '/');
    let inner = &text[range.clone()];
    let start = range.start + inner.len() - inner.trim_start_matches(is_edge).len();
    let mut end = start + text[start..range.end].trim_end_matches(is_edge).len();
    // `(ID: 12)` and `{"id":12}` close around the value, not with it.
    while let Some(open) = text[start..end].chars().next_back().and_then(|last| {
        [(')', '('), ('}', '{'), (']', '[')]
            .iter()
            .find(|(close, _)| *close == last)
    }) && !text[start..end].contains(open.1)
    {
        end = start + text[start..end - 1].trim_end_matches(is_edge).len();
    }
    start..end
}
