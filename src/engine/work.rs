//! Starts work off the UI thread. A panic in it becomes an event, so that nobody waits for ever for what will not come.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures::FutureExt as _;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use super::queue::Queue;
use crate::state::Event;
use loupe_core::problem::{Problem, ProblemKind};

/// Work that blocks. `failed` makes what is told where it panics.
pub(super) fn blocking(
    runtime: &Handle,
    queue: &Arc<Queue>,
    failed: impl FnOnce(Problem) -> Event + Send + 'static,
    work: impl FnOnce() + Send + 'static,
) -> JoinHandle<()> {
    let queue = Arc::clone(queue);
    runtime.spawn_blocking(move || {
        if let Err(problem) = caught(work) {
            queue.push(failed(problem));
        }
    })
}

/// Work that waits; as [`blocking`].
pub(super) fn task(
    runtime: &Handle,
    queue: &Arc<Queue>,
    failed: impl FnOnce(Problem) -> Event + Send + 'static,
    work: impl Future<Output = ()> + Send + 'static,
) -> JoinHandle<()> {
    let queue = Arc::clone(queue);
    runtime.spawn(async move {
        if let Err(panic) = AssertUnwindSafe(work).catch_unwind().await {
            queue.push(failed(problem(&*panic)));
        }
    })
}

/// What comes of work that blocks, or that it panicked; waited for without holding up others.
pub(super) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Problem> {
    let ended = tokio::task::spawn_blocking(move || caught(work)).await;
    // It is not started any more where the runtime ends.
    ended.unwrap_or_else(|error| Err(Problem::new(ProblemKind::Cancelled, error.to_string())))
}

/// What comes of work, or that it panicked.
pub(super) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Problem> {
    // Whatever it had in hand is dropped with it; what it shares is behind locks that nobody takes for poisoned.
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| problem(&*panic))
}

fn problem(panic: &(dyn Any + Send)) -> Problem {
    let message = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    Problem::new(
        ProblemKind::Internal,
        format!("this failed inside Loupe: {}", message.unwrap_or("a panic")),
    )
    .hint("report it, with what was done before; everything else still works")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_panic_becomes_an_event() {
        let queue = Arc::new(Queue::new(Arc::new(|| {})));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(async {
            blocking(&Handle::current(), &queue, Event::Problem, || panic!("one"))
                .await
                .unwrap();
            task(&Handle::current(), &queue, Event::Problem, async {
                panic!("{}", 2)
            })
            .await
            .unwrap();
        });
        for message in [
            "this failed inside Loupe: one",
            "this failed inside Loupe: 2",
        ] {
            let Some(Event::Problem(problem)) = queue.pop() else {
                panic!("no event")
            };
            assert_eq!(
                (problem.kind, problem.what.as_str()),
                (ProblemKind::Internal, message)
            );
        }
    }

    #[test]
    fn all_work_of_the_engine_is_started_here() {
        let engine = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/engine");
        for file in std::fs::read_dir(engine)
            .unwrap()
            .map(|entry| entry.unwrap().path())
        {
            let text = std::fs::read_to_string(&file).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap();
            let starts = [
                "spawn_blocking(",
                "runtime.spawn(",
                "handle.spawn(",
                "tokio::spawn(",
            ];
            let is_here = file.ends_with("work.rs");
            assert!(
                is_here || starts.iter().all(|start| !code.contains(start)),
                "{}",
                file.display()
            );
        }
    }
}
