//! What a server asks of us and tells us, on its way to whoever answers, and the answer's way back.

use bytes::Bytes;

use super::{State, Tap};
use crate::envelope::{Envelope, Id};
use crate::error::excerpt;
use crate::server_requests::{Answer, MASKED};
use crate::{Listing, SessionEvent};
use loupe_core::json::{Doc, Node, write};
use loupe_core::server_request::{self, Reply, RequestKind, ServerRequest};

/// As many questions may be open at once; the user can answer one after the other only.
const MAX_OPEN: usize = 32;
/// A question larger than this is not put to anybody.
const MAX_BYTES: usize = 4 << 20;
/// By which a notification says to which subscription it belongs.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_REQUEST: i32 = -32600;
const REFUSED: i32 = -1;
const BUSY: i32 = -32000;

fn error(id: &str, code: i32, message: &str) -> Bytes {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{}}}}}"#,
        write::string(message)
    )
    .into()
}

impl Tap {
    /// A request of the server.
    pub(crate) fn questioned(
        &self,
        state: &mut State,
        envelope: &Envelope,
        bytes: &Bytes,
        id_raw: &Bytes,
        events: &mut Vec<SessionEvent>,
    ) {
        let method = envelope.method.as_deref().unwrap_or_default();
        let id = String::from_utf8_lossy(id_raw).into_owned();
        let reply = match self.question(state, envelope, bytes, id_raw, &id) {
            None => return,
            Some(reply) => reply,
        };
        if let Err(why) = &reply.1 {
            events.push(SessionEvent::Noted(format!(
                "the server asked for `{method}`, which was refused: {why}"
            )));
        }
        self.send_reply(state, reply.0, None);
    }

    /// What to say at once; `None` where somebody has to be asked.
    fn question(
        &self,
        state: &mut State,
        envelope: &Envelope,
        bytes: &Bytes,
        id_raw: &Bytes,
        id: &str,
    ) -> Option<(Bytes, Result<(), String>)> {
        let method = envelope.method.as_deref().unwrap_or_default();
        let refuse = |code: i32, why: String| Some((error(id, code, &why), Err(why)));
        if matches!(&envelope.id, Id::Odd(..))
            && !matches!(id_raw.first(), Some(b'"' | b'-' | b'0'..=b'9'))
        {
            let why = format!(
                "the id of a request is a string or a number, not {}",
                excerpt(id)
            );
            return Some((error("null", INVALID_REQUEST, &why), Err(why)));
        }
        if method == "ping" {
            return Some((
                format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#).into(),
                Ok(()),
            ));
        }
        if bytes.len() > MAX_BYTES {
            return refuse(
                BUSY,
                format!(
                    "a question is at most {MAX_BYTES} bytes, this one has {}",
                    bytes.len()
                ),
            );
        }
        let doc = Doc::parse(bytes.clone());
        let params = doc.root().and_then(|root| root.get("params"));
        let key = state.server_requests.next_key;
        let Some(ask) = ServerRequest::read(key, method, params) else {
            return refuse(METHOD_NOT_FOUND, format!("Loupe does not answer {method}"));
        };
        let answering = self.answering();
        if !answering.takes(&ask.wants) {
            return refuse(
                METHOD_NOT_FOUND,
                format!("Loupe does not answer {method}: it was not declared"),
            );
        }
        if !state.established && !state.pending.is_empty() {
            return refuse(
                INVALID_REQUEST,
                "nothing is answered before the handshake is complete".into(),
            );
        }
        if let (RequestKind::Roots, Some(roots)) = (&ask.wants, &answering.roots) {
            let result = server_request::roots_json(roots);
            return Some((
                format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#).into(),
                Ok(()),
            ));
        }
        if state
            .server_requests
            .open
            .values()
            .any(|(known, _)| known.as_ref() == Some(id_raw))
        {
            return refuse(INVALID_REQUEST, format!("the request {id} is still open"));
        }
        if state.server_requests.open.len() >= MAX_OPEN {
            return refuse(BUSY, format!("{MAX_OPEN} questions are already open"));
        }
        state.server_requests.next_key += 1;
        state
            .server_requests
            .open
            .insert(key, (Some(id_raw.clone()), ask.clone()));
        state.server_requests.fresh.push(ask);
        state.activity();
        None
    }

    fn send_reply(&self, state: &mut State, reply: Bytes, kept: Option<&Bytes>) {
        if let Some(outbox) = state.outbox.clone() {
            self.log_sent(state, kept.unwrap_or(&reply));
            drop(outbox.send(reply, None));
        }
    }

    /// Puts the questions that have come to whoever answers. The state must not be held.
    pub(crate) fn put(&self, fresh: Vec<ServerRequest>) {
        for ask in fresh {
            let (tap, key) = (self.me(), ask.key);
            let answer = Answer::new(move |reply| {
                if let Some(tap) = tap.upgrade() {
                    tap.reply(key, &reply);
                }
            });
            match &self.answering().asker {
                Some(asker) => asker(ask, answer),
                None => drop(answer),
            }
        }
    }

