//! A cheap flag that long loops look at. Uses only the standard library.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Shared by the asker, who sets it, and the job, which looks at it every 64 KiB or so.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    flag: Arc<AtomicBool>,
    deadline: Option<Instant>,
    #[cfg(test)]
    looks: Arc<looks::Looks>,
}

impl Cancel {
    pub fn new() -> Self {
        Self::default()
    }

    /// With a time after which a good answer is better than the best one.
    pub fn until(deadline: Instant) -> Self {
        Self { deadline: Some(deadline), ..Self::default() }
    }

    /// When the search for the best answer ends; `None` where it may take its time.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Whether the deadline has passed.
    pub fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| !deadline.elapsed().is_zero())
    }

    pub fn cancel(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    pub fn is_cancelled(&self) -> bool {
        #[cfg(test)]
        self.looks.take(&self.flag);
        self.flag.load(Ordering::Relaxed)
    }

    /// For `?` in long loops.
    ///
    /// # Errors
    /// [`Cancelled`] once [`Cancel::cancel`] was called on any clone.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }

    /// For loops whose steps are too small to look at the flag in each.
    pub fn steps(&self) -> Steps<'_> {
        Steps { cancel: self, taken: 0 }
    }
}

/// Looks at a flag once in so many steps.
#[derive(Clone, Debug)]
pub struct Steps<'a> {
    cancel: &'a Cancel,
    taken: u32,
}

impl Steps<'_> {
    /// Steps between two looks.
    pub const A_LOOK: u32 = 4_096;

    /// # Errors
    /// [`Cancelled`] when the asker looked away.
    pub fn step(&mut self) -> Result<(), Cancelled> {
        self.taken += 1;
        if self.taken < Self::A_LOOK {
            return Ok(());
        }
        self.taken = 0;
        self.cancel.check()
    }
}

/// The asker has looked away: the job ends without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

/// For tests of who looks at the flag, and how often: a flag that sets itself.
#[cfg(test)]
mod looks {
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    use super::Cancel;

    #[derive(Debug)]
    pub(super) struct Looks {
        taken: AtomicU64,
        /// The look at which the flag is found set.
        last: u64,
    }

    impl Default for Looks {
        fn default() -> Self {
            Self { taken: AtomicU64::new(0), last: u64::MAX }
        }
    }

    impl Looks {
        pub(super) fn take(&self, flag: &AtomicBool) {
            if self.taken.fetch_add(1, Ordering::Relaxed) + 1 == self.last {
                flag.store(true, Ordering::Relaxed);
            }
        }
    }

    impl Cancel {
        /// Cancelled by the look with this number, from 1.
        pub(crate) fn at_look(last: u64) -> Self {
            Self { looks: std::sync::Arc::new(Looks { last, ..Looks::default() }), ..Self::default() }
        }

        /// How often it was looked at.
        pub(crate) fn looks(&self) -> u64 {
            self.looks.taken.load(Ordering::Relaxed)
        }
    }
}
