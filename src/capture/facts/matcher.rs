//! Looks for each record's leaves where the record stands. One hit serves one leaf of a record.

mod words;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::canon::{Canon, is_space, needle};
use super::exact::Exact;
use super::index::Index;
use super::labels::{Labels, Slot, Tables, slots};
use super::regions::regions;
use super::{Fact, FactCount, FactState, Matched, Record, forms, record_lists};
use crate::cancel::{Cancel, Cancelled};
use crate::capture::Payload;
use crate::json::{Kind, Node};

/// Places of one value that are weighed against each other before the first is taken.
const MAX_TRIES: usize = 64;
/// Records with more leaves are taken in document order: sorting them would lose the way through the text.
const SORT_LIMIT: usize = 2_000;
/// A record with more different labels than this is prose with colons: the labels say nothing.
const MAX_LABELS: usize = 1_000;
/// Places of one label that are looked at for one leaf.
const MAX_PLACES: usize = 256;

/// What became of a leaf, in canonical offsets.
#[derive(Clone, Debug)]
struct Found {
    state: FactState,
    place: Option<Range<usize>>,
}

impl Found {
    fn kept(place: Range<usize>) -> Self {
        Self { state: FactState::Kept, place: Some(place) }
    }
    fn reworded(place: Range<usize>) -> Self {
        Self { state: FactState::Reworded, place: Some(place) }
    }
    fn missing() -> Self {
        Self { state: FactState::Missing, place: None }
    }
}

struct Matcher<'t> {
    source: &'t str,
    canon: &'t Canon,
    index: Index<'t>,
    tables: Tables,
    labels: Labels,
    /// Whether anybody asks what stands in place of a missing value.
    seeks_other_values: bool,
}

/// Where the leaves of one record (or of the envelope) are looked for.
struct Scope {
    regions: Vec<Range<usize>>,
    /// Labelled places of the regions, by the start of their values.
    slots: Vec<Slot>,
    /// The slots by their labels; empty where there are so many labels that they are none.
    by_label: Vec<Vec<usize>>,
    /// Hits that serve a leaf, by start.
    used: BTreeMap<usize, usize>,
    /// Where the last hit ended: in a long text the next leaf most likely stands after it.
    cursor: usize,
    /// Runs of digits by their digits, once a telephone number was asked for.
    phones: Option<HashMap<String, Vec<Range<usize>>>>,
}

pub(super) fn run(payload: &Payload, text: &str, cancel: &Cancel) -> Result<Matched, Cancelled> {
    cancel.check()?;
    if let Some(exact) = Exact::find(payload.root(), text) {
        return of_exact(payload.root(), &exact, text, cancel);
    }
    search(payload, text, true, cancel)
}

/// The same without places, where the whole payload stands in the text.
pub(super) fn tell(payload: &Payload, text: &str, cancel: &Cancel) -> Result<Matched, Cancelled> {
    cancel.check()?;
    if Exact::is_in(payload.root(), text) {
        return Ok(Matched { count: FactCount::all_kept(payload), ..Matched::default() });
    }
    let mut matched = search(payload, text, false, cancel)?;
    if matched.count.kept == matched.count.total {
        matched.facts = Vec::new();
    }
    matched.records = Vec::new();
    Ok(matched)
}

fn search(payload: &Payload, text: &str, seeks_other_values: bool, cancel: &Cancel) -> Result<Matched, Cancelled> {
    cancel.check()?;
    let canon = Canon::of(text);
    cancel.check()?;
    let index = Index::of(&canon.text);
    cancel.check()?;
    let tables = Tables::of(&canon);
    let mut matcher = Matcher { source: text, canon: &canon, index, tables, labels: Labels::default(), seeks_other_values };
    let mut matched = matcher.run(payload.root(), cancel)?;
    // Asked last, since it tells that everything is there and not where.
    if matched.count.missing > 0 && Exact::is_in_a_string(payload.root(), text) {
        for fact in &mut matched.facts {
            if matches!(fact.state, FactState::Missing | FactState::Differs(_)) {
                fact.state = FactState::Kept;
            }
        }
        matched.count.kept += matched.count.missing;
        matched.count.missing = 0;
    }
    Ok(matched)
}

