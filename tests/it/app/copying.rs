//! Everything of an answer can be copied and found: in the tree, in a table, as bytes, token by token.

use egui::accesskit::Role;
use egui::{Event, Key, Modifiers};
use egui_kittest::kittest::{NodeT, Queryable};
use mcp_loupe::state::{PaneView, ViewAction};

use super::{Window, called, click, copied, press, until, until_label};

/// What is copied by a key.
#[track_caller]
fn copied_by(window: &mut Window, key: Key, modifiers: Modifiers) -> String {
    window.event(Event::Key {
        key,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers,
    });
    for _ in 0..300 {
        window.step();
        if let Some(text) = copied(window).pop() {
            return text;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("nothing was copied by {key:?}");
}

fn show(window: &mut Window, pane: usize, shows: PaneView) {
    let ctx = window.ctx.clone();
    window
        .state_mut()
        .perform(&ctx, vec![ViewAction::SetPane { pane, shows }.into()]);
    window.step();
}

#[test]
fn a_value_is_copied_in_each_way_by_key() {
    let mut window = called([1_600.0, 1_000.0], "dual_search_companies");
    until_label(&mut window, "items, array of 50");
    window.get_by_role(Role::Tree).focus();
    window.step();
    // Members of the root are open, as are the first record's after one more level.
    press(&mut window, Key::Num3, Modifiers::NONE);
    until_label(&mut window, "companyName, string ");
    for _ in 0..4 {
        press(&mut window, Key::ArrowDown, Modifiers::NONE);
    }
    assert_eq!(
        copied_by(&mut window, Key::P, Modifiers::NONE),
        "/items/0/companyName"
    );
    assert_eq!(
        copied_by(&mut window, Key::P, Modifiers::SHIFT),
        "$.items[0].companyName"
    );
    assert_eq!(
        copied_by(&mut window, Key::K, Modifiers::NONE),
        "companyName"
    );
    let json = copied_by(&mut window, Key::J, Modifiers::NONE);
    window.event(Event::Copy);
    window.step();
    let value = copied(&window).pop().unwrap();
    assert_eq!(json, format!("\"{value}\""));
    let column = copied_by(&mut window, Key::L, Modifiers::NONE);
    let lines: Vec<_> = column.lines().collect();
    assert_eq!(
        (lines.len(), lines[0], lines[1]),
        (51, "companyName", value.as_str())
    );
    press(&mut window, Key::T, Modifiers::NONE);
    until_label(&mut window, "/items, 50 rows, ");
}

#[test]
fn a_table_is_sorted_cut_down_and_copied() {
    let mut window = called([1_600.0, 1_000.0], "dual_search_companies");
    show(&mut window, 2, PaneView::Table);
    until_label(&mut window, "id, 200 tokens, not sorted");
    let rows = window.query_all_by_label_contains(", companyName ").count();
    assert!(
        (5..50).contains(&rows),
        "only rows in sight are laid out, not {rows}"
    );
    window.get_by_label_contains("companyName, ").click();
    until_label(&mut window, "sorted, the least first");
    window.get_by_label_contains("id, 200 tokens").focus();
    window.step();
    press(&mut window, Key::Delete, Modifiers::NONE);
    until_label(&mut window, "1 column hidden");
    window.get_by_label_contains("companyName, ").focus();
    window.step();
    press(&mut window, Key::ArrowRight, Modifiers::SHIFT);
    click(&mut window, "Copy the table as Markdown");
    until(&mut window, "it is copied", |window| {
        !copied(window).is_empty()
    });
    let text = copied(&window).concat();
    let lines: Vec<_> = text.lines().collect();
    assert!(
        lines[0].starts_with("| isActive | companyName | companyType |"),
        "{}",
        lines[0]
    );
    assert!(
        lines[2..].is_sorted_by_key(|line| line.split('|').nth(2).map(str::to_lowercase)),
        "{text}"
    );
    assert_eq!(lines.len(), 52);
    // A record that is selected here is selected in the other panes.
    window
        .query_all_by_label_contains(", companyName ")
        .next()
        .unwrap()
        .click();
    window.step();
    assert!(window.state().state.view.record.is_some());
    click(&mut window, "1 column hidden");
    until_label(&mut window, "id, 200 tokens");
}

#[test]
fn what_is_looked_for_is_counted_in_every_pane() {
    let mut window = called([1_600.0, 1_000.0], "dual_search_companies");
    press(&mut window, Key::F, Modifiers::COMMAND);
    window.event(Event::Text(
        "$.items[?@.isActive == false].companyName".into(),
    ));
    window.step();
    until_label(&mut window, "No matches");
    click(&mut window, "Find by: JSONPath");
    until_label(&mut window, "structuredContent 1");
    let label = |window: &Window| {
        let found = window.query_all_by_label_contains("structuredContent ");
        found
            .filter_map(|node| node.accesskit_node().label())
            .find(|label| {
                label
                    .split(' ')
                    .nth(1)
                    .is_some_and(|count| count.parse::<usize>().is_ok())
            })
    };
    let count: usize = label(&window)
        .unwrap()
        .split(' ')
        .nth(1)
        .unwrap()
        .parse()
        .unwrap();
    assert!((2..50).contains(&count));
    until_label(&mut window, &format!("1 of {count}"));
    window
        .get_by_label(&format!("structuredContent {count}"))
        .click();
    until_label(&mut window, "in structuredContent");
    click(&mut window, "Find by: Regex");
    until_label(&mut window, "No matches");
    window.state_mut().state.view.search = Some(loupe_analysis::queries::Search {
        text: "(".into(),
        kind: loupe_analysis::queries::SearchKind::Regex,
    });
    until_label(&mut window, "not a regular expression: ");
}

#[test]
fn a_text_shows_its_bytes_and_its_tokens() {
    let mut window = called([1_600.0, 1_000.0], "dual_search_companies");
    // The system's fonts are not here.
    until_label(&mut window, " characters without a font");
    click(&mut window, "Tokens off");
    until_label(&mut window, "token 1 of ");
    click(&mut window, "Hex");
    until_label(&mut window, "000000: 23 23 20 43 ");
    window.get_by_label_contains(" in hexadecimal").focus();
    window.step();
    press(&mut window, Key::ArrowRight, Modifiers::SHIFT);
    until_label(&mut window, "2 B selected from 0");
    window.event(Event::Copy);
    window.step();
    assert_eq!(copied(&window).concat(), "23 23");
}
