//! The tap: every message of a session passes here as bytes, in both directions.
//!
//! It logs the message, reads its envelope and decides who gets it. Loupe's own requests wait in a table and get the bytes
//! of their response. The SDK gets the response to its own `initialize` alone (repaired in `handshake`). Requests of the
//! server go to `server_requests`. The tap never parses a result, so no result can break it.

mod dispatch;
mod pending;
mod sdk_end;
mod server_requests;
mod spread;
mod steps;

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use bytes::Bytes;
use rmcp::model::ServerJsonRpcMessage;
use tokio::sync::{mpsc, oneshot, watch};

pub(super) use pending::{
    AbandonedRequest, Activity, Answer, End, Pending, PendingRequest, SideMessages, Text,
};
pub(super) use sdk_end::SdkEnd;

use super::deadline::PausableDeadline;
use super::discovery_noise::DiscoveryNoise;
use super::envelope::Peek;
use super::error::{Error, excerpt};
use super::log::Log;
use super::server_requests::{ClientCapabilities, ServerRequests};
use super::{OnSessionEvent, SessionEvent, Transcript};
use loupe_core::capture::{Direction, HttpInfo, Message, Step};
use loupe_core::json::Doc;
use loupe_core::redact::SecretList;
use loupe_core::source::Limits;
use spread::Spread;

/// How often a login looks whether the call it is for was given up.
const GIVEN_UP_LOOK: Duration = Duration::from_millis(200);

/// The one revision that has batches.
const BATCHES: &str = "2025-03-26";

/// The way out. An acknowledgement comes when the message had left.
pub(super) trait Outbox: Send + Sync {
    fn send(&self, bytes: Bytes, request: Option<i64>) -> oneshot::Receiver<io::Result<Instant>>;
    /// Gives a request up in the transport's own way. `false` where a notification has to tell the server.
    fn cancel(&self, _request: i64) -> bool {
        false
    }
    /// Lets go of everything; nothing is sent after it.
    fn shut(&self);
}

/// One message as it came.
pub(super) struct Incoming {
    pub bytes: Bytes,
    pub begun: Instant,
    /// Longer than the limit: this is its first part.
    pub cut: bool,
    /// The request whose HTTP answer it was in.
    pub within: Option<Within>,
}

#[derive(Clone, Debug)]
pub(super) struct Within {
    pub request: i64,
    pub http: Arc<HttpInfo>,
    /// A whole HTTP body belongs to its request whatever it holds; an event of a stream only if it is an answer.
    pub whole: bool,
}

pub(super) struct State {
    pub(crate) outbox: Option<Arc<dyn Outbox>>,
    sdk: Option<mpsc::Sender<ServerJsonRpcMessage>>,
    pub pending: BTreeMap<i64, Pending>,
    pub server_requests: ServerRequests,
    next_id: i64,
    log: Log,
    /// Lines of an object that is not closed yet.
    spread: Option<Spread>,
    messages: u64,
    unreadable: u64,
    /// The first of all lines that were no messages, and the first since the last request.
    first_of_all: Option<String>,
    first_unreadable: Option<String>,
    received_any: bool,
    /// Progress came while nothing was waited for, which was said.
    has_late_progress: bool,
    noise: DiscoveryNoise,
    pub(crate) established: bool,
    /// The revision that was agreed on has batches.
    has_batches: bool,
    gone: Option<Arc<Error>>,
    steps: Vec<Step>,
    /// The step of connecting that is under way: its name, what is tried, and since when.
    step: Option<(&'static str, String, Instant)>,
}

impl State {
    /// Tells whoever waits whether the server is being waited for.
    pub(super) fn activity(&self) {
        let is_asked = self.server_requests.is_open();
        for pending in self.pending.values() {
            pending
                .activity
                .send_modify(|activity| activity.is_asked = is_asked);
        }
    }

    /// For every request that waits.
    pub(super) fn note_all(&mut self, note: &str) {
        for pending in self.pending.values_mut() {
            pending.beside.note(note);
        }
    }
}

pub(super) struct Tap {
    pub place: String,
    pub began: Instant,
    pub limits: Limits,
    pub deadline: Arc<PausableDeadline>,
    on_event: OnSessionEvent,
    pub known: SecretList,
    /// What may be asked of us; set once, before anything is sent.
    answering: OnceLock<(Weak<Tap>, Mutex<ClientCapabilities>)>,
    state: Mutex<State>,
}

impl Tap {
    pub(super) fn new(
        place: String,
        limits: Limits,
        transcript: Option<Transcript>,
        on_event: OnSessionEvent,
        known: SecretList,
    ) -> Self {
        Self {
            place,
            began: Instant::now(),
            limits,
            deadline: Arc::default(),
            on_event,
            known,
            answering: OnceLock::new(),
            state: Mutex::new(State {
                outbox: None,
                sdk: None,
                pending: BTreeMap::new(),
                server_requests: ServerRequests::default(),
                // The SDK counts from 0, and only its `initialize` is ever sent.
                next_id: 1,
                log: Log::new(transcript, limits),
                spread: None,
                messages: 0,
                unreadable: 0,
                first_of_all: None,
                first_unreadable: None,
                received_any: false,
                has_late_progress: false,
                noise: DiscoveryNoise::default(),
                established: false,
                has_batches: false,
                gone: None,
                steps: Vec::new(),
                step: None,
            }),
        }
    }

