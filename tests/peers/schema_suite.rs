//! The forms of arguments, held against the JSON Schema Test Suite (draft 2020-12), which the source archive of PyPI's
//! `jsonschema` brings: what is read into a form comes back as it was, and what a form begins with is valid.

use std::path::PathBuf;

use bytes::Bytes;
use loupe_core::json::{Doc, Node};
use mcp_loupe::state::form::{FieldKind, FieldSchemas, Value};

/// Keywords that leave it to a person what is typed, or that no single control sees: what begins need not satisfy them.
const TYPED: &[&str] = &[
    "pattern",
    "minLength",
    "minProperties",
    "uniqueItems",
    "multipleOf",
    "dependentRequired",
    "unevaluatedItems",
    "unevaluatedProperties",
    "dependentSchemas",
    "if",
    "not",
    "contains",
    "$dynamicRef",
    "oneOf",
    "anyOf",
    "propertyNames",
    "maxLength",
    "maxItems",
    "maxProperties",
];

fn suite() -> PathBuf {
    let peers = std::env::var_os("LOUPE_PEERS").expect("LOUPE_PEERS names the folder of the suite");
    PathBuf::from(peers).join("schema-suite/json/tests/draft2020-12")
}

#[test]
fn the_suite_of_json_schema_goes_through_the_form() {
    let (mut read, mut begun) = (0, 0);
    let mut wrong = Vec::new();
    let mut files: Vec<_> = std::fs::read_dir(suite())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.retain(|file| file.is_file());
    files.sort();
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let doc = Doc::parse(Bytes::from(std::fs::read(&file).unwrap()));
        for group in doc.root().unwrap().children() {
            let title = format!(
                "{name}: {}",
                group
                    .get("description")
                    .and_then(Node::as_str)
                    .unwrap_or_default()
            );
            let schema = group.get("schema").unwrap();
            let text = schema.raw_bytes();
            let own = Doc::parse(text.clone());
            let schemas = FieldSchemas::read(own.root());
            let whole = schemas.whole().unwrap();
            let compiled: serde_json::Value = serde_json::from_slice(&text).unwrap();
            // References into the network are never followed.
            let Ok(validator) = jsonschema::options().offline().build(&compiled) else {
                continue;
            };
            for test in group
                .get("tests")
                .unwrap()
                .children()
                .filter(|test| test.get("valid").and_then(Node::as_bool) == Some(true))
            {
                let data = test.get("data").unwrap();
                let value = Value::read(data, &schemas, whole);
                read += 1;
                let back = value
                    .json(&schemas, whole)
                    .map(|json| Doc::parse(Bytes::from(json)));
                let valid = back.as_ref().is_some_and(|back| {
                    validator.is_valid(&serde_json::from_slice(back.bytes()).unwrap())
                });
                let same = back.is_some_and(|back| {
                    let as_value =
                        |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).unwrap();
                    as_value(back.bytes()) == as_value(data.raw())
                });
                if !valid || !same {
                    wrong.push(format!(
                        "{title}: {} came back {}",
                        data.raw_text(),
                        if same { "invalid" } else { "changed" }
                    ));
                }
            }
            let is_typed = (0..own.len())
                .filter_map(|at| own.node(at)?.key())
                .any(|key| TYPED.contains(&&*key));
            if is_typed || schemas.get(whole).kind == FieldKind::Json {
                continue;
            }
            begun += 1;
            let first = Value::first(&schemas, whole)
                .json(&schemas, whole)
                .unwrap_or_default();
            if !validator.is_valid(&serde_json::from_str(&first).unwrap()) {
                wrong.push(format!("{title}: begins with {first}"));
            }
        }
    }
    assert!(read > 400 && begun > 40, "{read} read, {begun} begun");
    assert_eq!(wrong, Vec::<String>::new());
}
