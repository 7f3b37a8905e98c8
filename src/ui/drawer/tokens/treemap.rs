//! The token map as a treemap: areas are tokens, boxes stand inside the boxes of what holds them, a click goes in.

use egui::{Align, Color32, Layout, Rect, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2};

use super::{colors, column_name, part_head, percent};
use crate::analysis::TokenMap;
use crate::state::{Action, TokensAction};
use crate::ui::Cx;
use crate::ui::theme::{self, ThemeTokens};
use crate::ui::widgets::{self, Button};

/// Boxes of one level; of more, the cheapest are one box together.
const BOXES: usize = 120;
/// Boxes inside boxes are painted while a box is at least this large.
const NESTED: egui::Vec2 = vec2(72.0, 52.0);
/// So much of a name must fit, or it is left out.
const LEGIBLE: f32 = 0.6;
/// Room for the name of a box that holds others.
const TITLE: f32 = 16.0;

/// What a box stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Column(usize),
    /// What begins in a column itself: its key, its brackets, the commas between what it holds.
    Own(usize),
    /// So many further columns.
    Others(usize),
}

pub fn treemap_ui(ui: &mut Ui, cx: &Cx<'_>, map: &TokenMap) {
    let shown = map.columns.find(&cx.state.view.tokens.inside).unwrap_or(0);
    part_head(ui, "Treemap");
    crumbs_ui(ui, cx, map, shown);
    let rect = ui.available_rect_before_wrap();
    let rect = rect.with_max_y(rect.bottom() - 10.0);
    if rect.width() > 24.0 && rect.height() > 24.0 {
        level_ui(ui, cx, map, shown, rect);
    }
}

/// The way back: every column around the one shown.
fn crumbs_ui(ui: &mut Ui, cx: &Cx<'_>, map: &TokenMap, shown: usize) {
    let t = ThemeTokens::of(ui);
    let mut way = vec![shown];
    while let Some(parent) = way.last().and_then(|&column| map.columns.columns.get(column)?.parent) {
        way.push(parent);
    }
    way.reverse();
    let rect = ui.available_rect_before_wrap().with_max_y(ui.cursor().top() + 24.0);
    ui.scope_builder(widgets::region(ui, "crumbs").max_rect(rect).layout(Layout::left_to_right(Align::Center)), |ui| {
        ui.set_clip_rect(rect.intersect(ui.clip_rect()));
        ui.spacing_mut().item_spacing.x = 2.0;
        for (position, &column) in way.iter().enumerate() {
            let name = match (position, &map.columns.columns[column].key) {
                (0, _) => "the data".to_owned(),
                (_, Some(key)) => key.clone(),
                (_, None) => "[]".to_owned(),
            };
            if position > 0 {
                ui.label(egui::RichText::new("›").font(theme::small()).color(t.weak));
            }
            let is_last = position + 1 == way.len();
            let tokens = widgets::grouped(map.with_inside[column].total());
            let label = if is_last { format!("{name} · {tokens} tok") } else { name.clone() };
            let spoken = format!("Treemap of {name}, {tokens} tokens");
            if Button::new(&label).small().frameless().height(22.0).name(&spoken).enabled(!is_last).show(ui).clicked() {
                cx.send(Action::Tokens(TokensAction::Inside(map.columns.path(column))));
            }
        }
    });
    ui.allocate_rect(rect, Sense::hover());
}

/// What stands in a column, the dearest first; the tokens add up to the column's.
fn boxes(map: &TokenMap, column: usize) -> Vec<(What, u64)> {
    let inside = map.inside(column);
    let mut boxes: Vec<(What, u64)> =
        inside.iter().take(BOXES).map(|&column| (What::Column(column), map.with_inside[column].total())).collect();
    if inside.len() > BOXES {
        let rest = inside[BOXES..].iter().map(|&column| map.with_inside[column].total()).sum();
        boxes.push((What::Others(inside.len() - BOXES), rest));
    }
    boxes.push((What::Own(column), map.own[column].total()));
    boxes.retain(|(_, tokens)| *tokens > 0);
    boxes.sort_by_key(|(_, tokens)| std::cmp::Reverse(*tokens));
    boxes
}

/// Lays boxes out so that they are about as wide as high (Bruls, Huizing and van Wijk: squarified treemaps).
fn squarify(boxes: &[(What, u64)], mut rect: Rect) -> Vec<(What, u64, Rect)> {
    let mut left: f32 = boxes.iter().map(|(_, tokens)| *tokens as f32).sum();
    let mut out = Vec::with_capacity(boxes.len());
    let mut at = 0;
    while at < boxes.len() && left > 0.0 {
        let scale = rect.area() / left;
        let side = rect.width().min(rect.height()).max(1.0);
        let worst = |from: usize, to: usize| {
            let sum: f32 = boxes[from..to].iter().map(|(_, tokens)| *tokens as f32 * scale).sum();
            let (most, least) = (boxes[from].1 as f32 * scale, boxes[to - 1].1 as f32 * scale);
            (side * side * most / (sum * sum)).max(sum * sum / (side * side * least.max(f32::EPSILON)))
        };
        let mut end = at + 1;
        while end < boxes.len() && worst(at, end + 1) <= worst(at, end) {
            end += 1;
        }
        let sum: f32 = boxes[at..end].iter().map(|(_, tokens)| *tokens as f32).sum();
        let is_column = rect.width() >= rect.height();
        let thick = if is_column { rect.width() } else { rect.height() } * (sum / left);
        let mut along = if is_column { rect.top() } else { rect.left() };
        for &(what, tokens) in &boxes[at..end] {
            let long = if is_column { rect.height() } else { rect.width() } * (tokens as f32 / sum);
            out.push((
                what,
                tokens,
                if is_column {
                    Rect::from_min_size(pos2(rect.left(), along), vec2(thick, long))
                } else {
                    Rect::from_min_size(pos2(along, rect.top()), vec2(long, thick))
                },
            ));
            along += long;
        }
        if is_column {
            rect.min.x += thick;
        } else {
            rect.min.y += thick;
        }
        left -= sum;
        at = end;
    }
    out
}

