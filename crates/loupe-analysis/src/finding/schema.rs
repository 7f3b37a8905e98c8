//! Schemas of arguments and of results: what the specification forbids, what hosts and models refuse, what guides a model.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};

use bytes::Bytes;

use super::profile::Profile::{HostCompat, Spec};
use super::result::{is_limit_name, is_page_name};
use super::rule::Severity::{Error, Info, Warning};
use super::rule::{Hits, Rule, RuleCheck, RulePattern};
use super::tool::{is_type, names, schemas, subschemas, text, types, words};
use super::{CheckedResult, CheckedServer, CheckedTool, LocationPart};
use crate::queries::arguments;
use crate::queries::schema::{TOO_COSTLY, UNKNOWN_DIALECT};
use loupe_core::host::Hosts;
use loupe_core::json::{Doc, Kind, Node};
use loupe_core::number::grouped;

const OUTPUT: &str = "MCP specification 2025-06-18, tools, output schema";
/// What `queries::arguments` says of a member that a closed schema does not have.
const NOT_KNOWN: &str = "not a known argument";
const STRICT_VALIDATION: &str = "MCP specification, tools, security: servers validate all inputs";

pub(crate) static RULES: &[Rule] = &[
    Rule::new("schema/output-mismatch", &[(Spec, Error)], RuleCheck::Answer(output_mismatch))
        .explanation("`structuredContent` does not conform to the tool's `outputSchema`, as it MUST. Clients of the official SDKs throw the answer away.")
        .fix("Return what the schema says, or change the schema.")
        .source(OUTPUT),
    Rule::new("schema/output-declared-not-returned", &[(Spec, Error)], RuleCheck::Answer(output_not_returned))
        .explanation("The tool declares an `outputSchema` and returns no `structuredContent`. Clients of the official SDKs throw the answer away.")
        .fix("Return `structuredContent`, or take `outputSchema` out.")
        .source(OUTPUT),
    Rule::new("schema/output-absent", &[(Spec, Info)], RuleCheck::Answer(output_absent))
        .explanation("`structuredContent` is returned, and no `outputSchema` says what it holds.")
        .fix("Declare one: `fixture export --as output-schema` proposes it from this answer.")
        .source(OUTPUT),
    Rule::new("schema/output-too-loose", &[(Spec, Info)], RuleCheck::Tool(output_too_loose))
        .explanation("The `outputSchema` names no field, so that it says nothing.")
        .fix("Name the fields with their types, or take it out.")
        .source(OUTPUT),
    Rule::new("schema/output-undeclared-field", &[(Spec, Info)], RuleCheck::Answer(output_undeclared))
        .explanation("A field is returned that the `outputSchema` does not name: whoever builds a type from it loses the field.")
        .fix("Add the field to the schema.")
        .source(OUTPUT),
    Rule::new("schema/invalid", &[(Spec, Error)], RuleCheck::Tool(invalid))
        .explanation("The schema is no schema: no object, not valid, or it refers to one outside, which nobody fetches.")
        .fix("An object of JSON Schema that stands for itself; `{\"type\":\"object\",\"additionalProperties\":false}` where there are no arguments.")
        .source("MCP specification, tools, inputSchema"),
    Rule::new("schema/structured-not-object", &[(Spec, Error)], RuleCheck::Answer(structured_not_object))
        .explanation("Up to revision 2025-11-25 `structuredContent` is an object.")
        .fix("Put the value into a member: `{\"items\": […]}`.")
        .source("MCP specification 2025-06-18 and 2025-11-25, CallToolResult"),
    Rule::new("schema/property-undescribed", &[(Spec, Info)], RuleCheck::Tool(check_descriptions))
        .explanation("An argument has no description, and none of its alternatives has one: unless the tool's own explains it, a model has its name and its type.")
        .fix("Describe it in a few words.")
        .source(STRICT_VALIDATION),
    Rule::new("schema/not-strict", &[], RuleCheck::Tool(not_strict))
        .explanation("Unknown arguments are let through: a model that misspells one is not told.")
        .fix("`\"additionalProperties\": false`.")
        .source(STRICT_VALIDATION),
    Rule::new("schema/strict-not-enforced", &[], RuleCheck::Odd(not_enforced))
        .explanation("An argument that the tool does not have was let through: a model that misspells one is not told. Looked for by `check --probe` alone, and of tools that are declared read-only.")
        .fix("Validate the arguments, and answer with `isError: true` and the name of the unknown one.")
        .source(STRICT_VALIDATION),
    Rule::new("schema/untyped-limit", &[], RuleCheck::Tool(untyped_limit))
        .explanation("An argument that says how many takes fractions, or states no bounds or no default.")
        .fix("`integer` with `minimum`, `maximum` and `default`.")
        .source(STRICT_VALIDATION),
    Rule::new("schema/argument-rounded", &[(HostCompat, Warning)], RuleCheck::Answer(argument_rounded))
        .explanation("An argument went out as an integer beyond ±2^53, as its type allows: clients and servers in JavaScript round it, so that an id becomes another one.")
        .fix("Take it as `string` alone.")
        .source("RFC 8259, section 6, numbers that are interoperable"),
    Rule::new("schema/magic-value", &[(Spec, Info)], RuleCheck::Tool(magic_value))
        .explanation("A number of the range means something else, such as −1 for all.")
        .fix("Add a boolean argument `all`.")
        .source("models, which choose arguments by the schema")
        .heuristic(),
    Rule::new("schema/default-not-stated", &[(Spec, Info)], RuleCheck::Tool(default_not_stated))
        .explanation("The description names a default that the schema does not have, or another one.")
        .fix("State it as `default`.")
        .source(STRICT_VALIDATION)
        .heuristic(),
    Rule::new("schema/enum-as-text", &[(Spec, Info)], RuleCheck::Tool(enum_as_text))
        .explanation("The description lists the values, and the schema takes any text.")
        .fix("List them as `enum`.")
        .source(STRICT_VALIDATION)
        .heuristic(),
    Rule::new("schema/format-param", &[], RuleCheck::Server(format_param))
        .explanation("A reading tool has no argument that chooses the format, or tools choose it in different ways.")
        .fix("One name and the same values in all reading tools.")
        .source("hosts, which pass on different parts of a result (hosts)"),
    Rule::new("schema/format-param-needless", &[], RuleCheck::Tool(format_param_needless))
        .explanation("An argument chooses the format where every answer has both forms.")
        .fix("Drop the argument.")
        .source("hosts, which pass on different parts of a result (hosts)"),
    Rule::new("schema/list-without-paging", &[(HostCompat, Warning)], RuleCheck::Answer(list_without_paging))
        .explanation("The answer is a long list, and no argument makes it shorter or leads to a next page.")
        .fix("Add `limit` and `cursor`.")
        .source("hosts cut from 20,480 bytes on (hosts)")
        .limit(20, "records"),
    Rule::new("schema/boolean-subschema", &[(HostCompat, Error)], RuleCheck::Tool(boolean_subschema))
        .explanation("`true` or `false` stands for a schema. Valid, but clients that read definitions into types lose the whole server by it.")
        .fix("`{}` in place of `true`; leave out what is `false`.")
        .source("opencode 49464 (2026-09), hermes-agent 0.21.0 101669, inspector 1005"),
    Rule::new("schema/type-array", &[(HostCompat, Info)], RuleCheck::Tool(type_array))
        .explanation("`type` is a list: forms and converters of some clients take the first or none.")
        .fix("`anyOf` of two, or one type and not required.")
        .source("inspector 2395"),
    Rule::new("schema/anyof-branch-untyped", &[(HostCompat, Warning)], RuleCheck::Tool(anyof_untyped))
        .explanation("A branch of `anyOf` has no type: Gemini refuses the declaration.")
        .fix("Give each branch its `type`.")
        .source("mcp-ts-core 132"),
    Rule::new("schema/format-unsupported", &[(HostCompat, Warning)], RuleCheck::Tool(format_unsupported))
        .explanation("OpenAI's models refuse a strict schema with this `format`.")
        .fix("Say it in the description.")
        .source("git-mcp-server 47"),
    Rule::new("schema/array-without-items", &[(HostCompat, Error)], RuleCheck::Tool(array_without_items))
        .explanation("An array without item type: VS Code refuses the tool (“array type must have items”).")
        .fix("Add `items`.")
        .source("cesium-mcp 40, restheart 593 (2026-03)"),
    Rule::new("schema/root-union", &[(HostCompat, Warning)], RuleCheck::Tool(root_union))
        .explanation("`oneOf`, `anyOf` or `allOf` at the top of the input schema: Claude's API answers 400, and Claude Code drops the tool without a word.")
        .fix("One object with optional properties; say in the description which go together.")
        .source("claude-code 95504 (2026), notion-mcp-server 341 (2026-08)"),
    Rule::new("schema/refs", &[(HostCompat, Info)], RuleCheck::Tool(refs))
        .explanation("The input schema uses `$ref`: Gemini CLI and Copilot CLI have failed to resolve it.")
        .fix("Write the schema out in place.")
        .source("gemini-cli 13326 (0.15.1, 2025-11), copilot-cli 1876 (0.0.423, 2026-03)"),
    Rule::new("schema/recursive", &[(HostCompat, Warning)], RuleCheck::Tool(recursive))
        .explanation("A schema refers to itself: Claude Code lost all tools of a server by one, Mastra crashed.")
        .fix("Write it out to the depth that is needed.")
        .source("claude-code 77106 (2.1.207, 2026-07), mastra 15341"),
    Rule::new("schema/empty-enum", &[(HostCompat, Error)], RuleCheck::Tool(empty_enum))
        .explanation("An `enum` without values, or with an empty text among them: Kimi's and Gemini's APIs refuse the request.")
        .fix("Leave `enum` out; make the argument optional in place of an empty value.")
        .source("ppt-master 58 (2026-04), apify-mcp-server 353 (2025-12)"),
    Rule::new("schema/unsatisfiable", &[(Spec, Error)], RuleCheck::Tool(unsatisfiable))
        .explanation("No value fits: a minimum is above its maximum.")
        .fix("Correct the bounds.")
        .source("JSON Schema 2020-12: no call passes the server's own validation"),
    Rule::new("schema/required-undeclared", &[(Spec, Error)], RuleCheck::Tool(required_undeclared))
        .explanation("An argument is required that `properties` does not have. An error where no other is let through, since no call passes; else a warning: a model knows only its name.")
        .fix("Declare it, or take it out of `required`.")
        .source("JSON Schema 2020-12: no call passes the server's own validation"),
    Rule::new("schema/required-as-boolean", &[(HostCompat, Warning)], RuleCheck::Tool(required_as_boolean))
        .explanation("`required` is true or false within a property; it is a list beside `properties`. Clients that validate refuse the schema.")
        .fix("Name the property in the list `required` of its object.")
        .source("mcp-gsuite 48 (mcporter 0.7.3, 2026-01)"),
    Rule::new("schema/dialect-missing", &[(Spec, Info)], RuleCheck::Tool(dialect))
        .explanation("The schema has no `$schema` and keywords of an older dialect: without it 2020-12 counts, which reads them otherwise or not at all.")
        .fix("`prefixItems` for a list under `items`, `dependentSchemas` or `dependentRequired` for `dependencies`; or name the dialect in `$schema`.")
        .source("MCP specification 2025-11-25, JSON Schema 2020-12 is the default dialect"),
    Rule::new("schema/duplicate-params", &[(HostCompat, Warning)], RuleCheck::Tool(duplicate))
        .explanation("Two arguments have the same name but for its spelling: a model fills either.")
        .fix("Keep one.")
        .source("the models of all hosts, which see the names alone")
        .heuristic(),
    Rule::new("schema/untyped-property", &[(HostCompat, Warning)], RuleCheck::Tool(untyped_property))
        .explanation("An argument has no type: Home Assistant refuses the whole server.")
        .fix("Give it a `type`.")
        .source("home-assistant/core 175628 (2026-07)"),
];

