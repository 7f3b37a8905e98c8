//! What the user pastes to connect, understood: an address, a command line, a snippet of a client's configuration, an
//! `… mcp add …` line, a curl command, or no server at all but an answer. Nothing is run; no shell is asked.

use serde_json::Value;

use super::{Import, ImportedServer, RemoteKind, ServerAddress, jsonc, shapes};
use crate::problem::{Problem, ProblemKind};
use crate::source::is_web;

/// What a pasted text is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pasted {
    /// One or more servers, and what the text was taken for, such as "a command line".
    Servers { what: &'static str, import: Import },
    /// A result or a message, to be opened as an answer.
    Answer,
}

/// Words that only a shell understands.
const OPERATORS: &[&str] = &["|", "||", "&", ";", ">", ">>", "<", "2>&1", "&&"];

fn one(what: &'static str, name: &str, reach: ServerAddress, notes: Vec<String>) -> Pasted {
    let entry = ImportedServer {
        name: name.to_owned(),
        reach,
        disabled: false,
        inputs: Vec::new(),
        notes,
        bare_dollars: false,
        given: Vec::new(),
        own: Vec::new(),
        place: Vec::new(),
    };
    Pasted::Servers {
        what,
        import: Import {
            servers: vec![entry],
            notes: Vec::new(),
        },
    }
}

fn remote(url: String, headers: Vec<(String, String)>, kind: RemoteKind) -> ServerAddress {
    ServerAddress::Remote { url, headers, kind }
}

/// Understands what was pasted.
///
/// # Errors
/// It is nothing of the kind, with a hint what would be.
pub fn understand(text: &str) -> Result<Pasted, Problem> {
    let text = text.trim().trim_start_matches('\u{feff}');
    let prompt = ["$ ", "> ", "% "]
        .iter()
        .find_map(|prompt| text.strip_prefix(prompt));
    let text = prompt.unwrap_or(text).trim();
    let wrong = |what: &str| {
        Problem::new(ProblemKind::Usage, what).hint(
            "paste a command, an address, an `mcpServers` snippet, an `… mcp add …` line, a curl command, or an answer in JSON",
        )
    };
    if text.is_empty() {
        return Err(wrong("nothing was pasted"));
    }
    if text.starts_with("[mcp_servers") || text.contains("\n[mcp_servers") {
        return Ok(Pasted::Servers {
            what: "a client's configuration",
            import: super::read("pasted.toml", text)?,
        });
    }
    if text.starts_with(['{', '[', '"']) {
        return json(text)
            .ok_or_else(|| wrong("this JSON is neither a client's configuration nor an answer"))?;
    }
    if is_web(text) && !text.contains(char::is_whitespace) {
        return Ok(one(
            "an address",
            "server",
            remote(text.to_owned(), Vec::new(), RemoteKind::Unsaid),
            Vec::new(),
        ));
    }
    // Lines that go on after a backslash are one, as in a shell.
    let joined = text.replace("\\\r\n", " ").replace("\\\n", " ");
    let words = shell_words::split(&joined).map_err(|_| wrong("a quote is not closed"))?;
    let plain: Vec<&str> = words.iter().map(String::as_str).collect();
    match plain.as_slice() {
        [] => Err(wrong("nothing was pasted")),
        ["curl" | "curl.exe", rest @ ..] => {
            curl(rest).ok_or_else(|| wrong("this curl command has no address"))
        }
        [_, "mcp", "add", rest @ ..] => mcp_add(rest),
        [_, "mcp", "add-json", rest @ ..] => add_json(rest),
        [_, "--add-mcp", entry, ..] => {
            json(entry).ok_or_else(|| wrong("what follows --add-mcp is not a server"))?
        }
        ["mcp-loupe", rest @ ..] => loupe(rest),
        words => command(words),
    }
}

/// `None` where it is JSON of another kind, or no JSON.
fn json(text: &str) -> Option<Result<Pasted, Problem>> {
    // A piece out of the middle of a file: `"name": {…}`, perhaps with a comma behind it.
    let whole = if text.starts_with('"') {
        format!("{{{}}}", text.trim_end_matches([',', ' ', '\n', '\r']))
    } else {
        text.to_owned()
    };
    let root: Value = match serde_json::from_str(&jsonc::strip(&whole)) {
        Ok(root) => root,
        Err(error) => {
            return Some(Err(Problem::new(
                ProblemKind::Malformed,
                format!("not JSON: {error}"),
            )));
        }
    };
    let is_answer = root.get("content").is_some_and(Value::is_array)
        || root.get("jsonrpc").is_some()
        || root.get("structuredContent").is_some();
    if is_answer {
        return Some(Ok(Pasted::Answer));
    }
    let found = |import: Import| {
        Ok(Pasted::Servers {
            what: "a client's configuration",
            import,
        })
    };
    if let Some(import) = shapes::read("pasted.json", &root, text) {
        return Some(found(import));
    }
    let object = root.as_object()?;
    let is_entry = |value: &Value| {
        ["command", "url", "serverUrl", "httpUrl"]
            .iter()
            .any(|key| value.get(key).is_some())
    };
    let list = if is_entry(&root) {
        let name = object
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or("server");
        serde_json::json!({ name: root })
    } else if object.values().any(is_entry) {
        root
    } else {
        return None;
    };
    shapes::read(
        "pasted.json",
        &serde_json::json!({ "mcpServers": list }),
        "",
    )
    .map(found)
}

