//! Recording a client's server through `mcp-loupe tap`: the change of its configuration is shown, and written on a click.

use std::fmt;
use std::path::PathBuf;

use super::{Dialog, Effect, ImportEffect, State};
use loupe_core::source::import::wrap::{WrapKind, is_wrapped};

/// A change of a client's configuration, as it is shown before it is written.
#[derive(Clone, PartialEq, Eq)]
pub struct PreparedWrap {
    pub kind: WrapKind,
    /// The server's name in the file.
    pub server: String,
    pub path: PathBuf,
    /// The file's text as it is and as it becomes; never shown.
    pub before: String,
    pub after: String,
    /// The lines that change, secrets hidden.
    pub difference: Vec<String>,
    pub backup: PathBuf,
    /// What else to know, sentences.
    pub notes: Vec<String>,
}

/// The server and the file; the texts have secrets.
impl fmt::Debug for PreparedWrap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        write!(f, "{:?} `{}` in {path}", self.kind, self.server)
    }
}

impl State {
    /// Asks for the change that records the server that is looked at, or stops that.
    pub(super) fn prepare_wrap(&self, effects: &mut Vec<Effect>) {
        let understood = self.importing.understood.as_ref();
        let chosen =
            understood.and_then(|understood| Some((understood.entry()?, understood.path.clone()?)));
        if let Some((entry, path)) = chosen {
            let kind = if is_wrapped(entry) {
                WrapKind::Unwrap
            } else {
                WrapKind::Wrap
            };
            effects.push(Effect::Import(ImportEffect::PrepareWrap {
                kind,
                server: entry.name.clone(),
                path,
            }));
        }
    }

    /// Shows the change, unless something else was asked meanwhile.
    pub(super) fn wrap_prepared(&mut self, prepared: Box<PreparedWrap>) {
        if self.dialog.is_none() {
            self.dialog = Some(Dialog::Wrap(prepared));
        }
    }

    /// Writes the change that is shown.
    pub(super) fn write_wrap(&mut self, effects: &mut Vec<Effect>) {
        match self.dialog.take() {
            Some(Dialog::Wrap(prepared)) => {
                effects.push(Effect::Import(ImportEffect::WriteWrap(prepared)));
            }
            other => self.dialog = other,
        }
    }

    /// Says what was written, and reads the file again.
    pub(super) fn wrap_written(&mut self, written: &PreparedWrap, effects: &mut Vec<Effect>) {
        let server = &written.server;
        let words = match written.kind {
            WrapKind::Wrap => format!("{server} is recorded once its client is restarted"),
            WrapKind::Unwrap => format!("{server} is recorded until its client is restarted"),
        };
        self.toast(&words);
        self.importing.read_again(written.server.clone());
        effects.push(Effect::Import(ImportEffect::ReadConfig(
            written.path.clone(),
        )));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{Action, Event, ImportAction, ImportEvent};
    use loupe_core::source::import;

    fn perform(state: &mut State, action: ImportAction) -> Vec<Effect> {
        let mut effects = Vec::new();
        state.perform(Action::Import(action), &mut effects);
        effects
    }

    fn apply(state: &mut State, event: ImportEvent) -> Vec<Effect> {
        let mut effects = Vec::new();
        state.apply(Event::Import(event), &mut effects);
        effects
    }

    #[test]
    fn a_change_is_shown_and_written_on_a_click() {
        let mut state = State::default();
        assert!(perform(&mut state, ImportAction::PrepareWrap).is_empty());
        let path = PathBuf::from("/home/me/mcp.json");
        let text = r#"{"mcpServers":{"docs":{"command":"x","env":{"KEY":"s3cret"}}}}"#;
        let read = import::read("mcp.json", text);
        apply(
            &mut state,
            ImportEvent::Read {
                path: path.clone(),
                read,
            },
        );
        let effects = perform(&mut state, ImportAction::PrepareWrap);
        assert!(
            matches!(&effects[..], [Effect::Import(ImportEffect::PrepareWrap { kind: WrapKind::Wrap, server, .. })] if server == "docs")
        );
        assert!(
            perform(&mut state, ImportAction::Wrap).is_empty(),
            "nothing was shown"
        );
        let prepared = PreparedWrap {
            kind: WrapKind::Wrap,
            server: "docs".into(),
            path: path.clone(),
            before: text.into(),
            after: text.into(),
            difference: Vec::new(),
            backup: "/home/me/mcp.json.before-loupe".into(),
            notes: Vec::new(),
        };
        assert!(!format!("{prepared:?}").contains("s3cret"));
        apply(
            &mut state,
            ImportEvent::WrapPrepared(Box::new(prepared.clone())),
        );
        assert!(matches!(&state.dialog, Some(Dialog::Wrap(shown)) if **shown == prepared));
        let effects = perform(&mut state, ImportAction::Wrap);
        assert!(
            matches!(&effects[..], [Effect::Import(ImportEffect::WriteWrap(written))] if **written == prepared)
        );
        assert_eq!(state.dialog, None);
        let effects = apply(&mut state, ImportEvent::WrapWritten(Box::new(prepared)));
        assert!(
            matches!(&effects[..], [Effect::Import(ImportEffect::ReadConfig(again))] if *again == path)
        );
        // The wrapped entry offers the way back.
        let text = r#"{"mcpServers":{"a":{"command":"y"},"docs":{"command":"/bin/mcp-loupe","args":["tap","--","x"]}}}"#;
        let read = import::read("mcp.json", text);
        apply(&mut state, ImportEvent::Read { path, read });
        let effects = perform(&mut state, ImportAction::PrepareWrap);
        assert!(
            matches!(&effects[..], [Effect::Import(ImportEffect::PrepareWrap { kind: WrapKind::Unwrap, server, .. })] if server == "docs")
        );
    }
}
