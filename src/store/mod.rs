//! Capture folders and files on disk.
//!
//! [`write_folder`] writes a capture whole or not at all; [`read_folder`] gives the same capture back, byte for byte.
//! [`read_any`] also opens what is no folder: a bare result, a message, data, a text; [`read_all`] also a file of
//! many results. A newer schema is refused and a damaged folder is named as damaged; neither is changed or deleted.
//! Values of environment variables and request headers are not in a capture, and so never get here; what else is secret
//! `fixture::redact` hides before. [`History`] keeps captures from run to run. [`load_hosts`] reads a user's own hosts file.
//! [`read_recent`] and [`write_recent`] keep the sources used before, [`read_servers`] and [`change_servers`] what is
//! remembered of them, [`keep_confirmed`] what hosts' own transcripts confirmed.

mod client_config;
mod confirmed;
mod file;
mod folders;
mod history;
#[cfg(test)]
mod hostile_tests;
mod hosts;
mod import;
mod kept_file;
mod manifest;
mod nearest;
mod place;
mod read;
mod recent;
mod replace;
mod servers;
mod settings;
#[cfg(test)]
mod tests;
mod write;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use serde::Deserialize;

pub use client_config::ClientConfig;
pub use confirmed::{keep_confirmed, read_confirmed};
pub use file::{read_all, read_all_bytes, read_any, read_as, read_bytes, read_session};
pub use folders::{
    bring_answer_back, capture_folders, keep_answer, read_expectations, read_fixture,
};
pub use history::{
    Entry, Health, History, HistoryId, HistoryLimits, HistoryPage, HistoryQuery, Removed,
};
pub use hosts::{data_folder, load_hosts, sessions_folder, settings_folder};
pub use import::{ReadAs, SessionReader};
pub use nearest::{change_file, nearest_file};
pub use place::place;
pub use read::{MOST_OF_ANSWERS, MOST_OF_SETTINGS, file_bytes, file_text, read_file};
pub use recent::{read_recent, write_recent};
use replace::StagingFolder;
pub use replace::{recover, replace_folder};
pub use servers::{change_servers, read_servers};
pub use settings::{change_settings, read_settings};
use write::{Readers, write_new_file};
pub use write::{create_file, write_whole};

use loupe_analysis::contract::message_line;
use loupe_analysis::fixture::expect::{self, Expect};
use loupe_core::capture::{Capture, Direction, Message};
use loupe_core::problem::{Problem, ProblemKind};
use manifest::Manifest;

const MANIFEST: &str = "capture.json";
const REQUEST: &str = "request.json";
const RESPONSE: &str = "response.json";
const MESSAGES: &str = "messages.jsonl";
/// How names begin that are not in place yet.
const TEMPORARY: &str = ".loupe-";
/// More of a manifest, of messages or of expectations is not taken: the result is none of these.
const MOST_BESIDE: u64 = 1 << 30;
/// How deep fixtures are looked for.
const MAX_FOLDERS: usize = 8;

/// Why a capture could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the folder already exists")]
    Exists { path: PathBuf },
    #[error("a symbolic link, through which nothing is written")]
    Link { path: PathBuf },
    #[error("{what}: {source}")]
    Io {
        what: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error("not a capture folder: there is no {MANIFEST}")]
    NotACapture { path: PathBuf },
    #[error("written by a newer version: {schema}")]
    Newer { path: PathBuf, schema: String },
    #[error("the capture is damaged: {why}")]
    Damaged { path: PathBuf, why: String },
}

impl StoreError {
    fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source }
    }

    /// The same of the place where it was to be in the end: people know nothing of the folder that it was in before.
    fn in_place(self, temporary: &Path, place: &Path) -> Self {
        match self {
            Self::Io { what, path, source } => {
                let path = path
                    .strip_prefix(temporary)
                    .map(|rest| place.join(rest))
                    .unwrap_or(path);
                Self::Io { what, path, source }
            }
            other => other,
        }
    }

    fn damaged(path: &Path, why: impl Into<String>) -> Self {
        Self::Damaged {
            path: path.to_owned(),
            why: why.into(),
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let what = error.to_string();
        let (path, hint) = match &error {
            StoreError::Exists { path } => {
                (path, Some("choose another name; nothing is overwritten"))
            }
            StoreError::Io { path, source, .. } => (
                path,
                match source.kind() {
                    io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Some(
                        "the disk is full: free some space, or choose another folder; nothing half-written is left",
                    ),
                    io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
                        Some("choose a folder that you may write, or change who may")
                    }
                    _ => None,
                },
            ),
            StoreError::Link { path } => (
                path,
                Some("name the file that it leads to, or remove the link"),
            ),
            StoreError::NotACapture { path } => {
                (path, Some("a capture folder is what `Export` writes"))
            }
            StoreError::Newer { path, .. } => (path, Some("open it with a newer Loupe")),
            StoreError::Damaged { path, .. } => (
                path,
                Some(
                    "files of a capture are exact bytes; restore them as they were written, without changed line ends",
                ),
            ),
        };
        let problem = Problem::new(ProblemKind::Io, what).at(path.display().to_string());
        match hint {
            Some(hint) => problem.hint(hint),
            None => problem,
        }
    }
}

