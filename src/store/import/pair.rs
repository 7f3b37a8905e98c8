//! Captures of messages: requests and their answers.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use bytes::Bytes;
use time::OffsetDateTime;

use super::{Entry, Input};
use loupe_core::capture::{
    Capture, Direction, Message, Outcome, ParsedResponse, Server, Timings, Tool,
};
use loupe_core::json::{Doc, Node};
use loupe_core::problem::{Problem, ProblemKind};

/// As many messages of one file are taken.
const MOST_MESSAGES: usize = 100_000;
/// As many messages are kept next to all calls together: one that comes while many are open is kept next to each.
const MOST_BESIDE: usize = 1_000_000;

/// A request that waits for its result.
struct Asked {
    entry: Entry,
    method: String,
    name: String,
    arguments: Bytes,
    /// What came and went meanwhile.
    beside: Vec<Message>,
    /// How many messages had not been kept when it began.
    lost_before: usize,
}

/// Makes an empty capture of a number, whose source is described so.
type EmptyCapture<'a> = Box<dyn Fn(usize, &str) -> Capture + 'a>;

/// What the messages are made into.
pub(super) struct Pairing<'a> {
    /// The file, for people.
    name: String,
    /// An empty capture of it, of this number.
    empty: EmptyCapture<'a>,
    transport: &'static str,
    pub server: Server,
    tools: HashMap<String, Tool>,
    /// The names of tools as they are listed.
    listed: Vec<String>,
    /// How the client named itself, and its version.
    pub client: String,
    pub client_version: String,
    /// How often the server said something of itself or its tools.
    pub descriptions: usize,
    /// By their numbers, in their order.
    open: BTreeMap<usize, Asked>,
    /// The numbers of those that are open, by id.
    by_id: HashMap<String, Vec<usize>>,
    asked: usize,
    /// Answers whose requests are not there yet, by id: a proxy may write down a quick one first.
    early: HashMap<String, Entry>,
    /// Messages kept next to calls, and not kept.
    beside: usize,
    lost: usize,
    captured: usize,
    captures: Vec<Capture>,
}

/// A session as its messages tell it.
#[derive(Default)]
pub(in crate::store) struct Paired {
    pub captures: Vec<Capture>,
    pub server: Server,
    /// In the order they are listed.
    pub tools: Vec<Tool>,
    pub client: String,
    pub client_version: String,
}

/// What a file's messages tell; there may be no result among them.
///
/// # Errors
/// More messages than are taken; `what` says what the file is.
pub(super) fn pair(
    input: &Input<'_>,
    transport: &'static str,
    what: &str,
    entries: impl Iterator<Item = Entry>,
) -> Result<Paired, Problem> {
    let empty = |number, source: &str| input.capture(number, transport, source.to_owned());
    let mut pairing = Pairing::new(input.name.to_owned(), transport, Box::new(empty));
    for (count, entry) in entries.enumerate() {
        if count >= MOST_MESSAGES {
            let what =
                format!("{what} with more than {MOST_MESSAGES} messages, and no more are taken");
            return Err(Problem::new(ProblemKind::Io, what)
                .at(input.name)
                .hint("cut it into several files"));
        }
        pairing.take(entry);
    }
    pairing.end();
    let mut captures = std::mem::take(&mut pairing.captures);
    // What the server said of itself may stand after the first call, where a file was cut at its beginning.
    captures
        .iter_mut()
        .for_each(|capture| pairing.describe(capture));
    Ok(Paired {
        captures,
        tools: pairing.tools(),
        server: pairing.server,
        client: pairing.client,
        client_version: pairing.client_version,
    })
}

impl<'a> Pairing<'a> {
    pub(super) fn new(name: String, transport: &'static str, empty: EmptyCapture<'a>) -> Self {
        Self {
            name,
            empty,
            transport,
            server: Server::default(),
            tools: HashMap::new(),
            listed: Vec::new(),
            client: String::new(),
            client_version: String::new(),
            descriptions: 0,
            open: BTreeMap::new(),
            by_id: HashMap::new(),
            asked: 0,
            early: HashMap::new(),
            beside: 0,
            lost: 0,
            captured: 0,
            captures: Vec::new(),
        }
    }

