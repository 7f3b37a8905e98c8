//! What a text says that the data does not hold: the other direction of the facts.
//!
//! A *statement* is what can be checked in a text: a number, a date, an identifier (a word with a digit, a path, an
//! address), a quoted, bold or code text, a table cell, the value beside a label, the words of a list item. Sentences are
//! none beyond the numbers and names in them, and what they deny. Which statements the data accounts for is found by words, so it is a
//! heuristic and is shown as one: the same number in two meanings counts as said.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::hash::BuildHasher;
use std::ops::{Deref, Range};
use std::sync::LazyLock;

use foldhash::fast::RandomState;
use foldhash::{HashMap, HashMapExt, HashSet};

use super::facts::{Fact, FactMatches, locate_facts};
use super::payload::Payload;
use crate::json::{Kind, Node, decode_string};
use crate::reader::Certainty;

/// What kind of thing a text says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementKind {
    /// A number, a date, an identifier, an address.
    Value,
    /// The words of a cell, of a labelled value, of a list item, of what is quoted, bold or code.
    Words,
    /// The words beside a label for which the data has a number: `Type: Dead` beside `"companyType": 4`.
    CodeName,
}

/// One thing that the text alone says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub kind: StatementKind,
    /// Bytes of the text.
    pub range: Range<usize>,
}

/// The statements of `text` that neither the payload nor the arguments of the call account for, in order. `read` are the
/// parts of the text that the payload was read from, sorted; empty where it is `structuredContent`. `matched` are the
/// payload's facts in the text, where they are known already.
pub fn text_only<'m>(
    payload: &Payload,
    text: &str,
    read: &[Range<usize>],
    arguments: Option<Node<'_>>,
    matched: Option<&dyn Fn() -> &'m FactMatches>,
) -> Vec<Statement> {
    // JSON that is all of the text leaves nothing to say beside it, however long it is.
    let is_marked = payload.reader().is_some_and(|reader| reader.certainty == Certainty::Marked);
    if is_marked && unread(text, read).is_empty() {
        return Vec::new();
    }
    // Text that was read as data may leave nothing to look up.
    let words = LazyCell::new(|| {
        let mut words = Vocabulary::default();
        words.add(payload.root());
        arguments.into_iter().for_each(|arguments| words.add(arguments));
        words
    });
    let matched = match matched {
        Some(matched) if payload.is_structured() => Cow::Borrowed(matched()),
        _ => {
            let found = scan(text, &words, read, usize::MAX);
            if found.is_empty() || !payload.is_structured() {
                return found;
            }
            // Dates, amounts and numbers in other words are found by the matcher of facts, which takes longer.
            Cow::Owned(locate_facts(payload, text))
        }
    };
    let mut covered: Vec<Range<usize>> =
        matched.facts.iter().filter(|fact| !fact.state().is_missing()).filter_map(Fact::place).collect();
    covered.sort_by_key(|range| range.start);
    scan(text, &words, &covered, usize::MAX)
}

/// How many statements a text has, whatever the data holds; of more than `most` at least so many.
pub fn count_statements(text: &str, most: u64) -> u64 {
    scan(text, &LazyCell::new(Vocabulary::default), &[], usize::try_from(most).unwrap_or(usize::MAX)).len() as u64
}

/// What stands between the parts that were read, without white space at the ends and without what holds no word.
pub fn unread(text: &str, read: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut start = 0;
    let mut gaps = Vec::new();
    for range in read.iter().cloned().chain(std::iter::once(text.len()..text.len())) {
        let gap = &text[start..range.start];
        let inner = gap.trim();
        let from = start + (gap.len() - gap.trim_start().len());
        if inner.chars().any(char::is_alphanumeric) {
            gaps.push(from..from + inner.len());
        }
        start = range.end;
    }
    gaps
}

/// The statements that the data does not account for; no further lines are read once there are `most`.
fn scan(text: &str, words: &dyn Deref<Target = Vocabulary>, covered: &[Range<usize>], most: usize) -> Vec<Statement> {
    let mut scan = Scan { text, words, covered, next: 0, until: 0, found: Vec::new() };
    let mut start = 0;
    let mut is_fenced = false;
    let mut around = covered.iter().peekable();
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next().filter(|_| scan.found.len() < most) {
        let range = start..start + line.trim_end_matches(['\n', '\r']).len();
        start += line.len();
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            is_fenced = !is_fenced;
            continue;
        }
        let body = start - trimmed.len()..start - trimmed.len() + trimmed.trim_end().len();
        while around.next_if(|covered| covered.end < body.end).is_some() {}
        if around.peek().is_some_and(|covered| covered.start <= body.start) {
            continue;
        }
        let is_head = lines.peek().is_some_and(|next| is_rule_of_table(next));
        match is_fenced && label(&text[range.clone()]).is_none() {
            true => scan.unit(range, None),
            false => scan.line(range, is_head),
        }
    }
    scan.found
}

