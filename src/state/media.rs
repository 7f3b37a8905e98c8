//! Blocks that are no text: which pictures are shown, where their bytes are saved, and what links are read from.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::{Dialog, Effect, ExportEffect, PathPurpose, SessionId, State};
use loupe_core::capture::{BlockKind, Capture, CaptureId, ParsedResponse};

/// What is shown of them, and where answers came from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Media {
    /// Pictures that the user asked to see: capture, and position in `content`.
    shown: BTreeSet<(CaptureId, usize)>,
    /// The session that a result came through; what was opened from a file has none.
    sessions: BTreeMap<CaptureId, SessionId>,
}

/// What the user does with a block.
#[derive(Clone, Debug, PartialEq)]
pub enum MediaAction {
    /// Decodes and shows the picture at this position in `content`, or no longer.
    Show(usize, bool),
    /// Saves the decoded bytes; `None` asks where.
    Save { block: usize, path: Option<PathBuf> },
    /// Reads a resource through the session.
    Read(String),
}

impl State {
    /// Whether the picture at this position of the result shown was asked for.
    pub fn is_media_shown(&self, block: usize) -> bool {
        self.view
            .capture
            .as_ref()
            .is_some_and(|capture| self.media.shown.contains(&(capture.clone(), block)))
    }

    pub(super) fn perform_media(&mut self, action: MediaAction, effects: &mut Vec<Effect>) {
        match action {
            MediaAction::Show(block, is_shown) => {
                let Some(capture) = self.view.capture.clone() else {
                    return;
                };
                if is_shown {
                    self.media.shown.insert((capture, block));
                } else {
                    self.media.shown.remove(&(capture, block));
                }
            }
            MediaAction::Save { block, path: None } => {
                let Some(capture) = self.capture() else {
                    return;
                };
                let text = file_name(capture, block);
                self.dialog = Some(Dialog::Path {
                    purpose: PathPurpose::SaveBlock(block),
                    text,
                });
            }
            MediaAction::Save {
                block,
                path: Some(path),
            } => {
                let Some(capture) = self.capture().cloned() else {
                    return;
                };
                self.dialog = None;
                effects.push(Effect::Export(ExportEffect::Block {
                    capture,
                    block,
                    path,
                }));
            }
            MediaAction::Read(uri) => {
                self.dialog = None;
                self.read_uri(&uri, effects);
            }
        }
    }

    /// Notes the session that a result came through.
    pub(super) fn came_through(&mut self, session: SessionId, capture: &CaptureId) {
        self.media.sessions.insert(capture.clone(), session);
    }

    /// Why what the result shown links to cannot be read now; `None` where it can.
    pub fn unreadable(&self) -> Option<&'static str> {
        let session = self
            .view
            .capture
            .as_ref()
            .and_then(|capture| self.media.sessions.get(capture));
        match session {
            None => Some(
                "Not read: this answer was opened from a file, so there is no server to read it from",
            ),
            Some(session)
                if self
                    .sessions
                    .get(*session)
                    .is_none_or(|session| !session.connection.is_connected()) =>
            {
                Some("Session ended. Reconnect and call again")
            }
            Some(session) if !self.sessions.is_current(*session) => {
                Some("Result of another server. Switch to it first")
            }
            Some(_) if self.running.is_some() => {
                Some("Call in progress. Try again when it has ended")
            }
            Some(_) => None,
        }
    }
}

/// A name for the file: the last part of the address, else the tool with the position.
fn file_name(capture: &Capture, index: usize) -> String {
    let reading = ParsedResponse::new(capture);
    let Some(block) = reading.blocks.get(index) else {
        return String::new();
    };
    let last = block
        .uri
        .as_deref()
        .and_then(|uri| uri.split(['?', '#']).next()?.rsplit('/').next());
    if let Some(name) = last
        .filter(|name| name.contains('.') && !name.starts_with('.') && !name.contains(['\\', '\0']))
    {
        return name.to_owned();
    }
    let extension = match block.mime_type.as_deref().unwrap_or_default() {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "audio/wav" | "audio/x-wav" | "audio/wave" => "wav",
        "audio/mpeg" => "mp3",
        "audio/ogg" => "ogg",
        "audio/flac" | "audio/x-flac" => "flac",
        "application/pdf" => "pdf",
        _ => "bin",
    };
    let kind = match block.kind {
        BlockKind::Image => "image",
        BlockKind::Audio => "audio",
        _ => "block",
    };
    format!(
        "{}-{kind}-{index}.{extension}",
        capture.tool.name.replace('/', "-")
    )
}
