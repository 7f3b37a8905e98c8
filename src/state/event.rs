//! What the engine reports: what came of effects, and what servers say next to their answers.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::server_diff::ToolsRead;
use super::{
    BackgroundEvent, CheckTarget, ExportPicture, FieldFile, FieldText, FixtureEvent, FoundConfig,
    HistoryEvent, LoginStep, PathPurpose, PreparedWrap, SessionId, WatchEvent, anthropic_count,
    library,
};
use loupe_analysis::finding::ToolSilence;
use loupe_analysis::queries::arguments::ArgumentCheck;
use loupe_analysis::queries::{Prices, QueryInput, QueryKey, QueryResult};
use loupe_core::capture::{Capture, Line, Server, Step, Tool};
use loupe_core::host::Hosts;
use loupe_core::problem::Problem;
use loupe_core::server_request::ServerRequest;
use loupe_core::settings::Theme;
use loupe_core::source::import::Import;
use loupe_core::source::{Recent, ServerMemory};
use loupe_core::token::TokenizerFile;

/// What the engine reports, by area.
#[derive(Clone, Debug)]
pub enum Event {
    Session {
        session: SessionId,
        update: SessionUpdate,
    },
    Call {
        call: u64,
        update: CallUpdate,
    },
    History(HistoryEvent),
    Live(super::LiveEvent),
    Fixture(FixtureEvent),
    Background(BackgroundEvent),
    Export(ExportEvent),
    Import(ImportEvent),
    Tokens(TokensEvent),
    Watch {
        /// Whose it is: [`super::Watching`] counts them.
        run: u64,
        event: WatchEvent,
    },
    Exact(anthropic_count::ExactEvent),
    /// The hosts that queries are about from here on.
    UseHosts(Arc<Hosts>),
    ToolsRead(Result<ToolsRead, Problem>),
    /// The file says that a rule is silent for a tool.
    Silenced {
        file: PathBuf,
        silence: ToolSilence,
    },
    /// Every result that a file or a pasted text held, at least one.
    Opened(Vec<Arc<Capture>>),
    Answered {
        /// What it was asked about; a capture may be read anew meanwhile.
        about: QueryInput,
        query_key: QueryKey,
        answer: Result<QueryResult, Problem>,
    },
    Problem(Problem),
    /// What a schema says against what was typed.
    SchemaChecked {
        target: CheckTarget,
        revision: u64,
        checked: ArgumentCheck,
    },
    FieldRead {
        field: FieldFile,
        read: FieldText,
    },
    /// The system's file dialog was answered; `None` was cancelled, or could not be shown.
    PathChosen {
        purpose: PathPurpose,
        path: Option<PathBuf>,
    },
}

/// What became of a connection.
#[derive(Clone, Debug)]
pub enum SessionUpdate {
    Phase(String),
    /// A step of connecting has ended.
    Step(Step),
    Stderr(String),
    Connected(Server),
    Tools {
        tools: Vec<Tool>,
        note: Option<String>,
    },
    ConnectFailed(Problem),
    Login(LoginStep),
    Gone(Problem),
    /// The doctor's questions are answered.
    Examined,
    /// How many messages there were.
    Messages(u64),
    Notification(ServerNotification),
}

/// What became of a call.
#[derive(Clone, Debug)]
pub enum CallUpdate {
    Progress {
        progress: f64,
        total: Option<f64>,
        message: Option<String>,
    },
    /// How many lines belong to nobody.
    Unreadable(u64),
    /// The status of the task that the server made of the call.
    Task {
        status: String,
        message: Option<String>,
    },
    Captured(Arc<Capture>),
}

#[derive(Clone, Debug)]
pub enum ExportEvent {
    Saved(PathBuf),
    /// An export for the clipboard.
    Text(String),
    /// An export that only the window can paint.
    Picture {
        picture: ExportPicture,
        theme: Theme,
        /// `None` is the clipboard.
        path: Option<PathBuf>,
    },
    /// A picture is in the clipboard.
    PictureCopied,
}

#[derive(Clone, Debug)]
pub enum ImportEvent {
    /// The sources used before, and the folder they are kept in.
    Recent {
        folder: PathBuf,
        recent: Vec<Recent>,
    },
    /// What is remembered of servers, and the folder it is kept in.
    Servers {
        folder: PathBuf,
        known: BTreeMap<String, ServerMemory>,
    },
    /// What the file has of servers that changes were just written of, those of other windows with them.
    ServersKept(BTreeMap<String, ServerMemory>),
    /// What the keychain has for the server of this key, or why it cannot be used.
    ValuesFound {
        key: String,
        values: Result<BTreeMap<String, String>, String>,
    },
    /// Configurations of other clients.
    Found(Vec<FoundConfig>),
    Read {
        path: PathBuf,
        read: Result<Import, Problem>,
    },
    /// Values for placeholders, by the placeholder as it is written.
    ValuesKnown(Vec<(String, String)>),
    /// A change of a client's configuration, to be shown.
    WrapPrepared(Box<PreparedWrap>),
    WrapWritten(Box<PreparedWrap>),
}

#[derive(Clone, Debug)]
pub enum TokensEvent {
    TokenizerRead(Arc<TokenizerFile>),
    /// The person's own price table, where there is one.
    Prices(Result<Prices, Problem>),
}

/// What a server says next to its answers.
#[derive(Clone, Debug)]
pub enum ServerNotification {
    Asked(ServerRequest),
    Withdrawn {
        key: u64,
        why: String,
    },
    Visited {
        id: String,
    },
    Lines(Vec<Line>),
    Http {
        request: i64,
        http: super::wire::HttpExchange,
    },
    /// The tools again, since the server said that they changed.
    Tools {
        tools: Vec<Tool>,
        note: Option<String>,
    },
    Library {
        entries: Vec<library::LibraryEntry>,
        notes: Vec<String>,
    },
    /// Resources or prompts are no longer what was listed.
    LibraryChanged,
    Completed {
        argument: String,
        values: Vec<String>,
    },
    ResourceUpdated(String),
    Noted(String),
}
