//! The head of a column, which is its answer: what it is, what it costs against the baseline, what it loses, and what can
//! be done with it.

use egui::{Popup, Rect, Role, Sense, Ui, pos2};

use super::Judged;
use super::tabs::derived;
use super::why::why_popup;
use crate::state::{Action, Compare, CompareAction};
use crate::ui::theme;
use crate::ui::widgets::{self, ListRow, Tone};
use crate::ui::{Cx, strip};
use loupe_analysis::queries::comparison::{Column, ColumnOrigin};
use loupe_analysis::summary::{ClaimTone, StripCell};
use loupe_core::capture::Outcome;
use loupe_core::host::ResultPart;
use loupe_core::number::relative_change;

pub const HEIGHT: f32 = 72.0;
/// The room left and right of what is in a column.
pub const PAD: f32 = 12.0;
/// The middles of its three lines.
const LINES: [f32; 3] = [17.0, 38.0, 59.0];
/// A longer name is elided, with the whole on hover.
const LONGEST_NAME: f32 = 220.0;
const BASELINE: &str = "baseline";

/// Whether a column loses what is needed.
fn is_loser(judged: &Judged, at: usize) -> bool {
    judged.losses[at].tone == ClaimTone::Warn && judged.column(at).is_answer()
}

fn badge(judged: &Judged, at: usize) -> Option<&str> {
    let winner = judged.strip.winner()?;
    winner
        .badge
        .as_deref()
        .filter(|_| judged.winner == Some(at))
}

/// Green is a proof.
fn is_proved(judged: &Judged, at: usize) -> bool {
    judged.winner == Some(at) && judged.strip.winner().is_some_and(StripCell::is_proved)
}

/// How wide a head has to be so that nothing in it is cut.
pub fn need(ui: &Ui, judged: &Judged, at: usize) -> f32 {
    let column = judged.column(at);
    let name = widgets::text_width(ui, column.value_title(), theme::semibold(13.0));
    let tokens = widgets::number_width(
        ui,
        &tokens(judged, column),
        theme::mono_semibold(20.0),
        "tok",
    );
    let beside = match change(judged, column) {
        Some(change) => widgets::text_width(ui, change, theme::mono_semibold(12.0)) + 12.0,
        None => widgets::chip_width(ui, BASELINE, 11.0),
    };
    let loss = strip::loss_width(ui, &judged.losses[at].short);
    let third = match badge(judged, at) {
        Some(badge) if is_proved(judged, at) => widgets::chip_width(ui, badge, 11.0),
        Some(badge) => widgets::chip_width(ui, badge, 11.0) + 8.0 + loss,
        None => loss,
    };
    let least = (16.0 + name.min(LONGEST_NAME))
        .max(tokens + 8.0 + beside)
        .max(third);
    least + 2.0 * PAD
}

pub fn head_ui(ui: &Ui, cx: &Cx<'_>, compare: &Compare, judged: &Judged, at: usize, rect: Rect) {
    let t = theme::of(ui);
    let column = judged.column(at);
    let row = ListRow::at(
        ui,
        rect,
        widgets::sense(ui, rect, ("head", at), Sense::click()),
    );
    let is_winner = judged.winner == Some(at);
    let is_proved = is_proved(judged, at);
    if is_winner {
        let (fill, line) = if is_proved {
            (t.ok_bg, t.ok)
        } else {
            (t.hover, t.accent)
        };
        row.fill(fill);
        let top = rect.with_max_y(rect.top() + 2.0);
        ui.painter().rect_filled(top, 0.0, line);
    } else if row.response.hovered() {
        row.fill(t.hover);
    }
    let hue = match () {
        () if is_proved => t.ok,
        () if column.is_offered() => t.hue(column.format).color,
        () => t.faint,
    };
    row.line(LINES[0]).swatch(row.inset_left(PAD), hue);
    name_ui(&row, judged, at);
    if compare.column.is_some_and(|(chosen, _)| chosen == at) {
        let below = rect.with_min_y(rect.bottom() - 2.0);
        ui.painter().rect_filled(below, 0.0, t.accent);
    }
    let spoken = spoken(judged, at);
    row.say(Role::Button, &spoken);
    widgets::focus_ring_inside(ui, &row.response);
    Popup::menu(&row.response)
        .width(220.0)
        .show(|ui| menu_ui(ui, cx, judged, at));
    match failure(column) {
        Some((words, has_failed)) => {
            let color = if has_failed { t.bad } else { t.weak };
            failure_ui(&row, words, color);
        }
        None => {
            cost_ui(&row, cx, compare, judged, at);
            loss_ui(&row, judged, at);
        }
    }
    row.response.on_hover_text(spoken);
}

