//! Reaching a server from the command line: the source, the session, and what an interrupt does.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use bytes::Bytes;
use clap::Parser;
use tokio::runtime::Runtime;
use tokio::sync::watch;

use super::Done;
use super::args::{LinkArgs, SourceArgs, SourceLineArgs};
use super::pairs::pairs;
use super::{config, login, output, save_args, server_request_args, suggest};
use loupe_analysis::contract::message_line;
use loupe_client::{
    self, CancelToken, ClientCapabilities, Listing, OnSessionEvent, Options, Session, SessionEvent,
};
use loupe_core::cancel::Cancel;
use loupe_core::capture::{Capture, CaptureId, Outcome, Server, ServerLists, Step, Tool};
use loupe_core::number::number_of;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::redact::SecretList;
use loupe_core::source::{
    Command, Grant, Http, Limits, Login, MemoryChanges, MemoryField, MemoryValue, Protocol,
    SampleSpec, Source, Speaks, Transport, is_web, redact_url, server_key,
};

const CONNECT_LIMIT: Duration = Duration::from_secs(90);
const CALL_LIMIT: Duration = Duration::from_secs(60);
/// The exit status of an interrupt that will not wait.
const INTERRUPTED: i32 = 130;
/// How often a time limit is looked at while nothing is waited for.
const LOOK: Duration = Duration::from_millis(50);
/// How long what is under way may take to end by itself after an interrupt.
const PATIENCE: Duration = Duration::from_millis(700);

impl SourceArgs {
    /// The source, if one is given. What is secret in it is known from then on.
    pub fn source(&self) -> Result<Option<Source>, Problem> {
        let source = self.read()?;
        source
            .iter()
            .for_each(|source| output::known().add_source(source));
        Ok(source)
    }

    fn read(&self) -> Result<Option<Source>, Problem> {
        let is_command = !self.server.is_empty();
        if [
            self.sample.is_some(),
            self.url.is_some(),
            self.config.is_some(),
            self.fixture.is_some(),
            is_command,
        ]
        .iter()
        .filter(|given| **given)
        .count()
            > 1
        {
            return Err(usage("more than one SOURCE").hint(
                "use one of --sample, --url URL, --config FILE, --fixture DIR and -- COMMAND",
            ));
        }
        let has_variables = !self.env.is_empty() || !self.env_file.is_empty() || self.clean_env;
        if !is_command && (self.cwd.is_some() || (has_variables && self.config.is_none())) {
            let what = "--env, --env-file, --clean-env and --cwd belong to a command";
            return Err(usage(what).hint("add `-- COMMAND [ARG…]` at the end"));
        }
        if self.url.is_none() && !(self.header.is_empty() && self.header_file.is_empty()) {
            return Err(usage("--header and --header-file belong to a URL").hint("add `--url URL`"));
        }
        let protocol = self
            .protocol
            .as_deref()
            .map_or(Ok(Protocol::Auto), Protocol::parse)?;
        let transport = self
            .transport
            .as_deref()
            .map_or(Ok(Transport::Auto), Transport::parse)?;
        if self.url.is_none()
            && self.config.is_none()
            && (self.transport.is_some() || self.cacert.is_some())
        {
            return Err(usage("--transport and --cacert belong to a URL").hint("add `--url URL`"));
        }
        if self.login.is_some() && self.url.is_none() && self.config.is_none() {
            return Err(usage("--login belongs to a URL")
                .hint("add `--url URL`, or `--config FILE` for a server at one"));
        }
        if let Some(sample) = &self.sample {
            return Ok(Some(Source::Sample(SampleSpec {
                protocol,
                ..SampleSpec::parse(sample)?
            })));
        }
        if let Some(url) = &self.url {
            if !is_web(url) {
                return Err(usage("a URL starts with http:// or https://").at(redact_url(url)));
            }
            let headers = pairs("--header", ':', &self.header, &self.header_file)?;
            return Ok(Some(Source::Http(Http {
                name: None,
                url: url.clone(),
                headers,
                transport,
                protocol,
                cacert: self.cacert.clone(),
                login: self.login(),
            })));
        }
        if let Some(folder) = &self.fixture {
            if protocol != Protocol::Auto {
                return Err(usage("--protocol says nothing to captures")
                    .hint("they answer as they were recorded"));
            }
            return Ok(Some(Source::Fixture(folder.clone())));
        }
        let env = pairs("--env", '=', &self.env, &self.env_file)?;
        if let Some(file) = &self.config {
            let mut source =
                config::source(file, self.configured.as_deref(), &env)?.with_protocol(protocol);
            match &mut source {
                Source::Command(command) => command.is_clean = self.clean_env,
                _ if self.clean_env => {
                    return Err(usage("--clean-env belongs to a command")
                        .hint("this server of the file is at a URL"));
                }
                _ => {}
            }
            if let Source::Http(http) = &mut source {
                http.cacert.clone_from(&self.cacert);
                if self.transport.is_some() {
                    http.transport = transport;
                }
            }
            return self.with_login(source).map(Some);
        }
        let mut words = self.server.iter().map(|word| {
            word.clone()
                .into_string()
                .map_err(|word| usage("not valid UTF-8").at(word.to_string_lossy().into_owned()))
        });
        let Some(program) = words.next().transpose()? else {
            return Ok(None);
        };
        let args = words.collect::<Result<_, _>>()?;
        let (cwd, is_clean) = (self.cwd.clone(), self.clean_env);
        Ok(Some(Source::Command(Command {
            name: None,
            program,
            args,
            env,
            cwd,
            is_clean,
            protocol,
        })))
    }

