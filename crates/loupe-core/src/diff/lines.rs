//! Two texts by line, and by word within the lines that changed.

use std::collections::HashMap;
use std::ops::Range;
use std::time::Instant;

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

/// In longer lines only what is equal at both ends is left out.
const MAX_WORDS_BYTES: usize = 8 << 10;
/// Less in common than this share, and a changed line is shown as another line.
const ALIKE: f64 = 0.3;

/// How two texts are compared.
#[derive(Clone, Debug)]
pub struct LineOptions {
    /// Unchanged lines shown around what changed.
    pub context: usize,
    /// Lines kept in all hunks together; the rest of what changed is counted.
    pub keep: usize,
    /// After it no shorter way is looked for: the hunks are right, but may be longer than they need be. Without one,
    /// two long texts with nothing in common take the product of their lengths.
    pub deadline: Option<Instant>,
}

impl Default for LineOptions {
    fn default() -> Self {
        Self {
            context: 3,
            keep: 20_000,
            deadline: None,
        }
    }
}

/// Where a line stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::IntoStaticStr)]
pub enum Side {
    /// In both; its text is that of A.
    #[strum(serialize = "equal")]
    Both,
    /// In A alone: removed.
    #[strum(serialize = "remove")]
    A,
    /// In B alone: added.
    #[strum(serialize = "add")]
    B,
}

impl Side {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// One line of a hunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffLine {
    pub side: Side,
    /// Line numbers from 1.
    pub a: Option<usize>,
    pub b: Option<usize>,
    /// Bytes of the line, without its end, in the text of B for [`Side::B`], else in that of A.
    pub range: Range<usize>,
    /// What changed within the line, in bytes from its beginning; empty where the line as a whole did.
    pub words: Vec<Range<usize>>,
}

/// Lines that changed, with what stands around them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk {
    /// Line numbers of A and of B, from 1.
    pub a: Range<usize>,
    pub b: Range<usize>,
    pub lines: Vec<DiffLine>,
}

/// The differences of two texts. A text's lines are what stands between its LFs, so a last LF makes one more, empty line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextDiff {
    pub hunks: Vec<Hunk>,
    /// Lines in B alone and in A alone, kept or not.
    pub added: u64,
    pub removed: u64,
    /// Changed lines that are counted, but not kept.
    pub more: u64,
}

impl TextDiff {
    pub fn is_empty(&self) -> bool {
        self.added + self.removed == 0
    }
}

/// The lines of a text, without their ends.
struct Lines<'t> {
    text: &'t str,
    ranges: Vec<Range<usize>>,
}

impl<'t> Lines<'t> {
    fn new(text: &'t str) -> Self {
        let mut ranges = Vec::new();
        let mut start = 0;
        for line in text.split('\n') {
            ranges.push(start..start + line.len());
            start += line.len() + 1;
        }
        Self { text, ranges }
    }

    fn get(&self, at: usize) -> &'t str {
        &self.text[self.ranges[at].clone()]
    }

    /// Numbers that are equal where lines are.
    fn numbers(&self, known: &mut HashMap<&'t str, u32>) -> Vec<u32> {
        let number = |at: usize| {
            let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
            *known.entry(self.get(at)).or_insert(next)
        };
        (0..self.ranges.len()).map(number).collect()
    }
}

/// Compares two texts.
pub fn lines(a: &str, b: &str, options: &LineOptions) -> TextDiff {
    if a == b {
        return TextDiff::default();
    }
    let (old, new) = (Lines::new(a), Lines::new(b));
    let mut known = HashMap::new();
    let (from, to) = (old.numbers(&mut known), new.numbers(&mut known));
    let ops = capture_diff_slices_deadline(Algorithm::Myers, &from, &to, options.deadline);
    let mut hunks = Hunks {
        old: &old,
        new: &new,
        options,
        found: TextDiff::default(),
        kept: 0,
        is_open: false,
    };
    for (at, op) in ops.iter().enumerate() {
        match *op {
            DiffOp::Equal {
                old_index,
                new_index,
                len,
            } => {
                hunks.equal(old_index, new_index, len, at == 0, at + 1 == ops.len());
            }
            DiffOp::Delete {
                old_index,
                old_len,
                new_index,
            } => hunks.changed(old_index, old_len, new_index, 0),
            DiffOp::Insert {
                old_index,
                new_index,
                new_len,
            } => hunks.changed(old_index, 0, new_index, new_len),
            DiffOp::Replace {
                old_index,
                old_len,
                new_index,
                new_len,
            } => {
                hunks.changed(old_index, old_len, new_index, new_len);
            }
        }
    }
    hunks.found
}

struct Hunks<'t, 'o> {
    old: &'o Lines<'t>,
    new: &'o Lines<'t>,
    options: &'o LineOptions,
    found: TextDiff,
    kept: usize,
    is_open: bool,
}

impl Hunks<'_, '_> {
    fn is_full(&self) -> bool {
        self.kept >= self.options.keep
    }

    /// Adds lines that are in both.
    fn push_equal(&mut self, a: usize, b: usize, len: usize) {
        if len == 0 || self.is_full() {
            return;
        }
        if !self.is_open {
            self.found.hunks.push(Hunk {
                a: a + 1..a + 1,
                b: b + 1..b + 1,
                lines: Vec::new(),
            });
            self.is_open = true;
        }
        let Some(hunk) = self.found.hunks.last_mut() else {
            return;
        };
        for at in 0..len {
            let range = self.old.ranges[a + at].clone();
            let (a, b) = (Some(a + at + 1), Some(b + at + 1));
            hunk.lines.push(DiffLine {
                side: Side::Both,
                a,
                b,
                range,
                words: Vec::new(),
            });
        }
        (hunk.a.end, hunk.b.end) = (a + len + 1, b + len + 1);
        self.kept += len;
    }

