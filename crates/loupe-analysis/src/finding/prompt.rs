//! Prompts.

use std::collections::HashSet;

use super::profile::Profile::{HostCompat, Spec};
use super::rule::Severity::{Error, Info, Warning};
use super::rule::{Hits, Rule, RuleCheck};
use super::{CheckedServer, LocationPart};
use loupe_core::host::Hosts;

const SPEC: &str = "MCP specification, prompts; hosts that list prompts as commands";

pub(crate) static RULES: &[Rule] = &[
    Rule::new(
        "prompt/no-description",
        &[(HostCompat, Info)],
        RuleCheck::Server(no_description),
    )
    .explanation("The prompt has no description for the person who chooses it.")
    .fix("Add `description`.")
    .source(SPEC),
    Rule::new(
        "prompt/argument-undescribed",
        &[(HostCompat, Info)],
        RuleCheck::Server(check_descriptions),
    )
    .explanation("An argument has no description for the person who fills it in.")
    .fix("Describe it in a few words.")
    .source(SPEC),
    Rule::new(
        "prompt/argument-twice",
        &[(Spec, Error)],
        RuleCheck::Server(argument_twice),
    )
    .explanation("Two arguments have the same name: one of them cannot be filled in.")
    .fix("A name for each.")
    .source(SPEC),
    Rule::new(
        "prompt/listed-twice",
        &[(HostCompat, Warning)],
        RuleCheck::Server(twice),
    )
    .explanation("Two prompts have the same name: one of them cannot be reached.")
    .fix("A name for each.")
    .source(SPEC),
];

fn is_blank(text: Option<&str>) -> bool {
    text.unwrap_or_default().trim().is_empty()
}

fn no_description(server: &CheckedServer<'_>, _: &Hosts, hits: &mut Hits<'_>) {
    for prompt in server.prompts.iter().filter(|prompt| {
        is_blank(prompt.description.as_deref()) && is_blank(prompt.title.as_deref())
    }) {
        hits.report_for(&prompt.name, "has no description")
            .at_path(LocationPart::Definition, "");
    }
}

fn check_descriptions(server: &CheckedServer<'_>, _: &Hosts, hits: &mut Hits<'_>) {
    for prompt in server.prompts {
        for (at, argument) in prompt
            .arguments
            .iter()
            .enumerate()
            .filter(|(_, argument)| is_blank(argument.description.as_deref()))
        {
            let hit = hits.report_for(
                &prompt.name,
                format!("`{}` has no description", argument.name),
            );
            hit.at_path(LocationPart::Definition, format!("/arguments/{at}"));
        }
    }
}

fn argument_twice(server: &CheckedServer<'_>, _: &Hosts, hits: &mut Hits<'_>) {
    for prompt in server.prompts {
        let mut seen = HashSet::new();
        for (at, argument) in prompt.arguments.iter().enumerate() {
            if !seen.insert(&argument.name) {
                let hit =
                    hits.report_for(&prompt.name, format!("`{}` is there twice", argument.name));
                hit.at_path(LocationPart::Definition, format!("/arguments/{at}"));
            }
        }
    }
}

fn twice(server: &CheckedServer<'_>, _: &Hosts, hits: &mut Hits<'_>) {
    let mut seen = HashSet::new();
    for prompt in server.prompts {
        if !seen.insert(&prompt.name) {
            hits.report_for(&prompt.name, format!("`{}` is listed twice", prompt.name))
                .at_path(LocationPart::Definition, "/name");
        }
    }
}