    /// How to log in, if that is asked for.
    fn login(&self) -> Option<Login> {
        let word = self.login.as_deref()?;
        let grant = word.parse::<Grant>().unwrap_or_default();
        Some(Login {
            grant,
            client_id: self.client_id.clone(),
            client_secret: self.client_secret.clone(),
            client_key: self.client_key.clone(),
            assertion: self.assertion.clone(),
            idp: self.idp.clone(),
            idp_client_id: self.idp_client_id.clone(),
            idp_client_secret: self.idp_client_secret.clone(),
            server: self.authorization_server.clone(),
            asks: false,
        })
    }

    /// The same for a server from a configuration.
    fn with_login(&self, source: Source) -> Result<Source, Problem> {
        match (source, self.login()) {
            (Source::Http(http), Some(login)) => Ok(Source::Http(Http {
                login: Some(login),
                ..http
            })),
            (_, Some(_)) => {
                Err(usage("--login belongs to a URL").hint("this server of the file is a command"))
            }
            (source, None) => Ok(source),
        }
    }

    /// The source; outside the window there has to be one.
    pub fn required(&self) -> Result<Source, Problem> {
        self.source()?.ok_or_else(|| {
            usage("no SOURCE is given")
                .hint("add --sample, --url URL, --config FILE, --fixture DIR or -- COMMAND [ARG…]")
        })
    }
}

/// A SOURCE that is in one text, with `${NAME}` filled from the environment; `place` says where it stands.
pub fn source_line(written: &str, place: &str) -> Result<Source, Problem> {
    let wrong = |what: String| usage(what).at(place);
    let words =
        shell_words::split(written).map_err(|_| wrong("a quote is not closed".to_owned()))?;
    let words = words
        .iter()
        .map(|word| parse_filled(word).map_err(&wrong))
        .collect::<Result<Vec<_>, _>>()?;
    let line = SourceLineArgs::try_parse_from(words).map_err(|error| {
        let what = error.to_string();
        wrong(
            what.lines()
                .next()
                .unwrap_or_default()
                .trim_start_matches("error: ")
                .replace('\'', "`"),
        )
    })?;
    line.source.required().map_err(|problem| problem.at(place))
}

/// A word with each `${NAME}` replaced by the variable's value. The value may be a secret, so that no message has it.
fn parse_filled(word: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = word;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, tail)) = after.split_once('}') else {
            return Err("a `${` is not closed".to_owned());
        };
        out.push_str(before);
        out.push_str(
            &std::env::var(name).map_err(|_| format!("the variable `{name}` is not set"))?,
        );
        rest = tail;
    }
    out.push_str(rest);
    Ok(out)
}

fn usage(what: impl Into<String>) -> Problem {
    Problem::new(ProblemKind::Usage, what)
}

impl LinkArgs {
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
    loupe_client::runtime().map_err(|error| {
        Problem::new(
            ProblemKind::Internal,
            format!("cannot start the runtime: {error}"),
        )
    })
}

