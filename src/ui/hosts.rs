//! The full view of hosts: every host of one answer in a table, one of them in detail beside it, or two texts side by side;
//! and which way of delivering the data loses least for which of them.

mod deliveries;
mod detail;
pub mod row;

use egui::{Id, Key, Rect, Role, ScrollArea, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use super::theme::{self, ThemeTokens};
use super::widgets::Button;
use super::{Cx, icons, panes, widgets};
use crate::analysis::{HostRow, HostsQuery, HostsReport};
use crate::number::grouped;
use crate::state::{Action, HostFilter, HostSort, HostsAction, ProbeAction, QueryState};

/// Room that the words of the head's controls need, beside what stands at their right.
const PROBE_WORDS: f32 = 430.0;
const FILTER: f32 = 280.0;
const ROW: f32 = 42.0;
const HEAD: f32 = 28.0;
const FOOT: f32 = 28.0;
const SIDE: f32 = 16.0;
/// From this width on the detail stands beside the table, below it under it.
const BESIDE: f32 = 900.0;

pub fn hosts_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let view = &cx.state.view.hosts;
    let known = match cx.ask(HostsQuery) {
        QueryState::Ready(report) => Some(&**report),
        _ => None,
    };
    let rect = widgets::mode_head(ui, cx, "What each host's model sees", |ui| {
        let tables = ["Hosts", "Deliveries"];
        if let Some(chosen) = widgets::segmented(ui, "Table", &tables, usize::from(view.shows_deliveries)) {
            cx.send(Action::Hosts(HostsAction::ShowDeliveries(chosen == 1)));
        }
        let is_wide = ui.available_width() >= PROBE_WORDS;
        let probe = if is_wide {
            Button::new("Probe a host…").icon(icons::INFERRED).tip("Find out what a host shows its model, and keep it").show(ui)
        } else {
            widgets::icon_button(ui, icons::INFERRED, "Probe a host…")
        };
        if probe.clicked() {
            cx.send(Action::Probe(ProbeAction::Show));
        }
        if let Some(report) = known.filter(|_| !view.shows_deliveries && ui.available_width() >= FILTER) {
            filter_ui(ui, cx, report);
        }
    });
    ui.scope_builder(widgets::region(ui, "hosts").max_rect(rect), |ui| {
        if view.shows_deliveries {
            return deliveries::deliveries_ui(ui, cx);
        }
        match (cx.ask(HostsQuery), known) {
            (_, Some(report)) => body_ui(ui, cx, rect, report),
            (QueryState::Failed(problem), _) => {
                widgets::problem_ui(ui, problem);
            }
            (QueryState::Working { since }, _) => {
                ui.add_space(24.0);
                ui.horizontal(|ui| {
                    ui.add_space(SIDE);
                    widgets::waiting(ui, "Reading the answer as each host does", since, cx);
                });
            }
            (QueryState::Ready(_), None) => {}
        }
    });
}

fn is_in(row: &HostRow, filter: HostFilter) -> bool {
    let parts = (row.shares.has_content, row.shares.has_structured);
    match filter {
        HostFilter::All => true,
        HostFilter::Structured => parts == (false, true),
        HostFilter::Content => parts == (true, false),
        HostFilter::Both => parts == (true, true),
    }
}

fn filter_ui(ui: &mut Ui, cx: &Cx<'_>, report: &HostsReport) {
    let names: Vec<String> = HostFilter::ALL
        .iter()
        .map(|filter| format!("{} {}", filter.title(), report.rows.iter().filter(|row| is_in(row, *filter)).count()))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let at = HostFilter::ALL.iter().position(|filter| *filter == cx.state.view.hosts.filter).unwrap_or(0);
    if let Some(chosen) = widgets::segmented(ui, "Model sees", &names, at) {
        cx.send(Action::Hosts(HostsAction::Filter(HostFilter::ALL[chosen])));
    }
}

