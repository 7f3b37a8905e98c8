//! The servers that run inside this process: the sample, and the replay of a fixture.

use std::sync::Arc;

use loupe_client::Note;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::source::Source;
use loupe_sample::Backend;
use loupe_sample::sample::Sample;
use tokio::io::DuplexStream;

use crate::replay::{self, ReplayOptions};

/// For [`loupe_client::Options::in_process`]: starts the server and returns the near end of its pipe.
///
/// # Errors
/// Refused settings of the sample, or captures that cannot be read.
pub fn start(source: &Source, note: Note) -> Result<DuplexStream, Problem> {
    let backend: Arc<dyn Backend> = match source {
        Source::Sample(spec) => Arc::new(Sample::new(spec)?),
        Source::Fixture(folder) => Arc::new(replay::open(
            std::slice::from_ref(folder),
            ReplayOptions::default(),
            note,
        )?),
        Source::Command(_) | Source::Http(_) => {
            return Err(Problem::new(
                ProblemKind::Internal,
                "this server runs outside this process",
            ));
        }
    };
    Ok(loupe_sample::pipe(backend))
}
