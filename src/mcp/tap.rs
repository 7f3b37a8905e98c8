//! The tap: every message of a session passes here, in both directions, as bytes.
//!
//! It logs, peeks at the envelope and decides whose a message is. Loupe's own requests wait in a table and get the
//! bytes of their answer; the SDK gets only what it keeps the books of: the answer to its `initialize` (made sane, see
//! `handshake`) and the server's pings. It never sees a payload, so it cannot choke on one.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use bytes::Bytes;
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, NumberOrString, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::{mpsc, oneshot};

use super::envelope::{Envelope, Id, Member, Peek, peek};
use super::error::{Error, excerpt};
use super::log::Log;
use super::{Happening, Happenings, Transcript};
use crate::capture::{Direction, HttpInfo, Message};
use crate::json::Doc;

/// What a call keeps of the messages beside it.
const BESIDE_COUNT: usize = 10_000;
const BESIDE_BYTES: usize = 16 << 20;
/// How far a message that is spread over several lines is put together again.
const SPREAD_BYTES: usize = 4 << 20;
/// Notes are for people; a flood of them is not.
const MAX_NOTES: usize = 50;

/// The way out. An acknowledgement comes when the message had left.
pub(super) trait Outbox: Send + Sync {
    fn send(&self, bytes: Bytes, request: Option<i64>) -> oneshot::Receiver<io::Result<Instant>>;
    /// Lets go of everything; nothing is sent after it.
    fn shut(&self);
}

/// One message as it came.
pub(super) struct Incoming {
    pub bytes: Bytes,
    pub begun: Instant,
    /// Longer than the limit: this is its first part.
    pub cut: bool,
    /// The request whose HTTP answer it stood in.
    pub within: Option<Within>,
}

#[derive(Clone, Debug)]
pub(super) struct Within {
    pub request: i64,
    pub http: Arc<HttpInfo>,
    /// A whole HTTP body belongs to its request whatever it holds; an event of a stream only if it is an answer.
    pub whole: bool,
}

#[derive(Debug)]
pub(super) struct Answer {
    pub bytes: Bytes,
    pub begun: Instant,
    pub ended: Instant,
    /// Why it does not count although it came.
    pub fault: Option<Error>,
    pub http: Option<Arc<HttpInfo>>,
}

/// How a request ended, seen from the wire.
#[derive(Debug)]
pub(super) enum End {
    Answer(Answer),
    Lost(Arc<Error>),
}

/// What came beside the answer.
#[derive(Debug, Default)]
pub(super) struct Beside {
    pub messages: Vec<Message>,
    pub notes: Vec<String>,
    bytes: usize,
    dropped: usize,
}

impl Beside {
    fn note(&mut self, note: &str) {
        if self.notes.len() < MAX_NOTES && !self.notes.iter().any(|known| known == note) {
            self.notes.push(note.to_owned());
        }
    }

    fn push(&mut self, message: Message) {
        self.bytes += message.bytes.len();
        if self.messages.len() < BESIDE_COUNT && self.bytes <= BESIDE_BYTES {
            self.messages.push(message);
        } else {
            self.dropped += 1;
        }
    }

    fn finish(mut self) -> Self {
        if self.dropped > 0 {
            self.notes.push(format!("{} more messages came during the call and are not kept", self.dropped));
        }
        self
    }
}

struct Pending {
    started: Instant,
    beside: Beside,
    unreadable: u64,
    done: oneshot::Sender<(End, Beside)>,
}

impl Pending {
    fn finish(mut self, end: End) {
        if self.unreadable > 0 {
            let plural = if self.unreadable == 1 { "line" } else { "lines" };
            self.beside.note(&format!("{} unreadable {plural} came during the call", self.unreadable));
        }
        // Nobody waits any more for a call that was given up.
        self.done.send((end, self.beside.finish())).ok();
    }
}

struct State {
    outbox: Option<Arc<dyn Outbox>>,
    sdk: Option<mpsc::Sender<ServerJsonRpcMessage>>,
    pending: BTreeMap<i64, Pending>,
    next_id: i64,
    log: Log,
    /// Lines of an object that is not closed yet.
    spread: Option<(Vec<u8>, Instant)>,
    messages: u64,
    unreadable: u64,
    first_unreadable: Option<String>,
    heard: bool,
    established: bool,
    gone: Option<Arc<Error>>,
}

pub(super) struct Tap {
    pub place: String,
    pub began: Instant,
    pub limit: usize,
    happenings: Happenings,
    state: Mutex<State>,
}

/// A request under way.
pub(super) struct Waiting {
    pub id: i64,
    pub left: oneshot::Receiver<io::Result<Instant>>,
    pub done: oneshot::Receiver<(End, Beside)>,
}