/// The rows as they are shown: own and pinned hosts first.
fn shown<'a>(cx: &Cx<'_>, report: &'a HostsReport) -> Vec<&'a HostRow> {
    let view = &cx.state.view.hosts;
    let encoding = cx.state.settings.encoding();
    let mut rows: Vec<&HostRow> = match view.sort {
        HostSort::Lost => report.sorted().collect(),
        HostSort::Name => report.by_name().collect(),
        HostSort::Tokens => report.by_tokens(encoding).collect(),
    };
    rows.retain(|row| is_in(row, view.filter));
    if view.is_reversed {
        rows.reverse();
    }
    row::first(rows, |row| row::is_first(row, view))
}

fn body_ui(ui: &mut Ui, cx: &Cx<'_>, rect: Rect, report: &HostsReport) {
    let t = ThemeTokens::of(ui);
    let rows = shown(cx, report);
    let selected = cx.state.view.hosts.selected.and_then(|id| report.row(id)).or(rows.first().copied());
    let (table, detail) = if rect.width() >= BESIDE {
        let is_double = cx.state.view.hosts.beside.is_some();
        let width = if is_double { rect.width() * 0.55 } else { (rect.width() * 0.38).min(416.0) };
        let x = (rect.right() - width).round();
        ui.painter().vline(x - 0.5, rect.y_range(), Stroke::new(1.0, t.line));
        (rect.with_max_x(x - 1.0), rect.with_min_x(x))
    } else {
        let y = (rect.top() + rect.height() * 0.46).round();
        ui.painter().hline(rect.x_range(), y - 0.5, Stroke::new(1.0, t.line));
        (rect.with_max_y(y - 1.0), rect.with_min_y(y))
    };
    ui.scope_builder(widgets::region(ui, "table").max_rect(table), |ui| table_ui(ui, cx, table, report, &rows, selected));
    if let Some(row) = selected {
        ui.scope_builder(widgets::region(ui, "detail").max_rect(detail), |ui| {
            ui.set_clip_rect(detail.intersect(ui.clip_rect()));
            detail::detail_ui(ui, cx, detail, report, row);
        });
    }
}

struct Columns {
    name: f32,
    sees: Option<f32>,
    bar: Rect,
    tokens: f32,
    facts: f32,
    limit: Option<f32>,
    evidence: Option<f32>,
}

impl Columns {
    fn of(rect: Rect) -> Self {
        let width = rect.width();
        let mut right = rect.right() - SIDE;
        let mut take = |size: f32, is_shown: bool| {
            right -= if is_shown { size } else { 0.0 };
            is_shown.then_some(right)
        };
        let evidence = take(106.0, width > 820.0);
        let limit = take(154.0, width > 660.0);
        let facts = take(126.0, true).unwrap_or(0.0);
        let tokens = take(12.0, true).unwrap_or(0.0);
        let name = rect.left() + SIDE;
        let sees = (width > 520.0).then_some(name + 172.0);
        let start = sees.map_or(name + 190.0, |sees| sees + 148.0);
        let bar = Rect::from_x_y_ranges(start..=(tokens - 66.0).max(start), rect.y_range());
        Self { name, sees, bar, tokens, facts, limit, evidence }
    }
}

