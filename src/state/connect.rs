//! The connect screen's form, and how it becomes a source.

use std::path::PathBuf;
use std::sync::Arc;

use super::login::LoginLog;
use super::server_diff::ServerDiffAction;
use super::{Connection, Effect, ListedTool, Screen, SessionEffect, SessionUpdate, State};
use crate::capture::{Server, Tool};
use crate::problem::{Problem, ProblemKind};
use crate::source::{Command, Http, Login, Protocol, SampleSpec, Source, Transport, is_web, left_out, shown};

/// What the sample begins with, by set.
const FIRST_TOOLS: &[&str] = &["strict_search_companies", "autotask_search_companies", "search_user"];

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
    /// The form that describes a source, so that what failed can be mended where it stands.
    pub fn of(source: &Source) -> Self {
        match source {
            Source::Sample(spec) => Self { sample: spec.clone(), ..Self::default() },
            // There is no field for it: such a source comes from the command line.
            Source::Fixture(_) => Self::default(),
            Source::Command(command) => Self {
                command: shell_words::quote(&command.program).into_owned(),
                arguments: shell_words::join(&command.args),
                folder: command.cwd.as_ref().map(|cwd| cwd.display().to_string()).unwrap_or_default(),
                environment: command.env.clone(),
                is_clean: command.is_clean,
                protocol: command.protocol,
                ..Self::default()
            },
            Source::Http(http) => Self {
                mode: ConnectMode::Url,
                url: http.url.clone(),
                headers: http.headers.clone(),
                protocol: http.protocol,
                transport: http.transport,
                cacert: http.cacert.as_ref().map(|file| file.display().to_string()).unwrap_or_default(),
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
                    return Err(Problem::new(ProblemKind::Usage, "no command given")
                        .hint("type the command that starts your server, such as `npx -y my-server`"));
                }
                let program = words.remove(0);
                let cwd = (!self.folder.trim().is_empty()).then(|| PathBuf::from(self.folder.trim()));
                let (env, is_clean, protocol) = (named(&self.environment), self.is_clean, self.protocol);
                Ok(Source::Command(Command { program, args: words, env, cwd, is_clean, protocol }))
            }
            ConnectMode::Url => {
                let url = self.url.trim();
                if !is_web(url) {
                    return Err(Problem::new(ProblemKind::Usage, "not an http or https address")
                        .at(shown(url))
                        .hint("type the server's address, such as http://127.0.0.1:3001/mcp"));
                }
                Ok(Source::Http(Http {
                    url: url.to_owned(),
                    headers: named(&self.headers),
                    transport: self.transport,
                    protocol: self.protocol,
                    cacert: self.cacert(),
                    login: self.login.clone(),
                }))
            }
        }
    }
}

fn named(rows: &[(String, String)]) -> Vec<(String, String)> {
    rows.iter().filter(|(name, _)| !name.trim().is_empty()).map(|(name, value)| (name.trim().to_owned(), value.clone())).collect()
}

/// What a person does about the connection.
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
    /// The same in this revision of the protocol; the last call is made there too, and its two answers compared.
    ReconnectIn(Protocol),
}

impl State {
    /// Takes in what became of the connection in use.
    pub(super) fn connection_update(&mut self, update: SessionUpdate, effects: &mut Vec<Effect>) {
        match update {
            SessionUpdate::Phase(phase) => self.phase(phase),
            SessionUpdate::Step(step) => self.steps.push(step),
            SessionUpdate::Stderr(line) => self.stderr(line),
            SessionUpdate::Connected(server) => self.connected(server, effects),
            SessionUpdate::Tools { tools, note } => self.listed(tools, note, effects),
            SessionUpdate::ConnectFailed(problem) => self.connect_failed(problem),
            SessionUpdate::Gone(problem) => self.gone(problem),
            SessionUpdate::Login(step) => self.login_step(step),
            SessionUpdate::Messages(count) => {
                self.messages = count;
                if let Connection::Connected { messages, .. } = &mut self.connection {
                    *messages = count;
                }
            }
            SessionUpdate::Notification(notification) => self.notified(notification, effects),
        }
    }

