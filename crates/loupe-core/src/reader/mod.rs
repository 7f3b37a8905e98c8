//! Text answers read as data: one file per layout, one line in [`READERS`] each. `docs/text.md` says what is read.
//!
//! A reader gets the text blocks of a result and gives a JSON document, with the place in the text of each value and each
//! label. What is neither, and no layout, is extra text. Every reader is linear in the length of the text, whatever it holds.

mod build;
mod columns;
mod csv;
mod extra;
mod fences;
mod headings;
mod json;
mod json_in_text;
mod json_lines;
mod key_value;
mod label;
mod lines;
mod list;
mod markdown_table;
mod nested;
mod pattern;
mod python;
mod toon;
mod xml;
mod yaml;

use std::cell::LazyCell;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use crate::json::{Doc, Node};
use crate::layout::{comment_from, line_start};
use build::blank_free;
pub use build::{Segment, merge_ranges};
pub(crate) use extra::comment_signs;
pub use extra::says;
pub use label::{label_and_value, unescaped};
pub use pattern::Pattern;

/// A text block of a result.
#[derive(Clone, Copy, Debug)]
pub struct TextBlock<'a> {
    /// Its position in `content`.
    pub block: usize,
    pub text: &'a str,
    /// The whole text of the block where it may be shared; of it `text` is all or a part.
    pub whole: Option<&'a Arc<str>>,
}

impl TextBlock<'_> {
    /// A part of it.
    fn part(&self, range: Range<usize>) -> Self {
        Self {
            text: &self.text[range],
            ..*self
        }
    }

    /// The text as bytes of its own, without a copy where it is a whole one.
    fn bytes(&self) -> Bytes {
        match self.whole.filter(|whole| whole.len() == self.text.len()) {
            Some(whole) => Bytes::from_owner(Arc::<[u8]>::from(Arc::clone(whole))),
            None => Bytes::copy_from_slice(self.text.as_bytes()),
        }
    }
}

/// How sure a reading is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// The text says what it is: JSON, a fence with its language. One fact is enough.
    Marked,
    /// A language that the text is in as a whole. It has to read half of the text, and two facts.
    Language,
    /// A layout that was recognised, line by line: what it reads of the beginning of a long text tells whether it reads the
    /// rest. It has to read half of the text, and two facts.
    Layout,
}

/// A way of reading texts.
pub struct Reader {
    /// As on the command line, in `--json` and in `expect.toml`.
    pub id: &'static str,
    /// As in the window.
    pub title: &'static str,
    pub certainty: Certainty,
    read: Read,
}