fn table_ui(ui: &mut Ui, cx: &Cx<'_>, rect: Rect, report: &HostsReport, rows: &[&HostRow], selected: Option<&HostRow>) {
    let t = ThemeTokens::of(ui);
    ui.add_space(10.0);
    ui.horizontal(|ui| {
        ui.add_space(SIDE);
        let verdict = report.verdict(cx.state.settings.encoding());
        let room = rect.width() - 2.0 * SIDE - 36.0;
        widgets::verdict_rows(
            ui,
            &verdict,
            room,
            match rect.height() {
                ..240.0 => 1,
                ..500.0 => 2,
                _ => 6,
            },
        );
        if widgets::icon_button(ui, icons::COPY, "Copy what hosts see").clicked() {
            cx.send(Action::Copy(verdict.text()));
        }
    });
    ui.add_space(8.0);
    for problem in &report.problems {
        ui.horizontal(|ui| {
            ui.add_space(SIDE);
            ui.set_max_width(rect.width() - 2.0 * SIDE);
            widgets::problem_ui(ui, problem);
        });
    }
    let top = ui.cursor().top();
    head_ui(ui, cx, Rect::from_min_size(pos2(rect.left(), top), vec2(rect.width(), HEAD)));
    let list = Rect::from_min_max(pos2(rect.left(), top + HEAD), pos2(rect.right(), rect.bottom() - FOOT));
    let focus = ui.interact(list, Id::unique("all hosts"), Sense::focusable_noninteractive());
    focus.widget_info(|| WidgetInfo::labeled(Role::Table, true, "Hosts"));
    keys(ui, cx, &focus, rows, selected);
    let most = row::most(report, cx.state.settings.encoding());
    ui.scope_builder(widgets::region(ui, "rows").max_rect(list), |ui| {
        ui.set_clip_rect(list.intersect(ui.clip_rect()));
        ui.spacing_mut().item_spacing.y = 0.0;
        let height = widgets::whole_rows(list.height(), ROW);
        ScrollArea::vertical()
            .id_salt("all host rows")
            .auto_shrink(false)
            .max_height(height)
            .min_scrolled_height(height)
            .show_rows(ui, ROW, rows.len(), |ui, range| {
                for row in &rows[range] {
                    row_ui(ui, cx, row, most, selected.is_some_and(|selected| selected.host.id == row.host.id), &focus);
                }
            });
    });
    if rows.is_empty() {
        widgets::text_at(ui, list.left_top() + vec2(SIDE, 24.0), "No host is of this kind.", theme::base(), t.weak, list.width());
    }
    foot_ui(ui, Rect::from_min_max(pos2(rect.left(), rect.bottom() - FOOT), rect.max), report);
}

fn foot_ui(ui: &mut Ui, rect: Rect, report: &HostsReport) {
    let t = ThemeTokens::of(ui);
    ui.painter().hline(rect.x_range(), rect.top() + 0.5, Stroke::new(1.0, t.line));
    let mut x = rect.left() + SIDE;
    let y = rect.center().y;
    let marks = [
        ("content", t.hue_text.color, true),
        ("structuredContent", t.hue_structured.color, true),
        ("added", t.hue_wire.color, true),
        ("cut off", t.warn, false),
    ];
    for (name, color, is_filled) in marks {
        let square = Rect::from_center_size(pos2(x + 4.0, y), vec2(8.0, 8.0));
        if is_filled {
            ui.painter().rect_filled(square, theme::RADIUS_BAR, color);
        } else {
            ui.painter().rect_stroke(square, theme::RADIUS_BAR, Stroke::new(1.0, color), egui::StrokeKind::Inside);
        }
        x = widgets::text_at(ui, pos2(x + 14.0, y), name, theme::regular(11.5), t.weak, 200.0) + 16.0;
    }
    if let Some(total) = report.rows.iter().find_map(|row| row.facts).map(|facts| facts.total)
        && rect.right() - x > 220.0
    {
        let text = format!("Facts: {} values in the answer", grouped(total));
        widgets::text_right(ui, pos2(rect.right() - SIDE, y), text, theme::regular(11.5), t.weak);
    }
}

