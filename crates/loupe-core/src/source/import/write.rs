//! A source as the lines of a client's configuration: one entry a client, the counterpart of `shapes`. No secret is in
//! them: in its place stands a variable of the environment, as the client reads it.

use serde_json::{Map, Value, json};

use super::super::{Command, Http, Protocol, Source, Transport};
use super::placeholder;
use crate::problem::{Problem, ProblemKind};
use crate::source::secret::map_secrets;

/// How a client's file is written.
struct Shape {
    /// As in [`super::PLACES`].
    client: &'static str,
    /// The member that holds the servers.
    list: &'static str,
    /// What `type` says of a command; empty: nothing.
    command: &'static str,
    /// The member that holds an address and what `type` says, of Streamable HTTP and of server-sent events.
    http: (&'static str, &'static str),
    sse: (&'static str, &'static str),
    variables: Variables,
}

/// How a client refers to a variable of the environment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Variables {
    /// `${NAME}`
    Plain,
    /// `${env:NAME}`
    Env,
    /// By members of their own, of variables and headers alone.
    Members,
    /// Not at all: the value is put in by hand.
    No,
}

/// The clients, as in [`super::PLACES`].
const SHAPES: &[Shape] = &[
    shape(
        "Claude Desktop",
        "mcpServers",
        "",
        ("", ""),
        ("", ""),
        Variables::No,
    ),
    shape(
        "Claude Code",
        "mcpServers",
        "stdio",
        ("url", "http"),
        ("url", "sse"),
        Variables::Plain,
    ),
    shape(
        "VS Code",
        "servers",
        "stdio",
        ("url", "http"),
        ("url", "sse"),
        Variables::Env,
    ),
    shape(
        "Copilot CLI",
        "mcpServers",
        "local",
        ("url", "http"),
        ("url", "sse"),
        Variables::Plain,
    ),
    shape(
        "Cursor",
        "mcpServers",
        "",
        ("url", ""),
        ("url", ""),
        Variables::Env,
    ),
    shape(
        "Windsurf",
        "mcpServers",
        "",
        ("serverUrl", ""),
        ("serverUrl", ""),
        Variables::Env,
    ),
    shape(
        "Zed",
        "context_servers",
        "",
        ("url", ""),
        ("", ""),
        Variables::No,
    ),
    shape(
        "Codex",
        "mcp_servers",
        "",
        ("url", ""),
        ("", ""),
        Variables::Members,
    ),
    shape(
        "Gemini CLI",
        "mcpServers",
        "",
        ("httpUrl", ""),
        ("url", ""),
        Variables::Plain,
    ),
    shape(
        "LM Studio",
        "mcpServers",
        "",
        ("url", ""),
        ("", ""),
        Variables::No,
    ),
    shape(
        "Cline",
        "mcpServers",
        "stdio",
        ("url", "streamableHttp"),
        ("url", "sse"),
        Variables::No,
    ),
];

const fn shape(
    client: &'static str,
    list: &'static str,
    command: &'static str,
    http: (&'static str, &'static str),
    sse: (&'static str, &'static str),
    variables: Variables,
) -> Shape {
    Shape {
        client,
        list,
        command,
        http,
        sse,
        variables,
    }
}

/// The lines for a client's file, and what they leave to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    pub text: String,
    /// Sentences.
    pub notes: Vec<String>,
}

/// The clients whose configuration can be written, in the order of [`super::PLACES`].
pub fn clients() -> impl Iterator<Item = &'static str> {
    SHAPES.iter().map(|shape| shape.client)
}

