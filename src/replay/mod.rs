//! Captures as a server: a call that was recorded is answered with the bytes that were recorded.
//!
//! A call is found by its tool and its arguments, by value. One that was recorded several times is answered in turn. What
//! was not recorded is an error that says what was; where [`ReplayOptions::nearest`] is set, the call of the same tool whose
//! arguments differ least answers, and the note says so. Captures of `resources/read` and `prompts/get` are served alike.

mod library;
#[cfg(test)]
mod tests;
mod variant;

use std::collections::HashMap;
use std::hash::RandomState;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};

pub use variant::Variant;

use self::variant::with_members;
use loupe_sample::{self, Backend, INVALID_PARAMS, LibraryService, Refusal, Service};

use crate::store::{capture_folders, read_folder};
use loupe_client::Note;
use loupe_core::capture::{Capture, Tool};
use loupe_core::diff::digest;
use loupe_core::diff::tree::{TreeOptions, tree};
use loupe_core::format::ParsedCapture;
use loupe_core::json::{Doc, Kind as JsonKind, Node, write};
use loupe_core::number::number_of;
use loupe_core::problem::{Problem, ProblemKind};

/// How many recorded arguments an error lists, and how much of each.
const LISTED: usize = 5;
const LISTED_CHARS: usize = 160;
const INTERNAL_ERROR: i32 = -32603;

/// How captures are served.
#[derive(Clone, Copy)]
pub struct ReplayOptions {
    pub variant: Variant,
    /// Whether the nearest recorded call answers one that was not recorded.
    pub nearest: bool,
    /// Whether an answer takes the time that it took when it was recorded.
    pub delay: bool,
    /// Whether a message is a line, which cannot hold a line feed.
    pub lines: bool,
}

impl Default for ReplayOptions {
    fn default() -> Self {
        Self {
            variant: Variant::Both,
            nearest: false,
            delay: false,
            lines: true,
        }
    }
}

/// What is sent for a recorded call.
enum Reply {
    /// The member of the response, `result` or `error`, and its value.
    Member(&'static str, Bytes),
    /// The message as it came, which could not be read.
    Whole(Bytes),
    /// Nothing came, or nothing that can be sent; the reason.
    Nothing(String),
}

struct Recorded {
    reply: Reply,
    took: Duration,
}

/// The calls with one method, tool and arguments.
struct Group {
    method: &'static str,
    /// The tool; empty for other methods.
    tool: String,
    /// A JSON object.
    arguments: Doc,
    recorded: Vec<Recorded>,
    turn: AtomicUsize,
}

/// Captures as a [`Backend`].
pub struct Replay {
    options: ReplayOptions,
    note: Note,
    name: String,
    version: String,
    instructions: String,
    /// The definitions, as a JSON array.
    tools: String,
    groups: Vec<Group>,
    seed: RandomState,
    /// Groups by method, tool and digest of the arguments.
    index: HashMap<(&'static str, String, u64), usize>,
}

/// A replay of the folders that `paths` name: each a capture, or a folder of captures. A damaged one is noted.
///
/// # Errors
/// Where there is no capture that can be read.
pub fn open(paths: &[PathBuf], options: ReplayOptions, note: Note) -> Result<Replay, Problem> {
    let mut captures = Vec::new();
    let mut damaged = None;
    for path in paths {
        for folder in capture_folders(path)? {
            match read_folder(&folder) {
                Ok(capture) => captures.push(capture),
                Err(error) => {
                    let problem = Problem::from(error);
                    note(&format!("left out: {}", problem.message()));
                    damaged.get_or_insert(problem);
                }
            }
        }
    }
    match damaged {
        Some(problem) if captures.is_empty() => Err(problem),
        _ => Replay::new(captures, options, note),
    }
}

impl Replay {
    /// A replay of these captures, in this order.
    ///
    /// # Errors
    /// Where there is none.
    pub fn new(
        captures: Vec<Capture>,
        options: ReplayOptions,
        note: Note,
    ) -> Result<Self, Problem> {
        let Some(first) = captures.first() else {
            return Err(Problem::new(ProblemKind::Io, "no capture to replay"));
        };
        let server = first.server.clone();
        let named = |text: String, other: &str| {
            if text.is_empty() {
                other.to_owned()
            } else {
                text
            }
        };
        let mut replay = Self {
            options,
            note,
            name: named(server.name, "loupe-replay"),
            version: named(server.version, env!("CARGO_PKG_VERSION")),
            instructions: server.instructions.unwrap_or_default(),
            tools: String::new(),
            groups: Vec::new(),
            seed: RandomState::new(),
            index: HashMap::new(),
        };
        let mut definitions: Vec<(String, Bytes)> = Vec::new();
        let mut reshaped = 0_usize;
        for capture in captures {
            if capture.tool.name.is_empty() {
                (replay.note)(&format!(
                    "left out: {} names no tool, so no call can ask for it",
                    capture.name
                ));
                continue;
            }
            if library::method(&capture.tool.name).is_none() {
                replay.define(&mut definitions, &capture.tool);
            }
            reshaped += usize::from(replay.add(capture));
        }
        if reshaped > 0 {
            let text = "line feeds between the values of recorded answers are sent as spaces, since a message is a line here";
            (replay.note)(&format!(
                "{text} (answers: {reshaped}); over HTTP they stay"
            ));
        }
        let texts: Vec<_> = definitions
            .iter()
            .map(|(_, raw)| String::from_utf8_lossy(raw))
            .collect();
        replay.tools = format!("[{}]", texts.join(","));
        Ok(replay)
    }

