//! The head of a screen that takes the whole area: the way back first, then what it is, then its controls.

use egui::{Margin, Rect, Ui, vec2};

use super::Button;
use crate::state::ViewAction;
use crate::ui::theme;
use crate::ui::{Cx, icons};

/// Below this width the head has no title.
const NARROW: f32 = 640.0;

/// Paints the head and returns what is left; `controls` are laid out from the right.
pub fn mode_head(ui: &mut Ui, cx: &Cx<'_>, title: &str, controls: impl FnOnce(&mut Ui)) -> Rect {
    let t = theme::of(ui);
    let rect = ui.available_rect_before_wrap();
    let head = Rect::from_min_size(rect.min, vec2(rect.width(), theme::HEADER + 8.0));
    ui.painter().rect_filled(head, 0.0, t.panel);
    super::line_below(ui, head);
    let inner = head.shrink2(vec2(12.0, 0.0));
    super::line_part(ui, "mode head", inner, |ui| {
        ui.spacing_mut().item_spacing.x = 10.0;
        let name = if cx.state.view.capture.is_some() {
            "Answer"
        } else {
            "Start"
        };
        if Button::new(name)
            .icon(icons::ARROW_LEFT)
            .shortcut("Esc")
            .frameless()
            .tip("Back to the panes")
            .clicked(ui)
        {
            cx.send(ViewAction::ShowAnswer);
        }
        // In a narrow window the controls are what the screen cannot do without.
        if inner.width() >= NARROW {
            super::words(ui, title, theme::semibold(14.0), t.strong);
        }
        super::from_right(ui, controls);
    });
    rect.with_min_y(head.bottom())
}

/// What is below the head of a screen that is read from above: with space around it and between its parts.
pub fn mode_body(ui: &mut Ui, body: impl FnOnce(&mut Ui)) {
    super::padded(ui, Margin::same(16), |ui| {
        ui.set_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = 8.0;
        body(ui);
    });
}
