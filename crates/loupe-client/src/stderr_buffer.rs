//! What a program prints on stderr is taken from it at once and looked at when there is time: one that prints a flood of
//! it must not have to wait with its answer. Of what has not been looked at yet the newest is kept.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures::stream;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::Notify;
use tokio_util::io::StreamReader;

use loupe_core::number::number_of;

/// As much is taken at once as a pipe holds.
const CHUNK: usize = 64 << 10;

#[derive(Default)]
struct Held {
    chunks: VecDeque<Bytes>,
    bytes: usize,
    /// Bytes that were let go of since the last look.
    lost: usize,
    is_over: bool,
    /// Why it ended before its end.
    failed: Option<io::Error>,
}

/// What was taken and not looked at.
pub(super) struct Backlog {
    held: Mutex<Held>,
    news: Notify,
    most: usize,
}

impl Backlog {
    /// Keeps `most` bytes, and one chunk in any case.
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            held: Mutex::default(),
            news: Notify::new(),
            most,
        })
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes all there is until the end.
    pub(super) async fn fill(&self, mut from: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; CHUNK];
        let failed = loop {
            match from.read(&mut buffer).await {
                Ok(0) => break None,
                Ok(read) => self.push(Bytes::copy_from_slice(&buffer[..read])),
                Err(error) => break Some(error),
            }
        };
        let mut held = self.lock();
        (held.is_over, held.failed) = (true, failed);
        drop(held);
        self.news.notify_one();
    }

    fn push(&self, chunk: Bytes) {
        let mut held = self.lock();
        held.bytes += chunk.len();
        held.chunks.push_back(chunk);
        while held.bytes > self.most && held.chunks.len() > 1 {
            let oldest = held.chunks.pop_front().map_or(0, |chunk| chunk.len());
            held.bytes -= oldest;
            held.lost += oldest;
        }
        drop(held);
        self.news.notify_one();
    }

    /// What was taken, in order; what was let go of is told in its place, on a line of its own. `None` at the end.
    async fn next(&self) -> Option<io::Result<Bytes>> {
        loop {
            {
                let mut held = self.lock();
                let lost = std::mem::take(&mut held.lost);
                if lost > 0 {
                    let lost = number_of(lost as u64, "bytes");
                    let note = format!(
                        "\n({lost} of stderr left out: it came faster than it could be read)\n"
                    );
                    return Some(Ok(note.into()));
                }
                if let Some(chunk) = held.chunks.pop_front() {
                    held.bytes -= chunk.len();
                    return Some(Ok(chunk));
                }
                if held.is_over {
                    return held.failed.take().map(Err);
                }
            }
            self.news.notified().await;
        }
    }

    /// The same as a reader.
    pub(super) fn read(self: Arc<Self>) -> impl AsyncRead + Unpin {
        StreamReader::new(Box::pin(stream::unfold(self, async |backlog| {
            let chunk = backlog.next().await?;
            Some((chunk, backlog))
        })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(backlog: Arc<Backlog>) -> String {
        let mut text = String::new();
        backlog.read().read_to_string(&mut text).await.unwrap();
        text
    }

    #[tokio::test]
    async fn nobody_waits_for_what_is_not_looked_at() {
        // Far more than is kept, taken to its end with no reader.
        let flood: Vec<u8> = (0..100_000)
            .flat_map(|line| format!("{line:06}\n").into_bytes())
            .collect();
        let backlog = Backlog::new(100_000);
        backlog.fill(&flood[..]).await;
        let text = read(backlog).await;
        let (note, rest) = text.trim_start().split_once('\n').unwrap();
        assert_eq!(
            note,
            format!(
                "({} of stderr left out: it came faster than it could be read)",
                number_of((flood.len() - rest.len()) as u64, "bytes")
            )
        );
        assert!(
            flood.ends_with(rest.as_bytes()) && rest.len() <= 100_000 && rest.len() > 10_000,
            "{}",
            rest.len()
        );
    }

    #[tokio::test]
    async fn what_is_looked_at_in_time_is_whole() {
        let backlog = Backlog::new(1_000);
        let (from, mut to) = tokio::io::duplex(8);
        let filling = async {
            let write = async {
                for line in ["one\n", "two\n", "three"] {
                    tokio::io::AsyncWriteExt::write_all(&mut to, line.as_bytes())
                        .await
                        .unwrap();
                }
                drop(to);
            };
            tokio::join!(backlog.fill(from), write)
        };
        let (_, text) = tokio::join!(filling, read(Arc::clone(&backlog)));
        assert_eq!(text, "one\ntwo\nthree");
    }
}
