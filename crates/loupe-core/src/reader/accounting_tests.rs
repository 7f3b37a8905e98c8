//! Every byte of a text that is read is a label, a value, layout or extra text.

use proptest::prelude::*;

use super::*;

fn blocks(text: &str) -> Vec<TextBlock<'_>> {
    vec![TextBlock {
        block: 0,
        text,
        whole: None,
    }]
}

/// The reader, the data, the labels and the extra text.
fn account(text: &str) -> Option<(&'static str, String, Vec<&str>, Vec<&str>)> {
    let blocks = blocks(text);
    let Found { reader, data, .. } = read(&blocks)?;
    let extra = data.extra(&blocks);
    check_bytes(text, &data, &extra);
    let slices = |ranges: &[(usize, Range<usize>)]| {
        ranges
            .iter()
            .map(|(_, range)| &text[range.clone()])
            .collect()
    };
    Some((
        reader.id,
        data.doc.root()?.raw_text().into_owned(),
        slices(&data.labels),
        slices(&extra),
    ))
}

/// Labels, values and extra text do not overlap, each in order; what was covered is the text without the extra.
#[track_caller]
fn check_bytes(text: &str, data: &TextData, extra: &[(usize, Range<usize>)]) {
    let mut owner = vec!['.'; text.len()];
    let mut claim = |range: Range<usize>, by: char| {
        assert!(
            text.get(range.clone()).is_some(),
            "{range:?} is no part of {text:?}"
        );
        for at in range {
            let is_shared_value = owner[at] == 'v' && by == 'v';
            assert!(
                owner[at] == '.' || is_shared_value,
                "{by} and {} share byte {at} of {text:?}",
                owner[at]
            );
            owner[at] = by;
        }
    };
    data.segments
        .iter()
        .for_each(|segment| claim(segment.text(), 'v'));
    data.continuations
        .iter()
        .for_each(|(_, range)| claim(range.clone(), 'v'));
    data.labels
        .iter()
        .for_each(|(_, range)| claim(range.clone(), 'l'));
    extra
        .iter()
        .for_each(|(_, range)| claim(range.clone(), 'e'));
    for ranges in [&data.labels[..], extra, &data.covered] {
        assert!(
            ranges.iter().all(|(_, range)| !range.is_empty()),
            "{ranges:?}"
        );
        assert!(
            ranges.is_sorted_by(|a, b| a.1.end <= b.1.start),
            "{ranges:?} of {text:?}"
        );
    }
    data.covered
        .iter()
        .for_each(|(_, range)| assert!(owner[range.clone()].iter().all(|by| *by != 'e')));
    let covered: usize = data.covered.iter().map(|(_, range)| range.len()).sum();
    assert_eq!(
        covered + extra.iter().map(|(_, range)| range.len()).sum::<usize>(),
        text.len()
    );
}

#[track_caller]
fn check(text: &str, reader: &str, data: &str, labels: &[&str], extra: &[&str]) {
    let found = account(text);
    let found = found
        .as_ref()
        .map(|(reader, data, labels, extra)| (*reader, data.as_str(), &labels[..], &extra[..]));
    assert_eq!(found, Some((reader, data, labels, extra)), "{text}");
}

