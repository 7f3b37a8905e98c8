//! What holds for all values and texts; single cases are data (`tests/data/diff`).

use bytes::Bytes;
use proptest::prelude::*;
use serde_json::Value;

use super::lines::{LineOptions, Side, TextDiff, lines};
use super::pattern::{covers, name, pattern};
use super::tree::{TreeDiff, TreeOptions, tree};
use crate::json::Doc;

fn doc(text: &str) -> Doc {
    Doc::parse(Bytes::copy_from_slice(text.as_bytes()))
}

fn compare(a: &str, b: &str, options: &TreeOptions) -> TreeDiff {
    let (a, b) = (doc(a), doc(b));
    tree(a.root().unwrap(), b.root().unwrap(), options)
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3_i64..3).prop_map(Value::from),
        "[ab\\\\]{0,2}".prop_map(Value::from)
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::hash_map("[abi]d?", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn any_text() -> impl Strategy<Value = String> {
    prop::collection::vec("[aé ]{0,3}", 0..12).prop_map(|lines| lines.join("\n"))
}

/// A text put together again from all lines of a difference.
fn rebuilt(found: &TextDiff, text: &str, other: &str, wanted: Side) -> String {
    let lines = found
        .hunks
        .iter()
        .flat_map(|hunk| &hunk.lines)
        .filter(|line| line.side == Side::Both || line.side == wanted);
    let of = |line: &super::lines::DiffLine| {
        let source = if line.side == wanted { text } else { other };
        source[line.range.clone()].to_owned()
    };
    lines.map(of).collect::<Vec<_>>().join("\n")
}

proptest! {
    #[test]
    fn values_differ_exactly_where_they_are_not_equal(a in any_value(), b in any_value()) {
        let (x, y) = (a.to_string(), serde_json::to_string_pretty(&b).unwrap());
        prop_assert!(compare(&x, &a.to_string(), &TreeOptions::default()).is_empty());
        prop_assert_eq!(compare(&x, &y, &TreeOptions::default()).is_empty(), a == b);
    }

    #[test]
    fn texts_come_back_from_their_difference(a in any_text(), b in any_text()) {
        let options = LineOptions { context: usize::MAX / 4, ..LineOptions::default() };
        prop_assert!(lines(&a, &a, &options).is_empty());
        let found = lines(&a, &b, &options);
        prop_assert_eq!(found.is_empty(), a == b);
        if a != b {
            prop_assert_eq!(rebuilt(&found, &a, &a, Side::A), a.clone());
            prop_assert_eq!(rebuilt(&found, &b, &a, Side::B), b.clone());
        }
        let short = lines(&a, &b, &LineOptions { keep: 2, context: 1, ..LineOptions::default() });
        prop_assert_eq!((short.added, short.removed), (found.added, found.removed));
        let changed = |found: &TextDiff| found.hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.side != Side::Both).count() as u64;
        prop_assert_eq!(changed(&short) + short.more, changed(&found));
    }
}

#[test]
fn equal_values_may_be_spelled_differently() {
    let same = |a: &str, b: &str| compare(a, b, &TreeOptions::default()).is_empty();
    assert!(same(
        r#"{"a":1.0,"b":"é"}"#,
        r#"{ "b": "\u00e9", "a": 1e0 }"#
    ));
    assert!(same("[100, -0, 0.50]", "[1e2, 0, 5E-1]"));
    assert!(!same("[9007199254740993]", "[9007199254740992]"));
    assert!(
        !same(r#"["\ud800"]"#, r#"["\ud801"]"#),
        "what cannot be read is told apart by its bytes"
    );
    assert!(
        !same(r#"{"a":1,"a":2}"#, r#"{"a":2,"a":1}"#),
        "of two members of one name the order matters"
    );
    assert!(!same("[1]", "[\"1\"]"));
    assert!(!same("1e99999999999999999999", "2e99999999999999999999"));
}

#[test]
fn a_million_differences_are_counted_and_some_kept() {
    let list = |from: u32| {
        format!(
            "[{}]",
            (from..from + 1_000_000)
                .map(|at| at.to_string())
                .collect::<Vec<_>>()
                .join(",")
        )
    };
    let found = compare(
        &list(0),
        &list(2_000_000),
        &TreeOptions {
            keep: 100,
            ..TreeOptions::default()
        },
    );
    assert_eq!(
        (found.counts.changed, found.changes.len(), found.more()),
        (1_000_000, 100, 999_900)
    );
    let text = |from: u32| {
        (from..from + 300_000)
            .map(|at| at.to_string())
            .collect::<Vec<_>>()
            .join("\n")
    };
    // A deadline that has passed: what is found is right all the same.
    let options = LineOptions {
        deadline: Some(std::time::Instant::now()),
        keep: 100,
        ..LineOptions::default()
    };
    let found = lines(&text(0), &text(2_000_000), &options);
    assert_eq!(
        (found.added, found.removed, found.more),
        (300_000, 300_000, 599_900)
    );
}

#[test]
fn depth_is_data() {
    let deep = |leaf: &str| format!("{}{leaf}{}", "[".repeat(200_000), "]".repeat(200_000));
    let found = compare(&deep("1"), &deep("2"), &TreeOptions::default());
    assert_eq!(found.counts.changed, 1);
}

#[test]
fn places_that_do_not_matter_are_left_out() {
    let options = TreeOptions {
        ignore: vec!["/items/*/at".into(), "/took".into()],
        ..TreeOptions::default()
    };
    let a = r#"{"items":[{"id":1,"at":5,"n":1},{"id":2,"at":{"x":5}}],"took":1}"#;
    let b = r#"{"items":[{"id":1,"at":6,"n":2},{"id":2,"at":{"x":6}}],"took":2}"#;
    let found = compare(a, b, &options);
    assert_eq!((found.counts.changed, found.counts.total()), (1, 1));
}

#[test]
fn patterns_name_places_in_every_record() {
    let doc = doc(r#"{"items":[{"a/b":[1]}]}"#);
    let node = doc.at("/items/0/a~1b/0").unwrap();
    assert_eq!(pattern(node, 0), "/items/*/a~1b/*");
    assert_eq!(name("/items/*/a~1b/*"), "a/b");
    assert!(covers("/items/*", "/items/0/a~1b/0") && !covers("/items/*/x", "/items/0/a~1b"));
    assert!(covers("", "/items"), "the root is above everything");
}
