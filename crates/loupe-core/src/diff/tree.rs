//! Two JSON values by path: what was added, removed, changed, and moved within a list.
//!
//! The records of a list are found again by their key field ([`super::key`]); other lists are aligned by equal
//! elements while they are short, and by position otherwise. Work and memory grow with the size of the two values.

use std::collections::HashMap;
use std::hash::RandomState;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::key::{key_field, key_value};
use super::pattern::covers;
use super::same::Digests;
use crate::json::{Kind, Node};

/// Lists without a key that are longer than this, once what is equal at both ends is left out, are compared by position.
const ALIGN: usize = 256;
/// Lists whose key is named.
const MAX_LISTS: usize = 100;

/// What became of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Op {
    Add,
    Remove,
    /// Another scalar, or a value of another kind.
    Change,
    /// A record stands elsewhere among those of its list. What changed in it is distinguished from that.
    Move,
}

impl Op {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// One difference, by tape indices of the two documents: `a` is missing where it was added, `b` where it was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    pub op: Op,
    pub a: Option<usize>,
    pub b: Option<usize>,
}

/// How many differences there are, kept or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChangeCounts {
    pub added: u64,
    pub removed: u64,
    pub changed: u64,
    pub moved: u64,
}

impl ChangeCounts {
    pub fn total(self) -> u64 {
        self.added + self.removed + self.changed + self.moved
    }
}

/// A pair of lists whose records were found again by a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyedList {
    /// Tape indices of the two lists.
    pub a: usize,
    pub b: usize,
    pub key: String,
}

/// How two values are compared.
#[derive(Clone, Debug)]
pub struct TreeOptions {
    /// Differences kept; the rest is counted.
    pub keep: usize,
    /// Patterns ([`super::pattern`]) of places that do not matter, with all below them.
    pub ignore: Vec<String>,
}

impl Default for TreeOptions {
    fn default() -> Self {
        Self {
            keep: 10_000,
            ignore: Vec::new(),
        }
    }
}

/// The differences of two values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeDiff {
    /// In the order of the documents, what was removed where it stood; at most [`TreeOptions::keep`].
    pub changes: Vec<Change>,
    pub counts: ChangeCounts,
    /// The lists that were matched by a key, as far as they are not equal; at most 100.
    pub lists: Vec<KeyedList>,
}

impl TreeDiff {
    pub fn is_empty(&self) -> bool {
        self.counts.total() == 0
    }

    /// Differences that are counted, but not kept.
    pub fn more(&self) -> u64 {
        self.counts.total() - self.changes.len() as u64
    }
}

/// What is still to be looked at.
enum Task<'a, 'b> {
    Pair(Node<'a>, Node<'b>),
    Moved(Node<'a>, Node<'b>),
    Removed(Node<'a>),
    Added(Node<'b>),
}

struct Comparison<'o> {
    options: &'o TreeOptions,
    /// Tape indices of the two roots.
    roots: (usize, usize),
    found: TreeDiff,
}

/// Compares two values.
pub fn tree(a: Node<'_>, b: Node<'_>, options: &TreeOptions) -> TreeDiff {
    let seed = RandomState::new();
    let digests = (Digests::new(a, &seed), Digests::new(b, &seed));
    let mut comparison = Comparison {
        options,
        roots: (a.index(), b.index()),
        found: TreeDiff::default(),
    };
    let mut tasks = vec![Task::Pair(a, b)];
    while let Some(task) = tasks.pop() {
        let (a, b) = match task {
            Task::Removed(a) => {
                comparison.note(Op::Remove, Some(a), None);
                continue;
            }
            Task::Added(b) => {
                comparison.note(Op::Add, None, Some(b));
                continue;
            }
            Task::Moved(a, b) => {
                comparison.note(Op::Move, Some(a), Some(b));
                (a, b)
            }
            Task::Pair(a, b) => (a, b),
        };
        if digests.0.get(a) == digests.1.get(b) {
            continue;
        }
        let (olds, news): (Vec<_>, Vec<_>) = (a.children().collect(), b.children().collect());
        let mut inside = match (a.kind(), b.kind()) {
            (Kind::Object, Kind::Object) => {
                merge(&olds, &news, &members(&olds, &news), &[], &digests)
            }
            (Kind::Array, Kind::Array) => comparison.list(a, b, &olds, &news, &digests),
            _ => {
                comparison.note(Op::Change, Some(a), Some(b));
                continue;
            }
        };
        inside.reverse();
        tasks.append(&mut inside);
    }
    comparison.found
}

impl Comparison<'_> {
    fn note(&mut self, op: Op, a: Option<Node<'_>>, b: Option<Node<'_>>) {
        let pointer = || match (a, b) {
            (_, Some(b)) => b.pointer_from(self.roots.1),
            (Some(a), None) => a.pointer_from(self.roots.0),
            (None, None) => String::new(),
        };
        if !self.options.ignore.is_empty() {
            let pointer = pointer();
            if self
                .options
                .ignore
                .iter()
                .any(|pattern| covers(pattern, &pointer))
            {
                return;
            }
        }
        *match op {
            Op::Add => &mut self.found.counts.added,
            Op::Remove => &mut self.found.counts.removed,
            Op::Change => &mut self.found.counts.changed,
            Op::Move => &mut self.found.counts.moved,
        } += 1;
        if self.found.changes.len() < self.options.keep {
            self.found.changes.push(Change {
                op,
                a: a.map(Node::index),
                b: b.map(Node::index),
            });
        }
    }

