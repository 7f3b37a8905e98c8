//! The hosts of a result as lanes by outcome: one for each text that models see, with the hosts that see it. The screen of
//! hosts and the drawer show the same.

use std::ops::Range;

use egui::{Color32, Id, Key, Rect, Role, Sense, Stroke, Ui, pos2, vec2};

use super::SIDE;
use crate::state::{Action, HostsAction};
use crate::ui::host_row;
use crate::ui::theme::{self, ThemeTokens};
use crate::ui::widgets::{self, ListRow};
use crate::ui::{Cx, icons, panes};
use loupe_analysis::queries::{HostLane, HostOutcome, HostRow, HostsReport};
use loupe_core::host::{Evidence, HostId};
use loupe_core::number::{grouped, number_of};

const HEAD: f32 = 28.0;
const GROUP: f32 = 24.0;
/// A line of hosts in a lane, and what is above and below.
const LINE: f32 = 20.0;
const AROUND: f32 = 18.0;
const FOOT: f32 = theme::FOOTER + 2.0;
/// From this width on there is a bar of facts.
const WITH_BAR: f32 = 720.0;
const BAR: f32 = 80.0;

/// The colour and the icon of an outcome.
pub fn tone(t: &ThemeTokens, outcome: HostOutcome) -> (Color32, &'static str) {
    match outcome {
        HostOutcome::Nothing => (t.bad, icons::ERROR),
        HostOutcome::Cut => (t.warn, icons::CUT),
        HostOutcome::Facts | HostOutcome::Part => (t.warn, icons::MISSING),
        HostOutcome::All => (t.ok, icons::CHECK),
        HostOutcome::Unknown => (t.weak, icons::UNKNOWN),
    }
}

/// A row of the list.
enum Entry<'a> {
    Group {
        title: &'static str,
        color: Color32,
        note: String,
    },
    Lane(&'a HostLane),
}

/// The lanes with the titles of their groups: those of one's own hosts first, then by outcome.
fn entries<'a>(t: &ThemeTokens, cx: &Cx<'_>, report: &'a HostsReport) -> Vec<Entry<'a>> {
    let view = &cx.state.view.hosts;
    let is_own = |lane: &&HostLane| {
        report
            .hosts_of(lane)
            .any(|row| host_row::is_first(row, view))
    };
    let (own, others): (Vec<&HostLane>, Vec<&HostLane>) = report.lanes.iter().partition(is_own);
    let mut entries = Vec::new();
    if !own.is_empty() {
        let hosts = || own.iter().flat_map(|lane| report.hosts_of(lane));
        let ways = [
            (hosts().any(|row| row.host.is_own), "in your hosts file"),
            (
                hosts().any(|row| view.pinned.contains(&row.host.id)),
                "pinned",
            ),
            (
                hosts().any(|row| view.found.contains(&row.host.id)),
                "found in your configuration",
            ),
        ];
        let ways: Vec<&str> = ways
            .into_iter()
            .filter(|(is_so, _)| *is_so)
            .map(|(_, way)| way)
            .collect();
        entries.push(Entry::Group {
            title: "Your hosts",
            color: t.strong,
            note: ways.join(", "),
        });
        entries.extend(own.iter().copied().map(Entry::Lane));
    }
    for outcome in HostOutcome::ALL {
        let of_it = |lane: &&&HostLane| lane.outcome == outcome;
        let hosts: usize = others
            .iter()
            .filter(of_it)
            .map(|lane| lane.rows.len())
            .sum();
        if hosts == 0 {
            continue;
        }
        let units = if own.iter().any(|lane| lane.outcome == outcome) {
            "more hosts"
        } else {
            "hosts"
        };
        let color = if outcome == HostOutcome::All {
            t.strong
        } else {
            tone(t, outcome).0
        };
        entries.push(Entry::Group {
            title: outcome.title(),
            color,
            note: number_of(hosts as u64, units),
        });
        entries.extend(
            others
                .iter()
                .copied()
                .filter(|lane| lane.outcome == outcome)
                .map(Entry::Lane),
        );
    }
    entries
}

