//! Times of day as people write them after a day.

/// A time of day with its zone, if it says one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Clock {
    hour: u32,
    minute: u32,
    second: Option<u32>,
    zone: Option<Zone>,
    /// Bytes of the text up to its end, without the zone.
    length: usize,
}

/// A zone that a text says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Zone {
    /// Minutes east of UTC.
    Offset(i32),
    /// A name that several zones have, or whose offset depends on the day: `CST`, `Europe/Berlin`.
    Named,
}

/// Names of zones that are no offset by themselves.
const ZONES: [&str; 32] = [
    "EST", "EDT", "ET", "CST", "CDT", "CT", "MST", "MDT", "MT", "PST", "PDT", "PT", "AKST", "AKDT",
    "HST", "CET", "CEST", "EET", "EEST", "WET", "WEST", "BST", "IST", "MSK", "JST", "KST", "SGT",
    "HKT", "AEST", "AEDT", "NZST", "NZDT",
];

/// Reads a time at the beginning of a text: `15:30`, `3:30 PM`, `15:30:00Z`, `15:30 UTC`, `15:30:00.5+05:00`.
fn clock(text: &str) -> Option<Clock> {
    let bytes = text.as_bytes();
    let digits = |at: usize| {
        bytes[at.min(bytes.len())..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count()
    };
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<u32>().ok();
    let first = digits(0);
    if !(1..=2).contains(&first) || bytes.get(first) != Some(&b':') || digits(first + 1) != 2 {
        return None;
    }
    let (mut hour, minute) = (number(0..first)?, number(first + 1..first + 3)?);
    let mut at = first + 3;
    let mut second = None;
    if bytes.get(at) == Some(&b':') && digits(at + 1) == 2 {
        second = number(at + 1..at + 3);
        at += 3;
        if bytes.get(at) == Some(&b'.') {
            at += 1 + digits(at + 1);
        }
    }
    let rest = text[at..].trim_start_matches([' ', '\u{a0}', '\u{202f}']);
    let upper: String = rest
        .chars()
        .take(6)
        .map(|char| char.to_ascii_uppercase())
        .collect();
    let mut tail = rest;
    let mut length = at;
    for (word, is_afternoon) in [("AM", false), ("PM", true), ("A.M.", false), ("P.M.", true)] {
        let is_word = !rest
            .get(word.len()..)
            .is_some_and(|after| after.starts_with(char::is_alphabetic));
        if upper.starts_with(word) && is_word && hour <= 12 {
            hour = hour % 12 + if is_afternoon { 12 } else { 0 };
            tail = rest[word.len()..].trim_start();
            length = text.len() - rest.len() + word.len();
            break;
        }
    }
    Some(Clock {
        hour,
        minute,
        second,
        zone: zone(tail.trim_start_matches(['(', ' '])),
        length,
    })
}

fn zone(text: &str) -> Option<Zone> {
    let word = &text[..text
        .find(|char: char| !char.is_ascii_alphabetic() && !matches!(char, '/' | '_'))
        .unwrap_or(text.len())];
    if matches!(word, "UTC" | "GMT" | "Z") {
        return Some(Zone::Offset(0));
    }
    if ZONES.contains(&word)
        || word.contains('/') && word.starts_with(|char: char| char.is_ascii_uppercase())
    {
        return Some(Zone::Named);
    }
    let sign = match text.chars().next()? {
        '+' => 1,
        '-' | '−' => -1,
        _ => return None,
    };
    let rest = text.trim_start_matches(['+', '-', '−']);
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let number = |text: &str| text.parse::<i32>().ok();
    let (hours, minutes) = match digits(rest) {
        4 => (number(&rest[..2])?, number(&rest[2..4])?),
        count @ 1..=2 if rest[count..].starts_with(':') && digits(&rest[count + 1..]) == 2 => (
            number(&rest[..count])?,
            number(&rest[count + 1..count + 3])?,
        ),
        2 => (number(&rest[..2])?, 0),
        _ => return None,
    };
    Some(Zone::Offset(sign * (hours * 60 + minutes)))
}

/// Whether a text that has the day of a time also has its time of day: hour and minute, seconds and zone where it says
/// them. `hit` is what of the text was found, `after` what follows.
pub(super) fn agrees(fact: &str, hit: &str, after: &str) -> bool {
    let Some(own) = fact.get(11..).and_then(clock) else {
        return true;
    };
    // `2025-01-05 14:30` has its time in the hit.
    let inside = hit.find(':').and_then(|colon| {
        let start = hit[..colon]
            .rfind(|char: char| !char.is_ascii_digit())
            .map_or(0, |at| at + 1);
        hit.get(start..)
    });
    let joined = inside.map(|time| format!("{time}{}", after.chars().take(12).collect::<String>()));
    let next = after.trim_start_matches([' ', ',', 'T', 't', '\u{a0}', '(']);
    let next = next.strip_prefix("at ").unwrap_or(next).trim_start();
    let Some(said) = joined.as_deref().map_or_else(|| clock(next), clock) else {
        // A day alone says midnight.
        return (own.hour, own.minute, own.second.unwrap_or(0)) == (0, 0, 0);
    };
    let is_zone = match (own.zone, said.zone) {
        // The day is the same, so that another zone is another instant unless the hours make up for it.
        (Some(_), Some(Zone::Named)) => false,
        (Some(Zone::Offset(own_zone)), Some(Zone::Offset(zone))) => {
            let minutes = |clock: Clock, zone: i32| (clock.hour * 60 + clock.minute) as i32 - zone;
            return minutes(own, own_zone) == minutes(said, zone) && is_second(own, said);
        }
        _ => true,
    };
    is_zone && (own.hour, own.minute) == (said.hour, said.minute) && is_second(own, said)
}

/// How many bytes of what follows a day are its time of day: 11 of ` at 3:30 PM`.
pub(super) fn length(after: &str) -> usize {
    let next = after.trim_start_matches([' ', ',', 'T', 't', '\u{a0}', '(']);
    let next = next.strip_prefix("at ").unwrap_or(next).trim_start();
    clock(next).map_or(0, |clock| after.len() - next.len() + clock.length)
}

fn is_second(own: Clock, said: Clock) -> bool {
    said.second
        .is_none_or(|second| own.second.unwrap_or(0) == second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hour_minute_and_zone_agree() {
        let fact = "2025-03-04T15:30:00Z";
        for (hit, after) in [
            ("2025-03-04", "T15:30:00Z"),
            ("2025-03-04 15:30", " | next"),
            ("Mar 4, 2025", " at 3:30 PM"),
            ("March 4, 2025", " 3:30 pm UTC"),
            ("4 Mar 2025", ", 15:30 (UTC)"),
            ("2025-03-04", " 16:30+01:00"),
        ] {
            assert!(agrees(fact, hit, after), "{hit}{after}");
        }
        for (hit, after) in [
            ("2025-03-04", ""),
            ("2025-03-04", " 03:30"),
            ("Mar 4, 2025", " 3:30 AM"),
            ("2025-03-04", "T15:30:00+05:00"),
            ("2025-03-04", "T15:30:59Z"),
            ("2025-03-04 15:30", ":07"),
            ("2025-03-04 15:30", " EST, so"),
            ("2025-03-04 15:30", " Europe/Berlin"),
            ("2025-03-04 15:30", " +5:30"),
            ("2025-03-04", " 15:30 +05"),
            ("Mar 4, 2025", " 3:30 Amsterdam"),
        ] {
            assert!(!agrees(fact, hit, after), "{hit}{after}");
        }
        assert_eq!(
            [" at 3:30 PM |", "T15:30:00Z", " | 15:30"].map(length),
            [11, 9, 0]
        );
        assert!(
            agrees("2025-03-04T00:00:00Z", "Mar 4, 2025", " | x"),
            "midnight is the day"
        );
    }
}
