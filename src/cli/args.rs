//! What each command takes: the source of help, completions and of the options in `docs/cli.md`.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::check::{CallList, CheckForm};
use super::findings::RuleArgs;
use super::written::WriteArgs;
use crate::fixture::redact::Known;
use crate::source::{SAMPLE_SETS, Takes};

/// A native desktop inspector for comparing MCP response formats
///
/// Connects to an MCP server, calls a tool, and shows what came: rendered, as text, as data, and what every
/// format of it costs in tokens. Without a command it opens the window.
#[derive(Debug, Parser)]
#[command(name = "mcp-loupe", version, args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
#[command(after_help = "\
SOURCE is one of
  --sample[=SET[,KEY=VALUE…]]      the built-in sample server
  --url URL [--header 'K: V']…     a server reached over HTTP
  --config FILE --server NAME      a server from any client's configuration
  --fixture DIR                    a capture folder, or a folder of them, answering as its server did
  [--env K=V]… [--cwd DIR] -- COMMAND [ARG…]   a command that speaks MCP over stdio

Without a SOURCE the window opens on the sample. Nothing else is started or reached unless you say so.")]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub window: WindowArgs,
}

impl Cli {
    /// Whether a failure has to be printed as JSON too.
    pub fn wants_json(&self) -> bool {
        match &self.command {
            Some(Command::Tools(args)) => args.print.json,
            Some(Command::Resources(args) | Command::Prompts(args)) => args.print.json,
            Some(Command::Call(args)) => args.view.print.json,
            Some(Command::Read(args)) => args.view.print.json,
            Some(Command::Prompt(args)) => args.view.print.json,
            Some(Command::Compare(args)) => args.print.json,
            Some(Command::Show(args)) => args.view.print.json,
            Some(Command::Diff(args)) => args.print.json,
            Some(Command::Fixture(args)) => args.wants_json(),
            Some(Command::Run(args)) => args.print.json,
            Some(Command::Check(args)) => args.print.json,
            Some(Command::Formats(args)) => args.print.json,
            Some(Command::Hosts(args)) => args.print.json,
            _ => false,
        }
    }
}