    pub(super) fn change_connection(&mut self, action: ConnectAction, effects: &mut Vec<Effect>) {
        match action {
            ConnectAction::Show => {
                self.is_adding_server = false;
                self.versus.is_choosing = false;
                self.is_new_source = true;
                self.view.screen = Screen::Connect;
            }
            ConnectAction::Edit(form) => self.connect_form = *form,
            ConnectAction::UseForm => self.connect_from_form(effects),
            ConnectAction::Connect(source) => self.start_connecting(*source, effects),
            ConnectAction::Cancel | ConnectAction::Disconnect => self.disconnect(effects),
            ConnectAction::Reconnect => self.again(None, effects),
            ConnectAction::ReconnectIn(protocol) => self.again(Some(protocol), effects),
        }
    }

    /// Connects, once every value that the source needs is there.
    pub(super) fn start_connecting(&mut self, source: Source, effects: &mut Vec<Effect>) {
        self.forget_values();
        if !left_out(&source).is_empty() {
            self.seek_values(source, effects);
            return;
        }
        if self.connection.source() != Some(&source)
            && let Some(session) = self.session_at(&source)
        {
            self.switch_to(session, effects);
            return;
        }
        self.keep_open(effects);
        // What failed before is told no longer, and what is closed for this is remembered.
        self.toasts.retain(|toast| toast.problem.is_none());
        self.is_new_source = false;
        self.closed = match &self.connection {
            Connection::Connected { source: open, .. } => Some(open.clone()),
            _ => self.closed.take(),
        }
        .filter(|open| *open != source);
        self.end_session(effects);
        self.begin_session();
        self.messages = 0;
        self.steps.clear();
        self.stderr_dropped = 0;
        self.forget_wire();
        self.versus.is_choosing = false;
        self.library = super::library::Library::default();
        self.view.sidebar = super::SidebarTab::Tools;
        // Said of the tools of one server.
        self.fixtures.verifying.calls_writing = false;
        self.roots_declared = self.roots.is_some();
        let tools = self.own_tools();
        self.again.remember(self.connection.source(), &source, self.list, tools);
        self.tools.clear();
        self.tools_note = None;
        if self.servers.turn_to(&source) {
            self.forms.clear();
            self.stop_watching(effects);
        }
        self.login = LoginLog::default();
        self.connection = self.connecting(self.session, source, effects);
    }

    /// Begins a connection of this number.
    pub(super) fn connecting(&self, session: u64, source: Source, effects: &mut Vec<Effect>) -> Connection {
        let limit = self.settings.waits.connect();
        effects.push(Effect::Session(SessionEffect::Connect { session, source: Box::new(source.clone()), limit }));
        Connection::Connecting { source, phase: "connecting".into(), since: self.now, limit, stderr: Vec::new() }
    }

    fn begin_session(&mut self) {
        self.sessions += 1;
        self.session = self.sessions;
    }

    fn end_session(&mut self, effects: &mut Vec<Effect>) {
        self.end_calls(effects);
        self.forget_asks();
        if matches!(self.connection, Connection::Connecting { .. } | Connection::Connected { .. }) {
            effects.push(Effect::Session(SessionEffect::Disconnect { session: self.session }));
        }
    }

    pub(super) fn end_calls(&mut self, effects: &mut Vec<Effect>) {
        if let Some(running) = self.running.take() {
            effects.push(Effect::Session(SessionEffect::CancelCall { call: running.id }));
        }
        self.stop_series("the connection was closed", true);
        self.pending = None;
        self.again.forget_call();
    }

    pub(super) fn disconnect(&mut self, effects: &mut Vec<Effect>) {
        self.end_session(effects);
        self.stop_watching(effects);
        // Late events of the session that ended must not find it again.
        self.begin_session();
        self.connection = Connection::None;
        self.tools.clear();
        self.selected_tool = None;
        self.stop_listing(effects);
        self.versus.is_choosing = false;
        self.view.screen = Screen::Connect;
    }

    pub(super) fn reconnect(&mut self, effects: &mut Vec<Effect>) {
        match self.connection.source().cloned() {
            Some(source) => self.start_connecting(source, effects),
            None => self.view.screen = Screen::Connect,
        }
    }

    pub(super) fn connect_from_form(&mut self, effects: &mut Vec<Effect>) {
        if !self.take_pasted() {
            return;
        }
        match self.connect_form.source() {
            Ok(source) if self.versus.is_choosing && self.lacks_values(&source) => {}
            Ok(source) if self.versus.is_choosing => self.versus(ServerDiffAction::List(Box::new(source)), effects),
            Ok(source) => self.start_connecting(source, effects),
            Err(problem) => self.toast_problem(problem),
        }
    }