/// The row set's records; none where there is no one list.
fn row_set(root: Node<'_>) -> Vec<Node<'_>> {
    match record_lists(root).as_slice() {
        [list] => list.children().collect(),
        _ => Vec::new(),
    }
}

/// Every fact is kept; only the records' other places, in the text around, are looked for.
fn of_exact(root: Node<'_>, exact: &Exact, text: &str, cancel: &Cancel) -> Result<Matched, Cancelled> {
    let mut matched = Matched::default();
    let base = root.index();
    for leaf in leaves(root, None) {
        let place = exact.place(leaf, leaf.index() - base);
        matched.facts.push(Fact { node: leaf.index(), state: FactState::Kept, place });
    }
    matched.count.total = matched.facts.len() as u64;
    matched.count.kept = matched.count.total;
    let records = row_set(root);
    let outside = exact.outside(text);
    let mut around: Vec<Vec<Range<usize>>> = Vec::new();
    if !records.is_empty() && !text[outside.clone()].trim().is_empty() {
        let canon = Canon::of(&text[outside.clone()]);
        cancel.check()?;
        let index = Index::of(&canon.text);
        let places = regions(&records, &index, &mut Labels::default(), cancel)?.unwrap_or_default();
        let source = |place: &Range<usize>| {
            let place = canon.source(place.clone());
            place.start + outside.start..place.end + outside.start
        };
        around = places.iter().map(|places| places.iter().map(source).collect()).collect();
    }
    for (position, record) in records.iter().enumerate() {
        let mut places = exact.copies(record.index() - base);
        places.extend(around.get(position).into_iter().flatten().cloned());
        places.sort_by_key(|place| place.start);
        matched.records.push(Record { node: record.index(), places: whole_lines(text, &places) });
    }
    Ok(matched)
}

/// How many facts there are.
pub(super) fn facts_of(root: Node<'_>) -> u64 {
    leaves(root, None).len() as u64
}

fn is_fact(node: Node<'_>) -> bool {
    match node.kind() {
        Kind::Number | Kind::Bool => true,
        Kind::String => node.as_str().is_some_and(|text| !text.chars().all(is_space)),
        Kind::Null | Kind::Array | Kind::Object => false,
    }
}

impl Matcher<'_> {
    fn run(&mut self, root: Node<'_>, cancel: &Cancel) -> Result<Matched, Cancelled> {
        let base = root.index();
        let whole = 0..self.canon.text.len();
        let mut found: Vec<Option<Found>> = vec![None; root.subtree_end() - base];
        let list = match record_lists(root).as_slice() {
            [list] => Some(*list),
            _ => None,
        };
        let records: Vec<Node<'_>> = list.into_iter().flat_map(Node::children).collect();
        let places = if records.is_empty() { None } else { regions(&records, &self.index, &mut self.labels, cancel)? };
        let mut shared = places.is_none().then(|| self.scope(vec![whole.clone()]));
        for (position, record) in records.iter().enumerate() {
            cancel.check()?;
            let leaves = leaves(*record, None);
            // A record that stands nowhere, as behind a cut, needs no search.
            if places.as_ref().is_some_and(|places| places[position].is_empty()) {
                for leaf in leaves {
                    found[leaf.index() - base] = Some(Found::missing());
                }
                continue;
            }
            match (&mut shared, &places) {
                (Some(scope), _) => self.look(&leaves, scope, base, &mut found, cancel)?,
                (None, Some(places)) => {
                    let mut scope = self.scope(places[position].clone());
                    self.look(&leaves, &mut scope, base, &mut found, cancel)?;
                }
                (None, None) => {}
            }
        }
        let envelope = leaves(root, list);
        if !envelope.is_empty() {
            let mut scope = self.scope(self.around(places.as_deref(), whole.clone()));
            self.look(&envelope, &mut scope, base, &mut found, cancel)?;
            // What stands nowhere else may still stand inside the records' part: no text keeps them apart strictly.
            let rest: Vec<Node<'_>> =
                envelope.into_iter().filter(|leaf| is_missing(found[leaf.index() - base].as_ref())).collect();
            if !rest.is_empty() && places.is_some() {
                scope.regions = vec![whole];
                self.look(&rest, &mut scope, base, &mut found, cancel)?;
            }
        }
        Ok(self.report(root, found, &records, places.as_deref()))
    }

    /// The text outside the records, and the part from the last one on, where an envelope's end may hide.
    fn around(&self, places: Option<&[Vec<Range<usize>>]>, whole: Range<usize>) -> Vec<Range<usize>> {
        let mut taken: Vec<&Range<usize>> = places.into_iter().flatten().flatten().collect();
        taken.sort_by_key(|range| range.start);
        let mut free = Vec::new();
        let mut at = whole.start;
        for range in &taken {
            if range.start > at {
                free.push(at..range.start);
            }
            at = at.max(range.end);
        }
        if at < whole.end {
            free.push(at..whole.end);
        }
        free
    }

    fn scope(&self, regions: Vec<Range<usize>>) -> Scope {
        let mut all: Vec<Slot> = regions.iter().flat_map(|region| slots(self.canon, &self.tables, region.clone())).collect();
        all.sort_by_key(|slot| slot.value.start);
        let cursor = regions.first().map_or(0, |region| region.start);
        let by_label = self.by_label(&all);
        Scope { regions, slots: all, by_label, used: BTreeMap::new(), cursor, phones: None }
    }

    fn by_label(&self, slots: &[Slot]) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut known: HashMap<&str, usize> = HashMap::new();
        for (position, slot) in slots.iter().enumerate() {
            let group = *known.entry(&self.canon.text[slot.label.clone()]).or_insert(groups.len());
            if group == groups.len() {
                groups.push(Vec::new());
            }
            groups[group].push(position);
        }
        if groups.len() > MAX_LABELS { Vec::new() } else { groups }
    }

    /// Looks for the leaves of one record.
    fn look(
        &mut self,
        leaves: &[Node<'_>],
        scope: &mut Scope,
        base: usize,
        found: &mut [Option<Found>],
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let mut order: Vec<Node<'_>> = leaves.to_vec();
        if order.len() <= SORT_LIMIT {
            // Long values first, so that a short one does not take a place inside them.
            let rank = |node: &Node<'_>| match node.kind() {
                Kind::String => (0, usize::MAX - node.range().len()),
                Kind::Number => (1, usize::MAX - node.range().len()),
                _ => (2, 0),
            };
            order.sort_by_key(rank);
        }
        // Numbers and booleans take the places under their own labels before any takes another.
        for is_labelled in [true, false] {
            for (position, leaf) in order.iter().enumerate() {
                if position.is_multiple_of(1_024) {
                    cancel.check()?;
                }
                let needs_label = is_labelled && leaf.kind() != Kind::String;
                let slot = leaf.index() - base;
                if is_missing(found[slot].as_ref()) && (is_labelled || leaf.kind() != Kind::String) {
                    found[slot] = Some(self.as_it_is(*leaf, needs_label, scope));
                }
            }
        }
        for leaf in &order {
            if is_missing(found[leaf.index() - base].as_ref())
                && let Some(other) = self.in_other_words(*leaf, scope)
            {
                found[leaf.index() - base] = Some(other);
            }
        }
        for leaf in &order {
            if is_missing(found[leaf.index() - base].as_ref())
                && let Some(place) =
                    name_sibling(*leaf).and_then(|sibling| found.get(sibling.index().checked_sub(base)?)?.as_ref()?.place.clone())
            {
                found[leaf.index() - base] = Some(Found::reworded(place));
            }
        }
        if !self.seeks_other_values {
            return Ok(());
        }
        for leaf in &order {
            if is_missing(found[leaf.index() - base].as_ref())
                && let Some(range) = self.contradiction(*leaf, scope)
            {
                found[leaf.index() - base] = Some(Found { state: FactState::Differs(range), place: None });
            }
        }
        Ok(())
    }

    fn as_it_is(&mut self, leaf: Node<'_>, needs_label: bool, scope: &mut Scope) -> Found {
        let key = key_of(leaf);
        let texts = match leaf.kind() {
            Kind::Number => forms::number_kept(leaf.as_number().unwrap_or_default()),
            Kind::Bool => vec![leaf.raw_text().into_owned()],
            _ => vec![needle(&leaf.as_str().unwrap_or_default())],
        };
        if texts.iter().all(String::is_empty) {
            return self.verbatim(leaf, scope);
        }
        for text in texts {
            if let Some(hit) = self.choose(text, &key, needs_label, scope) {
                return Found::kept(hit);
            }
        }
        Found::missing()
    }

    /// A value of nothing but what escaping is made of: looked for as it is.
    fn verbatim(&self, leaf: Node<'_>, scope: &Scope) -> Found {
        let value = leaf.as_str().unwrap_or_default();
        let place = scope.regions.iter().find(|region| {
            let source = self.canon.source((*region).clone());
            self.source.get(source).is_some_and(|text| text.contains(value.trim()))
        });
        place.map_or_else(Found::missing, |region| Found::kept(region.start..region.start))
    }

    /// The best free place of a text: under the leaf's label, else the next one, else the first.
    fn choose(&mut self, text: String, key: &str, needs_label: bool, scope: &mut Scope) -> Option<Range<usize>> {
        let needle = self.index.needle(text)?;
        let mut best: Option<Range<usize>> = None;
        let cursor = scope.cursor;
        let mut tries = 0;
        let forward =
            scope.regions.iter().filter(|region| region.end > cursor).map(|region| region.start.max(cursor)..region.end);
        let again = scope.regions.iter().filter(|region| region.start < cursor).cloned();
        'search: for region in forward.chain(again) {
            for hit in self.index.hits(&needle, region) {
                if overlaps(&scope.used, &hit) {
                    continue;
                }
                let is_labelled = slot_at(&scope.slots, hit.start)
                    .is_some_and(|slot| hit.start < slot.value.end && self.labels.fit(key, &self.canon.text[slot.label.clone()]));
                if is_labelled {
                    best = Some(hit);
                    break 'search;
                }
                if !needs_label {
                    best.get_or_insert(hit);
                }
                tries += 1;
                if tries >= MAX_TRIES {
                    break 'search;
                }
            }
        }
        let hit = best?;
        scope.used.insert(hit.start, hit.end);
        scope.cursor = hit.end;
        Some(hit)
    }

    fn report(
        &self,
        root: Node<'_>,
        found: Vec<Option<Found>>,
        records: &[Node<'_>],
        places: Option<&[Vec<Range<usize>>]>,
    ) -> Matched {
        let mut matched = Matched::default();
        let base = root.index();
        for (offset, found) in found.into_iter().enumerate() {
            let Some(found) = found else { continue };
            let count: &mut FactCount = &mut matched.count;
            count.total += 1;
            match found.state {
                FactState::Kept => count.kept += 1,
                FactState::Reworded => count.reworded += 1,
                FactState::Missing | FactState::Differs(_) => count.missing += 1,
            }
            let place = found.place.map(|place| self.canon.source(place));
            matched.facts.push(Fact { node: base + offset, state: found.state, place });
        }
        for (position, record) in records.iter().enumerate() {
            let places = places.and_then(|places| places.get(position));
            let places: Vec<_> = places.into_iter().flatten().map(|place| self.canon.source(place.clone())).collect();
            let places = whole_lines(self.source, &places);
            matched.records.push(Record { node: record.index(), places });
        }
        matched
    }
}

