//! What a tokenizer file does to a text, stage by stage: added tokens found, the rest normalised, split into words, each
//! word encoded. The crate does all of it in one step, which nobody can leave; so the stages are taken apart here, by what
//! the file defines, and the crate is asked for a part of the text at a time.
//!
//! Control tokens are no stage: their names in an answer are data. The crate, told not to honour them, would still cut a
//! text where one stands.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};
use kitoken::{
    Configuration, Definition, InsertionPosition, Kitoken, Model, Normalization, NormalizationCondition,
    NormalizationReplacePattern, Processing, SpecialToken, SpecialTokenKind, Split, SplitBehavior, SplitPattern, Vocab,
};

use crate::cancel::{Cancel, Cancelled, Steps};

/// A text is normalised in pieces of about this size, and longer words are encoded in pieces.
const PIECE_BYTES: usize = 64 << 10;

/// The longest word that is encoded in one step: a third of a second with a model of byte pairs.
const MAX_WORD_BYTES: usize = 1 << 20;

/// What a word of a Unigram model may take: each byte is tried with everything up to the longest token before it.
const MAX_WORD_STEPS: usize = 1 << 29;

/// The longest word of a WordPiece model that is no unknown one by its own limit: each end is tried for each beginning.
const MAX_WORD_PIECE_BYTES: usize = 1 << 10;

/// The longest token, and the most splits and normalisations, that a file may have; the ones in use are far below.
const MAX_TOKEN_BYTES: usize = 32 << 10;
const MAX_STEPS: usize = 64;

/// Shorter words are remembered, up to so many of them: most of a text are words that were there before.
const KNOWN_BYTES: usize = 32;
const KNOWN_WORDS: usize = 100_000;

/// How a count ended early.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Cancelled(Cancelled),
    /// What is wrong with the text, or with the file; a sentence fragment.
    Failed(String),
}

impl From<Cancelled> for Stop {
    fn from(cancelled: Cancelled) -> Self {
        Stop::Cancelled(cancelled)
    }
}

fn failed(why: impl std::fmt::Display) -> Stop {
    Stop::Failed(why.to_string())
}

/// A tokenizer, stage by stage.
pub(super) struct Stages {
    /// Tokens that were added to the model's own (`added_tokens` that are not special, user-defined symbols): those that
    /// are found before anything else, and those that are found in a text that is normalised.
    added: Added,
    added_after: Added,
    normalization: Vec<Normalize>,
    splits: Vec<Splitting>,
    /// The model alone.
    encoder: Kitoken,
    words: Words,
    processing: Vec<Processing>,
    piece: usize,
}

impl std::fmt::Debug for Stages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stages").finish_non_exhaustive()
    }
}

impl Stages {
    /// Takes a definition apart.
    ///
    /// # Errors
    /// What the file has that cannot be used.
    pub(super) fn new(definition: Definition) -> Result<Self, String> {
        Self::in_pieces(definition, PIECE_BYTES)
    }

    fn in_pieces(definition: Definition, piece: usize) -> Result<Self, String> {
        let Definition { meta, model, mut specials, config } = definition;
        config.validate().map_err(|error| error.to_string())?;
        let Configuration { fallback, normalization, split, processing, templates, .. } = config;
        if split.len().max(normalization.len()) > MAX_STEPS {
            return Err(format!("it splits or normalises a text more than {MAX_STEPS} times"));
        }
        let added = Added::of(&specials, true)?;
        let added_after = Added::of(&specials, false)?;
        // The model asks for the token of what is unknown; none of these is honoured in a text.
        specials.retain(|special| special.kind == SpecialTokenKind::Unknown);
        for special in &mut specials {
            special.extract = false;
        }
        let has_endings = templates.iter().any(|template| template.position == InsertionPosition::WordEnd);
        let words = Words::of(&model, has_endings, piece)?;
        let alone = Configuration { fallback, templates, ..Configuration::default() };
        Ok(Self {
            added,
            added_after,
            normalization: normalization.into_iter().map(Normalize::new).collect::<Result<_, _>>()?,
            splits: split.into_iter().map(Splitting::new).collect::<Result<_, _>>()?,
            encoder: Kitoken::new(model, specials, alone, meta).map_err(|error| error.to_string())?,
            words,
            piece,
            // What a model is given is cut to its context and filled up to it; a count is of the whole text.
            processing: processing
                .into_iter()
                .filter(|processing| matches!(processing, Processing::Strip { .. } | Processing::Collapse { .. }))
                .collect(),
        })
    }

