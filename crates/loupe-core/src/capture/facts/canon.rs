//! A text with its own escaping undone, and the way back to the received bytes.
//!
//! One lenient form serves Markdown, JSON, JSON inside JSON, YAML, TOON and CSV: runs of backslashes go, with what
//! they escape in JSON; entities and `<br>` are undone; doubled quotes become one; quotation marks at line starts go.
//! A fact goes through the same mill, so both sides meet whatever the text's escaping was.

use std::ops::Range;

/// A stretch of the canonical text and where it came from, until the next one begins.
#[derive(Clone, Copy)]
struct Piece {
    at: usize,
    from: usize,
    /// The whole stretch stands for the whole source stretch, not byte for byte.
    is_escape: bool,
}

pub(super) struct Canon {
    pub(super) text: String,
    pieces: Vec<Piece>,
    /// Offsets in `text` of pipes that were escaped, and so do not part cells.
    literal_pipes: Vec<usize>,
}

struct Builder<'a> {
    source: &'a str,
    at: usize,
    out: Canon,
}

impl Canon {
    pub(super) fn new(source: &str) -> Self {
        let out = Canon {
            text: String::with_capacity(source.len()),
            pieces: Vec::new(),
            literal_pipes: Vec::new(),
        };
        let mut builder = Builder { source, at: 0, out };
        builder.copy_from(0);
        builder.skip_quote_marks();
        builder.run();
        builder.out
    }

    /// Whether a pipe was escaped in the source.
    pub(super) fn is_literal_pipe(&self, at: usize) -> bool {
        self.literal_pipes.binary_search(&at).is_ok()
    }

    /// The source range of a canonical range.
    pub(super) fn source(&self, range: Range<usize>) -> Range<usize> {
        let start = self
            .pieces
            .partition_point(|piece| piece.at <= range.start)
            .checked_sub(1);
        let start = start
            .and_then(|at| self.pieces.get(at))
            .map_or(range.start, |piece| {
                if piece.is_escape {
                    piece.from
                } else {
                    piece.from + (range.start - piece.at)
                }
            });
        if range.is_empty() {
            return start..start;
        }
        let last = self
            .pieces
            .partition_point(|piece| piece.at < range.end)
            .saturating_sub(1);
        let end = match (self.pieces.get(last), self.pieces.get(last + 1)) {
            (Some(piece), Some(next)) if piece.is_escape => next.from,
            (Some(piece), _) => piece.from + (range.end - piece.at),
            (None, _) => range.end,
        };
        start..end.max(start)
    }
}

