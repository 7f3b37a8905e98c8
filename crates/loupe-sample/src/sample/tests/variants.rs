//! What every set must be able to answer, and what each key changes.

use super::*;

/// Spec, tool, arguments, what the text has to hold, `isError`.
type Case = (&'static str, &'static str, &'static str, &'static str, bool);

/// Many, one, none, more than shown, bad argument, not found: of each set in turn. Where the original has none, the set
/// shows the lack.
const CASES: &[Case] = &[
    (
        "autotask-dual",
        "autotask_search_companies",
        r#"{"pageSize":3}"#,
        "**Results**: 3 companies found",
        false,
    ),
    (
        "autotask-dual",
        "autotask_get_ticket_details",
        r#"{"ticketID":1001}"#,
        "# Ticket T-1001: Server downtime",
        false,
    ),
    (
        "autotask-dual",
        "autotask_search_companies",
        r#"{"searchTerm":"no such"}"#,
        "ℹ️ **No Results Found**",
        false,
    ),
    (
        "autotask-dual",
        "autotask_search_companies",
        r#"{"pageSize":90}"#,
        "⚠️ **Response Truncated**",
        false,
    ),
    (
        "autotask-dual",
        "autotask_search_tickets",
        r#"{"pageSize":5}"#,
        "⚠️ **Results Truncated**: Showing first 5 of 500",
        false,
    ),
    (
        "autotask-dual",
        "autotask_search_tickets",
        r#"{"companyID":12345}"#,
        "✅ **All Results Shown**: Displaying all 5",
        false,
    ),
    (
        "autotask-dual",
        "autotask_search_companies",
        r#"{"pageSize":501}"#,
        "❌ **Invalid Parameters**",
        true,
    ),
    (
        "autotask-dual",
        "autotask_get_ticket_details",
        r#"{"ticketID":7}"#,
        "Ticket with ID 7 not found",
        true,
    ),
    (
        "autotask-strict",
        "autotask_search_companies",
        r#"{"pageSize":3}"#,
        "\"message\": \"Found 3 companies\"",
        false,
    ),
    (
        "autotask-strict",
        "autotask_search_companies",
        r#"{"response_format":"markdown"}"#,
        "## Companies (50 results)",
        false,
    ),
    (
        "autotask-strict",
        "autotask_get_ticket_details",
        r#"{"ticketID":1001}"#,
        "\"ticketNumber\": \"T-1001\"",
        false,
    ),
    (
        "autotask-strict",
        "autotask_search_companies",
        r#"{"searchTerm":"no such"}"#,
        "\"data\": []",
        false,
    ),
    (
        "autotask-strict",
        "autotask_search_companies",
        r#"{"searchTerm":"no such","response_format":"markdown"}"#,
        "No companies found.",
        false,
    ),
    (
        "autotask-strict",
        "autotask_search_companies",
        r#"{"pageSize":-1}"#,
        "[Response truncated at 25000 characters",
        false,
    ),
    (
        "autotask-strict",
        "autotask_search_companies",
        r#"{"pageSize":501}"#,
        "\"code\": \"VALIDATION_ERROR\"",
        true,
    ),
    (
        "autotask-strict",
        "autotask_get_ticket_details",
        r#"{"ticketID":7}"#,
        "\"isError\": true",
        true,
    ),
    (
        "dial",
        "search_user",
        "{}",
        "Found 500 users:\n\n```\nUser ID: 1\n",
        false,
    ),
    (
        "dial",
        "get_user_by_id",
        r#"{"user_id":42}"#,
        "```\nUser ID: 42\n",
        false,
    ),
    (
        "dial",
        "search_user",
        r#"{"name":"nobody"}"#,
        "No users found matching your criteria.",
        false,
    ),
    (
        "dial",
        "get_user_by_id",
        "{}",
        "Error: user_id is required",
        false,
    ),
    (
        "dial",
        "get_user_by_id",
        r#"{"user_id":999}"#,
        "Error: User with ID 999 not found",
        false,
    ),
    (
        "delegator",
        "_codex_local_status",
        "{}",
        "\"running\": 3,\n    \"queued\": 2,\n    \"recently_completed\": 5",
        false,
    ),
    (
        "delegator",
        "_codex_local_status",
        r#"{"task_id":"T-local-xyz"}"#,
        "\"running\": 1,\n    \"queued\": 0,\n    \"recently_completed\": 0",
        false,
    ),
    (
        "delegator,size=1",
        "_codex_local_status",
        "{}",
        "\"running\": 1,",
        false,
    ),
    (
        "delegator,size=0",
        "_codex_local_status",
        "{}",
        "\"recently_completed\": 0\n  }\n}",
        false,
    ),
    (
        "delegator",
        "_codex_local_status",
        r#"{"task_id":"T-none"}"#,
        "\"recently_completed\": 0\n  }\n}",
        false,
    ),
    (
        "delegator",
        "_codex_local_status",
        r#"{"format":"xml"}"#,
        "Error: format must be one of json, markdown",
        true,
    ),
    (
        "autoreply",
        "feed",
        "{}",
        "# Following · 50 posts\n\n## @bob.dev · 3m\n\n> Shipped! 🚀\n\n👍 5  💬 2\n\n",
        false,
    ),
    (
        "autoreply",
        "profile",
        r#"{"account":"@alice"}"#,
        "📊 Joined May 2023 · 1.2K followers · 843 following",
        false,
    ),
    (
        "autoreply",
        "search",
        r#"{"account":"scientist","query":"no such"}"#,
        "Found 0 posts",
        false,
    ),
    (
        "autoreply",
        "feed",
        r#"{"limit":5}"#,
        "→ More (cursor: abc5)",
        false,
    ),
    (
        "autoreply",
        "feed",
        r#"{"limit":101}"#,
        "⚠️ limit cannot exceed 100",
        false,
    ),
    (
        "autoreply",
        "delete",
        r#"{"uri":"at://none"}"#,
        "⚠️ Delete failed: Post not found",
        false,
    ),
    (
        "autoreply",
        "login",
        r#"{"handle":"@alice"}"#,
        "Never give the main password",
        true,
    ),
];

