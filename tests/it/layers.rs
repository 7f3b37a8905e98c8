//! The layers of `docs/architecture.md`, held by reading the source: a module imports only what stands below it, the
//! pure ones touch nothing outside, and each big dependency lives where it belongs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Modules from the top down, as in `src/lib.rs`, with the modules that each uses beside those of [`GROUND`].
const LAYERS: &[(&str, &str)] = &[
    (
        "cli",
        "app shot state agent mcp serve store fixture contract verdict finding analysis diff host format capture reader source settings token server_request quote json parallel",
    ),
    ("app", "engine state host source settings"),
    (
        "shot",
        "ui engine state fixture finding analysis format capture source settings",
    ),
    (
        "ui",
        "state fixture contract history verdict finding analysis diff host format capture reader source settings token server_request quote json",
    ),
    (
        "engine",
        "state mcp store fixture contract analysis host capture source settings token server_request json",
    ),
    (
        "state",
        "fixture contract history verdict finding analysis host format capture source settings token server_request json",
    ),
    (
        "agent",
        "mcp serve store fixture contract verdict finding analysis diff host format capture source token json",
    ),
    (
        "mcp",
        "serve fixture capture source token server_request quote json",
    ),
    (
        "serve",
        "store analysis diff format capture source token json",
    ),
    (
        "store",
        "fixture contract history host capture source settings quote json",
    ),
    (
        "fixture",
        "contract verdict finding analysis diff host format capture reader source token quote json",
    ),
    (
        "contract",
        "verdict finding analysis diff host format capture token quote json",
    ),
    ("history", "capture"),
    ("verdict", "analysis diff host format capture token"),
    (
        "finding",
        "analysis diff host format capture token server_request json parallel",
    ),
    (
        "analysis",
        "diff host format capture reader token json parallel",
    ),
    ("diff", "json"),
    ("host", "format capture source json"),
    ("format", "capture reader token json parallel"),
    ("capture", "reader json parallel"),
    ("reader", "json"),
    ("source", "quote"),
    ("settings", "token"),
    ("token", "json"),
    ("server_request", "json"),
    ("quote", "json"),
    ("json", ""),
    ("parallel", ""),
];

/// Modules that use nothing, for all others.
const GROUND: &[&str] = &["suggest", "number", "digest", "problem", "cancel"];

/// Crates that only these modules may name.
const HOMES: &[(&str, &[&str])] = &[
    ("rmcp::", &["mcp"]),
    ("reqwest::", &["mcp"]),
    ("egui", &["ui", "app", "shot"]),
    ("eframe::", &["ui", "app", "shot"]),
    ("tokio::", &["agent", "mcp", "serve", "engine", "cli"]),
    ("clap::", &["cli"]),
    ("hyper::", &["serve", "mcp"]),
];

/// What pure code never does.
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
const TOUCH_THE_WORLD: &[&str] = &[
    "cli", "app", "agent", "mcp", "serve", "store", "engine", "parallel",
];

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

/// Module name, path, and numbered lines of code (tests and comments left out) of a source file.
type Source = (String, PathBuf, Vec<(usize, String)>);

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&root, &mut files);
    let mut sources = Vec::new();
    for path in files {
        let relative = path.strip_prefix(&root).unwrap();
        let module = relative
            .iter()
            .next()
            .unwrap()
            .to_string_lossy()
            .trim_end_matches(".rs")
            .to_owned();
        if matches!(module.as_str(), "lib" | "main")
            || path.file_stem().is_some_and(|stem| stem == "tests")
        {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
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
        sources.push((module, relative.to_owned(), lines));
    }
    sources
}

