//! Fixtures in the window: the result shown saved as one, or every call of this run, after a look at all that would be
//! written. What calls them again is in `fixture::verify`.

mod verify;

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;

use super::{Dialog, Effect, ExportAction, PathPurpose, Screen, State};
pub use verify::{
    Filled, FixtureCall, FoundFixture, PreparedVerify, Sides, VerifyPart, VerifyRow, Verifying,
};

use loupe_analysis::fixture::accept::FixtureBefore;
use loupe_analysis::fixture::draft::{DraftOptions, is_answered_call};
use loupe_analysis::fixture::export::{ExportChoice, safe_name};
use loupe_analysis::fixture::names::folder_names;
use loupe_analysis::fixture::verify::FixtureVerdict;
use loupe_core::capture::{Capture, CaptureId, Server};
use loupe_core::number::number_of;
use loupe_core::problem::Problem;
use loupe_core::redact::FoundSecret;

/// What the user does with fixtures.
#[derive(Clone, Debug, PartialEq)]
pub enum FixtureAction {
    /// Opens the dialog for the result shown; `then` is what needs the fixture.
    Show {
        then: Option<ExportChoice>,
    },
    /// Opens the dialog for the calls of this run.
    ShowRun,
    Edit(FixtureForm),
    Save,
    /// The screen where fixtures are verified.
    ShowVerify,
    /// Looks for fixtures in a folder; `None` asks where.
    Find(Option<PathBuf>),
    /// Calls again and judges, after a yes to calls of tools that are not declared read-only; offline, judges the recorded
    /// answers alone.
    Verify {
        offline: bool,
    },
    /// Makes the calls that the dialog asks about, but for those of tools that are not declared read-only.
    SkipWriting,
    /// The value of an argument that the fixture at this place hides. It is for calls to the current server alone.
    Fill {
        fixture: usize,
        pointer: String,
        value: String,
    },
    /// Unfolds the checks of the fixture at this place that failed in nothing, or folds them.
    ToggleQuiet(usize),
    /// Shows what differs between the result of the fixture at this place and the one that came.
    ShowDifference(usize),
    /// Keeps the new result of the fixture at this place, or of every one that differs, instead of the old.
    Accept(Option<usize>),
}

/// What is typed and chosen in the dialog.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FixtureForm {
    /// Where the fixtures' own folders are made.
    pub folder: String,
    /// The folder of each call.
    pub names: Vec<String>,
    pub wanted: DraftOptions,
    /// Whether the needed fields of each tool are expected, too.
    pub expects_needed: bool,
    /// Whether fixtures that are there are written over.
    pub replaces: bool,
}

impl FixtureForm {
    /// The folders that are written; `None` while something is not filled in.
    pub fn paths(&self) -> Option<Vec<PathBuf>> {
        let folder = Some(self.folder.trim()).filter(|folder| !folder.is_empty())?;
        let path = |name: &String| {
            Some(name.trim())
                .filter(|name| !name.is_empty())
                .map(|name| PathBuf::from(folder).join(name))
        };
        self.names.iter().map(path).collect()
    }
}

/// A fixture on its way into its folder.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedFixture {
    pub capture: Arc<Capture>,
    pub wanted: DraftOptions,
    pub path: PathBuf,
}

/// What would be written of a fixture.
#[derive(Clone, Debug, PartialEq)]
pub struct Preview {
    /// The folder, from the root on.
    pub path: PathBuf,
    pub files: Vec<FixtureWritten>,
    pub found: Vec<FoundSecret>,
    /// Whether it is what came, in a sentence.
    pub exactness: String,
    pub there: ExistingFile,
}

/// A file that would be written.
#[derive(Clone, Debug, PartialEq)]
pub struct FixtureWritten {
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Its text, or how that begins where it is long.
    pub begins: Bytes,
}

/// What is at the place already; the last is the most in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExistingFile {
    Nothing,
    /// A capture folder, which may be replaced.
    Fixture,
    /// Anything else, which never is.
    Other,
}

