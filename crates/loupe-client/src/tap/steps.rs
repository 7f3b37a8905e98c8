//! The steps of connecting, as they are told.

use std::time::{Duration, Instant};

use super::Tap;
use crate::SessionEvent;
use loupe_core::capture::{Step, StepState};

impl Tap {
    /// A step of connecting begins.
    pub(crate) fn begin_step(&self, name: &'static str, tried: &str) {
        self.state().step = Some((name, tried.into(), Instant::now()));
    }

    /// The step under way has ended.
    pub(crate) fn end_step(&self, answered: &str, state: StepState) {
        let step = self.state().step.take();
        if let Some((name, tried, begun)) = step {
            self.step(name, begun, &tried, answered, state);
        }
    }

    /// Connecting has failed: the step under way is the one that did, unless one has said so itself.
    pub(crate) fn fail_step(&self, why: &str) {
        let (under_way, has_failed) = {
            let state = self.state();
            (
                state.step.is_some(),
                state
                    .steps
                    .last()
                    .is_some_and(|step| step.state == StepState::Failed),
            )
        };
        match (under_way, has_failed) {
            (_, true) => {}
            (true, false) => self.end_step(why, StepState::Failed),
            (false, false) => self.add_step("connect", None, &self.place, why, StepState::Failed),
        }
    }

    /// What is being waited for.
    pub(crate) fn waiting_for(&self) -> String {
        let state = self.state();
        let tried = state
            .step
            .as_ref()
            .map(|(_, tried, _)| tried.split(" (").next().unwrap_or_default().to_owned());
        tried.unwrap_or_else(|| "the connection".into())
    }

    /// Notes a step of connecting that has just ended.
    pub(crate) fn step(
        &self,
        name: &'static str,
        begun: Instant,
        tried: &str,
        answered: &str,
        state: StepState,
    ) {
        self.add_step(name, Some(begun.elapsed()), tried, answered, state);
    }

    pub(crate) fn add_step(
        &self,
        name: &'static str,
        took: Option<Duration>,
        tried: &str,
        answered: &str,
        state: StepState,
    ) {
        let text = |text: &str| self.known.words(text).into_owned();
        let step = Step {
            name,
            at: self.began.elapsed(),
            took,
            tried: text(tried),
            answered: text(answered),
            state,
        };
        self.state().steps.push(step.clone());
        self.emit(SessionEvent::Step(step));
    }

    pub(crate) fn steps(&self) -> Vec<Step> {
        self.state().steps.clone()
    }
}