    /// Says what may be asked of us. The first word counts.
    pub(super) fn answer_with(self: &Arc<Self>, answering: ClientCapabilities) {
        // Set already: by the one connection that this tap is of.
        self.answering
            .set((Arc::downgrade(self), Mutex::new(answering)))
            .ok();
    }

    pub(super) fn answering(&self) -> ClientCapabilities {
        self.answering
            .get()
            .map(|(_, answering)| {
                answering
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .clone()
            })
            .unwrap_or_default()
    }

    /// Other folders from here on; whether folders were declared at all.
    pub(super) fn set_roots(&self, roots: Vec<loupe_core::server_request::Root>) -> bool {
        let Some((_, answering)) = self.answering.get() else {
            return false;
        };
        let mut answering = answering.lock().unwrap_or_else(PoisonError::into_inner);
        let was_declared = answering.roots.is_some();
        if was_declared {
            answering.roots = Some(roots);
        }
        was_declared
    }

    pub(super) fn me(&self) -> Weak<Tap> {
        self.answering
            .get()
            .map(|(me, _)| me.clone())
            .unwrap_or_default()
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // The state stays sound whatever panicked: every change of it is one step.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn emit(&self, event: SessionEvent) {
        (self.on_event)(event);
    }

    /// The way out is there. After another one was given up, nothing of it matters any more.
    pub(super) fn open(&self, outbox: Arc<dyn Outbox>) {
        let mut state = self.state();
        state.outbox = Some(outbox);
        if state.gone.take().is_some() {
            state.spread = None;
            state.first_unreadable = None;
            state.log.start_tail();
        }
    }

    pub(super) fn attach(&self, sdk: mpsc::Sender<ServerJsonRpcMessage>) {
        self.state().sdk = Some(sdk);
    }

    /// A revision is agreed on.
    pub(super) fn establish(&self, version: &str) -> Result<(), Error> {
        let mut state = self.state();
        state.established = true;
        state.has_batches = version == BATCHES;
        state
            .gone
            .clone()
            .map_or(Ok(()), |gone| Err(Error::Shared(gone)))
    }

    /// Why everything ended, if it did.
    pub(super) fn failure(&self) -> Option<Error> {
        self.state().gone.clone().map(Error::Shared)
    }

    pub(super) fn wire(&self) -> Vec<Message> {
        self.state().log.messages()
    }

    /// The first line that was not MCP, and the last of stderr: for messages about a server that does not answer.
    pub(super) fn last_output(&self) -> (Option<String>, Vec<String>) {
        let state = self.state();
        (state.first_unreadable.clone(), state.log.stderr_tail())
    }

    /// How many lines came that were no messages, and the first of them; `None` where all were.
    pub(super) fn strays(&self) -> Option<(u64, String)> {
        let state = self.state();
        state
            .first_of_all
            .clone()
            .map(|first| (state.unreadable, first))
    }

    /// Lines of stderr about `server/discover` that were not shown.
    pub(super) fn noise(&self) -> u64 {
        self.state().noise.lines
    }

    pub(super) fn is_established(&self) -> bool {
        self.state().established
    }

    /// Sends a request whose text `write` makes from the id it gets.
    pub(super) fn request<T: Into<Text>>(
        &self,
        write: impl FnOnce(i64) -> T,
    ) -> Result<PendingRequest, Error> {
        let id = {
            let mut state = self.state();
            state.next_id += 1;
            state.next_id - 1
        };
        self.request_as(id, write(id))
    }

    /// Sends a request that stays open next to all others, as a subscription does. What it waits for first is that the
    /// server takes it: then the `notifications` that it agreed to come.
    pub(super) fn request_aside(
        &self,
        write: impl FnOnce(i64) -> Bytes,
    ) -> Result<(PendingRequest, oneshot::Receiver<Bytes>), Error> {
        let id = {
            let mut state = self.state();
            state.next_id += 1;
            state.next_id - 1
        };
        let (agree, agreed) = oneshot::channel();
        Ok((
            self.send_request(id, write(id).into(), Some(agree))?,
            agreed,
        ))
    }

