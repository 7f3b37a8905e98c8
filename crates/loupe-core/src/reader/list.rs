//! Lists whose items are records: with labelled values below them, with a bold name, or in parts between the same marks;
//! and task lists.

use super::build::{Builder, Cell, Record, Value, cell};
use super::label::{filled, labelled};
use super::{Certainty, Reader, TextBlock, TextData, nested, yaml};
use crate::layout::{Line, filled_lines, strip_marks};

pub(super) static LIST: Reader = Reader::new("list", "List", Certainty::Layout, read_list);
pub(super) static TASKS: Reader = Reader::new("tasks", "Task list", Certainty::Layout, read_tasks);

/// Marks between the parts of an item.
const MARKS: [&str; 5] = [" | ", " — ", " – ", " - ", ", "];

/// An item with the lines set in below it.
struct Item<'a> {
    first: Line<'a>,
    body: &'a str,
    below: Vec<Line<'a>>,
}

impl<'a> Item<'a> {
    fn body_cell(&self, part: &'a str) -> Cell<'a> {
        cell(&self.first, part)
    }
}

/// The items of the outermost lists, and the labelled lines that stand around them.
fn items(text: &str) -> (Vec<Item<'_>>, Vec<Line<'_>>) {
    let (mut found, mut around): (Vec<Item<'_>>, Vec<Line<'_>>) = (Vec::new(), Vec::new());
    let mut indent = None;
    for line in filled_lines(text) {
        let own = line.indent;
        match (line.item(), indent) {
            (Some(body), None) => {
                indent = Some(own);
                found.push(Item {
                    first: line,
                    body,
                    below: Vec::new(),
                });
            }
            (Some(body), Some(outer)) if own <= outer => {
                found.push(Item {
                    first: line,
                    body,
                    below: Vec::new(),
                });
            }
            (_, Some(outer)) if own > outer => found
                .last_mut()
                .into_iter()
                .for_each(|item| item.below.push(line)),
            _ => around.push(line),
        }
    }
    (found, around)
}

fn envelope<'a>(around: &[Line<'a>], builder: &mut Builder) -> Record<'a> {
    let mut record = Record::new();
    for labelled in around.iter().filter_map(filled) {
        labelled.push_to(&mut record, builder);
    }
    record
}

/// How much of a text is looked at to tell YAML, in bytes.
const LOOK: usize = 16 << 10;

/// Whether a list is YAML: its first item is `- id: 1` with the other members set in below it, and the items after it are
/// YAML, too.
fn is_yaml(block: TextBlock<'_>) -> bool {
    let mut lines = filled_lines(block.text).skip_while(|line| line.text.starts_with('#'));
    let (Some(first), Some(second)) = (lines.next(), lines.next()) else {
        return false;
    };
    let is_mapping = first.text.trim_start().starts_with("- ")
        && second.indent > first.indent
        && labelled(&first).is_some_and(|labelled| !labelled.is_markdown);
    let is_item =
        |line: &Line<'_>| line.at > LOOK && line.indent == first.indent && line.item().is_some();
    is_mapping && {
        let end = lines.find(is_item).map_or(block.text.len(), |line| line.at);
        yaml::read(block.part(0..end)).is_some()
    }
}

