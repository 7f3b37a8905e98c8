//! Tokenizer files: the four kinds read, and what hostile and cut ones come to.

use proptest::prelude::*;

use super::*;

const TOKENIZER_JSON: &str = include_str!("../../tests/data/token/tokenizer.json");
const TIKTOKEN: &str = include_str!("../../tests/data/token/tiny.tiktoken");
const TEKKEN: &str = include_str!("../../tests/data/token/tekken.json");

/// A SentencePiece model of four pieces (unknown, `▁a`, `b`, `▁`), written out by hand: field 1 is a piece with its
/// text (1), score (2, a float) and type (3).
fn sentencepiece() -> Vec<u8> {
    let mut model = Vec::new();
    for (text, score, kind) in [("<unk>", 0.0_f32, 2_u8), ("▁a", -1.0, 1), ("b", -2.0, 1), ("▁", -3.0, 1)] {
        let mut piece = vec![0x0a, u8::try_from(text.len()).unwrap()];
        piece.extend(text.as_bytes());
        piece.push(0x15);
        piece.extend(score.to_le_bytes());
        piece.extend([0x18, kind]);
        model.extend([0x0a, u8::try_from(piece.len()).unwrap()]);
        model.extend(piece);
    }
    model
}

#[test]
fn each_kind_is_read() {
    let json = TokenizerFile::read("tokenizer.json", TOKENIZER_JSON.as_bytes()).unwrap();
    assert_eq!((json.kind, json.name.as_str(), json.sha256.len()), (FileKind::Tokenizers, "tokenizer.json", 64));
    // "ab" is one token, "c" another.
    assert_eq!(json.count("abc"), Ok(2));
    let tiktoken = TokenizerFile::read("tiny.tiktoken", TIKTOKEN.as_bytes()).unwrap();
    assert_eq!((tiktoken.kind, tiktoken.count("abab a")), (FileKind::Tiktoken, Ok(4)));
    let tekken = TokenizerFile::read("tekken.json", TEKKEN.as_bytes()).unwrap();
    assert_eq!((tekken.kind, tekken.count("ab a")), (FileKind::Tekken, Ok(3)));
    let sentencepiece = TokenizerFile::read("a.model", &sentencepiece()).unwrap();
    assert_eq!(sentencepiece.kind, FileKind::SentencePiece);
    assert_eq!(sentencepiece.count(" ab").map(|tokens| tokens > 0), Ok(true));
    // Text of special tokens is plain text.
    assert_eq!(json.count("<end>"), Ok(5));
    assert!(json.count(&"a".repeat(MAX_TEXT_BYTES + 1)).unwrap_err().what.contains("at once"));
}

#[test]
fn a_file_says_what_is_wrong_with_it() {
    let what = |bytes: &[u8]| TokenizerFile::read("x", bytes).unwrap_err().message();
    assert_eq!(what(b""), "not a tokenizer file: it is empty (x)");
    assert!(what(b"{\"model\": 7}").starts_with("not a tokenizer file: read as tokenizer.json, "));
    assert!(what(b"YQ== 0\nYg== one\n").contains("read as tiktoken"));
    assert!(what(&vec![b' '; MAX_FILE_BYTES + 1]).contains("are more than"));
    assert!(what(b"hello").contains("read as SentencePiece"));
}

#[test]
fn cut_files_are_problems() {
    let model = sentencepiece();
    for whole in [TOKENIZER_JSON.as_bytes(), TEKKEN.as_bytes(), TIKTOKEN.as_bytes(), &model] {
        for end in (0..whole.len()).step_by(7) {
            // A cut after a whole line or piece is a shorter file; it may be read, but must count or say why not.
            if let Ok(file) = TokenizerFile::read("cut", &whole[..end]) {
                file.count("abc <end>").ok();
            }
        }
    }
    assert!(TokenizerFile::read("cut", &TOKENIZER_JSON.as_bytes()[..TOKENIZER_JSON.len() / 2]).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_bytes_are_a_problem_or_a_tokenizer(bytes in prop::collection::vec(any::<u8>(), 0..400), at in 0_usize..600) {
        TokenizerFile::read("random", &bytes).ok();
        // One byte of a good file changed.
        let mut changed = TOKENIZER_JSON.as_bytes().to_vec();
        let at = at % changed.len();
        changed[at] = bytes.first().copied().unwrap_or(0);
        if let Ok(file) = TokenizerFile::read("changed", &changed) {
            file.count("abc <end> é").ok();
        }
    }
}