    fn list<'a, 'b>(
        &mut self,
        a: Node<'a>,
        b: Node<'b>,
        olds: &[Node<'a>],
        news: &[Node<'b>],
        digests: &(Digests, Digests),
    ) -> Vec<Task<'a, 'b>> {
        let Some(key) = (!olds.is_empty() && !news.is_empty())
            .then(|| key_field(&[olds.to_vec(), news.to_vec()]))
            .flatten()
        else {
            return merge(olds, news, &aligned(olds, news, digests), &[], digests);
        };
        let places: HashMap<_, _> = news
            .iter()
            .enumerate()
            .filter_map(|(at, record)| Some((key_value(*record, &key)?, at)))
            .collect();
        let matches: Vec<Option<usize>> = olds
            .iter()
            .map(|record| places.get(&key_value(*record, &key)?).copied())
            .collect();
        let moved = moved(&matches);
        if self.found.lists.len() < MAX_LISTS {
            self.found.lists.push(KeyedList {
                a: a.index(),
                b: b.index(),
                key,
            });
        }
        merge(olds, news, &matches, &moved, digests)
    }
}

/// The members of one name; of several the first with the first.
fn members(olds: &[Node<'_>], news: &[Node<'_>]) -> Vec<Option<usize>> {
    let mut places: HashMap<_, Vec<usize>> = HashMap::with_capacity(news.len());
    for (at, member) in news.iter().enumerate().rev() {
        places
            .entry(member.key().unwrap_or_default())
            .or_default()
            .push(at);
    }
    olds.iter()
        .map(|member| places.get_mut(&member.key().unwrap_or_default())?.pop())
        .collect()
}

/// Elements of a list without a key: equal ones with equal ones, the others by position between them.
fn aligned(
    olds: &[Node<'_>],
    news: &[Node<'_>],
    digests: &(Digests, Digests),
) -> Vec<Option<usize>> {
    let old: Vec<u64> = olds.iter().map(|node| digests.0.get(*node)).collect();
    let new: Vec<u64> = news.iter().map(|node| digests.1.get(*node)).collect();
    let shorter = old.len().min(new.len());
    let start = old
        .iter()
        .zip(&new)
        .take_while(|(old, new)| old == new)
        .count();
    let end = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take(shorter - start)
        .take_while(|(old, new)| old == new)
        .count();
    let mut matches: Vec<Option<usize>> = vec![None; old.len()];
    (0..start).for_each(|at| matches[at] = Some(at));
    (0..end).for_each(|at| matches[old.len() - 1 - at] = Some(new.len() - 1 - at));
    let (old, new) = (&old[start..old.len() - end], &new[start..new.len() - end]);
    let mut pair = |from: usize, to: usize, len: usize| {
        (0..len).for_each(|at| matches[start + from + at] = Some(start + to + at));
    };
    if old.len() > ALIGN || new.len() > ALIGN {
        pair(0, 0, old.len().min(new.len()));
        return matches;
    }
    for op in capture_diff_slices(Algorithm::Myers, old, new) {
        match op {
            DiffOp::Equal {
                old_index,
                new_index,
                len,
            } => pair(old_index, new_index, len),
            DiffOp::Replace {
                old_index,
                old_len,
                new_index,
                new_len,
            } => pair(old_index, new_index, old_len.min(new_len)),
            DiffOp::Delete { .. } | DiffOp::Insert { .. } => {}
        }
    }
    matches
}

/// Which matched records left the longest run of those that keep their order.
fn moved(matches: &[Option<usize>]) -> Vec<bool> {
    // `tails[n]`: the record that ends the run of n + 1 whose last place is least.
    let mut tails: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; matches.len()];
    for (at, place) in matches.iter().enumerate() {
        let Some(place) = *place else { continue };
        let rank = tails.partition_point(|&tail| matches[tail].is_some_and(|end| end < place));
        before[at] = rank.checked_sub(1).map(|rank| tails[rank]);
        if rank == tails.len() {
            tails.push(at);
        } else {
            tails[rank] = at;
        }
    }
    let mut moved: Vec<bool> = matches.iter().map(Option::is_some).collect();
    let mut last = tails.last().copied();
    while let Some(at) = last {
        moved[at] = false;
        last = before[at];
    }
    moved
}

/// The tasks of a container in the order in which they are told: what was added stands before what follows it.
/// Equal pairs are left out, unless they moved.
fn merge<'a, 'b>(
    olds: &[Node<'a>],
    news: &[Node<'b>],
    matches: &[Option<usize>],
    moved: &[bool],
    digests: &(Digests, Digests),
) -> Vec<Task<'a, 'b>> {
    let mut is_matched = vec![false; news.len()];
    matches
        .iter()
        .flatten()
        .for_each(|at| is_matched[*at] = true);
    let mut tasks = Vec::new();
    let mut told = 0;
    let tell = |until: usize, told: &mut usize, tasks: &mut Vec<Task<'a, 'b>>| {
        while *told < until {
            if !is_matched[*told] {
                tasks.push(Task::Added(news[*told]));
            }
            *told += 1;
        }
    };
    for (at, old) in olds.iter().enumerate() {
        match matches.get(at).copied().flatten() {
            None => tasks.push(Task::Removed(*old)),
            Some(place) if moved.get(at) == Some(&true) => {
                tasks.push(Task::Moved(*old, news[place]))
            }
            Some(place) => {
                tell(place, &mut told, &mut tasks);
                if digests.0.get(*old) != digests.1.get(news[place]) {
                    tasks.push(Task::Pair(*old, news[place]));
                }
            }
        }
    }
    tell(news.len(), &mut told, &mut tasks);
    tasks
}
