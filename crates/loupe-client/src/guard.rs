//! The guard: Loupe's own binary started again between Loupe and a server, so that the server never outlives it.
//!
//! The guard's standard input is the lifeline. When it ends (Loupe closed it, crashed or was killed), and with it the
//! server's input, the guard sends SIGTERM to everything the server started after 100 ms and SIGKILL after 2 s.
//! Output is inherited, not relayed. On Linux so is the input: the guard watches for its end without reading it, so
//! nothing stands between Loupe and the server; and it is a child subreaper, so that what left the process group is
//! found as well. Elsewhere on Unix the guard relays the input, and the group is all there is; on Windows there is no
//! guard: a job object does its work (`job`).

use std::ffi::OsString;
use std::process::ExitCode;

/// The hidden subcommand of the binary.
pub const COMMAND: &str = "guard-child";

/// The token of a guard that has nothing to say on stderr: what is there is the server's alone, byte for byte. It forwards
/// signals as they are, gives the server 5 s after the end of its input, and ends with 128 and the
/// signal that the server was ended by.
pub const QUIET: &str = "quiet";

/// Exit status when the program could not be started.
const NOT_STARTED: u8 = 127;

/// Runs the guard: `args` is what follows [`COMMAND`], a token and the command. What the guard itself has to say goes to
/// stderr on lines that begin with the token.
pub fn main(args: Vec<OsString>) -> ExitCode {
    let mut args = args.into_iter();
    let (Some(token), Some(program)) = (args.next(), args.next()) else {
        return ExitCode::from(2);
    };
    run(&token.to_string_lossy(), program, args.collect())
}

/// Says one line to Loupe. Nobody may be listening any more, which is no reason to stop.
fn report(token: &str, what: &str) {
    use std::io::Write;
    if token != QUIET {
        writeln!(std::io::stderr(), "{token} {what}").ok();
    }
}

/// From here on what a killed child leaves behind is this process's, where the system has that (Linux).
pub fn adopt_descendants() {
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_child_subreaper(true).ok();
}

/// Kills every process below this one.
#[cfg(unix)]
pub fn kill_descendants() {
    unix::kill_descendants();
}

/// Says on the server's stderr why there is no server. Nobody may be listening.
#[cfg(unix)]
fn complain(program: &str, why: &std::io::Error) {
    use std::io::Write;
    writeln!(std::io::stderr(), "mcp-loupe tap: {program}: {why}").ok();
}

#[cfg(not(unix))]
fn run(token: &str, _program: OsString, _args: Vec<OsString>) -> ExitCode {
    report(token, "not-started there is no guard on this system");
    ExitCode::from(NOT_STARTED)
}

