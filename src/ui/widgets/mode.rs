//! The head of a screen that takes the whole area: the way back first, then what it is, then its controls.

use egui::{Align, Layout, Rect, RichText, Stroke, Ui, UiBuilder, vec2};

use super::Button;
use crate::state::Action;
use crate::ui::theme::{self, Tokens};
use crate::ui::{Cx, icons};

/// Paints the head and returns what is left; `controls` are laid out from the right.
pub fn mode_head(ui: &mut Ui, cx: &Cx<'_>, title: &str, controls: impl FnOnce(&mut Ui)) -> Rect {
    let t = Tokens::of(ui);
    let rect = ui.available_rect_before_wrap();
    let head = Rect::from_min_size(rect.min, vec2(rect.width(), theme::HEADER + 8.0));
    ui.painter().rect_filled(head, 0.0, t.panel);
    ui.painter().hline(head.x_range(), head.bottom() - 0.5, Stroke::new(1.0, t.line));
    let inner = head.shrink2(vec2(12.0, 0.0));
    ui.scope_builder(UiBuilder::new().max_rect(inner).layout(Layout::left_to_right(Align::Center)).id_salt("mode head"), |ui| {
        ui.spacing_mut().item_spacing.x = 10.0;
        let name = if cx.state.view.capture.is_some() { "Answer" } else { "Start" };
        if Button::new(name).icon(icons::ARROW_LEFT).shortcut("Esc").frameless().tip("Back to the panes").show(ui).clicked() {
            cx.send(Action::ShowAnswer);
        }
        ui.label(RichText::new(title).font(theme::semibold(14.0)).color(t.strong));
        ui.with_layout(Layout::right_to_left(Align::Center), controls);
    });
    rect.with_min_y(head.bottom())
}
