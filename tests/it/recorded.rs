//! *Live*: recorded sessions in the window, followed while they are written.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use egui_kittest::kittest::Queryable;
use mcp_loupe::state::{
    HistoryAction, LiveAction, PaneView, Screen, TranscriptPlace, TranscriptState,
};
use serde_json::json;

use crate::live::{Window, open_sized, until};

fn line(at: u64, dir: &str, message: &serde_json::Value) -> String {
    json!({"atMs": at, "dir": dir, "text": message.to_string()}).to_string() + "\n"
}

fn session(data: &Path, id: &str, client: &str) {
    let folder = data.join("sessions").join(id);
    fs::create_dir_all(&folder).unwrap();
    // It runs as long as this test does.
    let start = json!({"schema": "loupe.session/1", "name": "books", "source": "-- books",
        "started": "2026-11-29T10:00:00Z", "pid": std::process::id()});
    fs::write(folder.join("session.json"), start.to_string()).unwrap();
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    let lines = [
        line(
            0,
            "out",
            &json!({"jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": {"clientInfo": {"name": client, "version": "1"}}}),
        ),
        line(
            1,
            "in",
            &json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-11-25",
            "serverInfo": {"name": "books", "version": "3"}}}),
        ),
        line(
            2,
            "out",
            &json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
        ),
        line(
            3,
            "in",
            &json!({"jsonrpc": "2.0", "id": 2, "result": {"tools": [tool("find"), tool("remove")]}}),
        ),
    ];
    fs::write(folder.join("messages.jsonl"), lines.concat()).unwrap();
}

fn add(data: &Path, id: &str, text: &str) {
    let path = data.join("sessions").join(id).join("messages.jsonl");
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn call(id: u64, city: &str) -> String {
    let answer = json!([{"name": "Ann", "city": city}, {"name": "Bo", "city": city}]);
    [
        line(
            id * 100,
            "out",
            &json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "find", "arguments": {"city": city}}}),
        ),
        line(
            id * 100 + 7,
            "in",
            &json!({"jsonrpc": "2.0", "id": id,
            "result": {"content": [{"type": "text", "text": answer.to_string()}]}}),
        ),
    ]
    .concat()
}

#[test]
fn a_session_is_followed_while_it_runs() {
    let data = tempfile::tempdir().unwrap();
    session(data.path(), "20261129-100000-books-aaaaaa", "claude-code");
    let id = "20261129-110000-books-bbbbbb";
    session(data.path(), id, "claude-code");
    add(data.path(), id, &call(3, "Bonn"));
    let mut window = open_sized(None, [1_600.0, 1_000.0]);
    let ctx = window.ctx.clone();
    window.state_mut().perform(
        &ctx,
        vec![HistoryAction::Use(data.path().to_owned()).into()],
    );
    window.run_steps(2);
    window.get_by_label("Mode: Live").click();
    let counted = |calls: usize| {
        move |window: &Window| {
            let open = window.state().state.live.session.as_ref();
            open.is_some_and(|open| open.counted == calls && open.calls.len() == calls)
        }
    };
    // The newest is opened by itself.
    until(&mut window, "the first call is counted", counted(1));
    let live = |window: &Window| window.state().state.live.session.clone().unwrap();
    let open = live(&window);
    assert_eq!((&*open.info.id, open.host_name()), (id, "Claude Code"));
    assert!(open.info.is_running);
    assert_eq!(open.read.server.heading(), "books 3");
    assert_eq!(
        open.bill.as_ref().unwrap().never_called[0].tool.name,
        "remove"
    );

    // A call that is not answered yet, then its answer.
    let whole = call(4, "Rome");
    let (asked, answered) = whole.split_at(whole.find('\n').unwrap() + 1);
    add(data.path(), id, asked);
    until(&mut window, "a call is open", |window| {
        live(window).read.open_calls == 1
    });
    add(data.path(), id, answered);
    until(&mut window, "the second call is counted", counted(2));

    // A click shows it as the host's model gets it.
    let row = |window: &Window| {
        let mut rows = window.query_all_by(|node| {
            let label = node.label().unwrap_or_default();
            label.contains("find") && label.contains("Rome")
        });
        rows.next().is_some()
    };
    until(&mut window, "the row is there", row);
    window
        .state_mut()
        .perform(&ctx, vec![LiveAction::Select(1).into()]);
    until(&mut window, "the pane has the text", |window| {
        let state = &window.state().state;
        state.query_results.working() == 0 && state.capture().is_some()
    });
    let state = &window.state().state;
    assert!(matches!(state.view.panes[0], PaneView::Host(_)));
    assert_eq!(state.view.screen, Screen::Live);
    assert!(
        state.captures.is_empty(),
        "nothing is listed that was not taken over"
    );

    // Words are found in results, also of calls that come later.
    window
        .state_mut()
        .perform(&ctx, vec![LiveAction::SetFilter("bONN".into()).into()]);
    until(&mut window, "one call holds the word", |window| {
        live(window).shown_calls() == 1
    });
    add(data.path(), id, &call(5, "Bonn"));
    until(&mut window, "two calls hold it", |window| {
        live(window).shown_calls() == 2
    });

    // It ends, with a call that is never answered.
    add(data.path(), id, &call(6, "Oslo")[..asked.len()]);
    add(data.path(), id, "{\"atMs\":900.0,\"ended\":0}\n");
    until(&mut window, "the end is seen", |window| {
        let open = live(window);
        open.info.ended == Some(0) && open.calls.len() == 4 && open.counted == 4
    });
    assert_eq!(live(&window).bill.unwrap().failed, 1);

    window.get_by_label("Open in Inspect").click();
    until(&mut window, "it is among the captures", |window| {
        window.state().state.captures.len() == 1
    });
    let state = &window.state().state;
    assert_eq!(state.view.screen, Screen::Answer);
    assert_eq!(state.view.panes, PaneView::FIRST);
}

