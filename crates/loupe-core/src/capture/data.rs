//! The data: the data in a result, and where it was found.

use std::ops::Range;
use std::sync::Arc;

use super::block::Block;
use super::facts::{self, DataKeys, KeyWords, Record};
use super::response::ParsedResponse;
use crate::json::{Doc, Node};
use crate::number::number_of;
use crate::reader::{self, Certainty, Found, Pattern, Reader, TextBlock, TextData};

/// Where the data was found.
#[derive(Clone, Debug)]
pub enum Origin {
    /// `structuredContent`.
    Structured,
    /// The texts, by a reader.
    Text(Box<TextSource>),
}

/// How the data was read from the texts.
#[derive(Clone, Debug)]
pub struct TextSource {
    pub reader: &'static Reader,
    pub data: TextData,
    /// The texts that it was read from, each whole.
    pub texts: Vec<Arc<str>>,
    /// The share of the texts that was read, of characters that are not white space.
    pub share: f64,
    /// Whether `structuredContent` is the text once more.
    pub is_wrapped: bool,
}

/// The data in a result, indexed.
#[derive(Clone, Debug)]
pub struct ResultData {
    pub origin: Origin,
    pub doc: Arc<Doc>,
    /// Tape index of the data's root in `doc`.
    pub root: usize,
    pub(super) keys: Arc<DataKeys>,
}

/// How texts are read as data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ReadText {
    /// By the reader that the text names, else by the one that reads most of it.
    #[default]
    Auto,
    /// Not at all: the data is `structuredContent`.
    Never,
    By(&'static Reader),
    Pattern(Pattern),
}

impl ReadText {
    /// `auto`, `never`, the id of a reader, or a pattern with named groups.
    ///
    /// # Errors
    /// Why it is none of them, in a sentence fragment.
    pub fn parse(text: &str) -> Result<Self, String> {
        match (text, reader::by_id(text)) {
            ("auto", _) => Ok(Self::Auto),
            ("never", _) => Ok(Self::Never),
            (_, Some(reader)) => Ok(Self::By(reader)),
            // A pattern needs a group; what has none was meant as a reader's name.
            (name, None) if !name.contains('(') => Err(format!("there is no reader `{name}`")),
            (pattern, None) => Pattern::parse(pattern).map(Self::Pattern),
        }
    }

    /// What [`ReadText::parse`] takes, for the hint of an error.
    pub fn hint() -> String {
        let readers: Vec<_> = reader::all().map(|reader| reader.id).collect();
        format!(
            "auto, never, a pattern with named groups, or one of {}",
            readers.join(", ")
        )
    }

    /// As [`ReadText::parse`] reads it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Auto => "auto",
            Self::Never => "never",
            Self::By(reader) => reader.id,
            Self::Pattern(pattern) => pattern.as_str(),
        }
    }
}

/// The text blocks that readers look at.
pub fn blocks<'a>(reading: &'a ParsedResponse) -> Vec<TextBlock<'a>> {
    let read = |block: &'a Block| {
        let whole = block.text.as_ref()?;
        Some(TextBlock {
            block: block.index,
            text: whole,
            whole: Some(whole),
        })
    };
    reading.text_blocks().filter_map(read).collect()
}

/// Whether `structuredContent` is the text once more, and so carries no structure.
pub fn is_wrapped(reading: &ParsedResponse) -> bool {
    reading
        .structured()
        .is_some_and(|node| reader::is_wrapped(node, &blocks(reading)))
}

impl ResultData {
    /// The data whose root is at this tape index of a document.
    pub fn new(origin: Origin, doc: Arc<Doc>, root: usize) -> Self {
        Self {
            origin,
            doc,
            root,
            keys: Arc::default(),
        }
    }

    /// `structuredContent` unless it is the text once more; else what is read from the texts; else none.
    pub fn of(reading: &ParsedResponse) -> Option<Self> {
        Self::structured(reading).or_else(|| Self::found(reading, reader::read(&blocks(reading))?))
    }

