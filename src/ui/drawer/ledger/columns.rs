//! Where the ledger's numbers stand: columns of the design's widths, or as wide as the longest number.

use egui::Rect;

use super::{kept, ratio_text};
use crate::analysis::{counted, ratio_of};
use crate::format::ledger::Row;
use crate::token::Count;
use crate::ui::drawer::SIDE;
use crate::ui::what_if::change;
use crate::ui::widgets;

/// Where the numbers go, from the right; hidden ones have no width.
pub(super) struct Columns {
    pub(super) name: f32,
    pub(super) bar: Rect,
    pub(super) tokens: f32,
    /// Beside an estimate, what the provider counted.
    pub(super) counted: Option<f32>,
    pub(super) ratio: f32,
    pub(super) change: Option<f32>,
    pub(super) bytes: Option<f32>,
    pub(super) chars: Option<f32>,
    pub(super) facts: f32,
    pub(super) round_trip: Option<f32>,
}

/// The widths of the columns that hold numbers: those of the design, or what the longest number takes.
#[derive(Clone, Copy)]
pub(super) struct Widths {
    tokens: f32,
    counted: Option<f32>,
    ratio: f32,
    change: f32,
    bytes: f32,
    chars: f32,
    facts: f32,
}

impl Widths {
    const COUNTED: f32 = 76.0;
    /// With numbers of up to six digits.
    const LEAST: Self = Self { tokens: 76.0, counted: None, ratio: 62.0, change: 72.0, bytes: 76.0, chars: 72.0, facts: 96.0 };

    /// What the rows need, where a digit is so wide; a row comes with what it costs without the keys that are struck.
    pub(super) fn of<'a>(
        rows: impl Iterator<Item = (&'a Row, Count, Option<Count>)>,
        base: Option<Count>,
        has_counted: bool,
        digit: f32,
    ) -> Self {
        const GAP: f32 = 14.0;
        let mut widths = Self { counted: has_counted.then_some(Self::COUNTED), ..Self::LEAST };
        let widen = |width: &mut f32, text: &str, more: f32| {
            *width = width.max((text.chars().count() as f32 * digit + more + GAP).ceil());
        };
        for (row, count, less) in rows {
            widen(&mut widths.tokens, &counted(count), 0.0);
            if let Some(counted) = &mut widths.counted {
                widen(counted, &widgets::grouped(count.high()), 0.0);
            }
            let changed = less.map(|less| change(less, count)).or(base.map(|base| change(count, base)));
            widen(&mut widths.change, &changed.unwrap_or_default(), 0.0);
            widen(&mut widths.ratio, &ratio_text(ratio_of(Some(count), base)), 0.0);
            widen(&mut widths.bytes, &widgets::grouped(row.bytes), 0.0);
            widen(&mut widths.chars, &widgets::grouped(row.chars), 0.0);
            widen(&mut widths.facts, &row.facts.map_or_else(String::new, kept), 18.0);
        }
        widths
    }

    /// How much more room they take than those of the design.
    fn more(&self) -> f32 {
        let sum = |widths: &Self| widths.tokens + widths.ratio + widths.change + widths.bytes + widths.chars + widths.facts;
        sum(self) - sum(&Self::LEAST) + self.counted.unwrap_or(0.0)
    }
}

impl Columns {
    pub(super) fn of(rect: Rect, widths: &Widths) -> Self {
        let mut right = rect.right() - SIDE;
        // The bar has some room to give before a column has to go.
        let width = rect.width() - (widths.more() - 60.0).max(0.0);
        let mut take = |size: f32, is_shown: bool| {
            let at = right;
            if is_shown {
                right -= size;
            }
            is_shown.then_some(at)
        };
        let round_trip = take(118.0, width > 1_000.0);
        // Read from the left, as words are.
        let facts = take(widths.facts, true).unwrap_or(0.0) - (widths.facts - 16.0);
        let chars = take(widths.chars, width > 800.0);
        let bytes = take(widths.bytes, width > 720.0);
        let change = take(widths.change, width > 640.0);
        let ratio = take(widths.ratio, true).unwrap_or(0.0);
        let counted = widths.counted.and_then(|counted| take(counted, true));
        let tokens = take(widths.tokens, true).unwrap_or(0.0);
        let name = rect.left() + SIDE;
        let start = name + if width > 640.0 { 240.0 } else { 150.0 };
        let bar = Rect::from_x_y_ranges(start..=(right - 16.0).max(start), rect.y_range());
        Self { name, bar, tokens, counted, ratio, change, bytes, chars, facts, round_trip }
    }
}

#[cfg(test)]
mod tests {
    use egui::{pos2, vec2};

    use super::*;

    #[test]
    fn columns_never_cross() {
        let long = Widths { tokens: 100.0, ratio: 70.0, change: 110.0, bytes: 100.0, chars: 100.0, facts: 180.0, counted: None };
        for width in [640.0, 700.0, 976.0, 1_312.0] {
            for widths in [Widths::LEAST, long, Widths { counted: Some(Widths::COUNTED), ..Widths::LEAST }] {
                let columns = Columns::of(Rect::from_min_size(pos2(0.0, 0.0), vec2(width, 20.0)), &widths);
                let ends =
                    [Some(columns.tokens), columns.counted, Some(columns.ratio), columns.change, columns.bytes, columns.chars];
                let ends: Vec<f32> = ends.into_iter().flatten().chain([columns.facts]).collect();
                assert!(columns.bar.right() <= columns.tokens && ends.is_sorted(), "{width} {ends:?}");
                assert!(columns.tokens - widths.tokens >= columns.name, "{width}: tokens begin before the name");
            }
        }
    }

    #[test]
    fn columns_are_as_wide_as_their_longest_number() {
        let row = |bytes| Row { bytes, chars: 7, ..Row::default() };
        let (short, long) = (row(7), row(123_456_789));
        let rows = |row| std::iter::once((row, Count::Exact(7), None));
        let [short, long] = [&short, &long].map(|row| Widths::of(rows(row), None, false, 8.0));
        assert_eq!((short.bytes, short.chars, short.more()), (Widths::LEAST.bytes, Widths::LEAST.chars, 0.0));
        assert_eq!(long.bytes, 11.0 * 8.0 + 14.0);
        let row = row(7);
        let estimate = |less| Widths::of(std::iter::once((&row, Count::claude(100_000), less)), None, true, 8.0);
        assert_eq!(estimate(None).change, Widths::LEAST.change);
        assert!(estimate(Some(Count::claude(50_000))).change > Widths::LEAST.change);
    }
}
