//! The window's behaviour without a window: actions in, state and effects out, against the real sample.

use std::path::PathBuf;
use std::time::Duration;

use crate::support::Driver;
use loupe_analysis::contract::ComparisonFile;
use loupe_analysis::contract::TableKind;
use loupe_analysis::fixture::export::ExportChoice;
use loupe_analysis::queries::comparison::ComparisonQuery;
use loupe_analysis::queries::{
    CountQuery, Query, QueryKey, RowQuery, ServerCostQuery, ToolTokensQuery, TreeQuery,
};
use loupe_core::capture::Outcome;
use loupe_core::host::{ReadChoice, ResultPart};
use loupe_core::problem::ProblemKind;
use loupe_core::source::{Command, Limits, Protocol, Source};
use loupe_core::token::{Count, Encoding, Tokenizer};
use mcp_loupe::state::diff::DiffAction;
use mcp_loupe::state::{
    Action, AppEffect, CallAction, CompareAction, ConnectAction, Connection, Dialog, DrawerTab,
    Effect, Event, ExportAction, HistoryAction, PaneView, PathPurpose, QueryState, Screen,
    SessionEffect, SessionId, SessionUpdate, SettingsAction, StartQuestion, State, TokensAction,
    ViewAction,
};

fn on_sample() -> Driver {
    let mut driver = Driver::new();
    driver.perform(ConnectAction::Connect(Box::new(Source::sample())));
    driver.until("the sample lists its tools", |state| {
        !state.session().tools.is_empty()
    });
    driver
}

fn shell(script: &str) -> Source {
    // Scripts that know the handshake alone.
    let protocol = Protocol::Version("2025-11-25");
    Source::Command(Command {
        program: "sh".into(),
        args: vec!["-c".into(), script.into()],
        protocol,
        ..Command::default()
    })
}

#[test]
fn starts_on_the_sample_with_the_strict_search_selected() {
    let mut driver = on_sample();
    assert_eq!(driver.state.view.screen, Screen::Start);
    assert_eq!(
        driver.state.session().selected_tool.as_deref(),
        Some("strict_search_companies")
    );
    let tokens = driver.state.about_server(ToolTokensQuery);
    inquired::<ToolTokensQuery>(&mut driver, &tokens).unwrap();
    assert!(driver.state.tools_total().unwrap() > 100);
}

#[test]
fn limits_of_the_settings_hold_from_the_next_connection_on() {
    let mut state = State::default();
    let mut effects = Vec::new();
    let table = "[limits]\nmessage = \"64MiB\"\npages = 20\nlog = true\n"
        .parse()
        .unwrap();
    state.perform(
        SettingsAction::UseSettings {
            folder: PathBuf::from("/nowhere"),
            table,
        },
        &mut effects,
    );
    let expected = Limits {
        message: 64 << 20,
        pages: 20,
        ..Limits::default()
    };
    assert!(
        effects.contains(&Effect::Session(SessionEffect::UseLimits(expected))),
        "{effects:?}"
    );
    let problem = state.toasts[0].problem.as_ref().unwrap();
    assert_eq!(problem.place, "limits.log in settings.toml");
}

#[test]
fn a_card_of_the_start_page_is_one_click() {
    let mut driver = on_sample();
    driver.perform(CallAction::Ask(StartQuestion::TextMatchesData));
    driver.until("the answer is shown", |state| state.capture().is_some());
    let capture = driver.state.capture().unwrap().clone();
    assert_eq!(
        (capture.tool.name.as_str(), capture.outcome),
        ("dual_search_companies", Outcome::Result)
    );
    driver.perform(Action::Want(vec![
        QueryKey::new(std::slice::from_ref(&capture.id), TreeQuery),
        QueryKey::new(std::slice::from_ref(&capture.id), RowQuery("json")),
    ]));
    driver.until("the questions are answered", |state| {
        state.query_results.working() == 0
    });
    let Some(QueryState::Ready(Some(tree))) =
        driver.state.query_results.get(&capture.id, TreeQuery)
    else {
        panic!("no tree");
    };
    assert!(
        tree.matched.count.missing > 0,
        "the dual sample leaves facts out of its text"
    );
    // The other card needs the sample with hostile data: it connects anew and calls by itself.
    driver.perform(CallAction::Ask(StartQuestion::HostileRecords));
    driver.until("the hostile answer is shown", |state| {
        state
            .capture()
            .is_some_and(|capture| capture.tool.name == "strict_search_companies")
    });
    assert!(
        matches!(driver.state.session().connection.source(), Some(Source::Sample(spec)) if spec.keys["data"] == "hostile")
    );
}

#[test]
fn every_card_turns_the_drawer_to_the_tab_that_answers_it() {
    for &question in StartQuestion::ALL {
        let mut driver = on_sample();
        driver.perform(ViewAction::ShowDrawer(DrawerTab::Tokens));
        driver.perform(CallAction::Ask(question));
        driver.until("it is answered", |state| {
            let calls = if question == StartQuestion::MarkdownOrJson {
                2
            } else {
                1
            };
            state.captures.len() == calls && state.running.is_none()
        });
        assert_eq!(driver.state.view.drawer, question.drawer(), "{question:?}");
        assert_eq!(driver.state.view.panes, question.panes(), "{question:?}");
        let screen = match question {
            StartQuestion::MarkdownOrJson => Screen::Compare,
            StartQuestion::HostViews => Screen::Hosts,
            StartQuestion::TextMatchesData | StartQuestion::HostileRecords => Screen::Answer,
        };
        assert_eq!(driver.state.view.screen, screen);
    }
}

