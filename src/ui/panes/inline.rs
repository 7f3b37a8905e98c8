//! Inline Markdown on its way to the painter: fonts and colours for looks, and links that are shown before they open.

use std::sync::Arc;

use egui::text::{LayoutJob, TextFormat, TextWrapping};
use egui::{Align, Color32, CursorIcon, Galley, Pos2, Role, Sense, Stroke, Ui, Vec2, WidgetInfo};

use super::markdown::{Inline, Look};
use crate::state::Action;
use crate::ui::Cx;
use crate::ui::marks;
use crate::ui::rtl::{self, Order};
use crate::ui::theme::{self, ThemeTokens};
use crate::ui::widgets;

/// The face of a stretch of Markdown.
#[derive(Clone, Copy, Debug)]
pub struct Font {
    pub size: f32,
    pub is_heading: bool,
    pub line_height: f32,
}

impl Default for Font {
    fn default() -> Self {
        Self {
            size: 13.0,
            is_heading: false,
            line_height: 20.0,
        }
    }
}

fn format(t: &ThemeTokens, look: Look, font: &Font) -> TextFormat {
    let is_bold = look.is_bold || font.is_heading;
    let size = font.size;
    let id = match (look.is_code || look.is_special, is_bold) {
        (true, true) => theme::mono_semibold(size - 1.0),
        (true, false) => theme::mono(size - 1.0),
        (false, true) => theme::semibold(size),
        (false, false) => theme::regular(size),
    };
    let color = if look.is_special {
        t.warn
    } else if look.is_link {
        t.accent
    } else if look.is_weak {
        t.weak
    } else if is_bold {
        t.strong
    } else {
        t.text
    };
    let line = |is_drawn| {
        if is_drawn {
            Stroke::new(1.0, color)
        } else {
            Stroke::NONE
        }
    };
    TextFormat {
        font_id: id,
        color,
        background: if let Some(severity) = look.marked {
            marks::mark_colors(t, severity).0
        } else if look.is_special {
            t.warn_bg
        } else if look.is_code {
            t.hover
        } else {
            Color32::TRANSPARENT
        },
        italics: look.is_italic,
        underline: line(look.is_link),
        strikethrough: line(look.is_struck),
        line_height: Some(font.line_height.max(size * 1.4)),
        valign: Align::Center,
        ..TextFormat::default()
    }
}

/// Lays inline Markdown out in `width`.
pub fn layout(ui: &Ui, inline: &Inline, font: &Font, width: f32, halign: Align) -> Arc<Galley> {
    let t = theme::of(ui);
    let mut job = LayoutJob {
        wrap: TextWrapping::wrap_at_width(width),
        halign,
        ..LayoutJob::default()
    };
    let mut start = 0;
    for &(end, look) in &inline.spans {
        job.append(&inline.text[start..end], 0.0, format(t, look, font));
        start = end;
    }
    rtl::layout(ui, job, Order::Prose)
}

/// The byte of the text that is painted at a place of its galley, where there is one.
pub fn byte_at(text: &str, galley: &Galley, place: Vec2) -> Option<usize> {
    let at = rtl::char_at(galley, place)?;
    text.char_indices().nth(at).map(|(at, _)| at)
}

/// Makes the links of a galley painted at `at` work: the address is shown on hover, and asked about before it opens.
pub fn links_ui(ui: &mut Ui, cx: &Cx<'_>, inline: &Inline, galley: &Galley, at: Pos2) {
    for (position, (range, url)) in inline.links.iter().enumerate() {
        if range.is_empty() {
            continue;
        }
        let char = |byte: usize| inline.text[..byte].chars().count();
        // Where it is broken, its first line is what is clicked.
        let places = rtl::places(galley, &(char(range.start)..char(range.end)));
        let Some(rect) = places.first().map(|place| place.translate(at.to_vec2())) else {
            continue;
        };
        let is_web = loupe_core::source::is_web(url);
        let response = widgets::sense(
            ui,
            rect,
            ("link", position),
            if is_web {
                Sense::click()
            } else {
                Sense::hover()
            },
        );
        let text = &inline.text[range.clone()];
        response.widget_info(|| WidgetInfo::labeled(Role::Link, is_web, text));
        if is_web {
            let response = response
                .on_hover_cursor(CursorIcon::PointingHand)
                .on_hover_text(url);
            if response.clicked() {
                cx.send(Action::OpenLink(url.clone()));
            }
        } else {
            response.on_hover_text(format!(
                "{url}\nnot opened: only http and https addresses are"
            ));
        }
    }
}
