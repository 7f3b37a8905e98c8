//! `tools`: a server's tools, what each costs and what it promises.

use super::args;
use super::client::with_session;
use super::output::{self, columns, one_line};
use super::{Done, view};
use loupe_analysis::contract;
use loupe_analysis::queries::{DefinitionPart, ServerCost};
use loupe_core::capture::{Server, Tool};
use loupe_core::number::{grouped, number_of};
use loupe_core::problem::Problem;
use loupe_core::source::Source;
use loupe_core::token::{Count, Encoding, Tokenizer, format_count};

/// The parts that a line has room for.
const SHOWN: [DefinitionPart; 4] = [
    DefinitionPart::Description,
    DefinitionPart::InputSchema,
    DefinitionPart::OutputSchema,
    DefinitionPart::Annotations,
];

pub fn run(args: &args::ListArgs) -> Done {
    let source = args.source.required()?;
    let tokenizer = view::tokenizer(args.tokenizer.as_deref())?;
    list(&source, &tokenizer, &args.link, args.print)
}

/// Connects and lists.
pub fn list(
    source: &Source,
    tokenizer: &Tokenizer,
    link: &args::LinkArgs,
    print: args::PrintArgs,
) -> Done {
    with_session(
        source,
        link,
        print.quiet,
        async |client| Ok((client.server(), client.tools().await?)),
        |(server, tools), _| {
            let text = if print.json {
                contract::tools(&server, &tools, tokenizer)
            } else {
                page(&server, &tools, tokenizer)?
            };
            output::page_or(print.json, &text)?;
            Ok(0)
        },
    )
}

fn page(server: &Server, tools: &[Tool], tokenizer: &Tokenizer) -> Result<String, Problem> {
    let encoding = tokenizer.encoding().unwrap_or(Encoding::O200kBase);
    let cost = ServerCost::new(server, tools, encoding);
    let count = |text: &str| tokenizer.count(text);
    let mut head = vec!["TOOL".to_owned(), "TOKENS".to_owned()];
    head.extend(SHOWN.iter().map(|part| part.title().to_uppercase()));
    head.extend(["PROMISES", "WHAT IT DOES"].map(str::to_owned));
    let mut rows = vec![head];
    let mut total = Count::Exact(0);
    for (tool, parts) in tools.iter().zip(&cost.tools) {
        let tokens = count(&String::from_utf8_lossy(&tool.raw))?;
        total = total.plus(tokens);
        let what = tool.title.as_deref().unwrap_or_else(|| tool.summary());
        let mut row = vec![one_line(&tool.name), format_count(tokens)];
        row.extend(SHOWN.iter().map(|part| grouped(parts.part(*part))));
        row.extend([promise(tool).to_owned(), one_line(what)]);
        rows.push(row);
    }
    let head = format!(
        "{} · protocol {} · {} · {} tokens {}",
        server.heading(),
        server.protocol_version,
        number_of(tools.len() as u64, "tools"),
        format_count(total),
        tokenizer.name()
    );
    let numbers: Vec<usize> = (1..2 + SHOWN.len()).collect();
    let mut page = format!("{}\n", one_line(&head));
    if tokenizer.encoding().is_none() {
        let parts = format!(
            "{}; the parts of a tool are counted with {}",
            tokenizer.how(),
            encoding.name()
        );
        page.push_str(&format!(
            "{}: {}\n",
            one_line(tokenizer.name()),
            one_line(&parts)
        ));
    }
    page.push_str(&format!("\n{}\n", columns(&rows, &numbers)));
    let instructions = count(server.instructions.as_deref().unwrap_or_default())?;
    page.push_str(&format!(
        "instructions {} tokens · before the first call {} tokens\n",
        format_count(instructions),
        format_count(total.plus(instructions))
    ));
    for cut in cost.cuts.iter().filter(|cut| cut.saves > 0) {
        page.push_str(&format!(
            "{}: saves {} tokens {}\n",
            cut.what,
            grouped(cut.saves),
            encoding.name()
        ));
    }
    for tool in tools {
        for fault in &tool.faults {
            page.push_str(&format!(
                "odd {}: {}\n",
                one_line(&tool.name),
                one_line(fault)
            ));
        }
    }
    Ok(page)
}

/// What the annotations say about the risk, in one word.
fn promise(tool: &Tool) -> &'static str {
    let annotations = tool.annotations;
    match (annotations.read_only, annotations.destructive) {
        (read_only, _) if read_only.value => "read-only",
        (_, destructive) if destructive.declared && !destructive.value => "additive",
        (_, destructive) if destructive.declared => "destructive",
        (read_only, _) if read_only.declared => "writes",
        _ => "nothing declared",
    }
}
