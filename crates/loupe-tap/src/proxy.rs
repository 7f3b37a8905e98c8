//! The tap as a reverse proxy: hosts reach a server at a URL through it, by Streamable HTTP or HTTP+SSE.
//!
//! Bodies and event streams pass byte for byte, each chunk as it comes; copies of the messages in them go to the record.
//! Only what names the address is rewritten: `Host` and `Origin` towards the server; the server's origin in `Location`,
//! `WWW-Authenticate`, the `endpoint` event and the metadata below `/.well-known/` towards the host. So a host that
//! looks for the metadata of the address it was given finds it, and a login names the address that the server knows.
//!
//! Pages of other sites cannot use it: neither by rebinding a name (`Host`) nor from their origin (`Origin`).

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::request::Parts;
use http::{Method, Request, Response, StatusCode, Version};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use loupe_client::innermost;
use loupe_client::sse::{Parser, StreamEvent};
use loupe_core::capture::Direction;
use loupe_core::json::Doc;
use loupe_core::source::is_this_machine;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use url::Url;

use super::bridge::{SESSION, header_map, is_initialize};
use super::recorder::{LINE_BYTES, Recorder};
use super::records::Records;

/// The largest metadata and the largest form that addresses are looked for in.
const MAPPED_BYTES: usize = 4 << 20;
/// A message beyond this is no `initialize`.
const INITIALIZE_BYTES: usize = 1 << 20;
/// A line beyond this, at the beginning of a stream, does not name an endpoint.
const ENDPOINT_BYTES: usize = 16 << 10;
/// How long to wait after a connection could not be accepted.
const RETRY: Duration = Duration::from_millis(100);
/// Headers that are of one connection, not of the message. `Expect` is answered here.
const HOP: [&str; 10] = [
    "connection",
    "proxy-connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "expect",
];

type BoxError = Box<dyn std::error::Error + Send + Sync>;
type Answer = Response<UnsyncBoxBody<Bytes, BoxError>>;

/// What to reach, and where to listen.
pub struct Proxy {
    pub url: Url,
    /// Sent with every request, in place of the host's.
    pub headers: Vec<(String, String)>,
    pub client: reqwest::Client,
    pub listen: SocketAddr,
    pub records: Records,
}

struct Endpoint {
    url: Url,
    /// The server's, as in `https://example.com`.
    origin: String,
    headers: HeaderMap,
    client: reqwest::Client,
    addr: SocketAddr,
    records: Arc<Records>,
    /// The last `Authorization` that was hidden.
    hidden: Mutex<Option<HeaderValue>>,
    /// Where the server said last that its metadata is, if not below `/.well-known/`.
    metadata: Mutex<Option<String>>,
}

/// Serves until the process is told to end; `on_listening` is told the address for hosts.
///
/// # Errors
/// The address cannot be bound, a header cannot be sent, or signals cannot be watched.
pub async fn run(proxy: Proxy, on_listening: impl FnOnce(&str)) -> io::Result<()> {
    let headers = header_map(&proxy.headers)?;
    let listener = TcpListener::bind(proxy.listen).await?;
    let addr = listener.local_addr()?;
    // Before anybody knows of it.
    let mut end = std::pin::pin!(wait_for_end()?);
    on_listening(&format!("http://{addr}{}", proxy.url.path()));
    let endpoint = Arc::new(Endpoint {
        origin: proxy.url.origin().ascii_serialization(),
        url: proxy.url,
        headers,
        client: proxy.client,
        addr,
        records: Arc::new(proxy.records),
        hidden: Mutex::default(),
        metadata: Mutex::default(),
    });
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(serve(Arc::clone(&endpoint), stream));
                }
                // Out of file handles, most likely. Asking again at once would only keep a processor busy.
                Err(_) => tokio::time::sleep(RETRY).await,
            },
            Some(_) = connections.join_next() => {}
            () = &mut end => break,
        }
    }
    connections.shutdown().await;
    let records = Arc::clone(&endpoint.records);
    tokio::task::spawn_blocking(move || records.finish_all())
        .await
        .map_err(io::Error::other)
}

