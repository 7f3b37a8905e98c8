//! A request under way: what is sent, what comes next to its answer, how it ends, and what keeps its time limit off.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::{oneshot, watch};

use crate::error::Error;
use loupe_core::capture::{HttpInfo, Message};
use loupe_core::json::Doc;
use loupe_core::number::number_of;

/// What a call keeps of the messages next to it.
const BESIDE_BYTES: usize = 16 << 20;
/// Notes are for people; a flood of them is not.
const MAX_NOTES: usize = 50;

#[derive(Debug)]
pub(crate) struct Answer {
    pub bytes: Bytes,
    /// The index over it, where it was made already.
    pub doc: Option<Arc<Doc>>,
    pub begun: Instant,
    pub ended: Instant,
    /// Why it does not count although it came.
    pub fault: Option<Error>,
    pub http: Option<Arc<HttpInfo>>,
}

/// How a request ended, seen from the wire.
#[derive(Debug)]
pub(crate) enum End {
    Answer(Answer),
    Lost(Arc<Error>),
}

/// What came next to the answer.
#[derive(Debug, Default)]
pub(crate) struct SideMessages {
    pub messages: Vec<Message>,
    pub notes: Vec<String>,
    bytes: usize,
    dropped: usize,
    /// Messages that are kept.
    most: usize,
}

impl SideMessages {
    pub(crate) fn up_to(most: usize) -> Self {
        Self {
            most,
            ..Self::default()
        }
    }

    pub(crate) fn note(&mut self, note: &str) {
        if self.notes.len() < MAX_NOTES && !self.notes.iter().any(|known| known == note) {
            self.notes.push(note.to_owned());
        }
    }

    pub(crate) fn push(&mut self, message: Message) {
        self.bytes += message.bytes.len();
        if self.messages.len() < self.most && self.bytes <= BESIDE_BYTES {
            self.messages.push(message);
        } else {
            self.dropped += 1;
        }
    }

    /// What came next to a later request of the same call, which began `by` after the first.
    pub(crate) fn add(&mut self, later: SideMessages, by: Duration) {
        later.messages.into_iter().for_each(|message| {
            self.push(Message {
                at: message.at + by,
                ..message
            })
        });
        later.notes.iter().for_each(|note| self.note(note));
        self.dropped += later.dropped;
    }

    /// In the order in which it came; what is not kept is said.
    pub(crate) fn finish(mut self) -> Self {
        self.messages.sort_by_key(|message| message.at);
        if self.dropped > 0 {
            self.notes.push(format!(
                "{} more messages came during the call and are not kept",
                self.dropped
            ));
        }
        self
    }
}

/// What keeps the time limit of a request from running out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Activity {
    /// Signs of life so far: progress.
    pub signs: u64,
    /// The server waits for us, not we for it.
    pub is_asked: bool,
}

pub(crate) struct Pending {
    pub(super) started: Instant,
    pub(super) beside: SideMessages,
    pub(super) unreadable: u64,
    /// Those that came before it.
    pub(super) unreadable_before: u64,
    /// The last thing that came meanwhile and was nothing of MCP, or an answer to nothing that was asked.
    pub(super) odd: Option<Bytes>,
    /// The server has said something else meanwhile.
    pub(super) is_heard: bool,
    pub(super) activity: watch::Sender<Activity>,
    /// They came as lines of a program's standard output.
    pub(super) is_in_lines: bool,
    /// It stays open next to the others: what comes meanwhile is none of its own.
    pub(crate) is_aside: bool,
    /// Told what of it the server takes, once.
    pub(super) agree: Option<oneshot::Sender<Bytes>>,
    pub(super) done: oneshot::Sender<(End, SideMessages)>,
}

impl Pending {
    pub(crate) fn note(&mut self, note: &str) {
        self.beside.note(note);
    }

    /// The server has taken it, or a part of it; whoever asked may be gone.
    pub(crate) fn agreed(&mut self, to: Bytes) {
        if let Some(agree) = self.agree.take() {
            agree.send(to).ok();
        }
    }

    /// The server is at work.
    pub(crate) fn touch(&self) {
        self.activity.send_modify(|activity| activity.signs += 1);
    }

    pub(super) fn finish(mut self, end: End) {
        self.count();
        // Nobody waits any more for a call that was given up.
        self.done.send((end, self.beside)).ok();
    }

    /// It is not waited for any more.
    pub(super) fn give_up(mut self) -> AbandonedRequest {
        self.count();
        AbandonedRequest {
            beside: self.beside,
            odd: self.odd.filter(|_| !self.is_heard),
        }
    }

    /// Says how much of what came was unreadable.
    fn count(&mut self) {
        if self.unreadable > 0 {
            let sum = self.unreadable + self.unreadable_before;
            let of = if self.unreadable_before > 0 {
                format!(" ({sum} since the start)")
            } else {
                String::new()
            };
            let hint = if self.is_in_lines {
                "; stdout is for MCP messages alone, logs belong on stderr"
            } else {
                ""
            };
            self.beside.note(&format!(
                "{} came during the call{of}{hint}",
                number_of(self.unreadable, "unreadable lines")
            ));
        }
    }
}

/// What is left of a request that was given up.
#[derive(Debug, Default)]
pub(crate) struct AbandonedRequest {
    pub beside: SideMessages,
    /// The last of what came instead of an answer, where nothing else was heard.
    pub odd: Option<Bytes>,
}

/// A message to send, and how it is kept: the same, unless there are secrets in it.
pub(crate) struct Text {
    pub sent: Bytes,
    pub kept: Bytes,
}

impl From<Bytes> for Text {
    fn from(bytes: Bytes) -> Self {
        Self {
            sent: bytes.clone(),
            kept: bytes,
        }
    }
}

/// A request under way.
pub(crate) struct PendingRequest {
    pub id: i64,
    pub left: oneshot::Receiver<io::Result<Instant>>,
    pub activity: watch::Receiver<Activity>,
    pub done: oneshot::Receiver<(End, SideMessages)>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use loupe_core::capture::Direction;

    #[test]
    fn what_came_beside_all_requests_of_a_call_is_bounded_and_in_order() {
        let message = |ms| Message {
            at: Duration::from_millis(ms),
            direction: Direction::In,
            bytes: Bytes::new(),
        };
        let mut first = SideMessages::up_to(4);
        first.push(message(7));
        first.note("said");
        for round in 0..3 {
            let mut later = SideMessages::up_to(4);
            later.push(message(1));
            later.push(message(2));
            later.note("said");
            first.add(later, Duration::from_millis(2 + round));
        }
        let beside = first.finish();
        let times: Vec<_> = beside
            .messages
            .iter()
            .map(|message| message.at.as_millis())
            .collect();
        assert_eq!(times, [3, 4, 4, 7]);
        assert_eq!(
            beside.notes,
            [
                "said",
                "3 more messages came during the call and are not kept"
            ]
        );
    }
}
