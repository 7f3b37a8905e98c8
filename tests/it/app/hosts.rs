//! A person's own hosts in the window, and what a host does not show of an answer.

use std::sync::Arc;

use egui::{Key, Modifiers, OutputCommand};
use egui_kittest::kittest::Queryable as _;
use loupe_analysis::fixture::export::ExportChoice;
use loupe_core::host::Hosts;
use mcp_loupe::state::{Action, Dialog, ExportAction, HostsAction, HostsTab, SessionId};

use super::fixtures::item;
use super::{click, on_sample, press, until, until_label};

const OWN: &str = r#"
schema = "loupe.hosts/1"

[[host]]
id = "mine"
name = "My agent"
kind = "cli"
version = "1.2"
checked = "2026-01-31"
evidence = "observed"
select = "structured-for-text"
json = "js-compact"
delivery = "string"

[host.block]
text = ["{text}"]

[host.error]
native_flag = false

[host.client]
name = "my-agent"
version = "1.2"
capabilities = '{"roots":{"listChanged":true}}'
source = "read from a transcript"
"#;

#[test]
fn own_hosts_are_called_as_and_exported() {
    let mut window = on_sample();
    click(&mut window, "More ways to call");
    until_label(&mut window, "Call as Loupe");
    click(&mut window, "Call as Loupe");
    until_label(
        &mut window,
        "How 6 of 41 hosts name themselves was not verified",
    );
    until_label(&mut window, "Sends client loupe ");
    press(&mut window, Key::Escape, Modifiers::NONE);
    let hosts = Arc::new(Hosts::built_in().with_file(OWN, "hosts.toml"));
    assert!(hosts.problems.is_empty(), "{:?}", hosts.problems);
    window.state_mut().use_hosts(&hosts);
    until(&mut window, "the hosts are known", |window| {
        window.state().state.hosts.len() == 42
    });
    click(&mut window, "More ways to call");
    until_label(&mut window, "Call as Loupe");
    click(&mut window, "Call as Loupe");
    until_label(&mut window, "My agent");
    click(&mut window, "My agent");
    until(&mut window, "it is connected anew", |window| {
        window.state().state.session().id == SessionId(2)
            && window.state().state.session().connection.is_connected()
            && window.state().state.tool().is_some()
    });
    click(&mut window, "More ways to call");
    until_label(&mut window, "Call as My agent");
    click(&mut window, "Call as My agent");
    until_label(
        &mut window,
        r#"Sends client my-agent 1.2, capabilities {"roots":{"listChanged":true}}."#,
    );
    press(&mut window, Key::Escape, Modifiers::NONE);
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    until(&mut window, "the answer is there", |window| {
        window.state().state.capture().is_some()
    });
    let notes = window
        .state()
        .state
        .capture()
        .map(|capture| capture.notes.clone())
        .unwrap_or_default();
    let note =
        r#"called as My agent: client my-agent 1.2, capabilities {"roots":{"listChanged":true}}"#;
    assert_eq!(
        notes,
        [format!(
            "{note}; what the server speaks was found out as Loupe does"
        )]
    );
    until(&mut window, "the panes are filled", |window| {
        window.state().state.query_results.working() == 0
    });
    item(&mut window, "Save what a host shows", "My agent");
    until(&mut window, "the path is asked for", |window| {
        matches!(window.state().state.dialog, Some(Dialog::Path { .. }))
    });
}

#[test]
fn a_chart_is_copied_as_a_picture() {
    let mut window = on_sample();
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    until(&mut window, "the answer is there", |window| {
        window.state().state.capture().is_some()
    });
    let ctx = window.ctx.clone();
    for kind in ["hosts-png", "formats-png"] {
        let copy = Action::ExportAs(ExportAction::Copy(
            ExportChoice::parse(kind, &Hosts::built_in()).unwrap(),
        ));
        window.state_mut().perform(&ctx, vec![copy]);
        until(&mut window, kind, |window| {
            window.output().platform_output.commands.iter().any(
                |command| matches!(command, OutputCommand::CopyImage(picture) if picture.size[0] > 400 && picture.size[1] > 200),
            )
        });
    }
}

#[test]
fn what_hosts_lose_of_the_server_needs_no_result() {
    let mut window = on_sample();
    let show = Action::Hosts(HostsAction::Tab(HostsTab::Server));
    window.state_mut().state.perform(show, &mut Vec::new());
    until_label(&mut window, "hosts do not get all of loupe-sample");
    until_label(
        &mut window,
        "Definitions alone: call a tool to add its result",
    );
    let selected = |window: &super::Window| window.state().state.view.hosts.selected;
    assert_eq!(selected(&window), None);
    press(&mut window, Key::F8, Modifiers::NONE);
    until(&mut window, "a host that loses something", |window| {
        selected(window).is_some()
    });
    let first = selected(&window);
    press(&mut window, Key::F8, Modifiers::NONE);
    until(&mut window, "the next one", |window| {
        selected(window) != first
    });
    // The row says all that is in it.
    let row = "OpenAI Codex CLI: default, ";
    until_label(&mut window, row);
    window
        .query_all_by_label_contains(row)
        .next()
        .unwrap()
        .click();
    until_label(&mut window, "inputSchema as the model gets it");
    window.get_by_label("Copy summary").click();
    until(&mut window, "the table is copied", |window| {
        super::copied(window)
            .concat()
            .contains("| Host | Loses tools |")
    });
}
