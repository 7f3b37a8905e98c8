//! `resources` and `read`: what a server offers to read, and one of it in the same views as a tool's answer.

use serde_json::Value;

use super::args;
use super::client::with_session;
use super::command;
use super::output::{self, columns, one_line};
use super::{Done, call, view};
use loupe_analysis::contract;
use loupe_client::Listing;
use loupe_core::capture::{Resource, Server, TemplateValue, expand_template, template_names};
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
        async |client| {
            let plain = client
                .list(Listing::Resources)
                .await?
                .into_iter()
                .map(|raw| Resource::read(raw, false));
            let templates = client
                .list(Listing::Templates)
                .await?
                .into_iter()
                .map(|raw| Resource::read(raw, true));
            Ok((client.server(), plain.chain(templates).collect::<Vec<_>>()))
        },
        |(server, resources), _| {
            let text = if args.print.json {
                contract::resources(&server, &resources, &tokenizer)
            } else {
                page(&server, &resources)
            };
            output::page_or(args.print.json, &text)?;
            Ok(0)
        },
    )
}

fn page(server: &Server, resources: &[Resource]) -> String {
    let templates = resources
        .iter()
        .filter(|resource| resource.is_template)
        .count();
    let mut page = format!(
        "{}\n",
        one_line(&format!(
            "{} · {} · {}",
            server.heading(),
            number_of((resources.len() - templates) as u64, "resources"),
            number_of(templates as u64, "templates")
        ))
    );
    if resources.is_empty() {
        return page;
    }
    let mut rows = vec![
        ["URI", "TYPE", "BYTES", "WHAT IT IS"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for resource in resources {
        let what = resource
            .title
            .as_deref()
            .or(resource.description.as_deref())
            .unwrap_or(&resource.name);
        rows.push(vec![
            one_line(&resource.uri),
            one_line(resource.mime_type.as_deref().unwrap_or("–")),
            resource
                .size
                .map_or_else(|| "–".to_owned(), loupe_core::number::grouped),
            one_line(what),
        ]);
    }
    page.push_str(&format!("\n{}", columns(&rows, &[2])));
    for resource in resources {
        for fault in &resource.faults {
            page.push_str(&format!(
                "odd {}: {}\n",
                one_line(&resource.uri),
                one_line(fault)
            ));
        }
    }
    page
}

pub fn read(args: &command::ReadArgs) -> Done {
    let fetch = &args.fetch;
    let asked = fetch.view_request()?;
    let uri = fill_template(&args.uri, args.args.as_deref())?;
    if uri != args.uri {
        output::note(asked.is_quiet(), &format!("reading {uri}"));
    }
    fetch.show(&fetch.source.required()?, &asked, async |client| {
        let params = format!(r#"{{"uri":{}}}"#, write::string(&uri));
        Ok(client
            .read(
                &format!("reading {uri}"),
                call::capture_id("resource"),
                "resources/read",
                params,
            )
            .await)
    })
}

/// The URI to read: a template filled in with what is given, anything else as it was typed.
fn fill_template(uri: &str, given: Option<&str>) -> Result<String, Problem> {
    let names = template_names(uri);
    let listed = || {
        names
            .iter()
            .map(|name| format!("`{name}`"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let Some(given) = given else {
        let shape = names
            .iter()
            .map(|name| format!("{}: …", write::string(name)))
            .collect::<Vec<_>>()
            .join(", ");
        return if names.is_empty() {
            Ok(uri.to_owned())
        } else {
            let hint = format!("add `--args '{{{shape}}}'`; what is left out has no value");
            Err(Problem::new(
                ProblemKind::Usage,
                format!("the URI is a template with {}", listed()),
            )
            .at(uri)
            .hint(hint))
        };
    };
    let wrong = |what: String| Problem::new(ProblemKind::Usage, what).at("--args");
    let text = call::read_arguments(Some(given))?;
    let values: serde_json::Map<String, Value> = serde_json::from_str(&text)
        .map_err(|error| wrong(format!("not a JSON object: {error}")))?;
    if let Some(name) = values.keys().find(|name| !names.contains(name)) {
        let has = if names.is_empty() {
            "is no template".to_owned()
        } else {
            format!("has {}", listed())
        };
        return Err(
            wrong(format!("the URI has no place for `{name}`")).hint(format!("the URI {has}"))
        );
    }
    Ok(expand_template(uri, |name| {
        template_value(values.get(name)?)
    }))
}

/// `null` is no value; numbers and the like are written as in JSON.
fn template_value(value: &Value) -> Option<TemplateValue> {
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    Some(match value {
        Value::Null => return None,
        Value::Array(items) => TemplateValue::List(items.iter().map(text).collect()),
        Value::Object(members) => TemplateValue::Pairs(
            members
                .iter()
                .map(|(key, value)| (key.clone(), text(value)))
                .collect(),
        ),
        single => TemplateValue::Text(text(single)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_filled_in_from_json() {
        let fill = |uri: &str, given: Option<&str>| {
            fill_template(uri, given).map_err(|problem| problem.message())
        };
        let topic = r#"{"topic": "a/b ü", "limit": 5, "tags": ["x", "y"], "none": null}"#;
        for (uri, expected) in [
            (
                "ev://day/{topic}{none,limit,tags}",
                "ev://day/a%2Fb%20%C3%BC5,x,y",
            ),
            (
                "ev://café/{+topic}{?limit,tags*,none}",
                "ev://caf%C3%A9/a/b%20%C3%BC?limit=5&tags=x&tags=y",
            ),
        ] {
            assert_eq!(fill(uri, Some(topic)).unwrap(), expected);
        }
        assert_eq!(fill("ev://a b", None).unwrap(), "ev://a b");
        assert_eq!(
            fill("ev://{a}{?b}", None).unwrap_err(),
            "the URI is a template with `a`, `b` (ev://{a}{?b})"
        );
        assert_eq!(
            fill("ev://{a}", Some(r#"{"c":1}"#)).unwrap_err(),
            "the URI has no place for `c` (--args)"
        );
        assert!(
            fill("ev://{a}", Some("[1]"))
                .unwrap_err()
                .starts_with("not a JSON object")
        );
    }
}
