//! A capture that is written comes back identical, however odd; what is not whole is refused.

use std::fs;
use std::time::Duration;

use bytes::Bytes;
use proptest::prelude::*;
use time::macros::datetime;

use super::*;
use loupe_core::capture::{CaptureId, HttpInfo, Outcome, ParsedResponse, Server, Timings, Tool};

pub(super) fn capture(response: Option<&'static [u8]>) -> Capture {
    Capture {
        tool: Tool::read(Bytes::from_static(
            b"{\"name\":\"t\", \"inputSchema\":{\"a\":1e3,\"a\":20000000000000000001}}",
        )),
        arguments: Bytes::from_static(b"{\"n\":1e3, \"big\":12345678901234567890123}"),
        started_at: datetime!(2025-01-17 14:30:00.123456789 UTC),
        timings: Timings {
            send: Duration::from_nanos(1),
            server: Duration::from_nanos(123_456_789),
            receive: Duration::from_nanos(59_999_999_999),
        },
        request: Bytes::from_static(b"{\"jsonrpc\":\"2.0\",\"id\":1}"),
        response: response.map(Bytes::from_static),
        messages: vec![
            Message {
                at: Duration::from_nanos(7),
                direction: Direction::Out,
                bytes: Bytes::from_static(b"{\"a\":\n1}"),
            },
            Message {
                at: Duration::from_micros(8),
                direction: Direction::Stderr,
                bytes: Bytes::from_static(b"\xff\xfe"),
            },
            Message {
                at: Duration::from_secs(9),
                direction: Direction::In,
                bytes: Bytes::new(),
            },
        ],
        http: Some(HttpInfo {
            status: 200,
            headers: vec![
                ("Set-Cookie".into(), "…".into()),
                ("set-cookie".into(), "…".into()),
            ],
        }),
        problem: Some(
            Problem::new(ProblemKind::RpcError, "no")
                .at("t")
                .hint("try"),
        ),
        notes: vec!["1 unreadable line came".into()],
        ..Capture::empty(
            CaptureId("c-1".into()),
            Server {
                given_name: Some("mine".into()),
                name: "sample \u{1f50e}".into(),
                version: "1".into(),
                protocol_version: "2025-11-25".into(),
                transport: "stdio".into(),
                instructions: Some("be\nkind".into()),
                source: "--env KEY=… -- node server.js".into(),
                capabilities: None,
            },
        )
    }
}

#[track_caller]
fn comes_back(capture: &Capture) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/deep/capture");
    write_folder(capture, &path).unwrap();
    let read = read_folder(&path).unwrap();
    // What is opened is known by its content.
    assert_eq!(
        read,
        Capture {
            id: read.id.clone(),
            ..capture.clone()
        }
    );
    assert_eq!(read_any(&path).unwrap(), read);
    let left: Vec<_> = fs::read_dir(path.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["capture"], "nothing else stays behind");
}

#[test]
fn captures_come_back_identical() {
    comes_back(&capture(Some(
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[]}}",
    )));
    comes_back(&capture(Some(b"\xff\xfenot JSON\r\n")));
    comes_back(&capture(Some(b"")));
    comes_back(&capture(None));
    let odd = Capture {
        tool: Tool::unlisted("nosuch"),
        arguments: Bytes::from_static(b" null\n"),
        request: Bytes::new(),
        http: None,
        problem: None,
        messages: Vec::new(),
        notes: Vec::new(),
        outcome: Outcome::Cancelled,
        ..capture(None)
    };
    comes_back(&odd);
    comes_back(&Capture {
        arguments: Bytes::from_static(b"null"),
        ..odd.clone()
    });
    comes_back(&Capture {
        arguments: Bytes::new(),
        ..odd.clone()
    });
    comes_back(&Capture {
        tool: Tool::read(Bytes::from_static(b"{\"name\":\"\xff\"}")),
        ..odd
    });
}

#[test]
fn deep_definitions_come_back() {
    let raw = format!(
        "{{\"name\":\"t\",\"inputSchema\":{}{}}}",
        "[".repeat(20_000),
        "]".repeat(20_000)
    );
    comes_back(&Capture {
        tool: Tool::read(raw.into()),
        ..capture(None)
    });
}

#[test]
fn files_come_back_as_folders_too() {
    for text in [
        "{\"content\":[]}",
        "{\"jsonrpc\":\"2.0\",\"result\":{}}",
        "[1]",
        "plain",
    ] {
        comes_back(&read_bytes(&Bytes::from_static(text.as_bytes()), "x", None).unwrap());
    }
}

#[test]
fn a_folder_that_is_there_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = write_folder(&capture(None), folder.path()).unwrap_err();
    assert!(matches!(refused, StoreError::Exists { .. }));
    let problem = Problem::from(refused);
    assert_eq!(
        (problem.kind, problem.kind.exit_status()),
        (ProblemKind::Io, 2)
    );
}

