//! Takes back what was found in a place that is not the fact's own: in a comment, in another record, next to the name of
//! another field, in the wrong direction.

use std::ops::Range;

use foldhash::{HashMap, HashMapExt, HashSet};

use super::labels::{same_stem, spoken};
use super::{Fact, FactCount, FactMatches, FactState};
use crate::json::{Kind, Node};
use crate::layout::{Line, LineStarts, comments, line_end, lines, range_at};

/// Objects with more members are not looked at: their keys are data.
const MAX_MEMBERS: usize = 200;
/// The longest stretch before a value in which the name of another field is looked for, in bytes.
const BEFORE_BYTES: usize = 80;
/// What stands further behind the beginning of its line is in no row.
const MAX_ROW_BYTES: usize = 4 << 10;
/// Keys of which the first stands before the second in a text that names neither.
const DIRECTIONS: [(&str, &str); 8] = [
    ("from", "to"),
    ("min", "max"),
    ("start", "end"),
    ("old", "new"),
    ("before", "after"),
    ("first", "last"),
    ("low", "high"),
    ("source", "target"),
];

/// Sets facts that were found in a place that is not their own to missing, and counts anew.
pub(super) fn refute(root: Node<'_>, text: &str, matched: &mut FactMatches) {
    let comments: Vec<_> = comments(text).collect();
    let mut owners: Vec<(Range<usize>, usize)> = Vec::new();
    for record in &matched.records {
        owners.extend(
            record
                .places
                .iter()
                .map(|place| (place.clone(), record.node)),
        );
    }
    owners.sort_by_key(|(place, _)| place.start);
    let records: Records = matched
        .records
        .iter()
        .filter_map(|record| Some((record.node, record.places.first()?.clone())))
        .collect();
    let starts = LineStarts::of(text);
    let mut siblings: HashMap<usize, Vec<(String, Kind)>> = HashMap::new();
    let mut refuted: HashSet<usize> = HashSet::default();
    for fact in matched
        .facts
        .iter()
        .filter(|fact| fact.state() == FactState::Found)
    {
        let (Some(place), Some(leaf)) = (fact.place(), root.doc().node(fact.node())) else {
            continue;
        };
        let comment = range_at(&comments, place.start);
        let line = starts.before(place.start);
        if comment.is_some_and(|comment| place.end <= comment.end)
            || is_in_another_record(&owners, &records, leaf, &place)
            || is_commented_out(&text[line..place.start])
            || is_under_another_heading(text, line, &records, leaf, &place)
            || is_named_otherwise(&text[line..place.start], leaf, &mut siblings)
            || is_in_another_row(text, line, leaf, &place)
        {
            refuted.insert(fact.node());
        }
    }
    let backwards = backwards(root, text, matched);
    refuted.extend(backwards);
    if refuted.is_empty() {
        return;
    }
    matched.count = FactCount::default();
    for fact in &mut matched.facts {
        if refuted.contains(&fact.node()) {
            *fact = Fact::new(fact.node(), FactState::Missing, None);
        }
        matched.count.add(fact.state());
    }
}

/// Whether a line, up to a place in it, begins with a sign that makes a comment of it, strikes or denies it: `;active = true`.
fn is_commented_out(line: &str) -> bool {
    let line = line.trim_start_matches([' ', '\t', '*', '>', '|']);
    let line = line.strip_prefix("- ").unwrap_or(line);
    let is_comment = line
        .strip_prefix('#')
        .is_some_and(|rest| rest.starts_with(char::is_alphanumeric) && rest.contains([':', '=']));
    is_comment
        || ["//", ";", "!", "~~", "??", "≠", "¬", "−"]
            .iter()
            .any(|sign| {
                line.strip_prefix(sign)
                    .is_some_and(|rest| rest.contains(char::is_alphanumeric))
            })
}

/// Records of the row set, by tape index, with the first of their places.
type Records = HashMap<usize, Range<usize>>;

/// The record that a leaf belongs to.
fn record_of(records: &Records, leaf: Node<'_>) -> Option<usize> {
    std::iter::successors(leaf.parent(), |node| node.parent())
        .map(Node::index)
        .find(|index| records.contains_key(index))
}

/// Whether a place is that of a record other than the leaf's own.
fn is_in_another_record(
    owners: &[(Range<usize>, usize)],
    records: &Records,
    leaf: Node<'_>,
    place: &Range<usize>,
) -> bool {
    let last = owners.partition_point(|(own, _)| own.start <= place.start);
    let Some((own, node)) = last.checked_sub(1).and_then(|at| owners.get(at)) else {
        return false;
    };
    own.start <= place.start
        && place.end <= own.end
        && record_of(records, leaf).is_some_and(|record| record != *node)
}

