//! Counting: chunked equals whole, and both equal the reference implementations.

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
        assert_eq!(count(text), oracle(text), "{text:?}");
    }
    assert_eq!(count(CORPUS[1]).o200k_base, 15);
}

#[test]
fn long_texts_equal_the_whole() {
    let mixed = CORPUS.concat().repeat(2_000);
    for text in [
        mixed,
        "-".repeat(100_000),
        " ".repeat(200_000),
        "北京".repeat(60_000),
        "'s".repeat(50_000),
        "─".repeat(2_000),
        format!("{}x{}", "ab".repeat(1_500), "=-".repeat(1_500)),
        ("=".repeat(300) + &"-*".repeat(70) + "é").repeat(3),
    ] {
        let whole = oracle(&text);
        assert_eq!(count(&text), whole);
        let mut counter = Counter::new();
        text.as_bytes()
            .chunks(7_001)
            .for_each(|piece| counter.push(piece));
        let counts = counter.finish();
        assert_eq!(
            (counts.tokens, counts.chars),
            (whole, text.chars().count() as u64)
        );
    }
}

#[test]
fn subtrees_add_up_to_the_whole() {
    let text = r#"{"items":[{"id":12345,"name":"Acme","tags":[]},{"id":7,"name":"é \"x\""}],"more":false}"#;
    let doc = Doc::parse(Bytes::from_static(text.as_bytes()));
    let tokens = subtrees(doc.root().unwrap());
    assert_eq!(u64::from(tokens[0]), count(text).o200k_base);
    assert_eq!(tokens.len(), doc.len());
    for index in 0..doc.len() {
        let node = doc.node(index).unwrap();
        let inside: u32 = node.children().map(|child| tokens[child.index()]).sum();
        assert!(tokens[index] >= inside, "{node:?}");
    }
    let inner = subtrees(doc.at("/items/1").unwrap());
    assert_eq!(
        u64::from(inner[0]),
        count(r#"{"id":7,"name":"é \"x\""}"#).o200k_base
    );
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
        " the",
        "HTTP",
        "'Re",
        "'ſ",
        "\r",
        "/\r",
        "\u{85}",
        "\u{2028}",
        "\u{feff}",
        "\u{fffd}",
        "👩\u{200d}👧",
        "🏽",
        "א",
        "م\u{651}",
        "नमस्ते",
        "ไทย",
        "Ж",
        "ж",
        "𐐀",
        "𐐨",
        "ª",
        "½",
        "𠀀",
        "─",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..60)
        .prop_map(|parts| parts.concat())
}

/// Characters of few blocks, those of two and three bytes above all, and of each a few.
fn characters() -> impl Strategy<Value = String> {
    let char = prop_oneof![
        prop::char::range(' ', '~'),
        prop::char::range('\u{80}', '\u{2fff}'),
        prop::char::range('\u{3000}', '\u{ffff}'),
        prop::char::range('\u{4e00}', '\u{4eff}'),
    ];
    let run = (char, prop_oneof![9 => Just(1), 1 => 2_usize..40]);
    prop::collection::vec(run, 0..40).prop_map(|runs| {
        runs.iter()
            .flat_map(|(char, times)| std::iter::repeat_n(*char, *times))
            .collect()
    })
}

/// One text of `tests/data/token/corpus.json`, with the counts another implementation made of it.
#[derive(serde::Deserialize)]
struct Sample {
    name: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    repeat: String,
    #[serde(default)]
    times: usize,
    o200k_base: u64,
    cl100k_base: u64,
    p50k_base: u64,
}

impl Sample {
    fn all() -> Vec<Sample> {
        #[derive(serde::Deserialize)]
        struct File {
            texts: Vec<Sample>,
        }
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/token/corpus.json");
        serde_json::from_slice::<File>(&std::fs::read(path).unwrap())
            .unwrap()
            .texts
    }

    fn text(&self) -> String {
        format!("{}{}", self.text, self.repeat.repeat(self.times))
    }
}

fn p50k(text: &str) -> u64 {
    Tokenizer::P50kBase.count(text).unwrap().low()
}

#[test]
fn the_corpus_counts_as_two_other_implementations_say() {
    let samples = Sample::all();
    assert!(samples.len() >= 200, "{}", samples.len());
    for sample in samples {
        let text = sample.text();
        let stated = Tokens {
            o200k_base: sample.o200k_base,
            cl100k_base: sample.cl100k_base,
        };
        assert_eq!(count(&text), stated, "{}", sample.name);
        assert_eq!(p50k(&text), sample.p50k_base, "{}", sample.name);
        assert_eq!(oracle(&text), stated, "{}", sample.name);
        assert_eq!(
            tiktoken_rs::p50k_base_singleton().count_ordinary(&text) as u64,
            sample.p50k_base,
            "{}",
            sample.name
        );
    }
}

