//! What a server wants inside of a result before it can answer (2026-07-28): the questions are put to whoever answers, and
//! the request is repeated with their answers. Every round stays visible as a request and a response of its own.

use std::time::Duration;

use bytes::Bytes;
use tokio::sync::oneshot;

use super::cancel_token::CancelToken;
use super::server_requests::{Answer, MASKED};
use super::tap::Tap;
use loupe_core::server_request::{Reply, RequestKind, Round, ServerRequest};

/// A server that asks more often than this is not answered any more.
pub(super) const MAX_ROUNDS: usize = 10;
/// The pause before a request is repeated for which nothing was asked; it doubles each time.
const PAUSE: Duration = Duration::from_millis(200);

/// The members that the repeated request has next to those of the first.
#[derive(Clone, Debug, Default)]
pub(super) struct Extra {
    pub sent: String,
    pub kept: String,
}

/// What a task wants that was not answered before; nothing where all of it was.
pub(super) fn of_task(tap: &Tap, message: &Bytes, answered: &[String]) -> Option<Round> {
    let count = Round::of_task(message, 0, answered).asks.len();
    (count > 0).then(|| Round::of_task(message, tap.open_round(count), answered))
}

/// Reads a response message; `None` where it is an answer.
pub(super) fn read(tap: &Tap, message: &Bytes) -> Option<Round> {
    let count = Round::read(message, 0)?.asks.len();
    Round::read(message, tap.open_round(count))
}

/// Why a round ends the call.
pub(super) enum Stop {
    Cancelled,
    TimedOut,
    /// For people.
    Unanswered(String),
}

/// Has the questions answered. `number` is that of the round, from 1; `limit` ends when the call's time has passed, which
/// stands still while anybody is asked; notes are for the capture.
pub(super) async fn answer(
    tap: &Tap,
    round: &Round,
    number: usize,
    limit: impl Future<Output = ()>,
    cancel: &CancelToken,
    notes: &mut Vec<String>,
) -> Result<Extra, Stop> {
    if number > MAX_ROUNDS {
        return Err(Stop::Unanswered(format!(
            "the server asked for input {MAX_ROUNDS} times and still has no answer; it is not answered again"
        )));
    }
    if round.asks.is_empty() {
        // It only asks to be asked again.
        let pause = PAUSE * (1 << (number - 1).min(6));
        tokio::select! {
            () = cancel.cancelled() => return Err(Stop::Cancelled),
            () = limit => return Err(Stop::TimedOut),
            () = tokio::time::sleep(pause) => {}
        }
    }
    // The user's time does not count.
    let _hold = tap.deadline.hold();
    let mut waiting = Vec::new();
    for (key, ask) in &round.asks {
        match ask {
            Ok(ask) if tap.takes(ask) => waiting.push((ask, None)),
            Ok(ask) => return Err(Stop::Unanswered(unasked(&ask.method))),
            Err(method) => {
                return Err(Stop::Unanswered(format!(
                    "the server wants `{method}` under {key}, which Loupe does not know"
                )));
            }
        }
    }
    for (ask, slot) in &mut waiting {
        *slot = Some(put(tap, ask));
    }
    let keys: Vec<u64> = waiting.iter().map(|(ask, _)| ask.key).collect();
    let (mut sent, mut kept, mut is_masked) = (Vec::new(), Vec::new(), false);
    for (ask, slot) in waiting {
        let Some(slot) = slot else { continue };
        let reply = tokio::select! {
            () = cancel.cancelled() => {
                tap.withdraw(keys, "the call was cancelled");
                return Err(Stop::Cancelled);
            }
            // Whoever was asked went away.
            reply = slot => reply.unwrap_or(Reply::Cancel),
        };
        match reply.result() {
            Ok(result) => {
                tap.add_secrets(ask, &reply);
                let masked = ask.masked(&reply).and_then(|reply| reply.result().ok());
                is_masked |= masked.is_some();
                kept.push(masked.unwrap_or_else(|| result.clone()));
                sent.push(result);
            }
            Err(why) => {
                tap.withdraw(keys, "the call is over");
                return Err(Stop::Unanswered(format!(
                    "`{}` was refused: {why}",
                    ask.method
                )));
            }
        }
    }
    if is_masked && !notes.iter().any(|note| note == MASKED) {
        notes.push(MASKED.into());
    }
    Ok(Extra {
        sent: round.members(&sent),
        kept: round.members(&kept),
    })
}

fn unasked(method: &str) -> String {
    let option = match method {
        loupe_core::server_request::ELICITATION => "--elicit",
        loupe_core::server_request::SAMPLING => "--sampling-reply",
        _ => "--root",
    };
    format!(
        "the server wants an answer to `{method}` first, which was not declared (on the command line, `{option}` answers it)"
    )
}

/// Puts one question to whoever answers; roots are known.
fn put(tap: &Tap, ask: &ServerRequest) -> oneshot::Receiver<Reply> {
    let (give, given) = oneshot::channel();
    let answering = tap.answering();
    let answer = Answer::new(move |reply| {
        // The call may be over.
        give.send(reply).ok();
    });
    match (&ask.wants, answering.roots, answering.asker) {
        (RequestKind::Roots, Some(roots), _) => answer.give(Reply::Roots(roots)),
        (_, _, Some(asker)) => asker(ask.clone(), answer),
        _ => drop(answer),
    }
    given
}
