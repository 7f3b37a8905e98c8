//! Restarts the server that is connected when its files change, and calls again: edit, save, and the result is there with
//! its difference to the one before.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Effect, State};
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::source::{Command, Source, Watch, folder_of};

/// Ends of the names of files that a program is given to run.
const SCRIPTS: &[&str] = &[
    "py", "js", "mjs", "cjs", "ts", "mts", "tsx", "rb", "php", "pl", "lua", "sh", "jl", "r", "exs",
    "jar",
];

/// Folders that the TypeScript compiler and bundlers write into.
const BUILT: &[&str] = &["dist", "build", "out"];

/// A server that writes into what is watched of it would be started again without end: so many changes within this time
/// end the watching.
const MOST_CHANGES: usize = 6;
const RESTLESS: Duration = Duration::from_secs(20);

/// What is watched now.
#[derive(Debug, Default)]
pub struct Watching {
    /// Counts, so that late events of an old one are distinguished.
    run: u64,
    /// Whether it was begun, and not stopped.
    is_begun: bool,
    /// How many files are watched; `None` where none are.
    pub files: Option<usize>,
    /// The build that is running: since when.
    pub building: Option<Duration>,
    /// The file that changed last, and how many others with it.
    pub changed: Option<(PathBuf, usize)>,
    /// Why nothing is watched, or why the server was not started again.
    pub problem: Option<Problem>,
    /// What the build wrote that failed.
    pub output: Vec<String>,
    /// When the files changed, not longer ago than [`RESTLESS`].
    changes: Vec<Duration>,
    /// Whether files changed during the build: the user's edit, or what the build writes. It runs once more for it.
    is_pending: bool,
    is_second_build: bool,
}

/// What the user does about it.
#[derive(Clone, Debug, PartialEq)]
pub enum WatchAction {
    /// Watches so from here on, or no longer.
    Set(Watch),
    /// Lets go of what is said of a build.
    CloseProblem,
}

/// What is to be done outside the state.
#[derive(Clone, Debug, PartialEq)]
pub enum WatchEffect {
    /// Watches these places; relative ones from `base`, else from where Loupe runs. What was watched before is not any
    /// more.
    Start {
        run: u64,
        base: Option<PathBuf>,
        places: Vec<String>,
    },
    Stop,
    /// Runs a command; one that still runs is ended.
    Build {
        run: u64,
        base: Option<PathBuf>,
        command: String,
    },
}

/// What came of it.
#[derive(Clone, Debug)]
pub enum WatchEvent {
    /// So many files are watched.
    Watching(usize),
    Changed(Vec<PathBuf>),
    /// A failure comes with what was written.
    Built(Result<(), (Problem, Vec<String>)>),
    Failed(Problem),
}

impl State {
    pub(super) fn change_watch(&mut self, action: WatchAction, effects: &mut Vec<Effect>) {
        match action {
            WatchAction::Set(watch) => {
                self.dialog = None;
                self.remember(effects, |memory| memory.watch = Some(watch));
                self.stop_watching(effects);
                self.begin_watching(effects);
            }
            WatchAction::CloseProblem => {
                (self.watching.problem, self.watching.output) = (None, Vec::new())
            }
        }
    }

