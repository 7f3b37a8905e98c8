//! Where clients keep their configuration, as data: for a chooser that looks whether a file is there.

use std::path::{Path, PathBuf};

/// Folders in which clients keep a project's file: the project is the folder around them.
const INSIDE_PROJECTS: &[&str] = &[".vscode", ".cursor", ".zed", ".codex", ".gemini"];

/// The folder of the project that a configuration file belongs to.
pub fn project(file: &Path) -> PathBuf {
    let folder = file.parent().unwrap_or(file);
    let is_inside = folder
        .file_name()
        .is_some_and(|name| INSIDE_PROJECTS.iter().any(|inside| name == *inside));
    match folder.parent() {
        Some(project) if is_inside => project.to_owned(),
        _ => folder.to_owned(),
    }
}

/// One client's file.
#[derive(Clone, Copy, Debug)]
pub struct ConfigPlace {
    pub client: &'static str,
    /// Paths for the user's own file; `~` is the home folder, `%APPDATA%` Windows' variable. Empty where there is none.
    pub linux: &'static str,
    pub macos: &'static str,
    pub windows: &'static str,
    /// The same client's file in a project, from the project's folder; empty where there is none.
    pub project: &'static str,
}

/// The known places, the most used first.
pub const PLACES: &[ConfigPlace] = &[
    ConfigPlace {
        client: "Claude Desktop",
        linux: "~/.config/Claude/claude_desktop_config.json",
        macos: "~/Library/Application Support/Claude/claude_desktop_config.json",
        windows: "%APPDATA%\\Claude\\claude_desktop_config.json",
        project: "",
    },
    same("Claude Code", "~/.claude.json", ".mcp.json"),
    ConfigPlace {
        client: "VS Code",
        linux: "~/.config/Code/User/mcp.json",
        macos: "~/Library/Application Support/Code/User/mcp.json",
        windows: "%APPDATA%\\Code\\User\\mcp.json",
        project: ".vscode/mcp.json",
    },
    same("Copilot CLI", "~/.copilot/mcp-config.json", ".mcp.json"),
    same("Cursor", "~/.cursor/mcp.json", ".cursor/mcp.json"),
    same("Windsurf", "~/.codeium/windsurf/mcp_config.json", ""),
    ConfigPlace {
        client: "Zed",
        linux: "~/.config/zed/settings.json",
        macos: "~/.config/zed/settings.json",
        windows: "%APPDATA%\\Zed\\settings.json",
        project: ".zed/settings.json",
    },
    same("Codex", "~/.codex/config.toml", ".codex/config.toml"),
    same(
        "Gemini CLI",
        "~/.gemini/settings.json",
        ".gemini/settings.json",
    ),
    same("LM Studio", "~/.lmstudio/mcp.json", ""),
    ConfigPlace {
        client: "Cline",
        linux: "~/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        macos: "~/Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        windows: "%APPDATA%\\Code\\User\\globalStorage\\saoudrizwan.claude-dev\\settings\\cline_mcp_settings.json",
        project: "",
    },
    ConfigPlace {
        client: "Registry",
        linux: "",
        macos: "",
        windows: "",
        project: "server.json",
    },
];

const fn same(client: &'static str, path: &'static str, project: &'static str) -> ConfigPlace {
    ConfigPlace {
        client,
        linux: path,
        macos: path,
        windows: path,
        project,
    }
}
