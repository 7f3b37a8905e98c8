//! Proof: a reader decodes the text, and what it decodes is compared with the data, record by record and label by label.
//!
//! Only what is equal by [`is_equal`] is proved, under a label that is the key, in this or another case style. A value in a
//! record that is at another position than in the data is found, not proved: the order of a list is part of the data.
//! Where a record is recognised and its label carries another value, that value is kept: it refutes what the matcher may
//! find elsewhere.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;

use foldhash::{HashMap, HashMapExt, HashSet};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::labels::{KeyWords, case_words};
use super::record_lists;
use super::regions::{distinct_fields, names_record};
use super::span::Span;
use crate::json::{Kind, Node, decimal};
use crate::reader::{self, Found, TextBlock};

/// How deep the data and what was decoded are compared.
const MAX_DEPTH: usize = 64;
/// Members of nested objects whose paths are compared with a label.
const MAX_LEAVES: usize = 2_000;
/// How many of the fields that tell records apart are compared.
const MAX_IDENTITIES: usize = 8;

/// What the decoded text says of a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decoded {
    /// Equal, at the same record under the same label.
    Equal,
    /// Equal but for the position of its record, or a text that a layout types otherwise: `"12"` and `12`.
    Alike,
    /// Its label carries another value.
    Other,
    /// Its label carries nothing.
    Empty,
}

/// What a reader decoded of a text, compared with the data.
pub(super) struct Proof {
    /// By tape index minus the root's.
    leaves: Vec<Option<(Decoded, Option<Span>)>>,
    /// The labels of the text that name a field of the data, and the grammar of its language, in order.
    pub(super) accounted: Vec<Range<usize>>,
}

impl Proof {
    /// Of a text that a reader decodes; `None` of any other.
    pub(super) fn new(root: Node<'_>, keys: &KeyWords, text: &str) -> Option<Self> {
        let found = reader::read(&[TextBlock {
            block: 0,
            text,
            whole: None,
        }])?;
        let decoded = found.data.doc.root()?;
        let mut aligner = Aligner {
            base: root.index(),
            text,
            found: &found,
            leaves: vec![None; root.subtree_end() - root.index()],
            keys,
            other_words: OnceCell::new(),
            paths: HashSet::default(),
            names: Vec::new(),
            labels: HashMap::new(),
        };
        aligner.align_root(root, decoded);
        let Aligner {
            leaves,
            paths,
            names,
            ..
        } = aligner;
        let names_field = |label: &Range<usize>| {
            let label = text.get(label.clone()).unwrap_or_default();
            keys.has(label) || (!paths.is_empty() && paths.contains(&case_words(label)))
        };
        let labels = found
            .data
            .labels
            .iter()
            .map(|(_, label)| label.clone())
            .filter(names_field);
        let layout = found.data.layout().iter().map(|(_, range)| range.clone());
        // A null is no fact; where both have one at the same place the data holds it all the same.
        let is_null = |at: usize| {
            root.doc()
                .node(root.index() + at)
                .is_some_and(Node::is_null)
        };
        let nulls = leaves
            .iter()
            .enumerate()
            .filter_map(|(at, leaf)| match leaf {
                Some((Decoded::Equal, Some(span))) if is_null(at) => Some(span.range()),
                _ => None,
            });
        let accounted =
            reader::merge_ranges(labels.chain(names).chain(layout).chain(nulls).collect());
        Some(Self { leaves, accounted })
    }

    /// What the text says of the leaf at this tape index minus the root's, and where.
    pub(super) fn leaf(&self, offset: usize) -> Option<(Decoded, Option<Range<usize>>)> {
        let (decoded, span) = (*self.leaves.get(offset)?)?;
        Some((decoded, span.map(Span::range)))
    }
}

/// Compares the data with what was decoded, and keeps what is said of each leaf.
struct Aligner<'a> {
    base: usize,
    text: &'a str,
    found: &'a Found,
    leaves: Vec<Option<(Decoded, Option<Span>)>>,
    keys: &'a KeyWords,
    /// The words of all that is no value of the data: titles, sentences, names of lists.
    other_words: OnceCell<HashSet<String>>,
    /// Labels of the text that name a field by its path.
    paths: HashSet<String>,
    /// Places of values of the text that are names of the data.
    names: Vec<Range<usize>>,
    /// By a key as it is spelled: records have the same keys.
    labels: HashMap<&'a [u8], Rc<str>>,
}

