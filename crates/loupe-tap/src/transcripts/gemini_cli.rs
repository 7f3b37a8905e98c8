//! Gemini CLI: JSON Lines, `tmp/PROJECT/chats/session-*.jsonl`. A message is written again when its calls have results.

use super::{Format, Found, TranscriptHost, arguments, text, time};
use loupe_analysis::queries::{GivenCall, GivenPart};
use loupe_core::json::{Doc, Kind, Node};

pub(super) const HOST: TranscriptHost = TranscriptHost {
    id: "gemini-cli",
    name: "Gemini CLI",
    // The transcripts do not name it: these were run.
    versions: &["0.61.0"],
    export: None,
    client: "gemini-cli-mcp-client",
    folder: |places| {
        let home = places.path("GEMINI_CLI_HOME").or_else(|| places.home())?;
        Some(home.join(".gemini").join("tmp"))
    },
    is_transcript: |path| {
        let name = path.file_name().map(|name| name.to_string_lossy());
        name.is_some_and(|name| name.starts_with("session-") && name.ends_with(".jsonl"))
    },
    format: Format::Lines {
        words: &["\"toolCalls\""],
        read,
    },
};

fn read(doc: &Doc, found: &mut Found) {
    let calls = doc.at("/toolCalls");
    for tool in calls.into_iter().flat_map(Node::children) {
        let (Some(id), Some(name)) = (text(tool, "id"), text(tool, "name")) else {
            continue;
        };
        let call = GivenCall {
            name,
            arguments: arguments(tool.get("args")),
            at: time(tool.get("timestamp")).or_else(|| time(doc.at("/timestamp"))),
            ..GivenCall::default()
        };
        let result = tool
            .get("result")
            .filter(|result| result.kind() == Kind::Array && result.children().count() > 0);
        let Some(result) = result else { continue };
        found.call(&id, call);
        found.result(&id, |call| call.parts = function_parts(result));
    }
}

/// The parts of a `functionResponse`, and the media in it and after it.
pub(super) fn function_parts(result: Node<'_>) -> Vec<GivenPart> {
    let mut parts = Vec::new();
    for part in result.children() {
        if let Some(response) = part.get("functionResponse") {
            let words = ["output", "error"]
                .iter()
                .find_map(|key| text(response.get("response")?, key));
            parts.extend(words.map(GivenPart::Text));
            let inner = response.get("parts").into_iter().flat_map(Node::children);
            parts.extend(inner.filter_map(other));
        } else {
            parts.extend(other(part));
        }
    }
    parts
}

fn other(part: Node<'_>) -> Option<GivenPart> {
    if let Some(text) = text(part, "text") {
        return Some(GivenPart::Text(text));
    }
    let medium = part.get("inlineData").or_else(|| part.get("fileData"))?;
    Some(GivenPart::Media(text(medium, "mimeType")?))
}
