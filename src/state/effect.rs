//! What is to be done outside the state; the engine does it, three things the app.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::{CollectionEffect, ExportOrder, ExportPicture, FixtureEffect, HistoryEffect, PathPurpose, exact};
use crate::analysis::sweep::SweepQuery;
use crate::analysis::{About, Inquiry};
use crate::ask::Reply;
use crate::capture::{Capture, Line, Tool};
use crate::contract::SweepFile;
use crate::host::Host;
use crate::settings::Theme;
use crate::source::import::Placeholder;
use crate::source::{Limits, Recent, Source};
use crate::token::Encoding;

/// What is to be done outside the state.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    Connect {
        session: u64,
        source: Source,
        limit: Duration,
    },
    /// Ends the session of this number, and everything it started.
    Disconnect {
        session: u64,
    },
    Call {
        session: u64,
        call: u64,
        tool: Arc<Tool>,
        arguments: Bytes,
        limit: Duration,
    },
    CancelCall {
        call: u64,
    },
    SessionCommand {
        session: u64,
        tell: SessionCommand,
    },
    /// Reads a resource or fills in a prompt.
    Read {
        session: u64,
        call: u64,
        method: &'static str,
        params: Bytes,
        limit: Duration,
    },
    /// Folders that are declared from the next connection on.
    UseRoots(Option<Vec<PathBuf>>),
    /// The host whose client Loupe names itself as from the next connection on; `None` names Loupe.
    UseClient(Option<Arc<Host>>),
    /// What is kept of what a server sends, from the next connection on.
    UseLimits(Limits),
    SaveLog {
        lines: Vec<Line>,
        path: PathBuf,
    },
    Answer {
        /// What the inquiry names, in its order.
        about: About,
        inquiry: Inquiry,
    },
    /// Nobody asks any more.
    Forget(Inquiry),
    /// Writes an export to a file; `None` gives its text back for the clipboard.
    ExportAs(Box<ExportOrder>),
    Fixture(FixtureEffect),
    Collection(CollectionEffect),
    /// Writes a comparison, of these calls; `None` gives its text back for the clipboard.
    ExportCompare {
        captures: Vec<Arc<Capture>>,
        ask: SweepQuery,
        file: SweepFile,
        path: Option<PathBuf>,
        encoding: Encoding,
    },
    /// Writes the decoded bytes of the block at this position in `content`.
    SaveBlock {
        capture: Arc<Capture>,
        block: usize,
        path: PathBuf,
    },
    OpenPath(PathBuf),
    /// Reads the tools that a file holds.
    ReadTools(PathBuf),
    /// From here on the history is in this data folder.
    UseHistory(PathBuf),
    History(HistoryEffect),
    OpenText(String),
    ReadTokenizer(PathBuf),
    Exact(exact::ExactEffect),
    /// Read the person's own price table, where there is one.
    ReadPrices(PathBuf),
    /// Write changed settings into the file in this folder.
    KeepSettings {
        folder: PathBuf,
        changes: crate::settings::Changes,
    },
    /// Judge the texts that a host gave its model for the probe's tools; the question before is called off.
    Probe {
        run: u64,
        pasted: Vec<(&'static str, String)>,
    },
    /// Add an entry, a whole hosts file, to the person's own in this folder, and use it from here on.
    AddHost {
        folder: PathBuf,
        entry: String,
    },
    ChoosePath(PathPurpose),
    /// Keep logins in the system's keychain, else in this folder.
    KeepLogins(PathBuf),
    /// Remove the login that is kept for a server.
    ForgetLogin {
        session: u64,
        url: String,
        client_id: Option<String>,
    },
    ReadRecent(PathBuf),
    SaveRecent {
        folder: PathBuf,
        recent: Vec<Recent>,
    },
    /// Look where clients keep their configurations.
    LookForConfigs,
    ReadConfig(PathBuf),
    /// Look up the values that this computer has for placeholders of a file.
    KnownValues {
        holes: Vec<Placeholder>,
        file: Option<PathBuf>,
    },
    /// For the app: a picture, clipboard, browser, end.
    Paint {
        picture: ExportPicture,
        theme: Theme,
        /// `None` is the clipboard.
        path: Option<PathBuf>,
    },
    CopyText(String),
    OpenUrl(String),
    Quit,
}

/// What a server is told beside calls.
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
}