impl Cli {
    /// Hands on what one part of the arguments needs of another.
    pub fn settle(&mut self) {
        let (link, data) = match &mut self.command {
            Some(Command::Tools(args) | Command::Resources(args) | Command::Prompts(args)) => (&mut args.link, &args.data),
            Some(Command::Call(args)) => (&mut args.link, &args.data),
            Some(Command::Read(args)) => (&mut args.link, &args.data),
            Some(Command::Prompt(args)) => (&mut args.link, &args.data),
            Some(Command::Compare(args)) => (&mut args.link, &args.data),
            Some(Command::Run(args)) => (&mut args.link, &args.data),
            Some(Command::Check(args)) => (&mut args.link, &args.data),
            Some(Command::Fixture(args)) => return args.settle(),
            _ => return,
        };
        link.data_dir.clone_from(&data.data_dir);
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List a server's tools
    Tools(ListArgs),
    /// List a server's resources and resource templates
    Resources(ListArgs),
    /// List a server's prompts
    Prompts(ListArgs),
    /// Call a tool and show its answer
    Call(CallArgs),
    /// Read a resource and show it
    Read(ReadArgs),
    /// Fill in a prompt and show it
    Prompt(PromptArgs),
    /// Call a tool once for each value of an argument and compare the answers
    Compare(CompareArgs),
    /// Show a capture, a result, a message, a payload or a text from a file
    Show(ShowArgs),
    /// Show what differs between two captures, fixtures or files
    Diff(DiffArgs),
    /// Save, verify, export and list fixtures: captures kept in a repository
    Fixture(super::fixture::Fixture),
    /// Run the sample as an MCP server, over stdio unless told otherwise
    SampleServer(SampleServerArgs),
    /// Serve captures as an MCP server, over stdio unless told otherwise
    Replay(ReplayArgs),
    /// Be an MCP server, so that an agent can look at answers
    Mcp(super::mcp::McpArgs),
    /// Print a server as the lines of a client's configuration
    Configuration(super::configuration::ConfigurationArgs),
    /// Make the calls of a collection and show what the server costs
    Run(RunArgs),
    /// Look for what hosts, models and the specification stumble over
    Check(CheckArgs),
    /// List what is looked for, or explain one rule
    Rules(RulesArgs),
    /// Save a picture of the window, without a display
    Screenshot(ScreenshotArgs),
    /// Remove the login saved for a server
    Logout(super::logout::Logout),
    /// List the formats
    Formats(FormatsArgs),
    /// Write the manual pages into a folder
    #[command(hide = true)]
    Man(super::man::ManArgs),
    /// Measure the claims of docs/claims.md on the sample, and print its table
    #[command(hide = true)]
    Claims(super::claims::Claims),
    /// Be the client of the official conformance runner
    #[command(hide = true)]
    Conformance(ConformanceArgs),
    /// List the hosts whose models' view is known
    Hosts(HostsArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
}

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
    /// A file with the private key of that client (PEM), in place of a secret
    #[arg(long, value_name = "FILE", requires = "client_id", conflicts_with = "client_secret")]
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
    /// The revision of the protocol: auto, 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 or 2026-07-28 [default: auto]
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
    /// As [`DataArgs::data_dir`].
    #[arg(skip)]
    pub data_dir: Option<PathBuf>,
    /// What the session knows to be secret; its copies are one list.
    #[arg(skip)]
    pub known: Known,
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
    /// What to show: ledger (the default), a FORMAT exactly as it is, rendered, tree, hosts, host:ID, definition, findings or all
    #[arg(long, value_name = "VIEW", conflicts_with = "json")]
    pub view: Option<String>,
    /// The tokenizer of ratios: o200k_base (the default), cl100k_base, p50k_base, claude (an estimate), or a tokenizer file
    #[arg(long, value_name = "NAME|FILE")]
    pub tokenizer: Option<String>,
    /// The format that ratios are against [default: json, else content]
    #[arg(long, value_name = "FORMAT")]
    pub baseline: Option<String>,
    /// The host whose text counts as sent in the sentence above the ledger, such as claude-code
    #[arg(long, value_name = "HOST", conflicts_with_all = ["json", "table"])]
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

#[derive(Args, Debug, Default)]
pub struct WindowArgs {
    #[command(flatten)]
    pub source: SourceArgs,
    // Scripts set the general options once for all, so every command takes them: these two and that of `Data`.
    /// Print only errors on stderr
    #[arg(long, global = true)]
    pub quiet: bool,
    /// Listed by the commands that heed it; the window takes its limits from its settings.
    #[arg(long, global = true, value_name = "NAME=VALUE", hide = true)]
    pub limit: Vec<String>,
    #[command(flatten)]
    pub data: DataArgs,
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
    #[command(flatten)]
    pub data: DataArgs,
}

#[derive(Args, Debug)]
pub struct ReadArgs {
    /// The resource's URI, or a template's with its places filled in
    #[arg(value_name = "URI")]
    pub uri: String,
    #[command(flatten)]
    pub keep: super::written::KeepArgs,
    #[command(flatten)]
    pub view: ViewArgs,
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(flatten)]
    pub link: LinkArgs,
    #[command(flatten)]
    pub data: DataArgs,
}

#[derive(Args, Debug)]
pub struct PromptArgs {
    /// The prompt's name
    #[arg(value_name = "NAME")]
    pub name: String,
    /// The arguments: a JSON object of strings, @FILE, or - for standard input; sent exactly as written
    #[arg(long, value_name = "JSON|@FILE|-", allow_hyphen_values = true)]
    pub args: Option<String>,
    #[command(flatten)]
    pub keep: super::written::KeepArgs,
    #[command(flatten)]
    pub view: ViewArgs,
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(flatten)]
    pub link: LinkArgs,
    #[command(flatten)]
    pub data: DataArgs,
}

