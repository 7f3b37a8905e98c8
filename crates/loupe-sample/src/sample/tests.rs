//! The sample through its own front door: one message in, exact bytes out.

mod library;
mod variants;

use serde_json::json;

use loupe_core::json::Doc;

use super::*;

fn sample(spec: &str) -> Sample {
    Sample::new(&SampleSpec::parse(spec).unwrap()).unwrap()
}

/// The exact answer to one call.
fn wire(sample: &Sample, tool: &str, arguments: &str) -> String {
    let message = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
    );
    let answers = sample.handle(message.as_bytes());
    assert_eq!(answers.len(), 1);
    String::from_utf8(answers[0].to_vec()).unwrap()
}

/// The text, the structured part and `isError` of one call's result.
fn call(sample: &Sample, tool: &str, arguments: &str) -> (String, Option<Doc>, bool) {
    let answer = Doc::parse(wire(sample, tool, arguments).into());
    assert!(answer.is_json() && answer.faults().is_empty());
    let result = answer
        .at("/result")
        .unwrap_or_else(|| panic!("{tool} {arguments}: {answer:?}"));
    assert_eq!(result.at("/content").unwrap().len(), 1);
    let structured = result
        .get("structuredContent")
        .map(|node| Doc::parse(node.raw_bytes()));
    (
        result
            .at("/content/0/text")
            .unwrap()
            .as_str()
            .unwrap()
            .into_owned(),
        structured,
        result.get("isError").unwrap().as_bool().unwrap(),
    )
}

fn text(sample: &Sample, tool: &str, arguments: &str) -> String {
    call(sample, tool, arguments).0
}