    /// Tokens of a text, special ones as plain text.
    pub(super) fn count(&self, text: &str, cancel: &Cancel) -> Result<u64, Stop> {
        let mut count =
            Counting { stages: self, known: HashMap::new(), all: Vec::new(), tokens: 0, steps: cancel.steps(), cancel };
        self.added.each(text, |part| match part {
            Part::Token(id) => Ok(count.push(&[id])?),
            Part::Text(range) => count.stretch(text, range),
        })?;
        if self.processing.is_empty() {
            return Ok(count.tokens);
        }
        let mut tokens = count.all;
        for processing in &self.processing {
            cancel.check()?;
            if !tokens.is_empty() {
                processing.process(&mut tokens);
            }
        }
        Ok(tokens.len() as u64)
    }
}

/// One count on its way.
struct Counting<'s, 't> {
    stages: &'s Stages,
    /// The tokens of words that were met.
    known: HashMap<String, Box<[u32]>>,
    /// The tokens themselves, where something is done with them at the end.
    all: Vec<u32>,
    tokens: u64,
    steps: Steps<'t>,
    cancel: &'t Cancel,
}

impl Counting<'_, '_> {
    fn push(&mut self, tokens: &[u32]) -> Result<(), Cancelled> {
        self.tokens += tokens.len() as u64;
        if !self.stages.processing.is_empty() {
            self.all.extend_from_slice(tokens);
        }
        self.steps.step()
    }

    /// What stands between two added tokens.
    fn stretch(&mut self, text: &str, range: Range<usize>) -> Result<(), Stop> {
        let end = if range.end == text.len() { usize::MAX } else { range.end };
        let position = range.start..end;
        let mut part = Cow::Borrowed(&text[range]);
        for normalize in &self.stages.normalization {
            self.cancel.check()?;
            normalize.apply(&mut part, &position, self.stages.piece, self.cancel)?;
        }
        self.stages.added_after.each(&part, |found| match found {
            Part::Token(id) => Ok(self.push(&[id])?),
            Part::Text(range) => self.split(&part[range], 0),
        })
    }

    /// Cuts a text by the splits from this one on, and encodes what comes of it.
    fn split(&mut self, text: &str, level: usize) -> Result<(), Stop> {
        if text.is_empty() {
            return Ok(());
        }
        let stages = self.stages;
        match stages.splits.get(level) {
            Some(splitting) => splitting.each(text, self.cancel, |part| {
                self.steps.step()?;
                self.split(part, level + 1)
            }),
            None => self.word(text),
        }
    }

    fn word(&mut self, word: &str) -> Result<(), Stop> {
        if let Some(tokens) = self.known.get(word) {
            self.tokens += tokens.len() as u64;
            if !self.stages.processing.is_empty() {
                self.all.extend_from_slice(tokens);
            }
            return Ok(self.steps.step()?);
        }
        let mut rest = word;
        while let Some(end) = self.stages.words.cut(rest, self.cancel)? {
            let (now, later) = rest.split_at(end);
            let tokens = self.encoded(now)?;
            self.push(&tokens)?;
            rest = later;
        }
        let tokens = self.encoded(rest)?;
        self.push(&tokens)?;
        if rest.len() == word.len() && word.len() <= KNOWN_BYTES && self.known.len() < KNOWN_WORDS {
            // The crate's list has room for much more than is in it.
            self.known.insert(word.to_owned(), tokens.into_boxed_slice());
        }
        Ok(())
    }

    /// What is one word, or a piece of one, in one step.
    fn encoded(&self, word: &str) -> Result<Vec<u32>, Stop> {
        self.cancel.check()?;
        if self.stages.words.is_too_long(word) {
            return Err(Stop::Failed(format!("{} bytes stand together that it takes for one word", word.len())));
        }
        const NONE: &[SpecialTokenKind] = &[];
        self.stages.encoder.encode(word, NONE).map_err(failed)
    }
}

/// Tokens that stand for a text wherever it stands.
struct Added {
    texts: Option<AhoCorasick>,
    ids: Vec<u32>,
}

/// One part of a text.
enum Part {
    Token(u32),
    Text(Range<usize>),
}

