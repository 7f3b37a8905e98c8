//! Putting a capture in place of another, and what becomes of it where the program ends in the middle.
//!
//! There is no way to swap two folders everywhere, so that for a moment neither is in its place: the old one then stands in
//! a folder beside it, under its own name. [`recover`] puts it back. A lock tells a replacement that still goes on from one
//! whose program ended.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{
    Error, MANIFEST, MAX_FOLDERS, MESSAGES, REQUEST, RESPONSE, Readers, TEMPORARY, parent, put_in_place, sync_folder,
    write_beside, write_folder_with,
};
use crate::capture::Capture;

/// No name that a fixture has.
const LOCK: &str = ".loupe-lock";

/// Writes the capture over the folder at `path`. Files and folders there that are no part of a capture stay, unless `files` names
/// them. What was there stands beside it, in a folder whose name begins with `.loupe-`, until the new one is in its place.
///
/// # Errors
/// [`Error::NotACapture`] where something else is there, or [`Error::Io`].
pub fn replace_folder(capture: &Capture, files: &[(&str, &[u8])], path: &Path) -> Result<(), Error> {
    if fs::symlink_metadata(path).is_err() {
        return write_folder_with(capture, files, path);
    }
    if !path.join(MANIFEST).is_file() {
        return Err(Error::NotACapture { path: path.to_owned() });
    }
    let parent = parent(path);
    let temporary = write_beside(capture, files, &parent, path, Readers::All)?;
    for entry in fs::read_dir(path).map_err(Error::io("cannot read the folder", path))? {
        let entry = entry.map_err(Error::io("cannot read the folder", path))?;
        let name = entry.file_name();
        let is_ours = [MANIFEST, REQUEST, RESPONSE, MESSAGES].iter().any(|ours| name == *ours);
        let target = temporary.path().join(&name);
        if !is_ours && !target.exists() && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            fs::copy(entry.path(), &target).map_err(Error::io("cannot copy", &entry.path()))?;
        }
    }
    let parked = park(path, &parent)?;
    if let Err(error) = put_in_place(temporary, &parent, path) {
        if let Err(stays) = fs::rename(&parked.old, path) {
            let kept = parked.folder.keep();
            return Err(Error::io("the old folder cannot be moved back; it stands here", &kept)(stays));
        }
        return Err(error);
    }
    if let Err(error) = carry_over(&parked.old, path) {
        // What could not be moved stands there; the program after this one tries again (`recover`).
        drop(parked.folder.keep());
        return Err(error);
    }
    Ok(())
}

/// Moves what is no file (folders that a person put there, links) from the old folder into the new one, which has none.
fn carry_over(old: &Path, new: &Path) -> Result<(), Error> {
    for entry in fs::read_dir(old).map_err(Error::io("cannot read the folder", old))? {
        let entry = entry.map_err(Error::io("cannot read the folder", old))?;
        let target = new.join(entry.file_name());
        if entry.file_type().is_ok_and(|kind| !kind.is_file()) && fs::symlink_metadata(&target).is_err() {
            fs::rename(entry.path(), &target).map_err(Error::io("cannot move", &entry.path()))?;
        }
    }
    Ok(())
}

/// A folder out of its place. Dropping removes it.
pub(super) struct Parked {
    old: PathBuf,
    _lock: File,
    folder: TempDir,
}

/// Moves a folder out of its place.
pub(super) fn park(path: &Path, parent: &Path) -> Result<Parked, Error> {
    let fail = |what| Error::io(what, path);
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY);
    let folder = builder.tempdir_in(parent).map_err(Error::io("cannot create the folder", parent))?;
    let lock = File::create_new(folder.path().join(LOCK)).map_err(fail("cannot move the old folder away"))?;
    lock.lock().map_err(fail("cannot move the old folder away"))?;
    let name = path.file_name().unwrap_or(path.as_os_str());
    let old = folder.path().join(name);
    fs::rename(path, &old).map_err(fail("cannot move the old folder away"))?;
    if let Err(error) = sync_folder(folder.path()) {
        if fs::rename(&old, path).is_err() {
            drop(folder.keep());
        }
        return Err(error);
    }
    Ok(Parked { old, _lock: lock, folder })
}

