//! What is remembered of the server that is connected: which of its tools need no question, what they were called with,
//! its variables. `store` keeps it from run to run, where anything is kept at all.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::undo::UndoStep;
use super::{Dialog, Effect, ImportEffect, PreparedCall, ServerSession, SessionId, State};
use loupe_core::capture::Tool;
use loupe_core::digest::sha256;
use loupe_core::source::{Recent, ServerMemory, Source, ToolArguments, folder_of, import};

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Servers {
    /// Where it is kept; `None` keeps it for this run.
    folder: Option<PathBuf>,
    /// The folder that Loupe runs in, which commands are started in.
    here: Option<PathBuf>,
    known: BTreeMap<String, ServerMemory>,
}

impl Servers {
    /// What is remembered of the server of this key.
    pub(super) fn memory_of(&self, key: Option<&String>) -> Option<&ServerMemory> {
        self.known.get(key?)
    }

    /// Whether it is kept from run to run, and what was kept is read.
    pub fn is_kept(&self) -> bool {
        self.folder.is_some()
    }

    /// The folder that commands without one of their own are started in.
    pub fn here(&self) -> Option<&Path> {
        self.here.as_deref()
    }
}

/// Which tools are called without a question from here on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllowedTools {
    /// The one that was asked about.
    This,
    /// And every other of the server as it is listed now, but for those that are declared destructive.
    All,
}

/// What the user does with what is remembered.
#[derive(Clone, Debug, PartialEq)]
pub enum ServersAction {
    /// Commands are started in this folder, where they have none of their own.
    StartIn(PathBuf),
    /// Ask before this tool is called again; `None` is every tool.
    AskAgain(Option<String>),
    /// Keeps the arguments in the form under this name.
    KeepArguments(String),
    /// Puts the arguments of this name into the form; `None` is those of the last call.
    UseArguments(Option<String>),
    ForgetArguments(String),
    /// Copies the server as the lines of this client's configuration.
    CopyConfiguration(&'static str),
    /// Gives a variable a value; `None` takes it away.
    SetVariable {
        name: String,
        value: Option<String>,
    },
}

impl State {
    /// What is remembered of the current server.
    pub fn memory(&self) -> Option<&ServerMemory> {
        self.servers.memory_of(self.session().memory_key.as_ref())
    }

    /// Whether anything can be remembered of the current server.
    pub fn can_remember(&self) -> bool {
        self.session().memory_key.is_some()
    }

    fn copy_configuration(&mut self, client: &str, effects: &mut Vec<Effect>) {
        let Some(source) = self.session().connection.source() else {
            return;
        };
        let name = self
            .session()
            .connection
            .server()
            .map(|server| server.label().to_owned())
            .filter(|name| !name.is_empty());
        let mut source = source.clone();
        if let Source::Command(command) = &mut source {
            command.cwd = folder_of(command.cwd.as_deref(), self.servers.here());
        }
        match import::write(client, &name.unwrap_or_else(|| source.label()), &source) {
            Ok(written) => {
                self.copy(written.text, effects);
                written.notes.iter().for_each(|note| self.toast(note));
            }
            Err(problem) => self.toast_problem(problem),
        }
    }

    pub(super) fn change_servers(&mut self, action: ServersAction, effects: &mut Vec<Effect>) {
        match action {
            ServersAction::CopyConfiguration(client) => self.copy_configuration(client, effects),
            ServersAction::StartIn(folder) => self.servers.here = Some(folder),
            ServersAction::AskAgain(tool) => self.remember(effects, |memory| match tool {
                Some(tool) => drop(memory.allowed.remove(&tool)),
                None => memory.allowed.clear(),
            }),
            ServersAction::KeepArguments(name) => {
                let (Some(tool), Some(form)) = (self.session().selected_tool.clone(), self.form())
                else {
                    return;
                };
                let text = form.text.to_string();
                self.remember(effects, |memory| {
                    memory
                        .arguments
                        .entry(tool)
                        .or_default()
                        .named
                        .insert(name, text);
                });
            }
            ServersAction::UseArguments(name) => {
                let known = self.tool_arguments().cloned().unwrap_or_default();
                let text = name.map_or(known.last, |name| known.named.get(&name).cloned());
                if let Some(text) = text {
                    self.edit_form(|form| form.set_text(&text));
                }
            }
            ServersAction::ForgetArguments(name) => {
                let (Some(tool), Some(key)) = (
                    self.session().selected_tool.clone(),
                    self.session().memory_key.clone(),
                ) else {
                    return;
                };
                let text = self
                    .tool_arguments()
                    .and_then(|known| known.named.get(&name).cloned());
                self.remember(effects, |memory| {
                    memory
                        .arguments
                        .entry(tool.clone())
                        .and_modify(|of| drop(of.named.remove(&name)));
                });
                if let Some(text) = text {
                    self.offer_undo(
                        format!("Removed the arguments {name}"),
                        UndoStep::Arguments {
                            key,
                            tool,
                            name,
                            text,
                        },
                    );
                }
            }
            ServersAction::SetVariable { name, value } => {
                self.remember(effects, |memory| match value {
                    Some(value) => drop(memory.variables.insert(name, value)),
                    None => drop(memory.variables.remove(&name)),
                });
                self.use_variables();
            }
        }
    }