/// Options of `mcp add` that take a value and are not used.
const UNUSED: &[&str] = &[
    "-s",
    "--scope",
    "--timeout",
    "--description",
    "--client-id",
    "--callback-port",
    "--cwd",
    "--include-tools",
    "--exclude-tools",
];

/// `claude mcp add`, `codex mcp add`, `gemini mcp add` and the like.
fn mcp_add(words: &[&str]) -> Result<Pasted, Problem> {
    let (mut env, mut headers, mut rest, mut notes) =
        (Vec::new(), Vec::new(), Vec::<String>::new(), Vec::new());
    let (mut url, mut kind) = (None, RemoteKind::Unsaid);
    let mut at = 0;
    while let Some(&word) = words.get(at) {
        at += 1;
        let (option, joined) = match word.split_once('=') {
            Some((option, value)) if word.starts_with("--") => (option, Some(value)),
            _ => (word, None),
        };
        let takes_value = matches!(
            option,
            "-e" | "--env"
                | "-H"
                | "--header"
                | "-t"
                | "--transport"
                | "--url"
                | "--bearer-token-env-var"
        ) || UNUSED.contains(&option);
        // What follows the program is its own; an address has nothing of its own.
        let is_own = rest.len() >= 2 && !is_web(&rest[1]);
        if word == "--" {
            rest.extend(words[at..].iter().map(|word| (*word).to_owned()));
            break;
        }
        if !word.starts_with('-') || is_own {
            rest.push(word.to_owned());
            continue;
        }
        if !takes_value {
            notes.push(format!("`{word}` is not used"));
            continue;
        }
        let value = joined.map(str::to_owned).or_else(|| {
            let value = words.get(at).map(|word| (*word).to_owned());
            at += 1;
            value
        });
        let value = value
            .ok_or_else(|| Problem::new(ProblemKind::Usage, format!("`{option}` has no value")))?;
        match option {
            "-e" | "--env" => {
                env.extend(pair(&value, '='));
                // Claude takes several after one `--env`.
                while let Some(more) = words
                    .get(at)
                    .filter(|word| is_assignment(word))
                    .and_then(|word| pair(word, '='))
                {
                    env.push(more);
                    at += 1;
                }
            }
            "-H" | "--header" => headers.extend(pair(&value, ':')),
            "-t" | "--transport" => {
                kind = match value.as_str() {
                    "sse" => RemoteKind::Sse,
                    "http" | "streamable-http" => RemoteKind::StreamableHttp,
                    _ => RemoteKind::Unsaid,
                }
            }
            "--url" => url = Some(value),
            "--bearer-token-env-var" => {
                headers.push(("Authorization".into(), format!("Bearer ${{{value}}}")))
            }
            option => notes.push(format!("`{option} {value}` is not used")),
        }
    }
    let name = if rest.is_empty() {
        "server".to_owned()
    } else {
        rest.remove(0)
    };
    let what = "an `mcp add` line";
    if let Some(url) = url.or_else(|| rest.first().filter(|word| is_web(word)).cloned()) {
        return Ok(one(what, &name, remote(url, headers, kind), notes));
    }
    let mut words = rest.into_iter();
    let program = words.next().ok_or_else(|| {
        Problem::new(
            ProblemKind::Usage,
            "the line names no command and no address",
        )
        .hint("after the name comes what is started, or a URL")
    })?;
    Ok(one(
        what,
        &name,
        ServerAddress::Command {
            program,
            args: words.collect(),
            env,
            cwd: None,
        },
        notes,
    ))
}