/// The lanes as they are shown, each with its hosts: one's own first.
pub fn visible_lanes<'a>(ui: &Ui, cx: &Cx<'_>, report: &'a HostsReport) -> Vec<Vec<&'a HostRow>> {
    let lane = |entry| match entry {
        Entry::Lane(lane) => Some(hosts_of(cx, report, lane)),
        Entry::Group { .. } => None,
    };
    entries(theme::of(ui), cx, report)
        .into_iter()
        .filter_map(lane)
        .collect()
}

fn hosts_of<'a>(cx: &Cx<'_>, report: &'a HostsReport, lane: &'a HostLane) -> Vec<&'a HostRow> {
    host_row::first(report.hosts_of(lane), |row| {
        host_row::is_first(row, &cx.state.view.hosts)
    })
}

struct Columns {
    bar: Option<f32>,
    facts: f32,
    hosts: Range<f32>,
    /// Where tokens end.
    tokens: f32,
    happens: Range<f32>,
}

impl Columns {
    fn of(ui: &Ui, rect: Rect, report: &HostsReport) -> Self {
        // What is longest of what is seen stands whole.
        let width = |lane: &HostLane| {
            let text = report
                .hosts_of(lane)
                .next()
                .map(HostRow::shown_text)
                .unwrap_or_default();
            widgets::text_width(ui, text, theme::code())
        };
        let facts_width = report.lanes.iter().map(width).fold(76.0, f32::max) + 18.0;
        let has_bar = rect.width() >= WITH_BAR;
        let left = rect.left() + SIDE;
        let facts = if has_bar { left + BAR + 8.0 } else { left };
        let happens = rect.right() - SIDE - if has_bar { 216.0 } else { 152.0 };
        let tokens = happens - 12.0;
        let hosts = facts + facts_width..tokens - if has_bar { 88.0 } else { 76.0 };
        Self {
            bar: has_bar.then_some(left),
            facts,
            hosts,
            tokens,
            happens: happens..rect.right() - SIDE,
        }
    }
}

/// A host's place in its lane: the line, where it begins there, and its width.
type Place = (usize, f32, f32);

/// What a lane takes, as it is laid out in a width.
struct Laid<'a> {
    lane: &'a HostLane,
    hosts: Vec<(&'a HostRow, Place)>,
    happens: std::sync::Arc<egui::Galley>,
    height: f32,
}

impl<'a> Laid<'a> {
    fn new(
        ui: &Ui,
        cx: &Cx<'_>,
        report: &'a HostsReport,
        lane: &'a HostLane,
        columns: &Columns,
    ) -> Self {
        let t = theme::of(ui);
        let room = columns.hosts.end - columns.hosts.start;
        let (mut line, mut x) = (0, 0.0);
        let mut hosts = Vec::new();
        for host in hosts_of(cx, report, lane) {
            let galley =
                ui.painter()
                    .layout_no_wrap(host.host.name.clone(), theme::medium(12.5), t.text);
            let pin = if host_row::is_first(host, &cx.state.view.hosts) {
                16.0
            } else {
                0.0
            };
            let width = (18.0 + galley.size().x + pin).min(room);
            if x > 0.0 && x + width > room {
                (line, x) = (line + 1, 0.0);
            }
            hosts.push((host, (line, x, width)));
            x += width + 14.0;
        }
        let color = if lane.outcome == HostOutcome::All {
            t.text
        } else {
            tone(t, lane.outcome).0
        };
        let width = columns.happens.end - columns.happens.start - 18.0;
        let happens = ui
            .painter()
            .layout(report.happens(lane), theme::base(), color, width);
        let height = (AROUND + (line + 1) as f32 * LINE).max((happens.size().y + AROUND).ceil());
        Self {
            lane,
            hosts,
            happens,
            height,
        }
    }
}