#[test]
fn arguments_that_break_the_schema_are_held() {
    let mut driver = on_sample();
    driver.perform(CallAction::SetArgumentsText(r#"{"pageSize": 9999}"#.into()));
    driver.perform(CallAction::Call { send_anyway: false });
    assert!(driver.state.running.is_none());
    let form = driver.state.form().unwrap();
    let size = form
        .fields()
        .find(|(property, _)| property.name == "pageSize")
        .unwrap()
        .1;
    assert!(form.problem_at("/pageSize", size, true).is_some());
    driver.perform(CallAction::Call { send_anyway: true });
    driver.until("the refusal came", |state| state.capture().is_some());
    assert_eq!(driver.state.capture().unwrap().outcome, Outcome::ToolError);
    assert_eq!(
        driver.state.capture().unwrap().arguments,
        r#"{"pageSize": 9999}"#,
        "sent as typed"
    );
    driver.perform(CallAction::SetArgumentsText("{".into()));
    driver.perform(CallAction::Call { send_anyway: true });
    assert!(
        driver.state.running.is_none(),
        "what is no JSON object is never sent"
    );
}

#[test]
fn forms_are_remembered_and_stale_answers_told() {
    let mut driver = on_sample();
    driver.perform(CallAction::SetArgumentsText(
        r#"{"searchTerm":"north"}"#.into(),
    ));
    driver.perform(CallAction::Call { send_anyway: false });
    driver.until("the answer is shown", |state| state.capture().is_some());
    assert!(!driver.state.is_answer_stale());
    driver.perform(CallAction::SetArgumentsText(
        r#"{"searchTerm":"south"}"#.into(),
    ));
    assert!(driver.state.is_answer_stale());
    driver.perform(CallAction::SelectTool("dial_search_user".into()));
    driver.perform(CallAction::SelectTool("strict_search_companies".into()));
    assert_eq!(
        &*driver.state.form().unwrap().text,
        r#"{"searchTerm":"south"}"#
    );
    driver.perform(CallAction::RestoreArguments);
    assert!(!driver.state.is_answer_stale());
}

#[test]
fn a_capture_that_is_exported_opens_again_identically() {
    let mut driver = on_sample();
    driver.perform(CallAction::Call { send_anyway: false });
    driver.until("the answer is shown", |state| state.capture().is_some());
    let first = driver.state.capture().unwrap().clone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fixture");
    driver.perform(Action::ExportAs(ExportAction::Save {
        kind: ExportChoice::FOLDER,
        path: Some(path.clone()),
    }));
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
fn captures_of_two_runs_under_one_name_are_two() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("export");
    let called = |arguments: &str| {
        let mut driver = on_sample();
        driver.perform(CallAction::SetArgumentsText(arguments.into()));
        driver.perform(CallAction::Call { send_anyway: false });
        driver.until("the answer is shown", |state| state.capture().is_some());
        driver
    };
    let size = |driver: &mut Driver| match answered(driver, RowQuery("wire")) {
        Ok(row) => row.bytes,
        other => panic!("{other:?}"),
    };
    let mut before = called(r#"{"pageSize": 1}"#);
    let fewer = size(&mut before);
    before.perform(Action::ExportAs(ExportAction::Save {
        kind: ExportChoice::FOLDER,
        path: Some(path.clone()),
    }));
    before.until("it is saved", |state| !state.toasts.is_empty());
    drop(before);

    let mut driver = called(r#"{"pageSize": 9}"#);
    let more = size(&mut driver);
    let live = driver.state.capture().unwrap().clone();
    driver.perform(Action::OpenPath(Some(path.clone())));
    driver.until("it is open", |state| state.captures.len() == 2);
    let opened = driver.state.capture().unwrap().clone();
    assert_eq!(
        (&opened.name, &*opened.arguments),
        (&live.name, b"{\"pageSize\": 1}".as_slice())
    );
    assert_eq!(
        (size(&mut driver), fewer < more),
        (fewer, true),
        "its own numbers, not those of its namesake"
    );
    driver.perform(Action::Diff(DiffAction::OpenLast));
    assert_eq!(
        driver.state.diff.sides,
        Some((live.id.clone(), opened.id.clone()))
    );
    // The same folder again is shown, not listed twice.
    driver.perform(ViewAction::SelectCapture(live.id.clone()));
    driver.perform(Action::OpenPath(Some(path)));
    driver.until("it is shown", |state| {
        state.view.capture.as_ref() == Some(&opened.id)
    });
    assert_eq!(
        driver
            .state
            .captures
            .iter()
            .map(|capture| &capture.id)
            .collect::<Vec<_>>(),
        [&live.id, &opened.id]
    );
}

#[test]
fn a_command_that_does_not_exist_is_said_with_a_hint() {
    let mut driver = Driver::new();
    driver.perform(ConnectAction::Connect(Box::new(Source::Command(Command {
        program: "no-such-command-here".into(),
        ..Command::default()
    }))));
    driver.until("it failed", |state| {
        matches!(state.session().connection, Connection::Failed { .. })
    });
    let Connection::Failed { problem, .. } = &driver.state.session().connection else {
        unreachable!()
    };
    assert_eq!(problem.kind, ProblemKind::Spawn);
    assert!(problem.hint.is_some());
    assert_eq!(driver.state.view.screen, Screen::Connect);
}

#[test]
fn a_tool_not_declared_read_only_asks_first_and_a_dying_server_is_shown() {
    let script = r#"read a; echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"dying","version":"1"}}}' | sed "s/\"id\":0/$(printf '%s' "$a" | grep -o '"id":[^,}]*' | head -n 1)/"
read b; read c; echo '{"jsonrpc":"2.0","id":0,"result":{"tools":[{"name":"boom","inputSchema":{"type":"object"}}]}}' | sed "s/\"id\":0/$(printf '%s' "$c" | grep -o '"id":[^,}]*' | head -n 1)/"
read d; echo 'last words' >&2; exit 3"#;
    let mut driver = Driver::new();
    driver.perform(ConnectAction::Connect(Box::new(shell(script))));
    driver.until("it is connected", |state| !state.session().tools.is_empty());
    driver.perform(CallAction::Call { send_anyway: false });
    assert!(matches!(
        driver.state.dialog,
        Some(Dialog::ConfirmCall { .. })
    ));
    driver.perform(CallAction::Confirm);
    driver.until("the server is gone", |state| {
        matches!(state.session().connection, Connection::Disconnected { .. })
            && state.running.is_none()
    });
    assert_eq!(
        driver.state.capture().unwrap().outcome,
        Outcome::Disconnected
    );
    assert!(
        driver
            .state
            .session()
            .connection
            .stderr()
            .iter()
            .any(|line| line.contains("last words"))
    );
}

#[test]
fn events_of_an_ended_session_change_nothing() {
    let mut state = State::default();
    let mut effects = Vec::new();
    state.perform(
        ConnectAction::Connect(Box::new(Source::sample())),
        &mut effects,
    );
    state.perform(ConnectAction::Cancel, &mut effects);
    assert!(matches!(
        effects[..],
        [
            Effect::Session(SessionEffect::Connect {
                session: SessionId(1),
                ..
            }),
            Effect::Session(SessionEffect::Disconnect {
                session: SessionId(1)
            })
        ]
    ));
    state.apply(
        Event::Session {
            session: SessionId(1),
            update: SessionUpdate::Phase("late".into()),
        },
        &mut effects,
    );
    state.apply(
        Event::Session {
            session: SessionId(1),
            update: SessionUpdate::Tools {
                tools: Vec::new(),
                note: None,
            },
        },
        &mut effects,
    );
    assert_eq!(state.session().connection, Connection::None);
    assert_eq!(effects.len(), 2);
}

#[test]
fn peeking_shows_a_format_and_lets_it_go_again() {
    let mut state = State::default();
    let mut effects = Vec::new();
    state.perform(ViewAction::Peek(Some("toon")), &mut effects);
    assert_eq!(state.view.shows(1), PaneView::Text("toon"));
    state.perform(ViewAction::Peek(None), &mut effects);
    assert_eq!(state.view.shows(1), PaneView::Text("content"));
    state.perform(ViewAction::Peek(Some("toon")), &mut effects);
    state.perform(ViewAction::KeepPeek, &mut effects);
    assert_eq!(state.view.panes[1], PaneView::Text("toon"));
}

#[test]
fn only_web_links_are_offered_and_only_after_a_look() {
    let mut state = State::default();
    let mut effects = Vec::new();
    for url in [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "data:text/html,x",
    ] {
        state.perform(Action::OpenLink(url.into()), &mut effects);
        assert!(state.dialog.is_none(), "{url}");
    }
    for url in [
        "https://example.com/",
        "HTTPS://example.com/",
        "Http://example.com/",
    ] {
        state.perform(Action::OpenLink(url.into()), &mut effects);
        assert!(effects.is_empty());
        state.perform(Action::ConfirmLink, &mut effects);
        assert_eq!(
            std::mem::take(&mut effects),
            [Effect::App(AppEffect::OpenUrl(url.into()))]
        );
    }
}

#[test]
fn messages_go_by_themselves_and_errors_stay() {
    let mut state = State::default();
    let mut effects = Vec::new();
    state.perform(Action::Copy("x".into()), &mut effects);
    state.perform(ConnectAction::UseForm, &mut effects);
    assert_eq!(state.toasts.len(), 2);
    state.tick(Duration::from_secs(5));
    assert_eq!(state.toasts.len(), 1);
    assert!(state.toasts[0].problem.is_some());
}

fn answered<Q: Query>(
    driver: &mut Driver,
    query: Q,
) -> Result<Q::Out, loupe_core::problem::Problem> {
    let id = driver.state.view.capture.clone().unwrap();
    inquired::<Q>(driver, &QueryKey::new(&[id], query))
}

fn inquired<Q: Query>(
    driver: &mut Driver,
    query_key: &QueryKey,
) -> Result<Q::Out, loupe_core::problem::Problem> {
    driver.perform(Action::Want(vec![query_key.clone()]));
    driver.until("the answer is there", |state| {
        matches!(
            state.query_results.query_state::<Q>(query_key),
            Some(QueryState::Ready(_) | QueryState::Failed(_))
        )
    });
    match driver.state.query_results.query_state::<Q>(query_key) {
        Some(QueryState::Ready(answer)) => Ok(answer.clone()),
        Some(QueryState::Failed(problem)) => Err(problem.clone()),
        _ => panic!("neither answered nor failed"),
    }
}

#[test]
fn a_tokenizer_file_counts_and_a_bad_one_is_said() {
    let mut driver = on_sample();
    driver.perform(CallAction::Ask(StartQuestion::TextMatchesData));
    driver.until("the answer is shown", |state| state.capture().is_some());
    let data = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("crates/loupe-core/tests/data/token");
    driver.perform(Action::Tokens(TokensAction::OpenFile(Some(
        data.join("no-such.json"),
    ))));
    driver.until("the problem is said", |state| {
        state.toasts.iter().any(|toast| toast.problem.is_some())
    });
    assert_eq!(driver.state.settings.tokenizer, Tokenizer::default());
    driver.perform(Action::Tokens(TokensAction::OpenFile(Some(
        data.join("tokenizer.json"),
    ))));
    driver.until("the file is used", |state| {
        state.settings.tokenizer.file().is_some()
    });
    let tokenizer = driver.state.settings.tokenizer.clone();
    assert_eq!(tokenizer.name(), "tokenizer.json");
    // What this small vocabulary has no token for is said, never counted as nothing.
    let asked = answered(
        &mut driver,
        CountQuery {
            format: "json",
            tokenizer,
        },
    );
    assert!(matches!(asked, Ok(Count::Exact(1..)) | Err(_)), "{asked:?}");
}

#[test]
fn the_whole_server_is_counted_by_part_in_the_encoding_chosen() {
    let mut driver = on_sample();
    let tokens = driver.state.about_server(ToolTokensQuery);
    inquired::<ToolTokensQuery>(&mut driver, &tokens).unwrap();
    driver.perform(Action::Tokens(TokensAction::ShowServer));
    let first = driver
        .state
        .about_server(ServerCostQuery(driver.state.settings.encoding()));
    let cost = inquired::<ServerCostQuery>(&mut driver, &first).unwrap();
    assert_eq!(Some(cost.definitions()), driver.state.tools_total());
    driver.perform(Action::Tokens(TokensAction::Use(
        Tokenizer::named("cl100k_base").unwrap(),
    )));
    let second = driver
        .state
        .about_server(ServerCostQuery(driver.state.settings.encoding()));
    assert_ne!(first, second, "they are counted anew");
    let cost = inquired::<ServerCostQuery>(&mut driver, &second).unwrap();
    assert_eq!(Some(cost.definitions()), driver.state.tools_total());
    driver.perform(ViewAction::ShowAnswer);
    assert_eq!(driver.state.view.screen, Screen::Start);
}

#[test]
fn a_price_table_of_ones_own_adds_models_and_a_broken_one_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let mut driver = on_sample();
    let model = "[[model]]\nname = \"Mine\"\ntokenizer = \"cl100k_base\"\ninput = 1.0\ncontext = 1000\nsource = \"me\"\nread = \"2026-01-01\"\n";
    std::fs::write(folder.path().join("prices.toml"), model).unwrap();
    driver.perform(SettingsAction::UseFolder(folder.path().to_owned()));
    assert_eq!(
        driver.state.prices.file.as_deref(),
        Some(&*folder.path().join("prices.toml"))
    );
    driver.until("the table is read", |state| {
        state.prices.prices.get("Mine").is_some()
    });
    driver.perform(Action::Tokens(TokensAction::Model(Some("Mine".into()))));
    assert_eq!(driver.state.model().map(|model| model.context), Some(1_000));
    std::fs::write(folder.path().join("prices.toml"), "[[model]]\nname = 7\n").unwrap();
    driver.perform(SettingsAction::UseFolder(folder.path().to_owned()));
    driver.until("the problem is said", |state| {
        state.prices.problem.is_some()
    });
    assert!(
        driver.state.prices.prices.get("Mine").is_some(),
        "what was read stays"
    );
}

#[test]
fn reconnecting_calls_again_and_compares_with_before() {
    let mut driver = on_sample();
    driver.perform(CallAction::SetArgumentsText(
        r#"{"searchTerm":"north"}"#.into(),
    ));
    driver.perform(CallAction::Call { send_anyway: false });
    driver.until("the answer is shown", |state| state.capture().is_some());
    let before = driver.state.capture().unwrap().clone();
    // What is typed meanwhile is neither sent nor lost.
    driver.perform(CallAction::SetArgumentsText(
        r#"{"searchTerm":"south"}"#.into(),
    ));
    driver.perform(ConnectAction::Reconnect);
    driver.until("it is called again", |state| {
        state.session().reconnect.pair.is_some()
    });
    let now = driver.state.capture().unwrap().clone();
    assert_eq!(
        driver.state.session().reconnect.pair,
        Some((now.id.clone(), before.id.clone()))
    );
    assert_eq!(
        (&now.arguments, &now.response),
        (&before.arguments, &before.response)
    );
    assert_eq!(
        &*driver.state.form().unwrap().text,
        r#"{"searchTerm":"south"}"#
    );
    // The same server lists the same tools: nothing is said of them.
    assert_eq!(driver.state.again_tools(), None);
    // With the diff open it stays open, about the newest answer.
    driver.perform(Action::Diff(DiffAction::Open(
        before.id.clone(),
        now.id.clone(),
    )));
    driver.perform(ConnectAction::Reconnect);
    driver.until("it is called a third time", |state| {
        state.captures.len() == 3 && state.running.is_none()
    });
    assert_eq!(driver.state.view.screen, Screen::Diff);
    assert_eq!(
        driver.state.diff.sides.as_ref().map(|(a, _)| a),
        Some(&now.id)
    );
}

#[test]
fn tools_that_changed_are_told_after_reconnecting() {
    let mut state = State::default();
    let mut effects = Vec::new();
    let tool = |text: &str| {
        loupe_core::capture::Tool::read(bytes::Bytes::copy_from_slice(text.as_bytes()))
    };
    state.perform(
        ConnectAction::Connect(Box::new(Source::sample())),
        &mut effects,
    );
    let old = vec![tool(r#"{"name":"a","inputSchema":{}}"#)];
    let new = vec![tool(r#"{"name":"b","inputSchema":{}}"#)];
    state.apply(
        Event::Session {
            session: SessionId(1),
            update: SessionUpdate::Tools {
                tools: old,
                note: None,
            },
        },
        &mut effects,
    );
    state.perform(ConnectAction::Reconnect, &mut effects);
    effects.clear();
    state.apply(
        Event::Session {
            session: SessionId(2),
            update: SessionUpdate::Tools {
                tools: new.clone(),
                note: None,
            },
        },
        &mut effects,
    );
    assert!(state.again_tools().is_some());
    // Another server is another matter.
    state.perform(
        ConnectAction::Connect(Box::new(shell("true"))),
        &mut effects,
    );
    effects.clear();
    state.apply(
        Event::Session {
            session: SessionId(3),
            update: SessionUpdate::Tools {
                tools: new,
                note: None,
            },
        },
        &mut effects,
    );
    assert_eq!(state.again_tools(), None);
}

#[test]
fn of_two_lists_the_one_asked_for_last_stays() {
    let script = r#"
        n=0
        tools() { printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"%s","inputSchema":{"type":"object"}}]}}\n' "$1" "$2"; }
        changed() { printf '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n'; }
        while read -r line; do
            id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
            case "$line" in
                *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"s","version":"1"}}}\n' "$id";;
                *tools/list*)
                    n=$((n+1))
                    case $n in
                        1) tools "$id" first; changed;;
                        2) changed; (sleep 1; tools "$id" slow) & ;;
                        *) tools "$id" last;;
                    esac;;
            esac
        done
    "#;
    let mut driver = Driver::new();
    driver.perform(ConnectAction::Connect(Box::new(shell(script))));
    let seen = std::cell::RefCell::new(Vec::new());
    driver.until("the last list is there", |state| {
        let name = state
            .session()
            .tools
            .first()
            .map(|listed| listed.tool.name.clone())
            .unwrap_or_default();
        if !name.is_empty() && seen.borrow().last() != Some(&name) {
            seen.borrow_mut().push(name);
        }
        seen.borrow().last().is_some_and(|name| name == "last")
    });
    assert_eq!(seen.into_inner(), ["first", "slow", "last"]);
}

