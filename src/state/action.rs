//! What the user does at the window, and what is asked of them before it is done. Plain data; each area has its actions
//! in its own file.

use std::path::PathBuf;

use super::{
    CallAction, Compare, CompareAction, ConnectAction, ExportAction, FindingsAction, FixtureAction,
    HistoryAction, HostsAction, ImportAction, LoginAction, MissingValues, OpenServersAction,
    PreparedCall, PreparedVerify, PreparedWrap, ServersAction, SettingsAction, TableAction,
    TokensAction, ValuesAction, ViewAction, WatchAction, anthropic_count, diff, library, media,
    server_diff, server_requests, wire,
};
use loupe_analysis::contract::ComparisonFile;
use loupe_analysis::finding::ToolSilence;
use loupe_analysis::fixture::export::ExportChoice;
use loupe_analysis::queries::QueryKey;
use loupe_core::source::Watch;

/// What the user did, by area. Every change of the state by hand is one of these.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    View(ViewAction),
    Settings(SettingsAction),
    Connect(ConnectAction),
    Call(CallAction),
    Compare(CompareAction),
    Diff(diff::DiffAction),
    ServerDiff(server_diff::ServerDiffAction),
    Login(LoginAction),
    Servers(ServersAction),
    OpenServers(OpenServersAction),
    Values(ValuesAction),
    Watch(WatchAction),
    Import(ImportAction),
    /// To the question of the server that waits.
    Answer(server_requests::ServerRequestAction),
    Wire(wire::WireAction),
    Doctor(super::DoctorAction),
    Library(library::LibraryAction),
    Live(super::LiveAction),
    Transcript(super::TranscriptAction),
    /// With a block that is no text.
    Media(media::MediaAction),
    Table(TableAction),
    History(HistoryAction),
    Fixture(FixtureAction),
    /// About tokens, tokenizers and money.
    Tokens(TokensAction),
    Exact(anthropic_count::ExactAction),
    Hosts(HostsAction),
    Findings(FindingsAction),
    CancelBackground(u64),
    ExportAs(ExportAction),
    /// Queries of visible panes that have no result yet; others that are out are cancelled.
    Want(Vec<QueryKey>),
    Copy(String),
    CopySummary,
    /// Brings back what was taken away a moment ago.
    Undo,
    /// Copies a part of the window as a picture: left, top, right, bottom in points.
    CopyRegion([f32; 4]),
    OpenPath(Option<PathBuf>),
    /// A text that was pasted, opened as a file with it would be.
    OpenText(String),
    /// The path that was typed into a dialog, which comes back if it leads nowhere.
    TakePath {
        purpose: PathPurpose,
        text: String,
    },
    /// *Browse…* in the path dialog: the system's own file dialog.
    ChoosePath(PathPurpose),
    OpenLink(String),
    ConfirmLink,
    ShowDialog(Dialog),
    CloseDialog,
    CloseToast(u64),
    Quit,
}

/// An action of an area is sent without naming [`Action`].
macro_rules! areas {
    ($($area:ident: $action:ty),* $(,)?) => {
        $(impl From<$action> for Action {
            fn from(action: $action) -> Self {
                Self::$area(action)
            }
        })*
    };
}

areas! {
    Compare: CompareAction,
    Diff: diff::DiffAction,
    ServerDiff: server_diff::ServerDiffAction,
    Login: LoginAction,
    Import: ImportAction,
    Answer: server_requests::ServerRequestAction,
    Wire: wire::WireAction,
    Library: library::LibraryAction,
    Live: super::LiveAction,
    Transcript: super::TranscriptAction,
    Media: media::MediaAction,
    History: HistoryAction,
    Fixture: FixtureAction,
    Tokens: TokensAction,
    Exact: anthropic_count::ExactAction,
    Hosts: HostsAction,
    ExportAs: ExportAction,
    Findings: FindingsAction,
    View: ViewAction,
    Settings: SettingsAction,
    Servers: ServersAction,
    OpenServers: OpenServersAction,
    Values: ValuesAction,
    Watch: WatchAction,
    Connect: ConnectAction,
    Call: CallAction,
    Table: TableAction,
}

