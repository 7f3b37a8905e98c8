//! The window around the panes, driven through the accessibility tree: what each control is called and what it sends.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use super::{Cx, theme, window};
use crate::state::diff::DiffAction;
use crate::state::{
    Action, CallAction, CallInFlight, CallOwner, ConnectAction, Connection, Dialog, Event,
    ExportAction, Form, FormMode, ImportAction, ListedTool, PaneView, PathPurpose, PreparedCall,
    Screen, SessionId, SettingsAction, StartQuestion, State, Toast, Value, ViewAction,
};
use loupe_analysis::fixture::export::ExportChoice;
use loupe_analysis::queries::{QueryInput, QueryKey, Search, TextQuery};
use loupe_core::capture::{Capture, CaptureId, Outcome, Server, Timings, Tool};
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::source::{Command, Recent, Source};
use loupe_core::token::Tokens;

/// Paints a state that never changes, and keeps what was sent.
struct Still {
    state: State,
    sent: Vec<Action>,
}

impl eframe::App for Still {
    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        let cx = Cx::new(&self.state);
        window(ui, &cx);
        self.sent.extend(
            cx.into_actions()
                .into_iter()
                .filter(|action| !matches!(action, Action::Want(_))),
        );
    }
}

fn harness(state: State) -> Harness<'static, Still> {
    sized(state, 1280.0, 800.0)
}

fn sized(state: State, width: f32, height: f32) -> Harness<'static, Still> {
    let mut harness = Harness::builder()
        .with_size([width, height])
        .build_eframe(|cc| {
            theme::install(&cc.egui_ctx);
            Still {
                state,
                sent: Vec::new(),
            }
        });
    // Spinners ask for further frames for ever.
    harness.run_ok();
    harness
}

#[track_caller]
fn check_click(state: State, label: &str, expected: impl Into<Action>) {
    let mut harness = harness(state);
    harness.get_by_label(label).click();
    harness.run_ok();
    let sent = &harness.state().sent;
    assert!(sent.contains(&expected.into()), "{label} sent {sent:?}");
}

fn tool(name: &str, hints: &str) -> ListedTool {
    let raw = format!(
        r#"{{"name":"{name}","description":"Search by name. More.","inputSchema":{{"type":"object"}},"annotations":{hints}}}"#
    );
    ListedTool {
        tool: Arc::new(Tool::read(Bytes::from(raw))),
        tokens: Some(Tokens {
            o200k_base: 1_214,
            cl100k_base: 1_200,
        }),
    }
}

fn server() -> Server {
    Server {
        name: "sample".into(),
        version: "1".into(),
        protocol_version: "2025-11-25".into(),
        transport: "in-process".into(),
        ..Server::default()
    }
}

fn connected() -> State {
    let mut state = State::default();
    state.session_mut().connection = Connection::Connected {
        source: Source::sample(),
        server: server(),
        since: Duration::ZERO,
        stderr: vec!["hello".into()],
        messages: 3,
    };
    let read_only = r#"{"readOnlyHint":true}"#;
    state.session_mut().tools = vec![
        tool("dual_search", read_only),
        tool("dual_get", read_only),
        tool("dial_delete", r#"{"destructiveHint":true}"#),
    ];
    state.session_mut().selected_tool = Some("dual_search".into());
    let choices: Vec<_> = (0..9).map(|n| format!("\"choice {n}\"")).collect();
    let schema = format!(
        r#"{{"type":"object","properties":{{"term":{{"type":["string","null"]}},"active":{{"type":["boolean","null"]}},
        "size":{{"type":"integer","minimum":1,"maximum":500}},"format":{{"enum":["json","markdown"]}},"state":{{"enum":[{}]}},
        "ids":{{"type":"array","items":{{"type":"string"}}}},"note":{{"type":["string","null"]}},"filter":{{"type":"object"}}}}}}"#,
        choices.join(",")
    );
    let schema = Bytes::from(schema);
    let mut form = Form::new(Some(&schema));
    form.set_text(r#"{"ids":["a"],"note":null}"#);
    form.text = r#"{"term":"north"}"#.into();
    state.session_mut().forms.insert("dual_search".into(), form);
    state
}

