//! What each reader makes of a result's texts, to choose one; and a pattern tried on them.

use std::ops::Range;
use std::sync::Arc;

use crate::queries::query::{Ctx, Query, Stop, Weigh};
use loupe_core::capture::blocks;
use loupe_core::reader::{self, Found, Pattern, Reader};

/// What a reader finds in the texts.
#[derive(Clone, Debug, PartialEq)]
pub struct ReaderShare {
    pub reader: &'static Reader,
    pub records: usize,
    /// The share of the texts that it reads, of characters that are not white space.
    pub share: f64,
}

/// The readers that find something in the texts, in their order, and the one that is taken by default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReaderShares {
    pub found: Vec<ReaderShare>,
    pub default: Option<&'static Reader>,
}

/// Every reader, tried.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReadersQuery;

impl Query for ReadersQuery {
    type Out = ReaderShares;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        let blocks = blocks(&cx.subject()?.response);
        let mut found = Vec::new();
        for reader in reader::all() {
            cx.check()?;
            if let Some(Found { data, share, .. }) = reader::read_by(reader, &blocks) {
                found.push(ReaderShare {
                    reader,
                    records: data.records,
                    share,
                });
            }
        }
        Ok(ReaderShares {
            found,
            default: reader::read(&blocks).map(|found| found.reader),
        })
    }
}

impl Weigh for ReaderShares {}

/// What a pattern finds.
#[derive(Clone, Debug, PartialEq)]
pub struct PatternMatches {
    /// The matches, as bytes of the text content, in order.
    pub places: Vec<Range<usize>>,
    pub records: usize,
    pub share: f64,
}

/// A pattern, tried on the texts: its matches, or why it is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PatternQuery(pub Arc<str>);

impl Query for PatternQuery {
    type Out = Result<PatternMatches, String>;
    const IS_PASSING: bool = true;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        let subject = cx.subject()?;
        let pattern = match Pattern::parse(&self.0) {
            Ok(pattern) => pattern,
            Err(why) => return Ok(Err(why)),
        };
        let blocks = blocks(&subject.response);
        let Some(found) = pattern.read(&blocks) else {
            return Ok(Ok(PatternMatches {
                places: Vec::new(),
                records: 0,
                share: 0.0,
            }));
        };
        let mut places = Vec::with_capacity(found.data.records);
        let mut start = 0;
        for block in &blocks {
            let own = found
                .data
                .covered
                .iter()
                .filter(|(at, _)| *at == block.block);
            places.extend(own.map(|(_, range)| start + range.start..start + range.end));
            start += block.text.len() + 1;
        }
        Ok(Ok(PatternMatches {
            places,
            records: found.data.records,
            share: found.share,
        }))
    }
}

impl Weigh for Result<PatternMatches, String> {
    fn weight(&self) -> usize {
        self.as_ref()
            .map_or(0, |found| size_of_val(found.places.as_slice()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loupe_core::cancel::Cancel;
    use loupe_core::format::ParsedCapture;
    use loupe_core::host::Hosts;

    #[test]
    fn readers_and_patterns_are_tried() {
        let text = r"[DIR] docs\n[FILE] a.md\n[FILE] b.md\n";
        let subject = Arc::new(ParsedCapture::from_result(&format!(
            r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#
        )));
        let (hosts, cancel, subjects) = (Hosts::built_in(), Cancel::new(), [subject]);
        let cx = Ctx::new(&subjects, &hosts, &cancel);
        let readers = cx.get(&ReadersQuery).unwrap().unwrap();
        assert_eq!(readers.default.map(|reader| reader.id), Some("lines"));
        assert!(
            readers
                .found
                .iter()
                .any(|found| found.reader.id == "lines" && found.records == 3)
        );
        let tried = |pattern: &str| cx.get(&PatternQuery(pattern.into())).unwrap().unwrap();
        let found = tried(r"^\[(?<kind>\w+)\] (?<name>.+)$").unwrap();
        assert_eq!((found.records, found.places.len()), (3, 1));
        assert_eq!(found.places[0], 0..text.replace("\\n", "\n").len());
        assert_eq!(tried(r"(?<number>\d{9})").unwrap().records, 0);
        assert!(tried(r"(?<name>").unwrap_err().contains("unclosed group"));
        assert!(tried(r"\w+").unwrap_err().starts_with("it names no group"));
    }
}
