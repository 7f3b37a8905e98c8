//! Markdown tables. The largest is the data; one of two columns that are named for it (`Field`, `Value`) is a record.

use super::build::{Builder, Cell, LineAt, Record, Value, lines};
use super::label::{labelled, strip_marks, unescaped};
use super::{Certainty, Reader, TextBlock, TextData, first_block};

pub(super) static MARKDOWN_TABLE: Reader = Reader {
    id: "markdown-table",
    title: "Markdown table",
    certainty: Certainty::Layout,
    read: |blocks| first_block(blocks, read),
};

struct Table<'a> {
    head: Vec<String>,
    rows: Vec<Vec<Cell>>,
    lines: Vec<LineAt<'a>>,
}

fn read(block: TextBlock<'_>) -> Option<TextData> {
    if !block.text.contains('|') {
        return None;
    }
    let mut tables: Vec<Table<'_>> = Vec::new();
    let mut around = Record::new();
    let mut builder = Builder::new(&block);
    let mut lines = lines(block.text).peekable();
    while let Some(line) = lines.next() {
        let is_table = line.text.contains('|') && lines.peek().is_some_and(|next| is_delimiter(next.text));
        if !is_table {
            if let Some(labelled) = labelled(&line)
                .filter(|labelled| !labelled.value.text.is_empty() && !around.iter().any(|(name, _)| *name == labelled.label))
            {
                builder.cover(labelled.start..labelled.value.at.end);
                around.push((labelled.label, Value::Cell(labelled.value)));
            }
            continue;
        }
        let head = cells(&line).into_iter().map(|cell| cell.text).collect();
        let mut table = Table { head, rows: Vec::new(), lines: vec![line] };
        table.lines.extend(lines.next());
        while let Some(row) = lines.next_if(|row| row.text.contains('|')) {
            table.rows.push(cells(&row));
            table.lines.push(row);
        }
        match tables.last_mut().filter(|last| last.head == table.head) {
            Some(last) => {
                last.rows.append(&mut table.rows);
                last.lines.append(&mut table.lines);
            }
            None => tables.push(table),
        }
    }
    let table = tables.into_iter().max_by_key(|table| (table.rows.len(), std::cmp::Reverse(table.lines[0].at)))?;
    for line in &table.lines {
        builder.cover(line.range());
    }
    if is_vertical(&table.head) {
        let record = table.rows.into_iter().filter_map(|row| {
            let [name, value] = <[Cell; 2]>::try_from(row).ok()?;
            Some((name.text, Value::Cell(value)))
        });
        return builder.records(&around, vec![Value::Record(record.collect())], false);
    }
    let record = |row: Vec<Cell>| -> Value {
        let named = table.head.iter().enumerate().zip(row);
        Value::Record(
            named
                .map(|((at, name), cell)| {
                    (if name.is_empty() { format!("part{}", at + 1) } else { name.clone() }, Value::Cell(cell))
                })
                .collect(),
        )
    };
    let records: Vec<Value> = table.rows.into_iter().map(record).collect();
    builder.records(&around, records, true)
}

/// Whether the columns are names and values.
fn is_vertical(head: &[String]) -> bool {
    let [name, value] = head else { return false };
    matches!(name.to_lowercase().as_str(), "" | "field" | "property" | "key" | "name" | "attribute" | "parameter")
        && matches!(value.to_lowercase().as_str(), "" | "value")
}

fn is_delimiter(line: &str) -> bool {
    let line = line.trim();
    line.contains('-') && line.bytes().all(|byte| matches!(byte, b'|' | b'-' | b':' | b' ' | b'\t'))
}

/// The cells of a row: between bars that no backslash stands before.
fn cells(line: &LineAt<'_>) -> Vec<Cell> {
    let body = line.text.trim_end();
    let body = body.strip_suffix('|').filter(|rest| !rest.ends_with('\\')).unwrap_or(body);
    let skip = body.len() - body.trim_start().len();
    let mut start = skip + usize::from(body[skip..].starts_with('|'));
    let mut out = Vec::new();
    let mut is_escaped = false;
    let mut push = |start: usize, end: usize| {
        let part = strip_marks(body[start..end].trim());
        let at = line.at + (part.as_ptr() as usize - line.text.as_ptr() as usize);
        out.push(Cell { text: unescaped(part).into_owned(), at: at..at + part.len(), is_quoted: false });
    };
    for (at, byte) in body.bytes().enumerate().skip(start) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'|' => {
                push(start, at);
                start = at + 1;
            }
            _ => {}
        }
    }
    push(start, body.len());
    out
}