/// The built-in vocabularies, written as the files that people have of them.
#[test]
fn a_file_counts_as_the_encoding_that_is_in_it() {
    use base64::Engine as _;
    let file = |name: &str, bpe: &tiktoken_rs::CoreBPE, ranks: u32| {
        let lines = (0..ranks).filter_map(|rank| {
            let bytes = bpe.decode_bytes(&[rank]).ok()?;
            Some(format!(
                "{} {rank}\n",
                base64::engine::general_purpose::STANDARD.encode(bytes)
            ))
        });
        TokenizerFile::read(name, lines.collect::<String>().as_bytes()).unwrap()
    };
    let o200k = file(
        "o200k.tiktoken",
        tiktoken_rs::o200k_base_singleton(),
        199_998,
    );
    let cl100k = file(
        "cl100k.tiktoken",
        tiktoken_rs::cl100k_base_singleton(),
        100_256,
    );
    for sample in Sample::all() {
        let text = sample.text();
        let counted = |file: &TokenizerFile| file.count(&text).unwrap();
        assert_eq!(
            (counted(&o200k), counted(&cl100k)),
            (sample.o200k_base, sample.cl100k_base),
            "{}",
            sample.name
        );
    }
}

#[test]
fn a_million_of_one_character_is_counted() {
    // tiktoken-rs panics on such runs of white space, as long as something follows them.
    let run = " ".repeat(1_000_000);
    assert_eq!(p50k(&format!("{run}x")), p50k(&run[1..]) + p50k(" x"));
    let both = |text: &str| count(text);
    assert_eq!(both(&format!("{run}x")), both(&run[1..]).plus(both(" x")));
    assert_eq!(p50k(&"x".repeat(1_000_000)), p50k(&"x".repeat(500_000)) * 2);
}

/// Long runs are linear: a text without a place to cut it is searched for one once, not again with every longer part.
#[test]
fn no_part_of_a_run_is_searched_twice() {
    for unit in [" ", "a", "\n", "\u{301}"] {
        let run = unit.repeat(700_000);
        let before = searched();
        let mut parts = 0;
        pieces(&run, |_| parts += 1);
        assert_eq!(parts, 1, "{unit:?}");
        assert!(
            searched() - before <= run.len(),
            "{unit:?}: {} of {} bytes",
            searched() - before,
            run.len()
        );
        let before = searched();
        let mut counter = Counter::new();
        run.as_bytes()
            .chunks(9_000)
            .for_each(|piece| counter.push(piece));
        assert!(searched() - before <= run.len(), "{unit:?}, in pieces");
    }
    // Where there are places, only what stands behind the last of each part is.
    let text = "word, ".repeat(100_000);
    let before = searched();
    pieces(&text, |_| ());
    assert!(searched() - before < 100, "{}", searched() - before);
}

#[test]
fn a_long_word_counts_as_a_whole() {
    let word = "-".repeat(200_000);
    assert_eq!(
        Encoding::O200kBase.encoder().count(&word),
        oracle(&word).o200k_base
    );
}

/// What makes a look at the whole word enough where it is a token.
#[test]
fn every_token_is_merged_from_its_bytes() {
    let (mut symbols, mut starts) = (encoder::Symbols::default(), Vec::new());
    for encoder in ENCODERS {
        for token in encoder.table.tokens() {
            encoder.table.merge_bytes(token, &mut symbols, &mut starts);
            assert_eq!(starts.len(), 2, "{token:?}");
        }
    }
}

const ENCODERS: [&encoder::Encoder; 3] = [
    &encoder::O200K_BASE,
    &encoder::CL100K_BASE,
    &encoder::P50K_BASE,
];

/// Runs of one byte are merged all pairs at once.
#[test]
fn a_run_is_merged_as_any_word() {
    let (mut symbols, mut run, mut long) = (encoder::Symbols::default(), Vec::new(), Vec::new());
    for encoder in ENCODERS {
        for byte in *b" -=_*a0\n\t\0\x80\xe4\xff" {
            for length in (2..70).chain((70..700).step_by(29)) {
                let word = vec![byte; length];
                encoder.table.merge_bytes(&word, &mut symbols, &mut run);
                long.clear();
                encoder.table.merge_long(&word, &mut long);
                assert_eq!(run, long, "{length} times {byte}");
            }
        }
    }
}

