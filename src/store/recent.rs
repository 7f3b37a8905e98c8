//! The sources used before, in the user's settings folder. No values of secrets are in them.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{MOST_OF_SETTINGS, file_text, write_whole};
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::source::Recent;

const FILE: &str = "recent.json";
const SCHEMA: &str = "loupe.recent/1";

#[derive(Serialize, Deserialize)]
struct File {
    schema: String,
    sources: Vec<serde_json::Value>,
}

/// The sources kept in a folder; none where there is no file. An entry that cannot be read is left out.
///
/// # Errors
/// The file is there and cannot be read, or is of a newer kind.
pub fn read_recent(folder: &Path) -> Result<Vec<Recent>, Problem> {
    let path = folder.join(FILE);
    let fail = |why: String| {
        Problem::new(
            ProblemKind::Io,
            format!("the recent sources cannot be read: {why}"),
        )
        .at(path.display().to_string())
    };
    let text = match file_text(&path, MOST_OF_SETTINGS) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(fail(error.to_string())),
    };
    let file: File = serde_json::from_str(&text).map_err(|error| fail(error.to_string()))?;
    if file.schema != SCHEMA {
        return Err(fail(format!(
            "written by another version ({})",
            file.schema
        )));
    }
    Ok(file
        .sources
        .into_iter()
        .filter_map(|source| serde_json::from_value(source).ok())
        .collect())
}

/// Keeps them, whole or not at all.
///
/// # Errors
/// The folder or the file cannot be written.
pub fn write_recent(folder: &Path, recent: &[Recent]) -> Result<(), Problem> {
    let fail = |error: &dyn std::fmt::Display| {
        Problem::new(
            ProblemKind::Io,
            format!("the recent sources cannot be kept: {error}"),
        )
        .at(folder.join(FILE).display().to_string())
    };
    std::fs::create_dir_all(folder).map_err(|error| fail(&error))?;
    let sources = recent
        .iter()
        .map(serde_json::to_value)
        .collect::<Result<_, _>>()
        .map_err(|error| fail(&error))?;
    let text = serde_json::to_string_pretty(&File {
        schema: SCHEMA.into(),
        sources,
    })
    .map_err(|error| fail(&error))?;
    write_whole(&folder.join(FILE), text.as_bytes()).map_err(Problem::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("new");
        assert_eq!(read_recent(&folder).unwrap(), []);
        let recent = vec![Recent::of_config("/a/.mcp.json", "x")];
        write_recent(&folder, &recent).unwrap();
        assert_eq!(read_recent(&folder).unwrap(), recent);
        write_recent(&folder, &[]).unwrap();
        assert_eq!(read_recent(&folder).unwrap(), []);
        std::fs::write(
            folder.join(FILE),
            "{\"schema\":\"loupe.recent/1\",\"sources\":[7]}",
        )
        .unwrap();
        assert_eq!(read_recent(&folder).unwrap(), []);
        std::fs::write(folder.join(FILE), "{").unwrap();
        assert!(read_recent(&folder).is_err());
    }
}
