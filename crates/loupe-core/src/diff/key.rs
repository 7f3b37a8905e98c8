//! Which field tells the records of a list apart, so that a record is found again wherever it stands.

use std::collections::HashSet;

use super::same::scalar;
use crate::json::{Kind, Node};

/// Fields of a record that are looked at, and the length of a value that may be a key.
const MAX_FIELDS: usize = 24;
const MAX_VALUE: usize = 200;

/// Names that say that a field is a key, best first; a name that ends in `id` comes after them.
const NAMES: &[&str] = &[
    "id", "_id", "uuid", "guid", "key", "uri", "number", "code", "slug",
];
/// Names of fields that often tell records apart, without being made for it.
const LIKELY: &[&str] = &[
    "name", "title", "email", "login", "path", "url", "href", "label",
];

/// The field that has another scalar value in every record of each list: by its name where that says so, else a text
/// that most records of the lists share. `None` where a record has none, or where a list holds anything but objects.
pub fn key_field(lists: &[Vec<Node<'_>>]) -> Option<String> {
    let first = lists.iter().find_map(|list| list.first())?;
    if lists
        .iter()
        .flatten()
        .any(|record| record.kind() != Kind::Object)
    {
        return None;
    }
    let mut fields: Vec<(u8, usize, String)> = Vec::new();
    for (position, member) in first.children().take(MAX_FIELDS).enumerate() {
        let name = member.key().unwrap_or_default();
        if let Some(rank) = rank(&name, member.kind()) {
            fields.push((rank, position, name.into_owned()));
        }
    }
    fields.sort();
    let mut fallback = None;
    for (rank, _, name) in fields {
        let Some(values) = lists
            .iter()
            .map(|list| unique(list, &name))
            .collect::<Option<Vec<_>>>()
        else {
            continue;
        };
        let shared = count_shared(&values);
        let shortest = values
            .iter()
            .map(HashSet::len)
            .filter(|len| *len > 0)
            .min()
            .unwrap_or(0);
        if rank <= BY_NAME {
            if shared > 0 || values.len() == 1 {
                return Some(name);
            }
            fallback = fallback.or(Some(name));
        } else if shared * 2 >= shortest {
            return Some(name);
        }
    }
    fallback
}

/// A record's value of that field, comparable with those of other records: numbers by value.
pub fn key_value(record: Node<'_>, field: &str) -> Option<String> {
    let node = record.get(field)?;
    if !matches!(node.kind(), Kind::String | Kind::Number) || node.raw().len() > MAX_VALUE {
        return None;
    }
    let (text, flag, power) = scalar(node);
    Some(match node.kind() {
        Kind::Number => format!("{}{text}e{power}", if flag { "-" } else { "" }),
        _ => format!("\"{text}"),
    })
}

/// Up to here a field is taken for a key by its name alone.
const BY_NAME: u8 = 20;

fn rank(name: &str, kind: Kind) -> Option<u8> {
    if !matches!(kind, Kind::String | Kind::Number) {
        return None;
    }
    let lower = name.to_lowercase();
    let at = |names: &[&str]| {
        names
            .iter()
            .position(|known| *known == lower)
            .and_then(|at| u8::try_from(at).ok())
    };
    if let Some(at) = at(NAMES) {
        return Some(at);
    }
    if lower.ends_with("id")
        && (name.ends_with("ID") || name.ends_with("Id") || lower.ends_with("_id"))
    {
        return Some(BY_NAME);
    }
    // A number that differs from record to record is as often an amount or a rank as a key.
    (kind == Kind::String).then(|| at(LIKELY).map_or(BY_NAME + 20, |at| BY_NAME + 1 + at))
}

/// The values of a field, if every record has one of its own.
fn unique(records: &[Node<'_>], field: &str) -> Option<HashSet<String>> {
    let mut values = HashSet::with_capacity(records.len());
    records
        .iter()
        .all(|record| key_value(*record, field).is_some_and(|value| values.insert(value)))
        .then_some(values)
}

fn count_shared(lists: &[HashSet<String>]) -> usize {
    let Some((first, rest)) = lists.split_first() else {
        return 0;
    };
    first
        .iter()
        .filter(|value| rest.iter().all(|list| list.contains(*value)))
        .count()
}