/// What an interrupt (Ctrl-C) stops: the wait that is going on, and everything at the second time or after a moment.
#[derive(Clone)]
pub struct Interrupt {
    /// Ends the call; its capture says so.
    pub call: CancelToken,
    /// Ends the computing of what is printed.
    pub jobs: Cancel,
    is_computing: Arc<AtomicBool>,
    interrupted: watch::Receiver<bool>,
}

impl Interrupt {
    /// Starts to listen, on a thread of its own: whatever all others compute, an interrupt is heard. What does not stop
    /// within [`PATIENCE`] is ended.
    pub fn listen() -> Result<Self, Problem> {
        let failed = |error| {
            Problem::new(
                ProblemKind::Internal,
                format!("cannot listen for interrupts: {error}"),
            )
        };
        let (interrupt_all, interrupted) = watch::channel(false);
        let interrupt = Self {
            call: CancelToken::new(),
            jobs: Cancel::new(),
            is_computing: Arc::new(AtomicBool::new(false)),
            interrupted,
        };
        let listener = interrupt.clone();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(failed)?;
        let hear = move || runtime.block_on(listener.hear(&interrupt_all));
        std::thread::Builder::new()
            .name("loupe-interrupt".into())
            .spawn(hear)
            .map_err(failed)?;
        Ok(interrupt)
    }

    async fn hear(&self, interrupt_all: &watch::Sender<bool>) {
        // Where interrupts cannot be heard, the system's own way of ending the program is left in place.
        if tokio::signal::ctrl_c().await.is_err() {
            return;
        }
        // Asked first: once the call is over the computing of what came of it begins, which is not to be stopped.
        let is_computing = self.is_computing.load(Ordering::SeqCst);
        self.call.cancel();
        if is_computing {
            self.jobs.cancel();
        }
        interrupt_all.send_replace(true);
        // What is known by then is printed in whole, unless its reader stands still.
        let at_once = tokio::time::timeout(PATIENCE, tokio::signal::ctrl_c()).await;
        if at_once.is_err() && output::has_begun() && tokio::signal::ctrl_c().await.is_err() {
            return;
        }
        // On a thread of its own: stderr may be a pipe that nobody reads.
        let (done, is_done) = mpsc::channel();
        std::thread::spawn(move || {
            output::report_interrupt();
            done.send(()).ok();
        });
        is_done.recv_timeout(LOOK).ok();
        std::process::exit(INTERRUPTED);
    }

    /// Waits for `work`, unless interrupted.
    pub async fn unless<T>(&self, work: impl Future<Output = T>) -> Result<T, Problem> {
        let mut interrupted = self.interrupted.clone();
        tokio::select! {
            done = work => Ok(done),
            Ok(_) = interrupted.wait_for(|is| *is) => Err(Problem::interrupted()),
        }
    }

    /// From here on there is nothing to wait for but our own computing.
    fn compute(&self) {
        self.is_computing.store(true, Ordering::SeqCst);
    }
}

/// Does what waits for nothing but our own computing. An interrupt ends it where it looks, the second one everything.
pub fn computing<T>(work: impl FnOnce(&Cancel) -> Result<T, Problem>) -> Result<T, Problem> {
    let interrupt = Interrupt::listen()?;
    interrupt.compute();
    work(&interrupt.jobs)
}

/// Ends the program where, for as long as the limit that the user gave, no server is waited for and nothing is shown, as
/// with a text of many megabytes that is one word; until what is returned is dropped.
fn bounded(
    limit: Duration,
    is_waiting: impl Fn() -> bool + Send + 'static,
) -> Result<mpsc::Sender<()>, Problem> {
    let (done, over) = mpsc::channel();
    let watch = move || {
        let mut since = Instant::now();
        while over.recv_timeout(LOOK) == Err(mpsc::RecvTimeoutError::Timeout) {
            // Whoever reads what is shown may take their time.
            if is_waiting() || output::has_begun() {
                since = Instant::now();
            } else if since.elapsed() >= limit {
                let what = format!(
                    "what came could not be read, counted and shown within {} s",
                    limit.as_secs_f64()
                );
                let problem = Problem::new(ProblemKind::Timeout, what)
                    .hint("raise the time limit (`--timeout`), or ask for less");
                output::problem(&problem);
                std::process::exit(problem.kind.exit_status().into());
            }
        }
    };
    let failed = |error| {
        Problem::new(
            ProblemKind::Internal,
            format!("cannot watch the time limit: {error}"),
        )
    };
    std::thread::Builder::new()
        .name("loupe-limit".into())
        .spawn(watch)
        .map_err(failed)?;
    Ok(done)
}

