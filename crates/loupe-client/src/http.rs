//! Streamable HTTP with a sender of our own: each message is one POST, and the bytes of the answer, JSON or events, pass
//! the tap before anything decodes them.
//!
//! Up to 2025-11-25 there is a session: its id and the version go with each request, a broken stream is taken up again,
//! and where the server says that it does not know it another is opened and the request, which nobody took, is sent once
//! more. Since 2026-07-28 there
//! is none: the headers name the request too, a broken stream loses it, and closing the stream cancels it.
//! The SDK's HTTP worker is not used: it hands out typed messages only, waits for ever on an answer with a foreign id
//! and resends on an expired session.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use tokio::sync::oneshot;
use tokio::task::{AbortHandle, JoinSet};

use super::encoding::EncodingNote;
use super::error::{Error, excerpt};
use super::http_client::{Client, SENT_AGAIN, info, location, media_type, sent_headers};
use super::message_headers::{VERSION, message_headers, subject};
use super::param_headers::{self, ParamHeader};
use super::tap::{End, Incoming, Outbox, Tap, Within, quote};
use super::{handshake, sse};
use loupe_core::capture::HttpInfo;
use loupe_core::json::Doc;
use loupe_core::number::grouped;

/// The notification that ends a handshake.
const INITIALIZED: &str = "notifications/initialized";
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// How often a broken stream is taken up again without anything new on it.
const RESUMES: usize = 5;
/// The pause before a stream is taken up again, unless the server names one, and the longest it may name.
const RETRY: Duration = Duration::from_secs(1);
const RETRY_MAX: Duration = Duration::from_secs(30);
/// How long a stream may go on after its answer: the end as a rule follows at once, and leaves the connection to the next.
const AFTER_ANSWER: Duration = Duration::from_secs(1);
/// What is read of an error page.
const PAGE_BYTES: usize = 1 << 20;
/// After as long a silence a server that refuses may have let go of the session.
const IDLE: Duration = Duration::from_secs(60);

#[derive(Default)]
struct Negotiated {
    session: Option<HeaderValue>,
    /// Of a session; without one each message names its version.
    version: Option<HeaderValue>,
    /// The parameters of `initialize`, for another session after this one.
    hello: Option<String>,
}

/// What came of a body.
struct Body {
    bytes: Bytes,
    begun: Instant,
    /// There was more than is kept.
    cut: bool,
    /// The connection broke before its end.
    broken: Option<Error>,
}

pub(super) struct Link {
    tap: Arc<Tap>,
    http: Client,
    shown_url: String,
    negotiated: Mutex<Negotiated>,
    /// The arguments to mirror, by tool.
    mirrored: Mutex<HashMap<String, Vec<ParamHeader>>>,
    /// The server does not know the session any more.
    is_lost: AtomicBool,
    /// When the server last answered well.
    last_well: Mutex<Instant>,
    renewing: tokio::sync::Mutex<()>,
    /// The requests under way, to end them by closing their streams.
    running: Mutex<HashMap<i64, AbortHandle>>,
    tasks: Mutex<Option<JoinSet<()>>>,
    /// For tasks to hold on to the link they belong to.
    me: std::sync::Weak<Link>,
}

impl Link {
    pub(super) fn new(http: Client, tap: Arc<Tap>) -> Arc<Self> {
        Arc::new_cyclic(|me| Self {
            tap,
            shown_url: http.shown.clone(),
            http,
            negotiated: Mutex::default(),
            mirrored: Mutex::default(),
            is_lost: AtomicBool::new(false),
            last_well: Mutex::new(Instant::now()),
            renewing: tokio::sync::Mutex::new(()),
            running: Mutex::default(),
            tasks: Mutex::new(Some(JoinSet::new())),
            me: me.clone(),
        })
    }

    /// A session begins: from now on every request names the version. `hello` are the parameters of `initialize`.
    pub(super) fn begin(&self, version: &str, hello: String) {
        let mut negotiated = self.negotiated();
        negotiated.version = HeaderValue::from_str(version).ok();
        negotiated.hello = Some(hello);
    }

