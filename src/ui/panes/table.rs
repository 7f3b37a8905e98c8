//! Tables of Markdown, drawn row by row: only the rows in sight are laid out.

use std::sync::Arc;

use egui::{Color32, Pos2, Rect, Role, Sense, Ui, pos2, vec2};
use pulldown_cmark::Alignment;

use super::glyph;
use super::inline::{Font, byte_at, layout, links_ui};
use super::item::{SIDE, select};
use super::markdown::{self, Inline};
use crate::ui::Cx;
use crate::ui::theme;
use crate::ui::widgets;
use loupe_analysis::queries::{Cell, Table};

/// Padding inside a cell.
const CELL: f32 = 12.0;
/// No column gets narrower than this by wrapping, nor than its longest word of the header up to [`MAX_WORD`].
const MIN_COLUMN: f32 = 64.0;
/// A longer word is broken.
const MAX_WORD: f32 = 160.0;

/// How wide the columns of a table would like to be.
pub fn natural(table: &Table) -> Vec<f32> {
    let heading = table
        .header
        .iter()
        .map(heading)
        .chain(std::iter::repeat(0.0));
    table
        .longest
        .iter()
        .zip(heading)
        .map(|(&chars, heading)| (chars as f32 * 7.0 + 2.0 * CELL).max(heading))
        .collect()
}

/// How narrow the columns of a table may get.
pub fn least(table: &Table) -> Vec<f32> {
    table
        .header
        .iter()
        .map(|cell| heading(cell).clamp(MIN_COLUMN, MAX_WORD))
        .collect()
}

/// What the longest word of a heading takes, whose letters are bold.
fn heading(cell: &Cell) -> f32 {
    let word = cell
        .source
        .split_whitespace()
        .map(|word| word.chars().count())
        .max()
        .unwrap_or(0);
    word as f32 * 8.4 + 2.0 * CELL
}

/// Widths that fill `room` for columns that would like to be so wide; columns too wide share what is left, and below the
/// minimum the table scrolls.
pub fn fit(natural: &[f32], least: &[f32], room: f32) -> Vec<f32> {
    let sum: f32 = natural.iter().sum();
    if sum <= room {
        return natural
            .iter()
            .map(|width| width * room / sum.max(1.0))
            .collect();
    }
    let mut widths: Vec<f32> = natural
        .iter()
        .zip(least)
        .map(|(width, least)| width.min(*least))
        .collect();
    let mut left = room - widths.iter().sum::<f32>();
    // What a column lacks is given out a share at a time, so that narrow columns are satisfied first.
    for _ in 0..8 {
        let lacking = widths
            .iter()
            .zip(natural)
            .filter(|(width, natural)| **natural - **width > 0.5)
            .count();
        if lacking == 0 || left < 1.0 {
            break;
        }
        let share = left / lacking as f32;
        for (width, natural) in widths.iter_mut().zip(natural) {
            let more = share.min(natural - *width).max(0.0);
            *width += more;
            left -= more;
        }
    }
    widths
}

/// The cells of a row, or of the header, read; as many as there are columns.
pub fn cells(table: &Table, row: Option<usize>, count: usize) -> Vec<Inline> {
    let source = row
        .and_then(|at| table.rows.get(at))
        .map_or(&table.header, |(_, cells)| cells);
    let read = |at: usize| {
        source.get(at).map_or_else(Inline::default, |cell| {
            markdown::inline(&cell.source.replace("\\|", "|"))
        })
    };
    (0..count).map(read).collect()
}

/// A row on its way to the painter.
pub struct TableRow<'a> {
    pub table: &'a Table,
    /// As [`fit`] makes them.
    pub widths: &'a [f32],
    /// As [`cells`] reads them.
    pub cells: &'a [Inline],
    /// `None` for the header.
    pub row: Option<usize>,
    /// The record it belongs to: a click selects it.
    pub record: Option<usize>,
    pub is_linked: bool,
}

/// Paints a row and returns its height.
pub fn row_ui(ui: &mut Ui, cx: &Cx<'_>, row: &TableRow<'_>, top: Pos2) -> f32 {
    let t = theme::of(ui);
    let (widths, cells) = (row.widths, row.cells);
    let is_header = row.row.is_none();
    let is_last = row.row.map_or(row.table.rows.is_empty(), |at| {
        at + 1 == row.table.rows.len()
    });
    let font = Font {
        size: 12.5,
        is_heading: is_header,
        ..Font::default()
    };
    let galleys: Vec<_> = cells
        .iter()
        .zip(widths)
        .map(|(cell, &width)| {
            layout(
                ui,
                cell,
                &font,
                (width - 2.0 * CELL).max(16.0),
                egui::Align::LEFT,
            )
        })
        .collect();
    let height = (galleys
        .iter()
        .map(|galley| galley.size().y)
        .fold(18.0, f32::max)
        + 12.0)
        .ceil();
    let rect = Rect::from_min_size(
        pos2(top.x + SIDE, top.y),
        vec2(widths.iter().sum::<f32>().round(), height),
    );
    let response = widgets::sense(
        ui,
        rect,
        "row",
        if row.record.is_some() {
            Sense::click()
        } else {
            Sense::hover()
        },
    );
    let fill = if row.is_linked {
        t.accent_bg
    } else if is_header || (row.record.is_some() && response.hovered()) {
        t.hover
    } else {
        Color32::TRANSPARENT
    };
    let radius = egui::CornerRadius {
        nw: if is_header { 6 } else { 0 },
        ne: if is_header { 6 } else { 0 },
        sw: if is_last { 6 } else { 0 },
        se: if is_last { 6 } else { 0 },
    };
    // One pixel is shared with the row above, so that borders do not double.
    let framed = if is_header {
        rect
    } else {
        rect.with_min_y(rect.top() - 1.0)
    };
    widgets::boxed(ui, framed, radius, fill, t.line2);
    if row.is_linked {
        ui.painter().rect_filled(
            Rect::from_min_size(rect.min, vec2(2.0, height)),
            0.0,
            t.accent,
        );
    }
    let mut x = rect.left();
    let pointer = response.hover_pos();
    for (position, (galley, cell_width)) in galleys.into_iter().zip(widths).enumerate() {
        let spare = (cell_width - 2.0 * CELL - galley.size().x).max(0.0);
        let shift = match row.table.alignments.get(position) {
            Some(Alignment::Right) => spare,
            Some(Alignment::Center) => spare / 2.0,
            _ => 0.0,
        };
        let at = pos2(
            (x + CELL + shift).round(),
            (rect.center().y - galley.size().y / 2.0).round(),
        );
        ui.painter().galley(at, Arc::clone(&galley), t.text);
        if let Some(byte) =
            pointer.and_then(|pointer| byte_at(&cells[position].text, &galley, pointer - at))
        {
            glyph::tip(cx, &response, &cells[position].text, byte);
        }
        ui.push_id(position, |ui| {
            links_ui(ui, cx, &cells[position], &galley, at)
        });
        x += cell_width;
    }
    let name = cells
        .iter()
        .map(|cell| cell.text.as_str())
        .collect::<Vec<_>>()
        .join(", ");
    widgets::say_selected(&response, Role::Row, row.is_linked, &name);
    if response.clicked() {
        select(cx, row.record);
    }
    height
}
