//! Resources, prompts and completion, through the front door.

use super::*;

fn ask(sample: &Sample, method: &str, params: &str) -> Value {
    let answers = sample.handle(
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#).as_bytes(),
    );
    assert_eq!(answers.len(), 1);
    serde_json::from_slice(&answers[0]).unwrap()
}

fn read(sample: &Sample, uri: &str) -> Value {
    let answer = ask(sample, "resources/read", &json!({"uri": uri}).to_string());
    let contents = &answer["result"]["contents"];
    assert_eq!(
        (contents.as_array().unwrap().len(), &contents[0]["uri"]),
        (1, &uri.into()),
        "{answer}"
    );
    contents[0].clone()
}

#[test]
fn all_that_is_listed_can_be_read_and_is_declared() {
    let sample = sample("all,size=3");
    let capabilities = ask(&sample, "initialize", "{}")["result"]["capabilities"].clone();
    assert_eq!(
        capabilities,
        json!({"tools": {}, "resources": {}, "prompts": {}, "completions": {}})
    );
    let resources = ask(&sample, "resources/list", "{}")["result"]["resources"].clone();
    let uris: Vec<_> = resources
        .as_array()
        .unwrap()
        .iter()
        .map(|resource| resource["uri"].as_str().unwrap())
        .collect();
    let expected = [
        "sample://about",
        "sample://logo.png",
        "sample://autotask-dual/companies",
        "sample://autotask-dual/tickets",
        "sample://autotask-strict/companies",
        "sample://autotask-strict/tickets",
        "sample://dial/users",
        "sample://delegator/tasks",
        "sample://autoreply/feed",
        "sample://autoreply/posts",
        "sample://autoreply/accounts",
    ];
    assert_eq!(uris, expected);
    for resource in resources.as_array().unwrap() {
        let contents = read(&sample, resource["uri"].as_str().unwrap());
        assert_eq!(contents["mimeType"], resource["mimeType"]);
        match contents["mimeType"].as_str().unwrap() {
            "application/json" => {
                let records: Value =
                    serde_json::from_str(contents["text"].as_str().unwrap()).unwrap();
                assert!(records.as_array().unwrap().len() >= 3, "{records}");
            }
            "image/png" => assert!(
                contents["blob"]
                    .as_str()
                    .unwrap()
                    .starts_with("iVBORw0KGgo")
            ),
            _ => assert!(
                contents["text"]
                    .as_str()
                    .unwrap()
                    .contains("--sample=all,size=3`, with 32 tools")
            ),
        }
    }
}

#[test]
fn every_record_has_an_address_that_completes() {
    let sample = sample("all,size=20,data=hostile");
    let templates =
        ask(&sample, "resources/templates/list", "{}")["result"]["resourceTemplates"].clone();
    assert_eq!(templates.as_array().unwrap().len(), 7);
    for template in templates.as_array().unwrap() {
        let template = template["uriTemplate"].as_str().unwrap();
        let key = template.split(['{', '}']).nth(1).unwrap();
        let completion =
            json!({"ref": {"type": "ref/resource", "uri": template}, "argument": {"name": key, "value": ""}}).to_string();
        let completion =
            ask(&sample, "completion/complete", &completion)["result"]["completion"].clone();
        let values = completion["values"].as_array().unwrap();
        assert_eq!(
            (&completion["total"], &completion["hasMore"]),
            (&values.len().into(), &false.into())
        );
        assert!(values.len() >= 8, "{template}: {values:?}");
        for value in values {
            let value = value.as_str().unwrap();
            let record = read(&sample, &template.replace(&format!("{{{key}}}"), value))["text"]
                .as_str()
                .unwrap()
                .to_owned();
            let record: Value = serde_json::from_str(&record).unwrap();
            let spelled = record[key]
                .as_str()
                .map_or_else(|| record[key].to_string(), str::to_owned);
            assert_eq!(spelled, value, "{record}");
        }
    }
}