/// The words that data holds, and which stand next to which.
#[derive(Default)]
struct Vocabulary {
    /// The texts that the words are of.
    texts: Known,
    words: Known,
    /// Two words with a space between.
    pairs: Known,
    /// Numbers in their shortest spelling, but for those that are words so spelled.
    numbers: Known,
    /// Keys whose value is a whole number, and the ends of them that are words: `companytype`, `type`.
    codes: Known,
}

/// Texts by their hashes of 64 bits, since there may be millions. That two have the same one is too unlikely to matter.
#[derive(Default)]
struct Known {
    hashes: HashSet<u64>,
    state: RandomState,
}

impl Known {
    /// Whether it was not there.
    fn add(&mut self, text: &str) -> bool {
        self.hashes.insert(self.state.hash_one(text))
    }

    fn has(&self, text: &str) -> bool {
        self.hashes.contains(&self.state.hash_one(text))
    }
}

impl Vocabulary {
    fn add(&mut self, root: Node<'_>) {
        let doc = root.doc();
        // Whether a key is one of a whole number somewhere.
        let mut keys: HashMap<&[u8], bool> = HashMap::new();
        for node in (root.index()..root.subtree_end()).filter_map(|at| doc.node(at)) {
            if let Some(key) = node.raw_key() {
                *keys.entry(key).or_default() |= node.as_i64().is_some();
            }
            match node.kind() {
                Kind::String => self.add_text(&node.as_str().unwrap_or_default()),
                Kind::Number => self.add_number(node.as_number().unwrap_or_default()),
                // How many there are is told by the list itself.
                Kind::Array => self.add_number(&node.len().to_string()),
                Kind::Null | Kind::Bool | Kind::Object => {}
            }
        }
        for (key, is_code) in keys {
            let key = decode_string(key);
            let spaced = spaced(&key);
            self.add_text(&key);
            self.add_text(&spaced);
            if is_code {
                let starts = words(&spaced).map(|word| word.as_ptr() as usize - spaced.as_ptr() as usize);
                for start in starts {
                    self.codes.add(&joined(&spaced[start..]));
                }
            }
        }
    }

    fn add_number(&mut self, text: &str) {
        if let Some(number) = short_number(text) {
            self.numbers.add(&number);
        }
    }

    /// A number within a text. Digits alone are a word of it already, unless a zero before them makes the number shorter.
    fn add_number_of_text(&mut self, text: &str) {
        if !text.bytes().all(|byte| byte.is_ascii_digit()) || text.starts_with('0') {
            self.add_number(text);
        }
    }

    fn has_number(&self, text: &str) -> bool {
        short_number(text).is_some_and(|number| self.numbers.has(&number) || self.words.has(&number))
    }

    fn add_text(&mut self, text: &str) {
        if !self.texts.add(text) {
            return;
        }
        // The word before and this one.
        let mut pair = String::new();
        let mut start = 0;
        for word in words(text) {
            pair.drain(..start);
            start = if pair.is_empty() { 0 } else { pair.len() + 1 };
            if start > 0 {
                pair.push(' ');
            }
            match word.is_ascii() {
                true => pair.extend(word.chars().map(|char| char.to_ascii_lowercase())),
                false => pair.push_str(&word.to_lowercase()),
            }
            let word = &pair[start..];
            self.add_number_of_text(word);
            self.words.add(word);
            if start > 0 {
                self.pairs.add(&pair);
            }
        }
        // 1,234.50 and −3 are numbers as a whole, too.
        if text.bytes().any(|byte| byte.is_ascii_digit()) {
            text.split_whitespace().for_each(|token| self.add_number_of_text(trim(token)));
        }
    }

    /// Whether a number, a date, an identifier stands in the data, alone or within a longer text.
    fn has_value(&self, token: &str) -> bool {
        if self.has_number(token) {
            return true;
        }
        let parts: Vec<String> = words(token).map(str::to_lowercase).collect();
        match &parts[..] {
            [] => true,
            [one] => self.words.has(one) || self.has_number(one),
            several => several.windows(2).all(|pair| self.pairs.has(&pair.join(" "))),
        }
    }

