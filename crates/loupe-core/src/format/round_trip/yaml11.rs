//! Scalars that a reader of YAML 1.1 takes for something else than a reader of 1.2 does: `yes`, `12:30`, `2025-01-15`.
//!
//! The rules are those of the YAML 1.1 type repository, for texts that the writer leaves without quotes.

use super::compare::shown;
use super::{DifferenceKind, Differences, Fidelity, ValueChange};
use crate::json::{Kind, Node, write};

/// The keys and values that are retyped, and the sentence about them.
pub(super) fn retyped(root: Node<'_>, verdict: Fidelity) -> (Differences, Option<String>) {
    let mut found = Differences::default();
    for index in root.index()..root.subtree_end() {
        let Some(node) = root.doc().node(index) else {
            break;
        };
        if index != root.index()
            && let Some(key) = node.key()
            && let Some(becomes) = reading(&key)
        {
            found.add(|| ValueChange {
                path: node.pointer_from(root.index()),
                kind: DifferenceKind::Type,
                before: Some(format!("the key {}", write::string(&key))),
                after: Some(becomes.to_owned()),
            });
        }
        let becomes = match node.kind() {
            Kind::String => node.as_str().and_then(|text| reading(&text)),
            Kind::Number => number_reading(&node.raw_text()),
            _ => None,
        };
        if let Some(becomes) = becomes {
            found.add(|| ValueChange {
                path: node.pointer_from(root.index()),
                kind: DifferenceKind::Type,
                before: Some(shown(node)),
                after: Some(becomes.to_owned()),
            });
        }
    }
    let note = (found.count > 0).then(|| {
        let values = if found.count == 1 {
            "1 value"
        } else {
            &format!("{} values", found.count)
        };
        let word = if verdict.is_lossless() {
            verdict.name()
        } else {
            "read back"
        };
        format!("{word} for YAML 1.2; 1.1 readers re-type {values}")
    });
    (found, note)
}

const TIME: &str = "a date or time";

/// What a 1.1 reader makes of a text, where the writer leaves it without quotes.
fn reading(text: &str) -> Option<&'static str> {
    let becomes = resolve(text)?;
    // YAML 1.2 takes it for text as it is, so that the writer leaves it bare.
    if becomes == TIME && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Some(becomes);
    }
    let written = serde_norway::to_string(text).ok()?;
    written.starts_with(text).then_some(becomes)
}

/// The type of a plain scalar in YAML 1.1 that is text in 1.2.
fn resolve(text: &str) -> Option<&'static str> {
    // Nothing that is retyped is longer, whatever its digits.
    if text.is_empty() || text.len() > 200 || !text.is_ascii() {
        return None;
    }
    const BOOLEANS: [&str; 8] = ["y", "n", "yes", "no", "on", "off", "true", "false"];
    let is_cased = |word: &str| {
        if text.len() != word.len() {
            return false;
        }
        let capital = word[..1].to_ascii_uppercase() + &word[1..];
        text == word || text == capital || text == word.to_ascii_uppercase()
    };
    if BOOLEANS.into_iter().any(is_cased) {
        return Some("a boolean");
    }
    if text == "~" || is_cased("null") {
        return Some("null");
    }
    if text == "<<" {
        return Some("a merge key");
    }
    if text == "=" {
        return Some("a default value");
    }
    if is_integer(text) {
        return Some("an integer");
    }
    if is_float(text) {
        return Some("a float");
    }
    is_time(text).then_some(TIME)
}

/// A number as the writer spells it that 1.1 takes for text: an exponent needs a point and a sign there.
fn number_reading(literal: &str) -> Option<&'static str> {
    let float = literal
        .contains(['.', 'e', 'E'])
        .then(|| literal.parse::<f64>().ok())??;
    // Without an exponent, whatever the writer.
    if (1e-4..1e15).contains(&float.abs()) {
        return None;
    }
    let written = serde_norway::to_string(&float).ok()?;
    let written = written.trim_end();
    (written.contains('e') && !is_float(written)).then_some("a text")
}

fn unsigned(text: &str) -> &str {
    text.strip_prefix(['+', '-']).unwrap_or(text)
}

fn all(text: &str, is_one: impl Fn(u8) -> bool) -> bool {
    !text.is_empty() && text.bytes().all(is_one)
}

fn is_integer(text: &str) -> bool {
    let digits = unsigned(text);
    let decimal = |byte: u8| byte.is_ascii_digit() || byte == b'_';
    if let Some(rest) = digits.strip_prefix("0b") {
        return all(rest, |byte| matches!(byte, b'0' | b'1' | b'_'));
    }
    if let Some(rest) = digits.strip_prefix("0x") {
        return all(rest, |byte| byte.is_ascii_hexdigit() || byte == b'_');
    }
    if let Some(rest) = digits.strip_prefix('0') {
        return rest.is_empty() || all(rest, |byte| matches!(byte, b'0'..=b'7' | b'_'));
    }
    // Sexagesimal: 12:30 is 750.
    let mut parts = digits.split(':');
    let first = parts.next().unwrap_or_default();
    first.starts_with(|char: char| char.is_ascii_digit())
        && all(first, decimal)
        && parts.all(is_sixtieth)
}

