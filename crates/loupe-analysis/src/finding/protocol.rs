//! Messages: blocks, errors, names, what is asked of people, numbers that readers change.

use std::collections::HashMap;

use bytes::Bytes;

use super::profile::Profile::{Cost, HostCompat, Spec};
use super::rule::Severity::{Error, Info, Warning};
use super::rule::{Hits, Rule, RuleCheck, RulePattern};
use super::tool::{is_type, text};
use super::{CheckedResult, CheckedServer, CheckedTool, LocationPart, result};
use loupe_core::capture::{BlockKind, Direction, Message, Outcome};
use loupe_core::host::Hosts;
use loupe_core::json::{Doc, FaultKind, Kind, Node};
use loupe_core::server_request::{RequestKind, ServerRequest};

pub(crate) static RULES: &[Rule] = &[
    Rule::new("protocol/unknown-content-type", &[(Spec, Error)], RuleCheck::Answer(unknown_content_type))
        .explanation("A block has a type that the specification does not have. Clients of the official SDKs refuse the whole answer.")
        .fix("`text`, `image`, `audio`, `resource` or `resource_link`; to ask for input, `elicitation/create`.")
        .source("MCP specification, ContentBlock"),
    Rule::new(
        "protocol/error-not-flagged",
        &[(Spec, Warning)],
        RuleCheck::Answer(error_not_flagged),
    )
    .explanation("The text reads like a failure, and `isError` is not true: hosts show it as a success, and the model may believe it.")
    .fix("Add `isError: true`.")
    .source("MCP specification, tools, error handling")
    .heuristic(),
    Rule::new("protocol/error-flag-in-text", &[(Spec, Info)], RuleCheck::Answer(error_flag_in_text))
        .explanation("`isError` stands in the JSON of the text too, where no host looks for it.")
        .fix("Leave it at the top of the result alone.")
        .source("MCP specification, tools, error handling"),
    Rule::new("protocol/error-not-actionable", &[], RuleCheck::Answer(error_not_actionable))
        .explanation("The error names neither a field nor what is allowed nor a next step.")
        .fix("Say what was wrong and what would be right: “pageSize: at most 500”.")
        .source("MCP specification 2025-11-25, tools, error handling")
        .heuristic(),
    Rule::new("protocol/error-as-jsonrpc", &[(Spec, Warning)], RuleCheck::Answer(error_as_jsonrpc))
        .explanation("A failure of the tool came as a JSON-RPC error. Most hosts do not show such errors to the model, which could mend its call.")
        .fix("A result with `isError: true` and the reason as text.")
        .source("MCP specification 2025-11-25, tools, error handling")
        .heuristic(),
    Rule::new("protocol/tool-name", &[(Spec, Warning)], RuleCheck::Server(tool_name))
        .explanation("A tool's name is 1 to 128 of A–Z a–z 0–9 _ - . and unique; hosts rename or drop others.")
        .fix("Rename the tool.")
        .source("MCP specification 2025-11-25, tool names"),
    Rule::new("protocol/tool-order-unstable", &[(Cost, Warning)], RuleCheck::Server(tool_order))
        .explanation("Two requests for the list of tools gave different orders: every change of order spoils the provider's prompt cache.")
        .fix("Sort the tools.")
        .source("MCP specification 2026-07-28, tools/list SHOULD be deterministic"),
    Rule::new("protocol/elicitation-secret", &[(Spec, Error)], RuleCheck::Answer(elicitation_secret))
        .explanation("A form asks for a secret, which then passes through the client. Secrets MUST be asked for by URL.")
        .fix("URL mode.")
        .source("MCP specification 2025-11-25, elicitation"),
    Rule::new("protocol/secret-argument", &[(Spec, Warning)], RuleCheck::Tool(secret_argument))
        .explanation("An argument takes a secret: the model sees it, and it stands in every transcript.")
        .fix("Ask for it by URL elicitation, or take it from the environment.")
        .source("MCP specification 2025-11-25, elicitation"),
    Rule::new("protocol/elicitation-schema", &[(Spec, Error)], RuleCheck::Answer(elicitation_schema))
        .explanation("A form is a flat object of texts, numbers, yes or no and choices; clients do not paint others.")
        .fix("Flatten it.")
        .source("MCP specification, elicitation, requested schema"),
    Rule::new("protocol/empty-result", &[(Spec, Warning)], RuleCheck::Answer(empty_result))
        .explanation("A success without content and without data: hosts make up words of their own for it.")
        .fix("Say it: “No results.”")
        .source("the rules of hosts for empty results (hosts)"),
    Rule::new("protocol/result-type-missing", &[(Spec, Warning)], RuleCheck::Answer(result_type))
        .explanation("From revision 2026-07-28 on a result says of which type it is.")
        .fix("`\"resultType\": \"complete\"`.")
        .source("MCP specification 2026-07-28, Result"),
    Rule::new("protocol/cache-hints", &[(Spec, Warning)], RuleCheck::Answer(cache_hints))
        .explanation("From revision 2026-07-28 on the answer to `resources/read` says how long it may be kept, and for whom; an answer that says it says it right.")
        .fix("`ttlMs`, a whole number of milliseconds, and `cacheScope`, which is `public` or `private`.")
        .source("MCP specification 2026-07-28, caching"),
    Rule::new("protocol/progress-token", &[(Spec, Warning)], RuleCheck::Answer(progress_token))
        .explanation("Progress came for a token that no request of the call gave: clients drop it, and a time limit runs on.")
        .fix("Send the `progressToken` of the request's `_meta`, and nothing after the answer.")
        .source("MCP specification, progress"),
    Rule::new("protocol/deprecated-feature", &[(Spec, Info)], RuleCheck::Answer(deprecated))
        .explanation("The server used during the call what revision 2026-07-28 deprecates: roots, sampling or logging.")
        .fix("Ask for input by a result of type `input_required`; log to stderr or by OpenTelemetry.")
        .source("MCP specification 2026-07-28, deprecated features"),
    Rule::new("protocol/mime-in-text", &[(Spec, Info)], RuleCheck::Answer(mime_in_text))
        .explanation("The answer is JSON in a text block, which nothing tells from other text: no `structuredContent`, no MIME type.")
        .fix("`structuredContent`, or an embedded resource with `mimeType`.")
        .source("MCP specification 2025-06-18, tools, structured content and embedded resources"),
    Rule::new("protocol/number-hazard", &[(HostCompat, Warning)], RuleCheck::Answer(number_hazard))
        .explanation("A value that readers change: an integer beyond ±2^53, a number beyond 64 bits, a key that stands twice, half of a surrogate pair.")
        .fix("Send the number as a text.")
        .source("RFC 8259, sections 4, 6 and 8.2; hosts written in JavaScript"),
    Rule::new("protocol/x-mcp-header", &[(Spec, Error)], RuleCheck::Tool(x_mcp_header))
        .explanation("A parameter that is to be mirrored as a header is none of string, integer and boolean, or shares its header with another: clients must not call the tool over HTTP.")
        .fix("Put `x-mcp-header` on single values, each with a name of its own.")
        .source("MCP specification 2026-07-28, Streamable HTTP, parameter headers"),
];

