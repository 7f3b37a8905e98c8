//! The stages, beside what the crate makes of a text in one step.

use kitoken::{CharsMap, Regex, SpecialToken, Token, UnicodeNormalization};
use proptest::prelude::*;

use super::*;

const TEKKEN: &[u8] = include_bytes!("../../tests/data/token/tekken.json");
const TOKENIZERS: &[u8] = include_bytes!("../../tests/data/token/tokenizer.json");

fn vocab(tokens: &[&str]) -> Vocab {
    // Every byte, so that any text has tokens.
    let bytes = (0..=255_u8).map(|byte| vec![byte]);
    bytes.chain(tokens.iter().map(|token| token.as_bytes().to_vec())).zip(0..).map(|(bytes, id)| Token { id, bytes }).collect()
}

fn definition(model: Model, config: Configuration) -> Definition {
    let special = |id, text: &str, kind, extract| SpecialToken {
        id,
        bytes: text.as_bytes().to_vec(),
        kind,
        ident: None,
        score: 0.0,
        extract,
    };
    let specials = vec![
        special(90_000, "<end>", SpecialTokenKind::Control, true),
        special(90_001, "<e", SpecialTokenKind::Control, true),
        special(90_002, "<unk>", SpecialTokenKind::Unknown, false),
        special(90_003, "<tool>", SpecialTokenKind::Priority, true),
        special(90_004, "<to", SpecialTokenKind::Priority, true),
        special(90_005, "two", SpecialTokenKind::Priority, false),
    ];
    Definition { meta: kitoken::Metadata::default(), model, specials, config }
}

fn bpe() -> Model {
    Model::BytePair { vocab: vocab(&["ab", "abc", " a", "  ", "\u{2581}a", "bc", "12", "one", "\u{4e00}\u{4e8c}"]), chars: false }
}

fn regex(pattern: &str, behavior: SplitBehavior) -> Split {
    Split::Pattern { pattern: SplitPattern::Regex(Regex::new(pattern).unwrap()), behavior }
}

fn definitions() -> Vec<Definition> {
    let words = r"'s|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
    let replace = |pattern: &str, with: &str| Normalization::Replace {
        pattern: NormalizationReplacePattern::Regex(Regex::new(pattern).unwrap()),
        replacement: with.into(),
    };
    let nfkc = Normalization::Unicode { scheme: UnicodeNormalization::NFKC };
    let prepend = Normalization::Conditional {
        condition: NormalizationCondition::StartOfText,
        normalization: Box::new(Normalization::Extend { character: '\u{2581}', left: 1, right: 0, pad: false }),
    };
    let spaces = Normalization::Replace { pattern: " ".into(), replacement: "\u{2581}".into() };
    let config = |normalization: Vec<Normalization>, split: Vec<Split>, processing: Vec<Processing>| Configuration {
        fallback: vec![kitoken::Fallback::Bytes, kitoken::Fallback::Unknown],
        normalization,
        split,
        processing,
        ..Configuration::default()
    };
    let unigram = {
        let vocab = vocab(&["ab", "\u{2581}a", "b", "\u{2581}"].map(|token| token));
        let mut seen = std::collections::HashSet::new();
        let vocab: Vocab = vocab.into_iter().filter(|token| seen.insert(token.bytes.clone())).collect();
        let scores = vocab.iter().map(|token| -1.0 - token.id as f32 / 100.0).collect();
        Model::Unigram { vocab, scores }
    };
    let word_piece = Model::WordPiece { vocab: vocab(&["ab", "##c", "one", "##2"]), max_word_chars: 100 };
    vec![
        definition(bpe(), config(vec![], vec![regex(words, SplitBehavior::Isolate)], vec![])),
        definition(bpe(), config(vec![nfkc, Normalization::CaseFold { upper: false }], vec![], vec![])),
        definition(
            bpe(),
            config(
                vec![replace(r"(\d)(\d)", "$2-$1"), Normalization::Collapse { character: ' ' }],
                vec![regex(r"\d", SplitBehavior::Isolate), regex(r"\s+", SplitBehavior::MergeRight)],
                vec![],
            ),
        ),
        definition(
            unigram,
            config(
                vec![Normalization::NMT, spaces, prepend],
                vec![regex("\u{2581}+", SplitBehavior::MergeLeft)],
                vec![Processing::Collapse { id: 90_002 }],
            ),
        ),
        definition(
            word_piece,
            Configuration {
                fallback: vec![kitoken::Fallback::Unknown],
                templates: vec![kitoken::Template { content: "##".into(), position: InsertionPosition::WordContinuation }],
                ..config(vec![], vec![regex(r"\s+", SplitBehavior::Remove)], vec![])
            },
        ),
    ]
}

