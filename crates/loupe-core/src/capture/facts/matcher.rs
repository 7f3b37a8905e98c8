//! Looks for each record's leaves where the record stands: first under their own labels, then where nobody's label stands.
//! One hit serves one leaf.

mod fields;
mod scope;
mod words;

use std::ops::Range;

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};

use super::canon::Canon;
use super::exact::Exact;
use super::forms;
use super::labels::FieldSet;
use super::leaves::{is_fact, leaves};
use super::page::Page;
use super::proof::{Decoded, Proof};
use super::refute::refute;
use super::regions::{distinct_fields, regions, sections};
use super::span::{Span, rest_of, whole_lines};
use super::{Fact, FactCount, FactMatches, FactState, Record, record_lists, row_set};
use crate::capture::ResultData;
use crate::json::{Kind, Node};

use fields::{Fields, NO_FIELD};

/// How deep records in records are looked for where they stand; below, where those around them stand.
const MAX_DEPTH: usize = 12;
/// Objects of one record whose members are looked for by their keys, and members of one object that a code's name is
/// looked for among.
const MAX_SECTIONS: usize = 32;
const MAX_MEMBERS: usize = 2_000;

/// What became of a leaf, and where, in canonical offsets.
#[derive(Clone, Copy, Debug)]
struct Found {
    state: FactState,
    is_reworded: bool,
    span: Option<Span>,
}

impl Found {
    const MISSING: Self = Self {
        state: FactState::Missing,
        is_reworded: false,
        span: None,
    };

    fn at(place: &Range<usize>) -> Self {
        Self {
            state: FactState::Found,
            is_reworded: false,
            span: Some(Span::of(place)),
        }
    }

    fn reworded(place: &Range<usize>) -> Self {
        Self {
            is_reworded: true,
            ..Self::at(place)
        }
    }

    fn differs(place: &Range<usize>) -> Self {
        Self {
            state: FactState::Differs,
            ..Self::at(place)
        }
    }
}

/// A leaf, by its tape index minus the root's, and the field it belongs to.
#[derive(Clone, Copy)]
struct Leaf {
    offset: u32,
    field: u32,
}
type Places = Vec<Range<usize>>;

struct Matcher<'t> {
    source: &'t str,
    data: &'t ResultData,
    root: Node<'t>,
    page: Page<'t>,
    fields: Fields<'t>,
    sets: Vec<FieldSet>,
    set_of: HashMap<Vec<u32>, usize>,
    /// The bytes of hits that serve a leaf, one bit each.
    used: Vec<u64>,
    /// By slot: the field whose value it holds.
    served: Vec<Option<u32>>,
    /// By tape index minus the root's.
    found: Vec<Option<Found>>,
    /// The list whose records are reported, and where they stand.
    row_set: Option<usize>,
    row_places: Option<Vec<Places>>,
}

pub(super) fn run(data: &ResultData, text: &str) -> FactMatches {
    if let Some(exact) = Exact::find(data.root(), text).filter(|exact| !exact.is_in_comment(text)) {
        return of_exact(data, &exact, text);
    }
    search(data, text)
}

/// Whether every text that the data was read from is in a text, as it is or inside a string of JSON.
fn holds_source(data: &ResultData, text: &str) -> bool {
    let root = data.root();
    data.text_source().is_some_and(|source| {
        root.is_container()
            && source
                .texts
                .iter()
                .all(|own| Exact::holds(root, text, own.trim()))
    })
}

/// The same without places, where the whole data is in the text.
pub(super) fn count(data: &ResultData, text: &str) -> FactMatches {
    let is_commented = || {
        text.contains("<!--")
            && Exact::find(data.root(), text).is_some_and(|exact| exact.is_in_comment(text))
    };
    if (Exact::is_in(data.root(), text) || holds_source(data, text)) && !is_commented() {
        return FactMatches {
            count: FactCount::all_proved(data),
            ..FactMatches::default()
        };
    }
    let mut matched = search(data, text);
    if matched.count.is_proved() {
        matched.facts = Vec::new();
    }
    matched.records = Vec::new();
    matched
}

