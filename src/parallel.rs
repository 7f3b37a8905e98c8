//! Independent pieces of one question, on as many threads as there are cores. The threads are joined before the answer
//! is there, so that whoever asks stays a pure function.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The most threads that one question takes: several questions are answered at a time.
const MAX_THREADS: usize = 4;

/// How many threads of all questions work beside those that asked.
static FURTHER: AtomicUsize = AtomicUsize::new(0);

/// One of them.
struct Further;

impl Further {
    fn begin() -> Self {
        FURTHER.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for Further {
    fn drop(&mut self) {
        FURTHER.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What becomes of each item, in order. With `is_small` no thread is worth its while, nor where the cores are at work.
///
/// # Errors
/// The first that an item gives, as when the asker looked away.
pub fn parallel_map<T: Sync, R: Send, E: Send>(
    items: &[T],
    is_small: bool,
    work: impl Fn(&T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let cores = if is_small { 1 } else { thread::available_parallelism().map_or(1, NonZero::get) };
    let idle = cores.saturating_sub(FURTHER.load(Ordering::Relaxed));
    let threads = idle.min(MAX_THREADS).min(items.len());
    if threads < 2 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let take = || {
        let mut done = Vec::new();
        while let Some((at, item)) = Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, items.get(at)?))) {
            done.push((at, work(item)?));
        }
        Ok(done)
    };
    let parts = thread::scope(|scope| {
        let further = || {
            let _at_work = Further::begin();
            take()
        };
        let workers: Vec<_> = (1..threads).map(|_| scope.spawn(further)).collect();
        let own = take();
        let theirs = workers.into_iter().map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)));
        std::iter::once(own).chain(theirs).collect::<Result<Vec<_>, E>>()
    })?;
    let mut done: Vec<(usize, R)> = parts.into_iter().flatten().collect();
    done.sort_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}

/// Both results, each on a thread of its own. With `is_small` that is not worth its while.
pub fn join<A: Send, B>(is_small: bool, first: impl FnOnce() -> A + Send, second: impl FnOnce() -> B) -> (A, B) {
    if is_small {
        return (first(), second());
    }
    thread::scope(|scope| {
        let first = scope.spawn(first);
        let second = second();
        (first.join().unwrap_or_else(|panic| resume_unwind(panic)), second)
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
}
