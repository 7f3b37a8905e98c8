//! Recorded sessions, listed and followed on a thread of their own, while somebody looks at them.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use regex::bytes::RegexBuilder;
use tokio::runtime::Handle;

use super::queue::Queue;
use super::work;
use crate::state::{
    ComparedTranscript, Event, LiveEffect, LiveEvent, LiveUpdate, SessionRead, TranscriptPlace,
};
use crate::store::{self, SessionReader, sessions_folder};
use loupe_analysis::queries::{SessionBill, SessionCalls, TranscriptInput, compare_transcript};
use loupe_core::cancel::Cancel;
use loupe_core::capture::Capture;
use loupe_core::host::Hosts;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_tap::sessions::{self, SessionInfo};
use loupe_tap::transcripts;

/// How often the session that is followed is looked at, and the list of all.
const EVERY: Duration = Duration::from_millis(400);
const LIST_EVERY: Duration = Duration::from_secs(2);
/// Calls are counted so long before what they cost is told.
const COUNT_FOR: Duration = Duration::from_millis(200);

/// The thread, as long as somebody looks.
pub(super) struct LiveFollower {
    queue: Arc<Queue>,
    running: Mutex<Option<Running>>,
}

struct Running {
    commands: Sender<Command>,
    /// Of what is counted now.
    cancel: Cancel,
}

enum Command {
    Follow {
        run: u64,
        session: SessionInfo,
        hosts: Arc<Hosts>,
        cancel: Cancel,
    },
    Find {
        run: u64,
        words: String,
    },
    Compare {
        run: u64,
        place: TranscriptPlace,
    },
}

impl LiveFollower {
    pub(super) fn new(queue: Arc<Queue>) -> Self {
        Self {
            queue,
            running: Mutex::default(),
        }
    }

    pub(super) fn execute(&self, runtime: &Handle, effect: LiveEffect, hosts: Arc<Hosts>) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let send = |running: &Option<Running>, command| {
            if let Some(running) = running {
                // Where nobody takes it the thread has failed, which was told.
                running.commands.send(command).ok();
            }
        };
        match effect {
            LiveEffect::Look(data) => {
                if let Some(before) = running.take() {
                    before.cancel.cancel();
                }
                let (commands, received) = channel();
                *running = Some(Running {
                    commands,
                    cancel: Cancel::new(),
                });
                let queue = Arc::clone(&self.queue);
                work::blocking(runtime, &self.queue, Event::Problem, move || {
                    if let Some(folder) = sessions_folder(Some(&data)) {
                        look(&folder, &data, &received, &queue);
                    }
                });
            }
            LiveEffect::Follow { run, session } => {
                let cancel = Cancel::new();
                if let Some(running) = running.as_mut() {
                    std::mem::replace(&mut running.cancel, cancel.clone()).cancel();
                }
                let command = Command::Follow {
                    run,
                    session,
                    hosts,
                    cancel,
                };
                send(&running, command);
            }
            LiveEffect::Find { run, words } => send(&running, Command::Find { run, words }),
            LiveEffect::Compare { run, place } => {
                send(&running, Command::Compare { run, place });
            }
            LiveEffect::Stop => {
                if let Some(before) = running.take() {
                    before.cancel.cancel();
                }
            }
        }
    }

    pub(super) fn stop(&self) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = running.take() {
            before.cancel.cancel();
        }
    }
}

