//! How the state changes: the one place where actions and events arrive. What belongs to an area is done there
//! (`call`, `connect`, `view`).

use std::collections::BTreeSet;
use std::time::Duration;

use super::{
    Action, AppEffect, Connection, Dialog, Effect, Event, PathPurpose, Screen, SessionId,
    SessionUpdate, State, Toast, TokensEvent,
};
use loupe_core::problem::Problem;
use loupe_core::source::is_web;

/// Puts into a set what is not in it, and takes out what is.
pub(super) fn toggle<T: Ord>(set: &mut BTreeSet<T>, item: T) {
    if !set.remove(&item) {
        set.insert(item);
    }
}

/// How long a message stays that is no error.
const TOAST_FOR: Duration = Duration::from_secs(4);

impl State {
    /// Sets the clock, and lets go of what has been shown long enough.
    pub fn tick(&mut self, now: Duration) {
        self.now = now;
        self.toasts
            .retain(|toast| toast.problem.is_some() || now.saturating_sub(toast.since) < TOAST_FOR);
        self.forget_undo();
    }

    /// Whether something on the screen changes with time alone; what is waited for in a pane asks for its own next frame.
    pub fn is_waiting(&self) -> bool {
        self.running.is_some()
            || matches!(self.session().connection, Connection::Connecting { .. })
            || self.server_diff.is_listing()
            || self.session().library.listing.is_some()
            || self.watching.building.is_some()
            || self.is_counting_exactly()
            || !self.background.is_empty()
            || self.undo.is_some()
            || self.toasts.iter().any(|toast| toast.problem.is_none())
    }

    /// Does what the user asked for.
    pub fn perform(&mut self, action: impl Into<Action>, effects: &mut Vec<Effect>) {
        let was_live = self.view.screen == Screen::Live;
        match action.into() {
            Action::View(action) => self.change_view(action, effects),
            Action::Settings(action) => self.change_settings(action, effects),
            Action::Connect(action) => self.change_connection(action, effects),
            Action::Call(action) => self.change_call(action, effects),
            Action::Compare(action) => self.compare(action, effects),
            Action::Diff(action) => self.change_diff(action, effects),
            Action::ServerDiff(action) => self.versus(action, effects),
            Action::Login(action) => self.login(action, effects),
            Action::OpenServers(action) => self.open_servers(action, effects),
            Action::Servers(action) => self.change_servers(action, effects),
            Action::Values(action) => self.change_values(action, effects),
            Action::Watch(action) => self.change_watch(action, effects),
            Action::Import(action) => self.import(action, effects),
            Action::Answer(action) => self.answer_ask(action, effects),
            Action::Doctor(action) => self.change_doctor(action, effects),
            Action::Wire(action) => self.perform_wire(action, effects),
            Action::Library(action) => self.perform_library(action, effects),
            Action::Media(action) => self.perform_media(action, effects),
            Action::Table(action) => self.change_table(action, effects),
            Action::History(action) => self.history(action, effects),
            Action::Live(action) => self.change_live(action, effects),
            Action::Transcript(action) => self.change_transcript(action, effects),
            Action::Fixture(action) => self.perform_fixture(action, effects),
            Action::Tokens(action) => self.tokens(action, effects),
            Action::Exact(action) => self.exact(action, effects),
            Action::Hosts(action) => self.perform_hosts(action, effects),
            Action::Findings(action) => self.change_findings(action, effects),
            Action::CancelBackground(number) => self.cancel_background(number, effects),
            Action::ExportAs(action) => self.export_as(action, effects),
            Action::Want(wants) => self.want(wants, effects),
            Action::Copy(text) => self.copy(text, effects),
            Action::CopyRegion(region) => effects.push(Effect::App(AppEffect::CopyRegion(region))),
            Action::Undo => self.undo(effects),
            Action::CopySummary => self.copy_summary(effects),
            Action::OpenText(text) => effects.push(Effect::OpenText(text)),
            Action::OpenPath(Some(path)) => effects.push(Effect::OpenPath(path)),
            Action::OpenPath(None) => {
                self.dialog = Some(Dialog::Path {
                    purpose: PathPurpose::OpenCapture,
                    text: String::new(),
                });
            }
            Action::TakePath { purpose, text } => {
                (self.dialog, self.path_problem) = (None, None);
                self.perform(purpose.action(text.clone().into()), effects);
                self.tried_path = Some((purpose, text));
            }
            Action::ChoosePath(purpose) => effects.push(Effect::ChoosePath(purpose)),
            Action::OpenLink(url) => {
                if is_web(&url) {
                    self.dialog = Some(Dialog::OpenLink { url });
                }
            }
            Action::ConfirmLink => {
                if let Some(Dialog::OpenLink { url }) = self.dialog.take() {
                    effects.push(Effect::App(AppEffect::OpenUrl(url)));
                }
            }
            Action::ShowDialog(dialog) => {
                self.dialog = Some(dialog);
                (self.tried_path, self.path_problem) = (None, None);
            }
            Action::CloseDialog => self.dialog = None,
            Action::CloseToast(id) => self.toasts.retain(|toast| toast.id != id),
            Action::Quit => {
                self.disconnect(effects);
                effects.push(Effect::App(AppEffect::Quit));
            }
        }
        self.leave_live(was_live, effects);
        self.ask_checks(effects);
    }

