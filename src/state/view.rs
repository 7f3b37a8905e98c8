//! What is looked at: capture, panes, selection, drawer.

use std::collections::BTreeSet;

use super::update::toggle;
use super::{Effect, FindingsView, HostsView, StartQuestion, State, TableView, TokensView};
use loupe_analysis::queries::Search;
use loupe_core::capture::{CaptureId, ReadText};
use loupe_core::format::ParsedCapture;
use loupe_core::host::HostId;

/// What a pane shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PaneView {
    /// The text of a format, rendered as Markdown, by format id.
    Rendered(&'static str),
    /// The exact text of a format, by format id.
    Text(&'static str),
    /// The data as a tree.
    Tree,
    /// A list of objects in the data as a table.
    Table,
    /// The exact bytes of a format, by format id.
    Hex(&'static str),
    /// The exact text that a host's model is shown.
    Host(HostId),
}

/// What of a result a view shows, however it shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaneContent {
    /// The text of a format, by its id.
    Format(&'static str),
    /// The data.
    Data,
    /// What a host's model is shown.
    Host(HostId),
}

impl PaneView {
    pub fn content(self) -> PaneContent {
        match self {
            PaneView::Rendered(format) | PaneView::Text(format) | PaneView::Hex(format) => {
                PaneContent::Format(format)
            }
            PaneView::Tree | PaneView::Table => PaneContent::Data,
            PaneView::Host(host) => PaneContent::Host(host),
        }
    }

    /// The word for the settings.
    pub(super) fn word(&self) -> String {
        match self {
            PaneView::Rendered(format) => format!("rendered:{format}"),
            PaneView::Text(format) => format!("text:{format}"),
            PaneView::Host(host) => format!("host:{host}"),
            PaneView::Tree => "tree".to_owned(),
            PaneView::Table => "table".to_owned(),
            PaneView::Hex(format) => format!("hex:{format}"),
        }
    }

    /// What [`PaneView::word`] wrote.
    fn of_word(word: &str) -> Option<Self> {
        let id = |format: &str| match format {
            "content-pretty" => Some("content-pretty"),
            format => loupe_core::format::by_id(format).map(|known| known.id()),
        };
        match word.split_once(':') {
            None if word == "tree" => Some(PaneView::Tree),
            None if word == "table" => Some(PaneView::Table),
            Some(("hex", format)) => id(format).map(PaneView::Hex),
            Some(("rendered", format)) => id(format).map(PaneView::Rendered),
            Some(("text", format)) => id(format).map(PaneView::Text),
            Some(("host", host)) => HostId::try_from(host.to_owned()).ok().map(PaneView::Host),
            _ => None,
        }
    }

    /// What the panes show at first, left to right.
    pub const FIRST: [PaneView; 3] = [
        PaneView::Rendered("content"),
        PaneView::Text("content"),
        PaneView::Tree,
    ];
}

/// Turns panes to what these words say; a word that is not known changes nothing.
pub(super) fn use_panes(panes: &mut [PaneView; 3], words: &[String]) {
    for (pane, word) in panes.iter_mut().zip(words) {
        *pane = PaneView::of_word(word).unwrap_or(*pane);
    }
}

/// The screen in the centre.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Screen {
    /// "What do you want to know?"
    #[default]
    Start,
    /// A tool that was chosen, before its first answer.
    Tool,
    Connect,
    /// What the doctor says of a server that is connected.
    Doctor,
    /// Call bar, panes and drawer.
    Answer,
    /// What the whole server costs before its first call.
    Server,
    /// Two results, and what differs.
    Diff,
    /// The tools of two servers, and what differs.
    ServerDiff,
    /// What each host's model sees.
    Hosts,
    /// Several calls side by side.
    Compare,
    /// Every message of the session.
    Wire,
    /// Resources and prompts.
    Library,
    /// Recorded sessions, also while they run.
    Live,
    /// A folder of fixtures, called again.
    Verify,
    Settings,
}

impl Screen {
    /// Whether the call bar is above it, and calling is one key away.
    pub fn has_call_bar(self) -> bool {
        matches!(
            self,
            Self::Start | Self::Tool | Self::Answer | Self::Hosts | Self::Compare
        )
    }

    /// Whether a new result is shown at once to somebody who is there.
    pub(super) fn shows_captures(self) -> bool {
        self.has_call_bar() || self == Self::Library
    }
}

/// What of the server the sidebar lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SidebarTab {
    #[default]
    Tools,
    /// Resources and templates.
    Resources,
    Prompts,
}

