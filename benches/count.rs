//! Counting tokens, beside one plain pass over the bytes.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mcp_loupe::cancel::Cancel;
use mcp_loupe::token;

mod common;

fn count(criterion: &mut Criterion) {
    token::warm_up();
    let text = common::payload(5_000);
    let cancel = Cancel::new();
    let mut group = criterion.benchmark_group("count");
    group.throughput(Throughput::Bytes(text.len() as u64)).sample_size(10);
    group.bench_function("plain pass", |bench| bench.iter(|| common::plain_pass(black_box(text.as_bytes()))));
    group.bench_function("both encodings", |bench| bench.iter(|| token::count(black_box(&text), &cancel)));
    group.finish();
}

criterion_group!(benches, count);
criterion_main!(benches);
