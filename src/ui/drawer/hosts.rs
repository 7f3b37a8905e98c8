//! The hosts of an answer: one row for each text that models see, with the hosts that see it.

use egui::{Align, Id, Layout, Rect, Role, ScrollArea, Sense, Stroke, Ui, UiBuilder, WidgetInfo, pos2, vec2};

use super::SIDE;
use crate::analysis::{HostGroup, HostRow, HostsQuery, HostsReport};
use crate::number::grouped;
use crate::state::{Action, HostsAction, PaneView, QueryState};
use crate::ui::hosts::row;
use crate::ui::theme::{self, ThemeTokens};
use crate::ui::widgets::{self, Button};
use crate::ui::{Cx, compare, icons};

const ROW: f32 = 28.0;

/// The report, where it is there.
fn report<'a>(cx: &Cx<'a>) -> Option<&'a HostsReport> {
    match cx.ready(HostsQuery) {
        Some(report) => Some(report),
        _ => None,
    }
}

/// Answers up to this size are read as every host does before anyone looks at the tab.
const UNASKED: usize = 1 << 20;

/// `28 · 6 views · 2 cut`. Where the tab is not looked at, it waits until the panes have their answers.
pub fn count(cx: &Cx<'_>) -> Option<String> {
    let capture = cx.state.capture()?;
    let is_small = capture.response.as_ref().is_some_and(|response| response.len() <= UNASKED);
    match cx.state.answers.get(&capture.id, HostsQuery) {
        Some(QueryState::Ready(report)) => return Some(summary(report)),
        None if cx.state.answers.working() > 0 || !is_small => {}
        None | Some(QueryState::Working { .. }) => {
            cx.ready(HostsQuery);
        }
        _ => {}
    }
    None
}

fn summary(report: &HostsReport) -> String {
    format!("{} · {} views · {} cut", report.rows.len(), report.views(), report.cut())
}

pub fn tools_ui(ui: &mut Ui, cx: &Cx<'_>) {
    if Button::new("All hosts")
        .icon(icons::MAXIMISE)
        .name("Open the full view of hosts")
        .height(theme::ICON_BUTTON)
        .show(ui)
        .clicked()
    {
        cx.send(Action::Hosts(HostsAction::Show(None)));
    }
}

pub fn verdict_ui(ui: &mut Ui, cx: &Cx<'_>, rect: Rect) {
    ui.scope_builder(widgets::region(ui, "hosts verdict").max_rect(rect).layout(Layout::left_to_right(Align::Center)), |ui| {
        match cx.ask(HostsQuery) {
            QueryState::Ready(report) => {
                let verdict = report.verdict(cx.state.settings.encoding());
                // In the header of a closed drawer there is room for one line.
                widgets::verdict_rows(ui, &verdict, rect.width() - 36.0, if rect.height() > theme::HEADER { 2 } else { 1 });
                if widgets::icon_button(ui, icons::COPY, "Copy what hosts see").clicked() {
                    cx.send(Action::Copy(verdict.text()));
                }
            }
            QueryState::Working { since } => {
                widgets::waiting(ui, "Reading the answer as each host does", since, cx);
            }
            _ => {}
        }
    });
}

pub fn hosts_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let mut outer = ui.available_rect_before_wrap();
    // The drawer keeps its height while there is nothing in it yet.
    ui.allocate_rect(outer, Sense::hover());
    if compare::has_room(cx) {
        let place = outer.with_min_y(outer.bottom() - compare::ROOM);
        compare::room_ui(ui, cx, place);
        outer.max.y = place.top();
    }
    let report = match cx.ask(HostsQuery) {
        QueryState::Failed(problem) => {
            ui.scope_builder(UiBuilder::new().max_rect(outer.shrink(SIDE)), |ui| widgets::problem_ui(ui, problem));
            return;
        }
        _ => match report(cx) {
            Some(report) => report,
            None => return,
        },
    };
    let view = &cx.state.view.hosts;
    let groups = report.groups.iter().filter_map(|group| Some((group, report.rows.get(*group.rows.first()?)?)));
    let groups = row::first(groups, |(group, _)| group.rows.iter().any(|at| row::is_first(&report.rows[*at], view)));
    let focus = ui.interact(outer, Id::unique("hosts table"), Sense::focusable_noninteractive());
    focus.widget_info(|| WidgetInfo::labeled(Role::Table, true, "Hosts that see the same text"));
    head_ui(ui, Rect::from_min_size(outer.min, vec2(outer.width(), 20.0)));
    let most = row::most(report, cx.state.settings.encoding());
    let list = outer.with_min_y(outer.top() + 20.0);
    ui.scope_builder(widgets::region(ui, "host groups").max_rect(list), |ui| {
        ui.set_clip_rect(list.intersect(ui.clip_rect()));
        ui.spacing_mut().item_spacing.y = 0.0;
        let height = widgets::whole_rows(list.height(), ROW);
        ScrollArea::vertical()
            .id_salt("host groups")
            .auto_shrink(false)
            .max_height(height)
            .min_scrolled_height(height)
            .show_rows(ui, ROW, groups.len(), |ui, range| {
                for (group, first) in &groups[range] {
                    row_ui(ui, cx, report, group, first, most);
                }
            });
    });
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
        let evidence = take(210.0, width > 1_240.0);
        let limit = take(250.0, width > 860.0);
        let facts = take(124.0, true).unwrap_or(0.0);
        let tokens = take(12.0, true).unwrap_or(0.0);
        let name = rect.left() + SIDE;
        let room = tokens - 72.0 - name;
        let sees = (width > 640.0).then_some(name + room * 0.5);
        let start = sees.map_or(name + room * 0.7, |sees| sees + 160.0);
        let bar = Rect::from_x_y_ranges(start..=(tokens - 72.0).max(start), rect.y_range());
        Self { name, sees, bar, tokens, facts, limit, evidence }
    }
}

