//! What the session cost so far, what its results cost, and what they would in the cheapest format that loses nothing.

use egui::{Rect, Role, Sense, Ui, pos2};

use super::sessions::span;
use crate::state::OpenSession;
use crate::ui::theme;
use crate::ui::widgets;
use crate::ui::{Cx, icons, strip};
use loupe_analysis::queries::SessionBill;
use loupe_core::format::format_title;
use loupe_core::number::{grouped, number_of, percent_change};
use loupe_core::token::Encoding;

struct Cell {
    name: String,
    role: String,
    number: String,
    /// Against the results as they are.
    change: Option<String>,
    note: String,
    /// Whether the note says that something is lost.
    is_warning: bool,
}

impl Cell {
    fn text(&self) -> String {
        let change = self.change.as_deref().unwrap_or_default();
        let (name, role) = (&self.name, &self.role);
        format!(
            "{name}, {role}: {} tokens {change}, {}",
            self.number, self.note
        )
    }
}

pub(super) fn strip_ui(ui: &mut Ui, cx: &Cx<'_>, session: &OpenSession) {
    let height = strip::height_here(ui);
    let (rect, _) = widgets::full_width(ui, height, Sense::hover());
    ui.painter().rect_filled(rect, 0.0, theme::of(ui).panel);
    widgets::line_below(ui, rect);
    let Some(bill) = &session.bill else {
        return;
    };
    let is_low = height < 60.0;
    let mut cells = cells(session, bill, cx.state.settings.encoding(), is_low);
    if rect.width() < 640.0 {
        cells.truncate(2);
    }
    let width = rect.width() / cells.len() as f32;
    for (at, cell) in cells.iter().enumerate() {
        let left = rect.left() + at as f32 * width;
        let place = Rect::from_min_max(
            pos2(left.round(), rect.top()),
            pos2((left + width).round(), rect.bottom()),
        );
        cell_ui(ui, cell, at, place, is_low);
        if at + 1 < cells.len() {
            widgets::vline(ui, place.right() - 0.5, rect.y_range());
        }
    }
}

fn cells(session: &OpenSession, bill: &SessionBill, encoding: Encoding, is_low: bool) -> Vec<Cell> {
    let total = match bill.total().map(|tokens| tokens.get(encoding)) {
        [least, most] if least == most => grouped(most),
        [least, most] => format!("{}–{}", grouped(least), grouped(most)),
    };
    let calls = number_of(session.calls.len() as u64, "calls");
    let last = session.calls.last().map(|call| {
        let ended = call.capture.started_at + call.capture.timings.total();
        (ended - session.info.started).unsigned_abs()
    });
    let mut note = last.map_or(calls.clone(), |last| format!("{calls} in {}", span(last)));
    if let open @ 1.. = session.read.open_calls {
        note = format!("{note}, {} not answered yet", grouped(open as u64));
    }
    if session.counted < session.calls.len() {
        note = format!("{} counted of {note}", grouped(session.counted as u64));
    }
    let read_by = match &session.host {
        Some(host) => format!("read by {}’s model", host.name),
        None => "read by a model".to_owned(),
    };
    let results = bill.results.get(encoding);
    let is_lossy = bill.cut > 0 || bill.not_known > 0;
    let results_note = match (bill.cut, bill.not_known) {
        (0, 0) if bill.sent_twice.get(encoding) > 0 => {
            format!(
                "{} tok are sent twice",
                grouped(bill.sent_twice.get(encoding))
            )
        }
        (0, 0) => format!("arguments {} tok", grouped(bill.arguments.get(encoding))),
        (0, unknown) => format!("{} not known, counted as text", grouped(unknown as u64)),
        (cut, _) => format!("{} cut by the host", number_of(cut as u64, "results")),
    };
    let mut cells = vec![
        Cell {
            name: "This session".to_owned(),
            role: read_by,
            number: total,
            change: None,
            note,
            is_warning: false,
        },
        Cell {
            name: "Results".to_owned(),
            role: "as they are read".to_owned(),
            number: grouped(results),
            change: None,
            note: results_note,
            is_warning: is_lossy,
        },
    ];
    if let Some(cheapest) = bill.cheapest(encoding) {
        let tokens = cheapest.tokens.get(encoding);
        cells.push(Cell {
            name: match is_low {
                true => format_title(cheapest.format).to_owned(),
                false => format!("Results in {}", format_title(cheapest.format)),
            },
            role: "same data".to_owned(),
            number: grouped(tokens),
            change: percent_change(results, tokens),
            note: match bill.calls - cheapest.results {
                0 => "no fact is lost".to_owned(),
                others => {
                    let others = number_of(others as u64, "results");
                    format!("no fact is lost; {others} as they are")
                }
            },
            is_warning: false,
        });
    }
    cells
}

fn cell_ui(ui: &Ui, cell: &Cell, at: usize, rect: Rect, is_low: bool) {
    let t = theme::of(ui);
    let response = widgets::sense(ui, rect, ("live cell", at), Sense::hover());
    widgets::say(&response, Role::Label, cell.text());
    let (left, right) = (rect.left() + 16.0, rect.right() - 8.0);
    let color = [t.accent, t.hue_text.color, t.ok][at.min(2)];
    let first = widgets::RowLine {
        ui,
        y: if is_low {
            rect.center().y
        } else {
            rect.top() + 20.0
        },
    };
    first.swatch(left, color);
    let mut end = first.text(
        left + 16.0,
        right,
        &cell.name,
        theme::semibold(13.0),
        t.strong,
    ) + 8.0;
    if !is_low {
        first.text(end, right, &cell.role, theme::small(), t.weak);
        end = left;
    }
    let second = widgets::RowLine {
        ui,
        y: if is_low {
            rect.center().y
        } else {
            rect.bottom() - 24.0
        },
    };
    let font = theme::mono_semibold(if is_low { 14.0 } else { 22.0 });
    if end >= right - 40.0 {
        return;
    }
    end = widgets::number_at(ui, pos2(end, second.y), &cell.number, font, t.strong, "tok") + 10.0;
    if let Some(change) = &cell.change
        && end + 60.0 < right
    {
        end = strip::change_at(ui, pos2(end, second.y), change, true) + 10.0;
    }
    let color = match (cell.is_warning, &cell.change) {
        (true, _) => t.warn,
        (false, Some(_)) => t.ok,
        (false, None) => t.weak,
    };
    let icon = match (cell.is_warning, &cell.change) {
        (true, _) => Some(icons::CUT),
        (false, Some(_)) => Some(icons::CHECK),
        (false, None) => None,
    };
    if let Some(icon) = icon
        && end + 40.0 < right
    {
        second.icon(end + 7.0, icon, 13.0, color);
        end += 18.0;
    }
    if end + 30.0 < right {
        second.text(end, right, &cell.note, theme::small(), color);
    }
    response.on_hover_text(cell.text());
}
