//! Streamable HTTP (2025-03-26 … 2025-11-25) with a sender of our own: each message is one POST, and the bytes of the
//! answer, JSON or events, pass the tap before anything decodes them.
//!
//! The SDK's HTTP worker is not used: it hands out typed messages only, waits for ever on an answer with a foreign id
//! and resends on an expired session. Redirects are reported, never followed; `Origin` is never sent.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::error::{Error, excerpt};
use super::sse;
use super::tap::{End, Incoming, Outbox, Tap, Within, quote};
use crate::capture::HttpInfo;
use crate::source;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// How long a server may take over the TCP and TLS handshake.
const CONNECT_LIMIT: Duration = Duration::from_secs(30);
/// How often a broken stream is taken up again without anything new on it.
const RESUMES: usize = 5;
/// The pause before a stream is taken up again, unless the server names one, and the longest it may name.
const RETRY: Duration = Duration::from_secs(1);
const RETRY_MAX: Duration = Duration::from_secs(30);
/// What is read of an error page.
const PAGE_BYTES: usize = 1 << 20;

#[derive(Default)]
struct Negotiated {
    session: Option<HeaderValue>,
    version: Option<HeaderValue>,
}

pub(super) struct Link {
    tap: Arc<Tap>,
    client: reqwest::Client,
    url: reqwest::Url,
    shown_url: String,
    headers: HeaderMap,
    negotiated: Mutex<Negotiated>,
    tasks: Mutex<Option<JoinSet<()>>>,
    /// For tasks to hold on to the link they belong to.
    me: std::sync::Weak<Link>,
}

