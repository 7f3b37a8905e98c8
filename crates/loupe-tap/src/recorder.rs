//! The record of one session: `session.json`, what it is of, and `messages.jsonl`, to which a line is added for each message.
//!
//! A thread of its own splits the bytes into lines, hides what is secret and writes. Its queue holds 64 MiB; more
//! than that is counted and left out. A line is written whole, so that after a crash the file is good up to the last one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use loupe_analysis::contract::message_line;
use loupe_core::cancel::Cancel;
use loupe_core::capture::{Direction, Message};
use loupe_core::redact::{RedactOptions, SecretList, redact_messages};
use serde::Serialize;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Bytes that may wait to be recorded.
const QUEUE_BYTES: usize = 64 << 20;
/// A line beyond this is cut in the record.
pub(crate) const LINE_BYTES: usize = 32 << 20;
/// How long the record may take once the session has ended.
const LAST: Duration = Duration::from_secs(5);
/// Messages that secrets are looked for in together: beginning to look takes longer than a short message does.
const TOGETHER: usize = 256;
/// The same in bytes.
const TOGETHER_BYTES: usize = 1 << 20;
/// A record beyond this takes no more messages.
const RECORD_BYTES: u64 = 1 << 30;

/// What a session is of.
#[derive(Clone, Debug)]
pub struct SessionStart {
    /// The name given by `--name`, else that of the program.
    pub name: String,
    /// How the server is started, as a SOURCE of the command line; its secrets are hidden in the record.
    pub source: String,
    pub started: OffsetDateTime,
}

/// Where a session is recorded.
#[derive(Clone, Debug)]
pub enum RecordPlace {
    /// A new folder below this one.
    Sessions(PathBuf),
    /// The messages alone, added to this file.
    File(PathBuf),
}

#[derive(Serialize)]
struct StartJson<'a> {
    schema: &'static str,
    loupe: &'static str,
    id: &'a str,
    name: &'a str,
    source: &'a str,
    started: String,
    pid: u32,
}

/// A line of the record that is no message.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NoteJson {
    at_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dir: Option<&'static str>,
    /// Bytes that are not in the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    lost: Option<u64>,
    /// How long the line before was, of which only the beginning is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<u64>,
    /// How the server ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<i32>,
}

struct Chunk {
    at: Duration,
    direction: Direction,
    bytes: Bytes,
    /// Bytes of this direction that were left out before it.
    lost: u64,
    /// It is a message by itself, of which so many bytes are not kept. `None`: a part of a stream of lines.
    message_over: Option<u64>,
}

enum Item {
    Chunk(Chunk),
    /// When it ended, the bytes left out at the end, and how the server ended.
    End(Duration, u64, Option<i32>),
}

/// Takes copies of what passes.
pub struct Recorder {
    began: Instant,
    queue: Sender<Item>,
    waiting: Arc<Waiting>,
    lost: [AtomicU64; 3],
    /// Told when the record is complete; `None` where nothing is recorded, and once that was waited for.
    is_written: Mutex<Option<Receiver<()>>>,
}

fn index(direction: Direction) -> usize {
    match direction {
        Direction::Out => 0,
        Direction::In => 1,
        Direction::Stderr => 2,
    }
}

impl Recorder {
    /// Records into `to`. What keeps it from recording is told to `complain`, once; nothing else
    /// is affected. `known` is what is secret besides what looks so.
    pub fn start(
        to: RecordPlace,
        start: SessionStart,
        known: SecretList,
        complain: impl Fn(&str) + Send + 'static,
    ) -> Self {
        let (queue, items) = channel();
        let (written, is_written) = channel();
        let waiting = Arc::<Waiting>::default();
        let shared = Arc::clone(&waiting);
        let write = move || {
            let mut has_ended = false;
            let recorded = record(&to, &start, &known, &items, &shared, &mut has_ended);
            if let Err(error) = recorded {
                complain(&format!("the session is not recorded any further: {error}"));
                // What still comes is let go of, and never piles up.
                while !has_ended && let Ok(item) = items.recv() {
                    match item {
                        Item::Chunk(chunk) => shared.done(chunk.bytes.len()),
                        Item::End(..) => has_ended = true,
                    }
                }
            }
            // Nobody may wait for it any more.
            written.send(()).ok();
        };
        // Without a thread nothing is recorded, and everything passes all the same.
        let writer = std::thread::Builder::new()
            .name("loupe-record".into())
            .spawn(write);
        Self {
            began: Instant::now(),
            queue,
            waiting,
            lost: Default::default(),
            is_written: Mutex::new(writer.ok().map(|_| is_written)),
        }
    }

