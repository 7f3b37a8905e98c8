//! What a host makes of a result: its rules applied, its limit last.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::cache::RenderCache;
use super::deliver::{self, Delivered};
use super::limit::{self, LimitOutcome, LimitState};
use super::parts::{Raw, texts};
use super::rules::{Host, Select};
use super::run::Run;
use super::source_map::{SourceMapped, Span};
use super::view::{HostView, Omission, OmittedPart, Part, ViewContext};
use super::write;
use crate::format::ParsedCapture;
use crate::format::ledger::INTERRUPTED;

impl HostView {
    /// Of a host that was not reached: the caller cancelled.
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

impl Host {
    /// Whether a view of this host holds a text, as it is or inside a JSON string.
    pub fn has_text(&self, view: &HostView, text: &str) -> bool {
        let quoted = write::string(text, self.json);
        let escaped = quoted.get(1..quoted.len() - 1).unwrap_or_default();
        view.text.contains(text) || view.text.contains(escaped)
    }

    /// What this host's model is shown for a result.
    pub fn view(&self, subject: &ParsedCapture, context: &ViewContext<'_>) -> HostView {
        self.view_among(subject, context, &RenderCache::default())
    }

    /// The same where other hosts are shown this result too: `written` is for this one `subject`.
    pub fn view_among(
        &self,
        subject: &ParsedCapture,
        context: &ViewContext<'_>,
        written: &RenderCache,
    ) -> HostView {
        let mut run = Run::new(self, subject, context);
        let parts = match run.parts() {
            Ok(parts) => parts,
            Err(why) => {
                return HostView::none(self, why, &run.dropped, written);
            }
        };
        let delivered = deliver::deliver(&run, parts);
        run.finish(delivered, written)
    }

    /// What this host's limits mean for a result: the state of [`HostView::limit`], for which no more is written than
    /// exceeds them.
    pub fn limit_state(&self, subject: &ParsedCapture, context: &ViewContext<'_>) -> LimitState {
        let mut run = Run::new(self, subject, context);
        run.room = limit::room(self);
        match run.parts().map(|parts| deliver::deliver(&run, parts)) {
            Ok(Delivered {
                parts,
                texts,
                not_computable: None,
            }) => {
                limit::apply(self, parts, texts, &|var| run.value(var))
                    .1
                    .state
            }
            _ => LimitOutcome::unreached(self).state,
        }
    }
}

impl Run<'_> {
    /// Step 8, and everything in its place.
    fn finish(mut self, delivered: Delivered, written: &RenderCache) -> HostView {
        let Delivered {
            mut parts,
            texts,
            not_computable,
        } = delivered;
        if let Some(why) = not_computable {
            return HostView::none(self.host, why, &self.dropped, written);
        }
        if self.is_error {
            let rules = &self.host.error;
            let says = rules.native_flag || rules.template.is_some() || rules.prefix_part.is_some();
            let is_wire = self.select == Select::WireResult;
            if !says
                && !is_wire
                && !self
                    .dropped
                    .iter()
                    .any(|dropped| dropped.what == OmittedPart::IsError)
            {
                self.drop(OmittedPart::IsError, "nothing says that the call failed");
            }
        }
        if self.is_result_in_error() {
            self.dropped.clear();
        }
        let mut start = 0;
        for part in &mut parts {
            if let Raw::Text(text) = part {
                text.set_full(start);
                start += text.len() + 1;
            }
        }
        let (whole, placed) = lay_out(&parts);
        let (full, full_spans) = (
            written.texts.of(whole.text()),
            written.spans.of(whole.spans()),
        );
        drop(whole);
        let (parts, limit) = limit::apply(self.host, parts, texts, &|var| self.value(var));
        let (text, spans, placed, kept) = if limit.bites.is_empty() {
            (
                Arc::clone(&full),
                Arc::clone(&full_spans),
                placed,
                std::iter::once(0..full.len()).collect(),
            )
        } else {
            let (text, placed) = lay_out(&parts);
            let kept = kept_ranges(text.spans());
            (
                written.texts.of(text.text()),
                written.spans.of(text.spans()),
                placed,
                kept,
            )
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
    let mut text = SourceMapped::with_room(texts(parts), 1);
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
            Raw::Media { mime, block } => placed.push(Part::Media {
                mime: mime.clone(),
                block: *block,
            }),
        }
    }
    (Cow::Owned(text), placed)
}

/// The ranges of the text before any limit that are still there.
fn kept_ranges(spans: &[Span]) -> Vec<Range<usize>> {
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
        spans
            .get(at)
            .is_some_and(|span| span.range().start < range.end)
    };
    let starts = std::iter::once(0).chain(kept.iter().map(|kept| kept.end));
    let ends = kept.iter().map(|kept| kept.start).chain([bytes]);
    starts
        .zip(ends)
        .map(|(start, end)| start..end)
        .filter(|range| !range.is_empty() && is_owned(range))
        .collect()
}