/// What is asked before going on.
#[derive(Clone, Debug, PartialEq)]
pub enum Dialog {
    /// The tool is not declared read-only: what will be sent, shown whole.
    ConfirmCall {
        call: PreparedCall,
    },
    /// The same for the calls of a comparison: the arguments of each.
    ConfirmCompare {
        compare: Box<Compare>,
        calls: Vec<String>,
    },
    /// The same for the calls of fixtures: tool and arguments of each that may change something.
    ConfirmFixtures {
        run: PreparedVerify,
        calls: Vec<String>,
    },
    /// The change of a client's configuration.
    Wrap(Box<PreparedWrap>),
    /// Whether transcripts of a host may be read.
    AllowTranscript(super::TranscriptPlace),
    /// Where a host's transcript differs from its rule.
    TranscriptDifferences,
    /// Values that a server needs before it is connected to.
    Values(Box<MissingValues>),
    /// Tools of the server that are called without a question.
    AllowedTools,
    /// Why a rule is to say nothing of a tool, as it is typed.
    Silence(ToolSilence),
    /// The name that the arguments are to be kept under.
    KeepArguments {
        name: String,
    },
    /// Variables of the server, and one that is being added.
    Variables {
        name: String,
        value: String,
    },
    /// What of the server's files is watched, as it is being changed.
    Watch(Watch),
    /// The definition as the server lists it.
    Definition {
        tool: String,
    },
    /// A link in a result, shown before it opens.
    OpenLink {
        url: String,
    },
    Shortcuts,
    /// What is typed into the palette, and which of what it finds is chosen.
    Palette {
        text: String,
        chosen: usize,
    },
    /// What earlier runs kept.
    History,
    /// Answers saved as fixtures: [`super::fixture::FixtureSaving`].
    Fixture,
    /// What became of the server's tools since it was connected before.
    ToolsChanged,
    /// How the connection came about, step by step.
    /// The server's stderr.
    Stderr,
    /// What would be sent to the provider that counts.
    ExactCount,
    /// Folders that servers are told about, one a line.
    Roots {
        text: String,
        is_declared: bool,
    },
    /// A path to open or save is typed here, since a file dialog is not to be had everywhere. `purpose` decides what *OK* does.
    Path {
        purpose: PathPurpose,
        text: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PathPurpose {
    OpenCapture,
    OpenTokenizer,
    /// A file whose content a field takes.
    FillField,
    ImportConfig,
    SaveLog,
    ExportAs(ExportChoice),
    /// A folder of fixtures, to verify.
    OpenFixtures,
    /// A file or folder whose tools are compared with the server's.
    OpenTools,
    ExportCompare(ComparisonFile),
    /// The bytes of the block at this position in `content`.
    SaveBlock(usize),
}

impl PathPurpose {
    /// What is done with the path that was given.
    pub(super) fn action(self, path: PathBuf) -> Action {
        match self {
            Self::OpenCapture => Action::OpenPath(Some(path)),
            Self::OpenTokenizer => Action::Tokens(TokensAction::OpenFile(Some(path))),
            Self::FillField => CallAction::TakeFile(path).into(),
            Self::ImportConfig => Action::Import(ImportAction::Read(path)),
            Self::SaveLog => Action::Wire(wire::WireAction::Save(Some(path))),
            Self::ExportCompare(file) => Action::Compare(CompareAction::Save {
                file,
                path: Some(path),
            }),
            Self::SaveBlock(block) => Action::Media(media::MediaAction::Save {
                block,
                path: Some(path),
            }),
            Self::ExportAs(kind) => Action::ExportAs(ExportAction::Save {
                kind,
                path: Some(path),
            }),
            Self::OpenTools => Action::ServerDiff(server_diff::ServerDiffAction::Open(Some(path))),
            Self::OpenFixtures => Action::Fixture(FixtureAction::Find(Some(path))),
        }
    }
}
