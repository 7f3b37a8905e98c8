//! The escaping of strings that all of Loupe's own JSON uses: only what RFC 8259 demands.

use std::fmt::Write;

use super::{Kind, Node, decode_escape, hex4, inside, lossy};

/// Appends `text` as a JSON string with its quotes: escapes `"`, `\` and U+0000–1F, the short forms where there
/// are any, `\u00xx` in lower case otherwise. Everything else stays literal.
pub fn push_string(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest
        .bytes()
        .position(|byte| byte < b' ' || matches!(byte, b'"' | b'\\'))
    {
        out.push_str(&rest[..at]);
        push_char(out, char::from(rest.as_bytes()[at]));
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
    out.push('"');
}

fn push_char(out: &mut String, char: char) {
    match char {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        char if char < ' ' => {
            // Writing into a String cannot fail.
            write!(out, "\\u{:04x}", u32::from(char)).ok();
        }
        char => out.push(char),
    }
}

/// `text` as a JSON string with its quotes.
pub fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_string(&mut out, text);
    out
}

/// Appends a received string, given its inside, with its escapes brought into the form of [`push_string`]. Half a
/// surrogate pair keeps its escape, since no other spelling holds it; bad UTF-8 becomes U+FFFD.
pub fn push_raw(out: &mut String, raw: &[u8]) {
    out.push('"');
    if raw.contains(&b'\\') {
        push_escaped(out, raw);
    } else {
        out.push_str(&lossy(raw));
    }
    out.push('"');
}

fn push_escaped(out: &mut String, raw: &[u8]) {
    let mut rest = raw;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.push_str(&lossy(&rest[..at]));
        let (char, used) = decode_escape(&rest[at..]);
        match hex4(&rest[at..]) {
            Some(code @ 0xd800..0xe000) if used == 6 => {
                write!(out, "\\u{code:04x}").ok();
            }
            _ => push_char(out, char),
        }
        rest = &rest[at + used..];
    }
    out.push_str(&lossy(rest));
}

/// Appends a scalar: a number as it was spelled, a string by [`push_raw`].
pub fn push_scalar(out: &mut String, node: Node<'_>) {
    if node.kind() == Kind::String {
        push_raw(out, inside(node.raw()));
    } else {
        out.push_str(&node.raw_text());
    }
}