    /// Takes a copy of bytes that were passed on. Never waits.
    pub fn take(&self, direction: Direction, bytes: &[u8]) {
        self.send(direction, bytes.len(), None, || {
            Bytes::copy_from_slice(bytes)
        });
    }

    /// Takes a copy of a message that is no line, as a body of HTTP is; a line end in it becomes a space. Of it, `over`
    /// bytes were not kept. Never waits.
    pub fn take_message(&self, direction: Direction, message: Bytes, over: u64) {
        self.send(direction, message.len(), Some(over), || message);
    }

    fn send(
        &self,
        direction: Direction,
        length: usize,
        message_over: Option<u64>,
        copy: impl FnOnce() -> Bytes,
    ) {
        let lost = &self.lost[index(direction)];
        let waiting = self.waiting.bytes.fetch_add(length, Ordering::Relaxed);
        if waiting + length > QUEUE_BYTES {
            self.waiting.done(length);
            lost.fetch_add(length as u64, Ordering::Relaxed);
            return;
        }
        let chunk = Chunk {
            at: self.began.elapsed(),
            direction,
            bytes: copy(),
            lost: lost.swap(0, Ordering::Relaxed),
            message_over,
        };
        // The writer may have given up.
        self.queue.send(Item::Chunk(chunk)).ok();
    }

    /// Ends the record. What was taken is written for up to 5 s; what is still left then is missing from the record,
    /// which says so. `status` is how the server ended.
    pub fn finish(&self, status: Option<i32>) {
        let lost = self
            .lost
            .iter()
            .map(|lost| lost.load(Ordering::Relaxed))
            .sum();
        let end = Item::End(self.began.elapsed(), lost, status);
        self.queue.send(end).ok();
        let is_written = self
            .is_written
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let Some(is_written) = is_written else { return };
        if is_written.recv_timeout(LAST) == Err(RecvTimeoutError::Timeout) {
            self.waiting.is_late.store(true, Ordering::Relaxed);
            // A disk that stands still is not waited for.
            is_written.recv_timeout(LAST).ok();
        }
    }
}

/// What waits to be recorded.
#[derive(Default)]
struct Waiting {
    bytes: AtomicUsize,
    /// The session has ended, and nobody waits any longer: the rest is left out.
    is_late: AtomicBool,
}