fn answered(outcome: Outcome) -> State {
    let mut state = connected();
    let capture = Capture {
        tool: (*state.session().tools[0].tool).clone(),
        arguments: Bytes::from_static(br#"{"term":"south"}"#),
        timings: Timings {
            send: Duration::from_millis(4),
            server: Duration::from_millis(588),
            receive: Duration::from_millis(20),
        },
        outcome,
        request: Bytes::from_static(b"{}"),
        response: Some(Bytes::from_static(b"{}")),
        problem: Some(Problem::new(ProblemKind::Timeout, "no answer came")),
        notes: vec!["1 unreadable line came".into()],
        ..Capture::empty(CaptureId("one".into()), server())
    };
    state.view.capture = Some(capture.id.clone());
    state.captures.push(Arc::new(capture));
    state.view.screen = Screen::Answer;
    state
}

#[test]
fn every_control_has_a_name_in_every_state() {
    // The harness panics at a control without a name and at a character without a glyph.
    let mut states = vec![State::default(), connected()];
    for &outcome in Outcome::ALL {
        states.push(answered(outcome));
    }
    let source = Source::sample();
    let problem = Problem::new(ProblemKind::Spawn, "command not found")
        .at("nosuch")
        .hint("check the spelling");
    let limit = Duration::from_secs(90);
    let stderr: Vec<String> = (0..9).map(|line| format!("line {line}")).collect();
    for connection in [
        Connection::Connecting {
            source: source.clone(),
            phase: "initialize".into(),
            since: Duration::ZERO,
            limit,
            stderr: stderr.clone(),
        },
        Connection::Failed {
            source: source.clone(),
            problem: problem.clone(),
            stderr: stderr.clone(),
        },
        Connection::Disconnected {
            source,
            server: server(),
            problem: problem.clone(),
            stderr,
        },
    ] {
        for screen in [Screen::Start, Screen::Connect, Screen::Answer] {
            let mut state = State::default();
            state.session_mut().connection = connection.clone();
            state.view.screen = screen;
            states.push(state);
        }
    }
    let mut running = answered(Outcome::Result);
    running.running = Some(CallInFlight {
        owner: CallOwner::Person,
        id: 1,
        session: SessionId(1),
        tool: "dual_search".into(),
        since: Duration::ZERO,
        limit,
        progress: Some((1.0, None, Some("one".into()))),
        unreadable: 1,
        task: None,
    });
    running.toasts = vec![
        Toast {
            id: 1,
            text: "Exported".into(),
            problem: None,
            since: Duration::ZERO,
        },
        Toast {
            id: 2,
            text: "no such file".into(),
            problem: Some(problem),
            since: Duration::ZERO,
        },
    ];
    states.push(running);
    let mut json = answered(Outcome::Result);
    let form = json.session_mut().forms.get_mut("dual_search").unwrap();
    form.mode = FormMode::Json;
    form.syntax = Some(("expected `,`".into(), 1, 7));
    states.push(json);
    for state in states {
        sized(state, 1280.0, 800.0);
    }
    for dialog in [
        Dialog::ConfirmCall {
            call: delete(r#"{"id":1}"#),
        },
        Dialog::Definition {
            tool: "dual_search".into(),
        },
        Dialog::Definition {
            tool: "gone".into(),
        },
        Dialog::OpenLink {
            url: "https://example.org/".into(),
        },
        Dialog::Shortcuts,
        Dialog::Palette {
            text: "nothing is called this".into(),
            chosen: 7,
        },
        Dialog::Stderr,
        Dialog::History,
        Dialog::Path {
            purpose: PathPurpose::OpenCapture,
            text: String::new(),
        },
    ] {
        let mut state = connected();
        state.dialog = Some(dialog);
        sized(state, 640.0, 520.0);
    }
    sized(answered(Outcome::ToolError), 960.0, 1_040.0);
}

#[test]
fn the_start_page_asks_and_each_card_is_one_click() {
    let harness = harness(connected());
    harness.get_by_label("What do you want to know?");
    harness.get_by_label("Sample server, inside this program. Nothing leaves this computer.");
    drop(harness);
    for &question in StartQuestion::ALL {
        check_click(connected(), question.title(), CallAction::Ask(question));
    }
}

#[test]
fn servers_used_before_are_a_click_or_a_key_away() {
    let used = || {
        let mut state = connected();
        state.importing.recent = vec![
            Recent::of_config("/home/me/.mcp.json", "mine"),
            Recent::of_config("/x.json", "other"),
        ];
        state
    };
    let connect = |at| Action::Import(ImportAction::ConnectRecent(at));
    check_click(used(), "Connect to mine, Ctrl L connects", connect(0));
    check_click(used(), "Connect to other, ", connect(1));
    let mut harness = harness(used());
    press(&mut harness, Modifiers::COMMAND, Key::L);
    assert_eq!(harness.state().sent, [connect(0)]);
}

#[test]
fn there_is_a_way_to_the_start_page_and_back() {
    check_click(
        answered(Outcome::Result),
        "Loupe: start page",
        ViewAction::ShowStart,
    );
    let mut state = answered(Outcome::Result);
    state.view.screen = Screen::Start;
    check_click(
        state,
        "Answer",
        ViewAction::SelectCapture(CaptureId("one".into())),
    );
}

#[test]
fn tools_are_listed_with_their_risk_and_cost() {
    check_click(
        connected(),
        "dual_get, read-only declared, 1,214 tokens",
        CallAction::SelectTool("dual_get".into()),
    );
    check_click(
        connected(),
        "dial_delete, destructive declared, 1,214 tokens",
        CallAction::SelectTool("dial_delete".into()),
    );
    check_click(
        connected(),
        "Group dual_, 2 tools, 2,428 tokens, open",
        ViewAction::ToggleGroup("dual_".into()),
    );
    let harness = harness(connected());
    harness.get_by_label("dual_search, read-only declared, 1,214 tokens, selected");
    harness.get_by_label("3 definitions · 3,642 tok");
}

#[test]
fn many_captures_are_filtered_by_tool_and_arguments() {
    let captures = |count: usize, filter: &str| {
        let mut state = answered(Outcome::Result);
        for at in 2..=count {
            state.captures.push(Arc::new(Capture {
                id: CaptureId(format!("{at}").into()),
                arguments: Bytes::from(format!(r#"{{"term":"city {at}"}}"#)),
                ..(*state.captures[0]).clone()
            }));
        }
        state.view.captures_filter = filter.into();
        let harness = harness(state);
        let has_filter = harness.query_by_label("Filter captures").is_some();
        let rows = harness
            .query_all_by_label_contains(": dual_search, ")
            .count();
        (has_filter, rows)
    };
    assert!(captures(9, "").1 >= 4, "the newest are in sight");
    assert_eq!(captures(9, "CITY 3"), (true, 1));
    assert_eq!(captures(9, "DUAL_"), captures(9, ""));
    assert_eq!(
        captures(8, "CITY 3"),
        captures(8, ""),
        "few are not filtered"
    );
}

#[test]
fn a_filter_that_finds_nothing_says_so() {
    let mut state = connected();
    state.session_mut().filter = "zzz".into();
    let harness = harness(state);
    harness.get_by_label("No tool matches “zzz”");
    drop(harness);
    let mut state = connected();
    state.session_mut().filter = "zzz".into();
    check_click(state, "Clear", ViewAction::SetFilter(String::new()));
}

#[test]
fn a_letter_copies_the_verdict_unless_a_field_has_the_focus() {
    let mut typing = harness(answered(Outcome::Result));
    typing.get_by_label("Filter tools").focus();
    typing.run_ok();
    press(&mut typing, Modifiers::NONE, Key::V);
    assert!(!typing.state().sent.contains(&Action::CopySummary));
    let mut harness = harness(answered(Outcome::Result));
    press(&mut harness, Modifiers::NONE, Key::V);
    assert!(harness.state().sent.contains(&Action::CopySummary));
}

#[test]
fn enter_in_the_filter_picks_the_only_match() {
    let mut state = connected();
    state.session_mut().filter = "dual_search".into();
    let matching = state
        .session()
        .tools
        .iter()
        .filter(|listed| listed.tool.name.contains("dual_search"))
        .count();
    assert_eq!(matching, 1);
    let mut harness = harness(state);
    harness.get_by_label("Filter tools").focus();
    harness.run_ok();
    press(&mut harness, Modifiers::NONE, Key::Enter);
    assert!(
        harness
            .state()
            .sent
            .contains(&CallAction::SelectTool("dual_search".into()).into())
    );
}

#[test]
fn a_slash_goes_to_the_filter_unless_a_field_has_the_focus() {
    let mut harness = harness(connected());
    harness.event(egui::Event::Text("/".into()));
    harness.run_ok();
    assert!(harness.get_by_label("Filter tools").is_focused());
    harness.event(egui::Event::Text("/".into()));
    harness.run_ok();
    assert!(
        harness
            .state()
            .sent
            .contains(&ViewAction::SetFilter("/".into()).into())
    );
}

#[test]
fn calling_is_one_click_or_one_chord() {
    let call = Action::from(CallAction::Call { send_anyway: false });
    check_click(connected(), "Call dual_search", call.clone());
    let mut harness = harness(connected());
    press(&mut harness, Modifiers::COMMAND, Key::Enter);
    assert!(harness.state().sent.contains(&call));
}

fn press(harness: &mut Harness<'_, Still>, modifiers: Modifiers, key: Key) {
    harness.event(egui::Event::Key {
        key,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers,
    });
    harness.step();
}

#[test]
fn the_call_button_has_the_focus_first() {
    let harness = harness(answered(Outcome::Result));
    assert!(harness.get_by_label("Call dual_search").is_focused());
}

#[test]
fn a_running_call_can_be_cancelled() {
    let mut state = answered(Outcome::Result);
    state.running = Some(CallInFlight {
        owner: CallOwner::Person,
        id: 1,
        session: SessionId(1),
        tool: "dual_search".into(),
        since: Duration::ZERO,
        limit: Duration::from_secs(60),
        progress: None,
        unreadable: 0,
        task: None,
    });
    check_click(state, "Cancel the call of dual_search", CallAction::Cancel);
    let mut state = answered(Outcome::Result);
    state.running = Some(CallInFlight {
        owner: CallOwner::Person,
        id: 1,
        session: SessionId(1),
        tool: "dual_search".into(),
        since: Duration::ZERO,
        limit: Duration::from_secs(60),
        progress: None,
        unreadable: 0,
        task: None,
    });
    let mut harness = harness(state);
    press(&mut harness, Modifiers::NONE, Key::Escape);
    assert!(harness.state().sent.contains(&CallAction::Cancel.into()));
}

#[test]
fn what_the_schema_refuses_can_be_sent_anyway() {
    let mut state = answered(Outcome::Result);
    let form = state.session_mut().forms.get_mut("dual_search").unwrap();
    form.members.named[2] = Value::Json("900".into());
    form.problems = vec![("/size".into(), "900 is greater than 500".into())];
    check_click(state, "Send anyway", CallAction::Call { send_anyway: true });
}

#[test]
fn fields_send_what_was_set() {
    let set = |field, value| Action::from(CallAction::SetField { field, value });
    let unanswered = || {
        let mut state = answered(Outcome::Result);
        (state.view.screen, state.view.capture) = (Screen::Answer, None);
        state
    };
    check_click(
        unanswered(),
        "active: true",
        set(1, Value::Json("true".into())),
    );
    check_click(unanswered(), "active: null", set(1, Value::Null));
    check_click(
        unanswered(),
        "format: markdown",
        set(3, Value::Json("\"markdown\"".into())),
    );
    // Beside a result the form is one click away.
    let mut beside = harness(answered(Outcome::Result));
    beside.get_by_label_contains("Arguments").click();
    beside.run_ok();
    beside.get_by_label("active: true").click();
    beside.run_ok();
    assert!(
        beside
            .state()
            .sent
            .contains(&set(1, Value::Json("true".into())))
    );
    let mut harness = harness(unanswered());
    harness
        .get_by_role_and_label(egui::accesskit::Role::TextInput, "term")
        .focus();
    harness.run_ok();
    harness.event(egui::Event::Text("n".into()));
    harness.run_ok();
    assert!(
        harness
            .state()
            .sent
            .contains(&set(0, Value::Text("n".into())))
    );
    // Null and empty are in the field's own menu.
    harness.get_by_label("Value of term").click();
    harness.run_ok();
    harness.get_by_label("Empty text").click();
    harness.run_ok();
    assert!(
        harness
            .state()
            .sent
            .contains(&set(0, Value::Text(String::new())))
    );
    // A list is edited in a popup.
    harness.get_by_label("ids: 1 item").click();
    harness.run_ok();
    harness.get_by_label("Add item to ids").click();
    harness.run_ok();
    assert!(harness.state().sent.contains(&set(
        5,
        Value::Items(vec![Value::Text("a".into()), Value::Text(String::new())])
    )));
}

#[test]
fn what_is_within_a_value_is_edited_in_its_place() {
    let schema = Bytes::from_static(
        br#"{"properties":{"lines":{"type":"array","items":{"type":"object","required":["count"],
            "properties":{"count":{"type":"integer","minimum":1},"pay":{"oneOf":[
                {"title":"Card","required":["number"],"properties":{"number":{"type":"string"}}},{"title":"Cash","type":"null"},
                {"title":"Later","required":["due"],"properties":{"due":{"type":"string","format":"date"}}}]}}}}}}"#,
    );
    let mut state = connected();
    state
        .session_mut()
        .forms
        .insert("dual_search".into(), Form::new(Some(&schema)));
    let mut harness = harness(state);
    let mut click = |label: &str, text: &str| {
        harness.get_by_label(label).click();
        harness.run_ok();
        let sent = harness.state_mut().sent.pop();
        let Some(Action::Call(CallAction::SetField { field, value })) = sent else {
            panic!("{label} sent {sent:?}")
        };
        let form = harness
            .state_mut()
            .state
            .session_mut()
            .forms
            .get_mut("dual_search")
            .unwrap();
        form.set_field(field, value);
        assert_eq!((&*form.text, label), (text, label));
        harness.run_ok();
    };
    click("Add lines", r#"{"lines":[{"count":1}]}"#);
    click(
        "Add item to lines",
        r#"{"lines":[{"count":1},{"count":1}]}"#,
    );
    click(
        "Add lines[1].pay",
        r#"{"lines":[{"count":1},{"count":1,"pay":{"number":""}}]}"#,
    );
    click(
        "Kind of lines[1].pay: Later",
        r#"{"lines":[{"count":1},{"count":1,"pay":{"due":""}}]}"#,
    );
    click(
        "Move lines[1] up",
        r#"{"lines":[{"count":1,"pay":{"due":""}},{"count":1}]}"#,
    );
    click(
        "Remove lines[1]",
        r#"{"lines":[{"count":1,"pay":{"due":""}}]}"#,
    );
    // The month of today is shown, so any day will do.
    harness
        .get_by_label("Pick a date for lines[0].pay.due")
        .click();
    harness.run_ok();
    harness.get_by_label("Next month");
}

#[test]
fn what_stands_in_a_form_is_what_is_sent() {
    let schema = Bytes::from_static(
        br#"{"properties":{"name":{"type":"string"},"pay":{"oneOf":[{"title":"Card","required":["n"],"properties":
            {"n":{"type":"string"}}},{"title":"Later","required":["due"],"properties":{"due":{"type":"string"}}}]}}}"#,
    );
    let mut state = connected();
    let mut form = Form::new(Some(&schema));
    form.set_text(r#"{"name":5,"pay":{"n":"typed"}}"#);
    state.session_mut().forms.insert("dual_search".into(), form);
    let mut harness = harness(state);
    // A text of the wrong type is no empty field.
    let field = harness.get_by_role_and_label(egui::accesskit::Role::MultilineTextInput, "name");
    assert_eq!(field.value().as_deref(), Some("5"));
    // The kind that is chosen already keeps what was typed.
    harness.get_by_label("Kind of pay: Card").click();
    harness.run_ok();
    assert_eq!(harness.state().sent, []);
}

