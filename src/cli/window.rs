//! Without a command: the window; where there cannot be one, the same in the terminal, saying why.

use std::path::Path;

use super::args::{LinkArgs, PrintArgs, ViewArgs};
use super::call::{FetchArgs, call};
use super::command;
use super::view::ViewRequest;
use super::{Done, output, tools};
use loupe_core::host::Hosts;
use loupe_core::source::Source;
use loupe_core::token::Tokenizer;

/// The sample's question that the start page asks first.
const SAMPLE_TOOL: &str = "dual_search_companies";

pub fn run(args: &command::WindowArgs) -> Done {
    let source = args.source.source()?;
    match open(source.clone(), args.data.data_dir.as_deref()) {
        Ok(()) => Ok(0),
        Err(why) => {
            output::note(args.quiet, &format!("{why}, so here it is in the terminal"));
            in_terminal(&source.unwrap_or_else(Source::sample), args)
        }
    }
}

fn in_terminal(source: &Source, args: &command::WindowArgs) -> Done {
    let print = PrintArgs {
        json: false,
        quiet: args.quiet,
    };
    let link = LinkArgs {
        limit: args.limit.clone(),
        data: args.data.clone(),
        ..LinkArgs::default()
    };
    match source {
        Source::Sample(spec) if has_sample_tool(&spec.set) => {
            let view = ViewArgs {
                print,
                ..ViewArgs::default()
            };
            let asked = ViewRequest::read(&view, Hosts::built_in)?;
            let fetch = FetchArgs {
                link,
                ..FetchArgs::default()
            };
            call(source, SAMPLE_TOOL, "{}".to_owned(), false, &fetch, &asked)
        }
        _ => tools::list(source, &Tokenizer::default(), &link, print),
    }
}

/// The other sets name their tools as their originals do.
fn has_sample_tool(set: &str) -> bool {
    set == "all"
}

/// Opens the window and comes back when it is closed; the error is why there is none.
#[cfg(feature = "gui")]
fn open(source: Option<Source>, data_dir: Option<&Path>) -> Result<(), String> {
    // In the window the user chooses where several servers could log in.
    let asking = |source| match source {
        Source::Http(http) => {
            let login = http.login.map(|login| loupe_core::source::Login {
                asks: true,
                ..login
            });
            Source::Http(loupe_core::source::Http { login, ..http })
        }
        other => other,
    };
    crate::app::run(source.map(asking), data_dir).map_err(|problem| problem.message())
}

#[cfg(not(feature = "gui"))]
fn open(_source: Option<Source>, _data_dir: Option<&Path>) -> Result<(), String> {
    Err("this build has no window".to_owned())
}
