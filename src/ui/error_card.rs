//! A call that failed: what happened, in large type, said once, and what can be done. It stands where the strip would.

use egui::{Frame, Margin, Role, ScrollArea, Stroke, Ui};
use serde_json::Value;

use super::outcome::outcome_look;
use super::widgets::{self, Button};
use super::{Cx, icons, rtl, sidebar, theme};
use crate::state::{
    Action, CallAction, ConnectAction, Connection, HostsAction, PaneView, ViewAction,
};
use loupe_analysis::queries::invisible_chars::Shown;
use loupe_analysis::queries::{self, ParsedCaptureQuery, RowQuery};
use loupe_core::capture::{Capture, Outcome};
use loupe_core::format::ParsedCapture;

/// A longer reason scrolls: six lines.
const MOST: f32 = 132.0;
/// A JSON text that is longer is not looked into for its message.
const MOST_JSON: usize = 64 << 10;

/// Whether the result that is shown is a failure.
pub fn is_error(cx: &Cx<'_>) -> bool {
    let capture = cx.state.capture().filter(|_| cx.state.running.is_none());
    capture.is_some_and(|capture| capture.outcome != Outcome::Result)
}

/// Why a call failed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Reason {
    /// What repeats the head: "Error executing tool get_ticket:".
    prefix: String,
    text: String,
    hint: Option<String>,
}

impl Reason {
    fn new(subject: &ParsedCapture) -> Self {
        if subject.capture.outcome == Outcome::ToolError {
            let text = subject.response.content_text().unwrap_or_default();
            let text = message_of(&text).unwrap_or(text);
            return Self::without_prefix(text.trim(), &subject.capture.tool.name);
        }
        if let Some(error) = &subject.response.rpc_error {
            return Self::without_prefix(error.message.trim(), &subject.capture.tool.name);
        }
        match queries::failure(subject) {
            Some(problem) => Self {
                text: problem.what.clone(),
                hint: problem.hint.clone(),
                ..Self::default()
            },
            None => Self::default(),
        }
    }

    fn without_prefix(text: &str, tool: &str) -> Self {
        let repeats = [
            format!("Error executing tool {tool}: "),
            format!("Error calling tool '{tool}': "),
        ];
        let prefix = repeats.into_iter().find(|prefix| text.starts_with(prefix));
        let prefix = prefix.unwrap_or_default();
        Self {
            text: text[prefix.len()..].to_owned(),
            prefix,
            hint: None,
        }
    }
}

/// What a JSON object says in words: its message, then its details.
fn message_of(text: &str) -> Option<String> {
    if text.len() > MOST_JSON || !text.trim_start().starts_with('{') {
        return None;
    }
    let value: Value = serde_json::from_str(text).ok()?;
    let error = value.get("error").filter(|error| error.is_object());
    let error = error.unwrap_or(&value);
    let message = ["message", "error", "detail", "title"]
        .iter()
        .find_map(|key| error.get(key)?.as_str())?;
    let mut lines = vec![message.to_owned()];
    if let Some(Value::Array(details)) = error.get("details") {
        lines.extend(details.iter().filter_map(Value::as_str).map(str::to_owned));
    }
    Some(lines.join("\n"))
}

/// "isError", "JSON-RPC −32603", "timed out".
fn kind(capture: &Capture, subject: Option<&ParsedCapture>) -> String {
    let code = subject
        .and_then(|subject| subject.response.rpc_error.as_ref())
        .map(|error| error.code.replace('-', "−"));
    match (capture.outcome, code) {
        (Outcome::ProtocolError, Some(code)) if !code.is_empty() => format!("JSON-RPC {code}"),
        (outcome, _) => match outcome {
            Outcome::ToolError => "isError".to_owned(),
            Outcome::ProtocolError => "JSON-RPC error".to_owned(),
            Outcome::Malformed => "not a JSON-RPC result".to_owned(),
            Outcome::Timeout => "timed out".to_owned(),
            Outcome::Cancelled => "cancelled".to_owned(),
            _ => "server disconnected".to_owned(),
        },
    }
}

pub fn error_card_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let Some(capture) = cx.state.capture() else {
        return;
    };
    let t = theme::of(ui);
    let subject = cx.ready(ParsedCaptureQuery).map(AsRef::as_ref);
    let reason = subject.map(Reason::new).unwrap_or_default();
    let is_calm = matches!(capture.outcome, Outcome::Timeout | Outcome::Cancelled);
    let (fill, line) = match is_calm {
        true => (t.warn_bg, t.warn_line),
        false => (t.bad_bg, t.bad_line),
    };
    let frame = Frame::new()
        .fill(fill)
        .stroke(Stroke::new(1.0, line))
        .corner_radius(theme::RADIUS_CARD)
        .inner_margin(Margin::symmetric(16, 10))
        .outer_margin(Margin::symmetric(16, 10));
    let shown = frame.show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = 6.0;
        head_ui(ui, cx, capture, subject);
        ui.horizontal_top(|ui| {
            ui.add_space(28.0);
            ui.vertical(|ui| {
                ui.spacing_mut().item_spacing.y = 6.0;
                reason_ui(ui, &reason);
                if subject.is_some_and(|subject| subject.capture.response.is_some()) {
                    links_ui(ui, cx);
                }
            });
        });
    });
    let spoken = format!(
        "{} failed, {}: {}{}",
        capture.tool.name,
        kind(capture, subject),
        reason.prefix,
        reason.text
    );
    widgets::say(&shown.response, Role::Alert, &spoken);
    // The end of a call is said aloud.
    widgets::announce(ui, shown.response.id);
}

