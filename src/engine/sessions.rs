//! The connections and calls in flight.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use super::queue::Queue;
use super::work::task;
use crate::state::{CallUpdate, Event, LoginStep, SessionId, SessionUpdate};
use loupe_client::{self, Answer, CancelToken, OnSessionEvent, Session, SessionEvent};
use loupe_core::capture::{Capture, CaptureId, Outcome, Tool};
use loupe_core::host::Host;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::redact::SecretList;
use loupe_core::server_request::Root;
use loupe_core::source::{Limits, Source, redact_url};

/// How long a folder may take to be looked at.
const FOLDERS_LIMIT: Duration = Duration::from_secs(30);

/// How long whoever still uses a session has to give it up when it is closed.
const GIVEN_UP: Duration = Duration::from_millis(100);

fn login_step(step: loupe_client::login::Step) -> LoginStep {
    match step {
        loupe_client::login::Step::Line(line) => LoginStep::Line(line),
        loupe_client::login::Step::Open { url, limit } => LoginStep::Open { url, limit },
        loupe_client::login::Step::Choose(servers) => LoginStep::Choose(servers),
        loupe_client::login::Step::Back => LoginStep::Back,
        loupe_client::login::Step::Over { worked } => LoginStep::Over { worked },
    }
}

#[derive(Default)]
pub(super) struct Open {
    /// Connections being made; aborting one leaves nothing running.
    connecting: HashMap<SessionId, JoinHandle<()>>,
    pub(super) sessions: HashMap<SessionId, Arc<Session>>,
    calls: HashMap<u64, CancelToken>,
    /// The ways back of answers that the user still has to give, by session and question.
    pub(super) answers: HashMap<(SessionId, u64), Answer>,
    /// Folders that are declared to servers.
    pub(super) roots: Option<Vec<PathBuf>>,
    /// Sessions whose tools are being listed, and whether they changed since that began. Never two lists at a time: the
    /// older might come last.
    pub(super) listing: HashMap<SessionId, bool>,
    /// The call in flight at each session, which the progress that comes from there is of.
    current: HashMap<SessionId, u64>,
    /// The calls that servers made tasks of, by session and task id.
    tasks: HashMap<(SessionId, String), u64>,
    /// Calls so far, for the names of captures.
    count: u64,
}

pub(super) struct Sessions {
    open: Mutex<Open>,
    /// At random, so that captures of two runs are distinguished.
    run: u64,
    pub(super) queue: Arc<Queue>,
    guard: Option<PathBuf>,
    /// Where logins are kept: nowhere until the user's folder is known.
    logins: Mutex<loupe_client::login::LoginStore>,
    limits: Mutex<Limits>,
    /// As whom the next connections are made; `None` is as Loupe.
    client: Mutex<Option<loupe_client::Identity>>,
    /// What is known to be secret.
    known: SecretList,
}

impl Sessions {
    pub(super) fn new(queue: Arc<Queue>, guard: Option<PathBuf>, known: SecretList) -> Self {
        Self {
            open: Mutex::default(),
            run: RandomState::new().build_hasher().finish(),
            queue,
            guard,
            logins: Mutex::default(),
            limits: Mutex::default(),
            client: Mutex::default(),
            known,
        }
    }

    /// What is kept from the next connection on.
    pub(super) fn use_limits(&self, limits: Limits) {
        *self.limits.lock().unwrap_or_else(PoisonError::into_inner) = limits;
    }

    /// As whom the next connections are made: a host whose client is known, else Loupe.
    pub(super) fn use_client(&self, host: Option<&Host>) {
        *self.client.lock().unwrap_or_else(PoisonError::into_inner) = host.and_then(Host::identity);
    }

    pub(super) fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on logins are kept in the system's keychain, else in this folder.
    pub(super) fn keep_logins(&self, folder: PathBuf) {
        let keep = loupe_client::login::LoginStore {
            keychain: true,
            folder: Some(folder),
        };
        *self.logins.lock().unwrap_or_else(PoisonError::into_inner) = keep;
    }

