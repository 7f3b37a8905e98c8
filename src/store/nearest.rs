//! A project's own file, found from a folder upwards, and what is written into its `loupe.toml`.

use std::io;
use std::path::{Path, PathBuf};

use super::{MOST_OF_SETTINGS, file_text, write_whole};
use crate::finding::{RuleSettings, rule};
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

/// Writes at the end of a `loupe.toml`, which may be a new one, that a rule says nothing of a tool.
///
/// # Errors
/// The file cannot be read or written, or holds no settings of rules.
pub fn silence_rule(file: &Path, id: &str, tool: &str, reason: &str) -> Result<(), Problem> {
    let place = file.display().to_string();
    let text = match file_text(file, MOST_OF_SETTINGS) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        read => read.map_err(|error| Problem::new(ProblemKind::Io, format!("cannot read: {error}")).at(place.clone()))?,
    };
    let rule = rule(id).ok_or_else(|| Problem::new(ProblemKind::Usage, format!("there is no rule `{id}`")))?;
    let text = RuleSettings::with_silence(&text, &place, rule, tool, reason)?;
    Ok(write_whole(file, text.as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_is_made_and_one_that_is_no_settings_stays() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("loupe.toml");
        silence_rule(&file, "markdown/link", "search", "ours").unwrap();
        silence_rule(&file, "markdown/image", "search", "ours").unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(RuleSettings::parse(&text, "loupe.toml").unwrap().silenced.len(), 2, "{text}");
        std::fs::write(&file, "profiles = 3").unwrap();
        silence_rule(&file, "markdown/link", "search", "ours").unwrap_err();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "profiles = 3");
    }
}
