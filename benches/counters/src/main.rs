//! Loupe's count of tokens beside those of other crates, on one thread: `cargo run --release [cl100k_base]` here.
//!
//! Each text is counted by all of them in turn, five times; the shortest time on the processor of each is taken. Before each time another
//! text is counted, so that no word of this one is remembered, and splintr's cache is cleared.

use std::fmt::Write as _;
use std::hint::black_box;
use std::io::BufReader;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use nix::time::{ClockId, clock_gettime};

use wordchipper::TokenEncoderOptions;
use wordchipper::vocab::SpecialFilter;

mod texts;

type Count = Box<dyn Fn(&str) -> u64>;

struct Counter {
    name: &'static str,
    count: Count,
    forget: Box<dyn Fn()>,
}

impl Counter {
    fn new(name: &'static str, count: impl Fn(&str) -> u64 + 'static) -> Self {
        Self {
            name,
            count: Box::new(count),
            forget: Box::new(|| ()),
        }
    }

    /// The tokens, and how long it took; none where it gives up.
    fn time(&self, other: &str, text: &str) -> Option<(u64, Duration)> {
        (self.count)(other);
        (self.forget)();
        let start = on_processor();
        let count = AssertUnwindSafe(|| black_box((self.count)(black_box(text))));
        let counted = catch_unwind(count).ok()?;
        Some((counted, on_processor() - start))
    }
}

/// How long this thread has had a processor, which others that work there do not change.
fn on_processor() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)
        .expect("the system has this clock")
        .into()
}

/// The splitting patterns, as OpenAI writes them.
const CL100K: &str = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s";
const O200K: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|\p{N}{1,3}",
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]*",
    r"|\s*[\r\n]+",
    r"|\s+(?!\S)|\s+",
);

fn counters(is_o200k: bool) -> Vec<Counter> {
    let name = if is_o200k {
        "o200k_base"
    } else {
        "cl100k_base"
    };
    let loupe = loupe_core::token::Tokenizer::named(name).expect("a known name");
    let tiktoken = if is_o200k {
        tiktoken_rs::o200k_base_singleton()
    } else {
        tiktoken_rs::cl100k_base_singleton()
    };
    let ranks = if is_o200k { 199_998 } else { 100_256 };
    let tokens: Vec<(Vec<u8>, u32)> = (0..ranks)
        .map(|rank| (tiktoken.decode_bytes(&[rank]).expect("a rank"), rank))
        .collect();
    let bpe = if is_o200k {
        bpe_openai::o200k_base()
    } else {
        bpe_openai::cl100k_base()
    };
    let file = tokens
        .iter()
        .fold(String::new(), |mut file, (bytes, rank)| {
            writeln!(file, "{} {rank}", STANDARD.encode(bytes)).expect("writing to a string");
            file
        });
    let model = if is_o200k {
        wordchipper::pretrained::openai::OATokenizer::O200kBase
    } else {
        wordchipper::pretrained::openai::OATokenizer::Cl100kBase
    };
    let wordchipper = model
        .read_vocab::<u32>(&mut BufReader::new(file.as_bytes()))
        .expect("its own format");
    let wordchipper = TokenEncoderOptions::default().build(std::sync::Arc::new(wordchipper));
    let pattern = if is_o200k { O200K } else { CL100K };
    let riptoken = riptoken::CoreBPE::new(
        tokens.into_iter().collect(),
        rustc_hash::FxHashMap::default(),
        pattern,
    )
    .expect("a pattern that it knows");
    let splintr = splintr::from_pretrained(name).expect("it is in the crate");
    let splintr::Backend::Bpe(splintr) = splintr.into_backend() else {
        unreachable!("an encoding of pairs of bytes")
    };
    let splintr: &'static splintr::Tokenizer = Box::leak(Box::new(splintr));
    vec![
        Counter::new("Loupe", move |text| {
            loupe.count(text).map_or(0, |count| count.low())
        }),
        Counter {
            forget: Box::new(|| splintr.clear_cache()),
            ..Counter::new("splintr", |text| splintr.encode_ordinary(text).len() as u64)
        },
        Counter::new("bpe-openai", |text| bpe.count(text) as u64),
        Counter::new("tiktoken-rs", |text| tiktoken.count_ordinary(text) as u64),
        Counter::new("wordchipper", move |text| {
            wordchipper
                .try_encode(text, Some(&SpecialFilter::IncludeNone))
                .map_or(0, |tokens| tokens.len() as u64)
        }),
        Counter::new("riptoken", move |text| {
            riptoken.encode_ordinary(text).len() as u64
        }),
    ]
}

fn main() {
    let is_o200k = std::env::args()
        .nth(1)
        .is_none_or(|name| name == "o200k_base");
    let counters = counters(is_o200k);
    let texts = texts::all();
    let other = &texts[0].1.clone();
    let other = &other[..other.floor_char_boundary(300_000)];
    std::panic::set_hook(Box::new(|_| ()));
    print!("| MB/s (÷ Loupe) |");
    counters
        .iter()
        .for_each(|counter| print!(" {} |", counter.name));
    println!("\n|---|{}", "--:|".repeat(counters.len()));
    for (name, text) in &texts {
        let mut best = vec![None; counters.len()];
        for turn in 0..5 {
            for (counter, best) in counters.iter().zip(&mut best) {
                // One that gave up or took seconds is not asked again.
                let ask = |best: &(u64, Duration)| best.1 < Duration::from_secs(2);
                if turn == 0 || best.as_ref().is_some_and(ask) {
                    let new = counter.time(other, text);
                    *best = [*best, new].into_iter().flatten().min_by_key(|best| best.1);
                }
            }
        }
        print!("| {name}");
        let speed = |time: Duration| text.len() as f64 / 1e6 / time.as_secs_f64();
        let ours = best[0].expect("Loupe gives up on nothing");
        for found in &best {
            match found {
                None => print!(" | gives up"),
                Some((counted, time)) => {
                    print!(
                        " | {:.1} ({:.2})",
                        speed(*time),
                        speed(*time) / speed(ours.1)
                    );
                    if *counted != ours.0 {
                        print!(", {:+} tokens", *counted as i64 - ours.0 as i64);
                    }
                }
            }
        }
        println!(" |");
    }
}