fn add_json(words: &[&str]) -> Result<Pasted, Problem> {
    let wrong = || {
        Problem::new(ProblemKind::Usage, "the line has no name and JSON")
            .hint("it reads `… mcp add-json NAME '{…}'`")
    };
    let mut plain = words.iter().filter(|word| !word.starts_with('-'));
    let name = plain
        .find(|word| !word.starts_with('{'))
        .ok_or_else(wrong)?;
    let entry = words
        .iter()
        .find(|word| word.starts_with('{'))
        .ok_or_else(wrong)?;
    let entry: Value = serde_json::from_str(entry).map_err(|_| wrong())?;
    let root = serde_json::json!({ "mcpServers": { *name: entry } });
    let import = shapes::read("pasted.json", &root, "").ok_or_else(wrong)?;
    Ok(Pasted::Servers {
        what: "an `mcp add` line",
        import,
    })
}

fn curl(words: &[&str]) -> Option<Pasted> {
    let (mut url, mut headers, mut notes) = (None, Vec::new(), Vec::new());
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        let mut value = || words.next().unwrap_or_default();
        match word {
            "-H" | "--header" => {
                headers.extend(pair(value(), ':').filter(|(name, _)| !is_own(name)))
            }
            "--url" => url = Some(value().to_owned()),
            "-u" | "--user" | "-b" | "--cookie" => {
                value();
                notes.push(format!("`{word}` is not used: add its header by hand"));
            }
            "-X" | "--request" | "-d" | "--data" | "--data-raw" | "--data-binary" | "--json"
            | "-o" | "--output" | "-m" | "--max-time" | "-A" | "--user-agent" => {
                value();
            }
            word if is_web(word) => url = Some(word.to_owned()),
            // Flags, and what they might take, say nothing about the server.
            _ => {}
        }
    }
    Some(one(
        "a curl command",
        "server",
        remote(url?, headers, RemoteKind::Unsaid),
        notes,
    ))
}

/// Headers that Loupe sets itself.
fn is_own(name: &str) -> bool {
    [
        "content-type",
        "accept",
        "content-length",
        "host",
        "mcp-session-id",
        "mcp-protocol-version",
        "user-agent",
    ]
    .contains(&name.to_lowercase().as_str())
}

/// Loupe's own command line.
fn loupe(words: &[&str]) -> Result<Pasted, Problem> {
    let (mut env, mut headers, mut url, mut cwd) = (Vec::new(), Vec::new(), None, None);
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        let mut value = || words.next().unwrap_or_default();
        match word {
            "--" => break,
            "--url" => url = Some(value().to_owned()),
            "--header" => headers.extend(pair(value(), ':')),
            "--env" => env.extend(pair(value(), '=')),
            "--cwd" => cwd = Some(value().to_owned()),
            _ => {}
        }
    }
    let what = "a Loupe command line";
    if let Some(url) = url {
        return Ok(one(
            what,
            "server",
            remote(url, headers, RemoteKind::Unsaid),
            Vec::new(),
        ));
    }
    let mut rest = words.map(str::to_owned);
    let program = rest.next().ok_or_else(|| {
        Problem::new(ProblemKind::Usage, "the line names no server")
            .hint("it has `--url URL` or `-- COMMAND [ARG…]`")
    })?;
    Ok(one(
        what,
        "server",
        ServerAddress::Command {
            program,
            args: rest.collect(),
            env,
            cwd,
        },
        Vec::new(),
    ))
}

fn command(words: &[&str]) -> Result<Pasted, Problem> {
    let (mut words, mut cwd, mut env, mut notes) = (words, None, Vec::new(), Vec::new());
    if let ["cd", folder, "&&", rest @ ..] = words {
        cwd = Some((*folder).to_owned());
        words = rest;
    }
    if let ["env", rest @ ..] = words {
        words = rest;
    }
    while let [first, rest @ ..] = words
        && is_assignment(first)
    {
        env.extend(pair(first, '='));
        words = rest;
    }
    let [program, args @ ..] = words else {
        return Err(
            Problem::new(ProblemKind::Usage, "there is no command in it")
                .hint("after the variables comes what is started"),
        );
    };
    for operator in args.iter().filter(|word| OPERATORS.contains(word)) {
        notes.push(format!(
            "no shell is asked, so `{operator}` is handed to the program as it stands"
        ));
    }
    let args = args.iter().map(|word| (*word).to_owned()).collect();
    Ok(one(
        "a command line",
        "server",
        ServerAddress::Command {
            program: (*program).to_owned(),
            args,
            env,
            cwd,
        },
        notes,
    ))
}

fn pair(text: &str, separator: char) -> Option<(String, String)> {
    let (name, value) = text.split_once(separator)?;
    Some(if separator == ':' {
        (name.trim().to_owned(), value.trim().to_owned())
    } else {
        (name.to_owned(), value.to_owned())
    })
}

