//! Carries out effects on tokio and a small pool; reports events; stops everything when dropped.
//!
//! The window hands over an [`Effect`] and never waits; what comes of it is an [`Event`] in a queue, with a wake-up.

mod background;
mod configs;
mod exact;
mod export;
mod field_file;
mod fixtures;
mod history;
mod import;
mod jobs;
mod live;
mod queue;
mod server_messages;
mod sessions;
mod settings;
mod tools;
mod values;
mod watch;
mod work;
mod wrap;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Runtime;

use crate::state::{Effect, Event, HistoryEvent, SessionEffect, TokensEffect, TokensEvent};
use crate::store;
use background::Background;
pub use configs::look as find_configs;
use history::HistoryWriter;
use jobs::Jobs;
use loupe_analysis::queries::Prices;
use loupe_core::cancel::Cancel;
use loupe_core::capture::Capture;
use loupe_core::host::Hosts;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::redact::{RedactedCapture, redact};
use loupe_core::source::{MemoryField, MemoryValue};
use loupe_core::token::{MAX_FILE_BYTES, TokenizerFile};
use queue::Queue;
use sessions::Sessions;
pub use wrap::own_program;

/// Called when an event waits: asks the window for a frame, or wakes a test.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// How long quitting waits for sessions to end; the guard ends what is left.
const END_WITHIN: Duration = Duration::from_secs(3);
/// How long it waits for the last answers to be kept in the history: one of 30 MB takes a few seconds.
const KEEP_WITHIN: Duration = Duration::from_secs(30);

/// No more of the user's price table is read: thousands of models.
const PRICES_BYTES: u64 = 4 << 20;

