//! The view: what the model of a host is shown of a result, and where each part of it comes from.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use super::limit::LimitOutcome;
use super::rules::HostId;
use super::source_map::Span;
use crate::capture::Capture;

/// Stands in a view for what only the host knows: the path of a file of its own, the time that a call took.
pub const HOLE: char = '\u{10fffe}';

/// What the rules need next to the result.
#[derive(Clone, Debug)]
pub struct ViewContext<'a> {
    /// The server's name; in a host it is the name that its configuration gives.
    pub server: Cow<'a, str>,
    pub tool: Cow<'a, str>,
    /// The arguments of the call, as JSON.
    pub arguments: Cow<'a, [u8]>,
    /// How long the call took.
    pub(crate) wall: Duration,
    /// What stands where a host names a file of its own.
    pub path: Cow<'a, str>,
    /// Times become [`HOLE`]s.
    pub(crate) has_holes: bool,
}

impl<'a> ViewContext<'a> {
    pub fn new(capture: &'a Capture) -> Self {
        let named = |name: &'a str, other: &'static str| {
            Cow::Borrowed(if name.is_empty() { other } else { name })
        };
        Self {
            server: named(capture.server.label(), "server"),
            tool: named(&capture.tool.name, "tool"),
            arguments: Cow::Borrowed(if capture.arguments.is_empty() {
                b"{}"
            } else {
                &capture.arguments
            }),
            wall: capture.timings.total(),
            path: Cow::Borrowed("<path>"),
            has_holes: false,
        }
    }

    /// The same with a [`HOLE`] for each path and time; with `wall`, how long the call took for the host, for paths alone.
    #[must_use]
    pub fn with_holes(self, wall: Option<Duration>) -> Self {
        Self {
            path: HOLE.to_string().into(),
            has_holes: wall.is_none(),
            wall: wall.unwrap_or(self.wall),
            ..self
        }
    }
}

/// One part of what the model is shown.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// A range of the view's text.
    Text(Range<usize>),
    /// The medium of a block is passed on as such.
    Media { mime: String, block: usize },
}

/// Something of the result that the model is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OmittedPart {
    /// A block of `content`, by its position.
    Block(usize),
    Structured,
    /// That the call failed.
    IsError,
}

/// What is left out, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Omission {
    pub what: OmittedPart,
    /// A sentence fragment.
    pub why: Cow<'static, str>,
}

/// What the model of one host is shown. What is equal to another host's of the same [`super::RenderCache`] is shared with it.
#[derive(Clone, Debug, PartialEq)]
pub struct HostView {
    pub host: HostId,
    /// Why no text can be computed, which is empty then, or why its numbers were not.
    pub not_computable: Option<String>,
    /// The text parts with one LF between two.
    pub text: Arc<str>,
    pub parts: Arc<[Part]>,
    /// The origin of every range of `text`, in order; an LF between two parts has none.
    pub spans: Arc<[Span]>,
    /// The text before any limit; the same `Arc` where nothing was cut.
    pub full: Arc<str>,
    /// The origins in `full`.
    pub full_spans: Arc<[Span]>,
    /// The ranges of `full` that are left, in order.
    pub kept: Arc<[Range<usize>]>,
    /// The ranges of `full` that a limit took out, in order. The line end between two parts is nobody's.
    pub removed: Arc<[Range<usize>]>,
    pub dropped: Arc<[Omission]>,
    pub limit: LimitOutcome,
    /// The error is flagged to the model outside the text.
    pub flags_error: bool,
}

impl HostView {
    /// The texts of the parts, in order.
    pub fn texts(&self) -> impl Iterator<Item = &str> + Clone {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(range) => Some(&self.text[range.clone()]),
            Part::Media { .. } => None,
        })
    }

    /// Bytes that a limit took out: the one size of a cut that is shown.
    pub fn removed_bytes(&self) -> u64 {
        self.removed.iter().map(|range| range.len() as u64).sum()
    }

    pub fn is_computable(&self) -> bool {
        self.not_computable.is_none()
    }

    /// Lets go of the texts and their origins, which of a large answer are large.
    pub fn forget_texts(&mut self) {
        (self.text, self.full) = (Arc::from(""), Arc::from(""));
        (self.spans, self.full_spans) = (Arc::default(), Arc::default());
        self.parts = Arc::default();
    }

    /// The parts as worked examples write them: a medium is `@media TYPE`.
    pub fn listing(&self) -> Vec<String> {
        let show = |part: &Part| match part {
            Part::Text(range) => self.text[range.clone()].to_owned(),
            Part::Media { mime, .. } => format!("@media {mime}"),
        };
        self.parts.iter().map(show).collect()
    }
}
