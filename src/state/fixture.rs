//! Fixtures in the window: the answer shown saved as one, after a look at all that would be written; and a folder of them
//! called again and judged.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;

use super::series::{Series, SeriesKind};
use super::undo::UndoStep;
use super::{CallOwner, Dialog, Effect, ExportAction, PathPurpose, PreparedCall, Screen, SessionId, State};
use crate::capture::{Capture, CaptureId, Outcome};
use crate::digest::sha256;
use crate::fixture::accept::{FixtureBefore, after};
use crate::fixture::draft::Wanted;
use crate::fixture::export::ExportChoice;
use crate::fixture::redact::Found;
use crate::fixture::verify::{Check, FixtureVerdict, not_called, refused};
use crate::format::ParsedCapture;
use crate::problem::{Problem, ProblemKind};

/// What a person does with fixtures.
#[derive(Clone, Debug, PartialEq)]
pub enum FixtureAction {
    /// Opens the dialog for the answer shown; `then` is what needs the fixture.
    Show {
        then: Option<ExportChoice>,
    },
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
    /// Shows what differs between the answer of the fixture at this place and the one that came.
    ShowDifference(usize),
    /// Keeps the new answer of the fixture at this place, or of every one that differs, in place of the old.
    Accept(Option<usize>),
}

/// What is typed and chosen in the dialog.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FixtureForm {
    /// Where the fixture's own folder is made.
    pub folder: String,
    pub name: String,
    pub wanted: Wanted,
    /// Whether a fixture that is there is written over.
    pub replaces: bool,
}

impl FixtureForm {
    /// The folder that is written; `None` while something is not filled in.
    pub fn path(&self) -> Option<PathBuf> {
        let (folder, name) = (self.folder.trim(), self.name.trim());
        (!folder.is_empty() && !name.is_empty()).then(|| PathBuf::from(folder).join(name))
    }
}

/// What would be written.
#[derive(Clone, Debug, PartialEq)]
pub struct Preview {
    /// The folder, from the root on.
    pub path: PathBuf,
    pub files: Vec<FixtureWritten>,
    pub found: Vec<Found>,
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

/// What is at the place already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    pub capture: Arc<Capture>,
    pub form: FixtureForm,
    /// Fields that are said to be needed of this tool.
    pub needed: BTreeSet<String>,
    /// `None` while it is made. The one before stays until then.
    pub preview: Option<Result<Arc<Preview>, Problem>>,
    /// Why it was not saved.
    pub refused: Option<Problem>,
    pub then: Option<ExportChoice>,
    pub is_saving: bool,
}

/// One fixture of the folder that is verified.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundFixture {
    pub dir: PathBuf,
    /// The tool and its arguments, or why it cannot be read.
    pub read: Result<(String, String), String>,
    /// Arguments that it hides and that nothing fills by itself, by pointer.
    pub hidden: Vec<String>,
    pub verdict: Option<FixtureVerdict>,
    /// The two answers, where the verdict says no.
    pub sides: Option<Box<Sides>>,
}

impl FoundFixture {
    /// Whether the answers differ in what is expected, rather than in what they cost or tell.
    pub fn differs(&self) -> bool {
        let is_between = |check: &Check| check.passed == Some(false) && !matches!(check.check, "budget" | "needed" | "findings");
        self.sides.is_some() && self.verdict.as_ref().is_some_and(|verdict| verdict.checks.iter().any(is_between))
    }

    /// The new answer, where keeping it would mend what the verdict says no to.
    pub fn acceptable(&self) -> Option<&Arc<Capture>> {
        self.sides.as_ref().filter(|sides| sides.is_acceptable).map(|sides| &sides.came)
    }
}

/// The answer of a fixture, and the one that came when it was called again.
#[derive(Clone, Debug, PartialEq)]
pub struct Sides {
    pub kept: Arc<Capture>,
    pub came: Arc<Capture>,
    /// Whether keeping the new one would mend what the verdict says no to.
    pub is_acceptable: bool,
    /// Values that were typed for what the fixture hides, which stay hidden.
    pub filled: Filled,
}

