//! The tap between a host and a server: what passes, how it ends, and what is recorded of it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::peer::INITIALIZED;

fn tap(folder: &Path, arguments: &[&str], command: &[&str]) -> Command {
    let mut tap = Command::new(env!("CARGO_BIN_EXE_mcp-loupe"));
    tap.args(["tap", "--data-dir"])
        .arg(folder)
        .args(arguments)
        .arg("--")
        .args(command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    tap
}

fn sh(folder: &Path, script: &str) -> Child {
    tap(folder, &[], &["sh", "-c", script]).spawn().unwrap()
}

/// The lines of the one session that was recorded.
fn recorded(folder: &Path) -> Vec<Value> {
    let sessions: Vec<_> = fs::read_dir(folder.join("sessions")).unwrap().collect();
    assert_eq!(sessions.len(), 1);
    let path = sessions[0].as_ref().unwrap().path().join("messages.jsonl");
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

pub fn texts(lines: &[Value], direction: &str) -> Vec<String> {
    let of = lines.iter().filter(|line| line["dir"] == direction);
    of.filter_map(|line| Some(line["text"].as_str()?.to_owned()))
        .collect()
}

pub fn loupe(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mcp-loupe"))
        .args(arguments)
        .output()
        .unwrap()
}

/// Every byte passes as it is, whatever it is: carriage returns, bytes that are no UTF-8, no line end at the end.
#[test]
fn bytes_pass_as_they_are_in_both_directions() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = sh(folder.path(), "cat; echo done >&2");
    let sent: Vec<u8> = (0..=255u8)
        .cycle()
        .take(300_000)
        .chain(*b"\r\n{\"a\":1e3}\r\nno end")
        .collect();
    let mut input = child.stdin.take().unwrap();
    let writing = sent.clone();
    let writer = std::thread::spawn(move || input.write_all(&writing).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(
        output.stdout == sent,
        "{} of {} bytes",
        output.stdout.len(),
        sent.len()
    );
    assert_eq!(
        (output.status.code(), &*output.stderr),
        (Some(0), &b"done\n"[..])
    );
    let lines = recorded(folder.path());
    assert_eq!(lines.last().unwrap()["ended"], 0);
    assert_eq!(texts(&lines, "in").last().unwrap(), "no end");
    assert_eq!(texts(&lines, "stderr"), ["done"]);
}

#[test]
fn a_large_frame_passes_whole_and_is_cut_in_the_record() {
    const SIZE: usize = 80 << 20;
    let folder = tempfile::tempdir().unwrap();
    let mut child = sh(folder.path(), "cat");
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        let part = vec![b'x'; 1 << 20];
        (0..SIZE >> 20).for_each(|_| input.write_all(&part).unwrap());
        input.write_all(b"\n").unwrap();
    });
    let mut read = 0;
    let mut output = child.stdout.take().unwrap();
    let mut buffer = vec![0; 1 << 20];
    while let Ok(count @ 1..) = output.read(&mut buffer) {
        read += count;
    }
    writer.join().unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(read, SIZE + 1);
    let lines = recorded(folder.path());
    // Either it was cut, or what did not fit the queue is said to be missing.
    assert!(
        lines
            .iter()
            .any(|line| line["cut"].is_u64() || line["lost"].is_u64()),
        "{} lines",
        lines.len()
    );
}

#[test]
fn it_ends_as_the_server_does() {
    let folder = tempfile::tempdir().unwrap();
    for (script, code) in [
        ("exit 0", 0),
        ("exit 7", 7),
        ("kill -KILL $$", 128 + 9),
        ("kill -SEGV $$", 128 + 11),
    ] {
        let output = sh(folder.path(), script).wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{script}");
    }
    let missing = tap(folder.path(), &[], &["/nosuch/program"])
        .output()
        .unwrap();
    assert_eq!(missing.status.code(), Some(127));
    assert!(
        String::from_utf8_lossy(&missing.stderr).contains("/nosuch/program"),
        "{missing:?}"
    );
}

#[test]
fn signals_go_on_to_the_server() {
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let folder = tempfile::tempdir().unwrap();
        let script =
            "trap 'echo got; exit 3' TERM INT HUP; echo ready; while :; do sleep 0.05; done";
        let mut child = sh(folder.path(), script);
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        kill(Pid::from_raw(child.id() as i32), signal).unwrap();
        line.clear();
        output.read_line(&mut line).unwrap();
        assert_eq!(line, "got\n", "{signal}");
        assert_eq!(child.wait().unwrap().code(), Some(3), "{signal}");
    }
}

