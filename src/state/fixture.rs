//! Fixtures in the window: the answer shown saved as one, after a look at all that would be written. What calls them again
//! is in [`verify`].

mod verify;

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;

use super::{Dialog, Effect, ExportAction, PathPurpose, Screen, State};
pub use verify::{Filled, FixtureCall, FoundFixture, PreparedVerify, Sides, VerifyPart, VerifyRow, Verifying};

use crate::capture::{Capture, CaptureId};
use crate::fixture::accept::FixtureBefore;
use crate::fixture::draft::Wanted;
use crate::fixture::export::ExportChoice;
use crate::fixture::redact::Found;
use crate::fixture::verify::FixtureVerdict;
use crate::format::ParsedCapture;
use crate::problem::Problem;

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
            FixtureEvent::Recovered(notes) => notes.iter().for_each(|note| self.toast(note)),
            event => self.on_verify_event(event, effects),
        }
    }
}
