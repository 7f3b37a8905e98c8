//! What a server has next to tools: resources, templates and prompts, filled in and open in the same panes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::{
    CallOwner, Effect, Screen, ServerSession, SessionCommand, SessionEffect, SidebarTab, State,
};
use loupe_core::capture::{Prompt, Resource, TemplateValue, expand_template, template_names};
use loupe_core::json::write;
use loupe_core::problem::{Problem, ProblemKind};

/// One thing to read.
#[derive(Clone, Debug, PartialEq)]
pub enum LibraryEntry {
    Resource(Arc<Resource>),
    Template(Arc<Resource>),
    Prompt(Arc<Prompt>),
}

impl LibraryEntry {
    /// The URI, the template or the prompt's name.
    pub fn name(&self) -> &str {
        match self {
            Self::Resource(resource) | Self::Template(resource) => &resource.uri,
            Self::Prompt(prompt) => &prompt.name,
        }
    }

    pub fn title(&self) -> &str {
        match self {
            Self::Resource(resource) | Self::Template(resource) => {
                resource.title.as_deref().unwrap_or(&resource.name)
            }
            Self::Prompt(prompt) => prompt.title.as_deref().unwrap_or(&prompt.name),
        }
    }

    pub fn description(&self) -> Option<&str> {
        match self {
            Self::Resource(resource) | Self::Template(resource) => resource.description.as_deref(),
            Self::Prompt(prompt) => prompt.description.as_deref(),
        }
    }

    pub fn raw(&self) -> &Bytes {
        match self {
            Self::Resource(resource) | Self::Template(resource) => &resource.raw,
            Self::Prompt(prompt) => &prompt.raw,
        }
    }

    /// The list that it is in.
    pub fn tab(&self) -> SidebarTab {
        match self {
            Self::Resource(_) | Self::Template(_) => SidebarTab::Resources,
            Self::Prompt(_) => SidebarTab::Prompts,
        }
    }

    pub fn faults(&self) -> &[String] {
        match self {
            Self::Resource(resource) | Self::Template(resource) => &resource.faults,
            Self::Prompt(prompt) => &prompt.faults,
        }
    }

    /// What has to be filled in: name, description, and whether it must be.
    pub fn places(&self) -> Vec<(String, Option<String>, bool)> {
        match self {
            Self::Resource(_) => Vec::new(),
            Self::Template(template) => template_names(&template.uri)
                .into_iter()
                .map(|name| (name, None, true))
                .collect(),
            Self::Prompt(prompt) => prompt
                .arguments
                .iter()
                .map(|argument| {
                    (
                        argument.name.clone(),
                        argument.description.clone(),
                        argument.required,
                    )
                })
                .collect(),
        }
    }

    /// What `completion/complete` is asked for.
    fn reference(&self) -> Option<String> {
        match self {
            Self::Resource(_) => None,
            Self::Template(template) => Some(format!(
                r#"{{"type":"ref/resource","uri":{}}}"#,
                write::string(&template.uri)
            )),
            Self::Prompt(prompt) => Some(format!(
                r#"{{"type":"ref/prompt","name":{}}}"#,
                write::string(&prompt.name)
            )),
        }
    }
}

/// A template with its places filled in; what is empty is left out.
pub fn expand(template: &str, values: &BTreeMap<String, String>) -> String {
    let given = |name: &str| {
        values
            .get(name)
            .filter(|value| !value.is_empty())
            .cloned()
            .map(TemplateValue::Text)
    };
    expand_template(template, given)
}

/// What there is, and what is being filled in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Library {
    /// `None` until it was listed.
    pub entries: Option<Vec<LibraryEntry>>,
    /// Since when it is listed.
    pub listing: Option<Duration>,
    /// Whether it changed since then, so that it has to be listed once more.
    pub(super) is_stale: bool,
    /// What is odd about the lists.
    pub notes: Vec<String>,
    /// The place among the entries.
    pub selected: Option<usize>,
    pub values: BTreeMap<String, String>,
    /// What the server suggests for a place.
    pub suggestions: Option<(String, Vec<String>)>,
    /// What suggestions are asked for now: one question at a time, however fast somebody types.
    asked: Option<Asked>,
    /// The place that was typed in last, where nothing was asked for it yet.
    typed: Option<String>,
    /// Resources that are watched, and those of them that have changed since they were read.
    pub watched: BTreeSet<String>,
    pub updated: BTreeSet<String>,
}

