//! The exact texts beside each other, section by section, as virtual rows.

use std::sync::Arc;

use egui::text::CCursor;
use egui::{Rect, Role, ScrollArea, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use super::SIDE;
use crate::report::special::Shown;
use crate::report::sweep::{SweepPage, SweepRows, ThisPage};
use crate::report::{Answer, Question, TextRow};
use crate::state::{Asked, Compare};
use crate::ui::panes::colour::job;
use crate::ui::theme::{self, Tokens};
use crate::ui::widgets;
use crate::ui::{Cx, icons};

const ROW: f32 = 20.0;
const GUTTER: f32 = 44.0;

/// Where a row of one column is painted.
struct Place {
    rect: Rect,
    column: usize,
}

pub fn body_ui(ui: &mut Ui, cx: &Cx<'_>, compare: &Compare, page: &Arc<SweepPage>, rect: Rect, width: f32) {
    let char_width = ui.painter().layout_no_wrap("0".repeat(64), theme::code(), egui::Color32::PLACEHOLDER).size().x / 64.0;
    let fitting = ((width - GUTTER - SIDE) / char_width).clamp(16.0, f32::from(u16::MAX)) as u16;
    let question = Question::SweepRows { page: ThisPage(Arc::clone(page)), columns: fitting };
    let captures = compare.inquiry().map(|inquiry| inquiry.captures).unwrap_or_default();
    let rows = match cx.ask_of(&captures, question) {
        Asked::Ready(Answer::SweepRows(rows)) => rows,
        Asked::Failed(problem) => {
            widgets::problem_ui(ui, problem);
            return;
        }
        Asked::Working { since } => {
            ui.add_space(10.0);
            widgets::waiting(ui, "Laying the texts out", since, cx);
            return;
        }
        Asked::Ready(_) => return,
    };
    let mut area = ScrollArea::vertical().id_salt("compare down").auto_shrink(false);
    let gone = egui::Id::unique("compare gone to");
    let known: Option<(usize, u64)> = ui.data(|data| data.get_temp(gone));
    if let Some(at) = compare.at.filter(|at| known != Some(*at)) {
        ui.data_mut(|data| data.insert_temp(gone, at));
        if let Some(section) = page.losses.get(at.0).map(|loss| loss.section) {
            area = area.vertical_scroll_offset(rows.tops.get(section).copied().unwrap_or(0) as f32 * ROW);
        }
    }
    let chosen = compare.at.and_then(|(at, _)| page.losses.get(at)).map(|loss| loss.section);
    area.show_viewport(ui, |ui, viewport| {
        let origin = ui.min_rect().min;
        let total = vec2(rect.width(), rows.len() as f32 * ROW + 16.0);
        ui.allocate_rect(Rect::from_min_size(origin, total), Sense::hover());
        let first = (viewport.min.y / ROW).max(0.0) as usize;
        let count = (viewport.height() / ROW) as usize + 2;
        let top = origin.y + viewport.min.y + (first as f64 * f64::from(ROW) - f64::from(viewport.min.y)) as f32;
        for row in first..(first + count).min(rows.len()) {
            let y = (top + (row - first) as f32 * ROW).round();
            let section = rows.section_at(row);
            let line = Rect::from_min_size(pos2(rect.left(), y), vec2(rect.width(), ROW));
            match row - rows.tops[section] {
                0 => head_ui(ui, cx, page, section, line, width, chosen == Some(section)),
                at => cells_ui(ui, page, rows, section, at - 1, line, width),
            }
        }
    });
}

fn head_ui(ui: &Ui, cx: &Cx<'_>, page: &SweepPage, section: usize, rect: Rect, width: f32, is_chosen: bool) {
    let t = Tokens::of(ui);
    let known = &page.sections[section];
    ui.painter().rect_filled(rect, 0.0, if is_chosen { t.accent_bg } else { t.card });
    ui.painter().hline(rect.x_range(), rect.bottom() - 0.5, Stroke::new(1.0, t.line));
    if is_chosen {
        ui.painter().rect_filled(Rect::from_min_size(rect.min, vec2(2.0, rect.height())), 0.0, t.accent);
    }
    let y = rect.center().y;
    for (column, cell) in known.cells.iter().enumerate() {
        let left = rect.left() + column as f32 * width;
        let mut end = left + SIDE;
        if column == 0 {
            end = widgets::text_at(ui, pos2(end, y), &known.name, theme::mono_semibold(12.0), t.strong, width * 0.5);
            let title = Shown::of(&known.title).text;
            end = widgets::text_at(ui, pos2(end + 8.0, y), title, theme::small(), t.weak, left + width - end - 86.0);
        }
        if !cell.ranges.is_empty() {
            let tokens = widgets::number_text(cell.tokens.get(cx.state.settings.encoding()), "tok");
            widgets::text_right(ui, pos2(left + width - SIDE, y), tokens, theme::mono(11.5), t.weak);
        } else if !known.title.is_empty() && column > 0 {
            widgets::text_at(ui, pos2(end, y), "not here", theme::small(), t.weak, width - 2.0 * SIDE);
        }
    }
    let name = format!("{} {}", known.name, known.title);
    ui.interact(rect, ui.scope_id().with(("section", section)), Sense::empty())
        .widget_info(|| WidgetInfo::labeled(Role::Heading, true, name.trim_end()));
}

fn cells_ui(ui: &Ui, page: &SweepPage, rows: &SweepRows, section: usize, at: usize, line: Rect, width: f32) {
    let t = Tokens::of(ui);
    for (column, of_column) in rows.cells[section].iter().enumerate() {
        let rect = Rect::from_min_size(pos2(line.left() + column as f32 * width, line.top()), vec2(width, ROW));
        if !ui.is_rect_visible(rect) {
            continue;
        }
        let missing = &page.sections[section].cells[column].missing;
        if let Some(row) = of_column.get(at) {
            row_ui(ui, page, row, &Place { rect, column });
        } else if at == of_column.len() && !missing.is_empty() {
            let words = format!("Missing: {}", missing.join(", "));
            let center = pos2(rect.left() + SIDE + 6.0, rect.center().y);
            widgets::glyph_at(ui, center, icons::MISSING, theme::icon_font(13.0), t.warn);
            widgets::text_at(ui, center + vec2(12.0, 0.0), &words, theme::small(), t.warn, width - SIDE * 2.0 - 18.0);
            ui.interact(rect, ui.scope_id().with(("missing", section, column)), Sense::hover())
                .on_hover_text(&words)
                .widget_info(|| WidgetInfo::labeled(Role::Label, true, &words));
        }
    }
}

fn row_ui(ui: &Ui, page: &SweepPage, row: &TextRow, place: &Place) {
    let t = Tokens::of(ui);
    let Place { rect, column } = *place;
    let view = &page.texts[column];
    let text = &view.text[row.range.clone()];
    let shown = Shown::of(text);
    let clip = ui.clip_rect().intersect(rect.shrink2(vec2(1.0, 0.0)));
    let painter = ui.painter().with_clip_rect(clip);
    let marked = &page.sweep.columns[column];
    if let Some(number) = row.number {
        let right = pos2(rect.left() + GUTTER - 10.0, rect.center().y);
        widgets::text_right(ui, right, number.to_string(), theme::mono(11.0), t.weak);
    }
    let galley = painter.layout_job(job(t, &shown, view, row));
    let y = (rect.center().y - galley.size().y / 2.0).round();
    // What another call's answer does not say.
    let first = marked.not_everywhere.partition_point(|range| range.end <= row.range.start);
    let places = marked.not_everywhere[first..].iter().take_while(|range| range.start < row.range.end);
    for (at, place) in places.enumerate() {
        let inside = |offset: usize| shown.to_shown(offset.clamp(row.range.start, row.range.end) - row.range.start);
        let x = |offset: usize| {
            let chars = shown.text.get(..inside(offset)).unwrap_or(&shown.text).chars().count();
            rect.left() + GUTTER + galley.pos_from_cursor(CCursor::new(chars)).left()
        };
        let span = Rect::from_x_y_ranges(x(place.start) - 1.0..=x(place.end) + 1.0, rect.top() + 2.0..=rect.bottom() - 2.0);
        painter.rect(span, theme::RADIUS_BAR, t.warn_bg, Stroke::new(1.0, t.warn_line), egui::StrokeKind::Inside);
        if at == 0 {
            painter.rect_filled(Rect::from_min_size(rect.min, vec2(2.0, rect.height())), 0.0, t.warn);
        }
    }
    painter.galley(pos2(rect.left() + GUTTER, y), galley, t.text);
    ui.interact(rect, ui.scope_id().with(("cell", column, row.range.start)), Sense::empty())
        .widget_info(|| WidgetInfo::labeled(Role::Label, true, text));
}
