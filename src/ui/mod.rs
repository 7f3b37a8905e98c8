//! The window: paints a `&State`, sends `Action`s, computes nothing.
//!
//! What a frame needs and is not there it asks for through [`Cx::ask`]; the engine answers later. Colours, sizes and
//! icons come from [`theme`] and [`icons`] alone. Uses `state`, `report`, `format`, `capture`, `token`.

pub mod icons;
pub mod theme;
mod widgets;

mod call_bar;
mod commands;
mod compare;
mod connect;
mod dialogs;
mod diff;
mod drawer;
mod hosts;
mod panes;
mod repeat;
mod server;
mod sidebar;
mod start;
mod status_bar;
mod tokenizer;
mod top_bar;
mod what_if;

#[cfg(test)]
mod shell_tests;

use std::cell::RefCell;

use crate::capture::CaptureId;
use crate::format::ledger::Row;
use crate::problem::Problem;
use crate::report::{Answer, Inquiry, Question};
use crate::state::{Action, Asked, State};
use crate::token::{Count, Tokenizer};

/// The only thing a painting function gets besides its `Ui`: the state to read, and where to send what a person did.
pub struct Cx<'a> {
    pub state: &'a State,
    actions: RefCell<Vec<Action>>,
    wants: RefCell<Vec<Inquiry>>,
    /// The capture that [`Cx::ask`] is about, where it is not the one shown.
    about: RefCell<Option<CaptureId>>,
}

impl<'a> Cx<'a> {
    pub fn new(state: &'a State) -> Self {
        Self { state, actions: RefCell::default(), wants: RefCell::default(), about: RefCell::default() }
    }

    /// Sends what a person did; it happens after the frame.
    pub fn send(&self, action: Action) {
        self.actions.borrow_mut().push(action);
    }

    /// Asks a question of the capture shown. What is not known yet is worked on after this frame.
    pub fn ask(&self, question: Question) -> Asked<'a> {
        let about = self.about.borrow();
        match about.as_ref().or(self.state.view.capture.as_ref()) {
            Some(id) => self.ask_of(std::slice::from_ref(id), question),
            None => Asked::Working { since: self.state.now },
        }
    }

    /// Paints something that asks of another capture than the one shown.
    pub fn about<R>(&self, capture: &CaptureId, paint: impl FnOnce() -> R) -> R {
        let before = self.about.replace(Some(capture.clone()));
        let painted = paint();
        self.about.replace(before);
        painted
    }

    /// Asks a question of these captures.
    pub fn ask_of(&self, captures: &[CaptureId], question: Question) -> Asked<'a> {
        let inquiry = Inquiry { captures: captures.to_vec(), question };
        let asked = self.state.answers.known(&inquiry).unwrap_or(Asked::Working { since: self.state.now });
        if matches!(asked, Asked::Working { .. }) {
            let mut wants = self.wants.borrow_mut();
            if !wants.contains(&inquiry) {
                wants.push(inquiry);
            }
        }
        asked
    }

    /// The answer if it is there already; asks for it otherwise.
    pub fn ready(&self, question: Question) -> Option<&'a Answer> {
        match self.ask(question) {
            Asked::Ready(answer) => Some(answer),
            _ => None,
        }
    }

    /// A row's tokens by the tokenizer chosen; asked for where they are not known yet.
    pub fn count(&self, row: &Row) -> Option<Result<Count, &'a Problem>> {
        self.count_by(row, &self.state.settings.tokenizer)
    }

    /// A row's tokens by a tokenizer; asked for where they are not known yet.
    pub fn count_by(&self, row: &Row, tokenizer: &Tokenizer) -> Option<Result<Count, &'a Problem>> {
        let known = self.state.count_of(self.state.view.capture.as_ref()?, row, tokenizer);
        if known.is_none() && row.is_available() {
            self.ask(Question::Count { format: row.format, tokenizer: tokenizer.clone() });
        }
        known
    }

    /// All actions of the frame, the questions last: what is asked and not answered, so that the rest can be called off.
    pub fn into_actions(self) -> Vec<Action> {
        let mut actions = self.actions.into_inner();
        let wants = self.wants.into_inner();
        if !wants.is_empty() || self.state.answers.working() > 0 {
            actions.push(Action::Want(wants));
        }
        actions
    }
}

