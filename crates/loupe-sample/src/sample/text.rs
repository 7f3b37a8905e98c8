//! Pieces of text that the sets share: times, icons, names of numbers, the limit on length.

use serde_json::{Map, Value};
use time::OffsetDateTime;

use super::data::NOW;

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// The 25,000 characters that both Autotask servers promise to stay within.
pub const LIMIT: usize = 25_000;

/// `2:30 PM`.
pub fn clock(time: OffsetDateTime) -> String {
    let (hour, half) = (time.hour() % 12, if time.hour() < 12 { "AM" } else { "PM" });
    format!(
        "{}:{:02} {half}",
        if hour == 0 { 12 } else { hour },
        time.minute()
    )
}

/// `Jan 15, 2025`.
pub fn date(time: OffsetDateTime) -> String {
    format!(
        "{} {}, {}",
        MONTHS[usize::from(u8::from(time.month())) - 1],
        time.day(),
        time.year()
    )
}

/// `Jan 15, 2025 at 2:30 PM`.
pub fn absolute(time: OffsetDateTime) -> String {
    format!("{} at {}", date(time), clock(time))
}

/// `2 hours ago`, within a week.
pub fn relative(time: OffsetDateTime) -> String {
    let minutes = (NOW - time).whole_minutes();
    let (count, unit) = match minutes {
        ..60 => (minutes, "minute"),
        60..1440 => (minutes / 60, "hour"),
        1440..10080 => (minutes / 1440, "day"),
        _ => return absolute(time),
    };
    format!("{count} {unit}{} ago", if count == 1 { "" } else { "s" })
}

/// The icon of a status by its name.
pub fn icon(status: &str) -> &'static str {
    match status.to_lowercase().replace(' ', "_").as_str() {
        "active" => "✅",
        "inactive" => "❌",
        "new" => "🟢",
        "in_progress" => "🟡",
        "critical" => "🔴",
        "warning" => "⚠️",
        "pending" => "📋",
        "complete" => "✔️",
        _ => "⚪",
    }
}

/// The original's table: id 1 carries the name of a priority.
pub(crate) fn status_name(status: i64) -> String {
    match status {
        1 => "Critical".into(),
        2 => "In Progress".into(),
        3 => "New".into(),
        4 => "Pending".into(),
        5 => "Complete".into(),
        other => format!("Status {other}"),
    }
}

pub(crate) fn priority_name(priority: i64) -> String {
    match priority {
        1 => "Emergency".into(),
        2 => "High".into(),
        3 => "Medium".into(),
        4 => "Low".into(),
        other => format!("Priority {other}"),
    }
}

pub fn type_name(company_type: &Value) -> String {
    match company_type.as_f64() {
        Some(1.0) => "Customer".into(),
        Some(2.0) => "Lead".into(),
        Some(3.0) => "Prospect".into(),
        Some(4.0) => "Dead".into(),
        Some(5.0) => "Cancelled".into(),
        Some(6.0) => "Vendor".into(),
        Some(7.0) => "Partner".into(),
        Some(other) => format!("Type {other}"),
        None => "N/A".into(),
    }
}

/// A text field that is there and not empty.
pub fn field<'a>(record: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    record.get(key)?.as_str().filter(|text| !text.is_empty())
}

/// `555-123-4567` as `(555) 123-4567`; anything else as it is.
pub fn phone(digits: &str) -> String {
    let parts: Vec<_> = digits.split('-').collect();
    match parts[..] {
        [area, exchange, line] if (area.len(), exchange.len(), line.len()) == (3, 3, 4) => {
            format!("({area}) {exchange}-{line}")
        }
        _ => digits.to_owned(),
    }
}

/// `$120,000.00`.
pub fn dollars(amount: f64) -> String {
    let plain = format!("{amount:.2}");
    let (whole, cents) = plain.split_once('.').unwrap_or((&plain, "00"));
    let (sign, digits) = whole
        .strip_prefix('-')
        .map_or(("", whole), |digits| ("-", digits));
    let mut grouped = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{sign}${grouped}.{cents}")
}

/// Length as the originals counted it, in UTF-16 units.
pub fn length(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// The first `units` UTF-16 units. The originals could cut a pair in half; here the cut comes before it.
pub fn cut(text: &str, units: usize) -> &str {
    let mut used = 0;
    let end = text.char_indices().find(|(_, char)| {
        used += char.len_utf16();
        used > units
    });
    end.map_or(text, |(at, _)| &text[..at])
}

pub fn contains(text: &str, term: &str) -> bool {
    text.to_lowercase().contains(&term.to_lowercase())
}

#[cfg(test)]
mod tests {
    use time::Duration;

    use super::*;

    #[test]
    fn times() {
        assert_eq!(absolute(NOW), "Jan 17, 2025 at 2:30 PM");
        assert_eq!(clock(NOW - Duration::minutes(870)), "12:00 AM");
        for (minutes, expected) in [
            (0, "0 minutes ago"),
            (1, "1 minute ago"),
            (59, "59 minutes ago"),
            (60, "1 hour ago"),
            (1439, "23 hours ago"),
            (1440, "1 day ago"),
            (10079, "6 days ago"),
            (10080, "Jan 10, 2025 at 2:30 PM"),
        ] {
            assert_eq!(relative(NOW - Duration::minutes(minutes)), expected);
        }
    }

    #[test]
    fn money_and_phones() {
        assert_eq!(dollars(120_000.0), "$120,000.00");
        assert_eq!(dollars(0.0), "$0.00");
        assert_eq!(dollars(-1_234_567.5), "-$1,234,567.50");
        assert_eq!(phone("555-123-4567"), "(555) 123-4567");
        assert_eq!(phone("+1 555"), "+1 555");
    }

    #[test]
    fn cutting_counts_utf16() {
        assert_eq!(length("a🚀b"), 4);
        assert_eq!(cut("a🚀b", 4), "a🚀b");
        assert_eq!(cut("a🚀b", 3), "a🚀");
        assert_eq!(cut("a🚀b", 2), "a");
        assert_eq!(cut("a🚀b", 0), "");
    }

    #[test]
    fn icons_and_names() {
        assert_eq!(icon("In Progress"), "🟡");
        assert_eq!(icon("Status 9"), "⚪");
        assert_eq!(type_name(&1.0.into()), "Customer");
        assert_eq!(type_name(&8.into()), "Type 8");
        assert_eq!(type_name(&Value::Null), "N/A");
    }
}
