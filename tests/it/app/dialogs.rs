//! What is asked for by the keyboard: paths, and the server to connect to.

use egui::{Event, Key, Modifiers};
use mcp_loupe::state::{Action, Dialog, PathPurpose, Screen};

use super::{on_sample, press, until};

#[test]
fn what_is_typed_takes_the_place_of_the_path_that_is_offered() {
    let mut window = on_sample();
    let ctx = window.ctx.clone();
    let dialog = |text: &str| Dialog::Path {
        purpose: PathPurpose::SaveLog,
        text: text.to_owned(),
    };
    window
        .state_mut()
        .perform(&ctx, vec![Action::ShowDialog(dialog("/offered/log.jsonl"))]);
    (0..4).for_each(|_| window.step());
    for part in ["/mine", ".jsonl"] {
        window.event(Event::Text(part.to_owned()));
        (0..2).for_each(|_| window.step());
    }
    assert_eq!(window.state().state.dialog, Some(dialog("/mine.jsonl")));
}

#[test]
fn where_no_server_was_used_before_its_key_asks_for_one() {
    let mut window = on_sample();
    press(&mut window, Key::L, Modifiers::COMMAND);
    until(&mut window, "a server is asked for", |window| {
        window.state().state.view.screen == Screen::Connect
    });
}