fn search(data: &ResultData, text: &str) -> FactMatches {
    let proof = Proof::new(data.root(), data.key_words(), text);
    if let Some(proof) = &proof
        && let Some(matched) = all_proved(data, proof, text)
    {
        return matched;
    }
    let canon = Canon::new(text);
    let page = Page::of(&canon, data.keys.words(data.root()));
    let mut matched = Matcher::new(text, page, data).run();
    refute(data.root(), text, &mut matched);
    let matched = match &proof {
        Some(proof) => apply(proof, data, text, matched),
        None => matched,
    };
    // Asked last, since it tells that everything is there and not where.
    match !matched.count.is_proved()
        && (Exact::is_in_a_string(data.root(), text) || holds_source(data, text))
    {
        true => matched.proved(),
        false => matched,
    }
}

/// The facts of a text that decodes to all of them.
fn all_proved(data: &ResultData, proof: &Proof, text: &str) -> Option<FactMatches> {
    let root = data.root();
    let mut matched = FactMatches {
        accounted: proof.accounted.clone(),
        ..FactMatches::default()
    };
    for leaf in leaves(root) {
        let (Decoded::Equal, place) = proof.leaf(leaf.index() - root.index())? else {
            return None;
        };
        matched
            .facts
            .push(Fact::new(leaf.index(), FactState::Proved, place.as_ref()));
        matched.count.add(FactState::Proved);
    }
    for record in row_set(root) {
        let within = |node: usize| matched.facts.partition_point(|fact| fact.node() < node);
        let facts = &matched.facts[within(record.index())..within(record.subtree_end())];
        let place = facts
            .iter()
            .filter_map(Fact::place)
            .reduce(|all, one| all.start.min(one.start)..all.end.max(one.end));
        let places: Vec<Range<usize>> = place.into_iter().collect();
        matched.records.push(Record {
            node: record.index(),
            places: whole_lines(text, &places),
        });
    }
    Some(matched)
}

/// Proves what the decoded text says, and refutes what was found elsewhere than under its own label.
fn apply(proof: &Proof, data: &ResultData, text: &str, mut matched: FactMatches) -> FactMatches {
    let base = data.root().index();
    let is_cut = |node: usize, place: &Range<usize>| {
        let value = data.doc.node(node).and_then(Node::as_str);
        value.is_some_and(|value| forms::is_cut_of(&value, &text[place.clone()]))
    };
    matched.count = FactCount::default();
    for fact in &mut matched.facts {
        let found = fact.place().filter(|_| !fact.state().is_missing());
        // What the matcher found across its value, or in a part of it, is under its own label.
        let touches = |place: &Range<usize>| {
            found
                .as_ref()
                .is_some_and(|found| place.start < found.end && found.start < place.end)
        };
        let node = fact.node();
        match proof.leaf(node - base) {
            Some((Decoded::Equal, place)) => {
                *fact = Fact::new(node, FactState::Proved, place.or(found).as_ref())
            }
            Some((Decoded::Alike, place)) => {
                *fact = Fact::new(node, FactState::Found, place.or(found).as_ref())
            }
            Some((Decoded::Other, Some(place))) if is_cut(node, &place) => {
                *fact = Fact::new(node, FactState::Missing, None)
            }
            Some((Decoded::Other, Some(place))) if !touches(&place) => {
                *fact = Fact::new(node, FactState::Differs, Some(&place)).decoded();
            }
            _ => {}
        }
        matched.count.add(fact.state());
    }
    matched.accounted.clone_from(&proof.accounted);
    matched
}