/// Lists sessions and follows one, until nobody sends commands any more.
fn look(folder: &Path, data: &Path, commands: &Receiver<Command>, queue: &Queue) {
    let mut listed: Option<Vec<SessionInfo>> = None;
    let mut listed_at = None;
    let mut followed: Option<Followed> = None;
    let mut is_busy = true;
    loop {
        let wait = if is_busy { Duration::ZERO } else { EVERY };
        match commands.recv_timeout(wait) {
            Ok(Command::Follow {
                run,
                session,
                hosts,
                cancel,
            }) => followed = Some(Followed::new(run, session, hosts, cancel)),
            Ok(Command::Find { run, words }) => {
                if let Some(followed) = followed.as_mut().filter(|followed| followed.run == run) {
                    followed.find(words, queue);
                }
            }
            Ok(Command::Compare { run, place }) => {
                if let Some(followed) = followed.as_mut().filter(|followed| followed.run == run) {
                    let compared = followed.compare(&place, data);
                    let confirmed = compared
                        .as_ref()
                        .is_ok_and(|compared| compared.confirmed.is_some());
                    followed.tell(queue, LiveUpdate::Compared(compared.map(Arc::new)));
                    if confirmed {
                        tell_confirmed(data, queue);
                    }
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if listed_at.is_none_or(|at: Instant| at.elapsed() >= LIST_EVERY) {
            let now = sessions::list(folder);
            if listed.as_ref() != Some(&now) {
                queue.push(Event::Live(LiveEvent::Listed(now.clone())));
                listed = Some(now);
            }
            listed_at = Some(Instant::now());
        }
        is_busy = followed.as_mut().is_some_and(|followed| {
            let infos = listed.iter().flatten();
            let mut own = infos.filter(|info| info.id == followed.session.id);
            let is_running = own.next().is_some_and(|info| info.is_running);
            match followed.go_on(is_running, queue) {
                Ok(is_busy) => is_busy,
                Err(problem) => {
                    followed.tell(queue, LiveUpdate::Failed(problem));
                    followed.state = Reading::Over;
                    true
                }
            }
        });
    }
}

/// Tells which hosts' rules were confirmed.
pub(super) fn tell_confirmed(data: &Path, queue: &Queue) {
    queue.push(match store::read_confirmed(Some(data)) {
        Ok(confirmed) => Event::Live(LiveEvent::Confirmed(confirmed)),
        Err(problem) => Event::Problem(problem),
    });
}

/// The session that is followed.
struct Followed {
    run: u64,
    session: SessionInfo,
    hosts: Arc<Hosts>,
    cancel: Cancel,
    state: Reading,
    /// Of the whole session, for what is looked for.
    calls: Vec<Arc<Capture>>,
    uncounted: VecDeque<Arc<Capture>>,
    bill: Option<SessionBill>,
    /// The definitions that the bill counts.
    descriptions: usize,
    words: String,
    /// How the host named itself, and its version.
    client: [String; 2],
    /// What was told last: messages, bytes that were lost, calls that are open.
    told: Option<(u64, u64, usize, bool)>,
}

enum Reading {
    NotBegun,
    Reads(Box<SessionReader>),
    Over,
}

impl Followed {
    fn new(run: u64, session: SessionInfo, hosts: Arc<Hosts>, cancel: Cancel) -> Self {
        Self {
            run,
            session,
            hosts,
            cancel,
            state: Reading::NotBegun,
            calls: Vec::new(),
            uncounted: VecDeque::new(),
            bill: None,
            descriptions: 0,
            words: String::new(),
            client: [const { String::new() }; 2],
            told: None,
        }
    }

    fn tell(&self, queue: &Queue, update: LiveUpdate) {
        queue.push(Event::Live(LiveEvent::Session {
            run: self.run,
            update: Box::new(update),
        }));
    }

    /// Reads and counts a little; whether there is more to do at once.
    fn go_on(&mut self, is_running: bool, queue: &Queue) -> Result<bool, Problem> {
        if matches!(self.state, Reading::NotBegun) {
            self.state = Reading::Reads(Box::new(SessionReader::open(&self.session)?));
        }
        let has_read = self.read(is_running, queue)?;
        let has_counted = self.count(queue);
        Ok(has_read || has_counted)
    }

    fn read(&mut self, is_running: bool, queue: &Queue) -> Result<bool, Problem> {
        let Reading::Reads(reader) = &mut self.state else {
            return Ok(false);
        };
        let has_more = reader.read_on()?;
        let is_over = !has_more && !is_running;
        if is_over {
            reader.end();
        }
        let calls = reader.take_calls();
        self.calls.extend(calls.iter().cloned());
        self.uncounted.extend(calls.iter().cloned());
        let definitions = reader.definitions();
        self.client = [reader.client(), reader.client_version()].map(str::to_owned);
        let host = transcripts::host_of(reader.client());
        let place = host.and_then(|host| {
            Some(TranscriptPlace {
                host: host.id,
                name: host.name,
                folder: host.folder()?,
            })
        });
        let read = SessionRead {
            transcripts: place,
            client: reader.client().to_owned(),
            tools: definitions.tools.len(),
            server: definitions.server.clone(),
            calls,
            open_calls: reader.open_calls(),
            messages: reader.messages,
            lost: reader.lost,
            is_all: !has_more,
        };
        let is_described_anew = reader.descriptions() != self.descriptions;
        // Calls come once the host and the tools are known, and these may come again.
        if !has_more && (self.bill.is_none() || is_described_anew) {
            self.descriptions = reader.descriptions();
            let bill = match self.bill.take() {
                Some(mut bill) => bill
                    .use_definitions(&definitions, &self.hosts, &self.cancel)
                    .map(|()| bill),
                None => SessionBill::without_calls(
                    &definitions,
                    reader.client(),
                    &self.hosts,
                    &self.cancel,
                ),
            };
            self.bill = bill.ok();
        }
        if is_over {
            self.state = Reading::Over;
        }
        let now = (read.messages, read.lost, read.open_calls, read.is_all);
        let has_calls = !read.calls.is_empty();
        if has_calls || self.told != Some(now) {
            self.told = Some(now);
            self.tell(queue, LiveUpdate::Read(Box::new(read)));
        }
        if has_calls && !self.words.trim().is_empty() {
            self.find(self.words.clone(), queue);
        }
        Ok(has_more)
    }

    /// Counts the next calls for a while; whether there were any.
    fn count(&mut self, queue: &Queue) -> bool {
        let Some(bill) = &mut self.bill else {
            return false;
        };
        let begun = Instant::now();
        let mut costs = Vec::new();
        while begun.elapsed() < COUNT_FOR
            && let Some(capture) = self.uncounted.pop_front()
        {
            match bill.add(&capture, &self.hosts, &self.cancel) {
                Ok(cost) => costs.push(cost),
                // Another session is looked at, or none.
                Err(_) => {
                    self.uncounted.clear();
                    return false;
                }
            }
        }
        if costs.is_empty() {
            return false;
        }
        let bill = Box::new(bill.clone());
        self.tell(queue, LiveUpdate::Counted { costs, bill });
        true
    }

    /// Compares the calls so far with transcripts of the host, and keeps it where all are the same.
    fn compare(&self, place: &TranscriptPlace, data: &Path) -> Result<ComparedTranscript, Problem> {
        let host = transcripts::host_by_id(place.host).ok_or_else(|| {
            Problem::new(
                ProblemKind::Internal,
                "transcripts of a host that keeps none",
            )
        })?;
        let span = sessions::time_span(&sessions::read(&self.session.folder).map_err(|error| {
            Problem::new(
                ProblemKind::Io,
                format!("the session cannot be read: {error}"),
            )
        })?);
        let found = host.read(&place.folder, span)?;
        let [client, client_version] = self.client.clone();
        let session = SessionCalls {
            captures: self.calls.clone(),
            client,
            client_version,
            ..SessionCalls::default()
        };
        let today = time::OffsetDateTime::now_utc().date().to_string();
        let input = TranscriptInput {
            session: &session,
            name: &self.session.name,
            given: &found.calls,
            hosts: &self.hosts,
            today: &today,
        };
        let report = compare_transcript(&input, &self.cancel)
            .map_err(|_| Problem::new(ProblemKind::Cancelled, "not compared"))?;
        let confirmed = report.confirmed(&found.versions, &session.client_version, &today);
        if let Some(confirmed) = &confirmed {
            store::keep_confirmed(Some(data), confirmed)?;
        }
        let unknown = found
            .versions
            .iter()
            .filter(|version| !host.knows([*version]));
        Ok(ComparedTranscript {
            files: found.files.len(),
            unknown_versions: unknown.cloned().collect(),
            report,
            confirmed,
        })
    }

    /// Finds the calls whose tool, arguments or result hold the words, in whatever case.
    fn find(&mut self, words: String, queue: &Queue) {
        self.words.clone_from(&words);
        let wanted = words.trim();
        if wanted.is_empty() {
            return;
        }
        let finder = RegexBuilder::new(&regex::escape(wanted))
            .case_insensitive(true)
            .build();
        // Longer than a pattern may be.
        let Ok(finder) = finder else { return };
        let is_in = |bytes: &[u8]| finder.is_match(bytes);
        let holds = |call: &Capture| {
            is_in(call.tool.name.as_bytes())
                || is_in(&call.arguments)
                || call
                    .response
                    .as_ref()
                    .is_some_and(|response| is_in(response))
        };
        let places = self.calls.iter().enumerate();
        let places = places
            .filter(|(_, call)| holds(call))
            .map(|(place, _)| place);
        let places = places.collect();
        self.tell(queue, LiveUpdate::Found { words, places });
    }
}
