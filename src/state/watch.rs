//! Restarts the server that is connected when its files change, and calls again: edit, save, and the answer is there with
//! its difference to the one before.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Effect, State};
use crate::problem::Problem;
use crate::source::{Command, Source, Watch};

/// Ends of the names of files that a program is given to run.
const SCRIPTS: &[&str] = &["py", "js", "mjs", "cjs", "ts", "mts", "tsx", "rb", "php", "pl", "lua", "sh", "jl", "r", "exs", "jar"];

/// What is watched now.
#[derive(Debug, Default)]
pub struct Watching {
    /// Counts, so that late events of an old one are told apart.
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
}

/// What a person does about it.
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
            WatchAction::CloseProblem => (self.watching.problem, self.watching.output) = (None, Vec::new()),
        }
    }

    pub(super) fn watch_event(&mut self, run: u64, event: WatchEvent, effects: &mut Vec<Effect>) {
        if run != self.watching.run {
            return;
        }
        match event {
            WatchEvent::Watching(files) => self.watching.files = Some(files),
            WatchEvent::Changed(paths) => {
                let others = paths.len().saturating_sub(1);
                self.watching.changed = paths.into_iter().next().map(|path| (path, others));
                (self.watching.problem, self.watching.output) = (None, Vec::new());
                match self.watch().map(|watch| watch.build.trim().to_owned()).filter(|command| !command.is_empty()) {
                    Some(command) => {
                        self.watching.building = Some(self.now);
                        let base = self.watch_base();
                        effects.push(Effect::Watch(WatchEffect::Build { run, base, command }));
                    }
                    None => self.again(None, effects),
                }
            }
            WatchEvent::Built(built) => {
                self.watching.building = None;
                match built {
                    Ok(()) => self.again(None, effects),
                    Err((problem, output)) => (self.watching.problem, self.watching.output) = (Some(problem), output),
                }
            }
            WatchEvent::Failed(problem) => {
                self.watching.files = None;
                self.watching.problem = Some(problem);
            }
        }
    }

    /// What is remembered to be watched of the server of now.
    pub fn watch(&self) -> Option<&Watch> {
        self.servers.memory()?.watch.as_ref()
    }

    /// Whether the server of now can be watched: it is a command of this computer.
    pub fn can_watch(&self) -> bool {
        matches!(self.connection.source(), Some(Source::Command(_)))
    }

    /// What is offered to be watched: the folder of the script that the command runs, with files of its kind, or the
    /// program itself where it is named by its path.
    pub fn watch_offer(&self) -> Option<String> {
        let Some(Source::Command(command)) = self.connection.source() else { return None };
        script(command)
    }

    /// Watches, where that is remembered of the server and does not go on already.
    pub(super) fn begin_watching(&mut self, effects: &mut Vec<Effect>) {
        let Some(watch) = self.watch().filter(|watch| watch.is_on && self.can_watch() && self.watching.files.is_none()) else {
            return;
        };
        let places = watch.places.lines().map(str::to_owned).collect();
        let base = self.watch_base();
        self.watching = Watching { run: self.watching.run + 1, is_begun: true, ..Watching::default() };
        effects.push(Effect::Watch(WatchEffect::Start { run: self.watching.run, base, places }));
    }

    pub(super) fn stop_watching(&mut self, effects: &mut Vec<Effect>) {
        // Late events must not find it again.
        let run = self.watching.run + 1;
        let before = std::mem::replace(&mut self.watching, Watching { run, ..Watching::default() });
        if before.is_begun {
            effects.push(Effect::Watch(WatchEffect::Stop));
        }
    }

    fn watch_base(&self) -> Option<PathBuf> {
        match self.connection.source() {
            Some(Source::Command(command)) => command.cwd.clone().or_else(|| self.servers.here().map(Path::to_owned)),
            _ => None,
        }
    }
}

fn script(command: &Command) -> Option<String> {
    let end = |path: &str| Path::new(path).extension().map(|end| end.to_string_lossy().to_lowercase());
    let is_script =
        |arg: &&String| !arg.starts_with('-') && !arg.contains("://") && end(arg).is_some_and(|end| SCRIPTS.contains(&&*end));
    if let Some(script) = command.args.iter().find(is_script) {
        let folder = Path::new(script).parent().filter(|folder| !folder.as_os_str().is_empty());
        let files = format!("**/*.{}", end(script).unwrap_or_default());
        return Some(folder.map_or(files.clone(), |folder| folder.join(files).display().to_string()));
    }
    command.program.contains(['/', '\\']).then(|| command.program.clone())
}
