//! The README's console blocks run as written, with the binary under test in place of `mcp-loupe`.

use std::path::Path;
use std::process::{Command, Stdio};

/// The lines after `$ ` of every `console` block.
fn commands(readme: &str) -> Vec<&str> {
    let mut inside = false;
    let mut found = Vec::new();
    for line in readme.lines() {
        match line.trim() {
            "```console" => inside = true,
            "```" => inside = false,
            line if inside => found.extend(line.strip_prefix("$ ")),
            _ => {}
        }
    }
    found
}

#[test]
fn the_commands_of_the_readme_run() {
    let binary = Path::new(env!("CARGO_BIN_EXE_mcp-loupe"));
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let commands = commands(&readme);
    assert!(commands.len() >= 5, "the README promises five commands, there are {}", commands.len());
    let folder = tempfile::tempdir().unwrap();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path = std::iter::once(binary.parent().unwrap().to_owned()).chain(std::env::split_paths(&others));
    let path = std::env::join_paths(path).unwrap();
    for command in commands {
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).current_dir(folder.path()).env("PATH", &path).stdin(Stdio::null());
        let output = shell.output().unwrap();
        assert!(
            output.status.success() && !output.stdout.is_empty(),
            "`{command}` ended with {}\nstdout: {}\nstderr: {}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
fn the_files_that_the_readme_names_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    for link in readme.split("](").skip(1).filter_map(|rest| rest.split(')').next()).filter(|link| !link.contains("://")) {
        let file = link.split('#').next().unwrap_or(link);
        assert!(root.join(file).exists(), "README.md links to {link}, which is not there");
    }
}
