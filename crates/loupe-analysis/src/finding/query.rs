//! The findings about one result with their places, for whoever asks for results of queries.

use std::ops::Range;
use std::sync::Arc;

use super::{
    CheckedResult, CheckedServer, Checker, Contradiction, Finding, Location, LocationPart,
    MarkedPlaces, Profile, RuleSettings,
};
use crate::queries::{Ctx, HostsReport, Query, Stop, Weigh};
use loupe_core::capture::{ResultData, Server};
use loupe_core::format::ParsedCapture;
use loupe_core::host::{ReadChoice, ResultPart, ResultShape};
use loupe_core::json::Node;

/// What the rules find in a result and in its tool's definition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FindingsQuery {
    pub settings: Arc<RuleSettings>,
    /// What one model reads, which savings are computed against.
    pub reads: ReadChoice,
}

/// Where a finding is, as panes know places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FindingPlace {
    /// Bytes of the text content.
    Text(Range<usize>),
    /// Tape index in the data.
    Node(usize),
    /// The key of a value: its tape index in the data.
    Key(usize),
    /// Tape index in the message, of what is in no text and not in the data.
    Message(usize),
}

/// The findings about a result, the most severe first, and what panes mark of them.
#[derive(Clone, Debug, Default)]
pub struct AnswerFindings {
    pub findings: Vec<Finding>,
    /// What the profiles that count advise against each other.
    pub contradictions: Vec<Contradiction>,
    /// How many hosts show this part of the result and no other, by `ResultPart::ALL`.
    pub read_by: [usize; 3],
    /// The styles that apply to it.
    pub styles: Vec<Profile>,
    /// The places of each, as far as a pane shows them.
    pub places: Vec<Vec<FindingPlace>>,
    /// What panes mark of all of them together, by severity as `Severity::ALL`.
    pub marks: [FindingMarks; 4],
    /// What panes mark of each.
    pub marks_of: Vec<FindingMarks>,
    /// The same places, to be looked for in other texts.
    pub to_mark: Arc<MarkedPlaces>,
}

/// Places that panes mark: sorted, none within another.
#[derive(Clone, Debug, Default)]
pub struct FindingMarks {
    /// By format: `content`, `structured` and `both`, in bytes of their texts.
    texts: [Vec<Range<usize>>; 3],
    /// Tape indices in the data.
    nodes: Vec<usize>,
    /// The same of values whose keys are marked.
    keys: Vec<usize>,
}

impl FindingMarks {
    /// The formats whose places are known without looking for them.
    pub const FORMATS: [&str; 3] = ["content", "structured", "both"];

    /// The places in the text of a format; `None` of one that [`super::TextMarksQuery`] tells of.
    pub fn texts(&self, format: &str) -> Option<&[Range<usize>]> {
        let at = Self::FORMATS.iter().position(|known| *known == format)?;
        Some(&self.texts[at])
    }

    /// The nodes of the data, by their tape indices.
    pub fn nodes(&self) -> &[usize] {
        &self.nodes
    }

    /// The values whose keys are marked, by their tape indices.
    pub fn keys(&self) -> &[usize] {
        &self.keys
    }

    fn merge(&mut self, other: &Self) {
        for (own, others) in self.texts.iter_mut().zip(&other.texts) {
            own.extend(others.iter().cloned());
        }
        self.nodes.extend(&other.nodes);
        self.keys.extend(&other.keys);
    }

    fn sorted(mut self) -> Self {
        self.texts = self.texts.map(apart);
        for nodes in [&mut self.nodes, &mut self.keys] {
            nodes.sort_unstable();
            nodes.dedup();
        }
        self
    }
}

/// A longer place is the whole text, or nearly: marking it marks nothing.
const MARKED_BYTES: usize = 4_096;
/// More keys of one finding are not marked one by one.
const MARKED_KEYS: usize = 1_000;

/// Whether a place is marked.
pub(super) fn is_marked(range: &Range<usize>) -> bool {
    (1..MARKED_BYTES).contains(&range.len())
}

