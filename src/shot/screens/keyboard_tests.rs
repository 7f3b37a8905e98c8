//! Every named screen without a mouse and without eyes: what can be clicked is reached by Tab, has a name, and is told from
//! its neighbours by it.

use std::collections::{BTreeMap, BTreeSet};

use egui::accesskit::{self, Node, NodeId, Role};
use egui::{Event, Key, Modifiers};

use super::*;

/// More controls than any screen has.
const MOST: usize = 600;

/// The nodes of the last pass, with their parents.
fn nodes(stage: &Stage) -> (BTreeMap<NodeId, Node>, BTreeMap<NodeId, NodeId>) {
    let output = stage.shot.output().expect("a pass was made");
    let update = output.platform_output.accesskit_update.clone().expect("the tree is told");
    let parents = update.nodes.iter().flat_map(|(id, node)| node.children().iter().map(|child| (*child, *id))).collect();
    (update.nodes.into_iter().collect(), parents)
}

/// What a person acts on. A text that is only selected, and a place that a control beside it is clicked by, take no focus.
fn is_control(node: &Node) -> bool {
    let acts = node.supports_action(accesskit::Action::Click) || node.supports_action(accesskit::Action::SetValue);
    let is_for_the_mouse = matches!(node.role(), Role::Label | Role::Unknown) && !node.supports_action(accesskit::Action::Focus);
    acts && !node.is_disabled() && !is_for_the_mouse && !matches!(node.role(), Role::ScrollView | Role::ScrollBar)
}

/// Parts of a list, table or tree, which is one stop of Tab; the arrows go from one to the next.
fn is_part(node: &Node) -> bool {
    matches!(node.role(), Role::TreeItem | Role::Row | Role::ListItem | Role::ListBoxOption)
}

/// What is said of a text is its value.
fn name_of(node: &Node) -> &str {
    let value = node.value().filter(|_| node.role() == Role::Label);
    node.label().or(value).map_or("", str::trim)
}

/// What a screen reader says of a control.
fn spoken(node: &Node) -> String {
    let part = |text: Option<&str>| text.unwrap_or_default().trim().to_owned();
    format!("{:?} {:?} {:?}", node.role(), name_of(node), part(node.description()))
}

/// Everything that is wrong with a screen.
fn faults(name: &str) -> Vec<String> {
    let stage = Stage::new([1_280, 800], egui::Theme::Dark, true).unwrap();
    stage.shot.ctx.enable_accesskit();
    let mut stage = staged(stage, name, None, None, None).unwrap_or_else(|problem| panic!("{name}: {problem}"));
    stage.shot.settled(&stage.state);
    let mut faults = BTreeSet::new();
    let (all, parents) = nodes(&stage);
    let mut seen: BTreeMap<(Option<NodeId>, String), NodeId> = BTreeMap::new();
    for (id, node) in all.iter().filter(|(_, node)| is_control(node)) {
        if name_of(node).is_empty() {
            faults.insert(format!("{name}: no name: {:?} at {:?}", node.role(), node.bounds()));
        } else if !is_part(node)
            && let Some(twin) = seen.insert((parents.get(id).copied(), spoken(node)), *id)
        {
            faults.insert(format!("{name}: two are {} at {:?} and {:?}", spoken(node), all[&twin].bounds(), node.bounds()));
        }
    }
    // Round by Tab until the first comes again.
    let (mut reached, mut first) = (BTreeSet::new(), None);
    for _ in 0..MOST {
        let event =
            |pressed| Event::Key { key: Key::Tab, physical_key: None, pressed, repeat: false, modifiers: Modifiers::NONE };
        // What the window would do is not asked: only where the focus goes.
        stage.shot.frame_with(&stage.state, vec![event(true), event(false)]);
        let focus = stage.shot.output().and_then(|output| Some(output.platform_output.accesskit_update.as_ref()?.focus));
        if focus == first {
            break;
        }
        first = first.or(focus);
        reached.extend(focus);
    }
    // A dialog is over everything else, which then takes no focus.
    let has_dialog = stage.state.dialog.is_some();
    if reached.len() < 3 && !has_dialog {
        faults.insert(format!("{name}: Tab goes nowhere"));
    }
    for (_, node) in all.iter().filter(|(id, node)| is_control(node) && !is_part(node) && !reached.contains(*id)) {
        if !has_dialog {
            faults.insert(format!("{name}: not reached by Tab: {}", spoken(node)));
        }
    }
    // Nor does Tab lead out of it.
    let is_outside = |id: &&NodeId| has_dialog && all.get(id).is_some_and(|node| name_of(node) == "Loupe: start page");
    faults.extend(reached.iter().find(is_outside).map(|_| format!("{name}: Tab leads out of the dialog")));
    faults.into_iter().collect()
}

#[test]
fn every_control_is_reached_by_tab_and_has_a_name_of_its_own() {
    let faults: Vec<String> = SCREENS.iter().flat_map(|name| faults(name)).collect();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}
