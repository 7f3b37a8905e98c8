//! Every rule fires on its example and is silent on its counter-example; hostile answers stay linear.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use regex::Regex;

use super::rule::RuleCheck;
use super::*;
use crate::queries::{Ctx, HostsReport, ReportDetail, subject};
use loupe_core::cancel::Cancel;
use loupe_core::capture::{Capture, CaptureId, Direction, Message, ParsedResponse};
use loupe_core::host::{ReadChoice, ResultPart};
use loupe_core::json::{Doc, Node};

/// Writes `«N|S»` out: S, N times.
fn expanded(text: &str) -> String {
    let pattern = Regex::new("«([0-9]+)\\|([^»]*)»").unwrap();
    pattern
        .replace_all(text, |found: &regex::Captures<'_>| {
            found[2].repeat(found[1].parse().unwrap())
        })
        .into_owned()
}

/// One tool, a list of them, or a list of pages.
fn tools(text: &str) -> Vec<Arc<Tool>> {
    let doc = Doc::parse(Bytes::from(text.to_owned()));
    let root = doc.root().unwrap();
    let one = |node: Node<'_>| Arc::new(Tool::read(node.raw_bytes()));
    let of_page = |(page, tools): (usize, Node<'_>)| -> Vec<Arc<Tool>> {
        let read = |node: Node<'_>| Tool {
            is_after_first_page: page > 0,
            ..Tool::read(node.raw_bytes())
        };
        tools.children().map(read).map(Arc::new).collect()
    };
    if text.starts_with("[[") {
        root.children().enumerate().flat_map(of_page).collect()
    } else if root.kind() == loupe_core::json::Kind::Array {
        root.children().map(one).collect()
    } else {
        vec![one(root)]
    }
}

/// A result with this result, or after this message of the server, or this whole response.
fn capture(text: &str, tool: &Tool, arguments: Option<&str>, protocol: Option<&str>) -> Capture {
    let server = Server {
        protocol_version: protocol.unwrap_or("2025-11-25").to_owned(),
        ..Server::default()
    };
    let mut capture = Capture {
        tool: tool.clone(),
        arguments: arguments.unwrap_or("{}").to_owned().into(),
        ..Capture::empty(CaptureId("1".into()), server)
    };
    let message = |bytes: Bytes| Message {
        at: Duration::ZERO,
        direction: Direction::In,
        bytes,
    };
    let response = if text.contains("\"method\":") {
        capture.messages.push(message(text.to_owned().into()));
        capture.request = Bytes::from_static(br#"{"params":{"_meta":{"progressToken":1}}}"#);
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}]}}"#
            .to_owned()
    } else if text.contains("\"jsonrpc\":") {
        text.to_owned()
    } else {
        format!(r#"{{"jsonrpc":"2.0","id":1,"result":{text}}}"#)
    };
    let response = Bytes::from(response);
    capture.outcome = ParsedResponse::read(response.clone()).outcome();
    Capture {
        response: Some(response),
        ..capture
    }
}

