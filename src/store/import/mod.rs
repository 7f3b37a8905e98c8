//! Files of many results: what proxies, browsers and hosts wrote. One file per kind, one list.
//!
//! Every kind is brought down to [`Entry`]s, messages in the order of the file, and [`pair`] makes captures of those:
//! a request and its result are one capture, what `initialize` and `tools/list` said goes into all of them. Messages that
//! are in the file as text keep their bytes.

mod claude_code;
mod har;
mod messages;
mod pair;
mod session;
#[cfg(test)]
mod tests;

use std::cell::OnceCell;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use time::OffsetDateTime;

use super::MOST_OF_ANSWERS;
use loupe_analysis::queries::{Definitions, SessionCalls};
use loupe_core::capture::{Capture, CaptureId, Direction, HttpInfo, Server, Timings};
use loupe_core::digest::sha256;
use loupe_core::json::Doc;
use loupe_core::problem::{Problem, ProblemKind};

use pair::Paired;
pub use session::SessionReader;

/// So many digits of a digest tell two files of one name apart, for people.
pub(in crate::store) const SHORT: usize = 8;

/// What a file is taken for.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, strum::EnumString, strum::VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub enum ReadAs {
    Capture,
    /// A raw `CallToolResult`.
    Result,
    /// A JSON-RPC message.
    Message,
    /// Any other JSON.
    Data,
    Text,
    /// JSON Lines of messages.
    Messages,
    /// An HTTP archive.
    Har,
    /// A record of a Claude Code session.
    ClaudeCode,
}

impl From<Paired> for SessionCalls {
    fn from(paired: Paired) -> Self {
        Self {
            definitions: Definitions {
                server: paired.server,
                tools: paired.tools.into_iter().map(Arc::new).collect(),
            },
            captures: paired.captures.into_iter().map(Arc::new).collect(),
            client: paired.client,
            client_version: paired.client_version,
        }
    }
}

impl ReadAs {
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    pub fn name(self) -> &'static str {
        self.into()
    }

    pub fn parse(name: &str) -> Option<Self> {
        name.parse().ok()
    }
}

/// A capture with nothing in it yet, of something that was read from a file.
pub(in crate::store) fn empty_capture(id: CaptureId, transport: &str, source: String) -> Capture {
    Capture::empty(
        id,
        Server {
            transport: transport.into(),
            source,
            ..Server::default()
        },
    )
}

/// A kind of file with many results.
pub(super) struct Importer {
    pub kind: ReadAs,
    /// What it is, for people: "an HTTP archive".
    pub title: &'static str,
    /// Whether a file looks like it; asked in the order of the list.
    pub detect: fn(&Input<'_>) -> bool,
    /// What it tells, which may be no result.
    pub read: fn(&Input<'_>) -> Result<Paired, Problem>,
}

impl Importer {
    /// The results of a file, at least one.
    ///
    /// # Errors
    /// It cannot be read, or no result of a server is in it.
    pub fn captures(&self, input: &Input<'_>) -> Result<Vec<Capture>, Problem> {
        let captures = (self.read)(input)?.captures;
        if captures.is_empty() {
            return Err(input.nothing(self.title));
        }
        Ok(captures)
    }
}

/// Every kind, the most telling first.
pub(super) static IMPORTERS: &[Importer] =
    &[har::IMPORTER, claude_code::IMPORTER, messages::IMPORTER];

/// The file.
pub(super) struct Input<'a> {
    pub bytes: &'a Bytes,
    /// Its name, for messages and ids.
    pub name: &'a str,
    /// The whole as JSON; see [`Doc::is_json`].
    pub doc: Doc,
    /// Of the bytes; made once, however many results there are.
    digest: OnceCell<String>,
}

impl<'a> Input<'a> {
    pub fn of(bytes: &'a Bytes, name: &'a str) -> Self {
        Self {
            bytes,
            name,
            doc: Doc::parse(bytes.clone()),
            digest: OnceCell::new(),
        }
    }

    /// The lines that hold something, each shared with the file.
    pub fn lines(&self) -> impl Iterator<Item = Bytes> {
        let bytes = self.bytes;
        bytes.split(|&byte| byte == b'\n').filter_map(move |line| {
            let line = line.trim_ascii();
            (!line.is_empty()).then(|| bytes.slice_ref(line))
        })
    }

    /// An empty capture of it, of this number.
    fn capture(&self, number: usize, transport: &str, source: String) -> Capture {
        let digest = self.digest.get_or_init(|| sha256(self.bytes));
        let named = |digest: &str| format!("{}-{digest}-{number}", self.name).into();
        Capture {
            name: named(&digest[..SHORT]),
            ..empty_capture(CaptureId(named(digest)), transport, source)
        }
    }

    fn nothing(&self, what: &str) -> Problem {
        Problem::new(
            ProblemKind::Io,
            format!("{what} without an answer of an MCP server"),
        )
        .at(self.name)
        .hint("`--read-as data` or `--read-as text` shows the file as it is")
    }
}

/// A message of a file.
#[derive(Default)]
pub(super) struct Entry {
    pub bytes: Bytes,
    /// Seen from the client; `None` where the file does not say.
    pub direction: Option<Direction>,
    /// Since the first message.
    pub at: Option<Duration>,
    pub started_at: Option<OffsetDateTime>,
    /// Of the result, where the file tells.
    pub timings: Option<Timings>,
    pub http: Option<HttpInfo>,
    pub url: Option<String>,
}

/// The importer for what a file is said to be.
pub(super) fn by_kind(kind: ReadAs) -> Option<&'static Importer> {
    IMPORTERS.iter().find(|importer| importer.kind == kind)
}

/// The importer for a file that looks like one of the list.
pub(super) fn detect(input: &Input<'_>) -> Option<&'static Importer> {
    IMPORTERS.iter().find(|importer| (importer.detect)(input))
}