fn head_ui(ui: &mut Ui, cx: &Cx<'_>, rect: Rect) {
    let t = ThemeTokens::of(ui);
    let columns = Columns::of(rect);
    let y = rect.center().y;
    let view = &cx.state.view.hosts;
    ui.painter().hline(rect.x_range(), rect.bottom() - 0.5, Stroke::new(1.0, t.line));
    let sorts = [
        (HostSort::Name, "Host", columns.name, 60.0),
        (HostSort::Tokens, "Tokens", columns.tokens - 60.0, 60.0),
        (HostSort::Lost, if columns.limit.is_some() { "Facts kept" } else { "Facts, limit" }, columns.facts, 96.0),
    ];
    for (sort, name, x, width) in sorts {
        let place = Rect::from_min_max(pos2(x, rect.top()), pos2(x + width, rect.bottom()));
        let response = ui.interact(place, ui.scope_id().with(("sort hosts", name)), Sense::click());
        let is_chosen = view.sort == sort;
        let spoken = if sort == HostSort::Lost { "facts kept".to_owned() } else { name.to_lowercase() };
        response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_chosen, format!("Sort by {spoken}")));
        let color = if is_chosen || response.hovered() { t.strong } else { t.weak };
        let icon = if view.is_reversed { icons::UP } else { icons::DOWN };
        if sort == HostSort::Tokens {
            // Above the last digit, as numbers stand.
            let start = widgets::text_right(ui, pos2(x + width, y), name, theme::medium(12.0), color);
            if is_chosen {
                widgets::glyph_at(ui, pos2(start - 9.0, y), icon, theme::icon_font(11.0), color);
            }
        } else {
            let end = widgets::text_at(ui, pos2(x, y), name, theme::medium(12.0), color, width);
            if is_chosen {
                widgets::glyph_at(ui, pos2(end + 9.0, y), icon, theme::icon_font(11.0), color);
            }
        }
        widgets::focus_ring_inside(ui, &response);
        if response.clicked() {
            cx.send(Action::Hosts(HostsAction::Sort(sort)));
        }
    }
    for (x, name) in [(columns.sees, "Model sees"), (columns.limit, "Limit"), (columns.evidence, "Evidence")] {
        if let Some(x) = x {
            widgets::text_at(ui, pos2(x, y), name, theme::medium(12.0), t.weak, 160.0);
        }
    }
}

fn row_ui(ui: &mut Ui, cx: &Cx<'_>, row: &HostRow, most: f64, is_selected: bool, focus: &egui::Response) {
    let t = ThemeTokens::of(ui);
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::hover());
    let response = ui.interact(rect, ui.scope_id().with(("host", row.host.id)), Sense::CLICK);
    let is_beside = cx.state.view.hosts.beside == Some(row.host.id);
    if is_selected || is_beside || response.hovered() {
        ui.painter().rect_filled(rect, 0.0, if is_selected || is_beside { t.accent_bg } else { t.hover });
    }
    if is_selected {
        ui.painter().rect_filled(Rect::from_min_size(rect.min, vec2(2.0, rect.height())), 0.0, t.accent);
    }
    let columns = Columns::of(rect);
    let y = rect.center().y;
    let mut x = columns.name;
    let room = columns.sees.unwrap_or(columns.bar.left()) - x - 8.0;
    if row::is_first(row, &cx.state.view.hosts) {
        widgets::glyph_at(ui, pos2(x + 6.0, y - 8.0), icons::BASELINE, theme::icon_font(13.0), t.accent);
        x += 18.0;
    }
    widgets::text_at(ui, pos2(x, y - 8.0), &row.host.name, theme::medium(13.0), t.strong, room - (x - columns.name));
    widgets::text_at(ui, pos2(columns.name, y + 9.0), &row.host.version, theme::small(), t.weak, room);
    if let Some(x) = columns.sees {
        row::sees_at(ui, pos2(x, y), row);
    }
    let encoding = cx.state.settings.encoding();
    if columns.bar.width() > 24.0 {
        row::bar_at(
            ui,
            Rect::from_center_size(pos2(columns.bar.center().x, y), vec2(columns.bar.width(), 8.0)),
            row,
            most,
            encoding,
        );
    }
    let tokens = row.tokens.map_or_else(|| "–".to_owned(), |tokens| grouped(tokens.get(encoding)));
    widgets::text_right(ui, pos2(columns.tokens, y), &tokens, theme::mono_semibold(12.0), t.strong);
    // Where there is no room for a column of its own the limit stands below the facts.
    let shift = if columns.limit.is_some() { 0.0 } else { 8.0 };
    let facts = row::facts_at(ui, pos2(columns.facts, y - shift), row);
    let limit = match columns.limit {
        Some(x) => row::limit_at(ui, pos2(x, y), row, 144.0, true),
        None => row::limit_at(ui, pos2(columns.facts, y + 9.0), row, 116.0, false),
    };
    if let Some(x) = columns.evidence {
        row::evidence_at(ui, pos2(x, y), row.host.evidence);
    }
    ui.painter().hline(rect.x_range(), rect.bottom() - 0.5, Stroke::new(1.0, t.line));
    let name =
        format!("{}, {}, {tokens} tokens{facts}, limit: {limit}, {}", row.host.name, row::sees(row), row.host.evidence.name());
    response.widget_info(|| WidgetInfo::selected(Role::Row, true, is_selected, &name));
    if response.clicked() {
        focus.request_focus();
        cx.send(Action::Hosts(HostsAction::Select(row.host.id)));
    }
    response.on_hover_cursor(egui::CursorIcon::PointingHand);
}