#[derive(Args, Debug)]
pub struct CallArgs {
    /// The tool's name
    #[arg(value_name = "TOOL")]
    pub tool: String,
    /// The arguments: a JSON object, @FILE, or - for standard input; sent exactly as written
    #[arg(long, value_name = "JSON|@FILE|-", allow_hyphen_values = true)]
    pub args: Option<String>,
    /// Send arguments that break the tool's schema
    #[arg(long)]
    pub send_anyway: bool,
    /// Identify to the server as this host does, where that is known
    #[arg(long, value_name = "ID")]
    pub as_host: Option<String>,
    #[command(flatten)]
    pub keep: super::written::KeepArgs,
    #[command(flatten)]
    pub view: ViewArgs,
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(flatten)]
    pub link: LinkArgs,
    #[command(flatten)]
    pub data: DataArgs,
}

#[derive(Args, Debug)]
pub struct CompareArgs {
    /// The tool's name
    #[arg(value_name = "TOOL")]
    pub tool: String,
    /// The argument to vary and its values, all that the schema lists if none are given [default: the one that chooses a format]
    #[arg(long, value_name = "PARAM[=a,b,…]")]
    pub vary: Option<String>,
    /// The other arguments: a JSON object, @FILE, or - for standard input; sent exactly as written
    #[arg(long, value_name = "JSON|@FILE|-", allow_hyphen_values = true)]
    pub args: Option<String>,
    /// The tokenizer of the numbers shown: a name, or a tokenizer file [default: o200k_base]
    #[arg(long, value_name = "NAME|FILE")]
    pub tokenizer: Option<String>,
    /// How texts are read as data: auto (the default), never, a READER of docs/text.md, or a pattern with named groups
    #[arg(long, value_name = "HOW")]
    pub read_text: Option<String>,
    /// Print the comparison as a table for others: markdown or csv
    #[arg(long = "as", value_name = "KIND", conflicts_with = "json")]
    pub table: Option<String>,
    #[command(flatten)]
    pub keep: super::written::KeepArgs,
    #[command(flatten)]
    pub print: PrintArgs,
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(flatten)]
    pub link: LinkArgs,
    #[command(flatten)]
    pub data: DataArgs,
}

#[derive(Args, Debug)]
pub struct DiffArgs {
    /// A capture folder, a file, what `tools --json` printed, or - for standard input
    #[arg(value_name = "A")]
    pub a: PathBuf,
    /// What it is compared with
    #[arg(value_name = "B")]
    pub b: PathBuf,
    /// The tokenizer of the numbers shown: a name, or a tokenizer file [default: o200k_base]
    #[arg(long, value_name = "NAME|FILE")]
    pub tokenizer: Option<String>,
    /// How texts are read as data: auto (the default), never, a READER of docs/text.md, or a pattern with named groups
    #[arg(long, value_name = "HOW")]
    pub read_text: Option<String>,
    #[command(flatten)]
    pub print: PrintArgs,
    #[command(flatten)]
    pub data: DataArgs,
}

#[derive(Args, Debug)]
pub struct ShowArgs {
    /// A capture folder, a file, or - for standard input
    #[arg(value_name = "PATH|-")]
    pub path: PathBuf,
    /// What it is, instead of detecting it: capture, result, message, payload, text, messages, har, cassette, claude-code, exchanges or report
    #[arg(long, value_name = "KIND")]
    pub read_as: Option<String>,
    /// Which answer of a file that holds several, from 1
    #[arg(long, value_name = "N")]
    pub nth: Option<usize>,
    #[command(flatten)]
    pub view: ViewArgs,
    #[command(flatten)]
    pub data: DataArgs,
}

