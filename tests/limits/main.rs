//! What never ends and what is far too large: the time limit and an interrupt end every command within a second, and
//! leave nothing running. A program of their own, so that nothing else keeps the machine busy while they are timed.
#![cfg(unix)]

#[expect(dead_code, reason = "most of it is for servers that behave")]
#[path = "../it/peer/mod.rs"]
mod peer;

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};

use peer::{INITIALIZED, gzip, until};

/// What is timed runs alone.
static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// How long a command may go on after its time limit, or after an interrupt.
const WITHIN: Duration = Duration::from_secs(1);
/// What a busy machine, and a program that is not optimised, may add to it.
const SLACK: Duration = Duration::from_millis(if cfg!(debug_assertions) { 1_500 } else { 500 });
/// The commands, and the request that is answered without end.
const COMMANDS: [(&[&str], &str); 3] = [
    (&["call", "t", "--yes"], "tools/call"),
    (&["tools"], "tools/list"),
    (&["check"], "tools/list"),
];

/// What is written again and again, after a beginning.
#[derive(Clone)]
struct Endless {
    head: &'static str,
    begin: Vec<u8>,
    again: Vec<u8>,
}

fn endless() -> Vec<(&'static str, Endless)> {
    let (json, sse) = (
        "application/json\r\nContent-Encoding: gzip",
        "text/event-stream",
    );
    let bomb = gzip_of_zeros();
    let notified = br#"data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}"#;
    let event = [&notified[..], b"\n\n"].concat();
    vec![
        (
            "a gzip bomb",
            Endless {
                head: json,
                begin: gzip(br#"{"jsonrpc":"2.0","id":1,"result":{"a":""#),
                again: bomb,
            },
        ),
        (
            "events without end",
            Endless {
                head: sse,
                begin: Vec::new(),
                again: event.repeat(100),
            },
        ),
        (
            "an event without end",
            Endless {
                head: sse,
                begin: b"data: ".to_vec(),
                again: vec![b'x'; 64 << 10],
            },
        ),
        (
            "comments without end",
            Endless {
                head: sse,
                begin: Vec::new(),
                again: b": x\n\n".repeat(1_000),
            },
        ),
    ]
}

/// A member of a gzip file that is a thousand times as large when it is read.
fn gzip_of_zeros() -> Vec<u8> {
    include_bytes!("../data/http/bomb.json.gz").to_vec()
}

/// A server whose answer to `method` never ends; everything else is answered as it should be.
async fn never_ending(method: &'static str, answer: Endless) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, method, answer.clone()));
        }
    });
    url
}

async fn serve(mut stream: TcpStream, method: &str, answer: Endless) {
    let mut text = vec![0; 64 << 10];
    let Ok(length) = stream.read(&mut text).await else {
        return;
    };
    let text = String::from_utf8_lossy(&text[..length]).into_owned();
    let sent: serde_json::Value =
        serde_json::from_str(text.split_once("\r\n\r\n").map_or("", |(_, body)| body))
            .unwrap_or_default();
    let called = sent["method"].as_str().unwrap_or_default();
    if called == method {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: {}\r\nConnection: close\r\n\r\n",
            answer.head
        );
        if stream
            .write_all(&[head.as_bytes(), &answer.begin].concat())
            .await
            .is_err()
        {
            return;
        }
        while stream.write_all(&answer.again).await.is_ok() {}
        return;
    }
    let result = match called {
        "initialize" => INITIALIZED,
        "tools/list" => r#"{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}"#,
        _ => "{}",
    };
    let reply = if sent["id"].is_null() {
        peer::reply("202 Accepted", "text/plain", b"")
    } else {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#,
            sent["id"]
        );
        peer::reply("200 OK", "application/json", body.as_bytes())
    };
    stream.write_all(&reply).await.ok();
    stream.shutdown().await.ok();
}

/// A program whose answer to `method` is what `script` prints; its process id goes to the file.
fn program(method: &str, script: &str, pid: &Path) -> String {
    format!(
        r#"echo $$ >> '{}'
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) printf '%s\n' '{{"jsonrpc":"2.0","id":0,"result":{INITIALIZED}}}' ;;
    *{method}*) {script} ;;
    *tools/list*) printf '{{"jsonrpc":"2.0","id":%s,"result":{{"tools":[{{"name":"t","inputSchema":{{}}}}]}}}}\n' "$id" ;;
  esac
