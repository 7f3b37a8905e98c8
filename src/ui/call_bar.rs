//! The call bar: what will be called, with what, and how the last call went.
//!
//! It tells what the server declared from what is only the specification's default, and shows every state of a call:
//! ready, refused by the schema, running, and each way of ending.

mod call_as;
mod date;
mod fields;
mod json;
mod outcome;
pub mod saved;

use std::sync::Arc;

use egui::{
    Align, Frame, Id, Layout, Margin, Popup, PopupCloseBehavior, Rect, Response, Role, ScrollArea,
    Sense, Ui, vec2,
};

pub use outcome::running_words;
use outcome::{done_words, has_outcome, outcome_ui, timing_ui};

use super::region::{Region, region};
use super::sidebar::Risk;
use super::theme;
use super::widgets::{self, Tone};
use super::{Cx, export, icons, once, shortcuts};
use crate::state::form;
use crate::state::{
    Action, CallAction, ConnectAction, Connection, Dialog, ExportAction, FixtureAction, FormMode,
    ListedTool, Screen, SessionId,
};
use loupe_analysis::fixture::export::ExportChoice;
use loupe_analysis::queries::TextQuery;
use loupe_core::capture::{Annotations, Capture, Hint, Tool};
use loupe_core::json::Doc;

/// Width of the block that tells how the call went.
const TIMING: f32 = 264.0;
/// Width of its one line.
const OUTCOME: f32 = 130.0;
/// Room of the button of the arguments with and without its word, and of the longest hint.
const ARGUMENTS: f32 = 116.0;
const PENCIL: f32 = 34.0;
/// Height of a chip.
const CHIP: f32 = 24.0;
const HINT: f32 = 196.0;
/// Below this height the bar is slim.
const SLIM_BELOW: f32 = 760.0;

pub fn call_bar_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let bar = ui.max_rect();
    let window = ui.content_rect();
    let is_narrow = window.width() < theme::MEDIUM;
    // With a result the room is the result's; the form is one click away.
    let has_answer = matches!(cx.state.view.screen, Screen::Answer | Screen::Hosts)
        && cx.state.capture().is_some();
    let is_slim = is_narrow
        || has_answer
        || window.height() < SLIM_BELOW
        || cx.state.view.maximised.is_some()
        || cx.state.view.screen == Screen::Compare;
    ui.spacing_mut().item_spacing.y = 0.0;
    widgets::padded(
        ui,
        Margin {
            left: 16,
            right: 12,
            top: 8,
            bottom: 8,
        },
        |ui| {
            ui.set_min_width(ui.available_width());
            let is_about_answer = matches!(cx.state.view.screen, Screen::Answer | Screen::Hosts);
            if let Some(capture) = cx
                .state
                .foreign_capture()
                .filter(|_| is_about_answer && cx.state.running.is_none())
            {
                foreign_ui(ui, cx, capture);
                return;
            }
            let Some(listed) = cx.state.tool() else {
                no_tool_ui(ui, cx);
                return;
            };
            ui.spacing_mut().item_spacing = vec2(8.0, 4.0);
            head_ui(ui, cx, listed, bar, is_slim && !is_narrow);
            if !is_slim {
                summary_ui(ui, &listed.tool, cx);
                ui.add_space(2.0);
            }
            if !is_slim || is_narrow {
                body_ui(ui, cx, listed, is_slim);
            }
            if let Some(form) = cx.state.form() {
                fields::problems_ui(ui, form);
            }
        },
    );
    if cx.state.is_answer_stale()
        && cx.state.running.is_none()
        && cx.state.view.screen == Screen::Answer
    {
        stale_ui(ui, cx);
    }
    // The start page says it itself.
    if matches!(
        cx.state.session().connection,
        Connection::Disconnected { .. }
    ) && cx.state.view.screen != Screen::Start
    {
        gone_ui(ui, cx);
    }
}

