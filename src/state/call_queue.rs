//! Calls made one after the other: those of a comparison, of fixtures.
//! What came stays, whatever happens to a later call.

use std::sync::Arc;

use super::{Effect, PreparedCall, State};
use loupe_core::capture::{Capture, CaptureId, Outcome};

/// A series, planned, running or done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// As they are sent.
    pub(super) calls: Vec<PreparedCall>,
    /// What each call became, in their order; `None` before it is made.
    pub captures: Vec<Option<CaptureId>>,
    /// The position of the call in flight.
    running: Option<usize>,
    /// Why the calls that are left were not made.
    pub stopped: Option<String>,
}

impl Series {
    /// Calls of which none is made yet.
    pub(super) fn new(calls: Vec<PreparedCall>) -> Self {
        Self {
            captures: vec![None; calls.len()],
            calls,
            ..Self::default()
        }
    }

    /// Position of the call in flight.
    pub fn running(&self) -> Option<usize> {
        self.running
    }

    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// The calls that are not made yet.
    pub(super) fn remaining(&self) -> impl Iterator<Item = &PreparedCall> {
        self.calls
            .iter()
            .zip(&self.captures)
            .filter(|(_, capture)| capture.is_none())
            .map(|(call, _)| call)
    }

    /// Takes in the answer to the call in flight.
    pub(super) fn on_capture(&mut self, at: usize, capture: &Capture) {
        self.running = None;
        self.captures[at] = Some(capture.id.clone());
        // Where somebody lost patience or the server went away, there is nobody left to call, or to call for.
        match capture.outcome {
            Outcome::Cancelled => self.stop("cancelled"),
            Outcome::Disconnected => self.stop("the server went away"),
            Outcome::Result
            | Outcome::ToolError
            | Outcome::ProtocolError
            | Outcome::Malformed
            | Outcome::Timeout => {}
        }
    }

    fn stop(&mut self, why: &str) {
        self.stopped.get_or_insert_with(|| why.to_owned());
    }
}

/// Whose calls a series makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SeriesKind {
    Compare,
    Fixtures,
}

impl State {
    fn series(&mut self, kind: SeriesKind) -> Option<&mut Series> {
        match kind {
            SeriesKind::Compare => self
                .comparisons
                .current
                .as_mut()
                .map(|compare| &mut compare.series),
            SeriesKind::Fixtures => Some(&mut self.fixtures.verifying.series),
        }
    }

    /// Makes the next call that is left, if any.
    pub(super) fn next_of_series(&mut self, kind: SeriesKind, effects: &mut Vec<Effect>) {
        let Some(series) = self.series(kind).filter(|series| series.stopped.is_none()) else {
            return;
        };
        let Some(at) = series.captures.iter().position(Option::is_none) else {
            return;
        };
        let call = series.calls[at].clone();
        let begun = self.begin_call(call, effects);
        let Some(series) = self.series(kind) else {
            return;
        };
        match begun {
            Ok(()) => series.running = Some(at),
            Err(problem) => {
                series.stop(&problem.what);
                self.toast_problem(problem);
            }
        }
    }

    /// Takes in the answer to the call at this position of a comparison, and makes the next.
    pub(super) fn captured_of_compare(
        &mut self,
        at: usize,
        capture: &Arc<Capture>,
        effects: &mut Vec<Effect>,
    ) {
        if let Some(series) = self.series(SeriesKind::Compare) {
            series.on_capture(at, capture);
        }
        // The way back leads to a result.
        self.view.capture.get_or_insert_with(|| capture.id.clone());
        self.list_capture(Arc::clone(capture));
        self.next_of_series(SeriesKind::Compare, effects);
    }

    /// No further call; the one in flight still counts, unless it `ends` with its session.
    pub(super) fn stop_series(&mut self, why: &str, ends: bool) {
        for kind in [SeriesKind::Compare, SeriesKind::Fixtures] {
            if let Some(series) = self.series(kind).filter(|series| series.is_running()) {
                series.stop(why);
                series.running.take_if(|_| ends);
            }
        }
    }
}
