//! Capture folders and files on disk.
//!
//! [`write_folder`] writes a capture whole or not at all; [`read_folder`] gives the same capture back, byte for byte.
//! [`read_any`] also opens what is no folder: a bare result, a message, a payload, a text. A newer schema is refused
//! and a damaged folder is named as damaged; nothing here ever changes or deletes what is there.
//! Values of environment variables and request headers are not in a capture, and so never get here.
//! [`load_hosts`] reads a user's own hosts file.
//! Uses `report` (the spelling of messages), `host`, `capture`, `json`, `problem`.

mod file;
mod hosts;
mod manifest;
#[cfg(test)]
mod tests;

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use serde::Deserialize;

pub use file::{ReadAs, read_any, read_as, read_bytes};
pub use hosts::{load_hosts, settings_folder};

use crate::capture::{Capture, Direction, Message, Reading};
use crate::problem::{Kind, Problem};
use crate::report::json::message_line;
use manifest::Manifest;

const MANIFEST: &str = "capture.json";
const REQUEST: &str = "request.json";
const RESPONSE: &str = "response.json";
const MESSAGES: &str = "messages.jsonl";

/// Why a capture could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the folder is there already")]
    Exists { path: PathBuf },
    #[error("{what}: {source}")]
    Io { what: &'static str, path: PathBuf, source: io::Error },
    #[error("not a capture folder: there is no {MANIFEST}")]
    NotACapture { path: PathBuf },
    #[error("written by a newer version: {schema}")]
    Newer { path: PathBuf, schema: String },
    #[error("the capture is damaged: {why}")]
    Damaged { path: PathBuf, why: String },
    #[error("the answer holds no result to write")]
    NoResult { path: PathBuf },
}

impl Error {
    fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source }
    }

    fn damaged(path: &Path, why: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), why: why.into() }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let what = error.to_string();
        let (path, hint) = match &error {
            Error::Exists { path } => (path, Some("choose another name; nothing is overwritten")),
            Error::Io { path, .. } => (path, None),
            Error::NotACapture { path } => (path, Some("a capture folder is what `Export` writes")),
            Error::Newer { path, .. } => (path, Some("open it with a newer Loupe")),
            Error::Damaged { path, .. } => {
                (path, Some("files of a capture are exact bytes; restore them as they were written, without changed line ends"))
            }
            Error::NoResult { path } => (path, Some("export the capture folder, which keeps whatever came")),
        };
        let problem = Problem::new(Kind::Io, what).at(path.display().to_string());
        match hint {
            Some(hint) => problem.hint(hint),
            None => problem,
        }
    }
}

/// Writes the capture as a folder at `path`, which must not be there yet: a crash leaves the whole folder or none.
///
/// # Errors
/// [`Error::Exists`], or [`Error::Io`] with the file it happened at.
pub fn write_folder(capture: &Capture, path: &Path) -> Result<(), Error> {
    if fs::symlink_metadata(path).is_ok() {
        return Err(Error::Exists { path: path.to_owned() });
    }
    let parent = parent(path);
    fs::create_dir_all(&parent).map_err(Error::io("cannot create the folder", &parent))?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".loupe-");
    // Of a temporary folder for others to read later; the process's umask still applies.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
    let temporary = builder.tempdir_in(&parent).map_err(Error::io("cannot create the folder", &parent))?;
    write_file(&temporary.path().join(MANIFEST), Manifest::of(capture).text().as_bytes())?;
    if !capture.request.is_empty() {
        write_file(&temporary.path().join(REQUEST), &capture.request)?;
    }
    if let Some(response) = &capture.response {
        write_file(&temporary.path().join(RESPONSE), response)?;
    }
    let mut lines = String::new();
    for message in &capture.messages {
        lines.push_str(&message_line(message));
        lines.push('\n');
    }
    write_file(&temporary.path().join(MESSAGES), lines.as_bytes())?;
    sync_folder(temporary.path())?;
    fs::rename(temporary.path(), path).map_err(Error::io("cannot put the folder in place", path))?;
    // Renamed: there is nothing left to remove.
    let _moved = temporary.keep();
    sync_folder(&parent)
}

/// Writes the raw `CallToolResult` exactly as it arrived. Replaces a file that is there.
///
/// # Errors
/// [`Error::NoResult`], or [`Error::Io`].
pub fn write_result(capture: &Capture, path: &Path) -> Result<(), Error> {
    let reading = Reading::of(capture);
    let Some(result) = reading.result() else { return Err(Error::NoResult { path: path.to_owned() }) };
    write_whole(path, result.raw())
}

