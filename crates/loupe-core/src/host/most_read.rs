//! Which part of a result the models of most hosts read: the unit of every comparison, unless the user chooses another.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use super::{Host, HostId, Hosts, RenderCache, TextOrigin, ViewContext};
use crate::capture::{Capture, CaptureId, Server, Tool, is_wrapped};
use crate::format::ParsedCapture;

/// A part of a result that a host passes on to its model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum ResultPart {
    Text,
    Data,
    /// Both as sent, else the one part that there is.
    #[default]
    Both,
}

impl ResultPart {
    /// In display order.
    pub const ALL: [Self; 3] = [Self::Text, Self::Data, Self::Both];

    /// The name that people see.
    pub fn title(self) -> &'static str {
        match self {
            Self::Text => "Text content",
            Self::Data => "structuredContent",
            Self::Both => "Both",
        }
    }

    /// The word on the command line and in JSON.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The formats that show it, by id; the first that applies is taken.
    pub fn formats(self) -> &'static [&'static str] {
        match self {
            Self::Text => &["content"],
            Self::Data => &["structured"],
            Self::Both => &["both", "content", "structured"],
        }
    }

    /// Why a result has none of it.
    pub fn why_not(self) -> &'static str {
        match self {
            Self::Text => "no text content in this result",
            Self::Data => "no structuredContent in this result",
            Self::Both => "no text and no structuredContent",
        }
    }
}

/// What the user chose to compare by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReadChoice {
    /// What the models of most hosts read.
    #[default]
    Most,
    Part(ResultPart),
    /// The exact text of one host.
    Host(HostId),
}

impl ReadChoice {
    /// `text`, `data`, `both`, or the id of one of these hosts.
    pub fn parse(word: &str, hosts: &Hosts) -> Option<Self> {
        let part = ResultPart::ALL.into_iter().find(|part| part.name() == word);
        part.map(Self::Part)
            .or_else(|| hosts.get(word).map(|host| Self::Host(host.id)))
    }

    pub fn host(self) -> Option<HostId> {
        match self {
            Self::Host(host) => Some(host),
            Self::Most | Self::Part(_) => None,
        }
    }
}

/// What a result has, as far as hosts choose by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultShape {
    pub has_text: bool,
    pub has_structured: bool,
    /// Whether `structuredContent` only repeats the text: `{"result": "…"}`.
    pub is_twin: bool,
    pub is_error: bool,
}

impl ResultShape {
    pub fn new(subject: &ParsedCapture) -> Self {
        Self {
            has_text: subject.response.text_blocks().next().is_some(),
            has_structured: subject.response.structured().is_some(),
            is_twin: is_wrapped(&subject.response),
            is_error: subject.response.is_error == Some(true),
        }
    }

    fn index(self) -> usize {
        usize::from(self.has_text)
            | usize::from(self.has_structured) << 1
            | usize::from(self.is_twin) << 2
            | usize::from(self.is_error) << 3
    }

    /// A small result of this shape.
    fn example(self) -> ParsedCapture {
        let mut members = Vec::new();
        let text = if self.has_text {
            r#"{"type":"text","text":"one two"}"#
        } else {
            ""
        };
        members.push(format!(r#""content":[{text}]"#));
        if self.has_structured {
            let data = if self.is_twin {
                r#"{"result":"one two"}"#
            } else {
                r#"{"count":12}"#
            };
            members.push(format!(r#""structuredContent":{data}"#));
        }
        if self.is_error {
            members.push(r#""isError":true"#.to_owned());
        }
        let message = format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{{}}}}}"#,
            members.join(",")
        );
        ParsedCapture::new(Arc::new(Capture {
            tool: Tool::unlisted("example"),
            arguments: Bytes::from_static(b"{}"),
            response: Some(Bytes::from(message)),
            ..Capture::empty(CaptureId("example".into()), Server::default())
        }))
    }
}

/// A part of a result and how many hosts show it alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MostRead {
    pub part: ResultPart,
    pub hosts: usize,
    /// All known hosts, also those whose text cannot be computed.
    pub of: usize,
    /// Hosts that show both parts.
    pub both: usize,
}

