//! Finding capture folders: a folder that is one, or the ones in it; reading one with what is expected of it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::read::read_optional;
use super::{MANIFEST, MOST_BESIDE, StoreError, read_folder, replace_folder};
use loupe_analysis::fixture::accept::{FixtureBefore, accepted, with_compare};
use loupe_analysis::fixture::expect::{self, Expect};
use loupe_core::cancel::Cancel;
use loupe_core::capture::Capture;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::redact::RedactOptions;

/// The capture folders that `path` names: itself, or all in it by name. Folders whose names begin with a dot are left
/// out, since one that is being written has such a name.
///
/// # Errors
/// [`StoreError::NotACapture`] where there is none, [`StoreError::Io`].
pub fn capture_folders(path: &Path) -> Result<Vec<PathBuf>, StoreError> {
    if path.join(MANIFEST).is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(path).map_err(StoreError::io("cannot read the folder", path))? {
        let entry = entry.map_err(StoreError::io("cannot read the folder", path))?;
        let folder = entry.path();
        if !entry.file_name().to_string_lossy().starts_with('.') && folder.join(MANIFEST).is_file()
        {
            found.push(folder);
        }
    }
    if found.is_empty() {
        return Err(StoreError::NotACapture {
            path: path.to_owned(),
        });
    }
    found.sort();
    Ok(found)
}

/// A fixture with what is expected of it; a capture without expectations is expected to come again.
///
/// # Errors
/// As [`read_folder`], and where the expectations cannot be read.
pub fn read_fixture(path: &Path) -> Result<(Capture, Expect), Problem> {
    let capture = read_folder(path)?;
    let expect = match read_expectations(path)? {
        Some(text) => Expect::parse(&text, &path.join(expect::FILE).display().to_string())?,
        None => Expect::default(),
    };
    Ok((capture, expect))
}

/// Puts a new result instead of the fixture's at `dir`, with what is secret hidden. Gives what [`bring_answer_back`] needs.
///
/// # Errors
/// As [`read_fixture`], and where it cannot be written.
pub fn keep_answer(
    dir: &Path,
    came: &Capture,
    options: &RedactOptions,
) -> Result<FixtureBefore, Problem> {
    let (written, expect) = read_fixture(dir)?;
    let before = read_expectations(dir)?;
    let expectations = before
        .as_ref()
        .and_then(|text| with_compare(text, &expect, came));
    let new = accepted(&written, came, options, &Cancel::new())
        .map_err(|_| Problem::new(ProblemKind::Cancelled, "the new answer was not kept"))?;
    let files: Vec<(&str, &[u8])> = expectations
        .iter()
        .map(|text| (expect::FILE, text.as_bytes()))
        .collect();
    replace_folder(&new, &files, dir)?;
    Ok(FixtureBefore {
        dir: dir.to_owned(),
        capture: Arc::new(written),
        expectations: before,
    })
}

/// Makes a fixture what it was before a new result took its place.
///
/// # Errors
/// As [`replace_folder`].
pub fn bring_answer_back(before: &FixtureBefore) -> Result<(), StoreError> {
    let files: Vec<(&str, &[u8])> = before
        .expectations
        .iter()
        .map(|text| (expect::FILE, text.as_bytes()))
        .collect();
    replace_folder(&before.capture, &files, &before.dir)
}

/// The text of a fixture's `expect.toml`, if it has one.
///
/// # Errors
/// [`StoreError::Io`].
pub fn read_expectations(folder: &Path) -> Result<Option<String>, StoreError> {
    let path = folder.join(expect::FILE);
    let Some(bytes) = read_optional(&path, MOST_BESIDE)? else {
        return Ok(None);
    };
    let text = String::from_utf8(bytes);
    text.map(Some).map_err(|error| {
        StoreError::io("cannot read", &path)(io::Error::new(io::ErrorKind::InvalidData, error))
    })
}
