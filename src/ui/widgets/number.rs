//! The one way numbers are written: grouped, with their unit.

use crate::analysis::counted;
pub use crate::number::grouped;
use crate::number::number_of;
use crate::token::Count;

/// A number with its unit, given in the plural: `331 tok`, `1 value`.
pub fn number_text(value: u64, units: &str) -> String {
    number_of(value, units)
}

/// A count with its unit: `331 tok`, or `≈364–580 tok` where it is an estimate.
pub fn count_text(count: Count, unit: &str) -> String {
    format!("{} {unit}", counted(count))
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
        millis => format!("{}.{} s", grouped((millis / 1_000).try_into().unwrap_or(u64::MAX)), millis % 1_000 / 100),
    }
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
