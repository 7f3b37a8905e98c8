//! JSON-RPC 2.0 and the part of MCP that a server needs which never speaks unasked, on raw bytes.
//!
//! Ids are echoed byte for byte. Results are JSON text that the service wrote, and go out as they are.

pub(super) mod stateless;

use bytes::Bytes;

use loupe_core::json::{Doc, Kind, Node, write};

/// The protocol versions of the `initialize` handshake that are spoken, oldest first.
pub(crate) const PROTOCOL_VERSIONS: &[&str] =
    &["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
pub(super) const METHOD_NOT_FOUND: i32 = -32601;
pub const INVALID_PARAMS: i32 = -32602;
pub(super) const RESOURCE_NOT_FOUND: i32 = -32002;

/// A JSON-RPC error object.
#[derive(Debug)]
pub struct Refusal {
    pub code: i32,
    pub message: String,
    /// JSON for whoever reads it by program.
    pub data: Option<String>,
}

impl Refusal {
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }
}

/// What a server with tools has to say. Results are compact JSON text.
pub trait Service {
    fn name(&self) -> &str;
    fn version(&self) -> &str;
    fn instructions(&self) -> &str;
    /// The definitions, as a JSON array.
    fn tools(&self) -> &str;
    /// The `CallToolResult` of one call; `arguments` is an object or absent.
    fn call(&self, tool: &str, arguments: Option<Node<'_>>) -> Result<String, Refusal>;
    /// What is said to a call instead of calling the tool where there is no session to ask in: what the client is asked
    /// first, or the answer once it has answered. `can_be_asked` is what it declared. `None`: the tool is called.
    fn round(
        &self,
        _params: Option<Node<'_>>,
        _can_be_asked: bool,
    ) -> Option<Result<String, Refusal>> {
        None
    }
    /// Whether the answers to calls name the server where there is no session to name it in, as they should.
    fn signs_results(&self) -> bool {
        true
    }
    /// What there is besides tools; declared and offered only where it is.
    fn library(&self) -> Option<&dyn LibraryService> {
        None
    }
}

/// Resources, prompts and the completion of their arguments. Lists are JSON arrays, the rest whole results.
pub trait LibraryService {
    fn resources(&self) -> String;
    fn templates(&self) -> String;
    fn read(&self, uri: &str) -> Result<String, Refusal>;
    fn prompts(&self) -> String;
    fn prompt(&self, name: &str, arguments: Option<Node<'_>>) -> Result<String, Refusal>;
    /// What may stand for `argument`, a part of which is typed: of a prompt, or of a resource template.
    fn complete(
        &self,
        of: Reference<'_>,
        argument: &str,
        typed: &str,
    ) -> Result<Vec<String>, Refusal>;
}

/// What a completion is asked for.
#[derive(Debug)]
pub enum Reference<'a> {
    Prompt(&'a str),
    Template(&'a str),
}

/// Answers one message.
pub fn answer(service: &impl Service, message: &[u8]) -> Vec<Bytes> {
    let doc = Doc::parse(Bytes::copy_from_slice(message));
    let (Some(root), true) = (doc.root(), doc.is_json()) else {
        let why = doc
            .faults()
            .first()
            .map_or("not JSON", |fault| fault.kind.message());
        return vec![respond(
            "null",
            Err(Refusal::new(PARSE_ERROR, format!("Parse error: {why}"))),
        )];
    };
    let id = root.get("id");
    let Some(method) = root.get("method").and_then(Node::as_str) else {
        if root.kind() == Kind::Object
            && (root.get("result").is_some() || root.get("error").is_some())
        {
            return Vec::new(); // An answer to a request that was never made.
        }
        return vec![respond(
            "null",
            Err(Refusal::new(
                INVALID_REQUEST,
                "Invalid request: one object with a `method` is expected",
            )),
        )];
    };
    let Some(id) = id else {
        return Vec::new(); // Notifications, `notifications/cancelled` among them: every answer is already out.
    };
    if !matches!(id.kind(), Kind::String | Kind::Number) {
        return vec![respond(
            "null",
            Err(Refusal::new(
                INVALID_REQUEST,
                "Invalid request: `id` must be a string or a number",
            )),
        )];
    }
    let params = root.get("params");
    let outcome = if stateless::is_meant(&method, params) {
        stateless::answer(service, &method, params, |method| {
            dispatch(service, method, params)
        })
    } else {
        dispatch(service, &method, params)
    };
    vec![respond(&id.raw_text(), outcome)]
}

/// Whether a message is an `initialize` request.
pub(super) fn is_initialize(message: &[u8]) -> bool {
    let doc = Doc::parse(Bytes::copy_from_slice(message));
    doc.at("/method")
        .and_then(Node::as_str)
        .is_some_and(|method| method == "initialize")
}

/// The id of a request, as it is there; `None` for anything else.
pub fn asked(message: &[u8]) -> Option<String> {
    let doc = Doc::parse(Bytes::copy_from_slice(message));
    doc.at("/method")?.as_str()?;
    Some(doc.at("/id")?.raw_text().into_owned())
}

/// Whether a message is a response or a notification, neither of which is answered.
pub(super) fn is_no_request(message: &[u8]) -> bool {
    let doc = Doc::parse(Bytes::copy_from_slice(message));
    let has = |name: &str| doc.root().is_some_and(|root| root.get(name).is_some());
    if has("method") {
        !has("id")
    } else {
        has("result") || has("error")
    }
}

/// The id of a response, as it is there; `None` for anything else.
pub(super) fn answered(message: &[u8]) -> Option<String> {
    let doc = Doc::parse(Bytes::copy_from_slice(message));
    let root = doc.root().filter(|root| root.get("method").is_none())?;
    Some(root.get("id")?.raw_text().into_owned())
}

fn dispatch(
    service: &impl Service,
    method: &str,
    params: Option<Node<'_>>,
) -> Result<String, Refusal> {
    match method {
        "initialize" => Ok(initialize(service, params)),
        "ping" => Ok("{}".into()),
        "tools/list" => Ok(format!("{{\"tools\":{}}}", service.tools())),
        "tools/call" => {
            let Some(name) = params
                .and_then(|params| params.get("name"))
                .and_then(Node::as_str)
            else {
                return Err(Refusal::new(
                    INVALID_PARAMS,
                    "Invalid params: `name` must be the name of a tool",
                ));
            };
            let arguments = params.and_then(|params| params.get("arguments"));
            if let Some(other) = arguments.filter(|arguments| arguments.kind() != Kind::Object) {
                let kind = other.kind().name();
                return Err(Refusal::new(
                    INVALID_PARAMS,
                    format!("Invalid params: `arguments` must be an object, not {kind}"),
                ));
            }
            service.call(&name, arguments)
        }
        _ => match service
            .library()
            .and_then(|library| ask(library, method, params))
        {
            Some(outcome) => outcome,
            None => Err(Refusal::new(
                METHOD_NOT_FOUND,
                format!("Method not found: {method}"),
            )),
        },
    }
}

/// The methods of a library; `None` for any other.
fn ask(
    library: &dyn LibraryService,
    method: &str,
    params: Option<Node<'_>>,
) -> Option<Result<String, Refusal>> {
    let param = |name: &str| {
        params
            .and_then(|params| params.get(name))
            .and_then(Node::as_str)
            .ok_or_else(|| {
                Refusal::new(
                    INVALID_PARAMS,
                    format!("Invalid params: `{name}` must be a string"),
                )
            })
    };
    Some(match method {
        "resources/list" => Ok(format!("{{\"resources\":{}}}", library.resources())),
        "resources/templates/list" => {
            Ok(format!("{{\"resourceTemplates\":{}}}", library.templates()))
        }
        "resources/read" => param("uri").and_then(|uri| library.read(&uri)),
        "prompts/list" => Ok(format!("{{\"prompts\":{}}}", library.prompts())),
        "prompts/get" => param("name").and_then(|name| {
            library.prompt(&name, params.and_then(|params| params.get("arguments")))
        }),
        "completion/complete" => complete(library, params),
        _ => return None,
    })
}

/// How many values a completion may hold.
const COMPLETIONS: usize = 100;

fn complete(library: &dyn LibraryService, params: Option<Node<'_>>) -> Result<String, Refusal> {
    let text = |pointer: &[&str]| {
        let node = pointer.iter().try_fold(params?, |node, key| node.get(key));
        node.and_then(Node::as_str)
    };
    let (name, uri) = (text(&["ref", "name"]), text(&["ref", "uri"]));
    let of = match (text(&["ref", "type"]).as_deref(), &name, &uri) {
        (Some("ref/prompt"), Some(name), _) => Reference::Prompt(name),
        (Some("ref/resource"), _, Some(uri)) => Reference::Template(uri),
        _ => {
            return Err(Refusal::new(
                INVALID_PARAMS,
                "Invalid params: `ref` must name a prompt or a resource template",
            ));
        }
    };
    let (Some(argument), Some(typed)) = (text(&["argument", "name"]), text(&["argument", "value"]))
    else {
        return Err(Refusal::new(
            INVALID_PARAMS,
            "Invalid params: `argument` must have a `name` and a `value`",
        ));
    };
    let mut values = library.complete(of, &argument, &typed)?;
    let total = values.len();
    values.truncate(COMPLETIONS);
    let values: Vec<_> = values.iter().map(|value| write::string(value)).collect();
    let more = total > COMPLETIONS;
    Ok(format!(
        "{{\"completion\":{{\"values\":[{}],\"total\":{total},\"hasMore\":{more}}}}}",
        values.join(",")
    ))
}

/// Takes the client's version where it is spoken, and offers the newest otherwise.
fn initialize(service: &impl Service, params: Option<Node<'_>>) -> String {
    let asked = params
        .and_then(|params| params.get("protocolVersion"))
        .and_then(Node::as_str);
    let newest = PROTOCOL_VERSIONS.last().copied().unwrap_or_default();
    let version = PROTOCOL_VERSIONS
        .iter()
        .find(|known| asked.as_deref() == Some(**known))
        .copied()
        .unwrap_or(newest);
    let others = if service.library().is_some() {
        ",\"resources\":{},\"prompts\":{},\"completions\":{}"
    } else {
        ""
    };
    format!(
        "{{\"protocolVersion\":\"{version}\",\"capabilities\":{{\"tools\":{{}}{others}}},\"serverInfo\":{{\"name\":{},\"version\":{}}},\"instructions\":{}}}",
        write::string(service.name()),
        write::string(service.version()),
        write::string(service.instructions()),
    )
}

pub(super) fn respond(id: &str, outcome: Result<String, Refusal>) -> Bytes {
    match outcome {
        Ok(result) => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}"),
        Err(Refusal { code, message, data }) => {
            let data = data.map(|data| format!(",\"data\":{data}")).unwrap_or_default();
            format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":{}{data}}}}}",
                write::string(&message)
            )
        }
    }
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Echo;

