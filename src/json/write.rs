//! The escaping of strings that all of Loupe's own JSON uses: only what RFC 8259 demands.

use std::fmt::Write;

/// Appends `text` as a JSON string with its quotes: escapes `"`, `\` and U+0000–1F, the short forms where there
/// are any, `\u00xx` in lower case otherwise. Everything else stays literal.
pub fn push_string(out: &mut String, text: &str) {
    out.push('"');
    for char in text.chars() {
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
    out.push('"');
}

/// `text` as a JSON string with its quotes.
pub fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_string(&mut out, text);
    out
}
