//! Numbers as the hosts' languages write them, from the literal that was sent.

use std::borrow::Cow;

use super::rules::JsonMode;

/// The literal as `mode` writes it.
///
/// # Errors
/// Why the host's own reader refuses the number.
pub fn write(literal: &str, mode: JsonMode) -> Result<Cow<'_, str>, String> {
    let digits = literal.strip_prefix('-').unwrap_or(literal);
    // A whole number that every language holds exactly.
    let is_plain = literal == "0"
        || digits.len() <= 15
            && !digits.starts_with('0')
            && digits.bytes().all(|byte| byte.is_ascii_digit());
    Ok(match mode {
        _ if is_plain => literal.into(),
        JsonMode::Verbatim => literal.into(),
        JsonMode::Serde => serde(literal)?.into(),
        JsonMode::Js | JsonMode::JsPretty => js(literal.parse().unwrap_or(f64::NAN)).into(),
        JsonMode::Python | JsonMode::PythonSorted => python(literal).into(),
    })
}

fn is_integer(literal: &str) -> bool {
    !literal.contains(['.', 'e', 'E'])
}

fn serde(literal: &str) -> Result<String, String> {
    // The library itself says what it reads and writes.
    let number: Result<serde_json::Number, _> = serde_json::from_str(literal);
    number
        .map(|number| number.to_string())
        .map_err(|_| format!("the number {literal} is out of the host's range"))
}

/// The shortest digits that give the number back, and the power of ten of the first one.
fn shortest(number: f64) -> (String, i32) {
    let text = format!("{:e}", number.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (mantissa.replace('.', ""), exponent.parse().unwrap_or(0))
}

/// As `Number::toString` of ECMAScript, and `JSON.stringify`, which writes what is not finite as `null`.
pub fn js(number: f64) -> String {
    if !number.is_finite() {
        return "null".to_owned();
    }
    if number == 0.0 {
        return "0".to_owned();
    }
    let sign = if number < 0.0 { "-" } else { "" };
    let (digits, exponent) = shortest(number);
    let body = if (-6..21).contains(&exponent) {
        plain(&digits, exponent)
    } else {
        scientific(&digits, exponent, 1)
    };
    format!("{sign}{body}")
}

/// As `json.dumps` of Python: integers exact, floats by `repr`.
fn python(literal: &str) -> String {
    if is_integer(literal) {
        return if literal == "-0" {
            "0".to_owned()
        } else {
            literal.to_owned()
        };
    }
    let number: f64 = literal.parse().unwrap_or(f64::NAN);
    if !number.is_finite() {
        return if number < 0.0 {
            "-Infinity".to_owned()
        } else {
            "Infinity".to_owned()
        };
    }
    let sign = if number.is_sign_negative() { "-" } else { "" };
    let (digits, exponent) = shortest(number);
    let body = if (-4..16).contains(&exponent) {
        let text = plain(&digits, exponent);
        if text.contains('.') {
            text
        } else {
            format!("{text}.0")
        }
    } else {
        scientific(&digits, exponent, 2)
    };
    format!("{sign}{body}")
}

fn plain(digits: &str, exponent: i32) -> String {
    if exponent < 0 {
        return format!(
            "0.{}{digits}",
            "0".repeat(exponent.unsigned_abs() as usize - 1)
        );
    }
    let whole = exponent as usize + 1;
    if digits.len() <= whole {
        return format!("{digits}{}", "0".repeat(whole - digits.len()));
    }
    format!("{}.{}", &digits[..whole], &digits[whole..])
}

/// At least `width` digits of exponent, always with its sign.
fn scientific(digits: &str, exponent: i32, width: usize) -> String {
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!(
        "{first}{point}{rest}e{sign}{:0width$}",
        exponent.unsigned_abs()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Read back from `JSON.stringify(JSON.parse(literal))` of Node and `json.dumps(json.loads(literal))` of Python.
    const CASES: &str = include_str!("../../tests/data/host/numbers.tsv");

    #[test]
    fn numbers_are_written_as_the_languages_do() {
        let mut cases = 0;
        for line in CASES.lines().filter(|line| !line.starts_with('#')) {
            let [literal, js, python] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            assert_eq!(
                write(literal, JsonMode::Js).unwrap(),
                js,
                "{literal} in JavaScript"
            );
            assert_eq!(
                write(literal, JsonMode::Python).unwrap(),
                python,
                "{literal} in Python"
            );
            assert_eq!(write(literal, JsonMode::Verbatim).unwrap(), literal);
            cases += 1;
        }
        assert!(cases > 100, "{cases} cases");
    }

    #[test]
    fn numbers_as_serde_writes_them() {
        let serde = |literal| write(literal, JsonMode::Serde);
        for (literal, written) in [
            ("1.0", "1.0"),
            ("1e-07", "1e-7"),
            ("9007199254740993", "9007199254740993"),
            ("18446744073709551615", "18446744073709551615"),
            ("-0.0", "-0.0"),
            ("1e+21", "1e+21"),
            ("0.1", "0.1"),
        ] {
            assert_eq!(serde(literal).unwrap(), written);
        }
        assert!(
            serde("1e400")
                .unwrap_err()
                .contains("out of the host's range")
        );
    }
}