/// Which revision a server was found to speak, kept next to what the window remembers of it.
struct ServerSpeaks {
    folder: PathBuf,
    key: String,
    spoken: Option<Speaks>,
}

impl ServerSpeaks {
    /// What is remembered. A file that cannot be read costs a question to the server, no more.
    fn read(source: &Source, link: &LinkArgs) -> Option<Self> {
        let folder = settings_folder(link.data.data_dir.as_deref())?;
        let here = std::env::current_dir().ok();
        let key = server_key(source, here.as_deref())?;
        let mut servers = crate::store::read_servers(&folder).unwrap_or_default();
        let spoken = servers.remove(&key).and_then(|memory| memory.speaks);
        Some(Self {
            folder,
            key,
            spoken,
        })
    }

    /// Remembers the revision of a server that complains about `server/discover`, so that it is not asked again.
    fn keep(self, session: &Session, quiet: bool) {
        let (noise, server) = (session.discovery_noise(), session.server());
        let after = Speaks::after(self.spoken.as_ref(), server, noise > 0);
        if after == self.spoken {
            return;
        }
        let source = MemoryValue::Text(server.source.clone());
        let changes = MemoryChanges::from([
            ((self.key.clone(), MemoryField::Source), Some(source)),
            (
                (self.key, MemoryField::Speaks),
                after.map(MemoryValue::Speaks),
            ),
        ]);
        let kept = match crate::store::change_servers(&self.folder, changes) {
            Ok(_) => "it is not asked again",
            Err(_) => "`--protocol` skips the question",
        };
        if noise > 0 {
            let text = format!(
                "the server speaks {} and printed {} about `server/discover`, which are not shown; {kept}",
                server.protocol_version,
                number_of(noise, "lines")
            );
            output::note(quiet, &text);
        }
    }
}

/// Where settings are kept: the folder of `--data-dir`, else the user's own.
fn settings_folder(data_dir: Option<&Path>) -> Option<PathBuf> {
    data_dir
        .map(Path::to_owned)
        .or_else(crate::store::settings_folder)
}

/// How to connect, as the command line says.
pub fn options(link: &LinkArgs, answering: ClientCapabilities, limits: Limits) -> Options {
    Options {
        in_process: Some(crate::in_process::start),
        connect_limit: link.connect_limit(),
        guard: std::env::current_exe().ok(),
        transcript: None,
        identity: link.identity.clone(),
        speaks: None,
        answering,
        limits,
        logins: logins(link),
        known: output::known().clone(),
    }
}

/// The file of `--transcript`.
pub fn transcript(link: &LinkArgs) -> Result<Option<TranscriptFile>, Problem> {
    link.transcript
        .as_deref()
        .map(TranscriptFile::create)
        .transpose()
}

