//! What hosts do not pass on to their models: of the list of tools, of definitions, and of results where hosts are named.
//! One rule for each way in which something is lost; which hosts do it is data (`hosts.toml`).

use std::sync::Arc;

use super::profile::Profile::HostCompat;
use super::rule::Severity::{Error, Info, Warning};
use super::rule::{Hits, Rule, RuleCheck};
use super::{CheckedResult, CheckedServer};
use crate::queries::{Definitions, HostsReport, LossesReport};
use loupe_core::cancel::Cancel;
use loupe_core::capture::Server;
use loupe_core::host::losses::{ListedServer, LossEffect, LossKind};
use loupe_core::host::{Host, Hosts};
use loupe_core::number::grouped;

/// Hosts and tools that a message names; of more it says how many.
const NAMED: usize = 3;

const SOURCE: &str = "what each host passes on, with version and evidence (losses, hosts)";

/// A rule about one kind of loss; its fix is that of the loss.
macro_rules! loss_rule {
    ($id:literal, $severity:ident, $kind:ident, $explanation:literal) => {
        Rule::new(
            $id,
            &[(HostCompat, $severity)],
            RuleCheck::Server(|server, hosts, hits| report(LossKind::$kind, server, hosts, hits)),
        )
        .explanation($explanation)
        .fix(LossKind::$kind.fix())
        .source(SOURCE)
    };
}

#[rustfmt::skip]
pub(crate) static RULES: &[Rule] = &[
    loss_rule!("host/pages", Warning, Pages, "Tools come after the first page of `tools/list`. Some hosts read that page alone, so their models never hear of the others."),
    loss_rule!("host/too-many-tools", Warning, TooManyTools, "There are more tools than a host passes on."),
    loss_rule!("host/name-characters", Warning, NameCharacters, "A tool's name has a character that a host or its provider refuses: the tool, or every request, fails."),
    loss_rule!("host/name-length", Warning, NameLength, "The name that a host makes of server and tool is too long: it is shortened, the tool is left out, or every request fails."),
    loss_rule!("host/same-name", Warning, SameName, "Two names become equal where a host replaces characters or cuts: one of the tools is lost, or all are."),
    loss_rule!("host/no-description", Warning, NoDescription, "A tool has no description, and a host leaves such tools out."),
    loss_rule!("host/input-reference", Warning, InputReference, "A `$ref` in an input schema leads nowhere: a host leaves the tool out, or loses the list."),
    loss_rule!("host/output-reference", Warning, OutputReference, "A `$ref` in an output schema leads nowhere: some hosts lose all tools of the server by it."),
    loss_rule!("host/boolean-schema", Warning, BooleanSchema, "The schema of a property is `true` or `false`, which JSON Schema allows and some hosts do not read: they lose all tools of the server by it."),
    loss_rule!("host/description", Warning, Description, "A host cuts a tool's description."),
    loss_rule!("host/instructions", Info, Instructions, "Hosts leave out or cut the server's `instructions`, so a rule that stands there alone does not reach their models."),
    loss_rule!("host/schema-keywords", Info, Keywords, "A host takes keywords out of input schemas, so its model does not know what they say."),
    loss_rule!("host/schema-size", Info, SchemaSize, "An input schema is so large that a host leaves out the descriptions in it."),
    Rule::new("host/result", &[(HostCompat, Error)], RuleCheck::Answer(result))
        .explanation("A host that `check --host` names does not show all of a result to its model.")
        .fix("`hosts` and `--view hosts` say which part it shows: put the data where it reads it.")
        .source(SOURCE),
];

/// The hosts that count: those that are named, else all.
fn counted<'h>(hosts: &'h Hosts, hits: &Hits<'_>) -> Vec<&'h Arc<Host>> {
    let named = hits.named_hosts();
    hosts
        .iter()
        .filter(|host| named.is_empty() || named.contains(&host.id))
        .collect()
}

/// One finding for a kind of loss: what happens in which hosts, what most of them do first.
fn report(kind: LossKind, server: &CheckedServer<'_>, hosts: &Hosts, hits: &mut Hits<'_>) {
    let listing = ListedServer {
        server: server
            .server
            .map(Server::label)
            .filter(|name| !name.is_empty())
            .unwrap_or("server"),
        tools: server.tools,
        instructions: server
            .server
            .and_then(|server| server.instructions.as_deref()),
    };
    let mut all: Vec<(String, Vec<&str>)> = Vec::new();
    let mut worst = LossEffect::NotKnown;
    let mut tools: Vec<usize> = Vec::new();
    for host in counted(hosts, hits) {
        for loss in host.known_losses(&listing, kind) {
            worst = worst.min(loss.effect);
            tools.extend(&loss.tools);
            match all.iter_mut().find(|(text, _)| *text == loss.text) {
                Some((_, names)) => names.push(&host.name),
                None => all.push((loss.text, vec![&host.name])),
            }
        }
    }
    if all.is_empty() {
        return;
    }
    all.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
    let said: Vec<String> = all
        .iter()
        .map(|(text, names)| format!("{text}, in {}", some_of(names)))
        .collect();
    tools.sort_unstable();
    tools.dedup();
    let is_named = !hits.named_hosts().is_empty();
    let names: Vec<&str> = tools
        .iter()
        .map(|at| server.tools[*at].name.as_str())
        .collect();
    let which = match names.is_empty() {
        true => String::new(),
        false => format!(" ({})", some_of(&names)),
    };
    // The others say what happens to them.
    let lost = match kind {
        LossKind::Instructions | LossKind::Keywords => "not passed on: ",
        _ => "",
    };
    // Of the server and not of its tools: what hosts lose depends on all of them together.
    let hit = hits.report(format!("{lost}{}{which}", said.join("; ")));
    hit.count = tools.len().max(1) as u64;
    if is_named {
        hit.as_severity(Error);
    } else if worst == LossEffect::Changed && kind != LossKind::Description {
        hit.as_severity(Info);
    }
}

/// "Cline, Codex and 4 more".
fn some_of(names: &[&str]) -> String {
    if names.len() <= NAMED {
        return names.join(", ");
    }
    let more = grouped((names.len() - NAMED) as u64);
    format!("{} and {more} more", names[..NAMED].join(", "))
}

/// What named hosts do not show of a result.
fn result(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    if hits.named_hosts().is_empty() {
        return;
    }
    let named = answer.hosts.only(hits.named_hosts());
    // What is asked for is waited for: a check looks for an interruption between its rules.
    let cancel = Cancel::new();
    let Ok(report) = HostsReport::new(answer.subject, &named, &cancel) else {
        return;
    };
    let Ok(losses) = LossesReport::new(&Definitions::default(), &named, &cancel) else {
        return;
    };
    let losses = losses.with_result(&answer.subject.capture.tool.name, &report);
    for host in &losses.hosts {
        for loss in host.results.iter().filter(|loss| loss.is_known()) {
            hits.report(format!("{}: {}", host.host.name, loss.text))
                .as_severity(Error);
        }
    }
}