done"#,
        pid.display()
    )
}

/// A line that has no end.
const LINE: &str =
    r#"printf '{"jsonrpc":"2.0","id":%s,"result":{"a":"' "$id"; cat /dev/zero | tr '\0' x"#;
/// 30 MB of one letter, in a tool's description or in the answer to a call.
const LETTERS: &str = r#"printf '{"jsonrpc":"2.0","id":%s,"result":{"' "$id"
  case "$line" in *tools/list*) printf 'tools":[{"name":"t","inputSchema":{},"description":"' ;;
  *) printf 'content":[{"type":"text","text":"' ;; esac
  head -c 30000000 /dev/zero | tr '\0' x; printf '"}]}}\n'"#;

fn start(command: &[&str], timeout: &str, source: &[&str]) -> Child {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mcp-loupe"));
    child
        .args(command)
        .args(["--timeout", timeout, "--protocol", "2025-11-25"])
        .args(source);
    child
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    child.spawn().unwrap()
}

/// The most memory that a process had so far, in MiB; 0 where the system does not say.
fn peak(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| {
        line.strip_prefix("VmHWM:")?
            .trim()
            .split(' ')
            .next()?
            .parse::<u64>()
            .ok()
    });
    line.unwrap_or_default() / 1024
}

/// Waits for the end of a command and prints how long it took since `since`, and its memory. To read 30 MB takes a
/// program that is not optimised several seconds, which are none of the server's.
async fn ended(name: &str, mut child: Child, since: Instant, within: Duration) {
    let reading = Duration::from_secs(if cfg!(debug_assertions) && name.contains("30 MB") {
        10
    } else {
        0
    });
    let most_time = within + SLACK + reading;
    let pid = child.id().unwrap();
    let mut most = 0;
    loop {
        most = most.max(peak(pid));
        if child.try_wait().unwrap().is_some() {
            break;
        }
        assert!(
            since.elapsed() < most_time,
            "{name}: it still runs after {:?}, with {most} MiB",
            since.elapsed()
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    println!("{name}: {:?}, {most} MiB", since.elapsed());
}

/// Runs a command up to its time limit, then up to an interrupt.
async fn both_ways(name: &str, command: &[&str], source: &[&str]) {
    let name = format!("{} and {name}", command[0]);
    let limited = async {
        let begun = Instant::now();
        ended(
            &format!("{name}, --timeout 1"),
            start(command, "1", source),
            begun,
            Duration::from_secs(1) + WITHIN,
        )
        .await;
    };
    let interrupted = async {
        let child = start(command, "60", source);
        // Late enough for the answer to have begun, early enough for it not to be refused yet.
        tokio::time::sleep(Duration::from_millis(250)).await;
        kill(
            Pid::from_raw(child.id().unwrap().cast_signed()),
            Signal::SIGINT,
        )
        .unwrap();
        ended(
            &format!("{name}, interrupted"),
            child,
            Instant::now(),
            WITHIN,
        )
        .await;
    };
    limited.await;
    interrupted.await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_over_http_that_never_end_are_ended() {
    let _alone = ALONE.lock().await;
    for (command, method) in COMMANDS {
        let all = endless()
            .into_iter()
            .take(if command[0] == "call" { 4 } else { 2 });
        for (name, answer) in all {
            let url = never_ending(method, answer).await;
            both_ways(name, command, &["--url", &url]).await;
        }
    }
}

#[tokio::test]
async fn lines_that_never_end_and_huge_texts_are_ended() {
    let _alone = ALONE.lock().await;
    let folder = tempfile::tempdir().unwrap();
    for (command, method) in COMMANDS {
        for (name, script) in [
            ("a line without end", LINE),
            ("30 MB of one letter", LETTERS),
        ] {
            let pid = folder.path().join("pid");
            let script = program(method, script, &pid);
            both_ways(name, command, &["--", "sh", "-c", &script]).await;
            for pid in std::fs::read_to_string(&pid).unwrap().lines() {
                let pid = Pid::from_raw(pid.parse().unwrap());
                until("the end of the program", || {
                    kill(pid, None).is_err().then_some(())
                })
                .await;
            }
            std::fs::remove_file(&pid).unwrap();
        }
    }
}
