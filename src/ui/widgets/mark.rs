//! Badges and swatches: small labels, each readable without its colour.

use egui::{Color32, Response, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2};

use super::{glyph_at, text_at};
use crate::ui::theme::{self, ThemeTokens};

/// What a badge means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Ok,
    Warn,
    Bad,
    Accent,
}

impl Tone {
    /// Text, fill and border.
    pub fn colors(self, t: &ThemeTokens) -> (Color32, Color32, Color32) {
        match self {
            Tone::Plain => (t.text, t.card, t.line2),
            Tone::Ok => (t.ok, t.ok_bg, t.ok_line),
            Tone::Warn => (t.warn, t.warn_bg, t.warn_line),
            Tone::Bad => (t.bad, t.bad_bg, t.bad_line),
            Tone::Accent => (t.accent, t.accent_bg, t.accent_line),
        }
    }
}

struct Label<'a> {
    icon: Option<(&'a str, bool)>,
    text: &'a str,
    weak: &'a str,
    tone: Tone,
    is_outlined: bool,
    height: f32,
    size: f32,
}

impl Label<'_> {
    fn show(self, ui: &mut Ui, sense: Sense) -> Response {
        let t = ThemeTokens::of(ui);
        let (mut color, fill, line) = self.tone.colors(t);
        if self.is_outlined && self.tone == Tone::Plain {
            color = t.weak;
        }
        let measure = |text: &str| ui.painter().layout_no_wrap(text.to_owned(), theme::medium(self.size), color).size().x;
        let icon_width = if self.icon.is_some() { self.size + if self.text.is_empty() { 0.0 } else { 4.0 } } else { 0.0 };
        let weak_width = if self.weak.is_empty() { 0.0 } else { measure(self.weak) + 4.0 };
        let width = (10.0 + icon_width + measure(self.text) + weak_width).ceil();
        let (rect, response) = ui.allocate_exact_size(vec2(width, self.height), sense);
        if ui.is_rect_visible(rect) {
            let fill = if self.is_outlined { Color32::TRANSPARENT } else { fill };
            ui.painter().rect(rect, theme::RADIUS_BADGE, fill, Stroke::new(1.0, line), StrokeKind::Inside);
            let mut x = rect.left() + 5.0;
            if let Some((icon, is_filled)) = self.icon {
                let font = if is_filled { theme::icon_fill_font(self.size + 1.0) } else { theme::icon_font(self.size + 1.0) };
                glyph_at(ui, pos2(x + self.size / 2.0, rect.center().y), icon, font, color);
                x += icon_width;
            }
            x = text_at(ui, pos2(x, rect.center().y), self.text, theme::medium(self.size), color, f32::INFINITY);
            if !self.weak.is_empty() {
                text_at(ui, pos2(x + 4.0, rect.center().y), self.weak, theme::regular(self.size), t.weak, f32::INFINITY);
            }
        }
        let name = if self.weak.is_empty() { self.text.to_owned() } else { format!("{} {}", self.text, self.weak) };
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &name));
        response
    }
}

/// A badge of 18 px: filled where it is declared or counted, outlined where it is only a default.
pub fn badge(ui: &mut Ui, icon: Option<&str>, text: &str, tone: Tone, is_outlined: bool) -> Response {
    let icon = icon.map(|icon| (icon, !is_outlined));
    Label { icon, text, weak: "", tone, is_outlined, height: theme::BADGE, size: 11.0 }.show(ui, Sense::hover())
}

/// A badge with a weak second word ("default"), and what it means on hover.
pub fn badge_tip(ui: &mut Ui, icon: Option<&str>, text: &str, weak: &str, tone: Tone, is_outlined: bool, tip: &str) -> Response {
    let icon = icon.map(|icon| (icon, !is_outlined));
    Label { icon, text, weak, tone, is_outlined, height: theme::BADGE, size: 11.0 }.show(ui, Sense::hover()).on_hover_text(tip)
}

/// The square of a format's hue; the name always stands beside it.
pub fn swatch(ui: &mut Ui, color: Color32) {
    let (rect, _) = ui.allocate_exact_size(vec2(8.0, 8.0), Sense::hover());
    ui.painter().rect_filled(rect, theme::RADIUS_BAR, color);
}
