//! Times of day as people write them after a day.

/// A time of day with its zone, if it says one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Clock {
    hour: u32,
    minute: u32,
    second: Option<u32>,
    /// Minutes east of UTC.
    zone: Option<i32>,
    /// Bytes of the text up to its end, without the zone.
    length: usize,
}

/// Reads a time at the beginning of a text: `15:30`, `3:30 PM`, `15:30:00Z`, `15:30 UTC`, `15:30:00.5+05:00`.
fn clock(text: &str) -> Option<Clock> {
    let bytes = text.as_bytes();
    let digits = |at: usize| bytes[at.min(bytes.len())..].iter().take_while(|byte| byte.is_ascii_digit()).count();
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
    let upper: String = rest.chars().take(6).map(|char| char.to_ascii_uppercase()).collect();
    let mut tail = rest;
    let mut length = at;
    for (word, is_afternoon) in [("AM", false), ("PM", true), ("A.M.", false), ("P.M.", true)] {
        if upper.starts_with(word) && hour <= 12 {
            hour = hour % 12 + if is_afternoon { 12 } else { 0 };
            tail = rest[word.len()..].trim_start();
            length = text.len() - rest.len() + word.len();
            break;
        }
    }
    Some(Clock { hour, minute, second, zone: zone(tail.trim_start_matches(['(', ' '])), length })
}

fn zone(text: &str) -> Option<i32> {
    if text.starts_with("UTC")
        || text.starts_with("GMT")
        || (text.starts_with('Z') && !text[1..].starts_with(char::is_alphabetic))
    {
        return Some(0);
    }
    let sign = match text.chars().next()? {
        '+' => 1,
        '-' | '−' => -1,
        _ => return None,
    };
    let digits: String = text.chars().skip(1).take(5).filter(char::is_ascii_digit).collect();
    (digits.len() == 4).then(|| Some(sign * (digits[..2].parse::<i32>().ok()? * 60 + digits[2..].parse::<i32>().ok()?)))?
}

/// Whether a text that has the day of a time also has its time of day: hour and minute, seconds and zone where it says
/// them. `hit` is what of the text was found, `after` what follows.
pub(super) fn agrees(fact: &str, hit: &str, after: &str) -> bool {
    let Some(own) = fact.get(11..).and_then(clock) else { return true };
    // `2025-01-05 14:30` has its time in the hit.
    let inside = hit.find(':').and_then(|colon| {
        let start = hit[..colon].rfind(|char: char| !char.is_ascii_digit()).map_or(0, |at| at + 1);
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
        (Some(own_zone), Some(zone)) => {
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
    said.second.is_none_or(|second| own.second.unwrap_or(0) == second)
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
        ] {
            assert!(!agrees(fact, hit, after), "{hit}{after}");
        }
        assert_eq!([" at 3:30 PM |", "T15:30:00Z", " | 15:30"].map(length), [11, 9, 0]);
        assert!(agrees("2025-03-04T00:00:00Z", "Mar 4, 2025", " | x"), "midnight is the day");
    }
}
