//! What every host loses of one awkward server, by its rules and how each is known: `tests/data/host/losses.txt`. What is
//! marked as observed was read back from the program or the library, given the same awkward definitions.
//! `UPDATE_EXPECT=1 cargo test --test it losses` writes it anew; read the difference before it is kept.

use std::fmt::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use loupe_core::capture::Tool;
use loupe_core::host::Hosts;
use loupe_core::host::losses::ListedServer;

use crate::cases::{data, expect};

fn tool(json: &serde_json::Value, is_after_first_page: bool) -> Arc<Tool> {
    Arc::new(Tool {
        is_after_first_page,
        ..Tool::read(Bytes::from(json.to_string()))
    })
}

/// Names, texts and schemas that hosts are known to change, on two pages.
fn tools() -> Vec<Arc<Tool>> {
    let plain = serde_json::json!({"type": "object"});
    let first = [
        serde_json::json!({"name": "a.b", "description": "One.", "inputSchema": plain}),
        serde_json::json!({"name": "a_b", "description": "Two.", "inputSchema": plain}),
        serde_json::json!({"name": "x".repeat(140), "description": "Long name.", "inputSchema": plain}),
        serde_json::json!({"name": "long", "description": "word ".repeat(1_200), "inputSchema": plain}),
        serde_json::json!({"name": "app", "description": "For an app.", "inputSchema": plain, "_meta": {"ui": {"visibility": ["app"]}}}),
        serde_json::json!({"name": "schema", "description": "Keywords.", "inputSchema": {
            "type": "object",
            "properties": {"day": {"type": "string", "format": "date", "pattern": "^2", "default": "2026", "examples": ["2026-01-31"]}, "n": {"type": "integer", "minimum": 1}, "r": {"$ref": "#/$defs/r"}},
            "anyOf": [{"required": ["day"]}, {"required": ["n"]}],
            "$defs": {"r": {"type": "string"}},
        }}),
        serde_json::json!({"name": "large", "description": "A large schema.", "inputSchema": {
            "type": "object",
            "properties": {"text": {"type": "string", "description": "word ".repeat(1_100)}},
        }}),
    ];
    let later =
        serde_json::json!({"name": "later", "description": "On page two.", "inputSchema": plain});
    let mut all: Vec<_> = first.iter().map(|json| tool(json, false)).collect();
    all.push(tool(&later, true));
    all
}

fn write_losses(name: &str, tools: &[Arc<Tool>], instructions: Option<&str>, out: &mut String) {
    writeln!(out, "# {name}").unwrap();
    let listing = ListedServer {
        server: "probe",
        tools,
        instructions,
    };
    for host in Hosts::built_in().iter() {
        let losses = host.losses(&listing);
        writeln!(out, "\n{}", host.id).unwrap();
        if losses.is_empty() {
            out.push_str("  nothing\n");
        }
        for loss in losses {
            let (kind, effect) = (loss.kind.name(), loss.effect.name());
            let known = format!(
                "{} {}",
                loss.evidence.evidence.name(),
                loss.evidence.checked
            );
            writeln!(out, "  {kind}: {} [{effect}; {known}]", loss.text).unwrap();
        }
    }
    out.push('\n');
}

#[test]
fn hosts_lose_what_their_rules_say() {
    let mut out = String::new();
    write_losses(
        "Names, texts and schemas, on two pages",
        &tools(),
        Some(&"Read this. ".repeat(500)),
        &mut out,
    );
    let lost = serde_json::json!({"$ref": "#/$defs/none"});
    let of = |name: &str, json| {
        vec![
            tool(
                &serde_json::json!({"name": "a", "inputSchema": {"type": "object"}}),
                false,
            ),
            tool(
                &serde_json::Value::Object(serde_json::Map::from_iter(
                    [("name".to_owned(), name.into())].into_iter().chain(json),
                )),
                false,
            ),
        ]
    };
    let object = |property: serde_json::Value| serde_json::json!({"type": "object", "properties": {"p": property}});
    let output = [
        (
            "inputSchema".to_owned(),
            serde_json::json!({"type": "object"}),
        ),
        ("outputSchema".to_owned(), object(lost.clone())),
    ];
    write_losses(
        "An output schema with a dangling $ref",
        &of("b", output.to_vec()),
        None,
        &mut out,
    );
    let input = [("inputSchema".to_owned(), object(lost))];
    write_losses(
        "An input schema with a dangling $ref",
        &of("b", input.to_vec()),
        None,
        &mut out,
    );
    let boolean = [("inputSchema".to_owned(), object(true.into()))];
    write_losses(
        "A property that is true",
        &of("b", boolean.to_vec()),
        None,
        &mut out,
    );
    let mut failures = String::new();
    expect(&data("host").join("losses.txt"), &out, &mut failures);
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn a_plain_server_loses_nothing_anywhere() {
    let plain = tool(
        &serde_json::json!({"name": "find_user", "description": "Finds users.", "inputSchema": {"type": "object", "properties": {"name": {"type": "string", "description": "Name"}}, "required": ["name"]}}),
        false,
    );
    let listing = ListedServer {
        server: "users",
        tools: &[plain],
        instructions: None,
    };
    for host in Hosts::built_in().iter() {
        let losses = host.losses(&listing);
        let is_known = |effect: &str| effect != "not-known";
        assert!(
            losses.iter().all(|loss| !is_known(loss.effect.name())),
            "{}: {losses:?}",
            host.id
        );
    }
}

#[test]
fn a_cut_is_told_to_the_character() {
    let claude = Hosts::built_in();
    let claude = claude.get("claude-code").unwrap();
    let long = tool(
        &serde_json::json!({"name": "long", "description": format!("{}é{}", "d".repeat(4_095), "rest".repeat(3)), "inputSchema": {"type": "object"}}),
        false,
    );
    let (shown, removed) = claude.description_cut(&long, "s").unwrap();
    assert_eq!(removed, "rest".repeat(3));
    assert!(shown.ends_with("é… [truncated]"), "{shown}");
    let instructions = claude.instructions(&"é".repeat(5_000)).unwrap();
    assert_eq!(instructions.kept, 2 * 4_096);
    let whole = tool(
        &serde_json::json!({"name": "whole", "description": "d".repeat(4_096), "inputSchema": {"type": "object"}}),
        false,
    );
    assert_eq!(claude.description_cut(&whole, "s"), None);
}
