//! The connect screen's form, and how it becomes a source.

use std::path::PathBuf;

use super::server_diff::ServerDiffAction;
use super::{
    Connection, Effect, ImportEffect, Screen, ServerSession, SessionEffect, SessionId,
    SessionUpdate, State,
};
use loupe_core::capture::{Server, StepState, Tool};
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::source::{
    Command, Http, Login, Protocol, SampleSpec, ServerMemory, Source, Speaks, Transport,
    exact_server, is_web, missing_secrets, redact_url, server_key,
};

/// What the sample begins with, by set.
const FIRST_TOOLS: &[&str] = &[
    "strict_search_companies",
    "autotask_search_companies",
    "search_user",
];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConnectMode {
    #[default]
    Command,
    Url,
}

/// What was typed on the connect screen; kept while the program runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectForm {
    pub mode: ConnectMode,
    /// The name given to the server where it came from; a command or an address that is typed anew has none.
    pub name: Option<String>,
    /// The program, or a whole command line.
    pub command: String,
    /// Further arguments, as a shell would take them.
    pub arguments: String,
    pub folder: String,
    /// The command gets no more of our environment than it needs; there is no field for it.
    pub is_clean: bool,
    /// Name and value; rows with an empty name are left out.
    pub environment: Vec<(String, String)>,
    pub url: String,
    pub headers: Vec<(String, String)>,
    /// The revision that is asked for.
    pub protocol: Protocol,
    /// How messages travel to the URL.
    pub transport: Transport,
    /// A file with certificates of authorities to trust besides the system's; may be empty.
    pub cacert: String,
    /// Log in where the server asks for it.
    pub login: Option<Login>,
    /// The set and the switches of the sample; it has a button of its own.
    pub sample: SampleSpec,
}

impl ConnectForm {
    /// The form that describes a source, so that what failed can be fixed where it stands.
    pub fn new(source: &Source) -> Self {
        match source {
            Source::Sample(spec) => Self {
                sample: spec.clone(),
                ..Self::default()
            },
            // There is no field for it: such a source comes from the command line.
            Source::Fixture(_) => Self::default(),
            Source::Command(command) => Self {
                name: command.name.clone(),
                command: shell_words::quote(&command.program).into_owned(),
                arguments: shell_words::join(&command.args),
                folder: command
                    .cwd
                    .as_ref()
                    .map(|cwd| cwd.display().to_string())
                    .unwrap_or_default(),
                environment: command.env.clone(),
                is_clean: command.is_clean,
                protocol: command.protocol,
                ..Self::default()
            },
            Source::Http(http) => Self {
                mode: ConnectMode::Url,
                name: http.name.clone(),
                url: http.url.clone(),
                headers: http.headers.clone(),
                protocol: http.protocol,
                transport: http.transport,
                cacert: http
                    .cacert
                    .as_ref()
                    .map(|file| file.display().to_string())
                    .unwrap_or_default(),
                login: http.login.clone(),
                ..Self::default()
            },
        }
    }

    fn cacert(&self) -> Option<PathBuf> {
        let file = self.cacert.trim();
        (!file.is_empty()).then(|| PathBuf::from(file))
    }

    /// The source the form describes.
    ///
    /// # Errors
    /// What is missing or cannot be read, with a hint.
    pub fn source(&self) -> Result<Source, Problem> {
        match self.mode {
            ConnectMode::Command => {
                let split = |text: &str, place: &str| {
                    shell_words::split(text).map_err(|_| {
                        Problem::new(ProblemKind::Usage, "a quote is not closed")
                            .at(place)
                            .hint("close the quote, or write a backslash before it")
                    })
                };
                let mut words = split(&self.command, "command")?;
                words.extend(split(&self.arguments, "arguments")?);
                if words.is_empty() {
                    return Err(Problem::new(ProblemKind::Usage, "no command given").hint(
                        "type the command that starts your server, such as `npx -y my-server`",
                    ));
                }
                let program = words.remove(0);
                let cwd =
                    (!self.folder.trim().is_empty()).then(|| PathBuf::from(self.folder.trim()));
                let (env, is_clean, protocol) =
                    (named_rows(&self.environment), self.is_clean, self.protocol);
                Ok(Source::Command(Command {
                    name: self.name.clone(),
                    program,
                    args: words,
                    env,
                    cwd,
                    is_clean,
                    protocol,
                }))
            }
            ConnectMode::Url => {
                let url = self.url.trim();
                if !is_web(url) {
                    return Err(
                        Problem::new(ProblemKind::Usage, "not an http or https address")
                            .at(redact_url(url))
                            .hint("type the server's address, such as http://127.0.0.1:3001/mcp"),
                    );
                }
                Ok(Source::Http(Http {
                    name: self.name.clone(),
                    url: url.to_owned(),
                    headers: named_rows(&self.headers),
                    transport: self.transport,
                    protocol: self.protocol,
                    cacert: self.cacert(),
                    login: self.login.clone(),
                }))
            }
        }
    }
}