/// A result whose tool this server does not have: opened from a file, or of another server.
fn foreign_ui(ui: &mut Ui, cx: &Cx<'_>, capture: &Capture) {
    let t = theme::of(ui);
    ui.allocate_ui_with_layout(
        vec2(ui.available_width(), theme::BUTTON),
        Layout::right_to_left(Align::Center),
        |ui| {
            export_ui(ui, cx);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.spacing_mut().item_spacing.x = 8.0;
                let name = if capture.tool.name.is_empty() {
                    "(answer)"
                } else {
                    &capture.tool.name
                };
                widgets::truncated(ui, name, theme::tool_name(), t.strong);
                let words = match (
                    capture.request.is_empty(),
                    cx.state.session().connection.is_connected(),
                ) {
                    (true, true) => "Opened from a file; this server has no such tool",
                    (true, false) => "Opened from a file",
                    (false, true) => "This server has no such tool",
                    (false, false) => "Not connected: it cannot be called",
                };
                widgets::truncated(ui, words, theme::small(), t.weak);
                if !capture.request.is_empty() {
                    done_words(ui, capture);
                }
            });
        },
    );
}

/// The server went away: what that means for calls, and the way on.
fn gone_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    let Connection::Disconnected { problem, .. } = &cx.state.session().connection else {
        return;
    };
    let strip = Frame::new()
        .fill(t.bad_bg)
        .inner_margin(Margin::symmetric(16, 3))
        .show(ui, |ui| {
            ui.set_min_width(ui.available_width());
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = 8.0;
                ui.add(egui::Label::new(icons::icon_fill(
                    icons::DISCONNECT,
                    14.0,
                    t.bad,
                )));
                widgets::words(ui, "The server is gone.", theme::medium(12.5), t.strong);
                let keys = shortcuts::text(&shortcuts::RECONNECT);
                let name = format!("Reconnect ({keys})");
                if widgets::Button::new(&name)
                    .icon(icons::REFRESH)
                    .small()
                    .clicked(ui)
                {
                    cx.send(ConnectAction::Reconnect);
                }
                // The pane says it of the call in which it happened.
                let shown = cx
                    .state
                    .capture()
                    .filter(|_| cx.state.view.screen == Screen::Answer);
                if shown
                    .and_then(|capture| capture.problem.as_ref())
                    .is_some_and(|own| own.what == problem.what)
                {
                    return;
                }
                let words = problem.message();
                widgets::truncated(ui, &words, theme::small(), t.text);
            });
        });
    let rect = strip.response.rect;
    ui.painter().hline(
        rect.x_range(),
        rect.bottom() - 0.5,
        egui::Stroke::new(1.0, t.bad_line),
    );
}

fn no_tool_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    ui.horizontal(|ui| {
        let words = match &cx.state.session().connection {
            Connection::Connecting { phase, since, .. } => {
                widgets::waiting(ui, &format!("Connecting: {phase}"), *since, cx);
                if widgets::button(ui, "Cancel").clicked() {
                    cx.send(ConnectAction::Cancel);
                }
                return;
            }
            Connection::Connected { .. } if cx.state.session().tools.is_empty() => {
                "The server lists no tools"
            }
            Connection::Connected { .. } => "Choose a tool",
            _ => "Connect to a server to call its tools",
        };
        widgets::words(ui, words, theme::base(), t.weak);
        if let Some(capture) = cx.state.capture() {
            widgets::words(ui, &capture.tool.name, theme::tool_name(), t.strong);
            done_words(ui, capture);
        }
        widgets::from_right(ui, |ui| export_ui(ui, cx));
    });
}

