//! The columns of a sweep as Markdown is read, cut where the records begin, so that rendered columns and exact ones stand
//! beside each other section by section.
//!
//! A text that is no Markdown, and a block that is one piece over several records (JSON in a fence, raw HTML), keeps its
//! exact rows. Reading a piece and measuring it is the painter's job, since only what is in sight is read.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use crate::analysis::query::{Ctx, Query, Stop, Weigh};
use crate::analysis::rendered::{MdBlock, MdKind, RENDER_LIMIT_BYTES, Table, blocks, definitions};
use crate::analysis::sweep::page::{SectionCell, SweepPage, ThisPage, rows};
use crate::analysis::wrap::TextRow;
use crate::cancel::{Cancel, Cancelled};
use crate::format::Syntax;

/// A stretch of a column that is painted as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Exact rows: a range of [`SweepRendered::rows`] of the column.
    Rows(Range<usize>),
    /// Markdown that is read by itself: its range in the column's text, and about how many lines it takes.
    Block(Range<usize>, u32),
    /// The header of a table, by its position in [`SweepRendered::tables`] of the column.
    Head(usize),
    /// A row of such a table.
    Row(usize, usize),
}

/// What the rendered columns of a page are painted from.
#[derive(Clone, Debug, Default)]
pub struct SweepRendered {
    /// Of all cells in order: those of a section stand together, column by column.
    pub pieces: Vec<Piece>,
    /// Where the pieces of each cell begin, and after them how many there are.
    starts: Vec<usize>,
    columns: usize,
    /// By column.
    pub rows: Vec<Vec<TextRow>>,
    /// By column.
    pub tables: Vec<Vec<Table>>,
    /// By column: definitions of reference links, which hold for the whole text.
    pub definitions: Vec<String>,
    /// By column: whether it is shown as Markdown.
    pub is_markdown: Vec<bool>,
    /// By column: where its Markdown ends; what follows is exact.
    ends: Vec<usize>,
}

impl SweepRendered {
    /// Cuts every column into pieces; exact rows are so many characters wide. The columns with these titles stay exact.
    ///
    /// # Errors
    /// [`Cancelled`] when the asker looked away.
    pub fn of(page: &SweepPage, columns: u16, exact: &BTreeSet<String>, cancel: &Cancel) -> Result<Self, Cancelled> {
        let count = page.texts.len();
        let mut all = Self { columns: count, rows: vec![Vec::new(); count], ..Self::default() };
        let mut found: Vec<Vec<MdBlock>> = Vec::with_capacity(count);
        for (view, column) in page.texts.iter().zip(&page.sweep.columns) {
            cancel.check()?;
            let is_markdown = can_render(view.syntax, column.format) && !exact.contains(&column.title);
            let whole = column.data_from.unwrap_or(usize::MAX).min(view.text.len());
            let mut end = if is_markdown { whole.min(RENDER_LIMIT_BYTES) } else { 0 };
            while !view.text.is_char_boundary(end) {
                end -= 1;
            }
            let mut of_column = blocks(&view.text[..end]);
            let mut tables = Vec::new();
            for block in &mut of_column {
                if let MdKind::Table(table) = &mut block.kind {
                    tables.push(std::mem::replace(
                        table,
                        Table { alignments: Vec::new(), header: Vec::new(), rows: Vec::new(), longest: Vec::new() },
                    ));
                }
            }
            all.definitions.push(definitions(&view.text[..end]));
            all.tables.push(tables);
            all.is_markdown.push(is_markdown);
            all.ends.push(end);
            found.push(of_column);
        }
        for (at, section) in page.sections.iter().enumerate() {
            if at.is_multiple_of(256) {
                cancel.check()?;
            }
            for (column, cell) in section.cells.iter().enumerate() {
                all.starts.push(all.pieces.len());
                for range in &cell.ranges {
                    all.cut(page, column, range, &found[column], columns, cancel)?;
                }
            }
        }
        all.starts.push(all.pieces.len());
        Ok(all)
    }

    /// The pieces of a cell, as positions in [`SweepRendered::pieces`].
    pub fn cell(&self, section: usize, column: usize) -> Range<usize> {
        let at = section * self.columns + column;
        self.starts.get(at).copied().unwrap_or(0)..self.starts.get(at + 1).copied().unwrap_or(0)
    }

    /// Where the text of a piece stands in its column's.
    pub fn range(&self, column: usize, piece: &Piece) -> Range<usize> {
        match piece {
            Piece::Rows(rows) => {
                let rows = &self.rows[column][rows.clone()];
                rows.first().map_or(0, |row| row.range.start)..rows.last().map_or(0, |row| row.range.end)
            }
            Piece::Block(range, _) => range.clone(),
            Piece::Head(_) => 0..0,
            Piece::Row(table, row) => self.tables[column][*table].rows[*row].0.clone(),
        }
    }

