//! Texts read as data in the window: the chooser of readers, patterns, marks, links.

use egui::Theme::{Dark, Light};
use loupe_core::capture::ReadText;
use mcp_loupe::state::{DrawerTab, PaneView, ViewAction};

use crate::window::Window;

const SIZE: [u32; 2] = [1_280, 800];

/// A listing as the filesystem server sends it.
fn listing() -> Window {
    let text = r"[DIR] docs\n[FILE] a.md          1.21 KB\n[FILE] b.md          2.41 KB\n\nTotal: 2 files, 1 directory";
    Window::showing(&format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":"{text}"}}],"structuredContent":{{"content":"{text}"}}}}}}"#
    ))
}

fn answer(text: &str) -> Window {
    let text = serde_json::Value::from(text);
    Window::showing(&format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":{text}}}]}}}}"#
    ))
}

/// As `text::nothing_claims_to_lose_nothing_where_the_text_says_more`, on the screen.
#[test]
fn the_window_claims_no_lossless_format_where_the_text_says_more() {
    for answer in crate::text::SAYS_MORE {
        let mut window =
            Window::showing(&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{answer}}}"#));
        for tab in [DrawerTab::Cost, DrawerTab::Tokens] {
            window.send(ViewAction::ShowDrawer(tab));
            let painted = window.painted([1_600, 1_000], Dark);
            assert!(painted.contains("drops"), "{painted}");
            // What the fix would prove is said of the fix alone.
            let fixes = painted.matches("after one fix").count();
            for claim in crate::text::CLAIMS {
                let said = painted.matches(claim).count();
                assert!(said <= fixes, "{claim}: {painted}");
            }
        }
    }
}

#[test]
fn the_data_names_its_reader_and_offers_others() {
    let mut window = listing();
    let painted = window.painted(SIZE, Light);
    assert!(
        painted.contains("read from the text (Lines of one shape, 100%), sent twice"),
        "{painted}"
    );
    assert_eq!(
        window.state.view.open,
        [false, true, true],
        "a listing says the same when it is rendered"
    );
    let menu = window.painted_after_click(SIZE, Light, "read from the text");
    for text in [
        "Automatic · Lines of one shape",
        "Not as data",
        "Pattern…",
        "Copy as outputSchema",
    ] {
        assert!(menu.contains(text), "{text} is not in\n{menu}");
    }
    assert!(
        menu.contains("tok in") && menu.contains("that send both"),
        "{menu}"
    );
    window.send(ViewAction::ReadText(ReadText::Never));
    let painted = window.painted(SIZE, Light);
    assert!(!painted.contains("Lines of one shape"), "{painted}");
    assert_eq!(window.state.view.open, [false, true, false]);
}

#[test]
fn a_pattern_is_tried_on_the_text_and_kept() {
    let mut window = listing();
    window.painted(SIZE, Dark);
    window.send(ViewAction::TryPattern(Some(
        r"^\[(?<kind>\w+)\] (?<name>\S+)".into(),
    )));
    let painted = window.painted(SIZE, Dark);
    assert!(painted.contains("3 records, 45% of the text"), "{painted}");
    window.send(ViewAction::TryPattern(Some("(?<kind>".into())));
    assert!(window.painted(SIZE, Dark).contains("unclosed group"));
    let pattern = ReadText::parse(r"^\[(?<kind>\w+)\] (?<name>\S+)").unwrap();
    window.send(ViewAction::ReadText(pattern.clone()));
    let painted = window.painted(SIZE, Dark);
    assert!(
        painted.contains("read from the text (Pattern, 45%), sent twice"),
        "{painted}"
    );
    assert_eq!(window.state.capture().unwrap().read_text, pattern);
}

#[test]
fn what_the_data_lacks_is_listed_with_its_cost() {
    let text = "Rain until 17:40, wind 12 m/s.\n\n```json\n{\"temp\":4}\n```\n";
    let mut window = answer(text);
    let painted = window.painted(SIZE, Light);
    assert!(painted.contains("13 tok extra"), "{painted}");
    let listed = window.painted_after_click(SIZE, Light, "13 tok extra");
    for text in ["Extra text", "Rain until 17:40, wind 12 m/s", "Ln 1"] {
        assert!(listed.contains(text), "{text} is not in\n{listed}");
    }
}

#[test]
fn a_value_of_the_data_is_marked_where_it_was_read() {
    let mut window = answer("name: Ada\nage: 36\ncity: London");
    window.painted_after_click(SIZE, Light, "36");
    let cursor = window.state.view.tree_cursor.expect("a value is selected");
    let subject = loupe_analysis::queries::subject(window.state.capture().unwrap().clone());
    let data = subject.data.as_ref().unwrap();
    let node = data.doc.node(cursor).unwrap();
    assert_eq!(node.key().as_deref(), Some("age"));
    assert_eq!(data.place_in_text(node, &subject.response), Some(15..17));
}

/// As in the text that data was read from, also where both were sent.
#[test]
fn a_value_of_the_data_is_marked_in_the_text_beside_it() {
    let answer = r#"{"content":[{"type":"text","text":"Ada is 36"}],"structuredContent":{"name":"Ada","age":36}}"#;
    let mut window = Window::showing(&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{answer}}}"#));
    let before = window.picture(SIZE, Light);
    assert_eq!(
        window.state.view.open,
        [false, true, true],
        "the text stands left of the data"
    );
    let subject = loupe_analysis::queries::subject(window.state.capture().unwrap().clone());
    let age = subject
        .data
        .as_ref()
        .unwrap()
        .root()
        .get("age")
        .unwrap()
        .index();
    window.send(ViewAction::SetTreeCursor(age));
    let after = window.picture(SIZE, Light);
    let differ = after
        .enumerate_pixels()
        .filter(|(x, y, pixel)| *x < SIZE[0] / 2 && before.get_pixel(*x, *y) != *pixel);
    assert!(differ.count() > 50, "nothing is marked in the text");
}

#[test]
fn json_is_laid_out_on_demand() {
    let mut window = answer(r#"{"a":{"b":[1,2]}}"#);
    assert!(window.painted(SIZE, Light).contains(r#"{"a":{"b":[1,2]}}"#));
    assert_eq!(
        window.state.view.open,
        [false, true, true],
        "JSON is no Markdown"
    );
    window.send(ViewAction::SetPane {
        pane: 1,
        shows: PaneView::Text("content-pretty"),
    });
    let painted = window.painted(SIZE, Light);
    assert!(painted.contains("\n    \"b\": ["), "{painted}");
    assert!(
        painted.contains("JSON, laid out") && painted.contains("Exact"),
        "{painted}"
    );
}