fn unknown_content_type(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    for block in answer
        .subject
        .response
        .blocks
        .iter()
        .filter(|block| block.kind == BlockKind::Unknown)
    {
        hits.report(format!("a block of type `{}`", block.type_name))
            .at_path(LocationPart::Result, format!("/content/{}", block.index));
    }
}

/// How a text begins that tells of a failure.
const FAILURES: [&str; 9] = [
    "error:",
    "error ",
    "⚠️",
    "❌",
    "failed to",
    "failure:",
    "exception:",
    "traceback (most recent call last)",
    "unable to",
];

fn error_not_flagged(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    if !answer.is_success() {
        return;
    }
    let head: String = answer
        .text
        .trim_start()
        .chars()
        .take(200)
        .collect::<String>()
        .to_lowercase();
    let is_short = answer.text.len() < 200;
    let says = FAILURES.iter().any(|word| head.starts_with(word))
        || is_short && (head.ends_with(" not found") || head.contains(" failed:"));
    let root = answer
        .structured()
        .or_else(|| answer.json_text().and_then(Doc::root));
    let field = root.and_then(|root| {
        root.get("error").filter(|error| {
            let is_none =
                error.is_null() || error.as_bool() == Some(false) || error.as_f64() == Some(0.0);
            !is_none
                && error.as_str().is_none_or(|text| !text.is_empty())
                && !(error.is_container() && error.is_empty())
        })
    });
    if says || field.is_some() {
        let stated = if says {
            result::clip(&answer.text)
        } else {
            "a member `error`".to_owned()
        };
        hits.report(format!("error text without `isError: true`: {stated}"))
            .at(answer.text_at(0..answer.text.len().min(80)));
    }
}

