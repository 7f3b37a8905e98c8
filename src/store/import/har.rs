//! HTTP archives (HAR 1.2), as browsers, proxies and Loupe itself write them.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::ReadAs;
use super::pair::{Paired, pair};
use super::{Entry, Importer, Input};
use loupe_core::capture::{Direction, HttpInfo, Timings};
use loupe_core::json::{Doc, Kind, Node};
use loupe_core::problem::Problem;

pub(super) const IMPORTER: Importer = Importer {
    kind: ReadAs::Har,
    title: "an HTTP archive",
    detect: |input| {
        input
            .doc
            .at("/log/entries")
            .is_some_and(|entries| entries.kind() == Kind::Array)
    },
    read,
};

/// Headers of a result that are kept: no other can be known to hold no secret.
const KEPT: &[&str] = &[
    "content-type",
    "content-length",
    "content-encoding",
    "mcp-protocol-version",
    "date",
    "server",
];

fn read(input: &Input<'_>) -> Result<Paired, Problem> {
    let entries = input
        .doc
        .at("/log/entries")
        .into_iter()
        .flat_map(Node::children);
    pair(input, "http", IMPORTER.title, entries.flat_map(exchange))
}

fn exchange(entry: Node<'_>) -> Vec<Entry> {
    let text = |pointer: &str| {
        entry
            .at(pointer)
            .and_then(Node::as_str)
            .map(|text| text.into_owned())
    };
    let time = |pointer: &str| {
        let milliseconds = entry
            .at(pointer)
            .and_then(Node::as_f64)
            .filter(|time| (0.0..1e12).contains(time));
        milliseconds
            .map(|time| Duration::from_nanos((time * 1e6).round() as u64))
            .unwrap_or_default()
    };
    let started_at =
        text("/startedDateTime").and_then(|time| OffsetDateTime::parse(&time, &Rfc3339).ok());
    let timings = Timings {
        send: time("/timings/send"),
        server: time("/timings/wait"),
        receive: time("/timings/receive"),
    };
    let headers = entry
        .at("/response/headers")
        .into_iter()
        .flat_map(Node::children)
        .filter_map(|header| {
            let member = |name: &str| Some(header.get(name)?.as_str()?.into_owned());
            let name = member("name")?;
            KEPT.contains(&name.to_lowercase().as_str())
                .then_some((name, member("value")?))
        });
    let status = entry
        .at("/response/status")
        .and_then(Node::as_i64)
        .and_then(|status| u16::try_from(status).ok());
    let http = status.filter(|status| *status > 0).map(|status| HttpInfo {
        status,
        headers: headers.collect(),
    });
    let request = text("/request/postData/text")
        .map(Bytes::from)
        .unwrap_or_default();
    let came = text("/response/content/text").unwrap_or_default();
    let came = match text("/response/content/encoding").as_deref() {
        Some("base64") => BASE64_STANDARD.decode(came).unwrap_or_default().into(),
        _ => Bytes::from(came),
    };
    let url = text("/request/url");
    let sent = messages(&request).into_iter().map(|bytes| Entry {
        bytes,
        direction: Some(Direction::Out),
        started_at,
        url: url.clone(),
        ..Entry::default()
    });
    let came = messages(&came).into_iter().map(|bytes| Entry {
        bytes,
        direction: Some(Direction::In),
        timings: Some(timings),
        http: http.clone(),
        ..Entry::default()
    });
    sent.chain(came).collect()
}

/// The messages in a body, which is JSON, a batch of it, or a stream of events; none where it holds no JSON-RPC.
fn messages(body: &Bytes) -> Vec<Bytes> {
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
