//! Panes: text selected and found, separators, the format flipped by key.

use super::{Window, called, click, copied, on_sample_at, press, until, until_label};
use crate::live::open_sized;
use egui::{Event, Key, Modifiers};
use egui_kittest::kittest::Queryable;
use mcp_loupe::state::ViewAction;

fn point(window: &mut Window, pos: egui::Pos2) {
    window.event(Event::PointerMoved(pos));
    window.step();
}

fn drag(window: &mut Window, from: egui::Pos2, to: egui::Pos2) {
    point(window, from);
    let button = |pos, pressed| Event::PointerButton {
        pos,
        button: egui::PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    window.event(button(from, true));
    window.step();
    // Beyond what counts as a click, then to the place.
    point(window, from + (to - from) * 0.5);
    point(window, to);
    window.event(button(to, false));
    window.step();
}

#[test]
fn text_is_selected_by_dragging_counted_and_copied() {
    let mut window = called([1_600.0, 1_000.0], "dual_search_companies");
    until_label(&mut window, "exact text, ");
    let row = window.get_by_label("## Company Search Results").rect();
    drag(
        &mut window,
        row.left_center() + egui::vec2(30.0, 0.0),
        row.right_center(),
    );
    until_label(&mut window, "chars selected · ");
    until_label(&mut window, "tokens by themselves");
    window.event(Event::Copy);
    window.step();
    let text = copied(&window).pop().unwrap_or_default();
    assert!(
        text.starts_with('#') && text.ends_with("Results"),
        "{text:?}"
    );
}

#[test]
fn finding_goes_from_place_to_place_and_around() {
    let mut window = called([1_600.0, 1_000.0], "dual_search_companies");
    press(&mut window, Key::F, Modifiers::COMMAND);
    window.event(Event::Text("Last Modified".into()));
    window.step();
    until_label(&mut window, "1 of 50");
    let before = window
        .query_all_by_label_contains("**Last Modified**")
        .map(|row| row.rect().top())
        .fold(f32::MAX, f32::min);
    click(&mut window, "Previous place");
    until_label(&mut window, "50 of 50");
    until(&mut window, "the last place is in sight", |window| {
        window
            .query_all_by_label_contains("**Last Modified**")
            .all(|row| row.rect().top() > before)
            || window.query_by_label("## Company Search Results").is_none()
    });
    click(&mut window, "Next place");
    until_label(&mut window, "1 of 50");
    press(&mut window, Key::Escape, Modifiers::NONE);
    assert!(window.state().state.view.search.is_none());
}

#[test]
fn the_ledger_flips_the_middle_pane_by_key() {
    use mcp_loupe::state::PaneView;
    let mut window = called([1_600.0, 1_000.0], "strict_search_companies");
    until_label(&mut window, "TOON, ");
    window.get_by_label("Token ledger").focus();
    window.step();
    let shows = |window: &Window, pane: usize| window.state().state.view.shows(pane);
    assert_eq!(shows(&window, 1), PaneView::Text("content"));
    press(&mut window, Key::ArrowDown, Modifiers::NONE);
    assert_eq!(
        shows(&window, 1),
        PaneView::Text("wire"),
        "formats that do not apply are passed over"
    );
    press(&mut window, Key::Escape, Modifiers::NONE);
    assert_eq!(shows(&window, 1), PaneView::Text("content"));
    press(&mut window, Key::ArrowDown, Modifiers::NONE);
    press(&mut window, Key::Enter, Modifiers::SHIFT);
    assert_eq!(
        [shows(&window, 1), shows(&window, 2)],
        [PaneView::Text("content"), PaneView::Text("wire")]
    );
    window.get_by_label("Token ledger").focus();
    window.step();
    press(&mut window, Key::ArrowDown, Modifiers::NONE);
    press(&mut window, Key::ArrowDown, Modifiers::NONE);
    press(&mut window, Key::Enter, Modifiers::NONE);
    assert_eq!(
        (shows(&window, 1), window.state().state.view.peek),
        (PaneView::Text("json"), None)
    );
}

#[test]
fn panes_are_resized_by_their_separators() {
    let mut window = called([1_600.0, 1_000.0], "dual_search_companies");
    let separator = |window: &Window| {
        window
            .get_all_by_label("Resize panes")
            .next()
            .unwrap()
            .rect()
            .center()
    };
    let before = separator(&window);
    drag(&mut window, before, before + egui::vec2(60.0, 0.0));
    let after = separator(&window);
    assert!((after.x - before.x - 60.0).abs() < 2.0, "{before} {after}");
}

#[test]
fn an_emoji_tells_its_code_point_and_cost() {
    let mut window = called([1_600.0, 1_000.0], "dual_search_companies");
    let text = "| **Status** | ✅ Active |";
    until(&mut window, "the row is drawn", |window| {
        window.query_all_by_label(text).next().is_some()
    });
    let row = window.get_all_by_label(text).next().unwrap().rect();
    let mut told = false;
    for step in 0..26 {
        point(
            &mut window,
            row.left_center() + egui::vec2(32.0 + step as f32 * 7.0, 0.0),
        );
        // The tip waits for the pointer to rest.
        for _ in 0..40 {
            window.step();
        }
        told |= window.query_by_label("U+2705").is_some()
            && window
                .query_by_label_contains("1 token (o200k_base)")
                .is_some();
    }
    assert!(told, "no place of the row told its code point");
}

#[test]
fn tokens_are_counted_as_chosen_and_taken_apart() {
    let mut window = open_sized(None, [1_600.0, 1_000.0]);
    until_label(&mut window, "What do you want to know?");
    until(&mut window, "definitions are counted", |window| {
        window.state().state.tools_total().is_some()
    });
    window.step();
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    until_label(&mut window, "Text, what ");
    click(&mut window, "Tokenizer o200k_base");
    until_label(&mut window, "p50k_base, exact");
    click(&mut window, "p50k_base, exact");
    until_label(&mut window, "p50k_base");
    click(&mut window, "Tokenizer p50k_base");
    until_label(&mut window, "Claude, ≈ estimate");
    click(&mut window, "Claude, ≈ estimate");
    until_label(&mut window, " hosts show: ≈");
    press(&mut window, Key::Num6, Modifiers::COMMAND);
    until_label(&mut window, "in JSON, compact (o200k_base)");
    until_label(&mut window, "Where the saving comes from");
    until_label(&mut window, "By key, over all records");
}

#[test]
fn a_large_answer_is_counted_whole_once_a_person_says_so() {
    let mut window = on_sample_at([1_600.0, 1_000.0]);
    // What is large is set low, so that a small answer waits.
    window
        .state_mut()
        .state
        .perform(ViewAction::CountUpTo(100), &mut Vec::new());
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    until_label(&mut window, "counting all of it takes about");
    until(&mut window, "the rest is done", |window| {
        window.state().state.query_results.working() == 0
    });
    let rows = |window: &Window| {
        let state = &window.state().state;
        state
            .view
            .capture
            .as_ref()
            .map_or(0, |capture| state.counted_rows(capture).len())
    };
    // What the server sends and the plain choice, in the strip and in the ledger.
    assert_eq!(rows(&window), 5);
    assert!(
        window
            .query_all_by_label_contains("Text, what ")
            .next()
            .is_some()
    );
    assert!(window.query_all_by_label_contains("YAML").next().is_none());
    window
        .get_all_by_label("Count all of it")
        .next()
        .unwrap()
        .click();
    until(&mut window, "every format is counted", |window| {
        rows(window) == loupe_core::format::FORMATS.len()
    });
    until_label(&mut window, "YAML");
    assert!(
        window
            .query_all_by_label_contains("counting all of it")
            .next()
            .is_none()
    );
}
