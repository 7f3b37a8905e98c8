//! Any client's configuration file, read into servers: what was understood, what it still needs, what is not used.
//!
//! Pure: the file's text and the environment come in as arguments, nothing is run or opened. Values stay in the entry and
//! show nowhere: an entry displays like a `Source`, names of variables and headers only. Uses only `quote` and `problem`.

mod jsonc;
mod paste;
mod placeholder;
mod places;
mod shapes;
pub mod wrap;
mod write;

use std::fmt;
use std::path::PathBuf;

pub use self::paste::{Pasted, understand};
pub use self::placeholder::Placeholder;
pub use self::places::{ConfigPlace, PLACES, project};
pub use self::write::{Configuration, clients, write};

use super::secret::looks_secret;
use super::{Command, Http, Source, Transport};
use crate::problem::{Problem, ProblemKind};
use crate::quote::{shell, shell_line};

/// What a configuration file holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Import {
    /// In the order of the file; no two have the same name.
    pub servers: Vec<ImportedServer>,
    /// What of the file could not be read as a server, in words.
    pub notes: Vec<String>,
}

/// One server of a configuration file. Its texts may hold placeholders, which [`ImportedServer::resolve`] fills.
#[derive(Clone, PartialEq, Eq)]
pub struct ImportedServer {
    pub name: String,
    pub reach: ServerAddress,
    /// The client has it switched off.
    pub disabled: bool,
    /// What the file asks the user for, by id.
    pub inputs: Vec<Input>,
    /// What is in the entry and is not used, in words.
    pub notes: Vec<String>,
    /// Whether `$NAME` without braces is a placeholder too.
    bare_dollars: bool,
    /// Variables given by hand.
    given: Vec<(String, String)>,
    /// The variables of the entry itself, which its other texts may name.
    own: Vec<(String, String)>,
    /// The keys that lead to the entry; empty where it is in no client's file.
    place: Vec<String>,
}

/// How an entry's server is reached, placeholders unfilled.
#[derive(Clone, PartialEq, Eq)]
pub enum ServerAddress {
    Command {
        program: String,
        args: Vec<String>,
        env: Vec<(String, String)>,
        cwd: Option<String>,
    },
    Remote {
        url: String,
        headers: Vec<(String, String)>,
        kind: RemoteKind,
    },
}

/// Which transport a URL is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteKind {
    /// Not said: Streamable HTTP is tried first.
    Unsaid,
    StreamableHttp,
    /// The older HTTP with server-sent events.
    Sse,
}

/// Something that a configuration wants to be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    pub id: String,
    pub about: String,
    pub is_secret: bool,
    pub default: Option<String>,
    /// The values to choose from; empty: any.
    pub options: Vec<String>,
}

/// Reads a configuration file. `path` is where it lies: some clients' rules are distinguished by it, and TOML by its ending.
///
/// # Errors
/// The text is neither JSON (comments and trailing commas allowed) nor TOML, or holds no list of servers.
pub fn read(path: &str, text: &str) -> Result<Import, Problem> {
    let text = text.trim_start_matches('\u{feff}');
    let root = root(path, text)?;
    shapes::read(path, &root, text).ok_or_else(|| {
        Problem::new(ProblemKind::NotFound, "no list of MCP servers in this file").at(path).hint(
            "a client's file has `mcpServers`, `servers`, `context_servers` or `[mcp_servers]`; a registry's has `packages` or `remotes`",
        )
    })
}

/// The values of a configuration file.
///
/// # Errors
/// The text is neither JSON nor TOML.
pub fn root(path: &str, text: &str) -> Result<serde_json::Value, Problem> {
    let malformed = |why: String| Problem::new(ProblemKind::Usage, why).at(path);
    let text = text.trim_start_matches('\u{feff}');
    if path.ends_with(".toml") {
        let line = |at: usize| text[..at].matches('\n').count() + 1;
        return toml::from_str(text).map_err(|error| {
            let line = error
                .span()
                .map(|span| format!(" at line {}", line(span.start)))
                .unwrap_or_default();
            malformed(format!("not TOML{line}: {}", error.message()))
        });
    }
    serde_json::from_str(&jsonc::strip(text))
        .map_err(|error| malformed(format!("not JSON: {error}")))
}