/// Writes the entry of a server under a name.
///
/// # Errors
/// No such client, or one that takes no address of this kind.
pub fn write(client: &str, name: &str, source: &Source) -> Result<Configuration, Problem> {
    // `claude-code` and `vscode` are as good as the names with a space.
    let plain = |name: &str| name.replace([' ', '-', '_'], "").to_ascii_lowercase();
    let Some(shape) = SHAPES
        .iter()
        .find(|shape| plain(shape.client) == plain(client))
    else {
        let known: Vec<_> = clients().collect();
        return Err(Problem::new(ProblemKind::Usage, "no such client")
            .at(client)
            .hint(format!("one of {}", known.join(", "))));
    };
    let mut writer = Writer {
        shape,
        variables: Vec::new(),
        notes: Vec::new(),
    };
    let entry = writer.entry(source)?;
    let servers = json!({ shape.list: { name: Value::Object(entry) } });
    let text = match shape.variables {
        Variables::Members => toml::to_string(&servers).map_err(|error| {
            Problem::new(ProblemKind::Internal, format!("cannot write TOML: {error}"))
        })?,
        _ => format!("{servers:#}\n"),
    };
    Ok(Configuration {
        text,
        notes: writer.notes,
    })
}

struct Writer {
    shape: &'static Shape,
    /// The variables that stand for secrets.
    variables: Vec<String>,
    notes: Vec<String>,
}

/// Stands for the variable of this number until all is written: it means nothing in any place.
fn mark(number: usize) -> String {
    format!("0LOUPE{number}VARIABLE0")
}

/// A name of the environment for what a secret is called: a variable keeps its own.
fn variable(name: &str) -> String {
    let plain = |char: char| {
        if char.is_ascii_alphanumeric() {
            char
        } else {
            '_'
        }
    };
    let name: String = name.trim_start_matches('-').chars().map(plain).collect();
    let name = if name.chars().any(|char| char.is_ascii_lowercase()) {
        name.to_ascii_uppercase()
    } else {
        name
    };
    if name.starts_with(|char: char| char.is_ascii_digit()) {
        format!("_{name}")
    } else {
        name
    }
}

impl Writer {
    fn entry(&mut self, source: &Source) -> Result<Map<String, Value>, Problem> {
        let client = self.shape.client;
        let mut names = Vec::new();
        let marked = map_secrets(source, &mut |name, value| {
            let name = variable(name);
            let number = names
                .iter()
                .position(|known| *known == name)
                .unwrap_or(names.len());
            if number == names.len() {
                names.push(name);
            }
            // The scheme is no secret, and some clients write it themselves.
            let scheme = if value.starts_with("Bearer ") {
                "Bearer "
            } else {
                ""
            };
            Some(format!("{scheme}{}", mark(number)))
        });
        self.variables = names;
        if let Protocol::Version(version) = source.protocol() {
            self.notes.push(format!(
                "{client} chooses the revision of the protocol itself; here it is {version}."
            ));
        }
        let entry = match marked {
            Source::Sample(spec) => {
                self.command(&own(["sample-server", "--set", &spec.to_string()]))
            }
            Source::Fixture(folder) => self.command(&own(["replay", &folder.to_string_lossy()])),
            Source::Command(command) => self.command(&command),
            Source::Http(http) => self.http(&http)?,
        };
        if self.shape.variables == Variables::No && !self.variables.is_empty() {
            let names = self.variables.join(", ");
            self.notes.push(format!(
                "{client} is not known to fill in variables: put the values of {names} in by hand."
            ));
        }
        Ok(entry)
    }

    fn command(&mut self, command: &Command) -> Map<String, Value> {
        let mut entry = self.typed(self.shape.command);
        if command.is_clean {
            self.notes
                .push("The command inherits the environment of the client.".to_owned());
        }
        entry.insert("command".to_owned(), self.filled(&command.program).into());
        entry.insert(
            "args".to_owned(),
            command.args.iter().map(|arg| self.filled(arg)).collect(),
        );
        if let Some(cwd) = &command.cwd {
            entry.insert("cwd".to_owned(), cwd.to_string_lossy().into());
        }
        // A variable that hands on the client's own has the same name there.
        let (handed_on, env): (Vec<_>, Vec<_>) = command
            .env
            .iter()
            .partition(|(name, value)| self.members() && self.variable_of(value) == Some(name));
        if !handed_on.is_empty() {
            entry.insert(
                "env_vars".to_owned(),
                handed_on.iter().map(|(name, _)| name.as_str()).collect(),
            );
        }
        if !env.is_empty() {
            entry.insert("env".to_owned(), self.pairs(env.into_iter()));
        }
        if self.shape.client == "Copilot CLI" {
            entry.insert("tools".to_owned(), json!(["*"]));
        }
        entry
    }