fn output_mismatch(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let (Some(schema), Some(value), true) = (
        &answer.subject.capture.tool.output_schema,
        answer.structured(),
        answer.is_success(),
    ) else {
        return;
    };
    let checked = arguments::check_answer(schema, &value.raw_text());
    if checked.unchecked.as_deref() == Some(TOO_COSTLY) {
        hits.report(format!("`structuredContent` is not checked: {TOO_COSTLY}"))
            .at_path(LocationPart::Structured, "")
            .as_severity(Info);
    }
    let (nulls, others): (Vec<_>, Vec<_>) =
        checked.problems.into_iter().partition(|(path, what)| {
            let is_null = value.at(path).is_some_and(|node| node.kind() == Kind::Null);
            is_null && what.starts_with("expected ") && !is_required(schema, path)
        });
    let (notices, others): (Vec<_>, Vec<_>) = others.into_iter().partition(|(path, what)| {
        what == NOT_KNOWN && path.rsplit('/').next().is_some_and(is_of_truncation)
    });
    say_notices(&notices, hits);
    for (path, what) in others {
        let what = if what == NOT_KNOWN {
            "is not allowed by the schema"
        } else {
            &what
        };
        let path_said = super::result::wild(&path);
        hits.report(format!(
            "`structuredContent` does not fit `outputSchema` at `{path_said}`: {what}"
        ))
        .at_path(LocationPart::Structured, path);
    }
    say_nulls(&nulls, hits);
}

