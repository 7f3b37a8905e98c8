//! Fixtures and exports, as a person makes them.

use std::path::Path;

use bytes::Bytes;
use egui::accesskit::Role;
use loupe_analysis::fixture::export::{EXPORTS, ExportChoice, ExportForm};
use loupe_analysis::fixture::verify::judge;
use loupe_core::cancel::Cancel;
use loupe_core::capture::Capture;
use loupe_core::redact::RedactOptions;
use mcp_loupe::state::{Dialog, PathPurpose};
use mcp_loupe::store;

use super::*;

pub(super) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"))
}

pub(super) fn write(window: &mut Window, field: &str, text: &Path) {
    until(window, field, |window| {
        window
            .query_by_role_and_label(Role::TextInput, field)
            .is_some()
    });
    window.get_by_role_and_label(Role::TextInput, field).focus();
    window.step();
    press(window, Key::A, Modifiers::COMMAND);
    window.event(Event::Text(text.display().to_string()));
    window.step();
}

pub(super) fn item(window: &mut Window, submenu: &str, entry: &str) {
    window.get_by_label_contains("Export").click();
    window.step();
    window.step();
    if !submenu.is_empty() {
        window
            .get_all_by_label_contains(submenu)
            .next()
            .unwrap_or_else(|| panic!("no menu {submenu}"))
            .click();
        until(window, entry, |window| {
            window.query_by_label(entry).is_some()
        });
    }
    window.get_by_label(entry).click();
    window.step();
    window.step();
}

/// Opens a folder of fixtures as a person does.
pub(super) fn open(window: &mut Window, folder: &Path) {
    press(window, Key::F, Modifiers::COMMAND | Modifiers::SHIFT);
    until_label(window, "Open a folder of fixtures…");
    click(window, "Open a folder of fixtures…");
    write(window, "Path", folder);
    click(window, "Open");
}

#[test]
fn a_fixture_is_saved_after_a_look_and_verified() {
    let folder = folder();
    let mut window = called([1_280.0, 900.0], "dual_search_companies");
    item(&mut window, "", "Fixture…");
    until_label(&mut window, "Save as a fixture");
    until_label(&mut window, "response.json");
    let button = window.get_by_label("Save the fixture").rect();
    write(&mut window, "Folder", folder.path());
    let at = folder.path().join("dual_search_companies");
    until_label(&mut window, &format!("Creates {}", at.display()));
    until_label(&mut window, "response.json");
    assert_eq!(
        window.get_by_label("Save the fixture").rect(),
        button,
        "it stays where it is"
    );
    window.get_by_label("Dates").click();
    until_label(&mut window, "not byte for byte as received");
    assert!(!at.exists(), "nothing is written by looking");
    click(&mut window, "Save the fixture");
    until_label(&mut window, "Saved ");
    // Through the core: it is whole, and keeps what it promises.
    let (written, expect) = store::read_fixture(&at).unwrap_or_else(|problem| panic!("{problem}"));
    assert!(!expect.ignore.is_empty(), "dates are not compared");
    let (dir, hosts) = (String::new(), Hosts::built_in());
    let verdict = judge(
        dir,
        &written,
        None,
        &expect,
        &RedactOptions::default(),
        &hosts,
        &Cancel::new(),
    );
    assert!(verdict.unwrap_or_else(|error| panic!("{error}")).passed());
    // A second time nothing is written over, unless that is chosen.
    press(&mut window, Key::S, Modifiers::COMMAND);
    until_label(&mut window, "already exists");
    let before = std::fs::read(at.join("response.json")).unwrap_or_default();
    click(&mut window, "Replace the fixture");
    assert_eq!(
        std::fs::read(at.join("response.json")).unwrap_or_default(),
        before
    );
    click(&mut window, "Existing folder: Replace it");
    until(&mut window, "it may be replaced", |window| {
        window
            .state()
            .state
            .fixtures
            .saving
            .as_ref()
            .is_some_and(|one| one.form.replaces)
    });
    click(&mut window, "Replace the fixture");
    until(&mut window, "it is replaced", |window| {
        window.state().state.fixtures.saving.is_none()
    });
    assert_ne!(
        std::fs::read(at.join("response.json")).unwrap_or_default(),
        before,
        "the dates as they came"
    );
    // The folder is opened and every call made again.
    open(&mut window, folder.path());
    until_label(&mut window, "1 fixture to verify");
    click(&mut window, "Verify against this server");
    until_label(&mut window, "1 of 1 fixture passed");
    window
        .get_by_label_contains("Checks of fixture 1: ")
        .click();
    until_label(&mut window, "passed: data: the data is as expected");
    let expect = at.join("expect.toml");
    let text =
        std::fs::read_to_string(&expect).unwrap_or_default() + "\n[budgets.tokens]\ncontent = 7\n";
    std::fs::write(&expect, text).unwrap_or_else(|error| panic!("{error}"));
    click(&mut window, "Check saved answers, no calls");
    until_label(&mut window, "0 of 1 fixture passed");
    until_label(&mut window, "failed: budget content");
}