    /// The arguments of the selected tool that are remembered.
    pub fn tool_arguments(&self) -> Option<&ToolArguments> {
        self.memory()?
            .arguments
            .get(self.session().selected_tool.as_deref()?)
    }

    /// Changes what is remembered of the current server.
    pub(super) fn remember(
        &mut self,
        effects: &mut Vec<Effect>,
        change: impl FnOnce(&mut ServerMemory),
    ) {
        self.remember_of(self.session().id, effects, change);
    }

    /// Changes what is remembered of one session's server.
    pub(super) fn remember_of(
        &mut self,
        id: SessionId,
        effects: &mut Vec<Effect>,
        change: impl FnOnce(&mut ServerMemory),
    ) {
        let Some(session) = self.sessions.get(id) else {
            return;
        };
        let Some(key) = session.memory_key.clone() else {
            return;
        };
        let here = self.servers.here();
        let source = session
            .connection
            .source()
            .and_then(|source| Recent::new(source, here))
            .map(|recent| recent.label().1);
        let memory = self.servers.known.entry(key.clone()).or_default();
        let before = memory.clone();
        change(memory);
        memory.source = source.unwrap_or_else(|| std::mem::take(&mut memory.source));
        if let Some(folder) = self.servers.folder.clone() {
            let changes = before.changes(&key, memory);
            effects.push(Effect::Import(ImportEffect::KeepServers {
                folder,
                changes,
            }));
        }
    }

    /// Lets go of all that is remembered of a server: what it may do, what it was called with, what is watched.
    pub(super) fn forget_server(
        &mut self,
        key: &str,
        effects: &mut Vec<Effect>,
    ) -> Option<ServerMemory> {
        let folder = self.servers.folder.clone()?;
        let known = self.servers.known.remove(key)?;
        let changes = known.changes(key, &ServerMemory::default());
        effects.push(Effect::Import(ImportEffect::KeepServers {
            folder,
            changes,
        }));
        Some(known)
    }

    /// Takes over which tools need no question: another window may have withdrawn that of one.
    pub(super) fn trust_kept(&mut self, kept: &BTreeMap<String, ServerMemory>) {
        for (key, memory) in kept {
            if let Some(known) = self.servers.known.get_mut(key) {
                known.allowed.clone_from(&memory.allowed);
            }
        }
    }

    /// Remembers of a server what was let go of.
    pub(super) fn restore_server(
        &mut self,
        key: String,
        memory: ServerMemory,
        effects: &mut Vec<Effect>,
    ) {
        if let Some(folder) = self.servers.folder.clone() {
            let changes = ServerMemory::default().changes(&key, &memory);
            effects.push(Effect::Import(ImportEffect::KeepServers {
                folder,
                changes,
            }));
        }
        self.servers.known.insert(key, memory);
        self.use_variables();
    }

    /// Remembers arguments under a name again.
    pub(super) fn restore_arguments_of(
        &mut self,
        key: &str,
        tool: String,
        name: String,
        text: String,
        effects: &mut Vec<Effect>,
    ) {
        let before = self.servers.known.get(key).cloned().unwrap_or_default();
        let memory = self.servers.known.entry(key.to_owned()).or_default();
        memory
            .arguments
            .entry(tool)
            .or_default()
            .named
            .insert(name, text);
        let changes = before.changes(key, memory);
        if let Some(folder) = self.servers.folder.clone() {
            effects.push(Effect::Import(ImportEffect::KeepServers {
                folder,
                changes,
            }));
        }
    }