fn named_rows(rows: &[(String, String)]) -> Vec<(String, String)> {
    rows.iter()
        .filter(|(name, _)| !name.trim().is_empty())
        .map(|(name, value)| (name.trim().to_owned(), value.clone()))
        .collect()
}

/// What the user does about the connection.
#[derive(Clone, Debug, PartialEq)]
pub enum ConnectAction {
    Show,
    Edit(Box<ConnectForm>),
    /// Connect to what the connect form says.
    UseForm,
    Connect(Box<Source>),
    Cancel,
    Disconnect,
    /// Ctrl R: connect again to the same source and list again.
    Reconnect,
    /// The same in this revision of the protocol; the last call is made there too, and its two results compared.
    ReconnectIn(Protocol),
}

impl State {
    /// Applies what became of one server's connection, to its session alone. Updates of a session that has ended change
    /// nothing.
    pub(super) fn on_session_update(
        &mut self,
        id: SessionId,
        update: SessionUpdate,
        effects: &mut Vec<Effect>,
    ) {
        let now = self.now;
        let Some(session) = self.sessions.get_mut(id) else {
            return;
        };
        match update {
            SessionUpdate::Phase(phase) => session.set_phase(phase),
            SessionUpdate::Step(step) => session.add_step(step),
            SessionUpdate::Stderr(line) => session.add_stderr(line),
            SessionUpdate::Messages(count) => session.set_messages(count),
            SessionUpdate::Login(step) => session.login.add(step, now),
            SessionUpdate::Connected(server) => self.on_connected(id, server, effects),
            SessionUpdate::Tools { tools, note } => self.on_tools_listed(id, tools, note, effects),
            SessionUpdate::ConnectFailed(problem) => self.on_connect_failed(id, problem),
            SessionUpdate::Examined => session.examination = Some(super::Examination::Over),
            SessionUpdate::Gone(problem) => self.on_disconnected(id, problem),
            SessionUpdate::Notification(notification) => {
                self.on_notification(id, notification, effects)
            }
        }
    }

    pub(super) fn change_connection(&mut self, action: ConnectAction, effects: &mut Vec<Effect>) {
        match action {
            ConnectAction::Show => {
                self.is_adding_server = false;
                self.server_diff.is_choosing = false;
                self.is_new_source = true;
                self.view.screen = Screen::Connect;
            }
            ConnectAction::Edit(form) => {
                let is_same = (&form.command, &form.url, form.mode)
                    == (
                        &self.connect_form.command,
                        &self.connect_form.url,
                        self.connect_form.mode,
                    );
                self.connect_form = *form;
                self.connect_form.name.take_if(|_| !is_same);
            }
            ConnectAction::UseForm => self.connect_from_form(effects),
            ConnectAction::Connect(source) => self.start_connecting(*source, effects),
            ConnectAction::Cancel | ConnectAction::Disconnect => self.disconnect(effects),
            ConnectAction::Reconnect => self.reconnect_and_repeat(None, effects),
            ConnectAction::ReconnectIn(protocol) => {
                self.reconnect_and_repeat(Some(protocol), effects)
            }
        }
    }