/// Name, title, badges; at the right Export and Call.
fn head_ui(ui: &mut Ui, cx: &Cx<'_>, listed: &ListedTool, bar: Rect, with_chips: bool) {
    let t = theme::of(ui);
    let tool = &*listed.tool;
    ui.allocate_ui_with_layout(
        vec2(ui.available_width(), theme::BUTTON),
        Layout::right_to_left(Align::Center),
        |ui| {
            match cx.state.running {
                None => call_menu_ui(ui, cx),
                // What stands after it keeps its identity.
                Some(_) => ui.skip_ahead_auto_ids(1),
            }
            let call = call_button(ui, cx, tool);
            region(ui, Region::CallBar, bar, &call);
            call_as_ui(ui, cx);
            export_ui(ui, cx);
            super::compare::button_ui(ui, cx);
            super::watch::switch_ui(ui, cx);
            send_anyway_ui(ui, cx);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.set_clip_rect(
                    ui.max_rect()
                        .intersect(ui.clip_rect())
                        .expand2(vec2(2.0, 4.0)),
                );
                let name = if tool.name.is_empty() {
                    "(no name)"
                } else {
                    &tool.name
                };
                let label = egui::Label::new(widgets::styled(name, theme::tool_name(), t.strong))
                    .truncate()
                    .show_tooltip_when_elided(false)
                    .sense(Sense::click());
                // The arguments stay in reach, however long the name is.
                let room = ui.available_width() - if with_chips { ARGUMENTS } else { 0.0 };
                let response = ui.scope(|ui| {
                    ui.set_max_width(room.max(40.0));
                    ui.add(label)
                });
                if response
                    .inner
                    .on_hover_text("Show the definition as the server lists it")
                    .clicked()
                {
                    cx.send(Action::ShowDialog(Dialog::Definition {
                        tool: tool.name.clone(),
                    }));
                }
                let is_wide = ui.available_width() > 420.0;
                if let (Some(title), true) = (
                    tool.title.as_deref().filter(|title| *title != tool.name),
                    is_wide,
                ) {
                    widgets::truncated(ui, title, theme::base(), t.weak);
                }
                if !with_chips && ui.available_width() >= HINT {
                    hint_ui(ui, &tool.annotations);
                }
                if !tool.faults.is_empty() {
                    let faults = tool.faults.join("\n");
                    widgets::badge(
                        ui,
                        Some(icons::WARNING),
                        "Faulty definition",
                        Tone::Warn,
                        false,
                    )
                    .on_hover_text(faults);
                }
                if with_chips {
                    chips_ui(ui, cx, tool);
                    if ui.available_width() >= HINT {
                        hint_ui(ui, &tool.annotations);
                    }
                    // Half of it says nothing; the captures tell it too.
                    if ui.available_width() > OUTCOME {
                        outcome_ui(ui, cx, tool);
                    }
                }
            });
        },
    );
}

/// As whom *Call* calls.
fn call_as_ui(ui: &mut Ui, cx: &Cx<'_>) {
    if let Some(host) = cx.state.call_as() {
        ui.label(widgets::styled(
            format!("as {}", host.name),
            theme::small(),
            theme::of(ui).weak,
        ));
    }
}

/// The caret of *Call*: as whom, and how often.
fn call_menu_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let button = widgets::Button::new("")
        .icon(icons::DOWN)
        .name("More ways to call")
        .tip("Call as a host, several times, or with arguments kept")
        .primary()
        .right_half();
    let button = button.show(ui);
    Popup::menu(&button).show(|ui| {
        ui.set_width(240.0);
        call_as::menu_ui(ui, cx);
        super::compare::equal_ui(ui, cx);
        saved::menu_ui(ui, cx);
    });
}

fn summary_ui(ui: &mut Ui, tool: &Tool, cx: &Cx<'_>) {
    let t = theme::of(ui);
    let summary = tool.summary();
    let words = if summary.is_empty() {
        "No description"
    } else {
        summary
    };
    let label = egui::Label::new(widgets::styled(words, theme::small(), t.weak))
        .truncate()
        .show_tooltip_when_elided(false)
        .sense(Sense::click());
    let response = ui.scope(|ui| {
        ui.set_max_width(ui.available_width().min(900.0));
        ui.add(label)
    });
    let response = response
        .inner
        .on_hover_text("Show the whole definition as the server lists it")
        .on_hover_cursor(egui::CursorIcon::PointingHand);
    widgets::say(&response, Role::Link, format!("Definition: {words}"));
    widgets::focus_ring(ui, &response, theme::RADIUS_BADGE);
    if response.clicked() {
        cx.send(Action::ShowDialog(Dialog::Definition {
            tool: tool.name.clone(),
        }));
    }
}

// What the server promises

/// The one hint that matters before a call. The tip has all of them: what the server declares, and what the specification takes
/// for granted where it does not.
fn hint_ui(ui: &mut Ui, hints: &Annotations) {
    let (glyph, text, tone, is_declared) = hint_of(hints);
    let line = |name: &str, hint: Hint| match hint.declared {
        true => format!("The server declares {name}: {}.", hint.value),
        false => format!(
            "The server does not declare {name}; the specification's default is {}.",
            hint.value
        ),
    };
    let mut tips = vec![line("readOnlyHint", hints.read_only)];
    // Whether it destroys or repeats is no question for a tool that only reads.
    if !hints.read_only.value {
        tips.extend([
            line("destructiveHint", hints.destructive),
            line("idempotentHint", hints.idempotent),
        ]);
    }
    tips.push(line("openWorldHint", hints.open_world));
    tips.push("Hints are not verified".to_owned());
    widgets::badge(ui, Some(glyph), text, tone, !is_declared).on_hover_text(tips.join("\n"));
}

