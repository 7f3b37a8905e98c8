//! The tap to a server at a URL: the host speaks to it over stdio, and each message goes on as a POST of Streamable HTTP.
//!
//! The body of a message is passed on byte for byte. What comes back, JSON or the events of a stream, becomes lines: a line
//! end inside JSON, which can only stand between its tokens, becomes a space. An HTTP failure becomes the JSON-RPC error of
//! the request that it was for, since over stdio there is nothing else to say it with.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use loupe_client::innermost;
use loupe_client::message_headers::message_headers;
use loupe_client::sse::Parser;
use loupe_core::capture::Direction;
use loupe_core::json::{Doc, Node, write};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::task::JoinSet;

use super::recorder::Recorder;

pub(crate) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// A message beyond this is cut.
const MESSAGE_BYTES: usize = 256 << 20;
/// How long requests that are out may take once the host has closed its end.
const LAST: Duration = Duration::from_secs(5);

/// What to reach.
pub struct Bridge {
    pub url: String,
    /// Sent with every request.
    pub headers: Vec<(String, String)>,
    pub client: reqwest::Client,
    pub recorder: Option<Recorder>,
}

struct Link {
    bridge: Bridge,
    headers: HeaderMap,
    /// The session that the server gave, and the revision that was agreed on.
    session: Mutex<(Option<HeaderValue>, Option<HeaderValue>)>,
    output: tokio::sync::Mutex<tokio::io::Stdout>,
}

/// Runs until the host closes its end.
///
/// # Errors
/// This process's standard input cannot be read, or a header cannot be sent.
pub async fn run(bridge: Bridge) -> io::Result<()> {
    let headers = header_map(&bridge.headers)?;
    let link = Arc::new(Link {
        bridge,
        headers,
        session: Mutex::default(),
        output: tokio::sync::Mutex::new(tokio::io::stdout()),
    });
    let mut input = BufReader::new(tokio::io::stdin());
    let mut tasks = JoinSet::new();
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line).await? > 0 {
        link.record(Direction::Out, &line);
        let message = Bytes::copy_from_slice(line.trim_ascii());
        line.clear();
        if message.is_empty() {
            continue;
        }
        let doc = Doc::parse(message.clone());
        let sending = Arc::clone(&link).send(message.clone());
        if is_initialize(&doc) {
            // Everything after it needs the session that it begins.
            sending.await;
        } else {
            tasks.spawn(sending);
        }
        if is_method(&doc, "notifications/initialized") {
            tasks.spawn(Arc::clone(&link).listen());
        }
        while tasks.try_join_next().is_some() {}
    }
    let rest = async { while tasks.join_next().await.is_some() {} };
    // A stream that goes on is not waited for.
    tokio::time::timeout(LAST, rest).await.ok();
    link.close().await;
    if let Some(recorder) = &link.bridge.recorder {
        recorder.finish(Some(0));
    }
    Ok(())
}

/// Headers as they are sent; their values are secret.
pub(crate) fn header_map(headers: &[(String, String)]) -> io::Result<HeaderMap> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let wrong = |_: Box<dyn std::error::Error>| {
            io::Error::other(format!("the header `{name}` cannot be sent"))
        };
        let parsed =
            HeaderName::from_bytes(name.as_bytes()).map_err(|error| wrong(error.into()))?;
        let mut value = HeaderValue::from_str(value).map_err(|error| wrong(error.into()))?;
        value.set_sensitive(true);
        map.append(parsed, value);
    }
    Ok(map)
}

impl Link {
    fn record(&self, direction: Direction, bytes: &[u8]) {
        if let Some(recorder) = &self.bridge.recorder {
            recorder.take(direction, bytes);
        }
    }