    /// Adds the pieces of one stretch of a column.
    fn cut(
        &mut self,
        page: &SweepPage,
        column: usize,
        range: &Range<usize>,
        found: &[MdBlock],
        columns: u16,
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let text = &page.texts[column].text;
        if !self.is_markdown[column] {
            return self.push_rows(page, column, range.clone(), columns, cancel);
        }
        let first = found.partition_point(|block| block.range.end <= range.start);
        let mut table = found[..first].iter().filter(|block| matches!(block.kind, MdKind::Table(_))).count();
        for block in found[first..].iter().take_while(|block| block.range.start < range.end) {
            if matches!(block.kind, MdKind::Table(_)) {
                self.push_table(column, table, block, range);
                table += 1;
                continue;
            }
            let whole = trimmed(text, block.range.clone());
            let part = trimmed(text, whole.start.max(range.start)..whole.end.min(range.end).max(whole.start.max(range.start)));
            if part.is_empty() {
                continue;
            }
            if stays_exact(&text[whole.clone()], block, part != whole) {
                self.push_rows(page, column, part, columns, cancel)?;
            } else {
                let wide = usize::from(columns).max(1);
                let lines: usize = text[part.clone()].lines().map(|line| line.len().div_ceil(wide).max(1)).sum();
                self.pieces.push(Piece::Block(part, u32::try_from(lines).unwrap_or(u32::MAX)));
            }
        }
        let rest = trimmed(text, self.ends[column].clamp(range.start, range.end)..range.end);
        if !rest.is_empty() {
            self.push_rows(page, column, rest, columns, cancel)?;
        }
        Ok(())
    }

    /// The rows of a table whose middle is in the range, and its header where it begins there.
    fn push_table(&mut self, column: usize, table: usize, block: &MdBlock, range: &Range<usize>) {
        let Some(rows) = self.tables[column].get(table).map(|table| &table.rows) else { return };
        if range.contains(&block.range.start) {
            self.pieces.push(Piece::Head(table));
        }
        let middle = |at: &Range<usize>| at.start + (at.end - at.start) / 2;
        let first = rows.partition_point(|(at, _)| middle(at) < range.start);
        let count = rows[first..].iter().take_while(|(at, _)| middle(at) < range.end).count();
        self.pieces.extend((first..first + count).map(|row| Piece::Row(table, row)));
    }

    fn push_rows(
        &mut self,
        page: &SweepPage,
        column: usize,
        range: Range<usize>,
        columns: u16,
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let cell = SectionCell { ranges: vec![range], ..SectionCell::default() };
        let new = rows(&cell, &page.texts[column], columns, cancel)?;
        let known = &mut self.rows[column];
        let start = known.len();
        known.extend(new);
        // Consecutive rows are painted as one.
        let end = known.len();
        let is_first = self.starts.last() == Some(&self.pieces.len());
        match self.pieces.last_mut() {
            Some(Piece::Rows(last)) if last.end == start && !is_first => last.end = end,
            _ => self.pieces.push(Piece::Rows(start..end)),
        }
        Ok(())
    }
}

/// Whether there is something to render: of what a server sent, all but JSON may be Markdown.
pub fn can_render(syntax: Syntax, format: &str) -> bool {
    match syntax {
        Syntax::Markdown => true,
        Syntax::Json => false,
        Syntax::Plain => matches!(format, "content" | "both"),
    }
}

/// Whether a block keeps its exact rows: JSON, which Markdown would take apart, and what cannot be read in parts.
fn stays_exact(block: &str, kind: &MdBlock, is_cut: bool) -> bool {
    let text = block.trim_start();
    let is_json = text.starts_with('{') || ["[{", "[\"", "[[", "[\n"].iter().any(|start| text.starts_with(start));
    let is_code = text.starts_with("```") || text.starts_with("~~~") || block.starts_with("    ");
    is_json || (is_cut && (is_code || kind.kind == MdKind::Html))
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let part = &text[range.clone()];
    let start = range.start + (part.len() - part.trim_start_matches(['\n', '\r']).len());
    let end = range.start + part.trim_end().len();
    start..end.max(start)
}

/// The rows of a page as Markdown is read; the columns with these titles stay exact.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SweepRenderedQuery {
    pub page: ThisPage,
    pub columns: u16,
    pub exact: Arc<BTreeSet<String>>,
}

impl Query for SweepRenderedQuery {
    type Out = Arc<SweepRendered>;
    const IS_PASSING: bool = true;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        Ok(Arc::new(SweepRendered::of(&self.page.0, self.columns, &self.exact, cx.cancel)?))
    }
}