impl<'a> Aligner<'a> {
    /// The outermost values: a layout of records does not tell the name of their list, nor that one record is a list.
    fn align_root(&mut self, data: Node<'a>, decoded: Node<'a>) {
        if self.align_columns_of_data(data, decoded)
            || self.align_map(data, decoded)
            || self.align_cells(data, decoded)
        {
            return;
        }
        match (data.kind(), decoded.kind()) {
            (Kind::Object, Kind::Array) => match only_list(data) {
                Some(list) if self.names_another(data, list) => {}
                Some(list) => self.align(list, decoded, true, 0),
                None if decoded.len() == 1 => {
                    decoded
                        .child(0)
                        .into_iter()
                        .for_each(|record| self.align(data, record, true, 0));
                }
                None => {}
            },
            (Kind::Array, Kind::Object)
                if decoded.get("columns").is_some() && decoded.get("rows").is_some() =>
            {
                self.align(data, decoded, true, 0);
            }
            (Kind::Array, Kind::Object) => match only_list(decoded) {
                Some(list) => self.align(data, list, true, 0),
                None if data.len() == 1 => data
                    .child(0)
                    .into_iter()
                    .for_each(|record| self.align(record, decoded, true, 0)),
                None => {}
            },
            (Kind::Object, Kind::Object) => {
                let is_named = |list: Node<'_>| {
                    decoded
                        .children()
                        .any(|child| label_of(child) == label_of(list))
                };
                let lists = only_list(data)
                    .filter(|list| !is_named(*list))
                    .zip(decoded.get("records"));
                if let Some((list, records)) = lists.filter(|(list, _)| {
                    data.get("records").is_none() && !self.names_another(data, *list)
                }) {
                    self.align(list, records, true, 0);
                }
                self.align(data, decoded, true, 0);
            }
            _ => self.align(data, decoded, true, 0),
        }
    }

    /// Whether a title or a sentence of the text holds the name of another member that the values may be those of: a list, an
    /// object, or nothing. `## Removed` above a table tells no additions of `{"added": […], "removed": []}`.
    fn names_another(&self, object: Node<'a>, chosen: Node<'a>) -> bool {
        let mut others = object.children().filter(|member| {
            member.index() != chosen.index() && (member.is_container() || member.is_null())
        });
        others.any(|member| {
            let label = label_of(member);
            let words = self
                .other_words
                .get_or_init(|| other_words(self.text, self.found, self.keys));
            !label.is_empty() && label.split(' ').all(|word| words.contains(word))
        })
    }

    fn align(&mut self, data: Node<'a>, decoded: Node<'a>, is_in_order: bool, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        match (data.kind(), decoded.kind()) {
            (Kind::Object, Kind::Object) => self.align_members(data, decoded, is_in_order, depth),
            (Kind::Array, Kind::Array) => self.align_elements(data, decoded, is_in_order, depth),
            (Kind::Array, Kind::Object) => self.align_columns(data, decoded, is_in_order, depth),
            (Kind::Object | Kind::Array, _) | (_, Kind::Object | Kind::Array) => {}
            _ => self.compare_leaf(data, decoded, is_in_order),
        }
    }

    fn compare_leaf(&mut self, data: Node<'a>, decoded: Node<'a>, is_in_order: bool) {
        let said = match compare(data, decoded) {
            Decoded::Equal if !is_in_order => Decoded::Alike,
            said => said,
        };
        self.leaves[data.index() - self.base] =
            Some((said, self.place(decoded).as_ref().map(Span::of)));
    }

    /// Where the text has a decoded value.
    fn place(&self, decoded: Node<'a>) -> Option<Range<usize>> {
        self.found.data.source(decoded).map(|(_, range)| range)
    }

    fn label_of(&mut self, member: Node<'a>) -> Rc<str> {
        let spelling = member.raw_key().unwrap_or_default();
        let label = || label_of(member).into();
        Rc::clone(self.labels.entry(spelling).or_insert_with(label))
    }

    /// Members by their labels; `None` where several have one.
    fn by_label(&mut self, object: Node<'a>) -> HashMap<Rc<str>, Option<Node<'a>>> {
        let mut members = HashMap::with_capacity(object.len());
        for member in object.children() {
            members
                .entry(self.label_of(member))
                .and_modify(|known| *known = None)
                .or_insert(Some(member));
        }
        members
    }

    /// The values of these fields that tell each record apart from the others.
    fn identities(
        &mut self,
        records: &[Node<'a>],
        fields: &[String],
    ) -> Vec<Vec<Option<Cow<'a, str>>>> {
        let identity = |member: Node<'a>| match member.kind() {
            Kind::String => member.as_str(),
            Kind::Number => member.as_number().map(Cow::Borrowed),
            _ => None,
        };
        let mut of_record = |record: &Node<'a>| {
            let mut values = vec![None; fields.len()];
            for member in record.children() {
                let label = self.label_of(member);
                if let Some(at) = fields.iter().position(|field| **field == *label) {
                    values[at] = identity(member);
                }
            }
            values
        };
        records.iter().map(&mut of_record).collect()
    }

    /// Members under the same label. A label that two members have tells neither.
    fn align_members(
        &mut self,
        data: Node<'a>,
        decoded: Node<'a>,
        is_in_order: bool,
        depth: usize,
    ) {
        let by_label = self.by_label(decoded);
        let own = self.by_label(data);
        let mut nested: Vec<Node<'a>> = Vec::new();
        for member in data.children() {
            let label = self.label_of(member);
            match by_label.get(&*label) {
                Some(Some(other)) if own.get(&*label).is_some_and(Option::is_some) => {
                    // `"address": {…}` next to a text under `Address` is told by the text's own words.
                    self.align(member, *other, is_in_order, depth + 1);
                }
                None if member.kind() == Kind::Object => nested.push(member),
                _ => {}
            }
        }
        // Members of members, under their whole path or, where no other member has it, under their own key.
        let mut leaves: Vec<(String, String, Node<'a>)> = Vec::new();
        for member in nested {
            let is_alone = !self.names_another(data, member);
            let nodes =
                (member.index() + 1..member.subtree_end()).filter_map(|at| member.doc().node(at));
            for leaf in nodes.filter(|node| !node.is_container()) {
                if let Some(path) = path(leaf, data) {
                    leaves.push((
                        path,
                        if is_alone {
                            label_of(leaf)
                        } else {
                            String::new()
                        },
                        leaf,
                    ));
                }
                if leaves.len() > MAX_LEAVES {
                    return;
                }
            }
        }
        let mut owners: HashMap<&String, u32> = HashMap::new();
        for (path, key, _) in &leaves {
            *owners.entry(path).or_default() += 1;
            if path != key {
                *owners.entry(key).or_default() += 1;
            }
        }
        for (path, key, leaf) in &leaves {
            let is_told = |label: &&String| {
                !label.is_empty()
                    && owners.get(label) == Some(&1)
                    && !own.contains_key(label.as_str())
            };
            let label = [path, key]
                .into_iter()
                .find(|label| by_label.contains_key(label.as_str()))
                .filter(is_told);
            if let Some((label, other)) = label
                .and_then(|label| Some((label, by_label.get(label.as_str()).copied().flatten()?)))
            {
                self.align(*leaf, other, is_in_order, depth + 1);
                self.paths.insert(label.clone());
            }
        }
    }

    /// Elements by position; records that are not at theirs, by the values that tell them apart.
    fn align_elements(
        &mut self,
        data: Node<'a>,
        decoded: Node<'a>,
        is_in_order: bool,
        depth: usize,
    ) {
        let are_records =
            |list: Node<'_>| list.children().all(|child| child.kind() == Kind::Object);
        if !are_records(data) || !are_records(decoded) {
            if data.len() == decoded.len() {
                data.children()
                    .zip(decoded.children())
                    .for_each(|(a, b)| self.align(a, b, is_in_order, depth + 1));
            }
            return;
        }
        let records: Vec<Node<'a>> = data.children().collect();
        let others: Vec<Node<'a>> = decoded.children().collect();
        if let ([record], [other]) = (&records[..], &others[..]) {
            return self.align(*record, *other, is_in_order, depth + 1);
        }
        let mut distinct: Vec<String> = distinct_fields(&records)
            .into_iter()
            .map(|field| case_words(field.key()))
            .collect();
        // A city may be another record's by mistake; an id is the record's own.
        if distinct.iter().any(|key| names_record(key)) {
            distinct.retain(|key| names_record(key));
        }
        distinct.truncate(MAX_IDENTITIES);
        let own = self.identities(&records, &distinct);
        let theirs = self.identities(&others, &distinct);
        let is_same = |at: usize| {
            own[at]
                .iter()
                .zip(&theirs[at])
                .any(|(a, b)| a.is_some() && a == b)
        };
        // Records by a field that tells them apart and its value; `None` where several have it.
        let mut by_identity: HashMap<(usize, &str), Option<usize>> = HashMap::new();
        for (record, values) in theirs.iter().enumerate() {
            for (field, value) in values.iter().enumerate() {
                if let Some(value) = value {
                    by_identity
                        .entry((field, value))
                        .and_modify(|known| *known = None)
                        .or_insert(Some(record));
                }
            }
        }
        for (at, record) in records.iter().enumerate() {
            let is_here = at < others.len()
                && if distinct.is_empty() {
                    records.len() == others.len()
                } else {
                    is_same(at)
                };
            let known = |(field, value): (usize, &Option<Cow<'a, str>>)| {
                *by_identity.get(&(field, value.as_deref()?))?
            };
            let elsewhere = || own[at].iter().enumerate().find_map(known);
            if let Some(other) = if is_here { Some(at) } else { elsewhere() } {
                self.align(*record, others[other], is_in_order && is_here, depth + 1);
            }
        }
    }

    /// Records next to rows of cells under these names; `is_table` says that the rows are the data's.
    fn align_rows(
        &mut self,
        names: &[String],
        records: Node<'a>,
        rows: impl Iterator<Item = Node<'a>>,
        is_table: bool,
    ) {
        let mut columns: HashMap<&str, Option<usize>> = HashMap::with_capacity(names.len());
        for (at, name) in names.iter().enumerate() {
            columns
                .entry(name)
                .and_modify(|known| *known = None)
                .or_insert(Some(at));
        }
        for (record, row) in records.children().zip(rows) {
            let cells: Vec<Node<'a>> = row.children().collect();
            if record.kind() != Kind::Object
                || row.kind() != Kind::Array
                || cells.len() != names.len()
            {
                continue;
            }
            for (label, member) in self.by_label(record) {
                if let Some((member, at)) = member.zip(columns.get(&*label).copied().flatten()) {
                    let (data, decoded) = if is_table {
                        (cells[at], member)
                    } else {
                        (member, cells[at])
                    };
                    self.align(data, decoded, true, 1);
                }
            }
        }
    }

    /// Data of `{"columns": ["a", "b"], "rows": [[1, 2]]}` next to records of `a` and `b`.
    fn align_columns_of_data(&mut self, data: Node<'a>, decoded: Node<'a>) -> bool {
        let list = |names: [&str; 3]| {
            names
                .into_iter()
                .find_map(|name| data.get(name))
                .filter(|list| list.kind() == Kind::Array)
        };
        let (Some(columns), Some(rows)) = (
            list(["columns", "fields", "headers"]),
            list(["rows", "data", "values"]),
        ) else {
            return false;
        };
        let records = if decoded.kind() == Kind::Object {
            only_list(decoded)
        } else {
            Some(decoded)
        };
        let Some(records) = records.filter(|records| records.kind() == Kind::Array) else {
            return false;
        };
        let Some(names) = names(columns) else {
            return false;
        };
        let are_rows = rows
            .children()
            .all(|row| row.kind() == Kind::Array && row.len() == names.len());
        let are_records = records
            .children()
            .all(|record| record.kind() == Kind::Object);
        if !are_rows || !are_records || rows.len() != records.len() {
            return false;
        }
        self.align_rows(&names, records, rows.children(), true);
        // The names of the columns are said by the head, word for word.
        let head: HashSet<Cow<'a, str>> = records
            .child(0)
            .into_iter()
            .flat_map(Node::children)
            .filter_map(Node::key)
            .collect();
        for name in columns.children() {
            if name.as_str().is_some_and(|word| head.contains(&word)) {
                self.leaves[name.index() - self.base] = Some((Decoded::Equal, None));
            }
        }
        true
    }

    /// Records next to rows of cells of which the first has the names, as a table of HTML is read.
    fn align_cells(&mut self, data: Node<'a>, decoded: Node<'a>) -> bool {
        let list = if data.kind() == Kind::Object {
            only_list(data)
        } else {
            Some(data)
        };
        let is_row = |row: Node<'_>| {
            row.kind() == Kind::Array && row.children().all(|cell| !cell.is_container())
        };
        let (Some(list), Kind::Array) = (
            list.filter(|list| list.kind() == Kind::Array),
            decoded.kind(),
        ) else {
            return false;
        };
        let Some((head, names)) = decoded.child(0).and_then(|head| Some((head, names(head)?)))
        else {
            return false;
        };
        if decoded.len() != list.len() + 1
            || !decoded.children().all(is_row)
            || self.names_another(data, list)
        {
            return false;
        }
        self.align_rows(&names, list, decoded.children().skip(1), false);
        let keys: HashSet<Rc<str>> = list
            .children()
            .flat_map(|record| self.by_label(record).into_keys())
            .collect();
        let cells = head
            .children()
            .zip(&names)
            .filter(|(_, name)| keys.contains(name.as_str()));
        self.names.extend(
            cells
                .filter_map(|(cell, _)| self.found.data.source(cell))
                .map(|(_, range)| range),
        );
        true
    }

    /// Records next to a text that has them as columns and rows.
    fn align_columns(
        &mut self,
        data: Node<'a>,
        decoded: Node<'a>,
        is_in_order: bool,
        depth: usize,
    ) {
        let Some((columns, rows)) = decoded.get("columns").zip(decoded.get("rows")) else {
            return;
        };
        if !is_in_order || depth > 1 || rows.kind() != Kind::Array || rows.len() != data.len() {
            return;
        }
        if let Some(names) = names(columns) {
            self.align_rows(&names, data, rows.children(), false);
        }
    }

    /// `{"ann": 11, "bob": 22}` next to a table of two columns, names and values.
    fn align_map(&mut self, data: Node<'a>, decoded: Node<'a>) -> bool {
        let records = if decoded.kind() == Kind::Object {
            only_list(decoded)
        } else {
            Some(decoded)
        };
        let Some(records) =
            records.filter(|records| records.kind() == Kind::Array && !records.is_empty())
        else {
            return false;
        };
        let mut by_name: HashMap<String, (usize, Node<'a>, Node<'a>)> =
            HashMap::with_capacity(records.len());
        for (at, record) in records.children().enumerate() {
            let (Kind::Object, 2, Some(name), Some(value)) = (
                record.kind(),
                record.len(),
                record.child(0),
                record.child(1),
            ) else {
                return false;
            };
            let label = case_words(&name.as_str().unwrap_or_else(|| name.raw_text()));
            if name.is_container()
                || value.is_container()
                || by_name.insert(label, (at, name, value)).is_some()
            {
                return false;
            }
        }
        let is_map = |map: &Node<'a>| {
            let is_named = |member: Node<'_>| by_name.contains_key(&label_of(member));
            map.kind() == Kind::Object && !map.is_empty() && map.children().all(is_named)
        };
        let maps: Vec<Node<'a>> = std::iter::once(data)
            .chain(data.children())
            .filter(is_map)
            .collect();
        let [map] = maps[..] else { return false };
        if self.by_label(map).values().any(Option::is_none)
            || (map.index() != data.index() && self.names_another(data, map))
        {
            return false;
        }
        for (position, member) in map.children().enumerate() {
            if let Some((at, name, value)) = by_name.get(&label_of(member)) {
                self.align(member, *value, *at == position, 1);
                self.names.extend(self.place(*name));
            }
        }
        true
    }
}

