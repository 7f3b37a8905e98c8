//! What each host's model would be shown of each column: tokens, and whether a limit of the host cuts it.

use egui::{Rect, Role, ScrollArea, Sense, Ui, pos2, vec2};

use super::{Judged, SIDE};
use crate::state::{Compare, QueryState};
use crate::ui::Cx;
use crate::ui::host_row;
use crate::ui::theme;
use crate::ui::widgets;
use loupe_analysis::queries::comparison::{Column, ColumnOrigin};
use loupe_analysis::queries::{HostsQuery, HostsReport, PlacementCell, SentAsTextQuery};
use loupe_core::capture::CaptureId;
use loupe_core::host::{Host, LimitState};
use loupe_core::token::Tokens as Counted;

const ROW: f32 = 24.0;
const NAME: f32 = 190.0;
/// A column is never narrower; more of them scroll.
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
    Not(String),
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
            QueryState::Failed(problem) => Self::Not(problem.what.clone()),
            QueryState::Working { .. } => Self::Working,
            QueryState::NeedsConfirmation { .. } => Self::Not("not counted yet".to_owned()),
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
            Self::Working | Self::Not(_) => None,
        }
    }
}

fn known<'a>(cx: &Cx<'a>, column: &Column, captures: &[CaptureId]) -> Known<'a> {
    let (ColumnOrigin::Call(call) | ColumnOrigin::Derived(call)) = column.origin;
    let Some(capture) = captures.get(call) else {
        return Known::Not("no answer".into());
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

pub fn hosts_ui(ui: &mut Ui, cx: &Cx<'_>, compare: &Compare, judged: &Judged) {
    let page = &judged.page;
    let captures = compare
        .query(cx.state.settings.encoding())
        .map(|(captures, _)| captures)
        .unwrap_or_default();
    let columns: Vec<(&Column, Known<'_>)> = page
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
    let Some(report) = report else {
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
    let order = order(cx, report);
    let area = ui.available_rect_before_wrap();
    let width = ((area.width() - NAME - SIDE) / columns.len().max(1) as f32)
        .max(MIN_COLUMN)
        .floor();
    ScrollArea::both()
        .id_salt("hosts of columns")
        .auto_shrink(false)
        .show_viewport(ui, |ui, viewport| {
            let origin = ui.min_rect().min;
            let wide = NAME + width * columns.len() as f32 + SIDE;
            ui.allocate_rect(
                Rect::from_min_size(origin, vec2(wide, ROW * (order.len() + 1) as f32 + 8.0)),
                Sense::hover(),
            );
            let line = |row: usize| {
                Rect::from_min_size(origin + vec2(0.0, row as f32 * ROW), vec2(wide, ROW))
            };
            head_ui(ui, &columns, line(0), width);
            let first = (viewport.min.y / ROW).max(0.0) as usize;
            let last = (viewport.max.y / ROW) as usize + 1;
            for (row, at) in order
                .iter()
                .enumerate()
                .take(last)
                .skip(first.saturating_sub(1))
            {
                row_ui(
                    ui,
                    cx,
                    &columns,
                    &report.rows[*at].host,
                    *at,
                    line(row + 1),
                    width,
                );
            }
        });
}

fn head_ui(ui: &Ui, columns: &[(&Column, Known<'_>)], rect: Rect, width: f32) {
    let t = theme::of(ui);
    let line = widgets::RowLine::new(ui, rect);
    line.text(
        rect.left() + SIDE,
        rect.left() + NAME,
        "Against its own data",
        theme::small(),
        t.weak,
    );
    widgets::sense(ui, rect, "what", Sense::hover())
        .on_hover_text("What each host loses of the data of that column's own answer. Answers count as they were sent, columns without a call as the only text of an answer");
    for (at, (column, known)) in columns.iter().enumerate() {
        let left = rect.left() + NAME + at as f32 * width;
        let words = match known {
            Known::Working => format!("{}, counting", title(column)),
            Known::Not(why) => format!("{}: {why}", title(column)),
            Known::Sent(_) | Known::Written(_) => title(column),
        };
        // What a result lacks before any host has seen it.
        let lacks = column
            .facts
            .filter(|facts| facts.missing > 0 && matches!(column.origin, ColumnOrigin::Call(_)));
        let lacks = lacks.map(|facts| format!("lacks {}", widgets::grouped(facts.missing)));
        let end = line.text(left, left + width - 12.0, &words, theme::small(), t.weak);
        if let Some(lacks) = lacks {
            line.text(
                end + 8.0,
                left + width - 12.0,
                lacks,
                theme::small(),
                t.warn,
            );
        }
    }
    widgets::line_below(ui, rect);
}

fn row_ui(
    ui: &Ui,
    cx: &Cx<'_>,
    columns: &[(&Column, Known<'_>)],
    host: &Host,
    at: usize,
    rect: Rect,
    width: f32,
) {
    let t = theme::of(ui);
    let line = widgets::RowLine::new(ui, rect);
    let mut spoken = vec![host.name.clone()];
    widgets::name_at(
        ui,
        pos2(rect.left() + SIDE, line.y),
        &host.name,
        theme::base(),
        t.strong,
        NAME - SIDE - 12.0,
    );
    for (position, (column, known)) in columns.iter().enumerate() {
        let left = rect.left() + NAME + position as f32 * width;
        let cell = Rect::from_min_size(pos2(left, rect.top()), vec2(width, ROW));
        if !ui.is_rect_visible(cell) {
            continue;
        }
        let Some(seen) = known.seen(at) else { continue };
        let Some(tokens) = seen.tokens else {
            let why = seen.why_not.unwrap_or("text not known");
            line.text(left, left + width - 12.0, why, theme::small(), t.weak);
            spoken.push(format!("{}: {why}", title(column)));
            continue;
        };
        let number = widgets::number_text(tokens.get(cx.state.settings.encoding()), "tok");
        let mut end = line.text(
            left,
            left + width - 12.0,
            &number,
            theme::mono(12.0),
            t.text,
        );
        let lost = seen.missing.filter(|missing| *missing > 0).map(|missing| {
            format!(
                "{} {} lost",
                widgets::grouped(missing),
                if missing == 1 { "fact" } else { "facts" }
            )
        });
        let limit = limit_word(seen.limit);
        let color = if seen.limit.is_truncated() == Some(true) {
            t.bad
        } else {
            t.weak
        };
        for (words, color) in [(limit, color), (lost.as_deref(), t.warn)] {
            if let Some(words) = words.filter(|_| end + 30.0 < left + width - 12.0) {
                end = line.text(end + 8.0, left + width - 12.0, words, theme::small(), color);
            }
        }
        let message = [Some(number.as_str()), limit, lost.as_deref()]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(", ");
        spoken.push(format!("{}: {message}", title(column)));
    }
    let response = widgets::sense(
        ui,
        rect,
        ("host of columns", host.id.as_str()),
        Sense::hover(),
    );
    widgets::say(&response, Role::Row, spoken.join("; "));
}