/// Whether a member says that something was cut, or how much there was: `_truncated`, `_total_chars`.
fn is_of_truncation(name: &str) -> bool {
    let words = words(name);
    let says = |all: &[&str]| words.iter().any(|word| all.contains(&word.as_str()));
    says(&["truncated", "truncation", "omitted", "clipped", "cut"])
        || says(&["total", "original", "remaining", "full", "shown"])
            && says(&[
                "chars",
                "characters",
                "bytes",
                "length",
                "size",
                "tokens",
                "lines",
            ])
}

/// What tells of a cut is in data that the schema closes: one finding, with all its members.
fn say_notices(notices: &[(String, String)], hits: &mut Hits<'_>) {
    if notices.is_empty() {
        return;
    }
    let names: Vec<_> = notices
        .iter()
        .map(|(path, _)| format!("`{}`", super::result::wild(path)))
        .collect();
    let hit = hits.report(format!(
        "{} tell of a cut, and the schema allows no other members; put them into `_meta`",
        names.join(", ")
    ));
    for (path, _) in notices {
        hit.at_path(LocationPart::Structured, path);
    }
}

/// Members that may be left out are sent as null: one finding, however many.
fn say_nulls(nulls: &[(String, String)], hits: &mut Hits<'_>) {
    if nulls.is_empty() {
        return;
    }
    let wanted: BTreeSet<_> = nulls
        .iter()
        .filter_map(|(_, what)| what.strip_prefix("expected "))
        .collect();
    let wanted = wanted.into_iter().collect::<Vec<_>>().join(" or ");
    let members = if nulls.len() == 1 {
        "1 member is"
    } else {
        &format!("{} members are", nulls.len())
    };
    let them = if nulls.len() == 1 { "it" } else { "them" };
    let hit = hits.report(format!(
        "{members} null where `outputSchema` says {wanted}; leave {them} out"
    ));
    for (path, _) in nulls {
        hit.at_path(LocationPart::Structured, path);
    }
}