/// Whether a place is in a heading that is not the nearest one above the leaf's record.
fn is_under_another_heading(
    text: &str,
    line: usize,
    records: &Records,
    leaf: Node<'_>,
    place: &Range<usize>,
) -> bool {
    // The rest of the line may be long, and each fact of it asks.
    let rank = Line::new(&text[line..place.end], 0).rank();
    if rank == 0 {
        return false;
    }
    let Some(own) = record_of(records, leaf).and_then(|record| records.get(&record)) else {
        return false;
    };
    if own.start <= place.start {
        return own.end <= place.start;
    }
    let between = text.get(place.end..own.start).unwrap_or_default();
    lines(between)
        .skip(1)
        .any(|line| (1..=rank).contains(&line.rank()))
}

/// Whether the word before a place, by the beginning of its line, names another field of the same kind.
fn is_named_otherwise(
    line: &str,
    leaf: Node<'_>,
    siblings: &mut HashMap<usize, Vec<(String, Kind)>>,
) -> bool {
    let Some(parent) = leaf
        .parent()
        .filter(|parent| parent.kind() == Kind::Object && parent.len() <= MAX_MEMBERS)
    else {
        return false;
    };
    let from = line.ceil_char_boundary(line.len().saturating_sub(BEFORE_BYTES));
    let before = line[from..].trim_end_matches([' ', '*', '_', '`', '"', '\'', '(', '[']);
    let is_part = |char: char| char.is_alphanumeric() || char == '_';
    let word = spoken(
        before
            .rsplit(|char| !is_part(char))
            .next()
            .unwrap_or_default(),
    );
    if word.is_empty() {
        return false;
    }
    let own = spoken(&leaf.key().unwrap_or_default());
    let known = siblings.entry(parent.index()).or_insert_with(|| {
        parent
            .children()
            .map(|member| (spoken(&member.key().unwrap_or_default()), member.kind()))
            .collect()
    });
    let names = |key: &str| same_stem(key, &word);
    !own.split(' ').any(|part| same_stem(part, &word))
        && known
            .iter()
            .any(|(key, kind)| *kind == leaf.kind() && names(key))
}

/// Whether the line of a place names another row of a list of rows, such as `[["ann", 11], ["bob", 22]]`, and not its own.
fn is_in_another_row(text: &str, line: usize, leaf: Node<'_>, place: &Range<usize>) -> bool {
    let Some(row) = leaf.parent().filter(|row| row.kind() == Kind::Array) else {
        return false;
    };
    let Some(rows) = row
        .parent()
        .filter(|rows| rows.kind() == Kind::Array && rows.len() <= MAX_MEMBERS)
    else {
        return false;
    };
    let name = |row: Node<'_>| {
        let first = row.child(0)?;
        first
            .as_str()
            .filter(|name| !name.is_empty())
            .map(|name| (first.index(), name.into_owned()))
    };
    let Some((first, own)) = name(row).filter(|(first, _)| *first != leaf.index()) else {
        return false;
    };
    let end = text.floor_char_boundary(line + MAX_ROW_BYTES);
    if place.end > end {
        return false;
    }
    let line = &text[line..line_end(&text[..end], place.end)];
    let others = || {
        rows.children()
            .filter(|other| other.kind() == Kind::Array)
            .filter_map(name)
    };
    !line.contains(&own) && others().any(|(index, name)| index != first && line.contains(&name))
}

/// Pairs of a direction that are in the text the wrong way round: `{"from": "Oslo", "to": "Rome"}` in `Rome → Oslo`.
fn backwards(root: Node<'_>, text: &str, matched: &FactMatches) -> Vec<usize> {
    let mut found = Vec::new();
    let free = |node: Option<Node<'_>>| {
        let node = node?;
        let at = matched
            .facts
            .binary_search_by_key(&node.index(), Fact::node)
            .ok()?;
        let fact = &matched.facts[at];
        let place = fact.place().filter(|_| fact.state() == FactState::Found)?;
        // Under its own label the direction is told.
        let before = text[..place.start].trim_end_matches([' ', '*', '_', '`', '"', '\'']);
        (!before.ends_with([':', '=', '|', '>'])).then_some((node.index(), place))
    };
    let mut seen: Option<usize> = None;
    for fact in matched
        .facts
        .iter()
        .filter(|fact| fact.state() == FactState::Found)
    {
        let Some(object) = root.doc().node(fact.node()).and_then(Node::parent) else {
            continue;
        };
        if object.kind() != Kind::Object
            || object.len() > MAX_MEMBERS
            || seen.replace(object.index()) == Some(object.index())
        {
            continue;
        }
        for (first, second) in DIRECTIONS {
            if let (Some((a, one)), Some((b, other))) =
                (free(object.get(first)), free(object.get(second)))
                && one.start > other.start
            {
                found.extend([a, b]);
            }
        }
    }
    found
}
