//! What a reader relies on: every file says what it is for, no colour outside the theme, no leftovers.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn files(dir: &str, extension: &str) -> Vec<PathBuf> {
    fn walk(dir: &Path, extension: &str, found: &mut Vec<PathBuf>) {
        for path in fs::read_dir(dir)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
        {
            if path.is_dir() {
                walk(&path, extension, found);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join(dir),
        extension,
        &mut found,
    );
    found.sort();
    found
}

/// The sources of every crate.
fn sources() -> Vec<PathBuf> {
    [files("src", "rs"), files("crates", "rs")].concat()
}

#[test]
fn every_file_says_what_it_is_for() {
    for dir in ["src", "crates", "tests", "benches"] {
        for path in files(dir, "rs") {
            if path.ends_with("src/main.rs") {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            assert!(
                text.starts_with("//!"),
                "{} begins without `//!`",
                path.display()
            );
        }
    }
}

#[test]
fn colours_come_from_the_theme() {
    for path in files("src/ui", "rs") {
        if path.ends_with("theme.rs")
            || path
                .parent()
                .is_some_and(|folder| folder.ends_with("theme"))
        {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate() {
            let named = [
                "from_rgb(",
                "from_rgba",
                "Color32::from_gray",
                "Color32::WHITE",
                "Color32::BLACK",
                "hex_color!",
            ];
            // The pixels of a picture that a server sent are no colours of ours.
            let is_picture = line.contains("ColorImage::from_rgba");
            if let Some(word) = named
                .iter()
                .find(|word| line.contains(**word))
                .filter(|_| !is_picture)
            {
                panic!(
                    "{}:{}: {word} outside the theme",
                    path.display(),
                    number + 1
                );
            }
        }
    }
}

#[test]
fn no_leftovers() {
    for path in sources() {
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate() {
            let marks = ["todo!", "unimplemented!", "dbg!", "FIXME", "XXX"];
            let found = marks.iter().find(|mark| line.contains(**mark));
            assert!(
                found.is_none(),
                "{}:{}: {}",
                path.display(),
                number + 1,
                found.unwrap_or(&"")
            );
        }
    }
}

#[test]
fn one_copy_of_egui() {
    let lock =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock")).unwrap();
    assert_eq!(lock.matches("name = \"egui\"\n").count(), 1);
}

/// A name that means two things costs every reader a look: few may stand twice, and here is which.
#[test]
fn public_types_have_names_of_their_own() {
    let mut declared: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for path in sources() {
        for line in fs::read_to_string(&path).unwrap().lines() {
            let words: Vec<&str> = line
                .trim_start()
                .split(|char: char| !char.is_alphanumeric() && char != '_')
                .collect();
            if let ["pub", "struct" | "enum" | "trait" | "type", name, ..] = words[..] {
                declared
                    .entry(name.to_owned())
                    .or_default()
                    .push(path.clone());
            }
        }
    }
    declared.retain(|_, paths| paths.len() > 1);
    assert!(declared.len() <= 5, "{declared:#?}");
}
