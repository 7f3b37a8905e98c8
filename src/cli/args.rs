//! What several commands take. The source of help, completions and of the options in `docs/cli.md`, with `command`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser};

use super::findings::RuleArgs;
use loupe_core::source::Identity;

/// How a server is reached.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Source")]
pub struct SourceArgs {
    /// The built-in sample server: SET[,KEY=VALUE…], such as `all`, `dial,size=50`, `delegator,shape=before`
    #[arg(long, value_name = "SET", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub sample: Option<String>,
    /// A server reached over HTTP
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// A header sent with every request to the URL; its value is never shown or written
    #[arg(long, value_name = "K: V")]
    pub header: Vec<String>,
    /// A file of such headers, a line `K: V` each; lines that begin with # are left out
    #[arg(long, value_name = "FILE")]
    pub header_file: Vec<PathBuf>,
    /// Log in where the server asks for it: in the browser, at an address that is shown first; or by another grant
    #[arg(long, value_name = "GRANT", num_args = 0..=1, require_equals = true, default_missing_value = "browser", value_parser = ["browser", "client-credentials", "workload", "enterprise"])]
    pub login: Option<String>,
    /// The id of a client that is registered for that, or the https address of a client metadata document
    #[arg(long, value_name = "ID", requires = "login")]
    pub client_id: Option<String>,
    /// The secret of that client; it is never shown
    #[arg(long, value_name = "SECRET", requires = "client_id")]
    pub client_secret: Option<String>,
    /// A file with the private key of that client (PEM), instead of a secret
    #[arg(
        long,
        value_name = "FILE",
        requires = "client_id",
        conflicts_with = "client_secret"
    )]
    pub client_key: Option<PathBuf>,
    /// A file with the token that vouches for you: of a workload's platform, or an ID token of your identity provider
    #[arg(long, value_name = "FILE", requires = "login")]
    pub assertion: Option<PathBuf>,
    /// The issuer of your organisation's identity provider, for `--login=enterprise`
    #[arg(long, value_name = "URL", requires = "idp_client_id")]
    pub idp: Option<String>,
    /// The id of the client that is registered there
    #[arg(long, value_name = "ID", requires = "idp")]
    pub idp_client_id: Option<String>,
    /// The secret of that client; it is never shown
    #[arg(long, value_name = "SECRET", requires = "idp")]
    pub idp_client_secret: Option<String>,
    /// Which authorization server to log in at, where the server names several (default: the first)
    #[arg(long, value_name = "URL", requires = "login")]
    pub authorization_server: Option<String>,
    /// A variable for the command; its value is never shown or written
    #[arg(long, value_name = "K=V")]
    pub env: Vec<String>,
    /// A file of such variables, a line `K=V` each; lines that begin with # are left out
    #[arg(long, value_name = "FILE")]
    pub env_file: Vec<PathBuf>,
    /// Give the command only PATH, HOME and the proxy variables of this environment
    #[arg(long)]
    pub clean_env: bool,
    /// The folder the command starts in
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// A client's configuration file, such as .mcp.json, .vscode/mcp.json or ~/.codex/config.toml
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The name of a server in that file; not needed if there is only one
    #[arg(long = "server", value_name = "NAME", requires = "config")]
    pub configured: Option<String>,
    /// Protocol version: auto, 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 or 2026-07-28 [default: auto]
    #[arg(long, value_name = "auto|VERSION")]
    pub protocol: Option<String>,
    /// How messages travel to the URL: auto, http (Streamable HTTP) or sse (HTTP+SSE, of 2024) [default: auto]
    #[arg(long, value_name = "auto|http|sse")]
    pub transport: Option<String>,
    /// A PEM file of certificate authorities to trust, besides the system's
    #[arg(long, value_name = "FILE")]
    pub cacert: Option<PathBuf>,
    /// A capture folder, or a folder of them, that answers as its server did
    #[arg(long, value_name = "DIR")]
    pub fixture: Option<PathBuf>,
    /// The command to start, after `--`; it is started directly, never through a shell
    #[arg(last = true, value_name = "COMMAND")]
    pub server: Vec<OsString>,
}

/// How a command prints.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct PrintArgs {
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub json: bool,
    /// Print only errors on stderr
    #[arg(long)]
    pub quiet: bool,
}

/// Where Loupe keeps its files.
#[derive(Args, Clone, Debug, Default)]
pub struct DataArgs {
    /// Where Loupe keeps what it stores, and looks for `hosts.toml` (captures stay in memory until exported)
    #[arg(long, global = true, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
}

