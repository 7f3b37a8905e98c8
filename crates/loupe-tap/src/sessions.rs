//! Recorded sessions on disk: a folder each, with `session.json` and `messages.jsonl`.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::Deserialize;
use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::transcripts::TimeSpan;

/// The file that says what a session is of.
pub const START: &str = "session.json";
/// The messages, one JSON object a line.
pub const MESSAGES: &str = "messages.jsonl";
pub(crate) const SCHEMA: &str = "loupe.session/1";
/// How much of a record's end is looked at for how it ended.
const TAIL: u64 = 4 << 10;
/// How much of its beginning is looked at for who the host is.
const HEAD: u64 = 64 << 10;

/// What is known of a session without reading its messages.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionInfo {
    pub id: String,
    pub folder: PathBuf,
    pub name: String,
    /// As a SOURCE of the command line; secrets hidden.
    pub source: String,
    /// How the host named itself; empty where it has not.
    pub client: String,
    pub started: OffsetDateTime,
    /// How the server ended; `None` while it runs, and where the record breaks off.
    pub ended: Option<i32>,
    /// Whether the tap that records it still runs.
    pub is_running: bool,
    /// Of the messages, in bytes.
    pub size: u64,
}

#[derive(Deserialize)]
struct StartJson {
    schema: String,
    name: String,
    #[serde(default)]
    source: String,
    started: String,
    #[serde(default)]
    pid: u32,
}

#[derive(Deserialize)]
struct MessageJson {
    text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TimeJson {
    at_ms: f64,
}

#[derive(Deserialize)]
struct EndJson {
    ended: Option<i32>,
}

/// All sessions below a folder, the newest first. Folders that are none are passed over.
pub fn list(sessions: &Path) -> Vec<SessionInfo> {
    let entries = fs::read_dir(sessions).into_iter().flatten().flatten();
    let mut found: Vec<_> = entries
        .filter_map(|entry| read(&entry.path()).ok())
        .collect();
    found.sort_by(|a, b| b.id.cmp(&a.id));
    found
}

/// What a session's folder says of it.
///
/// # Errors
/// It is none, or cannot be read.
pub fn read(folder: &Path) -> io::Result<SessionInfo> {
    let text = fs::read_to_string(folder.join(START))?;
    let start: StartJson = serde_json::from_str(&text).map_err(io::Error::other)?;
    if start.schema != SCHEMA {
        return Err(io::Error::other(format!(
            "written by another version ({})",
            start.schema
        )));
    }
    let started = OffsetDateTime::parse(&start.started, &Rfc3339).map_err(io::Error::other)?;
    let messages = folder.join(MESSAGES);
    let size = fs::metadata(&messages).map_or(0, |metadata| metadata.len());
    let ended = read_end(&messages, size);
    Ok(SessionInfo {
        id: folder
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default(),
        folder: folder.to_owned(),
        name: start.name,
        source: start.source,
        client: read_client(&messages).unwrap_or_default(),
        started,
        is_running: ended.is_none() && is_alive(start.pid),
        ended: ended.flatten(),
        size,
    })
}

/// How the host named itself in one of the first messages.
fn read_client(messages: &Path) -> Option<String> {
    let file = fs::File::open(messages).ok()?;
    let name_in = |line: &[u8]| {
        let line: MessageJson = serde_json::from_slice(line).ok()?;
        let message: Value = serde_json::from_str(&line.text).ok()?;
        let params = message.get("params")?;
        let info = params
            .get("clientInfo")
            .or_else(|| params.pointer("/_meta/io.modelcontextprotocol~1clientInfo"))?;
        info.get("name")?.as_str().map(str::to_owned)
    };
    // It is mostly in the first.
    BufReader::new(file.take(HEAD))
        .split(b'\n')
        .map_while(Result::ok)
        .filter(|line| line.windows(10).any(|bytes| bytes == b"clientInfo"))
        .find_map(|line| name_in(&line))
}

/// The time of a session, by its record; without an end while it runs, and where the record breaks off.
pub fn time_span(session: &SessionInfo) -> TimeSpan {
    let end = || {
        let last = last_line(&session.folder.join(MESSAGES), session.size)?;
        let at = serde_json::from_str::<TimeJson>(&last).ok()?.at_ms;
        let lasted = Duration::try_from_secs_f64(at / 1000.0).ok()?;
        session.started.checked_add(lasted.try_into().ok()?)
    };
    TimeSpan {
        from: session.started,
        to: end().filter(|_| !session.is_running),
    }
}

fn last_line(messages: &Path, size: u64) -> Option<String> {
    let mut file = fs::File::open(messages).ok()?;
    file.seek(SeekFrom::Start(size.saturating_sub(TAIL))).ok()?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail).ok()?;
    let last = tail
        .strip_suffix(b"\n")?
        .rsplit(|byte| *byte == b'\n')
        .next()?;
    String::from_utf8(last.to_vec()).ok()
}

