//! Two answers, two variants of a server, the same call several times.

use super::{Window, click, on_sample, perform, press, until, until_label};
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use mcp_loupe::state::{Action, CallAction, ConnectAction, Dialog};

#[test]
fn two_answers_are_compared() {
    let mut window = on_sample();
    for (count, term) in [(1, "north"), (2, "south")] {
        let arguments = format!(r#"{{"searchTerm":"{term}"}}"#);
        perform(&mut window, CallAction::SetArgumentsText(arguments));
        press(&mut window, Key::Enter, Modifiers::COMMAND);
        until(&mut window, "the answer is there", |window| {
            window.state().state.captures.len() == count && window.state().state.running.is_none()
        });
    }
    click(&mut window, "Diff…");
    until_label(&mut window, "Diff of captures 1 (A) and 2 (B)");
    until_label(&mut window, "This change removed");
    until_label(&mut window, "removed line");
    press(&mut window, Key::F8, Modifiers::NONE);
    until_label(&mut window, "1 of ");
    press(&mut window, Key::F8, Modifiers::SHIFT);
    assert!(
        window.state().state.diff.current.is_some_and(|at| at > 0),
        "it goes round"
    );
    press(&mut window, Key::Escape, Modifiers::NONE);
    until_label(&mut window, "Text, what ");
}

#[test]
fn the_tools_are_compared_with_another_variant_of_the_server() {
    let mut window = on_sample();
    press(&mut window, Key::K, Modifiers::COMMAND);
    let is_open =
        |window: &Window| matches!(window.state().state.dialog, Some(Dialog::Palette { .. }));
    until(&mut window, "the palette is open", is_open);
    window.state_mut().state.perform(
        Action::ShowDialog(Dialog::Palette {
            text: "compare tools".into(),
            chosen: 0,
        }),
        &mut Vec::new(),
    );
    press(&mut window, Key::Enter, Modifiers::NONE);
    until_label(&mut window, "Compare tools with another server or version");
    let mut form = window.state().state.connect_form.clone();
    form.sample.keys.insert("annotations".into(), "off".into());
    window
        .state_mut()
        .state
        .perform(ConnectAction::Edit(Box::new(form)), &mut Vec::new());
    window.step();
    window
        .get_by_label("List this sample's tools")
        .scroll_to_me();
    window.run_steps(6);
    click(&mut window, "List this sample's tools");
    until_label(&mut window, "From A to B:");
    assert!(
        window.state().state.session().connection.is_connected(),
        "the server in use stays"
    );
    window
        .query_all_by_label_contains("readOnlyHint")
        .next()
        .expect("what changed is named")
        .click();
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
