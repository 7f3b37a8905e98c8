//! The cache of answers, by capture and question.

use std::collections::HashMap;
use std::time::Duration;

use crate::capture::CaptureId;
use crate::problem::Problem;
use crate::report::{Answer, Question};

/// What is known of a question.
#[derive(Clone, Debug)]
pub enum Asked<'a> {
    Ready(&'a Answer),
    /// Being worked on since this time, or about to be.
    Working {
        since: Duration,
    },
    Failed(&'a Problem),
}

#[derive(Clone, Debug)]
enum Entry {
    Working { since: Duration },
    Done(Result<Answer, Problem>),
}

/// Answers that were given, and questions that are out.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    entries: HashMap<(CaptureId, Question), Entry>,
}

impl Answers {
    /// What is known; `None` where nobody has asked yet.
    pub fn get(&self, capture: &CaptureId, question: Question) -> Option<Asked<'_>> {
        Some(match self.entries.get(&(capture.clone(), question))? {
            Entry::Working { since } => Asked::Working { since: *since },
            Entry::Done(Ok(answer)) => Asked::Ready(answer),
            Entry::Done(Err(problem)) => Asked::Failed(problem),
        })
    }

    /// Notes that a question is out; false where it already was, or is answered.
    pub(super) fn ask(&mut self, capture: &CaptureId, question: Question, now: Duration) -> bool {
        let key = (capture.clone(), question);
        if self.entries.contains_key(&key) {
            return false;
        }
        self.entries.insert(key, Entry::Working { since: now });
        true
    }

    pub(super) fn put(&mut self, capture: CaptureId, question: Question, answer: Result<Answer, Problem>) {
        self.entries.insert((capture, question), Entry::Done(answer));
    }

    /// Drops the questions that are out for captures other than this one, and returns them.
    pub(super) fn forget_others(&mut self, shown: Option<&CaptureId>) -> Vec<(CaptureId, Question)> {
        let gone: Vec<_> = self
            .entries
            .iter()
            .filter(|((capture, _), entry)| matches!(entry, Entry::Working { .. }) && Some(capture) != shown)
            .map(|(key, _)| key.clone())
            .collect();
        for key in &gone {
            self.entries.remove(key);
        }
        gone
    }

    /// Number of questions that are out.
    pub fn working(&self) -> usize {
        self.entries.values().filter(|entry| matches!(entry, Entry::Working { .. })).count()
    }
}
