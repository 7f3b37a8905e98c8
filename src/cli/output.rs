//! Printing: results on stdout, everything else on stderr. Nothing of the command line reaches either but through here.
//!
//! What the run knows to be secret is hidden in all of it ([`known`]). What a server wrote is shown so that it commands
//! neither a terminal nor the log of a CI system. Bytes as they are come only where they are asked for by name: `--view
//! FORMAT`, an export; a JSON document has escapes instead of what a log would obey.

use std::io::{self, BufRead, BufWriter, IsTerminal, Write};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::quote::{log, log_commands, log_json, log_xml, visible};
use loupe_core::redact::SecretList;

/// What this run knows to be secret: what was given to it, what it inherits, what a session learns. Its copies are one list.
pub fn known() -> &'static SecretList {
    static KNOWN: LazyLock<SecretList> = LazyLock::new(SecretList::default);
    &KNOWN
}

/// Writes a page for people, or a text in which nothing but words of a server could be obeyed: Markdown, CSV.
pub fn page(text: &str) -> Result<(), Problem> {
    write(log(&known().page(text)).as_bytes())
}

/// Writes a page for people, or a JSON document that was asked for.
pub fn page_or(is_json: bool, text: &str) -> Result<(), Problem> {
    if is_json { json(text) } else { page(text) }
}

/// Writes a JSON document.
pub fn json(text: &str) -> Result<(), Problem> {
    json_by(|out| out.write_all(text.as_bytes()))
}

/// Whether anything was written to standard output.
static HAS_BEGUN: AtomicBool = AtomicBool::new(false);

pub fn has_begun() -> bool {
    HAS_BEGUN.load(Ordering::SeqCst)
}

/// Writes as it comes a JSON document that is too large to be held.
pub fn json_by(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Problem> {
    HAS_BEGUN.store(true, Ordering::SeqCst);
    let mut out = BufWriter::new(io::stdout().lock());
    let mut lines = JsonLines {
        out: &mut out,
        line: Vec::new(),
    };
    let written = write(&mut lines).and_then(|()| lines.end());
    quiet_pipe(written.and_then(|()| out.flush()))
}

/// Writes an XML document.
pub fn xml(text: &str) -> Result<(), Problem> {
    write(log_xml(&known().page(text)).as_bytes())
}

/// Writes commands to the log of GitHub Actions.
pub fn commands(text: &str) -> Result<(), Problem> {
    write(log_commands(&known().page(text)).as_bytes())
}

/// Writes bytes that were asked for by name, without what is known. What is no UTF-8 stays.
pub fn bytes(bytes: &[u8]) -> Result<(), Problem> {
    let hidden = bytes.utf8_chunks().flat_map(|chunk| {
        let text = hidden_document(chunk.valid());
        text.into_bytes()
            .into_iter()
            .chain(chunk.invalid().iter().copied())
    });
    if known().is_empty() {
        write(bytes)
    } else {
        write(&hidden.collect::<Vec<_>>())
    }
}

/// Writes bytes of which somebody said that nothing is to be hidden in them, or which are Loupe's own.
pub fn exactly(bytes: &[u8]) -> Result<(), Problem> {
    write(bytes)
}

/// A text for others without what is known; JSON stays JSON.
pub fn hidden_document(text: &str) -> String {
    let is_json = text.trim_start().starts_with(['{', '[', '"'])
        && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    if is_json {
        known().json(text).into_owned()
    } else {
        known().page(text).into_owned()
    }
}

/// A reader that has gone away (`| head`) is no failure.
fn write(bytes: &[u8]) -> Result<(), Problem> {
    HAS_BEGUN.store(true, Ordering::SeqCst);
    let mut out = io::stdout().lock();
    quiet_pipe(out.write_all(bytes).and_then(|()| out.flush()))
}

/// Holds a line of JSON until it is whole, in which nothing known stands then: no string goes over a line.
struct JsonLines<W> {
    out: W,
    line: Vec<u8>,
}

impl<W: Write> JsonLines<W> {
    fn end(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        // JSON is UTF-8.
        let text = String::from_utf8_lossy(&line);
        self.out
            .write_all(log_json(&known().json(&text)).as_bytes())
    }
}

impl<W: Write> Write for JsonLines<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let whole = memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1);
        if whole > 0 {
            self.line.extend_from_slice(&bytes[..whole]);
            self.end()?;
        }
        self.line.extend_from_slice(&bytes[whole..]);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Takes a closed pipe for an end like any other.
pub fn quiet_pipe(written: io::Result<()>) -> Result<(), Problem> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Problem::new(
            ProblemKind::Io,
            format!("cannot write to standard output: {error}"),
        )),
        _ => Ok(()),
    }
}

