//! What `check` takes.

use std::path::PathBuf;

use clap::Args;

use crate::cli::args::{LinkArgs, PrintArgs, SourceArgs};
use crate::cli::findings::RuleArgs;
use crate::cli::listed::CallList;

/// What is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum CheckForm {
    #[default]
    Table,
    Markdown,
    Sarif,
    Junit,
    Github,
    /// An SVG: what the answers cost and what hosts lose of them
    Badge,
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
    /// What one model reads, which savings are against: text, data, both, or a host such as claude-code [default: what most hosts show]
    #[arg(long, value_name = "PART|HOST")]
    pub sent_as: Option<String>,
    /// What these hosts lose of definitions and results is an error; what others lose is of no account
    #[arg(long, value_name = "ID,…", value_delimiter = ',')]
    pub host: Vec<String>,
    /// A saved state, whose findings do not count again; or a list of tools, to tell what changed
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Save the present state as the baseline
    #[arg(long, requires = "baseline")]
    pub update: bool,
    /// Maximum token increase over the baseline (%), of all definitions or all results together
    #[arg(long, value_name = "PERCENT", requires = "baseline")]
    pub max_increase: Option<u64>,
    /// What is printed
    #[arg(
        long = "as",
        value_enum,
        default_value_t,
        value_name = "FORM",
        conflicts_with = "json"
    )]
    pub form: CheckForm,
    #[command(flatten)]
    pub print: PrintArgs,
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(flatten)]
    pub link: LinkArgs,
}
