//! A computed sentence on a few lines; what it says well or badly has its colour, and its words say it too.

use egui::{Align, Response, Role, Sense, Ui};

use crate::ui::theme;
use loupe_analysis::summary::{Summary, SummaryPart};

/// The sentence on up to `rows` lines, elided there; the whole of it on hover and in the accessibility tree.
pub fn summary_rows(ui: &mut Ui, summary: &Summary, width: f32, rows: usize) -> Response {
    let text = summary.text();
    let t = theme::of(ui);
    let mut job = egui::text::LayoutJob::default();
    for part in &summary.parts {
        let (text, font, color) = match part {
            SummaryPart::Plain(text) => (text, theme::base(), t.text),
            SummaryPart::Number(text) => (text, theme::mono_semibold(12.5), t.strong),
            SummaryPart::Good(text) => (text, theme::semibold(13.0), t.ok),
            SummaryPart::Bad(text) => (text, theme::semibold(13.0), t.warn),
        };
        job.append(
            text,
            0.0,
            egui::TextFormat {
                valign: Align::Center,
                ..egui::TextFormat::simple(font, color)
            },
        );
    }
    job.wrap = egui::text::TextWrapping {
        max_rows: rows,
        break_anywhere: rows == 1,
        ..egui::text::TextWrapping::wrap_at_width(width.max(40.0))
    };
    let galley = ui.painter().layout_job(job);
    let (place, label) = ui.allocate_exact_size(galley.size(), Sense::hover());
    ui.painter().galley(place.min, galley, t.text);
    super::say(&label, Role::Label, &text);
    label.on_hover_text(text)
}
