//! The history in the window: what was kept by earlier runs, found again, opened, removed and brought back.
//!
//! Nothing is kept until a folder is named: the app does, tests and pictures do not.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use super::undo::UndoStep;
use super::{Effect, State};
use crate::history::{Entry, Health, HistoryId, HistoryLimits, HistoryQuery};
use loupe_core::capture::{Capture, CaptureId};
use loupe_core::problem::{Problem, ProblemKind};

/// What the user does with the history.
#[derive(Clone, Debug, PartialEq)]
pub enum HistoryAction {
    /// Keep every call in this data folder, and show what is there.
    Use(PathBuf),
    /// Whether calls are kept from here on.
    SetOn(bool),
    /// Limits while they are typed.
    EditLimits(Option<HistoryLimits>),
    /// How much is kept from here on; what is beyond goes at once.
    SetLimits(HistoryLimits),
    Search(String),
    Open(HistoryId),
    /// Open it and put its arguments into the form, to call again.
    Again(HistoryId),
    Remove(HistoryId),
}

/// What is to be done with the folder of the history.
#[derive(Clone, Debug, PartialEq)]
pub enum HistoryEffect {
    /// Let go of what the limits do not allow, then list.
    List {
        keep: HistoryLimits,
    },
    /// Hide what is secret, then keep.
    Keep(Arc<Capture>),
    Search {
        number: u64,
        entries: Arc<[Entry]>,
        query: HistoryQuery,
    },
    Open(HistoryId),
    /// What was removed before is deleted then.
    Remove(HistoryId),
    /// Put back what was removed last.
    PutBack(HistoryId),
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub enum HistoryEvent {
    Listed {
        entries: Vec<Entry>,
        notes: Vec<String>,
    },
    /// A call of this run is kept.
    Kept {
        capture: CaptureId,
        entry: Box<Entry>,
    },
    Found {
        number: u64,
        ids: Vec<HistoryId>,
    },
    Opened {
        id: HistoryId,
        capture: Arc<Capture>,
    },
    Removed(HistoryId),
    /// What was hidden in what was written.
    Note(String),
}

/// What the window knows of the history.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HistoryState {
    /// The data folder; `None` where nothing is kept.
    pub folder: Option<PathBuf>,
    pub is_on: bool,
    /// Whether the user wants no call kept, in this run and later ones.
    pub is_off: bool,
    pub keep: HistoryLimits,
    pub limits: Option<HistoryLimits>,
    /// Newest first.
    pub entries: Arc<[Entry]>,
    /// What the user typed to find captures.
    pub search: String,
    /// Entries that the results' texts have to decide are looked for under this number.
    searching: u64,
    /// What the search found; `None` while there is none, or while it runs.
    found: Option<Vec<HistoryId>>,
    /// Places in `entries` of what is shown.
    shown: Vec<usize>,
    /// Which entries calls of this run are.
    kept: HashMap<CaptureId, HistoryId>,
    /// Which captures of the list entries are that were opened.
    opened: HashMap<HistoryId, CaptureId>,
    /// Opened to be called again.
    again: Option<HistoryId>,
}

impl HistoryState {
    /// What earlier runs kept, newest first; of a search, what it finds, the calls of this run among it. While the results
    /// are searched: what the list alone decides.
    pub fn earlier(&self) -> Vec<&Entry> {
        self.shown
            .iter()
            .filter_map(|at| self.entries.get(*at))
            .collect()
    }

    /// Finds out what is shown, once for every change: there may be many thousands.
    fn refresh(&mut self) {
        let query = HistoryQuery::parse(&self.search);
        let of_this_run: HashSet<&HistoryId> = self.kept.values().collect();
        let found: Option<HashSet<&HistoryId>> =
            self.found.as_ref().map(|found| found.iter().collect());
        let is_found = |entry: &Entry| match &found {
            Some(found) => found.contains(&entry.id),
            None => query.is_met_by(entry),
        };
        let shown = self.entries.iter().enumerate().filter(|(_, entry)| {
            if query.is_empty() {
                !of_this_run.contains(&entry.id)
            } else {
                is_found(entry)
            }
        });
        self.shown = shown.map(|(at, _)| at).collect();
    }

    /// Whether the results are being searched.
    pub fn is_searching(&self) -> bool {
        !HistoryQuery::parse(&self.search).is_empty() && self.found.is_none()
    }
}

