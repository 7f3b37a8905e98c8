//! All that the window knows, and how it changes: plain data that tests drive without a window.
//!
//! [`State::perform`] takes what the user did, [`State::apply`] what the engine reports; both are synchronous, look at no
//! clock, file or thread (`now` is a field the app sets), and yield [`Effect`]s. Nothing else changes the state.

mod action;
pub mod anthropic_count;
mod background;
mod call;
pub mod call_queue;
pub mod compare;
mod connect;
pub mod diff;
mod doctor;
mod effect;
mod event;
mod export;
mod field_file;
mod findings;
pub mod fixture;
pub mod form;
pub mod history;
mod hosts;
pub mod import;
pub mod library;
mod listings;
pub mod live;
mod local_time;
mod login;
pub mod media;
mod notifications;
pub mod open_servers;
mod prepared;
mod read_text;
mod results;
mod schema_check;
mod secret_values;
pub mod server_diff;
pub mod server_requests;
mod servers;
mod session;
pub mod settings;
mod start;
mod table;
mod tokens;
mod transcript;
mod undo;
mod update;
mod view;
mod watch;
pub mod wire;
mod wrap;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use time::OffsetDateTime;

pub use action::{Action, Dialog, PathPurpose};
pub use background::{BackgroundEvent, BackgroundTask};
pub use call::CallAction;
pub use compare::{Compare, CompareAction, CompareTab, Comparisons, VaryForm};
pub use connect::{ConnectAction, ConnectForm, ConnectMode};
pub use doctor::{DoctorAction, Examination};
pub use effect::{
    AppEffect, Effect, ExportEffect, ImportEffect, SessionCommand, SessionEffect, TokensEffect,
};
pub use event::{
    CallUpdate, Event, ExportEvent, ImportEvent, ServerNotification, SessionUpdate, TokensEvent,
};
pub use export::{ExportAction, ExportOrder, ExportPicture};
pub use field_file::{FieldFile, FieldText};
pub use findings::{FindingsAction, FindingsView};
pub use fixture::{FixtureAction, FixtureEffect, FixtureEvent, Fixtures, PreparedVerify};
pub use form::{FieldKind, Form, FormMode, Value};
pub use history::{HistoryAction, HistoryEffect, HistoryEvent, HistoryState};
pub use hosts::{HostDetail, HostsAction, HostsTab, HostsView, KnownHosts};
pub use import::{FoundConfig, ImportAction, ImportGuess, Importing};
pub use live::{
    Live, LiveAction, LiveCall, LiveEffect, LiveEvent, LiveUpdate, OpenSession, SessionRead,
};
pub use local_time::LocalTime;
pub use login::{LoginAction, LoginLog, LoginStep};
pub use open_servers::OpenServersAction;
pub use prepared::{CallOwner, PreparedCall};
pub use read_text::ReadTexts;
pub use results::{QueryResults, QueryState};
pub use schema_check::{CheckTarget, SchemaCheck};
pub use secret_values::{MissingValues, Values, ValuesAction};
pub use servers::{AllowedTools, Servers, ServersAction};
pub use session::{ServerSession, SessionId, Sessions};
pub use settings::SettingsAction;
pub use start::StartQuestion;
pub use table::{TableAction, TableView};
pub use tokens::{PriceTable, ServerColumn, ServerView, TokensAction, TokensPart, TokensView};
pub use transcript::{ComparedTranscript, TranscriptAction, TranscriptPlace, TranscriptState};
pub use undo::Undo;
pub use view::{DrawerTab, PaneContent, PaneView, Screen, SidebarTab, View, ViewAction};
pub use watch::{WatchAction, WatchEffect, WatchEvent, Watching};
pub use wrap::PreparedWrap;

use loupe_core::capture::{Capture, Outcome, Server, Tool};
use loupe_core::format::compact;
use loupe_core::json::Doc;
use loupe_core::problem::Problem;
use loupe_core::settings::Settings;
use loupe_core::source::{Limits, Source};
use loupe_core::token::{TokenizerFile, Tokens};