    /// Takes in what the engine reports.
    pub fn apply(&mut self, event: Event, effects: &mut Vec<Effect>) {
        let was_live = self.view.screen == Screen::Live;
        match event {
            Event::Session { session, update } => self.session_update(session, update, effects),
            Event::Call { call, update } => self.call_update(call, update, effects),
            Event::History(event) => self.history_event(event, effects),
            Event::Live(event) => self.live_event(event, effects),
            Event::Fixture(event) => self.fixture_event(event, effects),
            Event::Background(event) => self.background_event(event),
            Event::Export(event) => self.export_event(event, effects),
            Event::Import(event) => self.import_event(event, effects),
            Event::Watch { run, event } => self.watch_event(run, event, effects),
            Event::Tokens(TokensEvent::TokenizerRead(file)) => self.tokenizer_read(file, effects),
            Event::Tokens(TokensEvent::Prices(read)) => self.prices_read(read),
            Event::Exact(event) => self.exact_event(event),
            Event::UseHosts(hosts) => self.use_hosts(hosts, effects),
            Event::Silenced { file, silence } => self.silenced(file, silence),
            Event::ToolsRead(read) => self.tools_read(read, effects),
            Event::Opened(captures) => self.add_captures(captures),
            Event::Answered {
                about,
                query_key,
                answer,
            } => self.on_query_result(&about, query_key, answer),
            Event::FieldRead { field, read } => self.field_read(field, read),
            Event::SchemaChecked {
                target,
                revision,
                checked,
            } => self.on_schema_checked(&target, revision, checked, effects),
            Event::Problem(problem) => self.toast_problem(problem),
            Event::PathChosen {
                purpose,
                path: Some(path),
            } => {
                self.dialog = None;
                self.perform(purpose.action(path), effects);
            }
            // Cancelled, or no dialog could be shown: the path field is still there.
            Event::PathChosen { path: None, .. } => {}
        }
        self.leave_live(was_live, effects);
        self.ask_checks(effects);
    }

    /// What comes of a session that has ended changes nothing.
    fn session_update(
        &mut self,
        session: SessionId,
        update: SessionUpdate,
        effects: &mut Vec<Effect>,
    ) {
        if self.server_diff.is_session(session) {
            self.listing_update(update, effects);
        } else {
            self.on_session_update(session, update, effects);
        }
    }

    pub(super) fn copy(&mut self, text: String, effects: &mut Vec<Effect>) {
        effects.push(Effect::App(AppEffect::CopyText(text)));
        self.toast("Copied");
    }

    pub(super) fn toast(&mut self, text: &str) {
        self.push_toast(text.to_owned(), None);
    }

    pub(super) fn toast_problem(&mut self, problem: Problem) {
        // What is wrong with a path is said where it was typed.
        let is_of_path =
            |(_, text): &mut (PathPurpose, String)| problem.place.contains(text.as_str());
        if self.dialog.is_none()
            && let Some((purpose, text)) = self.tried_path.take_if(is_of_path)
        {
            (self.dialog, self.path_problem) =
                (Some(Dialog::Path { purpose, text }), Some(problem));
            return;
        }
        self.push_toast(problem.message(), Some(problem));
    }

    fn push_toast(&mut self, text: String, problem: Option<Problem>) {
        // The same message again takes the old one's place.
        self.toasts.retain(|toast| toast.text != text);
        self.next_toast += 1;
        self.toasts.push(Toast {
            id: self.next_toast,
            text,
            problem,
            since: self.now,
        });
    }
}
