//! What the hosts do not get of the whole server: those that lose the same in one row, worst first, and one of them in
//! detail, with the text that its model gets and where it is cut.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use egui::{
    Color32, Frame, Galley, Id, Key, Margin, Rect, Role, ScrollArea, Sense, Stroke, Ui, pos2, vec2,
};

use super::{SIDE, beside_ui, is_wide, ready};
use crate::state::{Action, ConnectAction, HostsAction};
use crate::ui::theme::{self, ThemeTokens};
use crate::ui::widgets::{self, ListRow};
use crate::ui::{Cx, host_row, icons, once};
use loupe_analysis::contract;
use loupe_analysis::queries::{HostLosses, HostsQuery, LossOutcome, LossesQuery, LossesReport};
use loupe_analysis::summary::{LossColumn, LossLine, costs_text, evidence_of, loss_sentence};
use loupe_core::host::losses::{HostLoss, LossKind};
use loupe_core::number::{grouped, number_of};
use loupe_core::token::Tokens;

const HEAD: f32 = 28.0;
const GROUP: f32 = 24.0;
const LINE: f32 = 19.0;
const AROUND: f32 = 14.0;
/// The width of a column of tokens.
const COST: f32 = 74.0;
/// Below this width what is lost stands in one column, and the costs are two.
const NARROW: f32 = 720.0;
/// Definitions that are shown of one loss, and the characters before a cut.
const MAX_DEFINITIONS: usize = 5;
const BEFORE: usize = 240;

fn tone(t: &ThemeTokens, outcome: LossOutcome) -> (Color32, &'static str) {
    match outcome {
        LossOutcome::EveryTool => (t.bad, icons::ERROR),
        LossOutcome::Part => (t.warn, icons::MISSING),
        LossOutcome::Nothing => (t.text, icons::CHECK),
        LossOutcome::NotKnown => (t.weak, icons::UNKNOWN),
    }
}

fn line_tone(t: &ThemeTokens, line: LossLine<'_>) -> (Color32, &'static str) {
    match () {
        () if line.is_not_known() => (t.weak, icons::UNKNOWN),
        () if line.is_all() => (t.bad, icons::ERROR),
        () => (t.warn, icons::MISSING),
    }
}

/// What hosts lose, of the result at hand too, once it is worked out.
pub fn report(ui: &Ui, cx: &Cx<'_>) -> Option<Arc<LossesReport>> {
    let report = cx.ask_server(LossesQuery).ready()?;
    Some(with_result(ui, cx, report))
}

fn with_result(ui: &Ui, cx: &Cx<'_>, report: &Arc<LossesReport>) -> Arc<LossesReport> {
    let shown = cx.state.capture();
    let of_result = shown.and_then(|capture| Some((capture, cx.ready(HostsQuery)?)));
    let Some((capture, of_result)) = of_result else {
        return Arc::clone(report);
    };
    let mut key = DefaultHasher::new();
    (Arc::as_ptr(report) as usize, &capture.id).hash(&mut key);
    // What it is made from stays with it, so that no other report comes to be at its place.
    let (_, with) = once::per_key(ui, Id::unique("losses with a result"), key.finish(), || {
        let whole = LossesReport::clone(report);
        let with = whole.with_result(&capture.tool.name, of_result);
        (Arc::clone(report), Arc::new(with))
    });
    with
}

/// The next host in the order of the rows that loses something, or the one before.
pub fn next_host(ui: &Ui, cx: &Cx<'_>, is_forward: bool) -> Option<Action> {
    let report = report(ui, cx)?;
    let loses = |at: &usize| report.hosts[*at].outcome() < LossOutcome::Nothing;
    let hosts: Vec<usize> = report.lanes().into_iter().flatten().filter(loses).collect();
    let selected = cx.state.view.hosts.selected;
    let at = hosts
        .iter()
        .position(|at| Some(report.hosts[*at].host.id) == selected);
    let count = hosts.len();
    let next = match (at, is_forward) {
        (_, _) if count == 0 => return None,
        (Some(at), true) => (at + 1) % count,
        (Some(at), false) => (at + count - 1) % count,
        (None, _) => 0,
    };
    Some(Action::Hosts(HostsAction::Select(
        report.hosts[hosts[next]].host.id,
    )))
}

