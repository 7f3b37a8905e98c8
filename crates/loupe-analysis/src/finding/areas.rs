//! The list of all rules, by area, and how their examples are written.

use serde::Deserialize;

use super::rule::Rule;
use super::{
    annotations, definition, drift, host, markdown, parity, prompt, protocol, resource, schema,
    shape, size,
};

/// Rules about one thing.
pub struct Area {
    pub id: &'static str,
    /// What they are about, for people.
    pub about: &'static str,
    pub rules: &'static [Rule],
    examples: &'static str,
}

/// Every area, in display order.
pub static AREAS: &[Area] = &[
    area(
        "parity",
        "What the text and structuredContent say",
        parity::RULES,
        include_str!("parity.toml"),
    ),
    area(
        "schema",
        "Schemas of arguments and of results",
        schema::RULES,
        include_str!("schema.toml"),
    ),
    area(
        "protocol",
        "Messages, errors, elicitation, numbers",
        protocol::RULES,
        include_str!("protocol.toml"),
    ),
    area(
        "annotations",
        "What a tool declares of its effects",
        annotations::RULES,
        include_str!("annotations.toml"),
    ),
    area(
        "size",
        "How much arrives, and what is cut",
        size::RULES,
        include_str!("size.toml"),
    ),
    area(
        "markdown",
        "Texts that break or hide things when rendered",
        markdown::RULES,
        include_str!("markdown.toml"),
    ),
    area(
        "shape",
        "How the data is laid out, and what that costs",
        shape::RULES,
        include_str!("shape.toml"),
    ),
    area(
        "definition",
        "Names and descriptions of tools",
        definition::RULES,
        include_str!("definition.toml"),
    ),
    area(
        "host",
        "What hosts do not pass on to their models",
        host::RULES,
        include_str!("host.toml"),
    ),
    area(
        "resource",
        "Resources and their templates",
        resource::RULES,
        include_str!("resource.toml"),
    ),
    area(
        "prompt",
        "Prompts",
        prompt::RULES,
        include_str!("prompt.toml"),
    ),
    area(
        "drift",
        "What changed since a saved list of tools",
        drift::RULES,
        include_str!("drift.toml"),
    ),
];

const fn area(
    id: &'static str,
    about: &'static str,
    rules: &'static [Rule],
    examples: &'static str,
) -> Area {
    Area {
        id,
        about,
        rules,
        examples,
    }
}

/// Every rule.
pub fn rules() -> impl Iterator<Item = &'static Rule> + Clone {
    AREAS.iter().flat_map(|area| area.rules)
}

/// The rule with this id.
pub fn rule(id: &str) -> Option<&'static Rule> {
    rules().find(|rule| rule.id == id)
}

/// What a rule is shown by: something on which it fires and something on which it does not.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Example {
    pub rule: String,
    /// A `result`, a tool's definition, a list of them or of other entries: JSON.
    pub fires: String,
    pub silent: String,
    /// The definition of the tool that answered.
    pub tool: Option<String>,
    /// The arguments of the call.
    pub arguments: Option<String>,
    /// Before the change, of rules about what changed; as `fires`.
    pub before: Option<String>,
    /// The revision of the protocol, where it matters.
    pub protocol: Option<String>,
    /// The profile under which the rule speaks, where no default one has it.
    pub profile: Option<String>,
    /// The host that is named, where the rule speaks of named ones alone.
    pub host: Option<String>,
}

#[derive(Deserialize)]
struct ExampleFile {
    example: Vec<Example>,
}

/// The examples of an area.
///
/// # Errors
/// What is wrong with the file, which a test rules out.
pub fn examples(area: &Area) -> Result<Vec<Example>, String> {
    toml::from_str::<ExampleFile>(area.examples)
        .map(|file| file.example)
        .map_err(|error| format!("{}: {error}", area.id))
}