/// The dialog.
#[derive(Clone, Debug, PartialEq)]
pub struct FixtureSaving {
    /// The calls, each with the fields that are said to be needed of its tool.
    pub calls: Vec<(Arc<Capture>, BTreeSet<String>)>,
    pub form: FixtureForm,
    /// One for each call; `None` while they are made. Those before stay until then.
    pub preview: Option<Result<Arc<Vec<Preview>>, Problem>>,
    /// Why it was not saved.
    pub refused: Option<Problem>,
    pub then: Option<ExportChoice>,
    pub is_saving: bool,
}

impl FixtureSaving {
    /// The fixtures as they are to be written; `None` while something is not filled in.
    fn plan(&self) -> Option<Vec<PlannedFixture>> {
        let plan = |((capture, needed), path): (&(Arc<Capture>, BTreeSet<String>), PathBuf)| {
            let mut wanted = self.form.wanted.clone();
            if self.form.expects_needed {
                wanted.needed.extend(needed.iter().cloned());
            }
            PlannedFixture {
                capture: Arc::clone(capture),
                wanted,
                path,
            }
        };
        Some(
            self.calls
                .iter()
                .zip(self.form.paths()?)
                .map(plan)
                .collect(),
        )
    }
}

/// What the window knows of fixtures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fixtures {
    pub saving: Option<FixtureSaving>,
    /// Where answers of this run were saved.
    pub saved: HashMap<CaptureId, PathBuf>,
    /// The folder that was chosen last.
    folder: Option<String>,
    number: u64,
    pub verifying: Verifying,
}

/// What is to be done with folders.
#[derive(Clone, Debug, PartialEq)]
pub enum FixtureEffect {
    Preview {
        number: u64,
        fixtures: Vec<PlannedFixture>,
    },
    Save {
        fixtures: Vec<PlannedFixture>,
        replaces: bool,
    },
    Find(PathBuf),
    /// Reads the calls of fixtures, each with the values of what it hides.
    Prepare {
        run: u64,
        dirs: Vec<(PathBuf, Filled)>,
    },
    /// Judges the result that came to the call of a fixture.
    Judge {
        run: u64,
        at: usize,
        dir: PathBuf,
        filled: Filled,
        came: Arc<Capture>,
    },
    /// Judges the saved results alone, one after another.
    JudgeSaved {
        run: u64,
        call: u64,
        dirs: Vec<(PathBuf, Filled)>,
    },
    /// Keeps a new result instead of the fixture's.
    Accept {
        at: usize,
        dir: PathBuf,
        verdict: FixtureVerdict,
        sides: Box<Sides>,
    },
    /// Takes that back.
    BringBack(Vec<FixtureBefore>),
}

