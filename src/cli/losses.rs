//! `losses`: which host loses what of a server, and what its definitions cost there.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use super::args::{LinkArgs, PrintArgs, SourceArgs};
use super::client::{computing, with_session};
use super::listed::{CallList, Listed};
use super::output::{self, one_line};
use super::{Done, hosts, view};
use loupe_analysis::contract::{self, TableKind};
use loupe_analysis::queries::{self, Definitions, HostLosses, HostsReport, LossesReport};
use loupe_analysis::summary::{LossColumn, costs_text, evidence_of, loss_sentence};
use loupe_core::cancel::Cancel;
use loupe_core::host::Hosts;
use loupe_core::host::losses::LossKind;
use loupe_core::number::{grouped, number_of};
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::token::{Encoding, Tokens};

/// Definitions that are printed of one loss.
const MAX_DEFINITIONS: usize = 5;

#[derive(Args, Debug)]
pub struct LossesArgs {
    /// Files and capture folders: results, or lists of tools as `tools --json` prints them
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    #[command(flatten)]
    pub calls: CallList,
    /// Only these hosts; with one, every loss with its evidence, its fix and the exact definition
    #[arg(long, value_name = "ID,…", value_delimiter = ',')]
    pub host: Vec<String>,
    /// The tokenizer of the numbers shown: o200k_base (the default) or cl100k_base
    #[arg(long, value_name = "NAME")]
    pub tokenizer: Option<String>,
    /// Print a table for others: markdown or csv
    #[arg(long = "as", value_name = "KIND", conflicts_with = "json")]
    pub table: Option<String>,
    #[command(flatten)]
    pub print: PrintArgs,
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(flatten)]
    pub link: LinkArgs,
}

pub fn run(args: &LossesArgs) -> Done {
    let all = hosts::load(&args.link.data);
    let wanted = hosts::all_known(&all, &args.host)?;
    let encoding = view::encoding(args.tokenizer.as_deref())?;
    let table = args.table.as_deref().map(table_kind).transpose()?;
    let mut listed = Listed::default();
    for path in &args.paths {
        listed.read_path(path)?;
    }
    let print = |listed: &Listed, cancel: &Cancel| {
        let report = match wanted.is_empty() {
            true => report(listed, &all, cancel)?,
            false => report(listed, &all.only(&wanted), cancel)?,
        };
        match (args.print.json, table) {
            (true, _) => output::json(&contract::losses(&report))?,
            (false, Some(kind)) => output::page(&contract::losses_table(kind, &report, encoding))?,
            (false, None) => output::page(&page(&report, encoding))?,
        }
        Ok(0)
    };
    let Some(source) = args.source.source()? else {
        if args.paths.is_empty() {
            return Err(Problem::new(ProblemKind::Usage, "no server and no file is given")
                .hint("add a file, a capture folder, --sample, --url URL, --config FILE or -- COMMAND [ARG…]"));
        }
        if !args.calls.0.is_empty() {
            return Err(Problem::new(ProblemKind::Usage, "--call needs a SOURCE")
                .hint("add --sample, --url URL or -- COMMAND [ARG…]"));
        }
        return computing(|cancel| print(&listed, cancel));
    };
    with_session(
        &source,
        &args.link,
        args.print.quiet,
        async |client| {
            listed.lists.server = Some(client.server());
            listed.lists.tools = client.tools().await?.into_iter().map(Arc::new).collect();
            listed
                .call(client, &args.calls, args.link.yes, false)
                .await?;
            Ok(listed)
        },
        |listed, cancel| print(&listed, cancel),
    )
}

fn table_kind(word: &str) -> Result<TableKind, Problem> {
    let known = TableKind::ALL.into_iter().find(|kind| kind.name() == word);
    known.ok_or_else(|| {
        Problem::new(ProblemKind::Usage, format!("unknown table `{word}`"))
            .at("--as")
            .hint("markdown or csv")
    })
}

/// What hosts lose of what was listed and of the answers.
pub fn report(listed: &Listed, hosts: &Hosts, cancel: &Cancel) -> Result<LossesReport, Problem> {
    let mut tools = listed.lists.tools.clone();
    if tools.is_empty() {
        // Captures alone know the tools that were called.
        for made in &listed.answers {
            let tool = &made.capture.tool;
            if !tool.raw.is_empty() && tools.iter().all(|known| known.raw != tool.raw) {
                tools.push(Arc::new(tool.clone()));
            }
        }
    }
    let server = listed.lists.server.clone().or_else(|| {
        let first = listed.answers.first()?;
        Some(first.capture.server.clone())
    });
    let definitions = Definitions {
        server: server.unwrap_or_default(),
        tools,
    };
    let mut report =
        LossesReport::new(&definitions, hosts, cancel).map_err(|_| Problem::interrupted())?;
    for made in &listed.answers {
        let subject = queries::subject(Arc::new(made.capture.clone()));
        let of_result =
            HostsReport::new(&subject, hosts, cancel).map_err(|_| Problem::interrupted())?;
        report = report.with_result(&made.capture.tool.name, &of_result);
    }
    Ok(report)
}

