//! What a server says beside its answers: questions, messages for the log, tools that changed, and what it is told of folders.

use std::path::PathBuf;

use super::{Effect, ServerNotification, SessionCommand, SessionEffect, State};
use crate::capture::Tool;

impl State {
    pub(super) fn notified(&mut self, notification: ServerNotification, effects: &mut Vec<Effect>) {
        match notification {
            ServerNotification::Asked(ask) => self.asked(self.session, ask, effects),
            ServerNotification::Withdrawn { key, why } => self.withdrawn(self.session, key, &why),
            ServerNotification::Visited { id } => self.visited(&id),
            ServerNotification::Lines(lines) => self.wired(lines),
            ServerNotification::Http { request, http } => self.wired_http(request, http),
            ServerNotification::Tools { tools, note } => self.tools_changed(tools, note, effects),
            ServerNotification::Task { status, message } => {
                let text = message.map(|message| format!(": {message}")).unwrap_or_default();
                self.task = self.running.is_some().then(|| format!("task {status}{text}"));
            }
            ServerNotification::Library { entries, notes } => self.library_listed(entries, notes, effects),
            ServerNotification::LibraryChanged => {
                if self.library.listing.is_some() {
                    self.library.is_stale = true;
                } else if self.library.entries.is_some() {
                    self.list_library(effects);
                }
            }
            ServerNotification::Completed { argument, values } => self.suggested(argument, values, effects),
            ServerNotification::ResourceUpdated(uri) => self.resource_updated(&uri),
            ServerNotification::Noted(text) => self.toast(&text),
        }
    }

    /// The server said that its tools changed, and what they are now.
    fn tools_changed(&mut self, tools: Vec<Tool>, note: Option<String>, _effects: &mut Vec<Effect>) {
        let is_same = tools.len() == self.tools.len() && tools.iter().zip(&self.tools).all(|(now, was)| now.raw == was.tool.raw);
        if is_same && note == self.tools_note {
            return;
        }
        let is_new = |tool: &&Tool| !self.tools.iter().any(|was| was.tool.name == tool.name);
        let added = tools.iter().filter(is_new).count();
        let removed = self.tools.iter().filter(|was| !tools.iter().any(|now| now.name == was.tool.name)).count();
        let changed =
            tools.iter().filter(|now| self.tools.iter().any(|was| was.tool.name == now.name && was.tool.raw != now.raw));
        let changed = changed.count();
        self.toast(&format!("The server changed its tools: {added} added, {removed} removed, {changed} changed"));
        for tool in &tools {
            // A form is of the schema that it was made for.
            let was = self.tools.iter().find(|was| was.tool.name == tool.name);
            if was.is_some_and(|was| was.tool.input_schema != tool.input_schema) {
                self.forms.remove(&tool.name);
            }
        }
        self.use_tools(tools, note);
        let is_there = |name: &String| self.tools.iter().any(|listed| listed.tool.name == *name);
        let selected =
            self.selected_tool.take().filter(is_there).or_else(|| self.tools.first().map(|listed| listed.tool.name.clone()));
        if let Some(name) = selected {
            self.select_tool(&name);
        }
    }

    pub(super) fn set_roots(&mut self, roots: Option<Vec<PathBuf>>, effects: &mut Vec<Effect>) {
        self.dialog = None;
        self.roots.clone_from(&roots);
        effects.push(Effect::Session(SessionEffect::UseRoots(roots.clone())));
        match roots {
            Some(roots) if self.roots_declared && self.connection.is_connected() => {
                effects.push(Effect::Session(SessionEffect::Command {
                    session: self.session,
                    command: SessionCommand::Roots(roots),
                }));
                self.toast("The server was told about the new folders");
            }
            _ => self.toast("Servers are told at the next connection (Ctrl R)"),
        }
    }
}
