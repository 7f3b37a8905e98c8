//! Where a host cuts: its limits, tried in order, on the whole result or on its parts.
//!
//! A cut never splits a character: where the host itself would, the half is left out and [`Truncation`] says so.

use std::ops::Range;

use super::parts::Raw;
use super::rules::{Applies, Evidence, Host, KeepRule, LimitRule, LimitUnit};
use super::source_map::{SourceMapped, TextOrigin};
use super::template::{Template, TemplatePiece, Var};

/// What a host's limits mean for one result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LimitState {
    /// The host has none.
    None,
    /// Whether there is one, or how high it is, is not known.
    Unknown,
    /// Below every limit.
    Fits,
    /// The limit is counted in something that only the provider can count.
    MayCut,
    Cut,
    /// A notice replaces it, which names where the whole is.
    Replaced,
    /// An error replaces it.
    Error,
}

impl LimitState {
    pub const ALL: &'static [(LimitState, &'static str, &'static str)] = &[
        (LimitState::None, "none", "no limit"),
        (LimitState::Unknown, "unknown", "unknown"),
        (LimitState::Fits, "fits", "fits"),
        (LimitState::MayCut, "may-cut", "may be cut"),
        (LimitState::Cut, "cut", "cut"),
        (LimitState::Replaced, "replaced", "replaced by a notice"),
        (LimitState::Error, "error", "error"),
    ];

    /// The word in reports.
    pub fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(state, ..)| *state == self)
            .map_or("unknown", |(_, name, _)| name)
    }

    /// The words for people.
    pub fn title(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(state, ..)| *state == self)
            .map_or("unknown", |(.., title)| title)
    }

    /// Whether something is cut; `None` where that is not known.
    pub fn is_truncated(self) -> Option<bool> {
        match self {
            LimitState::None | LimitState::Fits => Some(false),
            LimitState::Unknown | LimitState::MayCut => None,
            LimitState::Cut | LimitState::Replaced | LimitState::Error => Some(true),
        }
    }
}

/// One limit that was exceeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truncation {
    /// Position in the host's list of limits.
    pub rule: usize,
    pub unit: LimitUnit,
    pub max: u64,
    /// What was measured, in `unit`: of the result, the part or the longest line.
    pub measured: u64,
    /// What is left out, in bytes of UTF-8.
    pub removed_bytes: u64,
    /// The host cuts inside a character here; its half is not shown.
    pub(crate) splits_character: bool,
}

/// What became of a result under a host's limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitOutcome {
    pub state: LimitState,
    pub bites: Vec<Truncation>,
    /// The limit in the provider's tokens that the result may exceed, as far as [`LimitOutcome::count`] could judge.
    pub tokens_max: Option<u64>,
    /// Whether what is over that limit is not cut but replaced as a whole: by an error, or by a notice.
    pub tokens_keep_nothing: bool,
    /// How sure the limits are that were named, and what else is to be said of them.
    pub notes: Vec<String>,
}

impl LimitOutcome {
    /// The outcome for a text that cannot be computed.
    pub(super) fn unreached(host: &Host) -> Self {
        let state = if has_no_limit(host) {
            LimitState::None
        } else {
            LimitState::Unknown
        };
        Self {
            state,
            bites: Vec::new(),
            tokens_max: None,
            tokens_keep_nothing: false,
            notes: Vec::new(),
        }
    }

    /// Takes note of the highest count of tokens that is known of the text before any limit. The provider's own may differ, so a result fits only
    /// where even twice as many would.
    pub fn count(&mut self, tokens: u64) {
        if self
            .tokens_max
            .is_some_and(|max| tokens.saturating_mul(2) <= max)
        {
            self.tokens_max = None;
            if self.state == LimitState::MayCut {
                self.state = LimitState::Fits;
            }
        }
    }
}

/// A host that was looked into, and has no limit among its rules.
fn has_no_limit(host: &Host) -> bool {
    host.limit.is_empty() && matches!(host.evidence, Evidence::Observed | Evidence::Source)
}

