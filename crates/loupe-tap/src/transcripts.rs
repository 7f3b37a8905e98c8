//! The transcripts that hosts keep on this machine: which tool calls their models made, and what those were given.
//!
//! One file per host. Nothing is read before [`TranscriptHost::read`], which is called where the user asked for it. Only
//! files that were changed since the session began are opened; a line that is not understood is passed over.

mod claude_code;
mod codex;
mod continue_cli;
mod gemini_cli;
mod opencode;
mod qwen_code;

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use loupe_analysis::queries::{GivenCall, GivenPart};
use loupe_core::json::{Doc, Kind, Node};
use loupe_core::problem::{Problem, ProblemKind};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Every host whose transcripts can be read.
pub static TRANSCRIPT_HOSTS: &[TranscriptHost] = &[
    claude_code::HOST,
    codex::HOST,
    gemini_cli::HOST,
    opencode::HOST,
    qwen_code::HOST,
    continue_cli::HOST,
];

/// A longer line is passed over.
const MOST_OF_LINE: u64 = 64 << 20;
/// A larger file that is one document is not read.
const MOST_OF_DOCUMENT: u64 = 256 << 20;
/// Files of one session's time, the newest first.
const MOST_FILES: usize = 1000;
/// Folders within folders.
const DEEPEST: usize = 8;
/// Clocks and writes of host and tap differ by less.
const SLACK: Duration = Duration::from_secs(30);

/// A host that keeps transcripts.
pub struct TranscriptHost {
    /// Its id among the hosts whose rules are known.
    pub id: &'static str,
    pub name: &'static str,
    /// Versions whose transcripts were read and compared with what the model got.
    pub versions: &'static [&'static str],
    /// How to write a transcript that is in no file, such as `opencode export SESSION > FILE`.
    pub export: Option<&'static str>,
    /// How its client names itself; `*` at the end is anything.
    client: &'static str,
    folder: fn(&Places<'_>) -> Option<PathBuf>,
    /// Whether a file below the folder is a transcript.
    is_transcript: fn(&Path) -> bool,
    format: Format,
}

enum Format {
    /// JSON Lines; only lines with one of the words are read.
    Lines {
        words: &'static [&'static str],
        read: fn(&Doc, &mut Found),
    },
    /// One JSON document.
    Document(fn(&Doc, &mut Found)),
}

/// The environment that says where a host keeps its files.
pub struct Places<'a> {
    variable: &'a dyn Fn(&str) -> Option<OsString>,
}

impl Places<'_> {
    /// The folder in a variable, else `name` below the home folder.
    fn folder(&self, variable: &str, name: &str) -> Option<PathBuf> {
        self.path(variable)
            .or_else(|| Some(self.home()?.join(name)))
    }

    fn path(&self, variable: &str) -> Option<PathBuf> {
        (self.variable)(variable)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    }

    fn home(&self) -> Option<PathBuf> {
        self.path(if cfg!(windows) { "USERPROFILE" } else { "HOME" })
    }
}

/// The time of a session.
#[derive(Clone, Copy, Debug)]
pub struct TimeSpan {
    pub from: OffsetDateTime,
    /// `None` while it runs.
    pub to: Option<OffsetDateTime>,
}

impl TimeSpan {
    fn holds(&self, at: OffsetDateTime) -> bool {
        at >= self.from - SLACK && !self.is_before(at)
    }

    /// Whether the session was over by then.
    fn is_before(&self, at: OffsetDateTime) -> bool {
        self.to.is_some_and(|to| at > to + SLACK)
    }
}

/// What was read of a host's transcripts.
#[derive(Clone, Debug, Default)]
pub struct HostTranscript {
    /// Those with calls in the session's time.
    pub files: Vec<PathBuf>,
    /// The host's versions that they name.
    pub versions: BTreeSet<String>,
    /// The calls that have a result, in their order.
    pub calls: Vec<GivenCall>,
}

