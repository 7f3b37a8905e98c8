//! The history: every capture that is kept, from run to run.
//!
//! One folder a capture under `captures/`, in the form of an export, plus `label.json` with a person's name for it, notes
//! and pin. `index.jsonl` is a cache of what a list shows: what it lacks is read from the folders, what is no longer there
//! is left out, and where it is damaged or gone it is written anew. Writers of the index hold a lock, so that two running
//! copies do not disturb each other; nobody waits for it to read. What is deleted stands in `trash/` for a while.

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

use time::OffsetDateTime;

pub use crate::history::{Entry, Health, HistoryId, HistoryLimits, HistoryQuery, Label};

use super::{Readers, StoreError, TEMPORARY, read_folder, write_folder_with, write_whole};
use crate::capture::Capture;

const CAPTURES: &str = "captures";
const TRASH: &str = "trash";
const LABEL: &str = "label.json";
const LOCK: &str = "lock";
/// How long what was deleted can be brought back, at least.
const TRASH_FOR: Duration = Duration::from_secs(24 * 60 * 60);
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

/// See the module. Cheap to clone; every method may be called from any thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    root: PathBuf,
}

impl History {
    /// The history under a data folder. Nothing is read or made yet.
    pub fn at(data_dir: &Path) -> Self {
        Self { root: data_dir.join("history") }
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
    pub fn add(&self, capture: &Capture, label: &Label) -> Result<Entry, StoreError> {
        self.make_folder().map_err(StoreError::io("cannot create the folder", &self.root))?;
        let base = folder_name(capture);
        let label_text = label_text(label);
        let files: &[(&str, &[u8])] = if *label == Label::default() { &[] } else { &[(LABEL, label_text.as_bytes())] };
        for number in 1..NAMES {
            let name = if number == 1 { base.clone() } else { format!("{base}-{number}") };
            let id = HistoryId(name.as_str().into());
            let named = Capture { name: Arc::clone(&id.0), ..capture.clone() };
            match write_folder_with(&named, files, &self.captures().join(&name)) {
                Ok(()) => {
                    let entry = Entry::of(&id, &named, label, folder_bytes(&self.folder(&id)));
                    // The folder is what counts; an index that lacks it is completed by the next list.
                    self.append(&entry).ok();
                    return Ok(entry);
                }
                Err(StoreError::Exists { .. }) => {}
                // Another copy put one there in the meantime.
                Err(StoreError::Io { source, .. })
                    if matches!(source.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty) => {}
                Err(error) => return Err(error),
            }
        }
        Err(StoreError::Exists { path: self.captures().join(base) })
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
        listed.entries.sort_by(|a, b| b.started_at.cmp(&a.started_at).then_with(|| b.id.cmp(&a.id)));
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
        let label = read_label(&folder);
        match read_folder(&folder) {
            Ok(capture) => Entry::of(id, &capture, &label, bytes),
            Err(error) => {
                let health = match error {
                    StoreError::Newer { schema, .. } => Health::Newer(schema),
                    StoreError::Damaged { why, .. } => Health::Damaged(why),
                    other => Health::Damaged(other.to_string()),
                };
                let at = fs::metadata(&folder)
                    .and_then(|data| data.modified())
                    .map_or(OffsetDateTime::UNIX_EPOCH, OffsetDateTime::from);
                Entry::unreadable(id, at, &label, bytes, health)
            }
        }
    }

    /// Opens one capture.
    ///
    /// # Errors
    /// As [`read_folder`].
    pub fn open(&self, id: &HistoryId) -> Result<Capture, StoreError> {
        // Its name here is the one it is known by, whoever copied the folder.
        Ok(Capture { name: Arc::clone(&id.0), ..read_folder(&self.folder(id))? })
    }

    /// Names, notes or pins a capture.
    ///
    /// # Errors
    /// [`StoreError::Io`], [`StoreError::NotACapture`] where it is gone.
    pub fn label(&self, id: &HistoryId, label: &Label) -> Result<(), StoreError> {
        let folder = self.folder(id);
        if !folder.is_dir() {
            return Err(StoreError::NotACapture { path: folder });
        }
        write_whole(&folder.join(LABEL), label_text(label).as_bytes())?;
        // Later lines of the index stand for earlier ones.
        let entry = match self.read_index().entries.into_iter().find(|entry| entry.id == *id) {
            Some(entry) => Entry { label: label.clone(), ..entry },
            None => self.read_entry(id),
        };
        self.append(&entry).ok();
        Ok(())
    }

    /// Deletes a capture; [`History::restore`] brings it back within a day.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn delete(&self, id: &HistoryId, now: OffsetDateTime) -> Result<(), StoreError> {
        let trash = self.root.join(TRASH);
        Readers::Owner.make_folder(&trash).map_err(StoreError::io("cannot create the folder", &trash))?;
        let target = trash.join(format!("{}~{}", now.unix_timestamp(), id.0));
        fs::rename(self.folder(id), &target).map_err(StoreError::io("cannot delete", &self.folder(id)))
    }

