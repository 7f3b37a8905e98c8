//! The named screens: how the window gets into the state that a picture shows. The pictures of `screenshots/`, of the
//! README and of `mcp-loupe screenshot` are all made here, from real answers of the sample (or of the source given).

mod live;

use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use bytes::Bytes;
use image::RgbaImage;
use time::macros::datetime;

use super::Shot;
use crate::engine::Engine;
use crate::state::diff::DiffAction;
use crate::state::server_diff::ServerDiffAction;
use crate::state::{
    Action, CallAction, CallUpdate, CompareAction, CompareTab, ConnectAction, Connection, Dialog,
    DoctorAction, DrawerTab, Effect, Event, Examination, FindingsAction, FixtureAction, Form,
    HostsAction, HostsTab, PaneView, QueryState, ServersAction, SessionUpdate, State, TableAction,
    ViewAction,
};
use loupe_analysis::finding::{Finding, FindingsQuery, ToolSilence, profile};
use loupe_analysis::queries::{Search, SearchKind, TextQuery};
use loupe_core::capture::{Capture, CaptureId, Server, Step, Timings, Tool};
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::settings::Theme;
use loupe_core::source::{Command, SampleSpec, Source};

/// Names for `--screen`, each a state worth a picture.
pub const SCREENS: &[&str] = &[
    "start",
    "main",
    "hostile",
    "loading",
    "tool-error",
    "text-only",
    "structured-only",
    "table",
    "find",
    "findings",
    "findings-large",
    "finding-places",
    "finding-silence",
    "hosts",
    "losses",
    "connect",
    "palette",
    "error",
    "doctor",
    "diff",
    "versus",
    "versus-choose",
    "repeat",
    "compare",
    "compare-needed",
    "compare-records",
    "compare-hosts",
    "curve",
    "fixture",
    "live",
    "verify",
    "settings",
];

/// No single step takes longer than this.
const STEP_LIMIT: Duration = Duration::from_secs(120);

/// A window with a state and an engine and nothing to look at it with.
pub(super) struct Stage {
    pub(super) state: State,
    engine: Engine,
    woken: Receiver<()>,
    pub(super) shot: Shot,
    /// Whether times are replaced by fixed ones, so that two pictures of one result are the same.
    is_fixed: bool,
    /// Whether the server's list came, which may be an empty one.
    is_listed: Rc<Cell<bool>>,
    /// Whether arguments that break the schema are sent all the same.
    sends_anyway: bool,
}

/// Paints a named screen. `size` is in points; a tool and its arguments replace the screen's own. The sessions of the
/// screen `live` are those of the data folder, where one is given.
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
    data: Option<&Path>,
) -> Result<RgbaImage, Problem> {
    let theme = if theme == Theme::Light {
        egui::Theme::Light
    } else {
        egui::Theme::Dark
    };
    let stage = Stage::new(
        [size.0, size.1],
        theme,
        !matches!(source, Some(Source::Command(_) | Source::Http(_))),
    )?;
    let mut stage = match data.filter(|_| name == "live") {
        Some(data) => {
            let mut stage = stage;
            stage.show_sessions(data, 0)?;
            stage
        }
        None => staged(stage, name, source, tool, arguments)?,
    };
    Ok(stage.shot.settled(&stage.state))
}

