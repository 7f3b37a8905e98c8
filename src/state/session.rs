//! One server's session: everything that belongs to one connection, and the sessions that are open.
//!
//! An event of a server carries its [`SessionId`] and changes that session alone. What is shared by all servers
//! (captures, settings, the screen) is in [`State`].

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use super::library::Library;
use super::server_requests::ServerRequests;
use super::wire::WireView;
use super::{
    Connection, Effect, Form, ListedTool, LoginLog, SessionCommand, SessionEffect, StartQuestion,
    State, diff,
};
use loupe_analysis::queries::Definitions;
use loupe_core::capture::{CaptureId, Step, Tool};
use loupe_core::source::{ServerMemory, Source};

/// Identifies one connection. No two connections of a run have the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub u64);

/// One server: its connection, and all that was listed, typed, allowed and logged there.
#[derive(Debug, Default)]
pub struct ServerSession {
    pub id: SessionId,
    pub connection: Connection,
    /// Under which key this server is remembered; `None` for the sample and for a folder of captures.
    pub(super) memory_key: Option<String>,
    /// Digest of exactly this command or address. Consent to a tool holds for it alone.
    pub(super) exact: Option<String>,
    pub tools: Vec<ListedTool>,
    /// Number of the current list of tools. Counts of an older list are identified by theirs.
    pub(super) list: u64,
    /// Whether counting this list failed.
    pub is_uncounted: bool,
    /// What was odd in the list itself.
    pub tools_note: Option<String>,
    /// Filter text of the sidebar's list.
    pub filter: String,
    /// Name of the tool in the call bar.
    pub selected_tool: Option<String>,
    /// Forms by tool name.
    pub forms: BTreeMap<String, Form>,
    /// Values typed for hidden arguments of fixtures, by folder and JSON Pointer. Never shown, never saved.
    pub(super) filled: HashMap<(PathBuf, String), String>,
    /// Values typed for this connection, to be saved in the system's keychain once it is connected.
    pub(super) to_keep: Option<(String, BTreeMap<String, String>)>,
    /// The capture of the last call.
    pub last_called: Option<CaptureId>,
    /// The capture that was shown when the user switched to another server.
    pub(super) shown: Option<CaptureId>,
    /// Elicitations and other requests of the server that wait for the user.
    pub server_requests: ServerRequests,
    pub login: LoginLog,
    /// Number of older stderr lines that were dropped.
    pub stderr_dropped: u64,
    /// The steps of connecting; kept after the connection ends.
    pub steps: Vec<Step>,
    /// How the doctor's examination stands; `None` where there was none.
    pub examination: Option<super::Examination>,
    /// Number of messages so far, counted from before it is connected.
    pub(super) messages: u64,
    /// Whether the server was told of folders.
    pub(super) roots_declared: bool,
    /// The protocol log.
    pub wire: WireView,
    /// Resources and prompts.
    pub library: Library,
    /// What the last reconnect changed.
    pub reconnect: diff::Reconnect,
    /// The start page's question that waits for its sample.
    pub(super) pending: Option<StartQuestion>,
}

impl ServerSession {
    /// The tool in the call bar.
    pub fn tool(&self) -> Option<&ListedTool> {
        self.find_tool(self.selected_tool.as_deref()?)
    }

    /// Adds a step of connecting. A program that is started again says on stderr what it said before.
    pub(super) fn add_step(&mut self, step: Step) {
        if step.name == "start"
            && let Connection::Connecting { stderr, .. } = &mut self.connection
        {
            stderr.clear();
        }
        self.steps.push(step);
    }

    /// The form of the selected tool.
    pub fn form(&self) -> Option<&Form> {
        self.forms.get(self.selected_tool.as_deref()?)
    }

    /// The listed tool of this name.
    pub fn find_tool(&self, name: &str) -> Option<&ListedTool> {
        self.tools.iter().find(|listed| listed.tool.name == name)
    }

    pub fn is_sample(&self) -> bool {
        self.connection.is_sample()
    }

    pub fn has_tool(&self, name: &str) -> bool {
        self.find_tool(name).is_some()
    }

    pub(super) fn own_tools(&self) -> Vec<Arc<Tool>> {
        self.tools
            .iter()
            .map(|listed| Arc::clone(&listed.tool))
            .collect()
    }

    /// The tools as queries are about them.
    pub(super) fn definitions(&self) -> Definitions {
        Definitions {
            server: self.connection.server().cloned().unwrap_or_default(),
            tools: self.own_tools(),
        }
    }

    /// Takes over a list of tools; forms follow the schemas of their tools.
    pub(super) fn use_tools(&mut self, tools: Vec<Tool>, note: Option<String>, number: u64) {
        for tool in &tools {
            if let Some(form) = self.forms.get_mut(&tool.name) {
                form.follow(tool.input_schema.as_ref());
            }
        }
        self.list = number;
        self.is_uncounted = false;
        self.tools = tools
            .into_iter()
            .map(|tool| ListedTool {
                tool: Arc::new(tool),
                tokens: None,
            })
            .collect();
        self.tools_note = note;
    }

    /// Selects a listed tool; its form begins with what this server remembers.
    pub(super) fn select_tool(&mut self, name: &str, memory: Option<&ServerMemory>) {
        let Some(listed) = self.find_tool(name) else {
            return;
        };
        let schema = listed.tool.input_schema.clone();
        self.selected_tool = Some(name.to_owned());
        if self.forms.contains_key(name) {
            return;
        }
        let mut form = Form::new(schema.as_ref());
        if let Some(memory) = memory {
            form.use_variables(Arc::new(memory.variables.clone()));
            if let Some(last) = memory
                .arguments
                .get(name)
                .and_then(|arguments| arguments.last.as_ref())
            {
                form.set_text(last);
            }
        }
        self.forms.insert(name.to_owned(), form);
    }

