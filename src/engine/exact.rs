//! Exact counts by Claude's provider: writes the request, keeps the person's key, sends it when told to.
//!
//! The key lives here and in the system's keychain; of it the state learns only where it is.

use crate::analysis;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reqwest::header::{HeaderValue, RETRY_AFTER};
use sha2::{Digest, Sha256};
use time::OffsetDateTime;
use tokio::runtime::{Handle, Runtime};
use tokio::task::AbortHandle;

use super::queue::Queue;
use super::work;
use crate::capture::Capture;
use crate::mcp::keychain;
use crate::problem::{Problem, ProblemKind};
use crate::state::Event;
use crate::state::exact::{Counted, ExactEffect, ExactEvent, KeyPlace, Prepared};
use crate::token::claude::{self, Key, Request};

/// The name of the key in the keychain.
const ENTRY: &str = "anthropic-api-key";
/// How long the provider may take over one count.
const LIMIT: Duration = Duration::from_secs(60);
/// More of an answer is not read: it holds one number or one sentence.
const ANSWER_BYTES: usize = 64 << 10;

/// See the module.
pub(super) struct Provider {
    queue: Arc<Queue>,
    known: Arc<Mutex<Known>>,
    /// Whether the system's keychain may be used: only in a window that belongs to a person.
    keychain: AtomicBool,
    counting: Mutex<Option<AbortHandle>>,
}

