//! Fixtures for the window: previewed, saved, found again, called and judged.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::runtime::Runtime;

use super::background::Background;
use super::expanded;
use super::queue::Queue;
use super::sessions::Sessions;
use super::work::{aside, blocking, caught, task};
use crate::analysis::Stop;
use crate::cancel::Cancel;
use crate::capture::{Capture, CaptureId};
use crate::fixture::accept::can_accept;
use crate::fixture::draft::{Wanted, draft};
use crate::fixture::expect;
use crate::fixture::redact::RedactOptions;
use crate::fixture::verify::{FixtureVerdict, judge, not_called, refused};
use crate::host::Hosts;
use crate::problem::{Problem, ProblemKind};
use crate::state::Event;
use crate::state::fixture::{
    AcceptedAnswer, ExistingFile, Filled, FixtureCall, FixtureEffect, FixtureEvent, FixtureWritten, FoundFixture, Preview, Sides,
};
use crate::store;

/// Characters of the arguments that are listed.
const SHOWN: usize = 200;

pub(super) struct Fixtures {
    /// The preview that is out; a newer one calls it off.
    preview: Mutex<Cancel>,
    background: Background,
}

impl Fixtures {
    pub(super) fn new(background: Background) -> Self {
        Self { preview: Mutex::default(), background }
    }

    pub(super) fn execute(
        &self,
        runtime: &Runtime,
        effect: FixtureEffect,
        options: RedactOptions,
        (queue, sessions, hosts): (Arc<Queue>, &Arc<Sessions>, Arc<Hosts>),
    ) {
        let sink = Arc::clone(&queue);
        let push = move |event| sink.push(Event::Fixture(event));
        let refused_all = |problem| Event::Fixture(FixtureEvent::Refused(problem));
        match effect {
            FixtureEffect::Preview { number, capture, wanted, path } => {
                let cancel = Cancel::new();
                std::mem::replace(&mut *self.preview.lock().unwrap_or_else(PoisonError::into_inner), cancel.clone()).cancel();
                let failed = move |problem| Event::Fixture(FixtureEvent::Previewed { number, preview: Err(problem) });
                blocking(runtime.handle(), &queue, failed, move || {
                    let preview = match preview(&capture, &wanted, &expanded(path), &options, &cancel) {
                        Ok(preview) => Ok(Arc::new(preview)),
                        Err(Stop::Problem(problem)) => Err(problem),
                        Err(Stop::Cancelled(_)) => return,
                    };
                    push(FixtureEvent::Previewed { number, preview });
                });
            }
            FixtureEffect::Save { capture, wanted, path, replaces } => {
                self.background.start(runtime.handle(), &queue, "Saving the fixture", move |cancel| {
                    let path = absolute(&expanded(path));
                    push(FixtureEvent::Recovered(store::recover(&path).notes()));
                    let saved = caught(|| save(&capture, &wanted, &path, replaces, &options, cancel));
                    Ok(Event::Fixture(match saved.and_then(|saved| saved) {
                        Ok(summary) => FixtureEvent::Saved { capture: capture.id.clone(), path, summary },
                        Err(problem) => FixtureEvent::Refused(problem),
                    }))
                });
            }
            FixtureEffect::Find(path) => {
                blocking(runtime.handle(), &queue, refused_all, move || {
                    let path = absolute(&expanded(path));
                    push(FixtureEvent::Recovered(store::recover(&path).notes()));
                    push(match find(&path, &options) {
                        Ok(fixtures) => FixtureEvent::Found { path, fixtures },
                        Err(problem) => FixtureEvent::Refused(problem),
                    });
                });
            }
            FixtureEffect::Accept { at, dir, verdict, sides } => {
                blocking(runtime.handle(), &queue, refused_all, move || {
                    push(match store::keep_answer(&dir, &sides.came, &with_filled(&options, &sides.filled)) {
                        Ok(before) => FixtureEvent::Accepted(Box::new(AcceptedAnswer { at, verdict, sides, before })),
                        Err(problem) => FixtureEvent::Refused(problem),
                    });
                });
            }
            FixtureEffect::BringBack(before) => {
                blocking(runtime.handle(), &queue, refused_all, move || {
                    for problem in before.iter().filter_map(|before| store::bring_answer_back(before).err()) {
                        push(FixtureEvent::Refused(problem.into()));
                    }
                });
            }
            FixtureEffect::Prepare { run, dirs } => {
                let failed = move |problem| Event::Fixture(FixtureEvent::Prepared { run, calls: Err(problem) });
                blocking(runtime.handle(), &queue, failed, move || {
                    let calls = dirs.iter().map(|(dir, filled)| request(dir, filled, &options)).collect();
                    push(FixtureEvent::Prepared { run, calls: Ok(calls) });
                });
            }
            FixtureEffect::Judge { run, at, dir, filled, came } => {
                let judge = Judge { options: with_filled(&options, &filled), hosts, filled };
                let name = dir.display().to_string();
                let failed = move |problem| {
                    Event::Fixture(FixtureEvent::Judged { run, at, verdict: refused(name, &problem), sides: None })
                };
                blocking(runtime.handle(), &queue, failed, move || {
                    let (verdict, sides) = judge.verdict(&dir, Some(&came), &Cancel::new());
                    push(FixtureEvent::Judged { run, at, verdict, sides });
                });
            }
            FixtureEffect::JudgeSaved { run, call, dirs } => {
                let (sink, ended) = (Arc::clone(&queue), Arc::clone(sessions));
                let failed = move |problem| {
                    ended.finish(call);
                    sink.push(Event::Problem(problem));
                    Event::Fixture(FixtureEvent::Done { call })
                };
                let cancel = sessions.begin_alone(call);
                let sessions = Arc::clone(sessions);
                task(runtime.handle(), &queue, failed, async move {
                    for (at, (dir, filled)) in dirs.into_iter().enumerate() {
                        let judge = Judge { options: with_filled(&options, &filled), hosts: Arc::clone(&hosts), filled };
                        let name = dir.display().to_string();
                        let flag = Cancel::new();
                        let looked_at = flag.clone();
                        let judged = tokio::select! {
                            judged = aside(move || judge.verdict(&dir, None, &looked_at)) => judged,
                            () = cancel.cancelled() => {
                                flag.cancel();
                                break;
                            }
                        };
                        let (verdict, sides) = judged.unwrap_or_else(|problem| (refused(name, &problem), None));
                        push(FixtureEvent::Judged { run, at, verdict, sides });
                    }
                    sessions.finish(call);
                    push(FixtureEvent::Done { call });
                });
            }
        }
    }
}