#[test]
fn modules_use_only_what_stands_below_them() {
    let mut offences = Vec::new();
    for (module, path, lines) in sources() {
        let allowed = match LAYERS.iter().find(|(name, _)| *name == module) {
            Some((_, allowed)) => allowed.split_whitespace().collect(),
            None if GROUND.contains(&module.as_str()) => Vec::new(),
            None => panic!("`{module}` is in no layer"),
        };
        for (number, line) in lines {
            for part in line.split("crate::").skip(1) {
                let used: String = part
                    .chars()
                    .take_while(|char| char.is_alphanumeric() || *char == '_')
                    .collect();
                let is_module = LAYERS.iter().any(|(name, _)| *name == used);
                if used != module && is_module && !allowed.contains(&used.as_str()) {
                    offences.push(format!(
                        "src/{}:{number}: {module} uses {used}",
                        path.display()
                    ));
                }
            }
        }
    }
    assert!(offences.is_empty(), "{}", offences.join("\n"));
}

#[test]
fn big_dependencies_live_where_they_belong() {
    let mut offences = Vec::new();
    for (module, path, lines) in sources() {
        for (number, line) in lines {
            for (name, homes) in HOMES {
                let names_it = line.match_indices(name).any(|(at, _)| {
                    !line[..at].ends_with(|char: char| {
                        char.is_alphanumeric() || char == '_' || char == '`'
                    })
                });
                if names_it && !homes.contains(&module.as_str()) && !line.contains('"') {
                    offences.push(format!(
                        "src/{}:{number}: {name} in {module}",
                        path.display()
                    ));
                }
            }
        }
    }
    assert!(offences.is_empty(), "{}", offences.join("\n"));
}

#[test]
fn pure_modules_touch_nothing_outside() {
    let mut offences = Vec::new();
    for (module, path, lines) in sources() {
        if TOUCH_THE_WORLD.contains(&module.as_str()) {
            continue;
        }
        for (number, line) in lines {
            if let Some(word) = WORLD.iter().find(|word| line.contains(**word)) {
                offences.push(format!(
                    "src/{}:{number}: {word} in {module}",
                    path.display()
                ));
            }
        }
    }
    assert!(offences.is_empty(), "{}", offences.join("\n"));
}

#[test]
fn the_layers_are_those_of_lib_rs() {
    let lib = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    let listed: Vec<_> = lib
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'))
        .collect();
    let layers: Vec<_> = LAYERS
        .iter()
        .map(|(name, _)| *name)
        .chain(GROUND.iter().copied())
        .collect();
    let mut sorted = layers.clone();
    sorted.sort_unstable();
    assert_eq!(
        listed, sorted,
        "src/lib.rs and tests/it/layers.rs list the same modules"
    );
    for (position, (name, uses)) in LAYERS.iter().enumerate() {
        for used in uses.split_whitespace() {
            let below = layers.iter().position(|layer| *layer == used).unwrap();
            // `cli` and `engine` look at both columns; nothing else imports upward.
            assert!(
                below > position,
                "{name} may use {used}, which stands above it"
            );
        }
    }
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
fn no_two_modules_of_a_folder_use_each_other() {
    let module = |path: &Path| {
        let mut names: Vec<String> = path
            .with_extension("")
            .iter()
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        names.pop_if(|name| name == "mod");
        names
    };
    let sources = sources();
    let modules: BTreeSet<_> = sources.iter().map(|(_, path, _)| module(path)).collect();
    let inline = regex::Regex::new(r"\b(?:crate|super)(?:::\w+)+").unwrap();
    let statement = regex::Regex::new(r"\buse\s+([^;]+);").unwrap();
    // By folder and module: the modules beside it that it uses.
    let mut beside: BTreeMap<(Vec<String>, String), BTreeSet<String>> = BTreeMap::new();
    for (_, path, lines) in &sources {
        let own = module(path);
        let code = lines
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
                Vec::new()
            } else {
                own[..own.len() - up.min(own.len())].to_vec()
            };
            at.extend(
                path.split("::")
                    .filter(|part| !matches!(*part, "crate" | "super" | "self"))
                    .map(str::to_owned),
            );
            while !at.is_empty() && !modules.contains(&at) {
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
