//! `csv`: RFC 4180 with LF, through the `csv` crate.

use super::out::Pieces;
use super::rows::{self, Columns, RowSet, cell_text};
use super::{Format, NotApplicable, Sink, Subject, WriteError};

#[derive(Debug)]
pub struct Csv;

fn writer<'p, 'a>(out: &'p mut Pieces<'a>) -> csv::Writer<&'p mut Pieces<'a>> {
    csv::WriterBuilder::new().terminator(csv::Terminator::Any(b'\n')).flexible(true).from_writer(out)
}

impl Format for Csv {
    fn id(&self) -> &'static str {
        "csv"
    }
    fn title(&self) -> &'static str {
        "CSV"
    }
    fn applies(&self, subject: &Subject) -> Result<(), NotApplicable> {
        rows::applies(subject)
    }
    fn write(&self, subject: &Subject, sink: &mut dyn Sink) -> Result<(), WriteError> {
        rows::write_table(subject, self.title(), sink, |rows, columns, out| {
            write_rows(rows, columns, out).map_err(|error| out.explain(error))
        })
    }
}

fn write_rows(rows: RowSet<'_>, columns: &Columns<'_>, out: &mut Pieces<'_>) -> Result<(), csv::Error> {
    let envelope = rows.envelope();
    if !envelope.is_empty() {
        let mut csv = writer(out);
        csv.write_record(envelope.iter().map(|node| node.key().unwrap_or_default().into_owned()))?;
        csv.write_record(envelope.iter().map(|node| cell_text(Some(*node)).into_owned()))?;
        csv.flush()?;
        drop(csv);
        std::io::Write::write_all(out, b"\n")?;
    }
    let mut csv = writer(out);
    csv.write_record(columns.names.iter().map(|name| name.as_bytes()))?;
    for record in rows.records() {
        let row = columns.row(record);
        csv.write_record(row.iter().map(|node| cell_text(*node).into_owned()))?;
    }
    csv.flush()?;
    Ok(())
}
