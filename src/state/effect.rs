//! What is to be done outside the state: by the engine, some of it by the app.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::{
    ExportOrder, ExportPicture, FieldFile, FixtureEffect, HistoryEffect, PathPurpose, PreparedWrap,
    SchemaCheck, SessionId, WatchEffect, anthropic_count,
};
use loupe_analysis::contract::ComparisonFile;
use loupe_analysis::finding::ToolSilence;
use loupe_analysis::queries::comparison::ComparisonQuery;
use loupe_analysis::queries::{QueryInput, QueryKey, TableText};
use loupe_core::capture::{Capture, Line, Tool};
use loupe_core::host::Host;
use loupe_core::server_request::Reply;
use loupe_core::settings::Theme;
use loupe_core::source::import::Placeholder;
use loupe_core::source::import::wrap::WrapKind;
use loupe_core::source::{Limits, MemoryChanges, Recent, Source};

/// What is to be done outside the state, by area.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    Session(SessionEffect),
    Answer {
        /// What the query_key names, in its order.
        about: QueryInput,
        query_key: QueryKey,
    },
    /// Nobody asks any more.
    Forget(QueryKey),
    CheckSchema(SchemaCheck),
    Export(ExportEffect),
    Fixture(FixtureEffect),
    History(HistoryEffect),
    Live(super::LiveEffect),
    Import(ImportEffect),
    Tokens(TokensEffect),
    Watch(WatchEffect),
    Exact(anthropic_count::ExactEffect),
    CancelBackground(u64),
    OpenPath(PathBuf),
    OpenText(String),
    /// Reads a file for a field of the form.
    ReadField {
        field: FieldFile,
        path: PathBuf,
    },
    /// Reads the tools that a file holds.
    ReadTools(PathBuf),
    /// From here on the history is in this data folder.
    UseHistory(PathBuf),
    /// Write changed settings into the file in this folder.
    KeepSettings {
        folder: PathBuf,
        changes: loupe_core::settings::Changes,
    },
    /// Writes into this `loupe.toml` that a rule says nothing of a tool.
    Silence {
        file: PathBuf,
        silence: ToolSilence,
    },
    ChoosePath(PathPurpose),
    App(AppEffect),
}

/// Connections and what is sent through them.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionEffect {
    Connect {
        session: SessionId,
        source: Box<Source>,
        limit: Duration,
        /// The revision that it is known to speak.
        speaks: Option<&'static str>,
    },
    /// Ends the session of this number, and everything it started.
    Disconnect {
        session: SessionId,
    },
    Call {
        session: SessionId,
        call: u64,
        tool: Arc<Tool>,
        arguments: Bytes,
        limit: Duration,
    },
    CancelCall {
        call: u64,
    },
    /// Reads a resource or fills in a prompt.
    Read {
        session: SessionId,
        call: u64,
        method: &'static str,
        params: Bytes,
        limit: Duration,
    },
    Command {
        session: SessionId,
        command: SessionCommand,
    },
    /// Folders that are declared from the next connection on.
    UseRoots(Option<Vec<PathBuf>>),
    /// The host whose client Loupe names itself as from the next connection on; `None` names Loupe.
    UseClient(Option<Arc<Host>>),
    /// How much is kept of what a server sends, from the next connection on.
    UseLimits(Limits),
    /// Keep logins in the system's keychain, else in this folder.
    KeepLogins(PathBuf),
    /// Remove the login saved for a server.
    ForgetLogin {
        session: SessionId,
        url: String,
        client_id: Option<String>,
    },
}

/// What is written to files or the clipboard.
#[derive(Clone, Debug, PartialEq)]
pub enum ExportEffect {
    /// To a file, or as text for the clipboard, as the order says.
    Write(Box<ExportOrder>),
    /// A comparison of these calls; without a path as text for the clipboard.
    Compare {
        captures: Vec<Arc<Capture>>,
        ask: ComparisonQuery,
        file: ComparisonFile,
        path: Option<PathBuf>,
    },
    /// A table of the result, as text for the clipboard.
    Table {
        capture: Arc<Capture>,
        text: TableText,
    },
    /// The decoded bytes of the block at this position in `content`.
    Block {
        capture: Arc<Capture>,
        block: usize,
        path: PathBuf,
    },
    Log {
        lines: Vec<Line>,
        path: PathBuf,
    },
}

/// Sources used before, and those of other clients' configurations.
#[derive(Clone, Debug, PartialEq)]
pub enum ImportEffect {
    ReadRecent(PathBuf),
    SaveRecent {
        folder: PathBuf,
        recent: Vec<Recent>,
    },
    /// Read what is remembered of servers.
    ReadServers(PathBuf),
    /// Write what changed of it.
    KeepServers {
        folder: PathBuf,
        changes: MemoryChanges,
    },
    /// Look in the system's keychain for the values of the server of this key.
    FindValues {
        key: String,
    },
    KeepValues {
        key: String,
        values: BTreeMap<String, String>,
    },
    ForgetValues {
        key: String,
    },
    /// Look where clients keep their configurations.
    Look,
    ReadConfig(PathBuf),
    /// Look up the values that this computer has for placeholders of a file.
    KnownValues {
        placeholders: Vec<Placeholder>,
        file: Option<PathBuf>,
    },
    /// Compute what makes a client start a server through Loupe, or no longer.
    PrepareWrap {
        kind: WrapKind,
        server: String,
        path: PathBuf,
    },
    /// Write what was shown.
    WriteWrap(Box<PreparedWrap>),
}

/// Files of the user's own about tokens and money.
#[derive(Clone, Debug, PartialEq)]
pub enum TokensEffect {
    /// Read a tokenizer's file.
    Tokenizer(PathBuf),
    /// Read the price table, where there is one.
    Prices(PathBuf),
}

/// What the window does itself.
#[derive(Clone, Debug, PartialEq)]
pub enum AppEffect {
    Paint {
        picture: ExportPicture,
        theme: Theme,
        /// `None` is the clipboard.
        path: Option<PathBuf>,
    },
    CopyText(String),
    /// A part of the window as a picture: left, top, right, bottom in points.
    CopyRegion([f32; 4]),
    OpenUrl(String),
    Quit,
}

/// What a server is told next to calls.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionCommand {
    Reply {
        key: u64,
        reply: Reply,
    },
    LogLevel(&'static str),
    Roots(Vec<PathBuf>),
    ListLibrary,
    /// `params` of `completion/complete`.
    Complete {
        argument: String,
        params: String,
    },
    Watch {
        uri: String,
        on: bool,
    },
    /// Looks at all that a client relies on; with a tool, calls it instead.
    Examine(Option<Arc<Tool>>),
}
