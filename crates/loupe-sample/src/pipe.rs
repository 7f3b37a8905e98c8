//! Newline-delimited JSON between a backend and one peer: the loop that the in-process pipe and stdio share.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::{Notify, mpsc};

use super::Backend;

/// How much may be under way in one direction before the writer waits.
const PIPE_BYTES: usize = 64 * 1024;
/// Messages that are handled at once, or whose answers wait to be written; the next ones are not read until then.
const UNDER_WAY: usize = 16;
/// How long what is under way may take once the input has ended.
const MOMENT: Duration = Duration::from_millis(400);

/// Starts `backend` on the far end of an in-process pipe and returns the near end. Needs a running tokio runtime. It
/// ends when the near end is dropped.
pub fn pipe(backend: Arc<dyn Backend>) -> DuplexStream {
    let (near, far) = tokio::io::duplex(PIPE_BYTES);
    let (read, write) = tokio::io::split(far);
    tokio::spawn(async move {
        // The only failure is a peer that went away, which is how a pipe ends.
        serve_lines(&*backend, read, write).await.ok();
    });
    near
}

/// Answers one message a line until the input ends. Empty lines are skipped; a CR before the LF is not part of the message.
pub(super) async fn serve_lines(
    backend: &dyn Backend,
    read: impl AsyncRead + Unpin,
    mut write: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    let mut read = BufReader::new(read);
    let mut line = Vec::new();
    loop {
        line.clear();
        if read.read_until(b'\n', &mut line).await? == 0 {
            return Ok(());
        }
        let message = line.trim_ascii();
        if message.is_empty() {
            continue;
        }
        for answer in backend.handle(message) {
            write.write_all(&answer).await?;
            write.write_all(b"\n").await?;
        }
        write.flush().await?;
    }
}

/// As [`serve_lines`], but each message is handled on a thread of its own, and its answers leave when they are there: what
/// takes long keeps nobody from asking for something else, or from cancelling it. What is under way when the input ends
/// has a moment to be answered, then another one to stop.
pub(super) async fn serve_apart(
    backend: Arc<dyn Backend>,
    read: impl AsyncRead + Unpin,
    mut write: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    let (answer, mut answers) = mpsc::channel::<Vec<Bytes>>(UNDER_WAY);
    let (ended, serving) = (Notify::new(), Arc::clone(&backend));
    let reading = async {
        let answer = answer;
        let mut read = BufReader::new(read);
        let mut line = Vec::new();
        while read.read_until(b'\n', &mut line).await? > 0 {
            let message = Bytes::copy_from_slice(line.trim_ascii());
            line.clear();
            if !message.is_empty() {
                // Where writing has failed there is nobody left to answer.
                let Ok(place) = answer.clone().reserve_owned().await else {
                    break;
                };
                let backend = Arc::clone(&backend);
                tokio::task::spawn_blocking(move || drop(place.send(backend.handle(&message))));
            }
        }
        ended.notify_one();
        Ok(())
    };
    let stopped = async {
        ended.notified().await;
        tokio::time::sleep(MOMENT).await;
        serving.stop();
        tokio::time::sleep(MOMENT).await;
    };
    let writing = async move {
        while let Some(messages) = answers.recv().await {
            for message in messages {
                write.write_all(&message).await?;
                write.write_all(b"\n").await?;
            }
            write.flush().await?;
        }
        Ok(())
    };
    tokio::select! {
        done = async { tokio::try_join!(reading, writing) } => done.map(|_| ()),
        () = stopped => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use tokio::io::AsyncReadExt;

    use super::*;

    /// Answers every message twice, except those that start with `n`.
    struct Twice;

    impl Backend for Twice {
        fn handle(&self, message: &[u8]) -> Vec<Bytes> {
            if message.starts_with(b"n") {
                Vec::new()
            } else {
                vec![Bytes::copy_from_slice(message); 2]
            }
        }
    }

    #[tokio::test]
    async fn one_message_a_line_until_the_peer_closes() {
        let (mut read, mut write) = tokio::io::split(pipe(Arc::new(Twice)));
        write
            .write_all(b"a\r\n\n  \nnothing\nb c\nlast")
            .await
            .unwrap();
        write.shutdown().await.unwrap();
        let mut answers = String::new();
        read.read_to_string(&mut answers).await.unwrap();
        assert_eq!(answers, "a\na\nb c\nb c\nlast\nlast\n");
    }

    #[tokio::test]
    async fn a_message_larger_than_the_pipe_goes_through() {
        let (mut read, mut write) = tokio::io::split(pipe(Arc::new(Twice)));
        let message = "x".repeat(3 * PIPE_BYTES);
        let sent = message.clone();
        let sender = tokio::spawn(async move {
            write.write_all(sent.as_bytes()).await.unwrap();
            write.shutdown().await.unwrap();
        });
        let mut answers = String::new();
        read.read_to_string(&mut answers).await.unwrap();
        sender.await.unwrap();
        assert_eq!(answers, format!("{message}\n{message}\n"));
    }

    /// Answers `slow` once another message has come.
    struct TimeLimits(
        Mutex<std::sync::mpsc::Receiver<()>>,
        std::sync::mpsc::Sender<()>,
    );

    impl Backend for TimeLimits {
        fn handle(&self, message: &[u8]) -> Vec<Bytes> {
            match message {
                b"slow" => self.0.lock().unwrap().recv().unwrap(),
                _ => self.1.send(()).unwrap(),
            }
            vec![Bytes::copy_from_slice(message)]
        }
    }

    #[tokio::test]
    async fn apart_the_slow_one_keeps_nobody_waiting_and_is_answered_at_the_end() {
        let (tell, told) = std::sync::mpsc::channel();
        let mut answers = Vec::new();
        serve_apart(
            Arc::new(TimeLimits(Mutex::new(told), tell)),
            &b"slow\n\nquick"[..],
            &mut answers,
        )
        .await
        .unwrap();
        let mut lines: Vec<_> = std::str::from_utf8(&answers).unwrap().lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["quick", "slow"]);
    }
}