/// The tool and the whole arguments of a fixture's call, or the verdict where it is not made.
pub type FixtureCall = Result<(String, Bytes), FixtureVerdict>;

/// Values of hidden arguments, by JSON Pointer.
pub type Filled = Vec<(String, String)>;

/// The calls of fixtures as they were shown to whoever agrees to them.
#[derive(Clone, Debug, PartialEq)]
pub struct PreparedVerify {
    run: u64,
    calls: Vec<PreparedCall>,
    /// The fixture of each call, with the values that fill it in.
    fixtures: Vec<(usize, PathBuf, Filled)>,
}

impl PreparedVerify {
    /// The number of calls.
    pub fn calls(&self) -> usize {
        self.calls.len()
    }

    /// The calls as they are sent.
    pub fn prepared(&self) -> &[PreparedCall] {
        &self.calls
    }
}

/// A line of the list: something of a fixture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifyRow {
    pub fixture: usize,
    pub part: VerifyPart,
}

/// What a line of the list is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifyPart {
    /// The fixture itself.
    Whole,
    /// The nth argument that it hides.
    Hidden(usize),
    /// The nth check.
    Check(usize),
}

/// The screen where fixtures are verified.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verifying {
    /// Where was looked.
    pub path: Option<PathBuf>,
    pub fixtures: Vec<FoundFixture>,
    /// What is listed, in order.
    pub rows: Vec<VerifyRow>,
    /// Label of the server that the verdicts are of; `None` for saved answers.
    pub server: Option<String>,
    /// What was accepted last, together.
    accepted: Vec<AcceptedAnswer>,
    /// Counts runs: late events of another run change nothing.
    run: u64,
    /// The calls that are being read from the folders: the server they are for, and what was typed for it.
    preparing: Option<(SessionId, Vec<(PathBuf, Filled)>)>,
    /// The calls of the run.
    pub(super) series: Series,
    /// The fixture of each call.
    called: Vec<(usize, PathBuf, Filled)>,
    /// Answers that came and are not judged yet.
    unjudged: usize,
    /// The job that judges saved answers.
    saved: Option<u64>,
}

impl Verifying {
    pub fn is_running(&self) -> bool {
        self.preparing.is_some() || self.series.is_running() || self.unjudged > 0 || self.saved.is_some()
    }

    /// How many were judged, and how many of them passed.
    pub fn judged(&self) -> (usize, usize) {
        let judged = || self.verdicts().filter(|verdict| verdict.is_judged());
        (judged().count(), judged().filter(|verdict| verdict.passed()).count())
    }

    /// How many could not be called before a person allows or fills in something.
    pub fn not_called(&self) -> usize {
        self.verdicts().filter(|verdict| !verdict.is_judged()).count()
    }

    fn verdicts(&self) -> impl Iterator<Item = &FixtureVerdict> {
        self.fixtures.iter().filter_map(|fixture| fixture.verdict.as_ref())
    }

    /// How many new answers can be kept in place of the old.
    pub fn acceptable(&self) -> usize {
        self.fixtures.iter().filter(|fixture| fixture.acceptable().is_some()).count()
    }

    /// Begins another run: no fixture has a verdict.
    fn begin(&mut self, server: Option<String>) {
        self.run += 1;
        (self.series, self.called, self.unjudged, self.preparing) = (Series::default(), Vec::new(), 0, None);
        self.server = server;
        for fixture in &mut self.fixtures {
            (fixture.verdict, fixture.sides) = (None, None);
        }
        self.refresh();
    }

    /// Shows a verdict; another folder may have been opened meanwhile.
    fn show(&mut self, at: usize, verdict: FixtureVerdict, sides: Option<Box<Sides>>) {
        if let Some(fixture) = self.fixtures.get_mut(at).filter(|found| found.dir.as_os_str() == &*verdict.dir) {
            (fixture.verdict, fixture.sides) = (Some(verdict), sides);
            self.refresh();
        }
    }

