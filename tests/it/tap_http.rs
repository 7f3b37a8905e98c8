//! The tap as a reverse proxy: what passes between a host and a server over HTTP, what is refused, and what is recorded.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::tap::{loupe, texts};

/// Nothing waits for it when all is well.
const PATIENCE: Duration = Duration::from_secs(20);

struct Proxy {
    child: Child,
    /// As it is printed.
    url: String,
    /// `127.0.0.1:PORT`.
    addr: String,
}

impl Proxy {
    fn start(folder: &Path, url: &str, arguments: &[&str]) -> Self {
        Self::start_with(folder, url, arguments, &[])
    }

    fn start_with(folder: &Path, url: &str, arguments: &[&str], env: &[(&str, &Path)]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_mcp-loupe"))
            .args(["tap", "--listen", "127.0.0.1:0", "--url", url, "--data-dir"])
            .arg(folder)
            .args(arguments)
            .env("LOUPE_TEST_KEY", "s3cret-value-6204")
            .envs(env.iter().copied())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let url = line
            .split_whitespace()
            .find(|word| word.starts_with("http://"))
            .unwrap_or_else(|| panic!("{line}"))
            .to_owned();
        let addr = url.split('/').nth(2).unwrap().to_owned();
        Self { child, url, addr }
    }

    /// Sends a request and closes the connection after its response.
    fn send(&self, head: &str, body: &[u8]) -> Reply {
        let mut stream = self.open(head, body);
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        let at = all.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let head = String::from_utf8_lossy(&all[..at]).to_lowercase();
        let body = if head.contains("transfer-encoding: chunked") {
            dechunk(&all[at + 4..])
        } else {
            all[at + 4..].to_vec()
        };
        Reply { head, body }
    }

    /// `head` is the request line, and headers besides `Host` and those of the body.
    fn open(&self, head: &str, body: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(&self.addr).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (first, rest) = head.split_once('\n').unwrap_or((head, ""));
        let host = match head.contains("Host:") {
            true => String::new(),
            false => format!("Host: {}\r\n", self.addr),
        };
        let rest: String = rest.lines().map(|line| format!("{line}\r\n")).collect();
        let length = match body.is_empty() {
            true => String::new(),
            false => format!("Content-Length: {}\r\n", body.len()),
        };
        let head = format!("{first} HTTP/1.1\r\n{host}{rest}{length}Connection: close\r\n\r\n");
        stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
        stream
    }

    /// Ends it as a user does.
    fn stop(mut self) {
        let begun = Instant::now();
        kill(Pid::from_raw(self.child.id() as i32), Signal::SIGTERM).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        // A record that is behind may take 10 s.
        assert!(begun.elapsed() < Duration::from_secs(15));
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

struct Reply {
    /// In lower case.
    head: String,
    body: Vec<u8>,
}

impl Reply {
    fn status(&self) -> u16 {
        self.head.split(' ').nth(1).unwrap().parse().unwrap()
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// What is in the chunks that are whole.
fn dechunk(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
        let length = std::str::from_utf8(&rest[..end]).unwrap();
        let length = usize::from_str_radix(length, 16).unwrap();
        if length == 0 || rest.len() < end + 2 + length + 2 {
            break;
        }
        body.extend_from_slice(&rest[end + 2..][..length]);
        rest = &rest[end + 2 + length + 2..];
    }
    body
}

/// Reads the chunks of a response until this is all that is in them.
fn read_until(stream: &mut TcpStream, raw: &mut Vec<u8>, expected: &str) {
    let mut buffer = [0; 1000];
    loop {
        let at = raw.windows(4).position(|four| four == b"\r\n\r\n");
        let body = at.map(|at| dechunk(&raw[at + 4..])).unwrap_or_default();
        if body == expected.as_bytes() {
            return;
        }
        let read = stream.read(&mut buffer).unwrap_or(0);
        assert!(read > 0, "{:?}", String::from_utf8_lossy(&body));
        raw.extend_from_slice(&buffer[..read]);
    }
}

/// One request as the server got it.
struct Seen {
    /// As it was sent.
    head: String,
    body: Vec<u8>,
    stream: TcpStream,
}

impl Seen {
    fn line(&self) -> &str {
        self.head.lines().next().unwrap()
    }

    /// Answers, and closes the connection.
    fn reply(mut self, head: &str, body: &[u8]) {
        let head = format!("HTTP/1.1 {head}\r\nConnection: close\r\n\r\n");
        self.stream
            .write_all(&[head.as_bytes(), body].concat())
            .unwrap();
        self.stream.shutdown(Shutdown::Write).unwrap();
    }
}

/// A server that leaves its connections to the test.
struct Upstream {
    origin: String,
    seen: Receiver<Seen>,
}

impl Upstream {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let (sender, seen) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let sender = sender.clone();
                std::thread::spawn(move || sender.send(read_request(stream)).ok());
            }
        });
        Self { origin, seen }
    }

    fn next(&self) -> Seen {
        self.seen.recv_timeout(PATIENCE).unwrap()
    }
}

