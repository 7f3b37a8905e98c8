//! What a message of 2026-07-28 says of itself in the headers of its request, so that what is between reads no body.

use http::{HeaderMap, HeaderName, HeaderValue};

use super::param_headers;
use loupe_core::json::Doc;

/// The header that names the revision.
pub(super) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// The headers that a message has besides its body; none where it does not name its revision, as up to 2025-11-25.
pub fn message_headers(message: &Doc) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let text = |pointer: &str| message.at(pointer).and_then(|node| node.as_str());
    let mut put = |name: HeaderName, value: Option<HeaderValue>| {
        if let Some(value) = value {
            headers.insert(name, value);
        }
    };
    let Some(version) = text("/params/_meta/io.modelcontextprotocol~1protocolVersion") else {
        return headers;
    };
    put(VERSION, HeaderValue::from_str(&version).ok());
    let method = text("/method").unwrap_or_default();
    put(METHOD, HeaderValue::from_str(&method).ok());
    put(
        NAME,
        subject(message).as_deref().and_then(param_headers::value),
    );
    headers
}

/// What a message is about: a tool, a prompt, a resource, a task.
pub(super) fn subject(message: &Doc) -> Option<String> {
    let text = |pointer: &str| Some(message.at(pointer)?.as_str()?.into_owned());
    match &*text("/method")? {
        "tools/call" | "prompts/get" => text("/params/name"),
        "resources/read" => text("/params/uri"),
        // So that it reaches the server that holds the task.
        "tasks/get" | "tasks/update" | "tasks/cancel" => text("/params/taskId"),
        _ => None,
    }
}