fn read_list(block: TextBlock<'_>) -> Option<TextData> {
    if is_yaml(block) {
        return None;
    }
    let (items, around) = items(block.text);
    if items.len() < 2 || items.iter().any(|item| task(item.body).is_some()) {
        return None;
    }
    // Marks that differ say something: `* main` among `+ work` is the branch that is checked out.
    let bullet = |item: &Item<'_>| {
        item.first
            .text
            .trim_start()
            .chars()
            .next()
            .filter(|char| !char.is_ascii_digit())
    };
    if items.iter().any(|item| bullet(item) != bullet(&items[0])) {
        return None;
    }
    let mut builder = Builder::new(&block);
    let mark = shared_mark(&items);
    let mut records = Vec::with_capacity(items.len());
    for item in &items {
        let mut record = Record::new();
        builder.count_item(&item.first);
        let (title, rest) = titled(item.body);
        if let Some(title) = title {
            record.push(("title".into(), Value::Cell(item.body_cell(title))));
        }
        match (filled(&item.first).filter(|_| title.is_none()), mark) {
            (Some(labelled), None) => {
                labelled.push_to(&mut record, &mut builder);
            }
            (_, Some(mark)) => {
                for (at, part) in rest.split(mark).enumerate() {
                    record.push((
                        format!("part{}", at + 1).into(),
                        Value::Cell(item.body_cell(strip_marks(part.trim()))),
                    ));
                }
            }
            (None, None) if !rest.trim().is_empty() => {
                let name = if item.below.is_empty() || title.is_some() {
                    "part1"
                } else {
                    "title"
                };
                record.push((name.into(), Value::Cell(item.body_cell(rest.trim()))));
            }
            (None, None) => {}
        }
        below(item, &mut record, &mut builder)?;
        records.push(record);
    }
    // Labels and values alone are one record, which another reader reads.
    let is_labelled = |record: &Record<'_>| matches!(&record[..], [(name, _)] if !matches!(&**name, "title" | "part1" | "text" | "items"));
    let labelled = records.iter().filter(|record| is_labelled(record));
    let names: std::collections::HashSet<&str> =
        labelled.clone().map(|record| &*record[0].0).collect();
    let count = labelled.count();
    if count == records.len() || (count > 1 && names.len() == count) {
        return None;
    }
    // Items that are one text each are a list of texts.
    let is_plain = records
        .iter()
        .all(|record| matches!(&record[..], [(name, _)] if name == "part1"));
    let records = records.into_iter().map(|mut record| match is_plain {
        true => record.remove(0).1,
        false => Value::Record(record),
    });
    let records: Vec<Value> = records.collect();
    let envelope = envelope(&around, &mut builder);
    builder.records(&envelope, records, true)
}

/// Labelled lines below an item are its members, other lines its `text`; items below it are a list.
fn below<'a>(item: &Item<'a>, record: &mut Record<'a>, builder: &mut Builder) -> Option<()> {
    let (members, texts) = nested::members(&item.below, builder);
    record.extend(members);
    nested::add_texts(record, texts);
    (!record.is_empty()).then_some(())
}

/// The mark that parts every item into as many parts.
fn shared_mark(items: &[Item<'_>]) -> Option<&'static str> {
    MARKS.into_iter().find(|mark| {
        let parts = |item: &Item<'_>| titled(item.body).1.split(mark).count();
        let count = parts(&items[0]);
        count > 1 && items.iter().all(|item| parts(item) == count)
    })
}

/// The bold text that begins an item, and what follows it.
fn titled(body: &str) -> (Option<&str>, &str) {
    let Some((title, rest)) = body
        .strip_prefix("**")
        .and_then(|rest| rest.split_once("**"))
    else {
        return (None, body);
    };
    if title.is_empty() || title.ends_with(':') || rest.starts_with(':') {
        return (None, body);
    }
    (
        Some(title),
        rest.trim_start_matches([' ', ':', '-', '–', '—', '|', ',']),
    )
}

/// What the text of a task begins with, and whether that says that it is done.
const TASKS_BEGIN: [(&str, bool); 3] = [("[ ] ", false), ("[x] ", true), ("[X] ", true)];

/// Whether a task is done, and its words.
fn task(body: &str) -> Option<(bool, &str)> {
    TASKS_BEGIN
        .into_iter()
        .find_map(|(mark, done)| Some((done, body.strip_prefix(mark)?)))
}

fn read_tasks(block: TextBlock<'_>) -> Option<TextData> {
    if !TASKS_BEGIN
        .iter()
        .any(|(mark, _)| block.text.contains(mark))
    {
        return None;
    }
    let (items, around) = items(block.text);
    let mut builder = Builder::new(&block);
    let envelope = envelope(&around, &mut builder);
    let mut tasks = Vec::new();
    for item in &items {
        let Some((done, words)) = task(item.body) else {
            continue;
        };
        let mark = item.body_cell(&item.body[..3]);
        let mut record = vec![
            (
                "done".into(),
                Value::Cell(Cell::new(if done { "true" } else { "false" }, mark.at)),
            ),
            ("part1".into(), Value::Cell(item.body_cell(words))),
        ];
        builder.count_item(&item.first);
        below(item, &mut record, &mut builder)?;
        tasks.push(Value::Record(record));
    }
    builder.records(&envelope, tasks, true)
}