/// As many bytes of a text as tell what the limits of a host make of it: a longer one exceeds all of them alike. Where lines
/// are cut too, that holds if no limit does more than cut: then one on the whole is enough to say so.
pub(super) fn room(host: &Host) -> usize {
    let grows = |pairs: &[[String; 2]]| pairs.iter().all(|[what, with]| with.len() >= what.len());
    let is_by_size = |limit: &&LimitRule| {
        limit.applies != Applies::Line && limit.unit != LimitUnit::CharsPerLine
    };
    let is_whole =
        |limit: &LimitRule| matches!(limit.applies, Applies::Total | Applies::PartsInOrder);
    let by_size = || host.limit.iter().filter(is_by_size);
    let is_cut = by_size()
        .any(|limit| is_whole(limit) && limit.unit != LimitUnit::Tokens && limit.max > 0)
        && host.limit.iter().all(|limit| limit.keep != KeepRule::None);
    let is_told = (is_cut || host.limit.iter().all(|limit| is_by_size(&limit)))
        && !host.reparse_json_text
        && grows(&host.replace)
        && grows(&host.structured_replace);
    let max = by_size().map(|limit| limit.max).max().filter(|_| is_told);
    // No unit is longer than four bytes; one more unit is too much.
    max.and_then(|max| usize::try_from(max).ok())
        .map_or(usize::MAX, |max| max.saturating_add(1).saturating_mul(4))
}

/// Applies the limits of a host. `texts` is how many there were before they were joined.
pub(super) fn apply(
    host: &Host,
    mut parts: Vec<Raw>,
    texts: usize,
    value: &dyn Fn(Var) -> String,
) -> (Vec<Raw>, LimitOutcome) {
    let mut outcome = LimitOutcome {
        bites: Vec::new(),
        ..LimitOutcome::unreached(host)
    };
    if host.limit.is_empty() {
        return (parts, outcome);
    }
    outcome.state = LimitState::Fits;
    let mut is_unknown = false;
    for (rule, limit) in host.limit.iter().enumerate() {
        if limit.max == 0 {
            is_unknown = true;
            outcome.notes.extend(limit.max_note.clone());
            continue;
        }
        if limit.unit == LimitUnit::Tokens {
            // No token is shorter than a byte.
            if measure_all(&parts, LimitUnit::Bytes) > limit.max {
                outcome.state = outcome.state.max(LimitState::MayCut);
                outcome.tokens_max = Some(limit.max);
                outcome.tokens_keep_nothing = limit.keep == KeepRule::None;
                outcome.notes.push(limit.certainty.clone());
            }
            continue;
        }
        let mut bite = Truncation {
            rule,
            unit: limit.unit,
            max: limit.max,
            measured: 0,
            removed_bytes: 0,
            splits_character: false,
        };
        let before = measure_all(&parts, LimitUnit::Bytes);
        let mut is_over = false;
        for _ in 0..limit.passes.0 {
            let mut cutter = Cutter {
                limit,
                value,
                bite: &mut bite,
            };
            let Some(after) = cutter.apply(&parts, texts) else {
                break;
            };
            parts = after;
            is_over = true;
        }
        if is_over {
            bite.removed_bytes = bite.removed_bytes.min(before);
            outcome.bites.push(bite);
            outcome.notes.push(limit.certainty.clone());
            let state = match limit.keep {
                KeepRule::None if !limit.notice.has(Var::Path) => LimitState::Error,
                KeepRule::None => LimitState::Replaced,
                _ => LimitState::Cut,
            };
            outcome.state = outcome.state.max(state);
        }
    }
    if is_unknown && outcome.state == LimitState::Fits {
        outcome.state = LimitState::Unknown;
    }
    (parts, outcome)
}

struct Cutter<'a> {
    limit: &'a LimitRule,
    value: &'a dyn Fn(Var) -> String,
    bite: &'a mut Truncation,
}

