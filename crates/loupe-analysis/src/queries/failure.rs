//! The failure of a call, from the outcome of its capture.

use loupe_core::capture::Outcome;
use loupe_core::format::ParsedCapture;
use loupe_core::problem::{Problem, ProblemKind};

/// The failure that a capture's outcome amounts to; `None` where a result came, `isError` included.
pub fn failure(subject: &ParsedCapture) -> Option<Problem> {
    let capture = &subject.capture;
    let kind = match capture.outcome {
        Outcome::Result | Outcome::ToolError => return unanswered(subject),
        Outcome::ProtocolError => ProblemKind::RpcError,
        Outcome::Malformed => ProblemKind::Malformed,
        Outcome::Timeout => ProblemKind::Timeout,
        Outcome::Cancelled => ProblemKind::Cancelled,
        Outcome::Disconnected => ProblemKind::Disconnected,
    };
    if let Some(problem) = &capture.problem {
        // The exit status follows the outcome, unless what was noticed says more: nothing was sent, or the server wants a login.
        let says_more = matches!(
            problem.kind,
            ProblemKind::Usage
                | ProblemKind::Arguments
                | ProblemKind::Auth
                | ProblemKind::HttpStatus
        );
        return Some(if says_more {
            problem.clone()
        } else {
            Problem {
                kind,
                ..problem.clone()
            }
        });
    }
    let what = match capture.outcome {
        Outcome::ProtocolError => subject.response.rpc_error.as_ref().map_or_else(
            || "the server answered with an error".to_owned(),
            |error| format!("the server answered with error{}", error.detail()),
        ),
        Outcome::Malformed => match subject.response.faults.first() {
            Some(fault) => format!("the answer cannot be read: {fault}"),
            None => "the answer cannot be read".to_owned(),
        },
        Outcome::Timeout => "no answer within the time limit".to_owned(),
        Outcome::Cancelled => "interrupted".to_owned(),
        _ => "the server went away before it answered".to_owned(),
    };
    let problem = Problem::new(kind, what).at(capture.tool.name.clone());
    Some(match capture.outcome {
        Outcome::Malformed => problem.hint("`--view wire` shows what came"),
        Outcome::Timeout => problem.hint("allow more time with `--timeout SECONDS`"),
        _ => problem,
    })
}

/// A result that only asks for input first, which nobody gave, is none.
fn unanswered(subject: &ParsedCapture) -> Option<Problem> {
    let kind = subject.response.result()?.get("resultType")?.as_str()?;
    (kind == "input_required").then(|| {
        Problem::new(
            ProblemKind::Consent,
            "the server wants input before it answers, and got none",
        )
        .at(subject.capture.tool.name.clone())
        .hint("`--elicit`, `--sampling-reply` and `--root` answer what servers ask")
    })
}
