//! Writing an export of a capture, off the threads that paint and wait. Pictures are prepared here and painted by the app.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::runtime::Runtime;

use super::{Engine, expanded, server_messages};
use crate::state::{Event, ExportEffect, ExportEvent, ExportOrder, ExportPicture, HistoryEvent};
use crate::store;
use loupe_analysis::contract::ComparisonFile;
use loupe_analysis::fixture::export::{ExportChoice, ExportForm, Material, Place};
use loupe_analysis::queries::comparison::ComparisonQuery;
use loupe_analysis::queries::{self, Stop};
use loupe_core::cancel::Cancel;
use loupe_core::capture::{Capture, ParsedResponse};
use loupe_core::host::Hosts;
use loupe_core::problem::{Problem, ProblemKind};

impl Engine {
    pub(super) fn execute_export(&self, runtime: &Runtime, effect: ExportEffect) {
        match effect {
            ExportEffect::Log { lines, path } => {
                let (queue, options) = (Arc::clone(&self.queue), self.history.options());
                self.background.start(
                    runtime.handle(),
                    &self.queue,
                    "Saving the protocol log",
                    move |cancel| {
                        let path = expanded(path);
                        let notes = server_messages::save_log(&lines, &path, &options, cancel)?;
                        notes
                            .into_iter()
                            .for_each(|note| queue.push(Event::History(HistoryEvent::Note(note))));
                        Ok(Event::Export(ExportEvent::Saved(path)))
                    },
                );
            }
            ExportEffect::Write(order) => {
                let hosts = self.jobs.hosts();
                let captures = std::iter::once(&order.capture)
                    .chain(&order.samples)
                    .cloned()
                    .collect();
                self.write_hidden(
                    runtime,
                    "Writing the export",
                    captures,
                    move |hidden, cancel| {
                        write(
                            &hidden,
                            &order,
                            order.path.clone().map(expanded),
                            &hosts,
                            cancel,
                        )
                    },
                );
            }
            ExportEffect::Compare {
                captures,
                ask,
                file,
                path,
            } => {
                let hosts = self.jobs.hosts();
                self.write_hidden(
                    runtime,
                    "Writing the comparison",
                    captures,
                    move |hidden, cancel| {
                        write_compare(hidden, &ask, file, path.map(expanded), &hosts, cancel)
                    },
                );
            }
            ExportEffect::Table { capture, text } => self.blocking(runtime, move || {
                Ok(Event::Export(ExportEvent::Text(
                    text.write(&queries::subject(capture))?,
                )))
            }),
            ExportEffect::Block {
                capture,
                block,
                path,
            } => {
                self.write_hidden(
                    runtime,
                    "Saving the block",
                    vec![capture],
                    move |hidden, cancel| {
                        put(
                            Some(expanded(path)),
                            &ParsedResponse::new(&hidden[0]).block_bytes(block)?,
                            cancel,
                        )
                    },
                );
            }
        }
    }
}

/// Writes the export of the first of `captures`, which are the order's without what is hidden, to `path`, or gives its text
/// back for the clipboard. The others are samples of the same tool.
pub(super) fn write(
    captures: &[Arc<Capture>],
    order: &ExportOrder,
    path: Option<PathBuf>,
    hosts: &Hosts,
    cancel: &Cancel,
) -> Result<Event, Problem> {
    let place = match (&order.fixture, &path) {
        (Some(fixture), Some(path)) => store::place(fixture, path),
        _ => Place::default(),
    };
    let samples: Vec<_> = captures.iter().cloned().map(queries::subject).collect();
    let (subject, capture) = (&samples[0], &captures[0]);
    let material = Material {
        subject,
        samples: &samples,
        hosts,
        encoding: order.encoding,
        reads: order.reads,
        place: &place,
    };
    if let ExportChoice::Export(export) = order.kind {
        let picture = |picture| {
            Event::Export(ExportEvent::Picture {
                picture,
                theme: order.theme,
                path: path.clone(),
            })
        };
        match (&export.form, &path) {
            (ExportForm::Picture(drawn), _) => {
                return Ok(picture(ExportPicture::Drawing(Arc::new(
                    drawn(&material, cancel).map_err(called_off)?,
                ))));
            }
            (ExportForm::Pane, _) => {
                return Ok(picture(ExportPicture::Pane {
                    capture: Arc::clone(capture),
                    shows: order.pane,
                }));
            }
            (ExportForm::Folder, Some(path)) => {
                cancel.check().map_err(called_off)?;
                store::write_folder(capture, path)?;
                return Ok(Event::Export(ExportEvent::Saved(path.clone())));
            }
            (ExportForm::Folder, None) | (ExportForm::File(_), _) => {}
        }
    }
    let bytes = order.kind.write(&material, cancel).map_err(called_off)?;
    put(path, &bytes, cancel)
}

/// The same of a comparison; `captures` are its calls in the order of the values of `ask`.
pub(super) fn write_compare(
    captures: Vec<Arc<Capture>>,
    ask: &ComparisonQuery,
    file: ComparisonFile,
    path: Option<PathBuf>,
    hosts: &Hosts,
    cancel: &Cancel,
) -> Result<Event, Problem> {
    let subjects: Vec<_> = captures.into_iter().map(queries::subject).collect();
    let text = file
        .write(&subjects, ask, hosts, cancel)
        .map_err(called_off)?;
    put(path, text.as_bytes(), cancel)
}

fn called_off(stop: impl Into<Stop>) -> Problem {
    match stop.into() {
        Stop::Cancelled(_) => Problem::new(ProblemKind::Cancelled, "the export was called off"),
        Stop::Problem(problem) => problem,
    }
}

/// Writes what was made, unless it was called off meanwhile.
pub(super) fn put(path: Option<PathBuf>, bytes: &[u8], cancel: &Cancel) -> Result<Event, Problem> {
    cancel.check().map_err(called_off)?;
    match path {
        Some(path) => {
            make_folder(&path)?;
            store::write_whole(&path, bytes)?;
            Ok(Event::Export(ExportEvent::Saved(path)))
        }
        None => Ok(Event::Export(ExportEvent::Text(
            String::from_utf8_lossy(bytes)
                .trim_end_matches('\n')
                .to_owned(),
        ))),
    }
}

/// The folder that a file goes into, where a test's is not there yet.
fn make_folder(path: &Path) -> Result<(), Problem> {
    let Some(parent) = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty() && !parent.exists())
    else {
        return Ok(());
    };
    std::fs::create_dir_all(parent).map_err(|error| {
        Problem::new(
            ProblemKind::Io,
            format!("cannot create the folder: {error}"),
        )
        .at(parent.display().to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_called_off_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new").join("verdict.md");
        let cancel = Cancel::new();
        cancel.cancel();
        let problem = put(Some(path.clone()), b"late", &cancel).unwrap_err();
        assert_eq!(problem.kind, ProblemKind::Cancelled);
        assert!(!folder.path().join("new").exists());
        put(Some(path.clone()), b"in time", &Cancel::new()).unwrap();
        assert_eq!(std::fs::read(path).unwrap(), b"in time");
    }
}
