//! Labelled places in a text: `**Status**: Active`, `"phone":"555"`, a table's cell under its header. They tell which
//! of several equal values is whose, and what a text says in place of a value.

use std::collections::HashMap;
use std::ops::Range;

use super::canon::{Canon, is_space};

/// A label and the stretch of text its value may take.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) label: Range<usize>,
    pub(super) value: Range<usize>,
}

/// A Markdown table: its body, and the labels of its columns.
struct Table {
    body: Range<usize>,
    header: Vec<Range<usize>>,
}

/// The Markdown tables of a text, in order.
pub(super) struct Tables(Vec<Table>);

impl Tables {
    pub(super) fn of(canon: &Canon) -> Self {
        let mut tables: Vec<Table> = Vec::new();
        let mut previous: Option<Range<usize>> = None;
        let mut is_open = false;
        for line in lines(&canon.text, 0..canon.text.len()) {
            let text = canon.text[line.clone()].trim();
            if is_open && text.starts_with('|') {
                if let Some(table) = tables.last_mut() {
                    table.body.end = line.end;
                }
            } else {
                is_open = false;
                if is_separator(text)
                    && let Some(header) = previous.clone()
                {
                    tables.push(Table { body: line.end..line.end, header: cells(canon, header) });
                    is_open = true;
                }
            }
            previous = Some(line);
        }
        Self(tables)
    }

    fn at(&self, at: usize) -> Option<&Table> {
        let next = self.0.partition_point(|table| table.body.start <= at);
        self.0.get(next.checked_sub(1)?).filter(|table| at < table.body.end)
    }
}

fn is_separator(line: &str) -> bool {
    line.contains("--") && line.starts_with('|') && line.bytes().all(|byte| b"|-: ".contains(&byte))
}

/// The lines of a range, without their ends.
pub(super) fn lines(text: &str, range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut at = range.start;
    let mut is_done = false;
    std::iter::from_fn(move || {
        if is_done {
            return None;
        }
        let end = text[at..range.end].find('\n').map_or(range.end, |len| at + len);
        let line = at..end;
        is_done = end == range.end;
        at = end + 1;
        Some(line)
    })
}

fn cells(canon: &Canon, line: Range<usize>) -> Vec<Range<usize>> {
    let mut cells = Vec::new();
    let mut start = None;
    for (offset, _) in canon.text[line.clone()].match_indices('|') {
        let at = line.start + offset;
        if canon.is_literal_pipe(at) {
            continue;
        }
        if let Some(start) = start {
            cells.push(trim(&canon.text, start..at));
        }
        start = Some(at + 1);
    }
    cells
}

fn is_ornament(char: char) -> bool {
    is_space(char) || matches!(char, '*' | '_' | '"' | '`' | '\'')
}

fn trim(text: &str, range: Range<usize>) -> Range<usize> {
    let inner = &text[range.clone()];
    let start = range.start + inner.len() - inner.trim_start_matches(is_ornament).len();
    start..(start + text[start..range.end].trim_end_matches(is_ornament).len())
}

/// The labelled places of a range, by the start of their values.
pub(super) fn slots(canon: &Canon, tables: &Tables, range: Range<usize>) -> Vec<Slot> {
    let mut slots = Vec::new();
    for line in lines(&canon.text, range) {
        let table = canon.text[line.clone()].trim_start().starts_with('|').then(|| tables.at(line.start)).flatten();
        match table {
            Some(table) => row_slots(canon, table, line, &mut slots),
            None => line_slots(&canon.text, line, &mut slots),
        }
    }
    slots.sort_by_key(|slot| slot.value.start);
    slots
}

fn row_slots(canon: &Canon, table: &Table, line: Range<usize>, slots: &mut Vec<Slot>) {
    let cells = cells(canon, line);
    let generic = ["field", "property", "key", "attribute", "name", ""];
    let first = table.header.first().map(|cell| canon.text[cell.clone()].to_lowercase());
    let is_field_table = table.header.len() == 2 && first.is_some_and(|name| generic.contains(&name.as_str()));
    if let (true, [label, value]) = (is_field_table, cells.as_slice()) {
        slots.push(Slot { label: label.clone(), value: value.clone() });
        return;
    }
    slots.extend(table.header.iter().cloned().zip(cells).map(|(label, value)| Slot { label, value }));
}

/// Labels before a colon.
fn line_slots(text: &str, line: Range<usize>, slots: &mut Vec<Slot>) {
    let first = slots.len();
    for (offset, _) in text[line.clone()].match_indices(':') {
        let colon = line.start + offset;
        if let Some(label) = label_before(text, line.start, colon) {
            if slots.len() > first
                && let Some(last) = slots.last_mut()
            {
                last.value.end = label.start.max(last.value.start);
            }
            slots.push(Slot { label, value: colon + 1..line.end });
        }
    }
}

