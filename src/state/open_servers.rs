//! Several servers at a time: switching between them, closing one, making one call at all of them.

use std::sync::Arc;

use super::call_queue::Series;
use super::compare::Compare;
use super::{
    CallOwner, Connection, Dialog, Effect, PreparedCall, Screen, ServerSession, SessionEffect,
    SessionId, SidebarTab, State,
};
use loupe_core::capture::Tool;
use loupe_core::json::write;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::source::{Source, label_among};

/// What the user does with several servers; a server is named by its session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OpenServersAction {
    /// To the connect screen, for a server next to the one in use.
    Add,
    /// Goes on with this one; the one in use stays open.
    Switch(SessionId),
    Close(SessionId),
    /// Makes the call that is shown at this server, too, and compares the two results.
    CallAt(SessionId),
    /// Makes the call that is shown at every open server that has its tool, and shows all results side by side.
    CallAtAll,
}

impl State {
    pub(super) fn open_servers(&mut self, action: OpenServersAction, effects: &mut Vec<Effect>) {
        match action {
            OpenServersAction::Add => {
                self.is_adding_server = true;
                self.server_diff.is_choosing = false;
                self.is_new_source = true;
                self.view.screen = Screen::Connect;
            }
            OpenServersAction::Switch(session) => {
                self.switch_to(session, effects);
            }
            OpenServersAction::Close(session) => self.close_server(session, effects),
            OpenServersAction::CallAtAll => self.call_at_all(effects),
            OpenServersAction::CallAt(session) => {
                let shown = self
                    .capture()
                    .filter(|capture| !capture.request.is_empty())
                    .cloned();
                if let Some(before) = shown
                    && self.switch_to(session, effects)
                {
                    self.call_like(&before, true, effects);
                }
            }
        }
    }

    /// A server's label, identified among those that are open.
    pub fn server_label(&self, source: &Source) -> String {
        let open: Vec<&Source> = self
            .sessions
            .iter()
            .filter_map(|session| session.connection.source())
            .collect();
        label_among(source, &open)
    }

    /// The label of a session's server.
    pub fn session_label(&self, session: &ServerSession) -> String {
        session
            .connection
            .source()
            .map(|source| self.server_label(source))
            .unwrap_or_default()
    }

    /// Closes a server that is not the current one; a call that runs there is cancelled.
    pub(super) fn close_server(&mut self, id: SessionId, effects: &mut Vec<Effect>) {
        let Some(session) = self.sessions.remove(id) else {
            return;
        };
        if self
            .running
            .as_ref()
            .is_some_and(|running| running.session == id)
        {
            self.end_calls(effects);
        }
        if matches!(
            session.connection,
            Connection::Connecting { .. } | Connection::Connected { .. }
        ) {
            effects.push(Effect::Session(SessionEffect::Disconnect { session: id }));
        }
    }

    /// The servers that the call which is shown can be made at: session, source, tool.
    fn servers_for(&self, name: &str) -> Vec<(SessionId, Source, Arc<Tool>)> {
        let connected = self
            .sessions
            .iter()
            .filter(|session| session.connection.is_connected());
        let found = connected.filter_map(|session| {
            let listed = session.find_tool(name)?;
            Some((
                session.id,
                session.connection.source()?.clone(),
                Arc::clone(&listed.tool),
            ))
        });
        found.collect()
    }

    fn call_at_all(&mut self, effects: &mut Vec<Effect>) {
        let Some(shown) = self
            .capture()
            .filter(|capture| !capture.request.is_empty())
            .cloned()
        else {
            return;
        };
        let servers = self.servers_for(&shown.tool.name);
        let Some((_, _, tool)) = servers.first().cloned() else {
            return;
        };
        let mut series = Series::default();
        for (at, (session, _, tool)) in servers.iter().enumerate() {
            let owner = CallOwner::Compare(at);
            let call = PreparedCall {
                session: *session,
                tool: Arc::clone(tool),
                arguments: shown.arguments.clone(),
                owner,
            };
            series.calls.push(call);
            // Its own answer is there already.
            let server = self
                .sessions
                .get(*session)
                .and_then(|session| session.connection.server());
            let is_its = server.is_some_and(|server| server.source == shown.server.source)
                && shown.tool.raw == tool.raw;
            series.captures.push(is_its.then(|| shown.id.clone()));
        }
        let values = servers
            .iter()
            .map(|(_, source, _)| write::string(&self.server_label(source)))
            .collect();
        let compare = Compare::new(shown.server.label().to_owned(), tool, None, values, series);
        let servers = servers.into_iter().map(|(_, source, _)| source).collect();
        self.ask_compare(Compare { servers, ..compare }, effects);
    }

