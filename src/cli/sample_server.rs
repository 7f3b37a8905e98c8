//! `sample-server`: the sample as an MCP server of its own, over stdio or HTTP.

use std::net::SocketAddr;
use std::sync::Arc;

use super::{Done, client, command, output};
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::source::SampleSpec;
use loupe_sample::sample::{Probe, Sample};
use loupe_sample::{self, Backend};

fn spec(args: &command::SampleServerArgs) -> Result<SampleSpec, Problem> {
    SampleSpec::parse(&args.set).map_err(|problem| match problem.place.as_str() {
        "--sample" => problem.at("--set"),
        _ => problem,
    })
}

pub fn run(args: &command::SampleServerArgs) -> Done {
    let backend: Arc<dyn Backend> = if args.probe {
        Arc::new(Probe::new())
    } else {
        Arc::new(Sample::new(&spec(args)?)?)
    };
    serve(backend, args.http, args.quiet)
}

/// Serves until the input ends, or until interrupted where it is served over HTTP.
pub fn serve(backend: Arc<dyn Backend>, http: Option<SocketAddr>, quiet: bool) -> Done {
    let runtime = client::runtime()?;
    runtime.block_on(async {
        match http {
            None => output::quiet_pipe(loupe_sample::stdio(backend).await)?,
            Some(address) => {
                let place = address.to_string();
                let failed = |error: std::io::Error| {
                    Problem::new(ProblemKind::Io, format!("cannot serve: {error}"))
                        .at(place.clone())
                        .hint("port 0 takes any free port")
                };
                let http = loupe_sample::http(backend, address).await.map_err(failed)?;
                output::note(
                    quiet,
                    &format!("serving at {} until interrupted", http.url()),
                );
                http.run().await.map_err(failed)?;
            }
        }
        Ok(0)
    })
}
