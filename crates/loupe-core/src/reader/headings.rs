//! Records under headings: each heading with labelled values below it is one, the heading its `title`.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::build::{Builder, Record, Value, cell};
use super::label::{labelled, take_continuation};
use super::{Certainty, Reader, TextBlock, TextData, nested};
use crate::layout::{Line, filled_lines};

pub(super) static HEADINGS: Reader = Reader::new("headings", "Headings", Certainty::Layout, read);

fn read<'a>(block: TextBlock<'a>) -> Option<TextData> {
    if !block.text.contains('#') && !block.text.contains("**") {
        return None;
    }
    let mut builder = Builder::new(&block);
    let mut envelope = Record::new();
    let mut records: Vec<Record> = Vec::new();
    let mut open: Option<Record> = None;
    // Of the open record.
    let mut labels: HashSet<&str> = HashSet::new();
    let mut close = |open: &mut Option<Record<'a>>| {
        records.extend(open.take().filter(|record| record.len() > 1))
    };
    let all: Vec<Line<'_>> = filled_lines(block.text).collect();
    let mut at = 0;
    while let Some(line) = all.get(at) {
        at += 1;
        if let Some(title) = line.title() {
            close(&mut open);
            labels.clear();
            open = Some(vec![("title".into(), Value::Cell(cell(line, title)))]);
        } else if let Some(mut labelled) = labelled(line) {
            let first = open
                .as_ref()
                .map_or(envelope.first(), |record| record.get(1))
                .map(|(name, _)| &**name);
            let more = take_continuation(&mut labelled, first, block.text, line, &all[at..]);
            let inner = if labelled.value.text.is_empty() {
                nested::below(&all[at - 1..])
            } else {
                0
            };
            let value = match inner {
                0 if labelled.value.text.is_empty() => continue,
                0 => Value::Cell(labelled.value.clone()),
                // Lines set in below a label without marks are another layout's, such as YAML's.
                _ if !labelled.is_markdown => return None,
                _ => nested::value(nested::members(&all[at..at + inner], &mut builder)),
            };
            builder.count_item(line);
            builder.label(labelled.label_at.clone());
            at += inner + more;
            let record = open.as_mut().unwrap_or(&mut envelope);
            // A label that comes again begins a record of another layout.
            if !labels.insert(labelled.label) {
                return None;
            }
            // As does an item with labels set in below it without marks.
            let is_member = |next: &Line<'_>| {
                next.indent > line.indent
                    && next.item().is_none()
                    && self::labelled(next).is_some_and(|next| !next.is_markdown)
            };
            if !labelled.is_markdown && line.item().is_some() && all.get(at).is_some_and(is_member)
            {
                return None;
            }
            record.push((labelled.label.into(), value));
        }
    }
    close(&mut open);
    around(&mut records, &mut envelope);
    // Headings that count from 1 name nothing.
    let is_count = |(at, record): (usize, &Record)| matches!(&record[0].1, Value::Cell(title) if title.text == (at + 1).to_string());
    if records.iter().enumerate().all(is_count) {
        for record in &mut records {
            if let (_, Value::Cell(count)) = record.remove(0) {
                builder.mark_layout(count.at);
            }
        }
    }
    let records: Vec<Value> = records.into_iter().map(Value::Record).collect();
    builder.records(&envelope, records, true)
}

/// What stands before or after the records with labels of its own is the envelope.
fn around<'a>(records: &mut Vec<Record<'a>>, envelope: &mut Record<'a>) {
    let mut counts: HashMap<Cow<'_, str>, usize> = HashMap::new();
    records
        .iter()
        .for_each(|record| *counts.entry(record[1].0.clone()).or_default() += 1);
    let is_alike = |record: &Record<'_>| counts[&record[1].0] > 1;
    let (Some(first), Some(last)) = (
        records.iter().position(is_alike),
        records.iter().rposition(is_alike),
    ) else {
        return;
    };
    let after = records.split_off(last + 1);
    let before = records.drain(..first);
    envelope.extend(
        before
            .chain(after)
            .flat_map(|record| record.into_iter().skip(1)),
    );
}
