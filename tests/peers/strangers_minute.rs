//! The first minute on a server that nobody here wrote, whose answers are text: connected by what is pasted, called, read.

use std::path::PathBuf;

use egui::{Event, Key, Modifiers};
use egui_kittest::kittest::Queryable;
use mcp_loupe::state::{Action, CallAction, ConnectAction, HostsAction};

use crate::live::{Window, open_sized, until};

fn until_label(window: &mut Window, label: &str) {
    until(window, label, |window| {
        window.query_all_by_label_contains(label).next().is_some()
    });
}

fn press(window: &mut Window, key: Key, modifiers: Modifiers) {
    window.event(Event::ModifiersChanged(modifiers));
    window.event(Event::Key {
        key,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers,
    });
    window.step();
    window.event(Event::ModifiersChanged(Modifiers::NONE));
    window.step();
}

#[test]
fn the_first_minute_on_a_strangers_server() {
    let peers = std::env::var_os("LOUPE_PEERS")
        .expect("LOUPE_PEERS names the folder of the installed servers");
    let server = PathBuf::from(peers).join("node_modules/.bin/mcp-server-filesystem");
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let file = folder.join("note.txt");
    std::fs::write(&file, "twenty bytes of text").unwrap();
    for size in [[1_280.0, 800.0], [1_600.0, 1_000.0]] {
        let mut window = open_sized(None, size);
        until(&mut window, "the sample is there", |window| {
            window.state().state.tools_total().is_some()
        });
        window
            .state_mut()
            .state
            .perform(ConnectAction::Show, &mut Vec::new());
        until_label(&mut window, "Connect to an MCP server");
        let field = window.get_by_label("Paste anything that names a server");
        field.focus();
        field.type_text(&format!("{} {}", server.display(), folder.display()));
        window.step();
        window.step();
        until_label(&mut window, "Understood: a command line");
        press(&mut window, Key::Enter, Modifiers::COMMAND);
        until_label(&mut window, " before the first call");
        until_label(&mut window, "Try it: get_file_info");
        let ctx = window.ctx.clone();
        let arguments = serde_json::json!({ "path": file }).to_string();
        let call = vec![
            CallAction::SelectTool("get_file_info".into()).into(),
            CallAction::SetArgumentsText(arguments).into(),
            CallAction::Call { send_anyway: false }.into(),
        ];
        window.state_mut().perform(&ctx, call);
        // It is declared read-only, so nobody is asked. What a stranger asks is in the strip.
        for words in [
            "Text, what ",
            "sent twice: +",
            "nothing is cheaper with all 7 facts",
            "read from the text (key: value, 100%)",
        ] {
            until_label(&mut window, words);
        }
        let capture = window.state().state.capture().unwrap().clone();
        let text = String::from_utf8(capture.response.clone().unwrap().to_vec()).unwrap();
        assert!(text.contains("size: 20"), "{text}");
        until_label(&mut window, "7 facts");
        // Ctrl R connects again and calls again, without a question; nothing changed.
        press(&mut window, Key::R, Modifiers::COMMAND);
        until(&mut window, "called again", |window| {
            window.state().state.captures.len() == 2
        });
        assert!(window.state().state.dialog.is_none());
        until_label(&mut window, "same as before");
        // Whichever part a host reads, the answer is there.
        window
            .state_mut()
            .perform(&ctx, vec![Action::Hosts(HostsAction::Show(None))]);
        until_label(&mut window, "All known hosts show everything");
        until_label(&mut window, "Claude Code");
    }
}
