//! Folders that somebody made to do harm, or a disk damaged: the loader takes them or refuses them, and neither hangs, nor
//! fills the memory, nor keeps the others from being found.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::tests::capture;
use super::*;

const ANSWER: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[]}}";

fn written(folder: &Path) -> PathBuf {
    let path = folder.join("c");
    write_folder(&capture(Some(ANSWER)), &path).unwrap();
    path
}

/// Whatever the loader says of a folder, its neighbour is found and read, and the history lists both.
#[track_caller]
fn costs_nothing_else(folder: &Path) {
    let good = folder.join("good");
    if !good.exists() {
        write_folder(&capture(Some(ANSWER)), &good).unwrap();
    }
    assert!(find_folders(folder).unwrap().contains(&good));
    assert!(read_folder(&good).is_ok());
    recover(folder);
    assert!(good.exists());
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_not_read() {
    for name in [
        MANIFEST,
        REQUEST,
        RESPONSE,
        MESSAGES,
        loupe_analysis::fixture::expect::FILE,
    ] {
        for target in [
            "/dev/zero",
            "/dev/null",
            "/proc/self/mem",
            "/",
            "/no/such/thing",
            "pipe",
            "self",
        ] {
            let folder = tempfile::tempdir().unwrap();
            let path = written(folder.path());
            let file = path.join(name);
            fs::remove_file(&file).ok();
            match target {
                "pipe" => assert!(
                    std::process::Command::new("mkfifo")
                        .arg(&file)
                        .status()
                        .unwrap()
                        .success()
                ),
                "self" => std::os::unix::fs::symlink(name, &file).unwrap(),
                target => std::os::unix::fs::symlink(target, &file).unwrap(),
            }
            assert!(read_fixture(&path).is_err(), "{name} is {target}");
            costs_nothing_else(folder.path());
        }
    }
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_folder_gives_nothing_away() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret.txt");
    fs::write(&secret, "hunter2 hunter2").unwrap();
    for name in [
        MANIFEST,
        REQUEST,
        RESPONSE,
        MESSAGES,
        loupe_analysis::fixture::expect::FILE,
    ] {
        let inner = tempfile::tempdir_in(folder.path()).unwrap();
        let path = written(inner.path());
        fs::remove_file(path.join(name)).ok();
        std::os::unix::fs::symlink(&secret, path.join(name)).unwrap();
        let message = read_fixture(&path).unwrap_err().to_string();
        assert!(!message.contains("hunter2"), "{name}: {message}");
    }
    // A folder that leads back to itself is walked once.
    let path = written(folder.path());
    std::os::unix::fs::symlink("..", path.join("round")).unwrap();
    std::os::unix::fs::symlink(folder.path(), folder.path().join("again")).unwrap();
    assert_eq!(
        find_folders(folder.path())
            .unwrap()
            .iter()
            .filter(|found| **found == path)
            .count(),
        1
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_of_a_terabyte_is_refused_before_it_is_read() {
    for name in [
        MANIFEST,
        REQUEST,
        RESPONSE,
        MESSAGES,
        loupe_analysis::fixture::expect::FILE,
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path());
        let file = File::options()
            .create(true)
            .append(true)
            .open(path.join(name))
            .unwrap();
        // Sparse: nothing of it is on the disk. Some file systems have no files of that size.
        if file
            .set_len(1 << 40)
            .or_else(|_| file.set_len(1 << 34))
            .is_err()
        {
            continue;
        }
        assert!(read_fixture(&path).is_err(), "{name}");
        costs_nothing_else(folder.path());
    }
}

#[cfg(unix)]
#[test]
fn names_that_are_no_text_are_found_and_read() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = tempfile::tempdir().unwrap();
    let odd = std::ffi::OsStr::from_bytes(b"caf\xe9\n\x1b[31m");
    let path = folder.path().join(odd);
    // Some file systems take no such names.
    if fs::create_dir(&path).is_err() {
        return;
    }
    fs::remove_dir(&path).unwrap();
    write_folder(&capture(Some(ANSWER)), &path).unwrap();
    assert!(read_folder(&path).is_ok());
    costs_nothing_else(folder.path());
    let history = History::at(folder.path());
    write_folder(
        &capture(Some(ANSWER)),
        &folder.path().join("history/captures").join(odd),
    )
    .unwrap();
    history.add(&capture(Some(ANSWER))).unwrap();
    let listed = history.list().unwrap();
    assert_eq!(listed.entries.len(), 2);
    assert_eq!(
        listed
            .entries
            .iter()
            .filter(|entry| entry.health == Health::Whole)
            .count(),
        1
    );
}

#[test]
fn depth_and_size_of_what_is_written_in_it_are_no_matter() {
    let deep = 100_000;
    let inner = format!("{}{}", "[".repeat(deep), "]".repeat(deep));
    let odd: &[String] = &[
        format!("{{\"schema\":{inner}}}"),
        format!("{{\"schema\":\"loupe.capture/1\",\"tool\":{inner}}}"),
        format!("{{\"schema\":\"loupe.capture/1\",\"mine\":{inner}}}"),
        inner.clone(),
        format!(
            "{{{}\"schema\":\"loupe.capture/1\"}}",
            "\"a\":1,".repeat(100_000)
        ),
        format!("{{\"schema\":\"loupe.capture/{}\"}}", "9".repeat(10_000)),
    ];
    for text in odd {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path());
        fs::write(path.join(MANIFEST), text).unwrap();
        assert!(read_folder(&path).is_err());
        fs::write(path.join(MESSAGES), text).unwrap();
        costs_nothing_else(folder.path());
    }
    // More folders in each other than are looked into.
    let folder = tempfile::tempdir().unwrap();
    let mut path = folder.path().to_owned();
    for _ in 0..200 {
        path.push("d");
    }
    fs::create_dir_all(&path).unwrap();
    costs_nothing_else(folder.path());
}

