//! The exact bytes of a format: offset, hexadecimal, and what is ASCII of them. Only the rows in sight are laid out.

use std::ops::Range;

use egui::{Id, Key, Modifiers, Rect, Role, Sense, StrokeKind, Ui, WidgetInfo, pos2, vec2};

use super::header::Chooser;
use super::select::between;
use super::title::Title;
use super::{CopyAction, Pane, PaneCx, find};
use crate::state::{Action, PaneContent, PaneView, ViewAction};
use crate::ui::Cx;
use crate::ui::marks;
use crate::ui::theme::{self, TEXT_ROW, ThemeTokens};
use crate::ui::widgets::{self, Button};
use loupe_analysis::finding::MarkedText;
use loupe_analysis::queries::{BytesQuery, TextQuery};
use loupe_core::capture::CaptureId;
use loupe_core::format::ParsedCapture;
use loupe_core::format::format_title;

/// The selected bytes of a pane: where the selection began, and where it went to.
#[derive(Clone, Debug, Default, PartialEq)]
struct HexSelection {
    of: Option<CaptureId>,
    anchor: usize,
    head: usize,
}

impl HexSelection {
    fn new(ui: &Ui, cx: &Cx<'_>, pane: &PaneCx) -> Self {
        let known: Self = widgets::recall(ui, selection_id(pane)).unwrap_or_default();
        if known.of == cx.state.view.capture {
            known
        } else {
            Self {
                of: cx.state.view.capture.clone(),
                ..Self::default()
            }
        }
    }

    fn range(&self, len: usize) -> Range<usize> {
        let last = len.saturating_sub(1);
        self.anchor.min(self.head).min(last)..(self.anchor.max(self.head).min(last) + 1).min(len)
    }
}

fn selection_id(pane: &PaneCx) -> Id {
    Id::unique(("hex selection", pane.index, pane.format))
}

/// Bytes as text: `e2 9a a0`, sixteen a line.
fn hex_text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 3);
    for (at, byte) in bytes.iter().enumerate() {
        if at > 0 {
            text.push(if at % 16 == 0 { '\n' } else { ' ' });
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

/// What stands for a byte next to its number.
fn ascii(byte: u8) -> char {
    if byte.is_ascii_graphic() || byte == b' ' {
        char::from(byte)
    } else {
        '·'
    }
}

/// The character that a byte is part of, and where it stands; `None` where the bytes are not UTF-8.
fn char_at(bytes: &[u8], at: usize) -> Option<(char, Range<usize>)> {
    let start = (at.saturating_sub(3)..=at)
        .rev()
        .find(|start| bytes[*start] & 0xc0 != 0x80)?;
    let chunk = bytes[start..bytes.len().min(start + 4)]
        .utf8_chunks()
        .next()?;
    let char = chunk.valid().chars().next()?;
    let place = start..start + char.len_utf8();
    place.contains(&at).then_some((char, place))
}

/// How a row is laid out, in characters from its left.
struct HexRow {
    /// Bytes in a row.
    count: usize,
    /// Digits of an offset.
    digits: usize,
}

impl HexRow {
    fn fitting(len: usize, columns: usize) -> Self {
        let digits = format!("{len:x}").len().max(6);
        let count = [16, 8, 4]
            .into_iter()
            .find(|count| digits + 2 + count * 4 + 2 <= columns)
            .unwrap_or(4);
        Self { count, digits }
    }

    fn hex(&self, byte: usize) -> usize {
        self.digits + 2 + byte * 3
    }

    fn text(&self, byte: usize) -> usize {
        self.digits + 2 + self.count * 3 + 1 + byte
    }
}

pub static PANE: Pane = Pane {
    title,
    choices,
    options: None,
    copy,
    body: hex_ui,
    footer: footer_ui,
};

fn title(_: &Cx<'_>, view: PaneView, _: Option<&ParsedCapture>, t: &ThemeTokens) -> Title {
    let PaneContent::Format(format) = view.content() else {
        return Title::new("Hex", "", "content", t);
    };
    Title::new("Hex", format_title(format), format, t)
}

fn choices(ui: &mut Ui, _: &Cx<'_>, chooser: &Chooser<'_>) {
    chooser.heading(ui, "Exact bytes, hexadecimal");
    for format in ["content", "wire"] {
        chooser.offer(ui, PaneView::Hex(format), format_title(format));
    }
}

fn copy<'a>(cx: &Cx<'a>, view: PaneView) -> Option<CopyAction<'a>> {
    let PaneContent::Format(format) = view.content() else {
        return None;
    };
    let bytes = cx.ready(BytesQuery(format))?;
    Some(Box::new(|| Action::Copy(hex_text(bytes))))
}