impl Waiting {
    fn done(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// One direction's bytes on their way to lines.
#[derive(Default)]
struct Lines {
    line: Vec<u8>,
    /// When the line began.
    at: Duration,
    /// Bytes of the line that are not kept.
    over: u64,
    /// The beginning of the line is missing, so the rest of it is no message.
    is_broken: bool,
}

struct Record {
    file: BufWriter<File>,
    written: u64,
    /// Bytes that the full record did not take.
    over: u64,
    options: RedactOptions,
    /// Messages that are not written yet, and their bytes.
    together: Vec<Message>,
    together_bytes: usize,
}

fn record(
    to: &RecordPlace,
    start: &SessionStart,
    known: &SecretList,
    items: &Receiver<Item>,
    waiting: &Waiting,
    has_ended: &mut bool,
) -> io::Result<()> {
    let redact_options = RedactOptions {
        secrets: known.secrets(),
        ..RedactOptions::default()
    };
    let mut options = OpenOptions::new();
    options.append(true);
    own(&mut options);
    let file = match to {
        RecordPlace::Sessions(sessions) => {
            let folder = create_folder(sessions, start, &redact_options)?;
            options
                .create_new(true)
                .open(folder.join(super::sessions::MESSAGES))?
        }
        RecordPlace::File(path) => options.create(true).open(path)?,
    };
    let mut record = Record {
        file: BufWriter::new(file),
        written: 0,
        over: 0,
        options: redact_options,
        together: Vec::new(),
        together_bytes: 0,
    };
    let mut lines = [Lines::default(), Lines::default(), Lines::default()];
    loop {
        let item = match items.try_recv() {
            Ok(item) => item,
            Err(_) => {
                record.write_together()?;
                record.file.flush()?;
                match items.recv() {
                    Ok(item) => item,
                    Err(_) => return Ok(()),
                }
            }
        };
        match item {
            Item::Chunk(chunk) => {
                let length = chunk.bytes.len();
                let written = if waiting.is_late.load(Ordering::Relaxed) {
                    record.over += length as u64 + chunk.lost;
                    Ok(())
                } else {
                    record.take(&mut lines[index(chunk.direction)], &chunk)
                };
                waiting.done(length);
                written?;
            }
            Item::End(at, lost, status) => {
                *has_ended = true;
                for (direction, lines) in DIRECTIONS.into_iter().zip(&mut lines) {
                    record.line(direction, lines)?;
                }
                let lost = lost + record.over;
                record.note(&NoteJson {
                    lost: (lost > 0).then_some(lost),
                    ended: status,
                    ..note(at)
                })?;
                return record.file.flush();
            }
        }
    }
}

/// Messages without what is secret.
fn hide(messages: Vec<Message>, options: &RedactOptions) -> Vec<Message> {
    if messages.is_empty() {
        return messages;
    }
    // Nobody cancels it.
    redact_messages(messages, options, &Cancel::new())
        .map(|redacted| redacted.capture.messages)
        .unwrap_or_default()
}

const DIRECTIONS: [Direction; 3] = [Direction::Out, Direction::In, Direction::Stderr];

fn note(at: Duration) -> NoteJson {
    NoteJson {
        at_ms: at.as_secs_f64() * 1000.0,
        dir: None,
        lost: None,
        cut: None,
        ended: None,
    }
}

impl Record {
    /// Takes bytes in: each line end is a message.
    fn take(&mut self, lines: &mut Lines, chunk: &Chunk) -> io::Result<()> {
        if chunk.lost > 0 {
            lines.line.clear();
            lines.over = 0;
            lines.is_broken = chunk.message_over.is_none();
            self.note(&NoteJson {
                dir: Some(chunk.direction.name()),
                lost: Some(chunk.lost),
                ..note(chunk.at)
            })?;
        }
        if let Some(over) = chunk.message_over {
            lines.add(chunk.bytes.trim_ascii(), chunk.at);
            for byte in &mut lines.line {
                if matches!(byte, b'\n' | b'\r') {
                    *byte = b' ';
                }
            }
            lines.over += over;
            return self.line(chunk.direction, lines);
        }
        let mut rest = &chunk.bytes[..];
        while let Some(end) = memchr::memchr(b'\n', rest) {
            lines.add(&rest[..end], chunk.at);
            self.line(chunk.direction, lines)?;
            rest = &rest[end + 1..];
        }
        lines.add(rest, chunk.at);
        Ok(())
    }

    /// Writes the line that is complete, and begins another.
    fn line(&mut self, direction: Direction, lines: &mut Lines) -> io::Result<()> {
        let (bytes, at) = (Bytes::from(std::mem::take(&mut lines.line)), lines.at);
        let over = std::mem::take(&mut lines.over);
        if std::mem::take(&mut lines.is_broken) || (bytes.is_empty() && over == 0) {
            return Ok(());
        }
        let length = bytes.len() as u64 + over;
        if self.written + length > RECORD_BYTES {
            self.over += length;
            return Ok(());
        }
        self.together_bytes += bytes.len();
        self.together.push(Message {
            at,
            direction,
            bytes,
        });
        if self.together.len() >= TOGETHER || self.together_bytes >= TOGETHER_BYTES {
            self.write_together()?;
        }
        if over > 0 {
            self.note(&NoteJson {
                dir: Some(direction.name()),
                cut: Some(length),
                ..note(at)
            })?;
        }
        Ok(())
    }

    /// Writes the messages that wait, without what is secret.
    fn write_together(&mut self) -> io::Result<()> {
        self.together_bytes = 0;
        for message in hide(std::mem::take(&mut self.together), &self.options) {
            self.write(&message_line(&message))?;
        }
        Ok(())
    }

    /// A note stands behind the messages before it.
    fn note(&mut self, note: &NoteJson) -> io::Result<()> {
        self.write_together()?;
        let text = serde_json::to_string(note).map_err(io::Error::other)?;
        self.write(&text)
    }

    fn write(&mut self, line: &str) -> io::Result<()> {
        self.written += line.len() as u64 + 1;
        self.file.write_all(line.as_bytes())?;
        self.file.write_all(b"\n")
    }
}

impl Lines {
    fn add(&mut self, bytes: &[u8], at: Duration) {
        if bytes.is_empty() {
            return;
        }
        if self.line.is_empty() && self.over == 0 {
            self.at = at;
        }
        let room = LINE_BYTES - self.line.len();
        self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.over += bytes.len().saturating_sub(room) as u64;
    }
}

/// Writes a session whose messages are there already, as lines of its file.
///
/// # Errors
/// The folder or a file cannot be written.
pub fn write_session(sessions: &Path, start: &SessionStart, lines: &str) -> io::Result<()> {
    let folder = create_folder(sessions, start, &RedactOptions::default())?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    own(&mut options);
    options
        .open(folder.join(super::sessions::MESSAGES))?
        .write_all(lines.as_bytes())
}

/// A folder of its own for the session, with `session.json` in it. Its name begins with the time, so that names sort.
fn create_folder(
    sessions: &Path,
    start: &SessionStart,
    options: &RedactOptions,
) -> io::Result<PathBuf> {
    create_own(sessions)?;
    let clean: String = start
        .name
        .chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() || letter == '-' {
                letter
            } else {
                '-'
            }
        })
        .take(40)
        .collect();
    let stamp =
        time::format_description::parse_borrowed::<2>("[year][month][day]-[hour][minute][second]")
            .map_err(io::Error::other)?;
    let stamp = start.started.format(&stamp).map_err(io::Error::other)?;
    let random = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), stamp.as_str());
    let id = format!(
        "{stamp}-{}-{:06x}",
        clean.trim_matches('-'),
        random & 0xff_ffff
    );
    let folder = sessions.join(&id);
    create_own(&folder)?;
    let source = Message {
        at: Duration::ZERO,
        direction: Direction::Stderr,
        bytes: Bytes::from(start.source.clone()),
    };
    let source = hide(vec![source], options).pop().map(|source| source.bytes);
    let source = source.unwrap_or_default();
    let json = StartJson {
        schema: super::sessions::SCHEMA,
        loupe: super::VERSION,
        id: &id,
        name: &start.name,
        source: &String::from_utf8_lossy(&source),
        started: start.started.format(&Rfc3339).map_err(io::Error::other)?,
        pid: std::process::id(),
    };
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    own(&mut options);
    let mut file = options.open(folder.join(super::sessions::START))?;
    file.write_all(
        serde_json::to_string_pretty(&json)
            .map_err(io::Error::other)?
            .as_bytes(),
    )?;
    file.write_all(b"\n")?;
    Ok(folder)
}

