//! Where a newcomer stood still: what is pasted and not clicked, a server that went away, a connection that was given up,
//! an answer of a tool that is not there, a dialog that waits for a key, a call that lacks an argument.

use egui::accesskit::Role;
use egui::{Event, Key, Modifiers};
use egui_kittest::kittest::Queryable;
use mcp_loupe::state::{Action, CallAction, ConnectAction, Connection, Screen, ViewAction};

use super::painted::paints;
use super::{
    Window, called, click, on_sample, open_with, perform, press, shell, until, until_label,
};

/// A server with two tools, one of them declared read-only; `then` is what its script does once they are listed.
fn two_tools(then: &str) -> Window {
    let script = format!(
        r#"answer() {{ printf '%s' "$1" | sed "s/\"id\":0/$(printf '%s' "$2" | grep -o '"id":[^,}}]*' | head -n 1)/"; echo; }}
read a; answer '{{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"two","version":"1"}}}}}}' "$a"
read b; read c; answer '{{"jsonrpc":"2.0","id":0,"result":{{"tools":[{{"name":"even","inputSchema":{{"type":"object"}},"annotations":{{"readOnlyHint":true}}}},{{"name":"odd","inputSchema":{{"type":"object"}}}}]}}}}' "$c"
{then}"#
    );
    let mut window = open_with(Some(shell(&script)));
    until(&mut window, "it is connected", |window| {
        window.state().state.session().tools.len() == 2
    });
    window.step();
    window
}

fn on_connect_screen() -> Window {
    let mut window = on_sample();
    window
        .state_mut()
        .state
        .perform(ConnectAction::Show, &mut Vec::new());
    until_label(&mut window, "Connect to an MCP server");
    window
}

fn paste_into_field(window: &mut Window, text: &str) {
    let field = window.get_by_label("Paste anything that names a server");
    field.focus();
    field.type_text(text);
    until_label(window, "Understood: a command line");
}

#[test]
fn enter_uses_what_is_pasted_and_shift_enter_makes_a_line() {
    let mut window = on_connect_screen();
    paste_into_field(&mut window, "npx -y my-server --port 1");
    press(&mut window, Key::Enter, Modifiers::NONE);
    until_label(&mut window, "$ npx -y my-server --port 1");
    assert_eq!(window.state().state.importing.text, "");
    perform(&mut window, ConnectAction::Show);
    window.step();
    paste_into_field(&mut window, "npx");
    press(&mut window, Key::Enter, Modifiers::SHIFT);
    until(&mut window, "a line is made", |window| {
        window.state().state.importing.text == "npx\n"
    });
}

#[test]
fn ctrl_enter_connects_to_what_is_pasted_and_old_errors_go() {
    let mut window = on_connect_screen();
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    until_label(&mut window, "no command given");
    paste_into_field(&mut window, "no-such-command-here --port 1");
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    until(
        &mut window,
        "it was tried",
        |window| matches!(&window.state().state.session().connection, Connection::Failed { source, .. } if source.to_string() == "-- no-such-command-here --port 1"),
    );
    assert!(
        window.state().state.toasts.is_empty(),
        "{:?}",
        window.state().state.toasts
    );
    // What became of the connection before is said, with the way back to it.
    until_label(&mut window, "was closed when you connected elsewhere");
    // A new source is no old failure's.
    until_label(&mut window, "Try again");
    window
        .state_mut()
        .state
        .perform(ConnectAction::Show, &mut Vec::new());
    until(&mut window, "the failure is gone", |window| {
        window.query_by_label("Try again").is_none()
    });
    click(&mut window, "Connect to Sample server again");
    until(&mut window, "it is the sample again", |window| {
        window.state().state.session().connection.is_connected()
    });
    assert!(window.state().state.session().connection.is_sample());
}

#[test]
fn a_server_that_went_away_says_so_and_offers_the_way_back() {
    let mut window = two_tools("read d; exit 3");
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    until(&mut window, "it is gone", |window| {
        matches!(
            window.state().state.session().connection,
            Connection::Disconnected { .. }
        )
    });
    // The server may be seen to be gone before its call has ended, and a key during a call is no new call.
    until(&mut window, "its call has ended", |window| {
        window.state().state.running.is_none()
    });
    window
        .query_all_by_label_contains("odd, ")
        .next()
        .unwrap_or_else(|| panic!("no such tool"))
        .click();
    until(&mut window, "it is chosen", |window| {
        window.state().state.session().selected_tool.as_deref() == Some("odd")
    });
    until(&mut window, "it is said", |window| {
        paints(window, "The server is gone") && paints(window, "Reconnect (Ctrl R)")
    });
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    until_label(&mut window, "the server is gone: ");
    click(&mut window, "Reconnect (Ctrl R)");
    until(&mut window, "it is there again", |window| {
        window.state().state.session().connection.is_connected()
    });
}

#[test]
fn a_dialog_that_asks_has_the_keyboard_and_esc_sends_nothing() {
    let mut window = two_tools("cat > /dev/null");
    until_label(&mut window, "before the first call");
    until_label(&mut window, "Try it: ");
    perform(&mut window, CallAction::SelectTool("odd".into()));
    window.step();
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    until_label(&mut window, "Call odd?");
    until(&mut window, "Enter would send", |window| {
        window
            .query_all_by_label("Call odd")
            .any(|button| button.is_focused())
            && window.query_by_label("Cancel").is_some()
    });
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    assert!(
        window.state().state.dialog.is_some(),
        "the keys that asked are no answer"
    );
    press(&mut window, Key::Escape, Modifiers::NONE);
    until(&mut window, "it is closed", |window| {
        window.state().state.dialog.is_none()
    });
    assert!(window.state().state.running.is_none() && window.state().state.captures.is_empty());
}