/// The list in the room that is left. On the screen of hosts a lane shows its host next to it; in the drawer it opens the
/// text in the middle pane.
pub fn lanes_ui(
    ui: &mut Ui,
    cx: &Cx<'_>,
    rect: Rect,
    report: &HostsReport,
    selected: Option<HostId>,
    is_screen: bool,
) {
    let t = theme::of(ui);
    let columns = Columns::of(ui, rect, report);
    let head = Rect::from_min_size(rect.min, vec2(rect.width(), HEAD));
    let has_facts = report.rows.iter().any(HostRow::has_facts);
    let title = |x: f32, text: &str| {
        widgets::text_at(
            ui,
            pos2(x, head.center().y),
            text,
            theme::small(),
            t.weak,
            200.0,
        )
    };
    title(
        columns.bar.unwrap_or(columns.facts),
        match (has_facts, columns.bar) {
            (true, Some(_)) => "Facts the model sees",
            (true, None) => "Facts seen",
            (false, Some(_)) => "Text the model sees",
            (false, None) => "Text seen",
        },
    );
    title(columns.hosts.start, "Hosts with this text");
    title(columns.happens.start, "Outcome");
    widgets::text_right(
        ui,
        pos2(columns.tokens, head.center().y),
        "Tokens",
        theme::small(),
        t.weak,
    );
    widgets::hline(ui, rect.x_range(), head.bottom() - 0.5);
    let list = Rect::from_min_max(
        head.left_bottom(),
        pos2(
            rect.right(),
            rect.bottom() - if is_screen { FOOT } else { 0.0 },
        ),
    );
    let focus = ui.interact(
        list,
        Id::unique(("lanes", is_screen)),
        Sense::focusable_noninteractive(),
    );
    widgets::say(&focus, Role::Table, "Hosts by outcome");
    keys(ui, cx, &focus, report, selected);
    // Heights depend on the width alone; what is out of sight is not drawn.
    let mut tops = Vec::new();
    let mut height = 0.0;
    let entries: Vec<(Entry<'_>, Option<Laid<'_>>)> = entries(t, cx, report)
        .into_iter()
        .map(|entry| {
            let laid = match &entry {
                Entry::Lane(lane) => Some(Laid::new(ui, cx, report, lane, &columns)),
                Entry::Group { .. } => None,
            };
            tops.push(height);
            height += laid.as_ref().map_or(GROUP, |laid| laid.height);
            (entry, laid)
        })
        .collect();
    let painted = List {
        cx,
        columns,
        report,
        selected,
        is_screen,
        focus,
    };
    let is_moved = ui
        .data_mut(|data| data.remove_temp::<bool>(moved_id()))
        .is_some();
    widgets::part(ui, "lane rows", list, |ui| {
        ui.set_clip_rect(list.intersect(ui.clip_rect()));
        widgets::scroll(("lanes", is_screen)).show_viewport(ui, |ui, viewport| {
            let origin = ui.min_rect().min;
            ui.allocate_rect(
                Rect::from_min_size(origin, vec2(viewport.width(), height)),
                Sense::hover(),
            );
            for ((entry, laid), top) in entries.iter().zip(tops) {
                let height = laid.as_ref().map_or(GROUP, |laid| laid.height);
                let place = Rect::from_min_size(
                    pos2(origin.x, (origin.y + top).round()),
                    vec2(rect.width(), height),
                );
                let is_selected = laid.as_ref().is_some_and(|laid| {
                    laid.hosts
                        .iter()
                        .any(|(row, _)| Some(row.host.id) == selected)
                });
                if is_moved && is_selected {
                    ui.scroll_to_rect(place, None);
                }
                if top + height < viewport.top() || top > viewport.bottom() {
                    continue;
                }
                match (entry, laid) {
                    (Entry::Group { title, color, note }, _) => {
                        group_ui(ui, place, title, *color, note)
                    }
                    (_, Some(laid)) => lane_ui(ui, &painted, place, laid),
                    _ => {}
                }
            }
        });
    });
    if is_screen {
        foot_ui(ui, cx, rect.with_min_y(list.bottom()), report);
    }
}

