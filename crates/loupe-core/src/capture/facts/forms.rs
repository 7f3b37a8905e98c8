//! The forms in which a text may say a value.

use time::format_description::BorrowedFormatItem;
use time::macros::format_description;
use time::{Date, Month};

use super::labels::{last_word, spoken};
use super::{times, units};
use crate::json::{Kind, Node};

/// A number with thousands commas, or spelled otherwise with the same value.
pub(super) fn number_kept(literal: &str) -> Vec<String> {
    let mut forms = Vec::new();
    let mut add = |form: String| {
        if form != literal && !forms.contains(&form) {
            forms.push(form);
        }
    };
    if let Some(grouped) = grouped(literal) {
        add(grouped);
    }
    if literal.contains(['.', 'e', 'E'])
        && let Ok(value) = literal.parse::<f64>()
        && value.is_finite()
    {
        let plain = format!("{value}");
        add(format!("{value:?}"));
        if let Some(grouped) = grouped(&plain) {
            add(grouped);
        }
        add(plain);
    }
    forms
}

/// A number as money: two decimals, with and without commas, and where commas part decimals; and with its thousands
/// parted by spaces. Only where that is the same number.
pub(super) fn number_reworded(literal: &str) -> Vec<String> {
    let Ok(value) = literal.parse::<f64>() else {
        return Vec::new();
    };
    let is_whole = literal.bytes().all(|byte| byte.is_ascii_digit());
    let money = if is_whole {
        format!("{literal}.00")
    } else {
        format!("{value:.2}")
    };
    if money.parse::<f64>() != Ok(value) || money.len() > 24 {
        return Vec::new();
    }
    let mut forms: Vec<String> = grouped(&money).into_iter().chain([money]).collect();
    // A comma of thousands alone would be a decimal one elsewhere, so these have decimals or spaces.
    let elsewhere: String = forms[0]
        .chars()
        .map(|char| {
            if char == ',' {
                '.'
            } else if char == '.' {
                ','
            } else {
                char
            }
        })
        .collect();
    let spaced = grouped(literal).map(|form| form.replace(',', " "));
    forms.extend([elsewhere.replacen('.', " ", 4), elsewhere]);
    forms.extend(spaced);
    forms.retain(|form| form != literal);
    forms
}

/// `1234567.8` as `1,234,567.8`; `None` where there is nothing to group.
fn grouped(literal: &str) -> Option<String> {
    let (whole, tail) = literal.split_at(literal.find('.').unwrap_or(literal.len()));
    let digits = whole.strip_prefix('-').unwrap_or(whole);
    if digits.len() < 4 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut out = String::from(if whole.len() > digits.len() { "-" } else { "" });
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    Some(out + tail)
}