    /// No more messages come: what was asked and not answered is a capture of its own.
    pub(super) fn end(&mut self) {
        let mut early: Vec<Entry> = std::mem::take(&mut self.early).into_values().collect();
        early.sort_by_key(|entry| entry.at);
        for entry in early {
            self.answer(None, entry);
        }
        for asked in std::mem::take(&mut self.open).into_values() {
            if is_captured(&asked.method) {
                self.capture(Some(asked), None);
            }
        }
    }

    /// Calls that are not answered yet.
    pub(super) fn open_calls(&self) -> usize {
        self.open
            .values()
            .filter(|asked| is_captured(&asked.method))
            .count()
    }

    /// The captures since this was asked before, with what the server has said of itself by now.
    pub(super) fn take_captures(&mut self) -> Vec<Capture> {
        let mut captures = std::mem::take(&mut self.captures);
        captures
            .iter_mut()
            .for_each(|capture| self.describe(capture));
        captures
    }

    /// The tools that the server lists, in its order.
    pub(super) fn tools(&self) -> Vec<Tool> {
        let tools = self.listed.iter();
        tools
            .filter_map(|name| self.tools.get(name).cloned())
            .collect()
    }

    /// Puts into a capture what the server said of itself and of the tool.
    fn describe(&self, capture: &mut Capture) {
        capture.server = Server {
            source: std::mem::take(&mut capture.server.source),
            ..self.server.clone()
        };
        capture.server.transport = self.transport.to_owned();
        if let Some(tool) = self.tools.get(&capture.tool.name) {
            capture.tool = tool.clone();
        }
    }
}

/// Whether a request of this method is a capture.
fn is_captured(method: &str) -> bool {
    matches!(method, "tools/call" | "resources/read" | "prompts/get")
}

