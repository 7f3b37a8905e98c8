//! `csv`: RFC 4180 with LF, through the `csv` crate.

use std::borrow::Cow;

use super::decode::{Builder, DecodeError, Decoded, Untyped, unreadable};
use super::out::Pieces;
use super::rows::{self, Columns, RowSet, cell_text};
use super::{Format, FormatName, NotApplicable, ParsedCapture, Sink, WriteError};
use crate::json::Kind;

#[derive(Debug)]
pub struct Csv;

fn writer<'p, 'a>(out: &'p mut Pieces<'a>) -> csv::Writer<&'p mut Pieces<'a>> {
    csv::WriterBuilder::default()
        .terminator(csv::Terminator::Any(b'\n'))
        .flexible(true)
        .from_writer(out)
}

impl Format for Csv {
    fn name(&self) -> FormatName {
        FormatName {
            id: "csv",
            title: "CSV",
            short_title: "CSV",
        }
    }
    fn extension(&self, _: &ParsedCapture) -> &'static str {
        "csv"
    }
    fn applies(&self, subject: &ParsedCapture) -> Result<(), NotApplicable> {
        rows::applies(subject)
    }
    fn write(&self, subject: &ParsedCapture, sink: &mut dyn Sink) -> Result<(), WriteError> {
        rows::write_table(subject, self.title(), sink, |rows, columns, out| {
            write_rows(rows, columns, out).map_err(|error| WriteError(error.to_string()))
        })
    }
    fn decode(&self, text: &str) -> Option<Result<Decoded, DecodeError>> {
        Some(decode(text))
    }
}

fn write_rows(
    rows: RowSet<'_>,
    columns: &Columns<'_>,
    out: &mut Pieces<'_>,
) -> Result<(), csv::Error> {
    let envelope = rows.envelope();
    if !envelope.is_empty() {
        let mut csv = writer(out);
        csv.write_record(
            envelope
                .iter()
                .map(|node| node.key().unwrap_or_default().into_owned()),
        )?;
        csv.write_record(
            envelope
                .iter()
                .map(|node| cell_text(Some(*node)).into_owned()),
        )?;
        csv.flush()?;
        drop(csv);
        std::io::Write::write_all(out, b"\n")?;
    }
    push_table(
        out,
        columns.names.iter().map(Cow::clone),
        columns.cells(rows),
    )
}

/// Writes a head and its rows.
pub(super) fn push_table<'c>(
    out: &mut Pieces<'_>,
    names: impl Iterator<Item = Cow<'c, str>>,
    rows: impl Iterator<Item = Vec<Cow<'c, str>>>,
) -> Result<(), csv::Error> {
    let mut csv = writer(out);
    csv.write_record(names.map(Cow::into_owned))?;
    for row in rows {
        csv.write_record(row.iter().map(|cell| cell.as_bytes()))?;
    }
    csv.flush()?;
    Ok(())
}

fn decode(text: &str) -> Result<Decoded, DecodeError> {
    let end = envelope_end(text);
    let (envelope, table) = end.map_or(("", text), |end| (&text[..end], &text[end + 1..]));
    let mut parts = records(envelope).into_records();
    let mut part = || {
        parts
            .next()
            .transpose()
            .map(Option::unwrap_or_default)
            .map_err(|error| unread(&error))
    };
    let (keys, values) = (part()?, part()?);
    if keys.len() != values.len() {
        return Err(unreadable(2, "the envelope has not one value for each key"));
    }
    let mut builder = Builder::default();
    let pairs: Vec<_> = keys
        .iter()
        .zip(&values)
        .map(|(key, value)| (key.into(), value.into()))
        .collect();
    builder.open_rows(pairs.into_iter(), Untyped::CELL);
    let mut rows = records(table);
    let mut columns = csv::StringRecord::new();
    rows.read_record(&mut columns)
        .map_err(|error| unread(&error))?;
    let mut row = csv::StringRecord::new();
    while rows.read_record(&mut row).map_err(|error| unread(&error))? {
        if row.len() != columns.len() {
            let line = row.position().map_or(0, csv::Position::line);
            return Err(DecodeError(format!(
                "line {line}: {} cells under {} columns",
                row.len(),
                columns.len()
            )));
        }
        builder.open("", Kind::Object);
        for (key, cell) in columns.iter().zip(&row) {
            builder.untyped(key, cell, Untyped::CELL);
        }
        builder.close();
    }
    Ok(builder.finish_rows())
}

fn records(text: &str) -> csv::Reader<&[u8]> {
    let mut builder = csv::ReaderBuilder::default();
    builder
        .has_headers(false)
        .flexible(true)
        .terminator(csv::Terminator::Any(b'\n'));
    builder.from_reader(text.as_bytes())
}

fn unread(error: &csv::Error) -> DecodeError {
    DecodeError(error.to_string())
}

/// Where the first empty line outside quotes begins: it parts the envelope from the table.
fn envelope_end(text: &str) -> Option<usize> {
    let mut is_quoted = false;
    let mut is_line_empty = true;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\n' if !is_quoted && is_line_empty => return Some(at),
            _ => {}
        }
        is_line_empty = byte == b'\n' && !is_quoted;
    }
    None
}