pub(super) fn server_ui(ui: &mut Ui, cx: &Cx<'_>, rect: Rect) {
    if cx.state.session().tools.is_empty() {
        if widgets::empty_ui(
            ui,
            "No server is connected, or it lists no tools, so no host can lose any.",
            Some("Use my server…"),
        ) {
            cx.send(ConnectAction::Show);
        }
        return;
    }
    let asked = cx.ask_server(LossesQuery);
    let Some(report) = ready(ui, cx, "Reading the definitions as each host does", asked) else {
        return;
    };
    let report = with_result(ui, cx, report);
    let lanes = report.lanes();
    let chosen = cx.state.view.hosts.selected;
    let selected = report
        .hosts
        .iter()
        .find(|host| Some(host.host.id) == chosen)
        .or_else(|| report.hosts.get(*lanes.first()?.first()?));
    let detail_in = |ui: &mut Ui, place: Rect| {
        if let Some(host) = selected {
            widgets::part(ui, "detail", place, |ui| detail_ui(ui, cx, host, &report));
        }
    };
    let Some(left) = beside_ui(ui, cx, rect, detail_in) else {
        return;
    };
    let selected = selected
        .filter(|_| is_wide(ui) || chosen.is_some())
        .map(|host| host.host.id);
    widgets::part(ui, "all hosts", left, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        let inner = left.shrink2(vec2(SIDE, 0.0));
        let used = widgets::part(ui, "headline", inner, |ui| {
            ui.set_width(inner.width());
            head_ui(ui, &report);
        });
        let list = left.with_min_y(used.response.rect.bottom().ceil());
        widgets::hline(ui, list.x_range(), list.top() + 0.5);
        let table = Table::new(list, cx, &report, selected);
        table.show(ui, list.with_min_y(list.top() + 1.0), &lanes);
    });
}

fn head_ui(ui: &mut Ui, report: &LossesReport) {
    let t = theme::of(ui);
    ui.spacing_mut().item_spacing.y = 3.0;
    ui.add_space(14.0);
    let heading = report.headline();
    let response = widgets::wrapped(ui, &heading, theme::semibold(22.0), t.strong);
    widgets::say(&response, Role::Heading, heading);
    let why = report.why();
    if !why.is_empty() {
        widgets::wrapped(ui, why, theme::base(), t.text);
    }
    ui.add_space(6.0);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 5.0;
        let counts = LossOutcome::ALL.into_iter().zip(report.outcomes());
        for (outcome, count) in counts.filter(|(_, count)| *count > 0) {
            let (color, icon) = tone(t, outcome);
            ui.label(icons::icon(icon, 14.0, color));
            widgets::words(ui, outcome.count_hosts(count), theme::small(), color);
            ui.add_space(8.0);
        }
        widgets::from_right(ui, |ui| {
            let words = match report.results {
                0 => "Definitions alone: call a tool to add its result".to_owned(),
                some => format!("Results from {}", number_of(some as u64, "calls")),
            };
            widgets::truncated(ui, words, theme::small(), t.weak);
        });
    });
    ui.add_space(8.0);
}

/// The table of hosts: where its columns are, and what it shows.
struct Table<'a> {
    cx: &'a Cx<'a>,
    report: &'a LossesReport,
    selected: Option<loupe_core::host::HostId>,
    hosts: f32,
    /// Where each column of losses begins, and its width.
    losses: Vec<(LossColumn, f32, f32)>,
    is_narrow: bool,
    right: f32,
}