/// Writes the capture as a folder at `path`, which must not be there yet: a crash leaves the whole folder or none.
/// Nothing is hidden here; what is written for others goes through [`loupe_core::redact`] first.
///
/// # Errors
/// [`StoreError::Exists`], or [`StoreError::Io`] with the file it happened at.
pub fn write_folder(capture: &Capture, path: &Path) -> Result<(), StoreError> {
    write_folder_with(capture, &[], path)
}

/// As [`write_folder`], with more files in the folder: name and bytes.
///
/// # Errors
/// As [`write_folder`].
pub fn write_folder_with(
    capture: &Capture,
    files: &[(&str, &[u8])],
    path: &Path,
) -> Result<(), StoreError> {
    if fs::symlink_metadata(path).is_ok() {
        return Err(StoreError::Exists {
            path: path.to_owned(),
        });
    }
    write_aside(capture, files, path)?.put_in_place(path)
}

/// A whole folder that stands aside, to be put at `place`.
fn write_aside(
    capture: &Capture,
    files: &[(&str, &[u8])],
    place: &Path,
) -> Result<StagingFolder, StoreError> {
    let (parent, readers) = (parent(place), Readers::Owner);
    readers
        .make_folder(&parent)
        .map_err(StoreError::io("cannot create the folder", &parent))?;
    let aside = StagingFolder::beside(place)?;
    let new = aside.new_folder();
    let written = readers
        .make_folder(&new)
        .map_err(StoreError::io("cannot create the folder", &new));
    written
        .and_then(|()| write_into(capture, files, &new))
        .map_err(|error| error.in_place(&new, place))?;
    Ok(aside)
}

fn write_into(capture: &Capture, files: &[(&str, &[u8])], folder: &Path) -> Result<(), StoreError> {
    let write_file = |path: &Path, bytes: &[u8]| write_new_file(path, bytes, Readers::Owner);
    write_file(
        &folder.join(MANIFEST),
        Manifest::new(capture).text().as_bytes(),
    )?;
    if !capture.request.is_empty() {
        write_file(&folder.join(REQUEST), &capture.request)?;
    }
    if let Some(response) = &capture.response {
        write_file(&folder.join(RESPONSE), response)?;
    }
    let mut lines = String::new();
    for message in &capture.messages {
        lines.push_str(&message_line(message));
        lines.push('\n');
    }
    write_file(&folder.join(MESSAGES), lines.as_bytes())?;
    for (name, bytes) in files {
        write_file(&folder.join(name), bytes)?;
    }
    sync_folder(folder)
}

/// A file of a capture's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderFile {
    pub name: &'static str,
    /// Its size.
    pub bytes: u64,
    /// How it begins; what is no UTF-8 is replaced.
    pub begins: String,
}

/// The files of a capture's folder as [`write_folder`] writes them, with no more than `most` bytes of each.
pub fn folder_files(capture: &Capture, most: usize) -> Vec<FolderFile> {
    let begins =
        |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(most)]).into_owned();
    let file = |name, bytes: &[u8]| FolderFile {
        name,
        bytes: bytes.len() as u64,
        begins: begins(bytes),
    };
    let mut files = vec![file(MANIFEST, Manifest::new(capture).text().as_bytes())];
    if !capture.request.is_empty() {
        files.push(file(REQUEST, &capture.request));
    }
    files.extend(
        capture
            .response
            .as_ref()
            .map(|response| file(RESPONSE, response)),
    );
    let mut messages = FolderFile {
        name: MESSAGES,
        bytes: 0,
        begins: String::new(),
    };
    for message in &capture.messages {
        let line = message_line(message) + "\n";
        messages.bytes += line.len() as u64;
        if messages.begins.len() < most {
            let room = line.floor_char_boundary(most - messages.begins.len());
            messages.begins.push_str(&line[..room]);
        }
    }
    files.push(messages);
    files
}