/// Ours, and the crate's where it knows of no control tokens.
fn both(definition: &Definition, text: &str, piece: usize) -> (Result<u64, Stop>, Result<u64, String>) {
    let mut plain = definition.clone();
    plain.specials.retain(|special| special.kind != SpecialTokenKind::Control);
    const ADDED: &[SpecialTokenKind] = &[SpecialTokenKind::Priority];
    let whole = Kitoken::from_definition(plain).unwrap().encode(text, ADDED);
    let whole = whole.map(|tokens| tokens.len() as u64).map_err(|error| error.to_string());
    (Stages::in_pieces(definition.clone(), piece).unwrap().count(text, &Cancel::new()), whole)
}

#[track_caller]
fn is_as_the_crate_counts(definition: &Definition, text: &str, piece: usize) {
    let (ours, whole) = both(definition, text, piece);
    assert_eq!(ours, whole.map_err(Stop::Failed), "in {piece}: {:?}", &text[..text.floor_char_boundary(200)]);
}

#[test]
fn long_texts_are_counted_as_the_crate_counts_them() {
    let texts = [
        "ab abc 12 one <end> two <tool>\n".repeat(9_000),
        "\u{4e00}\u{4e8c}\u{4e09}".repeat(20_000),
        // Nothing but one word, which is cut where no token reaches across; what is left is no token by itself.
        "abcone".repeat(30_000),
        "abc".repeat(21_846) + "one",
        "\u{39f}\u{394}\u{39f}\u{3a3} \u{39f}\u{3a3}.\u{39f} e\u{301} \u{fb01}".repeat(8_000),
        " ".repeat(200_000),
        "1234567890".repeat(20_000),
    ];
    for text in &texts {
        for definition in definitions() {
            is_as_the_crate_counts(&definition, text, PIECE_BYTES);
        }
        for definition in [Definition::from_tekken_slice(TEKKEN).unwrap(), Definition::from_tokenizers_slice(TOKENIZERS).unwrap()]
        {
            is_as_the_crate_counts(&definition, text, PIECE_BYTES);
        }
    }
}

#[test]
fn a_count_can_be_left_at_any_stage() {
    let text = "ab abc 12 one two\n".repeat(20_000) + &"abcone".repeat(30_000);
    for definition in definitions() {
        let stages = Stages::new(definition).unwrap();
        let whole = Cancel::new();
        stages.count(&text, &whole).unwrap();
        let looks = whole.looks();
        assert!(looks > 4, "{looks}");
        for look in [1, 2, looks / 2, looks] {
            let cancel = Cancel::at_look(look);
            assert_eq!(stages.count(&text, &cancel), Err(Stop::Cancelled(Cancelled)));
            assert_eq!(cancel.looks(), look);
        }
    }
}

