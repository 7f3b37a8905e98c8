//! What of a server's texts could lead a model that reads them: characters that nobody sees are marked, and control tokens
//! broken up.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use loupe_analysis::queries::invisible_chars;

/// As the rule `markdown/special-token` looks for them.
static TOKENS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(<|\[)(\|[a-z_]{2,24}\|>|/?INST\]|/?(?:tool_result|function_results|system)>)")
        .ok()
});

/// JSON with a mark such as `⟨U+202E⟩` for each character that cannot be seen, written as it is or as an escape, and with a
/// space in what is a control token of some model. Spaces of every width stay, and what joins emoji and the letters of
/// many scripts.
pub fn json(text: String) -> String {
    let text = match TOKENS
        .as_ref()
        .map(|tokens| tokens.replace_all(&text, "$1 $2"))
    {
        Some(Cow::Owned(broken)) => broken,
        _ => text,
    };
    if text.is_ascii() && !text.contains('\\') {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(char) = rest.chars().next() {
        let (char, length) = if char == '\\' {
            escaped(rest)
        } else {
            (Some(char), char.len_utf8())
        };
        match char.and_then(|char| mark(char, &out)) {
            Some(name) => out.push_str(&format!("⟨{name}⟩")),
            None => out.push_str(&rest[..length]),
        }
        rest = &rest[length..];
    }
    out
}

/// The character of the escape that the text begins with, and the escape's length. Line ends and tabs are none to mark.
fn escaped(text: &str) -> (Option<char>, usize) {
    let unit = |at: usize| {
        text.get(at..at + 6)?
            .strip_prefix("\\u")
            .and_then(|hex| u32::from_str_radix(hex, 16).ok())
    };
    match text.as_bytes().get(1) {
        Some(b'u') => match (unit(0), unit(6)) {
            (Some(high @ 0xd800..0xdc00), Some(low @ 0xdc00..0xe000)) => (
                char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)),
                12,
            ),
            (Some(unit), _) => (char::from_u32(unit), 6),
            (None, _) => (None, 2),
        },
        Some(b'b') => (Some('\u{8}'), 2),
        Some(b'f') => (Some('\u{c}'), 2),
        _ => (None, text.len().min(2)),
    }
}

fn mark(char: char, before: &str) -> Option<String> {
    let is_space = matches!(
        char,
        '\t' | '\n' | '\r' | '\u{a0}' | '\u{2000}'
            ..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
    );
    let joins = matches!(char, '\u{200c}' | '\u{200d}')
        && before
            .chars()
            .next_back()
            .is_some_and(|before| before >= '\u{600}');
    invisible_chars::name(char)
        .filter(|_| !is_space && !joins)
        .map(Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_marked_and_the_rest_stays() {
        let cases = [
            (
                r#"{"a":"plain \n \" \\u202e"}"#,
                r#"{"a":"plain \n \" \\u202e"}"#,
            ),
            (
                r#"["\u202eabc\u001b[2J\b"]"#,
                r#"["⟨U+202E⟩abc⟨ESC⟩[2J⟨BS⟩"]"#,
            ),
            (
                "[\"\u{202e}x\u{200b}\u{feff}\"]",
                "[\"⟨U+202E⟩x⟨ZWSP⟩⟨BOM⟩\"]",
            ),
            (
                r#"["\udb40\udc41 \ud83d\ude00"]"#,
                r#"["⟨U+E0041⟩ \ud83d\ude00"]"#,
            ),
            (
                "[\"👩\u{200d}💻 a\u{200d}b\u{3000}\"]",
                "[\"👩\u{200d}💻 a⟨ZWJ⟩b\u{3000}\"]",
            ),
            (r#"["\ud800"]"#, r#"["\ud800"]"#),
            (
                r#"["<|endoftext|> </system> [INST] a<|b"]"#,
                r#"["< |endoftext|> < /system> [ INST] a<|b"]"#,
            ),
        ];
        for (text, shown) in cases {
            assert_eq!(json(text.to_owned()), shown);
        }
    }
}
