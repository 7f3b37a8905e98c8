//! CSV and TSV: a head and rows with as many fields, up to a note below an empty line.

use std::ops::Range;

use csv::{ReaderBuilder, StringRecord};

use super::build::{Builder, Cell, Value};
use super::{Certainty, Reader, TextBlock, TextData};

pub(super) static CSV: Reader = Reader::new("csv", "CSV", Certainty::Language, read_commas);
pub(super) static TSV: Reader = Reader::new("tsv", "TSV", Certainty::Language, read_tabs);

/// The longest name of a column, in bytes: a sentence is none.
const NAME: usize = 60;

pub(super) fn read_commas(block: TextBlock<'_>) -> Option<TextData> {
    read(block, b',')
}

pub(super) fn read_tabs(block: TextBlock<'_>) -> Option<TextData> {
    read(block, b'\t')
}

fn read(block: TextBlock<'_>, delimiter: u8) -> Option<TextData> {
    let skip = block.text.len()
        - block
            .text
            .trim_start_matches(['\u{feff}', '\n', '\r'])
            .len();
    let text = block.text[skip..].trim_end();
    if !text.lines().next()?.as_bytes().contains(&delimiter) {
        return None;
    }
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .flexible(true)
        .from_reader(text.as_bytes());
    let head = reader.headers().ok()?.clone();
    let is_name = |name: &str| {
        !name.trim().is_empty()
            && name.len() <= NAME
            && name.starts_with(|char: char| char.is_alphabetic() || "_#$%@".contains(char))
            && !name.ends_with('.')
            && !name.contains(['[', ']', '{', '}', ':', ';'])
    };
    if head.len() < 2 || !head.iter().all(is_name) {
        return None;
    }
    let mut builder = Builder::new(&block);
    let mut places = Places {
        text,
        base: skip,
        delimiter,
        at: 0,
    };
    let labels: Vec<Range<usize>> = head.iter().map(|name| places.next(name)).collect();
    // How many of the columns any row has.
    let mut filled = 0;
    builder.open('[');
    let mut records = 0;
    // The rows before the last empty line.
    let mut before_gap = None;
    let mut record = StringRecord::new();
    loop {
        match reader.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) => break,
            Err(_) => return None,
        }
        places.at = usize::try_from(record.position()?.byte()).ok()?;
        if places.skip_empty_lines() && records > 0 {
            before_gap = Some((builder.checkpoint(), records));
        }
        if record.len() == 1 && record[0].trim().is_empty() {
            before_gap = Some((builder.checkpoint(), records));
            continue;
        }
        // The last fields may be left out of a row of many.
        if record.len() > head.len()
            || record.len() < head.len().min(3)
            || record.len() * 2 < head.len()
        {
            // What follows an empty line may be a note.
            let (checkpoint, count) = before_gap?;
            builder.roll_back(&checkpoint);
            records = count;
            break;
        }
        let named = head.iter().zip(record.iter()).map(|(name, field)| {
            let at = places.next(field);
            (name.into(), Value::Cell(Cell::new(field, at)))
        });
        builder.record(&named.collect());
        filled = filled.max(record.len());
        records += 1;
    }
    builder.close(']');
    labels
        .into_iter()
        .take(filled)
        .for_each(|label| builder.label(label));
    (records > 0).then(|| builder.done()).flatten()
}

/// Places of fields, which are asked for in the order of the text.
struct Places<'a> {
    text: &'a str,
    /// Where the text begins in its block.
    base: usize,
    delimiter: u8,
    at: usize,
}

impl Places<'_> {
    /// The place of the next field without its quotes, where it is known what it says; goes on behind its delimiter.
    fn next(&mut self, field: &str) -> Range<usize> {
        let bytes = self.text.as_bytes();
        let ends = |at: usize| {
            bytes
                .get(at)
                .is_none_or(|byte| *byte == self.delimiter || matches!(byte, b'\n' | b'\r'))
        };
        let is_quoted = bytes.get(self.at) == Some(&b'"');
        let start = self.at + usize::from(is_quoted);
        let end = start + field.len();
        let (end, after) = if is_quoted
            && bytes.get(end) == Some(&b'"')
            && ends(end + 1)
            && !field.contains('"')
        {
            (end, end + 1)
        } else if is_quoted {
            self.quoted_end(start)
        } else {
            (end.min(bytes.len()), end)
        };
        self.at = (after + 1).min(bytes.len());
        self.base + start..self.base + end
    }

    /// Where a quoted field ends, and where its delimiter stands: quotes in it are doubled.
    fn quoted_end(&self, start: usize) -> (usize, usize) {
        let bytes = self.text.as_bytes();
        let mut at = start;
        while let Some(quote) = bytes[at..]
            .iter()
            .position(|byte| *byte == b'"')
            .map(|found| at + found)
        {
            if bytes.get(quote + 1) != Some(&b'"') {
                let is_end = |byte: &u8| *byte == self.delimiter || matches!(byte, b'\n' | b'\r');
                let after = bytes[quote..]
                    .iter()
                    .position(is_end)
                    .map_or(bytes.len(), |found| quote + found);
                return (if after == quote + 1 { quote } else { after }, after);
            }
            at = quote + 2;
        }
        (bytes.len(), bytes.len())
    }

    /// Whether empty lines stand here; goes on behind them.
    fn skip_empty_lines(&mut self) -> bool {
        let ends = self.text.as_bytes()[self.at..]
            .iter()
            .take_while(|byte| matches!(byte, b'\n' | b'\r'));
        let count = ends.clone().count();
        let is_empty = ends.filter(|byte| **byte == b'\n').count() > 0;
        self.at += count;
        is_empty
    }
}