#[test]
fn names_and_what_they_count() {
    let name = |name: &str| Tokenizer::named(name).map(|found| found.name().to_owned());
    assert_eq!(name("o200k_harmony").as_deref(), Some("o200k_base"));
    for known in Tokenizer::NAMES {
        assert!(name(known).is_some(), "{known}");
    }
    assert_eq!(name("gpt-4"), None);
    let tokens = Tokens {
        o200k_base: 101,
        cl100k_base: 99,
    };
    let of = |name: &str| Tokenizer::named(name).unwrap().from_tokens(tokens);
    assert_eq!(of("cl100k_base"), Some(Count::Exact(99)));
    // 111.1 and 196.95, rounded outwards.
    assert_eq!(
        of("claude"),
        Some(Count::Estimate {
            low: 111,
            high: 197
        })
    );
    assert_eq!(of("p50k_base"), None);
    assert_eq!(
        Count::claude(100),
        Count::Estimate {
            low: 110,
            high: 195
        }
    );
    assert_eq!(Count::claude(0), Count::Estimate { low: 0, high: 0 });
    assert_eq!(
        Count::Exact(5).plus(Count::claude(100)),
        Count::Estimate {
            low: 115,
            high: 200
        }
    );
    assert!(Tokenizer::Claude.how().contains("estimate") && !Tokenizer::Claude.is_exact());
}

#[test]
fn every_token_has_a_node_and_a_role() {
    let text = r#"{"note":"a\n      b","n":-1.5,"list":[true,null,"      "],"é\"":{}}"#;
    let doc = Doc::parse(Bytes::from_static(text.as_bytes()));
    let root = doc.root().unwrap();
    for &encoding in Encoding::ALL {
        let mut seen = Vec::new();
        each_token(root, encoding, |node, role| seen.push((node, role)));
        assert_eq!(seen.len() as u64, count(text).get(encoding));
        for role in [Role::Key, Role::Punctuation, Role::Space, Role::Value] {
            assert!(
                seen.iter().any(|(_, found)| *found == role),
                "{role:?} in {encoding:?}"
            );
        }
    }
}

proptest! {
    #[test]
    fn a_safe_cut_changes_nothing(text in awkward()) {
        let mut prefix = text.as_str();
        while let Some(cut) = safe_cut(prefix, 0) {
            let mut parts = Tokens::default();
            parts.add(&text[..cut]);
            parts.add(&text[cut..]);
            let mut whole = Tokens::default();
            whole.add(&text);
            prop_assert_eq!(parts, whole, "cut at {} of {:?}", cut, text);
            let p50k = |text: &str| encoder::P50K_BASE.count(text);
            prop_assert_eq!(p50k(&text[..cut]) + p50k(&text[cut..]), p50k(&text), "cut at {} of {:?}", cut, text);
            prefix = &prefix[..cut];
        }
    }

    /// `PROPTEST_CASES=1000000 cargo test --release -p loupe-core any_text` tries a million.
    #[test]
    fn any_text_counts_as_the_reference_says(text in prop_oneof![awkward(), characters(), any::<String>()]) {
        prop_assert_eq!(count(&text), oracle(&text));
        prop_assert_eq!(p50k(&text), tiktoken_rs::p50k_base_singleton().count_ordinary(&text) as u64);
        let reference = tiktoken_rs::o200k_base_singleton();
        let tokens = reference.encode_ordinary(&text).into_iter();
        let theirs: Vec<_> = tokens.map(|token| reference.decode_bytes(&[token]).unwrap()).collect();
        let mut ours = Vec::new();
        each_start(&text, Encoding::O200kBase, |_, token| ours.push(token.to_vec()));
        prop_assert_eq!(ours, theirs, "{:?}", text);
    }

    #[test]
    fn a_long_word_in_windows_is_the_word(
        parts in prop::collection::vec((prop::sample::select(vec!["a", "-", " ", "=", "ab", "é", "北", "😀", "\n", "the", "0"]), 1_usize..60), 1..9),
        window in 40_usize..300,
    ) {
        let word: String = parts.iter().map(|(unit, times)| unit.repeat(*times)).collect();
        let (mut symbols, mut whole, mut windows) = (encoder::Symbols::default(), Vec::new(), Vec::new());
        for encoder in ENCODERS {
            whole.clear();
            encoder.table.merge_long(word.as_bytes(), &mut whole);
            encoder.table.merge_in_windows(word.as_bytes(), window, &mut symbols, &mut windows);
            prop_assert_eq!(&windows, &whole, "{:?}", word);
            if word.len() <= 1_000 {
                encoder.table.merge_bytes(word.as_bytes(), &mut symbols, &mut windows);
                prop_assert_eq!(&windows, &whole, "{:?}", word);
            }
        }
    }

    #[test]
    fn bytes_in_pieces_count_as_the_lossy_whole(bytes in prop::collection::vec(any::<u8>(), 0..200), size in 1_usize..9) {
        let mut counter = Counter::new();
        bytes.chunks(size).for_each(|piece| counter.push(piece));
        let counts = counter.finish();
        let whole = String::from_utf8_lossy(&bytes);
        prop_assert_eq!(counts.chars, whole.chars().count() as u64);
        prop_assert_eq!(counts.utf16, whole.encode_utf16().count() as u64);
        prop_assert_eq!(counts.tokens, count(&whole));
        prop_assert_eq!(counts.bytes, bytes.len() as u64);
    }
}