/// So much of each file can be looked at before it is written.
const LOOK: usize = 1 << 20;

/// The tool and the whole arguments of a fixture's call, with the values of what it hides.
///
/// # Errors
/// The verdict where it cannot be called: it is damaged, or a value is missing.
fn request(dir: &Path, filled: &Filled, options: &RedactOptions) -> FixtureCall {
    let name = dir.display().to_string();
    let (written, _) = store::read_fixture(dir).map_err(|problem| refused(name.clone(), &problem))?;
    let (arguments, hidden) = options.secrets.fill(&written, filled);
    if let Some(pointer) = hidden.first() {
        let problem =
            Problem::new(ProblemKind::Arguments, "not called: an argument is hidden in the fixture").at(pointer.clone());
        return Err(not_called(name, &problem.hint("type its value below the fixture, then verify again")));
    }
    Ok((written.tool.name, arguments))
}

/// What judging needs besides the fixture.
struct Judge {
    options: RedactOptions,
    hosts: Arc<Hosts>,
    filled: Filled,
}

impl Judge {
    /// The verdict, and the two answers where it says no.
    fn verdict(&self, dir: &Path, came: Option<&Capture>, cancel: &Cancel) -> (FixtureVerdict, Option<Box<Sides>>) {
        let name = dir.display().to_string();
        let (written, expect) = match store::read_fixture(dir) {
            Ok(read) => read,
            Err(problem) => return (refused(name, &problem), None),
        };
        // It is kept under the fixture's name.
        let came = came.map(|came| {
            let name = Arc::clone(&written.name);
            Capture { id: CaptureId(Arc::clone(&name)), name, ..came.clone() }
        });
        let verdict = match judge(name.clone(), &written, came.as_ref(), &expect, &self.options, &self.hosts, cancel) {
            Ok(verdict) => verdict,
            Err(Stop::Problem(problem)) => refused(name, &problem),
            Err(Stop::Cancelled(_)) => refused(name, &Problem::new(ProblemKind::Cancelled, "not judged")),
        };
        let sides = came.filter(|_| !verdict.passed()).map(|came| {
            let is_acceptable = can_accept(&verdict, &expect, &came);
            let (kept, came, filled) = (Arc::new(written), Arc::new(came), self.filled.clone());
            Box::new(Sides { kept, came, is_acceptable, filled })
        });
        (verdict, sides)
    }
}