/// The text of a configuration file. Windows writes UTF-16 as well, and signs before UTF-8.
///
/// # Errors
/// It is neither, with the line.
pub fn decode(bytes: &[u8]) -> Result<String, String> {
    let units = |rest: &[u8], read: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = rest
            .chunks_exact(2)
            .map(|pair| read([pair[0], pair[1]]))
            .collect();
        String::from_utf16(&units).map_err(|_| "it begins as UTF-16, and is none".to_owned())
    };
    match bytes {
        [0xff, 0xfe, rest @ ..] => units(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => units(rest, u16::from_be_bytes),
        _ => std::str::from_utf8(bytes)
            .map(str::to_owned)
            .map_err(|error| {
                let line = bytes[..error.valid_up_to()]
                    .iter()
                    .filter(|byte| **byte == b'\n')
                    .count()
                    + 1;
                format!("it is not UTF-8 at line {line}")
            }),
    }
}

impl Import {
    /// The entry of a name; without a name the only one.
    ///
    /// # Errors
    /// There is none, or several and no name; the hint lists them.
    pub fn server(&self, name: Option<&str>) -> Result<&ImportedServer, Problem> {
        let names: Vec<_> = self
            .servers
            .iter()
            .map(|entry| entry.name.as_str())
            .collect();
        let hint = match (names.is_empty(), self.notes.first()) {
            (true, Some(note)) => note.clone(),
            (true, None) => "the file lists none".to_owned(),
            _ => format!("one of {}", names.join(", ")),
        };
        // One that is there and could not be read is not missing.
        let left_out = name.and_then(|name| {
            self.notes
                .iter()
                .find(|note| note.starts_with(&format!("`{name}` is left out")))
        });
        if let Some(note) = left_out.or(self
            .notes
            .first()
            .filter(|_| name.is_none() && names.is_empty()))
        {
            return Err(Problem::new(ProblemKind::Usage, note.clone())
                .hint("correct the entry, or name another with `--server`"));
        }
        match (name, &self.servers[..]) {
            (None, [one]) => Ok(one),
            (None, _) => Err(Problem::new(
                ProblemKind::Usage,
                "which server of the file is not said",
            )
            .at("--server")
            .hint(hint)),
            (Some(name), servers) => {
                servers
                    .iter()
                    .find(|entry| entry.name == name)
                    .ok_or_else(|| {
                        Problem::new(
                            ProblemKind::NotFound,
                            format!("no server `{name}` in the file"),
                        )
                        .at("--server")
                        .hint(hint)
                    })
            }
        }
    }
}

impl ImportedServer {
    fn texts(&self) -> Vec<&str> {
        match &self.reach {
            ServerAddress::Command {
                program,
                args,
                env,
                cwd,
            } => {
                let values = env.iter().map(|(_, value)| value);
                [program]
                    .into_iter()
                    .chain(args)
                    .chain(values)
                    .chain(cwd)
                    .map(String::as_str)
                    .collect()
            }
            ServerAddress::Remote { url, headers, .. } => [url]
                .into_iter()
                .chain(headers.iter().map(|(_, value)| value))
                .map(String::as_str)
                .collect(),
        }
    }

    /// Every placeholder of the entry, each once, in the order of the entry.
    pub fn placeholders(&self) -> Vec<Placeholder> {
        let mut found = Vec::new();
        for text in self.texts() {
            for placeholder in placeholder::all(text, self.bare_dollars) {
                if !found.contains(&placeholder) {
                    found.push(placeholder);
                }
            }
        }
        found
    }

    /// The names of variables and headers whose values are kept by reference to the file rather than copied: by their names,
    /// or because they are asked for as passwords.
    pub fn secrets(&self) -> Vec<&str> {
        let pairs = match &self.reach {
            ServerAddress::Command { env, .. } => env,
            ServerAddress::Remote { headers, .. } => headers,
        };
        let asks_secret = |value: &str| {
            placeholder::all(value, self.bare_dollars).iter().any(|placeholder| {
                matches!(placeholder, Placeholder::Input(id) if self.inputs.iter().any(|input| input.id == *id && input.is_secret))
            })
        };
        pairs
            .iter()
            .filter(|(name, value)| looks_secret(name) || asks_secret(value))
            .map(|(name, _)| name.as_str())
            .collect()
    }

