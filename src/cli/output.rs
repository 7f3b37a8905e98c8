//! Printing: results on stdout, everything else on stderr.
//!
//! What a server wrote is shown with its control characters made visible, so that it cannot command the terminal. Bytes as
//! they are come only where they are asked for by name: `--view FORMAT`, `--json`, an export.

use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::problem::{Problem, ProblemKind};
use crate::quote::is_direction;

/// Writes a page for people.
pub fn page(text: &str) -> Result<(), Problem> {
    print(visible(text).as_bytes())
}

/// Writes a page for people, or a document that was asked for.
pub fn page_or(is_document: bool, text: &str) -> Result<(), Problem> {
    if is_document { print(text.as_bytes()) } else { page(text) }
}

/// Writes a table for other programs: its bytes, unless people look at them.
pub fn table(text: &str) -> Result<(), Problem> {
    page_or(!io::stdout().is_terminal(), text)
}

/// Writes bytes as they are. A reader that has gone away (`| head`) is no failure.
pub fn print(bytes: &[u8]) -> Result<(), Problem> {
    print_by(|out| out.write_all(bytes))
}

/// Whether anything was written to standard output.
static HAS_BEGUN: AtomicBool = AtomicBool::new(false);

pub fn has_begun() -> bool {
    HAS_BEGUN.load(Ordering::SeqCst)
}

/// Writes as it comes what is too large to be held.
pub fn print_by(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Problem> {
    HAS_BEGUN.store(true, Ordering::SeqCst);
    let mut out = BufWriter::new(io::stdout().lock());
    quiet_pipe(write(&mut out).and_then(|()| out.flush()))
}

/// Takes a closed pipe for an end like any other.
pub fn quiet_pipe(written: io::Result<()>) -> Result<(), Problem> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Problem::new(ProblemKind::Io, format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Prints a failure.
pub fn problem(problem: &Problem) {
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
    // As it came, but for what could command a terminal; there is nowhere left to report a failure of stderr itself.
    writeln!(io::stderr().lock(), "server: {}", visible(text.trim_end_matches(['\r', '\n']))).ok();
}

/// Prints what a login is at.
pub fn login_line(text: &str) {
    line("login", text);
}

/// Prints what is being waited for, where somebody is there to wait.
pub fn progress(text: &str) {
    if io::stderr().is_terminal() {
        line("…", text);
    }
}

fn line(label: &str, text: &str) {
    let text = one_line(text);
    let separator = if label == "…" { " " } else { ": " };
    // There is nowhere left to report a failure of stderr itself.
    writeln!(io::stderr().lock(), "{label}{separator}{text}").ok();
}

/// So many of something: `1 tool`, `2 tools`.
pub fn some(count: usize, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

/// The text on one line, control characters made visible.
pub fn one_line(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    visible(&lines.join(" ")).into_owned()
}

/// The text with control characters other than LF and tab as their pictures, so that it cannot command a terminal.
pub fn visible(text: &str) -> Cow<'_, str> {
    let is_hidden = |char: char| (char.is_control() && char != '\n' && char != '\t') || is_direction(char);
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let show = |char: char| match char {
        char if !is_hidden(char) => char,
        '\u{7f}' => '\u{2421}',
        char if char < ' ' => char::from_u32(0x2400 + u32::from(char)).unwrap_or(char::REPLACEMENT_CHARACTER),
        _ => char::REPLACEMENT_CHARACTER,
    };
    Cow::Owned(text.chars().map(show).collect())
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
        assert_eq!(visible("a\u{1b}[2J\tb\n\u{9b}\u{202e}"), "a\u{241b}[2J\tb\n\u{fffd}\u{fffd}");
        assert_eq!(visible("\u{61c}\u{200e}\u{200f}\u{2067}"), "\u{fffd}\u{fffd}\u{fffd}\u{fffd}");
        assert_eq!(one_line(" a\r\n\n b\u{7} "), "a b\u{2407}");
    }

    #[test]
    fn columns_line_up() {
        let rows = [["A", "N"], ["bc", "10"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(columns(&rows, &[1]), "A    N\nbc  10\n");
    }
}