fn hint_of(hints: &Annotations) -> (&'static str, &'static str, Tone, bool) {
    let is_declared = hints.read_only.declared || hints.destructive.declared;
    match (is_declared, hints.read_only.value, hints.destructive.value) {
        (false, false, _) => (
            icons::UNKNOWN,
            "No hints: assumed destructive",
            Tone::Plain,
            false,
        ),
        (_, true, _) => (icons::READ_ONLY, "Read-only", Tone::Plain, true),
        (_, false, true) => {
            let tone = if hints.destructive.declared {
                Tone::Bad
            } else {
                Tone::Plain
            };
            (
                icons::DESTRUCTIVE,
                "Destructive",
                tone,
                hints.destructive.declared,
            )
        }
        (_, false, false) => (icons::WRITES, "Writes, not destructive", Tone::Plain, true),
    }
}

// Calling

fn call_button(ui: &mut Ui, cx: &Cx<'_>, tool: &Tool) -> Response {
    if let Some(running) = &cx.state.running {
        let name = format!("Cancel the call of {}", running.tool);
        let response = widgets::Button::new("Cancel")
            .icon_fill(icons::STOP)
            .shortcut("Esc")
            .name(&name)
            .primary()
            .show(ui);
        if response.clicked() {
            cx.send(CallAction::Cancel);
        }
        return response;
    }
    let enabled = cx.state.can_call();
    let why = match (
        cx.state.form().and_then(|form| form.syntax.as_ref()),
        &cx.state.session().connection,
    ) {
        _ if enabled => "",
        (Some(_), Connection::Connected { .. }) => "The arguments are not a JSON object",
        (_, Connection::Disconnected { .. }) => "The server is gone: reconnect (Ctrl R)",
        _ => "Not connected",
    };
    let name = format!("Call {}", tool.name);
    let keys = call_keys();
    let mut button = widgets::Button::new("Call")
        .icon_fill(icons::CALL)
        .shortcut(&keys)
        .name(&name)
        .primary()
        .left_half()
        .enabled(enabled);
    if !why.is_empty() {
        button = button.tip(why);
    }
    let response = button.show(ui);
    focus_once(ui, cx, &response);
    if response.clicked() {
        cx.send(CallAction::Call { send_anyway: false });
    }
    response
}

/// The keys of *Call*.
pub fn call_keys() -> String {
    let control = match cfg!(target_os = "macos") {
        true => "Cmd",
        false => "Ctrl",
    };
    format!("{control} ↵")
}

/// The first control that has the focus is the first field that needs a value, else *Call*; once in a session. What had
/// the focus on the screen before loses it within one pass; what keeps it is left alone.
fn focus_once(ui: &Ui, cx: &Cx<'_>, call: &Response) {
    if cx.state.view.screen == Screen::Connect {
        return;
    }
    let id = Id::unique("call focused in session");
    let session = cx.state.session().id;
    let last = widgets::recall::<(SessionId, bool)>(ui, id).filter(|(last, _)| *last == session);
    if matches!(last, Some((_, true))) {
        return;
    }
    let is_taken = ui.memory(egui::Memory::focused).is_some();
    if is_taken && last.is_none() {
        widgets::remember(ui, id, (session, false));
        ui.request_repaint();
        return;
    }
    widgets::remember(ui, id, (session, true));
    if is_taken {
        return;
    }
    let form = cx.state.form().filter(|form| form.mode == FormMode::Form);
    let tool = cx.state.session().selected_tool.as_deref();
    let missing = form.and_then(|form| form.missing().next()).zip(tool);
    match missing.filter(|_| cx.state.capture().is_none()) {
        Some((name, tool)) => fields::focus(ui, tool, name),
        None => call.request_focus(),
    }
}

fn send_anyway_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let refused = cx
        .state
        .form()
        .is_some_and(|form| form.syntax.is_none() && form.has_problem());
    if refused && cx.state.running.is_none() && cx.state.session().connection.is_connected() {
        let button = widgets::Button::new("Send anyway")
            .tip("Sends the arguments even though they do not fit the tool's schema");
        if button.clicked(ui) {
            cx.send(CallAction::Call { send_anyway: true });
        }
    }
}