#[cfg(unix)]
fn run(token: &str, program: OsString, args: Vec<OsString>) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            report(token, &format!("not-started {error}"));
            return ExitCode::from(NOT_STARTED);
        }
    };
    let status = runtime.block_on(unix::guard(token, program, args));
    // A read of standard input may still block its thread.
    runtime.shutdown_background();
    status
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsString;
    use std::process::{ExitCode, ExitStatus};
    use std::time::Duration;

    use nix::sys::signal::{Signal, kill, killpg};
    use nix::unistd::Pid;
    use tokio::process::{Child, Command};
    use tokio::signal::unix::{SignalKind, signal};
    use tokio::time::{Instant, sleep, sleep_until};

    use super::{NOT_STARTED, QUIET, complain, lifeline, report};

    const BEFORE_TERM: Duration = Duration::from_millis(100);
    /// What a server has after the end of its input where a host, not Loupe, ends it.
    pub(super) const QUIET_BEFORE_TERM: Duration = Duration::from_secs(5);
    const BEFORE_KILL: Duration = Duration::from_secs(2);
    const POLL: Duration = Duration::from_millis(10);

    pub(super) async fn guard(token: &str, program: OsString, args: Vec<OsString>) -> ExitCode {
        // Away from the terminal's group: Ctrl-C is for Loupe, which then ends its servers in order. It fails only where
        // the guard leads a group already.
        nix::unistd::setsid().ok();
        #[cfg(target_os = "linux")]
        nix::sys::prctl::set_child_subreaper(true).ok();
        let signals = [
            SignalKind::terminate(),
            SignalKind::hangup(),
            SignalKind::interrupt(),
        ]
        .map(signal);
        let [Ok(mut terminate), Ok(mut hangup), Ok(mut interrupt)] = signals else {
            report(token, "not-started signals cannot be watched");
            return ExitCode::from(NOT_STARTED);
        };
        let (is_quiet, name) = (token == QUIET, program.to_string_lossy().into_owned());
        let spawned = Command::new(program)
            .args(args)
            .stdin(lifeline::input())
            .process_group(0)
            .spawn();
        let mut child = match spawned {
            Ok(child) => child,
            Err(error) => {
                report(token, &format!("not-started {error}"));
                if is_quiet {
                    complain(&name, &error);
                }
                return ExitCode::from(NOT_STARTED);
            }
        };
        // The end of the server's output is seen only where nobody else holds it.
        if let Ok(nowhere) = std::fs::OpenOptions::new().write(true).open("/dev/null") {
            nix::unistd::dup2_stdout(nowhere).ok();
        }
        let group = child
            .id()
            .and_then(|id| i32::try_from(id).ok())
            .map(Pid::from_raw);
        let stdin = child.stdin.take();
        // Whichever way it ends, the server's input is let go of.
        let exited = tokio::select! {
            status = child.wait() => Ok(status),
            () = lifeline::ended(stdin) => Err(None),
            _ = terminate.recv() => Err(Some(Signal::SIGTERM)),
            _ = hangup.recv() => Err(Some(Signal::SIGHUP)),
            _ = interrupt.recv() => Err(Some(Signal::SIGINT)),
        };
        let status = match exited {
            Ok(status) => status,
            Err(signal) => {
                if let Some(signal) = signal.filter(|_| is_quiet) {
                    send(group, signal);
                }
                let before_term = if is_quiet {
                    QUIET_BEFORE_TERM
                } else {
                    BEFORE_TERM
                };
                end(&mut child, group, before_term).await
            }
        };
        let code = match &status {
            Ok(status) => {
                report(token, &exit(*status));
                let signal =
                    || 128 + std::os::unix::process::ExitStatusExt::signal(status).unwrap_or(-127);
                u8::try_from(status.code().unwrap_or_else(signal)).unwrap_or(1)
            }
            Err(error) => {
                report(token, &format!("ended {error}"));
                1
            }
        };
        comparison(group).await;
        ExitCode::from(code)
    }

    fn exit(status: ExitStatus) -> String {
        use std::os::unix::process::ExitStatusExt;
        match (status.code(), status.signal()) {
            (Some(code), _) => format!("ended with status {code}"),
            (None, Some(number)) => format!(
                "was ended by {}",
                Signal::try_from(number).map_or("a signal", Signal::as_str)
            ),
            (None, None) => "ended".into(),
        }
    }

    /// Ends the program: it has had the end of its input, then SIGTERM, then SIGKILL.
    async fn end(
        child: &mut Child,
        group: Option<Pid>,
        before_term: Duration,
    ) -> std::io::Result<ExitStatus> {
        if let Ok(status) = tokio::time::timeout(before_term, child.wait()).await {
            return status;
        }
        send(group, Signal::SIGTERM);
        if let Ok(status) = tokio::time::timeout(BEFORE_KILL, child.wait()).await {
            return status;
        }
        send(group, Signal::SIGKILL);
        child.wait().await
    }

    /// Ends what the program left behind.
    async fn comparison(group: Option<Pid>) {
        if !is_anyone_left(group) {
            return;
        }
        let begun = Instant::now();
        sleep_until(begun + BEFORE_TERM).await;
        send(group, Signal::SIGTERM);
        while is_anyone_left(group) {
            // Something that is stuck in the kernel cannot be waited for.
            if begun.elapsed() > 2 * BEFORE_KILL {
                return;
            }
            if begun.elapsed() > BEFORE_KILL {
                send(group, Signal::SIGKILL);
            }
            sleep(POLL).await;
        }
    }

    pub(super) fn kill_descendants() {
        for pid in descendants() {
            kill(pid, Signal::SIGKILL).ok();
        }
    }

    /// To the group and to every descendant outside it. One that has just ended needs no signal.
    fn send(group: Option<Pid>, signal: Signal) {
        if let Some(group) = group {
            killpg(group, signal).ok();
        }
        for pid in descendants() {
            kill(pid, signal).ok();
        }
    }

    fn is_anyone_left(group: Option<Pid>) -> bool {
        let has_children = reap();
        // What a descendant leaves behind is handed to the subreaper: without children there are no descendants.
        if cfg!(target_os = "linux") {
            has_children
        } else {
            group.is_some_and(|group| killpg(group, None).is_ok())
        }
    }

    /// Takes the exit status of what was handed to the subreaper; whether living children remain. Only called once the
    /// program itself was waited for.
    fn reap() -> bool {
        use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
        while let Ok(status) = waitpid(Pid::from_raw(-1), Some(WaitPidFlag::WNOHANG)) {
            if status == WaitStatus::StillAlive {
                return true;
            }
        }
        false
    }

    /// Living processes below this one, by /proc; none where there is no /proc.
    fn descendants() -> Vec<Pid> {
        let Ok(entries) = std::fs::read_dir("/proc") else {
            return Vec::new();
        };
        let mut parents = Vec::new();
        for entry in entries.flatten() {
            let Some(pid) = entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse::<i32>().ok())
            else {
                continue;
            };
            // `PID (NAME) STATE PPID …`, where the name may hold anything. One that ended meanwhile has no file.
            let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else {
                continue;
            };
            let mut fields = stat
                .rsplit(')')
                .next()
                .unwrap_or_default()
                .split_whitespace();
            if let (Some(state), Some(Ok(parent))) =
                (fields.next(), fields.next().map(str::parse::<i32>))
            {
                parents.push((pid, parent, !matches!(state, "Z" | "X")));
            }
        }
        let mut found = vec![std::process::id().try_into().unwrap_or(-1)];
        let mut at = 0;
        let mut living = Vec::new();
        while at < found.len() {
            for &(pid, parent, alive) in &parents {
                if parent == found[at] && !found.contains(&pid) {
                    found.push(pid);
                    if alive {
                        living.push(Pid::from_raw(pid));
                    }
                }
            }
            at += 1;
        }
        living
    }
}

