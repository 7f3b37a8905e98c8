//! The menu of tokenizers, and what the settings keep of the window.

use egui::{Key, Modifiers};
use loupe_core::token::Tokenizer;
use mcp_loupe::state::{Action, Dialog, SettingsAction, TokensAction};

use super::{Window, click, open_sized, press, until, until_label};

fn with_settings(folder: &std::path::Path) -> Window {
    let mut window = open_sized(None, [1_600.0, 1_000.0]);
    let table = mcp_loupe::store::read_settings(folder).unwrap();
    let ctx = window.ctx.clone();
    window.state_mut().perform(
        &ctx,
        vec![
            SettingsAction::UseSettings {
                folder: folder.to_owned(),
                table,
            }
            .into(),
        ],
    );
    until(&mut window, "definitions are counted", |window| {
        window.state().state.tools_total().is_some()
    });
    window
}

#[test]
fn what_the_menu_of_tokenizers_leads_to_reacts_to_a_pointer() {
    let mut window = open_sized(None, [1_600.0, 1_000.0]);
    let ctx = window.ctx.clone();
    window.state_mut().perform(
        &ctx,
        vec![SettingsAction::UseFolder("/nowhere".into()).into()],
    );
    until(&mut window, "definitions are counted", |window| {
        window.state().state.tools_total().is_some()
    });
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    until_label(&mut window, "Text, what ");
    click(&mut window, "Tokenizer o200k_base");
    until_label(&mut window, "Tokenizer file…");
    until_label(&mut window, "prices.toml when Loupe starts");
    click(&mut window, "Tokenizer file…");
    until(&mut window, "the path is asked for", |window| {
        matches!(window.state().state.dialog, Some(Dialog::Path { .. }))
    });
    press(&mut window, Key::Escape, Modifiers::NONE);
    let ctx = window.ctx.clone();
    window.state_mut().perform(
        &ctx,
        vec![Action::Tokens(TokensAction::Use(Tokenizer::Claude))],
    );
    until_label(&mut window, "Tokenizer claude");
    click(&mut window, "Tokenizer claude");
    until_label(&mut window, "Count exactly…");
    click(&mut window, "Count exactly…");
    until(&mut window, "what would be sent is shown", |window| {
        window.state().state.dialog == Some(Dialog::ExactCount)
    });
}

#[test]
fn a_panel_that_nobody_dragged_is_not_kept_and_one_that_was_is() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = with_settings(folder.path());
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    until_label(&mut window, "Text, what ");
    window.set_size(egui::vec2(1_300.0, 760.0));
    window.run_steps(3);
    window.set_size(egui::vec2(1_600.0, 1_000.0));
    window.run_steps(3);
    assert_eq!(
        window.state().state.settings.panels,
        loupe_core::settings::Panels::default()
    );
    let edge = egui::pos2(mcp_loupe::ui::theme::SIDEBAR, 700.0);
    window.drag_at(edge);
    window.step();
    window.hover_at(edge + egui::vec2(40.0, 0.0));
    window.step();
    window.drop_at(edge + egui::vec2(40.0, 0.0));
    window.run_steps(2);
    let kept = window
        .state()
        .state
        .settings
        .panels
        .sidebar
        .unwrap_or_default();
    assert!(
        (f32::from(kept) - mcp_loupe::ui::theme::SIDEBAR - 40.0).abs() < 6.0,
        "{kept}"
    );
    until(&mut window, "it is in the file", |_| {
        let table = mcp_loupe::store::read_settings(folder.path()).unwrap();
        table
            .get("panels")
            .and_then(|panels| panels.get("sidebar")?.as_integer())
            == Some(i64::from(kept))
    });
}