#[test]
fn the_end_of_input_goes_on_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = sh(folder.path(), "cat >/dev/null; echo ended");
    drop(child.stdin.take());
    let begun = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stdout, b"ended\n");
    assert!(begun.elapsed() < Duration::from_secs(4));
}

/// Processes of a mark that still run.
fn running(mark: &str) -> usize {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_marked = |path: std::path::PathBuf| {
        let line = fs::read(path.join("cmdline")).unwrap_or_default();
        let stat = fs::read_to_string(path.join("stat")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        line.contains(mark) && !stat.contains(") Z ")
    };
    processes.filter(|entry| is_marked(entry.path())).count()
}

fn wait_until_gone(mark: &str) {
    let begun = Instant::now();
    while running(mark) > 0 {
        assert!(
            begun.elapsed() < Duration::from_secs(30),
            "{} still run",
            running(mark)
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Whichever is killed, and in which order: a server that takes no notice of its input's end, and a child of it, go too.
#[test]
fn nothing_is_left_running_whoever_is_killed() {
    let orders: [&[&str]; 6] = [
        &["host"],
        &["tap"],
        &["server"],
        &["host", "tap"],
        &["tap", "host"],
        &["server", "tap"],
    ];
    for (at, order) in orders.into_iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let mark = format!("loupe-tap-test-{}-{at}", std::process::id());
        // A host of its own: a shell that holds the tap's input open.
        let pids = folder.path().join("pids");
        let server = format!(
            "sh -c 'sleep 1000; : {mark}' & echo $$ > {}; trap '' TERM; while :; do sleep 0.1; done; : {mark}",
            pids.display()
        );
        let script = format!(
            "sleep 1000 | '{}' tap --data-dir '{}' -- sh -c \"$SERVER\"",
            env!("CARGO_BIN_EXE_mcp-loupe"),
            folder.path().display()
        );
        let mut host = Command::new("sh")
            .args(["-c", &script])
            .env("SERVER", server)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let begun = Instant::now();
        let server = loop {
            if let Ok(pid) = fs::read_to_string(&pids)
                .unwrap_or_default()
                .trim()
                .parse::<i32>()
            {
                break pid;
            }
            assert!(begun.elapsed() < Duration::from_secs(20));
            std::thread::sleep(Duration::from_millis(20));
        };
        let folder_text = folder.path().display().to_string();
        for who in order {
            match *who {
                "host" => {
                    // With it goes what holds the input open.
                    kill_children(host.id() as i32, "sleep 1000");
                    host.kill().ok();
                }
                "tap" => kill_by(&["tap", &folder_text]),
                _ => drop(kill(Pid::from_raw(server), Signal::SIGKILL)),
            }
        }
        wait_until_gone(&mark);
        wait_until_gone(&format!(
            "{} tap --data-dir {folder_text}",
            env!("CARGO_BIN_EXE_mcp-loupe")
        ));
        kill_children(host.id() as i32, "sleep 1000");
        host.kill().ok();
        host.wait().ok();
    }
}

/// Kills every process whose command line has all of these words.
fn kill_by(words: &[&str]) {
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        let pid = entry.file_name().to_string_lossy().parse::<i32>();
        if let Ok(pid) = pid
            && line.contains("mcp-loupe tap")
            && words.iter().all(|word| line.contains(word))
        {
            kill(Pid::from_raw(pid), Signal::SIGKILL).ok();
        }
    }
}

fn kill_children(parent: i32, command: &str) {
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let after = stat.rsplit(')').next().unwrap_or_default();
        let is_child = after.split_whitespace().nth(1) == Some(&parent.to_string());
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if let Ok(pid) = entry.file_name().to_string_lossy().parse::<i32>()
            && is_child
            && line.starts_with(command)
        {
            kill(Pid::from_raw(pid), Signal::SIGKILL).ok();
        }
    }
}

/// A server that answers as a host expects.
fn server() -> String {
    format!(
        r#"while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) printf '%s\n' '{{"jsonrpc":"2.0","id":0,"result":{INITIALIZED}}}' ;;
    *tools/list*) printf '{{"jsonrpc":"2.0","id":%s,"result":{{"tools":[{{"name":"find","inputSchema":{{"type":"object"}}}},{{"name":"never","inputSchema":{{"type":"object"}}}}]}}}}\n' "$id" ;;
    *tools/call*) printf '{{"jsonrpc":"2.0","id":%s,"result":{{"content":[{{"type":"text","text":"found 3"}}]}}}}\n' "$id" ;;
  esac
done"#
    )
}

