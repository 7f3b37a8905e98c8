//! The exact texts next to each other, section by section, as virtual rows.

use std::collections::BTreeSet;
use std::sync::Arc;

use egui::{Key, Rect, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::{Judged, SIDE, place};
use crate::state::{Compare, CompareAction, QueryState};
use crate::ui::panes::colour;
use crate::ui::theme;
use crate::ui::widgets;
use crate::ui::{Cx, icons};
use loupe_analysis::queries::TextRow;
use loupe_analysis::queries::comparison::{
    ComparisonPage, ComparisonRows, ComparisonRowsQuery, ThisPage,
};
use loupe_analysis::queries::invisible_chars::Shown;
use loupe_core::diff::pattern::name;
use loupe_core::number::number_of;

/// Height of an exact row, and of a section's head.
const ROW: f32 = 20.0;
const GUTTER: f32 = 44.0;

/// Where a row of one column is painted.
struct Place {
    rect: Rect,
    column: usize,
}

pub fn body_ui(
    ui: &mut Ui,
    cx: &Cx<'_>,
    compare: &Compare,
    judged: &Judged,
    rect: Rect,
    width: f32,
) {
    let page = &judged.page;
    let question = ComparisonRowsQuery {
        page: ThisPage(Arc::clone(page)),
        columns: fitting(ui, width),
    };
    let captures = compare
        .query(cx.state.settings.encoding())
        .map(|(captures, _)| captures)
        .unwrap_or_default();
    let asked = cx.ask_of(&captures, question);
    if let QueryState::Working { .. } = asked {
        ui.add_space(10.0);
    }
    // Until the columns are laid out, what is waited for is there.
    let Some(rows) = widgets::ready(ui, cx, "Laying out the texts", asked) else {
        return;
    };
    let tops = tops(ui, compare, page, rows);
    let mut area = widgets::scroll("compare down");
    if let Some(section) = place::requested_place(ui, cx, compare, page) {
        area = area.vertical_scroll_offset(tops.get(section).copied().unwrap_or(0) as f32 * ROW);
    }
    let chosen = compare
        .at
        .and_then(|(at, _)| page.losses.get(at))
        .map(|loss| loss.section);
    area.show_viewport(ui, |ui, viewport| {
        let origin = ui.min_rect().min;
        let total = vec2(rect.width(), count_of(&tops) as f32 * ROW + 16.0);
        ui.allocate_rect(Rect::from_min_size(origin, total), Sense::hover());
        let count = count_of(&tops);
        for (row, y) in widgets::rows_in_sight(origin, viewport, 0.0, ROW, count) {
            let section = tops.partition_point(|top| *top <= row).saturating_sub(1);
            let line = Rect::from_min_size(pos2(rect.left(), y), vec2(rect.width(), ROW));
            match row - tops[section] {
                0 => {
                    let is_folded = tops[section + 1] - row == 1
                        && compare.folded.contains(&page.sections[section].name);
                    head_ui(
                        ui,
                        cx,
                        page,
                        section,
                        &Head {
                            rect: line,
                            width,
                            is_chosen: chosen == Some(section),
                            is_folded,
                        },
                    );
                }
                at => cells_ui(ui, judged, rows, section, at - 1, line, width),
            }
        }
    });
}

/// How many characters fit into a row of a column.
fn fitting(ui: &Ui, width: f32) -> u16 {
    let char_width = widgets::text_width(ui, "0".repeat(64), theme::code()) / 64.0;
    ((width - GUTTER - SIDE) / char_width).clamp(16.0, f32::from(u16::MAX)) as u16
}

/// Where each section begins now, as [`ComparisonRows::folded`].
fn tops(
    ui: &Ui,
    compare: &Compare,
    page: &ComparisonPage,
    rows: &Arc<ComparisonRows>,
) -> Arc<Vec<usize>> {
    // It holds both that it was made from, so that an address is never another's.
    type Kept = (Arc<ComparisonRows>, Arc<BTreeSet<String>>, Arc<Vec<usize>>);
    let id = egui::Id::unique("compare tops");
    let known: Option<Kept> = widgets::recall(ui, id);
    let known = known
        .filter(|(of, folded, _)| Arc::ptr_eq(of, rows) && Arc::ptr_eq(folded, &compare.folded));
    known.map(|(.., tops)| tops).unwrap_or_else(|| {
        let tops = Arc::new(rows.folded(page, &compare.folded));
        ui.data_mut(|data| {
            data.insert_temp::<Kept>(
                id,
                (
                    Arc::clone(rows),
                    Arc::clone(&compare.folded),
                    Arc::clone(&tops),
                ),
            )
        });
        tops
    })
}

fn count_of(tops: &[usize]) -> usize {
    tops.last().copied().unwrap_or(0)
}

/// How the head of a section is painted.
struct Head {
    rect: Rect,
    width: f32,
    is_chosen: bool,
    is_folded: bool,
}

fn head_ui(ui: &Ui, cx: &Cx<'_>, page: &ComparisonPage, section: usize, head: &Head) {
    let t = theme::of(ui);
    let Head {
        rect,
        width,
        is_chosen,
        is_folded,
    } = *head;
    let response = widgets::sense(ui, rect, ("section", section), Sense::click());
    let known = &page.sections[section];
    let fill = match (is_chosen, response.hovered()) {
        (true, _) => t.accent_bg,
        (false, true) => t.hover,
        (false, false) => t.card,
    };
    ui.painter().rect_filled(rect, 0.0, fill);
    widgets::line_below(ui, rect);
    if is_chosen {
        widgets::edge(ui, rect, t.accent);
    }
    let line = widgets::RowLine::new(ui, rect);
    let glyph = if is_folded { icons::RIGHT } else { icons::DOWN };
    line.icon(rect.left() + SIDE, glyph, 11.0, t.weak);
    for (column, cell) in known.cells.iter().enumerate() {
        let left = rect.left() + column as f32 * width;
        let mut end = left + SIDE;
        if column == 0 {
            end += 12.0;
            end = line.text(
                end,
                end + width * 0.5,
                &known.name,
                theme::mono_semibold(12.0),
                t.strong,
            );
            let title = Shown::of(&known.title).text;
            end = line.text(
                end + 8.0,
                left + width - 78.0,
                title,
                theme::small(),
                t.weak,
            );
        }
        if !cell.ranges.is_empty() {
            let tokens = widgets::number_text(cell.tokens.get(cx.state.settings.encoding()), "tok");
            line.number(left + width - SIDE, tokens, theme::mono(11.5), t.weak);
        } else if !known.title.is_empty() && column > 0 {
            line.text(
                end,
                end + width - 2.0 * SIDE,
                "not here",
                theme::small(),
                t.weak,
            );
        }
    }
    let name = format!("{} {}", known.name, known.title);
    widgets::say_selected(&response, Role::Heading, !is_folded, name.trim_end());
    widgets::focus_ring_inside(ui, &response);
    let mut toggles = response.clicked();
    if response.has_focus() {
        widgets::keep_arrows(ui, &response, false, true);
        let key = if is_folded {
            Key::ArrowRight
        } else {
            Key::ArrowLeft
        };
        toggles |= widgets::pressed(ui, key);
    }
    if toggles {
        cx.send(CompareAction::Fold(known.name.clone()));
    }
}

fn cells_ui(
    ui: &Ui,
    judged: &Judged,
    rows: &ComparisonRows,
    section: usize,
    at: usize,
    line: Rect,
    width: f32,
) {
    let page = &judged.page;
    for (column, of_column) in rows.cells[section].iter().enumerate() {
        let rect = Rect::from_min_size(
            pos2(line.left() + column as f32 * width, line.top()),
            vec2(width, ROW),
        );
        if !ui.is_rect_visible(rect) {
            continue;
        }
        let missing = missing(judged, section, column);
        if !missing.is_empty() {
            ui.painter().rect_filled(rect, 0.0, theme::of(ui).warn_bg);
        }
        if let Some(row) = of_column.get(at) {
            row_ui(ui, page, row, &Place { rect, column });
        } else if at == of_column.len() && !missing.is_empty() {
            missing_ui(ui, &missing, section, &Place { rect, column });
        }
    }
}

/// Names of the needed fields that a column loses of a section.
fn missing(judged: &Judged, section: usize, column: usize) -> Vec<String> {
    let lost = judged.page.sections[section].cells[column]
        .missing
        .iter()
        .filter(|field| judged.is_needed[**field]);
    lost.map(|field| name(&judged.page.comparison.fields[*field].pattern))
        .collect()
}

/// Which fields a column loses of the record above.
fn missing_ui(ui: &Ui, missing: &[String], section: usize, place: &Place) {
    let t = theme::of(ui);
    let Place { rect, column } = *place;
    let words = format!("Missing {}: {}", missing.len(), missing.join(", "));
    let center = pos2(rect.left() + SIDE + 6.0, rect.center().y);
    widgets::glyph_at(ui, center, icons::MISSING, theme::icon_font(13.0), t.warn);
    let room = rect.width() - SIDE * 2.0 - 18.0;
    let is_whole = widgets::text_width(ui, &words, theme::small()) <= room;
    let shown = match is_whole {
        true => words.clone(),
        false => format!("Missing {}", number_of(missing.len() as u64, "fields")),
    };
    let place = center + vec2(12.0, 0.0);
    widgets::text_at(ui, place, shown, theme::small(), t.warn, room);
    widgets::sense(ui, rect, ("missing", section, column), Sense::hover())
        .on_hover_text(&words)
        .widget_info(|| WidgetInfo::labeled(Role::Label, true, &words));
}

/// Paints one exact row.
fn row_ui(ui: &Ui, page: &ComparisonPage, row: &TextRow, place: &Place) {
    let t = theme::of(ui);
    let Place { rect, column } = *place;
    let view = &page.texts[column];
    let text = &view.text[row.range.clone()];
    let shown = Shown::of(text);
    let clip = ui.clip_rect().intersect(rect.shrink2(vec2(1.0, 0.0)));
    let painter = ui.painter().with_clip_rect(clip);
    if let Some(number) = row.number {
        let right = pos2(rect.left() + GUTTER - 10.0, rect.center().y);
        widgets::text_right(ui, right, number.to_string(), theme::mono(11.0), t.weak);
    }
    let galley = colour::layout(ui, &shown, view, row);
    let y = (rect.center().y - galley.size().y / 2.0).round();
    painter.galley(pos2(rect.left() + GUTTER, y), galley, t.text);
    widgets::sense(ui, rect, ("cell", column, row.range.start), Sense::empty())
        .widget_info(|| WidgetInfo::labeled(Role::Label, true, text));
}
