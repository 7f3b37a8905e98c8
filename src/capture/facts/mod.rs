//! Facts: the leaves of a payload that a text should carry, and whether it does. One matcher serves the marks in the
//! tree, the ledger's column and the views of hosts.
//!
//! The text is brought into a form without escaping (`canon`), and its words and labelled places are found once (`index`,
//! `tables`, `page`); each record's places are found (`regions`); then each record's leaves are looked for where the
//! record stands, under the labels of their fields first (`labels`, `matcher`). Where the text holds the payload itself,
//! nothing needs to be looked for (`exact`).

mod canon;
mod exact;
mod forms;
mod index;
mod labels;
mod matcher;
mod page;
mod regions;
mod span;
mod tables;
mod whole;

use std::ops::Range;
use std::sync::OnceLock;

use foldhash::HashSet;

use self::regions::{DistinctField, distinct_fields};
use self::span::Span;
use super::Payload;
use crate::json::{Kind, MAX_NODES, Node};

/// What is looked at of the keys of a payload for every text, found once.
#[derive(Debug, Default)]
pub struct PayloadKeys {
    words: OnceLock<HashSet<String>>,
    distinct: OnceLock<Vec<DistinctField>>,
}

impl PayloadKeys {
    /// All keys by their words, joined by spaces.
    fn words(&self, root: Node<'_>) -> &HashSet<String> {
        self.words.get_or_init(|| page::keys(root))
    }

    /// The fields that tell the records of the row set apart.
    fn distinct(&self, records: &[Node<'_>]) -> &[DistinctField] {
        self.distinct.get_or_init(|| distinct_fields(records))
    }
}

/// What became of a fact in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactState {
    Kept,
    /// There, in another form (a date, a currency, a phone number in other punctuation, a label's yes/no).
    Reworded,
    Missing,
    /// Missing, and the same label carries another value.
    Differs,
}

const STATES: [FactState; 4] = [FactState::Kept, FactState::Reworded, FactState::Missing, FactState::Differs];

impl FactState {
    /// Whether the text does not carry the value.
    pub fn is_missing(self) -> bool {
        matches!(self, FactState::Missing | FactState::Differs)
    }
}

/// One fact of the payload, matched against one text. A large answer has one for each of its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The tape index of the leaf, below [`MAX_NODES`], and the state in the bits above.
    node_and_state: u32,
    span: Option<Span>,
}

const NODE_BITS: u32 = 28;
const _: () = assert!(MAX_NODES <= 1 << NODE_BITS);

impl Fact {
    fn of(node: usize, state: FactState, place: Option<&Range<usize>>) -> Self {
        let node = u32::try_from(node).unwrap_or(u32::MAX) & ((1 << NODE_BITS) - 1);
        Self { node_and_state: (state as u32) << NODE_BITS | node, span: place.map(Span::of) }
    }

    pub fn state(&self) -> FactState {
        STATES[(self.node_and_state >> NODE_BITS) as usize]
    }

    /// Tape index of the leaf in the payload's document.
    pub fn node(&self) -> usize {
        (self.node_and_state & ((1 << NODE_BITS) - 1)) as usize
    }

    /// Where it stands in the text, as far as that is known; of a fact that differs, where the other value stands.
    pub fn place(&self) -> Option<Range<usize>> {
        self.span.map(Span::range)
    }
}

/// How many facts a text carries; `missing` includes those that differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FactCount {
    pub total: u64,
    pub kept: u64,
    pub reworded: u64,
    pub missing: u64,
}

impl FactCount {
    /// Of a text that is known to carry the whole payload.
    pub fn all_kept(payload: &Payload) -> Self {
        let total = matcher::facts_of(payload.root());
        Self { total, kept: total, reworded: 0, missing: 0 }
    }
}

/// One record (an element of the payload's row set) and every place where it stands in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Tape index of the record.
    pub node: usize,
    /// Whole lines, in order, neighbours merged; the part of a line where several records share it.
    pub places: Vec<Range<usize>>,
}

/// All facts of a payload, matched against one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FactMatches {
    /// In document order.
    pub facts: Vec<Fact>,
    pub records: Vec<Record>,
    pub count: FactCount,
}

impl FactMatches {
    /// Of a text that decodes to the payload: what was not found in it stands there all the same.
    pub fn proved(mut self) -> Self {
        self.facts
            .iter_mut()
            .filter(|fact| fact.state().is_missing())
            .for_each(|fact| *fact = Fact::of(fact.node(), FactState::Kept, None));
        self.count.kept += std::mem::take(&mut self.count.missing);
        self
    }

    /// Where the leaf with this tape index stands in the text, as [`Fact::place`].
    pub fn place_of(&self, node: usize) -> Option<Range<usize>> {
        let at = self.facts.binary_search_by_key(&node, Fact::node).ok()?;
        self.facts[at].place()
    }

    /// The tape index of the leaf whose place holds this byte of the text.
    pub fn node_at(&self, offset: usize) -> Option<usize> {
        let fact = self.facts.iter().find(|fact| fact.place().is_some_and(|place| place.contains(&offset)))?;
        Some(fact.node())
    }
}

/// Matches every fact of the payload against `text`.
pub fn locate_facts(payload: &Payload, text: &str) -> FactMatches {
    matcher::run(payload, text)
}

/// As [`locate_facts`], where only what became of the facts is of interest: no places are looked for where the text holds
/// the payload itself, and the facts of a text that tells them all are left out.
pub fn count_facts(payload: &Payload, text: &str) -> FactMatches {
    matcher::count(payload, text)
}

/// The lists of records in a payload: itself if it is one, else its members that are. A list of records is a
/// non-empty array of objects. Exactly one is the row set.
pub fn record_lists(root: Node<'_>) -> Vec<Node<'_>> {
    let is_records = |node: &Node<'_>| {
        node.kind() == Kind::Array && !node.is_empty() && node.children().all(|child| child.kind() == Kind::Object)
    };
    match root.kind() {
        Kind::Array if is_records(&root) => vec![root],
        Kind::Object => root.children().filter(is_records).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