    /// What earlier runs kept. Where the server is connected already and nobody has typed anything, it is used at once.
    pub(super) fn servers_read(&mut self, folder: PathBuf, known: BTreeMap<String, ServerMemory>) {
        let of_now = std::mem::replace(&mut self.servers.known, known);
        self.servers.known.extend(of_now);
        self.servers.folder = Some(folder);
        self.use_variables();
        if !self.captures.is_empty() {
            return;
        }
        for session in self
            .sessions
            .iter_mut()
            .filter(|session| session.is_untouched())
        {
            session.forms.clear();
            let memory = self
                .servers
                .known
                .get(session.memory_key.as_deref().unwrap_or_default());
            session
                .selected_tool
                .take_if(|_| memory.is_some_and(|memory| memory.tool.is_some()));
            session.choose_tool(memory);
        }
    }

    /// Gives the forms of each server its variables.
    pub(super) fn use_variables(&mut self) {
        for session in self.sessions.iter_mut() {
            session.use_variables(self.servers.memory_of(session.memory_key.as_ref()));
        }
    }

    /// Remembers what a tool is called with.
    pub(super) fn keep_arguments(&mut self, tool: &str, effects: &mut Vec<Effect>) {
        let Some(text) = self
            .session()
            .forms
            .get(tool)
            .map(|form| form.text.to_string())
        else {
            return;
        };
        self.remember(effects, |memory| {
            memory.tool = Some(tool.to_owned());
            memory.arguments.entry(tool.to_owned()).or_default().last = Some(text);
        });
    }

    // Consent

    /// Whether a tool of this session is called without a question: somebody said so of exactly this definition there.
    pub fn is_allowed(&self, session: &ServerSession, tool: &Tool) -> bool {
        let allowed = self
            .servers
            .memory_of(session.memory_key.as_ref())
            .and_then(|memory| memory.allowed.get(&tool.name));
        allowed.is_some_and(|digest| *digest == session.allowed_digest(tool))
    }

    /// From here on the tools of these calls are called without a question at their servers.
    pub(super) fn allow(
        &mut self,
        which: AllowedTools,
        calls: &[PreparedCall],
        effects: &mut Vec<Effect>,
    ) {
        for call in calls {
            let Some(session) = self.sessions.get(call.session) else {
                continue;
            };
            let all = session.tools.iter().map(|listed| &*listed.tool);
            let allowed: Vec<&Tool> = match which {
                AllowedTools::This => vec![&call.tool],
                AllowedTools::All => all
                    .filter(|tool| !tool.is_declared_read_only() && !tool.is_declared_destructive())
                    .collect(),
            };
            let allowed: Vec<_> = allowed
                .into_iter()
                .map(|tool| (tool.name.clone(), session.allowed_digest(tool)))
                .collect();
            self.remember_of(call.session, effects, |memory| {
                memory.allowed.extend(allowed)
            });
        }
    }

    /// The calls that the question in the dialog is about, where all of them can still be sent: else the yes would be for
    /// another server or another definition.
    pub(super) fn calls_to_confirm(&self) -> Vec<PreparedCall> {
        let calls: Vec<&PreparedCall> = match &self.dialog {
            Some(Dialog::ConfirmCall { call }) => vec![call],
            Some(Dialog::ConfirmCompare { compare, .. }) => compare.series.remaining().collect(),
            _ => Vec::new(),
        };
        match calls.iter().all(|call| self.check_prepared(call).is_ok()) {
            true => calls.into_iter().cloned().collect(),
            false => Vec::new(),
        }
    }

    /// Tools that are called without a question, and whether that is said of another definition, so that they are asked
    /// about all the same.
    pub fn allowed_tools(&self) -> Vec<(&str, bool)> {
        let allowed = self
            .memory()
            .map(|memory| memory.allowed.keys())
            .into_iter()
            .flatten();
        let session = self.session();
        let current: BTreeSet<&str> = session
            .tools
            .iter()
            .filter(|listed| self.is_allowed(session, &listed.tool))
            .map(|listed| listed.tool.name.as_str())
            .collect();
        allowed
            .map(|name| (name.as_str(), !current.contains(name.as_str())))
            .collect()
    }
}

impl ServerSession {
    /// What a yes to a tool is kept as: it holds for exactly this definition at exactly this server.
    fn allowed_digest(&self, tool: &Tool) -> String {
        let exact = self.exact.as_deref().unwrap_or_default();
        sha256(&[tool.raw.as_ref(), exact.as_bytes()].concat())
    }

