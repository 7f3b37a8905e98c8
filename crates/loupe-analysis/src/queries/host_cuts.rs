//! What one host leaves out of a result, as places in the result itself: so that any pane can mark them.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use crate::queries::query::{Ctx, Query, Stop, Weigh};
use loupe_core::capture::{BlockKind, FactState, locate_facts};
use loupe_core::format::ParsedCapture;
use loupe_core::host::{Host, HostId, OmittedPart, TextOrigin, ViewContext};

/// Places that a host's model does not see. Nothing where its text cannot be computed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostCuts {
    /// Ranges of the format `content`, in order, not overlapping.
    pub content: Vec<Range<usize>>,
    /// Tape indices of the data's values that its text does not tell.
    pub missing: BTreeSet<usize>,
}

impl HostCuts {
    pub(super) fn new(subject: &ParsedCapture, host: &Host) -> Self {
        let view = host.view(subject, &ViewContext::new(&subject.capture));
        if !view.is_computable() {
            return Self::default();
        }
        // Where each text block begins in `content`, and how long it is.
        let mut blocks = Vec::new();
        let mut at = 0;
        for block in subject
            .response
            .blocks
            .iter()
            .filter(|block| block.kind == BlockKind::Text)
        {
            let Some(text) = &block.text else { continue };
            blocks.push((block.index, at..at + text.len()));
            at += text.len() + 1;
        }
        let range_of = |index: usize| {
            blocks
                .binary_search_by_key(&index, |(known, _)| *known)
                .ok()
                .map(|at| blocks[at].1.clone())
        };
        let mut content: Vec<Range<usize>> = view
            .dropped
            .iter()
            .filter_map(|dropped| {
                if let OmittedPart::Block(block) = dropped.what {
                    range_of(block)
                } else {
                    None
                }
            })
            .collect();
        if !view.limit.bites.is_empty() {
            for span in view.full_spans.iter() {
                let (TextOrigin::Block(block), Some(from), range) =
                    (span.origin, span.from(), span.range())
                else {
                    continue;
                };
                let Some(block) = range_of(block as usize) else {
                    continue;
                };
                let mut start = range.start;
                let first = view.kept.partition_point(|kept| kept.end <= range.start);
                let kept = view.kept[first..]
                    .iter()
                    .take_while(|kept| kept.start < range.end);
                for end in kept.map(Some).chain([None]) {
                    let until = end.map_or(range.end, |kept| kept.start.max(range.start));
                    if until > start {
                        let place = |offset: usize| {
                            (block.start + from + offset - range.start).min(block.end)
                        };
                        content.push(place(start)..place(until));
                    }
                    start = end.map_or(range.end, |kept| kept.end);
                }
            }
        }
        content.retain(|range| !range.is_empty());
        content.sort_by_key(|range| range.start);
        let mut merged: Vec<Range<usize>> = Vec::with_capacity(content.len());
        for range in content {
            match merged.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => merged.push(range),
            }
        }
        let missing = match &subject.data {
            Some(data) => {
                let matched = locate_facts(data, &view.text);
                matched
                    .facts
                    .iter()
                    .filter(|fact| fact.state() == FactState::Missing)
                    .map(|fact| fact.node())
                    .collect()
            }
            None => BTreeSet::new(),
        };
        Self {
            content: merged,
            missing,
        }
    }
}

/// Which places of the result one host's model does not see.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostCutsQuery(pub HostId);

impl Query for HostCutsQuery {
    type Out = Arc<HostCuts>;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        Ok(Arc::new(HostCuts::new(cx.subject()?, cx.host(self.0)?)))
    }
}

impl Weigh for HostCuts {
    fn weight(&self) -> usize {
        self.content.len() * 16 + self.missing.len() * 24
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loupe_core::host::Hosts;

    fn cuts(result: &str, host: &str) -> HostCuts {
        HostCuts::new(
            &ParsedCapture::from_result(result),
            Hosts::built_in().get(host).unwrap(),
        )
    }

    #[test]
    fn what_a_limit_takes_out_is_marked_in_the_answer() {
        let long = "0123456789".repeat(6_000);
        // This host cuts a result of one text alone.
        let answer = format!(r#"{{"content":[{{"type":"text","text":"first é{long}"}}]}}"#);
        let found = cuts(&answer, "gemini-cli");
        assert_eq!(found.content.len(), 1, "{:?}", found.content);
        let cut = found.content[0].clone();
        assert!(
            cut.start > "first é".len() && cut.end < "first é".len() + long.len(),
            "{cut:?}"
        );
        // What is left and what is cut is the whole text.
        let hosts = Hosts::built_in();
        let subject = ParsedCapture::from_result(&answer);
        let view = hosts
            .get("gemini-cli")
            .unwrap()
            .view(&subject, &ViewContext::new(&subject.capture));
        let kept: usize = view.kept.iter().map(ExactSizeIterator::len).sum();
        assert_eq!(view.full.len() - kept, cut.len());
    }

    #[test]
    fn what_is_dropped_is_marked_whole() {
        let answer = r#"{"content":[{"type":"text","text":"Ada"}],"structuredContent":{"name":"Ada","age":36}}"#;
        let codex = cuts(answer, "codex");
        assert_eq!(
            (
                codex.content.first(),
                codex.content.len(),
                codex.missing.len()
            ),
            (Some(&(0..3)), 1, 0)
        );
        let zed = cuts(answer, "zed");
        assert_eq!((zed.content.len(), zed.missing.len()), (0, 1));
    }
}
