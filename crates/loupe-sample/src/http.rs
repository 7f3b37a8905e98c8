//! A backend as a Streamable HTTP endpoint at `/mcp`.
//!
//! Every POST is answered at once, but for a call that asks the client something first: its answer is a stream that ends
//! with the answer to the call. There is no stream to open by GET. Pages of other sites cannot use it: a request
//! whose `Origin` is not this computer is refused, as the specification demands.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, Limited, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderMap, HeaderValue, ORIGIN};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};

use super::rpc::stateless;
use super::{Backend, PROTOCOL_VERSIONS, rpc};
use loupe_core::json::Doc;

const PATH: &str = "/mcp";
const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
/// The largest request that is read.
const REQUEST_BYTES: usize = 64 * 1024 * 1024;
/// How long to wait after a connection could not be accepted.
const RETRY: Duration = Duration::from_millis(100);

/// A running endpoint. It and its connections end when this is dropped.
#[derive(Debug)]
pub struct HttpServer {
    /// Where it listens, with the port that the system chose if 0 was asked for.
    pub addr: SocketAddr,
    task: JoinHandle<()>,
}

impl HttpServer {
    /// The address for clients.
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.addr)
    }

    /// Serves until the future is dropped.
    ///
    /// # Errors
    /// The server's task came to an end.
    pub async fn run(mut self) -> io::Result<()> {
        (&mut self.task).await.map_err(io::Error::other)
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Binds `addr` and starts serving. Needs a running tokio runtime. All sessions share the one backend.
///
/// # Errors
/// The address cannot be bound.
pub async fn http(backend: Arc<dyn Backend>, addr: SocketAddr) -> io::Result<HttpServer> {
    let listener = TcpListener::bind(addr).await?;
    let addr = listener.local_addr()?;
    let endpoint = Arc::new(Endpoint {
        backend,
        sessions: Mutex::default(),
        streams: Mutex::default(),
        next_session: AtomicU64::new(1),
    });
    let task = tokio::spawn(async move {
        // Dropped with the task, and the connections with it.
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        connections.spawn(serve(endpoint.clone(), stream));
                    }
                    // Out of file handles, most likely. Asking again at once would only keep a processor busy.
                    Err(_) => tokio::time::sleep(RETRY).await,
                },
                Some(_) = connections.join_next() => {}
            }
        }
    });
    Ok(HttpServer { addr, task })
}

async fn serve(endpoint: Arc<Endpoint>, stream: TcpStream) {
    let service = service_fn(|request| {
        let endpoint = endpoint.clone();
        async move { Ok::<_, Infallible>(endpoint.respond(request).await) }
    });
    // A connection that breaks concerns its client alone, and the client knows.
    hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await
        .ok();
}

struct Endpoint {
    backend: Arc<dyn Backend>,
    sessions: Mutex<HashSet<String>>,
    /// The streams of calls that ask something first, by session and id of the call.
    streams: Mutex<HashMap<(String, String), mpsc::Sender<Bytes>>>,
    next_session: AtomicU64,
}

/// Messages of one stream that may wait to be sent.
const STREAM: usize = 100;

type Answer = Response<BoxBody<Bytes, Infallible>>;

impl Endpoint {
    async fn respond(&self, request: Request<Incoming>) -> Answer {
        if request.uri().path() != PATH {
            return plain(
                StatusCode::NOT_FOUND,
                "Not found. The MCP endpoint is /mcp.",
            );
        }
        if request
            .headers()
            .get(ORIGIN)
            .is_some_and(|origin| !is_local(origin))
        {
            return plain(
                StatusCode::FORBIDDEN,
                "Refused: the Origin is not this computer.",
            );
        }
        match *request.method() {
            Method::POST => self.post(request).await,
            Method::DELETE => match self.session(request.headers()) {
                Session::Unknown => plain(StatusCode::NOT_FOUND, "Unknown session."),
                Session::Known(id) => {
                    self.sessions
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .remove(&id);
                    plain(StatusCode::OK, "")
                }
                Session::None => plain(StatusCode::OK, ""),
            },
            _ => {
                let mut answer = plain(
                    StatusCode::METHOD_NOT_ALLOWED,
                    "Only POST and DELETE. There is no stream to open by GET.",
                );
                answer
                    .headers_mut()
                    .insert(ALLOW, HeaderValue::from_static("POST, DELETE"));
                answer
            }
        }
    }

