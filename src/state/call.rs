//! Arguments, calls and the captures they become.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;

use super::undo::UndoStep;
use super::{
    AllowedTools, CallOwner, CallUpdate, Connection, Dialog, Effect, FieldFile, Form, FormMode,
    HostsAction, PreparedCall, QueryState, Screen, SessionEffect, StartQuestion, State, Value,
};
use loupe_analysis::contract;
use loupe_analysis::queries::{
    HostsQuery, ParsedCaptureQuery, PlacementsQuery, QueryInput, QueryKey, QueryResult, Target,
    ToolTokensQuery,
};
use loupe_core::capture::{Capture, CaptureId};
use loupe_core::number::number_of;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::source::{SampleSpec, Source};

impl StartQuestion {
    /// The sample that the question is asked of.
    pub fn source(self) -> Source {
        let mut spec = SampleSpec::default();
        if self == StartQuestion::HostileRecords {
            spec.keys.insert("data".into(), "hostile".into());
        }
        Source::Sample(spec)
    }
}

/// What the user does about tools, their arguments and calls.
#[derive(Clone, Debug, PartialEq)]
pub enum CallAction {
    SelectTool(String),
    SetFormMode(FormMode),
    SetField {
        field: usize,
        value: Value,
    },
    /// A field takes what is in a file; without a path it is asked for.
    FillField {
        field: FieldFile,
        path: Option<PathBuf>,
    },
    /// The path that was asked for.
    TakeFile(PathBuf),
    SetArgumentsText(String),
    /// Empties the form.
    ClearArguments,
    /// Put the arguments of the capture shown back into the form.
    RestoreArguments,
    /// Call the selected tool; asks first where it is not declared read-only.
    Call {
        send_anyway: bool,
    },
    /// The person has said yes to the calls of the dialog.
    Confirm,
    /// And to later calls of these tools.
    ConfirmAlways(AllowedTools),
    Cancel,
    /// A card of the start page: connect if needed, select the tool, call it.
    Ask(StartQuestion),
}

impl State {
    pub(super) fn change_call(&mut self, action: CallAction, effects: &mut Vec<Effect>) {
        match action {
            CallAction::SelectTool(name) => self.open_tool(&name),
            CallAction::SetFormMode(mode) => self.edit_form(|form| form.set_mode(mode)),
            CallAction::SetField { field, value } => {
                self.edit_form(|form| form.set_field(field, value))
            }
            CallAction::FillField { field, path } => self.fill_field(field, path, effects),
            CallAction::TakeFile(path) => {
                if let Some(field) = self.filling.clone() {
                    self.fill_field(field, Some(path), effects);
                }
            }
            CallAction::ClearArguments => {
                let (Some(tool), Some(form)) = (self.session().selected_tool.clone(), self.form())
                else {
                    return;
                };
                let text = form.text.to_string();
                self.edit_form(|form| form.set_text("{}"));
                self.offer_undo(
                    format!("Cleared the arguments of {tool}"),
                    UndoStep::Form {
                        session: self.session().id,
                        tool,
                        text,
                    },
                );
            }
            CallAction::SetArgumentsText(text) => self.edit_form(|form| form.set_text(&text)),
            CallAction::RestoreArguments => self.restore_arguments(),
            CallAction::Call { send_anyway } => self.call(send_anyway, effects),
            CallAction::Confirm => self.confirm_calls(effects),
            CallAction::ConfirmAlways(which) => {
                let calls = self.calls_to_confirm();
                self.allow(which, &calls, effects);
                self.confirm_calls(effects);
            }
            CallAction::Cancel => {
                self.stop_series("cancelled", false);
                if let Some(running) = &self.running {
                    effects.push(Effect::Session(SessionEffect::CancelCall {
                        call: running.id,
                    }));
                }
            }
            CallAction::Ask(question) => self.ask(question, effects),
        }
    }

    pub(super) fn select_tool(&mut self, name: &str) {
        let session = self.sessions.current_mut();
        session.select_tool(name, self.servers.memory_of(session.memory_key.as_ref()));
    }