/// The label that ends at a colon; times, ports and addresses have none.
pub(super) fn label_before(text: &str, from: usize, colon: usize) -> Option<Range<usize>> {
    let before = text[from..colon].trim_end_matches(|char| is_ornament(char) && char != '\n');
    let is_quoted = before.len() < colon - from;
    let follows = text[colon + 1..].chars().next();
    if !is_quoted && follows.is_some_and(|char| !is_ornament(char) && !matches!(char, '[' | '{')) {
        return None;
    }
    let tail_start = super::index::floor(before, before.len().saturating_sub(60));
    let tail = &before[tail_start..];
    let is_part = |char: char| char.is_alphanumeric() || matches!(char, ' ' | '_' | '-' | '/' | '&' | '.');
    let label =
        &tail[tail.rfind(|char| !is_part(char)).map_or(0, |at| at + tail[at..].chars().next().map_or(1, char::len_utf8))..];
    let body = label.trim_start_matches(|char: char| !char.is_alphabetic());
    let words = body.split(is_space).filter(|word| !word.is_empty()).count();
    let end = from + before.len();
    // `pageSize: -1` in a code span tells how to call, not what is.
    let is_code = !text[end..colon].contains('`') && text[from..end - body.len()].ends_with('`');
    (!is_code && (1..=6).contains(&words)).then(|| end - body.len()..end)
}

/// Compares labels with keys, and remembers what it found: there are few of either.
#[derive(Default)]
pub(super) struct Labels {
    known: HashMap<String, HashMap<String, bool>>,
}

impl Labels {
    /// Whether a label names the field: `Last Modified` and `lastModifiedDate`, `Type` and `companyType`.
    pub(super) fn fit(&mut self, key: &str, label: &str) -> bool {
        if let Some(known) = self.known.get(key).and_then(|labels| labels.get(label)) {
            return *known;
        }
        let fits = fit(key, label);
        let labels = self.known.entry(key.to_owned()).or_default();
        // Labels can be any text; the memory of them stays small.
        if labels.len() < 256 {
            labels.insert(label.to_owned(), fits);
        }
        fits
    }
}

fn fit(key: &str, label: &str) -> bool {
    let key = key_words(key);
    let label = key_words(label);
    let subset = |a: &[String], b: &[String]| !a.is_empty() && a.iter().all(|word| b.iter().any(|other| same_stem(word, other)));
    subset(&label, &key) || subset(&key, &label)
}

/// `created` and `create`, `notes` and `note`.
fn same_stem(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    short == long || (short.len() >= 4 && long.len() - short.len() <= 2 && long.starts_with(short))
}

/// The words of a key or label in lower case, without those that say nothing.
pub(super) fn key_words(key: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for char in key.chars() {
        if !char.is_alphabetic() {
            before = ' ';
            continue;
        }
        let begins = before == ' ' || (char.is_uppercase() && !before.is_uppercase());
        if begins {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(char.to_lowercase());
        }
        before = char;
    }
    let silent = ["is", "has", "to", "at", "by", "of", "the", "on", "in"];
    if words.len() > 1 {
        words.retain(|word| !silent.contains(&word.as_str()));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(String, String)> {
        let canon = Canon::of(text);
        let tables = Tables::of(&canon);
        let slots = slots(&canon, &tables, 0..canon.text.len());
        let part = |range: Range<usize>| canon.text[trim(&canon.text, range)].to_owned();
        slots.iter().map(|slot| (part(slot.label.clone()), part(slot.value.clone()))).collect()
    }

    #[test]
    fn labels_are_found() {
        let pairs = |list: &[(&str, &str)]| list.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect::<Vec<_>>();
        assert_eq!(found("- **Last Modified**: Jan 15, 2025 at 2:30 PM"), pairs(&[("Last Modified", "Jan 15, 2025 at 2:30 PM")]));
        assert_eq!(found("### Acme (ID: 12)"), pairs(&[("ID", "12)")]));
        assert_eq!(found("see https://x.y:80/z at 12:30"), pairs(&[]));
        assert_eq!(found("| ID | Na\\|me |\n|---|---|\n| 1 | a\\|b |"), pairs(&[("ID", "1"), ("Na|me", "a|b")]));
        assert_eq!(found("| Field | Value |\n|--|--|\n| **Phone** | 555 |"), pairs(&[("Phone", "555")]));
        let json = found(r#"{"id":1,"isActive": true}"#);
        assert_eq!(json[0].0, "id");
        assert_eq!(json[1].0, "isActive");
    }

    #[test]
    fn labels_fit_keys() {
        for (key, label) in [
            ("lastModifiedDate", "Last Modified"),
            ("companyType", "Type"),
            ("isActive", "Active"),
            ("address1", "Address"),
            ("createDate", "Created"),
            ("assignedResourceName", "Assigned To"),
            ("companyID", "Company ID"),
        ] {
            assert!(fit(key, label), "{key} {label}");
        }
        for (key, label) in [("companyName", "Company ID"), ("phone", "Address"), ("totalCount", "Total Size")] {
            assert!(!fit(key, label), "{key} {label}");
        }
    }
}