    /// How many calls were recorded.
    pub fn calls(&self) -> usize {
        self.groups.iter().map(|group| group.recorded.len()).sum()
    }

    fn define(&self, definitions: &mut Vec<(String, Bytes)>, tool: &Tool) {
        let raw = if tool.raw.is_empty() {
            Bytes::from(format!(
                "{{\"name\":{},\"inputSchema\":{{\"type\":\"object\"}}}}",
                write::string(&tool.name)
            ))
        } else {
            let doc = Doc::parse(tool.raw.clone());
            let raw = match doc.root().filter(|root| root.kind() == JsonKind::Object) {
                Some(root)
                    if !self.options.variant.keeps_structured()
                        && root.get("outputSchema").is_some() =>
                {
                    // A tool that declares it has to send `structuredContent`; clients refuse the answer otherwise.
                    (self.note)(&format!(
                        "`outputSchema` of {} is left out: this variant sends no structuredContent",
                        tool.name
                    ));
                    with_members(root, |key| (key != "outputSchema").then_some(None))
                }
                _ => tool.raw.clone(),
            };
            self.on_a_line(raw).0
        };
        match definitions.iter_mut().find(|(name, _)| *name == tool.name) {
            Some((_, known)) if *known == raw => {}
            Some((name, known)) => {
                (self.note)(&format!(
                    "{name} was recorded with different definitions; the last one is listed"
                ));
                *known = raw;
            }
            None => definitions.push((tool.name.clone(), raw)),
        }
    }

    /// Takes a capture in; whether its answer had to lose its line feeds.
    fn add(&mut self, capture: Capture) -> bool {
        let (method, tool) = match library::method(&capture.tool.name) {
            Some(method) => (method, String::new()),
            None => ("tools/call", capture.tool.name.clone()),
        };
        let arguments = arguments_of(&capture.arguments);
        let took = capture.timings.total();
        let name = Arc::clone(&capture.name);
        let subject = ParsedCapture::new(Arc::new(capture));
        let (reply, reshaped) = match self.reply(&subject) {
            Reply::Member(name, bytes) => {
                let (bytes, reshaped) = self.on_a_line(bytes);
                (Reply::Member(name, bytes), reshaped)
            }
            Reply::Whole(bytes) => {
                let (bytes, reshaped) = self.on_a_line(bytes);
                (Reply::Whole(bytes), reshaped)
            }
            Reply::Nothing(why) => {
                (self.note)(&format!(
                    "{name}: {why}; a call is answered with an error that says so"
                ));
                (Reply::Nothing(why), false)
            }
        };
        let recorded = Recorded { reply, took };
        let key = (method, tool.clone(), self.digest(&arguments));
        match self.index.get(&key) {
            Some(&at) => self.groups[at].recorded.push(recorded),
            None => {
                self.index.insert(key, self.groups.len());
                self.groups.push(Group {
                    method,
                    tool,
                    arguments,
                    recorded: vec![recorded],
                    turn: AtomicUsize::new(0),
                });
            }
        }
        reshaped
    }