#[derive(Args, Debug)]
#[command(after_help = sample_sets())]
pub struct SampleServerArgs {
    /// What it serves: SET[,KEY=VALUE…], as for `--sample=`
    #[arg(long, value_name = "SET", default_value = "all")]
    pub set: String,
    /// Serve the probe instead: tools whose marked blocks show what a host gives its model
    #[arg(long, conflicts_with = "set")]
    pub probe: bool,
    /// Serve Streamable HTTP at this address, such as 127.0.0.1:8931, instead of stdio
    #[arg(long, value_name = "ADDR")]
    pub http: Option<SocketAddr>,
    /// Print only errors on stderr
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Args, Debug)]
pub struct ReplayArgs {
    /// A capture folder, or a folder of them
    #[arg(value_name = "DIR", required = true)]
    pub dirs: Vec<PathBuf>,
    /// What of each answer is sent: both (as recorded), content-only, structured-only, or a FORMAT as its one text
    #[arg(long, value_name = "VARIANT", default_value = "both")]
    pub variant: String,
    /// Which recorded call answers: only the one with the same arguments, or else the nearest, which is reported
    #[arg(long = "match", value_enum, default_value_t)]
    pub matching: Matching,
    /// How long an answer takes: nothing, or as long as it took when it was recorded
    #[arg(long, value_enum, default_value_t)]
    pub delay: Delay,
    /// Serve Streamable HTTP at this address, such as 127.0.0.1:8931, instead of stdio
    #[arg(long, value_name = "ADDR")]
    pub http: Option<SocketAddr>,
    /// Print only errors on stderr
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Args, Debug)]
pub struct RunArgs {
    /// The collection, a TOML file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// An earlier run, as `run --json` printed it, to see what changed
    #[arg(long, value_name = "FILE")]
    pub against: Option<PathBuf>,
    /// Write every answer as a capture folder into this folder, by the name of its call
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,
    /// Save the answer in the history, secrets hidden
    #[arg(long)]
    pub keep: bool,
    #[command(flatten)]
    pub write: WriteArgs,
    #[command(flatten)]
    pub print: PrintArgs,
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(flatten)]
    pub link: LinkArgs,
    #[command(flatten)]
    pub data: DataArgs,
}

#[derive(Args, Debug)]
pub struct CheckArgs {
    /// Files and capture folders: answers, or lists of tools as `tools --json` prints them
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    #[command(flatten)]
    pub calls: CallList,
    #[command(flatten)]
    pub rules: RuleArgs,
    /// Make each call twice and compare; call tools that are declared read-only with an unknown argument too
    #[arg(long, requires = "call")]
    pub probe: bool,
    /// What a tool's definition may cost; `total`: all definitions and the instructions; a FORMAT or `host:ID`: each answer; in tokens
    #[arg(long, value_name = "NAME=TOKENS")]
    pub budget: Vec<String>,
    /// The tokenizer of budgets: o200k_base (the default) or cl100k_base
    #[arg(long, value_name = "NAME")]
    pub tokenizer: Option<String>,
    /// A saved state, whose findings do not count again; or a list of tools, to tell what changed
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Save the present state as the baseline
    #[arg(long, requires = "baseline")]
    pub update: bool,
    /// By how many percent all definitions, or all answers together, may exceed the baseline
    #[arg(long, value_name = "PERCENT", requires = "baseline")]
    pub max_increase: Option<u64>,
    /// What is printed
    #[arg(long = "as", value_enum, default_value_t, value_name = "FORM", conflicts_with = "json")]
    pub form: CheckForm,
    #[command(flatten)]
    pub print: PrintArgs,
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(flatten)]
    pub link: LinkArgs,
    #[command(flatten)]
    pub data: DataArgs,
}

#[derive(Args, Debug)]
pub struct RulesArgs {
    /// One rule: what it means, its fix, its source, an example
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}

