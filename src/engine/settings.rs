//! Changes on their way to a file of settings: gathered, so that a later change of a key never meets an earlier one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use loupe_core::problem::Problem;

/// What is not written yet.
pub(super) struct Waiting<K, V> {
    changes: Mutex<Option<(PathBuf, BTreeMap<K, V>)>>,
    /// Held while the file is written.
    writing: Mutex<()>,
}

impl<K, V> Default for Waiting<K, V> {
    fn default() -> Self {
        Self {
            changes: Mutex::default(),
            writing: Mutex::default(),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<K: Ord, V> Waiting<K, V> {
    pub(super) fn add(&self, folder: PathBuf, changes: BTreeMap<K, V>) {
        let mut waiting = lock(&self.changes);
        match waiting.as_mut() {
            Some((known, all)) if *known == folder => all.extend(changes),
            _ => *waiting = Some((folder, changes)),
        }
    }

    /// Writes what waits, with this function; does nothing where another has written it.
    pub(super) fn write(
        &self,
        write: impl FnOnce(&Path, BTreeMap<K, V>) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let _one_at_a_time = lock(&self.writing);
        let waiting = lock(&self.changes).take();
        waiting.map_or(Ok(()), |(folder, changes)| write(&folder, changes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store;
    use loupe_core::settings::Changes;

    #[test]
    fn the_last_change_of_a_key_stands_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let waiting = Waiting::default();
        let theme = |name: &str| Changes::from([(vec!["theme".to_owned()], Some(name.into()))]);
        waiting.add(folder.path().to_owned(), theme("dark"));
        waiting.add(folder.path().to_owned(), theme("light"));
        let write = |folder: &Path, changes: Changes| store::change_settings(folder, &changes);
        waiting.write(write).unwrap();
        waiting.write(write).unwrap();
        assert_eq!(
            store::read_settings(folder.path()).unwrap()["theme"].as_str(),
            Some("light")
        );
    }
}
