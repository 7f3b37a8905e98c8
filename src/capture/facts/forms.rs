//! The forms in which a text may say a value.

use time::{Date, Month};

use super::labels::key_words;

/// A number as it is spelled, with thousands commas, or spelled otherwise with the same value.
pub(super) fn number_kept(literal: &str) -> Vec<String> {
    let mut forms = vec![literal.to_owned()];
    let mut add = |form: String| {
        if !forms.contains(&form) {
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

/// A number as money: two decimals, with and without commas. Only where that is the same number.
pub(super) fn number_reworded(literal: &str) -> Vec<String> {
    let Ok(value) = literal.parse::<f64>() else { return Vec::new() };
    let money = format!("{value:.2}");
    if money.parse::<f64>() != Ok(value) || money.len() > 24 {
        return Vec::new();
    }
    let mut forms = Vec::new();
    if let Some(grouped) = grouped(&money) {
        forms.push(grouped);
    }
    forms.push(money);
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

/// The forms of the day of an ISO 8601 date or time; empty for any other text.
pub(super) fn date_reworded(value: &str) -> Vec<String> {
    let Some(date) = iso_date(value) else { return Vec::new() };
    let (year, month, day) = (date.year(), u8::from(date.month()), date.day());
    let name = date.month().to_string();
    let short = &name[..3];
    let mut forms = vec![
        format!("{short} {day}, {year}"),
        format!("{name} {day}, {year}"),
        format!("{day} {short} {year}"),
        format!("{day} {name} {year}"),
        format!("{year}/{month:02}/{day:02}"),
        format!("{month:02}/{day:02}/{year}"),
        format!("{month}/{day}/{year}"),
        format!("{day:02}/{month:02}/{year}"),
        format!("{day:02}.{month:02}.{year}"),
        format!("{day}.{month}.{year}"),
        format!("{short} {day:02}, {year}"),
    ];
    if value.len() > 10 {
        forms.insert(0, value[..10].to_owned());
        forms.insert(0, value.get(..16).unwrap_or_default().replace('T', " "));
    }
    forms
}

/// The day of `YYYY-MM-DD` or of a time that begins with it.
pub(super) fn iso_date(value: &str) -> Option<Date> {
    let bytes = value.as_bytes();
    let is_shape = bytes.len() >= 10
        && bytes.iter().take(10).enumerate().all(
            |(at, byte)| {
                if at == 4 || at == 7 { *byte == b'-' } else { byte.is_ascii_digit() }
            },
        );
    if !is_shape || !value.is_ascii() {
        return None;
    }
    let has_time =
        bytes.len() == 10 || (bytes.len() <= 35 && matches!(bytes[10], b'T' | b't' | b' ') && bytes.get(11)?.is_ascii_digit());
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
        && (["just now", "today", "yesterday", "now"].contains(&text.as_str())
            || (text.split_whitespace().any(|word| word == "ago")
                && text.bytes().any(|byte| byte.is_ascii_digit() || byte == b'a')))
}

/// The digits of a telephone number; `None` for text that is none.
pub(super) fn phone_digits(value: &str) -> Option<String> {
    let digits: String = value.chars().filter(char::is_ascii_digit).collect();
    let is_phone = value.chars().all(|char| char.is_ascii_digit() || "+-() ./".contains(char));
    ((7..=15).contains(&digits.len()) && is_phone && iso_date(value).is_none()).then_some(digits)
}

/// What a labelled text says about a yes-or-no question.
pub(super) fn says(text: &str, key: &str) -> Option<bool> {
    let yes = ["yes", "true", "active", "enabled", "on"];
    let no = ["no", "false", "inactive", "disabled", "off"];
    let own = key_words(key).pop().unwrap_or_default();
    let text = text.trim_start();
    for word in text
        .split(|char: char| !char.is_alphanumeric() && !matches!(char, '✅' | '✔' | '✓' | '❌' | '✗' | '✘'))
        .filter(|word| !word.is_empty())
        .take(2)
    {
        let word = word.to_lowercase();
        if word == "not" {
            return Some(false);
        }
        if word.starts_with(['✅', '✔', '✓']) || yes.contains(&word.as_str()) || word == own {
            return Some(true);
        }
        if word.starts_with(['❌', '✗', '✘']) || no.contains(&word.as_str()) {
            return Some(false);
        }
    }
    None
}

/// A bool that tells a state may stand under the label `Status`.
pub(super) fn is_state(key: &str) -> bool {
    key_words(key).last().is_some_and(|word| ["active", "enabled", "disabled", "inactive"].contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_money() {
        assert_eq!(number_kept("1234"), ["1234", "1,234"]);
        assert_eq!(number_kept("-1234567.50"), ["-1234567.50", "-1,234,567.50", "-1234567.5", "-1,234,567.5"]);
        assert_eq!(number_kept("1e3"), ["1e3", "1000.0", "1,000", "1000"]);
        assert_eq!(number_reworded("120000"), ["120,000.00", "120000.00"]);
        assert_eq!(number_reworded("1.234"), Vec::<String>::new());
    }

    #[test]
    fn dates_phones_and_answers() {
        assert!(date_reworded("2025-01-15T14:30:00Z").contains(&"Jan 15, 2025".to_owned()));
        assert!(date_reworded("2025-13-15").is_empty() && date_reworded("2025-01-15x").is_empty());
        assert_eq!(phone_digits("(555) 123-4567").as_deref(), Some("5551234567"));
        assert_eq!(phone_digits("2025-01-15"), None);
        assert!(is_relative_time("2 hours ago") && is_relative_time("an hour ago") && !is_relative_time("Chicago"));
        assert_eq!(says("✅ Active", "isActive"), Some(true));
        assert_eq!(says("Inactive", "isActive"), Some(false));
        assert_eq!(says("not active", "isActive"), Some(false));
        assert_eq!(says("pending", "isActive"), None);
        assert!(is_state("isActive") && !is_state("hasMore"));
    }
}