fn head_ui(ui: &Ui, rect: Rect) {
    let t = ThemeTokens::of(ui);
    let columns = Columns::of(rect);
    let y = rect.center().y;
    let text = |x: f32, text: &str| {
        widgets::text_at(ui, pos2(x, y), text, theme::regular(11.5), t.weak, 200.0);
    };
    text(columns.name, "Hosts that see the same");
    for (x, name) in [
        (columns.sees, "Model sees"),
        (Some(columns.facts), "Facts kept"),
        (columns.limit, "Limit"),
        (columns.evidence, "Evidence"),
    ] {
        if let Some(x) = x {
            text(x, name);
        }
    }
    widgets::text_right(ui, pos2(columns.tokens - 12.0, y), "Tokens", theme::regular(11.5), t.weak);
}

fn row_ui(ui: &mut Ui, cx: &Cx<'_>, report: &HostsReport, group: &HostGroup, first: &HostRow, most: f64) {
    let t = ThemeTokens::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::click());
    let is_shown = group.rows.iter().any(|at| cx.state.view.shows(1) == PaneView::Host(report.rows[*at].host.id));
    if is_shown || response.hovered() {
        ui.painter().rect_filled(rect, 0.0, if is_shown { t.accent_bg } else { t.hover });
    }
    if is_shown {
        ui.painter().rect_filled(Rect::from_min_size(rect.min, vec2(2.0, rect.height())), 0.0, t.accent);
    }
    let columns = Columns::of(rect);
    let y = rect.center().y;
    let names: Vec<&str> = group.rows.iter().map(|at| report.rows[*at].host.name.as_str()).collect();
    let mut x = columns.name;
    if group.rows.iter().any(|at| row::is_first(&report.rows[*at], &cx.state.view.hosts)) {
        widgets::glyph_at(ui, pos2(x + 6.0, y), icons::BASELINE, theme::icon_font(13.0), t.accent);
        x += 18.0;
    }
    let room = columns.sees.unwrap_or(columns.bar.left()) - x - 12.0;
    let count = if names.len() > 1 { format!("{} hosts: ", names.len()) } else { String::new() };
    let end = widgets::text_at(ui, pos2(x, y), &count, theme::small(), t.weak, room);
    widgets::text_at(ui, pos2(end, y), names.join(", "), theme::medium(13.0), t.strong, room - (end - x));
    if let Some(x) = columns.sees {
        row::sees_at(ui, pos2(x, y), first);
    }
    let encoding = cx.state.settings.encoding();
    let bar = Rect::from_center_size(pos2(columns.bar.center().x, y), vec2((columns.bar.width() - 16.0).max(0.0), 8.0));
    if bar.width() > 24.0 {
        row::bar_at(ui, bar, first, most, encoding);
    }
    let tokens = first.tokens.map_or_else(|| "–".to_owned(), |tokens| grouped(tokens.get(encoding)));
    widgets::text_right(ui, pos2(columns.tokens - 12.0, y), &tokens, theme::mono_semibold(12.0), t.strong);
    let facts = row::facts_at(ui, pos2(columns.facts, y), first);
    let limit = match columns.limit {
        Some(x) => row::limit_at(ui, pos2(x, y), first, 240.0, false),
        None => row::limit_words(first).0,
    };
    if let Some(x) = columns.evidence {
        row::evidence_at(ui, pos2(x, y), first.host.evidence);
        let version = format!("{} · {}", first.host.version, first.host.checked);
        widgets::text_at(ui, pos2(x + 96.0, y), version, theme::small(), t.weak, 110.0);
    }
    ui.painter().hline(rect.x_range(), rect.bottom() - 0.5, Stroke::new(1.0, t.line));
    let name = format!(
        "{}: {}, {tokens} tokens{facts}, limit: {limit}, {}",
        names.join(", "),
        row::sees(first),
        first.host.evidence.name()
    );
    response.widget_info(|| WidgetInfo::selected(Role::Row, true, is_shown, &name));
    widgets::focus_ring_inside(ui, &response);
    if response.clicked() {
        cx.send(Action::Hosts(HostsAction::Open(first.host.id)));
    }
    response
        .on_hover_text(format!("{}\nOpens the exact text in the middle pane", names.join(", ")))
        .on_hover_cursor(egui::CursorIcon::PointingHand);
}