/// A question for suggestions. They are of use only as long as it is what is there.
#[derive(Clone, Debug, PartialEq)]
struct Asked {
    reference: String,
    argument: String,
    value: String,
}

impl Library {
    pub fn entry(&self) -> Option<&LibraryEntry> {
        self.entries.as_ref()?.get(self.selected?)
    }

    /// The URI that would be read now.
    pub fn uri(&self) -> Option<String> {
        match self.entry()? {
            LibraryEntry::Resource(resource) => Some(resource.uri.clone()),
            LibraryEntry::Template(template) => Some(expand(&template.uri, &self.values)),
            LibraryEntry::Prompt(_) => None,
        }
    }
}

/// What the user does with it.
#[derive(Clone, Debug, PartialEq)]
pub enum LibraryAction {
    /// Shows an entry on its screen.
    Select(usize),
    Set {
        name: String,
        value: String,
    },
    /// Reads the resource, fills in the prompt.
    Read,
    /// Has the server tell when the resource changes, or no longer.
    Watch(bool),
}

impl State {
    pub(super) fn perform_library(&mut self, action: LibraryAction, effects: &mut Vec<Effect>) {
        let session = self.sessions.current_mut();
        let library = &mut session.library;
        match action {
            LibraryAction::Select(at) => {
                self.view.screen = Screen::Library;
                if library.selected != Some(at) {
                    library.values.clear();
                    (library.suggestions, library.typed) = (None, None);
                }
                library.selected = Some(at);
            }
            LibraryAction::Set { name, value } => {
                library.values.insert(name.clone(), value);
                library.typed = Some(name);
                session.ask_for_suggestions(effects);
            }
            LibraryAction::Read => self.read_entry(effects),
            LibraryAction::Watch(on) => {
                let Some(uri) = library.uri() else { return };
                if on {
                    library.watched.insert(uri.clone());
                } else {
                    library.watched.remove(&uri);
                }
                session.command(SessionCommand::Watch { uri, on }, effects);
            }
        }
    }

    /// Lists the resources and prompts of the current server.
    pub(super) fn list_library(&mut self, effects: &mut Vec<Effect>) {
        let now = self.now;
        self.session_mut().list_library(now, effects);
    }
}

impl ServerSession {
    pub(super) fn list_library(&mut self, now: Duration, effects: &mut Vec<Effect>) {
        if self.connection.is_connected() {
            self.library.listing = Some(now);
            self.command(SessionCommand::ListLibrary, effects);
        }
    }

    /// Lists again what was listed before; where a list is on its way, once more after that.
    pub(super) fn on_library_changed(&mut self, now: Duration, effects: &mut Vec<Effect>) {
        if self.library.listing.is_some() {
            self.library.is_stale = true;
        } else if self.library.entries.is_some() {
            self.list_library(now, effects);
        }
    }

    /// Takes over the lists; returns whether they differ from those before.
    pub(super) fn on_library_listed(
        &mut self,
        (entries, notes): (Vec<LibraryEntry>, Vec<String>),
        now: Duration,
        effects: &mut Vec<Effect>,
    ) -> bool {
        let library = &mut self.library;
        let selected = library.entry().map(|entry| entry.name().to_owned());
        let has_changed = library
            .entries
            .as_ref()
            .is_some_and(|before| *before != entries);
        library.selected =
            selected.and_then(|name| entries.iter().position(|entry| entry.name() == name));
        library.entries = Some(entries);
        library.notes = notes;
        library.listing = None;
        if std::mem::take(&mut library.is_stale) {
            self.list_library(now, effects);
        }
        has_changed
    }

