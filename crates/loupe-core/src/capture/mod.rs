//! The immutable record of one call, and its lenient reading.
//!
//! A [`Capture`] holds bytes: the exact request, response and every other message. What is shown is computed
//! from them by [`ParsedResponse::new`] and its neighbours, which never fail: an odd answer is data with faults next to
//! it. Deliberately no SDK types and no serde; the disk and JSON forms belong to `store` and `contract`.

mod block;
mod connect_steps;
mod data;
mod extra;
pub mod facts;
mod media;
mod response;
mod server_lists;
mod tool;
mod uri_template;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use time::OffsetDateTime;

pub use block::{Block, BlockKind};
pub use connect_steps::{Step, StepState, milliseconds};
pub use data::{Origin, ReadText, ResultData, TextSource, blocks, is_wrapped};
pub use extra::extra_text;
pub(crate) use facts::count_facts;
pub use facts::{
    Fact, FactCount, FactMatches, FactState, KeptPart, Record, locate_facts, locate_kept_facts,
};
pub use response::{ParsedResponse, ResponseIndex, RpcError};
pub use server_lists::{Prompt, PromptArgument, Resource, ServerLists, listed_tools};
pub use tool::{Annotations, Hint, Tool};
pub use uri_template::{TemplateValue, expand_template, template_names};
pub use wire::{Line, LineKind};

use crate::problem::Problem;

/// Which capture it is: no other has it, in this run or another. What is kept of a capture, shown of it or out for it is
/// known by this. A call gets one when it is made; what is opened has a digest of its content, so that the same capture
/// opened twice is one, and another under the same [`Capture::name`] is not. Never shown.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CaptureId(pub Arc<str>);

/// How a call ended.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    strum::IntoStaticStr,
    strum::EnumString,
    strum::VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub enum Outcome {
    /// A result with a `result`.
    Result,
    /// A `result` with `isError: true`.
    ToolError,
    /// A JSON-RPC `error`.
    ProtocolError,
    /// A result that cannot be read as either.
    Malformed,
    Timeout,
    Cancelled,
    /// Server disconnected before responding.
    Disconnected,
}

impl Outcome {
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// The name in reports and manifests.
    pub fn name(self) -> &'static str {
        self.into()
    }

    pub fn parse(name: &str) -> Option<Self> {
        name.parse().ok()
    }
}

/// Who answered, as it named itself in the handshake.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Server {
    /// The name that it gives itself.
    pub name: String,
    /// The name given to it in a client's configuration or by `mcp add`.
    pub given_name: Option<String>,
    pub version: String,
    pub protocol_version: String,
    /// `stdio`, `http`, `in-process`, `fixture` or `file`.
    pub transport: String,
    pub instructions: Option<String>,
    /// How the server was reached, redacted: the text of [`crate::source::Source`].
    pub source: String,
    /// The `capabilities` object as it came; `None` where it is not known.
    pub capabilities: Option<Bytes>,
}

impl Server {
    /// The name for people: the given one, else its own.
    pub fn label(&self) -> &str {
        self.given_name.as_deref().unwrap_or(&self.name)
    }

    /// Its own name and version, behind the name given to it: `clock: mcp-time 1.2`.
    pub fn heading(&self) -> String {
        let own = format!("{} {}", self.name, self.version);
        match &self.given_name {
            Some(given) => format!("{given}: {}", own.trim()),
            None => own,
        }
    }

    /// Whether the server declares what is at this JSON Pointer of its capabilities. `false` and `null` declare nothing.
    pub fn declares(&self, pointer: &str) -> bool {
        let doc = crate::json::Doc::parse(self.capabilities.clone().unwrap_or_default());
        doc.at(pointer)
            .is_some_and(|node| !node.is_null() && node.as_bool() != Some(false))
    }
}

/// The direction of a message, seen from Loupe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Direction {
    In,
    Out,
    Stderr,
}

impl Direction {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// One message on the wire, exactly as it went or came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Monotonic time since the session began (in a capture: since the call began).
    pub at: Duration,
    pub direction: Direction,
    pub bytes: Bytes,
}

/// What HTTP said about the result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpInfo {
    pub status: u16,
    /// Response headers by name; values of sensitive ones are masked when the capture is made.
    pub headers: Vec<(String, String)>,
}