fn export_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let is_comparison =
        cx.state.view.screen == Screen::Compare && cx.state.comparisons.current.is_some();
    let has_capture = is_comparison || cx.state.capture().is_some();
    let mut button = widgets::Button::new("Export")
        .icon(icons::EXPORT)
        .menu()
        .enabled(has_capture);
    if !has_capture {
        button = button.tip("Call a tool or open a capture first");
    }
    let response = button.show(ui);
    if !has_capture {
        return;
    }
    Popup::menu(&response).show(|ui| {
        ui.set_width(240.0);
        if is_comparison {
            return super::compare::export_ui(ui, cx);
        }
        let keys = shortcuts::text(&shortcuts::EXPORT_FOLDER);
        let text = match cx.ready(TextQuery("content")) {
            Some(view) if !view.text.is_empty() => Some(view),
            _ => None,
        };
        let has_result = cx
            .state
            .capture()
            .is_some_and(|capture| capture.response.is_some());
        let mut item = |glyph: &str, name: &str, keys: &str, enabled: bool| {
            let is_clicked = widgets::menu_item(ui, glyph, name, keys, enabled).clicked();
            if is_clicked {
                ui.close();
            }
            is_clicked
        };
        if item(icons::COPY, "Copy summary", "", true) {
            cx.send(Action::CopySummary);
        }
        if item(
            icons::CHECK_CIRCLE,
            "Fixture…",
            &shortcuts::text(&shortcuts::SAVE_FIXTURE),
            has_result,
        ) {
            cx.send(FixtureAction::Show { then: None });
        }
        if item(icons::OPEN_FILE, "Capture folder…", &keys, true) {
            cx.send(ExportAction::save(ExportChoice::FOLDER));
        }
        if item(icons::JSON, "Raw CallToolResult…", "", has_result) {
            cx.send(ExportAction::save(ExportChoice::RESULT));
        }
        if item(icons::COPY, "Copy text", "", text.is_some())
            && let Some(view) = text
        {
            cx.send(Action::Copy(view.text.to_string()));
        }
        export::menu_ui(ui, cx);
    });
}

// Arguments and timing

fn body_ui(ui: &mut Ui, cx: &Cx<'_>, listed: &ListedTool, is_slim: bool) {
    let tool = &listed.tool;
    if is_slim {
        ui.horizontal(|ui| {
            chips_ui(ui, cx, tool);
            widgets::from_right(ui, |ui| outcome_ui(ui, cx, tool));
        });
        return;
    }
    let width = ui.available_width();
    let timing = if has_outcome(cx, tool) { TIMING } else { 0.0 };
    ui.horizontal_top(|ui| {
        ui.vertical(|ui| {
            ui.set_width(width - timing - 16.0);
            arguments_ui(ui, cx, tool);
        });
        if timing > 0.0 {
            ui.vertical(|ui| {
                ui.set_width(ui.available_width());
                timing_ui(ui, cx, tool);
            });
        }
    });
}

fn arguments_ui(ui: &mut Ui, cx: &Cx<'_>, tool: &Tool) {
    let Some(form) = cx.state.form() else {
        widgets::note(ui, "No input schema");
        return;
    };
    let mode = |ui: &mut Ui| {
        let selected = usize::from(form.mode == FormMode::Json);
        if let Some(clicked) = widgets::segmented(ui, "Arguments", &["Form", "JSON"], selected) {
            cx.send(CallAction::SetFormMode(if clicked == 0 {
                FormMode::Form
            } else {
                FormMode::Json
            }));
        }
    };
    match form.mode {
        FormMode::Json => json::json_ui(ui, cx, &tool.name, form, mode),
        // A field that is not finished says so itself, and keeps the cursor.
        FormMode::Form if form.syntax.is_some() && !form.members.is_unfinished() => {
            json::json_ui(ui, cx, &tool.name, form, mode)
        }
        FormMode::Form if form.members.named.is_empty() => {
            ui.horizontal(|ui| {
                mode(ui);
                widgets::note(ui, "Takes no arguments");
            });
        }
        FormMode::Form => fields::form_ui(ui, cx, &tool.name, form, mode),
    }
}

