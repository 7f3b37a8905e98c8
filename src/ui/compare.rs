//! The screen that shows several calls side by side: what each column costs and keeps, one computed sentence, the texts
//! aligned by record, and what differs as a list.

mod below;
mod body;
mod card;
mod controls;
mod curve;
mod hosts;
mod losses;
mod needed;
mod offer;
mod place;
mod rendered;
mod room;

use std::sync::Arc;

use egui::{Align, Id, Layout, Popup, PopupCloseBehavior, Rect, RichText, ScrollArea, Sense, Stroke, Ui, UiBuilder, pos2, vec2};

use super::theme::{self, ThemeTokens};
use super::widgets::{self, Button};
use super::{Cx, icons};
use crate::analysis::sweep::{Column, SweepPage};
use crate::state::{Action, CallAction, Compare, CompareAction, QueryState};
use crate::ui::panes::format_title;

pub use offer::{EQUAL, button_ui, by_key, equal_by_key, equal_ui, offer_ui, variant_ui};
pub use room::{HEIGHT as ROOM, has_room, room_ui};

/// A column is never narrower; more of them scroll.
const MIN_COLUMN: f32 = 240.0;
const CARD: f32 = 112.0;
/// Below this width the controls stand under the head.
const NARROW: f32 = 860.0;
const SIDE: f32 = 14.0;

pub fn compare_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let Some(compare) = &cx.state.comparisons.current else {
        widgets::empty_ui(ui, "Nothing is compared yet. The button beside Call compares the formats of a tool.", None);
        return;
    };
    let t = ThemeTokens::of(ui);
    let page = page(ui, cx, compare);
    // Where the head has no room for them, the controls have a row of their own.
    let is_narrow = ui.available_width() < NARROW;
    let rest = widgets::mode_head(ui, cx, &compare.title(), |ui| {
        if !is_narrow {
            controls::controls_ui(ui, cx, compare, page.as_deref());
        }
    });
    ui.allocate_rect(rest, Sense::hover());
    ui.painter().rect_filled(rest, 0.0, t.panel);
    let mut top = rest.top();
    if is_narrow {
        let row = Rect::from_min_size(rest.min, vec2(rest.width(), theme::HEADER + 4.0));
        let layout = Layout::right_to_left(Align::Center);
        let row = widgets::region(ui, "compare controls").max_rect(row.shrink2(vec2(SIDE, 0.0))).layout(layout);
        ui.scope_builder(row, |ui| controls::controls_ui(ui, cx, compare, page.as_deref()));
        top += theme::HEADER + 4.0;
    }
    top += progress_ui(ui, cx, compare, rest.with_min_y(top));
    let Some(page) = page else {
        ui.scope_builder(UiBuilder::new().max_rect(rest.with_min_y(top)), |ui| waiting_ui(ui, cx, compare));
        return;
    };
    top += verdict_ui(ui, cx, &page, rest.with_min_y(top));
    let rest = rest.with_min_y(top);
    if compare.is_curve && !page.curves.is_empty() {
        ui.scope_builder(UiBuilder::new().max_rect(rest.shrink(12.0)), |ui| curve::curve_ui(ui, cx, &page));
        return;
    }
    top += controls::strip_ui(ui, cx, compare, &page, rest);
    let rest = rest.with_min_y(top);
    let below = if rest.height() > 320.0 { below::height(cx, compare, &page).min(rest.height() * 0.3) } else { 0.0 };
    let middle = rest.with_max_y(rest.bottom() - below);
    ui.scope_builder(widgets::region(ui, "compare columns").max_rect(middle), |ui| columns_ui(ui, cx, compare, &page));
    if below > 0.0 {
        ui.painter().hline(rest.x_range(), middle.bottom() + 0.5, Stroke::new(1.0, t.line));
        let area = rest.with_min_y(middle.bottom() + 1.0);
        ui.scope_builder(widgets::region(ui, "below the columns").max_rect(area), |ui| below::below_ui(ui, cx, compare, &page));
    }
}

/// What is known now; until it is, what was known before, so that nothing flickers.
fn page(ui: &Ui, cx: &Cx<'_>, compare: &Compare) -> Option<Arc<SweepPage>> {
    let id = Id::unique("compare page");
    let (captures, ask) = compare.query()?;
    match cx.ask_of(&captures, ask) {
        QueryState::Ready(page) => {
            ui.data_mut(|data| data.insert_temp(id, (captures, Arc::clone(page))));
            Some(Arc::clone(page))
        }
        QueryState::Working { .. } => {
            let (before, page): (Vec<crate::capture::CaptureId>, Arc<SweepPage>) = ui.data(|data| data.get_temp(id))?;
            (before.first() == captures.first()).then_some(page)
        }
        _ => None,
    }
}

