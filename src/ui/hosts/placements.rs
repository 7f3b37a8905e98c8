//! What if the same data were delivered in another way: a grid of deliveries and hosts.

use egui::{Rect, Role, ScrollArea, Sense, Ui, pos2, vec2};

use super::SIDE;
use crate::ui::host_row;
use crate::ui::theme;
use crate::ui::widgets;
use crate::ui::{Cx, icons};
use loupe_analysis::queries::{PlacementCell, PlacementRow, Placements, PlacementsQuery};
use loupe_core::number::grouped;

const ROW: f32 = 24.0;
const HEAD: f32 = 74.0;
const NAME: f32 = 200.0;
/// A column is never narrower; more of them scroll.
const COLUMN: f32 = 138.0;

pub fn deliveries_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let what = "Sending the data in six ways through every host's rules";
    let Some(deliveries) = super::ready(ui, cx, what, cx.ask(PlacementsQuery)) else {
        return;
    };
    let Some(deliveries) = deliveries else {
        widgets::empty_ui(
            ui,
            "This answer has no data that could be sent another way.",
            None,
        );
        return;
    };
    let t = theme::of(ui);
    let encoding = cx.state.settings.encoding();
    let rect = ui.available_rect_before_wrap();
    let inner = rect.shrink2(vec2(SIDE, 0.0));
    let used = widgets::part(ui, "deliveries headline", inner, |ui| {
        ui.set_width(inner.width());
        ui.spacing_mut().item_spacing.y = 2.0;
        ui.add_space(12.0);
        let summary = deliveries.summary(encoding).text();
        let size = if rect.height() < super::LOW {
            14.0
        } else {
            17.0
        };
        widgets::wrapped(ui, summary, theme::semibold(size), t.strong);
        let cells = || deliveries.rows.iter().flat_map(|row| &row.cells);
        let words = "The same data sent in other ways: written by Loupe from this answer and put through every host's rules. No server sent it.";
        let green = if cells().all(|cell| cell.has_text) {
            ""
        } else {
            " Only a green check also shows what the text says beyond the data."
        };
        let words = format!("{words}{green}");
        widgets::note_wrapped(ui, words);
        ui.add_space(8.0);
    });
    let grid = rect.with_min_y(used.response.rect.bottom().ceil());
    widgets::hline(ui, grid.x_range(), grid.top() + 0.5);
    let ranked = deliveries.ranked(encoding);
    let best = ranked.first().map(|best| best.kind);
    let hosts = host_row::first(0..deliveries.hosts.len(), |at| {
        let (host, view) = (&deliveries.hosts[*at], &cx.state.view.hosts);
        host.is_own || view.pinned.contains(&host.id) || view.found.contains(&host.id)
    });
    let count = deliveries.rows.len() as f32;
    let column = ((grid.width() - SIDE - NAME) / count).max(COLUMN).floor();
    widgets::part(ui, "deliveries", grid, |ui| {
        ui.spacing_mut().item_spacing = vec2(0.0, 0.0);
        ScrollArea::horizontal()
            .id_salt("deliveries across")
            .auto_shrink(false)
            .show(ui, |ui| {
                let origin = ui.min_rect().min;
                let width = SIDE + NAME + column * count;
                let place = |at: usize, top: f32, height: f32| {
                    let left = origin.x + SIDE + NAME + at as f32 * column;
                    Rect::from_min_size(pos2(left, top), vec2(column, height))
                };
                let (head, _) = ui.allocate_exact_size(vec2(width, HEAD), Sense::hover());
                for (at, delivery) in deliveries.rows.iter().enumerate() {
                    head_ui(
                        ui,
                        cx,
                        place(at, head.top(), HEAD),
                        delivery,
                        best == Some(delivery.kind),
                    );
                }
                widgets::line_below(ui, head);
                widgets::scroll("deliveries down").show_rows(ui, ROW, hosts.len(), |ui, range| {
                    for host in &hosts[range] {
                        let (line, response) =
                            ui.allocate_exact_size(vec2(width, ROW), Sense::hover());
                        if response.hovered() {
                            ui.painter().rect_filled(line, 0.0, t.hover);
                        }
                        let spoken = host_ui(ui, cx, deliveries, *host, line, |at| {
                            place(at, line.top(), ROW)
                        });
                        widgets::say(&response, Role::Row, &spoken);
                        widgets::line_below(ui, line);
                    }
                });
            });
    });
}