    /// As [`ResultData::of`], with the texts read as the user chose.
    pub fn read_as(reading: &ParsedResponse, how: &ReadText) -> Option<Self> {
        match how {
            ReadText::Auto => Self::of(reading),
            ReadText::Never => Self::structured(reading),
            ReadText::By(reader) => Self::read_by(reading, reader),
            ReadText::Pattern(pattern) => Self::found(reading, pattern.read(&blocks(reading))?),
        }
    }

    /// What one reader makes of the texts, whatever else the result has.
    pub fn read_by(reading: &ParsedResponse, reader: &'static Reader) -> Option<Self> {
        Self::found(reading, reader::read_by(reader, &blocks(reading))?)
    }

    /// The data of what a reader found.
    pub fn found(reading: &ParsedResponse, found: Found) -> Option<Self> {
        let Found {
            reader,
            data,
            share,
        } = found;
        data.doc.root()?;
        let doc = Arc::clone(&data.doc);
        let is_read = |block: usize| data.covered.iter().any(|(own, _)| *own == block);
        let texts = reading
            .text_blocks()
            .filter(|block| is_read(block.index))
            .filter_map(|block| block.text.clone())
            .collect();
        let source = TextSource {
            reader,
            data,
            texts,
            share,
            is_wrapped: is_wrapped(reading),
        };
        Some(Self::new(Origin::Text(Box::new(source)), doc, 0))
    }

    /// As Loupe 0.1 looked for it, which fixtures that name no reader were written by: `structuredContent` whatever it is,
    /// else JSON alone, and of several blocks or fences of it the first.
    pub fn first(reading: &ParsedResponse) -> Option<Self> {
        let structured = reading
            .structured()
            .map(|node| Self::new(Origin::Structured, Arc::clone(&reading.doc), node.index()));
        structured.or_else(|| {
            let mut data = Self::in_texts(reading)?;
            if data
                .text_source()
                .is_some_and(|source| source.data.segments.len() > 1)
            {
                data.root = data.root().children().next()?.index();
            }
            Some(data)
        })
    }

    fn structured(reading: &ParsedResponse) -> Option<Self> {
        let node = reading.structured().filter(|_| !is_wrapped(reading))?;
        Some(Self::new(
            Origin::Structured,
            Arc::clone(&reading.doc),
            node.index(),
        ))
    }

    /// The JSON that is the texts, or is in fences in them, whatever else the result has.
    pub(crate) fn in_texts(reading: &ParsedResponse) -> Option<Self> {
        let readers = ["json", "json-blocks", "fences"]
            .into_iter()
            .filter_map(reader::by_id);
        let mut found = readers.filter_map(|reader| Self::read_by(reading, reader));
        found.find(|data| {
            data.text_source()
                .is_some_and(|source| source.data.is_verbatim())
        })
    }

    /// The data of a bare JSON value; `None` where not even its first byte could be read.
    pub fn of_doc(doc: Doc) -> Option<Self> {
        doc.root()?;
        Some(Self::new(Origin::Structured, Arc::new(doc), 0))
    }