    /// Connects, once every value that the source needs is there.
    pub(super) fn start_connecting(&mut self, source: Source, effects: &mut Vec<Effect>) {
        self.forget_values();
        if !missing_secrets(&source).is_empty() {
            self.seek_values(source, effects);
            return;
        }
        if self.session().connection.source() != Some(&source)
            && let Some(session) = self.session_at(&source)
        {
            self.switch_to(session, effects);
            return;
        }
        // What failed before is told no longer, and what is closed for this is remembered.
        self.toasts.retain(|toast| toast.problem.is_none());
        self.is_new_source = false;
        self.server_diff.is_choosing = false;
        self.view.sidebar = super::SidebarTab::Tools;
        let id = self.sessions.new_id();
        let keeps_open =
            std::mem::take(&mut self.is_adding_server) && self.session().connection.is_connected();
        let new = ServerSession {
            id,
            memory_key: server_key(&source, self.servers.here()),
            exact: exact_server(&source, self.servers.here()),
            roots_declared: self.roots.is_some(),
            connection: self.connecting(id, source.clone(), effects),
            ..ServerSession::default()
        };
        if keeps_open {
            self.end_calls(effects);
            self.stop_watching(effects);
            self.previous_source = None;
            let shown = self.view.capture.take();
            let wire = self.session().wire.empty_copy();
            self.session_mut().shown = shown;
            self.sessions.open(ServerSession { wire, ..new });
            return;
        }
        self.previous_source = match &self.session().connection {
            Connection::Connected { source: open, .. } => Some(open.clone()),
            _ => self.previous_source.take(),
        }
        .filter(|open| *open != source);
        self.end_session(effects);
        if new.memory_key != self.session().memory_key {
            self.stop_watching(effects);
        }
        self.sessions.replace(|mut old| {
            let (list, tools) = (old.list, old.own_tools());
            old.reconnect
                .remember(old.connection.source(), &source, list, tools);
            ServerSession::carry_over(old, new)
        });
    }

    /// Begins a connection with this id.
    pub(super) fn connecting(
        &self,
        session: SessionId,
        source: Source,
        effects: &mut Vec<Effect>,
    ) -> Connection {
        let limit = self.settings.waits.connect();
        let memory = self
            .servers
            .memory_of(server_key(&source, self.servers.here()).as_ref());
        effects.push(Effect::Session(SessionEffect::Connect {
            session,
            source: Box::new(source.clone()),
            limit,
            speaks: memory.and_then(|memory| memory.speaks.as_ref()?.revision()),
        }));
        Connection::Connecting {
            source,
            phase: "connecting".into(),
            since: self.now,
            limit,
            stderr: Vec::new(),
        }
    }

    /// Ends the current server's calls and connection.
    fn end_session(&mut self, effects: &mut Vec<Effect>) {
        self.end_calls(effects);
        let ServerSession {
            id: session,
            connection,
            ..
        } = self.session();
        if matches!(
            connection,
            Connection::Connecting { .. } | Connection::Connected { .. }
        ) {
            effects.push(Effect::Session(SessionEffect::Disconnect {
                session: *session,
            }));
        }
    }

    pub(super) fn end_calls(&mut self, effects: &mut Vec<Effect>) {
        if let Some(running) = self.running.take() {
            effects.push(Effect::Session(SessionEffect::CancelCall {
                call: running.id,
            }));
        }
        self.stop_series("the connection was closed", true);
        let session = self.session_mut();
        session.pending = None;
        session.reconnect.forget_call();
    }

    pub(super) fn disconnect(&mut self, effects: &mut Vec<Effect>) {
        self.end_session(effects);
        self.stop_watching(effects);
        // A new id: late events of the session that ended find none.
        let id = self.sessions.new_id();
        self.sessions.replace(|old| old.close(id));
        self.stop_listing(effects);
        self.server_diff.is_choosing = false;
        self.view.screen = Screen::Connect;
    }

    pub(super) fn reconnect(&mut self, effects: &mut Vec<Effect>) {
        match self.session().connection.source().cloned() {
            Some(source) => self.start_connecting(source, effects),
            None => self.view.screen = Screen::Connect,
        }
    }

