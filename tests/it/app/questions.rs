//! The questions of the start, from the first minute on.

use super::painted::paints;
use super::{
    Window, called, click, copied, on_sample, on_sample_at, perform, press, until, until_label,
};
use crate::live::open_sized;
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use mcp_loupe::state::{CallAction, DrawerTab, PaneView, Screen, ViewAction};

#[test]
fn the_first_minute() {
    [[1_280.0, 800.0], [1_600.0, 1_000.0]]
        .into_iter()
        .for_each(first_minute_at);
}

fn first_minute_at(size: [f32; 2]) {
    let mut window = on_sample_at(size);
    window.get_by_label("Sample server, inside this program. Nothing leaves this computer.");
    assert!(
        window
            .get_by_label("Call strict_search_companies")
            .is_focused()
    );
    // Step 2: Ctrl Enter calls what is selected.
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    until(&mut window, "the answer is there", |window| {
        window.state().state.capture().is_some()
    });
    until_label(&mut window, "Data");
    until_label(&mut window, "read from the text (JSON)");
    until_label(&mut window, "Text, what ");
    until_label(&mut window, "Text, what ");
    // Both are on the screen, not only in the accessibility tree.
    until(&mut window, "the saving is read", |window| {
        paints(window, "proved")
    });
    until(&mut window, "the source is read", |window| {
        paints(window, "read from the text (JSON)")
    });
    // Step 3: the other format is one more call, and stands beside the first.
    click(&mut window, "Compare json / markdown · 1 more call");
    until_label(&mut window, "json text, baseline: ");
    until_label(&mut window, "markdown text, cheapest of these answers: ");
    until_label(&mut window, " facts missing");
    until_label(&mut window, "JSON, compact, if you changed it: ");
    until_label(&mut window, "JSON, compact: ");
    for column in [
        "json text, ",
        "markdown text, ",
        "JSON, compact, ",
        "Markdown table, ",
    ] {
        until(&mut window, column, |window| {
            window
                .query_all_by_label_contains(column)
                .any(|card| shows(window, &card.rect()))
        });
    }
    assert_eq!(window.state().state.captures.len(), 2);
    window.get_by_label_contains("Answer");
    until_label(&mut window, "city, needed, ");
    until_label(&mut window, "; markdown text: missing 50 of 50");
    // Step 4: what the model needs decides who wins.
    click(&mut window, "Only what markdown has");
    until_label(
        &mut window,
        " tokens, 81% less than json, every needed fact found.",
    );
    click(&mut window, "city is needed");
    until_label(&mut window, " facts missing");
    until_label(&mut window, "JSON, compact: ");
    // The field that was gone to is ticked by a bare key.
    press(&mut window, Key::F8, Modifiers::NONE);
    until_label(&mut window, "city in 4");
    until_label(&mut window, "\"; markdown text: missing; JSON, compact: \"");
    window.ctx.memory_mut(|memory| {
        memory
            .focused()
            .into_iter()
            .for_each(|id| memory.surrender_focus(id))
    });
    press(&mut window, Key::Space, Modifiers::NONE);
    until_label(&mut window, "city, not needed, ");
    // Step 5: who sees what, and who cuts.
    press(&mut window, Key::Escape, Modifiers::NONE);
    until(&mut window, "the answer is shown", |window| {
        window.state().state.view.screen == Screen::Answer
    });
    press(&mut window, Key::Num5, Modifiers::COMMAND);
    until_label(&mut window, "Hosts by outcome");
    // Step 6: the verdict leaves with the command that reproduces it; the way to one's own server stays in sight.
    window
        .get_all_by_label("Use my server…")
        .next()
        .unwrap_or_else(|| panic!("no way to the connect screen"));
    // In a high window it stands in the strip, else in the menu.
    if window.query_by_label("Copy summary").is_none() {
        window.get_by_label_contains("Export").click();
        until_label(&mut window, "Copy summary");
    }
    window.get_by_label("Copy summary").click();
    until(&mut window, "the verdict is copied", |window| {
        !copied(window).is_empty()
    });
    let verdict = copied(&window).concat();
    assert!(
        verdict.contains("Reproduce: `mcp-loupe call strict_search_companies --args "),
        "{verdict}"
    );
    assert!(
        verdict.contains("o200k_base") && verdict.contains("JSON, compact"),
        "{verdict}"
    );
}

/// Whether it is in the window without scrolling.
pub(super) fn shows(window: &Window, rect: &egui::Rect) -> bool {
    window.ctx.content_rect().contains_rect(*rect)
}

