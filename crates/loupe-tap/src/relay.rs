//! The tap over stdio: the host's standard input goes to the server, the server's output and stderr to the host, byte for
//! byte and at once; a copy goes to the recorder.
//!
//! The server is started before anything else, under the guard of `loupe-client`, which ends it with all it started when
//! the tap goes away in whichever way. Signals go on to it, and the tap ends with its exit status, or 128 and its signal.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use loupe_client::guard;
use loupe_core::capture::Direction;
use loupe_core::redact::SecretList;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::unistd::Pid;
use time::OffsetDateTime;

use super::recorder::{RecordPlace, Recorder, SessionStart};

/// Read at once: as much as a pipe holds.
const CHUNK: usize = 64 << 10;
/// How long the host may take to read what is left, once it has closed its end or this was told to end.
const LAST: Duration = Duration::from_secs(2);
/// How often it is looked whether everything has passed, once the server has ended.
const LOOK: Duration = Duration::from_millis(2);
/// Exit status where the server could not be started.
const NOT_STARTED: u8 = 127;

/// What to run, and where to record it.
pub struct Tap {
    pub command: Vec<String>,
    /// The name of the session; `None` is that of the program.
    pub name: Option<String>,
    /// Where it is recorded; `None` records nothing.
    pub record: Option<RecordPlace>,
    /// Loupe's own binary, to be the guard.
    pub guard: PathBuf,
    /// How the server is started, as a SOURCE, secrets hidden.
    pub source: String,
    pub known: SecretList,
}

/// Runs until the server has ended; gives its exit status.
///
/// # Errors
/// The server could not be started, or the streams of this process cannot be used.
pub fn run(tap: Tap) -> io::Result<u8> {
    let mut child = Command::new(&tap.guard)
        .arg(guard::COMMAND)
        .arg(guard::QUIET)
        .args(&tap.command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let is_signalled = forward_signals(&child)?;
    guard::adopt_descendants();
    let program = tap.command.first().cloned().unwrap_or_default();
    let complain = |why: &str| {
        // stderr is the server's; the host shows it to whoever looks.
        writeln!(io::stderr(), "mcp-loupe tap: {why}").ok();
    };
    let recorder = tap.record.map(|place| {
        let start = SessionStart {
            name: tap.name.unwrap_or_else(|| name_of(&program)),
            source: tap.source,
            started: OffsetDateTime::now_utc(),
        };
        Recorder::start(place, start, tap.known, complain)
    });
    let recorder = Arc::new(recorder);
    let relay = |direction, from: Option<File>, to: Option<File>| {
        let recorder = Arc::clone(&recorder);
        thread::Builder::new().spawn(move || {
            if let (Some(from), Some(to)) = (from, to) {
                pass_on(direction, from, to, &recorder);
            }
        })
    };
    let (host_in, host_out, host_err) = own_streams()?;
    let file = |fd: Option<OwnedFd>| fd.map(File::from);
    let input = child.stdin.take().map(OwnedFd::from);
    let output = child.stdout.take().map(OwnedFd::from);
    let errors = child.stderr.take().map(OwnedFd::from);
    // It ends when the host closes it, or with this process: a host may leave it open for as long as it likes.
    let input = relay(Direction::Out, Some(host_in), file(input))?;
    let output = relay(Direction::In, file(output), Some(host_out))?;
    let errors = relay(Direction::Stderr, file(errors), Some(host_err))?;
    let status = child.wait();
    if status.as_ref().is_ok_and(|status| status.code().is_none()) {
        // The guard was killed, so that what it guarded is this process's to end.
        guard::kill_descendants();
    }
    // A host that does not read, and has closed its end or wants this to end, is not waited for.
    let mut since = None;
    while !(output.is_finished() && errors.is_finished()) {
        if is_signalled.load(Ordering::Relaxed) || input.is_finished() {
            let since = *since.get_or_insert_with(Instant::now);
            if since.elapsed() > LAST {
                break;
            }
        }
        thread::sleep(LOOK);
    }
    let code = status
        .ok()
        .and_then(|status| u8::try_from(status.code().unwrap_or(128 + 9)).ok())
        .unwrap_or(NOT_STARTED);
    if let Some(recorder) = &*recorder {
        recorder.finish(Some(code.into()));
    }
    Ok(code)
}

/// The name of a program without its folder.
fn name_of(program: &str) -> String {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    name.to_owned()
}

/// Copies until either end is closed. Each part is written before its copy is handed over.
fn pass_on(direction: Direction, mut from: File, mut to: File, recorder: &Option<Recorder>) {
    let mut buffer = vec![0; CHUNK];
    loop {
        let read = match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        let passed = to.write_all(&buffer[..read]);
        if let Some(recorder) = recorder {
            recorder.take(direction, &buffer[..read]);
        }
        // Nobody reads it any more: whoever writes it is told by the end of the pipe.
        if passed.is_err() {
            return;
        }
    }
}

/// The three streams of this process as files of their own, so that each can be closed; in their place is nothing.
fn own_streams() -> io::Result<(File, File, File)> {
    let copy = |stream: &dyn AsFd| io::Result::Ok(File::from(stream.as_fd().try_clone_to_owned()?));
    let files = (
        copy(&io::stdin())?,
        copy(&io::stdout())?,
        copy(&io::stderr())?,
    );
    let nowhere = File::options().read(true).write(true).open("/dev/null")?;
    nix::unistd::dup2_stdin(&nowhere)?;
    nix::unistd::dup2_stdout(&nowhere)?;
    Ok(files)
}

/// Sends on to the guard what is sent to this process. Called after the server is started, which inherits no blocked
/// signals so. Whether one came.
fn forward_signals(child: &Child) -> io::Result<Arc<AtomicBool>> {
    let is_signalled = Arc::<AtomicBool>::default();
    let mut signals = SigSet::empty();
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        signals.add(signal);
    }
    // Every thread that begins from here on inherits it.
    signals.thread_block()?;
    let Ok(guard) = i32::try_from(child.id()) else {
        return Ok(is_signalled);
    };
    let told = Arc::clone(&is_signalled);
    thread::Builder::new().spawn(move || {
        while let Ok(signal) = signals.wait() {
            told.store(true, Ordering::Relaxed);
            // One that has ended needs no signal.
            kill(Pid::from_raw(guard), signal).ok();
        }
    })?;
    Ok(is_signalled)
}
