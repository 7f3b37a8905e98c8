//! What the server asks of the user, one question after the other: the form being filled in, and what is answered.
//!
//! What is typed lives here until it is answered, and nowhere else.

use std::collections::{BTreeSet, VecDeque};

use super::schema_check::CheckProgress;
use super::{AppEffect, Effect, ServerSession, SessionEffect, SessionId, State};
use loupe_core::json::{Doc, write};
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::server_request::form::{ElicitationField, ElicitationKind};
use loupe_core::server_request::{Reply, RequestKind, ServerRequest};

/// What stands as the model of a completion that the user wrote.
const MODEL: &str = "a person, by hand";
/// What stands as the model of a completion that was written beforehand.
const CANNED: &str = "a canned answer";

/// What is given to a field.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldInput {
    Unset,
    Text(String),
    /// JSON text: a number, a boolean, a choice. May be unfinished.
    Json(String),
    /// Places among the choices.
    Many(BTreeSet<usize>),
}

impl FieldInput {
    fn default_of(field: &ElicitationField) -> Self {
        let Some(default) = &field.default else {
            return Self::Unset;
        };
        let doc = Doc::parse(bytes::Bytes::copy_from_slice(default.as_bytes()));
        match (&field.kind, doc.root()) {
            (ElicitationKind::Text { .. }, Some(node)) => node.as_str().map_or_else(
                || Self::Json(default.clone()),
                |text| Self::Text(text.into_owned()),
            ),
            (ElicitationKind::Many { choices, .. }, Some(list)) => {
                let chosen: Vec<_> = list
                    .children()
                    .map(|item| item.raw_text().into_owned())
                    .collect();
                let at = |(at, choice): (usize, &loupe_core::server_request::form::Choice)| {
                    chosen.contains(&choice.value).then_some(at)
                };
                Self::Many(choices.iter().enumerate().filter_map(at).collect())
            }
            _ => Self::Json(default.clone()),
        }
    }

    fn json(&self, kind: &ElicitationKind) -> Option<String> {
        match (self, kind) {
            (Self::Unset, _) => None,
            (Self::Text(text), _) => Some(write::string(text)),
            (Self::Json(text), _) => Some(text.trim())
                .filter(|text| !text.is_empty())
                .map(str::to_owned),
            (Self::Many(places), ElicitationKind::Many { choices, .. }) => {
                let values: Vec<_> = places
                    .iter()
                    .filter_map(|at| Some(choices.get(*at)?.value.as_str()))
                    .collect();
                Some(format!("[{}]", values.join(",")))
            }
            (Self::Many(_), _) => None,
        }
    }
}

/// A question that waits.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenRequest {
    pub ask: ServerRequest,
    /// One for each field of a form.
    pub given: Vec<FieldInput>,
    /// What the model shall say.
    pub text: String,
    /// What the form's schema says against it: JSON Pointer and message. Shown once an answer was tried.
    pub problems: Vec<(String, String)>,
    /// Where the check against the form's schema is.
    pub(super) progress: CheckProgress,
    pub is_tried: bool,
}

impl OpenRequest {
    fn new(ask: ServerRequest) -> Self {
        let given = match &ask.wants {
            RequestKind::Form { fields, .. } => fields.iter().map(FieldInput::default_of).collect(),
            _ => Vec::new(),
        };
        let (text, problems, progress) = (String::new(), Vec::new(), CheckProgress::default());
        Self {
            ask,
            given,
            text,
            problems,
            progress,
            is_tried: false,
        }
    }

    /// The content of the form as it is.
    pub fn content(&self) -> String {
        let RequestKind::Form { fields, .. } = &self.ask.wants else {
            return "{}".into();
        };
        let member = |(field, given): (&ElicitationField, &FieldInput)| {
            Some(format!(
                "{}:{}",
                write::string(&field.name),
                given.json(&field.kind)?
            ))
        };
        format!(
            "{{{}}}",
            fields
                .iter()
                .zip(&self.given)
                .filter_map(member)
                .collect::<Vec<_>>()
                .join(",")
        )
    }

    /// The schema of the form that is asked for.
    pub(super) fn schema(&self) -> Option<&bytes::Bytes> {
        match &self.ask.wants {
            RequestKind::Form { schema, .. } => Some(schema),
            _ => None,
        }
    }

    /// What is said against a field.
    pub fn problem_of(&self, field: &ElicitationField) -> Option<&str> {
        let pointer = format!("/{}", field.name.replace('~', "~0").replace('/', "~1"));
        let below = format!("{pointer}/");
        let found = self
            .problems
            .iter()
            .find(|(at, _)| *at == pointer || at.starts_with(&below));
        found
            .filter(|_| self.is_tried)
            .map(|(_, message)| message.as_str())
    }
}

/// The questions that wait, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerRequests {
    pub open: VecDeque<OpenRequest>,
    /// Addresses that were opened for the server and are not said to be done: the server's id and the host.
    pub visits: Vec<(String, String)>,
}

impl ServerRequests {
    /// Removes a question that the server does not wait for any more; returns whether it was there.
    pub(super) fn withdraw(&mut self, key: u64) -> bool {
        let before = self.open.len();
        self.open.retain(|open| open.ask.key != key);
        self.open.len() < before
    }

    /// Removes a visit that the server says is done; returns its host.
    pub(super) fn on_elicitation_done(&mut self, id: &str) -> Option<String> {
        let at = self.visits.iter().position(|(known, _)| known == id)?;
        Some(self.visits.remove(at).1)
    }
}