#[test]
fn a_call_is_repeated_one_at_a_time_and_can_be_stopped() {
    let mut driver = on_sample();
    let equal = |count| Action::Compare(CompareAction::StartEqual(count));
    let compare = |state: &State| state.comparisons.current.clone().unwrap();
    driver.perform(equal(3));
    driver.until("all calls are made", |state| state.running.is_none());
    assert_eq!(
        (
            compare(&driver.state).values.len(),
            driver.state.captures.len()
        ),
        (3, 3)
    );
    let (captures, ask) = compare(&driver.state).query(Encoding::O200kBase).unwrap();
    let page = inquired::<ComparisonQuery>(&mut driver, &QueryKey::new(&captures, ask)).unwrap();
    assert_eq!(
        (
            page.comparison.columns.len(),
            page.comparison.different.len()
        ),
        (3, 0),
        "the sample says the same each time"
    );
    let said = driver
        .state
        .comparison_summary_text(&compare(&driver.state), &page.comparison)
        .text();
    assert!(
        said.starts_with("All 3 answers are the same, byte for byte. Tokens (o200k_base): "),
        "{said}"
    );
    driver.perform(equal(50));
    driver.perform(CallAction::Cancel);
    driver.until("it has stopped", |state| {
        !compare(state).series.is_running()
    });
    let series = compare(&driver.state).series;
    assert!(
        series.stopped.as_deref() == Some("cancelled")
            && series.captures.iter().flatten().count() < 50
    );
    assert_eq!(driver.state.view.screen, Screen::Compare);
}

