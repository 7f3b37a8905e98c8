//! What is kept is there again, whatever happens to the index; one bad folder hides no other.

use std::fs;
use std::time::Duration;

use bytes::Bytes;
use time::macros::datetime;

use super::*;
use loupe_core::cancel::Cancel;
use loupe_core::capture::{CaptureId, Server, Tool};

fn capture(tool: &str, second: i64, text: &str) -> Capture {
    Capture {
        tool: Tool::unlisted(tool),
        arguments: Bytes::from(format!("{{\"q\":\"{tool}-q\"}}")),
        started_at: datetime!(2026-01-01 00:00:00 UTC) + Duration::from_secs(second.unsigned_abs()),
        request: Bytes::from_static(b"{}"),
        response: Some(Bytes::from(format!(
            "{{\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}"
        ))),
        ..Capture::empty(
            CaptureId("001-x".into()),
            Server {
                name: "Desk".into(),
                source: "-- node desk.js".into(),
                ..Server::default()
            },
        )
    }
}

fn tools(listed: &HistoryPage) -> Vec<&str> {
    listed
        .entries
        .iter()
        .map(|entry| entry.tool.as_str())
        .collect()
}

#[test]
fn what_is_kept_is_there_again() {
    let folder = tempfile::tempdir().unwrap();
    let history = History::at(folder.path());
    assert_eq!(history.list().unwrap(), HistoryPage::default());
    let kept = history.add(&capture("a", 1, "x")).unwrap();
    let a = kept.id.clone();
    let twice = history.add(&capture("a", 1, "x")).unwrap().id;
    assert_ne!(a, twice, "two calls of one moment are two captures");
    history.add(&capture("b", 9, "y")).unwrap();
    let again = History::at(folder.path());
    let listed = again.list().unwrap();
    assert_eq!(tools(&listed), ["b", "a", "a"]);
    assert_eq!(
        *listed.entries.iter().find(|entry| entry.id == a).unwrap(),
        kept
    );
    assert_eq!(
        history.read_entry(&a),
        kept,
        "as it is read from the folder"
    );
    let opened = again.open(&a).unwrap();
    let named = Capture {
        name: a.0.clone(),
        ..capture("a", 1, "x")
    };
    assert_eq!(
        opened,
        Capture {
            id: opened.id.clone(),
            ..named
        }
    );
}

#[cfg(unix)]
#[test]
fn nobody_else_can_look_into_it() {
    use std::os::unix::fs::PermissionsExt;
    fn modes(folder: &std::path::Path, found: &mut Vec<(u32, bool)>) {
        let data = fs::metadata(folder).unwrap();
        found.push((data.permissions().mode() & 0o777, data.is_dir()));
        if data.is_dir() {
            fs::read_dir(folder)
                .unwrap()
                .for_each(|entry| modes(&entry.unwrap().path(), found));
        }
    }
    let folder = tempfile::tempdir().unwrap();
    // One of an earlier version.
    fs::create_dir(folder.path().join("history")).unwrap();
    fs::set_permissions(
        folder.path().join("history"),
        fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    let history = History::at(folder.path());
    history.add(&capture("a", 1, "x")).unwrap();
    let b = history.add(&capture("b", 2, "x")).unwrap().id;
    let _removed = history.remove(&b).unwrap();
    history.list().unwrap();
    fs::remove_file(history.root().join("index.jsonl")).unwrap();
    history.list().unwrap();
    let mut found = Vec::new();
    modes(history.root(), &mut found);
    assert!(found.len() > 10, "{found:?}");
    assert!(
        found
            .iter()
            .all(|(mode, is_folder)| *mode == if *is_folder { 0o700 } else { 0o600 }),
        "{found:?}"
    );
}

#[test]
fn the_index_is_a_cache() {
    let folder = tempfile::tempdir().unwrap();
    let history = History::at(folder.path());
    let a = history.add(&capture("a", 1, "x")).unwrap().id;
    history.add(&capture("b", 2, "x")).unwrap();
    let whole = history.list().unwrap();
    let index = history.root().join("index.jsonl");
    for broken in [None, Some(""), Some("nonsense\n{\"id\":"), Some("{}\n")] {
        match broken {
            None => fs::remove_file(&index).unwrap(),
            Some(text) => fs::write(&index, text).unwrap(),
        }
        assert_eq!(history.list().unwrap(), whole);
        assert_eq!(
            fs::read_to_string(&index).unwrap().lines().count(),
            2,
            "it is written anew"
        );
    }
    // The index of another run may lag behind in either direction.
    fs::rename(history.folder(&a), folder.path().join("elsewhere")).unwrap();
    assert_eq!(tools(&history.list().unwrap()), ["b"]);
    fs::rename(folder.path().join("elsewhere"), history.folder(&a)).unwrap();
    assert_eq!(history.list().unwrap(), whole);
}

#[test]
fn damage_hides_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let history = History::at(folder.path());
    let a = history.add(&capture("a", 1, "x")).unwrap().id;
    history.add(&capture("b", 2, "x")).unwrap();
    fs::write(history.folder(&a).join("response.json"), "{}").unwrap();
    fs::remove_file(history.root().join("index.jsonl")).unwrap();
    fs::create_dir(history.captures().join("stray")).unwrap();
    fs::create_dir(history.captures().join(".loupe-half")).unwrap();
    let listed = history.list().unwrap();
    assert_eq!(listed.entries.len(), 3);
    let damaged = listed
        .entries
        .iter()
        .filter(|entry| matches!(entry.health, Health::Damaged(_)))
        .count();
    assert_eq!(damaged, 2);
    assert!(history.open(&a).is_err());
}

