//! `check`: what the rules find in a server's definitions and in answers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use super::call::{capture_id, make_calls, not_listed, read_arguments, warn_unchecked};
use super::client::{Interrupt, interrupted, list_tools, with_session};
use super::findings;
use super::output::{self, one_line};
use super::{Done, args, hosts};
use crate::analysis::arguments::refused_by;
use crate::analysis::{self};
use crate::capture::{Capture, CaptureId, Outcome, Prompt, Resource, Server, Tool, listed_tools};
use crate::contract::{self, AnswerCost, BaselineCost, CheckBudget, CheckOutcome, CheckedFinding, DefinitionCost};
use crate::finding::baseline::Baseline;
use crate::finding::{CheckedAnswer, CheckedServer, Checker, RuleSettings};
use crate::fixture::report;
use crate::fixture::verify::{Check, FixtureVerdict};
use crate::format::ParsedCapture;
use crate::host::Hosts;
use crate::mcp::{self, Listing, Session};
use crate::problem::{Problem, ProblemKind};
use crate::store;
use crate::token::{self, Tokens};

/// Calls to be made: a tool each, with the arguments that follow it.
#[derive(Clone, Debug, Default)]
pub struct CallList(Vec<(String, Option<String>)>);

impl Args for CallList {
    fn augment_args(command: Command) -> Command {
        let call = Arg::new("call").long("call").value_name("TOOL").action(ArgAction::Append);
        let args = Arg::new("args").long("args").value_name("JSON|@FILE|-").action(ArgAction::Append).allow_hyphen_values(true);
        command.arg(call.help("Call this tool and check its answer; repeatable")).arg(
            args.requires("call").help("The arguments of the `--call` before it: a JSON object, @FILE, or - for standard input"),
        )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for CallList {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = |name: &str| -> Vec<(usize, String)> {
            let values = matches.get_many::<String>(name).into_iter().flatten().cloned();
            matches.indices_of(name).into_iter().flatten().zip(values).collect()
        };
        let mut calls: Vec<(usize, String, Option<String>)> =
            given("call").into_iter().map(|(at, tool)| (at, tool, None)).collect();
        for (at, args) in given("args") {
            let call = calls.iter_mut().rfind(|(own, ..)| *own < at);
            match call {
                Some((_, _, own @ None)) => *own = Some(args),
                _ => {
                    return Err(clap::Error::raw(
                        clap::error::ErrorKind::ArgumentConflict,
                        "each --args belongs to the --call before it\n",
                    ));
                }
            }
        }
        Ok(Self(calls.into_iter().map(|(_, tool, args)| (tool, args)).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// What is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum CheckForm {
    #[default]
    Table,
    Markdown,
    Sarif,
    Junit,
    Github,
}

/// What a server listed, and what came of the calls.
#[derive(Default)]
struct Listed {
    server: Option<Server>,
    tools: Vec<Arc<Tool>>,
    again: Vec<Arc<Tool>>,
    resources: Vec<Resource>,
    prompts: Vec<Prompt>,
    /// Each with the file or folder that it stands in.
    answers: Vec<(Capture, Option<String>)>,
}

pub fn run(args: &args::CheckArgs) -> Done {
    let (settings, file) = args.rules.settings()?;
    let hosts = hosts::load(&args.data);
    let budgets = args.budget.iter().map(|text| budget(text)).collect::<Result<Vec<_>, _>>()?;
    let baseline = args.baseline.as_deref().filter(|path| !args.update || path.exists()).map(read_baseline).transpose()?;
    let mut listed = Listed::default();
    for path in &args.paths {
        read_path(path, &mut listed)?;
    }
    let place = file.map_or_else(|| RuleSettings::FILE.to_owned(), |path| path.display().to_string());
    let task = Task { args, settings: &settings, hosts: &hosts, budgets: &budgets, baseline: baseline.as_ref(), place };
    let Some(source) = args.source.source()? else {
        if args.paths.is_empty() {
            return Err(Problem::new(ProblemKind::Usage, "nothing to check is given")
                .hint("add a file, a capture folder, --sample, --url URL, --config FILE or -- COMMAND [ARG…]"));
        }
        if !args.calls.0.is_empty() {
            return Err(
                Problem::new(ProblemKind::Usage, "--call needs a SOURCE").hint("add --sample, --url URL or -- COMMAND [ARG…]")
            );
        }
        return task.finish(&listed);
    };
    let quiet = args.print.quiet;
    with_session(
        &source,
        &args.link,
        quiet,
        None,
        async |session, interrupt| {
            list(session, interrupt, args, &mut listed).await?;
            call(session, interrupt, args, &mut listed).await?;
            Ok(listed)
        },
        |listed, cancel| {
            if cancel.is_cancelled() {
                return Err(interrupted());
            }
            task.finish(&listed)
        },
    )
}

fn budget(text: &str) -> Result<(String, u64), Problem> {
    let parsed = text.rsplit_once('=').and_then(|(of, most)| Some((of.to_owned(), most.parse().ok()?)));
    parsed.ok_or_else(|| {
        Problem::new(ProblemKind::Usage, format!("`{text}` is not TOOL=TOKENS"))
            .at("--budget")
            .hint("such as search=400 or total=3000")
    })
}

fn read_baseline(path: &Path) -> Result<Baseline, Problem> {
    let place = path.display().to_string();
    let bytes = store::file_bytes(path, store::MOST_OF_ANSWERS)
        .map_err(|error| Problem::new(ProblemKind::Io, format!("cannot read: {error}")).at(place.clone()))?;
    Baseline::parse(&Bytes::from(bytes), &place)
}

/// A file or folder: captures, or a list of tools.
fn read_path(path: &Path, listed: &mut Listed) -> Result<(), Problem> {
    let place = path.display().to_string();
    if path.is_file() {
        let bytes = store::file_bytes(path, store::MOST_OF_ANSWERS)
            .map_err(|error| Problem::new(ProblemKind::Io, format!("cannot read: {error}")).at(place.clone()))?;
        if let Some(tools) = listed_tools(&Bytes::from(bytes)) {
            listed.tools.extend(tools.into_iter().map(Arc::new));
            return Ok(());
        }
    }
    let folders = if path.is_dir() { store::find_folders(path)? } else { Vec::new() };
    let paths: Vec<PathBuf> = if folders.is_empty() { vec![path.to_owned()] } else { folders };
    for path in paths {
        let file = path.display().to_string();
        listed.answers.extend(store::read_all(&path, None)?.into_iter().map(|capture| (capture, Some(file.clone()))));
    }
    Ok(())
}

/// What the server has. A kind that it does not declare is not asked for.
async fn list(session: &Session, interrupt: &Interrupt, args: &args::CheckArgs, listed: &mut Listed) -> Result<(), Problem> {
    let quiet = args.print.quiet;
    let tools = async || {
        Ok::<_, Problem>(list_tools(session, &args.link, true, interrupt).await?.tools.into_iter().map(Arc::new).collect())
    };
    listed.tools = tools().await?;
    listed.again = tools().await?;
    let server = session.server().clone();
    let entries = async |listing| super::client::list(session, listing, &args.link, quiet, interrupt).await;
    if server.declares("/resources") {
        listed.resources = entries(Listing::Resources).await?.into_iter().map(|raw| Resource::read(raw, false)).collect();
        // Many servers declare resources and know no templates.
        match entries(Listing::Templates).await {
            Ok(templates) => listed.resources.extend(templates.into_iter().map(|raw| Resource::read(raw, true))),
            Err(problem) if problem.kind == ProblemKind::RpcError => {}
            Err(problem) => return Err(problem),
        }
    }
    if server.declares("/prompts") {
        listed.prompts = entries(Listing::Prompts).await?.into_iter().map(Prompt::read).collect();
    }
    listed.server = Some(server);
    Ok(())
}

async fn call(session: &Session, interrupt: &Interrupt, args: &args::CheckArgs, listed: &mut Listed) -> Result<(), Problem> {
    let mut calls = Vec::new();
    let plain: Vec<Tool> = listed.tools.iter().map(|tool| Tool::clone(tool)).collect();
    for (at, (name, given)) in args.calls.0.iter().enumerate() {
        let tool = plain.iter().find(|tool| tool.name == *name).ok_or_else(|| not_listed(name, &plain))?;
        if !tool.is_declared_read_only() && !args.link.yes {
            return Err(Problem::new(ProblemKind::Consent, "not declared read-only, and nothing was called")
                .at(name.clone())
                .hint("`--yes` calls it all the same"));
        }
        let arguments = read_arguments(given.as_deref())?;
        warn_unchecked(name, refused_by(tool.input_schema.as_ref(), &arguments, false)?);
        let id = CaptureId(format!("{}-{}", capture_id(name).0, at + 1).into());
        let made = mcp::Call { id, tool: tool.clone(), arguments: arguments.into(), limit: args.link.call_limit() };
        calls.push((format!("calling {}", one_line(name)), made));
    }
    let captures = make_calls(calls.into_iter(), session, interrupt, args.print.quiet, |_, _| Ok(())).await?;
    listed.answers.extend(captures.into_iter().map(|capture| (capture, None)));
    Ok(())
}

struct Task<'a> {
    args: &'a args::CheckArgs,
    settings: &'a RuleSettings,
    hosts: &'a Hosts,
    budgets: &'a [(String, u64)],
    baseline: Option<&'a Baseline>,
    place: String,
}

impl Task<'_> {
    /// Looks, prints, saves the baseline where that is asked for.
    fn finish(&self, listed: &Listed) -> Done {
        let outcome = self.outcome(listed)?;
        let text = match (self.args.print.json, self.args.form) {
            (true, _) => contract::check(&outcome),
            (false, CheckForm::Table) => page(&outcome),
            (false, CheckForm::Markdown) => contract::check_markdown(&outcome),
            (false, CheckForm::Sarif) => contract::sarif(&outcome),
            (false, CheckForm::Github) => contract::check_github(&outcome),
            (false, CheckForm::Junit) => junit(&outcome)?,
        };
        output::page_or(self.args.print.json || self.args.form != CheckForm::Table, &text)?;
        if let Some(path) = self.args.baseline.as_deref().filter(|_| self.args.update) {
            let findings: Vec<_> = outcome.findings.iter().map(|found| found.finding.clone()).collect();
            let text = Baseline::text(listed.tools.iter().map(|tool| &**tool), &findings)?;
            store::write_whole(path, text.as_bytes())?;
            output::note(self.args.print.quiet, &format!("the baseline is written to {}", path.display()));
            return Ok(0);
        }
        Ok(u8::from(!outcome.passed()))
    }

    fn outcome(&self, listed: &Listed) -> Result<CheckOutcome, Problem> {
        let checker = Checker { settings: self.settings, hosts: self.hosts };
        let server = CheckedServer {
            server: listed.server.as_ref(),
            tools: &listed.tools,
            again: &listed.again,
            resources: &listed.resources,
            prompts: &listed.prompts,
        };
        let mut found: Vec<_> = checker.server(&server).into_iter().map(|finding| (finding, None)).collect();
        let mut answers = Vec::new();
        for (capture, file) in &listed.answers {
            let subject = analysis::subject(Arc::new(capture.clone()));
            answers.push(AnswerCost {
                tool: capture.tool.name.clone(),
                file: file.clone(),
                outcome: capture.outcome,
                tokens: sent(&subject),
            });
            if matches!(capture.outcome, Outcome::Timeout | Outcome::Cancelled | Outcome::Disconnected) {
                output::warning(&analysis::failure(&subject).unwrap_or_else(interrupted));
            }
            let own = [Arc::new(capture.tool.clone())];
            let known = if listed.tools.is_empty() && !capture.tool.raw.is_empty() {
                CheckedServer { tools: &own, ..server }
            } else {
                server
            };
            let of_answer = checker.answer(&CheckedAnswer::of(&subject, known, self.hosts));
            found.extend(of_answer.into_iter().map(|finding| (finding, file.clone())));
        }
        // A server that lists no tool any more has lost all of them; files of answers alone say nothing of tools.
        let lists_tools = listed.server.is_some() || !listed.tools.is_empty();
        if let Some(baseline) = self.baseline.filter(|_| lists_tools) {
            found.extend(checker.drift(&baseline.tools, &listed.tools).into_iter().map(|finding| (finding, None)));
        }
        found.sort_by_key(|(finding, _)| finding.severity);
        let (findings, files): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        let is_new = self.baseline.map_or_else(|| vec![true; findings.len()], |baseline| baseline.new_ones(&findings));
        let findings =
            findings.into_iter().zip(files).zip(is_new).map(|((finding, file), is_new)| CheckedFinding { finding, file, is_new });
        let tools: Vec<_> = listed.tools.iter().map(|tool| cost(tool, listed.server.as_ref(), self.hosts)).collect();
        Ok(CheckOutcome {
            server: listed.server.clone(),
            place: self.place.clone(),
            findings: findings.collect(),
            budgets: self.budgets(&tools, listed.server.as_ref())?,
            baseline: self.baseline.filter(|_| lists_tools).map(|baseline| BaselineCost {
                before: baseline.tools.iter().map(|tool| definition(tool).o200k_base).sum(),
                now: tools.iter().map(|tool| tool.listed.o200k_base).sum(),
                most: self.args.max_increase,
            }),
            tools,
            answers,
            fail_on: Some(self.settings.fail_on),
        })
    }

    fn budgets(&self, tools: &[DefinitionCost], server: Option<&Server>) -> Result<Vec<CheckBudget>, Problem> {
        let instructions = server.and_then(|server| server.instructions.as_deref()).unwrap_or_default();
        let total = tools.iter().map(|tool| tool.listed.o200k_base).sum::<u64>() + token::count(instructions).o200k_base;
        let budget = |(of, most): &(String, u64)| {
            let tool = tools.iter().find(|tool| tool.name == *of).map(|tool| tool.listed.o200k_base);
            let tokens = tool.or((of == "total").then_some(total));
            let tokens =
                tokens.ok_or_else(|| Problem::new(ProblemKind::NotFound, format!("there is no tool `{of}`")).at("--budget"))?;
            Ok(CheckBudget { of: of.clone(), most: *most, tokens })
        };
        self.budgets.iter().map(budget).collect()
    }
}

fn definition(tool: &Tool) -> Tokens {
    token::count(&String::from_utf8_lossy(&tool.raw))
}

/// As sent: both parts, else the one there is.
fn sent(subject: &ParsedCapture) -> Tokens {
    let text = ["both", "content", "structured"].into_iter().find_map(|format| analysis::text_of(subject, format).ok());
    text.map(|text| subject.known.counts(text.as_bytes()).tokens).unwrap_or_default()
}

fn cost(tool: &Tool, server: Option<&Server>, hosts: &Hosts) -> DefinitionCost {
    let name = server.map_or("server", |server| server.name.as_str());
    let mut passed_on: Vec<Tokens> = Vec::new();
    let mut at_start: Vec<Tokens> = Vec::new();
    for host in hosts.iter() {
        let (definition, text) = host.definition(tool, name);
        let tokens = token::count(&text);
        passed_on.push(tokens);
        match definition.loading.as_deref() {
            Some("direct") => at_start.push(tokens),
            // By its name the model finds it later.
            Some(loading) if loading.starts_with("deferred") => {
                at_start.push(token::count(definition.name.as_deref().unwrap_or(&tool.name)))
            }
            _ => {}
        }
    }
    let span = |counts: &[Tokens]| {
        let least = counts.iter().min_by_key(|tokens| tokens.o200k_base).copied().unwrap_or_default();
        (least, counts.iter().max_by_key(|tokens| tokens.o200k_base).copied().unwrap_or_default())
    };
    DefinitionCost { name: tool.name.clone(), listed: definition(tool), passed_on: span(&passed_on), at_start: span(&at_start) }
}

fn page(outcome: &CheckOutcome) -> String {
    let new = outcome.findings.iter().filter(|found| found.is_new);
    let mut page = findings::page(new.map(|found| (&found.finding, found.file.as_deref())));
    let known = outcome.findings.iter().filter(|found| !found.is_new).count();
    let also = if known > 0 { format!("; {known} known by the baseline") } else { String::new() };
    let word = if outcome.passed() { "passed" } else { "FAILED" };
    for line in outcome.limits() {
        page.push_str(&format!("{line}\n"));
    }
    page.push_str(&format!("{word}: {}{also}\n", outcome.counts()));
    page
}

/// A suite for each tool, a case for each finding; what does not make the check fail is skipped.
fn junit(outcome: &CheckOutcome) -> Result<String, Problem> {
    let mut suites: Vec<FixtureVerdict> = Vec::new();
    for found in &outcome.findings {
        let name = if found.finding.subject.is_empty() { "server" } else { &found.finding.subject };
        let fails = outcome.fails(found);
        let check = Check {
            passed: if fails { Some(false) } else { None },
            path: Some(found.finding.path().to_owned()).filter(|path| !path.is_empty()),
            ..Check::failed(found.finding.rule.id, contract::finding_sentence(&found.finding))
        };
        match suites.iter_mut().find(|suite| suite.dir == name) {
            Some(suite) => suite.checks.push(check),
            None => suites.push(FixtureVerdict { dir: name.to_owned(), checks: vec![check], is_updated: false }),
        }
    }
    let text =
        report::junit(&suites).map_err(|error| Problem::new(ProblemKind::Internal, format!("cannot write XML: {error}")))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
