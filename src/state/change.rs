//! How the state changes: the one place where actions and events arrive. What belongs to an area is done there
//! (`call`, `connect`, `view`).

use std::collections::BTreeSet;
use std::time::Duration;

use super::{Action, Connection, Dialog, Effect, Event, PaneView, PathPurpose, Screen, State, Toast, TokensAction};
use crate::problem::Problem;

/// Puts into a set what is not in it, and takes out what is.
fn toggle<T: Ord>(set: &mut BTreeSet<T>, item: T) {
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
            || self.repeat.is_running()
            || matches!(self.connection, Connection::Connecting { .. })
            || self.answers.working() > 0
            || self.is_counting_server()
            || self.toasts.iter().any(|toast| toast.problem.is_none())
    }

    /// Does what a person asked for.
    pub fn perform(&mut self, action: Action, effects: &mut Vec<Effect>) {
        match action {
            Action::UseFolder(folder) => effects.push(Effect::ReadPrices(folder)),
            Action::ShowConnect => self.view.screen = Screen::Connect,
            Action::EditConnect(form) => self.connect_form = form,
            Action::ConnectForm => self.connect_from_form(effects),
            Action::Connect(source) => self.start_connecting(source, effects),
            Action::CancelConnect | Action::Disconnect => self.disconnect(effects),
            Action::Reconnect => self.again(effects),
            Action::Diff(action) => self.change_diff(action, effects),
            Action::Repeat(action) => self.change_repeat(action, effects),
            Action::SetFilter(filter) => self.filter = filter,
            Action::SelectTool(name) => self.open_tool(&name),
            Action::ToggleGroup(group) => toggle(&mut self.view.folded_groups, group),
            Action::SetFormMode(mode) => self.set_form_mode(mode),
            Action::SetField { field, value } => self.set_field(field, value),
            Action::SetArgumentsText(text) => self.set_arguments_text(&text),
            Action::RestoreArguments => self.restore_arguments(),
            Action::Call { send_anyway } => self.call(send_anyway, effects),
            Action::ConfirmCall => self.send_call(effects),
            Action::CancelCall => {
                self.repeat.stop();
                if let Some(running) = &self.running {
                    effects.push(Effect::CancelCall { call: running.id });
                }
            }
            Action::Compare(action) => self.compare(action, effects),
            Action::Ask(question) => self.ask(question, effects),
            Action::SelectCapture(id) => self.show_capture(&id),
            Action::Hosts(action) => self.perform_hosts(action),
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
            Action::ExportCapture(path) => self.export(PathPurpose::ExportCapture, path, effects),
            Action::ExportResult(path) => self.export(PathPurpose::ExportResult, path, effects),
            Action::OpenPath(Some(path)) => {
                self.dialog = None;
                effects.push(Effect::OpenPath(path));
            }
            Action::OpenPath(None) => {
                self.dialog = Some(Dialog::Path { purpose: PathPurpose::OpenCapture, text: String::new() });
            }
            Action::Tokens(action) => self.tokens(action, effects),
            Action::ChoosePath(purpose) => effects.push(Effect::ChoosePath(purpose)),
            Action::OpenLink(url) => {
                if url.starts_with("http://") || url.starts_with("https://") {
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
            Action::FocusPane(pane) => {
                view.focus = pane.min(2);
                view.open[view.focus] = true;
            }
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
        let current = self.session;
        match event {
            Event::Phase { session, phase } if session == current => self.phase(phase),
            Event::Stderr { session, line } if session == current => self.stderr(line),
            Event::Connected { session, server } if session == current => self.connected(server),
            Event::Tools { session, tools, note } if session == current => self.listed(tools, note, effects),
            Event::ToolTokens { session, tokens } if session == current => {
                for (listed, tokens) in self.tools.iter_mut().zip(tokens) {
                    listed.tokens = Some(tokens);
                }
            }
            Event::ServerCost { session, cost } if session == current => self.server_counted(cost),
            Event::ToolsCompared { session, found } if session == current => self.again.tools = Some(found),
            Event::ConnectFailed { session, problem } if session == current => self.connect_failed(problem),
            Event::Gone { session, problem } if session == current => self.gone(problem),
            Event::Messages { session, count } if session == current => {
                self.messages = count;
                if let Connection::Connected { messages, .. } = &mut self.connection {
                    *messages = count;
                }
            }
            // Events of a session that has ended.
            Event::Phase { .. }
            | Event::Stderr { .. }
            | Event::Connected { .. }
            | Event::Tools { .. }
            | Event::ToolTokens { .. }
            | Event::ServerCost { .. }
            | Event::ToolsCompared { .. }
            | Event::ConnectFailed { .. }
            | Event::Gone { .. }
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
            Event::Opened(capture) => self.add_capture(capture),
            Event::Answered { inquiry, answer } => self.answered(inquiry, answer),
            Event::TokenizerRead(file) => self.tokenizer_read(file, effects),
            Event::Prices(read) => self.prices_read(read),
            Event::Exported(path) => self.toast(&format!("Saved {}", path.display())),
            Event::Problem(problem) => self.toast_problem(problem),
            Event::PathChosen { purpose, path: Some(path) } => match purpose {
                PathPurpose::OpenCapture => self.perform(Action::OpenPath(Some(path)), effects),
                PathPurpose::OpenTokenizer => self.tokens(TokensAction::OpenFile(Some(path)), effects),
                purpose => self.export(purpose, Some(path), effects),
            },
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