#[test]
fn resources_show_what_the_tools_changed() {
    let sample = sample("dial,size=3");
    text(
        &sample,
        "update_user",
        r#"{"user_id":2,"company":"Analytical Engines"}"#,
    );
    assert!(
        read(&sample, "sample://dial/users/2")["text"]
            .as_str()
            .unwrap()
            .contains("Analytical Engines")
    );
    text(&sample, "delete_user", r#"{"user_id":2}"#);
    assert_eq!(
        ask(
            &sample,
            "resources/read",
            r#"{"uri":"sample://dial/users/2"}"#
        )["error"]["code"],
        -32002
    );
}

#[test]
fn prompts_are_filled() {
    let sample = sample("all,size=3");
    let get = |params: &str| ask(&sample, "prompts/get", params);
    let prompts = ask(&sample, "prompts/list", "{}");
    assert_eq!(prompts["result"]["prompts"].as_array().unwrap().len(), 3);
    let filled = get(
        r#"{"name":"summarize","arguments":{"uri":"sample://dial/users/1","length":"one page"}}"#,
    );
    assert_eq!(
        filled["result"]["messages"][0]["content"]["text"],
        "Summarize this in one page. Name every ID."
    );
    assert_eq!(
        filled["result"]["messages"][1]["content"]["resource"]["uri"],
        "sample://dial/users/1"
    );
    let filled = get(r#"{"name":"which_format","arguments":{"tool":"dial_search_user"}}"#);
    assert!(
        filled["result"]["messages"][0]["content"]["text"]
            .as_str()
            .unwrap()
            .contains("`dial_search_user`")
    );
    assert_eq!(
        get(r#"{"name":"about"}"#)["result"]["messages"][1]["role"],
        "assistant"
    );
    let complete = |name: &str, value: &str| {
        let prompt = if name == "tool" {
            "which_format"
        } else {
            "summarize"
        };
        let params = json!({"ref": {"type": "ref/prompt", "name": prompt}, "argument": {"name": name, "value": value}});
        ask(&sample, "completion/complete", &params.to_string())["result"]["completion"]["values"]
            .clone()
    };
    assert_eq!(
        complete("length", "one p"),
        json!(["one paragraph", "one page"])
    );
    assert_eq!(complete("tool", "delegator"), json!(["delegator_status"]));
    assert_eq!(
        complete("uri", "sample://dial"),
        json!(["sample://dial/users"])
    );
}

#[test]
fn a_completion_is_never_longer_than_allowed() {
    let params = r#"{"ref":{"type":"ref/resource","uri":"sample://dial/users/{user_id}"},"argument":{"name":"user_id","value":"1"}}"#;
    let completion =
        ask(&sample("dial"), "completion/complete", params)["result"]["completion"].clone();
    assert_eq!(completion["values"].as_array().unwrap().len(), 100);
    assert_eq!(
        (&completion["total"], &completion["hasMore"]),
        (&111.into(), &true.into())
    );
}

#[test]
fn what_is_asked_for_wrongly_is_refused() {
    let sample = sample("dial,size=1");
    let cases = [
        ("resources/read", "{}", -32602, "`uri` must be a string"),
        (
            "resources/read",
            r#"{"uri":"sample://dial"}"#,
            -32002,
            "Resource not found: sample://dial",
        ),
        (
            "resources/read",
            r#"{"uri":"sample://autoreply/feed"}"#,
            -32002,
            "Resource not found",
        ),
        (
            "prompts/get",
            r#"{"name":"none"}"#,
            -32602,
            "Unknown prompt: none",
        ),
        (
            "prompts/get",
            r#"{"name":"summarize"}"#,
            -32602,
            "Missing argument: uri",
        ),
        (
            "prompts/get",
            r#"{"name":"summarize","arguments":{"uri":"x"}}"#,
            -32002,
            "Resource not found: x",
        ),
        (
            "prompts/get",
            r#"{"name":"which_format","arguments":{"tool":"x"}}"#,
            -32602,
            "Unknown tool: x",
        ),
        ("completion/complete", "{}", -32602, "`ref` must name"),
        (
            "completion/complete",
            r#"{"ref":{"type":"ref/prompt","name":"about"}}"#,
            -32602,
            "`argument` must have",
        ),
        (
            "completion/complete",
            r#"{"ref":{"type":"ref/prompt","name":"about"},"argument":{"name":"x","value":""}}"#,
            -32602,
            "Nothing to complete",
        ),
        ("resources/subscribe", "{}", -32601, "Method not found"),
    ];
    for (method, params, code, message) in cases {
        let answer = ask(&sample, method, params);
        assert_eq!(answer["error"]["code"], code, "{method} {params}: {answer}");
        assert!(
            answer["error"]["message"]
                .as_str()
                .unwrap()
                .contains(message),
            "{answer}"
        );
    }
}