    /// Gives a variable of the command another value, or adds it; the value stands as it is, placeholders or not. A remote
    /// server has no variables.
    pub fn set_env(&mut self, name: &str, value: &str) {
        if let ServerAddress::Command { env, .. } = &mut self.reach {
            env.retain(|(known, _)| known != name);
            self.given.retain(|(known, _)| known != name);
            self.given.push((name.to_owned(), value.to_owned()));
        }
    }

    /// What the entry's own variables say of a name, where that names nothing else.
    pub fn own_value(&self, name: &str) -> Option<String> {
        let (_, value) = self.own.iter().find(|(own, _)| own == name)?;
        placeholder::all(value, self.bare_dollars)
            .is_empty()
            .then(|| value.clone())
    }

    /// The source, its placeholders filled by `value`, else by the entry's own variables; an input that nobody answers takes
    /// its default.
    ///
    /// # Errors
    /// A placeholder without a value, or a transport that is not built.
    pub fn resolve(
        &self,
        value: impl Fn(&Placeholder) -> Option<String>,
    ) -> Result<Source, Problem> {
        let answer = |placeholder: &Placeholder| {
            value(placeholder).or_else(|| match placeholder {
                Placeholder::Variable { name, default } => {
                    self.own_value(name).or_else(|| default.clone())
                }
                Placeholder::Input(id) => self
                    .inputs
                    .iter()
                    .find(|input| input.id == *id)?
                    .default
                    .clone(),
                _ => None,
            })
        };
        let missing: Vec<_> = self
            .placeholders()
            .into_iter()
            .filter(|placeholder| answer(placeholder).is_none())
            .collect();
        if !missing.is_empty() {
            let missing: Vec<_> = missing.iter().map(ToString::to_string).collect();
            return Err(Problem::new(
                ProblemKind::Usage,
                format!("no value for {}", missing.join(", ")),
            )
            .at(self.name.clone())
            .hint(
                "set the variable, or give the value by --env NAME=VALUE (of an input, its id)",
            ));
        }
        let fill = |text: &String| {
            placeholder::fill(text, self.bare_dollars, |placeholder| {
                answer(placeholder).unwrap_or_default()
            })
        };
        let pairs = |pairs: &[(String, String)]| -> Vec<_> {
            pairs
                .iter()
                .map(|(name, value)| (name.clone(), fill(value)))
                .collect()
        };
        let name = (self.name != UNNAMED).then(|| self.name.clone());
        match &self.reach {
            ServerAddress::Command {
                program,
                args,
                env,
                cwd,
            } => Ok(Source::Command(Command {
                name,
                is_clean: false,
                program: fill(program),
                args: args.iter().map(fill).collect(),
                env: pairs(env)
                    .into_iter()
                    .chain(self.given.iter().cloned())
                    .collect(),
                cwd: cwd.as_ref().map(|cwd| PathBuf::from(fill(cwd))),
                ..Command::default()
            })),
            ServerAddress::Remote { kind, url, headers } => {
                // What a file calls HTTP may be either; only HTTP+SSE is a word of its own.
                let transport = if *kind == RemoteKind::Sse {
                    Transport::Sse
                } else {
                    Transport::Auto
                };
                Ok(Source::Http(Http {
                    name,
                    url: fill(url),
                    headers: pairs(headers),
                    transport,
                    ..Http::default()
                }))
            }
        }
    }
}

/// The name of an entry that has none, such as a pasted command line.
pub(crate) const UNNAMED: &str = "server";

/// The server as its command line or URL, placeholders unfilled, values left out.
impl fmt::Display for ImportedServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reach {
            ServerAddress::Command {
                program,
                args,
                env,
                cwd,
            } => {
                env.iter()
                    .try_for_each(|(name, _)| write!(f, "--env {}=… ", shell(name)))?;
                if let Some(cwd) = cwd {
                    write!(f, "--cwd {} ", shell(cwd))?;
                }
                write!(f, "-- {}", shell_line(std::iter::once(program).chain(args)))
            }
            ServerAddress::Remote { url, headers, .. } => {
                write!(f, "--url {}", shell(url))?;
                headers.iter().try_for_each(|(name, _)| {
                    write!(f, " --header {}", shell(&format!("{name}: …")))
                })
            }
        }
    }
}

impl fmt::Debug for ImportedServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {self}", self.name)
    }
}
