//! A collection in the window: its calls made one after the other on the server that is connected, what each answer costs
//! and takes of its budgets, and what changed since another run. Calls of this run become a collection, or are added to one.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;

use super::series::{Series, SeriesKind};
use super::{CallOwner, Dialog, Effect, PathPurpose, PreparedCall, Screen, State};
use crate::analysis::arguments::unchecked;
use crate::capture::{Capture, CaptureId, Server, Tool};
use crate::fixture::collection::{CollectedCall, Collection};
use crate::fixture::run::{PreviousRun, Run, RunCall};
use crate::problem::{Problem, ProblemKind};
use crate::token::Tokens;

/// What a person does with collections.
#[derive(Clone, Debug, PartialEq)]
pub enum CollectionAction {
    /// The screen where a collection is run.
    Show,
    /// Opens a file; `None` asks which.
    Open(Option<PathBuf>),
    /// Makes the calls; asks first where a tool is not declared read-only.
    Run,
    /// Compares with a run that was saved; `None` asks which.
    Against(Option<PathBuf>),
    /// Writes the run as `run --json` prints it; `None` asks where.
    SaveRun(Option<PathBuf>),
    /// Writes calls of this run into a collection: after this one is where they go asked for.
    Collect(Vec<CaptureId>),
    /// Where the calls go; a collection that is there gets them at its end.
    SaveCalls(PathBuf),
}

/// What is to be done with files, and counted.
#[derive(Clone, Debug, PartialEq)]
pub enum CollectionEffect {
    Open(PathBuf),
    ReadRun(PathBuf),
    SaveRun {
        text: String,
        path: PathBuf,
    },
    /// Adds calls to the collection at `path`, what is secret hidden.
    SaveCalls {
        captures: Vec<Arc<Capture>>,
        path: PathBuf,
    },
    /// What an answer costs, and takes of its budgets.
    Measure {
        run: u64,
        at: usize,
        call: CollectedCall,
        capture: Arc<Capture>,
    },
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub enum CollectionEvent {
    Opened {
        path: PathBuf,
        collection: Arc<Collection>,
    },
    RunRead {
        path: PathBuf,
        before: PreviousRun,
    },
    Measured {
        run: u64,
        at: usize,
        call: Result<RunCall, Problem>,
    },
    /// Calls were written: how many, and how many arguments of them were hidden.
    CallsSaved {
        path: PathBuf,
        calls: usize,
        hidden: usize,
    },
}

/// A run as it was shown to whoever agrees to it.
#[derive(Clone, Debug, PartialEq)]
pub struct PreparedRun {
    pub collection: Arc<Collection>,
    /// As many as the collection has calls.
    pub calls: Vec<PreparedCall>,
}

/// What the window knows of a collection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Collections {
    pub path: Option<PathBuf>,
    pub collection: Option<Arc<Collection>>,
    /// The calls of the run; none before it.
    pub series: Series,
    /// What the answers cost, as many as the collection has calls; `None` until one is counted.
    pub counted: Vec<Option<Result<RunCall, Problem>>>,
    /// The earlier run that this one is compared with, and what it is.
    pub before: Option<(String, PreviousRun)>,
    /// The server of the run.
    pub server: Option<Server>,
    /// Counts runs, so that late counts of another are told apart.
    run: u64,
    /// The calls that go into a file once it is named.
    collected: Vec<CaptureId>,
}

impl Collections {
    /// Whether an answer is still being counted.
    pub fn is_counting(&self) -> bool {
        self.series.captures.iter().zip(&self.counted).any(|(capture, counted)| capture.is_some() && counted.is_none())
    }

    /// The calls that are counted, in order.
    pub fn measured(&self) -> Vec<RunCall> {
        self.counted.iter().flatten().flatten().cloned().collect()
    }

    /// The run as far as it went; `None` before the first call.
    pub fn run(&self, definitions: Tokens) -> Option<Run> {
        let server = self.server.clone()?;
        let collection = self.collection.as_ref()?;
        let not_made = collection.calls.iter().zip(&self.series.captures).filter(|(_, capture)| capture.is_none());
        let not_called = not_made.map(|(call, _)| call.name.clone()).collect();
        Some(Run { server, definitions, calls: self.measured(), not_called })
    }

