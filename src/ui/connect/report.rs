//! How a connection came about, or did not: each step with what was tried, what came of it and how long it took.

use egui::{Label, Ui, vec2};

use crate::ui::theme;
use crate::ui::{Cx, icons, widgets};
use loupe_core::capture::{Step, StepState, milliseconds};

/// Narrower than this, a step is on two lines.
const WIDE: f32 = 520.0;

/// The steps in order, the failed one marked.
pub fn steps_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    ui.spacing_mut().item_spacing = vec2(8.0, 4.0);
    for step in &cx.state.session().steps {
        let (icon, color, words) = match step.state {
            StepState::Done => (icons::CHECK, t.weak, "done"),
            StepState::Passed => (icons::ARROW_RIGHT, t.weak, "tried another way"),
            StepState::Failed => (icons::ERROR, t.bad, "failed"),
        };
        ui.horizontal_top(|ui| {
            ui.add(Label::new(icons::icon(icon, 14.0, color)))
                .on_hover_text(words);
            let name = widgets::styled(step.name, theme::medium(12.5), t.strong);
            if ui.available_width() < WIDE {
                ui.vertical(|ui| {
                    ui.label(name);
                    text_ui(ui, step);
                });
            } else {
                ui.add_sized(
                    vec2(116.0, 18.0),
                    Label::new(name).halign(egui::Align::LEFT),
                );
                ui.vertical(|ui| text_ui(ui, step));
            }
        });
    }
}

fn text_ui(ui: &mut Ui, step: &Step) {
    let t = theme::of(ui);
    let took = step
        .took
        .map(time)
        .map(|took| format!(" · {took}"))
        .unwrap_or_default();
    if !step.tried.is_empty() {
        widgets::wrapped(ui, &step.tried, theme::code(), t.weak);
    }
    let color = if step.state == StepState::Failed {
        t.bad
    } else {
        t.text
    };
    let answered = if step.answered.is_empty() {
        "done"
    } else {
        &step.answered
    };
    widgets::wrapped(ui, format!("{answered}{took}"), theme::small(), color);
}

/// What takes no time worth a number says so.
fn time(took: std::time::Duration) -> String {
    if took.as_micros() < 1_000 {
        "under 1 ms".into()
    } else {
        milliseconds(took)
    }
}