/// The key that is counted with.
#[derive(Clone, Default)]
struct Known {
    key: Key,
    /// Whether it was put where it is kept, or came from there.
    is_kept: bool,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Provider {
    pub(super) fn new(queue: Arc<Queue>) -> Self {
        Self { queue, known: Arc::default(), keychain: AtomicBool::new(false), counting: Mutex::default() }
    }

    /// From here on the key is kept in the system's keychain.
    pub(super) fn use_keychain(&self) {
        self.keychain.store(true, Ordering::Relaxed);
    }

    pub(super) fn execute(&self, runtime: &Runtime, effect: ExactEffect) {
        let (queue, known) = (Arc::clone(&self.queue), Arc::clone(&self.known));
        let keychain = self.keychain.load(Ordering::Relaxed);
        match effect {
            ExactEffect::Prepare { run, capture, format, address, model } => {
                let failed = move |problem| Event::Exact(ExactEvent::Prepared { run, prepared: Err(problem) });
                work::blocking(runtime.handle(), &self.queue, failed, move || {
                    let prepared = prepare(capture, format, &address, &model);
                    queue.push(Event::Exact(ExactEvent::Prepared { run, prepared }));
                });
            }
            ExactEffect::LookForKey => {
                let failed = |problem: Problem| Event::Exact(ExactEvent::Key(KeyPlace::Nowhere(Some(problem.what))));
                work::task(runtime.handle(), &self.queue, failed, async move {
                    let place = match keychain {
                        true => match keychain::load(ENTRY).await {
                            Ok(Some(key)) => {
                                *locked(&known) = Known { key: Key::new(&key), is_kept: true };
                                KeyPlace::Keychain
                            }
                            Ok(None) => KeyPlace::Nowhere(None),
                            Err(why) => KeyPlace::Nowhere(Some(why)),
                        },
                        false => KeyPlace::Nowhere(Some("it is not used here".into())),
                    };
                    queue.push(Event::Exact(ExactEvent::Key(place)));
                });
            }
            ExactEffect::Count { run, request, digest, key } => {
                let counted = digest.clone();
                let failed = move |problem| Event::Exact(ExactEvent::Counted { run, digest: counted, counted: Err(problem) });
                let task = work::task(runtime.handle(), &self.queue, failed, async move {
                    if !key.is_empty() {
                        *locked(&known) = Known { key, is_kept: false };
                        queue.push(Event::Exact(ExactEvent::Key(KeyPlace::ThisRun("it is kept once it has worked".into()))));
                    }
                    let Known { key, is_kept } = locked(&known).clone();
                    let counted = count(&request, &key, LIMIT).await;
                    let is_refused = counted.as_ref().is_err_and(|problem| problem.kind == ProblemKind::Auth);
                    let has_worked = counted.is_ok();
                    let model = request.model;
                    let day = OffsetDateTime::now_utc().date().to_string();
                    let counted = counted.map(|tokens| Counted { tokens, model, day });
                    queue.push(Event::Exact(ExactEvent::Counted { run, digest, counted }));
                    if is_refused {
                        *locked(&known) = Known::default();
                        queue.push(Event::Exact(ExactEvent::Key(KeyPlace::Nowhere(None))));
                    } else if has_worked && !is_kept {
                        // By itself, so that the next count does not call it off.
                        let told = Arc::clone(&queue);
                        work::task(&Handle::current(), &told, Event::Problem, async move {
                            let place = keep(&key, keychain).await;
                            let is_forgotten = {
                                let mut known = locked(&known);
                                // It may have been forgotten or replaced meanwhile.
                                if known.key == key {
                                    known.is_kept = true;
                                    queue.push(Event::Exact(ExactEvent::Key(place)));
                                }
                                known.key.is_empty()
                            };
                            if is_forgotten && keychain {
                                keychain::forget(ENTRY).await.ok();
                            }
                        });
                    }
                });
                if let Some(before) = locked(&self.counting).replace(task.abort_handle()) {
                    before.abort();
                }
            }
            ExactEffect::Stop => {
                if let Some(task) = locked(&self.counting).take() {
                    task.abort();
                }
            }
            ExactEffect::ForgetKey => {
                *locked(&known) = Known::default();
                if keychain {
                    work::task(runtime.handle(), &self.queue, Event::Problem, async move {
                        if let Err(why) = keychain::forget(ENTRY).await {
                            let problem =
                                Problem::new(ProblemKind::Io, format!("the key may still be in the system's keychain: {why}"));
                            queue.push(Event::Problem(
                                problem.hint("take out the entry `anthropic-api-key` of `mcp-loupe` there"),
                            ));
                        }
                    });
                }
            }
        }
    }
}

/// Puts a key into the keychain; says where it is.
async fn keep(key: &Key, keychain: bool) -> KeyPlace {
    match keychain {
        true => match keychain::save(ENTRY, key.reveal().to_owned()).await {
            Ok(()) => KeyPlace::Keychain,
            Err(why) => KeyPlace::ThisRun(format!("the system's keychain cannot be used: {why}")),
        },
        false => KeyPlace::ThisRun("the system's keychain is not used here".into()),
    }
}

fn prepare(capture: Arc<Capture>, format: &str, address: &str, model: &str) -> Result<Prepared, Problem> {
    let text = analysis::text_of(&analysis::subject(capture), format)?;
    if text.is_empty() {
        return Err(Problem::new(ProblemKind::NotFound, "there is no text to count"));
    }
    let digest = Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    let request = Request::new(address, model, &text);
    Ok(Prepared::new(text, digest, &request))
}

/// Sends a request with a key and reads what is answered.
///
/// # Errors
/// The provider cannot be reached in time, or refuses; what is said never holds the key.
async fn count(request: &Request, key: &Key, limit: Duration) -> Result<u64, Problem> {
    let place = request.address.clone();
    let fail = |error: reqwest::Error| {
        let (kind, what) = match error.is_timeout() {
            true => (ProblemKind::Timeout, format!("no answer within {} s", limit.as_secs())),
            false => (ProblemKind::Connect, format!("Anthropic could not be reached: {}", innermost(&error))),
        };
        Problem::new(kind, what).at(place.clone()).hint("look at the network and its proxy, then count again; the estimate stays")
    };
    let mut secret = HeaderValue::from_str(key.reveal())
        .map_err(|_| Problem::new(ProblemKind::Auth, "the key holds characters that no key has").hint("type the key again"))?;
    secret.set_sensitive(true);
    // The key goes to this address and to no other.
    let mut client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).timeout(limit);
    if request.address.starts_with("http://") {
        // A stand-in on this computer, which no proxy reaches.
        client = client.no_proxy();
    }
    let client = client.build().map_err(fail)?;
    let mut post = client.post(&request.address).header(claude::KEY_HEADER, secret).body(request.body());
    for (name, value) in request.headers() {
        post = post.header(name, value);
    }
    let mut response = post.send().await.map_err(fail)?;
    let status = response.status().as_u16();
    let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(fail)? {
        body.extend_from_slice(&chunk);
        if body.len() > ANSWER_BYTES {
            break;
        }
    }
    let mut body = String::from_utf8_lossy(&body).into_owned();
    if !key.is_empty() {
        body = body.replace(key.reveal(), "…");
    }
    claude::read(status, retry_after.as_deref(), &body, &request.model).map_err(|problem| problem.at(place.clone()))
}

