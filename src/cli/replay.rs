//! `replay`: captures as an MCP server, over stdio or HTTP.

use std::sync::Arc;

use super::sample_server::serve;
use super::save_args::recover;
use super::{Done, command, output, suggest};
use crate::replay::{self, ReplayOptions, Variant};
use loupe_core::number::number_of;
use loupe_core::problem::{Problem, ProblemKind};

pub fn run(args: &command::ReplayArgs) -> Done {
    let options = ReplayOptions {
        variant: variant(&args.variant)?,
        nearest: args.matching == command::Matching::Nearest,
        delay: args.delay == command::Delay::Recorded,
        lines: args.http.is_none(),
    };
    let quiet = args.quiet;
    args.dirs.iter().for_each(|dir| recover(dir, quiet));
    let replay = replay::open(
        &args.dirs,
        options,
        Arc::new(move |text| output::note(quiet, text)),
    )?;
    let calls = replay.calls();
    output::note(
        quiet,
        &format!("replaying {}", number_of(calls as u64, "recorded calls")),
    );
    serve(Arc::new(replay), args.http, quiet)
}

fn variant(word: &str) -> Result<Variant, Problem> {
    Variant::parse(word).ok_or_else(|| {
        let hint = suggest::hint(word, Variant::names()).unwrap_or_else(|| {
            "both, content-only, structured-only, or one that `mcp-loupe formats` lists".to_owned()
        });
        Problem::new(ProblemKind::Usage, format!("unknown variant `{word}`"))
            .at("--variant")
            .hint(hint)
    })
}