/// Every fact is proved; only the records' other places, in the text around, are looked for.
fn of_exact(data: &ResultData, exact: &Exact, text: &str) -> FactMatches {
    let root = data.root();
    let mut matched = FactMatches::default();
    let base = root.index();
    for leaf in leaves(root) {
        let place = exact.place(leaf, leaf.index() - base);
        matched
            .facts
            .push(Fact::new(leaf.index(), FactState::Proved, place.as_ref()));
        matched.count.add(FactState::Proved);
    }
    matched.accounted.clone_from(&exact.at);
    let records = row_set(root);
    let outside = exact.outside(text);
    let mut around: Vec<Vec<Range<usize>>> = Vec::new();
    if !records.is_empty() && !text[outside.clone()].trim().is_empty() {
        let canon = Canon::new(&text[outside.clone()]);
        let page = Page::of(&canon, &HashSet::new());
        let whole = 0..canon.text.len();
        let places =
            regions(&records, data.keys.distinct(&records), &page, &[whole]).unwrap_or_default();
        let source = |place: &Range<usize>| {
            let place = canon.source(place.clone());
            place.start + outside.start..place.end + outside.start
        };
        around = places
            .iter()
            .map(|places| places.iter().map(source).collect())
            .collect();
    }
    for (position, record) in records.iter().enumerate() {
        let mut places = exact.copies(record.index() - base);
        places.extend(around.get(position).into_iter().flatten().cloned());
        places.sort_by_key(|place| place.start);
        matched.records.push(Record {
            node: record.index(),
            places: whole_lines(text, &places),
        });
    }
    matched
}

impl<'t> Matcher<'t> {
    fn new(source: &'t str, page: Page<'t>, data: &'t ResultData) -> Self {
        let root = data.root();
        let row_set = match record_lists(root).as_slice() {
            [list] => Some(list.index()),
            _ => None,
        };
        Self {
            served: vec![None; page.slots.len()],
            used: vec![0; page.text().len() / 64 + 1],
            source,
            data,
            root,
            page,
            fields: Fields::new(root),
            sets: Vec::new(),
            set_of: HashMap::new(),
            found: vec![None; root.subtree_end() - root.index()],
            row_set,
            row_places: None,
        }
    }

    fn run(mut self) -> FactMatches {
        let whole = 0..self.page.text().len();
        self.place(self.root, NO_FIELD, &[whole], 0);
        self.report()
    }