    /// Brings back what was deleted last under this name.
    ///
    /// # Errors
    /// [`StoreError::NotACapture`] where it is not there any more, [`StoreError::Io`].
    pub fn restore(&self, id: &HistoryId) -> Result<(), StoreError> {
        let target = self.folder(id);
        let found = self.trash().into_iter().filter(|(_, name, _)| *name == *id.0).max_by_key(|(at, ..)| *at);
        let Some((_, _, path)) = found else { return Err(StoreError::NotACapture { path: target }) };
        fs::rename(&path, &target).map_err(StoreError::io("cannot bring back", &target))
    }

    /// What is in the trash: when it was deleted (Unix seconds), its name, its folder.
    fn trash(&self) -> Vec<(i64, String, PathBuf)> {
        let entries = fs::read_dir(self.root.join(TRASH)).into_iter().flatten().filter_map(Result::ok);
        entries
            .filter_map(|entry| {
                let name = entry.file_name().to_string_lossy().into_owned();
                let (at, id) = name.split_once('~')?;
                Some((at.parse().ok()?, id.to_owned(), entry.path()))
            })
            .collect()
    }

    /// Lets go of what the limits do not allow, oldest first, pinned ones never; and of what was deleted a day ago or left
    /// half-written. Gives how many captures went.
    ///
    /// # Errors
    /// [`StoreError::Io`], with what could go gone.
    pub fn prune(&self, keep: HistoryLimits, now: OffsetDateTime) -> Result<usize, StoreError> {
        let listed = self.list()?;
        let oldest = (keep.days > 0).then(|| now - Duration::from_secs(u64::from(keep.days) * 24 * 60 * 60));
        let mut bytes = 0_u64;
        let (mut gone, mut failed) = (0, None);
        for entry in &listed.entries {
            bytes = bytes.saturating_add(entry.bytes);
            let is_old = oldest.is_some_and(|oldest| entry.started_at < oldest);
            let is_too_much = keep.bytes > 0 && bytes > keep.bytes;
            if entry.label.pinned || !(is_old || is_too_much) {
                continue;
            }
            let folder = self.folder(&entry.id);
            // Out of the way first, so that a crash leaves no half of it in the list.
            let away = self.captures().join(format!("{TEMPORARY}gone-{}", entry.id.0));
            match fs::rename(&folder, &away).and_then(|()| fs::remove_dir_all(&away)) {
                Ok(()) => {
                    gone += 1;
                    bytes = bytes.saturating_sub(entry.bytes);
                }
                Err(error) => failed = Some(StoreError::io("cannot delete", &folder)(error)),
            }
        }
        for (at, _, path) in self.trash() {
            if now.unix_timestamp().saturating_sub(at) > TRASH_FOR.as_secs().cast_signed() {
                fs::remove_dir_all(&path).ok();
            }
        }
        self.sweep();
        failed.map_or(Ok(gone), Err)
    }

    /// Removes what a writer that ended left half-written.
    fn sweep(&self) {
        let entries = fs::read_dir(self.captures()).into_iter().flatten().filter_map(Result::ok);
        for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(TEMPORARY)) {
            let age = entry.metadata().and_then(|data| data.modified()).ok().and_then(|at| at.elapsed().ok());
            if age.is_some_and(|age| age > STALE) {
                fs::remove_dir_all(entry.path()).ok();
            }
        }
    }

    /// Makes the history's folder, which nobody but its owner can look into; one that an earlier version made, too.
    fn make_folder(&self) -> io::Result<()> {
        Readers::Owner.make_folder(&self.root)?;
        #[cfg(unix)]
        fs::set_permissions(&self.root, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
        Ok(())
    }

    /// Holds off other writers of the index until it is dropped.
    fn lock(&self) -> io::Result<File> {
        self.make_folder()?;
        let file = Readers::Owner.open().create(true).append(true).open(self.root.join(LOCK))?;
        file.lock()?;
        Ok(file)
    }
}

/// A name that sorts by time, says the tool, and is a folder's name everywhere.
fn folder_name(capture: &Capture) -> String {
    let at = capture.started_at.to_offset(time::UtcOffset::UTC);
    let format = time::macros::format_description!("[year][month][day]T[hour][minute][second].[subsecond digits:3]Z");
    let safe = |char: char| if char.is_ascii_alphanumeric() || matches!(char, '-' | '_') { char } else { '_' };
    let tool: String = capture.tool.name.chars().take(60).map(safe).collect();
    // Every field is there, so formatting cannot fail.
    format!("{}-{}", at.format(&format).unwrap_or_default(), if tool.is_empty() { "answer" } else { &tool })
}

fn label_text(label: &Label) -> String {
    serde_json::to_string_pretty(label).unwrap_or_default() + "\n"
}

/// A label that cannot be read is none: it is not worth losing a capture from the list.
fn read_label(folder: &Path) -> Label {
    super::read_file(&folder.join(LABEL), 1 << 20).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
}

fn folder_bytes(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.filter_map(|entry| entry.metadata().ok()).map(|data| data.len()).sum()
}