fn error_flag_in_text(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let flag = answer
        .json_text()
        .and_then(|doc| doc.root()?.get("isError"));
    if let Some(flag) = flag {
        hits.report("`isError` stands in the text too")
            .at(answer.text_at(flag.range()));
    }
}

fn error_not_actionable(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    if answer.subject.capture.outcome != Outcome::ToolError {
        return;
    }
    let says = [
        ":", "`", "must", "at most", "at least", "use ", "try ", "expected", "one of", "should",
        "required",
    ];
    let text = answer.lower_text();
    if !says.iter().any(|word| text.contains(word)) {
        hits.report(format!(
            "the error gives no way on: {}",
            result::clip(&answer.text)
        ))
        .at(answer.text_at(0..answer.text.len()));
    }
}

fn error_as_jsonrpc(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let capture = &answer.subject.capture;
    let Some(error) = answer
        .subject
        .response
        .rpc_error
        .as_ref()
        .filter(|_| capture.outcome == Outcome::ProtocolError)
    else {
        return;
    };
    let is_of_tool = !capture.tool.raw.is_empty()
        && matches!(&*error.code, "-32602" | "-32603" | "-32000" | "-32001");
    let says = error.message.to_lowercase();
    let is_of_protocol = [
        "unknown tool",
        "tool not found",
        "method not found",
        "cancel",
    ]
    .iter()
    .any(|word| says.contains(word));
    if is_of_tool && !is_of_protocol {
        hits.report(format!(
            "the tool's failure came as JSON-RPC error {}",
            result::clip(&error.detail())
        ))
        .at_path(LocationPart::Result, "");
    }
}

fn tool_name(server: &CheckedServer<'_>, _: &Hosts, hits: &mut Hits<'_>) {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for tool in server.tools {
        let name = tool.name.as_str();
        let is_plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-' | '.');
        if name.is_empty() || name.chars().count() > 128 || !name.chars().all(is_plain) {
            hits.report_for(name, format!("`{name}` is no name that every host takes"))
                .in_definition("/name");
        }
        let times = seen.entry(name).or_default();
        *times += 1;
        if *times == 2 {
            hits.report_for(name, format!("`{name}` is listed twice"))
                .in_definition("/name");
        }
    }
}

fn tool_order(server: &CheckedServer<'_>, _: &Hosts, hits: &mut Hits<'_>) {
    let names = |tools: &[std::sync::Arc<loupe_core::capture::Tool>]| {
        tools
            .iter()
            .map(|tool| tool.name.clone())
            .collect::<Vec<_>>()
    };
    let (first, again) = (names(server.tools), names(server.again));
    let (mut sorted, mut sorted_again) = (first.clone(), again.clone());
    sorted.sort();
    sorted_again.sort();
    if first != again && sorted == sorted_again {
        hits.report("two requests for the tools gave different orders");
    }
}

/// What the server asked during the call.
fn asks(answer: &CheckedResult<'_>) -> Vec<ServerRequest> {
    let messages = answer
        .subject
        .capture
        .messages
        .iter()
        .filter(|message| message.direction == Direction::In);
    let ask = |message: &loupe_core::capture::Message| {
        let doc = Doc::parse(message.bytes.clone());
        let root = doc.root()?;
        ServerRequest::read(0, &root.get("method")?.as_str()?, root.get("params"))
    };
    messages.filter_map(ask).collect()
}

