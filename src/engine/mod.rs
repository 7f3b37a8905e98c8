//! Carries out effects on tokio and a small pool; reports events; stops everything when dropped.
//!
//! The window hands over an [`Effect`] and never waits; what comes of it is an [`Event`] in a queue, with a wake-up.
//! Uses `state` (the types of effects and events), `mcp`, `store`, `report`, `token`.

mod jobs;
mod queue;
mod sessions;

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Runtime;

use crate::host::Hosts;
use crate::problem::{Kind, Problem};
use crate::report::Prices;
use crate::state::{Effect, Event};
use crate::store;
use crate::token::{MAX_FILE_BYTES, TokenizerFile};
use jobs::Jobs;
use queue::Queue;
use sessions::Sessions;

/// Called when an event waits: asks the window for a frame, or wakes a test.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// How long quitting waits for sessions to end; the guard ends what is left.
const END_WITHIN: Duration = Duration::from_secs(3);

/// The name of a person's price table, in the folder of their settings.
const PRICES: &str = "prices.toml";
/// No more of it is read: thousands of models.
const PRICES_BYTES: u64 = 4 << 20;

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
            Effect::CountServer { session, server, tools, encoding } => self.jobs.count_server(session, server, tools, encoding),
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
            Effect::ReadTokenizer(path) => {
                self.blocking(runtime, move || Ok(Event::TokenizerRead(Arc::new(tokenizer_file(&expanded(path))?))));
            }
            Effect::ReadPrices(folder) => {
                let queue = Arc::clone(&self.queue);
                runtime.spawn_blocking(move || {
                    if let Some(read) = prices(&folder.join(PRICES)).transpose() {
                        queue.push(Event::Prices(read));
                    }
                });
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
                PathPurpose::OpenCapture | PathPurpose::OpenTokenizer => dialog.pick_file().await,
                PathPurpose::ExportCapture | PathPurpose::ExportResult => dialog.save_file().await,
            };
            queue.push(Event::PathChosen { purpose, path: chosen.map(|file| file.path().to_owned()) });
        });
    }
}

/// Reads a person's price table; `None` where there is none.
fn prices(path: &Path) -> Result<Option<Prices>, Problem> {
    let place = path.display().to_string();
    let fail = |error: std::io::Error| Problem::new(Kind::Io, format!("the price table is not used: {error}")).at(place.clone());
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fail(error)),
    };
    let mut text = String::new();
    file.take(PRICES_BYTES).read_to_string(&mut text).map_err(fail)?;
    Prices::read(&text).map(Some).map_err(|problem| problem.at(place))
}

/// Reads a tokenizer file, and no more of a large one than is taken.
fn tokenizer_file(path: &Path) -> Result<TokenizerFile, Problem> {
    let fail = |error: std::io::Error| {
        Problem::new(Kind::Io, format!("the tokenizer file cannot be read: {error}")).at(path.display().to_string())
    };
    let file = std::fs::File::open(path).map_err(fail)?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(fail)?;
    let name = path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
    TokenizerFile::read(&name, &bytes)
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
