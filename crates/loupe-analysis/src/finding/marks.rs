//! Where the places of findings are in the other texts that panes show: what is written from the data, the message, what
//! the model of a host is shown.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use super::Severity;
use super::query::{FindingPlace, apart, is_marked, key_before};
use crate::queries::{Ctx, HostPlaces, Query, Stop, TextQuery, Weigh};
use loupe_core::capture::{Fact, FactMatches, ResultData, locate_facts};
use loupe_core::digest::sha256;
use loupe_core::format::ParsedCapture;
use loupe_core::host::HostId;
use loupe_core::json::{Node, source_offsets};

/// The places of the findings about a result. Equal are those of equal places.
#[derive(Clone, Debug, Default)]
pub struct MarkedPlaces {
    digest: String,
    of_each: Vec<(Severity, Vec<FindingPlace>)>,
}

impl MarkedPlaces {
    pub(super) fn new(places: impl Iterator<Item = (Severity, Vec<FindingPlace>)>) -> Arc<Self> {
        let of_each: Vec<_> = places.collect();
        Arc::new(Self {
            digest: sha256(format!("{of_each:?}").as_bytes()),
            of_each,
        })
    }
}

impl PartialEq for MarkedPlaces {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}

impl Eq for MarkedPlaces {}

impl Hash for MarkedPlaces {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digest.hash(state);
    }
}

/// A text next to the text content and `structuredContent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MarkedText {
    /// That of a format, by its id.
    Format(&'static str),
    /// What a host's model is shown, with what a limit took out or without.
    Host { host: HostId, with_cuts: bool },
}

/// Where the places are in such a text, as far as they are known in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TextMarksQuery {
    pub places: Arc<MarkedPlaces>,
    pub of: MarkedText,
}

/// Ranges of a text that findings mark: sorted, none within another.
#[derive(Clone, Debug, Default)]
pub struct TextMarks {
    /// Of all findings together, by severity as `Severity::ALL`.
    pub by_severity: [Vec<Range<usize>>; 4],
    /// Of each finding.
    pub of_each: Vec<Vec<Range<usize>>>,
}

impl Query for TextMarksQuery {
    type Out = Arc<TextMarks>;
    const IS_COUNT: bool = true;
    const IS_PASSING: bool = true;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        let subject = cx.subject()?;
        let all = || self.places.of_each.iter().flat_map(|(_, places)| places);
        let found: Box<Find<'_>> = match self.of {
            MarkedText::Format("wire") => {
                let message = Message::of(subject, all());
                Box::new(move |place| message.find(place))
            }
            MarkedText::Format(format) => {
                let view = cx.get(&TextQuery(format))??;
                Box::new(move |place| {
                    in_data(subject.data.as_ref()?, &view.matched, &view.text, place)
                })
            }
            MarkedText::Host { host, with_cuts } => {
                let shown = HostPlaces::new(subject, cx.host(host)?, with_cuts);
                cx.check()?;
                let matched = subject
                    .data
                    .as_ref()
                    .map(|data| locate_facts(data, &shown.text))
                    .unwrap_or_default();
                Box::new(move |place| match place {
                    FindingPlace::Text(range) => {
                        let (block, start) = block_of(subject, range.start)?;
                        shown.of_block(block, range.start - start..range.end - start)
                    }
                    _ => in_data(subject.data.as_ref()?, &matched, &shown.text, place),
                })
            }
        };
        let mut marks = TextMarks::default();
        for (severity, places) in &self.places.of_each {
            let own: Vec<_> = places.iter().filter_map(&found).filter(is_marked).collect();
            marks.by_severity[*severity as usize].extend(own.iter().cloned());
            marks.of_each.push(apart(own));
        }
        marks.by_severity = marks.by_severity.map(apart);
        Ok(Arc::new(marks))
    }
}

impl Weigh for TextMarks {
    fn weight(&self) -> usize {
        let ranges = self
            .by_severity
            .iter()
            .chain(&self.of_each)
            .map(Vec::len)
            .sum::<usize>();
        ranges * size_of::<Range<usize>>()
    }
}

