//! `hosts`: every host that is known, a user's own among them; and what a probe says of one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use super::args::{DataArgs, PrintArgs};
use super::output::{self, columns};
use super::{Done, suggest};
use crate::store;
use loupe_analysis::contract;
use loupe_analysis::queries::Confirmed;
use loupe_core::host::probe::{find, sections};
use loupe_core::host::{Host, HostId, Hosts, ReadChoice};
use loupe_core::problem::{Problem, ProblemKind};
use loupe_sample::sample::Probe;

#[derive(Args, Debug)]
pub struct HostsArgs {
    /// One host's id: everything that is known about it
    #[arg(value_name = "ID")]
    pub id: Option<String>,
    /// Find the rules of a host from what it gave its model for the tools of `sample-server --probe`: each text under a line `=== TOOL`
    #[arg(long, value_name = "FILE|-")]
    pub from_probe: Option<PathBuf>,
    #[command(flatten)]
    pub print: PrintArgs,
    #[command(flatten)]
    pub data: DataArgs,
}

pub fn run(args: &HostsArgs) -> Done {
    let hosts = load(&args.data);
    let confirmed = || {
        store::read_confirmed(args.data.data_dir.as_deref()).unwrap_or_else(|problem| {
            output::warning(&problem);
            Vec::new()
        })
    };
    if let Some(id) = &args.id {
        let host = known(&hosts, id, "hosts")?;
        let text = if args.print.json {
            contract::host(&hosts, host, &confirmed())
        } else {
            detail(host, &confirmed())
        };
        output::page_or(args.print.json, &text)?;
        return Ok(0);
    }
    if let Some(path) = &args.from_probe {
        return probe(path, &hosts, args.print.json);
    }
    if args.print.json {
        output::json(&contract::hosts_list(&hosts, &confirmed()))?;
        return Ok(0);
    }
    let head = [
        "HOST", "NAME", "VERSION", "EVIDENCE", "CHECKED", "SHOWS", "LIMIT",
    ];
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
    output::page(&columns(&rows, &[]))?;
    Ok(0)
}

/// Everything that is known about one host.
fn detail(host: &Host, confirmed: &[Confirmed]) -> String {
    let mut page = format!(
        "{} · {}{}\n",
        host.id,
        host.name,
        if host.is_own { " (own)" } else { "" }
    );
    page.push_str(&format!(
        "{}\n",
        loupe_analysis::queries::evidence_text(host)
    ));
    let own = confirmed
        .iter()
        .filter(|confirmed| confirmed.host == host.id.as_str());
    for confirmed in own {
        page.push_str(&format!("{} (its transcripts)\n", confirmed.words()));
    }
    page.push_str(&format!("shows {}\n", host.shows()));
    if host.limit.is_empty() {
        page.push_str("limit none known\n");
    }
    for limit in &host.limit {
        let max = match limit.max {
            0 => limit
                .max_note
                .clone()
                .unwrap_or_else(|| "depends on the model".to_owned()),
            max => {
                let (max, unit) = limit.unit.in_words(max);
                format!("{} {}", loupe_core::number::grouped(max), unit.title())
            }
        };
        page.push_str(&format!("limit {max}; {}\n", limit.certainty));
        if let Some(setting) = &limit.setting {
            page.push_str(&format!("  changed by {setting}\n"));
        }
    }
    let rules = &host.definition;
    let word = |passed: Option<bool>| match passed {
        Some(true) => "passed on",
        Some(false) => "left out",
        None => "not verified",
    };
    let named = |text: &Option<String>| text.clone().unwrap_or_else(|| "not verified".to_owned());
    let name = rules
        .name
        .as_ref()
        .map_or("not verified", |name| name.source());
    page.push_str("definition of a tool as its model sees it\n");
    page.push_str(&format!(
        "  name {name}\n  input schema {}\n",
        named(&rules.input_schema)
    ));
    page.push_str(&format!(
        "  title {} · output schema {} · annotations {}\n  loading {}\n",
        word(rules.title),
        word(rules.output_schema),
        word(rules.annotations),
        named(&rules.loading)
    ));
    let client = match (host.identity(), &host.client) {
        (Some(identity), Some(rules)) => format!("{} ({})", identity.says(), rules.source),
        _ => "not verified, so `--as-host` does not take it".to_owned(),
    };
    page.push_str(&format!("how it names itself to a server: {client}\n"));
    for source in &host.source {
        page.push_str(&format!("source {source}\n"));
    }
    if !host.notes.is_empty() {
        page.push_str(&format!("{}\n", host.notes.trim_end()));
    }
    page
}

