//! Labelled values set in below a label or an item: `- **Address**:` and below it `  - **City**: Oslo`.

use super::build::{Builder, Record, Value, cell};
use super::label::labelled;
use crate::layout::Line;

/// The deepest nesting; what stands deeper belongs to the last level.
const DEEP: usize = 64;

/// The lines that follow the first and are set in below it.
pub(super) fn below(lines: &[Line<'_>]) -> usize {
    let Some(first) = lines.first() else { return 0 };
    lines[1..]
        .iter()
        .take_while(|line| !line.is_blank() && line.indent > first.indent)
        .count()
}

/// What lines say: the labelled values, and the texts of the others.
pub(super) fn members<'a>(
    lines: &[Line<'a>],
    builder: &mut Builder,
) -> (Record<'a>, Vec<Value<'a>>) {
    at_depth(lines, builder, 0)
}

fn at_depth<'a>(
    lines: &[Line<'a>],
    builder: &mut Builder,
    depth: usize,
) -> (Record<'a>, Vec<Value<'a>>) {
    let (mut record, mut texts) = (Record::new(), Vec::new());
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        builder.count_item(line);
        match labelled(line) {
            Some(labelled) if !labelled.value.text.is_empty() => {
                labelled.push_to(&mut record, builder);
            }
            Some(labelled) if depth < DEEP && below(&lines[at - 1..]) > 0 => {
                let end = at + below(&lines[at - 1..]);
                builder.label(labelled.label_at);
                record.push((
                    labelled.label.into(),
                    value(at_depth(&lines[at..end], builder, depth + 1)),
                ));
                at = end;
            }
            _ => {
                texts.push(Value::Cell(cell(line, line.item().unwrap_or(line.text))));
            }
        }
    }
    (record, texts)
}

/// Labelled values are an object, or a list where the labels count from 1 or the first comes again; texts are a list.
pub(super) fn value<'a>((mut record, texts): (Record<'a>, Vec<Value<'a>>)) -> Value<'a> {
    if record.is_empty() {
        return Value::List(texts);
    }
    if texts.is_empty() && counts(&record) {
        return Value::List(record.into_iter().map(|(_, value)| value).collect());
    }
    let first = record[0].0.clone();
    if texts.is_empty() && record[1..].iter().any(|(name, _)| *name == first) {
        let mut records: Vec<Record<'_>> = Vec::new();
        for member in record {
            match records.last_mut().filter(|_| member.0 != first) {
                Some(last) => last.push(member),
                None => records.push(vec![member]),
            }
        }
        return Value::List(records.into_iter().map(Value::Record).collect());
    }
    add_texts(&mut record, texts);
    Value::Record(record)
}

/// Whether the names are 1, 2 and so on.
fn counts(record: &Record<'_>) -> bool {
    record
        .iter()
        .enumerate()
        .all(|(at, (name, _))| *name == (at + 1).to_string())
}

/// One text is the member `text`, several are the list `items`.
pub(super) fn add_texts<'a>(record: &mut Record<'a>, mut texts: Vec<Value<'a>>) {
    match texts.len() {
        0 => {}
        1 => record.extend(texts.pop().map(|text| ("text".into(), text))),
        _ => record.push(("items".into(), Value::List(texts))),
    }
}
