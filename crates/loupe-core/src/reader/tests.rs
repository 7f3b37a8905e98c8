//! What is read by which reader, and what is not.

use super::*;

fn blocks(text: &str) -> Vec<TextBlock<'_>> {
    vec![TextBlock {
        block: 0,
        text,
        whole: None,
    }]
}

/// The reader, the data and the share read in percent.
fn found(text: &str) -> Option<(&'static str, String, u64)> {
    let found = read(&blocks(text))?;
    Some((
        found.reader.id,
        found.data.doc.root()?.raw_text().into_owned(),
        (found.share * 100.0).round() as u64,
    ))
}

#[track_caller]
fn check(text: &str, reader: &str, data: &str) {
    let found = found(text);
    assert_eq!(
        found
            .as_ref()
            .map(|(reader, data, _)| (*reader, data.as_str())),
        Some((reader, data)),
        "{text}"
    );
    // Each value stands where it is said to stand.
    let blocks = blocks(text);
    let found = read(&blocks).unwrap();
    let doc = &found.data.doc;
    for node in (0..doc.len())
        .filter_map(|at| doc.node(at))
        .filter(|node| !node.is_container() && node.parent().is_some())
    {
        let (_, range) = found
            .data
            .source(node)
            .unwrap_or_else(|| panic!("{} has no place", node.pointer()));
        assert!(
            range.end <= text.len()
                && text.is_char_boundary(range.start)
                && text.is_char_boundary(range.end)
        );
    }
}

#[test]
fn json_in_every_place() {
    check("{\"a\": 1.0}", "json", "{\"a\": 1.0}");
    check(
        "{\"a\":1}\n{\"a\":2}\n",
        "json-lines",
        "[{\"a\":1},{\"a\":2}]",
    );
    check(
        "Rain.\n\n```json\n{\"t\":4}\n```\n\nThen:\n```json\n{\"t\":9}\n```\n",
        "fences",
        "[{\"t\":4},{\"t\":9}]",
    );
    check(
        "Result:\n```yaml\na: 1\nb: [x]\n```\n",
        "fences",
        "{\"a\":1,\"b\":[\"x\"]}",
    );
    check(
        "The result is {\"a\":[1]} as you see [1].",
        "json-in-text",
        "{\"a\":[1]}",
    );
    let two = [(0, "{\"id\":1}"), (2, " {\"id\":2}")].map(|(block, text)| TextBlock {
        block,
        text,
        whole: None,
    });
    let found = read(&two).unwrap();
    assert_eq!(
        (
            found.reader.id,
            found.data.doc.root().unwrap().raw_text().as_ref()
        ),
        ("json-blocks", "[{\"id\":1},{\"id\":2}]")
    );
    let second = found.data.doc.at("/1/id").unwrap();
    assert_eq!(found.data.source(second), Some((2, 7..8)));
}

#[test]
fn tables_and_labels() {
    check(
        "Found 2:\n\n| ID | Name |\n|---|---|\n| 1 | A \\| B |\n| 2 | `c` |\n",
        "markdown-table",
        r#"[{"ID":1,"Name":"A | B"},{"ID":2,"Name":"c"}]"#,
    );
    check(
        "| Field | Value |\n|---|---|\n| id | 7 |\n| open | true |\n",
        "markdown-table",
        r#"{"id":7,"open":true}"#,
    );
    check(
        "| Metric | Value |\n|---|---|\n| Stars | 7 |\n| Forks | 2 |\n",
        "markdown-table",
        r#"{"Stars":7,"Forks":2}"#,
    );
    let table =
        |name: &str, rows: &str| format!("### {name}\n\n| Field | Value |\n|---|---|\n{rows}\n");
    let rows = "| **Type** | Customer |\n| **Open** | 2 |\n";
    check(
        &format!(
            "## Results\n\n**Found**: 2\n\n{}---\n\n{}",
            table("Ann (ID: 1)", rows),
            table("Bob (ID: 2)", rows)
        ),
        "markdown-table",
        r#"{"Found":2,"records":[{"title":"Ann (ID: 1)","Type":"Customer","Open":2},{"title":"Bob (ID: 2)","Type":"Customer","Open":2}]}"#,
    );
    // No name comes again: one record, in parts.
    check(
        &(table("Name", "| id | 7 |\n") + &table("Address", "| city | Oslo |\n")),
        "markdown-table",
        r#"{"id":7,"city":"Oslo"}"#,
    );
    check(
        "size: 12\nisFile: true\nmodified: Mon Nov 23 2026 10:00:00\n",
        "key-value",
        r#"{"size":12,"isFile":true,"modified":"Mon Nov 23 2026 10:00:00"}"#,
    );
    check(
        "Commit history:\nCommit: a1\nAuthor: Ann\n\nCommit: b2\nAuthor: Bob\n",
        "key-value",
        r#"[{"Commit":"a1","Author":"Ann"},{"Commit":"b2","Author":"Bob"}]"#,
    );
    check(
        "- **Status:** open\n- **Price**: $5\n- 📅 Due: 2026-11-02\n",
        "key-value",
        r#"{"Status":"open","Price":"$5","Due":"2026-11-02"}"#,
    );
    check(
        "## Ann\n\n- **Age:** 5\n- City: Oslo\n\n## Bob\n\n- **Age:** 6\n- City: Rome\n",
        "headings",
        r#"[{"title":"Ann","Age":5,"City":"Oslo"},{"title":"Bob","Age":6,"City":"Rome"}]"#,
    );
}