    pub(super) fn request_as(
        &self,
        id: i64,
        text: impl Into<Text>,
    ) -> Result<PendingRequest, Error> {
        self.send_request(id, text.into(), None)
    }

    fn send_request(
        &self,
        id: i64,
        text: Text,
        agree: Option<oneshot::Sender<Bytes>>,
    ) -> Result<PendingRequest, Error> {
        let Text { sent, kept } = text;
        let (done, waiting) = oneshot::channel();
        let mut state = self.state();
        if let Some(gone) = &state.gone {
            return Err(Error::Shared(Arc::clone(gone)));
        }
        let Some(outbox) = state.outbox.clone() else {
            return Err(Error::Closed {
                place: self.place.clone(),
            });
        };
        self.log_sent(&mut state, &kept);
        if state.established && state.pending.values().all(|pending| pending.is_aside) {
            // What was printed before has nothing to do with it.
            state.first_unreadable = None;
        }
        let (activity, watched) = watch::channel(Activity {
            signs: 0,
            is_asked: state.server_requests.is_open(),
        });
        state.pending.insert(
            id,
            Pending {
                started: Instant::now(),
                beside: SideMessages::up_to(self.limits.beside),
                unreadable: 0,
                unreadable_before: 0,
                odd: None,
                is_heard: false,
                activity,
                is_in_lines: false,
                is_aside: agree.is_some(),
                agree,
                done,
            },
        );
        drop(state);
        Ok(PendingRequest {
            id,
            left: outbox.send(sent, Some(id)),
            activity: watched,
            done: waiting,
        })
    }

    /// Sends a notification or a response.
    pub(super) fn send(
        &self,
        bytes: Bytes,
    ) -> Result<oneshot::Receiver<io::Result<Instant>>, Error> {
        let mut state = self.state();
        let Some(outbox) = state.outbox.clone() else {
            return Err(Error::Closed {
                place: self.place.clone(),
            });
        };
        self.log_sent(&mut state, &bytes);
        drop(state);
        Ok(outbox.send(bytes, None))
    }

    /// Whether the transport ended the request in its own way.
    pub(super) fn cancel(&self, id: i64) -> bool {
        let outbox = self.state().outbox.clone();
        outbox.is_some_and(|outbox| outbox.cancel(id))
    }

    /// Gives a request up; a late answer belongs to nobody. `None` where it has just ended by itself.
    pub(super) fn abandon(&self, id: i64) -> Option<AbandonedRequest> {
        self.state().pending.remove(&id).map(Pending::give_up)
    }

    pub(super) fn end(&self, id: i64, end: End) {
        let pending = self.state().pending.remove(&id);
        if let Some(pending) = pending {
            pending.finish(end);
        }
    }

    /// The server has ended a request that stays open.
    pub(super) fn ended_aside(&self, state: &mut State, id: i64, reason: Option<String>) {
        let Some(pending) = state.pending.remove(&id) else {
            return;
        };
        let why = reason
            .map(|reason| format!(": {}", excerpt(&reason)))
            .unwrap_or_default();
        pending.finish(End::Lost(Arc::new(Error::Disconnected {
            place: self.place.clone(),
            how: format!("the server ended it{why}"),
            during_handshake: false,
            unreadable: None,
            stderr: Vec::new(),
        })));
    }

    pub(super) fn is_pending(&self, id: i64) -> bool {
        self.state().pending.contains_key(&id)
    }

    /// Whether the answer to any request is waited for.
    pub(super) fn is_waiting(&self) -> bool {
        self.state()
            .pending
            .values()
            .any(|pending| !pending.is_aside)
    }

    /// Ends when nobody waits any more for the answer to a request; never for what has none.
    pub(super) async fn wait_until_abandoned(&self, request: Option<i64>) {
        while request.is_none_or(|id| self.is_pending(id)) {
            tokio::time::sleep(GIVEN_UP_LOOK).await;
        }
    }

    pub(super) fn note(&self, id: i64, note: &str) {
        if let Some(pending) = self.state().pending.get_mut(&id) {
            pending.beside.note(note);
        }
    }

    /// For every request that waits.
    pub(super) fn note_all(&self, note: &str) {
        self.state().note_all(note);
    }

    /// A page came instead of an answer: it is kept as what it is.
    pub(super) fn end_with_page(
        &self,
        id: i64,
        bytes: Bytes,
        begun: Instant,
        fault: Error,
        http: Arc<HttpInfo>,
    ) {
        let ended = Instant::now();
        self.log(&mut self.state(), ended, (Direction::In, &bytes), None);
        self.end(
            id,
            End::Answer(Answer {
                bytes,
                doc: None,
                begun,
                ended,
                fault: Some(fault),
                http: Some(http),
            }),
        );
    }

