//! The client: reaches a server, speaks MCP, and keeps every byte.
//!
//! Every message passes the `tap` as bytes, under the SDK. The SDK (rmcp) drives the handshake (`initialize`,
//! `notifications/initialized`) and answers pings; Loupe's own requests (`tools/list`, `tools/call`) are written by the
//! tap itself, so that arguments leave byte for byte as typed, and their answers are handed on as the bytes that came.
//! No answer is ever decoded by the SDK's types: they refuse, rewrite or lose what an inspector has to show.
//! Ids: the SDK uses 0 for `initialize` and sends no other request; Loupe's count from 1.
//!
//! Transports: lines over a child's pipes or an in-process pipe (`lines`), and Streamable HTTP (`http`).
//! A child runs under the `guard`, so that nothing it started outlives the session, or Loupe.
//! Deliberately absent: resending, reconnecting or answering the server by itself; each is a person's decision.

mod cancel_token;
mod child;
mod envelope;
mod error;
pub mod guard;
mod handshake;
mod http;
mod lines;
#[cfg(windows)]
mod job;
mod log;
mod session;
mod sse;
mod tap;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

pub use cancel_token::CancelToken;
pub use error::Error;
pub use session::Session;

use crate::capture::{CaptureId, Message, Server, Tool};
use crate::problem::Problem;
use crate::serve;
use crate::source::Source;
use child::Fate;
use session::{Link, Shut};
use tap::{Incoming, Outbox, SdkEnd, Tap, Waiting};

/// The protocol versions Loupe accepts; it proposes the last.
pub const VERSIONS: &[&str] = &["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// Messages that may wait to be written: a server that asks without reading must not fill the memory.
const QUEUE: usize = 1_000;
/// How long the guard may need after the server's output has ended to say what became of the server.
const FATE_LIMIT: Duration = Duration::from_secs(5);

/// How to connect.
#[derive(Clone)]
pub struct Options {
    /// Until the handshake is complete. A cold `npx` may take a minute before its first word.
    pub connect_limit: Duration,
    /// Bytes of one message; a larger one ends its call with the part that came.
    pub message_limit: usize,
    /// The program to run as the guard: Loupe's own binary. `None` is the running one.
    pub guard: Option<PathBuf>,
    /// Told of every message as it passes, from the first byte on, whether or not a session comes about. Must be quick.
    pub transcript: Option<Transcript>,
    /// How to name ourselves; `None` is as Loupe.
    pub identity: Option<Identity>,
}

/// How a client names itself in the handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The host whose identity it is, for people.
    pub host: String,
    pub name: String,
    pub version: String,
    /// The `capabilities` object, as JSON.
    pub capabilities: String,
}

impl Identity {
    /// What a capture says of it.
    pub fn note(&self) -> String {
        format!("called as {}: client {} {}, capabilities {}", self.host, self.name, self.version, self.capabilities)
    }

    fn config(&self) -> Result<ClientConfig, serde_json::Error> {
        let capabilities: ClientCapabilities = serde_json::from_str(&self.capabilities)?;
        Ok(ClientConfig::new(capabilities, Implementation::new(self.name.clone(), self.version.clone())))
    }
}

impl Default for Options {
    fn default() -> Self {
        Self { connect_limit: Duration::from_secs(90), message_limit: 256 << 20, guard: None, transcript: None, identity: None }
    }
}

/// Takes down every message, both directions and stderr, in order.
pub type Transcript = Arc<dyn Fn(&Message) + Send + Sync>;

/// Told while things happen, from any thread; must not block.
pub type Happenings = Arc<dyn Fn(Happening) + Send + Sync>;

/// What happens beside the answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Happening {
    /// What connecting is at.
    Phase(String),
    /// A line of the server's stderr; bad UTF-8 is U+FFFD.
    Stderr(String),
    /// How many messages there have been, both directions.
    Messages(u64),
    /// The progress of a call under way.
    Progress { progress: f64, total: Option<f64>, message: Option<String> },
    /// How many lines came that are no messages.
    Unreadable(u64),
    /// The server is gone; every later call ends at once.
    Gone(Problem),
}

/// One tool call to make.
#[derive(Clone, Debug)]
pub struct Call {
    pub id: CaptureId,
    pub tool: Tool,
    /// A JSON object, exactly as typed.
    pub arguments: Bytes,
    pub limit: Duration,
}