    /// Removes a kept login; what was done is said.
    pub(super) fn forget_login(
        self: &Arc<Self>,
        runtime: &Runtime,
        session: SessionId,
        url: String,
        client_id: Option<String>,
    ) {
        let this = Arc::clone(self);
        let keep = self
            .logins
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        task(runtime.handle(), &self.queue, Event::Problem, async move {
            match loupe_client::login::forget(&keep, &url, client_id.as_deref()).await {
                Ok(done) => this.push_notification(
                    session,
                    crate::state::ServerNotification::Noted(format!(
                        "{}: {done}",
                        redact_url(&url)
                    )),
                ),
                Err(why) => this.queue.push(Event::Problem(
                    Problem::new(ProblemKind::Io, why).at(redact_url(&url)),
                )),
            }
        });
    }

    fn on_event(
        self: &Arc<Self>,
        session: SessionId,
        handle: tokio::runtime::Handle,
    ) -> OnSessionEvent {
        let this = Arc::downgrade(self);
        Arc::new(move |received| {
            let Some(this) = this.upgrade() else { return };
            let Some(received) = this.forward_notification(session, received, &handle) else {
                return;
            };
            let current = this.open().current.get(&session).copied();
            let event = match (received, current) {
                (SessionEvent::Phase(phase), _) => Event::Session {
                    session,
                    update: SessionUpdate::Phase(phase),
                },
                (SessionEvent::Step(step), _) => Event::Session {
                    session,
                    update: SessionUpdate::Step(step),
                },
                (SessionEvent::Stderr(line), _) => Event::Session {
                    session,
                    update: SessionUpdate::Stderr(line),
                },
                (SessionEvent::Messages(count), _) => Event::Session {
                    session,
                    update: SessionUpdate::Messages(count),
                },
                (SessionEvent::Login(step), _) => Event::Session {
                    session,
                    update: SessionUpdate::Login(login_step(step)),
                },
                (SessionEvent::Gone(problem), _) => Event::Session {
                    session,
                    update: SessionUpdate::Gone(problem),
                },
                (
                    SessionEvent::Progress {
                        progress,
                        total,
                        message,
                    },
                    Some(call),
                ) => Event::Call {
                    call,
                    update: CallUpdate::Progress {
                        progress,
                        total,
                        message,
                    },
                },
                (SessionEvent::Unreadable(count), Some(call)) => Event::Call {
                    call,
                    update: CallUpdate::Unreadable(count),
                },
                (
                    SessionEvent::Task {
                        id,
                        status,
                        message,
                    },
                    current,
                ) => match this.call_of_task(session, id, current) {
                    Some(call) => Event::Call {
                        call,
                        update: CallUpdate::Task { status, message },
                    },
                    None => return,
                },
                // Nobody waits for these; they are on the wire log.
                _ => return,
            };
            this.queue.push(event);
        })
    }

    pub(super) fn connect(
        self: &Arc<Self>,
        runtime: &Runtime,
        session: SessionId,
        source: Source,
        limit: Duration,
        speaks: Option<&'static str>,
    ) {
        let this = Arc::clone(self);
        let folders = self.open().roots.clone();
        let mut options = loupe_client::Options {
            in_process: Some(crate::in_process::start),
            connect_limit: limit,
            speaks,
            guard: self.guard.clone(),
            transcript: Some(self.transcript(runtime.handle(), session)),
            answering: self.answering(session),
            limits: *self.limits.lock().unwrap_or_else(PoisonError::into_inner),
            logins: self
                .logins
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone(),
            identity: self
                .client
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone(),
            known: self.known.clone(),
        };
        // The lock is held until the handle is stored, so that a connection that fails at once is found.
        let mut open = self.open();
        let ended = Arc::clone(self);
        let failed = move |problem| {
            ended.open().connecting.remove(&session);
            Event::Session {
                session,
                update: SessionUpdate::ConnectFailed(problem),
            }
        };
        let task = task(runtime.handle(), &self.queue, failed, async move {
            if let Some(folders) = folders {
                match roots(folders).await {
                    Ok(roots) => options.answering.roots = Some(roots),
                    Err(problem) => {
                        this.open().connecting.remove(&session);
                        this.queue.push(Event::Session {
                            session,
                            update: SessionUpdate::ConnectFailed(problem),
                        });
                        return;
                    }
                }
            }
            let outcome = this.reach(session, &source, options).await;
            this.open().connecting.remove(&session);
            if let Err(problem) = outcome {
                let problem = this.known.problem(problem);
                this.queue.push(Event::Session {
                    session,
                    update: SessionUpdate::ConnectFailed(problem),
                });
            }
        });
        open.connecting.insert(session, task);
    }

