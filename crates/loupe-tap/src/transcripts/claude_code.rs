//! Claude Code: JSON Lines, a file per session below `projects/FOLDER/`. The `tool_result` blocks are those that its model
//! gets.

use super::{Format, Found, TranscriptHost, arguments, text, time};
use loupe_analysis::queries::{GivenCall, GivenPart};
use loupe_core::json::{Doc, Kind, Node};

pub(super) const HOST: TranscriptHost = TranscriptHost {
    id: "claude-code",
    name: "Claude Code",
    versions: &["2.1.197", "2.1.332"],
    export: None,
    client: "claude-code",
    folder: |places| {
        Some(
            places
                .folder("CLAUDE_CONFIG_DIR", ".claude")?
                .join("projects"),
        )
    },
    is_transcript: |path| path.extension().is_some_and(|ending| ending == "jsonl"),
    format: Format::Lines {
        words: &["\"tool_use\"", "\"tool_result\""],
        read,
    },
};

fn read(doc: &Doc, found: &mut Found) {
    found.version(doc, "/version");
    let at = time(doc.at("/timestamp"));
    let blocks = doc.at("/message/content");
    for block in blocks.into_iter().flat_map(Node::children) {
        match text(block, "type").as_deref() {
            Some("tool_use") => {
                let (Some(id), Some(name)) = (text(block, "id"), text(block, "name")) else {
                    continue;
                };
                let call = GivenCall {
                    name,
                    arguments: arguments(block.get("input")),
                    at,
                    ..GivenCall::default()
                };
                found.call(&id, call);
            }
            Some("tool_result") => {
                let Some(id) = text(block, "tool_use_id") else {
                    continue;
                };
                found.result(&id, |call| {
                    call.parts = block.get("content").map(parts).unwrap_or_default();
                    let is_error = block.get("is_error").and_then(Node::as_bool);
                    call.is_error = Some(is_error.unwrap_or(false));
                });
            }
            _ => {}
        }
    }
}

fn parts(content: Node<'_>) -> Vec<GivenPart> {
    if let Some(text) = content.as_str() {
        return vec![GivenPart::Text(text.into_owned())];
    }
    if content.kind() != Kind::Array {
        return Vec::new();
    }
    let part = |block: Node<'_>| match text(block, "type").as_deref() {
        Some("text") => GivenPart::Text(text(block, "text").unwrap_or_default()),
        kind => {
            let mime = block
                .at("/source/media_type")
                .and_then(Node::as_str)
                .map(|mime| mime.into_owned());
            GivenPart::Media(mime.or(kind.map(str::to_owned)).unwrap_or_default())
        }
    };
    content.children().map(part).collect()
}
