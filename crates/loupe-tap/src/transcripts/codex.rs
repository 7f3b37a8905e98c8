//! Codex: JSON Lines, `sessions/YEAR/MONTH/DAY/rollout-*.jsonl`. An output over the limit is there as the first of two
//! cuts left it; the limit stands beside it.

use super::{Format, Found, TranscriptHost, arguments, media_of_url, text, time};
use loupe_analysis::queries::{GivenCall, GivenPart};
use loupe_core::json::{Doc, Node};

pub(super) const HOST: TranscriptHost = TranscriptHost {
    id: "codex",
    name: "OpenAI Codex CLI",
    versions: &["0.171.0"],
    export: None,
    client: "codex-mcp-client",
    folder: |places| Some(places.folder("CODEX_HOME", ".codex")?.join("sessions")),
    is_transcript: |path| {
        let name = path.file_name().map(|name| name.to_string_lossy());
        name.is_some_and(|name| name.starts_with("rollout-") && name.ends_with(".jsonl"))
    },
    format: Format::Lines {
        words: &[
            "\"function_call\"",
            "\"function_call_output\"",
            "\"session_meta\"",
        ],
        read,
    },
};

fn read(doc: &Doc, found: &mut Found) {
    found.version(doc, "/payload/cli_version");
    let Some(payload) = doc.at("/payload") else {
        return;
    };
    let Some(id) = text(payload, "call_id") else {
        return;
    };
    match text(payload, "type").as_deref() {
        Some("function_call") => {
            let name = text(payload, "name").unwrap_or_default();
            let name = match text(payload, "namespace") {
                Some(namespace) => format!("{namespace}__{name}"),
                None => name,
            };
            let call = GivenCall {
                name,
                arguments: arguments(payload.get("arguments")),
                at: time(doc.at("/timestamp")),
                ..GivenCall::default()
            };
            found.call(&id, call);
        }
        Some("function_call_output") => found.result(&id, |call| {
            call.parts = payload.get("output").map(parts).unwrap_or_default();
            call.is_cut_again = true;
            call.limit = doc
                .at("/metadata/fallback_token_limit_override")
                .and_then(Node::as_f64)
                .filter(|limit| (1.0..1e12).contains(limit))
                .map(|limit| limit as u64);
        }),
        _ => {}
    }
}

fn parts(output: Node<'_>) -> Vec<GivenPart> {
    if let Some(text) = output.as_str() {
        return vec![GivenPart::Text(text.into_owned())];
    }
    let part = |item: Node<'_>| match text(item, "type").as_deref() {
        Some("input_text") => Some(GivenPart::Text(text(item, "text").unwrap_or_default())),
        Some("input_image") => media_of_url(&text(item, "image_url")?),
        kind => Some(GivenPart::Media(kind.unwrap_or_default().to_owned())),
    };
    output.children().filter_map(part).collect()
}