    /// The word, or what it is the plural of.
    fn has_word(&self, word: &str) -> bool {
        let word = word.to_lowercase();
        let singular =
            |ending: &str, is: &str| word.strip_suffix(ending).is_some_and(|stem| self.words.has(&format!("{stem}{is}")));
        self.words.has(&word) || singular("ies", "y") || singular("es", "") || singular("s", "")
    }

    /// Whether the label is that of a whole number: `type` of `companyType`.
    fn is_code(&self, label: &str) -> bool {
        self.codes.has(&joined(label))
    }
}

/// Words that hold a sentence together, and words of counts and pages: they say nothing by themselves.
const GLUE: &str = "a ago all am an and are as at by day days for found from has hour hours in is it item items minute minutes month months more no none null of on or page pm record records result results showing the to total true false was week weeks with year years yes";

fn is_glue(word: &str) -> bool {
    static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| GLUE.split(' ').chain(["n/a"]).collect());
    word.len() <= 8 && WORDS.contains(&*word.to_ascii_lowercase())
}

struct Scan<'a> {
    text: &'a str,
    words: &'a dyn Deref<Target = Vocabulary>,
    /// What the data accounts for, by start.
    covered: &'a [Range<usize>],
    /// The first of `said` that may reach the place scanned.
    next: usize,
    /// Where the last token ended that the data accounts for.
    until: usize,
    found: Vec<Statement>,
}