/// Puts back what a program that ended left out of its place, beside `path`, in it and below it; gives what was put back,
/// to be said. Whatever cannot be looked at or moved stays as it is.
pub fn recover(path: &Path) -> Vec<PathBuf> {
    let mut back = Vec::new();
    let mut left = vec![(parent(path), MAX_FOLDERS), (path.to_owned(), 0)];
    while let Some((folder, depth)) = left.pop() {
        let entries = fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok);
        for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with(TEMPORARY) {
                back.extend(put_back(&entry.path(), &folder));
            } else if !name.starts_with('.') && depth < MAX_FOLDERS {
                left.push((entry.path(), depth + 1));
            }
        }
    }
    back.sort();
    back.dedup();
    back
}

/// Puts back the folder that stands in `aside`, if it is missing in `folder` and nobody is at it.
fn put_back(aside: &Path, folder: &Path) -> Option<PathBuf> {
    let lock = File::options().read(true).write(true).open(aside.join(LOCK)).ok()?;
    lock.try_lock().ok()?;
    let entries = fs::read_dir(aside).ok()?.filter_map(Result::ok);
    let old = entries.map(|entry| entry.path()).find(|path| path.join(MANIFEST).is_file())?;
    let place = folder.join(old.file_name()?);
    let is_missing = fs::symlink_metadata(&place).is_err();
    if is_missing {
        fs::rename(&old, &place).ok()?;
        sync_folder(folder).ok();
    }
    // Else the new one came into its place, and only this was left to do.
    if is_missing || carry_over(&old, &place).is_ok() {
        fs::remove_dir_all(aside).ok();
    }
    is_missing.then_some(place)
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};

    use super::*;
    use crate::store::{file, find_folders, read_folder};

    const PARKED: &str = "LOUPE_TEST_PARKED";

    fn written(path: &Path) -> Capture {
        let id = crate::capture::CaptureId("x".into());
        let capture = file::empty_capture(id, "file", "x".to_owned());
        write_folder_with(&capture, &[("expect.toml", b"mine")], path).unwrap();
        capture
    }

    /// Not a test of its own: the process that [`a_replacement_that_is_killed_is_put_back`] kills between the two renames.
    #[test]
    fn parks_and_waits() {
        if let Some(path) = std::env::var_os(PARKED).map(PathBuf::from) {
            let _parked = park(&path, &parent(&path)).unwrap();
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
            .args(["--exact", "--nocapture", "store::replace::tests::parks_and_waits"])
            .env(PARKED, &path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(said.map_while(Result::ok).any(|line| line.contains("parked")));
        assert!(!path.exists());
        assert!(recover(folder.path()).is_empty(), "somebody is still at it");
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!path.exists());
        assert_eq!(recover(folder.path()), std::slice::from_ref(&path));
        assert_eq!(read_folder(&path).unwrap(), capture);
        assert_eq!(fs::read(path.join("expect.toml")).unwrap(), b"mine");
        assert_eq!(find_folders(folder.path()).unwrap(), std::slice::from_ref(&path));
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing else stays behind");
        assert!(recover(folder.path()).is_empty());
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
        let Parked { folder: aside, .. } = park(&path, folder.path()).unwrap();
        let aside = aside.keep();
        written(&path);
        assert!(recover(&path).is_empty());
        assert!(!aside.exists() && path.join("notes").is_dir());
        // What somebody else made stays, whatever it is called.
        fs::create_dir(folder.path().join(".loupe-mine")).unwrap();
        assert!(recover(&path).is_empty());
        assert!(folder.path().join(".loupe-mine").exists());
    }
}