#[test]
fn repeating_asks_first_where_a_tool_may_write() {
    let mut state = State::default();
    let mut effects = Vec::new();
    state.perform(
        ConnectAction::Connect(Box::new(shell("true"))),
        &mut effects,
    );
    state.apply(
        Event::Session {
            session: SessionId(1),
            update: SessionUpdate::Connected(loupe_core::capture::Server::default()),
        },
        &mut effects,
    );
    let tool = loupe_core::capture::Tool::read(bytes::Bytes::from_static(
        br#"{"name":"write","inputSchema":{"type":"object"}}"#,
    ));
    state.apply(
        Event::Session {
            session: SessionId(1),
            update: SessionUpdate::Tools {
                tools: vec![tool],
                note: None,
            },
        },
        &mut effects,
    );
    effects.clear();
    state.perform(Action::Compare(CompareAction::StartEqual(5)), &mut effects);
    assert!(
        matches!(&state.dialog, Some(Dialog::ConfirmCompare { calls, .. }) if calls.len() == 5)
            && effects.is_empty()
    );
    state.perform(CallAction::Confirm, &mut effects);
    assert!(
        matches!(effects[..], [Effect::Session(SessionEffect::Call { .. })])
            && state.running.is_some()
    );
}

#[test]
fn two_answers_are_compared_and_the_difference_copied() {
    let mut driver = on_sample();
    for term in ["north", "south"] {
        driver.perform(CallAction::SetArgumentsText(format!(
            r#"{{"searchTerm":"{term}"}}"#
        )));
        driver.perform(CallAction::Call { send_anyway: false });
        driver.until("the answer is shown", |state| state.running.is_none());
    }
    driver.perform(Action::Diff(DiffAction::OpenLast));
    assert_eq!(driver.state.view.screen, Screen::Diff);
    driver.perform(Action::Want(
        driver.state.diff.query_key().into_iter().collect(),
    ));
    driver.until("they are compared", |state| state.diff_view().is_some());
    assert!(!driver.state.diff_view().unwrap().is_equal());
    driver.perform(Action::Diff(DiffAction::Copy));
    assert!(
        matches!(&driver.app_effects[..], [Effect::App(AppEffect::CopyText(text))] if text.contains("@@ ") && text.contains("\n-"))
    );
    driver.perform(ViewAction::ShowAnswer);
    assert_eq!(driver.state.view.screen, Screen::Answer);
}