/// Which format, how much cheaper, what would be lost: what a stranger asks is on the screen, in the strip alone.
#[test]
fn a_strangers_questions_are_answered_by_the_strip() {
    let read = |tool: &str, words: &[&str]| {
        let mut window = called([1_280.0, 800.0], tool);
        for words in words {
            until(&mut window, words, |window| {
                let strip =
                    egui::Rect::from_min_max(egui::pos2(240.0, 80.0), egui::pos2(1_280.0, 130.0));
                window
                    .query_all_by_label_contains(words)
                    .any(|cell| strip.contains_rect(cell.rect()))
            });
        }
        window
    };
    // Text alone, read as data: CSV says the same for 39% less.
    let window = read(
        "dial_search_user",
        &[
            "Text, what ",
            "CSV, same data: ",
            "% less than the text, same data · drops ",
            " tok of extra text, cheapest",
        ],
    );
    assert!(paints(&window, "cheapest") && paints(&window, "CSV"));
    // What every format drops is said once, below the rows.
    window.get_by_label_contains("Every format of the data drops ");
    // Text beside data that says names of codes: what wins drops them, and nothing is proved.
    let window = read(
        "dual_search_companies",
        &[
            " facts missing",
            "same data · drops ",
            " tok of extra text, cheapest",
        ],
    );
    assert!(
        !paints(&window, "cheapest, proved"),
        "what drops text is no proof"
    );
}

/// *Why?* explains the saving that the strip names, and no other.
#[test]
fn why_leads_to_the_format_that_wins() {
    let mut window = called([1_280.0, 800.0], "dial_search_user");
    until_label(&mut window, " tok of extra text, cheapest");
    press(&mut window, Key::W, Modifiers::NONE);
    until_label(&mut window, "From: Text");
    until_label(&mut window, "To: CSV");
}

#[test]
fn markdown_or_json_is_one_click() {
    let mut window = on_sample();
    window.get_by_label_contains("Markdown or JSON?").click();
    until_label(&mut window, "json text, baseline: ");
    assert_eq!(window.state().state.captures.len(), 2);
    // The steps to the winner are shown in place, and leave the screen as it is.
    press(&mut window, Key::W, Modifiers::NONE);
    until_label(&mut window, "JSON, compact against json");
    until_label(&mut window, "white space, −");
    assert_eq!(window.state().state.view.screen, Screen::Compare);
    press(&mut window, Key::Escape, Modifiers::NONE);
    // A section is folded by a click, and unfolded by a key.
    let folded = |window: &Window| {
        window
            .state()
            .state
            .comparisons
            .current
            .as_ref()
            .map(|compare| compare.folded.len())
    };
    click(&mut window, "By record 50");
    assert_eq!(
        folded(&window),
        Some(1),
        "what stands before the records is folded"
    );
    until_label(&mut window, "Preamble");
    window.get_by_label("Preamble").focus();
    window.step();
    press(&mut window, Key::ArrowRight, Modifiers::NONE);
    assert_eq!(folded(&window), Some(0));
    press(&mut window, Key::F8, Modifiers::NONE);
    assert_eq!(
        window
            .state()
            .state
            .comparisons
            .current
            .as_ref()
            .and_then(|compare| compare.at),
        Some((0, 0))
    );
    until_label(&mut window, "Missing 6: companyType, address1, city, ");
    assert!(
        window
            .query_all_by_label_contains("Columns show")
            .next()
            .is_none(),
        "no answer has two parts"
    );
    click(&mut window, "Hosts 41");
    until_label(
        &mut window,
        " hosts show every column whole: Claude Code · ",
    );
    window.get_by_label("Export").click();
    until_label(&mut window, "Copy as Markdown table");
    window.get_by_label("Copy as Markdown table").click();
    until(&mut window, "the table is copied", |window| {
        !copied(window).is_empty()
    });
    assert!(
        copied(&window)
            .concat()
            .starts_with("| response_format | Tokens (o200k_base) | Against json text |")
    );
    // The verdict that is in sight is the one that is copied.
    window.get_by_label("Copy as…").click();
    until(&mut window, "the menu", |window| {
        window.query_by_label("Copy summary").is_some()
    });
    window.get_by_label("Copy summary").click();
    until(&mut window, "the verdict is copied", |window| {
        copied(window).concat().starts_with("**JSON, compact: ")
            && copied(window).concat().contains("| response_format |")
    });
    press(&mut window, Key::Escape, Modifiers::NONE);
    until_label(&mut window, "Text, what ");
}

