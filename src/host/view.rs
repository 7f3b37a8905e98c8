//! The view: what the model of a host is shown of a result, and where each part of it comes from.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use super::deliver::{self, Delivered};
use super::fill::RenderCache;
use super::limit::{self, LimitOutcome};
use super::rules::{Host, HostId, Select};
use super::run::Run;
use super::source_map::{SourceMapped, Span};
use crate::capture::Capture;
use crate::format::ParsedCapture;
use crate::format::ledger::INTERRUPTED;

/// What the rules need beside the result.
#[derive(Clone, Debug)]
pub struct ViewContext<'a> {
    /// The server's name; in a host it is the name that its configuration gives.
    pub server: Cow<'a, str>,
    pub tool: Cow<'a, str>,
    /// The arguments of the call, as JSON.
    pub arguments: Cow<'a, [u8]>,
    /// How long the call took.
    pub wall: Duration,
    /// What stands where a host names a file of its own.
    pub path: Cow<'a, str>,
}

impl<'a> ViewContext<'a> {
    pub fn of(capture: &'a Capture) -> Self {
        let named = |name: &'a str, other: &'static str| Cow::Borrowed(if name.is_empty() { other } else { name });
        Self {
            server: named(&capture.server.name, "server"),
            tool: named(&capture.tool.name, "tool"),
            arguments: Cow::Borrowed(if capture.arguments.is_empty() { b"{}" } else { &capture.arguments }),
            wall: capture.timings.total(),
            path: Cow::Borrowed("<path>"),
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

/// Something of the answer that the model is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// A block of `content`, by its position.
    Block(usize),
    Structured,
    /// That the call failed.
    IsError,
}

/// What is left out, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Omission {
    pub what: What,
    /// A sentence fragment.
    pub why: Cow<'static, str>,
}

/// What the model of one host is shown. What is equal to another host's of the same [`RenderCache`] is shared with it.
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
    pub fn texts(&self) -> impl Iterator<Item = &str> {
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

    /// The parts as worked examples write them: a medium is `@media TYPE`.
    pub fn listing(&self) -> Vec<String> {
        let show = |part: &Part| match part {
            Part::Text(range) => self.text[range.clone()].to_owned(),
            Part::Media { mime, .. } => format!("@media {mime}"),
        };
        self.parts.iter().map(show).collect()
    }

    /// Of a host that was not reached: whoever asked has looked away.
    pub fn interrupted(host: &Host, written: &RenderCache) -> Self {
        Self::none(host, INTERRUPTED.to_owned(), &[], written)
    }

    /// One whose text cannot be computed.
    fn none(host: &Host, why: String, dropped: &[Omission], written: &RenderCache) -> Self {
        let empty = written.texts.of("");
        Self {
            host: host.id,
            not_computable: Some(why),
            text: Arc::clone(&empty),
            parts: written.parts.of(&[]),
            spans: written.spans.of(&[]),
            full: empty,
            full_spans: written.spans.of(&[]),
            kept: written.kept.of(&[]),
            removed: written.kept.of(&[]),
            dropped: written.dropped.of(dropped),
            limit: LimitOutcome::unreached(host),
            flags_error: false,
        }
    }
}

/// A part before it has its place in the text.
#[derive(Clone, Debug)]
pub(super) enum Raw {
    Text(SourceMapped),
    Media { mime: String, block: usize },
}

impl Host {
    /// What this host's model is shown for an answer.
    pub fn view(&self, subject: &ParsedCapture, context: &ViewContext<'_>) -> HostView {
        self.view_among(subject, context, &RenderCache::default())
    }

