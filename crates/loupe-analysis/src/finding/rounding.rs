//! Numbers that a text has rounded: `0.42` as `0.4` or `42 %`, `1258291` as `1.2 MB`.

use std::ops::{Range, RangeInclusive};

use regex::Captures;

use crate::finding::rule::RulePattern;

static NUMBER: RulePattern =
    RulePattern::new(r"(-?\d[\d,]*)(?:\.(\d+))?[ \x{a0}]?(%|[kKMGTB](?:i?B)?\b)?");

/// The numbers that a rounded one may stand for, to the digits that are shown: of `42 %` those about 42, and about 0.42.
fn may_be(found: &Captures<'_>) -> Vec<RangeInclusive<f64>> {
    let decimals = found.get(2).map_or("", |decimals| decimals.as_str());
    let Ok(stated) = format!("{}.{decimals}0", found[1].replace(',', "")).parse::<f64>() else {
        return Vec::new();
    };
    let unit = found.get(3).map_or("", |unit| unit.as_str());
    let power = |step: f64, of: char| match of.to_ascii_lowercase() {
        'k' => step,
        'm' => step.powi(2),
        'g' | 'b' => step.powi(3),
        _ => step.powi(4),
    };
    let scales = match unit.chars().next() {
        None => vec![1.0],
        // `0.42 %` is not 0.42.
        Some('%') if stated.abs() < 1.0 => vec![0.01],
        Some('%') => vec![1.0, 0.01],
        Some(of) => vec![power(1_000.0, of), power(1_024.0, of)],
    };
    // Half of the last digit that is shown, and a little for what binary fractions cannot say.
    let half = 0.5 * 10_f64.powi(-i32::try_from(decimals.len()).unwrap_or(300)) + 1e-9;
    scales
        .into_iter()
        .map(|scale| (stated - half) * scale..=(stated + half) * scale)
        .collect()
}

/// Whether a text that stands for this number begins with what rounding it gives.
pub(crate) fn is_rounded(number: f64, stated: &str) -> bool {
    let stated = stated.trim_start_matches(|char: char| !char.is_ascii_digit() && char != '-');
    let found = NUMBER
        .captures(stated)
        .filter(|found| stated.starts_with(&found[0]));
    found.is_some_and(|found| may_be(&found).iter().any(|range| range.contains(&number)))
}

/// The numbers of a text that say by decimals or a unit how far they are rounded.
pub(crate) struct RoundedNumbers {
    /// By their least; each with the most of those up to it, and where that one stands.
    found: Vec<(f64, f64, Range<usize>)>,
}

impl RoundedNumbers {
    /// What is in a place that is taken, in order, stands for something else.
    pub fn new(text: &str, taken: &[Range<usize>]) -> Self {
        let is_taken = |place: &Range<usize>| {
            let at = taken.partition_point(|taken| taken.end <= place.start);
            taken.get(at).is_some_and(|taken| taken.start < place.end)
        };
        let says_how_far = |stated: &str| {
            stated.contains('.')
                || stated.ends_with(|char: char| char == '%' || char.is_ascii_alphabetic())
        };
        let rounded = NUMBER
            .find_iter(text)
            .filter(|found| says_how_far(found.as_str()) && !is_taken(&found.range()));
        let mut found: Vec<(f64, f64, Range<usize>)> = rounded
            .filter_map(|found| Some((found.range(), may_be(&NUMBER.captures(found.as_str())?))))
            .flat_map(|(place, ranges)| {
                ranges
                    .into_iter()
                    .map(move |range| (*range.start(), *range.end(), place.clone()))
            })
            .collect();
        found.sort_by(|one, other| one.0.total_cmp(&other.0));
        for at in 1..found.len() {
            if found[at - 1].1 > found[at].1 {
                (found[at].1, found[at].2) = (found[at - 1].1, found[at - 1].2.clone());
            }
        }
        Self { found }
    }

    /// A place where the number stands rounded.
    pub fn find(&self, number: f64) -> Option<Range<usize>> {
        let at = self
            .found
            .partition_point(|(least, ..)| *least <= number)
            .checked_sub(1)?;
        self.found
            .get(at)
            .filter(|(_, most, _)| number <= *most)
            .map(|(.., place)| place.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digits_shown_are_what_rounding_gives() {
        for (number, stated) in [
            (0.42, "0.4"),
            (0.42, "42 %"),
            (0.4217, "42.2%"),
            (42.17, "42%"),
            (3.0816, "about 3.1"),
            (1_258_291.0, "1.2 MB"),
            (1_258_291.0, "1.3 MB"),
            (1_234.4, "1,234"),
            (-2.46, "-2.5 °C"),
        ] {
            assert!(
                is_rounded(number, stated),
                "{number} is rounded as {stated}"
            );
        }
        for (number, stated) in [
            (0.42, "0.5"),
            (0.42, "41 %"),
            (12.0, "15"),
            (1_258_291.0, "2 MB"),
            (2.46, "2.4"),
            (0.42, ""),
        ] {
            assert!(
                !is_rounded(number, stated),
                "{number} is not rounded as {stated}"
            );
        }
    }

    #[test]
    fn a_number_is_found_where_its_digits_tell() {
        let of = |text: &str, number: f64| RoundedNumbers::new(text, &[]).find(number);
        assert_eq!(
            of("2 tickets", 1.7),
            None,
            "a bare digit is no sign of a number"
        );
        assert_eq!(of("the load is 42 % now, of 100.0 %", 0.42), Some(12..16));
        assert_eq!(of("0.9 and 1.0 and 7.35", 0.42), None);
        assert_eq!(of("1.5 GB beside 1.2", 1.19), Some(14..17));
        assert_eq!(
            RoundedNumbers::new("1.2", std::slice::from_ref(&(0..3))).find(1.19),
            None,
            "it stands for another value"
        );
    }
}