fn group_ui(ui: &Ui, rect: Rect, title: &str, color: Color32, note: &str) {
    let t = theme::of(ui);
    let row = ListRow::at(
        ui,
        rect,
        widgets::sense(ui, rect, ("group", title), Sense::empty()),
    );
    row.fill(t.card);
    widgets::line_below(ui, rect);
    let (left, width) = (row.inset_left(SIDE), rect.width() * 0.5);
    row.text(left, left + width, title, theme::semibold(12.5), color);
    row.number(row.inset_right(SIDE), note, theme::small(), t.weak);
    row.say(Role::Heading, format!("{title}, {note}"));
}

/// What all lanes are painted with.
struct List<'a> {
    cx: &'a Cx<'a>,
    columns: Columns,
    report: &'a HostsReport,
    selected: Option<HostId>,
    is_screen: bool,
    focus: egui::Response,
}

impl List<'_> {
    fn choose(&self, host: HostId) {
        self.focus.request_focus();
        let action = if self.is_screen {
            HostsAction::Show(Some(host))
        } else {
            HostsAction::Open(host)
        };
        self.cx.send(Action::Hosts(action));
    }
}

fn lane_ui(ui: &Ui, list: &List<'_>, rect: Rect, laid: &Laid<'_>) {
    let t = theme::of(ui);
    let Some((first, _)) = laid.hosts.first() else {
        return;
    };
    let chosen = |id: &HostId| laid.hosts.iter().any(|(row, _)| row.host.id == *id);
    let selected = list.selected.filter(chosen);
    let response = widgets::sense(ui, rect, ("lane", first.host.id), Sense::CLICK);
    let row = ListRow::at(ui, rect, response);
    row.ground_edged(selected.is_some());
    widgets::line_below(ui, rect);
    let columns = &list.columns;
    let (color, icon) = tone(t, laid.lane.outcome);
    shown_ui(&row, columns, laid.lane.outcome, first);
    let lines = laid.hosts.last().map_or(1, |(_, (line, ..))| line + 1);
    let top = row.y - lines as f32 * LINE / 2.0;
    for (host, (line, x, width)) in &laid.hosts {
        let start = pos2(columns.hosts.start + x, top + *line as f32 * LINE);
        let place = Rect::from_min_size(start, vec2(*width, LINE));
        let is_selected = selected == Some(host.host.id) && laid.hosts.len() > 1;
        host_ui(ui, list, place, host, is_selected);
    }
    let encoding = list.cx.state.settings.encoding();
    let tokens = first.tokens.map(|tokens| grouped(tokens.get(encoding)));
    if let Some(tokens) = &tokens {
        let (at, font) = (pos2(columns.tokens, row.y), theme::mono_semibold(12.0));
        widgets::number_right(ui, at, tokens, font, t.strong, "tok");
    }
    row.icon(columns.happens.start + 6.0, icon, 14.0, color);
    let happens = pos2(columns.happens.start + 18.0, row.y);
    widgets::galley_at(ui, happens, std::sync::Arc::clone(&laid.happens), t.text);
    let names: Vec<&str> = laid
        .hosts
        .iter()
        .map(|(row, _)| row.host.name.as_str())
        .collect();
    let tokens = tokens.map_or_else(String::new, |tokens| format!("{tokens} tokens, "));
    let spoken = format!(
        "{}: {}, {tokens}{}",
        names.join(", "),
        first.shown_text(),
        list.report.happens(laid.lane)
    );
    widgets::say_selected(&row.response, Role::Row, selected.is_some(), spoken);
    if row.clicked() {
        list.choose(selected.unwrap_or(first.host.id));
    }
}