    /// Whether nobody has typed any arguments here.
    fn is_untouched(&self) -> bool {
        self.forms.values().all(|form| *form.text == *"{}")
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::state::{
        Action, CallAction, ConnectAction, Event, ImportEvent, SessionEffect, SessionUpdate,
    };
    use loupe_core::capture::Server;
    use loupe_core::source::{Command, server_key};

    const READS: &str = r#"{"name":"get","inputSchema":{},"annotations":{"readOnlyHint":true}}"#;
    const WRITES: &str =
        r#"{"name":"put","inputSchema":{"type":"object","properties":{"city":{"enum":["Bonn"]}}}}"#;
    const DESTROYS: &str =
        r#"{"name":"del","inputSchema":{},"annotations":{"destructiveHint":true}}"#;

    fn connect(state: &mut State, program: &str, tools: &[&str]) {
        let source = Source::Command(Command {
            program: program.into(),
            ..Command::default()
        });
        state.perform(ConnectAction::Connect(Box::new(source)), &mut Vec::new());
        let session = state.session().id;
        let tools = tools
            .iter()
            .map(|raw| Tool::read((*raw).to_owned().into()))
            .collect();
        for update in [
            SessionUpdate::Connected(Server::default()),
            SessionUpdate::Tools { tools, note: None },
        ] {
            state.apply(Event::Session { session, update }, &mut Vec::new());
        }
    }

    /// A server that is used before and remembered, with a tool chosen.
    pub(in crate::state) fn remembering() -> State {
        let mut state = State::default();
        state.apply(
            Event::Import(ImportEvent::Servers {
                folder: "/f".into(),
                known: BTreeMap::new(),
            }),
            &mut Vec::new(),
        );
        connect(&mut state, "one", &[READS, WRITES]);
        perform(&mut state, CallAction::SelectTool("put".into()));
        state
    }

    fn perform(state: &mut State, action: impl Into<Action>) -> Vec<Effect> {
        let mut effects = Vec::new();
        state.perform(action, &mut effects);
        state.check_schemas(&mut effects);
        effects
    }

    /// The arguments that a call of a tool is sent with; `None` where it is asked about first.
    fn call(state: &mut State, tool: &str) -> Option<String> {
        perform(state, CallAction::SelectTool(tool.into()));
        sent(&perform(state, CallAction::Call { send_anyway: false }))
    }

    fn sent(effects: &[Effect]) -> Option<String> {
        effects.iter().find_map(|effect| match effect {
            Effect::Session(SessionEffect::Call { arguments, .. }) => {
                Some(String::from_utf8_lossy(arguments).into_owned())
            }
            _ => None,
        })
    }

    #[test]
    fn a_yes_is_for_exactly_one_server_and_no_secret_is_remembered() {
        let source = |host: &str, key: &str, cwd: &str| {
            let env = [("DB_HOST", host), ("API_KEY", key)]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into();
            let args = vec!["--token".to_owned(), "canary-token".to_owned()];
            Source::Command(Command {
                program: "srv".into(),
                args,
                env,
                cwd: Some(cwd.into()),
                ..Command::default()
            })
        };
        let test = source("test-database-01.example.com", "canary-key-1", "server");
        let mut state = State::default();
        state.servers.folder = Some("/f".into());
        let reach = |state: &mut State, source: &Source, here: &str| {
            state.servers.here = Some(here.into());
            state.perform(
                ConnectAction::Connect(Box::new(source.clone())),
                &mut Vec::new(),
            );
            let session = state.session().id;
            for update in [
                SessionUpdate::Connected(Server::default()),
                SessionUpdate::Tools {
                    tools: vec![Tool::read(WRITES.into())],
                    note: None,
                },
            ] {
                state.apply(Event::Session { session, update }, &mut Vec::new());
            }
        };
        reach(&mut state, &test, "/a");
        let tool = Tool::read(WRITES.into());
        let mut effects = Vec::new();
        let call = PreparedCall {
            session: state.session().id,
            tool: Arc::new(tool.clone()),
            arguments: "{}".into(),
            owner: crate::state::CallOwner::Person,
        };
        state.allow(AllowedTools::This, &[call], &mut effects);
        assert!(state.is_allowed(state.session(), &tool));
        let message = format!("{effects:?}");
        assert!(
            message.contains("KeepServers") && !message.contains("canary"),
            "{message}"
        );
        // The key may be a new one; the database and the folder may not.
        for (other, here, is_allowed) in [
            (
                source("test-database-01.example.com", "canary-key-2", "server"),
                "/a",
                true,
            ),
            (
                source("prod-database-01.example.com", "canary-key-1", "server"),
                "/a",
                false,
            ),
            (test.clone(), "/b", false),
        ] {
            reach(&mut state, &other, here);
            assert_eq!(
                state.is_allowed(state.session(), &tool),
                is_allowed,
                "{other} in {here}"
            );
        }
    }

    /// What one run keeps, read by the next.
    fn next_run(kept: &[Effect]) -> State {
        let mut known: BTreeMap<String, ServerMemory> = BTreeMap::new();
        for effect in kept {
            if let Effect::Import(ImportEffect::KeepServers { changes, .. }) = effect {
                for ((key, field), value) in changes.clone() {
                    known.entry(key).or_default().set(field, value);
                }
            }
        }
        let mut state = State::default();
        assert!(!known.is_empty(), "something is kept");
        state.apply(
            Event::Import(ImportEvent::Servers {
                folder: "/f".into(),
                known,
            }),
            &mut Vec::new(),
        );
        state
    }

    #[test]
    fn a_tool_that_is_always_allowed_is_asked_about_again_once_anything_of_it_changes() {
        let mut state = State::default();
        state.apply(
            Event::Import(ImportEvent::Servers {
                folder: "/f".into(),
                known: BTreeMap::new(),
            }),
            &mut Vec::new(),
        );
        connect(&mut state, "one", &[READS, WRITES, DESTROYS]);
        assert_eq!(call(&mut state, "put"), None);
        let effects = perform(&mut state, CallAction::ConfirmAlways(AllowedTools::This));
        assert_eq!(sent(&effects).as_deref(), Some("{}"), "it is sent as well");
        let again = |program: &str, tools: &[&str], tool: &str| {
            let mut state = next_run(&effects);
            connect(&mut state, program, tools);
            call(&mut state, tool).is_some()
        };
        assert!(
            again("one", &[READS, WRITES, DESTROYS], "put"),
            "the next run knows"
        );
        assert!(!again("one", &[WRITES, DESTROYS], "del"), "another tool");
        assert!(!again("two", &[WRITES], "put"), "another command");
        let changed = WRITES.replace("enum", "examples");
        assert!(!again("one", &[&changed], "put"), "another definition");
        let mut state = next_run(&effects);
        connect(&mut state, "one", &[&changed]);
        assert_eq!(state.allowed_tools(), [("put", true)]);
        connect(&mut state, "one", &[WRITES]);
        assert_eq!(state.allowed_tools(), [("put", false)]);
        perform(&mut state, ServersAction::AskAgain(Some("put".into())));
        assert_eq!(
            (call(&mut state, "put"), state.allowed_tools()),
            (None, Vec::new())
        );
    }

    #[test]
    fn a_trust_that_another_window_withdrew_is_withdrawn_here() {
        let mut state = remembering();
        assert_eq!(call(&mut state, "put"), None);
        perform(&mut state, CallAction::ConfirmAlways(AllowedTools::This));
        assert_eq!(state.allowed_tools(), [("put", false)]);
        let key = state.session().memory_key.clone().unwrap();
        let kept = BTreeMap::from([(key, ServerMemory::default())]);
        state.apply(
            Event::Import(ImportEvent::ServersKept(kept)),
            &mut Vec::new(),
        );
        state.running = None;
        assert_eq!(
            (call(&mut state, "put"), state.allowed_tools()),
            (None, Vec::new())
        );
    }

    #[test]
    fn every_tool_is_all_but_those_declared_destructive() {
        let mut state = State::default();
        connect(
            &mut state,
            "one",
            &[
                READS,
                WRITES,
                DESTROYS,
                r#"{"name":"other","inputSchema":{}}"#,
            ],
        );
        assert_eq!(call(&mut state, "put"), None);
        perform(&mut state, CallAction::ConfirmAlways(AllowedTools::All));
        assert_eq!(state.allowed_tools(), [("other", false), ("put", false)]);
        state.running = None;
        assert_eq!(call(&mut state, "del"), None);
        let effects = perform(&mut state, CallAction::ConfirmAlways(AllowedTools::This));
        assert!(sent(&effects).is_some(), "somebody may say so of it alone");
        assert_eq!(state.allowed_tools().len(), 3);
    }

    #[test]
    fn the_sample_and_what_nobody_agreed_to_are_not_remembered() {
        let mut state = State::default();
        connect(&mut state, "one", &[WRITES]);
        assert_eq!(call(&mut state, "put"), None);
        perform(&mut state, Action::CloseDialog);
        perform(&mut state, CallAction::ConfirmAlways(AllowedTools::All));
        assert!(state.allowed_tools().is_empty());
        // The question outlived its server: the yes is for no other.
        assert_eq!(call(&mut state, "put"), None);
        let dialog = state.dialog.clone();
        connect(&mut state, "two", &[WRITES]);
        state.dialog = dialog;
        assert_eq!(
            sent(&perform(
                &mut state,
                CallAction::ConfirmAlways(AllowedTools::This)
            )),
            None
        );
        assert!(state.allowed_tools().is_empty());
        perform(
            &mut state,
            ConnectAction::Connect(Box::new(Source::sample())),
        );
        assert!(!state.can_remember());
    }

    #[test]
    fn arguments_come_back_and_variables_are_filled_in() {
        let mut state = State::default();
        state.apply(
            Event::Import(ImportEvent::Servers {
                folder: "/f".into(),
                known: BTreeMap::new(),
            }),
            &mut Vec::new(),
        );
        connect(&mut state, "one", &[READS, WRITES]);
        perform(&mut state, CallAction::SelectTool("put".into()));
        perform(
            &mut state,
            CallAction::SetArgumentsText(r#"{"city":"{{where}}"}"#.into()),
        );
        assert_eq!(
            state.form().map(|form| form.problems.len()),
            Some(1),
            "no such city"
        );
        let mut kept = perform(
            &mut state,
            ServersAction::SetVariable {
                name: "where".into(),
                value: Some("Bonn".into()),
            },
        );
        assert_eq!(state.form().map(|form| form.problems.len()), Some(0));
        kept.extend(perform(
            &mut state,
            ServersAction::KeepArguments("usual".into()),
        ));
        kept.extend(perform(&mut state, CallAction::Call { send_anyway: false }));
        let Some(Dialog::ConfirmCall { call }) = &state.dialog else {
            panic!("asked")
        };
        assert_eq!(
            call.text(),
            r#"{"city":"Bonn"}"#,
            "what is shown is what is sent"
        );
        let mut state = next_run(&kept);
        connect(&mut state, "one", &[READS, WRITES]);
        assert_eq!(
            state.session().selected_tool.as_deref(),
            Some("put"),
            "the tool of the last call"
        );
        assert_eq!(
            state
                .form()
                .map(|form| (&*form.text, form.resolved_text().into_owned())),
            Some((r#"{"city":"{{where}}"}"#, r#"{"city":"Bonn"}"#.into()))
        );
        perform(&mut state, CallAction::SetArgumentsText("{}".into()));
        perform(
            &mut state,
            ServersAction::UseArguments(Some("usual".into())),
        );
        assert_eq!(
            state.form().map(|form| &*form.text),
            Some(r#"{"city":"{{where}}"}"#)
        );
        perform(&mut state, ServersAction::ForgetArguments("usual".into()));
        assert!(state.tool_arguments().unwrap().named.is_empty());
        // What a value holds cannot break out of its string, and a mark without a value is sent as it is.
        perform(
            &mut state,
            ServersAction::SetVariable {
                name: "where".into(),
                value: Some("a\"b".into()),
            },
        );
        assert_eq!(state.form().unwrap().resolved_text(), r#"{"city":"a\"b"}"#);
        perform(
            &mut state,
            ServersAction::SetVariable {
                name: "where".into(),
                value: None,
            },
        );
        assert_eq!(
            state.form().unwrap().resolved_text(),
            r#"{"city":"{{where}}"}"#
        );
    }

    #[test]
    fn what_is_read_late_does_not_undo_what_was_typed() {
        let memory = ServerMemory {
            tool: Some("put".into()),
            ..ServerMemory::default()
        };
        let source = Source::Command(Command {
            program: "one".into(),
            ..Command::default()
        });
        let known = BTreeMap::from([(server_key(&source, None).unwrap(), memory)]);
        let late = |typed: Option<&str>| {
            let mut state = State::default();
            connect(&mut state, "one", &[READS, WRITES]);
            if let Some(text) = typed {
                perform(&mut state, CallAction::SetArgumentsText(text.into()));
            }
            state.apply(
                Event::Import(ImportEvent::Servers {
                    folder: "/f".into(),
                    known: known.clone(),
                }),
                &mut Vec::new(),
            );
            state.session().selected_tool.clone()
        };
        assert_eq!(
            (late(None).as_deref(), late(Some(r#"{"a":1}"#)).as_deref()),
            (Some("put"), Some("get"))
        );
    }
}