#[test]
fn what_is_removed_comes_back_until_it_is_let_go() {
    let folder = tempfile::tempdir().unwrap();
    let history = History::at(folder.path());
    let a = history.add(&capture("a", 1, "x")).unwrap().id;
    let before = history.list().unwrap();
    let now = datetime!(2026-01-02 00:00:00 UTC);
    let removed = history.remove(&a).unwrap();
    assert!(removed.is_of(&a) && history.list().unwrap().entries.is_empty());
    history.prune(HistoryLimits::default(), now).unwrap();
    removed.put_back().unwrap();
    drop(removed);
    assert_eq!(history.list().unwrap(), before);
    let left = || fs::read_dir(history.captures()).unwrap().count();
    drop(history.remove(&a).unwrap());
    assert_eq!(left(), 0);
    assert!(history.remove(&a).is_err());
    // A copy that crashed deletes nothing; the next one does, when nobody can want it back any more.
    let b = history.add(&capture("b", 1, "x")).unwrap().id;
    std::mem::forget(history.remove(&b).unwrap());
    history.prune(HistoryLimits::default(), now).unwrap();
    assert_eq!(left(), 1);
    let away = fs::read_dir(history.captures())
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let long_ago = std::time::SystemTime::now() - STALE - Duration::from_secs(1);
    fs::File::open(away)
        .unwrap()
        .set_modified(long_ago)
        .unwrap();
    history.prune(HistoryLimits::default(), now).unwrap();
    assert_eq!(left(), 0);
}

#[test]
fn limits_let_the_oldest_go() {
    let folder = tempfile::tempdir().unwrap();
    let history = History::at(folder.path());
    let day = 24 * 3600;
    for (tool, at) in [("old", 1), ("mid", 50 * day), ("new", 99 * day)] {
        history.add(&capture(tool, at, "x")).unwrap();
    }
    let now = datetime!(2026-01-01 00:00:00 UTC) + Duration::from_secs(100 * day.unsigned_abs());
    assert_eq!(
        history
            .prune(HistoryLimits { days: 0, bytes: 0 }, now)
            .unwrap(),
        0
    );
    assert_eq!(
        history
            .prune(HistoryLimits { days: 60, bytes: 0 }, now)
            .unwrap(),
        1
    );
    assert_eq!(tools(&history.list().unwrap()), ["new", "mid"]);
    let one = history.list().unwrap().entries[0].bytes;
    assert_eq!(
        history
            .prune(
                HistoryLimits {
                    days: 0,
                    bytes: one + 10
                },
                now
            )
            .unwrap(),
        1
    );
    assert_eq!(tools(&history.list().unwrap()), ["new"]);
}

#[test]
fn captures_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let history = History::at(folder.path());
    history
        .add(&capture("search_tickets", 1, "Über den Wolken"))
        .unwrap();
    history
        .add(&capture("get_user", 2, "plain \\u00fcber words"))
        .unwrap();
    let entries = history.list().unwrap().entries;
    let found = |query: &str| -> Vec<String> {
        let ids = history
            .search(&entries, &HistoryQuery::parse(query), &Cancel::new())
            .unwrap();
        entries
            .iter()
            .filter(|entry| ids.contains(&entry.id))
            .map(|entry| entry.tool.clone())
            .collect()
    };
    assert_eq!(found(""), ["get_user", "search_tickets"]);
    assert_eq!(found("tool:user"), ["get_user"]);
    assert_eq!(found("desk WOLKEN"), ["search_tickets"]);
    assert_eq!(found("über"), ["get_user", "search_tickets"]);
    assert_eq!(found("args:user-q"), ["get_user"]);
    assert_eq!(found("\"plain ü"), ["get_user"]);
    assert_eq!(found("server:other"), Vec::<String>::new());
    assert_eq!(found("is:failed"), Vec::<String>::new());
}

#[test]
fn two_copies_write_at_once() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for copy in 0..4 {
            let history = History::at(folder.path());
            scope.spawn(move || {
                for number in 0..10 {
                    history
                        .add(&capture("t", number, &format!("{copy}-{number}")))
                        .unwrap();
                    history.list().unwrap();
                }
            });
        }
    });
    let history = History::at(folder.path());
    let entries = history.list().unwrap().entries;
    let answers: HashSet<_> = entries
        .iter()
        .map(|entry| history.open(&entry.id).unwrap().response)
        .collect();
    assert_eq!((entries.len(), answers.len()), (40, 40));
}

#[cfg(unix)]
#[test]
fn a_folder_that_may_not_be_written_is_said() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let history = History::at(folder.path());
    history.add(&capture("a", 1, "x")).unwrap();
    fs::remove_file(history.root().join("index.jsonl")).unwrap();
    for path in [history.captures(), history.root().to_owned()] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o555)).unwrap();
    }
    let refused = history.add(&capture("b", 2, "x"));
    let listed = history.list();
    for path in [history.captures(), history.root().to_owned()] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    // Root may write anywhere.
    if let Err(error) = refused {
        assert!(
            error.to_string().starts_with("cannot create the folder"),
            "{error}"
        );
        let listed = listed.unwrap();
        assert_eq!((tools(&listed), listed.notes.len()), (vec!["a"], 1));
    }
}