/// Whether a failure was printed.
static HAS_FAILED: AtomicBool = AtomicBool::new(false);

/// Says that the run was interrupted, unless a failure was printed already.
pub fn report_interrupt() {
    if !HAS_FAILED.load(Ordering::SeqCst) {
        problem(&Problem::interrupted());
    }
}

/// Prints a failure.
pub fn problem(problem: &Problem) {
    HAS_FAILED.store(true, Ordering::SeqCst);
    line("error", &problem.message());
    if let Some(hint) = &problem.hint {
        line("hint", hint);
    }
}

/// Prints what went wrong without keeping anything from being done.
pub fn warning(problem: &Problem) {
    line("warning", &problem.message());
    if let Some(hint) = &problem.hint {
        line("hint", hint);
    }
}

/// Prints something worth knowing that is no failure.
pub fn note(quiet: bool, text: &str) {
    if !quiet {
        line("note", text);
    }
}

/// Prints a step of a connection that failed.
pub fn step(text: &str) {
    line("step", text);
}

/// Prints what the server wrote to its stderr.
pub fn server_line(text: &str) {
    // As it came, but for what is secret and what could command a terminal or a log; there is nowhere left to report a
    // failure of stderr itself.
    let text = known().words(text.trim_end_matches(['\r', '\n']));
    writeln!(io::stderr().lock(), "server: {}", log(&text)).ok();
}

/// Prints what a login is at.
pub fn login_line(text: &str) {
    line("login", text);
}

/// Prints the address of a login, with all that it has: without that it would lead nowhere.
pub fn login_address(text: &str) {
    print_line("login", text);
}

/// Asks something on stderr; whether that could be written.
fn question(text: &str) -> bool {
    let mut out = io::stderr().lock();
    out.write_all(log(&known().words(text)).as_bytes())
        .and_then(|()| out.flush())
        .is_ok()
}

/// Asks whether to go on; only a yes is one.
pub fn confirm(text: &str, answers: &mut impl BufRead) -> bool {
    let mut line = String::new();
    question(text)
        && answers.read_line(&mut line).is_ok()
        && matches!(line.trim(), "y" | "Y" | "yes")
}

/// Prints what is being waited for, where somebody is there to wait.
pub fn progress(text: &str) {
    if io::stderr().is_terminal() {
        line("…", text);
    }
}

fn line(label: &str, text: &str) {
    print_line(label, &known().words(text));
}

fn print_line(label: &str, text: &str) {
    let text = log(&one_line(text));
    let separator = if label == "…" { " " } else { ": " };
    // There is nowhere left to report a failure of stderr itself.
    writeln!(io::stderr().lock(), "{label}{separator}{text}").ok();
}

/// The text on one line, control characters made visible.
pub fn one_line(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    visible(&lines.join(" ")).into_owned()
}

/// Rows in columns, the first row being the head; columns named in `right` are aligned to the right.
pub fn columns(rows: &[Vec<String>], right: &[usize]) -> String {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        for (column, cell) in row.iter().enumerate() {
            let width = cell.chars().count();
            match widths.get_mut(column) {
                Some(known) => *known = width.max(*known),
                None => widths.push(width),
            }
        }
    }
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let pad = " ".repeat(widths[column] - cell.chars().count());
            if column > 0 {
                line.push_str("  ");
            }
            if right.contains(&column) {
                line.push_str(&pad);
                line.push_str(cell);
            } else {
                line.push_str(cell);
                line.push_str(&pad);
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_made_visible() {
        assert_eq!(one_line(" a\r\n\n b\u{7} "), "a b\u{2407}");
    }

    #[test]
    fn json_is_hidden_by_whole_lines_however_it_is_cut() {
        known().add("env", "K", "canary-of-output-7");
        let text = "{\n \"a\": \"x canary-of-output-7 ##[error]\"\n}\n";
        for size in 1..text.len() {
            let mut lines = JsonLines {
                out: Vec::new(),
                line: Vec::new(),
            };
            text.as_bytes()
                .chunks(size)
                .for_each(|chunk| lines.write_all(chunk).unwrap());
            lines.end().unwrap();
            let expected = "{\n \"a\": \"x [hidden:env-K] #\\u0023[error]\"\n}\n";
            assert_eq!(String::from_utf8(lines.out).unwrap(), expected, "{size}");
        }
    }

    #[test]
    fn columns_line_up() {
        let rows = [["A", "N"], ["bc", "10"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(columns(&rows, &[1]), "A    N\nbc  10\n");
    }
}