    fn is_stateless(&self) -> bool {
        self.negotiated().version.is_none()
    }

    /// The arguments that calls of this tool mirror as headers.
    pub(super) fn mirror(&self, tool: &str, headers: Vec<ParamHeader>) {
        self.mirrored
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(tool.to_owned(), headers);
    }

    /// What a message says of itself in its headers, where it says it at all.
    fn describe_message(&self, message: &Bytes) -> HeaderMap {
        let doc = Doc::parse(message.clone());
        let mut headers = message_headers(&doc);
        if headers.is_empty() {
            return headers;
        }
        let is_call = doc
            .at("/method")
            .and_then(|method| method.as_str())
            .is_some_and(|method| method == "tools/call");
        if let (true, Some(name), Some(arguments)) =
            (is_call, subject(&doc), doc.at("/params/arguments"))
        {
            let mirrored = self.mirrored.lock().unwrap_or_else(PoisonError::into_inner);
            let found = mirrored.get(&name);
            headers.extend(
                found
                    .map(|found| param_headers::mirrored(found, arguments))
                    .unwrap_or_default(),
            );
        }
        headers
    }

    /// Opens another session instead of the one that the server has forgotten.
    async fn renew(&self) -> Result<(), Error> {
        let _one_at_a_time = self.renewing.lock().await;
        if !self.is_lost.load(Ordering::SeqCst) {
            return Ok(());
        }
        let closed = || Error::Closed {
            place: self.shown_url.clone(),
        };
        let hello = self.negotiated().hello.clone().ok_or_else(closed)?;
        let write = |id| {
            Bytes::from(format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"initialize","params":{hello}}}"#
            ))
        };
        let waiting = self.tap.request(write)?;
        let (end, _) = waiting.done.await.map_err(|_| closed())?;
        let (server, _) = handshake::read(end, waiting.id, &self.shown_url)?;
        self.begin(&server.protocol_version, hello);
        let notice = self.tap.send(Bytes::from_static(
            br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        ))?;
        // A server that does not take the notification says so at the next request.
        notice.await.ok();
        self.is_lost.store(false, Ordering::SeqCst);
        self.listen_aside();
        Ok(())
    }

    /// The session that was begun is not wanted after all.
    pub(super) fn leave(&self) {
        let end_session = self.end_session();
        *self.negotiated() = Negotiated::default();
        if let Some(end_session) = end_session {
            self.spawn(|_| end_session);
        }
    }

    /// The server does not know the session `used`; nothing is lost where another was opened meanwhile.
    fn lose(&self, used: Option<&HeaderValue>) {
        let mut negotiated = self.negotiated();
        if negotiated.session.as_ref() == used {
            self.is_lost.store(true, Ordering::SeqCst);
            negotiated.session = None;
        }
    }

    fn running(&self) -> std::sync::MutexGuard<'_, HashMap<i64, AbortHandle>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn negotiated(&self) -> std::sync::MutexGuard<'_, Negotiated> {
        self.negotiated
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn spawn<F: Future<Output = ()> + Send + 'static>(
        &self,
        task: impl FnOnce(Arc<Self>) -> F,
    ) -> Option<AbortHandle> {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        let (tasks, me) = (tasks.as_mut()?, self.me.upgrade()?);
        while tasks.try_join_next().is_some() {}
        Some(tasks.spawn(task(me)))
    }

    fn request(&self, method: reqwest::Method, mut headers: HeaderMap) -> reqwest::RequestBuilder {
        {
            let negotiated = self.negotiated();
            let known = [
                (SESSION, &negotiated.session),
                (VERSION, &negotiated.version),
            ];
            for (name, value) in known {
                if let Some(value) = value {
                    headers.insert(name, value.clone());
                }
            }
        }
        self.http.request(method, &self.http.url, headers)
    }

    /// Sends a message. A request that the server refuses because it does not know the session is sent once more in
    /// another; nobody took it.
    async fn post(&self, bytes: Bytes, request: Option<i64>) -> Result<(), Error> {
        let method = match super::envelope::peek(&bytes) {
            super::envelope::Peek::Object(envelope) => envelope.method.unwrap_or_default(),
            _ => String::new(),
        };
        let used = self.negotiated().session.clone();
        let lost = match self.post_once(bytes.clone(), &method, request).await {
            Err(lost @ Error::SessionLost { .. }) => lost,
            done => return done,
        };
        self.lose(used.as_ref());
        let Some(id) = request else {
            // The next request opens another session, and says this for it.
            return if method == INITIALIZED {
                Ok(())
            } else {
                Err(lost)
            };
        };
        let note = format!("{lost}; a new session was opened and the request sent again");
        self.tap.note(id, &note);
        if !matches!(&*method, "tools/call" | "resources/read" | "prompts/get") {
            // It has no capture that could say so.
            self.tap
                .emit(super::SessionEvent::Noted(format!("`{method}`: {note}")));
        }
        self.renew().await?;
        let used = self.negotiated().session.clone();
        let again = self.post_once(bytes, &method, request).await;
        if matches!(again, Err(Error::SessionLost { .. })) {
            self.lose(used.as_ref());
        }
        again
    }

    async fn post_once(
        &self,
        bytes: Bytes,
        method: &str,
        request: Option<i64>,
    ) -> Result<(), Error> {
        let is_first = method == "initialize";
        if self.is_lost.load(Ordering::SeqCst) && !is_first && method != INITIALIZED {
            self.renew().await?;
        }
        let described = if self.is_stateless() {
            self.describe_message(&bytes)
        } else {
            HeaderMap::new()
        };
        let write = || {
            self.request(reqwest::Method::POST, described.clone())
                .header(header::CONTENT_TYPE, "application/json")
                .header(header::ACCEPT, "application/json, text/event-stream")
                .body(bytes.clone())
        };
        let is_probe = method == "server/discover";
        let (response, is_again) = self
            .http
            .send_logged_in(&write, is_probe, self.tap.wait_until_abandoned(request))
            .await?;
        if let Some(id) = request.filter(|_| is_again) {
            self.tap.note(id, SENT_AGAIN);
        }
        let had_session = self.negotiated().session.is_some();
        if response.status().is_success() {
            *self
                .last_well
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = Instant::now();
        }
        if let Some(session) = response
            .headers()
            .get(SESSION)
            .filter(|_| is_first && response.status().is_success())
        {
            self.negotiated().session = Some(session.clone());
        }
        let Some(id) = request else {
            return if response.status().is_success() {
                Ok(())
            } else {
                Err(self.refused(response, had_session).await)
            };
        };
        let http = Arc::new(info(&response));
        self.tap.emit(super::SessionEvent::Http {
            request: id,
            sent: sent_headers(write()),
            response: (*http).clone(),
        });
        let status = response.status();
        if !status.is_success() {
            return self.refused_request(response, id, had_session, http).await;
        }
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            let what = format!("the server took the request (HTTP {status}) but sent no answer");
            return Err(Error::Malformed {
                place: self.shown_url.clone(),
                what,
            });
        }
        match media_type(response.headers()).as_str() {
            "text/event-stream" => self.events(response, None, id, http).await,
            // Without a type the first bytes tell.
            "" => {
                let mut response = response;
                let first = self.chunk(&mut response).await?.unwrap_or_default();
                let looks_like_events = [&b"data:"[..], b"event:", b"id:", b":", b"retry:"]
                    .iter()
                    .any(|word| first.starts_with(word));
                self.tap.note(id, "the answer has no Content-Type");
                if looks_like_events {
                    self.events(response, Some(first), id, http).await
                } else {
                    self.body(response, Some(first), id, http).await
                }
            }
            media_type => {
                if media_type != "application/json" {
                    self.tap
                        .note(id, &format!("the answer's Content-Type is {media_type}"));
                }
                self.body(response, None, id, http).await
            }
        }
    }

    async fn chunk(&self, response: &mut reqwest::Response) -> Result<Option<Bytes>, Error> {
        response
            .chunk()
            .await
            .map_err(|source| self.http.broken(source))
    }

    /// A whole body; what exceeds the limit is dropped and said. Fails only where not a byte came.
    async fn read(
        &self,
        mut response: reqwest::Response,
        first: Option<Bytes>,
        limit: usize,
    ) -> Result<Body, Error> {
        let mut bytes = BytesMut::new();
        let mut begun = Instant::now();
        let mut next = first;
        let (cut, broken) = loop {
            let chunk = match next.take() {
                Some(chunk) => chunk,
                None => match self.chunk(&mut response).await {
                    Ok(Some(chunk)) => chunk,
                    Ok(None) => break (false, None),
                    Err(error) if bytes.is_empty() => return Err(error),
                    Err(error) => break (false, Some(error)),
                },
            };
            if bytes.is_empty() {
                begun = Instant::now();
            }
            // What is decoded from little comes without a wait, and time limits have to be looked at meanwhile.
            tokio::task::yield_now().await;
            let room = limit - bytes.len();
            bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if chunk.len() > room {
                break (true, None);
            }
        };
        Ok(Body {
            bytes: bytes.freeze(),
            begun,
            cut,
            broken,
        })
    }

    async fn body(
        &self,
        response: reqwest::Response,
        first: Option<Bytes>,
        id: i64,
        http: Arc<HttpInfo>,
    ) -> Result<(), Error> {
        let encoding = EncodingNote::new(&response);
        let Body {
            bytes,
            begun,
            cut,
            broken,
        } = self.read(response, first, self.tap.limits.message).await?;
        if let Some(text) = encoding.text() {
            self.tap.note(id, text);
        }
        if let Some(error) = broken {
            self.tap.end_with_page(id, bytes, begun, error, http);
            return Ok(());
        }
        self.tap.incoming(Incoming {
            bytes,
            begun,
            cut,
            within: Some(Within {
                request: id,
                http,
                whole: true,
            }),
        });
        if self.tap.is_pending(id) {
            let what = "the body is not an answer to the request".into();
            return Err(Error::Malformed {
                place: self.shown_url.clone(),
                what,
            });
        }
        Ok(())
    }

    /// The events of an answer, taken up again where the server says it may be.
    async fn events(
        &self,
        response: reqwest::Response,
        first: Option<Bytes>,
        id: i64,
        http: Arc<HttpInfo>,
    ) -> Result<(), Error> {
        let mut within = Within {
            request: id,
            http,
            whole: false,
        };
        let mut source = Some((response, first));
        let (mut last_id, mut retry, mut resumes) = (None, RETRY, 0);
        // The last thing on the stream that was no message: shown if nothing better comes.
        let mut odd = None;
        let mut answered = None;
        while let Some((mut response, mut first)) = source.take() {
            let mut parser = sse::Parser::new(self.tap.limits.message);
            let encoding = EncodingNote::new(&response);
            let broken = loop {
                let chunk = match first.take() {
                    Some(chunk) => chunk,
                    None => match self.next(&mut response, answered).await {
                        Ok(Some(chunk)) => chunk,
                        Ok(None) => break None,
                        Err(error) => break Some(error),
                    },
                };
                if let Some(text) = encoding.text() {
                    self.tap.note(id, text);
                }
                for event in parser.feed(&chunk) {
                    let incoming = Incoming {
                        bytes: event.data.clone(),
                        begun: event.begun,
                        cut: event.cut,
                        within: Some(within.clone()),
                    };
                    if !self.tap.incoming(incoming) {
                        odd = Some(event.data);
                    }
                    resumes = 0;
                }
                if !self.tap.is_pending(id) {
                    answered.get_or_insert_with(Instant::now);
                } else if parser.cut {
                    // Its end is not waited for.
                    break None;
                }
            };
            last_id = parser.last_id.clone().or(last_id);
            retry = parser
                .retry_ms
                .map_or(retry, Duration::from_millis)
                .min(RETRY_MAX);
            let cut = parser.cut;
            let rest = parser.finish();
            if !self.tap.is_pending(id) {
                return Ok(());
            }
            if cut && rest.is_none() {
                let what = format!(
                    "an event is larger than {} bytes, and none of it is data",
                    grouped(self.tap.limits.message as u64)
                );
                return Err(Error::Malformed {
                    place: self.shown_url.clone(),
                    what,
                });
            }
            if let (Some(rest), true) = (&rest, cut || last_id.is_none() || self.is_stateless()) {
                if !cut {
                    // By the standard it does not count; it is shown, with the reason.
                    self.tap
                        .note(id, "the last event is not ended by a blank line");
                }
                if let Some(error) = &broken {
                    self.tap.note(id, &error.to_string());
                }
                within.whole = true;
                self.tap.incoming(Incoming {
                    bytes: rest.clone(),
                    begun: Instant::now(),
                    cut,
                    within: Some(within.clone()),
                });
                return Ok(());
            }
            if let Some(last) = last_id
                .as_ref()
                .filter(|_| resumes < RESUMES && !self.is_stateless())
            {
                resumes += 1;
                tokio::time::sleep(retry).await;
                source = Some((self.listen(Some(last)).await?, None));
            } else if let Some(odd) = odd.take() {
                let what = format!(
                    "the stream ended; what came is not an answer to the request: {}",
                    quote(&odd)
                );
                let fault = Error::Malformed {
                    place: self.shown_url.clone(),
                    what,
                };
                let now = Instant::now();
                let answer = super::tap::Answer {
                    bytes: odd,
                    doc: None,
                    begun: now,
                    ended: now,
                    fault: Some(fault),
                    http: Some(within.http.clone()),
                };
                self.tap.end(id, End::Answer(answer));
            } else {
                return Err(broken.unwrap_or_else(|| Error::Disconnected {
                    place: self.shown_url.clone(),
                    how: "the stream ended without an answer".into(),
                    during_handshake: !self.tap.is_established(),
                    unreadable: None,
                    stderr: Vec::new(),
                }));
            }
        }
        Ok(())
    }

    /// The next of a stream; once it has answered, only what comes soon after it.
    async fn next(
        &self,
        response: &mut reqwest::Response,
        answered: Option<Instant>,
    ) -> Result<Option<Bytes>, Error> {
        let Some(answered) = answered else {
            return self.chunk(response).await;
        };
        let soon =
            tokio::time::timeout_at((answered + AFTER_ANSWER).into(), self.chunk(response)).await;
        soon.unwrap_or(Ok(None))
    }

    async fn listen(&self, last_id: Option<&String>) -> Result<reqwest::Response, Error> {
        let mut request = self
            .request(reqwest::Method::GET, HeaderMap::new())
            .header(header::ACCEPT, "text/event-stream");
        if let Some(last_id) = last_id {
            request = request.header("last-event-id", last_id);
        }
        let response = self.http.send(request).await?;
        if response.status().is_success() && media_type(response.headers()) == "text/event-stream" {
            return Ok(response);
        }
        let status = response.status();
        if status.is_success() {
            let what =
                format!("the stream could not be taken up again (HTTP {status}, no event stream)");
            return Err(Error::Malformed {
                place: self.shown_url.clone(),
                what,
            });
        }
        Err(self.refused(response, false).await)
    }

    /// The stream on which a server speaks unasked. Most have none (405), and its end is no failure.
    pub(super) fn listen_aside(&self) {
        self.spawn(|link| async move {
            let (mut last_id, mut quiet): (Option<String>, usize) = (None, 0);
            while quiet < RESUMES {
                let Ok(mut response) = link.listen(last_id.as_ref()).await else {
                    return;
                };
                let mut parser = sse::Parser::new(link.tap.limits.message);
                quiet += 1;
                while let Ok(Some(chunk)) = link.chunk(&mut response).await {
                    for event in parser.feed(&chunk) {
                        quiet = 0;
                        link.tap.incoming(Incoming {
                            bytes: event.data,
                            begun: event.begun,
                            cut: event.cut,
                            within: None,
                        });
                    }
                }
                last_id = parser.last_id.take().or(last_id);
                tokio::time::sleep(
                    parser
                        .retry_ms
                        .map_or(RETRY, Duration::from_millis)
                        .min(RETRY_MAX),
                )
                .await;
            }
        });
    }

    /// A request answered with an error status: an error object in it is the answer, anything else is a page to quote.
    async fn refused_request(
        &self,
        response: reqwest::Response,
        id: i64,
        had_session: bool,
        http: Arc<HttpInfo>,
    ) -> Result<(), Error> {
        let (status, location) = (response.status(), location(&response));
        let Body {
            bytes,
            begun,
            cut,
            broken,
        } = self.read(response, None, PAGE_BYTES).await?;
        if let Some(error) = &broken {
            self.tap.note(id, &error.to_string());
        }
        if cut {
            self.tap.note(
                id,
                &format!(
                    "the body of the error is larger than {PAGE_BYTES} bytes; its beginning is kept"
                ),
            );
        }
        let is_ours = match super::envelope::peek(&bytes) {
            super::envelope::Peek::Object(envelope) if envelope.is_response() => {
                // Without an id it must at least be a JSON-RPC error: `{"error": "…"}` is a page like any other.
                let is_coded = || Doc::parse(bytes.clone()).at("/error/code").is_some();
                envelope.id.number() == Some(id) || (!had_session && is_coded())
            }
            _ => false,
        };
        // An answer that is not whole is none.
        let is_whole = !cut && broken.is_none();
        let is_lost = had_session && is_session_gone(status, &bytes, is_ours);
        if is_ours
            && is_whole
            && !is_lost
            && status != StatusCode::UNAUTHORIZED
            && !status.is_redirection()
        {
            self.tap
                .note(id, &format!("the answer came with HTTP {status}"));
            self.tap.incoming(Incoming {
                bytes,
                begun,
                cut: false,
                within: Some(Within {
                    request: id,
                    http,
                    whole: true,
                }),
            });
            return Ok(());
        }
        let error = self.refusal(status, &bytes, location, had_session);
        if matches!(error, Error::SessionLost { .. }) {
            return Err(error);
        }
        self.tap.end_with_page(id, bytes, begun, error, http);
        Ok(())
    }

    async fn refused(&self, response: reqwest::Response, had_session: bool) -> Error {
        let (status, location) = (response.status(), location(&response));
        match self.read(response, None, PAGE_BYTES).await {
            Ok(body) => self.refusal(status, &body.bytes, location, had_session),
            Err(error) => error,
        }
    }

    fn refusal(
        &self,
        status: StatusCode,
        page: &[u8],
        location: Option<String>,
        had_session: bool,
    ) -> Error {
        let url = self.shown_url.clone();
        let mut text = excerpt(&String::from_utf8_lossy(page));
        let shown = status.to_string();
        if had_session {
            let idle = self
                .last_well
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .elapsed();
            text.push_str(&may_be_gone(status, idle));
        }
        match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Error::Auth {
                url,
                status: shown,
                text,
            },
            _ if had_session && is_session_gone(status, page, false) => Error::SessionLost {
                url,
                status: shown,
                text,
            },
            _ => match location.filter(|_| status.is_redirection()) {
                Some(location) => Error::Redirect {
                    url,
                    status: shown,
                    location,
                },
                None => Error::HttpStatus {
                    url,
                    status: shown,
                    text,
                },
            },
        }
    }

    /// Tells the server that the session is over. It may refuse; there is nothing to be done about that.
    fn end_session(&self) -> Option<impl Future<Output = ()> + Send + 'static> {
        self.negotiated().session.as_ref()?;
        let request = self
            .request(reqwest::Method::DELETE, HeaderMap::new())
            .timeout(Duration::from_secs(2));
        self.negotiated().session = None;
        Some(async move {
            request.send().await.ok();
        })
    }

    pub(super) async fn close(&self) {
        if let Some(end_session) = self.end_session() {
            end_session.await;
        }
    }
}

