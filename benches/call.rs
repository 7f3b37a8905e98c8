//! What Loupe adds to an exchange with a server over pipes, beside the same exchange with nothing in between.
//!
//! `mcp-loupe call … --view wire` from its start to its end, against: start the server, `initialize`, `initialized`,
//! `tools/list`, `tools/call`, read the answer, kill the server. Once done by this program, and once by a program that is
//! started for it, as Loupe is. Then one call of a session that is open, against one round trip of the same server.
//!
//! The servers: this very program (starts in a millisecond or two), the same as a script for an interpreter, and, where
//! `LOUPE_PEERS` names the folder of the installed servers, server-everything. What is not there is said to be missing.

use std::io::{BufRead, BufReader, BufWriter, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use loupe_client::{self, Call, CancelToken, Options};
use loupe_core::capture::{CaptureId, Outcome, Tool};
use loupe_core::source::{self, Source};

type Failure = Box<dyn std::error::Error + Send + Sync>;

const LOUPE: &str = env!("CARGO_BIN_EXE_mcp-loupe");
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hello loupe"}}}"#;
const ARGUMENTS: &str = r#"{"message":"hello loupe"}"#;

/// The tiny server for Python; what `tiny` below is in Rust.
const SCRIPT: &str = r#"
import sys, json
results = {
  "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "tiny", "version": "1"}},
  "tools/list": {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]},
  "tools/call": {"content": [{"type": "text", "text": "Echo: hello loupe"}]},
}
for line in sys.stdin:
  message = json.loads(line)
  if "id" not in message: continue
  answer = {"jsonrpc": "2.0", "id": message["id"]}
  result = results.get(message["method"])
  answer.update({"result": result} if result else {"error": {"code": -32601, "message": "Method not found"}})
  print(json.dumps(answer), flush=True)
"#;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments
        .split_first()
        .map(|(mode, rest)| (mode.as_str(), rest))
    {
        Some(("tiny", _)) => tiny(),
        Some(("raw", server)) => raw(server),
        Some(("placed", server)) => warm(server),
        _ => measure(&arguments),
    }
}

/// `cargo bench --bench call -- warm` measures the open session alone.
fn measure(arguments: &[String]) -> Result<(), Failure> {
    let me = std::env::current_exe()?.to_string_lossy().into_owned();
    if !arguments.iter().any(|argument| argument == "warm") {
        one_shots(&me)?;
    }
    println!("\none call of an open session, the native tiny server\n");
    warm(&[me.clone(), "tiny".into()])?;
    // Waking an idle processor takes longer than the call, and the system may put one exchange on one and the other on
    // two: only where both are put alike does a ratio tell what is done.
    for (place, server) in [
        ("all on one processor", "0"),
        ("the servers on another processor than what asks them", "1"),
    ] {
        println!("\nthe same, {place}\n");
        let placed = Command::new("taskset")
            .args([
                "-c", "0", &me, "placed", "taskset", "-c", server, &me, "tiny",
            ])
            .status();
        if !placed.as_ref().is_ok_and(std::process::ExitStatus::success) {
            println!("not measured: {placed:?}");
        }
    }
    Ok(())
}

fn one_shots(me: &str) -> Result<(), Failure> {
    println!("one call, from the start of the program to its end\n");
    println!(
        "{:<20} {:>5} {:>10} {:>10} {:>10} {:>10} {:>12}",
        "server", "runs", "raw", "as program", "loupe", "÷ raw", "÷ as program"
    );
    one_shot("tiny, native", 60, me, &[me.to_owned(), "tiny".into()])?;
    match python() {
        Ok(python) => {
            one_shot(
                "tiny, python3",
                40,
                me,
                &[python.clone(), "-c".into(), SCRIPT.into()],
            )?;
            one_shot(
                "tiny, python3 -SE",
                40,
                me,
                &[python, "-SEc".into(), SCRIPT.into()],
            )?;
        }
        Err(why) => println!("tiny, python3 -SE    not measured: {why}"),
    }
    match std::env::var_os("LOUPE_PEERS") {
        Some(peers) => {
            let server =
                std::path::Path::new(&peers).join("node_modules/.bin/mcp-server-everything");
            one_shot(
                "server-everything",
                15,
                me,
                &[server.to_string_lossy().into_owned(), "stdio".into()],
            )?;
        }
        None => println!(
            "server-everything    not measured: LOUPE_PEERS does not name the folder it is installed in"
        ),
    }
    Ok(())
}