    /// The calls of a comparison of servers, made anew at each; none where it is none.
    ///
    /// # Errors
    /// A server is open no more, or has no such tool.
    pub(super) fn again_at_servers(&self, compare: &Compare) -> Result<Vec<PreparedCall>, Problem> {
        let open = self.servers_for(&compare.tool.name);
        let again = |(at, (source, call)): (usize, (&Source, &PreparedCall))| {
            let (session, _, tool) = open
                .iter()
                .find(|(_, known, _)| known == source)
                .ok_or_else(|| {
                    let what = format!(
                        "{} is not open, or lists no tool {} any more",
                        source.label(),
                        compare.tool.name
                    );
                    Problem::new(ProblemKind::Disconnected, what)
                        .hint("open it beside the server in use, then compare again")
                })?;
            let (tool, owner) = (Arc::clone(tool), CallOwner::Compare(at));
            Ok(PreparedCall {
                session: *session,
                tool,
                arguments: call.arguments.clone(),
                owner,
            })
        };
        compare
            .servers
            .iter()
            .zip(&compare.series.calls)
            .enumerate()
            .map(again)
            .collect()
    }

    /// The arguments of a call as they are shown, with the server where it is not the one in use.
    pub(super) fn call_text(&self, call: &PreparedCall) -> String {
        match self
            .sessions
            .get(call.session)
            .filter(|_| !self.sessions.is_current(call.session))
        {
            Some(session) => format!("{}: {}", self.session_label(session), call.text()),
            None => call.text(),
        }
    }

    /// The session of a server that is open but not the current one.
    pub(super) fn session_at(&self, source: &Source) -> Option<SessionId> {
        let is_it = |open: &&ServerSession| {
            open.connection.is_connected() && open.connection.source() == Some(source)
        };
        self.sessions.others().find(is_it).map(|open| open.id)
    }

