//! The window's behaviour without a window: actions in, state and effects out, against the real sample.

mod support;

use std::time::Duration;

use mcp_loupe::capture::Outcome;
use mcp_loupe::problem::Kind;
use mcp_loupe::report::{Answer, Inquiry, Question};
use mcp_loupe::source::{Command, Source};
use mcp_loupe::state::{Action, Asked, CompareAction, Connection, Dialog, Effect, Event, PaneView, Screen, StartQuestion, State};
use support::Driver;

fn on_sample() -> Driver {
    let mut driver = Driver::new();
    driver.perform(Action::Connect(Source::sample()));
    driver.until("the sample lists its tools", |state| !state.tools.is_empty());
    driver
}

fn shell(script: &str) -> Source {
    Source::Command(Command { program: "sh".into(), args: vec!["-c".into(), script.into()], ..Command::default() })
}

#[test]
fn starts_on_the_sample_with_the_strict_search_selected() {
    let mut driver = on_sample();
    assert_eq!(driver.state.view.screen, Screen::Start);
    assert_eq!(driver.state.selected_tool.as_deref(), Some("strict_search_companies"));
    driver.until("definitions are counted", |state| state.tools_total().is_some());
    assert!(driver.state.tools_total().unwrap() > 100);
}

#[test]
fn a_card_of_the_start_page_is_one_click() {
    let mut driver = on_sample();
    driver.perform(Action::Ask(StartQuestion::TextMatchesData));
    driver.until("the answer is shown", |state| state.capture().is_some());
    let capture = driver.state.capture().unwrap().clone();
    assert_eq!((capture.tool.name.as_str(), capture.outcome), ("dual_search_companies", Outcome::Result));
    driver.perform(Action::Want(
        [Question::Tree, Question::Row("json")].map(|question| Inquiry::of(&capture.id, question)).to_vec(),
    ));
    driver.until("the questions are answered", |state| state.answers.working() == 0);
    let Some(Asked::Ready(Answer::Tree(Some(tree)))) = driver.state.answers.get(&capture.id, Question::Tree) else {
        panic!("no tree");
    };
    assert!(tree.matched.count.missing > 0, "the dual sample leaves facts out of its text");
    // The other card needs the sample with hostile data: it connects anew and calls by itself.
    driver.perform(Action::Ask(StartQuestion::HostileRecords));
    driver.until("the hostile answer is shown", |state| {
        state.capture().is_some_and(|capture| capture.tool.name == "strict_search_companies")
    });
    assert!(matches!(driver.state.connection.source(), Some(Source::Sample(spec)) if spec.keys["data"] == "hostile"));
}