/// The interpreter itself: what is found by its name may be a script that looks for it.
fn python() -> Result<String, Failure> {
    let output = Command::new("python3")
        .args(["-c", "import sys; print(sys.executable)"])
        .output()?;
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// The three in turn, so that what else the machine does hits each alike.
fn one_shot(name: &str, runs: usize, me: &str, server: &[String]) -> Result<(), Failure> {
    let (mut bare, mut program, mut loupe) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..runs {
        bare.push(timed(|| raw(server))?);
        program.push(timed(|| ran(Command::new(me).arg("raw").args(server)))?);
        loupe.push(timed(|| {
            ran(Command::new(LOUPE)
                .args(["call", "echo", "--args", ARGUMENTS, "--view", "wire", "--"])
                .args(server))
        })?);
    }
    let [bare, program, loupe] = [bare, program, loupe].map(median);
    let over = |base: Duration| loupe.as_secs_f64() / base.as_secs_f64();
    let shown = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1e3);
    println!(
        "{name:<20} {runs:>5} {:>10} {:>10} {:>10} {:>10.2} {:>12.2}",
        shown(bare),
        shown(program),
        shown(loupe),
        over(bare),
        over(program)
    );
    Ok(())
}

fn timed(work: impl FnOnce() -> Result<(), Failure>) -> Result<Duration, Failure> {
    let begun = Instant::now();
    work()?;
    Ok(begun.elapsed())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Runs a program whose answer has to hold what was called.
fn ran(command: &mut Command) -> Result<(), Failure> {
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()?;
    if !output.status.success() || !String::from_utf8_lossy(&output.stdout).contains("hello loupe")
    {
        return Err(format!(
            "{command:?}: {} {}",
            output.status,
            String::from_utf8_lossy(&output.stdout)
        )
        .into());
    }
    Ok(())
}

struct Pipes {
    server: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    line: String,
}

impl Pipes {
    fn open(server: &[String]) -> Result<Self, Failure> {
        let (program, arguments) = server.split_first().ok_or("no server")?;
        let mut server = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let (Some(to), Some(from)) = (server.stdin.take(), server.stdout.take()) else {
            return Err("no pipes".into());
        };
        let mut pipes = Self {
            server,
            to,
            from: BufReader::new(from),
            line: String::new(),
        };
        pipes.ask(INITIALIZE, "\"id\":0")?;
        pipes.send(INITIALIZED)?;
        pipes.ask(LIST, "\"id\":1")?;
        Ok(pipes)
    }

    fn send(&mut self, message: &str) -> Result<(), Failure> {
        self.to.write_all(format!("{message}\n").as_bytes())?;
        Ok(())
    }

    /// Until the answer with this id; `id` may be written with a space.
    fn ask(&mut self, message: &str, id: &str) -> Result<(), Failure> {
        self.send(message)?;
        let spaced = id.replace(':', ": ");
        loop {
            self.line.clear();
            if self.from.read_line(&mut self.line)? == 0 {
                return Err("the server ended".into());
            }
            let is_answer = self.line.contains(id) || self.line.contains(&spaced);
            if is_answer && !self.line.contains("\"method\"") {
                return Ok(());
            }
        }
    }

    fn end(mut self) -> Result<(), Failure> {
        drop(self.to);
        self.server.kill()?;
        self.server.wait()?;
        Ok(())
    }
}

/// The exchange with nothing in between; prints the answer.
fn raw(server: &[String]) -> Result<(), Failure> {
    let mut pipes = Pipes::open(server)?;
    pipes.ask(CALL, "\"id\":2")?;
    if std::env::args().nth(1).is_some_and(|mode| mode == "raw") {
        print!("{}", pipes.line);
    }
    pipes.end()
}

/// A server with one tool, until its input ends.
fn tiny() -> Result<(), Failure> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let message: serde_json::Value = serde_json::from_str(&line)?;
        let Some(id) = message.get("id") else {
            continue;
        };
        let answer = match message["method"].as_str() {
            Some("initialize") => {
                r#""result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"tiny","version":"1"}}"#
            }
            Some("tools/list") => {
                r#""result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}"#
            }
            Some("tools/call") => {
                r#""result":{"content":[{"type":"text","text":"Echo: hello loupe"}]}"#
            }
            _ => r#""error":{"code":-32601,"message":"Method not found"}"#,
        };
        writeln!(out, r#"{{"jsonrpc":"2.0","id":{id},{answer}}}"#)?;
        out.flush()?;
    }
    Ok(())
}

