//! What was taken away a moment ago, and can be brought back for a while.

use std::sync::Arc;
use std::time::Duration;

use super::{Effect, HistoryEffect, PaneView, SessionId, State};
use crate::history::{HistoryId, HistoryLimits};
use loupe_core::capture::{Capture, CaptureId};
use loupe_core::settings::Panels;
use loupe_core::source::{Recent, ServerMemory};

/// How long it can be brought back.
const UNDO_FOR: Duration = Duration::from_secs(10);

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Undo {
    /// What was done, in a sentence without a full stop.
    pub what: String,
    since: Duration,
    step: UndoStep,
}

/// What brings it back.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum UndoStep {
    Captures {
        /// With its place in the list, in that order.
        removed: Vec<(usize, Arc<Capture>)>,
        /// That which was shown.
        shown: Option<CaptureId>,
    },
    Kept(HistoryId),
    Server {
        at: usize,
        recent: Box<Recent>,
        memory: Option<Box<(String, ServerMemory)>>,
    },
    Arguments {
        key: String,
        tool: String,
        name: String,
        text: String,
    },
    Form {
        session: SessionId,
        tool: String,
        text: String,
    },
    /// The new answers of fixtures that were accepted last.
    Answers,
    Layout {
        panels: Panels,
        panes: [PaneView; 3],
        open: [bool; 3],
    },
}

impl State {
    /// Offers to undo what was just done; what was offered before cannot be undone any more.
    pub(super) fn offer_undo(&mut self, what: String, step: UndoStep) {
        self.undo = Some(Undo {
            what,
            since: self.now,
            step,
        });
    }

    pub(super) fn forget_undo(&mut self) {
        self.undo
            .take_if(|undo| self.now.saturating_sub(undo.since) >= UNDO_FOR);
    }

