//! Checks of what is typed against schemas of servers. They are made off the UI thread; until one is back, what the one
//! before found stays.

use bytes::Bytes;

use super::{Effect, SessionId, State};
use crate::analysis::arguments::ArgumentCheck;

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
    /// What waits for it: a call or an answer, to be sent where nothing is found.
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
        *self = Self { revision: self.revision + 1, stage: Stage::Wanted, sends: false };
    }

    pub(super) fn is_done(self) -> bool {
        self.stage == Stage::Done
    }

    /// The revision to check, once for each.
    fn ask(&mut self) -> Option<u64> {
        (self.stage == Stage::Wanted).then(|| {
            self.stage = Stage::Asked;
            self.revision
        })
    }

    /// Whether a result is of the text as it stands.
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
                    let target = CheckTarget::Form { session: id, tool: tool.clone() };
                    let (schema, text) = (form.schema().cloned(), form.sent().into_owned());
                    effects.push(Effect::CheckSchema(SchemaCheck { target, revision, schema, text }));
                }
            }
            for open in &mut session.server_requests.open {
                let Some(schema) = open.schema().cloned() else { continue };
                if let Some(revision) = open.progress.ask() {
                    let target = CheckTarget::Request { session: id, key: open.ask.key };
                    let text = open.content();
                    effects.push(Effect::CheckSchema(SchemaCheck { target, revision, schema: Some(schema), text }));
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
                let Some(session) = self.sessions.get_mut(*session) else { return };
                let is_selected = session.selected_tool.as_ref() == Some(tool);
                let id = session.id;
                let Some(form) = session.forms.get_mut(tool) else { return };
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
                let Some(session) = self.sessions.get_mut(*session) else { return };
                let id = session.id;
                let mut open = session.server_requests.open.iter_mut();
                let Some(open) = open.find(|open| open.ask.key == *key) else { return };
                if !open.progress.finish(revision) {
                    return;
                }
                open.problems = checked.objections();
                let sends = std::mem::take(&mut open.progress.sends);
                let is_first = session.server_requests.open.front().is_some_and(|open| open.ask.key == *key);
                if sends && is_first && self.sessions.is_current(id) {
                    self.accept_request(effects);
                }
            }
        }
    }

    /// Makes the checks that were asked for at once; for tests without an engine.
    #[cfg(test)]
    pub fn check_schemas(&mut self, effects: &mut Vec<Effect>) {
        while let Some(at) = effects.iter().position(|effect| matches!(effect, Effect::CheckSchema(_))) {
            let Effect::CheckSchema(check) = effects.remove(at) else { return };
            let event = check.made();
            self.apply(event, effects);
        }
    }
}

impl SchemaCheck {
    /// Makes the check.
    pub fn made(self) -> super::Event {
        let checked = crate::analysis::arguments::check(self.schema.as_ref(), &self.text)
            .unwrap_or_else(|(why, ..)| ArgumentCheck { problems: vec![(String::new(), why)], unchecked: None });
        super::Event::SchemaChecked { target: self.target, revision: self.revision, checked }
    }
}