/// Connects, does `work`, and prints its outcome with `then` while the session is being closed.
pub fn with_session<T>(
    source: &Source,
    link: &LinkArgs,
    quiet: bool,
    work: impl AsyncFnOnce(&Client<'_>) -> Result<T, Problem>,
    then: impl FnOnce(T, &Cancel) -> Done,
) -> Done {
    let answering = server_request_args::answering(&link.answers, quiet)?;
    let limits = limits(&link.limit)?;
    // Opened first: a call is not to be repeated because its transcript could not be written.
    let transcript = transcript(link)?;
    let known = output::known();
    known.add_source(source);
    let memory = ServerSpeaks::read(source, link);
    let spoken = memory.as_ref().and_then(|memory| memory.spoken.clone());
    let runtime = runtime()?;
    runtime.block_on(async {
        let interrupt = Interrupt::listen()?;
        let options = Options {
            transcript: transcript.as_ref().map(|file| file.taker(known.clone())),
            speaks: spoken.as_ref().and_then(Speaks::revision),
            ..options(link, answering, limits)
        };
        let steps = Arc::new(Mutex::new(Vec::new()));
        let session = match interrupt
            .unless(loupe_client::connect(
                source,
                options,
                on_event(quiet, link.yes, Arc::clone(&steps)),
            ))
            .await?
        {
            Ok(session) => session,
            Err(error) => {
                if !quiet {
                    tell(&steps.lock().unwrap_or_else(PoisonError::into_inner));
                }
                return Err(known.problem(error.into()));
            }
        };
        if let Some(memory) = memory {
            memory.keep(&session, quiet);
        }
        let bound = link
            .timeout
            .map(|limit| bounded(limit, session.waiting()))
            .transpose()?;
        let client = Client {
            session: &session,
            interrupt: &interrupt,
            link,
            quiet,
        };
        let done = work(&client)
            .await
            .map_err(|problem| known.problem(problem));
        let stray = session
            .strays()
            .map(|(count, first)| known.words(&stray(count, &first)).into_owned());
        let closing = tokio::spawn(session.leave());
        let written = transcript.map_or(Ok(()), TranscriptFile::result);
        interrupt.compute();
        let status = match (done.and_then(|done| then(done, &interrupt.jobs)), written) {
            // What came is printed all the same: a full disk costs the transcript, not the answer.
            (Ok(_), Err(problem)) => {
                output::problem(&problem);
                Ok(problem.kind.exit_status())
            }
            (status, _) => status,
        };
        drop(bound);
        stray.iter().for_each(|text| output::note(quiet, text));
        if let Err(error) = closing.await {
            output::note(quiet, &format!("the session did not end cleanly: {error}"));
        }
        status
    })
}

/// A session as commands use it: each request has its time limit, an interrupt ends the wait, and progress is said.
pub struct Client<'a> {
    pub session: &'a Session,
    interrupt: &'a Interrupt,
    link: &'a LinkArgs,
    quiet: bool,
}

impl Client<'_> {
    pub fn server(&self) -> Server {
        self.session.server().clone()
    }

    /// The server's tools; what is odd about the list is said.
    pub async fn tools(&self) -> Result<Vec<Tool>, Problem> {
        let list = self
            .interrupt
            .unless(self.session.list_tools(self.link.call_limit()))
            .await??;
        list.note
            .iter()
            .for_each(|text| output::note(self.quiet, text));
        Ok(list.tools)
    }

    /// The tool of this name.
    pub async fn tool(&self, name: &str) -> Result<Tool, Problem> {
        find_tool(name, &self.tools().await?).cloned()
    }

    /// What the server lists of a kind; what is odd about the list is said.
    pub async fn list(&self, listing: Listing) -> Result<Vec<Bytes>, Problem> {
        let list = self
            .interrupt
            .unless(self.session.list(listing, self.link.call_limit()))
            .await??;
        list.note
            .iter()
            .for_each(|text| output::note(self.quiet, text));
        Ok(list.entries)
    }

    /// All that the server lists.
    pub async fn lists(&self) -> Result<ServerLists, Problem> {
        let note = |text: &str| output::note(self.quiet, text);
        Ok(self
            .interrupt
            .unless(self.session.lists(|| self.link.call_limit(), note))
            .await??)
    }

    /// A call that is not made yet.
    pub fn prepare(
        &self,
        id: CaptureId,
        tool: &Tool,
        arguments: impl Into<Bytes>,
    ) -> loupe_client::Call {
        loupe_client::Call {
            id,
            tool: tool.clone(),
            arguments: arguments.into(),
            limit: self.link.call_limit(),
        }
    }

    /// Makes a call; `message` says what is waited for.
    pub async fn call(&self, message: &str, call: loupe_client::Call) -> Capture {
        self.progress(message);
        self.session.call(call, self.interrupt.call.clone()).await
    }

    /// Makes calls one after the other, each with what is said while it is out. What came stays, whatever happens to a
    /// later call.
    pub async fn calls(
        &self,
        calls: impl Iterator<Item = (String, loupe_client::Call)>,
    ) -> Vec<Capture> {
        let mut captures = Vec::new();
        for (message, call) in calls {
            let capture = self.call(&message, call).await;
            // Where the server went away or somebody lost patience, there is nobody left to call, or to call for.
            let is_over = matches!(capture.outcome, Outcome::Cancelled | Outcome::Disconnected);
            captures.push(capture);
            if is_over {
                break;
            }
        }
        captures
    }

    /// Asks for a resource or a prompt.
    pub async fn read(
        &self,
        message: &str,
        id: CaptureId,
        method: &'static str,
        params: String,
    ) -> Capture {
        self.progress(message);
        let asking = loupe_client::ContentRequest {
            id,
            method,
            params: params.into(),
            limit: self.link.call_limit(),
        };
        self.session.read(asking, self.interrupt.call.clone()).await
    }

    /// Fails once the user has interrupted.
    pub fn check(&self) -> Result<(), Problem> {
        if self.interrupt.call.is_cancelled() {
            Err(Problem::interrupted())
        } else {
            Ok(())
        }
    }

    fn progress(&self, message: &str) {
        if !self.quiet {
            output::progress(message);
        }
    }
}