    /// Selects a tool by hand: its last answer comes with it.
    pub(super) fn open_tool(&mut self, name: &str) {
        self.select_tool(name);
        // Another server's tool of the same name is another tool.
        let source = self.session().connection.source().map(Source::to_string);
        let is_its = |capture: &&Arc<Capture>| {
            capture.tool.name == name
                && source
                    .as_ref()
                    .is_none_or(|source| *source == capture.server.source)
        };
        let last = self
            .captures
            .iter()
            .rev()
            .find(is_its)
            .map(|capture| capture.id.clone());
        match last {
            Some(id) => self.show_capture(&id),
            None => {
                self.view.capture = None;
                self.view.screen = Screen::Tool;
            }
        }
    }

    pub(super) fn edit_form(&mut self, edit: impl FnOnce(&mut Form)) {
        self.session_mut().edit_form(edit);
    }

    pub(super) fn restore_arguments(&mut self) {
        let Some(capture) = self.capture().cloned() else {
            return;
        };
        self.select_tool(&capture.tool.name);
        let text = String::from_utf8_lossy(&capture.arguments).into_owned();
        self.edit_form(|form| form.set_text(&text));
    }

    /// Calls the selected tool, or says what is in the way.
    pub(super) fn call(&mut self, send_anyway: bool, effects: &mut Vec<Effect>) {
        if self.running.is_some() {
            return;
        }
        if !self.session().connection.is_connected() {
            let problem = match &self.session().connection {
                Connection::Disconnected { problem, .. } => Problem::new(
                    ProblemKind::Disconnected,
                    format!("the server is gone: {}", problem.what),
                )
                .hint("reconnect (Ctrl R), then call again"),
                Connection::None => Problem::new(ProblemKind::Disconnected, "not connected")
                    .hint("connect to a server first"),
                _ => Problem::new(ProblemKind::Disconnected, "not connected")
                    .hint("reconnect (Ctrl R), then call again"),
            };
            self.toast_problem(problem);
            return;
        }
        if let (Screen::Answer, Some(capture)) = (self.view.screen, self.foreign_capture()) {
            let name = if capture.tool.name.is_empty() {
                "what is shown"
            } else {
                &capture.tool.name
            };
            let problem = Problem::new(
                ProblemKind::Usage,
                format!("{name} is not a tool of this server"),
            );
            self.toast_problem(problem.hint("choose a tool on the left"));
            return;
        }
        let Some(listed) = self.tool() else { return };
        let tool = Arc::clone(&listed.tool);
        let Some(form) = self.form() else { return };
        if let Some((message, line, column)) = form.syntax.clone() {
            let problem = Problem::new(
                ProblemKind::Arguments,
                format!("the arguments are not a JSON object: {message}"),
            )
            .at(format!("line {line}, column {column}"));
            self.toast_problem(problem);
            return;
        }
        if !send_anyway && !form.progress.is_done() {
            self.edit_form(|form| form.progress.sends = true);
            return;
        }
        if !form.problems.is_empty() && !send_anyway {
            // The form shows each problem at its field, with "Send anyway" next to Call.
            self.edit_form(|form| form.tries += 1);
            return;
        }
        let call = self.prepare(
            &tool,
            Bytes::from(form.resolved_text().into_owned()),
            CallOwner::Person,
        );
        self.keep_arguments(&tool.name, effects);
        if self.needs_consent(&call) {
            self.dialog = Some(Dialog::ConfirmCall { call });
        } else {
            self.send_call(call, effects);
        }
    }

    /// The person has said yes to the calls that the dialog shows.
    pub(super) fn confirm_calls(&mut self, effects: &mut Vec<Effect>) {
        match self.dialog.take() {
            Some(Dialog::ConfirmCall { call }) => self.send_call(call, effects),
            Some(Dialog::ConfirmCompare { compare, .. }) => self.run_compare(*compare, effects),
            Some(Dialog::ConfirmFixtures { run, .. }) => self.start_verify(run, effects),
            other => self.dialog = other,
        }
    }

