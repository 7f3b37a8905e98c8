//! What passes between hosts and servers: the recorded sessions, and the one that is looked at, also while it runs.

use std::path::PathBuf;
use std::sync::Arc;

use super::{
    ComparedTranscript, Effect, PaneView, Screen, State, TranscriptPlace, TranscriptState,
};
use loupe_analysis::queries::{CallCost, Confirmed, SessionBill, host_of};
use loupe_core::capture::{Capture, CaptureId, Server};
use loupe_core::host::{Host, HostId};
use loupe_core::problem::Problem;
use loupe_tap::sessions::SessionInfo;

/// What the user does with recorded sessions.
#[derive(Clone, Debug, PartialEq)]
pub enum LiveAction {
    /// Shows the screen, and looks for sessions from here on.
    Show,
    /// Looks at the session of this id.
    Open(String),
    /// Shows a call in the panes, by its place among all calls.
    Select(usize),
    /// Shows only calls that hold these words.
    SetFilter(String),
    /// Takes the call that is shown to the other captures.
    Inspect,
}

/// What is to be done with the files of sessions.
#[derive(Clone, Debug, PartialEq)]
pub enum LiveEffect {
    /// Lists the sessions of this data folder, now and whenever they change.
    Look(PathBuf),
    /// Reads this session, and what is added to it.
    Follow { run: u64, session: SessionInfo },
    /// Looks for these words in the calls of the session that is followed.
    Find { run: u64, words: String },
    /// Compares the session that is followed with transcripts of its host.
    Compare { run: u64, place: TranscriptPlace },
    /// Looks at nothing any more.
    Stop,
}

/// What is known of sessions.
#[derive(Clone, Debug)]
pub enum LiveEvent {
    Listed(Vec<SessionInfo>),
    /// Which hosts' rules were confirmed by their transcripts.
    Confirmed(Vec<Confirmed>),
    /// Of the session that was followed under this number.
    Session {
        run: u64,
        update: Box<LiveUpdate>,
    },
}

/// What is new of the session that is followed.
#[derive(Clone, Debug)]
pub enum LiveUpdate {
    Read(Box<SessionRead>),
    /// What the next calls cost, and the bill with them.
    Counted {
        costs: Vec<CallCost>,
        bill: Box<SessionBill>,
    },
    /// The places of calls that hold these words.
    Found {
        words: String,
        places: Vec<usize>,
    },
    Compared(Result<Arc<ComparedTranscript>, Problem>),
    Failed(Problem),
}

/// What was read of a session since the last time.
#[derive(Clone, Debug, Default)]
pub struct SessionRead {
    /// How the host named itself.
    pub client: String,
    /// Where the host keeps its transcripts; `None` where that is not known.
    pub transcripts: Option<TranscriptPlace>,
    pub server: Server,
    pub tools: usize,
    pub calls: Vec<Arc<Capture>>,
    /// Calls that are not answered yet.
    pub open_calls: usize,
    /// Messages both ways, of the whole session.
    pub messages: u64,
    /// Bytes that are missing from the record.
    pub lost: u64,
    /// Whether that is all there is by now.
    pub is_all: bool,
}

/// A call of a session.
#[derive(Clone, Debug)]
pub struct LiveCall {
    pub capture: Arc<Capture>,
    /// `None` until it is counted.
    pub cost: Option<CallCost>,
}

/// The session that is looked at.
#[derive(Clone, Debug)]
pub struct OpenSession {
    pub info: SessionInfo,
    pub host: Option<Arc<Host>>,
    /// All but its calls, as it was read last.
    pub read: SessionRead,
    /// In the order of their answers.
    pub calls: Vec<LiveCall>,
    /// How many of them are counted.
    pub counted: usize,
    /// Of the calls that are counted.
    pub bill: Option<Box<SessionBill>>,
    /// The call that is shown.
    pub selected: Option<usize>,
    /// The words that calls are filtered by.
    pub filter: String,
    /// The places of calls that hold the words; `None` where there are none, or while they are looked for.
    found: Option<Vec<usize>>,
    pub transcript: TranscriptState,
    pub problem: Option<Problem>,
}

