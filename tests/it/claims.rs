//! The tables of claims in `docs/claims.md` and the README are what `mcp-loupe claims` measures, and nothing in them
//! contradicts its own numbers.
//! `UPDATE_EXPECT=1 cargo test --test it claims` writes the table anew; read the difference before it is kept.

use std::path::Path;
use std::process::Command;

const FROM: &str = "<!-- claims: written by `UPDATE_EXPECT=1 cargo test --test it claims` -->\n";
const TO: &str = "<!-- end of claims -->";

#[test]
fn the_pages_say_what_is_measured() {
    let output = Command::new(env!("CARGO_BIN_EXE_mcp-loupe")).arg("claims").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let table = String::from_utf8(output.stdout).unwrap();
    let ids: Vec<_> = table.lines().skip(2).map(|line| line.split('|').nth(1).unwrap().trim().to_owned()).collect();
    assert_eq!(ids, (1..=19).map(|n| format!("C{n}")).collect::<Vec<_>>());
    assert!(table.lines().all(|line| line.replace("\\|", "").matches('|').count() == 5), "a row of another width:\n{table}");
    assert!(!table.contains("the measurement says otherwise"), "a verdict no longer holds:\n{table}");

    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("docs/claims.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let from = page.find(FROM).unwrap() + FROM.len();
    let to = from + page[from..].find(TO).unwrap();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, format!("{}\n{table}\n{}", &page[..from], &page[to..])).unwrap();
        return;
    }
    assert_eq!(
        page[from..to].trim(),
        table.trim(),
        "run `UPDATE_EXPECT=1 cargo test --test it claims`, then read the difference"
    );
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let rows: Vec<_> = readme.lines().filter(|line| line.starts_with("| C")).collect();
    assert_eq!(rows.len(), 3);
    for row in rows {
        assert!(table.contains(row), "the README has a row that was not measured:\n{row}");
    }
}
