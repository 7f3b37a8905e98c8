//! The history: every capture that is kept, from run to run.
//!
//! One folder a capture under `captures/`, in the form of an export. `index.jsonl` is a cache of what a list shows: what it
//! lacks is read from the folders, what is no longer there is left out, and where it is damaged or gone it is written anew.
//! Writers of the index hold a lock, so that two running copies do not disturb each other; nobody waits for it to read.
//! What is removed is moved out of the list at once, and deleted when it cannot be put back any more ([`Removed`]).

mod index;
mod search;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use time::OffsetDateTime;

pub use crate::history::{Entry, Health, HistoryId, HistoryLimits, HistoryQuery};

use super::{Readers, StoreError, TEMPORARY, read_folder, write_folder};
use loupe_core::capture::Capture;

const CAPTURES: &str = "captures";
const LOCK: &str = "lock";
/// What was not put in place after so long never will be: its writer ended.
const STALE: Duration = Duration::from_secs(60 * 60);
/// Names tried for one capture.
const NAMES: u32 = 10_000;

/// What the list of the history shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HistoryPage {
    /// Newest first.
    pub entries: Vec<Entry>,
    /// What did not keep the list from being made: an index that could not be written, for people.
    pub notes: Vec<String>,
}

/// A capture that was removed. It is deleted when this is dropped; what a crash leaves of it goes with what was left
/// half-written.
#[derive(Debug)]
pub struct Removed {
    /// Beside the captures, with its folder in it.
    away: TempDir,
    place: PathBuf,
}

impl Removed {
    pub fn is_of(&self, id: &HistoryId) -> bool {
        self.place.ends_with(&*id.0)
    }

    /// Puts it back.
    ///
    /// # Errors
    /// [`StoreError::Io`]; it can be tried again.
    pub fn put_back(&self) -> Result<(), StoreError> {
        let name = self.place.file_name().unwrap_or_default();
        fs::rename(self.away.path().join(name), &self.place)
            .map_err(StoreError::io("cannot put back", &self.place))
    }

    /// Deletes it now.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn delete(self) -> Result<(), StoreError> {
        let Self { away, place } = self;
        away.close()
            .map_err(StoreError::io("cannot delete", &place))
    }
}

/// See the module. Cheap to clone; every method may be called from any thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    root: PathBuf,
}

impl History {
    /// The history under a data folder. Nothing is read or made yet.
    pub fn at(data_dir: &Path) -> Self {
        Self {
            root: data_dir.join("history"),
        }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    fn captures(&self) -> PathBuf {
        self.root.join(CAPTURES)
    }

    /// The folder of a capture.
    pub fn folder(&self, id: &HistoryId) -> PathBuf {
        self.captures().join(&*id.0)
    }

    /// Keeps a capture, and gives what the list shows of it. What is secret in it must have been hidden before.
    ///
    /// # Errors
    /// [`StoreError::Io`]: a full disk, a folder that may not be written. Nothing of the capture is left behind.
    pub fn add(&self, capture: &Capture) -> Result<Entry, StoreError> {
        self.make_folder()
            .map_err(StoreError::io("cannot create the folder", &self.root))?;
        let base = folder_name(capture);
        for number in 1..NAMES {
            let name = if number == 1 {
                base.clone()
            } else {
                format!("{base}-{number}")
            };
            let id = HistoryId(name.as_str().into());
            let named = Capture {
                name: Arc::clone(&id.0),
                ..capture.clone()
            };
            match write_folder(&named, &self.captures().join(&name)) {
                Ok(()) => {
                    let entry = Entry::of(&id, &named, folder_bytes(&self.folder(&id)));
                    // The folder is what counts; an index that lacks it is completed by the next list.
                    self.append(&entry).ok();
                    return Ok(entry);
                }
                Err(StoreError::Exists { .. }) => {}
                // Another copy put one there in the meantime.
                Err(StoreError::Io { source, .. })
                    if matches!(
                        source.kind(),
                        io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty
                    ) => {}
                Err(error) => return Err(error),
            }
        }
        Err(StoreError::Exists {
            path: self.captures().join(base),
        })
    }

    /// Every capture, newest first: from the index, completed by what it lacks. A damaged one is listed as damaged and
    /// hides no other.
    ///
    /// # Errors
    /// [`StoreError::Io`] where the folder is there and cannot be read.
    pub fn list(&self) -> Result<HistoryPage, StoreError> {
        let names = self.names()?;
        let index = self.read_index();
        let mut listed = HistoryPage::default();
        let mut known = HashSet::with_capacity(names.len());
        let all = index.entries.len();
        for entry in index.entries {
            if names.contains(&*entry.id.0) && known.insert(entry.id.clone()) {
                listed.entries.push(entry);
            }
        }
        let gone = all - listed.entries.len();
        let mut added = 0;
        for name in names {
            let id = HistoryId(name.as_str().into());
            if !known.contains(&id) {
                added += 1;
                listed.entries.push(self.read_entry(&id));
            }
        }
        listed.entries.sort_by(|a, b| {
            b.started_at
                .cmp(&a.started_at)
                .then_with(|| b.id.cmp(&a.id))
        });
        // Lines of what is gone cost little; many of them are swept out.
        if (added > 0 || index.is_damaged || gone > listed.entries.len())
            && let Err(error) = self.write_index(&listed.entries)
        {
            listed
                .notes
                .push(format!("the index of the history cannot be written, so that the list takes longer to open: {error}"));
        }
        Ok(listed)
    }

    /// The names of the folders that are in place.
    fn names(&self) -> Result<HashSet<String>, StoreError> {
        let folder = self.captures();
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(HashSet::new()),
            Err(error) => return Err(StoreError::io("cannot read the history", &folder)(error)),
        };
        let mut names = HashSet::new();
        for entry in entries {
            let entry = entry.map_err(StoreError::io("cannot read the history", &folder))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if !name.starts_with('.') {
                names.insert(name);
            }
        }
        Ok(names)
    }

