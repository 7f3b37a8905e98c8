//! A message that a server prints over several lines, put together again. Each byte is looked at once: what is open is
//! remembered from line to line.

use std::time::Instant;

/// How far it is put together.
const SPREAD_BYTES: usize = 4 << 20;

/// Lines of an object that is not closed yet.
pub(super) struct Spread {
    pub text: Vec<u8>,
    pub begun: Instant,
    /// Brackets that are open.
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
}

impl Spread {
    pub(super) fn begin(line: &[u8], begun: Instant) -> Self {
        let mut spread = Self {
            text: line.to_vec(),
            begun,
            depth: 0,
            is_in_string: false,
            is_escaped: false,
        };
        spread.look(line);
        spread
    }

    /// The next line. `false` where it got too large to go on.
    pub(super) fn add(&mut self, line: &[u8]) -> bool {
        if self.text.len() + 1 + line.len() > SPREAD_BYTES {
            return false;
        }
        self.text.push(b'\n');
        self.text.extend_from_slice(line);
        // The line end is what an escape at the end of the line before escapes.
        self.is_escaped = false;
        self.look(line);
        true
    }

    /// Whether the outermost object is still to be closed.
    pub(super) fn is_open(&self) -> bool {
        self.depth > 0
    }

    fn look(&mut self, line: &[u8]) {
        for byte in line {
            match byte {
                _ if std::mem::take(&mut self.is_escaped) => {}
                b'\\' if self.is_in_string => self.is_escaped = true,
                b'"' => self.is_in_string = !self.is_in_string,
                b'{' | b'[' if !self.is_in_string => self.depth += 1,
                b'}' | b']' if !self.is_in_string => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return;
                    }
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_open_until_its_own_bracket_closes_it() {
        let open_after = |lines: &[&str]| {
            let mut spread = Spread::begin(lines[0].as_bytes(), Instant::now());
            let mut open = vec![spread.is_open()];
            for line in &lines[1..] {
                assert!(spread.add(line.as_bytes()));
                open.push(spread.is_open());
            }
            assert_eq!(spread.text, lines.join("\n").as_bytes());
            open
        };
        assert_eq!(
            open_after(&["{", "\"a\": [{", "}", "]", "}"]),
            [true, true, true, true, false]
        );
        // Brackets and quotes within a string, a string over two lines, and an end in the midst of a line.
        assert_eq!(
            open_after(&["{\"a\": \"}\\\"}", "} \\", "\", \"b\":", "1} x"]),
            [true, true, true, false]
        );
        let mut spread = Spread::begin(b"{", Instant::now());
        assert!(!spread.add(&vec![b' '; SPREAD_BYTES]));
    }
}
