//! All that the window knows, and how it changes: plain data that tests drive without a window.
//!
//! [`State::perform`] takes what a person did, [`State::apply`] what the engine reports; both are synchronous, look at no
//! clock, file or thread (`now` is a field the app sets), and yield [`Effect`]s. Nothing else changes the state.
//! Uses `report`, `capture`, `source`, `settings`, `problem`; deliberately not `mcp`, `engine` or `ui`.

mod answers;
mod call;
mod change;
pub mod compare;
mod connect;
pub mod diff;
pub mod form;
mod hosts;
pub mod repeat;
mod tokens;
mod view;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

pub use answers::{Answers, Asked};
pub use compare::{Compare, CompareAction, Comparisons, VaryForm};
pub use connect::{ConnectForm, ConnectMode};
pub use form::{Field, FieldKind, Form, FormMode, Value};
pub use hosts::{HostDetail, HostFilter, HostSort, HostsAction, HostsView};
pub use tokens::{PriceTable, ServerColumn, ServerView, TokensAction, TokensPart, TokensView};
pub use view::{DrawerTab, PaneView, Screen, View};

use crate::capture::{Capture, CaptureId, Server, Tool};
use crate::problem::Problem;
use crate::report::{Answer, Inquiry, Prices, ServerCost};
use crate::settings::{Settings, Theme};
use crate::source::Source;
use crate::token::{Encoding, TokenizerFile, Tokens};

/// The whole state of the window.
#[derive(Debug, Default)]
pub struct State {
    /// Monotonic time since the program started; the app sets it before each pass.
    pub now: Duration,
    pub settings: Settings,
    pub connection: Connection,
    /// Counts connections, so that late events of an old one are told apart.
    pub session: u64,
    pub tools: Vec<ListedTool>,
    /// What was odd in the list itself.
    pub tools_note: Option<String>,
    /// Text of the tool filter.
    pub filter: String,
    /// Name of the tool that the call bar is about.
    pub selected_tool: Option<String>,
    /// Forms by tool name, remembered while the program runs.
    pub forms: BTreeMap<String, Form>,
    pub running: Option<Running>,
    /// In order of arrival.
    pub captures: Vec<Arc<Capture>>,
    pub view: View,
    pub comparisons: Comparisons,
    pub answers: Answers,
    /// What the diff screen compares.
    pub diff: diff::Diff,
    /// What the last reconnecting changed.
    pub again: diff::Again,
    pub repeat: repeat::Repeating,
    pub connect_form: ConnectForm,
    /// The tokenizer file that was opened last, for the menu.
    pub tokenizer_file: Option<Arc<TokenizerFile>>,
    pub prices: PriceTable,
    pub server_view: ServerView,
    pub dialog: Option<Dialog>,
    /// Short messages at the bottom right; errors stay until closed.
    pub toasts: Vec<Toast>,
    /// Messages of this session so far, counted from before it is connected.
    messages: u64,
    /// The start page's question that waits for its sample.
    pending: Option<StartQuestion>,
    /// The start page's question whose call is out.
    asked: Option<StartQuestion>,
    next_call: u64,
    next_toast: u64,
}

/// A tool with its position and cost.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedTool {
    pub tool: Arc<Tool>,
    /// Of the exact definition bytes; `None` until counted.
    pub tokens: Option<Tokens>,
}

/// Where the one session stands.
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
    Failed { source: Source, problem: Problem, stderr: Vec<String> },
    /// Was there, and went away.
    Gone { source: Source, server: Server, problem: Problem, stderr: Vec<String> },
}

impl Connection {
    pub fn source(&self) -> Option<&Source> {
        match self {
            Self::None => None,
            Self::Connecting { source, .. }
            | Self::Connected { source, .. }
            | Self::Failed { source, .. }
            | Self::Gone { source, .. } => Some(source),
        }
    }

    pub fn server(&self) -> Option<&Server> {
        match self {
            Self::Connected { server, .. } | Self::Gone { server, .. } => Some(server),
            _ => None,
        }
    }

    pub fn stderr(&self) -> &[String] {
        match self {
            Self::None => &[],
            Self::Connecting { stderr, .. }
            | Self::Connected { stderr, .. }
            | Self::Failed { stderr, .. }
            | Self::Gone { stderr, .. } => stderr,
        }
    }