/// The last line, if it says that the session has ended.
fn read_end(messages: &Path, size: u64) -> Option<Option<i32>> {
    let text = last_line(messages, size)?;
    if !text.contains("\"ended\"") || text.contains("\"text\"") {
        return None;
    }
    serde_json::from_str::<EndJson>(&text)
        .ok()
        .map(|end| end.ended)
}

#[cfg(unix)]
fn is_alive(pid: u32) -> bool {
    i32::try_from(pid).is_ok_and(|pid| {
        pid > 0 && nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), None).is_ok()
    })
}

#[cfg(not(unix))]
fn is_alive(_pid: u32) -> bool {
    false
}

/// The session of this id, or the one whose id begins so; `None` where none or several do.
pub fn find(sessions: &Path, id: &str) -> Option<SessionInfo> {
    let all = list(sessions);
    let exact = all.iter().position(|session| session.id == id);
    let mut begins = all
        .iter()
        .enumerate()
        .filter(|(_, session)| session.id.starts_with(id) || session.name == id);
    let at = exact.or_else(|| match (begins.next(), begins.next()) {
        (Some((at, _)), None) => Some(at),
        _ => None,
    })?;
    all.into_iter().nth(at)
}

/// What is kept of sessions.
#[derive(Clone, Copy, Debug)]
pub struct KeepLimits {
    pub age: Duration,
    /// Of all sessions together, in bytes.
    pub size: u64,
}

impl Default for KeepLimits {
    fn default() -> Self {
        Self {
            age: Duration::from_secs(30 * 24 * 60 * 60),
            size: 4 << 30,
        }
    }
}

/// Removes sessions that are older than the limit, then the oldest until the rest fits. Those that run stay. Gives what was
/// removed.
///
/// # Errors
/// One could not be removed; those before it are.
pub fn prune(sessions: &Path, limits: KeepLimits, now: SystemTime) -> io::Result<Vec<SessionInfo>> {
    let mut removed = Vec::new();
    let mut size = 0;
    for session in list(sessions) {
        let started = SystemTime::from(session.started);
        let age = now.duration_since(started).unwrap_or_default();
        size += session.size;
        if session.is_running || (age <= limits.age && size <= limits.size) {
            continue;
        }
        size -= session.size;
        fs::remove_dir_all(&session.folder)?;
        removed.push(session);
    }
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(sessions: &Path, id: &str, started: &str, messages: &str) {
        let folder = sessions.join(id);
        fs::create_dir_all(&folder).unwrap();
        let start = format!(
            r#"{{"schema":"{SCHEMA}","name":"n","source":"-- s","started":"{started}","pid":0}}"#
        );
        fs::write(folder.join(START), start).unwrap();
        fs::write(folder.join(MESSAGES), messages).unwrap();
    }

    #[test]
    fn the_oldest_go_first() {
        let folder = tempfile::tempdir().unwrap();
        session(
            folder.path(),
            "1-old",
            "2026-01-01T00:00:00Z",
            "{\"atMs\":1,\"ended\":0}\n",
        );
        session(
            folder.path(),
            "2-large",
            "2026-11-01T00:00:00Z",
            &"x".repeat(50),
        );
        session(
            folder.path(),
            "3-new",
            "2026-11-02T00:00:00Z",
            r#"{"atMs":0,"dir":"out","text":"{\"params\":{\"clientInfo\":{\"name\":\"codex\"}}}"}"#,
        );
        let all = list(folder.path());
        assert_eq!((all[2].ended, &*all[0].client), (Some(0), "codex"));
        let now =
            SystemTime::from(OffsetDateTime::parse("2026-11-03T00:00:00Z", &Rfc3339).unwrap());
        let limits = KeepLimits {
            age: Duration::from_secs(30 * 86_400),
            size: 100,
        };
        let removed = prune(folder.path(), limits, now).unwrap();
        let ids: Vec<_> = removed.iter().map(|session| &*session.id).collect();
        assert_eq!(ids, ["2-large", "1-old"]);
        assert_eq!(list(folder.path()).len(), 1);
        assert_eq!(find(folder.path(), "3").unwrap().id, "3-new");
        assert!(find(folder.path(), "4").is_none());
    }
}
