//! The rendered pane's view: the text cut into Markdown blocks with source ranges, grouped in cards.

use std::ops::Range;
use std::sync::Arc;

use pulldown_cmark::{Alignment, Event, Parser, Tag, TagEnd};

use crate::queries::links::Links;
use crate::queries::query::{Ctx, Query, Stop, Weigh, format_of};
use loupe_core::capture::{FactMatches, locate_facts};
use loupe_core::format::format_bytes;
use loupe_core::format::{Format, MARKDOWN, ParsedCapture};
use loupe_core::problem::Problem;

/// Markdown beyond this is not rendered; the pane says so and the text pane shows it all.
const RENDER_LIMIT_BYTES: usize = 2 << 20;

/// A table, cell by cell, with the source range of each row.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub alignments: Vec<Alignment>,
    pub header: Vec<Cell>,
    pub rows: Vec<(Range<usize>, Vec<Cell>)>,
    /// Characters of the longest cell of each column, up to 80: what its width is taken from.
    pub longest: Vec<usize>,
}

/// One cell: its source range, and its inline Markdown source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    pub source: String,
    pub range: Range<usize>,
}

/// How a block is painted.
#[derive(Clone, Debug, PartialEq)]
pub enum MdKind {
    /// Our own painter draws tables.
    Table(Table),
    /// Raw HTML, shown as text.
    Html,
    /// Everything else.
    Markdown,
}

/// One top-level block of Markdown.
#[derive(Clone, Debug, PartialEq)]
pub struct MdBlock {
    pub kind: MdKind,
    /// Range in the card's text.
    pub range: Range<usize>,
}

/// One block of `content` that can be rendered (for a derived format: the whole text).
#[derive(Clone, Debug)]
pub struct Card {
    /// Index into `content`; `None` for a derived format.
    pub block: Option<usize>,
    pub text: Arc<str>,
    /// Offset of this card's text in the text of the format `content`, so that links fit both panes.
    pub offset: usize,
    pub blocks: Vec<MdBlock>,
    /// The definitions of reference links, by line: they hold for the whole text, and blocks are read alone.
    pub definitions: String,
    /// Whether the text was longer than `RENDER_LIMIT_BYTES` and cut for this view.
    pub is_cut: bool,
}

/// The rendered pane's view of a format.
#[derive(Clone, Debug)]
pub struct RenderedView {
    pub format: &'static str,
    pub cards: Vec<Card>,
    /// As in the text pane: ranges are in the format's whole text.
    pub matched: Arc<FactMatches>,
    pub links: Links,
}

impl RenderedView {
    pub(super) fn new(format: &dyn Format, subject: &ParsedCapture) -> Result<Self, Problem> {
        let mut cards = Vec::new();
        let whole;
        if format.id() == "content" {
            let mut offset = 0;
            for block in subject.response.text_blocks() {
                let text = block.text.clone().unwrap_or_default();
                let len = text.len();
                cards.push(card(Some(block.index), text, offset));
                offset += len + 1;
            }
            whole = subject.response.content_text().unwrap_or_default();
        } else {
            whole = String::from_utf8_lossy(&format_bytes(format, subject)?).into_owned();
            cards.push(card(None, Arc::from(whole.as_str()), 0));
        }
        let matched = match &subject.data {
            Some(_) if format.id() == "content" => subject.facts_in_text(),
            Some(data) => Arc::new(locate_facts(data, &whole)),
            None => Arc::default(),
        };
        Ok(Self {
            format: format.id(),
            cards,
            links: Links::new(&matched),
            matched,
        })
    }
}

fn card(block: Option<usize>, text: Arc<str>, offset: usize) -> Card {
    let end = text.floor_char_boundary(RENDER_LIMIT_BYTES);
    let definitions = definitions(&text[..end]);
    Card {
        block,
        blocks: blocks(&text[..end]),
        definitions,
        is_cut: end < text.len(),
        text,
        offset,
    }
}

/// The definitions of reference links in a text, each in a line of its own.
fn definitions(text: &str) -> String {
    text.lines()
        .filter(|line| line.trim_start().starts_with('[') && line.contains("]:"))
        .take(1_000)
        .fold(String::new(), |all, line| all + "\n" + line)
}

