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
    /// Several text blocks that are each JSON as a whole: the payload is the list of them.
    Texts { blocks: Vec<usize> },
    /// A fence in a text block that holds JSON.
    Fence { block: usize },
    /// Several such fences in one text block: the payload is the list of them.
    Fences { block: usize },
}

/// A way of reading data from the texts of an answer, in the order in which they are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// One text block that is JSON as a whole.
    Json,
    /// Several text blocks that are each JSON as a whole.
    JsonBlocks,
    /// The fences that hold JSON in the first text block with one.
    Fences,
}

impl Reader {
    /// Every reader with its id.
    pub const ALL: &'static [(Self, &'static str)] =
        &[(Self::Json, "json"), (Self::JsonBlocks, "json-blocks"), (Self::Fences, "fences")];

    pub fn id(self) -> &'static str {
        Self::ALL.iter().find(|(reader, _)| *reader == self).map_or("", |(_, id)| id)
    }

    pub fn parse(id: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == id).map(|(reader, _)| *reader)
    }

    /// The data in the texts; `None` where this reader finds none.
    pub fn read(self, reading: &Reading) -> Option<Payload> {
        let texts = || reading.text_blocks().filter_map(|block| Some((block.index, block.text.as_deref()?)));
        match self {
            Self::Json | Self::JsonBlocks => {
                let mut found: Vec<(usize, Doc)> = texts().filter_map(|(at, text)| Some((at, as_json(text)?))).collect();
                match (self, found.len()) {
                    (Self::Json, 1) => {
                        let (block, doc) = found.pop()?;
                        Some(Payload { origin: Origin::Text { block }, doc: Arc::new(doc), root: 0 })
                    }
                    (Self::JsonBlocks, 2..) => {
                        let blocks = found.iter().map(|(at, _)| *at).collect();
                        Some(Payload {
                            origin: Origin::Texts { blocks },
                            doc: Arc::new(list(found.iter().map(|(_, doc)| doc))),
                            root: 0,
                        })
                    }
                    _ => None,
                }
            }
            Self::Fences => texts().find_map(|(block, text)| {
                let mut found: Vec<Doc> = fences(text).into_iter().filter_map(|range| as_json(&text[range])).collect();
                match found.len() {
                    0 => None,
                    1 => Some(Payload { origin: Origin::Fence { block }, doc: Arc::new(found.pop()?), root: 0 }),
                    _ => Some(Payload { origin: Origin::Fences { block }, doc: Arc::new(list(found.iter())), root: 0 }),
                }
            }),
        }
    }
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
    /// `structuredContent`; failing that, what the first [`Reader`] finds that finds anything; failing that, none.
    pub fn of(reading: &Reading) -> Option<Self> {
        Self::structured(reading).or_else(|| Self::in_texts(reading))
    }

    /// As [`Payload::of`], but in the texts by one reader alone.
    pub fn by(reading: &Reading, reader: Reader) -> Option<Self> {
        Self::structured(reading).or_else(|| reader.read(reading))
    }

    /// As Loupe 0.1 looked for it, which fixtures that name no reader were written by: of several blocks or fences of
    /// JSON, the first.
    pub fn first(reading: &Reading) -> Option<Self> {
        let mut payload = Self::of(reading)?;
        let origin = match payload.origin {
            Origin::Texts { blocks } => Origin::Text { block: *blocks.first()? },
            Origin::Fences { block } => Origin::Fence { block },
            origin => return Some(Self { origin, ..payload }),
        };
        payload.root = payload.doc.node(payload.root)?.children().next()?.index();
        Some(Self { origin, ..payload })
    }

    fn structured(reading: &Reading) -> Option<Self> {
        let node = reading.structured()?;
        Some(Self { origin: Origin::Structured, doc: Arc::clone(&reading.doc), root: node.index() })
    }

    /// What the texts hold, whatever else the answer has.
    pub fn in_texts(reading: &Reading) -> Option<Self> {
        Reader::ALL.iter().find_map(|(reader, _)| reader.read(reading))
    }

    /// The payload of a bare JSON value; `None` where not even its first byte could be read.
    pub fn of_doc(doc: Doc) -> Option<Self> {
        doc.root()?;
        Some(Self { origin: Origin::Structured, doc: Arc::new(doc), root: 0 })
    }

    pub fn root(&self) -> Node<'_> {
        // `root` always names a node: a payload is only made from one.
        self.doc.node(self.root).unwrap_or_else(|| unreachable!("a payload is only made from a document with a root"))
    }

    /// By which reader it was found; `None` for `structuredContent`.
    pub fn reader(&self) -> Option<Reader> {
        match self.origin {
            Origin::Structured => None,
            Origin::Text { .. } => Some(Reader::Json),
            Origin::Texts { .. } => Some(Reader::JsonBlocks),
            Origin::Fence { .. } | Origin::Fences { .. } => Some(Reader::Fences),
        }
    }

    /// Where it was found, for titles.
    pub fn origin_text(&self) -> String {
        match &self.origin {
            Origin::Structured => "structuredContent".to_owned(),
            Origin::Text { .. } => "JSON read from the text".to_owned(),
            Origin::Texts { blocks } => format!("JSON read from {} text blocks", blocks.len()),
            Origin::Fence { .. } => "JSON read from a fence in the text".to_owned(),
            Origin::Fences { .. } => format!("JSON read from {} fences in the text", self.root().len()),
        }
    }
}