fn tools(sample: &Sample) -> Value {
    let answers = sample.handle(br#"{"id":1,"method":"tools/list"}"#);
    let answer: Value = serde_json::from_slice(&answers[0]).unwrap();
    answer["result"]["tools"].clone()
}

fn names(sample: &Sample) -> Vec<String> {
    tools(sample)
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

/// Calls one after the other, on one connection, as people read them.
fn transcript(spec: &str, calls: &[(&str, &str)]) -> String {
    let sample = sample(spec);
    let mut out = String::new();
    for (tool, arguments) in calls {
        let (text, structured, is_error) = call(&sample, tool, arguments);
        out += &format!(
            ">>> {tool} {arguments}{}\n{text}\n",
            if is_error { "  (isError)" } else { "" }
        );
        if let Some(structured) = structured {
            out += &format!(
                "--- structuredContent\n{}\n",
                structured.root().unwrap().raw_text()
            );
        }
        out.push('\n');
    }
    out
}

#[test]
fn dual_answers() {
    let calls = [
        ("autotask_search_companies", r#"{"pageSize":2}"#),
        (
            "autotask_search_companies",
            r#"{"searchTerm":"CAFÉ","isActive":true}"#,
        ),
        ("autotask_search_companies", r#"{"searchTerm":"no such"}"#),
        (
            "autotask_search_companies",
            r#"{"pageSize":501,"isActive":"yes"}"#,
        ),
        (
            "autotask_search_tickets",
            r#"{"status":"<5","companyID":12345}"#,
        ),
        (
            "autotask_search_tickets",
            r#"{"assignedResourceID":5001,"searchTerm":"server","pageSize":1}"#,
        ),
        (
            "autotask_search_tickets",
            r#"{"status":">=3","pageSize":1}"#,
        ),
        ("autotask_search_tickets", r#"{"status":"soon"}"#),
        ("autotask_get_ticket_details", r#"{"ticketID":1001}"#),
        ("autotask_get_ticket_details", r#"{"ticketID":1008}"#),
        ("autotask_get_ticket_details", r#"{"ticketID":7}"#),
        ("autotask_get_ticket_details", "{}"),
        (
            "autotask_search_ticket_notes",
            r#"{"ticketID":1001,"pageSize":2}"#,
        ),
        (
            "autotask_update_ticket",
            r#"{"ticketID":1003,"status":5,"assignedResourceID":5002}"#,
        ),
        (
            "autotask_create_ticket",
            r#"{"companyID":12345,"title":"New \"one\" | here"}"#,
        ),
        ("autotask_create_ticket", r#"{"companyID":1,"title":"x"}"#),
        (
            "autotask_create_company",
            r#"{"companyName":"Nova","city":"Rīga"}"#,
        ),
        ("autotask_search_tickets", r#"{"searchTerm":"T-1003"}"#),
    ];
    expect_test::expect_file!["snapshots/dual.txt"]
        .assert_eq(&transcript("autotask-dual,size=12", &calls));
}

#[test]
fn strict_answers() {
    let calls = [
        ("autotask_search_companies", r#"{"pageSize":2}"#),
        (
            "autotask_search_companies",
            r#"{"pageSize":-1,"response_format":"markdown"}"#,
        ),
        ("autotask_search_companies", r#"{"searchTerm":"no such"}"#),
        (
            "autotask_search_companies",
            r#"{"searchTerm":"no such","response_format":"markdown"}"#,
        ),
        (
            "autotask_search_companies",
            r#"{"pageSize":501,"searchTerm":"","colour":"red","response_format":"xml"}"#,
        ),
        ("autotask_search_tickets", r#"{"pageSize":1}"#),
        (
            "autotask_search_tickets",
            r#"{"isActive":false,"response_format":"markdown"}"#,
        ),
        ("autotask_get_ticket_details", r#"{"ticketID":1001}"#),
        ("autotask_get_ticket_details", r#"{"ticketID":7}"#),
        (
            "autotask_get_ticket_note",
            r#"{"ticketID":1001,"noteID":100102}"#,
        ),
        (
            "autotask_get_ticket_note",
            r#"{"ticketID":1001,"noteID":9}"#,
        ),
        (
            "autotask_create_ticket",
            r#"{"companyID":12345,"title":"New"}"#,
        ),
        (
            "autotask_create_company",
            r#"{"companyName":"Nova","companyType":2}"#,
        ),
        (
            "autotask_update_ticket",
            r#"{"ticketID":1002,"priority":1}"#,
        ),
        (
            "autotask_update_company",
            r#"{"companyID":12345,"phone":"555-000-0000","isActive":false}"#,
        ),
        ("autotask_test_connection", "{}"),
        (
            "autotask_search_companies",
            r#"{"isActive":false,"searchTerm":"acme"}"#,
        ),
    ];
    expect_test::expect_file!["snapshots/strict.txt"]
        .assert_eq(&transcript("autotask-strict,size=12", &calls));
}

#[test]
fn dial_answers() {
    let calls = [
        ("get_user_by_id", r#"{"user_id":1}"#),
        ("get_user_by_id", r#"{"user_id":13}"#),
        ("get_user_by_id", r#"{"user_id":999}"#),
        ("get_user_by_id", r#"{"user_id":"1"}"#),
        ("search_user", r#"{"email":"user1"}"#),
        ("search_user", r#"{"name":"nobody"}"#),
        (
            "create_user",
            r#"{"name":"Ada","surname":"Byron","email":"ada@example.com","salary":1234567.5}"#,
        ),
        (
            "update_user",
            r#"{"user_id":2,"company":"Analytical Engines","about_me":"Two\nlines"}"#,
        ),
        ("delete_user", r#"{"user_id":3}"#),
        ("delete_user", r#"{"user_id":3}"#),
        ("search_user", r#"{"surname":"byron"}"#),
    ];
    expect_test::expect_file!["snapshots/dial.txt"].assert_eq(&transcript("dial,size=14", &calls));
}

#[test]
fn definitions() {
    let all = sample("all,size=1");
    let lines: Vec<_> = tools(&all)
        .as_array()
        .unwrap()
        .iter()
        .map(Value::to_string)
        .collect();
    expect_test::expect_file!["snapshots/definitions.txt"].assert_eq(&lines.join("\n"));
}

#[test]
fn names_are_original_alone_and_unique_together() {
    let mut together = Vec::new();
    let sets = [
        ("autotask-dual", "autotask_", "dual_"),
        ("autotask-strict", "autotask_", "strict_"),
        ("dial", "", "dial_"),
        ("delegator", "_codex_local_", "delegator_"),
        ("autoreply", "", "autoreply_"),
    ];
    for (set, original, unique) in sets {
        for name in names(&sample(set)) {
            together.push(format!("{unique}{}", name.strip_prefix(original).unwrap()));
        }
    }
    assert_eq!(names(&sample("all")), together);
    assert_eq!(together.len(), 32);
    for name in &together {
        // What the strictest host takes.
        assert!(
            name.len() <= 64
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'),
            "{name}"
        );
    }
    let text = text(&sample("all,size=5"), "dual_search_tickets", "{}");
    assert!(
        text.contains("`dual_get_ticket_details`"),
        "texts name tools that exist: {text}"
    );
}

#[test]
fn two_runs_are_equal_byte_for_byte() {
    for spec in ["all", "all,data=hostile"] {
        let (one, two) = (sample(spec), sample(spec));
        for name in names(&one) {
            for arguments in ["{}", r#"{"ticketID":1001,"user_id":2,"pageSize":3}"#] {
                assert_eq!(
                    wire(&one, &name, arguments),
                    wire(&two, &name, arguments),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn sizes_are_those_of_the_original_within_a_few_percent() {
    let sample = sample("all");
    let near = |what: &str, measured: usize, original: usize| {
        let off = (measured as f64 / original as f64 - 1.0) * 100.0;
        assert!(
            off.abs() < 4.0,
            "{what}: {measured}, not {original} ({off:+.1}%)"
        );
    };
    let (v2, structured, _) = call(&sample, "dual_search_companies", "{}");
    near("50 companies, V2", v2.len(), 12_868);
    near(
        "50 companies, compact",
        structured.unwrap().bytes().len(),
        11_034,
    );
    let (_, structured, _) = call(&sample, "dual_search_companies", r#"{"pageSize":-1}"#);
    near(
        "500 companies, compact",
        String::from_utf8_lossy(structured.unwrap().bytes())
            .chars()
            .count(),
        109_837,
    );
    near(
        "50 companies, pretty",
        text(&sample, "strict_search_companies", "{}").len(),
        15_531,
    );
    near(
        "50 companies, table",
        text(
            &sample,
            "strict_search_companies",
            r#"{"response_format":"markdown"}"#,
        )
        .len(),
        2_743,
    );
    near(
        "50 users, blocks",
        text(&self::sample("dial,size=50"), "search_user", "{}").len(),
        8_665,
    );
}

#[test]
fn fault_total_count_is_the_length_of_the_page() {
    let (text, structured, _) = call(
        &sample("autotask-dual"),
        "autotask_search_tickets",
        r#"{"pageSize":3}"#,
    );
    assert!(text.contains("Showing first 3 of 500 total matches"));
    let structured = structured.unwrap();
    assert_eq!(structured.at("/totalCount").unwrap().as_i64(), Some(3));
    assert_eq!(structured.at("/hasMore").unwrap().as_bool(), Some(true));
}

#[test]
fn fault_asking_for_all_still_says_there_is_more() {
    let (text, structured, _) = call(
        &sample("autotask-dual,size=5"),
        "autotask_search_companies",
        r#"{"pageSize":-1}"#,
    );
    assert!(text.ends_with(
        "⚠️ **Truncated**: Showing first 5 results. Use `pageSize: -1` to see all matches."
    ));
    let structured = structured.unwrap();
    assert_eq!(structured.at("/pageSize").unwrap().as_i64(), Some(-1));
    assert_eq!(structured.at("/hasMore").unwrap().as_bool(), Some(true));
    let (_, structured, _) = call(
        &sample("autotask-dual"),
        "autotask_search_companies",
        r#"{"pageSize":0}"#,
    );
    assert_eq!(
        structured.unwrap().at("/items").unwrap().len(),
        50,
        "0 || 50"
    );
}

#[test]
fn fault_the_size_guard_eats_the_text_and_misses_the_limit() {
    let sample = sample("autotask-dual");
    let lengths = |count: usize| {
        let (text, structured, _) = call(
            &sample,
            "autotask_search_companies",
            &format!("{{\"pageSize\":{count}}}"),
        );
        (
            text.clone(),
            text::length(&text),
            text::length(&String::from_utf8_lossy(structured.unwrap().bytes())),
        )
    };
    let notice = "⚠️ **Response Truncated**: Content exceeded size limit.";
    assert!(!lengths(50).0.contains(notice));
    let (text, length, structured) = lengths(80);
    assert!(text.starts_with("## Company Search Results") && text.contains(notice));
    assert!(length + structured <= text::LIMIT);
    for count in [112, 113, 500] {
        let (text, _, structured) = lengths(count);
        assert!(structured > text::LIMIT - 500, "{structured}");
        assert!(
            text.trim_start().starts_with("---\n\n⚠️"),
            "nothing is left of the text: {text}"
        );
    }
    let (_, length, structured) = lengths(114);
    assert!(length + structured > text::LIMIT);
}

#[test]
fn fault_phone_numbers_and_times_differ_between_text_and_data() {
    let sample = sample("autotask-dual");
    let (text, structured, _) = call(&sample, "autotask_search_companies", r#"{"pageSize":1}"#);
    assert!(text.contains("(555) 123-4567"));
    assert_eq!(
        structured
            .unwrap()
            .at("/items/0/phone")
            .unwrap()
            .as_str()
            .unwrap(),
        "555-123-4567"
    );
    let (text, structured, _) = call(&sample, "autotask_search_tickets", r#"{"pageSize":1}"#);
    assert!(text.contains("2 hours ago") && text.contains("🔴 Critical"));
    assert_eq!(
        structured
            .unwrap()
            .at("/items/0/lastActivityDate")
            .unwrap()
            .as_str()
            .unwrap(),
        data::iso(data::NOW)
    );
}

#[test]
fn fault_a_cut_answer_is_longer_than_the_limit_and_broken() {
    for (spec, arguments, json) in [
        ("autotask-strict", r#"{"pageSize":-1}"#, true),
        (
            "autotask-strict",
            r#"{"pageSize":500,"response_format":"markdown"}"#,
            false,
        ),
        ("autotask-strict,data=hostile", r#"{"pageSize":500}"#, true),
    ] {
        let text = text(&sample(spec), "autotask_search_companies", arguments);
        assert_eq!(text::length(&text), 25_126, "{spec}");
        assert!(text.ends_with("more focused result.]"));
        assert!(!Doc::parse(text.into()).is_json() || !json);
    }
    let sample = sample("autotask-strict");
    let broken = |count: usize| {
        !Doc::parse(
            text(
                &sample,
                "autotask_search_companies",
                &format!("{{\"pageSize\":{count}}}"),
            )
            .into(),
        )
        .is_json()
    };
    assert!(
        (1..500)
            .find(|&count| broken(count))
            .is_some_and(|first| (80..=83).contains(&first))
    );
}

#[test]
fn fault_missing_salaries_are_invented_and_errors_look_like_success() {
    let sample = sample("dial");
    let (text, structured, is_error) = call(&sample, "get_user_by_id", r#"{"user_id":13}"#);
    assert!(text.contains("Salary: $0.00") && structured.is_none() && !is_error);
    assert_eq!(
        call(&sample, "get_user_by_id", r#"{"user_id":999}"#).0,
        "Error: User with ID 999 not found"
    );
    assert!(!call(&sample, "get_user_by_id", r#"{"user_id":999}"#).2);
}

#[test]
fn hostile_records_come_first_in_every_set() {
    let dual = call(
        &sample("autotask-dual,data=hostile"),
        "autotask_search_companies",
        r#"{"pageSize":17}"#,
    );
    let companies = serde_json::from_slice::<Value>(dual.1.unwrap().bytes()).unwrap();
    let tickets = call(
        &sample("autotask-strict,data=hostile"),
        "autotask_search_tickets",
        r#"{"pageSize":16}"#,
    )
    .0;
    let tickets: Value = serde_json::from_str(&tickets).unwrap();
    let strict: Value = serde_json::from_str(&text(
        &sample("autotask-strict,data=hostile"),
        "autotask_search_companies",
        r#"{"pageSize":17}"#,
    ))
    .unwrap();
    let users = text(&sample("dial,data=hostile"), "search_user", "{}");
    for (n, (what, hostile)) in hostile::TEXTS.iter().enumerate() {
        assert_eq!(companies["items"][n]["companyName"], *hostile, "{what}");
        assert_eq!(strict["data"][n]["companyName"], *hostile, "{what}");
        assert_eq!(tickets["data"][n]["title"], *hostile, "{what}");
        assert!(users.contains(&format!("Name: {hostile}\n")), "{what}");
    }
    assert_eq!(companies["items"][16]["companyName"], "Acme Corp");
    assert!(users.contains(&hostile::long()) && users.contains("User ID: 9007199254740993\n"));
}

#[test]
fn hostile_spellings_reach_the_wire() {
    let answer = wire(
        &sample("autotask-dual,data=hostile"),
        "autotask_search_companies",
        r#"{"pageSize":16}"#,
    );
    for spelling in [
        "\"id\":9007199254740993,",
        "\"companyType\":1.0,",
        "\"postalCode\":\"02108\"",
        "\"phone\":null",
        "\"tags\":[]",
        "\"city\":\"\"",
        "\\u001b[31m",
        "\u{202e}",
        "\u{200b}",
        "\u{e0041}",
        "<|endoftext|>",
    ] {
        assert!(answer.contains(spelling), "{spelling:?}");
    }
    assert!(answer.contains(&hostile::long()));
}

#[test]
fn plain_records_are_everyday_data() {
    let (_, structured, _) = call(
        &sample("autotask-dual"),
        "autotask_search_companies",
        r#"{"pageSize":-1}"#,
    );
    let companies: Value = serde_json::from_slice(structured.unwrap().bytes()).unwrap();
    let companies = companies["items"].as_array().unwrap();
    assert_eq!(companies.len(), 500);
    let any = |test: &dyn Fn(&Value) -> bool| companies.iter().any(test);
    let name = |text: &'static str| {
        move |company: &Value| company["companyName"].as_str().unwrap().contains(text)
    };
    assert!(any(&name("é")) && any(&name("🚀")) && any(&name("株式会社")));
    assert!(
        any(&|company| company.get("phone").is_some_and(Value::is_null))
            && any(&|company| company.get("phone").is_none())
    );
    assert!(
        any(&|company| company["postalCode"] == "02108")
            && any(&|company| company["isActive"] == false)
    );
    let mut distinct: Vec<_> = companies
        .iter()
        .map(|company| company["companyName"].as_str().unwrap())
        .collect();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), 500, "no two companies share a name");
    let notes = text(
        &sample("autotask-dual"),
        "autotask_search_ticket_notes",
        r#"{"ticketID":1008}"#,
    );
    assert!(notes.len() > 1000, "there are long notes: {notes}");
}

#[test]
fn sizes_from_none_to_many() {
    for (size, found) in [
        ("0", "No companies found."),
        ("1", "## Companies (1 results)"),
        ("500", "## Companies (500 results)"),
    ] {
        let text = text(
            &sample(&format!("autotask-strict,size={size}")),
            "autotask_search_companies",
            r#"{"pageSize":500,"response_format":"markdown"}"#,
        );
        assert!(text.starts_with(found), "{text}");
    }
    for set in ["all", "all,data=hostile"] {
        for size in [0, 1, 2, 5, 6, 16, 17] {
            let sample = sample(&format!("{set},size={size}"));
            assert_eq!(
                call(&sample, "dual_search_tickets", "{}")
                    .1
                    .unwrap()
                    .at("/items")
                    .unwrap()
                    .len(),
                size
            );
            assert_eq!(
                text(&sample, "dial_search_user", "{}")
                    .matches("User ID: ")
                    .count(),
                size
            );
        }
    }
}

#[test]
fn the_same_call_has_the_same_correlation_id() {
    let sample = sample("all,size=1");
    let id = |tool: &str, arguments: &str| {
        let error: Value = serde_json::from_str(&text(&sample, tool, arguments)).unwrap();
        error["error"]["correlationId"].as_str().unwrap().to_owned()
    };
    let first = id("strict_get_ticket_details", "{}");
    assert_eq!(first.len(), 36);
    assert_eq!(first, id("strict_get_ticket_details", "{}"));
    assert_ne!(first, id("strict_get_ticket_details", "{ }"));
    assert_ne!(first, id("strict_update_ticket", "{}"));
}

#[test]
fn unknown_tools_are_named_with_those_there_are() {
    let answer = wire(&sample("dial"), "get_user", "{}");
    assert!(
        answer.contains(r#""error":{"code":-32602,"message":"Unknown tool: get_user. Known tools: create_user, "#),
        "{answer}"
    );
}

#[test]
fn specs_are_checked() {
    let spec = |set: &str, key: &str, value: &str| {
        let keys = [(key.to_owned(), value.to_owned())]
            .into_iter()
            .filter(|(key, _)| !key.is_empty())
            .collect();
        Sample::new(&SampleSpec {
            set: set.into(),
            keys,
            ..SampleSpec::default()
        })
        .map(|_| ())
        .map_err(|problem| problem.what)
    };
    assert_eq!(spec("all", "", ""), Ok(()));
    assert_eq!(
        spec("none", "", ""),
        Err("unknown sample set `none`".into())
    );
    assert_eq!(
        spec("all", "data", "odd"),
        Err("unknown value of `data` `odd`".into())
    );
    assert_eq!(
        spec("all", "colour", "red"),
        Err("unknown sample key `colour`".into())
    );
    assert_eq!(
        spec("all", "size", "4294967295"),
        Err("`size` is at most 100000, not 4294967295".into())
    );
    assert_eq!(
        spec("dial", "text", "v1"),
        Err("`dial` has no key `text`".into())
    );
}
