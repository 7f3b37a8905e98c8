//! Collections and accepted answers, as a person uses them.

use std::path::PathBuf;

use std::path::Path;

use bytes::Bytes;
use egui::DroppedFile;
use egui::accesskit::Role;
use mcp_loupe::capture::Capture;
use mcp_loupe::fixture::collection::Collection;
use mcp_loupe::store;

use super::fixtures::{folder, write};
use super::*;

const CALLS: &str = r#"schema = "loupe.collection/1"
source = "--sample"

[[call]]
name = "companies"
tool = "dual_search_companies"
arguments = '{"pageSize":2}'
[call.budgets.tokens]
content = 100000
[call.budgets.hosts]
claude-code = 100000

[[call]]
name = "too dear"
tool = "dial_search_user"
arguments = '{"name":"a"}'
[call.budgets.tokens]
content = 1
"#;

#[derive(Debug)]
struct Dropped(PathBuf);

impl DroppedFile for Dropped {
    fn path(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        std::fs::read(&self.0).map_err(|error| error.to_string())
    }
}

fn drop_file(window: &mut Window, path: &Path) {
    window.input_mut().dropped_files.push(Arc::new(Dropped(path.to_owned())));
    window.step();
}

fn choose(window: &mut Window, command: &str) {
    press(window, Key::K, Modifiers::COMMAND);
    until(window, "the palette", |window| matches!(window.state().state.dialog, Some(mcp_loupe::state::Dialog::Palette { .. })));
    window.event(Event::Text(command.to_owned()));
    window.step();
    window.step();
    press(window, Key::Enter, Modifiers::NONE);
}

#[test]
fn a_collection_is_dropped_run_compared_and_made_of_calls() {
    let folder = folder();
    let file = folder.path().join("calls.toml");
    std::fs::write(&file, CALLS).unwrap_or_else(|error| panic!("{error}"));
    let mut window = open_sized(None, [1_280.0, 900.0]);
    until(&mut window, "definitions are counted", |window| window.state().state.tools_total().is_some());
    drop_file(&mut window, &file);
    until_label(&mut window, "2 calls to make");
    click(&mut window, "Make 2 calls");
    until_label(&mut window, "1 of 2 calls did not pass");
    until_label(&mut window, "over its budget");
    until_label(&mut window, "of 1, over");
    until_label(&mut window, "Answers as sent: ");
    // The run is saved, and the next one compared with it.
    click(&mut window, "Save this run…");
    let run = folder.path().join("run.json");
    write(&mut window, "Path", &run);
    click(&mut window, "Save");
    until(&mut window, "the run is saved", |_| run.exists());
    assert!(std::fs::read_to_string(&run).unwrap_or_default().contains("loupe.run/1"));
    click(&mut window, "Compare with a run…");
    write(&mut window, "Path", &run);
    click(&mut window, "Compare");
    until_label(&mut window, "0 against run.json, in the 2 calls that both have");
    // A call of it is an answer like any other.
    window.get_by_label_contains("companies, dual_search_companies").click();
    until(&mut window, "the answer is shown", |window| window.state().state.view.screen == Screen::Answer);
    // The calls of this run become a collection of their own.
    choose(&mut window, "Run a collection");
    until_label(&mut window, "did not pass");
    let ids: Vec<_> = window.state().state.captures.iter().map(|capture| capture.id.clone()).collect();
    let ctx = window.ctx.clone();
    let collect = Action::Collection(mcp_loupe::state::CollectionAction::Collect(ids));
    window.state_mut().perform(&ctx, vec![collect]);
    window.step();
    let made = folder.path().join("mine.toml");
    write(&mut window, "Path", &made);
    click(&mut window, "Save");
    until_label(&mut window, "Saved 2 calls in ");
    let text = std::fs::read_to_string(&made).unwrap_or_default();
    let collection = Collection::parse(&text, "mine.toml").unwrap_or_else(|problem| panic!("{problem}"));
    assert_eq!((collection.source.as_deref(), collection.calls.len()), (Some("--sample"), 2), "{text}");
    assert_eq!(collection.calls[0].arguments, r#"{"pageSize":2}"#);
}

#[test]
fn a_new_answer_is_kept_after_a_look_and_a_hidden_argument_is_filled_in() {
    let folder = folder();
    let mut window = called([1_280.0, 900.0], "dual_search_companies");
    let Some(capture) = window.state().state.capture().cloned() else { panic!("an answer") };
    let with = |arguments: &'static str| Capture { arguments: Bytes::from_static(arguments.as_bytes()), ..(*capture).clone() };
    let save = |name: &str, capture: &Capture| {
        store::write_folder(capture, &folder.path().join(name)).unwrap_or_else(|problem| panic!("{problem}"));
    };
    // As if the server had answered these so before.
    save("a", &with(r#"{"searchTerm":"[hidden:member]","pageSize":1}"#));
    save("b", &with(r#"{"pageSize":1}"#));
    super::fixtures::open(&mut window, folder.path());
    until_label(&mut window, "2 fixtures to verify");
    click(&mut window, "Verify against this server");
    until_label(&mut window, "0 of 2 fixtures passed");
    until_label(&mut window, "type its value below the fixture");
    let field = "Value of /searchTerm, fixture 1";
    window.get_by_role_and_label(Role::PasswordInput, field).focus();
    window.step();
    window.event(Event::Text("north".to_owned()));
    window.step();
    click(&mut window, "Verify against this server");
    until_label(&mut window, "Keep 2 new answers");
    let before = store::read_folder(&folder.path().join("b")).unwrap_or_else(|problem| panic!("{problem}"));
    // Nothing while a folder is being replaced.
    let files = |name: &str| -> Option<std::collections::BTreeMap<_, _>> {
        let read = |entry: Result<std::fs::DirEntry, std::io::Error>| {
            let path = entry?.path();
            Ok::<_, std::io::Error>((path.clone(), std::fs::read(path)?))
        };
        std::fs::read_dir(folder.path().join(name)).ok()?.map(read).collect::<Result<_, _>>().ok()
    };
    let both = (files("a"), files("b"));
    assert!(both.0.is_some() && both.1.is_some());
    click(&mut window, "Keep 2 new answers");
    until_label(&mut window, "Kept 2 new answers");
    until_label(&mut window, "2 of 2 fixtures passed");
    let new = (files("a"), files("b"));
    assert!(new.0.is_some() && new.0 != both.0 && new.1.is_some() && new.1 != both.1);
    press(&mut window, Key::Z, Modifiers::COMMAND);
    until_label(&mut window, "Keep 2 new answers");
    until(&mut window, "both are as before, byte for byte", |_| (files("a"), files("b")) == both);
    click(&mut window, "Keep the new answer of a");
    until_label(&mut window, "the new answer is kept");
    click(&mut window, "Keep the new answer");
    until_label(&mut window, "2 of 2 fixtures passed");
    let after = store::read_folder(&folder.path().join("b")).unwrap_or_else(|problem| panic!("{problem}"));
    assert_ne!(before.response, after.response);
    let kept = store::read_folder(&folder.path().join("a")).unwrap_or_else(|problem| panic!("{problem}"));
    assert!(String::from_utf8_lossy(&kept.arguments).contains("[hidden:"), "what was typed is not kept");
    click(&mut window, "Verify against this server");
    until(&mut window, "they are judged", |window| window.state().state.fixtures.verifying.totals().passed == 2);
}
