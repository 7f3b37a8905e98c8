//! What an open window costs while nobody touches it: processor time of `mcp-loupe` on its sample, of one core.
//!
//! Needs a display, such as `xvfb-run cargo bench --bench idle` gives, and Linux for the reading of the time; says so
//! where either is missing.

use std::fs;
use std::io;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Until the window is painted and the sample's first answers are there.
const SETTLE: Duration = Duration::from_secs(15);
const WATCHED: Duration = Duration::from_secs(30);

fn main() -> io::Result<()> {
    if !cfg!(target_os = "linux") {
        println!("not measured: the time is read from /proc");
        return Ok(());
    }
    if ["DISPLAY", "WAYLAND_DISPLAY"]
        .iter()
        .all(|name| std::env::var_os(name).is_none_or(|value| value.is_empty()))
    {
        println!(
            "not measured: there is no display; `xvfb-run cargo bench --bench idle` makes one"
        );
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let mut window = Command::new(env!("CARGO_BIN_EXE_mcp-loupe"))
        .arg("--data-dir")
        .arg(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()?;
    let measured = watch(&mut window);
    window.kill()?;
    window.wait()?;
    measured
}

fn watch(window: &mut Child) -> io::Result<()> {
    std::thread::sleep(SETTLE);
    let (before, begun) = (on_core(window.id())?, Instant::now());
    std::thread::sleep(WATCHED);
    let (after, took) = (on_core(window.id())?, begun.elapsed());
    if let Some(status) = window.try_wait()? {
        return Err(io::Error::other(format!(
            "the window did not stay open: {status}"
        )));
    }
    let spent: Duration = after.iter().map(|(_, time)| *time).sum::<Duration>()
        - before.iter().map(|(_, time)| *time).sum();
    println!(
        "idle window: {:.2} ms on a core within {:.1} s, {:.4} % of one core (goal 0.1 %); {:.1} ms before that, to start",
        spent.as_secs_f64() * 1e3,
        took.as_secs_f64(),
        100.0 * spent.as_secs_f64() / took.as_secs_f64(),
        before
            .iter()
            .map(|(_, time)| time.as_secs_f64() * 1e3)
            .sum::<f64>()
    );
    for (name, time) in after {
        let was = before
            .iter()
            .find(|(known, _)| *known == name)
            .map_or(Duration::ZERO, |(_, time)| *time);
        if time > was {
            println!(
                "  {:.3} ms  thread {name}",
                (time - was).as_secs_f64() * 1e3
            );
        }
    }
    Ok(())
}

/// The time each thread has been on a core, by its id and name.
fn on_core(process: u32) -> io::Result<Vec<(String, Duration)>> {
    let mut threads = Vec::new();
    for entry in fs::read_dir(format!("/proc/{process}/task"))? {
        let path = entry?.path();
        // A thread may end meanwhile; what it spent is lost then.
        let (Ok(name), Ok(spent)) = (
            fs::read_to_string(path.join("comm")),
            fs::read_to_string(path.join("schedstat")),
        ) else {
            continue;
        };
        let nanoseconds = spent
            .split_whitespace()
            .next()
            .and_then(|text| text.parse().ok())
            .unwrap_or_default();
        let id = path
            .file_name()
            .map(|id| id.to_string_lossy().into_owned())
            .unwrap_or_default();
        threads.push((
            format!("{id} {}", name.trim()),
            Duration::from_nanos(nanoseconds),
        ));
    }
    Ok(threads)
}
