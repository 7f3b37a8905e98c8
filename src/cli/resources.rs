//! `resources` and `read`: what a server offers to read, and one of it in the same views as a tool's answer.

use super::args;
use super::client::with_session;
use super::command;
use super::output::{self, columns, one_line};
use super::{Done, call, view};
use crate::capture::{Resource, Server};
use crate::contract;
use crate::json::write;
use crate::mcp::Listing;

pub fn run(args: &args::ListArgs) -> Done {
    let source = args.source.required()?;
    let tokenizer = view::tokenizer(args.tokenizer.as_deref())?;
    let quiet = args.print.quiet;
    with_session(
        &source,
        &args.link,
        quiet,
        async |client| {
            let plain = client.list(Listing::Resources).await?.into_iter().map(|raw| Resource::read(raw, false));
            let templates = client.list(Listing::Templates).await?.into_iter().map(|raw| Resource::read(raw, true));
            Ok((client.server(), plain.chain(templates).collect::<Vec<_>>()))
        },
        |(server, resources), _| {
            let text =
                if args.print.json { contract::resources(&server, &resources, &tokenizer) } else { page(&server, &resources) };
            output::page_or(args.print.json, &text)?;
            Ok(0)
        },
    )
}

fn page(server: &Server, resources: &[Resource]) -> String {
    let templates = resources.iter().filter(|resource| resource.is_template).count();
    let mut page = format!(
        "{}\n",
        one_line(&format!(
            "{} {} · {} · {}",
            server.name,
            server.version,
            output::some(resources.len() - templates, "resource"),
            output::some(templates, "template")
        ))
    );
    if resources.is_empty() {
        return page;
    }
    let mut rows = vec![["URI", "TYPE", "BYTES", "WHAT IT IS"].map(str::to_owned).to_vec()];
    for resource in resources {
        let what = resource.title.as_deref().or(resource.description.as_deref()).unwrap_or(&resource.name);
        rows.push(vec![
            one_line(&resource.uri),
            one_line(resource.mime_type.as_deref().unwrap_or("–")),
            resource.size.map_or_else(|| "–".to_owned(), crate::number::grouped),
            one_line(what),
        ]);
    }
    page.push_str(&format!("\n{}", columns(&rows, &[2])));
    for resource in resources {
        for fault in &resource.faults {
            page.push_str(&format!("odd {}: {}\n", one_line(&resource.uri), one_line(fault)));
        }
    }
    page
}

pub fn read(args: &command::ReadArgs) -> Done {
    let fetch = &args.fetch;
    let asked = fetch.asked()?;
    fetch.show(&fetch.source.required()?, &asked, async |client| {
        let params = format!(r#"{{"uri":{}}}"#, write::string(&args.uri));
        Ok(client.read(&format!("reading {}", args.uri), call::capture_id("resource"), "resources/read", params).await)
    })
}
