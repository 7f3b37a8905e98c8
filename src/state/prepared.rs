//! A call as it was shown to whoever agrees to it. It is sent so, byte for byte and to the session that it was shown for,
//! or not at all: what is selected, typed or listed meanwhile changes nothing about it.

use std::sync::Arc;

use bytes::Bytes;

use super::{
    CallInFlight, Connection, Effect, ServerSession, SessionEffect, SessionId, StartQuestion, State,
};
use loupe_core::capture::{CaptureId, Tool};
use loupe_core::problem::{Problem, ProblemKind};

/// A call that is ready to be sent.
#[derive(Clone, Debug, PartialEq)]
pub struct PreparedCall {
    /// The session that it is for.
    pub session: SessionId,
    /// The tool as it was listed then.
    pub tool: Arc<Tool>,
    /// As they are sent.
    pub arguments: Bytes,
    pub owner: CallOwner,
}

/// Whom the answer to a call goes to.
#[derive(Clone, Debug, PartialEq)]
pub enum CallOwner {
    /// Who pressed *Call*, or read a resource or a prompt.
    Person,
    /// A card of the start page.
    StartPage(StartQuestion),
    /// Reconnecting, which compares it with the result of before.
    Reconnect { before: CaptureId, was_diff: bool },
    /// A comparison; the call's position in it.
    Compare(usize),
    /// A fixture that is verified; the call's position among those of the run.
    Fixture(usize),
    /// Saved results of fixtures that are judged without a call.
    SavedFixtures,
}

impl PreparedCall {
    /// The arguments as they are shown.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.arguments).into_owned()
    }
}

impl State {
    /// A call to the current server.
    pub(super) fn prepare(
        &self,
        tool: &Arc<Tool>,
        arguments: Bytes,
        owner: CallOwner,
    ) -> PreparedCall {
        PreparedCall {
            session: self.session().id,
            tool: Arc::clone(tool),
            arguments,
            owner,
        }
    }

    /// Whether the user has to agree to this call. What was said of a tool counts at its own server alone.
    pub(super) fn needs_consent(&self, call: &PreparedCall) -> bool {
        let is_allowed =
            |session| ServerSession::is_sample(session) || self.is_allowed(session, &call.tool);
        !call.tool.is_declared_read_only()
            && !self.sessions.get(call.session).is_some_and(is_allowed)
    }

