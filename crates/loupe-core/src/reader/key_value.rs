//! Blocks of labels and values, one a line. A block ends at an empty line, a rule, or where its first label comes again.
//! Blocks that share a label are records each; blocks that share none are one record in parts.
//! Also lines that are each a record, with several labels: `PID: 1, Command: init, CPU: 0.0`.

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};

use super::build::{Builder, Record, Value, first_of};
use super::label::{LabelledValue, filled, labelled, take_continuation};
use super::{Certainty, Reader, TextBlock, TextData, begins_as_json, nested};
use crate::layout::{Line, filled_lines, lines};

pub(super) static KEY_VALUE: Reader =
    Reader::new("key-value", "key: value", Certainty::Layout, read);

fn read<'a>(block: TextBlock<'a>) -> Option<TextData> {
    // JSON that was cut short has lines like these, and is none of them.
    if begins_as_json(block.text) || !block.text.contains([':', '=', '→']) {
        return None;
    }
    if let Some(data) = read_lines(block) {
        return Some(data);
    }
    let mut builder = Builder::new(&block);
    let mut blocks: Vec<Record<'_>> = Vec::new();
    let mut current = Record::new();
    // Whether no space stands between any label and its value.
    let mut is_tight = true;
    let mut labels: HashSet<&str> = HashSet::new();
    // Whether a heading or another line without a label stands before the next label.
    let mut is_apart = false;
    let mut take = |current: &mut Record<'a>, labels: &mut HashSet<&str>| {
        labels.clear();
        if !current.is_empty() {
            // A text may have as many as lines.
            current.shrink_to_fit();
            blocks.push(std::mem::take(current));
        }
    };
    let all: Vec<Line<'_>> = lines(block.text).collect();
    let mut at = 0;
    while let Some(line) = all.get(at) {
        at += 1;
        if line.is_blank() || line.rule().is_some() {
            take(&mut current, &mut labels);
            continue;
        }
        let Some(mut labelled) = labelled(line) else {
            is_apart = true;
            continue;
        };
        let first = current.first().map(|(name, _)| &**name);
        let more = take_continuation(&mut labelled, first, block.text, line, &all[at..]);
        let mut value = Value::Cell(labelled.value.clone());
        builder.count_item(line);
        if labelled.value.text.is_empty() {
            let inner = nested::below(&all[at - 1..]);
            // Lines set in below a label without marks are another layout's, such as YAML's.
            match inner {
                0 => continue,
                _ if !labelled.is_markdown => return None,
                _ => value = nested::value(nested::members(&all[at..at + inner], &mut builder)),
            }
            at += inner;
        }
        // A record of a list, with its other members set in below its first.
        if line.item().is_some()
            && all.get(at).is_some_and(|next| {
                next.indent > line.indent && !next.is_blank() && next.item().is_none()
            })
        {
            return None;
        }
        let is_first = current
            .first()
            .is_some_and(|(first, _)| *first == labelled.label);
        if is_first || (is_apart && labels.contains(labelled.label)) {
            take(&mut current, &mut labels);
        }
        builder.label(labelled.label_at.clone());
        at += more;
        is_tight &= labelled.value.at.start == labelled.label_at.end + 1;
        is_apart = false;
        labels.insert(labelled.label);
        current.push((labelled.label.into(), value));
    }
    take(&mut current, &mut labels);
    let (envelope, records) = part(blocks);
    // `id=1 GET /a`: lines that a field leads.
    if is_tight && records.len() > 1 && records.iter().all(|record| record.len() == 1) {
        return None;
    }
    let records: Vec<Value> = records
        .into_iter()
        .map(|record| nested::value((record, Vec::new())))
        .collect();
    builder.records(&envelope, records, false)
}

/// What parts the labelled values of a line.
const BETWEEN: [&str; 5] = [", ", " | ", "; ", "\t", " · "];
/// The fewest lines that are records each.
const FEWEST: usize = 2;

/// Lines of several labels, where most lines have the labels of the first.
fn read_lines<'a>(block: TextBlock<'a>) -> Option<TextData> {
    if !BETWEEN.iter().any(|mark| block.text.contains(mark)) {
        return None;
    }
    let all: Vec<Line<'_>> = filled_lines(block.text).collect();
    let own = |line: &Line<'a>| -> Vec<LabelledValue<'a>> {
        parts(line).iter().filter_map(labelled).collect()
    };
    let firsts: Vec<&str> = all
        .iter()
        .find_map(|line| Some(own(line)).filter(|labels| labels.len() > 1))?
        .into_iter()
        .map(|own| own.label)
        .collect();
    let mut builder = Builder::new(&block);
    let (mut envelope, mut records) = (Record::new(), Vec::new());
    for line in &all {
        // A part without one of the labels belongs to the value before it.
        let mut fields: Vec<Line<'_>> = Vec::new();
        for part in parts(line) {
            let is_field = labelled(&part).is_some_and(|own| firsts.contains(&own.label));
            match fields.last_mut() {
                Some(last) if !is_field => {
                    last.text = &line.text[last.at - line.at..part.at - line.at + part.text.len()]
                }
                _ => fields.push(part),
            }
        }
        let values: Vec<LabelledValue<'_>> = fields.iter().filter_map(filled).collect();
        if values.len() > 1 && values[0].label == firsts[0] {
            builder.count_item(line);
            let mut record = Record::new();
            values
                .into_iter()
                .for_each(|own| own.push_to(&mut record, &mut builder));
            records.push(Value::Record(record));
        } else if let Some(own) = filled(line) {
            builder.count_item(line);
            own.push_to(&mut envelope, &mut builder);
        }
    }
    let is_enough = records.len() >= FEWEST && records.len() * 2 > all.len();
    is_enough
        .then(|| builder.records(&envelope, records, true))
        .flatten()
}

/// The parts of a line between commas and bars, each with its place.
fn parts<'a>(line: &Line<'a>) -> Vec<Line<'a>> {
    let mut found = Vec::new();
    let mut start = 0;
    while let Some((length, mark)) = first_of(&line.text[start..], &BETWEEN) {
        found.push(Line::new(
            &line.text[start..start + length],
            line.at + start,
        ));
        start += length + BETWEEN[mark].len();
    }
    found.push(Line::new(&line.text[start..], line.at + start));
    found
}

/// Blocks that share a label with another are records, the others stand around them.
fn part(blocks: Vec<Record<'_>>) -> (Record<'_>, Vec<Record<'_>>) {
    // By label: a block that has it, and whether another has it, too.
    let mut seen: HashMap<&str, (usize, bool)> = HashMap::new();
    for (at, (name, _)) in blocks
        .iter()
        .enumerate()
        .flat_map(|(at, block)| block.iter().map(move |member| (at, member)))
    {
        let (first, is_shared) = seen.entry(name).or_insert((at, false));
        *is_shared |= *first != at;
    }
    let is_record: Vec<bool> = blocks
        .iter()
        .map(|block| block.iter().any(|(name, _)| seen[&**name].1))
        .collect();
    let mut is_record = is_record.into_iter();
    let (records, around): (Vec<Record<'_>>, Vec<Record<'_>>) = blocks
        .into_iter()
        .partition(|_| is_record.next().unwrap_or_default());
    let around: Record<'_> = around.into_iter().flatten().collect();
    match records.is_empty() {
        // Nothing repeats: one record, in parts.
        true if around.is_empty() => (around, records),
        true => (Record::new(), vec![around]),
        false => (around, records),
    }
}
