//! A user's own hosts file, read beside those that come with Loupe.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{MOST_OF_SETTINGS, file_bytes};
use crate::host::Hosts;
use crate::problem::{Problem, ProblemKind};

/// The name of the file, in the folder of `--data-dir` or the one for settings.
const FILE: &str = "hosts.toml";

/// The hosts that come with Loupe and those of the user's own file, in `data_dir` or the folder for settings. What is
/// wrong with that is among the problems and breaks nothing.
pub fn load_hosts(data_dir: Option<&Path>) -> Arc<Hosts> {
    let built_in = Hosts::built_in();
    let folder = data_dir.map(Path::to_owned).or_else(settings_folder);
    let Some(path) = folder.map(|folder| folder.join(FILE)) else { return built_in };
    let place = path.display().to_string();
    Arc::new(match file_bytes(&path, MOST_OF_SETTINGS) {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => built_in.with_file(&text, &place),
            Err(_) => built_in.with_problem(Problem::new(ProblemKind::Usage, "the hosts file is not used: not UTF-8").at(place)),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return built_in,
        // A folder that was not named may be anything.
        Err(_) if data_dir.is_none() => return built_in,
        Err(error) => {
            built_in.with_problem(Problem::new(ProblemKind::Io, format!("the hosts file cannot be read: {error}")).at(place))
        }
    })
}

/// Adds an entry, which is a whole hosts file, to the person's own in this folder, which is made where it is not there.
/// Nothing that stands in the file is changed. Returns the file's path.
///
/// # Errors
/// The entry or the file is no hosts file, the file has a host of that id already, or it cannot be read or written.
pub fn add_host(folder: &Path, entry: &str) -> Result<PathBuf, Problem> {
    let path = folder.join(FILE);
    let place = path.display().to_string();
    let fail = |what: &str, error: std::io::Error| Problem::new(ProblemKind::Io, format!("{what}: {error}")).at(place.clone());
    let none = Hosts::default();
    let new = none.with_file(entry, "the entry");
    if let Some(problem) = new.problems.first().cloned() {
        return Err(problem);
    }
    let before = match file_bytes(&path, MOST_OF_SETTINGS) {
        Ok(bytes) => String::from_utf8(bytes).map_err(|_| {
            Problem::new(ProblemKind::Usage, "the hosts file is not UTF-8, so nothing was added").at(place.clone())
        })?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(fail("the hosts file cannot be read", error)),
    };
    let mut whole = before.clone();
    if before.trim().is_empty() {
        whole.push_str(entry);
    } else {
        let known = none.with_file(&before, &place);
        if let Some(problem) = known.problems.first().cloned() {
            return Err(problem);
        }
        if let Some(host) = new.iter().find(|host| known.iter().any(|known| known.id == host.id)) {
            return Err(Problem::new(ProblemKind::Usage, format!("the host `{}` already exists, so nothing was added", host.id))
                .at(place)
                .hint("choose another id, or change that entry by hand"));
        }
        if !whole.ends_with('\n') {
            whole.push('\n');
        }
        whole.push('\n');
        whole.extend(entry.split_inclusive('\n').filter(|line| !line.starts_with("schema =")));
        if let Some(problem) = none.with_file(&whole, &place).problems.into_iter().next() {
            return Err(problem);
        }
    }
    std::fs::create_dir_all(folder).map_err(|error| fail("the folder cannot be made", error))?;
    super::write::write_settings(&path, whole.as_bytes())?;
    Ok(path)
}

/// Where a person's settings are kept on this system.
pub fn settings_folder() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = if cfg!(windows) {
        variable("APPDATA")
    } else if cfg!(target_os = "macos") {
        variable("HOME").map(|home| home.join("Library/Application Support"))
    } else {
        variable("XDG_CONFIG_HOME").or_else(|| variable("HOME").map(|home| home.join(".config")))
    };
    base.map(|base| base.join("mcp-loupe"))
}

/// Where Loupe keeps what it stores for a person on this system, such as the history.
pub fn data_folder() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = if cfg!(windows) {
        variable("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        variable("HOME").map(|home| home.join("Library/Application Support"))
    } else {
        variable("XDG_DATA_HOME").or_else(|| variable("HOME").map(|home| home.join(".local/share")))
    };
    base.map(|base| base.join("mcp-loupe"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: &str) -> String {
        format!(
            "# Found.\nschema = \"loupe.hosts/1\"\n\n[[host]]\nid = \"{id}\"\nname = \"Mine\"\nkind = \"cli\"\nversion = \"1\"\n\
             checked = \"2026-01-31\"\nevidence = \"observed\"\nselect = \"content\"\njson = \"js-compact\"\ndelivery = \"string\"\n"
        )
    }

    #[test]
    fn an_entry_is_added_and_nothing_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("new");
        let path = add_host(&folder, &entry("mine")).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), entry("mine"));
        add_host(&folder, &entry("other")).unwrap();
        let before = std::fs::read_to_string(&path).unwrap();
        assert!(before.starts_with(&entry("mine")) && before.matches("schema =").count() == 1);
        let hosts = load_hosts(Some(&folder));
        assert_eq!(hosts.problems, []);
        assert!(hosts.get("mine").is_some_and(|host| host.is_own) && hosts.get("other").is_some());
        for (entry, what) in [(entry("mine"), "already"), (entry("No id"), "not an id"), ("x".into(), "not used")] {
            let problem = add_host(&folder, &entry).unwrap_err();
            assert!(problem.to_string().contains(what), "{problem}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), before);
        }
        std::fs::write(&path, "my notes").unwrap();
        assert!(add_host(&folder, &entry("third")).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "my notes");
    }
}
