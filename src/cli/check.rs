//! `check`: what the rules find in a server's definitions and in answers.

pub mod args;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;

use self::args::{CheckArgs, CheckForm};
use super::client::{computing, with_session};
use super::findings;
use super::listed::{CallPurpose, Listed};
use super::output::{self, one_line};
use super::{Done, hosts, save_args, view};
use crate::store;
use loupe_analysis::contract::{
    self, BaselineCost, CheckBudget, CheckOutcome, CheckedFinding, DefinitionCost, ResultCost,
};
use loupe_analysis::finding::baseline::Baseline;
use loupe_analysis::finding::{CheckedResult, CheckedServer, Checker, RuleSettings, ToolSilence};
use loupe_analysis::fixture::budget::{Budget, BudgetOf, BudgetUse};
use loupe_analysis::fixture::report;
use loupe_analysis::fixture::verify::{Check, FixtureCost, FixtureVerdict};
use loupe_analysis::queries::{self, HostsReport};
use loupe_core::cancel::Cancel;
use loupe_core::capture::{Capture, Outcome, Server, Tool};
use loupe_core::format::ParsedCapture;
use loupe_core::host::{Hosts, ReadChoice};
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::token::{self, Encoding, Tokens};

pub fn run(args: &CheckArgs) -> Done {
    let (mut settings, file) = args.rules.settings()?;
    let hosts = hosts::load(&args.link.data);
    settings.hosts = hosts::all_known(&hosts, &args.host)?;
    let reads = hosts::read_choice(&hosts, args.sent_as.as_deref())?;
    let budgets = args
        .budget
        .iter()
        .map(|text| budget(text))
        .collect::<Result<Vec<_>, _>>()?;
    let encoding = view::encoding(args.tokenizer.as_deref())?;
    let baseline = args
        .baseline
        .as_deref()
        .filter(|path| !args.update || path.exists())
        .map(read_baseline)
        .transpose()?;
    let mut listed = Listed::default();
    for path in &args.paths {
        listed.read_path(path)?;
    }
    let place = file.map_or_else(
        || RuleSettings::FILE.to_owned(),
        |path| path.display().to_string(),
    );
    let task = Task {
        args,
        settings: &settings,
        hosts: &hosts,
        reads,
        budgets: &budgets,
        encoding,
        baseline: baseline.as_ref(),
        place,
    };
    let Some(source) = args.source.source()? else {
        if args.paths.is_empty() {
            return Err(Problem::new(ProblemKind::Usage, "nothing to check is given")
                .hint("add a file, a capture folder, --sample, --url URL, --config FILE or -- COMMAND [ARG…]"));
        }
        if !args.calls.0.is_empty() {
            return Err(Problem::new(ProblemKind::Usage, "--call needs a SOURCE")
                .hint("add --sample, --url URL or -- COMMAND [ARG…]"));
        }
        return computing(|cancel| task.finish(&listed, cancel));
    };
    with_session(
        &source,
        &args.link,
        args.print.quiet,
        async |client| {
            listed.lists = client.lists().await?;
            listed
                .call(client, &args.calls, args.link.yes, args.probe)
                .await?;
            Ok(listed)
        },
        |listed, cancel| {
            if cancel.is_cancelled() {
                return Err(Problem::interrupted());
            }
            task.finish(&listed, cancel)
        },
    )
}

fn budget(text: &str) -> Result<(String, u64), Problem> {
    let parsed = text
        .rsplit_once('=')
        .and_then(|(of, most)| Some((of.to_owned(), most.parse().ok()?)));
    parsed.ok_or_else(|| {
        Problem::new(ProblemKind::Usage, format!("`{text}` is not NAME=TOKENS"))
            .at("--budget")
            .hint("such as search=400 (a definition), total=3000, content=900 (each answer) or host:codex=900")
    })
}

fn read_baseline(path: &Path) -> Result<Baseline, Problem> {
    let place = path.display().to_string();
    let bytes = store::file_bytes(path, store::MOST_OF_ANSWERS).map_err(|error| {
        Problem::new(ProblemKind::Io, format!("cannot read: {error}")).at(place.clone())
    })?;
    Baseline::parse(&Bytes::from(bytes), &place)
}

struct Task<'a> {
    args: &'a CheckArgs,
    settings: &'a RuleSettings,
    hosts: &'a Hosts,
    reads: ReadChoice,
    budgets: &'a [(String, u64)],
    encoding: Encoding,
    baseline: Option<&'a Baseline>,
    place: String,
}