/// See the module.
pub struct Engine {
    /// `None` only while dropping.
    runtime: Option<Runtime>,
    queue: Arc<Queue>,
    sessions: Arc<Sessions>,
    jobs: Arc<Jobs>,
    settings: Arc<settings::Waiting<Vec<String>, Option<toml::Value>>>,
    servers: Arc<settings::Waiting<(String, MemoryField), Option<MemoryValue>>>,
    history: HistoryWriter,
    fixtures: fixtures::Fixtures,
    background: Background,
    provider: exact::Provider,
    watcher: watch::Watcher,
    live: live::LiveFollower,
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
        let no_threads = |error: std::io::Error| {
            Problem::new(
                ProblemKind::Internal,
                format!("cannot start a thread: {error}"),
            )
        };
        let runtime = loupe_client::runtime().map_err(no_threads)?;
        let queue = Arc::new(Queue::new(wake));
        let jobs = Arc::new(Jobs::new(Arc::clone(&queue)).map_err(no_threads)?);
        let history = HistoryWriter::new(Arc::clone(&queue));
        let sessions = Arc::new(Sessions::new(Arc::clone(&queue), guard, history.known()));
        let provider = exact::Provider::new(Arc::clone(&queue));
        let watcher = watch::Watcher::new(Arc::clone(&queue));
        let live = live::LiveFollower::new(Arc::clone(&queue));
        let background = Background::default();
        let fixtures = fixtures::Fixtures::new(background.clone());
        let (settings, servers) = Default::default();
        Ok(Self {
            runtime: Some(runtime),
            queue,
            sessions,
            jobs,
            settings,
            servers,
            history,
            fixtures,
            background,
            provider,
            watcher,
            live,
        })
    }

    /// From here on questions about hosts are about these; without it, about those that come with Loupe.
    pub fn use_hosts(&self, hosts: Arc<Hosts>) {
        self.jobs.use_hosts(Arc::clone(&hosts));
        self.queue.push(Event::UseHosts(hosts));
    }

    /// The next event, if one waits.
    pub fn try_event(&self) -> Option<Event> {
        self.queue.pop()
    }

    /// Begins to carry out an effect. `CopyText`, `OpenUrl`, `Paint` and `Quit` are the app's, and ignored here.
    pub fn execute(&self, effect: Effect) {
        let Some(runtime) = &self.runtime else { return };
        match effect {
            Effect::Session(effect) => self.execute_session(runtime, effect),
            Effect::Export(effect) => self.execute_export(runtime, effect),
            Effect::Import(effect) => self.execute_import(runtime, effect),
            Effect::Tokens(effect) => self.execute_tokens(runtime, effect),
            Effect::CheckSchema(check) => {
                let queue = Arc::clone(&self.queue);
                let failed = check.failed();
                work::blocking(runtime.handle(), &self.queue, failed, move || {
                    queue.push(check.run())
                });
            }
            Effect::ReadTools(path) => self.blocking(runtime, move || {
                Ok(Event::ToolsRead(tools::read(&expanded(path))))
            }),
            Effect::Answer { about, query_key } => self.jobs.answer(about, query_key),
            Effect::Forget(query_key) => self.jobs.forget(&query_key),
            Effect::CancelBackground(number) => self.background.cancel(number),
            Effect::OpenText(text) => self.blocking(runtime, move || {
                let captures = store::read_all_bytes(&text.into(), "pasted text", None)?;
                Ok(Event::Opened(captures.into_iter().map(Arc::new).collect()))
            }),
            Effect::ReadField { field, path } => self.blocking(runtime, move || {
                let read = field_file::read(&expanded(path), field.is_base64)?;
                Ok(Event::FieldRead { field, read })
            }),
            Effect::Silence { file, silence } => self.blocking(runtime, move || {
                store::change_file(&file, |text, place| silence.added_to(text, place))?;
                Ok(Event::Silenced { file, silence })
            }),
            Effect::UseHistory(folder) => {
                self.history.use_folder(&folder);
                let queue = Arc::clone(&self.queue);
                work::blocking(runtime.handle(), &self.queue, Event::Problem, move || {
                    live::tell_confirmed(&folder, &queue);
                });
            }
            Effect::History(effect) => self.history.execute(runtime, effect),
            Effect::OpenPath(path) => {
                self.blocking(runtime, move || {
                    let captures = store::read_all(&expanded(path), None)?;
                    Ok(Event::Opened(captures.into_iter().map(Arc::new).collect()))
                });
            }
            Effect::KeepSettings { folder, changes } => {
                let (queue, waiting) = (Arc::clone(&self.queue), Arc::clone(&self.settings));
                waiting.add(folder, changes);
                work::blocking(runtime.handle(), &self.queue, Event::Problem, move || {
                    if let Err(problem) =
                        waiting.write(|folder, changes| store::change_settings(folder, &changes))
                    {
                        queue.push(Event::Problem(problem));
                    }
                });
            }
            Effect::Live(effect) => {
                self.live
                    .execute(runtime.handle(), effect, self.jobs.hosts());
            }
            Effect::Watch(effect) => self.watcher.execute(runtime.handle(), effect),
            Effect::Exact(effect) => self.provider.execute(runtime, effect),
            #[cfg(feature = "gui")]
            Effect::ChoosePath(purpose) => self.choose_path(runtime, purpose),
            #[cfg(not(feature = "gui"))]
            Effect::ChoosePath(_) => {}
            Effect::Fixture(effect) => {
                let with = (Arc::clone(&self.queue), &self.sessions, self.jobs.hosts());
                self.fixtures
                    .execute(runtime, effect, self.history.options(), with);
            }
            // The app does these.
            Effect::App(_) => {}
        }
    }

    fn execute_session(&self, runtime: &Runtime, effect: SessionEffect) {
        match effect {
            SessionEffect::Connect {
                session,
                source,
                limit,
                speaks,
            } => {
                self.sessions
                    .connect(runtime, session, *source, limit, speaks);
            }
            SessionEffect::Disconnect { session } => self.sessions.disconnect(runtime, session),
            SessionEffect::Call {
                session,
                call,
                tool,
                arguments,
                limit,
            } => {
                self.sessions
                    .call(runtime, session, call, &tool, arguments, limit);
            }
            SessionEffect::CancelCall { call } => self.sessions.cancel(call),
            SessionEffect::Read {
                session,
                call,
                method,
                params,
                limit,
            } => self
                .sessions
                .read(runtime, session, call, method, params, limit),
            SessionEffect::Command { session, command } => {
                self.sessions.send_command(runtime, session, command)
            }
            SessionEffect::UseClient(host) => self.sessions.use_client(host.as_deref()),
            SessionEffect::UseLimits(limits) => self.sessions.use_limits(limits),
            SessionEffect::UseRoots(roots) => self.sessions.use_roots(roots),
            SessionEffect::KeepLogins(folder) => {
                self.provider.use_keychain();
                self.sessions.keep_logins(folder);
            }
            SessionEffect::ForgetLogin {
                session,
                url,
                client_id,
            } => self.sessions.forget_login(runtime, session, url, client_id),
        }
    }

    fn execute_tokens(&self, runtime: &Runtime, effect: TokensEffect) {
        match effect {
            TokensEffect::Tokenizer(path) => {
                self.blocking(runtime, move || {
                    Ok(Event::Tokens(TokensEvent::TokenizerRead(Arc::new(
                        tokenizer_file(&expanded(path))?,
                    ))))
                });
            }
            TokensEffect::Prices(path) => {
                let queue = Arc::clone(&self.queue);
                work::blocking(
                    runtime.handle(),
                    &self.queue,
                    |problem| Event::Tokens(TokensEvent::Prices(Err(problem))),
                    move || {
                        if let Some(read) = prices(&path).transpose() {
                            queue.push(Event::Tokens(TokensEvent::Prices(read)));
                        }
                    },
                );
            }
        }
    }

    fn blocking(
        &self,
        runtime: &Runtime,
        work: impl FnOnce() -> Result<Event, Problem> + Send + 'static,
    ) {
        let queue = Arc::clone(&self.queue);
        work::blocking(runtime.handle(), &self.queue, Event::Problem, move || {
            queue.push(work().unwrap_or_else(Event::Problem));
        });
    }

    /// Writes captures with what is secret hidden, and says what was.
    fn write_hidden(
        &self,
        runtime: &Runtime,
        what: &'static str,
        captures: Vec<Arc<Capture>>,
        write: impl FnOnce(Vec<Arc<Capture>>, &Cancel) -> Result<Event, Problem> + Send + 'static,
    ) {
        let (queue, options) = (Arc::clone(&self.queue), self.history.options());
        self.background
            .start(runtime.handle(), &self.queue, what, move |cancel| {
                let hidden = |capture: &Arc<Capture>| redact(capture, &options, cancel);
                let hidden = captures.iter().map(hidden).collect::<Result<Vec<_>, _>>();
                let hidden =
                    hidden.map_err(|_| Problem::new(ProblemKind::Cancelled, "not written"))?;
                let notes: Vec<String> = hidden
                    .iter()
                    .filter_map(RedactedCapture::sentence)
                    .collect();
                let written = write(
                    hidden
                        .into_iter()
                        .map(|hidden| Arc::new(hidden.capture))
                        .collect(),
                    cancel,
                )?;
                notes
                    .into_iter()
                    .for_each(|note| queue.push(Event::History(HistoryEvent::Note(note))));
                Ok(written)
            });
    }

    /// The system's file dialog, where there is one.
    #[cfg(feature = "gui")]
    fn choose_path(&self, runtime: &Runtime, purpose: crate::state::PathPurpose) {
        use crate::state::PathPurpose;
        let queue = Arc::clone(&self.queue);
        work::task(runtime.handle(), &self.queue, Event::Problem, async move {
            let dialog = rfd::AsyncFileDialog::new();
            let chosen = match purpose {
                PathPurpose::OpenFixtures => dialog.pick_folder().await,
                PathPurpose::OpenCapture
                | PathPurpose::OpenTokenizer
                | PathPurpose::FillField
                | PathPurpose::ImportConfig
                | PathPurpose::OpenTools => dialog.pick_file().await,
                PathPurpose::ExportAs(_)
                | PathPurpose::ExportCompare(_)
                | PathPurpose::SaveLog
                | PathPurpose::SaveBlock(_) => dialog.save_file().await,
            };
            queue.push(Event::PathChosen {
                purpose,
                path: chosen.map(|file| file.path().to_owned()),
            });
        });
    }
}