    pub fn is_connected(&self) -> bool {
        matches!(self, Self::Connected { .. })
    }

    pub fn is_sample(&self) -> bool {
        matches!(self.source(), Some(Source::Sample(_)))
    }
}

/// The call in flight.
#[derive(Clone, Debug, PartialEq)]
pub struct Running {
    pub id: u64,
    pub tool: String,
    pub since: Duration,
    pub limit: Duration,
    /// The last progress: value, total if known, message.
    pub progress: Option<(f64, Option<f64>, Option<String>)>,
    /// Lines that belong to nobody ("1 unreadable line came").
    pub unreadable: u64,
}

/// What is asked before going on.
#[derive(Clone, Debug, PartialEq)]
pub enum Dialog {
    /// The tool is not declared read-only: what will be sent, shown whole.
    ConfirmCall {
        tool: String,
        arguments: String,
    },
    /// The same before the last call is repeated on a connection made again.
    ConfirmAgain {
        tool: String,
        arguments: String,
    },
    /// The same before a series of calls.
    ConfirmRepeat {
        tool: String,
        arguments: String,
        count: u32,
    },
    /// The same for the calls of a comparison: the arguments of each.
    ConfirmCompare {
        tool: String,
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
    /// What became of the server's tools since it was connected before.
    ToolsChanged,
    /// The server's stderr.
    Stderr,
    /// A path to open or save is typed here, since a file dialog is not to be had everywhere. `purpose` decides what *OK* does.
    Path {
        purpose: PathPurpose,
        text: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathPurpose {
    OpenCapture,
    OpenTokenizer,
    ExportCapture,
    ExportResult,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Toast {
    pub id: u64,
    pub text: String,
    /// Errors carry their problem, and stay.
    pub problem: Option<Problem>,
    pub since: Duration,
}

/// What a person did. Every change of the state by hand is one of these.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Where the person's own files are: what is read at the start is read from there.
    UseFolder(PathBuf),
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
    Diff(diff::DiffAction),
    Repeat(repeat::RepeatAction),
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
    /// The person has said yes to [`Dialog::ConfirmCall`].
    ConfirmCall,
    CancelCall,
    /// A card of the start page: connect if needed, select the tool, call it.
    Ask(StartQuestion),
    Compare(CompareAction),
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
    SetWrap(bool),
    SetTheme(Theme),
    ToggleSidebar,
    ToggleDrawer,
    ShowDrawer(DrawerTab),
    Hosts(HostsAction),
    /// Questions that visible panes asked this frame and that have no answer yet; others that are out are called off.
    Want(Vec<Inquiry>),
    // Out and back in
    Copy(String),
    CopyVerdict,
    /// Choose where; `None` opens a dialog.
    ExportCapture(Option<PathBuf>),
    ExportResult(Option<PathBuf>),
    OpenPath(Option<PathBuf>),
    /// *Browse…* in the path dialog: the system's own file dialog.
    ChoosePath(PathPurpose),
    OpenLink(String),
    ConfirmLink,
    ShowDialog(Dialog),
    CloseDialog,
    CloseToast(u64),
    Quit,
}

/// The cards of the start page that work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartQuestion {
    /// "Markdown or JSON?"
    MarkdownOrJson,
    /// "What does each host's model see?"
    HostViews,
    /// "Does my text match my data?"
    TextMatchesData,
    /// "What do hostile records break?"
    HostileRecords,
}

impl StartQuestion {
    pub const ALL: &'static [StartQuestion] =
        &[StartQuestion::MarkdownOrJson, StartQuestion::HostViews, StartQuestion::TextMatchesData, StartQuestion::HostileRecords];

    pub fn title(self) -> &'static str {
        match self {
            StartQuestion::MarkdownOrJson => "Markdown or JSON?",
            StartQuestion::HostViews => "What does each host's model see?",
            StartQuestion::TextMatchesData => "Does my text match my data?",
            StartQuestion::HostileRecords => "What do hostile records break?",
        }
    }

    /// What a click does, in one line.
    pub fn explanation(self) -> &'static str {
        match self {
            StartQuestion::HostViews => {
                "Calls dual_search_companies on the sample: one answer as 28 hosts show it to their models, who sees what and who cuts."
            }
            StartQuestion::MarkdownOrJson => {
                "Calls strict_search_companies on the sample twice, once for JSON and once for Markdown: what each costs, and what it leaves out. 2 read-only calls."
            }
            StartQuestion::TextMatchesData => {
                "Calls dual_search_companies on the sample: its Markdown text and its structuredContent should say the same."
            }
            StartQuestion::HostileRecords => {
                "Calls strict_search_companies on the sample with data=hostile: pipes, fences, markup and invisible characters in the records."
            }
        }
    }