/// The tool of this name among those that the server lists.
pub fn find_tool<'a>(name: &str, tools: &'a [Tool]) -> Result<&'a Tool, Problem> {
    tools.iter().find(|tool| tool.name == name).ok_or_else(|| {
        let hint = suggest::hint(name, tools.iter().map(|tool| tool.name.as_str()));
        let hint = hint.unwrap_or_else(|| "`mcp-loupe tools` lists the server's tools".to_owned());
        Problem::new(ProblemKind::NotFound, "the server lists no such tool")
            .at(name.to_owned())
            .hint(hint)
    })
}

/// Lines that were no messages, in one sentence at the end: a flood of them would bury everything else.
fn stray(count: u64, first: &str) -> String {
    let (are, of) = if count == 1 {
        ("line is no MCP message:", "")
    } else {
        ("lines are no MCP messages", ", the first")
    };
    format!(
        "{} {are}{of} `{first}`; standard output is for messages alone, so print logs to stderr",
        loupe_core::number::grouped(count)
    )
}

/// How far a connection came that did not come about. One step alone is the failure itself.
fn tell(steps: &[Step]) {
    if steps.len() > 1 {
        steps.iter().for_each(|step| output::step(&step.line()));
    }
}

/// What `--limit` says.
pub fn limits(given: &[String]) -> Result<Limits, Problem> {
    let mut limits = Limits::default();
    for given in given {
        let (word, value) = given.split_once('=').ok_or_else(|| {
            Problem::new(ProblemKind::Usage, format!("`{given}` is not NAME=VALUE"))
                .at("--limit")
                .hint(format!("NAME is one of {}", Limits::words()))
        })?;
        limits.set(word, value).map_err(|problem| {
            let place = format!("--limit {given}");
            problem.at(place)
        })?;
    }
    Ok(limits)
}

/// Where logins are kept: the system's keychain, else a file in the folder of `--data-dir` or the one for settings.
fn logins(link: &LinkArgs) -> loupe_client::login::LoginStore {
    keep(link.data.data_dir.as_deref())
}

/// The same for a folder of `--data-dir`.
pub fn keep(data_dir: Option<&Path>) -> loupe_client::login::LoginStore {
    loupe_client::login::LoginStore {
        keychain: true,
        folder: settings_folder(data_dir),
    }
}

fn on_event(quiet: bool, yes: bool, steps: Arc<Mutex<Vec<Step>>>) -> OnSessionEvent {
    Arc::new(move |event| match event {
        SessionEvent::Step(step) => steps
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(step),
        SessionEvent::Login(step) => login::step(&step, quiet, yes),
        _ if quiet => {}
        SessionEvent::Stderr(line) => output::server_line(&line),
        SessionEvent::Phase(phase) => output::progress(&phase),
        SessionEvent::Progress {
            progress,
            total,
            message,
        } => {
            let of = total
                .map(|total| format!(" of {total}"))
                .unwrap_or_default();
            output::progress(format!("{progress}{of} {}", message.unwrap_or_default()).trim_end());
        }
        SessionEvent::Log {
            level,
            logger,
            data,
        } => {
            let logger = logger
                .map(|logger| format!(" {logger}"))
                .unwrap_or_default();
            output::server_line(&format!("[{level}{logger}] {data}"));
        }
        SessionEvent::Task {
            status, message, ..
        } => {
            output::progress(format!("task {status} {}", message.unwrap_or_default()).trim_end());
        }
        SessionEvent::Withdrawn { why, .. } => output::note(false, &why),
        SessionEvent::Visited { .. } => output::note(
            false,
            "the server says that the step at that address is complete",
        ),
        SessionEvent::Noted(text) => output::note(false, &text),
        // The wait that this ends reports it; lists are read once here, and lines that are no messages summed up at the end.
        SessionEvent::Gone(_)
        | SessionEvent::Unreadable(_)
        | SessionEvent::Messages(_)
        | SessionEvent::Http { .. }
        | SessionEvent::ListChanged(_)
        | SessionEvent::ResourceUpdated(_) => {}
    })
}

