//! Selecting in exact text that is shown as virtual rows: byte ranges of the text, whatever the screen shows for them.

use std::ops::Range;
use std::sync::Arc;

use egui::{Galley, Id, Key, Modifiers, Pos2, Rect, Response, Stroke, Ui, Vec2, vec2};

use crate::state::Action;
use crate::ui::Cx;
use crate::ui::marks;
use crate::ui::rtl;
use crate::ui::theme;
use crate::ui::widgets;
use loupe_analysis::queries::DisplayLine;
use loupe_analysis::queries::invisible_chars::Shown;
use loupe_core::capture::CaptureId;

fn id(pane: usize) -> Id {
    Id::unique(("text selection", pane))
}

/// The selected bytes of a pane, and where the pointer went last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// Whose text it is in: the capture, and a format's id or a host's.
    of: (Option<CaptureId>, &'static str),
    pub anchor: usize,
    pub head: usize,
}

impl Selection {
    /// The selection of a pane, where it is in this text.
    pub fn new(ui: &Ui, cx: &Cx<'_>, pane: usize, text: &'static str) -> Self {
        let of = (cx.state.view.capture.clone(), text);
        let known: Selection = widgets::recall(ui, id(pane)).unwrap_or_default();
        if known.of == of {
            known
        } else {
            Self {
                of,
                ..Self::default()
            }
        }
    }

    /// Keeps what was selected; nothing selected here leaves alone what is selected in another text.
    pub fn keep(self, ui: &Ui, pane: usize) {
        let known: Selection = widgets::recall(ui, id(pane)).unwrap_or_default();
        if known.of == self.of || self.anchor != 0 || self.head != 0 {
            widgets::remember(ui, id(pane), self);
        }
    }

    /// Follows the pointer over the rows on the screen; the offset under it while a button is down or was let go.
    pub fn follow(
        &mut self,
        ui: &Ui,
        response: &Response,
        drawn: &[DrawnText],
        text: &str,
        lines: &[DisplayLine],
    ) -> Option<usize> {
        let at = |pos: Pos2| {
            drawn
                .iter()
                .min_by(|a, b| a.distance(pos).total_cmp(&b.distance(pos)))
                .map(|row| row.offset_at(pos))
        };
        let offset = response.interact_pointer_pos().and_then(at)?;
        // A drag is only told from a click when the pointer has moved: the selection begins where it was pressed.
        if response.is_pointer_button_down_on() && ui.input(|input| input.pointer.any_pressed()) {
            let extends = ui.input(|input| input.modifiers.shift);
            (self.anchor, self.head) = (if extends { self.anchor } else { offset }, offset);
        } else if response.dragged() {
            self.head = offset;
        }
        if response.triple_clicked() {
            let at = lines
                .partition_point(|line| line.range.start <= offset)
                .saturating_sub(1);
            if let Some(line) = lines.get(at) {
                (self.anchor, self.head) = (line.range.start, line.range.end);
            }
        } else if response.double_clicked() {
            let word = word_at(text, offset);
            (self.anchor, self.head) = (word.start, word.end);
        }
        Some(offset)
    }

    /// Copies and selects everything, where the keys are this text's.
    pub fn keys(&mut self, ui: &Ui, cx: &Cx<'_>, is_focused: bool, text: &str) {
        if !is_focused || ui.text_edit_focused() {
            return;
        }
        let range = self.range();
        if ui.input_mut(|input| input.consume_key(Modifiers::COMMAND, Key::A)) {
            (self.anchor, self.head) = (0, text.len());
        }
        if !range.is_empty()
            && ui.input(|input| {
                input
                    .events
                    .iter()
                    .any(|event| matches!(event, egui::Event::Copy))
            })
        {
            cx.send(Action::Copy(text.get(range).unwrap_or_default().to_owned()));
        }
    }

    pub fn range(&self) -> Range<usize> {
        self.anchor.min(self.head)..self.anchor.max(self.head)
    }
}

