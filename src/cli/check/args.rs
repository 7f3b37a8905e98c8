//! What `check` takes.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use crate::cli::args::{LinkArgs, PrintArgs, SourceArgs};
use crate::cli::findings::RuleArgs;

/// Calls to be made: a tool each, with the arguments that follow it.
#[derive(Clone, Debug, Default)]
pub struct CallList(pub Vec<(String, Option<String>)>);

impl Args for CallList {
    fn augment_args(command: Command) -> Command {
        let call = Arg::new("call")
            .long("call")
            .value_name("TOOL")
            .action(ArgAction::Append);
        let args = Arg::new("args")
            .long("args")
            .value_name("JSON|@FILE|-")
            .action(ArgAction::Append)
            .allow_hyphen_values(true);
        command.arg(call.help("Call this tool and check its answer; repeatable")).arg(
            args.requires("call").help("The arguments of the `--call` before it: a JSON object, @FILE, or - for standard input"),
        )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for CallList {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = |name: &str| -> Vec<(usize, String)> {
            let values = matches
                .get_many::<String>(name)
                .into_iter()
                .flatten()
                .cloned();
            matches
                .indices_of(name)
                .into_iter()
                .flatten()
                .zip(values)
                .collect()
        };
        let mut calls: Vec<(usize, String, Option<String>)> = given("call")
            .into_iter()
            .map(|(at, tool)| (at, tool, None))
            .collect();
        for (at, args) in given("args") {
            let call = calls.iter_mut().rfind(|(own, ..)| *own < at);
            match call {
                Some((_, _, own @ None)) => *own = Some(args),
                _ => {
                    return Err(clap::Error::raw(
                        clap::error::ErrorKind::ArgumentConflict,
                        "each --args belongs to the --call before it\n",
                    ));
                }
            }
        }
        Ok(Self(
            calls
                .into_iter()
                .map(|(_, tool, args)| (tool, args))
                .collect(),
        ))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

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