#[test]
fn a_value_of_markdown_goes_on_in_the_next_line() {
    check(
        "- **Id:** 1\n- **Note:** red\napple\n- **Total:** 2",
        "key-value",
        r#"{"Id":1,"Note":"red\napple","Total":2}"#,
    );
    check(
        "**Bio**: Likes tea.\nAlso runs a bakery.\n**City**: Oslo\n\nUse it",
        "key-value",
        r#"{"Bio":"Likes tea.\nAlso runs a bakery.","City":"Oslo"}"#,
    );
    let orders = "## One\n\n- **Total:** 5\n- **Note:** red\n  apple\n\n## Two\n\n- **Total:** 6\n- **Note:** pear\n\n_Use it_";
    check(
        orders,
        "headings",
        r#"[{"title":"One","Total":5,"Note":"red\napple"},{"title":"Two","Total":6,"Note":"pear"}]"#,
    );
    // A title before the first label again, and a sentence after the last, do not belong to it.
    let orders = "Order 1\n- Total: 5\n- City: Oslo\nOrder 2\n- Total: 6\n- City: Rome\nOrder 3\n- Total: 7\n- City: Bonn\nUse `next` for more.";
    check(
        orders,
        "key-value",
        r#"[{"Total":5,"City":"Oslo"},{"Total":6,"City":"Rome"},{"Total":7,"City":"Bonn"}]"#,
    );
    // What begins something else does not belong to it.
    check(
        "- **Id:** 1\n- **Note:** red\n\napple\n",
        "key-value",
        r#"{"Id":1,"Note":"red"}"#,
    );
    check(
        "- **Id:** 1\n- **Note:** red\n```\napple\n```\n",
        "key-value",
        r#"{"Id":1,"Note":"red"}"#,
    );
}

