//! Opens what is no capture folder: a bare result, a message, data, a text, and files of many results (`import`).
//!
//! A capture needs a response message to be read. For a message that is the file itself; around anything else one is
//! written in memory, and the capture is marked ([`Capture::NO_WIRE`]), so that nobody takes it for a server's.

use std::path::Path;

use bytes::Bytes;

use super::import::{self, Input, SHORT, empty_capture};
use super::{MOST_OF_ANSWERS, ReadAs, read_file, read_folder};
use loupe_analysis::queries::SessionCalls;
use loupe_core::capture::{Capture, CaptureId, Outcome, ParsedResponse};
use loupe_core::digest::sha256;
use loupe_core::json::write::string;
use loupe_core::json::{Doc, Kind as JsonKind};
use loupe_core::problem::{Problem, ProblemKind};

impl ReadAs {
    /// A kind of file with many results, where it looks like one; an object with a `content` array is a result, one with
    /// `jsonrpc` a message, other JSON data, and anything else text.
    pub fn detect(bytes: &Bytes) -> Self {
        let input = Input::of(bytes, "");
        if let Some(importer) = import::detect(&input) {
            return importer.kind;
        }
        let doc = input.doc;
        // Bad UTF-8 inside a string makes odd JSON, not a text.
        if doc.is_empty() || doc.faults().iter().any(|fault| fault.kind.is_fatal()) {
            return Self::Text;
        }
        let Some(root) = doc.root().filter(|root| root.kind() == JsonKind::Object) else {
            return Self::Data;
        };
        if root
            .get("content")
            .is_some_and(|content| content.kind() == JsonKind::Array)
        {
            Self::Result
        } else if root.get("jsonrpc").is_some() {
            Self::Message
        } else {
            Self::Data
        }
    }
}

/// Opens a file or folder, by what it holds.
///
/// # Errors
/// A file that cannot be read, a damaged or newer capture.
pub fn read_any(path: &Path) -> Result<Capture, Problem> {
    read_as(path, None)
}

/// Opens a file or folder as what it is said to be; `None` finds out.
///
/// # Errors
/// As [`read_any`], and where it is not what it is said to be.
pub fn read_as(path: &Path, kind: Option<ReadAs>) -> Result<Capture, Problem> {
    one(read_all(path, kind)?, &path.display().to_string())
}

/// The one capture that a file holds.
fn one(mut captures: Vec<Capture>, name: &str) -> Result<Capture, Problem> {
    match (captures.len(), captures.pop()) {
        (1, Some(capture)) => Ok(capture),
        (many, _) => Err(Problem::new(
            ProblemKind::Usage,
            format!("the file holds {many} answers, and one is wanted"),
        )
        .at(name)
        .hint("`mcp-loupe show` lists them; `show --nth N` shows one of them")),
    }
}

/// Opens a file or folder with every result that it holds, at least one, in their order.
///
/// # Errors
/// As [`read_as`].
pub fn read_all(path: &Path, kind: Option<ReadAs>) -> Result<Vec<Capture>, Problem> {
    // A recorded session is its file of messages.
    let session = path.join(loupe_tap::sessions::MESSAGES);
    if kind.is_none() && path.join(loupe_tap::sessions::START).is_file() {
        let bytes = read_file(&session, MOST_OF_ANSWERS)?;
        let name = name_of(path);
        return read_all_bytes(&Bytes::from(bytes), &name, Some(ReadAs::Messages));
    }
    if path.is_dir() {
        return match kind {
            None | Some(ReadAs::Capture) => Ok(vec![read_folder(path)?]),
            Some(kind) => Err(Problem::new(
                ProblemKind::Io,
                format!("a folder is no {}", kind.name()),
            )
            .at(path.display().to_string())),
        };
    }
    let bytes = read_file(path, MOST_OF_ANSWERS)?;
    let name = name_of(path);
    read_all_bytes(&Bytes::from(bytes), &name, kind)
}