    /// Sends the call without asking again.
    pub(super) fn send_call(&mut self, call: PreparedCall, effects: &mut Vec<Effect>) {
        if self.running.is_some() {
            return;
        }
        let stays = matches!(call.owner, CallOwner::Reconnect { .. });
        match self.begin_call(call, effects) {
            Ok(()) if stays => {}
            Ok(()) => self.view.screen = Screen::Answer,
            Err(problem) => self.toast_problem(problem),
        }
    }

    /// A card of the start page: the right sample, the tool, the call.
    pub(super) fn ask(&mut self, question: StartQuestion, effects: &mut Vec<Effect>) {
        let source = question.source();
        if self.session().connection.is_connected()
            && self.session().connection.source() == Some(&source)
        {
            self.answer_start(question, effects);
        } else {
            self.start_connecting(source, effects);
            self.session_mut().pending = Some(question);
        }
    }

    /// What a card of the start page does once its sample is there.
    pub(super) fn answer_start(&mut self, question: StartQuestion, effects: &mut Vec<Effect>) {
        self.select_tool(question.tool());
        self.view.turn_to(question);
        if question == StartQuestion::MarkdownOrJson {
            self.compare_formats(effects);
        } else if let (Some(listed), Some(form)) = (self.tool(), self.form())
            && form.syntax.is_none()
        {
            let owner = CallOwner::StartPage(question);
            let call = self.prepare(
                &listed.tool,
                Bytes::from(form.resolved_text().into_owned()),
                owner,
            );
            self.send_call(call, effects);
        }
    }

    pub(super) fn call_update(&mut self, call: u64, update: CallUpdate, effects: &mut Vec<Effect>) {
        let running = self.running.as_mut().filter(|running| running.id == call);
        match update {
            CallUpdate::Progress {
                progress,
                total,
                message,
            } => {
                if let Some(running) = running {
                    running.progress = Some((progress, total, message));
                }
            }
            CallUpdate::Unreadable(count) => {
                if let Some(running) = running {
                    running.unreadable = count;
                }
            }
            CallUpdate::Task { status, message } => {
                if let Some(running) = running {
                    let text = message
                        .map(|message| format!(": {message}"))
                        .unwrap_or_default();
                    running.task = Some(format!("task {status}{text}"));
                }
            }
            CallUpdate::Captured(capture) => self.captured(call, capture, effects),
        }
    }

    /// Takes in the answer to a call; it goes to whoever made it.
    fn captured(&mut self, call: u64, capture: Arc<Capture>, effects: &mut Vec<Effect>) {
        let running = self.running.take_if(|running| running.id == call);
        let session = running
            .as_ref()
            .map(|running| running.session)
            .unwrap_or_default();
        self.came_through(session, &capture.id);
        if let Some(session) = self.sessions.get_mut(session) {
            session.last_called = Some(capture.id.clone());
        }
        if let Some(CallOwner::Fixture(at)) = running.as_ref().map(|running| &running.owner) {
            return self.on_fixture_called(*at, capture, effects);
        }
        self.keep_call(&capture, effects);
        match running.map(|running| running.owner) {
            Some(CallOwner::Person) => self.show_new(capture),
            Some(CallOwner::StartPage(question)) => {
                self.show_new(capture);
                self.view.question = self.view.capture.clone().map(|capture| (capture, question));
                if question == StartQuestion::HostViews {
                    self.perform_hosts(HostsAction::Show(None), effects);
                }
            }
            Some(CallOwner::Reconnect { before, was_diff }) => {
                self.on_repeated(capture, before, was_diff)
            }
            Some(CallOwner::Compare(at)) => self.captured_of_compare(at, &capture, effects),
            // Of a session that has ended meanwhile: it is in the list, and nothing else changes.
            Some(CallOwner::Fixture(_) | CallOwner::SavedFixtures) | None => {
                self.list_capture(capture)
            }
        }
    }

