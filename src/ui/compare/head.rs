//! The head of a column: what it is, what it costs against the baseline, and what can be done with it.

use egui::{Popup, Rect, Role, Sense, Stroke, Ui, pos2, vec2};

use super::Judged;
use super::tabs::derived;
use crate::state::{Action, Compare, CompareAction};
use crate::ui::theme;
use crate::ui::{Cx, icons, strip, widgets};
use loupe_analysis::queries::comparison::{Column, ColumnOrigin};
use loupe_analysis::summary::{ClaimTone, StripCell};
use loupe_core::capture::Outcome;
use loupe_core::format::ledger::ratio;
use loupe_core::number::percent_change;

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
    let encoding = judged.page.comparison.encoding;
    let (is_winner, is_base) = (judged.winner == Some(at), judged.base == Some(at));
    let is_measured = column.row.is_available() && !column.row.format.is_empty();
    let response = widgets::sense(ui, rect, ("head", at), Sense::click());
    // Green is a proof.
    let is_proved = is_winner && judged.strip.winner().is_some_and(StripCell::is_proved);
    if is_winner {
        let (fill, line) = if is_proved {
            (t.ok_bg, t.ok)
        } else {
            (t.hover, t.accent)
        };
        ui.painter().rect_filled(rect, 0.0, fill);
        ui.painter().rect_filled(
            Rect::from_min_size(rect.min, vec2(rect.width(), 2.0)),
            0.0,
            line,
        );
    }
    if response.hovered() && !is_winner {
        ui.painter().rect_filled(rect, 0.0, t.hover);
    }
    let (left, right) = (rect.left() + PAD, rect.right() - 10.0);
    let (first, second) = (rect.top() + 19.0, rect.top() + 44.0);
    let hue = match () {
        () if is_proved => t.ok,
        () if column.is_offered() => t.hue(column.format).color,
        () => t.faint,
    };
    ui.painter().rect_filled(
        Rect::from_center_size(pos2(left + 4.0, first), vec2(8.0, 8.0)),
        theme::RADIUS_BAR,
        hue,
    );
    // With whom it ties stands in the strip.
    let badge = judged
        .strip
        .winner()
        .and_then(|winner| winner.badge.as_deref()?.split(',').next())
        .unwrap_or_default();
    let room = match (is_winner, is_base) {
        (true, _) if rect.width() > 180.0 + 7.0 * badge.len() as f32 => {
            strip::badge_at(ui, pos2(right, first), badge, is_proved)
        }
        (true, _) => {
            widgets::glyph_at(
                ui,
                pos2(right - 8.0, first),
                icons::BEST,
                theme::icon_font(15.0),
                if is_proved { t.ok } else { t.text },
            );
            right - 18.0
        }
        (false, true) => {
            let left = widgets::text_right(
                ui,
                pos2(right - 6.0, first),
                "baseline",
                theme::medium(11.0),
                t.text,
            ) - 6.0;
            let badge = Rect::from_min_max(pos2(left, first - 9.0), pos2(right, first + 9.0));
            widgets::outline(ui, badge, theme::RADIUS_BADGE, t.line2);
            left
        }
        (false, false) => right,
    } - 6.0;
    let name = column.value_title();
    let color = if is_loser(judged, at) {
        t.weak
    } else {
        t.strong
    };
    let end = widgets::text_at(
        ui,
        pos2(left + 16.0, first),
        name,
        theme::semibold(13.0),
        color,
        room - left - 16.0,
    );
    if is_loser(judged, at) {
        strike(ui, left + 16.0, end, first, color);
    }
    let origin = column
        .title
        .get(name.len()..)
        .map(str::trim)
        .filter(|_| column.is_offered())
        .unwrap_or("no call");
    if room - end > 50.0 {
        widgets::text_at(
            ui,
            pos2(end + 7.0, first),
            origin,
            theme::small(),
            t.weak,
            room - end - 7.0,
        );
    }
    if let (false, Some(why)) = (is_measured && column.is_answer(), &column.why) {
        let has_failed = column.is_offered() && column.outcome != Outcome::Result;
        // An answer that has no such part is not a failed one.
        let (words, color) = if has_failed {
            (format!("{}: {why}", column.outcome.name()), t.bad)
        } else {
            (why.clone(), t.weak)
        };
        widgets::text_at(
            ui,
            pos2(left, second),
            words,
            theme::small(),
            color,
            right - left,
        );
    } else {
        let tokens = widgets::grouped(column.row.tokens.get(encoding));
        let end = widgets::number_at(
            ui,
            pos2(left, second),
            &tokens,
            theme::mono_semibold(20.0),
            t.strong,
            "tok",
        );
        if let Some(change) = change(judged, column) {
            strip::change_at(
                ui,
                pos2(end + 8.0, second),
                &change,
                is_proved && change.starts_with('−'),
            );
        }
    }
    if compare.column.is_some_and(|(chosen, _)| chosen == at) {
        ui.painter().rect_filled(
            Rect::from_min_max(pos2(rect.left(), rect.bottom() - 2.0), rect.max),
            0.0,
            t.accent,
        );
    }
    let spoken = spoken(judged, at);
    widgets::say(&response, Role::Button, &spoken);
    widgets::focus_ring_inside(ui, &response);
    Popup::menu(&response)
        .width(220.0)
        .show(|ui| menu_ui(ui, cx, judged, at));
    response.on_hover_text(spoken);
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
        && ui.button("Need only the fields it has").clicked()
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
    let ratio = ratio(&column.row, &base.row, judged.page.comparison.encoding)?;
    Some(if (ratio - 1.0).abs() < 0.005 {
        "±0".to_owned()
    } else {
        percent_change(ratio)
    })
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
