//! A cheap flag that long loops look at. Uses only the standard library.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Shared by the asker, who sets it, and the job, which looks at it every 64 KiB or so.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>, Option<Instant>);

impl Cancel {
    pub fn new() -> Self {
        Self::default()
    }

    /// With a time after which a good answer is better than the best one.
    pub fn until(deadline: Instant) -> Self {
        Self(Arc::default(), Some(deadline))
    }

    /// When the search for the best answer ends; `None` where it may take its time.
    pub fn deadline(&self) -> Option<Instant> {
        self.1
    }

    /// Whether the deadline has passed.
    pub fn is_late(&self) -> bool {
        self.1.is_some_and(|deadline| !deadline.elapsed().is_zero())
    }

    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// For `?` in long loops.
    ///
    /// # Errors
    /// [`Cancelled`] once [`Cancel::cancel`] was called on any clone.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }
}

/// The asker has looked away: the job ends without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;