/// Ends with SIGINT, SIGTERM or SIGHUP. They are watched from the call on.
fn wait_for_end() -> io::Result<impl Future<Output = ()>> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        let mut hangup = signal(SignalKind::hangup())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        Ok(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = hangup.recv() => {}
                _ = interrupt.recv() => {}
            }
        })
    }
    #[cfg(not(unix))]
    Ok(async {
        tokio::signal::ctrl_c().await.ok();
    })
}

async fn serve(endpoint: Arc<Endpoint>, stream: TcpStream) {
    // An event leaves as it comes.
    stream.set_nodelay(true).ok();
    let service = service_fn(|request| {
        let endpoint = Arc::clone(&endpoint);
        async move { Ok::<_, Infallible>(endpoint.respond(request).await) }
    });
    // A connection that breaks concerns its host alone, and the host knows.
    http1::Builder::new()
        .auto_date_header(false)
        .serve_connection(TokioIo::new(stream), service)
        .await
        .ok();
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Whether the media type of a body is this one.
fn is_type(headers: &HeaderMap, media: &str) -> bool {
    let given = text(headers, &header::CONTENT_TYPE).unwrap_or_default();
    let given = given.split(';').next().unwrap_or_default().trim();
    given.eq_ignore_ascii_case(media)
}

fn is_encoded(headers: &HeaderMap) -> bool {
    text(headers, &header::CONTENT_ENCODING)
        .is_some_and(|encoding| !encoding.eq_ignore_ascii_case("identity"))
}

fn plain(status: StatusCode, why: &str) -> Answer {
    let body = Full::new(Bytes::from(format!("mcp-loupe tap: {why}\n")));
    let mut answer = Response::new(body.map_err(Into::into).boxed_unsync());
    *answer.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(header::CONTENT_TYPE, kind);
    answer
}

impl Endpoint {
    async fn respond(&self, request: Request<Incoming>) -> Answer {
        let (head, body) = request.into_parts();
        let host = text(&head.headers, &header::HOST).unwrap_or_default();
        if let Some(why) = self.refusal(&head.headers, host) {
            return plain(StatusCode::FORBIDDEN, why);
        }
        // The address as this host writes it.
        let own = format!("http://{host}");
        let target = self.target(&head, &own);
        let fetch_mode = head.headers.get("sec-fetch-mode");
        if fetch_mode.is_some_and(|mode| mode == "navigate") {
            // A login page works at its own address alone.
            return redirect(&target);
        }
        let named = text(&head.headers, &SESSION).map(str::to_owned);
        let exchange = Arc::new(Exchange {
            session: named.or_else(|| {
                let address = target.as_str().to_owned();
                self.records.has(&address).then_some(address)
            }),
            line: format!("{} {}", head.method, head.uri.path()),
            is_get: head.method == Method::GET,
            target: target.clone(),
            records: Arc::clone(&self.records),
            recorder: OnceLock::new(),
            begun: OnceLock::new(),
            endpoint: OnceLock::new(),
        });
        let mut sending = self
            .client
            .request(head.method.clone(), target)
            .headers(self.request_headers(&head.headers));
        if is_type(&head.headers, "application/x-www-form-urlencoded") {
            match Limited::new(body, MAPPED_BYTES).collect().await {
                Ok(form) => {
                    let form = map_origin(&form.to_bytes(), &own, &self.origin);
                    sending = sending
                        .header(header::CONTENT_LENGTH, form.len())
                        .body(form);
                }
                Err(error) => return plain(StatusCode::BAD_REQUEST, &error.to_string()),
            }
        } else if !body.is_end_stream() {
            let reading = if head.method == Method::POST && !is_encoded(&head.headers) {
                Reading::Whole(Vec::new(), 0)
            } else {
                Reading::Nothing
            };
            if let Some(length) = head.headers.get(header::CONTENT_LENGTH) {
                sending = sending.header(header::CONTENT_LENGTH, length);
            }
            let body = Watched::new(body, Direction::Out, reading, Arc::clone(&exchange));
            sending = sending.body(reqwest::Body::wrap(body));
        }
        match sending.send().await {
            Err(error) => {
                let why = format!("the server cannot be reached: {}", innermost(&error));
                exchange.fail(&why);
                plain(StatusCode::BAD_GATEWAY, &why)
            }
            Ok(response) => self.pass_on(&head, response.into(), exchange, &own).await,
        }
    }

    /// Why a request is not for this proxy, or not from a host on this machine.
    fn refusal(&self, headers: &HeaderMap, host: &str) -> Option<&'static str> {
        let is_own = Url::parse(&format!("http://{host}")).is_ok_and(|url| {
            let is_address = matches!(url.host(), Some(url::Host::Ipv4(_) | url::Host::Ipv6(_)));
            is_this_machine(&url) || (is_address && !self.addr.ip().is_loopback())
        });
        if host.is_empty() || !is_own {
            return Some("refused: the Host is not this address");
        }
        let Some(origin) = headers.get(header::ORIGIN) else {
            // What a page includes without asking, such as an image, has no Origin.
            let is_included = |name| headers.get(name).is_some_and(|site| site == "cross-site");
            let is_page = headers
                .get("sec-fetch-mode")
                .is_some_and(|mode| mode == "navigate");
            return (is_included("sec-fetch-site") && !is_page)
                .then_some("refused: it is of a page of another site");
        };
        let origin = origin.to_str().ok().and_then(|text| Url::parse(text).ok());
        let is_local = origin.is_some_and(|origin| is_this_machine(&origin));
        (!is_local).then_some("refused: the Origin is not this computer")
    }

    /// The address at the server: the same path and query, where one's own address is the server's. The query of
    /// the server's URL, which may hold a key, need not be known to the host.
    fn target(&self, head: &Parts, own: &str) -> Url {
        let mut url = self.url.clone();
        let is_same = head.uri.path() == url.path();
        url.set_path(head.uri.path());
        if let Some(query) = head.uri.query() {
            let query = map_origin(query.as_bytes(), own, &self.origin);
            url.set_query(Some(&String::from_utf8_lossy(&query)));
        } else if !is_same {
            url.set_query(None);
        }
        url
    }

    fn request_headers(&self, given: &HeaderMap) -> HeaderMap {
        let mut headers = end_to_end(given);
        // Both are set anew with the body and the address.
        headers.remove(header::HOST);
        headers.remove(header::CONTENT_LENGTH);
        // The record can read it so.
        let identity = HeaderValue::from_static("identity");
        headers.insert(header::ACCEPT_ENCODING, identity);
        if headers.contains_key(header::ORIGIN)
            && let Ok(origin) = HeaderValue::from_str(&self.origin)
        {
            headers.insert(header::ORIGIN, origin);
        }
        for name in self.headers.keys() {
            headers.remove(name);
        }
        headers.extend(self.headers.clone());
        if let Some(value) = headers.get(header::AUTHORIZATION) {
            let mut hidden = lock(&self.hidden);
            if hidden.as_ref() != Some(value) {
                let text = String::from_utf8_lossy(value.as_bytes());
                self.records.hide("Authorization", &text);
                *hidden = Some(value.clone());
            }
        }
        headers
    }

    async fn pass_on(
        &self,
        request: &Parts,
        response: Response<reqwest::Body>,
        exchange: Arc<Exchange>,
        own: &str,
    ) -> Answer {
        let (mut head, body) = response.into_parts();
        exchange.on_head(&request.method, &head);
        let challenge = text(&head.headers, &header::WWW_AUTHENTICATE).unwrap_or_default();
        if let Some((_, address)) = challenge.split_once("resource_metadata=\"") {
            let address = address
                .split('"')
                .next()
                .and_then(|url| Url::parse(url).ok());
            *lock(&self.metadata) = address.map(|url| url.path().to_owned());
        }
        head.version = Version::HTTP_11;
        head.extensions.clear();
        head.headers = end_to_end(&head.headers);
        for name in [header::LOCATION, header::WWW_AUTHENTICATE] {
            if let header::Entry::Occupied(mut values) = head.headers.entry(name) {
                for value in values.iter_mut() {
                    let mapped = map_origin(value.as_bytes(), &self.origin, own);
                    if let Ok(mapped) = HeaderValue::from_bytes(&mapped) {
                        *value = mapped;
                    }
                }
            }
        }
        // What the server allows its own origin is for the page that is told to it as that.
        if let (Some(allowed), Some(origin)) = (
            head.headers.get_mut(header::ACCESS_CONTROL_ALLOW_ORIGIN),
            request.headers.get(header::ORIGIN),
        ) && *allowed == self.origin.as_str()
        {
            *allowed = origin.clone();
        }
        let is_json = is_type(&head.headers, "application/json");
        let path = request.uri.path();
        let is_metadata = path.starts_with("/.well-known/")
            || (request.method == Method::GET && lock(&self.metadata).as_deref() == Some(path));
        if is_json && is_metadata {
            return match Limited::new(body, MAPPED_BYTES).collect().await {
                Ok(metadata) => {
                    head.headers.remove(header::CONTENT_LENGTH);
                    let mapped = map_origin(&metadata.to_bytes(), &self.origin, own);
                    let body = Full::new(Bytes::from(mapped));
                    Response::from_parts(head, body.map_err(Into::into).boxed_unsync())
                }
                Err(error) => plain(StatusCode::BAD_GATEWAY, &error.to_string()),
            };
        }
        let is_stream = is_type(&head.headers, "text/event-stream");
        let reading = match () {
            () if is_encoded(&head.headers) => {
                exchange.note("the response is encoded, and not recorded");
                Reading::Nothing
            }
            () if is_stream => Reading::Events(Parser::new(LINE_BYTES), 0),
            () if is_json => Reading::Whole(Vec::new(), 0),
            () => Reading::Nothing,
        };
        let mut watched = Watched::new(body, Direction::In, reading, exchange);
        if is_stream && request.method == Method::GET {
            head.headers.remove(header::CONTENT_LENGTH);
            watched.endpoint = Some(EndpointLine::new(&self.origin, own));
        }
        let body = watched.map_err(Into::into).boxed_unsync();
        Response::from_parts(head, body)
    }
}