    fn http(&mut self, http: &Http) -> Result<Map<String, Value>, Problem> {
        let client = self.shape.client;
        let (member, word) = if http.transport == Transport::Sse {
            self.shape.sse
        } else {
            self.shape.http
        };
        if member.is_empty() {
            let what = format!("the file of {client} takes no address of this kind");
            return Err(Problem::new(ProblemKind::Usage, what)
                .at(client)
                .hint("choose another client, or start a bridge such as `npx mcp-remote URL`"));
        }
        let mut entry = self.typed(word);
        entry.insert(member.to_owned(), self.filled(&http.url).into());
        let (mut plain, mut named) = (Vec::new(), Map::new());
        for header in &http.headers {
            let (name, value) = header;
            match (
                self.variable_of(value),
                self.variable_of(value.trim_start_matches("Bearer ")),
            ) {
                (Some(variable), _) if self.members() => {
                    drop(named.insert(name.clone(), variable.as_str().into()))
                }
                (None, Some(variable))
                    if self.members() && name.eq_ignore_ascii_case("authorization") =>
                {
                    entry.insert("bearer_token_env_var".to_owned(), variable.as_str().into());
                }
                _ => plain.push(header),
            }
        }
        if !plain.is_empty() {
            let member = if self.members() {
                "http_headers"
            } else {
                "headers"
            };
            entry.insert(member.to_owned(), self.pairs(plain.into_iter()));
        }
        if !named.is_empty() {
            entry.insert("env_http_headers".to_owned(), Value::Object(named));
        }
        if http.cacert.is_some() {
            self.notes.push(format!("{client} trusts the authorities that it knows itself; the file of --cacert is left out."));
        }
        if http.login.is_some() {
            self.notes.push(format!("{client} logs in itself."));
        }
        if client == "Copilot CLI" {
            entry.insert("tools".to_owned(), json!(["*"]));
        }
        Ok(entry)
    }

    fn members(&self) -> bool {
        self.shape.variables == Variables::Members
    }

    fn typed(&self, word: &str) -> Map<String, Value> {
        let mut entry = Map::new();
        if !word.is_empty() {
            entry.insert("type".to_owned(), word.into());
        }
        entry
    }

    /// The variable that a text is, and nothing else.
    fn variable_of(&self, text: &str) -> Option<&String> {
        self.variables
            .iter()
            .enumerate()
            .find(|(number, _)| mark(*number) == text)
            .map(|(_, name)| name)
    }

    /// A text with its variables as the client reads them.
    fn filled(&mut self, text: &str) -> String {
        let mut out = text.to_owned();
        let client = self.shape.client;
        if !matches!(self.shape.variables, Variables::No | Variables::Members) {
            let placeholders = placeholder::all(text, client == "Gemini CLI");
            self.notes.extend(
                placeholders
                    .iter()
                    .map(|placeholder| format!("{client} reads {placeholder} as a variable.")),
            );
        }
        for (number, name) in self
            .variables
            .iter()
            .enumerate()
            .filter(|(number, _)| text.contains(&mark(*number)))
        {
            let written = if self.shape.variables == Variables::Env {
                format!("${{env:{name}}}")
            } else {
                format!("${{{name}}}")
            };
            out = out.replace(&mark(number), &written);
            if self.shape.variables == Variables::Members {
                self.notes.push(format!(
                    "{client} fills in no variable here: put the value of {name} in by hand."
                ));
            }
        }
        out
    }

    fn pairs<'p>(&mut self, pairs: impl Iterator<Item = &'p (String, String)>) -> Value {
        Value::Object(
            pairs
                .map(|(name, value)| (name.clone(), self.filled(value).into()))
                .collect(),
        )
    }
}

/// Loupe's own command, which serves what it otherwise has inside.
fn own<const N: usize>(args: [&str; N]) -> Command {
    Command {
        program: "mcp-loupe".to_owned(),
        args: args.map(str::to_owned).to_vec(),
        ..Command::default()
    }
}