#[test]
fn what_is_too_long_for_one_step_is_said() {
    let long = "a".repeat(1_200_000);
    let runs = Model::BytePair { vocab: vocab(&["aa"]), chars: false };
    let endless = |max_word_chars| Model::WordPiece { vocab: vocab(&["ab"]), max_word_chars };
    let wide: Vec<String> = ["a".repeat(30_000)].into();
    let unigram = vocab(&[&wide[0]]);
    let unigram = Model::Unigram { scores: vec![-1.0; unigram.len()], vocab: unigram };
    for (model, text) in
        [(runs, &long[..]), (endless(0), &long[..2_000]), (endless(3_000), &long[..2_000]), (unigram, &long[..40_000])]
    {
        let stages = Stages::new(definition(model, Configuration::default())).unwrap();
        let Err(Stop::Failed(why)) = stages.count(text, &Cancel::new()) else { panic!("counted") };
        assert!(why.contains("takes for one word"), "{why}");
    }
}

#[test]
fn files_that_would_take_too_much_are_refused() {
    let why = |definition| Stages::new(definition).unwrap_err();
    let splits = vec![regex("a", SplitBehavior::Isolate); 65];
    assert!(why(definition(bpe(), Configuration { split: splits, ..Configuration::default() })).contains("more than 64 times"));
    let long = "a".repeat(40_000);
    let model = Model::BytePair { vocab: vocab(&[&long]), chars: false };
    assert!(why(definition(model, Configuration::default())).contains("a token of 40000 bytes"));
}

#[test]
fn texts_of_every_kind_are_normalised_in_pieces() {
    let nfkc = Normalization::Unicode { scheme: UnicodeNormalization::NFKC };
    let map = Normalization::CharsMap { map: CharsMap::try_from(&[4_u8, 0, 0, 0, 0, 0, 0, 0][..]).unwrap() };
    let kinds =
        [nfkc, map, Normalization::NMT, Normalization::CaseFold { upper: false }, Normalization::Collapse { character: ' ' }];
    let texts =
        [r#"{"a":12345,"bc":[true,null]},"#, "\u{441}\u{43b}\u{43e}\u{432}\u{43e}1", "\u{30ab}\u{306a}\u{4e00}", "base64/"];
    for kind in kinds {
        let Ok(Normalize::Local(_, is_cut)) = Normalize::new(kind.clone()) else { panic!("{kind:?}") };
        for text in texts {
            let end = local_cut(&text.repeat(20_000), PIECE_BYTES, &is_cut, &Cancel::new()).unwrap();
            assert!(end < PIECE_BYTES + 40, "{kind:?}, {text}: {end}");
        }
    }
}

#[test]
fn parts_are_those_of_the_crate() {
    let behaviors = [
        SplitBehavior::Match,
        SplitBehavior::Remove,
        SplitBehavior::Isolate,
        SplitBehavior::Merge,
        SplitBehavior::MergeLeft,
        SplitBehavior::MergeRight,
    ];
    for behavior in behaviors {
        for pattern in ["a", "ab|b", r"\s", r"\b", "(?=b)", "x", "a*"] {
            for text in ["", "a", "aab ab  ba", " a a ", "bbb", "a b\n"] {
                let split = regex(pattern, behavior);
                let whole: Vec<&str> =
                    split.split(text).into_iter().map(|(from, to)| &text[from..to]).filter(|part| !part.is_empty()).collect();
                let mut parts = Vec::new();
                let keep = |part: &str| {
                    parts.extend((!part.is_empty()).then(|| part.to_owned()));
                    Ok(())
                };
                Splitting::new(split).unwrap().each(text, &Cancel::new(), keep).unwrap();
                assert_eq!(parts, whole, "{pattern:?} {behavior:?} {text:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_text_is_counted_as_the_crate_counts_it(text in r"([abc12 \n]|one|two|<end>|<e|<tool>|<to|<unk>|\PC|▁|é|e\u{301}|ﬁ|Σ|Α|\.|ﾊﾟ|한|ᄒ|ᅡ){0,60}") {
        for definition in definitions() {
            for piece in [1, 5, 20, PIECE_BYTES] {
                is_as_the_crate_counts(&definition, &text, piece);
            }
        }
    }
}
