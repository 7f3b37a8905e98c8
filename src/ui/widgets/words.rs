//! Words as labels, and what a screen reader says of what is painted.

use egui::{Color32, FontId, Label, Response, RichText, Role, Ui, WidgetInfo};

use crate::ui::theme;

/// Text of one look.
pub fn styled(text: impl Into<String>, font: FontId, color: Color32) -> RichText {
    RichText::new(text).font(font).color(color)
}

/// A label on one line, or, in a wrapping layout, over several.
pub fn words(ui: &mut Ui, text: impl Into<String>, font: FontId, color: Color32) -> Response {
    ui.label(styled(text, font, color))
}

/// A label over as many lines as it takes.
pub fn wrapped(ui: &mut Ui, text: impl Into<String>, font: FontId, color: Color32) -> Response {
    ui.add(Label::new(styled(text, font, color)).wrap())
}

/// A label on one line, which ends with `…` where there is no room for all of it.
pub fn truncated(ui: &mut Ui, text: impl Into<String>, font: FontId, color: Color32) -> Response {
    ui.add(Label::new(styled(text, font, color)).truncate())
}

/// A label on one line with a tip that says more, in the one bubble that there is.
pub fn truncated_with(
    ui: &mut Ui,
    text: impl Into<String>,
    font: FontId,
    color: Color32,
    tip: impl Into<String>,
) -> Response {
    let label = Label::new(styled(text, font, color)).truncate();
    ui.add(label.show_tooltip_when_elided(false))
        .on_hover_text(tip.into())
}

/// Small weak words.
pub fn note(ui: &mut Ui, text: impl Into<String>) -> Response {
    words(ui, text, theme::small(), theme::of(ui).weak)
}

/// Small weak words over as many lines as they take.
pub fn note_wrapped(ui: &mut Ui, text: impl Into<String>) -> Response {
    wrapped(ui, text, theme::small(), theme::of(ui).weak)
}

/// What a screen reader says of it.
pub fn say(response: &Response, role: Role, text: impl Into<String>) {
    let text = text.into();
    response.widget_info(|| WidgetInfo::labeled(role, true, &text));
}

/// What a screen reader says of one of several, of which some are selected.
pub fn say_selected(response: &Response, role: Role, is_selected: bool, text: impl Into<String>) {
    let text = text.into();
    response.widget_info(|| WidgetInfo::selected(role, true, is_selected, &text));
}
