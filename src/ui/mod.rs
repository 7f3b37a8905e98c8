//! The window: paints a `&State`, sends `Action`s, computes nothing.
//!
//! What a frame needs and is not there it asks for through [`Cx::ask`]; the engine answers later. Colours, sizes and
//! icons come from [`theme`] and [`icons`] alone. Uses `state`, `report`, `format`, `capture`, `token`.

pub mod icons;
pub mod theme;
mod widgets;

mod call_bar;
mod commands;
mod connect;
mod dialogs;
mod drawer;
mod panes;
mod sidebar;
mod start;
mod status_bar;
mod top_bar;

use std::cell::RefCell;

use crate::capture::CaptureId;
use crate::report::{Answer, Question};
use crate::state::{Action, Asked, State};

/// The only thing a painting function gets besides its `Ui`: the state to read, and where to send what a person did.
pub struct Cx<'a> {
    pub state: &'a State,
    actions: RefCell<Vec<Action>>,
    wants: RefCell<Vec<(CaptureId, Question)>>,
}

impl<'a> Cx<'a> {
    pub fn new(state: &'a State) -> Self {
        Self { state, actions: RefCell::default(), wants: RefCell::default() }
    }

    /// Sends what a person did; it happens after the frame.
    pub fn send(&self, action: Action) {
        self.actions.borrow_mut().push(action);
    }

    /// Asks a question of the capture shown. What is not known yet is worked on after this frame.
    pub fn ask(&self, question: Question) -> Asked<'a> {
        let Some(id) = &self.state.view.capture else { return Asked::Working { since: self.state.now } };
        self.state.answers.get(id, question).unwrap_or_else(|| {
            let want = (id.clone(), question);
            let mut wants = self.wants.borrow_mut();
            if !wants.contains(&want) {
                wants.push(want);
            }
            Asked::Working { since: self.state.now }
        })
    }

    /// The answer if it is there already; asks for it otherwise.
    pub fn ready(&self, question: Question) -> Option<&'a Answer> {
        match self.ask(question) {
            Asked::Ready(answer) => Some(answer),
            _ => None,
        }
    }

    /// All actions of the frame, the questions last.
    pub fn into_actions(self) -> Vec<Action> {
        let mut actions = self.actions.into_inner();
        let wants = self.wants.into_inner();
        if !wants.is_empty() {
            actions.push(Action::Want(wants));
        }
        actions
    }
}
