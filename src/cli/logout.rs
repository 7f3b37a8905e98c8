//! `logout`: removes the login that is kept for a server.

use clap::Args;

use super::args::DataArgs;
use super::{Done, client, output};
use loupe_client::login;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::source::redact_url;

#[derive(Args, Debug)]
pub struct Logout {
    /// The server's address, as it was logged in to
    #[arg(value_name = "URL")]
    pub url: String,
    /// The client that it was logged in as, where one was named
    #[arg(long, value_name = "ID")]
    pub client_id: Option<String>,
    #[command(flatten)]
    pub data: DataArgs,
}

pub fn run(args: &Logout) -> Done {
    let keep = client::keep(args.data.data_dir.as_deref());
    let forgotten =
        client::runtime()?.block_on(login::forget(&keep, &args.url, args.client_id.as_deref()));
    let done =
        forgotten.map_err(|why| Problem::new(ProblemKind::Io, why).at(redact_url(&args.url)))?;
    output::page(&format!("{}: {done}\n", redact_url(&args.url)))?;
    Ok(0)
}
