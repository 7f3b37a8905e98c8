//! Indexing JSON, beside one plain pass over the bytes.

use std::hint::black_box;

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use loupe_core::json::Doc;

mod common;

fn parse(criterion: &mut Criterion) {
    let bytes = Bytes::from(common::data(90_000));
    let mut group = criterion.benchmark_group("parse");
    group
        .throughput(Throughput::Bytes(bytes.len() as u64))
        .sample_size(10);
    group.bench_function("plain pass", |bench| {
        bench.iter(|| common::plain_pass(black_box(&bytes)))
    });
    group.bench_function("20 MB of records", |bench| {
        bench.iter(|| Doc::parse(black_box(bytes.clone())))
    });
    group.finish();
}

criterion_group!(benches, parse);
criterion_main!(benches);
