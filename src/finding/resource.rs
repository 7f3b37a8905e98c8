//! Resources and their templates.

use std::collections::HashSet;

use url::Url;

use super::rule::Profile::{HostCompat, Spec};
use super::rule::Severity::{Error, Info, Warning};
use super::rule::{Check, Hits, Rule};
use super::{CheckedAnswer, CheckedServer, FoundIn};
use crate::host::Hosts;
use crate::json::{Doc, Node};

const SPEC: &str = "MCP specification, resources";

pub static RULES: &[Rule] = &[
    Rule::new("resource/mime-missing", &[(HostCompat, Info)], Check::Server(mime_missing))
        .means("The resource does not say of which type it is: hosts guess, or treat it as text.")
        .fix("Add `mimeType`.")
        .source(SPEC),
    Rule::new("resource/mime-mismatch", &[(HostCompat, Warning)], Check::Answer(mime_mismatch))
        .means("What was read is not of the type that it says.")
        .fix("Correct `mimeType`.")
        .source(SPEC),
    Rule::new("resource/uri-invalid", &[(Spec, Error)], Check::Server(uri_invalid))
        .means("The URI is none, so that it cannot be read.")
        .fix("A scheme and a path: `docs://readme`.")
        .source("RFC 3986; MCP specification, resources"),
    Rule::new("resource/template-invalid", &[(Spec, Error)], Check::Server(template_invalid))
        .means("The template has no place to fill in, or a bracket that is not closed.")
        .fix("`docs://{name}`; list what has no place as a resource.")
        .source("RFC 6570; MCP specification, resource templates"),
    Rule::new("resource/listed-twice", &[(HostCompat, Warning)], Check::Server(twice))
        .means("Two resources have the same URI: hosts show one of them.")
        .fix("A URI for each.")
        .source(SPEC),
];

fn mime_missing(server: &CheckedServer<'_>, _: &Hosts, hits: &mut Hits) {
    for resource in server.resources.iter().filter(|resource| !resource.is_template && resource.mime_type.is_none()) {
        hits.say("has no `mimeType`").about(&resource.uri).at_path(FoundIn::Definition, "");
    }
}

fn mime_mismatch(answer: &CheckedAnswer<'_>, hits: &mut Hits) {
    let contents = answer.result().and_then(|result| result.get("contents")).into_iter().flat_map(Node::children);
    for (at, entry) in contents.enumerate() {
        let mime = entry.get("mimeType").and_then(Node::as_str).unwrap_or_default();
        let text = entry.get("text").and_then(Node::as_str);
        let is_json_type = mime == "application/json" || mime.ends_with("+json");
        let is_wrong = text.is_some_and(|text| is_json_type && !Doc::parse(text.into_owned().into()).is_json());
        if is_wrong {
            hits.say(format!("is no JSON, and its type is {mime}")).at_path(FoundIn::Result, format!("/contents/{at}"));
        }
    }
}

fn uri_invalid(server: &CheckedServer<'_>, _: &Hosts, hits: &mut Hits) {
    for resource in server.resources.iter().filter(|resource| !resource.is_template) {
        if Url::parse(&resource.uri).is_err() {
            hits.say(format!("`{}` is no URI", resource.uri)).about(&resource.uri).at_path(FoundIn::Definition, "/uri");
        }
    }
}

fn template_invalid(server: &CheckedServer<'_>, _: &Hosts, hits: &mut Hits) {
    for template in server.resources.iter().filter(|resource| resource.is_template) {
        let uri = &template.uri;
        let (open, close) = (uri.matches('{').count(), uri.matches('}').count());
        if open != close {
            hits.say(format!("`{uri}` has a bracket that is not closed")).about(uri).at_path(FoundIn::Definition, "/uriTemplate");
        } else if open == 0 || uri.contains("{}") {
            hits.say(format!("`{uri}` has no place to fill in")).about(uri).at_path(FoundIn::Definition, "/uriTemplate");
        }
    }
}

fn twice(server: &CheckedServer<'_>, _: &Hosts, hits: &mut Hits) {
    let mut seen = HashSet::new();
    for resource in server.resources {
        if !seen.insert(resource.uri.as_str()) {
            hits.say(format!("`{}` is listed twice", resource.uri)).about(&resource.uri).at_path(FoundIn::Definition, "/uri");
        }
    }
}