fn page(report: &LossesReport, encoding: Encoding) -> String {
    let mut page = format!("{}\n{}\n\n", one_line(&report.headline()), report.why());
    if let [host] = &report.hosts[..] {
        page.push_str(&detail(host, report, encoding));
        return page;
    }
    let mut last = None;
    for lane in report.lanes() {
        let first = &report.hosts[lane[0]];
        let outcome = first.outcome();
        if last != Some(outcome) {
            let hosts = report.hosts.iter().filter(|host| host.outcome() == outcome);
            let hosts = number_of(hosts.count() as u64, "hosts");
            page.push_str(&format!("{} ({hosts})\n\n", outcome.title()));
            last = Some(outcome);
        }
        let names = lane.iter().map(|at| one_line(&report.hosts[*at].host.name));
        page.push_str(&format!("  {}\n", names.collect::<Vec<_>>().join(", ")));
        for column in LossColumn::ALL {
            let lines: Vec<_> = first
                .lines(column)
                .iter()
                .map(|line| one_line(line.text()))
                .collect();
            if !lines.is_empty() {
                page.push_str(&format!(
                    "    {:<12} {}\n",
                    column.short(),
                    lines.join("; ")
                ));
            }
        }
        let most = |cost: fn(&HostLosses) -> Option<Tokens>| {
            let costs: Vec<_> = lane.iter().map(|at| cost(&report.hosts[*at])).collect();
            costs_text(&costs, encoding)
        };
        page.push_str(&format!(
            "    {:<12} listed {} · passed on {} · at session start {}\n\n",
            "tokens",
            most(|host| Some(host.cost.listed)),
            most(|host| host.cost.passed_on),
            most(|host| host.cost.at_start)
        ));
    }
    page.push_str(&format!(
        "{}{}, counted with {}; ≤ is the largest of several hosts.\n",
        number_of(report.tools.len() as u64, "definitions"),
        match report.instructions {
            Some(_) => " and the instructions",
            None => "",
        },
        encoding.name()
    ));
    let left_out = report.left_out();
    if !left_out.is_empty() {
        page.push_str(&format!(
            "No host is known to pass on {}.\n",
            left_out.join(", ")
        ));
    }
    page.push_str("`--host ID` shows one host with the exact definitions.\n");
    page
}

/// One host: each loss with its evidence, its fix, and the definitions as its model gets them, cut where it cuts.
fn detail(host: &HostLosses, report: &LossesReport, encoding: Encoding) -> String {
    let mut page = format!(
        "{} {}\nlisted {} · passed on {} · at session start {} (tokens, {})\n",
        one_line(&host.host.name),
        one_line(&host.host.version),
        grouped(host.cost.listed.get(encoding)),
        costs_text(&[host.cost.passed_on], encoding),
        costs_text(&[host.cost.at_start], encoding),
        encoding.name()
    );
    if !host.left_out.is_empty() {
        page.push_str(&format!("not passed on: {}\n", host.left_out.join(", ")));
    }
    if host.hidden > 0 {
        let tools = number_of(host.hidden as u64, "tools");
        page.push_str(&format!(
            "hidden from the model, as their `_meta.ui.visibility` asks: {tools}\n"
        ));
    }
    for loss in &host.losses {
        page.push_str(&format!(
            "\n{}\n  known: {}\n  fix: {}\n",
            one_line(&loss_sentence(loss, report)),
            one_line(&evidence_of(loss)),
            loss.kind.fix()
        ));
        let (definitions, more) = loss.tools.split_at(loss.tools.len().min(MAX_DEFINITIONS));
        for at in definitions {
            for (title, text) in contract::exact_loss(host, loss.kind, &report.tools[*at], report) {
                page.push_str(&format!("  {}\n", one_line(&format!("{title} {text}"))));
            }
        }
        if !more.is_empty() {
            let more = number_of(more.len() as u64, "more tools");
            page.push_str(&format!("  {more}: --json has all\n"));
        }
        if loss.kind == LossKind::Instructions
            && let Some(sent) = &report.instructions
            && let Some(shown) = host.host.instructions(sent)
        {
            let removed = &sent[shown.kept..];
            page.push_str(&format!(
                "  removed from byte {}: {}\n",
                grouped(shown.kept as u64),
                one_line(removed)
            ));
        }
    }
    for result in &host.results {
        page.push_str(&format!(
            "\n{}: {}\n",
            one_line(&result.tool),
            one_line(&result.text)
        ));
    }
    page
}
