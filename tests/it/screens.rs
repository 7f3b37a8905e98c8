//! Pictures of the window, compared with those in `screenshots`, one a screen and theme; of other states and sizes, what
//! has to be read in them. They are drawn on the CPU from bundled fonts, so they are the same on every machine.
//! `UPDATE_EXPECT=1 cargo test --test it screens` writes the pictures anew; look at each before it is kept.

use std::sync::Arc;
use std::time::Duration;

use crate::pictures;
use crate::window::Window;
use bytes::Bytes;
use egui::Theme::{Dark, Light};
use loupe_analysis::queries::{Search, TextOf, TextQuery};
use loupe_core::capture::{Direction, Line, LineKind, Prompt, Resource};
use loupe_core::host::Hosts;
use loupe_core::json::Doc;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::server_request::ServerRequest;
use loupe_core::settings;
use loupe_core::source::{Command, Http, Login, Recent, Source};
use loupe_core::token::Tokenizer;
use loupe_core::token::claude::Key;
use mcp_loupe::shot;
use mcp_loupe::state::anthropic_count::{ExactAction, ExactEvent, KeyPlace};
use mcp_loupe::state::diff::DiffAction;
use mcp_loupe::state::library::{LibraryAction, LibraryEntry};
use mcp_loupe::state::media::MediaAction;
use mcp_loupe::state::server_requests::ServerRequestAction;
use mcp_loupe::state::wire::WireAction;
use mcp_loupe::state::{
    Action, CallAction, CallInFlight, CallOwner, CompareAction, ConnectAction, Connection,
    DrawerTab, Event, FoundConfig, HostDetail, HostsAction, HostsTab, ImportAction, ImportEvent,
    LoginAction, LoginStep, PaneView, QueryState, ServerNotification, SessionId, SessionUpdate,
    SettingsAction, SidebarTab, StartQuestion, TokensAction, TokensPart, ViewAction,
};

const MAIN: [u32; 2] = [1_600, 1_000];

/// A PNG of 16 by 16 pixels.
const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAATUlEQVR42mP4TyJgQOboN7xFQzg1YCrFpQ1dA1YL0TXgcQCmFEIDLl8OJQ0keJrkYCUYcVhswJM00PQwEJPgkPUwEJlI4XoYiE/YEA0A62iJS/fQxVYAAAAASUVORK5CYII=";

/// What is wrong with pictures, said when all were painted.
#[derive(Default)]
struct Album(Vec<String>);

impl Album {
    fn new() -> Self {
        Self::default()
    }

    fn add_picture(&mut self, picture: &image::RgbaImage, name: &str) {
        self.0.extend(pictures::differs(picture, name));
    }

    fn add(&mut self, window: &mut Window, name: &str, size: [u32; 2], theme: egui::Theme) {
        self.add_picture(&window.picture(size, theme), name);
    }

    /// A picture as `mcp-loupe screenshot` makes it.
    fn add_screen(&mut self, screen: &str, name: &str, size: (u32, u32), theme: settings::Theme) {
        let picture = shot::screen(screen, theme, size, None, None, None, None).unwrap();
        self.add_picture(&picture, name);
    }

    /// What has to be read, whole and not cut off.
    fn reads(
        &mut self,
        window: &mut Window,
        name: &str,
        size: [u32; 2],
        theme: egui::Theme,
        texts: &[&str],
    ) {
        let painted = window.painted(size, theme);
        let missing = texts.iter().filter(|text| !painted.contains(**text));
        self.0.extend(
            missing.map(|text| format!("{name} does not show {text:?}; it shows\n{painted}")),
        );
    }
}

impl Drop for Album {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert!(self.0.is_empty(), "{}", self.0.join("\n"));
        }
    }
}

/// States of screens that have a picture. `shot::screens::keyboard_tests` goes through their controls.
const STATES: &[&str] = &[
    "loading",
    "structured-only",
    "finding-places",
    "finding-silence",
    "versus-choose",
    "repeat",
    "compare-records",
    "compare-hosts",
];

/// The screens that `mcp-loupe screenshot` has a name for: every fourth, so that no core waits for all of them.
fn named_screens(first: usize) {
    let mut album = Album::new();
    let pictured = |screen: &&&str| **screen != "main" && !STATES.contains(screen);
    for screen in shot::SCREENS.iter().filter(pictured).skip(first).step_by(4) {
        album.add_screen(screen, screen, (1_600, 1_000), settings::Theme::Dark);
    }
}

#[test]
fn named_screens_from_the_first() {
    named_screens(0);
}

#[test]
fn named_screens_from_the_second() {
    named_screens(1);
}

#[test]
fn named_screens_from_the_third() {
    named_screens(2);
}

#[test]
fn named_screens_from_the_fourth() {
    named_screens(3);
}

