//! Markdown tables. The largest is the data; one of two columns that are named for it (`Field`, `Value`) is a record, and
//! several of those are a record each where their first name comes again.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use super::build::{Builder, Cell, Record, Value, cell, repeated};
use super::label::{filled, unescaped};
use super::{Certainty, Reader, TextBlock, TextData};
use crate::layout::{Line, is_name_head, is_value_head, lines, strip_marks};

pub(super) static MARKDOWN_TABLE: Reader =
    table("markdown-table", "Markdown table", |block| read(block, 0));

/// Further tables of a text, by size; read only where the user asks for one.
pub(super) static OTHER_TABLES: [Reader; 3] = [
    table("markdown-table-2", "Second largest table", |block| {
        read(block, 1)
    }),
    table("markdown-table-3", "Third largest table", |block| {
        read(block, 2)
    }),
    table("markdown-table-4", "Fourth largest table", |block| {
        read(block, 3)
    }),
];

const fn table(
    id: &'static str,
    title: &'static str,
    read: fn(TextBlock<'_>) -> Option<TextData>,
) -> Reader {
    Reader::new(id, title, Certainty::Layout, read)
}

struct Table<'a> {
    /// The heading before it, if no other table stands between them.
    above: Option<Line<'a>>,
    head: Vec<Cell<'a>>,
    rows: Vec<Vec<Cell<'a>>>,
    range: Range<usize>,
}

impl Table<'_> {
    fn has_head_of(&self, other: &Table<'_>) -> bool {
        self.head
            .iter()
            .map(|cell| &cell.text)
            .eq(other.head.iter().map(|cell| &cell.text))
    }
}

/// Reads the largest table but for so many larger ones.
fn read(block: TextBlock<'_>, larger: usize) -> Option<TextData> {
    if !block.text.contains('|') {
        return None;
    }
    // Those with one head that follow each other are one.
    let mut runs: Vec<Vec<Table<'_>>> = Vec::new();
    let (mut around, mut labels) = (Record::new(), HashSet::new());
    let mut above = None;
    let mut builder = Builder::new(&block);
    let mut lines = lines(block.text).peekable();
    while let Some(line) = lines.next() {
        let is_table = line.text.contains('|') && lines.peek().is_some_and(Line::is_table_rule);
        if !is_table {
            if line.title().is_some() {
                above = Some(line);
            }
            if let Some(labelled) = filled(&line).filter(|filled| labels.insert(filled.label)) {
                labelled.push_to(&mut around, &mut builder);
            }
            continue;
        }
        let mut table = Table {
            above: above.take(),
            head: cells(&line),
            rows: Vec::new(),
            range: line.range(),
        };
        table.range.end = lines
            .next()
            .map_or(table.range.end, |delimiter| delimiter.range().end);
        while let Some(row) = lines.next_if(|row| row.text.contains('|')) {
            table.rows.push(cells(&row));
            table.range.end = row.range().end;
        }
        match runs.last_mut().filter(|run| run[0].has_head_of(&table)) {
            Some(run) => run.push(table),
            None => runs.push(vec![table]),
        }
    }
    let rows = |run: &Vec<Table<'_>>| run.iter().map(|table| table.rows.len()).sum::<usize>();
    let mut by_size: Vec<usize> = (0..runs.len()).collect();
    by_size.sort_by_key(|at| std::cmp::Reverse(rows(&runs[*at])));
    let run = runs.remove(*by_size.get(larger)?);
    for other in runs.iter().flatten() {
        let head = other.head.iter().map(|cell| cell.text.clone().into_owned());
        builder.add_other(head.collect(), other.rows.len(), other.range.clone());
    }
    // The head of a column that no row has names nothing.
    let filled = run
        .iter()
        .flat_map(|table| &table.rows)
        .map(Vec::len)
        .max()
        .unwrap_or_default();
    for cell in run.iter().flat_map(|table| table.head.iter().take(filled)) {
        builder.label(cell.at.clone());
    }
    let head: Vec<Cow<'_, str>> = run[0].head.iter().map(|cell| cell.text.clone()).collect();
    if matches!(&head[..], [name, value] if is_name_head(name) && is_value_head(value)) {
        let (envelope, records) = vertical(run, &mut builder);
        around.extend(envelope);
        let is_list = records.len() > 1;
        return builder.records(&around, records.into_iter().map(Value::Record), is_list);
    }
    let record = |row| {
        let named = head.iter().enumerate().zip(row);
        Value::Record(
            named
                .map(|((at, name), cell)| {
                    (
                        if name.is_empty() {
                            format!("part{}", at + 1).into()
                        } else {
                            name.clone()
                        },
                        Value::Cell(cell),
                    )
                })
                .collect(),
        )
    };
    let records: Vec<Value> = run
        .into_iter()
        .flat_map(|table| table.rows)
        .map(record)
        .collect();
    builder.records(&around, records, true)
}

/// The records of tables of names and values, each with the heading above it if all have one, and what stands around them.
fn vertical<'a>(run: Vec<Table<'a>>, builder: &mut Builder) -> (Record<'a>, Vec<Record<'a>>) {
    for row in run
        .iter()
        .flat_map(|table| &table.rows)
        .filter(|row| row.len() >= 2)
    {
        builder.label(row[0].at.clone());
    }
    let members = |table: Table<'a>| {
        let member = |row: Vec<Cell<'a>>| {
            let mut cells = row.into_iter();
            Some((cells.next()?.text, Value::Cell(cells.next()?)))
        };
        table.rows.into_iter().filter_map(member)
    };
    let (records, around) = repeated(run, |table| Some(&table.rows.first()?.first()?.text));
    let around: Record<'_> = around.into_iter().flat_map(members).collect();
    if records.is_empty() {
        return (Record::new(), vec![around]);
    }
    let is_titled = records.iter().all(|table| table.above.is_some());
    let record = |table: Table<'a>| {
        let above = table.above.filter(|_| is_titled);
        above
            .and_then(|line| Some(("title".into(), Value::Cell(cell(&line, line.title()?)))))
            .into_iter()
            .chain(members(table))
            .collect()
    };
    (around, records.into_iter().map(record).collect())
}

/// The cells of a row.
fn cells<'a>(line: &Line<'a>) -> Vec<Cell<'a>> {
    let cell = |part: &'a str| {
        let part = strip_marks(part.trim());
        Cell::new(unescaped(part), line.place_of(part))
    };
    line.cells().map(cell).collect()
}
