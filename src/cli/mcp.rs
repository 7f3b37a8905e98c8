//! `mcp`: Loupe as an MCP server for agents, over stdio.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use super::args::DataArgs;
use super::findings::RuleArgs;
use super::{Done, client, hosts, output};
use crate::agent::{Agent, AgentOptions};
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::source::{Source, is_web};

/// Most clients give a call 60 seconds.
const LIMIT: Duration = Duration::from_secs(50);

/// What an agent may do.
#[derive(Args, Debug)]
pub struct McpArgs {
    /// A folder whose files may be opened, those below it too; repeatable [default: the working folder]
    #[arg(long, value_name = "DIR")]
    pub folder: Vec<PathBuf>,
    /// Let the servers of --allow-source be started, and their tools called that are declared read-only
    #[arg(long, requires = "allow_source")]
    pub allow_calls: bool,
    /// A server under a name: an address, a command line, or a SOURCE such as '--config .mcp.json --server mine'; repeatable
    #[arg(long, value_name = "NAME=SOURCE", requires = "allow_calls")]
    pub allow_source: Vec<String>,
    /// Let tools be called that are not declared read-only
    #[arg(long, requires = "allow_calls")]
    pub allow_any_tool: bool,
    /// How long an answer may take in all, connecting and calls included [default: 50]
    #[arg(long, value_name = "SECONDS", value_parser = super::args::seconds)]
    pub timeout: Option<Duration>,
    /// Keep more or less of what a server sends: `message`, `log`, `stderr` in bytes (such as 64MiB), `pages`, `beside`; see docs/limits.md
    #[arg(long, value_name = "NAME=VALUE")]
    pub limit: Vec<String>,
    /// Print only errors on stderr
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten)]
    pub data: DataArgs,
}

pub fn run(args: &McpArgs) -> Done {
    let sources = sources(&args.allow_source)?;
    let known = output::known().clone();
    sources
        .iter()
        .for_each(|(_, source)| known.add_source(source));
    let (rules, _) = RuleArgs::default().settings()?;
    let options = AgentOptions {
        folders: folders(&args.folder)?,
        sources,
        any_tool: args.allow_any_tool,
        limit: args.timeout.unwrap_or(LIMIT),
        limits: client::limits(&args.limit)?,
        hosts: hosts::load(&args.data),
        rules: Arc::new(rules),
        known,
        guard: std::env::current_exe().ok(),
        logins: client::keep(args.data.data_dir.as_deref()),
    };
    let runtime = client::runtime()?;
    let agent = Arc::new(Agent::new(options, runtime.handle().clone())?);
    output::note(
        args.quiet,
        "serving over standard input and output until the input ends",
    );
    let served = runtime.block_on(loupe_sample::stdio_apart(agent));
    // What does not stop in time is not waited for.
    runtime.shutdown_background();
    output::quiet_pipe(served)?;
    Ok(0)
}

/// The working folder, unless others are named. One that holds everything is no choice that anybody made.
fn folders(given: &[PathBuf]) -> Result<Vec<PathBuf>, Problem> {
    if !given.is_empty() {
        return Ok(given.to_vec());
    }
    let folder = std::env::current_dir()
        .map_err(|error| Problem::new(ProblemKind::Io, format!("no working folder: {error}")))?;
    if folder.parent().is_none() {
        return Err(Problem::new(
            ProblemKind::Usage,
            "the working folder holds every file of this computer",
        )
        .at(folder.display().to_string())
        .hint("name the project's folder with `--folder DIR`"));
    }
    Ok(vec![folder])
}

fn sources(given: &[String]) -> Result<Vec<(String, Source)>, Problem> {
    let mut sources: Vec<(String, Source)> = Vec::new();
    for text in given {
        let is_name = |name: &str| {
            !name.is_empty()
                && name
                    .chars()
                    .all(|char| char.is_ascii_alphanumeric() || "-_.".contains(char))
        };
        let Some((name, source)) = text.split_once('=').filter(|(name, _)| is_name(name)) else {
            return Err(Problem::new(
                ProblemKind::Usage,
                "--allow-source takes NAME=SOURCE; a name has letters, digits, `-`, `_` and `.`",
            )
            .hint("such as `--allow-source 'mine=python server.py'`"));
        };
        if sources.iter().any(|(known, _)| known == name) {
            return Err(Problem::new(
                ProblemKind::Usage,
                format!("the name `{name}` is given twice"),
            )
            .at("--allow-source"));
        }
        let source = source.trim();
        let line = match source {
            address if is_web(address) => format!("--url {address}"),
            option if option.starts_with('-') => option.to_owned(),
            command => format!("-- {command}"),
        };
        sources.push((
            name.to_owned(),
            client::source_line(&line, &format!("--allow-source {name}"))?,
        ));
    }
    Ok(sources)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_an_address_a_command_or_a_source() {
        let given = [
            "a=https://h/mcp?x=1",
            "b=python 'my server.py' --port=3",
            "c.d=--sample=dial",
            "e=-- x",
        ]
        .map(str::to_owned);
        let read: Vec<_> = sources(&given)
            .unwrap()
            .into_iter()
            .map(|(name, source)| format!("{name} {source}"))
            .collect();
        assert_eq!(
            read,
            [
                "a --url 'https://h/mcp?x=1'",
                "b -- python 'my server.py' '--port=3'",
                "c.d --sample=dial",
                "e -- x"
            ]
        );
        for wrong in [
            "x",
            "=y",
            "a b=c",
            "a=",
            "a=--nonsense",
            "a=x ${NOT_SET_ANYWHERE}",
        ] {
            assert_eq!(
                sources(&[wrong.to_owned()]).unwrap_err().kind,
                ProblemKind::Usage,
                "{wrong}"
            );
        }
        assert!(sources(&["a=x", "a=y"].map(str::to_owned)).is_err());
    }
}
