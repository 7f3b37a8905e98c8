//! Putting a capture instead of another, and what becomes of it where the program ends in the middle.
//!
//! There is no way to swap two folders everywhere, so that for a moment neither is in its place: the old one then is in
//! a folder next to it, under its own name. [`recover`] puts it back. A lock tells a replacement that still goes on from one
//! whose program ended.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::{
    MANIFEST, MAX_FOLDERS, MESSAGES, REQUEST, RESPONSE, StoreError, TEMPORARY, parent, sync_folder,
    write_aside, write_folder_with,
};
use loupe_core::capture::Capture;

/// No names that a fixture has.
const LOCK: &str = ".loupe-lock";
const NEW: &str = ".loupe-new";
/// Characters after [`TEMPORARY`].
const RANDOM: usize = 6;

/// Writes the capture over the folder at `path`. Files and folders there that are no part of a capture stay, unless `files`
/// names them. What was there is next to it, in a folder whose name begins with `.loupe-`, until the new one is in its
/// place.
///
/// # Errors
/// [`StoreError::NotACapture`] where something else is there, [`StoreError::Link`] where that, or a file of `files` that
/// would become another, is a link; or [`StoreError::Io`].
pub fn replace_folder(
    capture: &Capture,
    files: &[(&str, &[u8])],
    path: &Path,
) -> Result<(), StoreError> {
    if fs::symlink_metadata(path).is_err() {
        return write_folder_with(capture, files, path);
    }
    if path.is_symlink() {
        return Err(StoreError::Link {
            path: path.to_owned(),
        });
    }
    if !path.join(MANIFEST).is_file() {
        return Err(StoreError::NotACapture {
            path: path.to_owned(),
        });
    }
    // A link to what it should hold anyway stays one: it is carried over.
    let (linked, files): (Vec<_>, Vec<_>) = files
        .iter()
        .copied()
        .partition(|(name, _)| path.join(name).is_symlink());
    if let Some((name, _)) = linked
        .iter()
        .find(|(name, bytes)| fs::read(path.join(name)).ok().as_deref() != Some(*bytes))
    {
        return Err(StoreError::Link {
            path: path.join(name),
        });
    }
    let path = &resolve_dots(path);
    let mut aside = write_aside(capture, &files, path)?;
    for entry in fs::read_dir(path).map_err(StoreError::io("cannot read the folder", path))? {
        let entry = entry.map_err(StoreError::io("cannot read the folder", path))?;
        let name = entry.file_name();
        let is_ours = [MANIFEST, REQUEST, RESPONSE, MESSAGES]
            .iter()
            .any(|ours| name == *ours);
        let target = aside.new_folder().join(&name);
        if !is_ours && !target.exists() && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            fs::copy(entry.path(), &target)
                .map_err(StoreError::io("cannot copy", &entry.path()))?;
        }
    }
    let old = aside.park(path)?;
    if let Err(error) = aside.put_in_place(path) {
        if let Err(stays) = fs::rename(&old, path) {
            return Err(StoreError::io(
                "the old folder cannot be moved back; it stands here",
                &old,
            )(stays));
        }
        return Err(error);
    }
    if let Err(error) = carry_over(&old, path) {
        // What could not be moved is there; the program after this one tries again (`recover`).
        aside.is_kept = true;
        return Err(error);
    }
    Ok(())
}

/// The folder under its own name where `path` names it by dots alone.
fn resolve_dots(path: &Path) -> PathBuf {
    if path.file_name().is_some() {
        path.to_owned()
    } else {
        fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
    }
}

/// The folder itself where `path` is a link to it, or names it by dots alone; it may be missing.
fn real(path: &Path) -> PathBuf {
    if !path.is_symlink() && path.file_name().is_some() {
        return path.to_owned();
    }
    let leads_to = |_| fs::read_link(path).map(|target| parent(path).join(target));
    fs::canonicalize(path)
        .or_else(leads_to)
        .unwrap_or_else(|_| path.to_owned())
}

