//! What each command takes: the source of help, completions and of the options in `docs/cli.md`.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

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
  --url URL [--header 'K: V']…     a Streamable HTTP server
  --config FILE --server NAME      a server from any client's configuration
  [--env K=V]… [--cwd DIR] -- COMMAND [ARG…]   a command that speaks MCP over stdio

Without a SOURCE the window opens on the sample. Nothing else is started or reached unless you say so.")]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub window: Window,
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
            Some(Command::Formats(args)) => args.print.json,
            Some(Command::Hosts(args)) => args.print.json,
            _ => false,
        }
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List a server's tools
    Tools(Listed),
    /// List a server's resources and resource templates
    Resources(Listed),
    /// List a server's prompts
    Prompts(Listed),
    /// Call a tool and show its answer
    Call(Call),
    /// Read a resource and show it
    Read(Read),
    /// Fill in a prompt and show it
    Prompt(PromptGet),
    /// Call a tool once for each value of an argument and compare the answers
    Compare(Compare),
    /// Show a capture, a result, a message, a payload or a text from a file
    Show(Show),
    /// Tell what differs between two captures, fixtures or files
    Diff(Diff),
    /// Run the sample as an MCP server, over stdio unless told otherwise
    SampleServer(SampleServer),
    /// Paint the window into a picture, without a display
    Screenshot(Screenshot),
    /// List the formats
    Formats(Formats),
    /// Measure the claims in the README on the sample, and print its table
    #[command(hide = true)]
    Claims,
    /// List the hosts whose models' view is known
    Hosts(Hosts),
    /// Print a completion script for a shell
    Completions(Completions),
}

/// How a server is reached.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Source")]
pub struct SourceArgs {
    /// The built-in sample server: SET[,KEY=VALUE…], such as `all`, `dial,size=50`, `delegator,shape=before`
    #[arg(long, value_name = "SET", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub sample: Option<String>,
    /// A Streamable HTTP server
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// A header sent with every request to the URL; its value is never shown or written
    #[arg(long, value_name = "K: V")]
    pub header: Vec<String>,
    /// A variable for the command; its value is never shown or written
    #[arg(long, value_name = "K=V")]
    pub env: Vec<String>,
    /// The folder the command starts in
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// A client's configuration file, such as .mcp.json, .vscode/mcp.json or ~/.codex/config.toml
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The name of a server in that file; not needed where there is one only
    #[arg(long = "server", value_name = "NAME", requires = "config")]
    pub configured: Option<String>,
    /// The command to start, after `--`; it is started directly, never through a shell
    #[arg(last = true, value_name = "COMMAND")]
    pub server: Vec<OsString>,
}

/// How a command prints.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Print {
    /// Print one JSON document and nothing else
    #[arg(long)]
    pub json: bool,
    /// Print errors alone on stderr
    #[arg(long)]
    pub quiet: bool,
}

/// Where Loupe keeps its files.
#[derive(Args, Clone, Debug, Default)]
pub struct Data {
    /// Where Loupe keeps what it stores, and looks for `hosts.toml` (captures stay in memory until exported)
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
}

/// How a server is talked to.
#[derive(Args, Clone, Debug, Default)]
pub struct Link {
    /// The time limit of connecting, and of each call [default: 90 to connect, 60 for a call]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,
    /// Write every message of the session to a file, one JSON object a line
    #[arg(long, value_name = "FILE")]
    pub transcript: Option<PathBuf>,
}

/// What is shown of a capture.
#[derive(Args, Clone, Debug, Default)]
pub struct View {
    /// What to show: ledger (the default), a FORMAT exactly as it is, rendered, tree, hosts, host:ID, definition or all
    #[arg(long, value_name = "VIEW", conflicts_with = "json")]
    pub view: Option<String>,
    /// The tokenizer of ratios: o200k_base (the default), cl100k_base, p50k_base, claude (an estimate), or a tokenizer file
    #[arg(long, value_name = "NAME|FILE")]
    pub tokenizer: Option<String>,
    /// The format that ratios are against [default: json, else content]
    #[arg(long, value_name = "FORMAT")]
    pub baseline: Option<String>,
    /// Print the ledger as a table for others: markdown or csv
    #[arg(long = "as", value_name = "KIND", conflicts_with_all = ["json", "view"])]
    pub table: Option<String>,
    #[command(flatten)]
    pub print: Print,
}

#[derive(Args, Debug, Default)]
pub struct Window {
    #[command(flatten)]
    pub source: SourceArgs,
    /// Print errors alone on stderr
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub data: Data,
}

/// A list of what a server has.
#[derive(Args, Debug)]
pub struct Listed {
    #[command(flatten)]
    pub source: SourceArgs,
    /// The tokenizer of the numbers shown: o200k_base (the default), cl100k_base, p50k_base, claude (an estimate), or a tokenizer file
    #[arg(long, value_name = "NAME|FILE")]
    pub tokenizer: Option<String>,
    #[command(flatten)]
    pub link: Link,
    #[command(flatten)]
    pub print: Print,
    #[command(flatten)]
    pub data: Data,
}

