//! Files that a program, a disk or somebody else has damaged: every loader takes them or refuses them, with no panic, within
//! time and memory.
//!
//! A fifth of a second each by default; `LOUPE_FUZZ` says how many seconds. The seed is fixed, so that a failure comes again.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use loupe_core::source::import;
use loupe_core::token::TokenizerFile;
use mcp_loupe::store::{self, History};

/// A generator of numbers, the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// No input is longer.
const LONGEST: usize = 64 << 10;
/// No input takes longer, on the slowest machine and in a debug build.
const MOST_TIME: Duration = Duration::from_secs(10);
/// What all inputs together add to the memory at most, in KiB.
const MOST_MEMORY: u64 = 512 << 10;

const PIECES: &[&[u8]] = &[
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b"\\",
    b",",
    b":",
    b"=",
    b"\n",
    b"\r\n",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\\ud800",
    b"null",
    b"true",
    b"-1",
    b"1e999",
    b"18446744073709551616",
    b"0.1",
    b"[[x]]",
    b"'''",
    b"\"\"\"",
    b"../../x",
    b"${A}",
    b"\xe2\x80\xae",
    b"",
];

fn mutated(random: &mut Random, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = random.pick(seeds).clone();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len() + 1);
        let end = at + random.below((bytes.len() - at).min(200) + 1);
        match random.below(7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 => drop(bytes.drain(at..end)),
            2 => drop(bytes.splice(at..at, random.pick(PIECES).to_vec())),
            3 => drop(bytes.splice(at..end, random.pick(PIECES).to_vec())),
            4 => {
                let other = random.pick(seeds).clone();
                let from = random.below(other.len() + 1);
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
            5 => {
                let piece = random.pick(PIECES).repeat(1 << random.below(14));
                bytes.splice(at..at, piece);
            }
            _ => {
                let again = bytes[at..end].repeat(random.below(20));
                bytes.splice(at..at, again);
            }
        }
        bytes.truncate(LONGEST);
    }
    bytes
}

/// The memory that the process has taken, in KiB; nothing where the system does not say.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or_default()
}

/// Gives the loader damaged inputs until the time is over.
fn fuzz(name: &str, seeds: &[Vec<u8>], load: impl Fn(&[u8])) {
    let time = std::env::var("LOUPE_FUZZ")
        .ok()
        .and_then(|seconds| seconds.parse().ok())
        .unwrap_or(0.2);
    let until = Instant::now() + Duration::from_secs_f64(time);
    let current = Arc::new(Mutex::new((Instant::now(), Vec::new())));
    let is_over = Arc::new(AtomicBool::new(false));
    // One that hangs is told by this, since nothing else could.
    let watch = std::thread::spawn({
        let (name, current, is_over) =
            (name.to_owned(), Arc::clone(&current), Arc::clone(&is_over));
        move || {
            while !is_over.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(50));
                let (since, input) = &*current.lock().unwrap();
                if since.elapsed() > MOST_TIME {
                    eprintln!(
                        "{name} takes more than {MOST_TIME:?} for b\"{}\"",
                        input.escape_ascii()
                    );
                    std::process::exit(101);
                }
            }
        }
    });
    let (mut random, before, mut inputs) = (Random(0x5eed_10ad), memory(), 0_u64);
    while inputs < 20 || Instant::now() < until {
        let input = mutated(&mut random, seeds);
        *current.lock().unwrap() = (Instant::now(), input.clone());
        let done = catch_unwind(AssertUnwindSafe(|| load(&input)));
        assert!(
            done.is_ok(),
            "{name} panics at input {inputs}: b\"{}\"",
            input.escape_ascii()
        );
        inputs += 1;
    }
    is_over.store(true, Ordering::SeqCst);
    watch.join().unwrap();
    let taken = memory().saturating_sub(before);
    assert!(
        taken < MOST_MEMORY,
        "{name} has taken {taken} KiB for {inputs} inputs"
    );
    eprintln!("{name}: {inputs} inputs in {time} s, {taken} KiB");
}

fn data(folder: &str) -> Vec<Vec<u8>> {
    fn walk(path: &Path, found: &mut Vec<PathBuf>) {
        for path in fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().path())
        {
            if path.is_dir() {
                walk(&path, found)
            } else {
                found.push(path)
            }
        }
    }
    let mut files = Vec::new();
    walk(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join(folder),
        &mut files,
    );
    files.sort();
    let is_seed = |path: &&PathBuf| !path.ends_with("expected.txt");
    files
        .iter()
        .filter(is_seed)
        .map(|path| fs::read(path).unwrap())
        .filter(|bytes| bytes.len() < LONGEST)
        .collect()
}

