//! The whole program but the window: the app with its engine and the real sample, used as a person uses it, through the
//! accessibility tree alone.

mod collections;
mod copying;
mod exact;
mod fixtures;
mod hosts;
mod identity;
mod painted;
mod dead_ends;
mod settings;

use std::sync::Arc;

use crate::live::{Window, open_sized, until};
use crate::peer::oauth::{Modes, OAuthPeer};
use egui::{Event, Key, Modifiers, OutputCommand};
use egui_kittest::kittest::Queryable;
use mcp_loupe::finding::{FindingsQuery, Profile, Severity};
use mcp_loupe::host::Hosts;
use mcp_loupe::mcp::login::Visit;
use mcp_loupe::problem::{Problem, ProblemKind};
use mcp_loupe::source::{Command, Http, Protocol, Source};
use mcp_loupe::state::{
    Action, CallAction, CompareTab, ConnectAction, Connection, Dialog, DrawerTab, FindingsAction, HostsAction, PaneView,
    QueryState, Screen, SettingsAction, ViewAction,
};
use painted::paints;

fn open_with(source: Option<Source>) -> Window {
    open_sized(source, [1_280.0, 800.0])
}

#[track_caller]
fn until_label(window: &mut Window, label: &str) {
    until(window, label, |window| window.query_all_by_label_contains(label).next().is_some());
}

#[track_caller]
fn click(window: &mut Window, label: &str) {
    window.get_by_label(label).click();
    window.step();
}

fn press(window: &mut Window, key: Key, modifiers: Modifiers) {
    window.event(Event::ModifiersChanged(modifiers));
    window.event(Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers });
    window.step();
    window.event(Event::ModifiersChanged(Modifiers::NONE));
    window.step();
}

fn on_sample() -> Window {
    on_sample_at([1_280.0, 800.0])
}

fn on_sample_at(size: [f32; 2]) -> Window {
    let mut window = open_sized(None, size);
    until_label(&mut window, "What do you want to know?");
    until(&mut window, "definitions are counted", |window| window.state().state.tools_total().is_some());
    window.step();
    window
}

fn shell(script: &str) -> Source {
    // Scripts that know the handshake alone.
    let protocol = Protocol::Version("2025-11-25");
    Source::Command(Command { program: "sh".into(), args: vec!["-c".into(), script.into()], protocol, ..Command::default() })
}

#[test]
fn the_first_minute() {
    [[1_280.0, 800.0], [1_600.0, 1_000.0]].into_iter().for_each(first_minute_at);
}

fn first_minute_at(size: [f32; 2]) {
    let mut window = on_sample_at(size);
    window.get_by_label("Sample server, inside this program. Nothing leaves this computer.");
    assert!(window.get_by_label("Call strict_search_companies").is_focused());
    // Step 2: Ctrl Enter calls what is selected.
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    until(&mut window, "the answer is there", |window| window.state().state.capture().is_some());
    until_label(&mut window, "Data");
    until_label(&mut window, "read from the text (JSON)");
    until_label(&mut window, "Sent now, text: ");
    until_label(&mut window, "Sent now, ");
    // Both are on the screen, not only in the accessibility tree.
    until(&mut window, "the saving is read", |window| paints(window, "no fact lost"));
    until(&mut window, "the source is read", |window| paints(window, "read from the text (JSON)"));
    // Step 3: the other format is one more call, and stands beside the first.
    click(&mut window, "Compare json / markdown · 1 more call");
    until_label(&mut window, "json, baseline: ");
    until_label(&mut window, "markdown, cheapest of these answers: ");
    until_label(&mut window, ", misses 7 of 11 fields");
    until_label(&mut window, "JSON, compact, if you changed it: ");
    until_label(&mut window, "Same data as JSON, compact: ");
    for column in ["json as sent, ", "markdown as sent, ", "JSON, compact, ", "Markdown table, "] {
        until(&mut window, column, |window| window.query_all_by_label_contains(column).any(|card| shows(window, &card.rect())));
    }
    assert_eq!(window.state().state.captures.len(), 2);
    window.get_by_label_contains("Answer");
    until_label(&mut window, "city, needed, ");
    until_label(&mut window, "; markdown as sent: missing 50 of 50");
    // Step 4: what the model needs decides who wins.
    click(&mut window, "Only what markdown has");
    until_label(&mut window, " tokens, 81% less than json, nothing needed is lost.");
    click(&mut window, "city is needed");
    until_label(&mut window, "misses 1 of 5 needed fields");
    until_label(&mut window, "Same data as JSON, compact: ");
    // The field that was gone to is ticked by a bare key.
    press(&mut window, Key::F8, Modifiers::NONE);
    until_label(&mut window, "city in 4");
    until_label(&mut window, "\"; markdown as sent: missing; JSON, compact: \"");
    window.ctx.memory_mut(|memory| memory.focused().into_iter().for_each(|id| memory.surrender_focus(id)));
    press(&mut window, Key::Space, Modifiers::NONE);
    until_label(&mut window, "city, not needed, ");
    // Step 5: who sees what, who cuts, and how much fits.
    press(&mut window, Key::Escape, Modifiers::NONE);
    until(&mut window, "the answer is shown", |window| window.state().state.view.screen == Screen::Answer);
    press(&mut window, Key::Num5, Modifiers::COMMAND);
    until_label(&mut window, "Hosts by outcome");
    for words in ["At 25,000 characters, the limit of the servers that this sample re-creates, ", "Measure pageSize: 5, 50, 200"]
    {
        until(&mut window, words, |window| window.query_all_by_label_contains(words).any(|place| shows(window, &place.rect())));
    }
    // Step 6: the verdict leaves with the command that reproduces it; the way to one's own server stays in sight.
    window.get_all_by_label("Use my server…").next().unwrap_or_else(|| panic!("no way to the connect screen"));
    // In a high window it stands in the strip, else in the menu.
    if window.query_by_label("Copy verdict").is_none() {
        window.get_by_label_contains("Export").click();
        until_label(&mut window, "Copy verdict");
    }
    window.get_by_label("Copy verdict").click();
    until(&mut window, "the verdict is copied", |window| !copied(window).is_empty());
    let verdict = copied(&window).concat();
    assert!(verdict.contains("Reproduce: `mcp-loupe call strict_search_companies --args "), "{verdict}");
    assert!(verdict.contains("o200k_base") && verdict.contains("JSON, compact"), "{verdict}");
}

