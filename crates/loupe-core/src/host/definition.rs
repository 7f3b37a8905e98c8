//! What the model of a host sees of a tool's definition.

use std::sync::Arc;

use super::rules::{DefinitionRules, Handling, Host, LimitUnit};
use super::schema;
use super::template::{Template, TemplatePiece, Var};
use crate::capture::Tool;
use crate::json::write;

/// A tool's definition as a host's model sees it. What was not verified is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Definition {
    pub name: Option<String>,
    /// Why the name may differ: a shortening or an option of the host.
    pub name_note: Option<String>,
    pub namespace: Option<String>,
    pub description: Option<Arc<str>>,
    /// Whether the description was over the host's cap.
    pub is_description_cut: bool,
    /// Whether these are passed on.
    pub title: Option<bool>,
    pub output_schema: Option<bool>,
    pub annotations: Option<bool>,
    /// What happens to the input schema, in words.
    pub input_schema: Option<String>,
    /// Whether the model gets the definition at once or only when it asks, in words.
    pub loading: Option<String>,
    pub instructions: Option<String>,
    pub certainty: Option<String>,
    /// Whether the input schema is counted as the model gets it; else, where the rule cannot be written, as sent.
    pub(crate) is_schema_known: bool,
}

impl Definition {
    /// Whether all of it that counts is known: its name, and the input schema as the model gets it.
    pub fn is_known(&self) -> bool {
        self.name.is_some() && self.is_schema_known
    }
}

impl Host {
    /// The definition of a tool as this host's model sees it; `server` is the name that the host's configuration gives.
    /// With it what is counted: name, description and the input schema as the host's rule leaves it, as compact JSON. The
    /// provider's own frame around it is not known.
    pub fn definition(&self, tool: &Tool, server: &str) -> (Definition, String) {
        let rules = &self.definition;
        let verified = |text: &Option<String>| text.clone().filter(|text| text != "not verified");
        let (name, shortened) = name(rules, tool, server);
        let (description, is_description_cut) = description(rules, tool, server);
        let namespace = rules
            .namespace
            .as_ref()
            .map(|template| allowed(rules, &fill(template, tool, server)));
        let option = rules
            .name_option
            .as_ref()
            .map(|template| format!("with an option: {}", fill(template, tool, server)));
        let mut text = String::from("{\"name\":");
        let full_name = match (&namespace, &name) {
            (Some(namespace), Some(name)) => Some(format!("{namespace}.{name}")),
            _ => name.clone(),
        };
        text.push_str(&write::string(full_name.as_deref().unwrap_or(&tool.name)));
        if let Some(description) = &description {
            text.push_str(",\"description\":");
            text.push_str(&write::string(description));
        }
        let sent = |bytes: &Option<bytes::Bytes>| {
            bytes
                .as_ref()
                .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        };
        let schema = sent(&tool.input_schema).map(|schema| self.shown_schema(&schema));
        let is_schema_known = schema.as_ref().is_none_or(|schema| schema.is_known);
        if let Some(schema) = schema {
            text.push_str(",\"inputSchema\":");
            text.push_str(&schema.text);
        }
        if let Some(schema) =
            sent(&tool.output_schema).filter(|_| rules.output_schema == Some(true))
        {
            text.push_str(",\"outputSchema\":");
            text.push_str(&schema);
        }
        if let Some(title) = tool.title.as_ref().filter(|_| rules.title == Some(true)) {
            text.push_str(",\"title\":");
            text.push_str(&write::string(title));
        }
        text.push('}');
        let definition = Definition {
            name,
            name_note: shortened.or(option),
            namespace,
            description: description.map(Arc::from),
            is_description_cut,
            title: rules.title,
            output_schema: rules.output_schema,
            annotations: rules.annotations,
            input_schema: verified(&rules.input_schema),
            loading: verified(&rules.loading),
            instructions: rules.instructions.clone(),
            certainty: rules.certainty.clone(),
            is_schema_known,
        };
        (definition, text)
    }
}

impl Host {
    /// An input schema as this host leaves it.
    pub(super) fn shown_schema(&self, sent: &str) -> schema::Shown {
        let rules = &self.definition;
        schema::show_schema(rules.input_schema.as_deref(), rules.input_schema_max, sent)
    }
}

fn fill(template: &Template, tool: &Tool, server: &str) -> String {
    template.fill(|var| value(var, tool, server))
}

fn value(var: Var, tool: &Tool, server: &str) -> String {
    match var {
        Var::Server => server.to_owned(),
        Var::Tool | Var::Name => tool.name.clone(),
        Var::Title => tool.title.clone().unwrap_or_default(),
        Var::Description => tool.description.clone().unwrap_or_default(),
        _ => String::new(),
    }
}

