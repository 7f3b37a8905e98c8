//! What hosts make of each column, in lanes by outcome: a lane has the hosts that lose the same of every column. What loses
//! something stands first.

use std::sync::Arc;

use egui::{Color32, Galley, Rect, Role, ScrollArea, Sense, Ui, pos2, vec2};

use super::{Judged, SIDE, head};
use crate::state::{Compare, QueryState};
use crate::ui::Cx;
use crate::ui::host_row;
use crate::ui::hosts::tone;
use crate::ui::theme;
use crate::ui::widgets::{self, ListRow};
use loupe_analysis::queries::comparison::{Column, ColumnOrigin};
use loupe_analysis::queries::{
    HostOutcome, HostsQuery, HostsReport, PlacementCell, SentAsTextQuery,
};
use loupe_core::capture::CaptureId;
use loupe_core::host::LimitState;
use loupe_core::number::{grouped, number_of};
use loupe_core::token::Tokens as Counted;

/// Above and below what is in a lane.
const AROUND: f32 = 9.0;
const LINE: f32 = 20.0;
/// The column of hosts is never narrower, nor another; more of them scroll.
const MIN_HOSTS: f32 = 216.0;
const MIN_COLUMN: f32 = 130.0;

/// Hosts in display order: own and pinned ones first. Positions among those known.
fn order(cx: &Cx<'_>, report: &HostsReport) -> Vec<usize> {
    host_row::first(0..report.rows.len(), |at| {
        host_row::is_first(&report.rows[*at], &cx.state.view.hosts)
    })
}

/// What is known of a column.
enum Known<'a> {
    Sent(&'a HostsReport),
    Written(&'a [PlacementCell]),
    Working,
    /// There is nothing to show to a host.
    Not,
}

/// What one host makes of it.
struct Seen<'a> {
    tokens: Option<Counted>,
    limit: LimitState,
    why_not: Option<&'a str>,
    missing: Option<u64>,
}

impl<'a> Known<'a> {
    fn of<T>(asked: QueryState<'a, T>, known: impl FnOnce(&'a T) -> Self) -> Self {
        match asked {
            QueryState::Ready(out) => known(out),
            QueryState::Failed(_) | QueryState::NeedsConfirmation { .. } => Self::Not,
            QueryState::Working { .. } => Self::Working,
        }
    }

    fn seen(&self, at: usize) -> Option<Seen<'_>> {
        match self {
            Self::Sent(report) => report.rows.get(at).map(|row| Seen {
                tokens: row.tokens,
                limit: row.limit().state,
                why_not: row.view.not_computable.as_deref(),
                missing: row.facts.map(|facts| facts.missing),
            }),
            Self::Written(cells) => cells.get(at).map(|cell| Seen {
                tokens: cell.tokens,
                limit: cell.limit,
                why_not: cell.why_not.as_deref(),
                missing: cell.facts.map(|facts| facts.missing),
            }),
            Self::Working | Self::Not => None,
        }
    }
}

fn known<'a>(cx: &Cx<'a>, column: &Column, captures: &[CaptureId]) -> Known<'a> {
    let (ColumnOrigin::Call(call) | ColumnOrigin::Derived(call)) = column.origin;
    let Some(capture) = captures.get(call) else {
        return Known::Not;
    };
    let capture = std::slice::from_ref(capture);
    match column.origin {
        ColumnOrigin::Call(_) => {
            Known::of(cx.ask_of(capture, HostsQuery), |report| Known::Sent(report))
        }
        ColumnOrigin::Derived(_) => Known::of(
            cx.ask_of(capture, SentAsTextQuery(column.format)),
            |cells| Known::Written(cells),
        ),
    }
}

/// Hosts are shown whole answers, whichever part the columns show.
fn title(column: &Column) -> String {
    match column.origin {
        ColumnOrigin::Call(_) => format!("{} as sent", column.value_title()),
        ColumnOrigin::Derived(_) => column.title.clone(),
    }
}

