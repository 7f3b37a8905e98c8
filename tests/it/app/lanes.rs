//! What each host's model sees, in lanes, cuts and deliveries.

use super::{Window, click, copied, on_sample, press, until, until_label};
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use loupe_core::host::Hosts;
use mcp_loupe::state::{Action, CallAction, HostsAction, PaneView, Screen};
use std::sync::Arc;

#[test]
fn what_does_each_hosts_model_see() {
    let mut window = on_sample();
    window
        .get_by_label_contains("What does each host's model see?")
        .click();
    until(&mut window, "the view of hosts is open", |window| {
        window.state().state.view.screen == Screen::Hosts
    });
    until_label(&mut window, " of 41 hosts cut this answer");
    // A host that reads the text alone: what it does not see is told in words.
    window
        .query_all_by_label_contains("Zed ")
        .next()
        .unwrap_or_else(|| panic!("no such host"))
        .click();
    until_label(&mut window, ": Zed reads the text alone.");
    window
        .query_all_by_label_contains("Lost facts ")
        .next()
        .unwrap_or_else(|| panic!("no such tab"))
        .click();
    until_label(&mut window, "structuredContent is dropped: ");
    // The verdict that is copied is that of the hosts.
    window.get_by_label("Copy summary").click();
    until(&mut window, "the verdict is copied", |window| {
        copied(window)
            .concat()
            .contains(" hosts cut this answer.** ")
    });
    click(&mut window, "View the answer as this host");
    until_label(&mut window, ": structuredContent is dropped: ");
    // What it sends is what all is compared with, in the strip, the ledger and the verdict.
    until_label(&mut window, "As Zed sends it, reads the text alone: ");
    press(&mut window, Key::Num4, Modifiers::COMMAND);
    until_label(&mut window, " against Zed");
    let verdict = window.state().state.summary_text().unwrap_or_default();
    assert!(
        verdict.contains(" tokens as Zed sends it ") && verdict.contains(" --sent-as zed "),
        "{verdict}"
    );
    click(&mut window, "View the answer as sent");
    // The drawer has the same lanes; one opens its text in the middle pane.
    press(&mut window, Key::Num5, Modifiers::COMMAND);
    until_label(&mut window, "GitHub Copilot CLI: ");
    let before = window.state().state.view.hosts.selected;
    window
        .query_all_by_label_contains("GitHub Copilot CLI: ")
        .next()
        .unwrap_or_else(|| panic!("no such lane"))
        .click();
    until(
        &mut window,
        "the pane shows a host",
        |window| matches!(window.state().state.view.panes[1], PaneView::Host(host) if Some(host) != before),
    );
    until_label(&mut window, "Exact text that ");
    click(&mut window, "Open the full view of hosts");
    until_label(&mut window, "Placements 6");
    click(&mut window, "Placements 6");
    until_label(&mut window, " show every fact of “");
    press(&mut window, Key::Escape, Modifiers::NONE);
    until(&mut window, "Esc goes back", |window| {
        window.state().state.view.screen == Screen::Answer
    });
}

#[test]
fn keys_go_through_lanes_and_cuts() {
    let mut window = on_sample();
    let ctx = window.ctx.clone();
    let act = |window: &mut Window, action: Action| window.state_mut().perform(&ctx, vec![action]);
    act(
        &mut window,
        CallAction::SelectTool("dual_search_companies".into()).into(),
    );
    act(
        &mut window,
        CallAction::SetArgumentsText(r#"{"pageSize":250}"#.into()).into(),
    );
    act(&mut window, CallAction::Call { send_anyway: true }.into());
    until(&mut window, "the answer is there", |window| {
        window.state().state.capture().is_some()
    });
    act(&mut window, Action::Hosts(HostsAction::Show(None)));
    until_label(
        &mut window,
        "22 of 41 hosts show their model none of this data",
    );
    let selected = |window: &Window| {
        window
            .state()
            .state
            .view
            .hosts
            .selected
            .map(|host| host.to_string())
    };
    press(&mut window, Key::F8, Modifiers::NONE);
    until_label(&mut window, "Removed: records ");
    assert_eq!(
        selected(&window).as_deref(),
        Some("copilot-cli"),
        "the cut that leaves least"
    );
    press(&mut window, Key::F8, Modifiers::NONE);
    until(&mut window, "the next cut", |window| {
        selected(window).as_deref() == Some("claude-code")
    });
    press(&mut window, Key::F8, Modifiers::SHIFT);
    until(&mut window, "the cut before", |window| {
        selected(window).as_deref() == Some("copilot-cli")
    });
    press(&mut window, Key::F8, Modifiers::NONE);
    until(&mut window, "and on again", |window| {
        selected(window).as_deref() == Some("claude-code")
    });
    window.get_by_label("Hosts by outcome").focus();
    window.step();
    press(&mut window, Key::ArrowUp, Modifiers::NONE);
    until(&mut window, "the lane before", |window| {
        selected(window).as_deref() == Some("copilot-cli")
    });
    window.get_by_label("Copy summary").click();
    until(&mut window, "the verdict is copied", |window| {
        let copied = copied(window).concat();
        copied.starts_with(
            "**22 of 41 hosts show their model none of this data.** They read the text alone, ",
        ) && copied.contains("| 88 of 2,440 | Claude Code | 684 | cut over 50,000 characters |")
    });
}

#[test]
fn what_is_wrong_with_a_hosts_file_is_shown() {
    let mut window = on_sample();
    let hosts = Arc::new(Hosts::built_in().with_file("[[host]]\nid = 7", "my/hosts.toml"));
    window.state_mut().use_hosts(&hosts);
    until_label(&mut window, "my/hosts.toml");
}