/// Does what the palette has by this name.
fn choose(window: &mut Window, command: &str) {
    press(window, Key::K, Modifiers::COMMAND);
    until(window, "the palette", |window| {
        matches!(window.state().state.dialog, Some(Dialog::Palette { .. }))
    });
    window.event(Event::Text(command.to_owned()));
    window.step();
    window.step();
    press(window, Key::Enter, Modifiers::NONE);
}

#[test]
fn the_calls_of_this_run_become_fixtures_after_a_look() {
    let folder = folder();
    let mut window = called([1_280.0, 900.0], "dual_search_companies");
    perform(
        &mut window,
        CallAction::SetArgumentsText(r#"{"pageSize":1}"#.into()),
    );
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    until(&mut window, "both answers are there", |window| {
        window.state().state.captures.len() == 2
    });
    choose(&mut window, "Save the calls of this run");
    until_label(&mut window, "Save 2 calls as fixtures");
    write(&mut window, "Folder", folder.path());
    until_label(
        &mut window,
        &format!("Creates 2 folders in {}", folder.path().display()),
    );
    until_label(&mut window, "dual_search_companies-2 · ");
    until_label(&mut window, "Possible secrets");
    assert_eq!(
        std::fs::read_dir(folder.path()).map(Iterator::count).ok(),
        Some(0),
        "nothing is written by looking"
    );
    click(&mut window, "Save 2 fixtures");
    until_label(&mut window, "Saved 2 fixtures");
    let second = folder.path().join("dual_search_companies-2");
    let (written, _) = store::read_fixture(&second).unwrap_or_else(|problem| panic!("{problem}"));
    assert_eq!(written.arguments, r#"{"pageSize":1}"#.as_bytes());
    // A second time nothing is written over, not even where one of them is gone.
    std::fs::remove_dir_all(&second).unwrap_or_else(|error| panic!("{error}"));
    choose(&mut window, "Save the calls of this run");
    until_label(&mut window, "1 of 2 already exist");
    click(&mut window, "Save 2 fixtures");
    assert!(!second.exists() && window.state().state.fixtures.saving.is_some());
    click(&mut window, "Existing folders: Replace them");
    until(&mut window, "they may be replaced", |window| {
        window
            .state()
            .state
            .fixtures
            .saving
            .as_ref()
            .is_some_and(|saving| saving.form.replaces)
    });
    click(&mut window, "Save 2 fixtures");
    until(&mut window, "they are saved", |window| {
        window.state().state.fixtures.saving.is_none()
    });
    assert!(second.exists());
    // They are verified together.
    open(&mut window, folder.path());
    until_label(&mut window, "2 fixtures to verify");
    click(&mut window, "Verify against this server");
    until_label(&mut window, "2 of 2 fixtures passed");
    until_label(&mut window, "answers as sent, o200k_base: ");
}

#[test]
fn every_export_writes_something_or_says_why_not() {
    let folder = folder();
    let mut window = called([1_280.0, 900.0], "dual_search_companies");
    // A test needs a fixture: that is saved first, and asked for by itself.
    item(&mut window, "Save a test", "Test for pytest");
    until_label(&mut window, "reads the answer from a fixture");
    write(&mut window, "Folder", folder.path());
    until_label(&mut window, &format!("Creates {}", folder.path().display()));
    click(&mut window, "Save the fixture");
    until(&mut window, "the path is asked for", |window| {
        matches!(window.state().state.dialog, Some(Dialog::Path { .. }))
    });
    press(&mut window, Key::Escape, Modifiers::NONE);
    let hosts = Hosts::built_in();
    let (mut written, mut seen) = (0, Vec::new());
    for (number, choice) in ExportChoice::all(&hosts).into_iter().enumerate() {
        let (submenu, title) = match choice {
            ExportChoice::Export(export) if matches!(export.form, ExportForm::Folder) => continue,
            ExportChoice::Export(export) if export.needs_fixture() => {
                ("Save a test", export.title.to_owned())
            }
            ExportChoice::Export(export)
                if !matches!(export.form, ExportForm::File(_)) || export.kind.ends_with("-svg") =>
            {
                ("Save a picture", export.title.to_owned())
            }
            ExportChoice::Export(export) => ("Save as", export.title.to_owned()),
            ExportChoice::Format(format) => ("Save as a format", format.title().to_owned()),
            ExportChoice::Host(id) => (
                "Save what a host shows",
                hosts
                    .iter()
                    .find(|host| host.id == id)
                    .map(|host| host.name.clone())
                    .unwrap_or_default(),
            ),
        };
        let path = folder.path().join(format!("{number}.out"));
        // Of the two long menus the first entry is enough; the others come from the same list.
        if matches!(choice, ExportChoice::Export(_)) || !seen.contains(&submenu) {
            item(&mut window, submenu, &title);
            let asked = |window: &Window| matches!(&window.state().state.dialog, Some(Dialog::Path { purpose, .. }) if *purpose == PathPurpose::ExportAs(choice));
            until(&mut window, &title, asked);
            seen.push(submenu);
        }
        window.state_mut().state.dialog = Some(Dialog::Path {
            purpose: PathPurpose::ExportAs(choice),
            text: path.display().to_string(),
        });
        window.step();
        // The one of the dialog; the menu's button has the same name.
        window
            .get_all_by_label("Export")
            .last()
            .unwrap_or_else(|| panic!("no button"))
            .click();
        window.step();
        let problems = |window: &Window| {
            window
                .state()
                .state
                .toasts
                .iter()
                .filter(|toast| toast.problem.is_some())
                .count()
        };
        until(&mut window, &choice.kind(), |window| {
            path.exists() || problems(window) > 0
        });
        let size = std::fs::metadata(&path).map_or(0, |file| file.len());
        written += usize::from(size > 0);
        if size == 0 {
            let said = window
                .state()
                .state
                .toasts
                .iter()
                .find_map(|toast| toast.problem.clone());
            let said = said.map(|problem| problem.message()).unwrap_or_default();
            assert!(
                choice.kind() == "har" || said.contains("does not apply") || !said.is_empty(),
                "{}: {said}",
                choice.kind()
            );
        }
        window.state_mut().state.toasts.clear();
    }
    assert!(
        written + 12 > ExportChoice::all(&hosts).len(),
        "{written} of {}",
        ExportChoice::all(&hosts).len()
    );
    assert!(EXPORTS.len() > 10);
}

#[test]
fn a_new_answer_is_kept_after_a_look_and_a_hidden_argument_is_filled_in() {
    let folder = folder();
    let mut window = called([1_280.0, 900.0], "dual_search_companies");
    let Some(capture) = window.state().state.capture().cloned() else {
        panic!("an answer")
    };
    let with = |arguments: &'static str| Capture {
        arguments: Bytes::from_static(arguments.as_bytes()),
        ..(*capture).clone()
    };
    let save = |name: &str, capture: &Capture| {
        store::write_folder(capture, &folder.path().join(name))
            .unwrap_or_else(|problem| panic!("{problem}"));
    };
    // As if the server had answered these so before.
    save(
        "a",
        &with(r#"{"searchTerm":"[hidden:member]","pageSize":1}"#),
    );
    save("b", &with(r#"{"pageSize":1}"#));
    open(&mut window, folder.path());
    until_label(&mut window, "2 fixtures to verify");
    click(&mut window, "Verify against this server");
    until_label(&mut window, "0 of 2 fixtures passed");
    until_label(&mut window, "type its value below the fixture");
    let field = "Value of /searchTerm, fixture 1";
    window
        .get_by_role_and_label(Role::PasswordInput, field)
        .focus();
    window.step();
    window.event(Event::Text("north".to_owned()));
    window.step();
    click(&mut window, "Verify against this server");
    until_label(&mut window, "Keep 2 new answers");
    let before =
        store::read_folder(&folder.path().join("b")).unwrap_or_else(|problem| panic!("{problem}"));
    // Nothing while a folder is being replaced.
    let files = |name: &str| -> Option<std::collections::BTreeMap<_, _>> {
        let read = |entry: Result<std::fs::DirEntry, std::io::Error>| {
            let path = entry?.path();
            Ok::<_, std::io::Error>((path.clone(), std::fs::read(path)?))
        };
        std::fs::read_dir(folder.path().join(name))
            .ok()?
            .map(read)
            .collect::<Result<_, _>>()
            .ok()
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
    until(&mut window, "both are as before, byte for byte", |_| {
        (files("a"), files("b")) == both
    });
    click(&mut window, "Keep the new answer of a");
    until_label(&mut window, "the new answer is kept");
    click(&mut window, "Keep the new answer");
    until_label(&mut window, "2 of 2 fixtures passed");
    let after =
        store::read_folder(&folder.path().join("b")).unwrap_or_else(|problem| panic!("{problem}"));
    assert_ne!(before.response, after.response);
    let kept =
        store::read_folder(&folder.path().join("a")).unwrap_or_else(|problem| panic!("{problem}"));
    assert!(
        String::from_utf8_lossy(&kept.arguments).contains("[hidden:"),
        "what was typed is not kept"
    );
    click(&mut window, "Verify against this server");
    until(&mut window, "they are judged", |window| {
        window.state().state.fixtures.verifying.totals().passed == 2
    });
}