/// A column of costs: its title, and what stands in it.
type CostColumn = (&'static str, fn(&HostLosses) -> Option<Tokens>);

/// One row of hosts as it is laid out.
struct Laid {
    names: Arc<Galley>,
    /// For each column: the lines, each with its colour and icon.
    cells: Vec<Vec<(Arc<Galley>, Color32, &'static str)>>,
    height: f32,
}

impl<'a> Table<'a> {
    fn new(
        rect: Rect,
        cx: &'a Cx<'a>,
        report: &'a LossesReport,
        selected: Option<loupe_core::host::HostId>,
    ) -> Self {
        let is_narrow = rect.width() < NARROW;
        let columns: Vec<LossColumn> = LossColumn::ALL
            .into_iter()
            .filter(|column| *column != LossColumn::Results || report.results > 0)
            .collect();
        let right = rect.right() - SIDE;
        let costs = COST * if is_narrow { 2.0 } else { 3.0 };
        let room = (right - costs - rect.left() - SIDE).max(200.0);
        // A column of ticks takes no room from the others; of definitions more is said than of the rest.
        let is_empty = |column: LossColumn| {
            let mut hosts = report.hosts.iter();
            hosts.all(|host| host.lines(column).is_empty())
        };
        let share = |column: LossColumn| match column {
            column if is_empty(column) => 1.6,
            LossColumn::Definitions => 4.0,
            LossColumn::Tools | LossColumn::Results => 3.0,
        };
        let empty = columns.iter().filter(|column| is_empty(**column)).count();
        let part = match (is_narrow, report.results) {
            (true, _) => 0.45,
            (false, 0) => 0.36 + 0.1 * empty as f32,
            (false, _) => 0.26 + 0.1 * empty as f32,
        };
        let hosts = (room * part).round();
        let whole: f32 = columns.iter().map(|column| share(*column)).sum();
        let mut x = rect.left() + SIDE + hosts;
        let losses = columns.into_iter().map(|column| {
            if is_narrow {
                return (column, x, room - hosts);
            }
            let width = ((room - hosts) * share(column) / whole).floor();
            x += width;
            (column, x - width, width)
        });
        Self {
            cx,
            report,
            selected,
            hosts,
            losses: losses.collect(),
            is_narrow,
            right,
        }
    }

    fn costs(&self) -> &'static [CostColumn] {
        const ALL: [CostColumn; 3] = [
            ("Listed", |host| Some(host.cost.listed)),
            ("Passed on", |host| host.cost.passed_on),
            ("At start", |host| host.cost.at_start),
        ];
        if self.is_narrow { &ALL[1..] } else { &ALL }
    }

    fn lay(&self, ui: &Ui, lane: &[usize]) -> Laid {
        let t = theme::of(ui);
        let first = &self.report.hosts[lane[0]];
        let names: Vec<&str> = lane
            .iter()
            .map(|at| self.report.hosts[*at].host.name.as_str())
            .collect();
        let layout = |text: String, font, color, width: f32| {
            ui.painter().layout(text, font, color, width.max(40.0))
        };
        let names = layout(
            names.join(" · "),
            theme::medium(12.5),
            t.text,
            self.hosts - 34.0,
        );
        let mut cells = Vec::new();
        for (column, _, width) in &self.losses {
            let lines = first.lines(*column).into_iter().map(|line| {
                let (color, icon) = line_tone(t, line);
                let galley = layout(line.text().to_owned(), theme::base(), color, width - 30.0);
                (galley, color, icon)
            });
            cells.push(lines.collect::<Vec<_>>());
        }
        let heights = cells.iter().map(|lines| {
            lines
                .iter()
                .map(|(galley, ..)| galley.size().y.max(LINE))
                .sum::<f32>()
        });
        let lost = if self.is_narrow {
            heights.sum::<f32>()
        } else {
            heights.fold(0.0, f32::max)
        };
        let height = (AROUND + lost.max(names.size().y).max(LINE)).ceil();
        Laid {
            names,
            cells,
            height,
        }
    }

    fn show(&self, ui: &mut Ui, rect: Rect, lanes: &[Vec<usize>]) {
        let t = theme::of(ui);
        let head = Rect::from_min_size(rect.min, vec2(rect.width(), HEAD));
        let title = |x: f32, text: &str, width: f32| {
            let at = pos2(x, head.center().y);
            widgets::text_at(ui, at, text, theme::small(), t.weak, width)
        };
        title(rect.left() + SIDE, "Hosts", self.hosts - 8.0);
        if self.is_narrow {
            title(self.losses[0].1, "Loses", self.losses[0].2);
        } else {
            for (column, x, width) in &self.losses {
                title(*x, column.title(), width - 8.0);
            }
        }
        let count = self.costs().len();
        for (at, (name, _)) in self.costs().iter().enumerate() {
            let x = self.right - COST * (count - 1 - at) as f32;
            let at = pos2(x, head.center().y);
            widgets::text_right(ui, at, *name, theme::small(), t.weak);
        }
        widgets::hline(ui, rect.x_range(), head.bottom() - 0.5);
        let list = rect.with_min_y(head.bottom());
        let focus = ui.interact(
            list,
            Id::unique("losses"),
            Sense::focusable_noninteractive(),
        );
        widgets::say(&focus, Role::Table, "Hosts by what they lose of the server");
        self.keys(ui, &focus, lanes);
        let mut entries = Vec::new();
        let mut height = 0.0;
        let mut last = None;
        for lane in lanes {
            let outcome = self.report.hosts[lane[0]].outcome();
            if last != Some(outcome) {
                last = Some(outcome);
                entries.push((height, None));
                height += GROUP;
            }
            let laid = self.lay(ui, lane);
            let own = laid.height;
            entries.push((height, Some((lane, laid))));
            height += own;
        }
        let moved = Id::unique("moved over losses");
        let is_moved = widgets::recall::<Option<loupe_core::host::HostId>>(ui, moved)
            .is_some_and(|last| last != self.selected);
        widgets::remember(ui, moved, self.selected);
        widgets::part(ui, "loss rows", list, |ui| {
            ui.set_clip_rect(list.intersect(ui.clip_rect()));
            widgets::scroll("losses").show_viewport(ui, |ui, viewport| {
                let origin = ui.min_rect().min;
                let whole = Rect::from_min_size(origin, vec2(viewport.width(), height));
                ui.allocate_rect(whole, Sense::hover());
                let mut outcome = None;
                for (at, (top, entry)) in entries.iter().enumerate() {
                    let own = entry.as_ref().map_or(GROUP, |(_, laid)| laid.height);
                    let place = Rect::from_min_size(
                        pos2(origin.x, (origin.y + top).round()),
                        vec2(rect.width(), own),
                    );
                    if let Some((lane, _)) = entry
                        && is_moved
                        && lane.iter().any(|at| self.is_selected(*at))
                    {
                        ui.scroll_to_rect(place, None);
                    }
                    if top + own < viewport.top() || *top > viewport.bottom() {
                        continue;
                    }
                    match entry {
                        Some((lane, laid)) => self.row(ui, place, lane, laid),
                        None => {
                            if let Some((_, Some((lane, _)))) = entries.get(at + 1) {
                                outcome = Some(self.report.hosts[lane[0]].outcome());
                            }
                            if let Some(outcome) = outcome {
                                self.group(ui, place, outcome);
                            }
                        }
                    }
                }
            });
        });
    }

    fn is_selected(&self, at: usize) -> bool {
        self.selected == Some(self.report.hosts[at].host.id)
    }

    fn group(&self, ui: &Ui, rect: Rect, outcome: LossOutcome) {
        let t = theme::of(ui);
        let sense = widgets::sense(ui, rect, ("losses", outcome.name()), Sense::empty());
        let row = ListRow::at(ui, rect, sense);
        row.fill(t.card);
        widgets::line_below(ui, rect);
        let count = LossOutcome::ALL
            .into_iter()
            .zip(self.report.outcomes())
            .find(|(own, _)| *own == outcome)
            .map_or(0, |(_, count)| count);
        let note = number_of(count as u64, "hosts");
        let (left, title) = (row.inset_left(SIDE), outcome.title());
        let color = match outcome {
            LossOutcome::Nothing => t.strong,
            _ => tone(t, outcome).0,
        };
        row.text(
            left,
            left + rect.width() * 0.5,
            title,
            theme::semibold(12.5),
            color,
        );
        row.number(row.inset_right(SIDE), &note, theme::small(), t.weak);
        row.say(Role::Heading, format!("{title}, {note}"));
    }

    fn row(&self, ui: &Ui, rect: Rect, lane: &[usize], laid: &Laid) {
        let t = theme::of(ui);
        let first = &self.report.hosts[lane[0]];
        let is_selected = lane.iter().any(|at| self.is_selected(*at));
        let sense = widgets::sense(ui, rect, ("loss", first.host.id), Sense::CLICK);
        let row = ListRow::at(ui, rect, sense);
        row.ground_edged(is_selected);
        widgets::line_below(ui, rect);
        let left = rect.left() + SIDE;
        let evidence = host_row::evidence_icon(first.host.evidence);
        row.icon(left + 6.0, evidence, 13.0, t.weak);
        widgets::galley_at(
            ui,
            pos2(left + 18.0, row.y),
            Arc::clone(&laid.names),
            t.text,
        );
        let heights = |lines: &[(Arc<Galley>, Color32, &str)]| {
            let heights = lines.iter().map(|(galley, ..)| galley.size().y.max(LINE));
            heights.sum::<f32>()
        };
        let all: f32 = laid.cells.iter().map(|lines| heights(lines)).sum();
        let mut top = row.y - all / 2.0;
        for ((_, x, _), lines) in self.losses.iter().zip(&laid.cells) {
            if !self.is_narrow {
                top = row.y - heights(lines) / 2.0;
            }
            if lines.is_empty() && !self.is_narrow {
                row.icon(x + 6.0, icons::CHECK, 14.0, t.weak);
            }
            for (galley, color, icon) in lines {
                let height = galley.size().y.max(LINE);
                let y = top + height / 2.0;
                let at = pos2(x + 6.0, y);
                widgets::glyph_at(ui, at, icon, theme::icon_font(14.0), *color);
                widgets::galley_at(ui, pos2(x + 18.0, y), Arc::clone(galley), *color);
                top += height;
            }
        }
        if self.is_narrow && all == 0.0 {
            row.icon(self.losses[0].1 + 6.0, icons::CHECK, 14.0, t.weak);
        }
        let encoding = self.cx.state.settings.encoding();
        let count = self.costs().len();
        let mut spoken = Vec::new();
        for (at, (name, cost)) in self.costs().iter().enumerate() {
            let costs: Vec<Option<Tokens>> = lane
                .iter()
                .map(|at| cost(&self.report.hosts[*at]))
                .collect();
            let text = costs_text(&costs, encoding);
            let is_known = costs.iter().any(Option::is_some);
            let (font, color) = match (is_known, at) {
                (false, _) => (theme::small(), t.weak),
                (true, 0) if count == 3 => (theme::mono(12.0), t.weak),
                (true, _) => (theme::mono_semibold(12.0), t.strong),
            };
            let x = self.right - COST * (count - 1 - at) as f32;
            spoken.push(format!("{name} {text}"));
            // Of how many it is not known has no room in the column; a screen reader says it.
            let is_part = is_known && costs.iter().any(Option::is_none);
            let shown = match text.split_once(", ") {
                Some((known, _)) if is_part => format!("{known} ?"),
                _ => text,
            };
            row.number(x, shown, font, color);
        }
        let names = lane
            .iter()
            .map(|at| self.report.hosts[*at].host.name.as_str());
        let lost: Vec<&str> = LossColumn::ALL
            .into_iter()
            .flat_map(|column| first.lines(column))
            .map(|line| line.text())
            .collect();
        let lost = match lost.is_empty() {
            true => "loses nothing known".to_owned(),
            false => lost.join(", "),
        };
        let names: Vec<&str> = names.collect();
        let spoken = format!("{}: {lost}; {}", names.join(", "), spoken.join(", "));
        widgets::say_selected(&row.response, Role::Row, is_selected, spoken);
        if row.clicked() {
            // A further click goes on to the next host of the row.
            let at = lane.iter().position(|at| self.is_selected(*at));
            let next = at.map_or(0, |at| (at + 1) % lane.len());
            let host = self.report.hosts[lane[next]].host.id;
            self.cx.send(HostsAction::Select(host));
            if !is_wide(ui) {
                self.cx.send(HostsAction::OpenDetail);
            }
        }
    }

    /// Up and Down go through the hosts, Enter opens one where there is no room for both.
    fn keys(&self, ui: &Ui, focus: &egui::Response, lanes: &[Vec<usize>]) {
        if !focus.has_focus() {
            return;
        }
        widgets::keep_arrows(ui, focus, true, false);
        widgets::focus_ring_inside(ui, focus);
        let hosts: Vec<usize> = lanes.iter().flatten().copied().collect();
        let at = hosts.iter().position(|at| self.is_selected(*at));
        let to = match () {
            () if widgets::pressed(ui, Key::ArrowDown) => Some(at.map_or(0, |at| at + 1)),
            () if widgets::pressed(ui, Key::ArrowUp) => at.and_then(|at| at.checked_sub(1)),
            () => None,
        };
        if let Some(at) = to.and_then(|to| hosts.get(to)) {
            let host = self.report.hosts[*at].host.id;
            self.cx.send(HostsAction::Select(host));
        }
        if widgets::pressed(ui, Key::Enter) && self.selected.is_some() {
            self.cx.send(HostsAction::OpenDetail);
        }
    }
}

/// One host: each loss with how it is known, the exact text, and what a server can do about it.
fn detail_ui(ui: &mut Ui, cx: &Cx<'_>, host: &HostLosses, report: &Arc<LossesReport>) {
    let t = theme::of(ui);
    let encoding = cx.state.settings.encoding();
    ScrollArea::vertical()
        .id_salt(("losses of", host.host.id))
        .auto_shrink(false)
        .show(ui, |ui| {
            Frame::new()
                .inner_margin(Margin::symmetric(SIDE as i8, 12))
                .show(ui, |ui| {
                    ui.set_width(ui.available_width());
                    ui.spacing_mut().item_spacing.y = 6.0;
                    ui.horizontal(|ui| {
                        let name = &host.host.name;
                        let response = widgets::words(ui, name, theme::semibold(15.0), t.strong);
                        widgets::say(&response, Role::Heading, name);
                        widgets::truncated(ui, &host.host.version, theme::mono(11.5), t.weak);
                    });
                    let cost = |name: &str, tokens: Option<Tokens>| match tokens {
                        Some(tokens) => format!("{name} {} tok", grouped(tokens.get(encoding))),
                        None => format!("{name} not known"),
                    };
                    let costs = [
                        cost("Listed", Some(host.cost.listed)),
                        cost("passed on", host.cost.passed_on),
                        cost("at session start", host.cost.at_start),
                    ];
                    widgets::wrapped(ui, costs.join(" · "), theme::base(), t.text);
                    if !host.left_out.is_empty() {
                        let words = format!("Not passed on: {}", host.left_out.join(", "));
                        widgets::note_wrapped(ui, words);
                    }
                    if host.hidden > 0 {
                        let tools = number_of(host.hidden as u64, "tools");
                        let words = format!(
                            "Hidden from the model, as their _meta.ui.visibility asks: {tools}"
                        );
                        widgets::note_wrapped(ui, words);
                    }
                    if host.losses.is_empty() && host.results.is_empty() {
                        widgets::wrapped(ui, "Nothing known is lost.", theme::base(), t.text);
                    }
                    for (loss, exact) in host.losses.iter().zip(exact(ui, host, report).iter()) {
                        loss_ui(ui, host, loss, report, exact);
                    }
                    for result in &host.results {
                        separator(ui);
                        let words = format!("{}: {}", result.tool, result.text);
                        widgets::wrapped(ui, words, theme::medium(13.0), t.strong);
                        widgets::note_wrapped(ui, "This result shows the exact text.");
                    }
                    if let Some(certainty) = &host.host.definition.certainty {
                        separator(ui);
                        widgets::note_wrapped(ui, certainty);
                    }
                });
        });
}

fn separator(ui: &mut Ui) {
    ui.add_space(4.0);
    widgets::separator(ui);
    ui.add_space(4.0);
}

/// What the model gets of one tool, by what it is.
type ExactTool = (String, Vec<(&'static str, String)>);

/// For each loss the first tools that it is about, with what the model gets of them; worked out once for a host.
fn exact(ui: &Ui, host: &HostLosses, report: &Arc<LossesReport>) -> Arc<Vec<Vec<ExactTool>>> {
    type Kept = (Arc<LossesReport>, Arc<Vec<Vec<ExactTool>>>);
    let mut key = DefaultHasher::new();
    (host.host.id, Arc::as_ptr(report) as usize).hash(&mut key);
    let kept: Kept = once::per_key(ui, Id::unique("exact losses"), key.finish(), || {
        let of_loss = |loss: &HostLoss| {
            let tools = loss.tools.iter().take(MAX_DEFINITIONS);
            tools
                .map(|at| &report.tools[*at])
                .map(|tool| {
                    let parts = contract::exact_loss(host, loss.kind, tool, report);
                    (tool.name.clone(), parts)
                })
                .filter(|(_, parts)| !parts.is_empty())
                .collect()
        };
        let all = host.losses.iter().map(of_loss).collect();
        (Arc::clone(report), Arc::new(all))
    });
    kept.1
}

fn loss_ui(
    ui: &mut Ui,
    host: &HostLosses,
    loss: &HostLoss,
    report: &LossesReport,
    exact: &[ExactTool],
) {
    let t = theme::of(ui);
    separator(ui);
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        let (color, icon) = line_tone(t, LossLine::Definition(loss));
        ui.label(icons::icon(icon, 14.0, color));
        let words = loss_sentence(loss, report);
        widgets::wrapped(ui, words, theme::medium(13.0), t.strong);
    });
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        let icon = host_row::evidence_icon(loss.evidence.evidence);
        ui.label(icons::icon(icon, 13.0, t.weak));
        widgets::note_wrapped(ui, evidence_of(loss));
    });
    for (tool, parts) in exact {
        widgets::words(ui, tool, theme::code(), t.text);
        for (what, text) in parts {
            exact_ui(ui, what, text);
        }
    }
    let shown = loss.tools.len().min(MAX_DEFINITIONS);
    if shown < loss.tools.len() && loss.kind != LossKind::Pages {
        let more = number_of((loss.tools.len() - shown) as u64, "more tools");
        widgets::note(ui, more);
    }
    if let (LossKind::Instructions, Some(sent)) = (loss.kind, &report.instructions)
        && let Some(instructions) = host.host.instructions(sent)
    {
        if instructions.kept > 0 {
            exact_ui(ui, "description", &sent[..instructions.kept]);
        }
        exact_ui(ui, "removed", &sent[instructions.kept..]);
    }
    widgets::note_wrapped(ui, format!("Fix: {}", loss.kind.fix()));
}

