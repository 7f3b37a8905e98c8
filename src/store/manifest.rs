//! `capture.json`: everything about a capture but its messages. Its own types, so that inner ones may change.
//!
//! Exact bytes are in it as they are where they are JSON, else as base64. Unknown fields are left alone; a newer
//! schema is refused before anything else is read.

use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::{REQUEST, StoreError, duration};
use loupe_analysis::contract::message_line;
use loupe_core::capture::{
    Capture, CaptureId, ExtraFiles, HttpInfo, Message, Outcome, Redaction, ResponseIndex, Server,
    Timings, Tool,
};
use loupe_core::digest::sha256;
use loupe_core::json::Doc;
use loupe_core::json::write::string;
use loupe_core::number::milliseconds;
use loupe_core::problem::{Problem, ProblemKind};

const SCHEMA: &str = "loupe.capture/1";

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Manifest {
    schema: String,
    /// The version that wrote it.
    loupe: String,
    id: String,
    server: ServerPart,
    tool: ToolPart,
    arguments: Exact,
    started_at: String,
    timings: TimingsPart,
    outcome: String,
    request: Option<DigestPart>,
    response: Option<DigestPart>,
    http: Option<HttpPart>,
    problem: Option<ProblemPart>,
    notes: Vec<String>,
    /// What was hidden when it was written.
    #[serde(default)]
    redactions: Vec<RedactionPart>,
    /// What this version does not know, from the folder that the capture was read from: see [`ExtraFiles::members`].
    #[serde(skip)]
    members: Vec<(String, String, Bytes)>,
}

#[derive(Clone, Deserialize, Serialize)]
struct RedactionPart {
    part: String,
    path: String,
    kind: String,
    count: u64,
}

/// The members that this version knows, by the pointer of the object they are in.
const KNOWN: &[(&str, &[&str])] = &[
    (
        "",
        &[
            "schema",
            "loupe",
            "id",
            "server",
            "tool",
            "arguments",
            "startedAt",
            "timings",
            "outcome",
            "request",
            "response",
            "http",
            "problem",
            "notes",
            "redactions",
        ],
    ),
    (
        "/server",
        &[
            "name",
            "givenName",
            "version",
            "protocolVersion",
            "transport",
            "instructions",
            "source",
        ],
    ),
    ("/tool", &["name", "definition", "faults"]),
    ("/timings", &["sendMs", "serverMs", "receiveMs"]),
    ("/request", &["bytes", "sha256"]),
    ("/response", &["bytes", "sha256"]),
    ("/http", &["status", "headers"]),
    ("/problem", &["kind", "what", "place", "hint"]),
];

#[derive(Deserialize)]
struct SchemaOnly {
    schema: String,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct ServerPart {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    given_name: Option<String>,
    version: String,
    protocol_version: String,
    transport: String,
    instructions: Option<String>,
    /// How it was reached, values of variables and headers left out.
    source: String,
}

#[derive(Deserialize, Serialize)]
struct ToolPart {
    name: String,
    definition: Option<Exact>,
    faults: Vec<String>,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct TimingsPart {
    send_ms: f64,
    server_ms: f64,
    receive_ms: f64,
}

#[derive(Deserialize, Serialize)]
struct DigestPart {
    bytes: u64,
    sha256: String,
}

impl DigestPart {
    fn new(bytes: &[u8]) -> Self {
        Self {
            bytes: bytes.len() as u64,
            sha256: sha256(bytes),
        }
    }
}

#[derive(Deserialize, Serialize)]
struct HttpPart {
    status: u16,
    /// Pairs of name and value; sensitive values were masked when the capture was made.
    headers: Vec<(String, String)>,
}

#[derive(Deserialize, Serialize)]
struct ProblemPart {
    kind: String,
    what: String,
    place: String,
    hint: Option<String>,
}

/// Bytes that must come back exactly: as JSON where they are one value without space around, else as base64.
#[derive(Deserialize, Serialize)]
struct Exact {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    json: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
}

impl Exact {
    fn of(bytes: &[u8]) -> Self {
        let json = std::str::from_utf8(bytes)
            .ok()
            // `null` would read back as nothing.
            .filter(|text| *text != "null")
            .and_then(|text| RawValue::from_string(text.to_owned()).ok())
            .filter(|value| value.get().len() == bytes.len());
        let base64 = json.is_none().then(|| BASE64_STANDARD.encode(bytes));
        Self { json, base64 }
    }

    fn bytes(self, what: &str, folder: &Path) -> Result<Bytes, StoreError> {
        match (self.json, self.base64) {
            (Some(json), None) => Ok(Bytes::from(String::from(Box::<str>::from(json)))),
            (None, Some(text)) => BASE64_STANDARD
                .decode(text)
                .map(Bytes::from)
                .map_err(|error| StoreError::damaged(folder, format!("{what}: {error}"))),
            _ => Err(StoreError::damaged(
                folder,
                format!("{what} needs either `json` or `base64`"),
            )),
        }
    }
}

impl Manifest {
    pub(super) fn new(capture: &Capture) -> Self {
        let request = (!capture.request.is_empty()).then(|| DigestPart::new(&capture.request));
        Self::with(
            capture,
            request,
            capture.response.as_deref().map(DigestPart::new),
        )
    }