fn read_request(mut stream: TcpStream) -> Seen {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut text = Vec::new();
    let mut buffer = [0; 64 << 10];
    let is_whole = |text: &[u8]| {
        let end = text.windows(4).position(|four| four == b"\r\n\r\n")?;
        let head = String::from_utf8_lossy(&text[..end]).into_owned();
        let lower = head.to_lowercase();
        let body = &text[end + 4..];
        if lower.contains("transfer-encoding: chunked") {
            return body.ends_with(b"0\r\n\r\n").then(|| (head, dechunk(body)));
        }
        let length = lower
            .lines()
            .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok())
            .unwrap_or(0);
        (body.len() >= length).then(|| (head, body.to_vec()))
    };
    loop {
        let read = stream.read(&mut buffer).unwrap_or(0);
        text.extend_from_slice(&buffer[..read]);
        if let Some((head, body)) = is_whole(&text) {
            return Seen { head, body, stream };
        }
        assert!(read > 0, "{}", String::from_utf8_lossy(&text));
    }
}

/// The lines of each session, the oldest first.
fn recorded(folder: &Path) -> Vec<Vec<Value>> {
    let sessions = fs::read_dir(folder.join("sessions")).into_iter().flatten();
    let read = |folder: fs::DirEntry| -> Vec<Value> {
        let text = fs::read_to_string(folder.path().join("messages.jsonl")).unwrap();
        // The last line may be on its way.
        text.split_inclusive('\n')
            .filter(|line| line.ends_with('\n'))
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let mut sessions: Vec<_> = sessions.flatten().map(read).collect();
    sessions.sort_by_key(|lines| lines.len());
    sessions
}

#[test]
fn bodies_and_heads_pass_as_they_are() {
    let (folder, upstream) = (tempfile::tempdir().unwrap(), Upstream::start());
    let proxy = Proxy::start(
        folder.path(),
        &format!("{}/mcp?key=s3cret-value-9917", upstream.origin),
        &["--header-env", "X-Key=LOUPE_TEST_KEY"],
    );
    assert!(proxy.url.ends_with("/mcp"), "{}", proxy.url);
    let odd: Vec<u8> = (0..=255u8).cycle().take(200_000).collect();
    let asked = [
        b"{ \"jsonrpc\" : \"2.0\",\r\n\t\"id\":1e0, \"x\":\"\\u00e9",
        &odd[..],
        b"\"}\r\n",
    ]
    .concat();
    let head = "POST /mcp\nMcp-Session-Id: abc\nMCP-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\nMcp-Name: x\nLast-Event-ID: 7\nAccept-Encoding: gzip, br\nKeep-Alive: timeout=5\nUser-Agent: host/1\nOrigin: http://localhost:6274\nAuthorization: Bearer s3cret-value-7755";
    for (kind, sent) in [
        ("application/json", [b"{\"jsonrpc\":\"2.0\",\n \"id\":1,\"result\":\"s3cret-value-7755 s3cret-value-6204 ", &odd[..], b"\"}"].concat()),
        ("text/event-stream", [b"\xef\xbb\xbf: hi\r\nid: 4\rretry: 5\n\ndata: {\"jsonrpc\":\ndata: \"2.0\",\"id\":1,\"result\":1}\n\nevent: endpoint\ndata: ", upstream.origin.as_bytes(), b"/x\n\n: ", &odd[..], b"\n\ndata: rest"].concat()),
    ] {
        std::thread::scope(|scope| {
            let reply = scope.spawn(|| proxy.send(head, &asked));
            let seen = upstream.next();
            assert_eq!(seen.line(), "POST /mcp?key=s3cret-value-9917 HTTP/1.1");
            assert!(seen.body == asked);
            let lower = seen.head.to_lowercase();
            let host = upstream.origin.trim_start_matches("http://");
            for line in [
                "mcp-session-id: abc",
                "mcp-protocol-version: 2026-07-28",
                "mcp-method: tools/call",
                "mcp-name: x",
                "last-event-id: 7",
                "accept-encoding: identity",
                "user-agent: host/1",
                "x-key: s3cret-value-6204",
                "authorization: bearer s3cret-value-7755",
                &format!("content-length: {}", asked.len()),
                &format!("host: {host}"),
                &format!("origin: {}", upstream.origin),
            ] {
                assert_eq!(lower.lines().filter(|found| *found == line).count(), 1, "{line}: {lower}");
            }
            assert!(!lower.contains("keep-alive"), "{lower}");
            seen.reply(&format!("200 OK\r\nContent-Type: {kind}\r\nX-Odd: a,  b\r\nMcp-Session-Id: abc"), &sent);
            let reply = reply.join().unwrap();
            assert_eq!(reply.status(), 200);
            assert!(reply.body == sent, "{kind}: {} of {} bytes", reply.body.len(), sent.len());
            assert!(reply.head.contains("x-odd: a,  b") && reply.head.contains("mcp-session-id: abc"), "{}", reply.head);
        });
    }
    proxy.stop();
    let sessions = recorded(folder.path());
    assert_eq!(sessions.len(), 1);
    // Neither header nor what was in the address is written, wherever it is said again.
    assert!(!format!("{sessions:?}").contains("s3cret-value"));
    assert_eq!(
        texts(&sessions[0], "in"),
        ["{\"jsonrpc\": \"2.0\",\"id\":1,\"result\":1}"]
    );
    let binary = sessions[0].iter().filter(|line| line["base64"].is_string());
    assert_eq!(binary.count(), 3);
}

/// Each event reaches the host before the server sends the next.
#[test]
fn events_leave_as_they_come() {
    let (folder, upstream) = (tempfile::tempdir().unwrap(), Upstream::start());
    let proxy = Proxy::start(folder.path(), &format!("{}/mcp", upstream.origin), &[]);
    for method in ["POST", "GET"] {
        let mut host = proxy.open(
            &format!("{method} /mcp\nAccept: text/event-stream"),
            if method == "POST" {
                b"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"subscriptions/listen\"}"
            } else {
                b""
            },
        );
        let mut seen = upstream.next();
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
        seen.stream.write_all(head.as_bytes()).unwrap();
        let (mut raw, mut sent) = (Vec::new(), String::new());
        for part in [
            ": ping\n\n",
            "id: 1\ndata: {\"jsonrpc\"",
            ":\"2.0\",\"method\":\"a\"}\n",
            "\n",
            "data: x\n\n",
        ] {
            let chunk = format!("{:x}\r\n{part}\r\n", part.len());
            seen.stream.write_all(chunk.as_bytes()).unwrap();
            sent.push_str(part);
            // On a GET, the line that might name an endpoint is passed on whole.
            let is_held = part.starts_with("id: 1") && method == "GET";
            let came = sent.trim_end_matches("data: {\"jsonrpc\"");
            read_until(&mut host, &mut raw, if is_held { came } else { &sent });
        }
    }
    drop(upstream);
    proxy.stop();
    let lines = recorded(folder.path()).concat();
    assert_eq!(texts(&lines, "in").len(), 2, "{lines:?}");
    assert_eq!(texts(&lines, "out").len(), 1, "{lines:?}");
}

#[test]
fn addresses_of_the_server_become_those_of_the_proxy() {
    let (folder, upstream) = (tempfile::tempdir().unwrap(), Upstream::start());
    let proxy = Proxy::start(folder.path(), &format!("{}/mcp", upstream.origin), &[]);
    let (own, origin) = (format!("http://{}", proxy.addr), upstream.origin.clone());
    let exchange =
        |head: &str, body: &[u8], status: &str, sent: &str| -> (Reply, String, Vec<u8>) {
            std::thread::scope(|scope| {
                let reply = scope.spawn(|| proxy.send(head, body));
                let seen = upstream.next();
                let (line, body) = (seen.line().to_owned(), seen.body.clone());
                seen.reply(status, sent.as_bytes());
                (reply.join().unwrap(), line, body)
            })
        };
    let (refused, ..) = exchange(
        "POST /mcp",
        b"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\"}",
        &format!(
            "401 Unauthorized\r\nWWW-Authenticate: Bearer realm=\"x\", resource_metadata=\"{origin}/.well-known/oauth-protected-resource/mcp\"\r\nContent-Type: text/plain"
        ),
        "log in",
    );
    assert_eq!((refused.status(), &*refused.text()), (401, "log in"));
    assert!(
        refused.head.contains(&format!(
            "resource_metadata=\"{own}/.well-known/oauth-protected-resource/mcp\""
        )),
        "{}",
        refused.head
    );
    let metadata = format!(
        "{{\"resource\": \"{origin}/mcp\",\n \"authorization_servers\":[\"{origin}\", \"{origin}0/a\", \"https://login.example\"], \"n\": 1e3, \"doc\":\"{}\\/\"}}",
        origin.replace('/', "\\/")
    );
    let (mapped, line, _) = exchange(
        "GET /.well-known/oauth-protected-resource/mcp",
        b"",
        &format!(
            "200 OK\r\nContent-Type: application/json\r\nContent-Length: {}",
            metadata.len()
        ),
        &metadata,
    );
    assert_eq!(
        line,
        "GET /.well-known/oauth-protected-resource/mcp HTTP/1.1"
    );
    let expected = format!(
        "{{\"resource\": \"{own}/mcp\",\n \"authorization_servers\":[\"{own}\", \"{origin}0/a\", \"https://login.example\"], \"n\": 1e3, \"doc\":\"{}\\/\"}}",
        own.replace('/', "\\/")
    );
    assert_eq!(mapped.text(), expected);
    // It may be anywhere that the server says.
    let said = format!(
        "401 Unauthorized\r\nWWW-Authenticate: Bearer resource_metadata=\"{origin}/meta.json\""
    );
    exchange("GET /mcp", b"", &said, "");
    let status = "200 OK\r\nContent-Type: application/json";
    let (mapped, ..) = exchange("GET /meta.json", b"", status, &metadata);
    assert_eq!(mapped.text(), expected);
    let (other, ..) = exchange("GET /other.json", b"", status, &metadata);
    assert_eq!(other.text(), metadata);
    // What the host says of the address goes back as the server's.
    let encoded = |origin: &str| origin.replace(':', "%3A").replace('/', "%2F");
    let form = |origin: &str| {
        format!(
            "grant_type=authorization_code&resource={}%2Fmcp&redirect_uri=http%3A%2F%2F127.0.0.1%3A7%2Fback",
            encoded(origin)
        )
    };
    let (token, _, sent) = exchange(
        "POST /token\nContent-Type: application/x-www-form-urlencoded",
        form(&own).as_bytes(),
        "200 OK\r\nContent-Type: application/json",
        "{\"access_token\":\"canary\"}",
    );
    assert_eq!(token.text(), "{\"access_token\":\"canary\"}");
    assert_eq!(String::from_utf8_lossy(&sent), form(&origin));
    let (moved, line, _) = exchange(
        &format!("GET /a?resource={}%2Fmcp&x=%C3%A9", encoded(&own)),
        b"",
        &format!("307 Temporary Redirect\r\nLocation: {origin}/b?c=d"),
        "",
    );
    assert_eq!(
        line,
        format!(
            "GET /a?resource={}%2Fmcp&x=%C3%A9 HTTP/1.1",
            encoded(&origin)
        )
    );
    assert!(
        moved.head.contains(&format!("location: {own}/b?c=d")),
        "{}",
        moved.head
    );
    // A browser is sent to the server itself.
    let page = proxy.send(
        &format!(
            "GET /authorize?resource={}\nSec-Fetch-Mode: navigate\nSec-Fetch-Site: cross-site",
            encoded(&own)
        ),
        b"",
    );
    assert_eq!(page.status(), 307);
    assert!(
        page.head.contains(
            &format!("location: {origin}/authorize?resource={}", encoded(&origin)).to_lowercase()
        ),
        "{}",
        page.head
    );
    // Neither is a message of MCP.
    proxy.stop();
    let lines = recorded(folder.path()).concat();
    assert!(!format!("{lines:?}").contains("canary"));
    assert_eq!(texts(&lines, "out").len(), 1, "{lines:?}");
    assert_eq!(
        texts(&lines, "stderr"),
        ["POST /mcp: HTTP 401 Unauthorized"]
    );
}

/// The transport of 2024: the address to send to is the proxy's, and the record is one session.
#[test]
fn http_sse_passes_and_is_one_session() {
    let (folder, upstream) = (tempfile::tempdir().unwrap(), Upstream::start());
    let proxy = Proxy::start(folder.path(), &format!("{}/sse", upstream.origin), &[]);
    for address in [
        format!("{}/messages?sessionId=1", upstream.origin),
        "/messages?sessionId=2".to_owned(),
    ] {
        let mut host = proxy.open("GET /sse\nAccept: text/event-stream", b"");
        let mut stream = upstream.next().stream;
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: hi\r\nevent: endpoint\r\nda";
        stream.write_all(head.as_bytes()).unwrap();
        std::thread::sleep(Duration::from_millis(50));
        stream
            .write_all(format!("ta: {address}\r\n\r\n").as_bytes())
            .unwrap();
        let own = format!("http://{}", proxy.addr);
        let mut expected = format!(
            ": hi\r\nevent: endpoint\r\ndata: {}\r\n\r\n",
            address.replace(&upstream.origin, &own)
        );
        let mut raw = Vec::new();
        read_until(&mut host, &mut raw, &expected);
        let path = address.replace(&upstream.origin, "");
        std::thread::scope(|scope| {
            let reply = scope.spawn(|| {
                proxy.send(
                    &format!("POST {path}"),
                    b"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\"}",
                )
            });
            upstream.next().reply("202 Accepted", b"Accepted");
            assert_eq!(reply.join().unwrap().status(), 202);
        });
        let event = "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}\n\n";
        stream.write_all(event.as_bytes()).unwrap();
        expected.push_str(event);
        read_until(&mut host, &mut raw, &expected);
        // The session ends with its stream.
        stream.shutdown(Shutdown::Both).unwrap();
        host.read_to_end(&mut Vec::new()).unwrap();
    }
    proxy.stop();
    let sessions = recorded(folder.path());
    assert_eq!(sessions.len(), 2, "{sessions:?}");
    for lines in sessions {
        assert_eq!(
            (texts(&lines, "out").len(), texts(&lines, "in").len()),
            (1, 1),
            "{lines:?}"
        );
        assert_eq!(lines.last().unwrap()["ended"], 0);
    }
}

#[test]
fn other_sites_and_other_machines_are_refused() {
    let (folder, upstream) = (tempfile::tempdir().unwrap(), Upstream::start());
    let proxy = Proxy::start(folder.path(), &format!("{}/mcp", upstream.origin), &[]);
    for head in [
        "POST /mcp\nOrigin: https://evil.example",
        "POST /mcp\nOrigin: null",
        "POST /mcp\nOrigin: http://localhost.evil.example",
        "POST /mcp\nHost: evil.example",
        "POST /mcp\nHost: 192.168.1.7:80",
        "POST /mcp\nHost:",
        "GET /mcp\nSec-Fetch-Site: cross-site\nSec-Fetch-Mode: no-cors",
        "OPTIONS /mcp\nOrigin: https://evil.example\nAccess-Control-Request-Method: POST",
    ] {
        let refused = proxy.send(head, if head.starts_with("POST") { b"{}" } else { b"" });
        assert_eq!(refused.status(), 403, "{head}");
        assert!(
            !refused.head.contains("access-control"),
            "{head}: {}",
            refused.head
        );
    }
    assert!(
        upstream.seen.try_recv().is_err(),
        "nothing reaches the server"
    );
    for head in [
        "GET /mcp\nOrigin: http://localhost:6274",
        "GET /mcp\nOrigin: http://[::1]:1",
        "GET /mcp\nHost: localhost:99",
    ] {
        let reply = std::thread::scope(|scope| {
            let reply = scope.spawn(|| proxy.send(head, b""));
            let allowed = format!("200 OK\r\nAccess-Control-Allow-Origin: {}", upstream.origin);
            upstream.next().reply(&allowed, b"ok");
            reply.join().unwrap()
        });
        assert_eq!((reply.status(), &*reply.text()), (200, "ok"), "{head}");
        if let Some((_, origin)) = head.split_once("Origin: ") {
            assert!(
                reply
                    .head
                    .contains(&format!("access-control-allow-origin: {origin}")),
                "{}",
                reply.head
            );
        }
    }
    let open = loupe(&["tap", "--url", &upstream.origin, "--listen", "0.0.0.0:0"]);
    assert_eq!(open.status.code(), Some(2), "{open:?}");
    assert!(
        String::from_utf8_lossy(&open.stderr).contains("--allow-remote"),
        "{open:?}"
    );
    for arguments in [
        &["tap", "--listen", "127.0.0.1:0", "--", "cat"][..],
        &["tap", "--allow-remote", "--url", "http://127.0.0.1:1"],
    ] {
        assert_eq!(loupe(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

/// Whoever goes away, the others are told, and the proxy ends at once.
#[test]
fn nothing_is_left_hanging() {
    let (folder, upstream) = (tempfile::tempdir().unwrap(), Upstream::start());
    let proxy = Proxy::start(folder.path(), &format!("{}/mcp", upstream.origin), &[]);
    let is_closed = |stream: &mut TcpStream| matches!(stream.read(&mut [0; 100]), Ok(0) | Err(_));
    let ask: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}";
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n:\n\n\r\n";
    // The host leaves: before the response, and within it.
    for has_begun in [false, true] {
        let mut host = proxy.open("POST /mcp", ask);
        let mut seen = upstream.next();
        if has_begun {
            seen.stream.write_all(head).unwrap();
            assert!(host.read(&mut [0; 1000]).unwrap() > 0);
        }
        let begun = Instant::now();
        drop(host);
        assert!(is_closed(&mut seen.stream));
        assert!(
            begun.elapsed() < Duration::from_secs(5),
            "begun: {has_begun}"
        );
    }
    // The server leaves: before the response, and within it.
    let host = std::thread::scope(|scope| {
        let reply = scope.spawn(|| proxy.send("POST /mcp", ask));
        drop(upstream.next());
        reply.join().unwrap()
    });
    assert_eq!(host.status(), 502);
    let mut host = proxy.open("POST /mcp", ask);
    let mut seen = upstream.next();
    seen.stream.write_all(head).unwrap();
    drop(seen);
    let mut rest = Vec::new();
    host.read_to_end(&mut rest).ok();
    assert!(
        !rest.ends_with(b"0\r\n\r\n"),
        "the break is not taken for an end"
    );
    // A stream is open when the proxy is told to end.
    let mut host = proxy.open("GET /mcp", b"");
    let mut seen = upstream.next();
    seen.stream.write_all(head).unwrap();
    assert!(host.read(&mut [0; 1000]).unwrap() > 0);
    proxy.stop();
    host.read_to_end(&mut Vec::new()).ok();
    assert!(is_closed(&mut seen.stream));
    let lines = recorded(folder.path()).concat();
    assert_eq!(texts(&lines, "out").len(), 4, "{lines:?}");
    assert!(
        texts(&lines, "stderr")[0].contains("cannot be reached"),
        "{lines:?}"
    );
    assert_eq!(lines.last().unwrap()["ended"], 0);
}

/// A server that is not there, and one that stops: the host gets HTTP, never a connection that hangs.
#[test]
fn a_server_that_is_not_there_is_said_so() {
    let folder = tempfile::tempdir().unwrap();
    let proxy = Proxy::start(folder.path(), "http://127.0.0.1:1/mcp", &[]);
    let reply = proxy.send(
        "POST /mcp",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
    );
    assert_eq!(reply.status(), 502);
    assert!(
        reply.text().contains("cannot be reached"),
        "{}",
        reply.text()
    );
    proxy.stop();
}

/// The sample server over HTTP, with Loupe's own client: the same messages as without, a session for each host, which opens.
#[test]
fn a_server_behind_the_proxy_is_the_same_server() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().display().to_string();
    let mut server = Command::new(env!("CARGO_BIN_EXE_mcp-loupe"))
        .args(["sample-server", "--http", "127.0.0.1:0"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(server.stderr.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let direct = line
        .split_whitespace()
        .find(|word| word.starts_with("http://"))
        .unwrap();
    let proxy = Proxy::start(folder.path(), direct, &["--name", "sample"]);
    let call = |url: &str, protocol: &str| {
        let transcript = folder.path().join("transcript");
        let path = transcript.display().to_string();
        let output = loupe(&[
            "call",
            "dual_search_companies",
            "--protocol",
            protocol,
            "--json",
            "--transcript",
            &path,
            "--url",
            url,
        ]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let text = fs::read_to_string(&transcript).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        lines.collect::<Vec<Value>>()
    };
    let mut counts = Vec::new();
    for protocol in ["2025-11-25", "2025-11-25", "2026-07-28"] {
        let (without, with) = (call(direct, protocol), call(&proxy.url, protocol));
        for direction in ["out", "in"] {
            assert_eq!(
                texts(&without, direction),
                texts(&with, direction),
                "{protocol}"
            );
        }
        counts.push((texts(&with, "out").len(), texts(&with, "in").len()));
    }
    proxy.stop();
    server.kill().unwrap();
    server.wait().unwrap();
    let mut sessions: Vec<_> = recorded(folder.path())
        .iter()
        .map(|lines| (texts(lines, "out").len(), texts(lines, "in").len()))
        .collect();
    sessions.sort();
    counts.sort();
    assert_eq!(sessions, counts);
    let list = loupe(&["sessions", "--json", "--data-dir", &data]).stdout;
    let list: Value = serde_json::from_slice(&list).unwrap();
    for session in list["sessions"].as_array().unwrap() {
        assert_eq!(
            (&session["name"], &session["ended"]),
            (&"sample".into(), &0.into())
        );
        let path = session["folder"].as_str().unwrap();
        let shown = loupe(&["show", path, "--nth", "1", "--json"]);
        let shown: Value =
            serde_json::from_slice(&shown.stdout).unwrap_or_else(|_| panic!("{shown:?}"));
        assert_eq!(shown["capture"]["tool"]["name"], "dual_search_companies");
        let bill = loupe(&["sessions", path, "--bill", "--json", "--data-dir", &data]);
        assert!(bill.status.success(), "{bill:?}");
    }
}

#[test]
fn a_server_behind_tls_is_reached_and_one_that_is_not_trusted_is_not() {
    let runtime = loupe_client::runtime().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (config, authority) = crate::peer::tls::certified();
    let url = runtime.block_on(crate::peer::tls::behind_tls(config));
    let trusted = folder.path().join("authority.pem");
    fs::write(&trusted, authority).unwrap();
    let ask = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
    let head = "POST /mcp\nContent-Type: application/json";
    let proxy = Proxy::start_with(folder.path(), &url, &[], &[("SSL_CERT_FILE", &trusted)]);
    let reply = proxy.send(head, ask);
    assert_eq!(
        (reply.status(), &*reply.text()),
        (200, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}")
    );
    proxy.stop();
    let proxy = Proxy::start(folder.path(), &url, &[]);
    let reply = proxy.send(head, ask);
    assert_eq!(reply.status(), 502);
    assert!(
        reply.text().to_lowercase().contains("certificate"),
        "{}",
        reply.text()
    );
}

#[test]
fn a_large_body_passes_whole_and_is_cut_in_the_record() {
    const SIZE: usize = 40 << 20;
    let (folder, upstream) = (tempfile::tempdir().unwrap(), Upstream::start());
    let proxy = Proxy::start(folder.path(), &format!("{}/mcp", upstream.origin), &[]);
    let sent = [
        &b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\""[..],
        &vec![b'x'; SIZE],
        b"\"}",
    ]
    .concat();
    std::thread::scope(|scope| {
        let reply = scope.spawn(|| {
            proxy.send(
                "POST /mcp",
                b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}",
            )
        });
        upstream
            .next()
            .reply("200 OK\r\nContent-Type: application/json", &sent);
        assert!(reply.join().unwrap().body == sent);
    });
    // Looking for secrets in so much takes a while.
    let begun = Instant::now();
    let cut = loop {
        let lines = recorded(folder.path()).concat();
        if let Some(cut) = lines.iter().find_map(|line| line["cut"].as_u64()) {
            break cut;
        }
        assert!(begun.elapsed() < 3 * PATIENCE);
        std::thread::sleep(Duration::from_millis(100));
    };
    assert_eq!(cut, sent.len() as u64);
    proxy.stop();
}
