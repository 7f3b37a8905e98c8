//! What is within the bounds and what is not, and what is said of schemas and values that do not fit.

use serde_json::{Map, json};

use super::*;

fn read(schema: &Value) -> Arc<Compiled> {
    compiled(&Bytes::from(schema.to_string()), Dates::AsTheDialect)
}

#[track_caller]
fn check(schema: &Value, value: &Value) -> Result<Vec<Mismatch>, String> {
    match &*read(schema) {
        Ok(schema) => schema.mismatches(value),
        Err(why) => Err(why.clone()),
    }
}

/// Schemas that refer on and on: each of `levels` is what `of` makes of a reference to the next.
fn levels(levels: usize, of: impl Fn(Value) -> Value) -> Value {
    let next = |level: usize| json!({ "$ref": format!("#/$defs/d{level}") });
    let mut defs: Map<String, Value> = (0..levels)
        .map(|level| (format!("d{level}"), of(next(level + 1))))
        .collect();
    defs.insert(format!("d{levels}"), json!({ "type": "string" }));
    json!({ "$ref": "#/$defs/d0", "$defs": defs })
}

fn nested(levels: usize, of: impl Fn(Value) -> Value) -> Value {
    (0..levels).fold(json!({ "type": "string" }), |inner, _| of(inner))
}

#[test]
fn what_would_take_long_is_not_begun() {
    let named = |level: usize, id: char| json!({ "$id": format!("http://x/{id}{level}"), "allOf": [{ "$ref": format!("a{}", level + 1) }, { "$ref": format!("b{}", level + 1) }] });
    let resources: Map<String, Value> = (0..12)
        .flat_map(|level| ['a', 'b'].map(|id| (format!("{id}{level}"), named(level, id))))
        .collect();
    let patterns: Map<String, Value> = (0..500)
        .map(|at| {
            (
                format!("p{at}"),
                json!({ "pattern": format!("^x{at}[a-z]{{1,9}}$") }),
            )
        })
        .collect();
    let properties: Map<String, Value> = (0..100_000)
        .map(|at| (format!("p{at}"), json!({ "type": "string" })))
        .collect();
    let object = json!({ "a": 1 });
    for (name, schema, value) in [
        (
            "allOf",
            levels(40, |next| json!({ "allOf": [next.clone(), next] })),
            &object,
        ),
        (
            "anyOf",
            levels(40, |next| json!({ "anyOf": [next.clone(), next] })),
            &object,
        ),
        (
            "if",
            levels(
                40,
                |next| json!({ "if": next.clone(), "then": next.clone(), "else": next }),
            ),
            &object,
        ),
        (
            "dependentSchemas",
            levels(
                40,
                |next| json!({ "dependentSchemas": { "a": next.clone() }, "allOf": [next] }),
            ),
            &object,
        ),
        (
            "patternProperties",
            levels(
                40,
                |next| json!({ "patternProperties": { "^a": next.clone(), "a$": next } }),
            ),
            &nested(40, |inner| json!({ "a": inner })),
        ),
        (
            "in a circle",
            json!({ "allOf": [{ "$ref": "#" }] }),
            &object,
        ),
        ("a chain", levels(4_000, |next| next), &object),
        (
            "a chain that is looked through",
            json!({ "unevaluatedProperties": false, "allOf": [levels(1, |next| next)], "$ref": "#/$defs/d0", "$defs": levels(3_000, |next| next)["$defs"] }),
            &object,
        ),
        (
            "unevaluatedProperties",
            nested(
                20,
                |inner| json!({ "allOf": [inner], "unevaluatedProperties": { "type": "integer" } }),
            ),
            &object,
        ),
        (
            "names",
            json!({ "$id": "http://x/root", "$ref": "a0", "$defs": resources }),
            &object,
        ),
        ("patterns", json!({ "properties": patterns }), &object),
        (
            "a large pattern",
            json!({ "pattern": "^(\\p{L}{1,500}){1,500}$" }),
            &object,
        ),
        (
            "a pattern that tries",
            json!({ "pattern": "^(?=a)(a*)*\\1b$" }),
            &json!("a".repeat(200)),
        ),
        (
            "a pattern that counts",
            json!({ "pattern": "([01]{1,40}){1,40}[23]" }),
            &json!("01101".repeat(4_000)),
        ),
        (
            "100,000 properties",
            json!({ "properties": properties }),
            &object,
        ),
    ] {
        assert_eq!(check(&schema, value), Err(TOO_COSTLY.to_owned()), "{name}");
    }
}

