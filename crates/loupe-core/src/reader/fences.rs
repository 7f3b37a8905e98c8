//! Fences that hold data: JSON, YAML, CSV, TSV, TOON, XML by their language, and JSON without one. Several of one kind are a list.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::build::Segment;
use super::{Certainty, Reader, TextBlock, TextData, csv, json, toon, xml, yaml};
use crate::layout::line_from;

pub(super) static FENCES: Reader = Reader::new("fences", "Fences", Certainty::Marked, read);

struct Fence {
    language: String,
    inner: Range<usize>,
    whole: Range<usize>,
}

impl Fence {
    /// The marks that open it, with the language.
    fn opening(&self, text: &str) -> Range<usize> {
        let line = line_from(text, self.whole.start);
        let info = line.fence().map_or("", |fence| fence.info);
        let language = info.split_whitespace().next().unwrap_or_default();
        line.at..line.place_of(language).end
    }
}

fn read(block: TextBlock<'_>) -> Option<TextData> {
    let found = fences(block.text);
    let json: Vec<_> = found
        .iter()
        .filter(|fence| matches!(fence.language.as_str(), "" | "json" | "json5" | "jsonc"))
        .filter_map(|fence| {
            Some((
                fence,
                json::as_json(block.part(fence.inner.clone()))
                    .filter(|doc| doc.root().is_some_and(|root| root.is_container()))?,
            ))
        })
        .collect();
    if let [(fence, doc)] = &json[..] {
        let range = doc.root()?.range();
        let segments = vec![Segment::verbatim(
            range.clone(),
            block.block,
            fence.inner.start + range.start,
        )];
        let layout = vec![(block.block, fence.opening(block.text))];
        return Some(TextData {
            layout,
            ..TextData::new(doc.clone(), segments)
        });
    }
    if !json.is_empty() {
        let mut data = json::list(json.iter().filter_map(|(fence, doc)| {
            Some((block.block, fence.inner.start, doc.root()?.range(), doc))
        }))?;
        data.layout = json
            .iter()
            .map(|(fence, _)| (block.block, fence.opening(block.text)))
            .collect();
        return Some(data);
    }
    // Of the other languages the first fence that holds data.
    found.iter().find_map(|fence| {
        let read: fn(TextBlock<'_>) -> Option<TextData> = match fence.language.as_str() {
            "yaml" | "yml" => yaml::read,
            "csv" => csv::read_commas,
            "tsv" => csv::read_tabs,
            "toon" => toon::read,
            "xml" => xml::read,
            _ => return None,
        };
        let mut data = read(block.part(fence.inner.clone()))?;
        data.move_by(fence.inner.start);
        data.layout.push((block.block, fence.opening(block.text)));
        Some(data)
    })
}

/// The fences of a text, in order.
fn fences(text: &str) -> Vec<Fence> {
    let mut found = Vec::new();
    if !text.contains("```") && !text.contains("~~~") {
        return found;
    }
    let mut open: Option<Fence> = None;
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                let language = info
                    .split_whitespace()
                    .next()
                    .unwrap_or_default()
                    .to_ascii_lowercase();
                open = Some(Fence {
                    language,
                    inner: range.end..range.end,
                    whole: range,
                });
            }
            Event::Text(_) => {
                if let Some(fence) = &mut open {
                    fence.inner = fence.inner.start.min(range.start)..range.end;
                }
            }
            Event::End(TagEnd::CodeBlock) => {
                found.extend(open.take().filter(|fence| !fence.inner.is_empty()))
            }
            _ => {}
        }
    }
    found
}
