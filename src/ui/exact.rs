//! An exact count for Claude: the offer next to its estimate, and the dialog that shows whole what would be sent, and to whom.

use egui::{Label, Popup, Ui, vec2};

use super::code::code_ui;
use super::theme;
use super::{Cx, icons, widgets};
use crate::state::Action;
use crate::state::anthropic_count::{Counted, ExactAction, ExactRequest, KeyPlace};
use loupe_analysis::queries::RowQuery;
use loupe_core::format::format_title;
use loupe_core::token::Tokenizer;
use loupe_core::token::claude::Key;

/// Lines of the body that are in sight at once.
const BODY: f32 = 9.0 * theme::TEXT_ROW;
/// Below this height of the dialog the request has little room.
const SMALL: f32 = 440.0;

fn send(cx: &Cx<'_>, action: ExactAction) {
    cx.send(Action::Exact(action));
}

/// What the provider counted for a format of the result shown.
pub fn exact_count<'a>(cx: &Cx<'a>, format: &'static str) -> Option<&'a Counted> {
    cx.state
        .exact_count(cx.state.view.capture.as_ref()?, format)
}

/// A count with everything that makes it one: the model, who counted, and when.
pub fn words(counted: &Counted) -> String {
    let tokens = widgets::number_text(counted.tokens, "tokens");
    format!(
        "exactly {tokens} for {}, counted by Anthropic on {}",
        counted.model, counted.day
    )
}

/// The button next to the name of the tokenizer, with the formats that can be counted.
pub fn offer_ui(ui: &mut Ui, cx: &Cx<'_>, formats: impl Iterator<Item = &'static str>) {
    let t = theme::of(ui);
    let tip = "Have Anthropic count one text with your API key. You see the whole request before it is sent.";
    let button = widgets::Button::new("Count exactly")
        .menu()
        .height(theme::ICON_BUTTON)
        .tip(tip)
        .show(ui);
    Popup::menu(&button).width(260.0).show(|ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        for format in formats {
            if widgets::choose_row(
                ui,
                format_title(format),
                Some(t.hue(format).color),
                exact_count(cx, format).is_some(),
            ) {
                send(cx, ExactAction::Open(Some(format)));
            }
        }
    });
    ui.add_space(8.0);
}

pub fn dialog_ui(ui: &mut Ui, cx: &Cx<'_>, height: f32) {
    widgets::title(ui, cx, "Count exactly, by Anthropic");
    let exact = &cx.state.anthropic_count;
    let Some(asking) = &exact.asking else { return };
    widgets::paragraph(
        ui,
        &format!(
            "Claude's tokenizer is not public, but its provider counts for those who have a key. This sends the text below (“{}” of the \
             answer shown) to {}, once, with your key. Anthropic creates no message and runs no model for it.",
            format_title(asking.format),
            host_of(&exact.address),
        ),
    );
    fields_ui(ui, cx);
    match &asking.prepared {
        None => {
            widgets::waiting(ui, "Writing the text", asking.since, cx);
        }
        Some(Err(problem)) => {
            widgets::problem_ui(ui, problem);
        }
        Some(Ok(prepared)) => {
            widgets::note(ui, "Sent, with nothing else but host and content-length:");
            // Where there is no room for all, both boxes scroll.
            let rows = if height < SMALL {
                3
            } else {
                prepared.head.len()
            };
            code_ui(
                ui,
                "exact head",
                &prepared.head,
                rows as f32 * theme::TEXT_ROW,
            );
            let about = format!(
                "The body, {}, one line on its way:",
                widgets::number_text(prepared.bytes(), "bytes")
            );
            widgets::note(ui, about);
            let room = (height - 330.0).clamp(3.0 * theme::TEXT_ROW, BODY);
            code_ui(
                ui,
                "exact body",
                &prepared.body,
                room.min(prepared.body.len() as f32 * theme::TEXT_ROW),
            );
        }
    }
    outcome_ui(ui, cx, asking);
    buttons_ui(ui, cx, asking);
}

