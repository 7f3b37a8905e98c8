//! Fixtures for the window: previewed, saved, found again, called and judged.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::runtime::Runtime;

use super::background::Background;
use super::expanded;
use super::queue::Queue;
use super::sessions::Sessions;
use super::work::{aside, blocking, caught, task};
use crate::state::Event;
use crate::state::fixture::{
    AcceptedAnswer, ExistingFile, Filled, FixtureCall, FixtureEffect, FixtureEvent, FixtureWritten,
    FoundFixture, PlannedFixture, Preview, Sides,
};
use crate::store;
use loupe_analysis::fixture::accept::can_accept;
use loupe_analysis::fixture::draft::draft;
use loupe_analysis::fixture::expect;
use loupe_analysis::fixture::verify::{FixtureVerdict, judge, not_called, refuse};
use loupe_analysis::queries::Stop;
use loupe_core::cancel::Cancel;
use loupe_core::capture::{Capture, CaptureId};
use loupe_core::host::Hosts;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::redact::{RedactOptions, RedactedCapture};

/// Characters of the arguments that are listed.
const SHOWN: usize = 200;

pub(super) struct Fixtures {
    /// The preview that is out; a newer one calls it off.
    preview: Mutex<Cancel>,
    background: Background,
}

impl Fixtures {
    pub(super) fn new(background: Background) -> Self {
        Self {
            preview: Mutex::default(),
            background,
        }
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
            FixtureEffect::Preview { number, fixtures } => {
                let cancel = Cancel::new();
                std::mem::replace(
                    &mut *self.preview.lock().unwrap_or_else(PoisonError::into_inner),
                    cancel.clone(),
                )
                .cancel();
                let failed = move |problem| {
                    Event::Fixture(FixtureEvent::Previewed {
                        number,
                        preview: Err(problem),
                    })
                };
                blocking(runtime.handle(), &queue, failed, move || {
                    let look = LOOK / fixtures.len().max(1);
                    let previews = fixtures
                        .iter()
                        .map(|fixture| preview(fixture, look, &options, &cancel));
                    let preview = match previews.collect::<Result<Vec<_>, _>>() {
                        Ok(previews) => Ok(Arc::new(previews)),
                        Err(Stop::Problem(problem)) => Err(problem),
                        Err(Stop::Cancelled(_)) => return,
                    };
                    push(FixtureEvent::Previewed { number, preview });
                });
            }
            FixtureEffect::Save {
                mut fixtures,
                replaces,
            } => {
                let what = if fixtures.len() == 1 {
                    "Saving the fixture"
                } else {
                    "Saving the fixtures"
                };
                self.background
                    .start(runtime.handle(), &queue, what, move |cancel| {
                        for fixture in &mut fixtures {
                            fixture.path = absolute(&expanded(std::mem::take(&mut fixture.path)));
                            push(FixtureEvent::Recovered(
                                store::recover(&fixture.path).notes(),
                            ));
                        }
                        let saved = caught(|| save_all(&fixtures, replaces, &options, cancel))
                            .and_then(|saved| saved);
                        Ok(Event::Fixture(saved.unwrap_or_else(FixtureEvent::Refused)))
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
            FixtureEffect::Accept {
                at,
                dir,
                verdict,
                sides,
            } => {
                blocking(runtime.handle(), &queue, refused_all, move || {
                    push(
                        match store::keep_answer(
                            &dir,
                            &sides.actual,
                            &with_filled(&options, &sides.filled),
                        ) {
                            Ok(before) => FixtureEvent::Accepted(Box::new(AcceptedAnswer {
                                at,
                                verdict,
                                sides,
                                before,
                            })),
                            Err(problem) => FixtureEvent::Refused(problem),
                        },
                    );
                });
            }
            FixtureEffect::BringBack(before) => {
                blocking(runtime.handle(), &queue, refused_all, move || {
                    for problem in before
                        .iter()
                        .filter_map(|before| store::bring_answer_back(before).err())
                    {
                        push(FixtureEvent::Refused(problem.into()));
                    }
                });
            }
            FixtureEffect::Prepare { run, dirs } => {
                let failed = move |problem| {
                    Event::Fixture(FixtureEvent::Prepared {
                        run,
                        calls: Err(problem),
                    })
                };
                blocking(runtime.handle(), &queue, failed, move || {
                    let calls = dirs
                        .iter()
                        .map(|(dir, filled)| request(dir, filled, &options))
                        .collect();
                    push(FixtureEvent::Prepared {
                        run,
                        calls: Ok(calls),
                    });
                });
            }
            FixtureEffect::Judge {
                run,
                at,
                dir,
                filled,
                came,
            } => {
                let judge = Verifier {
                    options: with_filled(&options, &filled),
                    hosts,
                    filled,
                };
                let name = dir.display().to_string();
                let failed = move |problem| {
                    Event::Fixture(FixtureEvent::Judged {
                        run,
                        at,
                        verdict: refuse(name, &problem),
                        sides: None,
                    })
                };
                blocking(runtime.handle(), &queue, failed, move || {
                    let (verdict, sides) = judge.verdict(&dir, Some(&came), &Cancel::new());
                    push(FixtureEvent::Judged {
                        run,
                        at,
                        verdict,
                        sides,
                    });
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
                        let judge = Verifier {
                            options: with_filled(&options, &filled),
                            hosts: Arc::clone(&hosts),
                            filled,
                        };
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
                        let (verdict, sides) =
                            judged.unwrap_or_else(|problem| (refuse(name, &problem), None));
                        push(FixtureEvent::Judged {
                            run,
                            at,
                            verdict,
                            sides,
                        });
                    }
                    sessions.finish(call);
                    push(FixtureEvent::Done { call });
                });
            }
        }
    }
}

/// So much of each file, of all fixtures together, can be looked at before it is written.
const LOOK: usize = 1 << 20;

/// The tool and the whole arguments of a fixture's call, with the values of what it hides.
///
/// # Errors
/// The verdict where it cannot be called: it is damaged, or a value is missing.
fn request(dir: &Path, filled: &Filled, options: &RedactOptions) -> FixtureCall {
    let name = dir.display().to_string();
    let (written, _) =
        store::read_fixture(dir).map_err(|problem| refuse(name.clone(), &problem))?;
    let (arguments, hidden) = options.secrets.fill(&written, filled);
    if let Some(pointer) = hidden.first() {
        let problem = Problem::new(
            ProblemKind::Arguments,
            "not called: an argument is hidden in the fixture",
        )
        .at(pointer.clone());
        return Err(not_called(
            name,
            &problem.hint("type its value below the fixture, then verify again"),
        ));
    }
    Ok((written.tool.name, arguments))
}

/// What judging needs besides the fixture.
struct Verifier {
    options: RedactOptions,
    hosts: Arc<Hosts>,
    filled: Filled,
}

impl Verifier {
    /// The verdict, and the two answers where it says no.
    fn verdict(
        &self,
        dir: &Path,
        came: Option<&Capture>,
        cancel: &Cancel,
    ) -> (FixtureVerdict, Option<Box<Sides>>) {
        let name = dir.display().to_string();
        let (written, expect) = match store::read_fixture(dir) {
            Ok(read) => read,
            Err(problem) => return (refuse(name, &problem), None),
        };
        // It is kept under the fixture's name.
        let came = came.map(|came| {
            let name = Arc::clone(&written.name);
            Capture {
                id: CaptureId(Arc::clone(&name)),
                name,
                ..came.clone()
            }
        });
        let verdict = match judge(
            name.clone(),
            &written,
            came.as_ref(),
            &expect,
            &self.options,
            &self.hosts,
            cancel,
        ) {
            Ok(verdict) => verdict,
            Err(Stop::Problem(problem)) => refuse(name, &problem),
            Err(Stop::Cancelled(_)) => {
                refuse(name, &Problem::new(ProblemKind::Cancelled, "not judged"))
            }
        };
        let sides = came.filter(|_| !verdict.passed()).map(|came| {
            let is_acceptable = can_accept(&verdict, &expect, &came);
            let (kept, came, filled) = (Arc::new(written), Arc::new(came), self.filled.clone());
            Box::new(Sides {
                expected: kept,
                actual: came,
                is_acceptable,
                filled,
            })
        });
        (verdict, sides)
    }
}

/// The values that were typed are hidden like any other that was given.
fn with_filled(options: &RedactOptions, filled: &[(String, String)]) -> RedactOptions {
    let mut options = options.clone();
    for (pointer, value) in filled {
        options
            .secrets
            .add("argument", pointer.trim_start_matches('/'), value);
    }
    options
}

/// From the root on, so that the user sees where it is.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// What is at a place, and the expectations there.
fn there(path: &Path) -> Result<(ExistingFile, Option<String>), Problem> {
    if !path.exists() {
        return Ok((ExistingFile::Nothing, None));
    }
    match store::capture_folders(path) {
        Ok(found) if found.len() == 1 && found[0] == path => {
            Ok((ExistingFile::Fixture, store::read_expectations(path)?))
        }
        _ => Ok((ExistingFile::Other, None)),
    }
}

fn preview(
    fixture: &PlannedFixture,
    look: usize,
    options: &RedactOptions,
    cancel: &Cancel,
) -> Result<Preview, Stop> {
    let path = absolute(&expanded(fixture.path.clone()));
    let (there, existing) = there(&path)?;
    let draft = draft(
        &fixture.capture,
        &fixture.wanted,
        &options.secrets,
        existing.as_deref(),
        cancel,
    )?;
    let files = store::folder_files(&draft.redacted.capture, look).into_iter();
    let files = files.map(|file| FixtureWritten {
        name: file.name.to_owned(),
        bytes: file.bytes,
        begins: file.begins.into(),
    });
    let expectations = FixtureWritten {
        name: expect::FILE.to_owned(),
        bytes: draft.expect.len() as u64,
        begins: draft.expect.into(),
    };
    Ok(Preview {
        path,
        files: files.chain([expectations]).collect(),
        exactness: draft.redacted.exactness(),
        found: draft.redacted.found,
        there,
    })
}

/// Writes the fixtures where all places allow it, and says whether they are what came.
fn save_all(
    fixtures: &[PlannedFixture],
    replaces: bool,
    options: &RedactOptions,
    cancel: &Cancel,
) -> Result<FixtureEvent, Problem> {
    for fixture in fixtures {
        place(&fixture.path, replaces)?;
    }
    let mut written = Vec::new();
    for fixture in fixtures {
        let saved =
            save(fixture, replaces, options, cancel).map_err(|problem| match written.len() {
                0 => problem,
                before => Problem {
                    what: format!(
                        "{before} of {} were saved, then: {}",
                        fixtures.len(),
                        problem.what
                    ),
                    ..problem
                },
            })?;
        written.push(saved);
    }
    let summary = match &written[..] {
        [one] => one.exactness(),
        several => match several.iter().filter(|one| !one.is_exact()).count() {
            0 => "byte for byte as sent and received".to_owned(),
            changed => format!("{changed} of them not byte for byte as received"),
        },
    };
    let fixtures = fixtures
        .iter()
        .map(|fixture| (fixture.capture.id.clone(), fixture.path.clone()))
        .collect();
    Ok(FixtureEvent::Saved { fixtures, summary })
}

/// What is at a place that may be written: whether anything is, and its expectations.
fn place(path: &Path, replaces: bool) -> Result<(bool, Option<String>), Problem> {
    let (there, existing) = there(path)?;
    let is_there = there != ExistingFile::Nothing;
    if is_there && !(replaces && there == ExistingFile::Fixture) {
        let problem = Problem::new(ProblemKind::Io, "the folder already exists")
            .at(path.display().to_string());
        return Err(problem.hint(match there {
            ExistingFile::Fixture => "choose another name, or Replace",
            _ => "choose another name: it is not a fixture, so nothing there is overwritten",
        }));
    }
    Ok((is_there, existing))
}

fn save(
    fixture: &PlannedFixture,
    replaces: bool,
    options: &RedactOptions,
    cancel: &Cancel,
) -> Result<RedactedCapture, Problem> {
    let (is_there, existing) = place(&fixture.path, replaces)?;
    let draft = draft(
        &fixture.capture,
        &fixture.wanted,
        &options.secrets,
        existing.as_deref(),
        cancel,
    );
    let draft = draft.map_err(|error| match error {
        Stop::Problem(problem) => problem,
        Stop::Cancelled(_) => Problem::new(ProblemKind::Cancelled, "not written"),
    })?;
    let files: &[(&str, &[u8])] = &[(expect::FILE, draft.expect.as_bytes())];
    if is_there {
        store::replace_folder(&draft.redacted.capture, files, &fixture.path)?;
    } else {
        store::write_folder_with(&draft.redacted.capture, files, &fixture.path)?;
    }
    Ok(draft.redacted)
}

/// The fixtures at or below a folder, damaged ones included.
fn find(path: &Path, options: &RedactOptions) -> Result<Vec<FoundFixture>, Problem> {
    let found = store::find_folders(path)?;
    if found.is_empty() {
        return Err(
            Problem::new(ProblemKind::NotFound, "there is no fixture in this folder")
                .at(path.display().to_string())
                .hint("Export ▾ → Fixture… saves one"),
        );
    }
    let read = |dir: PathBuf| {
        let (read, hidden) = match store::read_fixture(&dir) {
            Ok((capture, _)) => {
                let arguments = String::from_utf8_lossy(&capture.arguments)
                    .chars()
                    .take(SHOWN)
                    .collect();
                (
                    Ok((capture.tool.name.clone(), arguments)),
                    options.secrets.fill(&capture, &[]).1,
                )
            }
            Err(problem) => (Err(problem.message()), Vec::new()),
        };
        FoundFixture {
            dir,
            read,
            hidden,
            verdict: None,
            sides: None,
        }
    };
    Ok(found.into_iter().map(read).collect())
}