/// Creates a folder that only its owner can look into.
fn create_own(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// A file that only its owner can read.
fn own(options: &mut OpenOptions) {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    #[cfg(not(unix))]
    let _ = options;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sessions::{SessionInfo, list};

    fn start(folder: &Path) -> Recorder {
        let start = SessionStart {
            name: "git/hub".into(),
            source: "-- server".into(),
            started: OffsetDateTime::UNIX_EPOCH,
        };
        let known = SecretList::default();
        known.add("env", "API_KEY", "s3cret-value-99");
        Recorder::start(
            RecordPlace::Sessions(folder.to_owned()),
            start,
            known,
            |why| panic!("{why}"),
        )
    }

    fn lines(info: &SessionInfo) -> Vec<String> {
        let text = fs::read_to_string(info.folder.join(crate::sessions::MESSAGES)).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn bytes_become_lines_without_secrets_and_the_end_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let recorder = start(folder.path());
        recorder.take(Direction::Out, b"{\"a\":");
        recorder.take(Direction::Stderr, b"hello s3cret-value-99\n");
        recorder.take(Direction::Out, b"1}\n{\"b\":2}");
        recorder.finish(Some(3));
        let [info] = &list(folder.path())[..] else {
            panic!("one session")
        };
        assert!(
            info.id.contains("git-hub") && !info.id.contains('/'),
            "{}",
            info.id
        );
        let lines = lines(info);
        let texts: Vec<serde_json::Value> = lines
            .iter()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(texts[1]["text"], "{\"a\":1}");
        assert_eq!(
            (&texts[1]["dir"], &texts[2]["text"]),
            (&"out".into(), &"{\"b\":2}".into())
        );
        assert_eq!(texts[3]["ended"], 3);
        assert!(
            lines[0].contains("hidden") && !lines[0].contains("s3cret-value"),
            "{}",
            lines[0]
        );
        assert_eq!(info.ended, Some(3));
    }

    #[cfg(unix)]
    #[test]
    fn files_are_for_their_owner() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        start(folder.path()).finish(None);
        let [info] = &list(folder.path())[..] else {
            panic!("one session")
        };
        let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(info.folder.clone()), 0o700);
        for file in [crate::sessions::START, crate::sessions::MESSAGES] {
            assert_eq!(mode(info.folder.join(file)), 0o600, "{file}");
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_cut_and_what_does_not_fit_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        let recorder = start(folder.path());
        let chunk = vec![b'x'; 1 << 20];
        for _ in 0..40 {
            recorder.take(Direction::In, &chunk);
            while recorder.waiting.bytes.load(Ordering::Relaxed) > QUEUE_BYTES / 2 {
                std::thread::yield_now();
            }
        }
        recorder.take(Direction::In, b"\n{}\n");
        // As if the queue had been full for a moment.
        recorder.lost[index(Direction::In)].store(7, Ordering::Relaxed);
        recorder.take(Direction::In, b"half of a line\n{\"c\":3}\n");
        recorder.finish(None);
        let [info] = &list(folder.path())[..] else {
            panic!("one session")
        };
        let lines = lines(info);
        let value = |at: usize| serde_json::from_str::<serde_json::Value>(&lines[at]).unwrap();
        assert_eq!(value(0)["text"].as_str().unwrap().len(), LINE_BYTES);
        assert_eq!(value(1)["cut"], 40 << 20);
        assert_eq!(value(2)["text"], "{}");
        assert_eq!(
            (&value(3)["lost"], &value(3)["dir"]),
            (&7.into(), &"in".into())
        );
        // The line whose beginning is missing is none.
        assert_eq!(value(4)["text"], "{\"c\":3}");
    }

    #[test]
    fn a_message_of_several_lines_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let recorder = start(folder.path());
        recorder.take_message(Direction::In, Bytes::from_static(b"{\r\n\"a\":\n1}\n"), 0);
        recorder.take_message(Direction::In, Bytes::from_static(b"{"), 7);
        recorder.finish(None);
        let [info] = &list(folder.path())[..] else {
            panic!("one session")
        };
        let lines = lines(info);
        let value = |at: usize| serde_json::from_str::<serde_json::Value>(&lines[at]).unwrap();
        assert_eq!(value(0)["text"], "{  \"a\": 1}");
        assert_eq!(
            (&value(1)["text"], &value(2)["cut"]),
            (&"{".into(), &8.into())
        );
    }

    #[test]
    fn a_full_record_takes_no_more_and_says_so() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut record = Record {
            file: BufWriter::new(file.reopen().unwrap()),
            written: RECORD_BYTES - 3,
            over: 0,
            options: RedactOptions::default(),
            together: Vec::new(),
            together_bytes: 0,
        };
        let mut lines = Lines::default();
        let mut take = |bytes: &'static [u8]| {
            let chunk = Chunk {
                at: Duration::ZERO,
                direction: Direction::In,
                bytes: Bytes::from_static(bytes),
                lost: 0,
                message_over: None,
            };
            record.take(&mut lines, &chunk).unwrap();
        };
        take(b"{}\n");
        take(b"{\"a\":1}\n");
        record.write_together().unwrap();
        record.file.flush().unwrap();
        assert_eq!(record.over, 7);
        assert_eq!(fs::read_to_string(file.path()).unwrap().lines().count(), 1);
    }

    #[test]
    fn what_is_left_out_at_the_end_is_counted_whole() {
        let folder = tempfile::tempdir().unwrap();
        let recorder = start(folder.path());
        recorder.waiting.is_late.store(true, Ordering::Relaxed);
        recorder.lost[index(Direction::In)].store(500, Ordering::Relaxed);
        recorder.take(Direction::In, b"{}\n");
        recorder.lost[index(Direction::Out)].store(40, Ordering::Relaxed);
        recorder.finish(None);
        let lines = lines(&list(folder.path())[0]);
        let last: serde_json::Value = serde_json::from_str(&lines[0]).unwrap();
        assert_eq!((lines.len(), &last["lost"]), (1, &543.into()));
    }
}
