//! `loupe.probe/1`: what the results of the probe say of a host.

use serde::Serialize;

use crate::contract::{VERSION, print};
use loupe_core::host::probe::ProbeFinding;

#[derive(Serialize)]
struct Document<'a> {
    loupe: &'static str,
    schema: &'static str,
    tried: usize,
    untried: &'a [&'static str],
    fits: Vec<&'static str>,
    nearest: Option<Nearest>,
    explained: &'a [String],
    open: &'a [String],
    confidence: &'static str,
    verdict: String,
    limit: Option<String>,
    /// A whole hosts file.
    entry: Option<String>,
}

#[derive(Serialize)]
struct Nearest {
    id: &'static str,
    given: usize,
}

/// The document; `today` is the day of the probe.
pub fn probe(found: &ProbeFinding, today: &str) -> String {
    let guess = &found.guess;
    print(&Document {
        loupe: VERSION,
        schema: "loupe.probe/1",
        tried: found.tried,
        untried: &found.untried,
        fits: guess.fits.iter().map(|id| id.as_str()).collect(),
        nearest: guess.nearest.as_ref().map(|(id, given)| Nearest {
            id: id.as_str(),
            given: *given,
        }),
        explained: &guess.explained,
        open: &guess.open,
        confidence: found.confidence().title(),
        verdict: found.verdict(),
        limit: found.limit(),
        entry: found.toml(today),
    })
}
