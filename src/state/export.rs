//! Writing the capture shown as something else, to a file or the clipboard.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Dialog, Effect, FixtureAction, PaneView, PathPurpose, State};
use crate::capture::Capture;
use crate::fixture::export::chart::Bars;
use crate::fixture::export::{Choice, EXPORTS};
use crate::format::{self, Subject};
use crate::host::HostId;
use crate::settings::Theme;
use crate::token::Encoding;

/// What something is exported as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportKind {
    /// The word of one in [`EXPORTS`].
    Export(&'static str),
    /// The exact text of the format with this id.
    Format(&'static str),
    /// The exact text that this host's model is shown.
    Host(HostId),
}

impl ExportKind {
    /// As on the command line.
    pub fn word(self) -> String {
        match self {
            Self::Export(word) | Self::Format(word) => word.to_owned(),
            Self::Host(host) => format!("host:{host}"),
        }
    }

    /// What it is, for the list of exports.
    pub fn choice(self) -> Option<Choice> {
        match self {
            Self::Export(word) => EXPORTS.iter().find(|export| export.kind == word).map(Choice::Export),
            Self::Format(id) => format::by_id(id).map(Choice::Format),
            Self::Host(host) => Some(Choice::Host(host)),
        }
    }

    /// The name people see.
    pub fn title(self) -> String {
        match self.choice() {
            Some(Choice::Export(export)) => export.title.to_owned(),
            Some(Choice::Format(format)) => format.title().to_owned(),
            _ => format!("What {} shows its model", self.word().trim_start_matches("host:")),
        }
    }

    fn needs_fixture(self) -> bool {
        matches!(self.choice(), Some(Choice::Export(export)) if export.needs_fixture())
    }
}

/// What a person does with an export.
#[derive(Clone, Debug, PartialEq)]
pub enum ExportAction {
    Copy(ExportKind),
    /// `None` asks where.
    Save {
        kind: ExportKind,
        path: Option<PathBuf>,
    },
}

/// An export that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportOrder {
    pub capture: Arc<Capture>,
    pub kind: ExportKind,
    /// `None` gives the text back for the clipboard.
    pub path: Option<PathBuf>,
    /// Where the capture was saved as a fixture, for tests that read it.
    pub fixture: Option<PathBuf>,
    pub encoding: Encoding,
    /// What the pane in front shows, and how.
    pub pane: PaneView,
    pub theme: Theme,
}

/// What only the window can paint.
#[derive(Clone, Debug, PartialEq)]
pub enum Picture {
    Chart(Arc<Bars>),
    Pane { capture: Arc<Capture>, shows: PaneView },
}

impl State {
    pub(super) fn export_as(&mut self, action: ExportAction, effects: &mut Vec<Effect>) {
        let Some(capture) = self.capture().cloned() else {
            self.toast("No answer to export yet");
            return;
        };
        let (kind, path) = match action {
            ExportAction::Copy(kind) => (kind, None),
            ExportAction::Save { kind, path: Some(path) } => (kind, Some(path)),
            ExportAction::Save { kind, path: None } if kind.needs_fixture() && !self.fixtures.saved.contains_key(&capture.id) => {
                // The file reads the fixture, so that has to be somewhere first.
                self.perform_fixture(FixtureAction::Show { then: Some(kind) }, effects);
                return;
            }
            ExportAction::Save { kind, path: None } => {
                let name = |choice: Choice| choice.file_name(&Subject::of(Arc::clone(&capture)));
                let text = kind.choice().map_or_else(String::new, name);
                self.dialog = Some(Dialog::Path { purpose: PathPurpose::ExportAs(kind), text });
                return;
            }
        };
        self.dialog = None;
        effects.push(Effect::ExportAs(Box::new(ExportOrder {
            fixture: self.fixtures.saved.get(&capture.id).cloned(),
            capture,
            kind,
            path,
            encoding: self.settings.tokenizer.encoding().unwrap_or(Encoding::O200kBase),
            pane: self.view.shows(self.view.focus),
            theme: self.settings.theme,
        })));
    }
}
