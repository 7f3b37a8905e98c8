//! What the doctor asks of a session that came about: every list, a ping, a method that nobody has, a tool.

use std::time::{Duration, Instant};

use super::Session;
use crate::cancel_token::CancelToken;
use crate::error::Error;
use crate::{Call, Listing};
use loupe_core::capture::{Capture, Outcome, StepState};
use loupe_core::number::number_of;

/// A method that no server has.
const UNKNOWN: &str = "loupe/no-such-method";

impl Session {
    /// Looks at all that a client relies on, each request within `limit`, and tells it as steps: `lists`, `requests`.
    /// No tool is called.
    pub async fn examine(&self, limit: Duration) {
        self.examine_lists(limit).await;
        if self.tap.failure().is_none() {
            self.examine_requests(limit).await;
        }
    }

    async fn examine_lists(&self, limit: Duration) {
        let lists = [
            (Listing::Tools, "/tools"),
            (Listing::Resources, "/resources"),
            (Listing::Prompts, "/prompts"),
        ];
        for (listing, capability) in lists {
            let is_declared = self.server.declares(capability);
            if !is_declared && listing != Listing::Tools {
                continue;
            }
            let (method, member) = listing.names();
            let begun = Instant::now();
            let (answered, state) = match self.list(listing, limit).await {
                Ok(list) => match list.note {
                    Some(note) if is_declared => (note, StepState::Passed),
                    _ if !is_declared && !list.entries.is_empty() => (
                        format!("it lists {member} and declares no such capability"),
                        StepState::Passed,
                    ),
                    _ if !is_declared => continue,
                    _ => {
                        let pages = match list.raw.len() as u64 {
                            1 => String::new(),
                            pages => format!(" on {}", number_of(pages, "pages")),
                        };
                        let count = number_of(list.entries.len() as u64, member);
                        (format!("{count}{pages}"), StepState::Done)
                    }
                },
                Err(_) if !is_declared => continue,
                Err(error) => (error.to_string(), StepState::Failed),
            };
            self.tap.step("lists", begun, method, &answered, state);
            if self.tap.failure().is_some() {
                return;
            }
        }
    }

    async fn examine_requests(&self, limit: Duration) {
        // The era without a handshake has no ping.
        if !self.era.is_stateless() {
            let begun = Instant::now();
            let (answered, state) = match self.request("ping", "{}", limit).await {
                Ok(_) => ("answered".to_owned(), StepState::Done),
                Err(error) => (error.to_string(), StepState::Passed),
            };
            self.tap.step("requests", begun, "ping", &answered, state);
        }
        let begun = Instant::now();
        let (answered, state) = match self.request(UNKNOWN, "{}", limit).await {
            Err(Error::Rpc { error, .. }) => {
                (format!("refused with {}", error.code), StepState::Done)
            }
            // Over HTTP a status may refuse it as well.
            Err(Error::HttpStatus { status, .. }) => {
                (format!("refused with HTTP {status}"), StepState::Done)
            }
            Ok(_) => (
                "answered with a result, where there is no such method".to_owned(),
                StepState::Passed,
            ),
            Err(error) => (
                error.to_string(),
                match self.tap.failure() {
                    Some(_) => StepState::Failed,
                    None => StepState::Passed,
                },
            ),
        };
        self.tap.step(
            "requests",
            begun,
            "a method that nobody has",
            &answered,
            state,
        );
    }

    /// Calls a tool and tells it as the step `call`.
    pub async fn examine_call(&self, call: Call, cancel: CancelToken) -> Capture {
        let (begun, tried) = (Instant::now(), call.tool.name.clone());
        let capture = self.call(call, cancel).await;
        let size = capture.response.as_ref().map_or(0, bytes::Bytes::len);
        let (answered, state) = match (capture.outcome, &capture.problem) {
            (Outcome::Result, _) => (
                format!("`{tried}` answered {}", number_of(size as u64, "bytes")),
                StepState::Done,
            ),
            (_, Some(problem)) => (problem.what.clone(), StepState::Passed),
            (outcome, None) => (
                format!("`{tried}` answered: {}", outcome.name()),
                StepState::Passed,
            ),
        };
        self.tap.step("call", begun, &tried, &answered, state);
        capture
    }
}