/// What a reader looks at.
enum Read {
    /// The first block that it makes something of.
    Block(fn(TextBlock<'_>) -> Option<TextData>),
    Blocks(fn(&[TextBlock<'_>]) -> Option<TextData>),
}

impl Reader {
    /// A reader of one block.
    const fn new(
        id: &'static str,
        title: &'static str,
        certainty: Certainty,
        read: fn(TextBlock<'_>) -> Option<TextData>,
    ) -> Self {
        Self {
            id,
            title,
            certainty,
            read: Read::Block(read),
        }
    }

    /// Whether it reads a table of Markdown.
    pub fn is_table(&self) -> bool {
        self.id.starts_with("markdown-table")
    }

    /// Whether the texts that it reads may be Markdown.
    pub fn is_markdown(&self) -> bool {
        self.is_table()
            || matches!(
                self.id,
                "fences" | "json-in-text" | "key-value" | "headings" | "list" | "tasks" | "pattern"
            )
    }
}

impl PartialEq for Reader {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Reader {}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.id)
    }
}

/// Every reader, in the order in which they are tried; of two layouts that read as much the earlier one wins.
pub static READERS: &[&Reader] = &[
    &json::JSON,
    &json::JSON_BLOCKS,
    &json_lines::JSON_LINES,
    &fences::FENCES,
    &json_in_text::JSON_IN_TEXT,
    &markdown_table::MARKDOWN_TABLE,
    &key_value::KEY_VALUE,
    &headings::HEADINGS,
    &list::LIST,
    &list::TASKS,
    &columns::COLUMNS,
    &csv::CSV,
    &csv::TSV,
    &python::PYTHON,
    &xml::XML,
    &yaml::YAML,
    &toon::TOON,
    &lines::LINES,
];

/// The reader with this id.
pub fn by_id(id: &str) -> Option<&'static Reader> {
    all().find(|reader| reader.id == id)
}

/// Every reader, with those that are used only where the user asks for one.
pub fn all() -> impl Iterator<Item = &'static Reader> {
    READERS.iter().copied().chain(&markdown_table::OTHER_TABLES)
}

/// The data of a text.
#[derive(Clone, Debug)]
pub struct TextData {
    /// The data, as JSON.
    pub doc: Arc<Doc>,
    /// Where its values stand, in document order.
    pub segments: Vec<Segment>,
    /// Keys, heads of columns and names of tags: block and bytes, in order. None of a text that is in the document word
    /// for word: its segment holds them.
    pub labels: Vec<(usize, Range<usize>)>,
    /// Values, labels and layout: the blocks that were read without [`TextData::extra`]. By block and place.
    pub covered: Vec<(usize, Range<usize>)>,
    /// The number of records, elements of the list that the data is or has.
    pub records: usize,
    /// Tables of the text that are not in the data; their bytes are extra.
    pub others: Vec<OtherTable>,
    /// Tokens of the grammar that hold letters or digits. They may hold labels and values.
    layout: Vec<(usize, Range<usize>)>,
    /// Parts of values beyond the range of their segment.
    continuations: Vec<(usize, Range<usize>)>,
}

/// A table that was not read, as another of the same text is the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherTable {
    /// The block's position in `content`.
    pub block: usize,
    /// Bytes of the block's text.
    pub range: Range<usize>,
    /// Names of the columns.
    pub head: Vec<String>,
    /// The number of rows below the head.
    pub rows: usize,
}

impl TextData {
    /// Where a value of the data stands: the block and the bytes of its text.
    pub fn source(&self, node: Node<'_>) -> Option<(usize, Range<usize>)> {
        let range = node.range();
        let at = self
            .segments
            .partition_point(|segment| segment.doc().end <= range.start);
        self.segments
            .get(at)
            .and_then(|segment| segment.source(&range))
    }

    /// Whether the values are in the texts as they are in the document.
    pub fn is_verbatim(&self) -> bool {
        self.segments.iter().all(Segment::is_verbatim)
    }

    /// Tokens of the language's grammar that hold letters or digits.
    pub fn layout(&self) -> &[(usize, Range<usize>)] {
        &self.layout
    }

    /// The share of the texts that was read, of characters that are not white space.
    pub fn share(&self, blocks: &[TextBlock<'_>]) -> f64 {
        let unread = |block: &TextBlock<'_>| {
            let first = self.covered.partition_point(|(own, _)| *own < block.block);
            let ranges = self.covered[first..]
                .iter()
                .take_while(|(own, _)| *own == block.block)
                .map(|(_, range)| range);
            let mut end = 0;
            let between = |range: &Range<usize>| {
                blank_free(&block.text[std::mem::replace(&mut end, range.end)..range.start])
            };
            ranges.map(between).sum::<usize>() + blank_free(&block.text[end..])
        };
        let unread: usize = blocks.iter().map(unread).sum();
        if unread == 0 {
            // Of a text that is read as a whole nothing else has to be counted.
            return if blocks
                .iter()
                .all(|block| block.text.trim_start().is_empty())
            {
                0.0
            } else {
                1.0
            };
        }
        let total: usize = blocks.iter().map(|block| blank_free(block.text)).sum();
        (total - unread) as f64 / total as f64
    }