/// Whether it is in the window without scrolling.
fn shows(window: &Window, rect: &egui::Rect) -> bool {
    window.ctx.content_rect().contains_rect(*rect)
}

/// Which format, how much cheaper, what would be lost: what a stranger asks is on the screen, in the strip alone.
#[test]
fn a_strangers_questions_are_answered_by_the_strip() {
    let read = |tool: &str, words: &[&str]| {
        let mut window = called([1_280.0, 800.0], tool);
        for words in words {
            until(&mut window, words, |window| {
                let strip = egui::Rect::from_min_max(egui::pos2(240.0, 80.0), egui::pos2(1_280.0, 130.0));
                window.query_all_by_label_contains(words).any(|cell| strip.contains_rect(cell.rect()))
            });
        }
        window
    };
    // Text alone, read as data: CSV says the same for 39% less.
    let window = read(
        "dial_search_user",
        &["Sent now, text: ", "CSV, same data: ", "% less than sent, no fact lost.", "no fact lost, cheapest"],
    );
    assert!(paints(&window, "no fact lost") && paints(&window, "CSV"));
    // What a change counts beside a row's own tokens is said below the rows.
    window.get_by_label_contains("vs sent counts the ");
    // Text beside data that says names of codes: nobody wins, and what would be lost is counted.
    let window = read("dual_search_companies", &["the text misses ", "leaves out ", " things the text says"]);
    assert!(!paints(&window, "cheapest"), "nothing wins that leaves something out");
}

#[test]
fn markdown_or_json_is_one_click() {
    let mut window = on_sample();
    window.get_by_label_contains("Markdown or JSON?").click();
    until_label(&mut window, "json, baseline: ");
    assert_eq!(window.state().state.captures.len(), 2);
    // A section is folded by a click, and unfolded by a key.
    let folded = |window: &Window| window.state().state.comparisons.current.as_ref().map(|compare| compare.folded.len());
    click(&mut window, "By record 50");
    assert_eq!(folded(&window), Some(1), "what stands before the records is folded");
    until_label(&mut window, "Preamble");
    window.get_by_label("Preamble").focus();
    window.step();
    press(&mut window, Key::ArrowRight, Modifiers::NONE);
    assert_eq!(folded(&window), Some(0));
    press(&mut window, Key::F8, Modifiers::NONE);
    assert_eq!(window.state().state.comparisons.current.as_ref().and_then(|compare| compare.at), Some((0, 0)));
    until_label(&mut window, "Missing 6: companyType, address1, city, ");
    assert!(window.query_all_by_label_contains("Columns show").next().is_none(), "no answer has two parts");
    click(&mut window, "Hosts 28");
    until_label(&mut window, "Claude Code; json as sent: ");
    window.get_by_label("Export").click();
    until_label(&mut window, "Copy as Markdown table");
    window.get_by_label("Copy as Markdown table").click();
    until(&mut window, "the table is copied", |window| !copied(window).is_empty());
    assert!(copied(&window).concat().starts_with("| response_format | Tokens (o200k_base) | Against json as sent |"));
    // The verdict that is in sight is the one that is copied.
    window.get_by_label("Copy as…").click();
    until(&mut window, "the menu", |window| window.query_by_label("Copy verdict").is_some());
    window.get_by_label("Copy verdict").click();
    until(&mut window, "the verdict is copied", |window| {
        copied(window).concat().starts_with("**Same data as JSON, compact: ")
            && copied(window).concat().contains("| response_format |")
    });
    press(&mut window, Key::Escape, Modifiers::NONE);
    until_label(&mut window, "Sent now, ");
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
    until_label(&mut window, "The answers hold different records, so none of them is the cheaper one.");
    click(&mut window, "Count: Characters");
    until_label(&mut window, "Within 25,000 characters there is room for ");
    click(&mut window, "Fields 11");
    until_label(&mut window, "5 as sent, ");
}