/// The arguments on one line; a click opens the form.
fn chips_ui(ui: &mut Ui, cx: &Cx<'_>, tool: &Tool) {
    let t = theme::of(ui);
    let Some(form) = cx.state.form() else { return };
    let pairs = with_varied(cx, arguments_of(ui, "chips", &form.text));
    let width = |ui: &Ui, text: &str| widgets::text_width(ui, text, theme::mono(12.0));
    let size =
        |ui: &Ui, (name, value): &(String, String)| width(ui, name) + width(ui, value) + 22.0;
    // One button holds them all, as many as there is room for.
    let mut room = ui.available_width() - PENCIL;
    let fits = |pair: &&(String, String)| {
        room -= size(ui, pair) + ui.spacing().item_spacing.x;
        room > 0.0
    };
    let shown: Vec<_> = pairs.iter().take_while(fits).collect();
    let is_json = form.syntax.is_none();
    let name = match () {
        () if !is_json => "Arguments: not JSON".to_owned(),
        () if pairs.is_empty() => "Arguments".to_owned(),
        () => {
            format!(
                "Arguments: {}",
                pairs
                    .iter()
                    .map(|(name, value)| format!("{name} {value}"))
                    .collect::<Vec<_>>()
                    .join(", ")
            )
        }
    };
    let left = ui.cursor().left();
    for pair in shown.iter().filter(|_| is_json) {
        let size = vec2(size(ui, pair), CHIP);
        let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
        widgets::boxed(ui, rect, theme::RADIUS_CONTROL, t.card, t.line2);
        let end = widgets::text_at(
            ui,
            rect.left_center() + vec2(8.0, 0.0),
            &pair.0,
            theme::mono(12.0),
            t.weak,
            f32::INFINITY,
        );
        widgets::text_at(
            ui,
            egui::pos2(end + 6.0, rect.center().y),
            &pair.1,
            theme::mono(12.0),
            t.strong,
            f32::INFINITY,
        );
    }
    if !is_json {
        widgets::badge(ui, Some(icons::ERROR), "not JSON", Tone::Bad, false);
    }
    let label = if is_json && shown.is_empty() {
        "Arguments"
    } else {
        ""
    };
    let pencil = widgets::Button::new(label)
        .icon(icons::WRITES)
        .name(&name)
        .tip("Edit the arguments")
        .key("arguments")
        .height(CHIP)
        .show(ui);
    // A chip is the same button, which the keyboard has once.
    let chips = Rect::from_min_max(
        egui::pos2(left, pencil.rect.top()),
        egui::pos2(pencil.rect.left(), pencil.rect.bottom()),
    );
    let opens = widgets::sense(ui, chips, "argument chips", Sense::CLICK)
        .on_hover_cursor(egui::CursorIcon::PointingHand);
    // Neither closed nor moved by a chip that comes or grows while its argument is typed.
    let mut popup = Popup::from_toggle_button_response(&pencil)
        .id(ui.scope_id().with("arguments"))
        .anchor(chips.union(pencil.rect))
        .width(640.0)
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside);
    if opens.clicked() {
        popup = popup.open_memory(Some(egui::SetOpenCommand::Toggle));
    }
    // What was called is looked at next.
    if cx.state.running.is_some() {
        popup = popup.open_memory(Some(egui::SetOpenCommand::Bool(false)));
    }
    popup.show(|ui| {
        ui.set_max_width(720.0_f32.min(ui.content_rect().width() - 48.0));
        let most = ui.content_rect().height() * 0.6;
        ScrollArea::vertical().max_height(most).show(ui, |ui| {
            arguments_ui(ui, cx, tool);
            // Those below the bar are behind this.
            fields::problems_ui(ui, form);
        });
    });
}

/// The arguments of a comparison: the one that is varied has all its values, "json / markdown".
fn with_varied(cx: &Cx<'_>, pairs: Arc<Vec<(String, String)>>) -> Arc<Vec<(String, String)>> {
    let compare = cx
        .state
        .comparisons
        .current
        .as_ref()
        .filter(|_| cx.state.view.screen == Screen::Compare);
    let Some((compare, vary)) = compare.and_then(|compare| Some((compare, compare.vary.as_ref()?)))
    else {
        return pairs;
    };
    let values: Vec<String> = compare
        .values
        .iter()
        .map(|value| form::plain(value))
        .collect();
    let mut pairs = Arc::unwrap_or_clone(pairs);
    pairs.retain(|(name, _)| name != vary);
    pairs.insert(0, (vary.clone(), values.join(" / ")));
    Arc::new(pairs)
}

