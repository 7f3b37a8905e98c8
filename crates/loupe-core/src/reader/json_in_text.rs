//! A JSON value in a sentence: the longest object or array of a text that parses whole and is not empty.

use bytes::Bytes;

use super::build::Segment;
use super::{Certainty, Reader, TextBlock, TextData, begins_as_json};
use crate::json::{Doc, FaultKind, Kind, Node};
use crate::layout::line_end;

pub(super) static JSON_IN_TEXT: Reader = Reader::new(
    "json-in-text",
    "JSON in a sentence",
    Certainty::Marked,
    read,
);

/// How many times its own length is looked at of a text at most: brackets that never close would else make it quadratic.
const LOOKS: usize = 4;

/// An object with a member, or a list of more than one number in brackets, which is a note.
fn is_data(root: Node<'_>) -> bool {
    match root.kind() {
        Kind::Object => !root.is_empty(),
        _ => {
            root.len() > 1
                || root
                    .children()
                    .any(|child| child.is_container() && !child.is_empty())
        }
    }
}

/// `items[2]` is no list.
fn follows_word(before: &str) -> bool {
    before.ends_with(|char: char| char.is_alphanumeric() || char == '_')
}

/// `…,"[1,2]",…` is a cell of CSV.
fn is_quoted_cell(before: &str, after: &str) -> bool {
    let (Some(before), Some(after)) = (before.strip_suffix('"'), after.strip_prefix('"')) else {
        return false;
    };
    let (begins, ends) = (
        before.ends_with([',', ';', '\t', '\n']),
        after.starts_with([',', ';', '\t', '\r', '\n']),
    );
    (begins && (ends || after.is_empty())) || (before.is_empty() && ends)
}

fn read(block: TextBlock<'_>) -> Option<TextData> {
    let bytes = Bytes::copy_from_slice(block.text.as_bytes());
    let mut budget = bytes.len() * LOOKS;
    let (mut at, mut best) = (0, None::<(usize, usize)>);
    // Where the line begins that `at` is in.
    let mut line = 0;
    while let Some(start) = block.text[at..].find(['{', '[']).map(|found| at + found) {
        line = block.text[at..start]
            .rfind('\n')
            .map_or(line, |end| at + end + 1);
        // What is in a cell of a table is the cell's.
        if block.text[line..].starts_with('|') {
            at = line_end(block.text, start);
            continue;
        }
        let doc = Doc::parse(bytes.slice(start..));
        let fault = doc.faults().iter().find(|fault| fault.kind.is_fatal());
        let (end, is_value) = match fault {
            None => (bytes.len(), true),
            Some(fault) => (start + fault.at, fault.kind == FaultKind::TrailingData),
        };
        let root = doc
            .root()
            .filter(|root| is_value && is_data(*root) && !follows_word(&block.text[..start]));
        if let Some(root) = root {
            let end = start + root.range().end;
            let is_longer = best.is_none_or(|(from, to)| end - start > to - from);
            if is_longer && !is_quoted_cell(&block.text[..start], &block.text[end..]) {
                best = Some((start, end));
            }
            at = end;
            continue;
        }
        // JSON that was cut short is not one of its own records.
        if at == 0 && begins_as_json(&block.text[start..]) && block.text[..start].trim().is_empty()
        {
            return None;
        }
        budget = budget.checked_sub(end - start + 1)?;
        at = start + 1;
    }
    let (start, end) = best?;
    let doc = Doc::parse(bytes.slice(start..end));
    let segments = vec![Segment::verbatim(0..end - start, block.block, start)];
    Some(TextData::new(doc, segments))
}
