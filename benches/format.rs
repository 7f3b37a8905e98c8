//! Writing formats and matching facts, beside one plain pass over the bytes.

use std::hint::black_box;
use std::sync::Arc;

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use loupe_core::capture::{Capture, CaptureId, Server, Tool, locate_facts};
use loupe_core::format::ledger::Row;
use loupe_core::format::{FORMATS, Format, ParsedCapture, Sink};
use loupe_core::token;

mod common;

struct Length(usize);

impl Sink for Length {
    fn push(&mut self, bytes: &[u8]) {
        self.0 += bytes.len();
    }
}

struct Whole(Vec<u8>);

impl Sink for Whole {
    fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}

struct Counting(token::Counter);

impl Sink for Counting {
    fn push(&mut self, bytes: &[u8]) {
        self.0.push(bytes);
    }
}

fn subject(records: usize) -> ParsedCapture {
    let text = loupe_core::json::write::string(&common::markdown(records));
    let structured = common::data(records);
    let response = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":{text}}}],"structuredContent":{structured}}}}}"#
    );
    ParsedCapture::new(Arc::new(Capture {
        tool: Tool::unlisted("bench"),
        arguments: Bytes::from_static(b"{}"),
        response: Some(Bytes::from(response)),
        ..Capture::empty(CaptureId("bench".into()), Server::default())
    }))
}

fn formats(criterion: &mut Criterion) {
    let subject = subject(500);
    let data = subject.data.as_ref().expect("the answer has data");
    let text = subject
        .response
        .content_text()
        .expect("the answer has text");
    let mut group = criterion.benchmark_group("500 records");
    group
        .throughput(Throughput::Bytes(data.root().raw().len() as u64))
        .sample_size(10);
    group.bench_function("plain pass", |bench| {
        bench.iter(|| common::plain_pass(black_box(data.root().raw())))
    });
    for format in FORMATS {
        group.bench_function(format.id(), |bench| {
            bench.iter(|| format.write(black_box(&subject), &mut Length(0)))
        });
    }
    group.bench_function("facts in the text", |bench| {
        bench.iter(|| locate_facts(data, black_box(&text)))
    });
    group.bench_function("tokens of the tree", |bench| {
        bench.iter(|| token::subtrees(data.root()))
    });
    group.finish();
}

/// All formats of a data of 1 MB in both encodings: the bare counts of texts that are there, the same while they are
/// written, and the complete ledger with facts and round trips.
fn ledger(criterion: &mut Criterion) {
    let subject = subject(4_500);
    token::warm_up();
    let texts: Vec<String> = FORMATS
        .iter()
        .filter_map(|format| {
            let mut text = Whole(Vec::new());
            format.applies(&subject).ok()?;
            format.write(&subject, &mut text).ok()?;
            Some(String::from_utf8_lossy(&text.0).into_owned())
        })
        .collect();
    let mut group = criterion.benchmark_group("all formats of 1 MB");
    group
        .throughput(Throughput::Bytes(
            texts.iter().map(|text| text.len() as u64).sum(),
        ))
        .sample_size(10);
    group.bench_function("bare counts", |bench| {
        bench.iter(|| {
            texts
                .iter()
                .map(|text| token::count(black_box(text)).o200k_base)
                .sum::<u64>()
        });
    });
    group.bench_function("written and counted", |bench| {
        bench.iter(|| {
            let count = |format: &&dyn Format| {
                let mut counts = Counting(token::Counter::new());
                format.write(black_box(&subject), &mut counts).ok()?;
                Some(counts.0.finish().tokens.o200k_base)
            };
            FORMATS
                .iter()
                .filter(|format| format.applies(&subject).is_ok())
                .filter_map(count)
                .sum::<u64>()
        });
    });
    group.bench_function("complete ledger", |bench| {
        bench.iter(|| {
            let fresh = ParsedCapture {
                cache: Arc::default(),
                ..subject.clone()
            };
            FORMATS
                .iter()
                .filter(|format| Row::measure(**format, &fresh).is_available())
                .count()
        });
    });
    group.finish();
}

criterion_group!(benches, formats, ledger);
criterion_main!(benches);
