//! Where the ledger's numbers stand: columns of the design's widths, or as wide as the longest number.

use egui::Rect;

use super::{delta, facts_text};
use crate::ui::drawer::SIDE;
use crate::ui::widgets;
use loupe_core::format::ledger::Row;
use loupe_core::token::{Count, format_count};

/// Where the numbers go, from the right; hidden ones have no width.
pub(super) struct Columns {
    pub(super) name: f32,
    pub(super) bar: Rect,
    pub(super) tokens: f32,
    /// Beside an estimate, what the provider counted.
    pub(super) counted: Option<f32>,
    pub(super) change: f32,
    pub(super) bytes: Option<f32>,
    pub(super) chars: Option<f32>,
    pub(super) facts: f32,
    /// Where it begins: it is read from the left, as words are.
    pub(super) round_trip: Option<f32>,
}

/// The widths of the columns: those of the design, or what the longest name and the longest number take.
#[derive(Clone, Copy)]
pub(super) struct Widths {
    name: f32,
    tokens: f32,
    counted: Option<f32>,
    change: f32,
    /// Of bytes and characters, where they are wanted.
    sizes: Option<(f32, f32)>,
    facts: f32,
}

impl Widths {
    const COUNTED: f32 = 76.0;
    const SIZES: (f32, f32) = (76.0, 72.0);
    /// With numbers of up to six digits.
    const LEAST: Self = Self {
        name: 262.0,
        tokens: 76.0,
        counted: None,
        change: 72.0,
        sizes: None,
        facts: 96.0,
    };

    /// What the rows need, where a digit is so wide.
    pub(super) fn new<'a>(
        rows: impl Iterator<Item = (&'a Row, Count)>,
        base: Option<Count>,
        has_counted: bool,
        has_sizes: bool,
        digit: f32,
    ) -> Self {
        const GAP: f32 = 14.0;
        let counted_width = has_counted.then_some(Self::COUNTED);
        let mut widths = Self {
            counted: counted_width,
            sizes: has_sizes.then_some(Self::SIZES),
            ..Self::LEAST
        };
        let widen = |width: &mut f32, text: &str, more: f32| {
            *width = width.max((text.chars().count() as f32 * digit + more + GAP).ceil());
        };
        for (row, count) in rows {
            widen(&mut widths.tokens, &format_count(count), 0.0);
            if let Some(counted) = &mut widths.counted {
                widen(counted, &widgets::grouped(count.high()), 0.0);
            }
            widen(
                &mut widths.change,
                &base.map_or_else(String::new, |base| delta(count, base)),
                0.0,
            );
            if let Some((bytes, chars)) = &mut widths.sizes {
                widen(bytes, &widgets::grouped(row.bytes), 0.0);
                widen(chars, &widgets::grouped(row.chars), 0.0);
            }
            widen(&mut widths.facts, &facts_text(row), 18.0);
        }
        widths
    }

    /// With a column of names that is at least so wide.
    pub(super) fn with_name(self, name: f32) -> Self {
        Self {
            name: self.name.max(name.ceil()),
            ..self
        }
    }
}

impl Columns {
    pub(super) fn of(rect: Rect, widths: &Widths) -> Self {
        let mut right = rect.right() - SIDE;
        let mut take = |size: f32| {
            right -= size;
            right + size
        };
        let round_trip = (rect.width() > 760.0).then(|| take(126.0) - 126.0 + 16.0);
        let facts = take(widths.facts);
        let sizes = widths.sizes.filter(|_| rect.width() > 700.0);
        let chars = sizes.map(|(_, chars)| take(chars));
        let bytes = sizes.map(|(bytes, _)| take(bytes));
        let change = take(widths.change);
        let counted = widths.counted.map(&mut take);
        let tokens = take(widths.tokens);
        let name = rect.left() + SIDE;
        let end = right - 16.0;
        let start = match rect.width() > 640.0 {
            true => (name + widths.name).min(end.max(name + Widths::LEAST.name)),
            false => name + 150.0,
        };
        let bar = Rect::from_x_y_ranges(start..=end.max(start), rect.y_range());
        Self {
            name,
            bar,
            tokens,
            counted,
            change,
            bytes,
            chars,
            facts,
            round_trip,
        }
    }
}

#[cfg(test)]
mod tests {
    use egui::{pos2, vec2};

    use super::*;

    #[test]
    fn columns_never_cross() {
        let long = Widths {
            name: 420.0,
            tokens: 100.0,
            change: 110.0,
            sizes: Some((100.0, 100.0)),
            facts: 130.0,
            counted: None,
        };
        for width in [640.0, 700.0, 976.0, 1_312.0] {
            for widths in [
                Widths::LEAST,
                long,
                Widths {
                    counted: Some(Widths::COUNTED),
                    ..Widths::LEAST
                },
            ] {
                let columns = Columns::of(
                    Rect::from_min_size(pos2(0.0, 0.0), vec2(width, 20.0)),
                    &widths,
                );
                let ends = [
                    Some(columns.tokens),
                    columns.counted,
                    Some(columns.change),
                    columns.bytes,
                    columns.chars,
                ];
                let ends: Vec<f32> = ends
                    .into_iter()
                    .flatten()
                    .chain([columns.facts])
                    .chain(columns.round_trip)
                    .collect();
                assert!(
                    columns.bar.right() <= columns.tokens && ends.is_sorted(),
                    "{width} {ends:?}"
                );
                assert!(
                    columns.tokens - widths.tokens >= columns.name,
                    "{width}: tokens begin before the name"
                );
            }
        }
    }

    #[test]
    fn columns_are_as_wide_as_their_longest_number() {
        let row = |bytes| Row {
            bytes,
            chars: 7,
            ..Row::default()
        };
        let (short, long) = (row(7), row(123_456_789));
        let rows = |row| std::iter::once((row, Count::Exact(7)));
        let [short, long] =
            [&short, &long].map(|row| Widths::new(rows(row), None, false, true, 8.0));
        assert_eq!(short.sizes, Some(Widths::SIZES));
        assert_eq!(long.sizes.unwrap().0, 11.0 * 8.0 + 14.0);
        assert_eq!(
            Widths::new(rows(&row(7)), None, false, false, 8.0).sizes,
            None
        );
    }
}