impl Added {
    fn of(specials: &[SpecialToken], is_first: bool) -> Result<Self, String> {
        let added = specials.iter().filter(|special| {
            special.kind == SpecialTokenKind::Priority && special.extract == is_first && !special.bytes.is_empty()
        });
        let (texts, ids): (Vec<&[u8]>, Vec<u32>) = added.map(|special| (&special.bytes[..], special.id)).unzip();
        if texts.iter().any(|text| std::str::from_utf8(text).is_err()) {
            return Err("an added token is no text".into());
        }
        let texts = (!texts.is_empty()).then(|| AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(texts));
        Ok(Self { texts: texts.transpose().map_err(|error| error.to_string())?, ids })
    }

    fn each(&self, text: &str, mut take: impl FnMut(Part) -> Result<(), Stop>) -> Result<(), Stop> {
        let mut from = 0;
        for found in self.texts.iter().flat_map(|texts| texts.find_iter(text)) {
            if found.start() > from {
                take(Part::Text(from..found.start()))?;
            }
            take(Part::Token(self.ids[found.pattern().as_usize()]))?;
            from = found.end();
        }
        if from < text.len() { take(Part::Text(from..text.len())) } else { Ok(()) }
    }
}

/// How long words are encoded. They may be cut without changing their tokens between two bytes that stand side by side in no
/// token: nothing reaches across.
struct Words {
    /// One bit for each pair of bytes; `None` where a word is more than its tokens.
    pairs: Option<Vec<u64>>,
    /// A piece has at least so many bytes.
    piece: usize,
    /// What is left has more than so many: a word that is a token as a whole is that token, which a rest may not be.
    token: usize,
    /// The longest that is encoded in one step.
    longest: usize,
    /// Words of more characters are unknown and take no time.
    unknown: usize,
}

impl Words {
    fn of(model: &Model, has_endings: bool, piece: usize) -> Result<Self, String> {
        let (Model::BytePair { vocab, .. } | Model::Unigram { vocab, .. } | Model::WordPiece { vocab, .. }) = model else {
            return Err("it is of a kind that is not known here".into());
        };
        let token = vocab.iter().map(|token| token.bytes.len()).max().unwrap_or(0);
        if token > MAX_TOKEN_BYTES {
            return Err(format!("it has a token of {token} bytes"));
        }
        let words = Self { pairs: None, piece: piece.max(token + 1), token, longest: MAX_WORD_BYTES, unknown: usize::MAX };
        Ok(match model {
            Model::WordPiece { max_word_chars: 0, .. } => Self { longest: MAX_WORD_PIECE_BYTES, ..words },
            Model::WordPiece { max_word_chars, .. } => {
                Self { longest: MAX_WORD_PIECE_BYTES, unknown: *max_word_chars as usize, ..words }
            }
            // An ending is added to each word.
            _ if has_endings => words,
            Model::Unigram { .. } => {
                let longest = MAX_WORD_BYTES.min(MAX_WORD_STEPS / token.max(1));
                Self { pairs: Some(pairs(vocab)), piece: words.piece.min(longest), token: 0, longest, ..words }
            }
            _ => Self { pairs: Some(pairs(vocab)), ..words },
        })
    }

    fn is_too_long(&self, word: &str) -> bool {
        word.len() > self.longest && word.chars().nth(self.unknown).is_none()
    }