    /// Asks what may be in the place that was typed in last, unless a result to that is still to come.
    fn ask_for_suggestions(&mut self, effects: &mut Vec<Effect>) {
        let library = &mut self.library;
        if library.asked.is_some()
            || !self
                .connection
                .server()
                .is_some_and(|server| server.declares("/completions"))
        {
            return;
        }
        let (Some(reference), Some(argument)) = (
            library.entry().and_then(LibraryEntry::reference),
            library.typed.take(),
        ) else {
            return;
        };
        let value = library.values.get(&argument).cloned().unwrap_or_default();
        let others = library
            .values
            .iter()
            .filter(|(other, _)| **other != argument);
        let others: Vec<_> = others
            .map(|(name, value)| format!("{}:{}", write::string(name), write::string(value)))
            .collect();
        let params = format!(
            r#"{{"ref":{reference},"argument":{{"name":{},"value":{}}},"context":{{"arguments":{{{}}}}}}}"#,
            write::string(&argument),
            write::string(&value),
            others.join(",")
        );
        library.asked = Some(Asked {
            reference,
            argument: argument.clone(),
            value,
        });
        self.command(SessionCommand::Complete { argument, params }, effects);
    }

    /// Shows suggestions, unless what they are for was typed over meanwhile.
    pub(super) fn on_suggestions(
        &mut self,
        argument: String,
        values: Vec<String>,
        effects: &mut Vec<Effect>,
    ) {
        let library = &mut self.library;
        let asked = library.asked.take();
        let reference = library.entry().and_then(LibraryEntry::reference);
        let is_current = asked.is_some_and(|asked| {
            asked.argument == argument
                && Some(asked.reference) == reference
                && library
                    .values
                    .get(&argument)
                    .is_some_and(|value| *value == asked.value)
        });
        if is_current {
            library.suggestions = Some((argument, values));
        }
        self.ask_for_suggestions(effects);
    }
}

