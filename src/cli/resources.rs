//! `resources` and `read`: what a server offers to read, and one of it in the same views as a tool's answer.

use bytes::Bytes;

use super::args;
use super::client::{list, with_session};
use super::command;
use super::output::{self, columns, one_line};
use super::view::ViewRequest;
use super::{Done, call, hosts, view};
use crate::capture::{Resource, Server};
use crate::contract;
use crate::json::write;
use crate::mcp::{self, Listing};

pub fn run(args: &args::ListArgs) -> Done {
    let source = args.source.required()?;
    let tokenizer = view::tokenizer(args.tokenizer.as_deref())?;
    let quiet = args.print.quiet;
    with_session(
        &source,
        &args.link,
        quiet,
        None,
        async |session, interrupt| {
            let plain = list(session, Listing::Resources, &args.link, quiet, interrupt).await?;
            let templates = list(session, Listing::Templates, &args.link, quiet, interrupt).await?;
            let mut resources: Vec<_> = plain.into_iter().map(|raw| Resource::read(raw, false)).collect();
            resources.extend(templates.into_iter().map(|raw| Resource::read(raw, true)));
            Ok((session.server().clone(), resources))
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
    let asked = ViewRequest::read(&args.view, || hosts::load(&args.link.data))?;
    let source = args.source.required()?;
    let quiet = asked.is_quiet();
    with_session(
        &source,
        &args.link,
        quiet,
        None,
        async |session, interrupt| {
            let asking = mcp::ContentRequest {
                id: call::capture_id("resource"),
                method: "resources/read",
                params: Bytes::from(format!(r#"{{"uri":{}}}"#, write::string(&args.uri))),
                limit: args.link.call_limit(),
            };
            if !quiet {
                output::progress(&format!("reading {}", args.uri));
            }
            Ok(session.read(asking, interrupt.call.clone()).await)
        },
        |capture, cancel| {
            let status = asked.print(capture.clone(), cancel)?;
            Ok(args.keep.keep(&capture, &args.link, quiet, status))
        },
    )
}