impl Query for FindingsQuery {
    type Out = Arc<AnswerFindings>;
    const IS_COUNT: bool = true;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        Ok(Arc::new(self.find(cx, None)?))
    }
}

impl FindingsQuery {
    /// The findings; with what the hosts make of the result, where that is known already.
    ///
    /// # Errors
    /// Cancelled, or there is no capture.
    pub fn find(&self, cx: &Ctx<'_>, report: Option<&HostsReport>) -> Result<AnswerFindings, Stop> {
        let subject = cx.subject()?;
        let tool = Arc::new(subject.capture.tool.clone());
        let tools = if tool.raw.is_empty() {
            Vec::new()
        } else {
            vec![tool]
        };
        // Its name is part of the names that hosts make; its instructions are no part of a result.
        let named = Server {
            instructions: None,
            ..subject.capture.server.clone()
        };
        let server = CheckedServer {
            server: Some(&named),
            tools: &tools,
            ..CheckedServer::default()
        };
        let checker = Checker {
            settings: &self.settings,
            hosts: cx.hosts,
        };
        let answer = CheckedResult::new(subject, server, cx.hosts)
            .with_reads(self.reads)
            .with_report(report);
        let mut found = checker.answer(&answer, cx.cancel)?;
        let contradictions = checker.contradictions(&answer);
        found.extend(checker.server(&server, cx.cancel)?);
        found.sort_by_key(|finding| finding.severity);
        let styles = Profile::styles()
            .filter(|style| style.applies_to(&answer))
            .collect();
        Ok(AnswerFindings {
            contradictions,
            read_by: ResultPart::ALL
                .map(|part| cx.hosts.read_by(ResultShape::new(subject), part).hosts),
            styles,
            ..AnswerFindings::new(found, subject)
        })
    }
}