impl Task<'_> {
    /// Looks, prints, saves the baseline where that is asked for.
    fn finish(&self, listed: &Listed, cancel: &Cancel) -> Done {
        let outcome = self.outcome(listed, cancel)?;
        let text = match (self.args.print.json, self.args.form) {
            (true, _) => contract::check(&outcome),
            (false, CheckForm::Table) => page(&outcome),
            (false, CheckForm::Markdown) => contract::check_markdown(&outcome),
            (false, CheckForm::Sarif) => contract::sarif(&outcome),
            (false, CheckForm::Github) => contract::check_github(&outcome),
            (false, CheckForm::Junit) => junit(&outcome)?,
            (false, CheckForm::Badge) => self.badge(&outcome, listed)?,
        };
        match (self.args.print.json, self.args.form) {
            (true, _) | (false, CheckForm::Sarif | CheckForm::Badge) => output::json(&text)?,
            (false, CheckForm::Table | CheckForm::Markdown) => output::page(&text)?,
            (false, CheckForm::Github) => output::commands(&text)?,
            (false, CheckForm::Junit) => output::xml(&text)?,
        }
        if let Some(path) = self.args.baseline.as_deref().filter(|_| self.args.update) {
            let findings: Vec<_> = outcome
                .findings
                .iter()
                .map(|found| found.finding.clone())
                .collect();
            // Of answers alone the list that was there stays.
            let now: Vec<&Tool> = listed.lists.tools.iter().map(|tool| &**tool).collect();
            let before = self.baseline.and_then(|baseline| baseline.tools.as_ref());
            let tools = if listed.lists_tools() {
                Some(now)
            } else {
                before.map(|tools| tools.iter().collect())
            };
            let answers = outcome
                .results
                .iter()
                .map(|answer| (answer.tool.as_str(), answer.tokens.o200k_base));
            let text = Baseline::text(tools.map(Vec::into_iter), &findings, answers)?;
            save_args::state(path, &text)?;
            output::note(
                self.args.print.quiet,
                &format!("the baseline is written to {}", path.display()),
            );
        }
        Ok(u8::from(!outcome.passed()))
    }

    fn outcome(&self, listed: &Listed, cancel: &Cancel) -> Result<CheckOutcome, Problem> {
        let checker = Checker {
            settings: self.settings,
            hosts: self.hosts,
        };
        let server = CheckedServer::new(&listed.lists);
        let of_server = checker
            .server(&server, cancel)
            .map_err(|_| Problem::interrupted())?;
        let mut found: Vec<_> = of_server
            .into_iter()
            .map(|finding| (finding, None))
            .collect();
        let mut answers = Vec::new();
        let subject = |capture: &Capture| {
            (
                queries::subject(Arc::new(capture.clone())),
                [Arc::new(capture.tool.clone())],
            )
        };
        let subjects: Vec<_> = listed
            .answers
            .iter()
            .map(|made| subject(&made.capture))
            .collect();
        let checked: Vec<_> = subjects
            .iter()
            .map(|(subject, own)| {
                let is_alone = listed.lists.tools.is_empty() && !own[0].raw.is_empty();
                let known = if is_alone {
                    CheckedServer {
                        tools: own,
                        ..server
                    }
                } else {
                    server
                };
                CheckedResult::new(subject, known, self.hosts).with_reads(self.reads)
            })
            .collect();
        let mut last: Option<&CheckedResult<'_>> = None;
        for (answer, made) in checked.iter().zip(&listed.answers) {
            let capture = &made.capture;
            if matches!(
                capture.outcome,
                Outcome::Timeout | Outcome::Cancelled | Outcome::Disconnected
            ) {
                output::warning(
                    &queries::failure(answer.subject).unwrap_or_else(Problem::interrupted),
                );
            }
            let of_answer = match (made.why, last) {
                (CallPurpose::Answer, _) => checker
                    .answer(answer, cancel)
                    .map_err(|_| Problem::interrupted())?,
                (CallPurpose::Repeat, Some(first)) => checker.repeat(first, answer),
                (CallPurpose::Repeat, None) => Vec::new(),
                (CallPurpose::Odd, _) => checker.odd(answer),
            };
            found.extend(
                of_answer
                    .into_iter()
                    .map(|finding| (finding, made.file.clone())),
            );
            if made.why == CallPurpose::Answer {
                last = Some(answer);
                answers.push(ResultCost {
                    tool: capture.tool.name.clone(),
                    file: made.file.clone(),
                    outcome: capture.outcome,
                    tokens: answer.token_counts(),
                    contradictions: checker.contradictions(answer),
                });
            }
        }
        let mut by_tool: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, made) in listed
            .answers
            .iter()
            .enumerate()
            .filter(|(_, made)| made.why == CallPurpose::Answer)
        {
            by_tool.entry(&made.capture.tool.name).or_default().push(at);
        }
        let mut checked: Vec<_> = checked.into_iter().map(Some).collect();
        for several in by_tool.into_values().filter(|several| several.len() > 1) {
            let of_tool: Vec<_> = several
                .into_iter()
                .filter_map(|at| checked[at].take())
                .collect();
            found.extend(
                checker
                    .answers(&of_tool)
                    .into_iter()
                    .map(|finding| (finding, None)),
            );
        }
        let before = self
            .baseline
            .filter(|_| listed.lists_tools())
            .and_then(|baseline| baseline.tools.as_ref());
        if let Some(before) = before {
            let now = listed
                .lists
                .tools
                .iter()
                .map(save_args::definition)
                .collect::<Result<Vec<_>, _>>()?;
            found.extend(
                checker
                    .drift(before, &now)
                    .into_iter()
                    .map(|finding| (finding, None)),
            );
        }
        let is_looked_at = |name: &str| {
            let lists = &listed.lists;
            lists.tools.iter().any(|tool| tool.name == name)
                || lists.resources.iter().any(|resource| resource.uri == name)
                || lists.prompts.iter().any(|prompt| prompt.name == name)
                || listed
                    .answers
                    .iter()
                    .any(|made| made.capture.tool.name == name)
        };
        let silenced = self
            .settings
            .silenced
            .iter()
            .filter(|((_, name), _)| is_looked_at(name));
        let silenced = silenced.map(|((rule, tool), reason)| ToolSilence {
            rule,
            tool: tool.clone(),
            reason: reason.clone(),
        });
        let silenced = silenced.collect();
        found.sort_by_key(|(finding, _)| finding.severity);
        let (findings, files): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        let is_new = self.baseline.map_or_else(
            || vec![true; findings.len()],
            |baseline| baseline.new_ones(&findings),
        );
        let findings =
            findings
                .into_iter()
                .zip(files)
                .zip(is_new)
                .map(|((finding, file), is_new)| CheckedFinding {
                    finding,
                    file,
                    is_new,
                });
        let tools: Vec<_> = listed
            .lists
            .tools
            .iter()
            .map(|tool| cost(tool, listed.lists.server.as_ref(), self.hosts))
            .collect();
        Ok(CheckOutcome {
            server: listed.lists.server.clone(),
            place: self.place.clone(),
            findings: findings.collect(),
            silenced,
            budgets: self.budgets(&tools, listed.lists.server.as_ref(), &subjects)?,
            baseline: before.map(|before| BaselineCost {
                before: before.iter().map(|tool| definition(tool).o200k_base).sum(),
                now: tools.iter().map(|tool| tool.listed.o200k_base).sum(),
                most: self.args.max_increase,
            }),
            results_before: self
                .baseline
                .and_then(|baseline| {
                    baseline.answers(
                        answers
                            .iter()
                            .map(|answer| (answer.tool.as_str(), answer.tokens.o200k_base)),
                    )
                })
                .map(|(before, now)| BaselineCost {
                    before,
                    now,
                    most: self.args.max_increase,
                }),
            tools,
            results: answers,
            fail_on: Some(self.settings.fail_on),
            is_update: self.args.update,
        })
    }

    /// Of a tool its definition, of `total` all of them with the instructions; of a format or a host each answer.
    fn budgets(
        &self,
        tools: &[DefinitionCost],
        server: Option<&Server>,
        answers: &[(Arc<ParsedCapture>, [Arc<Tool>; 1])],
    ) -> Result<Vec<CheckBudget>, Problem> {
        let instructions = server
            .and_then(|server| server.instructions.as_deref())
            .unwrap_or_default();
        let listed = |tool: &DefinitionCost| tool.listed.get(self.encoding);
        let total =
            tools.iter().map(listed).sum::<u64>() + token::count(instructions).get(self.encoding);
        let mut all = Vec::new();
        for (of, most) in self.budgets {
            let tool = tools.iter().find(|tool| tool.name == *of).map(listed);
            if let Some(tokens) = tool.or((of == "total").then_some(total)) {
                all.push(CheckBudget {
                    of: of.clone(),
                    result: None,
                    most: *most,
                    tokens: Some(tokens),
                });
                continue;
            }
            let known = BudgetOf::parse(of).filter(|of| match of {
                BudgetOf::Host(id) => self.hosts.get(id).is_some(),
                BudgetOf::Format(_) => true,
            });
            let known = known.ok_or_else(|| {
                Problem::new(
                    ProblemKind::NotFound,
                    format!("`{of}` is not a tool, a format or a known host"),
                )
                .at("--budget")
                .hint("`mcp-loupe tools`, `mcp-loupe formats` and `mcp-loupe hosts` list them")
            })?;
            let budget = [Budget {
                of: known,
                most: *most,
            }];
            for (subject, _) in answers {
                let checked =
                    BudgetUse::all(&budget, subject, self.hosts, self.encoding, &Cancel::new())
                        .map_err(|_| Problem::interrupted())?;
                let answer = Some(subject.capture.tool.name.clone());
                let tokens = checked
                    .into_iter()
                    .next()
                    .and_then(|checked| checked.tokens.ok());
                all.push(CheckBudget {
                    of: of.clone(),
                    result: answer,
                    most: *most,
                    tokens,
                });
            }
        }
        Ok(all)
    }

    /// What the answers cost and what known hosts lose of them; without answers what the definitions cost.
    fn badge(&self, outcome: &CheckOutcome, listed: &Listed) -> Result<String, Problem> {
        let (mut hosts, mut losing, mut most) = (0, 0, 0);
        let answers: Vec<_> = listed
            .answers
            .iter()
            .filter(|made| made.why == CallPurpose::Answer)
            .collect();
        for made in &answers {
            let subject = queries::subject(Arc::new(made.capture.clone()));
            let report = HostsReport::new(&subject, self.hosts, &Cancel::new())
                .map_err(|_| Problem::interrupted())?;
            let missing: Vec<u64> = report
                .rows
                .iter()
                .filter_map(|row| row.facts.as_ref())
                .map(|facts| facts.missing)
                .collect();
            hosts = hosts.max(missing.len());
            losing = losing.max(missing.iter().filter(|missing| **missing > 0).count());
            most = most.max(missing.into_iter().max().unwrap_or(0));
        }
        Ok(contract::badge(outcome, answers.len(), hosts, losing, most))
    }
}

