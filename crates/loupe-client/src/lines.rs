//! Lines, exactly as they come: the framing of stdio and of the in-process pipe.

use std::io;
use std::time::Instant;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};

/// One line without its LF or CRLF.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub bytes: Bytes,
    /// When its first byte came.
    pub begun: Instant,
    /// It was longer than the limit; this is its first part, the rest is dropped.
    pub cut: bool,
    /// Whether a line end stood after it.
    pub ended: bool,
}

/// As many lines are dealt with at once.
const YIELD: usize = 512;

/// Asks a reader for what has come of the line that has not ended yet.
pub(super) type Unended = mpsc::Sender<oneshot::Sender<Bytes>>;

/// Reads until the end, a line longer than `limit` cut; the last one is delivered even without its line end.
pub(super) async fn read(
    mut from: impl AsyncRead + Unpin,
    limit: usize,
    mut unended: mpsc::Receiver<oneshot::Sender<Bytes>>,
    mut deliver: impl FnMut(Line),
) -> io::Result<()> {
    let mut buffer = BytesMut::new();
    // The size of the memory that the lines are cut from.
    let mut whole = 0;
    let mut begun = Instant::now();
    let mut searched = 0;
    let mut skipping = false;
    loop {
        if buffer.is_empty() {
            // A large line must not keep its memory for the small ones after it.
            buffer = BytesMut::with_capacity(64 << 10);
            whole = buffer.capacity();
        } else {
            let before = buffer.capacity();
            buffer.reserve(64 << 10);
            if buffer.capacity() > before {
                whole = buffer.capacity();
            }
        }
        let fresh = buffer.is_empty();
        let ended = tokio::select! {
            read = from.read_buf(&mut buffer) => read? == 0,
            Some(asked) = unended.recv() => {
                // Whoever asked may be gone.
                asked.send(Bytes::copy_from_slice(&buffer)).ok();
                continue;
            }
        };
        if fresh {
            begun = Instant::now();
        }
        let mut taken = 0_usize;
        while let Some(at) = memchr::memchr(b'\n', &buffer[searched..]) {
            let mut line = buffer.split_to(searched + at).freeze();
            buffer.advance(1);
            searched = 0;
            if line.ends_with(b"\r") {
                line.truncate(line.len() - 1);
            }
            if !std::mem::take(&mut skipping) {
                let cut = line.len() > limit;
                line.truncate(limit);
                if line.len() < whole / 4 {
                    // Whoever keeps it must not keep all that came with it.
                    line = Bytes::copy_from_slice(&line);
                }
                deliver(Line {
                    bytes: line,
                    begun,
                    cut,
                    ended: true,
                });
            }
            begun = Instant::now();
            taken += 1;
            if taken.is_multiple_of(YIELD) {
                // A flood of short lines must not keep time limits from being looked at.
                tokio::task::yield_now().await;
            }
        }
        searched = buffer.len();
        if skipping {
            buffer.clear();
            searched = 0;
        } else if buffer.len() > limit.saturating_add(1) {
            let line = buffer.split_to(limit).freeze();
            deliver(Line {
                bytes: line,
                begun,
                cut: true,
                ended: false,
            });
            buffer.clear();
            searched = 0;
            skipping = true;
        }
        if ended {
            if !buffer.is_empty() {
                deliver(Line {
                    bytes: buffer.split().freeze(),
                    begun,
                    cut: false,
                    ended: false,
                });
            }
            return Ok(());
        }
    }
}

/// A message to write, and who wants to know when it had left.
pub(super) struct Out {
    pub bytes: Bytes,
    pub left: oneshot::Sender<io::Result<Instant>>,
}

/// Writes each message with an LF until the queue is closed; dropping the writer then ends the other side's input.
pub(super) async fn write(mut to: impl AsyncWrite + Unpin, mut queue: mpsc::Receiver<Out>) {
    while let Some(Out { bytes, left }) = queue.recv().await {
        let written = async {
            // In one piece where it fits: a reader is woken once.
            to.write_all_buf(&mut bytes.chain(&b"\n"[..])).await?;
            to.flush().await
        }
        .await;
        // Nobody may be waiting any more: then nobody needs to know.
        left.send(written.map(|()| Instant::now())).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(input: &'static [u8], limit: usize) -> Vec<(Bytes, bool, bool)> {
        let mut found = Vec::new();
        read(input, limit, mpsc::channel(1).1, |line| {
            found.push((line.bytes, line.cut, line.ended))
        })
        .await
        .unwrap();
        found
    }

    #[tokio::test]
    async fn line_ends_are_taken_off_and_nothing_else() {
        let b = Bytes::from_static;
        assert_eq!(
            lines(b"a\r\n\xff b \n\nrest", 100).await,
            [
                (b(b"a"), false, true),
                (b(b"\xff b "), false, true),
                (b(b""), false, true),
                (b(b"rest"), false, false)
            ]
        );
    }

    #[tokio::test]
    async fn what_has_come_of_a_line_can_be_asked_for() {
        let (from, mut to) = tokio::io::duplex(64);
        let (unended, asks) = mpsc::channel(1);
        let mut found = Vec::new();
        let reading = read(from, 100, asks, |line| found.push(line.bytes));
        let asking = async {
            to.write_all(b"a\nbc").await.unwrap();
            let seen = loop {
                let (ask, asked) = oneshot::channel();
                unended.send(ask).await.unwrap();
                let seen = asked.await.unwrap();
                if !seen.is_empty() {
                    break seen;
                }
            };
            to.write_all(b"d\n").await.unwrap();
            drop(to);
            seen
        };
        let (read, seen) = tokio::join!(reading, asking);
        read.unwrap();
        assert_eq!(
            (&seen[..], found),
            (
                &b"bc"[..],
                vec![Bytes::from_static(b"a"), Bytes::from_static(b"bcd")]
            )
        );
    }

    #[tokio::test]
    async fn a_short_line_keeps_no_more_memory_than_its_own() {
        let found = lines(b"ab\ncd\nef", 100).await;
        assert!(
            found[..2].iter().all(|(bytes, ..)| bytes.is_unique()),
            "it shares the memory it was read into"
        );
        let long: &'static [u8] = Vec::leak([vec![b'a'; 1 << 20], b"\nxy\nz\n".to_vec()].concat());
        let found = lines(long, 2 << 20).await;
        assert!(found[1..].iter().all(|(bytes, ..)| bytes.is_unique()));
    }

    #[tokio::test]
    async fn a_long_line_is_cut_once_and_the_next_is_whole() {
        let b = Bytes::from_static;
        assert_eq!(
            lines(b"abcdefghij\nxy\n", 4).await,
            [(b(b"abcd"), true, true), (b(b"xy"), false, true)]
        );
        let long: &'static [u8] = Vec::leak([vec![b'a'; 300_000], b"\nxy\n".to_vec()].concat());
        let found = lines(long, 1_000).await;
        assert_eq!(
            found
                .iter()
                .map(|(bytes, cut, _)| (bytes.len(), *cut))
                .collect::<Vec<_>>(),
            [(1_000, true), (2, false)]
        );
    }
}