/// Paints a column's boxes, and inside each what it holds while there is room: how deep is bounded by the room.
fn level_ui(ui: &mut Ui, cx: &Cx<'_>, map: &TokenMap, column: usize, rect: Rect) {
    let t = ThemeTokens::of(ui);
    let total = map.total.total();
    for (what, tokens, rect) in squarify(&boxes(map, column), rect) {
        let rect = Rect::from_min_max(rect.min.round(), rect.max.round());
        if rect.width() < 3.0 || rect.height() < 3.0 {
            continue;
        }
        let rect = rect.shrink(1.0);
        let (name, target, color) = look(map, what, t);
        let holds = target.is_some_and(|column| !map.inside(column).is_empty());
        let sense = if holds { Sense::click() } else { Sense::hover() };
        let response = ui.interact(rect, ui.scope_id().with(("treemap", rect.min.x as i32, rect.min.y as i32)), sense);
        let spoken = format!("{name}, {}, {} of JSON, compact", widgets::number_text(tokens, "tokens"), percent(tokens, total));
        response.widget_info(|| WidgetInfo::labeled(if holds { Role::Button } else { Role::Label }, true, &spoken));
        let fill = if holds { t.card } else { color.gamma_multiply(0.28) };
        let line = if response.hovered() {
            t.strong
        } else if holds {
            t.line2
        } else {
            color.gamma_multiply(0.6)
        };
        ui.painter().rect(rect, theme::RADIUS_BAR, fill, Stroke::new(1.0, line), StrokeKind::Inside);
        widgets::focus_ring_inside(ui, &response);
        let short = match what {
            What::Column(column) => map.columns.columns[column].key.clone().unwrap_or_else(|| "[]".to_owned()),
            What::Own(_) => "brackets".to_owned(),
            What::Others(count) => format!("{count} more"),
        };
        if rect.width() > 28.0 && rect.height() > TITLE {
            let left = pos2(rect.left() + 5.0, rect.top() + TITLE / 2.0 + 1.0);
            let room = rect.width() - 8.0;
            let wide = |text: &str| ui.painter().layout_no_wrap(text.to_owned(), theme::regular(11.5), t.text).size().x;
            let whole = format!("{short} {}", widgets::grouped(tokens));
            let label = if wide(&whole) <= room { &whole } else { &short };
            // A few letters of a name are no name.
            if wide(label) * LEGIBLE <= room {
                widgets::text_at(ui, left, label, theme::regular(11.5), if holds { t.strong } else { t.text }, room);
            }
        }
        if response.clicked()
            && let Some(column) = target
        {
            cx.send(Action::Tokens(TokensAction::Inside(map.columns.path(column))));
        }
        response.on_hover_text(spoken);
        if let (true, Some(column)) = (holds && rect.width() > NESTED.x && rect.height() > NESTED.y, target) {
            let inner = rect.with_min_y(rect.top() + TITLE).shrink(2.0);
            level_ui(ui, cx, map, column, inner);
        }
    }
}

/// The name of a box, where a click leads, and its colour: that of what most of it is spent on.
fn look(map: &TokenMap, what: What, t: &ThemeTokens) -> (String, Option<usize>, Color32) {
    let [values, .., punctuation, _] = colors(t);
    match what {
        What::Column(column) => {
            let shares = map.with_inside[column].named();
            let at = (0..shares.len()).max_by_key(|&at| shares[at].1).unwrap_or(0);
            (column_name(map, column), Some(column), colors(t)[at])
        }
        What::Own(column) => (format!("{}: its own key, brackets and commas", column_name(map, column)), None, punctuation),
        What::Others(count) => (format!("{} more keys", widgets::grouped(count as u64)), None, values),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_are_in_proportion_and_fill_the_room() {
        let room = Rect::from_min_size(pos2(10.0, 20.0), vec2(300.0, 180.0));
        let boxes: Vec<_> =
            [60, 60, 40, 30, 20, 20, 10].into_iter().enumerate().map(|(at, tokens)| (What::Own(at), tokens)).collect();
        let laid = squarify(&boxes, room);
        assert_eq!(laid.len(), boxes.len());
        let area: f32 = laid.iter().map(|(.., rect)| rect.area()).sum();
        assert!((area - room.area()).abs() < 1.0, "{area}");
        for (what, tokens, rect) in laid {
            assert!((rect.area() - room.area() * tokens as f32 / 240.0).abs() < 1.0, "{what:?}");
            assert!(room.expand(0.1).contains_rect(rect), "{what:?}");
        }
    }
}
