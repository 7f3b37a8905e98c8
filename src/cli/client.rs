//! Reaching a server from the command line: the source, the session, and what an interrupt does.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use super::Done;
use super::args::{Link, SourceArgs};
use super::{config, output};
use crate::cancel::Cancel;
use crate::mcp::{self, CancelToken, Happening, Happenings, Listing, Options, Session, ToolList};
use crate::problem::{Kind, Problem};
use crate::report::json::message_line;
use crate::source::{Command, Http, SampleSpec, Source};

const CONNECT_LIMIT: Duration = Duration::from_secs(90);
const CALL_LIMIT: Duration = Duration::from_secs(60);
/// The exit status of an interrupt that will not wait.
const INTERRUPTED: i32 = 130;

impl SourceArgs {
    /// The source, if one is given.
    pub fn source(&self) -> Result<Option<Source>, Problem> {
        let is_command = !self.server.is_empty();
        if [self.sample.is_some(), self.url.is_some(), self.config.is_some(), is_command].iter().filter(|given| **given).count()
            > 1
        {
            return Err(usage("more than one SOURCE").hint("give one of --sample, --url URL, --config FILE and -- COMMAND"));
        }
        if !is_command && (self.cwd.is_some() || (!self.env.is_empty() && self.config.is_none())) {
            return Err(usage("--env and --cwd belong to a command").hint("add `-- COMMAND [ARG…]` at the end"));
        }
        if self.url.is_none() && !self.header.is_empty() {
            return Err(usage("--header belongs to a URL").hint("add `--url URL`"));
        }
        if let Some(sample) = &self.sample {
            return Ok(Some(Source::Sample(SampleSpec::parse(sample)?)));
        }
        if let Some(url) = &self.url {
            if !url.starts_with("http://") && !url.starts_with("https://") {
                return Err(usage("a URL starts with http:// or https://").at(url.clone()));
            }
            let headers = self.header.iter().map(|header| pair(header, ':', "--header")).collect::<Result<_, _>>()?;
            return Ok(Some(Source::Http(Http { url: url.clone(), headers })));
        }
        let env = self.env.iter().map(|variable| pair(variable, '=', "--env")).collect::<Result<Vec<_>, _>>()?;
        if let Some(file) = &self.config {
            return config::source(file, self.configured.as_deref(), &env).map(Some);
        }
        let mut words = self.server.iter().map(|word| {
            word.clone().into_string().map_err(|word| usage("not valid UTF-8").at(word.to_string_lossy().into_owned()))
        });
        let Some(program) = words.next().transpose()? else { return Ok(None) };
        let args = words.collect::<Result<_, _>>()?;
        Ok(Some(Source::Command(Command { program, args, env, cwd: self.cwd.clone() })))
    }

    /// The source; outside the window there has to be one.
    pub fn required(&self) -> Result<Source, Problem> {
        self.source()?
            .ok_or_else(|| usage("no SOURCE is given").hint("add --sample, --url URL, --config FILE or -- COMMAND [ARG…]"))
    }
}

/// `NAME=VALUE` or `NAME: VALUE`. The text is a secret, so no message repeats more than its name.
fn pair(text: &str, separator: char, option: &str) -> Result<(String, String), Problem> {
    let form = if separator == '=' { "K=V" } else { "'K: V'" };
    let wrong = || usage(format!("{option} takes {form}"));
    let (name, value) = text.split_once(separator).ok_or_else(wrong)?;
    let (name, value) = if separator == ':' { (name.trim(), value.trim()) } else { (name, value) };
    if name.is_empty() { Err(wrong()) } else { Ok((name.to_owned(), value.to_owned())) }
}

fn usage(what: impl Into<String>) -> Problem {
    Problem::new(Kind::Usage, what)
}

impl Link {
    fn connect_limit(&self) -> Duration {
        self.timeout.unwrap_or(CONNECT_LIMIT)
    }

    /// The time limit of one request.
    pub fn call_limit(&self) -> Duration {
        self.timeout.unwrap_or(CALL_LIMIT)
    }
}

/// A runtime for one command.
pub fn runtime() -> Result<Runtime, Problem> {
    Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Problem::new(Kind::Internal, format!("cannot start the runtime: {error}")))
}

