//! Text blocks that are JSON as a whole.

use bytes::Bytes;

use super::build::Segment;
use super::{Certainty, Read, Reader, TextBlock, TextData};
use crate::json::Doc;

pub(super) static JSON: Reader = Reader {
    id: "json",
    title: "JSON",
    certainty: Certainty::Marked,
    read: Read::Blocks(one),
};
pub(super) static JSON_BLOCKS: Reader = Reader {
    id: "json-blocks",
    title: "JSON, a block each",
    certainty: Certainty::Marked,
    read: Read::Blocks(several),
};

/// A document that is the whole of a text, read as it is.
pub(super) fn as_json(block: TextBlock<'_>) -> Option<Doc> {
    if !block.text.trim_start().starts_with(|char: char| {
        matches!(char, '{' | '[' | '"' | 't' | 'f' | 'n' | '-') || char.is_ascii_digit()
    }) {
        return None;
    }
    let doc = Doc::parse(block.bytes());
    doc.is_json().then_some(doc)
}

fn find_documents(blocks: &[TextBlock<'_>]) -> Vec<(usize, Doc)> {
    blocks
        .iter()
        .filter_map(|block| Some((block.block, as_json(*block)?)))
        .collect()
}

fn one(blocks: &[TextBlock<'_>]) -> Option<TextData> {
    let mut found = find_documents(blocks);
    let (block, doc) = found.pop().filter(|_| found.is_empty())?;
    let range = doc.root()?.range();
    let segments = vec![Segment::verbatim(range.clone(), block, range.start)];
    Some(TextData::new(doc, segments))
}

fn several(blocks: &[TextBlock<'_>]) -> Option<TextData> {
    let found = find_documents(blocks);
    let parts = found
        .iter()
        .filter_map(|(block, doc)| Some((*block, 0, doc.root()?.range(), doc)));
    (found.len() > 1).then(|| list(parts)).flatten()
}

/// The list of documents, each with its block, where its text begins in it, and the range of its root.
pub(super) fn list<'a>(
    parts: impl Iterator<Item = (usize, usize, std::ops::Range<usize>, &'a Doc)>,
) -> Option<TextData> {
    let mut json = vec![b'['];
    let mut segments = Vec::new();
    for (block, base, range, doc) in parts {
        if json.len() > 1 {
            json.push(b',');
        }
        let start = json.len();
        json.extend_from_slice(&doc.bytes()[range.clone()]);
        segments.push(Segment::verbatim(
            start..json.len(),
            block,
            base + range.start,
        ));
    }
    json.push(b']');
    let doc = Doc::parse(Bytes::from(json));
    (doc.is_json() && !segments.is_empty()).then(|| TextData::new(doc, segments))
}