/// The list of these values.
fn list<'a>(values: impl Iterator<Item = &'a Doc>) -> Doc {
    let mut text = vec![b'['];
    for doc in values {
        if text.len() > 1 {
            text.push(b',');
        }
        text.extend_from_slice(doc.root().map_or(&b"null"[..], |root| root.raw()));
    }
    text.push(b']');
    Doc::parse(Bytes::from(text))
}

fn as_json(text: &str) -> Option<Doc> {
    let doc = Doc::parse(Bytes::copy_from_slice(text.as_bytes()));
    doc.is_json().then_some(doc)
}

/// What stands in the fences of a text, in order.
fn fences(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if !text.contains("```") && !text.contains("~~~") {
        return found;
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
                found.extend(inside.take());
            }
            _ => {}
        }
    }
    found
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
        assert_eq!(fenced.origin, Origin::Fence { block: 1 });
        assert!(payload(&text("no data")).is_none());
    }

    #[test]
    fn several_blocks_or_fences_of_json_are_a_list() {
        let blocks = serde_json::json!({"content": [
            {"type": "text", "text": "{\"id\":1}"}, {"type": "text", "text": "and"}, {"type": "text", "text": " {\"id\": 2.0}\n"}
        ]});
        let found = payload(&blocks).unwrap();
        assert_eq!(
            (found.origin.clone(), found.root().raw_text().into_owned()),
            (Origin::Texts { blocks: vec![0, 2] }, r#"[{"id":1},{"id": 2.0}]"#.to_owned())
        );
        assert_eq!(found.origin_text(), "JSON read from 2 text blocks");
        let fences = "Rain.\n\n```json\n{\"temp\":4}\n```\n\nTomorrow:\n```json\n{\"temp\":9}\n```\n";
        let found = payload(&serde_json::json!({"content": [{"type": "text", "text": fences}]})).unwrap();
        assert_eq!(found.origin, Origin::Fences { block: 0 });
        let temps: Vec<_> = found.root().children().map(|child| child.at("/temp").unwrap().raw_text().into_owned()).collect();
        assert_eq!(temps, ["4", "9"]);
        assert_eq!(found.origin_text(), "JSON read from 2 fences in the text");
    }

    #[test]
    fn fixtures_without_a_reader_take_the_first_value() {
        let blocks =
            serde_json::json!({"content": [{"type": "text", "text": "{\"id\":1}"}, {"type": "text", "text": "{\"id\":2}"}]});
        let message = serde_json::json!({"jsonrpc": "2.0", "id": 1, "result": blocks}).to_string();
        let reading = Reading::read(Bytes::from(message));
        let first = Payload::first(&reading).unwrap();
        assert_eq!(
            (first.origin.clone(), first.root().raw_text().into_owned()),
            (Origin::Text { block: 0 }, r#"{"id":1}"#.to_owned())
        );
        assert!(Payload::by(&reading, Reader::Json).is_none(), "two blocks are not one");
        assert_eq!(Payload::by(&reading, Reader::JsonBlocks).unwrap().root().len(), 2);
        for (reader, id) in Reader::ALL {
            assert_eq!((Reader::parse(id), reader.id()), (Some(*reader), *id));
        }
    }
}