    pub fn tool(self) -> &'static str {
        match self {
            StartQuestion::HostViews | StartQuestion::TextMatchesData => "dual_search_companies",
            StartQuestion::MarkdownOrJson | StartQuestion::HostileRecords => "strict_search_companies",
        }
    }
}

/// What the engine reports.
#[derive(Clone, Debug)]
pub enum Event {
    Phase {
        session: u64,
        phase: String,
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
    ToolTokens {
        session: u64,
        tokens: Vec<Tokens>,
    },
    ToolsCompared {
        session: u64,
        found: Arc<crate::report::difference::ToolsDifference>,
    },
    ConnectFailed {
        session: u64,
        problem: Problem,
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
    /// A capture opened from disk.
    Opened(Arc<Capture>),
    Answered {
        inquiry: Inquiry,
        answer: Result<Answer, Problem>,
    },
    TokenizerRead(Arc<TokenizerFile>),
    ServerCost {
        session: u64,
        cost: Arc<ServerCost>,
    },
    /// The person's own price table, where there is one.
    Prices(Result<Prices, Problem>),
    Exported(PathBuf),
    Problem(Problem),
    /// The system's file dialog was answered; `None` was cancelled, or could not be shown.
    PathChosen {
        purpose: PathPurpose,
        path: Option<PathBuf>,
    },
}

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
    CountTools {
        session: u64,
        tools: Vec<Bytes>,
    },
    /// Compares the tools of the connection before with those listed now.
    CompareTools {
        session: u64,
        before: Vec<Arc<Tool>>,
        now: Vec<Arc<Tool>>,
    },
    Answer {
        /// Those the inquiry names, in its order.
        captures: Vec<Arc<Capture>>,
        inquiry: Inquiry,
    },
    /// Nobody asks any more.
    Forget(Inquiry),
    ExportCapture {
        capture: Arc<Capture>,
        path: PathBuf,
    },
    ExportResult {
        capture: Arc<Capture>,
        path: PathBuf,
    },
    OpenPath(PathBuf),
    ReadTokenizer(PathBuf),
    /// Read the person's own price table in this folder, where there is one.
    ReadPrices(PathBuf),
    /// Count the definitions by part.
    CountServer {
        session: u64,
        server: Box<Server>,
        tools: Vec<Arc<Tool>>,
        encoding: Encoding,
    },
    ChoosePath(PathPurpose),
    /// For the app: clipboard, browser, end.
    CopyText(String),
    OpenUrl(String),
    Quit,
}

/// Default time limits of the contract.
pub const CONNECT_LIMIT: Duration = Duration::from_secs(90);
pub const CALL_LIMIT: Duration = Duration::from_secs(60);

impl State {
    /// The tool that the call bar is about.
    pub fn tool(&self) -> Option<&ListedTool> {
        let name = self.selected_tool.as_deref()?;
        self.tools.iter().find(|listed| listed.tool.name == name)
    }

    /// The form of the selected tool.
    pub fn form(&self) -> Option<&Form> {
        self.forms.get(self.selected_tool.as_deref()?)
    }

    /// The capture shown, if any.
    pub fn capture(&self) -> Option<&Arc<Capture>> {
        let id = self.view.capture.as_ref()?;
        self.captures.iter().find(|capture| capture.id == *id)
    }

    /// Tokens of all definitions together, in [`Settings::encoding`]; `None` until they are listed and all are counted.
    pub fn tools_total(&self) -> Option<u64> {
        if self.tools.is_empty() {
            return None;
        }
        self.tools.iter().map(|listed| Some(listed.tokens?.get(self.settings.encoding()))).sum()
    }

    /// Whether the form says something other than the capture shown was called with.
    pub fn is_answer_stale(&self) -> bool {
        let (Some(capture), Some(form)) = (self.capture(), self.form()) else { return false };
        !capture.request.is_empty()
            && capture.tool.name == self.selected_tool.as_deref().unwrap_or_default()
            && capture.arguments != form.text.as_bytes()
    }
}
