//! Records of Claude Code's sessions (JSON Lines): what MCP tools answered, as its model was given it.
//!
//! The server's message is not in such a record, only what the host made of it; the captures say so. Beside that, newer
//! versions keep `structuredContent` and `_meta` as the server sent them (`mcpMeta`).

use std::collections::HashMap;

use bytes::Bytes;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::ReadAs;
use super::pair::Paired;
use super::{Importer, Input};
use loupe_core::capture::{Capture, Outcome, Tool};
use loupe_core::json::{Doc, Kind, Node};
use loupe_core::problem::Problem;

pub(super) const IMPORTER: Importer = Importer {
    kind: ReadAs::ClaudeCode,
    title: "a record of a Claude Code session",
    detect,
    read,
};

/// What a capture of it notes.
const NOTE: &str =
    "from a record of Claude Code: what its model was given, not what the server sent";
/// Lines that are looked at to tell what a file is.
const LOOKED_AT: usize = 50;
/// What the name of a tool begins with: `mcp__SERVER__TOOL`.
const PREFIX: &str = "mcp__";

fn detect(input: &Input<'_>) -> bool {
    input.lines().take(LOOKED_AT).any(|line| {
        let doc = Doc::parse(line);
        doc.is_json()
            && doc.at("/sessionId").is_some()
            && doc
                .at("/message/content")
                .is_some_and(|content| content.kind() == Kind::Array)
    })
}

struct Asked {
    name: String,
    arguments: Bytes,
    at: Option<OffsetDateTime>,
}

fn read(input: &Input<'_>) -> Result<Paired, Problem> {
    let mut asked: HashMap<String, Asked> = HashMap::new();
    let mut captures = Vec::new();
    for line in input.lines() {
        let doc = Doc::parse(line);
        let at = doc
            .at("/timestamp")
            .and_then(Node::as_str)
            .and_then(|time| OffsetDateTime::parse(&time, &Rfc3339).ok());
        let blocks = || {
            doc.at("/message/content")
                .into_iter()
                .flat_map(Node::children)
        };
        let is_result = |block: &Node<'_>| {
            block
                .get("type")
                .and_then(Node::as_str)
                .is_some_and(|kind| kind == "tool_result")
        };
        // It belongs to the one result of the line.
        let beside = doc
            .at("/mcpMeta")
            .filter(|_| blocks().filter(is_result).count() == 1);
        for block in blocks() {
            let text = |key: &str| {
                block
                    .get(key)
                    .and_then(Node::as_str)
                    .map(|text| text.into_owned())
            };
            match text("type").as_deref() {
                Some("tool_use") => {
                    let (Some(id), Some(name)) = (text("id"), text("name")) else {
                        continue;
                    };
                    if name.starts_with(PREFIX) {
                        let arguments = block.get("input").map(Node::raw_bytes).unwrap_or_default();
                        asked.insert(
                            id,
                            Asked {
                                name,
                                arguments,
                                at,
                            },
                        );
                    }
                }
                Some("tool_result") => {
                    let Some(call) = text("tool_use_id").and_then(|id| asked.remove(&id)) else {
                        continue;
                    };
                    captures.push(capture(
                        input,
                        captures.len() + 1,
                        call,
                        (block, beside),
                        at,
                    ));
                }
                _ => {}
            }
        }
    }
    Ok(Paired {
        captures,
        client: "claude-code".to_owned(),
        ..Paired::default()
    })
}

fn capture(
    input: &Input<'_>,
    number: usize,
    call: Asked,
    (block, beside): (Node<'_>, Option<Node<'_>>),
    at: Option<OffsetDateTime>,
) -> Capture {
    let is_error = block
        .get("is_error")
        .and_then(Node::as_bool)
        .unwrap_or(false);
    let mut result = b"{\"content\":".to_vec();
    match block.get("content") {
        Some(content) if content.kind() == Kind::Array => result.extend_from_slice(content.raw()),
        Some(content) if content.kind() == Kind::String => {
            result.extend_from_slice(b"[{\"type\":\"text\",\"text\":");
            result.extend_from_slice(content.raw());
            result.extend_from_slice(b"}]");
        }
        _ => result.extend_from_slice(b"[]"),
    }
    for member in ["structuredContent", "_meta"] {
        if let Some(value) = beside
            .and_then(|beside| beside.get(member))
            .filter(|value| value.kind() == Kind::Object)
        {
            result.extend_from_slice(format!(",\"{member}\":").as_bytes());
            result.extend_from_slice(value.raw());
        }
    }
    if is_error {
        result.extend_from_slice(b",\"isError\":true");
    }
    result.push(b'}');
    let (server, tool) = call
        .name
        .strip_prefix(PREFIX)
        .and_then(|rest| rest.split_once("__"))
        .unwrap_or(("", &call.name));
    let mut capture = input.capture(number, "file", format!("answer {number} of {}", input.name));
    capture.server.name = server.to_owned();
    capture.tool = Tool::unlisted(tool);
    capture.arguments = call.arguments;
    capture.response = Some(
        [
            br#"{"jsonrpc":"2.0","id":1,"result":"#.as_slice(),
            &result,
            b"}",
        ]
        .concat()
        .into(),
    );
    capture.outcome = if is_error {
        Outcome::ToolError
    } else {
        Outcome::Result
    };
    capture.started_at = call.at.unwrap_or(OffsetDateTime::UNIX_EPOCH);
    if let (Some(begun), Some(ended)) = (call.at, at) {
        capture.timings.server = (ended - begun).try_into().unwrap_or_default();
    }
    capture
        .notes
        .extend([Capture::NO_WIRE, NOTE].map(str::to_owned));
    capture
}