    pub(super) fn watch_event(&mut self, run: u64, event: WatchEvent, effects: &mut Vec<Effect>) {
        if run != self.watching.run {
            return;
        }
        match event {
            WatchEvent::Watching(files) => self.watching.files = Some(files),
            WatchEvent::Changed(_) if self.watching.building.is_some() => {
                self.watching.is_pending = true
            }
            WatchEvent::Changed(paths) => {
                let since = self.now.saturating_sub(RESTLESS);
                self.watching.changes.retain(|at| *at >= since);
                self.watching.changes.push(self.now);
                if self.watching.changes.len() >= MOST_CHANGES {
                    self.stop_watching(effects);
                    let what = format!(
                        "the files changed {MOST_CHANGES} times in {} s: watching stopped",
                        RESTLESS.as_secs()
                    );
                    let place = paths
                        .first()
                        .map(|path| path.display().to_string())
                        .unwrap_or_default();
                    let problem = Problem::new(ProblemKind::Usage, what).at(place);
                    self.watching.problem =
                        Some(problem.hint("watch only what you edit, not what the server writes"));
                    return;
                }
                let others = paths.len().saturating_sub(1);
                self.watching.changed = paths.into_iter().next().map(|path| (path, others));
                (self.watching.problem, self.watching.output) = (None, Vec::new());
                if !self.build(effects) {
                    self.reconnect_and_repeat(None, effects);
                }
            }
            WatchEvent::Built(built) => {
                self.watching.building = None;
                let is_pending = std::mem::take(&mut self.watching.is_pending);
                self.watching.is_second_build = is_pending && !self.watching.is_second_build;
                if self.watching.is_second_build && self.build(effects) {
                    return;
                }
                match built {
                    Ok(()) => {
                        let Watching {
                            changes, changed, ..
                        } = std::mem::take(&mut self.watching);
                        self.watching.run = run;
                        self.begin_watching(effects);
                        (self.watching.changes, self.watching.changed) = (changes, changed);
                        self.reconnect_and_repeat(None, effects);
                    }
                    Err((problem, output)) => {
                        (self.watching.problem, self.watching.output) = (Some(problem), output)
                    }
                }
            }
            WatchEvent::Failed(problem) => {
                self.watching.files = None;
                self.watching.problem = Some(problem);
            }
        }
    }

    /// Begins the build; whether there is one.
    fn build(&mut self, effects: &mut Vec<Effect>) -> bool {
        let Some(command) = self
            .watch()
            .map(|watch| watch.build.trim().to_owned())
            .filter(|command| !command.is_empty())
        else {
            return false;
        };
        self.watching.building = Some(self.now);
        let (run, base) = (self.watching.run, self.watch_base());
        effects.push(Effect::Watch(WatchEffect::Build { run, base, command }));
        true
    }

    /// What is remembered to be watched of the server of now.
    pub fn watch(&self) -> Option<&Watch> {
        self.memory()?.watch.as_ref()
    }

    /// Whether the server of now can be watched: it is a command of this computer.
    pub fn can_watch(&self) -> bool {
        matches!(self.session().connection.source(), Some(Source::Command(_)))
    }

    /// What is offered to be watched: the folder of the script that the command runs, with files of its kind, its sources
    /// where a build wrote it, or the program itself where it is named by its path.
    pub fn watch_offer(&self) -> Option<Watch> {
        let Some(Source::Command(command)) = self.session().connection.source() else {
            return None;
        };
        offer(command)
    }

    /// Watches, where that is remembered of the server and does not go on already.
    pub(super) fn begin_watching(&mut self, effects: &mut Vec<Effect>) {
        let Some(watch) = self
            .watch()
            .filter(|watch| watch.is_on && self.can_watch() && self.watching.files.is_none())
        else {
            return;
        };
        let places = watch.places.lines().map(str::to_owned).collect();
        let base = self.watch_base();
        self.watching = Watching {
            run: self.watching.run + 1,
            is_begun: true,
            ..Watching::default()
        };
        effects.push(Effect::Watch(WatchEffect::Start {
            run: self.watching.run,
            base,
            places,
        }));
    }

    pub(super) fn stop_watching(&mut self, effects: &mut Vec<Effect>) {
        // Late events must not find it again.
        let run = self.watching.run + 1;
        let before = std::mem::replace(
            &mut self.watching,
            Watching {
                run,
                ..Watching::default()
            },
        );
        if before.is_begun {
            effects.push(Effect::Watch(WatchEffect::Stop));
        }
    }

    fn watch_base(&self) -> Option<PathBuf> {
        match self.session().connection.source() {
            Some(Source::Command(command)) => {
                folder_of(command.cwd.as_deref(), self.servers.here())
            }
            _ => None,
        }
    }
}