/// The whole window: every region in its place. The start and connect screens take the middle; an answer has call bar,
/// panes and drawer.
pub fn window(ui: &mut egui::Ui, cx: &Cx<'_>) {
    use egui::{CentralPanel, Frame, Panel};

    use crate::state::Screen;

    commands::keys(ui, cx);
    let t = theme::Tokens::of(ui);
    let size = ui.content_rect().size();
    let bar = Frame::new().fill(t.panel);
    Panel::top("top bar").exact_size(theme::TOP_BAR).resizable(false).frame(bar).show(ui, |ui| top_bar::top_bar_ui(ui, cx));
    Panel::bottom("status bar")
        .exact_size(theme::STATUS_BAR)
        .resizable(false)
        .frame(bar)
        .show(ui, |ui| status_bar::status_bar_ui(ui, cx));
    if size.x < theme::MEDIUM {
        Panel::left("rail").exact_size(theme::RAIL).resizable(false).frame(bar).show(ui, |ui| sidebar::sidebar_ui(ui, cx));
    } else if cx.state.settings.sidebar_open {
        Panel::left("sidebar")
            .default_size(theme::SIDEBAR)
            .size_range(240.0..=400.0)
            .resizable(true)
            .frame(bar)
            .show(ui, |ui| sidebar::sidebar_ui(ui, cx));
    }
    // Calling is one key away on the start page too.
    if !matches!(cx.state.view.screen, Screen::Connect | Screen::Server | Screen::Diff | Screen::Repeat) {
        Panel::top("call bar").resizable(false).frame(Frame::new().fill(t.bg)).show(ui, |ui| call_bar::call_bar_ui(ui, cx));
    }
    let middle = CentralPanel::default().frame(Frame::new().fill(t.bg));
    match cx.state.view.screen {
        Screen::Start => middle.show(ui, |ui| start::start_ui(ui, cx)),
        Screen::Connect => middle.show(ui, |ui| connect::connect_ui(ui, cx)),
        Screen::Hosts => middle.show(ui, |ui| hosts::hosts_ui(ui, cx)),
        Screen::Server => middle.show(ui, |ui| server::server_ui(ui, cx)),
        Screen::Diff => middle.show(ui, |ui| diff::diff_ui(ui, cx)),
        Screen::Repeat => middle.show(ui, |ui| repeat::repeat_ui(ui, cx)),
        Screen::Compare => middle.show(ui, |ui| compare::compare_ui(ui, cx)),
        Screen::Answer => {
            if !cx.state.view.what_if.is_empty() {
                let strip = Frame::new().fill(t.warn_bg);
                Panel::top("what if")
                    .exact_size(theme::HEADER)
                    .resizable(false)
                    .frame(strip)
                    .show(ui, |ui| what_if::strip_ui(ui, cx));
            }
            if cx.state.capture().is_some() && cx.state.view.maximised.is_none() {
                // Two panels, so that the size dragged to survives collapsing.
                if drawer::is_collapsed(ui, cx) {
                    Panel::bottom("drawer header")
                        .exact_size(drawer::COLLAPSED)
                        .resizable(false)
                        .frame(bar)
                        .show(ui, |ui| drawer::drawer_ui(ui, cx));
                } else {
                    Panel::bottom("drawer")
                        .default_size((size.y * 0.3).max(drawer::FULL))
                        .size_range(160.0..=size.y * 0.7)
                        .resizable(true)
                        .frame(bar)
                        .show(ui, |ui| drawer::drawer_ui(ui, cx));
                }
            }
            middle.show(ui, |ui| panes::panes_ui(ui, cx))
        }
    };
    dialogs::dialogs_ui(ui, cx);
}
