//! The named screens: how the window gets into the state that a picture shows. The pictures of `screenshots/`, of the
//! README and of `mcp-loupe screenshot` are all made here, from real answers of the sample (or of the source given).

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use bytes::Bytes;
use image::RgbaImage;
use time::macros::datetime;

use super::{Shot, render};
use crate::capture::{Capture, CaptureId, Outcome, Server, Timings, Tool};
use crate::engine::Engine;
use crate::problem::{Kind, Problem};
use crate::report::{Answer, Question};
use crate::settings::Theme;
use crate::source::{Command, Source};
use crate::state::diff::DiffAction;
use crate::state::repeat::RepeatAction;
use crate::state::{Action, Asked, CompareAction, Connection, Effect, Event, HostsAction, State};

/// Names for `--screen`, each a state worth a picture.
pub const SCREENS: &[&str] = &[
    "start",
    "main",
    "hostile",
    "loading",
    "tool-error",
    "text-only",
    "structured-only",
    "hosts",
    "connect",
    "error",
    "diff",
    "repeat",
    "compare",
    "compare-needed",
    "compare-rendered",
    "curve",
];

/// No single step takes longer than this.
const STEP_LIMIT: Duration = Duration::from_secs(120);

/// A window with a state and an engine and nothing to look at it with.
struct Stage {
    state: State,
    engine: Engine,
    woken: Receiver<()>,
    shot: Shot,
    /// Whether times are replaced by fixed ones, so that two pictures of one answer are the same.
    is_fixed: bool,
    /// Whether the server's list came, which may be an empty one.
    is_listed: Rc<Cell<bool>>,
    /// Whether arguments that break the schema are sent all the same.
    sends_anyway: bool,
}

