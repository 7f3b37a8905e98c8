//! The head of a pane: what it shows and what that costs, the menu to choose something else, copying and closing.

use egui::{Align, Align2, Layout, Popup, Rect, Response, Role, Sense, Ui, pos2, vec2};

use super::finding_nav::PlacesChip;
use super::title::Title;
use super::{PANES, PLACES, copy_action, kind};
use crate::state::{PaneContent, PaneView, QueryState, ViewAction};
use crate::ui::marks;
use crate::ui::region::{Region, region};
use crate::ui::theme;
use crate::ui::widgets::{self, Button};
use crate::ui::{Cx, diff, icons};
use loupe_analysis::queries::{HostsQuery, RowQuery};
use loupe_core::token::Count;

/// Width of a pane from which on the host it is viewed as has its name.
const VIEW_AS_WHOLE: f32 = 560.0;

/// What the head of the last pane needs next to its title and the panes that it offers, for whom it is viewed as and the
/// places of findings.
const ROOM_FOR_PLACES: f32 = 400.0;

/// Tokens and bytes of what a pane shows, where they are known.
pub fn cost(cx: &Cx<'_>, view: PaneView, title: &Title) -> Option<(Count, u64)> {
    if let PaneContent::Host(host) = view.content() {
        let row = cx.ready(HostsQuery)?.row(host)?;
        return Some((
            Count::Exact(row.tokens?.get(cx.state.settings.encoding())),
            row.bytes,
        ));
    }
    let row = cx.ready(RowQuery(title.row?))?;
    if row.is_available() {
        Some((cx.count(row)?.ok()?, row.bytes))
    } else {
        None
    }
}

/// Whether the cost of a pane is still worked on.
pub fn is_counting(cx: &Cx<'_>, view: PaneView, title: &Title) -> bool {
    if matches!(view.content(), PaneContent::Host(_)) {
        return matches!(cx.ask(HostsQuery), QueryState::Working { .. });
    }
    match title.row.map(|format| cx.ask(RowQuery(format))) {
        Some(QueryState::Working { .. }) => true,
        Some(QueryState::Ready(row)) => row.is_available() && cx.count(row).is_none(),
        _ => false,
    }
}

/// About what a count that is still worked on will take, so that little moves from under the pointer when it is known.
pub fn sample(cx: &Cx<'_>) -> Count {
    if cx.state.settings.tokenizer.is_exact() {
        Count::Exact(9_999)
    } else {
        Count::claude(1_000)
    }
}

/// Keeps the place of a cost.
fn counting_ui(ui: &mut Ui, cx: &Cx<'_>, room_for_bytes: bool) {
    let t = theme::of(ui);
    let width = |text: &str, font| widgets::text_width(ui, text, font);
    let mut room = width(
        &widgets::count_text(sample(cx), "tok"),
        theme::mono_semibold(12.0),
    );
    if room_for_bytes {
        room += width(&widgets::bytes(9_999), theme::code()) + 8.0 + ui.spacing().item_spacing.x;
    }
    let (place, response) = ui.allocate_exact_size(vec2(room, theme::code().size), Sense::hover());
    ui.painter().text(
        place.right_center(),
        Align2::RIGHT_CENTER,
        "counting…",
        theme::small(),
        t.weak,
    );
    widgets::say(&response, Role::Label, "counting…");
}

