//! Scripted peers for the client's tests: shell children that answer by rule, and a raw HTTP server on loopback.

pub mod oauth;
pub mod tls;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use loupe_client::{self, Call, CancelToken, Options, Session, SessionEvent};
use loupe_core::capture::{Capture, CaptureId, Tool};
use loupe_core::source::{Command, Http, Protocol, Source};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

pub const INITIALIZED: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"peer","version":"1.2"}}"#;

/// Long enough for a busy machine; nothing waits for it when all is well.
pub const PATIENCE: Duration = Duration::from_secs(30);

pub fn options() -> Options {
    Options {
        connect_limit: PATIENCE,
        guard: Some(env!("CARGO_BIN_EXE_mcp-loupe").into()),
        in_process: Some(mcp_loupe::in_process::start),
        ..Options::default()
    }
}

/// The revision of the scripted peers, which know no other: they are not asked for one.
pub const PINNED: Protocol = Protocol::Version("2025-11-25");

pub fn sh(script: &str) -> Source {
    let command = Command {
        program: "sh".into(),
        args: vec!["-c".into(), script.into()],
        ..Command::default()
    };
    Source::Command(command).with_protocol(PINNED)
}

pub fn http(url: &str) -> Source {
    let http = Http {
        url: url.into(),
        headers: vec![("X-Key".into(), "s3cret".into())],
        ..Http::default()
    };
    Source::Http(http).with_protocol(PINNED)
}

/// A child that shakes hands and then runs `on_call` (a shell fragment) for each call; `$id` is its id, `$line` all of it.
pub fn server(on_call: &str) -> Source {
    child(&format!(
        r#"*'"initialize"'*) printf '%s\n' '{{"jsonrpc":"2.0","id":0,"result":{INITIALIZED}}}' ;;
    *'"tools/call"'*) {on_call} ;;"#
    ))
}

/// A child that does for each line what the first arm says that it fits; `$id` is the line's id, `$line` all of it.
pub fn child(arms: &str) -> Source {
    sh(&format!(
        r#"while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    {arms}
  esac
done"#
    ))
}

/// What happened, in order.
#[derive(Clone, Default)]
pub struct ServerNotification(Arc<Mutex<Vec<SessionEvent>>>);

impl ServerNotification {
    pub fn happenings(&self) -> loupe_client::OnSessionEvent {
        let heard = Arc::clone(&self.0);
        Arc::new(move |happening| heard.lock().unwrap().push(happening))
    }

    pub fn all(&self) -> Vec<SessionEvent> {
        self.0.lock().unwrap().clone()
    }

    pub async fn until(&self, found: impl Fn(&SessionEvent) -> bool) -> SessionEvent {
        until("a happening", || {
            self.all().into_iter().find(|happening| found(happening))
        })
        .await
    }
}

/// Polls until there is something, or fails.
pub async fn until<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

pub async fn connect(source: &Source) -> Session {
    loupe_client::connect(
        source,
        options(),
        ServerNotification::default().happenings(),
    )
    .await
    .unwrap_or_else(|error| panic!("{source}: {error:?}"))
}

pub fn call(arguments: &'static str) -> Call {
    Call {
        id: CaptureId("1".into()),
        tool: Tool::unlisted("t"),
        arguments: Bytes::from_static(arguments.as_bytes()),
        limit: PATIENCE,
    }
}

pub async fn called(source: &Source) -> Capture {
    let session = connect(source).await;
    let capture = session.call(call("{}"), CancelToken::new()).await;
    session.close().await;
    capture
}

/// One request as the HTTP peer saw it.
#[derive(Clone, Debug)]
pub struct Seen {
    pub head: String,
    pub body: String,
}

impl Seen {
    pub fn id(&self) -> String {
        let value: serde_json::Value = serde_json::from_str(&self.body).unwrap_or_default();
        value["id"].to_string()
    }
}

type Answer = Arc<dyn Fn(&Seen) -> Vec<u8> + Send + Sync>;

/// A raw HTTP server: shakes hands, takes notifications, and answers each call (and each stream that is taken up again) with what
/// `answer` writes, as it stands; nothing at all leaves the client waiting.
pub struct HttpPeer {
    pub url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl HttpPeer {
    pub async fn start(answer: impl Fn(&Seen) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (log, answer): (_, Answer) = (Arc::clone(&seen), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&log), Arc::clone(&answer)));
            }
        });
        Self { url, seen }
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

async fn serve(mut stream: TcpStream, log: Arc<Mutex<Vec<Seen>>>, answer: Answer) {
    let mut text = Vec::new();
    let (head, length) = loop {
        let mut chunk = [0; 4096];
        match stream.read(&mut chunk).await {
            Ok(len @ 1..) => text.extend_from_slice(&chunk[..len]),
            _ => return,
        }
        let Some(end) = text.windows(4).position(|window| window == b"\r\n\r\n") else {
            continue;
        };
        let head = String::from_utf8_lossy(&text[..end]).to_lowercase();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok())
            .unwrap_or(0);
        text.drain(..end + 4);
        break (head, length);
    };
    while text.len() < length {
        let mut chunk = [0; 4096];
        match stream.read(&mut chunk).await {
            Ok(len @ 1..) => text.extend_from_slice(&chunk[..len]),
            _ => return,
        }
    }
    let seen = Seen {
        head,
        body: String::from_utf8_lossy(&text).into_owned(),
    };
    log.lock().unwrap().push(seen.clone());
    let reply = if seen.head.starts_with("get") && !seen.head.contains("last-event-id") {
        reply("405 Method Not Allowed", "text/plain", b"")
    } else if seen.head.starts_with("delete") {
        reply("200 OK", "text/plain", b"")
    } else if seen.body.contains("\"initialize\"") {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":{},"result":{INITIALIZED}}}"#,
            seen.id()
        );
        reply(
            "200 OK",
            "application/json\r\nMcp-Session-Id: abc",
            body.as_bytes(),
        )
    } else if seen.body.contains("\"method\":\"notifications/") {
        reply("202 Accepted", "text/plain", b"")
    } else {
        answer(&seen)
    };
    if reply.is_empty() {
        return std::future::pending().await;
    }
    if let Some(open) = reply.strip_suffix(HOLD) {
        stream.write_all(open).await.ok();
        while let Ok(1..) = stream.read(&mut [0]).await {}
        log.lock().unwrap().push(Seen {
            head: "closed".into(),
            body: String::new(),
        });
        return;
    }
    stream.write_all(&reply).await.ok();
    stream.shutdown().await.ok();
}

/// At the end of what an [`HttpPeer`] answers: the connection stays open until the client closes it, which is seen as a
/// request `closed`.
pub const HOLD: &[u8] = b"\0hold";

/// `text` as one member of a gzip file; stored, not compressed.
pub fn gzip(text: &[u8]) -> Vec<u8> {
    let crc = text.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg())
        })
    });
    let length = u16::try_from(text.len()).unwrap();
    let mut member = b"\x1f\x8b\x08\0\0\0\0\0\0\xff\x01".to_vec();
    member.extend([length.to_le_bytes(), (!length).to_le_bytes()].concat());
    member.extend(text);
    member.extend([(!crc).to_le_bytes(), u32::from(length).to_le_bytes()].concat());
    member
}

pub fn reply(status: &str, content_type: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}