fn is_secret(name: &str) -> bool {
    let plain: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|char| char.to_ascii_lowercase())
        .collect();
    [
        "password",
        "passwd",
        "passphrase",
        "apikey",
        "accesstoken",
        "clientsecret",
        "privatekey",
        "cardnumber",
        "creditcard",
        "cvv",
        "secretkey",
    ]
    .iter()
    .any(|word| plain.contains(word))
}

fn elicitation_secret(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    for ask in asks(answer) {
        for name in ask.secrets() {
            hits.report(format!("a form asks for `{name}`"))
                .at_path(LocationPart::Result, "");
        }
    }
}

fn secret_argument(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    for argument in tool.arguments() {
        let name = argument.key().unwrap_or_default();
        let is_text = is_type(argument, "string") && argument.get("enum").is_none();
        if is_text
            && (is_secret(&name)
                || text(argument, "format").is_some_and(|format| format == "password"))
        {
            hits.report(format!("`{name}` takes a secret"))
                .in_definition(argument.pointer());
        }
    }
}

fn elicitation_schema(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    for ask in asks(answer) {
        let RequestKind::Form { schema, .. } = &ask.wants else {
            continue;
        };
        let doc = Doc::parse(schema.clone());
        let properties = doc.at("/properties").into_iter().flat_map(Node::children);
        for property in properties {
            let is_choice = property.at("/items/enum").is_some()
                || property.at("/items/anyOf").is_some()
                || property.at("/items/oneOf").is_some();
            if is_type(property, "object")
                || is_type(property, "array") && !is_choice
                || property.get("$ref").is_some()
            {
                hits.report(format!(
                    "the form's `{}` is no single value",
                    property.key().unwrap_or_default()
                ))
                .at_path(LocationPart::Result, "");
            }
        }
    }
}

fn empty_result(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let blocks = &answer.subject.response.blocks;
    let is_blank = blocks.iter().all(|block| {
        block.kind == BlockKind::Text && block.text.as_deref().unwrap_or_default().trim().is_empty()
    });
    let asks = answer
        .result()
        .and_then(|result| result.get("resultType"))
        .and_then(Node::as_str)
        .is_some_and(|kind| kind != "complete");
    if answer.is_success()
        && is_blank
        && answer.structured().is_none()
        && !asks
        && answer.subject.capture.has_result()
    {
        hits.report("empty success result")
            .at_path(LocationPart::Result, "/content");
    }
}

fn result_type(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let is_new = answer.subject.capture.server.protocol_version.as_str() >= "2026-07-28";
    if let Some(result) = answer
        .result()
        .filter(|result| is_new && result.get("resultType").is_none())
    {
        hits.report("the result has no `resultType`")
            .at_path(LocationPart::Result, result.pointer_from(result.index()));
    }
}

fn cache_hints(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let is_new = answer.subject.capture.server.protocol_version.as_str() >= "2026-07-28";
    let Some(result) = answer.result().filter(|_| is_new) else {
        return;
    };
    for key in ["ttlMs", "cacheScope"] {
        let Some(hint) = result.get(key) else {
            if result.get("contents").is_some() {
                hits.report(format!("the result has no `{key}`"))
                    .at_path(LocationPart::Result, "");
            }
            continue;
        };
        let is_right = match key {
            "ttlMs" => hint.as_i64().is_some_and(|time| time >= 0),
            _ => hint
                .as_str()
                .is_some_and(|scope| matches!(&*scope, "public" | "private")),
        };
        if !is_right {
            let what = result::clip(&hint.raw_text());
            hits.report(format!("`{key}` is {what}"))
                .at_path(LocationPart::Result, format!("/{key}"));
        }
    }
}

