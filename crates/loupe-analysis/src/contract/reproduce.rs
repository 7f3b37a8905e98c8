//! The command line that makes a call again, and how its server was reached, read back from the capture.
//!
//! A capture may come from a stranger: every word is quoted anew, and no option is taken over but those that only say how
//! the server is reached. Values of variables and headers are not in a capture. In their place stands a variable of the
//! shell with the same name, so that a command works once that is set, and no secret is in it.

use http::HeaderName;
use url::Url;

use loupe_core::capture::Capture;
use loupe_core::quote::shell;

/// How the server was reached.
pub(crate) enum SourceCommand {
    /// The SOURCE as it is: the sample, a fixture.
    Local(Vec<String>),
    Url {
        url: String,
        /// Names of headers.
        headers: Vec<String>,
    },
    Command {
        /// Names of variables.
        env: Vec<String>,
        cwd: Option<String>,
        words: Vec<String>,
    },
    /// Not known: the capture was opened from a file.
    Unknown,
}

impl SourceCommand {
    /// Reads what [`loupe_core::source::Source`] displays.
    pub fn new(capture: &Capture) -> Self {
        let Ok(words) = shell_words::split(&capture.server.source) else {
            return Self::Unknown;
        };
        let mut words = words.into_iter();
        let (mut env, mut cwd, mut url, mut headers) = (Vec::new(), None, None, Vec::new());
        while let Some(word) = words.next() {
            match word.as_str() {
                "--env" => env.extend(words.next().map(|pair| name_of(&pair, '='))),
                "--header" => headers.extend(words.next().map(|pair| name_of(&pair, ':'))),
                "--cwd" => cwd = words.next(),
                "--url" => url = words.next(),
                "--" => {
                    return Self::Command {
                        env,
                        cwd,
                        words: words.collect(),
                    };
                }
                "--fixture" => {
                    return Self::Local(std::iter::once(word).chain(words.next()).collect());
                }
                _ if word == "--sample" || word.starts_with("--sample=") => {
                    return Self::Local(vec![word]);
                }
                _ => {}
            }
        }
        let is_web = |url: &String| {
            Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
        };
        let are_names = headers
            .iter()
            .all(|name| HeaderName::try_from(name).is_ok());
        // Loupe itself has reached nothing else, nor sent such a header.
        url.filter(|url| is_web(url) && are_names)
            .map_or(Self::Unknown, |url| Self::Url { url, headers })
    }
}

/// How a result is counted, as options of the command line.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CountOptions<'a> {
    pub tokenizer: Option<&'a str>,
    /// The id of the host whose text counts as what is sent.
    pub sent_as: Option<&'a str>,
}

fn name_of(pair: &str, separator: char) -> String {
    pair.split(separator)
        .next()
        .unwrap_or_default()
        .trim()
        .to_owned()
}

/// The options next to [`SourceCommand`] that say how the server is reached.
fn options(capture: &Capture) -> Vec<String> {
    let mut words = shell_words::split(&capture.server.source)
        .unwrap_or_default()
        .into_iter()
        .take_while(|word| word != "--");
    let mut options = Vec::new();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--protocol" | "--transport" | "--cacert" => {
                options.extend(
                    words
                        .next()
                        .into_iter()
                        .flat_map(|value| [word.clone(), shell(&value).into_owned()]),
                );
            }
            "--env" | "--header" | "--cwd" | "--url" | "--fixture" => drop(words.next()),
            _ => {}
        }
    }
    options
}

/// The name of the shell's variable that stands for a secret.
fn variable(name: &str) -> String {
    let mut variable: String = name
        .chars()
        .map(|char| {
            if char.is_ascii_alphanumeric() {
                char.to_ascii_uppercase()
            } else {
                '_'
            }
        })
        .collect();
    if !variable.contains(|char: char| char.is_ascii_alphanumeric()) {
        // `$_` is the shell's own.
        return "VALUE".to_owned();
    }
    if variable.starts_with(|char: char| char.is_ascii_digit()) {
        variable.insert(0, '_');
    }
    variable
}