/// What the user does with the first of the questions.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerRequestAction {
    Give {
        field: usize,
        given: FieldInput,
    },
    SetText(String),
    /// Sends the form, opens the address, sends the completion.
    Accept,
    Decline,
    Cancel,
}

impl State {
    pub(super) fn on_server_request(
        &mut self,
        session: SessionId,
        ask: ServerRequest,
        effects: &mut Vec<Effect>,
    ) {
        if let (RequestKind::Sampling(_), Some(text)) = (&ask.wants, &self.sampling_reply) {
            let reply = Reply::Message {
                text: text.clone(),
                model: CANNED.into(),
            };
            effects.push(Effect::Session(SessionEffect::Command {
                session,
                command: super::SessionCommand::Reply {
                    key: ask.key,
                    reply,
                },
            }));
            self.toast_of(session, "The server asked for a completion and got the canned answer; both are in the protocol log");
            return;
        }
        if let Some(of) = self.sessions.get_mut(session) {
            of.server_requests.open.push_back(OpenRequest::new(ask));
        }
    }

    /// As if the server in use had asked this; for tests of what is painted then.
    #[cfg(test)]
    pub fn as_if_asked(&mut self, method: &str, params: &'static str) {
        let params = loupe_core::json::Doc::parse(bytes::Bytes::from_static(params.as_bytes()));
        let ask = ServerRequest::read(1, method, params.root()).unwrap();
        self.on_server_request(self.session().id, ask, &mut Vec::new());
    }

    /// Sends the answer to the first request.
    pub(super) fn accept_request(&mut self, effects: &mut Vec<Effect>) {
        self.answer_ask(ServerRequestAction::Accept, effects);
    }

    pub(super) fn answer_ask(&mut self, action: ServerRequestAction, effects: &mut Vec<Effect>) {
        let ServerSession {
            id: session,
            server_requests,
            ..
        } = self.sessions.current_mut();
        let Some(open) = server_requests.open.front_mut() else {
            return;
        };
        let reply = match action {
            ServerRequestAction::Give { field, given } => {
                if let Some(slot) = open.given.get_mut(field) {
                    *slot = given;
                }
                open.progress.want();
                return;
            }
            ServerRequestAction::SetText(text) => {
                open.text = text;
                return;
            }
            ServerRequestAction::Decline => match open.ask.wants {
                RequestKind::Sampling(_) => Reply::Refuse("the person does not want this".into()),
                _ => Reply::Decline,
            },
            ServerRequestAction::Cancel => match open.ask.wants {
                RequestKind::Sampling(_) => Reply::Refuse("cancelled by the person".into()),
                _ => Reply::Cancel,
            },
            ServerRequestAction::Accept => match &open.ask.wants {
                RequestKind::Form { .. } => {
                    if !std::mem::replace(&mut open.is_tried, true) {
                        open.progress.want();
                    }
                    if !open.progress.is_done() {
                        open.progress.sends = true;
                        return;
                    }
                    if !open.problems.is_empty() {
                        return;
                    }
                    Reply::Accept(Some(open.content()))
                }
                RequestKind::Url {
                    url,
                    host: Some(host),
                    id,
                    ..
                } => {
                    effects.push(Effect::App(AppEffect::OpenUrl(url.clone())));
                    server_requests
                        .visits
                        .extend(id.clone().map(|id| (id, host.clone())));
                    Reply::Accept(None)
                }
                RequestKind::Url { .. } => {
                    self.toast_problem(Problem::new(
                        ProblemKind::Usage,
                        "only http and https addresses are opened",
                    ));
                    return;
                }
                RequestKind::Sampling(_) => Reply::Message {
                    text: open.text.clone(),
                    model: MODEL.into(),
                },
                RequestKind::Roots => return,
            },
        };
        if let Some(open) = server_requests.open.pop_front() {
            let command = super::SessionCommand::Reply {
                key: open.ask.key,
                reply,
            };
            effects.push(Effect::Session(SessionEffect::Command {
                session: *session,
                command,
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::SettingsAction;

    #[test]
    fn a_canned_answer_is_given_to_completions_alone() {
        let ask = |key, method: &str| {
            let doc = Doc::parse(bytes::Bytes::from_static(
                br#"{"message":"?","messages":[]}"#,
            ));
            ServerRequest::read(key, method, doc.root()).unwrap()
        };
        let (mut state, mut effects) = (State::default(), Vec::new());
        let session = state.session().id;
        state.perform(
            SettingsAction::SetSamplingReply(Some("yes".into())),
            &mut effects,
        );
        state.on_server_request(
            session,
            ask(1, loupe_core::server_request::SAMPLING),
            &mut effects,
        );
        state.on_server_request(
            session,
            ask(2, loupe_core::server_request::ELICITATION),
            &mut effects,
        );
        let [
            Effect::Session(SessionEffect::Command {
                session: replied,
                command: crate::state::SessionCommand::Reply { key: 1, reply },
            }),
        ] = &effects[..]
        else {
            panic!("{effects:?}")
        };
        assert_eq!(*replied, session);
        assert_eq!(
            *reply,
            Reply::Message {
                text: "yes".into(),
                model: CANNED.into()
            }
        );
        assert_eq!(
            state
                .session()
                .server_requests
                .open
                .iter()
                .map(|open| open.ask.key)
                .collect::<Vec<_>>(),
            [2]
        );
        state.perform(SettingsAction::SetSamplingReply(None), &mut effects);
        state.on_server_request(
            session,
            ask(3, loupe_core::server_request::SAMPLING),
            &mut effects,
        );
        assert_eq!(state.session().server_requests.open.len(), 2);
    }
}