/// A text as the model gets it, or what of it is gone; of a long one the end that the cut is at.
fn exact_ui(ui: &mut Ui, what: &str, text: &str) {
    let t = theme::of(ui);
    let is_removed = what == "removed";
    let count = text.chars().count();
    let (note, shown) = if is_removed {
        let shown: String = text.chars().take(BEFORE * 3).collect();
        let more = if count > BEFORE * 3 {
            ", its beginning"
        } else {
            ""
        };
        (
            format!("Removed: {}{more}", number_of(count as u64, "characters")),
            shown,
        )
    } else if what == "description" && count > BEFORE {
        let shown: String = text.chars().skip(count - BEFORE).collect();
        let kept = number_of(count as u64, "characters");
        (format!("Kept, the end of {kept}"), format!("…{shown}"))
    } else {
        let shown: String = text.chars().take(BEFORE * 3).collect();
        let more = if count > BEFORE * 3 { "…" } else { "" };
        (
            format!("{what} as the model gets it"),
            format!("{shown}{more}"),
        )
    };
    let (fill, line, color) = if is_removed {
        (t.warn_bg, t.warn_line, t.warn)
    } else {
        (t.card, t.line, t.weak)
    };
    Frame::new()
        .fill(fill)
        .stroke(Stroke::new(1.0, line))
        .corner_radius(theme::RADIUS_CONTROL)
        .inner_margin(Margin::symmetric(8, 6))
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.spacing_mut().item_spacing.y = 3.0;
            widgets::words(ui, note, theme::small(), color);
            widgets::wrapped(ui, shown, theme::code(), t.text);
        });
}
