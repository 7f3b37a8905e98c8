//! The JSON of what is read, and where each value stands.

use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;
use foldhash::{HashMap, HashMapExt};

use super::{OtherTable, TextBlock, TextData};
use crate::json::{Doc, Kind, write};
use crate::layout::{Line, ordinal};

/// A part of the document and the part of a text that it came from; both are below 4 GiB, as all that is indexed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    doc: [u32; 2],
    text: [u32; 2],
    block: u32,
    is_verbatim: bool,
}

impl Segment {
    fn new(doc: Range<usize>, block: usize, text: Range<usize>) -> Self {
        let [doc, text] = [doc, text].map(|range| [small(range.start), small(range.end)]);
        Self {
            doc,
            text,
            block: small(block),
            is_verbatim: false,
        }
    }

    pub(super) fn verbatim(doc: Range<usize>, block: usize, at: usize) -> Self {
        let text = at..at + doc.len();
        Self {
            is_verbatim: true,
            ..Self::new(doc, block, text)
        }
    }

    /// Moves the place in the text, for a text that begins so many bytes earlier.
    fn move_by(&mut self, bytes: usize) {
        self.text = self.text.map(|at| small(at as usize + bytes));
    }

    /// Bytes of the document.
    pub fn doc(&self) -> Range<usize> {
        self.doc[0] as usize..self.doc[1] as usize
    }

    /// Bytes of the block's text; as many as in the document where the document has them word for word.
    pub fn text(&self) -> Range<usize> {
        self.text[0] as usize..self.text[1] as usize
    }

    /// The block's position in `content`.
    pub fn block(&self) -> usize {
        self.block as usize
    }

    /// Whether the text is in the document word for word.
    pub fn is_verbatim(&self) -> bool {
        self.is_verbatim
    }

    pub(super) fn source(&self, doc: &Range<usize>) -> Option<(usize, Range<usize>)> {
        let own = self.doc();
        let is_inside = own.start <= doc.start && doc.end <= own.end;
        let at = self.text().start + doc.start.saturating_sub(own.start);
        is_inside.then(|| {
            (
                self.block(),
                if self.is_verbatim {
                    at..at + doc.len()
                } else {
                    self.text()
                },
            )
        })
    }
}

pub(super) fn small(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl TextData {
    pub(super) fn new(doc: impl Into<std::sync::Arc<Doc>>, segments: Vec<Segment>) -> Self {
        let doc = doc.into();
        Self {
            records: records(&doc),
            doc,
            segments,
            labels: Vec::new(),
            covered: Vec::new(),
            others: Vec::new(),
            layout: Vec::new(),
            continuations: Vec::new(),
        }
    }

    /// Moves every place in the text, for a text that begins so many bytes earlier.
    pub(super) fn move_by(&mut self, bytes: usize) {
        self.segments
            .iter_mut()
            .for_each(|segment| segment.move_by(bytes));
        let places = self
            .labels
            .iter_mut()
            .chain(&mut self.layout)
            .chain(&mut self.continuations)
            .map(|(_, range)| range);
        for range in places.chain(self.others.iter_mut().map(|other| &mut other.range)) {
            *range = range.start + bytes..range.end + bytes;
        }
    }
}

/// The elements of the list that a document is, or that is its only list.
fn records(doc: &Doc) -> usize {
    let Some(root) = doc.root() else { return 0 };
    match root.kind() {
        Kind::Array => root.len(),
        Kind::Object => {
            let mut lists = root.children().filter(|child| child.kind() == Kind::Array);
            match (lists.next(), lists.next()) {
                (Some(list), None) => list.len(),
                _ => 1,
            }
        }
        _ => 1,
    }
}

/// Characters that are not white space.
pub(super) fn blank_free(text: &str) -> usize {
    if text.is_ascii() {
        return text
            .bytes()
            .filter(|byte| !matches!(byte, b'\t'..=b'\r' | b' '))
            .count();
    }
    text.chars().filter(|char| !char.is_whitespace()).count()
}

/// Ranges in order, those that touch or overlap made one.
pub fn merge_ranges(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut out: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match out.last_mut().filter(|last| last.end >= range.start) {
            Some(last) => last.end = last.end.max(range.end),
            None => out.push(range),
        }
    }
    out
}