    /// The same where other hosts are shown this answer too: `written` is for this one `subject`.
    pub fn view_among(&self, subject: &ParsedCapture, context: &ViewContext<'_>, written: &RenderCache) -> HostView {
        let mut run = Run::new(self, subject, context, written);
        let parts = match run.parts() {
            Ok(parts) => parts,
            Err(why) => {
                return HostView::none(self, why, &run.dropped, written);
            }
        };
        let delivered = deliver::deliver(&run, parts);
        run.finish(delivered)
    }
}

impl Run<'_> {
    /// Step 8, and everything in its place.
    fn finish(mut self, delivered: Delivered) -> HostView {
        let Delivered { mut parts, texts, not_computable } = delivered;
        if let Some(why) = not_computable {
            return HostView::none(self.host, why, &self.dropped, self.written);
        }
        if self.is_error {
            let rules = &self.host.error;
            let says = rules.native_flag || rules.template.is_some() || rules.prefix_part.is_some();
            let is_wire = self.select == Select::WireResult;
            if !says && !is_wire && !self.dropped.iter().any(|dropped| dropped.what == What::IsError) {
                self.drop(What::IsError, "nothing says that the call failed");
            }
        }
        let mut start = 0;
        for part in &mut parts {
            if let Raw::Text(text) = part {
                text.set_full(start);
                start += text.len() + 1;
            }
        }
        let written = self.written;
        let (whole, placed) = lay_out(&parts);
        let (full, full_spans) = (written.texts.of(whole.text()), written.spans.of(whole.spans()));
        drop(whole);
        let (parts, limit) = limit::apply(self.host, parts, texts, &|var| self.value(var));
        let (text, spans, placed, kept) = if limit.bites.is_empty() {
            (Arc::clone(&full), Arc::clone(&full_spans), placed, std::iter::once(0..full.len()).collect())
        } else {
            let (text, placed) = lay_out(&parts);
            let kept = kept(text.spans());
            (written.texts.of(text.text()), written.spans.of(text.spans()), placed, kept)
        };
        let removed = removed(&kept, &full_spans, full.len());
        HostView {
            host: self.host.id,
            not_computable: None,
            text,
            parts: written.parts.of(&placed),
            spans,
            full,
            full_spans,
            kept: written.kept.of(&kept),
            removed: written.kept.of(&removed),
            dropped: written.dropped.of(&self.dropped),
            limit,
            flags_error: self.is_error && self.host.error.native_flag,
        }
    }
}

/// The texts with one LF between two, and the parts with their places.
fn lay_out(parts: &[Raw]) -> (Cow<'_, SourceMapped>, Vec<Part>) {
    if let [Raw::Text(only)] = parts {
        return (Cow::Borrowed(only), vec![Part::Text(0..only.len())]);
    }
    let mut text = SourceMapped::default();
    let mut placed = Vec::with_capacity(parts.len());
    let mut is_first = true;
    for part in parts {
        match part {
            Raw::Text(part) => {
                if !is_first {
                    text.push_unowned("\n");
                }
                is_first = false;
                let start = text.len();
                text.append(part);
                placed.push(Part::Text(start..text.len()));
            }
            Raw::Media { mime, block } => placed.push(Part::Media { mime: mime.clone(), block: *block }),
        }
    }
    (Cow::Owned(text), placed)
}

/// The ranges of the text before any limit that are still there.
fn kept(spans: &[Span]) -> Vec<Range<usize>> {
    let mut kept: Vec<Range<usize>> = Vec::new();
    for span in spans {
        let Some(start) = span.full() else { continue };
        let end = start + span.range().len();
        match kept.last_mut() {
            Some(last) if last.end == start => last.end = end,
            _ => kept.push(start..end),
        }
    }
    kept.sort_by_key(|range| range.start);
    kept
}

/// The ranges of a text of so many bytes that are not there any more.
fn removed(kept: &[Range<usize>], spans: &[Span], bytes: usize) -> Vec<Range<usize>> {
    let is_owned = |range: &Range<usize>| {
        let at = spans.partition_point(|span| span.range().end <= range.start);
        spans.get(at).is_some_and(|span| span.range().start < range.end)
    };
    let starts = std::iter::once(0).chain(kept.iter().map(|kept| kept.end));
    let ends = kept.iter().map(|kept| kept.start).chain([bytes]);
    starts.zip(ends).map(|(start, end)| start..end).filter(|range| !range.is_empty() && is_owned(range)).collect()
}
