//! Matching facts over shapes that hurt: each at a size and at twice that, which should take about twice as long.

use std::hint::black_box;

use bytes::Bytes;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use loupe_core::capture::{ResultData, locate_facts};
use loupe_core::json::Doc;

/// A data and a text of about `n` values.
type Shape = fn(usize) -> (String, String);

fn join(count: usize, sign: &str, part: impl Fn(usize) -> String) -> String {
    (0..count).map(part).collect::<Vec<_>>().join(sign)
}

fn list(count: usize, part: impl Fn(usize) -> String) -> String {
    format!("[{}]", join(count, ",", part))
}

const SHAPES: [(&str, Shape); 10] = [
    ("one number, half of them told", |n| {
        (
            format!("{{\"a\":{}}}", list(n, |_| "1".into())),
            join(n / 2, " ", |_| "1".into()),
        )
    }),
    ("one label, many values", |n| {
        (
            list(n, |at| format!("{{\"a\":{at}}}")),
            join(n, "\n", |at| format!("a: {}", at * 7 % n)),
        )
    }),
    ("many keys, one value", |n| {
        (
            format!("{{{}}}", join(n, ",", |at| format!("\"k{at}\":1"))),
            join(n, "\n", |at| format!("k{at}: 1")),
        )
    }),
    ("answers under one label", |n| {
        (
            format!("{{\"a\":{}}}", list(n, |at| (at % 2 == 0).to_string())),
            join(n, "\n", |_| "a: yes".into()),
        )
    }),
    ("records alike", |n| {
        (
            list(n / 2, |_| "{\"a\":1,\"b\":\"x\"}".into()),
            join(n / 4, "\n", |_| "a: 1, b: x".into()),
        )
    }),
    ("records on one line", |n| {
        let record = |at| format!("{{\"id\":{at},\"s\":\"open\"}}");
        (
            list(n / 2, record),
            join(n / 2, ",", |at| format!("{{\"s\":\"open\",\"id\":{at}}}")),
        )
    }),
    ("JSON that is cut, on one line", |n| {
        let data = list(n / 2, |at| format!("{{\"id\":{at},\"s\":\"open\"}}"));
        let cut = data[..data.len() - 10].to_owned();
        (data, cut)
    }),
    ("lists in records", |n| {
        let inner = |at: usize| {
            list(5, |line| {
                format!("{{\"k\":{},\"v\":{line}}}", at * 5 + line)
            })
        };
        let lines = |at: usize| join(5, "\n", |line| format!("- {}: {line}", at * 5 + line));
        (
            list(n / 10, |at| format!("{{\"id\":{at},\"l\":{}}}", inner(at))),
            join(n / 10, "\n", |at| format!("## {at}\n{}", lines(at))),
        )
    }),
    ("deep", |n| {
        (
            format!(
                "{}1{}",
                "{\"a\":{\"x\":1},\"b\":".repeat(n / 8),
                "}".repeat(n / 8)
            ),
            join(n / 2, "\n", |_| "a:\nb:".into()),
        )
    }),
    ("tags on one line", |n| {
        ("{\"a\":1}".into(), join(n, "", |_| "<a>".into()))
    }),
];

fn facts(criterion: &mut Criterion) {
    for (name, shape) in SHAPES {
        let mut group = criterion.benchmark_group(name);
        group.sample_size(10);
        for n in [20_000, 40_000] {
            let (data, text) = shape(n);
            let data = ResultData::of_doc(Doc::parse(Bytes::from(data))).expect("a data");
            group.throughput(Throughput::Bytes(text.len() as u64));
            group.bench_function(BenchmarkId::from_parameter(n), |bench| {
                bench.iter(|| black_box(locate_facts(&data, &text)));
            });
        }
        group.finish();
    }
}

criterion_group!(benches, facts);
criterion_main!(benches);
