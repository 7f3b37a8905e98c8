//! The findings about one answer with their places, for whoever asks for results of queries.

use std::ops::Range;
use std::sync::Arc;

use super::{CheckedAnswer, CheckedServer, Checker, Contradiction, Finding, FoundAt, FoundIn, RuleSettings};
use crate::analysis::{Ctx, Query, Stop, Weigh};
use crate::capture::Payload;
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
    /// What the profiles that count advise against each other.
    pub contradictions: Vec<Contradiction>,
    /// The places of each, as far as a pane shows them.
    pub places: Vec<Vec<FindingPlace>>,
    /// What panes mark of all of them together, by severity as `Severity::ALL`.
    pub marks: [FindingMarks; 4],
    /// What panes mark of each.
    pub marks_of: Vec<FindingMarks>,
}

/// Places that panes mark: sorted, none within another.
#[derive(Clone, Debug, Default)]
pub struct FindingMarks {
    /// By format: `content`, `structured` and `both`, in bytes of their texts.
    texts: [Vec<Range<usize>>; 3],
    /// Tape indices in the payload.
    nodes: Vec<usize>,
}

impl FindingMarks {
    const FORMATS: [&str; 3] = ["content", "structured", "both"];

    /// The places in the text of a format.
    pub fn texts(&self, format: &str) -> &[Range<usize>] {
        let at = Self::FORMATS.iter().position(|known| *known == format);
        at.map_or(&[], |at| self.texts[at].as_slice())
    }

    /// The nodes of the payload, by their tape indices.
    pub fn nodes(&self) -> &[usize] {
        &self.nodes
    }

    fn merge(&mut self, other: &Self) {
        for (own, others) in self.texts.iter_mut().zip(&other.texts) {
            own.extend(others.iter().cloned());
        }
        self.nodes.extend(&other.nodes);
    }

    fn sorted(mut self) -> Self {
        self.texts = self.texts.map(apart);
        self.nodes.sort_unstable();
        self.nodes.dedup();
        self
    }
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
        let answer = CheckedAnswer::of(subject, server, cx.hosts);
        let mut found = checker.answer(&answer);
        cx.check()?;
        let contradictions = checker.contradictions(&answer);
        found.extend(checker.server(&server));
        found.sort_by_key(|finding| finding.severity);
        Ok(Arc::new(AnswerFindings { contradictions, ..AnswerFindings::of(found, subject) }))
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
        let payload = subject.payload.as_ref();
        let places_of = |place: &FoundAt| {
            let text = match (place.part, &place.range) {
                (FoundIn::Text(block), Some(range)) => starts
                    .iter()
                    .find(|(own, _)| *own == block)
                    .map(|(_, start)| FindingPlace::Text(start + range.start..start + range.end)),
                _ => None,
            };
            // A value that was read from the text stands in the data as well.
            let is_data = |payload: &&Payload| match place.part {
                FoundIn::Structured => payload.is_structured(),
                FoundIn::Text(_) => !payload.is_structured() && !place.path.is_empty(),
                FoundIn::Result | FoundIn::Definition => false,
            };
            let node = payload.filter(is_data).and_then(|payload| payload.root().at(&place.path));
            text.into_iter().chain(node.map(|node| FindingPlace::Node(node.index())))
        };
        let places: Vec<Vec<_>> = findings.iter().map(|finding| finding.places.iter().flat_map(places_of).collect()).collect();
        let text_len = start.saturating_sub(1);
        let payload = payload.filter(|payload| payload.is_structured());
        let marks_of = |places: &Vec<FindingPlace>| {
            let mut marks = FindingMarks::default();
            let is_marked = |range: &Range<usize>| (1..MARKED_BYTES).contains(&range.len());
            for place in places {
                match place {
                    FindingPlace::Text(range) if is_marked(range) => {
                        marks.texts[0].push(range.clone());
                        marks.texts[2].push(range.clone());
                    }
                    FindingPlace::Text(_) => {}
                    FindingPlace::Node(node) => {
                        marks.nodes.push(*node);
                        let range = payload.and_then(|payload| {
                            let (root, own) = (payload.root().range().start, payload.doc.node(*node)?.range());
                            Some(own.start.checked_sub(root)?..own.end.checked_sub(root)?)
                        });
                        if let Some(range) = range.filter(is_marked) {
                            // In `both` a line feed and the data come after the text.
                            let from = if starts.is_empty() { 0 } else { text_len + 1 };
                            marks.texts[2].push(range.start + from..range.end + from);
                            marks.texts[1].push(range);
                        }
                    }
                }
            }
            marks.sorted()
        };
        let marks_of: Vec<_> = places.iter().map(marks_of).collect();
        let mut marks: [FindingMarks; 4] = Default::default();
        for (finding, own) in findings.iter().zip(&marks_of) {
            marks[finding.severity as usize].merge(own);
        }
        let marks = marks.map(FindingMarks::sorted);
        Self { findings, contradictions: Vec::new(), places, marks, marks_of }
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
        let mended = self.findings.iter().filter_map(|finding| finding.mended.as_ref()).map(|mended| mended.weight());
        let places = self.places.iter().map(|places| places.len() * 120);
        texts.sum::<usize>() + mended.sum::<usize>() + places.sum::<usize>()
    }
}