#[test]
fn every_set_can_answer_in_every_way() {
    for (spec, tool, arguments, needle, is_error) in CASES {
        let (text, structured, flag) = call(&sample(spec), tool, arguments);
        assert!(text.contains(needle), "{spec} {tool} {arguments}: {text}");
        assert_eq!(flag, *is_error, "{spec} {tool} {arguments}");
        assert_eq!(
            structured.is_some(),
            spec.starts_with("autotask-dual") && !is_error,
            "{spec} {tool} {arguments}"
        );
    }
}

#[test]
fn delegator_answers() {
    let mut out = String::new();
    for shape in ["fenced", "bare", "before", "plain"] {
        out += &format!("===== shape={shape}\n\n");
        for (size, arguments) in [
            (500, "{}"),
            (1, "{}"),
            (0, "{}"),
            (1, r#"{"format":"markdown"}"#),
            (1, r#"{"format":"json"}"#),
        ] {
            out += &transcript(
                &format!("delegator,size={size},shape={shape}"),
                &[("_codex_local_status", arguments)],
            );
        }
    }
    expect_test::expect_file!["snapshots/delegator.txt"].assert_eq(&out);
}

#[test]
fn autoreply_answers() {
    let uri = format!("{{\"uri\":\"{}\"}}", posts::THREAD_URI);
    let calls = [
        ("login", "{}"),
        ("login", r#"{"handle":"carol.art","password":"abcd-efgh"}"#),
        ("login", r#"{"handle":"carol.art","password":"abcd-efgh"}"#),
        ("login", r#"{"handle":"nobody","password":"abcd-efgh"}"#),
        ("login", r#"{"command":"default","handle":"@carol.art"}"#),
        ("login", r#"{"command":"list"}"#),
        (
            "login",
            r#"{"command":"delete","handle":"bob.dev.bsky.social"}"#,
        ),
        ("login", r#"{"command":"delete","handle":"bob.dev"}"#),
        ("login", r#"{"command":"delete"}"#),
        ("accounts", r#"{"action":"set-default","handle":"alice"}"#),
        ("accounts", r#"{"action":"list"}"#),
        ("profile", r#"{"account":"scientist.bsky.social"}"#),
        ("profile", r#"{"account":"@none"}"#),
        (
            "search",
            r#"{"account":"@scientist","query":"climate","limit":2}"#,
        ),
        ("feed", r#"{"limit":8}"#),
        ("feed", r#"{"limit":2,"cursor":"abc8"}"#),
        ("feed", r#"{"cursor":"xyz"}"#),
        ("thread", &uri),
        ("thread", r#"{"uri":"at://none"}"#),
        ("post_details", &uri),
        ("post", r#"{"text":"One\n## Two"}"#),
        ("feed", r#"{"limit":1}"#),
        ("like", &format!("{{\"uris\":[\"{}\"]}}", posts::THREAD_URI)),
        ("like", r#"{"uris":["at://none"]}"#),
        ("delete", &uri),
        ("delete", &uri),
    ];
    let mut out = transcript("autoreply,size=40", &calls);
    for shape in ["indented", "compact"] {
        out += &format!("===== shape={shape}\n\n");
        out += &transcript(
            &format!("autoreply,size=40,shape={shape}"),
            &[("feed", r#"{"limit":5}"#)],
        );
    }
    expect_test::expect_file!["snapshots/autoreply.txt"].assert_eq(&out);
}

#[test]
fn the_oldest_way_to_ask_is_a_block_of_an_unknown_type() {
    let sample = sample("autoreply,shape=input-text");
    let answer = Doc::parse(wire(&sample, "login", r#"{"handle":"alice"}"#).into());
    assert_eq!(
        answer
            .at("/result/content/1/type")
            .unwrap()
            .as_str()
            .unwrap(),
        "input_text"
    );
    assert_eq!(
        answer
            .at("/result/content/1/metadata/field")
            .unwrap()
            .as_str()
            .unwrap(),
        "password"
    );
    assert_eq!(answer.at("/result/isError").unwrap().as_bool(), Some(false));
    assert!(text(&sample, "feed", r#"{"limit":1}"#).contains("> Shipped"));
}

#[test]
fn company_lists_in_each_shape() {
    let mut out = String::new();
    for shape in ["v1", "v2", "v3"] {
        out += &format!("===== text={shape}\n\n");
        let calls = [
            ("autotask_search_companies", r#"{"pageSize":2}"#),
            ("autotask_search_companies", r#"{"searchTerm":"no such"}"#),
        ];
        for (tool, arguments) in calls {
            let (text, ..) = call(
                &sample(&format!("autotask-dual,size=3,text={shape}")),
                tool,
                arguments,
            );
            out += &format!(">>> {tool} {arguments}\n{text}\n\n");
        }
    }
    expect_test::expect_file!["snapshots/companies.txt"].assert_eq(&out);
}

#[test]
fn phases() {
    let arguments = r#"{"pageSize":2}"#;
    let answer = |phase: u8| {
        call(
            &sample(&format!("autotask-dual,phase={phase}")),
            "autotask_search_companies",
            arguments,
        )
    };
    let (first, none, _) = answer(0);
    let (second, data, _) = answer(1);
    let (third, same, _) = answer(2);
    let parsed: Value = serde_json::from_str(&first).unwrap();
    assert_eq!(parsed["message"], "Found 2 companies");
    assert_eq!(parsed["timestamp"], "2025-01-17T14:30:00Z");
    assert!(none.is_none() && first.starts_with("{\n  \"message\""));
    assert_eq!(first, second);
    let data: Value = serde_json::from_slice(data.unwrap().bytes()).unwrap();
    assert_eq!(parsed["data"], data);
    assert!(third.starts_with("## Company Search Results"));
    assert_eq!(same.unwrap().bytes(), data.to_string().as_bytes());
}

#[test]
fn dial_in_each_shape() {
    let mut out = String::new();
    for shape in ["blocks", "lines", "json-python", "json-model"] {
        out += &format!("===== shape={shape}\n\n");
        let calls = [
            ("get_user_by_id", r#"{"user_id":13}"#),
            ("search_user", r#"{"email":"user1@"}"#),
            ("search_user", r#"{"email":"user2"}"#),
            ("search_user", r#"{"name":"nobody"}"#),
            ("get_user_by_id", r#"{"user_id":999}"#),
            ("update_user", r#"{"user_id":2,"about_me":"a, b: c"}"#),
            ("delete_user", r#"{"user_id":2}"#),
        ];
        out += &transcript(&format!("dial,size=20,shape={shape}"), &calls);
    }
    expect_test::expect_file!["snapshots/dial_shapes.txt"].assert_eq(&out);
}

fn definition(sample: &Sample, name: &str) -> Value {
    tools(sample)
        .as_array()
        .unwrap()
        .iter()
        .find(|tool| tool["name"] == name)
        .unwrap()
        .clone()
}

#[test]
fn annotations_are_those_of_each_system_until_switched() {
    let ships =
        |name: &str, spec: &str| definition(&sample(spec), name).get("annotations").cloned();
    assert_eq!(ships("dual_search_companies", "all"), None);
    assert_eq!(ships("dial_delete_user", "all"), None);
    assert!(
        ships("strict_search_companies", "all").is_some()
            && ships("delegator_status", "all").is_some()
    );
    assert_eq!(
        ships("autoreply_delete", "all").unwrap()["destructiveHint"],
        true
    );
    assert_eq!(
        ships("dual_update_ticket", "all,annotations=on"),
        ships("strict_update_ticket", "all"),
        "the dual set borrows the strict one's"
    );
    let delete = ships("delete_user", "dial,annotations=on").unwrap();
    assert_eq!(
        (&delete["destructiveHint"], &delete["idempotentHint"]),
        (&true.into(), &true.into())
    );
    for tool in tools(&sample("all,annotations=off")).as_array().unwrap() {
        assert!(tool.get("annotations").is_none());
    }
}

#[test]
fn output_schemas_fit_what_is_sent() {
    let off = tools(&sample("all"));
    assert!(
        off.as_array()
            .unwrap()
            .iter()
            .all(|tool| tool.get("outputSchema").is_none())
    );
    for data in ["plain", "hostile"] {
        let sample = sample(&format!(
            "autotask-dual,output-schema=on,size=40,data={data}"
        ));
        let calls = [
            ("autotask_search_companies", r#"{"pageSize":-1}"#),
            (
                "autotask_search_tickets",
                r#"{"status":"<6","pageSize":-1}"#,
            ),
            ("autotask_search_tickets", "{}"),
            ("autotask_get_ticket_details", r#"{"ticketID":1001}"#),
            (
                "autotask_get_ticket_details",
                r#"{"ticketID":9007199254740993}"#,
            ),
            ("autotask_search_ticket_notes", r#"{"ticketID":1001}"#),
            ("autotask_update_ticket", r#"{"ticketID":1002,"status":5}"#),
            (
                "autotask_create_ticket",
                r#"{"companyID":12382,"title":"x"}"#,
            ),
            ("autotask_create_company", r#"{"companyName":"x"}"#),
        ];
        for (tool, arguments) in calls {
            let (text, structured, is_error) = call(&sample, tool, arguments);
            if is_error && data == "plain" && arguments.contains("9007199254740993") {
                continue;
            }
            let structured =
                structured.unwrap_or_else(|| panic!("{data} {tool} {arguments}: {text}"));
            let structured: Value = serde_json::from_slice(structured.bytes()).unwrap();
            let schema = definition(&sample, tool)["outputSchema"].clone();
            assert_eq!(schema["type"], "object");
            if let Err(error) = jsonschema::validate(&schema, &structured) {
                panic!(
                    "{data} {tool} {arguments}: {error} at {}",
                    error.instance_path()
                );
            }
        }
        assert_eq!(
            definition(&sample, "autotask_search_companies")["outputSchema"]["required"][0],
            "items"
        );
    }
}

#[test]
fn a_shape_changes_the_one_set_that_knows_it() {
    let answer = |spec: &str, tool: &str| text(&sample(spec), tool, "{}");
    assert!(
        answer("all,size=2,shape=lines", "dial_search_user")
            .starts_with("Found 2 users:\n\nUser ID: 1\n")
    );
    assert!(answer("all,size=2,shape=lines", "delegator_status").contains("```json"));
    assert!(answer("all,size=2,shape=bare", "delegator_status").starts_with('{'));
    assert!(answer("all,size=2,shape=bare", "dial_search_user").contains("```\nUser ID"));
    assert!(
        answer("all,size=2,shape=compact", "autoreply_feed")
            .contains("@bob.dev · 3m — Shipped! 🚀 · 👍5 💬2\n")
    );
}

#[test]
fn hostile_records_are_in_the_newer_sets_too() {
    let status: Value = serde_json::from_str(&text(
        &sample("delegator,data=hostile,shape=bare"),
        "_codex_local_status",
        "{}",
    ))
    .unwrap();
    let feed = text(&sample("autoreply,data=hostile"), "feed", "{}");
    for (n, (what, hostile)) in hostile::TEXTS.iter().enumerate() {
        let process = &status["processes"][n];
        let activity = if *what == "long value" {
            hostile::long()
        } else {
            (*hostile).to_owned()
        };
        assert_eq!(process["activity"], activity, "{what}");
        assert_eq!(process["label"], "02108");
        let quoted: Vec<_> = hostile
            .split('\n')
            .map(|line| format!("> {line}").trim_end().to_owned())
            .collect();
        assert!(
            feed.contains(&quoted.join("\n")) || matches!(*what, "empties" | "long value"),
            "{what}"
        );
    }
    assert!(
        feed.contains(&format!("> {}", hostile::long())) && feed.contains("👍 9007199254740993")
    );
    let spelled = wire(
        &sample("delegator,data=hostile,shape=bare"),
        "_codex_local_status",
        "{}",
    );
    for spelling in ["9007199254740993", "1.0,", "null", "[]"] {
        assert!(spelled.contains(spelling), "{spelling}");
    }
    assert_eq!(
        text(
            &sample("delegator,data=hostile,shape=before"),
            "_codex_local_status",
            "{}"
        )
        .matches("**Process ")
        .count(),
        38
    );
}
