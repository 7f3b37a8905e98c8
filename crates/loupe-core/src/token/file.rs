//! A tokenizer file of the user's, read by `kitoken`: `tokenizer.json`, SentencePiece, tiktoken or tekken.
//!
//! The file is not trusted: its size is bounded, it is told what is wrong with it, and a failure inside the crate is
//! caught and becomes a problem.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;
use kitoken::convert::ConversionError;
use kitoken::{Definition, Kitoken, Processing, SpecialTokenKind};
use sha2::{Digest, Sha256};

use super::Tokenizer;
use crate::json::Doc;
use crate::number::grouped;
use crate::problem::{Problem, ProblemKind};

/// The largest file that is read; the largest in use are about 35 MB.
pub const MAX_FILE_BYTES: usize = 64 << 20;

/// The kinds of file, distinguished by what is in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Hugging Face `tokenizer.json`.
    Tokenizers,
    /// Mistral's `tekken.json`.
    Tekken,
    /// Lines of a token in Base64 and its rank.
    Tiktoken,
    /// A SentencePiece model.
    SentencePiece,
}

impl FileKind {
    /// The name people know it by.
    pub fn title(self) -> &'static str {
        match self {
            FileKind::Tokenizers => "tokenizer.json",
            FileKind::Tekken => "tekken",
            FileKind::Tiktoken => "tiktoken",
            FileKind::SentencePiece => "SentencePiece",
        }
    }

    fn new(bytes: &[u8]) -> Self {
        let text = bytes.trim_ascii_start();
        if text.first() == Some(&b'{') {
            // Both are JSON; a vocabulary at the top, and no model around it, is Mistral's.
            let doc = Doc::parse(Bytes::copy_from_slice(bytes));
            let has = |key: &str| doc.root().is_some_and(|root| root.get(key).is_some());
            return if has("vocab") && !has("model") {
                FileKind::Tekken
            } else {
                FileKind::Tokenizers
            };
        }
        let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let is_base64 =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
        let mut words = line.trim_ascii().split(|byte| *byte == b' ');
        let is_line = words
            .next()
            .is_some_and(|word| !word.is_empty() && word.iter().all(is_base64))
            && words
                .next()
                .is_some_and(|word| !word.is_empty() && word.iter().all(u8::is_ascii_digit))
            && words.next().is_none();
        if is_line {
            FileKind::Tiktoken
        } else {
            FileKind::SentencePiece
        }
    }
}

/// A tokenizer read from a file.
pub struct TokenizerFile {
    /// The file's name without its folder.
    pub name: String,
    /// The digest of the file in lower-case hexadecimal: two files of one name are two tokenizers.
    pub sha256: String,
    pub kind: FileKind,
    kitoken: Kitoken,
}

impl std::fmt::Debug for TokenizerFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenizerFile")
            .field("name", &self.name)
            .field("sha256", &self.sha256)
            .finish_non_exhaustive()
    }
}

