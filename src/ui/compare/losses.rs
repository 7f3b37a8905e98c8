//! What columns lose, as a list: where, how many values, and which they are.

use egui::{Role, ScrollArea, Sense, Ui, WidgetInfo, pos2, vec2};

use super::{SIDE, column_name};
use crate::analysis::special::Shown;
use crate::analysis::sweep::{ColumnOrigin, Loss, SweepPage};
use crate::state::{Action, Compare, CompareAction};
use crate::ui::theme::{self, ThemeTokens};
use crate::ui::widgets;
use crate::ui::{Cx, icons};

const ROW: f32 = 24.0;

/// The height that shows so many.
pub fn height(count: usize) -> f32 {
    ROW * count.max(1) as f32 + 8.0
}

pub fn losses_ui(ui: &mut Ui, cx: &Cx<'_>, compare: &Compare, page: &SweepPage) {
    if page.losses.is_empty() {
        let words = if page.sweep.reference.is_some() { "No column loses a fact." } else { "No answer has data to compare by." };
        widgets::empty_ui(ui, words, None);
        return;
    }
    ui.spacing_mut().item_spacing.y = 0.0;
    let chosen = compare.at.map(|(at, _)| at);
    ScrollArea::vertical().id_salt("losses").auto_shrink(false).show_rows(ui, ROW, page.losses.len(), |ui, range| {
        for at in range {
            row_ui(ui, cx, page, at, chosen == Some(at));
        }
    });
}

/// "only in json as sent" where no other column has it, else which column has not.
fn where_it_is(page: &SweepPage, loss: &Loss) -> String {
    let column = &page.sweep.columns[loss.column];
    if loss.differing == loss.lost {
        return format!("differs in {}", column_name(column));
    }
    let has = |other: usize| !page.losses.iter().any(|known| known.column == other && known.path == loss.path);
    let columns = page.sweep.columns.iter().enumerate();
    let mut keep = columns.filter(|(at, known)| known.is_answer() && has(*at));
    match (keep.next(), keep.next(), column.origin) {
        (Some((_, only)), None, ColumnOrigin::Call(_)) if loss.lost == loss.total => format!("only in {}", column_name(only)),
        _ => format!("not in {}", column_name(column)),
    }
}

fn row_ui(ui: &mut Ui, cx: &Cx<'_>, page: &SweepPage, at: usize, is_chosen: bool) {
    let t = ThemeTokens::of(ui);
    let loss = &page.losses[at];
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::click());
    if is_chosen || response.hovered() {
        ui.painter().rect_filled(rect, 0.0, if is_chosen { t.accent_bg } else { t.hover });
    }
    let is_other = loss.differing == loss.lost;
    let (glyph, color) = if is_other { (icons::DIFFERS, t.bad) } else { (icons::MISSING, t.warn) };
    let y = rect.center().y;
    let left = rect.left() + SIDE;
    let wide = rect.width();
    widgets::glyph_at(ui, pos2(left + 6.0, y), glyph, theme::icon_font(14.0), color);
    let [path, count, place, values] = [left + 22.0, left + wide * 0.24, left + wide * 0.37, left + wide * 0.57];
    widgets::text_at(ui, pos2(path, y), Shown::of(&loss.path).text, theme::mono(12.0), t.strong, count - path - 8.0);
    let unit = if loss.total == 1 { "value" } else { "values" };
    let number = if loss.lost == loss.total {
        widgets::number_text(loss.lost, unit)
    } else {
        format!("{} of {} {unit}", widgets::grouped(loss.lost), widgets::grouped(loss.total))
    };
    widgets::text_at(ui, pos2(count, y), &number, theme::small(), t.weak, place - count - 8.0);
    let whose = where_it_is(page, loss);
    widgets::text_at(ui, pos2(place, y), &whose, theme::small(), color, values - place - 8.0);
    let more = if (loss.values.len() as u64) < loss.lost { ", …" } else { "" };
    let said = format!("{}{more}", Shown::of(&loss.values.join(", ")).text);
    widgets::text_at(ui, pos2(values, y), &said, theme::mono(12.0), t.text, rect.right() - values - SIDE);
    response
        .widget_info(|| WidgetInfo::selected(Role::Row, true, is_chosen, format!("{}, {number}, {whose}, {said}", loss.path)));
    widgets::focus_ring_inside(ui, &response);
    if response.clicked() {
        cx.send(Action::Compare(CompareAction::Go(at)));
    }
}
