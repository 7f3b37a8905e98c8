//! How the state changes: the one place where actions and events arrive. What belongs to an area is done there
//! (`call`, `connect`, `view`).

use std::collections::BTreeSet;
use std::time::Duration;

use super::{Action, Connection, Dialog, Effect, Event, PaneView, PathPurpose, Screen, State, Toast};
use crate::problem::Problem;
use crate::source::is_web;

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
        self.toasts.retain(|toast| toast.problem.is_some() || now.saturating_sub(toast.since) < TOAST_FOR);
    }

    /// Whether something on the screen changes with time alone.
    pub fn is_waiting(&self) -> bool {
        self.running.is_some()
            || matches!(self.connection, Connection::Connecting { .. })
            || self.versus.is_listing()
            || self.library.listing.is_some()
            || self.answers.working() > 0
            || self.probing.since.is_some()
            || self.collections.is_counting()
            || self.is_counting_exactly()
            || self.toasts.iter().any(|toast| toast.problem.is_none())
    }

    /// Does what a person asked for.
    pub fn perform(&mut self, action: Action, effects: &mut Vec<Effect>) {
        match action {
            Action::UseFolder(folder) => {
                self.probe_folder(folder.clone());
                effects.push(Effect::KeepLogins(folder.clone()));
                effects.push(Effect::ReadRecent(folder.clone()));
                let prices = folder.join("prices.toml");
                self.prices.file = Some(prices.clone());
                effects.push(Effect::ReadPrices(prices));
            }
            Action::UseSettings { folder, table } => self.use_kept(folder, &table, effects),
            Action::KeepWindow(size) => self.keep_window(size),
            Action::KeepPanel(size) => self.settings.panels.set(size),
            Action::ShowConnect => {
                self.versus.is_choosing = false;
                self.is_new_source = true;
                self.view.screen = Screen::Connect;
            }
            Action::EditConnect(form) => self.connect_form = form,
            Action::ConnectForm => self.connect_from_form(effects),
            Action::Connect(source) => self.start_connecting(source, effects),
            Action::CancelConnect | Action::Disconnect => self.disconnect(effects),
            Action::Reconnect => self.again(None, effects),
            Action::ReconnectIn(protocol) => self.again(Some(protocol), effects),
            Action::Diff(action) => self.change_diff(action, effects),
            Action::Versus(action) => self.versus(action, effects),
            Action::Login(action) => self.login(action, effects),
            Action::Import(action) => self.import(action, effects),
            Action::SetFilter(filter) => self.filter = filter,
            Action::SelectTool(name) => self.open_tool(&name),
            Action::ToggleGroup(group) => toggle(&mut self.view.folded_groups, group),
            Action::SetFormMode(mode) => self.set_form_mode(mode),
            Action::SetField { field, value } => self.set_field(field, value),
            Action::SetArgumentsText(text) => self.set_arguments_text(&text),
            Action::RestoreArguments => self.restore_arguments(),
            Action::Call { send_anyway } => self.call(send_anyway, effects),
            Action::ConfirmCall => self.confirm_calls(effects),
            Action::CancelCall => {
                self.stop_series("cancelled", false);
                if let Some(running) = &self.running {
                    effects.push(Effect::CancelCall { call: running.id });
                }
            }
            Action::Compare(action) => self.compare(action, effects),
            Action::Answer(action) => self.answer_ask(action, effects),
            Action::Wire(action) => self.perform_wire(action, effects),
            Action::Library(action) => self.perform_library(action, effects),
            Action::Media(action) => self.perform_media(action, effects),
            Action::SetSamplingReply(reply) => self.sampling_reply = reply,
            Action::SetRoots(roots) => self.set_roots(roots, effects),
            Action::History(action) => self.history(action, effects),
            Action::Fixture(action) => self.perform_fixture(action, effects),
            Action::Collection(action) => self.perform_collection(action, effects),
            Action::Ask(question) => self.ask(question, effects),
            Action::SelectCapture(id) => self.show_capture(&id),
            Action::Hosts(action) => self.perform_hosts(action, effects),
            Action::Probe(action) => self.change_probe(action, effects),
            Action::ShowStart => {
                self.view.screen = Screen::Start;
                self.view.maximised = None;
            }
            Action::ShowAnswer => {
                self.view.screen = if self.view.capture.is_some() { Screen::Answer } else { Screen::Start };
            }
            Action::Want(wants) => self.want(wants, effects),
            Action::Copy(text) => self.copy(text, effects),
            Action::CopyVerdict => self.copy_verdict(effects),
            Action::ExportAs(action) => self.export_as(action, effects),
            Action::OpenText(text) => effects.push(Effect::OpenText(text)),
            Action::OpenPath(Some(path)) => effects.push(Effect::OpenPath(path)),
            Action::OpenPath(None) => {
                self.dialog = Some(Dialog::Path { purpose: PathPurpose::OpenCapture, text: String::new() });
            }
            Action::Tokens(action) => self.tokens(action, effects),
            Action::Exact(action) => self.exact(action, effects),
            Action::ChoosePath(purpose) => effects.push(Effect::ChoosePath(purpose)),
            Action::OpenLink(url) => {
                if is_web(&url) {
                    self.dialog = Some(Dialog::OpenLink { url });
                }
            }
            Action::ConfirmLink => {
                if let Some(Dialog::OpenLink { url }) = self.dialog.take() {
                    effects.push(Effect::OpenUrl(url));
                }
            }
            Action::ShowDialog(dialog) => self.dialog = Some(dialog),
            Action::CloseDialog => self.dialog = None,
            Action::CloseToast(id) => self.toasts.retain(|toast| toast.id != id),
            Action::Quit => {
                self.disconnect(effects);
                effects.push(Effect::Quit);
            }
            other => self.look(other),
        }
    }

    /// Actions that change only what is looked at.
    fn look(&mut self, action: Action) {
        let view = &mut self.view;
        match action {
            Action::SetPane { pane, shows } => view.set_pane(pane, shows),
            Action::TogglePane(pane) => view.toggle_pane(pane),
            Action::FocusPane(pane) => view.focus_pane(pane),
            Action::ToggleMaximised(pane) => view.maximised = if view.maximised == Some(pane) { None } else { Some(pane) },
            Action::SelectRecord(record) => view.record = record,
            Action::ToggleNode(node) => toggle(&mut view.toggled, node),
            Action::SetTreeCursor(node) => view.tree_cursor = Some(node),
            Action::Peek(format) => view.peek = format,
            Action::KeepPeek => {
                if let Some(format) = view.peek.take() {
                    view.set_pane(1, PaneView::Text(format));
                }
            }
            Action::KeepPeekBeside => {
                if let Some(format) = view.peek.take() {
                    view.set_pane(2, PaneView::Text(format));
                }
            }
            Action::SetSearch(search) => view.search = search,
            Action::SetBaseline(format) => self.settings.baseline = Some(format),
            Action::SetWrap(wrap) => self.settings.wrap = wrap,
            Action::SetTheme(theme) => self.settings.theme = theme,
            Action::ToggleSidebar => self.settings.sidebar_open = !self.settings.sidebar_open,
            Action::ShowDrawer(tab) => view.drawer = tab,
            Action::ToggleDrawer => self.settings.drawer_open = !self.settings.drawer_open,
            // Everything else is done by `perform`.
            _ => {}
        }
    }

    /// Takes in what the engine reports.
    pub fn apply(&mut self, event: Event, effects: &mut Vec<Effect>) {
        let Some(event) = self.versus_event(event, effects) else { return };
        let current = self.session;
        match event {
            Event::Phase { session, phase } if session == current => self.phase(phase),
            Event::Step { session, step } if session == current => self.steps.push(step),
            Event::Stderr { session, line } if session == current => self.stderr(line),
            Event::Connected { session, server } if session == current => {
                self.connected(server, effects);
            }
            Event::Tools { session, tools, note } if session == current => self.listed(tools, note, effects),
            Event::ConnectFailed { session, problem } if session == current => self.connect_failed(problem),
            Event::Gone { session, problem } if session == current => self.gone(problem),
            Event::Login { session, step } if session == current => self.login_step(step),
            Event::Messages { session, count } if session == current => {
                self.messages = count;
                if let Connection::Connected { messages, .. } = &mut self.connection {
                    *messages = count;
                }
            }
            Event::ServerNotification { session, heard } if session == current => self.heard(heard, effects),
            // Events of a session that has ended; what is about another list was taken in before.
            Event::Phase { .. }
            | Event::Step { .. }
            | Event::Stderr { .. }
            | Event::Connected { .. }
            | Event::Tools { .. }
            | Event::ConnectFailed { .. }
            | Event::Login { .. }
            | Event::ToolsRead(_)
            | Event::Gone { .. }
            | Event::ServerNotification { .. }
            | Event::Messages { .. } => {}
            Event::Progress { call, progress, total, message } => {
                if let Some(running) = self.running.as_mut().filter(|running| running.id == call) {
                    running.progress = Some((progress, total, message));
                }
            }
            Event::Unreadable { call, count } => {
                if let Some(running) = self.running.as_mut().filter(|running| running.id == call) {
                    running.unreadable = count;
                }
            }
            Event::Captured { call, capture } => self.captured(call, capture, effects),
            Event::Opened(captures) => self.opened(captures),
            Event::ExportedText(text) => self.copy(text, effects),
            Event::History(event) => self.history_event(event, effects),
            Event::Fixture(event) => self.fixture_event(event, effects),
            Event::Collection(event) => self.collection_event(event),
            Event::Picture { picture, theme, path } => effects.push(Effect::Paint { picture, theme, path }),
            Event::PictureCopied => self.toast("Copied"),
            Event::Answered { inquiry, answer } => self.answered(inquiry, answer),
            Event::TokenizerRead(file) => self.tokenizer_read(file, effects),
            Event::Exact(event) => self.exact_event(event),
            Event::Prices(read) => self.prices_read(read),
            Event::Probed { run, finding, today } => self.probed(run, finding, &today),
            Event::HostAdded(added) => self.host_added(added),
            Event::Hosts(hosts) => self.use_hosts(hosts, effects),
            Event::Recent { folder, recent } => self.read_recent(folder, recent),
            Event::ConfigsFound(found) => self.configs_found(found),
            Event::ConfigRead { path, read } => self.config_read(&path, read, effects),
            Event::ValuesKnown(values) => self.values_known(values),
            Event::Exported(path) => self.toast(&format!("Saved {}", path.display())),
            Event::Problem(problem) => self.toast_problem(problem),
            Event::PathChosen { purpose, path: Some(path) } => {
                self.dialog = None;
                self.perform(purpose.action(path), effects);
            }
            // Cancelled, or no dialog could be shown: the path field is still there.
            Event::PathChosen { path: None, .. } => {}
        }
    }

    pub(super) fn copy(&mut self, text: String, effects: &mut Vec<Effect>) {
        effects.push(Effect::CopyText(text));
        self.toast("Copied");
    }

    pub(super) fn toast(&mut self, text: &str) {
        self.push_toast(text.to_owned(), None);
    }

    pub(super) fn toast_problem(&mut self, problem: Problem) {
        self.push_toast(problem.message(), Some(problem));
    }

    fn push_toast(&mut self, text: String, problem: Option<Problem>) {
        // The same message again takes the old one's place.
        self.toasts.retain(|toast| toast.text != text);
        self.next_toast += 1;
        self.toasts.push(Toast { id: self.next_toast, text, problem, since: self.now });
    }
}