    /// Gives every form the variables of this server.
    pub(super) fn use_variables(&mut self, memory: Option<&ServerMemory>) {
        let variables = Arc::new(
            memory
                .map(|memory| memory.variables.clone())
                .unwrap_or_default(),
        );
        for form in self.forms.values_mut() {
            form.use_variables(Arc::clone(&variables));
        }
    }

    /// Has the server told something.
    pub(super) fn command(&self, command: SessionCommand, effects: &mut Vec<Effect>) {
        effects.push(Effect::Session(SessionEffect::Command {
            session: self.id,
            command,
        }));
    }

    /// Changes the form of the selected tool.
    pub(super) fn edit_form(&mut self, edit: impl FnOnce(&mut Form)) {
        let Some(name) = self.selected_tool.as_deref() else {
            return;
        };
        if let Some(form) = self.forms.get_mut(name) {
            edit(form);
        }
    }

    /// What is left when the connection is closed on purpose: what was typed, and what was logged.
    pub(super) fn close(self, id: SessionId) -> Self {
        Self {
            id,
            connection: Connection::None,
            tools: Vec::new(),
            selected_tool: None,
            to_keep: None,
            shown: None,
            server_requests: ServerRequests::default(),
            login: LoginLog::default(),
            library: Library::default(),
            pending: None,
            ..self
        }
    }

    /// The session of a new connection. To the same server it takes along what was typed and allowed there; of another
    /// server nothing comes along but how the user looks at the protocol log.
    pub(super) fn carry_over(old: Self, new: ServerSession) -> Self {
        let wire = old.wire.empty_copy();
        if !old.is_same_server(&new) {
            return Self { wire, ..new };
        }
        let mut forms = old.forms;
        forms.values_mut().for_each(|form| form.progress.restart());
        Self {
            wire,
            forms,
            filter: old.filter,
            selected_tool: old.selected_tool,
            filled: old.filled,
            reconnect: old.reconnect,
            last_called: old.last_called,
            ..new
        }
    }

    fn is_same_server(&self, other: &Self) -> bool {
        match (&self.memory_key, &other.memory_key) {
            (Some(one), Some(two)) => one == two,
            (None, None) => match (self.connection.source(), other.connection.source()) {
                (Some(Source::Sample(_)), Some(Source::Sample(_))) => true,
                (Some(one), Some(two)) => one == two,
                _ => false,
            },
            _ => false,
        }
    }
}

/// Every session that is open; one of them, the current one, is shown.
#[derive(Debug)]
pub struct Sessions {
    open: BTreeMap<SessionId, ServerSession>,
    /// Always one of `open`.
    current: SessionId,
    /// The id that was given last.
    last: SessionId,
}

impl Default for Sessions {
    fn default() -> Self {
        let current = SessionId::default();
        Self {
            open: BTreeMap::from([(current, ServerSession::default())]),
            current,
            last: current,
        }
    }
}

impl Sessions {
    /// An id that no connection had before.
    pub(super) fn new_id(&mut self) -> SessionId {
        self.last.0 += 1;
        self.last
    }

    pub fn current(&self) -> &ServerSession {
        &self.open[&self.current]
    }

    pub fn current_mut(&mut self) -> &mut ServerSession {
        self.open.entry(self.current).or_default()
    }

    pub fn get(&self, id: SessionId) -> Option<&ServerSession> {
        self.open.get(&id)
    }

    pub(super) fn get_mut(&mut self, id: SessionId) -> Option<&mut ServerSession> {
        self.open.get_mut(&id)
    }

    pub fn is_current(&self, id: SessionId) -> bool {
        self.current == id
    }

    /// The current session, then the others in the order in which they were opened.
    pub fn iter(&self) -> impl Iterator<Item = &ServerSession> {
        std::iter::once(self.current()).chain(self.others())
    }

    /// The sessions that are open but not shown.
    pub fn others(&self) -> impl Iterator<Item = &ServerSession> {
        self.open
            .values()
            .filter(|session| session.id != self.current)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut ServerSession> {
        self.open.values_mut()
    }

    /// Shows another session.
    pub(super) fn turn_to(&mut self, id: SessionId) {
        if self.open.contains_key(&id) {
            self.current = id;
        }
    }

    /// Opens a session and shows it. The one shown before stays open.
    pub(super) fn open(&mut self, session: ServerSession) {
        self.current = session.id;
        self.open.insert(session.id, session);
    }

    /// Puts a new session in the place of the current one, which ends.
    pub(super) fn replace(&mut self, make: impl FnOnce(ServerSession) -> ServerSession) {
        let old = self.open.remove(&self.current).unwrap_or_default();
        self.open(make(old));
    }

    /// Removes a session that is not shown.
    pub(super) fn remove(&mut self, id: SessionId) -> Option<ServerSession> {
        if self.current == id {
            None
        } else {
            self.open.remove(&id)
        }
    }
}

impl State {
    /// The session of the current server.
    pub fn session(&self) -> &ServerSession {
        self.sessions.current()
    }

    pub fn session_mut(&mut self) -> &mut ServerSession {
        self.sessions.current_mut()
    }
}