/// A new result that took the place of a fixture's, with what was said and known of the fixture before.
#[derive(Clone, Debug, PartialEq)]
pub struct AcceptedAnswer {
    pub at: usize,
    pub verdict: FixtureVerdict,
    pub sides: Box<Sides>,
    pub before: FixtureBefore,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub enum FixtureEvent {
    Previewed {
        number: u64,
        preview: Result<Arc<Vec<Preview>>, Problem>,
    },
    /// All were written: where each is, and whether they are what came.
    Saved {
        fixtures: Vec<(CaptureId, PathBuf)>,
        summary: String,
    },
    Refused(Problem),
    Found {
        path: PathBuf,
        fixtures: Vec<FoundFixture>,
    },
    /// The tool and the whole arguments of each fixture's call, or why it is not made.
    Prepared {
        run: u64,
        calls: Result<Vec<FixtureCall>, Problem>,
    },
    Judged {
        run: u64,
        at: usize,
        verdict: FixtureVerdict,
        /// Where the verdict says no.
        sides: Option<Box<Sides>>,
    },
    Accepted(Box<AcceptedAnswer>),
    /// What was put back or cleared away that programs that ended had left.
    Recovered(Vec<String>),
    Done {
        call: u64,
    },
}

impl State {
    pub(super) fn perform_fixture(&mut self, action: FixtureAction, effects: &mut Vec<Effect>) {
        match action {
            FixtureAction::Show { then } => self.show_fixture(then, effects),
            FixtureAction::ShowRun => self.show_run(effects),
            FixtureAction::Edit(form) => {
                if let Some(saving) = &mut self.fixtures.saving {
                    // Whether something may be replaced changes nothing about what would be written.
                    let is_same = FixtureForm {
                        replaces: form.replaces,
                        ..saving.form.clone()
                    } == form;
                    saving.form = form;
                    saving.refused = None;
                    if !is_same {
                        self.preview_fixtures(effects);
                    }
                }
            }
            FixtureAction::Save => {
                let Some(saving) = self
                    .fixtures
                    .saving
                    .as_mut()
                    .filter(|saving| !saving.is_saving)
                else {
                    return;
                };
                let Some(fixtures) = saving.plan() else {
                    return;
                };
                saving.is_saving = true;
                saving.refused = None;
                effects.push(Effect::Fixture(FixtureEffect::Save {
                    fixtures,
                    replaces: saving.form.replaces,
                }));
            }
            FixtureAction::ShowVerify => self.view.screen = Screen::Verify,
            FixtureAction::Find(None) => {
                let text = self.fixtures.folder.clone().unwrap_or_default();
                self.dialog = Some(Dialog::Path {
                    purpose: PathPurpose::OpenFixtures,
                    text,
                });
            }
            FixtureAction::Find(Some(path)) => {
                self.view.screen = Screen::Verify;
                effects.push(Effect::Fixture(FixtureEffect::Find(path)));
            }
            FixtureAction::Verify { offline: true } => self.judge_saved(effects),
            FixtureAction::Verify { offline: false } => self.verify(effects),
            FixtureAction::SkipWriting => self.skip_writing(effects),
            FixtureAction::Fill {
                fixture,
                pointer,
                value,
            } => {
                if let Some(found) = self.fixtures.verifying.fixtures.get(fixture) {
                    self.sessions
                        .current_mut()
                        .filled
                        .insert((found.dir.clone(), pointer), value);
                }
            }
            FixtureAction::ToggleQuiet(at) => self.fixtures.verifying.toggle_quiet(at),
            FixtureAction::ShowDifference(at) => self.show_fixture_difference(at),
            FixtureAction::Accept(which) => self.accept(which, effects),
        }
    }

    fn show_fixture(&mut self, then: Option<ExportChoice>, effects: &mut Vec<Effect>) {
        let Some(capture) = self.capture().cloned() else {
            self.toast("No answer to save yet");
            return;
        };
        let name = safe_name(&capture.tool.name);
        self.open_fixtures(vec![capture], vec![name], then, effects);
    }

    /// Whether it is a result to a call of a tool that was made since the program started.
    pub fn is_call_of_run(&self, capture: &Capture) -> bool {
        let is_new = self
            .began_at
            .is_none_or(|began| capture.started_at >= began);
        is_new && !capture.request.is_empty() && is_answered_call(capture)
    }

    /// The calls of this run, each with the name of its folder: in one folder for each server where there are several. Of
    /// equal calls it is the last one, in the place of the first.
    fn calls_of_run(&self) -> Vec<(Arc<Capture>, String)> {
        let mut calls: Vec<&Arc<Capture>> = Vec::new();
        for capture in self
            .captures
            .iter()
            .filter(|capture| self.is_call_of_run(capture))
        {
            let is_equal = |other: &&mut &Arc<Capture>| {
                other.server.source == capture.server.source
                    && other.tool.name == capture.tool.name
                    && other.arguments == capture.arguments
            };
            match calls.iter_mut().find(is_equal) {
                Some(before) => *before = capture,
                None => calls.push(capture),
            }
        }
        let mut servers: Vec<&Server> = Vec::new();
        for server in calls.iter().map(|call| &call.server) {
            if servers.iter().all(|known| known.source != server.source) {
                servers.push(server);
            }
        }
        let folders = folder_names(servers.iter().map(|server| server.label()));
        let mut named = Vec::new();
        for (server, folder) in servers.iter().zip(&folders) {
            let own: Vec<_> = calls
                .iter()
                .filter(|call| call.server.source == server.source)
                .collect();
            let names = folder_names(own.iter().map(|call| call.tool.name.as_str()));
            let place = |name: String| {
                if servers.len() > 1 {
                    format!("{folder}/{name}")
                } else {
                    name
                }
            };
            named.extend(
                own.into_iter()
                    .map(|call| Arc::clone(call))
                    .zip(names.into_iter().map(place)),
            );
        }
        named
    }

