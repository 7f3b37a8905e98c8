//! Watches files of a server, and runs the command that builds it.
//!
//! The files are looked at again and again rather than watched through the system: editors that replace a file, shared
//! folders and containers all look the same that way, no number of watches runs out, and a few hundred files cost a
//! thousandth of a second twice in one. A change is told once the files have come to rest.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use walkdir::{DirEntry, WalkDir};

use super::queue::Queue;
use super::work::{aside, task};
use crate::state::{Event, WatchEffect, WatchEvent};
use loupe_core::problem::{Problem, ProblemKind};

/// How often the files are looked at; a change is told once two looks in a row find the same.
const EVERY: Duration = Duration::from_millis(300);
/// More files are not watched.
const MOST_FILES: usize = 10_000;
/// A build that takes longer is ended.
const BUILD_LIMIT: Duration = Duration::from_secs(600);
/// Lines of a build that are kept, the last ones.
const BUILD_LINES: usize = 200;
/// Folders that hold what others wrote.
const SKIPPED: &[&str] = &["node_modules", "__pycache__", "target", "venv"];

/// See the module.
pub(super) struct Watcher {
    queue: Arc<Queue>,
    watching: Mutex<Option<JoinHandle<()>>>,
    building: Mutex<Option<JoinHandle<()>>>,
}

/// What of each file tells that it changed.
type Seen = BTreeMap<PathBuf, (Option<SystemTime>, u64)>;

impl Watcher {
    pub(super) fn new(queue: Arc<Queue>) -> Self {
        Self {
            queue,
            watching: Mutex::default(),
            building: Mutex::default(),
        }
    }

    pub(super) fn execute(&self, runtime: &Handle, effect: WatchEffect) {
        match effect {
            WatchEffect::Start { run, base, places } => {
                let queue = Arc::clone(&self.queue);
                let failed = move |problem| Event::Watch {
                    run,
                    event: WatchEvent::Failed(problem),
                };
                let watching = task(runtime, &self.queue, failed, async move {
                    if let Err(problem) = watch(run, base, places, &queue).await {
                        queue.push(Event::Watch {
                            run,
                            event: WatchEvent::Failed(problem),
                        });
                    }
                });
                replace(&self.watching, Some(watching));
            }
            WatchEffect::Stop => {
                replace(&self.watching, None);
                replace(&self.building, None);
            }
            WatchEffect::Build { run, base, command } => {
                let queue = Arc::clone(&self.queue);
                let failed = move |problem| Event::Watch {
                    run,
                    event: WatchEvent::Built(Err((problem, Vec::new()))),
                };
                let building = task(runtime, &self.queue, failed, async move {
                    let built = build(&base_of(base), &command).await;
                    queue.push(Event::Watch {
                        run,
                        event: WatchEvent::Built(built),
                    });
                });
                replace(&self.building, Some(building));
            }
        }
    }
}

fn replace(running: &Mutex<Option<JoinHandle<()>>>, next: Option<JoinHandle<()>>) {
    if let Some(before) = std::mem::replace(
        &mut *running.lock().unwrap_or_else(PoisonError::into_inner),
        next,
    ) {
        before.abort();
    }
}

fn base_of(base: Option<PathBuf>) -> PathBuf {
    base.or_else(|| std::env::current_dir().ok())
        .unwrap_or_default()
}

async fn watch(
    run: u64,
    base: Option<PathBuf>,
    places: Vec<String>,
    queue: &Queue,
) -> Result<(), Problem> {
    let places = Arc::new(Places::of(&base_of(base), &places)?);
    let look = || {
        let places = Arc::clone(&places);
        async move { aside(move || places.seen()).await? }
    };
    let mut known = look().await?;
    if known.is_empty() {
        return Err(Problem::new(ProblemKind::NotFound, "no files match")
            .hint("name a folder, a file or a glob such as src/**/*.py"));
    }
    queue.push(Event::Watch {
        run,
        event: WatchEvent::Watching(known.len()),
    });
    let mut last = known.clone();
    loop {
        tokio::time::sleep(EVERY).await;
        let now = look().await?;
        if now == last && now != known {
            let changed = changed_files(&known, &now);
            known = now.clone();
            queue.push(Event::Watch {
                run,
                event: WatchEvent::Changed(changed),
            });
        }
        last = now;
    }
}