/// Paints a named screen. `size` is in points; a tool and its arguments replace the screen's own.
///
/// # Errors
/// Why the source or the tool could not be reached; an unknown screen.
pub fn screen(
    name: &str,
    theme: Theme,
    size: (u32, u32),
    source: Option<Source>,
    tool: Option<&str>,
    arguments: Option<&str>,
) -> Result<RgbaImage, Problem> {
    let theme = if theme == Theme::Light { egui::Theme::Light } else { egui::Theme::Dark };
    let size = [size.0, size.1];
    let mut stage = Stage::new(size, theme, !matches!(source, Some(Source::Command(_) | Source::Http(_))))?;
    stage.sends_anyway = arguments.is_none();
    let call = |stage: &mut Stage, default_tool: &str, default_arguments: &str| {
        stage.call(tool.unwrap_or(default_tool), arguments.unwrap_or(default_arguments))
    };
    let chosen = source.clone().unwrap_or_else(Source::sample);
    match name {
        "start" => stage.connect(chosen)?,
        "main" => {
            stage.connect(chosen)?;
            let first = stage.state.selected_tool.clone().unwrap_or_default();
            let is_sample = stage.state.connection.is_sample() && tool.is_none();
            if is_sample {
                call(&mut stage, "dual_search_companies", r#"{"searchTerm":"north","pageSize":5}"#)?;
                stage.select_record(2);
            } else {
                call(&mut stage, &first, "{}")?;
            }
        }
        "hostile" => {
            stage.connect(source.unwrap_or_else(|| crate::state::StartQuestion::HostileRecords.source()))?;
            call(&mut stage, "dual_search_companies", r#"{"pageSize":20}"#)?;
        }
        "loading" => {
            stage.connect(chosen)?;
            stage.begin_call(tool.unwrap_or("strict_search_companies"), arguments.unwrap_or("{}"))?;
            let now = stage.state.now + Duration::from_millis(1_240);
            stage.state.tick(now);
        }
        "tool-error" => {
            stage.connect(chosen)?;
            call(&mut stage, "strict_search_companies", r#"{"pageSize":9999}"#)?;
        }
        "text-only" => {
            stage.connect(chosen)?;
            call(&mut stage, "dial_search_user", r#"{"name":"a"}"#)?;
        }
        "structured-only" => {
            stage.connect(chosen)?;
            stage.apply(Event::Opened(Arc::new(structured_only())));
            stage.settle()?;
        }
        "diff" => {
            stage.connect(chosen)?;
            call(&mut stage, "dual_search_companies", r#"{"searchTerm":"north","pageSize":5}"#)?;
            call(&mut stage, "dual_search_companies", r#"{"searchTerm":"no","pageSize":6}"#)?;
            stage.perform(Action::Diff(DiffAction::OpenLast));
            stage.settle()?;
        }
        "repeat" => {
            stage.connect(chosen)?;
            call(&mut stage, "dual_search_companies", r#"{"searchTerm":"north","pageSize":5}"#)?;
            stage.perform(Action::Repeat(RepeatAction::Open));
            stage.perform(Action::Repeat(RepeatAction::Start));
            stage.until("the calls are made", |state| !state.repeat.is_running())?;
        }
        "hosts" => {
            stage.connect(chosen)?;
            call(&mut stage, "dual_search_companies", r#"{"pageSize":250}"#)?;
            stage.perform(Action::Hosts(HostsAction::Show(None)));
            stage.settle()?;
        }
        "connect" => {
            stage.connect(chosen)?;
            stage.perform(Action::ShowConnect);
            let mut form = stage.state.connect_form.clone();
            form.command = "node".into();
            form.arguments = "dist/index.js --transport stdio".into();
            form.environment = vec![("API_KEY".into(), "never shown".into())];
            stage.perform(Action::EditConnect(form));
            stage.settle()?;
        }
        "compare" | "compare-needed" | "compare-rendered" => {
            stage.connect(chosen)?;
            stage.compare(tool.unwrap_or("strict_search_companies"), arguments.unwrap_or(r#"{"searchTerm":"north"}"#), None)?;
            match name {
                "compare-needed" => {
                    let tool = stage.state.selected_tool.clone().unwrap_or_default();
                    let fields = ["/data/*/id", "/data/*/companyName", "/data/*/city"].map(str::to_owned);
                    stage.perform(Action::Compare(CompareAction::Need { tool, fields: Some(fields.into()) }));
                }
                "compare-rendered" => stage.perform(Action::Compare(CompareAction::SetRendered(true))),
                _ => stage.perform(Action::Compare(CompareAction::Go(0))),
            }
            stage.settle()?;
        }
        "curve" => {
            stage.connect(chosen)?;
            stage.compare(tool.unwrap_or("strict_search_companies"), arguments.unwrap_or("{}"), Some("pageSize"))?;
        }
        "error" => {
            let missing = Command { program: "my-mcp-server".into(), args: vec!["--stdio".into()], ..Command::default() };
            stage.perform(Action::Connect(source.unwrap_or(Source::Command(missing))));
            stage.until("the connection failed", |state| !matches!(state.connection, Connection::Connecting { .. }))?;
            stage.settle()?;
        }
        _ => {
            return Err(
                Problem::new(Kind::Usage, format!("unknown screen `{name}`")).hint(format!("one of {}", SCREENS.join(", ")))
            );
        }
    }
    Ok(render(&stage.state, size, theme, 1.0))
}

impl Stage {
    fn new(size: [u32; 2], theme: egui::Theme, is_fixed: bool) -> Result<Self, Problem> {
        let (wake, woken) = channel();
        let wake = Arc::new(move || {
            // Nobody listens once the picture is made.
            wake.send(()).ok();
        });
        Ok(Self {
            state: State::default(),
            engine: Engine::new(wake)?,
            woken,
            shot: Shot::new(size, theme, 1.0),
            is_fixed,
            is_listed: Rc::default(),
            sends_anyway: true,
        })
    }

    fn execute(&self, effects: Vec<Effect>) {
        for effect in effects {
            self.engine.execute(effect);
        }
    }

    fn perform(&mut self, action: Action) {
        let mut effects = Vec::new();
        self.state.perform(action, &mut effects);
        self.execute(effects);
    }

    fn apply(&mut self, event: Event) {
        let event = match event {
            Event::Captured { call, capture } if self.is_fixed => Event::Captured { call, capture: Arc::new(fixed(&capture)) },
            Event::Messages { session, .. } if self.is_fixed => Event::Messages { session, count: 8 },
            event => event,
        };
        if matches!(event, Event::Tools { .. }) {
            self.is_listed.set(true);
        }
        let mut effects = Vec::new();
        self.state.apply(event, &mut effects);
        self.execute(effects);
    }

    /// Takes in events until the state is as wanted.
    fn until(&mut self, what: &str, wanted: impl Fn(&State) -> bool) -> Result<(), Problem> {
        loop {
            while let Some(event) = self.engine.try_event() {
                self.apply(event);
            }
            if wanted(&self.state) {
                return Ok(());
            }
            if self.woken.recv_timeout(STEP_LIMIT).is_err() {
                return Err(Problem::new(Kind::Timeout, format!("waited too long until {what}")));
            }
        }
    }

    /// Lets the panes ask, until everything asked is answered.
    fn settle(&mut self) -> Result<(), Problem> {
        loop {
            for action in self.shot.frame(&self.state) {
                self.perform(action);
            }
            if self.state.answers.working() == 0 {
                return Ok(());
            }
            self.until("the panes have their answers", |state| state.answers.working() == 0)?;
        }
    }

    fn connect(&mut self, source: Source) -> Result<(), Problem> {
        self.perform(Action::Connect(source));
        let is_listed = Rc::clone(&self.is_listed);
        self.until("the tools are listed", |state| match state.connection {
            Connection::Connected { .. } => is_listed.get() && state.tools_total().is_some(),
            _ => !matches!(state.connection, Connection::Connecting { .. }),
        })?;
        if let Connection::Failed { problem, .. } | Connection::Gone { problem, .. } = &self.state.connection {
            return Err(problem.clone());
        }
        self.settle()
    }

    fn begin_call(&mut self, tool: &str, arguments: &str) -> Result<(), Problem> {
        self.perform(Action::SelectTool(tool.into()));
        if self.state.selected_tool.as_deref() != Some(tool) {
            return Err(Problem::new(Kind::NotFound, format!("the server lists no tool `{tool}`")));
        }
        self.perform(Action::SetArgumentsText(arguments.into()));
        // A screen's own arguments may be meant to break the schema; a person's are checked as everywhere.
        let refused = self.state.form().and_then(|form| form.problems.first()).filter(|_| !self.sends_anyway);
        if let Some((pointer, message)) = refused {
            let problem = Problem::new(Kind::Arguments, format!("arguments do not fit the schema: {message}"));
            return Err(if pointer.is_empty() { problem } else { problem.at(pointer.clone()) });
        }
        self.perform(Action::Call { send_anyway: true });
        if self.state.dialog.is_some() {
            // The command line that asks for this picture is the consent.
            self.perform(Action::ConfirmCall);
        }
        Ok(())
    }

    fn call(&mut self, tool: &str, arguments: &str) -> Result<(), Problem> {
        self.begin_call(tool, arguments)?;
        self.until("the answer is there", |state| state.running.is_none())?;
        self.settle()
    }

    /// Calls a tool once for each format, or each usual page size.
    fn compare(&mut self, tool: &str, arguments: &str, size: Option<&str>) -> Result<(), Problem> {
        self.perform(Action::SelectTool(tool.into()));
        self.perform(Action::SetArgumentsText(arguments.into()));
        let action = match (size, self.state.format_choice()) {
            (Some(size), _) => CompareAction::StartWith { vary: size.into(), written: "5,50,200".into() },
            (None, Some(choice)) => CompareAction::Start { vary: choice.name, values: choice.values },
            (None, None) => return Err(Problem::new(Kind::Usage, format!("no argument of `{tool}` chooses a format"))),
        };
        self.perform(Action::Compare(action));
        if self.state.dialog.is_some() {
            // The command line that asks for this picture is the consent.
            self.perform(Action::Compare(CompareAction::Confirm));
        }
        self.until("every call is made", |state| state.running.is_none())?;
        self.settle()
    }

    /// Selects the nth record, as a click on it would.
    fn select_record(&mut self, position: usize) {
        let record =
            self.state.capture().and_then(|capture| match self.state.answers.get(&capture.id, Question::Text("content"))? {
                Asked::Ready(Answer::Text(view)) => view.matched.records.get(position).map(|record| record.node),
                _ => None,
            });
        self.perform(Action::SelectRecord(record));
    }
}

/// The same answer at a fixed time, having taken a fixed time.
fn fixed(capture: &Capture) -> Capture {
    Capture {
        started_at: datetime!(2025-01-17 14:30:00 UTC),
        timings: Timings {
            send: Duration::from_micros(200),
            server: Duration::from_micros(3_400),
            receive: Duration::from_micros(400),
        },
        ..capture.clone()
    }
}

/// An answer that only some hosts' models would see anything of.
fn structured_only() -> Capture {
    let response = Bytes::from_static(
        br#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"city":"Helena","temperature":-3.50,"unit":"celsius","alerts":[{"id":9007199254740993,"level":"wind"},{"id":18,"level":null}]}}}"#,
    );
    Capture {
        id: CaptureId(Arc::from("structured-only")),
        server: Server { name: "weather".into(), version: "1.0.0".into(), transport: "file".into(), ..Server::default() },
        tool: Tool::unlisted("get_weather"),
        arguments: Bytes::from_static(b"{}"),
        started_at: datetime!(2025-01-17 14:30:00 UTC),
        timings: Timings::default(),
        outcome: Outcome::Result,
        request: Bytes::new(),
        response: Some(response),
        messages: Vec::new(),
        http: None,
        problem: None,
        notes: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Subject;

    #[test]
    fn structured_only_is_what_it_says() {
        let subject = Subject::of(Arc::new(structured_only()));
        assert!(subject.reading.content_text().is_none());
        assert!(subject.payload.is_some());
    }
}