#[test]
fn what_is_not_whole_is_refused_with_the_reason() {
    let refused = |change: &dyn Fn(&Path)| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c");
        write_folder(&capture(Some(b"{}")), &path).unwrap();
        change(&path);
        read_folder(&path).unwrap_err().to_string()
    };
    let edit = |path: &Path, from: &str, to: &str| {
        let text = fs::read_to_string(path.join(MANIFEST)).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(path.join(MANIFEST), text.replace(from, to)).unwrap();
    };
    assert!(
        refused(&|path| fs::remove_file(path.join(MANIFEST)).unwrap())
            .starts_with("not a capture folder")
    );
    assert_eq!(
        refused(&|path| fs::write(path.join(RESPONSE), "{ }").unwrap()),
        "the capture is damaged: response.json has 3 bytes, not 2"
    );
    assert!(
        refused(&|path| fs::write(path.join(RESPONSE), "[]").unwrap())
            .ends_with("its digest differs")
    );
    assert!(
        refused(&|path| fs::remove_file(path.join(RESPONSE)).unwrap())
            .ends_with("response.json is missing")
    );
    assert!(
        refused(&|path| fs::remove_file(path.join(MESSAGES)).unwrap())
            .ends_with("messages.jsonl is missing")
    );
    assert!(
        refused(&|path| fs::write(path.join(MESSAGES), "{}").unwrap())
            .contains("messages.jsonl, line 1: missing field")
    );
    assert!(refused(&|path| fs::write(path.join(MANIFEST), "{").unwrap()).contains("capture.json"));
    assert!(refused(&|path| edit(path, "\"result\"", "\"ok\"")).ends_with("unknown outcome `ok`"));
    assert_eq!(
        refused(&|path| edit(path, "loupe.capture/1", "loupe.capture/2")),
        "written by a newer version: loupe.capture/2"
    );
}

#[test]
fn fields_of_others_are_tolerated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c");
    write_folder(&capture(Some(b"{}")), &path).unwrap();
    let text = fs::read_to_string(path.join(MANIFEST)).unwrap();
    fs::write(
        path.join(MANIFEST),
        text.replacen('{', "{\"mine\":{\"x\":[1e3]},", 1).replacen(
            "\"server\": {",
            "\"server\": {\"region\":\"eu\",",
            1,
        ),
    )
    .unwrap();
    fs::write(path.join("expect.toml"), "schema = \"loupe.expect/1\"").unwrap();
    let read = read_folder(&path).unwrap();
    let expected = Capture {
        id: read.id.clone(),
        carried: read.carried.clone(),
        ..capture(Some(b"{}"))
    };
    assert_eq!(read, expected);
    // What others put there goes into the next folder that is written of it.
    let again = folder.path().join("again");
    write_folder(&read, &again).unwrap();
    assert_eq!(read_folder(&again).unwrap(), read);
    let text = fs::read_to_string(again.join(MANIFEST)).unwrap();
    assert!(
        text.contains("\"mine\": {\"x\":[1e3]}") && text.contains("\"region\": \"eu\""),
        "{text}"
    );
}

#[test]
fn files_are_taken_for_what_they_hold() {
    let kind = |text: &'static [u8]| ReadAs::detect(&Bytes::from_static(text));
    assert_eq!(
        kind(b"{\"content\":[],\"jsonrpc\":\"2.0\"}"),
        ReadAs::Result
    );
    assert_eq!(kind(b"{\"jsonrpc\":\"2.0\"}\n"), ReadAs::Message);
    assert_eq!(kind(b"{\"content\":\"x\"}"), ReadAs::Data);
    assert_eq!(kind(b" 7 "), ReadAs::Data);
    assert_eq!(kind(b"# Title"), ReadAs::Text);
    assert_eq!(kind(b""), ReadAs::Text);
    assert_eq!(kind(b"\"\xff\""), ReadAs::Data);
}

