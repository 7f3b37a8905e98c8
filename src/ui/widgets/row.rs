//! A row of a list: its ground, and what is in it, side by side at one height.
//!
//! A number ends at its place and is never cut; a name is cut before the number begins.

use egui::style::ScrollAnimation;
use egui::{
    AsIdSalt, Color32, CornerRadius, CursorIcon, FontId, Key, Pos2, Rect, Response, Role, Sense,
    Ui, pos2, vec2,
};

use super::{
    edge, focus_ring_inside, glyph_at, keep_arrows, keyed, line_below, pressed, say, say_selected,
    text_at, text_right,
};
use crate::ui::theme;

/// The rows that are in sight within a viewport, each with its top: from the first one on, so that positions are exact in very
/// long lists as well.
pub fn rows_in_sight(
    origin: Pos2,
    viewport: Rect,
    above: f32,
    height: f32,
    count: usize,
) -> impl Iterator<Item = (usize, f32)> {
    let seen = viewport.min.y;
    let first = ((seen - above) / height).max(0.0) as usize;
    let below = f64::from(above) + first as f64 * f64::from(height) - f64::from(seen);
    let top = (origin.y + seen).round() + below as f32;
    let end = first + (viewport.height() / height) as usize + 3;
    (first..end.min(count)).map(move |at| (at, (top + (at - first) as f32 * height).round()))
}

/// One row on or back, where the row that has the keyboard is left by an arrow; the next is brought into sight.
pub fn arrow_step(ui: &Ui, response: &Response, height: f32) -> i64 {
    keep_arrows(ui, response, true, false);
    let is_pressed = |key| i64::from(pressed(ui, key));
    let step = is_pressed(Key::ArrowDown) - is_pressed(Key::ArrowUp);
    if step != 0 {
        // A row more than the next, so that it is painted and can keep the focus.
        let way = vec2(0.0, step as f32 * height);
        let (one, two) = (
            response.rect.translate(way),
            response.rect.translate(way * 2.0),
        );
        ui.scroll_to_rect_animation(one.union(two), None, ScrollAnimation::none());
    }
    step
}

/// What stands side by side, vertically centred at `y`.
#[derive(Clone, Copy)]
pub struct RowLine<'u> {
    pub ui: &'u Ui,
    pub y: f32,
}

impl<'u> RowLine<'u> {
    /// The line in the middle of a place.
    pub fn new(ui: &'u Ui, place: Rect) -> Self {
        Self {
            ui,
            y: place.center().y,
        }
    }

    /// Text between two places, cut with `…`; where it ends.
    pub fn text(
        &self,
        left: f32,
        right: f32,
        text: impl Into<String>,
        font: FontId,
        color: Color32,
    ) -> f32 {
        text_at(self.ui, pos2(left, self.y), text, font, color, right - left)
    }

    /// Text that ends there, whole; where it begins.
    pub fn number(&self, right: f32, text: impl Into<String>, font: FontId, color: Color32) -> f32 {
        text_right(self.ui, pos2(right, self.y), text, font, color)
    }

    /// An icon around a place.
    pub fn icon(&self, x: f32, icon: &str, size: f32, color: Color32) {
        self.glyph(x, icon, theme::icon_font(size), color);
    }

    /// A filled icon around a place.
    pub fn icon_fill(&self, x: f32, icon: &str, size: f32, color: Color32) {
        self.glyph(x, icon, theme::icon_fill_font(size), color);
    }

    fn glyph(&self, x: f32, icon: &str, font: FontId, color: Color32) {
        glyph_at(self.ui, pos2(x, self.y), icon, font, color);
    }

    /// The square of a colour, which begins there.
    pub fn swatch(&self, left: f32, color: Color32) {
        self.ui
            .painter()
            .rect_filled(self.place(left..=left + 8.0, 8.0), theme::RADIUS_BAR, color);
    }

    /// A place of this height.
    pub fn place(&self, x: std::ops::RangeInclusive<f32>, height: f32) -> Rect {
        Rect::from_x_y_ranges(x, self.y - height / 2.0..=self.y + height / 2.0)
    }
}

