//! The history: ten thousand captures listed, and a capture of 100 MB saved, looked through for secrets and opened.

use std::hint::black_box;
use std::time::Instant;

use bytes::Bytes;
use criterion::{Criterion, criterion_group, criterion_main};
use loupe_core::cancel::Cancel;
use loupe_core::capture::{Capture, CaptureId, Server, Tool};
use loupe_core::redact::{RedactOptions, redact};
use mcp_loupe::store::{History, read_folder, write_folder};
use time::OffsetDateTime;

mod common;

fn capture(number: i64, response: Bytes) -> Capture {
    Capture {
        tool: Tool::unlisted("search_companies"),
        arguments: Bytes::from(format!("{{\"page\":{number}}}")),
        started_at: OffsetDateTime::from_unix_timestamp(1_767_225_600 + number).expect("a date"),
        request: Bytes::from_static(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}"),
        response: Some(response),
        ..Capture::empty(
            CaptureId("bench".into()),
            Server {
                name: "bench".into(),
                ..Server::default()
            },
        )
    }
}

fn response(records: usize) -> Bytes {
    Bytes::from(format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"structuredContent\":{}}}}}",
        common::data(records)
    ))
}

fn history(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let history = History::at(folder.path());
    let small = response(3);
    for number in 0..10_000 {
        history
            .add(&capture(number, small.clone()))
            .expect("a capture");
    }
    let began = Instant::now();
    assert_eq!(history.list().expect("a list").entries.len(), 10_000);
    println!("first list of 10,000 captures: {:?}", began.elapsed());
    criterion
        .benchmark_group("history")
        .sample_size(10)
        .bench_function("10,000 captures listed", |bench| {
            bench.iter(|| black_box(history.list().expect("a list")));
        });
}

/// A line of what the system says of this process's memory.
fn kibibytes(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status
        .lines()
        .find(|line| line.starts_with(name))?
        .split_whitespace()
        .nth(1)?
        .parse()
        .ok()
}

fn large(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let large = capture(0, response(450_000));
    println!("response of {} bytes", large.wire_len());
    let mut group = criterion.benchmark_group("100 MB");
    group.sample_size(10);
    let mut number = 0;
    group.bench_function("saved", |bench| {
        bench.iter(|| {
            number += 1;
            let path = folder.path().join(number.to_string());
            write_folder(&large, &path).expect("a folder");
            std::fs::remove_dir_all(path).expect("removed");
        });
    });
    let path = folder.path().join("kept");
    // One copy of the bytes, and never two: what the process held at most since then, where the system tells.
    let held = |what: &str, work: &mut dyn FnMut()| {
        std::fs::write("/proc/self/clear_refs", "5").ok();
        let before = kibibytes("VmRSS");
        work();
        println!(
            "{what}: {before:?} KiB before, {:?} KiB at most",
            kibibytes("VmHWM")
        );
    };
    held("saving it", &mut || {
        write_folder(&large, &path).expect("a folder")
    });
    let options = RedactOptions::default();
    held("hiding what is secret in it", &mut || {
        drop(black_box(
            redact(&large, &options, &Cancel::new()).expect("not called off"),
        ))
    });
    group.bench_function("looked through for secrets", |bench| {
        bench.iter(|| black_box(redact(&large, &options, &Cancel::new()).expect("not called off")));
    });
    drop(large);
    held("opening it", &mut || {
        drop(black_box(read_folder(&path).expect("a capture")))
    });
    group.bench_function("opened", |bench| {
        bench.iter(|| black_box(read_folder(&path).expect("a capture")))
    });
    group.finish();
}

criterion_group!(benches, history, large);
criterion_main!(benches);