#[test]
fn exact_counts() {
    let mut album = Album::new();
    let mut window = Window::calling(
        "all",
        "dual_search_companies",
        r#"{"searchTerm":"north","pageSize":5}"#,
    );
    window.send(Action::Tokens(TokensAction::Use(Tokenizer::Claude)));
    window.picture(MAIN, Dark);
    window.send(Action::Exact(ExactAction::Open(Some("json"))));
    album.reads(
        &mut window,
        "exact-count",
        MAIN,
        Dark,
        &[
            "Send to api.anthropic.com",
            "POST https://api.anthropic.com/v1/messages/count_tokens",
            "A key is kept in the system's keychain once it has worked, and nowhere else.",
        ],
    );
    album.reads(
        &mut window,
        "exact-count-640",
        [640, 520],
        Dark,
        &[
            "Send to api.anthropic.com",
            "with your key. Anthropic creates no message and runs no model for it.",
        ],
    );
    window.send(Action::Exact(ExactAction::TypeKey(Key::new("never shown"))));
    window.send(Action::Exact(ExactAction::Send));
    window.apply(Event::Exact(ExactEvent::Key(KeyPlace::Keychain)));
    album.reads(
        &mut window,
        "exact-count-done",
        [1_280, 800],
        Light,
        &[
            "Send again to api.anthropic.com",
            "Your key is in the system's keychain.",
            "Forget the key",
        ],
    );
    window.send(Action::CloseDialog);
    album.reads(
        &mut window,
        "exact-count-ledger",
        MAIN,
        Dark,
        &["Count exactly"],
    );
}

#[test]
fn compare_screen() {
    let mut album = Album::new();
    album.add_screen(
        "compare",
        "compare-light",
        (1_600, 1_000),
        settings::Theme::Light,
    );
    let mut running = Window::calling("all", "strict_search_companies", "{}");
    running.send_without_answer(Action::Compare(CompareAction::Start {
        vary: "response_format".into(),
        written: "json,markdown".into(),
    }));
    album.reads(
        &mut running,
        "compare-running",
        MAIN,
        Dark,
        &["Waiting for response_format=markdown, call 2 of 2"],
    );
}

#[test]
fn main_screen() {
    let mut album = Album::new();
    album.add_screen("main", "main-dark", (1_600, 1_000), settings::Theme::Dark);
    album.add_screen("main", "main-light", (1_600, 1_000), settings::Theme::Light);
    album.add_screen("main", "main-1280", (1_280, 800), settings::Theme::Light);
}

#[test]
fn odd_answers() {
    let mut album = Album::new();
    let text = "# Notes\\n\\nOnly *text* here, with `code`, ~~old~~ and a [link](https://example.com).\\n\\n- [x] done\\n- [ ] open\\n  \
                1. one\\n  2. two\\n\\n> quoted\\n> twice\\n\\n```rust\\nfn main() {}\\n```\\n\\n<details><summary>more</summary>raw</details>\\n\\n\
                ---\\n\\n![a chart](https://example.com/chart.png)\\n";
    let message = |result: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
    let mut markdown = Window::showing(&message(&format!(
        r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#
    )));
    album.add(&mut markdown, "markdown", MAIN, Dark);
    let mut blocks = Window::showing(&message(
        r#"{"content":[{"type":"text","text":"For you.","annotations":{"audience":["user"],"priority":0.9}},
        {"type":"image","data":"aGVsbG8=","mimeType":"image/png"},{"type":"resource_link","uri":"file:///a.txt","name":"a"},
        {"type":"hologram","x":1},{"type":"text"}],"isError":true}"#,
    ));
    album.reads(
        &mut blocks,
        "blocks",
        [1_600, 1_400],
        Light,
        &[
            "5 blocks: 2 text, 1 image, 1 link, 1 of unknown type",
            "unknown block type `hologram`",
            "isError · 4.0 ms",
            "Not read: this answer was opened from a file, so there is no server to read it from",
        ],
    );
    let mut media = Window::showing(&message(&format!(
        r#"{{"content":[{{"type":"image","data":"{PICTURE}","mimeType":"image/png"}},
        {{"type":"audio","data":"UklGRsQAAABXQVZF","mimeType":"audio/wav"}},{{"type":"image","data":"/9j/4AAQSkZJRg","mimeType":"image/jpeg"}},
        {{"type":"resource","resource":{{"uri":"sample://about","mimeType":"text/plain","text":"What stands in it."}}}},
        {{"type":"resource_link","uri":"file:///reports/2026.pdf","name":"report","title":"The year's report","mimeType":"application/pdf","size":81234}}]}}"#
    )));
    media.send(Action::Media(MediaAction::Show(0, true)));
    media.send(Action::Media(MediaAction::Show(2, true)));
    album.add(&mut media, "media", MAIN, Dark);
    album.reads(
        &mut media,
        "media-light",
        [1_280, 1_200],
        Light,
        &[
            "5 blocks: 2 images, 1 audio, 1 link, 1 resource",
            "mimeType: audio/wav",
            "Hide picture",
            "the picture cannot be decoded: Format error decoding",
        ],
    );
    let mut error = Window::showing(
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unknown tool: nosuch"}}"#,
    );
    album.reads(
        &mut error,
        "rpc-error",
        MAIN,
        Dark,
        &["JSON-RPC −32602 · 4.0 ms", "Unknown tool: nosuch"],
    );
    album.reads(
        &mut Window::showing(""),
        "no-answer",
        MAIN,
        Dark,
        &["timed out · 4.0 ms", "no answer within the time limit"],
    );
}

