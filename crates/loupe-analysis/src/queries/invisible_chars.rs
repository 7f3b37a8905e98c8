//! Characters that cannot be seen, and the names they are shown by. What is copied is always the original.

use std::borrow::Cow;
use std::ops::Range;

/// Control characters by name, C0 then DEL.
const C0: [&str; 32] = [
    "NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "TAB", "LF", "VT", "FF", "CR",
    "SO", "SI", "DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC",
    "FS", "GS", "RS", "US",
];

/// The name of a character that has no ink of its own; `None` for one that can be seen. Space, tab and line feed are
/// not special, nor are variation selectors: they belong to the emoji before them.
pub fn name(char: char) -> Option<Cow<'static, str>> {
    let code = u32::from(char);
    let name = match code {
        0x09 | 0x0a | 0xfe0e | 0xfe0f => return None,
        0..0x20 => C0[code as usize],
        0x7f => "DEL",
        0xa0 => "NBSP",
        0xad => "SHY",
        0x200b => "ZWSP",
        0x200c => "ZWNJ",
        0x200d => "ZWJ",
        0x2060 => "WJ",
        0xfeff => "BOM",
        0x80..0xa0
        | 0x61c
        | 0x180e
        | 0x2000..=0x200f
        | 0x2028..=0x202f
        | 0x205f..=0x206f
        | 0x3000
        | 0x3164
        | 0xfff9..=0xfffb
        | 0xe000..=0xf8ff
        | 0xe0000..=0xe01ef
        | 0xf_0000..=0x10_ffff => return Some(format!("U+{code:04X}").into()),
        _ => return None,
    };
    Some(name.into())
}

/// Whether the text holds a character with a [`name`]; a plain scan, since nearly all text is ASCII.
pub fn any(text: &str) -> bool {
    if text.is_ascii() {
        text.bytes()
            .any(|byte| byte < 0x20 && byte != b'\n' && byte != b'\t' || byte == 0x7f)
    } else {
        text.chars().any(|char| name(char).is_some())
    }
}

/// A text as it is shown: special characters are replaced by their names, and the places of those are known.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Shown {
    pub text: String,
    /// For each name: its byte range in `text`, and the byte range of the character in the source.
    pub names: Vec<(Range<usize>, Range<usize>)>,
}

impl Shown {
    pub fn of(source: &str) -> Self {
        let mut shown = Self::default();
        if !any(source) {
            shown.text = source.to_owned();
            return shown;
        }
        for (at, char) in source.char_indices() {
            match name(char) {
                Some(name) => {
                    let start = shown.text.len();
                    shown.text.push_str(&name);
                    shown
                        .names
                        .push((start..shown.text.len(), at..at + char.len_utf8()));
                }
                None => shown.text.push(char),
            }
        }
        shown
    }

    /// Where a source offset is in the shown text.
    pub fn to_shown(&self, source: usize) -> usize {
        let mut delta = 0_isize;
        for (shown, original) in &self.names {
            if source < original.end {
                return if source <= original.start {
                    source.saturating_add_signed(delta)
                } else {
                    shown.start
                };
            }
            delta = shown.end.cast_signed() - original.end.cast_signed();
        }
        source.saturating_add_signed(delta)
    }

    /// The source offset of a place in the shown text; within a name, where its character begins.
    pub fn to_source(&self, at: usize) -> usize {
        let mut delta = 0_isize;
        for (shown, original) in &self.names {
            if at < shown.end {
                return if at <= shown.start {
                    at.saturating_add_signed(delta)
                } else {
                    original.start
                };
            }
            delta = original.end.cast_signed() - shown.end.cast_signed();
        }
        at.saturating_add_signed(delta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_have_names() {
        for (char, expected) in [
            ('\u{1b}', "ESC"),
            ('\u{200b}', "ZWSP"),
            ('\u{202e}', "U+202E"),
            ('\r', "CR"),
            ('\u{e0041}', "U+E0041"),
        ] {
            assert_eq!(name(char).as_deref(), Some(expected));
        }
        for char in [' ', '\t', '\n', 'a', 'é', '🟢', '\u{fe0f}'] {
            assert_eq!(name(char), None, "{char:?}");
        }
    }

    #[test]
    fn places_are_found_both_ways() {
        let shown = Shown::of("a\u{1b}é\u{200b}z");
        assert_eq!(shown.text, "aESCéZWSPz");
        let (source, place): (Vec<_>, Vec<_>) = [(0, 0), (1, 1), (2, 4), (4, 6), (7, 10), (8, 11)]
            .into_iter()
            .unzip();
        assert_eq!(
            source
                .iter()
                .map(|&at| shown.to_shown(at))
                .collect::<Vec<_>>(),
            place
        );
        assert_eq!(
            place
                .iter()
                .map(|&at| shown.to_source(at))
                .collect::<Vec<_>>(),
            source
        );
        assert_eq!(shown.to_source(2), 1);
    }
}
