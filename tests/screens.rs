//! Pictures of the window, compared with those in `screenshots`. They are drawn on the CPU from bundled fonts, so they
//! are the same on every machine. `UPDATE_SNAPSHOTS=force cargo test --test screens` accepts what changed.
#![cfg(feature = "gui")]
#![expect(clippy::unwrap_used, reason = "a fixture that fails is a test that fails")]

mod window;

use std::time::Duration;

use egui::Theme::{Dark, Light};
use egui_kittest::{SnapshotOptions, SnapshotResults, try_image_snapshot_options};
use mcp_loupe::host::Hosts;
use mcp_loupe::report::{Answer, Question};
use mcp_loupe::settings;
use mcp_loupe::shot;
use mcp_loupe::state::diff::DiffAction;
use mcp_loupe::state::{
    Action, Asked, CompareAction, DrawerTab, HostDetail, HostsAction, PaneView, Running, TokensAction, TokensPart,
};
use mcp_loupe::token::Tokenizer;
use window::Window;

const MAIN: [u32; 2] = [1_600, 1_000];

struct Album(SnapshotResults);

impl Album {
    fn new() -> Self {
        Self(SnapshotResults::new())
    }

    fn add_picture(&mut self, picture: &image::RgbaImage, name: &str) {
        // A glyph's edge may be rounded differently by another compiler; a moved one changes hundreds of pixels.
        let options = SnapshotOptions::new().max_failed_pixels(20);
        self.0.add(try_image_snapshot_options(picture, name, &options));
    }

    fn add(&mut self, window: &mut Window, name: &str, size: [u32; 2], theme: egui::Theme) {
        self.add_picture(&window.picture(size, theme), name);
    }

    /// A picture as `mcp-loupe screenshot` makes it.
    fn add_screen(&mut self, screen: &str, name: &str, size: (u32, u32), theme: settings::Theme) {
        let picture = shot::screen(screen, theme, size, None, None, None).unwrap();
        self.add_picture(&picture, name);
    }
}

#[test]
fn named_screens() {
    let mut album = Album::new();
    for screen in shot::SCREENS.iter().filter(|&&screen| screen != "main") {
        album.add_screen(screen, screen, (1_600, 1_000), settings::Theme::Dark);
    }
}

#[test]
fn compare_screen() {
    let mut album = Album::new();
    album.add_screen("compare", "compare-light", (1_600, 1_000), settings::Theme::Light);
    album.add_screen("compare", "compare-1280", (1_280, 800), settings::Theme::Dark);
    album.add_screen("compare", "compare-640", (640, 520), settings::Theme::Dark);
    let mut running = Window::calling("all", "strict_search_companies", "{}");
    running.send_without_answer(Action::Compare(CompareAction::StartWith {
        vary: "response_format".into(),
        written: "json,markdown".into(),
    }));
    album.add(&mut running, "compare-running", MAIN, Dark);
}

#[test]
fn main_screen() {
    let mut album = Album::new();
    album.add_screen("main", "main-dark", (1_600, 1_000), settings::Theme::Dark);
    album.add_screen("main", "main-light", (1_600, 1_000), settings::Theme::Light);
    album.add_screen("main", "main-1366", (1_366, 768), settings::Theme::Dark);
    album.add_screen("main", "main-1280", (1_280, 800), settings::Theme::Light);
    album.add_screen("main", "main-960", (960, 1_040), settings::Theme::Dark);
    album.add_screen("main", "main-640", (640, 520), settings::Theme::Dark);
}

