//! The start page: questions a newcomer has, each one click from its result.

mod own;

use egui::{Align2, Response, Role, Sense, Stroke, StrokeKind, Ui, pos2, vec2};

use super::theme;
use super::{Cx, icons, servers, widgets};
use crate::state::{
    Action, CallAction, ConnectAction, Connection, ImportAction, StartQuestion, ViewAction,
};
use loupe_core::source::Source;

/// The height most cards have; only an estimate for placing the page.
const CARD_HEIGHT: f32 = 104.0;

pub fn start_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    widgets::scroll("start").show(ui, |ui| {
        let width = (ui.available_width() - 48.0).clamp(280.0, 760.0);
        let side = ((ui.available_width() - width) / 2.0).max(0.0);
        let connection = &cx.state.session().connection;
        let used = servers::others(cx).len().min(servers::FEW) as f32 * 44.0;
        let content = match connection.is_connected() && !connection.is_sample() {
            true => own::HEIGHT,
            false => 250.0 + used + rows(width) as f32 * (CARD_HEIGHT + 16.0),
        };
        ui.add_space(((ui.available_height() - content) * 0.4).max(16.0));
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = 0.0;
            ui.add_space(side);
            ui.vertical(|ui| {
                ui.set_width(width);
                if let Some(capture) = &cx.state.view.capture
                    && widgets::Button::new("Answer").icon(icons::ARROW_LEFT).small().frameless().clicked(ui)
                {
                    cx.send(ViewAction::SelectCapture(capture.clone()));
                }
                let is_own = cx.state.session().connection.is_connected() && !cx.state.session().connection.is_sample();
                if !is_own {
                    used_ui(ui, cx, width);
                }
                match &cx.state.session().connection {
                    Connection::Connected { source, .. } if !matches!(source, Source::Sample(_)) => {
                        own::own_ui(ui, cx, width);
                        return;
                    }
                    Connection::Disconnected { .. } => gone_ui(ui, cx),
                    _ => {
                        widgets::words(ui, "What do you want to know?", theme::page_title(), t.strong);
                        let words = "One click calls a tool of the sample (the first card twice) and shows the answer in every format";
                        widgets::wrapped(ui, words, theme::base(), t.weak);
                    }
                }
                ui.add_space(16.0);
                cards_ui(ui, cx, width);
                ui.add_space(16.0);
                ui.horizontal(|ui| {
                    ui.spacing_mut().item_spacing.x = 8.0;
                    if widgets::button(ui, "Use my server…").clicked() {
                        cx.send(ConnectAction::Show);
                    }
                    if widgets::button(ui, "Open file…")
                        .on_hover_text("A capture folder, or a file that holds an answer")
                        .clicked()
                    {
                        cx.send(Action::OpenPath(None));
                    }
                });
                ui.add_space(24.0);
                let footer = if cx.state.session().connection.is_sample() {
                    "Sample server, inside this program. Nothing leaves this computer."
                } else {
                    "Calls go to your server alone, and only when you click. The cards use the sample server inside this program."
                };
                widgets::note_wrapped(ui, footer);
                ui.add_space(16.0);
            });
        });
    });
}

/// The servers used before, one click each.
fn used_ui(ui: &mut Ui, cx: &Cx<'_>, width: f32) {
    let t = theme::of(ui);
    let used = servers::others(cx);
    if used.is_empty() {
        return;
    }
    widgets::words(ui, "Your servers", theme::semibold(16.0), t.strong);
    let keys = super::shortcuts::text(&super::shortcuts::CONNECT_OTHER);
    let names = servers::names(cx);
    for (row, (at, recent)) in used.into_iter().take(servers::FEW).enumerate() {
        let (name, place) = &names[at];
        let about = if row == 0 {
            format!("{keys} connects")
        } else {
            String::new()
        };
        let glyph = if recent.is_pinned {
            icons::BASELINE
        } else {
            icons::HISTORY
        };
        let response = own::row_ui(ui, width, glyph, &format!("Connect to {name}"), &about);
        if response.on_hover_text(servers::spoken(place)).clicked() {
            cx.send(ImportAction::ConnectRecent(at));
        }
    }
    ui.add_space(24.0);
}

