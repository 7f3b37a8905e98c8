//! What a set is made of: a table of tools, what they declare, and how calls reach them.

use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use super::schema::{Args, SchemaField, Violation, schema};
use loupe_core::json::Node;
use loupe_core::problem::Problem;
use loupe_core::source::SampleSpec;

/// The switches of a sample, read.
#[derive(Clone, Debug)]
pub(crate) struct SampleOptions {
    /// The shape of company lists, 1 to 3.
    pub text: u8,
    /// The migration phase, 0 to 2.
    pub phase: u8,
    pub output_schema: bool,
    /// `None`: as each set ships.
    pub annotations: Option<bool>,
    /// Records of each kind.
    pub size: usize,
    pub hostile: bool,
    /// A word of the one set that knows it; empty: every set's default.
    pub shape: String,
}

impl SampleOptions {
    /// # Errors
    /// An unknown set, key or value.
    pub fn read(spec: &SampleSpec) -> Result<Self, Problem> {
        spec.check()?;
        let value = |name: &str| spec.value(name).unwrap_or_default();
        Ok(Self {
            text: match value("text") {
                "v1" => 1,
                "v3" => 3,
                _ => 2,
            },
            phase: value("phase").parse().unwrap_or(2),
            output_schema: value("output-schema") == "on",
            annotations: match spec.keys.get("annotations").map(String::as_str) {
                Some("on") => Some(true),
                Some(_) => Some(false),
                None => None,
            },
            size: value("size").parse().unwrap_or_default(),
            hostile: value("data") == "hostile",
            shape: value("shape").to_owned(),
        })
    }
}

/// The hints a tool declares where annotations are on. Those left out are not sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hints {
    pub read_only: bool,
    pub destructive: Option<bool>,
    pub idempotent: Option<bool>,
    pub open_world: Option<bool>,
}

impl Hints {
    /// `readOnlyHint: true` and nothing else.
    pub const READS: Self = Self {
        read_only: true,
        destructive: None,
        idempotent: None,
        open_world: None,
    };
    /// `readOnlyHint: false`, and whether what is there may be lost.
    pub const fn writes(destructive: bool, idempotent: bool) -> Self {
        Self {
            read_only: false,
            destructive: Some(destructive),
            idempotent: Some(idempotent),
            open_world: None,
        }
    }

    /// As a system with an outside world declares them.
    pub const fn outside(mut self) -> Self {
        self.open_world = Some(true);
        self
    }
}

/// One tool of a system whose records are `S`.
pub(crate) struct SampleTool<S: 'static> {
    /// Without the prefix of its set.
    name: &'static str,
    /// One sentence.
    about: &'static str,
    hints: Hints,
    fields: &'static [SchemaField],
    output: Option<fn() -> Value>,
    run: fn(&mut S, &SampleCall<'_>) -> Value,
}

impl<S> SampleTool<S> {
    pub const fn new(
        name: &'static str,
        about: &'static str,
        hints: Hints,
        fields: &'static [SchemaField],
        run: fn(&mut S, &SampleCall<'_>) -> Value,
    ) -> Self {
        Self {
            name,
            about,
            hints,
            fields,
            output: None,
            run,
        }
    }

    /// Gives the schema that is declared where output schemas are on.
    pub const fn answering(mut self, output: fn() -> Value) -> Self {
        self.output = Some(output);
        self
    }

    /// `search_companies` as `Search Companies`.
    fn title(&self) -> String {
        let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
        self.name
            .split('_')
            .filter(|word| !word.is_empty())
            .map(capital)
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// Records of one kind, as the resources show them.
pub(crate) struct Shelf<S: 'static> {
    /// The last part of the resource's URI.
    pub name: &'static str,
    pub about: &'static str,
    /// The member that tells one record from another; empty where the records have no address each.
    pub key: &'static str,
    /// All records, as an array.
    pub records: fn(&S) -> Value,
}

/// What makes one system: its names, its tools, and how it takes bad arguments.
pub(crate) struct Kit<S: 'static> {
    /// The set's id.
    pub set: &'static str,
    /// Prefix of the tool names in its own set, and where all sets stand together.
    pub original: &'static str,
    pub unique: &'static str,
    /// Second sentence of every description: the system and the variant.
    pub variant: fn(&SampleOptions) -> String,
    /// Whether unknown arguments are refused.
    pub closed: bool,
    /// Whether the system ships annotations, and a title in them where it does or is made to.
    pub annotated: bool,
    pub titled: bool,
    pub tools: &'static [SampleTool<S>],
    pub invalid: fn(&[Violation], &SampleCall<'_>) -> Value,
    pub(crate) shelves: &'static [Shelf<S>],
}

/// One call, checked.
pub(crate) struct SampleCall<'a> {
    pub args: Args<'a>,
    pub options: &'a SampleOptions,
    prefix: &'static str,
    /// The tool's name in its own set, and the arguments as they were sent.
    pub tool: &'static str,
    pub raw: &'a [u8],
}

impl SampleCall<'_> {
    /// The full name of a tool of the same set, as a text has to give it.
    pub fn tool(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    pub fn shape(&self) -> &str {
        &self.options.shape
    }
}

/// A system at work, its kind of records hidden.
pub trait Group: Send + Sync {
    fn definitions(&self) -> Vec<Value>;
    fn call(&self, position: usize, arguments: Option<Node<'_>>) -> Value;
    fn shelves(&self) -> Vec<ShelfCard>;
    /// The records of a shelf as they are now, as an array.
    fn records(&self, shelf: &str) -> Option<Value>;
}

/// What is said of a shelf without looking at its records.
pub(crate) struct ShelfCard {
    pub set: &'static str,
    pub name: &'static str,
    pub about: &'static str,
    pub key: &'static str,
}

pub struct Set<S: 'static> {
    kit: &'static Kit<S>,
    prefix: &'static str,
    options: SampleOptions,
    state: Mutex<S>,
}

impl<S: Send> Set<S> {
    /// `unique`: whether tool names have to differ from those of all other sets.
    pub fn boxed(
        kit: &'static Kit<S>,
        unique: bool,
        options: &SampleOptions,
        state: S,
    ) -> Box<dyn Group> {
        let prefix = if unique { kit.unique } else { kit.original };
        Box::new(Self {
            kit,
            prefix,
            options: options.clone(),
            state: Mutex::new(state),
        })
    }

