//! The worked examples, and what a file of hosts may not say.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde::Deserialize;

use super::*;
use crate::capture::{Capture, CaptureId, Server, Tool};
use crate::format::ParsedCapture;

#[derive(Deserialize)]
struct Examples {
    context: Context,
    input: Vec<Input>,
    example: Vec<Example>,
}

#[derive(Deserialize)]
struct Context {
    server: String,
    tool: String,
    arguments: String,
    wall_seconds: f64,
    path: String,
}

#[derive(Deserialize)]
struct Input {
    id: String,
    result: String,
}

#[derive(Deserialize)]
struct Example {
    host: String,
    input: String,
    parts: Vec<String>,
}

pub(crate) fn subject(result: &str) -> ParsedCapture {
    let response = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
    ParsedCapture::new(Arc::new(Capture {
        tool: Tool::unlisted("probe"),
        arguments: Bytes::from_static(b"{}"),
        response: Some(Bytes::from(response)),
        ..Capture::empty(CaptureId("test".into()), Server::default())
    }))
}

#[test]
fn every_worked_example_comes_out() {
    let examples: Examples =
        toml::from_str(include_str!("../../tests/data/host/examples.toml")).unwrap();
    let hosts = Hosts::built_in();
    assert_eq!(hosts.problems, []);
    assert_eq!(hosts.len(), 41);
    let mut wrong = Vec::new();
    for example in &examples.example {
        let input = examples
            .input
            .iter()
            .find(|input| input.id == example.input)
            .unwrap();
        let subject = subject(&input.result);
        let context = ViewContext {
            server: examples.context.server.as_str().into(),
            tool: examples.context.tool.as_str().into(),
            arguments: examples
                .context
                .arguments
                .replace("INPUT ID", &input.id)
                .into_bytes()
                .into(),
            wall: Duration::from_secs_f64(examples.context.wall_seconds),
            path: examples.context.path.as_str().into(),
            has_holes: false,
        };
        let host = hosts.get(&example.host).unwrap();
        let view = host.view(&subject, &context);
        assert_eq!(
            host.limit_state(&subject, &context),
            view.limit.state,
            "{} {}",
            example.host,
            example.input
        );
        if view.listing() != example.parts {
            wrong.push(format!(
                "{} {}: {:?}\n  expected {:?}\n  came     {:?}",
                example.host,
                example.input,
                view.not_computable,
                example.parts,
                view.listing()
            ));
        }
        let traced: usize = view.spans.iter().map(|span| span.range().len()).sum();
        let between = view.texts().count().saturating_sub(1);
        assert_eq!(
            traced + between,
            view.text.len(),
            "every byte of {} {} has an origin",
            example.host,
            example.input
        );
    }
    assert_eq!(examples.example.len(), 410);
    assert!(
        wrong.is_empty(),
        "{} of 320\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[derive(Deserialize)]
struct Limits {
    case: Vec<LimitCase>,
}

#[derive(Deserialize)]
struct LimitCase {
    name: String,
    #[serde(default = "as_parts")]
    delivery: String,
    limit: String,
    texts: Vec<String>,
    parts: Vec<String>,
    state: String,
    #[serde(default)]
    splits: bool,
}

fn as_parts() -> String {
    "parts".to_owned()
}

/// A file with one host that shows texts as they are.
pub(crate) fn file(delivery: &str, rest: &str) -> String {
    format!(
        "schema = \"loupe.hosts/1\"\n[[host]]\nid = \"own\"\nname = \"Own\"\nkind = \"cli\"\nversion = \"1\"\nchecked = \"2026-01-31\"\n\
         evidence = \"observed\"\nselect = \"content\"\njson = \"js-compact\"\ndelivery = \"{delivery}\"\n{rest}\n"
    )
}

fn own(delivery: &str, rest: &str) -> Hosts {
    Hosts::default().with_file(&file(delivery, rest), "hosts.toml")
}

fn view(hosts: &Hosts, id: &str, result: &str) -> HostView {
    let (subject, host) = (subject(result), hosts.get(id).unwrap());
    let context = ViewContext::new(&subject.capture);
    let view = host.view(&subject, &context);
    assert_eq!(
        host.limit_state(&subject, &context),
        view.limit.state,
        "{id}"
    );
    view
}

#[test]
fn every_kind_of_limit_cuts_where_it_says() {
    let limits: Limits = toml::from_str(include_str!("../../tests/data/host/limits.toml")).unwrap();
    let mut wrong = Vec::new();
    for case in &limits.case {
        let rules = format!(
            "[host.block]\ntext = [\"{{text}}\"]\n[[host.limit]]\n{}",
            case.limit
        );
        let hosts = own(&case.delivery, &rules);
        assert_eq!(hosts.problems, [], "{}", case.name);
        let blocks: Vec<_> = case
            .texts
            .iter()
            .map(|text| serde_json::json!({"type": "text", "text": text}))
            .collect();
        let view = view(
            &hosts,
            "own",
            &serde_json::json!({ "content": blocks }).to_string(),
        );
        let splits = view.limit.bites.iter().any(|bite| bite.splits_character);
        let came = (view.listing(), view.limit.state.name(), splits);
        if came != (case.parts.clone(), case.state.as_str(), case.splits) {
            wrong.push(format!("{}: {came:?}", case.name));
        }
        // What is left of the text before the limit is a part of it, and is still there.
        for range in view.kept.iter() {
            assert!(
                view.text.contains(&view.full[range.clone()]),
                "{}",
                case.name
            );
        }
        let left: usize = view.kept.iter().map(|range| range.len()).sum();
        let is_cut = !view.limit.bites.is_empty();
        assert_eq!(
            left < view.full.len(),
            is_cut,
            "{}: {:?} of {:?}",
            case.name,
            view.kept,
            view.full
        );
    }
    assert!(limits.case.len() > 40);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// [`view`] asks for the state alone too, which reads no more of a text than tells it.
#[test]
fn limits_of_lines_beside_others_are_told_of_the_beginning() {
    let limit = |unit: &str, max: u64, keep: &str, applies: &str| {
        let rule =
            format!("unit = \"{unit}\"\nmax = {max}\nkeep = \"{keep}\"\napplies = \"{applies}\"");
        format!("[[host.limit]]\n{rule}\nnotice = \"[cut]\"\ncertainty = \"a case\"\n")
    };
    let mut states = Vec::new();
    for (line_keep, keep) in [("head", "head"), ("none", "head"), ("head", "none")] {
        for (unit, applies) in [
            ("chars", "total"),
            ("chars", "parts-in-order"),
            ("chars", "single-part-only"),
            ("tokens", "total"),
        ] {
            let limits =
                limit("chars-per-line", 30, line_keep, "line") + &limit(unit, 40, keep, applies);
            let hosts = own(
                "string",
                &format!("[host.block]\ntext = [\"{{text}}\"]\n{limits}"),
            );
            assert_eq!(hosts.problems, [], "{limits}");
            for text in [
                "short",
                "a line of more than thirty characters",
                &"short\n".repeat(90),
                &format!("{}{}", "short\n".repeat(90), "x".repeat(99)),
                &format!("{}\n{}", "x".repeat(999), "short\n".repeat(90)),
            ] {
                for texts in [vec![text], vec![text, "and another"]] {
                    let blocks: Vec<_> = texts
                        .iter()
                        .map(|text| serde_json::json!({"type": "text", "text": text}))
                        .collect();
                    states.push(
                        view(
                            &hosts,
                            "own",
                            &serde_json::json!({ "content": blocks }).to_string(),
                        )
                        .limit
                        .state,
                    );
                }
            }
        }
    }
    for state in [
        LimitState::Fits,
        LimitState::MayCut,
        LimitState::Cut,
        LimitState::Error,
    ] {
        assert!(states.contains(&state), "{state:?}");
    }
}

#[test]
fn real_limits_are_those_that_were_observed() {
    let of = |id: &str, length: usize| {
        let text = serde_json::json!({"content": [{"type": "text", "text": "x".repeat(length)}]})
            .to_string();
        view(&Hosts::built_in(), id, &text)
    };
    // 50,000 passes, 50,001 does not; both may already be over the limit in tokens.
    assert_eq!(of("claude-code", 50_000).limit.state, LimitState::MayCut);
    let cut = of("claude-code", 50_001);
    assert_eq!(cut.limit.state, LimitState::Cut);
    assert!(
        cut.text
            .contains("Preview (first 2KB):\n[\n  {\n    \"type\": \"text\",\n    \"text\": \"xx"),
        "{}",
        cut.text
    );
    assert_eq!(of("copilot-cli", 20_480).limit.state, LimitState::Fits);
    assert_eq!(of("copilot-cli", 20_481).limit.state, LimitState::Cut);
    // 7,999 to 8,000 characters in all, marker included.
    assert!(
        (7_999..=8_000).contains(&of("cline", 9_000).text.len()),
        "{}",
        of("cline", 9_000).text.len()
    );
    // The second pass counts the marker of the first: 7 or 8, whatever was lost.
    let codex = of("codex", 60_000);
    assert!(
        codex.text.contains("…7 tokens truncated…") || codex.text.contains("…8 tokens truncated…")
    );
    assert_eq!(
        of("claude-desktop", (1 << 20) + 1).limit.state,
        LimitState::Error
    );
    assert_eq!(
        of("goose-openai", 200_001).limit.state,
        LimitState::Replaced
    );
    assert_eq!(of("zed", 1_000_000).limit.state, LimitState::None);
    assert_eq!(of("cursor", 10).limit.state, LimitState::Unknown);
    assert_eq!(of("vscode-copilot", 10).limit.state, LimitState::Unknown);
}

#[test]
fn a_limit_in_tokens_fits_where_twice_as_many_would() {
    let mut limit = view(&own("parts", "[host.block]\ntext = [\"{text}\"]\n[[host.limit]]\nunit = \"tokens\"\nmax = 10\nkeep = \"none\"\napplies = \"total\"\nnotice = \"no\"\ncertainty = \"x\"\n"), "own", r#"{"content":[{"type":"text","text":"some words here"}]}"#).limit;
    assert_eq!(limit.state, LimitState::MayCut);
    limit.count(6);
    assert_eq!(limit.state, LimitState::MayCut);
    limit.count(5);
    assert_eq!(limit.state, LimitState::Fits);
}

#[test]
fn a_users_file_adds_and_replaces_and_breaks_nothing() {
    let built_in = Hosts::built_in();
    let added = built_in.with_file(
        &file("parts", "[host.block]\ntext = [\"<{text}>\"]"),
        "hosts.toml",
    );
    assert_eq!(added.len(), 42);
    assert!(added.iter().next().unwrap().is_own);
    assert_eq!(
        &*view(&added, "own", r#"{"content":[{"type":"text","text":"a"}]}"#).text,
        "<a>"
    );
    let replaced = built_in.with_file(
        &file("string", "").replace("\"own\"", "\"codex\""),
        "hosts.toml",
    );
    assert_eq!(
        (replaced.len(), replaced.get("codex").unwrap().name.as_str()),
        (41, "Own")
    );
    for (text, message) in [
        (
            file("parts", "selekt = 1"),
            "the hosts file is not used: unknown field `selekt`, expected one of",
        ),
        (
            file("parcels", ""),
            "the hosts file is not used: unknown variant `parcels`, expected `string` or `parts` (hosts.toml, line 11, `delivery`)",
        ),
        (
            file("parts", "[host.block]\ntext = [\"@medium\"]"),
            "the hosts file is not used: unknown step `@medium`, expected a text or one of",
        ),
        (
            file(
                "parts",
                "[host.client]\nname = \"x\"\nversion = \"1\"\ncapabilities = \"[]\"\nsource = \"y\"",
            ),
            "not a JSON object",
        ),
        (
            file(
                "parts",
                "[host.client]\nname = \"x\"\nversion = \"1\"\ncapabilities = \"{}\"\nprotocol = \"2026-07-28\"\nsource = \"y\"",
            ),
            "`2026-07-28` is not a revision of the protocol with a handshake: 2024-11-05, 2025-03-26,",
        ),
        (
            file(
                "parts",
                "[host.client]\nname = \"x\"\nversion = \"1\"\ncapabilities = \"{}\"\ndiscover = true\nsource = \"y\"",
            ),
            "`discover` of `own` says nothing without `protocol`",
        ),
        (
            file("parts", "").replace("2026-01-31", "today"),
            "`checked` of `own` is not a day such as 2026-01-31 (hosts.toml, line 2, `[[host]]`)",
        ),
        (
            file("parts", "").replace("\"own\"", "\"My Host\""),
            "`My Host` is not an id: 1 to 64 of a-z 0-9 - _ . (hosts.toml, line 3, `id`)",
        ),
        (
            "schema = \"loupe.hosts/2\"\nhost = []".to_owned(),
            "unknown variant `loupe.hosts/2`, expected `loupe.hosts/1` (hosts.toml, line 1, `schema`)",
        ),
        ("[[host]\n".to_owned(), "(hosts.toml, line 1"),
    ] {
        let hosts = built_in.with_file(&text, "hosts.toml");
        assert_eq!(hosts.len(), 41, "the built-in hosts stay");
        let came = hosts.problems[0].message();
        assert!(came.contains(message), "{came}");
    }
    let twice = format!(
        "{}{}",
        file("parts", ""),
        file("parts", "").replace("schema = \"loupe.hosts/1\"\n", "")
    );
    assert!(
        built_in.with_file(&twice, "f").problems[0]
            .message()
            .contains("a second host `own` (f, line 13")
    );
}

#[test]
fn the_state_of_a_limit_is_known_without_the_whole_text() {
    let hosts = Hosts::built_in();
    let list: Vec<u32> = (0..100_000).collect();
    for text in [
        "a word 1.50 ".repeat(400_000),
        "\u{1f600}".repeat(262_145),
        "\u{1f600}".repeat(200_000),
    ] {
        let result = serde_json::json!({"content": [{"type": "text", "text": text}], "structuredContent": {"list": list}});
        for host in hosts.iter().filter(|host| !host.limit.is_empty()) {
            view(&hosts, host.id.as_str(), &result.to_string());
        }
    }
}

#[test]
fn what_is_left_out_says_why() {
    let hosts = Hosts::built_in();
    let result = r#"{"content":[{"type":"text","text":"a"},{"type":"image","data":"","mimeType":"image/png"},{"type":"hologram"}],"structuredContent":{"k":1},"isError":true}"#;
    let why = |id: &str| {
        let view = view(&hosts, id, result);
        let dropped: Vec<String> = view
            .dropped
            .iter()
            .map(|dropped| format!("{:?}: {}", dropped.what, dropped.why))
            .collect();
        (view.not_computable.unwrap_or_default(), dropped.join("; "))
    };
    assert_eq!(
        why("codex"),
        (
            String::new(),
            "Block(0): structuredContent takes the place of the blocks; Block(1): structuredContent takes the place of the blocks; \
             Block(2): structuredContent takes the place of the blocks; IsError: nothing says that the call failed"
                .to_owned()
        )
    );
    assert_eq!(
        why("claude-code").1,
        "Block(1): of an error only texts and links are shown; Block(2): of an error only texts and links are shown; Structured: of an error it is left out"
    );
    assert_eq!(
        why("goose-openai").0,
        "block 2 (unknown blocks): the host answers with an error of its own instead"
    );
    assert!(
        why("llamaindex").0.contains("not"),
        "{:?}",
        why("llamaindex")
    );
    let rpc = ParsedCapture::new(Arc::new(Capture {
        response: Some(Bytes::from_static(
            br#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}"#,
        )),
        ..(*subject("{}").capture).clone()
    }));
    let view = hosts
        .get("codex")
        .unwrap()
        .view(&rpc, &ViewContext::new(&rpc.capture));
    assert!(view.not_computable.unwrap().contains("JSON-RPC error"));
}

#[test]
fn definitions_are_named_and_cut_as_the_host_does() {
    let tool = Tool::read(Bytes::from(
        serde_json::json!({"name": "Get user/byId", "description": "d".repeat(5_000), "inputSchema": {"type": "object"}})
            .to_string(),
    ));
    let both = |id: &str| {
        Hosts::built_in()
            .get(id)
            .unwrap()
            .definition(&tool, "My server")
    };
    let of = |id: &str| both(id).0;
    let claude = of("claude-code");
    assert_eq!(
        claude.name.as_deref(),
        Some("mcp__My_server__Get_user_byId")
    );
    assert!(claude.is_description_cut);
    assert_eq!(
        claude.description.unwrap().len(),
        4_096 + "… [truncated]".len()
    );
    assert_eq!(
        (claude.title, claude.output_schema),
        (Some(false), Some(false))
    );
    assert_eq!(
        of("vscode-copilot").name.as_deref(),
        Some("mcp_My_server_Get_user_byId")
    );
    assert_eq!(of("chatgpt-apps").name, None);
    assert_eq!(of("codex").namespace.as_deref(), Some("mcp__My_server"));
    assert!(
        both("codex")
            .1
            .starts_with(r#"{"name":"mcp__My_server.Get_user_byId","description":"ddd"#)
    );
    let bare = Tool::unlisted("t");
    let cline = Hosts::built_in()
        .get("cline")
        .unwrap()
        .definition(&bare, "s")
        .0;
    assert_eq!(
        cline.description.as_deref(),
        Some("Execute MCP tool \"t\" from server \"s\".")
    );
}