#[test]
fn labels_and_extra_text_of_each_layout() {
    check(
        "| a | b |\n|---|---|\n| 1 | x | 99817 |\n| 2 | y | 55512 |",
        "markdown-table",
        r#"[{"a":1,"b":"x"},{"a":2,"b":"y"}]"#,
        &["a", "b"],
        &["99817", "55512"],
    );
    check(
        "a | b\n---|---\n1 | x\n2 | y\n",
        "markdown-table",
        r#"[{"a":1,"b":"x"},{"a":2,"b":"y"}]"#,
        &["a", "b"],
        &[],
    );
    check(
        "[{'a': 1, 'b': 'x'}, {'a': 2, 'b': 'y'}]  # 991 more",
        "python",
        r#"[{"a":1,"b":"x"},{"a":2,"b":"y"}]"#,
        &["a", "b", "a", "b"],
        &["# 991 more"],
    );
    check(
        "items:\n  - a: 1\n    b: x\n# 991 rows were dropped",
        "yaml",
        r#"{"items":[{"a":1,"b":"x"}]}"#,
        &["items", "a", "b"],
        &["# 991 rows were dropped"],
    );
    check(
        "<r><!-- expires 2031-05-05 --><i><a>1</a><b>x</b></i><i><a>2</a><b>y</b></i></r>",
        "xml",
        r#"[{"a":1,"b":"x"},{"a":2,"b":"y"}]"#,
        &["r", "i", "a", "b", "i", "a", "b"],
        &["<!-- expires 2031-05-05 -->"],
    );
    check(
        "<?xml version=\"1.0\"?>\n<r><i id=\"7\" at='x'>a <!-- c -->b</i></r>",
        "xml",
        r#"{"i":{"id":7,"at":"x","text":"a b"}}"#,
        &["r", "i", "id", "at"],
        &["<!-- c -->"],
    );
    check(
        "[prod]\nhost = h1\nport = 81\n\n[test]\nhost = h2\nport = 82",
        "key-value",
        r#"[{"host":"h1","port":81},{"host":"h2","port":82}]"#,
        &["host", "port", "host", "port"],
        &["[prod]", "[test]"],
    );
    check(
        "<div><h2>Open</h2><table><tr><td>1</td><td>2</td></tr></table><h2>Shut</h2><table><tr><td>3</td><td>4</td></tr></table></div>",
        "xml",
        r#"[{"tr":[1,2]},{"tr":[3,4]}]"#,
        &["div", "h2", "h2"],
        &["Open", "Shut"],
    );
    check(
        "Rain, 40% sure.\n\n```json\n{\"t\": 4}\n```\n…\n",
        "fences",
        "{\"t\": 4}",
        &[],
        &["Rain, 40% sure.", "…"],
    );
    check(
        "items[2]{id,by{name}}:\n  1,Ada\n  2,\"B, b\"\n# all\nn: 2\ntags[2]: x,y",
        "toon",
        r#"{"items":[{"id":1,"by":{"name":"Ada"}},{"id":2,"by":{"name":"B, b"}}],"n":2,"tags":["x","y"]}"#,
        &["items", "id", "by", "name", "n", "tags"],
        &["# all"],
    );
    check(
        "1. **Ann**\n   - Age: 5\n2. **Bob**\n   - Age: 6\n7. **Cid**\n   - Age: 7\n",
        "list",
        r#"[{"title":"Ann","Age":5},{"title":"Bob","Age":6},{"title":"Cid","Age":7}]"#,
        &["Age", "Age", "Age"],
        &["7."],
    );
    check(
        "Found 2 users:\n\n1. Ann Lee - ann@x.org - admin\n2. Bob Ray - bob@x.org - user\n\nShowing 2 of 40.",
        "list",
        r#"[{"part1":"Ann Lee","part2":"ann@x.org","part3":"admin"},{"part1":"Bob Ray","part2":"bob@x.org","part3":"user"}]"#,
        &[],
        &["Found 2 users:", "Showing 2 of 40."],
    );
    check(
        "📄 src/a.rs:27 - a\n📄 src/b.rs:3 - b\n📄 src/b.rs:9 - c\nPage 1 of 3",
        "lines",
        r#"[{"part1":"src/a.rs","part2":27,"part3":"a"},{"part1":"src/b.rs","part2":3,"part3":"b"},{"part1":"src/b.rs","part2":9,"part3":"c"}]"#,
        &[],
        &["Page 1 of 3"],
    );
    check(
        "level=info ms=5\nlevel=warn ms=6\nlevel=info ms=7\n",
        "lines",
        r#"[{"level":"info","ms":5},{"level":"warn","ms":6},{"level":"info","ms":7}]"#,
        &["level", "ms", "level", "ms", "level", "ms"],
        &[],
    );
    check(
        "Package   Version\n--------- -------\nanyio     4.16.0\ncffi      2.1.1\n",
        "columns",
        r#"[{"Package":"anyio","Version":"4.16.0"},{"Package":"cffi","Version":"2.1.1"}]"#,
        &["Package", "Version"],
        &[],
    );
    check(
        "## Ann\n\n- **Age:** 5\n- City: Oslo\n\n_Use it_\n\n## Bob\n\n- **Age:** 6\n- City: Rome\n",
        "headings",
        r#"[{"title":"Ann","Age":5,"City":"Oslo"},{"title":"Bob","Age":6,"City":"Rome"}]"#,
        &["Age", "City", "Age", "City"],
        &["_Use it_"],
    );
}