/// Whether a schema, followed through `properties` and `items` alone, asks for the member at this path.
fn is_required(schema: &Bytes, path: &str) -> bool {
    let doc = Doc::parse(schema.clone());
    let names: Vec<_> = path
        .split('/')
        .skip(1)
        .map(|name| name.replace("~1", "/").replace("~0", "~"))
        .collect();
    let Some((last, parents)) = names.split_last() else {
        return true;
    };
    let mut at = doc.root();
    for name in parents {
        at = at.and_then(|node| {
            node.get("properties")
                .and_then(|names| names.get(name))
                .or(node.get("items"))
        });
    }
    let required = at.and_then(|node| node.get("required"));
    required
        .into_iter()
        .flat_map(Node::children)
        .any(|name| name.as_str().is_some_and(|name| name == *last))
}

fn output_not_returned(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let tool = &answer.subject.capture.tool;
    if tool.output_schema.is_some() && answer.is_success() && answer.structured().is_none() {
        hits.report("declares `outputSchema` and returns no `structuredContent`")
            .at_path(LocationPart::Result, "");
    }
}

fn output_absent(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let tool = &answer.subject.capture.tool;
    let is_listed = !tool.raw.is_empty();
    if is_listed && tool.output_schema.is_none() && answer.structured().is_some() {
        hits.report("returns `structuredContent` and declares no `outputSchema`")
            .at_path(LocationPart::Structured, "");
    }
}

fn output_too_loose(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    let Some(output) = tool.output().filter(|output| output.kind() == Kind::Object) else {
        return;
    };
    // A single value has no fields.
    if ["enum", "const"]
        .iter()
        .any(|key| output.get(key).is_some())
        || types(output)
            .iter()
            .any(|kind| !matches!(kind.as_str(), "object" | "array"))
    {
        return;
    }
    let says = [
        "properties",
        "$ref",
        "items",
        "additionalProperties",
        "anyOf",
        "oneOf",
        "allOf",
        "patternProperties",
    ];
    let is_empty = |key: &str| {
        output
            .get(key)
            .is_none_or(|node| node.is_container() && node.is_empty() || node.as_bool().is_some())
    };
    if says.iter().all(|key| is_empty(key)) {
        hits.report("the `outputSchema` names no field")
            .in_definition("/outputSchema");
    }
}

fn output_undeclared(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let tool = CheckedTool::new(&answer.subject.capture.tool);
    let (Some(output), Some(value)) = (tool.output(), answer.structured()) else {
        return;
    };
    let Some(properties) = output
        .get("properties")
        .filter(|node| node.kind() == Kind::Object && !node.is_empty())
    else {
        return;
    };
    if output.get("additionalProperties").is_some() || output.get("patternProperties").is_some() {
        return;
    }
    let declared = names(Some(properties));
    for member in value.children().filter(|member| member.key().is_some()) {
        let key = member.key().unwrap_or_default();
        if !declared.contains(&key) {
            hits.report(format!("`{key}` is returned and not in `outputSchema`"))
                .at(answer.data_at(member));
        }
    }
}