fn fields_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    let exact = &cx.state.anthropic_count;
    let gap = 12.0;
    let width = (ui.available_width() - gap) / 2.0;
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = gap;
        ui.allocate_ui(vec2(width, 0.0), |ui| {
            ui.vertical(|ui| {
                widgets::note(ui, "Model, by its id in the API");
                let mut model = exact.model.clone();
                if line(ui, "Model", "claude-haiku-4-5", width, false, &mut model) {
                    send(cx, ExactAction::Model(model));
                }
            });
        });
        ui.allocate_ui(vec2(width, 0.0), |ui| {
            ui.vertical(|ui| {
                widgets::note(ui, "Your API key");
                let mut key = exact.typed.reveal().to_owned();
                let hint = if exact.key.has_key() {
                    "as before, or type another"
                } else {
                    "sk-ant-…"
                };
                if line(ui, "API key", hint, width, true, &mut key) {
                    send(cx, ExactAction::TypeKey(Key::new(&key)));
                }
            });
        });
    });
    let place = match &exact.key {
        KeyPlace::Unknown | KeyPlace::Looking => {
            "Looking for a key in the system's keychain…".to_owned()
        }
        KeyPlace::Nowhere(None) => {
            "A key is kept in the system's keychain once it has worked, and nowhere else."
                .to_owned()
        }
        KeyPlace::Nowhere(Some(why)) => {
            format!(
                "The system's keychain cannot be used ({why}), so a key is kept for this session only and written nowhere."
            )
        }
        KeyPlace::Keychain => "Your key is in the system's keychain.".to_owned(),
        KeyPlace::ThisRun(why) => {
            format!("Your key is kept in memory for this session only: {why}.")
        }
    };
    ui.horizontal_wrapped(|ui| {
        ui.add(Label::new(icons::icon(icons::KEY, 13.0, t.weak)));
        widgets::note_wrapped(ui, place);
        if exact.key.has_key()
            && widgets::Button::new("Forget the key")
                .small()
                .frameless()
                .clicked(ui)
        {
            send(cx, ExactAction::ForgetKey);
        }
    });
}

/// A field; whether it was edited.
fn line(
    ui: &mut Ui,
    name: &str,
    hint: &str,
    width: f32,
    is_secret: bool,
    text: &mut String,
) -> bool {
    widgets::LineEdit {
        name,
        hint,
        width,
        is_secret,
    }
    .show(ui, "exact count", text)
}

/// What came of it: the number next to the range, or why there is none.
fn outcome_ui(ui: &mut Ui, cx: &Cx<'_>, asking: &ExactRequest) {
    let t = theme::of(ui);
    if asking.is_sent {
        widgets::waiting(ui, "Anthropic is counting", asking.since, cx);
        return;
    }
    if let Some(problem) = &asking.problem {
        widgets::problem_ui(ui, problem);
    }
    if let Some(counted) = cx.state.exact_count(&asking.capture, asking.format) {
        let mut text = words(counted);
        text[..1].make_ascii_uppercase();
        if let Some(row) = cx.ready(RowQuery(asking.format))
            && let Some(range) = Tokenizer::Claude.from_tokens(row.tokens)
        {
            text.push_str(&format!(
                "; Loupe's range is {}",
                loupe_core::token::format_count(range)
            ));
        }
        ui.add(
            Label::new(widgets::styled(text, theme::semibold(13.0), t.strong))
                .wrap()
                .selectable(true),
        );
        let note = "As one user message that holds this text and nothing else; what surrounds it in a conversation comes on top. \
                    Kept for this run, beside the estimate.";
        widgets::note_wrapped(ui, note);
    }
}

fn buttons_ui(ui: &mut Ui, cx: &Cx<'_>, asking: &ExactRequest) {
    ui.add_space(4.0);
    widgets::at_right(ui, theme::BUTTON, |ui| {
        let is_counted = cx
            .state
            .exact_count(&asking.capture, asking.format)
            .is_some();
        let (verb, close) = if is_counted {
            ("Send again to", "Close")
        } else {
            ("Send to", "Cancel")
        };
        let label = format!("{verb} {}", host_of(&cx.state.anthropic_count.address));
        if widgets::Button::new(&label)
            .primary()
            .enabled(cx.state.can_count_exactly())
            .clicked(ui)
        {
            send(cx, ExactAction::Send);
        }
        if asking.is_sent {
            if widgets::button(ui, "Stop waiting").clicked() {
                send(cx, ExactAction::Stop);
            }
        } else if widgets::Button::new(close)
            .name(&format!("{close} the count"))
            .clicked(ui)
        {
            cx.send(Action::CloseDialog);
        }
    });
}

/// The host of an address of ours, which has no user name in it.
fn host_of(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    rest.split('/').next().unwrap_or(rest)
}
