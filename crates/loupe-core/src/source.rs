//! How a server is reached, as data. Displays itself redacted: values of variables and headers never show.
//! Uses only `quote`, `digest` and `problem`. Deliberately opens nothing; `mcp` does.

mod identity;
pub mod import;
mod label;
mod limits;
mod login;
mod probe;
mod reach;
mod recent;
mod redact_url;
mod sample;
pub mod secret;
mod server_prefs;

use std::fmt;
use std::path::PathBuf;

use crate::quote::{shell, shell_line};

pub use identity::{Greeting, Identity};
pub use label::{distinct_label, label_among};
pub use limits::Limits;
pub use login::{Grant, Login};
pub use probe::{LONG_TOKENS, PROBE_TOOLS, ProbeKind, ProbePart, ProbeTool, STRUCTURED_REST};
pub use reach::{Protocol, Transport};
pub use recent::{
    LEFT_OUT, Recent, RecentReach, RecentSource, RecentValue, exact_server, folder_of,
    missing_secrets, server_key, with_secrets,
};
pub(crate) use redact_url::{address_secrets, is_key};
pub use redact_url::{redact_url, without_values};
pub use sample::{SAMPLE_SETS, SampleKey, SampleSet, SampleSpec, Takes};
pub use server_prefs::{
    MemoryChanges, MemoryField, MemoryValue, ServerMemory, Speaks, ToolArguments, Watch,
};

/// A server, or a capture folder standing in for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The built-in sample server, inside this process.
    Sample(SampleSpec),
    /// A command that speaks MCP over its standard input and output.
    Command(Command),
    /// An HTTP endpoint: Streamable HTTP, or HTTP+SSE.
    Http(Http),
    /// A capture folder, or a folder of them, answering as its server did.
    Fixture(PathBuf),
}

/// A program to start. It is started directly, never through a shell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// The name given to the server in a client's configuration or by `mcp add`.
    pub name: Option<String>,
    pub program: String,
    pub args: Vec<String>,
    /// Added to the environment; the values are secrets.
    pub env: Vec<(String, String)>,
    pub cwd: Option<PathBuf>,
    /// It gets [`Command::NEEDED`] of our own environment and no other variable of it.
    pub is_clean: bool,
    pub protocol: Protocol,
}

impl Command {
    /// The variables that a program needs to be found, to find its files, and to reach the network; on Windows, to start.
    pub const NEEDED: &'static [&'static str] = &[
        "PATH",
        "HOME",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "NO_PROXY",
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "no_proxy",
        #[cfg(windows)]
        "SystemRoot",
        #[cfg(windows)]
        "PATHEXT",
        #[cfg(windows)]
        "ComSpec",
        #[cfg(windows)]
        "TEMP",
        #[cfg(windows)]
        "TMP",
        #[cfg(windows)]
        "USERPROFILE",
        #[cfg(windows)]
        "APPDATA",
        #[cfg(windows)]
        "LOCALAPPDATA",
    ];

    /// The command as a shell would take it, without variables or folder.
    pub fn line(&self) -> String {
        shell_line(std::iter::once(&self.program).chain(&self.args))
    }
}

/// An HTTP endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Http {
    /// The name given to the server in a client's configuration or by `mcp add`.
    pub name: Option<String>,
    pub url: String,
    /// Sent with every request; the values are secrets.
    pub headers: Vec<(String, String)>,
    pub transport: Transport,
    pub protocol: Protocol,
    /// A PEM file of certificate authorities to trust, besides the system's.
    pub cacert: Option<PathBuf>,
    /// Log in where the server asks for it; without this such a server is an error.
    pub login: Option<Login>,
}

/// Whether a text is an address of the web. Its scheme is one in capitals too.
pub fn is_web(text: &str) -> bool {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        ["http", "https"]
            .iter()
            .any(|web| scheme.eq_ignore_ascii_case(web))
    })
}

/// Whether an address is of the machine that Loupe runs on, by what it says.
pub fn is_this_machine(url: &url::Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.to_canonical().is_loopback(),
        None => false,
    }
}

impl Source {
    pub fn sample() -> Self {
        Self::Sample(SampleSpec::default())
    }