    fn forget(&mut self) {
        let count = self.collection.as_ref().map_or(0, |collection| collection.calls.len());
        self.counted = vec![None; count];
        self.series = Series::default();
        self.run += 1;
    }
}

impl State {
    pub(super) fn perform_collection(&mut self, action: CollectionAction, effects: &mut Vec<Effect>) {
        let mut send = |effect| effects.push(Effect::Collection(effect));
        match action {
            CollectionAction::Show => self.view.screen = Screen::Collection,
            CollectionAction::Open(None) => self.ask_path(PathPurpose::OpenCollection, String::new()),
            CollectionAction::Open(Some(path)) => send(CollectionEffect::Open(path)),
            CollectionAction::Run => self.ask_run(effects),
            CollectionAction::Against(None) => self.ask_path(PathPurpose::OpenRun, String::new()),
            CollectionAction::Against(Some(path)) => send(CollectionEffect::ReadRun(path)),
            CollectionAction::SaveRun(None) => {
                let name = self.collections.path.as_ref().and_then(|path| path.file_stem());
                let name = name.map_or_else(|| "collection".to_owned(), |name| name.to_string_lossy().into_owned());
                self.ask_path(PathPurpose::SaveRun, format!("{name}-run.json"));
            }
            CollectionAction::SaveRun(Some(path)) => {
                let before = self.collections.before.as_ref().map(|(_, before)| before);
                match self.collections.run(self.definitions()) {
                    Some(run) => send(CollectionEffect::SaveRun { text: run.json(before), path }),
                    None => self.toast("The collection has not been run yet"),
                }
            }
            CollectionAction::Collect(captures) => self.collect(&captures),
            CollectionAction::SaveCalls(path) => {
                let collected = std::mem::take(&mut self.collections.collected);
                let captures = collected.iter().filter_map(|id| self.capture_of(id).cloned()).collect();
                send(CollectionEffect::SaveCalls { captures, path });
            }
        }
    }

    fn ask_path(&mut self, purpose: PathPurpose, text: String) {
        self.dialog = Some(Dialog::Path { purpose, text });
    }

    /// Asks where the calls go, each tool with the same arguments once. A collection is of one server: of the current one
    /// where calls of it are among these, else of that of the first call.
    fn collect(&mut self, captures: &[CaptureId]) {
        // Resources and prompts are no calls of a tool.
        let is_call = |capture: &&Arc<Capture>| !capture.tool.name.is_empty() && !capture.tool.name.contains('/');
        let calls: Vec<&Arc<Capture>> = captures.iter().filter_map(|id| self.capture_of(id)).filter(is_call).collect();
        let current = self.session().connection.source().map(ToString::to_string);
        let is_current = |capture: &&&Arc<Capture>| Some(&capture.server.source) == current.as_ref();
        let server = calls.iter().find(is_current).or(calls.first()).map(|capture| capture.server.source.clone());
        let mut seen = BTreeSet::new();
        let of_server = calls.iter().filter(|capture| Some(&capture.server.source) == server.as_ref());
        let new = of_server.filter(|capture| seen.insert((capture.tool.name.clone(), capture.arguments.clone())));
        let collected: Vec<CaptureId> = new.map(|capture| capture.id.clone()).collect();
        if collected.is_empty() {
            self.toast("No call of a tool to put into a collection yet");
            return;
        }
        self.collections.collected = collected;
        let text = self.collections.path.as_ref().map_or_else(|| "calls.toml".to_owned(), |path| path.display().to_string());
        self.ask_path(PathPurpose::SaveCalls, text);
    }

    /// What all the server's definitions cost, as far as they are counted.
    pub fn definitions(&self) -> Tokens {
        self.session().definition_tokens()
    }