/// The server went away: what that means, and the way on.
fn gone_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    let Connection::Disconnected {
        source, problem, ..
    } = &cx.state.session().connection
    else {
        return;
    };
    widgets::words(ui, "The server is gone", theme::page_title(), t.strong);
    let words = format!(
        "{}: {}. Its tools cannot be called until you reconnect.",
        source.label(),
        problem.what
    );
    widgets::wrapped(ui, words, theme::base(), t.weak);
    ui.add_space(8.0);
    let name = format!(
        "Reconnect ({})",
        super::shortcuts::text(&super::shortcuts::RECONNECT)
    );
    if widgets::primary_button(ui, &name, Some(icons::PLUG), None).clicked() {
        cx.send(ConnectAction::Reconnect);
    }
    ui.add_space(16.0);
    widgets::words(
        ui,
        "Or ask the sample server",
        theme::semibold(16.0),
        t.strong,
    );
}

fn columns(width: f32) -> usize {
    if width < 520.0 { 1 } else { 2 }
}

fn rows(width: f32) -> usize {
    StartQuestion::ALL.len().div_ceil(columns(width))
}

fn cards_ui(ui: &mut Ui, cx: &Cx<'_>, width: f32) {
    let columns = columns(width);
    let card = (width - 16.0 * (columns as f32 - 1.0)) / columns as f32;
    for questions in StartQuestion::ALL.chunks(columns) {
        let words = |question: &StartQuestion| {
            ui.painter().layout(
                question.explanation().to_owned(),
                theme::small(),
                theme::of(ui).weak,
                card - 32.0,
            )
        };
        let height = questions
            .iter()
            .map(|question| words(question).size().y)
            .fold(30.0, f32::max)
            + 58.0;
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 16.0;
            for &question in questions {
                if card_ui(ui, question, vec2(card, height)).clicked() {
                    cx.send(CallAction::Ask(question));
                }
            }
        });
        ui.add_space(10.0);
    }
}

fn card_ui(ui: &mut Ui, question: StartQuestion, size: egui::Vec2) -> Response {
    let t = theme::of(ui);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    widgets::say(&response, Role::Button, question.title());
    let (fill, line) = if response.hovered() {
        (t.hover, t.accent_line)
    } else {
        (t.card, t.line2)
    };
    widgets::boxed(ui, rect, theme::RADIUS_CARD, fill, line);
    if response.has_focus() {
        ui.painter().rect_stroke(
            rect.expand(2.0),
            theme::RADIUS_CARD,
            Stroke::new(2.0, t.accent),
            StrokeKind::Inside,
        );
    }
    let glyph = match question {
        StartQuestion::MarkdownOrJson => icons::COMPARE,
        StartQuestion::HostViews => icons::HOSTS,
        StartQuestion::TextMatchesData => icons::DIFFERS,
        StartQuestion::HostileRecords => icons::HOSTILE,
    };
    let left = rect.left() + 16.0;
    ui.painter().text(
        pos2(left, rect.top() + 24.0),
        Align2::LEFT_CENTER,
        glyph,
        theme::icon_font(16.0),
        t.accent,
    );
    ui.painter().text(
        pos2(left + 26.0, rect.top() + 24.0),
        Align2::LEFT_CENTER,
        question.title(),
        theme::semibold(14.0),
        t.strong,
    );
    let words = ui.painter().layout(
        question.explanation().to_owned(),
        theme::small(),
        t.weak,
        size.x - 32.0,
    );
    ui.painter()
        .galley(pos2(left, rect.top() + 42.0), words, t.weak);
    response
}
