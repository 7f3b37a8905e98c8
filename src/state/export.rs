//! Writing the capture shown as something else, to a file or the clipboard.

use std::path::PathBuf;
use std::sync::Arc;

use super::{
    AppEffect, Dialog, Effect, ExportEffect, ExportEvent, FixtureAction, PaneView, PathPurpose,
    State,
};
use loupe_analysis::fixture::export::{Drawing, ExportChoice};
use loupe_core::capture::Capture;
use loupe_core::format::ParsedCapture;
use loupe_core::host::ReadChoice;
use loupe_core::settings::Theme;
use loupe_core::token::Encoding;

/// What the user does with an export.
#[derive(Clone, Debug, PartialEq)]
pub enum ExportAction {
    Copy(ExportChoice),
    /// `None` asks where.
    Save {
        kind: ExportChoice,
        path: Option<PathBuf>,
    },
}

impl ExportAction {
    /// Saves where is asked then.
    pub fn save(kind: ExportChoice) -> Self {
        Self::Save { kind, path: None }
    }
}

/// An export that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportOrder {
    pub capture: Arc<Capture>,
    /// The other captures of its tool, for what is made of several.
    pub samples: Vec<Arc<Capture>>,
    pub kind: ExportChoice,
    /// `None` gives the text back for the clipboard.
    pub path: Option<PathBuf>,
    /// Where the capture was saved as a fixture, for tests that read it.
    pub fixture: Option<PathBuf>,
    pub encoding: Encoding,
    /// The host whose text counts as what is sent.
    pub reads: ReadChoice,
    /// What the pane in front shows, and how.
    pub pane: PaneView,
    pub theme: Theme,
}

/// What only the window can paint.
#[derive(Clone, Debug, PartialEq)]
pub enum ExportPicture {
    Drawing(Arc<Drawing>),
    Pane {
        capture: Arc<Capture>,
        shows: PaneView,
    },
}

impl State {
    pub(super) fn export_event(&mut self, event: ExportEvent, effects: &mut Vec<Effect>) {
        match event {
            ExportEvent::Saved(path) => self.toast(&format!("Saved {}", path.display())),
            ExportEvent::Text(text) => self.copy(text, effects),
            ExportEvent::Picture {
                picture,
                theme,
                path,
            } => {
                effects.push(Effect::App(AppEffect::Paint {
                    picture,
                    theme,
                    path,
                }));
            }
            ExportEvent::PictureCopied => self.toast("Copied"),
        }
    }

    pub(super) fn export_as(&mut self, action: ExportAction, effects: &mut Vec<Effect>) {
        let Some(capture) = self.capture().cloned() else {
            self.toast("No answer to export yet");
            return;
        };
        let (kind, path) = match action {
            ExportAction::Copy(kind) => (kind, None),
            ExportAction::Save {
                kind,
                path: Some(path),
            } => (kind, Some(path)),
            ExportAction::Save { kind, path: None }
                if kind.needs_fixture() && !self.fixtures.saved.contains_key(&capture.id) =>
            {
                // The file reads the fixture, so that has to be somewhere first.
                self.perform_fixture(FixtureAction::Show { then: Some(kind) }, effects);
                return;
            }
            ExportAction::Save { kind, path: None } => {
                let text = kind.file_name(&ParsedCapture::new(Arc::clone(&capture)));
                self.dialog = Some(Dialog::Path {
                    purpose: PathPurpose::ExportAs(kind),
                    text,
                });
                return;
            }
        };
        self.dialog = None;
        let is_sample = |other: &Capture| {
            kind == ExportChoice::OUTPUT_SCHEMA
                && other.id != capture.id
                && (&other.server.name, &other.tool.name)
                    == (&capture.server.name, &capture.tool.name)
        };
        effects.push(Effect::Export(ExportEffect::Write(Box::new(ExportOrder {
            fixture: self.fixtures.saved.get(&capture.id).cloned(),
            samples: self
                .captures
                .iter()
                .filter(|other| is_sample(other))
                .cloned()
                .collect(),
            capture: Arc::clone(&capture),
            kind,
            path,
            encoding: self
                .settings
                .tokenizer
                .encoding()
                .unwrap_or(Encoding::O200kBase),
            reads: self.read_choice(),
            pane: self.view.shows(self.view.focus),
            theme: self.settings.theme,
        }))));
    }
}
