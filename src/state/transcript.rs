//! A session against the transcript that its host keeps, read once the user allowed it for that host.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::{Dialog, Effect, LiveEffect, OpenSession, State};
use loupe_analysis::queries::{Confirmed, TranscriptOutcome, TranscriptReport};
use loupe_core::problem::Problem;

/// Where a host keeps its transcripts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptPlace {
    /// The host's id.
    pub host: &'static str,
    pub name: &'static str,
    pub folder: PathBuf,
}

/// What came of comparing.
#[derive(Clone, Debug)]
pub struct ComparedTranscript {
    pub report: TranscriptReport,
    /// Transcripts with calls of the session's time.
    pub files: usize,
    /// Versions of the host that they name and that were not read before.
    pub unknown_versions: Vec<String>,
    /// What is kept as evidence, where every call is the same.
    pub confirmed: Option<Confirmed>,
}

/// Where comparing stands.
#[derive(Clone, Debug, Default)]
pub enum TranscriptState {
    #[default]
    NotRead,
    Reading {
        since: Duration,
    },
    Compared(Arc<ComparedTranscript>),
    Failed(Problem),
}

/// What the user does about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TranscriptAction {
    /// Compares, after asking the first time.
    Compare,
    /// Reads transcripts of the session's host from here on.
    Allow,
    /// Shows both texts of each call that differs.
    ShowDifferences,
}

impl OpenSession {
    /// What the transcript says of the call at this place; `None` where nothing was compared.
    pub fn compared_call(&self, place: usize) -> Option<&TranscriptOutcome> {
        match &self.transcript {
            TranscriptState::Compared(compared) => {
                let call = compared.report.calls.get(place)?;
                Some(&call.outcome)
            }
            _ => None,
        }
    }
}

impl State {
    pub(super) fn change_transcript(
        &mut self,
        action: TranscriptAction,
        effects: &mut Vec<Effect>,
    ) {
        let session = self.live.session.as_ref();
        let Some(place) = session.and_then(|session| session.read.transcripts.clone()) else {
            return;
        };
        let is_allowed = |host: &&String| **host == place.host;
        match action {
            TranscriptAction::ShowDifferences => self.dialog = Some(Dialog::TranscriptDifferences),
            TranscriptAction::Compare
                if !self.live.allowed.iter().any(|host| is_allowed(&host)) =>
            {
                self.dialog = Some(Dialog::AllowTranscript(place));
            }
            TranscriptAction::Compare => self.read_transcript(place, effects),
            TranscriptAction::Allow => {
                self.dialog = None;
                if !self.live.allowed.iter().any(|host| is_allowed(&host)) {
                    self.live.allowed.push(place.host.to_owned());
                }
                self.read_transcript(place, effects);
            }
        }
    }

    fn read_transcript(&mut self, place: TranscriptPlace, effects: &mut Vec<Effect>) {
        let (now, run) = (self.now, self.live.run);
        let Some(session) = &mut self.live.session else {
            return;
        };
        if matches!(session.transcript, TranscriptState::Reading { .. }) {
            return;
        }
        session.transcript = TranscriptState::Reading { since: now };
        effects.push(Effect::Live(LiveEffect::Compare { run, place }));
    }
}
