//! Proof: a reader decodes the text, and what it decodes is held against the data, record by record and label by label.
//!
//! Only what is equal by [`is_equal`] is proved. A value in a record that stands at another position than in the data is
//! found, not proved: the order of a list is part of the data. Where a record is recognised and its label carries another
//! value, that value is kept: it refutes what the matcher may find elsewhere.

use std::borrow::Cow;
use std::ops::Range;

use foldhash::{HashMap, HashMapExt, HashSet};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::labels::{KeyWords, spoken};
use super::record_lists;
use super::regions::{distinct_fields, names_record};
use super::span::Span;
use crate::json::{Kind, Node, decimal};
use crate::reader::{self, Found, TextBlock};

/// How deep the data and what was decoded are held against each other.
const MAX_DEPTH: usize = 64;
/// Members of one object whose paths are compared with a label.
const MAX_LEAVES: usize = 2_000;

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

/// Records by the position of a field that tells them apart and its value; `None` where several have it.
type ByIdentity<'a> = HashMap<(usize, Cow<'a, str>), Option<Node<'a>>>;

/// What a reader decoded of a text, held against the data.
pub(super) struct Proof {
    /// By tape index minus the root's.
    leaves: Vec<Option<(Decoded, Option<Span>)>>,
    /// The labels of the text that name a field of the data, and the grammar of its language, in order.
    pub(super) accounted: Vec<Range<usize>>,
}

impl Proof {
    /// Of a text that a reader decodes; `None` of any other.
    pub(super) fn of(root: Node<'_>, keys: &KeyWords, text: &str) -> Option<Self> {
        let found = reader::read(&[TextBlock { block: 0, text, whole: None }])?;
        let decoded = found.data.doc.root()?;
        let mut aligner = Aligner { base: root.index(), found: &found, leaves: vec![None; root.subtree_end() - root.index()] };
        aligner.root(root, decoded);
        let leaves = aligner.leaves;
        let names_field = |label: &Range<usize>| text.get(label.clone()).is_some_and(|label| keys.has(label));
        let labels = found.data.labels.iter().map(|(_, label)| label.clone()).filter(names_field);
        let layout = found.data.layout().iter().map(|(_, range)| range.clone());
        let accounted = reader::merged(labels.chain(layout).collect());
        Some(Self { leaves, accounted })
    }

    /// What the text says of the leaf at this tape index minus the root's, and where.
    pub(super) fn leaf(&self, offset: usize) -> Option<(Decoded, Option<Range<usize>>)> {
        let (decoded, span) = (*self.leaves.get(offset)?)?;
        Some((decoded, span.map(Span::range)))
    }
}

struct Aligner<'a> {
    base: usize,
    found: &'a Found,
    leaves: Vec<Option<(Decoded, Option<Span>)>>,
}

impl<'a> Aligner<'a> {
    /// The outermost values: a layout of records does not tell the name of their list, nor that one record is a list.
    fn root(&mut self, data: Node<'a>, decoded: Node<'a>) {
        if self.columns_and_rows(data, decoded) || self.map(data, decoded) || self.head_and_rows(data, decoded) {
            return;
        }
        match (data.kind(), decoded.kind()) {
            (Kind::Object, Kind::Array) => match only_list(data) {
                Some(list) => self.pair(list, decoded, true, 0),
                None if decoded.len() == 1 => {
                    decoded.child(0).into_iter().for_each(|record| self.pair(data, record, true, 0));
                }
                None => {}
            },
            (Kind::Array, Kind::Object) if decoded.get("columns").is_some() && decoded.get("rows").is_some() => {
                self.pair(data, decoded, true, 0);
            }
            (Kind::Array, Kind::Object) => match only_list(decoded) {
                Some(list) => self.pair(data, list, true, 0),
                None if data.len() == 1 => data.child(0).into_iter().for_each(|record| self.pair(record, decoded, true, 0)),
                None => {}
            },
            (Kind::Object, Kind::Object) => {
                let is_named = |list: Node<'_>| decoded.children().any(|child| is_same_label(child, list));
                let lists = only_list(data).filter(|list| !is_named(*list)).zip(decoded.get("records"));
                if let Some((list, records)) = lists.filter(|_| data.get("records").is_none()) {
                    self.pair(list, records, true, 0);
                }
                self.pair(data, decoded, true, 0);
            }
            _ => self.pair(data, decoded, true, 0),
        }
    }

