//! The head of a column: what it is, what it costs against the baseline, and what can be done with it.

use egui::{Popup, Rect, Role, Sense, Stroke, Ui, pos2};

use super::Judged;
use super::tabs::derived;
use crate::state::{Action, Compare, CompareAction};
use crate::ui::theme;
use crate::ui::widgets::{self, ListRow};
use crate::ui::{Cx, icons, strip};
use loupe_analysis::queries::comparison::{Column, ColumnOrigin};
use loupe_analysis::summary::{ClaimTone, StripCell};
use loupe_core::capture::Outcome;
use loupe_core::number::relative_change;

pub const HEIGHT: f32 = 64.0;
const PAD: f32 = 16.0;

/// Whether a column loses what is needed.
pub fn is_loser(judged: &Judged, at: usize) -> bool {
    judged.losses[at].tone == ClaimTone::Warn && judged.column(at).is_answer()
}

/// A line through a text that ends there.
pub fn strike(ui: &Ui, left: f32, right: f32, y: f32, color: egui::Color32) {
    ui.painter()
        .hline(left..=right, y + 0.5, Stroke::new(1.0, color));
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
    // Green is a proof.
    let is_proved = is_winner && judged.strip.winner().is_some_and(StripCell::is_proved);
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
    row.line(19.0).swatch(row.inset_left(PAD), hue);
    name_ui(&row, judged, at, is_proved);
    cost_ui(&row, judged, at, is_proved);
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
    row.response.on_hover_text(spoken);
}

/// That it wins, or is what the others are compared with; where that begins.
fn badge_ui(row: &ListRow<'_>, judged: &Judged, at: usize, is_proved: bool) -> f32 {
    let t = theme::of(row.ui);
    let (line, right) = (row.line(19.0), row.inset_right(10.0));
    if judged.winner == Some(at) {
        // With whom it ties is in the strip.
        let winner = judged.strip.winner();
        let badge = winner.and_then(|winner| winner.badge.as_deref()?.split(',').next());
        let badge = badge.unwrap_or_default();
        if row.rect.width() > 180.0 + 7.0 * badge.len() as f32 {
            let tone = if is_proved {
                widgets::Tone::Ok
            } else {
                widgets::Tone::Plain
            };
            return strip::badge_at(row.ui, pos2(right, line.y), badge, tone);
        }
        let color = if is_proved { t.ok } else { t.text };
        line.icon(right - 8.0, icons::BEST, 15.0, color);
        return right - 18.0;
    }
    if judged.base == Some(at) {
        let left = line.number(right - 6.0, "baseline", theme::medium(11.0), t.text) - 6.0;
        let place = line.place(left..=right, 18.0);
        widgets::outline(row.ui, place, theme::RADIUS_BADGE, t.line2);
        return left;
    }
    right
}

/// What it is, struck through where it loses something needed, and whether it was called.
fn name_ui(row: &ListRow<'_>, judged: &Judged, at: usize, is_proved: bool) {
    let t = theme::of(row.ui);
    let line = row.line(19.0);
    let room = badge_ui(row, judged, at, is_proved) - 6.0;
    let column = judged.column(at);
    let (name, left) = (column.value_title(), row.inset_left(PAD + 16.0));
    let is_out = is_loser(judged, at);
    let color = if is_out { t.weak } else { t.strong };
    let end = line.text(left, room, name, theme::semibold(13.0), color);
    if is_out {
        strike(row.ui, left, end, line.y, color);
    }
    let rest = column.title.get(name.len()..).map(str::trim);
    let origin = rest.filter(|_| column.is_offered()).unwrap_or("no call");
    if room - end > 50.0 {
        line.text(end + 7.0, room, origin, theme::small(), t.weak);
    }
}

/// What it costs, or why that is not known.
fn cost_ui(row: &ListRow<'_>, judged: &Judged, at: usize, is_proved: bool) {
    let t = theme::of(row.ui);
    let column = judged.column(at);
    let (line, left) = (row.line(44.0), row.inset_left(PAD));
    let is_measured = column.row.is_available() && !column.row.format.is_empty();
    if let (false, Some(why)) = (is_measured && column.is_answer(), &column.why) {
        let has_failed = column.is_offered() && column.outcome != Outcome::Result;
        // A result that has no such part is not a failed one.
        let (words, color) = if has_failed {
            (format!("{}: {why}", column.outcome.name()), t.bad)
        } else {
            (why.clone(), t.weak)
        };
        line.text(left, row.inset_right(10.0), words, theme::small(), color);
        return;
    }
    let encoding = judged.page.comparison.encoding;
    let tokens = widgets::grouped(column.row.tokens.get(encoding));
    let (place, font) = (pos2(left, line.y), theme::mono_semibold(20.0));
    let end = widgets::number_at(row.ui, place, &tokens, font, t.strong, "tok");
    if let Some(change) = change(judged, column) {
        let is_good = is_proved && change.starts_with('−');
        strip::change_at(row.ui, pos2(end + 8.0, line.y), &change, is_good);
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
    let mut words = vec![column.title.clone()];
    if let Some(why) = &column.why {
        words.push(why.clone());
    } else {
        words.push(widgets::number_text(
            column.row.tokens.get(judged.page.comparison.encoding),
            "tokens",
        ));
        if let (Some(change), Some(base)) = (change(judged, column), judged.base) {
            words.push(format!("{change} against {}", judged.column(base).title));
        }
        if judged.page.comparison.reference.is_some() {
            words.push(judged.losses[at].text.clone());
        }
        words.push(widgets::number_text(column.row.bytes, "bytes"));
    }
    words.push(
        column
            .latency
            .map_or_else(|| "no call made".to_owned(), widgets::seconds),
    );
    words.join(", ")
}