/// A longer cell wraps.
pub const LONGEST: usize = 80;

impl Table {
    fn measure(&mut self) {
        self.longest = self
            .header
            .iter()
            .map(|cell| cell.source.chars().count() + 1)
            .collect();
        for (_, row) in &self.rows {
            for (longest, cell) in self.longest.iter_mut().zip(row) {
                *longest = (*longest).max(cell.source.chars().count().min(LONGEST));
            }
        }
    }
}

/// Cuts Markdown into top-level blocks.
fn blocks(text: &str) -> Vec<MdBlock> {
    let mut blocks = Vec::new();
    let mut depth = 0_usize;
    let mut table: Option<Table> = None;
    for (event, range) in Parser::new_ext(text, MARKDOWN).into_offset_iter() {
        match &event {
            Event::Start(Tag::Table(alignments)) if depth == 0 => {
                table = Some(Table {
                    alignments: alignments.clone(),
                    header: Vec::new(),
                    rows: Vec::new(),
                    longest: Vec::new(),
                });
            }
            Event::Start(Tag::TableRow) => {
                if let Some(table) = &mut table {
                    // The parser counts the line end in.
                    let end = range.start + text[range.clone()].trim_end().len();
                    table.rows.push((range.start..end, Vec::new()));
                }
            }
            Event::Start(Tag::TableCell) => {
                if let Some(table) = &mut table {
                    let cell = Cell {
                        source: text[range.clone()].trim().to_owned(),
                        range: range.clone(),
                    };
                    match table.rows.last_mut() {
                        Some((_, cells)) => cells.push(cell),
                        None => table.header.push(cell),
                    }
                }
            }
            _ => {}
        }
        match event {
            Event::Start(tag) => {
                if depth == 0 && !matches!(tag, Tag::Table(_)) {
                    let kind = if matches!(tag, Tag::HtmlBlock) {
                        MdKind::Html
                    } else {
                        MdKind::Markdown
                    };
                    blocks.push(MdBlock { kind, range });
                }
                depth += 1;
            }
            Event::End(end) => {
                depth = depth.saturating_sub(1);
                if depth == 0
                    && end == TagEnd::Table
                    && let Some(mut table) = table.take()
                {
                    table.measure();
                    blocks.push(MdBlock {
                        kind: MdKind::Table(table),
                        range,
                    });
                }
            }
            _ if depth == 0 => blocks.push(MdBlock {
                kind: MdKind::Markdown,
                range,
            }),
            _ => {}
        }
    }
    blocks
}

/// The text of a format, by its id, parsed as Markdown.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RenderedQuery(pub &'static str);

impl Query for RenderedQuery {
    type Out = Arc<RenderedView>;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        Ok(Arc::new(RenderedView::new(
            format_of(self.0)?,
            cx.subject()?,
        )?))
    }
}

impl Weigh for RenderedView {
    fn weight(&self) -> usize {
        self.cards
            .iter()
            .map(|card| card.text.len() * 4)
            .sum::<usize>()
            + self.matched.weight()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_html_are_told_apart() {
        let text = "# Hi\n\n| a | b |\n|---|--:|\n| 1 | **x** |\n| 2 | y |\n\n<details>z</details>\n\n- a\n- b\n\n---\n";
        let found = blocks(text);
        let kinds: Vec<_> = found
            .iter()
            .map(|block| text[block.range.clone()].lines().next().unwrap_or(""))
            .collect();
        assert_eq!(
            kinds,
            ["# Hi", "| a | b |", "<details>z</details>", "- a", "---"]
        );
        let MdKind::Table(table) = &found[1].kind else {
            panic!("no table")
        };
        assert_eq!(table.rows.len(), 2);
        assert_eq!(table.rows[0].1[1].source, "**x**");
        assert_eq!(&text[table.rows[1].0.clone()], "| 2 | y |");
        assert_eq!(table.alignments, [Alignment::None, Alignment::Right]);
        assert_eq!(table.longest, [2, 5]);
        assert_eq!(found[2].kind, MdKind::Html);
    }

    #[test]
    fn definitions_are_gathered_from_the_whole_text() {
        assert_eq!(definitions("x\n[a]: http://b\n"), "\n[a]: http://b");
    }
}