#[test]
fn a_recorded_session_is_listed_opened_and_billed() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().display().to_string();
    let mut child = tap(
        folder.path(),
        &["--name", "git hub"],
        &["sh", "-c", &server()],
    )
    .env("API_KEY", "s3cret-value-7731")
    .spawn()
    .unwrap();
    let mut input = child.stdin.take().unwrap();
    for line in [
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"claude-code","version":"2.1"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"find","arguments":{"q":"s3cret-value-7731"}}}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"find","arguments":{"q":"b"}}}"#,
    ] {
        writeln!(input, "{line}").unwrap();
    }
    drop(input);
    assert!(child.wait_with_output().unwrap().status.success());

    let json = |arguments: &[&str]| -> Value {
        let output = loupe(arguments);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
    };
    let list = json(&["sessions", "--json", "--data-dir", &data]);
    let session = &list["sessions"][0];
    assert_eq!(
        (&session["name"], &session["ended"]),
        (&"git hub".into(), &0.into())
    );
    let id = session["id"].as_str().unwrap();
    let calls = json(&["sessions", id, "--json", "--data-dir", &data]);
    assert_eq!(
        (&calls["client"], &calls["tools"]),
        (&"claude-code".into(), &2.into())
    );
    assert_eq!(calls["calls"].as_array().unwrap().len(), 2);
    let bill = json(&["sessions", id, "--bill", "--json", "--data-dir", &data]);
    assert_eq!(
        (&bill["host"], &bill["calls"]),
        (&"claude-code".into(), &2.into())
    );
    assert_eq!(bill["neverCalled"][0]["tool"], "never");
    assert!(bill["definitions"]["atStart"].is_object(), "{bill}");
    let page =
        String::from_utf8(loupe(&["sessions", id, "--bill", "--data-dir", &data]).stdout).unwrap();
    assert!(
        page.contains("as Claude Code passes them on") && page.contains("Never called: never"),
        "{page}"
    );

    let path = session["folder"].as_str().unwrap();
    let shown = json(&["show", path, "--nth", "2", "--json"]);
    assert_eq!(
        (
            &shown["capture"]["tool"]["name"],
            &shown["capture"]["arguments"]
        ),
        (&"find".into(), &serde_json::json!({"q": "b"}))
    );
    let text = fs::read_to_string(Path::new(path).join("messages.jsonl")).unwrap();
    assert!(!text.contains("s3cret-value-7731"), "the key is hidden");
    // A record that breaks off is good up to its last whole line.
    fs::write(
        Path::new(path).join("messages.jsonl"),
        &text[..text.len() - 20],
    )
    .unwrap();
    let list = json(&["sessions", "--json", "--data-dir", &data]);
    assert!(list["sessions"][0]["ended"].is_null());
    let calls = json(&["sessions", id, "--json", "--data-dir", &data]);
    assert_eq!(calls["calls"].as_array().unwrap().len(), 2);

    let pruned = loupe(&[
        "sessions",
        "--prune",
        "--keep-days",
        "0",
        "--data-dir",
        &data,
    ]);
    assert!(
        String::from_utf8_lossy(&pruned.stdout).starts_with("removed 1 session"),
        "{pruned:?}"
    );
}

#[test]
fn a_log_that_cannot_be_written_costs_no_byte() {
    let folder = tempfile::tempdir().unwrap();
    for full in ["/dev/full", "/nosuch/folder/log"] {
        let mut child = tap(folder.path(), &["--as-log", full], &["cat"])
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(b"{\"a\":1}\n")
            .unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            (output.status.code(), &*output.stdout),
            (Some(0), &b"{\"a\":1}\n"[..]),
            "{full}"
        );
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            stderr.contains("not recorded any further"),
            "{full}: {stderr}"
        );
    }
    let log = folder.path().join("log.jsonl");
    for _ in 0..2 {
        let mut child = tap(
            folder.path(),
            &["--as-log", &log.display().to_string()],
            &["cat"],
        )
        .spawn()
        .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(b"{\"a\":1}\n")
            .unwrap();
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(fs::read_to_string(log).unwrap().lines().count(), 6);
}

