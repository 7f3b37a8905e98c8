//! Without a command: the window; where there cannot be one, the same in the terminal, saying why.

use super::args::{self, Link, Print};
use super::view::Asked;
use super::{Done, call, output, tools};
#[cfg(feature = "gui")]
use crate::problem::Problem;
use crate::source::Source;
use crate::token::Encoding;

/// The sample's question that the start page asks first.
const SAMPLE_TOOL: &str = "dual_search_companies";

pub fn run(args: &args::Window) -> Done {
    let source = args.source.source()?.unwrap_or_else(Source::sample);
    match open(&source) {
        Ok(()) => Ok(0),
        Err(why) => {
            output::note(args.quiet, &format!("{why}, so here it is in the terminal"));
            in_terminal(&source, args.quiet)
        }
    }
}

fn in_terminal(source: &Source, quiet: bool) -> Done {
    match source {
        Source::Sample(spec) if has_sample_tool(&spec.set) => {
            call::call(source, SAMPLE_TOOL, "{}".to_owned(), false, &Link::default(), Asked::ledger(quiet))
        }
        _ => tools::list(source, Encoding::O200kBase, &Link::default(), Print { json: false, quiet }),
    }
}

/// The other sets name their tools as their originals do.
fn has_sample_tool(set: &str) -> bool {
    set == "all"
}

#[cfg(not(feature = "gui"))]
fn open(_source: &Source) -> Result<(), String> {
    Err("this build has no window".to_owned())
}

#[cfg(feature = "gui")]
fn open(source: &Source) -> Result<(), String> {
    if let Some(why) = no_display() {
        return Err(why);
    }
    crate::app::run(source.clone()).map_err(|problem: Problem| problem.message())
}

/// Why no window can be opened, where that is plain before trying.
#[cfg(all(feature = "gui", unix, not(target_os = "macos")))]
fn no_display() -> Option<String> {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY"))
        .then(|| "there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)".to_owned())
}

#[cfg(all(feature = "gui", not(all(unix, not(target_os = "macos")))))]
fn no_display() -> Option<String> {
    None
}