fn invalid(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    for (name, schema) in [
        ("inputSchema", &tool.tool.input_schema),
        ("outputSchema", &tool.tool.output_schema),
    ] {
        let why = match schema {
            None if name == "inputSchema" && !tool.tool.raw.is_empty() => {
                Some("it is missing".to_owned())
            }
            None => None,
            Some(schema) => arguments::check_answer(schema, "{}").unchecked,
        };
        match why {
            // Of no fault of its own.
            Some(why) if why == TOO_COSTLY || why.starts_with(UNKNOWN_DIALECT) => {
                hits.report(format!("`{name}` is not checked: {why}"))
                    .in_definition(format!("/{name}"))
                    .as_severity(Info);
            }
            Some(why) => {
                hits.report(format!("`{name}` is no usable schema: {why}"))
                    .in_definition(format!("/{name}"));
            }
            None => {}
        }
    }
}

fn structured_not_object(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let revision = &answer.subject.capture.server.protocol_version;
    let is_old = !revision.is_empty() && revision.as_str() <= "2025-11-25";
    if let Some(value) = answer
        .structured()
        .filter(|value| is_old && value.kind() != Kind::Object)
    {
        hits.report(format!(
            "`structuredContent` is of type {}, not an object",
            value.kind().name()
        ))
        .at(answer.data_at(value));
    }
}

fn check_descriptions(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    for argument in tool.arguments() {
        let alternatives = ["anyOf", "oneOf", "allOf"]
            .into_iter()
            .filter_map(|key| argument.get(key))
            .flat_map(Node::children);
        let is_described = |schema: Node<'_>| {
            text(schema, "description").is_some_and(|description| !description.trim().is_empty())
        };
        if argument.kind() == Kind::Object
            && !std::iter::once(argument)
                .chain(alternatives)
                .any(is_described)
        {
            hits.report(format!(
                "`{}` has no description",
                argument.key().unwrap_or_default()
            ))
            .in_definition(argument.pointer());
        }
    }
}

fn not_strict(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    let Some(input) = tool.input().filter(|input| input.kind() == Kind::Object) else {
        return;
    };
    if input.get("additionalProperties").and_then(Node::as_bool) != Some(false) {
        hits.report("takes unknown arguments")
            .in_definition("/inputSchema");
    }
}

fn not_enforced(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    if answer.is_success() {
        let tool = CheckedTool::new(&answer.subject.capture.tool);
        let is_closed = tool
            .input()
            .and_then(|input| input.get("additionalProperties")?.as_bool())
            == Some(false);
        let schema = if is_closed {
            "the schema forbids it"
        } else {
            "the schema lets it through too"
        };
        hits.report(format!("an unknown argument was accepted; {schema}"))
            .in_definition("/inputSchema");
    }
}

fn untyped_limit(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    for argument in tool.arguments() {
        let name = argument.key().unwrap_or_default();
        if !is_limit_name(&name) {
            continue;
        }
        let lacks = |key: &&str| argument.get(key).is_none();
        let mut lacking: Vec<_> = ["minimum", "maximum", "default"]
            .into_iter()
            .filter(lacks)
            .map(|key| format!("`{key}`"))
            .collect();
        if is_type(argument, "number") {
            lacking.insert(0, "`integer` as its type".to_owned());
        }
        if !lacking.is_empty() {
            hits.report(format!("`{name}` lacks {}", lacking.join(", ")))
                .in_definition(argument.pointer());
        }
    }
}

fn argument_rounded(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let tool = CheckedTool::new(&answer.subject.capture.tool);
    // A server that refuses it says so.
    for argument in tool.arguments().into_iter().filter(|_| answer.is_success()) {
        let name = argument.key().unwrap_or_default();
        let Some(sent) = answer
            .argument(&name)
            .filter(|sent| sent.kind() == Kind::Number)
            .map(Node::raw_text)
        else {
            continue;
        };
        let is_rounded = sent
            .parse::<i128>()
            .is_ok_and(|number| number.unsigned_abs() > 1 << 53);
        if is_rounded
            && ["number", "integer"]
                .iter()
                .any(|kind| is_type(argument, kind))
        {
            let instead = if is_type(argument, "string") {
                "it may be a string too"
            } else {
                "only a string keeps its digits"
            };
            hits.report(format!(
                "`{name}` is sent as the number {sent}, which JavaScript rounds; {instead}"
            ))
            .in_definition(argument.pointer());
        }
    }
}

