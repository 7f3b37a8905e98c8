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
    for (text, score, kind) in [
        ("<unk>", 0.0_f32, 2_u8),
        ("▁a", -1.0, 1),
        ("b", -2.0, 1),
        ("▁", -3.0, 1),
    ] {
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

/// The same with a table for normalising that makes a tab a space: a trie of one key, as `darts-clone` lays it out, and the
/// text that key becomes.
fn sentencepiece_with_map() -> Vec<u8> {
    let mut units = vec![0_u32; 0x310];
    units[0] = 0x100 << 10;
    units[0x109] = 0x200 << 10 | 1 << 8 | 0x09;
    units[0x309] = 1 << 31;
    let mut map = u32::try_from(units.len() * 4)
        .unwrap()
        .to_le_bytes()
        .to_vec();
    map.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
    map.extend(b" \0");
    // Of two bytes, as long as a map of more than 127 is.
    let length = |length: usize| [0x80 | (length & 0x7f) as u8, (length >> 7) as u8];
    let mut normalizer = vec![0x0a, 8];
    normalizer.extend(b"nmt_nfkc\x12");
    normalizer.extend(length(map.len()));
    normalizer.extend(map);
    let mut model = sentencepiece();
    model.push(0x1a);
    model.extend(length(normalizer.len()));
    model.extend(normalizer);
    model
}

#[test]
fn a_model_normalises_by_its_own_table() {
    let file = TokenizerFile::read("a.model", &sentencepiece_with_map()).unwrap();
    assert_eq!(file.count("a\tab"), file.count("a ab"));
    assert_eq!(file.count("a\tab"), Ok(3), "▁a ▁a b");
}

#[test]
fn each_kind_is_read() {
    let json = TokenizerFile::read("tokenizer.json", TOKENIZER_JSON.as_bytes()).unwrap();
    assert_eq!(
        (json.kind, json.name.as_str(), json.sha256.len()),
        (FileKind::Tokenizers, "tokenizer.json", 64)
    );
    // "ab" is one token, "c" another.
    assert_eq!(json.count("abc"), Ok(2));
    let tiktoken = TokenizerFile::read("tiny.tiktoken", TIKTOKEN.as_bytes()).unwrap();
    assert_eq!(
        (tiktoken.kind, tiktoken.count("abab a")),
        (FileKind::Tiktoken, Ok(4))
    );
    let tekken = TokenizerFile::read("tekken.json", TEKKEN.as_bytes()).unwrap();
    assert_eq!(
        (tekken.kind, tekken.count("ab a")),
        (FileKind::Tekken, Ok(3))
    );
    let sentencepiece = TokenizerFile::read("a.model", &sentencepiece()).unwrap();
    assert_eq!(sentencepiece.kind, FileKind::SentencePiece);
    assert_eq!(
        sentencepiece.count(" ab").map(|tokens| tokens > 0),
        Ok(true)
    );
    // Text of special tokens is plain text.
    assert_eq!(json.count("<end>"), Ok(5));
    // However long a text is.
    assert_eq!(json.count(&"ab ".repeat(6 << 20)), Ok(12 << 20));
}

/// A token that was added to the model's own is one token wherever it stands, found before or after normalising; the name of a
/// control token next to it is text.
#[test]
fn an_added_token_is_one_and_a_control_token_is_text() {
    let with = |normalized: bool| {
        let added = format!(
            r#""special": true
  }},
  {{"id": 11, "content": "<tool>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": {normalized}, "special": false}}"#
        );
        let file = TOKENIZER_JSON.replace("\"special\": true\n  }", &added);
        TokenizerFile::read("tokenizer.json", file.as_bytes()).unwrap()
    };
    for file in [with(false), with(true)] {
        assert_eq!(file.count("<tool>"), Ok(1));
        assert_eq!(file.count("ab<tool>c<tool>"), Ok(4));
        assert_eq!(file.count("a<end><tool>"), Ok(7));
    }
    // Where a control token stands the text is not cut: `ab` stays one token, next to the same text without the name.
    let named = TOKENIZER_JSON.replace("<end>", "b");
    assert_eq!(
        TokenizerFile::read("tokenizer.json", named.as_bytes())
            .unwrap()
            .count("ab"),
        Ok(1)
    );
}

/// Pieces of a SentencePiece model that its users defined.
#[test]
fn a_user_defined_symbol_is_one_token() {
    let mut model = sentencepiece();
    // A piece of type 4, and a control piece of type 3.
    model.extend(b"\x0a\x0a\x0a\x06<tool>\x18\x04\x0a\x06\x0a\x02ab\x18\x03");
    let file = TokenizerFile::read("a.model", &model).unwrap();
    assert_eq!((file.count("b<tool>b"), file.count("ab")), (Ok(4), Ok(2)));
}

#[test]
fn a_models_context_does_not_cut_a_count() {
    let cut = TOKENIZER_JSON.replace(
        r#""truncation": null"#,
        r#""truncation": {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0}"#,
    );
    let cut = cut.replace(
        r#""padding": null"#,
        r#""padding": {"strategy": {"Fixed": 8}, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0, "pad_type_id": 0, "pad_token": "a"}"#,
    );
    let cut = TokenizerFile::read("tokenizer.json", cut.as_bytes()).unwrap();
    assert_eq!(cut.count("abcabc"), Ok(4));
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
    let lines = TIKTOKEN.as_bytes();
    // Where a file may end and be a shorter one: JSON nowhere before its last brace, the others after a line or a piece.
    let last_brace = |text: &str| (text.trim_end().len()..=text.len()).collect::<Vec<_>>();
    let line_ends = lines
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .flat_map(|(at, _)| [at, at + 1]);
    let mut piece_ends = Vec::new();
    let mut at = 0;
    while at < model.len() {
        at += 2 + usize::from(model[at + 1]);
        piece_ends.push(at);
    }
    let files: [(_, _, Vec<usize>); 4] = [
        (
            "tokenizer.json",
            TOKENIZER_JSON.as_bytes(),
            last_brace(TOKENIZER_JSON),
        ),
        ("tekken.json", TEKKEN.as_bytes(), last_brace(TEKKEN)),
        ("tiny.tiktoken", lines, line_ends.collect()),
        ("a.model", &model[..], piece_ends),
    ];
    for (name, whole, good) in files {
        for end in 0..whole.len() {
            match TokenizerFile::read(name, &whole[..end]) {
                Ok(file) => {
                    assert!(good.contains(&end), "{name}, cut at {end}, is read");
                    // It counts, or says why not.
                    file.count("abc <end>").ok();
                }
                Err(problem) => assert!(
                    problem.what.starts_with("not a tokenizer file"),
                    "{name}, cut at {end}: {problem}"
                ),
            }
        }
    }
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
