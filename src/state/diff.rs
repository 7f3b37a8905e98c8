//! The diff screen: which two results it compares and how it shows them; and reconnecting, which calls again and
//! compares with before.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{CallOwner, Dialog, Effect, ListedTool, Screen, State};
use loupe_analysis::queries::{DiffQuery, DiffView, QueryKey, TextOf};
use loupe_core::capture::{Capture, CaptureId, Tool};
use loupe_core::source::{Protocol, Source};

/// What the diff screen compares, and how it shows it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diff {
    /// The older and the newer answer; the same one twice where two formats of it are compared.
    pub sides: Option<(CaptureId, CaptureId)>,
    pub ask: DiffQuery,
    /// Two columns of text instead of one.
    pub is_split: bool,
    /// Shows what is the same in the data, too.
    pub shows_all: bool,
    /// Rows of the tree that were opened or closed by hand, against the default.
    pub toggled: BTreeSet<usize>,
    /// The difference that F8 came to, counted from the first of the data on.
    pub current: Option<usize>,
}

impl Diff {
    /// What is to be asked for the screen.
    pub fn query_key(&self) -> Option<QueryKey> {
        let (a, b) = self.sides.clone()?;
        Some(QueryKey::new(&[a, b], self.ask.clone()))
    }

    fn turn(&mut self, a: CaptureId, b: CaptureId) {
        self.sides = Some((a, b));
        self.look_anew();
    }

    /// What was opened or gone to belongs to other differences.
    fn look_anew(&mut self) {
        self.toggled.clear();
        self.current = None;
    }
}

/// What the user does with two results.
#[derive(Clone, Debug, PartialEq)]
pub enum DiffAction {
    /// Shows the difference from the first to the second.
    Open(CaptureId, CaptureId),
    /// Compares the result shown with the one before it, of the same tool if there is one.
    OpenLast,
    SetTexts(TextOf, TextOf),
    Split(bool),
    ShowAll(bool),
    Toggle(usize),
    /// To the difference of this number.
    GoTo(usize),
    Copy,
}

/// A call to be made again once the server is back.
#[derive(Clone, Debug, PartialEq)]
struct Waiting {
    before: Arc<Capture>,
    /// Whether the diff screen was open, and is to show the new difference.
    was_diff: bool,
}

/// What the last reconnecting changed.
#[derive(Clone, Debug, Default)]
pub struct Reconnect {
    waiting: Option<Waiting>,
    /// The tools of the connection before, and the number of their list.
    pub(super) before: Option<(u64, Vec<Arc<Tool>>)>,
    /// Whether they were other tools than those listed now.
    pub(super) has_changed: bool,
    /// The result that came again, and the one before it.
    pub pair: Option<(CaptureId, CaptureId)>,
}

impl Reconnect {
    pub(super) fn forget_call(&mut self) {
        self.waiting = None;
    }

    /// Looks whether the tools are others than before the reconnect.
    pub(super) fn compare_tools(&mut self, tools: &[ListedTool]) {
        let is_same = |(_, before): &(u64, Vec<Arc<Tool>>)| {
            before
                .iter()
                .map(|tool| &tool.raw)
                .eq(tools.iter().map(|listed| &listed.tool.raw))
        };
        self.has_changed = self.before.as_ref().is_some_and(|before| !is_same(before));
    }

    /// Keeps the tools of a server that is about to be connected again; those of another one are let go.
    pub(super) fn remember(
        &mut self,
        old: Option<&Source>,
        new: &Source,
        listing: u64,
        tools: Vec<Arc<Tool>>,
    ) {
        self.has_changed = false;
        // In the other era it is the same server.
        let alike = |source: &Source| source.clone().with_protocol(Protocol::Auto);
        if old.map(alike) != Some(alike(new)) {
            self.before = None;
        } else if !tools.is_empty() {
            self.before = Some((listing, tools));
        }
    }
}

impl State {
    /// The result for the diff screen, if it is there.
    pub fn diff_view(&self) -> Option<&Arc<DiffView>> {
        self.query_results
            .query_state::<DiffQuery>(&self.diff.query_key()?)?
            .ready()
    }

    /// A capture by its id: of the list, or of the session that is looked at.
    pub fn capture_of(&self, id: &CaptureId) -> Option<&Arc<Capture>> {
        let mut listed = self.captures.iter();
        listed
            .find(|capture| capture.id == *id)
            .or_else(|| self.live.capture(id))
    }

    /// The result that the one shown is compared with where nobody says which: the last one before it of the same tool,
    /// else the one before it.
    pub fn compared_with(&self) -> Option<&Arc<Capture>> {
        let shown = self.capture()?;
        let at = self
            .captures
            .iter()
            .position(|capture| capture.id == shown.id)?;
        let before = &self.captures[..at];
        before
            .iter()
            .rev()
            .find(|capture| capture.tool.name == shown.tool.name)
            .or(before.last())
    }