fn magic_value(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    for argument in tool.arguments() {
        let name = argument.key().unwrap_or_default();
        let minimum = argument.get("minimum").and_then(Node::as_f64);
        let described = text(argument, "description").unwrap_or_default();
        let says = described.contains("-1 ") || described.contains("−1 ");
        if is_limit_name(&name) && (minimum.is_some_and(|minimum| minimum < 0.0) || says) {
            hits.report(format!("`{name}` takes −1 for something that is no number"))
                .in_definition(argument.pointer());
        }
    }
}

fn default_not_stated(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    for argument in tool.arguments() {
        let described = text(argument, "description").unwrap_or_default();
        let Some(line) = default_said(&described) else {
            continue;
        };
        let name = argument.key().unwrap_or_default();
        match argument.get("default") {
            None => {
                hits.report(format!(
                    "`{name}`: the description says the default is {line}, the schema has none"
                ))
                .in_definition(argument.pointer());
            }
            Some(stated) => {
                let stated_text = stated
                    .as_str()
                    .map_or_else(|| stated.raw_text().into_owned(), |text| text.into_owned());
                let is_comparable = matches!(stated.kind(), Kind::Number | Kind::Bool)
                    && line.parse::<f64>().is_ok() == (stated.kind() == Kind::Number);
                let is_same = line.eq_ignore_ascii_case(&stated_text)
                    || line.parse::<f64>().ok() == stated.as_f64() && stated.as_f64().is_some();
                if is_comparable && !is_same {
                    hits.report(format!("`{name}`: the description says the default is {line}, the schema {stated_text}"))
                        .in_definition(argument.pointer());
                }
            }
        }
    }
}

/// A default that a description names: a number, a yes or no, or what is in quotes.
fn default_said(text: &str) -> Option<String> {
    static PATTERN: RulePattern = RulePattern::new(
        r#"(?i)\bdefaults?(?: value)?(?: is| to|:|=)?\s*[:=]?\s*(?:[`"']([^`"'\s]{1,30})[`"']|(-?\d+(?:\.\d+)?|true|false)\b)"#,
    );
    let found = PATTERN.captures(text)?;
    found
        .get(1)
        .or_else(|| found.get(2))
        .map(|found| found.as_str().to_owned())
}

fn enum_as_text(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    // Two or more single words in quotes, one after the other.
    static PATTERN: RulePattern = RulePattern::new(
        r#"[`"']([A-Za-z_-]{2,20})[`"'](?:\s*(?:,|/|\||or|, or)\s*[`"'][A-Za-z_-]{2,20}[`"'])+"#,
    );
    for argument in tool.arguments() {
        let described = text(argument, "description").unwrap_or_default();
        // Examples, and lists that any text may follow.
        let is_example = [
            "e.g",
            "example",
            "such as",
            "like ",
            "\"true\"",
            "'true'",
            "`true`",
            "or string",
            "or a string",
            "or any ",
            "or text",
            "or custom",
            "or a custom",
            "or the name",
            "or the id",
        ]
        .iter()
        .any(|word| described.to_lowercase().contains(word));
        let is_open = argument.get("enum").is_none()
            && argument.get("anyOf").is_none()
            && argument.get("$ref").is_none()
            && argument.get("oneOf").is_none();
        if let (true, true, false, Some(found)) = (
            is_open,
            types(argument) == ["string"],
            is_example,
            PATTERN.find(&described),
        ) {
            let name = argument.key().unwrap_or_default();
            hits.report(format!(
                "`{name}`: the description lists {}, the schema takes any text",
                found.as_str()
            ))
            .in_definition(argument.pointer());
        }
    }
}

fn format_param(server: &CheckedServer<'_>, _: &Hosts, hits: &mut Hits<'_>) {
    let mut spellings = BTreeSet::new();
    for tool in server.tools {
        let checked = CheckedTool::new(tool);
        match checked.format_argument() {
            Some(format) => {
                let values: Vec<_> = format
                    .get("enum")
                    .map(|list| {
                        list.children()
                            .filter_map(Node::as_str)
                            .map(|text| text.into_owned())
                            .collect()
                    })
                    .unwrap_or_default();
                let name = format.key().unwrap_or_default().into_owned();
                spellings.insert((name, values));
            }
            None if super::tool::reads_by_name(&tool.name) => {
                hits.report_for(
                    &tool.name,
                    "reads, and has no argument such as `response_format` that chooses the format",
                )
                .in_definition("/inputSchema");
            }
            None => {}
        }
    }
    if spellings.len() > 1 {
        let names: Vec<_> = spellings
            .iter()
            .map(|(name, values)| format!("{name}={}", values.join("|")))
            .collect();
        hits.report(format!(
            "the format is chosen in different ways: {}",
            names.join(", ")
        ))
        .in_definition("");
    }
}