impl State {
    pub(super) fn history(&mut self, action: HistoryAction, effects: &mut Vec<Effect>) {
        let mut send = |effect| effects.push(Effect::History(effect));
        match action {
            HistoryAction::Use(folder) => {
                effects.push(Effect::UseHistory(folder.clone()));
                effects.push(Effect::History(HistoryEffect::List {
                    keep: self.history.keep,
                }));
                self.history.folder = Some(folder);
                self.history.is_on = !self.history.is_off;
            }
            HistoryAction::SetOn(is_on) => {
                self.history.is_on = is_on && self.history.folder.is_some();
                self.history.is_off = !is_on;
            }
            HistoryAction::EditLimits(limits) => self.history.limits = limits,
            HistoryAction::SetLimits(keep) => {
                self.history.keep = keep;
                self.history.limits = None;
                send(HistoryEffect::List { keep });
            }
            HistoryAction::Search(search) => {
                self.history.search = search;
                self.search_history(effects);
            }
            HistoryAction::Open(id) => self.open_kept(id, effects),
            HistoryAction::Again(id) => {
                self.history.again = Some(id.clone());
                self.open_kept(id, effects);
            }
            HistoryAction::Remove(id) => send(HistoryEffect::Remove(id)),
        }
    }

    fn open_kept(&mut self, id: HistoryId, effects: &mut Vec<Effect>) {
        let of_this_run = || {
            self.history
                .kept
                .iter()
                .find(|(_, kept)| **kept == id)
                .map(|(capture, _)| capture.clone())
        };
        let known = self.history.opened.get(&id).cloned().or_else(of_this_run);
        if let Some(capture) = known.filter(|capture| self.capture_of(capture).is_some()) {
            self.show_capture(&capture);
            self.call_kept_again(&id);
            return;
        }
        let health = self
            .history
            .entries
            .iter()
            .find(|entry| entry.id == id)
            .map(|entry| entry.health.clone());
        match health {
            Some(Health::Damaged(why)) => self.toast_problem(
                Problem::new(ProblemKind::Io, format!("the capture is damaged: {why}"))
                    .at(id.to_string()),
            ),
            Some(Health::Newer(schema)) => self.toast_problem(
                Problem::new(
                    ProblemKind::Io,
                    format!("written by a newer version: {schema}"),
                )
                .at(id.to_string())
                .hint("open it with a newer Loupe"),
            ),
            _ => effects.push(Effect::History(HistoryEffect::Open(id))),
        }
    }

    fn call_kept_again(&mut self, id: &HistoryId) {
        if self.history.again.take().as_ref() == Some(id) {
            let name = self
                .capture()
                .map(|capture| capture.tool.name.clone())
                .unwrap_or_default();
            if self
                .session()
                .tools
                .iter()
                .any(|listed| listed.tool.name == name)
            {
                self.restore_arguments();
            } else {
                self.toast(&format!("This server does not list {name}: connect to the one it came from, then call again"));
            }
        }
    }

    fn search_history(&mut self, effects: &mut Vec<Effect>) {
        let query = HistoryQuery::parse(&self.history.search);
        self.history.found = None;
        self.history.searching += 1;
        if !query.is_empty() && self.history.folder.is_some() {
            effects.push(Effect::History(HistoryEffect::Search {
                number: self.history.searching,
                entries: Arc::clone(&self.history.entries),
                query,
            }));
        }
        self.history.refresh();
    }

    /// A call was made: it is kept, where that is wanted.
    pub(super) fn keep_call(&self, capture: &Arc<Capture>, effects: &mut Vec<Effect>) {
        if self.history.is_on {
            effects.push(Effect::History(HistoryEffect::Keep(Arc::clone(capture))));
        }
    }

