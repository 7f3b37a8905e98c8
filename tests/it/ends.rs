//! Nothing outlives Loupe: a server, and what it started, is gone after a close, a drop, and the death of Loupe itself.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::peer::{INITIALIZED, ServerNotification, call, connect, options, sh, until};
use bytes::Bytes;
use futures::future::join_all;
use loupe_client::{self, Call, CancelToken, Options, guard};
use loupe_core::capture::Outcome;
use loupe_core::source::Source;

/// A server that ignores the end of its input and SIGTERM, with a child that does so too and one that left the group
/// where the system can do that. Their process ids go to the file.
fn stubborn(pids: &Path) -> Source {
    let pids = pids.display();
    sh(&format!(
        r#"trap '' TERM HUP INT
echo $$ >> '{pids}'
sh -c 'trap "" TERM HUP; while :; do sleep 0.2; done' & echo $! >> '{pids}'
if command -v setsid >/dev/null; then setsid sh -c 'trap "" TERM; echo $$ >> "{pids}"; while :; do sleep 0.2; done' & fi
printf '%s\n' '{{"jsonrpc":"2.0","id":0,"result":{INITIALIZED}}}'
while :; do sleep 0.2; done"#
    ))
}

fn expected() -> usize {
    if std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .any(|folder| folder.join("setsid").exists())
    {
        3
    } else {
        2
    }
}

fn read_pids(file: &Path) -> Vec<i32> {
    std::fs::read_to_string(file)
        .unwrap_or_default()
        .lines()
        .filter_map(|line| line.parse().ok())
        .collect()
}

/// A dead process that nobody has waited for still has an entry, but does nothing any more.
fn is_alive(pid: i32) -> bool {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => !stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .trim_start()
            .starts_with('Z'),
        Err(_) if Path::new("/proc/self/stat").exists() => false,
        Err(_) => nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), None).is_ok(),
    }
}

async fn all_started(file: &Path) -> Vec<i32> {
    until("the server's processes", || {
        Some(read_pids(file)).filter(|pids| pids.len() == expected())
    })
    .await
}

async fn all_gone(pids: &[i32]) {
    until("the end of the server's processes", || {
        (!pids.iter().any(|&pid| is_alive(pid))).then_some(())
    })
    .await;
}

#[tokio::test]
async fn close_waits_until_everything_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids");
    let session = connect(&stubborn(&file)).await;
    let pids = all_started(&file).await;
    assert!(pids.iter().all(|&pid| is_alive(pid)));
    session.close().await;
    assert_eq!(pids.iter().filter(|&&pid| is_alive(pid)).count(), 0);
}

#[tokio::test]
async fn a_dropped_session_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids");
    let session = connect(&stubborn(&file)).await;
    let pids = all_started(&file).await;
    drop(session);
    all_gone(&pids).await;
}

/// A server that reads nothing, and more on its way to it than the pipes hold: the end is noticed all the same.
#[tokio::test]
async fn a_filled_pipe_keeps_nothing_alive() {
    join_all([true, false].map(|is_closed| async move {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pids");
        let session = connect(&stubborn(&file)).await;
        let pids = all_started(&file).await;
        let arguments = Bytes::from(format!(r#"{{"a":"{}"}}"#, "x".repeat(400_000)));
        let call = Call {
            arguments,
            limit: Duration::from_millis(500),
            ..call("")
        };
        let capture = session.call(call, CancelToken::new()).await;
        assert_eq!(capture.outcome, Outcome::Timeout);
        if is_closed {
            session.close().await;
            assert_eq!(pids.iter().filter(|&&pid| is_alive(pid)).count(), 0);
        } else {
            drop(session);
            all_gone(&pids).await;
        }
    }))
    .await;
}

#[tokio::test]
async fn a_connect_that_is_given_up_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids");
    let silent = sh(&format!(
        "trap '' TERM; echo $$ > '{}'; while :; do sleep 0.2; done",
        file.display()
    ));
    let connecting = loupe_client::connect(
        &silent,
        options(),
        ServerNotification::default().happenings(),
    );
    let pids = tokio::select! {
        _ = connecting => panic!("connected to a silent server"),
        pids = until("the server", || Some(read_pids(&file)).filter(|pids| pids.len() == 1)) => pids,
    };
    all_gone(&pids).await;

    let brief = Options {
        connect_limit: Duration::from_millis(100),
        ..options()
    };
    assert!(
        loupe_client::connect(&silent, brief, ServerNotification::default().happenings())
            .await
            .is_err()
    );
    let pids = until("the server", || {
        Some(read_pids(&file)).filter(|pids| pids.len() == 1)
    })
    .await;
    all_gone(&pids).await;
}

#[tokio::test]
async fn what_a_server_leaves_behind_goes_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids");
    let leaver = sh(&format!(
        "sh -c 'trap \"\" TERM; while :; do sleep 0.2; done' & echo $! > '{}'; exit 4",
        file.display()
    ));
    let error = loupe_client::connect(
        &leaver,
        options(),
        ServerNotification::default().happenings(),
    )
    .await
    .map(|_| ())
    .unwrap_err();
    assert!(error.to_string().contains("ended with status 4"), "{error}");
    all_gone(&read_pids(&file)).await;
}

/// The command line waits for the server's list when it is ended, in each way a program can be.
#[tokio::test]
async fn the_death_of_loupe_ends_the_server() {
    join_all(["KILL", "TERM", "INT"].map(|signal| async move {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pids");
        let Source::Command(server) = stubborn(&file) else {
            unreachable!()
        };
        let mut loupe = Command::new(env!("CARGO_BIN_EXE_mcp-loupe"))
            .args(["call", "t", "--", &server.program])
            .args(&server.args)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let pids = all_started(&file).await;
        assert!(
            Command::new("kill")
                .args([format!("-{signal}"), loupe.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
        all_gone(&pids).await;
        let ended = until("the end of Loupe", || loupe.try_wait().unwrap()).await;
        assert!(!ended.success());
    }))
    .await;
}

/// A guard that is asked to end does so in order.
#[tokio::test]
async fn sigterm_to_the_guard_ends_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids");
    let Source::Command(server) = stubborn(&file) else {
        unreachable!()
    };
    let mut guard = Command::new(env!("CARGO_BIN_EXE_mcp-loupe"))
        .args([guard::COMMAND, "token", &server.program])
        .args(&server.args)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let pids = all_started(&file).await;
    assert!(
        Command::new("kill")
            .arg(guard.id().to_string())
            .status()
            .unwrap()
            .success()
    );
    all_gone(&pids).await;
    guard.wait().unwrap();
}

/// What the guard passes on is what it got, and a server that ends by itself is reported.
#[test]
fn the_guard_relays_and_reports() {
    let mut guard = Command::new(env!("CARGO_BIN_EXE_mcp-loupe"))
        .args([
            guard::COMMAND,
            "token",
            "sh",
            "-c",
            "read -r line; printf '%s\\n' \"$line\"; exit 7",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    guard
        .stdin
        .as_mut()
        .unwrap()
        .write_all(b"h\xc3\xa9llo\n")
        .unwrap();
    let mut line = String::new();
    BufReader::new(guard.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "héllo\n");
    let output = guard.wait_with_output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "token ended with status 7\n"
    );
    assert_eq!(output.status.code(), Some(7));
}
