//! Carries out effects on tokio and a small pool; reports events; stops everything when dropped.
//!
//! The window hands over an [`Effect`] and never waits; what comes of it is an [`Event`] in a queue, with a wake-up.
//! Uses `state` (the types of effects and events), `mcp`, `store`, `report`, `token`.

mod jobs;
mod queue;
mod sessions;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Runtime;

use crate::host::Hosts;
use crate::problem::{Kind, Problem};
use crate::state::{Effect, Event};
use crate::store;
use jobs::Jobs;
use queue::Queue;
use sessions::Sessions;

/// Called when an event waits: asks the window for a frame, or wakes a test.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// How long quitting waits for sessions to end; the guard ends what is left.
const END_WITHIN: Duration = Duration::from_secs(3);

/// See the module.
pub struct Engine {
    /// `None` only while dropping.
    runtime: Option<Runtime>,
    queue: Arc<Queue>,
    sessions: Arc<Sessions>,
    jobs: Jobs,
}

impl Engine {
    /// Starts the runtime and the pool.
    ///
    /// # Errors
    /// The system refuses threads.
    pub fn new(wake: Wake) -> Result<Self, Problem> {
        Self::with_guard(wake, None)
    }

    /// As [`Engine::new`], with the program that guards child processes; for tests, whose own binary is no Loupe.
    ///
    /// # Errors
    /// The system refuses threads.
    pub fn with_guard(wake: Wake, guard: Option<PathBuf>) -> Result<Self, Problem> {
        let no_threads = |error: std::io::Error| Problem::new(Kind::Internal, format!("cannot start a thread: {error}"));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("loupe-io")
            .enable_all()
            .build()
            .map_err(no_threads)?;
        let queue = Arc::new(Queue::new(wake));
        let jobs = Jobs::new(Arc::clone(&queue)).map_err(no_threads)?;
        let sessions = Arc::new(Sessions::new(Arc::clone(&queue), guard));
        Ok(Self { runtime: Some(runtime), queue, sessions, jobs })
    }

    /// From here on questions about hosts are about these; without it, about those that come with Loupe.
    pub fn use_hosts(&self, hosts: Arc<Hosts>) {
        self.jobs.use_hosts(hosts);
    }

    /// The next event, if one waits.
    pub fn try_event(&self) -> Option<Event> {
        self.queue.pop()
    }

    /// Begins to carry out an effect. `CopyText`, `OpenUrl` and `Quit` are the app's, and ignored here.
    pub fn execute(&self, effect: Effect) {
        let Some(runtime) = &self.runtime else { return };
        match effect {
            Effect::Connect { session, source, limit } => self.sessions.connect(runtime, session, source, limit),
            Effect::Disconnect { session } => self.sessions.disconnect(runtime, session),
            Effect::Call { session, call, tool, arguments, limit } => {
                self.sessions.call(runtime, session, call, &tool, arguments, limit);
            }
            Effect::CancelCall { call } => self.sessions.cancel(call),
            Effect::CountTools { session, tools } => self.jobs.count_tools(session, tools),
            Effect::CompareTools { session, before, now } => self.jobs.compare_tools(session, before, now),
            Effect::Answer { captures, inquiry } => self.jobs.answer(captures, inquiry),
            Effect::Forget(inquiry) => self.jobs.forget(&inquiry),
            Effect::ExportCapture { capture, path } => self.blocking(runtime, move || {
                let path = expanded(path);
                store::write_folder(&capture, &path)?;
                Ok(Event::Exported(path))
            }),
            Effect::ExportResult { capture, path } => self.blocking(runtime, move || {
                let path = expanded(path);
                store::write_result(&capture, &path)?;
                Ok(Event::Exported(path))
            }),
            Effect::OpenPath(path) => {
                self.blocking(runtime, move || Ok(Event::Opened(Arc::new(store::read_any(&expanded(path))?))));
            }
            #[cfg(feature = "gui")]
            Effect::ChoosePath(purpose) => self.choose_path(runtime, purpose),
            #[cfg(not(feature = "gui"))]
            Effect::ChoosePath(_) => {}
            Effect::CopyText(_) | Effect::OpenUrl(_) | Effect::Quit => {}
        }
    }

    fn blocking(&self, runtime: &Runtime, work: impl FnOnce() -> Result<Event, Problem> + Send + 'static) {
        let queue = Arc::clone(&self.queue);
        runtime.spawn_blocking(move || queue.push(work().unwrap_or_else(Event::Problem)));
    }

    /// The system's file dialog, where there is one.
    #[cfg(feature = "gui")]
    fn choose_path(&self, runtime: &Runtime, purpose: crate::state::PathPurpose) {
        use crate::state::PathPurpose;
        let queue = Arc::clone(&self.queue);
        runtime.spawn(async move {
            let dialog = rfd::AsyncFileDialog::new();
            let chosen = match purpose {
                PathPurpose::OpenCapture => dialog.pick_file().await,
                PathPurpose::ExportCapture | PathPurpose::ExportResult => dialog.save_file().await,
            };
            queue.push(Event::PathChosen { purpose, path: chosen.map(|file| file.path().to_owned()) });
        });
    }
}

/// `~/` as shells read it: people type paths that way.
fn expanded(path: PathBuf) -> PathBuf {
    match (path.strip_prefix("~"), std::env::home_dir()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path,
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.jobs.stop();
        let Some(runtime) = self.runtime.take() else { return };
        runtime.block_on(async {
            // What does not end in time is ended by its guard, when our end of the lifeline closes.
            tokio::time::timeout(END_WITHIN, self.sessions.close_all()).await.ok();
        });
        runtime.shutdown_timeout(Duration::from_millis(200));
    }
}