fn redirect(target: &Url) -> Answer {
    let mut answer = plain(StatusCode::TEMPORARY_REDIRECT, "see the server itself");
    let mut target = target.clone();
    // A refusal means that there is none to remove.
    target.set_username("").ok();
    target.set_password(None).ok();
    if let Ok(target) = HeaderValue::from_str(target.as_str()) {
        answer.headers_mut().insert(header::LOCATION, target);
    }
    answer
}

/// Headers without those of the connection.
fn end_to_end(headers: &HeaderMap) -> HeaderMap {
    let listed = headers.get_all(header::CONNECTION).iter();
    let listed: Vec<_> = listed
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .collect();
    let is_kept = |name: &HeaderName| {
        !HOP.contains(&name.as_str()) && !listed.iter().any(|listed| listed == name.as_str())
    };
    headers
        .iter()
        .filter(|(name, _)| is_kept(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// `text` with one origin in place of another: as it is, with JSON's `\/`, and percent-encoded.
fn map_origin(text: &[u8], from: &str, to: &str) -> Vec<u8> {
    let escaped = |origin: &str| origin.replace('/', "\\/");
    let encoded = |origin: &str| origin.replace(':', "%3A").replace('/', "%2F");
    let mut text = replace(text, from, to);
    text = replace(&text, &escaped(from), &escaped(to));
    replace(&text, &encoded(from), &encoded(to))
}

/// Replaces each `from` that does not go on as the name of another host or port.
fn replace(text: &[u8], from: &str, to: &str) -> Vec<u8> {
    let mut mapped = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memmem::find(rest, from.as_bytes()) {
        let (before, after) = (&rest[..at], &rest[at + from.len()..]);
        let goes_on = after
            .first()
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || b"-.:@".contains(byte))
            || after.starts_with(b"%3A");
        mapped.extend_from_slice(before);
        mapped.extend_from_slice(if goes_on {
            from.as_bytes()
        } else {
            to.as_bytes()
        });
        rest = after;
    }
    mapped.extend_from_slice(rest);
    mapped
}

/// A request and its response, on their way to the record.
struct Exchange {
    /// What names the session that the request says it is of.
    session: Option<String>,
    /// Such as `POST /mcp`.
    line: String,
    is_get: bool,
    target: Url,
    records: Arc<Records>,
    recorder: OnceLock<Option<Arc<Recorder>>>,
    /// It asks for a session.
    begun: OnceLock<()>,
    /// The address that HTTP+SSE gave on this stream; the session ends with it.
    endpoint: OnceLock<String>,
}

impl Exchange {
    fn record(&self, direction: Direction, message: Vec<u8>, over: u64) {
        if memchr::memmem::find(&message, b"\"jsonrpc\"").is_none() {
            // A form, a registration, a token.
            return;
        }
        let message = Bytes::from(message);
        let begins = direction == Direction::Out
            && self.session.is_none()
            && message.len() <= INITIALIZE_BYTES
            && memchr::memmem::find(&message, b"\"initialize\"").is_some()
            && is_initialize(&Doc::parse(message.clone()));
        let begins = begins && self.begun.set(()).is_ok();
        let recorder = self
            .recorder
            .get_or_init(|| self.records.find(self.session.as_deref(), begins));
        if let Some(recorder) = recorder {
            recorder.take_message(direction, message, over);
        }
    }

    fn recorder(&self) -> Option<&Arc<Recorder>> {
        self.recorder.get().and_then(Option::as_ref)
    }

    /// Says in the record what HTTP says of a message.
    fn note(&self, why: &str) {
        if let Some(recorder) = self.recorder() {
            let line = format!("{}: {why}", self.line);
            recorder.take_message(Direction::Stderr, Bytes::from(line), 0);
        }
    }

    /// There is no answer of MCP.
    fn fail(&self, why: &str) {
        self.note(why);
        if let (Some(()), Some(recorder)) = (self.begun.get(), self.recorder()) {
            self.records.refuse(Arc::clone(recorder));
        }
    }

    fn on_head(&self, method: &Method, head: &http::response::Parts) {
        let is_success = head.status.is_success();
        if !is_success {
            self.fail(&format!("HTTP {}", head.status));
        } else if let (None, Some(recorder)) = (&self.session, self.recorder()) {
            match self.begun.get() {
                Some(()) => self.records.name(text(&head.headers, &SESSION), recorder),
                None => self.records.settle(),
            }
        }
        let is_over = is_success && method == Method::DELETE;
        if let Some(session) = &self.session
            && (is_over || head.status == StatusCode::NOT_FOUND)
        {
            self.records.end(session);
        }
    }

    fn on_event(&self, event: StreamEvent, over: u64) {
        match event.name.as_deref() {
            None | Some("" | "message") => self.record(Direction::In, event.data.into(), over),
            Some("endpoint") if self.is_get && self.session.is_none() => {
                let address = String::from_utf8_lossy(&event.data);
                let Ok(address) = self.target.join(address.trim()) else {
                    return;
                };
                let recorder = self.recorder.get_or_init(|| self.records.find(None, true));
                if let Some(recorder) = recorder
                    && self.endpoint.set(address.to_string()).is_ok()
                {
                    self.records.name(Some(address.as_str()), recorder);
                }
            }
            Some(_) => {}
        }
    }
}

/// How the messages are found in a body.
enum Reading {
    Nothing,
    /// It is one message, or a batch: what is kept of it, and how long the rest is.
    Whole(Vec<u8>, u64),
    /// With the bytes since the last event.
    Events(Parser, u64),
}

/// A body that is passed on, and copied.
struct Watched<B: Body> {
    body: B,
    direction: Direction,
    reading: Reading,
    exchange: Arc<Exchange>,
    endpoint: Option<EndpointLine>,
}

impl<B: Body> Watched<B> {
    fn new(body: B, direction: Direction, reading: Reading, exchange: Arc<Exchange>) -> Self {
        Self {
            body,
            direction,
            reading,
            exchange,
            endpoint: None,
        }
    }

    fn copy(&mut self, data: &[u8]) {
        match &mut self.reading {
            Reading::Nothing => {}
            Reading::Whole(kept, over) => {
                let room = data.len().min(LINE_BYTES - kept.len());
                kept.extend_from_slice(&data[..room]);
                *over += (data.len() - room) as u64;
            }
            Reading::Events(parser, since) => {
                *since += data.len() as u64;
                for event in parser.feed(data) {
                    let length = std::mem::take(since);
                    let over = length.saturating_sub(event.data.len() as u64);
                    let over = if event.cut { over } else { 0 };
                    self.exchange.on_event(event, over);
                }
            }
        }
    }

    /// The body has ended, or is not wanted any more.
    fn end(&mut self) {
        match std::mem::replace(&mut self.reading, Reading::Nothing) {
            Reading::Nothing => {}
            Reading::Whole(kept, over) => self.exchange.record(self.direction, kept, over),
            Reading::Events(parser, _) => {
                // An event that was not ended by a blank line.
                if let Some(rest) = parser.finish() {
                    self.exchange.record(self.direction, rest.into(), 0);
                }
            }
        }
        if let (Direction::In, Some(session)) = (self.direction, self.exchange.endpoint.get()) {
            self.exchange.records.end(session);
        }
    }
}

impl<B: Body> Drop for Watched<B> {
    fn drop(&mut self) {
        self.end();
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Watched<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.get_mut();
        loop {
            let frame = match ready!(Pin::new(&mut this.body).poll_frame(context)) {
                Some(Ok(frame)) => frame,
                Some(Err(error)) => {
                    this.end();
                    this.exchange.note("the body broke off");
                    return Poll::Ready(Some(Err(error)));
                }
                None => {
                    this.end();
                    let rest = this.endpoint.take().map(EndpointLine::finish);
                    let rest = rest.filter(|rest| !rest.is_empty());
                    return Poll::Ready(rest.map(|rest| Ok(Frame::data(rest))));
                }
            };
            let data = match frame.into_data() {
                Ok(data) => data,
                Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
            };
            this.copy(&data);
            // A body whose end is known is not asked for more.
            if this.body.is_end_stream() {
                this.end();
            }
            let data = match &mut this.endpoint {
                Some(endpoint) => endpoint.feed(data),
                None => data,
            };
            if !data.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(data))));
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.endpoint.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        match &self.endpoint {
            Some(_) => SizeHint::default(),
            None => self.body.size_hint(),
        }
    }
}