    fn facts(&self) -> usize {
        self.doc.root().map_or(0, |root| {
            let is_fact = |at: &usize| {
                self.doc
                    .node(*at)
                    .is_some_and(|node| !node.is_container() && !node.is_null())
            };
            (root.index()..root.subtree_end())
                .filter(is_fact)
                .take(2)
                .count()
        })
    }
}

/// What a reader found, with the reader and the share of the text that it read.
#[derive(Clone, Debug)]
pub struct Found {
    pub reader: &'static Reader,
    pub data: TextData,
    pub share: f64,
}

/// The share of the text that a layout has to read.
const ENOUGH: f64 = 0.5;
/// The share of a text in a language that its comments have to leave.
const COMMENTED: f64 = 0.2;
/// The share that a Markdown table has to be, and the rows and columns that it has to have: its marks say what it is.
const TABLE: (f64, usize, usize) = (0.2, 3, 2);
/// The share that JSON in a sentence has to be, or the text only quotes it.
const QUOTED: f64 = 0.2;
/// The bytes of a text that tell its layout, and of how many times that on they do.
const BEGINNING: (usize, usize) = (64 << 10, 4);
/// How much less of the beginning than the best a layout may read.
const BEHIND: f64 = 0.05;

/// What the texts hold: by the first reader that the text names, else by the layout that reads most of it.
pub fn read(blocks: &[TextBlock<'_>]) -> Option<Found> {
    let (mut best, mut quoted): (Option<Found>, Option<Found>) = (None, None);
    // The lines of a diff begin as items do, and hold what labels and fields look like.
    let is_diff = blocks
        .iter()
        .any(|block| block.text.contains("\n@@ -") && block.text.contains("\n+++ "));
    let behind = LazyCell::new(|| behind_in_beginning(blocks));
    for reader in READERS
        .iter()
        .copied()
        .filter(|reader| !is_diff || reader.certainty == Certainty::Marked)
    {
        // None can read more than all.
        if best.as_ref().is_some_and(|best| best.share >= 1.0) {
            break;
        }
        if reader.certainty == Certainty::Layout && behind.contains(&reader) {
            continue;
        }
        let Some(found) = read_by(reader, blocks) else {
            continue;
        };
        if reader.certainty == Certainty::Marked {
            // A log or a listing may quote a little JSON, and is one all the same.
            if *reader != json_in_text::JSON_IN_TEXT || found.share >= ENOUGH {
                return Some(found);
            }
            quoted = Some(found).filter(|found| found.share >= QUOTED);
            continue;
        }
        let is_enough = found.share >= ENOUGH
            || (found.share >= COMMENTED
                && [&xml::XML, &yaml::YAML, &toon::TOON].contains(&reader))
            || (*reader == markdown_table::MARKDOWN_TABLE && is_clear_table(&found));
        if is_enough
            && found.data.facts() >= 2
            && best.as_ref().is_none_or(|best| {
                found.share + commented(&found, blocks) > best.share + f64::EPSILON
            })
        {
            best = Some(found);
        }
    }
    // A little table and a little JSON: the larger of them.
    match (best, quoted) {
        (Some(best), Some(quoted)) if best.share < ENOUGH && quoted.share >= best.share => {
            Some(quoted)
        }
        (best, quoted) => best.or(quoted),
    }
}

/// The share of a text of YAML that its comments behind values are: a layout would take them for the values'.
fn commented(found: &Found, blocks: &[TextBlock<'_>]) -> f64 {
    if *found.reader != yaml::YAML || found.share >= 1.0 {
        return 0.0;
    }
    let Some(block) = blocks.iter().find(|block| {
        found
            .data
            .segments
            .first()
            .is_some_and(|first| first.block() == block.block)
    }) else {
        return 0.0;
    };
    let is_behind = |range: &Range<usize>| {
        let before = &block.text[line_start(block.text, range.start)..range.start];
        block.text[range.clone()].starts_with('#') && !before.trim().is_empty()
    };
    let comments = found
        .data
        .extra(&[*block])
        .into_iter()
        .map(|(_, range)| range)
        .filter(is_behind);
    let comments: usize = comments.map(|range| blank_free(&block.text[range])).sum();
    let total: usize = blocks.iter().map(|block| blank_free(block.text)).sum();
    comments as f64 / total.max(1) as f64
}

/// Whether a table is data, however much stands around it.
fn is_clear_table(found: &Found) -> bool {
    let (share, rows, columns) = TABLE;
    let Some(root) = found.data.doc.root().filter(|_| found.share >= share) else {
        return false;
    };
    let last = root
        .children()
        .last()
        .filter(|last| last.kind() == crate::json::Kind::Array);
    match if root.kind() == crate::json::Kind::Array {
        Some(root)
    } else {
        last
    } {
        Some(records) => {
            records.len() >= rows
                && records
                    .child(0)
                    .is_some_and(|record| record.len() >= columns)
        }
        None => root.len() >= rows,
    }
}

/// The layouts that read less of the beginning of a long text than the one that reads most of it, if that is half.
fn behind_in_beginning(blocks: &[TextBlock<'_>]) -> Vec<&'static Reader> {
    let (bytes, times) = BEGINNING;
    if blocks.iter().all(|block| block.text.len() < bytes * times) {
        return Vec::new();
    }
    let beginnings = blocks.iter().map(|block| {
        let end = block.text.floor_char_boundary(bytes);
        let start = line_start(block.text, end);
        block.part(0..if start > 0 { start } else { end })
    });
    let beginnings: Vec<TextBlock<'_>> = beginnings.collect();
    let layouts = READERS
        .iter()
        .copied()
        .filter(|reader| reader.certainty == Certainty::Layout);
    let shares = layouts.map(|reader| {
        (
            reader,
            read_by(reader, &beginnings).map_or(0.0, |found| found.share),
        )
    });
    let shares: Vec<(&Reader, f64)> = shares.collect();
    let most = shares.iter().map(|(_, share)| *share).fold(0.0, f64::max);
    let is_behind = |(_, share): &(&Reader, f64)| most >= ENOUGH && *share < most - BEHIND;
    shares
        .into_iter()
        .filter(is_behind)
        .map(|(reader, _)| reader)
        .collect()
}

/// What one reader makes of the texts, however little of them it reads.
pub fn read_by(reader: &'static Reader, blocks: &[TextBlock<'_>]) -> Option<Found> {
    let mut data = match reader.read {
        Read::Block(read) => blocks.iter().find_map(|block| read(*block)),
        Read::Blocks(read) => read(blocks),
    }?;
    if blocks.iter().any(|block| reads_comment(&data, block)) {
        return None;
    }
    data.account(blocks);
    let share = data.share(blocks);
    (data.facts() > 0).then_some(Found {
        reader,
        data,
        share,
    })
}

/// Whether values were read in a comment of HTML: `<!-- status: open -->` says nothing.
fn reads_comment(data: &TextData, block: &TextBlock<'_>) -> bool {
    let mut next_comment = comment_from(block.text, 0);
    if next_comment.is_none() {
        return false;
    }
    let values = data
        .segments
        .iter()
        .filter(|segment| segment.block() == block.block)
        .map(Segment::text);
    let values = merge_ranges(values.filter(|value| !value.is_empty()).collect());
    while let Some(comment) = next_comment {
        let next = values.get(values.partition_point(|value| value.end <= comment.start));
        let end = match next {
            Some(value) if value.start <= comment.start => value.end,
            Some(value) if value.start < comment.end => return true,
            _ => comment.end,
        };
        next_comment = comment_from(block.text, end);
    }
    false
}

/// Whether `structuredContent` is the text once more: one member, at any depth of objects with one member, whose string is
/// the text content, white space at the ends aside.
pub fn is_wrapped(structured: Node<'_>, blocks: &[TextBlock<'_>]) -> bool {
    let mut node = structured;
    while node.kind() == crate::json::Kind::Object && node.len() == 1 {
        let Some(child) = node.child(0) else {
            return false;
        };
        node = child;
    }
    if node.index() == structured.index() || blocks.is_empty() {
        return false;
    }
    let Some(text) = node.as_str() else {
        return false;
    };
    let mut rest = text.trim();
    // The texts with one LF between two, without joining them.
    for (at, block) in blocks.iter().enumerate() {
        let is_last = at + 1 == blocks.len();
        let mut own = block.text;
        if at == 0 {
            own = own.trim_start();
        }
        if is_last {
            own = own.trim_end();
        }
        let Some(after) = rest.strip_prefix(own) else {
            return false;
        };
        rest = if is_last {
            after
        } else {
            after.strip_prefix('\n').unwrap_or("\0")
        };
    }
    rest.is_empty()
}

/// Whether a text begins as pretty JSON or a list of objects does.
pub fn begins_as_json(text: &str) -> bool {
    ["{", "[{", "[\n"]
        .iter()
        .any(|begin| text.trim_start().starts_with(begin))
}

#[cfg(test)]
mod accounting_tests;
#[cfg(test)]
mod tests;
