//! Variables and headers, from options and from files, so that a secret need not stand among the arguments of a program.

use std::path::{Path, PathBuf};

use crate::store;
use loupe_core::problem::{Problem, ProblemKind};

/// No more of a file is read.
const MOST: u64 = 1 << 20;

/// Names and values: those of `--env` and `--env-file` are separated by `=`, those of `--header` and `--header-file` by `:`.
/// Files come first, so that what is on the command line wins.
pub fn pairs(
    option: &str,
    separator: char,
    given: &[String],
    files: &[PathBuf],
) -> Result<Vec<(String, String)>, Problem> {
    let mut pairs = Vec::new();
    for path in files {
        pairs.extend(file(path, option, separator)?);
    }
    for text in given {
        pairs.push(
            pair(text, separator)
                .ok_or_else(|| usage(format!("{option} takes {}", form(separator))))?,
        );
    }
    Ok(pairs)
}

fn file(path: &Path, option: &str, separator: char) -> Result<Vec<(String, String)>, Problem> {
    let place = path.display().to_string();
    let text = String::from_utf8(store::read_file(path, MOST)?).map_err(|_| {
        Problem::new(ProblemKind::Io, "the file is not UTF-8 text").at(place.clone())
    })?;
    let lines = text
        .lines()
        .zip(1..)
        .filter(|(line, _)| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    let read = |(line, number): (&str, usize)| {
        pair(line, separator).ok_or_else(|| {
            usage(format!("a line of {option}-file is {}", form(separator)))
                .at(format!("{place}, line {number}"))
        })
    };
    lines.map(read).collect()
}

fn form(separator: char) -> &'static str {
    if separator == '=' { "K=V" } else { "'K: V'" }
}

/// The text is a secret, so that no message repeats it.
fn pair(text: &str, separator: char) -> Option<(String, String)> {
    let (name, value) = text.split_once(separator)?;
    let (name, value) = if separator == ':' {
        (name.trim(), value.trim())
    } else {
        (name.trim_start(), value)
    };
    (!name.is_empty()).then(|| (name.to_owned(), value.to_owned()))
}

fn usage(what: impl Into<String>) -> Problem {
    Problem::new(ProblemKind::Usage, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_line_by_line_and_never_repeated() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secrets");
        let read = |text: &str, separator| {
            std::fs::write(&path, text).unwrap();
            pairs(
                "--env",
                separator,
                &["C=3".into(), "D: 4".into()][usize::from(separator == ':')..],
                std::slice::from_ref(&path),
            )
        };
        let named = |pairs: &[(&str, &str)]| {
            pairs
                .iter()
                .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            pairs("--env", '=', &["C=3".into()], &[]),
            Ok(named(&[("C", "3")]))
        );
        std::fs::write(&path, "# one\r\nA=1=x # no comment\r\n\n  # two\n B= 2\n").unwrap();
        let both = pairs("--env", '=', &["A=3".into()], std::slice::from_ref(&path));
        assert_eq!(
            both,
            Ok(named(&[("A", "1=x # no comment"), ("B", " 2"), ("A", "3")]))
        );
        assert_eq!(
            read("X-Key:  a:b \n#c\n", ':'),
            Ok(named(&[("X-Key", "a:b"), ("D", "4")]))
        );
        let refused = read("# one\nhunter2\n", '=').unwrap_err();
        assert!(
            refused.message().contains("a line of --env-file is K=V")
                && refused.message().contains("line 2"),
            "{refused}"
        );
        assert!(!refused.message().contains("hunter2"));
        assert!(read("=x", '=').is_err() && read(": x", ':').is_err());
    }
}
