//! Connecting: starting or reaching the server, finding out which era it is of, and the handshake where there is one.
//!
//! The probe is `server/discover`, with an id that no later request has. A server that knows it is stateless; one that
//! answers with an error of that era names the versions it speaks; any other answer, a refusal for want of credentials
//! too, or none for a while, means `initialize`. Silence never decides: `initialize` goes out next to the open question,
//! and what is answered first counts, so that a server that starts slowly is neither given up nor spoilt. A program that
//! ends on the probe is started again without it.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::RoleClient;
use rmcp::model::ClientConfig;
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, ClientServiceExt, RunningService};
use tokio::io::DuplexStream;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::envelope::{PROBE, PROBE_TEXT};
use super::era::Era;
use super::error::Error;
use super::handshake::{self, Refusal, Verdict};
use super::http_client::Client;
use super::session::{CloseOnDrop, Link, Listening, Session};
use super::tap::{Outbox, PendingRequest, SdkEnd, Tap};
use super::tasks::TASKS;
use super::{
    Note, Options, QUEUE, SessionEvent, child, http, http_sse, lines_link, read_lines, why_ended,
};
use loupe_core::capture::{Server, StepState};
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::source::{self, Identity, Protocol, Source, Transport};

/// How long a server may be silent on the probe before `initialize` is sent as well.
const SILENCE: Duration = Duration::from_secs(3);
/// How often a version that the server names is tried.
const VERSIONS_TRIED: usize = 3;
/// What is proposed in a handshake.
const HANDSHAKE: &str = "2025-11-25";
/// What is asked of a stateless server.
const STATELESS: &str = "2026-07-28";

/// How the era is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plan {
    /// By a handshake that proposes this version.
    Initialize(&'static str),
    /// By the probe; where it is pinned nothing else is tried.
    Discover { pinned: bool },
}

/// What came of it.
enum Agreed {
    Handshake {
        server: Server,
        sdk: Box<RunningService<RoleClient, ClientConfig>>,
    },
    Stateless {
        server: Server,
    },
}

pub(super) async fn open(
    source: &Source,
    options: &Options,
    tap: &Arc<Tap>,
) -> Result<Session, Error> {
    // From here on, leaving by any way closes what was opened.
    let shut = CloseOnDrop(Arc::clone(tap));
    let who = ClientIdentity::new(options);
    let mut plan = plan(source, &who)?;
    // What it spoke last time is tried first, and is forgotten where it is refused.
    let mut is_known = None;
    if let (Plan::Discover { pinned: false }, Some(version)) = (plan, options.speaks) {
        is_known = Some(plan);
        plan = Plan::Initialize(version);
    }
    let mut link = start(source, options, tap).await?;
    let mut is_first_try = true;
    let agreed = loop {
        let error = match agree(tap, &link, &who, plan).await {
            Ok(agreed) => break agreed,
            Err(error) => error,
        };
        let is_open = is_first_try && matches!(plan, Plan::Discover { pinned: false });
        if let Some(open) = is_known.take() {
            tap.end_step(
                &format!("{error}; the revision is found anew"),
                StepState::Passed,
            );
            drop(link);
            link = start(source, options, tap).await?;
            plan = open;
            continue;
        }
        is_first_try = false;
        match (source, error.root()) {
            (Source::Command(_), Error::Disconnected { how, .. }) if is_open => {
                tap.end_step(
                    &format!("{how}; it is started again, without `server/discover`"),
                    StepState::Passed,
                );
                drop(link);
                link = start(source, options, tap).await?;
                plan = Plan::Initialize(who.proposed());
            }
            (Source::Http(http), Error::HttpStatus { status, .. })
                if http.transport == Transport::Auto
                    && matches!(link, Link::Http(_))
                    && plan != Plan::Discover { pinned: true }
                    && ["400", "404", "405"]
                        .iter()
                        .any(|code| status.starts_with(code)) =>
            {
                tap.end_step(&format!("{error}; HTTP+SSE is tried"), StepState::Passed);
                // What Streamable HTTP said is more to the point than that there is no stream either.
                let Ok(stream) =
                    http_sse::open(client(http, options, tap).await?, Arc::clone(tap)).await
                else {
                    return Err(error);
                };
                tap.open(stream);
                link = Link::Sse;
                if plan == (Plan::Discover { pinned: false }) {
                    plan = Plan::Initialize(who.proposed());
                }
            }
            _ => return Err(error),
        }
    };
    tap.establish(match &agreed {
        Agreed::Handshake { server, .. } | Agreed::Stateless { server } => &server.protocol_version,
    })?;
    let transport = if matches!(link, Link::Sse) {
        "sse"
    } else {
        source.transport()
    };
    let (server, sdk, era) = match agreed {
        Agreed::Handshake { server, sdk } => (server, Some(sdk), Era::default()),
        Agreed::Stateless { server } => {
            let era = Era::stateless(&server.protocol_version, &who.alone);
            (server, None, era)
        }
    };
    if let (Link::Http(link), false) = (&link, era.is_stateless()) {
        link.listen_aside();
    }
    let given_name = source.name().map(str::to_owned);
    let server = Server {
        transport: transport.into(),
        source: source.to_string(),
        given_name,
        ..server
    };
    let called_as = options.identity.as_ref().map(Identity::note);
    Ok(Session {
        server,
        called_as,
        tap: Arc::clone(tap),
        shut,
        listening: Listening::default(),
        sdk,
        link,
        era,
    })
}

