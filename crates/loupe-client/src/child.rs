//! A server as a child process: found, started under the guard, its stderr drained.

use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher, Hasher};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::io::AsyncRead;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use super::error::Error;
use super::stderr_buffer::Backlog;
use super::tap::Tap;
use super::{Options, guard, lines};
use loupe_core::capture::StepState;
use loupe_core::source;

/// A line of stderr beyond this is cut.
const STDERR_LINE: usize = 64 << 10;
/// Longer than the guard takes where nothing is stuck in the kernel (some 6.3 s); without one, as long as a server may take
/// to end by itself.
const END_LIMIT: Duration = Duration::from_secs(if cfg!(unix) { 8 } else { 2 });

/// Bytes of a script in which its first line ends.
const FIRST_LINE: u64 = 512;

/// What the guard said became of the program.
#[derive(Clone, Debug, Default)]
pub(super) enum ChildEnd {
    #[default]
    Unknown,
    NotStarted(String),
    Ended(String),
}

/// A started server and its pipes.
pub(super) struct StartedChild {
    pub process: Process,
    pub stdin: ChildStdin,
    pub stdout: ChildStdout,
    /// Closed when stderr has ended, and with it what the guard has to say.
    pub end: watch::Receiver<ChildEnd>,
}

/// Dropping it lets the guard end the server by itself, as soon as the server's input is closed; on Windows it ends the
/// server at once, with all it started.
pub(super) struct Process {
    child: Box<Child>,
    #[cfg(windows)]
    _job: win32job::Job,
}

impl Process {
    /// Leaves the rest to the guard, which goes on by itself; where there is none it is waited for.
    pub(super) async fn leave(self) {
        if cfg!(not(unix)) {
            self.close().await;
        }
    }

    /// Waits until the guard has ended everything; its input must be closed by then.
    pub(super) async fn close(mut self) {
        if tokio::time::timeout(END_LIMIT, self.child.wait())
            .await
            .is_ok()
        {
            return;
        }
        // Killed, the guard would leave the server behind; asked to end, it ends the server first.
        if self.terminate()
            && tokio::time::timeout(END_LIMIT, self.child.wait())
                .await
                .is_ok()
        {
            return;
        }
        // The guard itself hangs; its end closes the server's input at least.
        self.child.kill().await.ok();
    }

    /// Whether the guard could be asked to end.
    fn terminate(&self) -> bool {
        #[cfg(unix)]
        if let Some(id) = self.child.id().and_then(|id| i32::try_from(id).ok()) {
            return nix::sys::signal::kill(
                nix::unistd::Pid::from_raw(id),
                nix::sys::signal::Signal::SIGTERM,
            )
            .is_ok();
        }
        false
    }
}

pub(super) fn start(
    command: &source::Command,
    options: &Options,
    tap: &Arc<Tap>,
    tasks: &mut JoinSet<()>,
) -> Result<StartedChild, Error> {
    tap.begin_step("find the program", &command.program);
    let found = check(command)?;
    tap.end_step(&found, StepState::Done);
    tap.begin_step("start", &command.line());
    let token = format!(
        "{:016x}",
        std::hash::RandomState::new().build_hasher().finish()
    );
    let spawn_error = |source| Error::Guard {
        program: command.program.clone(),
        source,
    };
    let mut start = if cfg!(unix) {
        let binary = match &options.guard {
            Some(path) => path.clone(),
            None => std::env::current_exe().map_err(spawn_error)?,
        };
        let mut start = Command::new(binary);
        start.arg(guard::COMMAND).arg(&token).arg(&command.program);
        start
    } else {
        let mut start = Command::new(&command.program);
        start.kill_on_drop(true);
        start
    };
    if command.is_clean {
        let needed = source::Command::NEEDED
            .iter()
            .filter_map(|name| Some((name, std::env::var_os(name)?)));
        start.env_clear().envs(needed);
    }
    start
        .args(&command.args)
        .envs(command.env.iter().map(|(name, value)| (name, value)));
    if let Some(cwd) = &command.cwd {
        start.current_dir(cwd);
    }
    let mut child = start
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(spawn_error)?;
    #[cfg(windows)]
    let job = super::job::hold(&child).map_err(spawn_error)?;
    let (Some(stdin), Some(stdout), Some(stderr)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(spawn_error(std::io::Error::other("no pipes")));
    };
    tap.end_step(
        &child
            .id()
            .map(|id| format!("process {id}"))
            .unwrap_or_default(),
        StepState::Done,
    );
    let (ended, end) = watch::channel(ChildEnd::default());
    let tap = Arc::clone(tap);
    // A transcript has every line of it, so that is waited for.
    let stderr: Box<dyn AsyncRead + Send + Unpin> = if options.transcript.is_some() {
        Box::new(stderr)
    } else {
        let backlog = Backlog::new(tap.limits.stderr);
        let filled = Arc::clone(&backlog);
        tasks.spawn(async move { filled.fill(stderr).await });
        Box::new(backlog.read())
    };
    tasks.spawn(async move {
        let read = lines::read(stderr, STDERR_LINE, mpsc::channel(1).1, |line| {
            // The program's last words may have no line end of their own, so the guard's may follow on the same line.
            let at = find(&line.bytes, token.as_bytes()).unwrap_or(line.bytes.len());
            if let Some(word) = from_guard(&line.bytes[at..], &token) {
                if at > 0 {
                    tap.stderr(&line.bytes.slice(..at));
                }
                ended.send_replace(word);
            } else {
                tap.stderr(&line.bytes);
            }
        });
        if let Err(error) = read.await {
            tap.stderr(&Bytes::from(format!(
                "(stderr could not be read any further: {error})"
            )));
        }
    });
    let process = Process {
        child: Box::new(child),
        #[cfg(windows)]
        _job: job,
    };
    Ok(StartedChild {
        process,
        stdin,
        stdout,
        end,
    })
}

