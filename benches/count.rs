//! Counting tokens, beside plain tiktoken-rs on the same text, and how the time grows with a run of one character.
//! Both are printed as ratios, which do not depend on the machine; `cargo bench --bench count`. `benches/counters` has more.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use loupe_core::token::{self, Tokenizer};

mod common;

/// The shortest of several runs: what else the machine does only ever makes one longer.
fn time(mut work: impl FnMut()) -> Duration {
    (0..5)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .min()
        .unwrap_or_default()
}

fn ratio(left: Duration, right: Duration) -> f64 {
    left.as_secs_f64() / right.as_secs_f64().max(1e-9)
}

fn against_tiktoken() {
    let prose = "The harbour was quiet before sunrise; only the gulls argued. She hadn't slept, but she'd promised. ";
    let cjk = "今天天气很好，我们一起去市场买三斤苹果。오늘은 날씨가 좋아서 시장에 갔습니다。今日は天気がいいです。";
    let texts = [
        ("prose", prose.repeat(3_000)),
        ("JSON", common::data(1_500)),
        ("Markdown", common::markdown(1_000)),
        ("CJK", cjk.repeat(2_000)),
        (
            "runs",
            format!(
                "{}x{}y{}",
                " ".repeat(50_000),
                "a".repeat(50_000),
                "=".repeat(50_000)
            ),
        ),
    ];
    let o200k = Tokenizer::default();
    let cl100k = Tokenizer::named("cl100k_base").unwrap_or_default();
    let references = [
        ("o200k_base", o200k, tiktoken_rs::o200k_base_singleton()),
        ("cl100k_base", cl100k, tiktoken_rs::cl100k_base_singleton()),
        (
            "p50k_base",
            Tokenizer::P50kBase,
            tiktoken_rs::p50k_base_singleton(),
        ),
    ];
    println!("time of Loupe over that of tiktoken-rs (below 1 is faster)");
    for (corpus, text) in &texts {
        for (name, tokenizer, reference) in &references {
            let ours = time(|| {
                black_box(tokenizer.count(black_box(text))).ok();
            });
            let theirs = time(|| {
                black_box(reference.count_ordinary(black_box(text)));
            });
            println!("  {corpus:9} {name:12} {:.2}", ratio(ours, theirs));
        }
    }
}

fn growth() {
    println!(
        "time of 400,000 characters over that of 200,000 (2.0 is linear; at most 2.5 is wanted)"
    );
    for unit in ["a", " ", "\n", "7", "-", "=", "😀", "北", "\u{301}", "'s"] {
        for name in ["o200k_base", "cl100k_base", "p50k_base"] {
            let Some(tokenizer) = Tokenizer::named(name) else {
                continue;
            };
            let of = |characters: usize| {
                let text = unit.repeat(characters);
                time(|| {
                    black_box(tokenizer.count(black_box(&text))).ok();
                })
            };
            println!(
                "  {:12} {name:12} {:.2}",
                format!("{unit:?}"),
                ratio(of(400_000), of(200_000))
            );
        }
    }
}

fn count(criterion: &mut Criterion) {
    token::warm_up();
    against_tiktoken();
    growth();
    let text = common::data(5_000);
    let mut group = criterion.benchmark_group("count");
    group
        .throughput(Throughput::Bytes(text.len() as u64))
        .sample_size(10);
    group.bench_function("plain pass", |bench| {
        bench.iter(|| common::plain_pass(black_box(text.as_bytes())))
    });
    group.bench_function("both encodings", |bench| {
        bench.iter(|| token::count(black_box(&text)))
    });
    group.finish();
}

criterion_group!(benches, count);
criterion_main!(benches);