impl Tap {
    pub(super) fn new(place: String, limit: usize, transcript: Option<Transcript>, happenings: Happenings) -> Self {
        Self {
            place,
            began: Instant::now(),
            limit,
            happenings,
            state: Mutex::new(State {
                outbox: None,
                sdk: None,
                pending: BTreeMap::new(),
                // The SDK counts from 0, and only its `initialize` is ever sent.
                next_id: 1,
                log: Log::new(transcript),
                spread: None,
                messages: 0,
                unreadable: 0,
                first_unreadable: None,
                heard: false,
                established: false,
                gone: None,
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The state stays sound whatever panicked: every change of it is one step.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn happen(&self, happening: Happening) {
        (self.happenings)(happening);
    }

    pub(super) fn open(&self, outbox: Arc<dyn Outbox>, sdk: mpsc::Sender<ServerJsonRpcMessage>) {
        let mut state = self.state();
        state.outbox = Some(outbox);
        state.sdk = Some(sdk);
    }

    pub(super) fn establish(&self) -> Result<(), Error> {
        let mut state = self.state();
        state.established = true;
        state.gone.clone().map_or(Ok(()), |gone| Err(Error::Shared(gone)))
    }

    pub(super) fn wire(&self) -> Vec<Message> {
        self.state().log.messages()
    }

    /// The first line that was not MCP, and the last of stderr: for messages about a server that does not answer.
    pub(super) fn last_words(&self) -> (Option<String>, Vec<String>) {
        let state = self.state();
        (state.first_unreadable.clone(), state.log.stderr_tail(3))
    }

    pub(super) fn is_established(&self) -> bool {
        self.state().established
    }

    /// Sends a request whose text `write` makes from the id it gets.
    pub(super) fn request(&self, write: impl FnOnce(i64) -> Bytes) -> Result<Waiting, Error> {
        let id = {
            let mut state = self.state();
            state.next_id += 1;
            state.next_id - 1
        };
        self.request_as(id, write(id))
    }

    fn request_as(&self, id: i64, bytes: Bytes) -> Result<Waiting, Error> {
        let (done, waiting) = oneshot::channel();
        let mut state = self.state();
        if let Some(gone) = &state.gone {
            return Err(Error::Shared(Arc::clone(gone)));
        }
        let Some(outbox) = state.outbox.clone() else { return Err(Error::Closed { place: self.place.clone() }) };
        self.log(&mut state, Direction::Out, &bytes);
        state.pending.insert(id, Pending { started: Instant::now(), beside: Beside::default(), unreadable: 0, done });
        drop(state);
        Ok(Waiting { id, left: outbox.send(bytes, Some(id)), done: waiting })
    }

    /// Sends a notification or a response.
    pub(super) fn send(&self, bytes: Bytes) -> Result<oneshot::Receiver<io::Result<Instant>>, Error> {
        let mut state = self.state();
        let Some(outbox) = state.outbox.clone() else { return Err(Error::Closed { place: self.place.clone() }) };
        self.log(&mut state, Direction::Out, &bytes);
        drop(state);
        Ok(outbox.send(bytes, None))
    }

    /// Gives a request up; a late answer belongs to nobody. `None` where it has just ended by itself.
    pub(super) fn abandon(&self, id: i64) -> Option<Beside> {
        self.state().pending.remove(&id).map(|pending| pending.beside.finish())
    }

    pub(super) fn end(&self, id: i64, end: End) {
        let pending = self.state().pending.remove(&id);
        if let Some(pending) = pending {
            pending.finish(end);
        }
    }

    pub(super) fn is_pending(&self, id: i64) -> bool {
        self.state().pending.contains_key(&id)
    }

    pub(super) fn note(&self, id: i64, note: &str) {
        if let Some(pending) = self.state().pending.get_mut(&id) {
            pending.beside.note(note);
        }
    }

    /// For every request that waits.
    pub(super) fn note_all(&self, note: &str) {
        for pending in self.state().pending.values_mut() {
            pending.beside.note(note);
        }
    }

    /// A page came in place of an answer: it is kept as what it is.
    pub(super) fn end_with_page(&self, id: i64, bytes: Bytes, begun: Instant, fault: Error, http: Arc<HttpInfo>) {
        let ended = {
            let mut state = self.state();
            self.log(&mut state, Direction::In, &bytes)
        };
        self.end(id, End::Answer(Answer { bytes, begun, ended, fault: Some(fault), http: Some(http) }));
    }

    /// The server is gone: whatever waits ends now, and so does every later request.
    pub(super) fn gone(&self, error: Error) {
        let error = Arc::new(error);
        let (pending, tell) = {
            let mut state = self.state();
            if state.gone.is_some() {
                return;
            }
            state.gone = Some(Arc::clone(&error));
            state.sdk = None;
            (std::mem::take(&mut state.pending), state.established && state.outbox.is_some())
        };
        for pending in pending.into_values() {
            pending.finish(End::Lost(Arc::clone(&error)));
        }
        if tell {
            self.happen(Happening::Gone((&*error).into()));
        }
    }

    /// Loupe lets go.
    pub(super) fn shut(&self) {
        let (outbox, pending) = {
            let mut state = self.state();
            state.sdk = None;
            (state.outbox.take(), std::mem::take(&mut state.pending))
        };
        let closed = Arc::new(Error::Closed { place: self.place.clone() });
        for pending in pending.into_values() {
            pending.finish(End::Lost(Arc::clone(&closed)));
        }
        if let Some(outbox) = outbox {
            outbox.shut();
        }
    }

    pub(super) fn stderr(&self, line: &Bytes) {
        let text = String::from_utf8_lossy(line).into_owned();
        {
            let mut state = self.state();
            let at = self.log(&mut state, Direction::Stderr, line);
            join(&mut state, at, Direction::Stderr, line, None);
        }
        self.happen(Happening::Stderr(text));
    }

    fn log(&self, state: &mut State, direction: Direction, bytes: &Bytes) -> Instant {
        let now = Instant::now();
        state.log.push(now.saturating_duration_since(self.began), direction, bytes.clone());
        if direction != Direction::Stderr {
            state.messages += 1;
        }
        if direction == Direction::Out {
            join(state, now, direction, bytes, None);
        }
        now
    }

    /// A message came. Says whether it was one at all.
    pub(super) fn incoming(&self, incoming: Incoming) -> bool {
        let mut happenings = Vec::new();
        let readable = {
            let mut state = self.state();
            let now = self.log(&mut state, Direction::In, &incoming.bytes);
            happenings.push(Happening::Messages(state.messages));
            let readable = self.sort(&mut state, now, incoming, &mut happenings);
            if readable && !std::mem::replace(&mut state.heard, true) && !state.established {
                happenings.push(Happening::Phase("initialize".into()));
            }
            readable
        };
        happenings.into_iter().for_each(|happening| self.happen(happening));
        readable
    }

    fn sort(&self, state: &mut State, now: Instant, incoming: Incoming, happenings: &mut Vec<Happening>) -> bool {
        let seen = peek(&incoming.bytes);
        if incoming.cut {
            let what = format!("the message is larger than {} bytes; its first part is kept", self.limit);
            let fault = Error::Malformed { place: self.place.clone(), what };
            let id = match &seen {
                Peek::Object(envelope) => envelope.id.number().filter(|id| state.pending.contains_key(id)),
                _ => None,
            };
            if let Some(target) = incoming.within.as_ref().map(|within| within.request).or(id).or(only(state)) {
                finish(state, target, now, incoming, Some(fault));
                return true;
            }
            return self.unreadable(state, now, &incoming, happenings);
        }
        match seen {
            Peek::Object(envelope) if envelope.complete || envelope.method.is_some() || envelope.is_response() => {
                if envelope.method.is_some() {
                    state.spread = None;
                    self.asked(state, now, &envelope, &incoming, happenings)
                } else if envelope.is_response() {
                    state.spread = None;
                    self.answered(state, now, &envelope, incoming, happenings)
                } else {
                    self.unreadable(state, now, &incoming, happenings)
                }
            }
            Peek::Batch(found) if found.iter().any(Envelope::is_response) => {
                let ours = found.iter().filter_map(|each| each.id.number()).find(|id| state.pending.contains_key(id));
                match ours.or(incoming.within.as_ref().map(|within| within.request)).or(only(state)) {
                    Some(target) => {
                        let what = "the answer came inside an array (a batch), which MCP does not have".into();
                        finish(state, target, now, incoming, Some(Error::Malformed { place: self.place.clone(), what }));
                        true
                    }
                    None => self.unreadable(state, now, &incoming, happenings),
                }
            }
            Peek::Object(_) if incoming.within.is_none() && state.spread.is_none() => {
                state.spread = Some((incoming.bytes.to_vec(), incoming.begun));
                self.unreadable(state, now, &incoming, happenings)
            }
            _ => {
                let readable = self.unreadable(state, now, &incoming, happenings);
                self.gather(state, now, &incoming);
                readable
            }
        }
    }

    /// Puts a message together that a server printed over several lines; it is an answer, but not one MCP allows.
    fn gather(&self, state: &mut State, now: Instant, incoming: &Incoming) {
        let Some((mut text, begun)) = state.spread.take() else { return };
        if incoming.within.is_some() || text.len() + incoming.bytes.len() > SPREAD_BYTES {
            return;
        }
        text.push(b'\n');
        text.extend_from_slice(&incoming.bytes);
        // Only a line that begins with a closing bracket can end the outermost object.
        let may_end = incoming.bytes.trim_ascii_start().starts_with(b"}");
        match may_end.then(|| peek(&text)) {
            Some(Peek::Object(envelope)) if envelope.complete => {
                let target = envelope.id.number().filter(|id| state.pending.contains_key(id)).or(only(state));
                if let Some(target) = target.filter(|_| envelope.is_response()) {
                    let what = "the answer is spread over several lines; on standard output a message is one line".into();
                    let whole = Incoming { bytes: text.into(), begun, cut: false, within: None };
                    finish(state, target, now, whole, Some(Error::Malformed { place: self.place.clone(), what }));
                }
            }
            _ => state.spread = Some((text, begun)),
        }
    }

    /// A line that is no message: shown and counted, and it may belong to any call that waits.
    fn unreadable(&self, state: &mut State, now: Instant, incoming: &Incoming, happenings: &mut Vec<Happening>) -> bool {
        if let Some(within) = incoming.within.as_ref().filter(|within| within.whole) {
            let what = format!("the body is no MCP message: {}", quote(&incoming.bytes));
            let (target, fault) = (within.request, Error::Malformed { place: self.place.clone(), what });
            let whole =
                Incoming { bytes: incoming.bytes.clone(), begun: incoming.begun, cut: false, within: incoming.within.clone() };
            finish(state, target, now, whole, Some(fault));
            return false;
        }
        if incoming.bytes.is_empty() {
            return false;
        }
        state.unreadable += 1;
        state.first_unreadable.get_or_insert_with(|| excerpt(&String::from_utf8_lossy(&incoming.bytes)));
        for pending in state.pending.values_mut() {
            pending.unreadable += 1;
        }
        join(state, now, Direction::In, &incoming.bytes, None);
        happenings.push(Happening::Unreadable(state.unreadable));
        false
    }

    /// A request or a notification of the server.
    fn asked(
        &self,
        state: &mut State,
        now: Instant,
        envelope: &Envelope,
        incoming: &Incoming,
        happenings: &mut Vec<Happening>,
    ) -> bool {
        join(state, now, Direction::In, &incoming.bytes, None);
        let method = envelope.method.as_deref().unwrap_or_default();
        match (&envelope.id, &envelope.id_range) {
            (Id::Absent | Id::Null, _) | (_, None) => {
                if method == "notifications/progress" {
                    happenings.extend(progress(state, &incoming.bytes));
                }
            }
            (_, Some(range)) => {
                if method == "ping"
                    && let Ok(ping) = serde_json::from_slice(&incoming.bytes)
                    && state.sdk.as_ref().is_some_and(|sdk| sdk.try_send(ping).is_ok())
                {
                    return true;
                }
                // Nothing else was declared, so nothing else is answered; the id goes back as it came.
                let id = String::from_utf8_lossy(&incoming.bytes[range.clone()]);
                let message = crate::json::write::string(&format!("Loupe does not answer {method}"));
                let reply =
                    Bytes::from(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":{message}}}}}"#));
                if let Some(outbox) = state.outbox.clone() {
                    self.log(state, Direction::Out, &reply);
                    drop(outbox.send(reply, None));
                }
            }
        }
        true
    }

    /// A response, or what is left of one.
    fn answered(
        &self,
        state: &mut State,
        now: Instant,
        envelope: &Envelope,
        incoming: Incoming,
        happenings: &mut Vec<Happening>,
    ) -> bool {
        let within = incoming.within.as_ref().map(|within| within.request);
        let asked = match within {
            Some(id) => Some(id).filter(|id| state.pending.contains_key(id)),
            None => only(state),
        };
        if let Some(id) = envelope.id.number() {
            if state.pending.contains_key(&id) {
                if let (Id::Odd(_, text), Some(pending)) = (&envelope.id, state.pending.get_mut(&id)) {
                    pending.beside.note(&format!("the id {id} came back as {text}"));
                }
                finish(state, id, now, incoming, None);
                return true;
            }
            if (0..state.next_id).contains(&id) && within.is_none_or(|within| within == id) {
                // Late, or a second answer: on the wire log, and beside whatever else waits.
                join(state, now, Direction::In, &incoming.bytes, Some("an answer to an earlier request came"));
                return true;
            }
        }
        let Some(target) = asked else {
            return if state.pending.is_empty() {
                join(state, now, Direction::In, &incoming.bytes, None);
                true
            } else {
                self.unreadable(state, now, &incoming, happenings)
            };
        };
        let shown = envelope.id.shown();
        let is_nameless = matches!(envelope.id, Id::Absent | Id::Null);
        if is_nameless && envelope.error == Member::Present {
            // A server that could not read the request's id has none to give back.
            if let Some(pending) = state.pending.get_mut(&target) {
                pending.beside.note(&format!("the error came with {shown}"));
            }
            finish(state, target, now, incoming, None);
        } else {
            let what = format!("the answer carries {shown}, the request had {target}");
            finish(state, target, now, incoming, Some(Error::Malformed { place: self.place.clone(), what }));
        }
        true
    }
}

/// The one request that waits, if it is one.
fn only(state: &State) -> Option<i64> {
    let mut waiting = state.pending.keys();
    waiting.next().copied().filter(|_| waiting.next().is_none())
}

fn finish(state: &mut State, id: i64, now: Instant, incoming: Incoming, fault: Option<Error>) {
    let Some(pending) = state.pending.remove(&id) else { return };
    let http = incoming.within.map(|within| within.http);
    // The answer of one is a message beside the others.
    join(state, now, Direction::In, &incoming.bytes, None);
    pending.finish(End::Answer(Answer { bytes: incoming.bytes, begun: incoming.begun, ended: now, fault, http }));
}

/// Adds a message to every call that waits.
fn join(state: &mut State, now: Instant, direction: Direction, bytes: &Bytes, note: Option<&str>) {
    for pending in state.pending.values_mut() {
        let at = now.saturating_duration_since(pending.started);
        pending.beside.push(Message { at, direction, bytes: bytes.clone() });
        if let Some(note) = note {
            pending.beside.note(note);
        }
    }
}

fn progress(state: &State, bytes: &Bytes) -> Option<Happening> {
    let doc = Doc::parse(bytes.clone());
    let params = doc.root()?.get("params")?;
    let token = params.get("progressToken")?;
    let token = token.as_i64().or_else(|| token.as_str()?.parse().ok())?;
    state.pending.contains_key(&token).then_some(())?;
    Some(Happening::Progress {
        progress: params.get("progress")?.as_f64()?,
        total: params.get("total").and_then(|node| node.as_f64()),
        message: params.get("message").and_then(|node| node.as_str()).map(|text| text.into_owned()),
    })
}

pub(super) fn quote(bytes: &[u8]) -> String {
    let text = excerpt(&String::from_utf8_lossy(&bytes[..bytes.len().min(2_000)]));
    if text.is_empty() { "it is empty".into() } else { format!("`{text}`") }
}

/// The SDK's end of the tap.
pub(super) struct SdkEnd {
    pub tap: Arc<Tap>,
    pub inbox: mpsc::Receiver<ServerJsonRpcMessage>,
    /// Takes the handshake's request as it was sent.
    pub initialize: Option<oneshot::Sender<Waiting>>,
}

impl Transport<RoleClient> for SdkEnd {
    type Error = Error;

    fn send(&mut self, item: ClientJsonRpcMessage) -> impl Future<Output = Result<(), Error>> + Send + 'static {
        let place = || self.tap.place.clone();
        let sent =
            serde_json::to_vec(&item).map_err(|error| Error::Write { place: place(), source: error.into() }).and_then(|bytes| {
                match item {
                    ClientJsonRpcMessage::Request(request) => match (request.request, request.id, self.initialize.take()) {
                        (ClientRequest::InitializeRequest(_), NumberOrString::Number(id), Some(initialize)) => {
                            let waiting = self.tap.request_as(id, bytes.into())?;
                            initialize.send(waiting).map_err(|_| Error::Closed { place: place() })?;
                            Ok(None)
                        }
                        _ => Err(Error::Handshake {
                            place: place(),
                            what: "a request that Loupe did not ask for was held back".into(),
                        }),
                    },
                    _ => self.tap.send(bytes.into()).map(Some),
                }
            });
        let place = place();
        async move {
            match sent? {
                None => Ok(()),
                Some(left) => match left.await {
                    Ok(Ok(_)) => Ok(()),
                    Ok(Err(source)) => Err(Error::Write { place, source }),
                    Err(_) => Err(Error::Closed { place }),
                },
            }
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        self.inbox.recv().await
    }

    async fn close(&mut self) -> Result<(), Error> {
        self.inbox.close();
        Ok(())
    }
}
