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
    let readme =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let commands = commands(&readme);
    assert!(
        commands.len() >= 5,
        "the README promises a command for each of five questions, there are {}",
        commands.len()
    );
    let folder = tempfile::tempdir().unwrap();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path =
        std::iter::once(binary.parent().unwrap().to_owned()).chain(std::env::split_paths(&others));
    let path = std::env::join_paths(path).unwrap();
    for command in commands {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", command])
            .current_dir(folder.path())
            .env("PATH", &path)
            .stdin(Stdio::null());
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

/// Of the README and every page: a link names a file that is there, and the index names every page.
#[test]
fn links_lead_somewhere_and_the_index_is_whole() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let docs = root.join("docs");
    let pages = std::fs::read_dir(&docs)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let pages: Vec<_> = pages
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    for path in pages
        .iter()
        .cloned()
        .chain([root.join("README.md"), root.join("CONTRIBUTING.md")])
    {
        let page = std::fs::read_to_string(&path).unwrap();
        // Code is no link.
        let page: String = page.split("```").step_by(2).collect();
        let page: String = page
            .lines()
            .filter(|line| !line.starts_with("    "))
            .flat_map(|line| [line, "\n"])
            .collect();
        for link in page
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
            .filter(|link| !link.contains("://"))
        {
            let file = link.split('#').next().unwrap_or(link);
            let there = path.parent().unwrap().join(file);
            assert!(
                file.is_empty() || there.exists(),
                "{} links to {link}, which is not there",
                path.display()
            );
        }
    }
    let index = std::fs::read_to_string(docs.join("README.md")).unwrap();
    for page in pages {
        let name = page.file_name().unwrap().to_string_lossy().into_owned();
        assert!(
            name == "README.md" || index.contains(&format!("({name})")),
            "docs/README.md lacks {name}"
        );
    }
}
