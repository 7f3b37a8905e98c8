//! What is above the window and keeps the keyboard: dialogs, questions, the palette.

use egui::{Align2, Frame, Id, Margin, Modal, ModalResponse, Stroke, Ui, Vec2, vec2};

use super::{at_right, button, icon_button};
use crate::state::Action;
use crate::ui::theme;
use crate::ui::{Cx, icons};

/// What a dialog may take of the window.
pub fn modal_room(ui: &Ui) -> Vec2 {
    ui.content_rect().size() - vec2(80.0, 120.0)
}

/// Shows a dialog, at most `width` wide and within the window. Its top stays where it is while what it waits for arrives.
pub fn modal<R>(
    ui: &Ui,
    id: Id,
    width: f32,
    content: impl FnOnce(&mut Ui) -> R,
) -> ModalResponse<R> {
    let room = modal_room(ui);
    let area = Modal::default_area(id).anchor(Align2::CENTER_TOP, vec2(0.0, 60.0));
    Modal::new(id)
        .area(area)
        .frame(modal_frame(ui, 20))
        .show(ui, |ui| {
            ui.set_width(width.min(room.x));
            ui.spacing_mut().item_spacing.y = 8.0;
            content(ui)
        })
}

/// The ground that it is on.
pub fn modal_frame(ui: &Ui, margin: i8) -> Frame {
    let t = theme::of(ui);
    Frame::new()
        .fill(t.card)
        .stroke(Stroke::new(1.0, t.line2))
        .corner_radius(theme::RADIUS_CARD)
        .inner_margin(Margin::same(margin))
        .shadow(ui.visuals().popup_shadow)
}

/// Its title, with the button that closes it.
pub fn title(ui: &mut Ui, cx: &Cx<'_>, words: &str) {
    let t = theme::of(ui);
    ui.horizontal(|ui| {
        super::words(ui, words, theme::semibold(16.0), t.strong);
        at_right(ui, theme::ICON_BUTTON, |ui| {
            if icon_button(ui, icons::CLOSE, "Close").clicked() {
                cx.send(Action::CloseDialog);
            }
        });
    });
}

/// The button that closes a dialog without what it asks about.
pub fn cancel(ui: &mut Ui, cx: &Cx<'_>) {
    if button(ui, "Cancel").clicked() {
        cx.send(Action::CloseDialog);
    }
}

/// Words over as many rows as they take.
pub fn paragraph(ui: &mut Ui, words: &str) {
    let t = theme::of(ui);
    super::wrapped(ui, words, theme::base(), t.text);
}

/// Gives the keyboard to what is answered first, once, when the dialog opens: to its field, or to the result that Enter is
/// to give. Neither the keys that make a call nor an Enter that is still held down from before are that Enter.
pub fn focus_first(ui: &Ui, first: Id) {
    focus_opened(ui, "dialog", first);
}

/// Gives the keyboard to a field, once, when what it belongs to opens; `what` tells openings apart.
pub fn focus_opened(ui: &Ui, what: impl std::hash::Hash + std::fmt::Debug, first: Id) {
    // Nothing keeps the keyboard in the pass that only finds out how large the dialog is.
    if ui.is_sizing_pass() {
        return;
    }
    let id = Id::unique(("has had its focus", Id::unique(what)));
    let pass = ui.ctx().cumulative_pass_nr();
    let last: Option<u64> = super::recall(ui, id);
    if last.is_none_or(|last| last + 1 < pass) {
        ui.memory_mut(|memory| memory.request_focus(first));
    }
    super::remember(ui, id, pass);
}
