//! Independent pieces of one question, on as many threads as there are cores. The threads are joined before the answer
//! is there, so that whoever asks stays a pure function.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The most threads that one question takes: several questions are answered at a time.
const MAX_THREADS: usize = 4;

/// From here on a text is worth a further thread: counting it takes time, and locating facts in it memory.
pub(crate) const LONG_BYTES: usize = 1 << 20;

/// How many threads of all questions work next to those that asked.
static FURTHER: AtomicUsize = AtomicUsize::new(0);

/// One of them.
struct Further;

impl Further {
    /// None where as many are at work as there are cores.
    fn begin(cores: usize) -> Option<Self> {
        let more = |now| (now + 1 < cores).then_some(now + 1);
        FURTHER
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .ok()
            .map(|_| Self)
    }
}

impl Drop for Further {
    fn drop(&mut self) {
        FURTHER.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What becomes of each item, in order. With `is_small` no thread is worth its while, nor where all cores are at work.
///
/// # Errors
/// The first that an item gives, as if the caller cancelled.
pub fn parallel_map<T: Sync, R: Send, E: Send>(
    items: &[T],
    is_small: bool,
    work: impl Fn(&T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let cores = if is_small {
        1
    } else {
        thread::available_parallelism().map_or(1, NonZero::get)
    };
    let further: Vec<Further> = (1..items.len().min(MAX_THREADS))
        .map_while(|_| Further::begin(cores))
        .collect();
    if further.is_empty() {
        let mut done = Vec::with_capacity(items.len());
        while let Some(item) = items.get(done.len()) {
            done.push(work(item)?);
            // Cores that are done with other work help with the rest.
            if FURTHER.load(Ordering::Relaxed) + 1 < cores {
                done.extend(parallel_map(&items[done.len()..], is_small, work)?);
                break;
            }
        }
        return Ok(done);
    }
    let next = AtomicUsize::new(0);
    let take = || {
        let mut done = Vec::new();
        while let Some((at, item)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, items.get(at)?)))
        {
            done.push((at, work(item)?));
        }
        Ok(done)
    };
    let parts = thread::scope(|scope| {
        let beside = |at_work: Further| {
            scope.spawn(move || {
                let _at_work = at_work;
                take()
            })
        };
        let workers: Vec<_> = further.into_iter().map(beside).collect();
        let own = take();
        let theirs = workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)));
        std::iter::once(own)
            .chain(theirs)
            .collect::<Result<Vec<_>, E>>()
    })?;
    let mut done: Vec<(usize, R)> = parts.into_iter().flatten().collect();
    done.sort_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}

/// Both results, each on a thread of its own. With `is_small` that is not worth its while.
pub fn join<A: Send, B>(
    is_small: bool,
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B,
) -> (A, B) {
    if is_small {
        return (first(), second());
    }
    thread::scope(|scope| {
        let first = scope.spawn(first);
        let second = second();
        (
            first.join().unwrap_or_else(|panic| resume_unwind(panic)),
            second,
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cancel::{Cancel, Cancelled};

    #[test]
    fn results_stand_in_the_order_of_the_items() {
        let items: Vec<u32> = (0..1_000).collect();
        for is_small in [true, false] {
            assert_eq!(
                parallel_map(&items, is_small, |item| Ok::<_, Cancelled>(item * 2)).unwrap(),
                (0..1_000).map(|item| item * 2).collect::<Vec<_>>()
            );
        }
        let cancel = Cancel::new();
        let looked_away = parallel_map(&items, false, |item| {
            if *item == 500 {
                cancel.cancel();
            }
            cancel.check()
        });
        assert_eq!(looked_away, Err(Cancelled));
    }

    #[test]
    fn a_question_within_a_question_takes_no_more_threads_than_there_are_cores() {
        let (at_work, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let items = [(); 16];
        let inner = |(): &()| {
            most.fetch_max(at_work.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            thread::sleep(std::time::Duration::from_millis(1));
            at_work.fetch_sub(1, Ordering::SeqCst);
            Ok::<_, Cancelled>(())
        };
        parallel_map(&items, false, |()| {
            parallel_map(&items, false, inner).map(|_| ())
        })
        .unwrap();
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        assert!(
            most.into_inner() <= cores,
            "more threads than {cores} cores"
        );
    }

    #[test]
    fn both_results_are_joined() {
        for is_small in [true, false] {
            assert_eq!(join(is_small, || "one", || 2), ("one", 2));
        }
    }
}