#[test]
fn large_values_are_checked_and_the_first_of_many_mismatches_is_said() {
    let schema = json!({ "items": { "type": "object", "required": ["a"], "properties": { "a": { "anyOf": [{ "type": "string" }, { "type": "null" }] } } } });
    let records =
        |count: usize, of: &dyn Fn(usize) -> Value| Value::Array((0..count).map(of).collect());
    assert_eq!(
        check(&schema, &records(20_000, &|_| json!({ "a": "x" }))),
        Ok(Vec::new())
    );
    let few = check(&schema, &records(1_000, &|at| json!({ "a": at }))).unwrap();
    assert_eq!((few.len(), few[49].0.as_str()), (50, "/49/a"));
    let many = check(&schema, &records(40_000, &|at| json!({ "a": at }))).unwrap();
    assert_eq!(
        many,
        [("/0/a".to_owned(), "expected a string or null".to_owned())]
    );
    let far = check(
        &json!({ "uniqueItems": true }),
        &records(300_000, &|at| json!(at)),
    );
    assert_eq!(far, Ok(Vec::new()));
}

/// `tests/data/schemas` has the tools of public servers.
#[test]
fn schemas_of_public_servers_are_within_the_bounds() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/schemas");
    let mut schemas = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let mut open = vec![serde_json::from_str::<Value>(&text).unwrap()];
        while let Some(value) = open.pop() {
            match value {
                Value::Object(members) => {
                    for key in ["inputSchema", "outputSchema"] {
                        if let Some(schema) = members.get(key) {
                            schemas += 1;
                            assert_ne!(
                                check(schema, &json!({})).err().as_deref(),
                                Some(TOO_COSTLY),
                                "{schema}"
                            );
                        }
                    }
                    open.extend(members.into_iter().map(|(_, member)| member));
                }
                Value::Array(items) => open.extend(items),
                _ => {}
            }
        }
    }
    assert!(schemas > 100, "{schemas}");
}

#[test]
fn references_of_every_kind_are_followed() {
    for schema in [
        json!({ "$ref": "#/$defs/a%20b~1c", "$defs": { "a b/c": { "type": "string" } } }),
        json!({ "$ref": "#here", "$defs": { "x": { "$anchor": "here", "type": "string" } } }),
        json!({ "$id": "http://x/root", "$ref": "item", "$defs": { "x": { "$id": "http://x/item", "type": "string" } } }),
        json!({ "$dynamicRef": "#here", "$defs": { "x": { "$dynamicAnchor": "here", "type": "string" } } }),
        json!({ "$ref": "https://json-schema.org/draft/2020-12/schema" }),
    ] {
        assert_eq!(
            check(&schema, &json!(1)).map(|found| found.is_empty()),
            Ok(false),
            "{schema}"
        );
    }
    let tree = json!({ "type": "object", "properties": { "of": { "$ref": "#" } } });
    assert_eq!(
        check(&tree, &nested(60, |inner| json!({ "of": inner }))),
        Ok(Vec::new())
    );
}

#[test]
fn a_schema_is_compiled_once_however_often_it_is_checked_against() {
    // Of its own, since the other tests have theirs compiled meanwhile.
    let schema = json!({ "properties": { "once": { "type": "string" } } });
    assert!((0..20).any(|_| Arc::ptr_eq(&read(&schema), &read(&schema))));
    assert_eq!(check(&schema, &json!({ "once": "a" })), Ok(Vec::new()));
    assert_eq!(
        check(
            &json!({ "properties": { "once": { "type": "number" } } }),
            &json!({ "once": "a" })
        )
        .unwrap()
        .len(),
        1
    );
}