/// How a server is talked to.
#[derive(Args, Clone, Debug, Default)]
pub struct LinkArgs {
    /// The time limit for connecting and for each call [default: 90 to connect, 60 for a call]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,
    /// Write every message of the session to a file, one JSON object a line
    #[arg(long, value_name = "FILE")]
    pub transcript: Option<PathBuf>,
    /// Keep more or less of what the server sends: `message`, `log`, `stderr` in bytes (such as 64MiB), `pages`, `beside`; see docs/limits.md
    #[arg(long, value_name = "NAME=VALUE")]
    pub limit: Vec<String>,
    /// Open the address of a login in the browser; for `compare`, also call a tool that is not declared read-only
    #[arg(long)]
    pub yes: bool,
    #[command(flatten)]
    pub data: DataArgs,
    /// As whom the server is called, where not as Loupe.
    #[arg(skip)]
    pub identity: Option<Identity>,
    #[command(flatten)]
    pub answers: AnswerArgs,
}

/// What a server that asks is answered. What is not given is not declared to it, and refused.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Answers to the server")]
pub struct AnswerArgs {
    /// How to answer when the server asks for input: a JSON object (`{}` takes the defaults of its form), decline or cancel
    #[arg(long, value_name = "JSON|decline|cancel")]
    pub elicit: Option<String>,
    /// What to say when the server asks for a model's completion
    #[arg(long, value_name = "TEXT")]
    pub sampling_reply: Option<String>,
    /// A folder that the server is told about (root); repeatable
    #[arg(long, value_name = "DIR")]
    pub root: Vec<PathBuf>,
}

/// What is shown of a capture.
#[derive(Args, Clone, Debug, Default)]
pub struct ViewArgs {
    /// What to show: ledger (the default), a FORMAT exactly as it is, rendered, tree, hosts, host:ID, placements, definition, findings or all
    #[arg(long, value_name = "VIEW", conflicts_with = "json")]
    pub view: Option<String>,
    /// The tokenizer of ratios: o200k_base (the default), cl100k_base, p50k_base, claude (an estimate), or a tokenizer file
    #[arg(long, value_name = "NAME|FILE")]
    pub tokenizer: Option<String>,
    /// Baseline format for ratios [default: json, else content]
    #[arg(long, value_name = "FORMAT")]
    pub baseline: Option<String>,
    /// What one model reads: text, data, both, or a host such as claude-code [default: what most hosts show]
    #[arg(long, value_name = "PART|HOST", conflicts_with = "table")]
    pub sent_as: Option<String>,
    /// How the text is read as data: auto (the default), never, a READER of docs/text.md, or a pattern with named groups
    #[arg(long, value_name = "HOW")]
    pub read_text: Option<String>,
    /// Have Claude's provider count for MODEL, with the key of ANTHROPIC_API_KEY or of the keychain; asks before it sends
    #[arg(long, value_name = "MODEL")]
    pub count_exactly: Option<String>,
    /// Print the ledger as a table for others: markdown or csv
    #[arg(long = "as", value_name = "KIND", conflicts_with_all = ["json", "view", "count_exactly"])]
    pub table: Option<String>,
    #[command(flatten)]
    pub rules: RuleArgs,
    #[command(flatten)]
    pub print: PrintArgs,
}

/// A list of what a server has.
#[derive(Args, Debug)]
pub struct ListArgs {
    #[command(flatten)]
    pub source: SourceArgs,
    /// The tokenizer of the numbers shown: o200k_base (the default), cl100k_base, p50k_base, claude (an estimate), or a tokenizer file
    #[arg(long, value_name = "NAME|FILE")]
    pub tokenizer: Option<String>,
    #[command(flatten)]
    pub link: LinkArgs,
    #[command(flatten)]
    pub print: PrintArgs,
}

/// A SOURCE by itself, as `mcp --allow-source` names one.
#[derive(Debug, Parser)]
#[command(name = "source", no_binary_name = true, disable_help_flag = true)]
pub struct SourceLineArgs {
    #[command(flatten)]
    pub source: SourceArgs,
}

/// The longest `--timeout`: a day.
const MAX_SECONDS: u64 = 86_400;

pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| "seconds are a number".to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if duration.is_zero() => Err("a time limit is more than 0 seconds".to_owned()),
        Ok(duration) if duration > Duration::from_secs(MAX_SECONDS) => Err(format!(
            "a time limit is at most {MAX_SECONDS} seconds (a day)"
        )),
        Ok(duration) => Ok(duration),
        Err(_) => Err("seconds are a number above 0".to_owned()),
    }
}
