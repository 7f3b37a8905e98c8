//! Cassettes of HTTP recorders with MCP in the bodies: VCR for Ruby, vcrpy and pytest-recording for Python, nock for
//! JavaScript, YAML or JSON. (Polly writes HTTP archives.)

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use serde_norway::Value;

use super::ReadAs;
use super::pair::pair;
use super::{Entry, Importer, Input, body, nodes};
use crate::capture::{Capture, Direction, HttpInfo};
use crate::problem::{Problem, ProblemKind};

pub(super) const IMPORTER: Importer = Importer { kind: ReadAs::Cassette, title: "a cassette of an HTTP recorder", detect, read };

/// How bytes begin that gzip made.
const GZIP: &[u8] = &[0x1f, 0x8b];

/// JSON or YAML with the member that every such recorder writes, at its beginning or behind comments; or the definitions
/// of nock.
fn detect(input: &Input<'_>) -> bool {
    if input.doc.is_json() {
        let first = input.doc.root().and_then(|root| root.children().next());
        let is_nock =
            first.is_some_and(|first| ["scope", "method", "path", "response"].iter().all(|key| first.get(key).is_some()));
        return is_nock || input.doc.at("/interactions").is_some() || input.doc.at("/http_interactions").is_some();
    }
    let begins = |line: &[u8]| line.starts_with(b"interactions:") || line.starts_with(b"http_interactions:");
    input.bytes.split(|&byte| byte == b'\n').any(begins)
}

fn read(input: &Input<'_>) -> Result<Vec<Capture>, Problem> {
    let bad = |why: String| Problem::new(ProblemKind::Io, format!("not a cassette: {why}")).at(input.name);
    if !input.doc.is_json() {
        nodes::check(&String::from_utf8_lossy(input.bytes)).map_err(bad)?;
    }
    let cassette: Value = serde_norway::from_slice(input.bytes).map_err(|error| bad(error.to_string()))?;
    let listed = ["interactions", "http_interactions"].iter().find_map(|name| cassette.get(name)?.as_sequence());
    let interactions = || listed.or_else(|| cassette.as_sequence()).into_iter().flatten();
    pair(input, "http", IMPORTER.title, interactions().flat_map(exchange)).map_err(|problem| {
        let is_packed = |interaction: &Value| bodies(interaction).iter().any(|body| body.starts_with(GZIP));
        match interactions().any(is_packed) {
            true => problem.hint("its bodies are compressed; record them plain, with vcrpy by `decode_compressed_response=True`"),
            false => problem,
        }
    })
}

/// The bodies of an interaction: what was sent, what came.
fn bodies(interaction: &Value) -> [Bytes; 2] {
    // nock has both beside each other, the others each in a part of its own; some keep JSON bodies as what they say.
    let body = |part: &str, beside: &str| match interaction.get(part) {
        Some(part @ Value::Mapping(_)) if part.get("body").is_some() || part.get("parsed_body").is_some() => {
            part.get("body").filter(|body| !body.is_null()).or_else(|| part.get("parsed_body"))
        }
        _ => interaction.get(beside),
    };
    ["request", "response"].map(|part| {
        let beside = if part == "request" { "body" } else { part };
        body(part, beside).map(text_of).unwrap_or_default()
    })
}

fn exchange(interaction: &Value) -> Vec<Entry> {
    let part = |name: &str| interaction.get(name);
    let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let [request, response] = bodies(interaction);
    let url = part("request").and_then(|request| text(request, "uri"));
    let url = url.or_else(|| Some(text(interaction, "scope")? + &text(interaction, "path")?));
    let status = part("response").and_then(|response| response.get("status").or_else(|| response.get("status_code")));
    let status = status
        .or_else(|| part("status"))
        .and_then(|status| status.get("code").unwrap_or(status).as_u64().and_then(|status| u16::try_from(status).ok()));
    let http = status.map(|status| HttpInfo { status, headers: Vec::new() });
    let sent = body::messages(&request).into_iter().map(|bytes| Entry {
        bytes,
        direction: Some(Direction::Out),
        url: url.clone(),
        ..Entry::default()
    });
    let came = body::messages(&response).into_iter().map(|bytes| Entry {
        bytes,
        direction: Some(Direction::In),
        http: http.clone(),
        ..Entry::default()
    });
    sent.chain(came).collect()
}

/// A body: a text, bytes in base64, or an object with either.
fn text_of(body: &Value) -> Bytes {
    match body {
        // A body that was bytes (`!!binary`) stands in base64, which no message begins like.
        Value::String(text) => {
            let compact: String = text.split_whitespace().collect();
            BASE64_STANDARD.decode(compact).map_or_else(|_| Bytes::from(text.clone()), Bytes::from)
        }
        Value::Tagged(tagged) => match &tagged.value {
            text @ Value::String(_) => text_of(text),
            _ => Bytes::new(),
        },
        Value::Mapping(_) => match (body.get("string"), body.get("base64_string")) {
            (Some(text @ (Value::String(_) | Value::Tagged(_))), _) => text_of(text),
            (_, Some(Value::String(text))) => BASE64_STANDARD.decode(text).unwrap_or_default().into(),
            // What the body says, written again: its own spelling is not in the file.
            _ => serde_json::to_vec(body).unwrap_or_default().into(),
        },
        // nock keeps what is no text as hexadecimal chunks.
        Value::Sequence(chunks) => {
            let text: Option<String> = chunks.iter().map(Value::as_str).collect();
            let bytes = text.and_then(|text| {
                let digits = text.as_bytes().chunks(2);
                digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect::<Option<Vec<u8>>>()
            });
            bytes.map(Bytes::from).unwrap_or_else(|| serde_json::to_vec(body).unwrap_or_default().into())
        }
        _ => Bytes::new(),
    }
}