#[test]
fn what_is_wrapped_reads_as_it_was() {
    let text = read_bytes(
        &Bytes::from_static("a \"q\" \u{1}\r\né".as_bytes()),
        "t.md",
        None,
    )
    .unwrap();
    assert_eq!(
        ParsedResponse::new(&text).content_text().as_deref(),
        Some("a \"q\" \u{1}\r\né")
    );
    assert!(!text.has_wire());
    let bad = read_bytes(&Bytes::from_static(b"a\xff\n"), "t.md", None).unwrap();
    assert_eq!(
        ParsedResponse::new(&bad).content_text().as_deref(),
        Some("a\u{fffd}\n")
    );
    let data = read_bytes(&Bytes::from_static(b" {\"n\":1e3}\n"), "p.json", None).unwrap();
    assert_eq!(
        ParsedResponse::new(&data).structured().unwrap().raw(),
        b"{\"n\":1e3}"
    );
    let message = read_bytes(
        &Bytes::from_static(b"{\"jsonrpc\":\"2.0\",\"error\":{\"code\":1,\"message\":\"m\"}}\r\n"),
        "m",
        None,
    )
    .unwrap();
    assert!(message.has_wire());
    assert_eq!(message.outcome, Outcome::ProtocolError);
    assert!(message.response.unwrap().ends_with(b"}"));
    let error = read_bytes(
        &Bytes::from_static(b"{\"content\":[],\"isError\":true}"),
        "r",
        None,
    )
    .unwrap();
    assert_eq!(error.outcome, Outcome::ToolError);
    let refused = read_bytes(&Bytes::from_static(b"nope"), "r", Some(ReadAs::Result)).unwrap_err();
    assert_eq!(refused.kind, ProblemKind::Io);
    assert!(
        refused.what.starts_with("not JSON, so no result"),
        "{}",
        refused.what
    );
}

/// Every file of a folder by name.
fn files(path: &Path) -> std::collections::BTreeMap<std::ffi::OsString, Vec<u8>> {
    fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name(), fs::read(entry.path()).unwrap()))
        .collect()
}

fn bytes() -> impl Strategy<Value = Bytes> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..200).prop_map(Bytes::from),
        any::<String>().prop_map(|text| Bytes::from(format!(
            "{{\"a\":{}}}",
            loupe_core::json::write::string(&text)
        ))),
    ]
}

fn any_capture() -> impl Strategy<Value = Capture> {
    let message =
        (0_u64..1 << 50, 0_usize..3, bytes()).prop_map(|(at, direction, bytes)| Message {
            at: Duration::from_nanos(at),
            direction: [Direction::In, Direction::Out, Direction::Stderr][direction],
            bytes,
        });
    let texts = (any::<String>(), any::<String>(), any::<Option<String>>());
    let parts = (bytes(), bytes(), proptest::option::of(bytes()), bytes());
    (
        texts,
        parts,
        proptest::collection::vec(message, 0..4),
        proptest::collection::vec(any::<String>(), 0..3),
        0_u64..1 << 50,
    )
        .prop_map(
            |(
                (name, source, instructions),
                (request, arguments, response, raw),
                messages,
                notes,
                time,
            )| Capture {
                server: Server {
                    name,
                    source,
                    instructions,
                    ..Server::default()
                },
                request,
                arguments,
                response,
                tool: if raw.is_empty() {
                    Tool::unlisted("t")
                } else {
                    Tool::read(raw)
                },
                messages,
                notes,
                timings: Timings {
                    server: Duration::from_nanos(time),
                    ..Timings::default()
                },
                ..capture(None)
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn saved_loaded_and_saved_again_is_the_same(capture in any_capture()) {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        write_folder(&capture, &one).unwrap();
        let read = read_folder(&one).unwrap();
        prop_assert_eq!(&read, &Capture { id: read.id.clone(), ..capture });
        write_folder(&read, &two).unwrap();
        prop_assert_eq!(files(&one), files(&two));
    }

    #[test]
    fn whatever_a_folder_holds_the_loader_only_refuses(
        file in 0_usize..4, junk in proptest::collection::vec(any::<u8>(), 0..300), at in 0_usize..3000, is_part in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c");
        write_folder(&capture(Some(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}")), &path).unwrap();
        let name = path.join([MANIFEST, REQUEST, RESPONSE, MESSAGES][file]);
        let mut bytes = fs::read(&name).unwrap();
        let at = at % bytes.len();
        let end = if is_part { (at + junk.len()).min(bytes.len()) } else { bytes.len() };
        bytes.splice(at..end, junk);
        fs::write(&name, &bytes).unwrap();
        if let Ok(read) = read_folder(&path) {
            // What it takes it can write again.
            write_folder(&read, &folder.path().join("again")).unwrap();
        }
    }
}

#[test]
fn a_fixture_says_how_its_texts_are_read() {
    use loupe_core::capture::ReadText;

    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str, reader: &str| {
        let path = folder.path().join(name);
        let expect = format!("schema = \"loupe.expect/1\"\n{reader}");
        write_folder_with(
            &capture(Some(b"{}")),
            &[("expect.toml", expect.as_bytes())],
            &path,
        )
        .unwrap();
        read_folder(&path).unwrap().read_text
    };
    assert_eq!(read("never", "reader = \"never\"\n"), ReadText::Never);
    let pattern = r"(?<kind>\w+) (?<name>.+)";
    assert_eq!(
        read("pattern", &format!("reader = '{pattern}'\n")),
        ReadText::parse(pattern).unwrap()
    );
    assert_eq!(read("none", ""), ReadText::Auto);
    // What is wrong with it `verify` says.
    assert_eq!(read("wrong", "reader = \"best\"\n"), ReadText::Auto);
}