impl Cutter<'_> {
    /// The parts after the limit; `None` where nothing is over it.
    fn apply(&mut self, parts: &[Raw], texts: usize) -> Option<Vec<Raw>> {
        let unit = self.limit.unit;
        let max = self.limit.max;
        match self.limit.applies {
            Applies::Total => {
                let measured = measure_all(parts, unit);
                (measured > max).then(|| {
                    self.saw(measured);
                    let whole = self
                        .as_blocks(parts)
                        .unwrap_or_else(|| SourceMapped::join(super::parts::texts(parts), "\n"));
                    let text = self.cut(&whole, max);
                    let media = parts
                        .iter()
                        .filter(|part| matches!(part, Raw::Media { .. }))
                        .cloned();
                    std::iter::once(Raw::Text(text)).chain(media).collect()
                })
            }
            Applies::SinglePartOnly if texts != 1 || parts.len() != 1 => None,
            Applies::Part | Applies::SinglePartOnly | Applies::Line => {
                let mut is_over = false;
                let mut after = Vec::with_capacity(parts.len());
                for part in parts {
                    let Raw::Text(text) = part else {
                        after.push(part.clone());
                        continue;
                    };
                    if self.limit.applies == Applies::Line {
                        let cut = self.cut_lines(text);
                        is_over |= cut.is_some();
                        after.push(Raw::Text(cut.unwrap_or_else(|| text.clone())));
                    } else if measure(text.text(), unit) > max {
                        is_over = true;
                        self.saw(measure(text.text(), unit));
                        after.push(Raw::Text(self.cut(text, max)));
                    } else {
                        after.push(part.clone());
                    }
                }
                is_over.then_some(after)
            }
            Applies::PartsInOrder => self.in_order(parts),
        }
    }

    /// The JSON array of blocks that are all texts, where the limit cuts that; `None` for `structuredContent` and media.
    fn as_blocks(&self, parts: &[Raw]) -> Option<SourceMapped> {
        if !self.limit.as_blocks {
            return None;
        }
        let mut array = SourceMapped::host("[");
        for (at, part) in parts.iter().enumerate() {
            let Raw::Text(text) = part else { return None };
            let origin = text.spans().first().map(|span| span.origin)?;
            if origin == TextOrigin::Structured {
                return None;
            }
            array.push_host(if at == 0 { "\n" } else { ",\n" });
            array.push_host("  {\n    \"type\": \"text\",\n    \"text\": ");
            array.push(&crate::json::write::string(text.text()), origin, None);
            array.push_host("\n  }");
        }
        array.push_host("\n]");
        Some(array)
    }

    fn saw(&mut self, measured: u64) {
        self.bite.measured = self.bite.measured.max(measured);
    }

    /// One budget, spent part by part.
    fn in_order(&mut self, parts: &[Raw]) -> Option<Vec<Raw>> {
        let unit = self.limit.unit;
        let total: u64 = parts.iter().map(|part| part_measure(part, unit)).sum();
        if total <= self.limit.max {
            return None;
        }
        self.saw(total);
        let mut left = self.limit.max;
        let mut omitted = 0;
        let mut after = Vec::with_capacity(parts.len());
        for part in parts {
            let Raw::Text(text) = part else {
                after.push(part.clone());
                continue;
            };
            let size = measure(text.text(), unit);
            if size <= left {
                left -= size;
                after.push(part.clone());
            } else if left == 0 {
                omitted += 1;
                self.bite.removed_bytes += text.len() as u64;
            } else {
                after.push(Raw::Text(self.cut(text, left)));
                left = 0;
            }
        }
        if let Some(notice) = self.limit.tail_notice.as_ref().filter(|_| omitted > 0) {
            let text = notice.fill(|var| {
                if var == Var::N {
                    omitted.to_string()
                } else {
                    (self.value)(var)
                }
            });
            after.push(Raw::Text(SourceMapped::host(&text)));
        }
        Some(after)
    }

    fn cut_lines(&mut self, text: &SourceMapped) -> Option<SourceMapped> {
        let max = self.limit.max;
        let mut out = SourceMapped::default();
        let mut is_over = false;
        let mut at = 0;
        for line in text.text().split_inclusive('\n') {
            let body = line.trim_end_matches('\n');
            let units = measure(body, LimitUnit::Chars);
            if units > max {
                is_over = true;
                self.saw(units);
                out.append(&self.cut(&text.slice(at..at + body.len()), max));
                out.append(&text.slice(at + body.len()..at + line.len()));
            } else {
                out.append(&text.slice(at..at + line.len()));
            }
            at += line.len();
        }
        is_over.then_some(out)
    }

    /// A text that is over the limit, with `room` units left for it.
    fn cut(&mut self, text: &SourceMapped, room: u64) -> SourceMapped {
        if !self.limit.notice_within {
            return self.cut_to(text, room).0;
        }
        // The notice says how much is gone, which depends on its own length; the second time it fits.
        let mut notice = 0;
        let before = (self.bite.removed_bytes, self.bite.splits_character);
        for _ in 0..3 {
            // What an attempt that does not fit removed is not removed.
            (self.bite.removed_bytes, self.bite.splits_character) = before;
            let (cut, length) = self.cut_to(text, room.saturating_sub(notice));
            if length <= notice {
                return cut;
            }
            notice = length;
        }
        (self.bite.removed_bytes, self.bite.splits_character) = before;
        self.cut_to(text, room.saturating_sub(notice)).0
    }

    /// The text cut, and the length of the notice in it.
    fn cut_to(&mut self, text: &SourceMapped, room: u64) -> (SourceMapped, u64) {
        let limit = self.limit;
        // Lengths in tokens of four bytes are kept in bytes.
        let (unit, scale) = match limit.unit {
            LimitUnit::Tokens4 => (LimitUnit::Bytes, 4),
            LimitUnit::CharsPerLine => (LimitUnit::Chars, 1),
            unit => (unit, 1),
        };
        let room = room * scale;
        let whole = text.text();
        let scaled = |units: Option<u64>| units.map(|units| (units * scale).min(room));
        let (head, tail) = match limit.keep {
            KeepRule::None => (0, 0),
            KeepRule::Head => (scaled(limit.head).unwrap_or(room), 0),
            KeepRule::HeadLines => (scaled(limit.head).unwrap_or(room), 0),
            KeepRule::HeadTail => {
                // A share of a count far below 2^53, rounded down.
                let share = |share: f64| (room as f64 * share).floor() as u64;
                let head = scaled(limit.head)
                    .unwrap_or_else(|| share(limit.head_share.map_or(0.5, |share| share.0)));
                (head, scaled(limit.tail).unwrap_or(room - head))
            }
        };
        let (mut head_end, head_splits) = prefix(whole, unit, head);
        if limit.keep == KeepRule::HeadLines {
            let line_end = whole[..head_end].rfind('\n').filter(|end| *end > 0);
            head_end = match limit.head {
                // A preview of one line is cut in it.
                Some(_) => line_end.unwrap_or(head_end),
                None if whole[head_end..].starts_with('\n') => head_end,
                None => line_end.unwrap_or(0),
            };
        }
        let (tail_start, tail_splits) = suffix(whole, unit, tail);
        let tail_start = tail_start.max(head_end);
        let removed = head_end..tail_start;
        self.bite.removed_bytes += removed.len() as u64;
        self.bite.splits_character |=
            (head_splits && limit.keep != KeepRule::HeadLines) || tail_splits;
        let cut = Cut {
            text,
            removed,
            unit,
        };
        let notice = cut.notice(&limit.notice, self.value);
        let length = measure(notice.text(), unit) / scale;
        let out = if limit.keep == KeepRule::None
            || limit.notice.has(Var::Head)
            || limit.notice.has(Var::Tail)
        {
            notice
        } else {
            let mut out = text.slice(0..cut.removed.start);
            out.append(&notice);
            out.append(&text.slice(cut.removed.end..whole.len()));
            out
        };
        (out, length)
    }
}