    /// Makes another open server the current one; returns whether it did.
    pub(super) fn switch_to(&mut self, id: SessionId, effects: &mut Vec<Effect>) -> bool {
        if self.sessions.is_current(id) || self.sessions.get(id).is_none() {
            return false;
        }
        if self.running.is_some() {
            self.toast("Call in progress. Cancel it to switch");
            return false;
        }
        if matches!(self.session().connection, Connection::Connecting { .. }) {
            self.disconnect(effects);
        }
        self.stop_watching(effects);
        // A call of the server before: its result would be shown among those of this one.
        self.dialog.take_if(|dialog| {
            matches!(
                dialog,
                Dialog::ConfirmCall { .. } | Dialog::ConfirmCompare { .. }
            )
        });
        self.is_adding_server = false;
        self.is_new_source = false;
        let before = self.session().id;
        let shown = self.view.capture.take();
        self.session_mut().shown = shown;
        self.sessions.turn_to(id);
        if !self
            .sessions
            .get(before)
            .is_some_and(|before| before.connection.is_connected())
        {
            self.sessions.remove(before);
        }
        self.view.capture = self.session_mut().shown.take();
        self.begin_watching(effects);
        self.view.sidebar = SidebarTab::Tools;
        self.view.screen = if self.view.capture.is_some() {
            Screen::Answer
        } else {
            Screen::Start
        };
        true
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::state::{Action, CallUpdate, ConnectAction, Event, SessionUpdate};
    use loupe_core::capture::CaptureId;
    use loupe_core::capture::{Capture, Outcome, Server, Tool};
    use loupe_core::source::Command;

    fn source(program: &str) -> Source {
        Source::Command(Command {
            program: program.into(),
            ..Command::default()
        })
    }

    fn update(state: &mut State, session: SessionId, update: SessionUpdate) -> Vec<Effect> {
        let mut effects = Vec::new();
        state.apply(Event::Session { session, update }, &mut effects);
        effects
    }

    fn connect(state: &mut State, program: &str) -> SessionId {
        state.perform(
            ConnectAction::Connect(Box::new(source(program))),
            &mut Vec::new(),
        );
        let session = state.session().id;
        update(
            state,
            session,
            SessionUpdate::Connected(Server {
                name: program.into(),
                source: program.into(),
                ..Server::default()
            }),
        );
        let tool = Tool::read(r#"{"name":"find","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}"#.into());
        update(
            state,
            session,
            SessionUpdate::Tools {
                tools: vec![tool],
                note: None,
            },
        );
        session
    }

    fn perform(state: &mut State, action: impl Into<Action>) -> Vec<Effect> {
        let mut effects = Vec::new();
        state.perform(action.into(), &mut effects);
        effects
    }

    fn disconnects(effects: &[Effect]) -> Vec<SessionId> {
        let session = |effect: &Effect| match effect {
            Effect::Session(SessionEffect::Disconnect { session }) => Some(*session),
            _ => None,
        };
        effects.iter().filter_map(session).collect()
    }

    #[test]
    fn a_server_opened_beside_another_ends_nothing() {
        let mut state = State::default();
        let first = connect(&mut state, "first");
        perform(&mut state, OpenServersAction::Add);
        let effects = perform(
            &mut state,
            ConnectAction::Connect(Box::new(source("second"))),
        );
        assert_eq!(disconnects(&effects), [] as [SessionId; 0]);
        let second = connect(&mut state, "second");
        assert_eq!(
            state
                .sessions
                .others()
                .map(|open| open.id)
                .collect::<Vec<_>>(),
            [first]
        );
        // Each keeps what is its own, and takes in what its server sends.
        update(
            &mut state,
            first,
            SessionUpdate::Stderr("of the first".into()),
        );
        assert!(state.session().connection.stderr().is_empty());
        perform(&mut state, OpenServersAction::Switch(first));
        assert_eq!(
            (state.session().id, state.session().connection.stderr()),
            (first, &["of the first".to_owned()][..])
        );
        assert_eq!(
            state
                .sessions
                .others()
                .map(|open| open.id)
                .collect::<Vec<_>>(),
            [second]
        );
        // To connect to a server that is open is to switch to it.
        let effects = perform(
            &mut state,
            ConnectAction::Connect(Box::new(source("second"))),
        );
        assert_eq!(
            (state.session().id, disconnects(&effects)),
            (second, Vec::new())
        );
        perform(&mut state, OpenServersAction::Switch(first));
        // Connecting again without asking for a second one ends the one in use, as ever.
        let effects = perform(&mut state, ConnectAction::Reconnect);
        assert_eq!(disconnects(&effects), [first]);
        assert!(
            ![first, second].contains(&state.session().id),
            "no session has the number of another"
        );
        assert_eq!(
            disconnects(&perform(&mut state, OpenServersAction::Close(second))),
            [second]
        );
        assert_eq!(state.sessions.others().count(), 0);
    }

    #[test]
    fn servers_have_the_names_that_were_given_to_them_and_two_of_one_name_are_identified() {
        let mut state = State::default();
        let named = |program: &str| source(program).with_name(Some("billing".into()));
        let mut labels = Vec::new();
        for program in ["/v1/serve", "/v2/serve"] {
            perform(&mut state, OpenServersAction::Add);
            perform(&mut state, ConnectAction::Connect(Box::new(named(program))));
            let session = state.session().id;
            update(
                &mut state,
                session,
                SessionUpdate::Connected(Server {
                    name: "own".into(),
                    ..Server::default()
                }),
            );
            labels.push(state.session_label(state.session()));
        }
        assert_eq!(labels[0], "billing");
        let labels: Vec<_> = state
            .sessions
            .iter()
            .map(|session| state.session_label(session))
            .collect();
        assert_eq!(labels, ["billing v2/serve", "billing v1/serve"]);
        // The name makes no other server of it: what is remembered and allowed stays.
        let key = |source: &Source| loupe_core::source::server_key(source, None);
        assert_eq!(key(&named("/v1/serve")), key(&source("/v1/serve")));
    }

    #[test]
    fn what_goes_wrong_at_another_server_stays_there() {
        let mut state = State::default();
        let first = connect(&mut state, "first");
        perform(&mut state, OpenServersAction::Add);
        let second = connect(&mut state, "second");
        let screen = state.view.screen;
        let problem = loupe_core::problem::Problem::new(
            loupe_core::problem::ProblemKind::Disconnected,
            "it ended",
        );
        update(&mut state, first, SessionUpdate::Gone(problem));
        assert!(
            state.session().connection.is_connected()
                && state.session().id == second
                && state.view.screen == screen
        );
        assert!(matches!(
            state.sessions.others().next().unwrap().connection,
            Connection::Disconnected { .. }
        ));
    }

    #[test]
    fn the_call_that_is_shown_is_made_at_every_open_server() {
        let mut state = State::default();
        let sessions = ["first", "second", "third"].map(|program| {
            perform(&mut state, OpenServersAction::Add);
            connect(&mut state, program)
        });
        let capture = |id: &str, server: &str, tool: &Tool| {
            let server = Server {
                name: server.into(),
                source: server.into(),
                ..Server::default()
            };
            let (request, arguments) = (r#"{"jsonrpc":"2.0"}"#.into(), r#"{"of": 1.0}"#.into());
            let response = Some(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#.into());
            let empty = Capture::empty(CaptureId(id.into()), server);
            Arc::new(Capture {
                tool: tool.clone(),
                request,
                arguments,
                response,
                outcome: Outcome::Result,
                ..empty
            })
        };
        let tool = Arc::clone(&state.session().tools[0].tool);
        state.apply(
            Event::Opened(vec![capture("a", "second", &tool)]),
            &mut Vec::new(),
        );
        let mut effects = perform(&mut state, OpenServersAction::CallAtAll);
        // The result of the second is there; the third is in use.
        for (at, server) in [(2, "third"), (0, "first")] {
            let call = effects.iter().find_map(|effect| match effect {
                Effect::Session(SessionEffect::Call {
                    session,
                    call,
                    arguments,
                    ..
                }) => Some((*session, *call, arguments.clone())),
                _ => None,
            });
            let Some((session, call, arguments)) = call else {
                panic!("{server} not called: {effects:?}")
            };
            assert_eq!(
                (session, &arguments[..]),
                (sessions[at], &br#"{"of": 1.0}"#[..]),
                "{server}"
            );
            effects.clear();
            state.apply(
                Event::Call {
                    call,
                    update: CallUpdate::Captured(capture(server, server, &tool)),
                },
                &mut effects,
            );
        }
        let compare = state.comparisons.current.as_ref().expect("a comparison");
        assert_eq!(
            (state.view.screen, &compare.values[..]),
            (
                Screen::Compare,
                &["third", "first", "second"].map(write::string)[..]
            )
        );
        assert_eq!(
            compare.series.captures,
            ["third", "first", "a"].map(|id| Some(CaptureId(id.into())))
        );
        assert_eq!(
            state.session().id,
            sessions[2],
            "the server in use stays so"
        );
        // Again is at each of them, or not at all.
        let again = Action::Compare(crate::state::CompareAction::Again);
        perform(&mut state, again.clone());
        assert!(state.running.is_some());
        perform(&mut state, crate::state::CallAction::Cancel);
        state.running = None;
        perform(&mut state, OpenServersAction::Close(sessions[0]));
        assert!(perform(&mut state, again).is_empty());
        let message = state
            .toasts
            .last()
            .map(|toast| toast.text.clone())
            .unwrap_or_default();
        assert!(message.contains("first is not open"), "{message}");
    }

    #[test]
    fn a_tool_that_is_not_read_only_is_asked_about_whatever_was_said_at_another_server() {
        let mut state = crate::state::servers::tests::remembering();
        let tool = Arc::clone(&state.tool().expect("it is selected").tool);
        assert!(!tool.is_declared_read_only());
        let here = PreparedCall {
            session: state.session().id,
            tool,
            arguments: "{}".into(),
            owner: CallOwner::Person,
        };
        assert!(state.needs_consent(&here));
        state.allow(
            crate::state::AllowedTools::This,
            std::slice::from_ref(&here),
            &mut Vec::new(),
        );
        assert!(!state.needs_consent(&here));
        perform(&mut state, OpenServersAction::Add);
        let other = connect(&mut state, "other");
        assert!(state.needs_consent(&PreparedCall {
            session: other,
            ..here.clone()
        }));
        assert!(
            !state.needs_consent(&here),
            "it counts there, whichever server is shown"
        );
    }

    #[test]
    fn the_call_that_is_shown_is_made_at_the_other_server_and_compared() {
        let mut state = State::default();
        let first = connect(&mut state, "first");
        perform(&mut state, OpenServersAction::Add);
        let second = connect(&mut state, "second");
        let capture = |id: &str| {
            let empty = Capture::empty(CaptureId(id.into()), Server::default());
            let tool = Tool::read(r#"{"name":"find"}"#.into());
            let response = Some(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#.into());
            Arc::new(Capture {
                tool,
                request: "{}".into(),
                arguments: "{}".into(),
                response,
                outcome: Outcome::Result,
                ..empty
            })
        };
        state.apply(Event::Opened(vec![capture("a")]), &mut Vec::new());
        let effects = perform(&mut state, OpenServersAction::CallAt(first));
        let called = effects.iter().find_map(|effect| match effect {
            Effect::Session(SessionEffect::Call { session, call, .. }) => Some((*session, *call)),
            _ => None,
        });
        let Some((session, call)) = called else {
            panic!("not called: {effects:?}")
        };
        assert_eq!((session, state.session().id), (first, first));
        state.apply(
            Event::Call {
                call,
                update: CallUpdate::Captured(capture("b")),
            },
            &mut Vec::new(),
        );
        assert_eq!(state.view.screen, Screen::Diff);
        assert_eq!(
            state.diff.sides,
            Some((CaptureId("a".into()), CaptureId("b".into())))
        );
        perform(&mut state, OpenServersAction::Switch(second));
        assert_eq!(
            state.capture().map(|shown| shown.id.clone()),
            Some(CaptureId("a".into()))
        );
    }
}
