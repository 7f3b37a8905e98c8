//! JSON files that Loupe keeps in its folder for data: changed under a lock, since several windows and commands do, and
//! written whole.

use std::fmt::Display;
use std::fs::{self, File};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{MOST_OF_SETTINGS, file_text, write_whole};
use loupe_core::problem::{Problem, ProblemKind};

/// One of these files.
pub(super) struct KeptFile<T> {
    pub name: &'static str,
    /// Held while the file is changed.
    pub lock: &'static str,
    /// What is in it, for people: "what is remembered of servers".
    pub what: &'static str,
    pub schema: &'static str,
    /// The schema that a content names.
    pub schema_of: fn(&T) -> &str,
    /// What is there before anything is kept.
    pub empty: fn() -> T,
}

impl<T: Serialize + DeserializeOwned> KeptFile<T> {
    /// What is in it; nothing where there is no file.
    ///
    /// # Errors
    /// The file is there and cannot be read, or is of another version.
    pub fn read(&self, folder: &Path) -> Result<T, Problem> {
        let fail = |error: &dyn Display| self.failed(folder, "cannot be read", error);
        let text = match file_text(&folder.join(self.name), MOST_OF_SETTINGS) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok((self.empty)());
            }
            Err(error) => return Err(fail(&error)),
        };
        let content: T = serde_json::from_str(&text).map_err(|error| fail(&error))?;
        let schema = (self.schema_of)(&content);
        if schema == self.schema {
            Ok(content)
        } else {
            Err(fail(&format!("written by another version ({schema})")))
        }
    }

    /// Changes what is in it by now.
    ///
    /// # Errors
    /// Why nothing was written.
    pub fn change<R>(
        &self,
        folder: &Path,
        change: impl FnOnce(&mut T) -> Result<R, serde_json::Error>,
    ) -> Result<R, Problem> {
        let fail = |error: &dyn Display| self.failed(folder, "cannot be kept", error);
        fs::create_dir_all(folder).map_err(|error| fail(&error))?;
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(folder.join(self.lock))
            .map_err(|error| fail(&error))?;
        // Held until the file is closed.
        lock.lock().map_err(|error| fail(&error))?;
        let mut content = self.read(folder)?;
        let result = change(&mut content).map_err(|error| fail(&error))?;
        let text = serde_json::to_string_pretty(&content).map_err(|error| fail(&error))?;
        write_whole(&folder.join(self.name), text.as_bytes())?;
        Ok(result)
    }

    fn failed(&self, folder: &Path, what: &str, error: &dyn Display) -> Problem {
        Problem::new(ProblemKind::Io, format!("{} {what}: {error}", self.what))
            .at(folder.join(self.name).display().to_string())
    }
}