impl Builder<'_> {
    fn copy_from(&mut self, from: usize) {
        self.at = from;
        self.piece(from, false);
    }

    fn piece(&mut self, from: usize, is_escape: bool) {
        let piece = Piece {
            at: self.out.text.len(),
            from,
            is_escape,
        };
        match self.out.pieces.last_mut() {
            Some(last) if last.at == piece.at => *last = piece,
            _ => self.out.pieces.push(piece),
        }
    }

    /// Writes `char` instead of the next `len` source bytes.
    fn replace(&mut self, char: char, len: usize) {
        self.piece(self.at, true);
        self.out.text.push(char);
        self.copy_from(self.at + len);
    }

    fn run(&mut self) {
        let bytes = self.source.as_bytes();
        while self.at < bytes.len() {
            let rest = &bytes[self.at..];
            let plain = rest.iter().position(|byte| {
                matches!(
                    byte,
                    b'\\' | b'&' | b'<' | b'"' | b'\'' | b'\n' | b'\r' | 0xe2
                )
            });
            let plain = plain.unwrap_or(rest.len());
            self.out
                .text
                .push_str(&self.source[self.at..self.at + plain]);
            self.at += plain;
            let Some(&byte) = bytes.get(self.at) else {
                break;
            };
            match byte {
                b'\\' => self.backslashes(),
                b'&' => self.entity(),
                b'<' => self.tag(),
                // A true minus sign.
                0xe2 if self.source[self.at..].starts_with('\u{2212}') => {
                    self.replace('-', '\u{2212}'.len_utf8())
                }
                0xe2 => {
                    let char = self.source[self.at..].chars().next().unwrap_or_default();
                    self.out.text.push(char);
                    self.at += char.len_utf8();
                }
                b'\n' => {
                    self.out.text.push('\n');
                    self.at += 1;
                    self.skip_quote_marks();
                }
                b'\r' if bytes.get(self.at + 1) == Some(&b'\n') => self.copy_from(self.at + 1),
                b'\r' => self.replace('\n', 1),
                quote => {
                    // `""` of CSV and `''` of YAML.
                    if self.out.text.as_bytes().last() == Some(&quote) {
                        self.copy_from(self.at + 1);
                    } else {
                        self.out.text.push(char::from(quote));
                        self.at += 1;
                    }
                }
            }
        }
    }

    fn skip_quote_marks(&mut self) {
        let rest = &self.source[self.at..];
        let body = rest.trim_start_matches([' ', '\t']);
        if body.starts_with('>') {
            let text = body.trim_start_matches(['>', ' ', '\t']);
            self.copy_from(self.at + rest.len() - text.len());
        }
    }

    fn backslashes(&mut self) {
        let bytes = self.source.as_bytes();
        let run = bytes[self.at..]
            .iter()
            .take_while(|byte| **byte == b'\\')
            .count();
        let next = self.at + run;
        match bytes.get(next) {
            Some(b'n') => {
                self.replace('\n', run + 1);
                self.skip_quote_marks();
            }
            Some(b'r' | b't' | b'f' | b'b' | b'e' | b'a' | b'v') => self.replace(' ', run + 1),
            Some(b'u') if self.hex(next + 1, 4).is_some() => self.unicode(run),
            Some(b'x') if self.hex(next + 1, 2).is_some() => {
                let char = self
                    .hex(next + 1, 2)
                    .and_then(char::from_u32)
                    .unwrap_or(' ');
                self.replace(char, run + 3);
            }
            Some(b'|') => {
                self.copy_from(next);
                self.out.literal_pipes.push(self.out.text.len());
                self.out.text.push('|');
                self.at += 1;
            }
            _ => self.copy_from(next),
        }
    }

    fn hex(&self, at: usize, len: usize) -> Option<u32> {
        let digits = self.source.get(at..at + len)?;
        digits
            .bytes()
            .all(|byte| byte.is_ascii_hexdigit())
            .then(|| u32::from_str_radix(digits, 16).ok())?
    }

    fn unicode(&mut self, run: usize) {
        let next = self.at + run;
        let code = self.hex(next + 1, 4).unwrap_or_default();
        let mut used = run + 5;
        let mut char = char::from_u32(code);
        if (0xd800..0xdc00).contains(&code) {
            let rest = &self.source.as_bytes()[next + 5..];
            let low_run = rest.iter().take_while(|byte| **byte == b'\\').count();
            if low_run > 0
                && rest.get(low_run) == Some(&b'u')
                && let Some(low @ 0xdc00..0xe000) = self.hex(next + 5 + low_run + 1, 4)
            {
                char = char::from_u32(0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
                used += low_run + 5;
            }
        }
        match char.unwrap_or(char::REPLACEMENT_CHARACTER) {
            '\n' => {
                self.replace('\n', used);
                self.skip_quote_marks();
            }
            char if char.is_control() => self.replace(' ', used),
            char => self.replace(char, used),
        }
    }

    fn entity(&mut self) {
        let rest = &self.source[self.at + 1..];
        // `&amp;lt;` is what becomes of `&lt;` when a text is escaped twice.
        let mut body = rest;
        while let Some(inner) = body.strip_prefix("amp;") {
            body = inner;
        }
        let skipped = 1 + rest.len() - body.len();
        match character(body) {
            Some((len, '<')) if line_break(&body[len - 1..]).is_some() => {
                let tag = line_break(&body[len - 1..]).unwrap_or_default();
                self.replace(' ', skipped + len + tag - 1);
                self.skip_quote_marks();
            }
            Some((len, char)) => {
                if char == '|' {
                    self.out.literal_pipes.push(self.out.text.len());
                }
                self.replace(if char.is_control() { ' ' } else { char }, skipped + len);
            }
            None => self.replace('&', skipped),
        }
    }

    fn tag(&mut self) {
        match line_break(&self.source[self.at..]) {
            Some(len) => {
                self.replace(' ', len);
                self.skip_quote_marks();
            }
            None => {
                self.out.text.push('<');
                self.at += 1;
            }
        }
    }
}