/// Reads the user's price table; `None` where there is none.
fn prices(path: &Path) -> Result<Option<Prices>, Problem> {
    let place = path.display().to_string();
    let fail = |error: std::io::Error| {
        Problem::new(
            ProblemKind::Io,
            format!("the price table is not used: {error}"),
        )
        .at(place.clone())
    };
    let text = match store::file_text(path, PRICES_BYTES) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fail(error)),
    };
    Prices::read(&text)
        .map(Some)
        .map_err(|problem| problem.at(place))
}

/// Reads a tokenizer file, and no more of a large one than is taken.
fn tokenizer_file(path: &Path) -> Result<TokenizerFile, Problem> {
    let fail = |error: std::io::Error| {
        Problem::new(
            ProblemKind::Io,
            format!("the tokenizer file cannot be read: {error}"),
        )
        .at(path.display().to_string())
    };
    let bytes = store::file_bytes(path, MAX_FILE_BYTES as u64).map_err(fail)?;
    let name = path.file_name().map_or_else(
        || path.display().to_string(),
        |name| name.to_string_lossy().into_owned(),
    );
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
        self.live.stop();
        // What was changed last is not lost with the window; there is nobody left to tell of a failure.
        self.settings
            .write(|folder, changes| store::change_settings(folder, &changes))
            .ok();
        let options = self.history.options();
        let write = |folder: &Path, changes| {
            store::change_servers(folder, values::without_secrets(changes, &options)).map(drop)
        };
        self.servers.write(write).ok();
        let Some(runtime) = self.runtime.take() else {
            return;
        };
        runtime.block_on(async {
            // What does not end in time is ended by its guard, when our end of the lifeline closes; what is not kept by then
            // is not there at all, since a capture is written whole or not.
            let (ended, kept) = tokio::join!(
                tokio::time::timeout(END_WITHIN, self.sessions.close_all()),
                tokio::time::timeout(KEEP_WITHIN, self.history.settle()),
            );
            ended.and(kept).ok();
        });
        runtime.shutdown_timeout(Duration::from_millis(200));
    }
}