    /// Sends a call, and is busy with it.
    ///
    /// # Errors
    /// Why nothing was sent: the server is not there any more, or its tool is another.
    pub(super) fn begin_call(
        &mut self,
        prepared: PreparedCall,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Problem> {
        self.check_prepared(&prepared)?;
        let PreparedCall {
            session,
            tool,
            arguments,
            owner,
        } = prepared;
        let call = self.begin(session, tool.name.clone(), owner);
        effects.push(Effect::Session(SessionEffect::Call {
            session,
            call,
            tool,
            arguments,
            limit: self.settings.waits.call(),
        }));
        Ok(())
    }

    /// Is busy from here on with what is called so, and returns its number.
    pub(super) fn begin(&mut self, session: SessionId, tool: String, owner: CallOwner) -> u64 {
        self.next_call += 1;
        if let Some(session) = self.sessions.get_mut(session) {
            session.last_called = None;
        }
        let (id, since, limit) = (self.next_call, self.now, self.settings.waits.call());
        self.running = Some(CallInFlight {
            id,
            session,
            owner,
            tool,
            since,
            limit,
            progress: None,
            unreadable: 0,
            task: None,
        });
        id
    }

    /// Whether the call can still be made as it was shown.
    ///
    /// # Errors
    /// What has become of the server or its tool meanwhile.
    pub(super) fn check_prepared(&self, call: &PreparedCall) -> Result<(), Problem> {
        let name = &call.tool.name;
        let changed = |what: &str| {
            let what = format!("{name} is not called: {what}");
            Err(Problem::new(ProblemKind::Consent, what).hint("look at the tool, then call again"))
        };
        let Some(session) = self.sessions.get(call.session) else {
            return changed("the connection that it was meant for has ended");
        };
        if !session.connection.is_connected() {
            let what = match &session.connection {
                Connection::Disconnected { problem, .. } => {
                    format!("the server is gone: {}", problem.what)
                }
                _ => "not connected".to_owned(),
            };
            return Err(Problem::new(ProblemKind::Disconnected, what)
                .hint("reconnect (Ctrl R), then call again"));
        }
        match session.find_tool(name) {
            Some(listed) if listed.tool.raw == call.tool.raw => Ok(()),
            Some(_) => changed("the server has changed the tool meanwhile"),
            None => changed("the server does not list it any more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::CallUpdate;
    use crate::state::SessionUpdate;
    use crate::state::{Action, CompareAction, Dialog, Event, ServerNotification};
    use crate::state::{CallAction, ConnectAction};
    use loupe_core::capture::{Capture, CaptureId, Outcome, Server};
    use loupe_core::source::{Command, Source};

    /// Two tools, neither declared read-only.
    const TOOLS: [&str; 2] = [
        r#"{"name":"a","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}"#,
        r#"{"name":"b","inputSchema":{"type":"object"}}"#,
    ];

    fn tools(raw: &[&str]) -> Vec<Tool> {
        raw.iter()
            .map(|raw| Tool::read(Bytes::copy_from_slice(raw.as_bytes())))
            .collect()
    }

    fn source() -> Source {
        Source::Command(Command {
            program: "server".into(),
            ..Command::default()
        })
    }

    fn connect(state: &mut State, action: impl Into<Action>) {
        state.perform(action, &mut Vec::new());
        let session = state.session().id;
        let server = Server {
            source: source().to_string(),
            ..Server::default()
        };
        state.apply(
            Event::Session {
                session,
                update: SessionUpdate::Connected(server),
            },
            &mut Vec::new(),
        );
        state.apply(
            Event::Session {
                session,
                update: SessionUpdate::Tools {
                    tools: tools(&TOOLS),
                    note: None,
                },
            },
            &mut Vec::new(),
        );
    }

    fn connected() -> State {
        let mut state = State::default();
        connect(&mut state, ConnectAction::Connect(Box::new(source())));
        state.perform(CallAction::SelectTool("a".into()), &mut Vec::new());
        let mut effects = Vec::new();
        state.perform(
            CallAction::SetArgumentsText(r#"{"n": 1}"#.into()),
            &mut effects,
        );
        state.check_schemas(&mut effects);
        state
    }

    fn performed(state: &mut State, action: impl Into<Action>) -> Vec<Effect> {
        let mut effects = Vec::new();
        state.perform(action, &mut effects);
        state.check_schemas(&mut effects);
        effects.retain(|effect| matches!(effect, Effect::Session(SessionEffect::Call { .. })));
        effects
    }

    /// Each way to ask for calls.
    fn ways() -> Vec<(&'static str, Vec<Action>)> {
        let vary = CompareAction::Start {
            vary: "n".into(),
            written: "1,2".into(),
        };
        vec![
            ("call", vec![CallAction::Call { send_anyway: false }.into()]),
            (
                "repeat",
                vec![Action::Compare(CompareAction::StartEqual(2))],
            ),
            ("compare", vec![Action::Compare(vary)]),
        ]
    }

    /// A state in which the question stands.
    fn asked(way: &[Action]) -> State {
        let mut state = connected();
        for action in way {
            assert!(
                performed(&mut state, action.clone()).is_empty(),
                "sent unasked"
            );
        }
        assert!(state.dialog.is_some(), "{:?}", state.toasts);
        state
    }

    fn refusal(state: &State) -> &Problem {
        state
            .toasts
            .last()
            .and_then(|toast| toast.problem.as_ref())
            .expect("it is said")
    }

    #[test]
    fn what_was_shown_is_sent_whatever_is_selected_or_typed_meanwhile() {
        for (name, way) in ways() {
            let mut state = asked(&way);
            let session = state.session().id;
            performed(
                &mut state,
                CallAction::SetArgumentsText(r#"{"n": 666}"#.into()),
            );
            performed(&mut state, CallAction::SelectTool("b".into()));
            // The list was made anew, and is the same.
            let heard = ServerNotification::Tools {
                tools: tools(&TOOLS),
                note: None,
            };
            state.apply(
                Event::Session {
                    session,
                    update: SessionUpdate::Notification(heard),
                },
                &mut Vec::new(),
            );
            let effects = performed(&mut state, CallAction::Confirm);
            let [
                Effect::Session(SessionEffect::Call {
                    session: to,
                    tool,
                    arguments,
                    ..
                }),
            ] = &effects[..]
            else {
                panic!("{name}: {effects:?}")
            };
            let sent = String::from_utf8_lossy(arguments).replace(' ', "");
            assert_eq!(
                (*to, tool.name.as_str(), sent.as_str()),
                (session, "a", r#"{"n":1}"#),
                "{name}"
            );
        }
    }

    #[test]
    fn nothing_is_sent_once_the_tool_or_the_connection_is_another() {
        let worse = TOOLS[0].replace("\"a\"", "\"a\",\"annotations\":{\"destructiveHint\":true}");
        for (name, way) in ways() {
            for list in [vec![worse.as_str(), TOOLS[1]], vec![TOOLS[1]]] {
                let mut state = asked(&way);
                let heard = ServerNotification::Tools {
                    tools: tools(&list),
                    note: None,
                };
                state.apply(
                    Event::Session {
                        session: state.session().id,
                        update: SessionUpdate::Notification(heard),
                    },
                    &mut Vec::new(),
                );
                assert!(
                    performed(&mut state, CallAction::Confirm).is_empty(),
                    "{name}"
                );
                let problem = refusal(&state);
                assert_eq!(problem.kind, ProblemKind::Consent);
                assert!(
                    problem.what.starts_with("a is not called: the server "),
                    "{name}: {problem}"
                );
                assert!(state.running.is_none());
            }
            let mut state = asked(&way);
            let dialog = state.dialog.clone();
            connect(&mut state, ConnectAction::Connect(Box::new(source())));
            state.dialog = dialog;
            assert!(
                performed(&mut state, CallAction::Confirm).is_empty(),
                "{name}"
            );
            assert_eq!(
                refusal(&state).what,
                "a is not called: the connection that it was meant for has ended",
                "{name}"
            );
        }
    }

    #[test]
    fn a_series_ends_where_the_tool_becomes_another() {
        for (name, way) in ways()
            .into_iter()
            .filter(|(name, _)| matches!(*name, "repeat" | "compare"))
        {
            let mut state = asked(&way);
            let [Effect::Session(SessionEffect::Call { call, tool, .. })] =
                &performed(&mut state, CallAction::Confirm)[..]
            else {
                panic!("{name}")
            };
            let worse = TOOLS[0].replace("\"a\"", "\"a\",\"description\":\"other\"");
            let heard = ServerNotification::Tools {
                tools: tools(&[&worse, TOOLS[1]]),
                note: None,
            };
            state.apply(
                Event::Session {
                    session: state.session().id,
                    update: SessionUpdate::Notification(heard),
                },
                &mut Vec::new(),
            );
            let server = Server {
                source: source().to_string(),
                ..Server::default()
            };
            let empty = Capture::empty(CaptureId("1".into()), server);
            let capture = Arc::new(Capture {
                tool: Tool::clone(tool),
                outcome: Outcome::Result,
                ..empty
            });
            let mut effects = Vec::new();
            state.apply(
                Event::Call {
                    call: *call,
                    update: CallUpdate::Captured(capture),
                },
                &mut effects,
            );
            assert!(
                !effects
                    .iter()
                    .any(|effect| matches!(effect, Effect::Session(SessionEffect::Call { .. }))),
                "{name}: {effects:?}"
            );
            assert!(
                refusal(&state)
                    .what
                    .contains("has changed the tool meanwhile"),
                "{name}"
            );
        }
    }

    #[test]
    fn the_call_that_reconnecting_repeats_is_for_that_connection_alone() {
        let mut state = connected();
        let tool = Arc::clone(&state.session().tools[0].tool);
        let server = state.session().connection.server().cloned().unwrap();
        let before = Capture {
            tool: Tool::clone(&tool),
            arguments: Bytes::from_static(br#"{"n": 1}"#),
            request: Bytes::from_static(b"{}"),
            ..Capture::empty(CaptureId("1".into()), server)
        };
        state.add_capture(Arc::new(before));
        connect(&mut state, ConnectAction::Reconnect);
        let Some(Dialog::ConfirmCall { call }) = state.dialog.clone() else {
            panic!("asked: {:?}", state.dialog)
        };
        assert_eq!(
            (call.session, call.text().as_str()),
            (state.session().id, r#"{"n": 1}"#)
        );
        connect(&mut state, ConnectAction::Connect(Box::new(source())));
        state.dialog = Some(Dialog::ConfirmCall { call });
        assert!(performed(&mut state, CallAction::Confirm).is_empty());
        assert!(
            refusal(&state)
                .what
                .contains("the connection that it was meant for has ended")
        );
        connect(&mut state, ConnectAction::Reconnect);
        assert_eq!(performed(&mut state, CallAction::Confirm).len(), 1);
    }
}