#[test]
fn panes_and_states() {
    let mut album = Album::new();
    let mut window = Window::calling("all", "strict_search_companies", r#"{"pageSize":6}"#);
    window.send(ViewAction::SetPane {
        pane: 1,
        shows: PaneView::Text("toon"),
    });
    window.send(ViewAction::TogglePane(0));
    album.reads(
        &mut window,
        "two-panes",
        MAIN,
        Dark,
        &["data[6]{id,companyName,isActive,companyType,phone,address1,city,state,postalCode,"],
    );
    // A record of the data that was read from the text is linked as well.
    let id = window.state.view.capture.clone().unwrap();
    let Some(QueryState::Ready(text)) = window.state.query_results.get(&id, TextQuery("toon"))
    else {
        panic!("the text is not there")
    };
    let record = text.matched.records.get(1).map(|record| record.node);
    window.send(ViewAction::SetSearch(Some(Search::plain("north"))));
    window.send(ViewAction::SelectRecord(record));
    window.state.running = Some(CallInFlight {
        owner: CallOwner::Person,
        id: 99,
        session: SessionId(1),
        tool: "strict_search_companies".into(),
        since: Duration::ZERO,
        limit: Duration::from_secs(60),
        progress: Some((2.0, Some(3.0), Some("counting".into()))),
        unreadable: 0,
        task: None,
    });
    window.state.now = Duration::from_millis(1_400);
    album.reads(
        &mut window,
        "linked-while-running",
        MAIN,
        Light,
        &["progress 2 of 3 · counting", "data[1] linked"],
    );
}

#[test]
fn newcomers() {
    let mut album = Album::new();
    let mut hostile = Window::sample("all,data=hostile");
    hostile.send(CallAction::Ask(StartQuestion::HostileRecords));
    album.reads(
        &mut hostile,
        "hostile-card",
        MAIN,
        Dark,
        &[
            "| id | companyName | isActive | companyType | phone |",
            "written by Loupe from the data",
        ],
    );
    album.reads(
        &mut hostile,
        "hostile-card-1280",
        [1_280, 800],
        Light,
        &["| id | companyName | isActive |", "Markdown table"],
    );
    // A server of one's own, with nothing called yet; and the same once it went away.
    let mut own = Window::sample("all");
    let command = Command {
        program: "npx".into(),
        args: vec!["-y".into(), "my-server".into()],
        ..Command::default()
    };
    own.send(ConnectAction::Connect(Box::new(Source::Command(command))));
    album.reads(
        &mut own,
        "start-own",
        [1_280, 800],
        Dark,
        &[
            "4,091 tok before the first call",
            "32 tools · most expensive",
            "strict_update_company 244",
        ],
    );
    own.apply(Event::Session {
        session: own.state.session().id,
        update: SessionUpdate::Gone(Problem::new(
            ProblemKind::Disconnected,
            "the program ended (exit 3)",
        )),
    });
    album.reads(
        &mut own,
        "start-gone",
        [1_280, 800],
        Light,
        &["The server is gone", "Server gone", "Reconnect (Ctrl R)"],
    );
    let mut pasted = Window::sample("all");
    pasted.send(ConnectAction::Show);
    pasted.send(Action::Import(ImportAction::SetText(
        "npx -y @example/github-mcp --read-only".into(),
    )));
    album.reads(
        &mut pasted,
        "connect-pasted-1280",
        [1_280, 800],
        Dark,
        &[
            "Understood: a command line",
            "Connecting runs this command on your computer, as you.",
        ],
    );
    let mut blocks = Window::showing(
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"The first block,\non two lines."},
        {"type":"image","data":"aGVsbG8=","mimeType":"image/png"},{"type":"text","text":"The last block."}]}}"#,
    );
    album.reads(
        &mut blocks,
        "block-marks",
        [1_280, 800],
        Dark,
        &[
            "The first block, on two lines.",
            "The last block.",
            "content[2]",
        ],
    );
    let mut payload = Window::calling("all", "strict_search_companies", r#"{"pageSize":20}"#);
    album.reads(
        &mut payload,
        "saving-1280",
        [1_280, 800],
        Light,
        &["Text", "2,069", "JSON, compact", "−31%", "proved"],
    );
    album.reads(
        &mut payload,
        "saving-640",
        [640, 520],
        Dark,
        &["JSON, compact", "−31%"],
    );
}