/// The name of a delivery, where its text comes from, how many hosts show it whole, and what it costs.
fn head_ui(ui: &mut Ui, cx: &Cx<'_>, rect: Rect, row: &PlacementRow, is_best: bool) {
    let t = theme::of(ui);
    let (whole, known) = row.whole();
    let is_green = is_best && row.says_all();
    if is_best {
        let color = if is_green { t.ok } else { t.accent };
        ui.painter().rect_filled(
            Rect::from_min_size(rect.min, vec2(rect.width() - 8.0, 2.0)),
            0.0,
            color,
        );
    }
    let room = rect.width() - 10.0;
    let galley = ui.painter().layout(
        row.kind.title().to_owned(),
        theme::semibold(12.5),
        t.strong,
        room,
    );
    ui.painter()
        .galley(rect.min + vec2(0.0, 8.0), galley, t.strong);
    let below = |up: f32| pos2(rect.left(), rect.bottom() - up);
    let message = match row
        .median(cx.state.settings.encoding())
        .filter(|_| row.result.is_some())
    {
        None => {
            widgets::text_at(
                ui,
                below(14.0),
                "cannot be made",
                theme::small(),
                t.weak,
                room,
            );
            format!("{}: {}", row.kind.title(), row.note)
        }
        Some(median) => {
            let share = format!("all facts in {whole} of {known}");
            widgets::text_at(
                ui,
                below(28.0),
                &share,
                theme::medium(12.0),
                if is_green { t.ok } else { t.text },
                room,
            );
            let tokens = format!("{} tok, median", grouped(median));
            widgets::text_at(ui, below(12.0), &tokens, theme::small(), t.weak, room);
            format!(
                "{}: {share}, {tokens}. Its text: {}",
                row.kind.title(),
                row.note
            )
        }
    };
    let response = widgets::sense(ui, rect, ("delivery", row.kind), Sense::hover());
    widgets::say(&response, Role::ColumnHeader, &message);
    response.on_hover_text(message);
}

/// What one host makes of each delivery; the same in words.
fn host_ui(
    ui: &mut Ui,
    cx: &Cx<'_>,
    all: &Placements,
    host: usize,
    line: Rect,
    place: impl Fn(usize) -> Rect,
) -> String {
    let t = theme::of(ui);
    let y = line.center().y;
    let name = &all.hosts[host].name;
    let evidence = host_row::evidence_icon(all.hosts[host].evidence);
    widgets::glyph_at(
        ui,
        pos2(line.left() + SIDE + 6.0, y),
        evidence,
        theme::icon_font(13.0),
        t.weak,
    );
    widgets::name_at(
        ui,
        pos2(line.left() + SIDE + 18.0, y),
        name,
        theme::medium(12.5),
        t.strong,
        NAME - 28.0,
    );
    let mut spoken = vec![name.clone()];
    for (at, delivery) in all.rows.iter().enumerate() {
        let Some(cell) = delivery.cells.get(host) else {
            continue;
        };
        let rect = place(at);
        let words = cell_words(cell);
        let (icon, color) = match (cell.tokens.is_some(), cell.facts) {
            (false, _) => (icons::UNKNOWN, t.weak),
            // Green is for what says all that the result says.
            _ if cell.is_whole() => (icons::CHECK, if cell.has_text { t.ok } else { t.weak }),
            (_, Some(facts)) if facts.missing == facts.total => (icons::ERROR, t.bad),
            _ if cell.limit.is_truncated() == Some(true) => (icons::CUT, t.warn),
            _ => (icons::MISSING, t.warn),
        };
        widgets::glyph_at(
            ui,
            pos2(rect.left() + 6.0, y),
            icon,
            theme::icon_font(13.0),
            color,
        );
        let tokens = cell
            .tokens
            .map(|tokens| grouped(tokens.get(cx.state.settings.encoding())));
        let shown = if cell.is_whole() {
            tokens.clone().unwrap_or_default()
        } else {
            words.clone()
        };
        let color = if cell.is_whole() { t.text } else { color };
        widgets::text_at(
            ui,
            pos2(rect.left() + 18.0, y),
            shown,
            theme::code(),
            color,
            rect.width() - 26.0,
        );
        let tokens = tokens.map_or_else(String::new, |tokens| format!(", {tokens} tokens"));
        spoken.push(format!("{}: {words}{tokens}", delivery.kind.title()));
    }
    spoken.join("; ")
}

fn cell_words(cell: &PlacementCell) -> String {
    match (cell.tokens.is_some(), cell.facts) {
        (true, Some(_)) if cell.is_whole() => "all facts".to_owned(),
        (true, Some(facts)) => format!(
            "{} of {}",
            grouped(facts.total - facts.missing),
            grouped(facts.total)
        ),
        _ => "not known".to_owned(),
    }
}