/// Moves what is no file (folders that the user put there, links) from the old folder into the new one, which has none.
fn carry_over(old: &Path, new: &Path) -> Result<(), StoreError> {
    for entry in fs::read_dir(old).map_err(StoreError::io("cannot read the folder", old))? {
        let entry = entry.map_err(StoreError::io("cannot read the folder", old))?;
        let target = new.join(entry.file_name());
        if entry.file_type().is_ok_and(|kind| !kind.is_file())
            && fs::symlink_metadata(&target).is_err()
        {
            fs::rename(entry.path(), &target)
                .map_err(StoreError::io("cannot move", &entry.path()))?;
        }
    }
    Ok(())
}

/// A folder next to the one that is written: the new one is in it until it is whole, then the old one under its own
/// name. A lock in it is held for as long as its program runs; dropping clears it away.
pub(super) struct StagingFolder {
    folder: PathBuf,
    lock: Option<File>,
    /// The old folder, and its place.
    parked: Option<(PathBuf, PathBuf)>,
    is_kept: bool,
}

impl StagingFolder {
    /// An empty one next to `place`.
    pub(super) fn beside(place: &Path) -> Result<Self, StoreError> {
        let parent = parent(place);
        loop {
            let folder = tempfile::Builder::new()
                .prefix(TEMPORARY)
                .rand_bytes(RANDOM)
                .tempdir_in(&parent);
            let folder = folder
                .map_err(StoreError::io("cannot create the folder", &parent))?
                .keep();
            let lock =
                File::create_new(folder.join(LOCK)).and_then(|lock| lock.lock().map(|()| lock));
            match lock {
                Ok(lock) if folder.join(LOCK).exists() => {
                    return Ok(Self {
                        folder,
                        lock: Some(lock),
                        parked: None,
                        is_kept: false,
                    });
                }
                Err(error) if folder.exists() => {
                    clear(&folder, None);
                    return Err(StoreError::io("cannot create the folder", &folder)(error));
                }
                // Somebody who looked here before the lock was held took it for left behind, and cleared it away.
                _ => {}
            }
        }
    }

    /// Where the new folder is written.
    pub(super) fn new_folder(&self) -> PathBuf {
        self.folder.join(NEW)
    }

    /// Moves the old folder out of its place; gives where it stands.
    fn park(&mut self, place: &Path) -> Result<PathBuf, StoreError> {
        let fail = |source| StoreError::io("cannot move the old folder away", place)(source);
        let old = self
            .folder
            .join(place.file_name().unwrap_or(place.as_os_str()));
        fs::rename(place, &old).map_err(fail)?;
        self.parked = Some((old.clone(), place.to_owned()));
        if let Err(error) = sync_folder(&self.folder) {
            // Where that fails too it stays here, and the next program puts it back.
            fs::rename(&old, place).ok();
            return Err(error);
        }
        Ok(old)
    }

    /// Moves the new folder to its place.
    pub(super) fn put_in_place(&self, place: &Path) -> Result<(), StoreError> {
        fs::rename(self.new_folder(), place)
            .map_err(StoreError::io("cannot put the folder in place", place))?;
        sync_folder(&parent(place))
    }
}

impl Drop for StagingFolder {
    fn drop(&mut self) {
        let is_out = self
            .parked
            .as_ref()
            .is_some_and(|(old, place)| old.exists() && !place.exists());
        if !self.is_kept && !is_out {
            clear(&self.folder, self.lock.take());
        }
    }
}

/// Removes a folder that stood aside, its lock last: whoever finds a part of it knows it for one.
fn clear(aside: &Path, lock: Option<File>) -> bool {
    let entries = fs::read_dir(aside)
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    let others = entries
        .filter(|entry| entry.file_name() != LOCK)
        .map(|entry| entry.path());
    let is_empty = others
        .map(|path| fs::remove_dir_all(path).is_ok())
        .fold(true, std::ops::BitAnd::bitand);
    drop(lock);
    is_empty
        && fs::remove_file(aside.join(LOCK))
            .and_then(|()| fs::remove_dir(aside))
            .is_ok()
}

/// What programs that ended had left behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Folders that were out of their place, and are back in it.
    pub back: Vec<PathBuf>,
    /// Folders with parts of what was being written, which are gone.
    pub cleared: Vec<PathBuf>,
}

