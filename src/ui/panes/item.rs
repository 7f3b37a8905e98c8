//! Painting one thing of Markdown: a heading, a paragraph, a point of a list, a block of code. Code is the library's,
//! everything else is drawn here.

use std::sync::Arc;

use egui::text::{LayoutJob, TextFormat, TextWrapping};
use egui::{Pos2, Rect, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};
use egui_commonmark::{CommonMarkCache, CommonMarkViewer};

use super::glyph;
use super::inline::{Font, byte_at, layout, links_ui};
use super::markdown::{self, ItemKind};
use crate::state::ViewAction;
use crate::ui::Cx;
use crate::ui::rtl::{self, Order};
use crate::ui::theme;
use crate::ui::widgets;
use loupe_analysis::queries::invisible_chars::Shown;

/// Space to the left and right of the text.
pub const SIDE: f32 = 16.0;

/// Where an item is painted.
pub struct ItemPlace {
    pub top: Pos2,
    /// Of the whole pane.
    pub width: f32,
    /// The record it belongs to: a click selects it.
    pub record: Option<usize>,
    pub is_linked: bool,
    /// Whether nothing is above it, so that a heading needs no space there.
    pub is_first: bool,
    /// Tells it from other items of its pane.
    pub salt: usize,
}

/// Paints one item and returns its height.
pub fn item_ui(
    ui: &mut Ui,
    cx: &Cx<'_>,
    item: &markdown::Item,
    place: &ItemPlace,
    cache: &mut CommonMarkCache,
) -> f32 {
    let t = theme::of(ui);
    let ItemPlace {
        top, width, record, ..
    } = *place;
    let left =
        top.x + SIDE + item.indent.saturating_sub(1) as f32 * 20.0 + item.quote as f32 * 14.0;
    let left = if item.indent > 0 { left + 18.0 } else { left };
    let room = (top.x + width - SIDE - left).max(80.0);
    let (inline, font, above, below) = match &item.kind {
        ItemKind::Heading(level, inline) => {
            let size = match level {
                1 => 20.0,
                2 => 17.0,
                3 => 14.0,
                _ => 13.0,
            };
            (
                inline,
                Font {
                    size,
                    is_heading: true,
                    ..Font::default()
                },
                if place.is_first { 0.0 } else { 10.0 },
                8.0,
            )
        }
        ItemKind::Paragraph(inline) => (
            inline,
            Font::default(),
            2.0,
            if item.indent > 0 { 2.0 } else { 8.0 },
        ),
        ItemKind::Point(_, inline) => (inline, Font::default(), 1.0, 2.0),
        ItemKind::Rule => {
            ui.painter().hline(
                left..=top.x + width - SIDE,
                top.y + 10.0,
                Stroke::new(1.0, t.line2),
            );
            return 20.0;
        }
        ItemKind::Source(text) => return raw(ui, text, left, top.y, room),
        // The library shapes a line as one run: a right-to-left name would turn the rest of its line around.
        ItemKind::Code(fenced) if rtl::has_rtl(fenced) => {
            let code = fenced
                .split_once('\n')
                .and_then(|(_, rest)| rest.rsplit_once('\n'))
                .map_or("", |(code, _)| code);
            return raw(ui, code, left, top.y, room);
        }
        ItemKind::Code(fenced) => {
            let rect = Rect::from_min_size(pos2(left, top.y + 2.0), vec2(room, f32::INFINITY));
            let mut child = ui.new_child(widgets::region(ui, ("code", place.salt)).max_rect(rect));
            child.style_mut().interaction.selectable_labels = true;
            // Its copy button must fit into a block of one line.
            child.spacing_mut().button_padding = vec2(8.0, 4.0);
            child.spacing_mut().interact_size.y = 16.0;
            CommonMarkViewer::new().show(&mut child, cache, fenced);
            return child.min_rect().height() + 12.0;
        }
    };
    let galley = layout(ui, inline, &font, room, egui::Align::LEFT);
    let height = (galley.size().y + above + below).ceil();
    let rect = Rect::from_min_size(top, vec2(width, height));
    let response = widgets::sense(
        ui,
        rect,
        "item",
        if record.is_some() {
            Sense::click()
        } else {
            Sense::hover()
        },
    );
    ground(
        ui,
        rect,
        place.is_linked,
        record.is_some() && response.hovered(),
    );
    for depth in 0..item.quote {
        let x = top.x + SIDE + depth as f32 * 14.0 + item.indent as f32 * 18.0;
        ui.painter().rect_filled(
            Rect::from_min_size(pos2(x, top.y), vec2(3.0, height)),
            theme::RADIUS_BAR,
            t.line2,
        );
    }
    if let ItemKind::Point(marker, _) = &item.kind {
        let at = pos2(left - 8.0, top.y + above + 10.0);
        widgets::text_right(ui, at, marker.clone(), theme::base(), t.weak);
    }
    let at = pos2(left, top.y + above);
    ui.painter().galley(at, Arc::clone(&galley), t.text);
    let role = if matches!(item.kind, ItemKind::Heading(..)) {
        Role::Heading
    } else {
        Role::Label
    };
    widgets::say(&response, role, &inline.text);
    if let Some(byte) = response
        .hover_pos()
        .and_then(|pointer| byte_at(&inline.text, &galley, pointer - at))
    {
        glyph::tip(cx, &response, &inline.text, byte);
    }
    if response.clicked() {
        select(cx, record);
    }
    links_ui(ui, cx, inline, &galley, at);
    height
}

/// A click on a record selects it in all panes; on the selected one, lets it go.
pub fn select(cx: &Cx<'_>, record: Option<usize>) {
    if let Some(record) = record {
        cx.send(ViewAction::SelectRecord(
            (cx.state.view.record != Some(record)).then_some(record),
        ));
    }
}

/// The light ground and left bar of a linked place.
pub fn ground(ui: &Ui, rect: Rect, is_linked: bool, is_hovered: bool) {
    let t = theme::of(ui);
    if is_linked {
        ui.painter().rect_filled(rect, 0.0, t.accent_bg);
        widgets::edge(ui, rect, t.accent);
    } else if is_hovered {
        ui.painter()
            .rect_filled(rect, 0.0, t.hover.gamma_multiply(0.6));
    }
}

/// Text that has no form: raw HTML, JSON, the members of a block.
pub fn raw(ui: &mut Ui, text: &str, left: f32, top: f32, width: f32) -> f32 {
    let t = theme::of(ui);
    let text = Shown::of(text).text;
    let mut job = LayoutJob {
        wrap: TextWrapping::wrap_at_width((width - 24.0).max(80.0)),
        ..LayoutJob::default()
    };
    job.append(&text, 0.0, TextFormat::simple(theme::code(), t.text));
    let galley = rtl::layout(ui, job, Order::Line);
    let rect = Rect::from_min_size(pos2(left, top + 2.0), vec2(width, galley.size().y + 16.0));
    widgets::boxed(ui, rect, theme::RADIUS_CONTROL, t.card, t.line);
    ui.painter()
        .galley(rect.min + vec2(12.0, 8.0), galley, t.text);
    widgets::sense(ui, rect, "raw", Sense::hover())
        .widget_info(|| WidgetInfo::labeled(Role::Label, true, &text));
    rect.height() + 12.0
}