/// What a server can list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    Tools,
    Resources,
    Templates,
    Prompts,
}

impl Listing {
    /// The method, and the member of its result that holds the entries.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Tools => ("tools/list", "tools"),
            Self::Resources => ("resources/list", "resources"),
            Self::Templates => ("resources/templates/list", "resourceTemplates"),
            Self::Prompts => ("prompts/list", "prompts"),
        }
    }
}

/// What a server lists, entry by entry exactly as sent.
#[derive(Clone, Debug, Default)]
pub struct List {
    pub entries: Vec<Bytes>,
    /// Why the list may not be whole.
    pub note: Option<String>,
    /// The response messages, page by page.
    pub raw: Vec<Bytes>,
}

/// A request whose answer is shown like a tool's: a resource that is read, a prompt that is filled in.
#[derive(Clone, Debug)]
pub struct Asking {
    pub id: CaptureId,
    /// `resources/read` or `prompts/get`.
    pub method: &'static str,
    /// A JSON object, exactly as it goes out.
    pub params: Bytes,
    pub limit: Duration,
}

/// The tools of a server.
#[derive(Clone, Debug, Default)]
pub struct ToolList {
    pub tools: Vec<Tool>,
    /// Why the list may not be whole.
    pub note: Option<String>,
    /// The response messages, page by page.
    pub raw: Vec<Bytes>,
}

/// Connects and completes the handshake. Dropping the future cancels it and leaves nothing running.
///
/// # Errors
/// What kept the handshake from being completed.
pub async fn connect(source: &Source, options: Options, happenings: Happenings) -> Result<Session, Error> {
    let place = match source {
        Source::Sample(_) => "sample server".into(),
        Source::Command(command) => command.program.clone(),
        Source::Http(http) => http.url.clone(),
    };
    let tap = Arc::new(Tap::new(place.clone(), options.message_limit, options.transcript.clone(), happenings));
    if let Ok(session) = tokio::time::timeout(options.connect_limit, open(source, &options, &tap)).await {
        return session;
    }
    let (unreadable, stderr) = tap.last_words();
    let (what, limit) = ("initialize".into(), options.connect_limit);
    Err(Error::Timeout { place, what, limit, during_handshake: true, unreadable, stderr })
}

async fn open(source: &Source, options: &Options, tap: &Arc<Tap>) -> Result<Session, Error> {
    // From here on, leaving by any way closes what was opened.
    let shut = Shut(Arc::clone(tap));
    let phase = |text: &str| tap.happen(Happening::Phase(text.into()));
    let mut tasks = JoinSet::new();
    let (link, outbox): (Link, Arc<dyn Outbox>) = match source {
        Source::Sample(spec) => {
            phase("starting the sample server");
            let sample = serve::sample::Sample::new(spec).map_err(Error::Sample)?;
            let (from, to) = tokio::io::split(serve::pipe(Arc::new(sample)));
            let end = async || Error::Gone {
                place: "sample server".into(),
                fate: "the sample server ended".into(),
                during_handshake: false,
                unreadable: None,
                stderr: Vec::new(),
            };
            tasks.spawn(read_lines(from, Arc::clone(tap), end));
            lines_link(to, tasks, None)
        }
        Source::Command(command) => {
            phase("starting the program");
            let child::Started { process, stdin, stdout, fate, drained } = child::start(command, options, tap, &mut tasks)?;
            phase("waiting for the first word");
            let watched = Arc::clone(tap);
            let end = async move || fate_of(&watched, &fate, drained).await;
            tasks.spawn(read_lines(stdout, Arc::clone(tap), end));
            lines_link(stdin, tasks, Some(process))
        }
        Source::Http(http) => {
            phase("connecting");
            let link = http::Link::new(http, Arc::clone(tap))?;
            (Link::Http(Arc::clone(&link)), link)
        }
    };
    let (to_sdk, inbox) = mpsc::channel(QUEUE);
    tap.open(outbox, to_sdk.clone());
    let (initialize, initializing) = oneshot::channel::<Waiting>();
    let end = SdkEnd { tap: Arc::clone(tap), inbox, initialize: Some(initialize) };
    let ours = || ClientConfig::new(ClientCapabilities::default(), Implementation::new("loupe", env!("CARGO_PKG_VERSION")));
    let config = match &options.identity {
        None => ours(),
        Some(identity) => identity.config().map_err(|error| Error::Handshake {
            place: tap.place.clone(),
            what: format!("the capabilities of {} cannot be sent: {error}", identity.host),
        })?,
    };
    let config = config.with_protocol_version(ProtocolVersion::V_2025_11_25);
    let mut serving = Box::pin(config.serve_with_lifecycle(end, ClientLifecycleMode::Initialize));
    let closed = || Error::Closed { place: tap.place.clone() };
    let answer = async {
        let waiting = initializing.await.map_err(|_| closed())?;
        let (end, _) = waiting.done.await.map_err(|_| closed())?;
        Ok::<_, Error>((waiting.id, end))
    };
    let sdk_error = |error: rmcp::service::ClientInitializeError| {
        tap.establish().err().unwrap_or_else(|| Error::Handshake { place: tap.place.clone(), what: error.to_string() })
    };
    let (id, end) = tokio::select! {
        biased;
        answer = answer => answer?,
        served = &mut serving => return Err(served.err().map_or_else(closed, sdk_error)),
    };
    let (server, stub) = handshake::read(end, id, &tap.place)?;
    if let Link::Http(link) = &link {
        link.set_version(&server.protocol_version);
    }
    to_sdk.send(stub).await.map_err(|_| closed())?;
    let sdk = serving.await.map_err(sdk_error)?;
    tap.establish()?;
    if let Link::Http(link) = &link {
        link.listen_aside();
    }
    let server = Server { transport: source.transport().into(), source: source.to_string(), ..server };
    Ok(Session { server, tap: Arc::clone(tap), shut, sdk, link })
}

