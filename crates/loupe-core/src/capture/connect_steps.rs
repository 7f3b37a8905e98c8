//! What happened while a connection was made, step by step: plain data for the window and the command line.

use std::time::Duration;

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepState {
    Done,
    /// The result was another than hoped for, and the next way was tried.
    Passed,
    Failed,
}

/// One step of connecting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What it is, such as `find the program`, `start`, `resolve`, `connect`, `TLS`, `HTTP`, `login`, `negotiate`, `list`.
    pub name: &'static str,
    /// When it ended, since connecting began.
    pub at: Duration,
    /// How long it took; `None` where it cannot be distinguished from the step after it.
    pub took: Option<Duration>,
    /// What was tried; secrets masked.
    pub tried: String,
    /// What came of it.
    pub answered: String,
    pub state: StepState,
}

impl Step {
    /// The step on one line, for a terminal.
    pub fn line(&self) -> String {
        let mark = match self.state {
            StepState::Done => "ok",
            StepState::Passed => "went on",
            StepState::Failed => "failed",
        };
        let took = self
            .took
            .map(|took| format!(" ({})", milliseconds(took)))
            .unwrap_or_default();
        let arrow = if self.answered.is_empty() {
            ""
        } else {
            " → "
        };
        format!(
            "{}: {}{arrow}{}: {mark}{took}",
            self.name, self.tried, self.answered
        )
    }
}

/// A short time for people: `0.4 ms`, `35 ms`, `2.1 s`.
pub fn milliseconds(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1000.0;
    match ms {
        ..10.0 => format!("{ms:.1} ms"),
        ..1000.0 => format!("{ms:.0} ms"),
        _ => format!("{:.1} s", ms / 1000.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_one_line() {
        let step = Step {
            name: "negotiate",
            at: Duration::from_millis(40),
            took: Some(Duration::from_micros(1_250)),
            tried: "server/discover".into(),
            answered: "error -32601".into(),
            state: StepState::Passed,
        };
        assert_eq!(
            step.line(),
            "negotiate: server/discover → error -32601: went on (1.2 ms)"
        );
        assert_eq!(milliseconds(Duration::from_millis(2_140)), "2.1 s");
    }
}
