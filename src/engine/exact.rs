//! Exact counts by Claude's provider: writes the request, keeps the user's key, sends it when told to.
//!
//! The key lives here and in the system's keychain; of it the state learns only where it is.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sha2::{Digest, Sha256};
use time::OffsetDateTime;
use tokio::runtime::{Handle, Runtime};
use tokio::task::AbortHandle;

use super::queue::Queue;
use super::work;
use crate::state::Event;
use crate::state::anthropic_count::{Counted, ExactEffect, ExactEvent, KeyPlace, Prepared};
use loupe_analysis::queries;
use loupe_client::keychain;
use loupe_client::provider::{self, KEY_ENTRY as ENTRY};
use loupe_core::capture::Capture;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::token::claude::{Key, Request};

/// See the module.
pub(super) struct Provider {
    queue: Arc<Queue>,
    known: Arc<Mutex<Known>>,
    /// Whether the system's keychain may be used: only in a window that belongs to the user.
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
        Self {
            queue,
            known: Arc::default(),
            keychain: AtomicBool::new(false),
            counting: Mutex::default(),
        }
    }

    /// From here on the key is kept in the system's keychain.
    pub(super) fn use_keychain(&self) {
        self.keychain.store(true, Ordering::Relaxed);
    }

    /// Whether the system's keychain may be used.
    pub(super) fn uses_keychain(&self) -> bool {
        self.keychain.load(Ordering::Relaxed)
    }

    pub(super) fn execute(&self, runtime: &Runtime, effect: ExactEffect) {
        let (queue, known) = (Arc::clone(&self.queue), Arc::clone(&self.known));
        let keychain = self.uses_keychain();
        match effect {
            ExactEffect::Prepare {
                run,
                capture,
                format,
                address,
                model,
            } => {
                let failed = move |problem| {
                    Event::Exact(ExactEvent::Prepared {
                        run,
                        prepared: Err(problem),
                    })
                };
                work::blocking(runtime.handle(), &self.queue, failed, move || {
                    let prepared = prepare(capture, format, &address, &model);
                    queue.push(Event::Exact(ExactEvent::Prepared { run, prepared }));
                });
            }
            ExactEffect::LookForKey => {
                let failed = |problem: Problem| {
                    Event::Exact(ExactEvent::Key(KeyPlace::Nowhere(Some(problem.what))))
                };
                work::task(runtime.handle(), &self.queue, failed, async move {
                    let place = match keychain {
                        true => match keychain::load(ENTRY).await {
                            Ok(Some(key)) => {
                                *locked(&known) = Known {
                                    key: Key::new(&key),
                                    is_kept: true,
                                };
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
            ExactEffect::Count {
                run,
                request,
                digest,
                key,
            } => {
                let counted = digest.clone();
                let failed = move |problem| {
                    Event::Exact(ExactEvent::Counted {
                        run,
                        digest: counted,
                        counted: Err(problem),
                    })
                };
                let task = work::task(runtime.handle(), &self.queue, failed, async move {
                    if !key.is_empty() {
                        *locked(&known) = Known {
                            key,
                            is_kept: false,
                        };
                        queue.push(Event::Exact(ExactEvent::Key(KeyPlace::ThisRun(
                            "it is kept once it has worked".into(),
                        ))));
                    }
                    let Known { key, is_kept } = locked(&known).clone();
                    let counted = provider::count(&request, &key, provider::LIMIT).await;
                    let is_refused = counted
                        .as_ref()
                        .is_err_and(|problem| problem.kind == ProblemKind::Auth);
                    let has_worked = counted.is_ok();
                    let model = request.model;
                    let day = OffsetDateTime::now_utc().date().to_string();
                    let counted = counted.map(|tokens| Counted { tokens, model, day });
                    queue.push(Event::Exact(ExactEvent::Counted {
                        run,
                        digest,
                        counted,
                    }));
                    if is_refused {
                        *locked(&known) = Known::default();
                        queue.push(Event::Exact(ExactEvent::Key(KeyPlace::Nowhere(None))));
                    } else if has_worked && !is_kept {
                        // By itself, so that the next count does not call it off.
                        let sink = Arc::clone(&queue);
                        work::task(&Handle::current(), &sink, Event::Problem, async move {
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
                            let problem = Problem::new(
                                ProblemKind::Io,
                                format!("the key may still be in the system's keychain: {why}"),
                            );
                            queue.push(Event::Problem(problem.hint(
                                "take out the entry `anthropic-api-key` of `mcp-loupe` there",
                            )));
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

fn prepare(
    capture: Arc<Capture>,
    format: &str,
    address: &str,
    model: &str,
) -> Result<Prepared, Problem> {
    let text = queries::text_of(&queries::subject(capture), format)?;
    if text.is_empty() {
        return Err(Problem::new(
            ProblemKind::NotFound,
            "there is no text to count",
        ));
    }
    let digest = Sha256::digest(text.as_bytes())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let request = Request::new(address, model, &text);
    Ok(Prepared::new(text, digest, &request))
}