#[test]
fn a_card_compares_markdown_with_json() {
    let mut driver = on_sample();
    driver.perform(CallAction::Ask(StartQuestion::MarkdownOrJson));
    let progress = driver
        .state
        .comparisons
        .current
        .as_ref()
        .unwrap()
        .progress();
    assert_eq!(
        progress.as_deref(),
        Some("response_format=json, call 1 of 2")
    );
    driver.until("both calls are made", |state| {
        state
            .comparisons
            .current
            .as_ref()
            .is_some_and(|compare| compare.not_made().is_empty())
    });
    assert_eq!(
        (driver.state.view.screen, driver.state.captures.len()),
        (Screen::Compare, 2)
    );
    assert!(driver.state.running.is_none());
    let (captures, ask) = driver
        .state
        .comparisons
        .current
        .as_ref()
        .unwrap()
        .query(Encoding::O200kBase)
        .unwrap();
    assert_eq!(captures.len(), 2);
    let page = inquired::<ComparisonQuery>(&mut driver, &QueryKey::new(&captures, ask)).unwrap();
    let titles: Vec<_> = page
        .comparison
        .columns
        .iter()
        .map(|column| column.title.as_str())
        .collect();
    assert_eq!(
        titles,
        [
            "json text",
            "markdown text",
            "JSON, compact",
            "Markdown table"
        ]
    );
    // The way back leads to an answer, and nothing is called twice.
    driver.perform(ViewAction::ShowAnswer);
    assert_eq!(driver.state.view.screen, Screen::Answer);
    let choice = driver.state.format_choice().unwrap();
    assert_eq!(driver.state.made_of(&choice), 2);
    driver.perform(compare(&choice.name, &choice.values));
    assert!(driver.state.running.is_none() && driver.state.view.screen == Screen::Compare);
    driver.perform(Action::Compare(CompareAction::Again));
    assert!(
        driver.state.running.is_some(),
        "run again makes every call anew"
    );
    driver.until("both calls are made anew", |state| {
        state.captures.len() == 4 && state.running.is_none()
    });
}

