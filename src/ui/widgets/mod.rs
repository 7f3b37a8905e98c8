//! The controls and marks every region shares. Each has a name in the accessibility tree and the states of the design.

mod button;
mod field;
mod mark;
mod modal;
mod mode;
mod notice;
mod number;
mod row;
mod summary;
mod words;

use std::any::Any;
use std::sync::Arc;

use egui::{
    Align, AsIdSalt, Color32, CornerRadius, EventFilter, FontId, Frame, Galley, Id, InnerResponse,
    Key, Layout, Margin, Modifiers, Pos2, Rangef, Rect, Response, ScrollArea, Sense, Stroke,
    StrokeKind, Ui, UiBuilder, Vec2, pos2, vec2,
};

pub use button::{
    Button, button, choose_item, choose_row, context_menu, icon_button, icon_button_with,
    menu_item, menu_row, primary_button, segmented, switch, tab,
};
pub use field::LineEdit;
pub use mark::{
    Tone, badge, chip, chip_width, key_cap, key_cap_at, key_cap_width, letter_at, swatch,
};
pub use modal::{
    cancel, focus_first, focus_opened, modal, modal_frame, modal_room, paragraph, title,
};
pub use mode::{mode_body, mode_head};
pub use notice::{MOVES_AFTER, empty_ui, held_ui, problem_ui, ready, waiting};
pub use number::{
    bytes, count_text, grouped, grouping, number_at, number_right, number_text, number_width,
    seconds,
};
pub use row::{ListRow, RowLine, arrow_step, rows_in_sight};
pub use summary::summary_rows;
pub use words::{
    note, note_wrapped, say, say_selected, styled, truncated, truncated_with, words, wrapped,
};

use super::rtl;
use super::theme;

/// Text on one line, vertically centred at `left`; elided with `…` beyond `width`. Returns where it ends.
pub fn text_at(
    ui: &Ui,
    left: Pos2,
    text: impl Into<String>,
    font: FontId,
    color: Color32,
    width: f32,
) -> f32 {
    let mut job = egui::text::LayoutJob {
        break_on_newline: false,
        ..Default::default()
    };
    job.append(&text.into(), 0.0, egui::TextFormat::simple(font, color));
    job.wrap = egui::text::TextWrapping::truncate_at_width(width.max(0.0));
    let galley = rtl::layout(ui, job, rtl::Order::Line);
    let size = galley.size();
    ui.painter()
        .galley(pos2(left.x, (left.y - size.y / 2.0).round()), galley, color);
    left.x + size.x
}

/// A name in one line, vertically centred; elided before its end, which tells it from others that begin alike. Returns where
/// it ends.
pub fn name_at(ui: &Ui, left: Pos2, name: &str, font: FontId, color: Color32, width: f32) -> f32 {
    const END: usize = 10;
    let size = |text: &str| text_width(ui, text, font.clone());
    let cut = name
        .char_indices()
        .nth_back(END - 1)
        .map_or(0, |(at, _)| at);
    let end = size(&name[cut..]);
    if size(name) <= width || end * 2.0 > width {
        return text_at(ui, left, name, font, color, width);
    }
    let next = text_at(ui, left, &name[..cut], font.clone(), color, width - end);
    text_at(
        ui,
        pos2(next, left.y),
        &name[cut..],
        font,
        color,
        left.x + width - next,
    )
}

/// Words that stand whole or not at all, vertically centred. Returns where they end.
pub fn text_whole(
    ui: &Ui,
    left: Pos2,
    text: impl Into<String>,
    font: FontId,
    color: Color32,
    width: f32,
) -> f32 {
    let galley = ui.painter().layout_no_wrap(text.into(), font, color);
    let size = galley.size();
    if size.x > width {
        return left.x;
    }
    ui.painter()
        .galley(pos2(left.x, (left.y - size.y / 2.0).round()), galley, color);
    left.x + size.x
}

/// Text that ends at `right`, vertically centred. Never elided: it is for numbers. Returns where it begins.
pub fn text_right(
    ui: &Ui,
    right: Pos2,
    text: impl Into<String>,
    font: FontId,
    color: Color32,
) -> f32 {
    let galley = ui.painter().layout_no_wrap(text.into(), font, color);
    let size = galley.size();
    ui.painter().galley(
        pos2((right.x - size.x).round(), (right.y - size.y / 2.0).round()),
        galley,
        color,
    );
    right.x - size.x
}