/// The whole state of the window.
#[derive(Debug, Default)]
pub struct State {
    /// Monotonic time since the program started; the app sets it before each pass.
    pub now: Duration,
    pub local_time: LocalTime,
    /// When `now` was nothing; `None` in tests and pictures.
    pub began_at: Option<OffsetDateTime>,
    pub settings: Settings,
    /// Every server that is open.
    pub sessions: Sessions,
    /// The next connection is opened next to the current server, which stays open.
    pub is_adding_server: bool,
    /// How many lists of tools were numbered.
    listings: u64,
    /// The field that a path is asked for.
    filling: Option<FieldFile>,
    pub running: Option<CallInFlight>,
    /// In order of arrival.
    pub captures: Vec<Arc<Capture>>,
    pub view: View,
    /// How the texts of each tool's answers are read.
    pub read_texts: ReadTexts,
    pub comparisons: Comparisons,
    pub query_results: QueryResults,
    /// The hosts that are known, the user's own among them.
    pub hosts: KnownHosts,
    /// The host that calls are made as, from the next connection on; `None` is as Loupe.
    call_as: Option<loupe_core::host::HostId>,
    pub history: HistoryState,
    pub fixtures: Fixtures,
    /// What the diff screen compares.
    pub diff: diff::Diff,
    /// Recorded sessions.
    pub live: Live,
    /// The tools against another list.
    pub server_diff: server_diff::ServerDiff,
    pub connect_form: ConnectForm,
    /// The connect screen was opened for a new source: what failed before is not told there.
    pub is_new_source: bool,
    /// The connection that was open when connecting elsewhere began, until that succeeds.
    pub previous_source: Option<Source>,
    /// The path that was typed last, until another dialog opens; and what was wrong with it.
    tried_path: Option<(PathPurpose, String)>,
    pub path_problem: Option<Problem>,
    pub importing: Importing,
    /// What is remembered of servers.
    pub servers: Servers,
    values: Values,
    /// The server's files, which start it again.
    pub watching: Watching,
    /// The tokenizer file that was opened last, for the menu.
    pub tokenizer_file: Option<Arc<TokenizerFile>>,
    pub prices: PriceTable,
    /// Counts by Claude's provider.
    pub anthropic_count: anthropic_count::Exact,
    /// How much is kept of what servers send.
    pub limits: Limits,
    /// What outlasts the run.
    pub saved_settings: settings::SavedSettings,
    pub server_view: ServerView,
    pub dialog: Option<Dialog>,
    /// Pictures, files and links of results.
    pub media: media::Media,
    /// Folders that servers are told about from the next connection on; `None` declares none.
    pub roots: Option<Vec<PathBuf>>,
    /// What completion requests are answered with, unasked; `None` asks each time.
    pub sampling_reply: Option<String>,
    /// Short messages in the status bar, which end by themselves; problems stay above it until they are closed.
    pub toasts: Vec<Toast>,
    /// What can be brought back now.
    pub undo: Option<Undo>,
    next_call: u64,
    next_toast: u64,
    background: Vec<BackgroundTask>,
}

impl State {
    /// The time of day where the window is.
    pub fn today(&self) -> OffsetDateTime {
        (self.local_time.0)(self.began_at.unwrap_or(OffsetDateTime::UNIX_EPOCH) + self.now)
    }
}

/// A tool with its position and cost.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedTool {
    pub tool: Arc<Tool>,
    /// Of the exact definition bytes; `None` until counted.
    pub tokens: Option<Tokens>,
}

/// Where a session stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Connection {
    #[default]
    None,
    Connecting {
        source: Source,
        /// What is waited for: "starting the program", "initialize", "listing tools".
        phase: String,
        since: Duration,
        limit: Duration,
        stderr: Vec<String>,
    },
    Connected {
        source: Source,
        server: Server,
        since: Duration,
        stderr: Vec<String>,
        /// Messages seen on the wire, both directions.
        messages: u64,
    },
    /// Never came to be.
    Failed {
        source: Source,
        problem: Problem,
        stderr: Vec<String>,
    },
    /// Was there, and went away.
    Disconnected {
        source: Source,
        server: Server,
        problem: Problem,
        stderr: Vec<String>,
    },
}

impl Connection {
    pub fn source(&self) -> Option<&Source> {
        match self {
            Self::None => None,
            Self::Connecting { source, .. }
            | Self::Connected { source, .. }
            | Self::Failed { source, .. }
            | Self::Disconnected { source, .. } => Some(source),
        }
    }

    pub fn server(&self) -> Option<&Server> {
        match self {
            Self::Connected { server, .. } | Self::Disconnected { server, .. } => Some(server),
            _ => None,
        }
    }

    pub fn stderr(&self) -> &[String] {
        match self {
            Self::None => &[],
            Self::Connecting { stderr, .. }
            | Self::Connected { stderr, .. }
            | Self::Failed { stderr, .. }
            | Self::Disconnected { stderr, .. } => stderr,
        }
    }

    pub fn is_connected(&self) -> bool {
        matches!(self, Self::Connected { .. })
    }

