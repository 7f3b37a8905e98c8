//! What controls a schema asks for: JSON Schema 2020-12 and the drafts before it, as far as a form can follow them.
//!
//! A part of a schema is read once, wherever it is referred to from, so that a type may contain itself. A keyword that says more
//! than a control can (`not`, `if`, …) makes its own field JSON and no other.

use std::collections::HashMap;

use loupe_core::json::{Kind, Node};

/// More parts than this are JSON to type: no form shows thousands of controls.
const MAX_PARTS: usize = 2_000;

/// What a control cannot follow. The root of a schema may say it: there the check of the whole form does.
const BEYOND: &[&str] = &[
    "not",
    "if",
    "dependentSchemas",
    "$dynamicRef",
    "$recursiveRef",
    "contains",
    "propertyNames",
];

/// A part of a schema, by its place among those read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SchemaId(usize);

/// What kind of control a value has.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldKind {
    String {
        multiline: bool,
        /// The schema's `format`, or `base64` for a `contentEncoding`.
        format: Option<String>,
    },
    /// Limits as the schema spells them.
    Number {
        integer: bool,
        minimum: Option<String>,
        maximum: Option<String>,
    },
    Boolean,
    Enum(Vec<Choice>),
    /// A list of these.
    Array(SchemaId),
    /// A list whose places have schemas of their own, with one for what follows.
    Tuple(Vec<SchemaId>, Option<SchemaId>),
    Object {
        properties: Vec<Property>,
        /// Members of any name.
        others: Option<SchemaId>,
    },
    /// One of several, which the user chooses.
    Union(Vec<Branch>),
    /// Whatever else: edited as JSON.
    Json,
}

/// One value of an enumeration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    pub json: String,
    /// Where the schema has a name for it.
    pub title: Option<String>,
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    pub name: String,
    pub schema: SchemaId,
    pub required: bool,
}

/// One of several schemas.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    pub title: String,
    pub schema: SchemaId,
}

/// What is known of a value from its schema.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldSchema {
    pub kind: FieldKind,
    pub nullable: bool,
    /// The schema's default as JSON text; shown, never sent by itself.
    pub default: Option<String>,
    /// The first example as JSON text.
    pub example: Option<String>,
    pub description: Option<String>,
    /// How few items a list may have.
    pub min_items: usize,
}

/// Every part of a tool's input schema that a form has a control for.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldSchemas(Vec<FieldSchema>);

impl FieldSchemas {
    /// What is empty or no schema has no fields. The first part is the root.
    pub fn read(root: Option<Node<'_>>) -> Self {
        let Some(root) = root else {
            return Self(Vec::new());
        };
        let mut reader = Reader {
            root,
            parts: Vec::new(),
            known: HashMap::new(),
        };
        reader.part(Vec::new(), &[root], None);
        Self(reader.parts)
    }

    pub fn get(&self, id: SchemaId) -> &FieldSchema {
        &self.0[id.0]
    }

    /// The schema as a whole; `None` where there is none.
    pub fn whole(&self) -> Option<SchemaId> {
        (!self.0.is_empty()).then_some(SchemaId(0))
    }

    /// All parts, each once.
    pub fn iter(&self) -> impl Iterator<Item = &FieldSchema> {
        self.0.iter()
    }

    /// The members of the arguments.
    pub fn root(&self) -> &[Property] {
        match self.0.first().map(|root| &root.kind) {
            Some(FieldKind::Object { properties, .. }) => properties,
            _ => &[],
        }
    }
}

/// A schema that applies. Of one whose branch is chosen, the choice is made.
#[derive(Clone, Copy)]
struct Part<'d> {
    node: Node<'d>,
    is_chosen: bool,
}

impl<'d> Part<'d> {
    fn of(node: Node<'d>) -> Self {
        Self {
            node,
            is_chosen: false,
        }
    }
}

type Key = (Vec<(usize, bool)>, Option<&'static str>);

struct Reader<'d> {
    root: Node<'d>,
    parts: Vec<FieldSchema>,
    known: HashMap<Key, SchemaId>,
}