#[test]
fn lists_and_lines() {
    check(
        "Found 3 issues:\n\n- #101 Crash on start, opened 2026-11-02 by ann, 4 comments\n- #102 Slow search, opened 2026-11-03 by bob, 1 comment\n- #103 Typo in README, opened 2026-11-04 by cid, 0 comments\n",
        "list",
        r##"[{"part1":"#101 Crash on start","part2":"opened 2026-11-02 by ann","part3":"4 comments"},{"part1":"#102 Slow search","part2":"opened 2026-11-03 by bob","part3":"1 comment"},{"part1":"#103 Typo in README","part2":"opened 2026-11-04 by cid","part3":"0 comments"}]"##,
    );
    check(
        "- [x] Buy milk\n- [ ] Call Ann\n",
        "tasks",
        r#"[{"done":true,"part1":"Buy milk"},{"done":false,"part1":"Call Ann"}]"#,
    );
    check(
        "1. **Ann**\n   - Age: 5\n2. **Bob**\n   - Age: 6\n",
        "list",
        r#"[{"title":"Ann","Age":5},{"title":"Bob","Age":6}]"#,
    );
    check(
        "[DIR] src\n[FILE] a b.md\n[FILE] c.md\n",
        "lines",
        r#"[{"part1":"DIR","part2":"src"},{"part1":"FILE","part2":"a b.md"},{"part1":"FILE","part2":"c.md"}]"#,
    );
    check(
        "[DIR] src                 \n[FILE] a.md             8.49 KB\n[FILE] b.md             1 B\n\nTotal: 2 files, 1 directories\nCombined size: 8.5 KB\n",
        "lines",
        r#"{"Total":"2 files, 1 directories","Combined size":"8.5 KB","records":[{"part1":"DIR","part2":"src"},{"part1":"FILE","part2":"a.md","part3":"8.49 KB"},{"part1":"FILE","part2":"b.md","part3":"1 B"}]}"#,
    );
    check(
        "## Pages\n0: about:blank [selected]\n1: https://example.com/\n2: https://example.org/\n",
        "lines",
        r#"[{"part1":0,"part2":"about:blank [selected]"},{"part1":1,"part2":"https://example.com/"},{"part1":2,"part2":"https://example.org/"}]"#,
    );
    check(
        "📄 src/a.rs:27 - let key: u8 = 5;\n📄 src/b.rs:3 - fn f(a: &str) -> u8 {\n📄 src/b.rs:9 - }\n",
        "lines",
        r#"[{"part1":"src/a.rs","part2":27,"part3":"let key: u8 = 5;"},{"part1":"src/b.rs","part2":3,"part3":"fn f(a: &str) -> u8 {"},{"part1":"src/b.rs","part2":9,"part3":"}"}]"#,
    );
    check(
        "2026-11-02 10:00:00 INFO started\n2026-11-02 10:00:01 WARN slow: 5 s\n2026-11-02 10:00:02 ERROR gone\n",
        "lines",
        r#"[{"part1":"2026-11-02","part2":"10:00:00","part3":"INFO","part4":"started"},{"part1":"2026-11-02","part2":"10:00:01","part3":"WARN","part4":"slow: 5 s"},{"part1":"2026-11-02","part2":"10:00:02","part3":"ERROR","part4":"gone"}]"#,
    );
}

#[test]
fn named_fields_lead_lines() {
    check(
        "## Network requests\nShowing 1-3 of 3 (Page 1 of 1).\nreqid=1 GET http://127.0.0.1:8765/ [200]\nreqid=2 GET http://127.0.0.1:8765/a [200]\nreqid=3 GET http://127.0.0.1:8765/b [404]",
        "lines",
        r#"[{"reqid":1,"part2":"GET","part3":"http://127.0.0.1:8765/ [200]"},{"reqid":2,"part2":"GET","part3":"http://127.0.0.1:8765/a [200]"},{"reqid":3,"part2":"GET","part3":"http://127.0.0.1:8765/b [404]"}]"#,
    );
    check(
        "time=2026-11-24T05:00:01Z level=info msg=\"server started\" port=8080\ntime=2026-11-24T05:00:02Z level=warn msg=\"slow query\" ms=1204\ntime=2026-11-24T05:00:05Z level=error msg=gone\n",
        "lines",
        r#"[{"time":"2026-11-24T05:00:01Z","level":"info","msg":"server started","port":8080},{"time":"2026-11-24T05:00:02Z","level":"warn","msg":"slow query","ms":1204},{"time":"2026-11-24T05:00:05Z","level":"error","msg":"gone"}]"#,
    );
    // A tree is no list, nor a record of `uid`, `uid (2)` and so on.
    let tree = "## Latest page snapshot\nuid=1_0 RootWebArea \"Shop\"\n  uid=1_1 heading \"Orders\"\n  uid=1_2 link \"Order 1\"\n";
    assert_eq!(found(tree), None);
}

#[test]
fn values_below_labels_are_nested() {
    check(
        "- **name**: Ann\n- **address**:\n  - **city**: Oslo\n  - **zip**: 0150\n- **tags**:\n  - **1**: a\n  - **2**: b\n- **notes**:\n  - likes tea\n",
        "key-value",
        r#"{"name":"Ann","address":{"city":"Oslo","zip":"0150"},"tags":["a","b"],"notes":["likes tea"]}"#,
    );
    check(
        "# Report\n\n## Ann\n- **Age**: 5\n- **Address**:\n  - **City**: Oslo\n- **Tags**:\n  - new\n  - vip\n\n## Bob\n- **Age**: 6\n- **Address**:\n  - **City**: Rome\n- **Tags**:\n  - old\n",
        "headings",
        r#"[{"title":"Ann","Age":5,"Address":{"City":"Oslo"},"Tags":["new","vip"]},{"title":"Bob","Age":6,"Address":{"City":"Rome"},"Tags":["old"]}]"#,
    );
    check(
        "1. **Ann**\n   - Age: 5\n   - Address:\n     - City: Oslo\n2. **Bob**\n   - Age: 6\n",
        "list",
        r#"[{"title":"Ann","Age":5,"Address":{"City":"Oslo"}},{"title":"Bob","Age":6}]"#,
    );
}

