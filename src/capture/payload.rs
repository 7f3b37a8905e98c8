//! The payload: the data in an answer, and where it was found.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::reading::Reading;
use crate::json::{Doc, Node};

/// Where the payload was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `structuredContent`.
    Structured,
    /// A text block that is JSON as a whole.
    Text { block: usize },
    /// The first fence in a text block that holds JSON; the range is within that block's text.
    Fence { block: usize, range: Range<usize> },
}

/// The data in an answer, indexed.
#[derive(Clone, Debug)]
pub struct Payload {
    pub origin: Origin,
    pub doc: Arc<Doc>,
    /// Tape index of the payload's root in `doc`.
    pub root: usize,
}

impl Payload {
    /// `structuredContent`; failing that, the first text block that is JSON as a whole; failing that, the first
    /// fence that holds JSON; failing that, none.
    pub fn of(reading: &Reading) -> Option<Self> {
        if let Some(node) = reading.structured() {
            return Some(Self { origin: Origin::Structured, doc: Arc::clone(&reading.doc), root: node.index() });
        }
        Self::in_texts(reading)
    }

    /// The first text block that is JSON as a whole; failing that, the first fence that holds JSON; failing that,
    /// none.
    pub fn in_texts(reading: &Reading) -> Option<Self> {
        let found = |origin, doc: Doc| Self { origin, doc: Arc::new(doc), root: 0 };
        for block in reading.text_blocks() {
            if let Some(doc) = block.text.as_deref().and_then(as_json) {
                return Some(found(Origin::Text { block: block.index }, doc));
            }
        }
        for block in reading.text_blocks() {
            let text = block.text.as_deref().unwrap_or("");
            if let Some((range, doc)) = first_json_fence(text) {
                return Some(found(Origin::Fence { block: block.index, range }, doc));
            }
        }
        None
    }

    /// The payload of a bare JSON value; `None` where not even its first byte could be read.
    pub fn of_doc(doc: Doc) -> Option<Self> {
        doc.root()?;
        Some(Self { origin: Origin::Structured, doc: Arc::new(doc), root: 0 })
    }

    pub fn root(&self) -> Node<'_> {
        // `root` always names a node: `of` and `of_doc` only build it from one.
        self.doc.node(self.root).unwrap_or_else(|| unreachable!("a payload is only made from a document with a root"))
    }

    /// Where it was found, for titles.
    pub fn origin_text(&self) -> &'static str {
        match self.origin {
            Origin::Structured => "structuredContent",
            Origin::Text { .. } => "JSON read from the text",
            Origin::Fence { .. } => "JSON read from a fence in the text",
        }
    }
}

fn as_json(text: &str) -> Option<Doc> {
    let doc = Doc::parse(Bytes::copy_from_slice(text.as_bytes()));
    doc.is_json().then_some(doc)
}

fn first_json_fence(text: &str) -> Option<(Range<usize>, Doc)> {
    if !text.contains("```") && !text.contains("~~~") {
        return None;
    }
    let mut inside: Option<Range<usize>> = None;
    let mut in_fence = false;
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => {
                in_fence = true;
                inside = None;
            }
            Event::Text(_) if in_fence => {
                inside = Some(inside.map_or(range.clone(), |known| known.start..range.end));
            }
            Event::End(TagEnd::CodeBlock) if in_fence => {
                in_fence = false;
                if let Some(range) = inside.take()
                    && let Some(doc) = as_json(&text[range.clone()])
                {
                    return Some((range, doc));
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(result: &serde_json::Value) -> Option<Payload> {
        let message = serde_json::json!({"jsonrpc": "2.0", "id": 1, "result": result}).to_string();
        Payload::of(&Reading::read(Bytes::from(message)))
    }

    #[test]
    fn structured_comes_first_then_text_then_fence() {
        let text = |text: &str| serde_json::json!({"content": [{"type": "text", "text": "hi"}, {"type": "text", "text": text}]});
        let both = serde_json::json!({"content": [{"type": "text", "text": "[2]"}], "structuredContent": {"a": 1}});
        assert_eq!(payload(&both).unwrap().root().raw_text(), r#"{"a":1}"#);
        assert_eq!(payload(&text("[2]")).unwrap().origin, Origin::Text { block: 1 });
        let fenced = payload(&text("# Result\n\n```json\n{\"a\":\n 1}\n```\n")).unwrap();
        assert_eq!(fenced.origin, Origin::Fence { block: 1, range: 18..28 });
        assert!(payload(&text("no data")).is_none());
    }
}
