//! What stands above the window and keeps the keyboard: dialogs, questions, the palette.

use egui::{Align2, Frame, Id, Margin, Modal, ModalResponse, Stroke, Ui, Vec2, vec2};

use crate::ui::theme::{self, ThemeTokens};

/// What a dialog may take of the window.
pub fn modal_room(ui: &Ui) -> Vec2 {
    ui.content_rect().size() - vec2(80.0, 120.0)
}

/// Shows a dialog, at most `width` wide and within the window. Its top stays where it is while what it waits for arrives.
pub fn modal<R>(ui: &Ui, id: Id, width: f32, content: impl FnOnce(&mut Ui) -> R) -> ModalResponse<R> {
    let room = modal_room(ui);
    let area = Modal::default_area(id).anchor(Align2::CENTER_TOP, vec2(0.0, 60.0));
    Modal::new(id).area(area).frame(modal_frame(ui, 20)).show(ui, |ui| {
        ui.set_width(width.min(room.x));
        ui.spacing_mut().item_spacing.y = 8.0;
        content(ui)
    })
}

/// The ground that it stands on.
pub fn modal_frame(ui: &Ui, margin: i8) -> Frame {
    let t = ThemeTokens::of(ui);
    Frame::new()
        .fill(t.card)
        .stroke(Stroke::new(1.0, t.line2))
        .corner_radius(theme::RADIUS_CARD)
        .inner_margin(Margin::same(margin))
        .shadow(ui.visuals().popup_shadow)
}