/// A SOURCE by itself, as a collection names one.
#[derive(Debug, Parser)]
#[command(name = "source", no_binary_name = true, disable_help_flag = true)]
pub struct SourceLineArgs {
    #[command(flatten)]
    pub source: SourceArgs,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Matching {
    #[default]
    Exact,
    Nearest,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Delay {
    #[default]
    None,
    Recorded,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ThemeArg {
    #[default]
    Dark,
    Light,
}

#[derive(Args, Debug)]
pub struct ScreenshotArgs {
    /// The PNG file to write
    #[arg(long, value_name = "FILE.png", required_unless_present = "list")]
    pub out: Option<PathBuf>,
    /// List the names of the screens
    #[arg(long, conflicts_with_all = ["out", "tool", "args"])]
    pub list: bool,
    /// The screen to show [default: main]
    #[arg(long, value_name = "NAME")]
    pub screen: Option<String>,
    /// The colours
    #[arg(long, value_enum, default_value_t)]
    pub theme: ThemeArg,
    /// The size in points, such as 1280x800 [default: 1600x1000]
    #[arg(long, value_name = "WxH", value_parser = size)]
    pub size: Option<(u32, u32)>,
    /// The tool to call first
    #[arg(long, value_name = "TOOL")]
    pub tool: Option<String>,
    /// The arguments of that call: a JSON object, @FILE, or - for standard input
    #[arg(long, value_name = "JSON|@FILE|-", requires = "tool", allow_hyphen_values = true)]
    pub args: Option<String>,
    #[command(flatten)]
    pub source: SourceArgs,
    /// Print only errors on stderr
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub data: DataArgs,
}

#[derive(Args, Debug)]
pub struct FormatsArgs {
    #[command(flatten)]
    pub print: PrintArgs,
}

#[derive(Args, Debug)]
pub struct HostsArgs {
    /// One host's id: everything that is known about it
    #[arg(value_name = "ID")]
    pub id: Option<String>,
    /// Find the rules of a host from what it gave its model for the tools of `sample-server --probe`: each text under a line `=== TOOL`
    #[arg(long, value_name = "FILE|-")]
    pub from_probe: Option<PathBuf>,
    #[command(flatten)]
    pub print: PrintArgs,
    #[command(flatten)]
    pub data: DataArgs,
}

/// What the conformance runner appends to the command; the rest is in its variables.
#[derive(Args, Debug)]
pub struct ConformanceArgs {
    /// The server that plays the scenario
    #[arg(value_name = "URL")]
    pub url: String,
}

#[derive(Args, Debug)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// The sample's sets with their keys, for the help.
fn sample_sets() -> String {
    let mut out = String::from("Sets, and the keys each takes (the default first, where it is one for all):\n");
    for set in SAMPLE_SETS {
        out += &format!("\n  {}: {}\n", set.id, set.about);
        for key in set.keys {
            let values = match (&key.takes, key.default) {
                (Takes::UpTo(max), default) => format!("{}, any number to {max}", default.unwrap_or("0")),
                (Takes::Word(words), default) => {
                    let others = words.iter().copied().filter(|word| Some(*word) != default);
                    default.into_iter().chain(others).collect::<Vec<_>>().join("|")
                }
            };
            out += &format!("    {}={values}\n        {}\n", key.name, key.about);
        }
    }
    out
}

/// The longest `--timeout`: a day.
const MAX_SECONDS: u64 = 86_400;

pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "seconds are a number".to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if duration.is_zero() => Err("a time limit is more than 0 seconds".to_owned()),
        Ok(duration) if duration > Duration::from_secs(MAX_SECONDS) => {
            Err(format!("a time limit is at most {MAX_SECONDS} seconds (a day)"))
        }
        Ok(duration) => Ok(duration),
        Err(_) => Err("seconds are a number above 0".to_owned()),
    }
}

fn size(text: &str) -> Result<(u32, u32), String> {
    let size = text.split_once(['x', '×']).and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    match size {
        Some((width @ 200..=10_000, height @ 200..=10_000)) => Ok((width, height)),
        Some(_) => Err("width and height are 200 to 10000".to_owned()),
        None => Err("a size is WIDTHxHEIGHT, such as 1280x800".to_owned()),
    }
}
