//! `doctor`: why a server does not work here, step by step.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clap::Args;

use super::args::{LinkArgs, PrintArgs, SourceArgs};
use super::call::capture_id;
use super::client::{self, Interrupt, find_tool};
use super::listed::may_call;
use super::output;
use super::{Done, login, server_request_args};
use loupe_analysis::contract;
use loupe_analysis::doctor::{ConnectionEvidence, DoctorReport};
use loupe_client::{Call, Session, SessionEvent};
use loupe_core::capture::{Direction, Line, Step};
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::source::Source;

/// The time limit of a list, a ping, a method that nobody has.
const QUESTION_LIMIT: Duration = Duration::from_secs(5);
/// Messages and lines of stderr that are kept.
const KEPT: usize = 40;

#[derive(Args, Debug)]
pub struct DoctorArgs {
    /// Also call this tool, or without a name a read-only one that needs no arguments
    #[arg(long, value_name = "TOOL", num_args = 0..=1, default_missing_value = "")]
    pub call: Option<String>,
    /// Show all steps of a server that works
    #[arg(long)]
    pub verbose: bool,
    /// Print the report as a table for others: markdown
    #[arg(long = "as", value_name = "KIND", conflicts_with = "json", value_parser = ["markdown"])]
    pub table: Option<String>,
    #[command(flatten)]
    pub print: PrintArgs,
    #[command(flatten)]
    pub source: SourceArgs,
    #[command(flatten)]
    pub link: LinkArgs,
}

/// What happened, kept while it happens.
#[derive(Default)]
struct Kept {
    steps: Vec<Step>,
    lines: Vec<Line>,
    stderr: Vec<String>,
}

pub fn run(args: &DoctorArgs) -> Done {
    let source = args.source.required()?;
    let report = examine(&source, args)?;
    let status = u8::from(report.failed().is_some());
    if args.print.json {
        output::json(&contract::doctor(&report))?;
    } else if args.table.is_some() {
        output::page(&report.markdown())?;
    } else {
        output::page(&page(&report, args.verbose))?;
    }
    Ok(status)
}

/// One line for a server that works; else the steps with cause and fix.
fn page(report: &DoctorReport, verbose: bool) -> String {
    let mark = if report.failed().is_some() {
        "✗"
    } else {
        "✓"
    };
    let mut page = format!("{mark} {}\n", output::one_line(&report.headline()));
    let progress = report.progress();
    if !progress.is_empty() {
        page.push_str(&format!("  {progress}\n"));
    }
    let steps = report.text(verbose);
    if !steps.is_empty() {
        page.push_str(&format!("\n{steps}"));
    }
    page
}

fn examine(source: &Source, args: &DoctorArgs) -> Result<DoctorReport, Problem> {
    let link = &args.link;
    let quiet = args.print.quiet;
    let answering = server_request_args::answering(&link.answers, quiet)?;
    let kept = Arc::<Mutex<Kept>>::default();
    let file = client::transcript(link)?;
    let known = output::known();
    known.add_source(source);
    let to_file = file.as_ref().map(|file| file.taker(known.clone()));
    let of_lines = Arc::clone(&kept);
    let transcript: loupe_client::Transcript = Arc::new(move |line: Line| {
        to_file.iter().for_each(|write| write(line.clone()));
        let mut kept = of_lines.lock().unwrap_or_else(PoisonError::into_inner);
        if line.direction != Direction::Stderr && kept.lines.len() < KEPT {
            kept.lines.push(line);
        }
    });
    let of_events = Arc::clone(&kept);
    let yes = link.yes;
    let on_event: loupe_client::OnSessionEvent = Arc::new(move |event| {
        let mut kept = of_events.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            SessionEvent::Step(step) => {
                // A program that is started again says what it says again.
                if step.name == "start" {
                    kept.stderr.clear();
                }
                kept.steps.push(step);
            }
            SessionEvent::Stderr(line) => {
                if kept.stderr.len() == KEPT {
                    kept.stderr.remove(0);
                }
                kept.stderr.push(line);
            }
            SessionEvent::Login(step) => {
                drop(kept);
                login::step(&step, quiet, yes);
            }
            SessionEvent::Phase(phase) if !quiet => output::progress(&phase),
            _ => {}
        }
    });
    let options = loupe_client::Options {
        transcript: Some(transcript),
        ..client::options(link, answering, client::limits(&link.limit)?)
    };
    client::runtime()?.block_on(async {
        let interrupt = Interrupt::listen()?;
        let connecting = loupe_client::connect(source, options, on_event);
        let connected = interrupt.unless(connecting).await?;
        let mut server = None;
        let problem = match connected {
            Ok(session) => {
                server = Some(session.server().clone());
                let limit = link.call_limit().min(QUESTION_LIMIT);
                interrupt.unless(session.examine(limit)).await?;
                if let Some(wanted) = &args.call
                    && session.failure().is_none()
                {
                    call(&session, wanted, args, &interrupt).await?;
                }
                let failure = session.failure().map(Problem::from);
                session.leave().await;
                failure
            }
            Err(error) => Some(Problem::from(error)),
        };
        if let Some(problem) = problem.as_ref().filter(|problem| is_mistake(problem.kind)) {
            return Err(known.problem(problem.clone()));
        }
        if let Some(file) = file {
            file.result()?;
        }
        let kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        let report = DoctorReport::new(&ConnectionEvidence {
            source,
            steps: &kept.steps,
            problem: problem.as_ref(),
            server: server.as_ref(),
            lines: &kept.lines,
            stderr: &kept.stderr,
            is_over: true,
        });
        Ok(report.redacted(known))
    })
}

/// What is wrong with the command line rather than with a server.
fn is_mistake(kind: ProblemKind) -> bool {
    matches!(
        kind,
        ProblemKind::Usage | ProblemKind::Consent | ProblemKind::Internal
    )
}

/// Calls the tool that is named, or a read-only one that needs no arguments.
async fn call(
    session: &Session,
    wanted: &str,
    args: &DoctorArgs,
    interrupt: &Interrupt,
) -> Result<(), Problem> {
    let limit = args.link.call_limit();
    let tools = interrupt.unless(session.list_tools(limit)).await??.tools;
    let tool = if wanted.is_empty() {
        let simplest = tools
            .iter()
            .find(|tool| tool.is_declared_read_only() && !tool.requires_arguments());
        let Some(tool) = simplest else {
            output::note(
                args.print.quiet,
                "no tool is declared read-only and needs no arguments, so none was called",
            );
            return Ok(());
        };
        tool
    } else {
        find_tool(wanted, &tools)?
    };
    may_call(tool, args.link.yes)?;
    let call = Call {
        id: capture_id(&tool.name),
        tool: tool.clone(),
        arguments: "{}".into(),
        limit,
    };
    session.examine_call(call, interrupt.call.clone()).await;
    Ok(())
}
