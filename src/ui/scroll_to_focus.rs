//! A control that the keyboard comes to is in sight: what holds it scrolls there.

use crate::ui::widgets;
use egui::accesskit::{Action, ActionRequest, TreeId};
use egui::{Event, Id, Memory, Ui};

/// So much of a control is enough to see that it has the keyboard; more of a tall one may not fit.
const ENOUGH: f32 = 24.0;

fn had_id() -> Id {
    Id::unique("control that had the keyboard")
}

/// Called before anything is painted: the scroll area takes the wish as it takes that of a screen reader.
pub fn begin(ui: &Ui) {
    let focused = ui.memory(Memory::focused);
    if widgets::recall::<Option<Id>>(ui, had_id()).flatten() == focused {
        return;
    }
    widgets::remember(ui, had_id(), focused);
    let Some(response) = focused.and_then(|id| ui.read_response(id)) else {
        return;
    };
    let (whole, seen) = (response.rect.size(), response.interact_rect.size());
    if seen.x < whole.x.min(ENOUGH) || seen.y < whole.y.min(ENOUGH) {
        let target_node = response.id.accesskit_id();
        let request = ActionRequest {
            action: Action::ScrollIntoView,
            target_tree: TreeId::ROOT,
            target_node,
            data: None,
        };
        ui.input_mut(|input| input.events.push(Event::AccessKitActionRequest(request)));
    }
}

/// Called when everything is painted: where the keyboard went elsewhere, another pass follows.
pub fn end(ui: &Ui) {
    if widgets::recall::<Option<Id>>(ui, had_id()).flatten() != ui.memory(Memory::focused) {
        ui.request_repaint();
    }
}

#[cfg(test)]
mod tests {
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable;

    #[test]
    fn tab_scrolls_to_a_button_below_the_fold() {
        let mut harness = Harness::builder().with_size([200.0, 200.0]).build_ui(|ui| {
            super::begin(ui);
            egui::ScrollArea::vertical()
                .auto_shrink(false)
                .show(ui, |ui| {
                    for number in 0..40 {
                        assert!(!ui.button(format!("Button {number}")).clicked());
                    }
                });
            super::end(ui);
        });
        for _ in 0..30 {
            harness.key_press(egui::Key::Tab);
            harness.run();
        }
        let button = harness.get_by_label("Button 29");
        assert!(button.is_focused());
        assert!(
            button.rect().max.y <= 200.0 && button.rect().min.y >= 0.0,
            "{:?}",
            button.rect()
        );
    }
}
