//! What the hosts have in common that are shown one result.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::source_map::Span;
use super::view::{Omission, Part};

/// What the hosts have in common that are shown one result: of equal views one is kept.
#[derive(Debug, Default)]
pub struct RenderCache {
    pub(super) texts: Interned<str>,
    pub(super) spans: Interned<[Span]>,
    pub(super) parts: Interned<[Part]>,
    pub(super) kept: Interned<[Range<usize>]>,
    pub(super) dropped: Interned<[Omission]>,
}

impl RenderCache {
    /// A text, of equal ones the first.
    pub fn text(&self, text: &str) -> Arc<str> {
        self.texts.of(text)
    }
}

/// Values, equal ones once; as many as there are hosts, so that each is compared with all.
#[derive(Debug)]
pub(super) struct Interned<T: ?Sized>(Mutex<Vec<Arc<T>>>);

impl<T: ?Sized> Default for Interned<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: ?Sized + PartialEq> Interned<T> {
    pub(super) fn of<'v>(&self, value: &'v T) -> Arc<T>
    where
        Arc<T>: From<&'v T>,
    {
        let mut known = lock(&self.0);
        if let Some(same) = known.iter().find(|same| ***same == *value) {
            return Arc::clone(same);
        }
        let value: Arc<T> = Arc::from(value);
        known.push(Arc::clone(&value));
        value
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