/// The head of a column that no row has is not in the data.
#[test]
fn comments_are_not_read() {
    check(
        "<r><a>é<!-- c --> </a><b>y</b></r>",
        "xml",
        r#"{"a":"é","b":"y"}"#,
        &["r", "a", "b"],
        &["<!-- c -->"],
    );
    check(
        "\u{feff}id,name\n1,Ann\n2,Bob\n",
        "csv",
        r#"[{"id":1,"name":"Ann"},{"id":2,"name":"Bob"}]"#,
        &["id", "name"],
        &[],
    );
    for text in [
        "<!--\nid: 7\nstatus: open\ncity: Oslo\n-->",
        "<!--\n| id | name |\n|---|---|\n| 1 | Ann |\n| 2 | Bob |\n-->",
        "# Draft\n\n<!--\n- **id:** 7\n- **status:** open\n- **city:** Oslo\n-->",
        ";id = 7\n;active = true\n;city = Oslo",
        "!id: 7\n!active: true\n!city: Oslo",
        "-id: 7\n-active: true\n-city: Oslo",
    ] {
        assert_eq!(account(text), None, "{text}");
    }
}

#[test]
fn commits_with_labels_in_their_messages_are_no_one_record() {
    let text = "Commit history:\nCommit: 71d3e1a\nAuthor: Ann\nMessage: Merge\n\n\nCommit: 931bf7b\nAuthor: Ann\nMessage: Fix\n\nFixes: #12\nSigned-off-by: Ann\n\n- bullet one\n- bullet two\n\n\nCommit: 6a2ba52\nAuthor: Ann\nMessage: Second\n";
    let data = account(text).map(|(_, data, ..)| data).unwrap_or_default();
    assert!(!data.contains("(2)"), "{data}");
}

#[test]
fn two_labels_in_a_line_are_no_one_value() {
    check(
        "**Execution Time:** 1.01 ms | **Rows Returned:** 2\n\n### Record 1\n- **id**: `1`\n- **name**: `Ann`\n\n### Record 2\n- **id**: `2`\n- **name**: `Bob`\n",
        "headings",
        r#"[{"title":"Record 1","id":1,"name":"Ann"},{"title":"Record 2","id":2,"name":"Bob"}]"#,
        &["id", "name", "id", "name"],
        &["**Execution Time:** 1.01 ms | **Rows Returned:** 2"],
    );
}

#[test]
fn heads_without_cells_are_extra() {
    let table = "| a | b | of 99 |\n|---|---|---|\n| 1 | x |\n";
    check(
        table,
        "markdown-table",
        r#"[{"a":1,"b":"x"}]"#,
        &["a", "b"],
        &["of 99"],
    );
    let rows = r#"[{"a":1,"b":2,"c":3},{"a":4,"b":5,"c":6}]"#;
    check(
        "a,b,c,of 99\n1,2,3\n4,5,6\n",
        "csv",
        rows,
        &["a", "b", "c"],
        &["of 99"],
    );
}

#[test]
fn a_drawn_tree_is_no_columns() {
    for text in [
        ".\n├── a.json\n│   └── b\n├── c.json\n│   └── d\n└── e.json\n",
        "src\n|-- a.rs   12\n|   `-- b   3\n|-- c.rs   44\n`-- d.rs   5\n",
        "├── a.json\n│   ├── b: 5\n│   └── c: 6\n└── d: 7\n",
    ] {
        assert_eq!(account(text), None, "{text}");
    }
}

#[test]
fn yaml_below_a_comment() {
    check(
        "# page 91 of 4711\n- id: 1\n  name: x\n- id: 2\n  name: y\n",
        "yaml",
        r#"[{"id":1,"name":"x"},{"id":2,"name":"y"}]"#,
        &["id", "name", "id", "name"],
        &["# page 91 of 4711"],
    );
    check(
        "# page 9\n- id: 1\n  name: x\n",
        "yaml",
        r#"[{"id":1,"name":"x"}]"#,
        &["id", "name"],
        &["# page 9"],
    );
    check(
        "# made by x\nitems:\n  - id: 1 # first\n    note: |2\n       a\n      b\n",
        "yaml",
        r#"{"items":[{"id":1,"note":" a\nb\n"}]}"#,
        &["items", "id", "note"],
        &["# made by x", "# first"],
    );
}

