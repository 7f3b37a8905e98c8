//! Cases for the index: what it keeps, what it reports, and that depth does no harm.

use bytes::Bytes;
use proptest::prelude::*;

use super::*;

fn doc(text: &str) -> Doc {
    Doc::parse(Bytes::copy_from_slice(text.as_bytes()))
}

#[track_caller]
fn check_faults(text: &[u8], expected: &[(FaultKind, usize)]) {
    let doc = Doc::parse(Bytes::copy_from_slice(text));
    let found: Vec<_> = doc
        .faults()
        .iter()
        .map(|fault| (fault.kind.clone(), fault.at))
        .collect();
    assert_eq!(found, expected, "{}", String::from_utf8_lossy(text));
}

#[test]
fn bytes_of_a_decoded_text_have_a_place_in_the_document() {
    let doc = Doc::parse(Bytes::from_static(
        br#"{"k\u0065y": "a\n\u00e9b\ud83d\ude00c"}"#,
    ));
    let node = doc.root().unwrap().child(0).unwrap();
    let text = node.as_str().unwrap();
    let at = |part: &str| text.find(part).unwrap();
    let wanted = [0, at("\n"), at("b"), at("c"), text.len()];
    let rest: Vec<_> = source_offsets(node, &wanted)
        .into_iter()
        .map(|at| String::from_utf8_lossy(&doc.bytes()[at..]))
        .collect();
    let whole = r#"a\n\u00e9b\ud83d\ude00c"}"#;
    assert_eq!(
        rest,
        [whole, &whole[1..], &whole[9..], &whole[22..], &whole[23..]]
    );
    assert_eq!(&doc.bytes()[node.key_range().unwrap()], br#""k\u0065y""#);
    assert_eq!(doc.root().unwrap().key_range(), None);
}

#[test]
fn keeps_spelling_and_order() {
    let doc =
        doc(r#" {"b": 1e3, "a": [9007199254740993, -0.0, 1.10], "é\u00e9": "x\n\ud83d\ude00"} "#);
    assert!(doc.is_json());
    let root = doc.root().unwrap();
    assert_eq!(root.len(), 3);
    let keys: Vec<_> = root
        .children()
        .map(|child| child.key().unwrap().into_owned())
        .collect();
    assert_eq!(keys, ["b", "a", "éé"]);
    assert_eq!(root.get("b").unwrap().as_number(), Some("1e3"));
    assert_eq!(doc.at("/a/2").unwrap().as_number(), Some("1.10"));
    assert_eq!(doc.at("/a/2").unwrap().pointer(), "/a/2");
    assert_eq!(root.get("éé").unwrap().as_str().unwrap(), "x\n😀");
}

#[test]
fn duplicates_are_kept_and_reported() {
    let doc = doc(r#"{"a":1,"\u0061":2}"#);
    assert!(doc.is_json());
    assert_eq!(doc.root().unwrap().len(), 2);
    assert_eq!(doc.root().unwrap().get("a").unwrap().as_number(), Some("2"));
    check_faults(br#"{"a":1,"\u0061":2}"#, &[(FaultKind::DuplicateKey, 7)]);
    let many: String = (0..20).map(|n| format!("\"k{}\":0,", n % 19)).collect();
    check_faults(
        format!("{{{}}}", many.trim_end_matches(',')).as_bytes(),
        &[(FaultKind::DuplicateKey, 1 + 10 * 7 + 9 * 8)],
    );
    // Each object has its own, those of the objects in it apart; a key whose value is missing is no member.
    check_faults(
        br#"{"a":{"b":1,"b":2},"b":[{"a":3}],"a":4}"#,
        &[(FaultKind::DuplicateKey, 12), (FaultKind::DuplicateKey, 33)],
    );
    check_faults(br#"[{"a":1,"a":"#, &[(FaultKind::UnexpectedEnd, 12)]);
}

#[test]
fn faults_are_reported_where_they_stand() {
    check_faults(b"", &[(FaultKind::UnexpectedEnd, 0)]);
    check_faults(b"{\"a\":", &[(FaultKind::UnexpectedEnd, 5)]);
    check_faults(b"[1,]", &[(FaultKind::Syntax("expected a value"), 3)]);
    check_faults(
        b"[1 2]",
        &[(
            FaultKind::Syntax("expected a comma or a closing bracket"),
            3,
        )],
    );
    check_faults(b"1 2", &[(FaultKind::TrailingData, 2)]);
    check_faults(b"NaN", &[(FaultKind::Syntax("expected a value"), 0)]);
    check_faults(b"nul", &[(FaultKind::UnexpectedEnd, 3)]);
    check_faults(
        b"01",
        &[(FaultKind::Syntax("a number with a leading zero"), 1)],
    );
    check_faults(b"\"\\ud800\"", &[(FaultKind::LoneSurrogate, 1)]);
    check_faults(b"\"a\xffb\"", &[(FaultKind::InvalidUtf8, 2)]);
    check_faults(
        b"\"a\nb\"",
        &[(FaultKind::Syntax("a control character inside a string"), 2)],
    );
    check_faults(
        b"{a:1}",
        &[(FaultKind::Syntax("expected a key in double quotes"), 1)],
    );
}

#[test]
fn what_came_before_a_fault_is_there() {
    let cut = doc(r#"{"items":[{"id":1,"name":"Ac"#);
    assert!(!cut.is_json());
    assert_eq!(cut.at("/items/0/id").unwrap().as_number(), Some("1"));
    assert_eq!(cut.at("/items/0/name").unwrap().as_str().unwrap(), "Ac");
    assert_eq!(cut.root().unwrap().range(), 0..28);
}

#[test]
fn a_hundred_thousand_levels_do_no_harm() {
    let levels = 100_000;
    let deep = doc(&("[".repeat(levels) + &"]".repeat(levels)));
    assert!(deep.is_json());
    assert_eq!(deep.len(), levels);
    assert_eq!(deep.node(levels - 1).unwrap().depth(), levels - 1);
    assert_eq!(doc(&"{\"a\":".repeat(levels)).len(), levels);
}

/// Builds any JSON value that serde_json can write.
fn any_value() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        any::<String>().prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(serde_json::Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..8)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

fn same(node: Node<'_>, value: &serde_json::Value) -> bool {
    match value {
        serde_json::Value::Null => node.is_null(),
        serde_json::Value::Bool(flag) => node.as_bool() == Some(*flag),
        serde_json::Value::Number(number) => node.as_number() == Some(number.to_string().as_str()),
        serde_json::Value::String(text) => node.as_str().is_some_and(|read| read == *text),
        serde_json::Value::Array(items) => {
            node.len() == items.len()
                && node
                    .children()
                    .zip(items)
                    .all(|(child, item)| same(child, item))
        }
        serde_json::Value::Object(map) => {
            node.len() == map.len()
                && node.children().zip(map).all(|(child, (key, item))| {
                    child.key().as_deref() == Some(key) && same(child, item)
                })
        }
    }
}

proptest! {
    #[test]
    fn reads_what_serde_json_writes(value in any_value()) {
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let doc = doc(&text);
            prop_assert!(doc.is_json());
            prop_assert!(same(doc.root().unwrap(), &value));
        }
    }

    #[test]
    fn agrees_with_serde_json_on_what_is_json(bytes in prop::collection::vec(prop::sample::select(br#"{}[]",:0-1.e+tfrueals\un d8"#.to_vec()), 0..24)) {
        let ours = Doc::parse(Bytes::from(bytes.clone()));
        // serde_json refuses lone surrogates and numbers out of range; we keep them and say so.
        let odd = ours.faults().iter().any(|fault| fault.kind == FaultKind::LoneSurrogate);
        match serde_json::from_slice::<serde::de::IgnoredAny>(&bytes) {
            Ok(_) => prop_assert!(ours.is_json() || odd),
            Err(error) => prop_assert!(!ours.is_json() || odd || error.to_string().contains("out of range"), "{error}"),
        }
    }

    #[test]
    fn never_panics(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let doc = Doc::parse(Bytes::from(bytes));
        for index in 0..doc.len() {
            let node = doc.node(index).unwrap();
            let _ = (node.pointer(), node.raw_text(), node.as_str());
        }
    }

    #[test]
    fn strings_survive(text in any::<String>()) {
        let written = write::string(&text);
        let written = doc(&written);
        prop_assert_eq!(written.root().unwrap().as_str().unwrap(), text);
    }
}

#[test]
fn a_key_is_found_before_its_value_whatever_is_escaped_in_it() {
    let text = r#"{"plain":1,"a\"b" : [2,"c\\"],"\\":{"\\\"": 3},"":4,"d\\\\\" : \"e":	5}"#;
    let doc = Doc::parse(Bytes::from_static(text.as_bytes()));
    assert!(doc.is_json(), "{:?}", doc.faults());
    let keyed = (0..doc.len())
        .filter_map(|index| doc.node(index))
        .filter_map(|node| Some((node.raw_key()?, node)));
    let keys: Vec<_> = keyed
        .clone()
        .map(|(key, _)| std::str::from_utf8(key).unwrap())
        .collect();
    assert_eq!(
        keys,
        ["plain", r#"a\"b"#, r"\\", r#"\\\""#, "", r#"d\\\\\" : \"e"#]
    );
    for (key, node) in keyed {
        assert_eq!(
            &text.as_bytes()[node.key_range().unwrap()],
            [b"\"", key, b"\""].concat()
        );
    }
}
