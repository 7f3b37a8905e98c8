//! What a person does at the window, and what is asked of them before it is done. Plain data; each area has its actions
//! in its own file.

use std::path::PathBuf;

use super::{
    CollectionAction, Compare, CompareAction, ConnectForm, DrawerTab, ExportAction, FixtureAction, FormMode, HistoryAction,
    HostsAction, ImportAction, LoginAction, PaneView, PreparedCall, PreparedRun, ProbeAction, StartQuestion, TokensAction, Value,
    asks, diff, exact, library, media, versus, wire,
};
use crate::analysis::Inquiry;
use crate::capture::CaptureId;
use crate::contract::SweepFile;
use crate::fixture::export::ExportChoice;
use crate::settings::{PanelSize, Theme};
use crate::source::{Protocol, Source};

/// What a person did. Every change of the state by hand is one of these.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Where the person's own files are: what is read at the start is read from there.
    UseFolder(PathBuf),
    /// Where settings are kept from here on, and what stands there.
    UseSettings {
        folder: PathBuf,
        table: toml::Table,
    },
    /// The window has this size, in points.
    KeepWindow([f32; 2]),
    /// A panel was given this size.
    KeepPanel(PanelSize),
    // Connecting
    ShowConnect,
    EditConnect(ConnectForm),
    /// Connect to what the connect form says.
    ConnectForm,
    Connect(Source),
    CancelConnect,
    Disconnect,
    /// Ctrl R: connect again to the same source and list again.
    Reconnect,
    /// The same in this revision of the protocol; the last call is made there too, and its two answers compared.
    ReconnectIn(Protocol),
    Diff(diff::DiffAction),
    Versus(versus::ServerDiffAction),
    Login(LoginAction),
    Import(ImportAction),
    // Tools
    SetFilter(String),
    SelectTool(String),
    ToggleGroup(String),
    // Arguments
    SetFormMode(FormMode),
    SetField {
        field: usize,
        value: Value,
    },
    SetArgumentsText(String),
    /// Put the arguments of the capture shown back into the form.
    RestoreArguments,
    // Calling
    /// Call the selected tool; asks first where it is not declared read-only.
    Call {
        send_anyway: bool,
    },
    /// The person has said yes to the calls of the dialog.
    ConfirmCall,
    CancelCall,
    /// A card of the start page: connect if needed, select the tool, call it.
    Ask(StartQuestion),
    Compare(CompareAction),
    /// To the question of the server that waits.
    Answer(asks::AskAction),
    Wire(wire::WireAction),
    Library(library::LibraryAction),
    /// With a block that is no text.
    Media(media::MediaAction),
    /// What completion requests are answered with from here on; `None` asks each time.
    SetSamplingReply(Option<String>),
    /// Which folders servers are told of.
    SetRoots(Option<Vec<PathBuf>>),
    History(HistoryAction),
    Fixture(FixtureAction),
    Collection(CollectionAction),
    // Captures and panes
    SelectCapture(CaptureId),
    ShowStart,
    /// Back from a screen of its own to the panes, or to the start page where there is no answer.
    ShowAnswer,
    /// What a pane shows: pane index (0–2) and what.
    SetPane {
        pane: usize,
        shows: PaneView,
    },
    TogglePane(usize),
    FocusPane(usize),
    ToggleMaximised(usize),
    /// Select a record (tape index in the payload), in all panes; `None` clears.
    SelectRecord(Option<usize>),
    ToggleNode(usize),
    SetTreeCursor(usize),
    /// Up/Down in the ledger: shows the format in the middle pane; `None` restores.
    Peek(Option<&'static str>),
    /// Keeps what is peeked at.
    KeepPeek,
    /// Puts what is peeked at into the third pane, beside what the middle one showed before.
    KeepPeekBeside,
    SetSearch(Option<String>),
    SetBaseline(&'static str),
    /// About tokens, tokenizers and money.
    Tokens(TokensAction),
    Exact(exact::ExactAction),
    SetWrap(bool),
    SetTheme(Theme),
    ToggleSidebar,
    ToggleDrawer,
    ShowDrawer(DrawerTab),
    Hosts(HostsAction),
    Probe(ProbeAction),
    /// Questions that visible panes asked this frame and that have no answer yet; others that are out are called off.
    Want(Vec<Inquiry>),
    // Out and back in
    Copy(String),
    CopyVerdict,
    ExportAs(ExportAction),
    OpenPath(Option<PathBuf>),
    /// A text that was pasted, opened as a file with it would be.
    OpenText(String),
    /// *Browse…* in the path dialog: the system's own file dialog.
    ChoosePath(PathPurpose),
    OpenLink(String),
    ConfirmLink,
    ShowDialog(Dialog),
    CloseDialog,
    CloseToast(u64),
    Quit,
}

/// What is asked before going on.
#[derive(Clone, Debug, PartialEq)]
pub enum Dialog {
    /// The tool is not declared read-only: what will be sent, shown whole.
    ConfirmCall {
        call: PreparedCall,
    },
    /// The same before the last call is repeated on a connection made again.
    ConfirmAgain {
        call: PreparedCall,
    },
    /// The same for the calls of a comparison: the arguments of each.
    ConfirmCompare {
        compare: Box<Compare>,
        calls: Vec<String>,
    },
    /// The same for the calls of a collection: tool and arguments of each that may change something.
    ConfirmCollection {
        run: PreparedRun,
        calls: Vec<String>,
    },
    /// The definition as the model reads it.
    Definition {
        tool: String,
    },
    /// A link in an answer, shown before it opens.
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
    /// The answer saved as a fixture: [`super::fixture::FixtureSaving`].
    Fixture,
    /// What became of the server's tools since it was connected before.
    ToolsChanged,
    /// How the connection came about, step by step.
    Steps,
    /// The server's stderr.
    Stderr,
    /// What would be sent to the provider that counts.
    ExactCount,
    /// Folders that servers are told of, one a line.
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
    ImportConfig,
    SaveLog,
    ExportAs(ExportChoice),
    /// A folder of fixtures, to verify.
    OpenFixtures,
    /// A file or folder whose tools are compared with the server's.
    OpenTools,
    OpenCollection,
    /// A run that was saved.
    OpenRun,
    SaveRun,
    /// A collection that calls of this run go into.
    SaveCalls,
    ExportCompare(SweepFile),
    /// The bytes of the block at this position in `content`.
    SaveBlock(usize),
}

impl PathPurpose {
    /// What is done with the path that was given.
    pub(crate) fn action(self, path: PathBuf) -> Action {
        match self {
            Self::OpenCapture => Action::OpenPath(Some(path)),
            Self::OpenTokenizer => Action::Tokens(TokensAction::OpenFile(Some(path))),
            Self::ImportConfig => Action::Import(ImportAction::Read(path)),
            Self::SaveLog => Action::Wire(wire::WireAction::Save(Some(path))),
            Self::ExportCompare(file) => Action::Compare(CompareAction::Save { file, path: Some(path) }),
            Self::SaveBlock(block) => Action::Media(media::MediaAction::Save { block, path: Some(path) }),
            Self::ExportAs(kind) => Action::ExportAs(ExportAction::Save { kind, path: Some(path) }),
            Self::OpenTools => Action::Versus(versus::ServerDiffAction::Open(Some(path))),
            Self::OpenFixtures => Action::Fixture(FixtureAction::Find(Some(path))),
            Self::OpenCollection => Action::Collection(CollectionAction::Open(Some(path))),
            Self::OpenRun => Action::Collection(CollectionAction::Against(Some(path))),
            Self::SaveRun => Action::Collection(CollectionAction::SaveRun(Some(path))),
            Self::SaveCalls => Action::Collection(CollectionAction::SaveCalls(path)),
        }
    }
}
