//! `compare`: one call over the values of an argument, side by side.

use std::sync::Arc;

use super::args;
use super::call::{capture_id, read_arguments, warn_unchecked};
use super::client::with_session;
use super::command;
use super::output::{self, columns, one_line};
use super::{Done, hosts, view};
use loupe_analysis::contract::comparison_table;
use loupe_analysis::contract::{self, TableKind};
use loupe_analysis::queries::arguments::validate;
use loupe_analysis::queries::comparison::curve::{Curve, Limit, Unit};
use loupe_analysis::queries::comparison::{
    Column, ColumnOrigin, ComparedCall, Comparison, ComparisonPlan, ComparisonQuery,
    argument_names, choices, format_argument, page_size_argument, shown,
};
use loupe_analysis::queries::{self, RowCount};
use loupe_analysis::summary::comparison_summary;
use loupe_core::cancel::{Cancel, Cancelled};
use loupe_core::capture::{Capture, CaptureId, Outcome, Tool};
use loupe_core::format::claim::facts_cell;
use loupe_core::host::{Hosts, ReadChoice};
use loupe_core::number::{grouped, milliseconds, number_of};
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::token::{Encoding, Tokenizer};

/// Fields of a column that are named before the rest is counted.
const MAX_FIELDS: usize = 12;
/// A limit that servers and hosts often set, to tell where a page size meets it.
const USUAL_LIMIT: u64 = 25_000;

pub fn run(args: &command::CompareArgs) -> Done {
    let source = args.source.required()?;
    let tokenizer = view::tokenizer(args.tokenizer.as_deref())?;
    let table = args.table.as_deref().map(view::table).transpose()?;
    if table.is_some() {
        // A table has the counts that are always made.
        view::encoding(args.tokenizer.as_deref())?;
    }
    let read_text = view::read_text(args.read_text.as_deref())?;
    let hosts = hosts::load(&args.link.data);
    let reads = hosts::read_choice(&hosts, args.sent_as.as_deref())?;
    let arguments = read_arguments(args.args.as_deref())?;
    validate(None, &arguments, false)?;
    let quiet = args.print.quiet;
    with_session(
        &source,
        &args.link,
        quiet,
        async |client| {
            let tool = client.tool(&args.tool).await?;
            let plan = plan(&tool, args.vary.as_deref(), &arguments)?;
            consent(&plan, args.link.yes)?;
            let base = capture_id(&plan.tool.name);
            let calls = plan.arguments.iter().enumerate().map(|(at, arguments)| {
                let which = format!("{}={}", plan.vary, shown(&plan.values[at]));
                let id = CaptureId(format!("{}-{}", base.0, at + 1).into());
                let message = format!("call {} of {}: {which}", at + 1, plan.arguments.len());
                (message, client.prepare(id, &plan.tool, arguments.clone()))
            });
            let captures = client.calls(calls).await;
            Ok((
                plan,
                captures
                    .into_iter()
                    .map(|capture| capture.read_as(&read_text))
                    .collect::<Vec<_>>(),
            ))
        },
        |(plan, captures), cancel| {
            let kept = captures.clone();
            let output = Output {
                tokenizer: &tokenizer,
                hosts: &hosts,
                reads,
                table,
                print: args.print,
            };
            let status = print(&plan, captures, &output, cancel)?;
            Ok(args.keep.keep_all(&kept, &args.link, quiet, status))
        },
    )
}

/// Which argument, which values, and the arguments of every call; all checked before the first is made.
fn plan(tool: &Tool, vary: Option<&str>, arguments: &str) -> Result<ComparisonPlan, Problem> {
    let (name, given) = match vary {
        Some(vary) => vary
            .split_once('=')
            .map_or((vary.to_owned(), None), |(name, given)| {
                (name.to_owned(), Some(given))
            }),
        None => (
            format_argument(tool)
                .ok_or_else(|| nothing_to_vary(tool))?
                .name,
            None,
        ),
    };
    let plan = ComparisonPlan::new(tool, &name, given, arguments)?;
    warn_unchecked(&tool.name, plan.unchecked.clone());
    Ok(plan)
}

fn nothing_to_vary(tool: &Tool) -> Problem {
    let mut ways: Vec<String> = choices(tool)
        .iter()
        .map(|choice| format!("`--vary {}`", choice.name))
        .collect();
    if let Some(size) = page_size_argument(tool) {
        let sizes: Vec<String> = size.sizes().iter().map(u64::to_string).collect();
        ways.push(format!("`--vary {}={}`", size.name, sizes.join(",")));
    }
    let problem = Problem::new(
        ProblemKind::Usage,
        "no argument of this tool chooses a format",
    )
    .at(tool.name.clone());
    let known = argument_names(tool);
    match (ways.is_empty(), known.is_empty()) {
        (false, _) => problem.hint(format!("vary another: {}", ways.join(" or "))),
        (true, false) => problem.hint(format!("vary one of {}: `--vary NAME=a,b`", known.join(", "))),
        (true, true) => problem.hint("it takes no arguments; `mcp-loupe call` shows what its one answer costs in every format"),
    }
}

