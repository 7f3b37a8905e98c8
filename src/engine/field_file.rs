//! Reads a file for a field of the form.

use std::io::ErrorKind;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::state::FieldText;
use crate::store;
use loupe_core::problem::{Problem, ProblemKind};

/// A form is checked as a whole at each key that is typed, so no more is taken.
const MOST: u64 = 1 << 20;

/// What is in the file: as base64 where that is asked for, else as text, and as base64 where it is not UTF-8.
pub(super) fn read(path: &Path, is_base64: bool) -> Result<FieldText, Problem> {
    let place = path.display().to_string();
    let bytes = store::file_bytes(path, MOST).map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge => Problem::new(
            ProblemKind::Io,
            "the file is too large for a field: at most 1 MiB is taken",
        )
        .at(place.clone()),
        _ => Problem::new(ProblemKind::Io, format!("the file cannot be read: {error}"))
            .at(place.clone()),
    })?;
    let name = path
        .file_name()
        .map_or(place, |name| name.to_string_lossy().into_owned());
    let size = bytes.len() as u64;
    let text = if is_base64 {
        Err(bytes)
    } else {
        String::from_utf8(bytes).map_err(|error| error.into_bytes())
    };
    Ok(match text {
        Ok(text) => FieldText {
            name,
            size,
            text,
            is_base64: false,
        },
        Err(bytes) => FieldText {
            name,
            size,
            text: BASE64_STANDARD.encode(bytes),
            is_base64: true,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_text_or_base64_and_no_more_than_a_mebibyte() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.txt");
        for (bytes, is_base64, text) in [
            (&b"\xc3\xa9\n"[..], false, ("\u{e9}\n", false)),
            (b"\xc3\xa9\n", true, ("w6kK", true)),
            (b"\xff\x00", false, ("/wA=", true)),
            (b"", false, ("", false)),
        ] {
            std::fs::write(&file, bytes).unwrap();
            let read = read(&file, is_base64).unwrap();
            assert_eq!((read.text.as_str(), read.is_base64), text);
            assert_eq!(
                (read.name.as_str(), read.size),
                ("a.txt", bytes.len() as u64)
            );
        }
        std::fs::write(&file, vec![b'x'; 1 << 20]).unwrap();
        assert!(read(&file, false).is_ok());
        std::fs::write(&file, vec![b'x'; (1 << 20) + 1]).unwrap();
        assert!(read(&file, false).is_err_and(|problem| problem.what.contains("at most 1 MiB")));
        assert!(
            read(folder.path(), false).is_err_and(|problem| problem.what.contains("not a file"))
        );
    }
}
