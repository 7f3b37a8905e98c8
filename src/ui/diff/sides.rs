//! The two sides of a diff: which answers they are, what they cost as sent, and choosing others.

use std::sync::Arc;

use egui::{Align, Layout, Popup, Rect, Response, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2};

use super::{act, inside};
use crate::capture::{Capture, CaptureId};
use crate::state::diff::DiffAction;
use crate::ui::theme::{self, ThemeTokens};
use crate::ui::widgets;
use crate::ui::{Cx, icons};

fn number_of(cx: &Cx<'_>, id: &CaptureId) -> usize {
    cx.state.captures.iter().position(|capture| capture.id == *id).map_or(0, |at| at + 1)
}

fn time_of(cx: &Cx<'_>, capture: &Capture) -> String {
    if capture.request.is_empty() { "from a file".to_owned() } else { cx.state.local_time.clock(capture.started_at) }
}

fn as_sent(cx: &Cx<'_>, id: &CaptureId) -> Option<u64> {
    cx.as_sent(id, true).map(|row| row.tokens.get(cx.state.settings.encoding()))
}

/// Both sides and the button that swaps them.
pub fn sides_ui(ui: &mut Ui, cx: &Cx<'_>, rect: Rect, a: &Arc<Capture>, b: &Arc<Capture>) {
    let t = ThemeTokens::of(ui);
    ui.painter().rect_filled(rect, 0.0, t.panel);
    ui.painter().hline(rect.x_range(), rect.bottom() - 0.5, Stroke::new(1.0, t.line));
    let swap = Rect::from_center_size(rect.center(), vec2(theme::ICON_BUTTON, theme::ICON_BUTTON));
    let half = |left: f32, right: f32| Rect::from_min_max(pos2(left, rect.top() + 4.0), pos2(right, rect.bottom() - 4.0));
    let old = side_ui(ui, cx, half(rect.left() + 4.0, swap.left() - 6.0), "A", a);
    choose_ui(&old, cx, &a.id, true);
    inside(ui, swap, "swap", Layout::left_to_right(Align::Center), |ui| {
        if widgets::icon_button(ui, icons::SWAP, "Swap A and B").clicked() {
            act(cx, DiffAction::Swap);
        }
    });
    let new = side_ui(ui, cx, half(swap.right() + 6.0, rect.right() - 4.0), "B", b);
    choose_ui(&new, cx, &b.id, false);
}

/// The letter in its box, as it also stands in the list of captures.
pub fn letter(ui: &Ui, center: egui::Pos2, letter: &str) {
    let t = ThemeTokens::of(ui);
    let rect = Rect::from_center_size(center, vec2(20.0, 20.0));
    let (color, fill, line) = if letter == "B" { (t.accent, t.accent_bg, t.accent_line) } else { (t.strong, t.card, t.line2) };
    ui.painter().rect(rect, theme::RADIUS_BADGE, fill, Stroke::new(1.0, line), StrokeKind::Inside);
    widgets::glyph_at(ui, center, letter, theme::semibold(12.0), color);
}

fn side_ui(ui: &Ui, cx: &Cx<'_>, rect: Rect, name: &str, capture: &Capture) -> Response {
    let t = ThemeTokens::of(ui);
    let response = ui.interact(rect, ui.scope_id().with(("side", name)), Sense::click());
    let tokens = as_sent(cx, &capture.id);
    let title = format!("Capture {}", number_of(cx, &capture.id));
    let when = time_of(cx, capture);
    let arguments = String::from_utf8_lossy(&capture.arguments);
    let mut end = arguments.len().min(300);
    while !arguments.is_char_boundary(end) {
        end -= 1;
    }
    let server = capture.server.heading();
    let tool = if capture.tool.name.is_empty() { "(answer)" } else { &capture.tool.name };
    let second = format!("{} · {tool} · {}", server.trim(), arguments.get(..end).unwrap_or_default());
    let cost = tokens.map_or_else(|| "counting…".to_owned(), |tokens| widgets::number_text(tokens, "tok"));
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("{name}: {title}, {when}, {second}, {cost}")));
    if response.hovered() {
        ui.painter().rect_filled(rect, theme::RADIUS_CONTROL, t.hover);
    }
    letter(ui, pos2(rect.left() + 20.0, rect.center().y), name);
    let right = rect.right() - 10.0;
    widgets::glyph_at(ui, pos2(right - 6.0, rect.center().y), icons::DOWN, theme::icon_font(12.0), t.weak);
    let cost = widgets::text_right(ui, pos2(right - 22.0, rect.center().y), cost, theme::mono_semibold(12.0), t.strong);
    let left = rect.left() + 40.0;
    let room = cost - 10.0 - left;
    let end = widgets::text_at(ui, pos2(left, rect.top() + 15.0), title, theme::semibold(13.0), t.strong, room);
    widgets::text_at(ui, pos2(end + 8.0, rect.top() + 15.0), when, theme::small(), t.weak, left + room - end - 8.0);
    widgets::text_at(ui, pos2(left, rect.bottom() - 14.0), second.clone(), theme::small(), t.weak, room);
    widgets::focus_ring(ui, &response, theme::RADIUS_CONTROL);
    response.on_hover_text(second)
}

fn choose_ui(response: &Response, cx: &Cx<'_>, chosen: &CaptureId, is_a: bool) {
    let choose = if is_a { DiffAction::SetA } else { DiffAction::SetB };
    Popup::menu(response).width(360.0).show(|ui| {
        egui::ScrollArea::vertical().max_height(420.0).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            if widgets::menu_row(ui, "Open a file…", None, false).clicked() {
                act(cx, DiffAction::OpenFile { is_a });
                ui.close();
            }
            for capture in cx.state.captures.iter().rev() {
                let label = format!("Capture {} · {} · {}", number_of(cx, &capture.id), capture.tool.name, time_of(cx, capture));
                if widgets::menu_row(ui, &label, None, capture.id == *chosen).clicked() {
                    act(cx, choose(capture.id.clone()));
                    ui.close();
                }
            }
        });
    });
}