#[test]
fn an_answer_to_other_arguments_says_so() {
    check_click(
        answered(Outcome::Result),
        "Restore arguments",
        CallAction::RestoreArguments,
    );
    let harness = harness(answered(Outcome::Result));
    harness.get_by_label("Shows the answer to term=south");
}

#[test]
fn each_end_of_a_call_has_its_own_words() {
    for (outcome, words) in [
        (Outcome::Result, "Done in 612 ms"),
        (Outcome::ToolError, "isError · 612 ms"),
        (Outcome::Timeout, "timed out · 612 ms"),
        (Outcome::Cancelled, "cancelled · 612 ms"),
        (Outcome::Malformed, "not a JSON-RPC result · 612 ms"),
        (Outcome::Disconnected, "server disconnected · 612 ms"),
        (Outcome::ProtocolError, "JSON-RPC error · 612 ms"),
    ] {
        let harness = harness(answered(outcome));
        let said = harness.query_all_by_label_contains(words).count();
        assert_eq!(said, 1, "{words}");
    }
}

#[test]
fn after_reconnecting_a_call_that_lost_its_server_is_made_again() {
    let reconnects = |state: State| harness(state).query_all_by_label("Reconnect").count();
    // Elsewhere it can always be done.
    let others = reconnects(answered(Outcome::Result));
    assert_eq!(
        reconnects(answered(Outcome::Disconnected)),
        others,
        "it is connected"
    );
    check_click(
        answered(Outcome::Disconnected),
        "Call dual_search again",
        CallAction::Call { send_anyway: false },
    );
    let mut closed = answered(Outcome::Disconnected);
    closed.session_mut().connection = Connection::None;
    assert!(
        harness(closed)
            .query_by_label("Call dual_search again")
            .is_none(),
        "it is not"
    );
}