/// `others` are the panes that are not shown, offered by the last one that is.
pub fn header_ui(
    ui: &mut Ui,
    cx: &Cx<'_>,
    pane: usize,
    rect: Rect,
    title: &Title,
    view: PaneView,
    others: Option<Vec<(usize, String)>>,
) {
    let t = theme::of(ui);
    let is_last = others.is_some();
    let others = others.unwrap_or_default();
    ui.scope_builder(
        widgets::region(ui, "header")
            .max_rect(rect.shrink2(vec2(6.0, 0.0)))
            .layout(Layout::right_to_left(Align::Center)),
        |ui| {
            ui.spacing_mut().item_spacing.x = 2.0;
            if widgets::icon_button(ui, icons::CLOSE, &format!("Close {}", title.name)).clicked() {
                cx.send(ViewAction::TogglePane(pane));
            }
            let is_maximised = cx.state.view.maximised == Some(pane);
            let (icon, name) = if is_maximised {
                (icons::RESTORE, "Restore")
            } else {
                (icons::MAXIMISE, "Maximise")
            };
            if widgets::icon_button(ui, icon, &format!("{name} {}", title.name)).clicked() {
                cx.send(ViewAction::ToggleMaximised(pane));
            }
            // What a pane is comes before what can be done with it: the whole pane is copied by key as well.
            let name = widgets::text_width(ui, title.name.clone(), theme::title());
            // Who looks at findings sees their places rather than that nothing is cut.
            let gives_way = marks::is_looked_at(cx)
                && cx.state.view.hosts.view_as.is_none()
                && rect.width() < name + ROOM_FOR_PLACES + others.len() as f32 * 38.0;
            let view_as = match is_last {
                true if gives_way => 0.0,
                true if rect.width() < 372.0 => 56.0,
                true if rect.width() < VIEW_AS_WHOLE => 90.0,
                true => 132.0,
                false => 0.0,
            };
            let words = widgets::text_width(ui, title.short.clone(), theme::title());
            // A pane that is not shown is offered by name where there is room, else by a plus.
            let least = rect.width() - view_as - others.len() as f32 * 38.0 - 196.0;
            let places = PlacesChip::fitting(ui, cx, pane, view, least - name)
                .or_else(|| PlacesChip::fitting(ui, cx, pane, view, least - words));
            let marks = places.as_ref().map_or(0.0, |places| places.width + 10.0);
            let is_named =
                rect.width() - view_as - marks - others.len() as f32 * 112.0 >= words + 190.0;
            let chips = marks + others.len() as f32 * if is_named { 112.0 } else { 38.0 };
            if rect.width() - view_as - chips >= words + 226.0 {
                copy_button(ui, cx, view, title);
            }
            if let Some(places) = &places {
                ui.add_space(8.0);
                places.show(ui, cx);
            }
            ui.add_space(8.0);
            let room_for_bytes = rect.width() - name > 300.0 + view_as + chips;
            if let Some((tokens, bytes)) = cost(cx, view, title) {
                let bytes = widgets::bytes(bytes);
                let tokens = widgets::count_text(tokens, "tok");
                // Swatch, caret, three buttons and the tokens come first; names are not elided to show a size.
                let spare = rect.width() - name - 230.0 - view_as - chips;
                // Where there is no room for both, what changed takes the place of what it is now.
                let is_tight = spare < 90.0;
                let has_chip =
                    diff::pane_chip(ui, cx, view, if is_tight { spare + 75.0 } else { spare });
                if has_chip {
                    ui.add_space(8.0);
                }
                if !has_chip && room_for_bytes {
                    widgets::words(ui, bytes, theme::code(), t.weak);
                    ui.add_space(8.0);
                }
                if !(has_chip && is_tight) {
                    number_label(ui, &tokens);
                }
            } else if is_counting(cx, view, title) {
                counting_ui(ui, cx, room_for_bytes);
            }
            if is_last && !gives_way {
                ui.add_space(8.0);
                crate::ui::view_as::view_as_ui(ui, cx, rect.width() < VIEW_AS_WHOLE);
            }
            if is_last && cx.state.view.open.contains(&false) {
                ui.add_space(8.0);
                super::variant::variant_ui(ui, cx);
            }
            for (pane, name) in others {
                ui.add_space(8.0);
                let spoken = format!("Show {name}");
                if Button::new(if is_named { &name } else { "" })
                    .icon(icons::ADD)
                    .name(&spoken)
                    .key(PLACES[pane])
                    .tip(&spoken)
                    .height(22.0)
                    .clicked(ui)
                {
                    let is_open = cx.state.view.open[pane];
                    cx.send(if is_open {
                        ViewAction::FocusPane(pane)
                    } else {
                        ViewAction::TogglePane(pane)
                    });
                }
            }
            let left = Rect::from_min_max(
                rect.min + vec2(16.0, 0.0),
                pos2(ui.cursor().right() - 8.0, rect.bottom()),
            );
            widgets::line_part(ui, "title", left, |ui| {
                ui.spacing_mut().item_spacing.x = 8.0;
                widgets::swatch(ui, title.hue.color);
                let response = title_button(ui, title, left.right());
                if cx.state.view.focus == pane {
                    region(ui, Region::Panes, rect, &response);
                }
                chooser(&response, cx, pane, view);
            });
        },
    );
}

/// Number strong, unit weak.
fn number_label(ui: &mut Ui, text: &str) {
    let t = theme::of(ui);
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    let mut job = egui::text::LayoutJob::default();
    job.append(
        number,
        0.0,
        egui::TextFormat::simple(theme::mono_semibold(12.0), t.strong),
    );
    job.append(
        &format!(" {unit}"),
        0.0,
        egui::TextFormat::simple(theme::code(), t.weak),
    );
    ui.label(job);
}