fn waiting_ui(ui: &mut Ui, cx: &Cx<'_>, compare: &Compare) {
    let failed = compare.query().map(|(captures, ask)| cx.ask_of(&captures, ask));
    match failed {
        Some(QueryState::Failed(problem)) => {
            egui::Frame::new().inner_margin(12).show(ui, |ui| widgets::problem_ui(ui, problem));
        }
        Some(QueryState::Working { since }) => {
            ui.add_space(12.0);
            ui.horizontal(|ui| {
                ui.add_space(SIDE);
                widgets::waiting(ui, "Measuring what came", since, cx);
            });
        }
        _ if !compare.series.is_running() && widgets::empty_ui(ui, "No call was made.", Some("Make the calls")) => {
            cx.send(Action::Compare(CompareAction::Again));
        }
        _ => {}
    }
}

/// "Call 2 of 2: response_format=markdown · 0.0 s · Cancel", or which calls were not made and why. Returns its height.
fn progress_ui(ui: &mut Ui, cx: &Cx<'_>, compare: &Compare, rect: Rect) -> f32 {
    const HEIGHT: f32 = 34.0;
    let t = ThemeTokens::of(ui);
    let running = compare.progress().zip(cx.state.running.as_ref());
    let left = compare.not_made();
    if running.is_none() && left.is_empty() {
        return 0.0;
    }
    let strip = Rect::from_min_size(rect.min, vec2(rect.width(), HEIGHT));
    ui.painter().rect_filled(strip, 0.0, if running.is_some() { t.accent_bg } else { t.warn_bg });
    ui.scope_builder(
        widgets::region(ui, "progress").max_rect(strip.shrink2(vec2(SIDE, 0.0))).layout(Layout::left_to_right(Align::Center)),
        |ui| {
            ui.spacing_mut().item_spacing.x = 10.0;
            if let Some((words, running)) = running {
                widgets::waiting(ui, &words, running.since, cx);
                if Button::new("Cancel").small().name("Cancel the comparison").show(ui).clicked() {
                    cx.send(CallAction::Cancel);
                }
            } else {
                let why = compare.series.stopped.as_deref().unwrap_or("not called");
                let words = format!("Not called: {} ({why}). What came is below.", left.join(", "));
                ui.add(egui::Label::new(icons::icon_fill(icons::WARNING, 14.0, t.warn)));
                ui.add(egui::Label::new(RichText::new(words).font(theme::base()).color(t.text)).truncate());
            }
        },
    );
    HEIGHT
}

fn verdict_ui(ui: &mut Ui, cx: &Cx<'_>, page: &SweepPage, rect: Rect) -> f32 {
    let Some(compare) = &cx.state.comparisons.current else { return 0.0 };
    let verdict = cx.state.compare_verdict(compare, &page.sweep);
    let inner = rect.shrink2(vec2(SIDE, 8.0));
    let used = ui.scope_builder(widgets::region(ui, "compare verdict").max_rect(inner), |ui| {
        ui.horizontal_top(|ui| {
            let room = inner.width() - 34.0;
            widgets::verdict_rows(ui, &verdict, room, 5);
            if widgets::icon_button(ui, icons::COPY, "Copy verdict").clicked() {
                cx.send(Action::CopyVerdict);
            }
        });
    });
    (used.response.rect.height() + 16.0).ceil()
}

// Columns

fn columns_ui(ui: &mut Ui, cx: &Cx<'_>, compare: &Compare, page: &Arc<SweepPage>) {
    let area = ui.available_rect_before_wrap();
    let count = page.sweep.columns.len().max(1);
    let width = (area.width() / count as f32).max(MIN_COLUMN).floor();
    ScrollArea::horizontal().id_salt("compare across").auto_shrink(false).show(ui, |ui| {
        ui.spacing_mut().item_spacing = vec2(0.0, 0.0);
        let left = ui.cursor().left();
        let whole = Rect::from_min_size(pos2(left, area.top()), vec2(width * count as f32, area.height()));
        ui.allocate_rect(whole, Sense::hover());
        let most = page.sweep.columns.iter().map(|column| column.row.tokens.get(cx.state.settings.encoding())).max().unwrap_or(0);
        for (at, column) in page.sweep.columns.iter().enumerate() {
            let card = Rect::from_min_size(pos2(left + at as f32 * width, area.top()), vec2(width, CARD));
            if ui.is_rect_visible(card) {
                card::card_ui(ui, cx, compare, page, column, card, most);
            }
        }
        let t = ThemeTokens::of(ui);
        ui.painter().hline(whole.x_range(), whole.top() + CARD - 0.5, Stroke::new(1.0, t.line));
        let below = whole.with_min_y(whole.top() + CARD);
        ui.scope_builder(widgets::region(ui, "compare body").max_rect(below), |ui| {
            if compare.is_rendered {
                rendered::rendered_ui(ui, cx, compare, page, below, width);
            } else {
                body::body_ui(ui, cx, compare, page, below, width);
            }
        });
        for at in 1..count {
            ui.painter().vline(left + at as f32 * width, whole.y_range(), Stroke::new(1.0, t.line));
        }
    });
}

/// A popup that stays while things are ticked in it.
fn stays(button: &egui::Response) -> Popup<'_> {
    Popup::menu(button).close_behavior(PopupCloseBehavior::CloseOnClickOutside)
}

/// Name of a column's format, for menus.
fn column_name(column: &Column) -> &str {
    if column.title.is_empty() { format_title(column.format) } else { &column.title }
}
