//! `csv`: RFC 4180 with LF, through the `csv` crate.

use super::out::Pieces;
use super::rows::{RowSet, cell_text};
use super::{Format, NotApplicable, Sink, Subject, WriteError, payload_of};

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
        RowSet::of(payload_of(subject)?.root()).map(|_| ())
    }
    fn write(&self, subject: &Subject, sink: &mut dyn Sink) -> Result<(), WriteError> {
        let Some(payload) = &subject.payload else { return Ok(()) };
        let rows = RowSet::of(payload.root()).map_err(|why| WriteError::Refused(why.0))?;
        let columns = rows.columns(self.title())?;
        let mut out = Pieces::new(sink);
        if let Err(error) = write_rows(rows, &columns, &mut out) {
            return Err(out.explain(error));
        }
        Ok(out.finish()?)
    }
}

fn write_rows(rows: RowSet<'_>, columns: &super::rows::Columns<'_>, out: &mut Pieces<'_>) -> Result<(), csv::Error> {
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
