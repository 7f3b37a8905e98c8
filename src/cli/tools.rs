//! `tools`: a server's tools, what each costs and what it promises.

use super::args;
use super::client::{self, interrupted, list_tools, with_session};
use super::output::{self, columns, one_line};
use super::{Done, view};
use crate::cancel::Cancel;
use crate::capture::{Server, Tool};
use crate::problem::Problem;
use crate::report::grouped;
use crate::report::json;
use crate::source::Source;
use crate::token::{self, Encoding, Tokens};

pub fn run(args: &args::Tools) -> Done {
    let source = args.source.required()?;
    let encoding = view::encoding(args.tokenizer.as_deref())?;
    list(&source, encoding, &args.link, args.print)
}

/// Connects and lists.
pub fn list(source: &Source, encoding: Encoding, link: &args::Link, print: args::Print) -> Done {
    with_session(
        source,
        link,
        print.quiet,
        None,
        async |session, interrupt| {
            let list = list_tools(session, link, print.quiet, interrupt).await?;
            Ok((session.server().clone(), list.tools))
        },
        |(server, tools), cancel| {
            let text = if print.json {
                json::tools(&server, &tools, cancel).map_err(|_| interrupted())?
            } else {
                page(&server, &tools, encoding, cancel)?
            };
            output::print(text.as_bytes())?;
            Ok(0)
        },
    )
}

fn page(server: &Server, tools: &[Tool], encoding: Encoding, cancel: &Cancel) -> Result<String, Problem> {
    let mut total = 0;
    let mut rows = vec![["TOOL", "TOKENS", "PROMISES", "WHAT IT DOES"].map(str::to_owned).to_vec()];
    for tool in tools {
        let counted: Tokens = token::count(&String::from_utf8_lossy(&tool.raw), cancel).map_err(|_| client::interrupted())?;
        let tokens = counted.get(encoding);
        total += tokens;
        let what = tool.title.as_deref().unwrap_or_else(|| tool.summary());
        rows.push(vec![one_line(&tool.name), grouped(tokens), promise(tool).to_owned(), one_line(what)]);
    }
    let head = format!(
        "{} {} · protocol {} · {} tools · {} tokens {}",
        server.name,
        server.version,
        server.protocol_version,
        tools.len(),
        grouped(total),
        encoding.name()
    );
    let mut page = format!("{}\n\n{}", one_line(&head), columns(&rows, &[1]));
    for tool in tools {
        for fault in &tool.faults {
            page.push_str(&format!("odd {}: {}\n", one_line(&tool.name), one_line(fault)));
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
