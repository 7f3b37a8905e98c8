//! The texts next to each other, record by record.

use std::collections::BTreeSet;
use std::sync::Arc;

use egui::{Align, Layout, Rect, ScrollArea, Sense, Ui, pos2, vec2};

use super::{Judged, SIDE, body, head};
use crate::state::{Compare, CompareAction};
use crate::ui::widgets::{self, Button};
use crate::ui::{Cx, icons};

/// A column is never narrower; more of them scroll.
const MIN_COLUMN: f32 = 240.0;
/// Height of the strip above the columns.
const STRIP: f32 = 34.0;

pub fn records_ui(ui: &mut Ui, cx: &Cx<'_>, compare: &Compare, judged: &Arc<Judged>) {
    let page = &judged.page;
    let (strip, rest) = ui
        .max_rect()
        .split_top_bottom_at_y(ui.max_rect().top() + STRIP);
    let layout = Layout::right_to_left(Align::Center);
    let inside = widgets::region(ui, "compare strip")
        .max_rect(strip.shrink2(vec2(SIDE, 0.0)))
        .layout(layout);
    ui.scope_builder(inside, |ui| {
        ui.spacing_mut().item_spacing.x = 8.0;
        // No more names are folded than there are sections: nothing has to be looked up until all may be.
        let is_folded = compare.folded.len() >= page.sections.len()
            && page
                .sections
                .iter()
                .all(|section| compare.folded.contains(&section.name));
        let (name, icon) = if is_folded {
            ("Unfold all", icons::DOWN)
        } else {
            ("Fold all", icons::RIGHT)
        };
        let tip = "Show only section headings, with their tokens";
        if Button::new(name)
            .icon(icon)
            .small()
            .frameless()
            .tip(tip)
            .clicked(ui)
        {
            let all = page.sections.iter().map(|section| section.name.clone());
            let folded: BTreeSet<String> = if is_folded {
                BTreeSet::new()
            } else {
                all.collect()
            };
            cx.send(CompareAction::SetFolded(folded));
        }
    });
    widgets::line_below(ui, strip);
    widgets::part(ui, "compare columns", rest, |ui| {
        columns_ui(ui, cx, compare, judged)
    });
}

fn columns_ui(ui: &mut Ui, cx: &Cx<'_>, compare: &Compare, judged: &Judged) {
    let area = ui.available_rect_before_wrap();
    let count = judged.page.comparison.columns.len().max(1);
    let width = (area.width() / count as f32).max(MIN_COLUMN).floor();
    ScrollArea::horizontal()
        .id_salt("compare across")
        .auto_shrink(false)
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing = vec2(0.0, 0.0);
            let left = ui.cursor().left();
            let whole = Rect::from_min_size(
                pos2(left, area.top()),
                vec2(width * count as f32, area.height()),
            );
            ui.allocate_rect(whole, Sense::hover());
            for at in 0..judged.page.comparison.columns.len() {
                let place = Rect::from_min_size(
                    pos2(left + at as f32 * width, area.top()),
                    vec2(width, head::HEIGHT),
                );
                if ui.is_rect_visible(place) {
                    head::head_ui(ui, cx, compare, judged, at, place);
                }
            }
            let (heads, below) = whole.split_top_bottom_at_y(whole.top() + head::HEIGHT);
            widgets::line_below(ui, heads);
            widgets::part(ui, "compare texts", below, |ui| {
                body::body_ui(ui, cx, compare, judged, below, width);
            });
            for at in 1..count {
                widgets::vline(ui, left + at as f32 * width, whole.y_range());
            }
        });
}
