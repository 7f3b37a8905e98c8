//! HTTP+SSE, the transport of 2024-11-05: one stream by GET, whose first event names the address to send to; every
//! answer comes on the stream. Its end is the end of the session. The address must be of the same origin, since it gets
//! the headers, credentials among them.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::error::{Error, excerpt};
use super::http_client::{Client, SENT_AGAIN, info, location, media_type, sent_headers};
use super::sse;
use super::tap::{End, Incoming, Outbox, Tap};
use loupe_core::capture::StepState;

/// What is read of an error page.
const PAGE_BYTES: usize = 64 << 10;

pub(super) struct Link {
    tap: Arc<Tap>,
    http: Client,
    endpoint: reqwest::Url,
    tasks: Mutex<Option<JoinSet<()>>>,
    me: std::sync::Weak<Link>,
}

/// Opens the stream and waits for the address to send to.
pub(super) async fn open(http: Client, tap: Arc<Tap>) -> Result<Arc<Link>, Error> {
    let begun = Instant::now();
    let write = || {
        http.request(reqwest::Method::GET, &http.url, HeaderMap::new())
            .header(header::ACCEPT, "text/event-stream")
    };
    let tried = format!("HTTP+SSE: GET {}", http.url.path());
    let (mut response, _) = http
        .send_logged_in(write, false, std::future::pending())
        .await?;
    let status = response.status();
    let fail = |error: Error| {
        tap.step("HTTP", begun, &tried, &error.to_string(), StepState::Failed);
        error
    };
    if !status.is_success() || media_type(response.headers()) != "text/event-stream" {
        return Err(fail(refusal(&http.shown, response, status).await));
    }
    let mut parser = sse::Parser::new(tap.limits.message);
    let refused = |what: String| Error::Handshake {
        place: http.shown.clone(),
        what,
    };
    let (endpoint, rest) = loop {
        let chunk = response
            .chunk()
            .await
            .map_err(|source| http.failed(source))?;
        let Some(chunk) = chunk else {
            return Err(fail(refused(
                "the stream ended before it named an `endpoint`".into(),
            )));
        };
        let mut events = parser.feed(&chunk).into_iter();
        if let Some(event) = events
            .by_ref()
            .find(|event| event.name.as_deref() == Some("endpoint"))
        {
            break (
                String::from_utf8_lossy(&event.data).trim().to_owned(),
                events.collect::<Vec<_>>(),
            );
        }
    };
    let base = response.url().clone();
    let url = base.join(&endpoint).map_err(|_| {
        fail(refused(format!(
            "the `endpoint` is not an address: {}",
            excerpt(&endpoint)
        )))
    })?;
    if url.origin() != http.url.origin() {
        let what = format!(
            "the `endpoint` is of another origin ({}), which would get the headers",
            url.origin().ascii_serialization()
        );
        return Err(fail(refused(what)));
    }
    tap.step(
        "HTTP",
        begun,
        &tried,
        &format!("send to {}", url.path()),
        StepState::Done,
    );
    let link = Arc::new_cyclic(|me| Link {
        tap,
        http,
        endpoint: url,
        tasks: Mutex::new(Some(JoinSet::new())),
        me: me.clone(),
    });
    link.spawn(|link| async move { link.listen(response, parser, rest).await });
    Ok(link)
}

async fn refusal(url: &str, response: reqwest::Response, status: StatusCode) -> Error {
    let (place, location) = (url.to_owned(), location(&response));
    let text = excerpt(&page(response).await);
    let shown = status.to_string();
    match location.filter(|_| status.is_redirection()) {
        Some(location) => Error::Redirect {
            url: place,
            status: shown,
            location,
        },
        None if status == StatusCode::UNAUTHORIZED => Error::Auth {
            url: place,
            status: shown,
            text,
        },
        None if status.is_success() => Error::Handshake {
            place,
            what: format!("no event stream came: {text}"),
        },
        None => Error::HttpStatus {
            url: place,
            status: shown,
            text,
        },
    }
}

