//! Numbers as people read them.

use std::time::Duration;

/// A count as people read it, everywhere: digits in groups of three, `12,345`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count with what is counted, given in the plural: "1 member", "2,000 members".
pub fn number_of(number: u64, units: &str) -> String {
    let singular = |word: &str| word.strip_suffix('s').map(str::to_owned);
    let mut words: Vec<String> = units.split(' ').map(str::to_owned).collect();
    if number == 1
        && let Some((at, one)) = words
            .iter()
            .enumerate()
            .find_map(|(at, word)| Some((at, singular(word)?)))
    {
        words[at] = one;
    }
    format!("{} {}", grouped(number), words.join(" "))
}

/// A change of a count with its sign: `−119`, `+1,200`, `0`.
pub fn signed(change: i64) -> String {
    let sign = match change {
        0 => "",
        1.. => "+",
        _ => "−",
    };
    format!("{sign}{}", grouped(change.unsigned_abs()))
}

/// What the one count became in the other, as [`signed`] says it.
pub fn signed_from(from: u64, to: u64) -> String {
    signed(to.cast_signed().wrapping_sub(from.cast_signed()))
}

/// What a count became, where that rounds to a percent: `−24%`, `+132%`, above ten times `×12`.
pub fn percent_change(from: u64, to: u64) -> Option<String> {
    // Counts are far below 2^53.
    let ratio = to as f64 / from as f64;
    let percent = ((ratio - 1.0) * 100.0).round();
    if from == 0 || percent == 0.0 {
        return None;
    }
    Some(if ratio > 10.0 {
        format!("×{}", grouped(ratio.round() as u64))
    } else {
        format!("{}{}%", if to < from { "−" } else { "+" }, percent.abs())
    })
}

/// What a count became, where it changed: [`percent_change`], else in `units`, given in the plural: `−1 token`.
pub fn relative_change(from: u64, to: u64, units: &str) -> Option<String> {
    if from == to {
        return None;
    }
    let in_units = || {
        let sign = if to < from { "−" } else { "+" };
        format!("{sign}{}", number_of(from.abs_diff(to), units))
    };
    Some(percent_change(from, to).unwrap_or_else(in_units))
}

/// A part of a whole, `31%`; what is there and rounds to nothing is `<1%`.
pub fn share(part: u64, whole: u64) -> String {
    // Counts are far below 2^53.
    let percent = part as f64 / whole.max(1) as f64 * 100.0;
    if percent > 0.0 && percent < 0.5 {
        "<1%".to_owned()
    } else {
        format!("{percent:.0}%")
    }
}

/// Milliseconds with nanosecond resolution.
pub fn milliseconds(duration: Duration) -> f64 {
    duration.as_nanos() as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_their_sign() {
        assert_eq!(
            [
                signed_from(450, 331),
                signed_from(1, 1_201),
                signed_from(5, 5)
            ],
            ["−119", "+1,200", "0"]
        );
    }

    #[test]
    fn changes_are_percents_up_to_ten_times() {
        let change = |to| relative_change(1_000, to, "tokens");
        assert_eq!(change(1_000), None);
        assert_eq!(
            [760, 2_320, 10_000, 10_600, 1_234_000, 999, 1_003, 0].map(|to| change(to).unwrap()),
            [
                "−24%",
                "+132%",
                "+900%",
                "×11",
                "×1,234",
                "−1 token",
                "+3 tokens",
                "−100%"
            ]
        );
        assert_eq!(
            relative_change(0, 4, "tokens").as_deref(),
            Some("+4 tokens")
        );
    }

    #[test]
    fn a_part_that_is_there_is_never_nothing() {
        assert_eq!(
            [(0, 0), (0, 9), (1, 900), (31, 100), (9, 9)].map(|(part, whole)| share(part, whole)),
            ["0%", "0%", "<1%", "31%", "100%"]
        );
    }

    #[test]
    fn one_is_no_plural() {
        let written = [
            (1, "members"),
            (0, "members"),
            (2_000, "changed lines"),
            (1, "changed lines"),
            (1, "tok"),
        ];
        let written = written.map(|(number, units)| number_of(number, units));
        assert_eq!(
            written,
            [
                "1 member",
                "0 members",
                "2,000 changed lines",
                "1 changed line",
                "1 tok"
            ]
        );
    }
}