impl Scan<'_> {
    fn line(&mut self, line: Range<usize>, is_table_head: bool) {
        let text = &self.text[line.clone()];
        let body = text.trim_start();
        let at = line.start + text.len() - body.len();
        if is_table_head || is_rule_of_table(body) || body.starts_with("---") || body.starts_with("===") {
            return;
        }
        if body.starts_with('|') && body.len() > 1 {
            let cells: Vec<&str> = body[1..].trim_end().trim_end_matches('|').split('|').collect();
            // Of two columns with a bold one, the bold one is labels.
            if let [label, value] = cells[..]
                && label.trim().starts_with("**")
            {
                let start = at + 1 + label.len() + 1;
                return self.unit(start..start + value.len(), Some(label));
            }
            let mut start = at + 1;
            for cell in cells {
                self.unit(start..start + cell.len(), None);
                start += cell.len() + 1;
            }
            return;
        }
        if body.starts_with('#') && body.trim_start_matches('#').starts_with(' ') {
            return self.prose(at..line.end);
        }
        let item = list_item(body);
        let rest = at + body.len() - item.unwrap_or(body).len()..line.end;
        match label(&self.text[rest.clone()]) {
            // `Found 7 companies:` is a sentence, `Result 7:` a label.
            Some((label, value)) if value.is_empty() && words(&self.text[rest.clone()][label.clone()]).count() > 2 => {
                self.values(rest);
            }
            Some((label, value)) => {
                let label = self.text[rest.start + label.start..rest.start + label.end].to_owned();
                self.unit(rest.start + value.start..rest.start + value.end, Some(&label));
            }
            None if item.is_some() => self.unit(rest, None),
            None => {
                self.prose(rest.clone());
                self.names_and_denials(rest);
            }
        }
    }

    /// A cell, a labelled value, a list item: each value in it is a statement, and its other words are one.
    fn unit(&mut self, range: Range<usize>, label: Option<&str>) {
        let mut words: Option<Range<usize>> = None;
        for token in tokens(self.text, range) {
            if self.is_said(&token) {
                continue;
            }
            let text = &self.text[token.clone()];
            if is_value(text) {
                if !self.words.has_value(text) {
                    self.found.push(Statement { kind: StatementKind::Value, range: token });
                }
            } else if is_word(text) && !is_glue(text) && !words_of(text).all(|word| self.words.has_word(word)) {
                words = Some(words.map_or(token.start, |known| known.start)..token.end);
            }
        }
        if let Some(range) = words {
            let kind =
                if label.is_some_and(|label| self.words.is_code(label)) { StatementKind::CodeName } else { StatementKind::Words };
            let at = self.found.partition_point(|statement| statement.range.start < range.start);
            self.found.insert(at, Statement { kind, range });
        }
    }

    /// A sentence: the values in it, and what is quoted, bold or code.
    fn prose(&mut self, range: Range<usize>) {
        let mut rest = range;
        while let Some(marked) = marked(&self.text[rest.clone()]) {
            let inner = rest.start + marked.inner.start..rest.start + marked.inner.end;
            self.values(rest.start..inner.start);
            self.unit(inner, None);
            rest.start += marked.end;
        }
        self.values(rest);
    }

    fn values(&mut self, range: Range<usize>) {
        for token in tokens(self.text, range) {
            let text = &self.text[token.clone()];
            if is_value(text) && !self.is_said(&token) && !self.words.has_value(text) {
                self.found.push(Statement { kind: StatementKind::Value, range: token });
            }
        }
    }

    /// What a sentence says beyond its values: names within it, and what it denies, as far as the data has no such words.
    fn names_and_denials(&mut self, range: Range<usize>) {
        let mut begins = true;
        let mut denial: Option<Range<usize>> = None;
        let mut found: Vec<Range<usize>> = Vec::new();
        for token in tokens(self.text, range.clone()) {
            let text = &self.text[token.clone()];
            let before = self.covered.partition_point(|covered| covered.start < token.end).checked_sub(1);
            let is_new = before.is_none_or(|at| self.covered[at].end <= token.start)
                && is_word(text)
                && !is_value(text)
                && !is_glue(text)
                && !words_of(text).all(|word| self.words.has_word(word));
            if is_denial(text) {
                denial = denial.or(Some(token.start..token.start));
            } else if let Some(denial) = &mut denial
                && is_new
            {
                denial.end = token.end;
            } else if is_new && !begins && is_name(text) {
                match found.last_mut().filter(|last| self.text[last.end..token.start].trim().is_empty()) {
                    Some(last) => last.end = token.end,
                    None => found.push(token.clone()),
                }
            }
            let after = self.text[token.end..range.end].trim_start_matches(['*', '_', '"', '\'', ')', '`']);
            begins = after.starts_with(['.', '!', '?', ':']);
            if begins {
                found.extend(denial.take().filter(|denial| !denial.is_empty()));
            }
        }
        found.extend(denial.filter(|denial| !denial.is_empty()));
        for range in found {
            let at = self.found.partition_point(|statement| statement.range.start < range.start);
            let is_known = self.found[..at].last().is_some_and(|before| before.range.end > range.start);
            if !is_known {
                self.found.insert(at, Statement { kind: StatementKind::Words, range });
            }
        }
    }

    /// Whether a fact of the data stands there, or the time of day of a date that does. Asked from the beginning of the text
    /// to its end.
    fn is_said(&mut self, token: &Range<usize>) -> bool {
        while self.covered.get(self.next).is_some_and(|range| range.end <= token.start) {
            self.until = self.covered[self.next].end;
            self.next += 1;
        }
        let is_time = is_time(&self.text[token.clone()]) && token.start >= self.until && token.start - self.until <= BETWEEN;
        let is_said = is_time || self.covered.get(self.next).is_some_and(|range| range.start < token.end);
        if is_said {
            self.until = token.end;
        }
        is_said
    }
}

/// The most bytes between a date and its time of day: `, at `.
const BETWEEN: usize = 6;

/// `14:30`, `2:30:15`.
fn is_time(text: &str) -> bool {
    text.len() <= 8 && text.contains(':') && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b':')
}

/// What stands between white space, without the punctuation around it.
fn tokens(text: &str, range: Range<usize>) -> impl Iterator<Item = Range<usize>> + '_ {
    let whole = &text[range.clone()];
    whole.split_whitespace().filter_map(move |token| {
        let inner = trim(token);
        let start = inner.as_ptr() as usize - whole.as_ptr() as usize + range.start;
        (!inner.is_empty()).then(|| start..start + inner.len())
    })
}

/// Without brackets, quotes, marks of emphasis and punctuation at the ends.
fn trim(token: &str) -> &str {
    token.trim_matches(|char: char| {
        !char.is_alphanumeric() && !matches!(char, '#' | '/' | '~' | '-' | '−' | '+' | '$' | '€' | '£' | '%')
    })
}

/// Runs of letters and digits.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty())
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    words(text)
}

fn is_word(text: &str) -> bool {
    text.chars().any(char::is_alphabetic)
}

/// A capital and small letters after it.
fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(char::is_uppercase)
        && text.chars().count() > 2
        && chars.all(|char| char.is_lowercase() || char == '-')
}

