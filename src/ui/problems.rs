//! What went wrong, in a row of its own above the status bar, where it covers nothing, until it is closed.

use egui::{Frame, Label, Margin, Panel, ScrollArea, Stroke, Ui};

use super::region::{Region, region};
use super::theme;
use super::{Cx, icons, widgets};
use crate::state::Action;
use loupe_core::number::number_of;

/// The first line is level with the button that closes it.
const LEAD: f32 = 4.0;
/// A longer message scrolls.
const MOST: f32 = 88.0;

/// The last problem; the others follow as it is closed.
pub fn problems_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    let problems = || {
        cx.state
            .toasts
            .iter()
            .rev()
            .filter_map(|toast| Some((toast, toast.problem.as_ref()?)))
    };
    let Some((toast, problem)) = problems().next() else {
        return;
    };
    let others = problems().count() as u64 - 1;
    let frame = Frame::new().fill(t.bad_bg).inner_margin(Margin {
        left: 12,
        right: 6,
        top: 4,
        bottom: 4,
    });
    let shown = Panel::bottom("problems")
        .resizable(false)
        .show_separator_line(false)
        .frame(frame)
        .show(ui, |ui| {
            widgets::announce(ui, ui.unique_id());
            ui.horizontal_top(|ui| {
                ui.spacing_mut().item_spacing.x = 8.0;
                ui.vertical(|ui| {
                    ui.add_space(LEAD);
                    ui.add(Label::new(icons::icon_fill(icons::ERROR, 16.0, t.bad)));
                });
                let room = ui.available_width() - if others > 0 { 108.0 } else { 36.0 };
                ScrollArea::vertical()
                    .id_salt("problem")
                    .max_height(MOST)
                    .max_width(room)
                    .auto_shrink([false, true])
                    .show(ui, |ui| {
                        ui.spacing_mut().item_spacing.y = 2.0;
                        ui.add_space(LEAD);
                        let line = |ui: &mut Ui, text: &str, font, color| {
                            widgets::wrapped(ui, text, font, color);
                        };
                        line(ui, &toast.text, theme::base(), t.strong);
                        if !problem.place.is_empty() && !toast.text.contains(&problem.place) {
                            line(ui, &problem.place, theme::code(), t.text);
                        }
                        if let Some(hint) = &problem.hint {
                            line(ui, hint, theme::small(), t.text);
                        }
                    });
                widgets::at_right(ui, theme::ICON_BUTTON, |ui| {
                    let close = widgets::icon_button(ui, icons::CLOSE, "Close the message");
                    if close.clicked() {
                        cx.send(Action::CloseToast(toast.id));
                    }
                    if others > 0 {
                        widgets::words(
                            ui,
                            format!("and {}", number_of(others, "others")),
                            theme::small(),
                            t.text,
                        );
                    }
                    region(ui, Region::Problems, ui.max_rect(), &close);
                });
            });
        });
    let response = shown.response;
    ui.painter().hline(
        response.rect.x_range(),
        response.rect.top() + 0.5,
        Stroke::new(1.0, t.bad_line),
    );
}
