//! `loupe.resources/1` and `loupe.prompts/1`: what a server lists next to its tools.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::contract::tokens::SizeJson;
use crate::contract::{ServerJson, VERSION, print, raw};
use loupe_core::capture::{Prompt, Resource, Server};
use loupe_core::token::Tokenizer;

#[derive(Serialize)]
struct ResourcesDocument<'a> {
    loupe: &'static str,
    schema: &'static str,
    server: ServerJson<'a>,
    resources: Vec<ResourceJson<'a>>,
    templates: Vec<ResourceJson<'a>>,
    total: SizeJson,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceJson<'a> {
    uri: &'a str,
    name: &'a str,
    title: Option<&'a str>,
    description: Option<&'a str>,
    mime_type: Option<&'a str>,
    size: Option<u64>,
    definition: SizeJson,
    raw: Option<&'a RawValue>,
    faults: &'a [String],
}

#[derive(Serialize)]
struct PromptsDocument<'a> {
    loupe: &'static str,
    schema: &'static str,
    server: ServerJson<'a>,
    prompts: Vec<PromptJson<'a>>,
    total: SizeJson,
}

#[derive(Serialize)]
struct PromptJson<'a> {
    name: &'a str,
    title: Option<&'a str>,
    description: Option<&'a str>,
    arguments: Vec<ArgumentJson<'a>>,
    definition: SizeJson,
    raw: Option<&'a RawValue>,
    faults: &'a [String],
}

#[derive(Serialize)]
struct ArgumentJson<'a> {
    name: &'a str,
    description: Option<&'a str>,
    required: bool,
}

/// `loupe.resources/1`: resources and templates, as `resources --json` prints them.
pub fn resources(server: &Server, resources: &[Resource], tokenizer: &Tokenizer) -> String {
    let mut total = SizeJson::new(b"", tokenizer);
    let (mut plain, mut templates) = (Vec::new(), Vec::new());
    for resource in resources {
        let definition = SizeJson::new(&resource.raw, tokenizer);
        total = total.plus(&definition);
        let list = if resource.is_template {
            &mut templates
        } else {
            &mut plain
        };
        list.push(ResourceJson {
            uri: &resource.uri,
            name: &resource.name,
            title: resource.title.as_deref(),
            description: resource.description.as_deref(),
            mime_type: resource.mime_type.as_deref(),
            size: resource.size,
            definition,
            raw: raw(&resource.raw),
            faults: &resource.faults,
        });
    }
    let (schema, server) = ("loupe.resources/1", ServerJson::new(server));
    print(&ResourcesDocument {
        loupe: VERSION,
        schema,
        server,
        resources: plain,
        templates,
        total,
    })
}

/// `loupe.prompts/1`: as `prompts --json` prints them.
pub fn prompts(server: &Server, prompts: &[Prompt], tokenizer: &Tokenizer) -> String {
    let mut total = SizeJson::new(b"", tokenizer);
    let mut listed = Vec::with_capacity(prompts.len());
    for prompt in prompts {
        let definition = SizeJson::new(&prompt.raw, tokenizer);
        total = total.plus(&definition);
        listed.push(PromptJson {
            name: &prompt.name,
            title: prompt.title.as_deref(),
            description: prompt.description.as_deref(),
            arguments: prompt
                .arguments
                .iter()
                .map(|argument| ArgumentJson {
                    name: &argument.name,
                    description: argument.description.as_deref(),
                    required: argument.required,
                })
                .collect(),
            definition,
            raw: raw(&prompt.raw),
            faults: &prompt.faults,
        });
    }
    let (schema, server) = ("loupe.prompts/1", ServerJson::new(server));
    print(&PromptsDocument {
        loupe: VERSION,
        schema,
        server,
        prompts: listed,
        total,
    })
}
