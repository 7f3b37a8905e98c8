//! Facts: the leaves of the data that a text should carry, and whether it does. One matcher serves the marks in the
//! tree, the ledger's column and the views of hosts.
//!
//! A fact is *proved* where the text decodes to it: the text holds the data itself (`exact`), or a reader decodes the
//! text and the value at the same record under the same label is equal (`proof`). What is not proved is searched for:
//! the text is brought into a form without escaping (`canon`), and its words and labelled places are found once (`index`,
//! `tables`, `page`); each record's places are found (`regions`); then each record's leaves are looked for where the
//! record stands, under the labels of their fields first (`labels`, `matcher`). What that finds is *found*, no more.
//! In a text that a host cut, facts are found by their places in the text before the cut (`kept`).

mod canon;
mod exact;
mod forms;
mod index;
mod kept;
mod labels;
mod leaves;
mod matcher;
mod page;
mod proof;
mod refute;
mod regions;
mod span;
mod tables;
mod times;
mod units;
mod whole;

use std::ops::Range;
use std::sync::OnceLock;

use foldhash::HashSet;

use self::regions::{DistinctField, distinct_fields};
use self::span::Span;
use super::ResultData;
use crate::json::{Kind, MAX_NODES, Node};
pub use kept::KeptPart;
pub(super) use labels::{KeyWords, LABEL_WORDS};

/// What is looked at of the keys of data for every text, found once.
#[derive(Debug, Default)]
pub(crate) struct DataKeys {
    words: OnceLock<HashSet<String>>,
    labels: OnceLock<KeyWords>,
    distinct: OnceLock<Vec<DistinctField>>,
}

impl DataKeys {
    /// All keys by their words, joined by spaces.
    fn words(&self, root: Node<'_>) -> &HashSet<String> {
        self.words.get_or_init(|| page::keys(root))
    }

    /// The words that labels of the data may be.
    pub(super) fn labels(&self, root: Node<'_>) -> &KeyWords {
        self.labels
            .get_or_init(|| KeyWords::new(self.words(root).iter()))
    }

    /// The fields that tell the records of the row set apart.
    fn distinct(&self, records: &[Node<'_>]) -> &[DistinctField] {
        self.distinct.get_or_init(|| distinct_fields(records))
    }
}

/// What became of a fact in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactState {
    /// The text decodes to it: the same value at the same record under the same label.
    Proved,
    /// The value is in a plausible place, possibly in other words.
    Found,
    Missing,
    /// Missing, and the fact's own label carries another value.
    Differs,
}

const STATES: [FactState; 4] = [
    FactState::Proved,
    FactState::Found,
    FactState::Missing,
    FactState::Differs,
];

impl FactState {
    /// Whether the text does not carry the value.
    pub fn is_missing(self) -> bool {
        matches!(self, FactState::Missing | FactState::Differs)
    }
}

/// One fact of the data, matched against one text. A large answer has one for each of its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The tape index of the leaf, below [`MAX_NODES`], the state in the two bits above, and above those whether it is
    /// reworded and whether a reader decoded it.
    bits: u32,
    span: Option<Span>,
}

const NODE_BITS: u32 = 28;
const REWORDED: u32 = 1 << (NODE_BITS + 2);
const DECODED: u32 = 1 << (NODE_BITS + 3);
const _: () = assert!(MAX_NODES <= 1 << NODE_BITS);

impl Fact {
    fn new(node: usize, state: FactState, place: Option<&Range<usize>>) -> Self {
        let node = u32::try_from(node).unwrap_or(u32::MAX) & ((1 << NODE_BITS) - 1);
        Self {
            bits: (state as u32) << NODE_BITS | node,
            span: place.map(Span::of),
        }
    }

    fn reworded(self) -> Self {
        Self {
            bits: self.bits | REWORDED,
            ..self
        }
    }

    fn decoded(self) -> Self {
        Self {
            bits: self.bits | DECODED,
            ..self
        }
    }

    /// Whether a reader decoded what the text says under the fact's own label: of a fact that differs, the proof that it does.
    pub fn is_decoded(&self) -> bool {
        self.bits & DECODED != 0
    }

    pub fn state(&self) -> FactState {
        STATES[(self.bits >> NODE_BITS & 3) as usize]
    }

    /// Whether the text says it in another form than the data: a date, money, a phone number in other punctuation.
    pub fn is_reworded(&self) -> bool {
        self.bits & REWORDED != 0
    }

    /// Tape index of the leaf in the data's document.
    pub fn node(&self) -> usize {
        (self.bits & ((1 << NODE_BITS) - 1)) as usize
    }

