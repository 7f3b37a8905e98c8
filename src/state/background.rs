//! Work that the user asked for and that no pane waits for: exports, saved files, fixtures. It shows in the status bar.

use std::time::Duration;

use super::{Effect, State};

/// How soon work that is still going on is worth a word.
const SHOWN_AFTER: Duration = Duration::from_millis(300);

/// Work that is going on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackgroundTask {
    pub number: u64,
    /// "Writing the export".
    pub what: &'static str,
    pub since: Duration,
}

/// What the engine reports of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackgroundEvent {
    Began { number: u64, what: &'static str },
    Ended { number: u64 },
}

impl State {
    /// The oldest that takes a while, and for how long.
    pub fn background(&self) -> Option<(&BackgroundTask, Duration)> {
        let task = self.background.first()?;
        let took = self.now.saturating_sub(task.since);
        (took >= SHOWN_AFTER).then_some((task, took))
    }

    pub(super) fn background_event(&mut self, event: BackgroundEvent) {
        match event {
            BackgroundEvent::Began { number, what } => {
                self.background.push(BackgroundTask {
                    number,
                    what,
                    since: self.now,
                });
            }
            BackgroundEvent::Ended { number } => {
                self.background.retain(|task| task.number != number)
            }
        }
    }

    pub(super) fn cancel_background(&mut self, number: u64, effects: &mut Vec<Effect>) {
        if let Some(task) = self.background.iter().find(|task| task.number == number) {
            let text = format!("{}: cancelling", task.what);
            self.toast(&text);
            effects.push(Effect::CancelBackground(number));
        }
    }
}