fn format_param_needless(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    if let Some(format) = tool.format_argument() {
        let name = format.key().unwrap_or_default();
        hits.report(format!(
            "`{name}` chooses the format; needless beside both forms"
        ))
        .in_definition(format.pointer());
    }
}

fn list_without_paging(answer: &CheckedResult<'_>, hits: &mut Hits<'_>) {
    let tool = CheckedTool::new(&answer.subject.capture.tool);
    let has_paging = tool
        .arguments()
        .iter()
        .any(|argument| argument.key().is_some_and(|name| is_page_name(&name)));
    if has_paging || answer.subject.capture.tool.raw.is_empty() || !answer.is_success() {
        return;
    }
    if let Some(list) = answer
        .records()
        .filter(|list| list.len() as u64 > hits.limit)
    {
        hits.report(format!(
            "{} records, and no argument for fewer or for the next",
            grouped(list.len() as u64)
        ))
        .at(answer.data_at(list));
    }
}

fn dialect(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    for root in [tool.input(), tool.output()]
        .into_iter()
        .flatten()
        .filter(|root| root.get("$schema").is_none())
    {
        for schema in schemas(root) {
            let is_list = |key: &str| {
                schema
                    .get(key)
                    .is_some_and(|node| node.kind() == Kind::Array)
            };
            let is_old = is_list("items")
                || ["additionalItems", "dependencies"]
                    .iter()
                    .any(|key| schema.get(key).is_some());
            if is_old {
                hits.report("keywords of an older dialect, and no `$schema`")
                    .in_definition(schema.pointer());
            }
        }
    }
}

fn duplicate(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    let mut known: HashMap<String, String> = HashMap::new();
    for argument in tool.arguments() {
        let name = argument.key().unwrap_or_default().into_owned();
        match known.entry(words(&name).concat()) {
            Entry::Occupied(other) => {
                hits.report(format!(
                    "`{name}` and `{}` are one name in two spellings",
                    other.get()
                ))
                .in_definition(argument.pointer());
            }
            Entry::Vacant(entry) => drop(entry.insert(name)),
        }
    }
}

fn boolean_subschema(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    for schema in tool.all_schemas() {
        let is_property = schema
            .parent()
            .and_then(|parent| parent.key())
            .is_some_and(|key| key == "properties");
        if schema.kind() == Kind::Bool && is_property {
            hits.report(format!(
                "`{}` is {} in place of a schema",
                schema.key().unwrap_or_default(),
                schema.raw_text()
            ))
            .in_definition(schema.pointer());
        }
    }
}

fn type_array(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    for schema in tool.input_schemas() {
        if let Some(list) = schema.get("type").filter(|list| list.kind() == Kind::Array) {
            hits.report("`type` is a list")
                .in_definition(list.pointer());
        }
    }
}

fn is_typed(schema: Node<'_>) -> bool {
    schema.kind() != Kind::Object
        || [
            "type", "$ref", "enum", "const", "anyOf", "oneOf", "allOf", "not",
        ]
        .iter()
        .any(|key| schema.get(key).is_some())
}

fn anyof_untyped(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    for schema in tool.input_schemas() {
        let branches = schema.get("anyOf").filter(|_| {
            schema
                .parent()
                .is_some_and(|parent| parent.key().is_some_and(|key| key == "properties"))
        });
        for branch in branches
            .into_iter()
            .flat_map(Node::children)
            .filter(|branch| !is_typed(*branch))
        {
            hits.report(format!(
                "a branch of `{}` has no type",
                schema.key().unwrap_or_default()
            ))
            .in_definition(branch.pointer());
        }
    }
}

fn format_unsupported(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    for schema in tool.input_schemas() {
        let format = text(schema, "format").filter(|format| format == "uri");
        if let Some(format) = format.filter(|_| is_type(schema, "string")) {
            hits.report(format!(
                "`format: {format}`, which OpenAI's API refuses in strict schemas"
            ))
            .in_definition(schema.pointer());
        }
    }
}

fn array_without_items(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    for schema in tool.input_schemas() {
        if schema.kind() == Kind::Object
            && is_type(schema, "array")
            && schema.get("items").is_none()
            && schema.get("prefixItems").is_none()
        {
            let name = schema
                .key()
                .map(|key| format!("`{key}`"))
                .unwrap_or_else(|| "an array".to_owned());
            hits.report(format!("{name}: array without item type"))
                .in_definition(schema.pointer());
        }
    }
}