fn progress_token(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let capture = &answer.subject.capture;
    let token = |bytes: &Bytes, pointer: &str| {
        Some(
            Doc::parse(bytes.clone())
                .at(pointer)?
                .raw_text()
                .into_owned(),
        )
        .filter(|token| token != "null")
    };
    let is_progress = |message: &&Message| {
        let names_it = || memchr::memmem::find(&message.bytes, b"notifications/progress").is_some();
        message.direction == Direction::In && names_it()
    };
    let mut came = Vec::new();
    for token in capture
        .messages
        .iter()
        .filter(is_progress)
        .filter_map(|message| token(&message.bytes, "/params/progressToken"))
    {
        if !came.contains(&token) {
            came.push(token);
        }
    }
    if came.is_empty() {
        return;
    }
    // A call of several rounds has several requests.
    let others = capture
        .messages
        .iter()
        .filter(|message| message.direction == Direction::Out)
        .map(|message| &message.bytes);
    let sent = [&capture.request].into_iter().chain(others);
    let given: Vec<_> = sent
        .filter_map(|sent| token(sent, "/params/_meta/progressToken"))
        .collect();
    // Some servers make a text of a number; it is the same token to clients.
    let is_given = |token: &String| {
        given
            .iter()
            .any(|given| given.trim_matches('"') == token.trim_matches('"'))
    };
    for token in came
        .iter()
        .filter(|token| !given.is_empty() && !is_given(token))
    {
        let what = format!(
            "progress came for the token {}, the call gave {}",
            result::clip(token),
            given.join(", ")
        );
        hits.report(what).at_path(LocationPart::Result, "");
    }
}

fn deprecated(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let capture = &answer.subject.capture;
    if capture.server.protocol_version.as_str() < "2026-07-28" {
        return;
    }
    for message in capture
        .messages
        .iter()
        .filter(|message| message.direction == Direction::In)
    {
        let doc = Doc::parse(message.bytes.clone());
        let method = doc
            .at("/method")
            .and_then(|method| Some(method.as_str()?.into_owned()))
            .unwrap_or_default();
        if matches!(
            &*method,
            "roots/list" | "sampling/createMessage" | "notifications/message"
        ) {
            hits.report(format!("the server sent `{method}`"))
                .at_path(LocationPart::Result, "");
        }
    }
}

fn mime_in_text(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let is_data = answer
        .json_text()
        .and_then(Doc::root)
        .is_some_and(|root| root.is_container() && !root.is_empty());
    if answer.is_success()
        && answer.structured().is_none()
        && is_data
        && answer.subject.capture.has_result()
    {
        hits.report("JSON as a text block alone")
            .at(answer.text_at(0..answer.text.len()));
    }
}

fn number_hazard(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let Some(data) = answer.exact_data() else {
        return;
    };
    for leaf in result::leaves(data.root()) {
        let Some(number) = leaf.as_number().filter(|number| number.len() > 3) else {
            continue;
        };
        let is_whole = number
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'-');
        let why = if is_whole
            && number
                .parse::<i128>()
                .is_ok_and(|number| number.unsigned_abs() <= 1 << 53)
        {
            continue;
        } else if is_whole {
            "an integer beyond ±2^53, which JavaScript rounds"
        } else if number.parse::<f64>().is_ok_and(f64::is_infinite) {
            "a number beyond 64 bits"
        } else {
            continue;
        };
        hits.report(format!(
            "{why}: `{}`",
            result::wild(&leaf.pointer_from(data.root().index()))
        ))
        .at(answer.data_at(leaf));
    }
    for fault in data.doc.faults().iter().take(100) {
        let is_within = data.root().range().contains(&fault.at);
        let what = match fault.kind {
            FaultKind::DuplicateKey => "a key that stands twice in one object",
            FaultKind::LoneSurrogate => "half of a surrogate pair",
            _ => continue,
        };
        if is_within {
            hits.report(what).at(answer.data_at(data.root()));
        }
    }
}

fn x_mcp_header(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    let mut seen = HashMap::new();
    static PLAIN: RulePattern = RulePattern::new("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$");
    for schema in tool.input_schemas() {
        let Some(header) = schema.get("x-mcp-header") else {
            continue;
        };
        let name = header.as_str().unwrap_or_default().to_lowercase();
        let is_single = ["string", "integer", "boolean"]
            .iter()
            .any(|kind| is_type(schema, kind));
        if header.kind() != Kind::String || !PLAIN.is_match(&name) {
            hits.report("`x-mcp-header` is no name of a header")
                .in_definition(header.pointer());
        } else if !is_single {
            hits.report("`x-mcp-header` on what is no single value")
                .in_definition(header.pointer());
        } else if seen.insert(name.clone(), ()).is_some() {
            hits.report(format!("two parameters go into the header `{name}`"))
                .in_definition(header.pointer());
        }
    }
}
