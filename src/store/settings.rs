//! The person's settings on disk: one TOML file in the folder for settings. Keys that this version does not know stay.
//!
//! Two copies of Loupe may run: each writes only what was changed in it, into what is in the file by then, while it
//! holds a lock; the file is replaced as a whole or not at all. A file that cannot be read is never overwritten: it is kept
//! aside under another name.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::file_text;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::settings::Changes;

/// The name of the file, in the folder of `--data-dir` or the one for settings.
const FILE: &str = "settings.toml";
const LOCK: &str = "settings.lock";
/// No more of it is read: settings of the user are a few kilobytes.
const MAX_BYTES: u64 = 4 << 20;

fn problem(what: &str, path: &Path, error: impl std::fmt::Display) -> Problem {
    Problem::new(ProblemKind::Io, format!("{what}: {error}")).at(path.display().to_string())
}

/// What is in the file; empty where there is none.
///
/// # Errors
/// Why it is not used: it cannot be read, or is no TOML, with line and column.
pub fn read_settings(folder: &Path) -> Result<Table, Problem> {
    let path = folder.join(FILE);
    let fail = |error: io::Error| {
        problem(
            "the settings are not used, and stay as they are: cannot read",
            &path,
            error,
        )
    };
    let text = match file_text(&path, MAX_BYTES) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Table::new()),
        Err(error) => return Err(fail(error)),
    };
    text.parse::<Table>().map_err(|error| {
        let why = error.to_string();
        // The parser draws the line below its first sentence.
        problem(
            "the settings are not used: not TOML",
            &path,
            why.split('\n').next().unwrap_or_default(),
        )
        .hint("fix the file, or go on: it is kept under another name before anything is written")
    })
}

/// Writes changes into what is in the file now. Comments in it are lost, keys are not.
///
/// # Errors
/// Why nothing was written.
pub fn change_settings(folder: &Path, changes: &Changes) -> Result<(), Problem> {
    let path = folder.join(FILE);
    let fail = |error: io::Error| problem("the settings cannot be kept", &path, error);
    fs::create_dir_all(folder).map_err(fail)?;
    let lock = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(folder.join(LOCK))
        .map_err(fail)?;
    // Held until the file is closed.
    lock.lock().map_err(fail)?;
    let mut table = match read_settings(folder) {
        Ok(table) => table,
        Err(_) if path.is_file() => {
            keep_aside(&path).map_err(fail)?;
            Table::new()
        }
        Err(problem) => return Err(problem),
    };
    for (keys, value) in changes {
        set(&mut table, keys, value.clone());
    }
    let text = toml::to_string_pretty(&table)
        .map_err(|error| problem("the settings cannot be kept", &path, error))?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(fail)?;
    file.write_all(text.as_bytes()).map_err(fail)?;
    file.as_file().sync_all().map_err(fail)?;
    file.persist(&path).map_err(|error| fail(error.error))?;
    Ok(())
}

/// Renames a file that cannot be read to a name that is free.
fn keep_aside(path: &Path) -> io::Result<PathBuf> {
    let mut number = 1;
    loop {
        let aside = path.with_extension(format!("broken-{number}.toml"));
        if !aside.exists() {
            fs::rename(path, &aside)?;
            return Ok(aside);
        }
        number += 1;
    }
}

/// Puts a value at a path of keys, or takes it away; tables on the way are made where they are missing.
fn set(table: &mut Table, keys: &[String], value: Option<Value>) {
    let Some((last, above)) = keys.split_last() else {
        return;
    };
    let mut at = table;
    for key in above {
        if value.is_none() && !at.contains_key(key) {
            return;
        }
        let inner = at
            .entry(key.clone())
            .or_insert_with(|| Value::Table(Table::new()));
        if !inner.is_table() {
            *inner = Value::Table(Table::new());
        }
        let Value::Table(inner) = inner else { return };
        at = inner;
    }
    match value {
        Some(value) => drop(at.insert(last.clone(), value)),
        None => drop(at.remove(last)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(folder: &Path, keys: &[&str], value: Option<Value>) {
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        change_settings(folder, &Changes::from([(keys, value)])).unwrap();
    }

    #[test]
    fn each_copy_writes_what_it_changed_and_unknown_keys_stay() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("not/there/yet");
        assert_eq!(read_settings(&folder), Ok(Table::new()));
        change(&folder, &["theme"], Some("dark".into()));
        fs::write(
            folder.join(FILE),
            "theme = \"dark\"\nfuture = [1, 2]\n[needed.a]\nt = [\"/x\"]\n",
        )
        .unwrap();
        // One copy changes the theme, another what is needed of a tool: neither destroys the other's.
        change(&folder, &["theme"], Some("light".into()));
        change(
            &folder,
            &["needed", "b", "u"],
            Some(Value::Array(vec!["/y".into()])),
        );
        change(&folder, &["needed", "none", "u"], None);
        let table = read_settings(&folder).unwrap();
        assert_eq!(table["theme"].as_str(), Some("light"));
        assert_eq!(table["future"].as_array().map(Vec::len), Some(2));
        assert_eq!(table["needed"]["a"]["t"][0].as_str(), Some("/x"));
        assert_eq!(table["needed"]["b"]["u"][0].as_str(), Some("/y"));
        assert!(table["needed"].get("none").is_none());
        change(&folder, &["theme"], None);
        assert!(!read_settings(&folder).unwrap().contains_key("theme"));
    }

    #[test]
    fn a_broken_file_is_said_and_kept_aside() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(FILE), "theme = \n").unwrap();
        let problem = read_settings(folder.path()).unwrap_err();
        assert!(
            problem
                .what
                .starts_with("the settings are not used: not TOML: "),
            "{}",
            problem.what
        );
        change(folder.path(), &["theme"], Some("dark".into()));
        assert_eq!(
            fs::read_to_string(folder.path().join("settings.broken-1.toml")).unwrap(),
            "theme = \n"
        );
        assert_eq!(
            read_settings(folder.path()).unwrap()["theme"].as_str(),
            Some("dark")
        );
        // What was kept aside once is not overwritten by the next.
        fs::write(folder.path().join(FILE), "= 1").unwrap();
        change(folder.path(), &["theme"], Some("light".into()));
        assert_eq!(
            fs::read_to_string(folder.path().join("settings.broken-1.toml")).unwrap(),
            "theme = \n"
        );
        assert_eq!(
            fs::read_to_string(folder.path().join("settings.broken-2.toml")).unwrap(),
            "= 1"
        );
    }
}