    fn with(capture: &Capture, request: Option<DigestPart>, response: Option<DigestPart>) -> Self {
        let Server {
            name,
            given_name,
            version,
            protocol_version,
            transport,
            instructions,
            source,
            capabilities: _,
        } = capture.server.clone();
        Self {
            schema: SCHEMA.to_owned(),
            loupe: env!("CARGO_PKG_VERSION").to_owned(),
            id: capture.name.to_string(),
            server: ServerPart {
                name,
                given_name,
                version,
                protocol_version,
                transport,
                instructions,
                source,
            },
            tool: ToolPart {
                name: capture.tool.name.clone(),
                definition: (!capture.tool.raw.is_empty()).then(|| Exact::of(&capture.tool.raw)),
                faults: capture.tool.faults.clone(),
            },
            arguments: Exact::of(&capture.arguments),
            // Only years beyond 9999 and odd seconds in an offset are refused; Loupe's own clock gives neither.
            started_at: capture
                .started_at
                .format(&Rfc3339)
                .unwrap_or_else(|_| "1970-01-01T00:00:00Z".to_owned()),
            timings: TimingsPart {
                send_ms: milliseconds(capture.timings.send),
                server_ms: milliseconds(capture.timings.server),
                receive_ms: milliseconds(capture.timings.receive),
            },
            outcome: capture.outcome.name().to_owned(),
            request,
            response,
            http: capture
                .http
                .clone()
                .map(|HttpInfo { status, headers }| HttpPart { status, headers }),
            problem: capture.problem.clone().map(
                |Problem {
                     kind,
                     what,
                     place,
                     hint,
                     ..
                 }| ProblemPart {
                    kind: kind.name().to_owned(),
                    what,
                    place,
                    hint,
                },
            ),
            notes: capture.notes.clone(),
            redactions: capture
                .carried
                .redactions
                .iter()
                .map(RedactionPart::new)
                .collect(),
            members: capture.carried.members.clone(),
        }
    }

    pub(super) fn text(&self) -> String {
        // Nothing in it that JSON cannot hold.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        for (parent, key, value) in &self.members {
            text = with_member(text, parent, key, value);
        }
        text.push('\n');
        text
    }

    pub(super) fn parse(text: &[u8], folder: &Path) -> Result<Self, StoreError> {
        let damaged = |error: serde_json::Error| {
            StoreError::damaged(folder, format!("capture.json: {error}"))
        };
        let SchemaOnly { schema } = serde_json::from_slice(text).map_err(damaged)?;
        if schema != SCHEMA {
            let number = schema
                .strip_prefix("loupe.capture/")
                .and_then(|number| number.parse::<u32>().ok());
            return Err(match number {
                Some(2..) => StoreError::Newer {
                    path: folder.to_owned(),
                    schema,
                },
                _ => {
                    StoreError::damaged(folder, format!("capture.json: unknown schema `{schema}`"))
                }
            });
        }
        let mut manifest: Self = serde_json::from_slice(text).map_err(damaged)?;
        manifest.members = unknown_members(text);
        Ok(manifest)
    }

    /// Refuses a message of another length before it is read.
    pub(super) fn check_length(
        &self,
        name: &str,
        bytes: u64,
        folder: &Path,
    ) -> Result<(), StoreError> {
        let expected = if name == REQUEST {
            &self.request
        } else {
            &self.response
        };
        match expected {
            Some(digest) if digest.bytes != bytes => Err(StoreError::damaged(
                folder,
                format!("{name} has {bytes} bytes, not {}", digest.bytes),
            )),
            None => Err(StoreError::damaged(
                folder,
                format!("{name} does not belong there"),
            )),
            _ => Ok(()),
        }
    }

    pub(super) fn check_digest(
        &self,
        name: &str,
        bytes: Option<&[u8]>,
        folder: &Path,
    ) -> Result<(), StoreError> {
        let expected = if name == REQUEST {
            &self.request
        } else {
            &self.response
        };
        let why = match (expected, bytes) {
            (None, None) => return Ok(()),
            (Some(_), None) => "is missing".to_owned(),
            (None, Some(_)) => "does not belong there".to_owned(),
            (Some(digest), Some(bytes)) if digest.sha256 != sha256(bytes) => {
                "is not what was written: its digest differs".to_owned()
            }
            _ => return Ok(()),
        };
        Err(StoreError::damaged(folder, format!("{name} {why}")))
    }

