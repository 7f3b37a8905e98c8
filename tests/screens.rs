//! Pictures of every screen and state, compared with `tests/snapshots`. They are drawn on the CPU from bundled fonts, so
//! they are the same on every machine. `UPDATE_SNAPSHOTS=force cargo test --test screens` accepts what changed.
#![cfg(feature = "gui")]

mod window;

use std::time::Duration;

use egui::Theme::{Dark, Light};
use egui_kittest::{SnapshotOptions, SnapshotResults, try_image_snapshot_options};
use mcp_loupe::state::{Action, PaneView};
use window::Window;

const MAIN: [u32; 2] = [1_600, 1_000];

struct Album(SnapshotResults);

impl Album {
    fn new() -> Self {
        Self(SnapshotResults::new())
    }

    fn add(&mut self, window: &mut Window, name: &str, size: [u32; 2], theme: egui::Theme) {
        // A glyph's edge may be rounded differently by another compiler; a moved one changes hundreds of pixels.
        let options = SnapshotOptions::new().max_failed_pixels(20);
        self.0.add(try_image_snapshot_options(&window.picture(size, theme), name, &options));
    }
}

fn dual() -> Window {
    Window::calling("all", "dual_search_companies", r#"{"searchTerm":"north"}"#)
}

/// Selects the third record of what the tree lists, as a click on it does.
fn select_record(window: &mut Window, size: [u32; 2]) {
    use mcp_loupe::report::{Answer, Question};

    window.picture(size, Dark);
    let id = window.state.view.capture.clone().unwrap();
    let record = match window.state.answers.get(&id, Question::Text("content")) {
        Some(mcp_loupe::state::Asked::Ready(Answer::Text(text))) => text.matched.records.get(2).map(|record| record.node),
        _ => None,
    };
    window.send(Action::SelectRecord(record));
}

#[test]
fn main_screen() {
    let mut album = Album::new();
    let mut window = dual();
    select_record(&mut window, MAIN);
    album.add(&mut window, "main-dark", MAIN, Dark);
    album.add(&mut window, "main-light", MAIN, Light);
    album.add(&mut window, "main-1366", [1_366, 768], Dark);
    album.add(&mut window, "main-1280", [1_280, 800], Light);
    album.add(&mut window, "main-960", [960, 1_040], Dark);
    album.add(&mut window, "main-640", [640, 520], Dark);
}

#[test]
fn start_screen() {
    let mut album = Album::new();
    album.add(&mut Window::sample("all"), "start", MAIN, Dark);
    album.add(&mut Window::sample("all"), "start-1280", [1_280, 800], Light);
}

#[test]
fn odd_answers() {
    let mut album = Album::new();
    let mut text_only = Window::showing(
        r##"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"# Notes\n\nOnly *text* here, with `code`, ~~old~~ and a [link](https://example.com).\n\n- [x] done\n- [ ] open\n  1. one\n  2. two\n\n> quoted\n> twice\n\n```rust\nfn main() {}\n```\n\n<details><summary>more</summary>raw</details>\n\n---\n\n![a chart](https://example.com/chart.png)\n"}]}}"##,
    );
    album.add(&mut text_only, "text-only", MAIN, Dark);
    let mut structured_only = Window::showing(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"rows":[{"id":1,"name":"é","tags":["a","b"],"ok":true,"none":null}],"total":1}}}"#);
    album.add(&mut structured_only, "structured-only", MAIN, Light);
    let mut tool_error = Window::showing(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"Error: User with ID 999 not found"}],"isError":true}}"#);
    album.add(&mut tool_error, "tool-error", MAIN, Dark);
    let mut error = Window::showing(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unknown tool: nosuch"}}"#);
    album.add(&mut error, "error", MAIN, Dark);
    let mut blocks = Window::showing(
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"For you.","annotations":{"audience":["user"],"priority":0.9}},{"type":"image","data":"aGVsbG8=","mimeType":"image/png"},{"type":"resource_link","uri":"file:///a.txt","name":"a"},{"type":"hologram","x":1},{"type":"text"}]}}"#,
    );
    album.add(&mut blocks, "blocks", MAIN, Dark);
    let mut hostile = Window::calling("all,data=hostile", "strict_search_companies", r#"{"response_format":"markdown"}"#);
    album.add(&mut hostile, "hostile", MAIN, Dark);
    let mut timeout = Window::showing("");
    album.add(&mut timeout, "timeout", MAIN, Dark);
}

#[test]
fn loading_and_other_panes() {
    let mut album = Album::new();
    let mut window = dual();
    window.send(Action::SetPane { pane: 1, shows: PaneView::Text("toon") });
    window.send(Action::TogglePane(0));
    album.add(&mut window, "two-panes", MAIN, Dark);
    let mut loading = Window::calling("all", "strict_search_companies", "{}");
    loading.state.running = Some(mcp_loupe::state::Running {
        id: 99,
        tool: "strict_search_companies".into(),
        since: Duration::ZERO,
        limit: Duration::from_secs(60),
        progress: Some((2.0, Some(3.0), Some("counting".into()))),
        unreadable: 0,
    });
    loading.state.now = Duration::from_millis(1_400);
    album.add(&mut loading, "loading", MAIN, Dark);
}
