//! A registry's description of one server (`server.json`): packages to start and remotes to reach. What it asks for, by
//! `{name}` and `variables`, becomes an input like any other file's.

use serde_json::{Map, Value};

use super::{Input, Reader, RemoteKind, ServerAddress, text, written};
use crate::source::secret::looks_secret;

type Object = Map<String, Value>;

fn list<'a>(object: &'a Object, key: &str) -> impl Iterator<Item = &'a Object> {
    object
        .get(key)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
}

pub(super) fn read(reader: &mut Reader, root: &Value) {
    let Some(root) = root.as_object() else { return };
    let name = text(root, "name").unwrap_or_else(|| "server".to_owned());
    for package in list(root, "packages") {
        match command(reader, package) {
            Ok((reach, notes)) => reader.add(&name, reach, false, notes),
            Err(why) => reader.import.notes.push(why),
        }
    }
    for remote in list(root, "remotes") {
        let Some(url) = text(remote, "url") else {
            continue;
        };
        let url = filled(reader, &url, remote);
        let kind = if text(remote, "type").as_deref() == Some("sse") {
            RemoteKind::Sse
        } else {
            RemoteKind::StreamableHttp
        };
        let headers = list(remote, "headers")
            .filter_map(|header| wanted(reader, header))
            .collect();
        reader.add(
            &name,
            ServerAddress::Remote { url, headers, kind },
            false,
            Vec::new(),
        );
    }
}

fn command(reader: &mut Reader, package: &Object) -> Result<(ServerAddress, Vec<String>), String> {
    let kind = text(package, "registryType").unwrap_or_default();
    let identifier = text(package, "identifier").unwrap_or_default();
    let version = text(package, "version").filter(|version| !version.is_empty());
    let exact = version.as_ref().map_or(identifier.clone(), |version| {
        format!("{identifier}@{version}")
    });
    let mut notes = Vec::new();
    let runtime = arguments(reader, package, "runtimeArguments", &mut notes);
    let own = arguments(reader, package, "packageArguments", &mut notes);
    let words = |words: &[&str]| {
        words
            .iter()
            .map(|word| (*word).to_owned())
            .collect::<Vec<_>>()
    };
    let (program, args) = match kind.as_str() {
        "npm" => ("npx", [words(&["-y"]), runtime, vec![exact], own].concat()),
        "pypi" => ("uvx", [runtime, vec![exact], own].concat()),
        "oci" => (
            "docker",
            [
                words(&["run", "-i", "--rm"]),
                runtime,
                vec![identifier],
                own,
            ]
            .concat(),
        ),
        "nuget" => (
            "dnx",
            [
                runtime,
                vec![exact],
                words(&["--yes"]),
                if own.is_empty() {
                    own
                } else {
                    [words(&["--"]), own].concat()
                },
            ]
            .concat(),
        ),
        other => {
            return Err(format!(
                "a package of type `{other}` is left out: Loupe does not know how it is started"
            ));
        }
    };
    let env = list(package, "environmentVariables")
        .filter_map(|variable| wanted(reader, variable))
        .collect();
    let program = text(package, "runtimeHint").unwrap_or_else(|| program.to_owned());
    Ok((
        ServerAddress::Command {
            program,
            args,
            env,
            cwd: None,
        },
        notes,
    ))
}

/// Arguments with a value, a default or a need for one; the others are left out, and said.
fn arguments(
    reader: &mut Reader,
    package: &Object,
    key: &str,
    notes: &mut Vec<String>,
) -> Vec<String> {
    let mut args = Vec::new();
    for argument in list(package, key) {
        let name = text(argument, "name");
        let asked = name
            .clone()
            .or_else(|| text(argument, "valueHint"))
            .unwrap_or_else(|| "argument".to_owned());
        match value(reader, argument, asked.trim_start_matches('-')) {
            Some(value) => args.extend(
                name.filter(|_| text(argument, "type").as_deref() == Some("named"))
                    .into_iter()
                    .chain([value]),
            ),
            None => notes.push(format!("the optional argument `{asked}` is left out")),
        }
    }
    args
}

/// A variable or header: its value, its default, else what asks for it if it is needed.
fn wanted(reader: &mut Reader, described: &Object) -> Option<(String, String)> {
    let name = text(described, "name")?;
    // A variable of the user's own environment, unless nobody could tell from its name that it is a secret.
    let is_plain = !is(described, "isSecret") || looks_secret(&name);
    let given = described.get("value").or_else(|| described.get("default"));
    let value = if given.is_none() && is_plain {
        is(described, "isRequired")
            .then(|| format!("${{{}}}", name.replace('-', "_").to_uppercase()))
    } else {
        value(reader, described, &name)
    };
    Some((name, value?))
}

fn value(reader: &mut Reader, described: &Object, name: &str) -> Option<String> {
    match described.get("value").or_else(|| described.get("default")) {
        Some(given) => Some(filled(reader, &written(given), described)),
        None => is(described, "isRequired").then(|| ask(reader, name, described)),
    }
}

fn is(object: &Object, flag: &str) -> bool {
    object.get(flag) == Some(&Value::Bool(true))
}

/// The text with each `{name}` that `variables` describes as an input.
fn filled(reader: &mut Reader, template: &str, described: &Object) -> String {
    let variables = described.get("variables").and_then(Value::as_object);
    variables
        .into_iter()
        .flatten()
        .fold(template.to_owned(), |text, (name, variable)| {
            let place = format!("{{{name}}}");
            match variable.as_object() {
                Some(variable) if text.contains(&place) => {
                    let asked = ask(reader, name, variable);
                    text.replace(&place, &asked)
                }
                _ => text,
            }
        })
}

/// The placeholder of an input, which is added.
fn ask(reader: &mut Reader, name: &str, described: &Object) -> String {
    let options = described
        .get("choices")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(written)
        .collect();
    let input = Input {
        id: name.to_owned(),
        about: text(described, "description").unwrap_or_default(),
        is_secret: is(described, "isSecret"),
        default: described
            .get("value")
            .or_else(|| described.get("default"))
            .map(written),
        options,
    };
    // Two packages of one server ask for the same thing once.
    if !reader.inputs.iter().any(|known| known.id == input.id) {
        reader.inputs.push(input);
    }
    format!("${{input:{name}}}")
}
