//! `markdown-table`: the envelope as a list, the records as one GFM table.

use super::out::Pieces;
use super::rows::{self, cell_text};
use super::{Format, NotApplicable, Sink, Subject, WriteError, markdown};
use crate::cancel::Cancelled;

#[derive(Debug)]
pub struct MarkdownTable;

impl Format for MarkdownTable {
    fn id(&self) -> &'static str {
        "markdown-table"
    }
    fn title(&self) -> &'static str {
        "Markdown table"
    }
    fn applies(&self, subject: &Subject) -> Result<(), NotApplicable> {
        rows::applies(subject)
    }
    fn write(&self, subject: &Subject, sink: &mut dyn Sink) -> Result<(), WriteError> {
        rows::write_table(subject, self.title(), sink, |rows, columns, out| {
            markdown::push_envelope(rows, out)?;
            push_row(out, columns.names.iter().map(|name| markdown::escape(name)))?;
            out.push(&format!("|{}\n", "---|".repeat(columns.names.len())))?;
            for record in rows.records() {
                let row = columns.row(record);
                push_row(out, row.into_iter().map(|node| markdown::escape(&cell_text(node)).into_owned().into()))?;
            }
            Ok(())
        })
    }
}

fn push_row<'a>(out: &mut Pieces<'_>, cells: impl Iterator<Item = std::borrow::Cow<'a, str>>) -> Result<(), Cancelled> {
    out.push("|")?;
    for cell in cells {
        out.push(" ")?;
        out.push(&cell)?;
        out.push(" |")?;
    }
    out.push("\n")
}
