//! A tool's definition as rules look at it.

use std::borrow::Cow;
use std::collections::HashSet;

use loupe_core::capture::Tool;
use loupe_core::json::{Doc, Kind, Node};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    Breaking,
    Compatible,
    Wording,
    Description,
    Annotations,
    /// Of all definitions: tokens before and now.
    Cost(u64, u64),
}

/// Names of arguments that choose the format of a result.
pub(crate) const FORMAT_NAMES: [&str; 4] = [
    "response_format",
    "responseFormat",
    "format",
    "output_format",
];

/// One thing that is not what it was.
#[derive(Clone, Debug)]
pub(crate) struct ToolChange {
    pub(super) kind: ChangeKind,
    pub(super) tool: String,
    pub(super) message: String,
    pub(super) path: String,
}

/// A tool's definition with what rules need of it.
pub(crate) struct CheckedTool<'a> {
    pub tool: &'a Tool,
    pub doc: Doc,
}

/// Where a schema is in another: what may follow.
const OF_NAMES: [&str; 5] = [
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
];
const OF_SCHEMAS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
const SCHEMA: [&str; 10] = [
    "items",
    "additionalProperties",
    "unevaluatedProperties",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedItems",
];

impl<'a> CheckedTool<'a> {
    pub fn new(tool: &'a Tool) -> Self {
        Self {
            tool,
            doc: Doc::parse(tool.raw.clone()),
        }
    }

    pub fn member(&self, name: &str) -> Option<Node<'_>> {
        self.doc.root()?.get(name)
    }

    pub fn input(&self) -> Option<Node<'_>> {
        self.member("inputSchema")
    }

    pub fn output(&self) -> Option<Node<'_>> {
        self.member("outputSchema")
    }

    /// The arguments at the top of the input schema.
    pub fn arguments(&self) -> Vec<Node<'_>> {
        let properties = self
            .input()
            .and_then(|input| input.get("properties"))
            .filter(|node| node.kind() == Kind::Object);
        properties
            .map(|properties| properties.children().collect())
            .unwrap_or_default()
    }

    /// The argument that chooses the format of a result.
    pub fn format_argument(&self) -> Option<Node<'_>> {
        self.arguments().into_iter().find(|argument| {
            let is_named = argument
                .key()
                .is_some_and(|key| FORMAT_NAMES.contains(&&*key));
            let says = argument.raw_text().to_lowercase();
            is_named && (says.contains("json") || says.contains("markdown"))
        })
    }

    /// Every schema within the input schema, itself included.
    pub(crate) fn input_schemas(&self) -> Vec<Node<'_>> {
        self.input().map(schemas).unwrap_or_default()
    }

    /// The same of both schemas.
    pub(crate) fn all_schemas(&self) -> Vec<Node<'_>> {
        [self.input(), self.output()]
            .into_iter()
            .flatten()
            .flat_map(schemas)
            .collect()
    }
}

/// Every schema within a schema, itself included. Data such as `default` and `enum` holds none.
pub fn schemas(root: Node<'_>) -> Vec<Node<'_>> {
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(schema) = open.pop() {
        found.push(schema);
        open.extend(subschemas(schema));
    }
    found
}

/// The schemas directly within a schema.
pub(crate) fn subschemas(schema: Node<'_>) -> Vec<Node<'_>> {
    let mut found = Vec::new();
    for member in schema.children().filter(|_| schema.kind() == Kind::Object) {
        let key = member.key().unwrap_or_default();
        if OF_NAMES.contains(&&*key) && member.kind() == Kind::Object
            || OF_SCHEMAS.contains(&&*key) && member.kind() == Kind::Array
        {
            found.extend(member.children());
        } else if SCHEMA.contains(&&*key) {
            match member.kind() {
                Kind::Array => found.extend(member.children()),
                _ => found.push(member),
            }
        }
    }
    found
}

/// The names of the members of an object: looking each up in it takes the square of their number.
pub fn names(object: Option<Node<'_>>) -> HashSet<Cow<'_, str>> {
    object
        .into_iter()
        .flat_map(Node::children)
        .filter_map(Node::key)
        .collect()
}

/// Whether the schema is of a type, also among several.
pub(crate) fn is_type(schema: Node<'_>, name: &str) -> bool {
    types(schema).iter().any(|own| own == name)
}

/// The types that a schema names.
pub fn types(schema: Node<'_>) -> Vec<String> {
    let text = |node: Node<'_>| node.as_str().map(|text| text.into_owned());
    match schema.get("type") {
        Some(list) if list.kind() == Kind::Array => list.children().filter_map(text).collect(),
        Some(one) => text(one).into_iter().collect(),
        None => Vec::new(),
    }
}

/// A member that is a text.
pub fn text(node: Node<'_>, name: &str) -> Option<String> {
    Some(node.get(name)?.as_str()?.into_owned())
}

/// Whether a name of an argument asks for something by its number or key: `companyID`, `user_id`.
pub(crate) fn is_id_name(name: &str) -> bool {
    words(name)
        .last()
        .is_some_and(|word| word == "id" || word == "ids")
}

/// The words of a name: `getUser`, `get_user` and `get-user` are two each.
pub fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut was_lower = false;
    for char in name.chars() {
        if !char.is_alphanumeric() || (was_lower && char.is_uppercase()) {
            words.push(String::new());
        }
        if char.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(char.to_lowercase());
        }
        was_lower = char.is_lowercase() || char.is_numeric();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// A word without its plural.
pub fn singular(word: &str) -> String {
    match word.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None if word.ends_with("ches") || word.ends_with("shes") || word.ends_with("xes") => {
            word[..word.len() - 2].to_owned()
        }
        None => word.strip_suffix('s').unwrap_or(word).to_owned(),
    }
}

const READS: [&str; 14] = [
    "get", "list", "search", "find", "read", "fetch", "show", "describe", "query", "lookup",
    "view", "count", "status", "test",
];
const WRITES: [&str; 23] = [
    "create",
    "add",
    "update",
    "set",
    "delete",
    "remove",
    "write",
    "edit",
    "post",
    "send",
    "insert",
    "put",
    "move",
    "rename",
    "drop",
    "purge",
    "clear",
    "save",
    "append",
    "upload",
    "overwrite",
    "destroy",
    "reset",
];

/// Whether a name sounds as if the tool only reads.
pub(crate) fn reads_by_name(name: &str) -> bool {
    let words = words(name);
    words.iter().any(|word| READS.contains(&word.as_str()))
        && !words.iter().any(|word| WRITES.contains(&word.as_str()))
}

/// The first word of a name that says that the tool changes something.
pub(crate) fn write_word(name: &str) -> Option<String> {
    let words = words(name);
    // `get_delete_status` reads.
    let first = words
        .iter()
        .find(|word| READS.contains(&word.as_str()) || WRITES.contains(&word.as_str()))?;
    WRITES.contains(&first.as_str()).then(|| first.clone())
}
