//! The `loupe.toml` of a project: which rules count there.

use std::path::{Path, PathBuf};

use super::{MOST_OF_SETTINGS, file_text};
use crate::finding::RuleSettings;
use crate::problem::{Problem, ProblemKind};

/// The settings of the nearest `loupe.toml`, from this folder upwards, and where it stands; `None` where there is none.
///
/// # Errors
/// It cannot be read, or what is wrong with it.
pub fn nearest_rules(folder: &Path) -> Result<Option<(RuleSettings, PathBuf)>, Problem> {
    let Some(path) = folder.ancestors().map(|folder| folder.join(RuleSettings::FILE)).find(|path| path.is_file()) else {
        return Ok(None);
    };
    let place = path.display().to_string();
    let text = file_text(&path, MOST_OF_SETTINGS)
        .map_err(|error| Problem::new(ProblemKind::Io, format!("cannot read: {error}")).at(place.clone()))?;
    Ok(Some((RuleSettings::parse(&text, &place)?, path)))
}