/// What the drawer says of the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DrawerTab {
    /// The ledger.
    #[default]
    Cost,
    /// What each host's model sees.
    Hosts,
    /// Where the tokens go.
    Tokens,
    /// What the rules find.
    Findings,
}

/// What the user looks at, and how.
#[derive(Clone, Debug, PartialEq)]
pub enum ViewAction {
    /// Counts what answers of so many bytes in all cost, for as long as the program runs.
    CountUpTo(usize),
    SelectCapture(CaptureId),
    /// Takes captures out of the list; what the history has of them stays there.
    RemoveCaptures(Vec<CaptureId>),
    ShowStart,
    ShowSettings,
    /// Back from a screen of its own to the panes, or to the start page where there is no result.
    ShowAnswer,
    /// What a pane shows: pane index (0–2) and what.
    SetPane {
        pane: usize,
        shows: PaneView,
    },
    TogglePane(usize),
    FocusPane(usize),
    ToggleMaximised(usize),
    /// Select a record (tape index in the data), in all panes; `None` clears.
    SelectRecord(Option<usize>),
    ToggleNode(usize),
    /// Opens the tree down to this level, 1 being the members of the root, and closes what is below; `None` as at first.
    OpenLevels(Option<usize>),
    SetTreeCursor(usize),
    /// Shows where each token of the texts begins, or not any more.
    ToggleTokenBounds,
    /// Up/Down in the ledger: shows the format in the middle pane; `None` restores.
    Peek(Option<&'static str>),
    /// Keeps what is peeked at.
    KeepPeek,
    /// Puts what is peeked at into the third pane, next to what the middle one showed before.
    KeepPeekBeside,
    SetSearch(Option<Search>),
    /// Reads the texts of this tool of this server so, from here on.
    ReadText(ReadText),
    /// The pattern that is tried on the texts; `None` ends it.
    TryPattern(Option<String>),
    ShowDrawer(DrawerTab),
    /// What the sidebar lists; it is opened.
    ShowTab(SidebarTab),
    /// The words that the list of the sidebar is filtered by.
    SetFilter(String),
    /// The words that the captures are filtered by.
    FilterCaptures(String),
    ToggleGroup(String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct View {
    pub screen: Screen,
    pub capture: Option<CaptureId>,
    /// What the three panes show, left to right.
    pub panes: [PaneView; 3],
    pub open: [bool; 3],
    /// What panes and drawer were turned to by hand, for the next run.
    by_hand: ([PaneView; 3], DrawerTab),
    /// The card of the start page whose answer this capture is.
    pub question: Option<(CaptureId, StartQuestion)>,
    /// Panes that were closed because the result has nothing for them.
    closed_for_lack: [bool; 3],
    /// A pane that shows the text, for lack of anything in all panes, and what it shows otherwise.
    text_instead_of: Option<(usize, PaneView)>,
    pub focus: usize,
    /// The pane that has the whole area, if any.
    pub maximised: Option<usize>,
    /// The record that is selected in all panes, by tape index in the data.
    pub record: Option<usize>,
    /// Tape indices of tree nodes that were opened or closed by hand, against the default.
    pub toggled: BTreeSet<usize>,
    /// How many levels of the tree are open; `None` as at first.
    pub open_levels: Option<usize>,
    pub tree_cursor: Option<usize>,
    pub drawer: DrawerTab,
    pub sidebar: SidebarTab,
    pub tokens: TokensView,
    pub table: TableView,
    /// Whether texts show where each token begins.
    pub token_bounds: bool,
    /// The format the ledger peeks at; shown in the middle pane.
    pub peek: Option<&'static str>,
    /// What is looked for in all panes; `None` where the bar is closed.
    pub search: Option<Search>,
    /// The pattern that is tried on the texts.
    pub pattern: Option<String>,
    /// The words that the captures are filtered by: of the tool's name or the arguments.
    pub captures_filter: String,
    /// Names of tool groups that are folded.
    pub folded_groups: BTreeSet<String>,
    pub hosts: HostsView,
    pub findings: FindingsView,
}

impl Default for View {
    fn default() -> Self {
        Self {
            screen: Screen::Start,
            capture: None,
            panes: PaneView::FIRST,
            open: [true; 3],
            by_hand: (PaneView::FIRST, DrawerTab::Cost),
            question: None,
            closed_for_lack: [false; 3],
            text_instead_of: None,
            focus: 1,
            maximised: None,
            record: None,
            toggled: BTreeSet::new(),
            open_levels: None,
            tree_cursor: None,
            drawer: DrawerTab::Cost,
            sidebar: SidebarTab::Tools,
            tokens: TokensView::default(),
            table: TableView::default(),
            token_bounds: false,
            peek: None,
            search: None,
            pattern: None,
            captures_filter: String::new(),
            folded_groups: BTreeSet::new(),
            hosts: HostsView::default(),
            findings: FindingsView::default(),
        }
    }
}

/// What the panes show by hand, and which are open, where the window has another width.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PaneLayout {
    pub panes: [PaneView; 3],
    pub open: [bool; 3],
}

impl Default for PaneLayout {
    fn default() -> Self {
        Self {
            panes: PaneView::FIRST,
            open: [true; 3],
        }
    }
}

impl View {
    /// Turns the panes to another layout, and puts the one of before in its place.
    pub(super) fn swap_panes(&mut self, other: &mut PaneLayout) {
        for (open, is_for_lack) in self
            .open
            .iter_mut()
            .zip(std::mem::take(&mut self.closed_for_lack))
        {
            *open |= is_for_lack;
        }
        self.text_instead_of = None;
        std::mem::swap(&mut self.by_hand.0, &mut other.panes);
        std::mem::swap(&mut self.open, &mut other.open);
        (self.panes, self.maximised, self.peek) = (self.by_hand.0, None, None);
    }

    /// What a pane shows now, peeking included.
    pub fn shows(&self, pane: usize) -> PaneView {
        match self.peek {
            Some(format) if pane == 1 => PaneView::Text(format),
            _ => self.panes[pane.min(2)],
        }
    }
}

impl View {
    /// Turns to another capture: what was selected in the one before is let go.
    pub(super) fn show(&mut self, capture: CaptureId) {
        if self.capture.as_ref() != Some(&capture) {
            self.record = None;
            self.toggled.clear();
            self.open_levels = None;
            self.tree_cursor = None;
            self.peek = None;
            self.search = None;
            self.findings.forget_answer();
            self.pattern = None;
            // Laid out is this text alone.
            for pane in self
                .panes
                .iter_mut()
                .filter(|pane| **pane == PaneView::Text("content-pretty"))
            {
                *pane = PaneView::Text("content");
            }
            // What a card turned the panes to is its result's alone.
            if let Some((_, question)) = self.question.take()
                && self.panes == question.panes()
            {
                self.panes = PaneView::FIRST;
            }
        }
        self.capture = Some(capture);
        self.screen = Screen::Answer;
    }

    /// Turns panes and drawer to what answers a card of the start page.
    pub(super) fn turn_to(&mut self, question: StartQuestion) {
        self.drawer = question.drawer();
        self.panes = question.panes();
        self.open = [true; 3];
        self.closed_for_lack = [false; 3];
        (self.focus, self.maximised, self.peek) = (1, None, None);
    }

    /// What the panes show and the tab of the drawer, as chosen by hand; the tab as a word for the settings.
    pub(super) fn layout(&self) -> ([PaneView; 3], &'static str) {
        let drawer = match self.by_hand.1 {
            DrawerTab::Cost => "cost",
            DrawerTab::Hosts => "hosts",
            DrawerTab::Tokens => "tokens",
            DrawerTab::Findings => "findings",
        };
        (self.by_hand.0, drawer)
    }

    /// Takes over what [`View::layout`] gave; a word that is not known changes nothing.
    pub(super) fn use_layout(&mut self, panes: &[String], drawer: Option<&str>) {
        use_panes(&mut self.panes, panes);
        self.drawer = match drawer {
            Some("cost") => DrawerTab::Cost,
            Some("hosts") => DrawerTab::Hosts,
            Some("tokens") => DrawerTab::Tokens,
            Some("findings") => DrawerTab::Findings,
            _ => self.drawer,
        };
        self.by_hand = (self.panes, self.drawer);
    }

    /// Turns the panes to what they show at first; what they showed, and which were open.
    pub(super) fn reset_panes(&mut self) -> ([PaneView; 3], [bool; 3]) {
        let before = (self.panes, self.open);
        (self.panes, self.open, self.closed_for_lack) = (PaneView::FIRST, [true; 3], [false; 3]);
        (
            self.by_hand.0,
            self.maximised,
            self.peek,
            self.text_instead_of,
        ) = (self.panes, None, None, None);
        before
    }

    /// Closes the panes that have nothing to show of a result, and opens again those that were closed for that reason.
    /// Where none is left, the first of them shows the text.
    pub(super) fn fit_panes(&mut self, subject: &ParsedCapture) {
        if let Some((pane, before)) = self.text_instead_of.take() {
            self.panes[pane] = before;
        }
        for pane in 0..self.panes.len() {
            let has = match self.panes[pane].content() {
                PaneContent::Format("content") => {
                    self.panes[pane] != PaneView::Rendered("content") || subject.renders()
                }
                PaneContent::Format("content-pretty") | PaneContent::Host(_) => true,
                PaneContent::Format("structured" | "both") => {
                    subject.response.structured().is_some()
                }
                PaneContent::Format(_) | PaneContent::Data => subject.data.is_some(),
            };
            if !has && self.open[pane] {
                self.open[pane] = false;
                self.closed_for_lack[pane] = true;
            } else if has && self.closed_for_lack[pane] {
                self.open[pane] = true;
                self.closed_for_lack[pane] = false;
            }
        }
        let closed = self.closed_for_lack.iter().position(|is_closed| *is_closed);
        if let Some(pane) = closed.filter(|_| self.open == [false; 3]) {
            self.text_instead_of = Some((
                pane,
                std::mem::replace(&mut self.panes[pane], PaneView::Text("content")),
            ));
            (self.open[pane], self.closed_for_lack[pane]) = (true, false);
        }
        if !self.open[self.focus] {
            self.focus = (0..3).find(|pane| self.open[*pane]).unwrap_or(self.focus);
        }
    }

    pub(super) fn set_pane(&mut self, pane: usize, shows: PaneView) {
        if let Some(slot) = self.panes.get_mut(pane) {
            *slot = shows;
            self.by_hand.0 = self.panes;
            self.open[pane] = true;
            self.closed_for_lack[pane] = false;
            self.focus_pane(pane);
            self.text_instead_of = None;
            if pane == 1 {
                self.peek = None;
            }
        }
    }

    pub(super) fn toggle_pane(&mut self, pane: usize) {
        if let Some(open) = self.open.get_mut(pane) {
            *open = !*open;
            self.closed_for_lack[pane] = false;
            if self.maximised == Some(pane) {
                self.maximised = None;
            }
        }
        // The keys belong to a pane that is seen.
        if !self.open[self.focus]
            && let Some(nearest) = (0..3)
                .filter(|at| self.open[*at])
                .min_by_key(|at| at.abs_diff(self.focus))
        {
            self.focus = nearest;
        }
    }

    /// Gives a pane the keys; it is seen from then on.
    pub(super) fn focus_pane(&mut self, pane: usize) {
        self.focus = pane.min(2);
        self.open[self.focus] = true;
        if self.maximised.is_some() {
            self.maximised = Some(self.focus);
        }
    }
}

impl State {
    pub(super) fn change_view(&mut self, action: ViewAction, effects: &mut Vec<Effect>) {
        if matches!(action, ViewAction::ShowAnswer) {
            self.turn_back_from_live();
        }
        let view = &mut self.view;
        match action {
            ViewAction::CountUpTo(bytes) => self.query_results.held_above = bytes,
            ViewAction::SelectCapture(id) => self.show_capture(&id),
            ViewAction::RemoveCaptures(ids) => self.remove_captures(&ids, effects),
            ViewAction::ShowStart => {
                view.screen = Screen::Start;
                view.maximised = None;
            }
            ViewAction::ShowSettings => view.screen = Screen::Settings,
            ViewAction::ShowAnswer => {
                view.screen = if view.capture.is_some() {
                    Screen::Answer
                } else {
                    Screen::Start
                }
            }
            ViewAction::SetPane { pane, shows } => view.set_pane(pane, shows),
            ViewAction::TogglePane(pane) => view.toggle_pane(pane),
            ViewAction::FocusPane(pane) => view.focus_pane(pane),
            ViewAction::ToggleMaximised(pane) => {
                view.maximised = if view.maximised == Some(pane) {
                    None
                } else {
                    Some(pane)
                }
            }
            ViewAction::SelectRecord(record) => view.record = record,
            ViewAction::ToggleNode(node) => toggle(&mut view.toggled, node),
            ViewAction::OpenLevels(levels) => {
                view.open_levels = levels;
                view.toggled.clear();
            }
            ViewAction::ToggleTokenBounds => view.token_bounds ^= true,
            ViewAction::SetTreeCursor(node) => view.tree_cursor = Some(node),
            ViewAction::Peek(format) => view.peek = format,
            ViewAction::KeepPeek => {
                if let Some(format) = view.peek.take() {
                    view.set_pane(1, PaneView::Text(format));
                }
            }
            ViewAction::KeepPeekBeside => {
                if let Some(format) = view.peek.take() {
                    view.set_pane(2, PaneView::Text(format));
                }
            }
            ViewAction::SetSearch(search) => view.search = search,
            ViewAction::ReadText(how) => self.read_text(&how, effects),
            ViewAction::TryPattern(pattern) => {
                if pattern.is_some()
                    && !(0..3).any(|pane| view.open[pane] && view.shows(pane) == PaneView::Tree)
                {
                    view.set_pane(2, PaneView::Tree);
                }
                view.pattern = pattern;
            }
            ViewAction::ShowDrawer(tab) => (view.drawer, view.by_hand.1) = (tab, tab),
            ViewAction::ShowTab(tab) => {
                if view.sidebar != tab {
                    view.sidebar = tab;
                    self.session_mut().filter.clear();
                }
                self.settings.sidebar_open = true;
                if tab != SidebarTab::Tools
                    && self.session().library.entries.is_none()
                    && self.session().library.listing.is_none()
                {
                    self.list_library(effects);
                }
            }
            ViewAction::SetFilter(filter) => self.session_mut().filter = filter,
            ViewAction::FilterCaptures(filter) => view.captures_filter = filter,
            ViewAction::ToggleGroup(group) => toggle(&mut view.folded_groups, group),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loupe_core::format::ParsedCapture;

    #[test]
    fn a_layout_that_an_answer_has_nothing_for_shows_its_text() {
        let mut view = View {
            open: [true, true, false],
            ..View::default()
        };
        view.set_pane(0, PaneView::Hex("both"));
        view.set_pane(1, PaneView::Text("json"));
        let layout = (view.panes, view.open);
        view.fit_panes(&ParsedCapture::from_result(
            r#"{"content":[{"type":"text","text":"Nothing but words."}]}"#,
        ));
        assert_eq!(
            (view.panes[0], view.open, view.focus),
            (PaneView::Text("content"), [true, false, false], 0)
        );
        view.fit_panes(&ParsedCapture::from_result(r#"{"content":[{"type":"text","text":"Ada"}],"structuredContent":{"name":"Ada","born":1815}}"#));
        assert_eq!((view.panes, view.open), layout);
        view.fit_panes(&ParsedCapture::from_result(
            r#"{"content":[{"type":"text","text":"Nothing but words."}]}"#,
        ));
        assert_eq!(
            view.layout().0,
            layout.0,
            "what was chosen is kept for the next run"
        );
    }

    #[test]
    fn captures_and_tools_have_a_filter_each() {
        let mut state = State::default();
        for action in [
            ViewAction::SetFilter("issue".into()),
            ViewAction::FilterCaptures("north".into()),
            ViewAction::ShowTab(SidebarTab::Prompts),
        ] {
            state.perform(action, &mut Vec::new());
        }
        let (tools, captures) = (&state.session().filter, &state.view.captures_filter);
        assert_eq!((tools.as_str(), captures.as_str()), ("", "north"));
    }

    #[test]
    fn a_pane_is_the_same_after_a_restart() {
        let host = loupe_core::host::Hosts::built_in()
            .iter()
            .next()
            .unwrap()
            .id;
        for view in [
            PaneView::Rendered("content"),
            PaneView::Text("content-pretty"),
            PaneView::Host(host),
            PaneView::Tree,
            PaneView::Table,
            PaneView::Hex("json"),
        ] {
            // A new kind belongs into the list above.
            match view {
                PaneView::Rendered(_)
                | PaneView::Text(_)
                | PaneView::Host(_)
                | PaneView::Tree
                | PaneView::Table
                | PaneView::Hex(_) => {}
            }
            assert_eq!(PaneView::of_word(&view.word()), Some(view));
        }
    }

    #[test]
    fn the_pane_that_has_the_keys_is_seen() {
        let mut view = View {
            maximised: Some(0),
            ..View::default()
        };
        view.focus_pane(1);
        assert_eq!((view.focus, view.maximised), (1, Some(1)));
        view.set_pane(2, PaneView::Tree);
        assert_eq!((view.focus, view.maximised), (2, Some(2)));
        view.toggle_pane(2);
        assert_eq!(
            (view.focus, view.maximised, view.open),
            (1, None, [true, true, false])
        );
    }
}