/// The file of `--transcript`, written line by line while the messages pass, so that one is there whatever happens.
pub struct TranscriptFile {
    path: PathBuf,
    /// The file until writing fails, then why it did.
    state: Arc<Mutex<Result<File, std::io::Error>>>,
}

impl TranscriptFile {
    fn create(path: &Path) -> Result<Self, Problem> {
        let file = save_args::stream(path)?;
        Ok(Self {
            path: path.to_owned(),
            state: Arc::new(Mutex::new(Ok(file))),
        })
    }

    /// Takes messages down without what is known to be secret by then.
    pub fn taker(&self, known: SecretList) -> loupe_client::Transcript {
        let state = Arc::clone(&self.state);
        Arc::new(move |line| {
            let message = known.message(&line.message());
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            if let Ok(file) = &mut *state
                && let Err(error) = file.write_all((message_line(&message) + "\n").as_bytes())
            {
                *state = Err(error);
            }
        })
    }

    pub fn result(self) -> Result<(), Problem> {
        match &*self.state.lock().unwrap_or_else(PoisonError::into_inner) {
            Ok(_) => Ok(()),
            Err(error) => Err(
                Problem::new(ProblemKind::Io, format!("cannot write: {error}"))
                    .at(self.path.display().to_string()),
            ),
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
        assert_eq!(
            source(SourceArgs {
                sample: Some(String::new()),
                ..args()
            }),
            "--sample"
        );
        assert_eq!(
            source(SourceArgs {
                url: Some("http://h/mcp".into()),
                header: vec!["X-Key:  a:b ".into()],
                ..args()
            }),
            "--url http://h/mcp --header 'X-Key: …'"
        );
        let command = SourceArgs {
            server: vec!["node".into(), "a b.js".into()],
            env: vec!["K=a=b".into()],
            ..args()
        };
        assert_eq!(source(command.clone()), "--env K=… -- node 'a b.js'");
        let Some(Source::Command(command)) = command.source().unwrap() else {
            panic!("a command")
        };
        assert_eq!(command.env, [("K".to_owned(), "a=b".to_owned())]);
        assert_eq!(args().source().unwrap(), None);
    }

    #[test]
    fn wrong_sources_say_what_is_wrong_without_the_secret() {
        let refused = |args: SourceArgs| args.required().unwrap_err().message();
        assert_eq!(refused(args()), "no SOURCE is given");
        assert_eq!(
            refused(SourceArgs {
                sample: Some("all".into()),
                url: Some("http://x".into()),
                ..args()
            }),
            "more than one SOURCE"
        );
        for args in [
            SourceArgs {
                env: vec!["A=1".into()],
                ..args()
            },
            SourceArgs {
                env_file: vec!["a".into()],
                ..args()
            },
            SourceArgs {
                clean_env: true,
                url: Some("http://x".into()),
                ..args()
            },
        ] {
            assert_eq!(
                refused(args),
                "--env, --env-file, --clean-env and --cwd belong to a command"
            );
        }
        let headers = SourceArgs {
            header_file: vec!["a".into()],
            server: vec!["x".into()],
            ..args()
        };
        assert_eq!(
            refused(headers),
            "--header and --header-file belong to a URL"
        );
        assert_eq!(
            refused(SourceArgs {
                env: vec!["s3cret".into()],
                server: vec!["x".into()],
                ..args()
            }),
            "--env takes K=V"
        );
        assert_eq!(
            refused(SourceArgs {
                url: Some("localhost:1".into()),
                ..args()
            }),
            "a URL starts with http:// or https:// (localhost:1)"
        );
    }
}