impl Link {
    pub(super) fn new(http: &source::Http, tap: Arc<Tap>) -> Result<Arc<Self>, Error> {
        let bad_address = || Error::Address { url: http.url.clone() };
        let url = reqwest::Url::parse(&http.url).map_err(|_| bad_address())?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(bad_address());
        }
        let mut headers = HeaderMap::new();
        for (name, value) in &http.headers {
            let bad_header = |_| Error::Header { name: name.clone() };
            let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|error| bad_header(error.to_string()))?;
            let mut value = HeaderValue::from_str(value).map_err(|error| bad_header(error.to_string()))?;
            value.set_sensitive(true);
            headers.append(parsed, value);
        }
        let mut builder = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT_LIMIT)
            .user_agent(concat!("loupe/", env!("CARGO_PKG_VERSION")));
        if url.host_str().is_some_and(|host| host == "localhost" || host.starts_with("127.") || host == "[::1]") {
            // A proxy cannot reach this machine's own addresses.
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(|source| Error::Client { source })?;
        Ok(Arc::new_cyclic(|me| Self {
            tap,
            client,
            url,
            shown_url: http.url.clone(),
            headers,
            negotiated: Mutex::default(),
            tasks: Mutex::new(Some(JoinSet::new())),
            me: me.clone(),
        }))
    }

    /// From now on every request names the version.
    pub(super) fn set_version(&self, version: &str) {
        self.negotiated().version = HeaderValue::from_str(version).ok();
    }

    fn negotiated(&self) -> std::sync::MutexGuard<'_, Negotiated> {
        self.negotiated.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spawn<F: Future<Output = ()> + Send + 'static>(&self, task: impl FnOnce(Arc<Self>) -> F) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(tasks), Some(me)) = (tasks.as_mut(), self.me.upgrade()) {
            while tasks.try_join_next().is_some() {}
            tasks.spawn(task(me));
        }
    }

    fn request(&self, method: reqwest::Method) -> reqwest::RequestBuilder {
        let mut headers = HeaderMap::new();
        {
            let negotiated = self.negotiated();
            let known = [(SESSION, &negotiated.session), (VERSION, &negotiated.version)];
            for (name, value) in known {
                if let Some(value) = value {
                    headers.insert(name, value.clone());
                }
            }
        }
        // What a person typed wins over what Loupe would say.
        for name in self.headers.keys() {
            headers.remove(name);
        }
        headers.extend(self.headers.clone());
        self.client.request(method, self.url.clone()).headers(headers)
    }

    async fn post(&self, bytes: Bytes, request: Option<i64>) -> Result<(), Error> {
        let sent = self
            .request(reqwest::Method::POST)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json, text/event-stream")
            .body(bytes)
            .send()
            .await;
        let response = sent.map_err(|error| self.failed(error))?;
        let had_session = self.negotiated().session.is_some();
        if let Some(session) = response.headers().get(SESSION).filter(|_| response.status().is_success()) {
            self.negotiated().session = Some(session.clone());
        }
        let Some(id) = request else {
            return if response.status().is_success() { Ok(()) } else { Err(self.refused(response, had_session).await) };
        };
        let http = Arc::new(info(&response));
        let status = response.status();
        if !status.is_success() {
            return self.refused_request(response, id, had_session, http).await;
        }
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            let what = format!("the server took the request (HTTP {status}) but sent no answer");
            return Err(Error::Malformed { place: self.shown_url.clone(), what });
        }
        match media_type(response.headers()).as_str() {
            "text/event-stream" => self.events(response, None, id, http).await,
            // Without a type the first bytes tell.
            "" => {
                let mut response = response;
                let first = self.chunk(&mut response).await?.unwrap_or_default();
                let looks_like_events =
                    [&b"data:"[..], b"event:", b"id:", b":", b"retry:"].iter().any(|word| first.starts_with(word));
                self.tap.note(id, "the answer has no Content-Type");
                if looks_like_events {
                    self.events(response, Some(first), id, http).await
                } else {
                    self.body(response, Some(first), id, http).await
                }
            }
            media_type => {
                if media_type != "application/json" {
                    self.tap.note(id, &format!("the answer's Content-Type is {media_type}"));
                }
                self.body(response, None, id, http).await
            }
        }
    }

    async fn chunk(&self, response: &mut reqwest::Response) -> Result<Option<Bytes>, Error> {
        response.chunk().await.map_err(|source| Error::Broken { url: self.shown_url.clone(), source })
    }

    /// A whole body; what exceeds the limit is dropped and said.
    async fn read(
        &self,
        mut response: reqwest::Response,
        first: Option<Bytes>,
        limit: usize,
    ) -> Result<(Bytes, Instant, bool), Error> {
        let mut body = BytesMut::new();
        let mut begun = Instant::now();
        let mut next = first;
        loop {
            let chunk = match next.take() {
                Some(chunk) => chunk,
                None => match self.chunk(&mut response).await? {
                    Some(chunk) => chunk,
                    None => return Ok((body.freeze(), begun, false)),
                },
            };
            if body.is_empty() {
                begun = Instant::now();
            }
            let room = limit - body.len();
            body.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if chunk.len() > room {
                return Ok((body.freeze(), begun, true));
            }
        }
    }

    async fn body(&self, response: reqwest::Response, first: Option<Bytes>, id: i64, http: Arc<HttpInfo>) -> Result<(), Error> {
        let (bytes, begun, cut) = self.read(response, first, self.tap.limit).await?;
        self.tap.incoming(Incoming { bytes, begun, cut, within: Some(Within { request: id, http, whole: true }) });
        if self.tap.is_pending(id) {
            let what = "the body is no answer to the request".into();
            return Err(Error::Malformed { place: self.shown_url.clone(), what });
        }
        Ok(())
    }

    /// The events of an answer, taken up again where the server says it may be.
    async fn events(&self, response: reqwest::Response, first: Option<Bytes>, id: i64, http: Arc<HttpInfo>) -> Result<(), Error> {
        let mut within = Within { request: id, http, whole: false };
        let mut source = Some((response, first));
        let (mut last_id, mut retry, mut resumes) = (None, RETRY, 0);
        // The last thing on the stream that was no message: shown if nothing better comes.
        let mut odd = None;
        while let Some((mut response, mut first)) = source.take() {
            let mut parser = sse::Parser::new(self.tap.limit);
            let broken = loop {
                let chunk = match first.take() {
                    Some(chunk) => chunk,
                    None => match self.chunk(&mut response).await {
                        Ok(Some(chunk)) => chunk,
                        Ok(None) => break None,
                        Err(error) => break Some(error),
                    },
                };
                for event in parser.feed(&chunk) {
                    let incoming =
                        Incoming { bytes: event.data.clone(), begun: event.begun, cut: parser.cut, within: Some(within.clone()) };
                    if !self.tap.incoming(incoming) {
                        odd = Some(event.data);
                    }
                    resumes = 0;
                }
                if parser.cut && self.tap.is_pending(id) {
                    let what = format!("an event is larger than {} bytes", self.tap.limit);
                    return Err(Error::Malformed { place: self.shown_url.clone(), what });
                }
            };
            last_id = parser.last_id.clone().or(last_id);
            retry = parser.retry_ms.map_or(retry, Duration::from_millis).min(RETRY_MAX);
            let rest = parser.finish();
            if !self.tap.is_pending(id) {
                return Ok(());
            }
            if let (Some(rest), None) = (&rest, &last_id) {
                // By the standard it does not count; it is shown, with the reason.
                self.tap.note(id, "the last event is not ended by a blank line");
                within.whole = true;
                self.tap.incoming(Incoming {
                    bytes: rest.clone(),
                    begun: Instant::now(),
                    cut: false,
                    within: Some(within.clone()),
                });
                return Ok(());
            }
            if let Some(last) = last_id.as_ref().filter(|_| resumes < RESUMES) {
                resumes += 1;
                tokio::time::sleep(retry).await;
                source = Some((self.listen(Some(last)).await?, None));
            } else if let Some(odd) = odd.take() {
                let what = format!("the stream ended; what came is no MCP message: {}", quote(&odd));
                let fault = Error::Malformed { place: self.shown_url.clone(), what };
                let now = Instant::now();
                let answer = super::tap::Answer {
                    bytes: odd,
                    begun: now,
                    ended: now,
                    fault: Some(fault),
                    http: Some(within.http.clone()),
                };
                self.tap.end(id, End::Answer(answer));
            } else {
                return Err(broken.unwrap_or_else(|| Error::Gone {
                    place: self.shown_url.clone(),
                    fate: "the stream ended without an answer".into(),
                    during_handshake: !self.tap.is_established(),
                    unreadable: None,
                    stderr: Vec::new(),
                }));
            }
        }
        Ok(())
    }

    async fn listen(&self, last_id: Option<&String>) -> Result<reqwest::Response, Error> {
        let mut request = self.request(reqwest::Method::GET).header(header::ACCEPT, "text/event-stream");
        if let Some(last_id) = last_id {
            request = request.header("last-event-id", last_id);
        }
        let response = request.send().await.map_err(|error| self.failed(error))?;
        if response.status().is_success() && media_type(response.headers()) == "text/event-stream" {
            return Ok(response);
        }
        let status = response.status();
        if status.is_success() {
            let what = format!("the stream could not be taken up again (HTTP {status}, no event stream)");
            return Err(Error::Malformed { place: self.shown_url.clone(), what });
        }
        Err(self.refused(response, false).await)
    }

    /// The stream on which a server speaks unasked. Most have none (405), and its end is no failure.
    pub(super) fn listen_aside(&self) {
        self.spawn(|link| async move {
            let (mut last_id, mut quiet): (Option<String>, usize) = (None, 0);
            while quiet < RESUMES {
                let Ok(mut response) = link.listen(last_id.as_ref()).await else { return };
                let mut parser = sse::Parser::new(link.tap.limit);
                quiet += 1;
                while let Ok(Some(chunk)) = link.chunk(&mut response).await {
                    for event in parser.feed(&chunk) {
                        quiet = 0;
                        link.tap.incoming(Incoming { bytes: event.data, begun: event.begun, cut: parser.cut, within: None });
                    }
                }
                last_id = parser.last_id.take().or(last_id);
                tokio::time::sleep(parser.retry_ms.map_or(RETRY, Duration::from_millis).min(RETRY_MAX)).await;
            }
        });
    }

    fn failed(&self, source: reqwest::Error) -> Error {
        let url = self.shown_url.clone();
        // Without the address: it stands in the place already.
        let source = source.without_url();
        if source.is_connect() || source.is_timeout() { Error::Connect { url, source } } else { Error::Broken { url, source } }
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
        let (bytes, begun, _) = self.read(response, None, PAGE_BYTES).await?;
        let is_ours = match super::envelope::peek(&bytes) {
            super::envelope::Peek::Object(envelope) if envelope.is_response() => envelope.id.number() == Some(id) || !had_session,
            _ => false,
        };
        if is_ours && status != StatusCode::UNAUTHORIZED && !status.is_redirection() {
            self.tap.note(id, &format!("the answer came with HTTP {status}"));
            self.tap.incoming(Incoming { bytes, begun, cut: false, within: Some(Within { request: id, http, whole: true }) });
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
            Ok((bytes, ..)) => self.refusal(status, &bytes, location, had_session),
            Err(error) => error,
        }
    }

    fn refusal(&self, status: StatusCode, page: &[u8], location: Option<String>, had_session: bool) -> Error {
        let url = self.shown_url.clone();
        let text = excerpt(&String::from_utf8_lossy(page));
        let shown = status.to_string();
        match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Error::Auth { url, status: shown, text },
            StatusCode::NOT_FOUND | StatusCode::BAD_REQUEST if had_session => Error::SessionLost { url, status: shown, text },
            _ => match location.filter(|_| status.is_redirection()) {
                Some(location) => Error::Redirect { url, status: shown, location },
                None => Error::HttpStatus { url, status: shown, text },
            },
        }
    }

    /// Tells the server that the session is over. It may refuse; there is nothing to be done about that.
    fn goodbye(&self) -> Option<impl Future<Output = ()> + Send + 'static> {
        self.negotiated().session.as_ref()?;
        let request = self.request(reqwest::Method::DELETE).timeout(Duration::from_secs(2));
        self.negotiated().session = None;
        Some(async move {
            request.send().await.ok();
        })
    }

    pub(super) async fn close(&self) {
        if let Some(goodbye) = self.goodbye() {
            goodbye.await;
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
        self.spawn(|link| async move {
            let done = link.post(bytes, request).await;
            if let Some(left) = left {
                left.send(done.map(|()| Instant::now()).map_err(io::Error::other)).ok();
                return;
            }
            let (Err(error), Some(id)) = (done, request) else { return };
            match error {
                Error::SessionLost { .. } | Error::Connect { .. } if link.tap.is_established() => link.tap.gone(error),
                error => link.tap.end(id, End::Lost(Arc::new(error))),
            }
        });
        waiting
    }

    fn shut(&self) {
        // Aborts every request under way.
        drop(self.tasks.lock().unwrap_or_else(PoisonError::into_inner).take());
        if let (Some(goodbye), Ok(runtime)) = (self.goodbye(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(goodbye);
        }
    }
}

fn location(response: &reqwest::Response) -> Option<String> {
    let location = response.headers().get(header::LOCATION)?;
    Some(String::from_utf8_lossy(location.as_bytes()).into_owned())
}

fn media_type(headers: &HeaderMap) -> String {
    let value = headers.get(header::CONTENT_TYPE).map(|value| String::from_utf8_lossy(value.as_bytes()).to_lowercase());
    value.and_then(|value| value.split(';').next().map(|media| media.trim().to_owned())).unwrap_or_default()
}

fn info(response: &reqwest::Response) -> HttpInfo {
    let headers = response.headers().iter().map(|(name, value)| {
        let value = if is_secret(name.as_str()) { "…".into() } else { String::from_utf8_lossy(value.as_bytes()).into_owned() };
        (name.as_str().to_owned(), value)
    });
    HttpInfo { status: response.status().as_u16(), headers: headers.collect() }
}

/// Headers whose values are credentials, or may be.
fn is_secret(name: &str) -> bool {
    ["cookie", "auth", "token", "secret", "key", "session", "credential", "signature"].iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_and_types_compare_without_case() {
        for (name, secret) in
            [("set-cookie", true), ("authorization", true), ("x-api-key", true), ("mcp-session-id", true), ("date", false)]
        {
            assert_eq!(is_secret(name), secret, "{name}");
        }
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("Application/JSON; charset=utf-8"));
        assert_eq!(media_type(&headers), "application/json");
    }
}