/// The host whose client names itself so in `initialize`.
pub fn host_of(client: &str) -> Option<&'static TranscriptHost> {
    TRANSCRIPT_HOSTS
        .iter()
        .find(|host| match host.client.strip_suffix('*') {
            Some(begin) => client.starts_with(begin),
            None => client == host.client,
        })
}

/// The host with this id among those whose rules are known.
pub fn host_by_id(id: &str) -> Option<&'static TranscriptHost> {
    TRANSCRIPT_HOSTS.iter().find(|host| host.id == id)
}

impl TranscriptHost {
    /// Where this host keeps its transcripts; `None` where that is not known, or they are in no file.
    pub fn folder(&self) -> Option<PathBuf> {
        self.folder_in(&|name| std::env::var_os(name))
    }

    fn folder_in(&self, variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        (self.folder)(&Places { variable })
    }

    /// Whether transcripts of all these versions were read before, and compared with what the model got.
    pub fn knows<'v>(&self, versions: impl IntoIterator<Item = &'v String>) -> bool {
        versions
            .into_iter()
            .all(|version| self.versions.contains(&version.as_str()))
    }

    /// Reads a transcript, or all below a folder, of the time of a session.
    ///
    /// # Errors
    /// The path is not there, or a file cannot be read.
    pub fn read(&self, path: &Path, span: TimeSpan) -> Result<HostTranscript, Problem> {
        let failed = |error: std::io::Error| {
            Problem::new(ProblemKind::Io, format!("cannot read: {error}"))
                .at(path.display().to_string())
        };
        let metadata = fs::metadata(path).map_err(failed)?;
        let files = if metadata.is_dir() {
            self.files(path, span)
        } else {
            vec![path.to_owned()]
        };
        let mut found = Found {
            span: Some(span),
            ..Found::default()
        };
        let mut read = Vec::new();
        for file in files {
            let before = found.calls.len();
            let outcome = self.read_file(&file, &mut found);
            // One of many that cannot be read hides no other.
            if !metadata.is_dir() {
                outcome.map_err(failed)?;
            }
            if found.calls.len() > before {
                read.push(file);
            }
        }
        let mut calls = found.calls;
        calls.retain(|entry| entry.is_answered);
        // Calls of several files stand in the order of their time; those without one stay where they are.
        calls.sort_by_key(|entry| entry.call.at);
        Ok(HostTranscript {
            files: read,
            versions: found.versions,
            calls: calls.into_iter().map(|entry| entry.call).collect(),
        })
    }

    /// The transcripts below a folder that were changed since the session began, the newest first.
    fn files(&self, folder: &Path, span: TimeSpan) -> Vec<PathBuf> {
        let since = SystemTime::from(span.from - SLACK);
        let mut found = Vec::new();
        let mut left = vec![(folder.to_owned(), 0)];
        while let Some((folder, depth)) = left.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                // Links are not followed.
                let Ok(kind) = entry.file_type() else {
                    continue;
                };
                let path = entry.path();
                if kind.is_dir() {
                    if depth < DEEPEST {
                        left.push((path, depth + 1));
                    }
                } else if kind.is_file() && (self.is_transcript)(&path) {
                    let changed = entry.metadata().and_then(|metadata| metadata.modified());
                    if let Ok(changed) = changed
                        && changed >= since
                    {
                        found.push((changed, path));
                    }
                }
            }
        }
        found.sort_by(|a, b| b.cmp(a));
        found.truncate(MOST_FILES);
        found.into_iter().map(|(_, path)| path).collect()
    }

    fn read_file(&self, path: &Path, found: &mut Found) -> std::io::Result<()> {
        let file = File::open(path)?;
        match &self.format {
            Format::Document(read) => {
                let mut bytes = Vec::new();
                file.take(MOST_OF_DOCUMENT + 1).read_to_end(&mut bytes)?;
                if bytes.len() as u64 > MOST_OF_DOCUMENT {
                    return Err(std::io::Error::other("too large for one document"));
                }
                read(&Doc::parse(Bytes::from(bytes)), found);
            }
            Format::Lines { words, read } => {
                let mut file = BufReader::with_capacity(1 << 16, file);
                found.is_over = false;
                while !found.is_over {
                    match next_line(&mut file, MOST_OF_LINE)? {
                        Some(line) => {
                            let has_word = words
                                .iter()
                                .any(|word| memchr::memmem::find(&line, word.as_bytes()).is_some());
                            if has_word {
                                read(&Doc::parse(Bytes::from(line)), found);
                            }
                        }
                        None => break,
                    }
                }
            }
        }
        Ok(())
    }
}

