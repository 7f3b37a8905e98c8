//! Findings are gone through, fixes tried, and a project's settings followed.

use super::painted::paints;
use super::{called, click, press, until, until_label};
use egui::{Key, Modifiers};
use mcp_loupe::finding::{FindingsQuery, Profile, Severity};
use mcp_loupe::state::{DrawerTab, FindingsAction, QueryState, ViewAction};
use std::sync::Arc;

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
