//! Changed settings on their way to the file: gathered, so that a later change of a key never meets an earlier one.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::problem::Problem;
use crate::settings::Changes;
use crate::store;

/// What is not written yet.
#[derive(Default)]
pub(super) struct Waiting {
    changes: Mutex<Option<(PathBuf, Changes)>>,
    /// Held while the file is written.
    writing: Mutex<()>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Waiting {
    pub(super) fn add(&self, folder: PathBuf, changes: Changes) {
        let mut waiting = lock(&self.changes);
        match waiting.as_mut() {
            Some((known, all)) if *known == folder => all.extend(changes),
            _ => *waiting = Some((folder, changes)),
        }
    }

    /// Writes what waits; does nothing where another has written it.
    pub(super) fn write(&self) -> Result<(), Problem> {
        let _one_at_a_time = lock(&self.writing);
        let waiting = lock(&self.changes).take();
        waiting.map_or(Ok(()), |(folder, changes)| store::change_settings(&folder, &changes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_change_of_a_key_stands_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let waiting = Waiting::default();
        let theme = |name: &str| Changes::from([(vec!["theme".to_owned()], Some(name.into()))]);
        waiting.add(folder.path().to_owned(), theme("dark"));
        waiting.add(folder.path().to_owned(), theme("light"));
        waiting.write().unwrap();
        waiting.write().unwrap();
        assert_eq!(store::read_settings(folder.path()).unwrap()["theme"].as_str(), Some("light"));
    }
}