/// Up and Down go through the hosts, Enter opens the one chosen in the middle pane.
fn keys(ui: &Ui, cx: &Cx<'_>, focus: &egui::Response, rows: &[&HostRow], selected: Option<&HostRow>) {
    if !focus.has_focus() {
        return;
    }
    ui.memory_mut(|memory| {
        memory.set_focus_lock_filter(focus.id, egui::EventFilter { vertical_arrows: true, ..Default::default() });
    });
    widgets::focus_ring_inside(ui, focus);
    let pressed = |key| ui.input_mut(|input| input.consume_key(egui::Modifiers::NONE, key));
    let at = selected.and_then(|selected| rows.iter().position(|row| row.host.id == selected.host.id));
    let next = if pressed(Key::ArrowDown) {
        rows.get(at.map_or(0, |at| at + 1))
    } else if pressed(Key::ArrowUp) {
        at.and_then(|at| rows.get(at.checked_sub(1)?))
    } else {
        None
    };
    if let Some(row) = next {
        cx.send(Action::Hosts(HostsAction::Select(row.host.id)));
    }
    if pressed(Key::Enter)
        && let Some(row) = selected
    {
        cx.send(Action::Hosts(HostsAction::Open(row.host.id)));
    }
}

/// The menu of hosts to view the answer as, at the end of the row of panes.
pub fn view_as_ui(ui: &mut Ui, cx: &Cx<'_>, is_narrow: bool) {
    let chosen = cx.state.view.hosts.view_as;
    let known = chosen.and_then(|id| match cx.ready(HostsQuery) {
        Some(report) => report.row(id).map(|row| row.host.name.clone()),
        _ => None,
    });
    let label = known.unwrap_or_else(|| chosen.map_or_else(|| "As sent".to_owned(), |id| id.to_string()));
    let tip = format!("View as: {label}. What a host drops of this answer turns weak on amber.");
    // In a narrow pane the name would push out the pane's own.
    let shown = match (chosen, is_narrow) {
        (_, true) if ui.max_rect().width() < 360.0 => String::new(),
        (None, true) => "As sent".to_owned(),
        (None, false) => "View as: sent".to_owned(),
        (Some(_), true) => "As a host".to_owned(),
        (Some(_), false) => format!("View as: {label}"),
    };
    let button = widgets::Button::new(&shown);
    let button = if shown.is_empty() { button.icon(icons::HOSTS) } else { button };
    let button = button.menu().height(theme::ICON_BUTTON).name("View as").key("view as").tip(&tip).show(ui);
    egui::Popup::menu(&button).width(280.0).show(|ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        if panes::menu_row(ui, "As sent", None, chosen.is_none()).clicked() {
            cx.send(Action::Hosts(HostsAction::ViewAs(None)));
            ui.close();
        }
        let Some(report) = cx.ready(HostsQuery) else {
            ui.label("Reading the answer as each host does…");
            return;
        };
        ScrollArea::vertical().max_height(420.0).show(ui, |ui| {
            for row in row::first(report.by_name(), |row| row::is_first(row, &cx.state.view.hosts)) {
                if panes::menu_row(ui, &row.host.name, None, chosen == Some(row.host.id)).clicked() {
                    cx.send(Action::Hosts(HostsAction::ViewAs(Some(row.host.id))));
                    ui.close();
                }
            }
        });
    });
}