/// A text and what is taken out of it.
struct Cut<'a> {
    text: &'a SourceMapped,
    removed: Range<usize>,
    /// What `{chars}` counts: scalar values for a host that counts those, else UTF-16 units.
    unit: LimitUnit,
}

impl Cut<'_> {
    fn notice(&self, template: &Template, value: &dyn Fn(Var) -> String) -> SourceMapped {
        let whole = self.text.text();
        let removed = &whole[self.removed.clone()];
        let unit = if self.unit == LimitUnit::Scalars {
            LimitUnit::Scalars
        } else {
            LimitUnit::Chars
        };
        let chars = |text: &str| measure(text, unit);
        let mut out = SourceMapped::default();
        for piece in template.pieces() {
            let var = match piece {
                TemplatePiece::Literal(literal) => {
                    out.push_host(literal);
                    continue;
                }
                TemplatePiece::Var(var) => *var,
            };
            let text = match var {
                Var::Head => {
                    out.append(&self.text.slice(0..self.removed.start));
                    continue;
                }
                Var::Tail => {
                    out.append(&self.text.slice(self.removed.end..whole.len()));
                    continue;
                }
                Var::Chars => chars(whole).to_string(),
                Var::CharsGrouped => grouped(chars(whole)),
                Var::Lines => whole.split('\n').count().to_string(),
                Var::Kb => kilobytes(whole.len()),
                Var::KbChars => kilobytes(measure(whole, LimitUnit::Chars) as usize),
                Var::KbWhole => ((whole.len() + 512) / 1_024).to_string(),
                Var::HeadCharsGrouped => grouped(chars(&whole[..self.removed.start])),
                Var::TailCharsGrouped => grouped(chars(&whole[self.removed.end..])),
                Var::RemovedChars => chars(removed).to_string(),
                Var::RemovedCharsGrouped => grouped(chars(removed)),
                Var::RemovedBytes => removed.len().to_string(),
                Var::RemovedTokens4 => measure(removed, LimitUnit::Tokens4).to_string(),
                other => value(other),
            };
            out.push_host(&text);
        }
        out
    }
}

pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Bytes in units of 1,024 with at most one decimal.
fn kilobytes(bytes: usize) -> String {
    let tenths = (bytes * 10 + 512) / 1_024;
    if tenths.is_multiple_of(10) {
        (tenths / 10).to_string()
    } else {
        format!("{}.{}", tenths / 10, tenths % 10)
    }
}

fn part_measure(part: &Raw, unit: LimitUnit) -> u64 {
    match part {
        Raw::Text(text) => measure(text.text(), unit),
        Raw::Media { .. } => 0,
    }
}

fn measure_all(parts: &[Raw], unit: LimitUnit) -> u64 {
    parts.iter().map(|part| part_measure(part, unit)).sum()
}

/// The size of a text; tokens of the provider, which nobody can count here, are taken for bytes.
fn measure(text: &str, unit: LimitUnit) -> u64 {
    let size = match unit {
        LimitUnit::Chars | LimitUnit::CharsPerLine => text.chars().map(char::len_utf16).sum(),
        LimitUnit::Scalars => text.chars().count(),
        LimitUnit::Bytes | LimitUnit::Tokens => text.len(),
        LimitUnit::Tokens4 => text.len().div_ceil(4),
    };
    size as u64
}

fn width(char: char, unit: LimitUnit) -> u64 {
    let width = match unit {
        LimitUnit::Chars | LimitUnit::CharsPerLine => char.len_utf16(),
        LimitUnit::Scalars => 1,
        LimitUnit::Bytes | LimitUnit::Tokens | LimitUnit::Tokens4 => char.len_utf8(),
    };
    width as u64
}

/// Where the first `units` end, and whether that is inside a character, which is then left out.
fn prefix(text: &str, unit: LimitUnit, units: u64) -> (usize, bool) {
    let mut used = 0;
    for (at, char) in text.char_indices() {
        if used == units {
            return (at, false);
        }
        used += width(char, unit);
        if used > units {
            return (at, true);
        }
    }
    (text.len(), false)
}

/// Where the last `units` begin, and whether that is inside a character, which is then left out.
fn suffix(text: &str, unit: LimitUnit, units: u64) -> (usize, bool) {
    let mut used = 0;
    for (at, char) in text.char_indices().rev() {
        let end = at + char.len_utf8();
        if used == units {
            return (end, false);
        }
        used += width(char, unit);
        if used > units {
            return (end, true);
        }
    }
    (0, false)
}