impl<'d> Reader<'d> {
    /// What several schemas say together with those that were gathered around them; of several types, the one given.
    fn part(
        &mut self,
        around: Vec<Part<'d>>,
        nodes: &[Node<'d>],
        only: Option<&'static str>,
    ) -> SchemaId {
        let mut all = around;
        let mut is_whole = true;
        for node in nodes {
            is_whole &= self.gather(*node, &mut all);
        }
        let mut key: Key = (
            all.iter()
                .map(|part| (part.node.index(), part.is_chosen))
                .collect(),
            only,
        );
        key.0.sort_unstable();
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let id = SchemaId(self.parts.len());
        let description = texts(&all, "description").or_else(|| texts(&all, "title"));
        let raw = |name: &str| {
            all.iter()
                .find_map(|part| part.node.get(name))
                .map(|node| node.raw_text().into_owned())
        };
        let example = all
            .iter()
            .find_map(|part| part.node.get("examples"))
            .and_then(|examples| examples.child(0));
        self.parts.push(FieldSchema {
            kind: FieldKind::Json,
            nullable: false,
            default: raw("default"),
            example: example.map(|node| node.raw_text().into_owned()),
            description,
            min_items: all
                .iter()
                .filter_map(|part| part.node.get("minItems")?.as_i64()?.try_into().ok())
                .max()
                .unwrap_or(0),
        });
        self.known.insert(key, id);
        let is_beyond = |part: &Part<'d>| {
            part.node.index() != self.root.index()
                && BEYOND.iter().any(|word| part.node.get(word).is_some())
        };
        if is_whole && self.parts.len() < MAX_PARTS && !all.iter().any(is_beyond) {
            let (kind, nullable) = self.kind(&all, only);
            let part = &mut self.parts[id.0];
            (part.kind, part.nullable) = (kind, nullable);
        }
        id
    }

    /// Adds a schema with all that it refers to and consists of; `false` where some of it is not there.
    fn gather(&self, node: Node<'d>, all: &mut Vec<Part<'d>>) -> bool {
        if all.iter().any(|known| known.node.index() == node.index()) {
            return true;
        }
        all.push(Part {
            node,
            is_chosen: false,
        });
        let reference = node.get("$ref").map(|reference| self.target(reference));
        let all_of = node.get("allOf").into_iter().flat_map(Node::children);
        let is_there =
            reference.is_none_or(|target| target.is_some_and(|target| self.gather(target, all)));
        all_of.fold(is_there, |is_there, node| {
            self.gather(node, all) && is_there
        })
    }

    /// What a reference within the schema leads to; nothing else is ever fetched.
    fn target(&self, reference: Node<'d>) -> Option<Node<'d>> {
        let reference = reference.as_str()?;
        let fragment = reference.strip_prefix('#')?;
        if fragment.is_empty() || fragment.starts_with('/') {
            let decoded = url::form_urlencoded::parse(
                format!("p={}", fragment.replace('+', "%2B").replace('&', "%26")).as_bytes(),
            )
            .next()?
            .1
            .into_owned();
            return self.root.at(&decoded);
        }
        let definitions = ["$defs", "definitions"]
            .into_iter()
            .filter_map(|name| self.root.get(name));
        definitions.flat_map(Node::children).find(|node| {
            node.get("$anchor")
                .and_then(Node::as_str)
                .is_some_and(|name| name == fragment)
        })
    }

    fn kind(&mut self, all: &[Part<'d>], only: Option<&'static str>) -> (FieldKind, bool) {
        let get = |name: &str| all.iter().find_map(|part| part.node.get(name));
        if let Some(value) = get("const") {
            return (FieldKind::Enum(vec![choice(value, None)]), false);
        }
        if let Some(choices) = get("enum").filter(|choices| choices.kind() == Kind::Array) {
            let named = choices
                .children()
                .filter(|choice| !choice.is_null())
                .map(|value| choice(value, None))
                .collect();
            return (
                FieldKind::Enum(named),
                choices.children().any(Node::is_null),
            );
        }
        if let Some(union) = all.iter().find(|part| {
            !part.is_chosen && (part.node.get("oneOf").or(part.node.get("anyOf"))).is_some()
        }) {
            return self.union(all, *union, only);
        }
        let mut types = types(all);
        let nullable = types.as_ref().is_some_and(|types| types.contains(&"null"));
        if let Some(types) = &mut types {
            types.retain(|name| *name != "null" && only.is_none_or(|only| only == *name));
        }
        let kind = match types.as_deref() {
            None => self.kind_of(implied(all), all),
            Some([name]) => self.kind_of(Some(name), all),
            Some([]) if nullable && only.is_none() => {
                return (
                    FieldKind::Enum(vec![Choice {
                        json: "null".into(),
                        title: None,
                    }]),
                    false,
                );
            }
            Some([]) => FieldKind::Json,
            Some(several) => {
                let branch = |name: &&'static str| Branch {
                    title: (*name).to_owned(),
                    schema: self.part(all.to_vec(), &[], Some(name)),
                };
                FieldKind::Union(several.iter().map(branch).collect())
            }
        };
        (kind, nullable)
    }

    /// `oneOf` and `anyOf`: `null` aside, each branch with what stands around the choice.
    fn union(
        &mut self,
        all: &[Part<'d>],
        union: Part<'d>,
        only: Option<&'static str>,
    ) -> (FieldKind, bool) {
        let branches = union
            .node
            .get("oneOf")
            .or(union.node.get("anyOf"))
            .into_iter()
            .flat_map(Node::children);
        let is_null = |branch: &Node<'d>| {
            branch
                .get("type")
                .and_then(Node::as_str)
                .is_some_and(|name| name == "null")
        };
        let (nulls, branches): (Vec<_>, Vec<_>) = branches.partition(is_null);
        let around = || {
            let chosen = |part: &Part<'d>| Part {
                is_chosen: part.is_chosen || part.node.index() == union.node.index(),
                ..*part
            };
            all.iter().map(chosen)
        };
        if let Some(choices) = choices(&branches) {
            return (FieldKind::Enum(choices), !nulls.is_empty());
        }
        if let [branch] = branches[..] {
            let part = self.part(around().collect(), &[branch], only);
            let part = self.parts[part.0].clone();
            return (part.kind, part.nullable || !nulls.is_empty());
        }
        let discriminator = discriminator(
            &branches
                .iter()
                .map(|branch| self.gathered(*branch))
                .collect::<Vec<_>>(),
        );
        let named = branches.iter().enumerate().map(|(number, branch)| {
            let schema = self.part(around().collect(), &[*branch], only);
            let title = self.title(*branch, discriminator.as_deref(), schema, number);
            Branch { title, schema }
        });
        (FieldKind::Union(named.collect()), !nulls.is_empty())
    }