fn definition(tool: &Tool) -> Tokens {
    token::count(&String::from_utf8_lossy(&tool.raw))
}

fn cost(tool: &Tool, server: Option<&Server>, hosts: &Hosts) -> DefinitionCost {
    let name = server.map_or("server", |server| server.name.as_str());
    let mut passed_on: Vec<Tokens> = Vec::new();
    let mut at_start: Vec<Tokens> = Vec::new();
    // Many hosts pass the same on.
    let mut counted: Vec<(String, Tokens)> = Vec::new();
    for host in hosts.iter() {
        let (definition, text) = host.definition(tool, name);
        let tokens = match counted.iter().find(|(same, _)| *same == text) {
            Some((_, tokens)) => *tokens,
            None => {
                let tokens = token::count(&text);
                counted.push((text, tokens));
                tokens
            }
        };
        passed_on.push(tokens);
        match definition.loading.as_deref() {
            Some("direct") => at_start.push(tokens),
            // By its name the model finds it later.
            Some("deferred") => at_start.push(token::count(
                definition.name.as_deref().unwrap_or(&tool.name),
            )),
            _ => {}
        }
    }
    let span = |counts: &[Tokens]| {
        let least = counts
            .iter()
            .min_by_key(|tokens| tokens.o200k_base)
            .copied()
            .unwrap_or_default();
        (
            least,
            counts
                .iter()
                .max_by_key(|tokens| tokens.o200k_base)
                .copied()
                .unwrap_or_default(),
        )
    };
    DefinitionCost {
        name: tool.name.clone(),
        listed: definition(tool),
        passed_on: span(&passed_on),
        at_start: span(&at_start),
    }
}

