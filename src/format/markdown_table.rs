//! `markdown-table`: the envelope as a list, the records as one GFM table.

use super::out::Pieces;
use super::rows::{RowSet, cell_text};
use super::{Format, NotApplicable, Sink, Subject, Syntax, WriteError, payload_of};
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
    fn syntax(&self, _subject: &Subject) -> Syntax {
        Syntax::Markdown
    }
    fn applies(&self, subject: &Subject) -> Result<(), NotApplicable> {
        RowSet::of(payload_of(subject)?.root()).map(|_| ())
    }
    fn write(&self, subject: &Subject, sink: &mut dyn Sink) -> Result<(), WriteError> {
        let Some(payload) = &subject.payload else { return Ok(()) };
        let rows = RowSet::of(payload.root()).map_err(|why| WriteError::Refused(why.0))?;
        let columns = rows.columns(self.title())?;
        let mut out = Pieces::new(sink);
        let envelope = rows.envelope();
        for node in &envelope {
            let key = node.key().unwrap_or_default();
            out.push(&format!("- **{}**: {}\n", escape(&key), escape(&cell_text(Some(*node)))))?;
        }
        if !envelope.is_empty() {
            out.push("\n")?;
        }
        push_row(&mut out, columns.names.iter().map(|name| escape(name)))?;
        out.push(&format!("|{}\n", "---|".repeat(columns.names.len())))?;
        for record in rows.records() {
            push_row(&mut out, columns.row(record).into_iter().map(|node| escape(&cell_text(node))))?;
        }
        Ok(out.finish()?)
    }
}

fn push_row(out: &mut Pieces<'_>, cells: impl Iterator<Item = String>) -> Result<(), Cancelled> {
    out.push("|")?;
    for cell in cells {
        out.push(" ")?;
        out.push(&cell)?;
        out.push(" |")?;
    }
    out.push("\n")
}

/// A value in a cell: nothing of it may end the cell, begin HTML or read as an escape.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '\\' => out.push_str("\\\\"),
            '|' => out.push_str("\\|"),
            '\n' => out.push_str("<br>"),
            '\r' => {
                chars.next_if_eq(&'\n');
                out.push_str("<br>");
            }
            char => out.push(char),
        }
    }
    out
}
