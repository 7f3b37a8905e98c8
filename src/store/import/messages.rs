//! JSON Lines of messages: bare ones, Loupe's own (`--transcript`, `messages.jsonl`), and lines in which a recorder or
//! proxy put a message next to its own members.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::ReadAs;
use super::pair::{Paired, pair};
use super::{Entry, Importer, Input};
use loupe_core::capture::Direction;
use loupe_core::json::{Doc, Kind, Node};
use loupe_core::problem::Problem;

pub(super) const IMPORTER: Importer = Importer {
    kind: ReadAs::Messages,
    title: "JSON Lines of messages",
    detect,
    read,
};

/// Lines that are looked at to tell what a file is.
const LOOKED_AT: usize = 20;

/// More than one line, the first ones holding messages.
fn detect(input: &Input<'_>) -> bool {
    if input.doc.is_json() {
        return false;
    }
    let first: Vec<Bytes> = input.lines().take(LOOKED_AT).collect();
    first.len() > 1 && first.iter().filter(|line| entry(line).is_some()).count() * 2 > first.len()
}

fn read(input: &Input<'_>) -> Result<Paired, Problem> {
    pair(
        input,
        "file",
        IMPORTER.title,
        input.lines().filter_map(|line| entry(&line)),
    )
}

pub(super) fn entry(line: &Bytes) -> Option<Entry> {
    let doc = Doc::parse(line.clone());
    let root = doc
        .root()
        .filter(|root| doc.is_json() && root.kind() == Kind::Object)?;
    if root.get("jsonrpc").is_some() {
        return Some(Entry {
            bytes: line.clone(),
            ..Entry::default()
        });
    }
    let word = |names: &[&str]| names.iter().find_map(|name| root.get(name)?.as_str());
    let direction =
        word(&["dir", "direction"]).and_then(|word| match word.to_lowercase().as_str() {
            "in" | "recv" | "received" | "incoming" | "server" | "s2c" | "server-to-client"
            | "server->client" => Some(Direction::In),
            "out" | "send" | "sent" | "outgoing" | "client" | "c2s" | "client-to-server"
            | "client->server" => Some(Direction::Out),
            _ => None,
        });
    let at = root
        .get("atMs")
        .and_then(Node::as_f64)
        .filter(|at| (0.0..1e12).contains(at));
    let at = at.map(|at| Duration::from_nanos((at * 1e6).round() as u64));
    // Others write the time of day.
    let started_at = word(&["ts", "timestamp", "time"])
        .and_then(|time| OffsetDateTime::parse(&time, &Rfc3339).ok());
    let since_epoch = started_at.and_then(|at| (at - OffsetDateTime::UNIX_EPOCH).try_into().ok());
    let bytes = match root.get("base64").and_then(Node::as_str) {
        Some(text) => Bytes::from(BASE64_STANDARD.decode(&*text).ok()?),
        None => root.children().find_map(message)?,
    };
    Some(Entry {
        bytes,
        direction,
        at: at.or(since_epoch),
        started_at,
        ..Entry::default()
    })
}

/// The message that a member is, or holds as text.
fn message(member: Node<'_>) -> Option<Bytes> {
    let bytes = match member.kind() {
        Kind::Object => member.raw_bytes(),
        Kind::String => Bytes::from(member.as_str()?.into_owned()),
        _ => return None,
    };
    let doc = Doc::parse(bytes.clone());
    (doc.is_json() && doc.at("/jsonrpc").is_some()).then_some(bytes)
}
