//! Where the browser comes back to: one request on a loopback address, answered with a page that says how it went.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

const PATH: &str = "/callback";
/// How long the browser may wait for its page, and the page for the browser.
const PAGE_LIMIT: Duration = Duration::from_secs(60);
const FLUSH_LIMIT: Duration = Duration::from_secs(1);

/// The address that is listened on, for one login.
pub(super) struct Redirect {
    listener: TcpListener,
    pub port: u16,
}

/// How it went, for the page.
type Outcome = Result<(), String>;
/// The query of the address that the browser came back to.
type Parameters = Vec<(String, String)>;

struct Waiting {
    state: String,
    come: Option<(oneshot::Sender<Parameters>, oneshot::Receiver<Outcome>)>,
}

/// The browser came back and waits for its page.
pub(super) struct Back {
    parameters: Parameters,
    finish: oneshot::Sender<Outcome>,
    connections: JoinSet<()>,
}

impl Redirect {
    /// Listens on a port, the one before if it is free.
    pub(super) async fn bind(before: Option<u16>) -> io::Result<Self> {
        let on = |port| TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        let listener = match before {
            Some(port) => match on(port).await {
                Ok(listener) => listener,
                Err(_) => on(0).await?,
            },
            None => on(0).await?,
        };
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port })
    }

    pub(super) fn uri(&self) -> String {
        format!("http://127.0.0.1:{}{PATH}", self.port)
    }

    /// Waits for the browser to come back with this `state`; whatever else comes is turned away.
    pub(super) async fn wait(self, state: &str) -> Back {
        let (come, came) = oneshot::channel();
        let (finish, finished) = oneshot::channel();
        let waiting = Arc::new(Mutex::new(Waiting {
            state: state.to_owned(),
            come: Some((come, finished)),
        }));
        let mut connections = JoinSet::new();
        let mut came = std::pin::pin!(came);
        loop {
            tokio::select! {
                Ok(parameters) = &mut came => return Back { parameters, finish, connections },
                Ok((stream, _)) = self.listener.accept() => {
                    let waiting = Arc::clone(&waiting);
                    connections.spawn(async move {
                        let service = service_fn(move |request| answer(Arc::clone(&waiting), request));
                        // A browser that goes away early is no failure of the login.
                        http1::Builder::new().keep_alive(false).serve_connection(TokioIo::new(stream), service).await.ok();
                    });
                }
            }
        }
    }
}

impl Back {
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// Gives the browser its page.
    pub(super) async fn finish(mut self, outcome: Outcome) {
        self.finish.send(outcome).ok();
        tokio::time::timeout(FLUSH_LIMIT, self.connections.join_next())
            .await
            .ok();
    }
}

async fn answer(
    waiting: Arc<Mutex<Waiting>>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    if request.uri().path() != PATH {
        return Ok(page(
            StatusCode::NOT_FOUND,
            "Nothing is here",
            "This address waits for a login to Loupe to come back.",
        ));
    }
    let query = request.uri().query().unwrap_or_default();
    let parameters: Parameters = url::form_urlencoded::parse(query.as_bytes())
        .into_owned()
        .collect();
    let finished = {
        let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let is_ours = parameters
            .iter()
            .any(|(name, value)| name == "state" && *value == waiting.state);
        let come = if is_ours { waiting.come.take() } else { None };
        come.map(|(come, finished)| come.send(parameters).map(|()| finished))
    };
    let Some(Ok(finished)) = finished else {
        return Ok(page(
            StatusCode::BAD_REQUEST,
            "Not the login that was started",
            "Go back to Loupe and log in again.",
        ));
    };
    Ok(match tokio::time::timeout(PAGE_LIMIT, finished).await {
        Ok(Ok(Ok(()))) => page(
            StatusCode::OK,
            "You are logged in",
            "Loupe has what it needs. You can close this page.",
        ),
        Ok(Ok(Err(why))) => page(StatusCode::OK, "The login did not work", &why),
        _ => page(StatusCode::OK, "The login was ended", "Go back to Loupe."),
    })
}

fn page(status: StatusCode, title: &str, text: &str) -> Response<Full<Bytes>> {
    let escape = |text: &str| {
        text.replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
    };
    let html = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title>\
         <body style=\"font:16px system-ui;margin:15vh auto;max-width:34em;padding:0 1em\"><h1>{title}</h1><p>{text}</p></body></html>\n",
        title = escape(title),
        text = escape(text),
    );
    let mut response = Response::new(Full::new(Bytes::from(html)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        header::HeaderValue::from_static("text/html; charset=utf-8"),
    );
    headers.insert(
        header::CACHE_CONTROL,
        header::HeaderValue::from_static("no-store"),
    );
    headers.insert(
        header::REFERRER_POLICY,
        header::HeaderValue::from_static("no-referrer"),
    );
    response
}
