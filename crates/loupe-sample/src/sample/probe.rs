//! The server behind `sample-server --probe`: it answers with the marked parts that `source::PROBE_TOOLS` lists.

use bytes::Bytes;
use serde_json::{Value, json};

use super::media::{PNG, WAV};
use crate::Backend;
use crate::rpc::{self, INVALID_PARAMS, Refusal, Service};
use loupe_core::json::{Node, write};
use loupe_core::source::{PROBE_TOOLS, ProbeKind, ProbePart, ProbeTool, STRUCTURED_REST};

/// How many numbered lines, and then words, make the long text exactly as long as is promised.
const LONG_LINES: usize = 2_142;
const LONG_WORDS: usize = 1;

/// What makes a request one of the era without a handshake.
const STATELESS: &str = r#","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

/// The probe as a server.
pub struct Probe {
    definitions: String,
}

impl Default for Probe {
    fn default() -> Self {
        Self::new()
    }
}

impl Probe {
    pub fn new() -> Self {
        let definition = |tool: &ProbeTool| {
            json!({
                "name": tool.name,
                "description": format!("Call it and show its whole answer. Probes the host: {}.", lower(tool.about)),
                "inputSchema": {"type": "object", "properties": {}},
                "annotations": {"readOnlyHint": true, "openWorldHint": false},
            })
        };
        Self {
            definitions: PROBE_TOOLS
                .iter()
                .map(definition)
                .collect::<Value>()
                .to_string(),
        }
    }

    /// The response message of every tool, by its name, as a session of each era has it: what a host's texts are held
    /// against.
    pub fn answers() -> Vec<Vec<(&'static str, Bytes)>> {
        let probe = Self::new();
        let ask = |tool: &ProbeTool, meta: &str| {
            let request = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{}"{meta}}}}}"#,
                tool.name
            );
            (
                tool.name,
                probe.handle(request.as_bytes()).pop().unwrap_or_default(),
            )
        };
        let session = |meta: &str| PROBE_TOOLS.iter().map(|tool| ask(tool, meta)).collect();
        vec![session(""), session(STATELESS)]
    }
}

fn lower(sentence: &str) -> String {
    sentence
        .chars()
        .take(1)
        .flat_map(char::to_lowercase)
        .chain(sentence.chars().skip(1))
        .collect()
}

/// The JSON of `structuredContent`, as it goes out.
fn structured(marker: &str) -> String {
    format!("{{\"marker\":{},{STRUCTURED_REST}}}", write::string(marker))
}

fn long(marker: &str) -> String {
    let mut text = marker.to_owned();
    for line in 1..=LONG_LINES {
        text += &format!("\nLine {line:05} of a long text that a host may cut.");
    }
    text += "\n";
    text += &"pad ".repeat(LONG_WORDS);
    text + marker
}

/// The content block of a part; `structuredContent` is none.
fn block(part: &ProbePart) -> Option<Value> {
    let marker = part.marker;
    let text = |text: String| Some(json!({"type": "text", "text": text}));
    let for_whom = |who: &str| {
        Some(json!({"type": "text", "text": marker, "annotations": {"audience": [who]}}))
    };
    match part.kind {
        ProbeKind::Text => text(marker.into()),
        ProbeKind::TextForUser => for_whom("user"),
        ProbeKind::TextForModel => for_whom("assistant"),
        ProbeKind::LongText => text(long(marker)),
        ProbeKind::JsonText => text(structured(marker)),
        ProbeKind::Image => Some(json!({"type": "image", "data": PNG, "mimeType": "image/png"})),
        ProbeKind::Audio => Some(json!({"type": "audio", "data": WAV, "mimeType": "audio/wav"})),
        ProbeKind::Resource => Some(
            json!({"type": "resource", "resource": {"uri": "probe://embedded", "mimeType": "text/plain", "text": marker}}),
        ),
        ProbeKind::Link => Some(
            json!({"type": "resource_link", "uri": format!("probe://link/{marker}"), "name": "linked", "description": "A link to follow", "mimeType": "text/plain"}),
        ),
        ProbeKind::Structured | ProbeKind::SameAsText => None,
    }
}

fn answer(tool: &ProbeTool) -> String {
    let content: Value = tool.parts.iter().filter_map(block).collect();
    let data = tool
        .parts
        .iter()
        .find(|part| matches!(part.kind, ProbeKind::Structured | ProbeKind::SameAsText));
    let data = data.map_or(String::new(), |part| {
        format!(",\"structuredContent\":{}", structured(part.marker))
    });
    format!(
        "{{\"content\":{content}{data},\"isError\":{}}}",
        tool.is_error
    )
}