/// Brings a stage into the state that a screen shows.
fn staged(
    mut stage: Stage,
    name: &str,
    source: Option<Source>,
    tool: Option<&str>,
    arguments: Option<&str>,
) -> Result<Stage, Problem> {
    if !SCREENS.contains(&name) {
        return Err(
            Problem::new(ProblemKind::Usage, format!("unknown screen `{name}`"))
                .hint(format!("one of {}", SCREENS.join(", "))),
        );
    }
    // The tools and arguments of a screen are the sample's: of somebody's server nothing is called that was not named, and
    // nothing is sent that was not given.
    let is_foreign = matches!(source, Some(Source::Command(_) | Source::Http(_)));
    let arguments = arguments.or(is_foreign.then_some("{}"));
    stage.sends_anyway = arguments.is_none();
    let named = |default: &str| match tool {
        None if is_foreign => Err(Problem::new(
            ProblemKind::Usage,
            format!("the screen `{name}` calls a tool, and none is named"),
        )
        .hint(
            "nothing was called; name it with `--tool TOOL`, and its arguments with `--args JSON`",
        )),
        tool => Ok(tool.unwrap_or(default).to_owned()),
    };
    let call = |stage: &mut Stage, default_tool: &str, default_arguments: &str| {
        stage.call(
            &named(default_tool)?,
            arguments.unwrap_or(default_arguments),
        )
    };
    let north = |stage: &mut Stage| {
        call(
            stage,
            "dual_search_companies",
            r#"{"searchTerm":"north","pageSize":5}"#,
        )
    };
    let is_sample = source.is_none();
    if name == "error" {
        let missing = Command {
            program: "my-mcp-server".into(),
            args: vec!["--stdio".into()],
            ..Command::default()
        };
        stage.perform(ConnectAction::Connect(Box::new(
            source.unwrap_or(Source::Command(missing)),
        )));
        stage.until("the connection failed", |state| {
            !matches!(state.session().connection, Connection::Connecting { .. })
        })?;
        stage.settle()?;
        return Ok(stage);
    }
    if name == "finding-silence" {
        stage.perform(ServersAction::StartIn("/projects/companies".into()));
    }
    let hostile = crate::state::StartQuestion::HostileRecords;
    stage.connect(source.unwrap_or_else(|| {
        if name == "hostile" {
            hostile.source()
        } else {
            Source::sample()
        }
    }))?;
    match name {
        "settings" => stage.perform(ViewAction::ShowSettings),
        "main" => {
            let first = stage
                .state
                .session()
                .selected_tool
                .clone()
                .unwrap_or_default();
            if stage.state.session().connection.is_sample() && tool.is_none() {
                north(&mut stage)?;
                stage.select_record(2);
            } else if tool.is_some() || !is_foreign {
                call(&mut stage, &first, "{}")?;
            }
        }
        "hostile" => call(&mut stage, "dual_search_companies", r#"{"pageSize":20}"#)?,
        "loading" => {
            stage.begin_call(
                &named("strict_search_companies")?,
                arguments.unwrap_or("{}"),
            )?;
            let now = stage.state.now + Duration::from_millis(1_240);
            stage.state.tick(now);
            return Ok(stage);
        }
        "tool-error" => call(
            &mut stage,
            "strict_search_companies",
            r#"{"pageSize":9999}"#,
        )?,
        "text-only" => call(&mut stage, "dial_search_user", r#"{"name":"a"}"#)?,
        "structured-only" => stage.apply(Event::Opened(vec![Arc::new(structured_only())])),
        "diff" => {
            north(&mut stage)?;
            call(
                &mut stage,
                "dual_search_companies",
                r#"{"searchTerm":"no","pageSize":6}"#,
            )?;
            stage.perform(Action::Diff(DiffAction::OpenLast));
        }
        "versus" => {
            stage.list_other()?;
            stage.settle()?;
            let chosen = stage
                .state
                .tools_difference(stage.state.versus_tools())
                .and_then(|found| Some(found.changed.first()?.name.clone()));
            if let Some(tool) = tool.map(str::to_owned).or(chosen) {
                stage.perform(Action::ServerDiff(ServerDiffAction::Look(tool)));
            }
        }
        "versus-choose" => stage.perform(Action::ServerDiff(ServerDiffAction::Choose)),
        "repeat" => {
            north(&mut stage)?;
            stage.perform(Action::Compare(CompareAction::StartEqual(5)));
            stage.until("the calls are made", |state| state.running.is_none())?;
        }
        "findings" => {
            north(&mut stage)?;
            // Others' servers follow no style of ours.
            if is_sample {
                stage.perform(FindingsAction::ToggleProfile(profile("dual-content")?));
            }
            stage.perform(ViewAction::ShowDrawer(DrawerTab::Findings));
            stage.perform(FindingsAction::Select(Some(0)));
        }
        "findings-large" => {
            north(&mut stage)?;
            if is_sample {
                stage.perform(FindingsAction::ToggleProfile(profile("dual-content")?));
            }
            stage.perform(FindingsAction::Enlarge(true));
            stage.perform(ViewAction::ShowDrawer(DrawerTab::Findings));
            stage.settle()?;
            select_finding(&mut stage, "shape/repeated-keys")?;
        }
        "finding-places" => {
            north(&mut stage)?;
            stage.perform(ViewAction::SetPane {
                pane: 1,
                shows: PaneView::Hex("content"),
            });
            stage.perform(ViewAction::SetPane {
                pane: 2,
                shows: PaneView::Table,
            });
            stage.perform(ViewAction::ShowDrawer(DrawerTab::Findings));
        }
        "finding-silence" => {
            north(&mut stage)?;
            stage.perform(ViewAction::ShowDrawer(DrawerTab::Findings));
            stage.settle()?;
            if let Some(finding) = select_finding(&mut stage, "annotations/missing")? {
                let reason = "our host asks before every call".to_owned();
                let silence = ToolSilence {
                    rule: finding.rule.id,
                    tool: finding.subject,
                    reason,
                };
                stage.perform(Action::ShowDialog(Dialog::Silence(silence)));
            }
        }
        "table" => {
            call(
                &mut stage,
                "dual_search_companies",
                r#"{"searchTerm":"north","pageSize":20}"#,
            )?;
            stage.perform(ViewAction::SetPane {
                pane: 0,
                shows: PaneView::Hex("content"),
            });
            stage.perform(ViewAction::SetPane {
                pane: 2,
                shows: PaneView::Table,
            });
            stage.perform(TableAction::Sort("companyName".into()));
            stage.perform(ViewAction::ToggleTokenBounds);
        }
        "find" => {
            north(&mut stage)?;
            let text = if is_sample { "$..companyName" } else { "$..*" };
            let search = Search {
                text: text.into(),
                kind: SearchKind::JsonPath,
            };
            stage.perform(ViewAction::OpenLevels(Some(3)));
            stage.perform(ViewAction::SetSearch(Some(search)));
        }
        "hosts" => {
            call(&mut stage, "dual_search_companies", r#"{"pageSize":250}"#)?;
            stage.perform(Action::Hosts(HostsAction::Show(None)));
        }
        "losses" => {
            if is_sample {
                call(&mut stage, "dual_search_companies", r#"{"pageSize":250}"#)?;
            }
            stage.perform(Action::Hosts(HostsAction::Tab(HostsTab::Server)));
        }
        "doctor" => {
            stage.perform(Action::Doctor(DoctorAction::Examine));
            stage.until("the server was examined", |state| {
                state.session().examination == Some(Examination::Over)
            })?;
        }
        "connect" => {
            stage.perform(ConnectAction::Show);
            let mut form = stage.state.connect_form.clone();
            form.command = "node".into();
            form.arguments = "dist/index.js --transport stdio".into();
            form.environment = vec![("API_KEY".into(), "never shown".into())];
            stage.perform(ConnectAction::Edit(Box::new(form)));
        }
        "palette" => {
            north(&mut stage)?;
            stage.perform(Action::ShowDialog(Dialog::Palette {
                text: "search".into(),
                chosen: 1,
            }));
        }
        "compare" | "compare-needed" | "compare-records" | "compare-hosts" => {
            stage.compare(
                &named("strict_search_companies")?,
                arguments.unwrap_or(r#"{"searchTerm":"north"}"#),
                None,
            )?;
            match name {
                "compare-needed" => {
                    let fields = ["id", "companyName", "isActive", "phone"]
                        .map(|field| format!("/data/*/{field}"));
                    stage.perform(Action::Compare(CompareAction::Need(Some(fields.into()))));
                }
                "compare-records" => {
                    stage.perform(Action::Compare(CompareAction::Show(CompareTab::Records)))
                }
                "compare-hosts" => {
                    stage.perform(Action::Compare(CompareAction::Show(CompareTab::Hosts)))
                }
                _ => {}
            }
        }
        "curve" => stage.compare(
            &named("strict_search_companies")?,
            arguments.unwrap_or("{}"),
            Some("pageSize"),
        )?,
        "fixture" => {
            call(&mut stage, "dial_search_user", r#"{"name":"a"}"#)?;
            stage.open_fixture("/home/me/fixtures")?;
        }
        "live" => stage.record_sample()?,
        "verify" => {
            north(&mut stage)?;
            stage.verify()?;
        }
        // "start": the window as it is once it has connected.
        _ => {}
    }
    stage.settle()?;
    Ok(stage)
}

impl Stage {
    pub(super) fn new(size: [u32; 2], theme: egui::Theme, is_fixed: bool) -> Result<Self, Problem> {
        let (wake, woken) = channel();
        let wake = Arc::new(move || {
            // Nobody listens once the picture is made.
            wake.send(()).ok();
        });
        let shot = Shot::new(size, theme, 1.0);
        if !is_fixed {
            shot.use_system_fonts();
        }
        Ok(Self {
            state: State::default(),
            engine: Engine::new(wake)?,
            woken,
            shot,
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

    pub(super) fn perform(&mut self, action: impl Into<Action>) {
        let mut effects = Vec::new();
        self.state.perform(action, &mut effects);
        self.execute(effects);
    }

    pub(super) fn apply(&mut self, event: Event) {
        let event = match event {
            Event::Call {
                call,
                update: CallUpdate::Captured(capture),
            } if self.is_fixed => Event::Call {
                call,
                update: CallUpdate::Captured(Arc::new(fixed(&capture))),
            },
            Event::Session {
                session,
                update: SessionUpdate::Messages(_),
            } if self.is_fixed => Event::Session {
                session,
                update: SessionUpdate::Messages(8),
            },
            Event::Session {
                session,
                update: SessionUpdate::Step(step),
            } if self.is_fixed => Event::Session {
                session,
                update: SessionUpdate::Step(Step {
                    took: step.took.map(|_| Duration::from_millis(12)),
                    ..step
                }),
            },
            event => event,
        };
        if matches!(
            event,
            Event::Session {
                update: SessionUpdate::Tools { .. },
                ..
            }
        ) {
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
                return Err(Problem::new(
                    ProblemKind::Timeout,
                    format!("waited too long until {what}"),
                ));
            }
        }
    }

    /// Lets the panes ask, until everything asked is answered.
    pub(super) fn settle(&mut self) -> Result<(), Problem> {
        loop {
            for action in self.shot.frame(&self.state) {
                self.perform(action);
            }
            if self.state.query_results.working() == 0 {
                return Ok(());
            }
            self.until("the panes have their answers", |state| {
                state.query_results.working() == 0
            })?;
        }
    }

    fn connect(&mut self, source: Source) -> Result<(), Problem> {
        self.perform(ConnectAction::Connect(Box::new(source)));
        let is_listed = Rc::clone(&self.is_listed);
        self.until("the tools are listed", |state| {
            match state.session().connection {
                Connection::Connected { .. } => is_listed.get(),
                _ => !matches!(state.session().connection, Connection::Connecting { .. }),
            }
        })?;
        if let Connection::Failed { problem, .. } | Connection::Disconnected { problem, .. } =
            &self.state.session().connection
        {
            return Err(problem.clone());
        }
        self.settle()
    }

    fn begin_call(&mut self, tool: &str, arguments: &str) -> Result<(), Problem> {
        self.perform(CallAction::SelectTool(tool.into()));
        if self.state.session().selected_tool.as_deref() != Some(tool) {
            return Err(Problem::new(
                ProblemKind::NotFound,
                format!("the server lists no tool `{tool}`"),
            ));
        }
        self.perform(CallAction::SetArgumentsText(arguments.into()));
        self.until("the arguments are checked", |state| {
            state.form().is_none_or(Form::is_checked)
        })?;
        // A screen's own arguments may be meant to break the schema; the user's are checked as everywhere.
        let refused = self
            .state
            .form()
            .and_then(|form| form.problems.first())
            .filter(|_| !self.sends_anyway);
        if let Some((pointer, message)) = refused {
            let problem = Problem::new(
                ProblemKind::Arguments,
                format!("arguments do not fit the schema: {message}"),
            );
            return Err(if pointer.is_empty() {
                problem
            } else {
                problem.at(pointer.clone())
            });
        }
        self.perform(CallAction::Call { send_anyway: true });
        if self.state.dialog.is_some() {
            // The command line that asks for this picture is the consent.
            self.perform(CallAction::Confirm);
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
        self.perform(CallAction::SelectTool(tool.into()));
        self.perform(CallAction::SetArgumentsText(arguments.into()));
        let action = match (size, self.state.format_choice()) {
            (Some(size), _) => CompareAction::Start {
                vary: size.into(),
                written: "5,50,200".into(),
            },
            (None, Some(choice)) => CompareAction::Start {
                vary: choice.name,
                written: String::new(),
            },
            (None, None) => {
                return Err(Problem::new(
                    ProblemKind::Usage,
                    format!("no argument of `{tool}` chooses a format"),
                ));
            }
        };
        self.perform(Action::Compare(action));
        if self.state.dialog.is_some() {
            // The command line that asks for this picture is the consent.
            self.perform(CallAction::Confirm);
        }
        self.until("every call is made", |state| state.running.is_none())?;
        self.settle()
    }

    /// Compares the tools with those of the sample where its system differs most in what it promises.
    fn list_other(&mut self) -> Result<(), Problem> {
        let mut other = SampleSpec::default();
        other.keys.insert("output-schema".into(), "on".into());
        other.keys.insert("annotations".into(), "off".into());
        self.perform(Action::ServerDiff(ServerDiffAction::Choose));
        self.perform(Action::ServerDiff(ServerDiffAction::List(Box::new(
            Source::Sample(other),
        ))));
        self.until("the other tools are listed", |state| {
            state.server_diff.other.is_some()
                || matches!(state.server_diff.connection, Connection::Failed { .. })
        })?;
        match &self.state.server_diff.connection {
            Connection::Failed { problem, .. } => Err(problem.clone()),
            _ => Ok(()),
        }
    }

    /// Opens the dialog that saves the result shown as a fixture.
    fn open_fixture(&mut self, folder: &str) -> Result<(), Problem> {
        self.perform(Action::Fixture(FixtureAction::Show { then: None }));
        let Some(mut form) = self
            .state
            .fixtures
            .saving
            .as_ref()
            .map(|saving| saving.form.clone())
        else {
            return Ok(());
        };
        form.folder = folder.to_owned();
        form.wanted.normalise.dates = true;
        form.wanted.hide("email", true);
        self.perform(Action::Fixture(FixtureAction::Edit(form)));
        // Of two previews the older is called off, or its result is dropped.
        self.until("the fixture is looked at", |state| {
            let preview = state
                .fixtures
                .saving
                .as_ref()
                .and_then(|saving| saving.preview.as_ref());
            preview.is_some_and(|preview| match preview {
                Ok(previews) => previews
                    .iter()
                    .all(|preview| preview.path.starts_with(folder)),
                Err(_) => true,
            })
        })?;
        self.settle()
    }

    /// Saves the result shown twice, once with a field said to be needed that its text lacks, and verifies both.
    fn verify(&mut self) -> Result<(), Problem> {
        let failed = |error: std::io::Error| {
            Problem::new(
                ProblemKind::Io,
                format!("no folder for the fixtures: {error}"),
            )
        };
        let folder = tempfile::tempdir().map_err(failed)?;
        for (name, needed) in [
            ("companies", None),
            ("companies-needed", Some("/items/*/companyType")),
        ] {
            self.open_fixture(&folder.path().display().to_string())?;
            let Some(mut form) = self
                .state
                .fixtures
                .saving
                .as_ref()
                .map(|saving| saving.form.clone())
            else {
                return Ok(());
            };
            form.names = vec![name.to_owned()];
            form.wanted.needed.extend(needed.map(str::to_owned));
            self.perform(Action::Fixture(FixtureAction::Edit(form)));
            self.perform(Action::Fixture(FixtureAction::Save));
            self.until("the fixture is saved", |state| {
                state.fixtures.saving.is_none()
            })?;
        }
        self.perform(Action::Fixture(FixtureAction::Find(Some(
            folder.path().to_owned(),
        ))));
        self.until("the fixtures are found", |state| {
            !state.fixtures.verifying.fixtures.is_empty()
        })?;
        self.perform(Action::Fixture(FixtureAction::Verify { offline: false }));
        self.until("the fixtures are verified", |state| {
            !state.fixtures.verifying.is_running()
        })?;
        // The folder has another name each time.
        self.state.fixtures.verifying.path = Some("/home/me/fixtures".into());
        self.state.toasts.clear();
        self.settle()
    }

    /// Selects the nth record, as a click on it would.
    fn select_record(&mut self, position: usize) {
        let record = self.state.capture().and_then(|capture| {
            match self
                .state
                .query_results
                .get(&capture.id, TextQuery("content"))?
            {
                QueryState::Ready(view) => {
                    view.matched.records.get(position).map(|record| record.node)
                }
                _ => None,
            }
        });
        self.perform(ViewAction::SelectRecord(record));
    }
}

/// The same result at a fixed time, having taken a fixed time.
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

/// A result that only some hosts' models would see anything of.
fn structured_only() -> Capture {
    let response = Bytes::from_static(
        br#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"city":"Helena","temperature":-3.50,"unit":"celsius","alerts":[{"id":9007199254740993,"level":"wind"},{"id":18,"level":null}]}}}"#,
    );
    Capture {
        tool: Tool::unlisted("get_weather"),
        arguments: Bytes::from_static(b"{}"),
        started_at: datetime!(2025-01-17 14:30:00 UTC),
        response: Some(response),
        ..Capture::empty(
            CaptureId(Arc::from("structured-only")),
            Server {
                name: "weather".into(),
                version: "1.0.0".into(),
                transport: "file".into(),
                ..Server::default()
            },
        )
    }
}

/// Looks at the finding of this rule, or the first one.
fn select_finding(stage: &mut Stage, rule: &str) -> Result<Option<Finding>, Problem> {
    stage.settle()?;
    let query = FindingsQuery {
        settings: Arc::clone(&stage.state.view.findings.rules),
        reads: stage.state.read_choice(),
    };
    let known = stage
        .state
        .view
        .capture
        .as_ref()
        .and_then(|capture| stage.state.query_results.get(capture, query)?.ready());
    let found = known.map(|found| {
        let at = found
            .findings
            .iter()
            .position(|finding| finding.rule.id == rule)
            .unwrap_or(0);
        (at, found.findings.get(at).cloned())
    });
    if let Some((at, _)) = found {
        stage.perform(FindingsAction::Select(Some(at)));
        stage.settle()?;
    }
    Ok(found.and_then(|(_, finding)| finding))
}

#[cfg(test)]
mod keyboard_tests;
#[cfg(test)]
mod needs_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use loupe_core::format::ParsedCapture;

    #[test]
    fn structured_only_is_what_it_says() {
        let subject = ParsedCapture::new(Arc::new(structured_only()));
        assert!(subject.response.content_text().is_none());
        assert!(subject.data.is_some());
    }
}
