//! A task from the answer that names it to its result: looked at as often as the server says, its questions put to whoever
//! answers, cancelled with the call it belongs to.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::{HARD_LIMIT, RequestOutcome, Session, TimeLimit, WaitEnd};
use crate::cancel_token::CancelToken;
use crate::input_requests::{self, Extra, Stop};
use crate::tap::{Answer, End, SideMessages, Text};
use crate::tasks::Task;
use loupe_core::capture::{Direction, Message};
use loupe_core::json::Doc;

/// The call that a task stands for.
pub(super) struct Following<'a> {
    /// When its first request was made; messages are timed from there.
    pub first: Instant,
    /// What is said on the way.
    pub beside: &'a mut SideMessages,
    /// The time limit of one request.
    pub limit: Duration,
}

/// What came of it.
pub(super) struct FollowedTask {
    pub asked: RequestOutcome,
    /// When the request was made that it answers.
    pub begun: Instant,
    /// That request; `None` where it is none but the call's own.
    pub request: Option<Bytes>,
    pub stop: Option<Stop>,
}

/// A request and its answer, as messages of the call they belong to.
pub(super) fn pair(
    request: &Bytes,
    answer: &Answer,
    begun: Instant,
    left: Option<Instant>,
    first: Instant,
) -> [Message; 2] {
    let at = |instant: Instant| instant.saturating_duration_since(first);
    [
        Message {
            at: at(left.unwrap_or(begun)),
            direction: Direction::Out,
            bytes: request.clone(),
        },
        Message {
            at: at(answer.ended),
            direction: Direction::In,
            bytes: answer.bytes.clone(),
        },
    ]
}

fn over(ended: WaitEnd) -> RequestOutcome {
    RequestOutcome {
        ended,
        beside: SideMessages::default(),
        left_at: None,
    }
}

