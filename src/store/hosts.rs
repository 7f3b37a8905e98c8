//! A user's own hosts file, read next to those that come with Loupe.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{MOST_OF_SETTINGS, file_bytes};
use loupe_core::host::Hosts;
use loupe_core::problem::{Problem, ProblemKind};

/// The name of the file, in the folder of `--data-dir` or the one for settings.
const FILE: &str = "hosts.toml";

/// The hosts that come with Loupe and those of the user's own file, in `data_dir` or the folder for settings. What is
/// wrong with that is among the problems and breaks nothing.
pub fn load_hosts(data_dir: Option<&Path>) -> Arc<Hosts> {
    let built_in = Hosts::built_in();
    let folder = data_dir.map(Path::to_owned).or_else(settings_folder);
    let Some(path) = folder.map(|folder| folder.join(FILE)) else {
        return built_in;
    };
    let place = path.display().to_string();
    Arc::new(match file_bytes(&path, MOST_OF_SETTINGS) {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => built_in.with_file(&text, &place),
            Err(_) => built_in.with_problem(
                Problem::new(ProblemKind::Usage, "the hosts file is not used: not UTF-8").at(place),
            ),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return built_in,
        // A folder that was not named may be anything.
        Err(_) if data_dir.is_none() => return built_in,
        Err(error) => built_in.with_problem(
            Problem::new(
                ProblemKind::Io,
                format!("the hosts file cannot be read: {error}"),
            )
            .at(place),
        ),
    })
}

/// Where the user's settings are kept on this system.
pub fn settings_folder() -> Option<PathBuf> {
    let variable = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let base = if cfg!(windows) {
        variable("APPDATA")
    } else if cfg!(target_os = "macos") {
        variable("HOME").map(|home| home.join("Library/Application Support"))
    } else {
        variable("XDG_CONFIG_HOME").or_else(|| variable("HOME").map(|home| home.join(".config")))
    };
    base.map(|base| base.join("mcp-loupe"))
}

/// Where recorded sessions are: below the folder of `--data-dir`, else below the user's own.
pub fn sessions_folder(data_dir: Option<&Path>) -> Option<PathBuf> {
    let folder = data_dir.map(Path::to_owned).or_else(data_folder)?;
    Some(folder.join("sessions"))
}

/// Where Loupe keeps what it stores for the user on this system, such as the history.
pub fn data_folder() -> Option<PathBuf> {
    let variable = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let base = if cfg!(windows) {
        variable("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        variable("HOME").map(|home| home.join("Library/Application Support"))
    } else {
        variable("XDG_DATA_HOME").or_else(|| variable("HOME").map(|home| home.join(".local/share")))
    };
    base.map(|base| base.join("mcp-loupe"))
}