/// A row over the width that there is: dereferences to the line in its middle.
pub struct ListRow<'u> {
    line: RowLine<'u>,
    pub rect: Rect,
    pub response: Response,
}

impl<'u> std::ops::Deref for ListRow<'u> {
    type Target = RowLine<'u>;

    fn deref(&self) -> &RowLine<'u> {
        &self.line
    }
}

impl<'u> ListRow<'u> {
    /// A row that can be clicked.
    pub fn new(ui: &'u mut Ui, height: f32) -> Self {
        Self::with(ui, height, Sense::click())
    }

    /// A row that is only read.
    pub fn to_read(ui: &'u mut Ui, height: f32) -> Self {
        Self::with(ui, height, Sense::hover())
    }

    fn with(ui: &'u mut Ui, height: f32, sense: Sense) -> Self {
        let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), height), sense);
        Self::at(ui, rect, response)
    }

    /// A row that can be clicked, told from its neighbours by a key.
    pub fn keyed(ui: &'u mut Ui, height: f32, key: &str) -> Self {
        let (rect, response) = keyed(ui, vec2(ui.available_width(), height), Sense::click(), key);
        Self::at(ui, rect, response)
    }

    /// A row of a list that is one stop of Tab, told from its neighbours by a salt.
    pub fn with_salt(ui: &'u mut Ui, height: f32, salt: impl AsIdSalt) -> Self {
        let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
        let response = ui.interact(rect, ui.scope_id().with(salt), Sense::CLICK);
        Self::at(ui, rect, response)
    }

    /// A row that has its room already.
    pub fn at(ui: &'u Ui, rect: Rect, response: Response) -> Self {
        Self {
            line: RowLine::new(ui, rect),
            rect,
            response,
        }
    }

    /// The line so far below the top, for a row of several.
    pub fn line(&self, below_top: f32) -> RowLine<'u> {
        RowLine {
            y: self.rect.top() + below_top,
            ..self.line
        }
    }

    /// So far from its left edge.
    pub fn inset_left(&self, inset: f32) -> f32 {
        self.rect.left() + inset
    }

    /// So far from its right edge.
    pub fn inset_right(&self, inset: f32) -> f32 {
        self.rect.right() - inset
    }

    pub fn fill(&self, color: Color32) {
        self.ui.painter().rect_filled(self.rect, 0.0, color);
    }

    /// Its ground: selected, below the pointer, with the keyboard.
    pub fn ground(&self, is_selected: bool) {
        self.ground_round(is_selected, CornerRadius::ZERO);
    }

    /// The same with round corners.
    pub fn ground_round(&self, is_selected: bool, radius: CornerRadius) {
        let t = theme::of(self.ui);
        let color = match (is_selected, self.response.hovered()) {
            (true, _) => t.accent_bg,
            (false, true) => t.hover,
            (false, false) => Color32::TRANSPARENT,
        };
        self.ui.painter().rect_filled(self.rect, radius, color);
        focus_ring_inside(self.ui, &self.response);
    }

    /// The same with an edge where it is selected.
    pub fn ground_edged(&self, is_selected: bool) {
        self.ground(is_selected);
        if is_selected {
            edge(self.ui, self.rect, theme::of(self.ui).accent);
        }
    }

    /// What a screen reader says of it.
    pub fn say(&self, role: Role, text: impl Into<String>) {
        say(&self.response, role, text);
    }

    /// What a screen reader says of it as an entry of a list.
    pub fn say_entry(&self, is_selected: bool, text: impl Into<String>) {
        say_selected(&self.response, Role::ListItem, is_selected, text);
    }

    /// Ends an entry that is only read: a line below, and its words for a screen reader and on hover.
    pub fn say_below(self, text: String) {
        line_below(self.ui, self.rect);
        self.say(Role::ListItem, &text);
        self.response.on_hover_text(text);
    }

    /// Whether it was clicked; the pointer is a hand over it.
    pub fn clicked(self) -> bool {
        let response = self.response.on_hover_cursor(CursorIcon::PointingHand);
        response.clicked()
    }
}