/// What a rule finds in the text of an example.
fn found(rule: &'static Rule, example: &Example, text: &str) -> Vec<Finding> {
    let hosts = Hosts::built_in();
    let mut settings = RuleSettings::default();
    settings.profiles.extend(
        example
            .profile
            .as_deref()
            .map(|name| Profile::parse(name).unwrap()),
    );
    let named = example.host.as_deref().and_then(|id| hosts.get(id));
    settings.hosts.extend(named.map(|host| host.id));
    let checker = Checker {
        settings: &settings,
        hosts: &hosts,
    };
    let text = expanded(text);
    let mut all = match rule.check {
        RuleCheck::Answer(_) => {
            let listed = example.tool.as_deref().map(tools).unwrap_or_default();
            let tool = listed
                .first()
                .map_or_else(|| Tool::unlisted("t"), |tool| Tool::clone(tool));
            let subject = subject(Arc::new(capture(
                &text,
                &tool,
                example.arguments.as_deref(),
                example.protocol.as_deref(),
            )));
            checker
                .answer(
                    &CheckedResult::new(
                        &subject,
                        CheckedServer {
                            tools: &listed,
                            ..CheckedServer::default()
                        },
                        &hosts,
                    ),
                    &Cancel::new(),
                )
                .unwrap()
        }
        RuleCheck::Tool(_) | RuleCheck::Server(_) => {
            let again = example.before.as_deref().map(tools).unwrap_or_default();
            let area = rule.id.split('/').next().unwrap();
            let server = Server {
                instructions: Some(text.clone()),
                ..Server::default()
            };
            let entries = || tools(&text).into_iter().map(|entry| entry.raw.clone());
            let resources: Vec<_> = if area == "resource" {
                entries()
                    .map(|raw| {
                        let is_template = raw.windows(11).any(|part| part == b"uriTemplate");
                        Resource::read(raw, is_template)
                    })
                    .collect()
            } else {
                Vec::new()
            };
            let prompts: Vec<_> = if area == "prompt" {
                entries().map(Prompt::read).collect()
            } else {
                Vec::new()
            };
            let listed = if text.starts_with(['[', '{']) && area != "resource" && area != "prompt" {
                tools(&text)
            } else {
                Vec::new()
            };
            let server = CheckedServer {
                server: Some(&server),
                tools: &listed,
                again: &again,
                resources: &resources,
                prompts: &prompts,
            };
            checker.server(&server, &Cancel::new()).unwrap()
        }
        RuleCheck::Answers(_) | RuleCheck::Repeat(_) | RuleCheck::Odd(_) => {
            let listed = example.tool.as_deref().map(tools).unwrap_or_default();
            let tool = listed
                .first()
                .map_or_else(|| Tool::unlisted("t"), |tool| Tool::clone(tool));
            let made = |text: &str| {
                subject(Arc::new(capture(
                    text,
                    &tool,
                    example.arguments.as_deref(),
                    None,
                )))
            };
            let subjects = [made(example.before.as_deref().unwrap_or("{}")), made(&text)];
            let answers: Vec<_> = subjects
                .iter()
                .map(|subject| CheckedResult::new(subject, CheckedServer::default(), &hosts))
                .collect();
            match rule.check {
                RuleCheck::Answers(_) => checker.answers(&answers),
                RuleCheck::Repeat(_) => checker.repeat(&answers[0], &answers[1]),
                _ => checker.odd(&answers[1]),
            }
        }
        RuleCheck::Drift(_) => {
            let before: Vec<_> = tools(&expanded(example.before.as_deref().unwrap()))
                .iter()
                .map(|tool| Tool::clone(tool))
                .collect();
            checker.drift(&before, &tools(&text))
        }
    };
    all.retain(|finding| finding.rule.id == rule.id);
    all
}