impl Recovered {
    /// A sentence for each.
    pub fn notes(&self) -> Vec<String> {
        let back = self.back.iter().map(|path| {
            format!(
                "put back {}: the program that was replacing it had ended",
                path.display()
            )
        });
        let cleared = self.cleared.iter().map(|path| {
            format!(
                "cleared away {}: the program that was writing there had ended",
                path.display()
            )
        });
        back.chain(cleared).collect()
    }
}

/// Puts back what a program that ended left out of its place, and clears away what it left half-written: next to `path` (of a
/// link, next to what it leads to), in it and below it. Whatever cannot be looked at or moved stays as it is.
pub fn recover(path: &Path) -> Recovered {
    let path = real(path);
    let mut found = Recovered::default();
    let mut left = vec![(parent(&path), MAX_FOLDERS), (path, 0)];
    while let Some((folder, depth)) = left.pop() {
        let entries = fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .filter_map(Result::ok);
        for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with(TEMPORARY) {
                put_back(&entry.path(), &folder, &mut found);
            } else if !name.starts_with('.') && depth < MAX_FOLDERS {
                left.push((entry.path(), depth + 1));
            }
        }
    }
    found.back.sort();
    found.cleared.sort();
    found
}

/// Puts back the folder that is in `aside`, if it is missing in `folder`, and clears away the rest, if nobody is at it.
fn put_back(aside: &Path, folder: &Path, found: &mut Recovered) {
    let Ok(lock) = File::options()
        .read(true)
        .write(true)
        .open(aside.join(LOCK))
    else {
        // Of those that we make only an empty one has no lock.
        let random = aside
            .file_name()
            .and_then(|name| name.to_str()?.strip_prefix(TEMPORARY));
        if random.is_some_and(|random| random.len() == RANDOM) && fs::remove_dir(aside).is_ok() {
            found.cleared.push(aside.to_owned());
        }
        return;
    };
    if lock.try_lock().is_err() {
        return;
    }
    let mut entries = fs::read_dir(aside)
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .map(|entry| entry.path());
    if let Some(old) = entries.find(|path| !path.ends_with(LOCK) && !path.ends_with(NEW)) {
        let Some(place) = old.file_name().map(|name| folder.join(name)) else {
            return;
        };
        if fs::symlink_metadata(&place).is_err() {
            if fs::rename(&old, &place).is_ok() {
                sync_folder(folder).ok();
                clear(aside, Some(lock));
                found.back.push(place);
            }
            return;
        }
        // The new one came into its place, and only this was left to do.
        if carry_over(&old, &place).is_err() {
            return;
        }
    }
    if clear(aside, Some(lock)) {
        found.cleared.push(aside.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};

    use super::*;
    use crate::store::{find_folders, import, read_folder};

    const PARKED: &str = "LOUPE_TEST_PARKED";

    fn written(path: &Path) -> Capture {
        let id = loupe_core::capture::CaptureId("x".into());
        let capture = import::empty_capture(id, "file", "x".to_owned());
        write_folder_with(&capture, &[("expect.toml", b"mine")], path).unwrap();
        capture
    }

    /// Not a test of its own: the process that [`a_replacement_that_is_killed_is_put_back`] kills between the two renames.
    #[test]
    fn parks_and_waits() {
        if let Some(path) = std::env::var_os(PARKED).map(PathBuf::from) {
            let mut aside = StagingFolder::beside(&path).unwrap();
            aside.park(&path).unwrap();
            println!("parked");
            std::thread::sleep(std::time::Duration::from_secs(600));
        }
    }

    #[test]
    fn a_replacement_that_is_killed_is_put_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("some/fixture");
        let capture = written(&path);
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "--nocapture",
                "store::replace::tests::parks_and_waits",
            ])
            .env(PARKED, &path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(
            lines
                .map_while(Result::ok)
                .any(|line| line.contains("parked"))
        );
        assert!(!path.exists());
        assert_eq!(
            recover(folder.path()),
            Recovered::default(),
            "somebody is still at it"
        );
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!path.exists());
        let put_back = Recovered {
            back: vec![path.clone()],
            cleared: Vec::new(),
        };
        assert_eq!(recover(folder.path()), put_back);
        let read = read_folder(&path).unwrap();
        assert_eq!(
            read,
            Capture {
                id: read.id.clone(),
                ..capture
            }
        );
        assert_eq!(fs::read(path.join("expect.toml")).unwrap(), b"mine");
        assert_eq!(
            find_folders(folder.path()).unwrap(),
            std::slice::from_ref(&path)
        );
        assert_eq!(
            fs::read_dir(path.parent().unwrap()).unwrap().count(),
            1,
            "nothing else stays behind"
        );
        assert_eq!(recover(folder.path()), Recovered::default());
    }

    #[test]
    fn what_a_person_put_into_the_folder_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fixture");
        let capture = written(&path);
        fs::create_dir_all(path.join("notes/more")).unwrap();
        fs::write(path.join("notes/more/a.txt"), "mine").unwrap();
        replace_folder(&capture, &[("expect.toml", b"new")], &path).unwrap();
        assert_eq!(fs::read(path.join("expect.toml")).unwrap(), b"new");
        assert_eq!(fs::read(path.join("notes/more/a.txt")).unwrap(), b"mine");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_left_of_a_replacement_that_was_done_goes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fixture");
        written(&path);
        fs::create_dir(path.join("notes")).unwrap();
        let mut aside = StagingFolder::beside(&path).unwrap();
        aside.park(&path).unwrap();
        let left = killed(aside);
        written(&path);
        assert_eq!(
            recover(&path),
            Recovered {
                back: Vec::new(),
                cleared: vec![left.clone()]
            }
        );
        assert!(!left.exists() && path.join("notes").is_dir());
        // What somebody else made stays, whatever it is called.
        fs::create_dir(folder.path().join(".loupe-mine")).unwrap();
        assert_eq!(recover(&path), Recovered::default());
        assert!(folder.path().join(".loupe-mine").exists());
    }

    /// As it is where the program ends there and then: the lock is free, the rest stays.
    fn killed(mut aside: StagingFolder) -> PathBuf {
        aside.is_kept = true;
        aside.folder.clone()
    }

    #[test]
    fn what_was_half_written_is_cleared_away() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fixture");
        let capture = written(&path);
        let half = killed(write_aside(&capture, &[], &path).unwrap());
        let mut empty = StagingFolder::beside(&path).unwrap();
        empty.lock = None;
        fs::remove_file(empty.folder.join(LOCK)).unwrap();
        let empty = killed(empty);
        let at_work = write_aside(&capture, &[], &path).unwrap();
        let mut cleared = vec![half.clone(), empty.clone()];
        cleared.sort();
        assert_eq!(
            recover(folder.path()),
            Recovered {
                back: Vec::new(),
                cleared
            }
        );
        assert!(!half.exists() && !empty.exists() && at_work.new_folder().exists());
        drop(at_work);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_written_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link, shared) = (
            folder.path().join("fixture"),
            folder.path().join("link"),
            folder.path().join("shared.toml"),
        );
        let capture = written(&real);
        std::os::unix::fs::symlink("fixture", &link).unwrap();
        let new = Capture {
            notes: vec!["new".to_owned()],
            ..capture
        };
        assert!(
            matches!(replace_folder(&new, &[], &link), Err(StoreError::Link { path }) if path == link)
        );
        fs::write(&shared, b"old").unwrap();
        let expect = real.join("expect.toml");
        fs::remove_file(&expect).unwrap();
        std::os::unix::fs::symlink("../shared.toml", &expect).unwrap();
        let refused = replace_folder(&new, &[("expect.toml", b"new")], &real);
        assert!(matches!(refused, Err(StoreError::Link { path }) if path == expect));
        assert_eq!(
            (
                read_folder(&real).unwrap().notes,
                fs::read(&shared).unwrap()
            ),
            (Vec::new(), b"old".to_vec())
        );
        // Expectations that several fixtures share stay one file where they stay the same.
        replace_folder(&new, &[("expect.toml", b"old")], &real).unwrap();
        assert!(expect.is_symlink());
        assert_eq!(read_folder(&real).unwrap().notes, ["new"]);
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            3,
            "nothing stays behind"
        );
        // What was out of its place when a program ended is looked for where it stands.
        let mut aside = StagingFolder::beside(&real).unwrap();
        aside.park(&real).unwrap();
        killed(aside);
        assert_eq!(recover(&link).back.len(), 1);
        assert!(read_folder(&link).is_ok());
    }
}