#[test]
fn a_comparison_is_looked_at_by_part_folded_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut driver = on_sample();
    driver.perform(CallAction::Ask(StartQuestion::MarkdownOrJson));
    driver.until("both calls are made", |state| {
        state.captures.len() == 2 && state.running.is_none()
    });
    for action in [
        CompareAction::Go(1),
        CompareAction::SetReads(ReadChoice::Part(ResultPart::Text)),
        CompareAction::Fold("data[0]".into()),
    ] {
        driver.perform(Action::Compare(action));
    }
    let compare = driver.state.comparisons.current.as_ref().unwrap();
    assert_eq!(
        (compare.at, compare.folded.contains("data[0]")),
        (None, true)
    );
    driver.perform(Action::Compare(CompareAction::Fold("data[0]".into())));
    let folded = &driver.state.comparisons.current.as_ref().unwrap().folded;
    assert_eq!(
        folded.iter().map(String::as_str).collect::<Vec<_>>(),
        ["Preamble"],
        "it is folded from the start"
    );
    let file = ComparisonFile::Table(TableKind::Csv);
    driver.perform(Action::Compare(CompareAction::Save { file, path: None }));
    let Some(Dialog::Path { text, .. }) = &driver.state.dialog else {
        panic!("nobody was asked where")
    };
    assert_eq!(text, "strict_search_companies-response_format.csv");
    let path = folder.path().join("comparison.csv");
    driver.perform(Action::Compare(CompareAction::Save {
        file,
        path: Some(path.clone()),
    }));
    assert_eq!(driver.state.dialog, None);
    driver.until("it is written", |_| path.exists());
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(
        text.contains("\nmarkdown text,markdown,false,result,content,"),
        "{text}"
    );
}