const ROUNDS: usize = 5_000;
/// Nothing is asked for so long before each turn, as nobody calls without a pause: see [`warm`].
const REST: Duration = Duration::from_millis(20);

/// A bare round trip as [`Pipes`] makes it, by a task that waits for the pipe, within a limit as every call has one,
/// instead of a thread that blocks in it: what waking a task costs, before anything of Loupe.
struct Waiting {
    to: tokio::process::ChildStdin,
    from: tokio::io::BufReader<tokio::process::ChildStdout>,
    line: String,
    _server: tokio::process::Child,
}

impl Waiting {
    fn open(server: &[String]) -> Result<Self, Failure> {
        let mut command = tokio::process::Command::new(&server[0]);
        command
            .args(&server[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        let mut server = command.spawn()?;
        let (Some(to), Some(from)) = (server.stdin.take(), server.stdout.take()) else {
            return Err("no pipes".into());
        };
        Ok(Self {
            to,
            from: tokio::io::BufReader::new(from),
            line: String::new(),
            _server: server,
        })
    }

    async fn ask(&mut self, message: &str) -> Result<(), Failure> {
        use tokio::io::{AsyncBufReadExt, AsyncWriteExt};
        self.to.write_all(format!("{message}\n").as_bytes()).await?;
        self.line.clear();
        if tokio::time::timeout(Duration::from_secs(60), self.from.read_line(&mut self.line))
            .await??
            == 0
        {
            Err("the server ended".into())
        } else {
            Ok(())
        }
    }
}

/// Round trips of one connection each, in turns of some, so that all have the same machine. Each turn begins at rest: two
/// that ask each other from the moment that one has started the other stay on the two processors where that has put them,
/// and wake each other up for every message; after a rest the system puts them on one.
fn warm(server: &[String]) -> Result<(), Failure> {
    let mut pipes = Pipes::open(server)?;
    let runtime = loupe_client::runtime()?;
    let command = source::Command {
        program: server[0].clone(),
        args: server[1..].to_vec(),
        ..source::Command::default()
    };
    let options = Options {
        guard: Some(LOUPE.into()),
        ..Options::default()
    };
    let session = Arc::new(runtime.block_on(loupe_client::connect(
        &Source::Command(command),
        options,
        Arc::new(|_| {}),
    ))?);
    let mut waiting = runtime.block_on(async { Waiting::open(server) })?;
    let (mut bare, mut waited, mut called) = (Vec::new(), Vec::new(), Vec::new());
    for turn in 0..10 {
        std::thread::sleep(REST);
        for _ in 0..ROUNDS / 10 {
            let begun = Instant::now();
            pipes.ask(CALL, "\"id\":2")?;
            bare.push(begun.elapsed());
        }
        std::thread::sleep(REST);
        let (back, times) = runtime.block_on(runtime.spawn(async move {
            let mut times = Vec::new();
            for _ in 0..ROUNDS / 10 {
                let begun = Instant::now();
                waiting.ask(CALL).await?;
                times.push(begun.elapsed());
            }
            Ok::<_, Failure>((waiting, times))
        }))??;
        waiting = back;
        waited.extend(times);
        std::thread::sleep(REST);
        let session = Arc::clone(&session);
        // On a task, as the window calls.
        let times = runtime.block_on(runtime.spawn(async move {
            let mut times = Vec::new();
            for number in 0..ROUNDS / 10 {
                let call = Call {
                    id: CaptureId(format!("{turn}-{number}").into()),
                    tool: Tool::unlisted("echo"),
                    arguments: Bytes::from_static(ARGUMENTS.as_bytes()),
                    limit: Duration::from_secs(60),
                };
                let begun = Instant::now();
                let capture = session.call(call, CancelToken::new()).await;
                times.push(begun.elapsed());
                if capture.outcome != Outcome::Result {
                    return Err(format!("{:?}", capture.outcome));
                }
            }
            Ok(times)
        }))??;
        called.extend(times);
    }
    pipes.end()?;
    if let Some(session) = Arc::into_inner(session) {
        runtime.block_on(session.close());
    }
    drop(waiting);
    let [bare, waited, called] = [bare, waited, called].map(median);
    for (name, time) in [
        ("bare round trip", bare),
        ("the same by a task", waited),
        ("Session::call", called),
    ] {
        let (micros, ratio) = (
            time.as_secs_f64() * 1e6,
            time.as_secs_f64() / bare.as_secs_f64(),
        );
        println!(
            "{:<28} {micros:>7.1} µs   {ratio:.2}",
            format!("{name} ({ROUNDS})")
        );
    }
    Ok(())
}