    /// The tools of the calls, all of which were looked at before the first is made; `notes` gets what could not be checked.
    ///
    /// # Errors
    /// What is in the way of the first call that cannot be made.
    fn planned(&self, notes: &mut Vec<String>) -> Result<Vec<Arc<Tool>>, Problem> {
        let Some(collection) = &self.collections.collection else { return Ok(Vec::new()) };
        let tool = |call: &CollectedCall| {
            let Some(listed) = self.session().find_tool(&call.tool) else {
                let what = format!("in the call `{}` the tool `{}` is not one of this server", call.name, call.tool);
                let hint = "nothing was called; fix the collection, or connect to its server";
                return Err(Problem::new(ProblemKind::NotFound, what).hint(hint));
            };
            notes.extend(call.check(&listed.tool)?.map(|why| unchecked(&call.tool, &why)));
            Ok(Arc::clone(&listed.tool))
        };
        collection.calls.iter().map(tool).collect()
    }

    fn ask_run(&mut self, effects: &mut Vec<Effect>) {
        if self.running.is_some() {
            return;
        }
        if !self.session().connection.is_connected() {
            let problem = Problem::new(ProblemKind::Disconnected, "not connected").hint("connect to a server, then run again");
            self.toast_problem(problem);
            return;
        }
        let mut notes = Vec::new();
        let tools = match self.planned(&mut notes) {
            Ok(tools) => tools,
            Err(problem) => {
                self.toast_problem(problem);
                return;
            }
        };
        notes.iter().for_each(|note| self.toast(note));
        let Some(collection) = &self.collections.collection else { return };
        let calls = collection.calls.iter().zip(&tools);
        let call = |(at, (call, tool)): (usize, (&CollectedCall, &Arc<Tool>))| {
            self.prepare(tool, Bytes::from(call.arguments.clone()), CallOwner::Collection(at))
        };
        let calls: Vec<PreparedCall> = calls.enumerate().map(call).collect();
        let writing = calls.iter().filter(|call| self.needs_consent(call));
        let writing: Vec<String> = writing.map(|call| format!("{} {}", call.tool.name, call.text())).collect();
        let run = PreparedRun { collection: Arc::clone(collection), calls };
        if writing.is_empty() {
            self.start_run(run, effects);
        } else {
            self.dialog = Some(Dialog::ConfirmCollection { run, calls: writing });
        }
    }

    pub(super) fn start_run(&mut self, run: PreparedRun, effects: &mut Vec<Effect>) {
        if self.running.is_some() {
            return;
        }
        if !self.collections.collection.as_ref().is_some_and(|collection| Arc::ptr_eq(collection, &run.collection)) {
            let problem = Problem::new(ProblemKind::Consent, "nothing was called: another collection was opened meanwhile");
            self.toast_problem(problem.hint("look at its calls, then run it"));
            return;
        }
        if let Some(problem) = run.calls.iter().find_map(|call| self.check_prepared(call).err()) {
            self.toast_problem(problem);
            return;
        }
        // A run that was whole is what the next one is compared with.
        let last = self.collections.run(self.definitions()).filter(|run| !run.calls.is_empty() && run.not_called.is_empty());
        if let Some(last) = last {
            self.collections.before = Some(("the run before".to_owned(), PreviousRun::of(&last)));
        }
        self.collections.forget();
        self.collections.server = self.session().connection.server().cloned();
        self.collections.series = Series::of(run.calls);
        self.next_of_series(SeriesKind::Collection, effects);
    }

    /// Has an answer of the run counted.
    pub(super) fn measure_collected(&self, at: usize, capture: &Arc<Capture>, effects: &mut Vec<Effect>) {
        let call = self.collections.collection.as_ref().and_then(|collection| collection.calls.get(at)).cloned();
        let (run, capture) = (self.collections.run, Arc::clone(capture));
        effects.extend(call.map(|call| Effect::Collection(CollectionEffect::Measure { run, at, call, capture })));
    }

