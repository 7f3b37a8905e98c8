//! What a server says next to its answers: questions, messages for the log, tools that changed, and what it is told of folders.

use std::path::PathBuf;

use super::{
    Effect, ServerNotification, ServerSession, SessionCommand, SessionEffect, SessionId, State,
};
use loupe_core::capture::Tool;

impl State {
    /// Applies what a server says next to its answers, to its session alone.
    pub(super) fn on_notification(
        &mut self,
        id: SessionId,
        notification: ServerNotification,
        effects: &mut Vec<Effect>,
    ) {
        let now = self.now;
        let Some(session) = self.sessions.get_mut(id) else {
            return;
        };
        match notification {
            ServerNotification::Asked(ask) => self.on_server_request(id, ask, effects),
            ServerNotification::Withdrawn { key, why } => {
                if session.server_requests.withdraw(key) {
                    self.toast_of(id, &format!("Server request closed: {why}"));
                }
            }
            ServerNotification::Visited { id: elicitation } => {
                if let Some(host) = session.server_requests.on_elicitation_done(&elicitation) {
                    self.toast_of(id, &format!("The server says that this is done at {host}"));
                }
            }
            ServerNotification::Lines(lines) => {
                lines.into_iter().for_each(|line| session.wire.push(line))
            }
            ServerNotification::Http { request, http } => session.wire.record_http(request, http),
            ServerNotification::Tools { tools, note } => self.on_tools_changed(id, tools, note),
            ServerNotification::Library { entries, notes } => {
                if session.on_library_listed((entries, notes), now, effects) {
                    self.toast_of(
                        id,
                        "The server changed its resources or prompts; they were listed again",
                    );
                }
            }
            ServerNotification::LibraryChanged => session.on_library_changed(now, effects),
            ServerNotification::Completed { argument, values } => {
                session.on_suggestions(argument, values, effects)
            }
            ServerNotification::ResourceUpdated(uri) => {
                let text = format!("The server says that {uri} has changed");
                session.library.updated.insert(uri);
                self.toast_of(id, &text);
            }
            ServerNotification::Noted(text) => self.toast_of(id, &text),
        }
    }

    /// The server said that its tools changed, and what they are now.
    fn on_tools_changed(&mut self, id: SessionId, tools: Vec<Tool>, note: Option<String>) {
        let number = self.number_listing();
        let Some(session) = self.sessions.get_mut(id) else {
            return;
        };
        let Some(text) = session.changes_of(&tools, note.as_ref()) else {
            return;
        };
        session.use_tools(tools, note, number);
        session.choose_tool(self.servers.memory_of(session.memory_key.as_ref()));
        self.toast_of(id, &text);
    }

    /// Says something of a server, by its name where it is not the current one.
    pub(super) fn toast_of(&mut self, id: SessionId, text: &str) {
        match self
            .sessions
            .get(id)
            .filter(|_| !self.sessions.is_current(id))
        {
            Some(session) => {
                let text = format!("{}: {text}", self.session_label(session));
                self.toast(&text);
            }
            None => self.toast(text),
        }
    }

    pub(super) fn set_roots(&mut self, roots: Option<Vec<PathBuf>>, effects: &mut Vec<Effect>) {
        self.dialog = None;
        self.roots.clone_from(&roots);
        effects.push(Effect::Session(SessionEffect::UseRoots(roots.clone())));
        match roots {
            Some(roots) if self.sessions.iter().any(ServerSession::knows_roots) => {
                for session in self.sessions.iter().filter(|session| session.knows_roots()) {
                    session.command(SessionCommand::Roots(roots.clone()), effects);
                }
                self.toast("The server was told about the new folders");
            }
            _ => self.toast("Servers are told at the next connection (Ctrl R)"),
        }
    }
}

impl ServerSession {
    /// Whether it can be told of other folders: it was told of some when it was connected.
    fn knows_roots(&self) -> bool {
        self.roots_declared && self.connection.is_connected()
    }

    /// What differs between the list of tools and a new one, in a sentence; `None` where nothing does.
    fn changes_of(&self, tools: &[Tool], note: Option<&String>) -> Option<String> {
        let is_same = tools.len() == self.tools.len()
            && tools
                .iter()
                .zip(&self.tools)
                .all(|(now, was)| now.raw == was.tool.raw);
        if is_same && note == self.tools_note.as_ref() {
            return None;
        }
        let added = tools
            .iter()
            .filter(|tool| !self.has_tool(&tool.name))
            .count();
        let removed = self
            .tools
            .iter()
            .filter(|was| !tools.iter().any(|now| now.name == was.tool.name))
            .count();
        let is_changed = |now: &&Tool| {
            self.tools
                .iter()
                .any(|was| was.tool.name == now.name && was.tool.raw != now.raw)
        };
        let changed = tools.iter().filter(is_changed).count();
        Some(format!(
            "The server changed its tools: {added} added, {removed} removed, {changed} changed"
        ))
    }
}
