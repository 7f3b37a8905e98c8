//! Checks of what is typed against schemas of servers. They are made off the UI thread; until one is back, what the one
//! before found stays.

use bytes::Bytes;

use super::{Effect, SessionId, State};
use loupe_analysis::queries::arguments::ArgumentCheck;
use loupe_core::problem::Problem;

/// What is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckTarget {
    /// The form of a tool.
    Form { session: SessionId, tool: String },
    /// The form that a server asks to fill in, by its key.
    Request { session: SessionId, key: u64 },
}

/// A check to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaCheck {
    pub target: CheckTarget,
    /// Which state of the text it is of.
    pub revision: u64,
    pub schema: Option<Bytes>,
    pub text: String,
}

/// Where the check of one text is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckProgress {
    revision: u64,
    stage: Stage,
    /// What waits for it: a call or a result, to be sent where nothing is found.
    pub(super) sends: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Done,
    Wanted,
    Asked,
}

impl CheckProgress {
    /// The text is another one: what waited for the check of the one before is given up.
    pub(super) fn want(&mut self) {
        *self = Self {
            revision: self.revision + 1,
            stage: Stage::Wanted,
            sends: false,
        };
    }

    pub(super) fn is_done(self) -> bool {
        self.stage == Stage::Done
    }

    /// A check that is not back is asked for anew: its result would not find the text.
    pub(super) fn restart(&mut self) {
        if !self.is_done() {
            self.want();
        }
    }

    /// The revision to check, once for each.
    fn ask(&mut self) -> Option<u64> {
        (self.stage == Stage::Wanted).then(|| {
            self.stage = Stage::Asked;
            self.revision
        })
    }

    /// Whether a result is of the text as it is.
    fn finish(&mut self, revision: u64) -> bool {
        let is_current = self.revision == revision && self.stage == Stage::Asked;
        if is_current {
            self.stage = Stage::Done;
        }
        is_current
    }
}

impl State {
    /// Asks for every check that is wanted.
    pub(super) fn ask_checks(&mut self, effects: &mut Vec<Effect>) {
        for session in self.sessions.iter_mut() {
            let id = session.id;
            for (tool, form) in &mut session.forms {
                if let Some(revision) = form.progress.ask() {
                    let target = CheckTarget::Form {
                        session: id,
                        tool: tool.clone(),
                    };
                    let (schema, text) =
                        (form.schema().cloned(), form.resolved_text().into_owned());
                    effects.push(Effect::CheckSchema(SchemaCheck {
                        target,
                        revision,
                        schema,
                        text,
                    }));
                }
            }
            for open in &mut session.server_requests.open {
                let Some(schema) = open.schema().cloned() else {
                    continue;
                };
                if let Some(revision) = open.progress.ask() {
                    let target = CheckTarget::Request {
                        session: id,
                        key: open.ask.key,
                    };
                    let text = open.content();
                    effects.push(Effect::CheckSchema(SchemaCheck {
                        target,
                        revision,
                        schema: Some(schema),
                        text,
                    }));
                }
            }
        }
    }

    /// A check is back; of a text that was typed over it changes nothing.
    pub(super) fn on_schema_checked(
        &mut self,
        target: &CheckTarget,
        revision: u64,
        checked: ArgumentCheck,
        effects: &mut Vec<Effect>,
    ) {
        match target {
            CheckTarget::Form { session, tool } => {
                let Some(session) = self.sessions.get_mut(*session) else {
                    return;
                };
                let is_selected = session.selected_tool.as_ref() == Some(tool);
                let id = session.id;
                let Some(form) = session.forms.get_mut(tool) else {
                    return;
                };
                if !form.progress.finish(revision) {
                    return;
                }
                (form.problems, form.unchecked) = (checked.problems, checked.unchecked);
                let sends = std::mem::take(&mut form.progress.sends);
                if sends && is_selected && self.sessions.is_current(id) {
                    self.call(false, effects);
                }
            }
            CheckTarget::Request { session, key } => {
                let Some(session) = self.sessions.get_mut(*session) else {
                    return;
                };
                let id = session.id;
                let mut open = session.server_requests.open.iter_mut();
                let Some(open) = open.find(|open| open.ask.key == *key) else {
                    return;
                };
                if !open.progress.finish(revision) {
                    return;
                }
                open.problems = checked.objections();
                let sends = std::mem::take(&mut open.progress.sends);
                let is_first = session
                    .server_requests
                    .open
                    .front()
                    .is_some_and(|open| open.ask.key == *key);
                if sends && is_first && self.sessions.is_current(id) {
                    self.accept_request(effects);
                }
            }
        }
    }

