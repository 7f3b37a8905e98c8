//! The messages in an HTTP body: JSON, a batch of it, or a stream of events.

use bytes::Bytes;

use crate::json::{Doc, Kind, Node};

/// The messages; none where the body holds no JSON-RPC.
pub(super) fn messages(body: &Bytes) -> Vec<Bytes> {
    let doc = Doc::parse(body.clone());
    if let Some(root) = doc.root().filter(|_| doc.is_json()) {
        let of = |node: Node<'_>| node.get("jsonrpc").is_some().then(|| node.raw_bytes());
        return match root.kind() {
            Kind::Array => root.children().filter_map(of).collect(),
            // As it stands, spaces around it included: it is the body.
            _ => of(root).map(|_| body.clone()).into_iter().collect(),
        };
    }
    let text = String::from_utf8_lossy(body);
    let mut found = Vec::new();
    let mut data: Vec<&str> = Vec::new();
    for line in text.lines().chain([""]) {
        if let Some(rest) = line.strip_prefix("data:") {
            data.push(rest.strip_prefix(' ').unwrap_or(rest));
        } else if line.is_empty() && !data.is_empty() {
            let message = Bytes::from(std::mem::take(&mut data).join("\n"));
            let doc = Doc::parse(message.clone());
            if doc.is_json() && doc.at("/jsonrpc").is_some() {
                found.push(message);
            }
        }
    }
    found
}
