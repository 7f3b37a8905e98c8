//! Resources and their templates.

use std::collections::HashSet;

use url::Url;

use super::profile::Profile::{HostCompat, Spec};
use super::rule::Severity::{Error, Info, Warning};
use super::rule::{Hits, Rule, RuleCheck};
use super::{CheckedResult, CheckedServer, LocationPart};
use loupe_core::host::Hosts;
use loupe_core::json::{Doc, Node};

const SPEC: &str = "MCP specification, resources";

pub(crate) static RULES: &[Rule] = &[
    Rule::new(
        "resource/mime-missing",
        &[(HostCompat, Info)],
        RuleCheck::Server(mime_missing),
    )
    .explanation("The resource does not say of which type it is: hosts guess, or treat it as text.")
    .fix("Add `mimeType`.")
    .source(SPEC),
    Rule::new(
        "resource/mime-mismatch",
        &[(HostCompat, Warning)],
        RuleCheck::Answer(mime_mismatch),
    )
    .explanation("What was read is not of the type that it says.")
    .fix("Correct `mimeType`.")
    .source(SPEC),
    Rule::new(
        "resource/uri-invalid",
        &[(Spec, Error)],
        RuleCheck::Server(uri_invalid),
    )
    .explanation("The URI is not valid, so that it cannot be read.")
    .fix("A scheme and a path: `docs://readme`.")
    .source("RFC 3986; MCP specification, resources"),
    Rule::new(
        "resource/template-invalid",
        &[(Spec, Error)],
        RuleCheck::Server(template_invalid),
    )
    .explanation("The template has a bracket that is not closed, or a place without a name.")
    .fix("`docs://{name}`.")
    .source("RFC 6570; MCP specification, resource templates"),
    Rule::new(
        "resource/listed-twice",
        &[(HostCompat, Warning)],
        RuleCheck::Server(twice),
    )
    .explanation("Two resources have the same URI: hosts show one of them.")
    .fix("A URI for each.")
    .source(SPEC),
];

fn mime_missing(server: &CheckedServer<'_>, _: &Hosts, hits: &mut Hits<'_>) {
    for resource in server
        .resources
        .iter()
        .filter(|resource| !resource.is_template && resource.mime_type.is_none())
    {
        hits.report_for(&resource.uri, "has no `mimeType`")
            .at_path(LocationPart::Definition, "");
    }
}

fn mime_mismatch(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let contents = answer
        .result()
        .and_then(|result| result.get("contents"))
        .into_iter()
        .flat_map(Node::children);
    for (at, entry) in contents.enumerate() {
        let mime = entry
            .get("mimeType")
            .and_then(Node::as_str)
            .unwrap_or_default();
        let text = entry.get("text").and_then(Node::as_str);
        let is_json_type = mime == "application/json" || mime.ends_with("+json");
        let is_wrong = text
            .is_some_and(|text| is_json_type && !Doc::parse(text.into_owned().into()).is_json());
        if is_wrong {
            hits.report(format!("is no JSON, and its type is {mime}"))
                .at_path(LocationPart::Result, format!("/contents/{at}"));
        }
    }
}

fn uri_invalid(server: &CheckedServer<'_>, _: &Hosts, hits: &mut Hits<'_>) {
    for resource in server
        .resources
        .iter()
        .filter(|resource| !resource.is_template)
    {
        if Url::parse(&resource.uri).is_err() {
            hits.report_for(&resource.uri, format!("`{}` is no URI", resource.uri))
                .at_path(LocationPart::Definition, "/uri");
        }
    }
}

fn template_invalid(server: &CheckedServer<'_>, _: &Hosts, hits: &mut Hits<'_>) {
    for template in server
        .resources
        .iter()
        .filter(|resource| resource.is_template)
    {
        let uri = &template.uri;
        let (open, close) = (uri.matches('{').count(), uri.matches('}').count());
        if open != close {
            hits.report_for(uri, format!("`{uri}` has a bracket that is not closed"))
                .at_path(LocationPart::Definition, "/uriTemplate");
        } else if uri.contains("{}") {
            hits.report_for(uri, format!("`{uri}` has a place without a name"))
                .at_path(LocationPart::Definition, "/uriTemplate");
        }
    }
}

fn twice(server: &CheckedServer<'_>, _: &Hosts, hits: &mut Hits<'_>) {
    let mut seen = HashSet::new();
    for resource in server.resources {
        if !seen.insert((resource.is_template, resource.uri.as_str())) {
            hits.report_for(&resource.uri, format!("`{}` is listed twice", resource.uri))
                .at_path(LocationPart::Definition, "/uri");
        }
    }
}
