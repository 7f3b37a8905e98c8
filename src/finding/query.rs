//! The findings about one answer with their places, for whoever asks for results of queries.

use std::ops::Range;
use std::sync::Arc;

use super::{CheckedAnswer, CheckedServer, Checker, Finding, FoundAt, FoundIn, RuleSettings, Severity};
use crate::analysis::{Ctx, Query, Stop, Weigh};
use crate::format::ParsedCapture;

/// What the rules find in an answer and in its tool's definition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FindingsQuery(pub Arc<RuleSettings>);

/// Where a finding is, as panes know places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FindingPlace {
    /// Bytes of the text content.
    Text(Range<usize>),
    /// Tape index in the payload.
    Node(usize),
}

/// The findings about an answer, the gravest first, and what panes mark of them.
#[derive(Clone, Debug, Default)]
pub struct AnswerFindings {
    pub findings: Vec<Finding>,
    /// The places of each, as far as a pane shows them.
    pub places: Vec<Vec<FindingPlace>>,
    /// Places in the text content by severity, as [`Severity::ALL`]: sorted, none within another.
    pub marks: [Vec<Range<usize>>; 4],
    /// Nodes of the payload with the gravest finding about each, by tape index.
    pub nodes: Vec<(usize, Severity)>,
}

/// A longer place is the whole text, or nearly: marking it marks nothing.
const MARKED_BYTES: usize = 4_096;

impl Query for FindingsQuery {
    type Out = Arc<AnswerFindings>;
    const IS_COUNT: bool = true;

    fn is_about_hosts(&self) -> bool {
        true
    }

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        let subject = cx.subject()?;
        let tool = Arc::new(subject.capture.tool.clone());
        let tools = if tool.raw.is_empty() { Vec::new() } else { vec![tool] };
        let server = CheckedServer { server: None, tools: &tools, ..CheckedServer::default() };
        let checker = Checker { settings: &self.0, hosts: cx.hosts };
        let mut found = checker.answer(&CheckedAnswer::of(subject, server, cx.hosts));
        cx.check()?;
        found.extend(checker.server(&server));
        found.sort_by_key(|finding| finding.severity);
        Ok(Arc::new(AnswerFindings::of(found, subject)))
    }
}

impl AnswerFindings {
    fn of(findings: Vec<Finding>, subject: &ParsedCapture) -> Self {
        let mut starts = Vec::new();
        let mut start = 0;
        for block in subject.reading.text_blocks() {
            starts.push((block.index, start));
            start += block.text.as_ref().map_or(0, |text| text.len()) + 1;
        }
        let place = |place: &FoundAt| match (place.part, &place.range) {
            (FoundIn::Text(block), Some(range)) => {
                let (_, start) = starts.iter().find(|(own, _)| *own == block)?;
                Some(FindingPlace::Text(start + range.start..start + range.end))
            }
            (FoundIn::Structured, _) => {
                let payload = subject.payload.as_ref().filter(|payload| payload.is_structured())?;
                Some(FindingPlace::Node(payload.root().at(&place.path)?.index()))
            }
            _ => None,
        };
        let places: Vec<Vec<_>> = findings.iter().map(|finding| finding.places.iter().filter_map(place).collect()).collect();
        let mut marks: [Vec<Range<usize>>; 4] = Default::default();
        let mut nodes = Vec::new();
        for (finding, places) in findings.iter().zip(&places) {
            for place in places {
                match place {
                    FindingPlace::Text(range) if (1..MARKED_BYTES).contains(&range.len()) => {
                        marks[finding.severity as usize].push(range.clone());
                    }
                    FindingPlace::Text(_) => {}
                    FindingPlace::Node(node) => nodes.push((*node, finding.severity)),
                }
            }
        }
        marks = marks.map(apart);
        nodes.sort_unstable();
        nodes.dedup_by_key(|(node, _)| *node);
        Self { findings, places, marks, nodes }
    }

    /// The gravest severity of a finding about a node of the payload.
    pub fn of_node(&self, node: usize) -> Option<Severity> {
        let at = self.nodes.binary_search_by_key(&node, |(own, _)| *own).ok()?;
        self.nodes.get(at).map(|(_, severity)| *severity)
    }
}

/// Ranges in order, those that overlap as one.
fn apart(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut out: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match out.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => out.push(range),
        }
    }
    out
}

impl Weigh for AnswerFindings {
    fn weight(&self) -> usize {
        let texts = self.findings.iter().map(|finding| size_of::<Finding>() + finding.message.len() + finding.places.len() * 100);
        texts.sum::<usize>() + self.nodes.len() * 16
    }
}
