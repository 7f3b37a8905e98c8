//! The one way numbers are written and painted: grouped, with their unit on the same baseline.

use std::sync::Arc;

use egui::{Color32, DragValue, FontId, Galley, Pos2, Ui, pos2};

use crate::ui::theme;
pub use loupe_core::number::grouped;
use loupe_core::number::number_of;
use loupe_core::token::{Count, format_count};

/// A number with its unit, given in the plural: `331 tok`, `1 value`.
pub fn number_text(value: u64, units: &str) -> String {
    number_of(value, units)
}

/// A count with its unit: `331 tok`, or `≈364–580 tok` where it is an estimate.
pub fn count_text(count: Count, unit: &str) -> String {
    format!("{} {unit}", format_count(count))
}

/// A size in bytes: exact below 100,000, then in KB and MB of a thousand.
pub fn bytes(value: u64) -> String {
    match value {
        0..100_000 => number_text(value, "B"),
        100_000..10_000_000 => format!("{} KB", grouped(value.div_ceil(1_000))),
        _ => format!("{} MB", grouped(value.div_ceil(1_000_000))),
    }
}

/// A duration for people: `612 ms`, `1.4 s`.
pub fn seconds(value: std::time::Duration) -> String {
    match value.as_millis() {
        millis @ 0..1_000 => format!("{millis} ms"),
        millis => format!(
            "{}.{} s",
            grouped((millis / 1_000).try_into().unwrap_or(u64::MAX)),
            millis % 1_000 / 100
        ),
    }
}

/// A control for a whole number that is written in groups, and may be typed so.
pub fn grouping(drag: DragValue<'_>) -> DragValue<'_> {
    drag.custom_formatter(|value, _| grouped(value as u64))
        .custom_parser(|typed| typed.replace(',', "").trim().parse().ok())
}

/// Between a number and its unit, which is small and weak.
const GAP: f32 = 5.0;

/// How far below the top of a text its baseline is.
fn baseline(galley: &Galley) -> f32 {
    galley
        .rows
        .first()
        .and_then(|row| Some(row.pos.y + row.glyphs.first()?.pos.y))
        .unwrap_or_default()
}

fn laid(ui: &Ui, number: &str, font: FontId, color: Color32, unit: &str) -> [Arc<Galley>; 2] {
    let t = theme::of(ui);
    [(number, font, color), (unit, theme::small(), t.weak)]
        .map(|(text, font, color)| ui.painter().layout_no_wrap(text.to_owned(), font, color))
}

fn paint(ui: &Ui, left: Pos2, [number, unit]: [Arc<Galley>; 2]) -> f32 {
    let top = (left.y - number.size().y / 2.0).round();
    let unit_at = pos2(
        left.x + number.size().x + GAP,
        (top + baseline(&number) - baseline(&unit)).round(),
    );
    let end = unit_at.x + unit.size().x;
    ui.painter()
        .galley(pos2(left.x, top), number, Color32::PLACEHOLDER);
    ui.painter().galley(unit_at, unit, Color32::PLACEHOLDER);
    end
}

/// A number with its unit that begins there, the number vertically centred; where it ends.
pub fn number_at(
    ui: &Ui,
    left: Pos2,
    number: &str,
    font: FontId,
    color: Color32,
    unit: &str,
) -> f32 {
    paint(ui, left, laid(ui, number, font, color, unit))
}

/// The same where it ends there; where it begins.
pub fn number_right(
    ui: &Ui,
    right: Pos2,
    number: &str,
    font: FontId,
    color: Color32,
    unit: &str,
) -> f32 {
    let galleys = laid(ui, number, font, color, unit);
    let left = right.x - (galleys[0].size().x + GAP + galleys[1].size().x).round();
    paint(ui, pos2(left, right.y), galleys);
    left
}

/// The width that [`number_at`] takes.
pub fn number_width(ui: &Ui, number: &str, font: FontId, unit: &str) -> f32 {
    let [number, unit] = laid(ui, number, font, Color32::PLACEHOLDER, unit);
    number.size().x + GAP + unit.size().x
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn numbers_are_grouped_and_have_units() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_000), "1,000");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(number_text(5_240, "tok"), "5,240 tok");
        assert_eq!(bytes(1_007), "1,007 B");
        assert_eq!(bytes(1_204_000), "1,204 KB");
        assert_eq!(seconds(Duration::from_millis(612)), "612 ms");
        assert_eq!(seconds(Duration::from_millis(1_450)), "1.4 s");
    }
}
