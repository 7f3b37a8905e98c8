//! What the compiler does not prove of `docs/architecture.md`: pure code touches nothing outside, the big dependencies of
//! the program have their modules, and modules next to each other do not use each other in a circle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Crates that only these modules of the program may name.
const HOMES: &[(&str, &[&str])] = &[
    ("egui", &["ui", "app", "shot"]),
    ("eframe::", &["ui", "app", "shot"]),
    ("clap::", &["cli"]),
    (
        "loupe_client::",
        &["cli", "agent", "engine", "replay", "in_process"],
    ),
    ("loupe_sample::", &["cli", "agent", "replay", "in_process"]),
    ("crate::store", &["cli", "agent", "engine", "app", "replay"]),
    ("crate::engine", &["cli", "app", "shot"]),
];

/// What pure code never does: files, network, environment, clock, threads.
const WORLD: &[&str] = &[
    "std::fs",
    "std::net",
    "std::env",
    "std::process",
    "std::thread",
    "SystemTime::now",
    "Instant::now",
    "now_utc",
];
/// Crates and modules that are pure, and the module of them that starts threads and joins them.
const PURE: &[&str] = &[
    "loupe-core",
    "loupe-analysis",
    "state",
    "ui",
    "shot",
    "history",
];
const THREADS: &str = "parallel";

/// One source file.
struct Source {
    /// `mcp-loupe`, `loupe-core`, …
    package: String,
    /// Its place in the package's `src`, without `.rs` and `mod`.
    module: Vec<String>,
    path: PathBuf,
    /// Numbered lines of code, without tests and comments.
    lines: Vec<(usize, String)>,
}

impl Source {
    fn top(&self) -> &str {
        self.module.first().map_or("lib", String::as_str)
    }

    fn is_pure(&self) -> bool {
        let name = if self.package == "mcp-loupe" {
            self.top()
        } else {
            &self.package
        };
        PURE.contains(&name) && self.top() != THREADS
    }
}

fn rust_files(dir: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut packages = vec![("mcp-loupe".to_owned(), root.join("src"))];
    for entry in fs::read_dir(root.join("crates")).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        packages.push((name, entry.path().join("src")));
    }
    let mut sources = Vec::new();
    for (package, folder) in packages {
        let mut files = Vec::new();
        rust_files(&folder, &mut files);
        for path in files {
            if path.file_stem().is_some_and(|stem| stem == "tests") {
                continue;
            }
            let mut module: Vec<String> = path
                .strip_prefix(&folder)
                .unwrap()
                .with_extension("")
                .iter()
                .map(|name| name.to_string_lossy().into_owned())
                .collect();
            module.pop_if(|name| matches!(name.as_str(), "mod" | "lib" | "main"));
            let lines = code(&fs::read_to_string(&path).unwrap());
            sources.push(Source {
                package: package.clone(),
                module,
                path,
                lines,
            });
        }
    }
    assert!(sources.len() > 400, "{} files", sources.len());
    sources
}

fn code(text: &str) -> Vec<(usize, String)> {
    let mut lines = Vec::new();
    // An item of tests ends with a brace or a semicolon where a line begins.
    let mut is_test = false;
    for (number, line) in text.lines().enumerate() {
        if line.starts_with("#[cfg(test)]") || line.starts_with("#[cfg(all(test") {
            is_test = true;
        } else if is_test {
            is_test = !(line == "}" || (line.ends_with(';') && !line.starts_with(' ')));
        } else if !line.trim_start().starts_with("//") {
            lines.push((number + 1, line.to_owned()));
        }
    }
    lines
}

