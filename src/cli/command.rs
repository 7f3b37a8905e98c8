//! The commands and what each takes: the source of help, completions and of the options in `docs/cli.md`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::args::{DataArgs, LinkArgs, ListArgs, PrintArgs, SourceArgs, ViewArgs};
use super::call::{CallArgs, FetchArgs};
use super::check::args::CheckArgs;
use super::hosts::HostsArgs;
use super::save_args::KeepArgs;
use loupe_core::source::{SAMPLE_SETS, Takes};

/// A native desktop inspector for comparing MCP response formats
///
/// Connects to an MCP server, calls a tool, and shows what came: rendered, as text, as data, and what every
/// format of it costs in tokens. Without a command it opens the window.
#[derive(Debug, Parser)]
#[command(
    name = "mcp-loupe",
    version,
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true
)]
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
            Some(Command::Call(args)) => args.fetch.view.print.json,
            Some(Command::Read(args)) => args.fetch.view.print.json,
            Some(Command::Prompt(args)) => args.fetch.view.print.json,
            Some(Command::Compare(args)) => args.print.json,
            Some(Command::Show(args)) => args.view.print.json,
            Some(Command::Diff(args)) => args.print.json,
            Some(Command::Fixture(args)) => args.wants_json(),
            Some(Command::Check(args)) => args.print.json,
            Some(Command::Formats(args)) => args.print.json,
            Some(Command::Hosts(args)) => args.print.json,
            Some(Command::Doctor(args)) => args.print.json,
            Some(Command::Sessions(args)) => args.print.json,
            Some(Command::Losses(args)) => args.print.json,
            _ => false,
        }
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
    /// Call a tool and show its result
    Call(CallArgs),
    /// Read a resource and show it
    Read(ReadArgs),
    /// Get a prompt and show the result
    Prompt(PromptArgs),
    /// Call a tool once for each value of an argument and compare the results
    Compare(CompareArgs),
    /// Show a capture, a result, a message, data or a text from a file
    Show(ShowArgs),
    /// Show what differs between two captures, fixtures or files
    Diff(DiffArgs),
    /// Save, verify, export and list fixtures: captures kept in a repository
    Fixture(super::fixture::Fixture),
    /// Run the sample as an MCP server, over stdio by default
    SampleServer(SampleServerArgs),
    /// Serve captures as an MCP server, over stdio by default
    Replay(ReplayArgs),
    /// Stand between a host and a server over stdio, and record what passes
    Tap(super::tap::TapArgs),
    /// List recorded sessions, or show one and what it cost
    Sessions(super::sessions::SessionsArgs),
    /// Run Loupe as an MCP server for agents
    Mcp(super::mcp::McpArgs),
    /// Print a client config entry for a server
    Configuration(super::configuration::ConfigurationArgs),
    /// Put `mcp-loupe tap` into a server's entry of a client config
    Wrap(super::wrap::WrapArgs),
    /// Take `mcp-loupe tap` out of the entry again
    Unwrap(super::wrap::WrapArgs),
    /// Check for problems with hosts, models and the MCP specification
    Check(CheckArgs),
    /// Find out why a server does not work here, step by step
    Doctor(super::doctor::DoctorArgs),
    /// Show which host loses what of a server: tools, definitions, results
    Losses(super::losses::LossesArgs),
    /// List rules, or explain one
    Rules(RulesArgs),
    /// Save a screenshot of the window, without a display
    Screenshot(ScreenshotArgs),
    /// Remove the login saved for a server
    Logout(super::logout::Logout),
    /// List the formats
    Formats(FormatsArgs),
    /// Write the manual pages into a folder
    #[command(hide = true)]
    Man(ManArgs),
    /// List known hosts
    Hosts(HostsArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
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

#[derive(Args, Debug)]
pub struct ReadArgs {
    /// The resource's URI, or a template's, which is filled in by --args
    #[arg(value_name = "URI")]
    pub uri: String,
    /// What a template is filled in with: a JSON object of texts, numbers, lists and objects, @FILE, or - for standard input
    #[arg(long, value_name = "JSON|@FILE|-", allow_hyphen_values = true)]
    pub args: Option<String>,
    #[command(flatten)]
    pub fetch: FetchArgs,
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
    pub fetch: FetchArgs,
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
    /// What one model reads: text, data, both, or a host such as claude-code [default: what most hosts show]
    #[arg(long, value_name = "PART|HOST")]
    pub sent_as: Option<String>,
    /// How texts are read as data: auto (the default), never, a READER of docs/text.md, or a pattern with named groups
    #[arg(long, value_name = "HOW")]
    pub read_text: Option<String>,
    /// Print the comparison as a table for others: markdown or csv
    #[arg(long = "as", value_name = "KIND", conflicts_with = "json")]
    pub table: Option<String>,
    #[command(flatten)]
    pub keep: KeepArgs,
    #[command(flatten)]
    pub print: PrintArgs,
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(flatten)]
    pub link: LinkArgs,
}

#[derive(Args, Debug)]
pub struct DiffArgs {
    /// A capture folder, a file, what `tools --json` printed, or - for standard input
    #[arg(value_name = "A")]
    pub a: PathBuf,
    /// What it is compared with
    #[arg(value_name = "B")]
    pub b: PathBuf,
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
    /// What it is, instead of detecting it: capture, result, message, data, text, messages, har or claude-code
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
pub struct RulesArgs {
    /// One rule: what it means, its fix, its source, an example
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
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
    #[arg(
        long,
        value_name = "JSON|@FILE|-",
        requires = "tool",
        allow_hyphen_values = true
    )]
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
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// The sample's sets with their keys, for the help.
fn sample_sets() -> String {
    let mut out = String::from(
        "Sets, and the keys each takes (the default first, where it is one for all):\n",
    );
    for set in SAMPLE_SETS {
        out += &format!("\n  {}: {}\n", set.id, set.about);
        for key in set.keys {
            let values = match (&key.takes, key.default) {
                (Takes::UpTo(max), default) => {
                    format!("{}, any number to {max}", default.unwrap_or("0"))
                }
                (Takes::Word(words), default) => {
                    let others = words.iter().copied().filter(|word| Some(*word) != default);
                    default
                        .into_iter()
                        .chain(others)
                        .collect::<Vec<_>>()
                        .join("|")
                }
            };
            out += &format!("    {}={values}\n        {}\n", key.name, key.about);
        }
    }
    out
}

fn size(text: &str) -> Result<(u32, u32), String> {
    let size = text
        .split_once(['x', '×'])
        .and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    match size {
        Some((width @ 200..=10_000, height @ 200..=10_000)) => Ok((width, height)),
        Some(_) => Err("width and height are 200 to 10000".to_owned()),
        None => Err("a size is WIDTHxHEIGHT, such as 1280x800".to_owned()),
    }
}

/// Where the pages go: `mcp-loupe.1`, and one for each subcommand.
#[derive(Args, Debug)]
pub struct ManArgs {
    /// A folder that is there
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
}