#[test]
fn an_answer_without_data_offers_the_variant_that_has_it() {
    let mut window = open_sized(None, [1_600.0, 1_000.0]);
    until(&mut window, "it is connected", |window| !window.state().state.tools.is_empty());
    window.step();
    window.state_mut().state.perform(
        CallAction::SetArgumentsText(r#"{"response_format":"markdown","searchTerm":"no such company"}"#.into()),
        &mut Vec::new(),
    );
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    until_label(&mut window, "Get the json variant · 1 call");
    // The third pane has nothing to show: it is closed, and whoever opens it can close it again.
    let is_open = |window: &Window| window.state().state.view.open[2];
    until(&mut window, "the third pane is closed", |window| !is_open(window));
    for by_key in [false, true] {
        press(&mut window, Key::Num3, Modifiers::COMMAND);
        assert!(is_open(&window));
        if by_key {
            press(&mut window, Key::W, Modifiers::COMMAND);
        } else {
            let third = window.query_all_by_label_contains("Close ").max_by(|a, b| a.rect().left().total_cmp(&b.rect().left()));
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
    until(&mut window, "it is connected", |window| !window.state().state.tools.is_empty());
    window.step();
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    for row in ["Text, ", "JSON, compact, ", "TOON, ", "Markdown table, "] {
        until_label(&mut window, row);
    }
}

#[test]
fn does_my_text_match_my_data() {
    let mut window = on_sample();
    window.get_by_label_contains("Does my text match my data?").click();
    until(&mut window, "the answer is there", |window| window.state().state.capture().is_some());
    until_label(&mut window, "not in text");
    until_label(&mut window, "things the text says");
    assert!(!paints(&window, "loses no"), "the text says names of codes that the data lacks");
    let capture = window.state().state.capture().map(|capture| capture.tool.name.clone());
    assert_eq!(capture.as_deref(), Some("dual_search_companies"));
}

#[test]
fn what_does_each_hosts_model_see() {
    let mut window = on_sample();
    window.get_by_label_contains("What does each host's model see?").click();
    until(&mut window, "the view of hosts is open", |window| window.state().state.view.screen == Screen::Hosts);
    until_label(&mut window, " of 28 hosts cut this answer");
    // A host that reads the text alone: what it does not see is told in words.
    window.query_all_by_label_contains("Zed ").next().unwrap_or_else(|| panic!("no such host")).click();
    until_label(&mut window, ": Zed reads the text alone.");
    window.query_all_by_label_contains("Lost facts ").next().unwrap_or_else(|| panic!("no such tab")).click();
    until_label(&mut window, "structuredContent is dropped: ");
    // The verdict that is copied is that of the hosts.
    window.get_by_label("Copy verdict").click();
    until(&mut window, "the verdict is copied", |window| copied(window).concat().contains(" hosts cut this answer.** "));
    click(&mut window, "View the answer as this host");
    until_label(&mut window, ": structuredContent is dropped: ");
    // What it sends is what all is compared with, in the strip, the ledger and the verdict.
    until_label(&mut window, "As Zed sends it, reads the text alone: ");
    press(&mut window, Key::Num4, Modifiers::COMMAND);
    until_label(&mut window, " against Zed");
    let verdict = window.state().state.verdict_text().unwrap_or_default();
    assert!(verdict.contains("| As Zed sends it | ") && verdict.contains(" --sent-as zed "), "{verdict}");
    click(&mut window, "View the answer as sent");
    // The drawer has the same lanes; one opens its text in the middle pane.
    press(&mut window, Key::Num5, Modifiers::COMMAND);
    until_label(&mut window, "GitHub Copilot CLI: ");
    let before = window.state().state.view.hosts.selected;
    window.query_all_by_label_contains("GitHub Copilot CLI: ").next().unwrap_or_else(|| panic!("no such lane")).click();
    until(
        &mut window,
        "the pane shows a host",
        |window| matches!(window.state().state.view.panes[1], PaneView::Host(host) if Some(host) != before),
    );
    until_label(&mut window, "Exact text that ");
    click(&mut window, "Open the full view of hosts");
    until_label(&mut window, "Deliveries 6");
    click(&mut window, "Deliveries 6");
    until_label(&mut window, " show every fact of “");
    press(&mut window, Key::Escape, Modifiers::NONE);
    until(&mut window, "Esc goes back", |window| window.state().state.view.screen == Screen::Answer);
}

#[test]
fn keys_go_through_lanes_and_cuts() {
    let mut window = on_sample();
    let ctx = window.ctx.clone();
    let act = |window: &mut Window, action: Action| window.state_mut().perform(&ctx, vec![action]);
    act(&mut window, CallAction::SelectTool("dual_search_companies".into()).into());
    act(&mut window, CallAction::SetArgumentsText(r#"{"pageSize":250}"#.into()).into());
    act(&mut window, CallAction::Call { send_anyway: true }.into());
    until(&mut window, "the answer is there", |window| window.state().state.capture().is_some());
    act(&mut window, Action::Hosts(HostsAction::Show(None)));
    until_label(&mut window, "17 of 28 hosts show their model none of this data");
    let selected = |window: &Window| window.state().state.view.hosts.selected.map(|host| host.to_string());
    press(&mut window, Key::F8, Modifiers::NONE);
    until_label(&mut window, "Removed: records ");
    assert_eq!(selected(&window).as_deref(), Some("copilot-cli"), "the cut that leaves least");
    press(&mut window, Key::F8, Modifiers::NONE);
    until(&mut window, "the next cut", |window| selected(window).as_deref() == Some("claude-code"));
    press(&mut window, Key::F8, Modifiers::SHIFT);
    until(&mut window, "the cut before", |window| selected(window).as_deref() == Some("copilot-cli"));
    press(&mut window, Key::F8, Modifiers::NONE);
    until(&mut window, "and on again", |window| selected(window).as_deref() == Some("claude-code"));
    window.get_by_label("Hosts by outcome").focus();
    window.step();
    press(&mut window, Key::ArrowUp, Modifiers::NONE);
    until(&mut window, "the lane before", |window| selected(window).as_deref() == Some("copilot-cli"));
    window.get_by_label("Copy verdict").click();
    until(&mut window, "the verdict is copied", |window| {
        let copied = copied(window).concat();
        copied.starts_with("**17 of 28 hosts show their model none of this data.** They read the text alone, ")
            && copied.contains("| 88 of 2,440 | Claude Code | 684 | cut over 50,000 characters |")
    });
}

#[test]
fn a_host_is_probed_and_kept() {
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let mut window = on_sample();
    let ctx = window.ctx.clone();
    window.state_mut().perform(&ctx, vec![SettingsAction::UseFolder(folder.path().to_owned()).into()]);
    window.get_by_label_contains("What does each host's model see?").click();
    until_label(&mut window, "Probe a host…");
    click(&mut window, "Probe a host…");
    until_label(&mut window, "mcp-loupe sample-server --probe");
    let field = "What the model was given";
    window.get_by_label(field).focus();
    window.step();
    window.event(Event::Paste(
        "=== probe_one_text\n<<LoupeProbe01a>>\n=== probe_several_texts\n<<LoupeProbe02a + LoupeProbe02b + LoupeProbe02c>>\n"
            .into(),
    ));
    until_label(&mut window, "No known host gives");
    until_label(&mut window, "probe_several_texts: explained");
    until_label(&mut window, "Confidence: medium");
    click(&mut window, "probe_nothing: not tried");
    click(&mut window, "The model was given nothing");
    until_label(&mut window, "probe_nothing: ");
    until(&mut window, "the entry is there", |window| window.state().state.probing.entry.is_some());
    click(&mut window, "Add to my hosts");
    until_label(&mut window, "The host is in the list now.");
    let text = std::fs::read_to_string(folder.path().join("hosts.toml")).unwrap_or_else(|error| panic!("{error}"));
    assert!(text.contains("join = \" + \"") && text.contains("wrap = \"<<{body}>>\""), "{text}");
    // The same id a second time is refused, and the file stays as it is.
    click(&mut window, "Add to my hosts");
    until_label(&mut window, "nothing was added");
    press(&mut window, Key::Escape, Modifiers::NONE);
    window.state_mut().perform(&ctx, vec![Action::Hosts(HostsAction::Show(None))]);
    until_label(&mut window, "Hosts 29");
}

#[test]
fn what_is_wrong_with_a_hosts_file_is_shown() {
    let mut window = on_sample();
    let hosts = Arc::new(Hosts::built_in().with_file("[[host]]\nid = 7", "my/hosts.toml"));
    window.state_mut().use_hosts(&hosts);
    until_label(&mut window, "my/hosts.toml");
}

#[test]
fn what_do_hostile_records_break() {
    let mut window = on_sample();
    window.state_mut().state.perform(ViewAction::ShowDrawer(DrawerTab::Hosts), &mut Vec::new());
    window.get_by_label_contains("What do hostile records break?").click();
    until(&mut window, "the answer is there", |window| window.state().state.capture().is_some());
    // Said in words from the round trips of this answer, and seen in a format that breaks.
    until(&mut window, "what breaks is said", |window| {
        paints(window, "These records break: XML: cannot be written") && paints(window, "give every value back.")
    });
    let view = &window.state().state.view;
    assert_eq!(view.drawer, DrawerTab::Cost);
    assert_eq!(view.panes, [PaneView::Rendered("markdown-table"), PaneView::Text("markdown-table"), PaneView::Tree]);
    until_label(&mut window, "Sent now, ");
    // The next answer is looked at as any.
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    until(&mut window, "it is called again", |window| window.state().state.captures.len() == 2);
    assert_eq!(window.state().state.view.panes, PaneView::FIRST);
    assert!(window.query_by_label("What hostile records break").is_none());
}

#[test]
fn findings_are_gone_through_by_key() {
    let mut window = called([1_280.0, 800.0], "dual_search_companies");
    until(&mut window, "the findings are known", |window| {
        let state = &window.state().state;
        let query = FindingsQuery(Arc::clone(&state.view.findings.rules));
        matches!(state.answers.get(&state.captures[0].id, query), Some(QueryState::Ready(_)))
    });
    press(&mut window, Key::F8, Modifiers::NONE);
    until(&mut window, "the first is selected", |window| window.state().state.view.findings.selected.is_some());
    assert_eq!(window.state().state.view.drawer, DrawerTab::Findings);
    until(&mut window, "they are read", |window| {
        paints(window, "parity/text-not-json") || paints(window, "parity/value-missing-in-text")
    });
    let at = window.state().state.view.findings.selected;
    press(&mut window, Key::F8, Modifiers::NONE);
    until(&mut window, "the next one is selected", |window| window.state().state.view.findings.selected != at);
    press(&mut window, Key::F8, Modifiers::SHIFT);
    until(&mut window, "the one before is", |window| window.state().state.view.findings.selected == at);
    // A profile's rules come with it, and a severity alone is listed.
    let profile = FindingsAction::ToggleProfile(Profile::AutotaskDual);
    window.state_mut().state.perform(profile, &mut Vec::new());
    window.state_mut().state.perform(FindingsAction::OnlySeverity(Some(Severity::Error)), &mut Vec::new());
    until(&mut window, "its errors are read", |window| paints(window, "autotask-dual") && !paints(window, "Warnings"));
    let before = window.state().state.toasts.len();
    click(&mut window, "Copy the listed findings as Markdown");
    until(&mut window, "they are copied", |window| window.state().state.toasts.len() > before);
}

#[test]
fn a_fix_is_tried_in_the_large_view() {
    let mut window = called([1_600.0, 1_000.0], "dual_search_companies");
    // Wide as it is, the findings stand beside the ledger.
    until_label(&mut window, "Enlarge the findings");
    click(&mut window, "Enlarge the findings");
    until_label(&mut window, "Make the findings small");
    assert_eq!(window.state().state.view.drawer, DrawerTab::Findings);
    let area = FindingsAction::OnlyArea(Some("shape"));
    window.state_mut().state.perform(area, &mut Vec::new());
    window.state_mut().state.perform(FindingsAction::Find("emoji".into()), &mut Vec::new());
    until_label(&mut window, "Try the fix");
    click(&mut window, "Try the fix");
    until(&mut window, "the strip says what it saves", |window| {
        paints(window, "What if this were mended: ") && paints(window, "against what is sent")
    });
    click(&mut window, "Reset what if");
    until(&mut window, "it is as sent", |window| window.state().state.view.findings.tried.is_none());
}

#[test]
fn a_loupe_toml_is_followed() {
    let mut window = called([1_280.0, 800.0], "dual_search_companies");
    let toml = "[rules.\"annotations/missing\"]\noff = true\nreason = \"our host does not read them\"\n";
    let show = ViewAction::ShowDrawer(DrawerTab::Findings);
    window.state_mut().state.perform(show, &mut Vec::new());
    window.state_mut().state.perform(FindingsAction::OnlyArea(Some("annotations")), &mut Vec::new());
    until(&mut window, "it is found without", |window| paints(window, "annotations/missing"));
    let follow = FindingsAction::UseRules { file: "/project/loupe.toml".into(), text: toml.into() };
    window.state_mut().state.perform(follow, &mut Vec::new());
    until(&mut window, "it is not found", |window| !paints(window, "annotations/missing"));
    click(&mut window, "Filter");
    until(&mut window, "it says so", |window| paints(window, "Rules follow /project/loupe.toml"));
}

#[test]
fn tools_are_filtered_and_arguments_typed() {
    let mut window = on_sample();
    let before = window.query_all_by_label_contains("read-only declared").count();
    assert!(before > 2);
    press(&mut window, Key::Slash, Modifiers::NONE);
    assert!(window.get_by_label("Filter tools").is_focused());
    window.event(Event::Text("dial_get".into()));
    window.step();
    until(&mut window, "the others are gone", |window| {
        window.query_all_by_label_contains("strict_search_tickets").next().is_none()
            && window.query_all_by_label_contains("dial_get_user_by_id").next().is_some()
    });
    window.get_by_label_contains("dial_get_user_by_id, ").click();
    until(&mut window, "it is selected", |window| window.state().state.selected_tool.as_deref() == Some("dial_get_user_by_id"));
    window.step();
    window.get_by_role_and_label(egui::accesskit::Role::TextInput, "user_id").focus();
    window.step();
    window.event(Event::Text("7".into()));
    window.step();
    until(&mut window, "it is typed", |window| window.state().state.form().is_some_and(|form| &*form.text == r#"{"user_id":7}"#));
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    until_label(&mut window, "User ID: 7");
}

#[test]
fn what_breaks_the_schema_is_said_and_sent_only_on_demand() {
    let mut window = on_sample();
    window.state_mut().state.perform(CallAction::SetArgumentsText(r#"{"pageSize":9999}"#.into()), &mut Vec::new());
    window.step();
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    assert!(window.state().state.running.is_none() && window.state().state.capture().is_none());
    click(&mut window, "Send anyway");
    until_label(&mut window, "isError: true");
}

#[test]
fn the_theme_is_switched_and_a_pane_copied() {
    let mut window = on_sample();
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    until(&mut window, "the answer is there", |window| window.state().state.capture().is_some());
    until(&mut window, "the panes are filled", |window| window.state().state.answers.working() == 0);
    let before = window.state().state.settings.theme;
    press(&mut window, Key::T, Modifiers::COMMAND | Modifiers::SHIFT);
    assert_ne!(window.state().state.settings.theme, before);
    let text = window.state().state.capture().and_then(|capture| mcp_loupe::capture::Reading::of(capture).content_text());
    window.event(Event::Key {
        key: Key::C,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers: Modifiers::COMMAND | Modifiers::SHIFT,
    });
    let mut copied = None;
    for _ in 0..4 {
        window.step();
        for command in &window.output().platform_output.commands {
            if let OutputCommand::CopyText(text) = command {
                copied = Some(text.clone());
            }
        }
    }
    assert_eq!(copied, text, "the exact text, not what is drawn");
}

#[test]
fn a_call_is_cancelled() {
    // Answers the handshake and the list, then nothing for ever.
    let script = r#"answer() { printf '%s' "$1" | sed "s/\"id\":0/$(printf '%s' "$2" | grep -o '"id":[^,}]*' | head -n 1)/"; echo; }
read a; answer '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"silent","version":"1"}}}' "$a"
read b; read c; answer '{"jsonrpc":"2.0","id":0,"result":{"tools":[{"name":"wait","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}}' "$c"
cat > /dev/null"#;
    let mut window = open_with(Some(shell(script)));
    until(&mut window, "it is connected", |window| !window.state().state.tools.is_empty());
    window.step();
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    until(&mut window, "it runs", |window| window.state().state.running.is_some());
    until_label(&mut window, "Cancel");
    press(&mut window, Key::Escape, Modifiers::NONE);
    until(&mut window, "it is cancelled", |window| window.state().state.running.is_none());
    until_label(&mut window, "ancelled");
    assert!(window.state().state.connection.is_connected(), "the session goes on");
}

#[test]
fn a_server_that_dies_is_said_with_its_last_words() {
    let mut window = open_with(Some(shell("echo 'cannot find the database' >&2; exit 3")));
    until(&mut window, "it failed", |window| matches!(window.state().state.connection, Connection::Failed { .. }));
    until_label(&mut window, "cannot find the database");
    until_label(&mut window, "Retry");
}

fn point(window: &mut Window, pos: egui::Pos2) {
    window.event(Event::PointerMoved(pos));
    window.step();
}

fn drag(window: &mut Window, from: egui::Pos2, to: egui::Pos2) {
    point(window, from);
    let button =
        |pos, pressed| Event::PointerButton { pos, button: egui::PointerButton::Primary, pressed, modifiers: Modifiers::NONE };
    window.event(button(from, true));
    window.step();
    // Beyond what counts as a click, then to the place.
    point(window, from + (to - from) * 0.5);
    point(window, to);
    window.event(button(to, false));
    window.step();
}

fn called(size: [f32; 2], tool: &str) -> Window {
    let mut window = open_sized(None, size);
    until(&mut window, "it is connected", |window| !window.state().state.tools.is_empty());
    window.step();
    window.state_mut().state.perform(CallAction::SelectTool(tool.into()), &mut Vec::new());
    window.step();
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    until(&mut window, "the answer is there", |window| window.state().state.capture().is_some());
    until_label(&mut window, "Sent now, ");
    window
}

fn copied(window: &Window) -> Vec<String> {
    let commands = &window.output().platform_output.commands;
    commands
        .iter()
        .filter_map(|command| if let OutputCommand::CopyText(text) = command { Some(text.clone()) } else { None })
        .collect()
}

#[test]
fn text_is_selected_by_dragging_counted_and_copied() {
    let mut window = called([1_600.0, 1_000.0], "dual_search_companies");
    until_label(&mut window, "exact text, ");
    let row = window.get_by_label("## Company Search Results").rect();
    drag(&mut window, row.left_center() + egui::vec2(30.0, 0.0), row.right_center());
    until_label(&mut window, "chars selected · ");
    until_label(&mut window, "tokens by themselves");
    window.event(Event::Copy);
    window.step();
    let text = copied(&window).pop().unwrap_or_default();
    assert!(text.starts_with('#') && text.ends_with("Results"), "{text:?}");
}

#[test]
fn finding_goes_from_place_to_place_and_around() {
    let mut window = called([1_600.0, 1_000.0], "dual_search_companies");
    press(&mut window, Key::F, Modifiers::COMMAND);
    window.event(Event::Text("Last Modified".into()));
    window.step();
    until_label(&mut window, "1 of 50");
    let before = window.query_all_by_label_contains("**Last Modified**").map(|row| row.rect().top()).fold(f32::MAX, f32::min);
    click(&mut window, "Previous place");
    until_label(&mut window, "50 of 50");
    until(&mut window, "the last place is in sight", |window| {
        window.query_all_by_label_contains("**Last Modified**").all(|row| row.rect().top() > before)
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
    assert_eq!(shows(&window, 1), PaneView::Text("wire"), "formats that do not apply are passed over");
    press(&mut window, Key::Escape, Modifiers::NONE);
    assert_eq!(shows(&window, 1), PaneView::Text("content"));
    press(&mut window, Key::ArrowDown, Modifiers::NONE);
    press(&mut window, Key::Enter, Modifiers::SHIFT);
    assert_eq!([shows(&window, 1), shows(&window, 2)], [PaneView::Text("content"), PaneView::Text("wire")]);
    window.get_by_label("Token ledger").focus();
    window.step();
    press(&mut window, Key::ArrowDown, Modifiers::NONE);
    press(&mut window, Key::ArrowDown, Modifiers::NONE);
    press(&mut window, Key::Enter, Modifiers::NONE);
    assert_eq!((shows(&window, 1), window.state().state.view.peek), (PaneView::Text("json"), None));
}

#[test]
fn panes_are_resized_by_their_separators() {
    let mut window = called([1_600.0, 1_000.0], "dual_search_companies");
    let separator = |window: &Window| window.get_all_by_label("Resize panes").next().unwrap().rect().center();
    let before = separator(&window);
    drag(&mut window, before, before + egui::vec2(60.0, 0.0));
    let after = separator(&window);
    assert!((after.x - before.x - 60.0).abs() < 2.0, "{before} {after}");
}

#[test]
fn an_emoji_tells_its_code_point_and_cost() {
    let mut window = called([1_600.0, 1_000.0], "dual_search_companies");
    let text = "| **Status** | ✅ Active |";
    until(&mut window, "the row is drawn", |window| window.query_all_by_label(text).next().is_some());
    let row = window.get_all_by_label(text).next().unwrap().rect();
    let mut told = false;
    for step in 0..26 {
        point(&mut window, row.left_center() + egui::vec2(32.0 + step as f32 * 7.0, 0.0));
        // The tip waits for the pointer to rest.
        for _ in 0..40 {
            window.step();
        }
        told |= window.query_by_label("U+2705").is_some() && window.query_by_label_contains("1 token (o200k_base)").is_some();
    }
    assert!(told, "no place of the row told its code point");
}

#[test]
fn tokens_are_counted_as_chosen_and_taken_apart() {
    let mut window = open_sized(None, [1_600.0, 1_000.0]);
    until_label(&mut window, "What do you want to know?");
    until(&mut window, "definitions are counted", |window| window.state().state.tools_total().is_some());
    window.step();
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    until_label(&mut window, "Sent now, ");
    click(&mut window, "Tokenizer o200k_base");
    until_label(&mut window, "p50k_base, exact");
    click(&mut window, "p50k_base, exact");
    until_label(&mut window, "p50k_base");
    click(&mut window, "Tokenizer p50k_base");
    until_label(&mut window, "Claude, ≈ estimate");
    click(&mut window, "Claude, ≈ estimate");
    until_label(&mut window, "Sent now, text: ≈");
    press(&mut window, Key::Num6, Modifiers::COMMAND);
    until_label(&mut window, "in JSON, compact (o200k_base)");
    until_label(&mut window, "Where the saving comes from");
    until_label(&mut window, "By key, over all records");
}

#[test]
fn the_whole_server_opens_from_the_sum_of_its_definitions() {
    let mut window = on_sample();
    let sum = window.query_all_by_label_contains("definitions ·").next().unwrap_or_else(|| panic!("no sum"));
    sum.click();
    window.step();
    until_label(&mut window, "before the first call");
    click(&mut window, "Sort by Tool, not sorted by");
    until_label(&mut window, "Sort by Tool, sorted");
    press(&mut window, Key::Escape, Modifiers::NONE);
    until_label(&mut window, "What do you want to know?");
}

#[test]
fn the_sample_is_chosen_on_the_connect_screen() {
    let mut window = on_sample();
    window.get_all_by_label("Use my server…").next().unwrap_or_else(|| panic!("no way to the connect screen")).click();
    window.step();
    until_label(&mut window, "Connect to an MCP server");
    let set = window.query_all_by_label_contains("Sample set DIAL users").next().unwrap_or_else(|| panic!("no such set"));
    set.click();
    window.step();
    window.step();
    click(&mut window, "shape: blocks (default)");
    until_label(&mut window, "json-model");
    click(&mut window, "json-model");
    until_label(&mut window, "mcp-loupe --sample=dial,shape=json-model");
    click(&mut window, "Start sample server");
    until(
        &mut window,
        "the set is connected",
        |window| matches!(&window.state().state.connection, Connection::Connected { source, .. } if source.to_string() == "--sample=dial,shape=json-model"),
    );
}

#[test]
fn two_answers_are_compared() {
    let mut window = on_sample();
    for (count, term) in [(1, "north"), (2, "south")] {
        let arguments = format!(r#"{{"searchTerm":"{term}"}}"#);
        window.state_mut().state.perform(CallAction::SetArgumentsText(arguments), &mut Vec::new());
        press(&mut window, Key::Enter, Modifiers::COMMAND);
        until(&mut window, "the answer is there", |window| {
            window.state().state.captures.len() == count && window.state().state.running.is_none()
        });
    }
    click(&mut window, "Diff…");
    until_label(&mut window, "Diff of two answers");
    until_label(&mut window, "A: Capture 1");
    until_label(&mut window, "vs A");
    until_label(&mut window, "This change removed");
    until_label(&mut window, "removed line");
    press(&mut window, Key::F8, Modifiers::NONE);
    until_label(&mut window, "1 of ");
    press(&mut window, Key::F8, Modifiers::SHIFT);
    assert!(window.state().state.diff.current.is_some_and(|at| at > 0), "it goes round");
    click(&mut window, "Swap A and B");
    until_label(&mut window, "A: Capture 2");
    press(&mut window, Key::Escape, Modifiers::NONE);
    until_label(&mut window, "Sent now, ");
}

#[test]
fn the_tools_are_compared_with_another_variant_of_the_server() {
    let mut window = on_sample();
    press(&mut window, Key::K, Modifiers::COMMAND);
    let is_open = |window: &Window| matches!(window.state().state.dialog, Some(Dialog::Palette { .. }));
    until(&mut window, "the palette is open", is_open);
    window
        .state_mut()
        .state
        .perform(Action::ShowDialog(Dialog::Palette { text: "compare tools".into(), chosen: 0 }), &mut Vec::new());
    press(&mut window, Key::Enter, Modifiers::NONE);
    until_label(&mut window, "Compare tools with another server or version");
    let mut form = window.state().state.connect_form.clone();
    form.sample.keys.insert("annotations".into(), "off".into());
    window.state_mut().state.perform(ConnectAction::Edit(Box::new(form)), &mut Vec::new());
    window.step();
    window.get_by_label("List this sample's tools").scroll_to_me();
    window.run_steps(6);
    click(&mut window, "List this sample's tools");
    until_label(&mut window, "From A to B:");
    assert!(window.state().state.connection.is_connected(), "the server in use stays");
    window.query_all_by_label_contains("readOnlyHint").next().expect("what changed is named").click();
    until_label(&mut window, "/annotations");
    click(&mut window, "Swap A and B");
    until(&mut window, "they are compared anew", |window| {
        let state = &window.state().state;
        state.tools_difference(state.versus_tools()).is_some()
    });
    press(&mut window, Key::Escape, Modifiers::NONE);
    until_label(&mut window, "What do you want to know?");
}

#[test]
fn a_call_is_repeated() {
    let mut window = on_sample();
    click(&mut window, "More ways to call");
    until_label(&mut window, "Repeat the call several times");
    click(&mut window, "Repeat the call several times");
    until_label(&mut window, "Call 3 times");
    click(&mut window, "Call 3 times");
    until_label(&mut window, "All 3 answers are the same, byte for byte.");
    // Ctrl R: the last call again, and what it changed.
    press(&mut window, Key::Escape, Modifiers::NONE);
    press(&mut window, Key::R, Modifiers::COMMAND);
    until_label(&mut window, "Since the call before: same as before");
}

#[test]
fn a_server_that_wants_a_login_gets_one_after_the_address_was_shown() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let peer = runtime.block_on(OAuthPeer::start(Modes::default()));
    let mut window = open_with(Some(Source::Http(Http { url: peer.url(), ..Http::default() })));
    until_label(&mut window, "This server requires a login");
    click(&mut window, "Log in");
    until_label(&mut window, "Log in with your browser");
    until_label(&mut window, "Login, step by step");
    window.get_by_label("Open in the browser").click();
    window.step();
    let (url, ..) = window.state().state.login.open.clone().unwrap_or_else(|| panic!("no address"));
    assert!(window.state().state.login.is_opened);
    runtime.block_on(async { Visit::new().unwrap_or_else(|error| panic!("{error}")).go(url) });
    until(&mut window, "it is connected", |window| !window.state().state.tools.is_empty());
    let log = window.state().state.login.lines.join("\n");
    assert!(log.contains("logged in with the scopes read") && !log.contains("canary-"), "{log}");
}

#[test]
fn what_is_pasted_becomes_the_form() {
    let mut window = on_sample();
    window.state_mut().state.perform(ConnectAction::Show, &mut Vec::new());
    until_label(&mut window, "Connect to an MCP server");
    let field = window.get_by_label("Paste anything that names a server");
    field.focus();
    field.type_text("KEY=s3cret npx -y my-server --port 1");
    until_label(&mut window, "Understood: a command line");
    click(&mut window, "Use this server");
    until_label(&mut window, "$ npx -y my-server --port 1");
    click(&mut window, "Remove the argument -y");
    until_label(&mut window, "$ npx my-server --port 1");
    assert!(window.query_all_by_label_contains("s3cret").next().is_none());
}

/// Whatever the size of the window, every control is in it, and none stands on another.
#[test]
fn no_control_is_cut_or_covered_at_any_size() {
    let mut window = on_sample();
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    until_label(&mut window, "Sent now, ");
    let mut wrong = Vec::new();
    check_controls(&mut window, "answer", &mut wrong);
    let problem = |what: &str| {
        mcp_loupe::state::Event::Problem(
            Problem::new(ProblemKind::Io, what).at("/folder/of/a/file.json").hint("choose another folder"),
        )
    };
    for what in ["cannot write the file: permission denied", "cannot read the file: it is gone"] {
        window.state_mut().state.apply(problem(what), &mut Vec::new());
    }
    check_controls(&mut window, "answer with a problem", &mut wrong);
    until_label(&mut window, "and 1 other");
    // F6 leads to it, and Enter closes it.
    let is_there = |window: &Window| window.query_by_label("Close the message").is_some();
    for _ in 0..2 {
        for _ in 0..9 {
            press(&mut window, Key::F6, Modifiers::NONE);
            if window.get_by_label("Close the message").is_focused() {
                break;
            }
        }
        press(&mut window, Key::Enter, Modifiers::NONE);
    }
    assert!(!is_there(&window), "both are closed");
    press(&mut window, Key::Num5, Modifiers::COMMAND);
    check_controls(&mut window, "hosts of the answer", &mut wrong);
    press(&mut window, Key::Num6, Modifiers::COMMAND);
    check_controls(&mut window, "tokens of the answer", &mut wrong);
    window.set_size(egui::vec2(1_280.0, 800.0));
    window.step();
    press(&mut window, Key::Num4, Modifiers::COMMAND);
    click(&mut window, "Compare json / markdown · 1 more call");
    until_label(&mut window, "json, baseline: ");
    check_controls(&mut window, "comparison", &mut wrong);
    // The record below the matrix leads to its texts.
    window.set_size(egui::vec2(1_280.0, 800.0));
    window.step();
    window.get_by_label_contains("Arguments: response_format json / markdown");
    let row = window
        .query_all_by_label_contains("1, ")
        .find(|row| egui_kittest::kittest::NodeT::accesskit_node(row).role() == egui::accesskit::Role::Button);
    row.unwrap_or_else(|| panic!("no record")).click();
    until(&mut window, "its texts are shown", |window| {
        window.state().state.comparisons.current.as_ref().is_some_and(|compare| compare.tab == Some(CompareTab::Records))
    });
    check_controls(&mut window, "comparison by record", &mut wrong);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The same of an answer of text alone, of one in which nothing is data, and of the hosts of both.
#[test]
fn no_control_of_a_text_is_cut_or_covered_at_any_size() {
    let mut wrong = Vec::new();
    for file in ["file-info", "page-converted"] {
        let mut window = on_sample();
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/text").join(file).join("answer.json");
        let ctx = window.ctx.clone();
        window.state_mut().perform(&ctx, vec![Action::OpenPath(Some(path))]);
        until_label(&mut window, "Sent now, ");
        check_controls(&mut window, file, &mut wrong);
        window.state_mut().perform(&ctx, vec![Action::Hosts(HostsAction::Show(None))]);
        until_label(&mut window, "Hosts by outcome");
        check_controls(&mut window, &format!("hosts of {file}"), &mut wrong);
        let host = window.state().state.hosts.iter().next().map(|host| host.id);
        window.state_mut().perform(&ctx, vec![Action::Hosts(HostsAction::ViewAs(host)), ViewAction::ShowAnswer.into()]);
        until_label(&mut window, "As Claude Code sends it, ");
        check_controls(&mut window, &format!("{file} as a host sends it"), &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is never cut: losses, gains, units, roles. Names may be, with the whole on hover.
const WHOLE: &[&str] = &[
    " tok",
    "no fact",
    "misses",
    "leaves out",
    "is lost",
    "lose facts",
    "differ",
    "needed",
    "plain choice",
    "if you changed",
    "cheapest",
    "same data",
    "baseline",
    "sent twice",
    "waiting",
    "Cancel",
];

/// Texts that are painted shortened.
fn elided(window: &Window) -> Vec<String> {
    fn gather(shape: &egui::Shape, found: &mut Vec<String>) {
        match shape {
            egui::Shape::Vec(shapes) => shapes.iter().for_each(|shape| gather(shape, found)),
            egui::Shape::Text(text) if text.galley.elided => found.push(text.galley.text().to_owned()),
            _ => {}
        }
    }
    let mut found = Vec::new();
    window.output().shapes.iter().for_each(|clipped| gather(&clipped.shape, &mut found));
    found
}

/// Notes the controls that leave the window or stand on others, at 42 sizes, and larger and smaller at four of them.
fn check_controls(window: &mut Window, screen: &str, wrong: &mut Vec<String>) {
    use egui::accesskit::Role;
    use egui_kittest::kittest::NodeT as _;

    let widths = [640, 700, 760, 860, 960, 1_100, 1_150, 1_200, 1_280, 1_366, 1_440, 1_600, 1_920, 2_560];
    let sizes = widths.into_iter().flat_map(|width| [520, 800, 1_000].map(|height| (width, height, 1.0)));
    for (width, height, zoom) in sizes.chain([(1_600, 1_000, 0.8), (1_024, 640, 1.25), (853, 533, 1.5), (640, 520, 2.0)]) {
        let size = egui::vec2(width as f32, height as f32);
        window.ctx.set_zoom_factor(zoom);
        window.step();
        window.set_size(size);
        (0..4).for_each(|_| window.step());
        assert_eq!(window.ctx.content_rect().size(), size, "{screen} at {zoom}");
        let inside = egui::Rect::from_min_size(egui::Pos2::ZERO, size).expand(1.0);
        let of = |role| window.query_all_by_role(role).collect::<Vec<_>>();
        let controls = [Role::Button, Role::TextInput, Role::Tab, Role::RadioButton].into_iter().flat_map(of);
        let placed: Vec<(String, egui::Rect)> = controls
            .map(|node| (node.accesskit_node().label().unwrap_or_default(), node.rect()))
            .filter(|(_, rect)| rect.area() > 0.0)
            .collect();
        // The line below a capture ends in its time, which may go.
        let cut =
            elided(window).into_iter().filter(|text| !text.ends_with(" ms") && WHOLE.iter().any(|words| text.contains(words)));
        wrong.extend(cut.map(|text| format!("{screen} {width}x{height}: {text:?} is cut")));
        assert!(placed.len() > 10, "{screen} {width}x{height} has {} controls", placed.len());
        for (at, (name, rect)) in placed.iter().enumerate() {
            // Lists scroll up and down, columns of a comparison across.
            if !screen.starts_with("comparison") && (rect.left() < inside.left() || rect.right() > inside.right()) {
                wrong.push(format!("{screen} {width}x{height}: {name:?} {rect:?} leaves the window"));
            }
            for (other, place) in &placed[at + 1..] {
                let both = rect.intersect(*place);
                // What holds a control is no other control beside it.
                let is_within = rect.contains_rect(*place) || place.contains_rect(*rect);
                if both.width() > 2.0 && both.height() > 2.0 && !is_within {
                    wrong.push(format!("{screen} {width}x{height}: {name:?} {rect:?} and {other:?} {place:?} overlap"));
                }
            }
        }
    }
    window.ctx.set_zoom_factor(1.0);
}

#[test]
fn the_server_is_copied_as_the_configuration_of_a_client() {
    let mut window = on_sample();
    window.get_by_label_contains("Server Sample").click();
    until_label(&mut window, "Copy as configuration for…");
    window.get_by_label("Copy as configuration for…").click();
    until_label(&mut window, "Copy as configuration for Gemini CLI");
    window.get_by_label_contains("Copy as configuration for Gemini CLI").click();
    until(&mut window, "the configuration is copied", |window| !copied(window).is_empty());
    let text = copied(&window).concat();
    let import = mcp_loupe::source::import::read("settings.json", &text).unwrap();
    assert_eq!(import.server(None).unwrap().to_string(), "-- mcp-loupe sample-server --set all", "{text}");
}