/// The next line, nothing of one that is too long; `None` at the end.
fn next_line(file: &mut impl BufRead, most: u64) -> std::io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let length = (&mut *file).take(most).read_until(b'\n', &mut line)?;
    if length == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') || (length as u64) < most {
        return Ok(Some(line));
    }
    // The rest of a line that is too long.
    loop {
        line.clear();
        let length = (&mut *file).take(most).read_until(b'\n', &mut line)?;
        if length == 0 || line.last() == Some(&b'\n') {
            return Ok(Some(Vec::new()));
        }
    }
}

struct Entry {
    call: GivenCall,
    is_answered: bool,
}

/// What a reader has found so far.
#[derive(Default)]
struct Found {
    span: Option<TimeSpan>,
    versions: BTreeSet<String>,
    calls: Vec<Entry>,
    /// Positions of calls by their ids.
    by_id: HashMap<String, usize>,
    /// Calls that were seen: a session that goes on in another file begins with a copy.
    seen: BTreeSet<(String, Option<OffsetDateTime>)>,
    /// The file has come to a time after the session.
    is_over: bool,
}

impl Found {
    /// A call that the model made.
    fn call(&mut self, id: &str, call: GivenCall) {
        if let (Some(span), Some(at)) = (self.span, call.at) {
            if span.is_before(at) {
                self.is_over = true;
                return;
            }
            if !span.holds(at) {
                self.by_id.remove(id);
                return;
            }
        }
        if !self.seen.insert((id.to_owned(), call.at)) {
            return;
        }
        self.by_id.insert(id.to_owned(), self.calls.len());
        self.calls.push(Entry {
            call,
            is_answered: false,
        });
    }

    /// What it was given. The first counts.
    fn result(&mut self, id: &str, fill: impl FnOnce(&mut GivenCall)) {
        let entry = self.by_id.get(id).and_then(|at| self.calls.get_mut(*at));
        if let Some(entry) = entry.filter(|entry| !entry.is_answered) {
            fill(&mut entry.call);
            entry.is_answered = true;
        }
    }

    /// The host's version, where the document names it at this place.
    fn version(&mut self, doc: &Doc, pointer: &str) {
        let version = doc.at(pointer).and_then(Node::as_str);
        if let Some(version) = version.filter(|version| !version.is_empty()) {
            self.versions.insert(version.into_owned());
        }
    }
}

fn text(node: Node<'_>, key: &str) -> Option<String> {
    Some(node.get(key)?.as_str()?.into_owned())
}

/// A time as RFC 3339.
fn time(node: Option<Node<'_>>) -> Option<OffsetDateTime> {
    OffsetDateTime::parse(&node?.as_str()?, &Rfc3339).ok()
}

/// The raw JSON of a member, or of the text in it.
fn arguments(node: Option<Node<'_>>) -> Bytes {
    match node {
        Some(node) if node.kind() == Kind::String => {
            Bytes::from(node.as_str().unwrap_or_default().into_owned())
        }
        Some(node) => node.raw_bytes(),
        None => Bytes::new(),
    }
}

/// A medium by the type in its `data:` URL.
fn media_of_url(url: &str) -> Option<GivenPart> {
    let (mime, _) = url.strip_prefix("data:")?.split_once([';', ','])?;
    Some(GivenPart::Media(mime.to_owned()))
}

#[cfg(test)]
mod tests;