    /// The server is gone: whatever waits ends now, and so does every later request.
    pub(super) fn disconnect(&self, error: Error) {
        let error = Arc::new(error);
        let (pending, asks, tell) = {
            let mut state = self.state();
            if state.gone.is_some() {
                return;
            }
            state.gone = Some(Arc::clone(&error));
            state.sdk = None;
            (
                std::mem::take(&mut state.pending),
                state.server_requests.clear(),
                state.established && state.outbox.is_some(),
            )
        };
        self.withdraw(asks, "the server is gone");
        for pending in pending.into_values() {
            pending.finish(End::Lost(Arc::clone(&error)));
        }
        if tell {
            self.emit(SessionEvent::Gone(self.known.problem((&*error).into())));
        }
    }

    /// Loupe lets go.
    pub(super) fn shut(&self) {
        let (outbox, pending, asks) = {
            let mut state = self.state();
            state.sdk = None;
            (
                state.outbox.take(),
                std::mem::take(&mut state.pending),
                state.server_requests.clear(),
            )
        };
        self.withdraw(asks, "the connection was closed");
        let closed = Arc::new(Error::Closed {
            place: self.place.clone(),
        });
        for pending in pending.into_values() {
            pending.finish(End::Lost(Arc::clone(&closed)));
        }
        if let Some(outbox) = outbox {
            outbox.shut();
        }
    }

    pub(super) fn stderr(&self, line: &Bytes) {
        let text = String::from_utf8_lossy(line).into_owned();
        let full = {
            let mut state = self.state();
            let now = Instant::now();
            self.log(&mut state, now, (Direction::Stderr, line), None);
            join(&mut state, now, Direction::Stderr, line, None);
            let is_noise = state.noise.takes(&text);
            (state.log.take_note(), is_noise)
        };
        let (full, is_noise) = full;
        if !is_noise {
            self.emit(SessionEvent::Stderr(text));
        }
        full.into_iter()
            .for_each(|note| self.emit(SessionEvent::Noted(note)));
    }

    fn log_sent(&self, state: &mut State, bytes: &Bytes) {
        self.log(state, Instant::now(), (Direction::Out, bytes), None);
    }

    /// `peeked`: what was seen of the message already.
    fn log(
        &self,
        state: &mut State,
        now: Instant,
        (direction, bytes): (Direction, &Bytes),
        peeked: Option<&Peek<'_>>,
    ) {
        let at = now.saturating_duration_since(self.began);
        state.log.push(
            Message {
                at,
                direction,
                bytes: bytes.clone(),
            },
            peeked,
        );
        if direction != Direction::Stderr {
            state.messages += 1;
        }
        if direction == Direction::Out {
            join(state, now, direction, bytes, None);
        }
    }
}

/// The one request that waits for its answer, if it is one.
fn only(state: &State) -> Option<i64> {
    let mut waiting = state
        .pending
        .iter()
        .filter(|(_, pending)| !pending.is_aside)
        .map(|(id, _)| id);
    waiting.next().copied().filter(|_| waiting.next().is_none())
}

/// `read`: the index over the answer where there is one, or why it does not count.
fn finish(
    state: &mut State,
    id: i64,
    now: Instant,
    incoming: Incoming,
    read: Result<Option<Arc<Doc>>, Error>,
) {
    let Some(pending) = state.pending.remove(&id) else {
        return;
    };
    let http = incoming.within.map(|within| within.http);
    // The answer of one is a message next to the others.
    join(state, now, Direction::In, &incoming.bytes, None);
    let (doc, fault) = read.map_or_else(|fault| (None, Some(fault)), |doc| (doc, None));
    pending.finish(End::Answer(Answer {
        bytes: incoming.bytes,
        doc,
        begun: incoming.begun,
        ended: now,
        fault,
        http,
    }));
}

/// Adds a message to every call that waits.
fn join(state: &mut State, now: Instant, direction: Direction, bytes: &Bytes, note: Option<&str>) {
    for pending in state
        .pending
        .values_mut()
        .filter(|pending| !pending.is_aside)
    {
        let at = now.saturating_duration_since(pending.started);
        pending.beside.push(Message {
            at,
            direction,
            bytes: bytes.clone(),
        });
        if let Some(note) = note {
            pending.beside.note(note);
        }
    }
}

pub(super) fn quote(bytes: &[u8]) -> String {
    let text = excerpt(&String::from_utf8_lossy(&bytes[..bytes.len().min(2_000)]));
    if text.is_empty() {
        "it is empty".into()
    } else {
        format!("`{text}`")
    }
}