#[test]
fn the_screen_gives_back_what_was_shown() {
    let data = tempfile::tempdir().unwrap();
    let mut window = open_sized(None, [1_600.0, 1_000.0]);
    let ctx = window.ctx.clone();
    let perform = |window: &mut Window, action| {
        window.state_mut().perform(&ctx, vec![action]);
        window.run_steps(2);
    };
    assert!(
        window.query_by_label("Mode: Live").is_none(),
        "there is no folder yet"
    );
    perform(
        &mut window,
        HistoryAction::Use(data.path().to_owned()).into(),
    );
    perform(&mut window, LiveAction::Show.into());
    until(&mut window, "there is nothing to list", |window| {
        window.query_by_label("Servers on this computer…").is_some()
    });
    // One that begins while one looks is there by itself.
    let id = "20261129-110000-books-bbbbbb";
    session(data.path(), id, "some-agent");
    until(&mut window, "it is listed", |window| {
        let sessions = window.state().state.live.sessions.as_ref();
        sessions.is_some_and(|sessions| sessions.len() == 1)
    });
    perform(&mut window, LiveAction::Open(id.into()).into());
    until(&mut window, "it is read", |window| {
        let open = window.state().state.live.session.as_ref();
        open.is_some_and(|open| open.read.is_all && open.host_name() == "some-agent")
    });
    perform(&mut window, mcp_loupe::state::ViewAction::ShowAnswer.into());
    let state = &window.state().state;
    assert_eq!(
        (state.view.screen, &state.view.capture),
        (Screen::Start, &None)
    );
}

#[test]
fn a_hosts_transcript_is_read_after_a_yes_and_confirms_its_rule() {
    let data = tempfile::tempdir().unwrap();
    let kept = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("crates/loupe-tap/tests/data/transcripts/claude-code");
    let folder = data.path().join("sessions/20261129-100000-books-aaaaaa");
    fs::create_dir_all(&folder).unwrap();
    for file in ["session.json", "messages.jsonl"] {
        fs::copy(kept.join("session").join(file), folder.join(file)).unwrap();
    }
    let mut window = open_sized(None, [1_600.0, 1_000.0]);
    let ctx = window.ctx.clone();
    window.state_mut().perform(
        &ctx,
        vec![
            HistoryAction::Use(data.path().to_owned()).into(),
            LiveAction::Show.into(),
        ],
    );
    until(&mut window, "the session is counted", |window| {
        let open = window.state().state.live.session.as_ref();
        open.is_some_and(|open| {
            open.read.is_all && open.counted == open.calls.len() && open.counted > 3
        })
    });
    // Not the folder of whoever runs this test.
    let place = TranscriptPlace {
        host: "claude-code",
        name: "Claude Code",
        folder: kept,
    };
    let state = &mut window.state_mut().state;
    state.live.session.as_mut().unwrap().read.transcripts = Some(place);
    window.run_steps(2);
    window.get_by_label("Check with transcript").click();
    until(&mut window, "it is asked", |window| {
        window.query_by_label("Read the transcripts").is_some()
    });
    let transcript = |window: &Window| {
        let open = window.state().state.live.session.as_ref();
        open.unwrap().transcript.clone()
    };
    assert!(matches!(transcript(&window), TranscriptState::NotRead));
    window.get_by_label("Read the transcripts").click();
    until(&mut window, "it is compared", |window| {
        matches!(transcript(window), TranscriptState::Compared(_))
    });
    let TranscriptState::Compared(compared) = transcript(&window) else {
        panic!("not compared");
    };
    let report = &compared.report;
    assert!(report.is_confirmed(), "{}", report.summary());
    until(&mut window, "it is told at the host", |window| {
        !window.state().state.live.confirmed.is_empty()
    });
    let live = &window.state().state.live;
    assert_eq!(live.allowed, ["claude-code"]);
    assert_eq!(live.confirmed[0].calls, report.calls.len());
    let words = format!("rule {} by the transcript", report.summary());
    until(&mut window, "the head says so", |window| {
        window.query_by_label(&words).is_some()
    });
}

#[test]
fn of_a_hundred_thousand_messages_only_the_rows_in_sight_are_drawn() {
    const CALLS: u64 = 50_000;
    let data = tempfile::tempdir().unwrap();
    let id = "20261129-110000-books-bbbbbb";
    session(data.path(), id, "claude-code");
    let calls: String = (3..CALLS + 3).map(|number| call(number, "Bonn")).collect();
    add(data.path(), id, &calls);
    let mut window = open_sized(None, [1_600.0, 1_000.0]);
    let ctx = window.ctx.clone();
    let use_folder = HistoryAction::Use(data.path().to_owned()).into();
    window
        .state_mut()
        .perform(&ctx, vec![use_folder, LiveAction::Show.into()]);
    until(&mut window, "all calls are read", |window| {
        let open = window.state().state.live.session.as_ref();
        open.is_some_and(|open| open.calls.len() as u64 == CALLS && open.read.is_all)
    });
    window.run_steps(2);
    let rows = window.query_all_by(|node| {
        let label = node.label().unwrap_or_default();
        label.contains("find, city")
    });
    let rows = rows.count();
    assert!((10..60).contains(&rows), "{rows} rows");
}