#[test]
fn cells_hold_json_or_nothing() {
    check(
        "aaa,aaa_aa\n\"[-100,1000,1000]\",\n",
        "csv",
        "[{\"aaa\":[-100,1000,1000],\"aaa_aa\":null}]",
    );
    check(
        "id,tags\n1,\"[\"\"a\"\",\"\"b\"\"]\"\n2,\n",
        "csv",
        r#"[{"id":1,"tags":["a","b"]},{"id":2,"tags":null}]"#,
    );
    check(
        "| id | tags |\n|---|---|\n| 1 | [\"a\",{\"b\":2}] |\n| 2 |  |\n| 3 | a &lt; b &amp; c |\n",
        "markdown-table",
        r#"[{"id":1,"tags":["a",{"b":2}]},{"id":2,"tags":null},{"id":3,"tags":"a < b & c"}]"#,
    );
}

#[test]
fn tables_of_programs() {
    check(
        "Package   Version\n--------- -------\nanyio     4.16.0\ncffi      2.1.1\n",
        "columns",
        r#"[{"Package":"anyio","Version":"4.16.0"},{"Package":"cffi","Version":"2.1.1"}]"#,
    );
    check(
        "Limit                     Soft Limit           Units     \nMax cpu time              unlimited            seconds   \nMax stack size            8388608              bytes     \nMax core file size        0                    bytes     \n",
        "columns",
        r#"[{"Limit":"Max cpu time","Soft Limit":"unlimited","Units":"seconds"},{"Limit":"Max stack size","Soft Limit":8388608,"Units":"bytes"},{"Limit":"Max core file size","Soft Limit":0,"Units":"bytes"}]"#,
    );
    check(
        "USER  PID %CPU COMMAND\nroot    1  0.5 /init --addr 0.0.0.0 --port 2024\nroot    2  0.0 [kthreadd]\nann    31 12.0 vi\n",
        "columns",
        r#"[{"USER":"root","PID":1,"%CPU":0.5,"COMMAND":"/init --addr 0.0.0.0 --port 2024"},{"USER":"root","PID":2,"%CPU":0.0,"COMMAND":"[kthreadd]"},{"USER":"ann","PID":31,"%CPU":12.0,"COMMAND":"vi"}]"#,
    );
    // The last fields of a row may be left out; without a head they are lines.
    check(
        "version,codename,release,eol\n1.1,Buzz,1996-06-17,1997-06-05\n14,Forky,\n15,Duke,2029\n",
        "csv",
        r#"[{"version":1.1,"codename":"Buzz","release":"1996-06-17","eol":"1997-06-05"},{"version":14,"codename":"Forky","release":null},{"version":15,"codename":"Duke","release":2029}]"#,
    );
    check(
        "AD\t+4230+00131\tAndorra\nAE\t+2518+05518\tDubai\nAF\t+3431+06912\tKabul\n",
        "lines",
        r#"[{"part1":"AD","part2":"+4230+00131","part3":"Andorra"},{"part1":"AE","part2":"+2518+05518","part3":"Dubai"},{"part1":"AF","part2":"+3431+06912","part3":"Kabul"}]"#,
    );
}

