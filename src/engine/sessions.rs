//! The connections and calls in flight.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use super::queue::Queue;
use crate::capture::{CaptureId, Tool};
use crate::mcp::{self, CancelToken, Happening, Happenings, Session};
use crate::problem::{Kind, Problem};
use crate::source::Source;
use crate::state::Event;

#[derive(Default)]
struct Open {
    /// Connections being made; aborting one leaves nothing running.
    connecting: HashMap<u64, JoinHandle<()>>,
    sessions: HashMap<u64, Arc<Session>>,
    calls: HashMap<u64, CancelToken>,
    /// The one call of the window in flight, for happenings that belong to it.
    current: Option<u64>,
    /// Calls so far, for the names of captures.
    count: u64,
}

pub(super) struct Sessions {
    open: Mutex<Open>,
    queue: Arc<Queue>,
    guard: Option<PathBuf>,
}

impl Sessions {
    pub(super) fn new(queue: Arc<Queue>, guard: Option<PathBuf>) -> Self {
        Self { open: Mutex::default(), queue, guard }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn happenings(self: &Arc<Self>, session: u64) -> Happenings {
        let this = Arc::downgrade(self);
        Arc::new(move |happening| {
            let Some(this) = this.upgrade() else { return };
            let current = this.open().current;
            let event = match (happening, current) {
                (Happening::Phase(phase), _) => Event::Phase { session, phase },
                (Happening::Stderr(line), _) => Event::Stderr { session, line },
                (Happening::Messages(count), _) => Event::Messages { session, count },
                (Happening::Gone(problem), _) => Event::Gone { session, problem },
                (Happening::Progress { progress, total, message }, Some(call)) => {
                    Event::Progress { call, progress, total, message }
                }
                (Happening::Unreadable(count), Some(call)) => Event::Unreadable { call, count },
                // Nobody waits for these; they are on the wire log.
                (Happening::Progress { .. } | Happening::Unreadable(_), None) => return,
            };
            this.queue.push(event);
        })
    }

    pub(super) fn connect(self: &Arc<Self>, runtime: &Runtime, session: u64, source: Source, limit: Duration) {
        let this = Arc::clone(self);
        let options = mcp::Options { connect_limit: limit, guard: self.guard.clone(), ..mcp::Options::default() };
        // The lock is held until the handle is stored, so that a connection that fails at once is found.
        let mut open = self.open();
        let task = runtime.spawn(async move {
            let outcome = this.reach(session, &source, options).await;
            this.open().connecting.remove(&session);
            if let Err(problem) = outcome {
                this.queue.push(Event::ConnectFailed { session, problem });
            }
        });
        open.connecting.insert(session, task);
    }

    async fn reach(self: &Arc<Self>, session: u64, source: &Source, options: mcp::Options) -> Result<(), Problem> {
        let limit = options.connect_limit;
        let reached = mcp::connect(source, options, self.happenings(session)).await?;
        let reached = Arc::new(reached);
        self.open().sessions.insert(session, Arc::clone(&reached));
        self.queue.push(Event::Phase { session, phase: "listing tools".into() });
        let listed = match tokio::time::timeout(limit, reached.list_tools()).await {
            Ok(listed) => listed.map_err(Problem::from),
            Err(_) => Err(Problem::new(Kind::Timeout, "the server did not list its tools in time").at(source.label())),
        };
        match listed {
            Ok(list) => {
                self.queue.push(Event::Connected { session, server: reached.server().clone() });
                self.queue.push(Event::Tools { session, tools: list.tools, note: list.note });
                Ok(())
            }
            Err(problem) => {
                self.open().sessions.remove(&session);
                Err(problem)
            }
        }
    }

    pub(super) fn disconnect(&self, runtime: &Runtime, session: u64) {
        let (task, ended) = {
            let mut open = self.open();
            (open.connecting.remove(&session), open.sessions.remove(&session))
        };
        if let Some(task) = task {
            task.abort();
        }
        if let Some(ended) = ended {
            runtime.spawn(close(ended));
        }
    }

    pub(super) fn call(
        self: &Arc<Self>,
        runtime: &Runtime,
        session: u64,
        call: u64,
        tool: &Arc<Tool>,
        arguments: Bytes,
        limit: Duration,
    ) {
        let cancel = CancelToken::new();
        let (reached, number) = {
            let mut open = self.open();
            let Some(reached) = open.sessions.get(&session).cloned() else {
                drop(open);
                self.queue
                    .push(Event::Problem(Problem::new(Kind::Disconnected, "not connected").hint("reconnect, then call again")));
                return;
            };
            open.calls.insert(call, cancel.clone());
            open.current = Some(call);
            open.count += 1;
            (reached, open.count)
        };
        let this = Arc::clone(self);
        let id = CaptureId(Arc::from(format!("{number:03}-{}", tool.name)));
        let request = mcp::Call { id, tool: (**tool).clone(), arguments, limit };
        runtime.spawn(async move {
            let capture = reached.call(request, cancel).await;
            {
                let mut open = this.open();
                open.calls.remove(&call);
                if open.current == Some(call) {
                    open.current = None;
                }
            }
            this.queue.push(Event::Captured { call, capture: Arc::new(capture) });
        });
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
            (std::mem::take(&mut open.connecting), std::mem::take(&mut open.sessions))
        };
        tasks.into_values().for_each(|task| task.abort());
        futures::future::join_all(sessions.into_values().map(close)).await;
    }
}

/// Closes in order where nobody else holds the session; else it ends with its last call.
async fn close(session: Arc<Session>) {
    if let Some(session) = Arc::into_inner(session) {
        session.close().await;
    }
}
