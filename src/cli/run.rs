//! `run`: the calls of a collection, what they cost, and how that changed.

use std::path::Path;
use std::sync::Arc;

use super::args;
use super::call::{capture_id, folder_name, warn_unchecked};
use super::client::{Client, find_tool, source_line, with_session};
use super::command;
use super::output::{self, columns, one_line};
use super::written::{self, KeepArgs, preview, recover};
use super::{Done, hosts};
use crate::analysis;
use crate::cancel::Cancel;
use crate::capture::{Capture, CaptureId, Outcome, Server, Tool};
use crate::fixture::budget::BudgetOf;
use crate::fixture::collection::{CollectedCall, Collection};
use crate::fixture::run::{PreviousRun, Run, RunCall};
use crate::host::Hosts;
use crate::number::{grouped, number_of, signed};
use crate::problem::{Problem, ProblemKind};
use crate::source::Source;
use crate::store;
use crate::token::{self, Tokens};

pub fn run(args: &command::RunArgs) -> Done {
    let place = args.file.display().to_string();
    let collection = Collection::parse(&read(&args.file)?, &place)?;
    let before = args.against.as_deref().map(|path| PreviousRun::parse(read(path)?.as_bytes(), &path.display().to_string()));
    let before = before.transpose()?;
    let hosts = hosts::load(&args.link.data);
    for budget in collection.calls.iter().flat_map(|call| &call.budgets) {
        if let BudgetOf::Host(id) = &budget.of {
            hosts::known(&hosts, id, &place)?;
        }
    }
    let source = source(args, collection.source.as_deref(), &place)?;
    args.write.check()?;
    let quiet = args.print.quiet;
    args.save.iter().for_each(|folder| recover(folder, quiet));
    with_session(
        &source,
        &args.link,
        quiet,
        async |client| {
            let tools = client.tools().await?;
            let plan = plan(&collection, &tools)?;
            consent(&plan, args.link.yes)?;
            if let Some(folder) = args.save.as_deref().filter(|_| !args.write.preview) {
                free(&plan, folder)?;
            }
            let (captures, unsaved) = make(&plan, client, args).await;
            Ok((client.server(), tools, captures, unsaved))
        },
        |(server, tools, captures, unsaved), cancel| {
            let kept = captures.clone();
            let status = print(&collection, server, &tools, captures, before.as_ref(), &hosts, args.print, cancel)?;
            let keep = KeepArgs { keep: args.keep, no_redact: args.write.no_redact, write: args.write.clone() };
            let status = keep.keep_all(&kept, &args.link, quiet, status);
            unsaved.map_or(Ok(status), Err)
        },
    )
}

fn read(path: &Path) -> Result<String, Problem> {
    store::file_text(path, store::MOST_OF_SETTINGS)
        .map_err(|error| Problem::new(ProblemKind::Io, format!("cannot read: {error}")).at(path.display().to_string()))
}

/// The SOURCE of the command line, else that of the collection, with `${NAME}` filled from the environment.
fn source(args: &command::RunArgs, written: Option<&str>, place: &str) -> Result<Source, Problem> {
    if let Some(source) = args.source.source()? {
        return Ok(source);
    }
    let Some(written) = written else {
        return Err(Problem::new(ProblemKind::Usage, "no SOURCE is given")
            .at(place)
            .hint("write `source = \"…\"` into the collection, or add one: --sample, --url URL, --config FILE or -- COMMAND"));
    };
    source_line(written, &format!("{place}, source"))
}

/// Each call with its tool, all checked before the first is made.
fn plan<'a>(collection: &'a Collection, tools: &'a [Tool]) -> Result<Vec<(&'a CollectedCall, &'a Tool)>, Problem> {
    let mut plan = Vec::with_capacity(collection.calls.len());
    for call in &collection.calls {
        let tool = find_tool(&call.tool, tools)?;
        warn_unchecked(&tool.name, call.check(tool)?);
        plan.push((call, tool));
    }
    Ok(plan)
}

/// Whether every answer has a folder of its own that is not there yet: an earlier run's answer stays.
fn free(plan: &[(&CollectedCall, &Tool)], folder: &Path) -> Result<(), Problem> {
    for (at, (call, _)) in plan.iter().enumerate() {
        let name = folder_name(&call.name);
        let place = folder.join(&name);
        if let Some((other, _)) = plan[..at].iter().find(|(other, _)| folder_name(&other.name) == name) {
            let what = format!("the calls `{}` and `{}` would be saved into one folder", other.name, call.name);
            return Err(Problem::new(ProblemKind::Usage, what)
                .at(place.display().to_string())
                .hint("nothing was called; name one otherwise"));
        }
        if std::fs::symlink_metadata(&place).is_ok() {
            return Err(Problem::new(ProblemKind::Io, "already there")
                .at(place.display().to_string())
                .hint("nothing was called; give `--save` another folder, or remove this one"));
        }
    }
    Ok(())
}

/// A tool that is not declared read-only is called by a file only where somebody said so.
fn consent(plan: &[(&CollectedCall, &Tool)], yes: bool) -> Result<(), Problem> {
    let risky: Vec<_> = plan.iter().filter(|(_, tool)| !tool.is_declared_read_only()).collect();
    if yes || risky.is_empty() {
        return Ok(());
    }
    let calls: Vec<String> = risky.iter().map(|(call, _)| format!("{} {}", call.tool, call.arguments)).collect();
    let what = format!("not declared read-only, and nothing was called: {} of {} calls", risky.len(), plan.len());
    Err(Problem::new(ProblemKind::Consent, what).hint(format!("`--yes` makes these calls too: {}", calls.join(" · "))))
}