/// How a day is written, the most common ways first.
const DAYS: [&[BorrowedFormatItem<'_>]; 11] = [
    format_description!("[month repr:short] [day padding:none], [year]"),
    format_description!("[month repr:long] [day padding:none], [year]"),
    format_description!("[day padding:none] [month repr:short] [year]"),
    format_description!("[day padding:none] [month repr:long] [year]"),
    format_description!("[year]/[month]/[day]"),
    format_description!("[month]/[day]/[year]"),
    format_description!("[month padding:none]/[day padding:none]/[year]"),
    format_description!("[day]/[month]/[year]"),
    format_description!("[day].[month].[year]"),
    format_description!("[day padding:none].[month padding:none].[year]"),
    format_description!("[month repr:short] [day], [year]"),
];

/// The forms of the day of an ISO 8601 date or time; none for any other text.
pub(super) fn date_reworded(value: &str) -> impl Iterator<Item = String> {
    let date = iso_date(value);
    let has_time = date.filter(|_| value.len() > 10);
    let parts = has_time.map(|_| {
        [
            value.get(..16).unwrap_or_default().replace('T', " "),
            value[..10].to_owned(),
        ]
    });
    let days = date.map(|date| DAYS.iter().filter_map(move |form| date.format(form).ok()));
    parts
        .into_iter()
        .flatten()
        .chain(days.into_iter().flatten())
}

/// The day of `YYYY-MM-DD` or of a time that begins with it.
pub(super) fn iso_date(value: &str) -> Option<Date> {
    let bytes = value.as_bytes();
    let is_shape = bytes.len() >= 10
        && bytes.iter().take(10).enumerate().all(|(at, byte)| {
            if at == 4 || at == 7 {
                *byte == b'-'
            } else {
                byte.is_ascii_digit()
            }
        });
    if !is_shape || !value.is_ascii() {
        return None;
    }
    let has_time = bytes.len() == 10
        || (bytes.len() <= 35
            && matches!(bytes[10], b'T' | b't' | b' ')
            && bytes.get(11)?.is_ascii_digit());
    if !has_time {
        return None;
    }
    let month = Month::try_from(value[5..7].parse::<u8>().ok()?).ok()?;
    Date::from_calendar_date(value[..4].parse().ok()?, month, value[8..10].parse().ok()?).ok()
}

/// Whether a labelled text is a time relative to now. Whether it is the right one is not checked: the text says when
/// it was written only roughly.
pub(super) fn is_relative_time(text: &str) -> bool {
    let text = text.trim().to_ascii_lowercase();
    text.len() <= 40
        && (text == "just now"
            || (text.split_whitespace().any(|word| word == "ago")
                && text
                    .bytes()
                    .any(|byte| byte.is_ascii_digit() || byte == b'a')))
}

/// The digits of a telephone number; `None` for text that is none. Without a plus or a bracket, it is one by its key.
pub(super) fn phone_digits(value: &str, key: &str) -> Option<String> {
    let digits: String = value.chars().filter(char::is_ascii_digit).collect();
    let is_phone = value
        .chars()
        .all(|char| char.is_ascii_digit() || "+-() ./".contains(char));
    let names = ["phone", "telephone", "tel", "mobile", "cell", "fax"];
    let is_named = || spoken(key).split(' ').any(|word| names.contains(&word));
    ((7..=15).contains(&digits.len()) && is_phone && (value.starts_with(['+', '(']) || is_named()))
        .then_some(digits)
}

/// The two states a thing may be in, and which of them a word tells.
fn state(word: &str) -> Option<bool> {
    match word {
        "active" | "enabled" => Some(true),
        "inactive" | "disabled" => Some(false),
        _ => None,
    }
}

/// What a text says about the yes-or-no field of a key, under its label or that of its state: words of its state first,
/// then yes and no.
pub(super) fn says(text: &str, key: &str, is_own: bool) -> Option<bool> {
    let is_mark = |char: char| "✅✔✓☑❌✗✘".contains(char);
    let own = last_word(key);
    let words: Vec<String> = text
        .split(|char: char| !char.is_alphanumeric() && !is_mark(char))
        .filter(|word| !word.is_empty())
        .take(4)
        .map(str::to_lowercase)
        .collect();
    let negates = |word: &&String| {
        ["not", "never", "non", "longer", "isn", "without"].contains(&word.as_str())
    };
    // `Status: active` says of `isDisabled` that it is not.
    let means = |word: &String| match (state(word), state(&own)) {
        (Some(says), Some(asked)) => Some(says == asked),
        (None, _) if *word == own => Some(true),
        _ => None,
    };
    if let Some((position, meaning)) = words
        .iter()
        .enumerate()
        .find_map(|(position, word)| Some((position, means(word)?)))
    {
        return Some(meaning != words[..position].iter().any(|word| negates(&word)));
    }
    let first = words.first().filter(|_| is_own || words.len() == 1)?;
    let yes =
        ["yes", "true", "on"].contains(&first.as_str()) || first.starts_with(['✅', '✔', '✓', '☑']);
    let no =
        ["no", "false", "off"].contains(&first.as_str()) || first.starts_with(['❌', '✗', '✘']);
    if negates(&first) {
        return words
            .get(1)
            .is_none_or(|word| word != "false")
            .then_some(false);
    }
    // Under the label of a state, a mark says that it is well.
    let is_asked = is_own || state(&own) != Some(false);
    (yes || no).then_some(yes == is_asked)
}

/// Whether a field tells of a state, which may be under the label `Status` or in prose.
pub(super) fn state_of(key: &str) -> Option<bool> {
    state(&last_word(key))
}

/// Whether the words before a place deny what is there: `not active`, `no longer active`, `non-active`.
pub(super) fn is_denied(before: &str) -> bool {
    let is_part = |char: char| char.is_alphanumeric() || " -'’*_".contains(char);
    let words = before
        .rsplit(|char| !is_part(char))
        .next()
        .unwrap_or_default();
    let last: Vec<String> = words
        .rsplit([' ', '-', '*', '_'])
        .filter(|word| !word.is_empty())
        .take(3)
        .map(str::to_lowercase)
        .collect();
    // `to be paid`, `failed to be deployed`.
    if last.first().is_some_and(|word| word == "be") && last.get(1).is_some_and(|word| word == "to")
    {
        return true;
    }
    last.iter().take(2).enumerate().any(|(distance, word)| {
        // `no` denies only what follows it at once: `no. 5`, `no, thanks`.
        [
            "not",
            "never",
            "non",
            "without",
            "isn't",
            "isn’t",
            "wasn't",
            "except",
            "excluding",
        ]
        .contains(&word.as_str())
            || word == "longer"
            || (distance == 0
                && [
                    "no",
                    "but",
                    "half",
                    "partly",
                    "partially",
                    "previously",
                    "formerly",
                ]
                .contains(&word.as_str()))
    })
}

/// How much of a text is the day of a number of seconds or milliseconds since 1970.
pub(super) fn says_epoch(number: f64, text: &str) -> Option<usize> {
    let seconds = if number >= 1e11 { number / 1e3 } else { number };
    // From 1990 on: other numbers are no times.
    if !(6.3e8..4e9).contains(&seconds) {
        return None;
    }
    let date = time::OffsetDateTime::from_unix_timestamp(seconds as i64)
        .ok()?
        .date();
    let plain = format_description!("[year]-[month]-[day]");
    let forms = std::iter::once(date.format(plain).ok())
        .chain(DAYS.iter().map(|form| date.format(form).ok()));
    forms
        .flatten()
        .find(|form| text.starts_with(form.as_str()))
        .map(|form| form.len())
}

/// Whether a text says by its mark that it is the beginning of a value: `Call the vendor…`.
pub(super) fn is_cut_of(value: &str, text: &str) -> bool {
    let text = text.trim();
    let beginning = text.strip_suffix('…').or_else(|| text.strip_suffix("..."));
    beginning
        .is_some_and(|beginning| beginning.len() >= 3 && value.starts_with(beginning.trim_end()))
}

/// Whether the words before a number deny it: `not 12`.
pub(super) fn is_denied_number(before: &str) -> bool {
    let before = before
        .trim_end_matches([' ', '*', '_', '`', '"', '('])
        .to_ascii_lowercase();
    let word = before
        .rsplit(|char: char| !(char.is_alphanumeric() || char == '\''))
        .next()
        .unwrap_or_default();
    [
        "not",
        "never",
        "max",
        "maximum",
        "min",
        "minimum",
        "previously",
        "formerly",
    ]
    .contains(&word)
}

/// Whether the unit after a number is another than that of its key: `Timeout: 90 s` for `timeout_ms`, `0.05%` for 0.05.
pub(super) fn is_other_unit(leaf: Node<'_>, after: &str) -> bool {
    let key = spoken(&leaf.key().unwrap_or_default());
    let value = leaf.as_f64().unwrap_or_default().abs();
    let rest = after.trim_start_matches([' ', '*', '_', '`']);
    if rest.starts_with('%') {
        let is_share = key
            .split(' ')
            .any(|word| ["percent", "percentage", "pct", "perc"].contains(&word));
        return value > 0.0 && value < 1.0 && !is_share;
    }
    let word: String = rest
        .chars()
        .take_while(|char| char.is_alphabetic())
        .collect();
    match (
        units::scale(key.rsplit(' ').next().unwrap_or_default()),
        units::scale(&word.to_ascii_lowercase()),
    ) {
        (Some((kind, own)), Some((other_kind, other))) => {
            kind == other_kind && (own - other).abs() > f64::EPSILON
        }
        _ => false,
    }
}

/// Whether a time of day that follows a day agrees with that of the fact, and is there where the fact has one. Of any other
/// fact nothing is asked.
pub(super) fn agrees_in_time(leaf: Node<'_>, hit: &str, after: &str) -> bool {
    let value = match leaf.kind() {
        Kind::String => leaf.as_str().unwrap_or_default(),
        _ => return true,
    };
    if value.len() <= 10 || hit == &*value || iso_date(&value).is_none() {
        return true;
    }
    times::agrees(&value, hit, after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_money() {
        assert_eq!(number_kept("1234"), ["1,234"]);
        assert_eq!(
            number_kept("-1234567.50"),
            ["-1,234,567.50", "-1234567.5", "-1,234,567.5"]
        );
        assert_eq!(number_kept("1e3"), ["1000.0", "1,000", "1000"]);
        assert_eq!(
            number_reworded("120000"),
            [
                "120,000.00",
                "120000.00",
                "120 000,00",
                "120.000,00",
                "120 000"
            ]
        );
        assert_eq!(number_reworded("1.234"), Vec::<String>::new());
    }

    #[test]
    fn dates_phones_and_answers() {
        let days: Vec<_> = date_reworded("2025-01-05T14:30:00Z").collect();
        let parts = [
            "2025-01-05 14:30",
            "2025-01-05",
            "Jan 5, 2025",
            "January 5, 2025",
            "5 Jan 2025",
            "5 January 2025",
        ];
        assert_eq!(days[..6], parts);
        let numbers = [
            "2025/01/05",
            "01/05/2025",
            "1/5/2025",
            "05/01/2025",
            "05.01.2025",
            "5.1.2025",
            "Jan 05, 2025",
        ];
        assert_eq!(days[6..], numbers);
        assert!(
            date_reworded("2025-13-15").next().is_none()
                && date_reworded("2025-01-15x").next().is_none()
        );
        assert_eq!(
            phone_digits("(555) 123-4567", "x").as_deref(),
            Some("5551234567")
        );
        assert_eq!(
            phone_digits("555 123 4567", "homePhone").as_deref(),
            Some("5551234567")
        );
        assert_eq!(phone_digits("192.168.1.10", "ip"), None);
        assert!(
            is_relative_time("2 hours ago")
                && is_relative_time("an hour ago")
                && !is_relative_time("Chicago")
        );
        for (text, key, answer) in [
            ("✅ Active", "isActive", Some(true)),
            ("Inactive", "isActive", Some(false)),
            ("not active", "isActive", Some(false)),
            ("pending", "isActive", None),
            ("Active", "isDisabled", Some(false)),
            ("no longer enabled", "enabled", Some(false)),
            ("yes", "isDisabled", Some(true)),
        ] {
            assert_eq!(says(text, key, true), answer, "{text} {key}");
        }
        assert!(
            is_denied("it is not ")
                && is_denied("a non-")
                && is_denied("no longer ")
                && is_denied("with **no** ")
        );
        assert!(!is_denied("no: ") && !is_denied("it is ") && !is_denied(""));
    }
}