    fn annotations(&self, tool: &SampleTool<S>) -> Value {
        let mut annotations = json!({});
        if self.kit.titled {
            annotations["title"] = tool.title().into();
        }
        annotations["readOnlyHint"] = tool.hints.read_only.into();
        let others = [
            ("destructiveHint", tool.hints.destructive),
            ("idempotentHint", tool.hints.idempotent),
            ("openWorldHint", tool.hints.open_world),
        ];
        for (name, value) in others {
            if let Some(value) = value {
                annotations[name] = value.into();
            }
        }
        annotations
    }
}

impl<S: Send> Group for Set<S> {
    fn definitions(&self) -> Vec<Value> {
        let variant = (self.kit.variant)(&self.options);
        let definition = |tool: &SampleTool<S>| {
            let mut definition = json!({
                "name": format!("{}{}", self.prefix, tool.name),
                "description": format!("{} {variant}", tool.about),
                "inputSchema": schema(tool.fields, self.kit.closed),
            });
            if self.options.output_schema
                && let Some(output) = tool.output
            {
                definition["outputSchema"] = output();
            }
            if self.options.annotations.unwrap_or(self.kit.annotated) {
                definition["annotations"] = self.annotations(tool);
            }
            definition
        };
        self.kit.tools.iter().map(definition).collect()
    }

    fn call(&self, position: usize, arguments: Option<Node<'_>>) -> Value {
        let tool = &self.kit.tools[position];
        let raw = arguments.map_or(&b"{}"[..], Node::raw);
        let call = SampleCall {
            args: Args(arguments),
            options: &self.options,
            prefix: self.prefix,
            tool: tool.name,
            raw,
        };
        let violations = call.args.check(tool.fields, self.kit.closed);
        if !violations.is_empty() {
            return (self.kit.invalid)(&violations, &call);
        }
        (tool.run)(
            &mut self.state.lock().unwrap_or_else(PoisonError::into_inner),
            &call,
        )
    }

    fn shelves(&self) -> Vec<ShelfCard> {
        let card = |shelf: &Shelf<S>| ShelfCard {
            set: self.kit.set,
            name: shelf.name,
            about: shelf.about,
            key: shelf.key,
        };
        self.kit.shelves.iter().map(card).collect()
    }

    fn records(&self, shelf: &str) -> Option<Value> {
        let shelf = self.kit.shelves.iter().find(|known| known.name == shelf)?;
        Some((shelf.records)(
            &self.state.lock().unwrap_or_else(PoisonError::into_inner),
        ))
    }
}

/// A result of one text block.
pub fn text_result(text: &str, is_error: bool) -> Value {
    json!({"content": [{"type": "text", "text": text}], "isError": is_error})
}

/// JSON indented by two spaces.
pub fn pretty(value: &Value) -> String {
    // Writing a value that is in memory already cannot fail; the compact form would be the same data.
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}