/// Feeds the tap until the other side ends, then says so with the reason that `end` finds.
async fn read_lines(from: impl AsyncRead + Unpin, tap: Arc<Tap>, end: impl AsyncFnOnce() -> Error) {
    let read = lines::read(from, tap.limit, |line| {
        if !line.ended && !line.cut {
            tap.note_all("the last line has no line end");
        }
        tap.incoming(Incoming { bytes: line.bytes, begun: line.begun, cut: line.cut, within: None });
    });
    match read.await {
        Ok(()) => tap.gone(end().await),
        Err(error) => {
            let (unreadable, stderr) = tap.last_words();
            let fate = format!("the server's output could not be read: {error}");
            let during_handshake = !tap.is_established();
            tap.gone(Error::Gone { place: tap.place.clone(), fate, during_handshake, unreadable, stderr });
        }
    }
}

async fn fate_of(tap: &Tap, fate: &Mutex<Fate>, drained: oneshot::Receiver<()>) -> Error {
    // A timeout leaves the fate unknown, which is said then.
    tokio::time::timeout(FATE_LIMIT, drained).await.ok();
    let (unreadable, stderr) = tap.last_words();
    let during_handshake = !tap.is_established();
    let unreadable = unreadable.filter(|_| during_handshake);
    let place = tap.place.clone();
    match fate.lock().unwrap_or_else(PoisonError::into_inner).clone() {
        Fate::NotStarted(reason) => Error::NotStarted { program: place, reason },
        Fate::Ended(fate) => Error::Gone { place, fate, during_handshake, unreadable, stderr },
        Fate::Unknown => {
            Error::Gone { place, fate: "the program closed its output".into(), during_handshake, unreadable, stderr }
        }
    }
}

struct LinesOut(Mutex<Option<mpsc::Sender<lines::Out>>>);

fn lines_link(
    to: impl AsyncWrite + Send + Unpin + 'static,
    tasks: JoinSet<()>,
    process: Option<child::Process>,
) -> (Link, Arc<dyn Outbox>) {
    let (queue, queued) = mpsc::channel(QUEUE);
    let writer = tokio::spawn(lines::write(to, queued));
    (Link::Lines { _tasks: tasks, writer, process }, Arc::new(LinesOut(Mutex::new(Some(queue)))))
}

impl Outbox for LinesOut {
    fn send(&self, bytes: Bytes, _request: Option<i64>) -> oneshot::Receiver<std::io::Result<std::time::Instant>> {
        let (left, waiting) = oneshot::channel();
        if let Some(queue) = &*self.0.lock().unwrap_or_else(PoisonError::into_inner)
            && let Err(full) = queue.try_send(lines::Out { bytes, left })
        {
            let why = std::io::Error::other("the server does not read what is sent to it");
            // Nobody may wait for it, as for a reply.
            full.into_inner().left.send(Err(why)).ok();
        }
        waiting
    }

    fn shut(&self) {
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}