    impl Service for Echo {
        fn name(&self) -> &str {
            "echo"
        }
        fn version(&self) -> &str {
            "1"
        }
        fn instructions(&self) -> &str {
            "Says \"it\" again."
        }
        fn tools(&self) -> &str {
            "[]"
        }
        fn call(&self, tool: &str, arguments: Option<Node<'_>>) -> Result<String, Refusal> {
            if tool != "echo" {
                return Err(Refusal::new(INVALID_PARAMS, "Unknown tool"));
            }
            Ok(arguments.map_or("null".into(), |arguments| arguments.raw_text().into_owned()))
        }
    }

    fn one(message: &str) -> String {
        let answers = answer(&Echo, message.as_bytes());
        assert_eq!(answers.len(), 1, "{message}");
        String::from_utf8(answers[0].to_vec()).unwrap()
    }

    #[test]
    fn answers_are_exact() {
        let cases = [
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
                r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            ),
            (
                r#"{"id":"a\u0062","method":"tools/list"}"#,
                r#"{"jsonrpc":"2.0","id":"a\u0062","result":{"tools":[]}}"#,
            ),
            (
                r#"{"id":1.50,"method":"tools/call","params":{"name":"echo","arguments":{"a":1.0, "a":2}}}"#,
                r#"{"jsonrpc":"2.0","id":1.50,"result":{"a":1.0, "a":2}}"#,
            ),
            (
                r#"{"id":1,"method":"tools/call","params":{"name":"echo"}}"#,
                r#"{"jsonrpc":"2.0","id":1,"result":null}"#,
            ),
            (
                r#"{"id":1,"method":"tools/call","params":{"name":"x"}}"#,
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unknown tool"}}"#,
            ),
            (
                r#"{"id":1,"method":"tools/call","params":{"name":"echo","arguments":[]}}"#,
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: `arguments` must be an object, not array"}}"#,
            ),
            (
                r#"{"id":1,"method":"tools/call"}"#,
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: `name` must be the name of a tool"}}"#,
            ),
            (
                r#"{"id":9007199254740993,"method":"no/such"}"#,
                r#"{"jsonrpc":"2.0","id":9007199254740993,"error":{"code":-32601,"message":"Method not found: no/such"}}"#,
            ),
            (
                "{\"id\":",
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error: ends inside a value"}}"#,
            ),
        ];
        for (message, expected) in cases {
            assert_eq!(one(message), expected, "{message}");
        }
    }