/// The beginning of a page, for people.
async fn page(mut response: reqwest::Response) -> String {
    let mut text = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        text.extend_from_slice(&chunk);
        if text.len() > PAGE_BYTES {
            break;
        }
    }
    text.truncate(PAGE_BYTES);
    String::from_utf8_lossy(&text).into_owned()
}

impl Link {
    fn spawn<F: Future<Output = ()> + Send + 'static>(&self, task: impl FnOnce(Arc<Self>) -> F) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(tasks), Some(me)) = (tasks.as_mut(), self.me.upgrade()) {
            while tasks.try_join_next().is_some() {}
            tasks.spawn(task(me));
        }
    }

    /// Hands on what comes until the stream ends, and the session with it.
    async fn listen(
        &self,
        mut response: reqwest::Response,
        mut parser: sse::Parser,
        mut events: Vec<sse::StreamEvent>,
    ) {
        let how = loop {
            for event in events {
                let is_message = event
                    .name
                    .as_deref()
                    .is_none_or(|name| name == "message" || name.is_empty());
                if is_message {
                    self.tap.incoming(Incoming {
                        bytes: event.data,
                        begun: event.begun,
                        cut: event.cut,
                        within: None,
                    });
                }
            }
            match response.chunk().await {
                Ok(Some(chunk)) => events = parser.feed(&chunk),
                Ok(None) => break "the server ended the stream".to_owned(),
                Err(error) => {
                    break format!("the stream broke: {}", super::error::innermost(&error));
                }
            }
        };
        let cut = parser.cut;
        if let Some(rest) = parser.finish() {
            self.tap
                .note_all("the last event is not ended by a blank line");
            self.tap.incoming(Incoming {
                bytes: rest,
                begun: Instant::now(),
                cut,
                within: None,
            });
        }
        let during_handshake = !self.tap.is_established();
        let (unreadable, _) = self.tap.last_output();
        let unreadable = unreadable.filter(|_| during_handshake);
        self.tap.disconnect(Error::Disconnected {
            place: self.http.shown.clone(),
            how,
            during_handshake,
            unreadable,
            stderr: Vec::new(),
        });
    }

    async fn post(&self, bytes: Bytes, request: Option<i64>) -> Result<(), Error> {
        let write = || {
            self.http
                .request(reqwest::Method::POST, &self.endpoint, HeaderMap::new())
                .header(header::CONTENT_TYPE, "application/json")
                .body(bytes.clone())
        };
        // A login may have run out since the stream was opened.
        let (response, is_again) = self
            .http
            .send_logged_in(&write, false, self.tap.wait_until_abandoned(request))
            .await?;
        if let Some(request) = request {
            if is_again {
                self.tap.note(request, SENT_AGAIN);
            }
            self.tap.emit(super::SessionEvent::Http {
                request,
                sent: sent_headers(write()),
                response: info(&response),
            });
        }
        let status = response.status();
        if status.is_success() {
            Ok(())
        } else {
            Err(refusal(&self.http.shown, response, status).await)
        }
    }
}

impl Outbox for Link {
    fn send(&self, bytes: Bytes, request: Option<i64>) -> oneshot::Receiver<io::Result<Instant>> {
        let (left, waiting) = oneshot::channel();
        self.spawn(|link| async move {
            match (link.post(bytes, request).await, request) {
                (Ok(()), _) => {
                    left.send(Ok(Instant::now())).ok();
                }
                (Err(error), Some(id)) => link.tap.end(id, End::Lost(Arc::new(error))),
                (Err(error), None) => {
                    left.send(Err(io::Error::other(error))).ok();
                }
            }
        });
        waiting
    }

    fn shut(&self) {
        // Aborts the stream and every request under way.
        drop(
            self.tasks
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
    }
}