    fn gathered(&self, node: Node<'d>) -> Vec<Part<'d>> {
        let mut all = Vec::new();
        self.gather(node, &mut all);
        all
    }

    /// What a branch is called: by its title, the value that tells it from the others, the name it is referred to by, its type.
    fn title(
        &self,
        branch: Node<'d>,
        discriminator: Option<&str>,
        schema: SchemaId,
        number: usize,
    ) -> String {
        let all = self.gathered(branch);
        let title = texts(&all, "title").or_else(|| {
            let property = property(&all, discriminator?)?;
            Some(plain(only_value(property)?))
        });
        let reference = || {
            branch
                .get("$ref")
                .and_then(Node::as_str)?
                .rsplit('/')
                .next()
                .map(str::to_owned)
        };
        title
            .or_else(reference)
            .unwrap_or_else(|| match &self.parts[schema.0].kind {
                FieldKind::Object { .. } | FieldKind::Json | FieldKind::Union(_) => {
                    format!("Option {}", number + 1)
                }
                kind => kind.name().to_owned(),
            })
    }

    fn kind_of(&mut self, name: Option<&str>, all: &[Part<'d>]) -> FieldKind {
        let get = |name: &str| all.iter().find_map(|part| part.node.get(name));
        let number = |name: &str| get(name).and_then(Node::as_number).map(str::to_owned);
        let text = |name: &str| {
            get(name)
                .and_then(Node::as_str)
                .map(|text| text.into_owned())
        };
        match name {
            Some("string") => FieldKind::String {
                multiline: is_multiline(all),
                format: text("contentEncoding")
                    .filter(|encoding| encoding == "base64")
                    .or_else(|| text("format")),
            },
            Some("boolean") => FieldKind::Boolean,
            Some(name @ ("integer" | "number")) => {
                let integer = name == "integer";
                // The next integer within.
                let within = |name: &str, step: i64| {
                    get(name)
                        .and_then(Node::as_i64)
                        .filter(|_| integer)
                        .map(|limit| (limit + step).to_string())
                };
                FieldKind::Number {
                    integer,
                    minimum: number("minimum").or_else(|| within("exclusiveMinimum", 1)),
                    maximum: number("maximum").or_else(|| within("exclusiveMaximum", -1)),
                }
            }
            Some("array") => {
                // What two schemas say of the places of one list is more than a control can follow.
                let says = |part: &&Part<'d>| {
                    ["prefixItems", "items"]
                        .iter()
                        .any(|word| part.node.get(word).is_some())
                };
                let mut told = all.iter().filter(says);
                let (Some(list), None) = (told.next(), told.next()) else {
                    return FieldKind::Json;
                };
                let items = list.node.get("items");
                let places = list
                    .node
                    .get("prefixItems")
                    .or(items.filter(|items| items.kind() == Kind::Array));
                let rest = items.filter(|items| items.kind() == Kind::Object);
                let rest = rest.or_else(|| {
                    list.node
                        .get("additionalItems")
                        .filter(|items| items.kind() == Kind::Object)
                });
                let rest = rest.map(|items| self.part(Vec::new(), &[items], None));
                match (places, rest) {
                    (Some(places), rest) => {
                        let places = places
                            .children()
                            .take_while(|place| place.as_bool() != Some(false));
                        FieldKind::Tuple(
                            places
                                .map(|place| self.part(Vec::new(), &[place], None))
                                .collect(),
                            rest,
                        )
                    }
                    (None, Some(item)) => FieldKind::Array(item),
                    (None, None) => FieldKind::Json,
                }
            }
            Some("object") => self.object(all),
            _ => FieldKind::Json,
        }
    }

    fn object(&mut self, all: &[Part<'d>]) -> FieldKind {
        let mut names: Vec<(String, Vec<Node<'d>>)> = Vec::new();
        for property in all
            .iter()
            .filter_map(|part| part.node.get("properties"))
            .flat_map(Node::children)
        {
            let name = property.key().unwrap_or_default().into_owned();
            match names.iter_mut().find(|(known, _)| *known == name) {
                Some((_, parts)) => parts.push(property),
                None => names.push((name, vec![property])),
            }
        }
        let required: Vec<String> = all
            .iter()
            .filter_map(|part| part.node.get("required"))
            .flat_map(Node::children)
            .filter_map(|name| Some(name.as_str()?.into_owned()))
            .collect();
        for name in &required {
            if !names.iter().any(|(known, _)| known == name) {
                names.push((name.clone(), Vec::new()));
            }
        }
        let open = |part: &Part<'d>| {
            let patterns = part
                .node
                .get("patternProperties")
                .and_then(|patterns| patterns.child(0));
            patterns.or_else(|| {
                part.node
                    .get("additionalProperties")
                    .filter(|rest| rest.kind() == Kind::Object)
            })
        };
        let rest = all.iter().find_map(open);
        let is_closed = all.iter().any(|part| {
            part.node
                .get("additionalProperties")
                .and_then(Node::as_bool)
                == Some(false)
        });
        if names.is_empty() && rest.is_none() {
            // Nothing is known of what is in it.
            return if is_closed {
                FieldKind::Object {
                    properties: Vec::new(),
                    others: None,
                }
            } else {
                FieldKind::Json
            };
        }
        let property = |(name, parts): (String, Vec<Node<'d>>)| Property {
            required: required.contains(&name),
            schema: self.part(
                Vec::new(),
                if parts.is_empty() {
                    rest.as_slice()
                } else {
                    &parts
                },
                None,
            ),
            name,
        };
        let properties = names.into_iter().map(property).collect();
        FieldKind::Object {
            properties,
            others: rest.map(|rest| self.part(Vec::new(), &[rest], None)),
        }
    }
}

impl FieldKind {
    /// Whether bytes are in the text as base64: by JSON Schema's `contentEncoding`, or OpenAPI's `byte`.
    pub fn is_base64(&self) -> bool {
        matches!(self, Self::String { format: Some(format), .. } if ["base64", "byte"].contains(&format.as_str()))
    }

    /// The word of JSON Schema.
    pub fn name(&self) -> &'static str {
        match self {
            Self::String { .. } => "string",
            Self::Number { integer: true, .. } => "integer",
            Self::Number { .. } => "number",
            Self::Boolean => "boolean",
            Self::Enum(_) => "enum",
            Self::Array(_) | Self::Tuple(..) => "array",
            Self::Object { .. } => "object",
            Self::Union(_) => "one of several",
            Self::Json => "JSON",
        }
    }
}

/// A JSON text as people read it: strings without their quotes.
pub fn plain(json: &str) -> String {
    match json
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
    {
        Some(inner) => loupe_core::json::decode_string(inner.as_bytes()).into_owned(),
        None => json.to_owned(),
    }
}

fn texts(all: &[Part<'_>], name: &str) -> Option<String> {
    all.iter()
        .find_map(|part| part.node.get(name)?.as_str())
        .map(|text| text.into_owned())
}

fn choice(value: Node<'_>, title: Option<String>) -> Choice {
    Choice {
        json: value.raw_text().into_owned(),
        title,
    }
}

/// Branches that are one value each, often with a title.
fn choices(branches: &[Node<'_>]) -> Option<Vec<Choice>> {
    let named = |branch: &Node<'_>| {
        Some(choice(
            branch.get("const")?,
            texts(&[Part::of(*branch)], "title"),
        ))
    };
    branches
        .iter()
        .map(named)
        .collect::<Option<Vec<_>>>()
        .filter(|choices| !choices.is_empty())
}

/// The types that all of these allow, in the order in which they are told; `None` where none is told.
fn types(all: &[Part<'_>]) -> Option<Vec<&'static str>> {
    const TYPES: &[&str] = &[
        "string", "integer", "number", "boolean", "array", "object", "null",
    ];
    let mut allowed: Option<Vec<&'static str>> = None;
    for told in all.iter().filter_map(|part| part.node.get("type")) {
        let told = match told.kind() {
            Kind::Array => told.children().filter_map(Node::as_str).collect(),
            _ => told.as_str().into_iter().collect::<Vec<_>>(),
        };
        let told: Vec<&'static str> = told
            .iter()
            .filter_map(|name| TYPES.iter().find(|known| *known == name).copied())
            .collect();
        allowed = Some(match allowed {
            None => told,
            // An integer is a number.
            Some(allowed) => allowed
                .into_iter()
                .filter_map(|name| match name {
                    "number" if !told.contains(&"number") => {
                        told.contains(&"integer").then_some("integer")
                    }
                    "integer" if told.contains(&"number") => Some("integer"),
                    name => told.contains(&name).then_some(name),
                })
                .collect(),
        });
    }
    allowed
}

/// The type that keywords are about where none is told.
fn implied(all: &[Part<'_>]) -> Option<&'static str> {
    const WORDS: &[(&str, &str)] = &[
        ("properties", "object"),
        ("required", "object"),
        ("patternProperties", "object"),
        ("additionalProperties", "object"),
        ("prefixItems", "array"),
        ("items", "array"),
        ("pattern", "string"),
        ("minLength", "string"),
        ("maxLength", "string"),
        ("format", "string"),
        ("minimum", "number"),
        ("maximum", "number"),
    ];
    WORDS
        .iter()
        .find(|(word, _)| all.iter().any(|part| part.node.get(word).is_some()))
        .map(|(_, name)| *name)
}

fn property<'d>(all: &[Part<'d>], name: &str) -> Option<Node<'d>> {
    all.iter()
        .find_map(|part| part.node.get("properties")?.get(name))
}

/// The one value that a schema allows, as JSON text.
fn only_value<'d>(schema: Node<'d>) -> Option<&'d str> {
    let value = schema.get("const").or_else(|| {
        schema
            .get("enum")
            .filter(|choices| choices.len() == 1)?
            .child(0)
    })?;
    std::str::from_utf8(value.raw()).ok()
}

/// The member by whose value the branches differ.
fn discriminator(branches: &[Vec<Part<'_>>]) -> Option<String> {
    let first = branches.first()?;
    let names = first
        .iter()
        .filter_map(|part| part.node.get("properties"))
        .flat_map(Node::children)
        .filter_map(Node::key);
    names.map(|name| name.into_owned()).find(|name| {
        let mut values: Vec<_> = branches
            .iter()
            .filter_map(|all| only_value(property(all, name)?))
            .collect();
        let count = values.len();
        values.sort_unstable();
        values.dedup();
        count == branches.len() && values.len() == count
    })
}

/// Texts that people write in paragraphs get more than one line.
fn is_multiline(all: &[Part<'_>]) -> bool {
    const NAMES: &[&str] = &[
        "body",
        "content",
        "description",
        "message",
        "note",
        "notes",
        "prompt",
        "text",
        "about_me",
        "about",
    ];
    all.iter().any(|part| {
        part.node
            .get("maxLength")
            .and_then(Node::as_i64)
            .is_some_and(|limit| limit >= 500)
            || part
                .node
                .key()
                .is_some_and(|name| NAMES.contains(&name.to_ascii_lowercase().as_str()))
    })
}
