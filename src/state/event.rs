//! What the engine reports: what came of effects, and what servers say beside their answers.

use std::path::PathBuf;
use std::sync::Arc;

use super::versus::ToolsRead;
use super::{CollectionEvent, ExportPicture, FixtureEvent, FoundConfig, HistoryEvent, LoginStep, PathPurpose, exact, library};
use crate::analysis::{Inquiry, Prices, QueryResult};
use crate::ask::Ask;
use crate::capture::{Capture, Line, Server, Step, Tool};
use crate::problem::Problem;
use crate::settings::Theme;
use crate::source::Recent;
use crate::source::import::Import;
use crate::token::TokenizerFile;

/// What the engine reports.
#[derive(Clone, Debug)]
pub enum Event {
    Phase {
        session: u64,
        phase: String,
    },
    /// A step of connecting has ended.
    Step {
        session: u64,
        step: Step,
    },
    Stderr {
        session: u64,
        line: String,
    },
    Connected {
        session: u64,
        server: Server,
    },
    Tools {
        session: u64,
        tools: Vec<Tool>,
        note: Option<String>,
    },
    ConnectFailed {
        session: u64,
        problem: Problem,
    },
    Login {
        session: u64,
        step: LoginStep,
    },
    Gone {
        session: u64,
        problem: Problem,
    },
    Messages {
        session: u64,
        count: u64,
    },
    Progress {
        call: u64,
        progress: f64,
        total: Option<f64>,
        message: Option<String>,
    },
    Unreadable {
        call: u64,
        count: u64,
    },
    Captured {
        call: u64,
        capture: Arc<Capture>,
    },
    ServerNotification {
        session: u64,
        heard: ServerNotification,
    },
    History(HistoryEvent),
    Fixture(FixtureEvent),
    Collection(CollectionEvent),
    /// An export that only the window can paint.
    Picture {
        picture: ExportPicture,
        theme: Theme,
        /// `None` is the clipboard.
        path: Option<PathBuf>,
    },
    /// A picture is in the clipboard.
    PictureCopied,
    ToolsRead(Result<ToolsRead, Problem>),
    /// Every answer that a file or a pasted text held, at least one.
    Opened(Vec<Arc<Capture>>),
    Answered {
        inquiry: Inquiry,
        answer: Result<QueryResult, Problem>,
    },
    TokenizerRead(Arc<TokenizerFile>),
    Exact(exact::ExactEvent),
    /// The person's own price table, where there is one.
    Prices(Result<Prices, Problem>),
    /// What the pasted texts say of a host, and the day.
    Probed {
        run: u64,
        finding: Result<Arc<crate::host::probe::Finding>, Problem>,
        today: String,
    },
    HostAdded(Result<PathBuf, Problem>),
    /// The hosts that questions are about from here on.
    Hosts(Arc<crate::host::Hosts>),
    Exported(PathBuf),
    /// The sources used before, and the folder they are kept in.
    Recent {
        folder: PathBuf,
        recent: Vec<Recent>,
    },
    ConfigsFound(Vec<FoundConfig>),
    ConfigRead {
        path: PathBuf,
        read: Result<Import, Problem>,
    },
    /// Values for placeholders, by the placeholder as it is written.
    ValuesKnown(Vec<(String, String)>),
    /// An export for the clipboard.
    ExportedText(String),
    Problem(Problem),
    /// The system's file dialog was answered; `None` was cancelled, or could not be shown.
    PathChosen {
        purpose: PathPurpose,
        path: Option<PathBuf>,
    },
}

/// What a server says beside its answers.
#[derive(Clone, Debug)]
pub enum ServerNotification {
    Asked(Ask),
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
    Task {
        status: String,
        message: Option<String>,
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
