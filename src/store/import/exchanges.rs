//! One JSON document with messages in it: an array of messages, or of pairs of a request and its response, as the official
//! inspector keeps its history. The parts of a pair are messages, or texts that hold one.

use bytes::Bytes;

use super::ReadAs;
use super::pair::pair;
use super::{Entry, Importer, Input};
use crate::capture::{Capture, Direction};
use crate::json::{Doc, Kind, Node};
use crate::problem::Problem;

pub(super) const IMPORTER: Importer =
    Importer { kind: ReadAs::Exchanges, title: "a list of exchanges", detect: |input| list(&input.doc).is_some(), read };

/// Members that hold the list, where the document is an object.
const LISTS: &[&str] = &["history", "requestHistory", "messages", "exchanges", "requests", "entries"];

/// What the methods of MCP begin with.
const METHODS: &[&str] = &["initialize", "ping", "tools/", "resources/", "prompts/", "completion/", "logging/"];

fn list(doc: &Doc) -> Option<Node<'_>> {
    let root = doc.root().filter(|_| doc.is_json())?;
    let mut candidates = LISTS.iter().filter_map(|name| root.get(name)).chain([root]);
    candidates.find(|list| list.kind() == Kind::Array && list.children().any(|item| !entries(item, 0).is_empty()))
}

fn read(input: &Input<'_>) -> Result<Vec<Capture>, Problem> {
    let items = list(&input.doc).into_iter().flat_map(Node::children).enumerate();
    pair(input, "file", IMPORTER.title, items.flat_map(|(at, item)| entries(item, at)))
}

/// The messages of an item.
fn entries(item: Node<'_>, at: usize) -> Vec<Entry> {
    if let Some(bytes) = message(item) {
        return vec![Entry { bytes, ..Entry::default() }];
    }
    let (request, response) = (item.get("request"), item.get("response"));
    let of = |bytes: Bytes, direction| Entry { bytes, direction: Some(direction), ..Entry::default() };
    let sent = request.and_then(|request| message(request).or_else(|| bare_request(request, at)));
    // A response without an envelope is told from other data by its request alone.
    let came = response.and_then(|response| message(response).or_else(|| bare_result(response, at).filter(|_| sent.is_some())));
    sent.map(|bytes| of(bytes, Direction::Out)).into_iter().chain(came.map(|bytes| of(bytes, Direction::In))).collect()
}

/// The message that a value is, or holds as text.
fn message(node: Node<'_>) -> Option<Bytes> {
    let bytes = text(node)?;
    let doc = Doc::parse(bytes.clone());
    (doc.is_json() && doc.at("/jsonrpc").is_some()).then_some(bytes)
}

/// The JSON that a value is, or holds as text.
fn text(node: Node<'_>) -> Option<Bytes> {
    match node.kind() {
        Kind::Object => Some(node.raw_bytes()),
        Kind::String => Some(Bytes::from(node.as_str()?.into_owned())),
        _ => None,
    }
}

/// A request of MCP without its envelope, as the inspector's history has them: with one that pairs it with its result.
fn bare_request(node: Node<'_>, at: usize) -> Option<Bytes> {
    let bytes = text(node)?;
    let doc = Doc::parse(bytes.clone());
    let method = doc.root().filter(|_| doc.is_json())?.get("method")?.as_str()?;
    if !METHODS.iter().any(|known| method.starts_with(known)) {
        return None;
    }
    let inside = String::from_utf8_lossy(&bytes);
    let members = inside.trim().strip_prefix('{')?;
    Some(Bytes::from(format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{at}\",{members}")))
}

/// A result without its envelope.
fn bare_result(node: Node<'_>, at: usize) -> Option<Bytes> {
    let bytes = text(node)?;
    let doc = Doc::parse(bytes.clone());
    doc.root().filter(|root| doc.is_json() && root.kind() == Kind::Object)?;
    Some(Bytes::from(format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{at}\",\"result\":{}}}", String::from_utf8_lossy(&bytes).trim())))
}
