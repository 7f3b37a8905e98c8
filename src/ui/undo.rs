//! What was just taken away, in a row of its own above the status bar, as long as it can be brought back.

use egui::{Frame, Label, Margin, Panel, Ui};

use super::theme;
use super::{Cx, icons, shortcuts, sizes, widgets};
use crate::state::Action;

/// The command, as the palette names it.
pub const NAME: &str = "Undo the last removal";

pub fn undo_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    let Some(undo) = &cx.state.undo else { return };
    let frame = Frame::new().fill(t.card).inner_margin(Margin {
        left: 12,
        right: 6,
        top: 4,
        bottom: 4,
    });
    Panel::bottom("undo")
        .resizable(false)
        .show_separator_line(false)
        .frame(frame)
        .show(ui, |ui| {
            widgets::announce(ui, ui.unique_id());
            ui.horizontal_centered(|ui| {
                ui.spacing_mut().item_spacing.x = 8.0;
                ui.add(Label::new(icons::icon(icons::TRASH, 14.0, t.weak)));
                widgets::truncated(ui, &undo.what, theme::base(), t.text);
                widgets::at_right(ui, theme::BUTTON, |ui| {
                    let keys = shortcuts::text(&shortcuts::UNDO);
                    if widgets::Button::new("Undo")
                        .icon(icons::UNDO)
                        .shortcut(&keys)
                        .small()
                        .clicked(ui)
                    {
                        cx.send(run(ui));
                    }
                });
            });
        });
}

/// Brings it back. Panels take the sizes that come back.
pub fn run(ui: &Ui) -> Action {
    sizes::forget(ui);
    Action::Undo
}
