//! What is in a form: read from JSON text by the schema, and written as JSON text again.

use super::schema::{Branch, FieldKind, FieldSchemas, Property, SchemaId};
use loupe_core::json::{Kind, Node, write};

/// The value of a field. Unset, null and empty differ, at every depth.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Unset,
    Null,
    /// The text of a string field.
    Text(String),
    /// JSON text as typed: numbers, booleans, choices, whatever has no control. May be unfinished.
    Json(String),
    /// Items of a list.
    Items(Vec<Value>),
    Members(Members),
    /// The branch of a union, and the value that it has.
    Branch(usize, Box<Value>),
}

/// The members of an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Members {
    /// By the place of their property in the schema.
    pub named: Vec<Value>,
    /// Those of other names: the key as it is inside JSON, and the value.
    pub others: Vec<(String, Value)>,
}

impl Value {
    /// What a value begins as where the user adds it: empty, with the members that it must have still to be filled in.
    pub fn first(schemas: &FieldSchemas, id: SchemaId) -> Self {
        Self::first_at(schemas, id, 0)
    }

    /// What a branch of a union begins as: also with the constants that tell it from the others, required or not.
    pub fn first_of_branch(schemas: &FieldSchemas, id: SchemaId) -> Self {
        let mut first = Self::first(schemas, id);
        if let (Self::Members(members), FieldKind::Object { properties, .. }) =
            (&mut first, &schemas.get(id).kind)
        {
            for (property, value) in properties.iter().zip(&mut members.named) {
                let is_constant = matches!(&schemas.get(property.schema).kind, FieldKind::Enum(choices) if choices.len() == 1);
                if is_constant && *value == Self::Unset {
                    *value = Self::first(schemas, property.schema);
                }
            }
        }
        first
    }

    fn first_at(schemas: &FieldSchemas, id: SchemaId, depth: usize) -> Self {
        let schema = schemas.get(id);
        match &schema.kind {
            FieldKind::String { .. } => Self::Text(
                schema
                    .default
                    .as_deref()
                    .map(super::plain)
                    .unwrap_or_default(),
            ),
            FieldKind::Number { minimum, .. } => Self::Json(
                schema
                    .default
                    .clone()
                    .or_else(|| minimum.clone())
                    .unwrap_or_else(|| "0".into()),
            ),
            FieldKind::Boolean => {
                Self::Json(schema.default.clone().unwrap_or_else(|| "false".into()))
            }
            FieldKind::Enum(choices) => choices
                .first()
                .map_or(Self::Null, |choice| Self::Json(choice.json.clone())),
            FieldKind::Array(item) if schema.min_items > 0 && depth < MAX_DEPTH => {
                Self::Items(vec![
                    Self::first_at(schemas, *item, depth + 1);
                    schema.min_items.min(MAX_FIRST_ITEMS)
                ])
            }
            FieldKind::Array(_) => Self::Items(Vec::new()),
            FieldKind::Tuple(places, _) if depth < MAX_DEPTH => Self::Items(
                places
                    .iter()
                    .map(|place| Self::first_at(schemas, *place, depth + 1))
                    .collect(),
            ),
            FieldKind::Object { properties, .. } if depth < MAX_DEPTH => {
                let member = |property: &Property| match property.required {
                    true => Self::first_at(schemas, property.schema, depth + 1),
                    false => Self::Unset,
                };
                Self::Members(Members {
                    named: properties.iter().map(member).collect(),
                    others: Vec::new(),
                })
            }
            FieldKind::Union(branches) if depth < MAX_DEPTH => match branches.first() {
                Some(branch) if depth == 0 => {
                    Self::Branch(0, Box::new(Self::first_of_branch(schemas, branch.schema)))
                }
                Some(branch) => Self::Branch(
                    0,
                    Box::new(Self::first_at(schemas, branch.schema, depth + 1)),
                ),
                None => Self::Unset,
            },
            FieldKind::Tuple(..)
            | FieldKind::Object { .. }
            | FieldKind::Union(_)
            | FieldKind::Json => Self::Json(
                schema
                    .example
                    .clone()
                    .or_else(|| schema.default.clone())
                    .unwrap_or_else(|| "{}".into()),
            ),
        }
    }