impl Backend for Probe {
    fn handle(&self, message: &[u8]) -> Vec<Bytes> {
        rpc::answer(self, message)
    }
}

impl Service for Probe {
    fn name(&self) -> &str {
        "loupe-probe"
    }

    fn version(&self) -> &str {
        env!("CARGO_PKG_VERSION")
    }

    fn instructions(&self) -> &str {
        "Finds out what a host gives its model of an answer. Call the tools one after the other and show each answer exactly as you \
         were given it."
    }

    fn tools(&self) -> &str {
        &self.definitions
    }

    fn signs_results(&self) -> bool {
        // Some hosts show what is in a result's `_meta`, in forms that are not known.
        false
    }

    fn call(&self, tool: &str, _: Option<Node<'_>>) -> Result<String, Refusal> {
        match PROBE_TOOLS.iter().find(|known| known.name == tool) {
            Some(tool) => Ok(answer(tool)),
            None => Err(Refusal::new(
                INVALID_PARAMS,
                format!("Unknown tool: {tool}"),
            )),
        }
    }
}

#[cfg(test)]
mod tests {

    use loupe_core::json::Doc;
    use loupe_core::source::LONG_TOKENS;
    use loupe_core::token;

    use super::*;

    fn call(tool: &str) -> Doc {
        let message = format!(r#"{{"id":1,"method":"tools/call","params":{{"name":"{tool}"}}}}"#);
        Doc::parse(Probe::new().handle(message.as_bytes()).remove(0))
    }

    #[test]
    fn every_marker_stands_in_its_own_answer_and_in_order() {
        let everything: Vec<_> = PROBE_TOOLS.iter().map(|tool| call(tool.name)).collect();
        for (tool, doc) in PROBE_TOOLS.iter().zip(&everything) {
            assert!(doc.is_json() && doc.faults().is_empty(), "{}", tool.name);
            assert_eq!(
                doc.at("/result/isError").unwrap().as_bool(),
                Some(tool.is_error)
            );
            let sent = String::from_utf8_lossy(doc.bytes()).into_owned();
            let mut from = 0;
            for part in tool.parts {
                from += sent[from..]
                    .find(part.marker)
                    .unwrap_or_else(|| panic!("{}: {}", tool.name, part.marker))
                    + 1;
                let others = everything
                    .iter()
                    .filter(|other| String::from_utf8_lossy(other.bytes()).contains(part.marker))
                    .count();
                assert_eq!(others, 1, "{}", part.marker);
            }
        }
    }

    #[test]
    fn answers_of_both_eras_hold_the_same() {
        let [with, without] = <[_; 2]>::try_from(Probe::answers()).unwrap();
        assert_eq!(with.len(), PROBE_TOOLS.len());
        for ((name, with), (_, without)) in with.iter().zip(&without) {
            let (with, without) = (Doc::parse(with.clone()), Doc::parse(without.clone()));
            assert_eq!(
                without
                    .at("/result/resultType")
                    .unwrap()
                    .as_str()
                    .as_deref(),
                Some("complete"),
                "{name}"
            );
            assert!(
                with.at("/result/resultType").is_none() && without.at("/result/_meta").is_none(),
                "{name}"
            );
            let content = |doc: &Doc| doc.at("/result/content").unwrap().raw_text().into_owned();
            assert_eq!(content(&with), content(&without), "{name}");
        }
    }

    #[test]
    fn the_long_text_is_as_long_as_promised() {
        let doc = call("probe_long_text");
        let text = doc
            .at("/result/content/0/text")
            .unwrap()
            .as_str()
            .unwrap()
            .into_owned();
        assert_eq!(token::count(&text).o200k_base, LONG_TOKENS);
        assert!(text.starts_with("LoupeProbe12a\nLine 00001 ") && text.ends_with("LoupeProbe12a"));
    }

    #[test]
    fn the_text_that_repeats_the_data_is_its_exact_json() {
        let doc = call("probe_text_and_same_structured");
        let text = doc
            .at("/result/content/0/text")
            .unwrap()
            .as_str()
            .unwrap()
            .into_owned();
        assert_eq!(
            text,
            doc.at("/result/structuredContent").unwrap().raw_text()
        );
        assert_eq!(
            text,
            r#"{"marker":"LoupeProbe04a","count":2,"ratio":1.0,"names":["é","<b>"],"none":null}"#
        );
        assert!(
            call("probe_nothing")
                .at("/result/content")
                .unwrap()
                .is_empty()
        );
    }
}
