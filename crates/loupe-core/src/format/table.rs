//! A table of columns and rows that the user chose, written as the formats for tables write theirs.

use std::borrow::Cow;

use super::out::Pieces;
use super::{Sink, WriteError, csv, markdown_table};

/// How a table of chosen columns and rows is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableForm {
    Csv,
    Markdown,
}

impl TableForm {
    /// Writes a table as the formats `csv` and `markdown-table` write theirs.
    ///
    /// # Errors
    /// The `csv` crate gave up.
    pub fn write<'c>(
        self,
        names: impl Iterator<Item = Cow<'c, str>>,
        rows: impl Iterator<Item = Vec<Cow<'c, str>>>,
        sink: &mut dyn Sink,
    ) -> Result<(), WriteError> {
        let mut out = Pieces::new(sink);
        match self {
            Self::Csv => {
                csv::push_table(&mut out, names, rows)
                    .map_err(|error| WriteError(error.to_string()))?;
            }
            Self::Markdown => markdown_table::push_table(&mut out, names, rows),
        }
        out.finish();
        Ok(())
    }
}