fn offer(command: &Command) -> Option<Watch> {
    let place = |path: PathBuf| Watch {
        places: path.display().to_string(),
        ..Watch::default()
    };
    let end = |path: &str| {
        Path::new(path)
            .extension()
            .map(|end| end.to_string_lossy().to_lowercase())
    };
    let is_script = |arg: &&String| {
        !arg.starts_with('-')
            && !arg.contains("://")
            && end(arg).is_some_and(|end| SCRIPTS.contains(&&*end))
    };
    if let Some(script) = command.args.iter().find(is_script) {
        let end = end(script).unwrap_or_default();
        let folder = Path::new(script).parent().unwrap_or(Path::new(""));
        let is_built = matches!(&*end, "js" | "mjs" | "cjs")
            && folder
                .file_name()
                .is_some_and(|name| BUILT.iter().any(|built| name == *built));
        let project = folder.parent().filter(|_| is_built);
        return Some(match project {
            Some(project) => {
                let prefix = match project.as_os_str().is_empty() {
                    true => String::new(),
                    false => format!(
                        " --prefix {}",
                        shell_words::quote(&project.display().to_string())
                    ),
                };
                Watch {
                    build: format!("npm{prefix} run build"),
                    ..place(project.join("src/**/*.ts"))
                }
            }
            None => place(folder.join(format!("**/*.{end}"))),
        });
    }
    command
        .program
        .contains(['/', '\\'])
        .then(|| place(command.program.clone().into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{ConnectAction, Event, SessionUpdate};
    use loupe_core::capture::Server;

    #[test]
    fn the_source_of_what_is_built_is_offered_with_its_build() {
        let offer = |script: &str| {
            let args = vec!["--enable-source-maps".to_owned(), script.to_owned()];
            let watch = offer(&Command {
                program: "node".into(),
                args,
                ..Command::default()
            })
            .unwrap();
            (watch.places, watch.build)
        };
        let owned = |places: &str, build: &str| (places.to_owned(), build.to_owned());
        assert_eq!(
            offer("dist/index.js"),
            owned("src/**/*.ts", "npm run build")
        );
        assert_eq!(
            offer("/a b/build/index.mjs"),
            owned("/a b/src/**/*.ts", "npm --prefix '/a b' run build")
        );
        assert_eq!(offer("lib/index.js"), owned("lib/**/*.js", ""));
        assert_eq!(offer("server.py"), owned("**/*.py", ""));
        assert_eq!(offer("dist/server.py"), owned("dist/**/*.py", ""));
    }

    fn watching(build: &str) -> State {
        let mut state = State::default();
        let source = Source::Command(Command {
            program: "srv".into(),
            ..Command::default()
        });
        state.perform(ConnectAction::Connect(Box::new(source)), &mut Vec::new());
        let update = SessionUpdate::Connected(Server::default());
        state.apply(
            Event::Session {
                session: state.session().id,
                update,
            },
            &mut Vec::new(),
        );
        let watch = Watch {
            is_on: true,
            places: ".".into(),
            build: build.into(),
        };
        state.change_watch(WatchAction::Set(watch), &mut Vec::new());
        happens(&mut state, WatchEvent::Watching(3));
        state
    }

    /// What is begun for what was seen: builds, watches, stops.
    fn happens(state: &mut State, event: WatchEvent) -> Vec<&'static str> {
        let mut effects = Vec::new();
        state.watch_event(state.watching.run, event, &mut effects);
        let word = |effect: &Effect| match effect {
            Effect::Watch(WatchEffect::Build { .. }) => Some("build"),
            Effect::Watch(WatchEffect::Start { .. }) => Some("watch"),
            Effect::Watch(WatchEffect::Stop) => Some("stop"),
            _ => None,
        };
        effects.iter().filter_map(word).collect()
    }

    fn edit() -> WatchEvent {
        WatchEvent::Changed(vec!["/a.py".into()])
    }

    #[test]
    fn a_build_that_writes_what_is_watched_runs_twice_and_no_more() {
        let mut state = watching("make");
        assert_eq!(happens(&mut state, edit()), ["build"]);
        assert!(
            happens(&mut state, edit()).is_empty(),
            "the build that runs is not ended"
        );
        assert_eq!(happens(&mut state, WatchEvent::Built(Ok(()))), ["build"]);
        happens(&mut state, edit());
        assert_eq!(
            happens(&mut state, WatchEvent::Built(Ok(()))),
            ["watch"],
            "what it wrote is what is watched from here on"
        );
    }

    #[test]
    fn a_server_that_changes_its_own_files_is_not_started_for_ever() {
        let mut state = watching("");
        for _ in 1..MOST_CHANGES {
            assert!(happens(&mut state, edit()).is_empty());
        }
        assert_eq!(happens(&mut state, edit()), ["stop"]);
        let words = state
            .watching
            .problem
            .as_ref()
            .map(Problem::message)
            .unwrap_or_default();
        assert!(
            words.contains("watching stopped") && words.contains("/a.py"),
            "{words}"
        );
    }
}