    pub fn root(&self) -> Node<'_> {
        // `root` always names a node: data is only made from one.
        self.doc
            .node(self.root)
            .unwrap_or_else(|| unreachable!("data is only made from a document with a root"))
    }

    /// The words that labels of the data may be.
    pub(super) fn key_words(&self) -> &KeyWords {
        self.keys.labels(self.root())
    }

    pub fn is_structured(&self) -> bool {
        self.text_source().is_none()
    }

    /// How it was read from the texts; `None` for `structuredContent`.
    pub fn text_source(&self) -> Option<&TextSource> {
        match &self.origin {
            Origin::Structured => None,
            Origin::Text(source) => Some(source),
        }
    }

    /// By which reader it was found; `None` for `structuredContent`.
    pub fn reader(&self) -> Option<&'static Reader> {
        self.text_source().map(|source| source.reader)
    }

    /// What of the text content it was read from: bytes of the texts in order with one LF between two. Empty for
    /// `structuredContent`.
    pub fn text_ranges(&self, reading: &ParsedResponse) -> Vec<Range<usize>> {
        let Some(source) = self.text_source() else {
            return Vec::new();
        };
        let mut start = 0;
        let mut out = Vec::new();
        for block in blocks(reading) {
            let own = source
                .data
                .covered
                .iter()
                .filter(|(at, _)| *at == block.block);
            out.extend(own.map(|(_, range)| start + range.start..start + range.end));
            start += block.text.len() + 1;
        }
        reader::merge_ranges(out)
    }

    /// The blocks' beginnings in the text content: the texts in order with one LF between two.
    pub fn starts(reading: &ParsedResponse) -> Vec<(usize, usize)> {
        let mut start = 0;
        let of = |block: &TextBlock<'_>| {
            let own = (block.block, start);
            start += block.text.len() + 1;
            own
        };
        blocks(reading).iter().map(of).collect()
    }

    /// Where a value is in the text content that the data was read from. Of a value that has no place of its own,
    /// from the first to the last of those within it.
    pub fn place_in_text(&self, node: Node<'_>, reading: &ParsedResponse) -> Option<Range<usize>> {
        self.place_in(&Self::starts(reading), node)
    }

    /// The same for whoever asks often, with what [`ResultData::starts`] gives.
    pub fn place_in(&self, starts: &[(usize, usize)], node: Node<'_>) -> Option<Range<usize>> {
        let data = &self.text_source()?.data;
        let place = |node: Node<'_>| {
            let (block, range) = data.source(node)?;
            let at = starts.binary_search_by_key(&block, |(own, _)| *own).ok()?;
            let start = starts[at].1;
            Some(start + range.start..start + range.end)
        };
        place(node).or_else(|| {
            let inside = (node.index()..node.subtree_end())
                .filter_map(|at| self.doc.node(at))
                .filter(|node| !node.is_container());
            inside
                .filter_map(place)
                .reduce(|all, one| all.start.min(one.start)..all.end.max(one.end))
        })
    }

    /// The leaf whose place in the text content holds this byte.
    pub fn leaf_at(&self, offset: usize, reading: &ParsedResponse) -> Option<Node<'_>> {
        let data = &self.text_source()?.data;
        let (block, start) = *Self::starts(reading)
            .iter()
            .rev()
            .find(|(_, start)| *start <= offset)?;
        let inside = data.segments.iter().find(|segment| {
            segment.block() == block && segment.text().contains(&(offset - start))
        })?;
        let from = inside.doc().start;
        // Of a segment that holds more than one value, the one at this place of it.
        let at = if inside.is_verbatim() {
            from + (offset - start - inside.text().start)
        } else {
            from
        };
        let mut node = self.root();
        while node.is_container() {
            node = node.children().find(|child| child.range().end > at)?;
        }
        node.range().contains(&at).then_some(node)
    }

    /// The records of the data with their places in the text content that they were read from: whole lines, but where
    /// several share one.
    pub fn records_in_text(&self, reading: &ParsedResponse, text: &str) -> Vec<Record> {
        let mut places: Vec<(usize, Range<usize>)> = Vec::new();
        let starts = Self::starts(reading);
        for list in facts::record_lists(self.root()) {
            places.extend(
                list.children()
                    .filter_map(|record| Some((record.index(), self.place_in(&starts, record)?))),
            );
        }
        let bytes = text.as_bytes();
        let is_break = |byte: &u8| *byte == b'\n';
        // The line is looked for no further than to the record's neighbours, which may share it with a million others.
        let line_start = |place: &Range<usize>, before: usize| {
            let between = bytes.get(before..place.start)?;
            let found = between.iter().rposition(is_break).map(|at| before + at + 1);
            found.or_else(|| (before == 0 || is_break(&bytes[before - 1])).then_some(before))
        };
        let line_end = |place: &Range<usize>, after: usize| {
            let between = bytes.get(place.end..(after + 1).min(bytes.len()))?;
            let found = between.iter().position(is_break).map(|at| place.end + at);
            found.or_else(|| (after == bytes.len()).then_some(after))
        };
        let widened = |at: usize| {
            let (node, place) = &places[at];
            let before = at.checked_sub(1).map_or(0, |before| places[before].1.end);
            let after = places
                .get(at + 1)
                .map_or(text.len(), |(_, after)| after.start);
            let start = line_start(place, before).unwrap_or(place.start);
            let end = line_end(place, after).unwrap_or(place.end);
            Record {
                node: *node,
                places: std::iter::once(start..end).collect(),
            }
        };
        (0..places.len()).map(widened).collect()
    }

    /// Where it was found, for titles: `structuredContent`, `read from the text (key: value, 96%)`.
    pub fn origin_text(&self) -> String {
        match self.text_source() {
            None => "structuredContent".to_owned(),
            Some(source)
                if source.reader.certainty == Certainty::Marked && source.share > 0.995 =>
            {
                format!("read from the text ({})", source.reader.title)
            }
            // Rounded down: what was not read as a whole is not 100%.
            Some(source) => {
                let others = match source.data.others.len() as u64 {
                    0 => String::new(),
                    others => format!("; {} not read", number_of(others, "other tables")),
                };
                format!(
                    "read from the text ({}, {}%{others})",
                    source.reader.title,
                    (source.share * 100.0).floor()
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn data(result: &serde_json::Value) -> Option<ResultData> {
        let message = serde_json::json!({"jsonrpc": "2.0", "id": 1, "result": result}).to_string();
        ResultData::of(&ParsedResponse::read(Bytes::from(message)))
    }

    fn reader_of(data: &ResultData) -> (&'static str, Vec<usize>) {
        let source = data.text_source().unwrap();
        (
            source.reader.id,
            source
                .data
                .covered
                .iter()
                .map(|(block, _)| *block)
                .collect(),
        )
    }

    /// What the places of the records hold.
    fn records(text: &str) -> Vec<String> {
        let message = serde_json::json!({"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": text}]}});
        let reading = ParsedResponse::read(Bytes::from(message.to_string()));
        let records = ResultData::of(&reading)
            .unwrap()
            .records_in_text(&reading, text);
        records
            .iter()
            .map(|record| text[record.places[0].clone()].to_owned())
            .collect()
    }

    #[test]
    fn a_text_of_json_is_not_copied() {
        let message = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"[{\"a\":1}]"}]}}"#;
        let reading = ParsedResponse::read(Bytes::from_static(message.as_bytes()));
        let data = ResultData::of(&reading).unwrap();
        let text = reading.blocks[0].text.as_ref().unwrap();
        assert_eq!(
            (&data.doc.bytes()[..], data.doc.bytes().as_ptr()),
            (text.as_bytes(), text.as_ptr())
        );
        // A part of a text is, or the whole would be kept for it.
        let fenced = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"```json\n[{\"a\":1}]\n```"}]}}"#;
        let reading = ParsedResponse::read(Bytes::from_static(fenced.as_bytes()));
        let data = ResultData::of(&reading).unwrap();
        let text = reading.blocks[0]
            .text
            .as_ref()
            .unwrap()
            .as_bytes()
            .as_ptr_range();
        assert!(data.root().raw() == br#"[{"a":1}]"# && !text.contains(&data.doc.bytes().as_ptr()));
    }

    #[test]
    fn a_record_has_its_lines_but_where_others_share_them() {
        assert_eq!(
            records("[{\"a\":1},{\"a\":2},{\"a\":3}]"),
            ["[{\"a\":1}", "{\"a\":2}", "{\"a\":3}]"]
        );
        assert_eq!(
            records("[\n{\"a\":1},\n{\"a\":2}\n]"),
            ["{\"a\":1},", "{\"a\":2}"]
        );
        assert_eq!(
            records("[\n {\"a\":1}, {\"a\":2},\n {\"a\":3}\n]"),
            [" {\"a\":1}", "{\"a\":2},", " {\"a\":3}"]
        );
    }

    #[test]
    fn a_hundred_thousand_records_on_one_line_are_found_without_reading_the_line_for_each() {
        // Read anew for each record this would be a hundred gigabytes.
        let all: Vec<String> = (0..100_000)
            .map(|at| format!("{{\"number\":{at}}}"))
            .collect();
        let found = records(&format!("[{}]", all.join(",")));
        assert_eq!(
            (found.len(), found[50_000].as_str()),
            (100_000, "{\"number\":50000}")
        );
    }

    #[test]
    fn structured_comes_first_then_text_then_fence() {
        let text = |text: &str| serde_json::json!({"content": [{"type": "text", "text": "hi"}, {"type": "text", "text": text}]});
        let both = serde_json::json!({"content": [{"type": "text", "text": "[2]"}], "structuredContent": {"a": 1}});
        assert_eq!(data(&both).unwrap().root().raw_text(), r#"{"a":1}"#);
        assert_eq!(reader_of(&data(&text("[2]")).unwrap()), ("json", vec![1]));
        let fenced = data(&text("# Result\n\n```json\n{\"a\":\n 1}\n```\n")).unwrap();
        assert_eq!(reader_of(&fenced), ("fences", vec![1]));
        assert!(data(&text("no data")).is_none());
    }

    #[test]
    fn several_blocks_or_fences_of_json_are_a_list() {
        let blocks = serde_json::json!({"content": [
            {"type": "text", "text": "{\"id\":1}"}, {"type": "text", "text": "and"}, {"type": "text", "text": " {\"id\": 2.0}\n"}
        ]});
        let found = data(&blocks).unwrap();
        assert_eq!(
            (reader_of(&found), found.root().raw_text().into_owned()),
            (
                ("json-blocks", vec![0, 2]),
                r#"[{"id":1},{"id": 2.0}]"#.to_owned()
            )
        );
        assert_eq!(
            found.origin_text(),
            "read from the text (JSON, a block each, 85%)"
        );
        let fences =
            "Rain.\n\n```json\n{\"temp\":4}\n```\n\nTomorrow:\n```json\n{\"temp\":9}\n```\n";
        let found =
            data(&serde_json::json!({"content": [{"type": "text", "text": fences}]})).unwrap();
        assert_eq!(reader_of(&found), ("fences", vec![0, 0]));
        let temps: Vec<_> = found
            .root()
            .children()
            .map(|child| child.at("/temp").unwrap().raw_text().into_owned())
            .collect();
        assert_eq!(temps, ["4", "9"]);
        assert_eq!(found.origin_text(), "read from the text (Fences, 74%)");
    }

    #[test]
    fn what_stands_in_a_cell_has_its_place() {
        let text = "| id | tags |\n|---|---|\n| 1 | [\"a\",{\"b\":2}] |\n| 2 | [\"a&amp;b\"] |\n";
        let message = serde_json::json!({"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": text}]}});
        let reading = ParsedResponse::read(Bytes::from(message.to_string()));
        let found = ResultData::of(&reading).unwrap();
        let place = |pointer: &str| {
            found
                .place_in_text(found.root().at(pointer).unwrap(), &reading)
                .map(|place| &text[place])
        };
        assert_eq!(
            [place("/0/tags/1/b"), place("/0/id"), place("/1/tags/0")],
            [Some("2"), Some("1"), Some("[\"a&amp;b\"]")]
        );
        let leaf = |what: &str| {
            found
                .leaf_at(text.find(what).unwrap(), &reading)
                .map(|node| node.pointer())
        };
        assert_eq!(
            [leaf("2}"), leaf("\"a\"")].map(Option::unwrap),
            ["/0/tags/1/b", "/0/tags/0"]
        );
    }

    #[test]
    fn fixtures_without_a_reader_take_the_first_value() {
        let blocks = serde_json::json!({"content": [{"type": "text", "text": "{\"id\":1}"}, {"type": "text", "text": "{\"id\":2}"}]});
        let message = serde_json::json!({"jsonrpc": "2.0", "id": 1, "result": blocks}).to_string();
        let reading = ParsedResponse::read(Bytes::from(message));
        let first = ResultData::first(&reading).unwrap();
        assert_eq!(
            (reader_of(&first).0, first.root().raw_text().into_owned()),
            ("json-blocks", r#"{"id":1}"#.to_owned())
        );
        let by = |id: &str| ResultData::read_by(&reading, reader::by_id(id).unwrap());
        assert!(by("json").is_none(), "two blocks are not one");
        assert_eq!(by("json-blocks").unwrap().root().len(), 2);
    }
}
