//! CSV and TSV: a head and rows with as many fields.

use csv::{ReaderBuilder, StringRecord};

use super::build::{Builder, Cell, Value};
use super::{Certainty, Reader, TextBlock, TextData, first_block};

pub(super) static CSV: Reader =
    Reader { id: "csv", title: "CSV", certainty: Certainty::Language, read: |blocks| first_block(blocks, read_commas) };
pub(super) static TSV: Reader =
    Reader { id: "tsv", title: "TSV", certainty: Certainty::Language, read: |blocks| first_block(blocks, read_tabs) };

/// The most bytes between two fields: a delimiter, quotes, a line end.
const GAP: usize = 4;
/// The longest name of a column, in bytes: a sentence is none.
const NAME: usize = 60;

pub(super) fn read_commas(block: TextBlock<'_>) -> Option<TextData> {
    read(block, b',')
}

pub(super) fn read_tabs(block: TextBlock<'_>) -> Option<TextData> {
    read(block, b'\t')
}

fn read(block: TextBlock<'_>, delimiter: u8) -> Option<TextData> {
    let skip = block.text.len() - block.text.trim_start_matches(['\n', '\r']).len();
    let text = block.text[skip..].trim_end();
    if !text.lines().next()?.as_bytes().contains(&delimiter) {
        return None;
    }
    let mut reader = ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(text.as_bytes());
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
    builder.open('[');
    let mut records = 0;
    let mut record = StringRecord::new();
    loop {
        match reader.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) => break,
            Err(_) => return None,
        }
        // The last fields may be left out of a row of many.
        if record.len() > head.len() || record.len() < head.len().min(3) || record.len() * 2 < head.len() {
            return None;
        }
        let start = usize::try_from(record.position()?.byte()).ok()?;
        let mut from = start;
        let named = head.iter().zip(record.iter()).map(|(name, field)| {
            // The field stands at its first place from here on, as far as no quotes within it are doubled.
            let mut ahead = text.len().min(from + field.len() + GAP);
            while !text.is_char_boundary(ahead) {
                ahead += 1;
            }
            let at = text[from..ahead].find(field).filter(|_| !field.is_empty()).map_or(from, |found| from + found);
            from = (at + field.len()).min(text.len());
            while !text.is_char_boundary(from) {
                from -= 1;
            }
            (name.into(), Value::Cell(Cell { text: field.into(), at: skip + at..skip + from, is_quoted: false }))
        });
        builder.record(&named.collect());
        records += 1;
    }
    builder.close(']');
    builder.cover(skip..skip + text.len());
    (records > 0).then(|| builder.done(records)).flatten()
}