    /// A value as the schema's control holds it; what does not fit its control is JSON.
    pub fn read(node: Node<'_>, schemas: &FieldSchemas, id: SchemaId) -> Self {
        let kind = &schemas.get(id).kind;
        match (kind, node.kind()) {
            (FieldKind::Enum(choices), Kind::Null)
                if choices.iter().any(|choice| choice.json == "null") =>
            {
                Self::Json("null".into())
            }
            (_, Kind::Null) => Self::Null,
            (FieldKind::String { .. }, Kind::String) => {
                Self::Text(node.as_str().unwrap_or_default().into_owned())
            }
            (FieldKind::Array(item), Kind::Array) => Self::Items(
                node.children()
                    .map(|child| Self::read(child, schemas, *item))
                    .collect(),
            ),
            (FieldKind::Tuple(places, rest), Kind::Array) => {
                let item = |(at, child)| match places.get(at).or(rest.as_ref()) {
                    Some(item) => Self::read(child, schemas, *item),
                    None => raw(child),
                };
                Self::Items(node.children().enumerate().map(item).collect())
            }
            (FieldKind::Object { properties, others }, Kind::Object) => {
                Self::Members(Members::read(node, schemas, properties, *others))
            }
            (FieldKind::Union(branches), _) => match branches
                .iter()
                .position(|branch| fits(node, schemas, branch.schema))
            {
                Some(at) => {
                    Self::Branch(at, Box::new(Self::read(node, schemas, branches[at].schema)))
                }
                None => raw(node),
            },
            _ => raw(node),
        }
    }

    /// The value as JSON text; `None` where it is unset.
    pub fn json(&self, schemas: &FieldSchemas, id: SchemaId) -> Option<String> {
        let kind = &schemas.get(id).kind;
        match self {
            Self::Unset => None,
            Self::Null => Some("null".into()),
            Self::Text(text) => Some(write::string(text)),
            Self::Json(text) => Some(text.trim())
                .filter(|text| !text.is_empty())
                .map(str::to_owned),
            Self::Items(items) => {
                let item = |(at, value): (usize, &Value)| match item_schema(kind, at) {
                    Some(item) => value.json(schemas, item),
                    None => value.typed_text(),
                };
                Some(format!(
                    "[{}]",
                    items
                        .iter()
                        .enumerate()
                        .filter_map(item)
                        .collect::<Vec<_>>()
                        .join(",")
                ))
            }
            Self::Members(members) => match kind {
                FieldKind::Object { properties, others } => {
                    Some(members.json(schemas, properties, *others))
                }
                _ => None,
            },
            Self::Branch(at, value) => match kind {
                FieldKind::Union(branches) => value.json(schemas, branches.get(*at)?.schema),
                _ => value.typed_text(),
            },
        }
    }

    /// The value at a place within this one.
    fn at_mut(&mut self, pointer: &str, schemas: &FieldSchemas, id: SchemaId) -> Option<&mut Self> {
        match (self, &schemas.get(id).kind) {
            (Self::Branch(at, value), FieldKind::Union(branches)) => {
                value.at_mut(pointer, schemas, branches.get(*at)?.schema)
            }
            (value, _) if pointer.is_empty() => Some(value),
            (Self::Members(members), FieldKind::Object { properties, others }) => {
                members.at_mut(pointer, schemas, properties, *others)
            }
            (Self::Items(items), kind) => {
                let (at, within) = step(pointer)?;
                let at: usize = at.parse().ok()?;
                items
                    .get_mut(at)?
                    .at_mut(within, schemas, item_schema(kind, at)?)
            }
            _ => None,
        }
    }

    /// What was typed as JSON.
    fn typed_text(&self) -> Option<String> {
        match self {
            Self::Json(text) => Some(text.clone()),
            _ => None,
        }
    }

    /// Whether something in it was typed as JSON and is none.
    pub fn is_unfinished(&self) -> bool {
        match self {
            Self::Json(text) if !text.trim().is_empty() => {
                !loupe_core::json::Doc::parse(bytes::Bytes::copy_from_slice(text.as_bytes()))
                    .is_json()
            }
            Self::Items(items) => items.iter().any(Self::is_unfinished),
            Self::Members(members) => members.is_unfinished(),
            Self::Branch(_, value) => value.is_unfinished(),
            _ => false,
        }
    }
}