    fn equal(&mut self, a: usize, b: usize, len: usize, is_first: bool, is_last: bool) {
        let context = self.options.context;
        let before = if is_last { 0 } else { context.min(len) };
        let after = if is_first { 0 } else { context.min(len) };
        if before + after >= len && !is_first && !is_last {
            self.push_equal(a, b, len);
            return;
        }
        self.push_equal(a, b, after);
        if !is_last {
            self.is_open = false;
            self.push_equal(a + len - before, b + len - before, before);
        }
    }

    fn changed(&mut self, a: usize, a_len: usize, b: usize, b_len: usize) {
        self.found.removed += a_len as u64;
        self.found.added += b_len as u64;
        if !self.is_open && !self.is_full() {
            self.found.hunks.push(Hunk {
                a: a + 1..a + 1,
                b: b + 1..b + 1,
                lines: Vec::new(),
            });
            self.is_open = true;
        }
        let room = self.options.keep.saturating_sub(self.kept);
        let (a_kept, b_kept) = (a_len.min(room), b_len.min(room.saturating_sub(a_len)));
        self.found.more += (a_len - a_kept + b_len - b_kept) as u64;
        self.kept += a_kept + b_kept;
        let Some(hunk) = self
            .found
            .hunks
            .last_mut()
            .filter(|_| a_kept > 0 || b_kept > 0)
        else {
            return;
        };
        let mut paired = Vec::with_capacity(a_kept.min(b_kept));
        for at in 0..a_kept.min(b_kept) {
            paired.push(words(
                self.old.get(a + at),
                self.new.get(b + at),
                self.options.deadline,
            ));
        }
        for at in 0..a_kept {
            let words = paired
                .get(at)
                .map(|pair| pair.0.clone())
                .unwrap_or_default();
            hunk.lines.push(DiffLine {
                side: Side::A,
                a: Some(a + at + 1),
                b: None,
                range: self.old.ranges[a + at].clone(),
                words,
            });
        }
        for at in 0..b_kept {
            let words = paired
                .get(at)
                .map(|pair| pair.1.clone())
                .unwrap_or_default();
            hunk.lines.push(DiffLine {
                side: Side::B,
                a: None,
                b: Some(b + at + 1),
                range: self.new.ranges[b + at].clone(),
                words,
            });
        }
        (hunk.a.end, hunk.b.end) = (a + a_kept + 1, b + b_kept + 1);
    }
}

/// Whether a character belongs to the one before it: joiners, variation selectors, skin tones, combining accents.
fn joins(char: char) -> bool {
    matches!(char, '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{300}'..='\u{36f}' | '\u{20d0}'..='\u{20ff}')
}

/// Runs of letters and digits, runs of spaces, and single other characters with what belongs to them.
fn cut(line: &str) -> Vec<Range<usize>> {
    let class = |char: char| match char {
        char if char.is_alphanumeric() => 1,
        char if char.is_whitespace() => 2,
        _ => 0,
    };
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut last = 0;
    let mut is_joined = false;
    for (at, char) in line.char_indices() {
        let end = at + char.len_utf8();
        let belongs = is_joined || joins(char);
        match words.last_mut() {
            Some(word) if belongs || (last != 0 && class(char) == last) => word.end = end,
            _ => words.push(at..end),
        }
        last = if belongs { last } else { class(char) };
        is_joined = char == '\u{200d}';
    }
    words
}

type Ranges = Vec<Range<usize>>;

/// What changed within two lines; nothing where they have too little in common.
fn words(a: &str, b: &str, deadline: Option<Instant>) -> (Ranges, Ranges) {
    if a.len().max(b.len()) > MAX_WORDS_BYTES {
        return ends(a, b);
    }
    let (from, to) = (cut(a), cut(b));
    let (old, new): (Vec<&str>, Vec<&str>) = (
        from.iter().map(|word| &a[word.clone()]).collect(),
        to.iter().map(|word| &b[word.clone()]).collect(),
    );
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    let mut common = 0;
    let weight = |words: &[&str]| words.iter().map(|word| word.trim().len()).sum::<usize>();
    for op in capture_diff_slices_deadline(Algorithm::Myers, &old, &new, deadline) {
        let (was, is) = (op.old_range(), op.new_range());
        if matches!(op, DiffOp::Equal { .. }) {
            common += weight(&old[was]);
            continue;
        }
        push(&mut removed, &from[was]);
        push(&mut added, &to[is]);
    }
    let longer = weight(&old).max(weight(&new));
    if longer > 0 && (common as f64) < ALIKE * longer as f64 {
        (Vec::new(), Vec::new())
    } else {
        (removed, added)
    }
}

fn push(ranges: &mut Ranges, words: &[Range<usize>]) {
    if let (Some(first), Some(last)) = (words.first(), words.last()) {
        ranges.push(first.start..last.end);
    }
}

/// All but what is equal at both ends.
fn ends(a: &str, b: &str) -> (Ranges, Ranges) {
    let start = a
        .char_indices()
        .zip(b.chars())
        .find(|((_, a), b)| a != b)
        .map_or(a.len().min(b.len()), |((at, _), _)| at);
    let (a_rest, b_rest) = (&a[start..], &b[start..]);
    let end: usize = a_rest
        .chars()
        .rev()
        .zip(b_rest.chars().rev())
        .take_while(|(a, b)| a == b)
        .map(|(a, _)| a.len_utf8())
        .sum();
    let range = |line: &str| start..line.len() - end;
    let filled = |range: Range<usize>| {
        if range.is_empty() {
            Vec::new()
        } else {
            vec![range]
        }
    };
    (filled(range(a)), filled(range(b)))
}