/// `NAME` and its secret as one word for a shell; the variable is filled in by the shell.
pub fn secret(name: &str, separator: &str) -> String {
    let variable = variable(name);
    if name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
    {
        return format!("\"{name}{separator}${variable}\"");
    }
    format!("{}\"${variable}\"", shell(&format!("{name}{separator}")))
}

/// The arguments of the call, `{}` where none are known.
pub fn arguments(capture: &Capture) -> String {
    if capture.arguments.is_empty() {
        "{}".to_owned()
    } else {
        String::from_utf8_lossy(&capture.arguments).into_owned()
    }
}

/// The words as one command line with its end.
///
/// # Errors
/// Why no command line can hold them.
pub fn line(words: &[String], separator: &str) -> Result<String, &'static str> {
    let line = words.join(separator) + "\n";
    if line.contains('\0') {
        Err("there is a U+0000 in it, which no command line can hold")
    } else {
        Ok(line)
    }
}

/// The command line of Loupe that makes the call again, with its end. `tokenizer` is the one to count by.
///
/// # Errors
/// Why there is none.
pub(crate) fn call_again(capture: &Capture, by: &CountOptions<'_>) -> Result<String, &'static str> {
    let word = |text: &str| shell(text).into_owned();
    let given = arguments(capture);
    let (command, name, given) = match capture.tool.name.as_str() {
        "" => return Err("the capture does not say which tool was called"),
        method @ ("resources/read" | "prompts/get") => {
            let given: serde_json::Value = serde_json::from_str(&given).unwrap_or_default();
            let is_read = method == "resources/read";
            let of = given
                .get(if is_read { "uri" } else { "name" })
                .and_then(serde_json::Value::as_str);
            let Some(of) = of else {
                return Err("the capture does not say what was read");
            };
            let arguments = given
                .get("arguments")
                .filter(|_| !is_read)
                .map(ToString::to_string);
            (
                if is_read { "read" } else { "prompt" },
                of.to_owned(),
                arguments,
            )
        }
        tool => ("call", tool.to_owned(), Some(given)),
    };
    if name.starts_with('-') {
        return Err("the name begins with `-`, so that a command line would take it for an option");
    }
    // `@FILE` and `-` are read from elsewhere.
    if given
        .as_ref()
        .is_some_and(|given| !given.trim_start().starts_with('{'))
    {
        return Err("the arguments are not a JSON object");
    }
    let mut words = vec!["mcp-loupe".to_owned(), command.to_owned(), word(&name)];
    words.extend(
        given
            .into_iter()
            .flat_map(|given| ["--args".to_owned(), word(&given)]),
    );
    words.extend(
        by.tokenizer
            .into_iter()
            .flat_map(|name| ["--tokenizer".to_owned(), word(name)]),
    );
    words.extend(
        by.sent_as
            .into_iter()
            .flat_map(|id| ["--sent-as".to_owned(), word(id)]),
    );
    words.extend(options(capture));
    match SourceCommand::new(capture) {
        SourceCommand::Local(source) => words.extend(source.iter().map(|text| word(text))),
        SourceCommand::Url { url, headers } => {
            words.extend(["--url".to_owned(), word(&url)]);
            words.extend(
                headers
                    .iter()
                    .flat_map(|name| ["--header".to_owned(), secret(name, ": ")]),
            );
        }
        SourceCommand::Command {
            env,
            cwd,
            words: command,
        } => {
            words.extend(
                env.iter()
                    .flat_map(|name| ["--env".to_owned(), secret(name, "=")]),
            );
            words.extend(cwd.iter().flat_map(|cwd| ["--cwd".to_owned(), word(cwd)]));
            words.push("--".to_owned());
            words.extend(command.iter().map(|text| word(text)));
        }
        SourceCommand::Unknown => {
            return Err("the capture does not say how the server was reached");
        }
    }
    line(&words, " ")
}