    pub(super) fn undo(&mut self, effects: &mut Vec<Effect>) {
        let Some(undo) = self.undo.take() else { return };
        match undo.step {
            UndoStep::Captures { removed, shown } => self.restore_captures(removed, shown.as_ref()),
            UndoStep::Kept(id) => {
                let list = HistoryEffect::List {
                    keep: HistoryLimits { days: 0, bytes: 0 },
                };
                effects.extend([HistoryEffect::PutBack(id), list].map(Effect::History));
            }
            UndoStep::Server { at, recent, memory } => {
                let at = at.min(self.importing.recent.len());
                self.importing.recent.insert(at, *recent);
                self.save_recent(effects);
                if let Some(forgotten) = memory {
                    let (key, memory) = *forgotten;
                    self.restore_server(key, memory, effects);
                }
            }
            UndoStep::Arguments {
                key,
                tool,
                name,
                text,
            } => self.restore_arguments_of(&key, tool, name, text, effects),
            UndoStep::Form {
                session,
                tool,
                text,
            } => {
                if let Some(session) = self.sessions.get_mut(session) {
                    session.select_tool(&tool, None);
                    session.edit_form(|form| form.set_text(&text));
                }
            }
            UndoStep::Answers => self.restore_answers(effects),
            UndoStep::Layout {
                panels,
                panes,
                open,
            } => {
                self.settings.panels = panels;
                (self.view.panes, self.view.open) = (panes, open);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{Action, ImportAction, ServersAction, SettingsAction, ViewAction};
    use loupe_core::settings::PanelSize;

    fn perform(state: &mut State, action: impl Into<Action>) -> Vec<Effect> {
        let mut effects = Vec::new();
        state.perform(action, &mut effects);
        effects
    }

    #[test]
    fn a_layout_that_was_reset_comes_back_for_ten_seconds() {
        let mut state = State::default();
        perform(
            &mut state,
            SettingsAction::KeepPanel(PanelSize::Drawer(300)),
        );
        perform(
            &mut state,
            ViewAction::SetPane {
                pane: 0,
                shows: PaneView::Tree,
            },
        );
        perform(&mut state, ViewAction::TogglePane(2));
        let before = (state.settings.panels, state.view.panes, state.view.open);
        perform(&mut state, SettingsAction::ResetLayout);
        assert_eq!(
            (state.settings.panels, state.view.panes),
            (Panels::default(), PaneView::FIRST)
        );
        perform(&mut state, Action::Undo);
        assert_eq!(
            (state.settings.panels, state.view.panes, state.view.open),
            before
        );
        perform(&mut state, SettingsAction::ResetLayout);
        state.tick(UNDO_FOR);
        perform(&mut state, Action::Undo);
        assert_eq!(state.settings.panels, Panels::default());
    }

    #[test]
    fn a_server_and_arguments_that_were_removed_come_back() {
        let mut state = crate::state::servers::tests::remembering();
        perform(&mut state, ServersAction::KeepArguments("usual".into()));
        let kept = state.tool_arguments().cloned();
        perform(&mut state, ServersAction::ForgetArguments("usual".into()));
        assert!(
            state
                .tool_arguments()
                .is_some_and(|known| known.named.is_empty())
        );
        assert!(
            !perform(&mut state, Action::Undo).is_empty(),
            "it is written as well"
        );
        assert_eq!(state.tool_arguments().cloned(), kept);
        state.importing.recent = state
            .session()
            .connection
            .source()
            .and_then(|source| Recent::new(source, None))
            .into_iter()
            .collect();
        let (recent, memory) = (state.importing.recent.clone(), state.memory().cloned());
        assert!(memory.is_some() && recent.len() == 1);
        perform(&mut state, Action::Import(ImportAction::Forget(0)));
        assert!(state.importing.recent.is_empty() && state.memory().is_none());
        perform(&mut state, Action::Undo);
        assert_eq!(
            (state.importing.recent.clone(), state.memory().cloned()),
            (recent, memory)
        );
    }

    #[test]
    fn a_form_that_was_cleared_comes_back() {
        let mut state = crate::state::servers::tests::remembering();
        perform(
            &mut state,
            crate::state::CallAction::SetArgumentsText(r#"{"city":"Bonn"}"#.into()),
        );
        perform(&mut state, crate::state::CallAction::ClearArguments);
        assert_eq!(
            state.form().map(|form| form.text.to_string()).as_deref(),
            Some("{}")
        );
        perform(&mut state, Action::Undo);
        assert_eq!(
            state.form().map(|form| form.text.to_string()).as_deref(),
            Some(r#"{"city":"Bonn"}"#)
        );
    }

    #[test]
    fn captures_that_were_removed_come_back_to_their_places() {
        let mut state = State::default();
        let id = |name: &str| CaptureId(name.into());
        for name in ["a", "b", "c", "d"] {
            state.add_capture(Arc::new(Capture::empty(
                id(name),
                loupe_core::capture::Server::default(),
            )));
        }
        let listed = |state: &State| {
            state
                .captures
                .iter()
                .map(|capture| capture.id.0.to_string())
                .collect::<String>()
        };
        let shown = |state: &State| state.view.capture.as_ref().map(|shown| shown.0.to_string());
        perform(&mut state, ViewAction::RemoveCaptures(vec![id("d")]));
        assert_eq!(
            (listed(&state), shown(&state).as_deref()),
            ("abc".to_owned(), Some("c")),
            "the one before is shown"
        );
        perform(&mut state, Action::Undo);
        assert_eq!(
            (listed(&state), shown(&state).as_deref()),
            ("abcd".to_owned(), Some("d"))
        );
        perform(&mut state, ViewAction::SelectCapture(id("b")));
        perform(
            &mut state,
            ViewAction::RemoveCaptures(vec![id("a"), id("b"), id("d"), id("no such")]),
        );
        assert_eq!(
            (listed(&state), shown(&state).as_deref()),
            ("c".to_owned(), Some("c"))
        );
        assert_eq!(
            state.undo.as_ref().map(|undo| &*undo.what),
            Some("Removed 3 answers")
        );
        perform(&mut state, Action::Undo);
        assert_eq!(
            (listed(&state), shown(&state).as_deref()),
            ("abcd".to_owned(), Some("b"))
        );
        perform(
            &mut state,
            ViewAction::RemoveCaptures(["a", "b", "c", "d"].map(id).to_vec()),
        );
        assert_eq!(
            (listed(&state), state.view.screen),
            (String::new(), crate::state::Screen::Start)
        );
    }
}