    /// One more line of stderr; of many the last are kept. Says whether one had to go.
    pub(crate) fn add_stderr(&mut self, line: String) -> bool {
        if let Self::Connecting { stderr, .. }
        | Self::Connected { stderr, .. }
        | Self::Failed { stderr, .. }
        | Self::Disconnected { stderr, .. } = self
        {
            let is_full = stderr.len() >= STDERR_LINES;
            if is_full {
                stderr.remove(0);
            }
            stderr.push(line);
            return is_full;
        }
        false
    }

    pub fn is_sample(&self) -> bool {
        matches!(self.source(), Some(Source::Sample(_)))
    }
}

/// The call in flight.
#[derive(Clone, Debug, PartialEq)]
pub struct CallInFlight {
    pub id: u64,
    /// The server that was called.
    pub session: SessionId,
    pub owner: CallOwner,
    pub tool: String,
    pub since: Duration,
    pub limit: Duration,
    /// The last progress: value, total if known, message.
    pub progress: Option<(f64, Option<f64>, Option<String>)>,
    /// Lines that belong to nobody ("1 unreadable line came").
    pub unreadable: u64,
    /// The status of the task that the server made of this call.
    pub task: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Toast {
    pub id: u64,
    pub text: String,
    /// Errors carry their problem, and stay.
    pub problem: Option<Problem>,
    pub since: Duration,
}

/// Lines of stderr that are kept.
const STDERR_LINES: usize = 1_000;

impl State {
    /// The tool in the call bar.
    pub fn tool(&self) -> Option<&ListedTool> {
        self.session().tool()
    }

    /// The form of the selected tool.
    pub fn form(&self) -> Option<&Form> {
        self.session().form()
    }

    /// The capture shown, if any.
    pub fn capture(&self) -> Option<&Arc<Capture>> {
        self.capture_of(self.view.capture.as_ref()?)
    }

    /// What the server wrote to stderr in the call whose answer is shown, where that is the last one and broke.
    pub fn stderr_of_call(&self) -> Option<&std::collections::VecDeque<String>> {
        let capture = self
            .capture()
            .filter(|capture| self.session().last_called.as_ref() == Some(&capture.id))?;
        (capture.outcome != Outcome::Result && !self.session().wire.call_stderr.is_empty())
            .then_some(&self.session().wire.call_stderr)
    }

    /// The capture shown, where its tool is none of this server's: what is said of the selected tool is not about it.
    pub fn foreign_capture(&self) -> Option<&Arc<Capture>> {
        self.capture()
            .filter(|capture| !self.session().has_tool(&capture.tool.name))
    }

    /// Whether *Call* does anything now.
    pub fn can_call(&self) -> bool {
        self.running.is_none()
            && self.session().connection.is_connected()
            && self.tool().is_some()
            && (self.view.screen != Screen::Answer || self.foreign_capture().is_none())
            && self.form().is_none_or(|form| form.syntax.is_none())
    }

    /// Where *Back* leads from the connect screen: to what was looked at before.
    pub fn back(&self) -> Action {
        match (&self.view.capture, &self.session().selected_tool) {
            (Some(capture), _) => ViewAction::SelectCapture(capture.clone()).into(),
            (None, Some(tool)) if self.session().connection.is_connected() => {
                CallAction::SelectTool(tool.clone()).into()
            }
            _ => ViewAction::ShowStart.into(),
        }
    }

    /// Tokens of all definitions together, in [`Settings::encoding`]; `None` until they are listed and all are counted.
    pub fn tools_total(&self) -> Option<u64> {
        if self.session().tools.is_empty() {
            return None;
        }
        self.session()
            .tools
            .iter()
            .map(|listed| Some(listed.tokens?.get(self.settings.encoding())))
            .sum()
    }

    /// Whether the form says something other than the capture shown was called with.
    pub fn is_answer_stale(&self) -> bool {
        let (Some(capture), Some(form)) = (self.capture(), self.form()) else {
            return false;
        };
        !capture.request.is_empty()
            && capture.tool.name == self.session().selected_tool.as_deref().unwrap_or_default()
            && !is_same_json(&capture.arguments, &form.resolved_text())
    }
}

/// Longer arguments are the same only byte for byte.
const COMPARED_BYTES: usize = 64 << 10;

/// Whether arguments differ in white space at most.
fn is_same_json(sent: &bytes::Bytes, typed: &str) -> bool {
    if sent == typed.as_bytes() {
        return true;
    }
    if sent.len().max(typed.len()) > COMPARED_BYTES {
        return false;
    }
    let read = |bytes: bytes::Bytes| {
        let doc = Doc::parse(bytes);
        doc.root().filter(|_| doc.is_json()).map(compact)
    };
    read(sent.clone())
        .is_some_and(|sent| read(typed.to_owned().into()).is_some_and(|typed| typed == sent))
}