    fn reply(&self, subject: &ParsedCapture) -> Reply {
        let capture = &subject.capture;
        let Some(response) = &capture.response else {
            return Reply::Nothing(format!(
                "no answer was recorded ({})",
                capture.outcome.name()
            ));
        };
        if subject
            .response
            .doc
            .faults()
            .iter()
            .any(|fault| fault.kind.is_fatal())
        {
            return Reply::Whole(response.clone());
        }
        if subject.response.result().is_some() {
            return match self.options.variant.result(subject) {
                Ok(bytes) => Reply::Member("result", bytes),
                Err(why) => Reply::Nothing(why),
            };
        }
        match subject.response.doc.at("/error") {
            Some(error) => Reply::Member("error", error.raw_bytes()),
            None => Reply::Whole(response.clone()),
        }
    }

    /// The bytes as one line, where messages are lines, and whether that changed them.
    fn on_a_line(&self, bytes: Bytes) -> (Bytes, bool) {
        if !self.options.lines || memchr::memchr2(b'\n', b'\r', &bytes).is_none() {
            return (bytes, false);
        }
        let line: Vec<u8> = bytes
            .iter()
            .map(|&byte| {
                if matches!(byte, b'\n' | b'\r') {
                    b' '
                } else {
                    byte
                }
            })
            .collect();
        (line.into(), true)
    }

    fn digest(&self, arguments: &Doc) -> u64 {
        arguments
            .root()
            .map(|root| digest(root, &self.seed))
            .unwrap_or_default()
    }

    /// The recorded call that answers this one.
    fn find(&self, method: &'static str, tool: &str, arguments: &Doc) -> Option<&Group> {
        if let Some(&at) = self
            .index
            .get(&(method, tool.to_owned(), self.digest(arguments)))
        {
            return self.groups.get(at);
        }
        if !self.options.nearest {
            return None;
        }
        let far = |group: &Group| {
            let differences = tree(
                group.arguments.root()?,
                arguments.root()?,
                &TreeOptions::default(),
            );
            Some(differences.counts.total())
        };
        let near = self
            .of_tool(method, tool)
            .filter_map(|group| Some((far(group)?, group)))
            .min_by_key(|(far, _)| *far);
        let (far, group) = near?;
        let asked = shorten_arguments(arguments);
        (self.note)(&format!(
            "{} {asked} was not recorded; the nearest answers, with {}: {}",
            if tool.is_empty() { method } else { tool },
            number_of(far, "differences"),
            shorten_arguments(&group.arguments)
        ));
        Some(group)
    }

    fn of_tool(&self, method: &'static str, tool: &str) -> impl Iterator<Item = &Group> {
        self.groups
            .iter()
            .filter(move |group| group.method == method && group.tool == tool)
    }