impl Weigh for SweepRendered {
    fn weight(&self) -> usize {
        let cells = |table: &Table| table.rows.iter().map(|(_, cells)| cells.len() * 72 + 32).sum::<usize>();
        self.pieces.len() * size_of::<Piece>()
            + self.starts.len() * size_of::<usize>()
            + self.rows.iter().map(|rows| rows.len() * size_of::<TextRow>()).sum::<usize>()
            + self.tables.iter().flatten().map(cells).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::analysis::sweep::SweepQuery;
    use crate::analysis::sweep::tests::{call, text_result};
    use crate::capture::Outcome;
    use crate::host::Hosts;

    const JSON: &str = "{\n  \"items\": [\n    {\n      \"id\": 101,\n      \"name\": \"Ann Ames\",\n      \"city\": \"Rome\"\n    },\n    {\n      \"id\": 102,\n      \"name\": \"Bob Burr\",\n      \"city\": \"Oslo\"\n    }\n  ]\n}";

    fn page(markdown: &str) -> SweepPage {
        let calls = [
            call("\"json\"", &text_result(JSON), Outcome::Result),
            call("\"markdown\"", &text_result(markdown), Outcome::Result),
        ];
        let subjects: Vec<_> = calls.iter().map(|call| Arc::clone(&call.subject)).collect();
        let values: Vec<_> = calls.iter().map(|call| call.value.clone()).collect();
        let ask =
            SweepQuery { vary: Some("f".into()), values: values.into(), derived: Some(Vec::new()), ..SweepQuery::default() };
        SweepPage::of(&subjects, &ask, &Hosts::built_in(), &Cancel::new()).unwrap()
    }

    /// What each section of the second column is painted from.
    fn told(markdown: &str, exact: &[&str]) -> Vec<String> {
        let page = page(markdown);
        let exact = exact.iter().map(|title| (*title).to_owned()).collect();
        let laid = SweepRendered::of(&page, 40, &exact, &Cancel::new()).unwrap();
        let cell = |section: usize| {
            let pieces = laid.pieces[laid.cell(section, 1)].iter().map(|piece| {
                let text = &page.texts[1].text[laid.range(1, piece)];
                match piece {
                    Piece::Rows(rows) => format!("{} exact", rows.len()),
                    Piece::Block(..) => format!("<{}>", text.replace('\n', "↵")),
                    Piece::Head(table) => format!("head {table}"),
                    Piece::Row(..) => text.to_owned(),
                }
            });
            format!("{}: {}", page.sections[section].name, pieces.collect::<Vec<_>>().join(" "))
        };
        (0..page.sections.len()).map(cell).collect()
    }

    #[test]
    fn a_table_is_cut_by_its_rows() {
        let text = "# People\n\n| id | name |\n|---|---|\n| 101 | Ann Ames |\n| 102 | Bob Burr |\n\nEnd";
        assert_eq!(
            told(text, &[]),
            [
                "Preamble: <# People> head 0",
                "items[0]: | 101 | Ann Ames |",
                "items[1]: | 102 | Bob Burr |",
                "After the records: <End>"
            ]
        );
    }

    #[test]
    fn a_list_is_cut_by_its_points() {
        let text = "- 101 Ann Ames\n  - city: Rome\n- 102 Bob Burr\n  - city: Oslo";
        assert_eq!(
            told(text, &[]),
            [
                "Preamble: ",
                "items[0]: <- 101 Ann Ames↵  - city: Rome>",
                "items[1]: <- 102 Bob Burr↵  - city: Oslo>",
                "After the records: "
            ]
        );
    }

    #[test]
    fn a_fence_over_all_records_and_a_column_that_is_to_stay_so_are_exact() {
        let fenced = "Found:\n\n```json\n[\n{\"id\":101,\"name\":\"Ann Ames\"},\n{\"id\":102,\"name\":\"Bob Burr\"}\n]\n```";
        let found = told(fenced, &[]);
        assert!(found[0].starts_with("Preamble: <Found:> ") && found[0].ends_with("exact"), "{found:?}");
        assert!(found[1].starts_with("items[0]: ") && found[1].ends_with(" exact"), "{found:?}");
        let found = told("- 101 Ann Ames\n- 102 Bob Burr", &["markdown text"]);
        assert_eq!(found, ["Preamble: ", "items[0]: 1 exact", "items[1]: 1 exact", "After the records: "]);
    }

    #[test]
    fn the_data_after_a_text_is_no_part_of_it() {
        let text = "| id | name |\\n|---|---|\\n| 101 | Ann Ames |\\n| 102 | Bob Burr |";
        let both = format!(r#"{{"content":[{{"type":"text","text":"{text}"}}],"structuredContent":{JSON}}}"#);
        let calls = [call("\"both\"", &both, Outcome::Result)];
        let ask = SweepQuery {
            vary: Some("f".into()),
            values: ["\"both\"".to_owned()].into(),
            derived: Some(vec![]),
            ..SweepQuery::default()
        };
        let page = SweepPage::of(&[Arc::clone(&calls[0].subject)], &ask, &Hosts::built_in(), &Cancel::new()).unwrap();
        let laid = SweepRendered::of(&page, 40, &BTreeSet::new(), &Cancel::new()).unwrap();
        assert_eq!(laid.tables[0][0].rows.len(), 2);
        let exact = laid.pieces.iter().filter(|piece| matches!(piece, Piece::Rows(_)));
        assert!(exact.map(|piece| laid.range(0, piece)).all(|range| range.start >= page.sweep.columns[0].data_from.unwrap()));
    }

    #[test]
    fn data_is_never_rendered() {
        let page = page("x");
        let laid = SweepRendered::of(&page, 40, &BTreeSet::new(), &Cancel::new()).unwrap();
        assert_eq!(laid.is_markdown, [false, true]);
        assert!(laid.pieces[laid.cell(1, 0)].iter().all(|piece| matches!(piece, Piece::Rows(_))));
    }
}