/// A comment behind a value is no reason for a layout that would take it for the value's.
#[test]
fn yaml_with_comments() {
    check(
        "name: Ann\ntags:\n  - a\n  - b # second, and the last one\n",
        "yaml",
        r#"{"name":"Ann","tags":["a","b"]}"#,
        &["name", "tags"],
        &["# second, and the last one"],
    );
}

#[test]
fn several_documents_of_yaml_are_a_list() {
    check(
        "---\na: 1\nb:\n- x\n---\na: 2\nb: []\n",
        "yaml",
        r#"[{"a":1,"b":["x"]},{"a":2,"b":[]}]"#,
        &["a", "b", "a", "b"],
        &[],
    );
    check(
        "a:\n  b: 1\n---\na:\n  b: 2\n---\n",
        "yaml",
        r#"[{"a":{"b":1}},{"a":{"b":2}}]"#,
        &["a", "b", "a", "b"],
        &[],
    );
}

#[test]
fn two_records_never_merge() {
    let data = |text: &str| account(text).map(|(_, data, ..)| data);
    let two = |first: &str, second: &str| Some(format!("[{first},{second}]"));
    let lacks = "host: h1\nport: 81\nuser: a\n\nport: 82\nuser: b\n";
    assert_eq!(
        data(lacks),
        two(
            r#"{"host":"h1","port":81,"user":"a"}"#,
            r#"{"port":82,"user":"b"}"#
        )
    );
    let order = "host: h1\nport: 81\n---\nport: 82\nhost: h2\n";
    assert_eq!(
        data(order),
        two(r#"{"host":"h1","port":81}"#, r#"{"port":82,"host":"h2"}"#)
    );
    let section = "[a]\nhost: h1\nport: 81\n[b]\nport: 82\nhost: h2\n";
    assert_eq!(
        data(section),
        two(r#"{"host":"h1","port":81}"#, r#"{"port":82,"host":"h2"}"#)
    );
    let heading = "## A\nhost: h1\nport: 81\n\nport: 82\nhost: h2\n";
    assert_eq!(
        data(heading),
        two(r#"{"host":"h1","port":81}"#, r#"{"port":82,"host":"h2"}"#)
    );
    assert_eq!(
        data("host: h1\nport: 81\n\nuser: a\nage: 5\n"),
        Some(r#"{"host":"h1","port":81,"user":"a","age":5}"#.to_owned())
    );
}

#[test]
fn notes_below_csv() {
    check(
        "id,a,b\n1,NULL,\"\"\n2,\"NULL\",\n3,\"x \"\"y\"\"\",z\n\n3 rows. An unquoted NULL is NULL.\n",
        "csv",
        r#"[{"id":1,"a":"NULL","b":null},{"id":2,"a":"NULL","b":null},{"id":3,"a":"x \"y\"","b":"z"}]"#,
        &["id", "a", "b"],
        &["3 rows. An unquoted NULL is NULL."],
    );
    assert_eq!(account("id,name,city\n\nNo rows matched.\n"), None);
}

#[test]
fn what_the_format_xml_writes_around_all_is_layout() {
    let labels = |text| account(text).unwrap().2;
    assert_eq!(
        labels("<result>\n  <a>1</a>\n  <b>x</b>\n</result>"),
        ["a", "b"]
    );
    assert_eq!(
        labels("<invoice>\n  <a>1</a>\n  <b>x</b>\n</invoice>"),
        ["invoice", "a", "b"]
    );
}

#[test]
fn other_tables_are_named() {
    let text = "## People\n\n| id | name |\n|---|---|\n| 1 | Ann |\n| 2 | Bob |\n\n## Cities\n\n| city |\n|---|\n| Oslo |\n\nPage 1 of 3\n";
    let found = read(&blocks(text)).unwrap();
    let others = &found.data.others;
    assert_eq!(others.len(), 1);
    assert_eq!(
        (&others[0].head[..], others[0].rows),
        (&["city".to_owned()][..], 1)
    );
    assert_eq!(&text[others[0].range.clone()], "| city |\n|---|\n| Oslo |");
    let (.., extra) = account(text).unwrap();
    assert_eq!(
        extra,
        ["## People", "## Cities", "city", "Oslo", "Page 1 of 3"]
    );
    // Each is read where it is asked for.
    let second = read_by(by_id("markdown-table-2").unwrap(), &blocks(text)).unwrap();
    assert_eq!(
        second.data.doc.root().unwrap().raw_text(),
        r#"[{"city":"Oslo"}]"#
    );
    assert_eq!(second.data.others[0].head, ["id", "name"]);
    assert!(read_by(by_id("markdown-table-3").unwrap(), &blocks(text)).is_none());
}

#[test]
fn a_table_in_a_report_is_data() {
    let text = "# Weekly report\n\nThe team shipped the new parser on Tuesday.\n\n| id | name |\n|---|---|\n| 1 | Ann |\n| 2 | Bob |\n| 3 | Cid |\n\nPlease send questions to the list before Friday.\n";
    let (reader, data, ..) = account(text).unwrap();
    assert_eq!(
        (reader, data.as_str()),
        (
            "markdown-table",
            r#"[{"id":1,"name":"Ann"},{"id":2,"name":"Bob"},{"id":3,"name":"Cid"}]"#
        )
    );
    let two_rows = text.replace("| 3 | Cid |\n", "");
    assert_eq!(account(&two_rows), None);
}

#[test]
fn other_blocks_are_extra() {
    let blocks =
        [(0, "Found one:"), (1, "{\"id\": 1}"), (3, "- Done (5 s).")].map(|(block, text)| {
            TextBlock {
                block,
                text,
                whole: None,
            }
        });
    let data = read(&blocks).unwrap().data;
    assert_eq!(data.extra(&blocks), [(0, 0..10), (3, 2..13)]);
    assert_eq!(data.covered, [(1, 0..9)]);
}

/// A layout that records are written in.
type Layout = fn(&[[String; 3]]) -> String;

const LAYOUTS: [(&str, Layout, Option<&str>); 13] = [
    (
        "lines",
        |rows| {
            let rows = rows
                .iter()
                .map(|[id, name, city]| format!("[{id}] {name} - {city}\n"));
            rows.collect()
        },
        None,
    ),
    (
        "logfmt",
        |rows| {
            let rows = rows
                .iter()
                .map(|[id, name, city]| format!("id={id} name=\"{name}\" city=\"{city}\"\n"));
            rows.collect()
        },
        None,
    ),
    (
        "markdown-table",
        |rows| {
            let rows = rows
                .iter()
                .map(|[id, name, city]| format!("| {id} | {name} | {city} |\n"));
            format!(
                "| id | name | city |\n|---|---|---|\n{}",
                rows.collect::<String>()
            )
        },
        None,
    ),
    (
        "bare table",
        |rows| {
            let rows = rows
                .iter()
                .map(|[id, name, city]| format!("{id} | {name} | {city}\n"));
            format!(
                "id | name | city\n---|---|---\n{}",
                rows.collect::<String>()
            )
        },
        None,
    ),
    (
        "key-value",
        |rows| {
            rows.iter()
                .map(|[id, name, city]| format!("id: {id}\nname: {name}\ncity: {city}\n\n"))
                .collect()
        },
        None,
    ),
    (
        "headings",
        |rows| {
            rows.iter()
                .map(|[id, name, city]| {
                    format!("## {name}\n\n- **id:** {id}\n- **city:** {city}\n\n")
                })
                .collect()
        },
        None,
    ),
    (
        "list",
        |rows| {
            let items = rows.iter().enumerate().map(|(at, [id, name, city])| {
                format!("{}. **{name}**\n   - id: {id}\n   - city: {city}\n", at + 1)
            });
            items.collect()
        },
        None,
    ),
    (
        "columns",
        |rows| {
            let rows = rows
                .iter()
                .map(|[id, name, city]| format!("{id:<8}{name:<30}{city}\n"));
            format!(
                "{:<8}{:<30}city\n{}",
                "id",
                "name",
                rows.collect::<String>()
            )
        },
        None,
    ),
    (
        "csv",
        |rows| {
            let rows = rows
                .iter()
                .map(|[id, name, city]| format!("{id},\"{name}\",{city}\n"));
            format!("id,name,city\n{}", rows.collect::<String>())
        },
        None,
    ),
    (
        "python",
        |rows| {
            let rows = rows.iter().map(|[id, name, city]| {
                format!("{{'id': {id}, 'name': '{name}', 'city': '{city}'}}")
            });
            format!("[{}]", rows.collect::<Vec<_>>().join(",\n"))
        },
        Some("#"),
    ),
    (
        "xml",
        |rows| {
            let rows = rows.iter().map(|[id, name, city]| {
                format!("<row id=\"{id}\">\n<name>{name}</name>\n<city>{city}</city>\n</row>\n")
            });
            format!(
                "<?xml version=\"1.0\"?>\n<rows>\n{}</rows>\n",
                rows.collect::<String>()
            )
        },
        None,
    ),
    (
        "yaml",
        |rows| {
            rows.iter()
                .map(|[id, name, city]| format!("- id: {id}\n  name: \"{name}\"\n  city: {city}\n"))
                .collect()
        },
        Some("#"),
    ),
    (
        "toon",
        |rows| {
            let lines = rows
                .iter()
                .map(|[id, name, city]| format!("  {id},{name},{city}\n"))
                .collect::<String>();
            format!("rows[{}]{{id,name,city}}:\n{lines}", rows.len())
        },
        None,
    ),
];

fn rows() -> impl Strategy<Value = Vec<[String; 3]>> {
    let word = prop_oneof![
        "[a-z]{3,9}",
        "[A-Z][a-z]{3,7} [A-Z][a-z]{2,8}",
        "[a-zé]{4,8}"
    ];
    prop::collection::vec((1..9_999_u32, word.clone(), word), 3..8).prop_map(|rows| {
        rows.into_iter()
            .map(|(id, name, city)| [id.to_string(), name, city])
            .collect()
    })
}

/// Whether each word of a sentence is in the extra text or in a value of the data.
fn is_kept(sentence: &str, data: &str, extra: &[&str]) -> bool {
    sentence
        .split(' ')
        .all(|word| data.contains(word) || extra.iter().any(|extra| extra.contains(word)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_is_accounted_for(rows in rows()) {
        for (layout, write, _) in LAYOUTS {
            let text = write(&rows);
            let Some((_, _, _, extra)) = account(&text) else { panic!("{layout} is not read: {text}") };
            prop_assert!(extra.is_empty(), "{layout}: {extra:?} of {text}");
        }
    }

    #[test]
    fn sentences_are_extra(rows in rows(), sentence in "[A-Z][a-z]{2,6} [a-z]{3,8} [0-9]{2,5} [a-z]{3,8}[.!]?", line in 0..40_usize, kind in 0..4_usize) {
        for (layout, write, comment) in LAYOUTS {
            let text = write(&rows);
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            let at = line % lines.len();
            match kind {
                0 => lines.insert(at, sentence.clone()),
                1 => lines.extend([String::new(), sentence.clone()]),
                2 => {
                    let comment = comment.unwrap_or(if layout == "xml" { "<!--" } else { "#" });
                    let end = if comment == "<!--" { " -->" } else { "" };
                    lines[at] += &format!(" {comment} {sentence}{end}");
                }
                _ => match layout {
                    "markdown-table" => lines[at] += &format!(" {sentence} |"),
                    "bare table" => lines[at] += &format!(" | {sentence}"),
                    "csv" | "toon" => lines[at] += &format!(",{sentence}"),
                    "columns" => lines[at] += &format!("  {sentence}"),
                    _ => continue,
                },
            }
            let text = lines.join("\n");
            let Some((reader, data, labels, extra)) = account(&text) else { continue };
            let is_label = labels.iter().any(|label| label.contains(sentence.trim_end_matches(['.', '!'])));
            prop_assert!(is_label || is_kept(&sentence, &data, &extra), "{layout} read by {reader}: {data} and {extra:?} of\n{text}");
        }
    }

    #[test]
    fn any_text_is_accounted_for(parts in prop::collection::vec(prop_oneof!["[a-z]{1,4}", "[ -~]{1,3}", Just("\n".to_owned()), Just("| a | b |\n|---|---|\n".to_owned()), Just("- **a:** b\n".to_owned()), Just("a: 1\n".to_owned()), Just("  ".to_owned()), Just("é…✓ ".to_owned()), Just("<a b='c'>d</a>".to_owned()), Just("\"x\"\"y\",".to_owned())], 0..24)) {
        let text = parts.concat();
        let blocks = blocks(&text);
        for reader in READERS {
            if let Some(found) = read_by(reader, &blocks) {
                check_bytes(&text, &found.data, &found.data.extra(&blocks));
            }
        }
    }
}