    pub(super) fn connect_from_form(&mut self, effects: &mut Vec<Effect>) {
        if !self.take_pasted() {
            return;
        }
        match self.connect_form.source() {
            Ok(source) if self.server_diff.is_choosing && self.lacks_values(&source) => {}
            Ok(source) if self.server_diff.is_choosing => {
                self.versus(ServerDiffAction::List(Box::new(source)), effects)
            }
            Ok(source) => self.start_connecting(source, effects),
            Err(problem) => self.toast_problem(problem),
        }
    }

    fn on_connected(&mut self, id: SessionId, server: Server, effects: &mut Vec<Effect>) {
        let now = self.now;
        let Some(session) = self.sessions.get_mut(id) else {
            return;
        };
        let Connection::Connecting { source, stderr, .. } = &mut session.connection else {
            return;
        };
        let (source, stderr) = (source.clone(), std::mem::take(stderr));
        let messages = session.messages;
        let was_refused = session.steps.iter().any(|step| {
            step.state == StepState::Passed && step.tried.starts_with("server/discover")
        });
        let described = server.clone();
        let key = session.memory_key.clone();
        session.connection = Connection::Connected {
            source: source.clone(),
            server,
            since: now,
            stderr,
            messages,
        };
        if let Some((key, values)) = session.to_keep.take() {
            effects.push(Effect::Import(ImportEffect::KeepValues { key, values }));
        }
        self.remember_source(&source, effects);
        let memory = self.servers.memory_of(key.as_ref());
        let before = memory.and_then(|memory| memory.speaks.clone());
        let after = Speaks::after(before.as_ref(), &described, was_refused);
        if before != after {
            self.remember_of(id, effects, |memory| memory.speaks = after);
        }
        if self.sessions.is_current(id) {
            self.previous_source = None;
            self.begin_watching(effects);
        }
    }

    fn on_tools_listed(
        &mut self,
        id: SessionId,
        tools: Vec<Tool>,
        note: Option<String>,
        effects: &mut Vec<Effect>,
    ) {
        let number = self.number_listing();
        let Some(session) = self.sessions.get_mut(id) else {
            return;
        };
        let memory = self.servers.memory_of(session.memory_key.as_ref());
        session.use_tools(tools, note, number);
        session.choose_tool(memory);
        session.reconnect.compare_tools(&session.tools);
        if !self.sessions.is_current(id) {
            return;
        }
        if self.view.screen == Screen::Connect {
            self.view.screen = Screen::Start;
            self.view.capture = None;
        }
        if let Some(question) = self.session_mut().pending.take() {
            self.answer_start(question, effects);
        }
        self.on_relisted(effects);
    }

    fn on_connect_failed(&mut self, id: SessionId, problem: Problem) {
        let Some(session) = self.sessions.get_mut(id) else {
            return;
        };
        let Some(source) = session.fail(problem) else {
            return;
        };
        if !self.sessions.is_current(id) {
            return;
        }
        let sample = self.connect_form.sample.clone();
        if self.connect_form
            == (ConnectForm {
                sample: sample.clone(),
                ..ConnectForm::default()
            })
        {
            self.connect_form = ConnectForm {
                sample,
                ..ConnectForm::new(&source)
            };
        }
        self.is_new_source = false;
        self.view.screen = Screen::Connect;
    }

    fn on_disconnected(&mut self, id: SessionId, problem: Problem) {
        let Some(session) = self.sessions.get_mut(id) else {
            return;
        };
        session.library.listing = None;
        match &session.connection {
            Connection::Connected {
                source,
                server,
                stderr,
                ..
            } => {
                session.connection = Connection::Disconnected {
                    source: source.clone(),
                    server: server.clone(),
                    problem,
                    stderr: stderr.clone(),
                };
            }
            Connection::Connecting { .. } => self.on_connect_failed(id, problem),
            _ => {}
        }
        self.is_new_source &= !self.sessions.is_current(id);
    }
}

impl ServerSession {
    fn set_phase(&mut self, text: String) {
        if let Connection::Connecting { phase, .. } = &mut self.connection {
            *phase = text;
        }
    }