impl State {
    fn read_entry(&mut self, effects: &mut Vec<Effect>) {
        let Some(entry) = self.session().library.entry() else {
            return;
        };
        let (method, params) = match (entry, self.session().library.uri()) {
            (LibraryEntry::Prompt(prompt), _) => {
                let given = self
                    .session()
                    .library
                    .values
                    .iter()
                    .filter(|(_, value)| !value.is_empty());
                let members: Vec<_> = given
                    .map(|(name, value)| {
                        format!("{}:{}", write::string(name), write::string(value))
                    })
                    .collect();
                let name = write::string(&prompt.name);
                (
                    "prompts/get",
                    format!(r#"{{"name":{name},"arguments":{{{}}}}}"#, members.join(",")),
                )
            }
            (_, Some(uri)) => {
                return self.read_uri(&uri, effects);
            }
            (_, None) => return,
        };
        self.read(method, params, effects);
    }

    /// Reads a resource by its address.
    pub(super) fn read_uri(&mut self, uri: &str, effects: &mut Vec<Effect>) {
        if self.read(
            "resources/read",
            format!(r#"{{"uri":{}}}"#, write::string(uri)),
            effects,
        ) {
            self.session_mut().library.updated.remove(uri);
        }
    }

    /// Sends what reads a resource or fills in a prompt, where it can be sent; the result is a capture like a call's.
    fn read(&mut self, method: &'static str, params: String, effects: &mut Vec<Effect>) -> bool {
        if self.running.is_some() {
            return false;
        }
        if !self.session().connection.is_connected() {
            self.toast_problem(
                Problem::new(ProblemKind::Disconnected, "not connected")
                    .hint("reconnect (Ctrl R), then read again"),
            );
            return false;
        }
        let call = self.begin(self.session().id, method.to_owned(), CallOwner::Person);
        effects.push(Effect::Session(SessionEffect::Read {
            session: self.session().id,
            call,
            method,
            params: params.into(),
            limit: self.settings.waits.call(),
        }));
        true
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::state::ViewAction;
    use crate::state::{Connection, ServerNotification};
    use loupe_core::capture::Server;
    use loupe_core::source::{SampleSpec, Source};

    #[test]
    fn what_is_left_empty_is_no_value() {
        let values = [("x", "1 2"), ("y", "")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        assert_eq!(expand("a://{x}{?y,z}", &values), "a://1%202");
    }

    #[test]
    fn what_changes_while_it_is_listed_is_listed_once_more() {
        let connection = Connection::Connected {
            source: Source::Sample(SampleSpec::default()),
            server: Server::default(),
            since: Duration::ZERO,
            stderr: Vec::new(),
            messages: 0,
        };
        let mut state = State::default();
        state.session_mut().connection = connection;
        let mut effects = Vec::new();
        state.perform(ViewAction::ShowTab(SidebarTab::Resources), &mut effects);
        let listed = |state: &mut State, effects: &mut Vec<Effect>, heard| {
            effects.clear();
            let session = state.session().id;
            state.on_notification(session, heard, effects);
            effects
                .iter()
                .filter(|effect| {
                    matches!(
                        effect,
                        Effect::Session(SessionEffect::Command {
                            command: SessionCommand::ListLibrary,
                            ..
                        })
                    )
                })
                .count()
        };
        // Never two lists at a time: the older might come last.
        assert_eq!(
            listed(&mut state, &mut effects, ServerNotification::LibraryChanged),
            0
        );
        let came = || ServerNotification::Library {
            entries: Vec::new(),
            notes: Vec::new(),
        };
        assert_eq!(listed(&mut state, &mut effects, came()), 1);
        assert_eq!(listed(&mut state, &mut effects, came()), 0);
        assert_eq!(
            listed(&mut state, &mut effects, ServerNotification::LibraryChanged),
            1
        );
    }

    #[test]
    fn suggestions_are_asked_for_one_at_a_time_and_only_for_what_stands_there() {
        let prompt = r#"{"name":"p","arguments":[{"name":"key"}]}"#;
        let connection = Connection::Connected {
            source: Source::Sample(SampleSpec::default()),
            server: Server {
                capabilities: Some(Bytes::from_static(br#"{"completions":{}}"#)),
                ..Server::default()
            },
            since: Duration::ZERO,
            stderr: Vec::new(),
            messages: 0,
        };
        let mut state = State::default();
        state.session_mut().connection = connection;
        state.session_mut().library.entries = Some(vec![LibraryEntry::Prompt(Arc::new(
            Prompt::read(prompt.into()),
        ))]);
        let mut effects = Vec::new();
        state.perform_library(LibraryAction::Select(0), &mut effects);
        for value in ["a", "ad", "ada"] {
            state.perform_library(
                LibraryAction::Set {
                    name: "key".into(),
                    value: value.into(),
                },
                &mut effects,
            );
        }
        let asked = |effects: &mut Vec<Effect>| -> Vec<String> {
            let params = effects.drain(..).map(|effect| match effect {
                Effect::Session(SessionEffect::Command {
                    command: SessionCommand::Complete { params, .. },
                    ..
                }) => params,
                other => panic!("{other:?}"),
            });
            params
                .map(|params| params.split("\"value\":").nth(1).unwrap_or_default()[..5].to_owned())
                .collect()
        };
        assert_eq!(asked(&mut effects), ["\"a\"},"]);
        state
            .session_mut()
            .on_suggestions("key".into(), vec!["abel".into()], &mut effects);
        // What came is for a text that is no longer there; what is there now is asked for instead.
        assert_eq!(state.session().library.suggestions, None);
        assert_eq!(asked(&mut effects), ["\"ada\""]);
        state
            .session_mut()
            .on_suggestions("key".into(), vec!["adams".into()], &mut effects);
        assert_eq!(
            state.session().library.suggestions,
            Some(("key".into(), vec!["adams".into()]))
        );
        assert!(effects.is_empty());
    }
}