/// The one list of records that an object has.
fn only_list(object: Node<'_>) -> Option<Node<'_>> {
    match record_lists(object)[..] {
        [list] => Some(list),
        _ => None,
    }
}

fn label_of(member: Node<'_>) -> String {
    case_words(&member.key().unwrap_or_default())
}

/// The words of what a text says next to the values of the data: what its reader does not account for, labels that name no
/// value, values under labels that are none of the data's, and labels around the records.
fn other_words(text: &str, found: &Found, keys: &KeyWords) -> HashSet<String> {
    let mut words = HashSet::default();
    let mut add = |text: &str| {
        let parts = text.split(|char: char| !char.is_alphanumeric());
        parts.for_each(|part| words.extend(case_words(part).split(' ').map(str::to_owned)));
    };
    let extra = found.data.extra(&[TextBlock {
        block: 0,
        text,
        whole: None,
    }]);
    extra
        .iter()
        .for_each(|(_, range)| add(&text[range.clone()]));
    let root = found.data.doc.root();
    let nodes = || {
        root.into_iter().flat_map(|root| {
            (root.index()..root.subtree_end()).filter_map(|at| found.data.doc.node(at))
        })
    };
    let decoded: HashSet<Cow<'_, str>> = nodes().filter_map(Node::key).collect();
    let labels = found
        .data
        .labels
        .iter()
        .filter_map(|(_, range)| text.get(range.clone()));
    labels
        .filter(|label| !decoded.contains(*label))
        .for_each(&mut add);
    let titles = nodes()
        .filter(|node| node.key().is_some_and(|key| !keys.has(&key)))
        .filter_map(Node::as_str);
    titles.for_each(|title| add(&title));
    let around = root
        .filter(|root| root.kind() == Kind::Object)
        .into_iter()
        .flat_map(Node::children);
    let around = around.filter(|member| !member.is_container() && !member.is_null());
    around.filter_map(Node::key).for_each(|key| add(&key));
    words
}

/// The names of columns as labels; `None` where one is no text or comes twice.
fn names(columns: Node<'_>) -> Option<Vec<String>> {
    let names: Vec<String> = columns
        .children()
        .filter_map(Node::as_str)
        .map(|name| case_words(&name))
        .collect();
    let distinct: HashSet<&String> = names.iter().collect();
    let are_names = columns.kind() == Kind::Array
        && !names.is_empty()
        && names.len() == columns.len()
        && distinct.len() == names.len();
    are_names.then_some(names)
}

/// The words of the keys from an object down to a leaf; `None` where a list lies between.
fn path(leaf: Node<'_>, from: Node<'_>) -> Option<String> {
    let mut keys: Vec<String> = Vec::new();
    let mut node = leaf;
    while node.index() != from.index() {
        keys.push(case_words(&node.key()?));
        node = node.parent()?;
    }
    keys.reverse();
    Some(keys.join(" "))
}

fn compare(data: Node<'_>, decoded: Node<'_>) -> Decoded {
    if is_equal(data, decoded) {
        return Decoded::Equal;
    }
    let text = decoded.as_str().unwrap_or_else(|| decoded.raw_text());
    match (data.kind(), decoded.kind()) {
        (_, Kind::Null) => Decoded::Empty,
        (_, Kind::String) if text.trim().is_empty() => Decoded::Empty,
        (Kind::String, Kind::Number | Kind::Bool)
            if data.as_str().is_some_and(|own| own == text) =>
        {
            Decoded::Alike
        }
        _ => Decoded::Other,
    }
}

/// Whether a value that was read from a text is that of the data: the same JSON value, a number with its digits grouped,
/// a boolean in English words, the same instant, nothing for null.
fn is_equal(data: Node<'_>, decoded: Node<'_>) -> bool {
    match (data.kind(), decoded.kind()) {
        (Kind::Null, Kind::Null) => true,
        (Kind::Null, Kind::String) => decoded
            .as_str()
            .is_some_and(|text| text.is_empty() || text.eq_ignore_ascii_case("null")),
        (Kind::Number, Kind::Number) => decimal::is_same(&data.raw_text(), &decoded.raw_text()),
        (Kind::Number, Kind::String) => {
            let number = decoded.as_str().and_then(|text| parse_grouped(&text));
            number.is_some_and(|number| decimal::is_same(&data.raw_text(), &number))
        }
        (Kind::Bool, Kind::Bool) => data.as_bool() == decoded.as_bool(),
        (Kind::Bool, Kind::String) => decoded
            .as_str()
            .is_some_and(|text| parse_boolean(&text) == data.as_bool()),
        (Kind::String, Kind::String) => {
            let (own, other) = (
                data.as_str().unwrap_or_default(),
                decoded.as_str().unwrap_or_default(),
            );
            own == other || is_same_instant(&own, &other)
        }
        _ => false,
    }
}

/// A number whose digits are grouped so that it can be no other: `1,234,567`, `1,234.50`, `1 234` with a space that does
/// not break. `1,234` alone may be a decimal comma.
fn parse_grouped(text: &str) -> Option<String> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits
        .split_once('.')
        .map_or((digits, None), |(whole, fraction)| (whole, Some(fraction)));
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let sign = [',', '\u{a0}', '\u{202f}', '\u{2009}']
        .into_iter()
        .find(|sign| whole.contains(*sign))?;
    let groups: Vec<&str> = whole.split(sign).collect();
    let are_groups = groups.iter().all(|group| is_digits(group))
        && (1..=3).contains(&groups[0].len())
        && !groups[0].starts_with('0')
        && groups[1..].iter().all(|group| group.len() == 3);
    let is_plain = sign != ',' || groups.len() > 2 || fraction.is_some();
    let is_number = are_groups && is_plain && fraction.is_none_or(is_digits);
    is_number.then(|| text.replace(sign, ""))
}

