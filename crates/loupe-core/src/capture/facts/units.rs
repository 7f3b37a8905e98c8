//! Units of time, size and money, and quantities that are written with them.

/// What a unit measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    Time,
    Size,
    Money,
}

/// What a unit measures, and how much of the smallest unit it is; `None` of a word that is no unit.
pub(super) fn scale(unit: &str) -> Option<(Quantity, f64)> {
    use Quantity::{Money, Size, Time};
    Some(match unit {
        "ns" | "nanos" | "nanoseconds" => (Time, 1e-6),
        "us" | "µs" | "micros" | "microseconds" => (Time, 1e-3),
        "ms" | "millis" | "milliseconds" | "millisecond" => (Time, 1.0),
        "s" | "sec" | "secs" | "second" | "seconds" => (Time, 1e3),
        "min" | "mins" | "minute" | "minutes" => (Time, 6e4),
        "h" | "hr" | "hrs" | "hour" | "hours" => (Time, 3.6e6),
        "d" | "day" | "days" => (Time, 8.64e7),
        "bytes" | "byte" => (Size, 1.0),
        "kb" => (Size, 1e3),
        "kib" => (Size, 1_024.0),
        "mb" => (Size, 1e6),
        "mib" => (Size, 1_048_576.0),
        "gb" => (Size, 1e9),
        "gib" => (Size, 1_073_741_824.0),
        "cents" | "cent" => (Money, 1.0),
        "dollars" | "dollar" | "euros" | "euro" => (Money, 100.0),
        _ => return None,
    })
}

/// A quantity that a text begins with, in the smallest unit: `1.5 s`, `1m 30s`, `1 min 30 s`, `$12.34`; and where it ends.
fn quantity(text: &str) -> Option<(Quantity, f64, usize)> {
    let number = |text: &str| -> Option<(f64, usize)> {
        let end = text
            .find(|char: char| !(char.is_ascii_digit() || char == '.' || char == ','))
            .unwrap_or(text.len());
        let digits = text[..end].trim_end_matches(['.', ',']);
        Some((digits.replace(',', "").parse().ok()?, digits.len()))
    };
    if let Some(rest) = text.strip_prefix(['$', '€', '£']) {
        let (amount, length) = number(rest.trim_start())?;
        let sign = text.len() - rest.trim_start().len();
        return Some((Quantity::Money, amount * 100.0, sign + length));
    }
    let (mut at, mut sum, mut kind): (usize, f64, Option<Quantity>) = (0, 0.0, None);
    while let Some((amount, length)) = number(&text[at..]).filter(|(_, length)| *length > 0) {
        let rest = &text[at + length..];
        let blank = rest.len() - rest.trim_start_matches(' ').len();
        let word: String = rest[blank..]
            .chars()
            .take_while(|char| char.is_alphabetic())
            .collect();
        let own = match (word.as_str(), kind) {
            // Between hours and seconds `m` is a minute.
            ("m", _) => Some((Quantity::Time, 6e4)),
            (word, _) => scale(&word.to_ascii_lowercase()),
        };
        let Some((own, scale)) = own.filter(|(own, _)| kind.is_none_or(|kind| kind == *own)) else {
            break;
        };
        (kind, sum) = (Some(own), sum + amount * scale);
        at += length + blank + word.len();
        let next = &text[at..];
        at += next.len() - next.trim_start_matches([' ', ',']).len();
    }
    kind.map(|kind| (kind, sum, text[..at].trim_end_matches([' ', ',']).len()))
}

/// How much of a text says a number whose key has this unit, in another unit: `1.5 s` for 1500 of `tookMs`; `None` where
/// it says another number, or none.
pub(super) fn says(number: f64, unit: &str, text: &str) -> Option<usize> {
    let (other, amount, length) = quantity(text)?;
    let is_same = |own: f64| (amount - number * own).abs() <= (number * own).abs() * 1e-9;
    let says = match scale(unit) {
        Some((kind, own)) => kind == other && is_same(own),
        // `duration` and `took` are of seconds or milliseconds.
        None => {
            other == Quantity::Time
                && ["duration", "elapsed", "took", "timeout", "uptime"].contains(&unit)
                && (is_same(1e3) || is_same(1.0))
        }
    };
    says.then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_compared() {
        for (number, unit, text) in [
            (1_500.0, "ms", "1.5 s"),
            (90.0, "seconds", "1m 30s"),
            (90.0, "seconds", "1 min 30 s"),
            (1_234.0, "cents", "$12.34"),
            (3_600.0, "s", "1 hour"),
            (1_024.0, "bytes", "1 KiB"),
            (90.0, "duration", "1m 30s"),
        ] {
            assert_eq!(
                says(number, unit, text),
                Some(text.len()),
                "{number} {unit} {text}"
            );
        }
        for (number, unit, text) in [
            (90.0, "ms", "90 s"),
            (12.0, "cents", "$12"),
            (90.0, "seconds", "1m 31s"),
            (5.0, "apples", "5 s"),
        ] {
            assert_eq!(says(number, unit, text), None, "{number} {unit} {text}");
        }
    }
}