/// "cut", and why it matters; nothing where it fits.
fn limit_word(limit: LimitState) -> Option<&'static str> {
    match limit {
        LimitState::None | LimitState::Fits => None,
        LimitState::Unknown => Some("limit unknown"),
        LimitState::MayCut => Some("may be cut"),
        LimitState::Cut => Some("cut"),
        LimitState::Replaced => Some("replaced"),
        LimitState::Error => Some("refused"),
    }
}

/// What is lost of a column: how bad that is, and in words; no words where nothing is.
type Lost = (HostOutcome, String);

fn lost_of(known: &Known<'_>, at: usize) -> Lost {
    let Some(seen) = known.seen(at) else {
        return (HostOutcome::All, String::new());
    };
    if seen.tokens.is_none() {
        let why = seen.why_not.unwrap_or("text not known");
        return (HostOutcome::Unknown, why.to_owned());
    }
    let missing = seen.missing.filter(|missing| *missing > 0);
    let facts =
        missing.map(|missing| format!("−{}", number_of(missing, "facts").replace(' ', "\u{a0}")));
    let words = limit_word(seen.limit).map(str::to_owned).into_iter();
    let words: Vec<String> = words.chain(facts).collect();
    let outcome = match () {
        () if seen.limit.is_truncated() == Some(true) => HostOutcome::Cut,
        () if missing.is_some() => HostOutcome::Facts,
        () if words.is_empty() => HostOutcome::All,
        () => HostOutcome::Unknown,
    };
    (outcome, words.join(", "))
}

/// Hosts that lose the same of every column.
struct Lane {
    outcome: HostOutcome,
    /// "Kimi Code cuts JSON, compact: −24 facts".
    title: String,
    names: String,
    /// By column: the tokens, and what is lost.
    cells: Vec<(String, Lost)>,
}