fn hex_ui(ui: &mut Ui, cx: &Cx<'_>, pane: &PaneCx) {
    let Some(bytes) = super::ready(ui, cx, cx.ask(BytesQuery(pane.format))) else {
        return;
    };
    let t = theme::of(ui);
    let char_width = widgets::text_width(ui, "0".repeat(64), theme::code()) / 64.0;
    let layout = HexRow::fitting(
        bytes.len(),
        ((ui.available_width() - 24.0) / char_width) as usize,
    );
    let rows = bytes.len().div_ceil(layout.count);
    let mut selected = HexSelection::new(ui, cx, pane);
    let outer = ui.available_rect_before_wrap();
    let response = ui.interact(
        outer,
        Id::unique(("hex", pane.index)),
        Sense::click_and_drag(),
    );
    let spoken = || {
        format!(
            "{}, {} in hexadecimal",
            format_title(pane.format),
            widgets::number_text(bytes.len() as u64, "B")
        )
    };
    widgets::say(&response, Role::Document, spoken());
    keys(ui, cx, &response, bytes, layout.count, &mut selected);
    let mut area = widgets::scroll(("hex", pane.index, pane.format));
    let goto: Option<usize> = ui.data_mut(|data| data.remove_temp(pane.goto_id()));
    let moved = Some(selected.head).filter(|_| selected != HexSelection::new(ui, cx, pane));
    if let Some(offset) = goto.or(moved) {
        let row = (offset / layout.count) as f32 * TEXT_ROW;
        let (top, height) = pane.visible(ui);
        if row < top || row + TEXT_ROW * 2.0 > top + height {
            area = area.vertical_scroll_offset((row - height * 0.3).max(0.0));
        }
    }
    // Offsets of what was found are those of the text, which are the bytes' where it is UTF-8.
    let places = find::places(cx, pane);
    let is_marked = !places.is_empty() || marks::visible_marks(cx).is_some();
    let is_exact = is_marked
        && cx
            .ready(TextQuery(pane.format))
            .is_some_and(|view| view.is_exact);
    let found = if is_exact { places } else { &[] };
    let current = find::current(ui, cx, pane);
    let marked = if is_exact {
        marks::marked_texts(cx, MarkedText::Format(pane.format))
    } else {
        Vec::new()
    };
    let range = selected.range(bytes.len());
    let output = area.show_viewport(ui, |ui, viewport| {
        let origin = ui.min_rect().min;
        ui.allocate_rect(
            Rect::from_min_size(
                origin,
                vec2(viewport.width(), rows as f32 * TEXT_ROW + 16.0),
            ),
            Sense::hover(),
        );
        let left = origin.x + 12.0;
        let in_sight: Vec<_> =
            widgets::rows_in_sight(origin, viewport, 8.0, TEXT_ROW, rows).collect();
        let (first, top) = in_sight.first().copied().unwrap_or_default();
        for (row, y) in in_sight {
            let start = row * layout.count;
            let part = &bytes[start..bytes.len().min(start + layout.count)];
            let span = |column: usize, chars: usize| {
                Rect::from_min_size(
                    pos2(left + column as f32 * char_width, y),
                    vec2(chars as f32 * char_width, TEXT_ROW),
                )
            };
            for (at, _) in part.iter().enumerate() {
                let offset = start + at;
                let mark = between(found, &(offset..offset + 1)).next();
                let fill = match mark {
                    _ if range.contains(&offset) => Some(t.sel),
                    Some(mark) => Some(find::colors(t, current == Some(mark)).0),
                    None => marks::of_byte(&marked, offset)
                        .map(|severity| marks::mark_colors(t, severity).0),
                };
                if let Some(fill) = fill {
                    ui.painter().rect_filled(span(layout.hex(at), 2), 0.0, fill);
                    ui.painter()
                        .rect_filled(span(layout.text(at), 1), 0.0, fill);
                }
                if selected.head == offset && response.has_focus() {
                    ui.painter().rect_stroke(
                        span(layout.hex(at), 2),
                        0.0,
                        (1.0, t.accent),
                        StrokeKind::Outside,
                    );
                }
            }
            let show = |column: usize, text: &str, color| {
                let at = span(column, 1).left_center();
                widgets::text_at(ui, at, text, theme::code(), color, f32::INFINITY);
            };
            let offset = format!("{start:0width$x}", width = layout.digits);
            show(0, &offset, t.weak);
            let hex: String = part.iter().map(|byte| format!("{byte:02x} ")).collect();
            show(layout.hex(0), &hex, t.text);
            let text: String = part.iter().map(|byte| ascii(*byte)).collect();
            show(layout.text(0), &text, t.json_string);
            let line = Rect::from_min_size(pos2(origin.x, y), vec2(viewport.width(), TEXT_ROW));
            let spoken = format!("{offset}: {} {text}", hex.trim_end());
            widgets::sense(ui, line, ("row", row), Sense::empty())
                .widget_info(|| WidgetInfo::labeled(Role::Label, true, &spoken));
        }
        if let Some(pos) = response
            .interact_pointer_pos()
            .filter(|_| !bytes.is_empty())
        {
            let row = first + (((pos.y - top) / TEXT_ROW).max(0.0) as usize);
            let column = ((pos.x - left) / char_width).max(0.0) as usize;
            let byte = if column >= layout.text(0) {
                column - layout.text(0)
            } else {
                column.saturating_sub(layout.hex(0)) / 3
            };
            let offset = (row * layout.count + byte.min(layout.count - 1)).min(bytes.len() - 1);
            if response.is_pointer_button_down_on() && ui.input(|input| input.pointer.any_pressed())
            {
                response.request_focus();
                selected.anchor = if ui.input(|input| input.modifiers.shift) {
                    selected.anchor
                } else {
                    offset
                };
                selected.head = offset;
            } else if response.dragged() {
                selected.head = offset;
            }
        }
    });
    pane.remember(
        ui,
        output.state.clamped_offset().y,
        output.inner_rect.height(),
    );
    widgets::focus_ring_inside(ui, &response);
    widgets::remember(ui, selection_id(pane), selected);
}

