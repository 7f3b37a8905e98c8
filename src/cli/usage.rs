//! What clap says about wrong usage, in the words of every other failure.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Error};

use super::command::Cli;
use super::suggest;
use loupe_core::problem::{Problem, ProblemKind};

/// The failure; `None` where clap's error is an answer, such as that to `--help`.
pub fn problem(error: &Error) -> Option<Problem> {
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    ) {
        return None;
    }
    let word = text(error, ContextKind::InvalidArg)
        .or_else(|| text(error, ContextKind::InvalidSubcommand));
    let mut problem = Problem::new(ProblemKind::Usage, what(error, word.as_deref()));
    // Help shown for want of a command has its usage in the text alone.
    let usage = text(error, ContextKind::Usage).or_else(|| {
        let help = error.to_string();
        help.lines()
            .find(|line| line.starts_with("Usage: "))
            .map(str::to_owned)
    });
    let command = usage
        .and_then(|usage| command_of(&usage))
        .unwrap_or_else(|| "mcp-loupe".to_owned());
    let command_line = Cli::command();
    let near = word
        .filter(|word| !word.starts_with('-') && problem.what.starts_with("unknown command"))
        .and_then(|word| {
            suggest::hint(
                &word,
                command_line.get_subcommands().map(clap::Command::get_name),
            )
        });
    let suggested = text(error, ContextKind::SuggestedArg)
        .or_else(|| text(error, ContextKind::SuggestedSubcommand))
        .or_else(|| text(error, ContextKind::SuggestedValue));
    let is_loose = error.kind() == ErrorKind::UnknownArgument
        && problem.what.starts_with("unexpected argument");
    if is_loose {
        return Some(
            problem.hint("arguments of a tool go into `--args JSON`; the command of a server goes to the end, after `--`"),
        );
    }
    problem.hint = Some(
        match (near, suggested, text(error, ContextKind::ValidValue)) {
            (Some(near), ..) => near,
            (None, _, Some(valid)) => format!("one of {valid}"),
            (None, Some(suggested), None) => format!("did you mean `{suggested}`"),
            (None, None, None) => format!("`{command} --help` lists what it takes"),
        },
    );
    Some(problem)
}

/// Whether a failure has to be printed as JSON too, where the arguments could not be read.
pub fn wants_json(arguments: &[OsString]) -> bool {
    arguments
        .iter()
        .skip(1)
        .take_while(|argument| *argument != "--")
        .any(|argument| argument == "--json")
}

fn what(error: &Error, word: Option<&str>) -> String {
    match (error.kind(), word) {
        (ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand, _) => {
            "no command is given".to_owned()
        }
        (ErrorKind::UnknownArgument, Some(word)) if word.starts_with('-') => {
            format!("unknown option `{word}`")
        }
        (ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand, Some(word))
            if text(error, ContextKind::Usage)
                .is_some_and(|usage| command_of(&usage).as_deref() == Some("mcp-loupe")) =>
        {
            format!("unknown command `{word}`")
        }
        (ErrorKind::UnknownArgument, Some(word)) => format!("unexpected argument `{word}`"),
        // The first paragraph of what clap would print says the rest well enough.
        _ => {
            let text = error.to_string();
            let lines = text
                .lines()
                .take_while(|line| !line.trim().is_empty())
                .map(str::trim);
            let message = lines.collect::<Vec<_>>().join(" ");
            let message = message.strip_prefix("error: ").unwrap_or(&message);
            let message = message.split(" [possible values").next().unwrap_or(message);
            message.replace('\'', "`")
        }
    }
}

/// The command in a usage line, such as `mcp-loupe call [OPTIONS]`.
fn command_of(usage: &str) -> Option<String> {
    let words = usage
        .split_whitespace()
        .skip_while(|word| *word != "mcp-loupe");
    let command: Vec<&str> = words
        .take_while(|word| !word.starts_with(['[', '<', '-']))
        .collect();
    (!command.is_empty()).then(|| command.join(" "))
}

fn text(error: &Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) if !texts.is_empty() => Some(texts.join(", ")),
        ContextValue::StyledStr(text) => Some(text.to_string()),
        _ => None,
    }
}