/// `NAME=value`, as before a command.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_')
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What it was taken for, and the server as it displays itself.
    fn shown(text: &str) -> String {
        match understand(text) {
            Ok(Pasted::Answer) => "an answer".into(),
            Ok(Pasted::Servers { what, import }) => {
                let servers: Vec<_> = import
                    .servers
                    .iter()
                    .map(|entry| format!("{}: {entry}", entry.name))
                    .collect();
                let notes: Vec<_> = import
                    .servers
                    .iter()
                    .flat_map(|entry| entry.notes.clone())
                    .collect();
                format!(
                    "{what} = {}{}",
                    servers.join(" / "),
                    if notes.is_empty() {
                        String::new()
                    } else {
                        format!(" [{}]", notes.join("; "))
                    }
                )
            }
            Err(problem) => format!("! {}", problem.message()),
        }
    }

    #[test]
    fn what_people_paste_is_understood() {
        let cases = [
            (
                "http://127.0.0.1:3001/mcp",
                "an address = server: --url http://127.0.0.1:3001/mcp",
            ),
            (
                "npx -y 'my server' --port 1",
                "a command line = server: -- npx -y 'my server' --port 1",
            ),
            (
                "$ cd /srv && KEY=s3cret uvx thing",
                "a command line = server: --env KEY=… --cwd /srv -- uvx thing",
            ),
            (
                "npx a | tee log",
                "a command line = server: -- npx a '|' tee log [no shell is asked, so `|` is handed to the program as it stands]",
            ),
            (
                "env A=1 B=2 node x.js",
                "a command line = server: --env A=… --env B=… -- node x.js",
            ),
            (
                r#"{"mcpServers":{"a":{"command":"x"},"b":{"url":"https://h"}}}"#,
                "a client's configuration = a: -- x / b: --url https://h",
            ),
            (
                r#""a": {"command": "x", "args": ["1"]},"#,
                "a client's configuration = a: -- x 1",
            ),
            (
                r#"{"command":"x","env":{"K":"v"}}"#,
                "a client's configuration = server: --env K=… -- x",
            ),
            (
                r#"{"a":{"url":"https://h","type":"http"}} // mine"#,
                "a client's configuration = a: --url https://h",
            ),
            (
                "[mcp_servers.a]\ncommand = \"x\"",
                "a client's configuration = a: -- x",
            ),
            (r#"{"content":[{"type":"text","text":"hi"}]}"#, "an answer"),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "an answer"),
            (
                "claude mcp add --transport http gh https://h/mcp --header 'Authorization: Bearer s3cret'",
                "an `mcp add` line = gh: --url https://h/mcp --header 'Authorization: …'",
            ),
            (
                "claude mcp add -t http -H 'X-Key: s3cret' gh https://h/mcp",
                "an `mcp add` line = gh: --url https://h/mcp --header 'X-Key: …'",
            ),
            (
                "claude mcp add -s user -e A=1 B=2 fs -- npx -y fs --root /tmp",
                "an `mcp add` line = fs: --env A=… --env B=… -- npx -y fs --root /tmp [`-s user` is not used]",
            ),
            (
                "codex mcp add x --env K=v -- node x.js",
                "an `mcp add` line = x: --env K=… -- node x.js",
            ),
            (
                "codex mcp add x --url https://h --bearer-token-env-var TOK",
                "an `mcp add` line = x: --url https://h --header 'Authorization: …'",
            ),
            (
                "claude mcp add-json w '{\"type\":\"http\",\"url\":\"https://h\"}'",
                "an `mcp add` line = w: --url https://h",
            ),
            (
                "code --add-mcp '{\"name\":\"w\",\"command\":\"x\"}'",
                "a client's configuration = w: -- x",
            ),
            (
                "curl -X POST https://h/mcp \\\n  -H 'Authorization: Bearer s3cret' -H 'Content-Type: application/json' -d '{}'",
                "a curl command = server: --url https://h/mcp --header 'Authorization: …'",
            ),
            (
                "mcp-loupe tools --env K=v --cwd /x -- node a.js",
                "a Loupe command line = server: --env K=… --cwd /x -- node a.js",
            ),
            (
                "mcp-loupe --url http://h --header 'A: b'",
                "a Loupe command line = server: --url http://h --header 'A: …'",
            ),
            ("", "! nothing was pasted"),
            ("npx 'a", "! a quote is not closed"),
            (
                "{\"a\":1}",
                "! this JSON is neither a client's configuration nor an answer",
            ),
            ("curl -v", "! this curl command has no address"),
            (
                "claude mcp add x",
                "! the line names no command and no address",
            ),
            ("A=1", "! there is no command in it"),
        ];
        for (text, expected) in cases {
            assert_eq!(shown(text), expected, "{text}");
        }
        let deep = "[".repeat(100_000);
        assert!(understand(&deep).is_err());
    }
}