/// The end of the guard's standard input, seen without reading it.
#[cfg(target_os = "linux")]
mod lifeline {
    use std::os::fd::AsFd;
    use std::process::Stdio;

    use nix::errno::Errno;
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    use tokio::process::ChildStdin;

    /// The server reads what Loupe writes.
    pub(super) fn input() -> Stdio {
        Stdio::inherit()
    }

    /// Waits until nobody holds the other end of the pipe; what is still in it is the server's to read.
    pub(super) async fn ended(_stdin: Option<ChildStdin>) {
        let (done, all_done) = tokio::sync::oneshot::channel::<()>();
        // The thread ends with the guard at the latest.
        std::thread::spawn(move || {
            let stdin = std::io::stdin();
            // Nothing is asked for, so that only the end wakes it.
            let mut pipe = [PollFd::new(stdin.as_fd(), PollFlags::empty())];
            while poll(&mut pipe, PollTimeout::NONE) == Err(Errno::EINTR) {}
            drop(done);
        });
        all_done.await.ok();
    }
}

/// The end of the guard's standard input, which is copied to the server until then. The end is noticed by itself, not by
/// reading to it: a server that reads no more must not keep the guard from it.
#[cfg(all(unix, not(target_os = "linux")))]
mod lifeline {
    use std::io;
    use std::os::fd::AsFd;
    use std::process::Stdio;
    use std::sync::Arc;
    use std::time::Duration;

    use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
    use tokio::net::unix::pipe;
    use tokio::process::ChildStdin;
    use tokio::time::{sleep, timeout};

    /// What the server has not read when the lifeline ends may still reach it for so long.
    const LAST_WORDS: Duration = Duration::from_millis(100);
    /// How often the lifeline is looked at while the server does not read.
    const HANGUP_LOOK: Duration = Duration::from_millis(100);

    pub(super) fn input() -> Stdio {
        Stdio::piped()
    }

    pub(super) async fn ended(stdin: Option<ChildStdin>) {
        let Some(to) = stdin else { return };
        let input = Lifeline::open();
        let copied = relay(input.clone(), to);
        tokio::pin!(copied);
        tokio::select! {
            () = &mut copied => {}
            () = input.hung_up() => {
                // An error is the time that ran out.
                timeout(LAST_WORDS, copied).await.ok();
            }
        }
    }

    /// Copies the lifeline to the server until it ends. A server that reads no more does not end it.
    async fn relay(from: Lifeline, mut to: ChildStdin) {
        let mut buffer = vec![0; 64 << 10];
        let mut writable = true;
        while let Ok(len @ 1..) = from.read(&mut buffer).await {
            writable =
                writable && to.write_all(&buffer[..len]).await.is_ok() && to.flush().await.is_ok();
        }
    }

    /// Standard input.
    #[derive(Clone)]
    enum Lifeline {
        /// Tells its end before all that came was read.
        Pipe(Arc<pipe::Receiver>),
        /// A terminal or a file: somebody tries the guard by hand.
        Other,
    }

    impl Lifeline {
        fn open() -> Self {
            let pipe = io::stdin()
                .as_fd()
                .try_clone_to_owned()
                .and_then(pipe::Receiver::from_owned_fd);
            pipe.map_or(Self::Other, |pipe| Self::Pipe(Arc::new(pipe)))
        }

        async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
            let Self::Pipe(pipe) = self else {
                return tokio::io::stdin().read(buffer).await;
            };
            loop {
                pipe.readable().await?;
                match pipe.try_read(buffer) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    read => return read,
                }
            }
        }

        /// Waits until nobody holds the other end any more.
        async fn hung_up(&self) {
            if let Self::Pipe(pipe) = self {
                while let Ok(seen) = pipe.ready(Interest::READABLE).await {
                    if seen.is_read_closed() {
                        return;
                    }
                    // Something is still to be read: until then it is ready at once.
                    sleep(HANGUP_LOOK).await;
                }
            }
            std::future::pending().await
        }
    }
}