/// The values that were typed are hidden like any other that was given.
fn with_filled(options: &RedactOptions, filled: &[(String, String)]) -> RedactOptions {
    let mut options = options.clone();
    for (pointer, value) in filled {
        options.secrets.add("argument", pointer.trim_start_matches('/'), value);
    }
    options
}

/// From the root on, so that a person sees where it is.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// What is at a place, and the expectations there.
fn there(path: &Path) -> Result<(ExistingFile, Option<String>), Problem> {
    if !path.exists() {
        return Ok((ExistingFile::Nothing, None));
    }
    match store::capture_folders(path) {
        Ok(found) if found.len() == 1 && found[0] == path => Ok((ExistingFile::Fixture, store::read_expectations(path)?)),
        _ => Ok((ExistingFile::Other, None)),
    }
}

fn preview(capture: &Capture, wanted: &Wanted, path: &Path, options: &RedactOptions, cancel: &Cancel) -> Result<Preview, Stop> {
    let path = absolute(path);
    let (there, existing) = there(&path)?;
    let draft = draft(capture, wanted, &options.secrets, existing.as_deref(), cancel)?;
    let files = store::folder_files(&draft.redacted.capture, LOOK).into_iter();
    let files = files.map(|file| FixtureWritten { name: file.name.to_owned(), bytes: file.bytes, begins: file.begins.into() });
    let expectations =
        FixtureWritten { name: expect::FILE.to_owned(), bytes: draft.expect.len() as u64, begins: draft.expect.into() };
    Ok(Preview {
        path,
        files: files.chain([expectations]).collect(),
        exactness: draft.redacted.exactness(),
        found: draft.redacted.found,
        there,
    })
}

/// Writes the fixture, and says whether it is what came.
fn save(
    capture: &Capture,
    wanted: &Wanted,
    path: &Path,
    replaces: bool,
    options: &RedactOptions,
    cancel: &Cancel,
) -> Result<String, Problem> {
    let (there, existing) = there(path)?;
    let is_there = there != ExistingFile::Nothing;
    if is_there && !(replaces && there == ExistingFile::Fixture) {
        let problem = Problem::new(ProblemKind::Io, "the folder already exists").at(path.display().to_string());
        return Err(problem.hint(match there {
            ExistingFile::Fixture => "choose another name, or Replace",
            _ => "choose another name: it is not a fixture, so nothing there is overwritten",
        }));
    }
    let draft = draft(capture, wanted, &options.secrets, existing.as_deref(), cancel).map_err(|error| match error {
        Stop::Problem(problem) => problem,
        Stop::Cancelled(_) => Problem::new(ProblemKind::Cancelled, "not written"),
    })?;
    let files: &[(&str, &[u8])] = &[(expect::FILE, draft.expect.as_bytes())];
    if is_there {
        store::replace_folder(&draft.redacted.capture, files, path)?;
    } else {
        store::write_folder_with(&draft.redacted.capture, files, path)?;
    }
    Ok(draft.redacted.exactness())
}

/// The fixtures at or below a folder, damaged ones included.
fn find(path: &Path, options: &RedactOptions) -> Result<Vec<FoundFixture>, Problem> {
    let found = store::find_folders(path)?;
    if found.is_empty() {
        return Err(Problem::new(ProblemKind::NotFound, "there is no fixture in this folder")
            .at(path.display().to_string())
            .hint("Export ▾ → Fixture… saves one"));
    }
    let read = |dir: PathBuf| {
        let (read, hidden) = match store::read_fixture(&dir) {
            Ok((capture, _)) => {
                let arguments = String::from_utf8_lossy(&capture.arguments).chars().take(SHOWN).collect();
                (Ok((capture.tool.name.clone(), arguments)), options.secrets.fill(&capture, &[]).1)
            }
            Err(problem) => (Err(problem.message()), Vec::new()),
        };
        FoundFixture { dir, read, hidden, verdict: None, sides: None }
    };
    Ok(found.into_iter().map(read).collect())
}
