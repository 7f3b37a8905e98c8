//! All host views of an answer of 1 MB, beside counting each distinct text of them once: the second is what cannot be
//! spared. The sample has both parts, Markdown and records.

use loupe_analysis::queries;
use std::collections::HashSet;
use std::hint::black_box;
use std::sync::Arc;

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use loupe_analysis::queries::{Ctx, HostsQuery, PlacementsQuery};
use loupe_core::cancel::Cancel;
use loupe_core::format::ParsedCapture;
use loupe_core::host::Hosts;
use loupe_core::token;
use mcp_loupe::store;

mod common;

/// Records of the generator that make about 1 MB in both parts together.
const RECORDS: usize = 2_000;

fn subject() -> Arc<ParsedCapture> {
    let text = serde_json::to_string(&common::markdown(RECORDS)).expect("a string is JSON");
    let data = common::data(RECORDS);
    let result = format!(
        "{{\"content\":[{{\"type\":\"text\",\"text\":{text}}}],\"structuredContent\":{data}}}"
    );
    let capture =
        store::read_bytes(&Bytes::from(result), "bench", None).expect("a result is a capture");
    queries::subject(Arc::new(capture))
}

fn hosts(criterion: &mut Criterion) {
    let subject = subject();
    let (hosts, cancel) = (Hosts::built_in(), Cancel::new());
    // Every time as for an answer that was never asked about.
    let fresh = || {
        Arc::new(ParsedCapture {
            cache: Arc::default(),
            ..(*subject).clone()
        })
    };
    let ask = || Ctx::new(&[fresh()], &hosts, &cancel).get(&HostsQuery);
    let Ok(Ok(first)) = ask() else {
        panic!("no report")
    };
    let texts: HashSet<&str> = first.rows.iter().flat_map(|row| row.view.texts()).collect();
    token::warm_up();
    let mut group = criterion.benchmark_group("host views of 1 MB");
    let size = subject
        .capture
        .response
        .as_ref()
        .map_or(0, |response| response.len());
    group
        .throughput(Throughput::Bytes(size as u64))
        .sample_size(10);
    group.bench_function("count each distinct text", |bench| {
        bench.iter(|| {
            texts
                .iter()
                .map(|text| token::count(black_box(text)).o200k_base)
                .sum::<u64>()
        });
    });
    group.bench_function("all host views", |bench| bench.iter(|| black_box(ask())));
    group.bench_function("six deliveries through all hosts", |bench| {
        bench.iter(|| black_box(Ctx::new(&[fresh()], &hosts, &cancel).get(&PlacementsQuery)));
    });
    group.finish();
}

criterion_group!(benches, hosts);
criterion_main!(benches);
