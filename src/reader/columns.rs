//! Aligned columns: a head and rows whose fields begin at the same places, with two spaces or more between them.

use super::build::{Builder, LineAt, Record, Value, cell, lines};
use super::label::{is_rule, labelled};
use super::{Certainty, Reader, TextBlock, TextData, first_block};

pub(super) static COLUMNS: Reader =
    Reader { id: "columns", title: "Aligned columns", certainty: Certainty::Layout, read: |blocks| first_block(blocks, read) };

/// The most columns.
const MAX: usize = 100;

fn read(block: TextBlock<'_>) -> Option<TextData> {
    if !block.text.contains("  ") {
        return None;
    }
    let all: Vec<LineAt<'_>> = lines(block.text).filter(|line| !line.is_blank() && !is_rule(line.text)).collect();
    let first = all.iter().position(|line| starts(line.text).len() > 1)?;
    let head = &all[first];
    let starts = starts(head.text);
    // A head has no numbers in it, and no name twice.
    let names: Vec<&str> = fields(head.text, &starts)?.into_iter().map(str::trim).collect();
    let is_head =
        names.iter().all(|name| !name.is_empty() && !name.starts_with(|char: char| char.is_ascii_digit() || char == '['));
    if !is_head || starts.len() > MAX {
        return None;
    }
    let mut builder = Builder::new(&block);
    let mut envelope = Record::new();
    let mut records = Vec::new();
    for (at, line) in all.iter().enumerate() {
        match fields(line.text, &starts).filter(|_| at > first) {
            Some(parts) => {
                let named = names.iter().zip(parts);
                records.push(Value::Record(
                    named.map(|(name, part)| ((*name).to_owned(), Value::Cell(cell(line.text, part, line.at)))).collect(),
                ));
                builder.cover(line.range());
            }
            None if at == first => builder.cover(line.range()),
            None => {
                if let Some(labelled) = labelled(line).filter(|labelled| !labelled.value.text.is_empty()) {
                    builder.cover(labelled.start..labelled.value.at.end);
                    envelope.push((labelled.label, Value::Cell(labelled.value)));
                }
            }
        }
    }
    (records.len() > 1).then(|| builder.records(&envelope, &records, true)).flatten()
}

/// Where the fields of a head begin, in characters.
fn starts(line: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut spaces = 2;
    for (at, char) in line.chars().enumerate() {
        if char == ' ' {
            spaces += 1;
        } else {
            if spaces > 1 {
                found.push(at);
            }
            spaces = 0;
        }
    }
    found
}

/// The parts of a line under each head; `None` where a word stands across the beginning of a column, or the line has only
/// its first.
fn fields<'a>(line: &'a str, starts: &[usize]) -> Option<Vec<&'a str>> {
    let places: Vec<usize> = line.char_indices().map(|(at, _)| at).chain([line.len()]).collect();
    let place = |char: usize| places.get(char).copied().unwrap_or(line.len());
    let mut parts = Vec::with_capacity(starts.len());
    for (at, start) in starts.iter().enumerate() {
        let (from, to) = (place(*start), starts.get(at + 1).map_or(line.len(), |next| place(*next)));
        if at > 0 && from < line.len() && !line[..from].ends_with(' ') {
            return None;
        }
        parts.push(&line[from..to]);
    }
    (!line.starts_with(' ') && parts.iter().filter(|part| !part.trim().is_empty()).count() > 1).then_some(parts)
}