    /// Answers a request of the server; nothing happens where it is no longer open.
    fn reply(&self, key: u64, reply: &Reply) {
        let mut state = self.state();
        let Some((id, ask)) = state.server_requests.open.remove(&key) else {
            return;
        };
        state.activity();
        let Some(id) = id else { return };
        let id = String::from_utf8_lossy(&id).into_owned();
        let message = |reply: &Reply| match reply.result() {
            Ok(result) => Bytes::from(format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#
            )),
            Err(why) => error(&id, REFUSED, &why),
        };
        self.add_secrets(&ask, reply);
        let kept = ask.masked(reply).map(|kept| message(&kept));
        if kept.is_some() {
            state.note_all(MASKED);
        }
        self.send_reply(&mut state, message(reply), kept.as_ref());
    }

    /// What is secret in a reply is known from here on.
    pub(crate) fn add_secrets(&self, ask: &ServerRequest, reply: &Reply) {
        for (name, value) in ask.secret_fields(reply) {
            self.known.add("answer", &name, &value);
        }
    }

    /// Keys for the questions that are in a result, `count` in a row: the first of them.
    pub(crate) fn open_round(&self, count: usize) -> u64 {
        let mut state = self.state();
        let first = state.server_requests.next_key;
        state.server_requests.next_key += count as u64;
        first
    }

    /// Whether a question inside of a result can be put to somebody.
    pub(crate) fn takes(&self, ask: &ServerRequest) -> bool {
        self.answering().takes(&ask.wants)
    }

    /// Withdraws questions that was in a result: the call they belong to is over.
    pub(crate) fn withdraw(&self, keys: impl IntoIterator<Item = u64>, why: &str) {
        for key in keys {
            self.emit(SessionEvent::Withdrawn {
                key,
                why: why.into(),
            });
        }
    }

    /// A notification of the server.
    pub(crate) fn notified(
        &self,
        state: &mut State,
        method: &str,
        bytes: &Bytes,
        events: &mut Vec<SessionEvent>,
    ) {
        let doc = Doc::parse(bytes.clone());
        let param = |name: &str| doc.root()?.get("params")?.get(name);
        let text = |name: &str| Some(param(name)?.as_str()?.into_owned());
        match method {
            "notifications/progress" => {
                let token = param("progressToken")
                    .and_then(|token| token.as_i64().or_else(|| token.as_str()?.parse().ok()));
                let Some(pending) = token.and_then(|token| state.pending.get_mut(&token)) else {
                    let is_alone = state.pending.values().all(|pending| pending.is_aside);
                    if is_alone && !std::mem::replace(&mut state.has_late_progress, true) {
                        let token = param("progressToken")
                            .map_or_else(|| "none".into(), |token| token.raw_text());
                        events.push(SessionEvent::Noted(format!(
                            "progress came for the token {token}, and no call waits"
                        )));
                    }
                    return;
                };
                pending.touch();
                let Some(progress) = param("progress").and_then(Node::as_f64) else {
                    pending.note("a progress notification came without a number");
                    return;
                };
                let total = param("total").and_then(Node::as_f64);
                events.push(SessionEvent::Progress {
                    progress,
                    total,
                    message: text("message"),
                });
            }
            "notifications/message" => events.push(SessionEvent::Log {
                level: text("level").unwrap_or_default(),
                logger: text("logger"),
                data: param("data")
                    .map(|data| {
                        data.as_str()
                            .map_or_else(|| data.raw_text().into_owned(), |text| text.into_owned())
                    })
                    .unwrap_or_default(),
            }),
            "notifications/tools/list_changed" => {
                events.push(SessionEvent::ListChanged(Listing::Tools))
            }
            "notifications/prompts/list_changed" => {
                events.push(SessionEvent::ListChanged(Listing::Prompts))
            }
            "notifications/resources/list_changed" => {
                events.push(SessionEvent::ListChanged(Listing::Resources))
            }
            "notifications/resources/updated" => {
                events.extend(text("uri").map(SessionEvent::ResourceUpdated))
            }
            "notifications/subscriptions/acknowledged" => {
                let agreed = param("notifications")
                    .map_or_else(|| Bytes::from_static(b"{}"), Node::raw_bytes);
                let named = param("_meta").and_then(|meta| meta.get(SUBSCRIPTION));
                let named = named.and_then(|id| id.as_i64().or_else(|| id.as_str()?.parse().ok()));
                if let Some(pending) = named.and_then(|id| state.pending.get_mut(&id)) {
                    pending.agreed(agreed);
                }
            }
            "notifications/tasks" | "notifications/tasks/status" => {
                if let (Some(id), Some(status)) = (text("taskId"), text("status")) {
                    events.push(SessionEvent::Task {
                        id,
                        status,
                        message: text("statusMessage"),
                    });
                }
            }
            "notifications/elicitation/complete" => {
                events.push(SessionEvent::Visited {
                    id: text("elicitationId").unwrap_or_default(),
                });
            }
            "notifications/cancelled" => {
                let Some(id) = param("requestId").map(Node::raw_bytes) else {
                    return;
                };
                let key = state
                    .server_requests
                    .open
                    .iter()
                    .find(|(_, (known, _))| known.as_ref() == Some(&id))
                    .map(|(key, _)| *key);
                if let Some(key) = key {
                    state.server_requests.open.remove(&key);
                    state.server_requests.fresh.retain(|ask| ask.key != key);
                    state.activity();
                    let why = text("reason").map_or_else(
                        || "the server no longer asks".to_owned(),
                        |reason| format!("the server no longer asks: {}", excerpt(&reason)),
                    );
                    events.push(SessionEvent::Withdrawn { key, why });
                    return;
                }
                let Some(id) = param("requestId").and_then(Node::as_i64) else {
                    return;
                };
                match state.pending.get_mut(&id) {
                    // So a server ends a subscription.
                    Some(pending) if pending.is_aside => self.ended_aside(state, id, text("reason")),
                    Some(pending) => pending
                        .note("the server sent `notifications/cancelled` for this request, which only the one who asked may do"),
                    None => {}
                }
            }
            _ => {}
        }
    }
}
