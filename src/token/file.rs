//! A tokenizer file of the person's, read by `kitoken`: `tokenizer.json`, SentencePiece, tiktoken or tekken.
//!
//! The file is not trusted: its size is bounded, it is told what is wrong with it, and a failure inside the crate is
//! caught and becomes a problem. What it does to a text stands in [`super::stages`].

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;
use kitoken::{CharsMap, Definition, Normalization};
use sentencepiece_model::SentencePieceModel;
use sha2::{Digest, Sha256};

use super::Tokenizer;
use super::stages::{Stages, Stop};
use crate::cancel::{Cancel, Cancelled};
use crate::json::Doc;
use crate::problem::{Kind, Problem};

/// The largest file that is read; the largest in use are about 35 MB.
pub const MAX_FILE_BYTES: usize = 64 << 20;

/// The kinds of file, told apart by what stands in them.
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

    fn of(bytes: &[u8]) -> Self {
        let text = bytes.trim_ascii_start();
        if text.first() == Some(&b'{') {
            // Both are JSON; a vocabulary at the top, and no model around it, is Mistral's.
            let doc = Doc::parse(Bytes::copy_from_slice(bytes));
            let has = |key: &str| doc.root().is_some_and(|root| root.get(key).is_some());
            return if has("vocab") && !has("model") { FileKind::Tekken } else { FileKind::Tokenizers };
        }
        let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
        let mut words = line.trim_ascii().split(|byte| *byte == b' ');
        let is_line = words.next().is_some_and(|word| !word.is_empty() && word.iter().all(is_base64))
            && words.next().is_some_and(|word| !word.is_empty() && word.iter().all(u8::is_ascii_digit))
            && words.next().is_none();
        if is_line { FileKind::Tiktoken } else { FileKind::SentencePiece }
    }
}

/// A tokenizer read from a file.
pub struct TokenizerFile {
    /// The file's name without its folder.
    pub name: String,
    /// The digest of the file in lower-case hexadecimal: two files of one name are two tokenizers.
    pub sha256: String,
    pub kind: FileKind,
    stages: Stages,
}

impl std::fmt::Debug for TokenizerFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenizerFile").field("name", &self.name).field("sha256", &self.sha256).finish_non_exhaustive()
    }
}

impl TokenizerFile {
    /// Reads a file's bytes; `name` is its name without the folder.
    ///
    /// # Errors
    /// A problem that says what is wrong: too large, no kind that is known, or the reason the crate gives.
    pub fn read(name: &str, bytes: &[u8]) -> Result<Self, Problem> {
        let bad = |why: String| {
            Problem::new(Kind::Io, format!("not a tokenizer file: {why}"))
                .at(name)
                .hint("Loupe reads tokenizer.json, SentencePiece, tiktoken and tekken files")
        };
        if bytes.is_empty() {
            return Err(bad("it is empty".into()));
        }
        if bytes.len() > MAX_FILE_BYTES {
            return Err(bad(format!("{} bytes are more than the {MAX_FILE_BYTES} that are read", bytes.len())));
        }
        let kind = FileKind::of(bytes);
        // The crate takes some things in a file for granted and panics where they are missing.
        let made = catch_unwind(AssertUnwindSafe(|| {
            let definition = match kind {
                FileKind::Tokenizers => Definition::from_tokenizers_slice(bytes),
                FileKind::Tekken => Definition::from_tekken_slice(bytes),
                FileKind::Tiktoken => Definition::from_tiktoken_slice(bytes),
                FileKind::SentencePiece => Definition::from_sentencepiece_slice(bytes),
            };
            let mut definition = definition.map_err(|error| error.to_string())?;
            if kind == FileKind::SentencePiece {
                normalize_by_map(&mut definition, bytes)?;
            }
            if definition.model.vocab().is_empty() {
                return Err("it holds no tokens".to_owned());
            }
            Stages::new(definition)
        }));
        let as_what = |why: &str| bad(format!("read as {}, {why}", kind.title()));
        let stages = match made {
            Ok(Ok(stages)) => stages,
            Ok(Err(why)) => return Err(as_what(&why)),
            Err(_) => return Err(as_what("it is incomplete or damaged")),
        };
        let sha256 = Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut hex, byte| {
            write!(hex, "{byte:02x}").ok();
            hex
        });
        // Beside a built-in of the same name it must not be taken for it.
        let name = if Tokenizer::named(name).is_some() { format!("{name} (file)") } else { name.to_owned() };
        Ok(Self { name, sha256, kind, stages })
    }

    /// Tokens of a text, without those that a model's template puts around it, and neither cut to a model's context nor
    /// filled up to it.
    ///
    /// # Errors
    /// [`Cancelled`], or a problem where the text has a character that the file has no token for, or a word that is too long.
    pub fn count(&self, text: &str, cancel: &Cancel) -> Result<Result<u64, Problem>, Cancelled> {
        let bad = |why: String| Problem::new(Kind::Io, format!("cannot count with this tokenizer: {why}")).at(self.name.clone());
        match catch_unwind(AssertUnwindSafe(|| self.stages.count(text, cancel))) {
            Ok(Ok(tokens)) => Ok(Ok(tokens)),
            Ok(Err(Stop::Cancelled(cancelled))) => Err(cancelled),
            Ok(Err(Stop::Failed(why))) => Ok(Err(bad(why))),
            Err(_) => Ok(Err(bad("its pattern or tables fail on this text".into()))),
        }
    }
}

/// Has a text normalised by the table in the model, as SentencePiece does, in place of what the crate makes of the name of
/// the rule (its `nmt_nfkc` leaves tabs and takes joiners for spaces).
fn normalize_by_map(definition: &mut Definition, bytes: &[u8]) -> Result<(), String> {
    let model = SentencePieceModel::from_slice(bytes).map_err(|error| error.to_string())?;
    let map = model.normalizer().map(|normalizer| normalizer.precompiled_charsmap()).unwrap_or_default();
    if map.is_empty() {
        return Ok(());
    }
    let map = CharsMap::try_from(map).map_err(|error| error.to_string())?;
    let steps = &mut definition.config.normalization;
    steps.retain(|step| {
        !matches!(
            step,
            Normalization::Unicode { .. } | Normalization::NMT | Normalization::CaseFold { .. } | Normalization::CharsMap { .. }
        )
    });
    steps.insert(0, Normalization::CharsMap { map });
    Ok(())
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
