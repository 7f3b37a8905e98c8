//! Tasks: a call that is answered with a task, which is followed until its result can be had.
//!
//! Up to 2025-11-25 the client asks for a task, and for its result by a request of its own, on whose stream the server
//! asks what it wants to know. Since 2026-07-28 (extension `io.modelcontextprotocol/tasks`, stable of 2026-07-28) the
//! server decides, the task itself holds its result, and what the server wants is answered by `tasks/update`.

use std::time::Duration;

use bytes::Bytes;

use super::SessionEvent;
use super::era::Era;
use super::tap::Tap;
use loupe_core::capture::Tool;
use loupe_core::json::{Doc, Node};

/// The extension, as it is declared.
pub(super) const TASKS: &str = "io.modelcontextprotocol/tasks";
/// How often a task is looked at where the server names no interval, and between what bounds it may name one.
const POLL: Duration = Duration::from_secs(1);
const POLL_MIN: Duration = Duration::from_millis(200);
const POLL_MAX: Duration = Duration::from_secs(30);

/// What a tool says about being called as a task: `execution.taskSupport`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Support {
    Forbidden,
    Optional,
    Required,
}

pub(super) fn support(tool: &Tool) -> Support {
    let doc = Doc::parse(tool.raw.clone());
    match doc
        .at("/execution/taskSupport")
        .and_then(Node::as_str)
        .as_deref()
    {
        Some("required") => Support::Required,
        Some("optional") => Support::Optional,
        _ => Support::Forbidden,
    }
}

/// Whether the answer to a call may be a task at all: one was asked for, or the answer says by its type that it is one. Any
/// other result may well have a member of that name.
pub(super) fn may_be_one(request: &Bytes, answer: &Bytes) -> bool {
    let request = Doc::parse(request.clone());
    let is_asked_for = request
        .at("/params/task")
        .is_some_and(|task| !task.is_null());
    let is_said = || {
        Doc::parse(answer.clone())
            .at("/result/resultType")
            .and_then(Node::as_str)
            .as_deref()
            == Some("task")
    };
    is_asked_for || is_said()
}

/// A task as the server last described it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Task {
    /// As JSON text, to be sent back as it came.
    pub id: String,
    pub status: String,
    pub message: Option<String>,
    pub(crate) poll: Duration,
}

impl Task {
    /// From the answer to `tools/call` (where it is under `task`) or to `tasks/get` (where it is the result).
    pub(super) fn read(message: &Bytes) -> Option<Self> {
        memchr::memmem::find(message, b"\"taskId\"")?;
        let doc = Doc::parse(message.clone());
        let result = doc.at("/result")?;
        let task = match result.get("task") {
            Some(task) => task,
            None if result.get("content").is_none() => result,
            None => return None,
        };
        let id = task.get("taskId").filter(|id| id.as_str().is_some())?;
        let poll = task
            .get("pollInterval")
            .or_else(|| task.get("pollIntervalMs"))
            .and_then(Node::as_f64);
        let poll = poll
            .and_then(|ms| Duration::try_from_secs_f64(ms / 1_000.0).ok())
            .unwrap_or(POLL);
        Some(Self {
            id: id.raw_text().into_owned(),
            status: task.get("status").and_then(Node::as_str)?.into_owned(),
            message: task
                .get("statusMessage")
                .and_then(Node::as_str)
                .map(|text| text.into_owned()),
            poll: poll.clamp(POLL_MIN, POLL_MAX),
        })
    }

    /// Whether there is nothing left to wait for but its result: in a session the server asks what it wants while the
    /// result is waited for.
    pub(super) fn is_over(&self, era: &Era) -> bool {
        if era.is_stateless() {
            self.is_final()
        } else {
            self.status != "working"
        }
    }

    /// Whether it waits for answers of ours.
    pub(super) fn is_asking(&self) -> bool {
        self.status == "input_required"
    }

    pub(super) fn is_final(&self) -> bool {
        matches!(self.status.as_str(), "completed" | "failed" | "cancelled")
    }

    pub(super) fn report(&self, tap: &Tap) {
        let id = Doc::parse(Bytes::copy_from_slice(self.id.as_bytes()));
        let id = id
            .root()
            .and_then(Node::as_str)
            .unwrap_or_default()
            .into_owned();
        tap.emit(SessionEvent::Task {
            id,
            status: self.status.clone(),
            message: self.message.clone(),
        });
    }

    pub(super) fn request(&self, era: &Era, id: i64, method: &str, extra: &str) -> Bytes {
        let params = format!(r#"{{"taskId":{}}}"#, self.id);
        era.request(&id.to_string(), method, params.as_bytes(), extra, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_a_task_only_where_one_was_asked_for_or_is_said() {
        let may_be_one = |request: &'static str, answer: &'static str| {
            may_be_one(
                &Bytes::from_static(request.as_bytes()),
                &Bytes::from_static(answer.as_bytes()),
            )
        };
        let answer = r#"{"id":1,"result":{"task":{"taskId":"a","status":"working"}}}"#;
        assert!(may_be_one(
            r#"{"id":1,"params":{"name":"t","task":{}}}"#,
            answer
        ));
        assert!(!may_be_one(
            r#"{"id":1,"params":{"name":"t","arguments":{"task":{}}}}"#,
            answer
        ));
        let words = r#"{"id":1,"result":{"resultType":"task","taskId":"a","status":"working"}}"#;
        assert!(may_be_one(r#"{"id":1,"params":{"name":"t"}}"#, words));
    }

    #[test]
    fn tasks_are_read_from_both_answers() {
        let read = |text: &'static str| Task::read(&Bytes::from_static(text.as_bytes()));
        let task = read(
            r#"{"id":1,"result":{"task":{"taskId":"a\/b","status":"working","pollInterval":1,"statusMessage":"on it"}}}"#,
        );
        let task = task.unwrap();
        assert_eq!(
            (task.id.as_str(), task.poll, task.is_over(&Era::default())),
            (r#""a\/b""#, POLL_MIN, false)
        );
        assert!(
            read(r#"{"id":1,"result":{"taskId":"a","status":"completed"}}"#)
                .unwrap()
                .is_final()
        );
        assert_eq!(
            read(r#"{"id":1,"result":{"content":[],"taskId":"a","status":"working"}}"#),
            None
        );
        assert_eq!(read(r#"{"id":1,"error":{"taskId":"a"}}"#), None);
    }
}