fn title_button(ui: &mut Ui, title: &Title, right: f32) -> Response {
    let t = theme::of(ui);
    let room = (right - ui.cursor().left()).max(40.0);
    let whole = ui
        .painter()
        .layout_no_wrap(title.name.clone(), theme::title(), t.strong);
    // A shorter name before half of a long one.
    let shown = if whole.size().x + 20.0 <= room {
        &title.name
    } else {
        &title.short
    };
    let name = ui
        .painter()
        .layout_no_wrap(shown.clone(), theme::title(), t.strong);
    let width = (name.size().x + 20.0).min(room);
    let (rect, response) = widgets::keyed(ui, vec2(width, 26.0), Sense::click(), "title");
    let label = if title.subtitle.is_empty() {
        title.name.clone()
    } else {
        format!("{} · {}", title.name, title.subtitle)
    };
    widgets::say(&response, Role::Button, &label);
    if response.hovered() {
        ui.painter()
            .rect_filled(rect.expand2(vec2(4.0, 0.0)), theme::RADIUS_CONTROL, t.hover);
    }
    let end = widgets::text_at(
        ui,
        rect.left_center(),
        shown,
        theme::title(),
        t.strong,
        (width - 18.0).max(20.0),
    );
    widgets::glyph_at(
        ui,
        pos2(end + 11.0, rect.center().y),
        icons::DOWN,
        theme::icon_font(11.0),
        if response.hovered() { t.text } else { t.weak },
    );
    widgets::focus_ring(ui, &response, theme::RADIUS_CONTROL);
    let rest = right - rect.right() - 8.0;
    let needed = widgets::text_width(ui, title.subtitle.clone(), theme::small());
    // A short word is shown whole or not at all; a sentence may be elided.
    // Where data is from is on a line of its own.
    if !title.subtitle.is_empty() && title.name != "Data" && rest > needed.min(140.0) {
        widgets::text_at(
            ui,
            pos2(rect.right() + 6.0, rect.center().y),
            &title.subtitle,
            theme::small(),
            t.weak,
            rest,
        );
    }
    response.on_hover_text(label)
}

/// The menu under a pane's title: everything a pane can show.
pub fn chooser(response: &Response, cx: &Cx<'_>, pane: usize, view: PaneView) {
    Popup::menu(response).width(260.0).show(|ui| {
        let chooser = Chooser { cx, pane, view };
        egui::ScrollArea::vertical()
            .max_height(520.0)
            .show(ui, |ui| {
                ui.spacing_mut().item_spacing.y = 0.0;
                // The last are hosts, of which there are many.
                let (before, last) = PANES.split_at(PANES.len() - 1);
                before
                    .iter()
                    .for_each(|kind| (kind.choices)(ui, cx, &chooser));
                if let Some(options) = kind(view).options {
                    options(ui, cx, &chooser);
                }
                last.iter()
                    .for_each(|kind| (kind.choices)(ui, cx, &chooser));
            });
    });
}

/// What the menu of a pane is made with.
pub struct Chooser<'a> {
    cx: &'a Cx<'a>,
    pane: usize,
    /// What the pane shows now.
    view: PaneView,
}

impl Chooser<'_> {
    /// One thing to show.
    pub fn offer(&self, ui: &mut Ui, shows: PaneView, label: &str) {
        let t = theme::of(ui);
        let hue = match shows.content() {
            PaneContent::Format(format) => t.hue(format),
            PaneContent::Data => t.hue_structured,
            PaneContent::Host(_) => t.hue_both,
        };
        if widgets::choose_row(ui, label, Some(hue.color), shows == self.view) {
            self.cx.send(ViewAction::SetPane {
                pane: self.pane,
                shows,
            });
        }
    }

    /// What the following have in common.
    pub fn heading(&self, ui: &mut Ui, text: &str) {
        let t = theme::of(ui);
        ui.add_space(6.0);
        widgets::words(ui, text, theme::regular(11.5), t.weak);
        ui.add_space(2.0);
    }
}

pub fn copy_button(ui: &mut Ui, cx: &Cx<'_>, view: PaneView, title: &Title) {
    let name = format!("Copy {}", title.name);
    let copying = copy_action(cx, view);
    let button = Button::new("")
        .icon(icons::COPY)
        .name(&name)
        .tip(&name)
        .frameless()
        .height(theme::ICON_BUTTON);
    if button.enabled(copying.is_some()).clicked(ui)
        && let Some(copying) = copying
    {
        cx.send(copying());
    }
}