/// Files that came, went or are others.
fn changed_files(before: &Seen, now: &Seen) -> Vec<PathBuf> {
    let other = now
        .iter()
        .filter(|(path, seen)| before.get(*path) != Some(seen))
        .map(|(path, _)| path);
    let gone = before.keys().filter(|path| !now.contains_key(*path));
    other.chain(gone).cloned().collect()
}

/// What is watched: folders and files as they are, and globs from the folder that they begin in.
struct Places {
    roots: Vec<PathBuf>,
    globs: GlobSet,
}

impl Places {
    fn of(base: &Path, places: &[String]) -> Result<Self, Problem> {
        let (mut roots, mut globs) = (Vec::new(), GlobSetBuilder::new());
        for place in places
            .iter()
            .map(|place| place.trim())
            .filter(|place| !place.is_empty())
        {
            let whole = base.join(super::expanded(place.into()));
            let is_glob = |part: &OsStr| part.to_string_lossy().contains(['*', '?', '[', '{']);
            let root: PathBuf = whole.iter().take_while(|part| !is_glob(part)).collect();
            let patterns = match root == whole {
                true => vec![escaped(&root), format!("{}/**", escaped(&root))],
                false => vec![escaped_root(&root, &whole)],
            };
            for pattern in patterns {
                let glob = GlobBuilder::new(&pattern).literal_separator(true).build();
                globs.add(glob.map_err(|error| {
                    Problem::new(ProblemKind::Usage, format!("no glob: {error}")).at(place)
                })?);
            }
            roots.push(root);
        }
        let globs = globs
            .build()
            .map_err(|error| Problem::new(ProblemKind::Usage, format!("no glob: {error}")))?;
        Ok(Self { roots, globs })
    }

    fn seen(&self) -> Result<Seen, Problem> {
        let mut seen = Seen::new();
        for root in &self.roots {
            let entries = WalkDir::new(root)
                .into_iter()
                .filter_entry(|entry| entry.depth() == 0 || !is_skipped(entry));
            // A file that goes away while it is looked at is not there.
            for entry in entries
                .filter_map(Result::ok)
                .filter(|entry| entry.file_type().is_file())
            {
                if !self.globs.is_match(entry.path()) {
                    continue;
                }
                let Ok(data) = entry.metadata() else { continue };
                seen.insert(entry.into_path(), (data.modified().ok(), data.len()));
                if seen.len() > MOST_FILES {
                    return Err(Problem::new(
                        ProblemKind::Usage,
                        format!("more than {MOST_FILES} files: they are not watched"),
                    )
                    .hint("name a smaller folder, or a glob such as src/**/*.py"));
                }
            }
        }
        Ok(seen)
    }
}

/// A path as a glob that only it matches.
fn escaped(path: &Path) -> String {
    path.to_string_lossy()
        .chars()
        .flat_map(|char| match char {
            '*' | '?' | '[' | ']' | '{' | '}' | '\\' => vec!['[', char, ']'],
            char => vec![char],
        })
        .collect()
}

/// The glob of a place whose part without marks is `root`.
fn escaped_root(root: &Path, whole: &Path) -> String {
    let rest = whole.strip_prefix(root).unwrap_or(whole);
    format!("{}/{}", escaped(root), rest.to_string_lossy())
}

fn is_skipped(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    name.starts_with('.')
        || (entry.file_type().is_dir()
            && (SKIPPED.contains(&&*name) || entry.path().join("pyvenv.cfg").exists()))
}

/// Runs the command, started directly and never through a shell; what it wrote if it failed.
async fn build(base: &Path, command: &str) -> Result<(), (Problem, Vec<String>)> {
    let fail = |what: String| Problem::new(ProblemKind::Spawn, what).at(command.to_owned());
    let words = shell_words::split(command).map_err(|error| {
        (
            fail(format!("the build cannot be started: {error}")),
            Vec::new(),
        )
    })?;
    let Some((program, args)) = words.split_first() else {
        return Ok(());
    };
    let mut start = tokio::process::Command::new(program);
    start
        .args(args)
        .current_dir(base)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    #[cfg(unix)]
    start.process_group(0);
    let mut child = start.spawn().map_err(|error| {
        (
            fail(format!("the build cannot be started: {error}")),
            Vec::new(),
        )
    })?;
    let mut group = Group(child.id());
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let lines = Mutex::new(Vec::new());
    let ran = async { tokio::join!(child.wait(), read(out, &lines), read(err, &lines)).0 };
    let ended = tokio::time::timeout(BUILD_LIMIT, ran).await;
    group.0.take_if(|_| ended.is_ok());
    let lines = lines.into_inner().unwrap_or_else(PoisonError::into_inner);
    match ended {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err((fail(format!("the build failed: {status}")), lines)),
        Ok(Err(error)) => Err((fail(format!("the build failed: {error}")), lines)),
        Err(_) => Err((
            fail(format!(
                "the build was ended after {} s",
                BUILD_LIMIT.as_secs()
            )),
            lines,
        )),
    }
}

