//! `prompts` and `prompt`: the prompts of a server, and one filled in, in the same views as a tool's answer.

use super::args;
use super::client::{Client, with_session};
use super::command;
use super::output::{self, columns, one_line};
use super::{Done, call, suggest, view};
use loupe_analysis::contract;
use loupe_analysis::queries::arguments::validate;
use loupe_client::Listing;
use loupe_core::capture::{Prompt, Server};
use loupe_core::json::write;
use loupe_core::number::number_of;
use loupe_core::problem::{Problem, ProblemKind};

pub fn run(args: &args::ListArgs) -> Done {
    let source = args.source.required()?;
    let tokenizer = view::tokenizer(args.tokenizer.as_deref())?;
    let quiet = args.print.quiet;
    with_session(
        &source,
        &args.link,
        quiet,
        async |client| Ok((client.server(), list_prompts(client).await?)),
        |(server, prompts), _| {
            let text = if args.print.json {
                contract::prompts(&server, &prompts, &tokenizer)
            } else {
                page(&server, &prompts)
            };
            output::page_or(args.print.json, &text)?;
            Ok(0)
        },
    )
}

async fn list_prompts(client: &Client<'_>) -> Result<Vec<Prompt>, Problem> {
    Ok(client
        .list(Listing::Prompts)
        .await?
        .into_iter()
        .map(Prompt::read)
        .collect())
}

fn page(server: &Server, prompts: &[Prompt]) -> String {
    let head = format!(
        "{} · {}",
        server.heading(),
        number_of(prompts.len() as u64, "prompts")
    );
    let mut page = format!("{}\n", one_line(&head));
    if prompts.is_empty() {
        return page;
    }
    let mut rows = vec![
        ["PROMPT", "ARGUMENTS", "WHAT IT DOES"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for prompt in prompts {
        let arguments = prompt.arguments.iter().map(|argument| {
            let mark = if argument.required { "" } else { "?" };
            format!("{}{mark}", one_line(&argument.name))
        });
        let what = prompt
            .title
            .as_deref()
            .or(prompt.description.as_deref())
            .unwrap_or_default();
        rows.push(vec![
            one_line(&prompt.name),
            arguments.collect::<Vec<_>>().join(", "),
            one_line(what),
        ]);
    }
    page.push_str(&format!("\n{}", columns(&rows, &[])));
    for prompt in prompts {
        for fault in &prompt.faults {
            page.push_str(&format!(
                "odd {}: {}\n",
                one_line(&prompt.name),
                one_line(fault)
            ));
        }
    }
    page
}

pub fn get(args: &command::PromptArgs) -> Done {
    let fetch = &args.fetch;
    let asked = fetch.view_request()?;
    let source = fetch.source.required()?;
    let arguments = call::read_arguments(args.args.as_deref())?;
    validate(None, &arguments, false)?;
    fetch.show(&source, &asked, async |client| {
        let prompts = list_prompts(client).await?;
        if !prompts.iter().any(|prompt| prompt.name == args.name) {
            let hint = suggest::hint(
                &args.name,
                prompts.iter().map(|prompt| prompt.name.as_str()),
            );
            return Err(
                Problem::new(ProblemKind::NotFound, "the server lists no such prompt")
                    .at(args.name.clone())
                    .hint(hint.unwrap_or_else(|| {
                        "`mcp-loupe prompts` lists the server's prompts".to_owned()
                    })),
            );
        }
        let params = format!(
            r#"{{"name":{},"arguments":{arguments}}}"#,
            write::string(&args.name)
        );
        let message = format!("filling in {}", args.name);
        Ok(client
            .read(
                &message,
                call::capture_id(&args.name),
                "prompts/get",
                params,
            )
            .await)
    })
}