    /// Shows a new result; somebody who has gone on to something else is not called back.
    fn show_new(&mut self, capture: Arc<Capture>) {
        let elsewhere = Some(self.view.screen).filter(|screen| !screen.shows_captures());
        self.add_capture(capture);
        if let Some(screen) = elsewhere {
            self.view.screen = screen;
        }
    }

    pub(super) fn add_capture(&mut self, capture: Arc<Capture>) {
        let id = capture.id.clone();
        self.list_capture(capture);
        self.show_capture(&id);
    }

    /// Puts a capture into the list; what is opened again stays where it is.
    pub(super) fn list_capture(&mut self, capture: Arc<Capture>) {
        if self.captures.iter().all(|known| known.id != capture.id) {
            self.captures.push(self.read_texts.applied(capture));
        }
    }

    /// Whether a capture is in the comparison that is open, which would have a hole without it.
    pub fn is_compared(&self, id: &CaptureId) -> bool {
        self.comparisons.current.as_ref().is_some_and(|compare| {
            compare
                .series
                .captures
                .iter()
                .flatten()
                .any(|own| own == id)
        })
    }

    /// Takes captures out of the list, but for those that are compared; instead of the one shown the next older one is.
    pub(super) fn remove_captures(&mut self, ids: &[CaptureId], effects: &mut Vec<Effect>) {
        let is_gone = |state: &Self, id: &CaptureId| ids.contains(id) && !state.is_compared(id);
        let places = self
            .captures
            .iter()
            .enumerate()
            .filter(|(_, capture)| is_gone(self, &capture.id));
        let removed: Vec<(usize, Arc<Capture>)> = places
            .map(|(at, capture)| (at, Arc::clone(capture)))
            .collect();
        let what = match removed.as_slice() {
            [] => return,
            [(_, one)] if one.tool.name.is_empty() => "Removed an answer".to_owned(),
            [(_, one)] => format!("Removed an answer of {}", one.tool.name),
            more => format!("Removed {}", number_of(more.len() as u64, "answers")),
        };
        let is_removed = |id: &CaptureId| removed.iter().any(|(_, capture)| capture.id == *id);
        self.captures.retain(|capture| !is_removed(&capture.id));
        effects.extend(
            self.query_results
                .forget_captures(is_removed)
                .into_iter()
                .map(Effect::Forget),
        );
        let shown = self.view.capture.take_if(|shown| is_removed(shown));
        if let Some(shown) = &shown {
            let at = removed
                .iter()
                .position(|(_, capture)| capture.id == *shown)
                .map_or(0, |gone| removed[gone].0 - gone);
            match self
                .captures
                .get(at.saturating_sub(1))
                .map(|next| next.id.clone())
            {
                Some(next) => self.show_capture(&next),
                None => self.view.screen = Screen::Start,
            }
        }
        self.offer_undo(what, UndoStep::Captures { removed, shown });
    }

    /// Puts captures back where they stood.
    pub(super) fn restore_captures(
        &mut self,
        removed: Vec<(usize, Arc<Capture>)>,
        shown: Option<&CaptureId>,
    ) {
        for (at, capture) in removed {
            self.captures.insert(at.min(self.captures.len()), capture);
        }
        shown.into_iter().for_each(|shown| self.show_capture(shown));
    }

    /// Adds every result of a file and shows the first; that there are several is said.
    pub(super) fn add_captures(&mut self, captures: Vec<Arc<Capture>>) {
        let count = captures.len();
        for capture in captures.into_iter().rev() {
            self.add_capture(capture);
        }
        if count > 1 {
            self.toast(&format!(
                "Opened {count} answers; the list on the left has all of them"
            ));
        }
    }

    pub(super) fn show_capture(&mut self, id: &CaptureId) {
        let Some(capture) = self.capture_of(id).cloned() else {
            return;
        };
        if self.session().has_tool(&capture.tool.name) {
            self.select_tool(&capture.tool.name);
        }
        self.view.show(id.clone());
        // Where it was looked at before, nothing comes any more that would say what it has.
        self.fit_panes();
    }

