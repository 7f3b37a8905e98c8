//! The bar to find in a pane. The engine finds; here one steps from place to place.

use std::ops::Range;

use egui::{Align, Color32, Id, Key, Layout, Rect, RichText, Stroke, Ui, vec2};

use super::PaneCx;
use super::text::goto_id;
use crate::analysis::{FIND_LIMIT, FindDataQuery, FindHostQuery, FindQuery};
use crate::state::{PaneView, ViewAction};
use crate::ui::theme::{self, ThemeTokens};
use crate::ui::{Cx, icons, widgets};

/// What was found in the pane that has the keys, in the tree by node; nothing where nothing is looked for.
pub fn places<'a>(cx: &Cx<'a>, pane: &PaneCx) -> &'a [Range<usize>] {
    let needle = cx.state.view.search.as_deref().filter(|needle| pane.is_focused && pane.index < 3 && !needle.is_empty());
    let found = needle.and_then(|needle| match cx.state.view.shows(pane.index) {
        PaneView::Host(host) => {
            cx.ready(FindHostQuery { host, with_cuts: cx.state.view.hosts.shows_removed, needle: needle.into() })
        }
        PaneView::Tree => cx.ready(FindDataQuery(needle.into())),
        PaneView::Text(_) | PaneView::Rendered(_) => cx.ready(FindQuery { format: pane.format, needle: needle.into() }),
    });
    found.map_or(&[], |found| found)
}

fn index_id(pane: &PaneCx) -> Id {
    Id::unique(("find index", pane.index))
}

/// The place that was stepped to last.
pub fn current<'a>(ui: &Ui, cx: &Cx<'a>, pane: &PaneCx) -> Option<&'a Range<usize>> {
    let places = places(cx, pane);
    let index: usize = ui.data(|data| data.get_temp(index_id(pane))).unwrap_or(0);
    places.get(index.min(places.len().checked_sub(1)?))
}

/// How a place is marked: the one stepped to last stands out.
pub fn colors(t: &ThemeTokens, is_current: bool) -> (Color32, Stroke) {
    if is_current { (t.sel, Stroke::new(1.0, t.accent)) } else { (t.warn_bg, Stroke::new(1.0, t.warn_line)) }
}

/// The bar to find in a pane; the room that is left.
pub fn search_ui(ui: &mut Ui, cx: &Cx<'_>, body: Rect, pane: &PaneCx) -> Rect {
    let t = ThemeTokens::of(ui);
    let bar = Rect::from_min_size(body.min, vec2(body.width(), 38.0));
    ui.painter().rect_filled(bar, 0.0, t.card);
    ui.painter().hline(bar.x_range(), bar.bottom() - 0.5, Stroke::new(1.0, t.line));
    let index_id = index_id(pane);
    ui.scope_builder(
        widgets::region(ui, "find").max_rect(bar.shrink2(vec2(12.0, 0.0))).layout(Layout::left_to_right(Align::Center)),
        |ui| {
            let mut text = cx.state.view.search.clone().unwrap_or_default();
            let edit = ui.add(
                egui::TextEdit::singleline(&mut text).id_salt("find field").hint_text("Find in this pane").desired_width(200.0),
            );
            let pass = ui.ctx().cumulative_pass_nr();
            let last: Option<u64> = ui.data(|data| data.get_temp(index_id.with("painted")));
            if last.is_none_or(|last| last + 1 < pass) {
                edit.request_focus();
            }
            ui.data_mut(|data| data.insert_temp(index_id.with("painted"), pass));
            if edit.changed() {
                cx.send(ViewAction::SetSearch(Some(text)));
            }
            let places = places(cx, pane);
            let mut index: usize = ui.data(|data| data.get_temp(index_id)).unwrap_or(0).min(places.len().saturating_sub(1));
            let label = match places.len() {
                0 => "No matches".to_owned(),
                FIND_LIMIT => {
                    format!("{} of more than {}", widgets::grouped(index as u64 + 1), widgets::grouped(FIND_LIMIT as u64))
                }
                count => format!("{} of {}", widgets::grouped(index as u64 + 1), widgets::grouped(count as u64)),
            };
            ui.label(RichText::new(label).font(theme::code()).color(t.weak));
            let is_enter = edit.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
            let is_back = ui.input(|input| input.modifiers.shift);
            let next = widgets::icon_button(ui, icons::DOWN, "Next place").clicked() || (is_enter && !is_back);
            let previous = widgets::icon_button(ui, icons::UP, "Previous place").clicked() || (is_enter && is_back);
            if is_enter {
                edit.request_focus();
            }
            if !places.is_empty() && (next || previous || edit.changed()) {
                index = match (next, previous) {
                    (true, _) => (index + 1) % places.len(),
                    (_, true) => (index + places.len() - 1) % places.len(),
                    _ => 0,
                };
                ui.data_mut(|data| {
                    data.insert_temp(index_id, index);
                    data.insert_temp(goto_id(pane), places[index].start);
                });
            }
            if widgets::icon_button(ui, icons::CLOSE, "Close find").clicked() {
                cx.send(ViewAction::SetSearch(None));
            }
        },
    );
    body.with_min_y(bar.bottom())
}
