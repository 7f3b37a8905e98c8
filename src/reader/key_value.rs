//! Blocks of labels and values, one a line. A block ends at an empty line, a rule, or where its first label comes again.

use super::build::{Builder, Record, Value, lines};
use super::label::{heading, is_rule, labelled};
use super::{Certainty, Reader, TextBlock, TextData};

pub(super) static KEY_VALUE: Reader = Reader {
    id: "key-value",
    title: "key: value",
    certainty: Certainty::Layout,
    read: |blocks| super::first_block(blocks, read),
};

fn read(block: TextBlock<'_>) -> Option<TextData> {
    if !block.text.contains([':', '=', '→']) {
        return None;
    }
    let mut builder = Builder::new(&block);
    let mut blocks: Vec<Record> = Vec::new();
    let mut current = Record::new();
    let mut take = |current: &mut Record| {
        if !current.is_empty() {
            blocks.push(std::mem::take(current));
        }
    };
    let mut lines = lines(block.text).peekable();
    while let Some(line) = lines.next() {
        if line.is_blank() || is_rule(line.text) {
            take(&mut current);
            continue;
        }
        if heading(line.text).is_some() || line.text.trim_start().starts_with("```") {
            continue;
        }
        let Some(labelled) = labelled(&line) else { continue };
        if labelled.value.text.is_empty() {
            // Lines set in below a label are a structure that is not of this layout.
            if lines.peek().is_some_and(|next| !next.is_blank() && next.indent() > line.indent()) {
                return None;
            }
            continue;
        }
        if current.first().is_some_and(|(first, _)| *first == labelled.label) {
            take(&mut current);
        }
        builder.cover(line.range());
        current.push((labelled.label, Value::Cell(labelled.value)));
    }
    take(&mut current);
    let (envelope, records) = part(blocks);
    let records: Vec<Value> = records.into_iter().map(Value::Record).collect();
    builder.records(&envelope, &records, false)
}

/// Blocks that share no label with another are not records but stand around them.
fn part(blocks: Vec<Record>) -> (Record, Vec<Record>) {
    let firsts: std::collections::HashMap<String, usize> =
        blocks.iter().filter_map(|block| block.first()).fold(std::collections::HashMap::new(), |mut counts, (name, _)| {
            *counts.entry(name.clone()).or_default() += 1;
            counts
        });
    if firsts.values().all(|count| *count == 1) {
        // Nothing repeats: one record, in parts.
        return (Record::new(), if blocks.is_empty() { blocks } else { vec![blocks.into_iter().flatten().collect()] });
    }
    let is_record = |block: &Record| block.first().is_some_and(|(name, _)| firsts[name] > 1);
    let (records, around): (Vec<_>, Vec<_>) = blocks.into_iter().partition(is_record);
    (around.into_iter().flatten().collect(), records)
}
