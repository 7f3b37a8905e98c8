//! JSON Lines: every line that is not blank is a JSON object or array.

use bytes::Bytes;

use super::{Certainty, Reader, TextBlock, TextData, json};
use crate::json::Doc;
use crate::layout::filled_lines;

pub(super) static JSON_LINES: Reader =
    Reader::new("json-lines", "JSON Lines", Certainty::Marked, read);

fn read(block: TextBlock<'_>) -> Option<TextData> {
    let mut found = Vec::new();
    for line in filled_lines(block.text) {
        if !line.text.trim_start().starts_with(['{', '[']) {
            return None;
        }
        let doc = Doc::parse(Bytes::copy_from_slice(line.text.as_bytes()));
        if !doc.is_json() {
            return None;
        }
        found.push((line.at, doc));
    }
    let parts = found
        .iter()
        .filter_map(|(at, doc)| Some((block.block, *at, doc.root()?.range(), doc)));
    (found.len() > 1).then(|| json::list(parts)).flatten()
}