/// A glyph centred at a point.
pub fn glyph_at(ui: &Ui, center: Pos2, glyph: &str, font: FontId, color: Color32) {
    let galley = ui.painter().layout_no_wrap(glyph.to_owned(), font, color);
    let size = galley.size();
    ui.painter().galley(
        pos2(
            (center.x - size.x / 2.0).round(),
            (center.y - size.y / 2.0).round(),
        ),
        galley,
        color,
    );
}

/// What is said there, and what it turns to later, a screen reader says aloud.
pub fn announce(ui: &Ui, id: Id) {
    ui.accesskit_node_builder(id, |node| node.set_live(egui::accesskit::Live::Polite));
}

/// The ring around a control that has the keyboard.
pub fn focus_ring(ui: &Ui, response: &Response, radius: egui::CornerRadius) {
    if response.has_focus() {
        let t = theme::of(ui);
        ui.painter().rect_stroke(
            response.rect.expand(1.0),
            radius,
            Stroke::new(2.0, t.accent),
            StrokeKind::Outside,
        );
    }
}

/// The ring inside a row that has the keyboard.
pub fn focus_ring_inside(ui: &Ui, response: &Response) {
    if response.has_focus() {
        let t = theme::of(ui);
        outline(ui, response.rect, theme::RADIUS_BAR, t.accent);
    }
}

/// A horizontal separator of one pixel over the width that is left.
pub fn separator(ui: &mut Ui) {
    let (rect, _) = full_width(ui, 1.0, Sense::hover());
    ui.painter().rect_filled(rect, 0.0, theme::of(ui).line);
}

/// A line of the frame.
pub fn hline(ui: &Ui, x: impl Into<Rangef>, y: f32) {
    let stroke = Stroke::new(1.0, theme::of(ui).line);
    ui.painter().hline(x, y, stroke);
}

/// A line of the frame.
pub fn vline(ui: &Ui, x: f32, y: impl Into<Rangef>) {
    let stroke = Stroke::new(1.0, theme::of(ui).line);
    ui.painter().vline(x, y, stroke);
}

/// The line that ends a row.
pub fn line_below(ui: &Ui, rect: Rect) {
    hline(ui, rect.x_range(), rect.bottom() - 0.5);
}

/// The edge at the left of what is selected, or marked otherwise.
pub fn edge(ui: &Ui, rect: Rect, color: Color32) {
    let edge = rect.with_max_x(rect.left() + 2.0);
    ui.painter().rect_filled(edge, 0.0, color);
}

/// A filled box with a border.
pub fn boxed(ui: &Ui, rect: Rect, radius: impl Into<CornerRadius>, fill: Color32, line: Color32) {
    let (stroke, kind) = (Stroke::new(1.0, line), StrokeKind::Inside);
    ui.painter().rect(rect, radius, fill, stroke, kind);
}

/// A border.
pub fn outline(ui: &Ui, rect: Rect, radius: impl Into<CornerRadius>, line: Color32) {
    boxed(ui, rect, radius, Color32::TRANSPARENT, line);
}

/// How wide a text is on one line.
pub fn text_width(ui: &Ui, text: impl Into<String>, font: FontId) -> f32 {
    let galley = ui
        .painter()
        .layout_no_wrap(text.into(), font, Color32::PLACEHOLDER);
    galley.size().x
}

/// What is kept for an id from frame to frame.
pub fn recall<T: 'static + Clone>(ui: &Ui, id: Id) -> Option<T> {
    ui.data(|data| data.get_temp(id))
}

/// Keeps something for an id until the next frames.
pub fn remember<T: 'static + Any + Clone + Send + Sync>(ui: &Ui, id: Id, value: T) {
    ui.data_mut(|data| data.insert_temp(id, value));
}

/// Room over the whole width.
pub fn full_width(ui: &mut Ui, height: f32, sense: Sense) -> (Rect, Response) {
    ui.allocate_exact_size(vec2(ui.available_width(), height), sense)
}

/// A place that reacts, told from its neighbours by a salt.
pub fn sense(ui: &Ui, place: Rect, salt: impl AsIdSalt, sense: Sense) -> Response {
    ui.interact(place, ui.scope_id().with(salt), sense)
}

