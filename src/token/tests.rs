//! Counting: chunked equals whole, and both equal the reference implementation.

use bytes::Bytes;
use proptest::prelude::*;

use super::*;
use crate::json::Doc;

const CORPUS: &[&str] = &[
    "",
    "a <|endoftext|> b <|fim_prefix|>",
    "## Search Results: 2 companies found\n\n### Acme (ID: 12345)\n- **Status**: Active\n\n---\n",
    r#"{"items":[{"id":12345,"companyName":"Ünïted 北京 Ltd.","isActive":true,"note":"it's 'S and DON'T\n\n  x"}]}"#,
    "   \n\n \t  word   \r\n\r\n 1234567 ''' 's 'S 'ſ I'LL x'reagent",
    "👩\u{200d}👩\u{200d}👧 ⚠️ e\u{301}a\u{300} ǅ ʰ ２３ Ⅷ १२३",
];

fn oracle(text: &str) -> Tokens {
    Tokens {
        o200k_base: tiktoken_rs::o200k_base_singleton().count_ordinary(text) as u64,
        cl100k_base: tiktoken_rs::cl100k_base_singleton().count_ordinary(text) as u64,
    }
}

#[test]
fn counts_equal_the_reference() {
    for text in CORPUS {
        assert_eq!(count(text, &Cancel::new()).unwrap(), oracle(text), "{text:?}");
    }
    assert_eq!(count(CORPUS[1], &Cancel::new()).unwrap().o200k_base, 15);
}

#[test]
fn long_texts_equal_the_whole() {
    let mixed = CORPUS.concat().repeat(2_000);
    for text in [mixed, "-".repeat(100_000), " ".repeat(200_000), "北京".repeat(60_000), "'s".repeat(50_000)] {
        let whole = Tokens {
            o200k_base: bpe_openai::o200k_base().count(text.as_str()) as u64,
            cl100k_base: bpe_openai::cl100k_base().count(text.as_str()) as u64,
        };
        assert_eq!(count(&text, &Cancel::new()).unwrap(), whole);
        let mut counter = Counter::new();
        text.as_bytes().chunks(7_001).for_each(|piece| counter.push(piece));
        let counts = counter.finish();
        assert_eq!((counts.tokens, counts.chars), (whole, text.chars().count() as u64));
    }
}

#[test]
fn a_cancelled_count_ends() {
    let cancel = Cancel::new();
    cancel.cancel();
    assert_eq!(count("text", &cancel), Err(Cancelled));
}

#[test]
fn subtrees_add_up_to_the_whole() {
    let text = r#"{"items":[{"id":12345,"name":"Acme","tags":[]},{"id":7,"name":"é \"x\""}],"more":false}"#;
    let doc = Doc::parse(Bytes::from_static(text.as_bytes()));
    let tokens = subtrees(doc.root().unwrap(), &Cancel::new()).unwrap();
    assert_eq!(u64::from(tokens[0]), count(text, &Cancel::new()).unwrap().o200k_base);
    assert_eq!(tokens.len(), doc.len());
    for index in 0..doc.len() {
        let node = doc.node(index).unwrap();
        let inside: u32 = node.children().map(|child| tokens[child.index()]).sum();
        assert!(tokens[index] >= inside, "{node:?}");
    }
    let inner = subtrees(doc.at("/items/1").unwrap(), &Cancel::new()).unwrap();
    assert_eq!(u64::from(inner[0]), count(r#"{"id":7,"name":"é \"x\""}"#, &Cancel::new()).unwrap().o200k_base);
}

/// Text out of pieces that sit close to the borders of the pre-tokenizers' classes.
fn awkward() -> impl Strategy<Value = String> {
    let pieces = [
        "a",
        "Z",
        "é",
        "ß",
        "İ",
        "ſ",
        "1",
        "２",
        "Ⅷ",
        " ",
        "  ",
        "\n",
        "\r\n",
        "\t",
        "\u{a0}",
        "\u{3000}",
        "'",
        "'s",
        "'LL",
        "’",
        "\"",
        ",",
        "{",
        "}",
        ":",
        "/",
        "//\n",
        "-",
        "--",
        "_",
        "北",
        "京。",
        "か",
        "한",
        "😀",
        "\u{301}",
        "\u{200d}",
        "ǅ",
        "ʰ",
        "<|endoftext|>",
        "x1",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..60).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn a_safe_cut_changes_nothing(text in awkward()) {
        let mut prefix = text.as_str();
        while let Some(cut) = safe_cut(prefix) {
            let mut parts = Tokens::default();
            parts.add(&text[..cut]);
            parts.add(&text[cut..]);
            let mut whole = Tokens::default();
            whole.add(&text);
            prop_assert_eq!(parts, whole, "cut at {} of {:?}", cut, text);
            prefix = &prefix[..cut];
        }
    }

    #[test]
    fn any_text_counts_as_the_reference_says(text in prop_oneof![awkward(), any::<String>()]) {
        prop_assert_eq!(count(&text, &Cancel::new()).unwrap(), oracle(&text));
    }

    #[test]
    fn bytes_in_pieces_count_as_the_lossy_whole(bytes in prop::collection::vec(any::<u8>(), 0..200), size in 1_usize..9) {
        let mut counter = Counter::new();
        bytes.chunks(size).for_each(|piece| counter.push(piece));
        let counts = counter.finish();
        let whole = String::from_utf8_lossy(&bytes);
        prop_assert_eq!(counts.chars, whole.chars().count() as u64);
        prop_assert_eq!(counts.utf16, whole.encode_utf16().count() as u64);
        prop_assert_eq!(counts.tokens, count(&whole, &Cancel::new()).unwrap());
        prop_assert_eq!(counts.bytes, bytes.len() as u64);
    }
}