/// A pipe that nobody reads stands for a disk that hangs: the server starts and answers, more passes than may wait, and the
/// end is not held up for long.
#[test]
fn a_log_that_stands_still_delays_nothing() {
    const SIZE: u64 = 100 << 20;
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    nix::unistd::mkfifo(&log, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let log = log.display().to_string();
    let mut child = tap(folder.path(), &["--as-log", &log], &["cat"])
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let begun = Instant::now();
    input.write_all(b"{}\n").unwrap();
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "{}\n");
    let writer = std::thread::spawn(move || {
        let part = vec![b'x'; 1 << 20];
        (0..SIZE >> 20).for_each(|_| input.write_all(&part).unwrap());
    });
    let read = std::io::copy(&mut output, &mut std::io::sink()).unwrap();
    writer.join().unwrap();
    assert_eq!(read, SIZE);
    assert!(child.wait().unwrap().success());
    assert!(begun.elapsed() < Duration::from_secs(25));
}

/// Loupe's own client through the tap sees what it sees without.
#[test]
fn a_server_behind_the_tap_is_the_same_server() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().display().to_string();
    let own = env!("CARGO_BIN_EXE_mcp-loupe");
    let call = |command: &[&str]| {
        let transcript = folder.path().join("transcript");
        let mut arguments = vec!["call", "dual_search_companies", "--json", "--transcript"];
        let path = transcript.display().to_string();
        arguments.push(&path);
        arguments.push("--");
        arguments.extend(command);
        let output = loupe(&arguments);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let text = fs::read_to_string(&transcript).unwrap();
        let lines = text.lines().map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            (line["dir"].clone(), line["text"].clone())
        });
        lines
            .filter(|(direction, _)| direction != "stderr")
            .collect::<Vec<_>>()
    };
    let direct = call(&[own, "sample-server"]);
    let tapped = call(&[own, "tap", "--data-dir", &data, "--", own, "sample-server"]);
    assert_eq!(direct, tapped);
    let lines = recorded(folder.path());
    assert_eq!(
        texts(&lines, "in").len(),
        direct
            .iter()
            .filter(|(direction, _)| direction == "in")
            .count()
    );
}

/// Secrets of the command line are in no file, and on no screen.
#[test]
fn a_command_line_keeps_its_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let secrets = [
        "ARGsecret-123456",
        "EQsecret-998877",
        "HDRsecret5566aa",
        "sk-ant-api03-abcdefghijklmnopqrstuvwx",
    ];
    let command = [
        "sh",
        "-c",
        "exit 0",
        "sh",
        "--api-key",
        secrets[0],
        "--token=EQsecret-998877",
        "-H",
        "Authorization: Bearer HDRsecret5566aa",
        secrets[3],
    ];
    assert!(
        tap(folder.path(), &[], &command)
            .output()
            .unwrap()
            .status
            .success()
    );
    let data = folder.path().display().to_string();
    let listed = loupe(&["sessions", "--data-dir", &data]).stdout;
    let session = fs::read_dir(folder.path().join("sessions"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let written = fs::read(session.join("session.json")).unwrap();
    for text in [listed, written] {
        let text = String::from_utf8_lossy(&text).into_owned();
        for secret in secrets {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
    }
}

#[test]
fn a_host_that_does_not_read_is_not_waited_for_once_it_has_closed_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = sh(folder.path(), "head -c 400000 /dev/zero; exit 5");
    drop(child.stdin.take());
    let begun = Instant::now();
    // Its output stays open, and nobody reads it.
    let output = child.stdout.take();
    while child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(output);
}

#[cfg(target_os = "linux")]
#[test]
fn a_guard_that_is_killed_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mark = format!("loupe-guard-test-{}", std::process::id());
    let mut child = sh(
        folder.path(),
        &format!("echo ready; while :; do sleep 0.1; done; : {mark}"),
    );
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    kill_children(
        child.id() as i32,
        &format!("{} guard-child", env!("CARGO_BIN_EXE_mcp-loupe")),
    );
    assert_eq!(child.wait().unwrap().code(), Some(128 + 9));
    wait_until_gone(&mark);
}