/// What an interrupt (Ctrl-C) stops: the wait that is going on, and at the second time everything.
#[derive(Clone)]
pub struct Interrupt {
    /// Ends the call; its capture says so.
    pub call: CancelToken,
    /// Ends the computing of what is printed.
    pub jobs: Cancel,
    is_computing: Arc<AtomicBool>,
    told: watch::Receiver<bool>,
}

impl Interrupt {
    /// Starts to listen. Called within the runtime.
    fn listen() -> Self {
        let (tell, told) = watch::channel(false);
        let interrupt =
            Self { call: CancelToken::new(), jobs: Cancel::new(), is_computing: Arc::new(AtomicBool::new(false)), told };
        let heard = interrupt.clone();
        tokio::spawn(async move {
            // Where interrupts cannot be heard, the system's own way of ending the program is left in place.
            if tokio::signal::ctrl_c().await.is_err() {
                return;
            }
            // Asked first: once the call is over the computing of what came of it begins, which is not to be stopped.
            let is_computing = heard.is_computing.load(Ordering::SeqCst);
            heard.call.cancel();
            if is_computing {
                heard.jobs.cancel();
            }
            tell.send_replace(true);
            if tokio::signal::ctrl_c().await.is_ok() {
                std::process::exit(INTERRUPTED);
            }
        });
        interrupt
    }

    /// Waits for `work`, unless interrupted.
    pub async fn unless<T>(&self, work: impl Future<Output = T>) -> Result<T, Problem> {
        let mut told = self.told.clone();
        tokio::select! {
            done = work => Ok(done),
            Ok(_) = told.wait_for(|told| *told) => Err(interrupted()),
        }
    }

    /// From here on there is nothing to wait for but our own computing.
    fn compute(&self) {
        self.is_computing.store(true, Ordering::SeqCst);
    }
}

/// The failure of an interrupt.
pub fn interrupted() -> Problem {
    Problem::new(Kind::Cancelled, "interrupted")
}

/// Connects, does `work`, and prints its outcome with `then` while the session is being closed.
pub fn with_session<T>(
    source: &Source,
    link: &Link,
    quiet: bool,
    identity: Option<mcp::Identity>,
    work: impl AsyncFnOnce(&Session, &Interrupt) -> Result<T, Problem>,
    then: impl FnOnce(T, &Cancel) -> Done,
) -> Done {
    // Opened first: a call is not to be repeated because its transcript could not be written.
    let transcript = link.transcript.as_deref().map(TranscriptFile::create).transpose()?;
    let runtime = runtime()?;
    runtime.block_on(async {
        let interrupt = Interrupt::listen();
        let options = Options {
            connect_limit: link.connect_limit(),
            guard: std::env::current_exe().ok(),
            transcript: transcript.as_ref().map(TranscriptFile::taker),
            identity,
            ..Options::default()
        };
        let session = interrupt.unless(mcp::connect(source, options, happenings(quiet))).await??;
        let done = work(&session, &interrupt).await;
        let closing = tokio::spawn(session.close());
        let written = transcript.map_or(Ok(()), TranscriptFile::result);
        interrupt.compute();
        let status = match (done, written) {
            (Ok(done), Ok(())) => then(done, &interrupt.jobs),
            (Err(problem), _) | (Ok(_), Err(problem)) => Err(problem),
        };
        if let Err(error) = closing.await {
            output::note(quiet, &format!("the session did not end well: {error}"));
        }
        status
    })
}

/// The server's tools, within the time limit.
pub async fn list_tools(session: &Session, link: &Link, quiet: bool, interrupt: &Interrupt) -> Result<ToolList, Problem> {
    let limit = link.call_limit();
    let list = match interrupt.unless(tokio::time::timeout(limit, session.list_tools())).await? {
        Ok(list) => list?,
        Err(_elapsed) => {
            return Err(Problem::new(Kind::Timeout, format!("no answer to `tools/list` in {} s", limit.as_secs_f64()))
                .at(session.server().name.clone())
                .hint("allow more time with `--timeout SECONDS`"));
        }
    };
    if let Some(text) = &list.note {
        output::note(quiet, text);
    }
    Ok(list)
}