fn find(text: &[u8], word: &[u8]) -> Option<usize> {
    text.windows(word.len()).position(|window| window == word)
}

fn from_guard(line: &[u8], token: &str) -> Option<ChildEnd> {
    let word = std::str::from_utf8(line)
        .ok()?
        .strip_prefix(token)?
        .strip_prefix(' ')?;
    Some(match word.strip_prefix("not-started ") {
        Some(reason) => ChildEnd::NotStarted(reason.to_owned()),
        None => ChildEnd::Ended(format!("the program {word}")),
    })
}

/// Finds the program before anything is started, since a shell's status 127 explains nothing.
fn check(command: &source::Command) -> Result<String, Error> {
    if let Some(cwd) = command.cwd.as_ref().filter(|cwd| !cwd.is_dir()) {
        return Err(Error::NoFolder { path: cwd.clone() });
    }
    if cfg!(not(unix)) {
        return Ok(String::new());
    }
    let program = || command.program.clone();
    let path = command
        .env
        .iter()
        .rev()
        .find(|(name, _)| name == "PATH")
        .map(|(_, value)| OsString::from(value));
    let path = path
        .or_else(|| std::env::var_os("PATH"))
        .unwrap_or_default();
    let found = candidates(&command.program, command.cwd.as_deref(), &path);
    if command.program.is_empty() || !found.iter().any(|path| path.exists()) {
        return Err(Error::NotFound { program: program() });
    }
    let usable = found
        .iter()
        .find(|path| is_executable(path))
        .ok_or_else(|| Error::NotExecutable { program: program() })?;
    check_interpreter(usable)?;
    Ok(usable.display().to_string())
}

/// Reads the first line of a script: the system says of an interpreter that is not there only that a file is not.
fn check_interpreter(program: &Path) -> Result<(), Error> {
    let mut head = Vec::new();
    // A file that may be run and not read is no script.
    if let Ok(file) = std::fs::File::open(program) {
        std::io::Read::read_to_end(&mut std::io::Read::take(file, FIRST_LINE), &mut head).ok();
    }
    let Some(line) = head.strip_prefix(b"#!") else {
        return Ok(());
    };
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or(line);
    let line = String::from_utf8_lossy(line);
    let has_carriage_return = line.ends_with('\r');
    let mut words = line.split_whitespace();
    let interpreter = words.next().unwrap_or_default();
    if !has_carriage_return && Path::new(interpreter).exists() {
        return Ok(());
    }
    Err(Error::Interpreter {
        program: program.display().to_string(),
        interpreter: match words.last() {
            Some(last) if has_carriage_return => last.to_owned(),
            _ => interpreter.to_owned(),
        },
        has_carriage_return,
    })
}

fn candidates(program: &str, cwd: Option<&Path>, path: &OsStr) -> Vec<PathBuf> {
    let base = cwd.unwrap_or(Path::new(""));
    if program.contains('/') {
        return vec![base.join(program)];
    }
    std::env::split_paths(path)
        .map(|folder| base.join(folder).join(program))
        .collect()
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}