    fn refresh(&mut self) {
        let rows = self.fixtures.iter().enumerate().flat_map(|(fixture, found)| {
            let checks = found.verdict.as_ref().map_or(0, |verdict| verdict.checks.len());
            let parts = std::iter::once(VerifyPart::Whole)
                .chain((0..found.hidden.len()).map(VerifyPart::Hidden))
                .chain((0..checks).map(VerifyPart::Check));
            parts.map(move |part| VerifyRow { fixture, part })
        });
        self.rows = rows.collect();
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
        capture: Arc<Capture>,
        wanted: Wanted,
        path: PathBuf,
    },
    Save {
        capture: Arc<Capture>,
        wanted: Wanted,
        path: PathBuf,
        replaces: bool,
    },
    Find(PathBuf),
    /// Reads the calls of fixtures, each with the values of what it hides.
    Prepare {
        run: u64,
        dirs: Vec<(PathBuf, Filled)>,
    },
    /// Judges the answer that came to the call of a fixture.
    Judge {
        run: u64,
        at: usize,
        dir: PathBuf,
        filled: Filled,
        came: Arc<Capture>,
    },
    /// Judges the saved answers alone, one after another.
    JudgeSaved {
        run: u64,
        call: u64,
        dirs: Vec<(PathBuf, Filled)>,
    },
    /// Keeps a new answer in place of the fixture's.
    Accept {
        at: usize,
        dir: PathBuf,
        verdict: FixtureVerdict,
        sides: Box<Sides>,
    },
    /// Takes that back.
    BringBack(Vec<FixtureBefore>),
}