/// The name of a file for people.
fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(
        || path.display().to_string(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// Reads a recorded session, or another file of messages, with what the server lists.
///
/// # Errors
/// The file cannot be read, or holds no messages.
pub fn read_session(path: &Path) -> Result<SessionCalls, Problem> {
    let bytes = Bytes::from(read_file(path, MOST_OF_ANSWERS)?);
    let name = name_of(path);
    let input = Input::of(&bytes, &name);
    // A session that has just begun is one line.
    let importer = import::detect(&input).or_else(|| import::by_kind(ReadAs::Messages));
    let Some(importer) = importer else {
        return Ok(SessionCalls::default());
    };
    (importer.read)(&input).map(Into::into)
}

/// Makes captures of all that a file (or standard input) held, at least one.
///
/// # Errors
/// Where it is not what it is said to be.
pub fn read_all_bytes(
    bytes: &Bytes,
    name: &str,
    kind: Option<ReadAs>,
) -> Result<Vec<Capture>, Problem> {
    let kind = kind.unwrap_or_else(|| ReadAs::detect(bytes));
    match import::by_kind(kind) {
        Some(importer) => importer.captures(&Input::of(bytes, name)),
        None => Ok(vec![read_one(bytes, name, kind)?]),
    }
}

/// Makes a capture of what a file (or standard input) held.
///
/// # Errors
/// Where it is not what it is said to be, or holds several results.
pub fn read_bytes(bytes: &Bytes, name: &str, kind: Option<ReadAs>) -> Result<Capture, Problem> {
    one(read_all_bytes(bytes, name, kind)?, name)
}

fn read_one(bytes: &Bytes, name: &str, kind: ReadAs) -> Result<Capture, Problem> {
    let (response, is_message) = match kind {
        ReadAs::Capture => {
            return Err(
                Problem::new(ProblemKind::Io, "a capture is a folder, not a file").at(name),
            );
        }
        ReadAs::Message => (without_line_end(bytes), true),
        ReadAs::Result => (
            around(b"", json(bytes, name, kind)?.trim_ascii(), b""),
            false,
        ),
        ReadAs::Data => (
            around(
                br#"{"content":[],"structuredContent":"#,
                json(bytes, name, kind)?.trim_ascii(),
                b"}",
            ),
            false,
        ),
        _ => (
            around(
                br#"{"content":[{"type":"text","text":"#,
                &text_literal(bytes),
                b"}]}",
            ),
            false,
        ),
    };
    let reading = ParsedResponse::read(response.clone());
    let outcome = if is_message {
        reading.outcome()
    } else {
        outcome_of_result(&reading)
    };
    let digest = sha256(bytes);
    let id = CaptureId(format!("{name}-{}-{digest}", kind.name()).into());
    let short = format!("{name}-{}-{}", kind.name(), &digest[..SHORT]).into();
    let empty = Capture {
        name: short,
        ..empty_capture(id, "file", format!("{} {name}", kind.name()))
    };
    let notes = if is_message {
        Vec::new()
    } else {
        vec![Capture::NO_WIRE.to_owned()]
    };
    Ok(Capture {
        outcome,
        response: Some(response),
        notes,
        ..empty
    })
}

/// The result's own `isError` decides; odd JSON around it was written by us.
fn outcome_of_result(reading: &ParsedResponse) -> Outcome {
    if reading.is_error == Some(true) {
        Outcome::ToolError
    } else {
        Outcome::Result
    }
}

fn json<'a>(bytes: &'a Bytes, name: &str, kind: ReadAs) -> Result<&'a [u8], Problem> {
    let doc = Doc::parse(bytes.clone());
    match doc.faults().iter().find(|fault| fault.kind.is_fatal()) {
        None if !doc.is_empty() => Ok(bytes),
        fault => {
            let what = fault.map_or("empty".to_owned(), |fault| {
                format!("{} at byte {}", fault.kind.message(), fault.at)
            });
            let problem = Problem::new(
                ProblemKind::Malformed,
                format!("not JSON, so no {}: {what}", kind.name()),
            )
            .at(name);
            Err(Problem {
                kind: ProblemKind::Io,
                ..problem
            }
            .hint("`--read-as text` shows it as it is"))
        }
    }
}

/// A response message around a result.
fn around(before: &[u8], inside: &[u8], after: &[u8]) -> Bytes {
    [
        br#"{"jsonrpc":"2.0","id":1,"result":"#.as_slice(),
        before,
        inside,
        after,
        b"}",
    ]
    .concat()
    .into()
}

/// A JSON string of the text; bytes that are not UTF-8 stay as they are, so that the reading marks them.
fn text_literal(bytes: &[u8]) -> Vec<u8> {
    let mut literal = vec![b'"'];
    for chunk in bytes.utf8_chunks() {
        let quoted = string(chunk.valid());
        literal.extend_from_slice(&quoted.as_bytes()[1..quoted.len() - 1]);
        literal.extend_from_slice(chunk.invalid());
    }
    literal.push(b'"');
    literal
}

/// As on stdio: the message is the line without its LF or CRLF.
fn without_line_end(bytes: &Bytes) -> Bytes {
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let line = if line.len() < bytes.len() {
        line.strip_suffix(b"\r").unwrap_or(line)
    } else {
        line
    };
    bytes.slice(..line.len())
}