    /// The name that was given to the server, not the one that it gives itself.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Command(command) => command.name.as_deref(),
            Self::Http(http) => http.name.as_deref(),
            Self::Sample(_) | Self::Fixture(_) => None,
        }
    }

    /// The same server under a name; `None` takes it away.
    pub fn with_name(mut self, name: Option<String>) -> Self {
        match &mut self {
            Self::Command(command) => command.name = name,
            Self::Http(http) => http.name = name,
            Self::Sample(_) | Self::Fixture(_) => {}
        }
        self
    }

    /// The name of the transport in reports: `in-process`, `stdio`, `http` or `fixture`.
    pub fn transport(&self) -> &'static str {
        match self {
            Self::Sample(_) => "in-process",
            Self::Command(_) => "stdio",
            Self::Http(_) => "http",
            Self::Fixture(_) => "fixture",
        }
    }

    /// The revision that is asked for.
    pub fn protocol(&self) -> Protocol {
        match self {
            Self::Sample(spec) => spec.protocol,
            Self::Command(command) => command.protocol,
            Self::Http(http) => http.protocol,
            Self::Fixture(_) => Protocol::Auto,
        }
    }

    /// The same server with another revision asked for.
    pub fn with_protocol(mut self, protocol: Protocol) -> Self {
        match &mut self {
            Self::Sample(spec) => spec.protocol = protocol,
            Self::Command(command) => command.protocol = protocol,
            Self::Http(http) => http.protocol = protocol,
            // Captures speak as they were made.
            Self::Fixture(_) => {}
        }
        self
    }

    /// A short name for chips and titles.
    pub fn label(&self) -> String {
        if let Some(name) = self.name() {
            return name.to_owned();
        }
        match self {
            Self::Sample(_) => "Sample server".into(),
            Self::Command(command) => {
                let name = command
                    .program
                    .rsplit(['/', '\\'])
                    .next()
                    .unwrap_or(&command.program);
                match (name, command.args.iter().find(|arg| !arg.starts_with('-'))) {
                    ("npx" | "uvx" | "node" | "python" | "python3", Some(arg)) => {
                        arg.rsplit(['/', '\\']).next().unwrap_or(arg).to_owned()
                    }
                    _ => name.to_owned(),
                }
            }
            Self::Http(http) => {
                let url = redact_url(&http.url);
                url.split_once("://")
                    .map_or(&*url, |(_, rest)| rest)
                    .to_owned()
            }
            Self::Fixture(folder) => match folder.file_name() {
                Some(name) => name.to_string_lossy().into_owned(),
                None => folder.display().to_string(),
            },
        }
    }
}

/// The command line that reaches the source, values of variables and headers left out.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Protocol::Version(version) = self.protocol()
            && !matches!(self, Self::Sample(_))
        {
            write!(f, "--protocol {version} ")?;
        }
        match self {
            Self::Sample(spec) => {
                let plain = SampleSpec {
                    protocol: Protocol::Auto,
                    ..spec.clone()
                };
                if plain == SampleSpec::default() {
                    f.write_str("--sample")
                } else {
                    write!(f, "--sample={spec}")
                }?;
                match spec.protocol {
                    Protocol::Auto => Ok(()),
                    Protocol::Version(version) => write!(f, " --protocol {version}"),
                }
            }
            Self::Command(command) => {
                if command.is_clean {
                    f.write_str("--clean-env ")?;
                }
                command
                    .env
                    .iter()
                    .try_for_each(|(name, _)| write!(f, "--env {}=… ", shell(name)))?;
                if let Some(cwd) = &command.cwd {
                    write!(f, "--cwd {} ", shell(&cwd.to_string_lossy()))?;
                }
                write!(f, "-- {}", command.line())
            }
            Self::Http(http) => {
                write!(f, "--url {}", shell(&redact_url(&http.url)))?;
                if http.transport != Transport::Auto {
                    write!(f, " --transport {}", http.transport.word())?;
                }
                if let Some(file) = &http.cacert {
                    write!(f, " --cacert {}", shell(&file.to_string_lossy()))?;
                }
                http.headers.iter().try_for_each(|(name, _)| {
                    write!(f, " --header {}", shell(&format!("{name}: …")))
                })?;
                http.login
                    .iter()
                    .try_for_each(|login| write!(f, " {login}"))
            }
            Self::Fixture(folder) => write!(f, "--fixture {}", shell(&folder.to_string_lossy())),
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
            ..Command::default()
        });
        assert_eq!(
            command.to_string(),
            "--env API_KEY=… -- node 'my server.js'"
        );
        let http = Source::Http(Http {
            url: "http://127.0.0.1:1/mcp".into(),
            headers: vec![("X-Key".into(), "s3cret".into())],
            ..Http::default()
        });
        assert_eq!(
            http.to_string(),
            "--url http://127.0.0.1:1/mcp --header 'X-Key: …'"
        );
        let http = Source::Http(Http {
            url: "https://me:s3cret@h/mcp?key=s3cret".into(),
            ..Http::default()
        });
        assert_eq!(
            (http.to_string(), http.label()),
            (
                "--url 'https://me:…@h/mcp?key=…'".into(),
                "me:…@h/mcp?key=…".into()
            )
        );
        let clean = Source::Command(Command {
            program: "x".into(),
            is_clean: true,
            ..Command::default()
        });
        assert_eq!(clean.to_string(), "--clean-env -- x");
        let pinned = Source::sample().with_protocol(Protocol::Version("2026-07-28"));
        assert_eq!(pinned.to_string(), "--sample --protocol 2026-07-28");
        assert_eq!(pinned.with_protocol(Protocol::Auto), Source::sample());
    }

    #[test]
    fn this_machine_is_known() {
        for (url, is_ours) in [
            ("http://localhost:1/", true),
            ("http://127.0.0.2/", true),
            ("http://[::1]:2/", true),
            ("http://[::ffff:127.0.0.1]/", true),
            ("http://127.evil.example/", false),
            ("http://127.0.0.1.example/", false),
            ("http://example.com/", false),
        ] {
            assert_eq!(
                is_this_machine(&url::Url::parse(url).unwrap()),
                is_ours,
                "{url}"
            );
        }
    }
}
