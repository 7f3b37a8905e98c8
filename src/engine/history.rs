//! The history's folder, worked on off the UI thread: one thing after the other, in the order asked for, so that what is
//! kept is there before it is listed. Searching, which changes nothing, waits for nothing.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use time::OffsetDateTime;
use tokio::runtime::{Handle, Runtime};
use tokio::task::JoinHandle;

use super::queue::Queue;
use super::work::{blocking, task};
use crate::state::Event;
use crate::state::history::{HistoryEffect, HistoryEvent};
use crate::store::{History, Removed, StoreError};
use loupe_core::cancel::Cancel;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::redact::{RedactOptions, SecretList, redact};

/// What is larger is looked through for secrets once the panes had time to show it: on few processors they would wait.
const LARGE_BYTES: usize = 1 << 20;
const PANES_FIRST: Duration = Duration::from_secs(1);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) struct HistoryWriter {
    queue: Arc<Queue>,
    /// What any session of this run knows to be secret: hidden in all that is written.
    known: SecretList,
    history: Mutex<Option<History>>,
    /// What is being done last, and all before it; the next thing waits for it.
    last: Mutex<Option<JoinHandle<()>>>,
    /// The search that is out; a newer one calls it off.
    search: Mutex<Cancel>,
    /// What was removed last, as long as this lives or something else is removed.
    removed: Arc<Mutex<Option<Removed>>>,
}

impl HistoryWriter {
    pub(super) fn new(queue: Arc<Queue>) -> Self {
        let known = SecretList::default();
        known.add_inherited(std::env::vars_os());
        Self {
            queue,
            known,
            history: Mutex::default(),
            last: Mutex::default(),
            search: Mutex::default(),
            removed: Arc::default(),
        }
    }

    /// The list, for sessions to add to.
    pub(super) fn known(&self) -> SecretList {
        self.known.clone()
    }

    /// What is hidden in what the window writes.
    pub(super) fn options(&self) -> RedactOptions {
        RedactOptions {
            secrets: self.known.secrets(),
            ..RedactOptions::default()
        }
    }

    pub(super) fn use_folder(&self, folder: &Path) {
        *lock(&self.history) = Some(History::at(folder));
    }

    pub(super) fn execute(&self, runtime: &Runtime, effect: HistoryEffect) {
        let Some(folder) = lock(&self.history).clone() else {
            return;
        };
        let sink = Arc::clone(&self.queue);
        let (cancel, options) = (Cancel::new(), self.options());
        let is_search = matches!(effect, HistoryEffect::Search { .. });
        if is_search {
            let mut search = lock(&self.search);
            search.cancel();
            *search = cancel.clone();
        }
        let search = match &effect {
            HistoryEffect::Search { number, .. } => Some(*number),
            _ => None,
        };
        let is_large = matches!(&effect, HistoryEffect::Keep(capture) if capture.response.as_ref().is_some_and(|response| response.len() > LARGE_BYTES));
        let queue = Arc::clone(&self.queue);
        let failed = move |problem| {
            if let Some(number) = search {
                queue.push(Event::History(HistoryEvent::Found {
                    number,
                    ids: Vec::new(),
                }));
            }
            Event::Problem(problem)
        };
        let removed = Arc::clone(&self.removed);
        let work = move || match work(&folder, effect, &options, &removed, &cancel) {
            Ok(Some(event)) => sink.push(Event::History(event)),
            Ok(None) => {}
            Err(problem) => sink.push(Event::Problem(problem)),
        };
        if is_search {
            blocking(runtime.handle(), &self.queue, failed, work);
            return;
        }
        let mut last = lock(&self.last);
        let before = last.take();
        let queue = Arc::clone(&self.queue);
        *last = Some(task(
            runtime.handle(),
            &self.queue,
            Event::Problem,
            async move {
                if let Some(before) = before {
                    before.await.ok();
                }
                if is_large {
                    tokio::time::sleep(PANES_FIRST).await;
                }
                blocking(&Handle::current(), &queue, failed, work)
                    .await
                    .ok();
            },
        ));
    }

    /// Waits until all that was asked for is done.
    pub(super) async fn settle(&self) {
        let last = lock(&self.last).take();
        if let Some(last) = last {
            last.await.ok();
        }
    }
}

fn work(
    history: &History,
    effect: HistoryEffect,
    options: &RedactOptions,
    removed: &Mutex<Option<Removed>>,
    cancel: &Cancel,
) -> Result<Option<HistoryEvent>, Problem> {
    Ok(Some(match effect {
        HistoryEffect::List { keep } => {
            // What cannot be let go of keeps nothing from being listed.
            let pruned = history.prune(keep, OffsetDateTime::now_utc());
            let listed = history.list()?;
            let notes = pruned
                .err()
                .map(|error| Problem::from(error).message())
                .into_iter()
                .chain(listed.notes)
                .collect();
            HistoryEvent::Listed {
                entries: listed.entries,
                notes,
            }
        }
        HistoryEffect::Keep(capture) => {
            let hidden = redact(&capture, options, cancel)
                .map_err(|_| Problem::new(ProblemKind::Cancelled, "not kept"))?;
            let entry = history.add(&hidden.capture).map_err(|error| {
                let problem = Problem::from(error);
                Problem {
                    what: format!("this call is not kept in the history: {}", problem.what),
                    ..problem
                }
            })?;
            let capture = capture.id.clone();
            HistoryEvent::Kept {
                capture,
                entry: Box::new(entry),
            }
        }
        HistoryEffect::Search {
            number,
            entries,
            query,
        } => match history.search(&entries, &query, cancel) {
            Ok(ids) => HistoryEvent::Found { number, ids },
            Err(_looked_away) => return Ok(None),
        },
        HistoryEffect::Open(id) => {
            let capture = Arc::new(history.open(&id)?);
            HistoryEvent::Opened { id, capture }
        }
        HistoryEffect::Remove(id) => {
            *lock(removed) = Some(history.remove(&id)?);
            HistoryEvent::Removed(id)
        }
        HistoryEffect::PutBack(id) => {
            let mut removed = lock(removed);
            match removed.as_ref().filter(|removed| removed.is_of(&id)) {
                Some(removed) => removed.put_back()?,
                None => {
                    return Err(StoreError::NotACapture {
                        path: history.folder(&id),
                    }
                    .into());
                }
            }
            *removed = None;
            return Ok(None);
        }
    }))
}

#[cfg(test)]
mod tests {
    use crate::engine::Engine;
    use crate::state::Effect;
    use loupe_core::capture::{Capture, CaptureId, Server};

    use super::*;

    #[test]
    fn large_answers_are_kept_though_the_window_is_closed_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let engine = Engine::with_guard(Arc::new(|| {}), None).unwrap();
        engine.execute(Effect::UseHistory(folder.path().to_owned()));
        // Each is begun a second after the one before it, which makes more than sessions are given to end.
        let captures = 4;
        for number in 0..captures {
            let response = format!(
                r#"{{"jsonrpc":"2.0","id":1,"result":"{}"}}"#,
                "x".repeat(LARGE_BYTES)
            );
            let capture = Capture::empty(CaptureId(number.to_string().into()), Server::default());
            let capture = Capture {
                response: Some(response.into()),
                ..capture
            };
            engine.execute(Effect::History(HistoryEffect::Keep(Arc::new(capture))));
        }
        drop(engine);
        assert_eq!(
            History::at(folder.path()).list().unwrap().entries.len(),
            captures
        );
    }
}