#[test]
fn what_is_wrong_with_a_schema_is_said_with_its_place() {
    for (schema, why) in [
        (
            json!({ "properties": { "n": { "type": "int64" } } }),
            r#"expected "array", "boolean", "integer", "null", "number", "object" or "string" or an array at /properties/n/type"#,
        ),
        (json!({ "required": "x" }), "expected an array at /required"),
        (
            json!({ "properties": [] }),
            "expected an object at /properties",
        ),
        (
            json!({ "properties": { "a": { "enum": "x" } } }),
            "expected an array at /properties/a/enum",
        ),
        (json!({ "minimum": "1" }), "expected a number at /minimum"),
        (
            json!({ "properties": { "q": { "$ref": 5 } } }),
            "expected a string at /properties/q/$ref",
        ),
        (
            json!({ "properties": { "q": { "pattern": "[a" } } }),
            r#""[a" is not a regular expression of this dialect at /properties/q/pattern"#,
        ),
        (
            json!({ "properties": { "q": "string" } }),
            "expected a boolean or an object at /properties/q",
        ),
        (
            json!({ "required": "x", "properties": { "q": { "$ref": 5 }, "n": 7 } }),
            "expected an array at /required; expected a string at /properties/q/$ref; expected a boolean or an object at /properties/n",
        ),
    ] {
        let said = check(&schema, &json!({})).unwrap_err();
        let mut said: Vec<_> = said
            .strip_prefix("the schema cannot be used: ")
            .unwrap_or(&said)
            .split("; ")
            .collect();
        let mut why: Vec<_> = why.split("; ").collect();
        said.sort_unstable();
        why.sort_unstable();
        assert_eq!(said, why, "{schema}");
    }
}

#[test]
fn a_schema_of_another_language_is_named_and_nothing_is_checked() {
    let schema = json!({ "$schema": "https://example.org/other-schema/v1", "name": "Args", "type": "object",
        "properties": { "n": { "type": "int64" }, "d": { "type": "decimal", "precision": 9 } } });
    let why = format!("{UNKNOWN_DIALECT}, https://example.org/other-schema/v1");
    assert_eq!(check(&schema, &json!({ "n": "x" })), Err(why));
    let known =
        json!({ "$schema": "https://json-schema.org/draft/2020-12/schema#", "type": "object" });
    assert_eq!(check(&known, &json!({})), Ok(Vec::new()));
}

#[test]
fn what_tells_alternatives_apart_is_named() {
    let branch = |by: &str, to: &str| json!({ "type": "object", "properties": { "by": { "const": by }, to: { "type": "string" } }, "required": ["by", to] });
    for key in ["anyOf", "oneOf"] {
        let schema = json!({ key: [branch("mail", "to"), branch("sms", "phone")] });
        let fax = check(&schema, &json!({ "by": "fax" })).unwrap();
        assert_eq!(
            fax,
            [("/by".to_owned(), r#"expected "mail" or "sms""#.to_owned())]
        );
        assert_eq!(
            check(&schema, &json!({ "by": "sms" })).unwrap(),
            [("/phone".to_owned(), "required".to_owned())]
        );
    }
}

#[test]
fn a_wrong_date_counts_in_what_a_person_types() {
    let schema = Bytes::from(
        json!({ "properties": { "day": { "format": "date" }, "at": { "format": "date-time" }, "time": { "format": "time" },
            "mail": { "format": "email" } } })
        .to_string(),
    );
    let value = json!({ "day": "2026-13-40", "at": "2026-02-30T10:00:00Z", "time": "25:00:00Z", "mail": "no mail" });
    let found = compiled(&schema, Dates::Count)
        .as_ref()
        .as_ref()
        .unwrap()
        .mismatches(&value)
        .unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|(at, what)| format!("{at}: {what}"))
        .collect();
    assert_eq!(
        found,
        [
            "/day: not a date, such as 2026-01-31",
            "/at: not a date and time with its zone, such as 2026-01-31T18:30:00Z",
            "/time: not a time with its zone, such as 18:30:00Z",
        ]
    );
    let fine =
        json!({ "day": "2026-12-31", "at": "2026-02-28T10:00:00+01:00", "time": "23:00:00Z" });
    assert_eq!(
        compiled(&schema, Dates::Count)
            .as_ref()
            .as_ref()
            .unwrap()
            .mismatches(&fine),
        Ok(Vec::new())
    );
    assert_eq!(
        compiled(&schema, Dates::AsTheDialect)
            .as_ref()
            .as_ref()
            .unwrap()
            .mismatches(&value),
        Ok(Vec::new())
    );
}
