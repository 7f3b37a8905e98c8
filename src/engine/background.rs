//! Work that the user asked for and that no pane waits for: with a name, a time limit, and a way to cancel it.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::timeout;

use super::queue::Queue;
use super::work::{aside, task};
use crate::state::{BackgroundEvent, Event};
use loupe_core::cancel::Cancel;
use loupe_core::problem::{Problem, ProblemKind};

/// The longest that such work may take; 100 MB are redacted and written in a tenth of it.
const LIMIT: Duration = Duration::from_secs(120);

#[derive(Clone, Default)]
pub(super) struct Background(Arc<Mutex<Tasks>>);

#[derive(Default)]
struct Tasks {
    last: u64,
    running: HashMap<u64, Cancel>,
}

impl Background {
    fn tasks(&self) -> MutexGuard<'_, Tasks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts work that looks at the flag between its parts. What is cancelled reports nothing but its end.
    pub(super) fn start(
        &self,
        runtime: &Handle,
        queue: &Arc<Queue>,
        what: &'static str,
        work: impl FnOnce(&Cancel) -> Result<Event, Problem> + Send + 'static,
    ) {
        let cancel = Cancel::new();
        let number = {
            let mut tasks = self.tasks();
            tasks.last += 1;
            let number = tasks.last;
            tasks.running.insert(number, cancel.clone());
            number
        };
        queue.push(Event::Background(BackgroundEvent::Began { number, what }));
        let (sink, all) = (Arc::clone(queue), self.clone());
        task(runtime, queue, Event::Problem, async move {
            let flag = cancel.clone();
            let mut work = pin!(aside(move || work(&flag)));
            let mut is_late = false;
            let ended = match timeout(LIMIT, &mut work).await {
                Ok(ended) => ended,
                Err(_) => {
                    is_late = true;
                    cancel.cancel();
                    work.await
                }
            };
            all.tasks().running.remove(&number);
            sink.push(Event::Background(BackgroundEvent::Ended { number }));
            match ended.and_then(|ended| ended) {
                Ok(event) => sink.push(event),
                Err(problem) if problem.kind != ProblemKind::Cancelled => {
                    sink.push(Event::Problem(problem))
                }
                Err(_) if is_late => {
                    let what = format!("{what}: stopped after {} s", LIMIT.as_secs());
                    sink.push(Event::Problem(
                        Problem::new(ProblemKind::Timeout, what)
                            .hint("the command line has no such limit"),
                    ));
                }
                Err(_) => {}
            }
        });
    }

    pub(super) fn cancel(&self, number: u64) {
        if let Some(cancel) = self.tasks().running.get(&number) {
            cancel.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::ExportEvent;
    use loupe_core::cancel::Cancelled;

    fn wait(cancel: &Cancel) -> Cancelled {
        while cancel.check().is_ok() {
            std::thread::yield_now();
        }
        Cancelled
    }

    #[test]
    fn what_is_cancelled_reports_its_end_alone() {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_time()
            .worker_threads(1)
            .build()
            .unwrap();
        let (queue, background) = (Arc::new(Queue::new(Arc::new(|| {}))), Background::default());
        let called_off = |cancel: &Cancel| {
            Err(Problem::new(
                ProblemKind::Cancelled,
                wait(cancel).to_string(),
            ))
        };
        background.start(runtime.handle(), &queue, "Waiting", called_off);
        background.start(runtime.handle(), &queue, "Copying", |_| {
            Ok(Event::Export(ExportEvent::PictureCopied))
        });
        background.start(runtime.handle(), &queue, "Failing", |_| panic!("inside"));
        let mut events = Vec::new();
        while events.len() < 8 {
            events.extend(queue.pop());
            if events.len() == 7 {
                background.cancel(1);
            }
        }
        assert!(
            matches!(
                events[7],
                Event::Background(BackgroundEvent::Ended { number: 1 })
            ),
            "{events:?}"
        );
        assert!(
            events
                .iter()
                .any(|event| matches!(event, Event::Export(ExportEvent::PictureCopied)))
        );
        let problems = events
            .iter()
            .filter(|event| matches!(event, Event::Problem(_)))
            .count();
        assert_eq!((problems, queue.pop().is_none()), (1, true));
    }
}
