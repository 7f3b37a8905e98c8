//! Hosts whose rule held for every call of a session: `confirmed.json` in the folder for data.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::data_folder;
use super::kept_file::KeptFile;
use loupe_analysis::queries::Confirmed;
use loupe_core::problem::{Problem, ProblemKind};

const SCHEMA: &str = "loupe.confirmed/1";
const FILE: KeptFile<ConfirmedFile> = KeptFile {
    name: "confirmed.json",
    lock: ".confirmed.lock",
    what: "what transcripts confirmed",
    schema: SCHEMA,
    schema_of: |file| &file.schema,
    empty: || ConfirmedFile {
        schema: SCHEMA.to_owned(),
        confirmed: Vec::new(),
    },
};

#[derive(Serialize, Deserialize)]
struct ConfirmedFile {
    schema: String,
    confirmed: Vec<ConfirmedEntry>,
}

#[derive(Serialize, Deserialize)]
struct ConfirmedEntry {
    host: String,
    version: Option<String>,
    date: String,
    calls: usize,
}

fn folder_of(data_dir: Option<&Path>) -> Option<PathBuf> {
    data_dir.map(Path::to_owned).or_else(data_folder)
}

/// What was confirmed, the last of each host and version; nothing where there is no file.
///
/// # Errors
/// The file is there and cannot be read, or is of another version.
pub fn read_confirmed(data_dir: Option<&Path>) -> Result<Vec<Confirmed>, Problem> {
    let Some(folder) = folder_of(data_dir) else {
        return Ok(Vec::new());
    };
    let confirmed = FILE.read(&folder)?.confirmed.into_iter();
    let confirmed = confirmed.map(|entry| Confirmed {
        host: entry.host,
        version: entry.version,
        date: entry.date,
        calls: entry.calls,
    });
    Ok(confirmed.collect())
}

/// Keeps what was confirmed; an older entry of this host and version goes.
///
/// # Errors
/// Why nothing was written.
pub fn keep_confirmed(data_dir: Option<&Path>, confirmed: &Confirmed) -> Result<(), Problem> {
    let folder = folder_of(data_dir).ok_or_else(|| {
        Problem::new(ProblemKind::Io, "no folder for data is known").hint("give --data-dir DIR")
    })?;
    FILE.change(&folder, |file| {
        file.confirmed
            .retain(|entry| entry.host != confirmed.host || entry.version != confirmed.version);
        file.confirmed.push(ConfirmedEntry {
            host: confirmed.host.clone(),
            version: confirmed.version.clone(),
            date: confirmed.date.clone(),
            calls: confirmed.calls,
        });
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_each_version_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Some(folder.path());
        let entry = |version: &str, calls| Confirmed {
            host: "codex".into(),
            version: Some(version.into()),
            date: "2026-11-29".into(),
            calls,
        };
        assert!(read_confirmed(folder).unwrap().is_empty());
        for confirmed in [entry("1", 3), entry("2", 4), entry("1", 5)] {
            keep_confirmed(folder, &confirmed).unwrap();
        }
        let kept = read_confirmed(folder).unwrap();
        assert_eq!(kept, [entry("2", 4), entry("1", 5)]);
        assert_eq!(kept[1].words(), "confirmed 5 of 5, 29 Nov 2026, version 1");
    }
}