    fn show_run(&mut self, effects: &mut Vec<Effect>) {
        let (calls, names): (Vec<_>, Vec<_>) = self.calls_of_run().into_iter().unzip();
        if calls.is_empty() {
            self.toast("No call of a tool to save yet");
            return;
        }
        self.open_fixtures(calls, names, None, effects);
    }

    fn open_fixtures(
        &mut self,
        captures: Vec<Arc<Capture>>,
        names: Vec<String>,
        then: Option<ExportChoice>,
        effects: &mut Vec<Effect>,
    ) {
        let needed = |capture: &Arc<Capture>| {
            self.needed_fields(&capture.server.name, &capture.tool.name)
                .cloned()
                .unwrap_or_default()
        };
        let calls = captures
            .into_iter()
            .map(|capture| (Arc::clone(&capture), needed(&capture)))
            .collect();
        let folder = self
            .fixtures
            .folder
            .clone()
            .unwrap_or_else(|| "fixtures".to_owned());
        let form = FixtureForm {
            folder,
            names,
            wanted: DraftOptions::default(),
            expects_needed: true,
            replaces: false,
        };
        self.fixtures.saving = Some(FixtureSaving {
            calls,
            form,
            preview: None,
            refused: None,
            then,
            is_saving: false,
        });
        self.dialog = Some(Dialog::Fixture);
        self.preview_fixtures(effects);
    }

    fn preview_fixtures(&mut self, effects: &mut Vec<Effect>) {
        let Some(fixtures) = self.fixtures.saving.as_ref().and_then(FixtureSaving::plan) else {
            return;
        };
        self.fixtures.number += 1;
        effects.push(Effect::Fixture(FixtureEffect::Preview {
            number: self.fixtures.number,
            fixtures,
        }));
    }