/// A row on the screen, for turning places into offsets and back.
pub struct DrawnText {
    pub rect: Rect,
    pub left: f32,
    pub start: usize,
    pub len: usize,
    pub shown: Shown,
    pub galley: Arc<Galley>,
}

impl DrawnText {
    /// Marks what findings are about.
    pub fn mark_findings(&self, ui: &Ui, marked: &[marks::MarkedPlacesOf<'_>]) {
        let t = theme::of(ui);
        for (severity, places) in marked {
            for place in between(places, &(self.start..self.start + self.len)) {
                let (fill, line) = marks::mark_colors(t, *severity);
                for span in self.spans(place) {
                    ui.painter().rect_filled(span, 0.0, fill);
                    ui.painter()
                        .hline(span.x_range(), span.bottom() - 1.0, Stroke::new(1.0, line));
                }
            }
        }
    }

    pub fn distance(&self, pos: Pos2) -> f32 {
        if self.rect.y_range().contains(pos.y) {
            0.0
        } else {
            (self.rect.center().y - pos.y).abs()
        }
    }

    /// The byte of a character of what is shown, or its end.
    fn byte_of(&self, char: usize) -> usize {
        let mut chars = self.shown.text.char_indices();
        let shown = chars.nth(char).map_or(self.shown.text.len(), |(at, _)| at);
        self.shown.to_source(shown).min(self.len)
    }

    fn place(&self, pos: Pos2) -> Vec2 {
        vec2(pos.x - self.left, self.galley.size().y / 2.0)
    }

    /// The byte of the row's own text under the pointer, where there is any.
    pub fn char_at(&self, pos: Pos2) -> Option<usize> {
        rtl::char_at(&self.galley, self.place(pos)).map(|char| self.byte_of(char))
    }

    pub fn offset_at(&self, pos: Pos2) -> usize {
        self.start + self.byte_of(rtl::cursor_at(&self.galley, self.place(pos)))
    }

    pub fn shown_spans(&self, shown: &Range<usize>) -> Vec<Rect> {
        let char = |at: usize| {
            self.shown
                .text
                .get(..at)
                .unwrap_or(&self.shown.text)
                .chars()
                .count()
        };
        rtl::places(&self.galley, &(char(shown.start)..char(shown.end)))
            .into_iter()
            .map(|place| {
                let x = place.x_range();
                Rect::from_x_y_ranges(self.left + x.min..=self.left + x.max, self.rect.y_range())
            })
            .collect()
    }

    /// Where a range of the text is in this row: more than one place where it is read in two directions.
    pub fn spans(&self, range: &Range<usize>) -> Vec<Rect> {
        let local = |offset: usize| {
            self.shown
                .to_shown(offset.clamp(self.start, self.start + self.len) - self.start)
        };
        self.shown_spans(&(local(range.start)..local(range.end)))
    }
}

pub fn intersect(a: &Range<usize>, row: &Range<usize>) -> Option<Range<usize>> {
    let range = a.start.max(row.start)..a.end.min(row.end);
    (!a.is_empty() && a.start <= row.end && a.end > row.start && range.start <= range.end)
        .then_some(range)
}

/// The ranges (in order, not overlapping) that reach into a row.
pub fn between<'a>(
    ranges: &'a [Range<usize>],
    row: &Range<usize>,
) -> impl Iterator<Item = &'a Range<usize>> {
    let first = ranges.partition_point(|range| range.end <= row.start);
    let end = row.end;
    ranges[first..]
        .iter()
        .take_while(move |range| range.start < end)
}

fn word_at(text: &str, offset: usize) -> Range<usize> {
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    let start = text[..offset]
        .char_indices()
        .rev()
        .take_while(|&(_, char)| is_word(char))
        .last()
        .map_or(offset, |(at, _)| at);
    let end = text[offset..]
        .char_indices()
        .find(|&(_, char)| !is_word(char))
        .map_or(text.len(), |(at, _)| offset + at);
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_ranges_in_a_row() {
        assert_eq!(word_at("ab cd_e f", 4), 3..7);
        assert_eq!(between(&[0..5, 7..12], &(4..8)).count(), 2);
    }
}