impl AnswerFindings {
    fn new(findings: Vec<Finding>, subject: &ParsedCapture) -> Self {
        let mut starts = Vec::new();
        let mut start = 0;
        for block in subject.response.text_blocks() {
            starts.push((block.index, start));
            start += block.text.as_ref().map_or(0, |text| text.len()) + 1;
        }
        let payload = subject.data.as_ref();
        let places_of = |place: &Location| {
            let text = match (place.part, &place.range) {
                (LocationPart::Text(block), Some(range)) => starts
                    .iter()
                    .find(|(own, _)| *own == block)
                    .map(|(_, start)| FindingPlace::Text(start + range.start..start + range.end)),
                _ => None,
            };
            // A value that was read from the text is in the data as well.
            let is_data = |payload: &&ResultData| match place.part {
                LocationPart::Structured => payload.is_structured(),
                LocationPart::Text(_) => !payload.is_structured() && !place.path.is_empty(),
                LocationPart::Result | LocationPart::Definition => false,
            };
            let node = payload
                .filter(is_data)
                .and_then(|payload| payload.root().at(&place.path));
            let is_of_result = place.part == LocationPart::Result && !place.path.is_empty();
            let of_result = subject
                .response
                .result()
                .filter(|_| is_of_result)
                .and_then(|result| result.at(&place.path));
            text.into_iter()
                .chain(node.map(|node| FindingPlace::Node(node.index())))
                .chain(of_result.map(|node| FindingPlace::Message(node.index())))
        };
        // Of a list whose keys are meant, those of its records.
        let keys_of = |finding: &Finding| {
            let list = finding
                .places
                .first()
                .and_then(|place| payload?.root().at(&place.path));
            let members = list
                .filter(|_| !finding.keys.is_empty())
                .into_iter()
                .flat_map(Node::children)
                .flat_map(Node::children);
            let is_meant = |node: &Node<'_>| {
                node.key()
                    .is_some_and(|key| finding.keys.iter().any(|own| *own == key))
            };
            members
                .filter(is_meant)
                .take(MARKED_KEYS)
                .map(|node| FindingPlace::Key(node.index()))
                .collect::<Vec<_>>()
        };
        let places: Vec<Vec<_>> = findings
            .iter()
            .map(|finding| match keys_of(finding) {
                keys if keys.is_empty() => finding.places.iter().flat_map(places_of).collect(),
                keys => keys,
            })
            .collect();
        let to_mark = MarkedPlaces::new(
            findings
                .iter()
                .map(|finding| finding.severity)
                .zip(places.iter().cloned()),
        );
        let content = subject.response.content_text().unwrap_or_default();
        let text_len = start.saturating_sub(1);
        let structured = payload.filter(|payload| payload.is_structured());
        // A range of the message as one of `structuredContent`.
        let within = |range: Range<usize>| {
            let root = structured?.root().range().start;
            Some(range.start.checked_sub(root)?..range.end.checked_sub(root)?)
        };
        let marks_of = |places: &Vec<FindingPlace>| {
            let mut marks = FindingMarks::default();
            let (mut texts, mut data) = (Vec::new(), Vec::new());
            for place in places {
                match place {
                    FindingPlace::Text(range) => texts.push(range.clone()),
                    FindingPlace::Node(node) => {
                        marks.nodes.push(*node);
                        let node = structured.and_then(|payload| payload.doc.node(*node));
                        data.extend(node.and_then(|node| within(node.range())));
                    }
                    FindingPlace::Key(node) => {
                        marks.keys.push(*node);
                        let Some(node) = payload.and_then(|payload| payload.doc.node(*node)) else {
                            continue;
                        };
                        data.extend(structured.and_then(|_| within(node.key_range()?)));
                        let value = payload
                            .and_then(|payload| payload.place_in_text(node, &subject.response));
                        texts.extend(
                            value.and_then(|value| key_before(&content, value.start, node)),
                        );
                    }
                    FindingPlace::Message(_) => {}
                }
            }
            // In `both` a line feed and the data come after the text.
            let from = if starts.is_empty() { 0 } else { text_len + 1 };
            let both = data
                .iter()
                .map(|range| range.start + from..range.end + from);
            marks.texts = [
                texts.clone(),
                data.clone(),
                texts.into_iter().chain(both).collect(),
            ];
            marks
                .texts
                .iter_mut()
                .for_each(|texts| texts.retain(is_marked));
            marks.sorted()
        };
        let marks_of: Vec<_> = places.iter().map(marks_of).collect();
        let mut marks: [FindingMarks; 4] = Default::default();
        for (finding, own) in findings.iter().zip(&marks_of) {
            marks[finding.severity as usize].merge(own);
        }
        let marks = marks.map(FindingMarks::sorted);
        Self {
            read_by: [0; 3],
            findings,
            contradictions: Vec::new(),
            styles: Vec::new(),
            places,
            marks,
            marks_of,
            to_mark,
        }
    }
}

/// Ranges in order, those that overlap as one.
pub(super) fn apart(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
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
        let texts = self.findings.iter().map(|finding| {
            size_of::<Finding>() + finding.message.len() + finding.places.len() * 100
        });
        let mended = self
            .findings
            .iter()
            .filter_map(|finding| finding.mended.as_ref())
            .map(|mended| mended.weight());
        let places = self.places.iter().map(|places| places.len() * 120);
        texts.sum::<usize>() + mended.sum::<usize>() + places.sum::<usize>()
    }
}

/// Where the key of a value stands before it in a text: `"key": value`, `key: value`, `<key>value`.
pub(super) fn key_before(text: &str, value: usize, node: Node<'_>) -> Option<Range<usize>> {
    // A text that is no JSON may have a mark of its own before the value.
    let before = text
        .get(..value)?
        .trim_end_matches(['"', '\''])
        .trim_end()
        .strip_suffix([':', '>'])?
        .trim_end();
    let key = String::from_utf8_lossy(node.raw_key()?);
    let bare = before.strip_suffix('"').unwrap_or(before);
    let start = bare.strip_suffix(&*key)?.len();
    let quote = before.len() - bare.len();
    Some(start.checked_sub(quote)?..before.len())
}