#[test]
fn an_answer_from_a_file_is_not_said_to_be_of_the_chosen_tool() {
    let mut window = on_sample();
    let ctx = window.ctx.clone();
    let answer = r#"{"content":[{"type":"text","text":"one\ntwo"},{"type":"image","data":"aGVsbG8=","mimeType":"image/png"},{"type":"text","text":"three"}]}"#;
    window
        .state_mut()
        .perform(&ctx, vec![Action::OpenText(answer.into())]);
    until(&mut window, "it is open", |window| {
        window.state().state.view.screen == Screen::Answer
    });
    until_label(&mut window, "3 blocks: 2 text, 1 image");
    until_label(&mut window, "content[2] begins here");
    until(&mut window, "it is said", |window| {
        paints(window, "this server has no such tool")
    });
    assert!(
        window
            .query_by_label("Call strict_search_companies")
            .is_none()
    );
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    until_label(&mut window, "is not a tool of this server");
    assert!(window.state().state.running.is_none());
    window.event(Event::ModifiersChanged(Modifiers::NONE));
}

#[test]
fn what_is_pasted_on_the_connect_screen_names_a_server_wherever_the_keyboard_is() {
    let mut window = on_connect_screen();
    window.event(Event::Paste("npx -y my-server".into()));
    until_label(&mut window, "Understood: a command line");
    assert_eq!(window.state().state.view.screen, Screen::Connect);
    press(&mut window, Key::Slash, Modifiers::NONE);
    assert!(window.state().state.session().filter.is_empty());
}

#[test]
fn a_filter_leaves_the_sidebar_as_wide_as_it_is() {
    let mut window = on_sample();
    let left = |window: &Window| {
        window
            .get_by_label("What do you want to know?")
            .rect()
            .left()
    };
    let before = left(&window);
    window
        .state_mut()
        .state
        .perform(ViewAction::SetFilter("zzz".into()), &mut Vec::new());
    for _ in 0..20 {
        window.step();
    }
    assert_eq!(left(&window), before);
}

#[test]
fn a_call_without_what_is_required_puts_the_cursor_there() {
    let mut window = on_sample();
    perform(
        &mut window,
        CallAction::SelectTool("dual_create_ticket".into()),
    );
    window.step();
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    window.step();
    let field = |window: &Window, name| {
        window
            .get_by_role_and_label(Role::TextInput, name)
            .is_focused()
    };
    assert!(field(&window, "companyID"), "the first of two");
    window.event(Event::Text("7".into()));
    until(&mut window, "it is typed", |window| {
        window
            .state()
            .state
            .form()
            .is_some_and(|form| form.text.contains("7"))
    });
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    window.step();
    assert!(field(&window, "title"), "the one that is still missing");
    assert!(window.state().state.running.is_none() && window.state().state.capture().is_none());
}

#[test]
fn the_form_stays_open_while_the_first_argument_is_typed() {
    let mut window = called([1_280.0, 800.0], "dual_search_companies");
    perform(&mut window, CallAction::ClearArguments);
    until(&mut window, "the form can be opened", |window| {
        window.query_by_label("Arguments").is_some()
    });
    click(&mut window, "Arguments");
    let field = |window: &Window| {
        window
            .query_by_role_and_label(Role::TextInput, "searchTerm")
            .is_some()
    };
    until(&mut window, "the form is open", field);
    window
        .get_by_role_and_label(Role::TextInput, "searchTerm")
        .focus();
    window.step();
    for letter in ["n", "o"] {
        window.event(Event::Text(letter.into()));
        window.step();
        window.step();
    }
    until(&mut window, "both are typed", |window| {
        window
            .state()
            .state
            .form()
            .is_some_and(|form| form.text.contains("\"no\""))
    });
    assert!(
        window
            .get_by_role_and_label(Role::TextInput, "searchTerm")
            .is_focused()
    );
}

#[test]
fn an_answer_is_removed_by_key_and_brought_back() {
    let mut window = called([1_600.0, 1_000.0], "dual_search_companies");
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    until(&mut window, "there are two", |window| {
        window.state().state.captures.len() == 2
    });
    let shown = |window: &Window| window.state().state.view.capture.clone();
    let second = shown(&window);
    window.get_by_label_contains("Capture 2: ").focus();
    window.step();
    press(&mut window, Key::Delete, Modifiers::NONE);
    until_label(&mut window, "Removed an answer of dual_search_companies");
    assert!(window.query_by_label_contains("Capture 2: ").is_none() && shown(&window).is_some());
    assert_ne!(shown(&window), second);
    press(&mut window, Key::Z, Modifiers::COMMAND);
    until_label(&mut window, "Capture 2: ");
    assert_eq!(shown(&window), second);
    window
        .get_by_label_contains("Capture 1: ")
        .click_secondary();
    until_label(&mut window, "Remove all others");
    click(&mut window, "Remove all others");
    until(&mut window, "one is left", |window| {
        window.state().state.captures.len() == 1
    });
    until_label(&mut window, "Text, what ");
}
