//! Writing formats and matching facts, beside one plain pass over the bytes.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mcp_loupe::cancel::{Cancel, Cancelled};
use mcp_loupe::capture::{Capture, CaptureId, Outcome, Server, Timings, Tool, match_facts};
use mcp_loupe::format::{FORMATS, Sink, Subject};
use mcp_loupe::token;
use time::OffsetDateTime;

mod common;

struct Length(usize);

impl Sink for Length {
    fn push(&mut self, bytes: &[u8]) -> Result<(), Cancelled> {
        self.0 += bytes.len();
        Ok(())
    }
}

fn subject(records: usize) -> Subject {
    let text = mcp_loupe::json::write::string(&common::markdown(records));
    let structured = common::payload(records);
    let response = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":{text}}}],"structuredContent":{structured}}}}}"#
    );
    Subject::of(Arc::new(Capture {
        id: CaptureId("bench".into()),
        server: Server::default(),
        tool: Tool::unlisted("bench"),
        arguments: Bytes::from_static(b"{}"),
        started_at: OffsetDateTime::UNIX_EPOCH,
        timings: Timings { send: Duration::ZERO, server: Duration::ZERO, receive: Duration::ZERO },
        outcome: Outcome::Result,
        request: Bytes::new(),
        response: Some(Bytes::from(response)),
        messages: Vec::new(),
        http: None,
        problem: None,
        notes: Vec::new(),
    }))
}

fn formats(criterion: &mut Criterion) {
    let subject = subject(500);
    let payload = subject.payload.as_ref().expect("the answer has data");
    let text = subject.reading.content_text().expect("the answer has text");
    let cancel = Cancel::new();
    let mut group = criterion.benchmark_group("500 records");
    group.throughput(Throughput::Bytes(payload.root().raw().len() as u64)).sample_size(10);
    group.bench_function("plain pass", |bench| bench.iter(|| common::plain_pass(black_box(payload.root().raw()))));
    for format in FORMATS {
        group.bench_function(format.id(), |bench| bench.iter(|| format.write(black_box(&subject), &mut Length(0))));
    }
    group.bench_function("facts in the text", |bench| bench.iter(|| match_facts(payload, black_box(&text), &cancel)));
    group.bench_function("tokens of the tree", |bench| bench.iter(|| token::subtrees(payload.root(), &cancel)));
    group.finish();
}

criterion_group!(benches, formats);
criterion_main!(benches);