/// A value as it is in a text, with the place of it.
#[derive(Clone, Debug)]
pub(super) struct Cell<'a> {
    pub text: Cow<'a, str>,
    pub at: Range<usize>,
    /// It was in quotes: a text, whatever it looks like.
    pub is_quoted: bool,
}

impl<'a> Cell<'a> {
    pub fn new(text: impl Into<Cow<'a, str>>, at: Range<usize>) -> Self {
        Self {
            text: text.into(),
            at,
            is_quoted: false,
        }
    }
}

/// A value of a record.
#[derive(Clone, Debug)]
pub(super) enum Value<'a> {
    Cell(Cell<'a>),
    List(Vec<Value<'a>>),
    Record(Record<'a>),
}

/// Members by name, in the order of the text.
pub(super) type Record<'a> = Vec<(Cow<'a, str>, Value<'a>)>;

/// Writes the data of one block as JSON.
pub(super) struct Builder {
    block: usize,
    json: String,
    segments: Vec<Segment>,
    labels: Vec<(usize, Range<usize>)>,
    layout: Vec<(usize, Range<usize>)>,
    continuations: Vec<(usize, Range<usize>)>,
    others: Vec<OtherTable>,
    /// Indent and last number of the open ordered lists.
    ordinals: Vec<(usize, u32)>,
    needs_comma: bool,
}

/// A state of a [`Builder`] to go back to.
pub(super) struct Checkpoint {
    json: usize,
    segments: usize,
    continuations: usize,
    needs_comma: bool,
}

impl Builder {
    pub fn new(block: &TextBlock<'_>) -> Self {
        Self {
            block: block.block,
            json: String::new(),
            segments: Vec::new(),
            labels: Vec::new(),
            layout: Vec::new(),
            continuations: Vec::new(),
            others: Vec::new(),
            ordinals: Vec::new(),
            needs_comma: false,
        }
    }

    pub(crate) fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            json: self.json.len(),
            segments: self.segments.len(),
            continuations: self.continuations.len(),
            needs_comma: self.needs_comma,
        }
    }

    /// Drops the values written since.
    pub(crate) fn roll_back(&mut self, to: &Checkpoint) {
        self.json.truncate(to.json);
        self.segments.truncate(to.segments);
        self.continuations.truncate(to.continuations);
        self.needs_comma = to.needs_comma;
    }

    /// Makes the values written so far the elements of one list.
    pub(crate) fn wrap_in_list(&mut self) {
        self.json.insert(0, '[');
        self.json.push(']');
        for segment in &mut self.segments {
            segment.doc = segment.doc.map(|at| at.saturating_add(1));
        }
    }

    fn comma(&mut self) {
        if self.needs_comma {
            self.json.push(',');
        }
        self.needs_comma = true;
    }

    pub fn open(&mut self, bracket: char) {
        self.comma();
        self.json.push(bracket);
        self.needs_comma = false;
    }

    pub fn close(&mut self, bracket: char) {
        self.json.push(bracket);
        self.needs_comma = true;
    }

    pub fn key(&mut self, key: &str) {
        self.comma();
        write::push_string(&mut self.json, key);
        self.json.push(':');
        self.needs_comma = false;
    }

    /// A value that is written as this JSON.
    pub fn leaf(&mut self, json: &str, at: Range<usize>) {
        let is_verbatim = at.len() == json.len() && json.starts_with(['{', '[']);
        self.written(at, is_verbatim, |out| out.push_str(json));
    }

    fn written(&mut self, at: Range<usize>, is_verbatim: bool, write: impl FnOnce(&mut String)) {
        self.comma();
        let start = self.json.len();
        write(&mut self.json);
        self.segments.push(Segment {
            is_verbatim,
            ..Segment::new(start..self.json.len(), self.block, at)
        });
    }

    /// A text as the value that it is: a number by JSON's grammar, `true`, `false`, an object or a list in JSON, null
    /// where there is none; all else is text.
    pub fn typed(&mut self, text: &str, at: Range<usize>) {
        match text {
            "" => self.leaf("null", at),
            "true" | "false" | "null" => self.leaf(text, at),
            _ if is_number(text) || is_json(text) => self.leaf(text, at),
            _ => self.text(text, at),
        }
    }

    pub fn text(&mut self, text: &str, at: Range<usize>) {
        self.written(at, false, |out| write::push_string(out, text));
    }

    pub fn value(&mut self, value: &Value<'_>) {
        match value {
            Value::Cell(cell) if cell.is_quoted => self.text(&cell.text, cell.at.clone()),
            Value::Cell(cell) => self.typed(&cell.text, cell.at.clone()),
            Value::List(values) => {
                self.open('[');
                values.iter().for_each(|value| self.value(value));
                self.close(']');
            }
            Value::Record(record) => self.record(record),
        }
    }

    pub fn record(&mut self, record: &Record<'_>) {
        self.open('{');
        self.members(record);
        self.close('}');
    }

    /// Members of an object; a name that comes again is numbered.
    fn members(&mut self, record: &Record<'_>) {
        let mut taken: HashMap<&str, usize> = HashMap::with_capacity(record.len());
        for (name, value) in record {
            let count = taken.entry(name).or_default();
            *count += 1;
            match *count {
                1 => self.key(name),
                count => self.key(&format!("{name} ({count})")),
            }
            self.value(value);
        }
    }

    /// The exact place of a label: a key, the head of a column, the name of a tag.
    pub fn label(&mut self, range: Range<usize>) {
        if !range.is_empty() {
            self.labels.push((self.block, range));
        }
    }

    /// A token of the grammar that holds letters or digits, such as `<?xml version="1.0"?>`. It may hold labels and values.
    pub(crate) fn mark_layout(&mut self, range: Range<usize>) {
        match self
            .layout
            .last_mut()
            .filter(|(_, last)| last.end == range.start)
        {
            Some((_, last)) => last.end = range.end,
            None => self.layout.push((self.block, range)),
        }
    }

    /// A further part of the value written last or next, parted from the rest of it by what is no value.
    pub(crate) fn continue_value(&mut self, range: Range<usize>) {
        self.continuations.push((self.block, range));
    }

    /// A table that is not in the data.
    pub(crate) fn add_other(&mut self, head: Vec<String>, rows: usize, range: Range<usize>) {
        self.others.push(OtherTable {
            block: self.block,
            range,
            head,
            rows,
        });
    }

    /// Takes the number of an ordered item as layout where it only counts: it is 1, or follows the number before it.
    pub(crate) fn count_item(&mut self, line: &Line<'_>) {
        let Some(digits) = ordinal(&line.text[line.indent..]) else {
            return;
        };
        let Ok(number) = digits.parse::<u32>() else {
            return;
        };
        while self
            .ordinals
            .last()
            .is_some_and(|(indent, _)| *indent > line.indent)
        {
            self.ordinals.pop();
        }
        let last = self
            .ordinals
            .pop_if(|(indent, _)| *indent == line.indent)
            .map(|(_, last)| last);
        self.ordinals.push((line.indent, number));
        if number == 1 || last.is_some_and(|last| number == last + 1) {
            self.mark_layout(line.place_of(digits));
        }
    }

    /// Records with what stands once around them, each freed when it is written. One record alone, where the layout is no list, is an object.
    pub fn records<'a, R>(
        mut self,
        envelope: &Record<'_>,
        records: R,
        is_list: bool,
    ) -> Option<TextData>
    where
        R: IntoIterator<Item = Value<'a>, IntoIter: ExactSizeIterator>,
    {
        let records = records.into_iter();
        let count = records.len();
        if count == 0 {
            return None;
        }
        let is_alone = envelope.is_empty() && count == 1 && !is_list;
        if merges_records(envelope) {
            return None;
        }
        if !envelope.is_empty() {
            self.open('{');
            self.members(envelope);
            let is_taken = envelope.iter().any(|(name, _)| name == "records");
            self.key(if is_taken { "records (2)" } else { "records" });
        }
        if !is_alone {
            self.open('[');
        }
        for record in records {
            if let (true, Value::Record(record)) = (is_alone, &record)
                && merges_records(record)
            {
                return None;
            }
            self.value(&record);
        }
        if !is_alone {
            self.close(']');
        }
        if !envelope.is_empty() {
            self.close('}');
        }
        Some(TextData {
            records: count,
            ..self.done()?
        })
    }

    /// The data, where it is an object or a list.
    pub fn done(mut self) -> Option<TextData> {
        self.segments.shrink_to_fit();
        let doc = Doc::parse(Bytes::from(self.json));
        if !doc.is_json() || !doc.root()?.is_container() {
            return None;
        }
        let Self {
            segments,
            labels,
            layout,
            continuations,
            others,
            ..
        } = self;
        Some(TextData {
            labels,
            layout,
            continuations,
            others,
            ..TextData::new(doc, segments)
        })
    }
}

