//! The steps from one format of a result to another, as a staircase.

use egui::{Rect, Role, Stroke, Ui};

use super::theme;
use super::widgets;
use loupe_analysis::queries::Saving;
use loupe_core::format::format_title;
use loupe_core::number::{percent_change, signed};

const ROW: f32 = 24.0;

/// From the one to the other as a staircase: each bar begins where the one before ended.
pub fn steps_ui(ui: &mut Ui, saving: &Saving, from: &'static str, to: &'static str) {
    let t = theme::of(ui);
    // The highest the stairs come to, so that all of them have room.
    let mut level = i64::try_from(saving.from).unwrap_or(i64::MAX);
    let mut highest = level.max(i64::try_from(saving.to).unwrap_or(i64::MAX));
    for step in &saving.steps {
        level = level.saturating_add(step.tokens);
        highest = highest.max(level);
    }
    ui.spacing_mut().item_spacing.y = 0.0;
    let whole = |ui: &mut Ui, format: &'static str, tokens: u64| {
        let end = i64::try_from(tokens).unwrap_or(i64::MAX);
        row_ui(
            ui,
            format_title(format),
            widgets::grouped(tokens),
            (0, end, highest),
            t.hue(format).color,
            true,
        );
    };
    whole(ui, from, saving.from);
    let mut level = i64::try_from(saving.from).unwrap_or(i64::MAX);
    for step in &saving.steps {
        let next = level.saturating_add(step.tokens);
        // Amber is for what is missing; what costs less or more is neither good nor bad.
        let color = if step.is_loss() { t.warn } else { t.weak };
        row_ui(
            ui,
            step.title(),
            signed(step.tokens),
            (level, next, highest),
            color,
            false,
        );
        level = next;
    }
    whole(ui, to, saving.to);
    let difference = i64::try_from(saving.to).unwrap_or(i64::MAX)
        - i64::try_from(saving.from).unwrap_or(i64::MAX);
    let share = percent_change(saving.from, saving.to)
        .map_or_else(String::new, |share| format!(", {share}"));
    let words = if difference == 0 {
        format!("No difference ({})", saving.encoding.name())
    } else {
        format!(
            "{} tokens{share} against {} ({})",
            signed(difference),
            format_title(from),
            saving.encoding.name()
        )
    };
    ui.add_space(4.0);
    widgets::wrapped(ui, words, theme::small(), t.text);
}

fn row_ui(
    ui: &mut Ui,
    name: &str,
    tokens: String,
    (from, to, highest): (i64, i64, i64),
    color: egui::Color32,
    is_whole: bool,
) {
    let t = theme::of(ui);
    let row = widgets::ListRow::to_read(ui, ROW);
    let ui = row.ui;
    row.say(Role::Row, format!("{name}, {tokens} tokens"));
    let names = (row.rect.width() * 0.5).min(210.0);
    let font = if is_whole {
        theme::medium(12.5)
    } else {
        theme::regular(12.5)
    };
    row.text(
        row.rect.left(),
        row.inset_left(names) - 8.0,
        name,
        font,
        if is_whole { t.strong } else { t.text },
    );
    let right = row.inset_right(64.0);
    let left = row.inset_left(names);
    if right > left + 8.0 && highest > 0 {
        let x = |tokens: i64| left + (right - left) * (tokens.max(0) as f32 / highest as f32);
        let bar = Rect::from_x_y_ranges(
            x(from.min(to))..=x(from.max(to)).max(x(from.min(to)) + 2.0),
            row.y - 4.0..=row.y + 4.0,
        );
        ui.painter().rect_filled(bar, theme::RADIUS_BAR, color);
        ui.painter().vline(
            x(to).round(),
            row.y..=row.rect.bottom() + ROW / 2.0 - 4.0,
            Stroke::new(1.0, t.line2),
        );
    }
    row.number(
        row.inset_right(2.0),
        tokens,
        theme::mono_semibold(12.0),
        if is_whole { t.strong } else { color },
    );
}
