//! How a server is reached, as data. Displays itself redacted: values of variables and headers never show.
//! Uses only `problem`. Deliberately opens nothing; `mcp` does.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use crate::problem::{Kind, Problem};

/// A server, or a capture folder standing in for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The built-in sample server, inside this process.
    Sample(SampleSpec),
    /// A command that speaks MCP over its standard input and output.
    Command(Command),
    /// A Streamable HTTP endpoint.
    Http(Http),
}

/// Which sample set runs, and its switches: `SET[,KEY=VALUE…]` of `--sample`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleSpec {
    /// One of [`SampleSpec::SETS`].
    pub set: String,
    /// Switches such as `data=hostile`, checked by the sample server when it starts.
    pub keys: BTreeMap<String, String>,
}

impl Default for SampleSpec {
    fn default() -> Self {
        Self { set: "all".into(), keys: BTreeMap::new() }
    }
}

impl SampleSpec {
    /// The sets that are built.
    pub const SETS: &'static [&'static str] = &["all", "autotask-dual", "autotask-strict", "dial"];
    /// The keys that are built, with the values they take; an empty list means a number.
    pub const KEYS: &'static [(&'static str, &'static [&'static str])] = &[("data", &["plain", "hostile"]), ("size", &[])];
    /// What later versions add, so that the message can say "not available yet" rather than "unknown".
    const LATER: &'static [&'static str] = &["delegator", "autoreply", "text", "phase", "output-schema", "annotations", "shape"];

    /// Reads `SET[,KEY=VALUE…]`; an empty text is the default set.
    ///
    /// # Errors
    /// An unknown set, key or value, with the known ones in the hint.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let mut spec = Self::default();
        for (position, part) in text.split(',').map(str::trim).filter(|part| !part.is_empty()).enumerate() {
            match part.split_once('=') {
                Some((key, value)) => spec.set_key(key, value)?,
                None if position == 0 => spec.set = Self::known(part, Self::SETS, "sample set")?,
                None => return Err(Problem::new(Kind::Usage, format!("`{part}` is not KEY=VALUE")).at("--sample")),
            }
        }
        Ok(spec)
    }

    fn set_key(&mut self, key: &str, value: &str) -> Result<(), Problem> {
        let names: Vec<_> = Self::KEYS.iter().map(|&(name, _)| name).collect();
        let key = Self::known(key, &names, "sample key")?;
        let values = Self::KEYS.iter().find(|(name, _)| *name == key).map_or(&[][..], |(_, values)| values);
        if values.is_empty() {
            if value.parse::<u32>().is_err() {
                return Err(Problem::new(Kind::Usage, format!("`{key}` takes a number, not `{value}`")).at("--sample"));
            }
        } else {
            Self::known(value, values, &format!("value of `{key}`"))?;
        }
        self.keys.insert(key, value.to_owned());
        Ok(())
    }

    fn known(word: &str, known: &[&str], what: &str) -> Result<String, Problem> {
        if known.contains(&word) {
            return Ok(word.to_owned());
        }
        if Self::LATER.contains(&word) {
            return Err(Problem::new(Kind::Usage, "not available yet").at(word));
        }
        Err(Problem::new(Kind::Usage, format!("unknown {what} `{word}`"))
            .at("--sample")
            .hint(format!("one of {}", known.join(", "))))
    }
}

impl fmt::Display for SampleSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.set)?;
        self.keys.iter().try_for_each(|(key, value)| write!(f, ",{key}={value}"))
    }
}

/// A program to start. It is started directly, never through a shell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    pub program: String,
    pub args: Vec<String>,
    /// Added to the environment; the values are secrets.
    pub env: Vec<(String, String)>,
    pub cwd: Option<PathBuf>,
}

impl Command {
    /// The command as a shell would take it, without variables or folder.
    pub fn line(&self) -> String {
        shell_words::join(std::iter::once(&self.program).chain(&self.args))
    }
}

/// A Streamable HTTP endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Http {
    pub url: String,
    /// Sent with every request; the values are secrets.
    pub headers: Vec<(String, String)>,
}

impl Source {
    pub fn sample() -> Self {
        Self::Sample(SampleSpec::default())
    }

    /// The name of the transport in reports: `in-process`, `stdio` or `http`.
    pub fn transport(&self) -> &'static str {
        match self {
            Self::Sample(_) => "in-process",
            Self::Command(_) => "stdio",
            Self::Http(_) => "http",
        }
    }

    /// A short name for chips and titles.
    pub fn label(&self) -> String {
        match self {
            Self::Sample(_) => "Sample server".into(),
            Self::Command(command) => {
                let name = command.program.rsplit(['/', '\\']).next().unwrap_or(&command.program);
                match (name, command.args.iter().find(|arg| !arg.starts_with('-'))) {
                    ("npx" | "uvx" | "node" | "python" | "python3", Some(arg)) => {
                        arg.rsplit(['/', '\\']).next().unwrap_or(arg).to_owned()
                    }
                    _ => name.to_owned(),
                }
            }
            Self::Http(http) => http.url.split("://").last().unwrap_or(&http.url).to_owned(),
        }
    }
}

/// The command line that reaches the source, values of variables and headers left out.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sample(spec) if *spec == SampleSpec::default() => f.write_str("--sample"),
            Self::Sample(spec) => write!(f, "--sample={spec}"),
            Self::Command(command) => {
                command.env.iter().try_for_each(|(name, _)| write!(f, "--env {name}=… "))?;
                if let Some(cwd) = &command.cwd {
                    write!(f, "--cwd {} ", shell_words::quote(&cwd.to_string_lossy()))?;
                }
                write!(f, "-- {}", command.line())
            }
            Self::Http(http) => {
                write!(f, "--url {}", http.url)?;
                http.headers.iter().try_for_each(|(name, _)| write!(f, " --header '{name}: …'"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sample_specs_are_read_and_checked() {
        let spec = SampleSpec::parse("dial,size=50,data=hostile").unwrap();
        assert_eq!(spec.to_string(), "dial,data=hostile,size=50");
        assert_eq!(SampleSpec::parse("").unwrap(), SampleSpec::default());
        assert_eq!(SampleSpec::parse("nosuch").unwrap_err().kind, Kind::Usage);
        assert_eq!(SampleSpec::parse("delegator").unwrap_err().what, "not available yet");
        assert!(SampleSpec::parse("all,size=many").unwrap_err().what.contains("takes a number"));
    }

    #[test]
    fn display_hides_values() {
        let command = Source::Command(Command {
            program: "node".into(),
            args: vec!["my server.js".into()],
            env: vec![("API_KEY".into(), "s3cret".into())],
            cwd: None,
        });
        assert_eq!(command.to_string(), "--env API_KEY=… -- node 'my server.js'");
        let http = Source::Http(Http { url: "http://127.0.0.1:1/mcp".into(), headers: vec![("X-Key".into(), "s3cret".into())] });
        assert_eq!(http.to_string(), "--url http://127.0.0.1:1/mcp --header 'X-Key: …'");
    }
}