/// Places as whole lines where they fill them, as they are inside one line; neighbours merged.
fn whole_lines(text: &str, places: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    for place in places {
        let mut place = place.clone();
        // Only the text's own line ends count: inside JSON, `\n` parts nothing that could be marked as a line.
        let before = text[..place.start].trim_end_matches([' ', '\t', '>', '-']);
        let after = text[place.end..].trim_start_matches([' ', '\t', '\r', ',']);
        if (before.is_empty() || before.ends_with('\n')) && (after.is_empty() || after.starts_with('\n')) {
            place = before.len()..text.len() - after.len();
        }
        match out.last_mut() {
            Some(last) if place.start <= last.end + 1 => last.end = last.end.max(place.end),
            _ => out.push(place),
        }
    }
    out
}

fn is_missing(found: Option<&Found>) -> bool {
    found.is_none_or(|found| found.state == FactState::Missing || matches!(found.state, FactState::Differs(_)))
}

/// The leaves below a node that are facts, without those below `except`.
fn leaves<'a>(root: Node<'a>, except: Option<Node<'a>>) -> Vec<Node<'a>> {
    let skip = except.map_or(0..0, |node| node.index()..node.subtree_end());
    let nodes = (root.index()..root.subtree_end()).filter(|index| !skip.contains(index));
    nodes.filter_map(|index| root.doc().node(index)).filter(|node| is_fact(*node)).collect()
}

/// The key a leaf goes by: its own, or that of the list it stands in.
fn key_of(leaf: Node<'_>) -> Cow<'_, str> {
    leaf.key().or_else(|| leaf.parent()?.key()).unwrap_or_default()
}

/// The member that names an enum's code: `statusName` beside `status`. An id is no code.
fn name_sibling(leaf: Node<'_>) -> Option<Node<'_>> {
    let key = leaf.key()?;
    let is_id = key.to_ascii_lowercase().ends_with("id");
    let parent = leaf.parent().filter(|parent| !is_id && parent.len() <= SORT_LIMIT)?;
    parent.get(&format!("{key}Name")).or_else(|| parent.get(&format!("{key}_name")))
}

fn overlaps(used: &BTreeMap<usize, usize>, hit: &Range<usize>) -> bool {
    used.range(..hit.end).next_back().is_some_and(|(_, &end)| end > hit.start)
}

/// The slot whose value begins last before `at`.
fn slot_at(slots: &[Slot], at: usize) -> Option<&Slot> {
    slots.get(slots.partition_point(|slot| slot.value.start <= at).checked_sub(1)?)
}
