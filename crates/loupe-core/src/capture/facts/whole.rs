//! Whether what is in a text is there as a whole: a number is no part of a longer one, of a date or of an amount,
//! a name no part of an address.

use std::ops::Range;

use super::canon::is_space;

/// No single number is longer than this; what is, is a list.
const MAX_RUN: usize = 40;

/// Whether the number at `hit` is no part of a longer one. The edges of its cell part it from anything.
pub(super) fn is_whole(
    text: &str,
    hit: &Range<usize>,
    cell: Option<&Range<usize>>,
    is_labelled: bool,
) -> bool {
    let begins = cell.is_some_and(|cell| cell.start >= hit.start);
    let ends = cell.is_some_and(|cell| cell.end <= hit.end);
    let before = if begins { "" } else { &text[..hit.start] };
    let after = if ends { "" } else { &text[hit.end..] };
    let mut left = before.chars().rev();
    let mut right = after.chars();
    let (first, second) = (left.next(), left.next());
    let (next, then) = (right.next(), right.next());
    let is_digit = |char: Option<char>| char.is_some_and(|char| char.is_ascii_digit());
    let joins = |char: Option<char>| matches!(char, Some('.' | '-' | ':' | '/'));
    if joins(first) && is_digit(second) || joins(next) && is_digit(then) {
        return false;
    }
    if first == Some('-') && !second.is_some_and(char::is_alphanumeric) {
        return false;
    }
    // `~100`, `≥ 100`, `at least 100` and `100+` are other numbers, and nobody knows which.
    if is_bound(before) || next == Some('+') && !is_digit(then) {
        return false;
    }
    let by_comma = first == Some(',') && is_digit(second) || next == Some(',') && is_digit(then);
    if by_comma && is_one_number(before, &text[hit.clone()], after) {
        return false;
    }
    !is_spaced(before, &text[hit.clone()], after, is_labelled) && !is_scaled(after)
}

/// Whether the digits, commas and dots around a number are one number: `1,500`, `1.234,56`, `12,5`; not `1,2,3`, `[1,500]`.
fn is_one_number(before: &str, number: &str, after: &str) -> bool {
    let is_part = |char: char| char.is_ascii_digit() || char == ',' || char == '.';
    let head_len = before
        .chars()
        .rev()
        .take(MAX_RUN)
        .take_while(|char| is_part(*char))
        .count();
    let tail_len = after
        .chars()
        .take(MAX_RUN)
        .take_while(|char| is_part(*char))
        .count();
    let (head, tail) = (&before[before.len() - head_len..], &after[..tail_len]);
    let is_list =
        before[..before.len() - head_len].ends_with('[') || after[tail_len..].starts_with(']');
    if is_list || head_len == MAX_RUN || tail_len == MAX_RUN {
        return false;
    }
    let run = [head, number, tail].concat();
    let run = run.trim_matches([',', '.', '-']);
    let grouped = |whole: &str, sign: char| {
        let mut groups = whole.split(sign);
        let first = groups
            .next()
            .is_some_and(|group| (1..=3).contains(&group.len()));
        first && groups.all(|group| group.len() == 3)
    };
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    match (run.rsplit_once('.'), run.rsplit_once(',')) {
        // `1,234.56` and `1.234,56`
        (Some((whole, decimals)), Some(_)) if digits(decimals) && !whole.contains('.') => {
            grouped(whole, ',')
        }
        (Some(_), Some((whole, decimals))) if digits(decimals) && !whole.contains(',') => {
            grouped(whole, '.')
        }
        // `1,500` and `12,5`
        (None, Some((whole, _))) => grouped(run, ',') || digits(whole),
        _ => false,
    }
}

/// Whether thousands are parted by spaces on one of the sides: everywhere by those that do not break, by plain ones
/// only under a label.
fn is_spaced(before: &str, number: &str, after: &str, is_labelled: bool) -> bool {
    let is_gap = |char: char| {
        matches!(char, '\u{a0}' | '\u{202f}' | '\u{2009}') || (char == ' ' && is_labelled)
    };
    let head = number.trim_start_matches('-');
    let leads = |text: &str| text.bytes().take_while(u8::is_ascii_digit).take(4).count();
    let trails = |text: &str| {
        text.bytes()
            .rev()
            .take_while(u8::is_ascii_digit)
            .take(4)
            .count()
    };
    let follows = after
        .strip_prefix(is_gap)
        .is_some_and(|rest| leads(rest) == 3)
        && (1..=3).contains(&head.len())
        && head.bytes().all(|byte| byte.is_ascii_digit());
    let is_joined = |rest: &str| {
        (1..=3).contains(&trails(rest))
            && !rest
                .trim_end_matches(|char: char| char.is_ascii_digit())
                .ends_with([',', '.', '-'])
    };
    let precedes = before.strip_suffix(is_gap).is_some_and(is_joined) && leads(number) == 3;
    follows || precedes
}