    /// The answer to a request for something recorded; `None` where the core answers.
    fn recorded(&self, root: Node<'_>) -> Option<Bytes> {
        let id = root
            .get("id")
            .filter(|id| matches!(id.kind(), JsonKind::String | JsonKind::Number))?;
        let params = root.get("params")?;
        let (method, tool, arguments) = match root.get("method")?.as_str()?.as_ref() {
            "tools/call" => {
                let arguments = match params.get("arguments") {
                    None => Bytes::new(),
                    Some(arguments) if arguments.kind() == JsonKind::Object => {
                        arguments.raw_bytes()
                    }
                    Some(_) => return None,
                };
                (
                    "tools/call",
                    params.get("name")?.as_str()?.into_owned(),
                    arguments,
                )
            }
            other => (
                library::method(other)?,
                String::new(),
                with_members(params, |key| (key != "_meta").then_some(None)),
            ),
        };
        let group = self.find(method, &tool, &arguments_of(&arguments))?;
        let turn = group.turn.fetch_add(1, Ordering::Relaxed) % group.recorded.len();
        let Recorded { reply, took } = group.recorded.get(turn)?;
        if self.options.delay {
            wait(*took);
        }
        let mut message = BytesMut::new();
        match reply {
            Reply::Whole(bytes) => return Some(bytes.clone()),
            Reply::Member(name, bytes) => {
                message.put_slice(
                    format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"{name}\":", id.raw_text())
                        .as_bytes(),
                );
                message.put_slice(bytes);
            }
            Reply::Nothing(why) => {
                let error = format!(
                    "{{\"code\":{INTERNAL_ERROR},\"message\":{}}}",
                    write::string(why)
                );
                message.put_slice(
                    format!(
                        "{{\"jsonrpc\":\"2.0\",\"id\":{},\"error\":{error}",
                        id.raw_text()
                    )
                    .as_bytes(),
                );
            }
        }
        message.put_u8(b'}');
        Some(message.freeze())
    }

    /// What is said of a call that was not recorded.
    fn miss(&self, method: &'static str, tool: &str) -> Refusal {
        let recorded: Vec<String> = self
            .of_tool(method, tool)
            .map(|group| shorten_arguments(&group.arguments))
            .collect();
        let (first, rest) = recorded.split_at(recorded.len().min(LISTED));
        let more = if rest.is_empty() {
            String::new()
        } else {
            format!(" · and {} more", rest.len())
        };
        let what = if tool.is_empty() { method } else { tool };
        Refusal::new(
            INVALID_PARAMS,
            format!(
                "Not recorded: {what} with these arguments. Recorded arguments: {}{more}",
                first.join(" · ")
            ),
        )
    }
}

impl Backend for Replay {
    fn handle(&self, message: &[u8]) -> Vec<Bytes> {
        let doc = Doc::parse(Bytes::copy_from_slice(message));
        let recorded = doc
            .root()
            .filter(|root| doc.is_json() && root.kind() == JsonKind::Object);
        match recorded.and_then(|root| self.recorded(root)) {
            Some(answer) => vec![answer],
            None => loupe_sample::answer(self, message),
        }
    }
}

impl Service for Replay {
    fn name(&self) -> &str {
        &self.name
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn instructions(&self) -> &str {
        &self.instructions
    }

    fn tools(&self) -> &str {
        &self.tools
    }

    /// Only asked for what was not recorded.
    fn call(&self, tool: &str, _arguments: Option<Node<'_>>) -> Result<String, Refusal> {
        if self.of_tool("tools/call", tool).next().is_some() {
            return Err(self.miss("tools/call", tool));
        }
        let mut known: Vec<&str> = self
            .groups
            .iter()
            .map(|group| group.tool.as_str())
            .filter(|tool| !tool.is_empty())
            .collect();
        known.dedup();
        Err(Refusal::new(
            INVALID_PARAMS,
            format!(
                "Not recorded: the tool {tool}. Recorded tools: {}",
                known.join(", ")
            ),
        ))
    }

    fn library(&self) -> Option<&dyn LibraryService> {
        let has = self.groups.iter().any(|group| group.method != "tools/call");
        has.then_some(self)
    }
}

/// Arguments to compare: none are an empty object.
fn arguments_of(bytes: &Bytes) -> Doc {
    let doc = Doc::parse(bytes.clone());
    if doc.is_empty() {
        Doc::parse(Bytes::from_static(b"{}"))
    } else {
        doc
    }
}

fn shorten_arguments(arguments: &Doc) -> String {
    let text = String::from_utf8_lossy(arguments.bytes());
    let mut short: String = text.chars().take(LISTED_CHARS).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// Lets the time pass that the recorded call took, without keeping other tasks from running where that can be helped.
fn wait(took: Duration) {
    use tokio::runtime::{Handle, RuntimeFlavor};
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(|| std::thread::sleep(took)),
        _ => std::thread::sleep(took),
    }
}