    async fn post(&self, request: Request<Incoming>) -> Answer {
        let (head, body) = request.into_parts();
        let message = match Limited::new(body, REQUEST_BYTES).collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) => {
                return plain(
                    StatusCode::BAD_REQUEST,
                    &format!("The request cannot be read: {error}"),
                );
            }
        };
        if rpc::is_initialize(&message) {
            return self.initialize(&message);
        }
        match stateless::check_headers(&head.headers, &message) {
            Ok(false) => {}
            Ok(true) => {
                let answers = self.backend.handle(&message);
                let status = answers
                    .first()
                    .map_or(202, |answer| stateless::status(answer));
                let mut answer = messages(&answers);
                *answer.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
                return answer;
            }
            Err(refusal) => {
                let id = Doc::parse(message)
                    .at("/id")
                    .map_or_else(|| "null".to_owned(), |id| id.raw_text().into_owned());
                return respond_with(
                    StatusCode::BAD_REQUEST,
                    "application/json",
                    rpc::respond(&id, Err(refusal)),
                );
            }
        }
        if let Some(version) = head.headers.get(VERSION)
            && !PROTOCOL_VERSIONS
                .iter()
                .any(|known| version.as_bytes() == known.as_bytes())
        {
            return plain(
                StatusCode::BAD_REQUEST,
                &format!(
                    "Unsupported MCP-Protocol-Version. One of {}.",
                    PROTOCOL_VERSIONS.join(", ")
                ),
            );
        }
        let session = match self.session(&head.headers) {
            Session::Unknown => {
                return plain(StatusCode::NOT_FOUND, "Unknown session. Initialize again.");
            }
            Session::Known(id) => id,
            Session::None => String::new(),
        };
        let answers = self.backend.handle_of(&session, &message);
        match rpc::asked(&message) {
            // The answer is not there yet: what is asked first begins a stream.
            Some(id)
                if !answers.is_empty()
                    && answers.iter().all(|answer| rpc::answered(answer).is_none())
                    && !session.is_empty() =>
            {
                self.stream(session, id, answers)
            }
            None if rpc::is_no_request(&message) => {
                self.send_on(&session, &answers);
                plain(StatusCode::ACCEPTED, "")
            }
            _ => messages(&answers),
        }
    }

    /// Opens the stream of a call, with what has to be sent first.
    fn stream(&self, session: String, id: String, first: Vec<Bytes>) -> Answer {
        let (sender, mut messages) = mpsc::channel(STREAM);
        for message in first {
            // There is room: the stream has just been opened.
            sender.try_send(message).ok();
        }
        self.streams
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert((session, id), sender);
        let frames = futures::stream::poll_fn(move |context| {
            messages
                .poll_recv(context)
                .map(|message| message.map(|message| Ok(Frame::data(event(&message)))))
        });
        let mut answer = Response::new(StreamBody::new(frames).boxed());
        answer
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        answer
    }

    /// Sends messages on the streams that they belong to; an answer ends its own.
    fn send_on(&self, session: &str, answers: &[Bytes]) {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        for message in answers {
            let ended =
                rpc::answered(message).and_then(|id| streams.remove(&(session.to_owned(), id)));
            let open = || {
                streams
                    .iter()
                    .find(|((of, _), _)| of == session)
                    .map(|(_, sender)| sender.clone())
            };
            if let Some(sender) = ended.or_else(open) {
                // A client that went away or does not read is not waited for.
                sender.try_send(message.clone()).ok();
            }
        }
    }

    fn initialize(&self, message: &[u8]) -> Answer {
        let id = format!(
            "loupe-sample-{}",
            self.next_session.fetch_add(1, Ordering::Relaxed)
        );
        let mut answer = messages(&self.backend.handle_of(&id, message));
        if let Ok(value) = HeaderValue::from_str(&id) {
            answer.headers_mut().insert(SESSION, value);
            self.sessions
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(id);
        }
        answer
    }

    /// The session a request names. Naming none is allowed, so that one request can be tried by hand.
    fn session(&self, headers: &HeaderMap) -> Session {
        let Some(id) = headers.get(SESSION) else {
            return Session::None;
        };
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        id.to_str()
            .ok()
            .filter(|id| sessions.contains(*id))
            .map_or(Session::Unknown, |id| Session::Known(id.to_owned()))
    }
}

enum Session {
    None,
    Known(String),
    Unknown,
}

/// One message is a JSON body, several are events of a stream that ends after them, none is 202.
fn messages(answers: &[Bytes]) -> Answer {
    match answers {
        [] => plain(StatusCode::ACCEPTED, ""),
        [one] => respond_with(StatusCode::OK, "application/json", one.clone()),
        many => {
            let mut body = BytesMut::new();
            for message in many {
                body.put_slice(&event(message));
            }
            respond_with(StatusCode::OK, "text/event-stream", body.freeze())
        }
    }
}

fn event(message: &[u8]) -> Bytes {
    [&b"event: message\ndata: "[..], message, b"\n\n"]
        .concat()
        .into()
}

fn plain(status: StatusCode, text: &str) -> Answer {
    respond_with(
        status,
        "text/plain; charset=utf-8",
        Bytes::copy_from_slice(text.as_bytes()),
    )
}

fn respond_with(status: StatusCode, content_type: &'static str, body: Bytes) -> Answer {
    let empty = body.is_empty();
    let mut answer = Response::new(Full::new(body).boxed());
    *answer.status_mut() = status;
    if !empty {
        answer
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    }
    answer
}

/// Whether an `Origin` names this computer. A foreign page would otherwise reach a loopback server by rebinding its name.
fn is_local(origin: &HeaderValue) -> bool {
    let Some(uri) = origin
        .to_str()
        .ok()
        .and_then(|origin| origin.parse::<hyper::Uri>().ok())
    else {
        return false;
    };
    let Some(host) = uri.host() else { return false };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
#[path = "http_tests.rs"]
mod tests;
