//! What servers say next to answers, on its way to the state, and what they are told: questions and their answers, the
//! messages for the protocol log, lists that changed, levels, folders.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use tokio::runtime::{Handle, Runtime};
use tokio::sync::mpsc;

use super::sessions::{Sessions, roots};
use super::work::task;
use crate::state::library::LibraryEntry;
use crate::state::wire::HttpExchange;
use crate::state::{
    CallUpdate, Event, ServerNotification, SessionCommand, SessionId, SessionUpdate,
};
use crate::store;
use loupe_analysis::contract::message_line;
use loupe_client::{self, CancelToken, ClientCapabilities, Listing, SessionEvent, Transcript};
use loupe_core::cancel::Cancel;
use loupe_core::capture::{Capture, CaptureId, Line, Prompt, Resource, Tool};
use loupe_core::json::Doc;
use loupe_core::number::number_of;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::redact::{RedactOptions, redact_messages};

/// How long tools are left to change before they are listed again: servers announce several changes at once.
const SETTLE: Duration = Duration::from_millis(300);
/// The time limit of one page of a list.
const LIST_LIMIT: Duration = Duration::from_secs(60);
/// The time limit of each of the doctor's questions.
const EXAMINE_LIMIT: Duration = Duration::from_secs(5);
/// The time limit of what is asked next to calls.
const LIMIT: Duration = Duration::from_secs(30);
/// The same of suggestions: those that come later are for a text that is typed over.
const SUGGEST_LIMIT: Duration = Duration::from_secs(3);
/// As many messages are handed over at once.
const BATCH: usize = 256;
/// As many parcels of them may lie there, and how long to wait before looking again.
const PARCELS: usize = 16;
const PARCEL_PAUSE: Duration = Duration::from_millis(20);
/// As many messages may wait for the window: a flood must not fill the memory.
const QUEUE: usize = 20_000;

impl Sessions {
    pub(super) fn push_notification(&self, session: SessionId, notification: ServerNotification) {
        self.queue.push(Event::Session {
            session,
            update: SessionUpdate::Notification(notification),
        });
    }

    /// What may be asked: everything that the user at the window can answer, and the folders they chose.
    pub(super) fn answering(self: &Arc<Self>, session: SessionId) -> ClientCapabilities {
        let this = Arc::downgrade(self);
        let asker: loupe_client::RequestHandler = Arc::new(move |ask, answer| {
            let Some(this) = this.upgrade() else { return };
            this.open().answers.insert((session, ask.key), answer);
            this.push_notification(session, ServerNotification::Asked(ask));
        });
        ClientCapabilities {
            elicitation: true,
            sampling: true,
            roots: None,
            asker: Some(asker),
        }
    }

    /// Hands every message to the protocol log, in order and off the connection's own path.
    pub(super) fn transcript(self: &Arc<Self>, handle: &Handle, session: SessionId) -> Transcript {
        let (sender, mut receiver) = mpsc::channel::<Line>(QUEUE);
        let lost = Arc::new(AtomicU64::new(0));
        let (this, lost_here) = (Arc::downgrade(self), Arc::clone(&lost));
        task(handle, &self.queue, Event::Problem, async move {
            let mut batch = Vec::new();
            while receiver.recv_many(&mut batch, BATCH).await > 0 {
                // The queue of messages is what is bounded: a window that does not come to take them stops this, not the server.
                while this
                    .upgrade()
                    .is_some_and(|this| this.queue.parcels() >= PARCELS)
                {
                    tokio::time::sleep(PARCEL_PAUSE).await;
                }
                let Some(this) = this.upgrade() else { return };
                this.push_notification(
                    session,
                    ServerNotification::Lines(std::mem::take(&mut batch)),
                );
                let lost = lost_here.swap(0, Ordering::Relaxed);
                if lost > 0 {
                    let words = format!(
                        "not in the protocol log, since they came too fast: {}",
                        number_of(lost, "messages")
                    );
                    this.push_notification(session, ServerNotification::Noted(words));
                }
            }
        });
        Arc::new(move |line| {
            // Full, or the other end went with the engine.
            if sender.try_send(line).is_err() {
                lost.fetch_add(1, Ordering::Relaxed);
            }
        })
    }

    /// Takes what is for the state as it is; gives back the rest.
    pub(super) fn forward_notification(
        self: &Arc<Self>,
        session: SessionId,
        event: SessionEvent,
        handle: &Handle,
    ) -> Option<SessionEvent> {
        let notification = match event {
            SessionEvent::Withdrawn { key, why } => {
                let answer = self.open().answers.remove(&(session, key));
                drop(answer);
                ServerNotification::Withdrawn { key, why }
            }
            SessionEvent::Visited { id } => ServerNotification::Visited { id },
            SessionEvent::Http {
                request,
                sent,
                response,
            } => ServerNotification::Http {
                request,
                http: HttpExchange { sent, response },
            },
            SessionEvent::Noted(text) => ServerNotification::Noted(text),
            SessionEvent::ResourceUpdated(uri) => ServerNotification::ResourceUpdated(uri),
            SessionEvent::ListChanged(
                Listing::Resources | Listing::Prompts | Listing::Templates,
            ) => ServerNotification::LibraryChanged,
            SessionEvent::ListChanged(Listing::Tools) => {
                self.list_again(session, handle);
                return None;
            }
            // The log shows them.
            SessionEvent::Log { .. } => return None,
            other => return Some(other),
        };
        self.push_notification(session, notification);
        None
    }