    /// Where it is in the text, as far as that is known; of a fact that differs, where the other value stands.
    pub fn place(&self) -> Option<Range<usize>> {
        self.span.map(Span::range)
    }
}

/// How many facts a text carries. `proved`, `found` and `missing` add up to `total`; `differs` is part of `missing`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FactCount {
    pub total: u64,
    pub proved: u64,
    pub found: u64,
    pub missing: u64,
    pub differs: u64,
}

impl FactCount {
    /// Of a text that decodes to the whole data.
    pub fn all_proved(data: &ResultData) -> Self {
        let total = leaves::facts_of(data.root());
        Self {
            total,
            proved: total,
            ..Self::default()
        }
    }

    /// Facts that the text carries, proved or found.
    pub fn told(&self) -> u64 {
        self.total - self.missing
    }

    pub fn is_proved(&self) -> bool {
        self.proved == self.total
    }

    /// Whether there are facts, and all are proved.
    pub fn is_whole(self) -> bool {
        self.total > 0 && self.is_proved()
    }

    fn add(&mut self, state: FactState) {
        self.total += 1;
        match state {
            FactState::Proved => self.proved += 1,
            FactState::Found => self.found += 1,
            FactState::Missing => self.missing += 1,
            FactState::Differs => {
                self.missing += 1;
                self.differs += 1;
            }
        }
    }
}

/// One record (an element of the data's row set) and every place where it is in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Tape index of the record.
    pub node: usize,
    /// Whole lines, in order, neighbours merged; the part of a line where several records share it.
    pub places: Vec<Range<usize>>,
}

/// All facts of data, matched against one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FactMatches {
    /// In document order.
    pub facts: Vec<Fact>,
    pub records: Vec<Record>,
    pub count: FactCount,
    /// Bytes of the text that its reader accounts for besides the facts: labels, layout, the whole of a JSON copy.
    pub accounted: Vec<Range<usize>>,
}

impl FactMatches {
    /// Of a text that decodes to the data: every fact is proved, also where no place was found for it.
    pub fn proved(mut self) -> Self {
        for fact in &mut self.facts {
            let place = fact.place().filter(|_| !fact.state().is_missing());
            *fact = Fact::new(fact.node(), FactState::Proved, place.as_ref());
        }
        self.count = FactCount {
            total: self.count.total,
            proved: self.count.total,
            ..FactCount::default()
        };
        self
    }

    /// Where the leaf with this tape index is in the text, as [`Fact::place`].
    pub fn place_of(&self, node: usize) -> Option<Range<usize>> {
        let at = self.facts.binary_search_by_key(&node, Fact::node).ok()?;
        self.facts[at].place()
    }

    /// The tape index of the leaf whose place holds this byte of the text.
    pub fn node_at(&self, offset: usize) -> Option<usize> {
        let fact = self
            .facts
            .iter()
            .find(|fact| fact.place().is_some_and(|place| place.contains(&offset)))?;
        Some(fact.node())
    }
}

/// Matches every fact of the data against `text`.
pub fn locate_facts(data: &ResultData, text: &str) -> FactMatches {
    matcher::run(data, text)
}

/// Finds the facts in `text`, which is what a limit left of `whole`, by their places in `whole`. `kept` are the parts that are
/// left, in order. `None` where facts have to be searched for: `whole` holds neither the data nor the text that it was read
/// from word for word, or other words are left as well.
pub fn locate_kept_facts(
    data: &ResultData,
    text: &str,
    whole: &str,
    kept: &[KeptPart],
) -> Option<FactMatches> {
    kept::locate(data, text, whole, kept)
}

/// As [`locate_facts`], where only what became of the facts is of interest: no places are looked for where the text holds
/// the data itself, and the facts of a text that tells them all are left out.
pub(crate) fn count_facts(data: &ResultData, text: &str) -> FactMatches {
    matcher::count(data, text)
}

/// The lists of records in data: itself if it is one, else its members that are. A list of records is a
/// non-empty array of objects. Exactly one is the row set.
pub fn record_lists(root: Node<'_>) -> Vec<Node<'_>> {
    let is_records = |node: &Node<'_>| {
        node.kind() == Kind::Array
            && !node.is_empty()
            && node.children().all(|child| child.kind() == Kind::Object)
    };
    match root.kind() {
        Kind::Array if is_records(&root) => vec![root],
        Kind::Object => root.children().filter(is_records).collect(),
        _ => Vec::new(),
    }
}

/// The row set's records; none where there is no one list.
fn row_set(root: Node<'_>) -> Vec<Node<'_>> {
    match record_lists(root).as_slice() {
        [list] => list.children().collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