/// By [`ResultShape::index`]: how many hosts show the text alone, the data alone, and both.
pub(super) type ReadCounts = [OnceLock<[usize; 3]>; 16];

/// The parts of a result that a host shows; `None` where it shows neither.
fn part_of(host: &Host, subject: &ParsedCapture, rendered: &RenderCache) -> Option<ResultPart> {
    let view = host.view_among(subject, &ViewContext::new(&subject.capture), rendered);
    let shows =
        |is_it: fn(&TextOrigin) -> bool| view.full_spans.iter().any(|span| is_it(&span.origin));
    let has_text = shows(|origin| matches!(origin, TextOrigin::Block(_)));
    match (has_text, shows(|origin| *origin == TextOrigin::Structured)) {
        (true, false) => Some(ResultPart::Text),
        (false, true) => Some(ResultPart::Data),
        (true, true) => Some(ResultPart::Both),
        (false, false) => None,
    }
}

impl Hosts {
    fn read_counts(&self, shape: ResultShape) -> [usize; 3] {
        *self.read_counts[shape.index()].get_or_init(|| {
            let (subject, rendered) = (shape.example(), RenderCache::default());
            let mut counts = [0; 3];
            for part in self
                .iter()
                .filter_map(|host| part_of(host, &subject, &rendered))
            {
                counts[part as usize] += 1;
            }
            counts
        })
    }

    /// The part of a result that one model reads by a choice; of a host that shows neither part, both as sent.
    pub fn part_read(&self, choice: ReadChoice, subject: &ParsedCapture) -> ResultPart {
        match choice {
            ReadChoice::Most => self.most_read(ResultShape::new(subject)).part,
            ReadChoice::Part(part) => part,
            ReadChoice::Host(id) => self
                .get(id.as_str())
                .and_then(|host| part_of(host, subject, &RenderCache::default()))
                .unwrap_or_default(),
        }
    }

    /// The part that the largest number of hosts show of a result of this shape; of equal ones the text.
    pub fn most_read(&self, shape: ResultShape) -> MostRead {
        let counts = self.read_counts(shape);
        let most = counts.iter().copied().max().unwrap_or(0);
        let part = counts
            .iter()
            .position(|count| *count == most && most > 0)
            .map_or(ResultPart::Both, |at| ResultPart::ALL[at]);
        MostRead {
            part,
            hosts: most,
            of: self.len(),
            both: counts[2],
        }
    }

    /// How many hosts show this part of a result of this shape, and no other.
    pub fn read_by(&self, shape: ResultShape, part: ResultPart) -> MostRead {
        let counts = self.read_counts(shape);
        MostRead {
            part,
            hosts: counts[part as usize],
            of: self.len(),
            both: counts[2],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_hosts_read_the_text() {
        let shape = ResultShape {
            has_text: true,
            has_structured: true,
            is_twin: false,
            is_error: false,
        };
        let hosts = Hosts::built_in();
        let most = hosts.most_read(shape);
        assert_eq!((most.part, most.of), (ResultPart::Text, hosts.len()));
        let data = hosts.read_by(shape, ResultPart::Data);
        assert!(
            most.hosts > data.hosts
                && data.hosts > 0
                && most.hosts + data.hosts + most.both <= hosts.len(),
            "{most:?} {data:?}"
        );
        let alone = hosts.most_read(ResultShape {
            has_structured: false,
            ..shape
        });
        assert_eq!((alone.part, alone.both), (ResultPart::Text, 0));
        assert!(alone.hosts > most.hosts);
        // Nothing is shown of nothing.
        assert_eq!(
            hosts
                .most_read(ResultShape {
                    has_text: false,
                    has_structured: false,
                    ..shape
                })
                .hosts,
            0
        );
    }
}