    /// Looks for everything below a node in parts of the text: what has places of its own first, then the rest around it.
    fn place(&mut self, node: Node<'t>, around: u32, within: &[Range<usize>], depth: usize) {
        let mut leaves: Vec<Leaf> = Vec::new();
        let mut taken: Places = Vec::new();
        let mut attempts = 0;
        // Members that stand nowhere by themselves are descended into as if they were part of the node.
        let mut open: Vec<(Node<'t>, u32)> = vec![(node, around)];
        while let Some((node, field)) = open.pop() {
            if !node.is_container() {
                if is_fact(node) {
                    leaves.push(self.leaf(node, field));
                }
                continue;
            }
            let is_list = node.kind() == Kind::Array;
            let are_records =
                node.len() >= 2 && node.children().all(|member| member.kind() == Kind::Object);
            let parts: Vec<Node<'t>> = node
                .children()
                .filter(|member| member.is_container() && (is_list || !member.is_empty()))
                .collect();
            let tries = depth < MAX_DEPTH && attempts < MAX_SECTIONS && parts.len() >= 2;
            let is_row_set = self.row_set == Some(node.index());
            let places = match (is_list, tries) {
                (true, true) if is_row_set => {
                    regions(&parts, self.data.keys.distinct(&parts), &self.page, within)
                }
                (true, true) if are_records => {
                    regions(&parts, &distinct_fields(&parts), &self.page, within)
                }
                (false, true) => sections(&parts, are_records, &self.page, within),
                _ => None,
            };
            attempts += usize::from(tries && places.is_none());
            if is_row_set {
                self.row_places.clone_from(&places);
            }
            let mut places = parts
                .iter()
                .map(|part| part.index())
                .zip(places.into_iter().flatten())
                .peekable();
            let first = open.len();
            for member in node.children() {
                let own = places
                    .next_if(|(index, _)| *index == member.index())
                    .map(|(_, places)| places);
                let below = match member.raw_key() {
                    // Records that are told by their keys are of one kind.
                    Some(_) if are_records && own.is_some() => field,
                    Some(key) => self.fields.of(field, member, key),
                    None => field,
                };
                match own {
                    Some(own) if !own.is_empty() => {
                        self.place(
                            member,
                            if is_list { NO_FIELD } else { below },
                            &own,
                            depth + 1,
                        );
                        taken.extend(own);
                    }
                    // A record that stands nowhere, as behind a cut, needs no search.
                    Some(_) if is_list => self.give_up(member),
                    _ if member.is_container() => open.push((member, below)),
                    _ if is_fact(member) => leaves.push(self.leaf(member, below)),
                    _ => {}
                }
            }
            open[first..].reverse();
        }
        taken.sort_by_key(|range| range.start);
        let free = rest_of(within, &taken);
        self.look(&mut leaves, &free, true);
        // What stands nowhere else may still stand inside the records' part: no text keeps them apart strictly.
        if !taken.is_empty() {
            leaves.retain(|leaf| self.state(*leaf) == Some(FactState::Missing));
            self.look(&mut leaves, within, false);
        }
    }

    fn give_up(&mut self, node: Node<'_>) {
        for leaf in leaves(node) {
            self.found[leaf.index() - self.root.index()] = Some(Found::MISSING);
        }
    }

    fn leaf(&self, node: Node<'_>, field: u32) -> Leaf {
        // A tape has no more than [`crate::json::MAX_NODES`].
        Leaf {
            offset: u32::try_from(node.index() - self.root.index()).unwrap_or(u32::MAX),
            field,
        }
    }

    fn state(&self, leaf: Leaf) -> Option<FactState> {
        self.found[leaf.offset as usize].map(|found| found.state)
    }

    fn report(self) -> FactMatches {
        // What was searched with is as large as what was found: it goes first.
        let Self {
            source,
            root,
            page,
            served,
            used,
            found,
            row_places,
            ..
        } = self;
        let canon = page.canon;
        drop((page, served, used));
        let mut count = FactCount::default();
        // A fact is as large as what was found of it, so that it takes its place.
        let facts = found.into_iter().enumerate().filter_map(|(offset, found)| {
            let found = found?;
            count.add(found.state);
            let place = found.span.map(|span| canon.source(span.range()));
            let fact = Fact::new(root.index() + offset, found.state, place.as_ref());
            Some(if found.is_reworded {
                fact.reworded()
            } else {
                fact
            })
        });
        let mut matched = FactMatches {
            facts: facts.collect(),
            count,
            ..FactMatches::default()
        };
        let mut places = row_places.into_iter().flatten();
        for record in row_set(root) {
            let places: Places = places
                .next()
                .into_iter()
                .flatten()
                .map(|place| canon.source(place))
                .collect();
            matched.records.push(Record {
                node: record.index(),
                places: whole_lines(source, &places),
            });
        }
        matched
    }
}

/// The member that names an enum's code: `statusName` next to `status`. An id is no code.
fn name_sibling(leaf: Node<'_>) -> Option<Node<'_>> {
    let key = leaf.raw_key()?;
    let is_id = key
        .last_chunk::<2>()
        .is_some_and(|end| end.eq_ignore_ascii_case(b"id"));
    let parent = leaf
        .parent()
        .filter(|parent| !is_id && parent.len() <= MAX_MEMBERS)?;
    let is_name = |other: &[u8]| matches!(other.strip_prefix(key), Some(b"Name" | b"_name"));
    parent
        .children()
        .find(|member| member.raw_key().is_some_and(is_name))
}