/// A value that stands where another was expected.
fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        Just(json!(u64::MAX)),
        Just(json!(1e308)),
        Just(json!(-1)),
        any::<String>().prop_map(Value::from),
        Just(json!("/../../etc/passwd")),
        Just(json!([])),
        Just(json!({})),
        Just(json!([[["x"]]])),
        Just(json!({"json": null, "base64": "%%%"})),
        Just(json!({"bytes": u64::MAX, "sha256": ""})),
    ]
}

/// The places of every value in a document.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(members) => members
            .iter()
            .for_each(|(key, inner)| places(inner, &format!("{at}/{key}"), found)),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(index, inner)| places(inner, &format!("{at}/{index}"), found)),
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_manifest_with_anything_anywhere_is_taken_or_refused(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), proptest::option::of(any_value())), 1..4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path());
        let mut manifest: Value = serde_json::from_slice(&fs::read(path.join(MANIFEST)).unwrap()).unwrap();
        for (place, value) in changes {
            let mut found = Vec::new();
            places(&manifest, "", &mut found);
            let pointer = place.get(&found).clone();
            match (value, pointer.rsplit_once('/')) {
                (Some(value), _) => drop(manifest.pointer_mut(&pointer).map(|old| *old = value)),
                (None, Some((parent, key))) => {
                    if let Some(members) = manifest.pointer_mut(parent).and_then(Value::as_object_mut) {
                        members.remove(key);
                    }
                }
                (None, None) => manifest = Value::Null,
            }
        }
        fs::write(path.join(MANIFEST), manifest.to_string()).unwrap();
        if let Ok(read) = read_folder(&path) {
            // What it takes it can write again, and that reads the same.
            let again = folder.path().join("again");
            write_folder(&read, &again).unwrap();
            prop_assert_eq!(read_folder(&again).unwrap(), read);
        }
        let history = History::at(folder.path());
        fs::create_dir_all(folder.path().join("history/captures")).unwrap();
        fs::rename(&path, folder.path().join("history/captures/c")).unwrap();
        prop_assert_eq!(history.list().unwrap().entries.len(), 1);
    }

    #[test]
    fn a_part_cut_anywhere_is_refused(file in 0_usize..4, at in any::<prop::sample::Index>()) {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path());
        let name = path.join([MANIFEST, REQUEST, RESPONSE, MESSAGES][file]);
        let bytes = fs::read(&name).unwrap();
        let cut = at.index(bytes.len());
        fs::write(&name, &bytes[..cut]).unwrap();
        // Only whole lines of messages that are gone, and the manifest's last line end, leave no trace.
        let may_pass = (file == 3 && (cut == 0 || bytes[cut - 1] == b'\n' || bytes[cut] == b'\n')) || (file == 0 && cut + 1 == bytes.len());
        prop_assert!(may_pass || read_folder(&path).is_err());
    }
}