/// Maps the address in the `endpoint` event that a stream of HTTP+SSE begins with. All else passes as it is; until the
/// first event, a line is passed on once it is whole.
struct EndpointLine {
    from: String,
    to: String,
    line: Vec<u8>,
    is_named: bool,
    is_over: bool,
}

impl EndpointLine {
    fn new(from: &str, to: &str) -> Self {
        Self {
            from: from.to_owned(),
            to: to.to_owned(),
            line: Vec::new(),
            is_named: false,
            is_over: false,
        }
    }

    fn feed(&mut self, chunk: Bytes) -> Bytes {
        if self.is_over {
            return chunk;
        }
        let mut passed = Vec::with_capacity(self.line.len() + chunk.len());
        for (at, byte) in chunk.iter().enumerate() {
            self.line.push(*byte);
            let is_end = matches!(byte, b'\n' | b'\r');
            if is_end {
                passed.extend(self.end_line());
            }
            if self.is_over || self.line.len() > ENDPOINT_BYTES {
                self.is_over = true;
                passed.append(&mut self.line);
                passed.extend_from_slice(&chunk[at + 1..]);
                break;
            }
        }
        passed.into()
    }

    fn end_line(&mut self) -> Vec<u8> {
        let line = std::mem::take(&mut self.line);
        if let Some(name) = line.strip_prefix(b"event:") {
            self.is_named = name.trim_ascii() == b"endpoint";
            self.is_over = !self.is_named;
        } else if line.starts_with(b"data:") {
            self.is_over = true;
            if self.is_named {
                return map_origin(&line, &self.from, &self.to);
            }
        }
        line
    }

    fn finish(self) -> Bytes {
        self.line.into()
    }
}