fn parse_boolean(text: &str) -> Option<bool> {
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    match () {
        () if is("true") || is("yes") => Some(true),
        () if is("false") || is("no") => Some(false),
        () => None,
    }
}

/// Whether both are times of RFC 3339 with their zones, and the same instant.
fn is_same_instant(a: &str, b: &str) -> bool {
    let is_time = |text: &str| (20..=40).contains(&text.len()) && text.as_bytes()[4] == b'-';
    let instant = |text: &str| OffsetDateTime::parse(text, &Rfc3339).ok();
    is_time(a) && is_time(b) && instant(a).is_some_and(|a| instant(b).is_some_and(|b| a == b))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::json::Doc;

    fn doc(json: &str) -> Doc {
        Doc::parse(Bytes::copy_from_slice(json.as_bytes()))
    }

    #[test]
    fn exact_equivalences_prove_in_both_directions() {
        let equal = |data: &str, decoded: &str| {
            is_equal(doc(data).root().unwrap(), doc(decoded).root().unwrap())
        };
        for (data, decoded) in [
            ("1.0", "1"),
            ("1234567", r#""1,234,567""#),
            ("1234.5", r#""1,234.50""#),
            ("-1234", "\"-1\u{a0}234\""),
            ("true", r#""Yes""#),
            ("false", r#""NO""#),
            (
                r#""2025-03-04T15:30:00Z""#,
                r#""2025-03-04T16:30:00+01:00""#,
            ),
            (r#""a\u0062""#, r#""ab""#),
            ("null", "null"),
            ("null", r#""""#),
            ("null", r#""null""#),
        ] {
            assert!(equal(data, decoded), "{data} {decoded}");
        }
        for (data, decoded) in [
            ("1234", r#""1,234""#),
            ("1.234", r#""1,234""#),
            ("1234", r#""12,34""#),
            ("0.05", r#""0.05%""#),
            ("12", r#""$12""#),
            ("true", "1"),
            ("true", r#""on""#),
            ("false", "null"),
            ("null", r#""disk full""#),
            ("null", "false"),
            ("null", r#""n/a""#),
            ("true", r#""not true""#),
            (r#""12""#, "12"),
            (
                r#""2025-03-04T15:30:00Z""#,
                r#""2025-03-04T15:30:00+01:00""#,
            ),
            (r#""2025-03-04T15:30:00Z""#, r#""2025-03-04 15:30""#),
            (r#""Ann""#, r#""ann""#),
            (r#"" Ann""#, r#""Ann""#),
        ] {
            assert!(!equal(data, decoded), "{data} {decoded}");
        }
    }
}
