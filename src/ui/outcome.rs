//! How outcomes of calls look, wherever one is listed.

use egui::Color32;

use super::icons;
use super::theme::ThemeTokens;
use loupe_core::capture::Outcome;

/// How an outcome looks and what it is called.
pub fn outcome_look(outcome: Outcome, t: &ThemeTokens) -> (&'static str, Color32, &'static str) {
    match outcome {
        Outcome::Result => (icons::CHECK_CIRCLE, t.weak, "done"),
        Outcome::ToolError => (icons::ERROR, t.bad, "isError"),
        Outcome::ProtocolError => (icons::ERROR, t.bad, "JSON-RPC error"),
        Outcome::Malformed => (icons::BUG, t.bad, "unreadable answer"),
        Outcome::Timeout => (icons::TIMEOUT, t.warn, "timed out"),
        Outcome::Cancelled => (icons::CANCELLED, t.weak, "cancelled"),
        Outcome::Disconnected => (icons::DISCONNECT, t.bad, "server disconnected"),
    }
}
