//! The bar to find in all panes. The engine finds; here one steps from place to place.

use std::ops::Range;
use std::sync::Arc;

use egui::{Color32, Id, Key, Rect, Stroke, Ui, vec2};

use super::PaneCx;
use super::title::pane_title;
use crate::state::{PaneContent, QueryState, ViewAction};
use crate::ui::theme::{self, ThemeTokens};
use crate::ui::widgets::{self, Button};
use crate::ui::{Cx, icons};
use loupe_analysis::queries::{
    FIND_LIMIT, FindDataQuery, FindHostQuery, FindQuery, Search, SearchKind,
};
use loupe_core::format::ParsedCapture;

/// The ways to write what is looked for, with a hint for the field.
const KINDS: [(SearchKind, &str, &str); 3] = [
    (SearchKind::Plain, "Plain", "Find in all panes"),
    (SearchKind::Regex, "Regex", r"such as \bid-\d+ or (?i)north"),
    (
        SearchKind::JsonPath,
        "JSONPath",
        "such as $.items[?@.price > 10].name",
    ),
];
/// Width of the bar from which on it counts in each pane by name.
const WIDE: f32 = 820.0;

/// What was found in a pane, in trees and tables by node; `None` where nothing is looked for.
fn ask_places<'a>(cx: &Cx<'a>, pane: &PaneCx) -> Option<QueryState<'a, Arc<[Range<usize>]>>> {
    let search = cx
        .state
        .view
        .search
        .as_ref()
        .filter(|search| pane.index < 3 && !search.text.is_empty())?
        .clone();
    Some(match cx.state.view.shows(pane.index).content() {
        PaneContent::Host(host) => cx.ask(FindHostQuery {
            host,
            with_cuts: cx.state.view.hosts.shows_removed,
            search,
        }),
        PaneContent::Data => cx.ask(FindDataQuery(search)),
        PaneContent::Format(format) => cx.ask(FindQuery { format, search }),
    })
}

/// What was found in a pane, in trees and tables by node; nothing where nothing is looked for.
pub fn places<'a>(cx: &Cx<'a>, pane: &PaneCx) -> &'a [Range<usize>] {
    ask_places(cx, pane)
        .and_then(QueryState::ready)
        .map_or(&[], |found| found)
}

fn index_id(pane: &PaneCx) -> Id {
    Id::unique(("find index", pane.index))
}

/// The place that was stepped to last, in the pane that has the keys.
pub fn current<'a>(ui: &Ui, cx: &Cx<'a>, pane: &PaneCx) -> Option<&'a Range<usize>> {
    let places = Some(places(cx, pane)).filter(|_| pane.is_focused)?;
    let index: usize = widgets::recall(ui, index_id(pane)).unwrap_or(0);
    places.get(index.min(places.len().checked_sub(1)?))
}

/// How a place is marked: the one stepped to last stands out.
pub fn colors(t: &ThemeTokens, is_current: bool) -> (Color32, Stroke) {
    if is_current {
        (t.sel, Stroke::new(1.0, t.accent))
    } else {
        (t.warn_bg, Stroke::new(1.0, t.warn_line))
    }
}

/// Turns a pane to a place.
fn go(ui: &Ui, pane: &PaneCx, places: &[Range<usize>], index: usize) {
    ui.data_mut(|data| {
        data.insert_temp(index_id(pane), index);
        data.insert_temp(pane.goto_id(), places[index].start);
    });
}

