//! `markdown-table`: the envelope as a list, the records as one GFM table.

use std::borrow::Cow;

use super::decode::{Builder, DecodeError, Decoded, Untyped, unreadable};
use super::out::Pieces;
use super::rows;
use super::{Format, FormatName, NotApplicable, ParsedCapture, Sink, Syntax, WriteError, markdown};
use crate::json::Kind;

#[derive(Debug)]
pub(crate) struct MarkdownTable;

impl Format for MarkdownTable {
    fn name(&self) -> FormatName {
        FormatName {
            id: "markdown-table",
            title: "Markdown table",
            short_title: "Table",
        }
    }
    fn syntax(&self, _subject: &ParsedCapture) -> Syntax {
        Syntax::Markdown
    }
    fn applies(&self, subject: &ParsedCapture) -> Result<(), NotApplicable> {
        rows::applies(subject)
    }
    fn write(&self, subject: &ParsedCapture, sink: &mut dyn Sink) -> Result<(), WriteError> {
        rows::write_table(subject, self.title(), sink, |rows, columns, out| {
            markdown::push_envelope(rows, out);
            push_table(
                out,
                columns.names.iter().map(Cow::clone),
                columns.cells(rows),
            );
            Ok(())
        })
    }
    fn decode(&self, text: &str) -> Option<Result<Decoded, DecodeError>> {
        Some(decode(text))
    }
}

/// Writes a head and its rows.
pub(super) fn push_table<'c>(
    out: &mut Pieces<'_>,
    names: impl Iterator<Item = Cow<'c, str>>,
    rows: impl Iterator<Item = Vec<Cow<'c, str>>>,
) {
    let head: Vec<_> = names.collect();
    push_row(out, &head);
    out.push(&format!("|{}\n", "---|".repeat(head.len())));
    for row in rows {
        push_row(out, &row);
    }
}

fn push_row(out: &mut Pieces<'_>, cells: &[Cow<'_, str>]) {
    out.push("|");
    for cell in cells {
        out.push(" ");
        out.push(&markdown::escape(cell));
        out.push(" |");
    }
    out.push("\n")
}

fn decode(text: &str) -> Result<Decoded, DecodeError> {
    let mut lines = markdown::lines(text).peekable();
    let envelope = markdown::read_envelope(&mut lines);
    let mut builder = Builder::default();
    builder.open_rows(envelope.into_iter(), Untyped::CELL);
    let header = lines
        .next()
        .map(|(_, line)| cells(line))
        .unwrap_or_default();
    match lines.next() {
        Some((_, rule)) if rule == format!("|{}", "---|".repeat(header.len())) => {}
        _ => return Err(DecodeError("no rule below the head of the table".into())),
    }
    for (number, line) in lines {
        let row = cells(line);
        if row.len() != header.len() {
            return Err(unreadable(
                number,
                &format!("{} cells under {} columns", row.len(), header.len()),
            ));
        }
        builder.open("", Kind::Object);
        for (key, cell) in header.iter().zip(row) {
            builder.untyped(key, &cell, Untyped::CELL);
        }
        builder.close();
    }
    Ok(builder.finish_rows())
}

/// The cells of a line: a pipe after a backslash parts none. One space at either end belongs to the table.
fn cells(line: &str) -> Vec<Cow<'_, str>> {
    let mut cells = Vec::new();
    let Some(inside) = line.strip_prefix('|') else {
        return cells;
    };
    let mut start = 0;
    let mut is_escaped = false;
    for (at, byte) in inside.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'|' => {
                let cell = &inside[start..at];
                let cell = cell.strip_prefix(' ').unwrap_or(cell);
                cells.push(markdown::unescape(cell.strip_suffix(' ').unwrap_or(cell)));
                start = at + 1;
            }
            _ => {}
        }
    }
    cells
}