/// What it is, dimmed where it loses something needed, and which part of what was sent.
fn name_ui(row: &ListRow<'_>, judged: &Judged, at: usize) {
    let t = theme::of(row.ui);
    let line = row.line(LINES[0]);
    let (left, right) = (row.inset_left(PAD + 16.0), row.inset_right(PAD - 4.0));
    let column = judged.column(at);
    let color = if is_loser(judged, at) {
        t.weak
    } else {
        t.strong
    };
    let end = line.text(
        left,
        right,
        column.value_title(),
        theme::semibold(13.0),
        color,
    );
    let place = pos2(end + 7.0, line.y);
    let (whole, short) = role(judged, at);
    let room = right - place.x;
    let next = widgets::text_whole(row.ui, place, &whole, theme::small(), t.weak, room);
    if next == place.x && whole != short {
        widgets::text_whole(row.ui, place, short, theme::small(), t.weak, room);
    }
}

/// "Text · 26 of 28 hosts" of the baseline, which says what one model reads; "text" of other answers, "no call". Also where
/// there is little room.
fn role(judged: &Judged, at: usize) -> (String, &str) {
    let column = judged.column(at);
    if !column.is_offered() {
        return ("no call".to_owned(), "no call");
    }
    let part = column
        .title
        .get(column.value_title().len()..)
        .unwrap_or_default()
        .trim();
    let read = judged.page.reads.filter(|_| judged.base == Some(at));
    let whole = read.map_or_else(
        || part.to_owned(),
        |read| {
            let part = match read.part {
                ResultPart::Text => "Text",
                part => part.title(),
            };
            format!("{part} · {} of {} hosts", read.hosts, read.of)
        },
    );
    (whole, part)
}

/// Why there is no cost, and whether the call failed: a result that has no such part is not a failed one.
fn failure(column: &Column) -> Option<(String, bool)> {
    let is_measured = column.row.is_available() && !column.row.format.is_empty();
    let why = column
        .why
        .as_ref()
        .filter(|_| !(is_measured && column.is_answer()))?;
    let has_failed = column.is_offered() && column.outcome != Outcome::Result;
    Some(match has_failed {
        true => (format!("{}: {why}", column.outcome.name()), true),
        false => (why.clone(), false),
    })
}

/// Over two lines.
fn failure_ui(row: &ListRow<'_>, words: String, color: egui::Color32) {
    let room = row.rect.width() - 2.0 * PAD;
    let mut job = egui::text::LayoutJob::simple(words, theme::small(), color, room);
    job.wrap.max_rows = 2;
    let galley = row.ui.painter().layout_job(job);
    let y = row.rect.top() + (LINES[1] + LINES[2]) / 2.0;
    widgets::galley_at(row.ui, pos2(row.inset_left(PAD), y), galley, color);
}

fn tokens(judged: &Judged, column: &Column) -> String {
    widgets::grouped(column.row.tokens.get(judged.page.comparison.encoding))
}

/// What it costs, and the change, which tells why.
fn cost_ui(row: &ListRow<'_>, cx: &Cx<'_>, compare: &Compare, judged: &Judged, at: usize) {
    let t = theme::of(row.ui);
    let column = judged.column(at);
    let line = row.line(LINES[1]);
    let place = pos2(row.inset_left(PAD), line.y);
    let color = if is_loser(judged, at) {
        t.weak
    } else {
        t.strong
    };
    let font = theme::mono_semibold(20.0);
    let end = widgets::number_at(row.ui, place, &tokens(judged, column), font, color, "tok");
    let left = pos2(end + 8.0, line.y);
    let Some(change) = change(judged, column) else {
        if judged.base == Some(at) {
            widgets::chip(row.ui, left, egui::Align::Min, BASELINE, Tone::Plain, 11.0);
        }
        return;
    };
    let is_good = is_proved(judged, at) && change.starts_with('−');
    let right = strip::change_at(row.ui, left, &change, is_good);
    let place = line.place(left.x..=right, 20.0);
    let response = widgets::sense(row.ui, place, ("why", at), Sense::click());
    let base = judged
        .base
        .map_or("", |base| judged.column(base).value_title());
    let words = format!("Why {change}? {} against {base}", column.value_title());
    widgets::say(&response, Role::Button, &words);
    widgets::focus_ring(row.ui, &response, theme::RADIUS_BADGE);
    why_popup(&response, row.rect, cx, compare, judged, at);
    response
        .on_hover_text(words)
        .on_hover_cursor(egui::CursorIcon::PointingHand);
}