    async fn reach(
        self: &Arc<Self>,
        session: SessionId,
        source: &Source,
        options: loupe_client::Options,
    ) -> Result<(), Problem> {
        let limit = options.connect_limit;
        let reached = loupe_client::connect(
            source,
            options,
            self.on_event(session, tokio::runtime::Handle::current()),
        )
        .await?;
        let reached = Arc::new(reached);
        let is_wanted = {
            let mut open = self.open();
            let is_wanted = open.connecting.contains_key(&session);
            if is_wanted {
                open.sessions.insert(session, Arc::clone(&reached));
                open.listing.insert(session, false);
            }
            is_wanted
        };
        if !is_wanted {
            // Disconnected in this very moment: this task is aborted, and the session ends with it.
            return Ok(());
        }
        self.queue.push(Event::Session {
            session,
            update: SessionUpdate::Phase("listing tools".into()),
        });
        match reached.list_tools(limit).await {
            Ok(list) => {
                self.queue.push(Event::Session {
                    session,
                    update: SessionUpdate::Connected(reached.server().clone()),
                });
                self.queue.push(Event::Session {
                    session,
                    update: SessionUpdate::Tools {
                        tools: list.tools,
                        note: list.note,
                    },
                });
                if self.open().listing.remove(&session) == Some(true) {
                    self.list_again(session, &tokio::runtime::Handle::current());
                }
                self.listen(session, reached);
                Ok(())
            }
            Err(error) => {
                let mut open = self.open();
                open.sessions.remove(&session);
                open.listing.remove(&session);
                Err(error.into())
            }
        }
    }

    pub(super) fn disconnect(&self, runtime: &Runtime, session: SessionId) {
        let (connecting, ended, answers) = {
            let mut open = self.open();
            let answers: Vec<Answer> = open
                .answers
                .extract_if(|(of, _), _| *of == session)
                .map(|(_, answer)| answer)
                .collect();
            open.listing.remove(&session);
            open.current.remove(&session);
            open.tasks.retain(|(of, _), _| *of != session);
            (
                open.connecting.remove(&session),
                open.sessions.remove(&session),
                answers,
            )
        };
        // Not while the lock is held: each is answered with its cancelling.
        drop(answers);
        if let Some(connecting) = connecting {
            connecting.abort();
        }
        if let Some(ended) = ended {
            task(runtime.handle(), &self.queue, Event::Problem, close(ended));
        }
    }

    pub(super) fn call(
        self: &Arc<Self>,
        runtime: &Runtime,
        session: SessionId,
        call: u64,
        tool: &Arc<Tool>,
        arguments: Bytes,
        limit: Duration,
    ) {
        let Some((reached, number, cancel)) = self.begin(session, call) else {
            return;
        };
        let this = Arc::clone(self);
        let name: Arc<str> = format!("{number:03}-{}", tool.name).into();
        let request = loupe_client::Call {
            id: self.capture_id(number),
            tool: (**tool).clone(),
            arguments,
            limit,
        };
        let begun = Capture {
            name: Arc::clone(&name),
            tool: (**tool).clone(),
            arguments: request.arguments.clone(),
            ..Capture::empty(request.id.clone(), reached.server().clone())
        };
        task(
            runtime.handle(),
            &self.queue,
            self.call_failed(call, begun),
            async move {
                let capture = Capture {
                    name,
                    ..reached.call(request, cancel).await
                };
                this.finish(call);
                this.queue.push(Event::Call {
                    call,
                    update: CallUpdate::Captured(Arc::new(capture)),
                });
            },
        );
    }

    /// What is told where making a call panics: an answer that says so.
    pub(super) fn call_failed(
        self: &Arc<Self>,
        call: u64,
        begun: Capture,
    ) -> impl FnOnce(Problem) -> Event + Send + use<> {
        let this = Arc::clone(self);
        move |problem| {
            this.finish(call);
            let capture = Capture {
                outcome: Outcome::Malformed,
                problem: Some(problem),
                ..begun
            };
            Event::Call {
                call,
                update: CallUpdate::Captured(Arc::new(capture)),
            }
        }
    }

