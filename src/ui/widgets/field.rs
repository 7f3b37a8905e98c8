//! A field for one line of text, as forms have them.

use egui::{Align2, Id, Margin, RichText, TextEdit, Ui, vec2};

use crate::ui::theme;

/// One line to type.
pub struct LineEdit<'a> {
    /// In the accessibility tree; the label next to it is the caller's.
    pub name: &'a str,
    /// What is there while it is empty.
    pub hint: &'a str,
    pub width: f32,
    /// Shown as dots.
    pub is_secret: bool,
}

impl LineEdit<'_> {
    /// The control's, which tells fields of one name apart by `place`.
    pub fn id(&self, place: &str) -> Id {
        Id::unique((place, self.name))
    }

    /// Paints it; whether the text was changed.
    pub fn show(&self, ui: &mut Ui, place: &str, text: &mut String) -> bool {
        let t = theme::of(ui);
        let edit = TextEdit::singleline(text)
            .id(self.id(place))
            .password(self.is_secret)
            .font(theme::mono(12.5))
            .hint_text(RichText::new(self.hint).color(t.weak))
            .desired_width(self.width - 18.0)
            .margin(Margin::symmetric(8, 5))
            .align(Align2::LEFT_CENTER)
            .min_size(vec2(self.width, theme::INPUT));
        ui.add(edit).accessible_name(self.name).changed()
    }
}
