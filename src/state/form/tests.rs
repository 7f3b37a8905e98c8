//! The form over schemas of every shape: those made here, and those of public servers.

use super::*;

const SCHEMA: &str = r##"{"type":"object","required":["id"],"properties":{
    "id":{"type":"integer","minimum":-1,"maximum":500,"default":50},
    "term":{"type":["string","null"]},"tags":{"type":"array","items":{"type":"string"}},
    "mode":{"enum":["json","markdown"]},"flag":{"anyOf":[{"type":"boolean"},{"type":"null"}]},"more":{"type":"object"}}}"##;

fn form_of(schema: &str) -> Form {
    Form::new(Some(&Bytes::copy_from_slice(schema.as_bytes())))
}

fn form() -> Form {
    form_of(SCHEMA)
}

/// The form of one property.
fn form_with(property: &str) -> Form {
    form_of(&format!(
        r##"{{"type":"object","properties":{{"f":{property}}},"$defs":{{
            "node":{{"type":"object","properties":{{"name":{{"type":"string"}},"next":{{"$ref":"#/$defs/node"}}}},"required":["name"]}},
            "a b%":{{"type":"integer"}},"named":{{"$anchor":"here","type":"boolean"}}}}}}"##
    ))
}

/// The kind of the control of one property, in a few words.
fn control(property: &str) -> String {
    let form = form_with(property);
    let field = form.schemas.root()[0].schema;
    described(&form, field, 0)
}

fn described(form: &Form, id: SchemaId, depth: usize) -> String {
    let schema = form.schemas.get(id);
    if depth > 2 {
        return "…".into();
    }
    let of = |id: &SchemaId| described(form, *id, depth + 1);
    let kind = match &schema.kind {
        FieldKind::Array(item) => format!("[{}]", of(item)),
        FieldKind::Tuple(places, rest) => {
            let places: Vec<_> = places.iter().chain(rest).map(of).collect();
            format!("({})", places.join(", "))
        }
        FieldKind::Object { properties, others } => {
            let named = properties.iter().map(|property| {
                format!(
                    "{}{}: {}",
                    property.name,
                    if property.required { "!" } else { "" },
                    of(&property.schema)
                )
            });
            let others = others.iter().map(|id| format!("*: {}", of(id)));
            format!("{{{}}}", named.chain(others).collect::<Vec<_>>().join(", "))
        }
        FieldKind::Union(branches) => branches
            .iter()
            .map(|branch| format!("{} = {}", branch.title, of(&branch.schema)))
            .collect::<Vec<_>>()
            .join(" | "),
        FieldKind::Enum(choices) => choices
            .iter()
            .map(|choice| choice.title.as_deref().unwrap_or(&choice.json))
            .collect::<Vec<_>>()
            .join("/"),
        kind => kind.name().to_owned(),
    };
    if schema.nullable {
        format!("{kind}?")
    } else {
        kind
    }
}

/// Whether it can be sent as it is.
fn is_valid(form: &Form) -> bool {
    form.syntax.is_none() && form.checked().problems.is_empty()
}

