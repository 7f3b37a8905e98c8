//! Causes that a program prints before it answers, on stderr or in the place of messages.
//!
//! A cause is one entry of [`CAUSES`]: what has to be printed, what that shows, and what to do. `{name}` is a group of the
//! pattern, `{program}` the command.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::Known;
use crate::error::{Error, excerpt};
use loupe_core::problem::PastePlace::{self, Entry, Server, Terminal};
use loupe_core::quote::shell;

/// Where a cause is printed.
#[derive(Clone, Copy, PartialEq)]
enum On {
    Stderr,
    Stdout,
    Either,
}

struct PrintedCause {
    on: On,
    step: &'static str,
    pattern: &'static str,
    sentence: &'static str,
    fix: &'static str,
    paste: Option<(PastePlace, &'static str)>,
    /// What a real program prints; the tests read it.
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests read it"))]
    example: &'static str,
}

/// Of those that fit, the one that is printed last is the cause: what comes before it did not end the program.
#[rustfmt::skip]
const CAUSES: &[PrintedCause] = &[
    PrintedCause { on: On::Either, step: "still-running",
        pattern: r"(?i)EADDRINUSE|address already in use|\bport \d+ is already in use",
        sentence: "its port is in use already",
        fix: "end the program that holds the port, or choose another; a server over stdio needs none",
        paste: None, example: "Error: listen EADDRINUSE: address already in use :::3000" },
    PrintedCause { on: On::Either, step: "not-http",
        pattern: r"(?i)(?:running|listening|serving|started|starting|ready)\b.*?(?<url>https?://(?:localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\])(?::\d+)?[^\s)\]'\x22]*)",
        sentence: "it says that it listens at {url} and answers nothing on standard output: likely an HTTP server",
        fix: "connect to that URL instead, or start it with its option for stdio",
        paste: Some((Terminal, "mcp-loupe doctor --url {url}")), example: "INFO:     Uvicorn running on http://127.0.0.1:8000 (Press CTRL+C to quit)" },
    PrintedCause { on: On::Either, step: "not-http",
        pattern: r"(?i)(?:running|listening|serving|started|starting)\b.*?\bport:? (?<port>\d{2,5})\b",
        sentence: "it says that it listens on port {port} and answers nothing on standard output: likely an HTTP server",
        fix: "connect to its URL instead, or start it with its option for stdio",
        paste: Some((Terminal, "mcp-loupe doctor --url http://127.0.0.1:{port}/mcp")), example: "MCP server listening on port 3000" },
    PrintedCause { on: On::Stderr, step: "still-running",
        pattern: r"\bKeyError: '(?<name>[A-Za-z_][A-Za-z0-9_]*)'",
        sentence: "the variable {name} is not set",
        fix: "set the variable",
        paste: Some((Entry, r#""env": { "{name}": "…" }"#)), example: "KeyError: 'API_KEY'" },
    PrintedCause { on: On::Stderr, step: "still-running",
        pattern: r"(?i)(?-i:\b(?<name>[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b)[^\n]{0,60}?\b(?:is not set|not set|is required|are required|required|must be set|must be provided|is missing|missing|not defined|undefined|not found|not provided|is empty|not configured)\b",
        sentence: "the server says that the variable {name} is missing",
        fix: "set the variable",
        paste: Some((Entry, r#""env": { "{name}": "…" }"#)), example: "Error: BRAVE_API_KEY environment variable is required" },
    PrintedCause { on: On::Stderr, step: "still-running",
        pattern: r"(?i)\b(?:missing|(?:please|must|need to) set|provide|requires?|required|need to define|specify)\b[^\n]{0,60}?(?-i:\b(?<name>[A-Z][A-Z0-9]*(?:_(?:[A-Z0-9]+))*_(?:KEY|TOKEN|SECRET|ID|URL|URI|USER|USERNAME|PASSWORD|HOST|EMAIL|DOMAIN|DSN|PATH|DIR))\b)",
        sentence: "the server says that the variable {name} is missing",
        fix: "set the variable",
        paste: Some((Entry, r#""env": { "{name}": "…" }"#)), example: "Missing required environment variables: SLACK_BOT_TOKEN" },
    PrintedCause { on: On::Stderr, step: "still-running",
        pattern: r"validation errors? for \w*(?:Settings|Config)\w*\n(?<name>\w+)\n\s+Field required",
        sentence: "the setting {name} is missing",
        fix: "set it, as a variable of the same name in capitals if the server uses pydantic-settings",
        paste: None, example: "pydantic_core._pydantic_core.ValidationError: 1 validation error for Settings\napi_key\n  Field required [type=missing, input_value={}, input_type=dict]" },
    PrintedCause { on: On::Stderr, step: "still-running",
        pattern: r"(?s)(?:SyntaxError|ERR_UNKNOWN_BUILTIN_MODULE|No such built-in module|(?:fetch|structuredClone|Headers|File|ReadableStream|crypto) is not defined).*?Node\.js v(?<version>(?:[0-9]|1[0-7])\.\d+\.\d+)",
        sentence: "Node.js {version} is likely too old for this server",
        fix: "start it with a newer Node.js (20 or later), by its full path if several are installed",
        paste: None, example: "SyntaxError: Unexpected token '??='\n    at Loader.moduleStrategy\n\nNode.js v14.21.3" },
    PrintedCause { on: On::Stderr, step: "still-running",
        pattern: r#"(?i)(?:requires? node(?:\.js)?|node(?:\.js)? version)[^\n]*?(?<wanted>(?:>=|\^|v|version )?\s*\d+[\d.x]*)"#,
        sentence: "the server says that it needs another Node.js ({wanted})",
        fix: "start it with that Node.js, by its full path if several are installed",
        paste: None, example: "This server requires Node.js >=22.0.0, found 20.1.0" },
    PrintedCause { on: On::Stderr, step: "still-running",
        pattern: r"(?:requires a different Python|No interpreter found for Python|requires-python|Requires-Python|[Pp]ython (?:version )?requirement)[^\n]*?(?<wanted>[<>=~!]*\s?3\.\d+)",
        sentence: "the server needs another Python ({wanted})",
        fix: "start it with that Python: `uvx --python VERSION …`, or the interpreter of its environment",
        paste: None, example: "ERROR: Package 'x' requires a different Python: 3.9.2 not in '>=3.10'" },
    PrintedCause { on: On::Stderr, step: "still-running",
        pattern: r"unsupported operand type\(s\) for \|: '(?:type|\w+)' and '(?:NoneType|type)'",
        sentence: "this Python is likely too old for the server: it does not know `X | None`",
        fix: "start it with Python 3.10 or later",
        paste: None, example: "TypeError: unsupported operand type(s) for |: 'type' and 'NoneType'" },
    PrintedCause { on: On::Stderr, step: "still-running",
        pattern: r"(?:Cannot find module|can't open file|Module not found|No such file or directory:|[Cc]annot open|[Cc]an't open) ['\x22\x{201c}]?(?<path>(?:file:)?(?:/|\.{1,2}/|[A-Z]:\\)[^'\x22\n\x{201d}]+)",
        sentence: "there is no file {path}",
        fix: "correct the path, or build the server first (`npm run build`); a client may start it in another folder, so give the full path",
        paste: None, example: "Error: Cannot find module '/srv/weather/dist/index.js'" },
    PrintedCause { on: On::Stderr, step: "still-running",
        pattern: r"can't open file '(?<path>[^']+)'",
        sentence: "there is no file {path}",
        fix: "correct the path; a client may start the server in another folder, so give the full path",
        paste: None, example: "python3: can't open file 'server.py': [Errno 2] No such file or directory" },
    PrintedCause { on: On::Stderr, step: "still-running",
        pattern: r"'Server' object has no attribute '(?<name>\w+)'|cannot import name '(?<path>\w+)' from 'mcp\b|No module named '(?<module>mcp\.server\.fastmcp)\b",
        sentence: "the MCP SDK for Python that is installed has no `{name}{path}{module}`: likely another version than the server was written for",
        fix: "install the version that the server asks for, often `mcp<2`",
        paste: Some((Terminal, "pip install 'mcp<2'")), example: "AttributeError: 'Server' object has no attribute 'list_resources'" },
    PrintedCause { on: On::Stderr, step: "still-running",
        pattern: r"cannot import name '(?<name>\w+)' from '(?<path>[\w.]+)'|does not provide an export named '(?<export>\w+)'",
        sentence: "a package that is installed has no `{name}{export}`: likely another version than the server was written for",
        fix: "install the versions that the server asks for (`uv sync`, `pip install -r requirements.txt`, `npm ci`)",
        paste: None, example: "ImportError: cannot import name 'eval_type_backport' from 'pydantic._internal._typing_extra' (/srv/typing_extra.py)" },
    PrintedCause { on: On::Stderr, step: "still-running",
        pattern: r"No module named '?(?<name>[\w.]+)'?",
        sentence: "the Python that was started has no module {name}",
        fix: "install it for this Python, or start the server with the Python of its own environment (`.venv/bin/python`) or by `uv run`",
        paste: None, example: "ModuleNotFoundError: No module named 'mcp'" },
    PrintedCause { on: On::Stderr, step: "still-running",
        pattern: r"Cannot find (?:package|module) '(?<name>[^'/.][^']*)'",
        sentence: "the package {name} is not installed where the server is",
        fix: "install the packages in the server's folder (`npm install`)",
        paste: None, example: "Error [ERR_MODULE_NOT_FOUND]: Cannot find package '@modelcontextprotocol/sdk' imported from /srv/index.js" },
    PrintedCause { on: On::Stderr, step: "still-running",
        pattern: r"'(?<name>[^'\s]+)@[^'\s]*' (?:is not in this registry|could not be found)|404 Not Found - GET \S+/(?<path>[^\s/]+)",
        sentence: "the npm registry has no package {name}{path}",
        fix: "check the name of the package, and its scope (`@scope/name`)",
        paste: None, example: "npm error 404  'mcp-server-nosuch@*' is not in this registry." },
    PrintedCause { on: On::Stderr, step: "still-running",
        pattern: r"npm (?:error|ERR!) could not determine executable to run",
        sentence: "the npm package has no program that npx could start",
        fix: "name the program: `npx -y -p PACKAGE PROGRAM`",
        paste: None, example: "npm error could not determine executable to run" },
    PrintedCause { on: On::Stderr, step: "still-running",
        pattern: r"(?:No matching version found for|notarget No matching version found for) (?<name>\S+?)\.?(?:\s|$)",
        sentence: "the npm registry has no version {name}",
        fix: "check the version",
        paste: None, example: "npm error notarget No matching version found for mcp-server@99.0.0." },
    PrintedCause { on: On::Stderr, step: "still-running",
        pattern: r"(?<name>[\w.-]+) was not found in the package registry|No matching distribution found for (?<path>\S+)",
        sentence: "the Python package index has no package {name}{path}",
        fix: "check the name of the package",
        paste: None, example: "  x No solution found when resolving tool dependencies:\n  ╰─▶ Because mcp-server-nosuch was not found in the package registry" },
    PrintedCause { on: On::Stderr, step: "still-running",
        pattern: r"[Aa]n executable named `(?<name>[^`]+)` is not provided by package `(?<path>[^`]+)`",
        sentence: "the package {path} has no program {name}",
        fix: "name the package and the program: `uvx --from PACKAGE PROGRAM`",
        paste: None, example: "An executable named `mcp-git` is not provided by package `mcp-git`." },
    PrintedCause { on: On::Stderr, step: "still-running",
        pattern: r"(?:getaddrinfo (?:ENOTFOUND|EAI_AGAIN)|Could not resolve host:?|ENOTFOUND|failed to lookup address information|dns error|Failed to fetch: `?(?:https?://)?)\s*(?<name>[\w.-]*)",
        sentence: "the program could not reach {name}",
        fix: "check the network, the proxy (HTTPS_PROXY) and the name; without a network, install the package first",
        paste: None, example: "npm error code ENOTFOUND\nnpm error network request failed, reason: getaddrinfo ENOTFOUND registry.npmjs.org" },
    PrintedCause { on: On::Stderr, step: "still-running",
        pattern: r"Cannot connect to the Docker daemon",
        sentence: "Docker does not run",
        fix: "start Docker",
        paste: None, example: "docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?" },
    PrintedCause { on: On::Stderr, step: "still-running",
        pattern: r"(?:env: |: )[‘'\x22]?(?<name>[\w.+-]+)\\r['’\x22]?: No such file",
        sentence: "the script has Windows line ends: its first line asks for `{name}\\r`",
        fix: "write the file with Unix line ends",
        paste: Some((Terminal, r"sed -i 's/\r$//' {program}")), example: "/usr/bin/env: 'python3\\r': No such file or directory" },
    PrintedCause { on: On::Stderr, step: "still-running",
        pattern: r"(?m)(?:env: [‘'\x22]?|sh: (?:\d+|line \d+): |bash: (?:line \d+: )?)(?<name>[\w./@+-]+)['’\x22]?: (?:No such file or directory|(?:command )?not found)",
        sentence: "it starts `{name}`, which is in no folder of PATH",
        fix: "install it, or set PATH: a client that is started from a desktop may have a shorter one than your terminal",
        paste: Some((Entry, r#""env": { "PATH": "…" }"#)), example: "env: ‘node’: No such file or directory" },
    PrintedCause { on: On::Stderr, step: "still-running",
        pattern: r"(?:EACCES|PermissionError|Permission denied|EPERM)[^\n]*?(?<path>/[^'\x22\n:,]+)",
        sentence: "it may not open {path}",
        fix: "check whose file it is (`ls -l`), and as whom the server runs",
        paste: Some((Terminal, "ls -l {path}")), example: "PermissionError: [Errno 13] Permission denied: '/var/lib/weather/cache.db'" },
    PrintedCause { on: On::Stderr, step: "still-running",
        pattern: r"(?i)(?m)^.*?(?<line>(?:unrecognized arguments?|the following arguments are required|unknown (?:option|argument|command)|unexpected argument|missing required argument|no such option|invalid option)[^\n]*)",
        sentence: "the program does not take its arguments: {line}",
        fix: "correct the arguments; `--help` lists what it takes",
        paste: None, example: "server.py: error: the following arguments are required: --db" },
    PrintedCause { on: On::Stdout, step: "framing",
        pattern: r"(?i)^content-length: *\d+",
        sentence: "it frames messages with `Content-Length`, as language servers do",
        fix: "write each message on one line of its own: so MCP has it over stdio",
        paste: None, example: "Content-Length: 120" },
    PrintedCause { on: On::Stdout, step: "framing",
        pattern: r"\x00",
        sentence: "it writes UTF-16 to standard output",
        fix: "write UTF-8",
        paste: None, example: "{\u{0}\"\u{0}j\u{0}" },
    PrintedCause { on: On::Stdout, step: "framing",
        pattern: r"^\s*[\{\[]\s*$",
        sentence: "it writes a message over several lines",
        fix: "write each message on one line of its own, without indentation",
        paste: None, example: "{" },
    PrintedCause { on: On::Stdout, step: "first-output",
        pattern: r"^> (?<name>\S+@\S+) ?(?<script>\S*)",
        sentence: "`npm run` prints `> {name} {script}` to standard output, where messages belong",
        fix: "start the script by `npm run --silent`, or by `node` itself",
        paste: None, example: "> weather@1.0.0 start" },
    PrintedCause { on: On::Stdout, step: "first-output",
        pattern: r"^\[dotenv@",
        sentence: "dotenv prints a line to standard output, where messages belong",
        fix: "silence it: `dotenv.config({ quiet: true })`, or the variable",
        paste: Some((Entry, r#""env": { "DOTENV_CONFIG_QUIET": "true" }"#)), example: "[dotenv@17.2.3] injecting env (4) from .env" },
    PrintedCause { on: On::Stdout, step: "first-output",
        pattern: r"(?i)^\s*<(?:!doctype|html|\?xml)",
        sentence: "it prints a document to standard output, where messages belong",
        fix: "check that this command starts an MCP server over stdio",
        paste: None, example: "<!DOCTYPE html>" },
    PrintedCause { on: On::Stdout, step: "first-output",
        pattern: r"(?i)^\s*(?:usage: |options:|commands:)",
        sentence: "it prints its help to standard output: it was started without what it needs",
        fix: "give the arguments that start its MCP server over stdio, often `mcp`, `serve` or `--stdio`",
        paste: None, example: "Usage: weather [OPTIONS] COMMAND" },
    PrintedCause { on: On::Stdout, step: "first-output",
        pattern: r"(?i)(?:^\W*(?:\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d)|\b(?:info|debug|warn|warning|error|trace|notice)\b\]?[\s:|-])",
        sentence: "it writes its log to standard output, where messages belong",
        fix: "write the log to stderr",
        paste: Some((Server, "logging.basicConfig(stream=sys.stderr)   # Python; in JavaScript console.error in place of console.log")), example: "[INFO] 2026-11-29 ready" },
];

/// The patterns, compiled when a connection fails for the first time.
static PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let compile = |cause: &PrintedCause| Regex::new(cause.pattern).ok();
    CAUSES.iter().filter_map(compile).collect()
});

/// What a program says in passing: it goes on after it.
static IN_PASSING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\bwarn(?:ing)?\b|optional|using (?:the )?default|using a |continuing|falling back|skipping|retry|trying|deprecated|metrics|/health|/docs|dashboard|inspector").ok()
});

/// Names in capitals that are no variables.
const NO_VARIABLES: [&str; 5] = ["ERR_", "SQLITE_", "HTTP_STATUS", "UV_", "MODULE_NOT"];

/// The cause that what was printed shows: of all that fit, what was printed last. `has_ended`: a program that has ended
/// listens nowhere.
fn printed(
    place: &str,
    unreadable: Option<&str>,
    stderr: &[String],
    has_ended: bool,
) -> Option<Known> {
    let is_passing = |line: &&String| {
        IN_PASSING
            .as_ref()
            .is_none_or(|passing| passing.is_match(line))
    };
    let told: Vec<&str> = stderr
        .iter()
        .filter(|line| !is_passing(line))
        .map(String::as_str)
        .collect();
    let stderr = told.join("\n");
    let mut last: Option<(usize, Known)> = None;
    for (cause, pattern) in CAUSES.iter().zip(&*PATTERNS) {
        if has_ended && cause.step == "not-http" {
            continue;
        }
        let on_stderr = (cause.on != On::Stdout).then_some(stderr.as_str());
        let on_stdout = unreadable.filter(|_| cause.on != On::Stderr);
        for (is_stderr, text) in [(true, on_stderr), (false, on_stdout)] {
            let Some(found) = text.and_then(|text| best(cause, pattern, text)) else {
                continue;
            };
            // What is on standard output came before the program ended, and explains it only where stderr does not.
            let at = found
                .get(0)
                .map_or(0, |all| all.start() + usize::from(is_stderr));
            if last.as_ref().is_some_and(|(before, _)| *before >= at) {
                continue;
            }
            if let Some(known) = explain(cause, pattern, &found, place, &stderr) {
                last = Some((at, known));
            }
        }
    }
    last.map(|(_, known)| known)
}

/// The match of a pattern that counts: the last one, of addresses one that looks like an MCP endpoint.
fn best<'t>(cause: &PrintedCause, pattern: &Regex, text: &'t str) -> Option<Captures<'t>> {
    let all: Vec<_> = pattern.captures_iter(text).collect();
    let is_endpoint = |found: &Captures<'_>| {
        let url = found.name("url").map_or("", |url| url.as_str());
        ["/mcp", "/sse"]
            .iter()
            .any(|end| url.trim_end_matches(['.', '/']).ends_with(end))
    };
    let endpoint = all
        .iter()
        .position(|found| cause.sentence.contains("{url}") && is_endpoint(found));
    let at = endpoint.or(all.len().checked_sub(1))?;
    all.into_iter().nth(at)
}

/// The cause with what was captured; `None` where what is around it tells otherwise.
fn explain(
    cause: &PrintedCause,
    pattern: &Regex,
    found: &Captures<'_>,
    place: &str,
    stderr: &str,
) -> Option<Known> {
    let is_key = cause.pattern.contains("KeyError");
    let at = found.get(0)?.start();
    // A key that a dictionary lacks is a variable only where the environment was read.
    if is_key && !reads_environment(stderr, at) {
        return None;
    }
    let is_variable = cause.sentence.contains("variable {name}");
    let name = found.name("name").map_or("", |name| name.as_str());
    if is_variable && NO_VARIABLES.iter().any(|head| name.starts_with(head)) {
        return None;
    }
    let fill = |template: &str, is_command: bool| {
        let quoted = |value: String| {
            if is_command {
                shell(&value).into_owned()
            } else {
                value
            }
        };
        let mut text = template.replace("{program}", &quoted(place.to_owned()));
        for name in pattern.capture_names().flatten() {
            let value = found.name(name).map_or("", |value| value.as_str());
            let value = match name {
                "url" => reachable(value),
                _ => value.trim().replace("%2f", "/").replace("%2F", "/"),
            };
            text = text.replace(&format!("{{{name}}}"), &quoted(value));
        }
        text
    };
    let mut sentence = fill(cause.sentence, false);
    let mut variables = Vec::new();
    if is_variable && !is_key {
        variables = named_with(line_at(stderr, at), name);
        if variables.len() > 1 {
            let all = variables.join(" and ");
            sentence = sentence
                .replace("variable ", "variables ")
                .replace(name, &all)
                .replace(" is missing", " are missing");
        }
    }
    if is_key && let Some((file, line)) = read_at(stderr) {
        sentence = format!("{file} reads a variable in line {line} that is not set: {name}");
    }
    let fix = match variables.len() {
        0 | 1 => fill(cause.fix, false),
        _ => "set the variables".to_owned(),
    };
    let mut known = Known::new(cause.step, sentence, fix).leading();
    if let Some((place, text)) = cause.paste {
        known = known.paste(
            place,
            match variables.len() {
                0 | 1 => fill(text, place == Terminal),
                _ => entry_of(&variables),
            },
        );
    }
    Some(known)
}

/// Whether the frames right before this error read the environment.
fn reads_environment(stderr: &str, at: usize) -> bool {
    const FRAMES: usize = 8;
    let before = stderr.get(..at).unwrap_or_default();
    before
        .lines()
        .rev()
        .take(FRAMES)
        .any(|line| line.contains("environ["))
}

/// The line of a text at a byte of it.
fn line_at(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    text[start..].lines().next().unwrap_or("")
}

/// The variables of a line that wants all of them: `A and B`, `A, B`.
fn named_with(line: &str, first: &str) -> Vec<String> {
    let is_name = |word: &str| {
        word.contains('_')
            && !word.starts_with('_')
            && word.chars().all(|letter| {
                letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_'
            })
    };
    let from = line.find(first).map_or("", |at| &line[at..]);
    let mut names: Vec<String> = Vec::new();
    for word in from.split_whitespace() {
        let name =
            word.trim_matches(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        if is_name(name) {
            names.push(name.to_owned());
        } else if word != "and" {
            break;
        }
    }
    names
}

/// The lines of a client's configuration that set these variables.
fn entry_of(variables: &[String]) -> String {
    let members: Vec<String> = variables
        .iter()
        .map(|name| format!(r#""{name}": "…""#))
        .collect();
    format!(r#""env": {{ {} }}"#, members.join(", "))
}

/// An address to connect to: what a server listens on may be every address it has.
fn reachable(url: &str) -> String {
    let url = url.trim_end_matches(['.', ',', ';', '/']);
    let url = url
        .replace("://0.0.0.0", "://127.0.0.1")
        .replace("://[::]", "://127.0.0.1");
    match url.splitn(4, '/').nth(3) {
        Some(path) if !path.is_empty() => url,
        _ => format!("{url}/mcp"),
    }
}

/// The file and line of a trace of Python that reads the environment.
fn read_at(stderr: &str) -> Option<(String, String)> {
    let mut last = None;
    for line in stderr.lines() {
        let line = line.trim();
        let place = line
            .strip_prefix("File \"")
            .and_then(|rest| rest.split_once("\", line "));
        if let Some((file, rest)) = place {
            let number = rest.split(',').next().unwrap_or(rest);
            if !file.starts_with('<') {
                let file = file.rsplit(['/', '\\']).next().unwrap_or(file);
                last = Some((file.to_owned(), number.to_owned()));
            }
        } else if line.contains("environ[") {
            return last;
        }
    }
    None
}

/// Why a program ended before it answered.
pub(super) fn of_ended(
    error: &Error,
    place: &str,
    how: &str,
    unreadable: Option<&str>,
    stderr: &[String],
) -> Known {
    if let Some(known) = printed(place, unreadable, stderr, true) {
        return known;
    }
    let known = |step, sentence: String, fix: &str| Known::new(step, sentence, fix);
    if how.contains("SIGKILL") {
        return known(
            "still-running",
            "the program was killed (SIGKILL), likely because memory ran out".into(),
            "start it in a terminal and watch its memory; a container may have a limit",
        )
        .leading();
    }
    if how.contains("was ended by SIG") {
        return known(
            "still-running",
            error.to_string(),
            "the program crashed: start it in a terminal to see why",
        );
    }
    if unreadable.is_some() {
        return known(
            "first-output",
            error.to_string(),
            "an MCP server writes nothing but JSON messages to standard output; check that this starts one",
        );
    }
    if !stderr.is_empty() {
        return known(
            "still-running",
            error.to_string(),
            "see stderr above; check its arguments and environment",
        );
    }
    let sentence = if how.ends_with("status 0") {
        "the program ended by itself before it read a message".into()
    } else {
        error.to_string()
    };
    known(
        "still-running",
        sentence,
        "start it in a terminal to see why it ends; check that it is an MCP server",
    )
}

/// Why a program, or a server, is silent.
pub(super) fn of_silent(
    error: &Error,
    place: &str,
    unreadable: Option<&str>,
    stderr: &[String],
) -> Known {
    if let Some(known) = printed(place, unreadable, stderr, false) {
        return known;
    }
    if place.starts_with("http") {
        return Known::new(
            "http-status",
            error.to_string(),
            "check that this is the MCP endpoint, and that nothing in front of it holds answers back",
        );
    }
    match unreadable {
        Some(line) => Known::new(
            "first-output",
            format!("it printed `{}` and answered nothing", excerpt(line)),
            "what it printed is not MCP; check that this starts an MCP server on standard input and output",
        ),
        None => Known::new(
            "first-output",
            "the program runs and has answered nothing",
            "check that this is an MCP server; one that is still being downloaded needs a longer limit (`--timeout`)",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_is_found_in_what_a_real_program_prints() {
        assert_eq!(PATTERNS.len(), CAUSES.len());
        for cause in CAUSES {
            let example = cause.example;
            let traced: Vec<String> = match cause.pattern.contains("KeyError") {
                true => vec!["os.environ[\"API_KEY\"]".into(), example.into()],
                false => example.lines().map(str::to_owned).collect(),
            };
            let known = match cause.on {
                On::Stdout => printed("sh", Some(example), &[], false),
                _ => printed("sh", None, &traced, false),
            };
            let known = known.unwrap_or_else(|| panic!("nothing found in {example}"));
            let head = cause.sentence.split('{').next().unwrap();
            assert!(
                known.cause.sentence.starts_with(head) && known.cause.step == cause.step,
                "{example}: {}",
                known.cause.sentence
            );
            assert!(
                !known.cause.sentence.contains('{'),
                "{}",
                known.cause.sentence
            );
        }
    }

    #[test]
    fn what_programs_say_in_passing_is_no_cause() {
        for (stdout, stderr) in [
            (None, "Secure MCP Filesystem Server running on stdio"),
            (None, "KeyError: 'id'"),
            (None, "npm warn deprecated inflight@1.0.6: not supported"),
            (None, "Downloading cpython-3.12 (31.2MiB)"),
            (None, "HTTP_PROXY=http://proxy:3128 is used"),
            (None, "Set LOG_LEVEL to debug for more"),
            (
                None,
                "GITHUB_TOKEN is not set, continuing\nValueError: bad config file",
            ),
            (None, "LOG_LEVEL not set, using default info\nboom"),
            (None, "Need help? See SUPPORT_URL\nboom"),
            (None, "SQLITE_CANTOPEN: database not found"),
            (
                None,
                "WARNING: No module named uvloop, falling back to asyncio\nboom",
            ),
            (
                None,
                "Address already in use; trying next port\nTypeError: x",
            ),
            (
                None,
                "debug: connecting to service running at https://api.example.com/v1\nboom",
            ),
            (None, "MCP server listening on port 3000\nboom"),
            (None, "os.environ is read\nKeyError: 'city'"),
            (None, "TypeError: x is not a function\n\nNode.js v16.20.2"),
            (Some("{\"jsonrpc\":\"1.0\"}"), ""),
        ] {
            let stderr: Vec<String> = stderr.lines().map(str::to_owned).collect();
            let found = printed("sh", stdout, &stderr, true).map(|known| known.cause.sentence);
            assert_eq!(found, None, "{stdout:?} {stderr:?}");
        }
    }

    #[test]
    fn a_trace_names_the_line_that_reads_the_variable() {
        let trace = "Traceback (most recent call last):\n  File \"/home/ada/src/weather/server.py\", line 7, in <module>\n    API_KEY = os.environ[\"API_KEY\"]\n  File \"<frozen os>\", line 679, in __getitem__\nKeyError: 'API_KEY'";
        let lines: Vec<String> = trace.lines().map(str::to_owned).collect();
        let known = printed("python3", None, &lines, true).unwrap();
        assert_eq!(
            known.cause.sentence,
            "server.py reads a variable in line 7 that is not set: API_KEY"
        );
        assert_eq!(
            known.cause.paste.unwrap().text,
            "\"env\": { \"API_KEY\": \"…\" }"
        );
    }

    #[test]
    fn all_variables_that_are_missing_together_are_named() {
        let line = "Please set SLACK_BOT_TOKEN and SLACK_TEAM_ID environment variables".to_owned();
        let known = printed("sh", None, &[line], true).unwrap();
        assert_eq!(
            known.cause.sentence,
            "the server says that the variables SLACK_BOT_TOKEN and SLACK_TEAM_ID are missing"
        );
        assert_eq!(
            known.cause.paste.unwrap().text,
            r#""env": { "SLACK_BOT_TOKEN": "…", "SLACK_TEAM_ID": "…" }"#
        );
        let line =
            "Error: A key is required via --key, BRAVE_API_KEY, --file, or BRAVE_API_KEY_FILE"
                .to_owned();
        let known = printed("sh", None, &[line], true).unwrap();
        assert_eq!(
            known.cause.sentence,
            "the server says that the variable BRAVE_API_KEY is missing"
        );
    }

    #[test]
    fn what_is_printed_last_is_the_cause() {
        let cause = |stderr: &str, has_ended| {
            let lines: Vec<String> = stderr.lines().map(str::to_owned).collect();
            printed("sh", None, &lines, has_ended).map(|known| known.cause.sentence)
        };
        let stderr = "Error: API_KEY is required\nModuleNotFoundError: No module named 'zed'";
        let module = "the Python that was started has no module zed";
        assert_eq!(cause(stderr, true).as_deref(), Some(module));
        let stderr = "Prometheus metrics listening at http://127.0.0.1:9464/metrics\nServer running on HTTP at http://localhost:3999/mcp\nready at http://localhost:3998";
        assert!(
            cause(stderr, false)
                .unwrap()
                .contains("http://localhost:3999/mcp")
        );
        assert_eq!(
            cause("started, connecting to https://db.example.com", false),
            None
        );
    }

    #[test]
    fn an_address_to_connect_to_has_a_host_and_a_path() {
        for (printed, reachable_at) in [
            ("http://0.0.0.0:8000", "http://127.0.0.1:8000/mcp"),
            ("http://localhost:3000/sse", "http://localhost:3000/sse"),
            ("http://[::]:3000/", "http://127.0.0.1:3000/mcp"),
        ] {
            assert_eq!(reachable(printed), reachable_at);
        }
    }
}