async fn read(pipe: Option<impl AsyncRead + Unpin>, lines: &Mutex<Vec<String>>) {
    let Some(pipe) = pipe else { return };
    let mut reader = BufReader::new(pipe);
    let mut line = Vec::new();
    while matches!(reader.read_until(b'\n', &mut line).await, Ok(1..)) {
        let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == BUILD_LINES {
            lines.remove(0);
        }
        lines.push(String::from_utf8_lossy(line.trim_ascii_end()).into_owned());
        line.clear();
    }
}

/// Ends a build with all that it started, where nobody waits for it any more.
struct Group(Option<u32>);

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(id) = self.0.and_then(|id| i32::try_from(id).ok()) {
            // One that has ended needs no signal.
            nix::sys::signal::killpg(
                nix::unistd::Pid::from_raw(id),
                nix::sys::signal::Signal::SIGKILL,
            )
            .ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn seen(base: &Path, places: &[&str]) -> Vec<String> {
        let places = Places::of(
            base,
            &places
                .iter()
                .map(|place| (*place).to_owned())
                .collect::<Vec<_>>(),
        )
        .unwrap();
        let name = |path: PathBuf| path.strip_prefix(base).unwrap().display().to_string();
        places.seen().unwrap().into_keys().map(name).collect()
    }

    #[test]
    fn files_folders_and_globs_are_watched_but_not_what_others_wrote() {
        let base = tempfile::tempdir().unwrap();
        let base = base.path();
        for file in [
            "a.py",
            "src/b.py",
            "src/deep/[c].py",
            "src/d.txt",
            "env/pyvenv.cfg",
            "env/e.py",
            "node_modules/f.py",
            ".git/g.py",
            "x{y}/h.py",
        ] {
            fs::create_dir_all(base.join(file).parent().unwrap()).unwrap();
            fs::write(base.join(file), "").unwrap();
        }
        assert_eq!(seen(base, &["a.py"]), ["a.py"]);
        assert_eq!(
            seen(base, &["src"]),
            ["src/b.py", "src/d.txt", "src/deep/[c].py"]
        );
        assert_eq!(
            seen(base, &["**/*.py"]),
            ["a.py", "src/b.py", "src/deep/[c].py", "x{y}/h.py"]
        );
        assert_eq!(
            seen(base, &["src/**/*.{py,txt}", " ", "a.py"]),
            ["a.py", "src/b.py", "src/d.txt", "src/deep/[c].py"]
        );
        assert_eq!(seen(base, &["*.py"]), ["a.py"]);
        assert_eq!(seen(base, &["none"]), [""; 0]);
        assert!(Places::of(base, &["src/[".into()]).is_err());
    }

    #[test]
    fn what_came_went_or_is_another_has_changed() {
        let seen = |files: &[(&str, u64)]| {
            files
                .iter()
                .map(|(path, len)| (PathBuf::from(path), (None, *len)))
                .collect::<Seen>()
        };
        let paths = changed_files(
            &seen(&[("a", 1), ("b", 1), ("c", 1)]),
            &seen(&[("a", 1), ("b", 2), ("d", 1)]),
        );
        assert_eq!(paths, ["b", "d", "c"].map(PathBuf::from));
    }

    #[cfg(unix)]
    #[test]
    fn a_build_that_fails_says_what_it_wrote() {
        let runtime = loupe_client::runtime().unwrap();
        let base = tempfile::tempdir().unwrap();
        let run = |command: &str| runtime.block_on(build(base.path(), command));
        assert_eq!(run("true"), Ok(()));
        assert_eq!(run(""), Ok(()));
        let (problem, lines) = run("sh -c 'echo one; echo two >&2; exit 3'").unwrap_err();
        assert!(problem.what.contains("exit status: 3"), "{problem}");
        let mut lines = lines;
        lines.sort();
        assert_eq!(lines, ["one", "two"]);
        assert!(
            run("/no/such/program")
                .unwrap_err()
                .0
                .what
                .starts_with("the build cannot be started")
        );
    }
}
