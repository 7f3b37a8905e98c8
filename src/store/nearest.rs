//! A project's own file, found from a folder upwards.

use std::path::{Path, PathBuf};

use super::{MOST_OF_SETTINGS, file_text};
use crate::problem::{Problem, ProblemKind};

/// The text of the nearest file of this name, from this folder upwards, and where it stands; `None` where there is none.
///
/// # Errors
/// It cannot be read.
pub fn nearest_file(folder: &Path, name: &str) -> Result<Option<(PathBuf, String)>, Problem> {
    let Some(path) = folder.ancestors().map(|folder| folder.join(name)).find(|path| path.is_file()) else {
        return Ok(None);
    };
    match file_text(&path, MOST_OF_SETTINGS) {
        Ok(text) => Ok(Some((path, text))),
        Err(error) => Err(Problem::new(ProblemKind::Io, format!("cannot read: {error}")).at(path.display().to_string())),
    }
}
