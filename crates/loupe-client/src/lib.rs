//! The MCP client: reaches a server and keeps every byte.
//!
//! - `connect` finds the protocol version: up to 2025-11-25 a handshake begins a session; since 2026-07-28 each request
//!   stands alone (`era`).
//! - Every message passes the `tap` as bytes, below the SDK (rmcp). The SDK sends `initialize` and
//!   `notifications/initialized`; Loupe writes its own requests, so arguments leave byte for byte as typed. The SDK's types
//!   decode no result: they reject, rewrite or lose what an inspector has to show.
//! - `server_requests` and `input_requests` put to the user what the server requests during a call.
//! - Transports: lines over a child's pipes or an in-process pipe (`lines`), Streamable HTTP (`http`), HTTP+SSE of 2024
//!   (`http_sse`). A child runs under the `guard`, so nothing it started outlives the session.
//! - Ids: the SDK uses 0 for `initialize`; Loupe counts from 1.
//!
//! It never repeats a call that a server accepted and never answers for the user. It repeats a request only after a login,
//! or in a session that the server still knows, and answers by itself only `ping` and `roots/list`.

#![warn(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr
)]

mod cancel_token;
mod child;
mod connect;
mod connect_times;
mod connector;
mod deadline;
mod discovery_noise;
mod encoding;
mod envelope;
mod era;
mod error;
pub mod guard;
mod handshake;
mod http;
mod http_client;
mod http_sse;
mod input_requests;
#[cfg(windows)]
mod job;
pub mod keychain;
mod lines;
mod log;
pub mod login;
pub mod message_headers;
mod param_headers;
pub mod provider;
mod server_requests;
mod session;
pub mod sse;
mod stderr_buffer;
mod tap;
mod tasks;
mod tls;
mod wire;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;

pub use cancel_token::CancelToken;
pub use error::{Error, innermost};
pub use http_client::plain_client;
pub use server_requests::{Answer, ClientCapabilities, RequestHandler};
pub use session::Session;

use child::ChildEnd;
use loupe_core::capture::{CaptureId, HttpInfo, Line, Step, Tool};
use loupe_core::problem::Problem;
use loupe_core::redact::SecretList;
pub use loupe_core::source::Identity;
use loupe_core::source::{Limits, Source, redact_url};
use session::Link;
use tap::{Incoming, Outbox, Tap};

/// Messages that may wait to be written: a server that asks without reading must not fill the memory.
const QUEUE: usize = 1_000;
/// How long the guard may need after the server's output has ended to say what became of the server, if it has ended.
const EXIT_LIMIT: Duration = Duration::from_secs(2);

/// A runtime for sessions, with one thread for all that waits: of two, each message would go from one to the other, which
/// takes several times as long as the message. What computes for long does so elsewhere.
///
/// # Errors
/// The system refuses a thread.
pub fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("loupe-io")
        .enable_all()
        .build()
}

/// How to connect.
#[derive(Clone)]
pub struct Options {
    /// Until the handshake is complete. A cold `npx` may take a minute before its first word.
    pub connect_limit: Duration,
    /// What is kept of what the server sends.
    pub limits: Limits,
    /// The program to run as the guard: Loupe's own binary. `None` is the running one.
    pub guard: Option<PathBuf>,
    /// Starts the servers that run inside this process; `None` refuses [`Source::Sample`] and [`Source::Fixture`].
    pub in_process: Option<StartInProcess>,
    /// Told of every message as it passes, from the first byte on, whether or not a session comes about. Must be quick.
    pub transcript: Option<Transcript>,
    /// How to name ourselves; `None` is as Loupe.
    pub identity: Option<Identity>,
    /// The revision that the server is known to speak. It is proposed in a handshake, and `server/discover` is asked only
    /// where the handshake is refused.
    pub speaks: Option<&'static str>,
    /// What a server may ask of us; declared to it unless the identity declares otherwise.
    pub answering: ClientCapabilities,
    /// Where logins are kept.
    pub logins: login::LoginStore,
    /// What is known to be secret. What the session learns is added: of its source, of a login, of an answer to the server.
    pub known: SecretList,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            connect_limit: Duration::from_secs(90),
            limits: Limits::default(),
            guard: None,
            in_process: None,
            transcript: None,
            identity: None,
            speaks: None,
            answering: ClientCapabilities::default(),
            logins: login::LoginStore::default(),
            known: SecretList::default(),
        }
    }
}

/// Starts the server of a source inside this process and returns the near end of its pipe. Runs off the event loop.
pub(crate) type StartInProcess = fn(&Source, Note) -> Result<DuplexStream, Problem>;

/// Told what a server inside this process has to say, as one on stderr would.
pub type Note = Arc<dyn Fn(&str) + Send + Sync>;

/// Takes down every message, both directions and stderr, in order.
pub type Transcript = Arc<dyn Fn(Line) + Send + Sync>;

/// Told while things happen, from any thread; must not block.
pub type OnSessionEvent = Arc<dyn Fn(SessionEvent) + Send + Sync>;