impl TokenizerFile {
    /// Reads a file's bytes; `name` is its name without the folder.
    ///
    /// # Errors
    /// A problem that says what is wrong: too large, no kind that is known, or the reason the crate gives.
    pub fn read(name: &str, bytes: &[u8]) -> Result<Self, Problem> {
        let bad = |why: String| {
            Problem::new(ProblemKind::Io, format!("not a tokenizer file: {why}"))
                .at(name)
                .hint("Loupe reads tokenizer.json, SentencePiece, tiktoken and tekken files")
        };
        if bytes.is_empty() {
            return Err(bad("it is empty".into()));
        }
        if bytes.len() > MAX_FILE_BYTES {
            return Err(bad(format!(
                "{} bytes are more than the {} that are read",
                grouped(bytes.len() as u64),
                grouped(MAX_FILE_BYTES as u64)
            )));
        }
        let kind = FileKind::new(bytes);
        // The crate takes some things in a file for granted and panics where they are missing.
        let made = catch_unwind(AssertUnwindSafe(|| {
            let definition = match kind {
                FileKind::Tokenizers => Definition::from_tokenizers_slice(bytes),
                FileKind::Tekken => Definition::from_tekken_slice(bytes),
                FileKind::Tiktoken => Definition::from_tiktoken_slice(bytes),
                FileKind::SentencePiece => sentencepiece(bytes),
            };
            let mut definition = definition.map_err(|error| error.to_string())?;
            if definition.model.vocab().is_empty() {
                return Err("it holds no tokens".to_owned());
            }
            count_all_as_data(&mut definition);
            Kitoken::from_definition(definition).map_err(|error| error.to_string())
        }));
        let as_what = |why: &str| bad(format!("read as {}, {why}", kind.title()));
        let kitoken = match made {
            Ok(Ok(kitoken)) => kitoken,
            Ok(Err(why)) => return Err(as_what(&why)),
            Err(_) => return Err(as_what("it is incomplete or damaged")),
        };
        let sha256 =
            Sha256::digest(bytes)
                .iter()
                .fold(String::with_capacity(64), |mut hex, byte| {
                    write!(hex, "{byte:02x}").ok();
                    hex
                });
        // Beside a built-in of the same name it must not be taken for it.
        let name = if Tokenizer::named(name).is_some() {
            format!("{name} (file)")
        } else {
            name.to_owned()
        };
        Ok(Self {
            name,
            sha256,
            kind,
            kitoken,
        })
    }

    /// Tokens of a text, without those that a model's template puts around it, and neither cut to a model's context nor
    /// filled up to it.
    ///
    /// # Errors
    /// A problem where the text has a character that the file has no token for, or its patterns fail on the text.
    pub fn count(&self, text: &str) -> Result<u64, Problem> {
        const ADDED: &[SpecialTokenKind] = &[SpecialTokenKind::Priority];
        let bad = |why: String| {
            Problem::new(
                ProblemKind::Io,
                format!("cannot count with this tokenizer: {why}"),
            )
            .at(self.name.clone())
        };
        match catch_unwind(AssertUnwindSafe(|| self.kitoken.encode(text, ADDED))) {
            Ok(Ok(tokens)) => Ok(tokens.len() as u64),
            Ok(Err(error)) => Err(bad(error.to_string())),
            Err(_) => Err(bad("its pattern or tables fail on this text".into())),
        }
    }
}

/// The names of control tokens in an answer are data: not honoured, they would still cut a text where they stand. A
/// model's context neither cuts nor fills up a count. Tokens that were added to the model's own count as one.
fn count_all_as_data(definition: &mut Definition) {
    definition.specials.retain(|special| match special.kind {
        SpecialTokenKind::Control => false,
        SpecialTokenKind::Priority => !special.bytes.is_empty(),
        SpecialTokenKind::Unknown => true,
    });
    // Its name is data too, but the model asks for it.
    for special in definition
        .specials
        .iter_mut()
        .filter(|special| special.kind == SpecialTokenKind::Unknown)
    {
        special.extract = false;
    }
    definition
        .config
        .processing
        .retain(|step| !matches!(step, Processing::Truncate { .. } | Processing::Pad { .. }));
}

/// Reads a SentencePiece model that normalises by the table in it, if it has one, rather than by what the crate makes of the
/// name of the rule: its `nmt_nfkc` leaves tabs and takes joiners for spaces.
fn sentencepiece(bytes: &[u8]) -> Result<Definition, ConversionError> {
    // The name of a rule that is nothing but its table: of a field that a protobuf message has twice, the last counts.
    const BY_TABLE: &[u8] = b"\x1a\x0e\x0a\x0cuser_defined";
    let by_name = Definition::from_sentencepiece_slice(bytes)?;
    Ok(Definition::from_sentencepiece_slice(&[bytes, BY_TABLE].concat()).unwrap_or(by_name))
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