    /// Lists the tools once they have settled; where they are being listed, once more after that.
    pub(super) fn list_again(self: &Arc<Self>, session: SessionId, handle: &Handle) {
        {
            let mut open = self.open();
            // Before there is a session its first list is still to come.
            if !open.sessions.contains_key(&session) || open.listing.insert(session, true).is_some()
            {
                return;
            }
        }
        let this = Arc::downgrade(self);
        let ended = Arc::clone(self);
        let failed = move |problem| {
            ended.open().listing.remove(&session);
            Event::Problem(problem)
        };
        task(handle, &self.queue, failed, async move {
            loop {
                tokio::time::sleep(SETTLE).await;
                let Some(this) = this.upgrade() else { return };
                let reached = {
                    let mut open = this.open();
                    let has_changed = open.listing.get_mut(&session).is_some_and(std::mem::take);
                    let reached = open.sessions.get(&session).filter(|_| has_changed).cloned();
                    if reached.is_none() {
                        open.listing.remove(&session);
                    }
                    reached
                };
                let Some(reached) = reached else { return };
                match reached.list_tools(LIST_LIMIT).await {
                    Ok(list) => this.push_notification(
                        session,
                        ServerNotification::Tools {
                            tools: list.tools,
                            note: list.note,
                        },
                    ),
                    Err(error) => {
                        let problem = Problem::from(error);
                        this.push_notification(
                            session,
                            ServerNotification::Noted(format!(
                                "The tools changed and could not be listed again: {problem}"
                            )),
                        );
                    }
                }
            }
        });
    }

    /// Has the server tell of changes of what it lists; that it does not is worth a word, and no failure.
    pub(super) fn listen(
        self: &Arc<Self>,
        session: SessionId,
        reached: Arc<loupe_client::Session>,
    ) {
        let this = Arc::downgrade(self);
        task(
            &Handle::current(),
            &self.queue,
            Event::Problem,
            async move {
                let listened = reached.listen(LIMIT).await;
                drop(reached);
                if let (Err(error), Some(this)) = (listened, this.upgrade()) {
                    let problem = Problem::from(error);
                    this.push_notification(
                        session,
                        ServerNotification::Noted(format!(
                            "The server does not tell of changes of its lists: {problem}"
                        )),
                    );
                }
            },
        );
    }

    pub(super) fn read(
        self: &Arc<Self>,
        runtime: &Runtime,
        session: SessionId,
        call: u64,
        method: &'static str,
        params: Bytes,
        limit: Duration,
    ) {
        let Some((reached, number, cancel)) = self.begin(session, call) else {
            return;
        };
        let this = Arc::clone(self);
        let (id, name): (_, Arc<str>) = (
            self.capture_id(number),
            format!("{number:03}-{}", method.replace('/', "-")).into(),
        );
        let begun = Capture {
            name: Arc::clone(&name),
            tool: Tool::unlisted(method),
            arguments: params.clone(),
            ..Capture::empty(id.clone(), reached.server().clone())
        };
        task(
            runtime.handle(),
            &self.queue,
            self.call_failed(call, begun),
            async move {
                let capture = Capture {
                    name,
                    ..reached
                        .read(
                            loupe_client::ContentRequest {
                                id,
                                method,
                                params,
                                limit,
                            },
                            cancel,
                        )
                        .await
                };
                this.finish(call);
                this.queue.push(Event::Call {
                    call,
                    update: CallUpdate::Captured(Arc::new(capture)),
                });
            },
        );
    }

    pub(super) fn use_roots(&self, roots: Option<Vec<PathBuf>>) {
        self.open().roots = roots;
    }