#[test]
fn a_page_size_is_measured_as_a_curve() {
    let mut window = on_sample();
    click(&mut window, "Vary an argument…");
    until_label(&mut window, "Measure pageSize: 5, 50, 200");
    click(&mut window, "Measure pageSize: 5, 50, 200");
    until_label(&mut window, "Plot of tokens against items.");
    until_label(
        &mut window,
        "Within 25,000 tokens there is room for 242 companies as sent, 353 as compact JSON; measured up to 50.",
    );
    until_label(&mut window, "546 tok for 5 · ");
    click(&mut window, "Count: Characters");
    until_label(&mut window, "Within 25,000 characters there is room for ");
    click(&mut window, "Fields 11");
    until_label(&mut window, "Different records: no winner.");
    until_label(&mut window, "5 text, ");
}

#[test]
fn an_answer_without_data_offers_the_variant_that_has_it() {
    let mut window = open_sized(None, [1_600.0, 1_000.0]);
    until(&mut window, "it is connected", |window| {
        !window.state().state.session().tools.is_empty()
    });
    window.step();
    let arguments = r#"{"response_format":"markdown","searchTerm":"no such company"}"#;
    perform(&mut window, CallAction::SetArgumentsText(arguments.into()));
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    until_label(&mut window, "Get the json variant · 1 call");
    // The third pane has nothing to show: it is closed, and whoever opens it can close it again.
    let is_open = |window: &Window| window.state().state.view.open[2];
    until(&mut window, "the third pane is closed", |window| {
        !is_open(window)
    });
    for by_key in [false, true] {
        press(&mut window, Key::Num3, Modifiers::COMMAND);
        assert!(is_open(&window));
        if by_key {
            press(&mut window, Key::W, Modifiers::COMMAND);
        } else {
            let third = window
                .query_all_by_label_contains("Close ")
                .max_by(|a, b| a.rect().left().total_cmp(&b.rect().left()));
            third.unwrap_or_else(|| panic!("nothing closes it")).click();
        }
        (0..8).for_each(|_| window.step());
        assert!(!is_open(&window), "closed by key: {by_key}");
    }
    press(&mut window, Key::Num3, Modifiers::COMMAND);
    click(&mut window, "Get the json variant · 1 call");
    until_label(&mut window, "read from the text (JSON)");
}

#[test]
fn the_ledger_tells_every_row_in_words() {
    let mut window = open_sized(None, [1_600.0, 1_000.0]);
    until(&mut window, "it is connected", |window| {
        !window.state().state.session().tools.is_empty()
    });
    window.step();
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    for row in ["Text, ", "JSON, compact, ", "TOON, ", "Markdown table, "] {
        until_label(&mut window, row);
    }
}

#[test]
fn does_my_text_match_my_data() {
    let mut window = on_sample();
    window
        .get_by_label_contains("Does my text match my data?")
        .click();
    until(&mut window, "the answer is there", |window| {
        window.state().state.capture().is_some()
    });
    until_label(&mut window, "not in text");
    until_label(&mut window, " tok of extra text");
    assert!(
        !paints(&window, "same data, proved"),
        "the text says names of codes that the data lacks"
    );
    let capture = window
        .state()
        .state
        .capture()
        .map(|capture| capture.tool.name.clone());
    assert_eq!(capture.as_deref(), Some("dual_search_companies"));
}

#[test]
fn what_do_hostile_records_break() {
    let mut window = on_sample();
    window
        .state_mut()
        .state
        .perform(ViewAction::ShowDrawer(DrawerTab::Hosts), &mut Vec::new());
    window
        .get_by_label_contains("What do hostile records break?")
        .click();
    until(&mut window, "the answer is there", |window| {
        window.state().state.capture().is_some()
    });
    // Said in words from the round trips of this answer, and seen in a format that breaks.
    until(&mut window, "what breaks is said", |window| {
        paints(window, "These records break: XML: cannot be written")
            && paints(window, "give every value back.")
    });
    let view = &window.state().state.view;
    assert_eq!(view.drawer, DrawerTab::Cost);
    assert_eq!(
        view.panes,
        [
            PaneView::Rendered("markdown-table"),
            PaneView::Text("markdown-table"),
            PaneView::Tree
        ]
    );
    until_label(&mut window, "Text, what ");
    // The next answer is looked at as any.
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    until(&mut window, "it is called again", |window| {
        window.state().state.captures.len() == 2
    });
    assert_eq!(window.state().state.view.panes, PaneView::FIRST);
    assert!(
        window
            .query_by_label("What hostile records break")
            .is_none()
    );
}
