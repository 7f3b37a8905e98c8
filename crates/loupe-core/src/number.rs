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

/// How one count stands to another, given their ratio: `−24%`, `+132%`, and above ten times `×12`.
pub fn percent_change(ratio: f64) -> String {
    if ratio > 10.0 {
        return format!("×{}", grouped(ratio.round() as u64));
    }
    let percent = ((ratio - 1.0) * 100.0).round();
    format!(
        "{}{}%",
        if percent < 0.0 { "−" } else { "+" },
        percent.abs()
    )
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
    fn ratios_are_percents_up_to_ten_times() {
        assert_eq!(
            [0.76, 2.32, 10.0, 10.6, 1_234.0].map(percent_change),
            ["−24%", "+132%", "+900%", "×11", "×1,234"]
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
