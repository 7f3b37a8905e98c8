//! Fixtures and exports, as a person makes them.

use std::path::Path;

use egui::accesskit::Role;
use mcp_loupe::cancel::Cancel;
use mcp_loupe::fixture::export::{EXPORTS, ExportChoice, ExportForm};
use mcp_loupe::fixture::redact::RedactOptions;
use mcp_loupe::fixture::verify::judge;
use mcp_loupe::state::{Dialog, PathPurpose};
use mcp_loupe::store;

use super::*;

pub(super) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"))
}

pub(super) fn write(window: &mut Window, field: &str, text: &Path) {
    until(window, field, |window| window.query_by_role_and_label(Role::TextInput, field).is_some());
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
        window.get_all_by_label_contains(submenu).next().unwrap_or_else(|| panic!("no menu {submenu}")).click();
        until(window, entry, |window| window.query_by_label(entry).is_some());
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
    assert_eq!(window.get_by_label("Save the fixture").rect(), button, "it stays where it is");
    window.get_by_label("Dates").click();
    until_label(&mut window, "not byte for byte as received");
    assert!(!at.exists(), "nothing is written by looking");
    click(&mut window, "Save the fixture");
    until_label(&mut window, "Saved ");
    // Through the core: it is whole, and keeps what it promises.
    let (written, expect) = store::read_fixture(&at).unwrap_or_else(|problem| panic!("{problem}"));
    assert!(!expect.ignore.is_empty(), "dates are not compared");
    let (dir, hosts) = (String::new(), Hosts::built_in());
    let verdict = judge(dir, &written, None, &expect, &RedactOptions::default(), &hosts, &Cancel::new());
    assert!(verdict.unwrap_or_else(|error| panic!("{error}")).passed());
    // A second time nothing is written over, unless that is chosen.
    press(&mut window, Key::S, Modifiers::COMMAND);
    until_label(&mut window, "already exists");
    let before = std::fs::read(at.join("response.json")).unwrap_or_default();
    click(&mut window, "Replace the fixture");
    assert_eq!(std::fs::read(at.join("response.json")).unwrap_or_default(), before);
    click(&mut window, "Existing folder: Replace it");
    until(&mut window, "it may be replaced", |window| {
        window.state().state.fixtures.saving.as_ref().is_some_and(|one| one.form.replaces)
    });
    click(&mut window, "Replace the fixture");
    until(&mut window, "it is replaced", |window| window.state().state.fixtures.saving.is_none());
    assert_ne!(std::fs::read(at.join("response.json")).unwrap_or_default(), before, "the dates as they came");
    // The folder is opened and every call made again.
    open(&mut window, folder.path());
    until_label(&mut window, "1 fixture to verify");
    click(&mut window, "Verify against this server");
    until_label(&mut window, "1 of 1 fixture passed");
    until_label(&mut window, "passed: payload: the data is as expected");
    let expect = at.join("expect.toml");
    let text = std::fs::read_to_string(&expect).unwrap_or_default() + "\n[budgets.tokens]\ncontent = 7\n";
    std::fs::write(&expect, text).unwrap_or_else(|error| panic!("{error}"));
    click(&mut window, "Check saved answers, no calls");
    until_label(&mut window, "0 of 1 fixture passed");
    until_label(&mut window, "failed: budget content");
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
    until(&mut window, "the path is asked for", |window| matches!(window.state().state.dialog, Some(Dialog::Path { .. })));
    press(&mut window, Key::Escape, Modifiers::NONE);
    let hosts = Hosts::built_in();
    let (mut written, mut seen) = (0, Vec::new());
    for (number, choice) in ExportChoice::all(&hosts).into_iter().enumerate() {
        let (submenu, title) = match choice {
            ExportChoice::Export(export) if matches!(export.form, ExportForm::Folder) => continue,
            ExportChoice::Export(export) if export.needs_fixture() => ("Save a test", export.title.to_owned()),
            ExportChoice::Export(export) if export.is_of_samples() => ("Save types", export.title.to_owned()),
            ExportChoice::Export(export) if !matches!(export.form, ExportForm::File(_)) || export.kind.ends_with("-svg") => {
                ("Save a picture", export.title.to_owned())
            }
            ExportChoice::Export(export) => ("Save as", export.title.to_owned()),
            ExportChoice::Format(format) => ("Save as a format", format.title().to_owned()),
            ExportChoice::Host(id) => (
                "Save what a host shows",
                hosts.iter().find(|host| host.id == id).map(|host| host.name.clone()).unwrap_or_default(),
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
        window.state_mut().state.dialog =
            Some(Dialog::Path { purpose: PathPurpose::ExportAs(choice), text: path.display().to_string() });
        window.step();
        // The one of the dialog; the menu's button has the same name.
        window.get_all_by_label("Export").last().unwrap_or_else(|| panic!("no button")).click();
        window.step();
        let problems = |window: &Window| window.state().state.toasts.iter().filter(|toast| toast.problem.is_some()).count();
        until(&mut window, &choice.kind(), |window| path.exists() || problems(window) > 0);
        let size = std::fs::metadata(&path).map_or(0, |file| file.len());
        written += usize::from(size > 0);
        if size == 0 {
            let said = window.state().state.toasts.iter().find_map(|toast| toast.problem.clone());
            let said = said.map(|problem| problem.message()).unwrap_or_default();
            assert!(choice.kind() == "har" || said.contains("does not apply") || !said.is_empty(), "{}: {said}", choice.kind());
        }
        window.state_mut().state.toasts.clear();
    }
    assert!(written + 12 > ExportChoice::all(&hosts).len(), "{written} of {}", ExportChoice::all(&hosts).len());
    assert!(EXPORTS.len() > 10);
}