#[test]
fn arguments_that_break_the_schema_are_held() {
    let mut driver = on_sample();
    driver.perform(Action::SetArgumentsText(r#"{"pageSize": 9999}"#.into()));
    driver.perform(Action::Call { send_anyway: false });
    assert!(driver.state.running.is_none());
    assert!(driver.state.form().unwrap().fields.iter().any(|field| field.name == "pageSize" && field.problem.is_some()));
    driver.perform(Action::Call { send_anyway: true });
    driver.until("the refusal came", |state| state.capture().is_some());
    assert_eq!(driver.state.capture().unwrap().outcome, Outcome::ToolError);
    assert_eq!(driver.state.capture().unwrap().arguments, r#"{"pageSize": 9999}"#, "sent as typed");
    driver.perform(Action::SetArgumentsText("{".into()));
    driver.perform(Action::Call { send_anyway: true });
    assert!(driver.state.running.is_none(), "what is no JSON object is never sent");
}

#[test]
fn forms_are_remembered_and_stale_answers_told() {
    let mut driver = on_sample();
    driver.perform(Action::SetArgumentsText(r#"{"searchTerm":"north"}"#.into()));
    driver.perform(Action::Call { send_anyway: false });
    driver.until("the answer is shown", |state| state.capture().is_some());
    assert!(!driver.state.is_answer_stale());
    driver.perform(Action::SetArgumentsText(r#"{"searchTerm":"south"}"#.into()));
    assert!(driver.state.is_answer_stale());
    driver.perform(Action::SelectTool("dial_search_user".into()));
    driver.perform(Action::SelectTool("strict_search_companies".into()));
    assert_eq!(&*driver.state.form().unwrap().text, r#"{"searchTerm":"south"}"#);
    driver.perform(Action::RestoreArguments);
    assert!(!driver.state.is_answer_stale());
}

#[test]
fn a_capture_that_is_exported_opens_again_identically() {
    let mut driver = on_sample();
    driver.perform(Action::Call { send_anyway: false });
    driver.until("the answer is shown", |state| state.capture().is_some());
    let first = driver.state.capture().unwrap().clone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fixture");
    driver.perform(Action::ExportCapture(Some(path.clone())));
    driver.until("it is saved", |state| !state.toasts.is_empty());
    driver.state.captures.clear();
    driver.state.view.capture = None;
    driver.perform(Action::OpenPath(Some(path)));
    driver.until("it is open", |state| state.capture().is_some());
    let again = driver.state.capture().unwrap();
    assert_eq!(again.response, first.response);
    assert_eq!(again.request, first.request);
    assert_eq!(again.arguments, first.arguments);
    assert_eq!(again.tool, first.tool);
    assert_eq!(again.timings, first.timings);
}

#[test]
fn a_command_that_does_not_exist_is_said_with_a_hint() {
    let mut driver = Driver::new();
    driver.perform(Action::Connect(Source::Command(Command { program: "no-such-command-here".into(), ..Command::default() })));
    driver.until("it failed", |state| matches!(state.connection, Connection::Failed { .. }));
    let Connection::Failed { problem, .. } = &driver.state.connection else { unreachable!() };
    assert_eq!(problem.kind, Kind::Spawn);
    assert!(problem.hint.is_some());
    assert_eq!(driver.state.view.screen, Screen::Connect);
}

#[test]
fn a_tool_not_declared_read_only_asks_first_and_a_dying_server_is_shown() {
    let script = r#"read a; echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"dying","version":"1"}}}' | sed "s/\"id\":0/$(printf '%s' "$a" | grep -o '"id":[^,}]*' | head -n 1)/"
read b; read c; echo '{"jsonrpc":"2.0","id":0,"result":{"tools":[{"name":"boom","inputSchema":{"type":"object"}}]}}' | sed "s/\"id\":0/$(printf '%s' "$c" | grep -o '"id":[^,}]*' | head -n 1)/"
read d; echo 'last words' >&2; exit 3"#;
    let mut driver = Driver::new();
    driver.perform(Action::Connect(shell(script)));
    driver.until("it is connected", |state| !state.tools.is_empty());
    driver.perform(Action::Call { send_anyway: false });
    assert!(matches!(driver.state.dialog, Some(Dialog::ConfirmCall { .. })));
    driver.perform(Action::ConfirmCall);
    driver.until("the server is gone", |state| matches!(state.connection, Connection::Gone { .. }) && state.running.is_none());
    assert_eq!(driver.state.capture().unwrap().outcome, Outcome::Disconnected);
    assert!(driver.state.connection.stderr().iter().any(|line| line.contains("last words")));
}

#[test]
fn events_of_an_ended_session_change_nothing() {
    let mut state = State::default();
    let mut effects = Vec::new();
    state.perform(Action::Connect(Source::sample()), &mut effects);
    state.perform(Action::CancelConnect, &mut effects);
    assert!(matches!(effects[..], [Effect::Connect { session: 1, .. }, Effect::Disconnect { session: 1 }]));
    state.apply(Event::Phase { session: 1, phase: "late".into() }, &mut effects);
    state.apply(Event::Tools { session: 1, tools: Vec::new(), note: None }, &mut effects);
    assert_eq!(state.connection, Connection::None);
    assert_eq!(effects.len(), 2);
}

#[test]
fn peeking_shows_a_format_and_lets_it_go_again() {
    let mut state = State::default();
    let mut effects = Vec::new();
    state.perform(Action::Peek(Some("toon")), &mut effects);
    assert_eq!(state.view.shows(1), PaneView::Text("toon"));
    state.perform(Action::Peek(None), &mut effects);
    assert_eq!(state.view.shows(1), PaneView::Text("content"));
    state.perform(Action::Peek(Some("toon")), &mut effects);
    state.perform(Action::KeepPeek, &mut effects);
    assert_eq!(state.view.panes[1], PaneView::Text("toon"));
}

#[test]
fn only_web_links_are_offered_and_only_after_a_look() {
    let mut state = State::default();
    let mut effects = Vec::new();
    for url in ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x"] {
        state.perform(Action::OpenLink(url.into()), &mut effects);
        assert!(state.dialog.is_none(), "{url}");
    }
    state.perform(Action::OpenLink("https://example.com/".into()), &mut effects);
    assert!(effects.is_empty());
    state.perform(Action::ConfirmLink, &mut effects);
    assert_eq!(effects, [Effect::OpenUrl("https://example.com/".into())]);
}

#[test]
fn messages_go_by_themselves_and_errors_stay() {
    let mut state = State::default();
    let mut effects = Vec::new();
    state.perform(Action::Copy("x".into()), &mut effects);
    state.perform(Action::ConnectForm, &mut effects);
    assert_eq!(state.toasts.len(), 2);
    state.tick(Duration::from_secs(5));
    assert_eq!(state.toasts.len(), 1);
    assert!(state.toasts[0].problem.is_some());
}

#[test]
fn a_card_compares_markdown_with_json() {
    let mut driver = on_sample();
    driver.perform(Action::Ask(StartQuestion::MarkdownOrJson));
    let progress = driver.state.comparisons.current.as_ref().unwrap().progress();
    assert_eq!(progress.as_deref(), Some("Call 1 of 2: response_format=json"));
    driver.until("both calls are made", |state| {
        state.comparisons.current.as_ref().is_some_and(|compare| compare.not_made().is_empty())
    });
    assert_eq!((driver.state.view.screen, driver.state.captures.len()), (Screen::Compare, 2));
    assert!(driver.state.running.is_none());
    let inquiry = driver.state.comparisons.current.as_ref().unwrap().inquiry().unwrap();
    assert_eq!(inquiry.captures.len(), 2);
    driver.perform(Action::Want(vec![inquiry.clone()]));
    driver.until("they are measured", |state| state.answers.working() == 0);
    let Some(Asked::Ready(Answer::Sweep(page))) = driver.state.answers.known(&inquiry) else { panic!("no page") };
    let titles: Vec<_> = page.sweep.columns.iter().map(|column| column.title.as_str()).collect();
    assert_eq!(titles, ["json as sent", "markdown as sent", "JSON, compact", "Markdown table"]);
    // The way back leads to an answer, and nothing is called twice.
    driver.perform(Action::ShowAnswer);
    assert_eq!(driver.state.view.screen, Screen::Answer);
    let choice = driver.state.format_choice().unwrap();
    assert_eq!(driver.state.made_of(&choice), 2);
    driver.perform(compare(&choice.name, &choice.values));
    assert!(driver.state.running.is_none() && driver.state.view.screen == Screen::Compare);
    driver.perform(Action::Compare(CompareAction::Again));
    assert!(driver.state.running.is_some(), "run again makes every call anew");
    driver.until("both calls are made anew", |state| state.captures.len() == 4 && state.running.is_none());
}

fn compare(vary: &str, values: &[String]) -> Action {
    Action::Compare(CompareAction::Start { vary: vary.into(), values: values.to_vec() })
}

#[test]
fn what_was_called_already_is_not_called_again() {
    let mut driver = on_sample();
    driver.perform(Action::Call { send_anyway: false });
    driver.until("the answer is shown", |state| state.capture().is_some());
    let choice = driver.state.format_choice().unwrap();
    // Nothing was said about the format: its default is in the schema.
    assert_eq!(choice.label(driver.state.made_of(&choice)), "Compare json / markdown · 1 more call");
    driver.perform(compare(&choice.name, &choice.values));
    driver.until("the other call is made", |state| state.captures.len() == 2 && state.running.is_none());
    driver.perform(Action::SetArgumentsText(r#"{"searchTerm":"north"}"#.into()));
    assert_eq!(driver.state.made_of(&choice), 0, "another question has other answers");
}

#[test]
fn values_the_schema_refuses_are_said_before_anything_is_called() {
    let mut driver = on_sample();
    driver.perform(Action::Compare(CompareAction::StartWith { vary: "response_format".into(), written: "json,xml".into() }));
    assert!(driver.state.running.is_none() && driver.state.comparisons.current.is_none());
    let problem = driver.state.toasts[0].problem.clone().unwrap();
    assert!(problem.what.starts_with("with response_format=xml the tool's schema refuses it"), "{}", problem.what);
    driver.perform(Action::Compare(CompareAction::StartWith { vary: "pageSize".into(), written: "5, 50".into() }));
    assert!(driver.state.comparisons.current.as_ref().unwrap().is_curve);
    driver.until("both are there", |state| state.captures.len() == 2 && state.running.is_none());
}

/// Lists one tool with an argument `format` and answers calls as told: with its arguments, `die`, or not at all.
fn formats(annotations: &str) -> Source {
    let tool = r#"{"name":"get","inputSchema":{"type":"object","properties":{"format":{"enum":["a","b","c"]}}},"annotations":ANNOTATIONS}"#
        .replace("ANNOTATIONS", annotations);
    shell(&format!(
        r#"id() {{ printf '%s' "$1" | grep -o '"id":[^,}}]*' | head -n 1; }}
while read -r line; do case "$line" in
*'"initialize"'*) echo '{{"jsonrpc":"2.0",'"$(id "$line")"',"result":{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"f","version":"1"}}}}}}' ;;
*'tools/list'*) echo '{{"jsonrpc":"2.0",'"$(id "$line")"',"result":{{"tools":[{tool}]}}}}' ;;
*'"format":"a"'*) echo '{{"jsonrpc":"2.0",'"$(id "$line")"',"result":{{"content":[{{"type":"text","text":"one"}}]}}}}' ;;
*'"format":"b"'*) echo '{{"jsonrpc":"2.0",'"$(id "$line")"',"error":{{"code":-32603,"message":"broken"}}}}' ;;
esac; done"#
    ))
}

#[test]
fn a_call_that_fails_or_hangs_leaves_what_came() {
    let mut driver = Driver::new();
    driver.perform(Action::Connect(formats(r#"{"readOnlyHint":true}"#)));
    driver.until("it lists its tool", |state| !state.tools.is_empty());
    let choice = driver.state.format_choice().unwrap();
    driver.perform(compare(&choice.name, &choice.values));
    driver.until("the third call hangs", |state| state.captures.len() == 2 && state.running.is_some());
    driver.perform(Action::Compare(CompareAction::Cancel));
    driver.until("it is cancelled", |state| state.running.is_none());
    let outcomes: Vec<_> = driver.state.captures.iter().map(|capture| capture.outcome).collect();
    assert_eq!(outcomes, [Outcome::Result, Outcome::ProtocolError, Outcome::Cancelled]);
    let inquiry = driver.state.comparisons.current.as_ref().unwrap().inquiry().unwrap();
    driver.perform(Action::Want(vec![inquiry.clone()]));
    driver.until("what came is measured", |state| state.answers.working() == 0);
    let Some(Asked::Ready(Answer::Sweep(page))) = driver.state.answers.known(&inquiry) else { panic!("no page") };
    let whys: Vec<_> = page.sweep.columns.iter().map(|column| column.why.is_some()).collect();
    assert_eq!(whys, [false, true, true]);
}

#[test]
fn a_tool_not_declared_read_only_is_asked_about_with_every_call() {
    let mut driver = Driver::new();
    driver.perform(Action::Connect(formats("{}")));
    driver.until("it lists its tool", |state| !state.tools.is_empty());
    driver.perform(compare("format", &["\"a\"".into(), "\"b\"".into()]));
    let Some(Dialog::ConfirmCompare { tool, calls }) = &driver.state.dialog else { panic!("nobody was asked") };
    assert_eq!(
        (tool.as_str(), calls.as_slice()),
        ("get", [r#"{"format":"a"}"#, r#"{"format":"b"}"#].map(String::from).as_slice())
    );
    assert!(driver.state.running.is_none() && driver.state.captures.is_empty());
    driver.perform(Action::Compare(CompareAction::Confirm));
    driver.until("both calls are made", |state| state.captures.len() == 2 && state.running.is_none());
}