impl OpenSession {
    fn new(info: SessionInfo) -> Self {
        Self {
            info,
            host: None,
            read: SessionRead::default(),
            calls: Vec::new(),
            counted: 0,
            bill: None,
            selected: None,
            filter: String::new(),
            found: None,
            transcript: TranscriptState::NotRead,
            problem: None,
        }
    }

    /// How many calls the filter leaves.
    pub fn shown_calls(&self) -> usize {
        match &self.found {
            Some(found) => found.len(),
            None => self.calls.len(),
        }
    }

    /// The place among all calls of the one in this row.
    pub fn place(&self, row: usize) -> Option<usize> {
        match &self.found {
            Some(found) => found.get(row).copied(),
            None => (row < self.calls.len()).then_some(row),
        }
    }

    /// The host for people: its name, else how it named itself.
    pub fn host_name(&self) -> &str {
        match (&self.host, &*self.read.client) {
            (Some(host), _) => &host.name,
            (None, "") => "A host that did not say its name",
            (None, client) => client,
        }
    }

    fn capture(&self, id: &CaptureId) -> Option<&Arc<Capture>> {
        let (_, number) = id.0.rsplit_once('-')?;
        let place = number.parse::<usize>().ok()?.checked_sub(1)?;
        let capture = &self.calls.get(place)?.capture;
        (capture.id == *id).then_some(capture)
    }
}

/// Recorded sessions in the window.
#[derive(Debug, Default)]
pub struct Live {
    /// The newest first; `None` until they are listed.
    pub sessions: Option<Vec<SessionInfo>>,
    pub session: Option<OpenSession>,
    /// Counts the sessions that were opened, so that late events of an old one are distinguished.
    pub(super) run: u64,
    /// Ids of hosts whose transcripts may be read.
    pub allowed: Vec<String>,
    /// Hosts whose rules were confirmed by their transcripts, the last of each version.
    pub confirmed: Vec<Confirmed>,
    before: Option<Before>,
}

/// What was looked at before the screen.
#[derive(Clone, Debug)]
struct Before {
    capture: Option<CaptureId>,
    panes: [PaneView; 3],
    view_as: Option<HostId>,
}

impl Live {
    /// A call of the session that is looked at.
    pub(super) fn capture(&self, id: &CaptureId) -> Option<&Arc<Capture>> {
        self.session.as_ref()?.capture(id)
    }
}

impl State {
    /// How hosts that are known name themselves, else what is given.
    pub fn host_title<'a>(&'a self, client: &'a str) -> &'a str {
        let known = self.hosts.iter();
        let mut named = known.filter(|host| {
            let rules = host.client.as_ref();
            rules.is_some_and(|rules| rules.name == client)
        });
        named.next().map_or(client, |host| &host.name)
    }

    pub(super) fn change_live(&mut self, action: LiveAction, effects: &mut Vec<Effect>) {
        match action {
            LiveAction::Show => self.show_live(effects),
            LiveAction::Open(id) => {
                let listed = self.live.sessions.iter().flatten();
                let Some(info) = listed.clone().find(|session| session.id == id).cloned() else {
                    return;
                };
                self.live.run += 1;
                self.forget_live_call();
                self.live.session = Some(OpenSession::new(info.clone()));
                effects.push(Effect::Live(LiveEffect::Follow {
                    run: self.live.run,
                    session: info,
                }));
            }
            LiveAction::Select(place) => {
                let Some(session) = &mut self.live.session else {
                    return;
                };
                let Some(call) = session.calls.get(place) else {
                    return;
                };
                let id = call.capture.id.clone();
                session.selected = Some(place);
                self.view.show(id);
                self.view.screen = Screen::Live;
                self.fit_panes();
            }
            LiveAction::SetFilter(words) => {
                let run = self.live.run;
                let Some(session) = &mut self.live.session else {
                    return;
                };
                if words.trim().is_empty() {
                    session.found = None;
                }
                session.filter.clone_from(&words);
                effects.push(Effect::Live(LiveEffect::Find { run, words }));
            }
            LiveAction::Inspect => {
                let shown = self.capture().cloned();
                if let Some(capture) = shown {
                    self.turn_back_from_live();
                    self.add_capture(capture);
                }
            }
        }
    }