#[test]
fn tokens() {
    let mut album = Album::new();
    let mut window = Window::calling("all", "dual_search_companies", r#"{"pageSize":20}"#);
    window.send(Action::Tokens(TokensAction::Use(Tokenizer::Claude)));
    window.send(Action::Tokens(TokensAction::Model(Some(
        "Claude Fable 5.1".into(),
    ))));
    album.reads(
        &mut window,
        "tokens-claude",
        MAIN,
        Dark,
        &["≈ claude", "JSON, compact", "drops"],
    );
    window.send(Action::Tokens(TokensAction::Use(Tokenizer::default())));
    window.send(Action::Tokens(TokensAction::Model(None)));
    window.send(ViewAction::ShowDrawer(DrawerTab::Tokens));
    album.add(&mut window, "tokens", MAIN, Dark);
    album.reads(
        &mut window,
        "tokens-light",
        MAIN,
        Light,
        &[
            "By key, over all records",
            "Where the saving comes from",
            "repeated keys",
        ],
    );
    window.send(Action::Tokens(TokensAction::Part(TokensPart::Saving)));
    album.reads(
        &mut window,
        "tokens-640",
        [640, 860],
        Dark,
        &["Where the saving comes from"],
    );
    window.send(Action::Tokens(TokensAction::Model(Some("GPT-4o".into()))));
    window.send(Action::Tokens(TokensAction::ShowServer));
    album.add(&mut window, "server-cost", MAIN, Dark);
    album.reads(
        &mut window,
        "server-cost-960",
        [960, 700],
        Light,
        &[
            "before the first call: 32 definitions 4,091, no server instructions.",
            "−387 (−9% against all definitions) without annotations, 20 tools",
        ],
    );
}

#[test]
fn differences() {
    let mut album = Album::new();
    let message = |result: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
    let answer = |file: &str| {
        message(&std::fs::read_to_string(format!("tests/data/window/{file}.json")).unwrap())
    };
    let mut window = Window::showing(&answer("before"));
    let first = window.state.view.capture.clone().unwrap();
    window.open(&answer("after"));
    let second = window.state.view.capture.clone().unwrap();
    window.send(Action::Diff(DiffAction::Open(first.clone(), second)));
    album.reads(
        &mut window,
        "diff-dark",
        MAIN,
        Dark,
        &[
            "This change removed 10 facts from the text: lastModifiedDate, postalCode",
            "- Address: 95 Last Chance Gulch, Helena, MT 59601",
        ],
    );
    album.add(&mut window, "diff-light", MAIN, Light);
    album.reads(
        &mut window,
        "diff-1280",
        [1_280, 800],
        Dark,
        &["This change removed 10 facts from the text", "22 places"],
    );
    album.reads(
        &mut window,
        "diff-640",
        [640, 520],
        Light,
        &["22 places", "10 removed", "3 changed"],
    );
    window.send(Action::Diff(DiffAction::Split(true)));
    window.send(Action::Diff(DiffAction::ShowAll(true)));
    window.send(Action::Diff(DiffAction::GoTo(4)));
    album.reads(
        &mut window,
        "diff-split",
        MAIN,
        Dark,
        &[
            "- Address: 95 Last Chance Gulch, Helena,",
            r#"address1: "95 Last Chance Gulch""#,
        ],
    );
    window.send(Action::Diff(DiffAction::Open(first.clone(), first.clone())));
    window.send(Action::Diff(DiffAction::Split(false)));
    album.reads(
        &mut window,
        "diff-formats",
        [1_280, 800],
        Light,
        &[
            "Diff of two formats",
            "A JSON, pretty",
            "B YAML",
            "Each fact of A's data that is in A's text is in B's text",
        ],
    );
    let host = |id: &str| TextOf::Host(Hosts::built_in().get(id).unwrap().id);
    window.send(Action::Diff(DiffAction::SetTexts(
        host("codex"),
        host("zed"),
    )));
    album.reads(
        &mut window,
        "diff-hosts",
        [1_280, 800],
        Dark,
        &[
            "A OpenAI Codex CLI",
            "B Zed",
            "This change removed 1 fact from the text: source",
        ],
    );
    window.send(Action::Diff(DiffAction::SetTexts(
        TextOf::Format("content"),
        TextOf::Format("content"),
    )));
    window.open(&answer("before"));
    let same = window.state.view.capture.clone().unwrap();
    window.send(Action::Diff(DiffAction::Open(first, same)));
    album.reads(
        &mut window,
        "diff-equal",
        [1_280, 800],
        Dark,
        &["No difference: data, text, outcome and definition are the same."],
    );
}

#[test]
fn what_reconnecting_changed() {
    let mut album = Album::new();
    let mut window = Window::calling(
        "all",
        "dual_search_companies",
        r#"{"searchTerm":"north","pageSize":5}"#,
    );
    window.use_sample("all,phase=1,text=v1");
    window.send(ConnectAction::Reconnect);
    album.reads(
        &mut window,
        "again",
        MAIN,
        Dark,
        &["The server's tools changed: 7 changed · +35 tok of definitions, +1% against before"],
    );
    album.reads(
        &mut window,
        "again-1280",
        [1_280, 800],
        Light,
        &["The server's tools changed: 7 changed · +35 tok of definitions, +1% against before"],
    );
}

#[test]
fn hosts() {
    let mut album = Album::new();
    let mut window = Window::calling("all", "dual_search_companies", r#"{"pageSize":250}"#);
    let hosts = Hosts::built_in();
    let id = |id: &str| hosts.get(id).unwrap().id;
    window.send(ViewAction::ShowDrawer(DrawerTab::Hosts));
    window.send(Action::Hosts(HostsAction::Pin(id("codex"))));
    window.send(Action::Hosts(HostsAction::Open(id("codex"))));
    let headline = "22 of 41 hosts show their model none of this data";
    album.add(&mut window, "hosts-drawer", MAIN, Dark);
    album.reads(
        &mut window,
        "hosts-drawer",
        MAIN,
        Dark,
        &[
            "41 · 22 show nothing",
            headline,
            "Your hosts",
            "reads the text alone",
        ],
    );
    window.send(Action::Hosts(HostsAction::ViewAs(Some(id("zed")))));
    album.reads(
        &mut window,
        "hosts-view-as",
        MAIN,
        Light,
        &[
            "Zed: structuredContent is dropped: the host never shows structuredContent.",
            "Hosts with this text",
        ],
    );
    window.send(Action::Hosts(HostsAction::Pin(id("claude-code"))));
    window.send(Action::Hosts(HostsAction::Show(Some(id("claude-code")))));
    album.add(&mut window, "hosts-light", MAIN, Light);
    // One size for one cut, and one for what is left.
    album.reads(
        &mut window,
        "hosts-cut",
        [1_600, 1_400],
        Dark,
        &[
            headline,
            "Model sees 88 of 2,440 facts: over 50,000 characters",
            "52,982 bytes removed, 241 of 250 records",
            "Removed: records 10 to 250 and the end of 9",
            "52,982 B",
            "added by the host",
            "2,125 B to the model",
            "88 of 2,440",
            "cut over 50,000 characters",
        ],
    );
    window.send(Action::Hosts(HostsAction::ShowRemoved(true)));
    window.send(Action::Hosts(HostsAction::Select(id("codex"))));
    album.reads(
        &mut window,
        "hosts-removed",
        [1_600, 1_400],
        Light,
        &["7,020 bytes removed, 31 of 250 records"],
    );
    window.send(Action::Hosts(HostsAction::ShowRemoved(false)));
    // Where there is no room for both, the host stands in place of the lanes.
    window.send(Action::Hosts(HostsAction::Detail(HostDetail::Lost)));
    album.reads(
        &mut window,
        "host-640",
        [640, 520],
        Dark,
        &[
            "All hosts",
            "content[0] is dropped: structuredContent takes the place of the blocks.",
        ],
    );
    window.send(Action::Hosts(HostsAction::ShowLanes));
    album.reads(
        &mut window,
        "hosts-640",
        [640, 520],
        Dark,
        &[headline, "22 show nothing", "Your hosts", "cut over 50,000"],
    );
    window.send(Action::Hosts(HostsAction::Tab(HostsTab::Placements)));
    album.add(&mut window, "placements", MAIN, Dark);
    album.reads(
        &mut window,
        "hosts-deliveries",
        [1_280, 800],
        Light,
        &[
            "17,712 tok, median",
            "27 of 37 hosts show every fact of “",
            "reaches as many for 8,103 tokens more",
        ],
    );
}

/// An answer without data: there are no facts, so the headline speaks of the text.
#[test]
fn hosts_of_prose() {
    let mut album = Album::new();
    let text = |text: String| serde_json::json!({"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": text}]}});
    let mut window = Window::showing(
        &text("The build passed, and nothing else is to be said of it.".into()).to_string(),
    );
    window.send(Action::Hosts(HostsAction::Show(None)));
    album.reads(
        &mut window,
        "hosts-prose",
        MAIN,
        Dark,
        &[
            "All known hosts show everything",
            "No part is left out, within every known limit.",
            " of 55 B",
        ],
    );
    let long = (1..600)
        .map(|at| format!("It was said for the {at}th time, and nobody wrote it down."))
        .collect::<Vec<_>>();
    window.open(&text(long.join("\n")).to_string());
    window.send(Action::Hosts(HostsAction::Show(None)));
    album.reads(
        &mut window,
        "hosts-prose-cut",
        MAIN,
        Light,
        &[
            " hosts cut this answer",
            "The least is left in GitHub Copilot CLI, cut over 20,480 bytes: ",
        ],
    );
}

