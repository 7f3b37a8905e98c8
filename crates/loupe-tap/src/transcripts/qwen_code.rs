//! Qwen Code: JSON Lines, `projects/FOLDER/chats/SESSION.jsonl`.

use super::gemini_cli::function_parts;
use super::{Format, Found, TranscriptHost, arguments, text, time};
use loupe_analysis::queries::GivenCall;
use loupe_core::json::Doc;

pub(super) const HOST: TranscriptHost = TranscriptHost {
    id: "qwen-code",
    name: "Qwen Code",
    versions: &["0.24.4"],
    export: None,
    client: "qwen-cli-mcp-client-*",
    folder: |places| Some(places.folder("QWEN_HOME", ".qwen")?.join("projects")),
    is_transcript: |path| {
        let is_chat = path
            .parent()
            .and_then(|folder| folder.file_name())
            .is_some_and(|name| name == "chats");
        is_chat && path.extension().is_some_and(|ending| ending == "jsonl")
    },
    format: Format::Lines {
        words: &["\"functionCall\"", "\"functionResponse\""],
        read,
    },
};

fn read(doc: &Doc, found: &mut Found) {
    found.version(doc, "/version");
    let Some(parts) = doc.at("/message/parts") else {
        return;
    };
    for part in parts.children() {
        let Some(asked) = part.get("functionCall") else {
            continue;
        };
        let (Some(id), Some(name)) = (text(asked, "id"), text(asked, "name")) else {
            continue;
        };
        let call = GivenCall {
            name,
            arguments: arguments(asked.get("args")),
            at: time(doc.at("/timestamp")),
            ..GivenCall::default()
        };
        found.call(&id, call);
    }
    let id = parts
        .children()
        .find_map(|part| text(part.get("functionResponse")?, "id"));
    if let Some(id) = id {
        found.result(&id, |call| call.parts = function_parts(parts));
    }
}