impl Pairing<'_> {
    pub(super) fn take(&mut self, entry: Entry) {
        let doc = Doc::parse(entry.bytes.clone());
        let Some(root) = doc.root() else { return };
        let id = root.get("id").map(|id| id.raw_text().into_owned());
        match (root.get("method").and_then(Node::as_str), id) {
            (Some(method), Some(id)) if entry.direction != Some(Direction::In) => {
                let params = root.get("params");
                // Up to 2025-11-25 the handshake says who asks, since then each request.
                let client = params.and_then(|params| {
                    let own = params.at("/_meta/io.modelcontextprotocol~1clientInfo");
                    params.get("clientInfo").or(own)
                });
                let word = |key: &str| Some(client?.get(key)?.as_str()?.into_owned());
                if let Some(name) = word("name") {
                    self.client = name;
                    self.client_version = word("version").unwrap_or_default();
                }
                let text = |key: &str| {
                    params
                        .and_then(|params| params.get(key))
                        .and_then(Node::as_str)
                };
                let (name, arguments) = match &*method {
                    "tools/call" => (
                        text("name"),
                        params.and_then(|params| params.get("arguments")),
                    ),
                    other => (Some(other.into()), params),
                };
                let asked = Asked {
                    name: name.unwrap_or_default().into_owned(),
                    arguments: arguments.map(Node::raw_bytes).unwrap_or_default(),
                    method: method.into_owned(),
                    beside: Vec::new(),
                    lost_before: self.lost,
                    entry,
                };
                if let Some(answer) = self.early.remove(&id) {
                    if is_just_before(&answer, &asked.entry) {
                        self.answer(Some(asked), answer);
                        return;
                    }
                    self.answer(None, answer);
                }
                self.open.insert(self.asked, asked);
                self.by_id.entry(id).or_default().push(self.asked);
                self.asked += 1;
            }
            (None, Some(id)) if root.get("result").is_some() || root.get("error").is_some() => {
                let number = self.by_id.get_mut(&id).and_then(Vec::pop);
                let asked = number.and_then(|number| self.open.remove(&number));
                if asked.is_none() && entry.direction == Some(Direction::In) && entry.at.is_some() {
                    if let Some(other) = self.early.insert(id, entry) {
                        self.answer(None, other);
                    }
                    return;
                }
                self.answer(asked, entry);
            }
            // Notifications, and what the server asks.
            _ => {
                let direction = entry.direction.unwrap_or(Direction::In);
                if self.beside + self.open.len() > MOST_BESIDE {
                    self.lost += 1;
                    return;
                }
                self.beside += self.open.len();
                for asked in self.open.values_mut() {
                    let at = since(&asked.entry, &entry).unwrap_or_default();
                    asked.beside.push(Message {
                        at,
                        direction,
                        bytes: entry.bytes.clone(),
                    });
                }
            }
        }
    }

    fn answer(&mut self, asked: Option<Asked>, entry: Entry) {
        let doc = Doc::parse(entry.bytes.clone());
        let Some(root) = doc.root() else { return };
        let result = root.get("result");
        let method = asked.as_ref().map(|asked| asked.method.as_str());
        if matches!(
            method,
            Some("server/discover" | "initialize" | "tools/list")
        ) {
            self.descriptions += 1;
        }
        match method {
            Some("server/discover") if result.is_some() => {
                let text = |pointer: &str| result.and_then(|result| result.at(pointer)?.as_str());
                let own = "/_meta/io.modelcontextprotocol~1serverInfo";
                let info = |name: &str| {
                    text(&format!("{own}/{name}")).or_else(|| text(&format!("/serverInfo/{name}")))
                };
                self.server.name = info("name").unwrap_or_default().into_owned();
                self.server.version = info("version").unwrap_or_default().into_owned();
                self.server.instructions = text("/instructions").map(|text| text.into_owned());
            }
            Some("initialize") => {
                let text = |pointer: &str| result.and_then(|result| result.at(pointer)?.as_str());
                self.server.name = text("/serverInfo/name").unwrap_or_default().into_owned();
                self.server.version = text("/serverInfo/version").unwrap_or_default().into_owned();
                self.server.protocol_version =
                    text("/protocolVersion").unwrap_or_default().into_owned();
                self.server.instructions = text("/instructions").map(|text| text.into_owned());
            }
            Some("tools/list") => {
                for tool in result
                    .and_then(|result| result.get("tools"))
                    .into_iter()
                    .flat_map(Node::children)
                {
                    let tool = Tool::read(tool.raw_bytes());
                    if !self.tools.contains_key(&tool.name) {
                        self.listed.push(tool.name.clone());
                    }
                    self.tools.insert(tool.name.clone(), tool);
                }
            }
            Some(method) if is_captured(method) => self.capture(asked, Some(entry)),
            // The request is not in the file; what looks like a tool's answer is one.
            None if result.is_some_and(|result| result.get("content").is_some()) => {
                self.capture(None, Some(entry))
            }
            _ => {}
        }
    }

    fn capture(&mut self, asked: Option<Asked>, answer: Option<Entry>) {
        let name = &self.name;
        self.captured += 1;
        let number = self.captured;
        let mut capture = (self.empty)(number, &format!("message {number} of {name}"));
        if let (Some(asked), Some(answer)) = (&asked, &answer) {
            capture.timings = answer.timings.unwrap_or_default();
            if let Some(took) = since(&asked.entry, answer).filter(|_| answer.timings.is_none()) {
                capture.timings = Timings {
                    server: took,
                    ..Timings::default()
                };
            }
        }
        if let Some(asked) = asked {
            capture.tool = Tool::unlisted(&asked.name);
            if asked.method != "tools/call" {
                capture.tool.faults.clear();
            }
            capture.arguments = asked.arguments;
            capture.started_at = asked.entry.started_at.unwrap_or(OffsetDateTime::UNIX_EPOCH);
            capture.request = asked.entry.bytes;
            capture.messages = asked.beside;
            if let lost @ 1.. = self.lost - asked.lost_before {
                let messages = if lost == 1 {
                    "1 more message"
                } else {
                    &format!("{lost} more messages")
                };
                capture
                    .notes
                    .push(format!("{messages} came during the call and are not kept"));
            }
            if let Some(url) = asked.entry.url {
                capture.server.source = format!("--url {}", loupe_core::quote::shell(&url));
            }
        }
        match answer {
            Some(answer) => {
                let reading = ParsedResponse::read(answer.bytes.clone());
                capture.outcome = reading.outcome();
                capture.response = Some(answer.bytes);
                capture.http = answer.http;
            }
            None => {
                capture.outcome = Outcome::Disconnected;
                capture.problem = Some(
                    Problem::new(
                        ProblemKind::Disconnected,
                        "the file holds no answer to this request",
                    )
                    .at(name.clone()),
                );
            }
        }
        self.captures.push(capture);
    }
}

/// How long before its request an answer may stand in a file.
const EARLY: Duration = Duration::from_secs(1);

fn is_just_before(answer: &Entry, asked: &Entry) -> bool {
    since(answer, asked).is_some_and(|before| before <= EARLY)
}

fn since(asked: &Entry, entry: &Entry) -> Option<Duration> {
    entry.at?.checked_sub(asked.at?)
}