fn compare(vary: &str, values: &[String]) -> Action {
    Action::Compare(CompareAction::Start {
        vary: vary.into(),
        written: format!("[{}]", values.join(",")),
    })
}

#[test]
fn what_was_called_already_is_not_called_again() {
    let mut driver = on_sample();
    driver.perform(CallAction::Call { send_anyway: false });
    driver.until("the answer is shown", |state| state.capture().is_some());
    let choice = driver.state.format_choice().unwrap();
    // Nothing was said about the format: its default is in the schema.
    assert_eq!(
        choice.label(driver.state.made_of(&choice)),
        "Compare json / markdown · 1 more call"
    );
    driver.perform(compare(&choice.name, &choice.values));
    driver.until("the other call is made", |state| {
        state.captures.len() == 2 && state.running.is_none()
    });
    driver.perform(CallAction::SetArgumentsText(
        r#"{"searchTerm":"north"}"#.into(),
    ));
    assert_eq!(
        driver.state.made_of(&choice),
        0,
        "another question has other answers"
    );
}

#[test]
fn values_the_schema_refuses_are_said_before_anything_is_called() {
    let mut driver = on_sample();
    driver.perform(Action::Compare(CompareAction::Start {
        vary: "response_format".into(),
        written: "json,xml".into(),
    }));
    assert!(driver.state.running.is_none() && driver.state.comparisons.current.is_none());
    let problem = driver.state.toasts[0].problem.clone().unwrap();
    assert!(
        problem
            .what
            .starts_with("with response_format=xml the arguments do not fit the schema: "),
        "{}",
        problem.what
    );
    driver.perform(Action::Compare(CompareAction::Start {
        vary: "pageSize".into(),
        written: "5, 50".into(),
    }));
    driver.until("both are there", |state| {
        state.captures.len() == 2 && state.running.is_none()
    });
}