    /// What the list shows of one capture, read from its folder.
    fn read_entry(&self, id: &HistoryId) -> Entry {
        let folder = self.folder(id);
        let bytes = folder_bytes(&folder);
        match read_folder(&folder) {
            Ok(capture) => Entry::of(id, &capture, bytes),
            Err(error) => {
                let health = match error {
                    StoreError::Newer { schema, .. } => Health::Newer(schema),
                    StoreError::Damaged { why, .. } => Health::Damaged(why),
                    other => Health::Damaged(other.to_string()),
                };
                let at = fs::metadata(&folder)
                    .and_then(|data| data.modified())
                    .map_or(OffsetDateTime::UNIX_EPOCH, OffsetDateTime::from);
                Entry::unreadable(id, at, bytes, health)
            }
        }
    }

    /// Opens one capture.
    ///
    /// # Errors
    /// As [`read_folder`].
    pub fn open(&self, id: &HistoryId) -> Result<Capture, StoreError> {
        // Its name here is the one it is known by, whoever copied the folder.
        Ok(Capture {
            name: Arc::clone(&id.0),
            ..read_folder(&self.folder(id))?
        })
    }

    /// Takes a capture out of the list, in one step, so that a crash leaves no half of it there.
    ///
    /// # Errors
    /// [`StoreError::Io`]; it is where it was.
    pub fn remove(&self, id: &HistoryId) -> Result<Removed, StoreError> {
        let place = self.folder(id);
        let mut away = tempfile::Builder::new();
        away.prefix(TEMPORARY);
        #[cfg(unix)]
        away.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let away = away.tempdir_in(self.captures());
        let moved =
            away.and_then(|away| fs::rename(&place, away.path().join(&*id.0)).map(|()| away));
        Ok(Removed {
            away: moved.map_err(StoreError::io("cannot remove", &place))?,
            place,
        })
    }

    /// Lets go of what the limits do not allow, oldest first, and of what was left half-written. Gives how many captures
    /// went.
    ///
    /// # Errors
    /// [`StoreError::Io`], with what could go gone.
    pub fn prune(&self, keep: HistoryLimits, now: OffsetDateTime) -> Result<usize, StoreError> {
        let listed = self.list()?;
        let oldest =
            (keep.days > 0).then(|| now - Duration::from_secs(u64::from(keep.days) * 24 * 60 * 60));
        let mut bytes = 0_u64;
        let (mut gone, mut failed) = (0, None);
        for entry in &listed.entries {
            bytes = bytes.saturating_add(entry.bytes);
            let is_old = oldest.is_some_and(|oldest| entry.started_at < oldest);
            let is_too_much = keep.bytes > 0 && bytes > keep.bytes;
            if !(is_old || is_too_much) {
                continue;
            }
            match self.remove(&entry.id).and_then(Removed::delete) {
                Ok(()) => {
                    gone += 1;
                    bytes = bytes.saturating_sub(entry.bytes);
                }
                Err(error) => failed = Some(error),
            }
        }
        self.comparison();
        failed.map_or(Ok(gone), Err)
    }

    /// Deletes what a copy that ended left half-written, or removed.
    fn comparison(&self) {
        let entries = fs::read_dir(self.captures())
            .into_iter()
            .flatten()
            .filter_map(Result::ok);
        for entry in
            entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(TEMPORARY))
        {
            let age = entry
                .metadata()
                .and_then(|data| data.modified())
                .ok()
                .and_then(|at| at.elapsed().ok());
            if age.is_some_and(|age| age > STALE) {
                fs::remove_dir_all(entry.path()).ok();
            }
        }
    }

    /// Makes the history's folder, which nobody but its owner can look into; one that an earlier version made, too.
    fn make_folder(&self) -> io::Result<()> {
        Readers::Owner.make_folder(&self.root)?;
        #[cfg(unix)]
        fs::set_permissions(
            &self.root,
            std::os::unix::fs::PermissionsExt::from_mode(0o700),
        )?;
        Ok(())
    }

    /// Holds off other writers of the index until it is dropped.
    fn lock(&self) -> io::Result<File> {
        self.make_folder()?;
        let file = Readers::Owner
            .open()
            .create(true)
            .append(true)
            .open(self.root.join(LOCK))?;
        file.lock()?;
        Ok(file)
    }
}

/// A name that sorts by time, says the tool, and is a folder's name everywhere.
fn folder_name(capture: &Capture) -> String {
    let at = capture.started_at.to_offset(time::UtcOffset::UTC);
    let format = time::macros::format_description!(
        "[year][month][day]T[hour][minute][second].[subsecond digits:3]Z"
    );
    let safe = |char: char| {
        if char.is_ascii_alphanumeric() || matches!(char, '-' | '_') {
            char
        } else {
            '_'
        }
    };
    let tool: String = capture.tool.name.chars().take(60).map(safe).collect();
    // Every field is there, so formatting cannot fail.
    format!(
        "{}-{}",
        at.format(&format).unwrap_or_default(),
        if tool.is_empty() { "answer" } else { &tool }
    )
}

fn folder_bytes(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    entries
        .filter_map(|entry| entry.metadata().ok())
        .map(|data| data.len())
        .sum()
}