    #[test]
    fn requests_that_are_none_are_refused() {
        for message in [
            "[]",
            "7",
            "{}",
            r#"{"id":null,"method":"ping"}"#,
            r#"{"id":[],"method":"ping"}"#,
        ] {
            assert!(
                one(message).contains("\"id\":null,\"error\":{\"code\":-32600"),
                "{message}"
            );
        }
        for message in [
            "",
            "nonsense",
            "{\"a\":1}}",
            "\"\u{0}\"",
            "{\"id\":1,\"method\":\"ping\"} x",
        ] {
            assert!(
                one(message).contains("\"id\":null,\"error\":{\"code\":-32700"),
                "{message}"
            );
        }
        assert_eq!(answer(&Echo, b"\"\xff\"").len(), 1);
    }

    #[test]
    fn notifications_and_answers_get_none() {
        for message in [
            r#"{"method":"notifications/initialized"}"#,
            r#"{"method":"notifications/cancelled","params":{"requestId":1}}"#,
            r#"{"method":"ping"}"#,
            r#"{"id":1,"result":{}}"#,
            r#"{"id":1,"error":{}}"#,
        ] {
            assert!(answer(&Echo, message.as_bytes()).is_empty(), "{message}");
        }
    }

    #[test]
    fn the_version_is_negotiated() {
        for version in PROTOCOL_VERSIONS {
            let asked = format!(
                r#"{{"id":1,"method":"initialize","params":{{"protocolVersion":"{version}"}}}}"#
            );
            assert!(one(&asked).contains(&format!("\"protocolVersion\":\"{version}\"")));
        }
        for odd in [
            r#"{"protocolVersion":"1999-01-01"}"#,
            r#"{"protocolVersion":7}"#,
            "{}",
            "null",
        ] {
            let answer = one(&format!(
                r#"{{"id":1,"method":"initialize","params":{odd}}}"#
            ));
            assert_eq!(
                answer,
                r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"},"instructions":"Says \"it\" again."}}"#
            );
        }
    }

    #[test]
    fn a_request_that_names_its_revision_needs_no_handshake() {
        let ask = |method: &str, params: &str, version: &str| {
            let meta = format!(
                r#""_meta":{{"io.modelcontextprotocol/protocolVersion":"{version}","io.modelcontextprotocol/clientCapabilities":{{}}}}"#
            );
            one(&format!(
                r#"{{"id":1,"method":"{method}","params":{{{params}{meta}}}}}"#
            ))
        };
        let added =
            r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"echo","version":"1"}}"#;
        assert_eq!(
            ask("server/discover", "", "2026-07-28"),
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"result":{{"supportedVersions":["2026-07-28"],"capabilities":{{"tools":{{}}}},"instructions":"Says \"it\" again.","resultType":"complete","ttlMs":0,"cacheScope":"private",{added}}}}}"#
            )
        );
        assert_eq!(
            ask(
                "tools/call",
                r#""name":"echo","arguments":{"a": 1.0},"#,
                "2026-07-28"
            ),
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"result":{{"a": 1.0,"resultType":"complete",{added}}}}}"#
            )
        );
        assert_eq!(
            ask("tools/list", "", "2027-01-01"),
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"],"requested":"2027-01-01"}}}"#
        );
        assert!(ask("ping", "", "2026-07-28").contains("-32601"));
        let bare = r#"{"id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
        assert!(one(bare).contains("-32602"));
        assert!(one(r#"{"id":1,"method":"server/discover"}"#).contains("-32022"));
    }

    #[test]
    fn a_deep_message_does_no_harm() {
        let deep = format!(
            r#"{{"id":1,"method":"tools/call","params":{{"name":"echo","arguments":{{"a":{}{}}}}}}}"#,
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        assert!(one(&deep).starts_with(r#"{"jsonrpc":"2.0","id":1,"result":{"a":[["#));
    }
}