#[test]
fn every_shape_of_schema_has_a_control() {
    for (property, expected) in [
        (r#"{"type":["string","null"]}"#, "string?"),
        (
            r#"{"anyOf":[{"type":"boolean"},{"type":"null"}]}"#,
            "boolean?",
        ),
        (
            r#"{"type":["string","integer"]}"#,
            "string = string | integer = integer",
        ),
        (r#"{"const":"x"}"#, r#""x""#),
        (
            r#"{"oneOf":[{"const":1,"title":"One"},{"const":2,"title":"Two"},{"type":"null"}]}"#,
            "One/Two?",
        ),
        (
            r#"{"type":"array","items":{"type":"object","properties":{"a":{"type":"number"}},"required":["a"]}}"#,
            "[{a!: number}]",
        ),
        (
            r#"{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"items":false}"#,
            "(string, integer)",
        ),
        (
            r#"{"type":"array","items":[{"type":"string"}],"additionalItems":{"type":"boolean"}}"#,
            "(string, boolean)",
        ),
        (
            r#"{"type":"object","additionalProperties":{"type":"number"}}"#,
            "{*: number}",
        ),
        (
            r#"{"allOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"b":{"type":"integer"}},"required":["b"]}]}"#,
            "{a: string, b!: integer}",
        ),
        (
            r#"{"allOf":[{"type":"number"},{"type":"integer","minimum":1}]}"#,
            "integer",
        ),
        (
            r##"{"$ref":"#/$defs/node"}"##,
            "{name!: string, next: {name!: string, next: {name!: …, next: …}}}",
        ),
        (r##"{"$ref":"#/$defs/a%20b%25"}"##, "integer"),
        (r##"{"$ref":"#here"}"##, "boolean"),
        (r#"{"$ref":"https://example.com/x"}"#, "JSON"),
        (r#"{"type":"string","not":{"const":"a"}}"#, "JSON"),
        (r#"{"type":"object"}"#, "JSON"),
        ("true", "JSON"),
        (
            r##"{"oneOf":[{"properties":{"kind":{"const":"card"},"number":{"type":"string"}},"required":["kind"]},
                {"properties":{"kind":{"const":"cash"}},"required":["kind"]},{"$ref":"#/$defs/node"}]}"##,
            r#"Option 1 = {kind!: "card", number: string} | Option 2 = {kind!: "cash"} | node = {name!: string, next: {name!: …, next: …}}"#,
        ),
        (
            r##"{"type":"object","properties":{"id":{"type":"string"}},"oneOf":[{"properties":{"kind":{"const":"card"}}},{"properties":{"kind":{"const":"cash"}}}]}"##,
            r#"card = {id: string, kind: "card"} | cash = {id: string, kind: "cash"}"#,
        ),
    ] {
        assert_eq!(control(property), expected, "{property}");
    }
}

#[test]
fn what_comes_back_is_what_was_read() {
    for (property, value) in [
        (
            r##"{"$ref":"#/$defs/node"}"##,
            r#"{"name":"a","next":{"name":"b","next":{"name":"c"}},"more":[1.0]}"#,
        ),
        (
            r#"{"type":"array","items":{"type":"object","properties":{"a":{"type":["number","null"]}}}}"#,
            r#"[{"a":1e3},{},{"a":null},{"b":""},5]"#,
        ),
        (
            r#"{"type":"object","additionalProperties":{"type":"array","items":{"type":"string"}}}"#,
            r#"{"x y":["a",""],"z":[]}"#,
        ),
        (
            r#"{"prefixItems":[{"type":"string"},{"type":"integer"}]}"#,
            r#"["a",1,{"beyond":2}]"#,
        ),
        (
            r#"{"oneOf":[{"properties":{"kind":{"const":"card"},"n":{"type":"string"}}},{"properties":{"kind":{"const":"cash"},"n":{"type":"integer"}}}]}"#,
            r#"{"kind":"cash","n":20}"#,
        ),
        (r#"{"type":["string","integer"]}"#, "5"),
        (r#"{"type":["string","integer"]}"#, r#""5""#),
    ] {
        let mut form = form_with(property);
        form.set_text(&format!(r#"{{"f":{value}}}"#));
        let read = form.members.named[0].clone();
        assert!(!matches!(read, Value::Json(_)), "{property}: {read:?}");
        form.set_field(0, read);
        assert_eq!(&*form.text, format!(r#"{{"f":{value}}}"#), "{property}");
    }
}

#[test]
fn what_is_added_fits_its_schema() {
    for property in [
        r##"{"$ref":"#/$defs/node"}"##,
        r#"{"type":"array","minItems":2,"items":{"type":"object","required":["a","b"],"properties":{"a":{"type":"integer","minimum":3},"b":{"enum":["x","y"]}}}}"#,
        r#"{"oneOf":[{"properties":{"kind":{"const":"card"}},"required":["kind"]},{"properties":{"kind":{"const":"cash"}},"required":["kind"]}]}"#,
        r#"{"type":"object","required":["deep"],"properties":{"deep":{"type":"object","required":["on"],"properties":{"on":{"type":"boolean"}}}}}"#,
        r#"{"prefixItems":[{"type":"string"},{"type":["integer","null"]}],"items":false}"#,
    ] {
        let mut form = form_with(property);
        let first = Value::first(&form.schemas, form.schemas.root()[0].schema);
        form.set_field(0, first);
        assert_eq!(form.checked().problems, [], "{property}: {}", form.text);
    }
}

#[test]
fn a_type_that_requires_itself_ends() {
    let form = form_with(r##"{"$ref":"#/$defs/loop","$defs":{}}"##);
    assert_eq!(
        form.schemas.get(form.schemas.root()[0].schema).kind,
        FieldKind::Json
    );
    let schema = r##"{"properties":{"f":{"$ref":"#/$defs/l"}},"$defs":{"l":{"type":"object","required":["l"],"properties":{"l":{"$ref":"#/$defs/l"}}},"m":{"$ref":"#/$defs/m"}}}"##;
    let form = form_of(schema);
    let first = Value::first(&form.schemas, form.schemas.root()[0].schema);
    assert!(
        first
            .json(&form.schemas, form.schemas.root()[0].schema)
            .unwrap()
            .len()
            < 200
    );
}

#[test]
fn who_writes_json_begins_with_what_is_required() {
    let mut form = form_of(
        r#"{"required":["id","to"],"properties":{"id":{"type":"integer","minimum":7},"to":{"required":["name"],"properties":{"name":{"type":"string","default":"Ada"}}},"more":{}}}"#,
    );
    form.set_mode(FormMode::Json);
    assert_eq!(
        &*form.text,
        "{\n  \"id\": 7,\n  \"to\": {\n    \"name\": \"Ada\"\n  }\n}"
    );
    assert!(is_valid(&form));
    // What is typed stays.
    form.set_text(r#"{"id":1}"#);
    form.set_mode(FormMode::Form);
    form.set_mode(FormMode::Json);
    assert_eq!(&*form.text, "{\n  \"id\": 1\n}");
}

#[test]
fn what_is_half_typed_costs_nothing_else() {
    let mut form = form();
    form.set_text(r#"{"id":5,"beyond":{"a":[1.10]}}"#);
    form.set_field(0, Value::Json("-".into()));
    assert!(form.syntax.is_some() && form.members.is_unfinished());
    assert_eq!(
        form.problem_at("/id", &form.members.named[0], true),
        Some("not a JSON value")
    );
    form.set_field(0, Value::Json("-1".into()));
    assert_eq!(&*form.text, r#"{"id":-1,"beyond":{"a":[1.10]}}"#);
    assert!(form.syntax.is_none());
}

#[test]
fn unset_null_and_empty_differ_and_spelling_stays() {
    let mut form = form();
    form.set_field(0, Value::Json("1e3".into()));
    assert_eq!(&*form.text, r#"{"id":1e3}"#);
    form.set_field(1, Value::Text(String::new()));
    assert_eq!(&*form.text, r#"{"id":1e3,"term":""}"#);
    form.set_field(1, Value::Null);
    form.set_field(2, Value::Items(vec![Value::Text("a".into())]));
    assert_eq!(&*form.text, r#"{"id":1e3,"term":null,"tags":["a"]}"#);
}

#[test]
fn text_and_fields_stay_in_step() {
    let mut form = form();
    form.set_text(r#"{ "other": 1.10, "id": 7, "term": "x" }"#);
    assert_eq!(
        form.members.named[..2],
        [Value::Json("7".into()), Value::Text("x".into())]
    );
    form.set_field(1, Value::Unset);
    assert_eq!(&*form.text, r#"{"id":7,"other":1.10}"#);
}

#[test]
fn what_breaks_the_schema_stands_at_its_place() {
    let mut form = form();
    let words = |form: &Form| {
        form.checked()
            .problem_at("/id", &form.members.named[0], true)
            .map(str::to_owned)
    };
    assert_eq!(
        (words(&form), form.has_problem()),
        (None, false),
        "nobody is blamed for what is not typed yet"
    );
    form.tries = 1;
    assert_eq!(
        (words(&form).as_deref(), form.checked().has_problem()),
        (Some("required"), true)
    );
    form.set_field(0, Value::Json("501".into()));
    assert!(words(&form).is_some() && !is_valid(&form));
    form.set_field(0, Value::Json("5".into()));
    assert!(is_valid(&form), "{:?}", form.problems);
    // What cannot be checked can be sent.
    let unchecked = Form::new(Some(&Bytes::from_static(b"null"))).checked();
    assert!(is_valid(&unchecked) && unchecked.unchecked.is_some_and(|why| why.contains("null")));
    form.set_text("{\n  \"id\": }");
    assert_eq!(
        form.syntax
            .as_ref()
            .map(|(_, line, column)| (*line, *column)),
        Some((2, 9))
    );
    assert_eq!(
        form.members.named[0],
        Value::Json("5".into()),
        "kept while the text is unfinished"
    );

    let mut nested = form_with(
        r#"{"type":"array","items":{"type":"object","properties":{"price":{"type":"number"}}}}"#,
    );
    nested.set_text(r#"{"f":[{},{"price":"x"}]}"#);
    let nested = nested.checked();
    let whole = &nested.members.named[0];
    assert_eq!(nested.problem_at("/f", whole, false), None);
    assert!(nested.problem_at("/f", whole, true).is_some());
    assert!(
        nested
            .problem_at("/f/1/price", &Value::Text("x".into()), false)
            .is_some()
    );
}

/// The input schemas of public servers, without what they say to people.
fn public_schemas() -> Vec<(String, String, Bytes)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("crates/loupe-analysis/tests/data/schemas");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let mut schemas = Vec::new();
    for file in files {
        let doc = Doc::parse(std::fs::read(&file).unwrap().into());
        for tool in doc.root().unwrap().children() {
            let name = tool
                .get("name")
                .and_then(|name| name.as_str())
                .unwrap()
                .into_owned();
            schemas.push((
                file.file_stem().unwrap().display().to_string(),
                name,
                tool.get("inputSchema").unwrap().raw_bytes(),
            ));
        }
    }
    schemas
}

#[test]
fn public_servers_have_controls_for_what_they_take() {
    let (mut all, mut as_json) = (0, Vec::new());
    for (server, tool, schema) in public_schemas() {
        let form = Form::new(Some(&schema));
        for schema in form.schemas.iter() {
            let FieldKind::Object { properties, .. } = &schema.kind else {
                continue;
            };
            all += properties.len();
            let is_json =
                |property: &&Property| form.schemas.get(property.schema).kind == FieldKind::Json;
            as_json.extend(
                properties
                    .iter()
                    .filter(is_json)
                    .map(|property| format!("{server} {tool} {}", property.name)),
            );
        }
    }
    assert!(
        all > 1_000 && as_json.len() * 20 <= all,
        "{} of {all} are JSON to type: {as_json:#?}",
        as_json.len()
    );
}

#[test]
fn what_the_form_begins_with_fits_the_schemas_of_public_servers() {
    let mut wrong = Vec::new();
    let mut made = 0;
    for (server, tool, schema) in public_schemas() {
        let mut form = Form::new(Some(&schema));
        let fields: Vec<_> = form
            .schemas
            .root()
            .iter()
            .map(|property| property.schema)
            .collect();
        for (at, id) in fields.into_iter().enumerate() {
            let value = Value::first(&form.schemas, id);
            form.set_field(at, value);
            made += 1;
        }
        let form = form.checked();
        let made_text = Doc::parse(form.text.as_bytes().to_vec().into());
        // What is the user's to type is not made up.
        let is_blank = |pointer: &str| {
            made_text
                .at(pointer)
                .is_some_and(|node| node.raw() == b"\"\"")
        };
        let problems = form
            .problems
            .iter()
            .filter(|(pointer, _)| !is_blank(pointer));
        let problems =
            problems.map(|(pointer, message)| format!("{server} {tool} {pointer}: {message}"));
        wrong.extend(problems);
        assert!(
            form.syntax.is_none() && form.unchecked.is_none(),
            "{server} {tool}: {:?} {:?} {}",
            form.syntax,
            form.unchecked,
            form.text
        );
    }
    assert!(made > 700, "{made}");
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn the_constants_of_a_chosen_branch_are_filled_in() {
    let schema = r#"{"type":"object","properties":{"to":{"oneOf":[
        {"type":"object","properties":{"by":{"const":"mail"},"address":{"type":"string"}},"required":["address"]},
        {"type":"object","properties":{"by":{"const":"sms"},"phone":{"type":"string"}},"required":["phone"]}]}}}"#;
    let schema = Bytes::from(schema);
    let form = Form::new(Some(&schema));
    let FieldKind::Union(branches) = &form.schemas.get(form.schemas.root()[0].schema).kind else {
        panic!("a union")
    };
    let sms = Value::first_of_branch(&form.schemas, branches[1].schema);
    assert_eq!(
        sms.json(&form.schemas, branches[1].schema).as_deref(),
        Some(r#"{"by":"sms","phone":""}"#)
    );
}

#[test]
fn json_arguments_are_spread_over_lines_and_numbers_stay_as_they_are_written() {
    let mut form = Form::new(None);
    form.set_text(r#"{"id":6201873345120998417,"n":[1.0]}"#);
    form.set_mode(FormMode::Json);
    assert_eq!(
        &*form.text,
        "{\n  \"id\": 6201873345120998417,\n  \"n\": [\n    1.0\n  ]\n}"
    );
}

#[test]
fn a_form_follows_a_new_schema_and_keeps_what_was_typed() {
    let [old, new] = [
        r#"{"properties":{"a":{}}}"#,
        r#"{"properties":{"a":{},"b":{}},"required":["b"]}"#,
    ];
    let [old, new] = [old, new].map(|text| Bytes::from_static(text.as_bytes()));
    let mut form = Form::new(Some(&old));
    form.set_text(r#"{"a":1}"#);
    form.follow(Some(&new));
    assert_eq!(
        (
            &*form.text,
            form.fields().count(),
            form.checked().problems.len()
        ),
        (r#"{"a":1}"#, 2, 1)
    );
}
