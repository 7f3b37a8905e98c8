//! One call several times, one at a time: what it is, how far it got, and when it asks first.

use std::sync::Arc;

use bytes::Bytes;

use super::{Dialog, Effect, Screen, State};
use crate::capture::{Capture, CaptureId, Outcome, Tool};
use crate::problem::{Kind, Problem};

/// Calls that a series has at most.
pub const MAX_CALLS: u32 = 100;

/// A series of calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Repeating {
    pub tool: String,
    /// As they are sent, each time.
    pub arguments: Bytes,
    /// Calls that are wanted.
    pub count: u32,
    /// Answers that came, in order.
    pub captures: Vec<CaptureId>,
    /// The number of the call in flight.
    call: Option<u64>,
    /// Whether the series ended before all its calls were made.
    pub is_stopped: bool,
}

impl Repeating {
    pub fn is_running(&self) -> bool {
        self.call.is_some()
    }

    /// Whether the answer to this call belongs to the series.
    pub(super) fn expects(&self, call: u64) -> bool {
        self.call == Some(call)
    }

    /// No further call; the one in flight still counts.
    pub(super) fn stop(&mut self) {
        if self.call.is_some() {
            self.is_stopped = true;
        }
    }
}

/// What a person does with a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RepeatAction {
    /// Shows the screen for the tool and the arguments of the form.
    Open,
    SetCount(u32),
    /// Begins; asks first where the tool is not declared read-only.
    Start,
    /// The person has said yes.
    Confirm,
    /// The person has said yes to the call that reconnecting repeats.
    ConfirmAgain,
}

impl State {
    pub(super) fn change_repeat(&mut self, action: RepeatAction, effects: &mut Vec<Effect>) {
        match action {
            RepeatAction::Open => self.open_repeat(),
            RepeatAction::SetCount(count) => {
                if !self.repeat.is_running() {
                    self.repeat.count = count.clamp(2, MAX_CALLS);
                }
            }
            RepeatAction::Start => {
                let Some(tool) = self.repeated_tool() else { return };
                if tool.is_declared_read_only() || self.connection.is_sample() {
                    self.start_repeat(effects);
                } else {
                    self.dialog = Some(Dialog::ConfirmRepeat {
                        tool: tool.name.clone(),
                        arguments: self.repeat.arguments.clone(),
                        count: self.repeat.count,
                    });
                }
            }
            RepeatAction::Confirm => {
                self.dialog = None;
                self.start_repeat(effects);
            }
            RepeatAction::ConfirmAgain => self.confirm_again(effects),
        }
    }

    fn open_repeat(&mut self) {
        self.view.screen = Screen::Repeat;
        if self.repeat.is_running() {
            return;
        }
        let (Some(tool), Some(form)) = (self.tool().map(|listed| listed.tool.name.clone()), self.form()) else { return };
        let arguments = Bytes::copy_from_slice(form.text.as_bytes());
        if self.repeat.tool != tool || self.repeat.arguments != arguments {
            self.repeat = Repeating { tool, arguments, count: self.repeat.count, ..Repeating::default() };
        }
        if self.repeat.count == 0 {
            self.repeat.count = 5;
        }
    }

    fn repeated_tool(&mut self) -> Option<Arc<Tool>> {
        if !self.connection.is_connected() {
            let problem = Problem::new(Kind::Disconnected, "not connected").hint("reconnect (Ctrl R), then repeat again");
            self.toast_problem(problem);
            return None;
        }
        if self.running.is_some() || self.form().is_some_and(|form| form.syntax.is_some()) {
            return None;
        }
        self.tools.iter().find(|listed| listed.tool.name == self.repeat.tool).map(|listed| Arc::clone(&listed.tool))
    }

    fn start_repeat(&mut self, effects: &mut Vec<Effect>) {
        let Some(tool) = self.repeated_tool() else { return };
        self.repeat.captures.clear();
        self.repeat.is_stopped = false;
        self.repeat.call = Some(self.begin_call(tool, self.repeat.arguments.clone(), effects));
    }

    /// One answer of the series: the next call follows, unless the person or the server ended it.
    pub(super) fn repeated(&mut self, capture: Arc<Capture>, effects: &mut Vec<Effect>) {
        let is_gone = matches!(capture.outcome, Outcome::Cancelled | Outcome::Disconnected);
        self.repeat.call = None;
        self.repeat.captures.push(capture.id.clone());
        let screen = self.view.screen;
        self.view.show(capture.id.clone());
        self.view.screen = screen;
        self.captures.push(capture);
        let is_done = self.repeat.captures.len() >= self.repeat.count as usize;
        self.repeat.is_stopped |= is_gone && !is_done;
        if is_done || self.repeat.is_stopped {
            return;
        }
        match self.repeated_tool() {
            Some(tool) => self.repeat.call = Some(self.begin_call(tool, self.repeat.arguments.clone(), effects)),
            None => self.repeat.is_stopped = true,
        }
    }
}