    pub(super) fn collection_event(&mut self, event: CollectionEvent) {
        match event {
            CollectionEvent::Opened { path, collection } => {
                self.view.screen = Screen::Collection;
                if self.collections.series.is_running() {
                    self.toast("A collection is being run; open the other one when that is done");
                    return;
                }
                if self.collections.path.as_ref() != Some(&path) {
                    self.collections.before = None;
                }
                self.collections.path = Some(path);
                self.collections.collection = Some(collection);
                self.collections.server = None;
                self.collections.forget();
            }
            CollectionEvent::RunRead { path, before } => {
                let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
                self.collections.before = Some((name, before));
            }
            CollectionEvent::Measured { run, at, call } => {
                let current = self.collections.run;
                let Some(counted) = self.collections.counted.get_mut(at).filter(|_| run == current) else { return };
                *counted = Some(call.clone());
                if let Err(problem) = call {
                    self.toast_problem(problem);
                }
            }
            CollectionEvent::CallsSaved { path, calls, hidden } => {
                let calls = if calls == 1 { "1 call".to_owned() } else { format!("{calls} calls") };
                let hidden = match hidden {
                    0 => String::new(),
                    1 => " · 1 argument is hidden: write its value before it is run".to_owned(),
                    many => format!(" · {many} arguments are hidden: write their values before it is run"),
                };
                self.toast(&format!("Saved {calls} in {}{hidden}", path.display()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::Outcome;
    use crate::source::Source;
    use crate::state::CallAction;
    use crate::state::CallUpdate;
    use crate::state::SessionEffect;
    use crate::state::{Action, Connection, Event, ListedTool};

    const FILE: &str = "schema = \"loupe.collection/1\"\n[[call]]\ntool = \"a\"\n[[call]]\nname = \"two\"\ntool = \"a\"\narguments = '{\"n\": 1e3}'\n";

    fn connected(definition: &'static str) -> State {
        let tool = Tool::read(Bytes::from_static(definition.as_bytes()));
        let source = Source::Command(crate::source::Command { program: "x".into(), ..Default::default() });
        let connection = Connection::Connected {
            source,
            server: Server::default(),
            since: Default::default(),
            stderr: Vec::new(),
            messages: 0,
        };
        let mut state = State::default();
        state.session_mut().connection = connection;
        state.session_mut().tools = vec![ListedTool { tool: Arc::new(tool), tokens: Some(Tokens::default()) }];
        let collection = Arc::new(Collection::parse(FILE, "c.toml").unwrap());
        state.apply(Event::Collection(CollectionEvent::Opened { path: "/c.toml".into(), collection }), &mut Vec::new());
        assert_eq!(state.view.screen, Screen::Collection);
        state
    }

    fn perform(state: &mut State, action: CollectionAction) -> Vec<Effect> {
        let mut effects = Vec::new();
        state.perform(Action::Collection(action), &mut effects);
        effects
    }

    /// Answers the call that is out; gives what follows.
    fn answered(state: &mut State, id: &str, outcome: Outcome) -> Vec<Effect> {
        let call = state.running.as_ref().map(|running| running.id).unwrap();
        let arguments = Bytes::from_static(b"{}");
        let empty = crate::capture::Capture {
            tool: Tool::unlisted("a"),
            arguments,
            outcome,
            ..Capture::empty(CaptureId(id.into()), Server::default())
        };
        let mut effects = Vec::new();
        state.apply(Event::Call { call, update: CallUpdate::Captured(Arc::new(empty)) }, &mut effects);
        effects
    }

    fn measured(state: &mut State, at: usize, tokens: u64) {
        let call = RunCall {
            name: state.collections.collection.as_ref().unwrap().calls[at].name.clone(),
            tool: "a".into(),
            outcome: Outcome::Result,
            elapsed_ms: 1.0,
            bytes: Some(1),
            tokens: Some(Tokens { o200k_base: tokens, ..Tokens::default() }),
            budgets: Vec::new(),
        };
        let run = state.collections.run;
        state.apply(Event::Collection(CollectionEvent::Measured { run, at, call: Ok(call) }), &mut Vec::new());
    }

    #[test]
    fn every_call_is_made_and_the_next_run_is_compared_with_it() {
        let mut state = connected(r#"{"name":"a","annotations":{"readOnlyHint":true}}"#);
        for (first, expected) in [(10, None), (7, Some((-3, 2)))] {
            let effects = perform(&mut state, CollectionAction::Run);
            assert!(matches!(&effects[..], [Effect::Session(SessionEffect::Call { .. })]));
            let effects = answered(&mut state, "1", Outcome::Result);
            let [
                Effect::Collection(CollectionEffect::Measure { at: 0, .. }),
                Effect::Session(SessionEffect::Call { arguments, .. }),
            ] = &effects[..]
            else {
                panic!("counted, and the next: {effects:?}")
            };
            assert_eq!(arguments, &Bytes::from_static(b"{\"n\": 1e3}"));
            assert_eq!(answered(&mut state, "2", Outcome::Result).len(), 1);
            assert!(!state.collections.series.is_running() && state.collections.is_counting());
            measured(&mut state, 0, first);
            measured(&mut state, 1, 5);
            let before = state.collections.before.as_ref();
            assert_eq!(before.map(|(_, before)| before.total_change(&state.collections.measured())), expected);
        }
        assert_eq!(state.captures.len(), 2);
        assert_eq!(state.view.screen, Screen::Collection, "the table stays in sight");
        let effects = perform(&mut state, CollectionAction::SaveRun(Some("/r.json".into())));
        let [Effect::Collection(CollectionEffect::SaveRun { text, .. })] = &effects[..] else { panic!("saved") };
        assert!(text.contains("\"change\": -3") && PreviousRun::parse(text.as_bytes(), "r").is_ok(), "{text}");
    }

    #[test]
    fn a_call_that_is_cancelled_ends_the_run_and_what_came_stays() {
        let mut state = connected(r#"{"name":"a","annotations":{"readOnlyHint":true}}"#);
        perform(&mut state, CollectionAction::Run);
        assert_eq!(answered(&mut state, "1", Outcome::Cancelled).len(), 1);
        assert!(state.running.is_none());
        assert_eq!(state.collections.series.stopped.as_deref(), Some("cancelled"));
        assert_eq!(
            (state.captures.len(), state.collections.run(Tokens::default()).unwrap().not_called),
            (1, vec!["two".to_owned()])
        );
    }

    #[test]
    fn what_may_change_something_is_asked_first_and_what_does_not_fit_is_not_sent() {
        let mut state = connected(r#"{"name":"a"}"#);
        assert!(perform(&mut state, CollectionAction::Run).is_empty());
        let Some(Dialog::ConfirmCollection { calls, .. }) = &state.dialog else { panic!("asked") };
        assert_eq!(calls[..], ["a {}", "a {\"n\": 1e3}"]);
        let mut effects = Vec::new();
        state.perform(CallAction::Confirm, &mut effects);
        assert_eq!(effects.len(), 1);
        let mut state = connected(r#"{"name":"a","inputSchema":{"type":"object","required":["x"]}}"#);
        assert!(perform(&mut state, CollectionAction::Run).is_empty() && state.dialog.is_none());
        assert!(state.toasts[0].text.contains("in the call `a` the arguments do not fit"), "{}", state.toasts[0].text);
    }

    #[test]
    fn calls_of_the_run_go_into_a_file_once_each() {
        let mut state = connected(r#"{"name":"a","annotations":{"readOnlyHint":true}}"#);
        perform(&mut state, CollectionAction::Run);
        answered(&mut state, "1", Outcome::Result);
        answered(&mut state, "2", Outcome::Result);
        let ids = state.captures.iter().map(|capture| capture.id.clone()).collect();
        perform(&mut state, CollectionAction::Collect(ids));
        assert!(matches!(&state.dialog, Some(Dialog::Path { purpose: PathPurpose::SaveCalls, .. })));
        let effects = perform(&mut state, CollectionAction::SaveCalls("/new.toml".into()));
        let [Effect::Collection(CollectionEffect::SaveCalls { captures, .. })] = &effects[..] else { panic!("saved") };
        assert_eq!(captures.len(), 1, "both had the same arguments");
    }
}
