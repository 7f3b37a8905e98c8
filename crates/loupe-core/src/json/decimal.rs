//! Decimal literals by their exact value, however large: never through a float.

/// A literal's value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    pub is_negative: bool,
    /// Without zeros at either end; empty for zero.
    pub digits: String,
    /// The power of ten of the last digit.
    pub power: i64,
}

impl Decimal {
    /// `None` where the exponent is beyond all use.
    pub fn new(literal: &str) -> Option<Self> {
        let (mantissa, exponent) = literal.split_once(['e', 'E']).unwrap_or((literal, "0"));
        let is_negative = mantissa.starts_with('-');
        let mantissa = mantissa.trim_start_matches('-');
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}");
        let kept = digits.trim_end_matches('0');
        let significant = kept.trim_start_matches('0');
        if significant.is_empty() {
            return Some(Self {
                is_negative: false,
                digits: String::new(),
                power: 0,
            });
        }
        let exponent: i64 = exponent
            .strip_prefix('+')
            .unwrap_or(exponent)
            .parse()
            .ok()?;
        let power = exponent
            .checked_sub(fraction.len() as i64)?
            .checked_add((digits.len() - kept.len()) as i64)?;
        Some(Self {
            is_negative,
            digits: significant.to_owned(),
            power,
        })
    }
}

/// Whether two JSON numbers have the same value: `1.0` is `1` is `1e0`, and `-0` is `0`.
pub fn is_same(a: &str, b: &str) -> bool {
    a == b || matches!((Decimal::new(a), Decimal::new(b)), (Some(a), Some(b)) if a == b)
}

/// Whether a text is a number by JSON's grammar.
pub fn is_number(text: &str) -> bool {
    let digits = |text: &str| {
        text.len()
            - text
                .trim_start_matches(|char: char| char.is_ascii_digit())
                .len()
    };
    let rest = text.strip_prefix('-').unwrap_or(text);
    let whole = digits(rest);
    if whole == 0 || (whole > 1 && rest.starts_with('0')) {
        return false;
    }
    let mut rest = &rest[whole..];
    if let Some(fraction) = rest.strip_prefix('.') {
        let length = digits(fraction);
        if length == 0 {
            return false;
        }
        rest = &fraction[length..];
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        return !exponent.is_empty() && digits(exponent) == exponent.len();
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_by_value() {
        for (a, b) in [
            ("1.0", "1"),
            ("1e3", "1000"),
            ("-0", "0"),
            ("0e99999999999999999999", "0.00"),
            ("1e400", "10e399"),
            ("120", "1.2E+2"),
        ] {
            assert!(is_same(a, b), "{a} {b}");
        }
        for (a, b) in [
            ("9007199254740993", "9007199254740992"),
            ("-1", "1"),
            ("1e99999999999999999999", "1e99999999999999999998"),
            ("0.1", "0.10000000000000001"),
        ] {
            assert!(!is_same(a, b), "{a} {b}");
        }
    }

    #[test]
    fn only_json_numbers_are_numbers() {
        assert!(
            ["0", "-0", "10", "1.5e-3", "0.0", "1E5"]
                .iter()
                .all(|text| is_number(text))
        );
        assert!(
            [
                "", "-", "007", "1.", ".5", "+1", "1e", "0x1", "1_000", "1 ", "٣"
            ]
            .iter()
            .all(|text| !is_number(text))
        );
    }
}