    fn session(&self) -> (Option<HeaderValue>, Option<HeaderValue>) {
        self.session
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn request(&self, method: reqwest::Method) -> reqwest::RequestBuilder {
        let (session, version) = self.session();
        let mut headers = HeaderMap::new();
        for (name, value) in [(SESSION, session), (VERSION, version)] {
            if let Some(value) = value {
                headers.insert(name, value);
            }
        }
        headers.extend(self.headers.clone());
        self.bridge
            .client
            .request(method, &self.bridge.url)
            .headers(headers)
    }

    async fn send(self: Arc<Self>, message: Bytes) {
        let doc = Doc::parse(message.clone());
        let is_answered = doc.at("/method").is_some() && doc.at("/id").is_some();
        let id = doc.at("/id").map(|id| id.raw_text().into_owned());
        let sent = self
            .request(reqwest::Method::POST)
            .headers(message_headers(&doc))
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream")
            .body(message)
            .send()
            .await;
        let failed = match sent {
            Err(error) => Some(format!(
                "the server cannot be reached: {}",
                innermost(&error)
            )),
            Ok(response) => self.receive(response, &doc).await,
        };
        if let (Some(why), true) = (failed, is_answered) {
            let error = format!(
                r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":-32000,"message":{}}}}}"#,
                id.as_deref().unwrap_or("null"),
                write::string(&why)
            );
            self.put(error.as_bytes()).await;
        }
    }

    /// Passes a response on; why there is none, if there is none.
    async fn receive(&self, response: reqwest::Response, request: &Doc) -> Option<String> {
        let status = response.status();
        let kind = response
            .headers()
            .get(CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok())
            .unwrap_or_default()
            .to_lowercase();
        let session = response.headers().get(SESSION).cloned();
        let is_first = is_initialize(request);
        if is_first && status.is_success() {
            self.session
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .0 = session;
        }
        if kind.starts_with("text/event-stream") && status.is_success() {
            return self.events(response, Some(request)).await;
        }
        let body = match response.bytes().await {
            Ok(body) => body,
            Err(error) => return Some(format!("the response broke off: {}", innermost(&error))),
        };
        let is_message = Doc::parse(body.clone()).at("/jsonrpc").is_some();
        if is_message || (status.is_success() && !body.trim_ascii().is_empty()) {
            self.agree(is_first, &body);
            self.put(&body).await;
            return None;
        }
        if status.is_success() {
            return Some(format!(
                "the server took the request (HTTP {status}) and sent no answer"
            ));
        }
        let page = String::from_utf8_lossy(&body[..body.len().min(200)]).into_owned();
        Some(format!("HTTP {status}: {}", page.trim()))
    }

    /// The revision that the answer to `initialize` names goes with each later message.
    fn agree(&self, is_first: bool, body: &Bytes) {
        let doc = Doc::parse(body.clone());
        let version = doc.at("/result/protocolVersion").and_then(Node::as_str);
        if let (true, Some(version)) = (is_first, version) {
            let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
            session.1 = HeaderValue::from_str(&version).ok();
        }
    }

    /// Passes the events of a stream on; why `request` has no answer, where it has none.
    async fn events(
        &self,
        mut response: reqwest::Response,
        request: Option<&Doc>,
    ) -> Option<String> {
        let id = request
            .and_then(|request| request.at("/id"))
            .map(|id| id.raw_text().into_owned());
        let is_first = request.is_some_and(is_initialize);
        let mut parser = Parser::new(MESSAGE_BYTES);
        let mut is_answered = false;
        let end = loop {
            match response.chunk().await {
                Ok(Some(chunk)) => {
                    for event in parser.feed(&chunk) {
                        let doc = Doc::parse(event.data.clone());
                        let of = doc.at("/id").map(|id| id.raw_text().into_owned());
                        is_answered |= doc.at("/method").is_none() && of == id;
                        self.agree(is_first, &event.data);
                        self.put(&event.data).await;
                    }
                }
                Ok(None) => break "the stream ended without an answer".to_owned(),
                Err(error) => break format!("the stream broke off: {}", innermost(&error)),
            }
        };
        (!is_answered).then_some(end)
    }

    /// The stream on which a server up to 2025-11-25 may ask by itself; many have none.
    async fn listen(self: Arc<Self>) {
        if self.session().1.is_none() {
            return;
        }
        let stream = self
            .request(reqwest::Method::GET)
            .header(ACCEPT, "text/event-stream")
            .send()
            .await;
        if let Ok(response) = stream
            && response.status().is_success()
        {
            // Nothing waits for it.
            self.events(response, None).await;
        }
    }

    /// Writes one line to the host, then its copy to the record.
    async fn put(&self, message: &[u8]) {
        let mut line: Vec<u8> = message
            .trim_ascii()
            .iter()
            .map(|byte| {
                if matches!(byte, b'\n' | b'\r') {
                    b' '
                } else {
                    *byte
                }
            })
            .collect();
        line.push(b'\n');
        let mut output = self.output.lock().await;
        // The host may have gone; its end of the input ends this too.
        output.write_all(&line).await.ok();
        output.flush().await.ok();
        self.record(Direction::In, &line);
    }

    /// Ends the session, where there is one. The server may refuse.
    async fn close(&self) {
        if self.session().0.is_some() {
            let end = self
                .request(reqwest::Method::DELETE)
                .timeout(Duration::from_secs(2));
            end.send().await.ok();
        }
    }
}

pub(crate) fn is_initialize(message: &Doc) -> bool {
    is_method(message, "initialize")
}

fn is_method(message: &Doc, method: &str) -> bool {
    let own = message.at("/method").and_then(Node::as_str);
    own.is_some_and(|own| own == method)
}