/// Arrows move, with Shift they extend; Ctrl C copies the selected bytes.
fn keys(
    ui: &Ui,
    cx: &Cx<'_>,
    response: &egui::Response,
    bytes: &[u8],
    row: usize,
    selected: &mut HexSelection,
) {
    if !response.has_focus() || bytes.is_empty() {
        return;
    }
    widgets::keep_arrows(ui, response, true, true);
    let (down, last) = (row.cast_signed(), bytes.len() - 1);
    for (key, step) in [
        (Key::ArrowRight, 1),
        (Key::ArrowLeft, -1),
        (Key::ArrowDown, down),
        (Key::ArrowUp, -down),
    ] {
        for modifiers in [Modifiers::SHIFT, Modifiers::NONE] {
            if ui.input_mut(|input| input.consume_key(modifiers, key)) {
                selected.head = selected.head.saturating_add_signed(step).min(last);
                if modifiers.is_none() {
                    selected.anchor = selected.head;
                }
            }
        }
    }
    if ui.input(|input| {
        input
            .events
            .iter()
            .any(|event| matches!(event, egui::Event::Copy))
    }) {
        cx.send(Action::Copy(hex_text(&bytes[selected.range(bytes.len())])));
    }
}

fn footer_ui(ui: &mut Ui, cx: &Cx<'_>, pane: &PaneCx) {
    let Some(bytes) = cx.ready(BytesQuery(pane.format)) else {
        return;
    };
    let t = theme::of(ui);
    let range = HexSelection::new(ui, cx, pane).range(bytes.len());
    let what = match range.len() {
        0 => String::new(),
        1 => {
            let byte = bytes[range.start];
            let char = char_at(bytes, range.start).map_or_else(
                || "not UTF-8".to_owned(),
                |(char, place)| match place.len() {
                    1 => format!("U+{:04X}", u32::from(char)),
                    count => format!("U+{:04X}, {count} bytes", u32::from(char)),
                },
            );
            format!(
                "byte {} · {byte:02x} · {byte} · {char}",
                widgets::grouped(range.start as u64)
            )
        }
        count => format!(
            "{} selected from {}",
            widgets::number_text(count as u64, "B"),
            widgets::grouped(range.start as u64)
        ),
    };
    widgets::words(ui, what, theme::mono(11.5), t.weak);
    widgets::from_right(ui, |ui| {
        if Button::new("Text")
            .frameless()
            .tip("Show these bytes as text")
            .height(22.0)
            .clicked(ui)
        {
            cx.send(ViewAction::SetPane {
                pane: pane.index,
                shows: PaneView::Text(pane.format),
            });
        }
        let all = widgets::number_text(bytes.len() as u64, "B");
        widgets::words(ui, all, theme::regular(11.5), t.weak);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_knows_its_character() {
        let bytes = b"a\xe2\x9a\xa0\xff\x9a";
        assert_eq!(char_at(bytes, 0), Some(('a', 0..1)));
        for at in 1..4 {
            assert_eq!(char_at(bytes, at), Some(('⚠', 1..4)));
        }
        assert_eq!((char_at(bytes, 4), char_at(bytes, 5)), (None, None));
        assert_eq!(char_at(b"\xe2\x9a", 1), None, "cut short");
    }

    #[test]
    fn bytes_are_written_sixteen_a_line() {
        assert_eq!(hex_text(&[0, 255]), "00 ff");
        assert_eq!(hex_text(&[1; 17]), format!("{}\n01", ["01"; 16].join(" ")));
    }

    #[test]
    fn a_row_has_as_many_bytes_as_fit() {
        let count = |columns| HexRow::fitting(1_000, columns).count;
        assert_eq!(
            [
                count(200),
                count(74),
                count(60),
                count(42),
                count(30),
                count(10)
            ],
            [16, 16, 8, 8, 4, 4]
        );
    }
}
