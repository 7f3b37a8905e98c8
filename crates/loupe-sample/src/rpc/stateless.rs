//! The era without a handshake (2026-07-28): a request says in `_meta` which revision it is of and what its client can,
//! over HTTP in its headers too. Results are those of the other era with what this one adds after them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::header::HeaderMap;

use super::{INVALID_PARAMS, METHOD_NOT_FOUND, RESOURCE_NOT_FOUND, Refusal, Service};
use loupe_core::json::{Doc, Kind, Node, write};
use loupe_core::source::Protocol;

const PREFIX: &str = "io.modelcontextprotocol/";
const HEADER_MISMATCH: i32 = -32020;
const UNSUPPORTED: i32 = -32022;
/// What a client may keep of a list or a resource: nothing, since the sample's records move.
const CACHING: &str = "\"ttlMs\":0,\"cacheScope\":\"private\"";

/// The versions of this era that are spoken.
fn versions() -> Vec<&'static str> {
    Protocol::VERSIONS
        .iter()
        .copied()
        .filter(|version| Protocol::is_stateless(version))
        .collect()
}

fn meta<'a>(params: Option<Node<'a>>, name: &str) -> Option<Node<'a>> {
    params?.get("_meta")?.get(&format!("{PREFIX}{name}"))
}

/// Whether a request is of this era: it names its revision, or asks for the server as only this era does.
pub(crate) fn is_meant(method: &str, params: Option<Node<'_>>) -> bool {
    method == "server/discover" || meta(params, "protocolVersion").is_some()
}

/// Answers one request; `dispatch` is what both eras have in common.
pub(crate) fn answer(
    service: &impl Service,
    method: &str,
    params: Option<Node<'_>>,
    dispatch: impl FnOnce(&str) -> Result<String, Refusal>,
) -> Result<String, Refusal> {
    let asked = meta(params, "protocolVersion")
        .and_then(Node::as_str)
        .unwrap_or_default();
    if !versions().contains(&&*asked) {
        let supported: Vec<_> = versions()
            .iter()
            .map(|version| write::string(version))
            .collect();
        let data = format!(
            "{{\"supported\":[{}],\"requested\":{}}}",
            supported.join(","),
            write::string(&asked)
        );
        return Err(Refusal {
            data: Some(data),
            ..Refusal::new(UNSUPPORTED, "Unsupported protocol version")
        });
    }
    let capabilities =
        meta(params, "clientCapabilities").filter(|node| node.kind() == Kind::Object);
    let Some(capabilities) = capabilities else {
        let why =
            format!("Invalid params: `_meta` must hold `{PREFIX}clientCapabilities`, an object");
        return Err(Refusal::new(INVALID_PARAMS, why));
    };
    let can_be_asked = capabilities
        .get("elicitation")
        .is_some_and(|node| node.kind() == Kind::Object);
    let round = (method == "tools/call")
        .then(|| service.round(params, can_be_asked))
        .flatten();
    let result = match (method, round) {
        (_, Some(words)) => words?,
        ("server/discover", None) => discover(service),
        // Of the other era alone.
        ("initialize" | "ping", None) => {
            return Err(Refusal::new(
                METHOD_NOT_FOUND,
                format!("Method not found: {method}"),
            ));
        }
        (_, None) => dispatch(method).map_err(|refusal| match refusal.code {
            RESOURCE_NOT_FOUND => Refusal {
                code: INVALID_PARAMS,
                ..refusal
            },
            _ => refusal,
        })?,
    };
    let caching =
        matches!(method, "server/discover" | "resources/read") || method.ends_with("/list");
    Ok(complete(service, &result, caching))
}

fn discover(service: &impl Service) -> String {
    let supported: Vec<_> = versions()
        .iter()
        .map(|version| write::string(version))
        .collect();
    let others = if service.library().is_some() {
        ",\"resources\":{},\"prompts\":{},\"completions\":{}"
    } else {
        ""
    };
    format!(
        "{{\"supportedVersions\":[{}],\"capabilities\":{{\"tools\":{{}}{others}}},\"instructions\":{}}}",
        supported.join(","),
        write::string(service.instructions())
    )
}

/// The result with what this era adds, after everything the service said.
fn complete(service: &impl Service, result: &str, caching: bool) -> String {
    let doc = Doc::parse(bytes::Bytes::copy_from_slice(result.as_bytes()));
    let has = |name: &str| doc.root().is_some_and(|root| root.get(name).is_some());
    let Some(open) = result
        .trim_end()
        .strip_suffix('}')
        .filter(|open| open.trim_start().starts_with('{'))
    else {
        return result.to_owned();
    };
    let mut members = Vec::new();
    if !has("resultType") {
        members.push("\"resultType\":\"complete\"".to_owned());
    }
    if caching && !has("ttlMs") {
        members.push(CACHING.to_owned());
    }
    if !has("_meta") && (caching || service.signs_results()) {
        let (name, version) = (
            write::string(service.name()),
            write::string(service.version()),
        );
        members.push(format!(
            "\"_meta\":{{\"{PREFIX}serverInfo\":{{\"name\":{name},\"version\":{version}}}}}"
        ));
    }
    let comma = if open.trim() == "{" || members.is_empty() {
        ""
    } else {
        ","
    };
    format!("{open}{comma}{}}}", members.join(","))
}

/// Whether a message that came over HTTP is of this era; `Err` where its headers say another thing than its body.
pub(crate) fn check_headers(headers: &HeaderMap, message: &[u8]) -> Result<bool, Refusal> {
    let doc = Doc::parse(bytes::Bytes::copy_from_slice(message));
    let params = doc.at("/params");
    let Some(version) = meta(params, "protocolVersion").and_then(Node::as_str) else {
        return Ok(false);
    };
    let header = |name: &str| {
        headers
            .get(name)
            .map(|value| decoded(&String::from_utf8_lossy(value.as_bytes())))
    };
    let method = doc.at("/method").and_then(Node::as_str).unwrap_or_default();
    let text = |name: &str| {
        params
            .and_then(|params| params.get(name))
            .and_then(Node::as_str)
    };
    let name = match &*method {
        "tools/call" | "prompts/get" => text("name"),
        "resources/read" => text("uri"),
        _ => None,
    };
    let wanted = [
        ("mcp-protocol-version", Some(version)),
        ("mcp-method", Some(method)),
        ("mcp-name", name),
    ];
    for (header_name, body) in wanted {
        let sent = header(header_name);
        if let Some(body) = body
            && sent.as_deref() != Some(&*body)
        {
            let words = sent.map_or("missing".to_owned(), |sent| format!("`{sent}`"));
            return Err(Refusal::new(
                HEADER_MISMATCH,
                format!("Header mismatch: {header_name} is {words}, the body says `{body}`"),
            ));
        }
    }
    Ok(true)
}

/// A header's value without the sentinel around what a header cannot hold.
fn decoded(text: &str) -> String {
    let inner = text
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="));
    let bytes = inner.and_then(|inner| STANDARD.decode(inner).ok());
    bytes.map_or_else(
        || text.to_owned(),
        |bytes| String::from_utf8_lossy(&bytes).into_owned(),
    )
}

/// The HTTP status of an answer in this era.
pub(crate) fn status(answer: &[u8]) -> u16 {
    let doc = Doc::parse(bytes::Bytes::copy_from_slice(answer));
    match doc.at("/error/code").and_then(Node::as_i64) {
        None => 200,
        Some(code) if code == i64::from(METHOD_NOT_FOUND) => 404,
        Some(_) => 400,
    }
}