fn is_denial(text: &str) -> bool {
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    is("not") || is("never") || is("cannot") || text.to_lowercase().ends_with("n't") || text.to_lowercase().ends_with("n’t")
}

/// A number, a date, an identifier, an address, a path.
fn is_value(text: &str) -> bool {
    let is_path = || is_word(text) && (text.starts_with('/') || text.starts_with("~/") || text.matches('/').count() > 1);
    text.bytes().any(|byte| byte.is_ascii_digit())
        || (text.contains('/') && (text.contains("://") || is_path()))
        || text.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.'))
}

/// The shortest spelling of a decimal number: `1,234.50` is `1234.5`, `+3` is `3`, `10%` is `10`.
fn short_number(text: &str) -> Option<Cow<'_, str>> {
    if text.starts_with(|char: char| char.is_ascii_alphabetic()) {
        return None;
    }
    let (sign, digits) = match text.strip_prefix(['-', '−']) {
        Some(digits) => ("-", digits),
        None => ("", text.trim_start_matches(['+', '#', '$', '€', '£'])),
    };
    let digits = digits.trim_start_matches(['$', '€', '£']).trim_end_matches('%');
    if !digits.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',')) {
        return None;
    }
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_grouped = whole.contains(',') && whole.split(',').skip(1).all(|group| group.len() == 3);
    if whole.is_empty() || !is_digits(part) || !whole.split(',').all(is_digits) || (whole.contains(',') && !is_grouped) {
        return None;
    }
    if sign.is_empty() && part.is_empty() && !whole.starts_with('0') && !whole.contains(',') {
        return Some(Cow::Borrowed(whole));
    }
    let whole = whole.replace(',', "");
    let (whole, part) = (whole.trim_start_matches('0'), part.trim_end_matches('0'));
    let whole = if whole.is_empty() { "0" } else { whole };
    Some(Cow::Owned(if part.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{part}") }))
}

/// `companyType` and `company_type` as words.
fn spaced(key: &str) -> String {
    let mut out = String::with_capacity(key.len() + 4);
    let mut before = ' ';
    for char in key.chars() {
        if char.is_uppercase() && before.is_lowercase() {
            out.push(' ');
        }
        out.push(char);
        before = char;
    }
    out
}

/// A key or a label as one lower-case word.
fn joined(text: &str) -> String {
    words(text).flat_map(str::chars).flat_map(char::to_lowercase).collect()
}

/// What follows the mark of a list item.
fn list_item(line: &str) -> Option<&str> {
    let rest = line.strip_prefix(['-', '*', '+', '•', '–']).or_else(|| {
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        (1..=9).contains(&digits).then(|| line[digits..].strip_prefix(['.', ')'])).flatten()
    })?;
    let rest = rest.strip_prefix(' ')?.trim_start();
    Some(["[ ] ", "[x] ", "[X] "].iter().find_map(|mark| rest.strip_prefix(mark)).unwrap_or(rest))
}

/// The most words of a label.
const LABEL_WORDS: usize = 6;

/// A label and the value beside it, in a line.
fn label(line: &str) -> Option<(Range<usize>, Range<usize>)> {
    let colon = line.find(": ").or_else(|| line.find(":** ")).or_else(|| line.strip_suffix(':').map(str::len))?;
    let label = line[..colon].trim();
    let is_label =
        !label.is_empty() && label.split_whitespace().count() <= LABEL_WORDS && !label.contains(['.', ',', '?', '!', '"']);
    let value = colon + line[colon..].find(' ').unwrap_or(line.len() - colon);
    is_label.then_some((0..colon, value..line.len()))
}

fn is_rule_of_table(line: &str) -> bool {
    let line = line.trim();
    line.bytes().all(|byte| matches!(byte, b'|' | b'-' | b':' | b' ')) && line.contains('-') && line.contains('|')
}

struct Marked {
    inner: Range<usize>,
    /// Just past the closing mark.
    end: usize,
}

/// The longest text in quotation marks, in bold or as code, in bytes.
const MARKED: usize = 300;

/// The first text in quotation marks, in bold or as code.
fn marked(text: &str) -> Option<Marked> {
    const MARKS: [(&str, &str); 4] = [("**", "**"), ("`", "`"), ("\"", "\""), ("“", "”")];
    for (at, _) in text.match_indices(['*', '`', '"', '“']) {
        let Some((open, close)) = MARKS.iter().find(|(open, _)| text[at..].starts_with(open)) else { continue };
        let start = at + open.len();
        let mut limit = text.len().min(start + MARKED);
        while !text.is_char_boundary(limit) {
            limit -= 1;
        }
        if let Some(length) = text[start..limit].find(close) {
            return Some(Marked { inner: start..start + length, end: start + length + close.len() });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::json::Doc;

    fn statements(data: &str, text: &str) -> Vec<(StatementKind, String)> {
        let payload = Payload::of_doc(Doc::parse(Bytes::copy_from_slice(data.as_bytes()))).unwrap();
        let found = text_only(&payload, text, &[], None, None);
        found.into_iter().map(|statement| (statement.kind, text[statement.range].to_owned())).collect()
    }

    fn covered(data: &str, text: &str) -> Vec<String> {
        statements(data, text).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn a_summary_leaves_out_what_the_list_says() {
        let text = "Found 3 issues:\n\n- #101 Crash on start, opened 2026-11-02 by ann, 4 comments\n- #102 Slow search, opened 2026-11-03 by bob, 1 comment\n- #103 Typo in README, opened 2026-11-04 by cid, 0 comments\n";
        let found = statements(r#"{"count":3}"#, text);
        assert_eq!(found.len(), 12, "{found:?}");
        assert_eq!(found[0], (StatementKind::Value, "#101".to_owned()));
        assert_eq!(found[1].1, "Crash on start, opened 2026-11-02 by ann, 4 comments");
    }

    #[test]
    fn sentences_state_their_numbers_and_names() {
        let text = "Rain until 17:40, wind 12 m/s, the ferry is cancelled.\n\n```json\n{\"temp\":4}\n```\n\nTomorrow:\n";
        assert_eq!(covered(r#"{"temp":4}"#, text), ["17:40", "12"]);
        assert_eq!(
            covered(r#"{"a":1}"#, "See https://example.com/x, mail ann@example.com, run `make docs`."),
            ["https://example.com/x", "ann@example.com", "make docs"]
        );
    }

    #[test]
    fn a_sentence_before_a_list_states_its_numbers() {
        let data = r#"{"companies":[{"name":"Ada"},{"name":"Bob"}]}"#;
        assert_eq!(covered(data, "Found 7 companies in 4 regions:\n- Ada\n- Bob\n"), ["7", "4"]);
        assert_eq!(covered(data, "Found 2 companies:\n- Ada\n- Bob\n"), Vec::<String>::new());
        assert_eq!(covered(data, "Result 7:\n- Ada\n- Bob\n"), Vec::<String>::new());
    }

    #[test]
    fn sentences_state_names_and_denials() {
        let text = "Ann lives in New York and is happy. Do not email her.";
        assert_eq!(covered(r#"{"name":"Ann"}"#, text), ["New York", "not email her"]);
        assert_eq!(covered(r#"{"name":"Ann","city":"New York","email":false}"#, text), ["not email her"]);
        let data = r#"{"name":"Ann","active":false,"total":0}"#;
        for text in ["Ann is not active.", "Here is what was found:", "# Search Results", "Results: Ann. Total: 0."] {
            assert_eq!(covered(data, text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn what_the_data_holds_in_any_form_is_no_statement() {
        let data = r#"{"items":[{"id":101,"name":"Ann Ames","street":"Main St 5","city":"Oslo","total":1234.5,"active":true}],"when":"2026-11-02T10:00:00Z"}"#;
        let text = "## Found 1 company\n\n| ID | Name | Total | Active |\n|---|---|---|---|\n| 101 | Ann Ames | 1,234.50 | Yes |\n\nAddress: Main St 5, Oslo\nDate: 2026-11-02\n";
        assert_eq!(covered(data, text), Vec::<String>::new());
    }

    #[test]
    fn the_name_of_a_code_is_a_statement_of_its_kind() {
        let found = statements(r#"[{"companyType":4,"id":7}]"#, "- **Type**: Dead\n- **ID**: 7\n");
        assert_eq!(found, [(StatementKind::CodeName, "Dead".to_owned())]);
    }

    #[test]
    fn numbers_have_one_spelling() {
        for (text, short) in
            [("1,234.50", Some("1234.5")), ("-03", Some("-3")), ("10%", Some("10")), ("1,2", None), ("17:40", None)]
        {
            assert_eq!(short_number(text).as_deref(), short, "{text}");
        }
    }
}