/// Where a place is in a text, as far as that is known.
type Find<'a> = dyn Fn(&FindingPlace) -> Option<Range<usize>> + 'a;

/// The block that holds a byte of the text content, and where the block begins in it.
fn block_of(subject: &ParsedCapture, at: usize) -> Option<(usize, usize)> {
    let mut start = 0;
    let mut blocks = subject.response.text_blocks().map(|block| {
        let own = (block.index, start);
        start += block.text.as_ref().map_or(0, |text| text.len()) + 1;
        own
    });
    let mut last = None;
    while let Some(own) = blocks.next().filter(|(_, start)| *start <= at) {
        last = Some(own);
    }
    last
}

/// Where a text tells a value of the data, or its key.
fn in_data(
    data: &ResultData,
    matched: &FactMatches,
    text: &str,
    place: &FindingPlace,
) -> Option<Range<usize>> {
    match place {
        FindingPlace::Node(node) => places_of(matched, data.doc.node(*node)?)
            .reduce(|all, one| all.start.min(one.start)..all.end.max(one.end)),
        FindingPlace::Key(node) => {
            let node = data.doc.node(*node).filter(|node| !node.is_container())?;
            key_before(text, places_of(matched, node).next()?.start, node)
        }
        FindingPlace::Text(_) | FindingPlace::Message(_) => None,
    }
}

/// Where the facts of a value are in a text.
fn places_of<'m>(
    matched: &'m FactMatches,
    node: Node<'_>,
) -> impl Iterator<Item = Range<usize>> + use<'m> {
    let (from, end) = (
        matched
            .facts
            .partition_point(|fact| fact.node() < node.index()),
        node.subtree_end(),
    );
    let own = matched.facts[from..]
        .iter()
        .take_while(move |fact| fact.node() < end);
    own.filter(|fact| !fact.state().is_missing())
        .filter_map(Fact::place)
}

/// Places in the message.
struct Message<'a> {
    subject: &'a ParsedCapture,
    /// Where the bytes of the text content stand, of those that are asked for.
    offsets: HashMap<usize, usize>,
}

impl<'a> Message<'a> {
    fn of<'p>(subject: &'a ParsedCapture, places: impl Iterator<Item = &'p FindingPlace>) -> Self {
        let mut asked: Vec<usize> = places
            .filter_map(|place| {
                if let FindingPlace::Text(range) = place {
                    Some([range.start, range.end])
                } else {
                    None
                }
            })
            .flatten()
            .collect();
        asked.sort_unstable();
        asked.dedup();
        let mut offsets = HashMap::new();
        let mut start = 0;
        for block in subject.response.text_blocks() {
            let end = start + block.text.as_ref().map_or(0, |text| text.len());
            let own = &asked
                [asked.partition_point(|at| *at < start)..asked.partition_point(|at| *at <= end)];
            let text = subject
                .response
                .doc
                .node(block.node)
                .and_then(|node| node.get("text"));
            if let Some(text) = text.filter(|_| !own.is_empty()) {
                let within: Vec<usize> = own.iter().map(|at| at - start).collect();
                offsets.extend(own.iter().copied().zip(source_offsets(text, &within)));
            }
            start = end + 1;
        }
        Self { subject, offsets }
    }

    fn find(&self, place: &FindingPlace) -> Option<Range<usize>> {
        let doc = &self.subject.response.doc;
        // Data that was read from a text has its places there.
        match place {
            FindingPlace::Text(range) => {
                Some(*self.offsets.get(&range.start)?..*self.offsets.get(&range.end)?)
            }
            FindingPlace::Node(node) if self.is_structured() => doc.node(*node).map(Node::range),
            FindingPlace::Key(node) if self.is_structured() => doc.node(*node)?.key_range(),
            FindingPlace::Message(node) => doc.node(*node).map(Node::range),
            FindingPlace::Node(_) | FindingPlace::Key(_) => None,
        }
    }

    /// Whether the data is a part of the message.
    fn is_structured(&self) -> bool {
        self.subject
            .data
            .as_ref()
            .is_some_and(ResultData::is_structured)
    }
}