    /// Makes the checks that were asked for at once; for tests without an engine.
    #[cfg(test)]
    pub fn check_schemas(&mut self, effects: &mut Vec<Effect>) {
        while let Some(at) = effects
            .iter()
            .position(|effect| matches!(effect, Effect::CheckSchema(_)))
        {
            let Effect::CheckSchema(check) = effects.remove(at) else {
                return;
            };
            let event = check.run();
            self.apply(event, effects);
        }
    }
}

impl SchemaCheck {
    /// The event where making the check panics: the text is unchecked, and can be sent.
    pub fn failed(&self) -> impl FnOnce(Problem) -> super::Event + Send + 'static + use<> {
        let (target, revision) = (self.target.clone(), self.revision);
        move |problem| {
            let checked = ArgumentCheck {
                problems: Vec::new(),
                unchecked: Some(problem.message()),
            };
            super::Event::SchemaChecked {
                target,
                revision,
                checked,
            }
        }
    }

    /// Runs the check.
    pub fn run(self) -> super::Event {
        let checked = loupe_analysis::queries::arguments::check(self.schema.as_ref(), &self.text)
            .unwrap_or_else(|(why, ..)| ArgumentCheck {
                problems: vec![(String::new(), why)],
                unchecked: None,
            });
        super::Event::SchemaChecked {
            target: self.target,
            revision: self.revision,
            checked,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{Action, CallAction, ConnectAction, Event, SessionUpdate};
    use loupe_core::capture::{Server, Tool};
    use loupe_core::source::{Command, Source};

    fn perform(state: &mut State, action: impl Into<Action>) -> Vec<Effect> {
        let mut effects = Vec::new();
        state.perform(action, &mut effects);
        effects
    }

    fn listed(state: &mut State) -> Vec<Effect> {
        let (session, mut effects) = (state.session().id, Vec::new());
        let tool = r#"{"name":"get","annotations":{"readOnlyHint":true},"inputSchema":{"properties":{"n":{"type":"integer"}}}}"#;
        let tools = vec![Tool::read(tool.into())];
        for update in [
            SessionUpdate::Connected(Server::default()),
            SessionUpdate::Tools { tools, note: None },
        ] {
            state.apply(Event::Session { session, update }, &mut effects);
        }
        effects
    }

    fn checks(effects: Vec<Effect>) -> Vec<SchemaCheck> {
        let check = |effect| {
            if let Effect::CheckSchema(check) = effect {
                Some(check)
            } else {
                None
            }
        };
        effects.into_iter().filter_map(check).collect()
    }

    fn connected() -> State {
        let mut state = State::default();
        let source = Source::Command(Command {
            program: "x".into(),
            ..Command::default()
        });
        perform(&mut state, ConnectAction::Connect(Box::new(source)));
        let mut effects = listed(&mut state);
        state.check_schemas(&mut effects);
        state
    }

    fn deliver(state: &mut State, check: SchemaCheck) -> Vec<Effect> {
        let mut effects = Vec::new();
        state.apply(check.run(), &mut effects);
        effects
    }

    #[test]
    fn a_call_waits_for_the_check_of_what_is_typed_and_for_no_other() {
        let mut state = connected();
        let first = checks(perform(
            &mut state,
            CallAction::SetArgumentsText(r#"{"n":"x"}"#.into()),
        ))
        .remove(0);
        let second = checks(perform(
            &mut state,
            CallAction::SetArgumentsText(r#"{"n":1}"#.into()),
        ))
        .remove(0);
        assert!(
            perform(&mut state, CallAction::Call { send_anyway: false }).is_empty()
                && state.running.is_none()
        );
        assert!(
            deliver(&mut state, first).is_empty(),
            "of what was typed over"
        );
        assert!(!deliver(&mut state, second).is_empty() && state.running.is_some());
        // What does not fit is said instead.
        state.running = None;
        let check = checks(perform(
            &mut state,
            CallAction::SetArgumentsText(r#"{"n":"x"}"#.into()),
        ))
        .remove(0);
        perform(&mut state, CallAction::Call { send_anyway: false });
        assert!(deliver(&mut state, check).is_empty() && state.running.is_none());
        assert_eq!(
            state.form().map(|form| (form.problems.len(), form.tries)),
            Some((1, 1))
        );
    }

    #[test]
    fn a_check_that_is_out_at_a_reconnect_is_asked_for_again() {
        let mut state = connected();
        let lost = checks(perform(
            &mut state,
            CallAction::SetArgumentsText(r#"{"n":1}"#.into()),
        ))
        .remove(0);
        let mut effects = perform(&mut state, ConnectAction::Reconnect);
        effects.extend(listed(&mut state));
        assert!(deliver(&mut state, lost).is_empty());
        for check in checks(effects) {
            deliver(&mut state, check);
        }
        assert!(state.form().is_some_and(crate::state::Form::is_checked));
    }
}
