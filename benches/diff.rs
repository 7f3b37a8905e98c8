//! Comparing two payloads and two texts of about 5 MB, beside indexing both payloads.

use std::hint::black_box;
use std::time::{Duration, Instant};

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use loupe_core::diff::lines::{LineOptions, lines};
use loupe_core::diff::tree::{TreeOptions, tree};
use loupe_core::json::Doc;

mod common;

/// Records of the generator that make about 5 MB.
const RECORDS: usize = 22_500;
/// After it no shorter way is looked for.
const LIMIT: Duration = Duration::from_secs(2);

/// Another answer of the same tool: every tenth city changed, every hundredth record gone, a field added to some.
fn changed(data: &str) -> String {
    let mut records: Vec<String> = data.split("},{").map(str::to_owned).collect();
    for (at, record) in records.iter_mut().enumerate() {
        if at % 10 == 3 {
            *record = record.replace("Boston", "Bergen");
        }
        if at % 100 == 50 {
            record.push_str(",\"note\":\"new\"");
        }
    }
    let kept = records.iter().enumerate().filter(|(at, _)| at % 100 != 70);
    kept.map(|(_, record)| record.as_str())
        .collect::<Vec<_>>()
        .join("},{")
}

fn diff(criterion: &mut Criterion) {
    let old = common::data(RECORDS);
    let new = changed(&old);
    let other = common::data(RECORDS)
        .replace("\"id\":", "\"nr\":")
        .replace("Boston", "Bergen");
    let doc = |text: &str| Doc::parse(Bytes::copy_from_slice(text.as_bytes()));
    let (a, b, c) = (doc(&old), doc(&new), doc(&other));
    let broken = |text: &str| text.replace("},{", "},\n{").replace(",\"", ",\n\"");
    let (a_text, b_text, c_text) = (broken(&old), broken(&new), broken(&other));
    let mut group = criterion.benchmark_group("two payloads of 5 MB");
    group
        .throughput(Throughput::Bytes((old.len() + new.len()) as u64))
        .sample_size(10);
    group.bench_function("index both", |bench| {
        bench.iter(|| (doc(black_box(&old)), doc(black_box(&new))));
    });
    for (name, other) in [("by path, some changed", &b), ("by path, all changed", &c)] {
        let roots = (a.root().expect("a value"), other.root().expect("a value"));
        let options = TreeOptions::default();
        group.bench_function(name, |bench| {
            bench.iter(|| tree(roots.0, black_box(roots.1), &options))
        });
    }
    for (name, other) in [
        ("by line, some changed", &b_text),
        ("by line, all changed", &c_text),
    ] {
        group.bench_function(name, |bench| {
            bench.iter(|| {
                let options = LineOptions {
                    deadline: Some(Instant::now() + LIMIT),
                    ..LineOptions::default()
                };
                lines(&a_text, black_box(other), &options)
            });
        });
    }
    group.finish();
}

criterion_group!(benches, diff);
criterion_main!(benches);