/// Content within a margin.
pub fn padded<R>(
    ui: &mut Ui,
    margin: impl Into<Margin>,
    content: impl FnOnce(&mut Ui) -> R,
) -> InnerResponse<R> {
    Frame::new().inner_margin(margin).show(ui, content)
}

/// An area that scrolls down and fills its room.
pub fn scroll(salt: impl AsIdSalt) -> ScrollArea {
    ScrollArea::vertical().id_salt(salt).auto_shrink(false)
}

/// An area that scrolls down, so high, or less where there is less in it.
pub fn scroll_within(salt: impl AsIdSalt, height: f32) -> ScrollArea {
    let area = scroll(salt).max_height(height).min_scrolled_height(height);
    area.auto_shrink([false, true])
}

/// Controls from the right end of the room, the first the rightmost.
pub fn from_right<R>(ui: &mut Ui, content: impl FnOnce(&mut Ui) -> R) -> InnerResponse<R> {
    ui.with_layout(Layout::right_to_left(Align::Center), content)
}

/// Whether a key was pressed, without another; nothing else sees it then.
pub fn pressed(ui: &Ui, key: Key) -> bool {
    ui.input_mut(|input| input.consume_key(Modifiers::NONE, key))
}

/// What has the keyboard gets these arrows itself; they do not move the keyboard on.
pub fn keep_arrows(ui: &Ui, response: &Response, vertical_arrows: bool, horizontal_arrows: bool) {
    let filter = EventFilter {
        vertical_arrows,
        horizontal_arrows,
        ..EventFilter::default()
    };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
}

/// What is laid out, vertically centred at `left`.
pub fn galley_at(ui: &Ui, left: Pos2, galley: Arc<Galley>, color: Color32) {
    let top = (left.y - galley.size().y / 2.0).round();
    ui.painter().galley(pos2(left.x, top), galley, color);
}

/// The height of as many whole rows as fit: a list shows no half of one at its end.
pub fn whole_rows(available: f32, row: f32) -> f32 {
    // A line of the frame may take a pixel.
    (((available + 2.0) / row).floor() * row).max(row)
}

/// A small bar: the share `part` of `rect`, over its track.
pub fn bar(ui: &Ui, rect: Rect, part: f32, color: Color32) {
    ui.painter()
        .rect_filled(rect, theme::RADIUS_BAR, theme::of(ui).hover);
    let mut filled = rect;
    filled.set_width((rect.width() * part.clamp(0.0, 1.0)).max(2.0));
    ui.painter().rect_filled(filled, theme::RADIUS_BAR, color);
}

/// A part of the window of its own. What is in it keeps its identity whatever comes before it, so that a press and a release
/// between which a result arrives are still one click.
pub fn region(ui: &Ui, salt: impl AsIdSalt) -> UiBuilder {
    UiBuilder::new().scope_id(ui.scope_id().with(salt))
}

/// Paints a [`region`] in its room.
pub fn part<R>(
    ui: &mut Ui,
    salt: impl AsIdSalt,
    room: Rect,
    content: impl FnOnce(&mut Ui) -> R,
) -> InnerResponse<R> {
    ui.scope_builder(region(ui, salt).max_rect(room), content)
}

/// The same with all of it on one line.
pub fn line_part<R>(
    ui: &mut Ui,
    salt: impl AsIdSalt,
    room: Rect,
    content: impl FnOnce(&mut Ui) -> R,
) -> InnerResponse<R> {
    let line = Layout::left_to_right(Align::Center);
    ui.scope_builder(region(ui, salt).max_rect(room).layout(line), content)
}

/// Room for a control that is told from its neighbours by a key, not by how many of them there are: they come and go.
/// Directly in a [`region`]: what is laid out in a row of its own is again told by what comes before the row.
pub fn keyed(ui: &mut Ui, size: Vec2, sense: Sense, key: &str) -> (Rect, Response) {
    let id = ui.unique_id().with(key);
    let (_, room) = ui.allocate_space(size);
    (
        ui.layout().align_size_within_rect(size, room),
        ui.interact(room, id, sense),
    )
}

/// Controls at the right end of a row, the first the rightmost.
pub fn at_right<R>(ui: &mut Ui, height: f32, content: impl FnOnce(&mut Ui) -> R) -> R {
    ui.allocate_ui_with_layout(
        vec2(ui.available_width(), height),
        Layout::right_to_left(Align::Center),
        content,
    )
    .inner
}