    pub(super) fn history_event(&mut self, event: HistoryEvent, effects: &mut Vec<Effect>) {
        match event {
            HistoryEvent::Listed { entries, notes } => {
                self.history.entries = entries.into();
                for note in notes {
                    self.toast_problem(Problem::new(ProblemKind::Io, note));
                }
                self.search_history(effects);
            }
            HistoryEvent::Kept { capture, entry } => {
                self.history.kept.insert(capture, entry.id.clone());
                let rest = self.history.entries.iter().cloned();
                self.history.entries = std::iter::once(*entry).chain(rest).collect();
            }
            HistoryEvent::Found { number, ids } if number == self.history.searching => {
                self.history.found = Some(ids)
            }
            // What was typed before.
            HistoryEvent::Found { .. } => {}
            HistoryEvent::Opened { id, capture } => {
                self.history.opened.insert(id.clone(), capture.id.clone());
                self.add_capture(capture);
                self.call_kept_again(&id);
            }
            HistoryEvent::Note(text) => self.toast(&text),
            HistoryEvent::Removed(id) => {
                self.history.entries = self
                    .history
                    .entries
                    .iter()
                    .filter(|entry| entry.id != id)
                    .cloned()
                    .collect();
                self.offer_undo("Removed from the history".to_owned(), UndoStep::Kept(id));
            }
        }
        self.history.refresh();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{Action, Event};
    use loupe_core::capture::Outcome;

    fn entry(id: &str, tool: &str) -> Entry {
        Entry {
            id: HistoryId(id.into()),
            started_at: time::OffsetDateTime::UNIX_EPOCH,
            elapsed_ms: 1.0,
            server: "s".into(),
            source: "--sample".into(),
            tool: tool.into(),
            arguments: "{}".into(),
            outcome: Outcome::Result,
            wire_bytes: 1,
            bytes: 1,
            health: Health::Whole,
        }
    }

    fn after(state: &mut State, action: HistoryAction) -> Vec<Effect> {
        let mut effects = Vec::new();
        state.perform(Action::History(action), &mut effects);
        effects
    }

    fn told(state: &mut State, event: HistoryEvent) {
        state.apply(Event::History(event), &mut Vec::new());
    }

    #[test]
    fn nothing_is_kept_until_a_folder_is_named() {
        let mut state = State::default();
        assert!(after(&mut state, HistoryAction::SetOn(true)).is_empty() && !state.history.is_on);
        assert_eq!(after(&mut state, HistoryAction::Use("/x".into())).len(), 2);
        assert!(state.history.is_on);
    }

    #[test]
    fn what_is_found_is_shown() {
        let mut state = State::default();
        after(&mut state, HistoryAction::Use("/x".into()));
        told(
            &mut state,
            HistoryEvent::Listed {
                entries: vec![entry("2", "b"), entry("1", "a")],
                notes: Vec::new(),
            },
        );
        assert_eq!(state.history.earlier().len(), 2);
        let effects = after(&mut state, HistoryAction::Search("tool:a words".into()));
        assert!(matches!(
            &effects[..],
            [Effect::History(HistoryEffect::Search { .. })]
        ));
        assert!(state.history.is_searching() && state.history.earlier().is_empty());
        told(
            &mut state,
            HistoryEvent::Found {
                number: 0,
                ids: vec![HistoryId("2".into())],
            },
        );
        assert!(
            state.history.earlier().is_empty(),
            "an answer to what was typed before"
        );
        let Effect::History(HistoryEffect::Search { number, .. }) = &effects[0] else {
            panic!("a search")
        };
        told(
            &mut state,
            HistoryEvent::Found {
                number: *number,
                ids: vec![HistoryId("1".into())],
            },
        );
        assert_eq!(state.history.earlier()[0].tool, "a");
    }

    #[test]
    fn what_is_removed_can_be_brought_back_and_what_is_damaged_is_said() {
        let mut state = State::default();
        after(&mut state, HistoryAction::Use("/x".into()));
        let damaged = Entry {
            health: Health::Damaged("why".into()),
            ..entry("1", "a")
        };
        told(
            &mut state,
            HistoryEvent::Listed {
                entries: vec![entry("2", "b"), damaged],
                notes: Vec::new(),
            },
        );
        assert!(after(&mut state, HistoryAction::Open(HistoryId("1".into()))).is_empty());
        assert!(
            state
                .toasts
                .iter()
                .any(|toast| toast.text.contains("damaged: why"))
        );
        told(&mut state, HistoryEvent::Removed(HistoryId("2".into())));
        assert_eq!(state.history.entries.len(), 1);
        let mut effects = Vec::new();
        state.perform(Action::Undo, &mut effects);
        assert!(matches!(
            &effects[..],
            [
                Effect::History(HistoryEffect::PutBack(_)),
                Effect::History(HistoryEffect::List { .. })
            ]
        ));
    }

    #[test]
    fn calls_of_this_run_stand_in_one_list_alone() {
        let mut state = State::default();
        after(&mut state, HistoryAction::Use("/x".into()));
        told(
            &mut state,
            HistoryEvent::Kept {
                capture: CaptureId("001-a".into()),
                entry: Box::new(entry("9", "a")),
            },
        );
        assert!(state.history.earlier().is_empty());
        assert_eq!(state.history.entries[0].id.to_string(), "9");
        // Who searches means them, too; one that is still in the list is shown there.
        let effects = after(&mut state, HistoryAction::Search("tool:a".into()));
        let Effect::History(HistoryEffect::Search { number, .. }) = &effects[0] else {
            panic!("a search")
        };
        told(
            &mut state,
            HistoryEvent::Found {
                number: *number,
                ids: vec![HistoryId("9".into())],
            },
        );
        assert_eq!(state.history.earlier().len(), 1);
        let capture = Capture::empty(
            CaptureId("001-a".into()),
            loupe_core::capture::Server::default(),
        );
        state.add_capture(Arc::new(capture));
        assert!(after(&mut state, HistoryAction::Open(HistoryId("9".into()))).is_empty());
        assert_eq!(state.view.capture, Some(CaptureId("001-a".into())));
    }
}