#[derive(Args, Debug)]
pub struct Read {
    /// The resource's URI, or a template's with its places filled in
    #[arg(value_name = "URI")]
    pub uri: String,
    #[command(flatten)]
    pub view: View,
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(flatten)]
    pub link: Link,
    #[command(flatten)]
    pub data: Data,
}

#[derive(Args, Debug)]
pub struct PromptGet {
    /// The prompt's name
    #[arg(value_name = "NAME")]
    pub name: String,
    /// The arguments: a JSON object of strings, @FILE, or - for standard input; sent exactly as written
    #[arg(long, value_name = "JSON|@FILE|-", allow_hyphen_values = true)]
    pub args: Option<String>,
    #[command(flatten)]
    pub view: View,
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(flatten)]
    pub link: Link,
    #[command(flatten)]
    pub data: Data,
}

#[derive(Args, Debug)]
pub struct Call {
    /// The tool's name
    #[arg(value_name = "TOOL")]
    pub tool: String,
    /// The arguments: a JSON object, @FILE, or - for standard input; sent exactly as written
    #[arg(long, value_name = "JSON|@FILE|-", allow_hyphen_values = true)]
    pub args: Option<String>,
    /// Send arguments that break the tool's schema
    #[arg(long)]
    pub send_anyway: bool,
    /// Name ourselves to the server as this host does, where that is known
    #[arg(long, value_name = "ID")]
    pub as_host: Option<String>,
    #[command(flatten)]
    pub view: View,
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(flatten)]
    pub link: Link,
    #[command(flatten)]
    pub data: Data,
}

#[derive(Args, Debug)]
pub struct Compare {
    /// The tool's name
    #[arg(value_name = "TOOL")]
    pub tool: String,
    /// The argument to vary and its values, all that the schema lists if none are given [default: the one that chooses a format]
    #[arg(long, value_name = "PARAM[=a,b,…]")]
    pub vary: Option<String>,
    /// The other arguments: a JSON object, @FILE, or - for standard input; sent exactly as written
    #[arg(long, value_name = "JSON|@FILE|-", allow_hyphen_values = true)]
    pub args: Option<String>,
    /// Call a tool that is not declared read-only
    #[arg(long)]
    pub yes: bool,
    /// The tokenizer of the numbers shown: o200k_base (the default) or cl100k_base
    #[arg(long, value_name = "NAME")]
    pub tokenizer: Option<String>,
    #[command(flatten)]
    pub print: Print,
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(flatten)]
    pub link: Link,
    #[command(flatten)]
    pub data: Data,
}

#[derive(Args, Debug)]
pub struct Diff {
    /// A capture folder, a file, what `tools --json` printed, or - for standard input
    #[arg(value_name = "A")]
    pub a: PathBuf,
    /// What it is compared with
    #[arg(value_name = "B")]
    pub b: PathBuf,
    /// The tokenizer of the numbers shown: o200k_base (the default) or cl100k_base
    #[arg(long, value_name = "NAME")]
    pub tokenizer: Option<String>,
    #[command(flatten)]
    pub print: Print,
    #[command(flatten)]
    pub data: Data,
}

#[derive(Args, Debug)]
pub struct Show {
    /// A capture folder, a file, or - for standard input
    #[arg(value_name = "PATH|-")]
    pub path: PathBuf,
    /// What it is, rather than finding out: capture, result, message, payload or text
    #[arg(long, value_name = "KIND")]
    pub read_as: Option<String>,
    #[command(flatten)]
    pub view: View,
    #[command(flatten)]
    pub data: Data,
}

#[derive(Args, Debug)]
#[command(after_help = sample_sets())]
pub struct SampleServer {
    /// What it serves: SET[,KEY=VALUE…], as for `--sample=`
    #[arg(long, value_name = "SET", default_value = "all")]
    pub set: String,
    /// Serve the probe instead: tools whose marked blocks show what a host gives its model
    #[arg(long, conflicts_with = "set")]
    pub probe: bool,
    /// Serve Streamable HTTP at this address, such as 127.0.0.1:8931, instead of stdio
    #[arg(long, value_name = "ADDR")]
    pub http: Option<SocketAddr>,
    /// Print errors alone on stderr
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Theme {
    #[default]
    Dark,
    Light,
}

#[derive(Args, Debug)]
pub struct Screenshot {
    /// The PNG file to write
    #[arg(long, value_name = "FILE.png", required_unless_present = "list")]
    pub out: Option<PathBuf>,
    /// List the names of the screens
    #[arg(long, conflicts_with_all = ["out", "tool", "args"])]
    pub list: bool,
    /// The screen to paint [default: main]
    #[arg(long, value_name = "NAME")]
    pub screen: Option<String>,
    /// The colours
    #[arg(long, value_enum, default_value_t)]
    pub theme: Theme,
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
    /// Print errors alone on stderr
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub data: Data,
}

#[derive(Args, Debug)]
pub struct Formats {
    #[command(flatten)]
    pub print: Print,
}

#[derive(Args, Debug)]
pub struct Hosts {
    #[command(flatten)]
    pub print: Print,
    #[command(flatten)]
    pub data: Data,
}

#[derive(Args, Debug)]
pub struct Completions {
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

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "seconds are a number".to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if duration.is_zero() => Err("a time limit is more than 0 seconds".to_owned()),
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