    /// Closes panes that the result shown has nothing for, as far as that is known.
    pub(super) fn fit_panes(&mut self) {
        let shown = self
            .view
            .capture
            .as_ref()
            .and_then(|id| self.query_results.get(id, ParsedCaptureQuery));
        if let Some(QueryState::Ready(subject)) = shown {
            self.view.fit_panes(subject);
        }
    }

    /// Turns to the questions of the last frame: what is out and no longer asked is called off.
    pub(super) fn want(&mut self, wants: Vec<QueryKey>, effects: &mut Vec<Effect>) {
        effects.extend(
            self.query_results
                .forget_others(&wants)
                .into_iter()
                .map(Effect::Forget),
        );
        for query_key in wants {
            let about = match &query_key.target {
                Target::Captures(ids) => {
                    let capture = |id: &CaptureId| self.capture_of(id).cloned();
                    ids.iter()
                        .map(capture)
                        .collect::<Option<_>>()
                        .map(QueryInput::Captures)
                }
                Target::Definitions(listings) => listings
                    .iter()
                    .map(|listing| self.listing(*listing))
                    .collect::<Option<_>>()
                    .map(QueryInput::Definitions),
            };
            if let Some(about) = about
                && self.query_results.ask(&query_key, self.now)
            {
                effects.push(Effect::Answer { about, query_key });
            }
        }
    }

    pub(super) fn on_query_result(
        &mut self,
        about: &QueryInput,
        query_key: QueryKey,
        answer: Result<QueryResult, Problem>,
    ) {
        let is_known = |asked: &Arc<Capture>| {
            let known = self.capture_of(&asked.id);
            known.is_some_and(|known| Arc::ptr_eq(known, asked))
        };
        if let QueryInput::Captures(asked) = about
            && !asked.iter().all(is_known)
        {
            return;
        }
        if let Ok(Some(subject)) = answer.as_ref().map(QueryResult::of::<ParsedCaptureQuery>)
            && self.view.capture.as_ref() == query_key.captures().first()
        {
            self.view.fit_panes(subject);
        }
        if query_key == self.about_server(ToolTokensQuery) {
            self.tools_counted(answer.as_ref().map(|tokens| {
                tokens
                    .of::<ToolTokensQuery>()
                    .map_or(&[][..], |tokens| tokens)
            }));
        }
        let sides = self.diff.sides.iter().flat_map(|(a, b)| [a, b]);
        let compared = self
            .comparisons
            .current
            .iter()
            .flat_map(|compare| compare.series.captures.iter().flatten());
        let shown: Vec<_> = self
            .view
            .capture
            .iter()
            .chain(sides)
            .chain(compared)
            .cloned()
            .collect();
        self.query_results.put(query_key, answer, &shown);
    }

    /// The summary with tokenizer, baseline, facts and the command line that reproduces it, as Markdown.
    pub fn summary_text(&self) -> Option<String> {
        if self.view.screen == Screen::Compare {
            return self.compare_text();
        }
        let capture = self.capture()?;
        if self.view.screen == Screen::Hosts {
            let QueryState::Ready(report) = self.query_results.get(&capture.id, HostsQuery)? else {
                return None;
            };
            let deliveries = self
                .query_results
                .get(&capture.id, PlacementsQuery)
                .and_then(QueryState::ready);
            let deliveries = deliveries.and_then(|deliveries| deliveries.as_deref());
            return Some(contract::hosts_markdown(
                report,
                deliveries,
                capture,
                self.settings.encoding(),
            ));
        }
        let reads = self.model_reads(&capture.id)?;
        contract::summary_markdown(
            &self.counted_rows(&capture.id),
            reads,
            capture,
            &self.settings.tokenizer,
        )
    }

    pub(super) fn copy_summary(&mut self, effects: &mut Vec<Effect>) {
        match self.summary_text() {
            Some(text) => self.copy(text, effects),
            None => self.toast("Still counting. Try again soon"),
        }
    }
}
