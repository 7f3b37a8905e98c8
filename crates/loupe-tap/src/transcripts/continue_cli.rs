//! Continue CLI: a JSON document per session, `sessions/ID.json`, without times.

use super::{Format, Found, TranscriptHost, arguments, text};
use loupe_analysis::queries::{GivenCall, GivenPart};
use loupe_core::json::{Doc, Node};

pub(super) const HOST: TranscriptHost = TranscriptHost {
    id: "continue-cli",
    name: "Continue CLI",
    // The transcripts do not name it: these were run.
    versions: &["1.5.47"],
    export: None,
    client: "continue-cli-client",
    folder: |places| {
        Some(
            places
                .folder("CONTINUE_GLOBAL_DIR", ".continue")?
                .join("sessions"),
        )
    },
    is_transcript: |path| {
        path.extension().is_some_and(|ending| ending == "json")
            && path.file_stem().is_some_and(|name| name != "sessions")
    },
    format: Format::Document(read),
};

fn read(doc: &Doc, found: &mut Found) {
    // An id is one only within its file.
    let session = doc
        .at("/sessionId")
        .and_then(Node::as_str)
        .unwrap_or_default();
    let turns = doc.at("/history").into_iter().flat_map(Node::children);
    let states = turns.flat_map(|turn| {
        turn.get("toolCallStates")
            .into_iter()
            .flat_map(Node::children)
    });
    for state in states {
        let Some(id) = text(state, "toolCallId") else {
            continue;
        };
        let Some(asked) = state.at("/toolCall/function") else {
            continue;
        };
        let Some(output) = state.get("output") else {
            continue;
        };
        let id = format!("{session}/{id}");
        let call = GivenCall {
            name: text(asked, "name").unwrap_or_default(),
            arguments: arguments(asked.get("arguments")),
            ..GivenCall::default()
        };
        found.call(&id, call);
        let texts = output.children().filter_map(|item| text(item, "content"));
        let texts = texts.map(GivenPart::Text).collect();
        found.result(&id, |call| call.parts = texts);
    }
}
