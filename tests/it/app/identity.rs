//! What can be clicked keeps its identity while answers arrive: egui tells a press from a release by it, and a click on
//! what changed it in between is lost.

use std::collections::{BTreeMap, BTreeSet};

use egui::{Key, Modifiers};
use egui_kittest::kittest::NodeT;

use mcp_loupe::state::{
    Action, CallAction, DrawerTab, HostsAction, PaneView, Screen, State, ViewAction,
};

use super::{Window, perform, press, until};
use crate::live::{open_sized, shares_an_identity};

/// Something that a person does, and what it leads to.
type Step<'a> = (&'a str, &'a dyn Fn(&mut Window), fn(&State) -> bool);

/// Of everything that can be clicked and that nothing else at its place is called as: what the window knows it by.
fn clickable(window: &Window) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut twice = BTreeSet::new();
    let mut nodes = vec![window.root().accesskit_node()];
    while let Some(node) = nodes.pop() {
        nodes.extend(node.children());
        let Some(label) = node.label() else { continue };
        if node.is_disabled() || !node.data().supports_action(egui::accesskit::Action::Click) {
            continue;
        }
        let name = format!("{:?} {label} at {:?}", node.role(), node.raw_bounds());
        if found
            .insert(name.clone(), format!("{:?}", node.id()))
            .is_some()
        {
            twice.insert(name);
        }
    }
    found.retain(|name, _| !twice.contains(name));
    found
}

/// Frames until nothing is worked on any more; everything that became something else between two of them.
#[track_caller]
fn changed(window: &mut Window) -> BTreeSet<String> {
    let mut changed = BTreeSet::new();
    let mut before = clickable(window);
    let mut at_rest = 0;
    until_rest(window, |window| {
        let now = clickable(window);
        let other = now
            .iter()
            .filter(|(name, id)| before.get(*name).is_some_and(|known| known != *id));
        changed.extend(other.map(|(name, _)| name.clone()));
        before = now;
        assert!(!shares_an_identity(window), "two widgets share an identity");
        let is_busy = window.state().state.running.is_some()
            || window.state().state.query_results.working() > 0;
        at_rest = if is_busy { 0 } else { at_rest + 1 };
        at_rest > 10
    });
    changed
}

#[track_caller]
fn until_rest(window: &mut Window, mut is_at_rest: impl FnMut(&Window) -> bool) {
    let mut steps = 0;
    while !is_at_rest(window) {
        window.step();
        std::thread::sleep(std::time::Duration::from_millis(2));
        steps += 1;
        assert!(steps < 20_000, "it never comes to rest");
    }
}

#[test]
fn what_is_clickable_keeps_its_identity_while_an_answer_is_worked_on() {
    let key = |key, modifiers| move |window: &mut Window| press(window, key, modifiers);
    for size in [[1_600.0, 1_000.0], [1_280.0, 800.0], [640.0, 720.0]] {
        let mut window = open_sized(None, size);
        until(&mut window, "it is connected", |window| {
            !window.state().state.session().tools.is_empty()
        });
        let mut all = BTreeMap::new();
        let steps: [Step<'_>; 12] = [
            ("connected", &|_| {}, |state| state.captures.is_empty()),
            ("called", &key(Key::Enter, Modifiers::COMMAND), |state| {
                state.captures.len() == 1
            }),
            ("hosts", &key(Key::Num5, Modifiers::COMMAND), |state| {
                state.view.drawer == DrawerTab::Hosts
            }),
            (
                "called with that",
                &key(Key::Enter, Modifiers::COMMAND),
                |state| state.captures.len() == 2,
            ),
            ("map", &key(Key::Num6, Modifiers::COMMAND), |state| {
                state.view.drawer == DrawerTab::Tokens
            }),
            (
                "called with that too",
                &key(Key::Enter, Modifiers::COMMAND),
                |state| state.captures.len() == 3,
            ),
            ("ledger", &key(Key::Num4, Modifiers::COMMAND), |state| {
                state.view.drawer == DrawerTab::Cost
            }),
            (
                "markdown",
                &|window| {
                    let arguments = r#"{"response_format":"markdown"}"#.into();
                    perform(window, CallAction::SetArgumentsText(arguments));
                    press(window, Key::Enter, Modifiers::COMMAND);
                },
                |state| state.captures.len() == 4,
            ),
            (
                "panes of one name",
                &|window| {
                    let perform = |window: &mut Window, action| {
                        window.state_mut().state.perform(action, &mut Vec::new())
                    };
                    perform(
                        window,
                        ViewAction::SetPane {
                            pane: 2,
                            shows: PaneView::Rendered("markdown-table"),
                        },
                    );
                    for pane in [0, 1, 2] {
                        if window.state().state.view.open[pane] != (pane == 1) {
                            perform(window, ViewAction::TogglePane(pane));
                        }
                    }
                },
                |state| state.view.open == [false, true, false],
            ),
            (
                "all hosts",
                &|window| {
                    window
                        .state_mut()
                        .state
                        .perform(Action::Hosts(HostsAction::Show(None)), &mut Vec::new())
                },
                |state| state.view.screen == Screen::Hosts,
            ),
            ("back", &key(Key::Escape, Modifiers::NONE), |state| {
                state.view.screen == Screen::Answer
            }),
            (
                "compared",
                &key(Key::Enter, Modifiers::COMMAND.plus(Modifiers::SHIFT)),
                |state| state.view.screen == Screen::Compare,
            ),
        ];
        for (name, step, is_done) in steps {
            step(&mut window);
            let changed = changed(&mut window);
            assert!(
                is_done(&window.state().state),
                "{size:?} {name}: {:?}",
                window.state().state.view
            );
            if !changed.is_empty() {
                all.insert(name, changed);
            }
        }
        assert!(all.is_empty(), "{size:?} {all:#?}");
    }
}