/// Who we say we are, in either era.
struct ClientIdentity {
    /// In a handshake.
    shaking: Identity,
    /// Where each request stands alone, with what only that era has.
    alone: Identity,
}

impl ClientIdentity {
    fn new(options: &Options) -> Self {
        if let Some(identity) = &options.identity {
            return Self {
                shaking: identity.clone(),
                alone: identity.clone(),
            };
        }
        let capabilities = options.answering.capabilities();
        let rest = capabilities.strip_prefix('{').unwrap_or("}");
        let comma = if rest == "}" { "" } else { "," };
        let alone = Identity::own(format!(r#"{{"extensions":{{"{TASKS}":{{}}}}{comma}{rest}"#));
        Self {
            shaking: Identity::own(capabilities),
            alone,
        }
    }

    /// What is proposed in a handshake, where neither the user nor the server named a revision.
    fn proposed(&self) -> &'static str {
        self.shaking
            .greeting
            .map_or(HANDSHAKE, |greeting| greeting.proposes)
    }

    /// Whether `server/discover` is asked, where no person named a revision.
    fn discovers(&self) -> bool {
        self.shaking
            .greeting
            .is_none_or(|greeting| greeting.discovers)
    }
}

fn plan(source: &Source, who: &ClientIdentity) -> Result<Plan, Error> {
    let is_sse = matches!(source, Source::Http(http) if http.transport == Transport::Sse);
    match source.protocol() {
        Protocol::Version(version) if !Protocol::is_stateless(version) => {
            Ok(Plan::Initialize(version))
        }
        Protocol::Version(version) if is_sse => Err(Error::Unspoken {
            place: source.label(),
            what: format!("there is no {version} over HTTP+SSE, which needs a session"),
        }),
        Protocol::Version(_) => Ok(Plan::Discover { pinned: true }),
        // The built-in sample is of a known era, and the stream of HTTP+SSE of an era without the probe.
        Protocol::Auto if is_sse || matches!(source, Source::Sample(_) | Source::Fixture(_)) => {
            Ok(Plan::Initialize(who.proposed()))
        }
        Protocol::Auto if who.discovers() => Ok(Plan::Discover { pinned: false }),
        Protocol::Auto => Ok(Plan::Initialize(who.proposed())),
    }
}

/// Starts or reaches the server; nothing has been said yet.
async fn start(source: &Source, options: &Options, tap: &Arc<Tap>) -> Result<Link, Error> {
    let phase = |text: &str| tap.emit(SessionEvent::Phase(text.into()));
    let mut tasks = JoinSet::new();
    let (link, outbox): (Link, Arc<dyn Outbox>) = match source {
        Source::Sample(_) | Source::Fixture(_) => {
            let (phase_text, what, ended) = match source {
                Source::Sample(_) => (
                    "starting the sample server",
                    "the sample server",
                    "the sample server ended",
                ),
                _ => ("reading the captures", "the replay", "the replay ended"),
            };
            phase(phase_text);
            let begun = Instant::now();
            let pipe = start_in_process(source, options, tap).await?;
            tap.step("start", begun, what, "inside this process", StepState::Done);
            in_process_link(pipe, ended, tap, tasks)
        }
        Source::Command(command) => {
            phase("starting the program");
            let child::StartedChild {
                process,
                stdin,
                stdout,
                end,
            } = child::start(command, options, tap, &mut tasks)?;
            phase("waiting for the server");
            let watched = Arc::clone(tap);
            let end = async move || why_ended(&watched, end).await;
            let (unended, asks) = mpsc::channel(1);
            tasks.spawn(read_lines(stdout, Arc::clone(tap), asks, end));
            lines_link(stdin, tasks, unended, Some(process))
        }
        Source::Http(http) => {
            phase("connecting");
            let client = client(http, options, tap).await?;
            if http.transport == Transport::Sse {
                let stream = http_sse::open(client, Arc::clone(tap)).await?;
                (Link::Sse, stream)
            } else {
                let link = http::Link::new(client, Arc::clone(tap));
                (Link::Http(Arc::clone(&link)), link)
            }
        }
    };
    tap.open(outbox);
    Ok(link)
}

/// Runs [`Options::in_process`] off the event loop: it may read files.
async fn start_in_process(
    source: &Source,
    options: &Options,
    tap: &Arc<Tap>,
) -> Result<DuplexStream, Error> {
    let Some(start) = options.in_process else {
        return Err(Error::InProcess(Problem::new(
            ProblemKind::Spawn,
            "no server can be started inside this process",
        )));
    };
    let (source, place, notes) = (source.clone(), tap.place.clone(), Arc::clone(tap));
    let note: Note = Arc::new(move |text| notes.emit(SessionEvent::Stderr(text.to_owned())));
    tokio::task::spawn_blocking(move || start(&source, note))
        .await
        .map_err(|_| Error::Closed { place })?
        .map_err(Error::InProcess)
}

fn in_process_link(
    pipe: DuplexStream,
    ended: &'static str,
    tap: &Arc<Tap>,
    mut tasks: JoinSet<()>,
) -> (Link, Arc<dyn Outbox>) {
    let (from, to) = tokio::io::split(pipe);
    let place = tap.place.clone();
    let end = async move || Error::Disconnected {
        place,
        how: ended.into(),
        during_handshake: false,
        unreadable: None,
        stderr: Vec::new(),
    };
    let (unended, asks) = mpsc::channel(1);
    tasks.spawn(read_lines(from, Arc::clone(tap), asks, end));
    lines_link(to, tasks, unended, None)
}

/// Reaches the server with the login that is kept, if logging in is wanted at all.
async fn client(http: &source::Http, options: &Options, tap: &Arc<Tap>) -> Result<Client, Error> {
    let client = Client::new(http, tap, options.logins.clone())?;
    client.load_login().await;
    Ok(client)
}

async fn agree(
    tap: &Arc<Tap>,
    link: &Link,
    who: &ClientIdentity,
    plan: Plan,
) -> Result<Agreed, Error> {
    let pinned = match plan {
        Plan::Initialize(version) => return initialize(tap, link, &who.shaking, version).await,
        Plan::Discover { pinned } => pinned,
    };
    let mut probing = pin!(probe(tap, &who.alone));
    tap.begin_step("negotiate", &format!("server/discover ({STATELESS})"));
    let begun = Instant::now();
    let first = if pinned {
        Some(probing.as_mut().await?)
    } else {
        // Once asked it stays asked: the time limit is the caller's.
        tokio::time::timeout(SILENCE, probing.as_mut())
            .await
            .ok()
            .transpose()?
    };
    match first {
        Some(Verdict::Stateless(server)) => {
            tap.end_step(
                &format!(
                    "{}, {} {}",
                    server.protocol_version, server.name, server.version
                ),
                StepState::Done,
            );
            Ok(Agreed::Stateless { server })
        }
        Some(Verdict::Handshake(Refusal {
            described: Some(server),
            why,
            ..
        })) if pinned => Ok(accept_without_versions(tap, *server, &why)),
        Some(Verdict::Handshake(Refusal { why, .. })) if pinned => Err(Error::Unspoken {
            place: tap.place.clone(),
            what: format!("the server does not speak {STATELESS}: `server/discover` got {why}"),
        }),
        Some(Verdict::Handshake(refusal)) => after_refusal(tap, link, who, refusal).await,
        None => {
            tap.step(
                "negotiate",
                begun,
                "server/discover",
                "silence, so `initialize` is sent too",
                StepState::Passed,
            );
            let mut shaking = pin!(initialize(tap, link, &who.shaking, who.proposed()));
            let mut refused = None;
            loop {
                tokio::select! {
                    biased;
                    verdict = &mut probing => match verdict? {
                        Verdict::Stateless(server) => {
                            // The answer to `initialize`, if one comes, is that of a server of the other era.
                            tap.abandon(0);
                            if let Link::Http(link) = link {
                                link.leave();
                            }
                            tap.end_step(&format!("{}, late", server.protocol_version), StepState::Done);
                            return Ok(Agreed::Stateless { server });
                        }
                        Verdict::Handshake(_) => return match refused {
                            Some(error) => Err(error),
                            None => shaking.await,
                        },
                    },
                    shaken = &mut shaking, if refused.is_none() => match shaken {
                        Ok(agreed) => {
                            tap.abandon(PROBE);
                            return Ok(agreed);
                        }
                        // A server without a handshake refuses one; it may yet answer the probe.
                        Err(error @ (Error::Version { .. } | Error::Unspoken { .. } | Error::Handshake { .. })) => refused = Some(error),
                        Err(error) => return Err(error),
                    },
                }
            }
        }
    }
}

/// The handshake with a server that did not settle its era by the probe. One that described itself there and takes no
/// handshake is stateless all the same.
async fn after_refusal(
    tap: &Arc<Tap>,
    link: &Link,
    who: &ClientIdentity,
    refusal: Refusal,
) -> Result<Agreed, Error> {
    let Refusal {
        why,
        version,
        described,
        is_noted,
    } = refusal;
    tap.end_step(&why, StepState::Passed);
    let error = match initialize(tap, link, &who.shaking, version.unwrap_or(who.proposed())).await {
        Ok(agreed) => {
            if is_noted {
                tap.emit(SessionEvent::Noted(format!(
                    "`server/discover` got {why}; the server was reached by `initialize`"
                )));
            }
            return Ok(agreed);
        }
        Err(error) => error,
    };
    match (error, described) {
        (error @ Error::Handshake { .. }, Some(server)) => {
            tap.end_step(&error.to_string(), StepState::Passed);
            tap.begin_step("negotiate", "the answer to server/discover");
            Ok(accept_without_versions(tap, *server, &why))
        }
        (Error::Handshake { place, what }, None) => Err(Error::Handshake {
            place,
            what: format!("{what}; `server/discover` got {why}"),
        }),
        (error, _) => Err(error),
    }
}

/// A server without a handshake whose answer to the probe lacks its versions.
fn accept_without_versions(tap: &Tap, server: Server, why: &str) -> Agreed {
    tap.end_step(
        &format!("{} {}, taken for {STATELESS}", server.name, server.version),
        StepState::Done,
    );
    tap.emit(SessionEvent::Noted(format!(
        "`server/discover` got {why}; {STATELESS} is spoken, since it describes the server"
    )));
    Agreed::Stateless { server }
}

/// Asks `server/discover`, again where the server names a version that is spoken here.
async fn probe(tap: &Arc<Tap>, who: &Identity) -> Result<Verdict, Error> {
    let mut version = STATELESS;
    for _ in 0..VERSIONS_TRIED {
        let era = Era::stateless(version, who);
        let waiting = tap.request_as(
            PROBE,
            era.request(PROBE_TEXT, "server/discover", b"{}", "", None),
        )?;
        let (end, _) = waiting.done.await.map_err(|_| Error::Closed {
            place: tap.place.clone(),
        })?;
        match handshake::discovered(end, version, &tap.place)? {
            handshake::Discovered::Is(verdict) => return Ok(verdict),
            handshake::Discovered::ServerRequest(other) => version = other,
        }
    }
    let why =
        format!("a refusal of version {version}, which it names as one that the server speaks");
    Ok(Verdict::Handshake(Refusal {
        why,
        ..Refusal::default()
    }))
}

/// Why the SDK gave a handshake up: our own words where it repeats them, without the names of its types.
fn refused_by_sdk(error: ClientInitializeError, place: String) -> Error {
    let error = match error {
        ClientInitializeError::TransportError { error, .. } => error.error,
        other => {
            return Error::Handshake {
                place,
                what: other.to_string(),
            };
        }
    };
    match error.downcast::<Error>() {
        Ok(ours) => *ours,
        Err(other) => Error::Handshake {
            place,
            what: other.to_string(),
        },
    }
}

/// The handshake, of which the SDK keeps the books.
async fn initialize(
    tap: &Arc<Tap>,
    link: &Link,
    who: &Identity,
    version: &'static str,
) -> Result<Agreed, Error> {
    let place = || tap.place.clone();
    let closed = || Error::Closed { place: place() };
    tap.begin_step("negotiate", &format!("initialize ({version})"));
    let (to_sdk, inbox) = mpsc::channel(QUEUE);
    tap.attach(to_sdk.clone());
    let (sent, sending) = oneshot::channel::<PendingRequest>();
    let (capabilities, info) = (&who.capabilities, who.info());
    let hello = format!(
        r#"{{"protocolVersion":"{version}","capabilities":{capabilities},"clientInfo":{info}}}"#
    );
    let end = SdkEnd {
        tap: Arc::clone(tap),
        inbox,
        initialize: Some((hello.clone(), sent)),
    };
    let mut serving = Box::pin(
        ClientConfig::default().serve_with_lifecycle(end, ClientLifecycleMode::Initialize),
    );
    let answer = async {
        let waiting = sending.await.map_err(|_| closed())?;
        let (end, _) = waiting.done.await.map_err(|_| closed())?;
        Ok::<_, Error>((waiting.id, end))
    };
    let sdk_error = |error: ClientInitializeError| {
        tap.failure()
            .unwrap_or_else(|| refused_by_sdk(error, place()))
    };
    let (id, end) = tokio::select! {
        biased;
        answer = answer => answer?,
        served = &mut serving => return Err(served.err().map_or_else(closed, sdk_error)),
    };
    let (server, stub) = handshake::read(end, id, &tap.place)?;
    if let Link::Http(link) = link {
        link.begin(&server.protocol_version, hello);
    }
    to_sdk.send(stub).await.map_err(|_| closed())?;
    let sdk = serving.await.map_err(sdk_error)?;
    tap.end_step(
        &format!(
            "{}, {} {}",
            server.protocol_version, server.name, server.version
        ),
        StepState::Done,
    );
    Ok(Agreed::Handshake {
        server,
        sdk: Box::new(sdk),
    })
}