/// A tool that is not declared read-only is called several times only where somebody said so.
fn consent(plan: &ComparisonPlan, yes: bool) -> Result<(), Problem> {
    if yes || plan.tool.is_declared_read_only() {
        return Ok(());
    }
    let what = format!(
        "not declared read-only, and not called: {} would be made",
        number_of(plan.arguments.len() as u64, "calls")
    );
    let calls = plan
        .arguments
        .iter()
        .map(|arguments| format!("{} {arguments}", plan.tool.name))
        .collect::<Vec<_>>();
    Err(Problem::new(ProblemKind::Consent, what)
        .at(plan.tool.name.clone())
        .hint(format!("`--yes` makes these calls: {}", calls.join(" · "))))
}

/// How the result is printed.
struct Output<'a> {
    tokenizer: &'a Tokenizer,
    hosts: &'a Hosts,
    reads: ReadChoice,
    table: Option<TableKind>,
    print: args::PrintArgs,
}

fn print(
    plan: &ComparisonPlan,
    captures: Vec<Capture>,
    output: &Output<'_>,
    cancel: &Cancel,
) -> Done {
    let Output {
        tokenizer,
        hosts,
        reads,
        table,
        print,
    } = *output;
    let looked_away = |_: Cancelled| Problem::interrupted();
    let mut calls = Vec::with_capacity(captures.len());
    for (value, capture) in plan.values.iter().zip(captures) {
        let subject = queries::subject(Arc::new(capture));
        calls.push(ComparedCall::measure(value.clone(), subject, cancel).map_err(looked_away)?);
    }
    let (vary, encoding) = (
        Some(plan.vary.as_str().into()),
        tokenizer.nearest_encoding(),
    );
    let query = ComparisonQuery {
        vary,
        encoding,
        reads,
        ..ComparisonQuery::default()
    };
    let found = Comparison::of(&query, &calls, hosts, cancel).map_err(looked_away)?;
    let failure = calls
        .iter()
        .find_map(|call| queries::failure(&call.subject));
    if let Some(kind) = table {
        output::page(&comparison_table(kind, &found, &calls))?;
    } else if print.json {
        let text = contract::comparison(
            &found,
            &plan.values,
            &calls,
            tokenizer,
            hosts,
            failure.as_ref(),
            cancel,
        )
        .map_err(looked_away)?;
        output::json(&text)?;
    } else {
        let counts = counts(&found, &calls, tokenizer, cancel).map_err(looked_away)?;
        output::page(&page(plan, &found, &calls, tokenizer, &counts))?;
    }
    let is_error = calls
        .iter()
        .any(|call| call.subject.capture.outcome == Outcome::ToolError);
    if let Some(problem) = &failure {
        output::problem(problem);
    }
    if is_error {
        output::note(print.quiet, "the tool answered with `isError`");
    }
    Ok(match &failure {
        // An interrupt is the user's own doing, whatever came before.
        Some(problem) if !is_error || problem.kind == ProblemKind::Cancelled => {
            problem.kind.exit_status()
        }
        _ => u8::from(is_error),
    })
}

/// The count of each column by a tokenizer that is not always counted; empty for one that is.
fn counts(
    found: &Comparison,
    calls: &[ComparedCall],
    tokenizer: &Tokenizer,
    cancel: &Cancel,
) -> Result<Vec<RowCount>, Cancelled> {
    if tokenizer.encoding().is_some() {
        return Ok(Vec::new());
    }
    let count = |column: &Column| {
        let (ColumnOrigin::Call(call) | ColumnOrigin::Derived(call)) = column.origin;
        match calls.get(call).filter(|_| !column.row.format.is_empty()) {
            Some(call) => cancel
                .check()
                .map(|()| queries::count_row(&call.subject, &column.row, tokenizer)),
            None => Ok(RowCount::default()),
        }
    };
    found.columns.iter().map(count).collect()
}