impl Lane {
    fn new(
        cx: &Cx<'_>,
        columns: &[(&Column, Known<'_>)],
        report: &HostsReport,
        lost: &[Lost],
        hosts: &[usize],
    ) -> Self {
        let name = |at: &usize| report.rows[*at].host.name.as_str();
        let names: Vec<&str> = hosts.iter().map(name).collect();
        let cells = columns.iter().zip(lost).map(|((_, known), lost)| {
            let encoding = cx.state.settings.encoding();
            let seen = hosts.iter().filter_map(|at| known.seen(*at)?.tokens);
            let tokens: Vec<u64> = seen.map(|tokens| tokens.get(encoding)).collect();
            let tokens = match (tokens.iter().min(), tokens.iter().max()) {
                (Some(least), Some(most)) if least < most => {
                    format!("{}–{} tok", grouped(*least), grouped(*most))
                }
                (Some(same), _) => format!("{} tok", grouped(*same)),
                _ => String::new(),
            };
            (tokens, lost.clone())
        });
        let worst = |outcome: &HostOutcome| lost.iter().any(|(of, _)| of == outcome);
        Self {
            outcome: *HostOutcome::ALL
                .iter()
                .find(|outcome| **outcome != HostOutcome::All && worst(outcome))
                .unwrap_or(&HostOutcome::All),
            title: lane_title(columns, lost, &names),
            cells: cells.collect(),
            names: names.join(" · "),
        }
    }
}

fn lane_title(columns: &[(&Column, Known<'_>)], lost: &[Lost], names: &[&str]) -> String {
    let (subject, s) = match names {
        [one] => ((*one).to_owned(), "s"),
        _ => (number_of(names.len() as u64, "hosts"), ""),
    };
    let mut by_words: Vec<(&Lost, Vec<String>)> = Vec::new();
    for (lost, (column, _)) in lost
        .iter()
        .zip(columns)
        .filter(|(lost, _)| !lost.1.is_empty())
    {
        match by_words.iter_mut().find(|(known, _)| *known == lost) {
            Some((_, of)) => of.push(title(column)),
            None => by_words.push((lost, vec![title(column)])),
        }
    }
    if by_words.is_empty() {
        return match columns {
            [(column, _)] => format!("{subject} show{s} {} whole", title(column)),
            _ => format!("{subject} show{s} every column whole"),
        };
    }
    let has_text = |(_, known): &&(&Column, Known<'_>)| !matches!(known, Known::Not);
    let count = columns.iter().filter(has_text).count();
    let parts = by_words.into_iter().map(|((_, words), of)| {
        let of = match of.len() {
            all if all == count && all > 1 => "every column".to_owned(),
            0..=2 => of.join(" and "),
            several => format!("{several} columns"),
        };
        match words.strip_prefix("cut") {
            Some(facts) => format!("cut{s} {of}{}", facts.replacen(',', ":", 1)),
            None => format!("{of}: {words}"),
        }
    });
    let parts = parts.collect::<Vec<_>>().join(" · ");
    match parts.starts_with("cut") {
        true => format!("{subject} {parts}"),
        false => format!("{subject} · {parts}"),
    }
}

/// The worst first, what is not known last.
fn lanes(cx: &Cx<'_>, columns: &[(&Column, Known<'_>)], report: &HostsReport) -> Vec<Lane> {
    let mut by_lost: Vec<(Vec<Lost>, Vec<usize>)> = Vec::new();
    for at in order(cx, report) {
        let lost = columns.iter().map(|(_, known)| lost_of(known, at));
        let lost: Vec<Lost> = lost.collect();
        match by_lost.iter_mut().find(|(known, _)| *known == lost) {
            Some((_, hosts)) => hosts.push(at),
            None => by_lost.push((lost, vec![at])),
        }
    }
    let lane =
        |(lost, hosts): (Vec<Lost>, Vec<usize>)| Lane::new(cx, columns, report, &lost, &hosts);
    let mut lanes: Vec<Lane> = by_lost.into_iter().map(lane).collect();
    lanes.sort_by_key(|lane| {
        HostOutcome::ALL
            .iter()
            .position(|known| *known == lane.outcome)
    });
    lanes
}

pub fn hosts_ui(ui: &mut Ui, cx: &Cx<'_>, compare: &Compare, judged: &Judged) {
    let captures = compare
        .query(cx.state.settings.encoding())
        .map(|(captures, _)| captures)
        .unwrap_or_default();
    let columns: Vec<(&Column, Known<'_>)> = judged
        .page
        .comparison
        .columns
        .iter()
        .map(|column| (column, known(cx, column, &captures)))
        .collect();
    let report = columns.iter().find_map(|(_, known)| {
        if let Known::Sent(report) = known {
            Some(*report)
        } else {
            None
        }
    });
    let is_working = columns
        .iter()
        .any(|(_, known)| matches!(known, Known::Working));
    let Some(report) = report.filter(|_| !is_working) else {
        ui.add_space(8.0);
        ui.horizontal(|ui| {
            ui.add_space(SIDE);
            widgets::waiting(
                ui,
                "Reading the answers as each host does",
                cx.state.query_results.since().unwrap_or(cx.state.now),
                cx,
            );
        });
        return;
    };
    let lanes = lanes(cx, &columns, report);
    let area = ui.available_rect_before_wrap();
    let need = |at: usize| {
        let words = lanes
            .iter()
            .map(|lane| &lane.cells[at])
            .map(|(tokens, (outcome, lost))| {
                let lost = loss_words(tokens, *outcome, lost);
                let lost = widgets::text_width(ui, lost, theme::small());
                lost.max(widgets::text_width(ui, tokens, theme::mono(12.0)))
            });
        let words = words.fold(0.0, f32::max) + 2.0 * head::PAD;
        words.max(judged.needs[at]).max(MIN_COLUMN)
    };
    let mut lefts = vec![0.0];
    for at in 0..columns.len() {
        lefts.push((lefts[at] + need(at)).round());
    }
    let hosts = (area.width() - lefts[columns.len()]).max(MIN_HOSTS).floor();
    ScrollArea::horizontal()
        .id_salt("hosts of columns")
        .auto_shrink(false)
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing = vec2(0.0, 0.0);
            let left = ui.cursor().left();
            let wide = hosts + lefts[columns.len()];
            let whole = Rect::from_min_size(pos2(left, area.top()), vec2(wide, area.height()));
            ui.allocate_rect(whole, Sense::hover());
            let (heads, below) = whole.split_top_bottom_at_y(whole.top() + head::HEIGHT);
            let place = |at: usize, line: Rect| {
                let left = left + hosts;
                line.with_min_x(left + lefts[at])
                    .with_max_x(left + lefts[at + 1])
            };
            corner_ui(ui, heads.with_max_x(left + hosts));
            for at in 0..columns.len() {
                head::head_ui(ui, cx, compare, judged, at, place(at, heads));
            }
            widgets::line_below(ui, heads);
            widgets::part(ui, "lanes of columns", below, |ui| {
                widgets::scroll("lanes down").show(ui, |ui| {
                    for lane in &lanes {
                        lane_ui(ui, &columns, lane, hosts, wide, place);
                    }
                });
            });
            for at in 0..columns.len() {
                widgets::vline(ui, place(at, heads).left() - 0.5, whole.y_range());
            }
        });
}

fn corner_ui(ui: &Ui, rect: Rect) {
    let t = theme::of(ui);
    let words = "What hosts lose of the data of each answer";
    let room = rect.width() - 2.0 * SIDE;
    let galley = ui
        .painter()
        .layout(words.to_owned(), theme::small(), t.weak, room);
    widgets::galley_at(
        ui,
        pos2(rect.left() + SIDE, rect.center().y),
        galley,
        t.weak,
    );
    widgets::sense(ui, rect, "what", Sense::hover()).on_hover_text(
        "Answers count as they were sent, columns without a call as the only text of an answer",
    );
}

/// What a cell says of what is lost: why there is no text is in the title.
fn loss_words(tokens: &str, outcome: HostOutcome, lost: &str) -> String {
    match outcome {
        HostOutcome::Unknown if tokens.is_empty() => "not known".to_owned(),
        _ => lost.to_owned(),
    }
}

fn lane_ui(
    ui: &mut Ui,
    columns: &[(&Column, Known<'_>)],
    lane: &Lane,
    hosts: f32,
    wide: f32,
    place: impl Fn(usize, Rect) -> Rect,
) {
    let t = theme::of(ui);
    let (color, icon) = tone(t, lane.outcome);
    let strong = match lane.outcome {
        HostOutcome::All => t.strong,
        _ => color,
    };
    let room = hosts - SIDE - 18.0 - head::PAD;
    let laid = |text: &str, font, color| ui.painter().layout(text.to_owned(), font, color, room);
    let mut left: Vec<(Arc<Galley>, Color32)> =
        vec![(laid(&lane.title, theme::medium(12.5), strong), strong)];
    if !lane.title.starts_with(&lane.names) {
        left.push((laid(&lane.names, theme::small(), t.weak), t.weak));
    }
    let high: f32 = left.iter().map(|(galley, _)| galley.size().y + 3.0).sum();
    let height = (high.max(2.0 * LINE) + 2.0 * AROUND).round();
    let (rect, response) = ui.allocate_exact_size(vec2(wide, height), Sense::hover());
    let row = ListRow::at(ui, rect, response);
    let mut top = rect.top() + AROUND;
    row.line(AROUND + 8.0)
        .icon(row.inset_left(SIDE + 6.0), icon, 14.0, color);
    for (galley, color) in left {
        let high = galley.size().y;
        let at = pos2(row.inset_left(SIDE + 18.0), top.round());
        row.ui.painter().galley(at, galley, color);
        top += high + 3.0;
    }
    let mut spoken = vec![format!("{}: {}", lane.title, lane.names)];
    for (at, ((column, _), (tokens, (outcome, lost)))) in
        columns.iter().zip(&lane.cells).enumerate()
    {
        let cell = place(at, rect);
        let (left, right) = (cell.left() + head::PAD, cell.right() + head::PAD);
        let words = loss_words(tokens, *outcome, lost);
        let mut y = AROUND + 8.0;
        if !tokens.is_empty() {
            row.line(y)
                .text(left, right, tokens, theme::mono(12.0), t.text);
            y += LINE;
        }
        row.line(y)
            .text(left, right, &words, theme::small(), tone(t, *outcome).0);
        let both = [tokens.as_str(), words.as_str()];
        let both: Vec<&str> = both.into_iter().filter(|words| !words.is_empty()).collect();
        spoken.push(format!("{}: {}", title(column), both.join(", ")));
    }
    widgets::line_below(row.ui, rect);
    row.say(Role::Row, spoken.join("; "));
}