#[test]
fn questions_and_the_protocol_log() {
    let mut album = Album::new();
    let mut window = Window::calling("all", "strict_search_companies", r#"{"pageSize":6}"#);
    let session = window.state.session().id;
    let hear = |window: &mut Window, heard: ServerNotification| {
        window.state.apply(
            Event::Session {
                session,
                update: SessionUpdate::Notification(heard),
            },
            &mut Vec::new(),
        )
    };
    let ask = |key: u64, method: &str, params: &'static str| {
        let doc = Doc::parse(params.into());
        ServerNotification::Asked(ServerRequest::read(key, method, doc.root()).unwrap())
    };
    let form = r#"{"message":"Log in to autoreply","requestedSchema":{"type":"object","required":["handle","password"],"properties":{
        "handle":{"type":"string","title":"Handle","description":"Such as @alice","default":"@carol.art"},
        "password":{"type":"string","title":"App password","description":"Made in the settings; never the main password of the account","minLength":8},
        "port":{"type":"integer","title":"Port","minimum":1,"maximum":65535},
        "remember":{"type":"boolean","title":"Stay logged in","default":true},
        "scope":{"type":"string","title":"Scope","oneOf":[{"const":"r","title":"Read"},{"const":"rw","title":"Read and write"}],"default":"r"},
        "feeds":{"type":"array","title":"Feeds","minItems":1,"items":{"enum":["following","popular","friends"]},"default":["following"]}}}}"#;
    hear(&mut window, ask(0, "elicitation/create", form));
    window.send(Action::Answer(ServerRequestAction::Accept));
    album.add(&mut window, "ask-form", MAIN, Dark);
    window
        .state
        .perform(Action::Answer(ServerRequestAction::Cancel), &mut Vec::new());
    let url = r#"{"mode":"url","message":"Approve the payment in your browser","url":"https://pay.example.com/approve?order=4711&return=loupe","elicitationId":"e1"}"#;
    hear(&mut window, ask(1, "elicitation/create", url));
    album.reads(
        &mut window,
        "ask-url",
        [1_280, 800],
        Light,
        &[
            "loupe-sample asks to open an address",
            "https://pay.example.com/approve?order=4711&return=loupe",
            "Open pay.example.com",
        ],
    );
    window
        .state
        .perform(Action::Answer(ServerRequestAction::Cancel), &mut Vec::new());
    let sampling = r#"{"messages":[{"role":"user","content":{"type":"text","text":"Summarise these three tickets in one sentence each."}}],"systemPrompt":"You are terse.","maxTokens":200}"#;
    hear(&mut window, ask(2, "sampling/createMessage", sampling));
    album.reads(
        &mut window,
        "ask-sampling",
        [1_280, 800],
        Dark,
        &[
            "loupe-sample asks for a completion by a model",
            "Summarise these three tickets in one sentence each.",
            "Your answer, in place of a model’s, at most 200 tokens",
        ],
    );
    window.state.perform(
        Action::Answer(ServerRequestAction::Decline),
        &mut Vec::new(),
    );

    let mut at = 0;
    let mut line = |direction, kind, method: Option<&str>, id: Option<&str>, text: &str| {
        at += 37;
        let bytes = Bytes::copy_from_slice(text.as_bytes());
        let (method, id) = (method.map(Into::into), id.map(Into::into));
        Line {
            at: Duration::from_millis(at),
            direction,
            kind,
            method,
            id,
            bytes,
            version: None,
        }
    };
    let (i, o) = (Direction::In, Direction::Out);
    let lines = vec![
        line(
            o,
            LineKind::Request,
            Some("initialize"),
            Some("0"),
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#,
        ),
        line(
            Direction::Stderr,
            LineKind::Stderr,
            None,
            None,
            "listening on standard input",
        ),
        line(
            i,
            LineKind::Response,
            None,
            Some("0"),
            r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"logging":{}}}}"#,
        ),
        line(
            o,
            LineKind::Notification,
            Some("notifications/initialized"),
            None,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        ),
        line(
            o,
            LineKind::Request,
            Some("tools/call"),
            Some("2"),
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"login","arguments":{}}}"#,
        ),
        line(
            i,
            LineKind::Request,
            Some("elicitation/create"),
            Some("\"login-1\""),
            r#"{"jsonrpc":"2.0","id":"login-1","method":"elicitation/create","params":{"message":"Log in"}}"#,
        ),
        line(
            o,
            LineKind::Response,
            None,
            Some("\"login-1\""),
            r#"{"jsonrpc":"2.0","id":"login-1","result":{"action":"accept","content":{"password":"•••"}}}"#,
        ),
        line(
            i,
            LineKind::Notification,
            Some("notifications/progress"),
            None,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":1,"total":2}}"#,
        ),
        line(
            i,
            LineKind::Unreadable,
            None,
            None,
            "DEBUG this line is no message",
        ),
        line(
            i,
            LineKind::Error,
            None,
            Some("2"),
            r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"no such account"}}"#,
        ),
    ];
    hear(&mut window, ServerNotification::Lines(lines));
    window
        .state
        .perform(Action::Wire(WireAction::Show), &mut Vec::new());
    window
        .state
        .perform(Action::Wire(WireAction::Select(Some(6))), &mut Vec::new());
    album.add(&mut window, "protocol-log", MAIN, Dark);
    album.reads(
        &mut window,
        "protocol-log-1280",
        [1_280, 800],
        Light,
        &[
            "10 of 10 messages shown",
            "unreadable: DEBUG this line is no message",
            r#""action": "accept","#,
        ],
    );
    album.reads(
        &mut window,
        "protocol-log-640",
        [640, 520],
        Dark,
        &[
            "10 of 10 messages shown",
            "answer to elicitation/create",
            "response · 96 bytes",
        ],
    );

    let resource =
        |raw: &'static str, is_template| Arc::new(Resource::read(raw.into(), is_template));
    let entries = vec![
        LibraryEntry::Resource(resource(r#"{"uri":"sample://dial/users","name":"users","title":"Users","mimeType":"application/json","size":48213,"description":"All users as the system holds them."}"#, false)),
        LibraryEntry::Resource(resource(r#"{"uri":"ui://board/page.html","name":"board","title":"Ticket board","mimeType":"text/html;profile=mcp-app"}"#, false)),
        LibraryEntry::Resource(resource(r#"{"uri":7,"name":"odd"}"#, false)),
        LibraryEntry::Template(resource(r#"{"uriTemplate":"sample://dial/users/{key}","name":"user","title":"One user","mimeType":"application/json","icons":[{"src":"https://example.com/user.png"}],"_meta":{"example.com/owner":"people"}}"#, true)),
        LibraryEntry::Prompt(Arc::new(Prompt::read(r#"{"name":"summarise","title":"Summarise records","description":"A summary of records of one kind.","arguments":[{"name":"kind","required":true},{"name":"tone"}]}"#.into()))),
    ];
    hear(
        &mut window,
        ServerNotification::Library {
            entries,
            notes: Vec::new(),
        },
    );
    if let Connection::Connected { server, .. } = &mut window.state.session_mut().connection {
        server.capabilities = Some(r#"{"completions":{},"resources":{},"prompts":{}}"#.into());
    }
    window
        .state
        .perform(Action::Library(LibraryAction::Select(3)), &mut Vec::new());
    window.state.perform(
        Action::Library(LibraryAction::Set {
            name: "key".into(),
            value: "a".into(),
        }),
        &mut Vec::new(),
    );
    hear(
        &mut window,
        ServerNotification::Completed {
            argument: "key".into(),
            values: ["adams", "akira", "amara"].map(Into::into).to_vec(),
        },
    );
    window.send(ViewAction::ShowTab(SidebarTab::Resources));
    album.add(&mut window, "library", MAIN, Dark);
    album.reads(
        &mut window,
        "library-640",
        [640, 520],
        Light,
        &["sample://dial/users/{key}", "One user"],
    );
}

#[test]
fn connecting_to_ones_own() {
    let mut album = Album::new();
    let mut window = Window::sample("all");
    window.send(ConnectAction::Show);
    let recent = [
        "https://weather.example.com/mcp",
        "http://127.0.0.1:3001/mcp",
    ]
    .map(|url| {
        Recent::new(
            &Source::Http(Http {
                url: url.into(),
                login: Some(Login::default()),
                ..Http::default()
            }),
            None,
        )
        .unwrap()
    });
    let mut recent = recent.to_vec();
    recent[0].is_pinned = true;
    recent.push(Recent::of_config("/home/me/.cursor/mcp.json", "github"));
    window.state.apply(
        Event::Import(ImportEvent::Recent {
            folder: "/nowhere".into(),
            recent,
        }),
        &mut Vec::new(),
    );
    let found = [
        ("Claude Code, Copilot CLI", "/home/me/project/.mcp.json"),
        ("Cursor", "/home/me/.cursor/mcp.json"),
    ];
    let found = found.map(|(client, path)| FoundConfig {
        client: client.into(),
        path: path.into(),
    });
    window.state.apply(
        Event::Import(ImportEvent::Found(found.into())),
        &mut Vec::new(),
    );
    window.send(Action::Import(ImportAction::SetText(
        "GITHUB_TOKEN=x npx -y @example/github-mcp --read-only".into(),
    )));
    window.send(Action::Import(ImportAction::Use));
    album.reads(
        &mut window,
        "connect-chips",
        MAIN,
        Dark,
        &[
            "Runs on your computer, as you",
            "with GITHUB_TOKEN",
            "/home/me/.cursor/mcp.json",
            "Recent",
        ],
    );
    album.reads(
        &mut window,
        "connect-chips-960",
        [960, 900],
        Light,
        &["Found on this computer", "Sample server", "Options"],
    );
    let text = r#"{"inputs":[{"id":"key","password":true,"description":"Your API key"},{"id":"land","default":"NO","options":["NO","SE"]}],
  "servers":{"weather":{"url":"https://weather.example.com/${input:land}","headers":{"Authorization":"Bearer ${input:key}"}},"local":{"command":"node","args":["x.js"]}}}"#;
    window.send(Action::Import(ImportAction::SetText(text.into())));
    window.send(Action::Import(ImportAction::Choose(0)));
    album.reads(
        &mut window,
        "connect-import",
        MAIN,
        Light,
        &[
            "Understood: a client's configuration",
            "Secret: Authorization. Values do not show and are not kept.",
            "no value for ${input:key}",
        ],
    );
    window.send(Action::Import(ImportAction::Close));
    let source = Source::Http(Http {
        url: "https://weather.example.com/mcp".into(),
        ..Http::default()
    });
    let problem = Problem::new(
        ProblemKind::Auth,
        "HTTP 401 Unauthorized: the server wants credentials",
    )
    .at("https://weather.example.com/mcp");
    window.state.session_mut().connection = Connection::Failed {
        source: source.clone(),
        problem,
        stderr: Vec::new(),
    };
    album.reads(
        &mut window,
        "login-offer",
        MAIN,
        Dark,
        &["Not connected: HTTP 401 Unauthorized: the server wants credentials"],
    );
    window.state.perform(
        Action::Login(LoginAction::Start(Login::default())),
        &mut Vec::new(),
    );
    let session = window.state.session().id;
    let mut step = |step| {
        window.state.apply(
            Event::Session {
                session,
                update: SessionUpdate::Login(step),
            },
            &mut Vec::new(),
        )
    };
    for line in [
        "HTTP 401 Unauthorized: the server wants a login",
        "looking for the authorization server",
        "GET https://weather.example.com/.well-known/oauth-protected-resource/mcp → HTTP 200, {\"resource\":\"https://weather.example.com/mcp\"} (41 ms)",
        "the authorization server is https://login.example.com",
        "asking for the scopes read",
        "registering Loupe as a client",
        "waiting for the browser to come back to http://127.0.0.1:43121/callback",
    ] {
        step(LoginStep::Line(line.into()));
    }
    let url = "https://login.example.com/authorize?response_type=code&client_id=client-1&state=q2x9&code_challenge=3hJx0mN2bR8a&code_challenge_method=S256&redirect_uri=http%3A%2F%2F127.0.0.1%3A43121%2Fcallback&scope=read&resource=https%3A%2F%2Fweather.example.com%2Fmcp";
    step(LoginStep::Open {
        url: url.into(),
        limit: std::time::Duration::from_secs(300),
    });
    album.add(&mut window, "login", MAIN, Dark);
    album.reads(
        &mut window,
        "login-640",
        [640, 520],
        Light,
        &[
            "Log in with your browser",
            "The server sends you to login.example.com. Check that you recognise it;",
        ],
    );
    let servers = vec![
        "https://login.example.com".to_owned(),
        "https://sso.example.org/tenant-7".into(),
    ];
    let mut step = |step| {
        window.state.apply(
            Event::Session {
                session,
                update: SessionUpdate::Login(step),
            },
            &mut Vec::new(),
        )
    };
    step(LoginStep::Choose(servers));
    step(LoginStep::Over { worked: false });
    let what = "the server names 2 authorization servers: https://login.example.com, https://sso.example.org/tenant-7";
    let problem = Problem::new(ProblemKind::Auth, what)
        .at("https://weather.example.com/mcp")
        .hint("choose the one to log in at");
    window.state.apply(
        Event::Session {
            session,
            update: SessionUpdate::ConnectFailed(problem),
        },
        &mut Vec::new(),
    );
    album.reads(
        &mut window,
        "login-servers",
        MAIN,
        Dark,
        &[
            "Where do you want to log in?",
            "https://sso.example.org/tenant-7",
            "choose the one to log in at",
        ],
    );
    window.send(SettingsAction::SetSamplingReply(Some(
        "A canned answer.".into(),
    )));
    album.reads(
        &mut window,
        "login-servers-960",
        [960, 900],
        Light,
        &[
            "Where do you want to log in?",
            "https://sso.example.org/tenant-7",
        ],
    );
}