/// Writes a file whole or not at all. Replaces a file that is there.
///
/// # Errors
/// [`Error::Io`].
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let parent = parent(path);
    let mut builder = tempfile::Builder::new();
    builder.prefix(".loupe-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut temporary = builder.tempfile_in(&parent).map_err(Error::io("cannot create the file", path))?;
    temporary.write_all(bytes).map_err(Error::io("cannot write", path))?;
    temporary.as_file().sync_all().map_err(Error::io("cannot write", path))?;
    temporary.persist(path).map_err(|error| Error::io("cannot put the file in place", path)(error.error))?;
    sync_folder(&parent)
}

/// Reads a capture folder.
///
/// # Errors
/// [`Error::NotACapture`], [`Error::Newer`], [`Error::Damaged`] with what is wrong, or [`Error::Io`].
pub fn read_folder(path: &Path) -> Result<Capture, Error> {
    let at = path.join(MANIFEST);
    let text = match fs::read(&at) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound && path.is_dir() => {
            return Err(Error::NotACapture { path: path.to_owned() });
        }
        Err(error) => return Err(Error::io("cannot read", &at)(error)),
    };
    let manifest = Manifest::parse(&text, path)?;
    let request = read_part(path, REQUEST)?;
    let response = read_part(path, RESPONSE)?;
    manifest.check_digest(REQUEST, request.as_deref(), path)?;
    manifest.check_digest(RESPONSE, response.as_deref(), path)?;
    let messages = match read_part(path, MESSAGES)? {
        Some(lines) => read_messages(&lines, path)?,
        None => return Err(Error::damaged(path, format!("{MESSAGES} is missing"))),
    };
    manifest.capture(request.unwrap_or_default(), response, messages, path)
}

fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let mut file = File::create_new(path).map_err(Error::io("cannot create the file", path))?;
    file.write_all(bytes).map_err(Error::io("cannot write", path))?;
    file.sync_all().map_err(Error::io("cannot write", path))
}

/// Makes the names in a folder last; other systems than Unix do so by themselves.
fn sync_folder(path: &Path) -> Result<(), Error> {
    if cfg!(unix) {
        let folder = File::open(path).map_err(Error::io("cannot open the folder", path))?;
        folder.sync_all().map_err(Error::io("cannot write the folder", path))?;
    }
    Ok(())
}

fn read_part(folder: &Path, name: &str) -> Result<Option<Bytes>, Error> {
    let path = folder.join(name);
    match fs::read(&path) {
        Ok(bytes) => Ok(Some(Bytes::from(bytes))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("cannot read", &path)(error)),
    }
}

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "atMs")]
    at_ms: f64,
    dir: String,
    text: Option<String>,
    base64: Option<String>,
}

fn read_messages(lines: &[u8], folder: &Path) -> Result<Vec<Message>, Error> {
    let mut messages = Vec::new();
    for (number, line) in (1..).zip(lines.split(|&byte| byte == b'\n')).filter(|(_, line)| !line.is_empty()) {
        let bad = |why: String| Error::damaged(folder, format!("{MESSAGES}, line {number}: {why}"));
        let line: Line = serde_json::from_slice(line).map_err(|error| bad(error.to_string()))?;
        let direction = match line.dir.as_str() {
            "in" => Direction::In,
            "out" => Direction::Out,
            "stderr" => Direction::Stderr,
            other => return Err(bad(format!("unknown direction `{other}`"))),
        };
        let bytes = match (line.text, line.base64) {
            (Some(text), None) => Bytes::from(text),
            (None, Some(text)) => BASE64_STANDARD.decode(text).map_err(|error| bad(error.to_string()))?.into(),
            _ => return Err(bad("needs either `text` or `base64`".to_owned())),
        };
        let at = duration(line.at_ms).ok_or_else(|| bad(format!("{} ms is no time", line.at_ms)))?;
        messages.push(Message { at, direction, bytes });
    }
    Ok(messages)
}

/// The inverse of [`crate::report::json::milliseconds`], exact to the nanosecond for any plausible call.
fn duration(milliseconds: f64) -> Option<Duration> {
    let nanoseconds = (milliseconds * 1e6).round();
    (0.0..=u64::MAX as f64).contains(&nanoseconds).then(|| Duration::from_nanos(nanoseconds as u64))
}
