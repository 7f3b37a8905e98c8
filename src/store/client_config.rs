//! Editing a client's configuration file: what it was stays next to it, and no change of others is overwritten.

use std::fs;
use std::path::{Path, PathBuf};

use super::{MOST_OF_SETTINGS, Readers, StoreError, read_file, write_new_file, write_whole};
use loupe_core::problem::{Problem, ProblemKind};

/// What a backup is called: the file's name with this behind it, and a number where another one is there.
const BACKUP: &str = ".before-loupe";

/// A configuration file as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientConfig {
    /// The file itself where a link leads to it.
    path: PathBuf,
    text: String,
}

impl ClientConfig {
    /// # Errors
    /// The file cannot be read, or is not UTF-8.
    pub fn read(path: &Path) -> Result<Self, Problem> {
        let real = fs::canonicalize(path).map_err(StoreError::io("cannot read", path))?;
        let text = String::from_utf8(read_file(&real, MOST_OF_SETTINGS)?).map_err(|_| {
            Problem::new(
                ProblemKind::Io,
                "only UTF-8 is edited, and this file is not",
            )
            .at(path.display().to_string())
        })?;
        Ok(Self { path: real, text })
    }

    /// The file whose text was shown, to be written over that.
    ///
    /// # Errors
    /// The file is not there.
    pub fn with_text(path: &Path, text: &str) -> Result<Self, Problem> {
        let path = fs::canonicalize(path).map_err(StoreError::io("cannot read", path))?;
        let text = text.to_owned();
        Ok(Self { path, text })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where the file is kept as it was: no other file, or one with the same bytes.
    pub fn backup(&self) -> PathBuf {
        let backup = |number: usize| {
            let mut name = self.path.clone().into_os_string();
            name.push(BACKUP);
            if number > 1 {
                name.push(format!("-{number}"));
            }
            PathBuf::from(name)
        };
        let is_free = |path: &PathBuf| {
            let Ok(data) = fs::symlink_metadata(path) else {
                return true;
            };
            data.is_file()
                && read_file(path, MOST_OF_SETTINGS).is_ok_and(|old| old == self.text.as_bytes())
        };
        let mut number = 1;
        while !is_free(&backup(number)) {
            number += 1;
        }
        backup(number)
    }

    /// Whether a folder around the file is under version control.
    pub fn is_versioned(&self) -> bool {
        let is_root = |folder: &Path| {
            [".git", ".hg", ".jj", ".svn"]
                .iter()
                .any(|name| folder.join(name).exists())
        };
        self.path.ancestors().skip(1).any(is_root)
    }

    /// Writes the file anew with the permissions that it has; what it was is kept as [`Self::backup`], which this gives.
    ///
    /// # Errors
    /// The file changed since it was read, is read-only, or cannot be written.
    pub fn write(&self, text: &str) -> Result<PathBuf, Problem> {
        let place = self.path.display().to_string();
        if read_file(&self.path, MOST_OF_SETTINGS)? != self.text.as_bytes() {
            let what = "the file changed since it was shown; nothing was written";
            return Err(Problem::new(ProblemKind::Io, what)
                .at(place)
                .hint("look at the difference again"));
        }
        let data = fs::metadata(&self.path).map_err(StoreError::io("cannot read", &self.path))?;
        let permissions = data.permissions();
        if permissions.readonly() {
            return Err(Problem::new(
                ProblemKind::Io,
                "the file is read-only; nothing was written",
            )
            .at(place)
            .hint("change it where it comes from, or allow writing"));
        }
        let backup = self.backup();
        if fs::symlink_metadata(&backup).is_err() {
            write_new_file(&backup, self.text.as_bytes(), Readers::Owner)?;
            fs::set_permissions(&backup, permissions)
                .map_err(StoreError::io("cannot write", &backup))?;
        }
        write_whole(&self.path, text.as_bytes())?;
        Ok(backup)
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn what_was_there_is_kept_and_no_change_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let folder = fs::canonicalize(folder.path()).unwrap();
        let [file, link, first, second] = [
            "c.json",
            "link",
            "c.json.before-loupe",
            "c.json.before-loupe-2",
        ]
        .map(|name| folder.join(name));
        fs::write(&file, "one").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&file, &link).unwrap();

        let config = ClientConfig::read(&link).unwrap();
        assert!(!config.is_versioned());
        assert_eq!(
            (config.path(), config.write("two").unwrap()),
            (file.as_path(), first.clone())
        );
        assert!(link.is_symlink());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&file), mode(&first)), (0o640, 0o640));
        let text = |path: &Path| fs::read_to_string(path).unwrap();
        assert_eq!((text(&file), text(&first)), ("two".into(), "one".into()));

        // The one that read it before does not write over that.
        let problem = config.write("three").unwrap_err();
        assert!(problem.what.contains("changed since"), "{problem}");
        assert_eq!(text(&file), "two");
        // Another state is another backup; the same one is not kept twice.
        let changed = ClientConfig::read(&file).unwrap();
        assert_eq!(changed.write("one").unwrap(), second);
        assert_eq!(
            ClientConfig::read(&file).unwrap().write("two").unwrap(),
            first
        );
        assert_eq!((text(&first), text(&second)), ("one".into(), "two".into()));

        fs::set_permissions(&file, fs::Permissions::from_mode(0o440)).unwrap();
        let problem = ClientConfig::read(&file).unwrap().write("x").unwrap_err();
        assert!(problem.what.contains("read-only"), "{problem}");
        fs::create_dir(folder.join(".git")).unwrap();
        assert!(ClientConfig::read(&file).unwrap().is_versioned());
        fs::write(folder.join("latin"), b"\xff").unwrap();
        assert!(ClientConfig::read(&folder.join("latin")).is_err());
    }
}