/// A new answer that took the place of a fixture's, with what was said and known of the fixture before.
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
        preview: Result<Arc<Preview>, Problem>,
    },
    Saved {
        capture: CaptureId,
        path: PathBuf,
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
            FixtureAction::Edit(form) => {
                if let Some(saving) = &mut self.fixtures.saving {
                    let is_same = saving.form.wanted == form.wanted && saving.form.path() == form.path();
                    saving.form = form;
                    saving.refused = None;
                    if !is_same {
                        self.preview_fixture(effects);
                    }
                }
            }
            FixtureAction::Save => {
                let Some(saving) = self.fixtures.saving.as_mut().filter(|saving| !saving.is_saving) else { return };
                let Some(path) = saving.form.path() else { return };
                saving.is_saving = true;
                saving.refused = None;
                effects.push(Effect::Fixture(FixtureEffect::Save {
                    capture: Arc::clone(&saving.capture),
                    wanted: saving.form.wanted.clone(),
                    path,
                    replaces: saving.form.replaces,
                }));
            }
            FixtureAction::ShowVerify => self.view.screen = Screen::Verify,
            FixtureAction::Find(None) => {
                let text = self.fixtures.folder.clone().unwrap_or_default();
                self.dialog = Some(Dialog::Path { purpose: PathPurpose::OpenFixtures, text });
            }
            FixtureAction::Find(Some(path)) => {
                self.view.screen = Screen::Verify;
                effects.push(Effect::Fixture(FixtureEffect::Find(path)));
            }
            FixtureAction::Verify { offline: true } => self.judge_saved(effects),
            FixtureAction::Verify { offline: false } => self.verify(effects),
            FixtureAction::SkipWriting => self.skip_writing(effects),
            FixtureAction::Fill { fixture, pointer, value } => {
                if let Some(found) = self.fixtures.verifying.fixtures.get(fixture) {
                    self.sessions.current_mut().filled.insert((found.dir.clone(), pointer), value);
                }
            }
            FixtureAction::ShowDifference(at) => self.show_fixture_difference(at),
            FixtureAction::Accept(which) => self.accept(which, effects),
        }
    }

    fn show_fixture(&mut self, then: Option<ExportChoice>, effects: &mut Vec<Effect>) {
        let Some(capture) = self.capture().cloned() else {
            self.toast("No answer to save yet");
            return;
        };
        let name = ExportChoice::FOLDER.file_name(&ParsedCapture::of(Arc::clone(&capture)));
        let needed = self.needed(&capture.server.name, &capture.tool.name).cloned().unwrap_or_default();
        let folder = self.fixtures.folder.clone().unwrap_or_else(|| "fixtures".to_owned());
        let wanted = Wanted { needed: needed.clone(), ..Wanted::default() };
        let form = FixtureForm { folder, name, wanted, replaces: false };
        self.fixtures.saving =
            Some(FixtureSaving { capture, form, needed, preview: None, refused: None, then, is_saving: false });
        self.dialog = Some(Dialog::Fixture);
        self.preview_fixture(effects);
    }

    fn preview_fixture(&mut self, effects: &mut Vec<Effect>) {
        let Some(saving) = &self.fixtures.saving else { return };
        let Some(path) = saving.form.path() else { return };
        self.fixtures.number += 1;
        effects.push(Effect::Fixture(FixtureEffect::Preview {
            number: self.fixtures.number,
            capture: Arc::clone(&saving.capture),
            wanted: saving.form.wanted.clone(),
            path,
        }));
    }

    fn show_fixture_difference(&mut self, at: usize) {
        let verifying = &self.fixtures.verifying;
        let Some(Sides { kept, came, .. }) = verifying.fixtures.get(at).and_then(|found| found.sides.as_deref()) else { return };
        // The new answer has the name of the old one: it may be kept in its place.
        let digest = came.response.as_ref().map(|response| sha256(response)).unwrap_or_default();
        let id = CaptureId(format!("{}-again-{digest}", kept.id.0).into());
        let (kept, came) = (Arc::clone(kept), Arc::new(Capture { id, ..(**came).clone() }));
        let ids = (kept.id.clone(), came.id.clone());
        self.list_capture(kept);
        self.list_capture(came);
        self.open_diff(ids.0, ids.1);
    }

    /// Brings back what the new answers that were accepted last took the place of.
    pub(super) fn restore_answers(&mut self, effects: &mut Vec<Effect>) {
        let verifying = &mut self.fixtures.verifying;
        let accepted = std::mem::take(&mut verifying.accepted);
        for AcceptedAnswer { at, verdict, sides, .. } in &accepted {
            verifying.show(*at, verdict.clone(), Some(sides.clone()));
        }
        let before = accepted.into_iter().map(|accepted| accepted.before).collect();
        effects.push(Effect::Fixture(FixtureEffect::BringBack(before)));
    }

    fn accept(&mut self, which: Option<usize>, effects: &mut Vec<Effect>) {
        let verifying = &mut self.fixtures.verifying;
        if verifying.is_running() {
            return;
        }
        for at in 0..verifying.fixtures.len() {
            let Some(found) = verifying.fixtures.get(at).filter(|_| which.is_none_or(|which| which == at)) else { continue };
            let sides = found.sides.clone().filter(|sides| sides.is_acceptable);
            let (Some(verdict), Some(sides)) = (found.verdict.clone(), sides) else { continue };
            effects.push(Effect::Fixture(FixtureEffect::Accept { at, dir: found.dir.clone(), verdict, sides }));
            // Once: a second click has nothing to accept.
            verifying.fixtures[at].sides = None;
            verifying.accepted.clear();
        }
    }

    /// What was typed for a hidden argument of a fixture, for calls to the current server.
    pub fn filled(&self, fixture: usize, pointer: &str) -> &str {
        let dir = self.fixtures.verifying.fixtures.get(fixture).map(|fixture| fixture.dir.clone()).unwrap_or_default();
        self.session().filled.get(&(dir, pointer.to_owned())).map_or("", String::as_str)
    }

    /// The folders of the fixtures, each with what was typed for the current server.
    fn fixture_dirs(&self) -> Vec<(PathBuf, Filled)> {
        let filled = &self.session().filled;
        let values = |fixture: &FoundFixture| {
            let value = |pointer: &String| {
                let value = filled.get(&(fixture.dir.clone(), pointer.clone())).filter(|value| !value.is_empty())?;
                Some((pointer.clone(), value.clone()))
            };
            (fixture.dir.clone(), fixture.hidden.iter().filter_map(value).collect())
        };
        self.fixtures.verifying.fixtures.iter().map(values).collect()
    }

    fn judge_saved(&mut self, effects: &mut Vec<Effect>) {
        if self.fixtures.verifying.is_running() || self.running.is_some() {
            return;
        }
        let call = self.begin(self.session().id, "the fixtures".to_owned(), CallOwner::SavedFixtures);
        let dirs = self.fixture_dirs();
        let verifying = &mut self.fixtures.verifying;
        verifying.begin(None);
        verifying.saved = Some(call);
        effects.push(Effect::Fixture(FixtureEffect::JudgeSaved { run: verifying.run, call, dirs }));
    }

    fn verify(&mut self, effects: &mut Vec<Effect>) {
        if self.fixtures.verifying.is_running() || self.running.is_some() {
            return;
        }
        if !self.session().connection.is_connected() {
            let problem = Problem::new(ProblemKind::Disconnected, "not connected").hint("connect to a server, then verify");
            return self.toast_problem(problem);
        }
        let (session, dirs, label) = (self.session().id, self.fixture_dirs(), self.session_label(self.session()));
        let verifying = &mut self.fixtures.verifying;
        verifying.begin(Some(label));
        verifying.preparing = Some((session, dirs.clone()));
        effects.push(Effect::Fixture(FixtureEffect::Prepare { run: verifying.run, dirs }));
    }

    /// The calls are read: asks for a yes where one is needed, else makes them.
    fn on_fixtures_prepared(&mut self, run: u64, calls: Result<Vec<FixtureCall>, Problem>, effects: &mut Vec<Effect>) {
        let verifying = &mut self.fixtures.verifying;
        let Some((id, dirs)) = verifying.preparing.take_if(|_| run == verifying.run) else { return };
        let calls = match calls {
            Ok(calls) => calls,
            Err(problem) => return self.toast_problem(problem),
        };
        // The server that it was asked for, whichever is shown now.
        let Some(session) = self.sessions.get(id) else {
            let problem = Problem::new(ProblemKind::Consent, "nothing was called: the server was closed meanwhile");
            return self.toast_problem(problem.hint("connect to it, then verify again"));
        };
        let mut verdicts = Vec::new();
        let mut prepared = PreparedVerify { run, calls: Vec::new(), fixtures: Vec::new() };
        for (at, (call, (dir, filled))) in calls.into_iter().zip(dirs).enumerate() {
            let found = call.and_then(|(name, arguments)| {
                let unlisted = || Problem::new(ProblemKind::NotFound, format!("the server lists no tool `{name}`"));
                let listed = session.find_tool(&name).ok_or_else(|| refused(dir.display().to_string(), &unlisted()))?;
                Ok((Arc::clone(&listed.tool), arguments))
            });
            match found {
                Ok((tool, arguments)) => {
                    let owner = CallOwner::Fixture(prepared.calls.len());
                    prepared.calls.push(PreparedCall { session: id, tool, arguments, owner });
                    prepared.fixtures.push((at, dir, filled));
                }
                Err(verdict) => verdicts.push((at, verdict)),
            }
        }
        for (at, verdict) in verdicts {
            self.fixtures.verifying.show(at, verdict, None);
        }
        let writing = prepared.calls.iter().filter(|call| self.needs_consent(call));
        let writing: Vec<String> = writing.map(|call| format!("{} {}", call.tool.name, self.call_text(call))).collect();
        if writing.is_empty() {
            self.start_verify(prepared, effects);
        } else {
            self.dialog = Some(Dialog::ConfirmFixtures { run: prepared, calls: writing });
        }
    }

    /// Makes the calls of the dialog that need no yes.
    fn skip_writing(&mut self, effects: &mut Vec<Effect>) {
        let Some(Dialog::ConfirmFixtures { run, .. }) =
            self.dialog.take_if(|dialog| matches!(dialog, Dialog::ConfirmFixtures { .. }))
        else {
            return;
        };
        let PreparedVerify { run, calls, fixtures } = run;
        let mut kept = PreparedVerify { run, calls: Vec::new(), fixtures: Vec::new() };
        for (call, fixture) in calls.into_iter().zip(fixtures) {
            if self.needs_consent(&call) {
                let what = format!("not called: {} is not declared read-only", call.tool.name);
                let problem = Problem::new(ProblemKind::Consent, what).hint("verify again, and allow such calls");
                let verdict = not_called(fixture.1.display().to_string(), &problem);
                self.fixtures.verifying.show(fixture.0, verdict, None);
            } else {
                kept.calls.push(PreparedCall { owner: CallOwner::Fixture(kept.calls.len()), ..call });
                kept.fixtures.push(fixture);
            }
        }
        self.start_verify(kept, effects);
    }

    /// Makes the calls of fixtures, one after another; each is checked again before it is sent.
    pub(super) fn start_verify(&mut self, prepared: PreparedVerify, effects: &mut Vec<Effect>) {
        let verifying = &mut self.fixtures.verifying;
        if self.running.is_some() || verifying.is_running() || verifying.run != prepared.run {
            let problem = Problem::new(ProblemKind::Consent, "nothing was called: another run was begun meanwhile");
            return self.toast_problem(problem.hint("verify again"));
        }
        verifying.series = Series::of(prepared.calls);
        verifying.called = prepared.fixtures;
        self.next_of_series(SeriesKind::Fixtures, effects);
    }

    /// The answer to a fixture's call came: has it judged, and makes the next call. It is in no list.
    pub(super) fn on_fixture_called(&mut self, at: usize, came: Arc<Capture>, effects: &mut Vec<Effect>) {
        let verifying = &mut self.fixtures.verifying;
        let Some((fixture, dir, filled)) = verifying.called.get(at).cloned() else { return };
        verifying.series.came(at, &came);
        if came.outcome != Outcome::Cancelled {
            verifying.unjudged += 1;
            effects.push(Effect::Fixture(FixtureEffect::Judge { run: verifying.run, at: fixture, dir, filled, came }));
        }
        self.next_of_series(SeriesKind::Fixtures, effects);
    }

    pub(super) fn fixture_event(&mut self, event: FixtureEvent, effects: &mut Vec<Effect>) {
        match event {
            FixtureEvent::Previewed { number, preview } => {
                if let Some(saving) = self.fixtures.saving.as_mut().filter(|_| number == self.fixtures.number) {
                    saving.preview = Some(preview);
                }
            }
            FixtureEvent::Saved { capture, path, summary } => {
                self.toast(&format!("Saved {} · {summary}", path.display()));
                self.fixtures.saved.insert(capture.clone(), path);
                // The dialog may be that of another answer by now.
                let saving = self.fixtures.saving.take_if(|saving| saving.capture.id == capture);
                let Some(saving) = saving else { return };
                if self.dialog == Some(Dialog::Fixture) {
                    self.dialog = None;
                }
                self.fixtures.folder = Some(saving.form.folder);
                if let Some(kind) = saving.then {
                    self.export_as(ExportAction::Save { kind, path: None }, effects);
                }
            }
            FixtureEvent::Refused(problem) => match self.fixtures.saving.as_mut().filter(|saving| saving.is_saving) {
                Some(saving) => {
                    saving.is_saving = false;
                    saving.refused = Some(problem);
                }
                None => self.toast_problem(problem),
            },
            FixtureEvent::Found { path, fixtures } => {
                let verifying = &mut self.fixtures.verifying;
                verifying.path = Some(path);
                verifying.fixtures = fixtures;
                // A run that is under way was of other fixtures.
                verifying.begin(None);
            }
            FixtureEvent::Prepared { run, calls } => self.on_fixtures_prepared(run, calls, effects),
            FixtureEvent::Judged { run, at, verdict, sides } => {
                let verifying = &mut self.fixtures.verifying;
                if verifying.run == run {
                    verifying.unjudged = verifying.unjudged.saturating_sub(1);
                    verifying.show(at, verdict, sides);
                }
            }
            FixtureEvent::Accepted(accepted) => {
                let verifying = &mut self.fixtures.verifying;
                verifying.show(accepted.at, after(accepted.verdict.clone()), None);
                verifying.accepted.push(*accepted);
                let what = match &verifying.accepted[..] {
                    [one] => format!("Kept the new answer of {}", one.before.dir.display()),
                    several => format!("Kept {} new answers", several.len()),
                };
                self.offer_undo(what, UndoStep::Answers);
            }
            FixtureEvent::Recovered(notes) => notes.iter().for_each(|note| self.toast(note)),
            FixtureEvent::Done { call } => {
                self.fixtures.verifying.saved.take_if(|saved| *saved == call);
                if self.running.as_ref().is_some_and(|running| running.id == call) {
                    self.running = None;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::verify::{not_called, refused};
    use crate::problem::ProblemKind;
    use crate::state::CallAction;
    use crate::state::SessionEffect;
    use crate::state::{Action, Event};

    fn told(state: &mut State, event: FixtureEvent) {
        state.apply(Event::Fixture(event), &mut Vec::new());
    }

    #[test]
    fn verdicts_stand_under_their_fixtures_until_the_next_run() {
        let mut state = State::default();
        let found = |name: &str| FoundFixture {
            dir: name.into(),
            read: Ok((name.into(), "{}".into())),
            hidden: vec!["/password".into()],
            verdict: None,
            sides: None,
        };
        told(&mut state, FixtureEvent::Found { path: "/x".into(), fixtures: vec![found("a"), found("b")] });
        let mut effects = Vec::new();
        let fill = FixtureAction::Fill { fixture: 1, pointer: "/password".into(), value: "x".into() };
        state.perform(Action::Fixture(fill), &mut effects);
        state.perform(Action::Fixture(FixtureAction::Verify { offline: true }), &mut effects);
        let [Effect::Fixture(FixtureEffect::JudgeSaved { run, call, dirs })] = &effects[..] else { panic!("one run") };
        assert_eq!(dirs[..], [("a".into(), Vec::new()), ("b".into(), vec![("/password".to_owned(), "x".to_owned())])]);
        let verdict = refused("b".into(), &Problem::new(ProblemKind::Io, "why"));
        told(&mut state, FixtureEvent::Judged { run: *run, at: 1, verdict: verdict.clone(), sides: None });
        told(&mut state, FixtureEvent::Judged { run: run + 1, at: 0, verdict, sides: None });
        let rows: Vec<_> = state.fixtures.verifying.rows.iter().map(|row| (row.fixture, row.part)).collect();
        let [whole, hidden] = [VerifyPart::Whole, VerifyPart::Hidden(0)];
        assert_eq!(rows, [(0, whole), (0, hidden), (1, whole), (1, hidden), (1, VerifyPart::Check(0))]);
        assert_eq!(state.fixtures.verifying.judged(), (1, 0));
        assert!(state.fixtures.verifying.is_running());
        let mut cancelling = Vec::new();
        state.perform(CallAction::Cancel, &mut cancelling);
        assert_eq!(cancelling, [Effect::Session(SessionEffect::CancelCall { call: *call })], "no server is needed to cancel it");
        let sides = |name: &str| {
            let text =
                |text: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#);
            let server = crate::capture::Server::default();
            let of = |words: &str| {
                Arc::new(Capture { response: Some(text(words).into()), ..Capture::empty(CaptureId(name.into()), server.clone()) })
            };
            Box::new(Sides { kept: of("old"), came: of("new"), is_acceptable: false, filled: Vec::new() })
        };
        let failed = FixtureVerdict {
            dir: "b".into(),
            checks: vec![Check {
                check: "text",
                passed: Some(false),
                path: None,
                expected: None,
                actual: None,
                message: String::new(),
            }],
            is_updated: false,
        };
        told(&mut state, FixtureEvent::Judged { run: *run, at: 1, verdict: failed, sides: Some(sides("b")) });
        assert!(state.fixtures.verifying.fixtures[1].differs());
        state.perform(Action::Fixture(FixtureAction::ShowDifference(1)), &mut Vec::new());
        assert_eq!((state.view.screen, state.captures.len()), (Screen::Diff, 2), "both, though they have one name");
        let (a, b) = state.diff.sides.clone().unwrap();
        assert!(a.0.as_ref() == "b" && b != a);
        // One that waits for a person neither passed nor failed.
        let verdict = not_called("a".into(), &Problem::new(ProblemKind::Consent, "not called"));
        told(&mut state, FixtureEvent::Judged { run: *run, at: 0, verdict, sides: None });
        assert_eq!((state.fixtures.verifying.judged(), state.fixtures.verifying.not_called()), ((1, 0), 1));
        told(&mut state, FixtureEvent::Done { call: *call });
        assert!(!state.fixtures.verifying.is_running() && state.running.is_none());
    }
}
