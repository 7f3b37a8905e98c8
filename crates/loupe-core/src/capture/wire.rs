//! One message of the wire as the protocol log lists it: whose it is, what it answers, how large it is. Plain data; the
//! exact bytes stay with it.

use std::time::Duration;

use bytes::Bytes;

use super::{Direction, Message};

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum LineKind {
    Request,
    Notification,
    Response,
    /// A response that is an error.
    Error,
    /// A line of stderr.
    Stderr,
    /// Nothing that MCP knows.
    Unreadable,
}

impl LineKind {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// One row of the protocol log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Since the session began.
    pub at: Duration,
    pub direction: Direction,
    pub kind: LineKind,
    pub method: Option<String>,
    /// As it is in the message.
    pub id: Option<String>,
    pub bytes: Bytes,
    /// The revision of the protocol that it is of: where it is in the message itself, else that of what it answers
    /// or of the session. Unknown before one is named.
    pub version: Option<String>,
}

impl Line {
    /// The message as it went or came.
    pub fn message(&self) -> Message {
        Message {
            at: self.at,
            direction: self.direction,
            bytes: self.bytes.clone(),
        }
    }
}
