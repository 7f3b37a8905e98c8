//! Messages as rows of the protocol log: the envelope is peeked at, the rest is skipped.

use bytes::Bytes;

use super::envelope::{Envelope, Id, Member, Peek, peek};
use loupe_core::capture::{Direction, Line, LineKind, Message};
use loupe_core::json::Doc;
use loupe_core::source::Protocol;

/// What names a revision is smaller than this.
const VERSION_BYTES: usize = 1 << 20;

/// The row of a message, which is peeked at where nobody did yet.
pub(super) fn line(message: &Message, peeked: Option<&Peek<'_>>) -> Line {
    let row = |kind, method, id| Line {
        at: message.at,
        direction: message.direction,
        kind,
        method,
        id,
        bytes: message.bytes.clone(),
        version: None,
    };
    if message.direction == Direction::Stderr {
        return row(LineKind::Stderr, None, None);
    }
    let own = peeked.is_none().then(|| peek(&message.bytes));
    let Some(Peek::Object(envelope)) = peeked.or(own.as_ref()) else {
        return row(LineKind::Unreadable, None, None);
    };
    let id = envelope
        .id_range
        .clone()
        .map(|range| String::from_utf8_lossy(&message.bytes[range]).into_owned());
    Line {
        version: Some(&message.bytes)
            .filter(|bytes| bytes.len() <= VERSION_BYTES)
            .and_then(version),
        ..row(kind(envelope), envelope.method.clone(), id)
    }
}

/// The revision that a message names: a request of the era without sessions in its `_meta`, a handshake in what it
/// proposes and agrees to.
fn version(bytes: &Bytes) -> Option<String> {
    // A cheap look first: of a session only its beginning names one.
    memchr::memmem::find(bytes, b"protocolVersion")?;
    let doc = Doc::parse(bytes.clone());
    let places = [
        "/params/_meta/io.modelcontextprotocol~1protocolVersion",
        "/params/protocolVersion",
        "/result/protocolVersion",
    ];
    let named = places
        .iter()
        .find_map(|place| doc.at(place)?.as_str().map(|version| version.into_owned()));
    named.filter(|version| Protocol::VERSIONS.contains(&version.as_str()))
}

fn kind(envelope: &Envelope) -> LineKind {
    match (&envelope.method, &envelope.id) {
        (Some(_), Id::Absent) => LineKind::Notification,
        (Some(_), _) => LineKind::Request,
        (None, _) if envelope.error == Member::Present => LineKind::Error,
        (None, _) if envelope.is_response() => LineKind::Response,
        (None, _) => LineKind::Unreadable,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn rows_tell_what_a_message_is() {
        for (text, kind, id) in [
            (
                r#"{"jsonrpc":"2.0","id":"a\u0062","method":"x"}"#,
                LineKind::Request,
                Some(r#""a\u0062""#),
            ),
            (
                r#"{"jsonrpc":"2.0","method":"x"}"#,
                LineKind::Notification,
                None,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1.0,"result":{}}"#,
                LineKind::Response,
                Some("1.0"),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"error":{}}"#,
                LineKind::Error,
                Some("1"),
            ),
            ("hello", LineKind::Unreadable, None),
        ] {
            let message = Message {
                at: Duration::ZERO,
                direction: Direction::In,
                bytes: Bytes::from_static(text.as_bytes()),
            };
            let line = line(&message, None);
            assert_eq!((line.kind, line.id.as_deref()), (kind, id), "{text}");
        }
    }

    #[test]
    fn the_revision_is_read_where_a_message_names_it() {
        for (text, version) in [
            (
                r#"{"id":1,"method":"x","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
                Some("2026-07-28"),
            ),
            (
                r#"{"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#,
                Some("2025-11-25"),
            ),
            (
                r#"{"id":0,"result":{"protocolVersion":"2024-11-05"}}"#,
                Some("2024-11-05"),
            ),
            (
                r#"{"id":0,"result":{"protocolVersion":"of something else"}}"#,
                None,
            ),
            (
                r#"{"id":0,"result":{"content":[{"text":"protocolVersion"}]}}"#,
                None,
            ),
        ] {
            assert_eq!(
                super::version(&Bytes::from_static(text.as_bytes())).as_deref(),
                version,
                "{text}"
            );
        }
    }
}
