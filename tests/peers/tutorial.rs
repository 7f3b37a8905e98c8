//! `docs/tutorial.md` to its end, as a new user walks it: every command in turn, and all that the page shows of its output.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[test]
fn the_tutorial_comes_to_its_end() {
    let page =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/tutorial.md"))
            .unwrap();
    let peers = PathBuf::from(
        std::env::var_os("LOUPE_PEERS")
            .expect("LOUPE_PEERS names the folder of the installed servers"),
    );
    let server = peers
        .join("node_modules/.bin/mcp-server-everything")
        .display()
        .to_string();
    let folder = tempfile::tempdir().unwrap();
    let binary = Path::new(env!("CARGO_BIN_EXE_mcp-loupe"))
        .parent()
        .unwrap()
        .to_owned();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(binary).chain(std::env::split_paths(&others)))
        .unwrap();

    let mut commands = 0;
    for block in page.split("```console\n").skip(1) {
        let block = block.split("\n```").next().unwrap();
        for part in block.split("$ ").skip(1) {
            let (line, shown) = part.split_once('\n').unwrap_or((part, ""));
            let line = line.replace("npx -y @modelcontextprotocol/server-everything", &server);
            let mut shell = Command::new("sh");
            shell
                .args(["-c", &line])
                .current_dir(folder.path())
                .env("PATH", &path)
                .stdin(Stdio::null());
            let output = shell.output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout);
            let beside = String::from_utf8_lossy(&output.stderr);
            assert!(
                output.status.success(),
                "`{line}` ended with {}\n{said}\n{beside}",
                output.status
            );
            let mut rest = said.lines();
            for expected in shown
                .lines()
                .filter(|line| !line.is_empty() && *line != "…")
            {
                assert!(
                    rest.any(|line| line == expected),
                    "`{line}` does not say, or not in this order:\n{expected}\nbut\n{said}"
                );
            }
            commands += 1;
        }
    }
    assert!(
        commands >= 8,
        "{commands} commands were found in the tutorial"
    );
}