    pub(super) fn capture(
        self,
        request: Bytes,
        response: Option<Bytes>,
        messages: Vec<Message>,
        folder: &Path,
    ) -> Result<Capture, StoreError> {
        let bad = |what: &str, value: &str| {
            StoreError::damaged(folder, format!("capture.json: {what} `{value}`"))
        };
        let outcome =
            Outcome::parse(&self.outcome).ok_or_else(|| bad("unknown outcome", &self.outcome))?;
        let started_at = OffsetDateTime::parse(&self.started_at, &Rfc3339)
            .map_err(|_| bad("`startedAt` is not a time:", &self.started_at))?;
        let time =
            |value: f64| duration(value).ok_or_else(|| bad("no duration:", &value.to_string()));
        let timings = Timings {
            send: time(self.timings.send_ms)?,
            server: time(self.timings.server_ms)?,
            receive: time(self.timings.receive_ms)?,
        };
        let mut tool = match self.tool.definition {
            Some(definition) => Tool::read(definition.bytes("tool.definition", folder)?),
            None => Tool::unlisted(&self.tool.name),
        };
        tool.name = self.tool.name;
        tool.faults = self.tool.faults;
        let problem = match self.problem {
            Some(problem) => {
                let known = ProblemKind::ALL
                    .iter()
                    .find(|(_, name, _)| *name == problem.kind);
                let &(kind, ..) =
                    known.ok_or_else(|| bad("unknown kind of problem", &problem.kind))?;
                Some(Problem {
                    kind,
                    what: problem.what,
                    place: problem.place,
                    hint: problem.hint,
                    cause: None,
                })
            }
            None => None,
        };
        let ServerPart {
            name,
            given_name,
            version,
            protocol_version,
            transport,
            instructions,
            source,
        } = self.server;
        let mut capture = Capture {
            id: CaptureId("".into()),
            name: self.id.into(),
            server: Server {
                name,
                given_name,
                version,
                protocol_version,
                transport,
                instructions,
                source,
                capabilities: None,
            },
            tool,
            arguments: self.arguments.bytes("arguments", folder)?,
            started_at,
            timings,
            outcome,
            request,
            response,
            index: ResponseIndex::default(),
            messages,
            http: self
                .http
                .map(|HttpPart { status, headers }| HttpInfo { status, headers }),
            problem,
            notes: self.notes,
            read_text: loupe_core::capture::ReadText::Auto,
            carried: ExtraFiles {
                members: self.members,
                redactions: self
                    .redactions
                    .into_iter()
                    .map(RedactionPart::redaction)
                    .collect(),
            },
        };
        capture.id = identity(&capture, self.request, self.response);
        Ok(capture)
    }
}

/// A digest of all that the folder says, whatever it is called and whichever version wrote it.
fn identity(
    capture: &Capture,
    request: Option<DigestPart>,
    response: Option<DigestPart>,
) -> CaptureId {
    let manifest = Manifest {
        loupe: String::new(),
        id: String::new(),
        ..Manifest::with(capture, request, response)
    };
    let messages = capture.messages.iter().map(message_line);
    let text = messages.fold(manifest.text(), |text, line| text + &line + "\n");
    CaptureId(sha256(text.as_bytes()).into())
}

impl RedactionPart {
    fn new(redaction: &Redaction) -> Self {
        let Redaction {
            part,
            path,
            kind,
            count,
        } = redaction.clone();
        Self {
            part,
            path,
            kind,
            count,
        }
    }

    fn redaction(self) -> Redaction {
        let Self {
            part,
            path,
            kind,
            count,
        } = self;
        Redaction {
            part,
            path,
            kind,
            count,
        }
    }
}

/// What this version does not know of a manifest: pointer of the object, key, exact value.
fn unknown_members(text: &[u8]) -> Vec<(String, String, Bytes)> {
    let doc = Doc::parse(Bytes::copy_from_slice(text));
    let mut members = Vec::new();
    for (parent, known) in KNOWN {
        for member in doc
            .at(parent)
            .into_iter()
            .flat_map(loupe_core::json::Node::children)
        {
            if let Some(key) = member.key().filter(|key| !known.contains(&&**key)) {
                members.push(((*parent).to_owned(), key.into_owned(), member.raw_bytes()));
            }
        }
    }
    members
}

/// The document with one member more, at the end of the object at `parent`; without change where there is no such object.
fn with_member(text: String, parent: &str, key: &str, value: &[u8]) -> String {
    let doc = Doc::parse(Bytes::copy_from_slice(text.as_bytes()));
    let Some(object) = doc
        .at(parent)
        .filter(|node| node.kind() == loupe_core::json::Kind::Object)
    else {
        return text;
    };
    let Some(at) = object.children().last().map(|last| last.range().end) else {
        return text;
    };
    let indent = "  ".repeat(object.depth() + 1);
    let member = format!(
        ",\n{indent}{}: {}",
        string(key),
        String::from_utf8_lossy(value)
    );
    format!("{}{member}{}", &text[..at], &text[at..])
}