    /// Of the call of this number: no other run has it.
    pub(super) fn capture_id(&self, number: u64) -> CaptureId {
        CaptureId(format!("{:016x}-{number}", self.run).into())
    }

    /// Takes note of a call that begins: its session, its number in this run, and what cancels it.
    pub(super) fn begin(
        &self,
        session: SessionId,
        call: u64,
    ) -> Option<(Arc<Session>, u64, CancelToken)> {
        let cancel = CancelToken::new();
        let mut open = self.open();
        let Some(reached) = open.sessions.get(&session).cloned() else {
            drop(open);
            self.queue.push(Event::Problem(
                Problem::new(ProblemKind::Disconnected, "not connected")
                    .hint("reconnect, then call again"),
            ));
            return None;
        };
        open.calls.insert(call, cancel.clone());
        open.current.insert(session, call);
        open.count += 1;
        Some((reached, open.count, cancel))
    }

    /// Takes note of work that needs no server and can be cancelled as a call is.
    pub(super) fn begin_alone(&self, call: u64) -> CancelToken {
        let cancel = CancelToken::new();
        self.open().calls.insert(call, cancel.clone());
        cancel
    }

    pub(super) fn finish(&self, call: u64) {
        let mut open = self.open();
        open.calls.remove(&call);
        open.current.retain(|_, current| *current != call);
    }

    /// The call that a server made this task of: the one in flight when it was first told of.
    fn call_of_task(&self, session: SessionId, id: String, current: Option<u64>) -> Option<u64> {
        let mut open = self.open();
        match (open.tasks.get(&(session, id.clone())), current) {
            (Some(call), _) => Some(*call),
            (None, Some(call)) => Some(*open.tasks.entry((session, id)).or_insert(call)),
            (None, None) => None,
        }
    }

    pub(super) fn cancel(&self, call: u64) {
        if let Some(token) = self.open().calls.get(&call) {
            token.cancel();
        }
    }

    /// Ends every session, and everything they started.
    pub(super) async fn close_all(&self) {
        let (tasks, sessions) = {
            let mut open = self.open();
            open.calls.values().for_each(CancelToken::cancel);
            (
                std::mem::take(&mut open.connecting),
                std::mem::take(&mut open.sessions),
            )
        };
        tasks.into_values().for_each(|task| task.abort());
        futures::future::join_all(sessions.into_values().map(close)).await;
    }
}

/// Closes in order where nobody else holds the session. A call that was cancelled has a moment to tell the server; lists
/// that are being read end with the connection, and the last of them ends the server.
async fn close(session: Arc<Session>) {
    if Arc::strong_count(&session) > 1 {
        tokio::time::sleep(GIVEN_UP).await;
        session.shut();
    }
    if let Some(session) = Arc::into_inner(session) {
        session.close().await;
    }
}

/// Folders as servers are told of them; one that has no address is left out. Looks at the disk, which may take its time.
///
/// # Errors
/// Where a folder does not answer, as on a mount that hangs: it is not waited for longer than [`FOLDERS_LIMIT`].
pub(super) async fn roots(folders: Vec<PathBuf>) -> Result<Vec<Root>, Problem> {
    let root = |folder: PathBuf| {
        let full = super::expanded(folder);
        let full = std::fs::canonicalize(&full).unwrap_or(full);
        let name = full.file_name().map_or_else(
            || full.display().to_string(),
            |name| name.to_string_lossy().into_owned(),
        );
        url::Url::from_directory_path(&full).ok().map(|uri| Root {
            uri: uri.as_str().trim_end_matches('/').to_owned(),
            name,
        })
    };
    let (done, outcome) = tokio::sync::oneshot::channel();
    // A plain thread: one that hangs must not hold up the end of the runtime.
    std::thread::spawn(move || {
        done.send(folders.into_iter().filter_map(root).collect::<Vec<_>>())
            .ok()
    });
    match tokio::time::timeout(FOLDERS_LIMIT, outcome).await {
        Ok(Ok(roots)) => Ok(roots),
        _ => Err(Problem::new(ProblemKind::Timeout, "the folders for the server could not be looked at")
            .hint("one of them may be on a mount that does not answer; choose another, then connect again")),
    }
}
