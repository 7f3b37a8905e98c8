//! Badges and swatches: small labels, each readable without its colour.

use egui::{Align, Color32, Pos2, Rect, Response, Role, Sense, Ui, pos2, vec2};

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

/// A badge of 18 px: filled where it is declared or counted, outlined where it is only a default.
pub fn badge(
    ui: &mut Ui,
    icon: Option<&str>,
    text: &str,
    tone: Tone,
    is_outlined: bool,
) -> Response {
    const SIZE: f32 = 11.0;
    let t = theme::of(ui);
    let (mut color, fill, line) = tone.colors(t);
    if is_outlined && tone == Tone::Plain {
        color = t.weak;
    }
    let words = super::text_width(ui, text, theme::medium(SIZE));
    let icon_width = if icon.is_some() {
        SIZE + if text.is_empty() { 0.0 } else { 4.0 }
    } else {
        0.0
    };
    let (rect, response) = ui.allocate_exact_size(
        vec2((10.0 + icon_width + words).ceil(), theme::BADGE),
        Sense::hover(),
    );
    if ui.is_rect_visible(rect) {
        let fill = if is_outlined {
            Color32::TRANSPARENT
        } else {
            fill
        };
        super::boxed(ui, rect, theme::RADIUS_BADGE, fill, line);
        let left = rect.left() + 5.0;
        if let Some(icon) = icon {
            let font = if is_outlined {
                theme::icon_font(SIZE + 1.0)
            } else {
                theme::icon_fill_font(SIZE + 1.0)
            };
            glyph_at(
                ui,
                pos2(left + SIZE / 2.0, rect.center().y),
                icon,
                font,
                color,
            );
        }
        text_at(
            ui,
            pos2(left + icon_width, rect.center().y),
            text,
            theme::medium(SIZE),
            color,
            f32::INFINITY,
        );
    }
    super::say(&response, Role::Label, text);
    response
}

/// Small words in a box that begins there, or ends there where it is aligned so.
pub fn chip(ui: &Ui, at: Pos2, from: Align, text: &str, tone: Tone, size: f32) -> Rect {
    let (color, fill, line) = tone.colors(theme::of(ui));
    let (pad, height) = chip_room(size);
    let width = chip_width(ui, text, size);
    let left = if from == Align::Max {
        at.x - width
    } else {
        at.x
    };
    let corner = pos2(left.round(), (at.y - height / 2.0).round());
    let rect = Rect::from_min_size(corner, vec2(width, height));
    super::boxed(ui, rect, theme::RADIUS_BADGE, fill, line);
    let inside = pos2(rect.left() + pad, rect.center().y);
    text_at(ui, inside, text, theme::medium(size), color, f32::INFINITY);
    rect
}

/// How wide the chip of this text is.
pub fn chip_width(ui: &Ui, text: &str, size: f32) -> f32 {
    let (pad, _) = chip_room(size);
    (super::text_width(ui, text, theme::medium(size)) + 2.0 * pad).round()
}

/// Room on each side of a chip's text, and the chip's height.
fn chip_room(size: f32) -> (f32, f32) {
    if size < 11.0 {
        (5.0, 16.0)
    } else {
        (6.0, theme::BADGE)
    }
}

/// The square of a format's hue; the name always is next to it.
pub fn swatch(ui: &mut Ui, color: Color32) {
    let (rect, _) = ui.allocate_exact_size(vec2(8.0, 8.0), Sense::hover());
    ui.painter().rect_filled(rect, theme::RADIUS_BAR, color);
}

/// Room within a key cap, next to the keys and above and below them.
const CAP_PAD: egui::Vec2 = vec2(5.0, 1.5);

fn keys_laid(ui: &Ui, keys: &str) -> std::sync::Arc<egui::Galley> {
    ui.painter().layout_no_wrap(
        keys.to_owned(),
        theme::mono(11.0),
        egui::Color32::PLACEHOLDER,
    )
}

/// How wide the cap of these keys is.
pub fn key_cap_width(ui: &Ui, keys: &str) -> f32 {
    keys_laid(ui, keys).size().x + 2.0 * CAP_PAD.x
}

/// Keys in a box that ends there, vertically centred; where it begins.
pub fn key_cap_at(
    ui: &Ui,
    right: egui::Pos2,
    keys: &str,
    color: egui::Color32,
    line: egui::Color32,
) -> f32 {
    let keys = keys_laid(ui, keys);
    let size = keys.size() + 2.0 * CAP_PAD;
    let place = egui::Rect::from_min_size(
        egui::pos2(right.x - size.x, (right.y - size.y / 2.0).round()),
        size,
    );
    super::outline(ui, place, theme::RADIUS_BADGE, line);
    ui.painter()
        .galley((place.min + CAP_PAD).round(), keys, color);
    place.left()
}

/// Keys in a box, as a label.
pub fn key_cap(ui: &mut Ui, keys: &str) {
    let t = theme::of(ui);
    let (rect, response) =
        ui.allocate_exact_size(vec2(key_cap_width(ui, keys), theme::BADGE), Sense::hover());
    key_cap_at(ui, rect.right_center(), keys, t.strong, t.line2);
    super::say(&response, Role::Label, keys);
}

/// The letter of a side of a comparison, in its box.
pub fn letter_at(ui: &Ui, center: Pos2, letter: &str) {
    let t = theme::of(ui);
    let rect = Rect::from_center_size(center, vec2(20.0, 20.0));
    let (color, fill, line) = if letter == "B" {
        (t.accent, t.accent_bg, t.accent_line)
    } else {
        (t.strong, t.card, t.line2)
    };
    super::boxed(ui, rect, theme::RADIUS_BADGE, fill, line);
    glyph_at(ui, center, letter, theme::semibold(12.0), color);
}