#[test]
fn big_dependencies_have_their_modules() {
    let mut offences = Vec::new();
    for source in sources() {
        if source.package != "mcp-loupe" || source.module.is_empty() {
            continue;
        }
        for (number, line) in &source.lines {
            for (name, homes) in HOMES {
                let is_named = line.match_indices(name).any(|(at, _)| {
                    !line[..at].ends_with(|char: char| {
                        char.is_alphanumeric() || char == '_' || char == '`'
                    })
                });
                let own = name.strip_prefix("crate::") == Some(source.top());
                if is_named && !own && !homes.contains(&source.top()) && !line.contains('"') {
                    offences.push(format!("{}:{number}: {name}", source.path.display()));
                }
            }
        }
    }
    assert!(offences.is_empty(), "{}", offences.join("\n"));
}

#[test]
fn pure_code_touches_nothing_outside() {
    let mut offences = Vec::new();
    for source in sources().iter().filter(|source| source.is_pure()) {
        for (number, line) in &source.lines {
            if let Some(word) = WORLD.iter().find(|word| line.contains(**word)) {
                offences.push(format!("{}:{number}: {word}", source.path.display()));
            }
        }
    }
    assert!(offences.is_empty(), "{}", offences.join("\n"));
}

/// What a `use` names: `a::b` and `a::c::d` of `a::{b, c::d}`.
fn used(tree: &str) -> Vec<String> {
    let Some((head, rest)) = tree.split_once('{') else {
        return vec![tree.trim().to_owned()];
    };
    let mut depth = 0;
    let parts = rest
        .rsplit_once('}')
        .map_or(rest, |(inner, _)| inner)
        .split(|char| {
            depth += i32::from(char == '{') - i32::from(char == '}');
            char == ',' && depth == 0
        });
    parts
        .flat_map(used)
        .filter(|part| !part.is_empty())
        .map(|part| format!("{}{part}", head.trim()))
        .collect()
}

#[test]
fn modules_of_a_folder_are_in_no_circle() {
    let sources = sources();
    let full = |source: &Source| {
        let mut path = vec![source.package.clone()];
        path.extend(source.module.iter().cloned());
        path
    };
    let modules: BTreeSet<_> = sources.iter().map(full).collect();
    let inline = regex::Regex::new(r"\b(?:crate|super)(?:::\w+)+").unwrap();
    let statement = regex::Regex::new(r"\buse\s+([^;]+);").unwrap();
    // By folder and module: the modules beside it that it uses.
    let mut beside: BTreeMap<(Vec<String>, String), BTreeSet<String>> = BTreeMap::new();
    for source in &sources {
        let own = full(source);
        let code = source
            .lines
            .iter()
            .map(|(_, line)| line.as_str())
            .collect::<Vec<_>>()
            .join("\n");
        let named = statement
            .captures_iter(&code)
            .flat_map(|found| used(&found[1]));
        for path in named.chain(
            inline
                .find_iter(&code)
                .map(|found| found.as_str().to_owned()),
        ) {
            let up = path.split("::").take_while(|part| *part == "super").count();
            let mut at = if path.starts_with("crate::") {
                vec![source.package.clone()]
            } else {
                own[..own.len() - up.min(own.len() - 1)].to_vec()
            };
            at.extend(
                path.split("::")
                    .filter(|part| !matches!(*part, "crate" | "super" | "self"))
                    .map(str::to_owned),
            );
            while at.len() > 1 && !modules.contains(&at) {
                at.pop();
            }
            let common = own.iter().zip(&at).take_while(|(a, b)| a == b).count();
            // A module and its parts are one.
            if common > 0 && common < own.len() && common < at.len() {
                beside
                    .entry((own[..common].to_vec(), own[common].clone()))
                    .or_default()
                    .insert(at[common].clone());
            }
        }
    }
    let mut circles = Vec::new();
    for (folder, from) in beside.keys() {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(at) = next.pop() {
            for to in beside
                .get(&(folder.clone(), at.clone()))
                .into_iter()
                .flatten()
            {
                if to == from {
                    circles.push(format!(
                        "{}: {from} uses {at} in a circle",
                        folder.join("::")
                    ));
                } else if seen.insert(to) {
                    next.push(to);
                }
            }
        }
    }
    assert!(circles.is_empty(), "{}", circles.join("\n"));
}