#[test]
fn export_stands_beside_call() {
    let mut harness = harness(answered(Outcome::Result));
    for (label, action) in [
        ("Copy summary", Action::CopySummary),
        (
            "Capture folder…",
            Action::ExportAs(ExportAction::save(ExportChoice::FOLDER)),
        ),
        (
            "Raw CallToolResult…",
            Action::ExportAs(ExportAction::save(ExportChoice::RESULT)),
        ),
    ] {
        harness.get_by_label("Export").click();
        harness.run_ok();
        harness.get_by_label(label).click();
        harness.run_ok();
        assert!(harness.state().sent.contains(&action), "{label}");
    }
}

fn delete(arguments: &'static str) -> PreparedCall {
    PreparedCall {
        owner: CallOwner::Person,
        session: SessionId(1),
        tool: Arc::new(Tool::unlisted("dial_delete")),
        arguments: arguments.into(),
    }
}

#[test]
fn a_tool_that_may_change_things_is_asked_about() {
    let ask = || {
        let mut state = connected();
        state.dialog = Some(Dialog::ConfirmCall {
            call: delete(r#"{"id":123}"#),
        });
        state
    };
    check_click(ask(), "Call dial_delete", CallAction::Confirm);
    check_click(ask(), "Cancel", Action::CloseDialog);
    let mut harness = harness(ask());
    harness.get_by_label("  \"id\": 123");
    // No shortcut reaches past the question.
    press(&mut harness, Modifiers::COMMAND, Key::Enter);
    assert_eq!(harness.state().sent, []);
    press(&mut harness, Modifiers::NONE, Key::Escape);
    assert_eq!(harness.state().sent, [Action::CloseDialog]);
}

#[test]
fn enter_sends_what_is_asked_about_but_for_what_may_destroy() {
    let ask = |hints: &str| {
        let raw = format!(r#"{{"name":"dial_delete","inputSchema":{{}},"annotations":{hints}}}"#);
        let mut state = connected();
        state.dialog = Some(Dialog::ConfirmCall {
            call: PreparedCall {
                tool: Arc::new(Tool::read(raw.into())),
                ..delete("{}")
            },
        });
        let mut harness = harness(state);
        press(&mut harness, Modifiers::NONE, Key::Enter);
        harness.state().sent.clone()
    };
    assert_eq!(ask("{}"), [CallAction::Confirm.into()]);
    assert_eq!(
        ask(r#"{"destructiveHint":false}"#),
        [CallAction::Confirm.into()]
    );
    assert_eq!(ask(r#"{"destructiveHint":true}"#), [Action::CloseDialog]);
}

#[test]
fn connecting_is_consented_to_and_secrets_stay_hidden() {
    let mut state = connected();
    state.view.screen = Screen::Connect;
    state.connect_form.command = "node".into();
    state.connect_form.arguments = "server.js --port 1".into();
    state.connect_form.environment = vec![("API_KEY".into(), "s3cret".into())];
    let mut harness = harness(state);
    harness.get_by_label("$ node server.js --port 1");
    harness.get_by_label_contains("with API_KEY");
    assert_eq!(harness.query_all_by_label_contains("s3cret").count(), 0);
    harness.get_by_label("Connect").click();
    harness.run_ok();
    assert_eq!(harness.state().sent, [ConnectAction::UseForm.into()]);
    press(&mut harness, Modifiers::NONE, Key::Escape);
    assert_eq!(
        harness.state().sent.last(),
        Some(&CallAction::SelectTool("dual_search".into()).into())
    );
}

#[test]
fn a_tool_that_is_chosen_elsewhere_comes_into_sight() {
    let mut state = connected();
    state.session_mut().tools = (0..90).map(|at| tool(&format!("tool{at}"), "{}")).collect();
    let mut harness = harness(state);
    assert_eq!(
        harness.query_all_by_label_contains("tool80").count(),
        0,
        "only what is in sight is laid out"
    );
    harness.state_mut().state.session_mut().selected_tool = Some("tool80".into());
    harness.run_ok();
    harness.run_ok();
    assert!(
        harness.query_all_by_label_contains("tool80,").count()
            + harness.query_all_by_label("tool80").count()
            > 0
    );
}

#[test]
fn the_drawer_opens_by_its_key_in_a_low_window_too() {
    let mut high = sized(answered(Outcome::Result), 1280.0, 1000.0);
    press(&mut high, Modifiers::COMMAND, Key::J);
    assert_eq!(
        high.state().sent.last(),
        Some(&SettingsAction::ToggleDrawer.into())
    );

    let mut low = sized(answered(Outcome::Result), 1280.0, 660.0);
    let closed = low.query_all_by_label_contains("Baseline").count();
    press(&mut low, Modifiers::COMMAND, Key::J);
    assert!(
        !low.state()
            .sent
            .contains(&SettingsAction::ToggleDrawer.into()),
        "it is open for the settings already"
    );
    assert!(low.query_all_by_label_contains("Baseline").count() > closed);
}

#[test]
fn shortcuts_do_what_the_table_says() {
    let mut harness = harness(answered(Outcome::Result));
    for (modifiers, key, action) in [
        (
            Modifiers::COMMAND,
            Key::B,
            SettingsAction::ToggleSidebar.into(),
        ),
        (
            Modifiers::COMMAND,
            Key::Num2,
            ViewAction::FocusPane(1).into(),
        ),
        (
            Modifiers::COMMAND,
            Key::E,
            Action::ExportAs(ExportAction::save(ExportChoice::FOLDER)),
        ),
        (Modifiers::COMMAND, Key::R, ConnectAction::Reconnect.into()),
        (
            Modifiers::COMMAND,
            Key::F,
            ViewAction::SetSearch(Some(Search::default())).into(),
        ),
        (
            Modifiers::COMMAND | Modifiers::SHIFT,
            Key::S,
            ConnectAction::Connect(Box::new(Source::sample())).into(),
        ),
        (
            Modifiers::NONE,
            Key::F1,
            Action::ShowDialog(Dialog::Shortcuts),
        ),
    ] {
        press(&mut harness, modifiers, key);
        assert_eq!(harness.state().sent.last(), Some(&action));
    }
}

#[test]
fn the_palette_finds_and_does() {
    let palette = |text: &str, chosen| {
        let mut state = answered(Outcome::Result);
        state.dialog = Some(Dialog::Palette {
            text: text.into(),
            chosen,
        });
        harness(state)
    };
    let mut closed = harness(answered(Outcome::Result));
    press(&mut closed, Modifiers::COMMAND, Key::K);
    assert_eq!(
        closed.state().sent.last(),
        Some(&Action::ShowDialog(Dialog::Palette {
            text: String::new(),
            chosen: 0
        }))
    );

    // Commands come first, each with its keys; a search puts the best section first.
    let empty = palette("", 0);
    empty.get_by_label("Commands");
    empty.get_by_label_contains("Command Compare the tool's formats, Ctrl Shift Enter, 1 of ");
    let found = palette("dual_", 0);
    found.get_by_label("Tools");
    found.get_by_label_contains("Tool dual_search, Search by name. More., 1 of");

    let mut command = palette("recon", 0);
    press(&mut command, Modifiers::NONE, Key::Enter);
    assert_eq!(
        command.state().sent,
        [Action::CloseDialog, ConnectAction::Reconnect.into()]
    );

    let mut tools = palette("dual", 0);
    tools.get_by_label_contains("Tool dual_search, Search by name. More., 1 of");
    press(&mut tools, Modifiers::NONE, Key::ArrowDown);
    assert_eq!(
        tools.state().sent.last(),
        Some(&Action::ShowDialog(Dialog::Palette {
            text: "dual".into(),
            chosen: 1
        }))
    );
    tools.get_by_label_contains("Tool dual_get").click();
    tools.run_ok();
    assert_eq!(
        tools.state().sent.last(),
        Some(&CallAction::SelectTool("dual_get".into()).into())
    );

    let mut nothing = palette("no such thing", 0);
    nothing.get_by_label("Nothing is called “no such thing”");
    press(&mut nothing, Modifiers::COMMAND, Key::K);
    assert_eq!(nothing.state().sent, [Action::CloseDialog]);
}

#[test]
fn f6_goes_from_region_to_region() {
    let mut harness = harness(answered(Outcome::Result));
    let mut seen = Vec::new();
    for _ in 0..4 {
        press(&mut harness, Modifiers::NONE, Key::F6);
        harness.run_ok();
        seen.push(harness.ctx.memory(egui::Memory::focused));
    }
    seen.dedup();
    assert_eq!(seen.len(), 4, "{seen:?}");
    assert!(seen.iter().all(Option::is_some));
}

#[test]
fn shift_f10_opens_the_menu_of_a_row_and_esc_leads_back_to_it() {
    let mut harness = harness(answered(Outcome::Result));
    let row =
        |harness: &Harness<'_, Still>| harness.get_by_label_contains("Capture 1: ").is_focused();
    harness.get_by_label_contains("Capture 1: ").focus();
    harness.run_ok();
    press(&mut harness, Modifiers::SHIFT, Key::F10);
    harness.run_ok();
    // The first one needs another result.
    assert!(
        harness
            .get_by_label("Compare two formats of it")
            .is_focused()
    );
    press(&mut harness, Modifiers::NONE, Key::Escape);
    harness.run_ok();
    assert!(
        harness
            .query_by_label("Compare two formats of it")
            .is_none()
            && row(&harness)
    );
    press(&mut harness, Modifiers::SHIFT, Key::F10);
    harness.run_ok();
    press(&mut harness, Modifiers::NONE, Key::Enter);
    assert!(
        matches!(
            harness.state().sent.last(),
            Some(Action::Diff(DiffAction::Open(..)))
        ),
        "{:?}",
        harness.state().sent
    );
}

#[test]
fn tab_goes_from_one_field_to_the_next() {
    let mut state = connected();
    let schema = Bytes::from_static(
        br#"{"properties":{"first":{"type":"string"},"second":{"type":"string"}}}"#,
    );
    state
        .session_mut()
        .forms
        .insert("dual_search".into(), Form::new(Some(&schema)));
    let mut harness = harness(state);
    let field = |harness: &Harness<'_, Still>, name: &str| {
        harness
            .get_by_role_and_label(egui::accesskit::Role::TextInput, name)
            .is_focused()
    };
    harness
        .get_by_role_and_label(egui::accesskit::Role::TextInput, "first")
        .focus();
    harness.run_ok();
    assert!(field(&harness, "first"));
    press(&mut harness, Modifiers::NONE, Key::Tab);
    assert!(
        field(&harness, "second"),
        "what stands between them is passed by"
    );
}

#[test]
fn a_pane_of_what_this_answer_has_not_leads_to_its_text() {
    let mut state = answered(Outcome::Result);
    let capture = state.view.capture.clone().unwrap();
    state.perform(
        ViewAction::SetPane {
            pane: 0,
            shows: PaneView::Text("both"),
        },
        &mut Vec::new(),
    );
    let query_key = QueryKey::new(&[capture], TextQuery("both"));
    state.perform(Action::Want(vec![query_key.clone()]), &mut Vec::new());
    let answer = Err(Problem::new(
        ProblemKind::Usage,
        "no structuredContent in this answer",
    ));
    let about = QueryInput::Captures(vec![Arc::clone(&state.captures[0])]);
    state.apply(
        Event::Answered {
            about,
            query_key,
            answer,
        },
        &mut Vec::new(),
    );
    check_click(
        state,
        "Show the text",
        ViewAction::SetPane {
            pane: 0,
            shows: PaneView::Text("content"),
        },
    );
}

#[test]
fn servers_of_one_name_are_told_apart_where_they_are_offered() {
    let mut state = connected();
    let recent = |args: &[&str]| {
        let args = args.iter().map(|&arg| arg.to_owned()).collect();
        Recent::new(
            &Source::Command(Command {
                program: "python3".into(),
                args,
                ..Command::default()
            }),
            None,
        )
        .unwrap()
    };
    state.importing.recent = vec![
        recent(&["/me/server.py", "live"]),
        recent(&["/me/server.py", "test"]),
    ];
    let harness = harness(state);
    for name in [
        "Connect to server.py live, Ctrl L connects",
        "Connect to server.py test, ",
    ] {
        harness.get_by_label(name);
    }
}
