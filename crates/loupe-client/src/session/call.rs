//! A call from its request to its capture: rounds of input the server requests first, a task instead of a result (`poll_task`),
//! the judgement of what came.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use time::OffsetDateTime;

use super::poll_task::{Following, pair};
use super::{RequestOutcome, Session, TimeLimit, WaitEnd};
use crate::cancel_token::CancelToken;
use crate::error::Error;
use crate::input_requests::{self, Extra, Stop};
use crate::tap::{Answer, End, SideMessages, Text};
use crate::tasks::{self, Task};
use loupe_core::capture::{
    Capture, CaptureId, ExtraFiles, Outcome, ParsedResponse, ResponseIndex, Server, Timings, Tool,
};
use loupe_core::json::{Doc, FaultKind};
use loupe_core::problem::{Problem, ProblemKind};

/// The last request of a call, and what came of it.
struct Rounds {
    begun: Instant,
    request: Bytes,
    /// What passed besides the answer, of all requests.
    beside: SideMessages,
    round_number: usize,
    stop: Option<Stop>,
    /// Since when the user's thinking counts, see [`crate::deadline`].
    counted: crate::deadline::Counted,
    asked: RequestOutcome,
    finished: Instant,
}

impl Session {
    /// Sends a request, and repeats it as often as the server first requests input (`input_requests`). `write` makes it of an id
    /// and of the members that a repeated one has in addition.
    pub(super) async fn exchange(
        &self,
        id: CaptureId,
        tool: Tool,
        arguments: Bytes,
        write: impl Fn(i64, &str) -> Bytes,
        (method, limit): (&'static str, Duration),
        cancel: CancelToken,
    ) -> Capture {
        let (started_at, first_begun) = (OffsetDateTime::now_utc(), Instant::now());
        let Rounds {
            begun,
            request,
            mut beside,
            round_number,
            stop,
            counted,
            asked,
            finished,
        } = self
            .ask_in_rounds(write, (method, limit), &cancel, first_begun)
            .await;
        beside.add(asked.beside, begun.saturating_duration_since(first_begun));
        if round_number > 0 {
            let is_answered = matches!(asked.ended, WaitEnd::End(End::Answer(_))) && stop.is_none();
            beside.notes.push(round_note(round_number, is_answered));
        }
        let SideMessages {
            messages,
            mut notes,
            ..
        } = beside.finish();
        notes.extend(self.called_as.clone());
        let left_at = asked.left_at.unwrap_or(begun);
        let held = self.tap.deadline.held_since(counted);
        let mut capture = Capture {
            name: Arc::clone(&id.0),
            id,
            // A capture is about its answer, and opens again from its folder as it was.
            server: Server {
                capabilities: None,
                ..self.server.clone()
            },
            timings: Timings {
                send: left_at.saturating_duration_since(begun),
                server: finished
                    .saturating_duration_since(left_at)
                    .saturating_sub(held),
                receive: Duration::ZERO,
            },
            started_at,
            outcome: Outcome::Disconnected,
            arguments,
            request,
            response: None,
            index: ResponseIndex::default(),
            messages,
            http: None,
            problem: None,
            notes,
            carried: ExtraFiles::default(),
            read_text: loupe_core::capture::ReadText::Auto,
            tool,
        };
        self.take_end(&mut capture, asked.ended, (left_at, held), method);
        match stop {
            Some(Stop::Cancelled) => set_cancelled(&mut capture),
            Some(Stop::TimedOut) => self.set_timed_out(&mut capture, method, limit),
            Some(Stop::Unanswered(why)) => capture.notes.push(why),
            None => {}
        }
        // It quotes what came.
        capture.problem = capture
            .problem
            .map(|problem| self.tap.known.problem(problem));
        capture
    }

    /// Sends the request, as often as the server first wants something, and follows a task instead of an answer.
    async fn ask_in_rounds(
        &self,
        write: impl Fn(i64, &str) -> Bytes,
        (method, limit): (&'static str, Duration),
        cancel: &CancelToken,
        first_begun: Instant,
    ) -> Rounds {
        let mut begun = first_begun;
        let mut request = Bytes::new();
        // Of all requests of the call, one bound for all.
        let mut beside = SideMessages::up_to(self.tap.limits.beside);
        let (mut extra, mut round_number) = (Extra::default(), 0);
        let mut stop = None;
        let mut time = TimeLimit::new(&self.tap, limit);
        // The user's thinking is none of the server's time.
        let mut counted = self.tap.deadline.count();
        let (asked, finished) = loop {
            let write = |id| {
                request = write(id, &extra.kept);
                Text {
                    sent: write(id, &extra.sent),
                    kept: request.clone(),
                }
            };
            let asked = self.ask(write, &mut time, cancel).await;
            let finished = Instant::now();
            let asked = asked.unwrap_or_else(|error| RequestOutcome {
                ended: WaitEnd::End(End::Lost(Arc::new(error))),
                beside: SideMessages::default(),
                left_at: None,
            });
            let WaitEnd::End(End::Answer(answer @ Answer { fault: None, .. })) = &asked.ended
            else {
                break (asked, finished);
            };
            if let Some(round) = input_requests::read(&self.tap, &answer.bytes) {
                round_number += 1;
                let limit = self.tap.deadline.until(time.since, limit);
                match input_requests::answer(
                    &self.tap,
                    &round,
                    round_number,
                    limit,
                    cancel,
                    &mut beside.notes,
                )
                .await
                {
                    Ok(next) => {
                        let pair = pair(&request, answer, begun, asked.left_at, first_begun);
                        beside.add(asked.beside, begun.saturating_duration_since(first_begun));
                        pair.into_iter().for_each(|message| beside.push(message));
                        (extra, begun, counted) = (next, Instant::now(), self.tap.deadline.count());
                        continue;
                    }
                    Err(why) => stop = Some(why),
                }
                break (asked, finished);
            }
            match Task::read(&answer.bytes) {
                Some(task)
                    if method == "tools/call" && tasks::may_be_one(&request, &answer.bytes) =>
                {
                    let pair = pair(&request, answer, begun, asked.left_at, first_begun);
                    beside.add(asked.beside, begun.saturating_duration_since(first_begun));
                    pair.into_iter().for_each(|message| beside.push(message));
                    let mut following = Following {
                        first: first_begun,
                        beside: &mut beside,
                        limit,
                    };
                    let followed = self.follow(task, &mut following, cancel).await;
                    (begun, stop, counted) =
                        (followed.begun, followed.stop, self.tap.deadline.count());
                    if let Some(sent) = followed.request {
                        request = sent;
                    }
                    break (followed.asked, Instant::now());
                }
                _ => break (asked, finished),
            }
        };
        Rounds {
            begun,
            request,
            beside,
            round_number,
            stop,
            counted,
            asked,
            finished,
        }
    }

    /// Writes into the capture how waiting ended: a response, a lost connection, a time limit, a cancel.
    fn take_end(
        &self,
        capture: &mut Capture,
        ended: WaitEnd,
        (left_at, held): (Instant, Duration),
        method: &'static str,
    ) {
        match ended {
            WaitEnd::End(End::Answer(answer)) => {
                self.take_answer(capture, answer, left_at, held);
            }
            WaitEnd::End(End::Lost(error)) => {
                let problem = Problem::from(&*error);
                capture.outcome = if problem.kind == ProblemKind::Malformed {
                    Outcome::Malformed
                } else {
                    Outcome::Disconnected
                };
                capture.problem = Some(problem);
            }
            WaitEnd::TimedOut(passed) => self.set_timed_out(capture, method, passed),
            WaitEnd::Cancelled => set_cancelled(capture),
        }
    }

    fn take_answer(&self, capture: &mut Capture, answer: Answer, left_at: Instant, held: Duration) {
        capture.timings.server = answer
            .begun
            .saturating_duration_since(left_at)
            .saturating_sub(held);
        capture.timings.receive = answer
            .ended
            .saturating_duration_since(answer.begun.max(left_at));
        capture.http = answer.http.map(|http| (*http).clone());
        capture.response = Some(answer.bytes.clone());
        let judged = match answer.fault {
            Some(fault) => {
                let problem = Problem::from(fault);
                // Broken off, or whole but none.
                let is_broken = problem.kind == ProblemKind::Disconnected;
                let outcome = if is_broken {
                    Outcome::Disconnected
                } else {
                    Outcome::Malformed
                };
                Judged {
                    outcome,
                    problem: Some(problem),
                    index: ResponseIndex::default(),
                }
            }
            None => {
                let doc = answer
                    .doc
                    .unwrap_or_else(|| Arc::new(Doc::parse(answer.bytes)));
                judge(&doc, self.tap.place.clone())
            }
        };
        (capture.outcome, capture.problem, capture.index) =
            (judged.outcome, judged.problem, judged.index);
        if let Some(problem) = capture
            .problem
            .as_mut()
            .filter(|problem| problem.kind == ProblemKind::Malformed)
        {
            problem.hint = Some("look at the exact bytes in the `wire` view".into());
        }
    }

    fn set_timed_out(&self, capture: &mut Capture, method: &'static str, passed: Duration) {
        capture.outcome = Outcome::Timeout;
        capture.problem = Some(self.timeout(method, passed).into());
    }
}

fn set_cancelled(capture: &mut Capture) {
    capture.outcome = Outcome::Cancelled;
    let place = capture.tool.name.clone();
    capture.problem = Some(Error::Cancelled { place }.into());
}

/// "the server asked for input in 2 rounds before this answer; …".
fn round_note(rounds: usize, is_answered: bool) -> String {
    let rounds = match rounds {
        1 => "one round".to_owned(),
        _ => format!("{rounds} rounds"),
    };
    let before = if is_answered {
        " before this answer"
    } else {
        ""
    };
    format!("the server asked for input in {rounds}{before}; each stands among the messages")
}

/// What an answer was found to be.
struct Judged {
    outcome: Outcome,
    /// What to say where it is no result.
    problem: Option<Problem>,
    index: ResponseIndex,
}

/// What an answer is, and what to say where it is no result.
fn judge(doc: &Arc<Doc>, place: String) -> Judged {
    let reading = ParsedResponse::without_blocks(doc);
    let outcome = reading.outcome();
    let problem = match (outcome, &reading.rpc_error) {
        (Outcome::ProtocolError, Some(error)) => Some(
            Error::Rpc {
                place,
                error: error.clone(),
            }
            .into(),
        ),
        (Outcome::Malformed, _) => {
            let fault = reading
                .doc
                .faults()
                .iter()
                .find(|fault| fault.kind.is_fatal());
            let what = match fault {
                Some(fault) if fault.kind == FaultKind::TooMany => {
                    format!(
                        "the answer has {}; from byte {} on it is not read",
                        fault.kind.message(),
                        fault.at
                    )
                }
                Some(fault) => format!(
                    "the answer is not JSON: {} at byte {}",
                    fault.kind.message(),
                    fault.at
                ),
                None if reading.result().is_some() => {
                    "the answer's `result` is null, and there is no error".into()
                }
                None => "the answer has neither a result nor an error".into(),
            };
            Some(Error::Malformed { place, what }.into())
        }
        _ => None,
    };
    Judged {
        outcome,
        problem,
        index: ResponseIndex::new(doc),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_beside_a_null_result_is_an_error() {
        let judge = |text: &'static str| {
            super::judge(
                &Arc::new(Doc::parse(Bytes::from_static(text.as_bytes()))),
                String::new(),
            )
        };
        let both =
            judge(r#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":-1,"message":"no"}}"#);
        assert_eq!(
            (both.outcome, both.problem.unwrap().kind),
            (Outcome::ProtocolError, ProblemKind::RpcError)
        );
        assert_eq!(
            judge(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]},"error":null}"#).outcome,
            Outcome::Result
        );
    }
}