/// Makes the calls one after the other, and saves each answer as it comes. Where that fails the calls go on: what was
/// called is shown, and the first failure comes with it.
async fn make(plan: &[(&CollectedCall, &Tool)], client: &Client<'_>, args: &command::RunArgs) -> (Vec<Capture>, Option<Problem>) {
    let calls = plan.iter().enumerate().map(|(at, (call, tool))| {
        let id = CaptureId(format!("{}-{}", capture_id(&call.name).0, at + 1).into());
        let message = format!("call {} of {}: {}", at + 1, plan.len(), one_line(&call.name));
        (message, client.prepare(id, tool, call.arguments.clone()))
    });
    let save = |name: &str, capture: &Capture| {
        let Some(folder) = &args.save else { return Ok(()) };
        let hidden = args.write.prepare(capture, &args.write.options()?)?;
        if args.write.preview {
            output::note(args.print.quiet, &format!("{name}: {}", preview(&hidden, &[])));
            return Ok(());
        }
        written::folder(&hidden.capture, &[], &folder.join(folder_name(name)))
    };
    let mut unsaved = None;
    let came = |at: usize, capture: &Capture| {
        if let Err(problem) = save(&plan[at].0.name, capture) {
            unsaved.get_or_insert(problem);
        }
    };
    let captures = client.calls(calls, came).await;
    (captures, unsaved)
}

#[expect(clippy::too_many_arguments, reason = "all that was found, once")]
fn print(
    collection: &Collection,
    server: Server,
    tools: &[Tool],
    captures: Vec<Capture>,
    before: Option<&PreviousRun>,
    hosts: &Hosts,
    print: args::PrintArgs,
    cancel: &Cancel,
) -> Done {
    let looked_away = |_| Problem::interrupted();
    let mut definitions = Tokens::default();
    for tool in tools {
        definitions = definitions.plus(token::count(&String::from_utf8_lossy(&tool.raw)));
    }
    let mut calls = Vec::with_capacity(captures.len());
    let mut failure = None;
    for (call, capture) in collection.calls.iter().zip(captures) {
        let subject = analysis::subject(Arc::new(capture));
        failure = failure.or_else(|| analysis::failure(&subject));
        calls.push(RunCall::measure(call, &subject, hosts, cancel).map_err(looked_away)?);
    }
    let not_called = collection.calls.iter().skip(calls.len()).map(|call| call.name.clone()).collect();
    let run = Run { server, definitions, calls, not_called };
    let text = if print.json { run.json(before) } else { page(&run, before) };
    output::page_or(print.json, &text)?;
    if let Some(problem) = &failure {
        output::problem(problem);
    }
    let is_no = run.calls.iter().any(|call| matches!(call.outcome, Outcome::Result | Outcome::ToolError) && !call.passed());
    Ok(match &failure {
        Some(problem) if !is_no || problem.kind == ProblemKind::Cancelled => problem.kind.exit_status(),
        _ => u8::from(!run.passed()),
    })
}

fn page(run: &Run, before: Option<&PreviousRun>) -> String {
    let server = &run.server;
    let mut page = format!(
        "{}\n\n",
        one_line(&format!("{} ({}) · {}", server.heading(), server.transport, number_of(run.calls.len() as u64, "calls")))
    );
    let mut head = ["CALL", "TOOL", "OUTCOME", "O200K_BASE", "BYTES", "TIME"].map(str::to_owned).to_vec();
    if before.is_some() {
        head.push("CHANGE".to_owned());
    }
    head.push("BUDGET".to_owned());
    let mut rows = vec![head];
    let none = || "–".to_owned();
    for call in &run.calls {
        let mut row = vec![
            one_line(&call.name),
            one_line(&call.tool),
            call.outcome.name().to_owned(),
            call.tokens.map_or_else(none, |tokens| grouped(tokens.o200k_base)),
            call.bytes.map_or_else(none, grouped),
            format!("{:.1} ms", call.elapsed_ms),
        ];
        if let Some(before) = before {
            row.push(before.change(call).map_or_else(none, signed));
        }
        let budgets = call.budgets.iter().map(|checked| {
            let message = if checked.passed() { "ok" } else { "over" };
            let tokens = checked.tokens.as_ref().map_or_else(|_| none(), |tokens| grouped(*tokens));
            format!("{} {tokens} of {} {message}", checked.budget.of.name(), grouped(checked.budget.most))
        });
        row.push(budgets.collect::<Vec<_>>().join(", "));
        rows.push(row);
    }
    let right: &[usize] = if before.is_some() { &[3, 4, 5, 6] } else { &[3, 4, 5] };
    page.push_str(&columns(&rows, right));
    let change = before
        .map(|before| before.total_change(&run.calls))
        .map_or_else(String::new, |(sum, count)| format!(", {} than before in {count} calls that both runs have", signed(sum)));
    page.push_str(&format!(
        "\nanswers as sent: {} tokens{change}; definitions of the tools: {} tokens (o200k_base)\n",
        grouped(run.total().o200k_base),
        grouped(run.definitions.o200k_base)
    ));
    for name in &run.not_called {
        page.push_str(&format!("not called: {}\n", one_line(name)));
    }
    page
}
