//! How a server is reached, as data. Displays itself redacted: values of variables and headers never show.
//! Uses only `problem`. Deliberately opens nothing; `mcp` does.

pub mod import;
mod probe;
mod sample;

use std::fmt;
use std::path::PathBuf;

pub use probe::{LONG_TOKENS, PROBE_TOOLS, ProbeKind, ProbePart, ProbeTool, STRUCTURED_REST};
pub use sample::{SAMPLE_SETS, SampleKey, SampleSet, SampleSpec, Takes};

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