/// Whether one object holds what are several records: its first name comes again, and so does another.
fn merges_records(record: &Record<'_>) -> bool {
    let mut counts: HashMap<&str, u32> = HashMap::with_capacity(record.len());
    record
        .iter()
        .for_each(|(name, _)| *counts.entry(name).or_default() += 1);
    let again = counts.values().filter(|count| **count > 1).count();
    again > 1 && record.first().is_some_and(|(name, _)| counts[&**name] > 1)
}

/// Whether a text is a number by JSON's grammar.
pub(super) fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.starts_with(|char: char| char.is_ascii_digit())
        && digits.len() < 400
        && serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok()
}

/// Whether a text is an object or a list in JSON.
fn is_json(text: &str) -> bool {
    text.starts_with(['{', '['])
        && text.ends_with(['}', ']'])
        && Doc::parse(Bytes::copy_from_slice(text.as_bytes())).is_json()
}

/// Parts of a text whose first name comes again are records; the others stand around them.
pub(super) fn repeated<T>(parts: Vec<T>, first: impl Fn(&T) -> Option<&str>) -> (Vec<T>, Vec<T>) {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    parts
        .iter()
        .filter_map(&first)
        .for_each(|name| *counts.entry(name).or_default() += 1);
    let is_record: Vec<bool> = parts
        .iter()
        .map(|part| first(part).is_some_and(|name| counts[name] > 1))
        .collect();
    let mut is_record = is_record.into_iter();
    parts
        .into_iter()
        .partition(|_| is_record.next().unwrap_or_default())
}

/// A part of a line as a cell, trimmed.
pub(super) fn cell<'a>(line: &Line<'a>, part: &'a str) -> Cell<'a> {
    let part = part.trim();
    Cell::new(part, line.place_of(part))
}

/// The first place of any of these marks, none of which has letters or begins another, and which one it is. A line is so short
/// that it takes longer to make a mark ready for a search than to look for it.
pub(super) fn first_of(text: &str, marks: &[&str]) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let may_begin = |at: &usize| !bytes[*at].is_ascii_alphanumeric();
    let begins = |at: usize| {
        Some((
            at,
            marks
                .iter()
                .position(|mark| bytes[at..].starts_with(mark.as_bytes()))?,
        ))
    };
    (0..bytes.len()).filter(may_begin).find_map(begins)
}