/// Whether a word or a sign makes it a thousand or a million times as much, or a thousandth.
fn is_scaled(after: &str) -> bool {
    const SCALES: [&str; 9] = [
        "hundred",
        "thousand",
        "million",
        "billion",
        "trillion",
        "lakh",
        "crore",
        "dozen",
        "percent of a percent",
    ];
    let word = after.trim_start_matches(is_space);
    let is_word = word.len() < after.len() && SCALES.iter().any(|scale| word.starts_with(scale));
    is_word
        || word.starts_with(['‰', '‱', '×', '^', '⁰', '¹', '²', '³'])
        || word.starts_with("*10")
        || word.starts_with("x10")
}

/// Whether what stands before a number makes it a bound or an estimate.
fn is_bound(before: &str) -> bool {
    const WORDS: [&str; 17] = [
        "at least",
        "at most",
        "almost",
        "nearly",
        "about",
        "around",
        "approximately",
        "approx.",
        "approx",
        "under",
        "over",
        "below",
        "above",
        "up to",
        "more than",
        "less than",
        "fewer than",
    ];
    let before = before.trim_end_matches([' ', '*', '_', '`', '$', '€', '£']);
    if before.ends_with(['~', '≈', '≥', '≤']) || before.ends_with("<") || before.ends_with(" >")
    {
        return true;
    }
    let from = before.ceil_char_boundary(before.len().saturating_sub(16));
    let tail = before[from..].to_ascii_lowercase();
    WORDS.iter().any(|words| {
        tail.strip_suffix(words)
            .is_some_and(|rest| !rest.ends_with(|char: char| char.is_alphanumeric()))
    })
}

/// Whether a name, an identifier or an address goes on behind its end: `AB-12` in `AB-12-C`, `ann` in `ann@example.com`.
pub(super) fn is_continued(value: &str, after: &str) -> bool {
    let mut chars = after.chars();
    let (next, then) = (chars.next(), chars.next());
    let is_identifier = value.contains(|char: char| char.is_ascii_digit()) && !value.contains(' ');
    let goes_on = match next {
        Some('@') => true,
        Some('.') => {
            is_identifier
                || after[1..]
                    .split(is_space)
                    .next()
                    .is_some_and(|rest| rest.contains('@'))
        }
        Some('-' | '_') => is_identifier,
        Some('/' | '?' | '#') => value.contains("://"),
        _ => false,
    };
    goes_on && then.is_some_and(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_name_are_none() {
        for (value, after) in [
            ("AB-12", "-C"),
            ("ann", "@example.com"),
            ("https://a.example", "/b"),
            ("v1.2", ".3"),
        ] {
            assert!(is_continued(value, after), "{value}{after}");
        }
        for (value, after) in [
            ("AB-12", ". Next"),
            ("Ann", "-Marie"),
            ("https://a.example", "/"),
            ("e12", "/e13"),
        ] {
            assert!(!is_continued(value, after), "{value}{after}");
        }
    }

    fn found(text: &str, number: &str) -> usize {
        text.match_indices(number)
            .filter(|(at, _)| is_whole(text, &(*at..at + number.len()), None, true))
            .count()
    }

    #[test]
    fn parts_of_a_number_are_none() {
        for (text, number) in [
            ("1,500", "500"),
            ("1,500", "1"),
            ("5,550,203", "550"),
            ("1.234,56", "1.234"),
            ("1.234,56", "56"),
            ("12,5", "12"),
            ("1 234", "234"),
            ("1 234", "1"),
            ("2.14.1", "14"),
            ("12:30", "12"),
            ("-5", "5"),
            ("5 million", "5"),
            ("100+", "100"),
        ] {
            assert_eq!(found(text, number), 0, "{number} in {text}");
        }
        for (text, number) in [
            ("1,2,3", "2"),
            ("[1,500]", "500"),
            ("59.91,10.75", "10.75"),
            ("(5)", "5"),
            ("5.", "5"),
            ("5, 6", "5"),
            ("22 33", "22"),
        ] {
            assert_eq!(found(text, number), 1, "{number} in {text}");
        }
    }
}