    fn add_stderr(&mut self, line: String) {
        self.stderr_dropped += u64::from(self.connection.add_stderr(line));
    }

    fn set_messages(&mut self, count: u64) {
        self.messages = count;
        if let Connection::Connected { messages, .. } = &mut self.connection {
            *messages = count;
        }
    }

    /// Keeps the selected tool where it is still listed; else selects the one called last, else the best to try first.
    pub(super) fn choose_tool(&mut self, memory: Option<&ServerMemory>) {
        let is_sample = self.connection.is_sample();
        let kept = self.selected_tool.take().filter(|name| self.has_tool(name));
        let remembered = || memory?.tool.clone().filter(|name| self.has_tool(name));
        let first_of_sample = || {
            FIRST_TOOLS
                .iter()
                .find(|name| is_sample && self.has_tool(name))
                .map(|&name| name.to_owned())
        };
        let first = || {
            let tools = self.tools.iter().map(|listed| &*listed.tool);
            tools
                .min_by_key(|tool| rank(tool))
                .map(|tool| tool.name.clone())
        };
        if let Some(name) = kept
            .or_else(remembered)
            .or_else(first_of_sample)
            .or_else(first)
        {
            self.select_tool(&name, memory);
        }
    }

    /// Marks the connection as failed; returns its source.
    fn fail(&mut self, problem: Problem) -> Option<Source> {
        let source = self.connection.source().cloned()?;
        let stderr = self.connection.stderr().to_vec();
        self.pending = None;
        self.reconnect.forget_call();
        self.connection = Connection::Failed {
            source: source.clone(),
            problem,
            stderr,
        };
        Some(source)
    }
}

/// The lower, the better a tool is to try first: declared read-only, not deprecated, and something can be typed; then the
/// fewest required fields, the fewest fields, the shortest definition.
fn rank(tool: &Tool) -> (bool, bool, bool, usize, usize, usize) {
    let schema: Option<serde_json::Value> = tool
        .input_schema
        .as_ref()
        .and_then(|schema| serde_json::from_slice(schema).ok());
    let count = |member: &str| match schema.as_ref().and_then(|schema| schema.get(member)) {
        Some(serde_json::Value::Array(names)) => names.len(),
        Some(serde_json::Value::Object(properties)) => properties.len(),
        _ => 0,
    };
    let texts = [
        Some(&tool.name),
        tool.title.as_ref(),
        tool.description.as_ref(),
    ];
    let is_deprecated = texts
        .into_iter()
        .flatten()
        .any(|text| text.to_lowercase().contains("deprecated"));
    let required = count("required");
    (
        !tool.is_declared_read_only(),
        is_deprecated,
        required == 0,
        required,
        count("properties"),
        tool.raw.len(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::STDERR_LINES;

    #[test]
    fn lines_of_stderr_that_are_let_go_of_are_counted() {
        let (mut state, mut effects) = (State::default(), Vec::new());
        state.start_connecting(Source::sample(), &mut effects);
        for line in 0..STDERR_LINES + 3 {
            state.session_mut().add_stderr(line.to_string());
        }
        let kept = state.session().connection.stderr();
        assert_eq!(
            (kept.len(), kept[0].as_str(), state.session().stderr_dropped),
            (STDERR_LINES, "3", 3)
        );
        state.start_connecting(Source::sample(), &mut effects);
        assert_eq!(state.session().stderr_dropped, 0);
    }

    #[test]
    fn a_whole_command_line_may_stand_in_the_first_field() {
        let form = ConnectForm {
            command: "npx -y 'my server'".into(),
            arguments: "--port 1".into(),
            ..ConnectForm::default()
        };
        assert_eq!(
            form.source().unwrap().to_string(),
            "-- npx -y 'my server' --port 1"
        );
        let source = form.source().unwrap();
        assert_eq!(ConnectForm::new(&source).source(), Ok(source));
        assert!(ConnectForm::default().source().is_err());
        assert_eq!(
            ConnectForm {
                command: "a 'b".into(),
                ..ConnectForm::default()
            }
            .source()
            .unwrap_err()
            .place,
            "command"
        );
    }
}