    pub(super) fn fixture_event(&mut self, event: FixtureEvent, effects: &mut Vec<Effect>) {
        match event {
            FixtureEvent::Previewed { number, preview } => {
                if let Some(saving) = self
                    .fixtures
                    .saving
                    .as_mut()
                    .filter(|_| number == self.fixtures.number)
                {
                    saving.preview = Some(preview);
                }
            }
            FixtureEvent::Saved { fixtures, summary } => {
                self.toast(&match &fixtures[..] {
                    [(_, path)] => format!("Saved {} · {summary}", path.display()),
                    several => format!(
                        "Saved {} · {summary}",
                        number_of(several.len() as u64, "fixtures")
                    ),
                });
                // The dialog may be that of another result by now.
                let is_its = |saving: &mut FixtureSaving| {
                    saving
                        .calls
                        .iter()
                        .map(|(capture, _)| &capture.id)
                        .eq(fixtures.iter().map(|(capture, _)| capture))
                };
                let saving = self.fixtures.saving.take_if(is_its);
                self.fixtures.saved.extend(fixtures);
                let Some(saving) = saving else { return };
                if self.dialog == Some(Dialog::Fixture) {
                    self.dialog = None;
                }
                self.fixtures.folder = Some(saving.form.folder);
                if let Some(kind) = saving.then {
                    self.export_as(ExportAction::Save { kind, path: None }, effects);
                }
            }
            FixtureEvent::Refused(problem) => match self
                .fixtures
                .saving
                .as_mut()
                .filter(|saving| saving.is_saving)
            {
                Some(saving) => {
                    saving.is_saving = false;
                    saving.refused = Some(problem);
                    // Other things may be there by now, some of the fixtures among them.
                    self.preview_fixtures(effects);
                }
                None => self.toast_problem(problem),
            },
            FixtureEvent::Recovered(notes) => notes.iter().for_each(|note| self.toast(note)),
            event => self.on_verify_event(event, effects),
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use time::OffsetDateTime;

    use super::*;
    use crate::state::Event;
    use loupe_core::capture::Tool;

    fn call(source: &str, tool: &str, arguments: &'static str, at: i64) -> Arc<Capture> {
        let server = Server {
            name: "mine".into(),
            source: source.into(),
            ..Server::default()
        };
        Arc::new(Capture {
            tool: Tool::unlisted(tool),
            arguments: Bytes::from_static(arguments.as_bytes()),
            started_at: OffsetDateTime::from_unix_timestamp(at).unwrap(),
            request: Bytes::from_static(b"{}"),
            response: Some(Bytes::from_static(
                br#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#,
            )),
            ..Capture::empty(
                CaptureId(format!("{source} {tool} {arguments} {at}").into()),
                server,
            )
        })
    }

    fn perform(state: &mut State, action: FixtureAction) -> Vec<Effect> {
        let mut effects = Vec::new();
        state.perform(crate::state::Action::Fixture(action), &mut effects);
        effects
    }

    #[test]
    fn calls_of_this_run_are_saved_once_each_and_apart_by_server() {
        let mut state = State {
            began_at: Some(OffsetDateTime::from_unix_timestamp(100).unwrap()),
            ..State::default()
        };
        assert!(perform(&mut state, FixtureAction::ShowRun).is_empty() && state.dialog.is_none());
        state.captures = vec![
            call("a", "get", "{}", 50),
            call("a", "get", "{}", 101),
            call("a", "resources/read", "{}", 102),
            call("a", "get", "{\"n\":1}", 103),
            call("a", "get", "{}", 104),
        ];
        let named = |state: &State| -> Vec<(i64, String)> {
            let calls = state.calls_of_run().into_iter();
            calls
                .map(|(capture, name)| (capture.started_at.unix_timestamp(), name))
                .collect()
        };
        assert_eq!(
            named(&state),
            [(104, "get".to_owned()), (103, "get-2".to_owned())]
        );
        state.captures.push(call("b", "get", "{}", 105));
        let names = ["mine/get", "mine/get-2", "mine-2/get"];
        assert_eq!(
            named(&state)
                .into_iter()
                .map(|(_, name)| name)
                .collect::<Vec<_>>(),
            names
        );
        // They are looked at first, and written after a yes alone.
        let effects = perform(&mut state, FixtureAction::ShowRun);
        let [Effect::Fixture(FixtureEffect::Preview { fixtures, .. })] = &effects[..] else {
            panic!("{effects:?}")
        };
        assert_eq!(fixtures[2].path, PathBuf::from("fixtures/mine-2/get"));
        let effects = perform(&mut state, FixtureAction::Save);
        let [
            Effect::Fixture(FixtureEffect::Save {
                fixtures,
                replaces: false,
            }),
        ] = &effects[..]
        else {
            panic!("{effects:?}")
        };
        let saved: Vec<_> = fixtures
            .iter()
            .map(|fixture| (fixture.capture.id.clone(), fixture.path.clone()))
            .collect();
        // A failure leaves the dialog, with another look at what is there.
        let mut effects = Vec::new();
        let refused =
            FixtureEvent::Refused(Problem::new(loupe_core::problem::ProblemKind::Io, "no"));
        state.apply(Event::Fixture(refused), &mut effects);
        assert!(
            matches!(
                &effects[..],
                [Effect::Fixture(FixtureEffect::Preview { .. })]
            ) && state.dialog.is_some()
        );
        state.apply(
            Event::Fixture(FixtureEvent::Saved {
                fixtures: saved,
                summary: "exact".into(),
            }),
            &mut Vec::new(),
        );
        assert!(state.dialog.is_none() && state.fixtures.saved.len() == 3);
        assert_eq!(
            state.toasts.last().unwrap().text,
            "Saved 3 fixtures · exact"
        );
    }
}