/// The folders of captures at or below `path`, in order of their names; what begins with a dot is left out.
///
/// # Errors
/// [`StoreError::Io`] where `path` itself cannot be read.
pub fn find_folders(path: &Path) -> Result<Vec<PathBuf>, StoreError> {
    if path.join(MANIFEST).exists() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    let mut left = vec![(path.to_owned(), 0)];
    while let Some((folder, depth)) = left.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if depth == 0 => {
                return Err(StoreError::io("cannot read the folder", &folder)(error));
            }
            // One that cannot be looked into hides no other.
            Err(_) => continue,
        };
        for entry in entries.filter_map(Result::ok) {
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            if is_hidden || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            let names = [
                MANIFEST,
                REQUEST,
                RESPONSE,
                MESSAGES,
                loupe_analysis::fixture::expect::FILE,
            ];
            if names.iter().any(|name| entry.path().join(name).exists()) {
                // Without its manifest it is a damaged one, and listed as that.
                found.push(entry.path());
            } else if depth < MAX_FOLDERS {
                left.push((entry.path(), depth + 1));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Reads a capture folder.
///
/// # Errors
/// [`StoreError::NotACapture`], [`StoreError::Newer`], [`StoreError::Damaged`] with what is wrong, or [`StoreError::Io`].
pub fn read_folder(path: &Path) -> Result<Capture, StoreError> {
    let at = path.join(MANIFEST);
    let text = match read::read_optional(&at, MOST_BESIDE) {
        Ok(Some(text)) => text,
        Ok(None) if path.is_dir() => {
            return Err(StoreError::NotACapture {
                path: path.to_owned(),
            });
        }
        Ok(None) => {
            return Err(StoreError::io("cannot read", &at)(
                io::ErrorKind::NotFound.into(),
            ));
        }
        Err(error) => return Err(error),
    };
    let manifest = Manifest::parse(&text, path)?;
    let request = read_part(path, REQUEST, &manifest)?;
    let response = read_part(path, RESPONSE, &manifest)?;
    let messages = match read::read_optional(&path.join(MESSAGES), MOST_BESIDE)? {
        Some(lines) => read_messages(&lines, path)?,
        None => return Err(StoreError::damaged(path, format!("{MESSAGES} is missing"))),
    };
    let mut capture = manifest.capture(request.unwrap_or_default(), response, messages, path)?;
    // A fixture says how its texts are read; what else is wrong with the file `verify` says.
    if let Ok(text) = file_text(&path.join(expect::FILE), MOST_BESIDE)
        && let Ok(Expect {
            reader: Some(how), ..
        }) = Expect::parse(&text, expect::FILE)
    {
        capture.read_text = how;
    }
    Ok(capture)
}

fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Makes the names in a folder last; other systems than Unix do so by themselves.
fn sync_folder(path: &Path) -> Result<(), StoreError> {
    if cfg!(unix) {
        let folder = File::open(path).map_err(StoreError::io("cannot open the folder", path))?;
        folder
            .sync_all()
            .map_err(StoreError::io("cannot write the folder", path))?;
    }
    Ok(())
}

/// Reads a message, if it is as long as the manifest says, and checks that it is the one that was written.
fn read_part(folder: &Path, name: &str, manifest: &Manifest) -> Result<Option<Bytes>, StoreError> {
    let path = folder.join(name);
    let bytes = match fs::metadata(&path) {
        Ok(data) if data.is_file() => {
            manifest.check_length(name, data.len(), folder)?;
            Some(Bytes::from(read::read_file(&path, data.len())?))
        }
        Ok(_) => return Err(StoreError::damaged(folder, format!("{name} is not a file"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(StoreError::io("cannot read", &path)(error)),
    };
    manifest.check_digest(name, bytes.as_deref(), folder)?;
    Ok(bytes)
}

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "atMs")]
    at_ms: f64,
    dir: String,
    text: Option<String>,
    base64: Option<String>,
}

fn read_messages(lines: &[u8], folder: &Path) -> Result<Vec<Message>, StoreError> {
    let mut messages = Vec::new();
    for (number, line) in (1..)
        .zip(lines.split(|&byte| byte == b'\n'))
        .filter(|(_, line)| !line.is_empty())
    {
        let bad =
            |why: String| StoreError::damaged(folder, format!("{MESSAGES}, line {number}: {why}"));
        let line: Line = serde_json::from_slice(line).map_err(|error| bad(error.to_string()))?;
        let direction = match line.dir.as_str() {
            "in" => Direction::In,
            "out" => Direction::Out,
            "stderr" => Direction::Stderr,
            other => return Err(bad(format!("unknown direction `{other}`"))),
        };
        let bytes = match (line.text, line.base64) {
            (Some(text), None) => Bytes::from(text),
            (None, Some(text)) => BASE64_STANDARD
                .decode(text)
                .map_err(|error| bad(error.to_string()))?
                .into(),
            _ => return Err(bad("needs either `text` or `base64`".to_owned())),
        };
        let at =
            duration(line.at_ms).ok_or_else(|| bad(format!("{} ms is not a time", line.at_ms)))?;
        messages.push(Message {
            at,
            direction,
            bytes,
        });
    }
    Ok(messages)
}

/// The inverse of [`loupe_core::number::milliseconds`], exact to the nanosecond for any plausible call.
fn duration(milliseconds: f64) -> Option<Duration> {
    let nanoseconds = (milliseconds * 1e6).round();
    (0.0..=u64::MAX as f64)
        .contains(&nanoseconds)
        .then(|| Duration::from_nanos(nanoseconds as u64))
}
