//! What a server says unasked in the era without sessions: on the stream that answers `subscriptions/listen`, and only of
//! what was asked for there. A change of what is asked for is another subscription, which takes the place of the one
//! before once the server has taken it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::{Mutex, oneshot};
use tokio::task::JoinHandle;

use super::{RequestGuard, Session};
use crate::SessionEvent;
use crate::era::Era;
use crate::error::Error;
use crate::tap::{End, Tap};
use loupe_core::capture::{ParsedResponse, Server};
use loupe_core::json::{Doc, Node, write};

/// How often in a row a subscription that ends is taken up again, the pause before, and how long one lasts that counts as
/// having worked.
const AGAIN: usize = 5;
const PAUSE: Duration = Duration::from_secs(1);
const LASTING: Duration = Duration::from_secs(30);

/// The subscription of a session.
#[derive(Default)]
pub(crate) struct Listening(Mutex<Wanted>);

#[derive(Default)]
struct Wanted {
    uris: BTreeSet<String>,
    task: Option<Held>,
}

/// Ends the subscription when dropped.
struct Held(JoinHandle<()>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Session {
    /// Asks to be told of changes of everything the server lists, where it says that it tells. In a session such news
    /// come unasked.
    ///
    /// # Errors
    /// The server does not take the subscription.
    pub async fn listen(&self, limit: Duration) -> Result<(), Error> {
        if !self.era.is_stateless() {
            return Ok(());
        }
        let mut wanted = self.listening.0.lock().await;
        self.subscribe(&mut wanted, limit).await
    }

    pub(super) async fn listen_to(
        &self,
        uri: &str,
        on: bool,
        limit: Duration,
    ) -> Result<(), Error> {
        let mut wanted = self.listening.0.lock().await;
        if on {
            wanted.uris.insert(uri.to_owned());
        } else {
            wanted.uris.remove(uri);
        }
        let subscribed = self.subscribe(&mut wanted, limit).await;
        if on && subscribed.is_err() {
            wanted.uris.remove(uri);
        }
        subscribed
    }

    async fn subscribe(&self, wanted: &mut Wanted, limit: Duration) -> Result<(), Error> {
        let Some(filter) = filter(&self.server, &wanted.uris) else {
            wanted.task = None;
            return Ok(());
        };
        let (agree, agreed) = oneshot::channel();
        let listener = Listener {
            tap: Arc::clone(&self.tap),
            era: self.era.clone(),
            filter,
        };
        let task = Held(tokio::spawn(listener.run(agree)));
        let Ok(agreed) = tokio::time::timeout(limit, agreed).await else {
            return Err(self.timeout("subscriptions/listen", limit));
        };
        let taken = agreed.map_err(|_| Error::Closed {
            place: self.tap.place.clone(),
        })??;
        let doc = Doc::parse(taken);
        let agreed: Vec<_> = doc
            .at("/resourceSubscriptions")
            .map(Node::children)
            .into_iter()
            .flatten()
            .collect();
        for uri in wanted.uris.iter().filter(|uri| {
            !agreed
                .iter()
                .any(|own| own.as_str().is_some_and(|own| own == **uri))
        }) {
            self.tap.emit(SessionEvent::Noted(format!(
                "the server does not tell of changes of {uri}"
            )));
        }
        wanted.task = Some(task);
        Ok(())
    }
}

/// What to ask for, as JSON; `None`: there is nothing that the server would tell of.
fn filter(server: &Server, uris: &BTreeSet<String>) -> Option<String> {
    let lists = [
        ("/tools/listChanged", "toolsListChanged"),
        ("/prompts/listChanged", "promptsListChanged"),
        ("/resources/listChanged", "resourcesListChanged"),
    ];
    let declared = lists
        .iter()
        .filter(|(capability, _)| server.declares(capability));
    let mut members: Vec<String> = declared
        .map(|(_, name)| format!(r#""{name}":true"#))
        .collect();
    if !uris.is_empty() {
        let uris: Vec<_> = uris.iter().map(|uri| write::string(uri)).collect();
        members.push(format!(r#""resourceSubscriptions":[{}]"#, uris.join(",")));
    }
    (!members.is_empty()).then(|| format!("{{{}}}", members.join(",")))
}

struct Listener {
    tap: Arc<Tap>,
    era: Era,
    filter: String,
}

impl Listener {
    /// Listens until the server will not be heard any more. `agree` is told what the first subscription came to.
    async fn run(self, agree: oneshot::Sender<Result<Bytes, Error>>) {
        let mut agree = Some(agree);
        let mut short = 0;
        loop {
            let begun = Instant::now();
            let (error, was_taken) = self.once(&mut agree).await;
            if let Some(agree) = agree.take() {
                // Whoever asked may be gone.
                agree.send(Err(error)).ok();
                return;
            }
            if self.tap.failure().is_some() {
                return;
            }
            short = if was_taken && begun.elapsed() >= LASTING {
                0
            } else {
                short + 1
            };
            if short > AGAIN {
                let words = format!(
                    "the server does not tell of changes any more ({error}); lists can be read again by hand"
                );
                self.tap.emit(SessionEvent::Noted(words));
                return;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// One subscription: why it ended, and whether the server had taken it.
    async fn once(
        &self,
        agree: &mut Option<oneshot::Sender<Result<Bytes, Error>>>,
    ) -> (Error, bool) {
        let params = format!(r#"{{"notifications":{}}}"#, self.filter);
        let write = |id: i64| {
            self.era.request(
                &id.to_string(),
                "subscriptions/listen",
                params.as_bytes(),
                "",
                None,
            )
        };
        let (waiting, taken) = match self.tap.request_aside(write) {
            Ok(sent) => sent,
            Err(error) => return (error, false),
        };
        // Told to the server where nobody listens any more.
        let mut ask = RequestGuard {
            tap: &self.tap,
            waiting,
        };
        // Where it ends first there is nothing more to be told.
        let taken = taken.await.ok();
        let was_taken = taken.is_some();
        if let (Some(to), Some(agree)) = (taken, agree.take_if(|_| was_taken)) {
            agree.send(Ok(to)).ok();
        }
        let end = (&mut ask.waiting.done).await.ok().map(|(end, _)| end);
        (why(end, self.tap.place.clone()), was_taken)
    }
}

/// Why a subscription ended.
fn why(end: Option<End>, place: String) -> Error {
    match end {
        None => Error::Closed { place },
        Some(End::Lost(error)) => Error::Shared(error),
        Some(End::Answer(answer)) => {
            match (answer.fault, ParsedResponse::read(answer.bytes).rpc_error) {
                (Some(fault), _) => fault,
                (None, Some(error)) => Error::Rpc { place, error },
                (None, None) => Error::Disconnected {
                    place,
                    how: "the server ended the subscription".into(),
                    during_handshake: false,
                    unreadable: None,
                    stderr: Vec::new(),
                },
            }
        }
    }
}