fn innermost(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        text = source.to_string();
        next = source.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);

    /// A stand-in for the provider: answers one request with `reply` as it stands; gives back what it was sent.
    async fn stand_in(reply: &'static str) -> (String, tokio::task::JoinHandle<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/v1/messages/count_tokens", listener.local_addr().unwrap());
        let seen = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut seen = String::new();
            while !seen.ends_with("]}") {
                let mut chunk = [0; 4096];
                let length = stream.read(&mut chunk).await.unwrap();
                seen.push_str(&String::from_utf8_lossy(&chunk[..length]));
            }
            stream.write_all(reply.as_bytes()).await.unwrap();
            seen
        });
        (address, seen)
    }

    #[tokio::test]
    async fn what_is_sent_is_what_was_shown_and_the_key() {
        let (address, seen) = stand_in("HTTP/1.1 200 OK\r\nContent-Length: 21\r\n\r\n{\"input_tokens\":2095}").await;
        let request = Request::new(&address, "claude-haiku-4-5", "one\ntwo");
        assert_eq!(count(&request, &Key::new("sk-1"), PATIENCE).await, Ok(2_095));
        let seen = seen.await.unwrap();
        let (head, body) = seen.split_once("\r\n\r\n").unwrap();
        assert_eq!(body, request.shown().1.concat());
        let mut sent: Vec<String> = head.lines().skip(1).map(str::to_owned).collect();
        sent.retain(|line| !line.starts_with("host: ") && !line.starts_with("content-length: "));
        sent.sort();
        let mut shown: Vec<String> = request.shown().0.split_off(1);
        shown.iter_mut().filter(|line| line.starts_with("x-api-key")).for_each(|line| *line = "x-api-key: sk-1".into());
        shown.sort();
        assert_eq!(sent, shown);
        assert!(head.starts_with("POST /v1/messages/count_tokens HTTP/1.1"));
    }

    #[tokio::test]
    async fn refusals_hold_no_key_and_redirects_are_not_followed() {
        let body = r#"{"error":{"message":"key sk-1 is wrong"}}"#;
        let reply = format!("HTTP/1.1 401 Unauthorized\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        let (address, _) = stand_in(reply.leak()).await;
        let problem = count(&Request::new(&address, "m", "t"), &Key::new("sk-1"), PATIENCE).await.unwrap_err();
        assert_eq!(
            (problem.kind, problem.what.as_str()),
            (ProblemKind::Auth, "Anthropic does not take this key (HTTP 401: key … is wrong)")
        );
        let (address, _) = stand_in("HTTP/1.1 307 Go\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n").await;
        let problem = count(&Request::new(&address, "m", "t"), &Key::new("sk-1"), PATIENCE).await.unwrap_err();
        assert_eq!(problem.what, "Anthropic refused to count this (HTTP 307)");
    }

    #[tokio::test]
    async fn an_absent_provider_is_said() {
        let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        let request = Request::new(&format!("http://{free}/"), "m", "t");
        let problem = count(&request, &Key::new("sk-1"), PATIENCE).await.unwrap_err();
        assert_eq!(problem.kind, ProblemKind::Connect);
        assert!(problem.what.starts_with("Anthropic could not be reached: ") && problem.hint.is_some());
        assert_eq!(count(&request, &Key::new("a\nb"), PATIENCE).await.unwrap_err().kind, ProblemKind::Auth);
    }
}