#[test]
fn settings() {
    let folder = tempfile::tempdir().unwrap();
    let seeds = [
        "theme = \"dark\"\nscale = 1.5\n[needed.a]\nt = [\"/x\"]\n[servers.x]\nk = { a = 1 }\n",
        "tokenizer = \"o200k_base\"\nmore_contrast = true\n",
    ];
    fuzz(
        "settings",
        &seeds.map(|seed| seed.as_bytes().to_vec()),
        |bytes| {
            fs::write(folder.path().join("settings.toml"), bytes).unwrap();
            store::read_settings(folder.path()).ok();
            fs::write(folder.path().join("servers.json"), bytes).unwrap();
            store::read_servers(folder.path()).ok();
            fs::write(folder.path().join("recent.json"), bytes).unwrap();
            store::read_recent(folder.path()).ok();
        },
    );
}

/// A folder with a fixture in it and a history of it.
fn kept() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.json");
    fs::write(
        &file,
        r#"{"content":[{"type":"text","text":"{\"n\":1}"}],"structuredContent":{"n":1}}"#,
    )
    .unwrap();
    let capture = store::read_any(&file).unwrap();
    let fixture = folder.path().join("fixture");
    let expect =
        b"schema = \"loupe.expect/1\"\nmatch = \"data\"\nignore = [\"/structuredContent/n\"]\n[budgets.tokens]\njson = 100\n";
    store::write_folder_with(&capture, &[("expect.toml", expect)], &fixture).unwrap();
    History::at(folder.path()).add(&capture).unwrap();
    (folder, fixture)
}

#[test]
fn history() {
    let (folder, _) = kept();
    let index = folder.path().join("history/index.jsonl");
    let seeds = [
        fs::read(&index).unwrap(),
        fs::read(&index).unwrap().repeat(3),
    ];
    fuzz("history", &seeds, |bytes| {
        fs::write(&index, bytes).unwrap();
        assert_eq!(
            History::at(folder.path()).list().unwrap().entries.len(),
            1,
            "the folder is what counts"
        );
    });
}

#[test]
fn fixture() {
    let (_folder, fixture) = kept();
    let names = [
        "capture.json",
        "messages.jsonl",
        "expect.toml",
        "response.json",
    ];
    let whole = names.map(|name| fs::read(fixture.join(name)).unwrap());
    fuzz("fixture", &whole, |bytes| {
        for (name, whole) in names.iter().zip(&whole) {
            fs::write(fixture.join(name), bytes).unwrap();
            store::read_fixture(&fixture).ok();
            fs::write(fixture.join(name), whole).unwrap();
        }
        assert!(store::read_fixture(&fixture).is_ok());
    });
}

#[test]
fn configuration() {
    fuzz("configuration", &data("tests/data/import"), |bytes| {
        let Ok(text) = import::decode(bytes) else {
            return;
        };
        for path in ["x.json", "x.toml", "/home/me/.gemini/settings.json"] {
            let Ok(import) = import::read(path, &text) else {
                continue;
            };
            import.server(Some("x")).ok();
            for entry in &import.servers {
                entry.resolve(|_| Some("x".to_owned())).ok();
                assert!(!entry.to_string().is_empty());
            }
        }
    });
}

#[test]
fn tokenizer() {
    fuzz(
        "tokenizer",
        &data("crates/loupe-core/tests/data/token"),
        |bytes| {
            for name in ["tokenizer.json", "tekken.json", "x.tiktoken", "x.model"] {
                if let Ok(tokenizer) = TokenizerFile::read(name, bytes) {
                    assert!(!tokenizer.name.is_empty());
                }
            }
        },
    );
}

#[test]
fn hosts() {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/loupe-core/src/host/hosts.toml"),
    )
    .unwrap();
    let (_, entries) = text.split_once("[[host]]").unwrap();
    let schema = "schema = \"loupe.hosts/1\"";
    let seeds: Vec<_> = entries
        .split("[[host]]")
        .map(|entry| format!("{schema}\n[[host]]{entry}").into_bytes())
        .collect();
    fuzz("hosts", &seeds, |bytes| {
        fs::write(folder.path().join("hosts.toml"), bytes).unwrap();
        let hosts = store::load_hosts(Some(folder.path()));
        assert!(
            hosts.get("codex").is_some(),
            "those that come with Loupe stay"
        );
    });
}