/// What the pasted texts say of a host: sentences as comments, then the entry, so that all of it is a hosts file.
fn probe(path: &Path, hosts: &Hosts, is_json: bool) -> Done {
    let place = if path == Path::new("-") {
        "standard input".to_owned()
    } else {
        path.display().to_string()
    };
    let text = if path == Path::new("-") {
        std::io::read_to_string(std::io::stdin().lock())
    } else {
        store::file_text(path, store::MOST_OF_ANSWERS)
    };
    let text = text.map_err(|error| {
        Problem::new(ProblemKind::Io, format!("cannot read: {error}")).at(place.clone())
    })?;
    let pasted = sections(&text).map_err(|problem| {
        let at = if problem.place.is_empty() {
            place
        } else {
            format!("{place}, {}", problem.place)
        };
        problem.at(at)
    })?;
    let found = find(&Probe::answers(), &pasted, hosts);
    // The day, by the machine's clock.
    let today = time::OffsetDateTime::now_utc().date().to_string();
    if is_json {
        output::json(&contract::probe(&found, &today))?;
        return Ok(0);
    }
    let mut words = vec![
        found.verdict(),
        format!("Confidence: {}.", found.confidence().title()),
    ];
    words.extend(found.limit());
    let mut out: String = words
        .iter()
        .flat_map(|words| words.lines())
        .map(|line| format!("# {line}\n"))
        .collect();
    if let Some(entry) = found.toml(&today) {
        out += "\n";
        out += &entry;
    }
    output::page(&out)?;
    Ok(0)
}

/// The limits in a few words.
fn limits(host: &Host) -> String {
    let limit = |limit: &loupe_core::host::rules::LimitRule| match limit.max {
        0 => "depends on the model".to_owned(),
        max => {
            let (max, unit) = limit.unit.in_words(max);
            format!("{} {}", loupe_core::number::grouped(max), unit.title())
        }
    };
    if host.limit.is_empty() {
        "none known".to_owned()
    } else {
        host.limit.iter().map(limit).collect::<Vec<_>>().join("; ")
    }
}

fn shortened(text: &str, chars: usize) -> String {
    if text.chars().count() <= chars {
        text.to_owned()
    } else {
        text.chars().take(chars - 1).chain(['…']).collect()
    }
}

/// The hosts that come with Loupe and those of the user's own file; what is wrong with that is said and breaks nothing.
pub fn load(data: &DataArgs) -> Arc<Hosts> {
    let hosts = store::load_hosts(data.data_dir.as_deref());
    hosts.problems.iter().for_each(output::warning);
    hosts
}

/// What `--sent-as` says.
///
/// # Errors
/// It is neither a part nor a known host.
pub fn read_choice(hosts: &Hosts, word: Option<&str>) -> Result<ReadChoice, Problem> {
    let Some(word) = word else {
        return Ok(ReadChoice::Most);
    };
    ReadChoice::parse(word, hosts).map_or_else(
        || known(hosts, word, "--sent-as").map(|host| ReadChoice::Host(host.id)),
        Ok,
    )
}

/// The host with this id, or the failure that names near ones.
pub fn known<'a>(hosts: &'a Hosts, id: &str, place: &str) -> Result<&'a Arc<Host>, Problem> {
    hosts.get(id).ok_or_else(|| {
        let hint = suggest::hint(id, hosts.iter().map(|host| host.id.as_str()));
        Problem::new(ProblemKind::Usage, format!("unknown host `{id}`"))
            .at(place)
            .hint(hint.unwrap_or_else(|| "`mcp-loupe hosts` lists the hosts".to_owned()))
    })
}

/// The ids that were named, each of them known.
pub fn all_known(all: &Hosts, ids: &[String]) -> Result<Vec<HostId>, Problem> {
    ids.iter()
        .map(|id| known(all, id, "--host").map(|host| host.id))
        .collect()
}