    pub(super) fn change_diff(&mut self, action: DiffAction, effects: &mut Vec<Effect>) {
        match action {
            DiffAction::Open(a, b) => self.open_diff(a, b),
            DiffAction::OpenLast => {
                let pair = self
                    .compared_with()
                    .map(|before| before.id.clone())
                    .zip(self.view.capture.clone());
                // With one result alone, two of its formats can still be compared.
                let alone = self.view.capture.clone().map(|id| (id.clone(), id));
                if let Some((a, b)) = pair.or(alone) {
                    self.open_diff(a, b);
                }
            }
            DiffAction::SetTexts(a, b) => {
                self.diff.ask.texts = (a, b);
                self.diff.look_anew();
            }
            DiffAction::Split(is_split) => self.diff.is_split = is_split,
            DiffAction::ShowAll(all) => {
                self.diff.shows_all = all;
                self.diff.toggled.clear();
            }
            DiffAction::Toggle(row) => {
                if !self.diff.toggled.remove(&row) {
                    self.diff.toggled.insert(row);
                }
            }
            DiffAction::GoTo(number) => self.diff.current = Some(number),
            DiffAction::Copy => match self.diff_view().map(|view| view.text()) {
                Some(text) => self.copy(text, effects),
                None => self.toast("Still comparing. Try again soon"),
            },
        }
    }

    pub(super) fn open_diff(&mut self, a: CaptureId, b: CaptureId) {
        if self.capture_of(&a).is_none() || self.capture_of(&b).is_none() {
            return;
        }
        let is_same = a == b;
        self.diff.turn(a, b);
        // One result has no difference to itself but that of its formats; two results are compared as they were sent.
        let (old, new) = self.diff.ask.texts;
        let formats = (TextOf::Format("json-pretty"), TextOf::Format("yaml"));
        if is_same && old == new {
            self.diff.ask.texts = formats;
        } else if !is_same && (old, new) == formats {
            self.diff.ask.texts = DiffQuery::default().texts;
        }
        self.view.screen = Screen::Diff;
    }

    /// Connects again, and repeats the last call of the tool shown once the tools are listed. In another revision of the
    /// protocol, where one is named, and then the two results are compared.
    pub(super) fn reconnect_and_repeat(
        &mut self,
        protocol: Option<Protocol>,
        effects: &mut Vec<Effect>,
    ) {
        let is_called = |capture: &&Arc<Capture>| !capture.request.is_empty();
        let shown = self
            .capture()
            .filter(is_called)
            .or_else(|| self.captures.iter().rev().find(is_called))
            .cloned();
        // What broke is called again, and compared with the last answer to the same call.
        let shown = shown.map(|shown| self.answered_like(&shown).cloned().unwrap_or(shown));
        let was_diff = self.view.screen == Screen::Diff || protocol.is_some();
        let of = self.session().connection.source().map(ToString::to_string);
        match (protocol, self.session().connection.source().cloned()) {
            (Some(protocol), Some(source)) => {
                self.start_connecting(source.with_protocol(protocol), effects)
            }
            _ => self.reconnect(effects),
        }
        self.session_mut().reconnect.waiting = shown
            // A call of another server is none to repeat at this one.
            .filter(|capture| of.as_deref() == Some(capture.server.source.as_str()))
            .map(|before| Waiting { before, was_diff });
    }

    /// The last answer to the same call, where none came to this one.
    fn answered_like(&self, call: &Capture) -> Option<&Arc<Capture>> {
        let is_same = |other: &&Arc<Capture>| {
            other.response.is_some()
                && other.tool.name == call.tool.name
                && other.arguments == call.arguments
        };
        if call.response.is_some() {
            None
        } else {
            self.captures.iter().rev().find(is_same)
        }
    }

    /// The current server's tools are there again: repeats the last call.
    pub(super) fn on_relisted(&mut self, effects: &mut Vec<Effect>) {
        let Some(waiting) = self.session_mut().reconnect.waiting.take() else {
            return;
        };
        if self.running.is_some() {
            return;
        }
        self.call_like(&waiting.before, waiting.was_diff, effects);
    }

    /// Makes the same call as `before` at the server in use, and compares the two results.
    pub(super) fn call_like(
        &mut self,
        before: &Capture,
        was_diff: bool,
        effects: &mut Vec<Effect>,
    ) {
        let name = &before.tool.name;
        let Some(listed) = self
            .session()
            .tools
            .iter()
            .find(|listed| listed.tool.name == *name)
        else {
            self.toast(&format!(
                "{name} is not in this server’s list of tools: not called"
            ));
            return;
        };
        let tool = Arc::clone(&listed.tool);
        let owner = CallOwner::Reconnect {
            before: before.id.clone(),
            was_diff,
        };
        let call = self.prepare(&tool, before.arguments.clone(), owner);
        if self.needs_consent(&call) {
            self.dialog = Some(Dialog::ConfirmCall { call });
        } else {
            self.send_call(call, effects);
        }
    }

    /// The answer to the call made again.
    pub(super) fn on_repeated(&mut self, capture: Arc<Capture>, before: CaptureId, was_diff: bool) {
        let now = capture.id.clone();
        self.add_capture(capture);
        self.session_mut().reconnect.pair = Some((now.clone(), before.clone()));
        if was_diff {
            self.open_diff(before, now);
        }
    }
}