fn is_sixtieth(part: &str) -> bool {
    matches!(part.as_bytes(), [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9'])
}

fn is_float(text: &str) -> bool {
    let digits = unsigned(text);
    if matches!(digits, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let Some((whole, rest)) = digits.split_once('.') else {
        return false;
    };
    let decimal = |byte: u8| byte.is_ascii_digit() || byte == b'_';
    if whole.contains(':') {
        let mut parts = whole.split(':');
        let first = parts.next().unwrap_or_default();
        return first.starts_with(|char: char| char.is_ascii_digit())
            && all(first, decimal)
            && parts.all(is_sixtieth)
            && rest.bytes().all(decimal);
    }
    let (fraction, exponent) = rest
        .split_once(['e', 'E'])
        .map_or((rest, None), |(fraction, exponent)| {
            (fraction, Some(exponent))
        });
    let has_digit = whole
        .bytes()
        .chain(fraction.bytes())
        .any(|byte| byte.is_ascii_digit());
    let is_exponent = exponent.is_none_or(|exponent| {
        exponent
            .strip_prefix(['+', '-'])
            .is_some_and(|digits| all(digits, |byte| byte.is_ascii_digit()))
    });
    has_digit
        && (whole.is_empty()
            || (whole.starts_with(|char: char| char.is_ascii_digit())
                && whole.bytes().all(decimal)))
        && fraction.bytes().all(decimal)
        && is_exponent
}

/// `2025-01-15`, or with a time after it: `2025-1-5T12:30:00.5Z`, `2025-01-15 12:30:00 +01:00`.
fn is_time(text: &str) -> bool {
    let mut rest = text;
    let mut number = |min: usize, max: usize, after: &str| -> bool {
        let length = rest.bytes().take_while(u8::is_ascii_digit).count();
        if length < min || length > max {
            return false;
        }
        match rest[length..].strip_prefix(after) {
            Some(next) => {
                rest = next;
                true
            }
            None => false,
        }
    };
    if !(number(4, 4, "-") && number(1, 2, "-") && number(1, 2, "")) {
        return false;
    }
    if rest.is_empty() {
        // A date alone has two digits each.
        return text.len() == 10;
    }
    let spaces = rest.trim_start_matches([' ', '\t']);
    let Some(time) = rest
        .strip_prefix(['T', 't'])
        .or_else(|| (spaces.len() < rest.len()).then_some(spaces))
    else {
        return false;
    };
    rest = time;
    let mut number = |min: usize, max: usize, after: &str| -> bool {
        let length = rest.bytes().take_while(u8::is_ascii_digit).count();
        let next = (length >= min && length <= max)
            .then(|| rest[length..].strip_prefix(after))
            .flatten();
        rest = next.unwrap_or(rest);
        next.is_some()
    };
    if !(number(1, 2, ":") && number(2, 2, ":") && number(2, 2, "")) {
        return false;
    }
    if let Some(fraction) = rest.strip_prefix('.') {
        rest = fraction.trim_start_matches(|char: char| char.is_ascii_digit());
    }
    let zone = rest.trim_start_matches([' ', '\t']);
    if rest.is_empty() || zone == "Z" {
        return true;
    }
    let Some(offset) = zone.strip_prefix(['+', '-']) else {
        return false;
    };
    let (hours, minutes) = offset.split_once(':').unwrap_or((offset, "00"));
    let digits = |text: &str, min: usize| {
        (min..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    digits(hours, 1) && digits(minutes, 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yaml_1_1_has_more_types() {
        for (text, becomes) in [
            ("yes", "a boolean"),
            ("No", "a boolean"),
            ("OFF", "a boolean"),
            ("y", "a boolean"),
            ("1_000", "an integer"),
            ("12:30", "an integer"),
            ("0b1_0", "an integer"),
            ("017", "an integer"),
            ("-1:00:00", "an integer"),
            ("1_0.5", "a float"),
            ("1:30.5", "a float"),
            ("6.8523015e+5", "a float"),
            ("2025-01-15", "a date or time"),
            ("2025-01-15T10:00:00Z", "a date or time"),
            ("2025-1-5 1:02:03.5 +1:30", "a date or time"),
            ("<<", "a merge key"),
            ("=", "a default value"),
        ] {
            assert_eq!(resolve(text), Some(becomes), "{text}");
        }
        for text in [
            "yEs",
            "oh",
            "12:60",
            "2025-1-5",
            "2025-01-15T10",
            "1.2.3",
            "e5",
            "_1",
            "a:b",
            "12:30 ",
            "0x",
            "٣",
            "1e21",
        ] {
            assert_eq!(resolve(text), None, "{text}");
        }
    }

    #[test]
    fn only_what_stands_bare_is_retyped() {
        assert_eq!(reading("yes"), Some("a boolean"));
        // The writer quotes what 1.2 would retype too.
        assert_eq!((reading("true"), reading("0x1f")), (None, None));
        for time in [
            "2025-01-15",
            "2025-01-15T10:00:00Z",
            "2025-1-5T1:02:03.5+1:30",
            "2025-01-15T10:00:00.000-05:00",
        ] {
            assert_eq!(
                (reading(time), &*serde_norway::to_string(time).unwrap()),
                (Some(TIME), &*format!("{time}\n"))
            );
        }
        for float in [
            "1e-4",
            "1e-5",
            "1e14",
            "999999999999999.0",
            "1e15",
            "1e16",
            "0.0",
        ] {
            let written = serde_norway::to_string(&float.parse::<f64>().unwrap()).unwrap();
            assert!(
                !written.contains('e')
                    || number_reading(float).is_some()
                    || is_float(written.trim()),
                "{float}: {written}"
            );
        }
        assert_eq!(
            (
                number_reading("1e21"),
                number_reading("1.5"),
                number_reading("10")
            ),
            (Some("a text"), None, None)
        );
    }
}
