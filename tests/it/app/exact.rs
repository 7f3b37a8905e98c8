//! An exact count for Claude in the window, against a stand-in for its provider.

use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT, Queryable};
use loupe_core::token::Tokenizer;
use mcp_loupe::state::{Action, TokensAction};

use super::{click, open_sized, press, until, until_label};
use crate::peer::{self, HttpPeer};

#[test]
fn claude_is_counted_by_its_provider_on_a_click_alone() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let provider = runtime.block_on(HttpPeer::start(|seen| {
        if seen.head.contains("x-api-key: sk-good") {
            peer::reply("200 OK", "application/json", br#"{"input_tokens":1402}"#)
        } else {
            let body = br#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#;
            peer::reply("401 Unauthorized", "application/json", body)
        }
    }));
    let mut window = open_sized(None, [1_600.0, 1_000.0]);
    until(&mut window, "definitions are counted", |window| {
        window.state().state.tools_total().is_some()
    });
    window.step();
    window
        .state_mut()
        .state
        .anthropic_count
        .address
        .clone_from(&provider.url);
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    until_label(&mut window, "Text, what ");
    assert!(
        window.query_by_label("Count exactly").is_none(),
        "exact here already"
    );
    let ctx = window.ctx.clone();
    window.state_mut().perform(
        &ctx,
        vec![Action::Tokens(TokensAction::Use(Tokenizer::Claude))],
    );
    until_label(&mut window, " hosts show: ≈");
    click(&mut window, "Count exactly");
    window.step();
    window
        .get_by_role_and_label(Role::MenuItem, "JSON, compact")
        .click();
    until_label(&mut window, "x-api-key: your key, not shown");
    until_label(&mut window, &format!("POST {}", provider.url));
    until_label(&mut window, r#"{"model":"claude-haiku-4-5","#);
    until_label(&mut window, "is kept for this session only");

    let host = provider.url.split('/').nth(2).unwrap();
    let send = format!("Send to {host}");
    assert!(
        window.get_by_label(&send).accesskit_node().is_disabled(),
        "there is no key yet"
    );
    let typed = |window: &mut super::Window, key: &str| {
        window.get_by_label("API key").focus();
        window.step();
        window.get_by_label("API key").type_text(key);
        window.step();
        window.step();
        click(window, &send);
    };
    typed(&mut window, "sk-bad");
    until_label(
        &mut window,
        "Anthropic does not take this key (HTTP 401: invalid x-api-key)",
    );
    typed(&mut window, "sk-good");
    until_label(
        &mut window,
        "Exactly 1,402 tokens for claude-haiku-4-5, counted by Anthropic on ",
    );
    until_label(
        &mut window,
        "Your key is kept in memory for this session only: the system's keychain is not used here",
    );
    press(&mut window, Key::Escape, Modifiers::NONE);
    until(&mut window, "the row has both", |window| {
        window
            .query_all_by_label_contains(", exactly 1,402 tokens for claude-haiku-4-5")
            .next()
            .is_some()
    });

    let seen = provider.seen();
    assert_eq!(seen.len(), 2, "two clicks, two requests");
    let body: serde_json::Value = serde_json::from_str(&seen[1].body).unwrap();
    let text = body["messages"][0]["content"].as_str().unwrap();
    assert!(
        serde_json::from_str::<serde_json::Value>(text)
            .unwrap()
            .is_object()
    );
    assert!(
        !format!("{:?}", window.state().state).contains("sk-good"),
        "the state holds no key"
    );
}