/// The bar above the panes, where something is looked for; the room that is left. `open` are the panes that are not closed.
pub fn search_ui(
    ui: &mut Ui,
    cx: &Cx<'_>,
    rect: Rect,
    open: &[usize],
    subject: Option<&ParsedCapture>,
) -> Rect {
    let Some(search) = &cx.state.view.search else {
        return rect;
    };
    let t = theme::of(ui);
    let bar = Rect::from_min_size(rect.min, vec2(rect.width(), 38.0));
    ui.painter().rect_filled(bar, 0.0, t.card);
    widgets::line_below(ui, bar);
    widgets::line_part(ui, "find", bar.shrink2(vec2(12.0, 0.0)), |ui| {
        ui.spacing_mut().item_spacing.x = 8.0;
        let is_wide = bar.width() >= WIDE;
        let selected = KINDS
            .iter()
            .position(|(kind, ..)| *kind == search.kind)
            .unwrap_or(0);
        let mut text = search.text.to_string();
        let edit = ui.add(
            egui::TextEdit::singleline(&mut text)
                .id_salt("find field")
                .hint_text(KINDS[selected].2)
                .desired_width(if is_wide { 260.0 } else { 150.0 }),
        );
        widgets::say(&edit, egui::Role::TextInput, KINDS[0].2);
        let pass = ui.ctx().cumulative_pass_nr();
        let painted = Id::unique("find painted");
        let last: Option<u64> = widgets::recall(ui, painted);
        if last.is_none_or(|last| last + 1 < pass) {
            edit.request_focus();
        }
        widgets::remember(ui, painted, pass);
        if edit.changed() {
            cx.send(ViewAction::SetSearch(Some(Search {
                text: text.into(),
                kind: search.kind,
            })));
        }
        if let Some(kind) =
            widgets::segmented(ui, "Find by", &KINDS.map(|(_, name, _)| name), selected)
        {
            cx.send(ViewAction::SetSearch(Some(Search {
                kind: KINDS[kind].0,
                ..search.clone()
            })));
        }
        let is_enter = edit.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        let is_back = ui.input(|input| input.modifiers.shift);
        if is_enter {
            edit.request_focus();
        }
        let next =
            widgets::icon_button(ui, icons::DOWN, "Next place").clicked() || (is_enter && !is_back);
        let previous = widgets::icon_button(ui, icons::UP, "Previous place").clicked()
            || (is_enter && is_back);
        let close = bar.right() - 12.0 - theme::ICON_BUTTON;
        let focus = cx.state.view.focus;
        // The pane that has the keys comes first: of the others a narrow bar has no room.
        let others = open.iter().filter(|pane| is_wide && **pane != focus);
        for &pane in open.iter().filter(|pane| **pane == focus).chain(others) {
            let title = pane_title(cx, cx.state.view.shows(pane), subject, t);
            let pane = PaneCx::new(cx, pane);
            let places = match ask_places(cx, &pane) {
                Some(QueryState::Ready(places)) => places,
                Some(QueryState::Failed(problem)) if pane.is_focused => {
                    let room = close - ui.cursor().left() - 8.0;
                    let at = egui::pos2(ui.cursor().left(), bar.center().y);
                    widgets::text_at(ui, at, problem.what.as_str(), theme::small(), t.bad, room);
                    let (place, _) =
                        ui.allocate_exact_size(vec2(room.max(0.0), 20.0), egui::Sense::hover());
                    let response = widgets::sense(ui, place, "why not", egui::Sense::hover());
                    response.widget_info(|| {
                        egui::WidgetInfo::labeled(egui::Role::Alert, true, &problem.what)
                    });
                    response.on_hover_text(&problem.what);
                    return;
                }
                _ => continue,
            };
            let seen = index_id(&pane).with("of");
            let is_new = widgets::recall::<Search>(ui, seen).as_ref() != Some(search);
            let mut index: usize = widgets::recall(ui, index_id(&pane)).unwrap_or(0);
            index = index.min(places.len().saturating_sub(1));
            if is_new {
                widgets::remember(ui, seen, search.clone());
                index = 0;
            }
            if pane.is_focused && next && !places.is_empty() {
                index = (index + 1) % places.len();
            } else if pane.is_focused && previous && !places.is_empty() {
                index = (index + places.len() - 1) % places.len();
            }
            if (is_new || (pane.is_focused && (next || previous))) && !places.is_empty() {
                go(ui, &pane, places, index);
            }
            count_ui(ui, cx, &pane, &title.name, index, places.len());
        }
    });
    let corner = Rect::from_min_max(
        egui::pos2(bar.right() - 12.0 - theme::ICON_BUTTON, bar.top()),
        bar.max,
    );
    widgets::line_part(ui, "find end", corner, |ui| {
        if widgets::icon_button(ui, icons::CLOSE, "Close find").clicked() {
            cx.send(ViewAction::SetSearch(None));
        }
    });
    rect.with_min_y(bar.bottom())
}

/// How much was found in a pane, and which place of it one is at; a click on another pane's turns to it.
fn count_ui(ui: &mut Ui, cx: &Cx<'_>, pane: &PaneCx, title: &str, index: usize, count: usize) {
    let t = theme::of(ui);
    let all = match count {
        FIND_LIMIT => format!("more than {}", widgets::grouped(FIND_LIMIT as u64)),
        count => widgets::grouped(count as u64),
    };
    if !pane.is_focused {
        let name = format!("{title} {all}");
        if Button::new(&name)
            .key(super::PLACES[pane.index])
            .tip("Step through these")
            .frameless()
            .height(24.0)
            .clicked(ui)
        {
            cx.send(ViewAction::FocusPane(pane.index));
        }
        return;
    }
    let words = if count == 0 {
        "No matches".to_owned()
    } else {
        format!("{} of {all}", widgets::grouped(index as u64 + 1))
    };
    let label = widgets::words(ui, words, theme::code(), t.text);
    widgets::announce(ui, label.id);
    widgets::note(ui, format!("in {title}"));
}
