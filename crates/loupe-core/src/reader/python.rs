//! Python literals, as `repr` writes them: `[{'id': 1, 'name': 'Ann', 'x': None}]`.

use super::build::{Builder, is_number};
use super::{Certainty, Reader, TextBlock, TextData};

pub(super) static PYTHON: Reader = Reader::new("python", "Python literal", Certainty::Marked, read);

/// What is open, and what is awaited in it.
enum Open {
    List,
    /// A parenthesis: a tuple, or a value by itself.
    Tuple,
    /// Whether a key comes next.
    Dict(bool),
}

fn read(block: TextBlock<'_>) -> Option<TextData> {
    let skip = block.text.len() - block.text.trim_start().len();
    let text = block.text.trim();
    if !text.starts_with(['[', '{', '(']) {
        return None;
    }
    let mut builder = Builder::new(&block);
    let mut open: Vec<Open> = Vec::new();
    let mut at = 0;
    // Whether a value may come: after the beginning, a comma, a colon.
    let mut awaits = true;
    while at < text.len() {
        let rest = &text[at..];
        let char = rest.chars().next()?;
        if char == '#' {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        if open.is_empty() && at > 0 && !char.is_whitespace() {
            return None;
        }
        match char {
            char if char.is_whitespace() => at += char.len_utf8(),
            '[' | '(' if awaits && !matches!(open.last(), Some(Open::Dict(true))) => {
                builder.open('[');
                open.push(if char == '[' { Open::List } else { Open::Tuple });
                at += 1;
            }
            '{' if awaits && !matches!(open.last(), Some(Open::Dict(true))) => {
                builder.open('{');
                open.push(Open::Dict(true));
                at += 1;
            }
            ']' | ')' | '}' => {
                match (open.pop()?, char) {
                    (Open::List, ']') | (Open::Tuple, ')') => builder.close(']'),
                    (Open::Dict(_), '}') => builder.close('}'),
                    _ => return None,
                }
                awaits = false;
                at += 1;
            }
            ',' if !awaits => {
                if let Some(Open::Dict(key)) = open.last_mut() {
                    *key = true;
                }
                awaits = true;
                at += 1;
            }
            ':' if !awaits => {
                match open.last_mut()? {
                    Open::Dict(key @ true) => *key = false,
                    _ => return None,
                }
                awaits = true;
                at += 1;
            }
            _ if awaits => {
                let (length, scalar) = scalar(rest)?;
                let place = skip + at..skip + at + length;
                match (open.last()?, scalar) {
                    (Open::Dict(true), Scalar::Text(key)) => {
                        let prefix = rest.find(['\'', '"']).map_or(0, |quote| quote + 1);
                        builder.label(place.start + prefix..place.end - prefix.min(1));
                        builder.key(&key);
                    }
                    (Open::Dict(true), Scalar::Json(key)) => {
                        builder.label(place);
                        builder.key(key);
                    }
                    (_, Scalar::Text(value)) => builder.text(&value, place),
                    (_, Scalar::Json(value)) => builder.leaf(value, place),
                }
                awaits = false;
                at += length;
            }
            _ => return None,
        }
    }
    if !open.is_empty() {
        return None;
    }
    builder.done()
}

enum Scalar<'a> {
    Text(String),
    Json(&'a str),
}

/// The scalar that a text begins with, and its length.
fn scalar(text: &str) -> Option<(usize, Scalar<'_>)> {
    let prefix = text.len() - text.trim_start_matches(['b', 'r', 'u', 'f']).len();
    if let Some(quote) = text[prefix..]
        .chars()
        .next()
        .filter(|char| matches!(char, '\'' | '"'))
    {
        let (length, value) = parse_quoted(&text[prefix + 1..], quote)?;
        return Some((prefix + 1 + length, Scalar::Text(value)));
    }
    let end = text
        .find(|char: char| !char.is_alphanumeric() && !matches!(char, '_' | '.' | '+' | '-'))
        .unwrap_or(text.len());
    let word = &text[..end];
    if matches!(word, "Decimal" | "UUID")
        && let Some((value, _)) = text[end..]
            .strip_prefix("('")
            .and_then(|inner| inner.split_once("')"))
    {
        let value_is = if word == "Decimal" && is_number(value) {
            Scalar::Json(value)
        } else {
            Scalar::Text(value.to_owned())
        };
        return Some((end + value.len() + 4, value_is));
    }
    if word == "datetime.datetime" || word == "datetime.date" || word == "Decimal" || word == "UUID"
    {
        // What `repr` writes as a call stays as it is.
        let close = text.find(')')? + 1;
        return Some((close, Scalar::Text(text[..close].to_owned())));
    }
    let json = match word {
        "None" => "null",
        // Numbers that JSON has none of.
        "nan" | "inf" | "-inf" => return Some((end, Scalar::Text(word.to_owned()))),
        "True" => "true",
        "False" => "false",
        number if is_number(number) => number,
        _ => return None,
    };
    Some((end, Scalar::Json(json)))
}

/// A text up to its closing quote, and the length with it.
fn parse_quoted(text: &str, quote: char) -> Option<(usize, String)> {
    let mut out = String::new();
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            _ if char == quote => return Some((at + 1, out)),
            '\\' => {
                let (_, escaped) = chars.next()?;
                let digits = match escaped {
                    'x' => 2,
                    'u' => 4,
                    'U' => 8,
                    _ => 0,
                };
                if digits > 0 {
                    let hex: String = chars
                        .by_ref()
                        .take(digits)
                        .map(|(_, digit)| digit)
                        .collect();
                    out.push(
                        u32::from_str_radix(&hex, 16)
                            .ok()
                            .and_then(char::from_u32)
                            .unwrap_or('\u{fffd}'),
                    );
                    continue;
                }
                match escaped {
                    'n' => out.push('\n'),
                    't' => out.push('\t'),
                    'r' => out.push('\r'),
                    '\n' => {}
                    '\\' | '\'' | '"' => out.push(escaped),
                    '0' => out.push('\0'),
                    other => {
                        out.push('\\');
                        out.push(other);
                    }
                }
            }
            char => out.push(char),
        }
    }
    None
}