impl Outbox for Link {
    fn send(&self, bytes: Bytes, request: Option<i64>) -> oneshot::Receiver<io::Result<Instant>> {
        let (left, waiting) = oneshot::channel();
        let mut left = Some(left);
        if request.is_some() {
            // When exactly the last byte left is the HTTP client's secret; handing it over is what can be seen.
            left.take().map(|left| left.send(Ok(Instant::now())));
        }
        let task = self.spawn(|link| async move {
            let done = link.post(bytes, request).await;
            if let Some(id) = request {
                link.running().remove(&id);
            }
            if let Some(left) = left {
                left.send(done.map(|()| Instant::now()).map_err(io::Error::other))
                    .ok();
                return;
            }
            let (Err(error), Some(id)) = (done, request) else {
                return;
            };
            link.tap.end(id, End::Lost(Arc::new(error)));
        });
        if let (Some(id), Some(task)) = (request, task)
            && self.tap.is_pending(id)
        {
            self.running().insert(id, task);
        }
        waiting
    }

    fn cancel(&self, request: i64) -> bool {
        let task = self.running().remove(&request);
        // A session hears of it by a notification: there a stream that ends means nothing.
        let is_stateless = self.is_stateless();
        if let Some(task) = task.filter(|_| is_stateless) {
            task.abort();
        }
        is_stateless
    }