/// The character that an entity stands for, by what follows its `&`, and the length of that: named, decimal or hexadecimal.
fn character(body: &str) -> Option<(usize, char)> {
    let named = [
        ("lt;", '<'),
        ("gt;", '>'),
        ("quot;", '"'),
        ("apos;", '\''),
        ("nbsp;", ' '),
    ];
    if let Some((name, char)) = named.iter().find(|(name, _)| body.starts_with(name)) {
        return Some((name.len(), *char));
    }
    // No character has more digits than this.
    let end = body.bytes().take(10).position(|byte| byte == b';')?;
    let digits = body[..end].strip_prefix('#')?;
    let code = match digits.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    Some((end + 1, char::from_u32(code.ok()?)?))
}

/// The length of a `<br>` whose `<` is the first byte, however that one is written.
fn line_break(text: &str) -> Option<usize> {
    let rest = text.as_bytes().get(1..)?;
    let tails: [&[u8]; 3] = [b"br>", b"br/>", b"br />"];
    tails
        .iter()
        .find(|tail| {
            rest.get(..tail.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(tail))
        })
        .map(|tail| tail.len() + 1)
}

/// Whether a character is white space to the matcher: any run of them equals any other.
pub(super) fn is_space(char: char) -> bool {
    char.is_whitespace() || char.is_control()
}

/// A value as it is looked for: escaping undone, white space folded.
pub(super) fn needle(value: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"\\&<>\"'".contains(&byte);
    if value
        .split(' ')
        .all(|word| !word.is_empty() && word.bytes().all(is_plain))
    {
        return value.to_owned();
    }
    let canon = Canon::new(value).text;
    let mut out = String::with_capacity(canon.len());
    for word in canon.split(is_space).filter(|word| !word.is_empty()) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapings_meet() {
        let value = "C:\\new \"x\" | a<b & <br> é\n> 'q'";
        let wanted = needle(value);
        let json = crate::json::write::string(value);
        let twice = crate::json::write::string(&json);
        let markdown = "C:\\\\new \"x\" \\| a&lt;b &amp; &lt;br> é<br>> 'q'";
        let csv = "C:\\new \"\"x\"\" | a<b & <br> é\n> 'q'";
        for text in [json.as_str(), &twice, markdown, csv] {
            assert!(
                needle(text).contains(&wanted),
                "{:?} has no {wanted:?}",
                needle(text)
            );
        }
        assert_eq!(
            needle("A &amp;lt; \\u0042 \\ud83d\\ude00 &#x27; &#233; &#xZ; −1"),
            "A < B 😀 ' é &#xZ; -1"
        );
    }

    #[test]
    fn ranges_lead_back() {
        let source = "a &lt;b\\\"c\\u00e9 \\| d";
        let canon = Canon::new(source);
        assert_eq!(canon.text, "a <b\"cé | d");
        assert_eq!(&source[canon.source(2..4)], "&lt;b");
        assert_eq!(&source[canon.source(5..8)], "c\\u00e9");
        assert_eq!(&source[canon.source(3..4)], "b");
        assert!(canon.is_literal_pipe(9));
        let whole = canon.source(0..canon.text.len());
        assert_eq!(whole, 0..source.len());
    }
}
