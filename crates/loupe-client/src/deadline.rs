//! Time limits that stand still while the user is asked something: nobody's browser is as quick as a server.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often a limit that stands still is looked at.
const LOOK: Duration = Duration::from_millis(100);

#[derive(Default)]
struct Held {
    /// How many hold it, since when, and how long it was held before.
    holders: usize,
    since: Option<Instant>,
    before: Duration,
}

/// Shared by everything of one session that waits.
#[derive(Default)]
pub(super) struct PausableDeadline(Mutex<Held>);

/// While it lives, the limits stand still.
pub(super) struct Hold(Arc<PausableDeadline>);

/// Time that counts from here on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    begun: Instant,
    /// How long the limits had stood still by then.
    before: Duration,
}

impl PausableDeadline {
    fn lock(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn hold(self: &Arc<Self>) -> Hold {
        let mut held = self.lock();
        held.holders += 1;
        held.since.get_or_insert_with(Instant::now);
        Hold(Arc::clone(self))
    }

    /// How long it has been held in all.
    fn total(&self) -> Duration {
        let held = self.lock();
        held.before + held.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    pub(super) fn count(&self) -> Counted {
        Counted {
            begun: Instant::now(),
            before: self.total(),
        }
    }

    /// How long the user has been waited for since then.
    pub(super) fn held_since(&self, from: Counted) -> Duration {
        self.total().saturating_sub(from.before)
    }

    /// Ends when the limit has passed, what it stood still left out.
    pub(super) async fn limit(&self, limit: Duration) {
        self.until(self.count(), limit).await;
    }

    /// The same, counted from before.
    pub(super) async fn until(&self, from: Counted, limit: Duration) {
        loop {
            let left =
                limit.saturating_sub(from.begun.elapsed().saturating_sub(self.held_since(from)));
            if left.is_zero() {
                return;
            }
            let is_held = self.lock().since.is_some();
            tokio::time::sleep(if is_held { left.max(LOOK) } else { left }).await;
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut held = self.0.lock();
        held.holders -= 1;
        if held.holders == 0
            && let Some(since) = held.since.take()
        {
            held.before += since.elapsed();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_held_limit_does_not_end() {
        let deadline = Arc::new(PausableDeadline::default());
        let hold = deadline.hold();
        let second = deadline.hold();
        let waiting = tokio::time::timeout(
            Duration::from_millis(300),
            deadline.limit(Duration::from_millis(1)),
        )
        .await;
        assert!(waiting.is_err(), "the limit ended while it was held");
        drop((hold, second));
        deadline.limit(Duration::from_millis(1)).await;
    }
}