#[test]
fn a_process_that_the_tap_leaves_has_a_signal_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = sh(folder.path(), "sleep 100");
    std::thread::sleep(Duration::from_millis(300));
    kill(Pid::from_raw(child.id() as i32), Signal::SIGKILL).unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    // The record breaks off, and is whole up to there.
    assert!(
        recorded(folder.path())
            .iter()
            .all(|line| line["ended"].is_null())
    );
}

/// A server at a URL, with the sample behind it: the same calls as without the tap, the header from a variable, and an HTTP
/// failure as an error of the request.
#[test]
fn a_server_at_a_url_is_reached_over_stdio() {
    let runtime = loupe_client::runtime().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().display().to_string();
    let peer = runtime.block_on(crate::peer::HttpPeer::start(|seen| {
        if seen.body.contains("silent") {
            return crate::peer::reply("200 OK", "text/event-stream", b": no answer\n\n");
        }
        if seen.body.contains("taken") {
            return crate::peer::reply("202 Accepted", "text/plain", b"");
        }
        let body = match seen.body.contains("broken") {
            true => return crate::peer::reply("503 Service Unavailable", "text/plain", b"down"),
            false => format!(
                "{{\n \"jsonrpc\": \"2.0\", \"id\": {},\n \"result\": {{\"content\": []}}}}",
                seen.id()
            ),
        };
        // The connection breaks after the answer: more bytes are announced than come.
        if seen.body.contains("cut off") {
            let line = body.replace('\n', " ");
            return format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9999\r\n\r\ndata: {line}\n\n").into_bytes();
        }
        match seen.body.contains("events") {
            true => {
                let line = body.replace('\n', " ");
                crate::peer::reply(
                    "200 OK",
                    "text/event-stream",
                    format!("data: {line}\n\n").as_bytes(),
                )
            }
            false => crate::peer::reply("200 OK", "application/json", body.as_bytes()),
        }
    }));
    let mut child = Command::new(env!("CARGO_BIN_EXE_mcp-loupe"))
        .args([
            "tap",
            "--data-dir",
            &data,
            "--url",
            &peer.url,
            "--header-env",
            "Authorization=Bearer LOUPE_TEST_KEY",
        ])
        .env("LOUPE_TEST_KEY", "s3cret-value-5150")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut ask = |id: u64, method: &str, name: &str| -> Value {
        let message = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"name":"{name}"}}}}"#
        );
        writeln!(input, "{message}").unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    };
    assert_eq!(
        ask(0, "initialize", "x")["result"]["serverInfo"]["name"],
        "peer"
    );
    assert_eq!(
        ask(1, "tools/call", "plain")["result"]["content"],
        serde_json::json!([])
    );
    assert_eq!(ask(2, "tools/call", "events")["id"], 2);
    let broken = ask(3, "tools/call", "broken");
    assert!(
        broken["error"]["message"]
            .as_str()
            .unwrap()
            .contains("HTTP 503"),
        "{broken}"
    );
    // An answer is passed on once, whatever becomes of its stream; a request without one gets an error.
    assert!(ask(4, "tools/call", "cut off")["result"].is_object());
    for (id, name, why) in [
        (5, "silent", "ended without an answer"),
        (6, "taken", "sent no answer"),
    ] {
        let failed = ask(id, "tools/call", name);
        assert_eq!(failed["id"], id, "{failed}");
        assert!(
            failed["error"]["message"].as_str().unwrap().contains(why),
            "{failed}"
        );
    }
    drop(input);
    assert!(child.wait().unwrap().success());
    let seen = peer.seen();
    let heads: Vec<_> = seen.iter().map(|seen| &*seen.head).collect();
    assert!(
        heads
            .iter()
            .all(|head| head.contains("bearer s3cret-value-5150")),
        "{heads:?}"
    );
    assert!(
        heads[1].contains("mcp-session-id: abc")
            && heads[1].contains("mcp-protocol-version: 2025-11-25"),
        "{heads:?}"
    );
    assert!(heads.last().unwrap().starts_with("delete"), "{heads:?}");
    let lines = recorded(folder.path());
    assert_eq!(
        (texts(&lines, "out").len(), texts(&lines, "in").len()),
        (7, 7)
    );
    assert!(!format!("{lines:?}").contains("s3cret-value"));
}
