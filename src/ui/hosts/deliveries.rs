//! What if the same data were delivered in another way: six deliveries, through every host.

use egui::{Rect, RichText, Role, ScrollArea, Sense, Stroke, Ui, UiBuilder, WidgetInfo, pos2, vec2};

use super::SIDE;
use crate::analysis::{Deliveries, DeliveriesQuery, DeliveryRow};
use crate::number::grouped;
use crate::state::QueryState;
use crate::ui::Cx;
use crate::ui::theme::{self, ThemeTokens};
use crate::ui::widgets;

const ROW: f32 = 62.0;

pub fn deliveries_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let deliveries = match cx.ask(DeliveriesQuery) {
        QueryState::Ready(Some(deliveries)) => deliveries,
        QueryState::Ready(_) => {
            widgets::empty_ui(ui, "This answer has no data that could be delivered in another way.", None);
            return;
        }
        QueryState::Failed(problem) => {
            widgets::problem_ui(ui, problem);
            return;
        }
        QueryState::Working { since } => {
            ui.add_space(24.0);
            ui.horizontal(|ui| {
                ui.add_space(SIDE);
                widgets::waiting(ui, "Sending the data in six ways through every host's rules", since, cx);
            });
            return;
        }
    };
    let t = ThemeTokens::of(ui);
    let encoding = cx.state.settings.encoding();
    ui.add_space(10.0);
    ui.horizontal(|ui| {
        ui.add_space(SIDE);
        ui.vertical(|ui| {
            ui.set_width(ui.available_width() - SIDE);
            let words = "What if the same data came in another way? Made by Loupe from this answer and put through every host's rules; no server sent it.";
            ui.add(egui::Label::new(RichText::new(words).font(theme::small()).color(t.weak)).wrap());
            let width = ui.available_width();
            widgets::verdict_rows(ui, &deliveries.verdict(encoding), width, 4);
        });
    });
    ui.add_space(8.0);
    let rect = ui.available_rect_before_wrap();
    ui.scope_builder(UiBuilder::new().max_rect(rect), |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        ScrollArea::vertical().id_salt("deliveries").auto_shrink(false).show(ui, |ui| {
            for row in &deliveries.rows {
                row_ui(ui, cx, deliveries, row);
            }
        });
    });
}

fn row_ui(ui: &mut Ui, cx: &Cx<'_>, deliveries: &Deliveries, row: &DeliveryRow) {
    let t = ThemeTokens::of(ui);
    let encoding = cx.state.settings.encoding();
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::hover());
    ui.painter().hline(rect.x_range(), rect.top() + 0.5, Stroke::new(1.0, t.line));
    let (left, y) = (rect.left() + SIDE, rect.center().y);
    let numbers = 360.0_f32.min(rect.width() * 0.45);
    let start = rect.right() - SIDE - numbers;
    let room = start - left - 16.0;
    widgets::text_at(ui, pos2(left, y - 18.0), row.kind.title(), theme::semibold(13.0), t.strong, room);
    widgets::text_at(ui, pos2(left, y), &row.note, theme::small(), t.weak, room);
    let Some(median) = row.median(encoding).filter(|_| row.result.is_some()) else {
        widgets::text_at(ui, pos2(start, y), "not to be made of this answer", theme::small(), t.weak, numbers);
        response.widget_info(|| WidgetInfo::labeled(Role::Row, true, format!("{}: {}", row.kind.title(), row.note)));
        return;
    };
    let (whole, known) = row.whole();
    let losers: Vec<&str> = deliveries
        .hosts
        .iter()
        .zip(&row.cells)
        .filter(|(_, cell)| cell.tokens.is_some() && !cell.loses_nothing())
        .map(|(host, _)| host.name.as_str())
        .collect();
    let loses = if losers.is_empty() {
        "whole in every host".to_owned()
    } else {
        format!("not whole in {}: {}", losers.len(), losers.join(", "))
    };
    widgets::text_at(ui, pos2(left, y + 18.0), &loses, theme::small(), if losers.is_empty() { t.ok } else { t.warn }, room);
    let color = if whole == known { t.ok } else { t.text };
    widgets::text_at(
        ui,
        pos2(start, y - 9.0),
        format!("whole in {whole} of {known} hosts"),
        theme::semibold(13.0),
        color,
        numbers,
    );
    widgets::text_at(
        ui,
        pos2(start, y + 9.0),
        format!("{} tokens in the median host", grouped(median)),
        theme::small(),
        t.weak,
        numbers,
    );
    let bar = Rect::from_min_size(pos2(start, y + 22.0), vec2(numbers, 6.0));
    widgets::bar(ui, bar, if known == 0 { 0.0 } else { whole as f32 / known as f32 }, t.hue_derived.color);
    let name = format!(
        "{}: whole in {whole} of {known} hosts, {} tokens in the median host, {loses}",
        row.kind.title(),
        grouped(median)
    );
    response.widget_info(|| WidgetInfo::labeled(Role::Row, true, &name));
    response.on_hover_text(loses);
}