/// Every character that the host does not allow, replaced.
fn allowed(rules: &DefinitionRules, text: &str) -> String {
    let (Some(charset), Some(with)) = (&rules.name_charset, &rules.name_replace) else {
        return text.to_owned();
    };
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        // A host that has no capitals writes them small.
        let char = if char.is_ascii_uppercase() && !charset.contains(char) {
            char.to_ascii_lowercase()
        } else {
            char
        };
        if charset.contains(char) {
            out.push(char);
        } else {
            out.push_str(with);
        }
    }
    out
}

/// The name that the host makes of a tool's, however long it gets.
pub(super) fn full_name(rules: &DefinitionRules, tool: &Tool, server: &str) -> Option<String> {
    let template = rules
        .name
        .as_ref()
        .filter(|template| template.source() != "not verified")?;
    let mut name = String::new();
    for piece in template.pieces() {
        let text = match piece {
            TemplatePiece::Literal(literal) => literal.clone(),
            TemplatePiece::Var(Var::Tool) => {
                if let Some(max) = rules.prefix_max.filter(|max| name.chars().count() > *max) {
                    // What parts it from the tool's name stays.
                    let last = name.chars().last();
                    name = name.chars().take(max - 1).chain(last).collect();
                }
                tool.name.clone()
            }
            TemplatePiece::Var(var) => value(*var, tool, server),
        };
        name.push_str(&allowed(rules, &text));
    }
    Some(name)
}

/// How long a tool's name may be beside its namespace, of which a provider makes one name with two characters between.
pub(super) fn name_room(rules: &DefinitionRules, server: &str) -> Option<usize> {
    let max = rules.name_max?;
    Some(rules.namespace.as_ref().map_or(max, |namespace| {
        let namespace = namespace.fill(|var| match var {
            Var::Server => server.to_owned(),
            _ => String::new(),
        });
        max.saturating_sub(namespace.chars().count() + 2)
    }))
}

fn name(rules: &DefinitionRules, tool: &Tool, server: &str) -> (Option<String>, Option<String>) {
    let Some(name) = full_name(rules, tool, server) else {
        return (None, None);
    };
    let length = name.chars().count();
    let Some(max) = name_room(rules, server).filter(|max| length > *max) else {
        return (Some(name), None);
    };
    let (how, is_cut) = match rules.name_over {
        Some(Handling::Cut) => (": cut", true),
        Some(Handling::Hashed) => (": cut, with a hash", true),
        Some(Handling::Shortened) => (": shortened", true),
        Some(Handling::Omitted) => (": the tool is left out", false),
        Some(Handling::Refused) => (": every request is refused", false),
        _ => ("", false),
    };
    let note = format!("{length} characters are more than {max}{how}");
    let shown = if is_cut {
        name.chars().take(max).collect()
    } else {
        name
    };
    (Some(shown), Some(note))
}

/// The description before any cut.
pub(super) fn whole_description(
    rules: &DefinitionRules,
    tool: &Tool,
    server: &str,
) -> Option<String> {
    let template = rules.description.as_ref()?;
    let own = tool.description.clone().filter(|text| !text.is_empty());
    let own = own.or_else(|| {
        rules
            .description_fallback
            .as_ref()
            .map(|template| fill(template, tool, server))
    });
    Some(template.fill(|var| match var {
        Var::Description => own.clone().unwrap_or_default(),
        var => value(var, tool, server),
    }))
}

/// The description that the model gets, and whether it was over the host's cap.
pub(super) fn description(
    rules: &DefinitionRules,
    tool: &Tool,
    server: &str,
) -> (Option<String>, bool) {
    let Some(text) = whole_description(rules, tool, server) else {
        return (None, false);
    };
    let Some(max) = rules.description_max else {
        return (Some(text), false);
    };
    let kept = kept_bytes(&text, max, rules.description_unit);
    if kept == text.len() {
        return (Some(text), false);
    }
    let notice = rules.description_notice.as_deref().unwrap_or_default();
    (Some(format!("{}{notice}", &text[..kept])), true)
}

/// Bytes of the text that stay within so many units.
pub(super) fn kept_bytes(text: &str, max: u64, unit: Option<LimitUnit>) -> usize {
    let size = |char: char| match unit.unwrap_or(LimitUnit::Chars) {
        LimitUnit::Bytes => char.len_utf8() as u64,
        LimitUnit::Scalars => 1,
        _ => char.len_utf16() as u64,
    };
    let mut used = 0;
    text.char_indices()
        .find(|(_, char)| {
            used += size(*char);
            used > max
        })
        .map_or(text.len(), |(at, _)| at)
}