#[test]
fn every_rule_fires_on_its_example_and_not_on_its_counter_example() {
    let mut wrong = Vec::new();
    for area in AREAS {
        let examples = examples(area).unwrap();
        let shown: BTreeSet<_> = examples
            .iter()
            .map(|example| example.rule.as_str())
            .collect();
        wrong.extend(
            area.rules
                .iter()
                .filter(|rule| !shown.contains(rule.id))
                .map(|rule| format!("{} has no example", rule.id)),
        );
        for example in &examples {
            let rule =
                rule(&example.rule).unwrap_or_else(|| panic!("there is no rule {}", example.rule));
            if found(rule, example, &example.fires).is_empty() {
                wrong.push(format!(
                    "{} is silent on its example: {}",
                    rule.id, example.fires
                ));
            }
            let stated = found(rule, example, &example.silent);
            wrong.extend(stated.iter().map(|finding| {
                format!(
                    "{} fires on its counter-example: {}",
                    rule.id, finding.message
                )
            }));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What `schema/output-mismatch` says of the results in its examples.
#[test]
fn mismatches_of_one_cause_are_one_finding() {
    let area = AREAS.iter().find(|area| area.id == "schema").unwrap();
    let examples = examples(area).unwrap();
    let of_rule = examples
        .iter()
        .filter(|example| example.rule == "schema/output-mismatch");
    let said: Vec<_> = of_rule
        .flat_map(|example| found(rule(&example.rule).unwrap(), example, &example.fires))
        .map(|finding| finding.message)
        .collect();
    for expected in [
        "2 members are null where `outputSchema` says a string or an array; leave them out",
        "`/_truncated`, `/_total_chars` tell of a cut, and the schema allows no other members; put them into `_meta`",
    ] {
        assert!(
            said.iter().any(|message| message == expected),
            "{expected}: {said:#?}"
        );
    }
}

#[test]
fn styles_name_rules_and_choices_that_are_there() {
    let choices: BTreeSet<_> = super::contradiction::choice_ids().collect();
    assert_eq!(
        Profile::styles().map(Profile::name).collect::<Vec<_>>(),
        [
            "dual-content",
            "strict",
            "code-block",
            "json-first",
            "compact"
        ]
    );
    for style in Profile::styles() {
        let unknown: Vec<_> = style.rule_ids().filter(|id| rule(id).is_none()).collect();
        assert!(
            unknown.is_empty() && style.rule_ids().next().is_some(),
            "{}: {unknown:?}",
            style.name()
        );
        assert!(
            style
                .advice()
                .iter()
                .all(|choice| choices.contains(choice.as_str())),
            "{}",
            style.name()
        );
    }
}

#[test]
fn styles_are_offered_for_the_answers_they_apply_to() {
    let of = |answer: &str, tool: &str| {
        let (hosts, tool) = (Hosts::built_in(), Tool::read(tool.to_owned().into()));
        let subject = subject(Arc::new(capture(answer, &tool, None, None)));
        let checked = CheckedResult::new(&subject, CheckedServer::default(), &hosts);
        Profile::styles()
            .filter(|style| style.applies_to(&checked))
            .map(Profile::name)
            .collect::<Vec<_>>()
    };
    let bare = r#"{"name":"get","inputSchema":{"type":"object"}}"#;
    let both = r#"{"content":[{"type":"text","text":"Acme, 71"}],"structuredContent":{"name":"Acme","rank":71}}"#;
    assert_eq!(of(both, bare), ["dual-content"]);
    let text =
        |text: &str| serde_json::json!({"content": [{"type": "text", "text": text}]}).to_string();
    assert_eq!(of(&text("{\"name\":\"Acme\"}"), bare), ["json-first"]);
    assert_eq!(
        of(&text("Name: Acme\nCity: Oslo\n"), bare),
        ["code-block", "compact"]
    );
    let chooses = r#"{"name":"get","inputSchema":{"type":"object","properties":{"response_format":{"enum":["json","markdown"]}}}}"#;
    assert_eq!(of(&text("All is well."), chooses), ["strict", "compact"]);
    assert!(of(r#"{"content":[]}"#, bare).is_empty());
}

#[test]
fn every_rule_says_what_it_means() {
    let mut seen = BTreeSet::new();
    for (area, rule) in AREAS
        .iter()
        .flat_map(|area| area.rules.iter().map(move |rule| (area, rule)))
    {
        assert!(seen.insert(rule.id), "{} is there twice", rule.id);
        assert!(rule.id.starts_with(&format!("{}/", area.id)), "{}", rule.id);
        assert!(
            rule.levels().next().is_some()
                && [rule.explanation, rule.fix, rule.source]
                    .iter()
                    .all(|text| !text.is_empty()),
            "{}",
            rule.id
        );
    }
}

#[test]
fn what_is_saved_is_what_the_mended_text_saves() {
    let example = |fires: &str| Example {
        rule: String::new(),
        fires: fires.to_owned(),
        silent: String::new(),
        tool: None,
        arguments: None,
        before: None,
        protocol: None,
        host: None,
        profile: None,
    };
    let pretty = "{\n  \"a\": 1,\n  \"b\": [\n    1,\n    2\n  ]\n}";
    let answer = serde_json::json!({"content": [{"type": "text", "text": pretty}]}).to_string();
    let found = found(
        rule("shape/pretty-json").unwrap(),
        &example(&answer),
        &answer,
    );
    let tokens = loupe_core::token::count;
    let saves = found[0].saves.unwrap();
    assert_eq!(saves, tokens(pretty).less(tokens(r#"{"a":1,"b":[1,2]}"#)));
    assert!(saves.o200k_base > 0 && saves.cl100k_base > 0);
}

#[test]
fn spaces_at_line_ends_are_cut_but_for_code_and_line_breaks() {
    let hosts = Hosts::built_in();
    let fixed = |text: &str| {
        let answer = serde_json::json!({"content": [{"type": "text", "text": text}]});
        let capture = capture(&answer.to_string(), &Tool::unlisted("t"), None, None);
        let subject = subject(Arc::new(capture));
        let settings = RuleSettings::default();
        let checker = Checker {
            settings: &settings,
            hosts: &hosts,
        };
        let answer = CheckedResult::new(&subject, CheckedServer::default(), &hosts);
        let mut found = checker.answer(&answer, &Cancel::new()).unwrap();
        found.retain(|finding| finding.rule.id == "shape/line-end-spaces");
        let [finding] = &found[..] else {
            panic!("{} findings", found.len())
        };
        let fixed = finding.mended.as_ref().unwrap();
        fixed.parts.text.clone().unwrap()
    };
    let wide = " ".repeat(60);
    let rows = format!("{wide}\r\n").repeat(8);
    assert_eq!(
        fixed(&format!("a{rows}b\t")),
        format!("a{}b", "\r\n".repeat(8))
    );
    let page = format!(
        "# Files\n\none{wide}\ntwo{wide}\n\n```\ncode{wide}\n```\n\n- item\n\n      code{wide}\n{rows}end"
    );
    let expected = format!(
        "# Files\n\none  \ntwo\n\n```\ncode{wide}\n```\n\n- item\n\n      code{wide}\n{}end",
        "\r\n".repeat(8)
    );
    assert_eq!(fixed(&page), expected);
}

#[test]
fn equal_findings_are_one_with_a_count() {
    let answer = r#"{"content":[{"type":"text","text":"a\u202eb\u202ec"}]}"#;
    let hosts = Hosts::built_in();
    let subject = subject(Arc::new(capture(answer, &Tool::unlisted("t"), None, None)));
    let settings = RuleSettings::default();
    let all = Checker {
        settings: &settings,
        hosts: &hosts,
    }
    .answer(
        &CheckedResult::new(&subject, CheckedServer::default(), &hosts),
        &Cancel::new(),
    )
    .unwrap();
    let bidi: Vec<_> = all
        .iter()
        .filter(|finding| finding.rule.id == "markdown/bidi")
        .collect();
    assert_eq!((bidi.len(), bidi[0].count, bidi[0].places.len()), (1, 2, 2));
    assert_eq!(
        (bidi[0].places[1].part, bidi[0].places[1].range.clone()),
        (LocationPart::Text(0), Some(5..8))
    );
}

#[test]
fn settings_say_what_is_wrong_with_its_line() {
    let stated = |text: &str| {
        RuleSettings::parse(text, "loupe.toml")
            .map(|_| ())
            .map_err(|problem| problem.message())
    };
    assert_eq!(
        stated(
            "profiles = [\"dual-content\"]\nfail_on = \"warning\"\n[rules.\"size/many-records\"]\nlimit = 100\n"
        ),
        Ok(())
    );
    assert_eq!(
        stated("[rules.\"size/manny\"]\noff = true\n"),
        Err("there is no rule `size/manny` (loupe.toml, line 1)".into())
    );
    assert_eq!(
        stated("\n[rules.\"parity/text-empty\"]\noff = true\n"),
        Err("`parity/text-empty` is changed without a reason (loupe.toml, line 2)".into())
    );
    assert_eq!(
        stated("[rules.\"parity/text-empty\"]\nlimit = 3\n"),
        Err("`parity/text-empty` has no limit (loupe.toml, line 1)".into())
    );
    let settings = RuleSettings::parse(
        "[rules.\"parity/text-empty\"]\noff = true\nreason = \"ours shows it\"\n",
        "x",
    )
    .unwrap();
    let empty = rule("parity/text-empty").unwrap();
    assert!(settings.is_off(empty) && !RuleSettings::default().is_off(empty));
}

#[test]
fn a_rule_can_be_silent_for_one_tool() {
    let missing = rule("annotations/missing").unwrap();
    let tools = tools(
        r#"[{"name":"a \"b\"","inputSchema":{"type":"object"}},{"name":"c","inputSchema":{"type":"object"}}]"#,
    );
    let hosts = Hosts::built_in();
    for before in [
        "",
        "# ours\nfail_on = 'warning' # why",
        "[[silence]]\nrule = 'markdown/link'\ntool = 'c'\nreason = 'known'\n",
    ] {
        let silence = ToolSilence {
            rule: missing.id,
            tool: "a \"b\"".into(),
            reason: "it asks\nanyway".into(),
        };
        let text = silence.added_to(before, "loupe.toml").unwrap();
        assert!(text.starts_with(before), "{text}");
        let settings = RuleSettings::parse(&text, "loupe.toml").unwrap();
        let server = CheckedServer {
            tools: &tools,
            ..CheckedServer::default()
        };
        let found = Checker {
            settings: &settings,
            hosts: &hosts,
        }
        .server(&server, &Cancel::new())
        .unwrap();
        let of: Vec<_> = found
            .iter()
            .filter(|finding| finding.rule.id == missing.id)
            .map(|finding| &*finding.subject)
            .collect();
        assert_eq!(of, ["c"], "{text}");
    }
    let refused = |before: &str, reason: &str| {
        let silence = ToolSilence {
            rule: missing.id,
            tool: "a".into(),
            reason: reason.into(),
        };
        silence
            .added_to(before, "loupe.toml")
            .map_err(|problem| problem.message())
            .unwrap_err()
    };
    assert_eq!(
        refused("", " "),
        "`annotations/missing` is silent for `a` without a reason (loupe.toml, line 4)"
    );
    assert!(
        refused("silence = []", "known").contains("not valid settings of rules"),
        "{}",
        refused("silence = []", "known")
    );
    assert!(refused("profiles = 3", "known").contains("line 1"));
}

#[test]
fn only_what_is_new_counts_against_a_baseline() {
    let (old, new) = (
        tools(r#"{"name":"a","inputSchema":{"type":"object"}}"#),
        tools(
            r#"[{"name":"a","inputSchema":{"type":"object"}},{"name":"b c","inputSchema":{"type":"object"}}]"#,
        ),
    );
    let (settings, hosts) = (RuleSettings::default(), Hosts::built_in());
    let checker = Checker {
        settings: &settings,
        hosts: &hosts,
    };
    let of = |tools: &[Arc<Tool>]| {
        checker
            .server(
                &CheckedServer {
                    tools,
                    ..CheckedServer::default()
                },
                &Cancel::new(),
            )
            .unwrap()
    };
    let text = baseline::Baseline::text(
        Some(old.iter().map(|tool| &**tool)),
        &of(&old),
        std::iter::empty(),
    )
    .unwrap();
    let known = baseline::Baseline::parse(&text.into(), "b").unwrap();
    assert!(known.new_ones(&of(&old)).iter().all(|is_new| !is_new));
    let (found, is_new) = (of(&new), known.new_ones(&of(&new)));
    assert!(
        found
            .iter()
            .zip(&is_new)
            // What hosts lose is of the whole server.
            .filter(|(finding, _)| finding.area() != "host")
            .all(|(finding, is_new)| *is_new == (finding.subject == "b c")),
        "{found:?}"
    );
    assert!(
        checker
            .drift(known.tools.as_deref().unwrap(), &new)
            .iter()
            .any(|finding| finding.rule.id == "drift/compatible")
    );
}

#[test]
fn the_limit_of_a_rule_counts_for_those_that_leave_it_the_rest() {
    let answer = r#"{"content":[{"type":"text","text":"red"}],"structuredContent":{"items":[{"a":"red","b":71},{"a":"blue","b":82}]}}"#;
    let found = |limit: u64| {
        let toml = format!("[rules.\"parity/only-summary-in-text\"]\nlimit = {limit}\n");
        let (settings, hosts) = (RuleSettings::parse(&toml, "x").unwrap(), Hosts::built_in());
        let subject = subject(Arc::new(capture(answer, &Tool::unlisted("t"), None, None)));
        let checker = Checker {
            settings: &settings,
            hosts: &hosts,
        };
        let all = checker
            .answer(
                &CheckedResult::new(&subject, CheckedServer::default(), &hosts),
                &Cancel::new(),
            )
            .unwrap();
        [
            "parity/only-summary-in-text",
            "parity/value-missing-in-text",
        ]
        .map(|id| all.iter().any(|finding| finding.rule.id == id))
    };
    // A quarter of the facts is told.
    assert_eq!((found(20), found(30)), ([false, true], [true, false]));
}

#[test]
fn a_fix_can_be_counted_as_an_answer_of_its_own() {
    let answer = r#"{"content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"a":1}}"#;
    let (settings, hosts) = (RuleSettings::default(), Hosts::built_in());
    let subjects = [subject(Arc::new(capture(
        answer,
        &Tool::unlisted("t"),
        None,
        None,
    )))];
    let cancel = loupe_core::cancel::Cancel::new();
    let cx = crate::queries::Ctx::new(&subjects, &hosts, &cancel);
    let found = |reads| {
        cx.get(&FindingsQuery {
            settings: Arc::new(settings.clone()),
            reads,
        })
        .unwrap()
        .unwrap()
    };
    let saves = |reads| {
        let found = found(reads);
        let twin = found
            .findings
            .iter()
            .find(|finding| finding.rule.id == "parity/text-duplicates-json")
            .unwrap();
        twin.saves.map(|tokens| tokens.o200k_base)
    };
    assert_eq!(
        saves(ReadChoice::Most),
        None,
        "a model that reads one part is charged for one"
    );
    let found = found(ReadChoice::Part(ResultPart::Both));
    let twin = found
        .findings
        .iter()
        .find(|finding| finding.rule.id == "parity/text-duplicates-json")
        .unwrap();
    let mended = twin.mended.clone().unwrap();
    assert_eq!(
        (
            mended.parts.text.as_deref(),
            mended.parts.structured.as_deref()
        ),
        (None, Some(r#"{"a":1}"#))
    );
    let count = |format| crate::queries::RowQuery(format);
    let (before, after) = (
        cx.get(&count("both")).unwrap().unwrap(),
        cx.get(&crate::queries::WithFix(mended, count("structured"))),
    );
    let saved = before.tokens.o200k_base - after.unwrap().unwrap().tokens.o200k_base;
    assert_eq!(twin.saves.unwrap().o200k_base, saved);
}

/// What compact JSON saves is saved once, whichever rule says it, and all savings together are no more than is read.
#[test]
fn savings_follow_each_other() {
    let records: Vec<_> = (0..12)
        .map(|at| serde_json::json!({"id": 100 + at, "fullName": format!("Ann {at}"), "tags": []}))
        .collect();
    let text = serde_json::to_string_pretty(
        &serde_json::json!({"items": records, "next": {}, "also": []}),
    )
    .unwrap();
    let twice = serde_json::json!({"content": [{"type": "text", "text": text}], "structuredContent": {"result": text}});
    let once = serde_json::json!({"content": [{"type": "text", "text": text}]});
    let data = serde_json::json!({"items": records});
    let copy = serde_json::json!({"content": [{"type": "text", "text": data.to_string()}], "structuredContent": data});
    let hosts = Hosts::built_in();
    for (answer, reads) in [
        (&once, ReadChoice::Most),
        (&copy, ReadChoice::Most),
        (&twice, ReadChoice::Most),
        (&twice, ReadChoice::Part(ResultPart::Data)),
        (&twice, ReadChoice::Part(ResultPart::Both)),
    ] {
        let subject = subject(Arc::new(capture(
            &answer.to_string(),
            &Tool::unlisted("t"),
            None,
            None,
        )));
        let checked =
            CheckedResult::new(&subject, CheckedServer::default(), &hosts).with_reads(reads);
        let found = Checker {
            settings: &RuleSettings::default(),
            hosts: &hosts,
        }
        .answer(&checked, &Cancel::new())
        .unwrap();
        let read: u64 = checked
            .parts()
            .read(checked.read_part())
            .iter()
            .map(|part| loupe_core::token::count(part).o200k_base)
            .sum();
        let saves: Vec<_> = found
            .iter()
            .filter_map(|finding| Some((finding.rule.id, finding.saves?.o200k_base)))
            .collect();
        let sum: u64 = saves.iter().map(|(_, tokens)| tokens).sum();
        assert!(sum > 0 && sum < read, "{reads:?}: {saves:?} of {read}");
        let cheapest = loupe_core::format::FORMATS
            .iter()
            .filter_map(|format| loupe_core::format::ledger::Row::tokens_of(*format, &subject));
        let least = cheapest.map(|tokens| tokens.o200k_base).min().unwrap();
        assert!(
            reads == ReadChoice::Part(ResultPart::Both) || sum <= read - least,
            "{reads:?}: {saves:?} of {read}, {least} is the least"
        );
    }
}

#[test]
fn what_was_read_from_a_text_is_marked_in_both() {
    let answer = r#"{"content":[{"type":"text","text":"{\"a\":1,\"of\":\"{\\\"b\\\":[1,2]}\"}"}]}"#;
    let (settings, hosts) = (RuleSettings::default(), Hosts::built_in());
    let subjects = [subject(Arc::new(capture(
        answer,
        &Tool::unlisted("t"),
        None,
        None,
    )))];
    let cancel = loupe_core::cancel::Cancel::new();
    let found = crate::queries::Ctx::new(&subjects, &hosts, &cancel)
        .get(&FindingsQuery {
            settings: Arc::new(settings),
            reads: ReadChoice::Most,
        })
        .unwrap()
        .unwrap();
    let at = found
        .findings
        .iter()
        .position(|finding| finding.rule.id == "shape/json-in-json")
        .unwrap();
    assert!(
        matches!(
            found.places[at][..],
            [FindingPlace::Text(_), FindingPlace::Node(_)]
        ),
        "{:?}",
        found.places[at]
    );
    assert_eq!(
        (
            found.marks_of[at].texts("content").unwrap().len(),
            found.marks_of[at].nodes().len()
        ),
        (1, 1)
    );
}

#[test]
fn places_are_found_in_every_text() {
    let record = |at: usize| serde_json::json!({"id": 100 + at, "fullName": format!("Ann {at}")});
    let data = serde_json::json!({"items": (0..5).map(record).collect::<Vec<_>>()});
    let text = "Two\nlines, \"quoted\": é\u{202e}x";
    let answer = serde_json::json!({"content": [{"type": "text", "text": "first"}, {"type": "text", "text": text}], "structuredContent": data});
    let (settings, hosts) = (RuleSettings::default(), Hosts::built_in());
    let subjects = [subject(Arc::new(capture(
        &answer.to_string(),
        &Tool::unlisted("t"),
        None,
        None,
    )))];
    let cancel = loupe_core::cancel::Cancel::new();
    let cx = crate::queries::Ctx::new(&subjects, &hosts, &cancel);
    let found = cx
        .get(&FindingsQuery {
            settings: Arc::new(settings),
            reads: ReadChoice::Most,
        })
        .unwrap()
        .unwrap();
    let at = |id: &str| {
        found
            .findings
            .iter()
            .position(|finding| finding.rule.id == id)
            .unwrap()
    };
    let stated = |of: MarkedText, id: &str| {
        let marks = cx
            .get(&TextMarksQuery {
                places: Arc::clone(&found.to_mark),
                of,
            })
            .unwrap()
            .unwrap();
        let text = match of {
            MarkedText::Format(format) => cx.text(format).ok().unwrap(),
            MarkedText::Host { host, .. } => {
                crate::queries::HostPlaces::new(&subjects[0], cx.host(host).unwrap(), false)
                    .text
                    .into()
            }
        };
        marks.of_each[at(id)]
            .iter()
            .map(|place| text[place.clone()].to_owned())
            .collect::<Vec<_>>()
    };
    let wire = MarkedText::Format("wire");
    assert_eq!(stated(wire, "markdown/bidi"), ["\u{202e}"]);
    let keys = stated(wire, "shape/repeated-keys");
    assert_eq!(
        (keys.len(), &*keys[0], &*keys[1]),
        (10, "\"id\"", "\"fullName\"")
    );
    for format in ["json", "json-pretty", "structured", "both"] {
        let keys = match found.marks_of[at("shape/repeated-keys")].texts(format) {
            Some(places) => places.len(),
            None => stated(MarkedText::Format(format), "shape/repeated-keys").len(),
        };
        assert_eq!(keys, 10, "{format}");
    }
    assert_eq!(
        stated(MarkedText::Format("yaml"), "shape/repeated-keys")[..2],
        ["id", "fullName"]
    );
    assert_eq!(
        stated(MarkedText::Format("json-pretty"), "shape/repeated-keys")[1],
        "\"fullName\""
    );
    let shown = hosts.iter().filter(|host| {
        stated(
            MarkedText::Host {
                host: host.id,
                with_cuts: false,
            },
            "markdown/bidi",
        ) == ["\u{202e}"]
    });
    assert!(shown.count() > 5, "hosts that show the text mark it");
}

#[test]
fn contradicting_profiles_are_named_with_what_either_costs() {
    let answer = r#"{"content":[{"type":"text","text":"Acme, 71"}],"structuredContent":{"name":"Acme","rank":71}}"#;
    let hosts = Hosts::built_in();
    let subject = subject(Arc::new(capture(answer, &Tool::unlisted("t"), None, None)));
    let checked = CheckedResult::new(&subject, CheckedServer::default(), &hosts);
    let mut settings = RuleSettings::default();
    let [dual, blocks] = ["dual-content", "code-block"].map(|name| Profile::parse(name).unwrap());
    settings.profiles.extend([dual, blocks]);
    let all = Checker {
        settings: &settings,
        hosts: &hosts,
    }
    .contradictions(&checked);
    let parts = all
        .iter()
        .find(|contradiction| contradiction.question == "Is there structuredContent?")
        .unwrap();
    let costs: Vec<_> = parts
        .choices
        .iter()
        .map(|choice| (choice.profiles[0], choice.tokens.o200k_base))
        .collect();
    let tokens = |text: &str| loupe_core::token::count(text).o200k_base;
    let both = tokens("Acme, 71\n{\"name\":\"Acme\",\"rank\":71}");
    assert_eq!(costs, [(dual, both), (blocks, tokens("Acme, 71"))]);
    // One opinion is no contradiction.
    let alone = RuleSettings {
        profiles: [dual].into(),
        ..RuleSettings::default()
    };
    assert!(
        Checker {
            settings: &alone,
            hosts: &hosts
        }
        .contradictions(&checked)
        .is_empty()
    );
}

/// What the hosts make of a result is worked out once, whoever asks first.
#[test]
fn limits_are_those_of_the_hosts_report() {
    let hosts = Hosts::built_in();
    for lines in [400, 40_000] {
        let text = "A line that says little. ".repeat(lines);
        let answer = serde_json::json!({"content": [{"type": "text", "text": text}]}).to_string();
        let subject = subject(Arc::new(capture(&answer, &Tool::unlisted("t"), None, None)));
        let report = HostsReport::so_far(&subject, &hosts, ReportDetail::Figures, &Cancel::new());
        let (subjects, cancel) = ([subject], Cancel::new());
        let cx = Ctx::new(&subjects, &hosts, &cancel);
        let query = FindingsQuery {
            settings: Arc::default(),
            reads: ReadChoice::Most,
        };
        let found = |found: &AnswerFindings| {
            found
                .findings
                .iter()
                .map(|finding| finding.message.clone())
                .collect::<Vec<_>>()
        };
        let alone = found(&cx.get(&query).unwrap().unwrap());
        assert_eq!(found(&query.find(&cx, Some(&report)).unwrap()), alone);
        assert!(
            alone.iter().any(|message| message.contains(" cut it: ")),
            "{alone:?}"
        );
    }
}

type Hostile = (&'static str, fn(usize) -> String);

/// Answers that make careless rules slow, each at a size and at four times it.
#[test]
fn hostile_answers_stay_linear() {
    let kinds: [Hostile; 7] = [
        ("lines", |n| "a: 1\n".repeat(n * 10)),
        ("backticks", |n| "`".repeat(n)),
        ("ticks and text", |n| "`a ".repeat(n)),
        ("quotes", |n| format!("{} x", ">".repeat(n / 10))),
        ("brackets", |n| "[![(".repeat(n)),
        ("pipes", |n| format!("|a|\n|---|\n{}", "|".repeat(n))),
        ("stars", |n| "*a_".repeat(n)),
    ];
    let (settings, hosts) = (
        RuleSettings {
            profiles: Profile::all().collect(),
            ..RuleSettings::default()
        },
        Hosts::built_in(),
    );
    let time = |text: String| {
        let answer = serde_json::json!({"content": [{"type": "text", "text": text}], "structuredContent": {"name": "x", "list": [{"a": 1}]}}).to_string();
        let subject = subject(Arc::new(capture(&answer, &Tool::unlisted("t"), None, None)));
        subject.extra();
        let start = Instant::now();
        let checked = CheckedResult::new(&subject, CheckedServer::default(), &hosts);
        checked.fact_matches();
        let ready = start.elapsed();
        Checker {
            settings: &settings,
            hosts: &hosts,
        }
        .answer(&checked, &Cancel::new())
        .unwrap();
        start.elapsed() - ready
    };
    for (name, make) in kinds {
        // What takes the square of the size does so each time; other work on the machine does not.
        let is_linear = || time(make(6_000)) < time(make(1_500)) * 8 + Duration::from_millis(300);
        assert!(
            (0..3).any(|_| is_linear()),
            "{name} takes more than its size"
        );
    }
}

#[test]
fn another_value_is_an_error_where_a_reader_decoded_it() {
    let hosts = Hosts::built_in();
    let severity = |text: &str| {
        let answer = serde_json::json!({"content": [{"type": "text", "text": text}], "structuredContent": {"name": "Acme", "city": "Bergen"}});
        let subject = subject(Arc::new(capture(
            &answer.to_string(),
            &Tool::unlisted("t"),
            None,
            None,
        )));
        let checked = CheckedResult::new(&subject, CheckedServer::default(), &hosts);
        let found = Checker {
            settings: &RuleSettings::default(),
            hosts: &hosts,
        }
        .answer(&checked, &Cancel::new())
        .unwrap();
        found
            .iter()
            .find(|finding| finding.rule.id == "parity/value-differs")
            .map(|finding| finding.severity)
    };
    assert_eq!(
        severity("- **Name**: Acme\n- **City**: Oslo\n"),
        Some(Severity::Error)
    );
    assert_eq!(
        severity("A company, Acme (City: Oslo), was found today."),
        Some(Severity::Warning)
    );
    assert_eq!(
        severity("A company, Acme (City: Bergen), was found today."),
        None
    );
}

#[test]
fn checking_what_a_server_lists_ends_when_it_is_cancelled() {
    let tools: Vec<_> = (0..50_000)
        .map(|at| Arc::new(Tool::unlisted(&format!("t{at}"))))
        .collect();
    let (settings, hosts, cancel) = (RuleSettings::default(), Hosts::built_in(), Cancel::new());
    let checker = Checker {
        settings: &settings,
        hosts: &hosts,
    };
    cancel.cancel();
    let began = std::time::Instant::now();
    let server = CheckedServer {
        tools: &tools,
        ..CheckedServer::default()
    };
    assert!(checker.server(&server, &cancel).is_err());
    assert!(
        began.elapsed() < std::time::Duration::from_secs(1),
        "{:?}",
        began.elapsed()
    );
}
