//! A project's own file, found from a folder upwards, and changed.

use std::io;
use std::path::{Path, PathBuf};

use super::write::write_settings;
use super::{MOST_OF_SETTINGS, file_text};
use loupe_core::problem::{Problem, ProblemKind};

/// The text of the nearest file of this name, from this folder upwards, and where it stands; `None` where there is none.
///
/// # Errors
/// It cannot be read.
pub fn nearest_file(folder: &Path, name: &str) -> Result<Option<(PathBuf, String)>, Problem> {
    let Some(path) = folder
        .ancestors()
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
    else {
        return Ok(None);
    };
    match file_text(&path, MOST_OF_SETTINGS) {
        Ok(text) => Ok(Some((path, text))),
        Err(error) => Err(
            Problem::new(ProblemKind::Io, format!("cannot read: {error}"))
                .at(path.display().to_string()),
        ),
    }
}

/// Writes a project's own file anew from its text, which is empty where there is no file, and from the name that errors
/// give it.
///
/// # Errors
/// Those of `change`, which leave the file as it is; and where it cannot be read or written.
pub fn change_file(
    file: &Path,
    change: impl FnOnce(&str, &str) -> Result<String, Problem>,
) -> Result<(), Problem> {
    let place = file.display().to_string();
    let text = match file_text(file, MOST_OF_SETTINGS) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        read => read.map_err(|error| {
            Problem::new(ProblemKind::Io, format!("cannot read: {error}")).at(place.clone())
        })?,
    };
    Ok(write_settings(file, change(&text, &place)?.as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_is_made_and_one_that_is_refused_stays() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("loupe.toml");
        let add =
            |line: &'static str| change_file(&file, move |text, _| Ok(format!("{text}{line}\n")));
        add("one").unwrap();
        add("two").unwrap();
        change_file(&file, |_, place| {
            Err(Problem::new(ProblemKind::Usage, "no").at(place))
        })
        .unwrap_err();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\ntwo\n");
    }
}