#[test]
fn what_stands_once_around_records_is_the_envelope() {
    check(
        "# Dashboard\n\n## Overview\n\n- **pending**: 2\n- **done**: 0\n\n### Write docs\n\n**ID:** `a1`\n\n**Words:** all\n\n### Run tests\n\n**ID:** `b2`\n\n**Words:** none\n",
        "headings",
        r#"{"pending":2,"done":0,"records":[{"title":"Write docs","ID":"a1","Words":"all"},{"title":"Run tests","ID":"b2","Words":"none"}]}"#,
    );
    // The same label twice in it is two members.
    let text = "[a] 1\n[b] 2\n[c] 3\nNote: x\nNote: y\n";
    assert!(
        found(text)
            .unwrap()
            .1
            .starts_with(r#"{"Note":"x","Note (2)":"y","records":["#)
    );
}

/// A list of labels that are all different is no list of records, whatever else is in it.
#[test]
fn different_labels_are_no_records() {
    let text = "### Page\n- Page URL: http://127.0.0.1:8765/\n- Page Title: Shop\n### Snapshot\n- [Snapshot](page.yml)\n### Events\n- Downloading file 1 ...\n- Downloaded file 1 to \"1\"";
    assert!(read_by(by_id("list").unwrap(), &blocks(text)).is_none());
}

#[test]
fn paths_and_addresses_are_a_list() {
    check(
        "/srv/a b.md\n/srv/c.md\n/srv/d\n",
        "lines",
        r#"["/srv/a b.md","/srv/c.md","/srv/d"]"#,
    );
    assert_eq!(
        found("/srv/a is gone.\n/srv/b is there.\n/srv/c: no.\n"),
        None
    );
}

#[test]
fn languages_and_columns() {
    check(
        "id,name\n1,\"A, B\"\n2,c\n",
        "csv",
        r#"[{"id":1,"name":"A, B"},{"id":2,"name":"c"}]"#,
    );
    check(
        "id\tname\n1\ta\n2\tb\n",
        "tsv",
        r#"[{"id":1,"name":"a"},{"id":2,"name":"b"}]"#,
    );
    check(
        "[(0, 'n0', Decimal('1.50'), UUID('a-1'))]",
        "python",
        r#"[[0,"n0",1.50,"a-1"]]"#,
    );
    check(
        "[{'affected_rows': 3}]",
        "python",
        r#"[{"affected_rows":3}]"#,
    );
    check(
        "[{'id': 1, 'name': \"Ann's\", 'x': None, 'y': (1, 2.5), 'z': True}]",
        "python",
        r#"[{"id":1,"name":"Ann's","x":null,"y":[1,2.5],"z":true}]"#,
    );
    check(
        "<rows><row id=\"1\"><name>A &amp; B</name></row><row id=\"2\"><name>c</name></row></rows>",
        "xml",
        r#"[{"id":1,"name":"A & B"},{"id":2,"name":"c"}]"#,
    );
    check(
        "- id: 1\n  at:\n  - a\n- id: 2\n  at: [b]\n",
        "yaml",
        r#"[{"id":1,"at":["a"]},{"id":2,"at":["b"]}]"#,
    );
    check(
        "items:\n  - id: 1\n    tags: [a, b]\n  - id: 2\n    tags: []\n",
        "yaml",
        r#"{"items":[{"id":1,"tags":["a","b"]},{"id":2,"tags":[]}]}"#,
    );
    check(
        "items[2]{id,name}:\n  1,Ann\n  2,Bob",
        "toon",
        r#"{"items":[{"id":1,"name":"Ann"},{"id":2,"name":"Bob"}]}"#,
    );
    check(
        "NAME       STATUS    AGE\napi        Running   5d\nweb front  Pending   12h\n",
        "columns",
        r#"[{"NAME":"api","STATUS":"Running","AGE":"5d"},{"NAME":"web front","STATUS":"Pending","AGE":"12h"}]"#,
    );
}

#[test]
fn prose_stays_prose() {
    for text in [
        "+ main\n+ work\n* text\n",
        "commit a1\nAuthor: Ann <a@b.example>\nDate:   2026-11-24 05:19:28 +0000\n\n    Say why\n\n--- a/a.rs\n+++ b/a.rs\n@@ -1,2 +1,2 @@\n-    let key = read()?;\n-    let at = 1;\n+    let key = 2;\n+    let at = 2;\n",
        "On branch main\nYour branch is up to date with 'origin/main'.\n\nnothing to commit, working tree clean\n",
        "The weather in Oslo is 4 degrees, with rain until 17:40 and wind from the west.",
        "# Loupe\n\nA desktop inspector for comparing response formats. It connects to a server, calls a tool, and shows the answer.\n\n## Install\n\nRun the installer, then start it. Note: it needs a window.\n",
        "fn main() {\n    let x = 5;\n    println!(\"{x}\");\n}\n",
        "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    f()\n  File \"a.py\", line 1, in f\n    raise ValueError(\"x\")\nValueError: x\n",
        "def f(x):\n    if x:\n        return 1\n    else:\n        return 2\n",
        "Error: the file was not found",
        "{\n  \"message\": \"Found 500\",\n  \"data\": [\n    {\n      \"id\": 1,\n      \"name\": \"Acme\"\n    },\n    {\n      \"id\": 2,\n      \"na\n\n[truncated]",
        "MCP error -32602: Tool nosuch not found",
        "The sum of 2 and 3 is 5.",
        "",
        "ok",
        &"Line of a long text, number 12, and so on.\n".repeat(5),
        "src/a.rs:39:fn key(id: &str) -> u8 {\nsrc/a.rs-40-    let key = by_id(id).unwrap();\nsrc/a.rs-41-    key.check().map_err(|why| why.0)?;\n--\nsrc/b.rs:12:fn key(id: &str) -> u16 {\nsrc/b.rs-13-    let key = by_id(id).unwrap();\nsrc/b.rs-14-    key.check().map_err(|why| why.0)?;\n",
        "Step 1 of the build is done.\nStep 2 of the build is done.\nStep 3 of the build is done.\nStep 4 of the build is done.\n",
    ] {
        assert_eq!(found(text), None, "{text}");
    }
}

#[test]
fn wrapped_text_is_known_at_any_depth() {
    let wrapped = |json: &str, text: &str| {
        let doc = Doc::parse(bytes::Bytes::copy_from_slice(json.as_bytes()));
        is_wrapped(doc.root().unwrap(), &blocks(text))
    };
    assert!(wrapped(r#"{"content":"a: 1\nb: 2"}"#, "a: 1\nb: 2\n"));
    assert!(wrapped(r#"{"result":{"text":" hi "}}"#, "hi"));
    assert!(!wrapped(r#"{"result":"hi","n":1}"#, "hi"));
    assert!(!wrapped(r#""hi""#, "hi"));
    assert!(!wrapped(r#"{"result":"hi there"}"#, "hi"));
}

#[test]
fn a_pattern_names_the_members() {
    let pattern = Pattern::parse(r"^(?<kind>\w+) (?<name>.+)$").unwrap();
    let found = pattern.read(&blocks("file a b\ndir c\n")).unwrap();
    assert_eq!(
        found.data.doc.root().unwrap().raw_text(),
        r#"[{"kind":"file","name":"a b"},{"kind":"dir","name":"c"}]"#
    );
    assert!(Pattern::parse("(").is_err() && Pattern::parse("a+").is_err());
}

/// Nothing is read, and in no time that grows faster than the text. Measured in `benches/readers.rs`; here it has to end.
#[test]
fn hostile_texts_end() {
    // As many labels as lines, none of which comes again.
    let labels: String = (0..60_000)
        .map(|at| format!("value {at}: {at}\n"))
        .collect();
    assert_eq!(
        read_by(by_id("key-value").unwrap(), &blocks(&labels))
            .unwrap()
            .data
            .records,
        1
    );
    for piece in [
        "[",
        "{",
        "|",
        "a|",
        "```\n",
        "\"",
        "- ",
        "<a>",
        "{'a':",
        "a: ",
        "a:\n",
        "**",
        "  x",
        ", ",
        "[x] ",
        "1,\"\"\"\"\n",
    ] {
        let text = piece.repeat(200_000 / piece.len());
        let _ = read(&blocks(&text));
        let _ = read(&blocks(&format!("a,b\n{text}")));
    }
}

#[test]
fn a_long_text_is_read_as_a_short_one() {
    let records: [fn(usize) -> String; 5] = [
        |at| {
            if at == 0 {
                "id,name\n".to_owned()
            } else {
                format!("{at},company {at} of Boston\n")
            }
        },
        |at| format!("Name: company {at}\nCity: Boston\n\n"),
        |at| format!("## Company {at}\n\n- **City**: Boston\n- **Phone**: 555-{at}\n\n"),
        |at| format!("[FILE] company {at}.md\n"),
        |at| {
            if at == 0 {
                "| id | name |\n|--|--|\n".to_owned()
            } else {
                format!("| {at} | company {at} |\n")
            }
        },
    ];
    for record in records {
        let (short, long) = [40, 60_000]
            .map(|count| (0..count).map(record).collect::<String>())
            .into();
        assert!(
            long.len() > BEGINNING.0 * BEGINNING.1,
            "{} bytes",
            long.len()
        );
        let reader = |text: &str| read(&blocks(text)).map(|found| found.reader.id);
        assert!(reader(&short).is_some(), "{short}");
        assert_eq!(reader(&short), reader(&long), "{short}");
    }
}