impl Members {
    pub fn read(
        object: Node<'_>,
        schemas: &FieldSchemas,
        properties: &[Property],
        others: Option<SchemaId>,
    ) -> Self {
        let value = |property: &Property| {
            object.get(&property.name).map_or(Value::Unset, |child| {
                Value::read(child, schemas, property.schema)
            })
        };
        let is_other = |child: &Node<'_>| {
            !properties
                .iter()
                .any(|property| child.key().is_some_and(|key| key == property.name))
        };
        let other = |child: Node<'_>| {
            let key = child.key().unwrap_or_default();
            (
                write::string(&key),
                others.map_or_else(|| raw(child), |id| Value::read(child, schemas, id)),
            )
        };
        Self {
            named: properties.iter().map(value).collect(),
            others: object.children().filter(is_other).map(other).collect(),
        }
    }

    /// The value at a place within them: a JSON Pointer, not the empty one.
    pub fn at_mut(
        &mut self,
        pointer: &str,
        schemas: &FieldSchemas,
        properties: &[Property],
        others: Option<SchemaId>,
    ) -> Option<&mut Value> {
        let (name, within) = step(pointer)?;
        match properties.iter().position(|property| property.name == name) {
            Some(at) => self
                .named
                .get_mut(at)?
                .at_mut(within, schemas, properties[at].schema),
            None => {
                let (_, value) = self
                    .others
                    .iter_mut()
                    .find(|(key, _)| super::plain(key) == name)?;
                value.at_mut(within, schemas, others?)
            }
        }
    }

    /// The members as they are written: what is set, in the schema's order, then those of other names.
    pub fn json(
        &self,
        schemas: &FieldSchemas,
        properties: &[Property],
        others: Option<SchemaId>,
    ) -> String {
        let named = properties.iter().zip(&self.named);
        let named = named.filter_map(|(property, value)| {
            Some((
                write::string(&property.name),
                value.json(schemas, property.schema)?,
            ))
        });
        let rest = self.others.iter().filter_map(|(key, value)| {
            Some((
                key.clone(),
                others.map_or_else(|| value.typed_text(), |id| value.json(schemas, id))?,
            ))
        });
        let members: Vec<_> = named
            .chain(rest)
            .map(|(key, value)| format!("{key}:{value}"))
            .collect();
        format!("{{{}}}", members.join(","))
    }

    /// Whether something in them was typed as JSON and is none.
    pub fn is_unfinished(&self) -> bool {
        self.named
            .iter()
            .chain(self.others.iter().map(|(_, value)| value))
            .any(Value::is_unfinished)
    }
}

/// The first step of a JSON Pointer, as it is meant, and the rest.
fn step(pointer: &str) -> Option<(String, &str)> {
    let steps = pointer.strip_prefix('/')?;
    let (first, rest) = steps.split_at(steps.find('/').unwrap_or(steps.len()));
    Some((first.replace("~1", "/").replace("~0", "~"), rest))
}

/// A schema may require itself; then nothing satisfies it, and something has to be typed.
const MAX_DEPTH: usize = 12;
/// A list begins with no more items than this, whatever it must have.
const MAX_FIRST_ITEMS: usize = 5;

/// The schema of the item at a place.
pub fn item_schema(kind: &FieldKind, at: usize) -> Option<SchemaId> {
    match kind {
        FieldKind::Array(item) => Some(*item),
        FieldKind::Tuple(places, rest) => places.get(at).copied().or(*rest),
        _ => None,
    }
}

fn raw(node: Node<'_>) -> Value {
    Value::Json(node.raw_text().into_owned())
}

/// Whether a value is of a schema's kind; of an object, whether it has what it must, and its single values.
fn fits(node: Node<'_>, schemas: &FieldSchemas, id: SchemaId) -> bool {
    let schema = schemas.get(id);
    match (&schema.kind, node.kind()) {
        (FieldKind::Enum(choices), _) => choices
            .iter()
            .any(|choice| choice.json.as_bytes() == node.raw()),
        (_, Kind::Null) => schema.nullable,
        (FieldKind::String { .. }, kind) => kind == Kind::String,
        (FieldKind::Number { integer, .. }, kind) => {
            kind == Kind::Number
                && (!integer || node.as_f64().is_some_and(|number| number.fract() == 0.0))
        }
        (FieldKind::Boolean, kind) => kind == Kind::Bool,
        (FieldKind::Array(_) | FieldKind::Tuple(..), kind) => kind == Kind::Array,
        (FieldKind::Object { properties, .. }, Kind::Object) => {
            properties
                .iter()
                .all(|property| match node.get(&property.name) {
                    None => !property.required,
                    Some(child) => match &schemas.get(property.schema).kind {
                        FieldKind::Enum(_) => fits(child, schemas, property.schema),
                        _ => true,
                    },
                })
        }
        (FieldKind::Object { .. }, _) => false,
        (FieldKind::Union(branches), _) => branches
            .iter()
            .any(|branch: &Branch| fits(node, schemas, branch.schema)),
        (FieldKind::Json, _) => true,
    }
}