    pub(super) fn send_command(
        self: &Arc<Self>,
        runtime: &Runtime,
        session: SessionId,
        command: SessionCommand,
    ) {
        let reached = match command {
            SessionCommand::Reply { key, reply } => {
                let answer = self.open().answers.remove(&(session, key));
                if let Some(answer) = answer {
                    // A reply is written under the runtime, since HTTP sends it as a request.
                    let _guard = runtime.enter();
                    answer.give(reply);
                }
                return;
            }
            _ => self.open().sessions.get(&session).cloned(),
        };
        let Some(reached) = reached else { return };
        let queue = Arc::clone(&self.queue);
        let empty_reply = match &command {
            SessionCommand::ListLibrary => Some(ServerNotification::Library {
                entries: Vec::new(),
                notes: Vec::new(),
            }),
            SessionCommand::Complete { argument, .. } => Some(ServerNotification::Completed {
                argument: argument.clone(),
                values: Vec::new(),
            }),
            _ => None,
        };
        let sink = Arc::clone(&self.queue);
        let failed = move |problem| {
            if let Some(notification) = empty_reply {
                sink.push(Event::Session {
                    session,
                    update: SessionUpdate::Notification(notification),
                });
            }
            Event::Problem(problem)
        };
        task(runtime.handle(), &self.queue, failed, async move {
            let done = match command {
                SessionCommand::LogLevel(level) => reached.set_log_level(level, LIMIT).await,
                SessionCommand::Roots(folders) => match roots(folders).await {
                    Ok(roots) => reached.set_roots(roots),
                    Err(problem) => {
                        queue.push(Event::Problem(problem));
                        Ok(())
                    }
                },
                SessionCommand::ListLibrary => {
                    let (entries, notes) = library(&reached).await;
                    queue.push(Event::Session {
                        session,
                        update: SessionUpdate::Notification(ServerNotification::Library {
                            entries,
                            notes,
                        }),
                    });
                    Ok(())
                }
                SessionCommand::Complete { argument, params } => {
                    // A server that has nothing to suggest is not in anybody's way.
                    let values = reached
                        .request("completion/complete", &params, SUGGEST_LIMIT)
                        .await
                        .map(|result| values(&result));
                    queue.push(Event::Session {
                        session,
                        update: SessionUpdate::Notification(ServerNotification::Completed {
                            argument,
                            values: values.unwrap_or_default(),
                        }),
                    });
                    Ok(())
                }
                SessionCommand::Examine(tool) => {
                    match tool {
                        None => reached.examine(EXAMINE_LIMIT).await,
                        Some(tool) => {
                            let call = loupe_client::Call {
                                id: CaptureId("doctor".into()),
                                tool: Tool::clone(&tool),
                                arguments: Bytes::from_static(b"{}"),
                                limit: LIST_LIMIT,
                            };
                            reached.examine_call(call, CancelToken::new()).await;
                        }
                    }
                    queue.push(Event::Session {
                        session,
                        update: SessionUpdate::Examined,
                    });
                    Ok(())
                }
                SessionCommand::Watch { uri, on } => reached.watch(&uri, on, LIMIT).await,
                SessionCommand::Reply { .. } => Ok(()),
            };
            if let Err(error) = done {
                queue.push(Event::Problem(error.into()));
            }
        });
    }
}

/// Everything next to tools that the server declares; what cannot be listed is noted.
async fn library(session: &loupe_client::Session) -> (Vec<LibraryEntry>, Vec<String>) {
    let (mut entries, mut notes) = (Vec::new(), Vec::new());
    let server = session.server();
    let wanted = [
        (Listing::Resources, "/resources", "resources"),
        (Listing::Templates, "/resources", "resource templates"),
        (Listing::Prompts, "/prompts", "prompts"),
    ];
    for (listing, capability, name) in wanted {
        if !server.declares(capability) {
            continue;
        }
        match session.list(listing, LIST_LIMIT).await {
            Ok(list) => {
                notes.extend(list.note);
                entries.extend(list.entries.into_iter().map(|raw| match listing {
                    Listing::Templates => {
                        LibraryEntry::Template(Arc::new(Resource::read(raw, true)))
                    }
                    Listing::Prompts => LibraryEntry::Prompt(Arc::new(Prompt::read(raw))),
                    _ => LibraryEntry::Resource(Arc::new(Resource::read(raw, false))),
                }));
            }
            Err(error) => notes.push(format!(
                "the {name} could not be listed: {}",
                Problem::from(error)
            )),
        }
    }
    (entries, notes)
}

/// The values of a completion.
fn values(result: &Bytes) -> Vec<String> {
    let doc = Doc::parse(result.clone());
    let list = doc.at("/completion/values").map(|list| {
        list.children()
            .filter_map(|value| Some(value.as_str()?.into_owned()))
            .collect()
    });
    list.unwrap_or_default()
}

/// Writes messages as JSON Lines, secrets hidden; gives what is said of these.
pub(super) fn save_log(
    lines: &[Line],
    path: &Path,
    options: &RedactOptions,
    cancel: &Cancel,
) -> Result<Option<String>, Problem> {
    let messages = lines.iter().map(Line::message);
    let hidden = redact_messages(messages.collect(), options, cancel)
        .map_err(|_| Problem::new(ProblemKind::Cancelled, "the log was not written"))?;
    let text: String = hidden
        .capture
        .messages
        .iter()
        .map(|message| message_line(message) + "\n")
        .collect();
    store::write_whole(path, text.as_bytes())?;
    Ok(hidden.sentence())
}