    /// The first place behind a piece, if the word has to be cut.
    fn cut(&self, word: &str, cancel: &Cancel) -> Result<Option<usize>, Cancelled> {
        let Some(pairs) = &self.pairs else { return Ok(None) };
        let mut steps = cancel.steps();
        for at in self.piece..word.len().saturating_sub(self.token) {
            steps.step()?;
            let pair = pair_of(&word.as_bytes()[at - 1..=at]);
            if pairs[pair >> 6] & 1 << (pair & 63) == 0 && word.is_char_boundary(at) {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }
}

fn pair_of(bytes: &[u8]) -> usize {
    usize::from(bytes[0]) << 8 | usize::from(bytes[1])
}

/// The pairs of bytes in all tokens.
fn pairs(vocab: &Vocab) -> Vec<u64> {
    let mut pairs = vec![0_u64; 1 << 10];
    for pair in vocab.iter().flat_map(|token| token.bytes.windows(2)).map(pair_of) {
        pairs[pair >> 6] |= 1 << (pair & 63);
    }
    pairs
}

/// One step of normalising.
enum Normalize {
    /// What looks no further than a few characters: is done piece by piece, cut where nothing reaches across.
    Local(Normalization, fn(char, char) -> bool),
    /// What concerns the ends, or is done at the speed of a search.
    Whole(Normalization),
    /// Replaces what a pattern finds.
    Pattern(Box<fancy_regex::Regex>, String),
    /// Only at an end of the text.
    At(NormalizationCondition, Box<Normalize>),
}

impl Normalize {
    fn new(normalization: Normalization) -> Result<Self, String> {
        use Normalization as N;
        Ok(match normalization {
            // A character that begins something is composed with none before it.
            N::Unicode { .. } => Self::Local(normalization, |_, next| is_beginning(next)),
            N::NMT | N::CaseFold { upper: true } => Self::Local(normalization, |_, _| true),
            // Which sigma it is follows from the letters around it.
            N::CaseFold { upper: false } => Self::Local(normalization, |_, next| is_between_words(next)),
            N::Collapse { .. } => Self::Local(normalization, |before, next| before != next),
            // By grapheme.
            N::CharsMap { .. } => Self::Local(normalization, |before, next| {
                is_beginning(before) && is_beginning(next) && (before, next) != ('\r', '\n')
            }),
            N::Replace { pattern: NormalizationReplacePattern::Regex(pattern), replacement } => {
                Self::Pattern(Box::new(compiled(&pattern)?), replacement)
            }
            N::Conditional { condition, normalization } => Self::At(condition, Box::new(Self::new(*normalization)?)),
            _ => Self::Whole(normalization),
        })
    }

    fn apply(&self, text: &mut Cow<'_, str>, position: &Range<usize>, piece: usize, cancel: &Cancel) -> Result<(), Stop> {
        match self {
            Self::Whole(normalization) => normalization.normalize(text, position.clone()),
            Self::Local(normalization, is_cut) => {
                let mut rest: &str = text;
                let mut done = String::with_capacity(rest.len());
                while !rest.is_empty() {
                    let (now, later) = rest.split_at(local_cut(rest, piece, is_cut, cancel)?);
                    let mut now = Cow::Borrowed(now);
                    normalization.normalize(&mut now, position.clone());
                    done.push_str(&now);
                    rest = later;
                }
                *text = Cow::Owned(done);
            }
            Self::Pattern(pattern, replacement) => {
                let mut done = String::with_capacity(text.len());
                let mut from = 0;
                for found in pattern.captures_iter(text) {
                    cancel.check()?;
                    let found = found.map_err(failed)?;
                    let Some(whole) = found.get(0) else { continue };
                    done.push_str(&text[from..whole.start()]);
                    found.expand(replacement, &mut done);
                    from = whole.end();
                }
                done.push_str(&text[from..]);
                *text = Cow::Owned(done);
            }
            Self::At(condition, normalize) => {
                let is_there = match condition {
                    NormalizationCondition::StartOfText => position.start == 0,
                    NormalizationCondition::EndOfText => position.end == usize::MAX,
                };
                if is_there {
                    normalize.apply(text, position, piece, cancel)?;
                }
            }
        }
        Ok(())
    }
}

/// Where the first piece ends: behind so many bytes, between two characters that may be parted.
fn local_cut(text: &str, piece: usize, is_cut: &fn(char, char) -> bool, cancel: &Cancel) -> Result<usize, Cancelled> {
    cancel.check()?;
    let mut steps = cancel.steps();
    let from = text.floor_char_boundary(piece.min(text.len()));
    let mut before = text[..from].chars().next_back();
    for (at, next) in text[from..].char_indices() {
        steps.step()?;
        if before.is_some_and(|before| is_cut(before, next)) {
            return Ok(from + at);
        }
        before = Some(next);
    }
    Ok(text.len())
}

/// Letters, digits and signs that no character before them is composed or forms a grapheme with: of scripts that are written
/// much, since a text without any of them is merely normalised in one step.
fn is_beginning(char: char) -> bool {
    char.is_ascii()
        || matches!(char,
            '\u{c0}'..='\u{17f}' // Latin
            | '\u{391}'..='\u{3ce}' // Greek
            | '\u{400}'..='\u{481}' // Cyrillic
            | '\u{5d0}'..='\u{5ea}' // Hebrew
            | '\u{621}'..='\u{64a}' // Arabic
            | '\u{e01}'..='\u{e30}' // Thai
            | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' // Kana
            | '\u{4e00}'..='\u{9fff}' // Ideographs
            | '\u{ac00}'..='\u{d7a3}') // Hangul syllables
}

/// Characters beyond which nobody looks for the end of a word: neither cased nor ignored between letters.
fn is_between_words(char: char) -> bool {
    let is_ignored = matches!(char, '\'' | '.' | ':' | '^' | '`');
    (char.is_ascii() && !char.is_ascii_alphabetic() && !is_ignored)
        || matches!(char, '\u{3041}'..='\u{3096}' | '\u{4e00}'..='\u{9fff}')
}

/// A split, with what it looks for ready to be found match by match.
struct Splitting {
    pattern: Pattern,
    behavior: SplitBehavior,
}

enum Pattern {
    Text(String),
    Regex(Box<fancy_regex::Regex>),
}

fn compiled(pattern: &str) -> Result<fancy_regex::Regex, String> {
    fancy_regex::Regex::new(pattern).map_err(|error| error.to_string())
}

impl Splitting {
    fn new(split: Split) -> Result<Self, String> {
        let Split::Pattern { pattern, behavior } = split else { return Err("it splits by script".into()) };
        let pattern = match pattern {
            SplitPattern::Character(char) => Pattern::Text(char.into()),
            SplitPattern::String(text) => Pattern::Text(text),
            SplitPattern::Regex(regex) => Pattern::Regex(Box::new(compiled(&regex)?)),
        };
        Ok(Self { pattern, behavior })
    }

    /// Hands out the parts of a text, in order.
    fn each(&self, text: &str, cancel: &Cancel, mut take: impl FnMut(&str) -> Result<(), Stop>) -> Result<(), Stop> {
        let mut cutter = Cutter { behavior: self.behavior, last: 0, open: None };
        match &self.pattern {
            Pattern::Text(pattern) => {
                for (at, found) in text.match_indices(pattern.as_str()) {
                    cutter.found(at..at + found.len(), |range| take(&text[range]))?;
                }
            }
            Pattern::Regex(regex) => {
                for found in regex.find_iter(text) {
                    // To find one may take the whole rest of the text.
                    cancel.check()?;
                    cutter.found(found.map_err(failed)?.range(), |range| take(&text[range]))?;
                }
            }
        }
        cutter.end(text.len(), |range| take(&text[range]))
    }
}

/// Turns matches into parts, one by one; empty parts are handed out too.
struct Cutter {
    behavior: SplitBehavior,
    /// Where the last match ended.
    last: usize,
    /// What may still grow: the matches that are merged, or the part that the last match began.
    open: Option<Range<usize>>,
}

impl Cutter {
    fn found(&mut self, found: Range<usize>, mut take: impl FnMut(Range<usize>) -> Result<(), Stop>) -> Result<(), Stop> {
        let gap = self.last..found.start;
        match self.behavior {
            SplitBehavior::Match => take(found.clone())?,
            SplitBehavior::Remove => take(gap)?,
            SplitBehavior::Isolate => {
                take(gap)?;
                take(found.clone())?;
            }
            SplitBehavior::Merge => match &mut self.open {
                Some(open) if open.end == found.start => open.end = found.end,
                open => {
                    if let Some(open) = open.take() {
                        take(open)?;
                    }
                    take(gap)?;
                    *open = Some(found.clone());
                }
            },
            SplitBehavior::MergeLeft => take(gap.start..found.end)?,
            SplitBehavior::MergeRight => {
                let before = self.open.replace(found.clone()).map_or(0, |open| open.start);
                take(before..found.start)?;
            }
        }
        self.last = found.end;
        Ok(())
    }

    fn end(self, len: usize, mut take: impl FnMut(Range<usize>) -> Result<(), Stop>) -> Result<(), Stop> {
        match (self.behavior, self.open) {
            (SplitBehavior::Match, _) => return Ok(()),
            (SplitBehavior::MergeRight, open) => return take(open.map_or(0, |open| open.start)..len),
            (_, Some(open)) => take(open)?,
            _ => {}
        }
        take(self.last..len)
    }
}

#[cfg(test)]
#[path = "stages_tests.rs"]
mod tests;