    fn shut(&self) {
        // Aborts every request under way.
        drop(
            self.tasks
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
        if let (Some(end_session), Ok(runtime)) =
            (self.end_session(), tokio::runtime::Handle::try_current())
        {
            runtime.spawn(end_session);
        }
    }
}

/// How servers say that they do not know a session.
const GONE: [&str; 9] = [
    "not found",
    "no valid",
    "no such",
    "not valid",
    "invalid",
    "unknown",
    "expired",
    "terminated",
    "does not exist",
];

/// Whether an answer means that the server does not know the session: 404 by the specification, unless it is the answer
/// to the request itself; some say 400 and why.
fn is_session_gone(status: StatusCode, page: &[u8], is_answer: bool) -> bool {
    let says_it = || {
        let text = String::from_utf8_lossy(page).to_lowercase();
        // A server that began anew has forgotten every session.
        (text.contains("session") && GONE.iter().any(|word| text.contains(word)))
            || text.contains("server not initialized")
    };
    match status {
        StatusCode::NOT_FOUND => !is_answer || says_it(),
        StatusCode::BAD_REQUEST => says_it(),
        _ => false,
    }
}

/// What a refusal after a long silence may mean.
fn may_be_gone(status: StatusCode, idle: Duration) -> String {
    if idle < IDLE
        || !matches!(
            status,
            StatusCode::UNAUTHORIZED | StatusCode::TOO_MANY_REQUESTS
        )
    {
        return String::new();
    }
    format!(
        " (the session may be gone: nothing was said for {} s before; reconnect, then call again)",
        idle.as_secs()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_gone_where_the_server_says_so() {
        let (not_found, bad) = (StatusCode::NOT_FOUND, StatusCode::BAD_REQUEST);
        for (status, page, is_answer, is_gone) in [
            (not_found, "", false, true),
            (not_found, "Method not found", true, false),
            (not_found, "Session not found", true, true),
            (
                bad,
                "Bad Request: No valid session ID provided",
                false,
                true,
            ),
            (bad, "Bad Request: Server not initialized", true, true),
            (bad, "the argument `session` is missing", true, false),
            (
                StatusCode::INTERNAL_SERVER_ERROR,
                "no valid session",
                false,
                false,
            ),
        ] {
            assert_eq!(
                is_session_gone(status, page.as_bytes(), is_answer),
                is_gone,
                "{status} {page}"
            );
        }
    }

    #[test]
    fn a_refusal_after_a_silence_may_mean_the_end_of_the_session() {
        let (long, short) = (Duration::from_secs(61), Duration::from_secs(59));
        assert!(may_be_gone(StatusCode::UNAUTHORIZED, long).contains("nothing was said for 61 s"));
        assert!(may_be_gone(StatusCode::TOO_MANY_REQUESTS, long).contains("reconnect"));
        assert_eq!(
            may_be_gone(StatusCode::UNAUTHORIZED, short)
                + &may_be_gone(StatusCode::FORBIDDEN, long),
            ""
        );
    }
}