fn page(outcome: &CheckOutcome) -> String {
    let new = outcome.findings.iter().filter(|found| found.is_new);
    let mut page = findings::page(new.map(|found| (&found.finding, found.file.as_deref())));
    let known = outcome
        .findings
        .iter()
        .filter(|found| !found.is_new)
        .count();
    let also = if known > 0 {
        format!("; {known} already in the baseline")
    } else {
        String::new()
    };
    for line in outcome.contradictions() {
        page.push_str(&format!("{}\n", one_line(&line)));
    }
    let word = match (outcome.passed(), outcome.is_update) {
        (false, _) => "FAILED",
        (true, true) => "saved",
        (true, false) => "passed",
    };
    for line in outcome.silenced() {
        page.push_str(&format!("{}\n", one_line(&line)));
    }
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
        let name = if found.finding.subject.is_empty() {
            "server"
        } else {
            &found.finding.subject
        };
        let fails = outcome.fails(found);
        let check = Check {
            passed: if fails { Some(false) } else { None },
            path: Some(found.finding.path().to_owned()).filter(|path| !path.is_empty()),
            ..Check::failed(
                found.finding.rule.id,
                contract::finding_sentence(&found.finding),
            )
        };
        match suites.iter_mut().find(|suite| suite.dir == name) {
            Some(suite) => suite.checks.push(check),
            None => suites.push(FixtureVerdict {
                dir: name.to_owned(),
                checks: vec![check],
                is_updated: false,
                cost: FixtureCost::default(),
            }),
        }
    }
    let text = report::junit(&suites).map_err(|error| {
        Problem::new(ProblemKind::Internal, format!("cannot write XML: {error}"))
    })?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
