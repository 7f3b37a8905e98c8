//! Counts in the JSON contract: the two encodings that are always counted, and the tokenizer that was named.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use loupe_core::format::TextCache;
use loupe_core::token::{self, Count, Tokenizer, TokenizerFile, Tokens};

/// The two that are always counted and, if named, one more.
#[derive(Clone, Default)]
pub(super) struct TokensJson {
    tokens: Tokens,
    /// The count is `None` where the tokenizer's file does not take the text.
    named: Option<(String, Option<Count>)>,
}

impl TokensJson {
    pub(super) fn of(text: &str, tokenizer: &Tokenizer) -> Self {
        Self::named(token::count(text), text, tokenizer)
    }

    /// The same for a text of a result, which is counted once.
    pub(super) fn of_known(text: &str, known: &TextCache, tokenizer: &Tokenizer) -> Self {
        Self::named(known.counts(text.as_bytes()).tokens, text, tokenizer)
    }

    fn named(tokens: Tokens, text: &str, tokenizer: &Tokenizer) -> Self {
        let count = match (tokenizer.encoding(), tokenizer.from_tokens(tokens)) {
            (Some(_), _) => None,
            (None, Some(count)) => Some(count),
            (None, None) => tokenizer.count(text).ok(),
        };
        Self::counted(tokens, tokenizer, count)
    }

    pub(super) fn counted(tokens: Tokens, tokenizer: &Tokenizer, count: Option<Count>) -> Self {
        let named = tokenizer
            .encoding()
            .is_none()
            .then(|| (tokenizer.name().to_owned(), count));
        Self { tokens, named }
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        let named = match (&self.named, &other.named) {
            (Some((name, left)), Some((_, right))) => Some((
                name.clone(),
                left.zip(*right).map(|(left, right)| left.plus(right)),
            )),
            (left, right) => left.clone().or_else(|| right.clone()),
        };
        Self {
            tokens: self.tokens.plus(other.tokens),
            named,
        }
    }
}

impl From<Tokens> for TokensJson {
    fn from(tokens: Tokens) -> Self {
        Self {
            tokens,
            named: None,
        }
    }
}

impl Serialize for TokensJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("o200k_base", &self.tokens.o200k_base)?;
        map.serialize_entry("cl100k_base", &self.tokens.cl100k_base)?;
        if let Some((name, count)) = &self.named {
            map.serialize_entry(name, &count.map(CountJson))?;
        }
        map.end()
    }
}

/// A number; `{"low", "high"}` where it is an estimate.
pub(super) struct CountJson(Count);

impl Serialize for CountJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Count::Exact(tokens) => serializer.serialize_u64(tokens),
            Count::Estimate { low, high } => {
                let mut map = serializer.serialize_map(Some(2))?;
                map.serialize_entry("low", &low)?;
                map.serialize_entry("high", &high)?;
                map.end()
            }
        }
    }
}

#[derive(Serialize)]
pub(super) struct SizeJson {
    pub(super) bytes: u64,
    pub(super) tokens: TokensJson,
}

impl SizeJson {
    pub(super) fn new(bytes: &[u8], tokenizer: &Tokenizer) -> Self {
        let tokens = TokensJson::of(&String::from_utf8_lossy(bytes), tokenizer);
        Self {
            bytes: bytes.len() as u64,
            tokens,
        }
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        Self {
            bytes: self.bytes + other.bytes,
            tokens: self.tokens.plus(&other.tokens),
        }
    }
}

#[derive(Serialize)]
pub(super) struct FileJson {
    name: String,
    kind: &'static str,
    sha256: String,
}

impl FileJson {
    pub(super) fn new(file: &TokenizerFile) -> Self {
        Self {
            name: file.name.clone(),
            kind: file.kind.title(),
            sha256: file.sha256.clone(),
        }
    }
}