fn root_union(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    let Some(input) = tool.input() else { return };
    for key in ["oneOf", "anyOf", "allOf"] {
        if let Some(union) = input.get(key) {
            hits.report(format!("`{key}` at the top of the input schema"))
                .in_definition(union.pointer());
        }
    }
}

fn refs(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    for schema in tool.input_schemas() {
        if let Some(reference) = schema.get("$ref") {
            hits.report("uses `$ref`")
                .in_definition(reference.pointer());
        }
    }
}

fn recursive(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    for root in [tool.input(), tool.output()].into_iter().flatten() {
        if let Some(at) = cycle(root) {
            hits.report(format!(
                "the schema refers to itself by `{}`",
                text(at, "$ref").unwrap_or_default()
            ))
            .in_definition(at.pointer());
        }
    }
}

/// A reference that leads back to a schema that it is in, also by others.
fn cycle(root: Node<'_>) -> Option<Node<'_>> {
    let mut by_pointer: HashMap<String, Node<'_>> = schemas(root)
        .into_iter()
        .map(|schema| (schema.pointer_from(root.index()), schema))
        .collect();
    let mut target = |node: Node<'_>| {
        let to = text(node, "$ref")?;
        let to = to.strip_prefix('#')?;
        // What is no schema by its place is looked for once.
        let found = by_pointer.get(to).copied().or_else(|| root.at(to))?;
        by_pointer.insert(to.to_owned(), found);
        Some(found)
    };
    // What stands around the schema at hand, by references too, and what has been gone through.
    let (mut around, mut done) = (HashSet::new(), HashSet::new());
    let mut open = vec![(root, false)];
    while let Some((schema, is_left)) = open.pop() {
        if is_left {
            around.remove(&schema.index());
            done.insert(schema.index());
            continue;
        }
        if done.contains(&schema.index()) || !around.insert(schema.index()) {
            continue;
        }
        open.push((schema, true));
        if let Some(to) = target(schema) {
            if around.contains(&to.index()) {
                return Some(schema);
            }
            open.push((to, false));
        }
        open.extend(subschemas(schema).into_iter().map(|inner| (inner, false)));
    }
    None
}

fn empty_enum(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    for schema in tool.input_schemas() {
        let Some(list) = schema.get("enum").filter(|list| list.kind() == Kind::Array) else {
            continue;
        };
        if list.is_empty() {
            hits.report("`enum` has no values")
                .in_definition(list.pointer());
        } else if let Some(empty) = list
            .children()
            .find(|value| value.as_str().is_some_and(|text| text.is_empty()))
        {
            hits.report("`enum` holds an empty text")
                .in_definition(empty.pointer())
                .as_severity(Warning);
        }
    }
}

fn unsatisfiable(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    let pairs = [
        ("minimum", "maximum"),
        ("minLength", "maxLength"),
        ("minItems", "maxItems"),
        ("minProperties", "maxProperties"),
    ];
    for schema in tool.all_schemas() {
        for (low, high) in pairs {
            let number = |key: &str| schema.get(key).and_then(Node::as_f64);
            if let (Some(least), Some(most)) = (number(low), number(high))
                && least > most
            {
                hits.report(format!("`{low}` {least} is above `{high}` {most}"))
                    .in_definition(schema.pointer());
            }
        }
    }
}

fn required_undeclared(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    for schema in tool.input_schemas() {
        let Some(required) = schema
            .get("required")
            .filter(|list| list.kind() == Kind::Array)
        else {
            continue;
        };
        let is_closed = schema.get("additionalProperties").and_then(Node::as_bool) == Some(false);
        let declared = names(schema.get("properties"));
        for name in required.children() {
            let text = name.as_str().unwrap_or_default();
            if !declared.contains(&text) {
                let hit = hits.report(format!("`{text}` is required and not declared"));
                hit.in_definition(name.pointer());
                if !is_closed {
                    hit.as_severity(Warning);
                }
            }
        }
    }
}

fn required_as_boolean(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    for schema in tool.input_schemas() {
        if let Some(flag) = schema
            .get("required")
            .filter(|flag| flag.kind() == Kind::Bool)
        {
            hits.report(format!(
                "`required` of `{}` is {}, not a list",
                schema.key().unwrap_or_default(),
                flag.raw_text()
            ))
            .in_definition(flag.pointer());
        }
    }
}

fn untyped_property(tool: &CheckedTool<'_>, hits: &mut Hits<'_>) {
    for argument in tool.arguments() {
        if !is_typed(argument) {
            hits.report(format!(
                "`{}` has no type",
                argument.key().unwrap_or_default()
            ))
            .in_definition(argument.pointer());
        }
    }
}
