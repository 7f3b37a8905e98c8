//! A computed sentence: what it says well or badly has its colour, and its words say it too.

use egui::text::{LayoutJob, TextWrapping};
use egui::{Align, Response, Role, Sense, TextFormat, Ui, WidgetInfo};

use crate::report::{Verdict, VerdictPart};
use crate::ui::theme::{self, Tokens};

/// Paints the sentence in at most so many rows of this width; the whole of it on hover.
pub fn verdict_label(ui: &mut Ui, verdict: &Verdict, width: f32, max_rows: usize) -> Response {
    let t = Tokens::of(ui);
    let mut job = LayoutJob::default();
    for part in &verdict.parts {
        let (text, font, color) = match part {
            VerdictPart::Plain(text) => (text, theme::base(), t.text),
            VerdictPart::Number(text) => (text, theme::mono_semibold(12.5), t.strong),
            VerdictPart::Good(text) => (text, theme::semibold(13.0), t.ok),
            VerdictPart::Bad(text) => (text, theme::semibold(13.0), t.warn),
        };
        job.append(text, 0.0, TextFormat { valign: Align::Center, ..TextFormat::simple(font, color) });
    }
    job.wrap = TextWrapping { max_rows, break_anywhere: max_rows == 1, ..TextWrapping::wrap_at_width(width.max(40.0)) };
    let text = verdict.text();
    let galley = ui.painter().layout_job(job);
    let (place, label) = ui.allocate_exact_size(galley.size(), Sense::hover());
    ui.painter().galley(place.min, galley, t.text);
    label.widget_info(|| WidgetInfo::labeled(Role::Label, true, &text));
    label.on_hover_text(&text)
}