    pub(super) fn phase(&mut self, text: String) {
        if let Connection::Connecting { phase, .. } = &mut self.connection {
            *phase = text;
        }
    }

    pub(super) fn stderr(&mut self, line: String) {
        self.stderr_dropped += u64::from(self.connection.add_stderr(line));
    }

    pub(super) fn connected(&mut self, server: Server, effects: &mut Vec<Effect>) {
        let Connection::Connecting { source, stderr, .. } = &mut self.connection else { return };
        self.closed = None;
        self.connection = Connection::Connected {
            source: source.clone(),
            server,
            since: self.now,
            stderr: std::mem::take(stderr),
            messages: self.messages,
        };
        if let Some(source) = self.connection.source().cloned() {
            self.remember_source(&source, effects);
            self.keep_values(effects);
            self.begin_watching(effects);
        }
    }

    pub(super) fn listed(&mut self, tools: Vec<Tool>, note: Option<String>, effects: &mut Vec<Effect>) {
        self.use_tools(tools, note);
        if self.view.screen == Screen::Connect {
            self.view.screen = Screen::Start;
            self.view.capture = None;
        }
        let has = |name: &str| self.tools.iter().any(|listed| listed.tool.name == name);
        let keep = self.selected_tool.take().filter(|name| has(name));
        let chosen = keep
            .or_else(|| self.remembered_tool())
            .or_else(|| FIRST_TOOLS.iter().find(|name| self.connection.is_sample() && has(name)).map(|&name| name.to_owned()))
            .or_else(|| self.tools.first().map(|listed| listed.tool.name.clone()));
        if let Some(name) = chosen {
            self.select_tool(&name);
        }
        if let Some(question) = self.pending.take() {
            self.answer_start(question, effects);
        }
        self.listed_again(effects);
    }

    /// Takes over a list of tools.
    pub(super) fn use_tools(&mut self, tools: Vec<Tool>, note: Option<String>) {
        self.list = self.number_listing();
        self.is_uncounted = false;
        self.tools = tools.into_iter().map(|tool| ListedTool { tool: Arc::new(tool), tokens: None }).collect();
        self.tools_note = note;
    }

    pub(super) fn connect_failed(&mut self, problem: Problem) {
        let Some(source) = self.connection.source().cloned() else { return };
        let sample = self.connect_form.sample.clone();
        if self.connect_form == (ConnectForm { sample: sample.clone(), ..ConnectForm::default() }) {
            self.connect_form = ConnectForm { sample, ..ConnectForm::of(&source) };
        }
        let stderr = self.connection.stderr().to_vec();
        self.is_new_source = false;
        self.pending = None;
        self.again.forget_call();
        self.connection = Connection::Failed { source, problem, stderr };
        self.view.screen = Screen::Connect;
    }

    pub(super) fn gone(&mut self, problem: Problem) {
        self.is_new_source = false;
        self.library.listing = None;
        match &self.connection {
            Connection::Connected { source, server, stderr, .. } => {
                self.connection =
                    Connection::Gone { source: source.clone(), server: server.clone(), problem, stderr: stderr.clone() };
            }
            Connection::Connecting { .. } => self.connect_failed(problem),
            _ => {}
        }
    }
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
            state.stderr(line.to_string());
        }
        let kept = state.connection.stderr();
        assert_eq!((kept.len(), kept[0].as_str(), state.stderr_dropped), (STDERR_LINES, "3", 3));
        state.start_connecting(Source::sample(), &mut effects);
        assert_eq!(state.stderr_dropped, 0);
    }

    #[test]
    fn a_whole_command_line_may_stand_in_the_first_field() {
        let form = ConnectForm { command: "npx -y 'my server'".into(), arguments: "--port 1".into(), ..ConnectForm::default() };
        assert_eq!(form.source().unwrap().to_string(), "-- npx -y 'my server' --port 1");
        let source = form.source().unwrap();
        assert_eq!(ConnectForm::of(&source).source(), Ok(source));
        assert!(ConnectForm::default().source().is_err());
        assert_eq!(ConnectForm { command: "a 'b".into(), ..ConnectForm::default() }.source().unwrap_err().place, "command");
    }
}