impl Session {
    /// Follows a task to its end.
    pub(super) async fn follow(
        &self,
        mut task: Task,
        call: &mut Following<'_>,
        cancel: &CancelToken,
    ) -> FollowedTask {
        let hard = call.limit.saturating_mul(HARD_LIMIT);
        let deadline = self.tap.deadline.limit(hard);
        tokio::pin!(deadline);
        let (mut answered, mut rounds_made) = (Vec::new(), 0);
        let ended = |ended| FollowedTask {
            asked: over(ended),
            begun: Instant::now(),
            request: None,
            stop: None,
        };
        while !task.is_over(&self.era) {
            task.report(&self.tap);
            let is_over = tokio::select! {
                biased;
                () = cancel.cancelled() => Some(WaitEnd::Cancelled),
                () = &mut deadline => Some(WaitEnd::TimedOut(hard)),
                () = tokio::time::sleep(task.poll) => None,
            };
            if let Some(over) = is_over {
                self.cancel_task(&task);
                return ended(over);
            }
            let begun = Instant::now();
            let (asked, sent) = self
                .ask_of_task(&task, "tasks/get", &Extra::default(), call.limit, cancel)
                .await;
            let WaitEnd::End(End::Answer(answer)) = &asked.ended else {
                // Nobody looks at it any more.
                self.cancel_task(&task);
                return FollowedTask {
                    asked,
                    begun,
                    request: Some(sent),
                    stop: None,
                };
            };
            let Some(now) = Task::read(&answer.bytes) else {
                // Not what a task is; it is the answer, and shown as such.
                return FollowedTask {
                    asked,
                    begun,
                    request: Some(sent),
                    stop: None,
                };
            };
            if self.era.is_stateless() && now.is_final() {
                now.report(&self.tap);
                let stop = (now.status == "cancelled").then(|| {
                    let message = now
                        .message
                        .as_deref()
                        .map(|message| format!(": {message}"))
                        .unwrap_or_default();
                    call.beside
                        .notes
                        .push(format!("the server cancelled the task{message}"));
                    Stop::Cancelled
                });
                return FollowedTask {
                    asked,
                    begun,
                    request: Some(sent),
                    stop,
                };
            }
            let answer = answer.bytes.clone();
            call.keep(asked, &sent, begun);
            task = now;
            let wanted = (self.era.is_stateless() && task.is_asking())
                .then(|| input_requests::of_task(&self.tap, &answer, &answered));
            let Some(round) = wanted.flatten() else {
                continue;
            };
            task.report(&self.tap);
            rounds_made += 1;
            let limit = deadline.as_mut();
            let extra = match input_requests::answer(
                &self.tap,
                &round,
                rounds_made,
                limit,
                cancel,
                &mut call.beside.notes,
            )
            .await
            {
                Ok(extra) => extra,
                Err(stop) => {
                    self.cancel_task(&task);
                    return FollowedTask {
                        stop: Some(stop),
                        ..ended(WaitEnd::Cancelled)
                    };
                }
            };
            answered.extend(round.asks.into_iter().map(|(key, _)| key));
            let begun = Instant::now();
            let (asked, kept) = self
                .ask_of_task(&task, "tasks/update", &extra, call.limit, cancel)
                .await;
            let is_taken = match &asked.ended {
                WaitEnd::End(End::Answer(Answer {
                    fault: None, bytes, ..
                })) => Doc::parse(bytes.clone()).at("/result").is_some(),
                _ => false,
            };
            if !is_taken {
                // What was answered to the answers is what came of the call.
                self.cancel_task(&task);
                return FollowedTask {
                    asked,
                    begun,
                    request: Some(kept),
                    stop: None,
                };
            }
            call.keep(asked, &kept, begun);
        }
        task.report(&self.tap);
        if self.era.is_stateless() {
            // It was over before anybody looked at it, and its result stands where it is looked at.
            let begun = Instant::now();
            let (asked, sent) = self
                .ask_of_task(&task, "tasks/get", &Extra::default(), call.limit, cancel)
                .await;
            return FollowedTask {
                asked,
                begun,
                request: Some(sent),
                stop: None,
            };
        }
        let begun = Instant::now();
        let (asked, sent) = self
            .ask_of_task(&task, "tasks/result", &Extra::default(), call.limit, cancel)
            .await;
        if matches!(asked.ended, WaitEnd::Cancelled | WaitEnd::TimedOut(_)) && !task.is_final() {
            self.cancel_task(&task);
        }
        FollowedTask {
            asked,
            begun,
            request: Some(sent),
            stop: None,
        }
    }

    /// Sends something about a task, with members as they go out and as they are kept; what was kept comes with the answer.
    async fn ask_of_task(
        &self,
        task: &Task,
        method: &str,
        extra: &Extra,
        limit: Duration,
        cancel: &CancelToken,
    ) -> (RequestOutcome, Bytes) {
        let mut kept = Bytes::new();
        let write = |id| {
            kept = task.request(&self.era, id, method, &extra.kept);
            Text {
                sent: task.request(&self.era, id, method, &extra.sent),
                kept: kept.clone(),
            }
        };
        let asked = self
            .ask(write, &mut TimeLimit::new(&self.tap, limit), cancel)
            .await;
        (
            asked.unwrap_or_else(|error| over(WaitEnd::End(End::Lost(Arc::new(error))))),
            kept,
        )
    }

    /// It is told, and not waited for; a late answer is in the log.
    fn cancel_task(&self, task: &Task) {
        if let Ok(waiting) = self
            .tap
            .request(|id| task.request(&self.era, id, "tasks/cancel", ""))
        {
            self.tap.abandon(waiting.id);
        }
    }
}

impl Following<'_> {
    /// Keeps a request and what came of it among the messages of the call.
    fn keep(&mut self, asked: RequestOutcome, sent: &Bytes, begun: Instant) {
        let pair = match &asked.ended {
            WaitEnd::End(End::Answer(answer)) => {
                Some(pair(sent, answer, begun, asked.left_at, self.first))
            }
            _ => None,
        };
        self.beside
            .add(asked.beside, begun.saturating_duration_since(self.first));
        pair.into_iter()
            .flatten()
            .for_each(|message| self.beside.push(message));
    }
}