#[test]
fn odd_answers() {
    let mut album = Album::new();
    let text = "# Notes\\n\\nOnly *text* here, with `code`, ~~old~~ and a [link](https://example.com).\\n\\n- [x] done\\n- [ ] open\\n  \
                1. one\\n  2. two\\n\\n> quoted\\n> twice\\n\\n```rust\\nfn main() {}\\n```\\n\\n<details><summary>more</summary>raw</details>\\n\\n\
                ---\\n\\n![a chart](https://example.com/chart.png)\\n";
    let message = |result: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
    let mut markdown = Window::showing(&message(&format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#)));
    album.add(&mut markdown, "markdown", MAIN, Dark);
    let mut blocks = Window::showing(&message(
        r#"{"content":[{"type":"text","text":"For you.","annotations":{"audience":["user"],"priority":0.9}},
        {"type":"image","data":"aGVsbG8=","mimeType":"image/png"},{"type":"resource_link","uri":"file:///a.txt","name":"a"},
        {"type":"hologram","x":1},{"type":"text"}],"isError":true}"#,
    ));
    album.add(&mut blocks, "blocks", MAIN, Light);
    let mut error = Window::showing(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unknown tool: nosuch"}}"#);
    album.add(&mut error, "rpc-error", MAIN, Dark);
    album.add(&mut Window::showing(""), "no-answer", MAIN, Dark);
}

#[test]
fn panes_and_states() {
    let mut album = Album::new();
    let mut window = Window::calling("all", "strict_search_companies", r#"{"pageSize":6}"#);
    window.send(Action::SetPane { pane: 1, shows: PaneView::Text("toon") });
    window.send(Action::TogglePane(0));
    album.add(&mut window, "two-panes", MAIN, Dark);
    // A record of the payload that was read from the text is linked as well.
    let id = window.state.view.capture.clone().unwrap();
    let Some(Asked::Ready(Answer::Text(text))) = window.state.answers.get(&id, Question::Text("toon")) else {
        panic!("the text is not there")
    };
    let record = text.matched.records.get(1).map(|record| record.node);
    window.send(Action::SetSearch(Some("north".into())));
    window.send(Action::SelectRecord(record));
    window.state.running = Some(Running {
        id: 99,
        tool: "strict_search_companies".into(),
        since: Duration::ZERO,
        limit: Duration::from_secs(60),
        progress: Some((2.0, Some(3.0), Some("counting".into()))),
        unreadable: 0,
    });
    window.state.now = Duration::from_millis(1_400);
    album.add(&mut window, "linked-while-running", MAIN, Light);
}

#[test]
fn tokens() {
    let mut album = Album::new();
    let mut window = Window::calling("all", "dual_search_companies", r#"{"pageSize":20}"#);
    window.send(Action::Tokens(TokensAction::Use(Tokenizer::Claude)));
    window.send(Action::Tokens(TokensAction::Model(Some("Claude Fable 5.1".into()))));
    album.add(&mut window, "tokens-claude", MAIN, Dark);
    window.send(Action::Tokens(TokensAction::Use(Tokenizer::default())));
    window.send(Action::Tokens(TokensAction::Model(None)));
    window.send(Action::ShowDrawer(DrawerTab::Tokens));
    album.add(&mut window, "tokens-map", MAIN, Dark);
    window.send(Action::Tokens(TokensAction::Inside("/items/*".into())));
    album.add(&mut window, "tokens-map-light", MAIN, Light);
    window.send(Action::Tokens(TokensAction::Part(TokensPart::Treemap)));
    window.send(Action::Tokens(TokensAction::Inside(String::new())));
    album.add(&mut window, "tokens-map-1280", [1_280, 860], Dark);
    window.send(Action::ShowDrawer(DrawerTab::Cost));
    for key in ["city", "phone"] {
        window.send(Action::Tokens(TokensAction::ToggleKey(format!("/items/*/{key}"))));
    }
    window.send(Action::Tokens(TokensAction::Model(Some("GPT-4o".into()))));
    album.add(&mut window, "what-if", MAIN, Dark);
    album.add(&mut window, "what-if-light", [1_280, 860], Light);
    window.send(Action::Tokens(TokensAction::ShowServer));
    album.add(&mut window, "server-cost", MAIN, Dark);
    album.add(&mut window, "server-cost-960", [960, 700], Light);
}

#[test]
fn differences() {
    let mut album = Album::new();
    let message = |result: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
    let answer = |file: &str| message(&std::fs::read_to_string(format!("tests/data/window/{file}.json")).unwrap());
    let mut window = Window::showing(&answer("before"));
    let first = window.state.view.capture.clone().unwrap();
    window.open(&answer("after"));
    let second = window.state.view.capture.clone().unwrap();
    window.send(Action::Diff(DiffAction::Open(first.clone(), second)));
    album.add(&mut window, "diff-dark", MAIN, Dark);
    album.add(&mut window, "diff-light", MAIN, Light);
    album.add(&mut window, "diff-1280", [1_280, 800], Dark);
    album.add(&mut window, "diff-640", [640, 520], Light);
    window.send(Action::Diff(DiffAction::Split(true)));
    window.send(Action::Diff(DiffAction::ShowAll(true)));
    window.send(Action::Diff(DiffAction::GoTo(4)));
    album.add(&mut window, "diff-split", MAIN, Dark);
    window.send(Action::Diff(DiffAction::Open(first.clone(), first.clone())));
    window.send(Action::Diff(DiffAction::Split(false)));
    album.add(&mut window, "diff-formats", [1_280, 800], Light);
    window.open(&answer("before"));
    let same = window.state.view.capture.clone().unwrap();
    window.send(Action::Diff(DiffAction::Open(first, same)));
    album.add(&mut window, "diff-equal", [1_280, 800], Dark);
}

#[test]
fn what_reconnecting_changed() {
    let mut album = Album::new();
    let mut window = Window::calling("all", "dual_search_companies", r#"{"searchTerm":"north","pageSize":5}"#);
    window.use_sample("all,phase=1,text=v1");
    window.send(Action::Reconnect);
    album.add(&mut window, "again", MAIN, Dark);
    album.add(&mut window, "again-1280", [1_280, 800], Light);
}

#[test]
fn hosts() {
    let mut album = Album::new();
    let mut window = Window::calling("all", "dual_search_companies", r#"{"pageSize":250}"#);
    let hosts = Hosts::built_in();
    let id = |id: &str| hosts.get(id).unwrap().id;
    window.send(Action::ShowDrawer(DrawerTab::Hosts));
    window.send(Action::Hosts(HostsAction::Pin(id("codex"))));
    window.send(Action::Hosts(HostsAction::Open(id("codex"))));
    album.add(&mut window, "hosts-drawer", MAIN, Dark);
    window.send(Action::Hosts(HostsAction::ViewAs(Some(id("zed")))));
    album.add(&mut window, "hosts-view-as", MAIN, Light);
    window.send(Action::Hosts(HostsAction::Show(Some(id("codex")))));
    album.add(&mut window, "hosts-light", MAIN, Light);
    window.send(Action::Hosts(HostsAction::Select(id("claude-code"))));
    album.add(&mut window, "hosts-cut", MAIN, Dark);
    window.send(Action::Hosts(HostsAction::Select(id("codex"))));
    window.send(Action::Hosts(HostsAction::Beside(Some(id("zed")))));
    album.add(&mut window, "hosts-beside", [1_280, 800], Dark);
    window.send(Action::Hosts(HostsAction::Beside(None)));
    window.send(Action::Hosts(HostsAction::Detail(HostDetail::Lost)));
    album.add(&mut window, "hosts-640", [640, 520], Dark);
    window.send(Action::Hosts(HostsAction::ShowDeliveries(true)));
    album.add(&mut window, "hosts-deliveries", MAIN, Dark);
}