/// Lists one tool with an argument `format` and answers calls as told: with its arguments, `die`, or not at all.
fn formats(annotations: &str) -> Source {
    let tool = r#"{"name":"get","inputSchema":{"type":"object","properties":{"format":{"enum":["a","b","c"]}}},"annotations":ANNOTATIONS}"#
        .replace("ANNOTATIONS", annotations);
    shell(&format!(
        r#"id() {{ printf '%s' "$1" | grep -o '"id":[^,}}]*' | head -n 1; }}
while read -r line; do case "$line" in
*'server/discover'*) echo '{{"jsonrpc":"2.0",'"$(id "$line")"',"error":{{"code":-32601,"message":"Method not found"}}}}' ;;
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
    driver.perform(ConnectAction::Connect(Box::new(formats(
        r#"{"readOnlyHint":true}"#,
    ))));
    driver.until("it lists its tool", |state| {
        !state.session().tools.is_empty()
    });
    let choice = driver.state.format_choice().unwrap();
    driver.perform(compare(&choice.name, &choice.values));
    driver.until("the third call hangs", |state| {
        state.captures.len() == 2 && state.running.is_some()
    });
    driver.perform(CallAction::Cancel);
    driver.until("it is cancelled", |state| state.running.is_none());
    let outcomes: Vec<_> = driver
        .state
        .captures
        .iter()
        .map(|capture| capture.outcome)
        .collect();
    assert_eq!(
        outcomes,
        [Outcome::Result, Outcome::ProtocolError, Outcome::Cancelled]
    );
    let (captures, ask) = driver
        .state
        .comparisons
        .current
        .as_ref()
        .unwrap()
        .query(Encoding::O200kBase)
        .unwrap();
    let page = inquired::<ComparisonQuery>(&mut driver, &QueryKey::new(&captures, ask)).unwrap();
    let whys: Vec<_> = page
        .comparison
        .columns
        .iter()
        .map(|column| column.why.is_some())
        .collect();
    assert_eq!(whys, [false, true, true]);
}

#[test]
fn a_tool_not_declared_read_only_is_asked_about_with_every_call() {
    let mut driver = Driver::new();
    driver.perform(ConnectAction::Connect(Box::new(formats("{}"))));
    driver.until("it lists its tool", |state| {
        !state.session().tools.is_empty()
    });
    driver.perform(compare("format", &["\"a\"".into(), "\"b\"".into()]));
    let Some(Dialog::ConfirmCompare { compare, calls }) = &driver.state.dialog else {
        panic!("nobody was asked")
    };
    assert_eq!(
        (compare.tool.name.as_str(), calls.as_slice()),
        (
            "get",
            [r#"{"format":"a"}"#, r#"{"format":"b"}"#]
                .map(String::from)
                .as_slice()
        )
    );
    assert!(driver.state.running.is_none() && driver.state.captures.is_empty());
    driver.perform(CallAction::Confirm);
    driver.until("both calls are made", |state| {
        state.captures.len() == 2 && state.running.is_none()
    });
}

#[test]
fn calls_are_there_again_in_the_next_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut driver = on_sample();
    driver.perform(Action::History(HistoryAction::Use(
        folder.path().to_owned(),
    )));
    driver.perform(CallAction::Call { send_anyway: false });
    driver.until("the call is kept", |state| state.history.entries.len() == 1);
    let first = driver.state.capture().unwrap().clone();
    assert!(
        driver.state.history.earlier().is_empty(),
        "a call of this run stands in its own list"
    );
    drop(driver);

    let mut next = on_sample();
    next.perform(Action::History(HistoryAction::Use(
        folder.path().to_owned(),
    )));
    next.until("the history is listed", |state| {
        state.history.earlier().len() == 1
    });
    next.perform(Action::History(HistoryAction::Search(
        "text:\"no such words\"".into(),
    )));
    next.until("the answers are searched", |state| {
        !state.history.is_searching()
    });
    assert!(next.state.history.earlier().is_empty());
    next.perform(Action::History(HistoryAction::Search(
        first.tool.name.clone(),
    )));
    next.until("the answers are searched", |state| {
        !state.history.is_searching()
    });
    let id = next.state.history.earlier()[0].id.clone();
    next.perform(Action::History(HistoryAction::Again(id.clone())));
    next.until("it is shown", |state| state.capture().is_some());
    let again = next.state.capture().unwrap().clone();
    assert_eq!(
        (&again.name, &again.response, &again.arguments),
        (&id.0, &first.response, &first.arguments)
    );
    next.perform(Action::History(HistoryAction::Open(id.clone())));
    assert_eq!(next.state.captures.len(), 1, "it is open already");
    assert_eq!(next.state.form().unwrap().text.as_bytes(), first.arguments);
    next.perform(Action::History(HistoryAction::Remove(id.clone())));
    next.until("it is removed", |state| state.history.entries.is_empty());
    next.perform(Action::Undo);
    next.until("it is back", |state| state.history.entries.len() == 1);
    let captures = || {
        std::fs::read_dir(folder.path().join("history/captures"))
            .unwrap()
            .count()
    };
    next.perform(Action::History(HistoryAction::Remove(id.clone())));
    next.until("it is removed again", |state| {
        state.history.entries.is_empty()
    });
    assert_eq!(captures(), 1, "until the window is closed");
    drop(next);
    assert_eq!(captures(), 0);
}

#[test]
fn the_same_call_is_compared_in_the_other_era() {
    let mut driver = on_sample();
    driver.perform(CallAction::SelectTool("dual_search_companies".into()));
    driver.perform(CallAction::Call { send_anyway: false });
    driver.until("the answer is shown", |state| {
        state.running.is_none() && state.capture().is_some()
    });
    let before = driver.state.capture().unwrap().id.clone();
    driver.perform(ConnectAction::ReconnectIn(Protocol::Version("2026-07-28")));
    driver.until("both answers are compared", |state| {
        state.view.screen == Screen::Diff
    });
    let (a, b) = driver.state.diff.sides.clone().unwrap();
    let version = |id| {
        driver
            .state
            .capture_of(id)
            .unwrap()
            .server
            .protocol_version
            .clone()
    };
    assert_eq!(
        (a == before, version(&a).as_str(), version(&b).as_str()),
        (true, "2025-11-25", "2026-07-28")
    );
    let [first, second] = [&a, &b].map(|id| driver.state.capture_of(id).unwrap().arguments.clone());
    assert_eq!(first, second);
}

#[test]
fn a_path_that_leads_nowhere_is_said_where_it_was_typed() {
    let mut driver = on_sample();
    let text = "/no/such/capture.json".to_owned();
    driver.perform(Action::TakePath {
        purpose: PathPurpose::OpenCapture,
        text: text.clone(),
    });
    driver.until("the problem", |state| state.path_problem.is_some());
    assert_eq!(
        driver.state.dialog,
        Some(Dialog::Path {
            purpose: PathPurpose::OpenCapture,
            text
        })
    );
    assert!(driver.state.toasts.is_empty(), "said once");
    // Typing again, or another dialog, lets it go.
    driver.perform(Action::ShowDialog(Dialog::Shortcuts));
    assert_eq!(driver.state.path_problem, None);
}