/// What the server lists of a kind, within the time limit; what is odd about the list is said.
pub async fn list(
    session: &Session,
    listing: Listing,
    link: &Link,
    quiet: bool,
    interrupt: &Interrupt,
) -> Result<Vec<Bytes>, Problem> {
    let limit = link.call_limit();
    let list = match interrupt.unless(tokio::time::timeout(limit, session.list(listing))).await? {
        Ok(list) => list?,
        Err(_elapsed) => {
            return Err(Problem::new(Kind::Timeout, format!("no list in {} s", limit.as_secs_f64()))
                .at(session.server().name.clone())
                .hint("allow more time with `--timeout SECONDS`"));
        }
    };
    if let Some(text) = &list.note {
        output::note(quiet, text);
    }
    Ok(list.entries)
}

fn happenings(quiet: bool) -> Happenings {
    Arc::new(move |happening| match happening {
        _ if quiet => {}
        Happening::Stderr(line) => output::server_line(&line),
        Happening::Phase(phase) => output::progress(&phase),
        Happening::Unreadable(count) => output::note(false, &format!("unreadable lines came: {count}")),
        Happening::Progress { progress, total, message } => {
            let of = total.map(|total| format!(" of {total}")).unwrap_or_default();
            output::progress(format!("{progress}{of} {}", message.unwrap_or_default()).trim_end());
        }
        // The wait that this ends reports it.
        Happening::Gone(_) | Happening::Messages(_) => {}
    })
}

/// The file of `--transcript`, written line by line while the messages pass, so that one is there whatever happens.
struct TranscriptFile {
    path: PathBuf,
    /// The file until writing fails, then why it did.
    state: Arc<Mutex<Result<File, std::io::Error>>>,
}

impl TranscriptFile {
    fn create(path: &Path) -> Result<Self, Problem> {
        let file = File::create(path)
            .map_err(|error| Problem::new(Kind::Io, format!("cannot create the file: {error}")).at(path.display().to_string()))?;
        Ok(Self { path: path.to_owned(), state: Arc::new(Mutex::new(Ok(file))) })
    }

    fn taker(&self) -> mcp::Transcript {
        let state = Arc::clone(&self.state);
        Arc::new(move |message| {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            if let Ok(file) = &mut *state
                && let Err(error) = file.write_all((message_line(message) + "\n").as_bytes())
            {
                *state = Err(error);
            }
        })
    }

    fn result(self) -> Result<(), Problem> {
        match &*self.state.lock().unwrap_or_else(PoisonError::into_inner) {
            Ok(_) => Ok(()),
            Err(error) => Err(Problem::new(Kind::Io, format!("cannot write: {error}")).at(self.path.display().to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args() -> SourceArgs {
        SourceArgs::default()
    }

    #[test]
    fn sources_are_read() {
        let source = |args: SourceArgs| args.source().unwrap().unwrap().to_string();
        assert_eq!(source(SourceArgs { sample: Some(String::new()), ..args() }), "--sample");
        assert_eq!(
            source(SourceArgs { url: Some("http://h/mcp".into()), header: vec!["X-Key:  a:b ".into()], ..args() }),
            "--url http://h/mcp --header 'X-Key: …'"
        );
        let command = SourceArgs { server: vec!["node".into(), "a b.js".into()], env: vec!["K=a=b".into()], ..args() };
        assert_eq!(source(command.clone()), "--env K=… -- node 'a b.js'");
        let Some(Source::Command(command)) = command.source().unwrap() else { panic!("a command") };
        assert_eq!(command.env, [("K".to_owned(), "a=b".to_owned())]);
        assert_eq!(args().source().unwrap(), None);
    }

    #[test]
    fn wrong_sources_say_what_is_wrong_without_the_secret() {
        let refused = |args: SourceArgs| args.required().unwrap_err().message();
        assert_eq!(refused(args()), "no SOURCE is given");
        assert_eq!(
            refused(SourceArgs { sample: Some("all".into()), url: Some("http://x".into()), ..args() }),
            "more than one SOURCE"
        );
        assert_eq!(refused(SourceArgs { env: vec!["A=1".into()], ..args() }), "--env and --cwd belong to a command");
        assert_eq!(refused(SourceArgs { env: vec!["s3cret".into()], server: vec!["x".into()], ..args() }), "--env takes K=V");
        assert_eq!(
            refused(SourceArgs { url: Some("localhost:1".into()), ..args() }),
            "a URL starts with http:// or https:// (localhost:1)"
        );
    }
}