fn page(
    plan: &ComparisonPlan,
    found: &Comparison,
    calls: &[ComparedCall],
    tokenizer: &Tokenizer,
    counts: &[RowCount],
) -> String {
    // Ratios and the summary are of exact counts.
    let encoding = tokenizer.nearest_encoding();
    let server = calls.first().map(|call| &call.subject.capture.server);
    let server = server.map_or(String::new(), |server| {
        format!(" · {} ({})", server.heading(), server.transport)
    });
    let count = number_of(calls.len() as u64, "calls");
    let mut page = format!(
        "{}\n",
        one_line(&format!(
            "{} · {} · {count}{server}",
            plan.tool.name, plan.vary
        ))
    );
    page.push_str(&format!(
        "{}\n\n",
        one_line(&comparison_summary(found, None).text())
    ));
    page.push_str(&columns_table(found, tokenizer, counts));
    if !counts.is_empty() {
        page.push_str(&format!(
            "\n{}: {}\n",
            one_line(tokenizer.name()),
            one_line(&tokenizer.how())
        ));
    }
    for (column, why) in found
        .columns
        .iter()
        .zip(counts)
        .filter_map(|(column, count)| Some((column, count.why.as_ref()?)))
    {
        page.push_str(&format!(
            "{} is not counted: {}\n",
            one_line(&column.title),
            one_line(why)
        ));
    }
    for column in found.columns.iter().filter(|column| column.is_answer()) {
        let missing: Vec<String> = found
            .missing(column)
            .map(|(field, lost)| {
                if lost == field.total {
                    field.pattern.clone()
                } else {
                    format!("{} ({lost} of {})", field.pattern, field.total)
                }
            })
            .collect();
        if !missing.is_empty() {
            let more = missing.len().saturating_sub(MAX_FIELDS);
            let more = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            let shown = missing
                .iter()
                .take(MAX_FIELDS)
                .cloned()
                .collect::<Vec<_>>()
                .join(", ");
            page.push_str(&format!(
                "\n{} lacks {}{more}\n",
                one_line(&column.title),
                one_line(&shown)
            ));
        }
        for differing in column.differing.iter().take(MAX_FIELDS) {
            let message = format!(
                "{} differs: {} in the data, {} in {}",
                differing.path, differing.value, differing.text, column.title
            );
            page.push_str(&format!("{}\n", one_line(&message)));
        }
    }
    for value in plan.values.iter().skip(calls.len()) {
        page.push_str(&format!(
            "\nnot called: {}={}\n",
            one_line(&plan.vary),
            one_line(&shown(value))
        ));
    }
    if page_size_argument(&plan.tool).is_some_and(|size| size.name == plan.vary) {
        page.push_str(&curve(calls, encoding));
    }
    page
}

fn columns_table(found: &Comparison, tokenizer: &Tokenizer, counts: &[RowCount]) -> String {
    let encoding = tokenizer.nearest_encoding();
    let base = found.baseline.and_then(|at| found.column_of(at));
    let against = base.map_or_else(
        || "×".to_owned(),
        |base| format!("× {}", one_line(&base.title)),
    );
    let head = [
        "COLUMN".to_owned(),
        encoding.name().to_uppercase(),
        against,
        "BYTES".into(),
        "TIME".into(),
        "FACTS".into(),
        String::new(),
    ];
    let mut rows = vec![head.to_vec()];
    for column in &found.columns {
        rows.push(row(column, base, encoding));
    }
    let mut numbers = vec![1, 2, 3, 4, 5];
    if !counts.is_empty() {
        // The tokenizer that was named comes first.
        let named = std::iter::once(one_line(tokenizer.name()).to_uppercase());
        let cells = counts.iter().map(|count| {
            count
                .count
                .map_or_else(String::new, loupe_core::token::format_count)
        });
        for (row, cell) in rows.iter_mut().zip(named.chain(cells)) {
            row.insert(1, cell);
        }
        numbers.push(6);
    }
    columns(&rows, &numbers)
}

fn row(column: &Column, base: Option<&Column>, encoding: Encoding) -> Vec<String> {
    let time = column.latency.map_or_else(
        || "no call".to_owned(),
        |time| format!("{:.1} ms", milliseconds(time)),
    );
    let mut cells = vec![one_line(&column.title)];
    if column.row.is_available() && !column.row.format.is_empty() {
        let ratio = base
            .and_then(|base| loupe_core::format::ledger::ratio(&column.row, &base.row, encoding));
        cells.push(grouped(column.row.tokens.get(encoding)));
        cells.push(ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}")));
        cells.push(grouped(column.row.bytes));
    } else {
        cells.extend([String::new(), String::new(), String::new()]);
    }
    cells.push(time);
    cells.push(column.facts.map_or_else(String::new, facts_cell));
    cells.push(match (&column.why, column.origin) {
        (Some(why), ColumnOrigin::Call(_)) => {
            one_line(&format!("{}: {why}", column.outcome.name()))
        }
        (Some(why), ColumnOrigin::Derived(_)) => one_line(why),
        (None, _) => String::new(),
    });
    cells
}

/// What an item costs in each format, and where a usual limit stops.
fn curve(calls: &[ComparedCall], encoding: Encoding) -> String {
    let tokens = Curve::new(calls, Unit::Tokens(encoding));
    let mut rows = vec![
        ["FORMAT", "TOKENS PER ITEM", "TOKENS WITHOUT ITEMS"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for series in &tokens.series {
        if let Some(line) = series.line {
            rows.push(vec![
                series.title.to_owned(),
                format!("{:.1}", line.each),
                line.base_text(),
            ]);
        }
    }
    if rows.len() == 1 {
        return String::new();
    }
    let mut page = format!("\n{}", columns(&rows, &[1, 2]));
    if !tokens.is_counted {
        page.push_str("no data to count items in, so the requested number is assumed\n");
    }
    for (value, why) in &tokens.left_out {
        page.push_str(&format!(
            "not used for these figures: {} ({why})\n",
            one_line(value)
        ));
    }
    for (unit, curve) in [
        (tokens.unit, &tokens),
        (Unit::Chars, &Curve::new(calls, Unit::Chars)),
    ] {
        let limit = Limit {
            name: String::new(),
            unit,
            at: USUAL_LIMIT,
        };
        page.extend(
            curve
                .sentence(&limit)
                .map(|sentence| format!("{sentence}\n")),
        );
    }
    page
}