    fn pair(&mut self, data: Node<'a>, decoded: Node<'a>, is_in_order: bool, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        match (data.kind(), decoded.kind()) {
            (Kind::Object, Kind::Object) => self.members(data, decoded, is_in_order, depth),
            (Kind::Array, Kind::Array) => self.elements(data, decoded, is_in_order, depth),
            (Kind::Array, Kind::Object) => self.rows(data, decoded, is_in_order, depth),
            (Kind::Object | Kind::Array, _) | (_, Kind::Object | Kind::Array) => {}
            _ => self.leaf(data, decoded, is_in_order),
        }
    }

    fn leaf(&mut self, data: Node<'a>, decoded: Node<'a>, is_in_order: bool) {
        let said = match compare(data, decoded) {
            Decoded::Equal if !is_in_order => Decoded::Alike,
            said => said,
        };
        let place = self.found.data.source(decoded).map(|(_, range)| Span::of(&range));
        self.leaves[data.index() - self.base] = Some((said, place));
    }

    /// Members under the same label. A label that two members have tells neither.
    fn members(&mut self, data: Node<'a>, decoded: Node<'a>, is_in_order: bool, depth: usize) {
        let mut by_label: HashMap<String, Option<Node<'a>>> = HashMap::with_capacity(decoded.len());
        for member in decoded.children() {
            let label = spoken(&member.key().unwrap_or_default());
            by_label.entry(label).and_modify(|known| *known = None).or_insert(Some(member));
        }
        let mut own: HashMap<String, u32> = HashMap::with_capacity(data.len());
        for member in data.children() {
            *own.entry(spoken(&member.key().unwrap_or_default())).or_default() += 1;
        }
        let mut nested: Vec<Node<'a>> = Vec::new();
        for member in data.children() {
            let label = spoken(&member.key().unwrap_or_default());
            match by_label.get(&label) {
                Some(Some(other)) if own.get(&label) == Some(&1) => {
                    // `"address": {…}` beside a text under `Address` is told by the text's own words.
                    self.pair(member, *other, is_in_order, depth + 1);
                }
                Some(_) => {}
                None if member.kind() == Kind::Object => nested.push(member),
                None => {}
            }
        }
        if nested.is_empty() {
            return;
        }
        // Members of members, under their whole path or, where no other member has it, under their own key.
        let mut leaves: Vec<(String, String, Node<'a>)> = Vec::new();
        for member in nested {
            let nodes = (member.index() + 1..member.subtree_end()).filter_map(|at| member.doc().node(at));
            for leaf in nodes.filter(|node| !node.is_container()) {
                if let Some(path) = path(leaf, data) {
                    leaves.push((path, spoken(&leaf.key().unwrap_or_default()), leaf));
                }
                if leaves.len() > MAX_LEAVES {
                    return;
                }
            }
        }
        let mut paths: HashMap<String, u32> = HashMap::new();
        for (path, key, _) in &leaves {
            *paths.entry(path.clone()).or_default() += 1;
            if path != key {
                *paths.entry(key.clone()).or_default() += 1;
            }
        }
        for (path, key, leaf) in &leaves {
            let is_told = |label: &String| paths.get(label) == Some(&1) && !own.contains_key(label);
            let label = [path, key].into_iter().find(|label| by_label.contains_key(*label)).filter(|label| is_told(label));
            if let Some(other) = label.and_then(|label| by_label.get(label).copied().flatten()) {
                self.pair(*leaf, other, is_in_order, depth + 1);
            }
        }
    }

    /// Elements by position; records that are not at theirs, by the values that tell them apart.
    fn elements(&mut self, data: Node<'a>, decoded: Node<'a>, is_in_order: bool, depth: usize) {
        let are_records = |list: Node<'_>| list.children().all(|child| child.kind() == Kind::Object);
        if !are_records(data) || !are_records(decoded) {
            if data.len() == decoded.len() {
                data.children().zip(decoded.children()).for_each(|(a, b)| self.pair(a, b, is_in_order, depth + 1));
            }
            return;
        }
        let records: Vec<Node<'a>> = data.children().collect();
        let others: Vec<Node<'a>> = decoded.children().collect();
        if let ([record], [other]) = (&records[..], &others[..]) {
            return self.pair(*record, *other, is_in_order, depth + 1);
        }
        let mut distinct: Vec<String> = distinct_fields(&records).into_iter().map(|field| spoken(field.key())).collect();
        // A city may be another record's by mistake; an id is the record's own.
        if distinct.iter().any(|key| names_record(key)) {
            distinct.retain(|key| names_record(key));
        }
        let identity = |record: Node<'a>, field: &str| -> Option<Cow<'a, str>> {
            let member = record.children().find(|member| spoken(&member.key().unwrap_or_default()) == field)?;
            match member.kind() {
                Kind::String => member.as_str(),
                Kind::Number => member.as_number().map(Cow::Borrowed),
                _ => None,
            }
        };
        let is_same = |a: Node<'a>, b: Node<'a>| {
            distinct
                .iter()
                .any(|field| identity(a, field).is_some_and(|own| identity(b, field).is_some_and(|other| own == other)))
        };
        let mut elsewhere: Option<ByIdentity<'a>> = None;
        for (at, record) in records.iter().enumerate() {
            let same = others
                .get(at)
                .filter(|other| if distinct.is_empty() { records.len() == others.len() } else { is_same(*record, **other) });
            if let Some(other) = same {
                self.pair(*record, *other, is_in_order, depth + 1);
                continue;
            }
            let by_identity = elsewhere.get_or_insert_with(|| {
                let mut known = ByIdentity::new();
                for other in &others {
                    for (at, field) in distinct.iter().enumerate() {
                        if let Some(value) = identity(*other, field) {
                            known.entry((at, value)).and_modify(|known| *known = None).or_insert(Some(*other));
                        }
                    }
                }
                known
            });
            let other = distinct.iter().enumerate().find_map(|(at, field)| {
                let value = identity(*record, field)?;
                by_identity.get(&(at, value)).copied().flatten()
            });
            if let Some(other) = other {
                self.pair(*record, other, false, depth + 1);
            }
        }
    }

    /// `{"columns": ["a", "b"], "rows": [[1, 2]]}` beside records of `a` and `b`.
    fn columns_and_rows(&mut self, data: Node<'a>, decoded: Node<'a>) -> bool {
        let list = |names: [&str; 3]| names.into_iter().find_map(|name| data.get(name)).filter(|list| list.kind() == Kind::Array);
        let (Some(columns), Some(rows)) = (list(["columns", "fields", "headers"]), list(["rows", "data", "values"])) else {
            return false;
        };
        let records = if decoded.kind() == Kind::Object { only_list(decoded) } else { Some(decoded) };
        let Some(records) = records.filter(|records| records.kind() == Kind::Array) else { return false };
        let names: Vec<String> = columns.children().map(|name| spoken(&name.as_str().unwrap_or_default())).collect();
        let distinct: HashSet<&String> = names.iter().collect();
        let is_row = |row: Node<'_>| row.kind() == Kind::Array && row.len() == names.len();
        let are_rows = rows.children().all(is_row) && records.children().all(|record| record.kind() == Kind::Object);
        if names.is_empty() || distinct.len() < names.len() || !are_rows || rows.len() != records.len() {
            return false;
        }
        for (row, record) in rows.children().zip(records.children()) {
            for (name, cell) in names.iter().zip(row.children()) {
                let mut named = record.children().filter(|member| spoken(&member.key().unwrap_or_default()) == *name);
                if let (Some(member), None) = (named.next(), named.next()) {
                    self.pair(cell, member, true, 1);
                }
            }
        }
        // The names of the columns are said by the head, word for word.
        if let Some(first) = records.child(0) {
            for name in columns.children() {
                let word = name.as_str().unwrap_or_default();
                if first.children().any(|member| member.key().is_some_and(|key| key == word)) {
                    self.leaves[name.index() - self.base] = Some((Decoded::Equal, None));
                }
            }
        }
        true
    }

    /// Records beside rows of cells of which the first has the names, as a table of HTML is read.
    fn head_and_rows(&mut self, data: Node<'a>, decoded: Node<'a>) -> bool {
        let list = if data.kind() == Kind::Object { only_list(data) } else { Some(data) };
        let is_row = |row: Node<'_>| row.kind() == Kind::Array && row.children().all(|cell| !cell.is_container());
        let (Some(list), Some(head)) = (list.filter(|list| list.kind() == Kind::Array), decoded.child(0)) else { return false };
        let is_table = decoded.kind() == Kind::Array && decoded.len() == list.len() + 1 && decoded.children().all(is_row);
        let names: Vec<String> = head.children().filter_map(Node::as_str).map(|name| spoken(&name)).collect();
        let distinct: HashSet<&String> = names.iter().collect();
        if !is_table || names.is_empty() || names.len() != head.len() || distinct.len() != names.len() {
            return false;
        }
        for (record, row) in list.children().zip(decoded.children().skip(1)) {
            if record.kind() != Kind::Object || row.len() != names.len() {
                continue;
            }
            for member in record.children() {
                let key = spoken(&member.key().unwrap_or_default());
                if let Some(cell) = names.iter().position(|name| *name == key).and_then(|at| row.child(at)) {
                    self.pair(member, cell, true, 1);
                }
            }
        }
        true
    }

    /// Records beside a text that has them as columns and rows.
    fn rows(&mut self, data: Node<'a>, decoded: Node<'a>, is_in_order: bool, depth: usize) {
        let Some((columns, rows)) = decoded.get("columns").zip(decoded.get("rows")) else { return };
        let names: Vec<Cow<'a, str>> = columns.children().filter_map(Node::as_str).collect();
        let is_table = columns.kind() == Kind::Array && rows.kind() == Kind::Array && names.len() == columns.len();
        if !is_table || rows.len() != data.len() {
            return;
        }
        for (record, row) in data.children().zip(rows.children()) {
            if record.kind() != Kind::Object || row.kind() != Kind::Array || row.len() != names.len() {
                continue;
            }
            for member in record.children() {
                let key = member.key().unwrap_or_default();
                let mut at = names.iter().enumerate().filter(|(_, name)| **name == key);
                if let (Some((at, _)), None) = (at.next(), at.next())
                    && let Some(cell) = row.child(at)
                {
                    self.pair(member, cell, is_in_order, depth + 1);
                }
            }
        }
    }

    /// `{"ann": 11, "bob": 22}` beside a table of two columns, names and values.
    fn map(&mut self, data: Node<'a>, decoded: Node<'a>) -> bool {
        let records = if decoded.kind() == Kind::Object { only_list(decoded) } else { Some(decoded) };
        let Some(records) = records.filter(|records| records.kind() == Kind::Array && !records.is_empty()) else { return false };
        let is_pair = |record: Node<'_>| {
            record.kind() == Kind::Object && record.len() == 2 && record.children().all(|member| !member.is_container())
        };
        if !records.children().all(is_pair) {
            return false;
        }
        let label = |record: Node<'a>| record.child(0).map(|name| spoken(&name.as_str().unwrap_or_else(|| name.raw_text())));
        let labels: HashSet<String> = records.children().filter_map(label).collect();
        let is_map = |map: &Node<'a>| {
            let mut keys = map.children().map(|member| spoken(&member.key().unwrap_or_default()));
            map.kind() == Kind::Object && !map.is_empty() && keys.all(|key| labels.contains(&key))
        };
        let maps: Vec<Node<'a>> = std::iter::once(data).chain(data.children()).filter(is_map).collect();
        let ([map], true) = (&maps[..], labels.len() == records.len()) else { return false };
        for (position, member) in map.children().enumerate() {
            let key = spoken(&member.key().unwrap_or_default());
            let own = records.children().enumerate().find(|(_, record)| label(*record).as_ref() == Some(&key));
            if let Some((at, value)) = own.and_then(|(at, record)| Some((at, record.child(1)?))) {
                self.pair(member, value, at == position, 1);
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

fn is_same_label(a: Node<'_>, b: Node<'_>) -> bool {
    spoken(&a.key().unwrap_or_default()) == spoken(&b.key().unwrap_or_default())
}

/// The words of the keys from an object down to a leaf; `None` where a list lies between.
fn path(leaf: Node<'_>, from: Node<'_>) -> Option<String> {
    let mut keys: Vec<String> = Vec::new();
    let mut node = leaf;
    while node.index() != from.index() {
        keys.push(spoken(&node.key()?));
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
        (Kind::Null, _) => Decoded::Equal,
        (_, Kind::Null) => Decoded::Empty,
        (_, Kind::String) if text.trim().is_empty() => Decoded::Empty,
        (Kind::String, Kind::Number | Kind::Bool) if data.as_str().is_some_and(|own| own == text) => Decoded::Alike,
        _ => Decoded::Other,
    }
}

/// Whether a value that was read from a text is that of the data: the same JSON value, a number with its digits grouped,
/// a boolean in English words, the same instant.
fn is_equal(data: Node<'_>, decoded: Node<'_>) -> bool {
    match (data.kind(), decoded.kind()) {
        (Kind::Number, Kind::Number) => decimal::is_same(&data.raw_text(), &decoded.raw_text()),
        (Kind::Number, Kind::String) => {
            let number = decoded.as_str().and_then(|text| ungrouped(&text));
            number.is_some_and(|number| decimal::is_same(&data.raw_text(), &number))
        }
        (Kind::Bool, Kind::Bool) => data.as_bool() == decoded.as_bool(),
        (Kind::Bool, Kind::String) => decoded.as_str().is_some_and(|text| yes_or_no(&text) == data.as_bool()),
        (Kind::String, Kind::String) => {
            let (own, other) = (data.as_str().unwrap_or_default(), decoded.as_str().unwrap_or_default());
            own == other || is_same_instant(&own, &other)
        }
        _ => false,
    }
}

/// A number whose digits are grouped so that it can be no other: `1,234,567`, `1,234.50`, `1 234` with a space that does
/// not break. `1,234` alone may be a decimal comma.
fn ungrouped(text: &str) -> Option<String> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').map_or((digits, None), |(whole, fraction)| (whole, Some(fraction)));
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let sign = [',', '\u{a0}', '\u{202f}', '\u{2009}'].into_iter().find(|sign| whole.contains(*sign))?;
    let groups: Vec<&str> = whole.split(sign).collect();
    let are_groups = groups.iter().all(|group| is_digits(group))
        && (1..=3).contains(&groups[0].len())
        && !groups[0].starts_with('0')
        && groups[1..].iter().all(|group| group.len() == 3);
    let is_plain = sign != ',' || groups.len() > 2 || fraction.is_some();
    let is_number = are_groups && is_plain && fraction.is_none_or(is_digits);
    is_number.then(|| text.replace(sign, ""))
}

fn yes_or_no(text: &str) -> Option<bool> {
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
        let equal = |data: &str, decoded: &str| is_equal(doc(data).root().unwrap(), doc(decoded).root().unwrap());
        for (data, decoded) in [
            ("1.0", "1"),
            ("1234567", r#""1,234,567""#),
            ("1234.5", r#""1,234.50""#),
            ("-1234", "\"-1\u{a0}234\""),
            ("true", r#""Yes""#),
            ("false", r#""NO""#),
            (r#""2025-03-04T15:30:00Z""#, r#""2025-03-04T16:30:00+01:00""#),
            (r#""a\u0062""#, r#""ab""#),
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
            ("true", r#""not true""#),
            (r#""12""#, "12"),
            (r#""2025-03-04T15:30:00Z""#, r#""2025-03-04T15:30:00+01:00""#),
            (r#""2025-03-04T15:30:00Z""#, r#""2025-03-04 15:30""#),
            (r#""Ann""#, r#""ann""#),
            (r#"" Ann""#, r#""Ann""#),
        ] {
            assert!(!equal(data, decoded), "{data} {decoded}");
        }
    }
}
