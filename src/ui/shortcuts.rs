//! The keys of commands that buttons and rows show next to their names; [`super::commands`] has all of them.

use egui::{Key, KeyboardShortcut, Modifiers};

pub const BARE: Modifiers = Modifiers::NONE;
pub const CTRL: Modifiers = Modifiers::COMMAND;
pub const CTRL_SHIFT: Modifiers = Modifiers::COMMAND.plus(Modifiers::SHIFT);

pub const fn keys(modifiers: Modifiers, key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(modifiers, key)
}

pub const EQUAL_CALLS: KeyboardShortcut = keys(CTRL_SHIFT, Key::R);
pub const RECONNECT: KeyboardShortcut = keys(CTRL, Key::R);
pub const EXPORT_FOLDER: KeyboardShortcut = keys(CTRL, Key::E);
pub const SAVE_FIXTURE: KeyboardShortcut = keys(CTRL, Key::S);
pub const START_SAMPLE: KeyboardShortcut = keys(CTRL_SHIFT, Key::S);
pub const THEME: KeyboardShortcut = keys(CTRL_SHIFT, Key::T);
pub const PROTOCOL_LOG: KeyboardShortcut = keys(CTRL_SHIFT, Key::L);
pub const CONNECT_OTHER: KeyboardShortcut = keys(CTRL, Key::L);
pub const COMPARE_BEFORE: KeyboardShortcut = keys(CTRL, Key::D);
pub const COPY_VERDICT: KeyboardShortcut = keys(BARE, Key::V);
pub const PALETTE: KeyboardShortcut = keys(CTRL, Key::K);
pub const UNDO: KeyboardShortcut = keys(CTRL, Key::Z);

/// The keys in words: `Ctrl Shift M`.
pub fn text(shortcut: &KeyboardShortcut) -> String {
    let control = if cfg!(target_os = "macos") {
        "Cmd"
    } else {
        "Ctrl"
    };
    let mut parts = Vec::new();
    if shortcut.modifiers.command || shortcut.modifiers.ctrl {
        parts.push(control);
    }
    if shortcut.modifiers.alt {
        parts.push("Alt");
    }
    if shortcut.modifiers.shift {
        parts.push("Shift");
    }
    parts.push(match shortcut.logical_key {
        Key::Escape => "Esc",
        Key::Slash => "/",
        key => key.name(),
    });
    parts.join(" ")
}