/// That it wins, and what it loses. What is proved to be the cheapest loses nothing, where there is no room to say so.
fn loss_ui(row: &ListRow<'_>, judged: &Judged, at: usize) {
    let line = row.line(LINES[2]);
    let (mut left, right) = (row.inset_left(PAD), row.inset_right(PAD - 6.0));
    let is_proved = is_proved(judged, at);
    if let Some(badge) = badge(judged, at) {
        let tone = if is_proved { Tone::Ok } else { Tone::Plain };
        let place = pos2(left, line.y);
        left = widgets::chip(row.ui, place, egui::Align::Min, badge, tone, 11.0).right() + 8.0;
    }
    if judged.page.comparison.reference.is_none() {
        return;
    }
    let loss = &judged.losses[at];
    let room = right - left;
    if !is_proved || strip::loss_width(row.ui, &loss.text) <= room {
        strip::loss_at(row.ui, loss, pos2(left, line.y), room);
    }
}

fn menu_ui(ui: &mut Ui, cx: &Cx<'_>, judged: &Judged, at: usize) {
    let column = judged.column(at);
    let mut item = |label: &str, action: Action| {
        if ui.button(label).clicked() {
            cx.send(action);
            ui.close();
        }
    };
    if !column.text.is_empty() {
        item("Copy the text", Action::Copy(column.text.to_string()));
    }
    match column.origin {
        ColumnOrigin::Call(call) if column.is_answer() && judged.base != Some(at) => {
            item(
                "Make it the baseline",
                Action::Compare(CompareAction::SetBaseline(call)),
            );
        }
        ColumnOrigin::Call(_) => {}
        ColumnOrigin::Derived(_) => {
            let mut next = derived(&judged.page);
            next.retain(|(_, format)| *format != column.format);
            item(
                "Remove the column",
                Action::Compare(CompareAction::SetDerived(next)),
            );
        }
    }
    if column.cells.iter().any(|cell| cell.lost > 0)
        && ui.button("Require only these fields").clicked()
    {
        judged.need_what_it_has(cx, at);
        ui.close();
    }
}

/// "−81%", of columns other than the baseline.
fn change(judged: &Judged, column: &Column) -> Option<String> {
    let base = judged.column(
        judged
            .base
            .filter(|base| judged.column(*base).origin != column.origin)?,
    );
    if !column.row.is_available() || !base.row.is_available() {
        return None;
    }
    let [base, tokens] =
        [base, column].map(|column| column.row.tokens.get(judged.page.comparison.encoding));
    Some(relative_change(base, tokens, "tok").unwrap_or_else(|| "±0".to_owned()))
}

/// The whole head in words.
fn spoken(judged: &Judged, at: usize) -> String {
    let column = judged.column(at);
    let named = judged
        .strip
        .cells
        .iter()
        .find(|cell| cell.column == Some(at));
    let mut words = Vec::new();
    if let Some(why) = &column.why {
        words.push(why.clone());
    } else {
        let count = column.row.tokens.get(judged.page.comparison.encoding);
        words.push(widgets::number_text(count, "tokens"));
        if let (Some(change), Some(base)) = (change(judged, column), judged.base) {
            words.push(format!("{change} against {}", judged.column(base).title));
        }
        if judged.page.comparison.reference.is_some() {
            words.push(judged.losses[at].text.clone());
        }
        words.extend(badge(judged, at).map(str::to_owned));
        words.push(widgets::number_text(column.row.bytes, "bytes"));
    }
    words.push(
        column
            .latency
            .map_or_else(|| "no call made".to_owned(), widgets::seconds),
    );
    let words = words.join(", ");
    match named {
        Some(cell) => format!("{}, {}: {words}", column.title, cell.role),
        None => format!("{}, {words}", column.title),
    }
}