/// What happens next to the answers.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionEvent {
    /// A step of connecting has ended.
    Step(Step),
    /// What connecting is at.
    Phase(String),
    /// A line of the server's stderr; bad UTF-8 is U+FFFD.
    Stderr(String),
    /// How many messages there have been, both directions.
    Messages(u64),
    /// The progress of a call under way.
    Progress {
        progress: f64,
        total: Option<f64>,
        message: Option<String>,
    },
    /// How many lines came that are no messages.
    Unreadable(u64),
    /// Where a login that the server asks for is at.
    Login(login::Step),
    /// The server is gone; every later call ends at once.
    Gone(Problem),
    /// A question of the server needs no answer any more.
    Withdrawn { key: u64, why: String },
    /// The server says that what was to be done at an address is done; by the id of its question.
    Visited { id: String },
    /// The server logs something; the data is its text, or JSON.
    Log {
        level: String,
        logger: Option<String>,
        data: String,
    },
    /// What the server lists of a kind is no longer what was read.
    ListChanged(Listing),
    /// A resource that is watched has changed.
    ResourceUpdated(String),
    /// The headers a request went out with, as far as they are set here, and what HTTP said of its answer; secrets masked.
    Http {
        request: i64,
        sent: Vec<(String, String)>,
        response: HttpInfo,
    },
    /// How a task of the server stands.
    Task {
        id: String,
        status: String,
        message: Option<String>,
    },
    /// Something worth knowing that is no failure.
    Noted(String),
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
    /// How many of the entries the first page holds.
    pub first_page: usize,
    /// Why the list may not be whole.
    pub note: Option<String>,
    /// The response messages, page by page.
    pub raw: Vec<Bytes>,
}

/// A request whose answer is shown like a tool's: a resource that is read, a prompt that is filled in.
#[derive(Clone, Debug)]
pub struct ContentRequest {
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
pub async fn connect(
    source: &Source,
    options: Options,
    on_event: OnSessionEvent,
) -> Result<Session, Error> {
    let place = match source {
        Source::Sample(_) => "sample server".into(),
        Source::Command(command) => command.program.clone(),
        Source::Http(http) => redact_url(&http.url).into_owned(),
        Source::Fixture(folder) => folder.display().to_string(),
    };
    options.known.add_source(source);
    let tap = Tap::new(
        place.clone(),
        options.limits,
        options.transcript.clone(),
        on_event,
        options.known.clone(),
    );
    let tap = Arc::new(tap);
    tap.answer_with(options.answering.clone());
    let opened = tokio::select! {
        biased;
        opened = connect::open(source, &options, &tap) => Some(opened),
        () = tap.deadline.limit(options.connect_limit) => None,
    };
    let error = match opened {
        Some(Ok(session)) => return Ok(session),
        Some(Err(error)) => error,
        None => {
            let (unreadable, stderr) = tap.last_output();
            let (what, limit) = (tap.waiting_for(), options.connect_limit);
            Error::Timeout {
                place,
                what,
                limit,
                during_handshake: true,
                unreadable,
                stderr,
            }
        }
    };
    tap.fail_step(&error.to_string());
    Err(error)
}

/// Feeds the tap until the other side ends, then says so with the reason that `end` finds.
async fn read_lines(
    from: impl AsyncRead + Unpin,
    tap: Arc<Tap>,
    unended: mpsc::Receiver<oneshot::Sender<Bytes>>,
    end: impl AsyncFnOnce() -> Error,
) {
    let read = lines::read(from, tap.limits.message, unended, |line| {
        if !line.ended && !line.cut {
            tap.note_all("the last line has no line end");
        }
        tap.incoming(Incoming {
            bytes: line.bytes,
            begun: line.begun,
            cut: line.cut,
            within: None,
        });
    });
    match read.await {
        Ok(()) => tap.disconnect(end().await),
        Err(error) => {
            let (unreadable, stderr) = tap.last_output();
            let how = format!("the server's output could not be read: {error}");
            let during_handshake = !tap.is_established();
            tap.disconnect(Error::Disconnected {
                place: tap.place.clone(),
                how,
                during_handshake,
                unreadable,
                stderr,
            });
        }
    }
}

/// Why the server is gone, as its guard reports it.
async fn why_ended(tap: &Tap, mut end: watch::Receiver<ChildEnd>) -> Error {
    // A program that goes on without its output has not ended yet; the error then says that its output is closed.
    tokio::time::timeout(
        EXIT_LIMIT,
        end.wait_for(|end| !matches!(end, ChildEnd::Unknown)),
    )
    .await
    .ok();
    let (unreadable, stderr) = tap.last_output();
    let during_handshake = !tap.is_established();
    let unreadable = unreadable.filter(|_| during_handshake);
    let place = tap.place.clone();
    let end = end.borrow().clone();
    match end {
        ChildEnd::NotStarted(reason) => Error::NotStarted {
            program: place,
            reason,
        },
        ChildEnd::Ended(how) => Error::Disconnected {
            place,
            how,
            during_handshake,
            unreadable,
            stderr,
        },
        ChildEnd::Unknown => Error::Disconnected {
            place,
            how: "the program closed its output".into(),
            during_handshake,
            unreadable,
            stderr,
        },
    }
}

struct LinesOut(Mutex<Option<mpsc::Sender<lines::Out>>>);

fn lines_link(
    to: impl AsyncWrite + Send + Unpin + 'static,
    tasks: JoinSet<()>,
    unended: lines::Unended,
    process: Option<child::Process>,
) -> (Link, Arc<dyn Outbox>) {
    let (queue, queued) = mpsc::channel(QUEUE);
    let writer = tokio::spawn(lines::write(to, queued));
    (
        Link::Lines {
            _tasks: tasks,
            writer,
            unended,
            process,
        },
        Arc::new(LinesOut(Mutex::new(Some(queue)))),
    )
}

impl Outbox for LinesOut {
    fn send(
        &self,
        bytes: Bytes,
        _request: Option<i64>,
    ) -> oneshot::Receiver<std::io::Result<std::time::Instant>> {
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