/// Where the time of a call went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Until the request had left.
    pub send: Duration,
    /// From there until the first byte of the result.
    pub server: Duration,
    /// From there until its last byte.
    pub receive: Duration,
}

impl Timings {
    pub fn total(self) -> Duration {
        self.send + self.server + self.receive
    }
}

/// What was hidden at one place when a capture was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redaction {
    /// The part of the capture: a file's name, such as `response.json`, or a member of the manifest, such as `server.source`.
    pub part: String,
    /// JSON Pointer within that part (`#/…` continues inside JSON that is in a text); empty where it is no JSON.
    pub path: String,
    /// What it was taken for, such as `member` or `github-token`.
    pub kind: String,
    /// How many times at this place.
    pub count: u64,
}

/// What a capture folder holds next to the record; it goes into the next folder that is written of the capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtraFiles {
    /// Members of the manifest that this version does not know: pointer of the object, key, exact value.
    pub members: Vec<(String, String, Bytes)>,
    /// What was hidden, in order; the bytes are those that were sent or came where this is empty.
    pub redactions: Vec<Redaction>,
}

/// The immutable record of one call.
#[derive(Clone, Debug, PartialEq)]
pub struct Capture {
    pub id: CaptureId,
    /// What people and reports call it, such as `001-search`: two captures may have the same.
    pub name: Arc<str>,
    pub server: Server,
    /// The definition as listed when the call was made; a bare name where the tool was not listed.
    pub tool: Tool,
    /// The arguments exactly as they were written into the request.
    pub arguments: Bytes,
    pub started_at: OffsetDateTime,
    pub timings: Timings,
    pub outcome: Outcome,
    /// The request message; empty where the capture was opened from a bare result.
    pub request: Bytes,
    /// The response message: on stdio the line without its LF or CRLF, over HTTP the decoded body or the event's data.
    pub response: Option<Bytes>,
    pub index: ResponseIndex,
    /// Every other message of the call, in order.
    pub messages: Vec<Message>,
    pub http: Option<HttpInfo>,
    /// Why there is no usable answer, or what was odd on the way.
    pub problem: Option<Problem>,
    /// Oddities that did not keep the result from coming ("1 unreadable line came").
    pub notes: Vec<String>,
    /// What the folder held that it was read from; empty for a call that was just made.
    pub carried: ExtraFiles,
    /// How its texts are read as data. The user's choice, and no part of the record.
    pub read_text: ReadText,
}

impl Capture {
    /// The note of a capture whose response message Loupe wrote around what a file held, only to be able to read it.
    pub const NO_WIRE: &str =
        "opened from a file that holds no message, so there is nothing on the wire to show";

    /// One with nothing in it yet, of a tool that no list was there for; named as its id says.
    pub fn empty(id: CaptureId, server: Server) -> Self {
        let mut tool = Tool::unlisted("");
        tool.faults.clear();
        Self {
            name: Arc::clone(&id.0),
            id,
            server,
            tool,
            arguments: Bytes::new(),
            started_at: OffsetDateTime::UNIX_EPOCH,
            timings: Timings::default(),
            outcome: Outcome::Result,
            request: Bytes::new(),
            response: None,
            index: ResponseIndex::default(),
            messages: Vec::new(),
            http: None,
            problem: None,
            notes: Vec::new(),
            carried: ExtraFiles::default(),
            read_text: ReadText::Auto,
        }
    }

    /// With its texts read as was asked for; [`ReadText::Auto`] leaves what was chosen before.
    #[must_use]
    pub fn read_as(self, how: &ReadText) -> Self {
        match how {
            ReadText::Auto => self,
            how => Self {
                read_text: how.clone(),
                ..self
            },
        }
    }

    /// Whether `response` is a message that was sent, rather than one written around a bare result, data or text.
    pub fn has_wire(&self) -> bool {
        self.response.is_some() && !self.notes.iter().any(|note| note == Self::NO_WIRE)
    }

    /// Whether a result is in it, rather than data or a text from a file around which Loupe wrote one.
    pub fn has_result(&self) -> bool {
        let is_part = self.server.transport == "file"
            && ["data ", "text "]
                .iter()
                .any(|kind| self.server.source.starts_with(kind));
        self.response.is_some() && !is_part
    }

    /// Bytes of the response, 0 where none came.
    pub fn wire_len(&self) -> usize {
        self.response.as_ref().map_or(0, Bytes::len)
    }
}