/// Name and shortened value of each argument; read once per text.
fn arguments_of<K>(ui: &Ui, what: &str, arguments: &K) -> Arc<Vec<(String, String)>>
where
    K: Clone + std::ops::Deref<Target: AsRef<[u8]>> + Send + Sync + 'static,
{
    once::per_text(ui, Id::unique(("arguments of", what)), arguments, || {
        let doc = Doc::parse(bytes::Bytes::copy_from_slice((**arguments).as_ref()));
        let pairs = doc.root().into_iter().flat_map(|root| root.children());
        // A chip has one line.
        let short = |text: &str| {
            let line = text.lines().next().unwrap_or_default();
            let end = line.char_indices().nth(24).map_or(line.len(), |(at, _)| at);
            match end == text.len() {
                true => text.to_owned(),
                false => format!("{}…", &line[..end]),
            }
        };
        std::sync::Arc::new(
            pairs
                .filter_map(|node| {
                    Some((
                        node.key()?.into_owned(),
                        short(&form::plain(&node.raw_text())),
                    ))
                })
                .collect::<Vec<_>>(),
        )
    })
}

// The strip under the bar

fn stale_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    let Some(capture) = cx.state.capture() else {
        return;
    };
    let pairs = arguments_of(ui, "stale", &capture.arguments);
    let given = pairs
        .iter()
        .take(4)
        .map(|(name, value)| format!("{name}={value}"))
        .collect::<Vec<_>>()
        .join(" ");
    let words = if pairs.is_empty() {
        "no arguments".to_owned()
    } else if pairs.len() > 4 {
        format!("{given} …")
    } else {
        given
    };
    Frame::new()
        .fill(t.warn_bg)
        .inner_margin(Margin::symmetric(16, 3))
        .show(ui, |ui| {
            ui.set_min_width(ui.available_width());
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = 8.0;
                ui.add(egui::Label::new(icons::icon(icons::WARNING, 14.0, t.warn)));
                widgets::truncated(
                    ui,
                    format!("Shows the answer to {words}"),
                    theme::small(),
                    t.text,
                );
                let call = widgets::Button::new("Call again")
                    .small()
                    .frameless()
                    .enabled(cx.state.can_call())
                    .show(ui);
                if call.clicked() {
                    cx.send(CallAction::Call { send_anyway: false });
                }
                if widgets::Button::new("Restore arguments")
                    .small()
                    .frameless()
                    .clicked(ui)
                {
                    cx.send(CallAction::RestoreArguments);
                }
            });
        });
    let rect = ui.min_rect();
    ui.painter().hline(
        rect.x_range(),
        rect.bottom() - 0.5,
        egui::Stroke::new(1.0, t.warn_line),
    );
}

/// Why a tool is asked about before it is called, for the dialog.
pub(super) fn why_asked(tool: &Tool) -> String {
    match Risk::new(tool) {
        Risk::ReadOnly => "The tool declares itself read-only.".into(),
        Risk::Writes => "The tool declares that it writes but does not destroy.".into(),
        Risk::Destructive { declared: true } => {
            "The tool declares itself destructive: data may be lost.".into()
        }
        Risk::Destructive { declared: false } => {
            "The tool declares that it writes and does not rule out that data is lost.".into()
        }
        Risk::Undeclared => "The server does not say whether this tool changes anything.".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_tells_declared_from_default() {
        let hint = |hints: &str| {
            let raw = format!(r#"{{"name":"t","inputSchema":{{}},"annotations":{hints}}}"#);
            let (_, text, _, is_declared) =
                hint_of(&Tool::read(bytes::Bytes::from(raw)).annotations);
            (text, is_declared)
        };
        assert_eq!(hint("{}"), ("No hints: assumed destructive", false));
        assert_eq!(hint(r#"{"readOnlyHint":true}"#), ("Read-only", true));
        assert_eq!(hint(r#"{"readOnlyHint":false}"#), ("Destructive", false));
        assert_eq!(hint(r#"{"destructiveHint":true}"#), ("Destructive", true));
        assert_eq!(
            hint(r#"{"destructiveHint":false}"#),
            ("Writes, not destructive", true)
        );
    }
}
