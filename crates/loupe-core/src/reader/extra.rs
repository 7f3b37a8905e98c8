//! What a text says beyond the data that was read from it: all that is no value, no label and no layout.

use std::ops::Range;

use super::build::{Segment, small};
use super::{TextBlock, TextData};

/// A value, a label or layout of a block.
#[derive(Clone, Copy)]
struct Part {
    block: u32,
    start: u32,
    end: u32,
    is_value: bool,
}

impl TextData {
    /// Text that is no value, label or layout: block and bytes, in order, one range per line at most between two values.
    pub fn extra(&self, blocks: &[TextBlock<'_>]) -> Vec<(usize, Range<usize>)> {
        let parts = self.parts();
        let mut found = Vec::new();
        for block in blocks {
            let own = parts_of(&parts, block.block);
            push_extra(block, own, &mut found);
        }
        found
    }

    /// Puts the labels in order, and says what the text's layout, labels and values are together.
    pub(super) fn account(&mut self, blocks: &[TextBlock<'_>]) {
        if !self
            .labels
            .is_sorted_by(|a, b| (a.0, a.1.end) <= (b.0, b.1.start))
        {
            self.labels
                .sort_by_key(|(block, range)| (*block, range.start, range.end));
            self.labels.dedup();
        }
        self.labels.shrink_to_fit();
        let parts = self.parts();
        let (mut covered, mut extra) = (Vec::new(), Vec::new());
        for block in blocks {
            let own = parts_of(&parts, block.block);
            if own.is_empty() {
                continue;
            }
            extra.clear();
            push_extra(block, own, &mut extra);
            let mut end = 0;
            for (_, range) in &extra {
                covered.push((block.block, end..range.start));
                end = range.end;
            }
            covered.push((block.block, end..block.text.len()));
        }
        covered.retain(|(_, range)| !range.is_empty());
        self.covered = covered;
    }

    /// All that is accounted for, by block and place.
    fn parts(&self) -> Vec<Part> {
        let part = |is_value| {
            move |(block, range): &(usize, Range<usize>)| Part {
                block: small(*block),
                start: small(range.start),
                end: small(range.end),
                is_value,
            }
        };
        let value = |segment: &Segment| part(true)(&(segment.block(), segment.text()));
        let count =
            self.segments.len() + self.labels.len() + self.layout.len() + self.continuations.len();
        let mut parts = Vec::with_capacity(count);
        parts.extend(self.segments.iter().map(value));
        parts.extend(self.continuations.iter().map(part(true)));
        parts.extend(self.labels.iter().map(part(false)));
        parts.extend(self.layout.iter().map(part(false)));
        // Runs that are in order, which this sort merges.
        parts.sort_by_key(|part| (part.block, part.start));
        parts
    }
}

/// Bytes behind a gap between two parts that are looked at.
const BEHIND: usize = 16;

fn parts_of(parts: &[Part], block: usize) -> &[Part] {
    let block = small(block);
    let start = parts.partition_point(|part| part.block < block);
    &parts[start..start + parts[start..].partition_point(|part| part.block == block)]
}

/// Adds what stands between the parts of a block and says something.
fn push_extra(block: &TextBlock<'_>, parts: &[Part], found: &mut Vec<(usize, Range<usize>)>) {
    let mut end = 0;
    let mut push = |gap: Range<usize>, is_before_value: bool| {
        let text = &block.text[gap.clone()];
        if !text
            .bytes()
            .any(|byte| may_say(byte) || matches!(byte, b'/' | b'~'))
            && !is_before_value
        {
            return;
        }
        let mut at = gap.start;
        for line in text.split_inclusive('\n') {
            let is_last = at + line.len() == gap.end;
            let said = saying(line, is_last && is_before_value);
            // A sign that ends in the gap, with what tells whether it is one behind it.
            let end = block
                .text
                .ceil_char_boundary((at + line.len() + BEHIND).min(block.text.len()));
            let near = block.text[at..end].lines().next().unwrap_or_default();
            let signs = comment_signs(near)
                .into_iter()
                .filter(|sign| sign.end <= line.len());
            if let Some(range) = said
                .into_iter()
                .chain(signs)
                .reduce(|all, one| all.start.min(one.start)..all.end.max(one.end))
            {
                found.push((block.block, at + range.start..at + range.end));
            }
            at += line.len();
        }
    };
    for part in parts {
        let (start, part_end) = (part.start as usize, part.end as usize);
        if start > end {
            push(end..start, part.is_value && part_end > start);
        }
        end = end.max(part_end);
    }
    if end < block.text.len() {
        push(end..block.text.len(), false);
    }
}

/// Whether a byte is none of the layout's; one of a longer character may be, and so may a dot.
fn may_say(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'%' | b'$' | b'.') || byte >= 0x80
}

/// Whether a character says something by itself: letters, digits, pictograms, signs of currencies.
pub fn says(char: char) -> bool {
    match char {
        '%' | '$' => true,
        _ if char.is_ascii() => char.is_ascii_alphanumeric(),
        '…' => true,
        // Bullets, dashes and quotes, arrows to the side, and the lines that tables are drawn with.
        '·' | '•' | '‣' | '◦' | '▪' | '«' | '»' | '‹' | '›' | '¦' | '←' | '→' | '⇒' | '↳' => {
            false
        }
        '\u{2010}'..='\u{201f}' | '\u{2500}'..='\u{257f}' => false,
        '、' | '。' | '：' | '，' | '；' | '「' | '」' | '（' | '）' | '【' | '】' | '¡' | '¿' => {
            false
        }
        // Marks of zero width.
        '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{fe0e}' | '\u{fe0f}' => false,
        _ => !char.is_whitespace(),
    }
}

/// The signs of a line that make a comment of what is next to them, or strike it: `//`, `/*`, `*/`, `~~`, and `#`, `;`,
/// `--` or `!` before JSON. No letter is in them, and yet they say something.
pub(crate) fn comment_signs(line: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let body = line.trim_start();
    let start = line.len() - body.len();
    for sign in ["#", ";", "--", "!"] {
        let Some(after) = body.strip_prefix(sign).map(str::trim_start) else {
            continue;
        };
        if after.starts_with('{') || after.starts_with("[{") || after.starts_with("[\"") {
            found.push(start..start + sign.len());
        }
    }
    for sign in ["//", "/*", "*/", "~~"] {
        for (at, _) in line.match_indices(sign) {
            let (before, after) = (
                line[..at].chars().next_back(),
                line[at + sign.len()..].chars().next(),
            );
            // Part of a word, an address, a fence or emphasis.
            let is_other =
                |char: char| char.is_alphanumeric() || matches!(char, ':' | '~' | '*' | '/');
            if !before.is_some_and(is_other)
                && !after.is_some_and(|char| matches!(char, '~' | '*' | '/'))
            {
                found.push(at..at + sign.len());
            }
        }
    }
    found
}

/// What a line says, from its first character that does to its last, with the punctuation at both.
fn saying(line: &str, is_before_value: bool) -> Option<Range<usize>> {
    let mut found: Option<Range<usize>> = None;
    let mut dots = 0;
    for (at, char) in line.char_indices() {
        dots = if char == '.' { dots + 1 } else { 0 };
        let start = if dots == 3 { at - 2 } else { at };
        if dots >= 3 || says(char) {
            let end = at + char.len_utf8();
            found = Some(found.map_or(start, |found| found.start)..end);
        }
    }
    // `~5`, but no arrow.
    let is_sign = |line: &str| {
        let before = line.strip_suffix(['<', '>', '~', '+']);
        before.is_some_and(|before| !before.ends_with(['-', '=']))
    };
    if is_before_value && is_sign(line) {
        found = Some(found.map_or(line.len() - 1, |found| found.start)..line.len());
    }
    found.map(|found| widen(line, found))
}

/// With brackets, quotes and emphasis around it, the mark of a comment before it, and what ends a sentence after it.
fn widen(line: &str, found: Range<usize>) -> Range<usize> {
    const BEFORE: &[char] = &[
        '(', '[', '{', '"', '\'', '`', '*', '_', '<', '@', '#', '/', '.', '~', '-', '+', '\\',
    ];
    const AFTER: &[char] = &[
        ')', ']', '}', '"', '\'', '`', '*', '_', '>', '.', '!', '?', ':', '/', '-', '+', '=', '\\',
    ];
    let mut start = line[..found.start].trim_end_matches(BEFORE).len();
    let mut end = line.len() - line[found.end..].trim_start_matches(AFTER).len();
    let before = line[..start].trim_end();
    let comment = ["<!--", "//", "#"]
        .into_iter()
        .find(|mark| before.ends_with(mark));
    if let Some(mark) = comment {
        start = before
            .trim_end_matches('#')
            .len()
            .min(before.len() - mark.len());
        if mark == "<!--" && line[end..].trim_start().starts_with("-->") {
            end = line.len() - line[end..].trim_start().len() + "-->".len();
        }
    }
    start..end
}