    fn show_live(&mut self, effects: &mut Vec<Effect>) {
        let Some(folder) = self.history.folder.clone() else {
            return;
        };
        if self.view.screen == Screen::Live {
            return;
        }
        self.live.before = Some(Before {
            capture: self.view.capture.take(),
            panes: self.view.panes,
            view_as: self.view.hosts.view_as,
        });
        self.view.screen = Screen::Live;
        effects.push(Effect::Live(LiveEffect::Look(folder)));
        if let Some(session) = &self.live.session {
            let id = session.info.id.clone();
            self.change_live(LiveAction::Open(id), effects);
        }
    }

    /// Sees to what follows when the screen was left, however that came about.
    pub(super) fn leave_live(&mut self, was_shown: bool, effects: &mut Vec<Effect>) {
        if !was_shown || self.view.screen == Screen::Live {
            return;
        }
        effects.push(Effect::Live(LiveEffect::Stop));
        self.turn_back_from_live();
    }

    /// Turns to what was looked at before the screen, but for its place.
    pub(super) fn turn_back_from_live(&mut self) {
        let Some(before) = self.live.before.take() else {
            return;
        };
        (self.view.panes, self.view.hosts.view_as) = (before.panes, before.view_as);
        let is_listed = |id: &CaptureId| self.captures.iter().any(|capture| capture.id == *id);
        if !self.view.capture.as_ref().is_some_and(is_listed) {
            self.view.capture = before.capture;
        }
    }

    /// The call that was shown belongs to another session.
    fn forget_live_call(&mut self) {
        if let Some(before) = &self.live.before {
            (self.view.panes, self.view.hosts.view_as) = (before.panes, before.view_as);
        }
        self.view.capture = None;
        self.view.maximised = None;
    }

    pub(super) fn live_event(&mut self, event: LiveEvent, effects: &mut Vec<Effect>) {
        match event {
            LiveEvent::Listed(sessions) => {
                if let Some(open) = &mut self.live.session
                    && let Some(info) = sessions.iter().find(|info| info.id == open.info.id)
                {
                    open.info = info.clone();
                }
                let first = sessions.first().map(|session| session.id.clone());
                let is_first_list = self.live.sessions.is_none();
                self.live.sessions = Some(sessions);
                // There is nothing else to look at.
                if let Some(first) = first
                    && is_first_list
                    && self.live.session.is_none()
                {
                    self.change_live(LiveAction::Open(first), effects);
                }
            }
            LiveEvent::Confirmed(confirmed) => self.live.confirmed = confirmed,
            LiveEvent::Session { run, update } if run == self.live.run => self.live_update(*update),
            LiveEvent::Session { .. } => {}
        }
    }

    fn live_update(&mut self, update: LiveUpdate) {
        let Some(session) = &mut self.live.session else {
            return;
        };
        match update {
            LiveUpdate::Read(mut read) => {
                let calls = std::mem::take(&mut read.calls).into_iter();
                session.calls.extend(calls.map(|capture| LiveCall {
                    capture,
                    cost: None,
                }));
                if session.host.is_none() {
                    session.host = host_of(&self.hosts, &read.client);
                    // What that host's model was given comes first.
                    if let Some(host) = &session.host
                        && self.view.screen == Screen::Live
                    {
                        self.view.panes[0] = PaneView::Host(host.id);
                        self.view.hosts.view_as = Some(host.id);
                        self.view.focus = 0;
                    }
                }
                session.read = *read;
            }
            LiveUpdate::Counted { costs, bill } => {
                let first = session.counted;
                session.counted += costs.len();
                for (call, cost) in session.calls.iter_mut().skip(first).zip(costs) {
                    call.cost = Some(cost);
                }
                session.bill = Some(bill);
            }
            LiveUpdate::Found { words, places } => {
                if words == session.filter {
                    session.found = Some(places);
                }
            }
            LiveUpdate::Compared(Ok(compared)) => {
                session.transcript = TranscriptState::Compared(compared);
            }
            LiveUpdate::Compared(Err(problem)) => {
                session.transcript = TranscriptState::Failed(problem);
            }
            LiveUpdate::Failed(problem) => session.problem = Some(problem),
        }
    }
}
