//! `hosts`: every host that is known, a user's own among them.

use std::sync::Arc;

use super::args::{self, Data};
use super::output::{self, columns};
use super::{Done, near};
use crate::host::{Host, Hosts};
use crate::problem::{Kind, Problem};
use crate::report::json;
use crate::store;

pub fn run(args: &args::Hosts) -> Done {
    let hosts = load(&args.data);
    if args.print.json {
        output::print(json::hosts_list(&hosts).as_bytes())?;
        return Ok(0);
    }
    let head = ["HOST", "NAME", "VERSION", "EVIDENCE", "CHECKED", "SHOWS", "LIMIT"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for host in hosts.iter() {
        let own = if host.is_own { " (own)" } else { "" };
        rows.push(vec![
            host.id.to_string(),
            format!("{}{own}", host.name),
            shortened(&host.version, 24),
            host.evidence.name().to_owned(),
            host.checked.clone(),
            host.shows().to_owned(),
            limits(host),
        ]);
    }
    output::print(output::visible(&columns(&rows, &[])).as_bytes())?;
    Ok(0)
}

/// The limits in a few words.
fn limits(host: &Host) -> String {
    let limit = |limit: &crate::host::rules::LimitRule| match limit.max {
        0 => "depends on the model".to_owned(),
        max => format!("{} {}", crate::report::grouped(max), limit.unit.title()),
    };
    if host.limit.is_empty() { "none known".to_owned() } else { host.limit.iter().map(limit).collect::<Vec<_>>().join("; ") }
}

fn shortened(text: &str, chars: usize) -> String {
    if text.chars().count() <= chars { text.to_owned() } else { text.chars().take(chars - 1).chain(['…']).collect() }
}

/// The hosts that come with Loupe and those of the user's own file; what is wrong with that is said and breaks nothing.
pub fn load(data: &Data) -> Arc<Hosts> {
    let hosts = store::load_hosts(data.data_dir.as_deref());
    hosts.problems.iter().for_each(output::warning);
    hosts
}

/// The host with this id, or the failure that names near ones.
pub fn known<'a>(hosts: &'a Hosts, id: &str, place: &str) -> Result<&'a Arc<Host>, Problem> {
    hosts.get(id).ok_or_else(|| {
        let hint = near::hint(id, hosts.iter().map(|host| host.id.as_str()));
        Problem::new(Kind::Usage, format!("unknown host `{id}`"))
            .at(place)
            .hint(hint.unwrap_or_else(|| "`mcp-loupe hosts` lists the hosts".to_owned()))
    })
}
