//! opencode keeps a database; what `opencode export SESSION` writes is one JSON document.

use super::{Format, Found, TranscriptHost, arguments, media_of_url, text};
use loupe_analysis::queries::{GivenCall, GivenPart};
use loupe_core::json::{Doc, Node};
use time::OffsetDateTime;

pub(super) const HOST: TranscriptHost = TranscriptHost {
    id: "opencode",
    name: "opencode",
    versions: &["1.18.33"],
    export: Some("opencode export SESSION > FILE"),
    client: "opencode",
    folder: |_| None,
    is_transcript: |path| path.extension().is_some_and(|ending| ending == "json"),
    format: Format::Document(read),
};

fn read(doc: &Doc, found: &mut Found) {
    found.version(doc, "/info/version");
    let messages = doc.at("/messages").into_iter().flat_map(Node::children);
    let parts =
        messages.flat_map(|message| message.get("parts").into_iter().flat_map(Node::children));
    for part in parts {
        let (Some(id), Some(name)) = (text(part, "callID"), text(part, "tool")) else {
            continue;
        };
        let Some(state) = part.get("state") else {
            continue;
        };
        let given = ["output", "error"].iter().find_map(|key| text(state, key));
        let Some(given) = given else { continue };
        let started = state.at("/time/start").and_then(Node::as_f64);
        let call = GivenCall {
            name,
            arguments: arguments(state.get("input")),
            at: started.and_then(|ms| {
                OffsetDateTime::from_unix_timestamp_nanos((ms as i128) * 1_000_000).ok()
            }),
            ..GivenCall::default()
        };
        found.call(&id, call);
        found.result(&id, |call| {
            call.parts = vec![GivenPart::Text(given)];
            let attached = state
                .get("attachments")
                .into_iter()
                .flat_map(Node::children);
            call.parts
                .extend(attached.filter_map(|file| media_of_url(&text(file, "url")?)));
        });
    }
}
