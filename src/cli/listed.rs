//! What `check` and `losses` are about: what a server lists, the answers to calls, and files that hold either.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use super::call::{capture_id, read_arguments, warn_unchecked};
use super::client::{Client, find_tool};
use super::output::one_line;
use crate::store;
use loupe_analysis::queries::arguments::validate;
use loupe_core::capture::{Capture, CaptureId, ServerLists, Tool, listed_tools};
use loupe_core::problem::{Problem, ProblemKind};

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

/// What a server listed, and what came of the calls.
#[derive(Default)]
pub struct Listed {
    pub lists: ServerLists,
    pub answers: Vec<CheckedCall>,
}

/// An answer, and why it is there.
pub struct CheckedCall {
    pub capture: Capture,
    /// The file or folder that it is in.
    pub file: Option<String>,
    pub why: CallPurpose,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum CallPurpose {
    Answer,
    /// The call before it once more.
    Repeat,
    /// The call before it with an argument that the tool does not have.
    Odd,
}

/// Refuses a tool that is not declared read-only, unless `yes` says to call it.
pub fn may_call(tool: &Tool, yes: bool) -> Result<(), Problem> {
    if tool.is_declared_read_only() || yes {
        return Ok(());
    }
    Err(Problem::new(
        ProblemKind::Consent,
        "not declared read-only, and nothing was called",
    )
    .at(tool.name.clone())
    .hint("`--yes` calls it all the same"))
}

impl Listed {
    /// A server that lists no tool any more has lost all of them; files of answers alone say nothing of tools.
    pub fn lists_tools(&self) -> bool {
        self.lists.server.is_some() || !self.lists.tools.is_empty()
    }

    /// A file or folder: captures, or a list of tools.
    pub fn read_path(&mut self, path: &Path) -> Result<(), Problem> {
        let listed = self;
        let place = path.display().to_string();
        if path.is_file() {
            let bytes = store::file_bytes(path, store::MOST_OF_ANSWERS).map_err(|error| {
                Problem::new(ProblemKind::Io, format!("cannot read: {error}")).at(place.clone())
            })?;
            if let Some(tools) = listed_tools(&Bytes::from(bytes)) {
                listed.lists.tools.extend(tools.into_iter().map(Arc::new));
                return Ok(());
            }
        }
        let folders = if path.is_dir() {
            store::find_folders(path)?
        } else {
            Vec::new()
        };
        let paths: Vec<PathBuf> = if folders.is_empty() {
            vec![path.to_owned()]
        } else {
            folders
        };
        for path in paths {
            let file = path.display().to_string();
            let made = |capture| CheckedCall {
                capture,
                file: Some(file.clone()),
                why: CallPurpose::Answer,
            };
            listed
                .answers
                .extend(store::read_all(&path, None)?.into_iter().map(made));
        }
        Ok(())
    }

    /// Makes the calls, with `probes` twice and with an unknown argument. A tool that is not declared read-only is called
    /// where `yes` says so.
    pub async fn call(
        &mut self,
        client: &Client<'_>,
        calls: &CallList,
        yes: bool,
        probes: bool,
    ) -> Result<(), Problem> {
        let (listed, wanted) = (self, calls);
        let mut calls = Vec::new();
        let plain: Vec<Tool> = listed
            .lists
            .tools
            .iter()
            .map(|tool| Tool::clone(tool))
            .collect();
        for (at, (name, given)) in wanted.0.iter().enumerate() {
            let tool = find_tool(name, &plain)?;
            may_call(tool, yes)?;
            let arguments = read_arguments(given.as_deref())?;
            warn_unchecked(
                name,
                validate(tool.input_schema.as_ref(), &arguments, false)?,
            );
            let made = |nth: &str, arguments: String| {
                client.prepare(
                    CaptureId(format!("{}-{}{nth}", capture_id(name).0, at + 1).into()),
                    tool,
                    arguments,
                )
            };
            let odd = probes
                .then(|| odd(&arguments))
                .flatten()
                .filter(|_| tool.is_declared_read_only());
            let message = one_line(name);
            calls.push((
                CallPurpose::Answer,
                format!("calling {message}"),
                made("", arguments.clone()),
            ));
            if probes {
                calls.push((
                    CallPurpose::Repeat,
                    format!("calling {message} again"),
                    made("-again", arguments),
                ));
            }
            if let Some(odd) = odd {
                calls.push((
                    CallPurpose::Odd,
                    format!("calling {message} with an unknown argument"),
                    made("-odd", odd),
                ));
            }
        }
        let why: Vec<_> = calls.iter().map(|(why, ..)| *why).collect();
        let calls = calls.into_iter().map(|(_, message, call)| (message, call));
        let captures = client.calls(calls).await;
        listed.answers.extend(
            captures
                .into_iter()
                .zip(why)
                .map(|(capture, why)| CheckedCall {
                    capture,
                    file: None,
                    why,
                }),
        );
        Ok(())
    }
}

/// The arguments with one more that no tool has; `None` where they are no object.
fn odd(arguments: &str) -> Option<String> {
    let body = arguments.trim().strip_prefix('{')?.trim_start();
    let comma = if body.starts_with('}') { "" } else { "," };
    Some(format!("{{\"loupe_unknown_argument\":true{comma}{body}"))
}