/// How much of the result is shown: a bar, and in words.
fn shown_ui(row: &ListRow<'_>, columns: &Columns, outcome: HostOutcome, first: &HostRow) {
    let t = theme::of(row.ui);
    let color = tone(t, outcome).0;
    let is_known = outcome != HostOutcome::Unknown;
    if let Some(x) = columns.bar {
        let (part, all) = first.shown();
        let share = is_known.then_some(part as f32 / all.max(1) as f32);
        share_at(row.ui, row.place(x..=x + BAR, 8.0), share, color);
    }
    let (x, shown) = (columns.facts, first.shown_text());
    match shown.split_once(' ').filter(|_| is_known) {
        Some((part, rest)) => {
            let color = match outcome {
                HostOutcome::All => t.text,
                _ => color,
            };
            let end = row.text(x, f32::INFINITY, part, theme::code(), color);
            row.text(
                end,
                f32::INFINITY,
                format!(" {rest}"),
                theme::code(),
                t.weak,
            );
        }
        None => {
            row.text(x, f32::INFINITY, &shown, theme::small(), t.weak);
        }
    }
}

/// How its rules are known, its name, and whether it is one's own.
fn host_ui(ui: &Ui, list: &List<'_>, rect: Rect, host: &HostRow, is_selected: bool) {
    let t = theme::of(ui);
    // What the edge of the list cuts off cannot be clicked, and is no place of it.
    let seen = rect.intersect(ui.clip_rect());
    if !seen.is_positive() {
        return;
    }
    let response = widgets::sense(ui, seen, ("host", host.host.id), Sense::CLICK);
    let row = ListRow::at(ui, rect, response);
    let known = host.host.evidence;
    let spoken = format!("{} {}, {}", host.host.name, host.host.version, known.name());
    row.say_entry(is_selected, &spoken);
    let icon = host_row::evidence_icon(known);
    row.icon(row.inset_left(7.0), icon, 13.0, t.weak);
    let is_first = host_row::is_first(host, &list.cx.state.view.hosts);
    let color = match is_selected || row.response.hovered() {
        true => t.accent,
        false => t.strong,
    };
    let right = row.inset_right(if is_first { 16.0 } else { 0.0 });
    let end = row.text(
        row.inset_left(18.0),
        right,
        &host.host.name,
        theme::medium(12.5),
        color,
    );
    if is_first {
        row.icon(end + 9.0, icons::BASELINE, 12.0, t.accent);
    }
    widgets::focus_ring_inside(ui, &row.response);
    if row.response.clicked() {
        list.choose(host.host.id);
    }
    row.response
        .on_hover_text(spoken)
        .on_hover_cursor(egui::CursorIcon::PointingHand);
}

/// A bar of the share that is shown; dashed where it is not known.
fn share_at(ui: &Ui, rect: Rect, share: Option<f32>, color: Color32) {
    let t = theme::of(ui);
    let Some(share) = share else {
        let corners = [
            rect.left_top(),
            rect.right_top(),
            rect.right_bottom(),
            rect.left_bottom(),
            rect.left_top(),
        ];
        ui.painter().extend(egui::Shape::dashed_line(
            &corners,
            Stroke::new(1.0, t.weak),
            3.0,
            3.0,
        ));
        return;
    };
    ui.painter().rect_filled(rect, theme::RADIUS_BAR, t.hover);
    if share > 0.0 {
        let filled = rect.with_max_x(rect.left() + (rect.width() * share).max(1.0));
        ui.painter().rect_filled(filled, theme::RADIUS_BAR, color);
    }
}