fn head_ui(ui: &mut Ui, cx: &Cx<'_>, capture: &Capture, subject: Option<&ParsedCapture>) {
    let t = theme::of(ui);
    let (icon, color, _) = outcome_look(capture.outcome, t);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 10.0;
        ui.set_min_height(28.0);
        ui.label(icons::icon_fill(icon, 18.0, color));
        let name = format!("{} failed", Shown::of(&capture.tool.name).text);
        widgets::words(ui, name, theme::semibold(13.0), t.strong);
        let mut parts = vec![
            kind(capture, subject),
            sidebar::duration(capture.timings.total()),
        ];
        let tokens = cx
            .ready(RowQuery("content"))
            .filter(|row| row.is_available())
            .and_then(|row| cx.count(row)?.ok());
        parts.extend(tokens.map(|count| format!("{} tok", loupe_core::token::format_count(count))));
        widgets::words(ui, parts.join(" · "), theme::mono(12.0), t.text);
        widgets::from_right(ui, |ui| {
            ui.spacing_mut().item_spacing.x = 8.0;
            if Button::new("Copy")
                .icon(icons::COPY)
                .name("Copy the error")
                .small()
                .clicked(ui)
            {
                let text = subject.map(Reason::new);
                let text = text.map_or_else(String::new, |reason| reason.prefix + &reason.text);
                cx.send(Action::Copy(text));
            }
            again_ui(ui, cx, capture);
        });
    });
}

/// *Call again*, or what has to come before.
fn again_ui(ui: &mut Ui, cx: &Cx<'_>, capture: &Capture) {
    let session = cx.state.session();
    if session.connection.is_connected() {
        let name = format!("Call {} again", capture.tool.name);
        if Button::new("Call again")
            .icon(icons::REFRESH)
            .name(&name)
            .small()
            .enabled(cx.state.can_call())
            .clicked(ui)
        {
            cx.send(CallAction::Call { send_anyway: false });
        }
    } else if session.connection.source().is_some()
        && !matches!(session.connection, Connection::Connecting { .. })
        && Button::new("Reconnect").small().clicked(ui)
    {
        cx.send(ConnectAction::Reconnect);
    }
}

/// What repeats the head is dim.
fn reason_ui(ui: &mut Ui, reason: &Reason) {
    let t = theme::of(ui);
    ScrollArea::vertical()
        .id_salt("reason")
        .max_height(MOST)
        .auto_shrink([false, true])
        .show(ui, |ui| {
            let mut job = egui::text::LayoutJob::default();
            for (text, color) in [(&reason.prefix, t.weak), (&reason.text, t.strong)] {
                let format = egui::TextFormat::simple(theme::medium(15.0), color);
                job.append(&Shown::of(text).text, 0.0, format);
            }
            job.wrap.max_width = ui.available_width();
            let galley = rtl::layout(ui, job, rtl::Order::Prose);
            ui.add(egui::Label::new(galley).selectable(true));
            if let Some(hint) = &reason.hint {
                widgets::wrapped(ui, hint, theme::small(), t.text);
            }
        });
}

fn links_ui(ui: &mut Ui, cx: &Cx<'_>) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 16.0;
        let hosts = widgets::number_text(cx.state.hosts.len() as u64, "hosts");
        let label = format!("{hosts}: what the model is told");
        if Button::new(&label).small().frameless().clicked(ui) {
            cx.send(HostsAction::Show(None));
        }
        if Button::new("Raw message").small().frameless().clicked(ui) {
            cx.send(ViewAction::SetPane {
                pane: 1,
                shows: PaneView::Text("wire"),
            });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(result: &str) -> Reason {
        let subject = ParsedCapture::from_result(result);
        let capture = Capture {
            outcome: Outcome::ToolError,
            ..Capture::clone(&subject.capture)
        };
        Reason::new(&ParsedCapture::new(capture.into()))
    }

    #[test]
    fn what_repeats_the_head_is_told_apart() {
        let found = reason(
            r#"{"isError":true,"content":[{"type":"text","text":"Error executing tool tool: no such ticket"}]}"#,
        );
        assert_eq!(found.prefix, "Error executing tool tool: ");
        assert_eq!(found.text, "no such ticket");
    }

    #[test]
    fn of_json_the_message_is_the_reason() {
        let text = r#"{"isError":true,"error":{"code":"BAD","message":"Invalid parameters","details":["pageSize: at most 500"]}}"#;
        assert_eq!(
            message_of(text).as_deref(),
            Some("Invalid parameters\npageSize: at most 500")
        );
        assert_eq!(
            message_of(r#"{"detail":"Not Found"}"#).as_deref(),
            Some("Not Found")
        );
        assert_eq!(message_of(r#"{"a":1}"#), None);
        assert_eq!(message_of("boom"), None);
    }
}