/// What the icons mean, and the way to the next cut.
fn foot_ui(ui: &mut Ui, cx: &Cx<'_>, rect: Rect, report: &HostsReport) {
    let t = theme::of(ui);
    widgets::hline(ui, rect.x_range(), rect.top() + 0.5);
    let layout = egui::Layout::left_to_right(egui::Align::Center);
    ui.scope_builder(
        widgets::region(ui, "lanes foot")
            .max_rect(rect.shrink2(vec2(SIDE, 0.0)))
            .layout(layout),
        |ui| {
            ui.spacing_mut().item_spacing.x = 5.0;
            for evidence in [
                Evidence::Observed,
                Evidence::Source,
                Evidence::Documented,
                Evidence::Inferred,
            ] {
                ui.label(icons::icon(host_row::evidence_icon(evidence), 13.0, t.weak));
                widgets::words(ui, evidence.name(), theme::regular(11.5), t.weak);
                ui.add_space(7.0);
            }
            widgets::from_right(ui, |ui| {
                let has_cut = report
                    .rows
                    .iter()
                    .any(|row| row.limit().state.is_truncated() == Some(true));
                let button = widgets::Button::new("Next cut")
                    .shortcut("F8")
                    .frameless()
                    .height(22.0);
                if has_cut && button.clicked(ui) {
                    next_cut(ui, cx, true)
                        .into_iter()
                        .for_each(|action| cx.send(action));
                }
            });
        },
    );
}

fn moved_id() -> Id {
    Id::unique("moved over lanes")
}

/// Turns to the next host that cuts, in the order of the lanes, and to the place where it does.
pub fn next_cut(ui: &Ui, cx: &Cx<'_>, is_forward: bool) -> Option<Action> {
    let report = cx.ready(loupe_analysis::queries::HostsQuery)?;
    let hosts: Vec<&HostRow> = visible_lanes(ui, cx, report)
        .into_iter()
        .flatten()
        .collect();
    let at = cx
        .state
        .view
        .hosts
        .selected
        .and_then(|id| hosts.iter().position(|row| row.host.id == id));
    let cuts = |row: &&&HostRow| row.limit().state.is_truncated() == Some(true);
    let next = if is_forward {
        let after = at.map_or(0, |at| at + 1);
        hosts[after..].iter().chain(&hosts[..after]).find(cuts)?
    } else {
        let before = at.unwrap_or(0);
        hosts[before..].iter().chain(&hosts[..before]).rfind(cuts)?
    }
    .host
    .id;
    widgets::remember(ui, moved_id(), true);
    panes::next_cut(ui, next);
    Some(Action::Hosts(HostsAction::Select(next)))
}

/// Up and Down go through the lanes, Left and Right through the hosts of one; Enter opens the host.
fn keys(
    ui: &Ui,
    cx: &Cx<'_>,
    focus: &egui::Response,
    report: &HostsReport,
    selected: Option<HostId>,
) {
    if !focus.has_focus() {
        return;
    }
    widgets::keep_arrows(ui, focus, true, true);
    widgets::focus_ring_inside(ui, focus);
    let pressed = |key| widgets::pressed(ui, key);
    let lanes = visible_lanes(ui, cx, report);
    let place = |id: HostId| {
        let at = |hosts: &Vec<&HostRow>| hosts.iter().position(|row| row.host.id == id);
        lanes
            .iter()
            .enumerate()
            .find_map(|(lane, hosts)| Some((lane, at(hosts)?)))
    };
    let at = selected.and_then(place);
    let (lane, host) = at.unwrap_or((0, 0));
    let to = match () {
        () if pressed(Key::ArrowDown) => Some((at.map_or(0, |_| lane + 1), 0)),
        () if pressed(Key::ArrowUp) => lane.checked_sub(1).map(|lane| (lane, 0)),
        () if pressed(Key::ArrowRight) => Some((lane, host + 1)),
        () if pressed(Key::ArrowLeft) => host.checked_sub(1).map(|host| (lane, host)),
        () => None,
    };
    if let Some(row) = to.and_then(|(lane, host)| lanes.get(lane)?.get(host)) {
        widgets::remember(ui, moved_id(), true);
        cx.send(HostsAction::Select(row.host.id));
    }
    if pressed(Key::Enter)
        && let Some(host) = selected
    {
        cx.send(HostsAction::Show(Some(host)));
    }
}
